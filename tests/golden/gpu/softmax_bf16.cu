// softmax_bf16, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

// 2^x, to 2^-22
__device__ __forceinline__ float fw_fast_exp2(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// 1 / x, to 1 ulp; 0 from 2^126 on
__device__ __forceinline__ float fw_fast_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

__device__ __forceinline__ unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

#endif

#define fw_inff __int_as_float(0x7f800000)

__device__ __forceinline__ void fw_fetch_bf16x8_ldg(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_unpack_bf16x8(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0] << 16);
  v[1] = __uint_as_float(w[0] & 0xffff0000u);
  v[2] = __uint_as_float(w[1] << 16);
  v[3] = __uint_as_float(w[1] & 0xffff0000u);
  v[4] = __uint_as_float(w[2] << 16);
  v[5] = __uint_as_float(w[2] & 0xffff0000u);
  v[6] = __uint_as_float(w[3] << 16);
  v[7] = __uint_as_float(w[3] & 0xffff0000u);
}

__device__ __forceinline__ float fw_max_f32x8(const float* v) {
  float x[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = fw_max(x[j], x[j + 4]);
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

__device__ __forceinline__ float fw_sum_f32x8(const float* v) {
  float x[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = x[j] + x[j + 4];
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

__device__ __forceinline__ void fw_pack_bf16x8(const float* v, unsigned* w) {
  w[0] = fw_pack_bf16(v[0], v[1]);
  w[1] = fw_pack_bf16(v[2], v[3]);
  w[2] = fw_pack_bf16(v[4], v[5]);
  w[3] = fw_pack_bf16(v[6], v[7]);
}

__device__ __forceinline__ void fw_store_bf16x8(unsigned short* p, const float* v) {
  unsigned w[4];
  fw_pack_bf16x8(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// inner persistent
extern "C" __global__ void __launch_bounds__(128) softmax_bf16_0(
    const unsigned short* __restrict__ in0,
    unsigned short* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  unsigned kept0[16];  // 32 bf16, packed
  __shared__ __align__(16) unsigned char fw_scratch0[16];
  __shared__ __align__(16) unsigned char fw_scratch1[16];
  float acc1[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc1[l] = (-fw_inff);
  }
  const int v7 = bid0 * n1;
  #pragma unroll
  for (int k2 = 0; k2 < 4; ++k2) {
    const int v3 = k2 * 128;
    const int v4 = v3 + tid0;
    const bool v10 = v4 < n2;
    if (v10) {
      const int v5 = v4 * 8;
      const int v6 = k2 * 8;
      const int v8 = v7 + v5;
      fw_fetch_bf16x8_ldg(in0 + v8, kept0 + v6 / 2);
    }
  }
  #pragma unroll
  for (int k11 = 0; k11 < 4; ++k11) {
    const int v12 = k11 * 128;
    const int v13 = v12 + tid0;
    const bool v18 = v13 < n2;
    if (v18) {
      const int v14 = (int)((unsigned)v13 * (unsigned)8);
      const int v15 = k11 * 8;
      float v16[8];
      fw_unpack_bf16x8(kept0 + v15 / 2, v16);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v17 = fw_max(acc1[l], v16[l]);
        acc1[l] = v17;
      }
    }
  }
  float v19[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v19[l] = acc1[l];
  }
  const float v20 = fw_max_f32x8(v19);
  const float max21 = fw_max_f32_128x1(v20, fw_scratch0);
  float acc22[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc22[l] = (-0.0f);
  }
  #pragma unroll
  for (int k23 = 0; k23 < 4; ++k23) {
    const int v24 = k23 * 128;
    const int v25 = v24 + tid0;
    const bool v34 = v25 < n2;
    if (v34) {
      const int v26 = (int)((unsigned)v25 * (unsigned)8);
      const int v27 = k23 * 8;
      float v28[8];
      fw_unpack_bf16x8(kept0 + v27 / 2, v28);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v30 = v28[l] - max21;
        const float v31 = v30 * 1.442695f;
        const float v32 = fw_fast_exp2(v31);
        const float v33 = acc22[l] + v32;
        acc22[l] = v33;
      }
    }
  }
  float v35[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v35[l] = acc22[l];
  }
  const float v36 = fw_sum_f32x8(v35);
  const float v37 = v36 + 0.0f;
  const float sum38 = fw_sum_f32_128x1(v37, fw_scratch1);
  const float v48 = fw_fast_reciprocal(sum38);
  const int v51 = bid0 * n3;
  #pragma unroll
  for (int k39 = 0; k39 < 4; ++k39) {
    const int v40 = k39 * 128;
    const int v41 = v40 + tid0;
    const bool v53 = v41 < n2;
    if (v53) {
      const int v42 = v41 * 8;
      const int v43 = k39 * 8;
      float v44[8];
      fw_unpack_bf16x8(kept0 + v43 / 2, v44);
      float v50[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v45 = v44[l] - max21;
        const float v46 = v45 * 1.442695f;
        const float v47 = fw_fast_exp2(v46);
        v50[l] = v47 * v48;
      }
      const int v52 = v51 + v42;
      fw_store_bf16x8(out1 + v52, v50);
    }
  }
  const bool v54 = tid0 == 0;
}
