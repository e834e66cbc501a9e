// norm_moved, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

// 1 / x, to 1 ulp; 0 from 2^126 on
__device__ __forceinline__ float fw_fast_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
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

__device__ __forceinline__ float fw_sum_f32x8(const float* v) {
  float x[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = x[j] + x[j + 4];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 64 threads
__device__ __forceinline__ float fw_sum_f32_64x1_of128(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32;
  const unsigned first = mine - mine / 1 % 2 * 1;
  float y[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) y[j] = s[first + j * 1];
  x = y[0] + y[1];
  return x;
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

template <class I> __device__ __forceinline__ void fw_fetch_f32x8_across_beside_ldg(const float* first, I left, const float* p, I at, I n, unsigned* w) {
  const unsigned skip = (unsigned)(unsigned long long)p & 15;
  const uint4* const a = (const uint4*)((const char*)p - skip);
  if (at < n && left >= 10 && (const char*)a >= (const char*)first) {
    unsigned x[12];
    const uint4 a0 = __ldg(a + 0);
    x[0] = a0.x;
    x[1] = a0.y;
    x[2] = a0.z;
    x[3] = a0.w;
    const uint4 a1 = __ldg(a + 1);
    x[4] = a1.x;
    x[5] = a1.y;
    x[6] = a1.z;
    x[7] = a1.w;
    const uint4 a2 = __ldg(a + (skip ? 2 : 1));
    x[8] = a2.x;
    x[9] = a2.y;
    x[10] = a2.z;
    x[11] = a2.w;
    if (skip & 8) {
      x[0] = x[2];
      x[1] = x[3];
      x[2] = x[4];
      x[3] = x[5];
      x[4] = x[6];
      x[5] = x[7];
      x[6] = x[8];
      x[7] = x[9];
      x[8] = x[10];
      x[9] = x[11];
    }
    if (skip & 4) {
      x[0] = x[1];
      x[1] = x[2];
      x[2] = x[3];
      x[3] = x[4];
      x[4] = x[5];
      x[5] = x[6];
      x[6] = x[7];
      x[7] = x[8];
      x[8] = x[9];
    }
    w[0] = x[0];
    w[1] = x[1];
    w[2] = x[2];
    w[3] = x[3];
    w[4] = x[4];
    w[5] = x[5];
    w[6] = x[6];
    w[7] = x[7];
  } else {
    w[0] = 0;
    w[1] = 0;
    w[2] = 0;
    w[3] = 0;
    w[4] = 0;
    w[5] = 0;
    w[6] = 0;
    w[7] = 0;
    if (at >= n) return;
    const unsigned* const q = (const unsigned*)p;
    if (at >= 0 && at < n) w[0] = __ldg(q + 0);
    if (at + 1 >= 0 && at + 1 < n) w[1] = __ldg(q + 1);
    if (at + 2 >= 0 && at + 2 < n) w[2] = __ldg(q + 2);
    if (at + 3 >= 0 && at + 3 < n) w[3] = __ldg(q + 3);
    if (at + 4 >= 0 && at + 4 < n) w[4] = __ldg(q + 4);
    if (at + 5 >= 0 && at + 5 < n) w[5] = __ldg(q + 5);
    if (at + 6 >= 0 && at + 6 < n) w[6] = __ldg(q + 6);
    if (at + 7 >= 0 && at + 7 < n) w[7] = __ldg(q + 7);
  }
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

template <class I> __device__ __forceinline__ void fw_load_f32x8_across_beside_ldg(const float* first, I left, const float* p, I at, I n, float* v) {
  unsigned w[8];
  fw_fetch_f32x8_across_beside_ldg(first, left, p, at, n, w);
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

template <class I> __device__ __forceinline__ void fw_store_bf16x8_range(unsigned short* p, I at, I n, const float* v) {
  if (at >= 0 && at + 8 <= n) {
    fw_store_bf16x8(p, v);
  } else {
    unsigned w[4];
    fw_pack_bf16x8(v, w);
    unsigned short* const q = (unsigned short*)p;
    if (at >= 0 && at < n) q[0] = (unsigned short)w[0];
    if (at + 1 >= 0 && at + 1 < n) q[1] = (unsigned short)(w[0] >> 16);
    if (at + 2 >= 0 && at + 2 < n) q[2] = (unsigned short)w[1];
    if (at + 3 >= 0 && at + 3 < n) q[3] = (unsigned short)(w[1] >> 16);
    if (at + 4 >= 0 && at + 4 < n) q[4] = (unsigned short)w[2];
    if (at + 5 >= 0 && at + 5 < n) q[5] = (unsigned short)(w[2] >> 16);
    if (at + 6 >= 0 && at + 6 < n) q[6] = (unsigned short)w[3];
    if (at + 7 >= 0 && at + 7 < n) q[7] = (unsigned short)(w[3] >> 16);
  }
}

// inner persistent
extern "C" __global__ void __launch_bounds__(128) norm_moved_0(
    const unsigned short* __restrict__ in0,
    const unsigned short* __restrict__ in1,
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
  unsigned kept0[8];  // 16 bf16, packed
  unsigned kept1[8];  // 16 bf16, packed
  float kept2[16];
  __shared__ __align__(16) unsigned char fw_scratch0[16];
  __shared__ __align__(16) unsigned char fw_scratch1[16];
  const int v1 = fw_udiv(tid0, 64);
  const int v2 = v1 * 64;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 2;
  const int v5 = v4 + v1;
  const bool v6 = v5 < n1;
  const int v7 = n1 + (-1);
  const int v8 = v5 < v7 ? v5 : v7;
  float acc9[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc9[l] = (-0.0f);
  }
  const int v14 = (int)((unsigned)v8 * (unsigned)n3);
  const int v15 = v14 & 7;
  const int v23 = v8 * n4;
  #pragma unroll
  for (int k10 = 0; k10 < 2; ++k10) {
    const int v11 = k10 * 64;
    const int v12 = v11 + v3;
    const bool v26 = v12 < n6;
    if (v26) {
      const int v13 = v12 * 8;
      const int v16 = v13 - v15;
      const int v17 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v18 = v16 > v17;
      const bool v19 = v16 < 0;
      const bool v20 = v19 || v18;
      const int v22 = k10 * 8;
      const int v24 = v23 + v16;
      fw_fetch_bf16x8_range_beside_ldg(n5 - v24, in0 + v24, v16, n2, kept0 + v22 / 2);
    }
  }
  #pragma unroll
  for (int k27 = 0; k27 < 2; ++k27) {
    const int v28 = k27 * 64;
    const int v29 = v28 + v3;
    const bool v43 = v29 < n6;
    if (v43) {
      const int v30 = v29 * 8;
      const int v31 = v30 - v15;
      const int v32 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v33 = v31 > v32;
      const bool v34 = v31 < 0;
      const bool v35 = v34 || v33;
      const int v37 = k27 * 8;
      float v38[8];
      fw_unpack_bf16x8(kept0 + v37 / 2, v38);
      float real40[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v39 = acc9[l] + v38[l];
        real40[l] = v39;
      }
      if (v35) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v41 = v31 + l >= 0 && v31 + l < n2;
          const float v42 = v41 ? real40[l] : acc9[l];
          real40[l] = v42;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc9[l] = real40[l];
      }
    }
  }
  float v44[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v44[l] = acc9[l];
  }
  const float v45 = fw_sum_f32x8(v44);
  const float v46 = v45 + 0.0f;
  const float sum47 = fw_sum_f32_64x1_of128(v46, fw_scratch0);
  float acc48[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc48[l] = 0.0f;
  }
  const long long v61 = (long long)n7;
  const float v62 = (float)v61;
  const float v63 = fw_fast_reciprocal(v62);
  const float v64 = sum47 * v63;
  #pragma unroll
  for (int k49 = 0; k49 < 2; ++k49) {
    const int v50 = k49 * 64;
    const int v51 = v50 + v3;
    const bool v71 = v51 < n6;
    if (v71) {
      const int v52 = v51 * 8;
      const int v53 = v52 - v15;
      const int v54 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v55 = v53 > v54;
      const bool v56 = v53 < 0;
      const bool v57 = v56 || v55;
      const int v59 = k49 * 8;
      float v60[8];
      fw_unpack_bf16x8(kept0 + v59 / 2, v60);
      float real68[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v66 = v60[l] - v64;
        const float v67 = ::fmaf(v66, v66, acc48[l]);
        real68[l] = v67;
      }
      if (v57) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v69 = v53 + l >= 0 && v53 + l < n2;
          const float v70 = v69 ? real68[l] : acc48[l];
          real68[l] = v70;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc48[l] = real68[l];
      }
    }
  }
  float v72[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v72[l] = acc48[l];
  }
  const float v73 = fw_sum_f32x8(v72);
  const float sum74 = fw_sum_f32_64x1_of128(v73, fw_scratch1);
  #pragma unroll
  for (int k75 = 0; k75 < 1; ++k75) {
    const int v76 = k75 * 64;
    const int v77 = v76 + v3;
    const bool v88 = v77 < n6;
    if (v88) {
      const int v78 = v77 * 8;
      const int v79 = v78 - v15;
      const int v80 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v81 = v79 > v80;
      const bool v82 = v79 < 0;
      const bool v83 = v82 || v81;
      const int v85 = k75 * 8;
      fw_fetch_bf16x8_across_beside_ldg(in1, n8 - v79, in1 + v79, v79, n2, kept1 + v85 / 2);
      float v87[8];
      fw_load_f32x8_across_beside_ldg(in2, n8 - v79, in2 + v79, v79, n2, v87);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        kept2[v85 + l] = v87[l];
      }
    }
  }
  const float v102 = ::fmaf(sum74, v63, 1.0e-05f);
  const float v103 = ::rsqrtf(v102);
  const int v109 = v8 * n9;
  #pragma unroll
  for (int k89 = 0; k89 < 1; ++k89) {
    const int v90 = k89 * 64;
    const int v91 = v90 + v3;
    const bool v111 = v91 < n6;
    if (v111) {
      const int v92 = v91 * 8;
      const int v93 = v92 - v15;
      const int v94 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v95 = v93 > v94;
      const bool v96 = v93 < 0;
      const bool v97 = v96 || v95;
      const int v99 = k89 * 8;
      float v100[8];
      fw_unpack_bf16x8(kept0 + v99 / 2, v100);
      float v106[8];
      fw_unpack_bf16x8(kept1 + v99 / 2, v106);
      float v108[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v101 = v100[l] - v64;
        const float v105 = v101 * v103;
        const float v107 = kept2[v99 + l];
        v108[l] = ::fmaf(v105, v106[l], v107);
      }
      const int v110 = v109 + v93;
      if (v6) {
        fw_store_bf16x8_range(out3 + v110, v93, n2, v108);
      }
    }
  }
  #pragma unroll
  for (int k112 = 1; k112 < 2; ++k112) {
    const int v113 = k112 * 64;
    const int v114 = v113 + v3;
    const bool v125 = v114 < n6;
    if (v125) {
      const int v115 = v114 * 8;
      const int v116 = v115 - v15;
      const int v117 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v118 = v116 > v117;
      const bool v119 = v116 < 0;
      const bool v120 = v119 || v118;
      const int v122 = k112 * 8;
      fw_fetch_bf16x8_across_beside_ldg(in1, n8 - v116, in1 + v116, v116, n2, kept1 + v122 / 2);
      float v124[8];
      fw_load_f32x8_across_beside_ldg(in2, n8 - v116, in2 + v116, v116, n2, v124);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        kept2[v122 + l] = v124[l];
      }
    }
  }
  #pragma unroll
  for (int k126 = 1; k126 < 2; ++k126) {
    const int v127 = k126 * 64;
    const int v128 = v127 + v3;
    const bool v144 = v128 < n6;
    if (v144) {
      const int v129 = v128 * 8;
      const int v130 = v129 - v15;
      const int v131 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v132 = v130 > v131;
      const bool v133 = v130 < 0;
      const bool v134 = v133 || v132;
      const int v136 = k126 * 8;
      float v137[8];
      fw_unpack_bf16x8(kept0 + v136 / 2, v137);
      float v140[8];
      fw_unpack_bf16x8(kept1 + v136 / 2, v140);
      float v142[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v138 = v137[l] - v64;
        const float v139 = v138 * v103;
        const float v141 = kept2[v136 + l];
        v142[l] = ::fmaf(v139, v140[l], v141);
      }
      const int v143 = v109 + v130;
      if (v6) {
        fw_store_bf16x8_range(out3 + v143, v130, n2, v142);
      }
    }
  }
  const bool v145 = v3 == 0;
}
