// cumulative_split, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

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

__device__ __forceinline__ float fw_min(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

#endif

#define fw_inff __int_as_float(0x7f800000)

// counts this block; true in all threads of the one that is the count-th, which then sees what the others stored
__device__ __forceinline__ bool fw_last(int* counter, int count) {
  __shared__ bool last;
  __syncthreads();  // all threads have stored
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc((unsigned*)counter, count - 1) == count - 1;  // zero again after the last
    __threadfence();
  }
  __syncthreads();
  return last;
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

__device__ __forceinline__ double fw_sum_f64x4(const double* v) {
  double x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 128 threads
__device__ __forceinline__ double fw_sum_f64_128x1(double x, unsigned char* scratch) {
  double* const s = reinterpret_cast<double*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const double y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  double y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] + y[j + 1];
  x = y[0] + y[2];
  return x;
}

__device__ __forceinline__ void fw_scan_sum_f64_lanes4(const double* v, double* out) {
  out[0] = v[0];
  #pragma unroll
  for (int l = 1; l < 4; ++l) out[l] = out[l - 1] + v[l];
}

// sum of what comes before, and of all, in groups of 128 threads
__device__ __forceinline__ void fw_scan_sum_f64_128x1(double x, double* out, unsigned char* scratch) {
  const unsigned t = threadIdx.x;
  const unsigned j = t % 32;
  #pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const double y = __shfl_up_sync(0xffffffffu, x, d);
    if (j >= d) x = y + x;
  }
  const double y = __shfl_up_sync(0xffffffffu, x, 1);
  double* const s = reinterpret_cast<double*>(scratch);
  if (j == 31) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32, k = mine / 1 % 4, first = mine - k * 1;
  double base = 0.0, all = 0.0;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i == k) base = all;
    all = all + s[first + i * 1];
  }
  const double before = j ? y : 0.0;
  out[0] = base + before;
  out[1] = all;
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

__device__ __forceinline__ float fw_max_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = fw_max(x[j], x[j + 2]);
  x[0] = fw_max(x[0], x[1]);
  return x[0];
}

// max over groups of 128 threads
__device__ __forceinline__ float fw_max_f32_128x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = fw_max(y[j], y[j + 1]);
  x = fw_max(y[0], y[2]);
  return x;
}

__device__ __forceinline__ float fw_min_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = fw_min(x[j], x[j + 2]);
  x[0] = fw_min(x[0], x[1]);
  return x[0];
}

// min over groups of 128 threads
__device__ __forceinline__ float fw_min_f32_128x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_min(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = fw_min(y[j], y[j + 1]);
  x = fw_min(y[0], y[2]);
  return x;
}

__device__ __forceinline__ int fw_min_i32x4(const int* v) {
  int x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] < x[j + 2] ? x[j] : x[j + 2];
  x[0] = x[0] < x[1] ? x[0] : x[1];
  return x[0];
}

// min over groups of 128 threads
__device__ __forceinline__ int fw_min_i32_128x1(int x, unsigned char* scratch) {
  int* const s = reinterpret_cast<int*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const int y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x < y ? x : y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  int y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] < y[j + 1] ? y[j] : y[j + 1];
  x = y[0] < y[2] ? y[0] : y[2];
  return x;
}

// min over groups of 128 threads
__device__ __forceinline__ long long fw_min_i64_128x1(long long x, unsigned char* scratch) {
  long long* const s = reinterpret_cast<long long*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const long long y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x < y ? x : y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  long long y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] < y[j + 1] ? y[j] : y[j + 1];
  x = y[0] < y[2] ? y[0] : y[2];
  return x;
}

