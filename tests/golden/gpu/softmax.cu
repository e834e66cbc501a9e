// softmax, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

#define fw_inff __int_as_float(0x7f800000)

__device__ __forceinline__ void fw_unpack_f32x4(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
}

__device__ __forceinline__ void fw_load_f32x4_ldg(const float* p, float* v) {
  const uint4 a0 = __ldg((const uint4*)p);
  const unsigned w[4] = {a0.x, a0.y, a0.z, a0.w};
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

// max over groups of 64 threads
__device__ __forceinline__ float fw_max_f32_64x1_of128(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  const int mine = t / 32, first = mine - mine / 1 % 2 * 1;
  float y[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) y[j] = s[first + j * 1];
  x = fw_max(y[0], y[1]);
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

// sum over groups of 64 threads
__device__ __forceinline__ float fw_sum_f32_64x1_of128(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  const int mine = t / 32, first = mine - mine / 1 % 2 * 1;
  float y[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) y[j] = s[first + j * 1];
  x = y[0] + y[1];
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
    int n3,
    int n4) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[16];
  float kept1[16];
  __shared__ __align__(16) unsigned char fw_scratch0[16];
  __shared__ __align__(16) unsigned char fw_scratch1[16];
  const int v1 = fw_udiv(tid0, 64);
  const int v2 = v1 * 64;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 2;
  const int v5 = v4 + v1;
  const bool v6 = v5 < n1;
  const int v7 = n1 + (-1);
  const int v8 = v5 < v7 ? v5 : v7;
  float acc9[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc9[l] = (-fw_inff);
  }
  const int v14 = v8 * n2;
  #pragma unroll
  for (int k10 = 0; k10 < 4; ++k10) {
    const int v11 = k10 * 64;
    const int v12 = v11 + v3;
    const bool v19 = v12 < n3;
    if (v19) {
      const int v13 = v12 * 4;
      const int v15 = v14 + v13;
      float v16[4];
      fw_load_f32x4_ldg(in0 + v15, v16);
      const int v17 = k10 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v17 + l] = v16[l];
        const float v18 = fw_max(acc9[l], v16[l]);
        acc9[l] = v18;
      }
    }
  }
  float v20[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v20[l] = acc9[l];
  }
  const float v21 = fw_max_f32x4(v20);
  const float max22 = fw_max_f32_64x1_of128(v21, fw_scratch0);
  float acc23[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc23[l] = 0.0f;
  }
  #pragma unroll
  for (int k24 = 0; k24 < 4; ++k24) {
    const int v25 = k24 * 64;
    const int v26 = v25 + v3;
    const bool v34 = v26 < n3;
    if (v34) {
      const int v27 = (int)((unsigned)v26 * (unsigned)4);
      const int v28 = k24 * 4;
      float v32[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v29 = kept0[v28 + l];
        const float v31 = v29 - max22;
        v32[l] = ::expf(v31);
      }
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept1[v28 + l] = v32[l];
        const float v33 = acc23[l] + v32[l];
        acc23[l] = v33;
      }
    }
  }
  float v35[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v35[l] = acc23[l];
  }
  const float v36 = fw_sum_f32x4(v35);
  const float sum37 = fw_sum_f32_64x1_of128(v36, fw_scratch1);
  const int v46 = v8 * n4;
  #pragma unroll
  for (int k38 = 0; k38 < 4; ++k38) {
    const int v39 = k38 * 64;
    const int v40 = v39 + v3;
    const bool v48 = v40 < n3;
    if (v48) {
      const int v41 = v40 * 4;
      const int v42 = k38 * 4;
      float v45[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v43 = kept1[v42 + l];
        v45[l] = v43 / sum37;
      }
      const int v47 = v46 + v41;
      if (v6) {
        fw_store_f32x4(out1 + v47, v45);
      }
    }
  }
  const bool v49 = v3 == 0;
}
