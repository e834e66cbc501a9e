// outer_softmax, made by Fusewright

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

// max over groups of 8 threads that are 32 apart, 4 values at a time
__device__ __forceinline__ void fw_max_f32x4_8x32(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    s[t + l * 256] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const int mine = t, first = mine - mine / 32 % 8 * 32 + l * 256;
    float y[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) y[j] = s[first + j * 32];
    #pragma unroll
    for (int j = 0; j < 8; j += 2) y[j] = fw_max(y[j], y[j + 1]);
    #pragma unroll
    for (int j = 0; j < 8; j += 4) y[j] = fw_max(y[j], y[j + 2]);
    x = fw_max(y[0], y[4]);
    v[l] = x;
  }
}

// sum over groups of 8 threads that are 32 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_8x32(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    s[t + l * 256] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const int mine = t, first = mine - mine / 32 % 8 * 32 + l * 256;
    float y[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) y[j] = s[first + j * 32];
    #pragma unroll
    for (int j = 0; j < 8; j += 2) y[j] = y[j] + y[j + 1];
    #pragma unroll
    for (int j = 0; j < 8; j += 4) y[j] = y[j] + y[j + 2];
    x = y[0] + y[4];
    v[l] = x;
  }
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

// outer persistent
extern "C" __global__ void __launch_bounds__(256) outer_softmax_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[32];
  float kept1[32];
  __shared__ __align__(16) unsigned char fw_scratch0[4096];
  __shared__ __align__(16) unsigned char fw_scratch1[4096];
  const int v1 = fw_udiv(tid0, 32);
  const int v2 = v1 * 32;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 32;
  const int v5 = v4 + v3;
  const bool v6 = v5 < n1;
  const int v7 = n1 + (-1);
  const int v8 = v5 < v7 ? v5 : v7;
  const int v9 = v8 * 4;
  float acc10[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc10[l] = (-fw_inff);
  }
  #pragma unroll
  for (int k11 = 0; k11 < 8; ++k11) {
    const int v12 = k11 * 8;
    const int v13 = v12 + v1;
    const bool v19 = v13 < n3;
    if (v19) {
      const int v14 = v13 * n2;
      const int v15 = v14 + v9;
      float v16[4];
      fw_load_f32x4_ldg(in0 + v15, v16);
      const int v17 = k11 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v17 + l] = v16[l];
        const float v18 = fw_max(acc10[l], v16[l]);
        acc10[l] = v18;
      }
    }
  }
  float v20[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v20[l] = acc10[l];
  }
  float max21[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) max21[l] = v20[l];
  fw_max_f32x4_8x32(max21, fw_scratch0);
  float acc22[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc22[l] = 0.0f;
  }
  #pragma unroll
  for (int k23 = 0; k23 < 8; ++k23) {
    const int v24 = k23 * 8;
    const int v25 = v24 + v1;
    const bool v31 = v25 < n3;
    if (v31) {
      const int v26 = k23 * 4;
      float v29[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v27 = kept0[v26 + l];
        const float v28 = v27 - max21[l];
        v29[l] = ::expf(v28);
      }
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept1[v26 + l] = v29[l];
        const float v30 = acc22[l] + v29[l];
        acc22[l] = v30;
      }
    }
  }
  float v32[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v32[l] = acc22[l];
  }
  float sum33[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum33[l] = v32[l];
  fw_sum_f32x4_8x32(sum33, fw_scratch1);
  #pragma unroll
  for (int k34 = 0; k34 < 8; ++k34) {
    const int v35 = k34 * 8;
    const int v36 = v35 + v1;
    const bool v42 = v36 < n3;
    if (v42) {
      const int v37 = k34 * 4;
      float v39[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v38 = kept1[v37 + l];
        v39[l] = v38 / sum33[l];
      }
      const int v40 = v36 * n4;
      const int v41 = v40 + v9;
      if (v6) {
        fw_store_f32x4(out1 + v41, v39);
      }
    }
  }
  const bool v43 = v1 == 0;
}