// what the chunks combine to
extern "C" __global__ void __launch_bounds__(128, 8) cumulative_split_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    long long* __restrict__ out3,
    float* __restrict__ out4,
    float* __restrict__ out5,
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
    float* __restrict__ part_r1,
    long long* __restrict__ part_r2,
    float* __restrict__ part_r2_best,
    double* __restrict__ part_r0,
    int* __restrict__ counters) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = v3 * n4;
  const int v5 = v4 < n3 ? v4 : n3;
  const int v6 = v5 + n4;
  const int v7 = v6 < n3 ? v6 : n3;
  double total8[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total8[l] = 0.0;
  }
  const int v9 = v5 + v7;
  const int v10 = v9 + (-1);
  const int v11 = v7 - v5;
  const int v12 = fw_udiv(v11, 256);
  const int v13 = v12 * 256;
  const int v14 = v5 + v13;
  const int v22 = v1 * n5;
  for (int c15 = v5; c15 < v14; c15 += 256) {
    const int v16 = c15 + tid0;
    const int v17 = v10 - v16;
    const int v18 = v17 * 4;
    const int v19 = v16 + 128;
    const int v20 = v10 - v19;
    const int v21 = v20 * 4;
    const int v23 = v22 + v18;
    float v24[4];
    fw_load_f32x4_ldg(in0 + v23, v24);
    const int v25 = v22 + v21;
    float v26[4];
    fw_load_f32x4_ldg(in0 + v25, v26);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const double v27 = (double)v24[l];
      const double v28 = total8[l] + v27;
      total8[l] = v28;
      const double v29 = (double)v26[l];
      const double v30 = total8[l] + v29;
      total8[l] = v30;
    }
  }
  for (int c31 = v14; c31 < v7; c31 += 128) {
    const int v32 = c31 + tid0;
    const bool v39 = v32 < v7;
    if (v39) {
      const int v33 = v10 - v32;
      const int v34 = v33 * 4;
      const int v35 = v22 + v34;
      float v36[4];
      fw_load_f32x4_ldg(in0 + v35, v36);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const double v37 = (double)v36[l];
        const double v38 = total8[l] + v37;
        total8[l] = v38;
      }
    }
  }
  double v40[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v40[l] = total8[l];
  }
  const double v41 = fw_sum_f64x4(v40);
  const double sum42 = fw_sum_f64_128x1(v41, fw_scratch0);
  const bool v43 = tid0 == 0;
  const int v44 = v3 * n6;
  const int v45 = v44 + v1;
  if (v43) {
    part_r0[v45] = sum42;
  }
}

