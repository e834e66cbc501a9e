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
extern "C" __global__ void __launch_bounds__(256) rope_0(
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
  const int v27 = v18 + n6;
  const int v32 = v18 + n7;
  const int v44 = v11 * n9;
  const long long v59 = (long long)n5;
  if (v16) {
    const int v17 = v13 * 8;
    const int v19 = v18 + v17;
    float v20[8];
    fw_load_bf16x8_ldg(in0 + v19, v20);
    float v21[8];
    fw_load_f32x8_ldg(in1 + v17, v21);
    const long long v23 = (long long)v17;
    const long long v24 = (long long)n5;
    const bool v25 = v23 < v24;
    const int v28 = v27 + v17;
    float v22[8];
    float maybe29[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      v22[l] = v20[l] * v21[l];
      maybe29[l] = 0.0f;
    }
    if (v25) {
      float v30[8];
      fw_load_bf16x8_ldg(in0 + v28, v30);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        maybe29[l] = v30[l];
      }
    }
    const int v33 = v32 + v17;
    const int v34 = n8 + v17;
    const long long v35 = (long long)v34;
    const bool v36 = v35 >= 0ll;
    float v31[8];
    float maybe38[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      v31[l] = -maybe29[l];
      maybe38[l] = 0.0f;
    }
    if (v36) {
      float v39[8];
      fw_load_bf16x8_ldg(in0 + v33, v39);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        maybe38[l] = v39[l];
      }
    }
    float v41[8];
    fw_load_f32x8_ldg(in2 + v17, v41);
    float v43[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v40 = v25 ? v31[l] : maybe38[l];
      const float v42 = v40 * v41[l];
      v43[l] = v22[l] + v42;
    }
    const int v45 = v44 + v17;
    if (v9) {
      fw_store_bf16x8(out3 + v45, v43);
    }
  } else {
    for (int k46 = 0; k46 < 1; ++k46) {
      const int v47 = k46 * 16;
      const int v48 = v13 + v47;
      const int v49 = v48 * 8;
      const bool v78 = v49 < n3;
      if (v78) {
        const int v50 = v48 * 8;
        const int v51 = n3 - v49;
        const int v53 = v18 + v50;
        const int v62 = v27 + v50;
        const int v66 = v32 + v50;
        const int v67 = n8 + v50;
        bool v52[8];
        float v76[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v52[l] = l < v51;
          const float v54 = v52[l] ? fw_bf16_f32(__ldg(in0 + v53 + l)) : 0.0f;
          const float v55 = v52[l] ? __ldg(in1 + v50 + l) : 0.0f;
          const float v56 = v54 * v55;
          const int v57 = v50 + l;
          const long long v58 = (long long)v57;
          const bool v61 = v58 < v59;
          const bool v63 = v61 && v52[l];
          const float v64 = v63 ? fw_bf16_f32(__ldg(in0 + v62 + l)) : 0.0f;
          const float v65 = -v64;
          const int v68 = v67 + l;
          const long long v69 = (long long)v68;
          const bool v70 = v69 >= 0ll;
          const bool v71 = v70 && v52[l];
          const float v72 = v71 ? fw_bf16_f32(__ldg(in0 + v66 + l)) : 0.0f;
          const float v73 = v61 ? v65 : v72;
          const float v74 = v52[l] ? __ldg(in2 + v50 + l) : 0.0f;
          const float v75 = v73 * v74;
          v76[l] = v56 + v75;
        }
        const int v77 = v44 + v50;
        if (v9) {
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            if (v52[l]) out3[v77 + l] = fw_f32_bf16(v76[l]);
          }
        }
      }
    }
  }
}
