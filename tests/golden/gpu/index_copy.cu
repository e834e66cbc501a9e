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
    int n32,
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
    int n32,
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
  const bool v117 = total107 > n20;
  const bool v118 = v116 && v117;
  const int v119 = v114 ? 0 : 1;
  const int v120 = v118 ? 2 : v119;
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
      for (int k129 = 0; k129 < n21; ++k129) {
        const int v130 = (int)((unsigned)n21 + (unsigned)(-1));
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
      for (int k164 = 0; k164 < n22; ++k164) {
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
          const bool v251 = v234 <= n23;
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
    int n32,
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
  const int v305 = bid2 * 3584;
  int var306 = 0;
  int var307 = 0;
  for (int k308 = tid2; k308 < n8; k308 += 512) {
    const int v309 = __ldg(bases + k308);
    const int v310 = __ldg(counts + k308);
    const int v311 = v305 - v309;
    const int v312 = v311 > 0 ? v311 : 0;
    const int v313 = v312 + 3583;
    const int v314 = fw_udiv(v313, 3584);
    const int v315 = v314 * 3584;
    const int v316 = (int)((unsigned)v309 + (unsigned)v315);
    const int v317 = (int)((unsigned)v316 - (unsigned)v305);
    const bool v318 = v317 < 3584;
    const bool v319 = v315 < v310;
    const bool v320 = v318 && v319;
    const bool v321 = v310 > n20;
    const bool v322 = v320 && v321;
    const bool v323 = v315 == 0;
    const bool v324 = !v323;
    const bool v325 = v322 && v323;
    const int v326 = (int)((unsigned)k308 + (unsigned)1);
    const int v327 = v325 ? v326 : var306;
    var306 = v327;
    const bool v328 = v322 && v324;
    const int v329 = v328 ? v326 : var307;
    var307 = v329;
  }
  const int v331 = var306;
  const int total330 = fw_sum_i32_512x1(v331, fw_scratch0);
  const int v333 = var307;
  const int total332 = fw_sum_i32_512x1(v333, fw_scratch1);
  for (int k334 = 0; k334 < 2; ++k334) {
    const bool v335 = k334 == 0;
    const int v336 = v335 ? total330 : total332;
    const bool v337 = v336 > 0;
    if (v337) {
      const int v338 = v336 + (-1);
      const int v339 = __ldg(bases + v338);
      const int v340 = __ldg(counts + v338);
      const int v341 = v338 * n11;
      const bool v342 = n18 > 1;
      const int v343 = bid2 * 2;
      const int v344 = v343 + k334;
      const int v345 = v344 * n18;
      const int v346 = (int)((unsigned)v338 * (unsigned)n18);
      const int v347 = v305 - v339;
      const int v348 = v347 > 0 ? v347 : 0;
      const int v349 = v348 + 3583;
      const int v350 = fw_udiv(v349, 3584);
      const int v351 = v350 * 3584;
      if (v342) {
        #pragma unroll
        for (int k352 = 0; k352 < 7; ++k352) {
          held[k352] = 0;
        }
        for (int k353 = 0; k353 < n21; ++k353) {
          const int v354 = (int)((unsigned)n21 + (unsigned)(-1));
          const int v355 = (int)((unsigned)v354 - (unsigned)k353);
          const int v356 = (v355 >= 0 && v355 < 32) ? (int)((unsigned)1 << v355) : (int)0;
          #pragma unroll
          for (int k357 = 0; k357 < 7; ++k357) {
            const int v358 = (int)((unsigned)k357 * (unsigned)512);
            const int v359 = (int)((unsigned)v358 + (unsigned)tid2);
            const int v360 = (int)((unsigned)v351 + (unsigned)v359);
            const int v361 = held[k357];
            const int v362 = v361 + v356;
            const bool v363 = v362 < n11;
            const int v364 = v341 + v362;
            const int v365 = v363 ? __ldg(before + v364) : 0;
            const bool v366 = v365 <= v360;
            const bool v367 = v363 && v366;
            const int v368 = v367 ? v362 : v361;
            held[k357] = v368;
          }
        }
        #pragma unroll
        for (int k369 = 0; k369 < 7; ++k369) {
          const int v370 = k369 * 512;
          const int v371 = v370 + tid2;
          const int v372 = v351 + v371;
          const bool v373 = v372 < v340;
          const int v374 = held[k369];
          const int v375 = v341 + v374;
          const int v376 = v374 * 3584;
          const int v377 = v373 ? __ldg(before + v375) : 0;
          const int v378 = v372 - v377;
          const int v379 = v373 ? __ldg(first + v375) : 0;
          const int v380 = v379 + v378;
          const int v381 = v376 + v380;
          const int v382 = v373 ? __ldg(tiles + v381) : 0;
          const int v383 = v382 & 4095;
          const int v384 = (int)((unsigned)v382 - (unsigned)v383);
          const int v385 = (int)((unsigned)v384 + (unsigned)v371);
          const int v386 = v373 ? v385 : 2147483647;
          items[v371] = v386;
          const int v387 = (int)((unsigned)v376 + (unsigned)v383);
          others[v371] = v387;
        }
        __syncthreads();  // the bucket's points are there
        for (int k388 = 0; k388 < n22; ++k388) {
          const int v389 = (int)((unsigned)k388 * (unsigned)2);
          const int v390 = (int)((unsigned)v389 + (unsigned)12);
          const int v391 = tid2 * 7;
          long long var392 = 0ll;
          #pragma unroll
          for (int k393 = 0; k393 < 7; ++k393) {
            const int v394 = v391 + k393;
            const int v395 = items[v394];
            held[k393] = v395;
            const int v396 = (int)((v390 >= 0 && v390 < 32) ? v395 >> v390 : (v395 >> 31));
            const int v397 = v396 & 3;
            const int v398 = (int)((unsigned)v397 * (unsigned)16);
            const long long v399 = (long long)v398;
            const long long v400 = (v399 >= 0 && v399 < 64) ? (long long)((unsigned long long)1ll << v399) : (long long)0;
            const long long v401 = (long long)((unsigned long long)var392 + (unsigned long long)v400);
            var392 = v401;
          }
          const long long v402 = var392;
          long long scan403[2];
          fw_scan_sum_i64_512x1(v402, scan403, fw_scratch0);
          const long long v404 = scan403[0];
          const long long v405 = scan403[1];
          const long long v406 = (long long)((unsigned long long)v405 << 16ll);
          const long long v407 = (long long)((unsigned long long)v404 + (unsigned long long)v406);
          const long long v408 = (long long)((unsigned long long)v405 << 32ll);
          const long long v409 = (long long)((unsigned long long)v407 + (unsigned long long)v408);
          const long long v410 = (long long)((unsigned long long)v405 << 48ll);
          const long long v411 = (long long)((unsigned long long)v409 + (unsigned long long)v410);
          long long var412 = v411;
          #pragma unroll
          for (int k413 = 0; k413 < 7; ++k413) {
            const int v414 = held[k413];
            const int v415 = (int)((v390 >= 0 && v390 < 32) ? v414 >> v390 : (v414 >> 31));
            const int v416 = v415 & 3;
            const int v417 = (int)((unsigned)v416 * (unsigned)16);
            const long long v418 = (long long)v417;
            const long long v419 = (long long)((v418 >= 0 && v418 < 64) ? var412 >> v418 : (var412 >> 63));
            const long long v420 = v419 & 65535ll;
            const int v421 = (int)v420;
            items[v421] = v414;
            const long long v422 = (v418 >= 0 && v418 < 64) ? (long long)((unsigned long long)1ll << v418) : (long long)0;
            const long long v423 = (long long)((unsigned long long)var412 + (unsigned long long)v422);
            var412 = v423;
          }
          __syncthreads();  // the items are sorted by two more bits
        }
        for (int k424 = tid2; k424 < n18; k424 += 512) {
          const int v425 = (int)((unsigned)v346 + (unsigned)k424);
          const int v426 = (int)((unsigned)k424 + (unsigned)1);
          const int v427 = (int)((unsigned)k424 * (unsigned)4096);
          int var428 = 0;
          for (int k429 = 0; k429 < 12; ++k429) {
            const int v430 = (int)((k429 >= 0 && k429 < 32) ? 2048 >> k429 : (2048 >> 31));
            const int v431 = var428 + v430;
            const bool v432 = v431 <= 3584;
            const int v433 = v431 + (-1);
            const int v434 = v432 ? items[v433] : 0;
            const bool v435 = v434 < v427;
            const bool v436 = v432 && v435;
            const int v437 = v436 ? v431 : var428;
            var428 = v437;
          }
          const int v438 = var428;
          const int v439 = (int)((unsigned)v426 * (unsigned)4096);
          int var440 = 0;
          for (int k441 = 0; k441 < 12; ++k441) {
            const int v442 = (int)((k441 >= 0 && k441 < 32) ? 2048 >> k441 : (2048 >> 31));
            const int v443 = var440 + v442;
            const bool v444 = v443 <= 3584;
            const int v445 = v443 + (-1);
            const int v446 = v444 ? items[v445] : 0;
            const bool v447 = v446 < v439;
            const bool v448 = v444 && v447;
            const int v449 = v448 ? v443 : var440;
            var440 = v449;
          }
          const int v450 = var440;
          const int v451 = v345 + k424;
          const int v452 = (int)((unsigned)v450 - (unsigned)v438);
          crowd_counts[v451] = v452;
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
    int n32,
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
  const int v453 = bid3 * 3584;
  int var454 = 0;
  int var455 = 0;
  for (int k456 = tid3; k456 < n8; k456 += 512) {
    const int v457 = __ldg(bases + k456);
    const int v458 = __ldg(counts + k456);
    const int v459 = v453 - v457;
    const int v460 = v459 > 0 ? v459 : 0;
    const int v461 = v460 + 3583;
    const int v462 = fw_udiv(v461, 3584);
    const int v463 = v462 * 3584;
    const int v464 = (int)((unsigned)v457 + (unsigned)v463);
    const int v465 = (int)((unsigned)v464 - (unsigned)v453);
    const bool v466 = v465 < 3584;
    const bool v467 = v463 < v458;
    const bool v468 = v466 && v467;
    const bool v469 = v458 > n20;
    const bool v470 = v468 && v469;
    const bool v471 = v463 == 0;
    const bool v472 = !v471;
    const bool v473 = v470 && v471;
    const int v474 = (int)((unsigned)k456 + (unsigned)1);
    const int v475 = v473 ? v474 : var454;
    var454 = v475;
    const bool v476 = v470 && v472;
    const int v477 = v476 ? v474 : var455;
    var455 = v477;
  }
  const int v479 = var454;
  const int total478 = fw_sum_i32_512x1(v479, fw_scratch0);
  const int v481 = var455;
  const int total480 = fw_sum_i32_512x1(v481, fw_scratch1);
  for (int k482 = 0; k482 < 2; ++k482) {
    const bool v483 = k482 == 0;
    const int v484 = v483 ? total478 : total480;
    const bool v485 = v484 > 0;
    if (v485) {
      const int v486 = v484 + (-1);
      const int v487 = __ldg(bases + v486);
      const int v488 = __ldg(counts + v486);
      const int v489 = v486 * n11;
      const bool v490 = n18 > 1;
      const int v491 = bid3 * 2;
      const int v492 = v491 + k482;
      const int v493 = v492 * n18;
      const int v494 = v486 * n18;
      const int v495 = v453 - v487;
      const int v496 = v495 > 0 ? v495 : 0;
      const int v497 = v496 + 3583;
      const int v498 = fw_udiv(v497, 3584);
      const int v499 = v498 * 3584;
      #pragma unroll
      for (int k500 = 0; k500 < 7; ++k500) {
        held[k500] = 0;
      }
      for (int k501 = 0; k501 < n21; ++k501) {
        const int v502 = (int)((unsigned)n21 + (unsigned)(-1));
        const int v503 = (int)((unsigned)v502 - (unsigned)k501);
        const int v504 = (v503 >= 0 && v503 < 32) ? (int)((unsigned)1 << v503) : (int)0;
        #pragma unroll
        for (int k505 = 0; k505 < 7; ++k505) {
          const int v506 = (int)((unsigned)k505 * (unsigned)512);
          const int v507 = (int)((unsigned)v506 + (unsigned)tid3);
          const int v508 = (int)((unsigned)v499 + (unsigned)v507);
          const int v509 = held[k505];
          const int v510 = v509 + v504;
          const bool v511 = v510 < n11;
          const int v512 = v489 + v510;
          const int v513 = v511 ? __ldg(before + v512) : 0;
          const bool v514 = v513 <= v508;
          const bool v515 = v511 && v514;
          const int v516 = v515 ? v510 : v509;
          held[k505] = v516;
        }
      }
      #pragma unroll
      for (int k517 = 0; k517 < 7; ++k517) {
        const int v518 = k517 * 512;
        const int v519 = v518 + tid3;
        const int v520 = v499 + v519;
        const bool v521 = v520 < v488;
        const int v522 = held[k517];
        const int v523 = v489 + v522;
        const int v524 = v522 * 3584;
        const int v525 = v521 ? __ldg(before + v523) : 0;
        const int v526 = v520 - v525;
        const int v527 = v521 ? __ldg(first + v523) : 0;
        const int v528 = v527 + v526;
        const int v529 = v524 + v528;
        const int v530 = v521 ? __ldg(tiles + v529) : 0;
        const int v531 = v530 & 4095;
        const int v532 = (int)((unsigned)v530 - (unsigned)v531);
        const int v533 = (int)((unsigned)v532 + (unsigned)v519);
        const int v534 = v521 ? v533 : 2147483647;
        items[v519] = v534;
        const int v535 = (int)((unsigned)v524 + (unsigned)v531);
        others[v519] = v535;
      }
      __syncthreads();  // the bucket's points are there
      for (int k536 = 0; k536 < n22; ++k536) {
        const int v537 = (int)((unsigned)k536 * (unsigned)2);
        const int v538 = (int)((unsigned)v537 + (unsigned)12);
        const int v539 = tid3 * 7;
        long long var540 = 0ll;
        #pragma unroll
        for (int k541 = 0; k541 < 7; ++k541) {
          const int v542 = v539 + k541;
          const int v543 = items[v542];
          held[k541] = v543;
          const int v544 = (int)((v538 >= 0 && v538 < 32) ? v543 >> v538 : (v543 >> 31));
          const int v545 = v544 & 3;
          const int v546 = (int)((unsigned)v545 * (unsigned)16);
          const long long v547 = (long long)v546;
          const long long v548 = (v547 >= 0 && v547 < 64) ? (long long)((unsigned long long)1ll << v547) : (long long)0;
          const long long v549 = (long long)((unsigned long long)var540 + (unsigned long long)v548);
          var540 = v549;
        }
        const long long v550 = var540;
        long long scan551[2];
        fw_scan_sum_i64_512x1(v550, scan551, fw_scratch0);
        const long long v552 = scan551[0];
        const long long v553 = scan551[1];
        const long long v554 = (long long)((unsigned long long)v553 << 16ll);
        const long long v555 = (long long)((unsigned long long)v552 + (unsigned long long)v554);
        const long long v556 = (long long)((unsigned long long)v553 << 32ll);
        const long long v557 = (long long)((unsigned long long)v555 + (unsigned long long)v556);
        const long long v558 = (long long)((unsigned long long)v553 << 48ll);
        const long long v559 = (long long)((unsigned long long)v557 + (unsigned long long)v558);
        long long var560 = v559;
        #pragma unroll
        for (int k561 = 0; k561 < 7; ++k561) {
          const int v562 = held[k561];
          const int v563 = (int)((v538 >= 0 && v538 < 32) ? v562 >> v538 : (v562 >> 31));
          const int v564 = v563 & 3;
          const int v565 = (int)((unsigned)v564 * (unsigned)16);
          const long long v566 = (long long)v565;
          const long long v567 = (long long)((v566 >= 0 && v566 < 64) ? var560 >> v566 : (var560 >> 63));
          const long long v568 = v567 & 65535ll;
          const int v569 = (int)v568;
          items[v569] = v562;
          const long long v570 = (v566 >= 0 && v566 < 64) ? (long long)((unsigned long long)1ll << v566) : (long long)0;
          const long long v571 = (long long)((unsigned long long)var560 + (unsigned long long)v570);
          var560 = v571;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      const int v572 = fw_udiv(v487, 3584);
      const int v573 = fw_udiv(v499, 3584);
      const int v574 = v488 + 3583;
      const int v575 = fw_udiv(v574, 3584);
      const int v576 = v490 ? v575 : 0;
      int var577 = v487;
      for (int k578 = 0; k578 < n18; k578 += 512) {
        const int v579 = k578 + tid3;
        const bool v580 = v579 < n18;
        const int v581 = v494 + v579;
        const int v582 = v490 ? 0 : v499;
        int var583 = v582;
        int var584 = 0;
        for (int k585 = 0; k585 < v576; ++k585) {
          const int v586 = k585 < 1 ? k585 : 1;
          const int v587 = v572 + k585;
          const int v588 = v587 * 2;
          const int v589 = v588 + v586;
          const int v590 = v589 * n18;
          const int v591 = v590 + v579;
          const int v592 = v580 ? __ldg(crowd_counts + v591) : 0;
          const int v593 = (int)((unsigned)var584 + (unsigned)v592);
          var584 = v593;
          const bool v594 = k585 < v573;
          const int v595 = v594 ? v592 : 0;
          const int v596 = (int)((unsigned)var583 + (unsigned)v595);
          var583 = v596;
        }
        const int v597 = var584;
        __syncthreads();  // all have read the results of the collective before
        int scan598[2];
        fw_scan_sum_i32_512x1(v597, scan598, fw_scratch0);
        const int v599 = scan598[0];
        const int v600 = scan598[1];
        const int v601 = (int)((unsigned)var577 + (unsigned)v599);
        if (v580) {
          const int v602 = (int)((unsigned)v601 + (unsigned)var583);
          const int v603 = (int)((unsigned)v579 * (unsigned)4096);
          int var604 = 0;
          for (int k605 = 0; k605 < 12; ++k605) {
            const int v606 = (int)((k605 >= 0 && k605 < 32) ? 2048 >> k605 : (2048 >> 31));
            const int v607 = var604 + v606;
            const bool v608 = v607 <= 3584;
            const int v609 = v607 + (-1);
            const int v610 = v608 ? items[v609] : 0;
            const bool v611 = v610 < v603;
            const bool v612 = v608 && v611;
            const int v613 = v612 ? v607 : var604;
            var604 = v613;
          }
          const int v614 = var604;
          const int v615 = (int)((unsigned)v602 - (unsigned)v614);
          const int v616 = v493 + v579;
          go_on[v616] = v615;
          const bool v617 = v499 == 0;
          const bool v618 = v581 <= n23;
          const bool v619 = v617 && v618;
          if (v619) {
            start[v581] = v601;
          }
        }
        const int v620 = (int)((unsigned)var577 + (unsigned)v600);
        var577 = v620;
      }
      __syncthreads();  // where each row goes on is known
      #pragma unroll
      for (int k621 = 0; k621 < 7; ++k621) {
        const int v622 = k621 * 512;
        const int v623 = v622 + tid3;
        const int v624 = (int)((unsigned)v499 + (unsigned)v623);
        const bool v625 = v624 < v488;
        if (v625) {
          const int v626 = items[v623];
          const int v627 = v626 & 4095;
          const int v628 = fw_udiv(v626, 4096);
          const int v629 = v493 + v628;
          const int v630 = go_on[v629];
          const int v631 = v630 + v623;
          const int v632 = others[v627];
          order[v631] = v632;
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
    int n32,
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
  const int v633 = fw_udiv(tid4, 32);
  const int v634 = v633 * 32;
  const int v635 = tid4 - v634;
  const int v636 = fw_udiv(bid4, n27);
  const int v637 = v636 * n27;
  const int v638 = bid4 - v637;
  const int v639 = v638 * 32;
  const int v640 = v639 + v635;
  const int v641 = n28 + (-1);
  const int v642 = v640 < v641 ? v640 : v641;
  const bool v643 = v640 < n28;
  const int v644 = v636 * 4;
  const int v645 = v644 + v633;
  const bool v646 = v645 < n29;
  const int v647 = n29 + (-1);
  const int v648 = v645 < v647 ? v645 : v647;
  const int v649 = __ldg(start + v648);
  const int v650 = v648 + 1;
  const int v651 = __ldg(start + v650);
  const int v652 = v642 * 4;
  const int v653 = v648 * n30;
  const int v654 = v653 + v652;
  float v655[4];
  fw_load_f32x4_ldg(in2 + v654, v655);
  float acc656[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc656[l] = v655[l];
  }
  const bool v657 = v649 < v651;
  if (v657) {
    const int v658 = v651 + (-1);
    const int v659 = __ldg(order + v658);
    const int v660 = v642 * 4;
    const int v661 = v659 * n31;
    const int v662 = v661 + v660;
    float v663[4];
    fw_load_f32x4_ldg(in1 + v662, v663);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc656[l] = v663[l];
    }
  }
  const int v664 = v642 * 4;
  float v666[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v665 = acc656[l];
    v666[l] = fw_max(v665, 0.0f);
  }
  const int v667 = v648 * n32;
  const int v668 = v667 + v664;
  const bool v669 = v646 && v643;
  if (v669) {
    fw_store_f32x4(out3 + v668, v666);
  }
}
