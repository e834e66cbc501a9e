// embedding_backward, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// an index out of range: the context reports an error, as for eager's device-side assertion
__device__ __forceinline__ void fw_fail() { __trap(); }

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

template <class T> __device__ __forceinline__ T fw_read(const T* p) { return *p; }

__device__ __forceinline__ unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

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

__device__ __forceinline__ void fw_fetch_bf16x8_ldg(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_unpack_bf16x8(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0] << 16);
  v[1] = __uint_as_float(w[0] & 0xffff0000u);
  v[2] = __uint_as_float(w[1] << 16);
  v[3] = __uint_as_float(w[1] & 0xffff0000u);
  v[4] = __uint_as_float(w[2] << 16);
  v[5] = __uint_as_float(w[2] & 0xffff0000u);
  v[6] = __uint_as_float(w[3] << 16);
  v[7] = __uint_as_float(w[3] & 0xffff0000u);
}

__device__ __forceinline__ void fw_load_bf16x8_ldg(const unsigned short* p, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_ldg(p, w);
  fw_unpack_bf16x8(w, v);
}

__device__ __forceinline__ void fw_pack_f32x8(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
  w[2] = __float_as_uint(v[2]);
  w[3] = __float_as_uint(v[3]);
  w[4] = __float_as_uint(v[4]);
  w[5] = __float_as_uint(v[5]);
  w[6] = __float_as_uint(v[6]);
  w[7] = __float_as_uint(v[7]);
}

