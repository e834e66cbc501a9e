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
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
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
  const unsigned n9_inverse = 0xffffffffu / (unsigned)n9;
  const int v1 = bid0 * 3584;
  const long long v16 = (long long)n11;
  #pragma unroll
  for (int k2 = 0; k2 < 7; ++k2) {
    const int v3 = k2 * 512;
    const int v4 = v3 + tid0;
    const int v5 = v1 + v4;
    const bool v6 = v5 < n6;
    const int v7 = n6 + (-1);
    const int v8 = v5 < v7 ? v5 : v7;
    const int v9 = fw_udiv_by(v8, n9, n9_inverse);
    const int v10 = v9 * n9;
    const int v11 = v8 - v10;
    const int v12 = v9 * n10;
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
    int var23 = n8;
    int var24 = 0;
    const int v26 = (int)v18;
    if (v22) {
      const int v25 = v9 * n12;
      const int v27 = v25 + v26;
      const int v28 = fw_udiv_by(v27, n7, n7_inverse);
      const int v29 = (int)((unsigned)v28 * (unsigned)n7);
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
  for (int k33 = 0; k33 < n13; ++k33) {
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
  for (int k79 = tid0; k79 < n15; k79 += 512) {
    const int v80 = k79 * n14;
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
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
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
  const int v94 = bid1 * n14;
  const int v95 = v94 + n14;
  int var96 = 0;
  int var97 = 0;
  int var98 = 0;
  for (int k99 = 0; k99 < n14; k99 += 512) {
    const int v100 = k99 + tid1;
    const bool v101 = v100 < n14;
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
  const bool v118 = tid1 == 0;
  if (v118) {
    bases[bid1] = total116;
    counts[bid1] = total114;
  }
  const bool v119 = total114 > 3584;
  const bool v120 = n21 > 1;
  const bool v121 = v119 && v120;
  const int v122 = bid1 * n21;
  const int v123 = v121 ? 0 : 1;
  const bool v124 = n22 > 0;
  const bool v125 = total114 > 7168;
  const bool v126 = v124 && v125;
  const int v127 = v126 ? 2 : v123;
  for (int k128 = v127; k128 < 2; ++k128) {
    const bool v129 = k128 == 0;
    const bool v130 = !v129;
    if (v129) {
      for (int k131 = tid1; k131 < n21; k131 += 512) {
        const int v132 = v122 + k131;
        go_on[v132] = 0;
      }
    }
    const int v133 = total114 > 1 ? total114 : 1;
    for (int k134 = 0; k134 < v133; k134 += 3584) {
      #pragma unroll
      for (int k135 = 0; k135 < 7; ++k135) {
        held[k135] = 0;
      }
      for (int k136 = 0; k136 < n23; ++k136) {
        const int v137 = (int)((unsigned)n23 + (unsigned)(-1));
        const int v138 = (int)((unsigned)v137 - (unsigned)k136);
        const int v139 = (v138 >= 0 && v138 < 32) ? (int)((unsigned)1 << v138) : (int)0;
        #pragma unroll
        for (int k140 = 0; k140 < 7; ++k140) {
          const int v141 = (int)((unsigned)k140 * (unsigned)512);
          const int v142 = (int)((unsigned)v141 + (unsigned)tid1);
          const int v143 = (int)((unsigned)k134 + (unsigned)v142);
          const int v144 = held[k140];
          const int v145 = v144 + v139;
          const bool v146 = v145 < n14;
          const int v147 = v94 + v145;
          const int v148 = v146 ? before[v147] : 0;
          const bool v149 = v148 <= v143;
          const bool v150 = v146 && v149;
          const int v151 = v150 ? v145 : v144;
          held[k140] = v151;
        }
      }
      #pragma unroll
      for (int k152 = 0; k152 < 7; ++k152) {
        const int v153 = k152 * 512;
        const int v154 = v153 + tid1;
        const int v155 = k134 + v154;
        const bool v156 = v155 < total114;
        const int v157 = held[k152];
        const int v158 = v94 + v157;
        const int v159 = v157 * 3584;
        const int v160 = v156 ? before[v158] : 0;
        const int v161 = v155 - v160;
        const int v162 = v156 ? __ldg(first + v158) : 0;
        const int v163 = v162 + v161;
        const int v164 = v159 + v163;
        const int v165 = v156 ? __ldg(tiles + v164) : 0;
        const int v166 = v165 & 4095;
        const int v167 = (int)((unsigned)v165 - (unsigned)v166);
        const int v168 = (int)((unsigned)v167 + (unsigned)v154);
        const int v169 = v156 ? v168 : 2147483647;
        items[v154] = v169;
        const int v170 = (int)((unsigned)v159 + (unsigned)v166);
        others[v154] = v170;
      }
      __syncthreads();  // the bucket's points are there
      for (int k171 = 0; k171 < n24; ++k171) {
        const int v172 = (int)((unsigned)k171 * (unsigned)2);
        const int v173 = (int)((unsigned)v172 + (unsigned)12);
        const int v174 = tid1 * 7;
        long long var175 = 0ll;
        #pragma unroll
        for (int k176 = 0; k176 < 7; ++k176) {
          const int v177 = v174 + k176;
          const int v178 = items[v177];
          held[k176] = v178;
          const int v179 = (int)((v173 >= 0 && v173 < 32) ? v178 >> v173 : (v178 >> 31));
          const int v180 = v179 & 3;
          const int v181 = (int)((unsigned)v180 * (unsigned)16);
          const long long v182 = (long long)v181;
          const long long v183 = (v182 >= 0 && v182 < 64) ? (long long)((unsigned long long)1ll << v182) : (long long)0;
          const long long v184 = (long long)((unsigned long long)var175 + (unsigned long long)v183);
          var175 = v184;
        }
        const long long v185 = var175;
        long long scan186[2];
        fw_scan_sum_i64_512x1(v185, scan186, fw_scratch0);
        const long long v187 = scan186[0];
        const long long v188 = scan186[1];
        const long long v189 = (long long)((unsigned long long)v188 << 16ll);
        const long long v190 = (long long)((unsigned long long)v187 + (unsigned long long)v189);
        const long long v191 = (long long)((unsigned long long)v188 << 32ll);
        const long long v192 = (long long)((unsigned long long)v190 + (unsigned long long)v191);
        const long long v193 = (long long)((unsigned long long)v188 << 48ll);
        const long long v194 = (long long)((unsigned long long)v192 + (unsigned long long)v193);
        long long var195 = v194;
        #pragma unroll
        for (int k196 = 0; k196 < 7; ++k196) {
          const int v197 = held[k196];
          const int v198 = (int)((v173 >= 0 && v173 < 32) ? v197 >> v173 : (v197 >> 31));
          const int v199 = v198 & 3;
          const int v200 = (int)((unsigned)v199 * (unsigned)16);
          const long long v201 = (long long)v200;
          const long long v202 = (long long)((v201 >= 0 && v201 < 64) ? var195 >> v201 : (var195 >> 63));
          const long long v203 = v202 & 65535ll;
          const int v204 = (int)v203;
          items[v204] = v197;
          const long long v205 = (v201 >= 0 && v201 < 64) ? (long long)((unsigned long long)1ll << v201) : (long long)0;
          const long long v206 = (long long)((unsigned long long)var195 + (unsigned long long)v205);
          var195 = v206;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v129) {
        for (int k207 = tid1; k207 < n21; k207 += 512) {
          const int v208 = v122 + k207;
          const int v209 = go_on[v208];
          const int v210 = (int)((unsigned)k207 * (unsigned)4096);
          int var211 = 0;
          for (int k212 = 0; k212 < 12; ++k212) {
            const int v213 = (int)((k212 >= 0 && k212 < 32) ? 2048 >> k212 : (2048 >> 31));
            const int v214 = var211 + v213;
            const bool v215 = v214 <= 3584;
            const int v216 = v214 + (-1);
            const int v217 = v215 ? items[v216] : 0;
            const bool v218 = v217 < v210;
            const bool v219 = v215 && v218;
            const int v220 = v219 ? v214 : var211;
            var211 = v220;
          }
          const int v221 = var211;
          const int v222 = (int)((unsigned)v209 - (unsigned)v221);
          go_on[v208] = v222;
          const int v223 = (int)((unsigned)k207 + (unsigned)1);
          const int v224 = (int)((unsigned)v223 * (unsigned)4096);
          int var225 = 0;
          for (int k226 = 0; k226 < 12; ++k226) {
            const int v227 = (int)((k226 >= 0 && k226 < 32) ? 2048 >> k226 : (2048 >> 31));
            const int v228 = var225 + v227;
            const bool v229 = v228 <= 3584;
            const int v230 = v228 + (-1);
            const int v231 = v229 ? items[v230] : 0;
            const bool v232 = v231 < v224;
            const bool v233 = v229 && v232;
            const int v234 = v233 ? v228 : var225;
            var225 = v234;
          }
          const int v235 = var225;
          const int v236 = go_on[v208];
          const int v237 = (int)((unsigned)v236 + (unsigned)v235);
          go_on[v208] = v237;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v130) {
        const bool v238 = k134 > 0;
        const bool v239 = v121 || v238;
        for (int k240 = tid1; k240 < n21; k240 += 512) {
          const int v241 = v122 + k240;
          const int v242 = (int)((unsigned)k240 * (unsigned)4096);
          int var243 = 0;
          for (int k244 = 0; k244 < 12; ++k244) {
            const int v245 = (int)((k244 >= 0 && k244 < 32) ? 2048 >> k244 : (2048 >> 31));
            const int v246 = var243 + v245;
            const bool v247 = v246 <= 3584;
            const int v248 = v246 + (-1);
            const int v249 = v247 ? items[v248] : 0;
            const bool v250 = v249 < v242;
            const bool v251 = v247 && v250;
            const int v252 = v251 ? v246 : var243;
            var243 = v252;
          }
          const int v253 = var243;
          const int v254 = (int)((unsigned)total116 + (unsigned)v253);
          int var255 = v254;
          if (v239) {
            const int v256 = go_on[v241];
            var255 = v256;
          }
          const bool v257 = !v238;
          const bool v258 = v241 <= n25;
          const bool v259 = v257 && v258;
          if (v259) {
            start[v241] = var255;
          }
          int var260 = 0;
          for (int k261 = 0; k261 < 12; ++k261) {
            const int v262 = (int)((k261 >= 0 && k261 < 32) ? 2048 >> k261 : (2048 >> 31));
            const int v263 = var260 + v262;
            const bool v264 = v263 <= 3584;
            const int v265 = v263 + (-1);
            const int v266 = v264 ? items[v265] : 0;
            const bool v267 = v266 < v242;
            const bool v268 = v264 && v267;
            const int v269 = v268 ? v263 : var260;
            var260 = v269;
          }
          const int v270 = var260;
          const int v271 = (int)((unsigned)var255 - (unsigned)v270);
          go_on[v241] = v271;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k272 = 0; k272 < 7; ++k272) {
          const int v273 = k272 * 512;
          const int v274 = v273 + tid1;
          const int v275 = (int)((unsigned)k134 + (unsigned)v274);
          const bool v276 = v275 < total114;
          if (v276) {
            const int v277 = items[v274];
            const int v278 = v277 & 4095;
            const int v279 = fw_udiv(v277, 4096);
            const int v280 = v122 + v279;
            const int v281 = go_on[v280];
            const int v282 = v281 + v274;
            const int v283 = others[v278];
            order[v282] = v283;
          }
        }
        if (v119) {
          __syncthreads();  // the chunk is written
          for (int k284 = tid1; k284 < n21; k284 += 512) {
            const int v285 = v122 + k284;
            const int v286 = (int)((unsigned)k284 + (unsigned)1);
            const int v287 = (int)((unsigned)v286 * (unsigned)4096);
            int var288 = 0;
            for (int k289 = 0; k289 < 12; ++k289) {
              const int v290 = (int)((k289 >= 0 && k289 < 32) ? 2048 >> k289 : (2048 >> 31));
              const int v291 = var288 + v290;
              const bool v292 = v291 <= 3584;
              const int v293 = v291 + (-1);
              const int v294 = v292 ? items[v293] : 0;
              const bool v295 = v294 < v287;
              const bool v296 = v292 && v295;
              const int v297 = v296 ? v291 : var288;
              var288 = v297;
            }
            const int v298 = var288;
            const int v299 = go_on[v285];
            const int v300 = (int)((unsigned)v299 + (unsigned)v298);
            go_on[v285] = v300;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v129) {
      int var301 = total116;
      for (int k302 = 0; k302 < n21; k302 += 512) {
        const int v303 = k302 + tid1;
        const bool v304 = v303 < n21;
        const int v305 = v122 + v303;
        const int v306 = v304 ? go_on[v305] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan307[2];
        fw_scan_sum_i32_512x1(v306, scan307, fw_scratch0);
        const int v308 = scan307[0];
        const int v309 = scan307[1];
        if (v304) {
          const int v310 = (int)((unsigned)var301 + (unsigned)v308);
          go_on[v305] = v310;
        }
        const int v311 = (int)((unsigned)var301 + (unsigned)v309);
        var301 = v311;
      }
    }
  }
}

// crowded buckets, chunk by chunk: points of each row
extern "C" __global__ void __launch_bounds__(512) scatter_add_2(
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
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
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
  const bool v312 = bid2 >= n8;
  const int v313 = bid2 - n8;
  const int v314 = v313 * 3584;
  int var315 = 0;
  for (int k316 = tid2; k316 < n8; k316 += 512) {
    const int v317 = __ldg(bases + k316);
    const int v318 = __ldg(counts + k316);
    const int v319 = v314 - v317;
    const int v320 = v319 > 0 ? v319 : 0;
    const int v321 = v320 + 3583;
    const int v322 = fw_udiv(v321, 3584);
    const int v323 = v322 * 3584;
    const int v324 = (int)((unsigned)v317 + (unsigned)v323);
    const int v325 = (int)((unsigned)v314 + (unsigned)3584);
    const bool v326 = v324 < v325;
    const bool v327 = v323 > 0;
    const bool v328 = v323 < v318;
    const bool v329 = v327 && v328;
    const bool v330 = v326 && v329;
    const bool v331 = v312 && v330;
    const bool v332 = bid2 == k316;
    const bool v333 = v332 || v331;
    const bool v334 = n22 > 0;
    const bool v335 = v318 > 7168;
    const bool v336 = v334 && v335;
    const bool v337 = v336 && v333;
    const int v338 = (int)((unsigned)k316 + (unsigned)1);
    const int v339 = v337 ? v338 : var315;
    var315 = v339;
  }
  const int v341 = var315;
  const int total340 = fw_sum_i32_512x1(v341, fw_scratch0);
  const bool v342 = total340 > 0;
  if (v342) {
    const int v343 = total340 + (-1);
    const int v344 = __ldg(bases + v343);
    const int v345 = __ldg(counts + v343);
    const int v346 = v314 - v344;
    const int v347 = v346 > 0 ? v346 : 0;
    const int v348 = v347 + 3583;
    const int v349 = fw_udiv(v348, 3584);
    const int v350 = v349 * 3584;
    const int v351 = v312 ? v350 : 0;
    const int v352 = v343 * n14;
    const bool v353 = n21 > 1;
    const int v354 = (int)((unsigned)v343 * (unsigned)n21);
    const int v355 = bid2 * n21;
    if (v353) {
      #pragma unroll
      for (int k356 = 0; k356 < 7; ++k356) {
        held[k356] = 0;
      }
      for (int k357 = 0; k357 < n23; ++k357) {
        const int v358 = (int)((unsigned)n23 + (unsigned)(-1));
        const int v359 = (int)((unsigned)v358 - (unsigned)k357);
        const int v360 = (v359 >= 0 && v359 < 32) ? (int)((unsigned)1 << v359) : (int)0;
        #pragma unroll
        for (int k361 = 0; k361 < 7; ++k361) {
          const int v362 = (int)((unsigned)k361 * (unsigned)512);
          const int v363 = (int)((unsigned)v362 + (unsigned)tid2);
          const int v364 = (int)((unsigned)v351 + (unsigned)v363);
          const int v365 = held[k361];
          const int v366 = v365 + v360;
          const bool v367 = v366 < n14;
          const int v368 = v352 + v366;
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
        const int v376 = v351 + v375;
        const bool v377 = v376 < v345;
        const int v378 = held[k373];
        const int v379 = v352 + v378;
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
      for (int k392 = 0; k392 < n24; ++k392) {
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
      for (int k428 = tid2; k428 < n21; k428 += 512) {
        const int v429 = (int)((unsigned)v354 + (unsigned)k428);
        const int v430 = (int)((unsigned)k428 + (unsigned)1);
        const int v431 = (int)((unsigned)v430 * (unsigned)4096);
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
        const int v443 = (int)((unsigned)k428 * (unsigned)4096);
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
        const int v455 = (int)((unsigned)v442 - (unsigned)v454);
        const int v456 = v355 + k428;
        crowd_counts[v456] = v455;
      }
    }
  }
}

// crowded buckets, chunk by chunk: points by row
extern "C" __global__ void __launch_bounds__(512) scatter_add_3(
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
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
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
  const bool v457 = bid3 >= n8;
  const int v458 = bid3 - n8;
  const int v459 = v458 * 3584;
  int var460 = 0;
  for (int k461 = tid3; k461 < n8; k461 += 512) {
    const int v462 = __ldg(bases + k461);
    const int v463 = __ldg(counts + k461);
    const int v464 = v459 - v462;
    const int v465 = v464 > 0 ? v464 : 0;
    const int v466 = v465 + 3583;
    const int v467 = fw_udiv(v466, 3584);
    const int v468 = v467 * 3584;
    const int v469 = (int)((unsigned)v462 + (unsigned)v468);
    const int v470 = (int)((unsigned)v459 + (unsigned)3584);
    const bool v471 = v469 < v470;
    const bool v472 = v468 > 0;
    const bool v473 = v468 < v463;
    const bool v474 = v472 && v473;
    const bool v475 = v471 && v474;
    const bool v476 = v457 && v475;
    const bool v477 = bid3 == k461;
    const bool v478 = v477 || v476;
    const bool v479 = n22 > 0;
    const bool v480 = v463 > 7168;
    const bool v481 = v479 && v480;
    const bool v482 = v481 && v478;
    const int v483 = (int)((unsigned)k461 + (unsigned)1);
    const int v484 = v482 ? v483 : var460;
    var460 = v484;
  }
  const int v486 = var460;
  const int total485 = fw_sum_i32_512x1(v486, fw_scratch0);
  const bool v487 = total485 > 0;
  if (v487) {
    const int v488 = total485 + (-1);
    const int v489 = __ldg(bases + v488);
    const int v490 = __ldg(counts + v488);
    const int v491 = v459 - v489;
    const int v492 = v491 > 0 ? v491 : 0;
    const int v493 = v492 + 3583;
    const int v494 = fw_udiv(v493, 3584);
    const int v495 = v494 * 3584;
    const int v496 = v457 ? v495 : 0;
    const int v497 = v488 * n14;
    const bool v498 = n21 > 1;
    const int v499 = v488 * n21;
    const int v500 = bid3 * n21;
    #pragma unroll
    for (int k501 = 0; k501 < 7; ++k501) {
      held[k501] = 0;
    }
    for (int k502 = 0; k502 < n23; ++k502) {
      const int v503 = (int)((unsigned)n23 + (unsigned)(-1));
      const int v504 = (int)((unsigned)v503 - (unsigned)k502);
      const int v505 = (v504 >= 0 && v504 < 32) ? (int)((unsigned)1 << v504) : (int)0;
      #pragma unroll
      for (int k506 = 0; k506 < 7; ++k506) {
        const int v507 = (int)((unsigned)k506 * (unsigned)512);
        const int v508 = (int)((unsigned)v507 + (unsigned)tid3);
        const int v509 = (int)((unsigned)v496 + (unsigned)v508);
        const int v510 = held[k506];
        const int v511 = v510 + v505;
        const bool v512 = v511 < n14;
        const int v513 = v497 + v511;
        const int v514 = v512 ? __ldg(before + v513) : 0;
        const bool v515 = v514 <= v509;
        const bool v516 = v512 && v515;
        const int v517 = v516 ? v511 : v510;
        held[k506] = v517;
      }
    }
    #pragma unroll
    for (int k518 = 0; k518 < 7; ++k518) {
      const int v519 = k518 * 512;
      const int v520 = v519 + tid3;
      const int v521 = v496 + v520;
      const bool v522 = v521 < v490;
      const int v523 = held[k518];
      const int v524 = v497 + v523;
      const int v525 = v523 * 3584;
      const int v526 = v522 ? __ldg(before + v524) : 0;
      const int v527 = v521 - v526;
      const int v528 = v522 ? __ldg(first + v524) : 0;
      const int v529 = v528 + v527;
      const int v530 = v525 + v529;
      const int v531 = v522 ? __ldg(tiles + v530) : 0;
      const int v532 = v531 & 4095;
      const int v533 = (int)((unsigned)v531 - (unsigned)v532);
      const int v534 = (int)((unsigned)v533 + (unsigned)v520);
      const int v535 = v522 ? v534 : 2147483647;
      items[v520] = v535;
      const int v536 = (int)((unsigned)v525 + (unsigned)v532);
      others[v520] = v536;
    }
    __syncthreads();  // the bucket's points are there
    for (int k537 = 0; k537 < n24; ++k537) {
      const int v538 = (int)((unsigned)k537 * (unsigned)2);
      const int v539 = (int)((unsigned)v538 + (unsigned)12);
      const int v540 = tid3 * 7;
      long long var541 = 0ll;
      #pragma unroll
      for (int k542 = 0; k542 < 7; ++k542) {
        const int v543 = v540 + k542;
        const int v544 = items[v543];
        held[k542] = v544;
        const int v545 = (int)((v539 >= 0 && v539 < 32) ? v544 >> v539 : (v544 >> 31));
        const int v546 = v545 & 3;
        const int v547 = (int)((unsigned)v546 * (unsigned)16);
        const long long v548 = (long long)v547;
        const long long v549 = (v548 >= 0 && v548 < 64) ? (long long)((unsigned long long)1ll << v548) : (long long)0;
        const long long v550 = (long long)((unsigned long long)var541 + (unsigned long long)v549);
        var541 = v550;
      }
      const long long v551 = var541;
      long long scan552[2];
      fw_scan_sum_i64_512x1(v551, scan552, fw_scratch0);
      const long long v553 = scan552[0];
      const long long v554 = scan552[1];
      const long long v555 = (long long)((unsigned long long)v554 << 16ll);
      const long long v556 = (long long)((unsigned long long)v553 + (unsigned long long)v555);
      const long long v557 = (long long)((unsigned long long)v554 << 32ll);
      const long long v558 = (long long)((unsigned long long)v556 + (unsigned long long)v557);
      const long long v559 = (long long)((unsigned long long)v554 << 48ll);
      const long long v560 = (long long)((unsigned long long)v558 + (unsigned long long)v559);
      long long var561 = v560;
      #pragma unroll
      for (int k562 = 0; k562 < 7; ++k562) {
        const int v563 = held[k562];
        const int v564 = (int)((v539 >= 0 && v539 < 32) ? v563 >> v539 : (v563 >> 31));
        const int v565 = v564 & 3;
        const int v566 = (int)((unsigned)v565 * (unsigned)16);
        const long long v567 = (long long)v566;
        const long long v568 = (long long)((v567 >= 0 && v567 < 64) ? var561 >> v567 : (var561 >> 63));
        const long long v569 = v568 & 65535ll;
        const int v570 = (int)v569;
        items[v570] = v563;
        const long long v571 = (v567 >= 0 && v567 < 64) ? (long long)((unsigned long long)1ll << v567) : (long long)0;
        const long long v572 = (long long)((unsigned long long)var561 + (unsigned long long)v571);
        var561 = v572;
      }
      __syncthreads();  // the items are sorted by two more bits
    }
    const int v573 = fw_udiv(v489, 3584);
    const int v574 = n8 + v573;
    const int v575 = fw_udiv(v496, 3584);
    const int v576 = v490 + 3583;
    const int v577 = fw_udiv(v576, 3584);
    const int v578 = v498 ? v577 : 0;
    int var579 = v489;
    for (int k580 = 0; k580 < n21; k580 += 512) {
      const int v581 = k580 + tid3;
      const bool v582 = v581 < n21;
      const int v583 = v499 + v581;
      const int v584 = v498 ? 0 : v496;
      int var585 = v584;
      int var586 = 0;
      for (int k587 = 0; k587 < v578; ++k587) {
        const bool v588 = k587 > 0;
        const int v589 = v574 + k587;
        const int v590 = v588 ? v589 : v488;
        const int v591 = v590 * n21;
        const int v592 = v591 + v581;
        const int v593 = v582 ? __ldg(crowd_counts + v592) : 0;
        const int v594 = (int)((unsigned)var586 + (unsigned)v593);
        var586 = v594;
        const bool v595 = k587 < v575;
        const int v596 = v595 ? v593 : 0;
        const int v597 = (int)((unsigned)var585 + (unsigned)v596);
        var585 = v597;
      }
      const int v598 = var586;
      __syncthreads();  // all have read the results of the collective before
      int scan599[2];
      fw_scan_sum_i32_512x1(v598, scan599, fw_scratch0);
      const int v600 = scan599[0];
      const int v601 = scan599[1];
      const int v602 = (int)((unsigned)var579 + (unsigned)v600);
      if (v582) {
        const int v603 = (int)((unsigned)v602 + (unsigned)var585);
        const int v604 = (int)((unsigned)v581 * (unsigned)4096);
        int var605 = 0;
        for (int k606 = 0; k606 < 12; ++k606) {
          const int v607 = (int)((k606 >= 0 && k606 < 32) ? 2048 >> k606 : (2048 >> 31));
          const int v608 = var605 + v607;
          const bool v609 = v608 <= 3584;
          const int v610 = v608 + (-1);
          const int v611 = v609 ? items[v610] : 0;
          const bool v612 = v611 < v604;
          const bool v613 = v609 && v612;
          const int v614 = v613 ? v608 : var605;
          var605 = v614;
        }
        const int v615 = var605;
        const int v616 = (int)((unsigned)v603 - (unsigned)v615);
        const int v617 = v500 + v581;
        go_on[v617] = v616;
        const bool v618 = v496 == 0;
        const bool v619 = v583 <= n25;
        const bool v620 = v618 && v619;
        if (v620) {
          start[v583] = v602;
        }
      }
      const int v621 = (int)((unsigned)var579 + (unsigned)v601);
      var579 = v621;
    }
    __syncthreads();  // where each row goes on is known
    #pragma unroll
    for (int k622 = 0; k622 < 7; ++k622) {
      const int v623 = k622 * 512;
      const int v624 = v623 + tid3;
      const int v625 = (int)((unsigned)v496 + (unsigned)v624);
      const bool v626 = v625 < v490;
      if (v626) {
        const int v627 = items[v624];
        const int v628 = v627 & 4095;
        const int v629 = fw_udiv(v627, 4096);
        const int v630 = v500 + v629;
        const int v631 = go_on[v630];
        const int v632 = v631 + v624;
        const int v633 = others[v628];
        order[v632] = v633;
      }
    }
  }
}

// pieces of rows with many points
extern "C" __global__ void __launch_bounds__(128) scatter_add_4(
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
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
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
  const unsigned n9_inverse = 0xffffffffu / (unsigned)n9;
  const int v634 = bid4;
  const int v635 = (int)((unsigned)bid4 - (unsigned)v634);
  const int v636 = v634 * 128;
  const int v637 = v636 + tid4;
  const bool v638 = v637 < n30;
  const long long v652 = (long long)n11;
  if (v638) {
    const int v639 = v637 * n31;
    const int v640 = v639 + n32;
    const int v641 = __ldg(start + n25);
    const bool v642 = v640 < v641;
    if (v642) {
      const int v643 = __ldg(order + v640);
      const int v644 = fw_udiv_by(v643, n9, n9_inverse);
      const int v645 = v644 * n9;
      const int v646 = v643 - v645;
      const int v647 = v644 * n12;
      const int v648 = v644 * n10;
      const int v649 = v648 + v646;
      const long long v650 = __ldg(in0 + v649);
      const bool v651 = v650 < 0ll;
      const long long v653 = v650 + v652;
      const long long v654 = v651 ? v653 : v650;
      const int v655 = (int)v654;
      const int v656 = v647 + v655;
      const int v657 = __ldg(start + v656);
      const int v658 = v656 + 1;
      const int v659 = __ldg(start + v658);
      const int v660 = v637 * n31;
      const int v661 = v660 - v657;
      const int v662 = v661 > 0 ? v661 : 0;
      const int v663 = v662 + n32;
      const int v664 = fw_udiv(v663, n31);
      const int v665 = v664 * n31;
      const int v666 = v657 + v665;
      const int v667 = v666 + n31;
      const bool v668 = v667 <= v659;
      if (v668) {
        float acc669 = 0.0f;
        const int v670 = v667 + (-1);
        for (int k671 = v666; k671 < v667; k671 += 8) {
          const int v672 = __ldg(order + k671);
          const int v673 = fw_udiv_by(v672, n9, n9_inverse);
          const int v674 = v673 * n9;
          const int v675 = v672 - v674;
          const int v676 = v673 * n33;
          const int v677 = v676 + v675;
          const float v678 = fw_bf16_f32(__ldg(in1 + v677));
          const int v679 = k671 + 1;
          const bool v680 = v679 < v667;
          const int v681 = v679 < v670 ? v679 : v670;
          const int v682 = __ldg(order + v681);
          const int v683 = fw_udiv_by(v682, n9, n9_inverse);
          const int v684 = v683 * n9;
          const int v685 = v682 - v684;
          const int v686 = v683 * n33;
          const int v687 = v686 + v685;
          const float v688 = fw_bf16_f32(__ldg(in1 + v687));
          const int v689 = k671 + 2;
          const bool v690 = v689 < v667;
          const int v691 = v689 < v670 ? v689 : v670;
          const int v692 = __ldg(order + v691);
          const int v693 = fw_udiv_by(v692, n9, n9_inverse);
          const int v694 = v693 * n9;
          const int v695 = v692 - v694;
          const int v696 = v693 * n33;
          const int v697 = v696 + v695;
          const float v698 = fw_bf16_f32(__ldg(in1 + v697));
          const int v699 = k671 + 3;
          const bool v700 = v699 < v667;
          const int v701 = v699 < v670 ? v699 : v670;
          const int v702 = __ldg(order + v701);
          const int v703 = fw_udiv_by(v702, n9, n9_inverse);
          const int v704 = v703 * n9;
          const int v705 = v702 - v704;
          const int v706 = v703 * n33;
          const int v707 = v706 + v705;
          const float v708 = fw_bf16_f32(__ldg(in1 + v707));
          const int v709 = k671 + 4;
          const bool v710 = v709 < v667;
          const int v711 = v709 < v670 ? v709 : v670;
          const int v712 = __ldg(order + v711);
          const int v713 = fw_udiv_by(v712, n9, n9_inverse);
          const int v714 = v713 * n9;
          const int v715 = v712 - v714;
          const int v716 = v713 * n33;
          const int v717 = v716 + v715;
          const float v718 = fw_bf16_f32(__ldg(in1 + v717));
          const int v719 = k671 + 5;
          const bool v720 = v719 < v667;
          const int v721 = v719 < v670 ? v719 : v670;
          const int v722 = __ldg(order + v721);
          const int v723 = fw_udiv_by(v722, n9, n9_inverse);
          const int v724 = v723 * n9;
          const int v725 = v722 - v724;
          const int v726 = v723 * n33;
          const int v727 = v726 + v725;
          const float v728 = fw_bf16_f32(__ldg(in1 + v727));
          const int v729 = k671 + 6;
          const bool v730 = v729 < v667;
          const int v731 = v729 < v670 ? v729 : v670;
          const int v732 = __ldg(order + v731);
          const int v733 = fw_udiv_by(v732, n9, n9_inverse);
          const int v734 = v733 * n9;
          const int v735 = v732 - v734;
          const int v736 = v733 * n33;
          const int v737 = v736 + v735;
          const float v738 = fw_bf16_f32(__ldg(in1 + v737));
          const int v739 = k671 + 7;
          const bool v740 = v739 < v667;
          const int v741 = v739 < v670 ? v739 : v670;
          const int v742 = __ldg(order + v741);
          const int v743 = fw_udiv_by(v742, n9, n9_inverse);
          const int v744 = v743 * n9;
          const int v745 = v742 - v744;
          const int v746 = v743 * n33;
          const int v747 = v746 + v745;
          const float v748 = fw_bf16_f32(__ldg(in1 + v747));
          const float v749 = acc669 + v678;
          acc669 = v749;
          const float v750 = acc669 + v688;
          const float v751 = v680 ? v750 : acc669;
          acc669 = v751;
          const float v752 = acc669 + v698;
          const float v753 = v690 ? v752 : acc669;
          acc669 = v753;
          const float v754 = acc669 + v708;
          const float v755 = v700 ? v754 : acc669;
          acc669 = v755;
          const float v756 = acc669 + v718;
          const float v757 = v710 ? v756 : acc669;
          acc669 = v757;
          const float v758 = acc669 + v728;
          const float v759 = v720 ? v758 : acc669;
          acc669 = v759;
          const float v760 = acc669 + v738;
          const float v761 = v730 ? v760 : acc669;
          acc669 = v761;
          const float v762 = acc669 + v748;
          const float v763 = v740 ? v762 : acc669;
          acc669 = v763;
        }
        const float v764 = acc669;
        pieces[v637] = v764;
      }
    }
  }
}

// runs of pieces of rows with very many
extern "C" __global__ void __launch_bounds__(128) scatter_add_5(
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
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
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
  const int v765 = bid5;
  const int v766 = (int)((unsigned)bid5 - (unsigned)v765);
  const int v767 = v765 * 128;
  const int v768 = v767 + tid5;
  const bool v769 = v768 < n35;
  const long long v785 = (long long)n11;
  if (v769) {
    const int v770 = v768 * n31;
    const int v771 = v770 + n32;
    const int v772 = v771 * n31;
    const int v773 = v772 + n32;
    const int v774 = __ldg(start + n25);
    const bool v775 = v773 < v774;
    if (v775) {
      const int v776 = __ldg(order + v773);
      const int v777 = fw_udiv(v776, n9);
      const int v778 = v777 * n9;
      const int v779 = v776 - v778;
      const int v780 = v777 * n12;
      const int v781 = v777 * n10;
      const int v782 = v781 + v779;
      const long long v783 = __ldg(in0 + v782);
      const bool v784 = v783 < 0ll;
      const long long v786 = v783 + v785;
      const long long v787 = v784 ? v786 : v783;
      const int v788 = (int)v787;
      const int v789 = v780 + v788;
      const int v790 = __ldg(start + v789);
      const int v791 = v789 + 1;
      const int v792 = __ldg(start + v791);
      const int v793 = fw_udiv_by(v790, n31, n31_inverse);
      const int v794 = v792 - v790;
      const int v795 = fw_udiv_by(v794, n31, n31_inverse);
      const int v796 = v793 + v795;
      const int v797 = v768 * n31;
      const int v798 = v797 - v793;
      const int v799 = v798 > 0 ? v798 : 0;
      const int v800 = v799 + n32;
      const int v801 = fw_udiv_by(v800, n31, n31_inverse);
      const int v802 = v801 * n31;
      const int v803 = v793 + v802;
      const int v804 = v803 + n31;
      const bool v805 = v804 <= v796;
      if (v805) {
        float acc806 = 0.0f;
        const int v807 = v804 + (-1);
        for (int k808 = v803; k808 < v804; k808 += 8) {
          const float v809 = pieces[k808];
          const int v810 = k808 + 1;
          const bool v811 = v810 < v804;
          const int v812 = v810 < v807 ? v810 : v807;
          const float v813 = pieces[v812];
          const int v814 = k808 + 2;
          const bool v815 = v814 < v804;
          const int v816 = v814 < v807 ? v814 : v807;
          const float v817 = pieces[v816];
          const int v818 = k808 + 3;
          const bool v819 = v818 < v804;
          const int v820 = v818 < v807 ? v818 : v807;
          const float v821 = pieces[v820];
          const int v822 = k808 + 4;
          const bool v823 = v822 < v804;
          const int v824 = v822 < v807 ? v822 : v807;
          const float v825 = pieces[v824];
          const int v826 = k808 + 5;
          const bool v827 = v826 < v804;
          const int v828 = v826 < v807 ? v826 : v807;
          const float v829 = pieces[v828];
          const int v830 = k808 + 6;
          const bool v831 = v830 < v804;
          const int v832 = v830 < v807 ? v830 : v807;
          const float v833 = pieces[v832];
          const int v834 = k808 + 7;
          const bool v835 = v834 < v804;
          const int v836 = v834 < v807 ? v834 : v807;
          const float v837 = pieces[v836];
          const float v838 = acc806 + v809;
          acc806 = v838;
          const float v839 = acc806 + v813;
          const float v840 = v811 ? v839 : acc806;
          acc806 = v840;
          const float v841 = acc806 + v817;
          const float v842 = v815 ? v841 : acc806;
          acc806 = v842;
          const float v843 = acc806 + v821;
          const float v844 = v819 ? v843 : acc806;
          acc806 = v844;
          const float v845 = acc806 + v825;
          const float v846 = v823 ? v845 : acc806;
          acc806 = v846;
          const float v847 = acc806 + v829;
          const float v848 = v827 ? v847 : acc806;
          acc806 = v848;
          const float v849 = acc806 + v833;
          const float v850 = v831 ? v849 : acc806;
          acc806 = v850;
          const float v851 = acc806 + v837;
          const float v852 = v835 ? v851 : acc806;
          acc806 = v852;
        }
        const int v853 = v768 + n36;
        const float v854 = acc806;
        pieces[v853] = v854;
      }
    }
  }
}

// rows
extern "C" __global__ void __launch_bounds__(128) scatter_add_6(
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
    int n30,
    int n31,
    int n32,
    int n33,
    int n34,
    int n35,
    int n36,
    int n37,
    int n38,
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
  const unsigned n9_inverse = 0xffffffffu / (unsigned)n9;
  const unsigned n31_inverse = 0xffffffffu / (unsigned)n31;
  const int v855 = bid6;
  const int v856 = (int)((unsigned)bid6 - (unsigned)v855);
  const int v857 = v855 * 128;
  const int v858 = v857 + tid6;
  const bool v859 = v858 < n38;
  const int v860 = n38 + (-1);
  const int v861 = v858 < v860 ? v858 : v860;
  const int v862 = __ldg(start + v861);
  const int v863 = v861 + 1;
  const int v864 = __ldg(start + v863);
  const float v865 = fw_bf16_f32(__ldg(in2 + v861));
  float acc866 = v865;
  const int v867 = fw_udiv_by(v862, n31, n31_inverse);
  const int v868 = v864 - v862;
  const int v869 = fw_udiv_by(v868, n31, n31_inverse);
  const int v870 = v867 + v869;
  const int v871 = fw_udiv_by(v867, n31, n31_inverse);
  const int v872 = v870 - v867;
  const int v873 = fw_udiv_by(v872, n31, n31_inverse);
  const int v874 = v871 + n36;
  const int v875 = v873 * n32;
  const int v876 = v867 + v875;
  const int v877 = v869 - v875;
  const int v878 = v877 + (-1);
  for (int k879 = 0; k879 < v877; k879 += 8) {
    const bool v880 = k879 < v873;
    const int v881 = v880 ? v874 : v876;
    const int v882 = k879 + v881;
    const float v883 = __ldg(pieces + v882);
    const int v884 = k879 + 1;
    const bool v885 = v884 < v877;
    const int v886 = v884 < v878 ? v884 : v878;
    const bool v887 = v886 < v873;
    const int v888 = v887 ? v874 : v876;
    const int v889 = v886 + v888;
    const float v890 = __ldg(pieces + v889);
    const int v891 = k879 + 2;
    const bool v892 = v891 < v877;
    const int v893 = v891 < v878 ? v891 : v878;
    const bool v894 = v893 < v873;
    const int v895 = v894 ? v874 : v876;
    const int v896 = v893 + v895;
    const float v897 = __ldg(pieces + v896);
    const int v898 = k879 + 3;
    const bool v899 = v898 < v877;
    const int v900 = v898 < v878 ? v898 : v878;
    const bool v901 = v900 < v873;
    const int v902 = v901 ? v874 : v876;
    const int v903 = v900 + v902;
    const float v904 = __ldg(pieces + v903);
    const int v905 = k879 + 4;
    const bool v906 = v905 < v877;
    const int v907 = v905 < v878 ? v905 : v878;
    const bool v908 = v907 < v873;
    const int v909 = v908 ? v874 : v876;
    const int v910 = v907 + v909;
    const float v911 = __ldg(pieces + v910);
    const int v912 = k879 + 5;
    const bool v913 = v912 < v877;
    const int v914 = v912 < v878 ? v912 : v878;
    const bool v915 = v914 < v873;
    const int v916 = v915 ? v874 : v876;
    const int v917 = v914 + v916;
    const float v918 = __ldg(pieces + v917);
    const int v919 = k879 + 6;
    const bool v920 = v919 < v877;
    const int v921 = v919 < v878 ? v919 : v878;
    const bool v922 = v921 < v873;
    const int v923 = v922 ? v874 : v876;
    const int v924 = v921 + v923;
    const float v925 = __ldg(pieces + v924);
    const int v926 = k879 + 7;
    const bool v927 = v926 < v877;
    const int v928 = v926 < v878 ? v926 : v878;
    const bool v929 = v928 < v873;
    const int v930 = v929 ? v874 : v876;
    const int v931 = v928 + v930;
    const float v932 = __ldg(pieces + v931);
    const float v933 = acc866 + v883;
    acc866 = v933;
    const float v934 = acc866 + v890;
    const float v935 = v885 ? v934 : acc866;
    acc866 = v935;
    const float v936 = acc866 + v897;
    const float v937 = v892 ? v936 : acc866;
    acc866 = v937;
    const float v938 = acc866 + v904;
    const float v939 = v899 ? v938 : acc866;
    acc866 = v939;
    const float v940 = acc866 + v911;
    const float v941 = v906 ? v940 : acc866;
    acc866 = v941;
    const float v942 = acc866 + v918;
    const float v943 = v913 ? v942 : acc866;
    acc866 = v943;
    const float v944 = acc866 + v925;
    const float v945 = v920 ? v944 : acc866;
    acc866 = v945;
    const float v946 = acc866 + v932;
    const float v947 = v927 ? v946 : acc866;
    acc866 = v947;
  }
  const int v948 = v869 * n31;
  const int v949 = v862 + v948;
  const int v950 = v864 + (-1);
  for (int k951 = v949; k951 < v864; k951 += 8) {
    const int v952 = __ldg(order + k951);
    const int v953 = fw_udiv_by(v952, n9, n9_inverse);
    const int v954 = v953 * n9;
    const int v955 = v952 - v954;
    const int v956 = v953 * n33;
    const int v957 = v956 + v955;
    const float v958 = fw_bf16_f32(__ldg(in1 + v957));
    const int v959 = k951 + 1;
    const bool v960 = v959 < v864;
    const int v961 = v959 < v950 ? v959 : v950;
    const int v962 = __ldg(order + v961);
    const int v963 = fw_udiv_by(v962, n9, n9_inverse);
    const int v964 = v963 * n9;
    const int v965 = v962 - v964;
    const int v966 = v963 * n33;
    const int v967 = v966 + v965;
    const float v968 = fw_bf16_f32(__ldg(in1 + v967));
    const int v969 = k951 + 2;
    const bool v970 = v969 < v864;
    const int v971 = v969 < v950 ? v969 : v950;
    const int v972 = __ldg(order + v971);
    const int v973 = fw_udiv_by(v972, n9, n9_inverse);
    const int v974 = v973 * n9;
    const int v975 = v972 - v974;
    const int v976 = v973 * n33;
    const int v977 = v976 + v975;
    const float v978 = fw_bf16_f32(__ldg(in1 + v977));
    const int v979 = k951 + 3;
    const bool v980 = v979 < v864;
    const int v981 = v979 < v950 ? v979 : v950;
    const int v982 = __ldg(order + v981);
    const int v983 = fw_udiv_by(v982, n9, n9_inverse);
    const int v984 = v983 * n9;
    const int v985 = v982 - v984;
    const int v986 = v983 * n33;
    const int v987 = v986 + v985;
    const float v988 = fw_bf16_f32(__ldg(in1 + v987));
    const int v989 = k951 + 4;
    const bool v990 = v989 < v864;
    const int v991 = v989 < v950 ? v989 : v950;
    const int v992 = __ldg(order + v991);
    const int v993 = fw_udiv_by(v992, n9, n9_inverse);
    const int v994 = v993 * n9;
    const int v995 = v992 - v994;
    const int v996 = v993 * n33;
    const int v997 = v996 + v995;
    const float v998 = fw_bf16_f32(__ldg(in1 + v997));
    const int v999 = k951 + 5;
    const bool v1000 = v999 < v864;
    const int v1001 = v999 < v950 ? v999 : v950;
    const int v1002 = __ldg(order + v1001);
    const int v1003 = fw_udiv_by(v1002, n9, n9_inverse);
    const int v1004 = v1003 * n9;
    const int v1005 = v1002 - v1004;
    const int v1006 = v1003 * n33;
    const int v1007 = v1006 + v1005;
    const float v1008 = fw_bf16_f32(__ldg(in1 + v1007));
    const int v1009 = k951 + 6;
    const bool v1010 = v1009 < v864;
    const int v1011 = v1009 < v950 ? v1009 : v950;
    const int v1012 = __ldg(order + v1011);
    const int v1013 = fw_udiv_by(v1012, n9, n9_inverse);
    const int v1014 = v1013 * n9;
    const int v1015 = v1012 - v1014;
    const int v1016 = v1013 * n33;
    const int v1017 = v1016 + v1015;
    const float v1018 = fw_bf16_f32(__ldg(in1 + v1017));
    const int v1019 = k951 + 7;
    const bool v1020 = v1019 < v864;
    const int v1021 = v1019 < v950 ? v1019 : v950;
    const int v1022 = __ldg(order + v1021);
    const int v1023 = fw_udiv_by(v1022, n9, n9_inverse);
    const int v1024 = v1023 * n9;
    const int v1025 = v1022 - v1024;
    const int v1026 = v1023 * n33;
    const int v1027 = v1026 + v1025;
    const float v1028 = fw_bf16_f32(__ldg(in1 + v1027));
    const float v1029 = acc866 + v958;
    acc866 = v1029;
    const float v1030 = acc866 + v968;
    const float v1031 = v960 ? v1030 : acc866;
    acc866 = v1031;
    const float v1032 = acc866 + v978;
    const float v1033 = v970 ? v1032 : acc866;
    acc866 = v1033;
    const float v1034 = acc866 + v988;
    const float v1035 = v980 ? v1034 : acc866;
    acc866 = v1035;
    const float v1036 = acc866 + v998;
    const float v1037 = v990 ? v1036 : acc866;
    acc866 = v1037;
    const float v1038 = acc866 + v1008;
    const float v1039 = v1000 ? v1038 : acc866;
    acc866 = v1039;
    const float v1040 = acc866 + v1018;
    const float v1041 = v1010 ? v1040 : acc866;
    acc866 = v1041;
    const float v1042 = acc866 + v1028;
    const float v1043 = v1020 ? v1042 : acc866;
    acc866 = v1043;
  }
  const float v1044 = acc866;
  if (v859) {
    out3[v861] = fw_f32_bf16(v1044);
  }
}
