// softmax, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

#define fw_inff __int_as_float(0x7f800000)

__device__ __forceinline__ void fw_fetch_f32x4_ldg(const float* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_unpack_f32x4(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
}

__device__ __forceinline__ void fw_load_f32x4_ldg(const float* p, float* v) {
  unsigned w[4];
  fw_fetch_f32x4_ldg(p, w);
  fw_unpack_f32x4(w, v);
}

__device__ __forceinline__ float fw_max_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = fw_max(x[j], x[j + 2]);
  x[0] = fw_max(x[0], x[1]);
  return x[0];
}

// max over groups of 128 threads
__device__ __forceinline__ float fw_max_f32_128x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = fw_max(y[j], y[j + 1]);
  x = fw_max(y[0], y[2]);
  return x;
}

__device__ __forceinline__ float fw_sum_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 128 threads
__device__ __forceinline__ float fw_sum_f32_128x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] + y[j + 1];
  x = y[0] + y[2];
  return x;
}

__device__ __forceinline__ void fw_pack_f32x4(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
  w[2] = __float_as_uint(v[2]);
  w[3] = __float_as_uint(v[3]);
}

__device__ __forceinline__ void fw_store_f32x4(float* p, const float* v) {
  unsigned w[4];
  fw_pack_f32x4(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// inner persistent
extern "C" __global__ void __launch_bounds__(128) softmax_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[8];
  __shared__ __align__(16) unsigned char fw_scratch0[16];
  __shared__ __align__(16) unsigned char fw_scratch1[16];
  float acc1[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc1[l] = (-fw_inff);
  }
  const int v7 = bid0 * n1;
  #pragma unroll
  for (int k2 = 0; k2 < 2; ++k2) {
    const int v3 = k2 * 128;
    const int v4 = v3 + tid0;
    const bool v10 = v4 < n2;
    if (v10) {
      const int v5 = v4 * 4;
      const int v6 = k2 * 4;
      const int v8 = v7 + v5;
      float v9[4];
      fw_load_f32x4_ldg(in0 + v8, v9);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v6 + l] = v9[l];
      }
    }
  }
  #pragma unroll
  for (int k11 = 0; k11 < 2; ++k11) {
    const int v12 = k11 * 128;
    const int v13 = v12 + tid0;
    const bool v18 = v13 < n2;
    if (v18) {
      const int v14 = (int)((unsigned)v13 * (unsigned)4);
      const int v15 = k11 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v16 = kept0[v15 + l];
        const float v17 = fw_max(acc1[l], v16);
        acc1[l] = v17;
      }
    }
  }
  float v19[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v19[l] = acc1[l];
  }
  const float v20 = fw_max_f32x4(v19);
  const float max21 = fw_max_f32_128x1(v20, fw_scratch0);
  float acc22[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc22[l] = (-0.0f);
  }
  #pragma unroll
  for (int k23 = 0; k23 < 2; ++k23) {
    const int v24 = k23 * 128;
    const int v25 = v24 + tid0;
    const bool v33 = v25 < n2;
    if (v33) {
      const int v26 = (int)((unsigned)v25 * (unsigned)4);
      const int v27 = k23 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v28 = kept0[v27 + l];
        const float v30 = v28 - max21;
        const float v31 = ::expf(v30);
        const float v32 = acc22[l] + v31;
        acc22[l] = v32;
      }
    }
  }
  float v34[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v34[l] = acc22[l];
  }
  const float v35 = fw_sum_f32x4(v34);
  const float v36 = v35 + 0.0f;
  const float sum37 = fw_sum_f32_128x1(v36, fw_scratch1);
  const float v46 = ::fabsf(sum37);
  const bool v47 = v46 < 7.888609e-31f;
  const float v48 = v47 ? 1.8446744e+19f : 1.0f;
  const float v49 = sum37 * v48;
  const float v50 = 1.0f / v49;
  const int v64 = bid0 * n3;
  #pragma unroll
  for (int k38 = 0; k38 < 2; ++k38) {
    const int v39 = k38 * 128;
    const int v40 = v39 + tid0;
    const bool v66 = v40 < n2;
    if (v66) {
      const int v41 = v40 * 4;
      const int v42 = k38 * 4;
      float v63[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v43 = kept0[v42 + l];
        const float v44 = v43 - max21;
        const float v45 = ::expf(v44);
        const float v52 = v45 * v50;
        const float v53 = ::fabsf(v52);
        const bool v54 = v53 > 0.0f;
        const bool v55 = v53 < fw_inff;
        const bool v56 = v54 && v55;
        const float v57 = -v52;
        const float v59 = ::fmaf(v57, v49, v45);
        const float v60 = ::fmaf(v59, v50, v52);
        const float v61 = v56 ? v60 : v52;
        v63[l] = v61 * v48;
      }
      const int v65 = v64 + v41;
      fw_store_f32x4(out1 + v65, v63);
    }
  }
  const bool v67 = tid0 == 0;
}