__device__ __forceinline__ void fw_store_f32x8(float* p, const float* v) {
  unsigned w[8];
  fw_pack_f32x8(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
  fw_write((uint4*)p + 1, uint4{w[4], w[5], w[6], w[7]});
}

__device__ __forceinline__ void fw_fetch_f32x8(const float* p, unsigned* w) {
  const uint4 a0 = fw_read((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
  const uint4 a1 = fw_read((const uint4*)p + 1);
  w[4] = a1.x;
  w[5] = a1.y;
  w[6] = a1.z;
  w[7] = a1.w;
}

__device__ __forceinline__ void fw_unpack_f32x8(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
  v[4] = __uint_as_float(w[4]);
  v[5] = __uint_as_float(w[5]);
  v[6] = __uint_as_float(w[6]);
  v[7] = __uint_as_float(w[7]);
}

__device__ __forceinline__ void fw_load_f32x8(const float* p, float* v) {
  unsigned w[8];
  fw_fetch_f32x8(p, w);
  fw_unpack_f32x8(w, v);
}

__device__ __forceinline__ void fw_fetch_f32x8_ldg(const float* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
  const uint4 a1 = __ldg((const uint4*)p + 1);
  w[4] = a1.x;
  w[5] = a1.y;
  w[6] = a1.z;
  w[7] = a1.w;
}

__device__ __forceinline__ void fw_load_f32x8_ldg(const float* p, float* v) {
  unsigned w[8];
  fw_fetch_f32x8_ldg(p, w);
  fw_unpack_f32x8(w, v);
}

__device__ __forceinline__ void fw_pack_bf16x8(const float* v, unsigned* w) {
  w[0] = fw_pack_bf16(v[0], v[1]);
  w[1] = fw_pack_bf16(v[2], v[3]);
  w[2] = fw_pack_bf16(v[4], v[5]);
  w[3] = fw_pack_bf16(v[6], v[7]);
}

__device__ __forceinline__ void fw_store_bf16x8(unsigned short* p, const float* v) {
  unsigned w[4];
  fw_pack_bf16x8(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// points by bucket, tile by tile
extern "C" __global__ void __launch_bounds__(512) embedding_backward_0(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
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
    const bool v17 = v9 != 1ll;
    const bool v18 = !v17;
    const bool v19 = v16 || v18;
    if (!v19) {
      fw_fail();
    }
    const bool v20 = v17 && v16;
    const bool v21 = v6 && v20;
    int var22 = n8;
    int var23 = 0;
    const int v24 = (int)v13;
    if (v21) {
      const int v25 = fw_udiv_by(v24, n7, n7_inverse);
      const int v26 = (int)((unsigned)v25 * (unsigned)n7);
      const int v27 = (int)((unsigned)v24 - (unsigned)v26);
      var22 = v25;
      var23 = v27;
    }
    const int v28 = (int)((unsigned)var22 * (unsigned)4096);
    const int v29 = (int)((unsigned)v28 + (unsigned)v4);
    items[v4] = v29;
    others[v4] = var23;
  }
  __syncthreads();  // the tile's points are there
  for (int k30 = 0; k30 < n10; ++k30) {
    const int v31 = (int)((unsigned)k30 * (unsigned)2);
    const int v32 = (int)((unsigned)v31 + (unsigned)12);
    const int v33 = tid0 * 7;
    long long var34 = 0ll;
    #pragma unroll
    for (int k35 = 0; k35 < 7; ++k35) {
      const int v36 = v33 + k35;
      const int v37 = items[v36];
      held[k35] = v37;
      const int v38 = (int)((v32 >= 0 && v32 < 32) ? v37 >> v32 : (v37 >> 31));
      const int v39 = v38 & 3;
      const int v40 = (int)((unsigned)v39 * (unsigned)16);
      const long long v41 = (long long)v40;
      const long long v42 = (v41 >= 0 && v41 < 64) ? (long long)((unsigned long long)1ll << v41) : (long long)0;
      const long long v43 = (long long)((unsigned long long)var34 + (unsigned long long)v42);
      var34 = v43;
    }
    const long long v44 = var34;
    long long scan45[2];
    fw_scan_sum_i64_512x1(v44, scan45, fw_scratch0);
    const long long v46 = scan45[0];
    const long long v47 = scan45[1];
    const long long v48 = (long long)((unsigned long long)v47 << 16ll);
    const long long v49 = (long long)((unsigned long long)v46 + (unsigned long long)v48);
    const long long v50 = (long long)((unsigned long long)v47 << 32ll);
    const long long v51 = (long long)((unsigned long long)v49 + (unsigned long long)v50);
    const long long v52 = (long long)((unsigned long long)v47 << 48ll);
    const long long v53 = (long long)((unsigned long long)v51 + (unsigned long long)v52);
    long long var54 = v53;
    #pragma unroll
    for (int k55 = 0; k55 < 7; ++k55) {
      const int v56 = held[k55];
      const int v57 = (int)((v32 >= 0 && v32 < 32) ? v56 >> v32 : (v56 >> 31));
      const int v58 = v57 & 3;
      const int v59 = (int)((unsigned)v58 * (unsigned)16);
      const long long v60 = (long long)v59;
      const long long v61 = (long long)((v60 >= 0 && v60 < 64) ? var54 >> v60 : (var54 >> 63));
      const long long v62 = v61 & 65535ll;
      const int v63 = (int)v62;
      items[v63] = v56;
      const long long v64 = (v60 >= 0 && v60 < 64) ? (long long)((unsigned long long)1ll << v60) : (long long)0;
      const long long v65 = (long long)((unsigned long long)var54 + (unsigned long long)v64);
      var54 = v65;
    }
    __syncthreads();  // the items are sorted by two more bits
  }
  #pragma unroll
  for (int k66 = 0; k66 < 7; ++k66) {
    const int v67 = k66 * 512;
    const int v68 = v67 + tid0;
    const int v69 = items[v68];
    const int v70 = v69 & 4095;
    const int v71 = fw_udiv(v69, 4096);
    const int v72 = others[v70];
    const int v73 = (int)((unsigned)v72 * (unsigned)4096);
    const int v74 = (int)((unsigned)v73 + (unsigned)v70);
    const int v75 = v1 + v68;
    tiles[v75] = v74;
  }
  for (int k76 = tid0; k76 < n12; k76 += 512) {
    const int v77 = k76 * n11;
    const int v78 = v77 + bid0;
    const int v79 = (int)((unsigned)k76 * (unsigned)4096);
    int var80 = 0;
    for (int k81 = 0; k81 < 12; ++k81) {
      const int v82 = (int)((k81 >= 0 && k81 < 32) ? 2048 >> k81 : (2048 >> 31));
      const int v83 = var80 + v82;
      const bool v84 = v83 <= 3584;
      const int v85 = v83 + (-1);
      const int v86 = v84 ? items[v85] : 0;
      const bool v87 = v86 < v79;
      const bool v88 = v84 && v87;
      const int v89 = v88 ? v83 : var80;
      var80 = v89;
    }
    const int v90 = var80;
    first[v78] = v90;
  }
}

// points by row, bucket by bucket
extern "C" __global__ void __launch_bounds__(512) embedding_backward_1(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
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
  const int v91 = bid1 * n11;
  const int v92 = v91 + n11;
  int var93 = 0;
  int var94 = 0;
  int var95 = 0;
  for (int k96 = 0; k96 < n11; k96 += 512) {
    const int v97 = k96 + tid1;
    const bool v98 = v97 < n11;
    const int v99 = v91 + v97;
    const int v100 = v98 ? __ldg(first + v99) : 0;
    const int v101 = v92 + v97;
    const int v102 = v98 ? __ldg(first + v101) : 0;
    const int v103 = (int)((unsigned)v102 - (unsigned)v100);
    __syncthreads();  // all have read the results of the collective before
    int scan104[2];
    fw_scan_sum_i32_512x1(v103, scan104, fw_scratch0);
    const int v105 = scan104[0];
    const int v106 = scan104[1];
    if (v98) {
      const int v107 = (int)((unsigned)var95 + (unsigned)v105);
      before[v99] = v107;
    }
    const int v108 = (int)((unsigned)var95 + (unsigned)v106);
    var95 = v108;
    const int v109 = (int)((unsigned)var93 + (unsigned)v103);
    var93 = v109;
    const int v110 = (int)((unsigned)var94 + (unsigned)v100);
    var94 = v110;
  }
  const int v112 = var93;
  fw_half2 ^= 64;
  const int total111 = fw_sum_i32_512x1(v112, fw_scratch2 + fw_half2);
  const int v114 = var94;
  const int total113 = fw_sum_i32_512x1(v114, fw_scratch1);
  const bool v115 = tid1 == 0;
  if (v115) {
    bases[bid1] = total113;
    counts[bid1] = total111;
  }
  const bool v116 = total111 > 3584;
  const bool v117 = n18 > 1;
  const bool v118 = v116 && v117;
  const int v119 = bid1 * n18;
  const int v120 = v118 ? 0 : 1;
  const bool v121 = n19 > 0;
  const bool v122 = total111 > 7168;
  const bool v123 = v121 && v122;
  const int v124 = v123 ? 2 : v120;
  for (int k125 = v124; k125 < 2; ++k125) {
    const bool v126 = k125 == 0;
    const bool v127 = !v126;
    if (v126) {
      for (int k128 = tid1; k128 < n18; k128 += 512) {
        const int v129 = v119 + k128;
        go_on[v129] = 0;
      }
    }
    const int v130 = total111 > 1 ? total111 : 1;
    for (int k131 = 0; k131 < v130; k131 += 3584) {
      #pragma unroll
      for (int k132 = 0; k132 < 7; ++k132) {
        held[k132] = 0;
      }
      for (int k133 = 0; k133 < n20; ++k133) {
        const int v134 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v135 = (int)((unsigned)v134 - (unsigned)k133);
        const int v136 = (v135 >= 0 && v135 < 32) ? (int)((unsigned)1 << v135) : (int)0;
        #pragma unroll
        for (int k137 = 0; k137 < 7; ++k137) {
          const int v138 = (int)((unsigned)k137 * (unsigned)512);
          const int v139 = (int)((unsigned)v138 + (unsigned)tid1);
          const int v140 = (int)((unsigned)k131 + (unsigned)v139);
          const int v141 = held[k137];
          const int v142 = v141 + v136;
          const bool v143 = v142 < n11;
          const int v144 = v91 + v142;
          const int v145 = v143 ? before[v144] : 0;
          const bool v146 = v145 <= v140;
          const bool v147 = v143 && v146;
          const int v148 = v147 ? v142 : v141;
          held[k137] = v148;
        }
      }
      #pragma unroll
      for (int k149 = 0; k149 < 7; ++k149) {
        const int v150 = k149 * 512;
        const int v151 = v150 + tid1;
        const int v152 = k131 + v151;
        const bool v153 = v152 < total111;
        const int v154 = held[k149];
        const int v155 = v91 + v154;
        const int v156 = v154 * 3584;
        const int v157 = v153 ? before[v155] : 0;
        const int v158 = v152 - v157;
        const int v159 = v153 ? __ldg(first + v155) : 0;
        const int v160 = v159 + v158;
        const int v161 = v156 + v160;
        const int v162 = v153 ? __ldg(tiles + v161) : 0;
        const int v163 = v162 & 4095;
        const int v164 = (int)((unsigned)v162 - (unsigned)v163);
        const int v165 = (int)((unsigned)v164 + (unsigned)v151);
        const int v166 = v153 ? v165 : 2147483647;
        items[v151] = v166;
        const int v167 = (int)((unsigned)v156 + (unsigned)v163);
        others[v151] = v167;
      }
      __syncthreads();  // the bucket's points are there
      for (int k168 = 0; k168 < n21; ++k168) {
        const int v169 = (int)((unsigned)k168 * (unsigned)2);
        const int v170 = (int)((unsigned)v169 + (unsigned)12);
        const int v171 = tid1 * 7;
        long long var172 = 0ll;
        #pragma unroll
        for (int k173 = 0; k173 < 7; ++k173) {
          const int v174 = v171 + k173;
          const int v175 = items[v174];
          held[k173] = v175;
          const int v176 = (int)((v170 >= 0 && v170 < 32) ? v175 >> v170 : (v175 >> 31));
          const int v177 = v176 & 3;
          const int v178 = (int)((unsigned)v177 * (unsigned)16);
          const long long v179 = (long long)v178;
          const long long v180 = (v179 >= 0 && v179 < 64) ? (long long)((unsigned long long)1ll << v179) : (long long)0;
          const long long v181 = (long long)((unsigned long long)var172 + (unsigned long long)v180);
          var172 = v181;
        }
        const long long v182 = var172;
        long long scan183[2];
        fw_scan_sum_i64_512x1(v182, scan183, fw_scratch0);
        const long long v184 = scan183[0];
        const long long v185 = scan183[1];
        const long long v186 = (long long)((unsigned long long)v185 << 16ll);
        const long long v187 = (long long)((unsigned long long)v184 + (unsigned long long)v186);
        const long long v188 = (long long)((unsigned long long)v185 << 32ll);
        const long long v189 = (long long)((unsigned long long)v187 + (unsigned long long)v188);
        const long long v190 = (long long)((unsigned long long)v185 << 48ll);
        const long long v191 = (long long)((unsigned long long)v189 + (unsigned long long)v190);
        long long var192 = v191;
        #pragma unroll
        for (int k193 = 0; k193 < 7; ++k193) {
          const int v194 = held[k193];
          const int v195 = (int)((v170 >= 0 && v170 < 32) ? v194 >> v170 : (v194 >> 31));
          const int v196 = v195 & 3;
          const int v197 = (int)((unsigned)v196 * (unsigned)16);
          const long long v198 = (long long)v197;
          const long long v199 = (long long)((v198 >= 0 && v198 < 64) ? var192 >> v198 : (var192 >> 63));
          const long long v200 = v199 & 65535ll;
          const int v201 = (int)v200;
          items[v201] = v194;
          const long long v202 = (v198 >= 0 && v198 < 64) ? (long long)((unsigned long long)1ll << v198) : (long long)0;
          const long long v203 = (long long)((unsigned long long)var192 + (unsigned long long)v202);
          var192 = v203;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      if (v126) {
        for (int k204 = tid1; k204 < n18; k204 += 512) {
          const int v205 = v119 + k204;
          const int v206 = go_on[v205];
          const int v207 = (int)((unsigned)k204 * (unsigned)4096);
          int var208 = 0;
          for (int k209 = 0; k209 < 12; ++k209) {
            const int v210 = (int)((k209 >= 0 && k209 < 32) ? 2048 >> k209 : (2048 >> 31));
            const int v211 = var208 + v210;
            const bool v212 = v211 <= 3584;
            const int v213 = v211 + (-1);
            const int v214 = v212 ? items[v213] : 0;
            const bool v215 = v214 < v207;
            const bool v216 = v212 && v215;
            const int v217 = v216 ? v211 : var208;
            var208 = v217;
          }
          const int v218 = var208;
          const int v219 = (int)((unsigned)v206 - (unsigned)v218);
          go_on[v205] = v219;
          const int v220 = (int)((unsigned)k204 + (unsigned)1);
          const int v221 = (int)((unsigned)v220 * (unsigned)4096);
          int var222 = 0;
          for (int k223 = 0; k223 < 12; ++k223) {
            const int v224 = (int)((k223 >= 0 && k223 < 32) ? 2048 >> k223 : (2048 >> 31));
            const int v225 = var222 + v224;
            const bool v226 = v225 <= 3584;
            const int v227 = v225 + (-1);
            const int v228 = v226 ? items[v227] : 0;
            const bool v229 = v228 < v221;
            const bool v230 = v226 && v229;
            const int v231 = v230 ? v225 : var222;
            var222 = v231;
          }
          const int v232 = var222;
          const int v233 = go_on[v205];
          const int v234 = (int)((unsigned)v233 + (unsigned)v232);
          go_on[v205] = v234;
        }
        __syncthreads();  // the chunk is counted
      }
      if (v127) {
        const bool v235 = k131 > 0;
        const bool v236 = v118 || v235;
        for (int k237 = tid1; k237 < n18; k237 += 512) {
          const int v238 = v119 + k237;
          const int v239 = (int)((unsigned)k237 * (unsigned)4096);
          int var240 = 0;
          for (int k241 = 0; k241 < 12; ++k241) {
            const int v242 = (int)((k241 >= 0 && k241 < 32) ? 2048 >> k241 : (2048 >> 31));
            const int v243 = var240 + v242;
            const bool v244 = v243 <= 3584;
            const int v245 = v243 + (-1);
            const int v246 = v244 ? items[v245] : 0;
            const bool v247 = v246 < v239;
            const bool v248 = v244 && v247;
            const int v249 = v248 ? v243 : var240;
            var240 = v249;
          }
          const int v250 = var240;
          const int v251 = (int)((unsigned)total113 + (unsigned)v250);
          int var252 = v251;
          if (v236) {
            const int v253 = go_on[v238];
            var252 = v253;
          }
          const bool v254 = !v235;
          const bool v255 = v238 <= n22;
          const bool v256 = v254 && v255;
          if (v256) {
            start[v238] = var252;
          }
          int var257 = 0;
          for (int k258 = 0; k258 < 12; ++k258) {
            const int v259 = (int)((k258 >= 0 && k258 < 32) ? 2048 >> k258 : (2048 >> 31));
            const int v260 = var257 + v259;
            const bool v261 = v260 <= 3584;
            const int v262 = v260 + (-1);
            const int v263 = v261 ? items[v262] : 0;
            const bool v264 = v263 < v239;
            const bool v265 = v261 && v264;
            const int v266 = v265 ? v260 : var257;
            var257 = v266;
          }
          const int v267 = var257;
          const int v268 = (int)((unsigned)var252 - (unsigned)v267);
          go_on[v238] = v268;
        }
        __syncthreads();  // where each row goes on is known
        #pragma unroll
        for (int k269 = 0; k269 < 7; ++k269) {
          const int v270 = k269 * 512;
          const int v271 = v270 + tid1;
          const int v272 = (int)((unsigned)k131 + (unsigned)v271);
          const bool v273 = v272 < total111;
          if (v273) {
            const int v274 = items[v271];
            const int v275 = v274 & 4095;
            const int v276 = fw_udiv(v274, 4096);
            const int v277 = v119 + v276;
            const int v278 = go_on[v277];
            const int v279 = v278 + v271;
            const int v280 = others[v275];
            order[v279] = v280;
          }
        }
        if (v116) {
          __syncthreads();  // the chunk is written
          for (int k281 = tid1; k281 < n18; k281 += 512) {
            const int v282 = v119 + k281;
            const int v283 = (int)((unsigned)k281 + (unsigned)1);
            const int v284 = (int)((unsigned)v283 * (unsigned)4096);
            int var285 = 0;
            for (int k286 = 0; k286 < 12; ++k286) {
              const int v287 = (int)((k286 >= 0 && k286 < 32) ? 2048 >> k286 : (2048 >> 31));
              const int v288 = var285 + v287;
              const bool v289 = v288 <= 3584;
              const int v290 = v288 + (-1);
              const int v291 = v289 ? items[v290] : 0;
              const bool v292 = v291 < v284;
              const bool v293 = v289 && v292;
              const int v294 = v293 ? v288 : var285;
              var285 = v294;
            }
            const int v295 = var285;
            const int v296 = go_on[v282];
            const int v297 = (int)((unsigned)v296 + (unsigned)v295);
            go_on[v282] = v297;
          }
          __syncthreads();  // the items may be replaced
        }
      }
    }
    if (v126) {
      int var298 = total113;
      for (int k299 = 0; k299 < n18; k299 += 512) {
        const int v300 = k299 + tid1;
        const bool v301 = v300 < n18;
        const int v302 = v119 + v300;
        const int v303 = v301 ? go_on[v302] : 0;
        __syncthreads();  // all have read the results of the collective before
        int scan304[2];
        fw_scan_sum_i32_512x1(v303, scan304, fw_scratch0);
        const int v305 = scan304[0];
        const int v306 = scan304[1];
        if (v301) {
          const int v307 = (int)((unsigned)var298 + (unsigned)v305);
          go_on[v302] = v307;
        }
        const int v308 = (int)((unsigned)var298 + (unsigned)v306);
        var298 = v308;
      }
    }
  }
}

// crowded buckets, chunk by chunk: points of each row
extern "C" __global__ void __launch_bounds__(512) embedding_backward_2(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
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
  const bool v309 = bid2 >= n8;
  const int v310 = bid2 - n8;
  const int v311 = v310 * 3584;
  int var312 = 0;
  for (int k313 = tid2; k313 < n8; k313 += 512) {
    const int v314 = __ldg(bases + k313);
    const int v315 = __ldg(counts + k313);
    const int v316 = v311 - v314;
    const int v317 = v316 > 0 ? v316 : 0;
    const int v318 = v317 + 3583;
    const int v319 = fw_udiv(v318, 3584);
    const int v320 = v319 * 3584;
    const int v321 = (int)((unsigned)v314 + (unsigned)v320);
    const int v322 = (int)((unsigned)v311 + (unsigned)3584);
    const bool v323 = v321 < v322;
    const bool v324 = v320 > 0;
    const bool v325 = v320 < v315;
    const bool v326 = v324 && v325;
    const bool v327 = v323 && v326;
    const bool v328 = v309 && v327;
    const bool v329 = bid2 == k313;
    const bool v330 = v329 || v328;
    const bool v331 = n19 > 0;
    const bool v332 = v315 > 7168;
    const bool v333 = v331 && v332;
    const bool v334 = v333 && v330;
    const int v335 = (int)((unsigned)k313 + (unsigned)1);
    const int v336 = v334 ? v335 : var312;
    var312 = v336;
  }
  const int v338 = var312;
  const int total337 = fw_sum_i32_512x1(v338, fw_scratch0);
  const bool v339 = total337 > 0;
  if (v339) {
    const int v340 = total337 + (-1);
    const int v341 = __ldg(bases + v340);
    const int v342 = __ldg(counts + v340);
    const int v343 = v311 - v341;
    const int v344 = v343 > 0 ? v343 : 0;
    const int v345 = v344 + 3583;
    const int v346 = fw_udiv(v345, 3584);
    const int v347 = v346 * 3584;
    const int v348 = v309 ? v347 : 0;
    const int v349 = v340 * n11;
    const bool v350 = n18 > 1;
    const int v351 = (int)((unsigned)v340 * (unsigned)n18);
    const int v352 = bid2 * n18;
    if (v350) {
      #pragma unroll
      for (int k353 = 0; k353 < 7; ++k353) {
        held[k353] = 0;
      }
      for (int k354 = 0; k354 < n20; ++k354) {
        const int v355 = (int)((unsigned)n20 + (unsigned)(-1));
        const int v356 = (int)((unsigned)v355 - (unsigned)k354);
        const int v357 = (v356 >= 0 && v356 < 32) ? (int)((unsigned)1 << v356) : (int)0;
        #pragma unroll
        for (int k358 = 0; k358 < 7; ++k358) {
          const int v359 = (int)((unsigned)k358 * (unsigned)512);
          const int v360 = (int)((unsigned)v359 + (unsigned)tid2);
          const int v361 = (int)((unsigned)v348 + (unsigned)v360);
          const int v362 = held[k358];
          const int v363 = v362 + v357;
          const bool v364 = v363 < n11;
          const int v365 = v349 + v363;
          const int v366 = v364 ? __ldg(before + v365) : 0;
          const bool v367 = v366 <= v361;
          const bool v368 = v364 && v367;
          const int v369 = v368 ? v363 : v362;
          held[k358] = v369;
        }
      }
      #pragma unroll
      for (int k370 = 0; k370 < 7; ++k370) {
        const int v371 = k370 * 512;
        const int v372 = v371 + tid2;
        const int v373 = v348 + v372;
        const bool v374 = v373 < v342;
        const int v375 = held[k370];
        const int v376 = v349 + v375;
        const int v377 = v375 * 3584;
        const int v378 = v374 ? __ldg(before + v376) : 0;
        const int v379 = v373 - v378;
        const int v380 = v374 ? __ldg(first + v376) : 0;
        const int v381 = v380 + v379;
        const int v382 = v377 + v381;
        const int v383 = v374 ? __ldg(tiles + v382) : 0;
        const int v384 = v383 & 4095;
        const int v385 = (int)((unsigned)v383 - (unsigned)v384);
        const int v386 = (int)((unsigned)v385 + (unsigned)v372);
        const int v387 = v374 ? v386 : 2147483647;
        items[v372] = v387;
        const int v388 = (int)((unsigned)v377 + (unsigned)v384);
        others[v372] = v388;
      }
      __syncthreads();  // the bucket's points are there
      for (int k389 = 0; k389 < n21; ++k389) {
        const int v390 = (int)((unsigned)k389 * (unsigned)2);
        const int v391 = (int)((unsigned)v390 + (unsigned)12);
        const int v392 = tid2 * 7;
        long long var393 = 0ll;
        #pragma unroll
        for (int k394 = 0; k394 < 7; ++k394) {
          const int v395 = v392 + k394;
          const int v396 = items[v395];
          held[k394] = v396;
          const int v397 = (int)((v391 >= 0 && v391 < 32) ? v396 >> v391 : (v396 >> 31));
          const int v398 = v397 & 3;
          const int v399 = (int)((unsigned)v398 * (unsigned)16);
          const long long v400 = (long long)v399;
          const long long v401 = (v400 >= 0 && v400 < 64) ? (long long)((unsigned long long)1ll << v400) : (long long)0;
          const long long v402 = (long long)((unsigned long long)var393 + (unsigned long long)v401);
          var393 = v402;
        }
        const long long v403 = var393;
        long long scan404[2];
        fw_scan_sum_i64_512x1(v403, scan404, fw_scratch0);
        const long long v405 = scan404[0];
        const long long v406 = scan404[1];
        const long long v407 = (long long)((unsigned long long)v406 << 16ll);
        const long long v408 = (long long)((unsigned long long)v405 + (unsigned long long)v407);
        const long long v409 = (long long)((unsigned long long)v406 << 32ll);
        const long long v410 = (long long)((unsigned long long)v408 + (unsigned long long)v409);
        const long long v411 = (long long)((unsigned long long)v406 << 48ll);
        const long long v412 = (long long)((unsigned long long)v410 + (unsigned long long)v411);
        long long var413 = v412;
        #pragma unroll
        for (int k414 = 0; k414 < 7; ++k414) {
          const int v415 = held[k414];
          const int v416 = (int)((v391 >= 0 && v391 < 32) ? v415 >> v391 : (v415 >> 31));
          const int v417 = v416 & 3;
          const int v418 = (int)((unsigned)v417 * (unsigned)16);
          const long long v419 = (long long)v418;
          const long long v420 = (long long)((v419 >= 0 && v419 < 64) ? var413 >> v419 : (var413 >> 63));
          const long long v421 = v420 & 65535ll;
          const int v422 = (int)v421;
          items[v422] = v415;
          const long long v423 = (v419 >= 0 && v419 < 64) ? (long long)((unsigned long long)1ll << v419) : (long long)0;
          const long long v424 = (long long)((unsigned long long)var413 + (unsigned long long)v423);
          var413 = v424;
        }
        __syncthreads();  // the items are sorted by two more bits
      }
      for (int k425 = tid2; k425 < n18; k425 += 512) {
        const int v426 = (int)((unsigned)v351 + (unsigned)k425);
        const int v427 = (int)((unsigned)k425 + (unsigned)1);
        const int v428 = (int)((unsigned)v427 * (unsigned)4096);
        int var429 = 0;
        for (int k430 = 0; k430 < 12; ++k430) {
          const int v431 = (int)((k430 >= 0 && k430 < 32) ? 2048 >> k430 : (2048 >> 31));
          const int v432 = var429 + v431;
          const bool v433 = v432 <= 3584;
          const int v434 = v432 + (-1);
          const int v435 = v433 ? items[v434] : 0;
          const bool v436 = v435 < v428;
          const bool v437 = v433 && v436;
          const int v438 = v437 ? v432 : var429;
          var429 = v438;
        }
        const int v439 = var429;
        const int v440 = (int)((unsigned)k425 * (unsigned)4096);
        int var441 = 0;
        for (int k442 = 0; k442 < 12; ++k442) {
          const int v443 = (int)((k442 >= 0 && k442 < 32) ? 2048 >> k442 : (2048 >> 31));
          const int v444 = var441 + v443;
          const bool v445 = v444 <= 3584;
          const int v446 = v444 + (-1);
          const int v447 = v445 ? items[v446] : 0;
          const bool v448 = v447 < v440;
          const bool v449 = v445 && v448;
          const int v450 = v449 ? v444 : var441;
          var441 = v450;
        }
        const int v451 = var441;
        const int v452 = (int)((unsigned)v439 - (unsigned)v451);
        const int v453 = v352 + k425;
        crowd_counts[v453] = v452;
      }
    }
  }
}

// crowded buckets, chunk by chunk: points by row
extern "C" __global__ void __launch_bounds__(512) embedding_backward_3(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
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
  const bool v454 = bid3 >= n8;
  const int v455 = bid3 - n8;
  const int v456 = v455 * 3584;
  int var457 = 0;
  for (int k458 = tid3; k458 < n8; k458 += 512) {
    const int v459 = __ldg(bases + k458);
    const int v460 = __ldg(counts + k458);
    const int v461 = v456 - v459;
    const int v462 = v461 > 0 ? v461 : 0;
    const int v463 = v462 + 3583;
    const int v464 = fw_udiv(v463, 3584);
    const int v465 = v464 * 3584;
    const int v466 = (int)((unsigned)v459 + (unsigned)v465);
    const int v467 = (int)((unsigned)v456 + (unsigned)3584);
    const bool v468 = v466 < v467;
    const bool v469 = v465 > 0;
    const bool v470 = v465 < v460;
    const bool v471 = v469 && v470;
    const bool v472 = v468 && v471;
    const bool v473 = v454 && v472;
    const bool v474 = bid3 == k458;
    const bool v475 = v474 || v473;
    const bool v476 = n19 > 0;
    const bool v477 = v460 > 7168;
    const bool v478 = v476 && v477;
    const bool v479 = v478 && v475;
    const int v480 = (int)((unsigned)k458 + (unsigned)1);
    const int v481 = v479 ? v480 : var457;
    var457 = v481;
  }
  const int v483 = var457;
  const int total482 = fw_sum_i32_512x1(v483, fw_scratch0);
  const bool v484 = total482 > 0;
  if (v484) {
    const int v485 = total482 + (-1);
    const int v486 = __ldg(bases + v485);
    const int v487 = __ldg(counts + v485);
    const int v488 = v456 - v486;
    const int v489 = v488 > 0 ? v488 : 0;
    const int v490 = v489 + 3583;
    const int v491 = fw_udiv(v490, 3584);
    const int v492 = v491 * 3584;
    const int v493 = v454 ? v492 : 0;
    const int v494 = v485 * n11;
    const bool v495 = n18 > 1;
    const int v496 = v485 * n18;
    const int v497 = bid3 * n18;
    #pragma unroll
    for (int k498 = 0; k498 < 7; ++k498) {
      held[k498] = 0;
    }
    for (int k499 = 0; k499 < n20; ++k499) {
      const int v500 = (int)((unsigned)n20 + (unsigned)(-1));
      const int v501 = (int)((unsigned)v500 - (unsigned)k499);
      const int v502 = (v501 >= 0 && v501 < 32) ? (int)((unsigned)1 << v501) : (int)0;
      #pragma unroll
      for (int k503 = 0; k503 < 7; ++k503) {
        const int v504 = (int)((unsigned)k503 * (unsigned)512);
        const int v505 = (int)((unsigned)v504 + (unsigned)tid3);
        const int v506 = (int)((unsigned)v493 + (unsigned)v505);
        const int v507 = held[k503];
        const int v508 = v507 + v502;
        const bool v509 = v508 < n11;
        const int v510 = v494 + v508;
        const int v511 = v509 ? __ldg(before + v510) : 0;
        const bool v512 = v511 <= v506;
        const bool v513 = v509 && v512;
        const int v514 = v513 ? v508 : v507;
        held[k503] = v514;
      }
    }
    #pragma unroll
    for (int k515 = 0; k515 < 7; ++k515) {
      const int v516 = k515 * 512;
      const int v517 = v516 + tid3;
      const int v518 = v493 + v517;
      const bool v519 = v518 < v487;
      const int v520 = held[k515];
      const int v521 = v494 + v520;
      const int v522 = v520 * 3584;
      const int v523 = v519 ? __ldg(before + v521) : 0;
      const int v524 = v518 - v523;
      const int v525 = v519 ? __ldg(first + v521) : 0;
      const int v526 = v525 + v524;
      const int v527 = v522 + v526;
      const int v528 = v519 ? __ldg(tiles + v527) : 0;
      const int v529 = v528 & 4095;
      const int v530 = (int)((unsigned)v528 - (unsigned)v529);
      const int v531 = (int)((unsigned)v530 + (unsigned)v517);
      const int v532 = v519 ? v531 : 2147483647;
      items[v517] = v532;
      const int v533 = (int)((unsigned)v522 + (unsigned)v529);
      others[v517] = v533;
    }
    __syncthreads();  // the bucket's points are there
    for (int k534 = 0; k534 < n21; ++k534) {
      const int v535 = (int)((unsigned)k534 * (unsigned)2);
      const int v536 = (int)((unsigned)v535 + (unsigned)12);
      const int v537 = tid3 * 7;
      long long var538 = 0ll;
      #pragma unroll
      for (int k539 = 0; k539 < 7; ++k539) {
        const int v540 = v537 + k539;
        const int v541 = items[v540];
        held[k539] = v541;
        const int v542 = (int)((v536 >= 0 && v536 < 32) ? v541 >> v536 : (v541 >> 31));
        const int v543 = v542 & 3;
        const int v544 = (int)((unsigned)v543 * (unsigned)16);
        const long long v545 = (long long)v544;
        const long long v546 = (v545 >= 0 && v545 < 64) ? (long long)((unsigned long long)1ll << v545) : (long long)0;
        const long long v547 = (long long)((unsigned long long)var538 + (unsigned long long)v546);
        var538 = v547;
      }
      const long long v548 = var538;
      long long scan549[2];
      fw_scan_sum_i64_512x1(v548, scan549, fw_scratch0);
      const long long v550 = scan549[0];
      const long long v551 = scan549[1];
      const long long v552 = (long long)((unsigned long long)v551 << 16ll);
      const long long v553 = (long long)((unsigned long long)v550 + (unsigned long long)v552);
      const long long v554 = (long long)((unsigned long long)v551 << 32ll);
      const long long v555 = (long long)((unsigned long long)v553 + (unsigned long long)v554);
      const long long v556 = (long long)((unsigned long long)v551 << 48ll);
      const long long v557 = (long long)((unsigned long long)v555 + (unsigned long long)v556);
      long long var558 = v557;
      #pragma unroll
      for (int k559 = 0; k559 < 7; ++k559) {
        const int v560 = held[k559];
        const int v561 = (int)((v536 >= 0 && v536 < 32) ? v560 >> v536 : (v560 >> 31));
        const int v562 = v561 & 3;
        const int v563 = (int)((unsigned)v562 * (unsigned)16);
        const long long v564 = (long long)v563;
        const long long v565 = (long long)((v564 >= 0 && v564 < 64) ? var558 >> v564 : (var558 >> 63));
        const long long v566 = v565 & 65535ll;
        const int v567 = (int)v566;
        items[v567] = v560;
        const long long v568 = (v564 >= 0 && v564 < 64) ? (long long)((unsigned long long)1ll << v564) : (long long)0;
        const long long v569 = (long long)((unsigned long long)var558 + (unsigned long long)v568);
        var558 = v569;
      }
      __syncthreads();  // the items are sorted by two more bits
    }
    const int v570 = fw_udiv(v486, 3584);
    const int v571 = n8 + v570;
    const int v572 = fw_udiv(v493, 3584);
    const int v573 = v487 + 3583;
    const int v574 = fw_udiv(v573, 3584);
    const int v575 = v495 ? v574 : 0;
    int var576 = v486;
    for (int k577 = 0; k577 < n18; k577 += 512) {
      const int v578 = k577 + tid3;
      const bool v579 = v578 < n18;
      const int v580 = v496 + v578;
      const int v581 = v495 ? 0 : v493;
      int var582 = v581;
      int var583 = 0;
      for (int k584 = 0; k584 < v575; ++k584) {
        const bool v585 = k584 > 0;
        const int v586 = v571 + k584;
        const int v587 = v585 ? v586 : v485;
        const int v588 = v587 * n18;
        const int v589 = v588 + v578;
        const int v590 = v579 ? __ldg(crowd_counts + v589) : 0;
        const int v591 = (int)((unsigned)var583 + (unsigned)v590);
        var583 = v591;
        const bool v592 = k584 < v572;
        const int v593 = v592 ? v590 : 0;
        const int v594 = (int)((unsigned)var582 + (unsigned)v593);
        var582 = v594;
      }
      const int v595 = var583;
      __syncthreads();  // all have read the results of the collective before
      int scan596[2];
      fw_scan_sum_i32_512x1(v595, scan596, fw_scratch0);
      const int v597 = scan596[0];
      const int v598 = scan596[1];
      const int v599 = (int)((unsigned)var576 + (unsigned)v597);
      if (v579) {
        const int v600 = (int)((unsigned)v599 + (unsigned)var582);
        const int v601 = (int)((unsigned)v578 * (unsigned)4096);
        int var602 = 0;
        for (int k603 = 0; k603 < 12; ++k603) {
          const int v604 = (int)((k603 >= 0 && k603 < 32) ? 2048 >> k603 : (2048 >> 31));
          const int v605 = var602 + v604;
          const bool v606 = v605 <= 3584;
          const int v607 = v605 + (-1);
          const int v608 = v606 ? items[v607] : 0;
          const bool v609 = v608 < v601;
          const bool v610 = v606 && v609;
          const int v611 = v610 ? v605 : var602;
          var602 = v611;
        }
        const int v612 = var602;
        const int v613 = (int)((unsigned)v600 - (unsigned)v612);
        const int v614 = v497 + v578;
        go_on[v614] = v613;
        const bool v615 = v493 == 0;
        const bool v616 = v580 <= n22;
        const bool v617 = v615 && v616;
        if (v617) {
          start[v580] = v599;
        }
      }
      const int v618 = (int)((unsigned)var576 + (unsigned)v598);
      var576 = v618;
    }
    __syncthreads();  // where each row goes on is known
    #pragma unroll
    for (int k619 = 0; k619 < 7; ++k619) {
      const int v620 = k619 * 512;
      const int v621 = v620 + tid3;
      const int v622 = (int)((unsigned)v493 + (unsigned)v621);
      const bool v623 = v622 < v487;
      if (v623) {
        const int v624 = items[v621];
        const int v625 = v624 & 4095;
        const int v626 = fw_udiv(v624, 4096);
        const int v627 = v497 + v626;
        const int v628 = go_on[v627];
        const int v629 = v628 + v621;
        const int v630 = others[v625];
        order[v629] = v630;
      }
    }
  }
}

// pieces of rows with many points
extern "C" __global__ void __launch_bounds__(128) embedding_backward_4(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
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
  const int v631 = fw_udiv(tid4, 32);
  const int v632 = v631 * 32;
  const int v633 = tid4 - v632;
  const int v634 = fw_udiv(bid4, n27);
  const int v635 = v634 * n27;
  const int v636 = bid4 - v635;
  const int v637 = v636 * 96;
  const int v638 = v637 + v633;
  const int v639 = n28 + (-1);
  const int v640 = v638 < v639 ? v638 : v639;
  const bool v641 = v638 < n28;
  const int v642 = v638 + 32;
  const int v643 = v642 < v639 ? v642 : v639;
  const bool v644 = v642 < n28;
  const int v645 = v638 + 64;
  const int v646 = v645 < v639 ? v645 : v639;
  const bool v647 = v645 < n28;
  const int v648 = v634 * 4;
  const int v649 = v648 + v631;
  const bool v650 = v649 < n29;
  const long long v658 = (long long)n9;
  if (v650) {
    const int v651 = v649 * n30;
    const int v652 = v651 + n31;
    const int v653 = __ldg(start + n22);
    const bool v654 = v652 < v653;
    if (v654) {
      const int v655 = __ldg(order + v652);
      const long long v656 = __ldg(in0 + v655);
      const bool v657 = v656 < 0ll;
      const long long v659 = v656 + v658;
      const long long v660 = v657 ? v659 : v656;
      const int v661 = (int)v660;
      const int v662 = __ldg(start + v661);
      const int v663 = v661 + 1;
      const int v664 = __ldg(start + v663);
      const int v665 = v649 * n30;
      const int v666 = v665 - v662;
      const int v667 = v666 > 0 ? v666 : 0;
      const int v668 = v667 + n31;
      const int v669 = fw_udiv(v668, n30);
      const int v670 = v669 * n30;
      const int v671 = v662 + v670;
      const int v672 = v671 + n30;
      const bool v673 = v672 <= v664;
      if (v673) {
        float acc674[8];
        float acc675[8];
        float acc676[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc674[l] = 0.0f;
          acc675[l] = 0.0f;
          acc676[l] = 0.0f;
        }
        const int v677 = v672 + (-1);
        for (int k678 = v671; k678 < v672; k678 += 2) {
          const int v679 = __ldg(order + k678);
          const int v680 = v640 * 8;
          const int v681 = v679 * n32;
          const int v682 = v681 + v680;
          float v683[8];
          fw_load_bf16x8_ldg(in1 + v682, v683);
          const int v684 = v643 * 8;
          const int v685 = v681 + v684;
          float v686[8];
          fw_load_bf16x8_ldg(in1 + v685, v686);
          const int v687 = v646 * 8;
          const int v688 = v681 + v687;
          float v689[8];
          fw_load_bf16x8_ldg(in1 + v688, v689);
          const int v690 = k678 + 1;
          const bool v691 = v690 < v672;
          const int v692 = v690 < v677 ? v690 : v677;
          const int v693 = __ldg(order + v692);
          const int v694 = v640 * 8;
          const int v695 = v693 * n32;
          const int v696 = v695 + v694;
          float v697[8];
          fw_load_bf16x8_ldg(in1 + v696, v697);
          const int v698 = v643 * 8;
          const int v699 = v695 + v698;
          float v700[8];
          fw_load_bf16x8_ldg(in1 + v699, v700);
          const int v701 = v646 * 8;
          const int v702 = v695 + v701;
          float v703[8];
          fw_load_bf16x8_ldg(in1 + v702, v703);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v704 = acc674[l] + v683[l];
            acc674[l] = v704;
            const float v705 = acc675[l] + v686[l];
            acc675[l] = v705;
            const float v706 = acc676[l] + v689[l];
            acc676[l] = v706;
            const float v707 = acc674[l] + v697[l];
            const float v709 = v691 ? v707 : acc674[l];
            acc674[l] = v709;
            const float v710 = acc675[l] + v700[l];
            const float v711 = v691 ? v710 : acc675[l];
            acc675[l] = v711;
            const float v712 = acc676[l] + v703[l];
            const float v713 = v691 ? v712 : acc676[l];
            acc676[l] = v713;
          }
        }
        const int v714 = v649 * n33;
        const int v715 = v640 * 8;
        const int v716 = v714 + v715;
        float v717[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v717[l] = acc674[l];
        }
        if (v641) {
          fw_store_f32x8(pieces + v716, v717);
        }
        const int v718 = v643 * 8;
        const int v719 = v714 + v718;
        float v720[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v720[l] = acc675[l];
        }
        if (v644) {
          fw_store_f32x8(pieces + v719, v720);
        }
        const int v721 = v646 * 8;
        const int v722 = v714 + v721;
        float v723[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v723[l] = acc676[l];
        }
        if (v647) {
          fw_store_f32x8(pieces + v722, v723);
        }
      }
    }
  }
}

// runs of pieces of rows with very many
extern "C" __global__ void __launch_bounds__(128) embedding_backward_5(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
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
  const unsigned n30_inverse = 0xffffffffu / (unsigned)n30;
  const int v724 = fw_udiv(tid5, 32);
  const int v725 = v724 * 32;
  const int v726 = tid5 - v725;
  const int v727 = fw_udiv(bid5, n27);
  const int v728 = v727 * n27;
  const int v729 = bid5 - v728;
  const int v730 = v729 * 96;
  const int v731 = v730 + v726;
  const int v732 = n28 + (-1);
  const int v733 = v731 < v732 ? v731 : v732;
  const bool v734 = v731 < n28;
  const int v735 = v731 + 32;
  const int v736 = v735 < v732 ? v735 : v732;
  const bool v737 = v735 < n28;
  const int v738 = v731 + 64;
  const int v739 = v738 < v732 ? v738 : v732;
  const bool v740 = v738 < n28;
  const int v741 = v727 * 4;
  const int v742 = v741 + v724;
  const bool v743 = v742 < n35;
  const long long v753 = (long long)n9;
  if (v743) {
    const int v744 = v742 * n30;
    const int v745 = v744 + n31;
    const int v746 = v745 * n30;
    const int v747 = v746 + n31;
    const int v748 = __ldg(start + n22);
    const bool v749 = v747 < v748;
    if (v749) {
      const int v750 = __ldg(order + v747);
      const long long v751 = __ldg(in0 + v750);
      const bool v752 = v751 < 0ll;
      const long long v754 = v751 + v753;
      const long long v755 = v752 ? v754 : v751;
      const int v756 = (int)v755;
      const int v757 = __ldg(start + v756);
      const int v758 = v756 + 1;
      const int v759 = __ldg(start + v758);
      const int v760 = fw_udiv_by(v757, n30, n30_inverse);
      const int v761 = v759 - v757;
      const int v762 = fw_udiv_by(v761, n30, n30_inverse);
      const int v763 = v760 + v762;
      const int v764 = v742 * n30;
      const int v765 = v764 - v760;
      const int v766 = v765 > 0 ? v765 : 0;
      const int v767 = v766 + n31;
      const int v768 = fw_udiv_by(v767, n30, n30_inverse);
      const int v769 = v768 * n30;
      const int v770 = v760 + v769;
      const int v771 = v770 + n30;
      const bool v772 = v771 <= v763;
      if (v772) {
        float acc773[8];
        float acc774[8];
        float acc775[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc773[l] = 0.0f;
          acc774[l] = 0.0f;
          acc775[l] = 0.0f;
        }
        const int v776 = v771 + (-1);
        for (int k777 = v770; k777 < v771; k777 += 5) {
          const int v778 = k777 * n33;
          const int v779 = v733 * 8;
          const int v780 = v778 + v779;
          const int v781 = v736 * 8;
          const int v782 = v778 + v781;
          const int v783 = v739 * 8;
          const int v784 = v778 + v783;
          float v785[8];
          fw_load_f32x8(pieces + v780, v785);
          float v786[8];
          fw_load_f32x8(pieces + v782, v786);
          float v787[8];
          fw_load_f32x8(pieces + v784, v787);
          const int v788 = k777 + 1;
          const bool v789 = v788 < v771;
          const int v790 = v788 < v776 ? v788 : v776;
          const int v791 = v790 * n33;
          const int v792 = v791 + v779;
          const int v793 = v791 + v781;
          const int v794 = v791 + v783;
          float v795[8];
          fw_load_f32x8(pieces + v792, v795);
          float v796[8];
          fw_load_f32x8(pieces + v793, v796);
          float v797[8];
          fw_load_f32x8(pieces + v794, v797);
          const int v798 = k777 + 2;
          const bool v799 = v798 < v771;
          const int v800 = v798 < v776 ? v798 : v776;
          const int v801 = v800 * n33;
          const int v802 = v801 + v779;
          const int v803 = v801 + v781;
          const int v804 = v801 + v783;
          float v805[8];
          fw_load_f32x8(pieces + v802, v805);
          float v806[8];
          fw_load_f32x8(pieces + v803, v806);
          float v807[8];
          fw_load_f32x8(pieces + v804, v807);
          const int v808 = k777 + 3;
          const bool v809 = v808 < v771;
          const int v810 = v808 < v776 ? v808 : v776;
          const int v811 = v810 * n33;
          const int v812 = v811 + v779;
          const int v813 = v811 + v781;
          const int v814 = v811 + v783;
          float v815[8];
          fw_load_f32x8(pieces + v812, v815);
          float v816[8];
          fw_load_f32x8(pieces + v813, v816);
          float v817[8];
          fw_load_f32x8(pieces + v814, v817);
          const int v818 = k777 + 4;
          const bool v819 = v818 < v771;
          const int v820 = v818 < v776 ? v818 : v776;
          const int v821 = v820 * n33;
          const int v822 = v821 + v779;
          const int v823 = v821 + v781;
          const int v824 = v821 + v783;
          float v825[8];
          fw_load_f32x8(pieces + v822, v825);
          float v826[8];
          fw_load_f32x8(pieces + v823, v826);
          float v827[8];
          fw_load_f32x8(pieces + v824, v827);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v828 = acc773[l] + v785[l];
            acc773[l] = v828;
            const float v829 = acc774[l] + v786[l];
            acc774[l] = v829;
            const float v830 = acc775[l] + v787[l];
            acc775[l] = v830;
            const float v831 = acc773[l] + v795[l];
            const float v833 = v789 ? v831 : acc773[l];
            acc773[l] = v833;
            const float v834 = acc774[l] + v796[l];
            const float v835 = v789 ? v834 : acc774[l];
            acc774[l] = v835;
            const float v836 = acc775[l] + v797[l];
            const float v837 = v789 ? v836 : acc775[l];
            acc775[l] = v837;
            const float v838 = acc773[l] + v805[l];
            const float v840 = v799 ? v838 : acc773[l];
            acc773[l] = v840;
            const float v841 = acc774[l] + v806[l];
            const float v842 = v799 ? v841 : acc774[l];
            acc774[l] = v842;
            const float v843 = acc775[l] + v807[l];
            const float v844 = v799 ? v843 : acc775[l];
            acc775[l] = v844;
            const float v845 = acc773[l] + v815[l];
            const float v847 = v809 ? v845 : acc773[l];
            acc773[l] = v847;
            const float v848 = acc774[l] + v816[l];
            const float v849 = v809 ? v848 : acc774[l];
            acc774[l] = v849;
            const float v850 = acc775[l] + v817[l];
            const float v851 = v809 ? v850 : acc775[l];
            acc775[l] = v851;
            const float v852 = acc773[l] + v825[l];
            const float v854 = v819 ? v852 : acc773[l];
            acc773[l] = v854;
            const float v855 = acc774[l] + v826[l];
            const float v856 = v819 ? v855 : acc774[l];
            acc774[l] = v856;
            const float v857 = acc775[l] + v827[l];
            const float v858 = v819 ? v857 : acc775[l];
            acc775[l] = v858;
          }
        }
        const int v859 = v742 + n36;
        const int v860 = v859 * n33;
        const int v861 = v733 * 8;
        const int v862 = v860 + v861;
        float v863[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v863[l] = acc773[l];
        }
        if (v734) {
          fw_store_f32x8(pieces + v862, v863);
        }
        const int v864 = v736 * 8;
        const int v865 = v860 + v864;
        float v866[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v866[l] = acc774[l];
        }
        if (v737) {
          fw_store_f32x8(pieces + v865, v866);
        }
        const int v867 = v739 * 8;
        const int v868 = v860 + v867;
        float v869[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v869[l] = acc775[l];
        }
        if (v740) {
          fw_store_f32x8(pieces + v868, v869);
        }
      }
    }
  }
}

// rows
extern "C" __global__ void __launch_bounds__(128) embedding_backward_6(
    const long long* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    unsigned short* __restrict__ out2,
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
  const unsigned n30_inverse = 0xffffffffu / (unsigned)n30;
  const int v870 = fw_udiv(tid6, 32);
  const int v871 = v870 * 32;
  const int v872 = tid6 - v871;
  const int v873 = fw_udiv(bid6, n27);
  const int v874 = v873 * n27;
  const int v875 = bid6 - v874;
  const int v876 = v875 * 96;
  const int v877 = v876 + v872;
  const int v878 = n28 + (-1);
  const int v879 = v877 < v878 ? v877 : v878;
  const bool v880 = v877 < n28;
  const int v881 = v877 + 32;
  const int v882 = v881 < v878 ? v881 : v878;
  const bool v883 = v881 < n28;
  const int v884 = v877 + 64;
  const int v885 = v884 < v878 ? v884 : v878;
  const bool v886 = v884 < n28;
  const int v887 = v873 * 4;
  const int v888 = v887 + v870;
  const bool v889 = v888 < n38;
  const int v890 = n38 + (-1);
  const int v891 = v888 < v890 ? v888 : v890;
  const int v892 = __ldg(start + v891);
  const int v893 = v891 + 1;
  const int v894 = __ldg(start + v893);
  const int v895 = (int)((unsigned)v879 * (unsigned)8);
  const int v896 = (int)((unsigned)v882 * (unsigned)8);
  const int v897 = (int)((unsigned)v885 * (unsigned)8);
  float acc898[8];
  float acc899[8];
  float acc900[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc898[l] = 0.0f;
    acc899[l] = 0.0f;
    acc900[l] = 0.0f;
  }
  const int v901 = fw_udiv_by(v892, n30, n30_inverse);
  const int v902 = v894 - v892;
  const int v903 = fw_udiv_by(v902, n30, n30_inverse);
  const int v904 = v901 + v903;
  const int v905 = fw_udiv_by(v901, n30, n30_inverse);
  const int v906 = v904 - v901;
  const int v907 = fw_udiv_by(v906, n30, n30_inverse);
  const int v908 = v905 + n36;
  const int v909 = v907 * n31;
  const int v910 = v901 + v909;
  const int v911 = v903 - v909;
  const int v912 = (int)((unsigned)v911 + (unsigned)(-1));
  for (int k913 = 0; k913 < v911; ++k913) {
    const bool v914 = k913 < v907;
    const int v915 = v914 ? v908 : v910;
    const int v916 = k913 + v915;
    const int v917 = v916 * n33;
    const int v918 = v879 * 8;
    const int v919 = v917 + v918;
    const int v920 = v882 * 8;
    const int v921 = v917 + v920;
    const int v922 = v885 * 8;
    const int v923 = v917 + v922;
    float v924[8];
    fw_load_f32x8_ldg(pieces + v919, v924);
    float v925[8];
    fw_load_f32x8_ldg(pieces + v921, v925);
    float v926[8];
    fw_load_f32x8_ldg(pieces + v923, v926);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v927 = acc898[l] + v924[l];
      acc898[l] = v927;
      const float v928 = acc899[l] + v925[l];
      acc899[l] = v928;
      const float v929 = acc900[l] + v926[l];
      acc900[l] = v929;
    }
  }
  const int v930 = v903 * n30;
  const int v931 = v892 + v930;
  const int v932 = v894 + (-1);
  for (int k933 = v931; k933 < v894; k933 += 2) {
    const int v934 = __ldg(order + k933);
    const int v935 = v879 * 8;
    const int v936 = v934 * n32;
    const int v937 = v936 + v935;
    float v938[8];
    fw_load_bf16x8_ldg(in1 + v937, v938);
    const int v939 = v882 * 8;
    const int v940 = v936 + v939;
    float v941[8];
    fw_load_bf16x8_ldg(in1 + v940, v941);
    const int v942 = v885 * 8;
    const int v943 = v936 + v942;
    float v944[8];
    fw_load_bf16x8_ldg(in1 + v943, v944);
    const int v945 = k933 + 1;
    const bool v946 = v945 < v894;
    const int v947 = v945 < v932 ? v945 : v932;
    const int v948 = __ldg(order + v947);
    const int v949 = v879 * 8;
    const int v950 = v948 * n32;
    const int v951 = v950 + v949;
    float v952[8];
    fw_load_bf16x8_ldg(in1 + v951, v952);
    const int v953 = v882 * 8;
    const int v954 = v950 + v953;
    float v955[8];
    fw_load_bf16x8_ldg(in1 + v954, v955);
    const int v956 = v885 * 8;
    const int v957 = v950 + v956;
    float v958[8];
    fw_load_bf16x8_ldg(in1 + v957, v958);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v959 = acc898[l] + v938[l];
      acc898[l] = v959;
      const float v960 = acc899[l] + v941[l];
      acc899[l] = v960;
      const float v961 = acc900[l] + v944[l];
      acc900[l] = v961;
      const float v962 = acc898[l] + v952[l];
      const float v964 = v946 ? v962 : acc898[l];
      acc898[l] = v964;
      const float v965 = acc899[l] + v955[l];
      const float v966 = v946 ? v965 : acc899[l];
      acc899[l] = v966;
      const float v967 = acc900[l] + v958[l];
      const float v968 = v946 ? v967 : acc900[l];
      acc900[l] = v968;
    }
  }
  const int v969 = v879 * 8;
  float v971[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v970 = acc898[l];
    v971[l] = v970 * 0.5f;
  }
  const int v972 = v891 * n39;
  const int v973 = v972 + v969;
  const bool v974 = v889 && v880;
  if (v974) {
    fw_store_bf16x8(out2 + v973, v971);
  }
  const int v975 = v882 * 8;
  float v977[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v976 = acc899[l];
    v977[l] = v976 * 0.5f;
  }
  const int v978 = v972 + v975;
  const bool v979 = v889 && v883;
  if (v979) {
    fw_store_bf16x8(out2 + v978, v977);
  }
  const int v980 = v885 * 8;
  float v982[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v981 = acc900[l];
    v982[l] = v981 * 0.5f;
  }
  const int v983 = v972 + v980;
  const bool v984 = v889 && v886;
  if (v984) {
    fw_store_bf16x8(out2 + v983, v982);
  }
}
