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
  bool var2 = true;
  const long long v12 = (long long)n9;
  #pragma unroll
  for (int k3 = 0; k3 < 7; ++k3) {
    const int v4 = k3 * 512;
    const int v5 = v4 + tid0;
    const int v6 = v1 + v5;
    const bool v7 = v6 < n6;
    const int v8 = n6 + (-1);
    const int v9 = v6 < v8 ? v6 : v8;
    const long long v10 = __ldg(in0 + v9);
    const bool v11 = v10 < 0ll;
    const long long v13 = v10 + v12;
    const long long v14 = v11 ? v13 : v10;
    const bool v15 = v14 >= 0ll;
    const bool v16 = v14 < v12;
    const bool v17 = v15 && v16;
    const bool v18 = var2 && v17;
    var2 = v18;
    const bool v19 = v7 && v17;
    int var20 = n8;
    int var21 = 0;
    const int v22 = (int)v14;
    if (v19) {
      const int v23 = fw_udiv_by(v22, n7, n7_inverse);
      const int v24 = (int)((unsigned)v23 * (unsigned)n7);
      const int v25 = (int)((unsigned)v22 - (unsigned)v24);
      var20 = v23;
      var21 = v25;
    }
    const int v26 = (int)((unsigned)var20 * (unsigned)4096);
    const int v27 = (int)((unsigned)v26 + (unsigned)v5);
    items[v5] = v27;
    others[v5] = var21;
  }
  const bool v28 = var2;
  if (!v28) {
    fw_fail();
  }
  __syncthreads();  // the tile's points are there
  for (int k29 = 0; k29 < n10; ++k29) {
    const int v30 = (int)((unsigned)k29 * (unsigned)2);
    const int v31 = (int)((unsigned)v30 + (unsigned)12);
    const int v32 = tid0 * 7;
    long long var33 = 0ll;
    #pragma unroll
    for (int k34 = 0; k34 < 7; ++k34) {
      const int v35 = v32 + k34;
      const int v36 = items[v35];
      held[k34] = v36;
      const int v37 = (int)((v31 >= 0 && v31 < 32) ? v36 >> v31 : (v36 >> 31));
      const int v38 = v37 & 3;
      const int v39 = (int)((unsigned)v38 * (unsigned)16);
      const long long v40 = (long long)v39;
      const long long v41 = (v40 >= 0 && v40 < 64) ? (long long)((unsigned long long)1ll << v40) : (long long)0;
      const long long v42 = (long long)((unsigned long long)var33 + (unsigned long long)v41);
      var33 = v42;
    }
    const long long v43 = var33;
    long long scan44[2];
    fw_scan_sum_i64_512x1(v43, scan44, fw_scratch0);
    const long long v45 = scan44[0];
    const long long v46 = scan44[1];
    const long long v47 = (long long)((unsigned long long)v46 << 16ll);
    const long long v48 = (long long)((unsigned long long)v45 + (unsigned long long)v47);
    const long long v49 = (long long)((unsigned long long)v46 << 32ll);
    const long long v50 = (long long)((unsigned long long)v48 + (unsigned long long)v49);
    const long long v51 = (long long)((unsigned long long)v46 << 48ll);
    const long long v52 = (long long)((unsigned long long)v50 + (unsigned long long)v51);
    long long var53 = v52;
    #pragma unroll
    for (int k54 = 0; k54 < 7; ++k54) {
      const int v55 = held[k54];
      const int v56 = (int)((v31 >= 0 && v31 < 32) ? v55 >> v31 : (v55 >> 31));
      const int v57 = v56 & 3;
      const int v58 = (int)((unsigned)v57 * (unsigned)16);
      const long long v59 = (long long)v58;
      const long long v60 = (long long)((v59 >= 0 && v59 < 64) ? var53 >> v59 : (var53 >> 63));
      const long long v61 = v60 & 65535ll;
      const int v62 = (int)v61;
      items[v62] = v55;
      const long long v63 = (v59 >= 0 && v59 < 64) ? (long long)((unsigned long long)1ll << v59) : (long long)0;
      const long long v64 = (long long)((unsigned long long)var53 + (unsigned long long)v63);
      var53 = v64;
    }
    __syncthreads();  // the items are sorted by two more bits
  }
  #pragma unroll
  for (int k65 = 0; k65 < 7; ++k65) {
    const int v66 = k65 * 512;
    const int v67 = v66 + tid0;
    const int v68 = items[v67];
    const int v69 = v68 & 4095;
    const int v70 = fw_udiv(v68, 4096);
    const int v71 = others[v69];
    const int v72 = (int)((unsigned)v71 * (unsigned)4096);
    const int v73 = (int)((unsigned)v72 + (unsigned)v69);
    const int v74 = v1 + v67;
    tiles[v74] = v73;
  }
  for (int k75 = tid0; k75 < n12; k75 += 512) {
    const int v76 = k75 * n11;
    const int v77 = v76 + bid0;
    const int v78 = (int)((unsigned)k75 * (unsigned)4096);
    int var79 = 0;
    for (int k80 = 0; k80 < 12; ++k80) {
      const int v81 = (int)((k80 >= 0 && k80 < 32) ? 2048 >> k80 : (2048 >> 31));
      const int v82 = var79 + v81;
      const bool v83 = v82 <= 3584;
      const int v84 = v82 + (-1);
      const int v85 = v83 ? items[v84] : 0;
      const bool v86 = v85 < v78;
      const bool v87 = v83 && v86;
      const int v88 = v87 ? v82 : var79;
      var79 = v88;
    }
    const int v89 = var79;
    first[v77] = v89;
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
  const int v90 = bid1 * n11;
  const int v91 = v90 + n11;
  int var92 = 0;
  int var93 = 0;
  int var94 = 0;
  for (int k95 = 0; k95 < n11; k95 += 512) {
    const int v96 = k95 + tid1;
    const bool v97 = v96 < n11;
    const int v98 = v90 + v96;
    const int v99 = v97 ? __ldg(first + v98) : 0;
    const int v100 = v91 + v96;
    const int v101 = v97 ? __ldg(first + v100) : 0;
    const int v102 = (int)((unsigned)v101 - (unsigned)v99);
    __syncthreads();  // all have read the results of the collective before
    int scan103[2];
    fw_scan_sum_i32_512x1(v102, scan103, fw_scratch0);
    const int v104 = scan103[0];
    const int v105 = scan103[1];
    if (v97) {
      const int v106 = (int)((unsigned)var94 + (unsigned)v104);
      before[v98] = v106;
    }
    const int v107 = (int)((unsigned)var94 + (unsigned)v105);
    var94 = v107;
    const int v108 = (int)((unsigned)var92 + (unsigned)v102);
    var92 = v108;
    const int v109 = (int)((unsigned)var93 + (unsigned)v99);
    var93 = v109;
  }
  const int v111 = var92;
  fw_half2 ^= 64;
  const int total110 = fw_sum_i32_512x1(v111, fw_scratch2 + fw_half2);
  const int v113 = var93;
  const int total112 = fw_sum_i32_512x1(v113, fw_scratch1);
  const bool v114 = total110 > 3584;
  const bool v115 = n15 > 1;
  const bool v116 = v114 && v115;
  const int v117 = bid1 * n15;
  const int v118 = v116 ? 0 : 1;
  for (int k119 = v118; k119 < 2; ++k119) {
    const bool v120 = k119 == 0;
    const bool v121 = !v120;
    if (v120) {
      for (int k122 = tid1; k122 < n15; k122 += 512) {
        const int v123 = v117 + k122;
        go_on[v123] = 0;
      }
    }
    const int v124 = total110 > 1 ? total110 : 1;
    for (int k125 = 0; k125 < v124; k125 += 3584) {
      #pragma unroll
      for (int k126 = 0; k126 < 7; ++k126) {
        held[k126] = 0;
      }
      for (int k127 = 0; k127 < n16; ++k127) {
        const int v128 = (int)((unsigned)n16 + (unsigned)(-1));
        const int v129 = (int)((unsigned)v128 - (unsigned)k127);
        const int v130 = (v129 >= 0 && v129 < 32) ? (int)((unsigned)1 << v129) : (int)0;
        #pragma unroll
        for (int k131 = 0; k131 < 7; ++k131) {
          const int v132 = (int)((unsigned)k131 * (unsigned)512);
          const int v133 = (int)((unsigned)v132 + (unsigned)tid1);
          const int v134 = (int)((unsigned)k125 + (unsigned)v133);
          const int v135 = held[k131];
          const int v136 = v135 + v130;
          const bool v137 = v136 < n11;
          const int v138 = v90 + v136;
          const int v139 = v137 ? before[v138] : 0;
          const bool v140 = v139 <= v134;
          const bool v141 = v137 && v140;
          const int v142 = v141 ? v136 : v135;
          held[k131] = v142;
        }
      }
      #pragma unroll
      for (int k143 = 0; k143 < 7; ++k143) {
        const int v144 = k143 * 512;
        const int v145 = v144 + tid1;
        const int v146 = k125 + v145;
        const bool v147 = v146 < total110;
        const int v148 = held[k143];
        const int v149 = v90 + v148;
        const int v150 = v148 * 3584;
        const int v151 = v147 ? before[v149] : 0;
        const int v152 = v146 - v151;
        const int v153 = v147 ? __ldg(first + v149) : 0;
        const int v154 = v153 + v152;
        const int v155 = v150 + v154;
        const int v156 = v147 ? __ldg(tiles + v155) : 0;
        const int v157 = v156 & 4095;
        const int v158 = (int)((unsigned)v156 - (unsigned)v157);
        const int v159 = (int)((unsigned)v158 + (unsigned)v145);
        const int v160 = v147 ? v159 : 2147483647;
        items[v145] = v160;
        const int v161 = (int)((unsigned)v150 + (unsigned)v157);
        others[v145] = v161;
      }
      __syncthreads();  // the bucket's points are there
      for (int k162 = 0; k162 < n17; ++k162) {
        const int v163 = (int)((unsigned)k162 * (unsigned)2);
        const int v164 = (int)((unsigned)v163 + (unsigned)12);
        const int v165 = tid1 * 7;
        long long var166 = 0ll;
        #pragma unroll
        for (int k167 = 0; k167 < 7; ++k167) {
          const int v168 = v165 + k167;
          const int v169 = items[v168];
          held[k167] = v169;
          const int v170 = (int)((v164 >= 0 && v164 < 32) ? v169 >> v164 : (v169 >> 31));
          const int v171 = v170 & 3;
          const int v172 = (int)((unsigned)v171 * (unsigned)16);
          const long long v173 = (long long)v172;
          const long long v174 = (v173 >= 0 && v173 < 64) ? (long long)((unsigned long long)1ll << v173) : (long long)0;
          const long long v175 = (long long)((unsigned long long)var166 + (unsigned long long)v174);
          var166 = v175;
        }
        const long long v176 = var166;
        long long scan177[2];
        fw_scan_sum_i64_512x1(v176, scan177, fw_scratch0);
        const long long v178 = scan177[0];
        const long long v179 = scan177[1];
        const long long v180 = (long long)((unsigned long long)v179 << 16ll);
        const long long v181 = (long long)((unsigned long long)v178 + (unsigned long long)v180);
        const long long v182 = (long long)((unsigned long long)v179 << 32ll);
        const long long v183 = (long long)((unsigned long long)v181 + (unsigned long long)v182);
        const long long v184 = (long long)((unsigned long long)v179 << 48ll);
        const long long v185 = (long long)((unsigned long long)v183 + (unsigned long long)v184);
        long long var186 = v185;
        #pragma unroll
        for (int k187 = 0; k187 < 7; ++k187) {
          const int v188 = held[k187];
          const int v189 = (int)((v164 >= 0 && v164 < 32) ? v188 >> v164 : (v188 >> 31));
          const int v190 = v189 & 3;
          const int v191 = (int)((unsigned)v190 * (unsigned)16);
          const long long v192 = (long long)v191;
          const long long v193 = (long long)((v192 >= 0 && v192 < 64) ? var186 >> v192 : (var186 >> 63));
          const long long v194 = v193 & 65535ll;
          const int v195 = (int)v194;
          items[v195] = v188;
          const long long v196 = (v192 >= 0 && v192 < 64) ? (long long)((unsigned long long)1ll << v192) : (long long)0;
          const long long v197 = (long long)((unsigned long long)var186 + (unsigned long long)v196);
          var186 = v197;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v120) {
        for (int k198 = tid1; k198 < n15; k198 += 512) {
          const int v199 = v117 + k198;
          const int v200 = go_on[v199];
          const int v201 = (int)((unsigned)k198 * (unsigned)4096);
          int var202 = 0;
          for (int k203 = 0; k203 < 12; ++k203) {
            const int v204 = (int)((k203 >= 0 && k203 < 32) ? 2048 >> k203 : (2048 >> 31));
            const int v205 = var202 + v204;
            const bool v206 = v205 <= 3584;
            const int v207 = v205 + (-1);
            const int v208 = v206 ? items[v207] : 0;
            const bool v209 = v208 < v201;
            const bool v210 = v206 && v209;
            const int v211 = v210 ? v205 : var202;
            var202 = v211;
          }
          const int v212 = var202;
          const int v213 = (int)((unsigned)v200 - (unsigned)v212);
          go_on[v199] = v213;
          const int v214 = (int)((unsigned)k198 + (unsigned)1);
          const int v215 = (int)((unsigned)v214 * (unsigned)4096);
          int var216 = 0;
          for (int k217 = 0; k217 < 12; ++k217) {
            const int v218 = (int)((k217 >= 0 && k217 < 32) ? 2048 >> k217 : (2048 >> 31));
            const int v219 = var216 + v218;
            const bool v220 = v219 <= 3584;
            const int v221 = v219 + (-1);
            const int v222 = v220 ? items[v221] : 0;
            const bool v223 = v222 < v215;
            const bool v224 = v220 && v223;
            const int v225 = v224 ? v219 : var216;
            var216 = v225;
          }
          const int v226 = var216;
          const int v227 = go_on[v199];
          const int v228 = (int)((unsigned)v227 + (unsigned)v226);
          go_on[v199] = v228;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v121) {
        const bool v229 = k125 > 0;
        const bool v230 = v116 || v229;
        for (int k231 = tid1; k231 < n15; k231 += 512) {
          const int v232 = v117 + k231;
          const int v233 = (int)((unsigned)k231 * (unsigned)4096);
          int var234 = 0;
          for (int k235 = 0; k235 < 12; ++k235) {
            const int v236 = (int)((k235 >= 0 && k235 < 32) ? 2048 >> k235 : (2048 >> 31));
            const int v237 = var234 + v236;
            const bool v238 = v237 <= 3584;
            const int v239 = v237 + (-1);
            const int v240 = v238 ? items[v239] : 0;
            const bool v241 = v240 < v233;
            const bool v242 = v238 && v241;
            const int v243 = v242 ? v237 : var234;
            var234 = v243;
          }
          const int v244 = var234;
          const int v245 = (int)((unsigned)total112 + (unsigned)v244);
          int var246 = v245;
          if (v230) {
            const int v247 = go_on[v232];
            var246 = v247;
          }
          const bool v248 = !v229;
          const bool v249 = v232 <= n18;
          const bool v250 = v248 && v249;
          if (v250) {
            start[v232] = var246;
          }
          int var251 = 0;
          for (int k252 = 0; k252 < 12; ++k252) {
            const int v253 = (int)((k252 >= 0 && k252 < 32) ? 2048 >> k252 : (2048 >> 31));
            const int v254 = var251 + v253;
            const bool v255 = v254 <= 3584;
            const int v256 = v254 + (-1);
            const int v257 = v255 ? items[v256] : 0;
            const bool v258 = v257 < v233;
            const bool v259 = v255 && v258;
            const int v260 = v259 ? v254 : var251;
            var251 = v260;
          }
          const int v261 = var251;
          const int v262 = (int)((unsigned)var246 - (unsigned)v261);
          go_on[v232] = v262;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k263 = 0; k263 < 7; ++k263) {
          const int v264 = k263 * 512;
          const int v265 = v264 + tid1;
          const int v266 = (int)((unsigned)k125 + (unsigned)v265);
          const bool v267 = v266 < total110;
          if (v267) {
            const int v268 = items[v265];
            const int v269 = v268 & 4095;
            const int v270 = fw_udiv(v268, 4096);
            const int v271 = v117 + v270;
            const int v272 = go_on[v271];
            const int v273 = v272 + v265;
            const int v274 = others[v269];
            order[v273] = v274;
          }
        }
        if (v114) {
          __syncthreads();  // the chunk is written
          for (int k275 = tid1; k275 < n15; k275 += 512) {
            const int v276 = v117 + k275;
            const int v277 = (int)((unsigned)k275 + (unsigned)1);
            const int v278 = (int)((unsigned)v277 * (unsigned)4096);
            int var279 = 0;
            for (int k280 = 0; k280 < 12; ++k280) {
              const int v281 = (int)((k280 >= 0 && k280 < 32) ? 2048 >> k280 : (2048 >> 31));
              const int v282 = var279 + v281;
              const bool v283 = v282 <= 3584;
              const int v284 = v282 + (-1);
              const int v285 = v283 ? items[v284] : 0;
              const bool v286 = v285 < v278;
              const bool v287 = v283 && v286;
              const int v288 = v287 ? v282 : var279;
              var279 = v288;
            }
            const int v289 = var279;
            const int v290 = go_on[v276];
            const int v291 = (int)((unsigned)v290 + (unsigned)v289);
            go_on[v276] = v291;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v120) {
      int var292 = total112;
      for (int k293 = 0; k293 < n15; k293 += 512) {
        const int v294 = k293 + tid1;
        const bool v295 = v294 < n15;
        const int v296 = v117 + v294;
        const int v297 = v295 ? go_on[v296] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan298[2];
        fw_scan_sum_i32_512x1(v297, scan298, fw_scratch0);
        const int v299 = scan298[0];
        const int v300 = scan298[1];
        if (v295) {
          const int v301 = (int)((unsigned)var292 + (unsigned)v299);
          go_on[v296] = v301;
        }
        const int v302 = (int)((unsigned)var292 + (unsigned)v300);
        var292 = v302;
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
  const int v303 = fw_udiv(tid2, 32);
  const int v304 = v303 * 32;
  const int v305 = tid2 - v304;
  const int v306 = fw_udiv(bid2, n20);
  const int v307 = v306 * n20;
  const int v308 = bid2 - v307;
  const int v309 = v308 * 32;
  const int v310 = v309 + v305;
  const int v311 = n21 + (-1);
  const int v312 = v310 < v311 ? v310 : v311;
  const bool v313 = v310 < n21;
  const int v314 = v306 * 4;
  const int v315 = v314 + v303;
  const bool v316 = v315 < n22;
  const int v317 = n22 + (-1);
  const int v318 = v315 < v317 ? v315 : v317;
  const int v319 = __ldg(start + v318);
  const int v320 = v318 + 1;
  const int v321 = __ldg(start + v320);
  const int v322 = v312 * 4;
  const int v323 = v318 * n23;
  const int v324 = v323 + v322;
  float v325[4];
  fw_load_f32x4_ldg(in2 + v324, v325);
  float acc326[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc326[l] = v325[l];
  }
  const bool v327 = v319 < v321;
  if (v327) {
    const int v328 = v321 + (-1);
    const int v329 = __ldg(order + v328);
    const int v330 = v312 * 4;
    const int v331 = v329 * n24;
    const int v332 = v331 + v330;
    float v333[4];
    fw_load_f32x4_ldg(in1 + v332, v333);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc326[l] = v333[l];
    }
  }
  const int v334 = v312 * 4;
  float v336[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v335 = acc326[l];
    v336[l] = fw_max(v335, 0.0f);
  }
  const int v337 = v318 * n25;
  const int v338 = v337 + v334;
  const bool v339 = v316 && v313;
  if (v339) {
    fw_store_f32x4(out3 + v338, v336);
  }
}
