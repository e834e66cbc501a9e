// rope_sized, made by Fusewright

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
extern "C" __global__ void __launch_bounds__(256) rope_sized_0(
    const unsigned short* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    unsigned short* __restrict__ out3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 16);
  const int v2 = v1 * 16;
  const int v3 = tid0 - v2;
  const int v7 = bid0 * 16;
  const int v8 = v7 + v1;
  const int v22 = v8 * 128;
  const int v23 = v22 + 64;
  const int v28 = v22 + (-64);
  const int v43 = v8 * 128;
  const int v17 = v3 * 8;
  const long long v18 = (long long)v17;
  const bool v20 = v18 < 64ll;
  const int v24 = v23 + v17;
  float maybe25[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    maybe25[l] = 0.0f;
  }
  if (v20) {
    float v26[8];
    fw_load_bf16x8_ldg(in0 + v24, v26);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      maybe25[l] = v26[l];
    }
  }
  const int v29 = v28 + v17;
  const int v30 = (-64) + v17;
  const long long v31 = (long long)v30;
  const bool v32 = v31 >= 0ll;
  float v27[8];
  float maybe34[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v27[l] = -maybe25[l];
    maybe34[l] = 0.0f;
  }
  if (v32) {
    float v35[8];
    fw_load_bf16x8_ldg(in0 + v29, v35);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      maybe34[l] = v35[l];
    }
  }
  float v37[8];
  fw_load_f32x8_ldg(in2 + v17, v37);
  const int v38 = v22 + v17;
  float v39[8];
  fw_load_bf16x8_ldg(in0 + v38, v39);
  float v40[8];
  fw_load_f32x8_ldg(in1 + v17, v40);
  float v42[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v36 = v20 ? v27[l] : maybe34[l];
    const float v41 = v39[l] * v40[l];
    v42[l] = ::fmaf(v36, v37[l], v41);
  }
  const int v44 = v43 + v17;
  fw_store_bf16x8(out3 + v44, v42);
}
