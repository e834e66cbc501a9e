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
    int n40,
    int n41,
    int n42,
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
    const bool v18 = v10 != 1ll;
    const bool v19 = !v18;
    const bool v20 = v17 || v19;
    const bool v21 = var2 && v20;
    var2 = v21;
    const bool v22 = v18 && v17;
    const bool v23 = v7 && v22;
    int var24 = n8;
    int var25 = 0;
    const int v26 = (int)v14;
    if (v23) {
      const int v27 = fw_udiv_by(v26, n7, n7_inverse);
      const int v28 = (int)((unsigned)v27 * (unsigned)n7);
      const int v29 = (int)((unsigned)v26 - (unsigned)v28);
      var24 = v27;
      var25 = v29;
    }
    const int v30 = (int)((unsigned)var24 * (unsigned)4096);
    const int v31 = (int)((unsigned)v30 + (unsigned)v5);
    items[v5] = v31;
    others[v5] = var25;
  }
  const bool v32 = var2;
  if (!v32) {
    fw_fail();
  }
  __syncthreads();  // the tile's points are there
  for (int k33 = 0; k33 < n10; ++k33) {
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
  for (int k79 = tid0; k79 < n12; k79 += 512) {
    const int v80 = k79 * n11;
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
    int n40,
    int n41,
    int n42,
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
  const int v94 = bid1 * n11;
  const int v95 = v94 + n11;
  int var96 = 0;
  int var97 = 0;
  int var98 = 0;
  for (int k99 = 0; k99 < n11; k99 += 512) {
    const int v100 = k99 + tid1;
    const bool v101 = v100 < n11;
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
  const bool v119 = n18 > 1;
  const bool v120 = v118 && v119;
  const int v121 = bid1 * n18;
  const int v122 = v120 ? 0 : 1;
  const bool v123 = tid1 == 0;
  if (v123) {
    bases[bid1] = total116;
    counts[bid1] = total114;
  }
  const bool v124 = n19 > 0;
  const bool v125 = total114 > n20;
  const bool v126 = v124 && v125;
  const int v127 = v126 ? 2 : v122;
  for (int k128 = v127; k128 < 2; ++k128) {
    const bool v129 = k128 == 0;
    const bool v130 = !v129;
    if (v129) {
      for (int k131 = tid1; k131 < n18; k131 += 512) {
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
      for (int k136 = 0; k136 < n21; ++k136) {
        const int v137 = (int)((unsigned)n21 + (unsigned)(-1));
        const int v138 = (int)((unsigned)v137 - (unsigned)k136);
        const int v139 = (v138 >= 0 && v138 < 32) ? (int)((unsigned)1 << v138) : (int)0;
        #pragma unroll
        for (int k140 = 0; k140 < 7; ++k140) {
          const int v141 = (int)((unsigned)k140 * (unsigned)512);
          const int v142 = (int)((unsigned)v141 + (unsigned)tid1);
          const int v143 = (int)((unsigned)k134 + (unsigned)v142);
          const int v144 = held[k140];
          const int v145 = v144 + v139;
          const bool v146 = v145 < n11;
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
      for (int k171 = 0; k171 < n22; ++k171) {
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
        for (int k207 = tid1; k207 < n18; k207 += 512) {
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
        for (int k240 = tid1; k240 < n18; k240 += 512) {
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
          const bool v258 = v241 <= n23;
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
          for (int k284 = tid1; k284 < n18; k284 += 512) {
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
      for (int k302 = 0; k302 < n18; k302 += 512) {
        const int v303 = k302 + tid1;
        const bool v304 = v303 < n18;
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
    int n40,
    int n41,
    int n42,
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
    const bool v328 = v317 > n20;
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
      const int v348 = v345 * n11;
      const bool v349 = n18 > 1;
      const int v350 = bid2 * 2;
      const int v351 = v350 + k341;
      const int v352 = v351 * n18;
      const int v353 = (int)((unsigned)v345 * (unsigned)n18);
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
        for (int k360 = 0; k360 < n21; ++k360) {
          const int v361 = (int)((unsigned)n21 + (unsigned)(-1));
          const int v362 = (int)((unsigned)v361 - (unsigned)k360);
          const int v363 = (v362 >= 0 && v362 < 32) ? (int)((unsigned)1 << v362) : (int)0;
          #pragma unroll
          for (int k364 = 0; k364 < 7; ++k364) {
            const int v365 = (int)((unsigned)k364 * (unsigned)512);
            const int v366 = (int)((unsigned)v365 + (unsigned)tid2);
            const int v367 = (int)((unsigned)v358 + (unsigned)v366);
            const int v368 = held[k364];
            const int v369 = v368 + v363;
            const bool v370 = v369 < n11;
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
        for (int k395 = 0; k395 < n22; ++k395) {
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
        for (int k431 = tid2; k431 < n18; k431 += 512) {
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
    int n40,
    int n41,
    int n42,
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
    const bool v476 = v465 > n20;
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
      const int v496 = v493 * n11;
      const bool v497 = n18 > 1;
      const int v498 = bid3 * 2;
      const int v499 = v498 + k489;
      const int v500 = v499 * n18;
      const int v501 = v493 * n18;
      const int v502 = v460 - v494;
      const int v503 = v502 > 0 ? v502 : 0;
      const int v504 = v503 + 3583;
      const int v505 = fw_udiv(v504, 3584);
      const int v506 = v505 * 3584;
      #pragma unroll
      for (int k507 = 0; k507 < 7; ++k507) {
        held[k507] = 0;
      }
      for (int k508 = 0; k508 < n21; ++k508) {
        const int v509 = (int)((unsigned)n21 + (unsigned)(-1));
        const int v510 = (int)((unsigned)v509 - (unsigned)k508);
        const int v511 = (v510 >= 0 && v510 < 32) ? (int)((unsigned)1 << v510) : (int)0;
        #pragma unroll
        for (int k512 = 0; k512 < 7; ++k512) {
          const int v513 = (int)((unsigned)k512 * (unsigned)512);
          const int v514 = (int)((unsigned)v513 + (unsigned)tid3);
          const int v515 = (int)((unsigned)v506 + (unsigned)v514);
          const int v516 = held[k512];
          const int v517 = v516 + v511;
          const bool v518 = v517 < n11;
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
      for (int k543 = 0; k543 < n22; ++k543) {
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
      for (int k585 = 0; k585 < n18; k585 += 512) {
        const int v586 = k585 + tid3;
        const bool v587 = v586 < n18;
        const int v588 = v501 + v586;
        const int v589 = v497 ? 0 : v506;
        int var590 = v589;
        int var591 = 0;
        for (int k592 = 0; k592 < v583; ++k592) {
          const int v593 = k592 < 1 ? k592 : 1;
          const int v594 = v579 + k592;
          const int v595 = v594 * 2;
          const int v596 = v595 + v593;
          const int v597 = v596 * n18;
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
          const bool v625 = v588 <= n23;
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
    int n40,
    int n41,
    int n42,
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
  const int v640 = fw_udiv(tid4, 32);
  const int v641 = v640 * 32;
  const int v642 = tid4 - v641;
  const int v643 = fw_udiv(bid4, n28);
  const int v644 = v643 * n28;
  const int v645 = bid4 - v644;
  const int v646 = v645 * 96;
  const int v647 = v646 + v642;
  const int v648 = n29 + (-1);
  const int v649 = v647 < v648 ? v647 : v648;
  const bool v650 = v647 < n29;
  const int v651 = v647 + 32;
  const int v652 = v651 < v648 ? v651 : v648;
  const bool v653 = v651 < n29;
  const int v654 = v647 + 64;
  const int v655 = v654 < v648 ? v654 : v648;
  const bool v656 = v654 < n29;
  const int v657 = v643 * 4;
  const int v658 = v657 + v640;
  const bool v659 = v658 < n30;
  const long long v667 = (long long)n9;
  if (v659) {
    const int v660 = v658 * n31;
    const int v661 = v660 + n32;
    const int v662 = __ldg(start + n23);
    const bool v663 = v661 < v662;
    if (v663) {
      const int v664 = __ldg(order + v661);
      const long long v665 = __ldg(in0 + v664);
      const bool v666 = v665 < 0ll;
      const long long v668 = v665 + v667;
      const long long v669 = v666 ? v668 : v665;
      const int v670 = (int)v669;
      const int v671 = __ldg(start + v670);
      const int v672 = v670 + 1;
      const int v673 = __ldg(start + v672);
      const int v674 = v658 * n31;
      const int v675 = v674 - v671;
      const int v676 = v675 > 0 ? v675 : 0;
      const int v677 = v676 + n32;
      const int v678 = fw_udiv(v677, n31);
      const int v679 = v678 * n31;
      const int v680 = v671 + v679;
      const int v681 = v680 + n31;
      const bool v682 = v681 <= v673;
      if (v682) {
        float acc683[8];
        float acc684[8];
        float acc685[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc683[l] = 0.0f;
          acc684[l] = 0.0f;
          acc685[l] = 0.0f;
        }
        const int v686 = v681 + (-1);
        for (int k687 = v680; k687 < v681; k687 += 2) {
          const int v688 = __ldg(order + k687);
          const int v689 = v649 * 8;
          const int v690 = v688 * n33;
          const int v691 = v690 + v689;
          float v692[8];
          fw_load_bf16x8_ldg(in1 + v691, v692);
          const int v693 = v652 * 8;
          const int v694 = v690 + v693;
          float v695[8];
          fw_load_bf16x8_ldg(in1 + v694, v695);
          const int v696 = v655 * 8;
          const int v697 = v690 + v696;
          float v698[8];
          fw_load_bf16x8_ldg(in1 + v697, v698);
          const int v699 = k687 + 1;
          const bool v700 = v699 < v681;
          const int v701 = v699 < v686 ? v699 : v686;
          const int v702 = __ldg(order + v701);
          const int v703 = v649 * 8;
          const int v704 = v702 * n33;
          const int v705 = v704 + v703;
          float v706[8];
          fw_load_bf16x8_ldg(in1 + v705, v706);
          const int v707 = v652 * 8;
          const int v708 = v704 + v707;
          float v709[8];
          fw_load_bf16x8_ldg(in1 + v708, v709);
          const int v710 = v655 * 8;
          const int v711 = v704 + v710;
          float v712[8];
          fw_load_bf16x8_ldg(in1 + v711, v712);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v713 = acc683[l] + v692[l];
            acc683[l] = v713;
            const float v714 = acc684[l] + v695[l];
            acc684[l] = v714;
            const float v715 = acc685[l] + v698[l];
            acc685[l] = v715;
            const float v716 = acc683[l] + v706[l];
            const float v718 = v700 ? v716 : acc683[l];
            acc683[l] = v718;
            const float v719 = acc684[l] + v709[l];
            const float v720 = v700 ? v719 : acc684[l];
            acc684[l] = v720;
            const float v721 = acc685[l] + v712[l];
            const float v722 = v700 ? v721 : acc685[l];
            acc685[l] = v722;
          }
        }
        const int v723 = v658 * n34;
        const int v724 = v649 * 8;
        const int v725 = v723 + v724;
        float v726[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v726[l] = acc683[l];
        }
        if (v650) {
          fw_store_f32x8(pieces + v725, v726);
        }
        const int v727 = v652 * 8;
        const int v728 = v723 + v727;
        float v729[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v729[l] = acc684[l];
        }
        if (v653) {
          fw_store_f32x8(pieces + v728, v729);
        }
        const int v730 = v655 * 8;
        const int v731 = v723 + v730;
        float v732[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v732[l] = acc685[l];
        }
        if (v656) {
          fw_store_f32x8(pieces + v731, v732);
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
    int n40,
    int n41,
    int n42,
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
  const int v733 = fw_udiv(tid5, 32);
  const int v734 = v733 * 32;
  const int v735 = tid5 - v734;
  const int v736 = fw_udiv(bid5, n28);
  const int v737 = v736 * n28;
  const int v738 = bid5 - v737;
  const int v739 = v738 * 96;
  const int v740 = v739 + v735;
  const int v741 = n29 + (-1);
  const int v742 = v740 < v741 ? v740 : v741;
  const bool v743 = v740 < n29;
  const int v744 = v740 + 32;
  const int v745 = v744 < v741 ? v744 : v741;
  const bool v746 = v744 < n29;
  const int v747 = v740 + 64;
  const int v748 = v747 < v741 ? v747 : v741;
  const bool v749 = v747 < n29;
  const int v750 = v736 * 4;
  const int v751 = v750 + v733;
  const bool v752 = v751 < n36;
  const long long v762 = (long long)n9;
  if (v752) {
    const int v753 = v751 * n37;
    const int v754 = v753 + n38;
    const int v755 = v754 * n31;
    const int v756 = v755 + n32;
    const int v757 = __ldg(start + n23);
    const bool v758 = v756 < v757;
    if (v758) {
      const int v759 = __ldg(order + v756);
      const long long v760 = __ldg(in0 + v759);
      const bool v761 = v760 < 0ll;
      const long long v763 = v760 + v762;
      const long long v764 = v761 ? v763 : v760;
      const int v765 = (int)v764;
      const int v766 = __ldg(start + v765);
      const int v767 = v765 + 1;
      const int v768 = __ldg(start + v767);
      const int v769 = fw_udiv_by(v766, n31, n31_inverse);
      const int v770 = v768 - v766;
      const int v771 = fw_udiv_by(v770, n31, n31_inverse);
      const int v772 = v769 + v771;
      const int v773 = v751 * n37;
      const int v774 = v773 - v769;
      const int v775 = v774 > 0 ? v774 : 0;
      const int v776 = v775 + n38;
      const int v777 = fw_udiv(v776, n37);
      const int v778 = v777 * n37;
      const int v779 = v769 + v778;
      const int v780 = v779 + n37;
      const bool v781 = v780 <= v772;
      if (v781) {
        float acc782[8];
        float acc783[8];
        float acc784[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          acc782[l] = 0.0f;
          acc783[l] = 0.0f;
          acc784[l] = 0.0f;
        }
        const int v785 = v780 + (-1);
        for (int k786 = v779; k786 < v780; k786 += 5) {
          const int v787 = k786 * n34;
          const int v788 = v742 * 8;
          const int v789 = v787 + v788;
          const int v790 = v745 * 8;
          const int v791 = v787 + v790;
          const int v792 = v748 * 8;
          const int v793 = v787 + v792;
          float v794[8];
          fw_load_f32x8(pieces + v789, v794);
          float v795[8];
          fw_load_f32x8(pieces + v791, v795);
          float v796[8];
          fw_load_f32x8(pieces + v793, v796);
          const int v797 = k786 + 1;
          const bool v798 = v797 < v780;
          const int v799 = v797 < v785 ? v797 : v785;
          const int v800 = v799 * n34;
          const int v801 = v800 + v788;
          const int v802 = v800 + v790;
          const int v803 = v800 + v792;
          float v804[8];
          fw_load_f32x8(pieces + v801, v804);
          float v805[8];
          fw_load_f32x8(pieces + v802, v805);
          float v806[8];
          fw_load_f32x8(pieces + v803, v806);
          const int v807 = k786 + 2;
          const bool v808 = v807 < v780;
          const int v809 = v807 < v785 ? v807 : v785;
          const int v810 = v809 * n34;
          const int v811 = v810 + v788;
          const int v812 = v810 + v790;
          const int v813 = v810 + v792;
          float v814[8];
          fw_load_f32x8(pieces + v811, v814);
          float v815[8];
          fw_load_f32x8(pieces + v812, v815);
          float v816[8];
          fw_load_f32x8(pieces + v813, v816);
          const int v817 = k786 + 3;
          const bool v818 = v817 < v780;
          const int v819 = v817 < v785 ? v817 : v785;
          const int v820 = v819 * n34;
          const int v821 = v820 + v788;
          const int v822 = v820 + v790;
          const int v823 = v820 + v792;
          float v824[8];
          fw_load_f32x8(pieces + v821, v824);
          float v825[8];
          fw_load_f32x8(pieces + v822, v825);
          float v826[8];
          fw_load_f32x8(pieces + v823, v826);
          const int v827 = k786 + 4;
          const bool v828 = v827 < v780;
          const int v829 = v827 < v785 ? v827 : v785;
          const int v830 = v829 * n34;
          const int v831 = v830 + v788;
          const int v832 = v830 + v790;
          const int v833 = v830 + v792;
          float v834[8];
          fw_load_f32x8(pieces + v831, v834);
          float v835[8];
          fw_load_f32x8(pieces + v832, v835);
          float v836[8];
          fw_load_f32x8(pieces + v833, v836);
          #pragma unroll
          for (int l = 0; l < 8; ++l) {
            const float v837 = acc782[l] + v794[l];
            acc782[l] = v837;
            const float v838 = acc783[l] + v795[l];
            acc783[l] = v838;
            const float v839 = acc784[l] + v796[l];
            acc784[l] = v839;
            const float v840 = acc782[l] + v804[l];
            const float v842 = v798 ? v840 : acc782[l];
            acc782[l] = v842;
            const float v843 = acc783[l] + v805[l];
            const float v844 = v798 ? v843 : acc783[l];
            acc783[l] = v844;
            const float v845 = acc784[l] + v806[l];
            const float v846 = v798 ? v845 : acc784[l];
            acc784[l] = v846;
            const float v847 = acc782[l] + v814[l];
            const float v849 = v808 ? v847 : acc782[l];
            acc782[l] = v849;
            const float v850 = acc783[l] + v815[l];
            const float v851 = v808 ? v850 : acc783[l];
            acc783[l] = v851;
            const float v852 = acc784[l] + v816[l];
            const float v853 = v808 ? v852 : acc784[l];
            acc784[l] = v853;
            const float v854 = acc782[l] + v824[l];
            const float v856 = v818 ? v854 : acc782[l];
            acc782[l] = v856;
            const float v857 = acc783[l] + v825[l];
            const float v858 = v818 ? v857 : acc783[l];
            acc783[l] = v858;
            const float v859 = acc784[l] + v826[l];
            const float v860 = v818 ? v859 : acc784[l];
            acc784[l] = v860;
            const float v861 = acc782[l] + v834[l];
            const float v863 = v828 ? v861 : acc782[l];
            acc782[l] = v863;
            const float v864 = acc783[l] + v835[l];
            const float v865 = v828 ? v864 : acc783[l];
            acc783[l] = v865;
            const float v866 = acc784[l] + v836[l];
            const float v867 = v828 ? v866 : acc784[l];
            acc784[l] = v867;
          }
        }
        const int v868 = v751 + n39;
        const int v869 = v868 * n34;
        const int v870 = v742 * 8;
        const int v871 = v869 + v870;
        float v872[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v872[l] = acc782[l];
        }
        if (v743) {
          fw_store_f32x8(pieces + v871, v872);
        }
        const int v873 = v745 * 8;
        const int v874 = v869 + v873;
        float v875[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v875[l] = acc783[l];
        }
        if (v746) {
          fw_store_f32x8(pieces + v874, v875);
        }
        const int v876 = v748 * 8;
        const int v877 = v869 + v876;
        float v878[8];
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          v878[l] = acc784[l];
        }
        if (v749) {
          fw_store_f32x8(pieces + v877, v878);
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
    int n40,
    int n41,
    int n42,
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
  const unsigned n31_inverse = 0xffffffffu / (unsigned)n31;
  const unsigned n37_inverse = 0xffffffffu / (unsigned)n37;
  const int v879 = fw_udiv(tid6, 32);
  const int v880 = v879 * 32;
  const int v881 = tid6 - v880;
  const int v882 = fw_udiv(bid6, n28);
  const int v883 = v882 * n28;
  const int v884 = bid6 - v883;
  const int v885 = v884 * 96;
  const int v886 = v885 + v881;
  const int v887 = n29 + (-1);
  const int v888 = v886 < v887 ? v886 : v887;
  const bool v889 = v886 < n29;
  const int v890 = v886 + 32;
  const int v891 = v890 < v887 ? v890 : v887;
  const bool v892 = v890 < n29;
  const int v893 = v886 + 64;
  const int v894 = v893 < v887 ? v893 : v887;
  const bool v895 = v893 < n29;
  const int v896 = v882 * 4;
  const int v897 = v896 + v879;
  const bool v898 = v897 < n41;
  const int v899 = n41 + (-1);
  const int v900 = v897 < v899 ? v897 : v899;
  const int v901 = __ldg(start + v900);
  const int v902 = v900 + 1;
  const int v903 = __ldg(start + v902);
  const int v904 = (int)((unsigned)v888 * (unsigned)8);
  const int v905 = (int)((unsigned)v891 * (unsigned)8);
  const int v906 = (int)((unsigned)v894 * (unsigned)8);
  float acc907[8];
  float acc908[8];
  float acc909[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc907[l] = 0.0f;
    acc908[l] = 0.0f;
    acc909[l] = 0.0f;
  }
  const int v910 = fw_udiv_by(v901, n31, n31_inverse);
  const int v911 = v903 - v901;
  const int v912 = fw_udiv_by(v911, n31, n31_inverse);
  const int v913 = v910 + v912;
  const int v914 = fw_udiv_by(v910, n37, n37_inverse);
  const int v915 = v913 - v910;
  const int v916 = fw_udiv_by(v915, n37, n37_inverse);
  const int v917 = v914 + n39;
  const int v918 = v916 * n38;
  const int v919 = v910 + v918;
  const int v920 = v912 - v918;
  const int v921 = (int)((unsigned)v920 + (unsigned)(-1));
  for (int k922 = 0; k922 < v920; ++k922) {
    const bool v923 = k922 < v916;
    const int v924 = v923 ? v917 : v919;
    const int v925 = k922 + v924;
    const int v926 = v925 * n34;
    const int v927 = v888 * 8;
    const int v928 = v926 + v927;
    const int v929 = v891 * 8;
    const int v930 = v926 + v929;
    const int v931 = v894 * 8;
    const int v932 = v926 + v931;
    float v933[8];
    fw_load_f32x8_ldg(pieces + v928, v933);
    float v934[8];
    fw_load_f32x8_ldg(pieces + v930, v934);
    float v935[8];
    fw_load_f32x8_ldg(pieces + v932, v935);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v936 = acc907[l] + v933[l];
      acc907[l] = v936;
      const float v937 = acc908[l] + v934[l];
      acc908[l] = v937;
      const float v938 = acc909[l] + v935[l];
      acc909[l] = v938;
    }
  }
  const int v939 = v912 * n31;
  const int v940 = v901 + v939;
  const int v941 = v903 + (-1);
  for (int k942 = v940; k942 < v903; k942 += 2) {
    const int v943 = __ldg(order + k942);
    const int v944 = v888 * 8;
    const int v945 = v943 * n33;
    const int v946 = v945 + v944;
    float v947[8];
    fw_load_bf16x8_ldg(in1 + v946, v947);
    const int v948 = v891 * 8;
    const int v949 = v945 + v948;
    float v950[8];
    fw_load_bf16x8_ldg(in1 + v949, v950);
    const int v951 = v894 * 8;
    const int v952 = v945 + v951;
    float v953[8];
    fw_load_bf16x8_ldg(in1 + v952, v953);
    const int v954 = k942 + 1;
    const bool v955 = v954 < v903;
    const int v956 = v954 < v941 ? v954 : v941;
    const int v957 = __ldg(order + v956);
    const int v958 = v888 * 8;
    const int v959 = v957 * n33;
    const int v960 = v959 + v958;
    float v961[8];
    fw_load_bf16x8_ldg(in1 + v960, v961);
    const int v962 = v891 * 8;
    const int v963 = v959 + v962;
    float v964[8];
    fw_load_bf16x8_ldg(in1 + v963, v964);
    const int v965 = v894 * 8;
    const int v966 = v959 + v965;
    float v967[8];
    fw_load_bf16x8_ldg(in1 + v966, v967);
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float v968 = acc907[l] + v947[l];
      acc907[l] = v968;
      const float v969 = acc908[l] + v950[l];
      acc908[l] = v969;
      const float v970 = acc909[l] + v953[l];
      acc909[l] = v970;
      const float v971 = acc907[l] + v961[l];
      const float v973 = v955 ? v971 : acc907[l];
      acc907[l] = v973;
      const float v974 = acc908[l] + v964[l];
      const float v975 = v955 ? v974 : acc908[l];
      acc908[l] = v975;
      const float v976 = acc909[l] + v967[l];
      const float v977 = v955 ? v976 : acc909[l];
      acc909[l] = v977;
    }
  }
  const int v978 = v888 * 8;
  float v980[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v979 = acc907[l];
    v980[l] = v979 * 0.5f;
  }
  const int v981 = v900 * n42;
  const int v982 = v981 + v978;
  const bool v983 = v898 && v889;
  if (v983) {
    fw_store_bf16x8(out2 + v982, v980);
  }
  const int v984 = v891 * 8;
  float v986[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v985 = acc908[l];
    v986[l] = v985 * 0.5f;
  }
  const int v987 = v981 + v984;
  const bool v988 = v898 && v892;
  if (v988) {
    fw_store_bf16x8(out2 + v987, v986);
  }
  const int v989 = v894 * 8;
  float v991[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    const float v990 = acc909[l];
    v991[l] = v990 * 0.5f;
  }
  const int v992 = v981 + v989;
  const bool v993 = v898 && v895;
  if (v993) {
    fw_store_bf16x8(out2 + v992, v991);
  }
}
