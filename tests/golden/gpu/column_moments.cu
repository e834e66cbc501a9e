// column_moments, made by Fusewright

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

// sum over groups of 32 threads that are 8 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_32x8(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    #pragma unroll
    for (int d = 8; d <= 16; d *= 2) {
      const float y = __shfl_xor_sync(0xffffffffu, x, d);
      x = x + y;
    }
    if (t % 32 < 8) s[t / 32 * 8 + t % 32 + l * 64] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const unsigned mine = t / 32 * 8 + t % 8;
    const unsigned first = mine % 8 + l * 64;
    float y[8];
    #pragma unroll
    for (int j = 0; j < 8; ++j) y[j] = s[first + j * 8];
    #pragma unroll
    for (int j = 0; j < 8; j += 2) y[j] = y[j] + y[j + 1];
    #pragma unroll
    for (int j = 0; j < 8; j += 4) y[j] = y[j] + y[j + 2];
    x = y[0] + y[4];
    v[l] = x;
  }
}

// sum over groups of 32 threads that are 8 apart
__device__ __forceinline__ float fw_sum_f32_32x8(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 8; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 8) s[t / 32 * 8 + t % 32] = x;
  __syncthreads();
  const unsigned mine = t / 32 * 8 + t % 8;
  const unsigned first = mine % 8;
  float y[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) y[j] = s[first + j * 8];
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

