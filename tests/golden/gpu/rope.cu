// rope, made by Fusewright

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
extern "C" __global__ void __launch_bounds__(128) rope_0(
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
    int n7,
    int n8,
    int n9) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 16);
  const int v2 = v1 * 16;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, n1);
  const int v5 = v4 * n1;
  const int v6 = bid0 - v5;
  const int v7 = v4 * 8;
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
  const long long v19 = (long long)v17;
  const long long v20 = (long long)n4;
  const bool v21 = v19 < v20;
  const int v23 = v11 * n5;
  const int v24 = v23 + n6;
  const int v25 = v24 + v17;
  float maybe26[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    maybe26[l] = 0.0f;
  }
  if (v21) {
    float v27[8];
    fw_load_bf16x8_ldg(in0 + v25, v27);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      maybe26[l] = v27[l];
    }
  }
  const int v29 = v23 + n7;
  const int v30 = v29 + v17;
  const int v31 = n8 + v17;
  const long long v32 = (long long)v31;
  const bool v33 = v32 >= 0ll;
  float v28[8];
  float maybe35[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v28[l] = -maybe26[l];
    maybe35[l] = 0.0f;
  }
  if (v33) {
    float v36[8];
    fw_load_bf16x8_ldg(in0 + v30, v36);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      maybe35[l] = v36[l];
    }
  }
  float v38[8];
  fw_load_f32x8_ldg(in2 + v17, v38);
  const int v39 = v23 + v17;
  float v40[8];
  fw_load_bf16x8_ldg(in0 + v39, v40);
  float v41[8];
  fw_load_f32x8_ldg(in1 + v17, v41);
  float v43[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v37 = v21 ? v28[l] : maybe35[l];
    const float v42 = v40[l] * v41[l];
    v43[l] = ::fmaf(v37, v38[l], v42);
  }
  const int v44 = v11 * n9;
  const int v45 = v44 + v17;
  if (v18) {
    fw_store_bf16x8(out3 + v45, v43);
  }
}
