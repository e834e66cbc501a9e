// embedding_backward, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// an index out of range: the context reports an error, as for eager's device-side assertion
__device__ __forceinline__ void fw_fail() { __trap(); }

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

template <class T> __device__ __forceinline__ T fw_read(const T* p) { return *p; }

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

// sum of what comes before, and of all, in groups of 512 threads
__device__ __forceinline__ void fw_scan_sum_i64_512x1(long long x, long long* out, unsigned char* scratch) {
  const unsigned t = threadIdx.x;
  const unsigned j = t % 32;
  #pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const long long y = __shfl_up_sync(0xffffffffu, x, d);
    if (j >= d) x = (long long)((unsigned long long)y + (unsigned long long)x);
  }
  const long long y = __shfl_up_sync(0xffffffffu, x, 1);
  long long* const s = reinterpret_cast<long long*>(scratch);
  if (j == 31) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32, k = mine / 1 % 16, first = mine - k * 1;
  long long base = 0ll, all = 0ll;
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (i == k) base = all;
    all = (long long)((unsigned long long)all + (unsigned long long)s[first + i * 1]);
  }
  const long long before = j ? y : 0ll;
  out[0] = (long long)((unsigned long long)base + (unsigned long long)before);
  out[1] = all;
}

// sum of what comes before, and of all, in groups of 512 threads
__device__ __forceinline__ void fw_scan_sum_i32_512x1(int x, int* out, unsigned char* scratch) {
  const unsigned t = threadIdx.x;
  const unsigned j = t % 32;
  #pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int y = __shfl_up_sync(0xffffffffu, x, d);
    if (j >= d) x = (int)((unsigned)y + (unsigned)x);
  }
  const int y = __shfl_up_sync(0xffffffffu, x, 1);
  int* const s = reinterpret_cast<int*>(scratch);
  if (j == 31) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32, k = mine / 1 % 16, first = mine - k * 1;
  int base = 0, all = 0;
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (i == k) base = all;
    all = (int)((unsigned)all + (unsigned)s[first + i * 1]);
  }
  const int before = j ? y : 0;
  out[0] = (int)((unsigned)base + (unsigned)before);
  out[1] = all;
}

