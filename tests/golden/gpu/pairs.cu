// pairs, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

__device__ __forceinline__ unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

#endif

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

__device__ __forceinline__ void fw_load_bf16x8_ldg(const unsigned short* p, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_ldg(p, w);
  fw_unpack_bf16x8(w, v);
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

// pointwise
extern "C" __global__ void __launch_bounds__(128) pairs_0(
    const unsigned short* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    unsigned short* __restrict__ out3,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = bid0 * 128;
  const int v2 = v1 + tid0;
  const int v3 = n1 + (-1);
  const bool v4 = v2 < n1;
  const int v5 = v2 < v3 ? v2 : v3;
  const int v6 = fw_udiv(v5, n2);
  const int v7 = v6 * n2;
  const int v8 = v5 - v7;
  const int v9 = v8 * 8;
  const int v10 = v6 * n3;
  const int v11 = v10 + v9;
  float v12[8];
  fw_load_bf16x8_ldg(in0 + v11, v12);
  const float v13[8] = {v12[0], 0.0f, v12[2], 0.0f, v12[4], 0.0f, v12[6], 0.0f};
  const int v14 = fw_udiv(v9, n4);
  float v15[4];
  fw_load_f32x4_ldg(in1 + v14, v15);
  const float v16[8] = {v15[0], 0.0f, v15[1], 0.0f, v15[2], 0.0f, v15[3], 0.0f};
  const float v17[8] = {v12[1], 0.0f, v12[3], 0.0f, v12[5], 0.0f, v12[7], 0.0f};
  const int v18 = fw_udiv(v9, n5);
  float v19[4];
  fw_load_f32x4_ldg(in2 + v18, v19);
  const float v20[8] = {v19[0], 0.0f, v19[1], 0.0f, v19[2], 0.0f, v19[3], 0.0f};
  float v23[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v21 = v17[l] * v20[l];
    const float v22 = -v21;
    v23[l] = ::fmaf(v13[l], v16[l], v22);
  }
  const float v24[8] = {0.0f, v12[1], 0.0f, v12[3], 0.0f, v12[5], 0.0f, v12[7]};
  const float v25[8] = {0.0f, v15[0], 0.0f, v15[1], 0.0f, v15[2], 0.0f, v15[3]};
  const float v26[8] = {0.0f, v12[0], 0.0f, v12[2], 0.0f, v12[4], 0.0f, v12[6]};
  const float v27[8] = {0.0f, v19[0], 0.0f, v19[1], 0.0f, v19[2], 0.0f, v19[3]};
  float v29[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v28 = v26[l] * v27[l];
    v29[l] = ::fmaf(v24[l], v25[l], v28);
  }
  const float v30[8] = {v23[0], v29[1], v23[2], v29[3], v23[4], v29[5], v23[6], v29[7]};
  const int v31 = v6 * n6;
  const int v32 = v31 + v9;
  if (v4) {
    fw_store_bf16x8(out3 + v32, v30);
  }
}
