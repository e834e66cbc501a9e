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
  const bool v115 = tid1 == 0;
  if (v115) {
    bases[bid1] = total113;
    counts[bid1] = total111;
  }
  const bool v116 = total111 > 3584;
  const bool v117 = n18 > 1;
  const bool v118 = v116 && v117;
  const int v119 = bid1 * n18;
  const bool v120 = n19 > 0;
  const bool v121 = v116 && v120;
  const int v122 = v118 ? 0 : 1;
  const int v123 = v121 ? 2 : v122;
  for (int k124 = v123; k124 < 2; ++k124) {
    const bool v125 = k124 == 0;
    const bool v126 = !v125;
    if (v125) {
      for (int k127 = tid1; k127 < n18; k127 += 512) {
        const int v128 = v119 + k127;
        go_on[v128] = 0;
      }
    }
    const int v129 = total111 > 1 ? total111 : 1;
    for (int k130 = 0; k130 < v129; k130 += 3584) {
      #pragma unroll
      for (int k131 = 0; k131 < 7; ++k131) {
        held[k131] = 0;
      }
      for (int k132 = 0; k132 < n20; ++k132) {
        const int v133 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v134 = (int)((unsigned)v133 - (unsigned)k132);
        const int v135 = (v134 >= 0 && v134 < 32) ? (int)((unsigned)1 << v134) : (int)0;
        #pragma unroll
        for (int k136 = 0; k136 < 7; ++k136) {
          const int v137 = (int)((unsigned)k136 * (unsigned)512);
          const int v138 = (int)((unsigned)v137 + (unsigned)tid1);
          const int v139 = (int)((unsigned)k130 + (unsigned)v138);
          const int v140 = held[k136];
          const int v141 = v140 + v135;
          const bool v142 = v141 < n11;
          const int v143 = v91 + v141;
          const int v144 = v142 ? before[v143] : 0;
          const bool v145 = v144 <= v139;
          const bool v146 = v142 && v145;
          const int v147 = v146 ? v141 : v140;
          held[k136] = v147;
        }
      }
      #pragma unroll
      for (int k148 = 0; k148 < 7; ++k148) {
        const int v149 = k148 * 512;
        const int v150 = v149 + tid1;
        const int v151 = k130 + v150;
        const bool v152 = v151 < total111;
        const int v153 = held[k148];
        const int v154 = v91 + v153;
        const int v155 = v153 * 3584;
        const int v156 = v152 ? before[v154] : 0;
        const int v157 = v151 - v156;
        const int v158 = v152 ? __ldg(first + v154) : 0;
        const int v159 = v158 + v157;
        const int v160 = v155 + v159;
        const int v161 = v152 ? __ldg(tiles + v160) : 0;
        const int v162 = v161 & 4095;
        const int v163 = (int)((unsigned)v161 - (unsigned)v162);
        const int v164 = (int)((unsigned)v163 + (unsigned)v150);
        const int v165 = v152 ? v164 : 2147483647;
        items[v150] = v165;
        const int v166 = (int)((unsigned)v155 + (unsigned)v162);
        others[v150] = v166;
      }
      __syncthreads();  // the bucket's points are there
      for (int k167 = 0; k167 < n21; ++k167) {
        const int v168 = (int)((unsigned)k167 * (unsigned)2);
        const int v169 = (int)((unsigned)v168 + (unsigned)12);
        const int v170 = tid1 * 7;
        long long var171 = 0ll;
        #pragma unroll
        for (int k172 = 0; k172 < 7; ++k172) {
          const int v173 = v170 + k172;
          const int v174 = items[v173];
          held[k172] = v174;
          const int v175 = (int)((v169 >= 0 && v169 < 32) ? v174 >> v169 : (v174 >> 31));
          const int v176 = v175 & 3;
          const int v177 = (int)((unsigned)v176 * (unsigned)16);
          const long long v178 = (long long)v177;
          const long long v179 = (v178 >= 0 && v178 < 64) ? (long long)((unsigned long long)1ll << v178) : (long long)0;
          const long long v180 = (long long)((unsigned long long)var171 + (unsigned long long)v179);
          var171 = v180;
        }
        const long long v181 = var171;
        long long scan182[2];
        fw_scan_sum_i64_512x1(v181, scan182, fw_scratch0);
        const long long v183 = scan182[0];
        const long long v184 = scan182[1];
        const long long v185 = (long long)((unsigned long long)v184 << 16ll);
        const long long v186 = (long long)((unsigned long long)v183 + (unsigned long long)v185);
        const long long v187 = (long long)((unsigned long long)v184 << 32ll);
        const long long v188 = (long long)((unsigned long long)v186 + (unsigned long long)v187);
        const long long v189 = (long long)((unsigned long long)v184 << 48ll);
        const long long v190 = (long long)((unsigned long long)v188 + (unsigned long long)v189);
        long long var191 = v190;
        #pragma unroll
        for (int k192 = 0; k192 < 7; ++k192) {
          const int v193 = held[k192];
          const int v194 = (int)((v169 >= 0 && v169 < 32) ? v193 >> v169 : (v193 >> 31));
          const int v195 = v194 & 3;
          const int v196 = (int)((unsigned)v195 * (unsigned)16);
          const long long v197 = (long long)v196;
          const long long v198 = (long long)((v197 >= 0 && v197 < 64) ? var191 >> v197 : (var191 >> 63));
          const long long v199 = v198 & 65535ll;
          const int v200 = (int)v199;
          items[v200] = v193;
          const long long v201 = (v197 >= 0 && v197 < 64) ? (long long)((unsigned long long)1ll << v197) : (long long)0;
          const long long v202 = (long long)((unsigned long long)var191 + (unsigned long long)v201);
          var191 = v202;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v125) {
        for (int k203 = tid1; k203 < n18; k203 += 512) {
          const int v204 = v119 + k203;
          const int v205 = go_on[v204];
          const int v206 = (int)((unsigned)k203 * (unsigned)4096);
          int var207 = 0;
          for (int k208 = 0; k208 < 12; ++k208) {
            const int v209 = (int)((k208 >= 0 && k208 < 32) ? 2048 >> k208 : (2048 >> 31));
            const int v210 = var207 + v209;
            const bool v211 = v210 <= 3584;
            const int v212 = v210 + (-1);
            const int v213 = v211 ? items[v212] : 0;
            const bool v214 = v213 < v206;
            const bool v215 = v211 && v214;
            const int v216 = v215 ? v210 : var207;
            var207 = v216;
          }
          const int v217 = var207;
          const int v218 = (int)((unsigned)v205 - (unsigned)v217);
          go_on[v204] = v218;
          const int v219 = (int)((unsigned)k203 + (unsigned)1);
          const int v220 = (int)((unsigned)v219 * (unsigned)4096);
          int var221 = 0;
          for (int k222 = 0; k222 < 12; ++k222) {
            const int v223 = (int)((k222 >= 0 && k222 < 32) ? 2048 >> k222 : (2048 >> 31));
            const int v224 = var221 + v223;
            const bool v225 = v224 <= 3584;
            const int v226 = v224 + (-1);
            const int v227 = v225 ? items[v226] : 0;
            const bool v228 = v227 < v220;
            const bool v229 = v225 && v228;
            const int v230 = v229 ? v224 : var221;
            var221 = v230;
          }
          const int v231 = var221;
          const int v232 = go_on[v204];
          const int v233 = (int)((unsigned)v232 + (unsigned)v231);
          go_on[v204] = v233;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v126) {
        const bool v234 = k130 > 0;
        const bool v235 = v118 || v234;
        for (int k236 = tid1; k236 < n18; k236 += 512) {
          const int v237 = v119 + k236;
          const int v238 = (int)((unsigned)k236 * (unsigned)4096);
          int var239 = 0;
          for (int k240 = 0; k240 < 12; ++k240) {
            const int v241 = (int)((k240 >= 0 && k240 < 32) ? 2048 >> k240 : (2048 >> 31));
            const int v242 = var239 + v241;
            const bool v243 = v242 <= 3584;
            const int v244 = v242 + (-1);
            const int v245 = v243 ? items[v244] : 0;
            const bool v246 = v245 < v238;
            const bool v247 = v243 && v246;
            const int v248 = v247 ? v242 : var239;
            var239 = v248;
          }
          const int v249 = var239;
          const int v250 = (int)((unsigned)total113 + (unsigned)v249);
          int var251 = v250;
          if (v235) {
            const int v252 = go_on[v237];
            var251 = v252;
          }
          const bool v253 = !v234;
          const bool v254 = v237 <= n22;
          const bool v255 = v253 && v254;
          if (v255) {
            start[v237] = var251;
          }
          int var256 = 0;
          for (int k257 = 0; k257 < 12; ++k257) {
            const int v258 = (int)((k257 >= 0 && k257 < 32) ? 2048 >> k257 : (2048 >> 31));
            const int v259 = var256 + v258;
            const bool v260 = v259 <= 3584;
            const int v261 = v259 + (-1);
            const int v262 = v260 ? items[v261] : 0;
            const bool v263 = v262 < v238;
            const bool v264 = v260 && v263;
            const int v265 = v264 ? v259 : var256;
            var256 = v265;
          }
          const int v266 = var256;
          const int v267 = (int)((unsigned)var251 - (unsigned)v266);
          go_on[v237] = v267;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k268 = 0; k268 < 7; ++k268) {
          const int v269 = k268 * 512;
          const int v270 = v269 + tid1;
          const int v271 = (int)((unsigned)k130 + (unsigned)v270);
          const bool v272 = v271 < total111;
          if (v272) {
            const int v273 = items[v270];
            const int v274 = v273 & 4095;
            const int v275 = fw_udiv(v273, 4096);
            const int v276 = v119 + v275;
            const int v277 = go_on[v276];
            const int v278 = v277 + v270;
            const int v279 = others[v274];
            order[v278] = v279;
          }
        }
        if (v116) {
          __syncthreads();  // the chunk is written
          for (int k280 = tid1; k280 < n18; k280 += 512) {
            const int v281 = v119 + k280;
            const int v282 = (int)((unsigned)k280 + (unsigned)1);
            const int v283 = (int)((unsigned)v282 * (unsigned)4096);
            int var284 = 0;
            for (int k285 = 0; k285 < 12; ++k285) {
              const int v286 = (int)((k285 >= 0 && k285 < 32) ? 2048 >> k285 : (2048 >> 31));
              const int v287 = var284 + v286;
              const bool v288 = v287 <= 3584;
              const int v289 = v287 + (-1);
              const int v290 = v288 ? items[v289] : 0;
              const bool v291 = v290 < v283;
              const bool v292 = v288 && v291;
              const int v293 = v292 ? v287 : var284;
              var284 = v293;
            }
            const int v294 = var284;
            const int v295 = go_on[v281];
            const int v296 = (int)((unsigned)v295 + (unsigned)v294);
            go_on[v281] = v296;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v125) {
      int var297 = total113;
      for (int k298 = 0; k298 < n18; k298 += 512) {
        const int v299 = k298 + tid1;
        const bool v300 = v299 < n18;
        const int v301 = v119 + v299;
        const int v302 = v300 ? go_on[v301] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan303[2];
        fw_scan_sum_i32_512x1(v302, scan303, fw_scratch0);
        const int v304 = scan303[0];
        const int v305 = scan303[1];
        if (v300) {
          const int v306 = (int)((unsigned)var297 + (unsigned)v304);
          go_on[v301] = v306;
        }
        const int v307 = (int)((unsigned)var297 + (unsigned)v305);
        var297 = v307;
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
  const int v308 = bid2 * 3584;
  int var309 = 0;
  int var310 = 0;
  for (int k311 = tid2; k311 < n8; k311 += 512) {
    const int v312 = __ldg(bases + k311);
    const int v313 = __ldg(counts + k311);
    const int v314 = v308 - v312;
    const int v315 = v314 > 0 ? v314 : 0;
    const int v316 = v315 + 3583;
    const int v317 = fw_udiv(v316, 3584);
    const int v318 = v317 * 3584;
    const int v319 = (int)((unsigned)v312 + (unsigned)v318);
    const int v320 = (int)((unsigned)v319 - (unsigned)v308);
    const bool v321 = v320 < 3584;
    const bool v322 = v318 < v313;
    const bool v323 = v321 && v322;
    const bool v324 = v313 > 3584;
    const bool v325 = v323 && v324;
    const bool v326 = v318 == 0;
    const bool v327 = !v326;
    const bool v328 = v325 && v326;
    const int v329 = (int)((unsigned)k311 + (unsigned)1);
    const int v330 = v328 ? v329 : var309;
    var309 = v330;
    const bool v331 = v325 && v327;
    const int v332 = v331 ? v329 : var310;
    var310 = v332;
  }
  const int v334 = var309;
  const int total333 = fw_sum_i32_512x1(v334, fw_scratch0);
  const int v336 = var310;
  const int total335 = fw_sum_i32_512x1(v336, fw_scratch1);
  for (int k337 = 0; k337 < 2; ++k337) {
    const bool v338 = k337 == 0;
    const int v339 = v338 ? total333 : total335;
    const bool v340 = v339 > 0;
    if (v340) {
      const int v341 = v339 + (-1);
      const int v342 = __ldg(bases + v341);
      const int v343 = __ldg(counts + v341);
      const int v344 = v341 * n11;
      const bool v345 = n18 > 1;
      const int v346 = bid2 * 2;
      const int v347 = v346 + k337;
      const int v348 = v347 * n18;
      const int v349 = (int)((unsigned)v341 * (unsigned)n18);
      const int v350 = v308 - v342;
      const int v351 = v350 > 0 ? v350 : 0;
      const int v352 = v351 + 3583;
      const int v353 = fw_udiv(v352, 3584);
      const int v354 = v353 * 3584;
      if (v345) {
        #pragma unroll
        for (int k355 = 0; k355 < 7; ++k355) {
          held[k355] = 0;
        }
        for (int k356 = 0; k356 < n20; ++k356) {
          const int v357 = (int)((unsigned)n20 + (unsigned)(-1));
          const int v358 = (int)((unsigned)v357 - (unsigned)k356);
          const int v359 = (v358 >= 0 && v358 < 32) ? (int)((unsigned)1 << v358) : (int)0;
          #pragma unroll
          for (int k360 = 0; k360 < 7; ++k360) {
            const int v361 = (int)((unsigned)k360 * (unsigned)512);
            const int v362 = (int)((unsigned)v361 + (unsigned)tid2);
            const int v363 = (int)((unsigned)v354 + (unsigned)v362);
            const int v364 = held[k360];
            const int v365 = v364 + v359;
            const bool v366 = v365 < n11;
            const int v367 = v344 + v365;
            const int v368 = v366 ? __ldg(before + v367) : 0;
            const bool v369 = v368 <= v363;
            const bool v370 = v366 && v369;
            const int v371 = v370 ? v365 : v364;
            held[k360] = v371;
          }
        }
        #pragma unroll
        for (int k372 = 0; k372 < 7; ++k372) {
          const int v373 = k372 * 512;
          const int v374 = v373 + tid2;
          const int v375 = v354 + v374;
          const bool v376 = v375 < v343;
          const int v377 = held[k372];
          const int v378 = v344 + v377;
          const int v379 = v377 * 3584;
          const int v380 = v376 ? __ldg(before + v378) : 0;
          const int v381 = v375 - v380;
          const int v382 = v376 ? __ldg(first + v378) : 0;
          const int v383 = v382 + v381;
          const int v384 = v379 + v383;
          const int v385 = v376 ? __ldg(tiles + v384) : 0;
          const int v386 = v385 & 4095;
          const int v387 = (int)((unsigned)v385 - (unsigned)v386);
          const int v388 = (int)((unsigned)v387 + (unsigned)v374);
          const int v389 = v376 ? v388 : 2147483647;
          items[v374] = v389;
          const int v390 = (int)((unsigned)v379 + (unsigned)v386);
          others[v374] = v390;
        }
        __syncthreads();  // the bucket's points are there
        for (int k391 = 0; k391 < n21; ++k391) {
          const int v392 = (int)((unsigned)k391 * (unsigned)2);
          const int v393 = (int)((unsigned)v392 + (unsigned)12);
          const int v394 = tid2 * 7;
          long long var395 = 0ll;
          #pragma unroll
          for (int k396 = 0; k396 < 7; ++k396) {
            const int v397 = v394 + k396;
            const int v398 = items[v397];
            held[k396] = v398;
            const int v399 = (int)((v393 >= 0 && v393 < 32) ? v398 >> v393 : (v398 >> 31));
            const int v400 = v399 & 3;
            const int v401 = (int)((unsigned)v400 * (unsigned)16);
            const long long v402 = (long long)v401;
            const long long v403 = (v402 >= 0 && v402 < 64) ? (long long)((unsigned long long)1ll << v402) : (long long)0;
            const long long v404 = (long long)((unsigned long long)var395 + (unsigned long long)v403);
            var395 = v404;
          }
          const long long v405 = var395;
          long long scan406[2];
          fw_scan_sum_i64_512x1(v405, scan406, fw_scratch0);
          const long long v407 = scan406[0];
          const long long v408 = scan406[1];
          const long long v409 = (long long)((unsigned long long)v408 << 16ll);
          const long long v410 = (long long)((unsigned long long)v407 + (unsigned long long)v409);
          const long long v411 = (long long)((unsigned long long)v408 << 32ll);
          const long long v412 = (long long)((unsigned long long)v410 + (unsigned long long)v411);
          const long long v413 = (long long)((unsigned long long)v408 << 48ll);
          const long long v414 = (long long)((unsigned long long)v412 + (unsigned long long)v413);
          long long var415 = v414;
          #pragma unroll
          for (int k416 = 0; k416 < 7; ++k416) {
            const int v417 = held[k416];
            const int v418 = (int)((v393 >= 0 && v393 < 32) ? v417 >> v393 : (v417 >> 31));
            const int v419 = v418 & 3;
            const int v420 = (int)((unsigned)v419 * (unsigned)16);
            const long long v421 = (long long)v420;
            const long long v422 = (long long)((v421 >= 0 && v421 < 64) ? var415 >> v421 : (var415 >> 63));
            const long long v423 = v422 & 65535ll;
            const int v424 = (int)v423;
            items[v424] = v417;
            const long long v425 = (v421 >= 0 && v421 < 64) ? (long long)((unsigned long long)1ll << v421) : (long long)0;
            const long long v426 = (long long)((unsigned long long)var415 + (unsigned long long)v425);
            var415 = v426;
          }
          __syncthreads();  // the items are sorted by two more bits
        }
        for (int k427 = tid2; k427 < n18; k427 += 512) {
          const int v428 = (int)((unsigned)v349 + (unsigned)k427);
          const int v429 = (int)((unsigned)k427 + (unsigned)1);
          const int v430 = (int)((unsigned)k427 * (unsigned)4096);
          int var431 = 0;
          for (int k432 = 0; k432 < 12; ++k432) {
            const int v433 = (int)((k432 >= 0 && k432 < 32) ? 2048 >> k432 : (2048 >> 31));
            const int v434 = var431 + v433;
            const bool v435 = v434 <= 3584;
            const int v436 = v434 + (-1);
            const int v437 = v435 ? items[v436] : 0;
            const bool v438 = v437 < v430;
            const bool v439 = v435 && v438;
            const int v440 = v439 ? v434 : var431;
            var431 = v440;
          }
          const int v441 = var431;
          const int v442 = (int)((unsigned)v429 * (unsigned)4096);
          int var443 = 0;
          for (int k444 = 0; k444 < 12; ++k444) {
            const int v445 = (int)((k444 >= 0 && k444 < 32) ? 2048 >> k444 : (2048 >> 31));
            const int v446 = var443 + v445;
            const bool v447 = v446 <= 3584;
            const int v448 = v446 + (-1);
            const int v449 = v447 ? items[v448] : 0;
            const bool v450 = v449 < v442;
            const bool v451 = v447 && v450;
            const int v452 = v451 ? v446 : var443;
            var443 = v452;
          }
          const int v453 = var443;
          const int v454 = v348 + k427;
          const int v455 = (int)((unsigned)v453 - (unsigned)v441);
          crowd_counts[v454] = v455;
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
  const int v456 = bid3 * 3584;
  int var457 = 0;
  int var458 = 0;
  for (int k459 = tid3; k459 < n8; k459 += 512) {
    const int v460 = __ldg(bases + k459);
    const int v461 = __ldg(counts + k459);
    const int v462 = v456 - v460;
    const int v463 = v462 > 0 ? v462 : 0;
    const int v464 = v463 + 3583;
    const int v465 = fw_udiv(v464, 3584);
    const int v466 = v465 * 3584;
    const int v467 = (int)((unsigned)v460 + (unsigned)v466);
    const int v468 = (int)((unsigned)v467 - (unsigned)v456);
    const bool v469 = v468 < 3584;
    const bool v470 = v466 < v461;
    const bool v471 = v469 && v470;
    const bool v472 = v461 > 3584;
    const bool v473 = v471 && v472;
    const bool v474 = v466 == 0;
    const bool v475 = !v474;
    const bool v476 = v473 && v474;
    const int v477 = (int)((unsigned)k459 + (unsigned)1);
    const int v478 = v476 ? v477 : var457;
    var457 = v478;
    const bool v479 = v473 && v475;
    const int v480 = v479 ? v477 : var458;
    var458 = v480;
  }
  const int v482 = var457;
  const int total481 = fw_sum_i32_512x1(v482, fw_scratch0);
  const int v484 = var458;
  const int total483 = fw_sum_i32_512x1(v484, fw_scratch1);
  for (int k485 = 0; k485 < 2; ++k485) {
    const bool v486 = k485 == 0;
    const int v487 = v486 ? total481 : total483;
    const bool v488 = v487 > 0;
    if (v488) {
      const int v489 = v487 + (-1);
      const int v490 = __ldg(bases + v489);
      const int v491 = __ldg(counts + v489);
      const int v492 = v489 * n11;
      const bool v493 = n18 > 1;
      const int v494 = bid3 * 2;
      const int v495 = v494 + k485;
      const int v496 = v495 * n18;
      const int v497 = v489 * n18;
      const int v498 = v456 - v490;
      const int v499 = v498 > 0 ? v498 : 0;
      const int v500 = v499 + 3583;
      const int v501 = fw_udiv(v500, 3584);
      const int v502 = v501 * 3584;
      #pragma unroll
      for (int k503 = 0; k503 < 7; ++k503) {
        held[k503] = 0;
      }
      for (int k504 = 0; k504 < n20; ++k504) {
        const int v505 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v506 = (int)((unsigned)v505 - (unsigned)k504);
        const int v507 = (v506 >= 0 && v506 < 32) ? (int)((unsigned)1 << v506) : (int)0;
        #pragma unroll
        for (int k508 = 0; k508 < 7; ++k508) {
          const int v509 = (int)((unsigned)k508 * (unsigned)512);
          const int v510 = (int)((unsigned)v509 + (unsigned)tid3);
          const int v511 = (int)((unsigned)v502 + (unsigned)v510);
          const int v512 = held[k508];
          const int v513 = v512 + v507;
          const bool v514 = v513 < n11;
          const int v515 = v492 + v513;
          const int v516 = v514 ? __ldg(before + v515) : 0;
          const bool v517 = v516 <= v511;
          const bool v518 = v514 && v517;
          const int v519 = v518 ? v513 : v512;
          held[k508] = v519;
        }
      }
      #pragma unroll
      for (int k520 = 0; k520 < 7; ++k520) {
        const int v521 = k520 * 512;
        const int v522 = v521 + tid3;
        const int v523 = v502 + v522;
        const bool v524 = v523 < v491;
        const int v525 = held[k520];
        const int v526 = v492 + v525;
        const int v527 = v525 * 3584;
        const int v528 = v524 ? __ldg(before + v526) : 0;
        const int v529 = v523 - v528;
        const int v530 = v524 ? __ldg(first + v526) : 0;
        const int v531 = v530 + v529;
        const int v532 = v527 + v531;
        const int v533 = v524 ? __ldg(tiles + v532) : 0;
        const int v534 = v533 & 4095;
        const int v535 = (int)((unsigned)v533 - (unsigned)v534);
        const int v536 = (int)((unsigned)v535 + (unsigned)v522);
        const int v537 = v524 ? v536 : 2147483647;
        items[v522] = v537;
        const int v538 = (int)((unsigned)v527 + (unsigned)v534);
        others[v522] = v538;
      }
      __syncthreads();  // the bucket's points are there
      for (int k539 = 0; k539 < n21; ++k539) {
        const int v540 = (int)((unsigned)k539 * (unsigned)2);
        const int v541 = (int)((unsigned)v540 + (unsigned)12);
        const int v542 = tid3 * 7;
        long long var543 = 0ll;
        #pragma unroll
        for (int k544 = 0; k544 < 7; ++k544) {
          const int v545 = v542 + k544;
          const int v546 = items[v545];
          held[k544] = v546;
          const int v547 = (int)((v541 >= 0 && v541 < 32) ? v546 >> v541 : (v546 >> 31));
          const int v548 = v547 & 3;
          const int v549 = (int)((unsigned)v548 * (unsigned)16);
          const long long v550 = (long long)v549;
          const long long v551 = (v550 >= 0 && v550 < 64) ? (long long)((unsigned long long)1ll << v550) : (long long)0;
          const long long v552 = (long long)((unsigned long long)var543 + (unsigned long long)v551);
          var543 = v552;
        }
        const long long v553 = var543;
        long long scan554[2];
        fw_scan_sum_i64_512x1(v553, scan554, fw_scratch0);
        const long long v555 = scan554[0];
        const long long v556 = scan554[1];
        const long long v557 = (long long)((unsigned long long)v556 << 16ll);
        const long long v558 = (long long)((unsigned long long)v555 + (unsigned long long)v557);
        const long long v559 = (long long)((unsigned long long)v556 << 32ll);
        const long long v560 = (long long)((unsigned long long)v558 + (unsigned long long)v559);
        const long long v561 = (long long)((unsigned long long)v556 << 48ll);
        const long long v562 = (long long)((unsigned long long)v560 + (unsigned long long)v561);
        long long var563 = v562;
        #pragma unroll
        for (int k564 = 0; k564 < 7; ++k564) {
          const int v565 = held[k564];
          const int v566 = (int)((v541 >= 0 && v541 < 32) ? v565 >> v541 : (v565 >> 31));
          const int v567 = v566 & 3;
          const int v568 = (int)((unsigned)v567 * (unsigned)16);
          const long long v569 = (long long)v568;
          const long long v570 = (long long)((v569 >= 0 && v569 < 64) ? var563 >> v569 : (var563 >> 63));
          const long long v571 = v570 & 65535ll;
          const int v572 = (int)v571;
          items[v572] = v565;
          const long long v573 = (v569 >= 0 && v569 < 64) ? (long long)((unsigned long long)1ll << v569) : (long long)0;
          const long long v574 = (long long)((unsigned long long)var563 + (unsigned long long)v573);
          var563 = v574;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      const int v575 = fw_udiv(v490, 3584);
      const int v576 = fw_udiv(v502, 3584);
      const int v577 = v491 + 3583;
      const int v578 = fw_udiv(v577, 3584);
      const int v579 = v493 ? v578 : 0;
      int var580 = v490;
      for (int k581 = 0; k581 < n18; k581 += 512) {
        const int v582 = k581 + tid3;
        const bool v583 = v582 < n18;
        const int v584 = v497 + v582;
        const int v585 = v493 ? 0 : v502;
        int var586 = v585;
        int var587 = 0;
        for (int k588 = 0; k588 < v579; ++k588) {
          const int v589 = k588 < 1 ? k588 : 1;
          const int v590 = v575 + k588;
          const int v591 = v590 * 2;
          const int v592 = v591 + v589;
          const int v593 = v592 * n18;
          const int v594 = v593 + v582;
          const int v595 = v583 ? __ldg(crowd_counts + v594) : 0;
          const int v596 = (int)((unsigned)var587 + (unsigned)v595);
          var587 = v596;
          const bool v597 = k588 < v576;
          const int v598 = v597 ? v595 : 0;
          const int v599 = (int)((unsigned)var586 + (unsigned)v598);
          var586 = v599;
        }
        const int v600 = var587;
        __syncthreads();  // all have read the results of the collective before
        int scan601[2];
        fw_scan_sum_i32_512x1(v600, scan601, fw_scratch0);
        const int v602 = scan601[0];
        const int v603 = scan601[1];
        const int v604 = (int)((unsigned)var580 + (unsigned)v602);
        if (v583) {
          const int v605 = (int)((unsigned)v604 + (unsigned)var586);
          const int v606 = (int)((unsigned)v582 * (unsigned)4096);
          int var607 = 0;
          for (int k608 = 0; k608 < 12; ++k608) {
            const int v609 = (int)((k608 >= 0 && k608 < 32) ? 2048 >> k608 : (2048 >> 31));
            const int v610 = var607 + v609;
            const bool v611 = v610 <= 3584;
            const int v612 = v610 + (-1);
            const int v613 = v611 ? items[v612] : 0;
            const bool v614 = v613 < v606;
            const bool v615 = v611 && v614;
            const int v616 = v615 ? v610 : var607;
            var607 = v616;
          }
          const int v617 = var607;
          const int v618 = (int)((unsigned)v605 - (unsigned)v617);
          const int v619 = v496 + v582;
          go_on[v619] = v618;
          const bool v620 = v502 == 0;
          const bool v621 = v584 <= n22;
          const bool v622 = v620 && v621;
          if (v622) {
            start[v584] = v604;
          }
        }
        const int v623 = (int)((unsigned)var580 + (unsigned)v603);
        var580 = v623;
      }
      __syncthreads();  // where each row goes on is known
      #pragma unroll
      for (int k624 = 0; k624 < 7; ++k624) {
        const int v625 = k624 * 512;
        const int v626 = v625 + tid3;
        const int v627 = (int)((unsigned)v502 + (unsigned)v626);
        const bool v628 = v627 < v491;
        if (v628) {
          const int v629 = items[v626];
          const int v630 = v629 & 4095;
          const int v631 = fw_udiv(v629, 4096);
          const int v632 = v496 + v631;
          const int v633 = go_on[v632];
          const int v634 = v633 + v626;
          const int v635 = others[v630];
          order[v634] = v635;
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
  const int v636 = fw_udiv(tid4, 32);
  const int v637 = v636 * 32;
  const int v638 = tid4 - v637;
  const int v639 = fw_udiv(bid4, n27);
  const int v640 = v639 * n27;
  const int v641 = bid4 - v640;
  const int v642 = v641 * 96;
  const int v643 = v642 + v638;
  const int v644 = n28 + (-1);
  const int v645 = v643 < v644 ? v643 : v644;
  const bool v646 = v643 < n28;
  const int v647 = v643 + 32;
  const int v648 = v647 < v644 ? v647 : v644;
  const bool v649 = v647 < n28;
  const int v650 = v643 + 64;
  const int v651 = v650 < v644 ? v650 : v644;
  const bool v652 = v650 < n28;
  const int v653 = v639 * 4;
  const int v654 = v653 + v636;
  const bool v655 = v654 < n29;
  const long long v663 = (long long)n9;
  if (v655) {
    const int v656 = v654 * n30;
    const int v657 = v656 + n31;
    const int v658 = __ldg(start + n22);
    const bool v659 = v657 < v658;
    if (v659) {
      const int v660 = __ldg(order + v657);
      const long long v661 = __ldg(in0 + v660);
      const bool v662 = v661 < 0ll;
      const long long v664 = v661 + v663;
      const long long v665 = v662 ? v664 : v661;
      const int v666 = (int)v665;
      const int v667 = __ldg(start + v666);
      const int v668 = v666 + 1;
      const int v669 = __ldg(start + v668);
      const int v670 = v654 * n30;
      const int v671 = v670 - v667;
      const int v672 = v671 > 0 ? v671 : 0;
      const int v673 = v672 + n31;
      const int v674 = fw_udiv(v673, n30);
      const int v675 = v674 * n30;
      const int v676 = v667 + v675;
      const int v677 = v676 + n30;
      const bool v678 = v677 <= v669;
      if (v678) {
        float acc679[8];
        float acc680[8];
        float acc681[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc679[l] = 0.0f;
          acc680[l] = 0.0f;
          acc681[l] = 0.0f;
        }
        const int v682 = v677 + (-1);
        for (int k683 = v676; k683 < v677; k683 += 2) {
          const int v684 = __ldg(order + k683);
          const int v685 = v645 * 8;
          const int v686 = v684 * n32;
          const int v687 = v686 + v685;
          float v688[8];
          fw_load_bf16x8_ldg(in1 + v687, v688);
          const int v689 = v648 * 8;
          const int v690 = v686 + v689;
          float v691[8];
          fw_load_bf16x8_ldg(in1 + v690, v691);
          const int v692 = v651 * 8;
          const int v693 = v686 + v692;
          float v694[8];
          fw_load_bf16x8_ldg(in1 + v693, v694);
          const int v695 = k683 + 1;
          const bool v696 = v695 < v677;
          const int v697 = v695 < v682 ? v695 : v682;
          const int v698 = __ldg(order + v697);
          const int v699 = v645 * 8;
          const int v700 = v698 * n32;
          const int v701 = v700 + v699;
          float v702[8];
          fw_load_bf16x8_ldg(in1 + v701, v702);
          const int v703 = v648 * 8;
          const int v704 = v700 + v703;
          float v705[8];
          fw_load_bf16x8_ldg(in1 + v704, v705);
          const int v706 = v651 * 8;
          const int v707 = v700 + v706;
          float v708[8];
          fw_load_bf16x8_ldg(in1 + v707, v708);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v709 = acc679[l] + v688[l];
            acc679[l] = v709;
            const float v710 = acc680[l] + v691[l];
            acc680[l] = v710;
            const float v711 = acc681[l] + v694[l];
            acc681[l] = v711;
            const float v712 = acc679[l] + v702[l];
            const float v714 = v696 ? v712 : acc679[l];
            acc679[l] = v714;
            const float v715 = acc680[l] + v705[l];
            const float v716 = v696 ? v715 : acc680[l];
            acc680[l] = v716;
            const float v717 = acc681[l] + v708[l];
            const float v718 = v696 ? v717 : acc681[l];
            acc681[l] = v718;
          }
        }
        const int v719 = v654 * n33;
        const int v720 = v645 * 8;
        const int v721 = v719 + v720;
        float v722[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v722[l] = acc679[l];
        }
        if (v646) {
          fw_store_f32x8(pieces + v721, v722);
        }
        const int v723 = v648 * 8;
        const int v724 = v719 + v723;
        float v725[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v725[l] = acc680[l];
        }
        if (v649) {
          fw_store_f32x8(pieces + v724, v725);
        }
        const int v726 = v651 * 8;
        const int v727 = v719 + v726;
        float v728[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v728[l] = acc681[l];
        }
        if (v652) {
          fw_store_f32x8(pieces + v727, v728);
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
  const unsigned n30_inverse = 0xffffffffu / (unsigned)n30;
  const int v729 = fw_udiv(tid5, 32);
  const int v730 = v729 * 32;
  const int v731 = tid5 - v730;
  const int v732 = fw_udiv(bid5, n27);
  const int v733 = v732 * n27;
  const int v734 = bid5 - v733;
  const int v735 = v734 * 96;
  const int v736 = v735 + v731;
  const int v737 = n28 + (-1);
  const int v738 = v736 < v737 ? v736 : v737;
  const bool v739 = v736 < n28;
  const int v740 = v736 + 32;
  const int v741 = v740 < v737 ? v740 : v737;
  const bool v742 = v740 < n28;
  const int v743 = v736 + 64;
  const int v744 = v743 < v737 ? v743 : v737;
  const bool v745 = v743 < n28;
  const int v746 = v732 * 4;
  const int v747 = v746 + v729;
  const bool v748 = v747 < n35;
  const long long v758 = (long long)n9;
  if (v748) {
    const int v749 = v747 * n36;
    const int v750 = v749 + n37;
    const int v751 = v750 * n30;
    const int v752 = v751 + n31;
    const int v753 = __ldg(start + n22);
    const bool v754 = v752 < v753;
    if (v754) {
      const int v755 = __ldg(order + v752);
      const long long v756 = __ldg(in0 + v755);
      const bool v757 = v756 < 0ll;
      const long long v759 = v756 + v758;
      const long long v760 = v757 ? v759 : v756;
      const int v761 = (int)v760;
      const int v762 = __ldg(start + v761);
      const int v763 = v761 + 1;
      const int v764 = __ldg(start + v763);
      const int v765 = fw_udiv_by(v762, n30, n30_inverse);
      const int v766 = v764 - v762;
      const int v767 = fw_udiv_by(v766, n30, n30_inverse);
      const int v768 = v765 + v767;
      const int v769 = v747 * n36;
      const int v770 = v769 - v765;
      const int v771 = v770 > 0 ? v770 : 0;
      const int v772 = v771 + n37;
      const int v773 = fw_udiv(v772, n36);
      const int v774 = v773 * n36;
      const int v775 = v765 + v774;
      const int v776 = v775 + n36;
      const bool v777 = v776 <= v768;
      if (v777) {
        float acc778[8];
        float acc779[8];
        float acc780[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc778[l] = 0.0f;
          acc779[l] = 0.0f;
          acc780[l] = 0.0f;
        }
        const int v781 = v776 + (-1);
        for (int k782 = v775; k782 < v776; k782 += 5) {
          const int v783 = k782 * n33;
          const int v784 = v738 * 8;
          const int v785 = v783 + v784;
          const int v786 = v741 * 8;
          const int v787 = v783 + v786;
          const int v788 = v744 * 8;
          const int v789 = v783 + v788;
          float v790[8];
          fw_load_f32x8(pieces + v785, v790);
          float v791[8];
          fw_load_f32x8(pieces + v787, v791);
          float v792[8];
          fw_load_f32x8(pieces + v789, v792);
          const int v793 = k782 + 1;
          const bool v794 = v793 < v776;
          const int v795 = v793 < v781 ? v793 : v781;
          const int v796 = v795 * n33;
          const int v797 = v796 + v784;
          const int v798 = v796 + v786;
          const int v799 = v796 + v788;
          float v800[8];
          fw_load_f32x8(pieces + v797, v800);
          float v801[8];
          fw_load_f32x8(pieces + v798, v801);
          float v802[8];
          fw_load_f32x8(pieces + v799, v802);
          const int v803 = k782 + 2;
          const bool v804 = v803 < v776;
          const int v805 = v803 < v781 ? v803 : v781;
          const int v806 = v805 * n33;
          const int v807 = v806 + v784;
          const int v808 = v806 + v786;
          const int v809 = v806 + v788;
          float v810[8];
          fw_load_f32x8(pieces + v807, v810);
          float v811[8];
          fw_load_f32x8(pieces + v808, v811);
          float v812[8];
          fw_load_f32x8(pieces + v809, v812);
          const int v813 = k782 + 3;
          const bool v814 = v813 < v776;
          const int v815 = v813 < v781 ? v813 : v781;
          const int v816 = v815 * n33;
          const int v817 = v816 + v784;
          const int v818 = v816 + v786;
          const int v819 = v816 + v788;
          float v820[8];
          fw_load_f32x8(pieces + v817, v820);
          float v821[8];
          fw_load_f32x8(pieces + v818, v821);
          float v822[8];
          fw_load_f32x8(pieces + v819, v822);
          const int v823 = k782 + 4;
          const bool v824 = v823 < v776;
          const int v825 = v823 < v781 ? v823 : v781;
          const int v826 = v825 * n33;
          const int v827 = v826 + v784;
          const int v828 = v826 + v786;
          const int v829 = v826 + v788;
          float v830[8];
          fw_load_f32x8(pieces + v827, v830);
          float v831[8];
          fw_load_f32x8(pieces + v828, v831);
          float v832[8];
          fw_load_f32x8(pieces + v829, v832);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v833 = acc778[l] + v790[l];
            acc778[l] = v833;
            const float v834 = acc779[l] + v791[l];
            acc779[l] = v834;
            const float v835 = acc780[l] + v792[l];
            acc780[l] = v835;
            const float v836 = acc778[l] + v800[l];
            const float v838 = v794 ? v836 : acc778[l];
            acc778[l] = v838;
            const float v839 = acc779[l] + v801[l];
            const float v840 = v794 ? v839 : acc779[l];
            acc779[l] = v840;
            const float v841 = acc780[l] + v802[l];
            const float v842 = v794 ? v841 : acc780[l];
            acc780[l] = v842;
            const float v843 = acc778[l] + v810[l];
            const float v845 = v804 ? v843 : acc778[l];
            acc778[l] = v845;
            const float v846 = acc779[l] + v811[l];
            const float v847 = v804 ? v846 : acc779[l];
            acc779[l] = v847;
            const float v848 = acc780[l] + v812[l];
            const float v849 = v804 ? v848 : acc780[l];
            acc780[l] = v849;
            const float v850 = acc778[l] + v820[l];
            const float v852 = v814 ? v850 : acc778[l];
            acc778[l] = v852;
            const float v853 = acc779[l] + v821[l];
            const float v854 = v814 ? v853 : acc779[l];
            acc779[l] = v854;
            const float v855 = acc780[l] + v822[l];
            const float v856 = v814 ? v855 : acc780[l];
            acc780[l] = v856;
            const float v857 = acc778[l] + v830[l];
            const float v859 = v824 ? v857 : acc778[l];
            acc778[l] = v859;
            const float v860 = acc779[l] + v831[l];
            const float v861 = v824 ? v860 : acc779[l];
            acc779[l] = v861;
            const float v862 = acc780[l] + v832[l];
            const float v863 = v824 ? v862 : acc780[l];
            acc780[l] = v863;
          }
        }
        const int v864 = v747 + n38;
        const int v865 = v864 * n33;
        const int v866 = v738 * 8;
        const int v867 = v865 + v866;
        float v868[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v868[l] = acc778[l];
        }
        if (v739) {
          fw_store_f32x8(pieces + v867, v868);
        }
        const int v869 = v741 * 8;
        const int v870 = v865 + v869;
        float v871[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v871[l] = acc779[l];
        }
        if (v742) {
          fw_store_f32x8(pieces + v870, v871);
        }
        const int v872 = v744 * 8;
        const int v873 = v865 + v872;
        float v874[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v874[l] = acc780[l];
        }
        if (v745) {
          fw_store_f32x8(pieces + v873, v874);
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
  const unsigned n30_inverse = 0xffffffffu / (unsigned)n30;
  const unsigned n36_inverse = 0xffffffffu / (unsigned)n36;
  const int v875 = fw_udiv(tid6, 32);
  const int v876 = v875 * 32;
  const int v877 = tid6 - v876;
  const int v878 = fw_udiv(bid6, n27);
  const int v879 = v878 * n27;
  const int v880 = bid6 - v879;
  const int v881 = v880 * 96;
  const int v882 = v881 + v877;
  const int v883 = n28 + (-1);
  const int v884 = v882 < v883 ? v882 : v883;
  const bool v885 = v882 < n28;
  const int v886 = v882 + 32;
  const int v887 = v886 < v883 ? v886 : v883;
  const bool v888 = v886 < n28;
  const int v889 = v882 + 64;
  const int v890 = v889 < v883 ? v889 : v883;
  const bool v891 = v889 < n28;
  const int v892 = v878 * 4;
  const int v893 = v892 + v875;
  const bool v894 = v893 < n40;
  const int v895 = n40 + (-1);
  const int v896 = v893 < v895 ? v893 : v895;
  const int v897 = __ldg(start + v896);
  const int v898 = v896 + 1;
  const int v899 = __ldg(start + v898);
  const int v900 = (int)((unsigned)v884 * (unsigned)8);
  const int v901 = (int)((unsigned)v887 * (unsigned)8);
  const int v902 = (int)((unsigned)v890 * (unsigned)8);
  float acc903[8];
  float acc904[8];
  float acc905[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc903[l] = 0.0f;
    acc904[l] = 0.0f;
    acc905[l] = 0.0f;
  }
  const int v906 = fw_udiv_by(v897, n30, n30_inverse);
  const int v907 = v899 - v897;
  const int v908 = fw_udiv_by(v907, n30, n30_inverse);
  const int v909 = v906 + v908;
  const int v910 = fw_udiv_by(v906, n36, n36_inverse);
  const int v911 = v909 - v906;
  const int v912 = fw_udiv_by(v911, n36, n36_inverse);
  const int v913 = v910 + n38;
  const int v914 = v912 * n37;
  const int v915 = v906 + v914;
  const int v916 = v908 - v914;
  const int v917 = (int)((unsigned)v916 + (unsigned)(-1));
  for (int k918 = 0; k918 < v916; ++k918) {
    const bool v919 = k918 < v912;
    const int v920 = v919 ? v913 : v915;
    const int v921 = k918 + v920;
    const int v922 = v921 * n33;
    const int v923 = v884 * 8;
    const int v924 = v922 + v923;
    const int v925 = v887 * 8;
    const int v926 = v922 + v925;
    const int v927 = v890 * 8;
    const int v928 = v922 + v927;
    float v929[8];
    fw_load_f32x8_ldg(pieces + v924, v929);
    float v930[8];
    fw_load_f32x8_ldg(pieces + v926, v930);
    float v931[8];
    fw_load_f32x8_ldg(pieces + v928, v931);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v932 = acc903[l] + v929[l];
      acc903[l] = v932;
      const float v933 = acc904[l] + v930[l];
      acc904[l] = v933;
      const float v934 = acc905[l] + v931[l];
      acc905[l] = v934;
    }
  }
  const int v935 = v908 * n30;
  const int v936 = v897 + v935;
  const int v937 = v899 + (-1);
  for (int k938 = v936; k938 < v899; k938 += 2) {
    const int v939 = __ldg(order + k938);
    const int v940 = v884 * 8;
    const int v941 = v939 * n32;
    const int v942 = v941 + v940;
    float v943[8];
    fw_load_bf16x8_ldg(in1 + v942, v943);
    const int v944 = v887 * 8;
    const int v945 = v941 + v944;
    float v946[8];
    fw_load_bf16x8_ldg(in1 + v945, v946);
    const int v947 = v890 * 8;
    const int v948 = v941 + v947;
    float v949[8];
    fw_load_bf16x8_ldg(in1 + v948, v949);
    const int v950 = k938 + 1;
    const bool v951 = v950 < v899;
    const int v952 = v950 < v937 ? v950 : v937;
    const int v953 = __ldg(order + v952);
    const int v954 = v884 * 8;
    const int v955 = v953 * n32;
    const int v956 = v955 + v954;
    float v957[8];
    fw_load_bf16x8_ldg(in1 + v956, v957);
    const int v958 = v887 * 8;
    const int v959 = v955 + v958;
    float v960[8];
    fw_load_bf16x8_ldg(in1 + v959, v960);
    const int v961 = v890 * 8;
    const int v962 = v955 + v961;
    float v963[8];
    fw_load_bf16x8_ldg(in1 + v962, v963);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v964 = acc903[l] + v943[l];
      acc903[l] = v964;
      const float v965 = acc904[l] + v946[l];
      acc904[l] = v965;
      const float v966 = acc905[l] + v949[l];
      acc905[l] = v966;
      const float v967 = acc903[l] + v957[l];
      const float v969 = v951 ? v967 : acc903[l];
      acc903[l] = v969;
      const float v970 = acc904[l] + v960[l];
      const float v971 = v951 ? v970 : acc904[l];
      acc904[l] = v971;
      const float v972 = acc905[l] + v963[l];
      const float v973 = v951 ? v972 : acc905[l];
      acc905[l] = v973;
    }
  }
  const int v974 = v884 * 8;
  float v976[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v975 = acc903[l];
    v976[l] = v975 * 0.5f;
  }
  const int v977 = v896 * n41;
  const int v978 = v977 + v974;
  const bool v979 = v894 && v885;
  if (v979) {
    fw_store_bf16x8(out2 + v978, v976);
  }
  const int v980 = v887 * 8;
  float v982[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v981 = acc904[l];
    v982[l] = v981 * 0.5f;
  }
  const int v983 = v977 + v980;
  const bool v984 = v894 && v888;
  if (v984) {
    fw_store_bf16x8(out2 + v983, v982);
  }
  const int v985 = v890 * 8;
  float v987[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v986 = acc905[l];
    v987[l] = v986 * 0.5f;
  }
  const int v988 = v977 + v985;
  const bool v989 = v894 && v891;
  if (v989) {
    fw_store_bf16x8(out2 + v988, v987);
  }
}