// sum over groups of 512 threads
__device__ __forceinline__ int fw_sum_i32_512x1(int x, unsigned char* scratch) {
  int* const s = reinterpret_cast<int*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const int y = __shfl_xor_sync(0xffffffffu, x, d);
    x = (int)((unsigned)x + (unsigned)y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 16];
  #pragma unroll
  for (int d = 1; d <= 8; d *= 2) {
    const int y = __shfl_xor_sync(0xffffffffu, x, d);
    x = (int)((unsigned)x + (unsigned)y);
  }
  return x;
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

__device__ __forceinline__ void fw_pack_f32x8(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
  w[2] = __float_as_uint(v[2]);
  w[3] = __float_as_uint(v[3]);
  w[4] = __float_as_uint(v[4]);
  w[5] = __float_as_uint(v[5]);
  w[6] = __float_as_uint(v[6]);
  w[7] = __float_as_uint(v[7]);
}

__device__ __forceinline__ void fw_store_f32x8(float* p, const float* v) {
  unsigned w[8];
  fw_pack_f32x8(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
  fw_write((uint4*)p + 1, uint4{w[4], w[5], w[6], w[7]});
}

__device__ __forceinline__ void fw_fetch_f32x8(const float* p, unsigned* w) {
  const uint4 a0 = fw_read((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
  const uint4 a1 = fw_read((const uint4*)p + 1);
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

__device__ __forceinline__ void fw_load_f32x8(const float* p, float* v) {
  unsigned w[8];
  fw_fetch_f32x8(p, w);
  fw_unpack_f32x8(w, v);
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

// points by bucket, tile by tile
extern "C" __global__ void __launch_bounds__(512) embedding_backward_0(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14,
    int n15,
    int n16,
    int n17,
    int n18,
    int n19,
    int n20,
    int n21,
    int n22,
    int n23,
    int n24,
    int n25,
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
    int n39,
    int n40,
    int n41,
    int n42,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts,
    float* __restrict__ pieces) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  const unsigned n7_inverse = 0xffffffffu / (unsigned)n7;
  const int v1 = bid0 * 3584;
  const long long v11 = (long long)n9;
  #pragma unroll
  for (int k2 = 0; k2 < 7; ++k2) {
    const int v3 = k2 * 512;
    const int v4 = v3 + tid0;
    const int v5 = v1 + v4;
    const bool v6 = v5 < n6;
    const int v7 = n6 + (-1);
    const int v8 = v5 < v7 ? v5 : v7;
    const long long v9 = __ldg(in0 + v8);
    const bool v10 = v9 < 0ll;
    const long long v12 = v9 + v11;
    const long long v13 = v10 ? v12 : v9;
    const bool v14 = v13 >= 0ll;
    const bool v15 = v13 < v11;
    const bool v16 = v14 && v15;
    const bool v17 = v9 != 1ll;
    const bool v18 = !v17;
    const bool v19 = v16 || v18;
    if (!v19) {
      fw_fail();
    }
    const bool v20 = v17 && v16;
    const bool v21 = v6 && v20;
    int var22 = n8;
    int var23 = 0;
    const int v24 = (int)v13;
    if (v21) {
      const int v25 = fw_udiv_by(v24, n7, n7_inverse);
      const int v26 = (int)((unsigned)v25 * (unsigned)n7);
      const int v27 = (int)((unsigned)v24 - (unsigned)v26);
      var22 = v25;
      var23 = v27;
    }
    const int v28 = (int)((unsigned)var22 * (unsigned)4096);
    const int v29 = (int)((unsigned)v28 + (unsigned)v4);
    items[v4] = v29;
    others[v4] = var23;
  }
  __syncthreads();  // the tile's points are there
  for (int k30 = 0; k30 < n10; ++k30) {
    const int v31 = (int)((unsigned)k30 * (unsigned)2);
    const int v32 = (int)((unsigned)v31 + (unsigned)12);
    const int v33 = tid0 * 7;
    long long var34 = 0ll;
    #pragma unroll
    for (int k35 = 0; k35 < 7; ++k35) {
      const int v36 = v33 + k35;
      const int v37 = items[v36];
      held[k35] = v37;
      const int v38 = (int)((v32 >= 0 && v32 < 32) ? v37 >> v32 : (v37 >> 31));
      const int v39 = v38 & 3;
      const int v40 = (int)((unsigned)v39 * (unsigned)16);
      const long long v41 = (long long)v40;
      const long long v42 = (v41 >= 0 && v41 < 64) ? (long long)((unsigned long long)1ll << v41) : (long long)0;
      const long long v43 = (long long)((unsigned long long)var34 + (unsigned long long)v42);
      var34 = v43;
    }
    const long long v44 = var34;
    long long scan45[2];
    fw_scan_sum_i64_512x1(v44, scan45, fw_scratch0);
    const long long v46 = scan45[0];
    const long long v47 = scan45[1];
    const long long v48 = (long long)((unsigned long long)v47 << 16ll);
    const long long v49 = (long long)((unsigned long long)v46 + (unsigned long long)v48);
    const long long v50 = (long long)((unsigned long long)v47 << 32ll);
    const long long v51 = (long long)((unsigned long long)v49 + (unsigned long long)v50);
    const long long v52 = (long long)((unsigned long long)v47 << 48ll);
    const long long v53 = (long long)((unsigned long long)v51 + (unsigned long long)v52);
    long long var54 = v53;
    #pragma unroll
    for (int k55 = 0; k55 < 7; ++k55) {
      const int v56 = held[k55];
      const int v57 = (int)((v32 >= 0 && v32 < 32) ? v56 >> v32 : (v56 >> 31));
      const int v58 = v57 & 3;
      const int v59 = (int)((unsigned)v58 * (unsigned)16);
      const long long v60 = (long long)v59;
      const long long v61 = (long long)((v60 >= 0 && v60 < 64) ? var54 >> v60 : (var54 >> 63));
      const long long v62 = v61 & 65535ll;
      const int v63 = (int)v62;
      items[v63] = v56;
      const long long v64 = (v60 >= 0 && v60 < 64) ? (long long)((unsigned long long)1ll << v60) : (long long)0;
      const long long v65 = (long long)((unsigned long long)var54 + (unsigned long long)v64);
      var54 = v65;
    }
    __syncthreads();  // the items are sorted by two more bits
  }
  #pragma unroll
  for (int k66 = 0; k66 < 7; ++k66) {
    const int v67 = k66 * 512;
    const int v68 = v67 + tid0;
    const int v69 = items[v68];
    const int v70 = v69 & 4095;
    const int v71 = fw_udiv(v69, 4096);
    const int v72 = others[v70];
    const int v73 = (int)((unsigned)v72 * (unsigned)4096);
    const int v74 = (int)((unsigned)v73 + (unsigned)v70);
    const int v75 = v1 + v68;
    tiles[v75] = v74;
  }
  for (int k76 = tid0; k76 < n12; k76 += 512) {
    const int v77 = k76 * n11;
    const int v78 = v77 + bid0;
    const int v79 = (int)((unsigned)k76 * (unsigned)4096);
    int var80 = 0;
    for (int k81 = 0; k81 < 12; ++k81) {
      const int v82 = (int)((k81 >= 0 && k81 < 32) ? 2048 >> k81 : (2048 >> 31));
      const int v83 = var80 + v82;
      const bool v84 = v83 <= 3584;
      const int v85 = v83 + (-1);
      const int v86 = v84 ? items[v85] : 0;
      const bool v87 = v86 < v79;
      const bool v88 = v84 && v87;
      const int v89 = v88 ? v83 : var80;
      var80 = v89;
    }
    const int v90 = var80;
    first[v78] = v90;
  }
}

// points by row, bucket by bucket
extern "C" __global__ void __launch_bounds__(512) embedding_backward_1(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14,
    int n15,
    int n16,
    int n17,
    int n18,
    int n19,
    int n20,
    int n21,
    int n22,
    int n23,
    int n24,
    int n25,
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
    int n39,
    int n40,
    int n41,
    int n42,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts,
    float* __restrict__ pieces) {
  const int bid1 = blockIdx.x;
  const int tid1 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  __shared__ __align__(16) unsigned char fw_scratch2[128];
  unsigned fw_half2 = 0;
  const int v91 = bid1 * n11;
  const int v92 = v91 + n11;
  int var93 = 0;
  int var94 = 0;
  int var95 = 0;
  for (int k96 = 0; k96 < n11; k96 += 512) {
    const int v97 = k96 + tid1;
    const bool v98 = v97 < n11;
    const int v99 = v91 + v97;
    const int v100 = v98 ? __ldg(first + v99) : 0;
    const int v101 = v92 + v97;
    const int v102 = v98 ? __ldg(first + v101) : 0;
    const int v103 = (int)((unsigned)v102 - (unsigned)v100);
    __syncthreads();  // all have read the results of the collective before
    int scan104[2];
    fw_scan_sum_i32_512x1(v103, scan104, fw_scratch0);
    const int v105 = scan104[0];
    const int v106 = scan104[1];
    if (v98) {
      const int v107 = (int)((unsigned)var95 + (unsigned)v105);
      before[v99] = v107;
    }
    const int v108 = (int)((unsigned)var95 + (unsigned)v106);
    var95 = v108;
    const int v109 = (int)((unsigned)var93 + (unsigned)v103);
    var93 = v109;
    const int v110 = (int)((unsigned)var94 + (unsigned)v100);
    var94 = v110;
  }
  const int v112 = var93;
  fw_half2 ^= 64;
  const int total111 = fw_sum_i32_512x1(v112, fw_scratch2 + fw_half2);
  const int v114 = var94;
  const int total113 = fw_sum_i32_512x1(v114, fw_scratch1);
  const bool v115 = total111 > 3584;
  const bool v116 = n18 > 1;
  const bool v117 = v115 && v116;
  const int v118 = bid1 * n18;
  const int v119 = v117 ? 0 : 1;
  const bool v120 = tid1 == 0;
  if (v120) {
    bases[bid1] = total113;
    counts[bid1] = total111;
  }
  const bool v121 = n19 > 0;
  const bool v122 = total111 > n20;
  const bool v123 = v121 && v122;
  const int v124 = v123 ? 2 : v119;
  for (int k125 = v124; k125 < 2; ++k125) {
    const bool v126 = k125 == 0;
    const bool v127 = !v126;
    if (v126) {
      for (int k128 = tid1; k128 < n18; k128 += 512) {
        const int v129 = v118 + k128;
        go_on[v129] = 0;
      }
    }
    const int v130 = total111 > 1 ? total111 : 1;
    for (int k131 = 0; k131 < v130; k131 += 3584) {
      #pragma unroll
      for (int k132 = 0; k132 < 7; ++k132) {
        held[k132] = 0;
      }
      for (int k133 = 0; k133 < n21; ++k133) {
        const int v134 = (int)((unsigned)n21 + (unsigned)(-1));
        const int v135 = (int)((unsigned)v134 - (unsigned)k133);
        const int v136 = (v135 >= 0 && v135 < 32) ? (int)((unsigned)1 << v135) : (int)0;
        #pragma unroll
        for (int k137 = 0; k137 < 7; ++k137) {
          const int v138 = (int)((unsigned)k137 * (unsigned)512);
          const int v139 = (int)((unsigned)v138 + (unsigned)tid1);
          const int v140 = (int)((unsigned)k131 + (unsigned)v139);
          const int v141 = held[k137];
          const int v142 = v141 + v136;
          const bool v143 = v142 < n11;
          const int v144 = v91 + v142;
          const int v145 = v143 ? before[v144] : 0;
          const bool v146 = v145 <= v140;
          const bool v147 = v143 && v146;
          const int v148 = v147 ? v142 : v141;
          held[k137] = v148;
        }
      }
      #pragma unroll
      for (int k149 = 0; k149 < 7; ++k149) {
        const int v150 = k149 * 512;
        const int v151 = v150 + tid1;
        const int v152 = k131 + v151;
        const bool v153 = v152 < total111;
        const int v154 = held[k149];
        const int v155 = v91 + v154;
        const int v156 = v154 * 3584;
        const int v157 = v153 ? before[v155] : 0;
        const int v158 = v152 - v157;
        const int v159 = v153 ? __ldg(first + v155) : 0;
        const int v160 = v159 + v158;
        const int v161 = v156 + v160;
        const int v162 = v153 ? __ldg(tiles + v161) : 0;
        const int v163 = v162 & 4095;
        const int v164 = (int)((unsigned)v162 - (unsigned)v163);
        const int v165 = (int)((unsigned)v164 + (unsigned)v151);
        const int v166 = v153 ? v165 : 2147483647;
        items[v151] = v166;
        const int v167 = (int)((unsigned)v156 + (unsigned)v163);
        others[v151] = v167;
      }
      __syncthreads();  // the bucket's points are there
      for (int k168 = 0; k168 < n22; ++k168) {
        const int v169 = (int)((unsigned)k168 * (unsigned)2);
        const int v170 = (int)((unsigned)v169 + (unsigned)12);
        const int v171 = tid1 * 7;
        long long var172 = 0ll;
        #pragma unroll
        for (int k173 = 0; k173 < 7; ++k173) {
          const int v174 = v171 + k173;
          const int v175 = items[v174];
          held[k173] = v175;
          const int v176 = (int)((v170 >= 0 && v170 < 32) ? v175 >> v170 : (v175 >> 31));
          const int v177 = v176 & 3;
          const int v178 = (int)((unsigned)v177 * (unsigned)16);
          const long long v179 = (long long)v178;
          const long long v180 = (v179 >= 0 && v179 < 64) ? (long long)((unsigned long long)1ll << v179) : (long long)0;
          const long long v181 = (long long)((unsigned long long)var172 + (unsigned long long)v180);
          var172 = v181;
        }
        const long long v182 = var172;
        long long scan183[2];
        fw_scan_sum_i64_512x1(v182, scan183, fw_scratch0);
        const long long v184 = scan183[0];
        const long long v185 = scan183[1];
        const long long v186 = (long long)((unsigned long long)v185 << 16ll);
        const long long v187 = (long long)((unsigned long long)v184 + (unsigned long long)v186);
        const long long v188 = (long long)((unsigned long long)v185 << 32ll);
        const long long v189 = (long long)((unsigned long long)v187 + (unsigned long long)v188);
        const long long v190 = (long long)((unsigned long long)v185 << 48ll);
        const long long v191 = (long long)((unsigned long long)v189 + (unsigned long long)v190);
        long long var192 = v191;
        #pragma unroll
        for (int k193 = 0; k193 < 7; ++k193) {
          const int v194 = held[k193];
          const int v195 = (int)((v170 >= 0 && v170 < 32) ? v194 >> v170 : (v194 >> 31));
          const int v196 = v195 & 3;
          const int v197 = (int)((unsigned)v196 * (unsigned)16);
          const long long v198 = (long long)v197;
          const long long v199 = (long long)((v198 >= 0 && v198 < 64) ? var192 >> v198 : (var192 >> 63));
          const long long v200 = v199 & 65535ll;
          const int v201 = (int)v200;
          items[v201] = v194;
          const long long v202 = (v198 >= 0 && v198 < 64) ? (long long)((unsigned long long)1ll << v198) : (long long)0;
          const long long v203 = (long long)((unsigned long long)var192 + (unsigned long long)v202);
          var192 = v203;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v126) {
        for (int k204 = tid1; k204 < n18; k204 += 512) {
          const int v205 = v118 + k204;
          const int v206 = go_on[v205];
          const int v207 = (int)((unsigned)k204 * (unsigned)4096);
          int var208 = 0;
          for (int k209 = 0; k209 < 12; ++k209) {
            const int v210 = (int)((k209 >= 0 && k209 < 32) ? 2048 >> k209 : (2048 >> 31));
            const int v211 = var208 + v210;
            const bool v212 = v211 <= 3584;
            const int v213 = v211 + (-1);
            const int v214 = v212 ? items[v213] : 0;
            const bool v215 = v214 < v207;
            const bool v216 = v212 && v215;
            const int v217 = v216 ? v211 : var208;
            var208 = v217;
          }
          const int v218 = var208;
          const int v219 = (int)((unsigned)v206 - (unsigned)v218);
          go_on[v205] = v219;
          const int v220 = (int)((unsigned)k204 + (unsigned)1);
          const int v221 = (int)((unsigned)v220 * (unsigned)4096);
          int var222 = 0;
          for (int k223 = 0; k223 < 12; ++k223) {
            const int v224 = (int)((k223 >= 0 && k223 < 32) ? 2048 >> k223 : (2048 >> 31));
            const int v225 = var222 + v224;
            const bool v226 = v225 <= 3584;
            const int v227 = v225 + (-1);
            const int v228 = v226 ? items[v227] : 0;
            const bool v229 = v228 < v221;
            const bool v230 = v226 && v229;
            const int v231 = v230 ? v225 : var222;
            var222 = v231;
          }
          const int v232 = var222;
          const int v233 = go_on[v205];
          const int v234 = (int)((unsigned)v233 + (unsigned)v232);
          go_on[v205] = v234;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v127) {
        const bool v235 = k131 > 0;
        const bool v236 = v117 || v235;
        for (int k237 = tid1; k237 < n18; k237 += 512) {
          const int v238 = v118 + k237;
          const int v239 = (int)((unsigned)k237 * (unsigned)4096);
          int var240 = 0;
          for (int k241 = 0; k241 < 12; ++k241) {
            const int v242 = (int)((k241 >= 0 && k241 < 32) ? 2048 >> k241 : (2048 >> 31));
            const int v243 = var240 + v242;
            const bool v244 = v243 <= 3584;
            const int v245 = v243 + (-1);
            const int v246 = v244 ? items[v245] : 0;
            const bool v247 = v246 < v239;
            const bool v248 = v244 && v247;
            const int v249 = v248 ? v243 : var240;
            var240 = v249;
          }
          const int v250 = var240;
          const int v251 = (int)((unsigned)total113 + (unsigned)v250);
          int var252 = v251;
          if (v236) {
            const int v253 = go_on[v238];
            var252 = v253;
          }
          const bool v254 = !v235;
          const bool v255 = v238 <= n23;
          const bool v256 = v254 && v255;
          if (v256) {
            start[v238] = var252;
          }
          int var257 = 0;
          for (int k258 = 0; k258 < 12; ++k258) {
            const int v259 = (int)((k258 >= 0 && k258 < 32) ? 2048 >> k258 : (2048 >> 31));
            const int v260 = var257 + v259;
            const bool v261 = v260 <= 3584;
            const int v262 = v260 + (-1);
            const int v263 = v261 ? items[v262] : 0;
            const bool v264 = v263 < v239;
            const bool v265 = v261 && v264;
            const int v266 = v265 ? v260 : var257;
            var257 = v266;
          }
          const int v267 = var257;
          const int v268 = (int)((unsigned)var252 - (unsigned)v267);
          go_on[v238] = v268;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k269 = 0; k269 < 7; ++k269) {
          const int v270 = k269 * 512;
          const int v271 = v270 + tid1;
          const int v272 = (int)((unsigned)k131 + (unsigned)v271);
          const bool v273 = v272 < total111;
          if (v273) {
            const int v274 = items[v271];
            const int v275 = v274 & 4095;
            const int v276 = fw_udiv(v274, 4096);
            const int v277 = v118 + v276;
            const int v278 = go_on[v277];
            const int v279 = v278 + v271;
            const int v280 = others[v275];
            order[v279] = v280;
          }
        }
        if (v115) {
          __syncthreads();  // the chunk is written
          for (int k281 = tid1; k281 < n18; k281 += 512) {
            const int v282 = v118 + k281;
            const int v283 = (int)((unsigned)k281 + (unsigned)1);
            const int v284 = (int)((unsigned)v283 * (unsigned)4096);
            int var285 = 0;
            for (int k286 = 0; k286 < 12; ++k286) {
              const int v287 = (int)((k286 >= 0 && k286 < 32) ? 2048 >> k286 : (2048 >> 31));
              const int v288 = var285 + v287;
              const bool v289 = v288 <= 3584;
              const int v290 = v288 + (-1);
              const int v291 = v289 ? items[v290] : 0;
              const bool v292 = v291 < v284;
              const bool v293 = v289 && v292;
              const int v294 = v293 ? v288 : var285;
              var285 = v294;
            }
            const int v295 = var285;
            const int v296 = go_on[v282];
            const int v297 = (int)((unsigned)v296 + (unsigned)v295);
            go_on[v282] = v297;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v126) {
      int var298 = total113;
      for (int k299 = 0; k299 < n18; k299 += 512) {
        const int v300 = k299 + tid1;
        const bool v301 = v300 < n18;
        const int v302 = v118 + v300;
        const int v303 = v301 ? go_on[v302] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan304[2];
        fw_scan_sum_i32_512x1(v303, scan304, fw_scratch0);
        const int v305 = scan304[0];
        const int v306 = scan304[1];
        if (v301) {
          const int v307 = (int)((unsigned)var298 + (unsigned)v305);
          go_on[v302] = v307;
        }
        const int v308 = (int)((unsigned)var298 + (unsigned)v306);
        var298 = v308;
      }
    }
  }
}

// crowded buckets, chunk by chunk: points of each row
extern "C" __global__ void __launch_bounds__(512) embedding_backward_2(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14,
    int n15,
    int n16,
    int n17,
    int n18,
    int n19,
    int n20,
    int n21,
    int n22,
    int n23,
    int n24,
    int n25,
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
    int n39,
    int n40,
    int n41,
    int n42,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts,
    float* __restrict__ pieces) {
  const int bid2 = blockIdx.x;
  const int tid2 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  const int v309 = bid2 * 3584;
  int var310 = 0;
  int var311 = 0;
  for (int k312 = tid2; k312 < n8; k312 += 512) {
    const int v313 = __ldg(bases + k312);
    const int v314 = __ldg(counts + k312);
    const int v315 = v309 - v313;
    const int v316 = v315 > 0 ? v315 : 0;
    const int v317 = v316 + 3583;
    const int v318 = fw_udiv(v317, 3584);
    const int v319 = v318 * 3584;
    const int v320 = (int)((unsigned)v313 + (unsigned)v319);
    const int v321 = (int)((unsigned)v320 - (unsigned)v309);
    const bool v322 = v321 < 3584;
    const bool v323 = v319 < v314;
    const bool v324 = v322 && v323;
    const bool v325 = v314 > n20;
    const bool v326 = v324 && v325;
    const bool v327 = v319 == 0;
    const bool v328 = !v327;
    const bool v329 = v326 && v327;
    const int v330 = (int)((unsigned)k312 + (unsigned)1);
    const int v331 = v329 ? v330 : var310;
    var310 = v331;
    const bool v332 = v326 && v328;
    const int v333 = v332 ? v330 : var311;
    var311 = v333;
  }
  const int v335 = var310;
  const int total334 = fw_sum_i32_512x1(v335, fw_scratch0);
  const int v337 = var311;
  const int total336 = fw_sum_i32_512x1(v337, fw_scratch1);
  for (int k338 = 0; k338 < 2; ++k338) {
    const bool v339 = k338 == 0;
    const int v340 = v339 ? total334 : total336;
    const bool v341 = v340 > 0;
    if (v341) {
      const int v342 = v340 + (-1);
      const int v343 = __ldg(bases + v342);
      const int v344 = __ldg(counts + v342);
      const int v345 = v342 * n11;
      const bool v346 = n18 > 1;
      const int v347 = bid2 * 2;
      const int v348 = v347 + k338;
      const int v349 = v348 * n18;
      const int v350 = (int)((unsigned)v342 * (unsigned)n18);
      const int v351 = v309 - v343;
      const int v352 = v351 > 0 ? v351 : 0;
      const int v353 = v352 + 3583;
      const int v354 = fw_udiv(v353, 3584);
      const int v355 = v354 * 3584;
      if (v346) {
        #pragma unroll
        for (int k356 = 0; k356 < 7; ++k356) {
          held[k356] = 0;
        }
        for (int k357 = 0; k357 < n21; ++k357) {
          const int v358 = (int)((unsigned)n21 + (unsigned)(-1));
          const int v359 = (int)((unsigned)v358 - (unsigned)k357);
          const int v360 = (v359 >= 0 && v359 < 32) ? (int)((unsigned)1 << v359) : (int)0;
          #pragma unroll
          for (int k361 = 0; k361 < 7; ++k361) {
            const int v362 = (int)((unsigned)k361 * (unsigned)512);
            const int v363 = (int)((unsigned)v362 + (unsigned)tid2);
            const int v364 = (int)((unsigned)v355 + (unsigned)v363);
            const int v365 = held[k361];
            const int v366 = v365 + v360;
            const bool v367 = v366 < n11;
            const int v368 = v345 + v366;
            const int v369 = v367 ? __ldg(before + v368) : 0;
            const bool v370 = v369 <= v364;
            const bool v371 = v367 && v370;
            const int v372 = v371 ? v366 : v365;
            held[k361] = v372;
          }
        }
        #pragma unroll
        for (int k373 = 0; k373 < 7; ++k373) {
          const int v374 = k373 * 512;
          const int v375 = v374 + tid2;
          const int v376 = v355 + v375;
          const bool v377 = v376 < v344;
          const int v378 = held[k373];
          const int v379 = v345 + v378;
          const int v380 = v378 * 3584;
          const int v381 = v377 ? __ldg(before + v379) : 0;
          const int v382 = v376 - v381;
          const int v383 = v377 ? __ldg(first + v379) : 0;
          const int v384 = v383 + v382;
          const int v385 = v380 + v384;
          const int v386 = v377 ? __ldg(tiles + v385) : 0;
          const int v387 = v386 & 4095;
          const int v388 = (int)((unsigned)v386 - (unsigned)v387);
          const int v389 = (int)((unsigned)v388 + (unsigned)v375);
          const int v390 = v377 ? v389 : 2147483647;
          items[v375] = v390;
          const int v391 = (int)((unsigned)v380 + (unsigned)v387);
          others[v375] = v391;
        }
        __syncthreads();  // the bucket's points are there
        for (int k392 = 0; k392 < n22; ++k392) {
          const int v393 = (int)((unsigned)k392 * (unsigned)2);
          const int v394 = (int)((unsigned)v393 + (unsigned)12);
          const int v395 = tid2 * 7;
          long long var396 = 0ll;
          #pragma unroll
          for (int k397 = 0; k397 < 7; ++k397) {
            const int v398 = v395 + k397;
            const int v399 = items[v398];
            held[k397] = v399;
            const int v400 = (int)((v394 >= 0 && v394 < 32) ? v399 >> v394 : (v399 >> 31));
            const int v401 = v400 & 3;
            const int v402 = (int)((unsigned)v401 * (unsigned)16);
            const long long v403 = (long long)v402;
            const long long v404 = (v403 >= 0 && v403 < 64) ? (long long)((unsigned long long)1ll << v403) : (long long)0;
            const long long v405 = (long long)((unsigned long long)var396 + (unsigned long long)v404);
            var396 = v405;
          }
          const long long v406 = var396;
          long long scan407[2];
          fw_scan_sum_i64_512x1(v406, scan407, fw_scratch0);
          const long long v408 = scan407[0];
          const long long v409 = scan407[1];
          const long long v410 = (long long)((unsigned long long)v409 << 16ll);
          const long long v411 = (long long)((unsigned long long)v408 + (unsigned long long)v410);
          const long long v412 = (long long)((unsigned long long)v409 << 32ll);
          const long long v413 = (long long)((unsigned long long)v411 + (unsigned long long)v412);
          const long long v414 = (long long)((unsigned long long)v409 << 48ll);
          const long long v415 = (long long)((unsigned long long)v413 + (unsigned long long)v414);
          long long var416 = v415;
          #pragma unroll
          for (int k417 = 0; k417 < 7; ++k417) {
            const int v418 = held[k417];
            const int v419 = (int)((v394 >= 0 && v394 < 32) ? v418 >> v394 : (v418 >> 31));
            const int v420 = v419 & 3;
            const int v421 = (int)((unsigned)v420 * (unsigned)16);
            const long long v422 = (long long)v421;
            const long long v423 = (long long)((v422 >= 0 && v422 < 64) ? var416 >> v422 : (var416 >> 63));
            const long long v424 = v423 & 65535ll;
            const int v425 = (int)v424;
            items[v425] = v418;
            const long long v426 = (v422 >= 0 && v422 < 64) ? (long long)((unsigned long long)1ll << v422) : (long long)0;
            const long long v427 = (long long)((unsigned long long)var416 + (unsigned long long)v426);
            var416 = v427;
          }
          __syncthreads();  // the items are sorted by two more bits
        }
        for (int k428 = tid2; k428 < n18; k428 += 512) {
          const int v429 = (int)((unsigned)v350 + (unsigned)k428);
          const int v430 = (int)((unsigned)k428 + (unsigned)1);
          const int v431 = (int)((unsigned)k428 * (unsigned)4096);
          int var432 = 0;
          for (int k433 = 0; k433 < 12; ++k433) {
            const int v434 = (int)((k433 >= 0 && k433 < 32) ? 2048 >> k433 : (2048 >> 31));
            const int v435 = var432 + v434;
            const bool v436 = v435 <= 3584;
            const int v437 = v435 + (-1);
            const int v438 = v436 ? items[v437] : 0;
            const bool v439 = v438 < v431;
            const bool v440 = v436 && v439;
            const int v441 = v440 ? v435 : var432;
            var432 = v441;
          }
          const int v442 = var432;
          const int v443 = (int)((unsigned)v430 * (unsigned)4096);
          int var444 = 0;
          for (int k445 = 0; k445 < 12; ++k445) {
            const int v446 = (int)((k445 >= 0 && k445 < 32) ? 2048 >> k445 : (2048 >> 31));
            const int v447 = var444 + v446;
            const bool v448 = v447 <= 3584;
            const int v449 = v447 + (-1);
            const int v450 = v448 ? items[v449] : 0;
            const bool v451 = v450 < v443;
            const bool v452 = v448 && v451;
            const int v453 = v452 ? v447 : var444;
            var444 = v453;
          }
          const int v454 = var444;
          const int v455 = v349 + k428;
          const int v456 = (int)((unsigned)v454 - (unsigned)v442);
          crowd_counts[v455] = v456;
        }
        __syncthreads();  // the items may be replaced
      }
    }
  }
}

// crowded buckets, chunk by chunk: points by row
extern "C" __global__ void __launch_bounds__(512) embedding_backward_3(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14,
    int n15,
    int n16,
    int n17,
    int n18,
    int n19,
    int n20,
    int n21,
    int n22,
    int n23,
    int n24,
    int n25,
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
    int n39,
    int n40,
    int n41,
    int n42,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts,
    float* __restrict__ pieces) {
  const int bid3 = blockIdx.x;
  const int tid3 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  const int v457 = bid3 * 3584;
  int var458 = 0;
  int var459 = 0;
  for (int k460 = tid3; k460 < n8; k460 += 512) {
    const int v461 = __ldg(bases + k460);
    const int v462 = __ldg(counts + k460);
    const int v463 = v457 - v461;
    const int v464 = v463 > 0 ? v463 : 0;
    const int v465 = v464 + 3583;
    const int v466 = fw_udiv(v465, 3584);
    const int v467 = v466 * 3584;
    const int v468 = (int)((unsigned)v461 + (unsigned)v467);
    const int v469 = (int)((unsigned)v468 - (unsigned)v457);
    const bool v470 = v469 < 3584;
    const bool v471 = v467 < v462;
    const bool v472 = v470 && v471;
    const bool v473 = v462 > n20;
    const bool v474 = v472 && v473;
    const bool v475 = v467 == 0;
    const bool v476 = !v475;
    const bool v477 = v474 && v475;
    const int v478 = (int)((unsigned)k460 + (unsigned)1);
    const int v479 = v477 ? v478 : var458;
    var458 = v479;
    const bool v480 = v474 && v476;
    const int v481 = v480 ? v478 : var459;
    var459 = v481;
  }
  const int v483 = var458;
  const int total482 = fw_sum_i32_512x1(v483, fw_scratch0);
  const int v485 = var459;
  const int total484 = fw_sum_i32_512x1(v485, fw_scratch1);
  for (int k486 = 0; k486 < 2; ++k486) {
    const bool v487 = k486 == 0;
    const int v488 = v487 ? total482 : total484;
    const bool v489 = v488 > 0;
    if (v489) {
      const int v490 = v488 + (-1);
      const int v491 = __ldg(bases + v490);
      const int v492 = __ldg(counts + v490);
      const int v493 = v490 * n11;
      const bool v494 = n18 > 1;
      const int v495 = bid3 * 2;
      const int v496 = v495 + k486;
      const int v497 = v496 * n18;
      const int v498 = v490 * n18;
      const int v499 = v457 - v491;
      const int v500 = v499 > 0 ? v499 : 0;
      const int v501 = v500 + 3583;
      const int v502 = fw_udiv(v501, 3584);
      const int v503 = v502 * 3584;
      #pragma unroll
      for (int k504 = 0; k504 < 7; ++k504) {
        held[k504] = 0;
      }
      for (int k505 = 0; k505 < n21; ++k505) {
        const int v506 = (int)((unsigned)n21 + (unsigned)(-1));
        const int v507 = (int)((unsigned)v506 - (unsigned)k505);
        const int v508 = (v507 >= 0 && v507 < 32) ? (int)((unsigned)1 << v507) : (int)0;
        #pragma unroll
        for (int k509 = 0; k509 < 7; ++k509) {
          const int v510 = (int)((unsigned)k509 * (unsigned)512);
          const int v511 = (int)((unsigned)v510 + (unsigned)tid3);
          const int v512 = (int)((unsigned)v503 + (unsigned)v511);
          const int v513 = held[k509];
          const int v514 = v513 + v508;
          const bool v515 = v514 < n11;
          const int v516 = v493 + v514;
          const int v517 = v515 ? __ldg(before + v516) : 0;
          const bool v518 = v517 <= v512;
          const bool v519 = v515 && v518;
          const int v520 = v519 ? v514 : v513;
          held[k509] = v520;
        }
      }
      #pragma unroll
      for (int k521 = 0; k521 < 7; ++k521) {
        const int v522 = k521 * 512;
        const int v523 = v522 + tid3;
        const int v524 = v503 + v523;
        const bool v525 = v524 < v492;
        const int v526 = held[k521];
        const int v527 = v493 + v526;
        const int v528 = v526 * 3584;
        const int v529 = v525 ? __ldg(before + v527) : 0;
        const int v530 = v524 - v529;
        const int v531 = v525 ? __ldg(first + v527) : 0;
        const int v532 = v531 + v530;
        const int v533 = v528 + v532;
        const int v534 = v525 ? __ldg(tiles + v533) : 0;
        const int v535 = v534 & 4095;
        const int v536 = (int)((unsigned)v534 - (unsigned)v535);
        const int v537 = (int)((unsigned)v536 + (unsigned)v523);
        const int v538 = v525 ? v537 : 2147483647;
        items[v523] = v538;
        const int v539 = (int)((unsigned)v528 + (unsigned)v535);
        others[v523] = v539;
      }
      __syncthreads();  // the bucket's points are there
      for (int k540 = 0; k540 < n22; ++k540) {
        const int v541 = (int)((unsigned)k540 * (unsigned)2);
        const int v542 = (int)((unsigned)v541 + (unsigned)12);
        const int v543 = tid3 * 7;
        long long var544 = 0ll;
        #pragma unroll
        for (int k545 = 0; k545 < 7; ++k545) {
          const int v546 = v543 + k545;
          const int v547 = items[v546];
          held[k545] = v547;
          const int v548 = (int)((v542 >= 0 && v542 < 32) ? v547 >> v542 : (v547 >> 31));
          const int v549 = v548 & 3;
          const int v550 = (int)((unsigned)v549 * (unsigned)16);
          const long long v551 = (long long)v550;
          const long long v552 = (v551 >= 0 && v551 < 64) ? (long long)((unsigned long long)1ll << v551) : (long long)0;
          const long long v553 = (long long)((unsigned long long)var544 + (unsigned long long)v552);
          var544 = v553;
        }
        const long long v554 = var544;
        long long scan555[2];
        fw_scan_sum_i64_512x1(v554, scan555, fw_scratch0);
        const long long v556 = scan555[0];
        const long long v557 = scan555[1];
        const long long v558 = (long long)((unsigned long long)v557 << 16ll);
        const long long v559 = (long long)((unsigned long long)v556 + (unsigned long long)v558);
        const long long v560 = (long long)((unsigned long long)v557 << 32ll);
        const long long v561 = (long long)((unsigned long long)v559 + (unsigned long long)v560);
        const long long v562 = (long long)((unsigned long long)v557 << 48ll);
        const long long v563 = (long long)((unsigned long long)v561 + (unsigned long long)v562);
        long long var564 = v563;
        #pragma unroll
        for (int k565 = 0; k565 < 7; ++k565) {
          const int v566 = held[k565];
          const int v567 = (int)((v542 >= 0 && v542 < 32) ? v566 >> v542 : (v566 >> 31));
          const int v568 = v567 & 3;
          const int v569 = (int)((unsigned)v568 * (unsigned)16);
          const long long v570 = (long long)v569;
          const long long v571 = (long long)((v570 >= 0 && v570 < 64) ? var564 >> v570 : (var564 >> 63));
          const long long v572 = v571 & 65535ll;
          const int v573 = (int)v572;
          items[v573] = v566;
          const long long v574 = (v570 >= 0 && v570 < 64) ? (long long)((unsigned long long)1ll << v570) : (long long)0;
          const long long v575 = (long long)((unsigned long long)var564 + (unsigned long long)v574);
          var564 = v575;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      const int v576 = fw_udiv(v491, 3584);
      const int v577 = fw_udiv(v503, 3584);
      const int v578 = v492 + 3583;
      const int v579 = fw_udiv(v578, 3584);
      const int v580 = v494 ? v579 : 0;
      int var581 = v491;
      for (int k582 = 0; k582 < n18; k582 += 512) {
        const int v583 = k582 + tid3;
        const bool v584 = v583 < n18;
        const int v585 = v498 + v583;
        const int v586 = v494 ? 0 : v503;
        int var587 = v586;
        int var588 = 0;
        for (int k589 = 0; k589 < v580; ++k589) {
          const int v590 = k589 < 1 ? k589 : 1;
          const int v591 = v576 + k589;
          const int v592 = v591 * 2;
          const int v593 = v592 + v590;
          const int v594 = v593 * n18;
          const int v595 = v594 + v583;
          const int v596 = v584 ? __ldg(crowd_counts + v595) : 0;
          const int v597 = (int)((unsigned)var588 + (unsigned)v596);
          var588 = v597;
          const bool v598 = k589 < v577;
          const int v599 = v598 ? v596 : 0;
          const int v600 = (int)((unsigned)var587 + (unsigned)v599);
          var587 = v600;
        }
        const int v601 = var588;
        __syncthreads();  // all have read the results of the collective before
        int scan602[2];
        fw_scan_sum_i32_512x1(v601, scan602, fw_scratch0);
        const int v603 = scan602[0];
        const int v604 = scan602[1];
        const int v605 = (int)((unsigned)var581 + (unsigned)v603);
        if (v584) {
          const int v606 = (int)((unsigned)v605 + (unsigned)var587);
          const int v607 = (int)((unsigned)v583 * (unsigned)4096);
          int var608 = 0;
          for (int k609 = 0; k609 < 12; ++k609) {
            const int v610 = (int)((k609 >= 0 && k609 < 32) ? 2048 >> k609 : (2048 >> 31));
            const int v611 = var608 + v610;
            const bool v612 = v611 <= 3584;
            const int v613 = v611 + (-1);
            const int v614 = v612 ? items[v613] : 0;
            const bool v615 = v614 < v607;
            const bool v616 = v612 && v615;
            const int v617 = v616 ? v611 : var608;
            var608 = v617;
          }
          const int v618 = var608;
          const int v619 = (int)((unsigned)v606 - (unsigned)v618);
          const int v620 = v497 + v583;
          go_on[v620] = v619;
          const bool v621 = v503 == 0;
          const bool v622 = v585 <= n23;
          const bool v623 = v621 && v622;
          if (v623) {
            start[v585] = v605;
          }
        }
        const int v624 = (int)((unsigned)var581 + (unsigned)v604);
        var581 = v624;
      }
      __syncthreads();  // where each row goes on is known
      #pragma unroll
      for (int k625 = 0; k625 < 7; ++k625) {
        const int v626 = k625 * 512;
        const int v627 = v626 + tid3;
        const int v628 = (int)((unsigned)v503 + (unsigned)v627);
        const bool v629 = v628 < v492;
        if (v629) {
          const int v630 = items[v627];
          const int v631 = v630 & 4095;
          const int v632 = fw_udiv(v630, 4096);
          const int v633 = v497 + v632;
          const int v634 = go_on[v633];
          const int v635 = v634 + v627;
          const int v636 = others[v631];
          order[v635] = v636;
        }
      }
      __syncthreads();  // the items may be replaced
    }
  }
}

// pieces of rows with many points
extern "C" __global__ void __launch_bounds__(128) embedding_backward_4(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14,
    int n15,
    int n16,
    int n17,
    int n18,
    int n19,
    int n20,
    int n21,
    int n22,
    int n23,
    int n24,
    int n25,
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
    int n39,
    int n40,
    int n41,
    int n42,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts,
    float* __restrict__ pieces) {
  const int bid4 = blockIdx.x;
  const int tid4 = threadIdx.x;
  const int v637 = fw_udiv(tid4, 32);
  const int v638 = v637 * 32;
  const int v639 = tid4 - v638;
  const int v640 = fw_udiv(bid4, n28);
  const int v641 = v640 * n28;
  const int v642 = bid4 - v641;
  const int v643 = v642 * 96;
  const int v644 = v643 + v639;
  const int v645 = n29 + (-1);
  const int v646 = v644 < v645 ? v644 : v645;
  const bool v647 = v644 < n29;
  const int v648 = v644 + 32;
  const int v649 = v648 < v645 ? v648 : v645;
  const bool v650 = v648 < n29;
  const int v651 = v644 + 64;
  const int v652 = v651 < v645 ? v651 : v645;
  const bool v653 = v651 < n29;
  const int v654 = v640 * 4;
  const int v655 = v654 + v637;
  const bool v656 = v655 < n30;
  const long long v664 = (long long)n9;
  if (v656) {
    const int v657 = v655 * n31;
    const int v658 = v657 + n32;
    const int v659 = __ldg(start + n23);
    const bool v660 = v658 < v659;
    if (v660) {
      const int v661 = __ldg(order + v658);
      const long long v662 = __ldg(in0 + v661);
      const bool v663 = v662 < 0ll;
      const long long v665 = v662 + v664;
      const long long v666 = v663 ? v665 : v662;
      const int v667 = (int)v666;
      const int v668 = __ldg(start + v667);
      const int v669 = v667 + 1;
      const int v670 = __ldg(start + v669);
      const int v671 = v655 * n31;
      const int v672 = v671 - v668;
      const int v673 = v672 > 0 ? v672 : 0;
      const int v674 = v673 + n32;
      const int v675 = fw_udiv(v674, n31);
      const int v676 = v675 * n31;
      const int v677 = v668 + v676;
      const int v678 = v677 + n31;
      const bool v679 = v678 <= v670;
      if (v679) {
        float acc680[8];
        float acc681[8];
        float acc682[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc680[l] = 0.0f;
          acc681[l] = 0.0f;
          acc682[l] = 0.0f;
        }
        const int v683 = v678 + (-1);
        for (int k684 = v677; k684 < v678; k684 += 2) {
          const int v685 = __ldg(order + k684);
          const int v686 = v646 * 8;
          const int v687 = v685 * n33;
          const int v688 = v687 + v686;
          float v689[8];
          fw_load_bf16x8_ldg(in1 + v688, v689);
          const int v690 = v649 * 8;
          const int v691 = v687 + v690;
          float v692[8];
          fw_load_bf16x8_ldg(in1 + v691, v692);
          const int v693 = v652 * 8;
          const int v694 = v687 + v693;
          float v695[8];
          fw_load_bf16x8_ldg(in1 + v694, v695);
          const int v696 = k684 + 1;
          const bool v697 = v696 < v678;
          const int v698 = v696 < v683 ? v696 : v683;
          const int v699 = __ldg(order + v698);
          const int v700 = v646 * 8;
          const int v701 = v699 * n33;
          const int v702 = v701 + v700;
          float v703[8];
          fw_load_bf16x8_ldg(in1 + v702, v703);
          const int v704 = v649 * 8;
          const int v705 = v701 + v704;
          float v706[8];
          fw_load_bf16x8_ldg(in1 + v705, v706);
          const int v707 = v652 * 8;
          const int v708 = v701 + v707;
          float v709[8];
          fw_load_bf16x8_ldg(in1 + v708, v709);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v710 = acc680[l] + v689[l];
            acc680[l] = v710;
            const float v711 = acc681[l] + v692[l];
            acc681[l] = v711;
            const float v712 = acc682[l] + v695[l];
            acc682[l] = v712;
            const float v713 = acc680[l] + v703[l];
            const float v715 = v697 ? v713 : acc680[l];
            acc680[l] = v715;
            const float v716 = acc681[l] + v706[l];
            const float v717 = v697 ? v716 : acc681[l];
            acc681[l] = v717;
            const float v718 = acc682[l] + v709[l];
            const float v719 = v697 ? v718 : acc682[l];
            acc682[l] = v719;
          }
        }
        const int v720 = v655 * n34;
        const int v721 = v646 * 8;
        const int v722 = v720 + v721;
        float v723[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v723[l] = acc680[l];
        }
        if (v647) {
          fw_store_f32x8(pieces + v722, v723);
        }
        const int v724 = v649 * 8;
        const int v725 = v720 + v724;
        float v726[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v726[l] = acc681[l];
        }
        if (v650) {
          fw_store_f32x8(pieces + v725, v726);
        }
        const int v727 = v652 * 8;
        const int v728 = v720 + v727;
        float v729[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v729[l] = acc682[l];
        }
        if (v653) {
          fw_store_f32x8(pieces + v728, v729);
        }
      }
    }
  }
}

// runs of pieces of rows with very many
extern "C" __global__ void __launch_bounds__(128) embedding_backward_5(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14,
    int n15,
    int n16,
    int n17,
    int n18,
    int n19,
    int n20,
    int n21,
    int n22,
    int n23,
    int n24,
    int n25,
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
    int n39,
    int n40,
    int n41,
    int n42,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts,
    float* __restrict__ pieces) {
  const int bid5 = blockIdx.x;
  const int tid5 = threadIdx.x;
  const unsigned n31_inverse = 0xffffffffu / (unsigned)n31;
  const int v730 = fw_udiv(tid5, 32);
  const int v731 = v730 * 32;
  const int v732 = tid5 - v731;
  const int v733 = fw_udiv(bid5, n28);
  const int v734 = v733 * n28;
  const int v735 = bid5 - v734;
  const int v736 = v735 * 96;
  const int v737 = v736 + v732;
  const int v738 = n29 + (-1);
  const int v739 = v737 < v738 ? v737 : v738;
  const bool v740 = v737 < n29;
  const int v741 = v737 + 32;
  const int v742 = v741 < v738 ? v741 : v738;
  const bool v743 = v741 < n29;
  const int v744 = v737 + 64;
  const int v745 = v744 < v738 ? v744 : v738;
  const bool v746 = v744 < n29;
  const int v747 = v733 * 4;
  const int v748 = v747 + v730;
  const bool v749 = v748 < n36;
  const long long v759 = (long long)n9;
  if (v749) {
    const int v750 = v748 * n37;
    const int v751 = v750 + n38;
    const int v752 = v751 * n31;
    const int v753 = v752 + n32;
    const int v754 = __ldg(start + n23);
    const bool v755 = v753 < v754;
    if (v755) {
      const int v756 = __ldg(order + v753);
      const long long v757 = __ldg(in0 + v756);
      const bool v758 = v757 < 0ll;
      const long long v760 = v757 + v759;
      const long long v761 = v758 ? v760 : v757;
      const int v762 = (int)v761;
      const int v763 = __ldg(start + v762);
      const int v764 = v762 + 1;
      const int v765 = __ldg(start + v764);
      const int v766 = fw_udiv_by(v763, n31, n31_inverse);
      const int v767 = v765 - v763;
      const int v768 = fw_udiv_by(v767, n31, n31_inverse);
      const int v769 = v766 + v768;
      const int v770 = v748 * n37;
      const int v771 = v770 - v766;
      const int v772 = v771 > 0 ? v771 : 0;
      const int v773 = v772 + n38;
      const int v774 = fw_udiv(v773, n37);
      const int v775 = v774 * n37;
      const int v776 = v766 + v775;
      const int v777 = v776 + n37;
      const bool v778 = v777 <= v769;
      if (v778) {
        float acc779[8];
        float acc780[8];
        float acc781[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc779[l] = 0.0f;
          acc780[l] = 0.0f;
          acc781[l] = 0.0f;
        }
        const int v782 = v777 + (-1);
        for (int k783 = v776; k783 < v777; k783 += 5) {
          const int v784 = k783 * n34;
          const int v785 = v739 * 8;
          const int v786 = v784 + v785;
          const int v787 = v742 * 8;
          const int v788 = v784 + v787;
          const int v789 = v745 * 8;
          const int v790 = v784 + v789;
          float v791[8];
          fw_load_f32x8(pieces + v786, v791);
          float v792[8];
          fw_load_f32x8(pieces + v788, v792);
          float v793[8];
          fw_load_f32x8(pieces + v790, v793);
          const int v794 = k783 + 1;
          const bool v795 = v794 < v777;
          const int v796 = v794 < v782 ? v794 : v782;
          const int v797 = v796 * n34;
          const int v798 = v797 + v785;
          const int v799 = v797 + v787;
          const int v800 = v797 + v789;
          float v801[8];
          fw_load_f32x8(pieces + v798, v801);
          float v802[8];
          fw_load_f32x8(pieces + v799, v802);
          float v803[8];
          fw_load_f32x8(pieces + v800, v803);
          const int v804 = k783 + 2;
          const bool v805 = v804 < v777;
          const int v806 = v804 < v782 ? v804 : v782;
          const int v807 = v806 * n34;
          const int v808 = v807 + v785;
          const int v809 = v807 + v787;
          const int v810 = v807 + v789;
          float v811[8];
          fw_load_f32x8(pieces + v808, v811);
          float v812[8];
          fw_load_f32x8(pieces + v809, v812);
          float v813[8];
          fw_load_f32x8(pieces + v810, v813);
          const int v814 = k783 + 3;
          const bool v815 = v814 < v777;
          const int v816 = v814 < v782 ? v814 : v782;
          const int v817 = v816 * n34;
          const int v818 = v817 + v785;
          const int v819 = v817 + v787;
          const int v820 = v817 + v789;
          float v821[8];
          fw_load_f32x8(pieces + v818, v821);
          float v822[8];
          fw_load_f32x8(pieces + v819, v822);
          float v823[8];
          fw_load_f32x8(pieces + v820, v823);
          const int v824 = k783 + 4;
          const bool v825 = v824 < v777;
          const int v826 = v824 < v782 ? v824 : v782;
          const int v827 = v826 * n34;
          const int v828 = v827 + v785;
          const int v829 = v827 + v787;
          const int v830 = v827 + v789;
          float v831[8];
          fw_load_f32x8(pieces + v828, v831);
          float v832[8];
          fw_load_f32x8(pieces + v829, v832);
          float v833[8];
          fw_load_f32x8(pieces + v830, v833);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v834 = acc779[l] + v791[l];
            acc779[l] = v834;
            const float v835 = acc780[l] + v792[l];
            acc780[l] = v835;
            const float v836 = acc781[l] + v793[l];
            acc781[l] = v836;
            const float v837 = acc779[l] + v801[l];
            const float v839 = v795 ? v837 : acc779[l];
            acc779[l] = v839;
            const float v840 = acc780[l] + v802[l];
            const float v841 = v795 ? v840 : acc780[l];
            acc780[l] = v841;
            const float v842 = acc781[l] + v803[l];
            const float v843 = v795 ? v842 : acc781[l];
            acc781[l] = v843;
            const float v844 = acc779[l] + v811[l];
            const float v846 = v805 ? v844 : acc779[l];
            acc779[l] = v846;
            const float v847 = acc780[l] + v812[l];
            const float v848 = v805 ? v847 : acc780[l];
            acc780[l] = v848;
            const float v849 = acc781[l] + v813[l];
            const float v850 = v805 ? v849 : acc781[l];
            acc781[l] = v850;
            const float v851 = acc779[l] + v821[l];
            const float v853 = v815 ? v851 : acc779[l];
            acc779[l] = v853;
            const float v854 = acc780[l] + v822[l];
            const float v855 = v815 ? v854 : acc780[l];
            acc780[l] = v855;
            const float v856 = acc781[l] + v823[l];
            const float v857 = v815 ? v856 : acc781[l];
            acc781[l] = v857;
            const float v858 = acc779[l] + v831[l];
            const float v860 = v825 ? v858 : acc779[l];
            acc779[l] = v860;
            const float v861 = acc780[l] + v832[l];
            const float v862 = v825 ? v861 : acc780[l];
            acc780[l] = v862;
            const float v863 = acc781[l] + v833[l];
            const float v864 = v825 ? v863 : acc781[l];
            acc781[l] = v864;
          }
        }
        const int v865 = v748 + n39;
        const int v866 = v865 * n34;
        const int v867 = v739 * 8;
        const int v868 = v866 + v867;
        float v869[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v869[l] = acc779[l];
        }
        if (v740) {
          fw_store_f32x8(pieces + v868, v869);
        }
        const int v870 = v742 * 8;
        const int v871 = v866 + v870;
        float v872[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v872[l] = acc780[l];
        }
        if (v743) {
          fw_store_f32x8(pieces + v871, v872);
        }
        const int v873 = v745 * 8;
        const int v874 = v866 + v873;
        float v875[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v875[l] = acc781[l];
        }
        if (v746) {
          fw_store_f32x8(pieces + v874, v875);
        }
      }
    }
  }
}

// rows
extern "C" __global__ void __launch_bounds__(128) embedding_backward_6(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11,
    int n12,
    int n13,
    int n14,
    int n15,
    int n16,
    int n17,
    int n18,
    int n19,
    int n20,
    int n21,
    int n22,
    int n23,
    int n24,
    int n25,
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
    int n39,
    int n40,
    int n41,
    int n42,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts,
    float* __restrict__ pieces) {
  const int bid6 = blockIdx.x;
  const int tid6 = threadIdx.x;
  const unsigned n31_inverse = 0xffffffffu / (unsigned)n31;
  const unsigned n37_inverse = 0xffffffffu / (unsigned)n37;
  const int v876 = fw_udiv(tid6, 32);
  const int v877 = v876 * 32;
  const int v878 = tid6 - v877;
  const int v879 = fw_udiv(bid6, n28);
  const int v880 = v879 * n28;
  const int v881 = bid6 - v880;
  const int v882 = v881 * 96;
  const int v883 = v882 + v878;
  const int v884 = n29 + (-1);
  const int v885 = v883 < v884 ? v883 : v884;
  const bool v886 = v883 < n29;
  const int v887 = v883 + 32;
  const int v888 = v887 < v884 ? v887 : v884;
  const bool v889 = v887 < n29;
  const int v890 = v883 + 64;
  const int v891 = v890 < v884 ? v890 : v884;
  const bool v892 = v890 < n29;
  const int v893 = v879 * 4;
  const int v894 = v893 + v876;
  const bool v895 = v894 < n41;
  const int v896 = n41 + (-1);
  const int v897 = v894 < v896 ? v894 : v896;
  const int v898 = __ldg(start + v897);
  const int v899 = v897 + 1;
  const int v900 = __ldg(start + v899);
  const int v901 = (int)((unsigned)v885 * (unsigned)8);
  const int v902 = (int)((unsigned)v888 * (unsigned)8);
  const int v903 = (int)((unsigned)v891 * (unsigned)8);
  float acc904[8];
  float acc905[8];
  float acc906[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc904[l] = 0.0f;
    acc905[l] = 0.0f;
    acc906[l] = 0.0f;
  }
  const int v907 = fw_udiv_by(v898, n31, n31_inverse);
  const int v908 = v900 - v898;
  const int v909 = fw_udiv_by(v908, n31, n31_inverse);
  const int v910 = v907 + v909;
  const int v911 = fw_udiv_by(v907, n37, n37_inverse);
  const int v912 = v910 - v907;
  const int v913 = fw_udiv_by(v912, n37, n37_inverse);
  const int v914 = v911 + n39;
  const int v915 = v913 * n38;
  const int v916 = v907 + v915;
  const int v917 = v909 - v915;
  const int v918 = (int)((unsigned)v917 + (unsigned)(-1));
  for (int k919 = 0; k919 < v917; ++k919) {
    const bool v920 = k919 < v913;
    const int v921 = v920 ? v914 : v916;
    const int v922 = k919 + v921;
    const int v923 = v922 * n34;
    const int v924 = v885 * 8;
    const int v925 = v923 + v924;
    const int v926 = v888 * 8;
    const int v927 = v923 + v926;
    const int v928 = v891 * 8;
    const int v929 = v923 + v928;
    float v930[8];
    fw_load_f32x8_ldg(pieces + v925, v930);
    float v931[8];
    fw_load_f32x8_ldg(pieces + v927, v931);
    float v932[8];
    fw_load_f32x8_ldg(pieces + v929, v932);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v933 = acc904[l] + v930[l];
      acc904[l] = v933;
      const float v934 = acc905[l] + v931[l];
      acc905[l] = v934;
      const float v935 = acc906[l] + v932[l];
      acc906[l] = v935;
    }
  }
  const int v936 = v909 * n31;
  const int v937 = v898 + v936;
  const int v938 = v900 + (-1);
  for (int k939 = v937; k939 < v900; k939 += 2) {
    const int v940 = __ldg(order + k939);
    const int v941 = v885 * 8;
    const int v942 = v940 * n33;
    const int v943 = v942 + v941;
    float v944[8];
    fw_load_bf16x8_ldg(in1 + v943, v944);
    const int v945 = v888 * 8;
    const int v946 = v942 + v945;
    float v947[8];
    fw_load_bf16x8_ldg(in1 + v946, v947);
    const int v948 = v891 * 8;
    const int v949 = v942 + v948;
    float v950[8];
    fw_load_bf16x8_ldg(in1 + v949, v950);
    const int v951 = k939 + 1;
    const bool v952 = v951 < v900;
    const int v953 = v951 < v938 ? v951 : v938;
    const int v954 = __ldg(order + v953);
    const int v955 = v885 * 8;
    const int v956 = v954 * n33;
    const int v957 = v956 + v955;
    float v958[8];
    fw_load_bf16x8_ldg(in1 + v957, v958);
    const int v959 = v888 * 8;
    const int v960 = v956 + v959;
    float v961[8];
    fw_load_bf16x8_ldg(in1 + v960, v961);
    const int v962 = v891 * 8;
    const int v963 = v956 + v962;
    float v964[8];
    fw_load_bf16x8_ldg(in1 + v963, v964);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v965 = acc904[l] + v944[l];
      acc904[l] = v965;
      const float v966 = acc905[l] + v947[l];
      acc905[l] = v966;
      const float v967 = acc906[l] + v950[l];
      acc906[l] = v967;
      const float v968 = acc904[l] + v958[l];
      const float v970 = v952 ? v968 : acc904[l];
      acc904[l] = v970;
      const float v971 = acc905[l] + v961[l];
      const float v972 = v952 ? v971 : acc905[l];
      acc905[l] = v972;
      const float v973 = acc906[l] + v964[l];
      const float v974 = v952 ? v973 : acc906[l];
      acc906[l] = v974;
    }
  }
  const int v975 = v885 * 8;
  float v977[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v976 = acc904[l];
    v977[l] = v976 * 0.5f;
  }
  const int v978 = v897 * n42;
  const int v979 = v978 + v975;
  const bool v980 = v895 && v886;
  if (v980) {
    fw_store_bf16x8(out2 + v979, v977);
  }
  const int v981 = v888 * 8;
  float v983[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v982 = acc905[l];
    v983[l] = v982 * 0.5f;
  }
  const int v984 = v978 + v981;
  const bool v985 = v895 && v889;
  if (v985) {
    fw_store_bf16x8(out2 + v984, v983);
  }
  const int v986 = v891 * 8;
  float v988[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v987 = acc906[l];
    v988[l] = v987 * 0.5f;
  }
  const int v989 = v978 + v986;
  const bool v990 = v895 && v892;
  if (v990) {
    fw_store_bf16x8(out2 + v989, v988);
  }
}