__device__ __forceinline__ void fw_fetch_f32x4_ldcg(const float* p, unsigned* w) {
  const uint4 a0 = __ldcg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_load_f32x4_ldcg(const float* p, float* v) {
  unsigned w[4];
  fw_fetch_f32x4_ldcg(p, w);
  fw_unpack_f32x4(w, v);
}

// pass 0 over the columns
extern "C" __global__ void __launch_bounds__(256, 4) column_moments_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    float* __restrict__ part_r0,
    float* __restrict__ part_r1,
    float* __restrict__ part_r1_count,
    float* __restrict__ part_r1_mean,
    int* __restrict__ counters) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[1024];
  __shared__ __align__(16) unsigned char fw_scratch1[1024];
  const int v1 = fw_udiv(tid0, 8);
  const int v2 = v1 * 8;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, n1);
  const int v5 = v4 * n1;
  const int v6 = bid0 - v5;
  const int v7 = v4 * 8;
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
  float sum21[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    run18[l] = 0.0f;
    run19[l] = 0.0f;
    acc20[l] = 0.0f;
    sum21[l] = 0.0f;
  }
  const int v22 = v16 - v14;
  const int v23 = fw_udiv(v22, 128);
  const int v24 = v23 * 128;
  const int v25 = v14 + v24;
  for (int b27 = v14; b27 < v25; b27 += 2048) {
    const int v28 = b27 + 2048;
    const int v29 = v28 < v25 ? v28 : v25;
    for (int c26 = b27; c26 < v29; c26 += 128) {
      const int v30 = c26 + v1;
      const int v31 = v30 + 32;
      const int v32 = v30 + 64;
      const int v33 = v30 + 96;
      const int v34 = v30 * n6;
      const int v35 = v34 + v12;
      float v36[4];
      fw_load_f32x4_ldg(in0 + v35, v36);
      const int v37 = v31 * n6;
      const int v38 = v37 + v12;
      float v39[4];
      fw_load_f32x4_ldg(in0 + v38, v39);
      const int v40 = v32 * n6;
      const int v41 = v40 + v12;
      float v42[4];
      fw_load_f32x4_ldg(in0 + v41, v42);
      const int v43 = v33 * n6;
      const int v44 = v43 + v12;
      float v45[4];
      fw_load_f32x4_ldg(in0 + v44, v45);
      const float v54 = run17 + 4.0f;
      const float v55 = 4.0f / v54;
      const float v57 = run17 * v55;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v46 = acc20[l] + v36[l];
        acc20[l] = v46;
        const float v47 = acc20[l] + v39[l];
        acc20[l] = v47;
        const float v48 = acc20[l] + v42[l];
        acc20[l] = v48;
        const float v49 = acc20[l] + v45[l];
        acc20[l] = v49;
        const float v50 = v36[l] + v39[l];
        const float v51 = v50 + v42[l];
        const float v52 = v51 + v45[l];
        const float v53 = v52 * 0.25f;
        const float v56 = v53 - run18[l];
        const float v59 = v56 * v57;
        const float v60 = v59 * v56;
        const float v61 = run19[l] + v60;
        const float v62 = v36[l] - v53;
        const float v63 = v62 * v62;
        const float v64 = v61 + v63;
        const float v65 = v39[l] - v53;
        const float v66 = v65 * v65;
        const float v67 = v64 + v66;
        const float v68 = v42[l] - v53;
        const float v69 = v68 * v68;
        const float v70 = v67 + v69;
        const float v71 = v45[l] - v53;
        const float v72 = v71 * v71;
        const float v73 = v70 + v72;
        const float v75 = v56 * v55;
        const float v76 = run18[l] + v75;
        run19[l] = v73;
        run18[l] = v76;
      }
      run17 = v54;
    }
    const int v77 = (int)((unsigned)v29 - (unsigned)b27);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v78 = acc20[l];
      const float v79 = sum21[l] + v78;
      sum21[l] = v79;
      acc20[l] = 0.0f;
    }
  }
  for (int c80 = v25; c80 < v16; c80 += 32) {
    const int v81 = c80 + v1;
    const bool v97 = v81 < v16;
    if (v97) {
      const int v82 = v81 * n6;
      const int v83 = v82 + v12;
      float v84[4];
      fw_load_f32x4_ldg(in0 + v83, v84);
      const float v86 = run17 + 1.0f;
      const float v87 = 1.0f / v86;
      const float v89 = run17 * v87;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v85 = acc20[l] + v84[l];
        acc20[l] = v85;
        const float v88 = v84[l] - run18[l];
        const float v91 = v88 * v89;
        const float v92 = v91 * v88;
        const float v93 = run19[l] + v92;
        const float v95 = v88 * v87;
        const float v96 = run18[l] + v95;
        run19[l] = v93;
        run18[l] = v96;
      }
      run17 = v86;
    }
  }
  float v100[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v98 = acc20[l];
    const float v99 = sum21[l] + v98;
    sum21[l] = v99;
    v100[l] = sum21[l];
  }
  float sum101[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum101[l] = v100[l];
  fw_sum_f32x4_32x8(sum101, fw_scratch0);
  const float v102 = run17;
  float v103[4];
  float v104[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v103[l] = run18[l];
    v104[l] = run19[l];
  }
  const float sum105 = fw_sum_f32_32x8(v102, fw_scratch1);
  float v107[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v107[l] = v103[l] * v102;
  }
  float sum108[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum108[l] = v107[l];
  fw_sum_f32x4_32x8(sum108, fw_scratch0);
  const float v109 = fw_max(sum105, 1.0f);
  float v111[4];
  float v115[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v111[l] = sum108[l] / v109;
    const float v112 = v103[l] - v111[l];
    const float v113 = v112 * v102;
    const float v114 = v113 * v112;
    v115[l] = v104[l] + v114;
  }
  float sum116[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum116[l] = v115[l];
  fw_sum_f32x4_32x8(sum116, fw_scratch1);
  const bool v117 = v1 == 0;
  const int v118 = v6 * n3;
  const int v119 = v118 + v11;
  const int v120 = v119 * 4;
  const bool v121 = v117 && v9;
  if (v121) {
    fw_store_f32x4(part_r0 + v120, sum101);
  }
  if (v121) {
    fw_store_f32x4(part_r1 + v120, sum116);
    const float constant1[4] = {sum105, sum105, sum105, sum105};
    fw_store_f32x4(part_r1_count + v120, constant1);
    fw_store_f32x4(part_r1_mean + v120, v111);
  }
  const bool last123 = fw_last(counters + v4, (int)n1);
  if (last123) {
    const int v124 = fw_udiv(tid0, 8);
    const int v125 = v124 * 8;
    const int v126 = tid0 - v125;
    const int v127 = v4 * 8;
    const int v128 = v127 + v126;
    const bool v129 = v128 < n3;
    const int v130 = n3 + (-1);
    const int v131 = v128 < v130 ? v128 : v130;
    const int v132 = v131 * 4;
    float total133[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total133[l] = 0.0f;
    }
    const int v134 = n1 + (-1);
    for (int t135 = v124; t135 < n1; t135 += 128) {
      const int v136 = t135 * n3;
      const int v137 = v136 + v131;
      const int v138 = v137 * 4;
      float v139[4];
      fw_load_f32x4_ldcg(part_r0 + v138, v139);
      const int v140 = t135 + 32;
      const bool v141 = v140 < n1;
      const int v142 = v140 < v134 ? v140 : v134;
      const int v143 = v142 * n3;
      const int v144 = v143 + v131;
      const int v145 = v144 * 4;
      float v146[4];
      fw_load_f32x4_ldcg(part_r0 + v145, v146);
      const int v147 = t135 + 64;
      const bool v148 = v147 < n1;
      const int v149 = v147 < v134 ? v147 : v134;
      const int v150 = v149 * n3;
      const int v151 = v150 + v131;
      const int v152 = v151 * 4;
      float v153[4];
      fw_load_f32x4_ldcg(part_r0 + v152, v153);
      const int v154 = t135 + 96;
      const bool v155 = v154 < n1;
      const int v156 = v154 < v134 ? v154 : v134;
      const int v157 = v156 * n3;
      const int v158 = v157 + v131;
      const int v159 = v158 * 4;
      float v160[4];
      fw_load_f32x4_ldcg(part_r0 + v159, v160);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v161 = total133[l] + v139[l];
        total133[l] = v161;
        const float v163 = v141 ? v146[l] : 0.0f;
        const float v164 = total133[l] + v163;
        total133[l] = v164;
        const float v166 = v148 ? v153[l] : 0.0f;
        const float v167 = total133[l] + v166;
        total133[l] = v167;
        const float v169 = v155 ? v160[l] : 0.0f;
        const float v170 = total133[l] + v169;
        total133[l] = v170;
      }
    }
    float v171[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v171[l] = total133[l];
    }
    float sum172[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum172[l] = v171[l];
    fw_sum_f32x4_32x8(sum172, fw_scratch0);
    float total173[4];
    float total174[4];
    float total175[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total173[l] = 0.0f;
      total174[l] = 0.0f;
      total175[l] = 0.0f;
    }
    for (int t176 = v124; t176 < n1; t176 += 64) {
      const int v177 = t176 * n3;
      const int v178 = v177 + v131;
      const int v179 = v178 * 4;
      float v180[4];
      fw_load_f32x4_ldcg(part_r1_count + v179, v180);
      float v181[4];
      fw_load_f32x4_ldcg(part_r1_mean + v179, v181);
      float v182[4];
      fw_load_f32x4_ldcg(part_r1 + v179, v182);
      const int v183 = t176 + 32;
      const bool v184 = v183 < n1;
      const int v185 = v183 < v134 ? v183 : v134;
      const int v186 = v185 * n3;
      const int v187 = v186 + v131;
      const int v188 = v187 * 4;
      float v189[4];
      fw_load_f32x4_ldcg(part_r1_count + v188, v189);
      float v190[4];
      fw_load_f32x4_ldcg(part_r1_mean + v188, v190);
      float v191[4];
      fw_load_f32x4_ldcg(part_r1 + v188, v191);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v192 = v180[l] * v181[l];
        const bool v193 = v180[l] > 0.0f;
        const float v194 = v193 ? v192 : 0.0f;
        const float v195 = total173[l] + v180[l];
        total173[l] = v195;
        const float v196 = total174[l] + v194;
        total174[l] = v196;
        const float v198 = v184 ? v189[l] : 0.0f;
        const float v199 = v198 * v190[l];
        const bool v200 = v198 > 0.0f;
        const float v201 = v200 ? v199 : 0.0f;
        const float v202 = total173[l] + v198;
        total173[l] = v202;
        const float v203 = total174[l] + v201;
        total174[l] = v203;
      }
    }
    float v204[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v204[l] = total173[l];
    }
    float sum205[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum205[l] = v204[l];
    fw_sum_f32x4_32x8(sum205, fw_scratch1);
    float v206[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v206[l] = total174[l];
    }
    float sum207[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum207[l] = v206[l];
    fw_sum_f32x4_32x8(sum207, fw_scratch0);
    float v209[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v208 = fw_max(sum205[l], 1.0f);
      v209[l] = sum207[l] / v208;
    }
    for (int t210 = v124; t210 < n1; t210 += 64) {
      const int v211 = t210 * n3;
      const int v212 = v211 + v131;
      const int v213 = v212 * 4;
      float v214[4];
      fw_load_f32x4_ldcg(part_r1_count + v213, v214);
      float v215[4];
      fw_load_f32x4_ldcg(part_r1_mean + v213, v215);
      float v216[4];
      fw_load_f32x4_ldcg(part_r1 + v213, v216);
      const int v217 = t210 + 32;
      const bool v218 = v217 < n1;
      const int v219 = v217 < v134 ? v217 : v134;
      const int v220 = v219 * n3;
      const int v221 = v220 + v131;
      const int v222 = v221 * 4;
      float v223[4];
      fw_load_f32x4_ldcg(part_r1_count + v222, v223);
      float v224[4];
      fw_load_f32x4_ldcg(part_r1_mean + v222, v224);
      float v225[4];
      fw_load_f32x4_ldcg(part_r1 + v222, v225);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v226 = v215[l] - v209[l];
        const float v227 = v226 * v214[l];
        const float v228 = v227 * v226;
        const float v229 = v216[l] + v228;
        const float v230 = total175[l] + v229;
        total175[l] = v230;
        const float v231 = v224[l] - v209[l];
        const float v232 = v231 * v223[l];
        const float v233 = v232 * v231;
        const float v234 = v225[l] + v233;
        const float v236 = v218 ? v234 : 0.0f;
        const float v237 = total175[l] + v236;
        total175[l] = v237;
      }
    }
    float v238[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v238[l] = total175[l];
    }
    float sum239[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum239[l] = v238[l];
    fw_sum_f32x4_32x8(sum239, fw_scratch1);
    const long long v240 = (long long)n8;
    const float v241 = (float)v240;
    const float v242 = ::fabsf(v241);
    const bool v243 = v242 < 7.888609e-31f;
    const float v244 = v243 ? 1.8446744e+19f : 1.0f;
    const float v245 = v241 * v244;
    const float v246 = 1.0f / v245;
    float v263[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v248 = sum172[l] * v246;
      const float v249 = ::fabsf(v248);
      const bool v250 = v249 > 0.0f;
      const bool v251 = v249 < fw_inff;
      const bool v252 = v250 && v251;
      const float v253 = -v248;
      const float v255 = ::fmaf(v253, v245, sum172[l]);
      const float v256 = ::fmaf(v255, v246, v248);
      const float v257 = v252 ? v256 : v248;
      const float v259 = v257 * v244;
      const float v260 = v209[l] - v259;
      const float v261 = v260 * sum205[l];
      const float v262 = v261 * v260;
      v263[l] = sum239[l] + v262;
    }
    const bool v264 = v124 == 0;
    const bool v265 = v264 && v129;
    if (v265) {
      fw_store_f32x4(out1 + v132, v263);
    }
  }
}
