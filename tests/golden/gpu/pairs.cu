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
extern "C" __global__ void __launch_bounds__(256) pairs_0(
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
    int n6,
    int n7) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 16);
  const int v2 = v1 * 16;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, n1);
  const int v5 = v4 * n1;
  const int v6 = bid0 - v5;
  const int v7 = v4 * 16;
  const int v8 = v7 + v1;
  const bool v9 = v8 < n2;
  const int v10 = n2 + (-1);
  const int v11 = v8 < v10 ? v8 : v10;
  const int v12 = v6 * 16;
  const int v13 = v12 + v3;
  const int v14 = n3 + (-1);
  const bool v15 = v13 < n3;
  const int v16 = v13 < v14 ? v13 : v14;
  const int v17 = v16 * 8;
  const bool v18 = v15 && v9;
  const int v19 = v11 * n4;
  const int v20 = v19 + v17;
  float v21[8];
  fw_load_bf16x8_ldg(in0 + v20, v21);
  const float v22[8] = {v21[0], 0.0f, v21[2], 0.0f, v21[4], 0.0f, v21[6], 0.0f};
  const int v23 = fw_udiv(v17, n5);
  float v24[4];
  fw_load_f32x4_ldg(in1 + v23, v24);
  const float v25[8] = {v24[0], 0.0f, v24[1], 0.0f, v24[2], 0.0f, v24[3], 0.0f};
  const float v26[8] = {v21[1], 0.0f, v21[3], 0.0f, v21[5], 0.0f, v21[7], 0.0f};
  const int v27 = fw_udiv(v17, n6);
  float v28[4];
  fw_load_f32x4_ldg(in2 + v27, v28);
  const float v29[8] = {v28[0], 0.0f, v28[1], 0.0f, v28[2], 0.0f, v28[3], 0.0f};
  float v32[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v30 = v26[l] * v29[l];
    const float v31 = -v30;
    v32[l] = ::fmaf(v22[l], v25[l], v31);
  }
  const float v33[8] = {0.0f, v21[1], 0.0f, v21[3], 0.0f, v21[5], 0.0f, v21[7]};
  const float v34[8] = {0.0f, v24[0], 0.0f, v24[1], 0.0f, v24[2], 0.0f, v24[3]};
  const float v35[8] = {0.0f, v21[0], 0.0f, v21[2], 0.0f, v21[4], 0.0f, v21[6]};
  const float v36[8] = {0.0f, v28[0], 0.0f, v28[1], 0.0f, v28[2], 0.0f, v28[3]};
  float v38[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v37 = v35[l] * v36[l];
    v38[l] = ::fmaf(v33[l], v34[l], v37);
  }
  const float v39[8] = {v32[0], v38[1], v32[2], v38[3], v32[4], v38[5], v32[6], v38[7]};
  const int v40 = v11 * n7;
  const int v41 = v40 + v17;
  if (v18) {
    fw_store_bf16x8(out3 + v41, v39);
  }
}
