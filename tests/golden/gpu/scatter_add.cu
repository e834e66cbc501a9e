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
  const bool v118 = total114 > 3584;
  const bool v119 = n21 > 1;
  const bool v120 = v118 && v119;
  const int v121 = bid1 * n21;
  const int v122 = v120 ? 0 : 1;
  const bool v123 = tid1 == 0;
  if (v123) {
    bases[bid1] = total116;
    counts[bid1] = total114;
  }
  const bool v124 = n22 > 0;
  const bool v125 = total114 > n23;
  const bool v126 = v124 && v125;
  const int v127 = v126 ? 2 : v122;
  for (int k128 = v127; k128 < 2; ++k128) {
    const bool v129 = k128 == 0;
    const bool v130 = !v129;
    if (v129) {
      for (int k131 = tid1; k131 < n21; k131 += 512) {
        const int v132 = v121 + k131;
        go_on[v132] = 0;
      }
    }
    const int v133 = total114 > 1 ? total114 : 1;
    for (int k134 = 0; k134 < v133; k134 += 3584) {
      #pragma unroll
      for (int k135 = 0; k135 < 7; ++k135) {
        held[k135] = 0;
      }
      for (int k136 = 0; k136 < n24; ++k136) {
        const int v137 = (int)((unsigned)n24 + (unsigned)(-1));
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
      for (int k171 = 0; k171 < n25; ++k171) {
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
          const int v208 = v121 + k207;
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
        const bool v239 = v120 || v238;
        for (int k240 = tid1; k240 < n21; k240 += 512) {
          const int v241 = v121 + k240;
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
          const bool v258 = v241 <= n26;
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
            const int v280 = v121 + v279;
            const int v281 = go_on[v280];
            const int v282 = v281 + v274;
            const int v283 = others[v278];
            order[v282] = v283;
          }
        }
        if (v118) {
          __syncthreads();  // the chunk is written
          for (int k284 = tid1; k284 < n21; k284 += 512) {
            const int v285 = v121 + k284;
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
        const int v305 = v121 + v303;
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
  const int v312 = bid2 * 3584;
  int var313 = 0;
  int var314 = 0;
  for (int k315 = tid2; k315 < n8; k315 += 512) {
    const int v316 = __ldg(bases + k315);
    const int v317 = __ldg(counts + k315);
    const int v318 = v312 - v316;
    const int v319 = v318 > 0 ? v318 : 0;
    const int v320 = v319 + 3583;
    const int v321 = fw_udiv(v320, 3584);
    const int v322 = v321 * 3584;
    const int v323 = (int)((unsigned)v316 + (unsigned)v322);
    const int v324 = (int)((unsigned)v323 - (unsigned)v312);
    const bool v325 = v324 < 3584;
    const bool v326 = v322 < v317;
    const bool v327 = v325 && v326;
    const bool v328 = v317 > n23;
    const bool v329 = v327 && v328;
    const bool v330 = v322 == 0;
    const bool v331 = !v330;
    const bool v332 = v329 && v330;
    const int v333 = (int)((unsigned)k315 + (unsigned)1);
    const int v334 = v332 ? v333 : var313;
    var313 = v334;
    const bool v335 = v329 && v331;
    const int v336 = v335 ? v333 : var314;
    var314 = v336;
  }
  const int v338 = var313;
  const int total337 = fw_sum_i32_512x1(v338, fw_scratch0);
  const int v340 = var314;
  const int total339 = fw_sum_i32_512x1(v340, fw_scratch1);
  for (int k341 = 0; k341 < 2; ++k341) {
    const bool v342 = k341 == 0;
    const int v343 = v342 ? total337 : total339;
    const bool v344 = v343 > 0;
    if (v344) {
      const int v345 = v343 + (-1);
      const int v346 = __ldg(bases + v345);
      const int v347 = __ldg(counts + v345);
      const int v348 = v345 * n14;
      const bool v349 = n21 > 1;
      const int v350 = bid2 * 2;
      const int v351 = v350 + k341;
      const int v352 = v351 * n21;
      const int v353 = (int)((unsigned)v345 * (unsigned)n21);
      const int v354 = v312 - v346;
      const int v355 = v354 > 0 ? v354 : 0;
      const int v356 = v355 + 3583;
      const int v357 = fw_udiv(v356, 3584);
      const int v358 = v357 * 3584;
      if (v349) {
        #pragma unroll
        for (int k359 = 0; k359 < 7; ++k359) {
          held[k359] = 0;
        }
        for (int k360 = 0; k360 < n24; ++k360) {
          const int v361 = (int)((unsigned)n24 + (unsigned)(-1));
          const int v362 = (int)((unsigned)v361 - (unsigned)k360);
          const int v363 = (v362 >= 0 && v362 < 32) ? (int)((unsigned)1 << v362) : (int)0;
          #pragma unroll
          for (int k364 = 0; k364 < 7; ++k364) {
            const int v365 = (int)((unsigned)k364 * (unsigned)512);
            const int v366 = (int)((unsigned)v365 + (unsigned)tid2);
            const int v367 = (int)((unsigned)v358 + (unsigned)v366);
            const int v368 = held[k364];
            const int v369 = v368 + v363;
            const bool v370 = v369 < n14;
            const int v371 = v348 + v369;
            const int v372 = v370 ? __ldg(before + v371) : 0;
            const bool v373 = v372 <= v367;
            const bool v374 = v370 && v373;
            const int v375 = v374 ? v369 : v368;
            held[k364] = v375;
          }
        }
        #pragma unroll
        for (int k376 = 0; k376 < 7; ++k376) {
          const int v377 = k376 * 512;
          const int v378 = v377 + tid2;
          const int v379 = v358 + v378;
          const bool v380 = v379 < v347;
          const int v381 = held[k376];
          const int v382 = v348 + v381;
          const int v383 = v381 * 3584;
          const int v384 = v380 ? __ldg(before + v382) : 0;
          const int v385 = v379 - v384;
          const int v386 = v380 ? __ldg(first + v382) : 0;
          const int v387 = v386 + v385;
          const int v388 = v383 + v387;
          const int v389 = v380 ? __ldg(tiles + v388) : 0;
          const int v390 = v389 & 4095;
          const int v391 = (int)((unsigned)v389 - (unsigned)v390);
          const int v392 = (int)((unsigned)v391 + (unsigned)v378);
          const int v393 = v380 ? v392 : 2147483647;
          items[v378] = v393;
          const int v394 = (int)((unsigned)v383 + (unsigned)v390);
          others[v378] = v394;
        }
        __syncthreads();  // the bucket's points are there
        for (int k395 = 0; k395 < n25; ++k395) {
          const int v396 = (int)((unsigned)k395 * (unsigned)2);
          const int v397 = (int)((unsigned)v396 + (unsigned)12);
          const int v398 = tid2 * 7;
          long long var399 = 0ll;
          #pragma unroll
          for (int k400 = 0; k400 < 7; ++k400) {
            const int v401 = v398 + k400;
            const int v402 = items[v401];
            held[k400] = v402;
            const int v403 = (int)((v397 >= 0 && v397 < 32) ? v402 >> v397 : (v402 >> 31));
            const int v404 = v403 & 3;
            const int v405 = (int)((unsigned)v404 * (unsigned)16);
            const long long v406 = (long long)v405;
            const long long v407 = (v406 >= 0 && v406 < 64) ? (long long)((unsigned long long)1ll << v406) : (long long)0;
            const long long v408 = (long long)((unsigned long long)var399 + (unsigned long long)v407);
            var399 = v408;
          }
          const long long v409 = var399;
          long long scan410[2];
          fw_scan_sum_i64_512x1(v409, scan410, fw_scratch0);
          const long long v411 = scan410[0];
          const long long v412 = scan410[1];
          const long long v413 = (long long)((unsigned long long)v412 << 16ll);
          const long long v414 = (long long)((unsigned long long)v411 + (unsigned long long)v413);
          const long long v415 = (long long)((unsigned long long)v412 << 32ll);
          const long long v416 = (long long)((unsigned long long)v414 + (unsigned long long)v415);
          const long long v417 = (long long)((unsigned long long)v412 << 48ll);
          const long long v418 = (long long)((unsigned long long)v416 + (unsigned long long)v417);
          long long var419 = v418;
          #pragma unroll
          for (int k420 = 0; k420 < 7; ++k420) {
            const int v421 = held[k420];
            const int v422 = (int)((v397 >= 0 && v397 < 32) ? v421 >> v397 : (v421 >> 31));
            const int v423 = v422 & 3;
            const int v424 = (int)((unsigned)v423 * (unsigned)16);
            const long long v425 = (long long)v424;
            const long long v426 = (long long)((v425 >= 0 && v425 < 64) ? var419 >> v425 : (var419 >> 63));
            const long long v427 = v426 & 65535ll;
            const int v428 = (int)v427;
            items[v428] = v421;
            const long long v429 = (v425 >= 0 && v425 < 64) ? (long long)((unsigned long long)1ll << v425) : (long long)0;
            const long long v430 = (long long)((unsigned long long)var419 + (unsigned long long)v429);
            var419 = v430;
          }
          __syncthreads();  // the items are sorted by two more bits
        }
        for (int k431 = tid2; k431 < n21; k431 += 512) {
          const int v432 = (int)((unsigned)v353 + (unsigned)k431);
          const int v433 = (int)((unsigned)k431 + (unsigned)1);
          const int v434 = (int)((unsigned)k431 * (unsigned)4096);
          int var435 = 0;
          for (int k436 = 0; k436 < 12; ++k436) {
            const int v437 = (int)((k436 >= 0 && k436 < 32) ? 2048 >> k436 : (2048 >> 31));
            const int v438 = var435 + v437;
            const bool v439 = v438 <= 3584;
            const int v440 = v438 + (-1);
            const int v441 = v439 ? items[v440] : 0;
            const bool v442 = v441 < v434;
            const bool v443 = v439 && v442;
            const int v444 = v443 ? v438 : var435;
            var435 = v444;
          }
          const int v445 = var435;
          const int v446 = (int)((unsigned)v433 * (unsigned)4096);
          int var447 = 0;
          for (int k448 = 0; k448 < 12; ++k448) {
            const int v449 = (int)((k448 >= 0 && k448 < 32) ? 2048 >> k448 : (2048 >> 31));
            const int v450 = var447 + v449;
            const bool v451 = v450 <= 3584;
            const int v452 = v450 + (-1);
            const int v453 = v451 ? items[v452] : 0;
            const bool v454 = v453 < v446;
            const bool v455 = v451 && v454;
            const int v456 = v455 ? v450 : var447;
            var447 = v456;
          }
          const int v457 = var447;
          const int v458 = v352 + k431;
          const int v459 = (int)((unsigned)v457 - (unsigned)v445);
          crowd_counts[v458] = v459;
        }
        __syncthreads();  // the items may be replaced
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
  const int v460 = bid3 * 3584;
  int var461 = 0;
  int var462 = 0;
  for (int k463 = tid3; k463 < n8; k463 += 512) {
    const int v464 = __ldg(bases + k463);
    const int v465 = __ldg(counts + k463);
    const int v466 = v460 - v464;
    const int v467 = v466 > 0 ? v466 : 0;
    const int v468 = v467 + 3583;
    const int v469 = fw_udiv(v468, 3584);
    const int v470 = v469 * 3584;
    const int v471 = (int)((unsigned)v464 + (unsigned)v470);
    const int v472 = (int)((unsigned)v471 - (unsigned)v460);
    const bool v473 = v472 < 3584;
    const bool v474 = v470 < v465;
    const bool v475 = v473 && v474;
    const bool v476 = v465 > n23;
    const bool v477 = v475 && v476;
    const bool v478 = v470 == 0;
    const bool v479 = !v478;
    const bool v480 = v477 && v478;
    const int v481 = (int)((unsigned)k463 + (unsigned)1);
    const int v482 = v480 ? v481 : var461;
    var461 = v482;
    const bool v483 = v477 && v479;
    const int v484 = v483 ? v481 : var462;
    var462 = v484;
  }
  const int v486 = var461;
  const int total485 = fw_sum_i32_512x1(v486, fw_scratch0);
  const int v488 = var462;
  const int total487 = fw_sum_i32_512x1(v488, fw_scratch1);
  for (int k489 = 0; k489 < 2; ++k489) {
    const bool v490 = k489 == 0;
    const int v491 = v490 ? total485 : total487;
    const bool v492 = v491 > 0;
    if (v492) {
      const int v493 = v491 + (-1);
      const int v494 = __ldg(bases + v493);
      const int v495 = __ldg(counts + v493);
      const int v496 = v493 * n14;
      const bool v497 = n21 > 1;
      const int v498 = bid3 * 2;
      const int v499 = v498 + k489;
      const int v500 = v499 * n21;
      const int v501 = v493 * n21;
      const int v502 = v460 - v494;
      const int v503 = v502 > 0 ? v502 : 0;
      const int v504 = v503 + 3583;
      const int v505 = fw_udiv(v504, 3584);
      const int v506 = v505 * 3584;
      #pragma unroll
      for (int k507 = 0; k507 < 7; ++k507) {
        held[k507] = 0;
      }
      for (int k508 = 0; k508 < n24; ++k508) {
        const int v509 = (int)((unsigned)n24 + (unsigned)(-1));
        const int v510 = (int)((unsigned)v509 - (unsigned)k508);
        const int v511 = (v510 >= 0 && v510 < 32) ? (int)((unsigned)1 << v510) : (int)0;
        #pragma unroll
        for (int k512 = 0; k512 < 7; ++k512) {
          const int v513 = (int)((unsigned)k512 * (unsigned)512);
          const int v514 = (int)((unsigned)v513 + (unsigned)tid3);
          const int v515 = (int)((unsigned)v506 + (unsigned)v514);
          const int v516 = held[k512];
          const int v517 = v516 + v511;
          const bool v518 = v517 < n14;
          const int v519 = v496 + v517;
          const int v520 = v518 ? __ldg(before + v519) : 0;
          const bool v521 = v520 <= v515;
          const bool v522 = v518 && v521;
          const int v523 = v522 ? v517 : v516;
          held[k512] = v523;
        }
      }
      #pragma unroll
      for (int k524 = 0; k524 < 7; ++k524) {
        const int v525 = k524 * 512;
        const int v526 = v525 + tid3;
        const int v527 = v506 + v526;
        const bool v528 = v527 < v495;
        const int v529 = held[k524];
        const int v530 = v496 + v529;
        const int v531 = v529 * 3584;
        const int v532 = v528 ? __ldg(before + v530) : 0;
        const int v533 = v527 - v532;
        const int v534 = v528 ? __ldg(first + v530) : 0;
        const int v535 = v534 + v533;
        const int v536 = v531 + v535;
        const int v537 = v528 ? __ldg(tiles + v536) : 0;
        const int v538 = v537 & 4095;
        const int v539 = (int)((unsigned)v537 - (unsigned)v538);
        const int v540 = (int)((unsigned)v539 + (unsigned)v526);
        const int v541 = v528 ? v540 : 2147483647;
        items[v526] = v541;
        const int v542 = (int)((unsigned)v531 + (unsigned)v538);
        others[v526] = v542;
      }
      __syncthreads();  // the bucket's points are there
      for (int k543 = 0; k543 < n25; ++k543) {
        const int v544 = (int)((unsigned)k543 * (unsigned)2);
        const int v545 = (int)((unsigned)v544 + (unsigned)12);
        const int v546 = tid3 * 7;
        long long var547 = 0ll;
        #pragma unroll
        for (int k548 = 0; k548 < 7; ++k548) {
          const int v549 = v546 + k548;
          const int v550 = items[v549];
          held[k548] = v550;
          const int v551 = (int)((v545 >= 0 && v545 < 32) ? v550 >> v545 : (v550 >> 31));
          const int v552 = v551 & 3;
          const int v553 = (int)((unsigned)v552 * (unsigned)16);
          const long long v554 = (long long)v553;
          const long long v555 = (v554 >= 0 && v554 < 64) ? (long long)((unsigned long long)1ll << v554) : (long long)0;
          const long long v556 = (long long)((unsigned long long)var547 + (unsigned long long)v555);
          var547 = v556;
        }
        const long long v557 = var547;
        long long scan558[2];
        fw_scan_sum_i64_512x1(v557, scan558, fw_scratch0);
        const long long v559 = scan558[0];
        const long long v560 = scan558[1];
        const long long v561 = (long long)((unsigned long long)v560 << 16ll);
        const long long v562 = (long long)((unsigned long long)v559 + (unsigned long long)v561);
        const long long v563 = (long long)((unsigned long long)v560 << 32ll);
        const long long v564 = (long long)((unsigned long long)v562 + (unsigned long long)v563);
        const long long v565 = (long long)((unsigned long long)v560 << 48ll);
        const long long v566 = (long long)((unsigned long long)v564 + (unsigned long long)v565);
        long long var567 = v566;
        #pragma unroll
        for (int k568 = 0; k568 < 7; ++k568) {
          const int v569 = held[k568];
          const int v570 = (int)((v545 >= 0 && v545 < 32) ? v569 >> v545 : (v569 >> 31));
          const int v571 = v570 & 3;
          const int v572 = (int)((unsigned)v571 * (unsigned)16);
          const long long v573 = (long long)v572;
          const long long v574 = (long long)((v573 >= 0 && v573 < 64) ? var567 >> v573 : (var567 >> 63));
          const long long v575 = v574 & 65535ll;
          const int v576 = (int)v575;
          items[v576] = v569;
          const long long v577 = (v573 >= 0 && v573 < 64) ? (long long)((unsigned long long)1ll << v573) : (long long)0;
          const long long v578 = (long long)((unsigned long long)var567 + (unsigned long long)v577);
          var567 = v578;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      const int v579 = fw_udiv(v494, 3584);
      const int v580 = fw_udiv(v506, 3584);
      const int v581 = v495 + 3583;
      const int v582 = fw_udiv(v581, 3584);
      const int v583 = v497 ? v582 : 0;
      int var584 = v494;
      for (int k585 = 0; k585 < n21; k585 += 512) {
        const int v586 = k585 + tid3;
        const bool v587 = v586 < n21;
        const int v588 = v501 + v586;
        const int v589 = v497 ? 0 : v506;
        int var590 = v589;
        int var591 = 0;
        for (int k592 = 0; k592 < v583; ++k592) {
          const int v593 = k592 < 1 ? k592 : 1;
          const int v594 = v579 + k592;
          const int v595 = v594 * 2;
          const int v596 = v595 + v593;
          const int v597 = v596 * n21;
          const int v598 = v597 + v586;
          const int v599 = v587 ? __ldg(crowd_counts + v598) : 0;
          const int v600 = (int)((unsigned)var591 + (unsigned)v599);
          var591 = v600;
          const bool v601 = k592 < v580;
          const int v602 = v601 ? v599 : 0;
          const int v603 = (int)((unsigned)var590 + (unsigned)v602);
          var590 = v603;
        }
        const int v604 = var591;
        __syncthreads();  // all have read the results of the collective before
        int scan605[2];
        fw_scan_sum_i32_512x1(v604, scan605, fw_scratch0);
        const int v606 = scan605[0];
        const int v607 = scan605[1];
        const int v608 = (int)((unsigned)var584 + (unsigned)v606);
        if (v587) {
          const int v609 = (int)((unsigned)v608 + (unsigned)var590);
          const int v610 = (int)((unsigned)v586 * (unsigned)4096);
          int var611 = 0;
          for (int k612 = 0; k612 < 12; ++k612) {
            const int v613 = (int)((k612 >= 0 && k612 < 32) ? 2048 >> k612 : (2048 >> 31));
            const int v614 = var611 + v613;
            const bool v615 = v614 <= 3584;
            const int v616 = v614 + (-1);
            const int v617 = v615 ? items[v616] : 0;
            const bool v618 = v617 < v610;
            const bool v619 = v615 && v618;
            const int v620 = v619 ? v614 : var611;
            var611 = v620;
          }
          const int v621 = var611;
          const int v622 = (int)((unsigned)v609 - (unsigned)v621);
          const int v623 = v500 + v586;
          go_on[v623] = v622;
          const bool v624 = v506 == 0;
          const bool v625 = v588 <= n26;
          const bool v626 = v624 && v625;
          if (v626) {
            start[v588] = v608;
          }
        }
        const int v627 = (int)((unsigned)var584 + (unsigned)v607);
        var584 = v627;
      }
      __syncthreads();  // where each row goes on is known
      #pragma unroll
      for (int k628 = 0; k628 < 7; ++k628) {
        const int v629 = k628 * 512;
        const int v630 = v629 + tid3;
        const int v631 = (int)((unsigned)v506 + (unsigned)v630);
        const bool v632 = v631 < v495;
        if (v632) {
          const int v633 = items[v630];
          const int v634 = v633 & 4095;
          const int v635 = fw_udiv(v633, 4096);
          const int v636 = v500 + v635;
          const int v637 = go_on[v636];
          const int v638 = v637 + v630;
          const int v639 = others[v634];
          order[v638] = v639;
        }
      }
      __syncthreads();  // the items may be replaced
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
  const unsigned n9_inverse = 0xffffffffu / (unsigned)n9;
  const int v640 = bid4;
  const int v641 = (int)((unsigned)bid4 - (unsigned)v640);
  const int v642 = v640 * 128;
  const int v643 = v642 + tid4;
  const bool v644 = v643 < n31;
  const long long v658 = (long long)n11;
  if (v644) {
    const int v645 = v643 * n32;
    const int v646 = v645 + n33;
    const int v647 = __ldg(start + n26);
    const bool v648 = v646 < v647;
    if (v648) {
      const int v649 = __ldg(order + v646);
      const int v650 = fw_udiv_by(v649, n9, n9_inverse);
      const int v651 = v650 * n9;
      const int v652 = v649 - v651;
      const int v653 = v650 * n12;
      const int v654 = v650 * n10;
      const int v655 = v654 + v652;
      const long long v656 = __ldg(in0 + v655);
      const bool v657 = v656 < 0ll;
      const long long v659 = v656 + v658;
      const long long v660 = v657 ? v659 : v656;
      const int v661 = (int)v660;
      const int v662 = v653 + v661;
      const int v663 = __ldg(start + v662);
      const int v664 = v662 + 1;
      const int v665 = __ldg(start + v664);
      const int v666 = v643 * n32;
      const int v667 = v666 - v663;
      const int v668 = v667 > 0 ? v667 : 0;
      const int v669 = v668 + n33;
      const int v670 = fw_udiv(v669, n32);
      const int v671 = v670 * n32;
      const int v672 = v663 + v671;
      const int v673 = v672 + n32;
      const bool v674 = v673 <= v665;
      if (v674) {
        float acc675 = 0.0f;
        const int v676 = v673 + (-1);
        for (int k677 = v672; k677 < v673; k677 += 8) {
          const int v678 = __ldg(order + k677);
          const int v679 = fw_udiv_by(v678, n9, n9_inverse);
          const int v680 = v679 * n9;
          const int v681 = v678 - v680;
          const int v682 = v679 * n34;
          const int v683 = v682 + v681;
          const float v684 = fw_bf16_f32(__ldg(in1 + v683));
          const int v685 = k677 + 1;
          const bool v686 = v685 < v673;
          const int v687 = v685 < v676 ? v685 : v676;
          const int v688 = __ldg(order + v687);
          const int v689 = fw_udiv_by(v688, n9, n9_inverse);
          const int v690 = v689 * n9;
          const int v691 = v688 - v690;
          const int v692 = v689 * n34;
          const int v693 = v692 + v691;
          const float v694 = fw_bf16_f32(__ldg(in1 + v693));
          const int v695 = k677 + 2;
          const bool v696 = v695 < v673;
          const int v697 = v695 < v676 ? v695 : v676;
          const int v698 = __ldg(order + v697);
          const int v699 = fw_udiv_by(v698, n9, n9_inverse);
          const int v700 = v699 * n9;
          const int v701 = v698 - v700;
          const int v702 = v699 * n34;
          const int v703 = v702 + v701;
          const float v704 = fw_bf16_f32(__ldg(in1 + v703));
          const int v705 = k677 + 3;
          const bool v706 = v705 < v673;
          const int v707 = v705 < v676 ? v705 : v676;
          const int v708 = __ldg(order + v707);
          const int v709 = fw_udiv_by(v708, n9, n9_inverse);
          const int v710 = v709 * n9;
          const int v711 = v708 - v710;
          const int v712 = v709 * n34;
          const int v713 = v712 + v711;
          const float v714 = fw_bf16_f32(__ldg(in1 + v713));
          const int v715 = k677 + 4;
          const bool v716 = v715 < v673;
          const int v717 = v715 < v676 ? v715 : v676;
          const int v718 = __ldg(order + v717);
          const int v719 = fw_udiv_by(v718, n9, n9_inverse);
          const int v720 = v719 * n9;
          const int v721 = v718 - v720;
          const int v722 = v719 * n34;
          const int v723 = v722 + v721;
          const float v724 = fw_bf16_f32(__ldg(in1 + v723));
          const int v725 = k677 + 5;
          const bool v726 = v725 < v673;
          const int v727 = v725 < v676 ? v725 : v676;
          const int v728 = __ldg(order + v727);
          const int v729 = fw_udiv_by(v728, n9, n9_inverse);
          const int v730 = v729 * n9;
          const int v731 = v728 - v730;
          const int v732 = v729 * n34;
          const int v733 = v732 + v731;
          const float v734 = fw_bf16_f32(__ldg(in1 + v733));
          const int v735 = k677 + 6;
          const bool v736 = v735 < v673;
          const int v737 = v735 < v676 ? v735 : v676;
          const int v738 = __ldg(order + v737);
          const int v739 = fw_udiv_by(v738, n9, n9_inverse);
          const int v740 = v739 * n9;
          const int v741 = v738 - v740;
          const int v742 = v739 * n34;
          const int v743 = v742 + v741;
          const float v744 = fw_bf16_f32(__ldg(in1 + v743));
          const int v745 = k677 + 7;
          const bool v746 = v745 < v673;
          const int v747 = v745 < v676 ? v745 : v676;
          const int v748 = __ldg(order + v747);
          const int v749 = fw_udiv_by(v748, n9, n9_inverse);
          const int v750 = v749 * n9;
          const int v751 = v748 - v750;
          const int v752 = v749 * n34;
          const int v753 = v752 + v751;
          const float v754 = fw_bf16_f32(__ldg(in1 + v753));
          const float v755 = acc675 + v684;
          acc675 = v755;
          const float v756 = acc675 + v694;
          const float v757 = v686 ? v756 : acc675;
          acc675 = v757;
          const float v758 = acc675 + v704;
          const float v759 = v696 ? v758 : acc675;
          acc675 = v759;
          const float v760 = acc675 + v714;
          const float v761 = v706 ? v760 : acc675;
          acc675 = v761;
          const float v762 = acc675 + v724;
          const float v763 = v716 ? v762 : acc675;
          acc675 = v763;
          const float v764 = acc675 + v734;
          const float v765 = v726 ? v764 : acc675;
          acc675 = v765;
          const float v766 = acc675 + v744;
          const float v767 = v736 ? v766 : acc675;
          acc675 = v767;
          const float v768 = acc675 + v754;
          const float v769 = v746 ? v768 : acc675;
          acc675 = v769;
        }
        const float v770 = acc675;
        pieces[v643] = v770;
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
  const unsigned n32_inverse = 0xffffffffu / (unsigned)n32;
  const int v771 = bid5;
  const int v772 = (int)((unsigned)bid5 - (unsigned)v771);
  const int v773 = v771 * 128;
  const int v774 = v773 + tid5;
  const bool v775 = v774 < n36;
  const long long v791 = (long long)n11;
  if (v775) {
    const int v776 = v774 * n37;
    const int v777 = v776 + n38;
    const int v778 = v777 * n32;
    const int v779 = v778 + n33;
    const int v780 = __ldg(start + n26);
    const bool v781 = v779 < v780;
    if (v781) {
      const int v782 = __ldg(order + v779);
      const int v783 = fw_udiv(v782, n9);
      const int v784 = v783 * n9;
      const int v785 = v782 - v784;
      const int v786 = v783 * n12;
      const int v787 = v783 * n10;
      const int v788 = v787 + v785;
      const long long v789 = __ldg(in0 + v788);
      const bool v790 = v789 < 0ll;
      const long long v792 = v789 + v791;
      const long long v793 = v790 ? v792 : v789;
      const int v794 = (int)v793;
      const int v795 = v786 + v794;
      const int v796 = __ldg(start + v795);
      const int v797 = v795 + 1;
      const int v798 = __ldg(start + v797);
      const int v799 = fw_udiv_by(v796, n32, n32_inverse);
      const int v800 = v798 - v796;
      const int v801 = fw_udiv_by(v800, n32, n32_inverse);
      const int v802 = v799 + v801;
      const int v803 = v774 * n37;
      const int v804 = v803 - v799;
      const int v805 = v804 > 0 ? v804 : 0;
      const int v806 = v805 + n38;
      const int v807 = fw_udiv(v806, n37);
      const int v808 = v807 * n37;
      const int v809 = v799 + v808;
      const int v810 = v809 + n37;
      const bool v811 = v810 <= v802;
      if (v811) {
        float acc812 = 0.0f;
        const int v813 = v810 + (-1);
        for (int k814 = v809; k814 < v810; k814 += 8) {
          const float v815 = pieces[k814];
          const int v816 = k814 + 1;
          const bool v817 = v816 < v810;
          const int v818 = v816 < v813 ? v816 : v813;
          const float v819 = pieces[v818];
          const int v820 = k814 + 2;
          const bool v821 = v820 < v810;
          const int v822 = v820 < v813 ? v820 : v813;
          const float v823 = pieces[v822];
          const int v824 = k814 + 3;
          const bool v825 = v824 < v810;
          const int v826 = v824 < v813 ? v824 : v813;
          const float v827 = pieces[v826];
          const int v828 = k814 + 4;
          const bool v829 = v828 < v810;
          const int v830 = v828 < v813 ? v828 : v813;
          const float v831 = pieces[v830];
          const int v832 = k814 + 5;
          const bool v833 = v832 < v810;
          const int v834 = v832 < v813 ? v832 : v813;
          const float v835 = pieces[v834];
          const int v836 = k814 + 6;
          const bool v837 = v836 < v810;
          const int v838 = v836 < v813 ? v836 : v813;
          const float v839 = pieces[v838];
          const int v840 = k814 + 7;
          const bool v841 = v840 < v810;
          const int v842 = v840 < v813 ? v840 : v813;
          const float v843 = pieces[v842];
          const float v844 = acc812 + v815;
          acc812 = v844;
          const float v845 = acc812 + v819;
          const float v846 = v817 ? v845 : acc812;
          acc812 = v846;
          const float v847 = acc812 + v823;
          const float v848 = v821 ? v847 : acc812;
          acc812 = v848;
          const float v849 = acc812 + v827;
          const float v850 = v825 ? v849 : acc812;
          acc812 = v850;
          const float v851 = acc812 + v831;
          const float v852 = v829 ? v851 : acc812;
          acc812 = v852;
          const float v853 = acc812 + v835;
          const float v854 = v833 ? v853 : acc812;
          acc812 = v854;
          const float v855 = acc812 + v839;
          const float v856 = v837 ? v855 : acc812;
          acc812 = v856;
          const float v857 = acc812 + v843;
          const float v858 = v841 ? v857 : acc812;
          acc812 = v858;
        }
        const int v859 = v774 + n39;
        const float v860 = acc812;
        pieces[v859] = v860;
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
  const unsigned n9_inverse = 0xffffffffu / (unsigned)n9;
  const unsigned n32_inverse = 0xffffffffu / (unsigned)n32;
  const unsigned n37_inverse = 0xffffffffu / (unsigned)n37;
  const int v861 = bid6;
  const int v862 = (int)((unsigned)bid6 - (unsigned)v861);
  const int v863 = v861 * 128;
  const int v864 = v863 + tid6;
  const bool v865 = v864 < n41;
  const int v866 = n41 + (-1);
  const int v867 = v864 < v866 ? v864 : v866;
  const int v868 = __ldg(start + v867);
  const int v869 = v867 + 1;
  const int v870 = __ldg(start + v869);
  const float v871 = fw_bf16_f32(__ldg(in2 + v867));
  float acc872 = v871;
  const int v873 = fw_udiv_by(v868, n32, n32_inverse);
  const int v874 = v870 - v868;
  const int v875 = fw_udiv_by(v874, n32, n32_inverse);
  const int v876 = v873 + v875;
  const int v877 = fw_udiv_by(v873, n37, n37_inverse);
  const int v878 = v876 - v873;
  const int v879 = fw_udiv_by(v878, n37, n37_inverse);
  const int v880 = v877 + n39;
  const int v881 = v879 * n38;
  const int v882 = v873 + v881;
  const int v883 = v875 - v881;
  const int v884 = v883 + (-1);
  for (int k885 = 0; k885 < v883; k885 += 8) {
    const bool v886 = k885 < v879;
    const int v887 = v886 ? v880 : v882;
    const int v888 = k885 + v887;
    const float v889 = __ldg(pieces + v888);
    const int v890 = k885 + 1;
    const bool v891 = v890 < v883;
    const int v892 = v890 < v884 ? v890 : v884;
    const bool v893 = v892 < v879;
    const int v894 = v893 ? v880 : v882;
    const int v895 = v892 + v894;
    const float v896 = __ldg(pieces + v895);
    const int v897 = k885 + 2;
    const bool v898 = v897 < v883;
    const int v899 = v897 < v884 ? v897 : v884;
    const bool v900 = v899 < v879;
    const int v901 = v900 ? v880 : v882;
    const int v902 = v899 + v901;
    const float v903 = __ldg(pieces + v902);
    const int v904 = k885 + 3;
    const bool v905 = v904 < v883;
    const int v906 = v904 < v884 ? v904 : v884;
    const bool v907 = v906 < v879;
    const int v908 = v907 ? v880 : v882;
    const int v909 = v906 + v908;
    const float v910 = __ldg(pieces + v909);
    const int v911 = k885 + 4;
    const bool v912 = v911 < v883;
    const int v913 = v911 < v884 ? v911 : v884;
    const bool v914 = v913 < v879;
    const int v915 = v914 ? v880 : v882;
    const int v916 = v913 + v915;
    const float v917 = __ldg(pieces + v916);
    const int v918 = k885 + 5;
    const bool v919 = v918 < v883;
    const int v920 = v918 < v884 ? v918 : v884;
    const bool v921 = v920 < v879;
    const int v922 = v921 ? v880 : v882;
    const int v923 = v920 + v922;
    const float v924 = __ldg(pieces + v923);
    const int v925 = k885 + 6;
    const bool v926 = v925 < v883;
    const int v927 = v925 < v884 ? v925 : v884;
    const bool v928 = v927 < v879;
    const int v929 = v928 ? v880 : v882;
    const int v930 = v927 + v929;
    const float v931 = __ldg(pieces + v930);
    const int v932 = k885 + 7;
    const bool v933 = v932 < v883;
    const int v934 = v932 < v884 ? v932 : v884;
    const bool v935 = v934 < v879;
    const int v936 = v935 ? v880 : v882;
    const int v937 = v934 + v936;
    const float v938 = __ldg(pieces + v937);
    const float v939 = acc872 + v889;
    acc872 = v939;
    const float v940 = acc872 + v896;
    const float v941 = v891 ? v940 : acc872;
    acc872 = v941;
    const float v942 = acc872 + v903;
    const float v943 = v898 ? v942 : acc872;
    acc872 = v943;
    const float v944 = acc872 + v910;
    const float v945 = v905 ? v944 : acc872;
    acc872 = v945;
    const float v946 = acc872 + v917;
    const float v947 = v912 ? v946 : acc872;
    acc872 = v947;
    const float v948 = acc872 + v924;
    const float v949 = v919 ? v948 : acc872;
    acc872 = v949;
    const float v950 = acc872 + v931;
    const float v951 = v926 ? v950 : acc872;
    acc872 = v951;
    const float v952 = acc872 + v938;
    const float v953 = v933 ? v952 : acc872;
    acc872 = v953;
  }
  const int v954 = v875 * n32;
  const int v955 = v868 + v954;
  const int v956 = v870 + (-1);
  for (int k957 = v955; k957 < v870; k957 += 8) {
    const int v958 = __ldg(order + k957);
    const int v959 = fw_udiv_by(v958, n9, n9_inverse);
    const int v960 = v959 * n9;
    const int v961 = v958 - v960;
    const int v962 = v959 * n34;
    const int v963 = v962 + v961;
    const float v964 = fw_bf16_f32(__ldg(in1 + v963));
    const int v965 = k957 + 1;
    const bool v966 = v965 < v870;
    const int v967 = v965 < v956 ? v965 : v956;
    const int v968 = __ldg(order + v967);
    const int v969 = fw_udiv_by(v968, n9, n9_inverse);
    const int v970 = v969 * n9;
    const int v971 = v968 - v970;
    const int v972 = v969 * n34;
    const int v973 = v972 + v971;
    const float v974 = fw_bf16_f32(__ldg(in1 + v973));
    const int v975 = k957 + 2;
    const bool v976 = v975 < v870;
    const int v977 = v975 < v956 ? v975 : v956;
    const int v978 = __ldg(order + v977);
    const int v979 = fw_udiv_by(v978, n9, n9_inverse);
    const int v980 = v979 * n9;
    const int v981 = v978 - v980;
    const int v982 = v979 * n34;
    const int v983 = v982 + v981;
    const float v984 = fw_bf16_f32(__ldg(in1 + v983));
    const int v985 = k957 + 3;
    const bool v986 = v985 < v870;
    const int v987 = v985 < v956 ? v985 : v956;
    const int v988 = __ldg(order + v987);
    const int v989 = fw_udiv_by(v988, n9, n9_inverse);
    const int v990 = v989 * n9;
    const int v991 = v988 - v990;
    const int v992 = v989 * n34;
    const int v993 = v992 + v991;
    const float v994 = fw_bf16_f32(__ldg(in1 + v993));
    const int v995 = k957 + 4;
    const bool v996 = v995 < v870;
    const int v997 = v995 < v956 ? v995 : v956;
    const int v998 = __ldg(order + v997);
    const int v999 = fw_udiv_by(v998, n9, n9_inverse);
    const int v1000 = v999 * n9;
    const int v1001 = v998 - v1000;
    const int v1002 = v999 * n34;
    const int v1003 = v1002 + v1001;
    const float v1004 = fw_bf16_f32(__ldg(in1 + v1003));
    const int v1005 = k957 + 5;
    const bool v1006 = v1005 < v870;
    const int v1007 = v1005 < v956 ? v1005 : v956;
    const int v1008 = __ldg(order + v1007);
    const int v1009 = fw_udiv_by(v1008, n9, n9_inverse);
    const int v1010 = v1009 * n9;
    const int v1011 = v1008 - v1010;
    const int v1012 = v1009 * n34;
    const int v1013 = v1012 + v1011;
    const float v1014 = fw_bf16_f32(__ldg(in1 + v1013));
    const int v1015 = k957 + 6;
    const bool v1016 = v1015 < v870;
    const int v1017 = v1015 < v956 ? v1015 : v956;
    const int v1018 = __ldg(order + v1017);
    const int v1019 = fw_udiv_by(v1018, n9, n9_inverse);
    const int v1020 = v1019 * n9;
    const int v1021 = v1018 - v1020;
    const int v1022 = v1019 * n34;
    const int v1023 = v1022 + v1021;
    const float v1024 = fw_bf16_f32(__ldg(in1 + v1023));
    const int v1025 = k957 + 7;
    const bool v1026 = v1025 < v870;
    const int v1027 = v1025 < v956 ? v1025 : v956;
    const int v1028 = __ldg(order + v1027);
    const int v1029 = fw_udiv_by(v1028, n9, n9_inverse);
    const int v1030 = v1029 * n9;
    const int v1031 = v1028 - v1030;
    const int v1032 = v1029 * n34;
    const int v1033 = v1032 + v1031;
    const float v1034 = fw_bf16_f32(__ldg(in1 + v1033));
    const float v1035 = acc872 + v964;
    acc872 = v1035;
    const float v1036 = acc872 + v974;
    const float v1037 = v966 ? v1036 : acc872;
    acc872 = v1037;
    const float v1038 = acc872 + v984;
    const float v1039 = v976 ? v1038 : acc872;
    acc872 = v1039;
    const float v1040 = acc872 + v994;
    const float v1041 = v986 ? v1040 : acc872;
    acc872 = v1041;
    const float v1042 = acc872 + v1004;
    const float v1043 = v996 ? v1042 : acc872;
    acc872 = v1043;
    const float v1044 = acc872 + v1014;
    const float v1045 = v1006 ? v1044 : acc872;
    acc872 = v1045;
    const float v1046 = acc872 + v1024;
    const float v1047 = v1016 ? v1046 : acc872;
    acc872 = v1047;
    const float v1048 = acc872 + v1034;
    const float v1049 = v1026 ? v1048 : acc872;
    acc872 = v1049;
  }
  const float v1050 = acc872;
  if (v865) {
    out3[v867] = fw_f32_bf16(v1050);
  }
}