// pass 0 over the columns
extern "C" __global__ void __launch_bounds__(128, 8) cumulative_split_1(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    long long* __restrict__ out3,
    float* __restrict__ out4,
    float* __restrict__ out5,
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
    float* __restrict__ part_r1,
    long long* __restrict__ part_r2,
    float* __restrict__ part_r2_best,
    double* __restrict__ part_r0,
    int* __restrict__ counters) {
  const int bid1 = blockIdx.x;
  const int tid1 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[32];
  const int v46 = fw_udiv(bid1, n1);
  const int v47 = v46 * n1;
  const int v48 = bid1 - v47;
  const int v49 = v48 * n4;
  const int v50 = v49 < n3 ? v49 : n3;
  const int v51 = v50 + n4;
  const int v52 = v51 < n3 ? v51 : n3;
  float acc53[4];
  float acc54[4];
  int pos55[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc53[l] = (-fw_inff);
    acc54[l] = fw_inff;
    pos55[l] = 0;
  }
  double total56 = 0.0;
  const int v57 = v48 + (-1);
  for (int t58 = tid1; t58 < v48; t58 += 512) {
    const int v59 = t58 * n6;
    const int v60 = v59 + v46;
    const double v61 = __ldg(part_r0 + v60);
    const int v62 = t58 + 128;
    const bool v63 = v62 < v48;
    const int v64 = v62 < v57 ? v62 : v57;
    const int v65 = v64 * n6;
    const int v66 = v65 + v46;
    const double v67 = __ldg(part_r0 + v66);
    const int v68 = t58 + 256;
    const bool v69 = v68 < v48;
    const int v70 = v68 < v57 ? v68 : v57;
    const int v71 = v70 * n6;
    const int v72 = v71 + v46;
    const double v73 = __ldg(part_r0 + v72);
    const int v74 = t58 + 384;
    const bool v75 = v74 < v48;
    const int v76 = v74 < v57 ? v74 : v57;
    const int v77 = v76 * n6;
    const int v78 = v77 + v46;
    const double v79 = __ldg(part_r0 + v78);
    const double v80 = total56 + v61;
    total56 = v80;
    const double v81 = v63 ? v67 : 0.0;
    const double v82 = total56 + v81;
    total56 = v82;
    const double v83 = v69 ? v73 : 0.0;
    const double v84 = total56 + v83;
    total56 = v84;
    const double v85 = v75 ? v79 : 0.0;
    const double v86 = total56 + v85;
    total56 = v86;
  }
  const double v87 = total56;
  const double sum88 = fw_sum_f64_128x1(v87, fw_scratch0);
  double carry89 = sum88;
  const int v92 = v52 + (-1);
  const int v100 = v46 * n5;
  const int v146 = v46 * n7;
  for (int c90 = v50; c90 < v52; c90 += 256) {
    const int v91 = c90 + tid1;
    const int v93 = v91 < v92 ? v91 : v92;
    const int v94 = v93 * 4;
    const bool v95 = v91 < v52;
    const int v96 = v91 + 128;
    const int v97 = v96 < v92 ? v96 : v92;
    const int v98 = v97 * 4;
    const bool v99 = v96 < v52;
    const int v101 = v100 + v94;
    float v102[4];
    fw_load_f32x4_ldg(in0 + v101, v102);
    float v103[4];
    fw_load_f32x4_ldg(in1 + v94, v103);
    const int v104 = v100 + v98;
    float v105[4];
    fw_load_f32x4_ldg(in0 + v104, v105);
    float v106[4];
    fw_load_f32x4_ldg(in1 + v98, v106);
    double v109[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const double v107 = (double)v102[l];
      v109[l] = v95 ? v107 : 0.0;
    }
    double v110[4];
    fw_scan_sum_f64_lanes4(v109, v110);
    const double v111 = v110[3];
    double scan112[2];
    fw_scan_sum_f64_128x1(v111, scan112, fw_scratch1);
    const double v113 = scan112[0];
    const double v114 = scan112[1];
    const double v115 = carry89 + v113;
    double v117[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v117[l] = v115 + v110[l];
    }
    const double v118 = carry89 + v114;
    carry89 = v118;
    float v119[4];
    double v122[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v119[l] = (float)v117[l];
      const double v120 = (double)v105[l];
      v122[l] = v99 ? v120 : 0.0;
    }
    double v123[4];
    fw_scan_sum_f64_lanes4(v122, v123);
    const double v124 = v123[3];
    double scan125[2];
    fw_scan_sum_f64_128x1(v124, scan125, fw_scratch0);
    const double v126 = scan125[0];
    const double v127 = scan125[1];
    const double v128 = carry89 + v126;
    double v130[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v130[l] = v128 + v123[l];
    }
    const double v131 = carry89 + v127;
    carry89 = v131;
    float v133[4];
    float v134[4];
    float v135[4];
    float v136[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v132 = (float)v130[l];
      v133[l] = v119[l] + v103[l];
      v134[l] = v133[l] * v102[l];
      v135[l] = v132 + v106[l];
      v136[l] = v135[l] * v105[l];
    }
    if (v95) {
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v137 = fw_max(acc53[l], v133[l]);
        acc53[l] = v137;
        const bool v138 = acc54[l] <= v133[l];
        const bool v139 = !(::fabsf(acc54[l]) <= fw_inff);
        const bool v140 = !v138;
        const bool v141 = !v139;
        const bool v142 = v140 && v141;
        const float v143 = v142 ? v133[l] : acc54[l];
        acc54[l] = v143;
        const int v145 = v142 ? v94 : pos55[l];
        pos55[l] = v145;
      }
      const int v147 = v146 + v94;
      fw_store_f32x4(out5 + v147, v134);
    }
    if (v99) {
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v148 = fw_max(acc53[l], v135[l]);
        acc53[l] = v148;
        const bool v149 = acc54[l] <= v135[l];
        const bool v150 = !(::fabsf(acc54[l]) <= fw_inff);
        const bool v151 = !v149;
        const bool v152 = !v150;
        const bool v153 = v151 && v152;
        const float v154 = v153 ? v135[l] : acc54[l];
        acc54[l] = v154;
        const int v156 = v153 ? v98 : pos55[l];
        pos55[l] = v156;
      }
      const int v157 = v146 + v98;
      fw_store_f32x4(out5 + v157, v136);
    }
  }
  float v158[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v158[l] = acc53[l];
  }
  const float v159 = fw_max_f32x4(v158);
  const float max160 = fw_max_f32_128x1(v159, fw_scratch1);
  float v161[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v161[l] = acc54[l];
  }
  const float v162 = fw_min_f32x4(v161);
  const float min163 = fw_min_f32_128x1(v162, fw_scratch0);
  int v172[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v164 = acc54[l];
    const int v165 = pos55[l];
    const int v166 = l;
    const int v167 = (int)((unsigned)v165 + (unsigned)v166);
    const bool v169 = v164 == min163;
    const bool v170 = !(::fabsf(v164) <= fw_inff);
    const bool v171 = v169 || v170;
    v172[l] = v171 ? v167 : 2147483647;
  }
  const int v173 = fw_min_i32x4(v172);
  const int min174 = fw_min_i32_128x1(v173, fw_scratch1);
  const long long v175 = (long long)min174;
  const bool v176 = tid1 == 0;
  const int v177 = v48 * n6;
  const int v178 = v177 + v46;
  if (v176) {
    part_r1[v178] = max160;
    part_r2[v178] = v175;
    part_r2_best[v178] = min163;
  }
}

