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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    float* __restrict__ pieces) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  const unsigned n8_inverse = 0xffffffffu / (unsigned)n8;
  const int v1 = bid0 * 3584;
  const long long v11 = (long long)n10;
  #pragma unroll
  for (int k2 = 0; k2 < 7; ++k2) {
    const int v3 = k2 * 512;
    const int v4 = v3 + tid0;
    const int v5 = v1 + v4;
    const bool v6 = v5 < n7;
    const int v7 = n7 + (-1);
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
    int var22 = n9;
    int var23 = 0;
    const int v24 = (int)v13;
    if (v21) {
      const int v25 = fw_udiv_by(v24, n8, n8_inverse);
      const int v26 = (int)((unsigned)v25 * (unsigned)n8);
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
  for (int k30 = 0; k30 < n11; ++k30) {
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
  for (int k76 = tid0; k76 < n13; k76 += 512) {
    const int v77 = k76 * n12;
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
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
  const int v91 = bid1 * n12;
  const int v92 = v91 + n12;
  int var93 = 0;
  int var94 = 0;
  int var95 = 0;
  for (int k96 = 0; k96 < n12; k96 += 512) {
    const int v97 = k96 + tid1;
    const bool v98 = v97 < n12;
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
  const bool v116 = n15 > 1;
  const bool v117 = v115 && v116;
  const int v118 = bid1 * n15;
  const int v119 = v117 ? 0 : 1;
  for (int k120 = v119; k120 < 2; ++k120) {
    const bool v121 = k120 == 0;
    const bool v122 = !v121;
    if (v121) {
      for (int k123 = tid1; k123 < n15; k123 += 512) {
        const int v124 = v118 + k123;
        go_on[v124] = 0;
      }
    }
    const int v125 = total111 > 1 ? total111 : 1;
    for (int k126 = 0; k126 < v125; k126 += 3584) {
      #pragma unroll
      for (int k127 = 0; k127 < 7; ++k127) {
        held[k127] = 0;
      }
      for (int k128 = 0; k128 < n16; ++k128) {
        const int v129 = (int)((unsigned)n16 + (unsigned)(-1));
        const int v130 = (int)((unsigned)v129 - (unsigned)k128);
        const int v131 = (v130 >= 0 && v130 < 32) ? (int)((unsigned)1 << v130) : (int)0;
        #pragma unroll
        for (int k132 = 0; k132 < 7; ++k132) {
          const int v133 = (int)((unsigned)k132 * (unsigned)512);
          const int v134 = (int)((unsigned)v133 + (unsigned)tid1);
          const int v135 = (int)((unsigned)k126 + (unsigned)v134);
          const int v136 = held[k132];
          const int v137 = v136 + v131;
          const bool v138 = v137 < n12;
          const int v139 = v91 + v137;
          const int v140 = v138 ? before[v139] : 0;
          const bool v141 = v140 <= v135;
          const bool v142 = v138 && v141;
          const int v143 = v142 ? v137 : v136;
          held[k132] = v143;
        }
      }
      #pragma unroll
      for (int k144 = 0; k144 < 7; ++k144) {
        const int v145 = k144 * 512;
        const int v146 = v145 + tid1;
        const int v147 = k126 + v146;
        const bool v148 = v147 < total111;
        const int v149 = held[k144];
        const int v150 = v91 + v149;
        const int v151 = v149 * 3584;
        const int v152 = v148 ? before[v150] : 0;
        const int v153 = v147 - v152;
        const int v154 = v148 ? __ldg(first + v150) : 0;
        const int v155 = v154 + v153;
        const int v156 = v151 + v155;
        const int v157 = v148 ? __ldg(tiles + v156) : 0;
        const int v158 = v157 & 4095;
        const int v159 = (int)((unsigned)v157 - (unsigned)v158);
        const int v160 = (int)((unsigned)v159 + (unsigned)v146);
        const int v161 = v148 ? v160 : 2147483647;
        items[v146] = v161;
        const int v162 = (int)((unsigned)v151 + (unsigned)v158);
        others[v146] = v162;
      }
      __syncthreads();  // the bucket's points are there
      for (int k163 = 0; k163 < n17; ++k163) {
        const int v164 = (int)((unsigned)k163 * (unsigned)2);
        const int v165 = (int)((unsigned)v164 + (unsigned)12);
        const int v166 = tid1 * 7;
        long long var167 = 0ll;
        #pragma unroll
        for (int k168 = 0; k168 < 7; ++k168) {
          const int v169 = v166 + k168;
          const int v170 = items[v169];
          held[k168] = v170;
          const int v171 = (int)((v165 >= 0 && v165 < 32) ? v170 >> v165 : (v170 >> 31));
          const int v172 = v171 & 3;
          const int v173 = (int)((unsigned)v172 * (unsigned)16);
          const long long v174 = (long long)v173;
          const long long v175 = (v174 >= 0 && v174 < 64) ? (long long)((unsigned long long)1ll << v174) : (long long)0;
          const long long v176 = (long long)((unsigned long long)var167 + (unsigned long long)v175);
          var167 = v176;
        }
        const long long v177 = var167;
        long long scan178[2];
        fw_scan_sum_i64_512x1(v177, scan178, fw_scratch0);
        const long long v179 = scan178[0];
        const long long v180 = scan178[1];
        const long long v181 = (long long)((unsigned long long)v180 << 16ll);
        const long long v182 = (long long)((unsigned long long)v179 + (unsigned long long)v181);
        const long long v183 = (long long)((unsigned long long)v180 << 32ll);
        const long long v184 = (long long)((unsigned long long)v182 + (unsigned long long)v183);
        const long long v185 = (long long)((unsigned long long)v180 << 48ll);
        const long long v186 = (long long)((unsigned long long)v184 + (unsigned long long)v185);
        long long var187 = v186;
        #pragma unroll
        for (int k188 = 0; k188 < 7; ++k188) {
          const int v189 = held[k188];
          const int v190 = (int)((v165 >= 0 && v165 < 32) ? v189 >> v165 : (v189 >> 31));
          const int v191 = v190 & 3;
          const int v192 = (int)((unsigned)v191 * (unsigned)16);
          const long long v193 = (long long)v192;
          const long long v194 = (long long)((v193 >= 0 && v193 < 64) ? var187 >> v193 : (var187 >> 63));
          const long long v195 = v194 & 65535ll;
          const int v196 = (int)v195;
          items[v196] = v189;
          const long long v197 = (v193 >= 0 && v193 < 64) ? (long long)((unsigned long long)1ll << v193) : (long long)0;
          const long long v198 = (long long)((unsigned long long)var187 + (unsigned long long)v197);
          var187 = v198;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v121) {
        for (int k199 = tid1; k199 < n15; k199 += 512) {
          const int v200 = v118 + k199;
          const int v201 = go_on[v200];
          const int v202 = (int)((unsigned)k199 * (unsigned)4096);
          int var203 = 0;
          for (int k204 = 0; k204 < 12; ++k204) {
            const int v205 = (int)((k204 >= 0 && k204 < 32) ? 2048 >> k204 : (2048 >> 31));
            const int v206 = var203 + v205;
            const bool v207 = v206 <= 3584;
            const int v208 = v206 + (-1);
            const int v209 = v207 ? items[v208] : 0;
            const bool v210 = v209 < v202;
            const bool v211 = v207 && v210;
            const int v212 = v211 ? v206 : var203;
            var203 = v212;
          }
          const int v213 = var203;
          const int v214 = (int)((unsigned)v201 - (unsigned)v213);
          go_on[v200] = v214;
          const int v215 = (int)((unsigned)k199 + (unsigned)1);
          const int v216 = (int)((unsigned)v215 * (unsigned)4096);
          int var217 = 0;
          for (int k218 = 0; k218 < 12; ++k218) {
            const int v219 = (int)((k218 >= 0 && k218 < 32) ? 2048 >> k218 : (2048 >> 31));
            const int v220 = var217 + v219;
            const bool v221 = v220 <= 3584;
            const int v222 = v220 + (-1);
            const int v223 = v221 ? items[v222] : 0;
            const bool v224 = v223 < v216;
            const bool v225 = v221 && v224;
            const int v226 = v225 ? v220 : var217;
            var217 = v226;
          }
          const int v227 = var217;
          const int v228 = go_on[v200];
          const int v229 = (int)((unsigned)v228 + (unsigned)v227);
          go_on[v200] = v229;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v122) {
        const bool v230 = k126 > 0;
        const bool v231 = v117 || v230;
        for (int k232 = tid1; k232 < n15; k232 += 512) {
          const int v233 = v118 + k232;
          const int v234 = (int)((unsigned)k232 * (unsigned)4096);
          int var235 = 0;
          for (int k236 = 0; k236 < 12; ++k236) {
            const int v237 = (int)((k236 >= 0 && k236 < 32) ? 2048 >> k236 : (2048 >> 31));
            const int v238 = var235 + v237;
            const bool v239 = v238 <= 3584;
            const int v240 = v238 + (-1);
            const int v241 = v239 ? items[v240] : 0;
            const bool v242 = v241 < v234;
            const bool v243 = v239 && v242;
            const int v244 = v243 ? v238 : var235;
            var235 = v244;
          }
          const int v245 = var235;
          const int v246 = (int)((unsigned)total113 + (unsigned)v245);
          int var247 = v246;
          if (v231) {
            const int v248 = go_on[v233];
            var247 = v248;
          }
          const bool v249 = !v230;
          const bool v250 = v233 <= n18;
          const bool v251 = v249 && v250;
          if (v251) {
            start[v233] = var247;
          }
          int var252 = 0;
          for (int k253 = 0; k253 < 12; ++k253) {
            const int v254 = (int)((k253 >= 0 && k253 < 32) ? 2048 >> k253 : (2048 >> 31));
            const int v255 = var252 + v254;
            const bool v256 = v255 <= 3584;
            const int v257 = v255 + (-1);
            const int v258 = v256 ? items[v257] : 0;
            const bool v259 = v258 < v234;
            const bool v260 = v256 && v259;
            const int v261 = v260 ? v255 : var252;
            var252 = v261;
          }
          const int v262 = var252;
          const int v263 = (int)((unsigned)var247 - (unsigned)v262);
          go_on[v233] = v263;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k264 = 0; k264 < 7; ++k264) {
          const int v265 = k264 * 512;
          const int v266 = v265 + tid1;
          const int v267 = (int)((unsigned)k126 + (unsigned)v266);
          const bool v268 = v267 < total111;
          if (v268) {
            const int v269 = items[v266];
            const int v270 = v269 & 4095;
            const int v271 = fw_udiv(v269, 4096);
            const int v272 = v118 + v271;
            const int v273 = go_on[v272];
            const int v274 = v273 + v266;
            const int v275 = others[v270];
            order[v274] = v275;
          }
        }
        if (v115) {
          __syncthreads();  // the chunk is written
          for (int k276 = tid1; k276 < n15; k276 += 512) {
            const int v277 = v118 + k276;
            const int v278 = (int)((unsigned)k276 + (unsigned)1);
            const int v279 = (int)((unsigned)v278 * (unsigned)4096);
            int var280 = 0;
            for (int k281 = 0; k281 < 12; ++k281) {
              const int v282 = (int)((k281 >= 0 && k281 < 32) ? 2048 >> k281 : (2048 >> 31));
              const int v283 = var280 + v282;
              const bool v284 = v283 <= 3584;
              const int v285 = v283 + (-1);
              const int v286 = v284 ? items[v285] : 0;
              const bool v287 = v286 < v279;
              const bool v288 = v284 && v287;
              const int v289 = v288 ? v283 : var280;
              var280 = v289;
            }
            const int v290 = var280;
            const int v291 = go_on[v277];
            const int v292 = (int)((unsigned)v291 + (unsigned)v290);
            go_on[v277] = v292;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v121) {
      int var293 = total113;
      for (int k294 = 0; k294 < n15; k294 += 512) {
        const int v295 = k294 + tid1;
        const bool v296 = v295 < n15;
        const int v297 = v118 + v295;
        const int v298 = v296 ? go_on[v297] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan299[2];
        fw_scan_sum_i32_512x1(v298, scan299, fw_scratch0);
        const int v300 = scan299[0];
        const int v301 = scan299[1];
        if (v296) {
          const int v302 = (int)((unsigned)var293 + (unsigned)v300);
          go_on[v297] = v302;
        }
        const int v303 = (int)((unsigned)var293 + (unsigned)v301);
        var293 = v303;
      }
    }
  }
}

// pieces of rows with many points
extern "C" __global__ void __launch_bounds__(128) embedding_backward_2(
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    float* __restrict__ pieces) {
  const int bid2 = blockIdx.x;
  const int tid2 = threadIdx.x;
  const int v304 = fw_udiv(tid2, 32);
  const int v305 = v304 * 32;
  const int v306 = tid2 - v305;
  const int v307 = fw_udiv(bid2, n21);
  const int v308 = v307 * n21;
  const int v309 = bid2 - v308;
  const int v310 = v309 * 96;
  const int v311 = v310 + v306;
  const int v312 = n22 + (-1);
  const int v313 = v311 < v312 ? v311 : v312;
  const bool v314 = v311 < n22;
  const int v315 = v311 + 32;
  const int v316 = v315 < v312 ? v315 : v312;
  const bool v317 = v315 < n22;
  const int v318 = v311 + 64;
  const int v319 = v318 < v312 ? v318 : v312;
  const bool v320 = v318 < n22;
  const int v321 = v307 * 4;
  const int v322 = v321 + v304;
  const int v323 = v322 * n23;
  const int v324 = v323 + n24;
  const bool v325 = v322 < n25;
  const long long v331 = (long long)n10;
  if (v325) {
    const int v326 = __ldg(start + n18);
    const bool v327 = v324 < v326;
    if (v327) {
      const int v328 = __ldg(order + v324);
      const long long v329 = __ldg(in0 + v328);
      const bool v330 = v329 < 0ll;
      const long long v332 = v329 + v331;
      const long long v333 = v330 ? v332 : v329;
      const int v334 = (int)v333;
      const int v335 = __ldg(start + v334);
      const int v336 = v334 + 1;
      const int v337 = __ldg(start + v336);
      const int v338 = v323 - v335;
      const int v339 = v338 > 0 ? v338 : 0;
      const int v340 = v339 + n24;
      const int v341 = fw_udiv(v340, n23);
      const int v342 = v341 * n23;
      const int v343 = v335 + v342;
      const int v344 = v343 + n23;
      const bool v345 = v344 <= v337;
      if (v345) {
        float acc346[8];
        float acc347[8];
        float acc348[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc346[l] = 0.0f;
          acc347[l] = 0.0f;
          acc348[l] = 0.0f;
        }
        const int v349 = v344 + (-1);
        for (int k350 = v343; k350 < v344; k350 += 2) {
          const int v351 = __ldg(order + k350);
          const int v352 = v313 * 8;
          const int v353 = v351 * n26;
          const int v354 = v353 + v352;
          float v355[8];
          fw_load_bf16x8_ldg(in1 + v354, v355);
          const int v356 = v316 * 8;
          const int v357 = v353 + v356;
          float v358[8];
          fw_load_bf16x8_ldg(in1 + v357, v358);
          const int v359 = v319 * 8;
          const int v360 = v353 + v359;
          float v361[8];
          fw_load_bf16x8_ldg(in1 + v360, v361);
          const int v362 = k350 + 1;
          const bool v363 = v362 < v344;
          const int v364 = v362 < v349 ? v362 : v349;
          const int v365 = __ldg(order + v364);
          const int v366 = v313 * 8;
          const int v367 = v365 * n26;
          const int v368 = v367 + v366;
          float v369[8];
          fw_load_bf16x8_ldg(in1 + v368, v369);
          const int v370 = v316 * 8;
          const int v371 = v367 + v370;
          float v372[8];
          fw_load_bf16x8_ldg(in1 + v371, v372);
          const int v373 = v319 * 8;
          const int v374 = v367 + v373;
          float v375[8];
          fw_load_bf16x8_ldg(in1 + v374, v375);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v376 = acc346[l] + v355[l];
            acc346[l] = v376;
            const float v377 = acc347[l] + v358[l];
            acc347[l] = v377;
            const float v378 = acc348[l] + v361[l];
            acc348[l] = v378;
            const float v379 = acc346[l] + v369[l];
            const float v381 = v363 ? v379 : acc346[l];
            acc346[l] = v381;
            const float v382 = acc347[l] + v372[l];
            const float v383 = v363 ? v382 : acc347[l];
            acc347[l] = v383;
            const float v384 = acc348[l] + v375[l];
            const float v385 = v363 ? v384 : acc348[l];
            acc348[l] = v385;
          }
        }
        const int v386 = v322 * n27;
        const int v387 = v313 * 8;
        const int v388 = v386 + v387;
        float v389[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v389[l] = acc346[l];
        }
        if (v314) {
          fw_store_f32x8(pieces + v388, v389);
        }
        const int v390 = v316 * 8;
        const int v391 = v386 + v390;
        float v392[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v392[l] = acc347[l];
        }
        if (v317) {
          fw_store_f32x8(pieces + v391, v392);
        }
        const int v393 = v319 * 8;
        const int v394 = v386 + v393;
        float v395[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v395[l] = acc348[l];
        }
        if (v320) {
          fw_store_f32x8(pieces + v394, v395);
        }
      }
    }
  }
}

// rows
extern "C" __global__ void __launch_bounds__(128) embedding_backward_3(
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    float* __restrict__ pieces) {
  const int bid3 = blockIdx.x;
  const int tid3 = threadIdx.x;
  const unsigned n23_inverse = 0xffffffffu / (unsigned)n23;
  const int v396 = fw_udiv(tid3, 32);
  const int v397 = v396 * 32;
  const int v398 = tid3 - v397;
  const int v399 = fw_udiv(bid3, n21);
  const int v400 = v399 * n21;
  const int v401 = bid3 - v400;
  const int v402 = v401 * 96;
  const int v403 = v402 + v398;
  const int v404 = n22 + (-1);
  const int v405 = v403 < v404 ? v403 : v404;
  const bool v406 = v403 < n22;
  const int v407 = v403 + 32;
  const int v408 = v407 < v404 ? v407 : v404;
  const bool v409 = v407 < n22;
  const int v410 = v403 + 64;
  const int v411 = v410 < v404 ? v410 : v404;
  const bool v412 = v410 < n22;
  const int v413 = v399 * 4;
  const int v414 = v413 + v396;
  const bool v415 = v414 < n29;
  const int v416 = n29 + (-1);
  const int v417 = v414 < v416 ? v414 : v416;
  const int v418 = __ldg(start + v417);
  const int v419 = v417 + 1;
  const int v420 = __ldg(start + v419);
  const int v421 = (int)((unsigned)v405 * (unsigned)8);
  const int v422 = (int)((unsigned)v408 * (unsigned)8);
  const int v423 = (int)((unsigned)v411 * (unsigned)8);
  float acc424[8];
  float acc425[8];
  float acc426[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc424[l] = 0.0f;
    acc425[l] = 0.0f;
    acc426[l] = 0.0f;
  }
  const int v427 = fw_udiv_by(v418, n23, n23_inverse);
  const int v428 = v420 - v418;
  const int v429 = fw_udiv_by(v428, n23, n23_inverse);
  const int v430 = (int)((unsigned)v429 + (unsigned)(-1));
  for (int k431 = 0; k431 < v429; ++k431) {
    const int v432 = v427 + k431;
    const int v433 = v432 * n27;
    const int v434 = v405 * 8;
    const int v435 = v433 + v434;
    const int v436 = v408 * 8;
    const int v437 = v433 + v436;
    const int v438 = v411 * 8;
    const int v439 = v433 + v438;
    float v440[8];
    fw_load_f32x8_ldg(pieces + v435, v440);
    float v441[8];
    fw_load_f32x8_ldg(pieces + v437, v441);
    float v442[8];
    fw_load_f32x8_ldg(pieces + v439, v442);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v443 = acc424[l] + v440[l];
      acc424[l] = v443;
      const float v444 = acc425[l] + v441[l];
      acc425[l] = v444;
      const float v445 = acc426[l] + v442[l];
      acc426[l] = v445;
    }
  }
  const int v446 = v429 * n23;
  const int v447 = v418 + v446;
  const int v448 = v420 + (-1);
  for (int k449 = v447; k449 < v420; k449 += 2) {
    const int v450 = __ldg(order + k449);
    const int v451 = v405 * 8;
    const int v452 = v450 * n26;
    const int v453 = v452 + v451;
    float v454[8];
    fw_load_bf16x8_ldg(in1 + v453, v454);
    const int v455 = v408 * 8;
    const int v456 = v452 + v455;
    float v457[8];
    fw_load_bf16x8_ldg(in1 + v456, v457);
    const int v458 = v411 * 8;
    const int v459 = v452 + v458;
    float v460[8];
    fw_load_bf16x8_ldg(in1 + v459, v460);
    const int v461 = k449 + 1;
    const bool v462 = v461 < v420;
    const int v463 = v461 < v448 ? v461 : v448;
    const int v464 = __ldg(order + v463);
    const int v465 = v405 * 8;
    const int v466 = v464 * n26;
    const int v467 = v466 + v465;
    float v468[8];
    fw_load_bf16x8_ldg(in1 + v467, v468);
    const int v469 = v408 * 8;
    const int v470 = v466 + v469;
    float v471[8];
    fw_load_bf16x8_ldg(in1 + v470, v471);
    const int v472 = v411 * 8;
    const int v473 = v466 + v472;
    float v474[8];
    fw_load_bf16x8_ldg(in1 + v473, v474);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v475 = acc424[l] + v454[l];
      acc424[l] = v475;
      const float v476 = acc425[l] + v457[l];
      acc425[l] = v476;
      const float v477 = acc426[l] + v460[l];
      acc426[l] = v477;
      const float v478 = acc424[l] + v468[l];
      const float v480 = v462 ? v478 : acc424[l];
      acc424[l] = v480;
      const float v481 = acc425[l] + v471[l];
      const float v482 = v462 ? v481 : acc425[l];
      acc425[l] = v482;
      const float v483 = acc426[l] + v474[l];
      const float v484 = v462 ? v483 : acc426[l];
      acc426[l] = v484;
    }
  }
  const int v485 = v405 * 8;
  float v487[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v486 = acc424[l];
    v487[l] = v486 * 0.5f;
  }
  const int v488 = v417 * n30;
  const int v489 = v488 + v485;
  const bool v490 = v415 && v406;
  if (v490) {
    fw_store_bf16x8(out2 + v489, v487);
  }
  const int v491 = v408 * 8;
  float v493[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v492 = acc425[l];
    v493[l] = v492 * 0.5f;
  }
  const int v494 = v488 + v491;
  const bool v495 = v415 && v409;
  if (v495) {
    fw_store_bf16x8(out2 + v494, v493);
  }
  const int v496 = v411 * 8;
  float v498[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v497 = acc426[l];
    v498[l] = v497 * 0.5f;
  }
  const int v499 = v488 + v496;
  const bool v500 = v415 && v412;
  if (v500) {
    fw_store_bf16x8(out2 + v499, v498);
  }
}
