// batch_norm_split, made by Fusewright

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

#endif

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

// sum over groups of 8 threads that are 32 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_8x32(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    s[t + l * 256] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const unsigned mine = t;
    const unsigned first = mine % 32 + l * 256;
    float y[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) y[j] = s[first + j * 32];
    #pragma unroll
    for (int j = 0; j < 8; j += 2) y[j] = y[j] + y[j + 1];
    #pragma unroll
    for (int j = 0; j < 8; j += 4) y[j] = y[j] + y[j + 2];
    x = y[0] + y[4];
    v[l] = x;
  }
}

// sum over groups of 8 threads that are 32 apart
__device__ __forceinline__ float fw_sum_f32_8x32(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  s[t] = x;
  __syncthreads();
  const unsigned mine = t;
  const unsigned first = mine % 32;
  float y[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) y[j] = s[first + j * 32];
  #pragma unroll
  for (int j = 0; j < 8; j += 2) y[j] = y[j] + y[j + 1];
  #pragma unroll
  for (int j = 0; j < 8; j += 4) y[j] = y[j] + y[j + 2];
  x = y[0] + y[4];
  return x;
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

// sum over groups of 128 threads that are 2 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_128x2(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    #pragma unroll
    for (int d = 2; d <= 16; d *= 2) {
      const float y = __shfl_xor_sync(0xffffffffu, x, d);
      x = x + y;
    }
    if (t % 32 < 2) s[t / 32 * 2 + t % 32 + l * 16] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    x = s[t % 16 + l * 16];
    #pragma unroll
    for (int d = 2; d <= 8; d *= 2) {
      const float y = __shfl_xor_sync(0xffffffffu, x, d);
      x = x + y;
    }
    v[l] = x;
  }
}