// pass 1 over the columns
extern "C" __global__ void __launch_bounds__(128, 8) cumulative_split_2(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    long long* __restrict__ out3,
    float* __restrict__ out4,
    float* __restrict__ out5,
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
    float* __restrict__ part_r1,
    long long* __restrict__ part_r2,
    float* __restrict__ part_r2_best,
    double* __restrict__ part_r0,
    int* __restrict__ counters) {
  const int bid2 = blockIdx.x;
  const int tid2 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[32];
  const int v179 = fw_udiv(bid2, n1);
  const int v180 = v179 * n1;
  const int v181 = bid2 - v180;
  float total182 = (-fw_inff);
  const int v183 = n1 + (-1);
  for (int t184 = tid2; t184 < n1; t184 += 512) {
    const int v185 = t184 * n6;
    const int v186 = v185 + v179;
    const float v187 = __ldg(part_r1 + v186);
    const int v188 = t184 + 128;
    const bool v189 = v188 < n1;
    const int v190 = v188 < v183 ? v188 : v183;
    const int v191 = v190 * n6;
    const int v192 = v191 + v179;
    const float v193 = __ldg(part_r1 + v192);
    const int v194 = t184 + 256;
    const bool v195 = v194 < n1;
    const int v196 = v194 < v183 ? v194 : v183;
    const int v197 = v196 * n6;
    const int v198 = v197 + v179;
    const float v199 = __ldg(part_r1 + v198);
    const int v200 = t184 + 384;
    const bool v201 = v200 < n1;
    const int v202 = v200 < v183 ? v200 : v183;
    const int v203 = v202 * n6;
    const int v204 = v203 + v179;
    const float v205 = __ldg(part_r1 + v204);
    const float v206 = fw_max(total182, v187);
    total182 = v206;
    const float v207 = v189 ? v193 : (-fw_inff);
    const float v208 = fw_max(total182, v207);
    total182 = v208;
    const float v209 = v195 ? v199 : (-fw_inff);
    const float v210 = fw_max(total182, v209);
    total182 = v210;
    const float v211 = v201 ? v205 : (-fw_inff);
    const float v212 = fw_max(total182, v211);
    total182 = v212;
  }
  const float v213 = total182;
  const float max214 = fw_max_f32_128x1(v213, fw_scratch0);
  const int v215 = v181 * n4;
  const int v216 = v215 < n3 ? v215 : n3;
  const int v217 = v216 + n4;
  const int v218 = v217 < n3 ? v217 : n3;
  double total219 = 0.0;
  const int v220 = v181 + (-1);
  for (int t221 = tid2; t221 < v181; t221 += 512) {
    const int v222 = t221 * n6;
    const int v223 = v222 + v179;
    const double v224 = __ldg(part_r0 + v223);
    const int v225 = t221 + 128;
    const bool v226 = v225 < v181;
    const int v227 = v225 < v220 ? v225 : v220;
    const int v228 = v227 * n6;
    const int v229 = v228 + v179;
    const double v230 = __ldg(part_r0 + v229);
    const int v231 = t221 + 256;
    const bool v232 = v231 < v181;
    const int v233 = v231 < v220 ? v231 : v220;
    const int v234 = v233 * n6;
    const int v235 = v234 + v179;
    const double v236 = __ldg(part_r0 + v235);
    const int v237 = t221 + 384;
    const bool v238 = v237 < v181;
    const int v239 = v237 < v220 ? v237 : v220;
    const int v240 = v239 * n6;
    const int v241 = v240 + v179;
    const double v242 = __ldg(part_r0 + v241);
    const double v243 = total219 + v224;
    total219 = v243;
    const double v244 = v226 ? v230 : 0.0;
    const double v245 = total219 + v244;
    total219 = v245;
    const double v246 = v232 ? v236 : 0.0;
    const double v247 = total219 + v246;
    total219 = v247;
    const double v248 = v238 ? v242 : 0.0;
    const double v249 = total219 + v248;
    total219 = v249;
  }
  const double v250 = total219;
  const double sum251 = fw_sum_f64_128x1(v250, fw_scratch1);
  double carry252 = sum251;
  const int v255 = v218 + (-1);
  const int v263 = v179 * n5;
  const int v301 = v179 * n8;
  for (int c253 = v216; c253 < v218; c253 += 256) {
    const int v254 = c253 + tid2;
    const int v256 = v254 < v255 ? v254 : v255;
    const int v257 = v256 * 4;
    const bool v258 = v254 < v218;
    const int v259 = v254 + 128;
    const int v260 = v259 < v255 ? v259 : v255;
    const int v261 = v260 * 4;
    const bool v262 = v259 < v218;
    const int v264 = v263 + v257;
    float v265[4];
    fw_load_f32x4_ldg(in0 + v264, v265);
    float v266[4];
    fw_load_f32x4_ldg(in1 + v257, v266);
    const int v267 = v263 + v261;
    float v268[4];
    fw_load_f32x4_ldg(in0 + v267, v268);
    float v269[4];
    fw_load_f32x4_ldg(in1 + v261, v269);
    double v272[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const double v270 = (double)v265[l];
      v272[l] = v258 ? v270 : 0.0;
    }
    double v273[4];
    fw_scan_sum_f64_lanes4(v272, v273);
    const double v274 = v273[3];
    double scan275[2];
    fw_scan_sum_f64_128x1(v274, scan275, fw_scratch0);
    const double v276 = scan275[0];
    const double v277 = scan275[1];
    const double v278 = carry252 + v276;
    double v280[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v280[l] = v278 + v273[l];
    }
    const double v281 = carry252 + v277;
    carry252 = v281;
    float v282[4];
    double v285[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v282[l] = (float)v280[l];
      const double v283 = (double)v268[l];
      v285[l] = v262 ? v283 : 0.0;
    }
    double v286[4];
    fw_scan_sum_f64_lanes4(v285, v286);
    const double v287 = v286[3];
    double scan288[2];
    fw_scan_sum_f64_128x1(v287, scan288, fw_scratch1);
    const double v289 = scan288[0];
    const double v290 = scan288[1];
    const double v291 = carry252 + v289;
    double v293[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v293[l] = v291 + v286[l];
    }
    const double v294 = carry252 + v290;
    carry252 = v294;
    float v298[4];
    float v300[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v295 = (float)v293[l];
      const float v296 = v282[l] + v266[l];
      v298[l] = v296 - max214;
      const float v299 = v295 + v269[l];
      v300[l] = v299 - max214;
    }
    if (v258) {
      const int v302 = v301 + v257;
      fw_store_f32x4(out4 + v302, v298);
    }
    if (v262) {
      const int v303 = v301 + v261;
      fw_store_f32x4(out4 + v303, v300);
    }
  }
  const bool last304 = fw_last(counters + v179, (int)n1);
  if (last304) {
    float total305 = (-fw_inff);
    const int v306 = n1 + (-1);
    for (int t307 = tid2; t307 < n1; t307 += 512) {
      const int v308 = t307 * n6;
      const int v309 = v308 + v179;
      const float v310 = __ldg(part_r1 + v309);
      const int v311 = t307 + 128;
      const bool v312 = v311 < n1;
      const int v313 = v311 < v306 ? v311 : v306;
      const int v314 = v313 * n6;
      const int v315 = v314 + v179;
      const float v316 = __ldg(part_r1 + v315);
      const int v317 = t307 + 256;
      const bool v318 = v317 < n1;
      const int v319 = v317 < v306 ? v317 : v306;
      const int v320 = v319 * n6;
      const int v321 = v320 + v179;
      const float v322 = __ldg(part_r1 + v321);
      const int v323 = t307 + 384;
      const bool v324 = v323 < n1;
      const int v325 = v323 < v306 ? v323 : v306;
      const int v326 = v325 * n6;
      const int v327 = v326 + v179;
      const float v328 = __ldg(part_r1 + v327);
      const float v329 = fw_max(total305, v310);
      total305 = v329;
      const float v330 = v312 ? v316 : (-fw_inff);
      const float v331 = fw_max(total305, v330);
      total305 = v331;
      const float v332 = v318 ? v322 : (-fw_inff);
      const float v333 = fw_max(total305, v332);
      total305 = v333;
      const float v334 = v324 ? v328 : (-fw_inff);
      const float v335 = fw_max(total305, v334);
      total305 = v335;
    }
    const float v336 = total305;
    const float max337 = fw_max_f32_128x1(v336, fw_scratch0);
    float best338 = fw_inff;
    long long at339 = 0ll;
    for (int t340 = tid2; t340 < n1; t340 += 512) {
      const int v341 = t340 * n6;
      const int v342 = v341 + v179;
      const float v343 = __ldg(part_r2_best + v342);
      const long long v344 = __ldg(part_r2 + v342);
      const int v345 = t340 + 128;
      const bool v346 = v345 < n1;
      const int v347 = v345 < v306 ? v345 : v306;
      const int v348 = v347 * n6;
      const int v349 = v348 + v179;
      const float v350 = __ldg(part_r2_best + v349);
      const long long v351 = __ldg(part_r2 + v349);
      const int v352 = t340 + 256;
      const bool v353 = v352 < n1;
      const int v354 = v352 < v306 ? v352 : v306;
      const int v355 = v354 * n6;
      const int v356 = v355 + v179;
      const float v357 = __ldg(part_r2_best + v356);
      const long long v358 = __ldg(part_r2 + v356);
      const int v359 = t340 + 384;
      const bool v360 = v359 < n1;
      const int v361 = v359 < v306 ? v359 : v306;
      const int v362 = v361 * n6;
      const int v363 = v362 + v179;
      const float v364 = __ldg(part_r2_best + v363);
      const long long v365 = __ldg(part_r2 + v363);
      const float v366 = best338;
      const bool v367 = v366 <= v343;
      const bool v368 = !(::fabsf(v366) <= fw_inff);
      const bool v369 = !v367;
      const bool v370 = !v368;
      const bool v371 = v369 && v370;
      const float v372 = v371 ? v343 : best338;
      best338 = v372;
      const long long v373 = v371 ? v344 : at339;
      at339 = v373;
      const float v374 = best338;
      const bool v375 = v374 <= v350;
      const bool v376 = !(::fabsf(v374) <= fw_inff);
      const bool v377 = !v375;
      const bool v378 = !v376;
      const bool v379 = v377 && v378;
      const bool v380 = v379 && v346;
      const float v381 = v380 ? v350 : best338;
      best338 = v381;
      const long long v382 = v380 ? v351 : at339;
      at339 = v382;
      const float v383 = best338;
      const bool v384 = v383 <= v357;
      const bool v385 = !(::fabsf(v383) <= fw_inff);
      const bool v386 = !v384;
      const bool v387 = !v385;
      const bool v388 = v386 && v387;
      const bool v389 = v388 && v353;
      const float v390 = v389 ? v357 : best338;
      best338 = v390;
      const long long v391 = v389 ? v358 : at339;
      at339 = v391;
      const float v392 = best338;
      const bool v393 = v392 <= v364;
      const bool v394 = !(::fabsf(v392) <= fw_inff);
      const bool v395 = !v393;
      const bool v396 = !v394;
      const bool v397 = v395 && v396;
      const bool v398 = v397 && v360;
      const float v399 = v398 ? v364 : best338;
      best338 = v399;
      const long long v400 = v398 ? v365 : at339;
      at339 = v400;
    }
    const float v401 = best338;
    const float min402 = fw_min_f32_128x1(v401, fw_scratch1);
    const float v403 = best338;
    const long long v404 = at339;
    const bool v405 = v403 == min402;
    const bool v406 = !(::fabsf(v403) <= fw_inff);
    const bool v407 = v405 || v406;
    const long long v408 = v407 ? v404 : 9223372036854775807ll;
    const long long min409 = fw_min_i64_128x1(v408, fw_scratch0);
    const bool v410 = tid2 == 0;
    if (v410) {
      out2[v179] = max337;
    }
    if (v410) {
      out3[v179] = min409;
    }
  }
}
