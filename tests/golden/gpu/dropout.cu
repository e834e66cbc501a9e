// dropout, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

// the four words of a Philox4x32-10 block
__device__ __forceinline__ void fw_philox(long long seed, unsigned c0, unsigned c1, unsigned c2, unsigned c3, unsigned (&word)[4]) {
  unsigned k0 = (unsigned)seed, k1 = (unsigned)((unsigned long long)seed >> 32);
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    const unsigned h0 = __umulhi(c0, 0xD2511F53u), l0 = c0 * 0xD2511F53u;
    const unsigned h1 = __umulhi(c2, 0xCD9E8D57u), l1 = c2 * 0xCD9E8D57u;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  word[0] = c0;
  word[1] = c1;
  word[2] = c2;
  word[3] = c3;
}

// columns 4 * quad .. 4 * quad + 3 of a row (prims/philox.py, the layout of CUDA kernels)
__device__ __forceinline__ void fw_philox_quad(long long seed, long long row, unsigned quad, unsigned call, unsigned* out) {
  unsigned word[4];
  fw_philox(seed, quad, (unsigned)row, (unsigned)((unsigned long long)row >> 32), 2 + call, word);
#pragma unroll
  for (int k = 0; k < 4; ++k) out[k] = word[k];
}

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

__device__ __forceinline__ void fw_pack_boolx4(const bool* v, unsigned* w) {
  w[0] = (unsigned)(unsigned char)v[0] | (unsigned)(unsigned char)v[1] << 8 | (unsigned)(unsigned char)v[2] << 16 | (unsigned)(unsigned char)v[3] << 24;
}

__device__ __forceinline__ void fw_store_boolx4(unsigned char* p, const bool* v) {
  unsigned w[1];
  fw_pack_boolx4(v, w);
  fw_write((unsigned*)p, (unsigned)w[0]);
}

// pointwise
extern "C" __global__ void __launch_bounds__(128) dropout_0(
    const long long* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    unsigned char* __restrict__ out3,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 128;
  const int v5 = v4 + tid0;
  const int v6 = n2 + (-1);
  const bool v7 = v5 < n2;
  const int v8 = v5 < v6 ? v5 : v6;
  const int v9 = v8 * 4;
  const long long v10 = __ldg(in0 + 0);
  unsigned v11[4];
  fw_philox_quad(v10, v1, (unsigned)(v9 >> 2), 0, v11);
  const int v13 = v1 * n3;
  const int v14 = v13 + v9;
  float v15[4];
  fw_load_f32x4_ldg(in1 + v14, v15);
  bool v12[4];
  float v17[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v12[l] = v11[l] >= 1073741824u;
    const float v16 = v15[l] * 1.3333334f;
    v17[l] = v12[l] ? v16 : 0.0f;
  }
  const int v18 = v1 * n4;
  const int v19 = v18 + v9;
  if (v7) {
    fw_store_f32x4(out2 + v19, v17);
  }
  const int v20 = v1 * n5;
  const int v21 = v20 + v9;
  if (v7) {
    fw_store_boolx4(out3 + v21, v12);
  }
}
