// index_copy, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// an index out of range: the context reports an error, as for eager's device-side assertion
__device__ __forceinline__ void fw_fail() { __trap(); }

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

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

__device__ __forceinline__ void fw_fetch_f32x4_ldg(const float* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_unpack_f32x4(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
}

__device__ __forceinline__ void fw_load_f32x4_ldg(const float* p, float* v) {
  unsigned w[4];
  fw_fetch_f32x4_ldg(p, w);
  fw_unpack_f32x4(w, v);
}

__device__ __forceinline__ void fw_pack_f32x4(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
  w[2] = __float_as_uint(v[2]);
  w[3] = __float_as_uint(v[3]);
}

__device__ __forceinline__ void fw_store_f32x4(float* p, const float* v) {
  unsigned w[4];
  fw_pack_f32x4(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// points by bucket, tile by tile
extern "C" __global__ void __launch_bounds__(512) index_copy_0(
    const long long* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    float* __restrict__ out3,
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on) {
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
    if (!v16) {
      fw_fail();
    }
    const bool v17 = v6 && v16;
    int var18 = n8;
    int var19 = 0;
    const int v20 = (int)v13;
    if (v17) {
      const int v21 = fw_udiv_by(v20, n7, n7_inverse);
      const int v22 = (int)((unsigned)v21 * (unsigned)n7);
      const int v23 = (int)((unsigned)v20 - (unsigned)v22);
      var18 = v21;
      var19 = v23;
    }
    const int v24 = (int)((unsigned)var18 * (unsigned)4096);
    const int v25 = (int)((unsigned)v24 + (unsigned)v4);
    items[v4] = v25;
    others[v4] = var19;
  }
  __syncthreads();  // the tile's points are there
  for (int k26 = 0; k26 < n10; ++k26) {
    const int v27 = (int)((unsigned)k26 * (unsigned)2);
    const int v28 = (int)((unsigned)v27 + (unsigned)12);
    const int v29 = tid0 * 7;
    long long var30 = 0ll;
    #pragma unroll
    for (int k31 = 0; k31 < 7; ++k31) {
      const int v32 = v29 + k31;
      const int v33 = items[v32];
      held[k31] = v33;
      const int v34 = (int)((v28 >= 0 && v28 < 32) ? v33 >> v28 : (v33 >> 31));
      const int v35 = v34 & 3;
      const int v36 = (int)((unsigned)v35 * (unsigned)16);
      const long long v37 = (long long)v36;
      const long long v38 = (v37 >= 0 && v37 < 64) ? (long long)((unsigned long long)1ll << v37) : (long long)0;
      const long long v39 = (long long)((unsigned long long)var30 + (unsigned long long)v38);
      var30 = v39;
    }
    const long long v40 = var30;
    long long scan41[2];
    fw_scan_sum_i64_512x1(v40, scan41, fw_scratch0);
    const long long v42 = scan41[0];
    const long long v43 = scan41[1];
    const long long v44 = (long long)((unsigned long long)v43 << 16ll);
    const long long v45 = (long long)((unsigned long long)v42 + (unsigned long long)v44);
    const long long v46 = (long long)((unsigned long long)v43 << 32ll);
    const long long v47 = (long long)((unsigned long long)v45 + (unsigned long long)v46);
    const long long v48 = (long long)((unsigned long long)v43 << 48ll);
    const long long v49 = (long long)((unsigned long long)v47 + (unsigned long long)v48);
    long long var50 = v49;
    #pragma unroll
    for (int k51 = 0; k51 < 7; ++k51) {
      const int v52 = held[k51];
      const int v53 = (int)((v28 >= 0 && v28 < 32) ? v52 >> v28 : (v52 >> 31));
      const int v54 = v53 & 3;
      const int v55 = (int)((unsigned)v54 * (unsigned)16);
      const long long v56 = (long long)v55;
      const long long v57 = (long long)((v56 >= 0 && v56 < 64) ? var50 >> v56 : (var50 >> 63));
      const long long v58 = v57 & 65535ll;
      const int v59 = (int)v58;
      items[v59] = v52;
      const long long v60 = (v56 >= 0 && v56 < 64) ? (long long)((unsigned long long)1ll << v56) : (long long)0;
      const long long v61 = (long long)((unsigned long long)var50 + (unsigned long long)v60);
      var50 = v61;
    }
    __syncthreads();  // the items are sorted by two more bits
  }
  #pragma unroll
  for (int k62 = 0; k62 < 7; ++k62) {
    const int v63 = k62 * 512;
    const int v64 = v63 + tid0;
    const int v65 = items[v64];
    const int v66 = v65 & 4095;
    const int v67 = fw_udiv(v65, 4096);
    const int v68 = others[v66];
    const int v69 = (int)((unsigned)v68 * (unsigned)4096);
    const int v70 = (int)((unsigned)v69 + (unsigned)v66);
    const int v71 = v1 + v64;
    tiles[v71] = v70;
  }
  for (int k72 = tid0; k72 < n12; k72 += 512) {
    const int v73 = k72 * n11;
    const int v74 = v73 + bid0;
    const int v75 = (int)((unsigned)k72 * (unsigned)4096);
    int var76 = 0;
    for (int k77 = 0; k77 < 12; ++k77) {
      const int v78 = (int)((k77 >= 0 && k77 < 32) ? 2048 >> k77 : (2048 >> 31));
      const int v79 = var76 + v78;
      const bool v80 = v79 <= 3584;
      const int v81 = v79 + (-1);
      const int v82 = v80 ? items[v81] : 0;
      const bool v83 = v82 < v75;
      const bool v84 = v80 && v83;
      const int v85 = v84 ? v79 : var76;
      var76 = v85;
    }
    const int v86 = var76;
    first[v74] = v86;
  }
}

// points by row, bucket by bucket
extern "C" __global__ void __launch_bounds__(512) index_copy_1(
    const long long* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    float* __restrict__ out3,
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on) {
  const int bid1 = blockIdx.x;
  const int tid1 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  __shared__ __align__(16) unsigned char fw_scratch2[128];
  unsigned fw_half2 = 0;
  const int v87 = bid1 * n11;
  const int v88 = v87 + n11;
  int var89 = 0;
  int var90 = 0;
  int var91 = 0;
  for (int k92 = 0; k92 < n11; k92 += 512) {
    const int v93 = k92 + tid1;
    const bool v94 = v93 < n11;
    const int v95 = v87 + v93;
    const int v96 = v94 ? __ldg(first + v95) : 0;
    const int v97 = v88 + v93;
    const int v98 = v94 ? __ldg(first + v97) : 0;
    const int v99 = (int)((unsigned)v98 - (unsigned)v96);
    __syncthreads();  // all have read the results of the collective before
    int scan100[2];
    fw_scan_sum_i32_512x1(v99, scan100, fw_scratch0);
    const int v101 = scan100[0];
    const int v102 = scan100[1];
    if (v94) {
      const int v103 = (int)((unsigned)var91 + (unsigned)v101);
      before[v95] = v103;
    }
    const int v104 = (int)((unsigned)var91 + (unsigned)v102);
    var91 = v104;
    const int v105 = (int)((unsigned)var89 + (unsigned)v99);
    var89 = v105;
    const int v106 = (int)((unsigned)var90 + (unsigned)v96);
    var90 = v106;
  }
  const int v108 = var89;
  fw_half2 ^= 64;
  const int total107 = fw_sum_i32_512x1(v108, fw_scratch2 + fw_half2);
  const int v110 = var90;
  const int total109 = fw_sum_i32_512x1(v110, fw_scratch1);
  const bool v111 = total107 > 3584;
  const bool v112 = n15 > 1;
  const bool v113 = v111 && v112;
  const int v114 = bid1 * n15;
  const int v115 = v113 ? 0 : 1;
  for (int k116 = v115; k116 < 2; ++k116) {
    const bool v117 = k116 == 0;
    const bool v118 = !v117;
    if (v117) {
      for (int k119 = tid1; k119 < n15; k119 += 512) {
        const int v120 = v114 + k119;
        go_on[v120] = 0;
      }
    }
    const int v121 = total107 > 1 ? total107 : 1;
    for (int k122 = 0; k122 < v121; k122 += 3584) {
      #pragma unroll
      for (int k123 = 0; k123 < 7; ++k123) {
        held[k123] = 0;
      }
      for (int k124 = 0; k124 < n16; ++k124) {
        const int v125 = (int)((unsigned)n16 + (unsigned)(-1));
        const int v126 = (int)((unsigned)v125 - (unsigned)k124);
        const int v127 = (v126 >= 0 && v126 < 32) ? (int)((unsigned)1 << v126) : (int)0;
        #pragma unroll
        for (int k128 = 0; k128 < 7; ++k128) {
          const int v129 = (int)((unsigned)k128 * (unsigned)512);
          const int v130 = (int)((unsigned)v129 + (unsigned)tid1);
          const int v131 = (int)((unsigned)k122 + (unsigned)v130);
          const int v132 = held[k128];
          const int v133 = v132 + v127;
          const bool v134 = v133 < n11;
          const int v135 = v87 + v133;
          const int v136 = v134 ? before[v135] : 0;
          const bool v137 = v136 <= v131;
          const bool v138 = v134 && v137;
          const int v139 = v138 ? v133 : v132;
          held[k128] = v139;
        }
      }
      #pragma unroll
      for (int k140 = 0; k140 < 7; ++k140) {
        const int v141 = k140 * 512;
        const int v142 = v141 + tid1;
        const int v143 = k122 + v142;
        const bool v144 = v143 < total107;
        const int v145 = held[k140];
        const int v146 = v87 + v145;
        const int v147 = v145 * 3584;
        const int v148 = v144 ? before[v146] : 0;
        const int v149 = v143 - v148;
        const int v150 = v144 ? __ldg(first + v146) : 0;
        const int v151 = v150 + v149;
        const int v152 = v147 + v151;
        const int v153 = v144 ? __ldg(tiles + v152) : 0;
        const int v154 = v153 & 4095;
        const int v155 = (int)((unsigned)v153 - (unsigned)v154);
        const int v156 = (int)((unsigned)v155 + (unsigned)v142);
        const int v157 = v144 ? v156 : 2147483647;
        items[v142] = v157;
        const int v158 = (int)((unsigned)v147 + (unsigned)v154);
        others[v142] = v158;
      }
      __syncthreads();  // the bucket's points are there
      for (int k159 = 0; k159 < n17; ++k159) {
        const int v160 = (int)((unsigned)k159 * (unsigned)2);
        const int v161 = (int)((unsigned)v160 + (unsigned)12);
        const int v162 = tid1 * 7;
        long long var163 = 0ll;
        #pragma unroll
        for (int k164 = 0; k164 < 7; ++k164) {
          const int v165 = v162 + k164;
          const int v166 = items[v165];
          held[k164] = v166;
          const int v167 = (int)((v161 >= 0 && v161 < 32) ? v166 >> v161 : (v166 >> 31));
          const int v168 = v167 & 3;
          const int v169 = (int)((unsigned)v168 * (unsigned)16);
          const long long v170 = (long long)v169;
          const long long v171 = (v170 >= 0 && v170 < 64) ? (long long)((unsigned long long)1ll << v170) : (long long)0;
          const long long v172 = (long long)((unsigned long long)var163 + (unsigned long long)v171);
          var163 = v172;
        }
        const long long v173 = var163;
        long long scan174[2];
        fw_scan_sum_i64_512x1(v173, scan174, fw_scratch0);
        const long long v175 = scan174[0];
        const long long v176 = scan174[1];
        const long long v177 = (long long)((unsigned long long)v176 << 16ll);
        const long long v178 = (long long)((unsigned long long)v175 + (unsigned long long)v177);
        const long long v179 = (long long)((unsigned long long)v176 << 32ll);
        const long long v180 = (long long)((unsigned long long)v178 + (unsigned long long)v179);
        const long long v181 = (long long)((unsigned long long)v176 << 48ll);
        const long long v182 = (long long)((unsigned long long)v180 + (unsigned long long)v181);
        long long var183 = v182;
        #pragma unroll
        for (int k184 = 0; k184 < 7; ++k184) {
          const int v185 = held[k184];
          const int v186 = (int)((v161 >= 0 && v161 < 32) ? v185 >> v161 : (v185 >> 31));
          const int v187 = v186 & 3;
          const int v188 = (int)((unsigned)v187 * (unsigned)16);
          const long long v189 = (long long)v188;
          const long long v190 = (long long)((v189 >= 0 && v189 < 64) ? var183 >> v189 : (var183 >> 63));
          const long long v191 = v190 & 65535ll;
          const int v192 = (int)v191;
          items[v192] = v185;
          const long long v193 = (v189 >= 0 && v189 < 64) ? (long long)((unsigned long long)1ll << v189) : (long long)0;
          const long long v194 = (long long)((unsigned long long)var183 + (unsigned long long)v193);
          var183 = v194;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v117) {
        for (int k195 = tid1; k195 < n15; k195 += 512) {
          const int v196 = v114 + k195;
          const int v197 = go_on[v196];
          const int v198 = (int)((unsigned)k195 * (unsigned)4096);
          int var199 = 0;
          for (int k200 = 0; k200 < 12; ++k200) {
            const int v201 = (int)((k200 >= 0 && k200 < 32) ? 2048 >> k200 : (2048 >> 31));
            const int v202 = var199 + v201;
            const bool v203 = v202 <= 3584;
            const int v204 = v202 + (-1);
            const int v205 = v203 ? items[v204] : 0;
            const bool v206 = v205 < v198;
            const bool v207 = v203 && v206;
            const int v208 = v207 ? v202 : var199;
            var199 = v208;
          }
          const int v209 = var199;
          const int v210 = (int)((unsigned)v197 - (unsigned)v209);
          go_on[v196] = v210;
          const int v211 = (int)((unsigned)k195 + (unsigned)1);
          const int v212 = (int)((unsigned)v211 * (unsigned)4096);
          int var213 = 0;
          for (int k214 = 0; k214 < 12; ++k214) {
            const int v215 = (int)((k214 >= 0 && k214 < 32) ? 2048 >> k214 : (2048 >> 31));
            const int v216 = var213 + v215;
            const bool v217 = v216 <= 3584;
            const int v218 = v216 + (-1);
            const int v219 = v217 ? items[v218] : 0;
            const bool v220 = v219 < v212;
            const bool v221 = v217 && v220;
            const int v222 = v221 ? v216 : var213;
            var213 = v222;
          }
          const int v223 = var213;
          const int v224 = go_on[v196];
          const int v225 = (int)((unsigned)v224 + (unsigned)v223);
          go_on[v196] = v225;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v118) {
        const bool v226 = k122 > 0;
        const bool v227 = v113 || v226;
        for (int k228 = tid1; k228 < n15; k228 += 512) {
          const int v229 = v114 + k228;
          const int v230 = (int)((unsigned)k228 * (unsigned)4096);
          int var231 = 0;
          for (int k232 = 0; k232 < 12; ++k232) {
            const int v233 = (int)((k232 >= 0 && k232 < 32) ? 2048 >> k232 : (2048 >> 31));
            const int v234 = var231 + v233;
            const bool v235 = v234 <= 3584;
            const int v236 = v234 + (-1);
            const int v237 = v235 ? items[v236] : 0;
            const bool v238 = v237 < v230;
            const bool v239 = v235 && v238;
            const int v240 = v239 ? v234 : var231;
            var231 = v240;
          }
          const int v241 = var231;
          const int v242 = (int)((unsigned)total109 + (unsigned)v241);
          int var243 = v242;
          if (v227) {
            const int v244 = go_on[v229];
            var243 = v244;
          }
          const bool v245 = !v226;
          const bool v246 = v229 <= n18;
          const bool v247 = v245 && v246;
          if (v247) {
            start[v229] = var243;
          }
          int var248 = 0;
          for (int k249 = 0; k249 < 12; ++k249) {
            const int v250 = (int)((k249 >= 0 && k249 < 32) ? 2048 >> k249 : (2048 >> 31));
            const int v251 = var248 + v250;
            const bool v252 = v251 <= 3584;
            const int v253 = v251 + (-1);
            const int v254 = v252 ? items[v253] : 0;
            const bool v255 = v254 < v230;
            const bool v256 = v252 && v255;
            const int v257 = v256 ? v251 : var248;
            var248 = v257;
          }
          const int v258 = var248;
          const int v259 = (int)((unsigned)var243 - (unsigned)v258);
          go_on[v229] = v259;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k260 = 0; k260 < 7; ++k260) {
          const int v261 = k260 * 512;
          const int v262 = v261 + tid1;
          const int v263 = (int)((unsigned)k122 + (unsigned)v262);
          const bool v264 = v263 < total107;
          if (v264) {
            const int v265 = items[v262];
            const int v266 = v265 & 4095;
            const int v267 = fw_udiv(v265, 4096);
            const int v268 = v114 + v267;
            const int v269 = go_on[v268];
            const int v270 = v269 + v262;
            const int v271 = others[v266];
            order[v270] = v271;
          }
        }
        if (v111) {
          __syncthreads();  // the chunk is written
          for (int k272 = tid1; k272 < n15; k272 += 512) {
            const int v273 = v114 + k272;
            const int v274 = (int)((unsigned)k272 + (unsigned)1);
            const int v275 = (int)((unsigned)v274 * (unsigned)4096);
            int var276 = 0;
            for (int k277 = 0; k277 < 12; ++k277) {
              const int v278 = (int)((k277 >= 0 && k277 < 32) ? 2048 >> k277 : (2048 >> 31));
              const int v279 = var276 + v278;
              const bool v280 = v279 <= 3584;
              const int v281 = v279 + (-1);
              const int v282 = v280 ? items[v281] : 0;
              const bool v283 = v282 < v275;
              const bool v284 = v280 && v283;
              const int v285 = v284 ? v279 : var276;
              var276 = v285;
            }
            const int v286 = var276;
            const int v287 = go_on[v273];
            const int v288 = (int)((unsigned)v287 + (unsigned)v286);
            go_on[v273] = v288;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v117) {
      int var289 = total109;
      for (int k290 = 0; k290 < n15; k290 += 512) {
        const int v291 = k290 + tid1;
        const bool v292 = v291 < n15;
        const int v293 = v114 + v291;
        const int v294 = v292 ? go_on[v293] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan295[2];
        fw_scan_sum_i32_512x1(v294, scan295, fw_scratch0);
        const int v296 = scan295[0];
        const int v297 = scan295[1];
        if (v292) {
          const int v298 = (int)((unsigned)var289 + (unsigned)v296);
          go_on[v293] = v298;
        }
        const int v299 = (int)((unsigned)var289 + (unsigned)v297);
        var289 = v299;
      }
    }
  }
}

// rows
extern "C" __global__ void __launch_bounds__(128) index_copy_2(
    const long long* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    float* __restrict__ out3,
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
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on) {
  const int bid2 = blockIdx.x;
  const int tid2 = threadIdx.x;
  const int v300 = fw_udiv(tid2, 32);
  const int v301 = v300 * 32;
  const int v302 = tid2 - v301;
  const int v303 = fw_udiv(bid2, n20);
  const int v304 = v303 * n20;
  const int v305 = bid2 - v304;
  const int v306 = v305 * 32;
  const int v307 = v306 + v302;
  const int v308 = n21 + (-1);
  const int v309 = v307 < v308 ? v307 : v308;
  const bool v310 = v307 < n21;
  const int v311 = v303 * 4;
  const int v312 = v311 + v300;
  const bool v313 = v312 < n22;
  const int v314 = n22 + (-1);
  const int v315 = v312 < v314 ? v312 : v314;
  const int v316 = __ldg(start + v315);
  const int v317 = v315 + 1;
  const int v318 = __ldg(start + v317);
  const int v319 = v309 * 4;
  const int v320 = v315 * n23;
  const int v321 = v320 + v319;
  float v322[4];
  fw_load_f32x4_ldg(in2 + v321, v322);
  float acc323[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc323[l] = v322[l];
  }
  const bool v324 = v316 < v318;
  if (v324) {
    const int v325 = v318 + (-1);
    const int v326 = __ldg(order + v325);
    const int v327 = v309 * 4;
    const int v328 = v326 * n24;
    const int v329 = v328 + v327;
    float v330[4];
    fw_load_f32x4_ldg(in1 + v329, v330);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc323[l] = v330[l];
    }
  }
  const int v331 = v309 * 4;
  float v333[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v332 = acc323[l];
    v333[l] = fw_max(v332, 0.0f);
  }
  const int v334 = v315 * n25;
  const int v335 = v334 + v331;
  const bool v336 = v313 && v310;
  if (v336) {
    fw_store_f32x4(out3 + v335, v333);
  }
}
