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
  bool var2 = true;
  const long long v17 = (long long)n11;
  #pragma unroll
  for (int k3 = 0; k3 < 7; ++k3) {
    const int v4 = k3 * 512;
    const int v5 = v4 + tid0;
    const int v6 = v1 + v5;
    const bool v7 = v6 < n6;
    const int v8 = n6 + (-1);
    const int v9 = v6 < v8 ? v6 : v8;
    const int v10 = fw_udiv_by(v9, n9, n9_inverse);
    const int v11 = v10 * n9;
    const int v12 = v9 - v11;
    const int v13 = v10 * n10;
    const int v14 = v13 + v12;
    const long long v15 = __ldg(in0 + v14);
    const bool v16 = v15 < 0ll;
    const long long v18 = v15 + v17;
    const long long v19 = v16 ? v18 : v15;
    const bool v20 = v19 >= 0ll;
    const bool v21 = v19 < v17;
    const bool v22 = v20 && v21;
    const bool v23 = var2 && v22;
    var2 = v23;
    const bool v24 = v7 && v22;
    int var25 = n8;
    int var26 = 0;
    const int v28 = (int)v19;
    if (v24) {
      const int v27 = v10 * n12;
      const int v29 = v27 + v28;
      const int v30 = fw_udiv_by(v29, n7, n7_inverse);
      const int v31 = (int)((unsigned)v30 * (unsigned)n7);
      const int v32 = (int)((unsigned)v29 - (unsigned)v31);
      var25 = v30;
      var26 = v32;
    }
    const int v33 = (int)((unsigned)var25 * (unsigned)4096);
    const int v34 = (int)((unsigned)v33 + (unsigned)v5);
    items[v5] = v34;
    others[v5] = var26;
  }
  const bool v35 = var2;
  if (!v35) {
    fw_fail();
  }
  __syncthreads();  // the tile's points are there
  for (int k36 = 0; k36 < n13; ++k36) {
    const int v37 = (int)((unsigned)k36 * (unsigned)2);
    const int v38 = (int)((unsigned)v37 + (unsigned)12);
    const int v39 = tid0 * 7;
    long long var40 = 0ll;
    #pragma unroll
    for (int k41 = 0; k41 < 7; ++k41) {
      const int v42 = v39 + k41;
      const int v43 = items[v42];
      held[k41] = v43;
      const int v44 = (int)((v38 >= 0 && v38 < 32) ? v43 >> v38 : (v43 >> 31));
      const int v45 = v44 & 3;
      const int v46 = (int)((unsigned)v45 * (unsigned)16);
      const long long v47 = (long long)v46;
      const long long v48 = (v47 >= 0 && v47 < 64) ? (long long)((unsigned long long)1ll << v47) : (long long)0;
      const long long v49 = (long long)((unsigned long long)var40 + (unsigned long long)v48);
      var40 = v49;
    }
    const long long v50 = var40;
    long long scan51[2];
    fw_scan_sum_i64_512x1(v50, scan51, fw_scratch0);
    const long long v52 = scan51[0];
    const long long v53 = scan51[1];
    const long long v54 = (long long)((unsigned long long)v53 << 16ll);
    const long long v55 = (long long)((unsigned long long)v52 + (unsigned long long)v54);
    const long long v56 = (long long)((unsigned long long)v53 << 32ll);
    const long long v57 = (long long)((unsigned long long)v55 + (unsigned long long)v56);
    const long long v58 = (long long)((unsigned long long)v53 << 48ll);
    const long long v59 = (long long)((unsigned long long)v57 + (unsigned long long)v58);
    long long var60 = v59;
    #pragma unroll
    for (int k61 = 0; k61 < 7; ++k61) {
      const int v62 = held[k61];
      const int v63 = (int)((v38 >= 0 && v38 < 32) ? v62 >> v38 : (v62 >> 31));
      const int v64 = v63 & 3;
      const int v65 = (int)((unsigned)v64 * (unsigned)16);
      const long long v66 = (long long)v65;
      const long long v67 = (long long)((v66 >= 0 && v66 < 64) ? var60 >> v66 : (var60 >> 63));
      const long long v68 = v67 & 65535ll;
      const int v69 = (int)v68;
      items[v69] = v62;
      const long long v70 = (v66 >= 0 && v66 < 64) ? (long long)((unsigned long long)1ll << v66) : (long long)0;
      const long long v71 = (long long)((unsigned long long)var60 + (unsigned long long)v70);
      var60 = v71;
    }
    __syncthreads();  // the items are sorted by two more bits
  }
  #pragma unroll
  for (int k72 = 0; k72 < 7; ++k72) {
    const int v73 = k72 * 512;
    const int v74 = v73 + tid0;
    const int v75 = items[v74];
    const int v76 = v75 & 4095;
    const int v77 = fw_udiv(v75, 4096);
    const int v78 = others[v76];
    const int v79 = (int)((unsigned)v78 * (unsigned)4096);
    const int v80 = (int)((unsigned)v79 + (unsigned)v76);
    const int v81 = v1 + v74;
    tiles[v81] = v80;
  }
  for (int k82 = tid0; k82 < n15; k82 += 512) {
    const int v83 = k82 * n14;
    const int v84 = v83 + bid0;
    const int v85 = (int)((unsigned)k82 * (unsigned)4096);
    int var86 = 0;
    for (int k87 = 0; k87 < 12; ++k87) {
      const int v88 = (int)((k87 >= 0 && k87 < 32) ? 2048 >> k87 : (2048 >> 31));
      const int v89 = var86 + v88;
      const bool v90 = v89 <= 3584;
      const int v91 = v89 + (-1);
      const int v92 = v90 ? items[v91] : 0;
      const bool v93 = v92 < v85;
      const bool v94 = v90 && v93;
      const int v95 = v94 ? v89 : var86;
      var86 = v95;
    }
    const int v96 = var86;
    first[v84] = v96;
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
  const int v97 = bid1 * n14;
  const int v98 = v97 + n14;
  int var99 = 0;
  int var100 = 0;
  int var101 = 0;
  for (int k102 = 0; k102 < n14; k102 += 512) {
    const int v103 = k102 + tid1;
    const bool v104 = v103 < n14;
    const int v105 = v97 + v103;
    const int v106 = v104 ? __ldg(first + v105) : 0;
    const int v107 = v98 + v103;
    const int v108 = v104 ? __ldg(first + v107) : 0;
    const int v109 = (int)((unsigned)v108 - (unsigned)v106);
    __syncthreads();  // all have read the results of the collective before
    int scan110[2];
    fw_scan_sum_i32_512x1(v109, scan110, fw_scratch0);
    const int v111 = scan110[0];
    const int v112 = scan110[1];
    if (v104) {
      const int v113 = (int)((unsigned)var101 + (unsigned)v111);
      before[v105] = v113;
    }
    const int v114 = (int)((unsigned)var101 + (unsigned)v112);
    var101 = v114;
    const int v115 = (int)((unsigned)var99 + (unsigned)v109);
    var99 = v115;
    const int v116 = (int)((unsigned)var100 + (unsigned)v106);
    var100 = v116;
  }
  const int v118 = var99;
  fw_half2 ^= 64;
  const int total117 = fw_sum_i32_512x1(v118, fw_scratch2 + fw_half2);
  const int v120 = var100;
  const int total119 = fw_sum_i32_512x1(v120, fw_scratch1);
  const bool v121 = total117 > 3584;
  const bool v122 = n21 > 1;
  const bool v123 = v121 && v122;
  const int v124 = bid1 * n21;
  const int v125 = v123 ? 0 : 1;
  const bool v126 = tid1 == 0;
  if (v126) {
    bases[bid1] = total119;
    counts[bid1] = total117;
  }
  const bool v127 = n22 > 0;
  const bool v128 = total117 > n23;
  const bool v129 = v127 && v128;
  const int v130 = v129 ? 2 : v125;
  for (int k131 = v130; k131 < 2; ++k131) {
    const bool v132 = k131 == 0;
    const bool v133 = !v132;
    if (v132) {
      for (int k134 = tid1; k134 < n21; k134 += 512) {
        const int v135 = v124 + k134;
        go_on[v135] = 0;
      }
    }
    const int v136 = total117 > 1 ? total117 : 1;
    for (int k137 = 0; k137 < v136; k137 += 3584) {
      #pragma unroll
      for (int k138 = 0; k138 < 7; ++k138) {
        held[k138] = 0;
      }
      for (int k139 = 0; k139 < n24; ++k139) {
        const int v140 = (int)((unsigned)n24 + (unsigned)(-1));
        const int v141 = (int)((unsigned)v140 - (unsigned)k139);
        const int v142 = (v141 >= 0 && v141 < 32) ? (int)((unsigned)1 << v141) : (int)0;
        #pragma unroll
        for (int k143 = 0; k143 < 7; ++k143) {
          const int v144 = (int)((unsigned)k143 * (unsigned)512);
          const int v145 = (int)((unsigned)v144 + (unsigned)tid1);
          const int v146 = (int)((unsigned)k137 + (unsigned)v145);
          const int v147 = held[k143];
          const int v148 = v147 + v142;
          const bool v149 = v148 < n14;
          const int v150 = v97 + v148;
          const int v151 = v149 ? before[v150] : 0;
          const bool v152 = v151 <= v146;
          const bool v153 = v149 && v152;
          const int v154 = v153 ? v148 : v147;
          held[k143] = v154;
        }
      }
      #pragma unroll
      for (int k155 = 0; k155 < 7; ++k155) {
        const int v156 = k155 * 512;
        const int v157 = v156 + tid1;
        const int v158 = k137 + v157;
        const bool v159 = v158 < total117;
        const int v160 = held[k155];
        const int v161 = v97 + v160;
        const int v162 = v160 * 3584;
        const int v163 = v159 ? before[v161] : 0;
        const int v164 = v158 - v163;
        const int v165 = v159 ? __ldg(first + v161) : 0;
        const int v166 = v165 + v164;
        const int v167 = v162 + v166;
        const int v168 = v159 ? __ldg(tiles + v167) : 0;
        const int v169 = v168 & 4095;
        const int v170 = (int)((unsigned)v168 - (unsigned)v169);
        const int v171 = (int)((unsigned)v170 + (unsigned)v157);
        const int v172 = v159 ? v171 : 2147483647;
        items[v157] = v172;
        const int v173 = (int)((unsigned)v162 + (unsigned)v169);
        others[v157] = v173;
      }
      __syncthreads();  // the bucket's points are there
      for (int k174 = 0; k174 < n25; ++k174) {
        const int v175 = (int)((unsigned)k174 * (unsigned)2);
        const int v176 = (int)((unsigned)v175 + (unsigned)12);
        const int v177 = tid1 * 7;
        long long var178 = 0ll;
        #pragma unroll
        for (int k179 = 0; k179 < 7; ++k179) {
          const int v180 = v177 + k179;
          const int v181 = items[v180];
          held[k179] = v181;
          const int v182 = (int)((v176 >= 0 && v176 < 32) ? v181 >> v176 : (v181 >> 31));
          const int v183 = v182 & 3;
          const int v184 = (int)((unsigned)v183 * (unsigned)16);
          const long long v185 = (long long)v184;
          const long long v186 = (v185 >= 0 && v185 < 64) ? (long long)((unsigned long long)1ll << v185) : (long long)0;
          const long long v187 = (long long)((unsigned long long)var178 + (unsigned long long)v186);
          var178 = v187;
        }
        const long long v188 = var178;
        long long scan189[2];
        fw_scan_sum_i64_512x1(v188, scan189, fw_scratch0);
        const long long v190 = scan189[0];
        const long long v191 = scan189[1];
        const long long v192 = (long long)((unsigned long long)v191 << 16ll);
        const long long v193 = (long long)((unsigned long long)v190 + (unsigned long long)v192);
        const long long v194 = (long long)((unsigned long long)v191 << 32ll);
        const long long v195 = (long long)((unsigned long long)v193 + (unsigned long long)v194);
        const long long v196 = (long long)((unsigned long long)v191 << 48ll);
        const long long v197 = (long long)((unsigned long long)v195 + (unsigned long long)v196);
        long long var198 = v197;
        #pragma unroll
        for (int k199 = 0; k199 < 7; ++k199) {
          const int v200 = held[k199];
          const int v201 = (int)((v176 >= 0 && v176 < 32) ? v200 >> v176 : (v200 >> 31));
          const int v202 = v201 & 3;
          const int v203 = (int)((unsigned)v202 * (unsigned)16);
          const long long v204 = (long long)v203;
          const long long v205 = (long long)((v204 >= 0 && v204 < 64) ? var198 >> v204 : (var198 >> 63));
          const long long v206 = v205 & 65535ll;
          const int v207 = (int)v206;
          items[v207] = v200;
          const long long v208 = (v204 >= 0 && v204 < 64) ? (long long)((unsigned long long)1ll << v204) : (long long)0;
          const long long v209 = (long long)((unsigned long long)var198 + (unsigned long long)v208);
          var198 = v209;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v132) {
        for (int k210 = tid1; k210 < n21; k210 += 512) {
          const int v211 = v124 + k210;
          const int v212 = go_on[v211];
          const int v213 = (int)((unsigned)k210 * (unsigned)4096);
          int var214 = 0;
          for (int k215 = 0; k215 < 12; ++k215) {
            const int v216 = (int)((k215 >= 0 && k215 < 32) ? 2048 >> k215 : (2048 >> 31));
            const int v217 = var214 + v216;
            const bool v218 = v217 <= 3584;
            const int v219 = v217 + (-1);
            const int v220 = v218 ? items[v219] : 0;
            const bool v221 = v220 < v213;
            const bool v222 = v218 && v221;
            const int v223 = v222 ? v217 : var214;
            var214 = v223;
          }
          const int v224 = var214;
          const int v225 = (int)((unsigned)v212 - (unsigned)v224);
          go_on[v211] = v225;
          const int v226 = (int)((unsigned)k210 + (unsigned)1);
          const int v227 = (int)((unsigned)v226 * (unsigned)4096);
          int var228 = 0;
          for (int k229 = 0; k229 < 12; ++k229) {
            const int v230 = (int)((k229 >= 0 && k229 < 32) ? 2048 >> k229 : (2048 >> 31));
            const int v231 = var228 + v230;
            const bool v232 = v231 <= 3584;
            const int v233 = v231 + (-1);
            const int v234 = v232 ? items[v233] : 0;
            const bool v235 = v234 < v227;
            const bool v236 = v232 && v235;
            const int v237 = v236 ? v231 : var228;
            var228 = v237;
          }
          const int v238 = var228;
          const int v239 = go_on[v211];
          const int v240 = (int)((unsigned)v239 + (unsigned)v238);
          go_on[v211] = v240;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v133) {
        const bool v241 = k137 > 0;
        const bool v242 = v123 || v241;
        for (int k243 = tid1; k243 < n21; k243 += 512) {
          const int v244 = v124 + k243;
          const int v245 = (int)((unsigned)k243 * (unsigned)4096);
          int var246 = 0;
          for (int k247 = 0; k247 < 12; ++k247) {
            const int v248 = (int)((k247 >= 0 && k247 < 32) ? 2048 >> k247 : (2048 >> 31));
            const int v249 = var246 + v248;
            const bool v250 = v249 <= 3584;
            const int v251 = v249 + (-1);
            const int v252 = v250 ? items[v251] : 0;
            const bool v253 = v252 < v245;
            const bool v254 = v250 && v253;
            const int v255 = v254 ? v249 : var246;
            var246 = v255;
          }
          const int v256 = var246;
          const int v257 = (int)((unsigned)total119 + (unsigned)v256);
          int var258 = v257;
          if (v242) {
            const int v259 = go_on[v244];
            var258 = v259;
          }
          const bool v260 = !v241;
          const bool v261 = v244 <= n26;
          const bool v262 = v260 && v261;
          if (v262) {
            start[v244] = var258;
          }
          int var263 = 0;
          for (int k264 = 0; k264 < 12; ++k264) {
            const int v265 = (int)((k264 >= 0 && k264 < 32) ? 2048 >> k264 : (2048 >> 31));
            const int v266 = var263 + v265;
            const bool v267 = v266 <= 3584;
            const int v268 = v266 + (-1);
            const int v269 = v267 ? items[v268] : 0;
            const bool v270 = v269 < v245;
            const bool v271 = v267 && v270;
            const int v272 = v271 ? v266 : var263;
            var263 = v272;
          }
          const int v273 = var263;
          const int v274 = (int)((unsigned)var258 - (unsigned)v273);
          go_on[v244] = v274;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k275 = 0; k275 < 7; ++k275) {
          const int v276 = k275 * 512;
          const int v277 = v276 + tid1;
          const int v278 = (int)((unsigned)k137 + (unsigned)v277);
          const bool v279 = v278 < total117;
          if (v279) {
            const int v280 = items[v277];
            const int v281 = v280 & 4095;
            const int v282 = fw_udiv(v280, 4096);
            const int v283 = v124 + v282;
            const int v284 = go_on[v283];
            const int v285 = v284 + v277;
            const int v286 = others[v281];
            order[v285] = v286;
          }
        }
        if (v121) {
          __syncthreads();  // the chunk is written
          for (int k287 = tid1; k287 < n21; k287 += 512) {
            const int v288 = v124 + k287;
            const int v289 = (int)((unsigned)k287 + (unsigned)1);
            const int v290 = (int)((unsigned)v289 * (unsigned)4096);
            int var291 = 0;
            for (int k292 = 0; k292 < 12; ++k292) {
              const int v293 = (int)((k292 >= 0 && k292 < 32) ? 2048 >> k292 : (2048 >> 31));
              const int v294 = var291 + v293;
              const bool v295 = v294 <= 3584;
              const int v296 = v294 + (-1);
              const int v297 = v295 ? items[v296] : 0;
              const bool v298 = v297 < v290;
              const bool v299 = v295 && v298;
              const int v300 = v299 ? v294 : var291;
              var291 = v300;
            }
            const int v301 = var291;
            const int v302 = go_on[v288];
            const int v303 = (int)((unsigned)v302 + (unsigned)v301);
            go_on[v288] = v303;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v132) {
      int var304 = total119;
      for (int k305 = 0; k305 < n21; k305 += 512) {
        const int v306 = k305 + tid1;
        const bool v307 = v306 < n21;
        const int v308 = v124 + v306;
        const int v309 = v307 ? go_on[v308] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan310[2];
        fw_scan_sum_i32_512x1(v309, scan310, fw_scratch0);
        const int v311 = scan310[0];
        const int v312 = scan310[1];
        if (v307) {
          const int v313 = (int)((unsigned)var304 + (unsigned)v311);
          go_on[v308] = v313;
        }
        const int v314 = (int)((unsigned)var304 + (unsigned)v312);
        var304 = v314;
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
  const int v315 = bid2 * 3584;
  int var316 = 0;
  int var317 = 0;
  for (int k318 = tid2; k318 < n8; k318 += 512) {
    const int v319 = __ldg(bases + k318);
    const int v320 = __ldg(counts + k318);
    const int v321 = v315 - v319;
    const int v322 = v321 > 0 ? v321 : 0;
    const int v323 = v322 + 3583;
    const int v324 = fw_udiv(v323, 3584);
    const int v325 = v324 * 3584;
    const int v326 = (int)((unsigned)v319 + (unsigned)v325);
    const int v327 = (int)((unsigned)v326 - (unsigned)v315);
    const bool v328 = v327 < 3584;
    const bool v329 = v325 < v320;
    const bool v330 = v328 && v329;
    const bool v331 = v320 > n23;
    const bool v332 = v330 && v331;
    const bool v333 = v325 == 0;
    const bool v334 = !v333;
    const bool v335 = v332 && v333;
    const int v336 = (int)((unsigned)k318 + (unsigned)1);
    const int v337 = v335 ? v336 : var316;
    var316 = v337;
    const bool v338 = v332 && v334;
    const int v339 = v338 ? v336 : var317;
    var317 = v339;
  }
  const int v341 = var316;
  const int total340 = fw_sum_i32_512x1(v341, fw_scratch0);
  const int v343 = var317;
  const int total342 = fw_sum_i32_512x1(v343, fw_scratch1);
  for (int k344 = 0; k344 < 2; ++k344) {
    const bool v345 = k344 == 0;
    const int v346 = v345 ? total340 : total342;
    const bool v347 = v346 > 0;
    if (v347) {
      const int v348 = v346 + (-1);
      const int v349 = __ldg(bases + v348);
      const int v350 = __ldg(counts + v348);
      const int v351 = v348 * n14;
      const bool v352 = n21 > 1;
      const int v353 = bid2 * 2;
      const int v354 = v353 + k344;
      const int v355 = v354 * n21;
      const int v356 = (int)((unsigned)v348 * (unsigned)n21);
      const int v357 = v315 - v349;
      const int v358 = v357 > 0 ? v357 : 0;
      const int v359 = v358 + 3583;
      const int v360 = fw_udiv(v359, 3584);
      const int v361 = v360 * 3584;
      if (v352) {
        #pragma unroll
        for (int k362 = 0; k362 < 7; ++k362) {
          held[k362] = 0;
        }
        for (int k363 = 0; k363 < n24; ++k363) {
          const int v364 = (int)((unsigned)n24 + (unsigned)(-1));
          const int v365 = (int)((unsigned)v364 - (unsigned)k363);
          const int v366 = (v365 >= 0 && v365 < 32) ? (int)((unsigned)1 << v365) : (int)0;
          #pragma unroll
          for (int k367 = 0; k367 < 7; ++k367) {
            const int v368 = (int)((unsigned)k367 * (unsigned)512);
            const int v369 = (int)((unsigned)v368 + (unsigned)tid2);
            const int v370 = (int)((unsigned)v361 + (unsigned)v369);
            const int v371 = held[k367];
            const int v372 = v371 + v366;
            const bool v373 = v372 < n14;
            const int v374 = v351 + v372;
            const int v375 = v373 ? __ldg(before + v374) : 0;
            const bool v376 = v375 <= v370;
            const bool v377 = v373 && v376;
            const int v378 = v377 ? v372 : v371;
            held[k367] = v378;
          }
        }
        #pragma unroll
        for (int k379 = 0; k379 < 7; ++k379) {
          const int v380 = k379 * 512;
          const int v381 = v380 + tid2;
          const int v382 = v361 + v381;
          const bool v383 = v382 < v350;
          const int v384 = held[k379];
          const int v385 = v351 + v384;
          const int v386 = v384 * 3584;
          const int v387 = v383 ? __ldg(before + v385) : 0;
          const int v388 = v382 - v387;
          const int v389 = v383 ? __ldg(first + v385) : 0;
          const int v390 = v389 + v388;
          const int v391 = v386 + v390;
          const int v392 = v383 ? __ldg(tiles + v391) : 0;
          const int v393 = v392 & 4095;
          const int v394 = (int)((unsigned)v392 - (unsigned)v393);
          const int v395 = (int)((unsigned)v394 + (unsigned)v381);
          const int v396 = v383 ? v395 : 2147483647;
          items[v381] = v396;
          const int v397 = (int)((unsigned)v386 + (unsigned)v393);
          others[v381] = v397;
        }
        __syncthreads();  // the bucket's points are there
        for (int k398 = 0; k398 < n25; ++k398) {
          const int v399 = (int)((unsigned)k398 * (unsigned)2);
          const int v400 = (int)((unsigned)v399 + (unsigned)12);
          const int v401 = tid2 * 7;
          long long var402 = 0ll;
          #pragma unroll
          for (int k403 = 0; k403 < 7; ++k403) {
            const int v404 = v401 + k403;
            const int v405 = items[v404];
            held[k403] = v405;
            const int v406 = (int)((v400 >= 0 && v400 < 32) ? v405 >> v400 : (v405 >> 31));
            const int v407 = v406 & 3;
            const int v408 = (int)((unsigned)v407 * (unsigned)16);
            const long long v409 = (long long)v408;
            const long long v410 = (v409 >= 0 && v409 < 64) ? (long long)((unsigned long long)1ll << v409) : (long long)0;
            const long long v411 = (long long)((unsigned long long)var402 + (unsigned long long)v410);
            var402 = v411;
          }
          const long long v412 = var402;
          long long scan413[2];
          fw_scan_sum_i64_512x1(v412, scan413, fw_scratch0);
          const long long v414 = scan413[0];
          const long long v415 = scan413[1];
          const long long v416 = (long long)((unsigned long long)v415 << 16ll);
          const long long v417 = (long long)((unsigned long long)v414 + (unsigned long long)v416);
          const long long v418 = (long long)((unsigned long long)v415 << 32ll);
          const long long v419 = (long long)((unsigned long long)v417 + (unsigned long long)v418);
          const long long v420 = (long long)((unsigned long long)v415 << 48ll);
          const long long v421 = (long long)((unsigned long long)v419 + (unsigned long long)v420);
          long long var422 = v421;
          #pragma unroll
          for (int k423 = 0; k423 < 7; ++k423) {
            const int v424 = held[k423];
            const int v425 = (int)((v400 >= 0 && v400 < 32) ? v424 >> v400 : (v424 >> 31));
            const int v426 = v425 & 3;
            const int v427 = (int)((unsigned)v426 * (unsigned)16);
            const long long v428 = (long long)v427;
            const long long v429 = (long long)((v428 >= 0 && v428 < 64) ? var422 >> v428 : (var422 >> 63));
            const long long v430 = v429 & 65535ll;
            const int v431 = (int)v430;
            items[v431] = v424;
            const long long v432 = (v428 >= 0 && v428 < 64) ? (long long)((unsigned long long)1ll << v428) : (long long)0;
            const long long v433 = (long long)((unsigned long long)var422 + (unsigned long long)v432);
            var422 = v433;
          }
          __syncthreads();  // the items are sorted by two more bits
        }
        for (int k434 = tid2; k434 < n21; k434 += 512) {
          const int v435 = (int)((unsigned)v356 + (unsigned)k434);
          const int v436 = (int)((unsigned)k434 + (unsigned)1);
          const int v437 = (int)((unsigned)k434 * (unsigned)4096);
          int var438 = 0;
          for (int k439 = 0; k439 < 12; ++k439) {
            const int v440 = (int)((k439 >= 0 && k439 < 32) ? 2048 >> k439 : (2048 >> 31));
            const int v441 = var438 + v440;
            const bool v442 = v441 <= 3584;
            const int v443 = v441 + (-1);
            const int v444 = v442 ? items[v443] : 0;
            const bool v445 = v444 < v437;
            const bool v446 = v442 && v445;
            const int v447 = v446 ? v441 : var438;
            var438 = v447;
          }
          const int v448 = var438;
          const int v449 = (int)((unsigned)v436 * (unsigned)4096);
          int var450 = 0;
          for (int k451 = 0; k451 < 12; ++k451) {
            const int v452 = (int)((k451 >= 0 && k451 < 32) ? 2048 >> k451 : (2048 >> 31));
            const int v453 = var450 + v452;
            const bool v454 = v453 <= 3584;
            const int v455 = v453 + (-1);
            const int v456 = v454 ? items[v455] : 0;
            const bool v457 = v456 < v449;
            const bool v458 = v454 && v457;
            const int v459 = v458 ? v453 : var450;
            var450 = v459;
          }
          const int v460 = var450;
          const int v461 = v355 + k434;
          const int v462 = (int)((unsigned)v460 - (unsigned)v448);
          crowd_counts[v461] = v462;
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
  const int v463 = bid3 * 3584;
  int var464 = 0;
  int var465 = 0;
  for (int k466 = tid3; k466 < n8; k466 += 512) {
    const int v467 = __ldg(bases + k466);
    const int v468 = __ldg(counts + k466);
    const int v469 = v463 - v467;
    const int v470 = v469 > 0 ? v469 : 0;
    const int v471 = v470 + 3583;
    const int v472 = fw_udiv(v471, 3584);
    const int v473 = v472 * 3584;
    const int v474 = (int)((unsigned)v467 + (unsigned)v473);
    const int v475 = (int)((unsigned)v474 - (unsigned)v463);
    const bool v476 = v475 < 3584;
    const bool v477 = v473 < v468;
    const bool v478 = v476 && v477;
    const bool v479 = v468 > n23;
    const bool v480 = v478 && v479;
    const bool v481 = v473 == 0;
    const bool v482 = !v481;
    const bool v483 = v480 && v481;
    const int v484 = (int)((unsigned)k466 + (unsigned)1);
    const int v485 = v483 ? v484 : var464;
    var464 = v485;
    const bool v486 = v480 && v482;
    const int v487 = v486 ? v484 : var465;
    var465 = v487;
  }
  const int v489 = var464;
  const int total488 = fw_sum_i32_512x1(v489, fw_scratch0);
  const int v491 = var465;
  const int total490 = fw_sum_i32_512x1(v491, fw_scratch1);
  for (int k492 = 0; k492 < 2; ++k492) {
    const bool v493 = k492 == 0;
    const int v494 = v493 ? total488 : total490;
    const bool v495 = v494 > 0;
    if (v495) {
      const int v496 = v494 + (-1);
      const int v497 = __ldg(bases + v496);
      const int v498 = __ldg(counts + v496);
      const int v499 = v496 * n14;
      const bool v500 = n21 > 1;
      const int v501 = bid3 * 2;
      const int v502 = v501 + k492;
      const int v503 = v502 * n21;
      const int v504 = v496 * n21;
      const int v505 = v463 - v497;
      const int v506 = v505 > 0 ? v505 : 0;
      const int v507 = v506 + 3583;
      const int v508 = fw_udiv(v507, 3584);
      const int v509 = v508 * 3584;
      #pragma unroll
      for (int k510 = 0; k510 < 7; ++k510) {
        held[k510] = 0;
      }
      for (int k511 = 0; k511 < n24; ++k511) {
        const int v512 = (int)((unsigned)n24 + (unsigned)(-1));
        const int v513 = (int)((unsigned)v512 - (unsigned)k511);
        const int v514 = (v513 >= 0 && v513 < 32) ? (int)((unsigned)1 << v513) : (int)0;
        #pragma unroll
        for (int k515 = 0; k515 < 7; ++k515) {
          const int v516 = (int)((unsigned)k515 * (unsigned)512);
          const int v517 = (int)((unsigned)v516 + (unsigned)tid3);
          const int v518 = (int)((unsigned)v509 + (unsigned)v517);
          const int v519 = held[k515];
          const int v520 = v519 + v514;
          const bool v521 = v520 < n14;
          const int v522 = v499 + v520;
          const int v523 = v521 ? __ldg(before + v522) : 0;
          const bool v524 = v523 <= v518;
          const bool v525 = v521 && v524;
          const int v526 = v525 ? v520 : v519;
          held[k515] = v526;
        }
      }
      #pragma unroll
      for (int k527 = 0; k527 < 7; ++k527) {
        const int v528 = k527 * 512;
        const int v529 = v528 + tid3;
        const int v530 = v509 + v529;
        const bool v531 = v530 < v498;
        const int v532 = held[k527];
        const int v533 = v499 + v532;
        const int v534 = v532 * 3584;
        const int v535 = v531 ? __ldg(before + v533) : 0;
        const int v536 = v530 - v535;
        const int v537 = v531 ? __ldg(first + v533) : 0;
        const int v538 = v537 + v536;
        const int v539 = v534 + v538;
        const int v540 = v531 ? __ldg(tiles + v539) : 0;
        const int v541 = v540 & 4095;
        const int v542 = (int)((unsigned)v540 - (unsigned)v541);
        const int v543 = (int)((unsigned)v542 + (unsigned)v529);
        const int v544 = v531 ? v543 : 2147483647;
        items[v529] = v544;
        const int v545 = (int)((unsigned)v534 + (unsigned)v541);
        others[v529] = v545;
      }
      __syncthreads();  // the bucket's points are there
      for (int k546 = 0; k546 < n25; ++k546) {
        const int v547 = (int)((unsigned)k546 * (unsigned)2);
        const int v548 = (int)((unsigned)v547 + (unsigned)12);
        const int v549 = tid3 * 7;
        long long var550 = 0ll;
        #pragma unroll
        for (int k551 = 0; k551 < 7; ++k551) {
          const int v552 = v549 + k551;
          const int v553 = items[v552];
          held[k551] = v553;
          const int v554 = (int)((v548 >= 0 && v548 < 32) ? v553 >> v548 : (v553 >> 31));
          const int v555 = v554 & 3;
          const int v556 = (int)((unsigned)v555 * (unsigned)16);
          const long long v557 = (long long)v556;
          const long long v558 = (v557 >= 0 && v557 < 64) ? (long long)((unsigned long long)1ll << v557) : (long long)0;
          const long long v559 = (long long)((unsigned long long)var550 + (unsigned long long)v558);
          var550 = v559;
        }
        const long long v560 = var550;
        long long scan561[2];
        fw_scan_sum_i64_512x1(v560, scan561, fw_scratch0);
        const long long v562 = scan561[0];
        const long long v563 = scan561[1];
        const long long v564 = (long long)((unsigned long long)v563 << 16ll);
        const long long v565 = (long long)((unsigned long long)v562 + (unsigned long long)v564);
        const long long v566 = (long long)((unsigned long long)v563 << 32ll);
        const long long v567 = (long long)((unsigned long long)v565 + (unsigned long long)v566);
        const long long v568 = (long long)((unsigned long long)v563 << 48ll);
        const long long v569 = (long long)((unsigned long long)v567 + (unsigned long long)v568);
        long long var570 = v569;
        #pragma unroll
        for (int k571 = 0; k571 < 7; ++k571) {
          const int v572 = held[k571];
          const int v573 = (int)((v548 >= 0 && v548 < 32) ? v572 >> v548 : (v572 >> 31));
          const int v574 = v573 & 3;
          const int v575 = (int)((unsigned)v574 * (unsigned)16);
          const long long v576 = (long long)v575;
          const long long v577 = (long long)((v576 >= 0 && v576 < 64) ? var570 >> v576 : (var570 >> 63));
          const long long v578 = v577 & 65535ll;
          const int v579 = (int)v578;
          items[v579] = v572;
          const long long v580 = (v576 >= 0 && v576 < 64) ? (long long)((unsigned long long)1ll << v576) : (long long)0;
          const long long v581 = (long long)((unsigned long long)var570 + (unsigned long long)v580);
          var570 = v581;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      const int v582 = fw_udiv(v497, 3584);
      const int v583 = fw_udiv(v509, 3584);
      const int v584 = v498 + 3583;
      const int v585 = fw_udiv(v584, 3584);
      const int v586 = v500 ? v585 : 0;
      int var587 = v497;
      for (int k588 = 0; k588 < n21; k588 += 512) {
        const int v589 = k588 + tid3;
        const bool v590 = v589 < n21;
        const int v591 = v504 + v589;
        const int v592 = v500 ? 0 : v509;
        int var593 = v592;
        int var594 = 0;
        for (int k595 = 0; k595 < v586; ++k595) {
          const int v596 = k595 < 1 ? k595 : 1;
          const int v597 = v582 + k595;
          const int v598 = v597 * 2;
          const int v599 = v598 + v596;
          const int v600 = v599 * n21;
          const int v601 = v600 + v589;
          const int v602 = v590 ? __ldg(crowd_counts + v601) : 0;
          const int v603 = (int)((unsigned)var594 + (unsigned)v602);
          var594 = v603;
          const bool v604 = k595 < v583;
          const int v605 = v604 ? v602 : 0;
          const int v606 = (int)((unsigned)var593 + (unsigned)v605);
          var593 = v606;
        }
        const int v607 = var594;
        __syncthreads();  // all have read the results of the collective before
        int scan608[2];
        fw_scan_sum_i32_512x1(v607, scan608, fw_scratch0);
        const int v609 = scan608[0];
        const int v610 = scan608[1];
        const int v611 = (int)((unsigned)var587 + (unsigned)v609);
        if (v590) {
          const int v612 = (int)((unsigned)v611 + (unsigned)var593);
          const int v613 = (int)((unsigned)v589 * (unsigned)4096);
          int var614 = 0;
          for (int k615 = 0; k615 < 12; ++k615) {
            const int v616 = (int)((k615 >= 0 && k615 < 32) ? 2048 >> k615 : (2048 >> 31));
            const int v617 = var614 + v616;
            const bool v618 = v617 <= 3584;
            const int v619 = v617 + (-1);
            const int v620 = v618 ? items[v619] : 0;
            const bool v621 = v620 < v613;
            const bool v622 = v618 && v621;
            const int v623 = v622 ? v617 : var614;
            var614 = v623;
          }
          const int v624 = var614;
          const int v625 = (int)((unsigned)v612 - (unsigned)v624);
          const int v626 = v503 + v589;
          go_on[v626] = v625;
          const bool v627 = v509 == 0;
          const bool v628 = v591 <= n26;
          const bool v629 = v627 && v628;
          if (v629) {
            start[v591] = v611;
          }
        }
        const int v630 = (int)((unsigned)var587 + (unsigned)v610);
        var587 = v630;
      }
      __syncthreads();  // where each row goes on is known
      #pragma unroll
      for (int k631 = 0; k631 < 7; ++k631) {
        const int v632 = k631 * 512;
        const int v633 = v632 + tid3;
        const int v634 = (int)((unsigned)v509 + (unsigned)v633);
        const bool v635 = v634 < v498;
        if (v635) {
          const int v636 = items[v633];
          const int v637 = v636 & 4095;
          const int v638 = fw_udiv(v636, 4096);
          const int v639 = v503 + v638;
          const int v640 = go_on[v639];
          const int v641 = v640 + v633;
          const int v642 = others[v637];
          order[v641] = v642;
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
  const int v643 = bid4;
  const int v644 = (int)((unsigned)bid4 - (unsigned)v643);
  const int v645 = v643 * 128;
  const int v646 = v645 + tid4;
  const bool v647 = v646 < n31;
  const long long v661 = (long long)n11;
  if (v647) {
    const int v648 = v646 * n32;
    const int v649 = v648 + n33;
    const int v650 = __ldg(start + n26);
    const bool v651 = v649 < v650;
    if (v651) {
      const int v652 = __ldg(order + v649);
      const int v653 = fw_udiv_by(v652, n9, n9_inverse);
      const int v654 = v653 * n9;
      const int v655 = v652 - v654;
      const int v656 = v653 * n12;
      const int v657 = v653 * n10;
      const int v658 = v657 + v655;
      const long long v659 = __ldg(in0 + v658);
      const bool v660 = v659 < 0ll;
      const long long v662 = v659 + v661;
      const long long v663 = v660 ? v662 : v659;
      const int v664 = (int)v663;
      const int v665 = v656 + v664;
      const int v666 = __ldg(start + v665);
      const int v667 = v665 + 1;
      const int v668 = __ldg(start + v667);
      const int v669 = v646 * n32;
      const int v670 = v669 - v666;
      const int v671 = v670 > 0 ? v670 : 0;
      const int v672 = v671 + n33;
      const int v673 = fw_udiv(v672, n32);
      const int v674 = v673 * n32;
      const int v675 = v666 + v674;
      const int v676 = v675 + n32;
      const bool v677 = v676 <= v668;
      if (v677) {
        float acc678 = 0.0f;
        const int v679 = v676 + (-1);
        for (int k680 = v675; k680 < v676; k680 += 8) {
          const int v681 = __ldg(order + k680);
          const int v682 = fw_udiv_by(v681, n9, n9_inverse);
          const int v683 = v682 * n9;
          const int v684 = v681 - v683;
          const int v685 = v682 * n34;
          const int v686 = v685 + v684;
          const float v687 = fw_bf16_f32(__ldg(in1 + v686));
          const int v688 = k680 + 1;
          const bool v689 = v688 < v676;
          const int v690 = v688 < v679 ? v688 : v679;
          const int v691 = __ldg(order + v690);
          const int v692 = fw_udiv_by(v691, n9, n9_inverse);
          const int v693 = v692 * n9;
          const int v694 = v691 - v693;
          const int v695 = v692 * n34;
          const int v696 = v695 + v694;
          const float v697 = fw_bf16_f32(__ldg(in1 + v696));
          const int v698 = k680 + 2;
          const bool v699 = v698 < v676;
          const int v700 = v698 < v679 ? v698 : v679;
          const int v701 = __ldg(order + v700);
          const int v702 = fw_udiv_by(v701, n9, n9_inverse);
          const int v703 = v702 * n9;
          const int v704 = v701 - v703;
          const int v705 = v702 * n34;
          const int v706 = v705 + v704;
          const float v707 = fw_bf16_f32(__ldg(in1 + v706));
          const int v708 = k680 + 3;
          const bool v709 = v708 < v676;
          const int v710 = v708 < v679 ? v708 : v679;
          const int v711 = __ldg(order + v710);
          const int v712 = fw_udiv_by(v711, n9, n9_inverse);
          const int v713 = v712 * n9;
          const int v714 = v711 - v713;
          const int v715 = v712 * n34;
          const int v716 = v715 + v714;
          const float v717 = fw_bf16_f32(__ldg(in1 + v716));
          const int v718 = k680 + 4;
          const bool v719 = v718 < v676;
          const int v720 = v718 < v679 ? v718 : v679;
          const int v721 = __ldg(order + v720);
          const int v722 = fw_udiv_by(v721, n9, n9_inverse);
          const int v723 = v722 * n9;
          const int v724 = v721 - v723;
          const int v725 = v722 * n34;
          const int v726 = v725 + v724;
          const float v727 = fw_bf16_f32(__ldg(in1 + v726));
          const int v728 = k680 + 5;
          const bool v729 = v728 < v676;
          const int v730 = v728 < v679 ? v728 : v679;
          const int v731 = __ldg(order + v730);
          const int v732 = fw_udiv_by(v731, n9, n9_inverse);
          const int v733 = v732 * n9;
          const int v734 = v731 - v733;
          const int v735 = v732 * n34;
          const int v736 = v735 + v734;
          const float v737 = fw_bf16_f32(__ldg(in1 + v736));
          const int v738 = k680 + 6;
          const bool v739 = v738 < v676;
          const int v740 = v738 < v679 ? v738 : v679;
          const int v741 = __ldg(order + v740);
          const int v742 = fw_udiv_by(v741, n9, n9_inverse);
          const int v743 = v742 * n9;
          const int v744 = v741 - v743;
          const int v745 = v742 * n34;
          const int v746 = v745 + v744;
          const float v747 = fw_bf16_f32(__ldg(in1 + v746));
          const int v748 = k680 + 7;
          const bool v749 = v748 < v676;
          const int v750 = v748 < v679 ? v748 : v679;
          const int v751 = __ldg(order + v750);
          const int v752 = fw_udiv_by(v751, n9, n9_inverse);
          const int v753 = v752 * n9;
          const int v754 = v751 - v753;
          const int v755 = v752 * n34;
          const int v756 = v755 + v754;
          const float v757 = fw_bf16_f32(__ldg(in1 + v756));
          const float v758 = acc678 + v687;
          acc678 = v758;
          const float v759 = acc678 + v697;
          const float v760 = v689 ? v759 : acc678;
          acc678 = v760;
          const float v761 = acc678 + v707;
          const float v762 = v699 ? v761 : acc678;
          acc678 = v762;
          const float v763 = acc678 + v717;
          const float v764 = v709 ? v763 : acc678;
          acc678 = v764;
          const float v765 = acc678 + v727;
          const float v766 = v719 ? v765 : acc678;
          acc678 = v766;
          const float v767 = acc678 + v737;
          const float v768 = v729 ? v767 : acc678;
          acc678 = v768;
          const float v769 = acc678 + v747;
          const float v770 = v739 ? v769 : acc678;
          acc678 = v770;
          const float v771 = acc678 + v757;
          const float v772 = v749 ? v771 : acc678;
          acc678 = v772;
        }
        const float v773 = acc678;
        pieces[v646] = v773;
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
  const int v774 = bid5;
  const int v775 = (int)((unsigned)bid5 - (unsigned)v774);
  const int v776 = v774 * 128;
  const int v777 = v776 + tid5;
  const bool v778 = v777 < n36;
  const long long v794 = (long long)n11;
  if (v778) {
    const int v779 = v777 * n37;
    const int v780 = v779 + n38;
    const int v781 = v780 * n32;
    const int v782 = v781 + n33;
    const int v783 = __ldg(start + n26);
    const bool v784 = v782 < v783;
    if (v784) {
      const int v785 = __ldg(order + v782);
      const int v786 = fw_udiv(v785, n9);
      const int v787 = v786 * n9;
      const int v788 = v785 - v787;
      const int v789 = v786 * n12;
      const int v790 = v786 * n10;
      const int v791 = v790 + v788;
      const long long v792 = __ldg(in0 + v791);
      const bool v793 = v792 < 0ll;
      const long long v795 = v792 + v794;
      const long long v796 = v793 ? v795 : v792;
      const int v797 = (int)v796;
      const int v798 = v789 + v797;
      const int v799 = __ldg(start + v798);
      const int v800 = v798 + 1;
      const int v801 = __ldg(start + v800);
      const int v802 = fw_udiv_by(v799, n32, n32_inverse);
      const int v803 = v801 - v799;
      const int v804 = fw_udiv_by(v803, n32, n32_inverse);
      const int v805 = v802 + v804;
      const int v806 = v777 * n37;
      const int v807 = v806 - v802;
      const int v808 = v807 > 0 ? v807 : 0;
      const int v809 = v808 + n38;
      const int v810 = fw_udiv(v809, n37);
      const int v811 = v810 * n37;
      const int v812 = v802 + v811;
      const int v813 = v812 + n37;
      const bool v814 = v813 <= v805;
      if (v814) {
        float acc815 = 0.0f;
        const int v816 = v813 + (-1);
        for (int k817 = v812; k817 < v813; k817 += 8) {
          const float v818 = pieces[k817];
          const int v819 = k817 + 1;
          const bool v820 = v819 < v813;
          const int v821 = v819 < v816 ? v819 : v816;
          const float v822 = pieces[v821];
          const int v823 = k817 + 2;
          const bool v824 = v823 < v813;
          const int v825 = v823 < v816 ? v823 : v816;
          const float v826 = pieces[v825];
          const int v827 = k817 + 3;
          const bool v828 = v827 < v813;
          const int v829 = v827 < v816 ? v827 : v816;
          const float v830 = pieces[v829];
          const int v831 = k817 + 4;
          const bool v832 = v831 < v813;
          const int v833 = v831 < v816 ? v831 : v816;
          const float v834 = pieces[v833];
          const int v835 = k817 + 5;
          const bool v836 = v835 < v813;
          const int v837 = v835 < v816 ? v835 : v816;
          const float v838 = pieces[v837];
          const int v839 = k817 + 6;
          const bool v840 = v839 < v813;
          const int v841 = v839 < v816 ? v839 : v816;
          const float v842 = pieces[v841];
          const int v843 = k817 + 7;
          const bool v844 = v843 < v813;
          const int v845 = v843 < v816 ? v843 : v816;
          const float v846 = pieces[v845];
          const float v847 = acc815 + v818;
          acc815 = v847;
          const float v848 = acc815 + v822;
          const float v849 = v820 ? v848 : acc815;
          acc815 = v849;
          const float v850 = acc815 + v826;
          const float v851 = v824 ? v850 : acc815;
          acc815 = v851;
          const float v852 = acc815 + v830;
          const float v853 = v828 ? v852 : acc815;
          acc815 = v853;
          const float v854 = acc815 + v834;
          const float v855 = v832 ? v854 : acc815;
          acc815 = v855;
          const float v856 = acc815 + v838;
          const float v857 = v836 ? v856 : acc815;
          acc815 = v857;
          const float v858 = acc815 + v842;
          const float v859 = v840 ? v858 : acc815;
          acc815 = v859;
          const float v860 = acc815 + v846;
          const float v861 = v844 ? v860 : acc815;
          acc815 = v861;
        }
        const int v862 = v777 + n39;
        const float v863 = acc815;
        pieces[v862] = v863;
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
  const int v864 = bid6;
  const int v865 = (int)((unsigned)bid6 - (unsigned)v864);
  const int v866 = v864 * 128;
  const int v867 = v866 + tid6;
  const bool v868 = v867 < n41;
  const int v869 = n41 + (-1);
  const int v870 = v867 < v869 ? v867 : v869;
  const int v871 = __ldg(start + v870);
  const int v872 = v870 + 1;
  const int v873 = __ldg(start + v872);
  const float v874 = fw_bf16_f32(__ldg(in2 + v870));
  float acc875 = v874;
  const int v876 = fw_udiv_by(v871, n32, n32_inverse);
  const int v877 = v873 - v871;
  const int v878 = fw_udiv_by(v877, n32, n32_inverse);
  const int v879 = v876 + v878;
  const int v880 = fw_udiv_by(v876, n37, n37_inverse);
  const int v881 = v879 - v876;
  const int v882 = fw_udiv_by(v881, n37, n37_inverse);
  const int v883 = v880 + n39;
  const int v884 = v882 * n38;
  const int v885 = v876 + v884;
  const int v886 = v878 - v884;
  const int v887 = v886 + (-1);
  for (int k888 = 0; k888 < v886; k888 += 8) {
    const bool v889 = k888 < v882;
    const int v890 = v889 ? v883 : v885;
    const int v891 = k888 + v890;
    const float v892 = __ldg(pieces + v891);
    const int v893 = k888 + 1;
    const bool v894 = v893 < v886;
    const int v895 = v893 < v887 ? v893 : v887;
    const bool v896 = v895 < v882;
    const int v897 = v896 ? v883 : v885;
    const int v898 = v895 + v897;
    const float v899 = __ldg(pieces + v898);
    const int v900 = k888 + 2;
    const bool v901 = v900 < v886;
    const int v902 = v900 < v887 ? v900 : v887;
    const bool v903 = v902 < v882;
    const int v904 = v903 ? v883 : v885;
    const int v905 = v902 + v904;
    const float v906 = __ldg(pieces + v905);
    const int v907 = k888 + 3;
    const bool v908 = v907 < v886;
    const int v909 = v907 < v887 ? v907 : v887;
    const bool v910 = v909 < v882;
    const int v911 = v910 ? v883 : v885;
    const int v912 = v909 + v911;
    const float v913 = __ldg(pieces + v912);
    const int v914 = k888 + 4;
    const bool v915 = v914 < v886;
    const int v916 = v914 < v887 ? v914 : v887;
    const bool v917 = v916 < v882;
    const int v918 = v917 ? v883 : v885;
    const int v919 = v916 + v918;
    const float v920 = __ldg(pieces + v919);
    const int v921 = k888 + 5;
    const bool v922 = v921 < v886;
    const int v923 = v921 < v887 ? v921 : v887;
    const bool v924 = v923 < v882;
    const int v925 = v924 ? v883 : v885;
    const int v926 = v923 + v925;
    const float v927 = __ldg(pieces + v926);
    const int v928 = k888 + 6;
    const bool v929 = v928 < v886;
    const int v930 = v928 < v887 ? v928 : v887;
    const bool v931 = v930 < v882;
    const int v932 = v931 ? v883 : v885;
    const int v933 = v930 + v932;
    const float v934 = __ldg(pieces + v933);
    const int v935 = k888 + 7;
    const bool v936 = v935 < v886;
    const int v937 = v935 < v887 ? v935 : v887;
    const bool v938 = v937 < v882;
    const int v939 = v938 ? v883 : v885;
    const int v940 = v937 + v939;
    const float v941 = __ldg(pieces + v940);
    const float v942 = acc875 + v892;
    acc875 = v942;
    const float v943 = acc875 + v899;
    const float v944 = v894 ? v943 : acc875;
    acc875 = v944;
    const float v945 = acc875 + v906;
    const float v946 = v901 ? v945 : acc875;
    acc875 = v946;
    const float v947 = acc875 + v913;
    const float v948 = v908 ? v947 : acc875;
    acc875 = v948;
    const float v949 = acc875 + v920;
    const float v950 = v915 ? v949 : acc875;
    acc875 = v950;
    const float v951 = acc875 + v927;
    const float v952 = v922 ? v951 : acc875;
    acc875 = v952;
    const float v953 = acc875 + v934;
    const float v954 = v929 ? v953 : acc875;
    acc875 = v954;
    const float v955 = acc875 + v941;
    const float v956 = v936 ? v955 : acc875;
    acc875 = v956;
  }
  const int v957 = v878 * n32;
  const int v958 = v871 + v957;
  const int v959 = v873 + (-1);
  for (int k960 = v958; k960 < v873; k960 += 8) {
    const int v961 = __ldg(order + k960);
    const int v962 = fw_udiv_by(v961, n9, n9_inverse);
    const int v963 = v962 * n9;
    const int v964 = v961 - v963;
    const int v965 = v962 * n34;
    const int v966 = v965 + v964;
    const float v967 = fw_bf16_f32(__ldg(in1 + v966));
    const int v968 = k960 + 1;
    const bool v969 = v968 < v873;
    const int v970 = v968 < v959 ? v968 : v959;
    const int v971 = __ldg(order + v970);
    const int v972 = fw_udiv_by(v971, n9, n9_inverse);
    const int v973 = v972 * n9;
    const int v974 = v971 - v973;
    const int v975 = v972 * n34;
    const int v976 = v975 + v974;
    const float v977 = fw_bf16_f32(__ldg(in1 + v976));
    const int v978 = k960 + 2;
    const bool v979 = v978 < v873;
    const int v980 = v978 < v959 ? v978 : v959;
    const int v981 = __ldg(order + v980);
    const int v982 = fw_udiv_by(v981, n9, n9_inverse);
    const int v983 = v982 * n9;
    const int v984 = v981 - v983;
    const int v985 = v982 * n34;
    const int v986 = v985 + v984;
    const float v987 = fw_bf16_f32(__ldg(in1 + v986));
    const int v988 = k960 + 3;
    const bool v989 = v988 < v873;
    const int v990 = v988 < v959 ? v988 : v959;
    const int v991 = __ldg(order + v990);
    const int v992 = fw_udiv_by(v991, n9, n9_inverse);
    const int v993 = v992 * n9;
    const int v994 = v991 - v993;
    const int v995 = v992 * n34;
    const int v996 = v995 + v994;
    const float v997 = fw_bf16_f32(__ldg(in1 + v996));
    const int v998 = k960 + 4;
    const bool v999 = v998 < v873;
    const int v1000 = v998 < v959 ? v998 : v959;
    const int v1001 = __ldg(order + v1000);
    const int v1002 = fw_udiv_by(v1001, n9, n9_inverse);
    const int v1003 = v1002 * n9;
    const int v1004 = v1001 - v1003;
    const int v1005 = v1002 * n34;
    const int v1006 = v1005 + v1004;
    const float v1007 = fw_bf16_f32(__ldg(in1 + v1006));
    const int v1008 = k960 + 5;
    const bool v1009 = v1008 < v873;
    const int v1010 = v1008 < v959 ? v1008 : v959;
    const int v1011 = __ldg(order + v1010);
    const int v1012 = fw_udiv_by(v1011, n9, n9_inverse);
    const int v1013 = v1012 * n9;
    const int v1014 = v1011 - v1013;
    const int v1015 = v1012 * n34;
    const int v1016 = v1015 + v1014;
    const float v1017 = fw_bf16_f32(__ldg(in1 + v1016));
    const int v1018 = k960 + 6;
    const bool v1019 = v1018 < v873;
    const int v1020 = v1018 < v959 ? v1018 : v959;
    const int v1021 = __ldg(order + v1020);
    const int v1022 = fw_udiv_by(v1021, n9, n9_inverse);
    const int v1023 = v1022 * n9;
    const int v1024 = v1021 - v1023;
    const int v1025 = v1022 * n34;
    const int v1026 = v1025 + v1024;
    const float v1027 = fw_bf16_f32(__ldg(in1 + v1026));
    const int v1028 = k960 + 7;
    const bool v1029 = v1028 < v873;
    const int v1030 = v1028 < v959 ? v1028 : v959;
    const int v1031 = __ldg(order + v1030);
    const int v1032 = fw_udiv_by(v1031, n9, n9_inverse);
    const int v1033 = v1032 * n9;
    const int v1034 = v1031 - v1033;
    const int v1035 = v1032 * n34;
    const int v1036 = v1035 + v1034;
    const float v1037 = fw_bf16_f32(__ldg(in1 + v1036));
    const float v1038 = acc875 + v967;
    acc875 = v1038;
    const float v1039 = acc875 + v977;
    const float v1040 = v969 ? v1039 : acc875;
    acc875 = v1040;
    const float v1041 = acc875 + v987;
    const float v1042 = v979 ? v1041 : acc875;
    acc875 = v1042;
    const float v1043 = acc875 + v997;
    const float v1044 = v989 ? v1043 : acc875;
    acc875 = v1044;
    const float v1045 = acc875 + v1007;
    const float v1046 = v999 ? v1045 : acc875;
    acc875 = v1046;
    const float v1047 = acc875 + v1017;
    const float v1048 = v1009 ? v1047 : acc875;
    acc875 = v1048;
    const float v1049 = acc875 + v1027;
    const float v1050 = v1019 ? v1049 : acc875;
    acc875 = v1050;
    const float v1051 = acc875 + v1037;
    const float v1052 = v1029 ? v1051 : acc875;
    acc875 = v1052;
  }
  const float v1053 = acc875;
  if (v868) {
    out3[v870] = fw_f32_bf16(v1053);
  }
}
