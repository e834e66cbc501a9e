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

#define fw_inff __int_as_float(0x7f800000)

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
  const float v232 = ::fabsf(v231);
  const bool v233 = v232 < 7.888609e-31f;
  const float v234 = v233 ? 1.8446744e+19f : 1.0f;
  const float v235 = v231 * v234;
  const float v236 = 1.0f / v235;
  float v253[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v238 = sum162[l] * v236;
    const float v239 = ::fabsf(v238);
    const bool v240 = v239 > 0.0f;
    const bool v241 = v239 < fw_inff;
    const bool v242 = v240 && v241;
    const float v243 = -v238;
    const float v245 = ::fmaf(v243, v235, sum162[l]);
    const float v246 = ::fmaf(v245, v236, v238);
    const float v247 = v242 ? v246 : v238;
    const float v249 = v247 * v234;
    const float v250 = v199[l] - v249;
    const float v251 = v250 * sum195[l];
    const float v252 = v251 * v250;
    v253[l] = sum229[l] + v252;
  }
  const bool v254 = v114 == 0;
  const bool v255 = v254 && v119;
  if (v255) {
    fw_store_f32x4(total_r0 + v122, sum162);
    fw_store_f32x4(total_r1 + v122, v253);
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
  const int v256 = fw_udiv(tid2, 32);
  const int v257 = v256 * 32;
  const int v258 = tid2 - v257;
  const int v259 = fw_udiv(bid2, n1);
  const int v260 = v259 * n1;
  const int v261 = bid2 - v260;
  const int v262 = v259 * 32;
  const int v263 = v262 + v258;
  const bool v264 = v263 < n3;
  const int v265 = n3 + (-1);
  const int v266 = v263 < v265 ? v263 : v265;
  const int v267 = v266 * 4;
  float v268[4];
  fw_load_f32x4_ldg(total_r0 + v267, v268);
  float v269[4];
  fw_load_f32x4_ldg(total_r1 + v267, v269);
  const int v270 = v261 * n5;
  const int v271 = v270 < n4 ? v270 : n4;
  const int v272 = v271 + n5;
  const int v273 = v272 < n4 ? v272 : n4;
  const int v274 = v271 + v273;
  const int v275 = v274 + (-1);
  const int v276 = v273 - v271;
  const int v277 = fw_udiv(v276, 32);
  const int v278 = v277 * 32;
  const int v279 = v271 + v278;
  const long long v292 = (long long)n9;
  const float v293 = (float)v292;
  const float v294 = ::fabsf(v293);
  const bool v295 = v294 < 7.888609e-31f;
  const float v296 = v295 ? 1.8446744e+19f : 1.0f;
  const float v297 = v293 * v296;
  const float v298 = 1.0f / v297;
  float v311[4];
  float v324[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v300 = v268[l] * v298;
    const float v301 = ::fabsf(v300);
    const bool v302 = v301 > 0.0f;
    const bool v303 = v301 < fw_inff;
    const bool v304 = v302 && v303;
    const float v305 = -v300;
    const float v307 = ::fmaf(v305, v297, v268[l]);
    const float v308 = ::fmaf(v307, v298, v300);
    const float v309 = v304 ? v308 : v300;
    v311[l] = v309 * v296;
    const float v313 = v269[l] * v298;
    const float v314 = ::fabsf(v313);
    const bool v315 = v314 > 0.0f;
    const bool v316 = v314 < fw_inff;
    const bool v317 = v315 && v316;
    const float v318 = -v313;
    const float v319 = ::fmaf(v318, v297, v269[l]);
    const float v320 = ::fmaf(v319, v298, v313);
    const float v321 = v317 ? v320 : v313;
    const float v322 = v321 * v296;
    const float v323 = v322 + 1.0e-05f;
    v324[l] = ::rsqrtf(v323);
  }
  float v326[4];
  fw_load_f32x4_ldg(in1 + v267, v326);
  float v328[4];
  fw_load_f32x4_ldg(in2 + v267, v328);
  for (int c280 = v271; c280 < v279; c280 += 32) {
    const int v281 = c280 + v256;
    const int v282 = v275 - v281;
    const int v283 = v281 + 8;
    const int v284 = v275 - v283;
    const int v285 = v281 + 16;
    const int v286 = v275 - v285;
    const int v287 = v281 + 24;
    const int v288 = v275 - v287;
    const int v289 = v282 * n6;
    const int v290 = v289 + v267;
    float v291[4];
    fw_load_f32x4_ldg(in0 + v290, v291);
    const int v330 = v284 * n6;
    const int v331 = v330 + v267;
    float v332[4];
    fw_load_f32x4_ldg(in0 + v331, v332);
    const int v337 = v286 * n6;
    const int v338 = v337 + v267;
    float v339[4];
    fw_load_f32x4_ldg(in0 + v338, v339);
    const int v344 = v288 * n6;
    const int v345 = v344 + v267;
    float v346[4];
    fw_load_f32x4_ldg(in0 + v345, v346);
    float v329[4];
    float v336[4];
    float v343[4];
    float v350[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v312 = v291[l] - v311[l];
      const float v325 = v312 * v324[l];
      const float v327 = v325 * v326[l];
      v329[l] = v327 + v328[l];
      const float v333 = v332[l] - v311[l];
      const float v334 = v333 * v324[l];
      const float v335 = v334 * v326[l];
      v336[l] = v335 + v328[l];
      const float v340 = v339[l] - v311[l];
      const float v341 = v340 * v324[l];
      const float v342 = v341 * v326[l];
      v343[l] = v342 + v328[l];
      const float v347 = v346[l] - v311[l];
      const float v348 = v347 * v324[l];
      const float v349 = v348 * v326[l];
      v350[l] = v349 + v328[l];
    }
    const int v351 = v282 * n10;
    const int v352 = v351 + v267;
    if (v264) {
      fw_store_f32x4(out3 + v352, v329);
    }
    const int v353 = v284 * n10;
    const int v354 = v353 + v267;
    if (v264) {
      fw_store_f32x4(out3 + v354, v336);
    }
    const int v355 = v286 * n10;
    const int v356 = v355 + v267;
    if (v264) {
      fw_store_f32x4(out3 + v356, v343);
    }
    const int v357 = v288 * n10;
    const int v358 = v357 + v267;
    if (v264) {
      fw_store_f32x4(out3 + v358, v350);
    }
  }
  for (int c359 = v279; c359 < v273; c359 += 8) {
    const int v360 = c359 + v256;
    const bool v371 = v360 < v273;
    if (v371) {
      const int v361 = v275 - v360;
      const int v362 = v361 * n6;
      const int v363 = v362 + v267;
      float v364[4];
      fw_load_f32x4_ldg(in0 + v363, v364);
      float v368[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v365 = v364[l] - v311[l];
        const float v366 = v365 * v324[l];
        const float v367 = v366 * v326[l];
        v368[l] = v367 + v328[l];
      }
      const int v369 = v361 * n10;
      const int v370 = v369 + v267;
      if (v264) {
        fw_store_f32x4(out3 + v370, v368);
      }
    }
  }
  const bool v372 = v256 == 0;
  const int v373 = (int)((unsigned)v261 * (unsigned)n3);
  const int v374 = (int)((unsigned)v373 + (unsigned)v266);
  const int v375 = (int)((unsigned)v374 * (unsigned)4);
  const bool last376 = fw_last(counters + v259, (int)n1);
  if (last376) {
    const int v377 = fw_udiv(tid2, 32);
    const int v378 = v377 * 32;
    const int v379 = tid2 - v378;
    const int v380 = v259 * 32;
    const int v381 = v380 + v379;
    const bool v382 = v381 < n3;
    const int v383 = n3 + (-1);
    const int v384 = v381 < v383 ? v381 : v383;
    const int v385 = v384 * 4;
    float v386[4];
    fw_load_f32x4_ldg(total_r0 + v385, v386);
    float v387[4];
    fw_load_f32x4_ldg(total_r1 + v385, v387);
    const bool v388 = v377 == 0;
    const long long v389 = (long long)n9;
    const float v390 = (float)v389;
    const float v391 = ::fabsf(v390);
    const bool v392 = v391 < 7.888609e-31f;
    const float v393 = v392 ? 1.8446744e+19f : 1.0f;
    const float v394 = v390 * v393;
    const float v395 = 1.0f / v394;
    float v410[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v397 = v387[l] * v395;
      const float v398 = ::fabsf(v397);
      const bool v399 = v398 > 0.0f;
      const bool v400 = v398 < fw_inff;
      const bool v401 = v399 && v400;
      const float v402 = -v397;
      const float v404 = ::fmaf(v402, v394, v387[l]);
      const float v405 = ::fmaf(v404, v395, v397);
      const float v406 = v401 ? v405 : v397;
      const float v408 = v406 * v393;
      const float v409 = v408 + 1.0e-05f;
      v410[l] = ::rsqrtf(v409);
    }
    const bool v411 = v388 && v382;
    if (v411) {
      fw_store_f32x4(out4 + v385, v410);
    }
    float v412[4];
    fw_load_f32x4_ldg(in3 + v385, v412);
    float v425[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v413 = v412[l] * 0.9f;
      const float v414 = v386[l] * v395;
      const float v415 = ::fabsf(v414);
      const bool v416 = v415 > 0.0f;
      const bool v417 = v415 < fw_inff;
      const bool v418 = v416 && v417;
      const float v419 = -v414;
      const float v420 = ::fmaf(v419, v394, v386[l]);
      const float v421 = ::fmaf(v420, v395, v414);
      const float v422 = v418 ? v421 : v414;
      const float v423 = v422 * v393;
      const float v424 = v423 * 0.1f;
      v425[l] = v413 + v424;
    }
    if (v411) {
      fw_store_f32x4(out6 + v385, v425);
    }
  }
}
