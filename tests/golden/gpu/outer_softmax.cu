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

// 1 / x, to 1 ulp; 0 from 2^126 on
__device__ __forceinline__ float fw_fast_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

// a / b to nearest, for |b| >= 2^-100; subnormal results, and those of |a| < 2^-100, may be a unit off
__device__ __forceinline__ float fw_far_div(float a, float b) {
  const float s = ::fabsf(b) > 0x1p64f ? 0x1p-64f : 1.0f;
  const float d = b * s;
  const float r = fw_fast_reciprocal(d);
  const float t = ::fmaf(::fmaf(-d, r, 1.0f), r, r);
  const float q = a * t;
  const float c = ::fmaf(::fmaf(-d, q, a), t, q);
  return (::fabsf(c) > 0.0f ? c : a * r) * s;
}

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

// max over groups of 16 threads that are 8 apart, 4 values at a time
__device__ __forceinline__ void fw_max_f32x4_16x8(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    #pragma unroll
    for (int d = 8; d <= 16; d *= 2) {
      const float y = __shfl_xor_sync(0xffffffffu, x, d);
      x = fw_max(x, y);
    }
    if (t % 32 < 8) s[t / 32 * 8 + t % 32 + l * 32] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const unsigned mine = t / 32 * 8 + t % 8;
    const unsigned first = mine % 8 + l * 32;
    float y[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) y[j] = s[first + j * 8];
    #pragma unroll
    for (int j = 0; j < 4; j += 2) y[j] = fw_max(y[j], y[j + 1]);
    x = fw_max(y[0], y[2]);
    v[l] = x;
  }
}

// sum over groups of 16 threads that are 8 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_16x8(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    #pragma unroll
    for (int d = 8; d <= 16; d *= 2) {
      const float y = __shfl_xor_sync(0xffffffffu, x, d);
      x = x + y;
    }
    if (t % 32 < 8) s[t / 32 * 8 + t % 32 + l * 32] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const unsigned mine = t / 32 * 8 + t % 8;
    const unsigned first = mine % 8 + l * 32;
    float y[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) y[j] = s[first + j * 8];
    #pragma unroll
    for (int j = 0; j < 4; j += 2) y[j] = y[j] + y[j + 1];
    x = y[0] + y[2];
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
extern "C" __global__ void __launch_bounds__(128) outer_softmax_0(
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
  __shared__ __align__(16) unsigned char fw_scratch0[512];
  __shared__ __align__(16) unsigned char fw_scratch1[512];
  const int v1 = fw_udiv(tid0, 8);
  const int v2 = v1 * 8;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 8;
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
  for (int k11 = 0; k11 < 4; ++k11) {
    const int v12 = k11 * 16;
    const int v13 = v12 + v1;
    const bool v18 = v13 < n3;
    if (v18) {
      const int v14 = k11 * 4;
      const int v15 = v13 * n2;
      const int v16 = v15 + v9;
      float v17[4];
      fw_load_f32x4_ldg(in0 + v16, v17);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v14 + l] = v17[l];
      }
    }
  }
  #pragma unroll
  for (int k19 = 0; k19 < 4; ++k19) {
    const int v20 = k19 * 16;
    const int v21 = v20 + v1;
    const bool v25 = v21 < n3;
    if (v25) {
      const int v22 = k19 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v23 = kept0[v22 + l];
        const float v24 = fw_max(acc10[l], v23);
        acc10[l] = v24;
      }
    }
  }
  float v26[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v26[l] = acc10[l];
  }
  float max27[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) max27[l] = v26[l];
  fw_max_f32x4_16x8(max27, fw_scratch0);
  float acc28[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc28[l] = (-0.0f);
  }
  #pragma unroll
  for (int k29 = 0; k29 < 4; ++k29) {
    const int v30 = k29 * 16;
    const int v31 = v30 + v1;
    const bool v37 = v31 < n3;
    if (v37) {
      const int v32 = k29 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v33 = kept0[v32 + l];
        const float v34 = v33 - max27[l];
        const float v35 = ::expf(v34);
        const float v36 = acc28[l] + v35;
        acc28[l] = v36;
      }
    }
  }
  float v39[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v38 = acc28[l];
    v39[l] = v38 + 0.0f;
  }
  float sum40[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum40[l] = v39[l];
  fw_sum_f32x4_16x8(sum40, fw_scratch1);
  #pragma unroll
  for (int k41 = 0; k41 < 4; ++k41) {
    const int v42 = k41 * 16;
    const int v43 = v42 + v1;
    const bool v51 = v43 < n3;
    if (v51) {
      const int v44 = k41 * 4;
      float v48[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v45 = kept0[v44 + l];
        const float v46 = v45 - max27[l];
        const float v47 = ::expf(v46);
        v48[l] = fw_far_div(v47, sum40[l]);
      }
      const int v49 = v43 * n4;
      const int v50 = v49 + v9;
      if (v6) {
        fw_store_f32x4(out1 + v50, v48);
      }
    }
  }
  const bool v52 = v1 == 0;
}
