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

__device__ __forceinline__ unsigned short fw_f32_bf16(float x) {
  unsigned short r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}

#endif

__device__ __forceinline__ float fw_bf16_f32(unsigned short x) { return __uint_as_float((unsigned)x << 16); }

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
  const uint4 a0 = __ldg((const uint4*)p);
  const unsigned w[4] = {a0.x, a0.y, a0.z, a0.w};
  fw_unpack_bf16x8(w, v);
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
  const uint4 a0 = __ldg((const uint4*)p);
  const uint4 a1 = __ldg((const uint4*)p + 1);
  const unsigned w[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
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
extern "C" __global__ void __launch_bounds__(256) broadcast_0(
    const unsigned short* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    unsigned short* __restrict__ out3,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 128);
  const int v2 = v1 * 128;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, n1);
  const int v5 = v4 * n1;
  const int v6 = bid0 - v5;
  const int v7 = v4 * 2;
  const int v8 = v7 + v1;
  const bool v9 = v8 < n2;
  const int v10 = n2 + (-1);
  const int v11 = v8 < v10 ? v8 : v10;
  const int v12 = v6 * 128;
  const int v13 = v12 + v3;
  const int v14 = v12 + 128;
  const int v15 = v14 * 8;
  const bool v16 = v15 <= n3;
  const int v18 = v11 * n4;
  const float v23 = __ldg(in2 + 0);
  const int v27 = v11 * n5;
  if (v16) {
    const int v17 = v13 * 8;
    const int v19 = v18 + v17;
    float v20[8];
    fw_load_bf16x8_ldg(in0 + v19, v20);
    float v21[8];
    fw_load_f32x8_ldg(in1 + v17, v21);
    float v26[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v22 = v20[l] * v21[l];
      const float v25 = v22 + v23;
      v26[l] = fw_max(v25, 0.0f);
    }
    const int v28 = v27 + v17;
    if (v9) {
      fw_store_bf16x8(out3 + v28, v26);
    }
  } else {
    for (int k29 = 0; k29 < 1; ++k29) {
      const int v30 = k29 * 128;
      const int v31 = v13 + v30;
      const int v32 = v31 * 8;
      const bool v43 = v32 < n3;
      if (v43) {
        const int v33 = v31 * 8;
        const int v34 = n3 - v32;
        const int v36 = v18 + v33;
        bool v35[8];
        float v41[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v35[l] = l < v34;
          const float v37 = v35[l] ? fw_bf16_f32(__ldg(in0 + v36 + l)) : 0.0f;
          const float v38 = v35[l] ? __ldg(in1 + v33 + l) : 0.0f;
          const float v39 = v37 * v38;
          const float v40 = v39 + v23;
          v41[l] = fw_max(v40, 0.0f);
        }
        const int v42 = v27 + v33;
        if (v9) {
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            if (v35[l]) out3[v42 + l] = fw_f32_bf16(v41[l]);
          }
        }
      }
    }
  }
}
