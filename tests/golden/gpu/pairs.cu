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

// a / b of non-negative numbers; `inverse`: (2^32 - 1) / b, with which the quotient is at most 1 too small
__device__ __forceinline__ int fw_udiv_by(int a, int b, unsigned inverse) {
  const unsigned q = __umulhi((unsigned)a, inverse);
  return (int)(q + ((unsigned)a - q * (unsigned)b >= (unsigned)b));
}

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
  const unsigned n5_inverse = 0xffffffffu / (unsigned)n5;
  const unsigned n6_inverse = 0xffffffffu / (unsigned)n6;
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
  const int v14 = v12 + 16;
  const int v15 = v14 * 8;
  const bool v16 = v15 <= n3;
  const int v18 = v11 * n4;
  const int v39 = v11 * n7;
  if (v16) {
    const int v17 = v13 * 8;
    const int v19 = v18 + v17;
    float v20[8];
    fw_load_bf16x8_ldg(in0 + v19, v20);
    const float v21[8] = {v20[0], 0.0f, v20[2], 0.0f, v20[4], 0.0f, v20[6], 0.0f};
    const int v22 = fw_udiv_by(v17, n5, n5_inverse);
    float v23[4];
    fw_load_f32x4_ldg(in1 + v22, v23);
    const float v24[8] = {v23[0], 0.0f, v23[1], 0.0f, v23[2], 0.0f, v23[3], 0.0f};
    const float v25[8] = {v20[1], 0.0f, v20[3], 0.0f, v20[5], 0.0f, v20[7], 0.0f};
    const int v26 = fw_udiv_by(v17, n6, n6_inverse);
    float v27[4];
    fw_load_f32x4_ldg(in2 + v26, v27);
    const float v28[8] = {v27[0], 0.0f, v27[1], 0.0f, v27[2], 0.0f, v27[3], 0.0f};
    float v31[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v29 = v25[l] * v28[l];
      const float v30 = -v29;
      v31[l] = ::fmaf(v21[l], v24[l], v30);
    }
    const float v32[8] = {0.0f, v20[1], 0.0f, v20[3], 0.0f, v20[5], 0.0f, v20[7]};
    const float v33[8] = {0.0f, v23[0], 0.0f, v23[1], 0.0f, v23[2], 0.0f, v23[3]};
    const float v34[8] = {0.0f, v20[0], 0.0f, v20[2], 0.0f, v20[4], 0.0f, v20[6]};
    const float v35[8] = {0.0f, v27[0], 0.0f, v27[1], 0.0f, v27[2], 0.0f, v27[3]};
    float v37[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v36 = v34[l] * v35[l];
      v37[l] = ::fmaf(v32[l], v33[l], v36);
    }
    const float v38[8] = {v31[0], v37[1], v31[2], v37[3], v31[4], v37[5], v31[6], v37[7]};
    const int v40 = v39 + v17;
    if (v9) {
      fw_store_bf16x8(out3 + v40, v38);
    }
  } else {
    for (int k41 = 0; k41 < 1; ++k41) {
      const int v42 = k41 * 16;
      const int v43 = v13 + v42;
      const int v44 = v43 * 8;
      const bool v67 = v44 < n3;
      if (v67) {
        const int v45 = v43 * 8;
        const int v46 = v18 + v45;
        float v47[8];
        fw_load_bf16x8_ldg(in0 + v46, v47);
        const float v48[8] = {v47[0], 0.0f, v47[2], 0.0f, v47[4], 0.0f, v47[6], 0.0f};
        const int v49 = fw_udiv_by(v45, n5, n5_inverse);
        float v50[4];
        fw_load_f32x4_ldg(in1 + v49, v50);
        const float v51[8] = {v50[0], 0.0f, v50[1], 0.0f, v50[2], 0.0f, v50[3], 0.0f};
        const float v52[8] = {v47[1], 0.0f, v47[3], 0.0f, v47[5], 0.0f, v47[7], 0.0f};
        const int v53 = fw_udiv_by(v45, n6, n6_inverse);
        float v54[4];
        fw_load_f32x4_ldg(in2 + v53, v54);
        const float v55[8] = {v54[0], 0.0f, v54[1], 0.0f, v54[2], 0.0f, v54[3], 0.0f};
        float v58[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const float v56 = v52[l] * v55[l];
          const float v57 = -v56;
          v58[l] = ::fmaf(v48[l], v51[l], v57);
        }
        const float v59[8] = {0.0f, v47[1], 0.0f, v47[3], 0.0f, v47[5], 0.0f, v47[7]};
        const float v60[8] = {0.0f, v50[0], 0.0f, v50[1], 0.0f, v50[2], 0.0f, v50[3]};
        const float v61[8] = {0.0f, v47[0], 0.0f, v47[2], 0.0f, v47[4], 0.0f, v47[6]};
        const float v62[8] = {0.0f, v54[0], 0.0f, v54[1], 0.0f, v54[2], 0.0f, v54[3]};
        float v64[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const float v63 = v61[l] * v62[l];
          v64[l] = ::fmaf(v59[l], v60[l], v63);
        }
        const float v65[8] = {v58[0], v64[1], v58[2], v64[3], v58[4], v64[5], v58[6], v64[7]};
        const int v66 = v39 + v45;
        if (v9) {
          fw_store_bf16x8(out3 + v66, v65);
        }
      }
    }
  }
}
