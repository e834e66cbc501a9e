// layer_norm, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

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

__device__ __forceinline__ float fw_sum_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 16 threads
__device__ __forceinline__ float fw_sum_f32_16x1(float x) {
  #pragma unroll
  for (int d = 1; d <= 8; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
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
extern "C" __global__ void __launch_bounds__(128) layer_norm_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    float* __restrict__ out3,
    float* __restrict__ out4,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[16];
  const int v1 = fw_udiv(tid0, 16);
  const int v2 = v1 * 16;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 8;
  const int v5 = v4 + v1;
  const bool v6 = v5 < n1;
  const int v7 = n1 + (-1);
  const int v8 = v5 < v7 ? v5 : v7;
  float acc9[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc9[l] = 0.0f;
  }
  const int v14 = v8 * n2;
  #pragma unroll
  for (int k10 = 0; k10 < 4; ++k10) {
    const int v11 = k10 * 16;
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
        const float v18 = acc9[l] + v16[l];
        acc9[l] = v18;
      }
    }
  }
  float v20[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v20[l] = acc9[l];
  }
  const float v21 = fw_sum_f32x4(v20);
  const float sum22 = fw_sum_f32_16x1(v21);
  float acc23[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc23[l] = 0.0f;
  }
  const long long v30 = (long long)n4;
  const float v31 = (float)v30;
  const float v32 = sum22 / v31;
  #pragma unroll
  for (int k24 = 0; k24 < 4; ++k24) {
    const int v25 = k24 * 16;
    const int v26 = v25 + v3;
    const bool v37 = v26 < n3;
    if (v37) {
      const int v27 = (int)((unsigned)v26 * (unsigned)4);
      const int v28 = k24 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v29 = kept0[v28 + l];
        const float v34 = v29 - v32;
        const float v35 = v34 * v34;
        const float v36 = acc23[l] + v35;
        acc23[l] = v36;
      }
    }
  }
  float v38[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v38[l] = acc23[l];
  }
  const float v39 = fw_sum_f32x4(v38);
  const float sum40 = fw_sum_f32_16x1(v39);
  const float v48 = sum40 / v31;
  const float v49 = v48 + 1.0e-05f;
  const float v50 = ::rsqrtf(v49);
  const int v57 = v8 * n5;
  #pragma unroll
  for (int k41 = 0; k41 < 4; ++k41) {
    const int v42 = k41 * 16;
    const int v43 = v42 + v3;
    const bool v59 = v43 < n3;
    if (v59) {
      const int v44 = v43 * 4;
      const int v45 = k41 * 4;
      float v53[4];
      fw_load_f32x4_ldg(in1 + v44, v53);
      float v55[4];
      fw_load_f32x4_ldg(in2 + v44, v55);
      float v56[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v46 = kept0[v45 + l];
        const float v47 = v46 - v32;
        const float v52 = v47 * v50;
        const float v54 = v52 * v53[l];
        v56[l] = v54 + v55[l];
      }
      const int v58 = v57 + v44;
      if (v6) {
        fw_store_f32x4(out3 + v58, v56);
      }
    }
  }
  const bool v60 = v3 == 0;
  const bool v61 = v60 && v6;
  if (v61) {
    out4[v8] = v50;
  }
}
