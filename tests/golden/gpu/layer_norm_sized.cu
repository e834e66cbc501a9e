// layer_norm_sized, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

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

__device__ __forceinline__ float fw_sum_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 32 threads
__device__ __forceinline__ float fw_sum_f32_32x1(float x) {
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
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
extern "C" __global__ void __launch_bounds__(128) layer_norm_sized_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    float* __restrict__ out3,
    float* __restrict__ out4) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[8];
  float kept1[8];
  float kept2[8];
  const int v1 = fw_udiv(tid0, 32);
  const int v2 = v1 * 32;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 4;
  const int v5 = v4 + v1;
  float acc9[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc9[l] = (-0.0f);
  }
  const int v15 = v5 * 256;
  #pragma unroll
  for (int k10 = 0; k10 < 2; ++k10) {
    const int v11 = k10 * 32;
    const int v12 = v11 + v3;
    const int v13 = v12 * 4;
    const int v14 = k10 * 4;
    const int v16 = v15 + v13;
    float v17[4];
    fw_load_f32x4_ldg(in0 + v16, v17);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      kept0[v14 + l] = v17[l];
    }
  }
  #pragma unroll
  for (int k19 = 0; k19 < 2; ++k19) {
    const int v23 = k19 * 4;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v24 = kept0[v23 + l];
      const float v25 = acc9[l] + v24;
      acc9[l] = v25;
    }
  }
  float v27[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v27[l] = acc9[l];
  }
  const float v28 = fw_sum_f32x4(v27);
  const float v29 = v28 + 0.0f;
  const float sum30 = fw_sum_f32_32x1(v29);
  float acc31[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc31[l] = 0.0f;
  }
  const float v40 = sum30 / 256.0f;
  #pragma unroll
  for (int k32 = 0; k32 < 2; ++k32) {
    const int v36 = k32 * 4;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v37 = kept0[v36 + l];
      const float v42 = v37 - v40;
      const float v43 = ::fmaf(v42, v42, acc31[l]);
      acc31[l] = v43;
    }
  }
  float v45[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v45[l] = acc31[l];
  }
  const float v46 = fw_sum_f32x4(v45);
  const float sum47 = fw_sum_f32_32x1(v46);
  #pragma unroll
  for (int k48 = 0; k48 < 2; ++k48) {
    const int v49 = k48 * 32;
    const int v50 = v49 + v3;
    const int v51 = v50 * 4;
    const int v52 = k48 * 4;
    float v53[4];
    fw_load_f32x4_ldg(in1 + v51, v53);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      kept1[v52 + l] = v53[l];
    }
    float v54[4];
    fw_load_f32x4_ldg(in2 + v51, v54);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      kept2[v52 + l] = v54[l];
    }
  }
  const float v63 = sum47 / 256.0f;
  const float v64 = v63 + 1.0e-05f;
  const float v65 = ::rsqrtf(v64);
  const int v72 = v5 * 256;
  #pragma unroll
  for (int k56 = 0; k56 < 2; ++k56) {
    const int v57 = k56 * 32;
    const int v58 = v57 + v3;
    const int v59 = v58 * 4;
    const int v60 = k56 * 4;
    float v71[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v61 = kept0[v60 + l];
      const float v62 = v61 - v40;
      const float v67 = v62 * v65;
      const float v68 = kept1[v60 + l];
      const float v69 = v67 * v68;
      const float v70 = kept2[v60 + l];
      v71[l] = v69 + v70;
    }
    const int v73 = v72 + v59;
    fw_store_f32x4(out3 + v73, v71);
  }
  const bool v75 = v3 == 0;
  if (v75) {
    out4[v5] = v65;
  }
}
