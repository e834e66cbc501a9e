// embedding, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

// an index out of range: the context reports an error, as for eager's device-side assertion
__device__ __forceinline__ void fw_fail() { __trap(); }

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

// pointwise
extern "C" __global__ void __launch_bounds__(256) embedding_0(
    const long long* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 8);
  const int v2 = v1 * 8;
  const int v3 = tid0 - v2;
  const int v4 = bid0;
  const int v5 = bid0 - v4;
  const int v6 = v4 * 32;
  const int v7 = v6 + v1;
  const bool v8 = v7 < n1;
  const int v9 = n1 + (-1);
  const int v10 = v7 < v9 ? v7 : v9;
  const int v11 = v5 * 8;
  const int v12 = v11 + v3;
  const int v13 = n2 + (-1);
  const bool v14 = v12 < n2;
  const int v15 = v12 < v13 ? v12 : v13;
  const int v16 = v15 * 4;
  const bool v17 = v14 && v8;
  const long long v18 = __ldg(in0 + v10);
  const bool v19 = v18 < 0ll;
  const long long v20 = (long long)n3;
  const long long v21 = v18 + v20;
  const long long v22 = v19 ? v21 : v18;
  const bool v23 = v22 >= 0ll;
  const bool v24 = v22 < v20;
  const bool v25 = v23 && v24;
  const bool v26 = !v17;
  const bool v27 = v25 || v26;
  if (!v27) {
    fw_fail();
  }
  const int v28 = (int)v22;
  const int v29 = v28 * n4;
  const int v30 = v29 + v16;
  float maybe32[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    maybe32[l] = 0.0f;
  }
  if (v25) {
    float v33[4];
    fw_load_f32x4_ldg(in1 + v30, v33);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      maybe32[l] = v33[l];
    }
  }
  float v34[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v34[l] = maybe32[l] * 2.0f;
  }
  const int v35 = v10 * n5;
  const int v36 = v35 + v16;
  if (v17) {
    fw_store_f32x4(out2 + v36, v34);
  }
}
