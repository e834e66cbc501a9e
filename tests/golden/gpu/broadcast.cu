// broadcast, made by Fusewright

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

__device__ __forceinline__ void fw_fetch_f32x8_ldg(const float* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
  const uint4 a1 = __ldg((const uint4*)p + 1);
  w[4] = a1.x;
  w[5] = a1.y;
  w[6] = a1.z;
  w[7] = a1.w;
}

__device__ __forceinline__ void fw_unpack_f32x8(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
  v[4] = __uint_as_float(w[4]);
  v[5] = __uint_as_float(w[5]);
  v[6] = __uint_as_float(w[6]);
  v[7] = __uint_as_float(w[7]);
}

__device__ __forceinline__ void fw_load_f32x8_ldg(const float* p, float* v) {
  unsigned w[8];
  fw_fetch_f32x8_ldg(p, w);
  fw_unpack_f32x8(w, v);
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
extern "C" __global__ void __launch_bounds__(128) broadcast_0(
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
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = fw_udiv(v1, n2);
  const int v5 = v4 * n2;
  const int v6 = v1 - v5;
  const int v7 = v3 * 128;
  const int v8 = v7 + tid0;
  const int v9 = n3 + (-1);
  const bool v10 = v8 < n3;
  const int v11 = v8 < v9 ? v8 : v9;
  const int v12 = v11 * 8;
  const int v13 = v6 * 2;
  const int v14 = n4 + (-1);
  const int v15 = v13 < v14 ? v13 : v14;
  const bool v16 = v13 < n4;
  const bool v17 = v16 && v10;
  const int v18 = v13 + 1;
  const int v19 = v18 < v14 ? v18 : v14;
  const bool v20 = v18 < n4;
  const bool v21 = v20 && v10;
  const int v22 = v15 * n5;
  const int v23 = v22 + v12;
  float v24[8];
  fw_load_bf16x8_ldg(in0 + v23, v24);
  float v25[8];
  fw_load_f32x8_ldg(in1 + v12, v25);
  const float v26 = __ldg(in2 + 0);
  const int v30 = v19 * n5;
  const int v31 = v30 + v12;
  float v32[8];
  fw_load_bf16x8_ldg(in0 + v31, v32);
  float v29[8];
  float v34[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v28 = ::fmaf(v24[l], v25[l], v26);
    v29[l] = fw_max(v28, 0.0f);
    const float v33 = ::fmaf(v32[l], v25[l], v26);
    v34[l] = fw_max(v33, 0.0f);
  }
  const int v35 = v15 * n6;
  const int v36 = v35 + v12;
  if (v17) {
    fw_store_bf16x8(out3 + v36, v29);
  }
  const int v37 = v19 * n6;
  const int v38 = v37 + v12;
  if (v21) {
    fw_store_bf16x8(out3 + v38, v34);
  }
}