// pass 0 over the columns
extern "C" __global__ void __launch_bounds__(256, 4) batch_norm_split_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    const float* __restrict__ in3,
    float* __restrict__ out3,
    float* __restrict__ out4,
    float* __restrict__ out6,
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
    float* __restrict__ part_r0,
    float* __restrict__ part_r1,
    float* __restrict__ part_r1_count,
    float* __restrict__ part_r1_mean,
    float* __restrict__ total_r0,
    float* __restrict__ total_r1,
    int* __restrict__ counters) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[4096];
  __shared__ __align__(16) unsigned char fw_scratch1[4096];
  const int v1 = fw_udiv(tid0, 32);
  const int v2 = v1 * 32;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, n1);
  const int v5 = v4 * n1;
  const int v6 = bid0 - v5;
  const int v7 = v4 * 32;
  const int v8 = v7 + v3;
  const bool v9 = v8 < n3;
  const int v10 = n3 + (-1);
  const int v11 = v8 < v10 ? v8 : v10;
  const int v12 = v11 * 4;
  const int v13 = v6 * n5;
  const int v14 = v13 < n4 ? v13 : n4;
  const int v15 = v14 + n5;
  const int v16 = v15 < n4 ? v15 : n4;
  float run17 = 0.0f;
  float run18[4];
  float run19[4];
  float acc20[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    run18[l] = 0.0f;
    run19[l] = 0.0f;
    acc20[l] = 0.0f;
  }
  const int v21 = v16 - v14;
  const int v22 = fw_udiv(v21, 32);
  const int v23 = v22 * 32;
  const int v24 = v14 + v23;
  for (int c25 = v14; c25 < v24; c25 += 32) {
    const int v26 = c25 + v1;
    const int v27 = v26 + 8;
    const int v28 = v26 + 16;
    const int v29 = v26 + 24;
    const int v30 = v26 * n6;
    const int v31 = v30 + v12;
    float v32[4];
    fw_load_f32x4_ldg(in0 + v31, v32);
    const int v33 = v27 * n6;
    const int v34 = v33 + v12;
    float v35[4];
    fw_load_f32x4_ldg(in0 + v34, v35);
    const int v36 = v28 * n6;
    const int v37 = v36 + v12;
    float v38[4];
    fw_load_f32x4_ldg(in0 + v37, v38);
    const int v39 = v29 * n6;
    const int v40 = v39 + v12;
    float v41[4];
    fw_load_f32x4_ldg(in0 + v40, v41);
    const float v50 = run17 + 4.0f;
    const float v51 = 4.0f / v50;
    const float v53 = run17 * v51;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v42 = acc20[l] + v32[l];
      acc20[l] = v42;
      const float v43 = acc20[l] + v35[l];
      acc20[l] = v43;
      const float v44 = acc20[l] + v38[l];
      acc20[l] = v44;
      const float v45 = acc20[l] + v41[l];
      acc20[l] = v45;
      const float v46 = v32[l] + v35[l];
      const float v47 = v46 + v38[l];
      const float v48 = v47 + v41[l];
      const float v49 = v48 * 0.25f;
      const float v52 = v49 - run18[l];
      const float v55 = v52 * v53;
      const float v56 = v55 * v52;
      const float v57 = run19[l] + v56;
      const float v58 = v32[l] - v49;
      const float v59 = v58 * v58;
      const float v60 = v57 + v59;
      const float v61 = v35[l] - v49;
      const float v62 = v61 * v61;
      const float v63 = v60 + v62;
      const float v64 = v38[l] - v49;
      const float v65 = v64 * v64;
      const float v66 = v63 + v65;
      const float v67 = v41[l] - v49;
      const float v68 = v67 * v67;
      const float v69 = v66 + v68;
      const float v71 = v52 * v51;
      const float v72 = run18[l] + v71;
      run19[l] = v69;
      run18[l] = v72;
    }
    run17 = v50;
  }
  for (int c73 = v24; c73 < v16; c73 += 8) {
    const int v74 = c73 + v1;
    const bool v90 = v74 < v16;
    if (v90) {
      const int v75 = v74 * n6;
      const int v76 = v75 + v12;
      float v77[4];
      fw_load_f32x4_ldg(in0 + v76, v77);
      const float v79 = run17 + 1.0f;
      const float v80 = 1.0f / v79;
      const float v82 = run17 * v80;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v78 = acc20[l] + v77[l];
        acc20[l] = v78;
        const float v81 = v77[l] - run18[l];
        const float v84 = v81 * v82;
        const float v85 = v84 * v81;
        const float v86 = run19[l] + v85;
        const float v88 = v81 * v80;
        const float v89 = run18[l] + v88;
        run19[l] = v86;
        run18[l] = v89;
      }
      run17 = v79;
    }
  }
  float v91[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v91[l] = acc20[l];
  }
  float sum92[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum92[l] = v91[l];
  fw_sum_f32x4_8x32(sum92, fw_scratch0);
  const float v93 = run17;
  float v94[4];
  float v95[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v94[l] = run18[l];
    v95[l] = run19[l];
  }
  const float sum96 = fw_sum_f32_8x32(v93, fw_scratch1);
  float v98[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v98[l] = v94[l] * v93;
  }
  float sum99[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum99[l] = v98[l];
  fw_sum_f32x4_8x32(sum99, fw_scratch0);
  const float v100 = fw_max(sum96, 1.0f);
  float v102[4];
  float v106[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v102[l] = sum99[l] / v100;
    const float v103 = v94[l] - v102[l];
    const float v104 = v103 * v93;
    const float v105 = v104 * v103;
    v106[l] = v95[l] + v105;
  }
  float sum107[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum107[l] = v106[l];
  fw_sum_f32x4_8x32(sum107, fw_scratch1);
  const bool v108 = v1 == 0;
  const int v109 = v6 * n3;
  const int v110 = v109 + v11;
  const int v111 = v110 * 4;
  const bool v112 = v108 && v9;
  if (v112) {
    fw_store_f32x4(part_r0 + v111, sum92);
  }
  if (v112) {
    fw_store_f32x4(part_r1 + v111, sum107);
    const float constant1[4] = {sum96, sum96, sum96, sum96};
    fw_store_f32x4(part_r1_count + v111, constant1);
    fw_store_f32x4(part_r1_mean + v111, v102);
  }
}

// combine what chunks have left
extern "C" __global__ void __launch_bounds__(256, 2) batch_norm_split_1(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    const float* __restrict__ in3,
    float* __restrict__ out3,
    float* __restrict__ out4,
    float* __restrict__ out6,
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
    float* __restrict__ part_r0,
    float* __restrict__ part_r1,
    float* __restrict__ part_r1_count,
    float* __restrict__ part_r1_mean,
    float* __restrict__ total_r0,
    float* __restrict__ total_r1,
    int* __restrict__ counters) {
  const int bid1 = blockIdx.x;
  const int tid1 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[256];
  __shared__ __align__(16) unsigned char fw_scratch1[256];
  const int v114 = fw_udiv(tid1, 2);
  const int v115 = v114 * 2;
  const int v116 = tid1 - v115;
  const int v117 = bid1 * 2;
  const int v118 = v117 + v116;
  const bool v119 = v118 < n3;
  const int v120 = n3 + (-1);
  const int v121 = v118 < v120 ? v118 : v120;
  const int v122 = v121 * 4;
  float total123[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total123[l] = 0.0f;
  }
  const int v124 = n1 + (-1);
  for (int t125 = v114; t125 < n1; t125 += 512) {
    const int v126 = t125 * n3;
    const int v127 = v126 + v121;
    const int v128 = v127 * 4;
    float v129[4];
    fw_load_f32x4_ldg(part_r0 + v128, v129);
    const int v130 = t125 + 128;
    const bool v131 = v130 < n1;
    const int v132 = v130 < v124 ? v130 : v124;
    const int v133 = v132 * n3;
    const int v134 = v133 + v121;
    const int v135 = v134 * 4;
    float v136[4];
    fw_load_f32x4_ldg(part_r0 + v135, v136);
    const int v137 = t125 + 256;
    const bool v138 = v137 < n1;
    const int v139 = v137 < v124 ? v137 : v124;
    const int v140 = v139 * n3;
    const int v141 = v140 + v121;
    const int v142 = v141 * 4;
    float v143[4];
    fw_load_f32x4_ldg(part_r0 + v142, v143);
    const int v144 = t125 + 384;
    const bool v145 = v144 < n1;
    const int v146 = v144 < v124 ? v144 : v124;
    const int v147 = v146 * n3;
    const int v148 = v147 + v121;
    const int v149 = v148 * 4;
    float v150[4];
    fw_load_f32x4_ldg(part_r0 + v149, v150);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v151 = total123[l] + v129[l];
      total123[l] = v151;
      const float v153 = v131 ? v136[l] : 0.0f;
      const float v154 = total123[l] + v153;
      total123[l] = v154;
      const float v156 = v138 ? v143[l] : 0.0f;
      const float v157 = total123[l] + v156;
      total123[l] = v157;
      const float v159 = v145 ? v150[l] : 0.0f;
      const float v160 = total123[l] + v159;
      total123[l] = v160;
    }
  }
  float v161[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v161[l] = total123[l];
  }
  float sum162[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum162[l] = v161[l];
  fw_sum_f32x4_128x2(sum162, fw_scratch0);
  float total163[4];
  float total164[4];
  float total165[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total163[l] = 0.0f;
    total164[l] = 0.0f;
    total165[l] = 0.0f;
  }
  for (int t166 = v114; t166 < n1; t166 += 256) {
    const int v167 = t166 * n3;
    const int v168 = v167 + v121;
    const int v169 = v168 * 4;
    float v170[4];
    fw_load_f32x4_ldg(part_r1_count + v169, v170);
    float v171[4];
    fw_load_f32x4_ldg(part_r1_mean + v169, v171);
    float v172[4];
    fw_load_f32x4_ldg(part_r1 + v169, v172);
    const int v173 = t166 + 128;
    const bool v174 = v173 < n1;
    const int v175 = v173 < v124 ? v173 : v124;
    const int v176 = v175 * n3;
    const int v177 = v176 + v121;
    const int v178 = v177 * 4;
    float v179[4];
    fw_load_f32x4_ldg(part_r1_count + v178, v179);
    float v180[4];
    fw_load_f32x4_ldg(part_r1_mean + v178, v180);
    float v181[4];
    fw_load_f32x4_ldg(part_r1 + v178, v181);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v182 = v170[l] * v171[l];
      const bool v183 = v170[l] > 0.0f;
      const float v184 = v183 ? v182 : 0.0f;
      const float v185 = total163[l] + v170[l];
      total163[l] = v185;
      const float v186 = total164[l] + v184;
      total164[l] = v186;
      const float v188 = v174 ? v179[l] : 0.0f;
      const float v189 = v188 * v180[l];
      const bool v190 = v188 > 0.0f;
      const float v191 = v190 ? v189 : 0.0f;
      const float v192 = total163[l] + v188;
      total163[l] = v192;
      const float v193 = total164[l] + v191;
      total164[l] = v193;
    }
  }
  float v194[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v194[l] = total163[l];
  }
  float sum195[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum195[l] = v194[l];
  fw_sum_f32x4_128x2(sum195, fw_scratch1);
  float v196[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v196[l] = total164[l];
  }
  float sum197[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum197[l] = v196[l];
  fw_sum_f32x4_128x2(sum197, fw_scratch0);
  float v199[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v198 = fw_max(sum195[l], 1.0f);
    v199[l] = sum197[l] / v198;
  }
  for (int t200 = v114; t200 < n1; t200 += 256) {
    const int v201 = t200 * n3;
    const int v202 = v201 + v121;
    const int v203 = v202 * 4;
    float v204[4];
    fw_load_f32x4_ldg(part_r1_count + v203, v204);
    float v205[4];
    fw_load_f32x4_ldg(part_r1_mean + v203, v205);
    float v206[4];
    fw_load_f32x4_ldg(part_r1 + v203, v206);
    const int v207 = t200 + 128;
    const bool v208 = v207 < n1;
    const int v209 = v207 < v124 ? v207 : v124;
    const int v210 = v209 * n3;
    const int v211 = v210 + v121;
    const int v212 = v211 * 4;
    float v213[4];
    fw_load_f32x4_ldg(part_r1_count + v212, v213);
    float v214[4];
    fw_load_f32x4_ldg(part_r1_mean + v212, v214);
    float v215[4];
    fw_load_f32x4_ldg(part_r1 + v212, v215);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v216 = v205[l] - v199[l];
      const float v217 = v216 * v204[l];
      const float v218 = v217 * v216;
      const float v219 = v206[l] + v218;
      const float v220 = total165[l] + v219;
      total165[l] = v220;
      const float v221 = v214[l] - v199[l];
      const float v222 = v221 * v213[l];
      const float v223 = v222 * v221;
      const float v224 = v215[l] + v223;
      const float v226 = v208 ? v224 : 0.0f;
      const float v227 = total165[l] + v226;
      total165[l] = v227;
    }
  }
  float v228[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v228[l] = total165[l];
  }
  float sum229[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum229[l] = v228[l];
  fw_sum_f32x4_128x2(sum229, fw_scratch1);
  const long long v230 = (long long)n9;
  const float v231 = (float)v230;
  float v237[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v233 = sum162[l] / v231;
    const float v234 = v199[l] - v233;
    const float v235 = v234 * sum195[l];
    const float v236 = v235 * v234;
    v237[l] = sum229[l] + v236;
  }
  const bool v238 = v114 == 0;
  const bool v239 = v238 && v119;
  if (v239) {
    fw_store_f32x4(total_r0 + v122, sum162);
    fw_store_f32x4(total_r1 + v122, v237);
  }
}

// pass 1 over the columns
extern "C" __global__ void __launch_bounds__(256, 4) batch_norm_split_2(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    const float* __restrict__ in3,
    float* __restrict__ out3,
    float* __restrict__ out4,
    float* __restrict__ out6,
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
    float* __restrict__ part_r0,
    float* __restrict__ part_r1,
    float* __restrict__ part_r1_count,
    float* __restrict__ part_r1_mean,
    float* __restrict__ total_r0,
    float* __restrict__ total_r1,
    int* __restrict__ counters) {
  const int bid2 = blockIdx.x;
  const int tid2 = threadIdx.x;
  const int v240 = fw_udiv(tid2, 32);
  const int v241 = v240 * 32;
  const int v242 = tid2 - v241;
  const int v243 = fw_udiv(bid2, n1);
  const int v244 = v243 * n1;
  const int v245 = bid2 - v244;
  const int v246 = v243 * 32;
  const int v247 = v246 + v242;
  const bool v248 = v247 < n3;
  const int v249 = n3 + (-1);
  const int v250 = v247 < v249 ? v247 : v249;
  const int v251 = v250 * 4;
  float v252[4];
  fw_load_f32x4_ldg(total_r0 + v251, v252);
  float v253[4];
  fw_load_f32x4_ldg(total_r1 + v251, v253);
  const int v254 = v245 * n5;
  const int v255 = v254 < n4 ? v254 : n4;
  const int v256 = v255 + n5;
  const int v257 = v256 < n4 ? v256 : n4;
  const int v258 = v255 + v257;
  const int v259 = v258 + (-1);
  const int v260 = v257 - v255;
  const int v261 = fw_udiv(v260, 32);
  const int v262 = v261 * 32;
  const int v263 = v255 + v262;
  const long long v276 = (long long)n9;
  const float v277 = (float)v276;
  float v279[4];
  float v283[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v279[l] = v252[l] / v277;
    const float v281 = v253[l] / v277;
    const float v282 = v281 + 1.0e-05f;
    v283[l] = ::rsqrtf(v282);
  }
  float v285[4];
  fw_load_f32x4_ldg(in1 + v251, v285);
  float v287[4];
  fw_load_f32x4_ldg(in2 + v251, v287);
  for (int c264 = v255; c264 < v263; c264 += 32) {
    const int v265 = c264 + v240;
    const int v266 = v259 - v265;
    const int v267 = v265 + 8;
    const int v268 = v259 - v267;
    const int v269 = v265 + 16;
    const int v270 = v259 - v269;
    const int v271 = v265 + 24;
    const int v272 = v259 - v271;
    const int v273 = v266 * n6;
    const int v274 = v273 + v251;
    float v275[4];
    fw_load_f32x4_ldg(in0 + v274, v275);
    const int v289 = v268 * n6;
    const int v290 = v289 + v251;
    float v291[4];
    fw_load_f32x4_ldg(in0 + v290, v291);
    const int v296 = v270 * n6;
    const int v297 = v296 + v251;
    float v298[4];
    fw_load_f32x4_ldg(in0 + v297, v298);
    const int v303 = v272 * n6;
    const int v304 = v303 + v251;
    float v305[4];
    fw_load_f32x4_ldg(in0 + v304, v305);
    float v288[4];
    float v295[4];
    float v302[4];
    float v309[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v280 = v275[l] - v279[l];
      const float v284 = v280 * v283[l];
      const float v286 = v284 * v285[l];
      v288[l] = v286 + v287[l];
      const float v292 = v291[l] - v279[l];
      const float v293 = v292 * v283[l];
      const float v294 = v293 * v285[l];
      v295[l] = v294 + v287[l];
      const float v299 = v298[l] - v279[l];
      const float v300 = v299 * v283[l];
      const float v301 = v300 * v285[l];
      v302[l] = v301 + v287[l];
      const float v306 = v305[l] - v279[l];
      const float v307 = v306 * v283[l];
      const float v308 = v307 * v285[l];
      v309[l] = v308 + v287[l];
    }
    const int v310 = v266 * n10;
    const int v311 = v310 + v251;
    if (v248) {
      fw_store_f32x4(out3 + v311, v288);
    }
    const int v312 = v268 * n10;
    const int v313 = v312 + v251;
    if (v248) {
      fw_store_f32x4(out3 + v313, v295);
    }
    const int v314 = v270 * n10;
    const int v315 = v314 + v251;
    if (v248) {
      fw_store_f32x4(out3 + v315, v302);
    }
    const int v316 = v272 * n10;
    const int v317 = v316 + v251;
    if (v248) {
      fw_store_f32x4(out3 + v317, v309);
    }
  }
  for (int c318 = v263; c318 < v257; c318 += 8) {
    const int v319 = c318 + v240;
    const bool v330 = v319 < v257;
    if (v330) {
      const int v320 = v259 - v319;
      const int v321 = v320 * n6;
      const int v322 = v321 + v251;
      float v323[4];
      fw_load_f32x4_ldg(in0 + v322, v323);
      float v327[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v324 = v323[l] - v279[l];
        const float v325 = v324 * v283[l];
        const float v326 = v325 * v285[l];
        v327[l] = v326 + v287[l];
      }
      const int v328 = v320 * n10;
      const int v329 = v328 + v251;
      if (v248) {
        fw_store_f32x4(out3 + v329, v327);
      }
    }
  }
  const bool v331 = v240 == 0;
  const int v332 = (int)((unsigned)v245 * (unsigned)n3);
  const int v333 = (int)((unsigned)v332 + (unsigned)v250);
  const int v334 = (int)((unsigned)v333 * (unsigned)4);
  const bool last335 = fw_last(counters + v243, (int)n1);
  if (last335) {
    const int v336 = fw_udiv(tid2, 32);
    const int v337 = v336 * 32;
    const int v338 = tid2 - v337;
    const int v339 = v243 * 32;
    const int v340 = v339 + v338;
    const bool v341 = v340 < n3;
    const int v342 = n3 + (-1);
    const int v343 = v340 < v342 ? v340 : v342;
    const int v344 = v343 * 4;
    float v345[4];
    fw_load_f32x4_ldg(total_r0 + v344, v345);
    float v346[4];
    fw_load_f32x4_ldg(total_r1 + v344, v346);
    const bool v347 = v336 == 0;
    const long long v348 = (long long)n9;
    const float v349 = (float)v348;
    float v353[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v351 = v346[l] / v349;
      const float v352 = v351 + 1.0e-05f;
      v353[l] = ::rsqrtf(v352);
    }
    const bool v354 = v347 && v341;
    if (v354) {
      fw_store_f32x4(out4 + v344, v353);
    }
    float v355[4];
    fw_load_f32x4_ldg(in3 + v344, v355);
    float v359[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v356 = v355[l] * 0.9f;
      const float v357 = v345[l] / v349;
      const float v358 = v357 * 0.1f;
      v359[l] = v356 + v358;
    }
    if (v354) {
      fw_store_f32x4(out6 + v344, v359);
    }
  }
}
