// apart_moved, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

__device__ __forceinline__ void fw_fetch_bf16x8_ldg(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

template <class I> __device__ __forceinline__ void fw_fetch_bf16x8_range_beside_ldg(I left, const unsigned short* p, I at, I n, unsigned* w) {
  if (at > -8 && at < n && left >= 7) {
    fw_fetch_bf16x8_ldg(p, w);
  } else {
    w[0] = 0;
    w[1] = 0;
    w[2] = 0;
    w[3] = 0;
    if (at >= n) return;
    const unsigned short* const q = (const unsigned short*)p;
    if (at >= 0 && at < n) w[0] |= (unsigned)__ldg(q + 0);
    if (at + 1 >= 0 && at + 1 < n) w[0] |= (unsigned)__ldg(q + 1) << 16;
    if (at + 2 >= 0 && at + 2 < n) w[1] |= (unsigned)__ldg(q + 2);
    if (at + 3 >= 0 && at + 3 < n) w[1] |= (unsigned)__ldg(q + 3) << 16;
    if (at + 4 >= 0 && at + 4 < n) w[2] |= (unsigned)__ldg(q + 4);
    if (at + 5 >= 0 && at + 5 < n) w[2] |= (unsigned)__ldg(q + 5) << 16;
    if (at + 6 >= 0 && at + 6 < n) w[3] |= (unsigned)__ldg(q + 6);
    if (at + 7 >= 0 && at + 7 < n) w[3] |= (unsigned)__ldg(q + 7) << 16;
  }
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

template <class I> __device__ __forceinline__ void fw_load_bf16x8_range_beside_ldg(I left, const unsigned short* p, I at, I n, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_range_beside_ldg(left, p, at, n, w);
  fw_unpack_bf16x8(w, v);
}

template <class I> __device__ __forceinline__ void fw_fetch_bf16x8_across_beside_ldg(const unsigned short* first, I left, const unsigned short* p, I at, I n, unsigned* w) {
  const unsigned skip = (unsigned)(unsigned long long)p & 15;
  const uint4* const a = (const uint4*)((const char*)p - skip);
  if (at < n && left >= 14 && (const char*)a >= (const char*)first) {
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
    w[0] = __funnelshift_r(x[0], x[1], 8 * (skip & 3));
    w[1] = __funnelshift_r(x[1], x[2], 8 * (skip & 3));
    w[2] = __funnelshift_r(x[2], x[3], 8 * (skip & 3));
    w[3] = __funnelshift_r(x[3], x[4], 8 * (skip & 3));
  } else {
    w[0] = 0;
    w[1] = 0;
    w[2] = 0;
    w[3] = 0;
    if (at >= n) return;
    const unsigned short* const q = (const unsigned short*)p;
    if (at >= 0 && at < n) w[0] |= (unsigned)__ldg(q + 0);
    if (at + 1 >= 0 && at + 1 < n) w[0] |= (unsigned)__ldg(q + 1) << 16;
    if (at + 2 >= 0 && at + 2 < n) w[1] |= (unsigned)__ldg(q + 2);
    if (at + 3 >= 0 && at + 3 < n) w[1] |= (unsigned)__ldg(q + 3) << 16;
    if (at + 4 >= 0 && at + 4 < n) w[2] |= (unsigned)__ldg(q + 4);
    if (at + 5 >= 0 && at + 5 < n) w[2] |= (unsigned)__ldg(q + 5) << 16;
    if (at + 6 >= 0 && at + 6 < n) w[3] |= (unsigned)__ldg(q + 6);
    if (at + 7 >= 0 && at + 7 < n) w[3] |= (unsigned)__ldg(q + 7) << 16;
  }
}

template <class I> __device__ __forceinline__ void fw_load_bf16x8_across_beside_ldg(const unsigned short* first, I left, const unsigned short* p, I at, I n, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_across_beside_ldg(first, left, p, at, n, w);
  fw_unpack_bf16x8(w, v);
}

__device__ __forceinline__ void fw_pack_f32x8(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
  w[2] = __float_as_uint(v[2]);
  w[3] = __float_as_uint(v[3]);
  w[4] = __float_as_uint(v[4]);
  w[5] = __float_as_uint(v[5]);
  w[6] = __float_as_uint(v[6]);
  w[7] = __float_as_uint(v[7]);
}

__device__ __forceinline__ void fw_store_f32x8(float* p, const float* v) {
  unsigned w[8];
  fw_pack_f32x8(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
  fw_write((uint4*)p + 1, uint4{w[4], w[5], w[6], w[7]});
}

template <class I> __device__ __forceinline__ void fw_store_f32x8_range(float* p, I at, I n, const float* v) {
  if (at >= 0 && at + 8 <= n) {
    fw_store_f32x8(p, v);
  } else {
    unsigned w[8];
    fw_pack_f32x8(v, w);
    unsigned* const q = (unsigned*)p;
    if (at >= 0 && at < n) q[0] = w[0];
    if (at + 1 >= 0 && at + 1 < n) q[1] = w[1];
    if (at + 2 >= 0 && at + 2 < n) q[2] = w[2];
    if (at + 3 >= 0 && at + 3 < n) q[3] = w[3];
    if (at + 4 >= 0 && at + 4 < n) q[4] = w[4];
    if (at + 5 >= 0 && at + 5 < n) q[5] = w[5];
    if (at + 6 >= 0 && at + 6 < n) q[6] = w[6];
    if (at + 7 >= 0 && at + 7 < n) q[7] = w[7];
  }
}

// pointwise
extern "C" __global__ void __launch_bounds__(128) apart_moved_0(
    const unsigned short* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    const unsigned short* __restrict__ in2,
    float* __restrict__ out3,
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
    int n10) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 128;
  const int v5 = v4 + tid0;
  const int v7 = (int)((unsigned)v1 * (unsigned)n3);
  const int v8 = v7 & 7;
  const int v15 = v1 * n4;
  const int v18 = v1 * n6;
  const int v19 = v18 + 1;
  const int v25 = v1 * n9;
  const bool v27 = v5 < n10;
  if (v27) {
    const int v6 = v5 * 8;
    const int v9 = v6 - v8;
    const int v10 = (int)((unsigned)n2 + (unsigned)(-8));
    const bool v11 = v9 > v10;
    const bool v12 = v9 < 0;
    const bool v13 = v12 || v11;
    const int v16 = v15 + v9;
    float v17[8];
    fw_load_bf16x8_range_beside_ldg(n5 - v16, in1 + v16, v9, n2, v17);
    const int v20 = v19 + v9;
    float v21[8];
    fw_load_bf16x8_across_beside_ldg(in0, n7 - v20, in0 + v20, v9, n2, v21);
    float v22[8];
    fw_load_bf16x8_across_beside_ldg(in2, n8 - v9, in2 + v9, v9, n2, v22);
    float v24[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v23 = v17[l] + v22[l];
      v24[l] = v21[l] + v23;
    }
    const int v26 = v25 + v9;
    fw_store_f32x8_range(out3 + v26, v9, n2, v24);
  }
}
