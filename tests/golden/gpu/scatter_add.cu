// scatter_add, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// an index out of range: the context reports an error, as for eager's device-side assertion
__device__ __forceinline__ void fw_fail() { __trap(); }

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

__device__ __forceinline__ unsigned short fw_f32_bf16(float x) {
  unsigned r;  // two at once are one fast instruction, one alone is a slow one
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(0.0f), "f"(x));
  return (unsigned short)r;
}

#endif

// a / b of non-negative numbers; `inverse`: (2^32 - 1) / b, with which the quotient is at most 1 too small
__device__ __forceinline__ int fw_udiv_by(int a, int b, unsigned inverse) {
  const unsigned q = __umulhi((unsigned)a, inverse);
  return (int)(q + ((unsigned)a - q * (unsigned)b >= (unsigned)b));
}

__device__ __forceinline__ float fw_bf16_f32(unsigned short x) { return __uint_as_float((unsigned)x << 16); }

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

// points by bucket, tile by tile
extern "C" __global__ void __launch_bounds__(512) scatter_add_0(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    const unsigned short* __restrict__ in2,
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
  const unsigned n10_inverse = 0xffffffffu / (unsigned)n10;
  const int v1 = bid0 * 3584;
  const long long v16 = (long long)n12;
  #pragma unroll
  for (int k2 = 0; k2 < 7; ++k2) {
    const int v3 = k2 * 512;
    const int v4 = v3 + tid0;
    const int v5 = v1 + v4;
    const bool v6 = v5 < n7;
    const int v7 = n7 + (-1);
    const int v8 = v5 < v7 ? v5 : v7;
    const int v9 = fw_udiv_by(v8, n10, n10_inverse);
    const int v10 = v9 * n10;
    const int v11 = v8 - v10;
    const int v12 = v9 * n11;
    const int v13 = v12 + v11;
    const long long v14 = __ldg(in0 + v13);
    const bool v15 = v14 < 0ll;
    const long long v17 = v14 + v16;
    const long long v18 = v15 ? v17 : v14;
    const bool v19 = v18 >= 0ll;
    const bool v20 = v18 < v16;
    const bool v21 = v19 && v20;
    if (!v21) {
      fw_fail();
    }
    const bool v22 = v6 && v21;
    int var23 = n9;
    int var24 = 0;
    const int v26 = (int)v18;
    if (v22) {
      const int v25 = v9 * n13;
      const int v27 = v25 + v26;
      const int v28 = fw_udiv_by(v27, n8, n8_inverse);
      const int v29 = (int)((unsigned)v28 * (unsigned)n8);
      const int v30 = (int)((unsigned)v27 - (unsigned)v29);
      var23 = v28;
      var24 = v30;
    }
    const int v31 = (int)((unsigned)var23 * (unsigned)4096);
    const int v32 = (int)((unsigned)v31 + (unsigned)v4);
    items[v4] = v32;
    others[v4] = var24;
  }
  __syncthreads();  // the tile's points are there
  for (int k33 = 0; k33 < n14; ++k33) {
    const int v34 = (int)((unsigned)k33 * (unsigned)2);
    const int v35 = (int)((unsigned)v34 + (unsigned)12);
    const int v36 = tid0 * 7;
    long long var37 = 0ll;
    #pragma unroll
    for (int k38 = 0; k38 < 7; ++k38) {
      const int v39 = v36 + k38;
      const int v40 = items[v39];
      held[k38] = v40;
      const int v41 = (int)((v35 >= 0 && v35 < 32) ? v40 >> v35 : (v40 >> 31));
      const int v42 = v41 & 3;
      const int v43 = (int)((unsigned)v42 * (unsigned)16);
      const long long v44 = (long long)v43;
      const long long v45 = (v44 >= 0 && v44 < 64) ? (long long)((unsigned long long)1ll << v44) : (long long)0;
      const long long v46 = (long long)((unsigned long long)var37 + (unsigned long long)v45);
      var37 = v46;
    }
    const long long v47 = var37;
    long long scan48[2];
    fw_scan_sum_i64_512x1(v47, scan48, fw_scratch0);
    const long long v49 = scan48[0];
    const long long v50 = scan48[1];
    const long long v51 = (long long)((unsigned long long)v50 << 16ll);
    const long long v52 = (long long)((unsigned long long)v49 + (unsigned long long)v51);
    const long long v53 = (long long)((unsigned long long)v50 << 32ll);
    const long long v54 = (long long)((unsigned long long)v52 + (unsigned long long)v53);
    const long long v55 = (long long)((unsigned long long)v50 << 48ll);
    const long long v56 = (long long)((unsigned long long)v54 + (unsigned long long)v55);
    long long var57 = v56;
    #pragma unroll
    for (int k58 = 0; k58 < 7; ++k58) {
      const int v59 = held[k58];
      const int v60 = (int)((v35 >= 0 && v35 < 32) ? v59 >> v35 : (v59 >> 31));
      const int v61 = v60 & 3;
      const int v62 = (int)((unsigned)v61 * (unsigned)16);
      const long long v63 = (long long)v62;
      const long long v64 = (long long)((v63 >= 0 && v63 < 64) ? var57 >> v63 : (var57 >> 63));
      const long long v65 = v64 & 65535ll;
      const int v66 = (int)v65;
      items[v66] = v59;
      const long long v67 = (v63 >= 0 && v63 < 64) ? (long long)((unsigned long long)1ll << v63) : (long long)0;
      const long long v68 = (long long)((unsigned long long)var57 + (unsigned long long)v67);
      var57 = v68;
    }
    __syncthreads();  // the items are sorted by two more bits
  }
  #pragma unroll
  for (int k69 = 0; k69 < 7; ++k69) {
    const int v70 = k69 * 512;
    const int v71 = v70 + tid0;
    const int v72 = items[v71];
    const int v73 = v72 & 4095;
    const int v74 = fw_udiv(v72, 4096);
    const int v75 = others[v73];
    const int v76 = (int)((unsigned)v75 * (unsigned)4096);
    const int v77 = (int)((unsigned)v76 + (unsigned)v73);
    const int v78 = v1 + v71;
    tiles[v78] = v77;
  }
  for (int k79 = tid0; k79 < n16; k79 += 512) {
    const int v80 = k79 * n15;
    const int v81 = v80 + bid0;
    const int v82 = (int)((unsigned)k79 * (unsigned)4096);
    int var83 = 0;
    for (int k84 = 0; k84 < 12; ++k84) {
      const int v85 = (int)((k84 >= 0 && k84 < 32) ? 2048 >> k84 : (2048 >> 31));
      const int v86 = var83 + v85;
      const bool v87 = v86 <= 3584;
      const int v88 = v86 + (-1);
      const int v89 = v87 ? items[v88] : 0;
      const bool v90 = v89 < v82;
      const bool v91 = v87 && v90;
      const int v92 = v91 ? v86 : var83;
      var83 = v92;
    }
    const int v93 = var83;
    first[v81] = v93;
  }
}

