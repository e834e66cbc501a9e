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
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts) {
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
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts) {
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
  const bool v111 = tid1 == 0;
  if (v111) {
    bases[bid1] = total109;
    counts[bid1] = total107;
  }
  const bool v112 = total107 > 3584;
  const bool v113 = n18 > 1;
  const bool v114 = v112 && v113;
  const int v115 = bid1 * n18;
  const bool v116 = n19 > 0;
  const bool v117 = v112 && v116;
  const int v118 = v114 ? 0 : 1;
  const int v119 = v117 ? 2 : v118;
  for (int k120 = v119; k120 < 2; ++k120) {
    const bool v121 = k120 == 0;
    const bool v122 = !v121;
    if (v121) {
      for (int k123 = tid1; k123 < n18; k123 += 512) {
        const int v124 = v115 + k123;
        go_on[v124] = 0;
      }
    }
    const int v125 = total107 > 1 ? total107 : 1;
    for (int k126 = 0; k126 < v125; k126 += 3584) {
      #pragma unroll
      for (int k127 = 0; k127 < 7; ++k127) {
        held[k127] = 0;
      }
      for (int k128 = 0; k128 < n20; ++k128) {
        const int v129 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v130 = (int)((unsigned)v129 - (unsigned)k128);
        const int v131 = (v130 >= 0 && v130 < 32) ? (int)((unsigned)1 << v130) : (int)0;
        #pragma unroll
        for (int k132 = 0; k132 < 7; ++k132) {
          const int v133 = (int)((unsigned)k132 * (unsigned)512);
          const int v134 = (int)((unsigned)v133 + (unsigned)tid1);
          const int v135 = (int)((unsigned)k126 + (unsigned)v134);
          const int v136 = held[k132];
          const int v137 = v136 + v131;
          const bool v138 = v137 < n11;
          const int v139 = v87 + v137;
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
        const bool v148 = v147 < total107;
        const int v149 = held[k144];
        const int v150 = v87 + v149;
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
      for (int k163 = 0; k163 < n21; ++k163) {
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
        for (int k199 = tid1; k199 < n18; k199 += 512) {
          const int v200 = v115 + k199;
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
        const bool v231 = v114 || v230;
        for (int k232 = tid1; k232 < n18; k232 += 512) {
          const int v233 = v115 + k232;
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
          const int v246 = (int)((unsigned)total109 + (unsigned)v245);
          int var247 = v246;
          if (v231) {
            const int v248 = go_on[v233];
            var247 = v248;
          }
          const bool v249 = !v230;
          const bool v250 = v233 <= n22;
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
          const bool v268 = v267 < total107;
          if (v268) {
            const int v269 = items[v266];
            const int v270 = v269 & 4095;
            const int v271 = fw_udiv(v269, 4096);
            const int v272 = v115 + v271;
            const int v273 = go_on[v272];
            const int v274 = v273 + v266;
            const int v275 = others[v270];
            order[v274] = v275;
          }
        }
        if (v112) {
          __syncthreads();  // the chunk is written
          for (int k276 = tid1; k276 < n18; k276 += 512) {
            const int v277 = v115 + k276;
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
      int var293 = total109;
      for (int k294 = 0; k294 < n18; k294 += 512) {
        const int v295 = k294 + tid1;
        const bool v296 = v295 < n18;
        const int v297 = v115 + v295;
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

// crowded buckets, chunk by chunk: points of each row
extern "C" __global__ void __launch_bounds__(512) index_copy_2(
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
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts) {
  const int bid2 = blockIdx.x;
  const int tid2 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  const int v304 = bid2 * 3584;
  int var305 = 0;
  int var306 = 0;
  for (int k307 = tid2; k307 < n8; k307 += 512) {
    const int v308 = __ldg(bases + k307);
    const int v309 = __ldg(counts + k307);
    const int v310 = v304 - v308;
    const int v311 = v310 > 0 ? v310 : 0;
    const int v312 = v311 + 3583;
    const int v313 = fw_udiv(v312, 3584);
    const int v314 = v313 * 3584;
    const int v315 = (int)((unsigned)v308 + (unsigned)v314);
    const int v316 = (int)((unsigned)v315 - (unsigned)v304);
    const bool v317 = v316 < 3584;
    const bool v318 = v314 < v309;
    const bool v319 = v317 && v318;
    const bool v320 = v309 > 3584;
    const bool v321 = v319 && v320;
    const bool v322 = v314 == 0;
    const bool v323 = !v322;
    const bool v324 = v321 && v322;
    const int v325 = (int)((unsigned)k307 + (unsigned)1);
    const int v326 = v324 ? v325 : var305;
    var305 = v326;
    const bool v327 = v321 && v323;
    const int v328 = v327 ? v325 : var306;
    var306 = v328;
  }
  const int v330 = var305;
  const int total329 = fw_sum_i32_512x1(v330, fw_scratch0);
  const int v332 = var306;
  const int total331 = fw_sum_i32_512x1(v332, fw_scratch1);
  for (int k333 = 0; k333 < 2; ++k333) {
    const bool v334 = k333 == 0;
    const int v335 = v334 ? total329 : total331;
    const bool v336 = v335 > 0;
    if (v336) {
      const int v337 = v335 + (-1);
      const int v338 = __ldg(bases + v337);
      const int v339 = __ldg(counts + v337);
      const int v340 = v337 * n11;
      const bool v341 = n18 > 1;
      const int v342 = bid2 * 2;
      const int v343 = v342 + k333;
      const int v344 = v343 * n18;
      const int v345 = (int)((unsigned)v337 * (unsigned)n18);
      const int v346 = v304 - v338;
      const int v347 = v346 > 0 ? v346 : 0;
      const int v348 = v347 + 3583;
      const int v349 = fw_udiv(v348, 3584);
      const int v350 = v349 * 3584;
      if (v341) {
        #pragma unroll
        for (int k351 = 0; k351 < 7; ++k351) {
          held[k351] = 0;
        }
        for (int k352 = 0; k352 < n20; ++k352) {
          const int v353 = (int)((unsigned)n20 + (unsigned)(-1));
          const int v354 = (int)((unsigned)v353 - (unsigned)k352);
          const int v355 = (v354 >= 0 && v354 < 32) ? (int)((unsigned)1 << v354) : (int)0;
          #pragma unroll
          for (int k356 = 0; k356 < 7; ++k356) {
            const int v357 = (int)((unsigned)k356 * (unsigned)512);
            const int v358 = (int)((unsigned)v357 + (unsigned)tid2);
            const int v359 = (int)((unsigned)v350 + (unsigned)v358);
            const int v360 = held[k356];
            const int v361 = v360 + v355;
            const bool v362 = v361 < n11;
            const int v363 = v340 + v361;
            const int v364 = v362 ? __ldg(before + v363) : 0;
            const bool v365 = v364 <= v359;
            const bool v366 = v362 && v365;
            const int v367 = v366 ? v361 : v360;
            held[k356] = v367;
          }
        }
        #pragma unroll
        for (int k368 = 0; k368 < 7; ++k368) {
          const int v369 = k368 * 512;
          const int v370 = v369 + tid2;
          const int v371 = v350 + v370;
          const bool v372 = v371 < v339;
          const int v373 = held[k368];
          const int v374 = v340 + v373;
          const int v375 = v373 * 3584;
          const int v376 = v372 ? __ldg(before + v374) : 0;
          const int v377 = v371 - v376;
          const int v378 = v372 ? __ldg(first + v374) : 0;
          const int v379 = v378 + v377;
          const int v380 = v375 + v379;
          const int v381 = v372 ? __ldg(tiles + v380) : 0;
          const int v382 = v381 & 4095;
          const int v383 = (int)((unsigned)v381 - (unsigned)v382);
          const int v384 = (int)((unsigned)v383 + (unsigned)v370);
          const int v385 = v372 ? v384 : 2147483647;
          items[v370] = v385;
          const int v386 = (int)((unsigned)v375 + (unsigned)v382);
          others[v370] = v386;
        }
        __syncthreads();  // the bucket's points are there
        for (int k387 = 0; k387 < n21; ++k387) {
          const int v388 = (int)((unsigned)k387 * (unsigned)2);
          const int v389 = (int)((unsigned)v388 + (unsigned)12);
          const int v390 = tid2 * 7;
          long long var391 = 0ll;
          #pragma unroll
          for (int k392 = 0; k392 < 7; ++k392) {
            const int v393 = v390 + k392;
            const int v394 = items[v393];
            held[k392] = v394;
            const int v395 = (int)((v389 >= 0 && v389 < 32) ? v394 >> v389 : (v394 >> 31));
            const int v396 = v395 & 3;
            const int v397 = (int)((unsigned)v396 * (unsigned)16);
            const long long v398 = (long long)v397;
            const long long v399 = (v398 >= 0 && v398 < 64) ? (long long)((unsigned long long)1ll << v398) : (long long)0;
            const long long v400 = (long long)((unsigned long long)var391 + (unsigned long long)v399);
            var391 = v400;
          }
          const long long v401 = var391;
          long long scan402[2];
          fw_scan_sum_i64_512x1(v401, scan402, fw_scratch0);
          const long long v403 = scan402[0];
          const long long v404 = scan402[1];
          const long long v405 = (long long)((unsigned long long)v404 << 16ll);
          const long long v406 = (long long)((unsigned long long)v403 + (unsigned long long)v405);
          const long long v407 = (long long)((unsigned long long)v404 << 32ll);
          const long long v408 = (long long)((unsigned long long)v406 + (unsigned long long)v407);
          const long long v409 = (long long)((unsigned long long)v404 << 48ll);
          const long long v410 = (long long)((unsigned long long)v408 + (unsigned long long)v409);
          long long var411 = v410;
          #pragma unroll
          for (int k412 = 0; k412 < 7; ++k412) {
            const int v413 = held[k412];
            const int v414 = (int)((v389 >= 0 && v389 < 32) ? v413 >> v389 : (v413 >> 31));
            const int v415 = v414 & 3;
            const int v416 = (int)((unsigned)v415 * (unsigned)16);
            const long long v417 = (long long)v416;
            const long long v418 = (long long)((v417 >= 0 && v417 < 64) ? var411 >> v417 : (var411 >> 63));
            const long long v419 = v418 & 65535ll;
            const int v420 = (int)v419;
            items[v420] = v413;
            const long long v421 = (v417 >= 0 && v417 < 64) ? (long long)((unsigned long long)1ll << v417) : (long long)0;
            const long long v422 = (long long)((unsigned long long)var411 + (unsigned long long)v421);
            var411 = v422;
          }
          __syncthreads();  // the items are sorted by two more bits
        }
        for (int k423 = tid2; k423 < n18; k423 += 512) {
          const int v424 = (int)((unsigned)v345 + (unsigned)k423);
          const int v425 = (int)((unsigned)k423 + (unsigned)1);
          const int v426 = (int)((unsigned)k423 * (unsigned)4096);
          int var427 = 0;
          for (int k428 = 0; k428 < 12; ++k428) {
            const int v429 = (int)((k428 >= 0 && k428 < 32) ? 2048 >> k428 : (2048 >> 31));
            const int v430 = var427 + v429;
            const bool v431 = v430 <= 3584;
            const int v432 = v430 + (-1);
            const int v433 = v431 ? items[v432] : 0;
            const bool v434 = v433 < v426;
            const bool v435 = v431 && v434;
            const int v436 = v435 ? v430 : var427;
            var427 = v436;
          }
          const int v437 = var427;
          const int v438 = (int)((unsigned)v425 * (unsigned)4096);
          int var439 = 0;
          for (int k440 = 0; k440 < 12; ++k440) {
            const int v441 = (int)((k440 >= 0 && k440 < 32) ? 2048 >> k440 : (2048 >> 31));
            const int v442 = var439 + v441;
            const bool v443 = v442 <= 3584;
            const int v444 = v442 + (-1);
            const int v445 = v443 ? items[v444] : 0;
            const bool v446 = v445 < v438;
            const bool v447 = v443 && v446;
            const int v448 = v447 ? v442 : var439;
            var439 = v448;
          }
          const int v449 = var439;
          const int v450 = v344 + k423;
          const int v451 = (int)((unsigned)v449 - (unsigned)v437);
          crowd_counts[v450] = v451;
        }
        __syncthreads();  // the items may be replaced
      }
    }
  }
}

// crowded buckets, chunk by chunk: points by row
extern "C" __global__ void __launch_bounds__(512) index_copy_3(
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
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts) {
  const int bid3 = blockIdx.x;
  const int tid3 = threadIdx.x;
  int held[7];
  __shared__ __align__(16) int items[3584];
  __shared__ __align__(16) int others[3584];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  const int v452 = bid3 * 3584;
  int var453 = 0;
  int var454 = 0;
  for (int k455 = tid3; k455 < n8; k455 += 512) {
    const int v456 = __ldg(bases + k455);
    const int v457 = __ldg(counts + k455);
    const int v458 = v452 - v456;
    const int v459 = v458 > 0 ? v458 : 0;
    const int v460 = v459 + 3583;
    const int v461 = fw_udiv(v460, 3584);
    const int v462 = v461 * 3584;
    const int v463 = (int)((unsigned)v456 + (unsigned)v462);
    const int v464 = (int)((unsigned)v463 - (unsigned)v452);
    const bool v465 = v464 < 3584;
    const bool v466 = v462 < v457;
    const bool v467 = v465 && v466;
    const bool v468 = v457 > 3584;
    const bool v469 = v467 && v468;
    const bool v470 = v462 == 0;
    const bool v471 = !v470;
    const bool v472 = v469 && v470;
    const int v473 = (int)((unsigned)k455 + (unsigned)1);
    const int v474 = v472 ? v473 : var453;
    var453 = v474;
    const bool v475 = v469 && v471;
    const int v476 = v475 ? v473 : var454;
    var454 = v476;
  }
  const int v478 = var453;
  const int total477 = fw_sum_i32_512x1(v478, fw_scratch0);
  const int v480 = var454;
  const int total479 = fw_sum_i32_512x1(v480, fw_scratch1);
  for (int k481 = 0; k481 < 2; ++k481) {
    const bool v482 = k481 == 0;
    const int v483 = v482 ? total477 : total479;
    const bool v484 = v483 > 0;
    if (v484) {
      const int v485 = v483 + (-1);
      const int v486 = __ldg(bases + v485);
      const int v487 = __ldg(counts + v485);
      const int v488 = v485 * n11;
      const bool v489 = n18 > 1;
      const int v490 = bid3 * 2;
      const int v491 = v490 + k481;
      const int v492 = v491 * n18;
      const int v493 = v485 * n18;
      const int v494 = v452 - v486;
      const int v495 = v494 > 0 ? v494 : 0;
      const int v496 = v495 + 3583;
      const int v497 = fw_udiv(v496, 3584);
      const int v498 = v497 * 3584;
      #pragma unroll
      for (int k499 = 0; k499 < 7; ++k499) {
        held[k499] = 0;
      }
      for (int k500 = 0; k500 < n20; ++k500) {
        const int v501 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v502 = (int)((unsigned)v501 - (unsigned)k500);
        const int v503 = (v502 >= 0 && v502 < 32) ? (int)((unsigned)1 << v502) : (int)0;
        #pragma unroll
        for (int k504 = 0; k504 < 7; ++k504) {
          const int v505 = (int)((unsigned)k504 * (unsigned)512);
          const int v506 = (int)((unsigned)v505 + (unsigned)tid3);
          const int v507 = (int)((unsigned)v498 + (unsigned)v506);
          const int v508 = held[k504];
          const int v509 = v508 + v503;
          const bool v510 = v509 < n11;
          const int v511 = v488 + v509;
          const int v512 = v510 ? __ldg(before + v511) : 0;
          const bool v513 = v512 <= v507;
          const bool v514 = v510 && v513;
          const int v515 = v514 ? v509 : v508;
          held[k504] = v515;
        }
      }
      #pragma unroll
      for (int k516 = 0; k516 < 7; ++k516) {
        const int v517 = k516 * 512;
        const int v518 = v517 + tid3;
        const int v519 = v498 + v518;
        const bool v520 = v519 < v487;
        const int v521 = held[k516];
        const int v522 = v488 + v521;
        const int v523 = v521 * 3584;
        const int v524 = v520 ? __ldg(before + v522) : 0;
        const int v525 = v519 - v524;
        const int v526 = v520 ? __ldg(first + v522) : 0;
        const int v527 = v526 + v525;
        const int v528 = v523 + v527;
        const int v529 = v520 ? __ldg(tiles + v528) : 0;
        const int v530 = v529 & 4095;
        const int v531 = (int)((unsigned)v529 - (unsigned)v530);
        const int v532 = (int)((unsigned)v531 + (unsigned)v518);
        const int v533 = v520 ? v532 : 2147483647;
        items[v518] = v533;
        const int v534 = (int)((unsigned)v523 + (unsigned)v530);
        others[v518] = v534;
      }
      __syncthreads();  // the bucket's points are there
      for (int k535 = 0; k535 < n21; ++k535) {
        const int v536 = (int)((unsigned)k535 * (unsigned)2);
        const int v537 = (int)((unsigned)v536 + (unsigned)12);
        const int v538 = tid3 * 7;
        long long var539 = 0ll;
        #pragma unroll
        for (int k540 = 0; k540 < 7; ++k540) {
          const int v541 = v538 + k540;
          const int v542 = items[v541];
          held[k540] = v542;
          const int v543 = (int)((v537 >= 0 && v537 < 32) ? v542 >> v537 : (v542 >> 31));
          const int v544 = v543 & 3;
          const int v545 = (int)((unsigned)v544 * (unsigned)16);
          const long long v546 = (long long)v545;
          const long long v547 = (v546 >= 0 && v546 < 64) ? (long long)((unsigned long long)1ll << v546) : (long long)0;
          const long long v548 = (long long)((unsigned long long)var539 + (unsigned long long)v547);
          var539 = v548;
        }
        const long long v549 = var539;
        long long scan550[2];
        fw_scan_sum_i64_512x1(v549, scan550, fw_scratch0);
        const long long v551 = scan550[0];
        const long long v552 = scan550[1];
        const long long v553 = (long long)((unsigned long long)v552 << 16ll);
        const long long v554 = (long long)((unsigned long long)v551 + (unsigned long long)v553);
        const long long v555 = (long long)((unsigned long long)v552 << 32ll);
        const long long v556 = (long long)((unsigned long long)v554 + (unsigned long long)v555);
        const long long v557 = (long long)((unsigned long long)v552 << 48ll);
        const long long v558 = (long long)((unsigned long long)v556 + (unsigned long long)v557);
        long long var559 = v558;
        #pragma unroll
        for (int k560 = 0; k560 < 7; ++k560) {
          const int v561 = held[k560];
          const int v562 = (int)((v537 >= 0 && v537 < 32) ? v561 >> v537 : (v561 >> 31));
          const int v563 = v562 & 3;
          const int v564 = (int)((unsigned)v563 * (unsigned)16);
          const long long v565 = (long long)v564;
          const long long v566 = (long long)((v565 >= 0 && v565 < 64) ? var559 >> v565 : (var559 >> 63));
          const long long v567 = v566 & 65535ll;
          const int v568 = (int)v567;
          items[v568] = v561;
          const long long v569 = (v565 >= 0 && v565 < 64) ? (long long)((unsigned long long)1ll << v565) : (long long)0;
          const long long v570 = (long long)((unsigned long long)var559 + (unsigned long long)v569);
          var559 = v570;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      const int v571 = fw_udiv(v486, 3584);
      const int v572 = fw_udiv(v498, 3584);
      const int v573 = v487 + 3583;
      const int v574 = fw_udiv(v573, 3584);
      const int v575 = v489 ? v574 : 0;
      int var576 = v486;
      for (int k577 = 0; k577 < n18; k577 += 512) {
        const int v578 = k577 + tid3;
        const bool v579 = v578 < n18;
        const int v580 = v493 + v578;
        const int v581 = v489 ? 0 : v498;
        int var582 = v581;
        int var583 = 0;
        for (int k584 = 0; k584 < v575; ++k584) {
          const int v585 = k584 < 1 ? k584 : 1;
          const int v586 = v571 + k584;
          const int v587 = v586 * 2;
          const int v588 = v587 + v585;
          const int v589 = v588 * n18;
          const int v590 = v589 + v578;
          const int v591 = v579 ? __ldg(crowd_counts + v590) : 0;
          const int v592 = (int)((unsigned)var583 + (unsigned)v591);
          var583 = v592;
          const bool v593 = k584 < v572;
          const int v594 = v593 ? v591 : 0;
          const int v595 = (int)((unsigned)var582 + (unsigned)v594);
          var582 = v595;
        }
        const int v596 = var583;
        __syncthreads();  // all have read the results of the collective before
        int scan597[2];
        fw_scan_sum_i32_512x1(v596, scan597, fw_scratch0);
        const int v598 = scan597[0];
        const int v599 = scan597[1];
        const int v600 = (int)((unsigned)var576 + (unsigned)v598);
        if (v579) {
          const int v601 = (int)((unsigned)v600 + (unsigned)var582);
          const int v602 = (int)((unsigned)v578 * (unsigned)4096);
          int var603 = 0;
          for (int k604 = 0; k604 < 12; ++k604) {
            const int v605 = (int)((k604 >= 0 && k604 < 32) ? 2048 >> k604 : (2048 >> 31));
            const int v606 = var603 + v605;
            const bool v607 = v606 <= 3584;
            const int v608 = v606 + (-1);
            const int v609 = v607 ? items[v608] : 0;
            const bool v610 = v609 < v602;
            const bool v611 = v607 && v610;
            const int v612 = v611 ? v606 : var603;
            var603 = v612;
          }
          const int v613 = var603;
          const int v614 = (int)((unsigned)v601 - (unsigned)v613);
          const int v615 = v492 + v578;
          go_on[v615] = v614;
          const bool v616 = v498 == 0;
          const bool v617 = v580 <= n22;
          const bool v618 = v616 && v617;
          if (v618) {
            start[v580] = v600;
          }
        }
        const int v619 = (int)((unsigned)var576 + (unsigned)v599);
        var576 = v619;
      }
      __syncthreads();  // where each row goes on is known
      #pragma unroll
      for (int k620 = 0; k620 < 7; ++k620) {
        const int v621 = k620 * 512;
        const int v622 = v621 + tid3;
        const int v623 = (int)((unsigned)v498 + (unsigned)v622);
        const bool v624 = v623 < v487;
        if (v624) {
          const int v625 = items[v622];
          const int v626 = v625 & 4095;
          const int v627 = fw_udiv(v625, 4096);
          const int v628 = v492 + v627;
          const int v629 = go_on[v628];
          const int v630 = v629 + v622;
          const int v631 = others[v626];
          order[v630] = v631;
        }
      }
      __syncthreads();  // the items may be replaced
    }
  }
}

// rows
extern "C" __global__ void __launch_bounds__(128) index_copy_4(
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
    int n26,
    int n27,
    int n28,
    int n29,
    int n30,
    int n31,
    int* __restrict__ order,
    int* __restrict__ start,
    int* __restrict__ first,
    int* __restrict__ tiles,
    int* __restrict__ before,
    int* __restrict__ go_on,
    int* __restrict__ bases,
    int* __restrict__ counts,
    int* __restrict__ crowd_counts) {
  const int bid4 = blockIdx.x;
  const int tid4 = threadIdx.x;
  const int v632 = fw_udiv(tid4, 32);
  const int v633 = v632 * 32;
  const int v634 = tid4 - v633;
  const int v635 = fw_udiv(bid4, n26);
  const int v636 = v635 * n26;
  const int v637 = bid4 - v636;
  const int v638 = v637 * 32;
  const int v639 = v638 + v634;
  const int v640 = n27 + (-1);
  const int v641 = v639 < v640 ? v639 : v640;
  const bool v642 = v639 < n27;
  const int v643 = v635 * 4;
  const int v644 = v643 + v632;
  const bool v645 = v644 < n28;
  const int v646 = n28 + (-1);
  const int v647 = v644 < v646 ? v644 : v646;
  const int v648 = __ldg(start + v647);
  const int v649 = v647 + 1;
  const int v650 = __ldg(start + v649);
  const int v651 = v641 * 4;
  const int v652 = v647 * n29;
  const int v653 = v652 + v651;
  float v654[4];
  fw_load_f32x4_ldg(in2 + v653, v654);
  float acc655[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc655[l] = v654[l];
  }
  const bool v656 = v648 < v650;
  if (v656) {
    const int v657 = v650 + (-1);
    const int v658 = __ldg(order + v657);
    const int v659 = v641 * 4;
    const int v660 = v658 * n30;
    const int v661 = v660 + v659;
    float v662[4];
    fw_load_f32x4_ldg(in1 + v661, v662);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc655[l] = v662[l];
    }
  }
  const int v663 = v641 * 4;
  float v665[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v664 = acc655[l];
    v665[l] = fw_max(v664, 0.0f);
  }
  const int v666 = v647 * n31;
  const int v667 = v666 + v663;
  const bool v668 = v645 && v642;
  if (v668) {
    fw_store_f32x4(out3 + v667, v665);
  }
}
