// cat_pad, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

template <class I> __device__ __forceinline__ void fw_fetch_f32x4_across_ldg(const float* first, const float* p, I at, I n, unsigned* w) {
  const unsigned skip = (unsigned)(unsigned long long)p & 15;
  const uint4* const a = (const uint4*)((const char*)p - skip);
  if (at >= 0 && at + 7 <= n && (const char*)a >= (const char*)first) {
    unsigned x[8];
    const uint4 a0 = __ldg(a + 0);
    x[0] = a0.x;
    x[1] = a0.y;
    x[2] = a0.z;
    x[3] = a0.w;
    const uint4 a1 = __ldg(a + (skip ? 1 : 0));
    x[4] = a1.x;
    x[5] = a1.y;
    x[6] = a1.z;
    x[7] = a1.w;
    if (skip & 8) {
      x[0] = x[2];
      x[1] = x[3];
      x[2] = x[4];
      x[3] = x[5];
      x[4] = x[6];
      x[5] = x[7];
    }
    if (skip & 4) {
      x[0] = x[1];
      x[1] = x[2];
      x[2] = x[3];
      x[3] = x[4];
      x[4] = x[5];
    }
    w[0] = x[0];
    w[1] = x[1];
    w[2] = x[2];
    w[3] = x[3];
  } else {
    w[0] = 0;
    w[1] = 0;
    w[2] = 0;
    w[3] = 0;
    if (at >= n) return;
    const unsigned* const q = (const unsigned*)p;
    if (at >= 0 && at < n) w[0] = __ldg(q + 0);
    if (at + 1 >= 0 && at + 1 < n) w[1] = __ldg(q + 1);
    if (at + 2 >= 0 && at + 2 < n) w[2] = __ldg(q + 2);
    if (at + 3 >= 0 && at + 3 < n) w[3] = __ldg(q + 3);
  }
}

__device__ __forceinline__ void fw_unpack_f32x4(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
}

template <class I> __device__ __forceinline__ void fw_load_f32x4_across_ldg(const float* first, const float* p, I at, I n, float* v) {
  unsigned w[4];
  fw_fetch_f32x4_across_ldg(first, p, at, n, w);
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

template <class I> __device__ __forceinline__ void fw_store_f32x4_range(float* p, I at, I n, const float* v) {
  if (at >= 0 && at + 4 <= n) {
    fw_store_f32x4(p, v);
  } else {
    unsigned w[4];
    fw_pack_f32x4(v, w);
    unsigned* const q = (unsigned*)p;
    if (at >= 0 && at < n) q[0] = w[0];
    if (at + 1 >= 0 && at + 1 < n) q[1] = w[1];
    if (at + 2 >= 0 && at + 2 < n) q[2] = w[2];
    if (at + 3 >= 0 && at + 3 < n) q[3] = w[3];
  }
}

// pointwise
extern "C" __global__ void __launch_bounds__(128) cat_pad_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 128;
  const int v5 = v4 + tid0;
  const int v7 = (int)((unsigned)v1 * (unsigned)n3);
  const int v8 = v7 & 3;
  const int v15 = v1 + (-1);
  const long long v16 = (long long)v15;
  const bool v17 = v16 >= 0ll;
  const long long v21 = (long long)n4;
  const long long v25 = (long long)n5;
  const int v28 = v1 * n6;
  const int v29 = v28 + n7;
  const int v40 = v1 * n10;
  const int v41 = v40 + n11;
  const int v56 = v1 * n13;
  const bool v58 = v5 < n14;
  if (v58) {
    const int v6 = v5 * 4;
    const int v9 = v6 - v8;
    const int v10 = (int)((unsigned)n2 + (unsigned)(-4));
    const bool v11 = v9 > v10;
    const bool v12 = v9 < 0;
    const bool v13 = v12 || v11;
    const int v30 = v29 + v9;
    const int v32 = n2 < n8 ? n2 : n8;
    const int v33 = v32 < n9 ? v32 : n9;
    const int v34 = v33 - 0;
    const int v35 = v17 ? v34 : 0;
    const int v36 = v9 - 0;
    float v38[4];
    fw_load_f32x4_across_ldg(in0, in0 + v30, v36, v35, v38);
    const int v42 = v41 + v9;
    const int v43 = (int)((unsigned)n12 + (unsigned)v9);
    const int v48 = 0 > n9 ? 0 : n9;
    const int v49 = v32 - v48;
    const int v50 = v17 ? v49 : 0;
    const int v51 = v9 - v48;
    float v53[4];
    fw_load_f32x4_across_ldg(in1, in1 + v42, v51, v50, v53);
    float v55[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int v19 = v9 + l;
      const long long v20 = (long long)v19;
      const bool v23 = v20 < v21;
      const bool v24 = v17 && v23;
      const bool v27 = v20 < v25;
      const bool v31 = v24 && v27;
      const float v39 = -v38[l];
      const int v44 = v43 + l;
      const long long v45 = (long long)v44;
      const bool v46 = v45 >= 0ll;
      const bool v47 = v24 && v46;
      const float v54 = v27 ? v39 : v53[l];
      v55[l] = v24 ? v54 : 1.0f;
    }
    const int v57 = v56 + v9;
    fw_store_f32x4_range(out2 + v57, v9, n2, v55);
  }
}