// points by row, bucket by bucket
extern "C" __global__ void __launch_bounds__(512) scatter_add_1(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    const unsigned short* __restrict__ in2,
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
  const int v94 = bid1 * n15;
  const int v95 = v94 + n15;
  int var96 = 0;
  int var97 = 0;
  int var98 = 0;
  for (int k99 = 0; k99 < n15; k99 += 512) {
    const int v100 = k99 + tid1;
    const bool v101 = v100 < n15;
    const int v102 = v94 + v100;
    const int v103 = v101 ? __ldg(first + v102) : 0;
    const int v104 = v95 + v100;
    const int v105 = v101 ? __ldg(first + v104) : 0;
    const int v106 = (int)((unsigned)v105 - (unsigned)v103);
    __syncthreads();  // all have read the results of the collective before
    int scan107[2];
    fw_scan_sum_i32_512x1(v106, scan107, fw_scratch0);
    const int v108 = scan107[0];
    const int v109 = scan107[1];
    if (v101) {
      const int v110 = (int)((unsigned)var98 + (unsigned)v108);
      before[v102] = v110;
    }
    const int v111 = (int)((unsigned)var98 + (unsigned)v109);
    var98 = v111;
    const int v112 = (int)((unsigned)var96 + (unsigned)v106);
    var96 = v112;
    const int v113 = (int)((unsigned)var97 + (unsigned)v103);
    var97 = v113;
  }
  const int v115 = var96;
  fw_half2 ^= 64;
  const int total114 = fw_sum_i32_512x1(v115, fw_scratch2 + fw_half2);
  const int v117 = var97;
  const int total116 = fw_sum_i32_512x1(v117, fw_scratch1);
  const bool v118 = total114 > 3584;
  const bool v119 = n18 > 1;
  const bool v120 = v118 && v119;
  const int v121 = bid1 * n18;
  const int v122 = v120 ? 0 : 1;
  for (int k123 = v122; k123 < 2; ++k123) {
    const bool v124 = k123 == 0;
    const bool v125 = !v124;
    if (v124) {
      for (int k126 = tid1; k126 < n18; k126 += 512) {
        const int v127 = v121 + k126;
        go_on[v127] = 0;
      }
    }
    const int v128 = total114 > 1 ? total114 : 1;
    for (int k129 = 0; k129 < v128; k129 += 3584) {
      #pragma unroll
      for (int k130 = 0; k130 < 7; ++k130) {
        held[k130] = 0;
      }
      for (int k131 = 0; k131 < n19; ++k131) {
        const int v132 = (int)((unsigned)n19 + (unsigned)(-1));
        const int v133 = (int)((unsigned)v132 - (unsigned)k131);
        const int v134 = (v133 >= 0 && v133 < 32) ? (int)((unsigned)1 << v133) : (int)0;
        #pragma unroll
        for (int k135 = 0; k135 < 7; ++k135) {
          const int v136 = (int)((unsigned)k135 * (unsigned)512);
          const int v137 = (int)((unsigned)v136 + (unsigned)tid1);
          const int v138 = (int)((unsigned)k129 + (unsigned)v137);
          const int v139 = held[k135];
          const int v140 = v139 + v134;
          const bool v141 = v140 < n15;
          const int v142 = v94 + v140;
          const int v143 = v141 ? before[v142] : 0;
          const bool v144 = v143 <= v138;
          const bool v145 = v141 && v144;
          const int v146 = v145 ? v140 : v139;
          held[k135] = v146;
        }
      }
      #pragma unroll
      for (int k147 = 0; k147 < 7; ++k147) {
        const int v148 = k147 * 512;
        const int v149 = v148 + tid1;
        const int v150 = k129 + v149;
        const bool v151 = v150 < total114;
        const int v152 = held[k147];
        const int v153 = v94 + v152;
        const int v154 = v152 * 3584;
        const int v155 = v151 ? before[v153] : 0;
        const int v156 = v150 - v155;
        const int v157 = v151 ? __ldg(first + v153) : 0;
        const int v158 = v157 + v156;
        const int v159 = v154 + v158;
        const int v160 = v151 ? __ldg(tiles + v159) : 0;
        const int v161 = v160 & 4095;
        const int v162 = (int)((unsigned)v160 - (unsigned)v161);
        const int v163 = (int)((unsigned)v162 + (unsigned)v149);
        const int v164 = v151 ? v163 : 2147483647;
        items[v149] = v164;
        const int v165 = (int)((unsigned)v154 + (unsigned)v161);
        others[v149] = v165;
      }
      __syncthreads();  // the bucket's points are there
      for (int k166 = 0; k166 < n20; ++k166) {
        const int v167 = (int)((unsigned)k166 * (unsigned)2);
        const int v168 = (int)((unsigned)v167 + (unsigned)12);
        const int v169 = tid1 * 7;
        long long var170 = 0ll;
        #pragma unroll
        for (int k171 = 0; k171 < 7; ++k171) {
          const int v172 = v169 + k171;
          const int v173 = items[v172];
          held[k171] = v173;
          const int v174 = (int)((v168 >= 0 && v168 < 32) ? v173 >> v168 : (v173 >> 31));
          const int v175 = v174 & 3;
          const int v176 = (int)((unsigned)v175 * (unsigned)16);
          const long long v177 = (long long)v176;
          const long long v178 = (v177 >= 0 && v177 < 64) ? (long long)((unsigned long long)1ll << v177) : (long long)0;
          const long long v179 = (long long)((unsigned long long)var170 + (unsigned long long)v178);
          var170 = v179;
        }
        const long long v180 = var170;
        long long scan181[2];
        fw_scan_sum_i64_512x1(v180, scan181, fw_scratch0);
        const long long v182 = scan181[0];
        const long long v183 = scan181[1];
        const long long v184 = (long long)((unsigned long long)v183 << 16ll);
        const long long v185 = (long long)((unsigned long long)v182 + (unsigned long long)v184);
        const long long v186 = (long long)((unsigned long long)v183 << 32ll);
        const long long v187 = (long long)((unsigned long long)v185 + (unsigned long long)v186);
        const long long v188 = (long long)((unsigned long long)v183 << 48ll);
        const long long v189 = (long long)((unsigned long long)v187 + (unsigned long long)v188);
        long long var190 = v189;
        #pragma unroll
        for (int k191 = 0; k191 < 7; ++k191) {
          const int v192 = held[k191];
          const int v193 = (int)((v168 >= 0 && v168 < 32) ? v192 >> v168 : (v192 >> 31));
          const int v194 = v193 & 3;
          const int v195 = (int)((unsigned)v194 * (unsigned)16);
          const long long v196 = (long long)v195;
          const long long v197 = (long long)((v196 >= 0 && v196 < 64) ? var190 >> v196 : (var190 >> 63));
          const long long v198 = v197 & 65535ll;
          const int v199 = (int)v198;
          items[v199] = v192;
          const long long v200 = (v196 >= 0 && v196 < 64) ? (long long)((unsigned long long)1ll << v196) : (long long)0;
          const long long v201 = (long long)((unsigned long long)var190 + (unsigned long long)v200);
          var190 = v201;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v124) {
        for (int k202 = tid1; k202 < n18; k202 += 512) {
          const int v203 = v121 + k202;
          const int v204 = go_on[v203];
          const int v205 = (int)((unsigned)k202 * (unsigned)4096);
          int var206 = 0;
          for (int k207 = 0; k207 < 12; ++k207) {
            const int v208 = (int)((k207 >= 0 && k207 < 32) ? 2048 >> k207 : (2048 >> 31));
            const int v209 = var206 + v208;
            const bool v210 = v209 <= 3584;
            const int v211 = v209 + (-1);
            const int v212 = v210 ? items[v211] : 0;
            const bool v213 = v212 < v205;
            const bool v214 = v210 && v213;
            const int v215 = v214 ? v209 : var206;
            var206 = v215;
          }
          const int v216 = var206;
          const int v217 = (int)((unsigned)v204 - (unsigned)v216);
          go_on[v203] = v217;
          const int v218 = (int)((unsigned)k202 + (unsigned)1);
          const int v219 = (int)((unsigned)v218 * (unsigned)4096);
          int var220 = 0;
          for (int k221 = 0; k221 < 12; ++k221) {
            const int v222 = (int)((k221 >= 0 && k221 < 32) ? 2048 >> k221 : (2048 >> 31));
            const int v223 = var220 + v222;
            const bool v224 = v223 <= 3584;
            const int v225 = v223 + (-1);
            const int v226 = v224 ? items[v225] : 0;
            const bool v227 = v226 < v219;
            const bool v228 = v224 && v227;
            const int v229 = v228 ? v223 : var220;
            var220 = v229;
          }
          const int v230 = var220;
          const int v231 = go_on[v203];
          const int v232 = (int)((unsigned)v231 + (unsigned)v230);
          go_on[v203] = v232;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v125) {
        const bool v233 = k129 > 0;
        const bool v234 = v120 || v233;
        for (int k235 = tid1; k235 < n18; k235 += 512) {
          const int v236 = v121 + k235;
          const int v237 = (int)((unsigned)k235 * (unsigned)4096);
          int var238 = 0;
          for (int k239 = 0; k239 < 12; ++k239) {
            const int v240 = (int)((k239 >= 0 && k239 < 32) ? 2048 >> k239 : (2048 >> 31));
            const int v241 = var238 + v240;
            const bool v242 = v241 <= 3584;
            const int v243 = v241 + (-1);
            const int v244 = v242 ? items[v243] : 0;
            const bool v245 = v244 < v237;
            const bool v246 = v242 && v245;
            const int v247 = v246 ? v241 : var238;
            var238 = v247;
          }
          const int v248 = var238;
          const int v249 = (int)((unsigned)total116 + (unsigned)v248);
          int var250 = v249;
          if (v234) {
            const int v251 = go_on[v236];
            var250 = v251;
          }
          const bool v252 = !v233;
          const bool v253 = v236 <= n21;
          const bool v254 = v252 && v253;
          if (v254) {
            start[v236] = var250;
          }
          int var255 = 0;
          for (int k256 = 0; k256 < 12; ++k256) {
            const int v257 = (int)((k256 >= 0 && k256 < 32) ? 2048 >> k256 : (2048 >> 31));
            const int v258 = var255 + v257;
            const bool v259 = v258 <= 3584;
            const int v260 = v258 + (-1);
            const int v261 = v259 ? items[v260] : 0;
            const bool v262 = v261 < v237;
            const bool v263 = v259 && v262;
            const int v264 = v263 ? v258 : var255;
            var255 = v264;
          }
          const int v265 = var255;
          const int v266 = (int)((unsigned)var250 - (unsigned)v265);
          go_on[v236] = v266;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k267 = 0; k267 < 7; ++k267) {
          const int v268 = k267 * 512;
          const int v269 = v268 + tid1;
          const int v270 = (int)((unsigned)k129 + (unsigned)v269);
          const bool v271 = v270 < total114;
          if (v271) {
            const int v272 = items[v269];
            const int v273 = v272 & 4095;
            const int v274 = fw_udiv(v272, 4096);
            const int v275 = v121 + v274;
            const int v276 = go_on[v275];
            const int v277 = v276 + v269;
            const int v278 = others[v273];
            order[v277] = v278;
          }
        }
        if (v118) {
          __syncthreads();  // the chunk is written
          for (int k279 = tid1; k279 < n18; k279 += 512) {
            const int v280 = v121 + k279;
            const int v281 = (int)((unsigned)k279 + (unsigned)1);
            const int v282 = (int)((unsigned)v281 * (unsigned)4096);
            int var283 = 0;
            for (int k284 = 0; k284 < 12; ++k284) {
              const int v285 = (int)((k284 >= 0 && k284 < 32) ? 2048 >> k284 : (2048 >> 31));
              const int v286 = var283 + v285;
              const bool v287 = v286 <= 3584;
              const int v288 = v286 + (-1);
              const int v289 = v287 ? items[v288] : 0;
              const bool v290 = v289 < v282;
              const bool v291 = v287 && v290;
              const int v292 = v291 ? v286 : var283;
              var283 = v292;
            }
            const int v293 = var283;
            const int v294 = go_on[v280];
            const int v295 = (int)((unsigned)v294 + (unsigned)v293);
            go_on[v280] = v295;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v124) {
      int var296 = total116;
      for (int k297 = 0; k297 < n18; k297 += 512) {
        const int v298 = k297 + tid1;
        const bool v299 = v298 < n18;
        const int v300 = v121 + v298;
        const int v301 = v299 ? go_on[v300] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan302[2];
        fw_scan_sum_i32_512x1(v301, scan302, fw_scratch0);
        const int v303 = scan302[0];
        const int v304 = scan302[1];
        if (v299) {
          const int v305 = (int)((unsigned)var296 + (unsigned)v303);
          go_on[v300] = v305;
        }
        const int v306 = (int)((unsigned)var296 + (unsigned)v304);
        var296 = v306;
      }
    }
  }
}

// pieces of rows with many points
extern "C" __global__ void __launch_bounds__(128) scatter_add_2(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    const unsigned short* __restrict__ in2,
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    float* __restrict__ pieces) {
  const int bid2 = blockIdx.x;
  const int tid2 = threadIdx.x;
  const unsigned n10_inverse = 0xffffffffu / (unsigned)n10;
  const int v307 = bid2;
  const int v308 = (int)((unsigned)bid2 - (unsigned)v307);
  const int v309 = v307 * 128;
  const int v310 = v309 + tid2;
  const int v311 = v310 * n24;
  const int v312 = v311 + n25;
  const bool v313 = v310 < n26;
  const long long v325 = (long long)n12;
  if (v313) {
    const int v314 = __ldg(start + n21);
    const bool v315 = v312 < v314;
    if (v315) {
      const int v316 = __ldg(order + v312);
      const int v317 = fw_udiv_by(v316, n10, n10_inverse);
      const int v318 = v317 * n10;
      const int v319 = v316 - v318;
      const int v320 = v317 * n13;
      const int v321 = v317 * n11;
      const int v322 = v321 + v319;
      const long long v323 = __ldg(in0 + v322);
      const bool v324 = v323 < 0ll;
      const long long v326 = v323 + v325;
      const long long v327 = v324 ? v326 : v323;
      const int v328 = (int)v327;
      const int v329 = v320 + v328;
      const int v330 = __ldg(start + v329);
      const int v331 = v329 + 1;
      const int v332 = __ldg(start + v331);
      const int v333 = v311 - v330;
      const int v334 = v333 > 0 ? v333 : 0;
      const int v335 = v334 + n25;
      const int v336 = fw_udiv(v335, n24);
      const int v337 = v336 * n24;
      const int v338 = v330 + v337;
      const int v339 = v338 + n24;
      const bool v340 = v339 <= v332;
      if (v340) {
        float acc341 = 0.0f;
        const int v342 = v339 + (-1);
        for (int k343 = v338; k343 < v339; k343 += 8) {
          const int v344 = __ldg(order + k343);
          const int v345 = fw_udiv_by(v344, n10, n10_inverse);
          const int v346 = v345 * n10;
          const int v347 = v344 - v346;
          const int v348 = v345 * n27;
          const int v349 = v348 + v347;
          const float v350 = fw_bf16_f32(__ldg(in1 + v349));
          const int v351 = k343 + 1;
          const bool v352 = v351 < v339;
          const int v353 = v351 < v342 ? v351 : v342;
          const int v354 = __ldg(order + v353);
          const int v355 = fw_udiv_by(v354, n10, n10_inverse);
          const int v356 = v355 * n10;
          const int v357 = v354 - v356;
          const int v358 = v355 * n27;
          const int v359 = v358 + v357;
          const float v360 = fw_bf16_f32(__ldg(in1 + v359));
          const int v361 = k343 + 2;
          const bool v362 = v361 < v339;
          const int v363 = v361 < v342 ? v361 : v342;
          const int v364 = __ldg(order + v363);
          const int v365 = fw_udiv_by(v364, n10, n10_inverse);
          const int v366 = v365 * n10;
          const int v367 = v364 - v366;
          const int v368 = v365 * n27;
          const int v369 = v368 + v367;
          const float v370 = fw_bf16_f32(__ldg(in1 + v369));
          const int v371 = k343 + 3;
          const bool v372 = v371 < v339;
          const int v373 = v371 < v342 ? v371 : v342;
          const int v374 = __ldg(order + v373);
          const int v375 = fw_udiv_by(v374, n10, n10_inverse);
          const int v376 = v375 * n10;
          const int v377 = v374 - v376;
          const int v378 = v375 * n27;
          const int v379 = v378 + v377;
          const float v380 = fw_bf16_f32(__ldg(in1 + v379));
          const int v381 = k343 + 4;
          const bool v382 = v381 < v339;
          const int v383 = v381 < v342 ? v381 : v342;
          const int v384 = __ldg(order + v383);
          const int v385 = fw_udiv_by(v384, n10, n10_inverse);
          const int v386 = v385 * n10;
          const int v387 = v384 - v386;
          const int v388 = v385 * n27;
          const int v389 = v388 + v387;
          const float v390 = fw_bf16_f32(__ldg(in1 + v389));
          const int v391 = k343 + 5;
          const bool v392 = v391 < v339;
          const int v393 = v391 < v342 ? v391 : v342;
          const int v394 = __ldg(order + v393);
          const int v395 = fw_udiv_by(v394, n10, n10_inverse);
          const int v396 = v395 * n10;
          const int v397 = v394 - v396;
          const int v398 = v395 * n27;
          const int v399 = v398 + v397;
          const float v400 = fw_bf16_f32(__ldg(in1 + v399));
          const int v401 = k343 + 6;
          const bool v402 = v401 < v339;
          const int v403 = v401 < v342 ? v401 : v342;
          const int v404 = __ldg(order + v403);
          const int v405 = fw_udiv_by(v404, n10, n10_inverse);
          const int v406 = v405 * n10;
          const int v407 = v404 - v406;
          const int v408 = v405 * n27;
          const int v409 = v408 + v407;
          const float v410 = fw_bf16_f32(__ldg(in1 + v409));
          const int v411 = k343 + 7;
          const bool v412 = v411 < v339;
          const int v413 = v411 < v342 ? v411 : v342;
          const int v414 = __ldg(order + v413);
          const int v415 = fw_udiv_by(v414, n10, n10_inverse);
          const int v416 = v415 * n10;
          const int v417 = v414 - v416;
          const int v418 = v415 * n27;
          const int v419 = v418 + v417;
          const float v420 = fw_bf16_f32(__ldg(in1 + v419));
          const float v421 = acc341 + v350;
          acc341 = v421;
          const float v422 = acc341 + v360;
          const float v423 = v352 ? v422 : acc341;
          acc341 = v423;
          const float v424 = acc341 + v370;
          const float v425 = v362 ? v424 : acc341;
          acc341 = v425;
          const float v426 = acc341 + v380;
          const float v427 = v372 ? v426 : acc341;
          acc341 = v427;
          const float v428 = acc341 + v390;
          const float v429 = v382 ? v428 : acc341;
          acc341 = v429;
          const float v430 = acc341 + v400;
          const float v431 = v392 ? v430 : acc341;
          acc341 = v431;
          const float v432 = acc341 + v410;
          const float v433 = v402 ? v432 : acc341;
          acc341 = v433;
          const float v434 = acc341 + v420;
          const float v435 = v412 ? v434 : acc341;
          acc341 = v435;
        }
        const float v436 = acc341;
        pieces[v310] = v436;
      }
    }
  }
}

// rows
extern "C" __global__ void __launch_bounds__(128) scatter_add_3(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    const unsigned short* __restrict__ in2,
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    float* __restrict__ pieces) {
  const int bid3 = blockIdx.x;
  const int tid3 = threadIdx.x;
  const unsigned n10_inverse = 0xffffffffu / (unsigned)n10;
  const unsigned n24_inverse = 0xffffffffu / (unsigned)n24;
  const int v437 = bid3;
  const int v438 = (int)((unsigned)bid3 - (unsigned)v437);
  const int v439 = v437 * 128;
  const int v440 = v439 + tid3;
  const bool v441 = v440 < n29;
  const int v442 = n29 + (-1);
  const int v443 = v440 < v442 ? v440 : v442;
  const int v444 = __ldg(start + v443);
  const int v445 = v443 + 1;
  const int v446 = __ldg(start + v445);
  const float v447 = fw_bf16_f32(__ldg(in2 + v443));
  float acc448 = v447;
  const int v449 = fw_udiv_by(v444, n24, n24_inverse);
  const int v450 = v446 - v444;
  const int v451 = fw_udiv_by(v450, n24, n24_inverse);
  const int v452 = v451 + (-1);
  for (int k453 = 0; k453 < v451; k453 += 8) {
    const int v454 = v449 + k453;
    const float v455 = __ldg(pieces + v454);
    const int v456 = k453 + 1;
    const bool v457 = v456 < v451;
    const int v458 = v456 < v452 ? v456 : v452;
    const int v459 = v449 + v458;
    const float v460 = __ldg(pieces + v459);
    const int v461 = k453 + 2;
    const bool v462 = v461 < v451;
    const int v463 = v461 < v452 ? v461 : v452;
    const int v464 = v449 + v463;
    const float v465 = __ldg(pieces + v464);
    const int v466 = k453 + 3;
    const bool v467 = v466 < v451;
    const int v468 = v466 < v452 ? v466 : v452;
    const int v469 = v449 + v468;
    const float v470 = __ldg(pieces + v469);
    const int v471 = k453 + 4;
    const bool v472 = v471 < v451;
    const int v473 = v471 < v452 ? v471 : v452;
    const int v474 = v449 + v473;
    const float v475 = __ldg(pieces + v474);
    const int v476 = k453 + 5;
    const bool v477 = v476 < v451;
    const int v478 = v476 < v452 ? v476 : v452;
    const int v479 = v449 + v478;
    const float v480 = __ldg(pieces + v479);
    const int v481 = k453 + 6;
    const bool v482 = v481 < v451;
    const int v483 = v481 < v452 ? v481 : v452;
    const int v484 = v449 + v483;
    const float v485 = __ldg(pieces + v484);
    const int v486 = k453 + 7;
    const bool v487 = v486 < v451;
    const int v488 = v486 < v452 ? v486 : v452;
    const int v489 = v449 + v488;
    const float v490 = __ldg(pieces + v489);
    const float v491 = acc448 + v455;
    acc448 = v491;
    const float v492 = acc448 + v460;
    const float v493 = v457 ? v492 : acc448;
    acc448 = v493;
    const float v494 = acc448 + v465;
    const float v495 = v462 ? v494 : acc448;
    acc448 = v495;
    const float v496 = acc448 + v470;
    const float v497 = v467 ? v496 : acc448;
    acc448 = v497;
    const float v498 = acc448 + v475;
    const float v499 = v472 ? v498 : acc448;
    acc448 = v499;
    const float v500 = acc448 + v480;
    const float v501 = v477 ? v500 : acc448;
    acc448 = v501;
    const float v502 = acc448 + v485;
    const float v503 = v482 ? v502 : acc448;
    acc448 = v503;
    const float v504 = acc448 + v490;
    const float v505 = v487 ? v504 : acc448;
    acc448 = v505;
  }
  const int v506 = v451 * n24;
  const int v507 = v444 + v506;
  const int v508 = v446 + (-1);
  for (int k509 = v507; k509 < v446; k509 += 8) {
    const int v510 = __ldg(order + k509);
    const int v511 = fw_udiv_by(v510, n10, n10_inverse);
    const int v512 = v511 * n10;
    const int v513 = v510 - v512;
    const int v514 = v511 * n27;
    const int v515 = v514 + v513;
    const float v516 = fw_bf16_f32(__ldg(in1 + v515));
    const int v517 = k509 + 1;
    const bool v518 = v517 < v446;
    const int v519 = v517 < v508 ? v517 : v508;
    const int v520 = __ldg(order + v519);
    const int v521 = fw_udiv_by(v520, n10, n10_inverse);
    const int v522 = v521 * n10;
    const int v523 = v520 - v522;
    const int v524 = v521 * n27;
    const int v525 = v524 + v523;
    const float v526 = fw_bf16_f32(__ldg(in1 + v525));
    const int v527 = k509 + 2;
    const bool v528 = v527 < v446;
    const int v529 = v527 < v508 ? v527 : v508;
    const int v530 = __ldg(order + v529);
    const int v531 = fw_udiv_by(v530, n10, n10_inverse);
    const int v532 = v531 * n10;
    const int v533 = v530 - v532;
    const int v534 = v531 * n27;
    const int v535 = v534 + v533;
    const float v536 = fw_bf16_f32(__ldg(in1 + v535));
    const int v537 = k509 + 3;
    const bool v538 = v537 < v446;
    const int v539 = v537 < v508 ? v537 : v508;
    const int v540 = __ldg(order + v539);
    const int v541 = fw_udiv_by(v540, n10, n10_inverse);
    const int v542 = v541 * n10;
    const int v543 = v540 - v542;
    const int v544 = v541 * n27;
    const int v545 = v544 + v543;
    const float v546 = fw_bf16_f32(__ldg(in1 + v545));
    const int v547 = k509 + 4;
    const bool v548 = v547 < v446;
    const int v549 = v547 < v508 ? v547 : v508;
    const int v550 = __ldg(order + v549);
    const int v551 = fw_udiv_by(v550, n10, n10_inverse);
    const int v552 = v551 * n10;
    const int v553 = v550 - v552;
    const int v554 = v551 * n27;
    const int v555 = v554 + v553;
    const float v556 = fw_bf16_f32(__ldg(in1 + v555));
    const int v557 = k509 + 5;
    const bool v558 = v557 < v446;
    const int v559 = v557 < v508 ? v557 : v508;
    const int v560 = __ldg(order + v559);
    const int v561 = fw_udiv_by(v560, n10, n10_inverse);
    const int v562 = v561 * n10;
    const int v563 = v560 - v562;
    const int v564 = v561 * n27;
    const int v565 = v564 + v563;
    const float v566 = fw_bf16_f32(__ldg(in1 + v565));
    const int v567 = k509 + 6;
    const bool v568 = v567 < v446;
    const int v569 = v567 < v508 ? v567 : v508;
    const int v570 = __ldg(order + v569);
    const int v571 = fw_udiv_by(v570, n10, n10_inverse);
    const int v572 = v571 * n10;
    const int v573 = v570 - v572;
    const int v574 = v571 * n27;
    const int v575 = v574 + v573;
    const float v576 = fw_bf16_f32(__ldg(in1 + v575));
    const int v577 = k509 + 7;
    const bool v578 = v577 < v446;
    const int v579 = v577 < v508 ? v577 : v508;
    const int v580 = __ldg(order + v579);
    const int v581 = fw_udiv_by(v580, n10, n10_inverse);
    const int v582 = v581 * n10;
    const int v583 = v580 - v582;
    const int v584 = v581 * n27;
    const int v585 = v584 + v583;
    const float v586 = fw_bf16_f32(__ldg(in1 + v585));
    const float v587 = acc448 + v516;
    acc448 = v587;
    const float v588 = acc448 + v526;
    const float v589 = v518 ? v588 : acc448;
    acc448 = v589;
    const float v590 = acc448 + v536;
    const float v591 = v528 ? v590 : acc448;
    acc448 = v591;
    const float v592 = acc448 + v546;
    const float v593 = v538 ? v592 : acc448;
    acc448 = v593;
    const float v594 = acc448 + v556;
    const float v595 = v548 ? v594 : acc448;
    acc448 = v595;
    const float v596 = acc448 + v566;
    const float v597 = v558 ? v596 : acc448;
    acc448 = v597;
    const float v598 = acc448 + v576;
    const float v599 = v568 ? v598 : acc448;
    acc448 = v599;
    const float v600 = acc448 + v586;
    const float v601 = v578 ? v600 : acc448;
    acc448 = v601;
  }
  const float v602 = acc448;
  if (v441) {
    out3[v443] = fw_f32_bf16(v602);
  }
}
