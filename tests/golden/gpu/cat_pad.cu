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
    int n14,
    int n15) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 32);
  const int v2 = v1 * 32;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, n1);
  const int v5 = v4 * n1;
  const int v6 = bid0 - v5;
  const int v7 = v4 * 4;
  const int v8 = v7 + v1;
  const bool v9 = v8 < n2;
  const int v10 = n2 + (-1);
  const int v11 = v8 < v10 ? v8 : v10;
  const int v12 = v6 * 32;
  const int v13 = v12 + v3;
  const int v15 = (int)((unsigned)v11 * (unsigned)n4);
  const int v16 = v15 & 3;
  const int v23 = v11 + (-1);
  const long long v24 = (long long)v23;
  const bool v25 = v24 >= 0ll;
  const long long v29 = (long long)n5;
  const long long v33 = (long long)n6;
  const int v36 = v11 * n7;
  const int v37 = v36 + n8;
  const int v48 = v11 * n11;
  const int v49 = v48 + n12;
  const int v64 = v11 * n14;
  const bool v66 = v13 < n15;
  if (v66) {
    const int v14 = v13 * 4;
    const int v17 = v14 - v16;
    const int v18 = (int)((unsigned)n3 + (unsigned)(-4));
    const bool v19 = v17 > v18;
    const bool v20 = v17 < 0;
    const bool v21 = v20 || v19;
    const int v38 = v37 + v17;
    const int v40 = n3 < n9 ? n3 : n9;
    const int v41 = v40 < n10 ? v40 : n10;
    const int v42 = v41 - 0;
    const int v43 = v25 ? v42 : 0;
    const int v44 = v17 - 0;
    float v46[4];
    fw_load_f32x4_across_ldg(in0, in0 + v38, v44, v43, v46);
    const int v50 = v49 + v17;
    const int v51 = (int)((unsigned)n13 + (unsigned)v17);
    const int v56 = 0 > n10 ? 0 : n10;
    const int v57 = v40 - v56;
    const int v58 = v25 ? v57 : 0;
    const int v59 = v17 - v56;
    float v61[4];
    fw_load_f32x4_across_ldg(in1, in1 + v50, v59, v58, v61);
    float v63[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int v27 = v17 + l;
      const long long v28 = (long long)v27;
      const bool v31 = v28 < v29;
      const bool v32 = v25 && v31;
      const bool v35 = v28 < v33;
      const bool v39 = v32 && v35;
      const float v47 = -v46[l];
      const int v52 = v51 + l;
      const long long v53 = (long long)v52;
      const bool v54 = v53 >= 0ll;
      const bool v55 = v32 && v54;
      const float v62 = v35 ? v47 : v61[l];
      v63[l] = v32 ? v62 : 1.0f;
    }
    const int v65 = v64 + v17;
    if (v9) {
      fw_store_f32x4_range(out2 + v65, v17, n3, v63);
    }
  }
}
