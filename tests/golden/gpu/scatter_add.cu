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
  const bool v123 = n22 > 0;
  const bool v124 = v119 && v123;
  const int v125 = v121 ? 0 : 1;
  const int v126 = v124 ? 2 : v125;
  for (int k127 = v126; k127 < 2; ++k127) {
    const bool v128 = k127 == 0;
    const bool v129 = !v128;
    if (v128) {
      for (int k130 = tid1; k130 < n21; k130 += 512) {
        const int v131 = v122 + k130;
        go_on[v131] = 0;
      }
    }
    const int v132 = total114 > 1 ? total114 : 1;
    for (int k133 = 0; k133 < v132; k133 += 3584) {
      #pragma unroll
      for (int k134 = 0; k134 < 7; ++k134) {
        held[k134] = 0;
      }
      for (int k135 = 0; k135 < n23; ++k135) {
        const int v136 = (int)((unsigned)n23 + (unsigned)(-1));
        const int v137 = (int)((unsigned)v136 - (unsigned)k135);
        const int v138 = (v137 >= 0 && v137 < 32) ? (int)((unsigned)1 << v137) : (int)0;
        #pragma unroll
        for (int k139 = 0; k139 < 7; ++k139) {
          const int v140 = (int)((unsigned)k139 * (unsigned)512);
          const int v141 = (int)((unsigned)v140 + (unsigned)tid1);
          const int v142 = (int)((unsigned)k133 + (unsigned)v141);
          const int v143 = held[k139];
          const int v144 = v143 + v138;
          const bool v145 = v144 < n14;
          const int v146 = v94 + v144;
          const int v147 = v145 ? before[v146] : 0;
          const bool v148 = v147 <= v142;
          const bool v149 = v145 && v148;
          const int v150 = v149 ? v144 : v143;
          held[k139] = v150;
        }
      }
      #pragma unroll
      for (int k151 = 0; k151 < 7; ++k151) {
        const int v152 = k151 * 512;
        const int v153 = v152 + tid1;
        const int v154 = k133 + v153;
        const bool v155 = v154 < total114;
        const int v156 = held[k151];
        const int v157 = v94 + v156;
        const int v158 = v156 * 3584;
        const int v159 = v155 ? before[v157] : 0;
        const int v160 = v154 - v159;
        const int v161 = v155 ? __ldg(first + v157) : 0;
        const int v162 = v161 + v160;
        const int v163 = v158 + v162;
        const int v164 = v155 ? __ldg(tiles + v163) : 0;
        const int v165 = v164 & 4095;
        const int v166 = (int)((unsigned)v164 - (unsigned)v165);
        const int v167 = (int)((unsigned)v166 + (unsigned)v153);
        const int v168 = v155 ? v167 : 2147483647;
        items[v153] = v168;
        const int v169 = (int)((unsigned)v158 + (unsigned)v165);
        others[v153] = v169;
      }
      __syncthreads();  // the bucket's points are there
      for (int k170 = 0; k170 < n24; ++k170) {
        const int v171 = (int)((unsigned)k170 * (unsigned)2);
        const int v172 = (int)((unsigned)v171 + (unsigned)12);
        const int v173 = tid1 * 7;
        long long var174 = 0ll;
        #pragma unroll
        for (int k175 = 0; k175 < 7; ++k175) {
          const int v176 = v173 + k175;
          const int v177 = items[v176];
          held[k175] = v177;
          const int v178 = (int)((v172 >= 0 && v172 < 32) ? v177 >> v172 : (v177 >> 31));
          const int v179 = v178 & 3;
          const int v180 = (int)((unsigned)v179 * (unsigned)16);
          const long long v181 = (long long)v180;
          const long long v182 = (v181 >= 0 && v181 < 64) ? (long long)((unsigned long long)1ll << v181) : (long long)0;
          const long long v183 = (long long)((unsigned long long)var174 + (unsigned long long)v182);
          var174 = v183;
        }
        const long long v184 = var174;
        long long scan185[2];
        fw_scan_sum_i64_512x1(v184, scan185, fw_scratch0);
        const long long v186 = scan185[0];
        const long long v187 = scan185[1];
        const long long v188 = (long long)((unsigned long long)v187 << 16ll);
        const long long v189 = (long long)((unsigned long long)v186 + (unsigned long long)v188);
        const long long v190 = (long long)((unsigned long long)v187 << 32ll);
        const long long v191 = (long long)((unsigned long long)v189 + (unsigned long long)v190);
        const long long v192 = (long long)((unsigned long long)v187 << 48ll);
        const long long v193 = (long long)((unsigned long long)v191 + (unsigned long long)v192);
        long long var194 = v193;
        #pragma unroll
        for (int k195 = 0; k195 < 7; ++k195) {
          const int v196 = held[k195];
          const int v197 = (int)((v172 >= 0 && v172 < 32) ? v196 >> v172 : (v196 >> 31));
          const int v198 = v197 & 3;
          const int v199 = (int)((unsigned)v198 * (unsigned)16);
          const long long v200 = (long long)v199;
          const long long v201 = (long long)((v200 >= 0 && v200 < 64) ? var194 >> v200 : (var194 >> 63));
          const long long v202 = v201 & 65535ll;
          const int v203 = (int)v202;
          items[v203] = v196;
          const long long v204 = (v200 >= 0 && v200 < 64) ? (long long)((unsigned long long)1ll << v200) : (long long)0;
          const long long v205 = (long long)((unsigned long long)var194 + (unsigned long long)v204);
          var194 = v205;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v128) {
        for (int k206 = tid1; k206 < n21; k206 += 512) {
          const int v207 = v122 + k206;
          const int v208 = go_on[v207];
          const int v209 = (int)((unsigned)k206 * (unsigned)4096);
          int var210 = 0;
          for (int k211 = 0; k211 < 12; ++k211) {
            const int v212 = (int)((k211 >= 0 && k211 < 32) ? 2048 >> k211 : (2048 >> 31));
            const int v213 = var210 + v212;
            const bool v214 = v213 <= 3584;
            const int v215 = v213 + (-1);
            const int v216 = v214 ? items[v215] : 0;
            const bool v217 = v216 < v209;
            const bool v218 = v214 && v217;
            const int v219 = v218 ? v213 : var210;
            var210 = v219;
          }
          const int v220 = var210;
          const int v221 = (int)((unsigned)v208 - (unsigned)v220);
          go_on[v207] = v221;
          const int v222 = (int)((unsigned)k206 + (unsigned)1);
          const int v223 = (int)((unsigned)v222 * (unsigned)4096);
          int var224 = 0;
          for (int k225 = 0; k225 < 12; ++k225) {
            const int v226 = (int)((k225 >= 0 && k225 < 32) ? 2048 >> k225 : (2048 >> 31));
            const int v227 = var224 + v226;
            const bool v228 = v227 <= 3584;
            const int v229 = v227 + (-1);
            const int v230 = v228 ? items[v229] : 0;
            const bool v231 = v230 < v223;
            const bool v232 = v228 && v231;
            const int v233 = v232 ? v227 : var224;
            var224 = v233;
          }
          const int v234 = var224;
          const int v235 = go_on[v207];
          const int v236 = (int)((unsigned)v235 + (unsigned)v234);
          go_on[v207] = v236;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v129) {
        const bool v237 = k133 > 0;
        const bool v238 = v121 || v237;
        for (int k239 = tid1; k239 < n21; k239 += 512) {
          const int v240 = v122 + k239;
          const int v241 = (int)((unsigned)k239 * (unsigned)4096);
          int var242 = 0;
          for (int k243 = 0; k243 < 12; ++k243) {
            const int v244 = (int)((k243 >= 0 && k243 < 32) ? 2048 >> k243 : (2048 >> 31));
            const int v245 = var242 + v244;
            const bool v246 = v245 <= 3584;
            const int v247 = v245 + (-1);
            const int v248 = v246 ? items[v247] : 0;
            const bool v249 = v248 < v241;
            const bool v250 = v246 && v249;
            const int v251 = v250 ? v245 : var242;
            var242 = v251;
          }
          const int v252 = var242;
          const int v253 = (int)((unsigned)total116 + (unsigned)v252);
          int var254 = v253;
          if (v238) {
            const int v255 = go_on[v240];
            var254 = v255;
          }
          const bool v256 = !v237;
          const bool v257 = v240 <= n25;
          const bool v258 = v256 && v257;
          if (v258) {
            start[v240] = var254;
          }
          int var259 = 0;
          for (int k260 = 0; k260 < 12; ++k260) {
            const int v261 = (int)((k260 >= 0 && k260 < 32) ? 2048 >> k260 : (2048 >> 31));
            const int v262 = var259 + v261;
            const bool v263 = v262 <= 3584;
            const int v264 = v262 + (-1);
            const int v265 = v263 ? items[v264] : 0;
            const bool v266 = v265 < v241;
            const bool v267 = v263 && v266;
            const int v268 = v267 ? v262 : var259;
            var259 = v268;
          }
          const int v269 = var259;
          const int v270 = (int)((unsigned)var254 - (unsigned)v269);
          go_on[v240] = v270;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k271 = 0; k271 < 7; ++k271) {
          const int v272 = k271 * 512;
          const int v273 = v272 + tid1;
          const int v274 = (int)((unsigned)k133 + (unsigned)v273);
          const bool v275 = v274 < total114;
          if (v275) {
            const int v276 = items[v273];
            const int v277 = v276 & 4095;
            const int v278 = fw_udiv(v276, 4096);
            const int v279 = v122 + v278;
            const int v280 = go_on[v279];
            const int v281 = v280 + v273;
            const int v282 = others[v277];
            order[v281] = v282;
          }
        }
        if (v119) {
          __syncthreads();  // the chunk is written
          for (int k283 = tid1; k283 < n21; k283 += 512) {
            const int v284 = v122 + k283;
            const int v285 = (int)((unsigned)k283 + (unsigned)1);
            const int v286 = (int)((unsigned)v285 * (unsigned)4096);
            int var287 = 0;
            for (int k288 = 0; k288 < 12; ++k288) {
              const int v289 = (int)((k288 >= 0 && k288 < 32) ? 2048 >> k288 : (2048 >> 31));
              const int v290 = var287 + v289;
              const bool v291 = v290 <= 3584;
              const int v292 = v290 + (-1);
              const int v293 = v291 ? items[v292] : 0;
              const bool v294 = v293 < v286;
              const bool v295 = v291 && v294;
              const int v296 = v295 ? v290 : var287;
              var287 = v296;
            }
            const int v297 = var287;
            const int v298 = go_on[v284];
            const int v299 = (int)((unsigned)v298 + (unsigned)v297);
            go_on[v284] = v299;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v128) {
      int var300 = total116;
      for (int k301 = 0; k301 < n21; k301 += 512) {
        const int v302 = k301 + tid1;
        const bool v303 = v302 < n21;
        const int v304 = v122 + v302;
        const int v305 = v303 ? go_on[v304] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan306[2];
        fw_scan_sum_i32_512x1(v305, scan306, fw_scratch0);
        const int v307 = scan306[0];
        const int v308 = scan306[1];
        if (v303) {
          const int v309 = (int)((unsigned)var300 + (unsigned)v307);
          go_on[v304] = v309;
        }
        const int v310 = (int)((unsigned)var300 + (unsigned)v308);
        var300 = v310;
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
  const int v311 = bid2 * 3584;
  int var312 = 0;
  int var313 = 0;
  for (int k314 = tid2; k314 < n8; k314 += 512) {
    const int v315 = __ldg(bases + k314);
    const int v316 = __ldg(counts + k314);
    const int v317 = v311 - v315;
    const int v318 = v317 > 0 ? v317 : 0;
    const int v319 = v318 + 3583;
    const int v320 = fw_udiv(v319, 3584);
    const int v321 = v320 * 3584;
    const int v322 = (int)((unsigned)v315 + (unsigned)v321);
    const int v323 = (int)((unsigned)v322 - (unsigned)v311);
    const bool v324 = v323 < 3584;
    const bool v325 = v321 < v316;
    const bool v326 = v324 && v325;
    const bool v327 = v316 > 3584;
    const bool v328 = v326 && v327;
    const bool v329 = v321 == 0;
    const bool v330 = !v329;
    const bool v331 = v328 && v329;
    const int v332 = (int)((unsigned)k314 + (unsigned)1);
    const int v333 = v331 ? v332 : var312;
    var312 = v333;
    const bool v334 = v328 && v330;
    const int v335 = v334 ? v332 : var313;
    var313 = v335;
  }
  const int v337 = var312;
  const int total336 = fw_sum_i32_512x1(v337, fw_scratch0);
  const int v339 = var313;
  const int total338 = fw_sum_i32_512x1(v339, fw_scratch1);
  for (int k340 = 0; k340 < 2; ++k340) {
    const bool v341 = k340 == 0;
    const int v342 = v341 ? total336 : total338;
    const bool v343 = v342 > 0;
    if (v343) {
      const int v344 = v342 + (-1);
      const int v345 = __ldg(bases + v344);
      const int v346 = __ldg(counts + v344);
      const int v347 = v344 * n14;
      const bool v348 = n21 > 1;
      const int v349 = bid2 * 2;
      const int v350 = v349 + k340;
      const int v351 = v350 * n21;
      const int v352 = (int)((unsigned)v344 * (unsigned)n21);
      const int v353 = v311 - v345;
      const int v354 = v353 > 0 ? v353 : 0;
      const int v355 = v354 + 3583;
      const int v356 = fw_udiv(v355, 3584);
      const int v357 = v356 * 3584;
      if (v348) {
        #pragma unroll
        for (int k358 = 0; k358 < 7; ++k358) {
          held[k358] = 0;
        }
        for (int k359 = 0; k359 < n23; ++k359) {
          const int v360 = (int)((unsigned)n23 + (unsigned)(-1));
          const int v361 = (int)((unsigned)v360 - (unsigned)k359);
          const int v362 = (v361 >= 0 && v361 < 32) ? (int)((unsigned)1 << v361) : (int)0;
          #pragma unroll
          for (int k363 = 0; k363 < 7; ++k363) {
            const int v364 = (int)((unsigned)k363 * (unsigned)512);
            const int v365 = (int)((unsigned)v364 + (unsigned)tid2);
            const int v366 = (int)((unsigned)v357 + (unsigned)v365);
            const int v367 = held[k363];
            const int v368 = v367 + v362;
            const bool v369 = v368 < n14;
            const int v370 = v347 + v368;
            const int v371 = v369 ? __ldg(before + v370) : 0;
            const bool v372 = v371 <= v366;
            const bool v373 = v369 && v372;
            const int v374 = v373 ? v368 : v367;
            held[k363] = v374;
          }
        }
        #pragma unroll
        for (int k375 = 0; k375 < 7; ++k375) {
          const int v376 = k375 * 512;
          const int v377 = v376 + tid2;
          const int v378 = v357 + v377;
          const bool v379 = v378 < v346;
          const int v380 = held[k375];
          const int v381 = v347 + v380;
          const int v382 = v380 * 3584;
          const int v383 = v379 ? __ldg(before + v381) : 0;
          const int v384 = v378 - v383;
          const int v385 = v379 ? __ldg(first + v381) : 0;
          const int v386 = v385 + v384;
          const int v387 = v382 + v386;
          const int v388 = v379 ? __ldg(tiles + v387) : 0;
          const int v389 = v388 & 4095;
          const int v390 = (int)((unsigned)v388 - (unsigned)v389);
          const int v391 = (int)((unsigned)v390 + (unsigned)v377);
          const int v392 = v379 ? v391 : 2147483647;
          items[v377] = v392;
          const int v393 = (int)((unsigned)v382 + (unsigned)v389);
          others[v377] = v393;
        }
        __syncthreads();  // the bucket's points are there
        for (int k394 = 0; k394 < n24; ++k394) {
          const int v395 = (int)((unsigned)k394 * (unsigned)2);
          const int v396 = (int)((unsigned)v395 + (unsigned)12);
          const int v397 = tid2 * 7;
          long long var398 = 0ll;
          #pragma unroll
          for (int k399 = 0; k399 < 7; ++k399) {
            const int v400 = v397 + k399;
            const int v401 = items[v400];
            held[k399] = v401;
            const int v402 = (int)((v396 >= 0 && v396 < 32) ? v401 >> v396 : (v401 >> 31));
            const int v403 = v402 & 3;
            const int v404 = (int)((unsigned)v403 * (unsigned)16);
            const long long v405 = (long long)v404;
            const long long v406 = (v405 >= 0 && v405 < 64) ? (long long)((unsigned long long)1ll << v405) : (long long)0;
            const long long v407 = (long long)((unsigned long long)var398 + (unsigned long long)v406);
            var398 = v407;
          }
          const long long v408 = var398;
          long long scan409[2];
          fw_scan_sum_i64_512x1(v408, scan409, fw_scratch0);
          const long long v410 = scan409[0];
          const long long v411 = scan409[1];
          const long long v412 = (long long)((unsigned long long)v411 << 16ll);
          const long long v413 = (long long)((unsigned long long)v410 + (unsigned long long)v412);
          const long long v414 = (long long)((unsigned long long)v411 << 32ll);
          const long long v415 = (long long)((unsigned long long)v413 + (unsigned long long)v414);
          const long long v416 = (long long)((unsigned long long)v411 << 48ll);
          const long long v417 = (long long)((unsigned long long)v415 + (unsigned long long)v416);
          long long var418 = v417;
          #pragma unroll
          for (int k419 = 0; k419 < 7; ++k419) {
            const int v420 = held[k419];
            const int v421 = (int)((v396 >= 0 && v396 < 32) ? v420 >> v396 : (v420 >> 31));
            const int v422 = v421 & 3;
            const int v423 = (int)((unsigned)v422 * (unsigned)16);
            const long long v424 = (long long)v423;
            const long long v425 = (long long)((v424 >= 0 && v424 < 64) ? var418 >> v424 : (var418 >> 63));
            const long long v426 = v425 & 65535ll;
            const int v427 = (int)v426;
            items[v427] = v420;
            const long long v428 = (v424 >= 0 && v424 < 64) ? (long long)((unsigned long long)1ll << v424) : (long long)0;
            const long long v429 = (long long)((unsigned long long)var418 + (unsigned long long)v428);
            var418 = v429;
          }
          __syncthreads();  // the items are sorted by two more bits
        }
        for (int k430 = tid2; k430 < n21; k430 += 512) {
          const int v431 = (int)((unsigned)v352 + (unsigned)k430);
          const int v432 = (int)((unsigned)k430 + (unsigned)1);
          const int v433 = (int)((unsigned)k430 * (unsigned)4096);
          int var434 = 0;
          for (int k435 = 0; k435 < 12; ++k435) {
            const int v436 = (int)((k435 >= 0 && k435 < 32) ? 2048 >> k435 : (2048 >> 31));
            const int v437 = var434 + v436;
            const bool v438 = v437 <= 3584;
            const int v439 = v437 + (-1);
            const int v440 = v438 ? items[v439] : 0;
            const bool v441 = v440 < v433;
            const bool v442 = v438 && v441;
            const int v443 = v442 ? v437 : var434;
            var434 = v443;
          }
          const int v444 = var434;
          const int v445 = (int)((unsigned)v432 * (unsigned)4096);
          int var446 = 0;
          for (int k447 = 0; k447 < 12; ++k447) {
            const int v448 = (int)((k447 >= 0 && k447 < 32) ? 2048 >> k447 : (2048 >> 31));
            const int v449 = var446 + v448;
            const bool v450 = v449 <= 3584;
            const int v451 = v449 + (-1);
            const int v452 = v450 ? items[v451] : 0;
            const bool v453 = v452 < v445;
            const bool v454 = v450 && v453;
            const int v455 = v454 ? v449 : var446;
            var446 = v455;
          }
          const int v456 = var446;
          const int v457 = v351 + k430;
          const int v458 = (int)((unsigned)v456 - (unsigned)v444);
          crowd_counts[v457] = v458;
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
  const int v459 = bid3 * 3584;
  int var460 = 0;
  int var461 = 0;
  for (int k462 = tid3; k462 < n8; k462 += 512) {
    const int v463 = __ldg(bases + k462);
    const int v464 = __ldg(counts + k462);
    const int v465 = v459 - v463;
    const int v466 = v465 > 0 ? v465 : 0;
    const int v467 = v466 + 3583;
    const int v468 = fw_udiv(v467, 3584);
    const int v469 = v468 * 3584;
    const int v470 = (int)((unsigned)v463 + (unsigned)v469);
    const int v471 = (int)((unsigned)v470 - (unsigned)v459);
    const bool v472 = v471 < 3584;
    const bool v473 = v469 < v464;
    const bool v474 = v472 && v473;
    const bool v475 = v464 > 3584;
    const bool v476 = v474 && v475;
    const bool v477 = v469 == 0;
    const bool v478 = !v477;
    const bool v479 = v476 && v477;
    const int v480 = (int)((unsigned)k462 + (unsigned)1);
    const int v481 = v479 ? v480 : var460;
    var460 = v481;
    const bool v482 = v476 && v478;
    const int v483 = v482 ? v480 : var461;
    var461 = v483;
  }
  const int v485 = var460;
  const int total484 = fw_sum_i32_512x1(v485, fw_scratch0);
  const int v487 = var461;
  const int total486 = fw_sum_i32_512x1(v487, fw_scratch1);
  for (int k488 = 0; k488 < 2; ++k488) {
    const bool v489 = k488 == 0;
    const int v490 = v489 ? total484 : total486;
    const bool v491 = v490 > 0;
    if (v491) {
      const int v492 = v490 + (-1);
      const int v493 = __ldg(bases + v492);
      const int v494 = __ldg(counts + v492);
      const int v495 = v492 * n14;
      const bool v496 = n21 > 1;
      const int v497 = bid3 * 2;
      const int v498 = v497 + k488;
      const int v499 = v498 * n21;
      const int v500 = v492 * n21;
      const int v501 = v459 - v493;
      const int v502 = v501 > 0 ? v501 : 0;
      const int v503 = v502 + 3583;
      const int v504 = fw_udiv(v503, 3584);
      const int v505 = v504 * 3584;
      #pragma unroll
      for (int k506 = 0; k506 < 7; ++k506) {
        held[k506] = 0;
      }
      for (int k507 = 0; k507 < n23; ++k507) {
        const int v508 = (int)((unsigned)n23 + (unsigned)(-1));
        const int v509 = (int)((unsigned)v508 - (unsigned)k507);
        const int v510 = (v509 >= 0 && v509 < 32) ? (int)((unsigned)1 << v509) : (int)0;
        #pragma unroll
        for (int k511 = 0; k511 < 7; ++k511) {
          const int v512 = (int)((unsigned)k511 * (unsigned)512);
          const int v513 = (int)((unsigned)v512 + (unsigned)tid3);
          const int v514 = (int)((unsigned)v505 + (unsigned)v513);
          const int v515 = held[k511];
          const int v516 = v515 + v510;
          const bool v517 = v516 < n14;
          const int v518 = v495 + v516;
          const int v519 = v517 ? __ldg(before + v518) : 0;
          const bool v520 = v519 <= v514;
          const bool v521 = v517 && v520;
          const int v522 = v521 ? v516 : v515;
          held[k511] = v522;
        }
      }
      #pragma unroll
      for (int k523 = 0; k523 < 7; ++k523) {
        const int v524 = k523 * 512;
        const int v525 = v524 + tid3;
        const int v526 = v505 + v525;
        const bool v527 = v526 < v494;
        const int v528 = held[k523];
        const int v529 = v495 + v528;
        const int v530 = v528 * 3584;
        const int v531 = v527 ? __ldg(before + v529) : 0;
        const int v532 = v526 - v531;
        const int v533 = v527 ? __ldg(first + v529) : 0;
        const int v534 = v533 + v532;
        const int v535 = v530 + v534;
        const int v536 = v527 ? __ldg(tiles + v535) : 0;
        const int v537 = v536 & 4095;
        const int v538 = (int)((unsigned)v536 - (unsigned)v537);
        const int v539 = (int)((unsigned)v538 + (unsigned)v525);
        const int v540 = v527 ? v539 : 2147483647;
        items[v525] = v540;
        const int v541 = (int)((unsigned)v530 + (unsigned)v537);
        others[v525] = v541;
      }
      __syncthreads();  // the bucket's points are there
      for (int k542 = 0; k542 < n24; ++k542) {
        const int v543 = (int)((unsigned)k542 * (unsigned)2);
        const int v544 = (int)((unsigned)v543 + (unsigned)12);
        const int v545 = tid3 * 7;
        long long var546 = 0ll;
        #pragma unroll
        for (int k547 = 0; k547 < 7; ++k547) {
          const int v548 = v545 + k547;
          const int v549 = items[v548];
          held[k547] = v549;
          const int v550 = (int)((v544 >= 0 && v544 < 32) ? v549 >> v544 : (v549 >> 31));
          const int v551 = v550 & 3;
          const int v552 = (int)((unsigned)v551 * (unsigned)16);
          const long long v553 = (long long)v552;
          const long long v554 = (v553 >= 0 && v553 < 64) ? (long long)((unsigned long long)1ll << v553) : (long long)0;
          const long long v555 = (long long)((unsigned long long)var546 + (unsigned long long)v554);
          var546 = v555;
        }
        const long long v556 = var546;
        long long scan557[2];
        fw_scan_sum_i64_512x1(v556, scan557, fw_scratch0);
        const long long v558 = scan557[0];
        const long long v559 = scan557[1];
        const long long v560 = (long long)((unsigned long long)v559 << 16ll);
        const long long v561 = (long long)((unsigned long long)v558 + (unsigned long long)v560);
        const long long v562 = (long long)((unsigned long long)v559 << 32ll);
        const long long v563 = (long long)((unsigned long long)v561 + (unsigned long long)v562);
        const long long v564 = (long long)((unsigned long long)v559 << 48ll);
        const long long v565 = (long long)((unsigned long long)v563 + (unsigned long long)v564);
        long long var566 = v565;
        #pragma unroll
        for (int k567 = 0; k567 < 7; ++k567) {
          const int v568 = held[k567];
          const int v569 = (int)((v544 >= 0 && v544 < 32) ? v568 >> v544 : (v568 >> 31));
          const int v570 = v569 & 3;
          const int v571 = (int)((unsigned)v570 * (unsigned)16);
          const long long v572 = (long long)v571;
          const long long v573 = (long long)((v572 >= 0 && v572 < 64) ? var566 >> v572 : (var566 >> 63));
          const long long v574 = v573 & 65535ll;
          const int v575 = (int)v574;
          items[v575] = v568;
          const long long v576 = (v572 >= 0 && v572 < 64) ? (long long)((unsigned long long)1ll << v572) : (long long)0;
          const long long v577 = (long long)((unsigned long long)var566 + (unsigned long long)v576);
          var566 = v577;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      const int v578 = fw_udiv(v493, 3584);
      const int v579 = fw_udiv(v505, 3584);
      const int v580 = v494 + 3583;
      const int v581 = fw_udiv(v580, 3584);
      const int v582 = v496 ? v581 : 0;
      int var583 = v493;
      for (int k584 = 0; k584 < n21; k584 += 512) {
        const int v585 = k584 + tid3;
        const bool v586 = v585 < n21;
        const int v587 = v500 + v585;
        const int v588 = v496 ? 0 : v505;
        int var589 = v588;
        int var590 = 0;
        for (int k591 = 0; k591 < v582; ++k591) {
          const int v592 = k591 < 1 ? k591 : 1;
          const int v593 = v578 + k591;
          const int v594 = v593 * 2;
          const int v595 = v594 + v592;
          const int v596 = v595 * n21;
          const int v597 = v596 + v585;
          const int v598 = v586 ? __ldg(crowd_counts + v597) : 0;
          const int v599 = (int)((unsigned)var590 + (unsigned)v598);
          var590 = v599;
          const bool v600 = k591 < v579;
          const int v601 = v600 ? v598 : 0;
          const int v602 = (int)((unsigned)var589 + (unsigned)v601);
          var589 = v602;
        }
        const int v603 = var590;
        __syncthreads();  // all have read the results of the collective before
        int scan604[2];
        fw_scan_sum_i32_512x1(v603, scan604, fw_scratch0);
        const int v605 = scan604[0];
        const int v606 = scan604[1];
        const int v607 = (int)((unsigned)var583 + (unsigned)v605);
        if (v586) {
          const int v608 = (int)((unsigned)v607 + (unsigned)var589);
          const int v609 = (int)((unsigned)v585 * (unsigned)4096);
          int var610 = 0;
          for (int k611 = 0; k611 < 12; ++k611) {
            const int v612 = (int)((k611 >= 0 && k611 < 32) ? 2048 >> k611 : (2048 >> 31));
            const int v613 = var610 + v612;
            const bool v614 = v613 <= 3584;
            const int v615 = v613 + (-1);
            const int v616 = v614 ? items[v615] : 0;
            const bool v617 = v616 < v609;
            const bool v618 = v614 && v617;
            const int v619 = v618 ? v613 : var610;
            var610 = v619;
          }
          const int v620 = var610;
          const int v621 = (int)((unsigned)v608 - (unsigned)v620);
          const int v622 = v499 + v585;
          go_on[v622] = v621;
          const bool v623 = v505 == 0;
          const bool v624 = v587 <= n25;
          const bool v625 = v623 && v624;
          if (v625) {
            start[v587] = v607;
          }
        }
        const int v626 = (int)((unsigned)var583 + (unsigned)v606);
        var583 = v626;
      }
      __syncthreads();  // where each row goes on is known
      #pragma unroll
      for (int k627 = 0; k627 < 7; ++k627) {
        const int v628 = k627 * 512;
        const int v629 = v628 + tid3;
        const int v630 = (int)((unsigned)v505 + (unsigned)v629);
        const bool v631 = v630 < v494;
        if (v631) {
          const int v632 = items[v629];
          const int v633 = v632 & 4095;
          const int v634 = fw_udiv(v632, 4096);
          const int v635 = v499 + v634;
          const int v636 = go_on[v635];
          const int v637 = v636 + v629;
          const int v638 = others[v633];
          order[v637] = v638;
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
  const int v639 = bid4;
  const int v640 = (int)((unsigned)bid4 - (unsigned)v639);
  const int v641 = v639 * 128;
  const int v642 = v641 + tid4;
  const bool v643 = v642 < n30;
  const long long v657 = (long long)n11;
  if (v643) {
    const int v644 = v642 * n31;
    const int v645 = v644 + n32;
    const int v646 = __ldg(start + n25);
    const bool v647 = v645 < v646;
    if (v647) {
      const int v648 = __ldg(order + v645);
      const int v649 = fw_udiv_by(v648, n9, n9_inverse);
      const int v650 = v649 * n9;
      const int v651 = v648 - v650;
      const int v652 = v649 * n12;
      const int v653 = v649 * n10;
      const int v654 = v653 + v651;
      const long long v655 = __ldg(in0 + v654);
      const bool v656 = v655 < 0ll;
      const long long v658 = v655 + v657;
      const long long v659 = v656 ? v658 : v655;
      const int v660 = (int)v659;
      const int v661 = v652 + v660;
      const int v662 = __ldg(start + v661);
      const int v663 = v661 + 1;
      const int v664 = __ldg(start + v663);
      const int v665 = v642 * n31;
      const int v666 = v665 - v662;
      const int v667 = v666 > 0 ? v666 : 0;
      const int v668 = v667 + n32;
      const int v669 = fw_udiv(v668, n31);
      const int v670 = v669 * n31;
      const int v671 = v662 + v670;
      const int v672 = v671 + n31;
      const bool v673 = v672 <= v664;
      if (v673) {
        float acc674 = 0.0f;
        const int v675 = v672 + (-1);
        for (int k676 = v671; k676 < v672; k676 += 8) {
          const int v677 = __ldg(order + k676);
          const int v678 = fw_udiv_by(v677, n9, n9_inverse);
          const int v679 = v678 * n9;
          const int v680 = v677 - v679;
          const int v681 = v678 * n33;
          const int v682 = v681 + v680;
          const float v683 = fw_bf16_f32(__ldg(in1 + v682));
          const int v684 = k676 + 1;
          const bool v685 = v684 < v672;
          const int v686 = v684 < v675 ? v684 : v675;
          const int v687 = __ldg(order + v686);
          const int v688 = fw_udiv_by(v687, n9, n9_inverse);
          const int v689 = v688 * n9;
          const int v690 = v687 - v689;
          const int v691 = v688 * n33;
          const int v692 = v691 + v690;
          const float v693 = fw_bf16_f32(__ldg(in1 + v692));
          const int v694 = k676 + 2;
          const bool v695 = v694 < v672;
          const int v696 = v694 < v675 ? v694 : v675;
          const int v697 = __ldg(order + v696);
          const int v698 = fw_udiv_by(v697, n9, n9_inverse);
          const int v699 = v698 * n9;
          const int v700 = v697 - v699;
          const int v701 = v698 * n33;
          const int v702 = v701 + v700;
          const float v703 = fw_bf16_f32(__ldg(in1 + v702));
          const int v704 = k676 + 3;
          const bool v705 = v704 < v672;
          const int v706 = v704 < v675 ? v704 : v675;
          const int v707 = __ldg(order + v706);
          const int v708 = fw_udiv_by(v707, n9, n9_inverse);
          const int v709 = v708 * n9;
          const int v710 = v707 - v709;
          const int v711 = v708 * n33;
          const int v712 = v711 + v710;
          const float v713 = fw_bf16_f32(__ldg(in1 + v712));
          const int v714 = k676 + 4;
          const bool v715 = v714 < v672;
          const int v716 = v714 < v675 ? v714 : v675;
          const int v717 = __ldg(order + v716);
          const int v718 = fw_udiv_by(v717, n9, n9_inverse);
          const int v719 = v718 * n9;
          const int v720 = v717 - v719;
          const int v721 = v718 * n33;
          const int v722 = v721 + v720;
          const float v723 = fw_bf16_f32(__ldg(in1 + v722));
          const int v724 = k676 + 5;
          const bool v725 = v724 < v672;
          const int v726 = v724 < v675 ? v724 : v675;
          const int v727 = __ldg(order + v726);
          const int v728 = fw_udiv_by(v727, n9, n9_inverse);
          const int v729 = v728 * n9;
          const int v730 = v727 - v729;
          const int v731 = v728 * n33;
          const int v732 = v731 + v730;
          const float v733 = fw_bf16_f32(__ldg(in1 + v732));
          const int v734 = k676 + 6;
          const bool v735 = v734 < v672;
          const int v736 = v734 < v675 ? v734 : v675;
          const int v737 = __ldg(order + v736);
          const int v738 = fw_udiv_by(v737, n9, n9_inverse);
          const int v739 = v738 * n9;
          const int v740 = v737 - v739;
          const int v741 = v738 * n33;
          const int v742 = v741 + v740;
          const float v743 = fw_bf16_f32(__ldg(in1 + v742));
          const int v744 = k676 + 7;
          const bool v745 = v744 < v672;
          const int v746 = v744 < v675 ? v744 : v675;
          const int v747 = __ldg(order + v746);
          const int v748 = fw_udiv_by(v747, n9, n9_inverse);
          const int v749 = v748 * n9;
          const int v750 = v747 - v749;
          const int v751 = v748 * n33;
          const int v752 = v751 + v750;
          const float v753 = fw_bf16_f32(__ldg(in1 + v752));
          const float v754 = acc674 + v683;
          acc674 = v754;
          const float v755 = acc674 + v693;
          const float v756 = v685 ? v755 : acc674;
          acc674 = v756;
          const float v757 = acc674 + v703;
          const float v758 = v695 ? v757 : acc674;
          acc674 = v758;
          const float v759 = acc674 + v713;
          const float v760 = v705 ? v759 : acc674;
          acc674 = v760;
          const float v761 = acc674 + v723;
          const float v762 = v715 ? v761 : acc674;
          acc674 = v762;
          const float v763 = acc674 + v733;
          const float v764 = v725 ? v763 : acc674;
          acc674 = v764;
          const float v765 = acc674 + v743;
          const float v766 = v735 ? v765 : acc674;
          acc674 = v766;
          const float v767 = acc674 + v753;
          const float v768 = v745 ? v767 : acc674;
          acc674 = v768;
        }
        const float v769 = acc674;
        pieces[v642] = v769;
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
  const int v770 = bid5;
  const int v771 = (int)((unsigned)bid5 - (unsigned)v770);
  const int v772 = v770 * 128;
  const int v773 = v772 + tid5;
  const bool v774 = v773 < n35;
  const long long v790 = (long long)n11;
  if (v774) {
    const int v775 = v773 * n36;
    const int v776 = v775 + n37;
    const int v777 = v776 * n31;
    const int v778 = v777 + n32;
    const int v779 = __ldg(start + n25);
    const bool v780 = v778 < v779;
    if (v780) {
      const int v781 = __ldg(order + v778);
      const int v782 = fw_udiv(v781, n9);
      const int v783 = v782 * n9;
      const int v784 = v781 - v783;
      const int v785 = v782 * n12;
      const int v786 = v782 * n10;
      const int v787 = v786 + v784;
      const long long v788 = __ldg(in0 + v787);
      const bool v789 = v788 < 0ll;
      const long long v791 = v788 + v790;
      const long long v792 = v789 ? v791 : v788;
      const int v793 = (int)v792;
      const int v794 = v785 + v793;
      const int v795 = __ldg(start + v794);
      const int v796 = v794 + 1;
      const int v797 = __ldg(start + v796);
      const int v798 = fw_udiv_by(v795, n31, n31_inverse);
      const int v799 = v797 - v795;
      const int v800 = fw_udiv_by(v799, n31, n31_inverse);
      const int v801 = v798 + v800;
      const int v802 = v773 * n36;
      const int v803 = v802 - v798;
      const int v804 = v803 > 0 ? v803 : 0;
      const int v805 = v804 + n37;
      const int v806 = fw_udiv(v805, n36);
      const int v807 = v806 * n36;
      const int v808 = v798 + v807;
      const int v809 = v808 + n36;
      const bool v810 = v809 <= v801;
      if (v810) {
        float acc811 = 0.0f;
        const int v812 = v809 + (-1);
        for (int k813 = v808; k813 < v809; k813 += 8) {
          const float v814 = pieces[k813];
          const int v815 = k813 + 1;
          const bool v816 = v815 < v809;
          const int v817 = v815 < v812 ? v815 : v812;
          const float v818 = pieces[v817];
          const int v819 = k813 + 2;
          const bool v820 = v819 < v809;
          const int v821 = v819 < v812 ? v819 : v812;
          const float v822 = pieces[v821];
          const int v823 = k813 + 3;
          const bool v824 = v823 < v809;
          const int v825 = v823 < v812 ? v823 : v812;
          const float v826 = pieces[v825];
          const int v827 = k813 + 4;
          const bool v828 = v827 < v809;
          const int v829 = v827 < v812 ? v827 : v812;
          const float v830 = pieces[v829];
          const int v831 = k813 + 5;
          const bool v832 = v831 < v809;
          const int v833 = v831 < v812 ? v831 : v812;
          const float v834 = pieces[v833];
          const int v835 = k813 + 6;
          const bool v836 = v835 < v809;
          const int v837 = v835 < v812 ? v835 : v812;
          const float v838 = pieces[v837];
          const int v839 = k813 + 7;
          const bool v840 = v839 < v809;
          const int v841 = v839 < v812 ? v839 : v812;
          const float v842 = pieces[v841];
          const float v843 = acc811 + v814;
          acc811 = v843;
          const float v844 = acc811 + v818;
          const float v845 = v816 ? v844 : acc811;
          acc811 = v845;
          const float v846 = acc811 + v822;
          const float v847 = v820 ? v846 : acc811;
          acc811 = v847;
          const float v848 = acc811 + v826;
          const float v849 = v824 ? v848 : acc811;
          acc811 = v849;
          const float v850 = acc811 + v830;
          const float v851 = v828 ? v850 : acc811;
          acc811 = v851;
          const float v852 = acc811 + v834;
          const float v853 = v832 ? v852 : acc811;
          acc811 = v853;
          const float v854 = acc811 + v838;
          const float v855 = v836 ? v854 : acc811;
          acc811 = v855;
          const float v856 = acc811 + v842;
          const float v857 = v840 ? v856 : acc811;
          acc811 = v857;
        }
        const int v858 = v773 + n38;
        const float v859 = acc811;
        pieces[v858] = v859;
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
  const unsigned n36_inverse = 0xffffffffu / (unsigned)n36;
  const int v860 = bid6;
  const int v861 = (int)((unsigned)bid6 - (unsigned)v860);
  const int v862 = v860 * 128;
  const int v863 = v862 + tid6;
  const bool v864 = v863 < n40;
  const int v865 = n40 + (-1);
  const int v866 = v863 < v865 ? v863 : v865;
  const int v867 = __ldg(start + v866);
  const int v868 = v866 + 1;
  const int v869 = __ldg(start + v868);
  const float v870 = fw_bf16_f32(__ldg(in2 + v866));
  float acc871 = v870;
  const int v872 = fw_udiv_by(v867, n31, n31_inverse);
  const int v873 = v869 - v867;
  const int v874 = fw_udiv_by(v873, n31, n31_inverse);
  const int v875 = v872 + v874;
  const int v876 = fw_udiv_by(v872, n36, n36_inverse);
  const int v877 = v875 - v872;
  const int v878 = fw_udiv_by(v877, n36, n36_inverse);
  const int v879 = v876 + n38;
  const int v880 = v878 * n37;
  const int v881 = v872 + v880;
  const int v882 = v874 - v880;
  const int v883 = v882 + (-1);
  for (int k884 = 0; k884 < v882; k884 += 8) {
    const bool v885 = k884 < v878;
    const int v886 = v885 ? v879 : v881;
    const int v887 = k884 + v886;
    const float v888 = __ldg(pieces + v887);
    const int v889 = k884 + 1;
    const bool v890 = v889 < v882;
    const int v891 = v889 < v883 ? v889 : v883;
    const bool v892 = v891 < v878;
    const int v893 = v892 ? v879 : v881;
    const int v894 = v891 + v893;
    const float v895 = __ldg(pieces + v894);
    const int v896 = k884 + 2;
    const bool v897 = v896 < v882;
    const int v898 = v896 < v883 ? v896 : v883;
    const bool v899 = v898 < v878;
    const int v900 = v899 ? v879 : v881;
    const int v901 = v898 + v900;
    const float v902 = __ldg(pieces + v901);
    const int v903 = k884 + 3;
    const bool v904 = v903 < v882;
    const int v905 = v903 < v883 ? v903 : v883;
    const bool v906 = v905 < v878;
    const int v907 = v906 ? v879 : v881;
    const int v908 = v905 + v907;
    const float v909 = __ldg(pieces + v908);
    const int v910 = k884 + 4;
    const bool v911 = v910 < v882;
    const int v912 = v910 < v883 ? v910 : v883;
    const bool v913 = v912 < v878;
    const int v914 = v913 ? v879 : v881;
    const int v915 = v912 + v914;
    const float v916 = __ldg(pieces + v915);
    const int v917 = k884 + 5;
    const bool v918 = v917 < v882;
    const int v919 = v917 < v883 ? v917 : v883;
    const bool v920 = v919 < v878;
    const int v921 = v920 ? v879 : v881;
    const int v922 = v919 + v921;
    const float v923 = __ldg(pieces + v922);
    const int v924 = k884 + 6;
    const bool v925 = v924 < v882;
    const int v926 = v924 < v883 ? v924 : v883;
    const bool v927 = v926 < v878;
    const int v928 = v927 ? v879 : v881;
    const int v929 = v926 + v928;
    const float v930 = __ldg(pieces + v929);
    const int v931 = k884 + 7;
    const bool v932 = v931 < v882;
    const int v933 = v931 < v883 ? v931 : v883;
    const bool v934 = v933 < v878;
    const int v935 = v934 ? v879 : v881;
    const int v936 = v933 + v935;
    const float v937 = __ldg(pieces + v936);
    const float v938 = acc871 + v888;
    acc871 = v938;
    const float v939 = acc871 + v895;
    const float v940 = v890 ? v939 : acc871;
    acc871 = v940;
    const float v941 = acc871 + v902;
    const float v942 = v897 ? v941 : acc871;
    acc871 = v942;
    const float v943 = acc871 + v909;
    const float v944 = v904 ? v943 : acc871;
    acc871 = v944;
    const float v945 = acc871 + v916;
    const float v946 = v911 ? v945 : acc871;
    acc871 = v946;
    const float v947 = acc871 + v923;
    const float v948 = v918 ? v947 : acc871;
    acc871 = v948;
    const float v949 = acc871 + v930;
    const float v950 = v925 ? v949 : acc871;
    acc871 = v950;
    const float v951 = acc871 + v937;
    const float v952 = v932 ? v951 : acc871;
    acc871 = v952;
  }
  const int v953 = v874 * n31;
  const int v954 = v867 + v953;
  const int v955 = v869 + (-1);
  for (int k956 = v954; k956 < v869; k956 += 8) {
    const int v957 = __ldg(order + k956);
    const int v958 = fw_udiv_by(v957, n9, n9_inverse);
    const int v959 = v958 * n9;
    const int v960 = v957 - v959;
    const int v961 = v958 * n33;
    const int v962 = v961 + v960;
    const float v963 = fw_bf16_f32(__ldg(in1 + v962));
    const int v964 = k956 + 1;
    const bool v965 = v964 < v869;
    const int v966 = v964 < v955 ? v964 : v955;
    const int v967 = __ldg(order + v966);
    const int v968 = fw_udiv_by(v967, n9, n9_inverse);
    const int v969 = v968 * n9;
    const int v970 = v967 - v969;
    const int v971 = v968 * n33;
    const int v972 = v971 + v970;
    const float v973 = fw_bf16_f32(__ldg(in1 + v972));
    const int v974 = k956 + 2;
    const bool v975 = v974 < v869;
    const int v976 = v974 < v955 ? v974 : v955;
    const int v977 = __ldg(order + v976);
    const int v978 = fw_udiv_by(v977, n9, n9_inverse);
    const int v979 = v978 * n9;
    const int v980 = v977 - v979;
    const int v981 = v978 * n33;
    const int v982 = v981 + v980;
    const float v983 = fw_bf16_f32(__ldg(in1 + v982));
    const int v984 = k956 + 3;
    const bool v985 = v984 < v869;
    const int v986 = v984 < v955 ? v984 : v955;
    const int v987 = __ldg(order + v986);
    const int v988 = fw_udiv_by(v987, n9, n9_inverse);
    const int v989 = v988 * n9;
    const int v990 = v987 - v989;
    const int v991 = v988 * n33;
    const int v992 = v991 + v990;
    const float v993 = fw_bf16_f32(__ldg(in1 + v992));
    const int v994 = k956 + 4;
    const bool v995 = v994 < v869;
    const int v996 = v994 < v955 ? v994 : v955;
    const int v997 = __ldg(order + v996);
    const int v998 = fw_udiv_by(v997, n9, n9_inverse);
    const int v999 = v998 * n9;
    const int v1000 = v997 - v999;
    const int v1001 = v998 * n33;
    const int v1002 = v1001 + v1000;
    const float v1003 = fw_bf16_f32(__ldg(in1 + v1002));
    const int v1004 = k956 + 5;
    const bool v1005 = v1004 < v869;
    const int v1006 = v1004 < v955 ? v1004 : v955;
    const int v1007 = __ldg(order + v1006);
    const int v1008 = fw_udiv_by(v1007, n9, n9_inverse);
    const int v1009 = v1008 * n9;
    const int v1010 = v1007 - v1009;
    const int v1011 = v1008 * n33;
    const int v1012 = v1011 + v1010;
    const float v1013 = fw_bf16_f32(__ldg(in1 + v1012));
    const int v1014 = k956 + 6;
    const bool v1015 = v1014 < v869;
    const int v1016 = v1014 < v955 ? v1014 : v955;
    const int v1017 = __ldg(order + v1016);
    const int v1018 = fw_udiv_by(v1017, n9, n9_inverse);
    const int v1019 = v1018 * n9;
    const int v1020 = v1017 - v1019;
    const int v1021 = v1018 * n33;
    const int v1022 = v1021 + v1020;
    const float v1023 = fw_bf16_f32(__ldg(in1 + v1022));
    const int v1024 = k956 + 7;
    const bool v1025 = v1024 < v869;
    const int v1026 = v1024 < v955 ? v1024 : v955;
    const int v1027 = __ldg(order + v1026);
    const int v1028 = fw_udiv_by(v1027, n9, n9_inverse);
    const int v1029 = v1028 * n9;
    const int v1030 = v1027 - v1029;
    const int v1031 = v1028 * n33;
    const int v1032 = v1031 + v1030;
    const float v1033 = fw_bf16_f32(__ldg(in1 + v1032));
    const float v1034 = acc871 + v963;
    acc871 = v1034;
    const float v1035 = acc871 + v973;
    const float v1036 = v965 ? v1035 : acc871;
    acc871 = v1036;
    const float v1037 = acc871 + v983;
    const float v1038 = v975 ? v1037 : acc871;
    acc871 = v1038;
    const float v1039 = acc871 + v993;
    const float v1040 = v985 ? v1039 : acc871;
    acc871 = v1040;
    const float v1041 = acc871 + v1003;
    const float v1042 = v995 ? v1041 : acc871;
    acc871 = v1042;
    const float v1043 = acc871 + v1013;
    const float v1044 = v1005 ? v1043 : acc871;
    acc871 = v1044;
    const float v1045 = acc871 + v1023;
    const float v1046 = v1015 ? v1045 : acc871;
    acc871 = v1046;
    const float v1047 = acc871 + v1033;
    const float v1048 = v1025 ? v1047 : acc871;
    acc871 = v1048;
  }
  const float v1049 = acc871;
  if (v864) {
    out3[v866] = fw_f32_bf16(v1049);
  }
}
