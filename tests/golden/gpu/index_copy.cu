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
  const int v116 = v114 ? 0 : 1;
  const bool v117 = n19 > 0;
  const bool v118 = total107 > 7168;
  const bool v119 = v117 && v118;
  const int v120 = v119 ? 2 : v116;
  for (int k121 = v120; k121 < 2; ++k121) {
    const bool v122 = k121 == 0;
    const bool v123 = !v122;
    if (v122) {
      for (int k124 = tid1; k124 < n18; k124 += 512) {
        const int v125 = v115 + k124;
        go_on[v125] = 0;
      }
    }
    const int v126 = total107 > 1 ? total107 : 1;
    for (int k127 = 0; k127 < v126; k127 += 3584) {
      #pragma unroll
      for (int k128 = 0; k128 < 7; ++k128) {
        held[k128] = 0;
      }
      for (int k129 = 0; k129 < n20; ++k129) {
        const int v130 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v131 = (int)((unsigned)v130 - (unsigned)k129);
        const int v132 = (v131 >= 0 && v131 < 32) ? (int)((unsigned)1 << v131) : (int)0;
        #pragma unroll
        for (int k133 = 0; k133 < 7; ++k133) {
          const int v134 = (int)((unsigned)k133 * (unsigned)512);
          const int v135 = (int)((unsigned)v134 + (unsigned)tid1);
          const int v136 = (int)((unsigned)k127 + (unsigned)v135);
          const int v137 = held[k133];
          const int v138 = v137 + v132;
          const bool v139 = v138 < n11;
          const int v140 = v87 + v138;
          const int v141 = v139 ? before[v140] : 0;
          const bool v142 = v141 <= v136;
          const bool v143 = v139 && v142;
          const int v144 = v143 ? v138 : v137;
          held[k133] = v144;
        }
      }
      #pragma unroll
      for (int k145 = 0; k145 < 7; ++k145) {
        const int v146 = k145 * 512;
        const int v147 = v146 + tid1;
        const int v148 = k127 + v147;
        const bool v149 = v148 < total107;
        const int v150 = held[k145];
        const int v151 = v87 + v150;
        const int v152 = v150 * 3584;
        const int v153 = v149 ? before[v151] : 0;
        const int v154 = v148 - v153;
        const int v155 = v149 ? __ldg(first + v151) : 0;
        const int v156 = v155 + v154;
        const int v157 = v152 + v156;
        const int v158 = v149 ? __ldg(tiles + v157) : 0;
        const int v159 = v158 & 4095;
        const int v160 = (int)((unsigned)v158 - (unsigned)v159);
        const int v161 = (int)((unsigned)v160 + (unsigned)v147);
        const int v162 = v149 ? v161 : 2147483647;
        items[v147] = v162;
        const int v163 = (int)((unsigned)v152 + (unsigned)v159);
        others[v147] = v163;
      }
      __syncthreads();  // the bucket's points are there
      for (int k164 = 0; k164 < n21; ++k164) {
        const int v165 = (int)((unsigned)k164 * (unsigned)2);
        const int v166 = (int)((unsigned)v165 + (unsigned)12);
        const int v167 = tid1 * 7;
        long long var168 = 0ll;
        #pragma unroll
        for (int k169 = 0; k169 < 7; ++k169) {
          const int v170 = v167 + k169;
          const int v171 = items[v170];
          held[k169] = v171;
          const int v172 = (int)((v166 >= 0 && v166 < 32) ? v171 >> v166 : (v171 >> 31));
          const int v173 = v172 & 3;
          const int v174 = (int)((unsigned)v173 * (unsigned)16);
          const long long v175 = (long long)v174;
          const long long v176 = (v175 >= 0 && v175 < 64) ? (long long)((unsigned long long)1ll << v175) : (long long)0;
          const long long v177 = (long long)((unsigned long long)var168 + (unsigned long long)v176);
          var168 = v177;
        }
        const long long v178 = var168;
        long long scan179[2];
        fw_scan_sum_i64_512x1(v178, scan179, fw_scratch0);
        const long long v180 = scan179[0];
        const long long v181 = scan179[1];
        const long long v182 = (long long)((unsigned long long)v181 << 16ll);
        const long long v183 = (long long)((unsigned long long)v180 + (unsigned long long)v182);
        const long long v184 = (long long)((unsigned long long)v181 << 32ll);
        const long long v185 = (long long)((unsigned long long)v183 + (unsigned long long)v184);
        const long long v186 = (long long)((unsigned long long)v181 << 48ll);
        const long long v187 = (long long)((unsigned long long)v185 + (unsigned long long)v186);
        long long var188 = v187;
        #pragma unroll
        for (int k189 = 0; k189 < 7; ++k189) {
          const int v190 = held[k189];
          const int v191 = (int)((v166 >= 0 && v166 < 32) ? v190 >> v166 : (v190 >> 31));
          const int v192 = v191 & 3;
          const int v193 = (int)((unsigned)v192 * (unsigned)16);
          const long long v194 = (long long)v193;
          const long long v195 = (long long)((v194 >= 0 && v194 < 64) ? var188 >> v194 : (var188 >> 63));
          const long long v196 = v195 & 65535ll;
          const int v197 = (int)v196;
          items[v197] = v190;
          const long long v198 = (v194 >= 0 && v194 < 64) ? (long long)((unsigned long long)1ll << v194) : (long long)0;
          const long long v199 = (long long)((unsigned long long)var188 + (unsigned long long)v198);
          var188 = v199;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v122) {
        for (int k200 = tid1; k200 < n18; k200 += 512) {
          const int v201 = v115 + k200;
          const int v202 = go_on[v201];
          const int v203 = (int)((unsigned)k200 * (unsigned)4096);
          int var204 = 0;
          for (int k205 = 0; k205 < 12; ++k205) {
            const int v206 = (int)((k205 >= 0 && k205 < 32) ? 2048 >> k205 : (2048 >> 31));
            const int v207 = var204 + v206;
            const bool v208 = v207 <= 3584;
            const int v209 = v207 + (-1);
            const int v210 = v208 ? items[v209] : 0;
            const bool v211 = v210 < v203;
            const bool v212 = v208 && v211;
            const int v213 = v212 ? v207 : var204;
            var204 = v213;
          }
          const int v214 = var204;
          const int v215 = (int)((unsigned)v202 - (unsigned)v214);
          go_on[v201] = v215;
          const int v216 = (int)((unsigned)k200 + (unsigned)1);
          const int v217 = (int)((unsigned)v216 * (unsigned)4096);
          int var218 = 0;
          for (int k219 = 0; k219 < 12; ++k219) {
            const int v220 = (int)((k219 >= 0 && k219 < 32) ? 2048 >> k219 : (2048 >> 31));
            const int v221 = var218 + v220;
            const bool v222 = v221 <= 3584;
            const int v223 = v221 + (-1);
            const int v224 = v222 ? items[v223] : 0;
            const bool v225 = v224 < v217;
            const bool v226 = v222 && v225;
            const int v227 = v226 ? v221 : var218;
            var218 = v227;
          }
          const int v228 = var218;
          const int v229 = go_on[v201];
          const int v230 = (int)((unsigned)v229 + (unsigned)v228);
          go_on[v201] = v230;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v123) {
        const bool v231 = k127 > 0;
        const bool v232 = v114 || v231;
        for (int k233 = tid1; k233 < n18; k233 += 512) {
          const int v234 = v115 + k233;
          const int v235 = (int)((unsigned)k233 * (unsigned)4096);
          int var236 = 0;
          for (int k237 = 0; k237 < 12; ++k237) {
            const int v238 = (int)((k237 >= 0 && k237 < 32) ? 2048 >> k237 : (2048 >> 31));
            const int v239 = var236 + v238;
            const bool v240 = v239 <= 3584;
            const int v241 = v239 + (-1);
            const int v242 = v240 ? items[v241] : 0;
            const bool v243 = v242 < v235;
            const bool v244 = v240 && v243;
            const int v245 = v244 ? v239 : var236;
            var236 = v245;
          }
          const int v246 = var236;
          const int v247 = (int)((unsigned)total109 + (unsigned)v246);
          int var248 = v247;
          if (v232) {
            const int v249 = go_on[v234];
            var248 = v249;
          }
          const bool v250 = !v231;
          const bool v251 = v234 <= n22;
          const bool v252 = v250 && v251;
          if (v252) {
            start[v234] = var248;
          }
          int var253 = 0;
          for (int k254 = 0; k254 < 12; ++k254) {
            const int v255 = (int)((k254 >= 0 && k254 < 32) ? 2048 >> k254 : (2048 >> 31));
            const int v256 = var253 + v255;
            const bool v257 = v256 <= 3584;
            const int v258 = v256 + (-1);
            const int v259 = v257 ? items[v258] : 0;
            const bool v260 = v259 < v235;
            const bool v261 = v257 && v260;
            const int v262 = v261 ? v256 : var253;
            var253 = v262;
          }
          const int v263 = var253;
          const int v264 = (int)((unsigned)var248 - (unsigned)v263);
          go_on[v234] = v264;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k265 = 0; k265 < 7; ++k265) {
          const int v266 = k265 * 512;
          const int v267 = v266 + tid1;
          const int v268 = (int)((unsigned)k127 + (unsigned)v267);
          const bool v269 = v268 < total107;
          if (v269) {
            const int v270 = items[v267];
            const int v271 = v270 & 4095;
            const int v272 = fw_udiv(v270, 4096);
            const int v273 = v115 + v272;
            const int v274 = go_on[v273];
            const int v275 = v274 + v267;
            const int v276 = others[v271];
            order[v275] = v276;
          }
        }
        if (v112) {
          __syncthreads();  // the chunk is written
          for (int k277 = tid1; k277 < n18; k277 += 512) {
            const int v278 = v115 + k277;
            const int v279 = (int)((unsigned)k277 + (unsigned)1);
            const int v280 = (int)((unsigned)v279 * (unsigned)4096);
            int var281 = 0;
            for (int k282 = 0; k282 < 12; ++k282) {
              const int v283 = (int)((k282 >= 0 && k282 < 32) ? 2048 >> k282 : (2048 >> 31));
              const int v284 = var281 + v283;
              const bool v285 = v284 <= 3584;
              const int v286 = v284 + (-1);
              const int v287 = v285 ? items[v286] : 0;
              const bool v288 = v287 < v280;
              const bool v289 = v285 && v288;
              const int v290 = v289 ? v284 : var281;
              var281 = v290;
            }
            const int v291 = var281;
            const int v292 = go_on[v278];
            const int v293 = (int)((unsigned)v292 + (unsigned)v291);
            go_on[v278] = v293;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v122) {
      int var294 = total109;
      for (int k295 = 0; k295 < n18; k295 += 512) {
        const int v296 = k295 + tid1;
        const bool v297 = v296 < n18;
        const int v298 = v115 + v296;
        const int v299 = v297 ? go_on[v298] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan300[2];
        fw_scan_sum_i32_512x1(v299, scan300, fw_scratch0);
        const int v301 = scan300[0];
        const int v302 = scan300[1];
        if (v297) {
          const int v303 = (int)((unsigned)var294 + (unsigned)v301);
          go_on[v298] = v303;
        }
        const int v304 = (int)((unsigned)var294 + (unsigned)v302);
        var294 = v304;
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
  const bool v305 = bid2 >= n8;
  const int v306 = bid2 - n8;
  const int v307 = v306 * 3584;
  int var308 = 0;
  for (int k309 = tid2; k309 < n8; k309 += 512) {
    const int v310 = __ldg(bases + k309);
    const int v311 = __ldg(counts + k309);
    const int v312 = v307 - v310;
    const int v313 = v312 > 0 ? v312 : 0;
    const int v314 = v313 + 3583;
    const int v315 = fw_udiv(v314, 3584);
    const int v316 = v315 * 3584;
    const int v317 = (int)((unsigned)v310 + (unsigned)v316);
    const int v318 = (int)((unsigned)v307 + (unsigned)3584);
    const bool v319 = v317 < v318;
    const bool v320 = v316 > 0;
    const bool v321 = v316 < v311;
    const bool v322 = v320 && v321;
    const bool v323 = v319 && v322;
    const bool v324 = v305 && v323;
    const bool v325 = bid2 == k309;
    const bool v326 = v325 || v324;
    const bool v327 = n19 > 0;
    const bool v328 = v311 > 7168;
    const bool v329 = v327 && v328;
    const bool v330 = v329 && v326;
    const int v331 = (int)((unsigned)k309 + (unsigned)1);
    const int v332 = v330 ? v331 : var308;
    var308 = v332;
  }
  const int v334 = var308;
  const int total333 = fw_sum_i32_512x1(v334, fw_scratch0);
  const bool v335 = total333 > 0;
  if (v335) {
    const int v336 = total333 + (-1);
    const int v337 = __ldg(bases + v336);
    const int v338 = __ldg(counts + v336);
    const int v339 = v307 - v337;
    const int v340 = v339 > 0 ? v339 : 0;
    const int v341 = v340 + 3583;
    const int v342 = fw_udiv(v341, 3584);
    const int v343 = v342 * 3584;
    const int v344 = v305 ? v343 : 0;
    const int v345 = v336 * n11;
    const bool v346 = n18 > 1;
    const int v347 = (int)((unsigned)v336 * (unsigned)n18);
    const int v348 = bid2 * n18;
    if (v346) {
      #pragma unroll
      for (int k349 = 0; k349 < 7; ++k349) {
        held[k349] = 0;
      }
      for (int k350 = 0; k350 < n20; ++k350) {
        const int v351 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v352 = (int)((unsigned)v351 - (unsigned)k350);
        const int v353 = (v352 >= 0 && v352 < 32) ? (int)((unsigned)1 << v352) : (int)0;
        #pragma unroll
        for (int k354 = 0; k354 < 7; ++k354) {
          const int v355 = (int)((unsigned)k354 * (unsigned)512);
          const int v356 = (int)((unsigned)v355 + (unsigned)tid2);
          const int v357 = (int)((unsigned)v344 + (unsigned)v356);
          const int v358 = held[k354];
          const int v359 = v358 + v353;
          const bool v360 = v359 < n11;
          const int v361 = v345 + v359;
          const int v362 = v360 ? __ldg(before + v361) : 0;
          const bool v363 = v362 <= v357;
          const bool v364 = v360 && v363;
          const int v365 = v364 ? v359 : v358;
          held[k354] = v365;
        }
      }
      #pragma unroll
      for (int k366 = 0; k366 < 7; ++k366) {
        const int v367 = k366 * 512;
        const int v368 = v367 + tid2;
        const int v369 = v344 + v368;
        const bool v370 = v369 < v338;
        const int v371 = held[k366];
        const int v372 = v345 + v371;
        const int v373 = v371 * 3584;
        const int v374 = v370 ? __ldg(before + v372) : 0;
        const int v375 = v369 - v374;
        const int v376 = v370 ? __ldg(first + v372) : 0;
        const int v377 = v376 + v375;
        const int v378 = v373 + v377;
        const int v379 = v370 ? __ldg(tiles + v378) : 0;
        const int v380 = v379 & 4095;
        const int v381 = (int)((unsigned)v379 - (unsigned)v380);
        const int v382 = (int)((unsigned)v381 + (unsigned)v368);
        const int v383 = v370 ? v382 : 2147483647;
        items[v368] = v383;
        const int v384 = (int)((unsigned)v373 + (unsigned)v380);
        others[v368] = v384;
      }
      __syncthreads();  // the bucket's points are there
      for (int k385 = 0; k385 < n21; ++k385) {
        const int v386 = (int)((unsigned)k385 * (unsigned)2);
        const int v387 = (int)((unsigned)v386 + (unsigned)12);
        const int v388 = tid2 * 7;
        long long var389 = 0ll;
        #pragma unroll
        for (int k390 = 0; k390 < 7; ++k390) {
          const int v391 = v388 + k390;
          const int v392 = items[v391];
          held[k390] = v392;
          const int v393 = (int)((v387 >= 0 && v387 < 32) ? v392 >> v387 : (v392 >> 31));
          const int v394 = v393 & 3;
          const int v395 = (int)((unsigned)v394 * (unsigned)16);
          const long long v396 = (long long)v395;
          const long long v397 = (v396 >= 0 && v396 < 64) ? (long long)((unsigned long long)1ll << v396) : (long long)0;
          const long long v398 = (long long)((unsigned long long)var389 + (unsigned long long)v397);
          var389 = v398;
        }
        const long long v399 = var389;
        long long scan400[2];
        fw_scan_sum_i64_512x1(v399, scan400, fw_scratch0);
        const long long v401 = scan400[0];
        const long long v402 = scan400[1];
        const long long v403 = (long long)((unsigned long long)v402 << 16ll);
        const long long v404 = (long long)((unsigned long long)v401 + (unsigned long long)v403);
        const long long v405 = (long long)((unsigned long long)v402 << 32ll);
        const long long v406 = (long long)((unsigned long long)v404 + (unsigned long long)v405);
        const long long v407 = (long long)((unsigned long long)v402 << 48ll);
        const long long v408 = (long long)((unsigned long long)v406 + (unsigned long long)v407);
        long long var409 = v408;
        #pragma unroll
        for (int k410 = 0; k410 < 7; ++k410) {
          const int v411 = held[k410];
          const int v412 = (int)((v387 >= 0 && v387 < 32) ? v411 >> v387 : (v411 >> 31));
          const int v413 = v412 & 3;
          const int v414 = (int)((unsigned)v413 * (unsigned)16);
          const long long v415 = (long long)v414;
          const long long v416 = (long long)((v415 >= 0 && v415 < 64) ? var409 >> v415 : (var409 >> 63));
          const long long v417 = v416 & 65535ll;
          const int v418 = (int)v417;
          items[v418] = v411;
          const long long v419 = (v415 >= 0 && v415 < 64) ? (long long)((unsigned long long)1ll << v415) : (long long)0;
          const long long v420 = (long long)((unsigned long long)var409 + (unsigned long long)v419);
          var409 = v420;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      for (int k421 = tid2; k421 < n18; k421 += 512) {
        const int v422 = (int)((unsigned)v347 + (unsigned)k421);
        const int v423 = (int)((unsigned)k421 + (unsigned)1);
        const int v424 = (int)((unsigned)v423 * (unsigned)4096);
        int var425 = 0;
        for (int k426 = 0; k426 < 12; ++k426) {
          const int v427 = (int)((k426 >= 0 && k426 < 32) ? 2048 >> k426 : (2048 >> 31));
          const int v428 = var425 + v427;
          const bool v429 = v428 <= 3584;
          const int v430 = v428 + (-1);
          const int v431 = v429 ? items[v430] : 0;
          const bool v432 = v431 < v424;
          const bool v433 = v429 && v432;
          const int v434 = v433 ? v428 : var425;
          var425 = v434;
        }
        const int v435 = var425;
        const int v436 = (int)((unsigned)k421 * (unsigned)4096);
        int var437 = 0;
        for (int k438 = 0; k438 < 12; ++k438) {
          const int v439 = (int)((k438 >= 0 && k438 < 32) ? 2048 >> k438 : (2048 >> 31));
          const int v440 = var437 + v439;
          const bool v441 = v440 <= 3584;
          const int v442 = v440 + (-1);
          const int v443 = v441 ? items[v442] : 0;
          const bool v444 = v443 < v436;
          const bool v445 = v441 && v444;
          const int v446 = v445 ? v440 : var437;
          var437 = v446;
        }
        const int v447 = var437;
        const int v448 = (int)((unsigned)v435 - (unsigned)v447);
        const int v449 = v348 + k421;
        crowd_counts[v449] = v448;
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
  const bool v450 = bid3 >= n8;
  const int v451 = bid3 - n8;
  const int v452 = v451 * 3584;
  int var453 = 0;
  for (int k454 = tid3; k454 < n8; k454 += 512) {
    const int v455 = __ldg(bases + k454);
    const int v456 = __ldg(counts + k454);
    const int v457 = v452 - v455;
    const int v458 = v457 > 0 ? v457 : 0;
    const int v459 = v458 + 3583;
    const int v460 = fw_udiv(v459, 3584);
    const int v461 = v460 * 3584;
    const int v462 = (int)((unsigned)v455 + (unsigned)v461);
    const int v463 = (int)((unsigned)v452 + (unsigned)3584);
    const bool v464 = v462 < v463;
    const bool v465 = v461 > 0;
    const bool v466 = v461 < v456;
    const bool v467 = v465 && v466;
    const bool v468 = v464 && v467;
    const bool v469 = v450 && v468;
    const bool v470 = bid3 == k454;
    const bool v471 = v470 || v469;
    const bool v472 = n19 > 0;
    const bool v473 = v456 > 7168;
    const bool v474 = v472 && v473;
    const bool v475 = v474 && v471;
    const int v476 = (int)((unsigned)k454 + (unsigned)1);
    const int v477 = v475 ? v476 : var453;
    var453 = v477;
  }
  const int v479 = var453;
  const int total478 = fw_sum_i32_512x1(v479, fw_scratch0);
  const bool v480 = total478 > 0;
  if (v480) {
    const int v481 = total478 + (-1);
    const int v482 = __ldg(bases + v481);
    const int v483 = __ldg(counts + v481);
    const int v484 = v452 - v482;
    const int v485 = v484 > 0 ? v484 : 0;
    const int v486 = v485 + 3583;
    const int v487 = fw_udiv(v486, 3584);
    const int v488 = v487 * 3584;
    const int v489 = v450 ? v488 : 0;
    const int v490 = v481 * n11;
    const bool v491 = n18 > 1;
    const int v492 = v481 * n18;
    const int v493 = bid3 * n18;
    #pragma unroll
    for (int k494 = 0; k494 < 7; ++k494) {
      held[k494] = 0;
    }
    for (int k495 = 0; k495 < n20; ++k495) {
      const int v496 = (int)((unsigned)n20 + (unsigned)(-1));
      const int v497 = (int)((unsigned)v496 - (unsigned)k495);
      const int v498 = (v497 >= 0 && v497 < 32) ? (int)((unsigned)1 << v497) : (int)0;
      #pragma unroll
      for (int k499 = 0; k499 < 7; ++k499) {
        const int v500 = (int)((unsigned)k499 * (unsigned)512);
        const int v501 = (int)((unsigned)v500 + (unsigned)tid3);
        const int v502 = (int)((unsigned)v489 + (unsigned)v501);
        const int v503 = held[k499];
        const int v504 = v503 + v498;
        const bool v505 = v504 < n11;
        const int v506 = v490 + v504;
        const int v507 = v505 ? __ldg(before + v506) : 0;
        const bool v508 = v507 <= v502;
        const bool v509 = v505 && v508;
        const int v510 = v509 ? v504 : v503;
        held[k499] = v510;
      }
    }
    #pragma unroll
    for (int k511 = 0; k511 < 7; ++k511) {
      const int v512 = k511 * 512;
      const int v513 = v512 + tid3;
      const int v514 = v489 + v513;
      const bool v515 = v514 < v483;
      const int v516 = held[k511];
      const int v517 = v490 + v516;
      const int v518 = v516 * 3584;
      const int v519 = v515 ? __ldg(before + v517) : 0;
      const int v520 = v514 - v519;
      const int v521 = v515 ? __ldg(first + v517) : 0;
      const int v522 = v521 + v520;
      const int v523 = v518 + v522;
      const int v524 = v515 ? __ldg(tiles + v523) : 0;
      const int v525 = v524 & 4095;
      const int v526 = (int)((unsigned)v524 - (unsigned)v525);
      const int v527 = (int)((unsigned)v526 + (unsigned)v513);
      const int v528 = v515 ? v527 : 2147483647;
      items[v513] = v528;
      const int v529 = (int)((unsigned)v518 + (unsigned)v525);
      others[v513] = v529;
    }
    __syncthreads();  // the bucket's points are there
    for (int k530 = 0; k530 < n21; ++k530) {
      const int v531 = (int)((unsigned)k530 * (unsigned)2);
      const int v532 = (int)((unsigned)v531 + (unsigned)12);
      const int v533 = tid3 * 7;
      long long var534 = 0ll;
      #pragma unroll
      for (int k535 = 0; k535 < 7; ++k535) {
        const int v536 = v533 + k535;
        const int v537 = items[v536];
        held[k535] = v537;
        const int v538 = (int)((v532 >= 0 && v532 < 32) ? v537 >> v532 : (v537 >> 31));
        const int v539 = v538 & 3;
        const int v540 = (int)((unsigned)v539 * (unsigned)16);
        const long long v541 = (long long)v540;
        const long long v542 = (v541 >= 0 && v541 < 64) ? (long long)((unsigned long long)1ll << v541) : (long long)0;
        const long long v543 = (long long)((unsigned long long)var534 + (unsigned long long)v542);
        var534 = v543;
      }
      const long long v544 = var534;
      long long scan545[2];
      fw_scan_sum_i64_512x1(v544, scan545, fw_scratch0);
      const long long v546 = scan545[0];
      const long long v547 = scan545[1];
      const long long v548 = (long long)((unsigned long long)v547 << 16ll);
      const long long v549 = (long long)((unsigned long long)v546 + (unsigned long long)v548);
      const long long v550 = (long long)((unsigned long long)v547 << 32ll);
      const long long v551 = (long long)((unsigned long long)v549 + (unsigned long long)v550);
      const long long v552 = (long long)((unsigned long long)v547 << 48ll);
      const long long v553 = (long long)((unsigned long long)v551 + (unsigned long long)v552);
      long long var554 = v553;
      #pragma unroll
      for (int k555 = 0; k555 < 7; ++k555) {
        const int v556 = held[k555];
        const int v557 = (int)((v532 >= 0 && v532 < 32) ? v556 >> v532 : (v556 >> 31));
        const int v558 = v557 & 3;
        const int v559 = (int)((unsigned)v558 * (unsigned)16);
        const long long v560 = (long long)v559;
        const long long v561 = (long long)((v560 >= 0 && v560 < 64) ? var554 >> v560 : (var554 >> 63));
        const long long v562 = v561 & 65535ll;
        const int v563 = (int)v562;
        items[v563] = v556;
        const long long v564 = (v560 >= 0 && v560 < 64) ? (long long)((unsigned long long)1ll << v560) : (long long)0;
        const long long v565 = (long long)((unsigned long long)var554 + (unsigned long long)v564);
        var554 = v565;
      }
      __syncthreads();  // the items are sorted by two more bits
    }
    const int v566 = fw_udiv(v482, 3584);
    const int v567 = n8 + v566;
    const int v568 = fw_udiv(v489, 3584);
    const int v569 = v483 + 3583;
    const int v570 = fw_udiv(v569, 3584);
    const int v571 = v491 ? v570 : 0;
    int var572 = v482;
    for (int k573 = 0; k573 < n18; k573 += 512) {
      const int v574 = k573 + tid3;
      const bool v575 = v574 < n18;
      const int v576 = v492 + v574;
      const int v577 = v491 ? 0 : v489;
      int var578 = v577;
      int var579 = 0;
      for (int k580 = 0; k580 < v571; ++k580) {
        const bool v581 = k580 > 0;
        const int v582 = v567 + k580;
        const int v583 = v581 ? v582 : v481;
        const int v584 = v583 * n18;
        const int v585 = v584 + v574;
        const int v586 = v575 ? __ldg(crowd_counts + v585) : 0;
        const int v587 = (int)((unsigned)var579 + (unsigned)v586);
        var579 = v587;
        const bool v588 = k580 < v568;
        const int v589 = v588 ? v586 : 0;
        const int v590 = (int)((unsigned)var578 + (unsigned)v589);
        var578 = v590;
      }
      const int v591 = var579;
      __syncthreads();  // all have read the results of the collective before
      int scan592[2];
      fw_scan_sum_i32_512x1(v591, scan592, fw_scratch0);
      const int v593 = scan592[0];
      const int v594 = scan592[1];
      const int v595 = (int)((unsigned)var572 + (unsigned)v593);
      if (v575) {
        const int v596 = (int)((unsigned)v595 + (unsigned)var578);
        const int v597 = (int)((unsigned)v574 * (unsigned)4096);
        int var598 = 0;
        for (int k599 = 0; k599 < 12; ++k599) {
          const int v600 = (int)((k599 >= 0 && k599 < 32) ? 2048 >> k599 : (2048 >> 31));
          const int v601 = var598 + v600;
          const bool v602 = v601 <= 3584;
          const int v603 = v601 + (-1);
          const int v604 = v602 ? items[v603] : 0;
          const bool v605 = v604 < v597;
          const bool v606 = v602 && v605;
          const int v607 = v606 ? v601 : var598;
          var598 = v607;
        }
        const int v608 = var598;
        const int v609 = (int)((unsigned)v596 - (unsigned)v608);
        const int v610 = v493 + v574;
        go_on[v610] = v609;
        const bool v611 = v489 == 0;
        const bool v612 = v576 <= n22;
        const bool v613 = v611 && v612;
        if (v613) {
          start[v576] = v595;
        }
      }
      const int v614 = (int)((unsigned)var572 + (unsigned)v594);
      var572 = v614;
    }
    __syncthreads();  // where each row goes on is known
    #pragma unroll
    for (int k615 = 0; k615 < 7; ++k615) {
      const int v616 = k615 * 512;
      const int v617 = v616 + tid3;
      const int v618 = (int)((unsigned)v489 + (unsigned)v617);
      const bool v619 = v618 < v483;
      if (v619) {
        const int v620 = items[v617];
        const int v621 = v620 & 4095;
        const int v622 = fw_udiv(v620, 4096);
        const int v623 = v493 + v622;
        const int v624 = go_on[v623];
        const int v625 = v624 + v617;
        const int v626 = others[v621];
        order[v625] = v626;
      }
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
  const int v627 = fw_udiv(tid4, 32);
  const int v628 = v627 * 32;
  const int v629 = tid4 - v628;
  const int v630 = fw_udiv(bid4, n26);
  const int v631 = v630 * n26;
  const int v632 = bid4 - v631;
  const int v633 = v632 * 32;
  const int v634 = v633 + v629;
  const int v635 = n27 + (-1);
  const int v636 = v634 < v635 ? v634 : v635;
  const bool v637 = v634 < n27;
  const int v638 = v630 * 4;
  const int v639 = v638 + v627;
  const bool v640 = v639 < n28;
  const int v641 = n28 + (-1);
  const int v642 = v639 < v641 ? v639 : v641;
  const int v643 = __ldg(start + v642);
  const int v644 = v642 + 1;
  const int v645 = __ldg(start + v644);
  const int v646 = v636 * 4;
  const int v647 = v642 * n29;
  const int v648 = v647 + v646;
  float v649[4];
  fw_load_f32x4_ldg(in2 + v648, v649);
  float acc650[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc650[l] = v649[l];
  }
  const bool v651 = v643 < v645;
  if (v651) {
    const int v652 = v645 + (-1);
    const int v653 = __ldg(order + v652);
    const int v654 = v636 * 4;
    const int v655 = v653 * n30;
    const int v656 = v655 + v654;
    float v657[4];
    fw_load_f32x4_ldg(in1 + v656, v657);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc650[l] = v657[l];
    }
  }
  const int v658 = v636 * 4;
  float v660[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v659 = acc650[l];
    v660[l] = fw_max(v659, 0.0f);
  }
  const int v661 = v642 * n31;
  const int v662 = v661 + v658;
  const bool v663 = v640 && v637;
  if (v663) {
    fw_store_f32x4(out3 + v662, v660);
  }
}
