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
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v77 = acc20[l];
      const float v78 = sum21[l] + v77;
      sum21[l] = v78;
      acc20[l] = 0.0f;
    }
  }
  for (int c79 = v25; c79 < v16; c79 += 32) {
    const int v80 = c79 + v1;
    const bool v96 = v80 < v16;
    if (v96) {
      const int v81 = v80 * n6;
      const int v82 = v81 + v12;
      float v83[4];
      fw_load_f32x4_ldg(in0 + v82, v83);
      const float v85 = run17 + 1.0f;
      const float v86 = 1.0f / v85;
      const float v88 = run17 * v86;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v84 = acc20[l] + v83[l];
        acc20[l] = v84;
        const float v87 = v83[l] - run18[l];
        const float v90 = v87 * v88;
        const float v91 = v90 * v87;
        const float v92 = run19[l] + v91;
        const float v94 = v87 * v86;
        const float v95 = run18[l] + v94;
        run19[l] = v92;
        run18[l] = v95;
      }
      run17 = v85;
    }
  }
  float v99[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v97 = acc20[l];
    const float v98 = sum21[l] + v97;
    sum21[l] = v98;
    v99[l] = sum21[l];
  }
  float sum100[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum100[l] = v99[l];
  fw_sum_f32x4_32x8(sum100, fw_scratch0);
  const float v101 = run17;
  float v102[4];
  float v103[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v102[l] = run18[l];
    v103[l] = run19[l];
  }
  const float sum104 = fw_sum_f32_32x8(v101, fw_scratch1);
  float v106[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v106[l] = v102[l] * v101;
  }
  float sum107[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum107[l] = v106[l];
  fw_sum_f32x4_32x8(sum107, fw_scratch0);
  const float v108 = fw_max(sum104, 1.0f);
  float v110[4];
  float v114[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v110[l] = sum107[l] / v108;
    const float v111 = v102[l] - v110[l];
    const float v112 = v111 * v101;
    const float v113 = v112 * v111;
    v114[l] = v103[l] + v113;
  }
  float sum115[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum115[l] = v114[l];
  fw_sum_f32x4_32x8(sum115, fw_scratch1);
  const bool v116 = v1 == 0;
  const int v117 = v6 * n3;
  const int v118 = v117 + v11;
  const int v119 = v118 * 4;
  const bool v121 = v116 && v9;
  if (v121) {
    fw_store_f32x4(part_r0 + v119, sum100);
    fw_store_f32x4(part_r1 + v119, sum115);
    const float constant1[4] = {sum104, sum104, sum104, sum104};
    fw_store_f32x4(part_r1_count + v119, constant1);
    fw_store_f32x4(part_r1_mean + v119, v110);
  }
  const bool last122 = fw_last(counters + v4, (int)n1);
  if (last122) {
    const int v123 = fw_udiv(tid0, 8);
    const int v124 = v123 * 8;
    const int v125 = tid0 - v124;
    const int v126 = v4 * 8;
    const int v127 = v126 + v125;
    const bool v128 = v127 < n3;
    const int v129 = n3 + (-1);
    const int v130 = v127 < v129 ? v127 : v129;
    const int v131 = v130 * 4;
    float total132[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total132[l] = 0.0f;
    }
    const int v133 = n1 + (-1);
    for (int t134 = v123; t134 < n1; t134 += 128) {
      const int v135 = t134 * n3;
      const int v136 = v135 + v130;
      const int v137 = v136 * 4;
      float v138[4];
      fw_load_f32x4_ldcg(part_r0 + v137, v138);
      const int v139 = t134 + 32;
      const bool v140 = v139 < n1;
      const int v141 = v139 < v133 ? v139 : v133;
      const int v142 = v141 * n3;
      const int v143 = v142 + v130;
      const int v144 = v143 * 4;
      float v145[4];
      fw_load_f32x4_ldcg(part_r0 + v144, v145);
      const int v146 = t134 + 64;
      const bool v147 = v146 < n1;
      const int v148 = v146 < v133 ? v146 : v133;
      const int v149 = v148 * n3;
      const int v150 = v149 + v130;
      const int v151 = v150 * 4;
      float v152[4];
      fw_load_f32x4_ldcg(part_r0 + v151, v152);
      const int v153 = t134 + 96;
      const bool v154 = v153 < n1;
      const int v155 = v153 < v133 ? v153 : v133;
      const int v156 = v155 * n3;
      const int v157 = v156 + v130;
      const int v158 = v157 * 4;
      float v159[4];
      fw_load_f32x4_ldcg(part_r0 + v158, v159);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v160 = total132[l] + v138[l];
        total132[l] = v160;
        const float v162 = v140 ? v145[l] : 0.0f;
        const float v163 = total132[l] + v162;
        total132[l] = v163;
        const float v165 = v147 ? v152[l] : 0.0f;
        const float v166 = total132[l] + v165;
        total132[l] = v166;
        const float v168 = v154 ? v159[l] : 0.0f;
        const float v169 = total132[l] + v168;
        total132[l] = v169;
      }
    }
    float v170[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v170[l] = total132[l];
    }
    float sum171[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum171[l] = v170[l];
    fw_sum_f32x4_32x8(sum171, fw_scratch0);
    float total172[4];
    float total173[4];
    float total174[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total172[l] = 0.0f;
      total173[l] = 0.0f;
      total174[l] = 0.0f;
    }
    for (int t175 = v123; t175 < n1; t175 += 64) {
      const int v176 = t175 * n3;
      const int v177 = v176 + v130;
      const int v178 = v177 * 4;
      float v179[4];
      fw_load_f32x4_ldcg(part_r1_count + v178, v179);
      float v180[4];
      fw_load_f32x4_ldcg(part_r1_mean + v178, v180);
      float v181[4];
      fw_load_f32x4_ldcg(part_r1 + v178, v181);
      const int v182 = t175 + 32;
      const bool v183 = v182 < n1;
      const int v184 = v182 < v133 ? v182 : v133;
      const int v185 = v184 * n3;
      const int v186 = v185 + v130;
      const int v187 = v186 * 4;
      float v188[4];
      fw_load_f32x4_ldcg(part_r1_count + v187, v188);
      float v189[4];
      fw_load_f32x4_ldcg(part_r1_mean + v187, v189);
      float v190[4];
      fw_load_f32x4_ldcg(part_r1 + v187, v190);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v191 = v179[l] * v180[l];
        const bool v192 = v179[l] > 0.0f;
        const float v193 = v192 ? v191 : 0.0f;
        const float v194 = total172[l] + v179[l];
        total172[l] = v194;
        const float v195 = total173[l] + v193;
        total173[l] = v195;
        const float v197 = v183 ? v188[l] : 0.0f;
        const float v198 = v197 * v189[l];
        const bool v199 = v197 > 0.0f;
        const float v200 = v199 ? v198 : 0.0f;
        const float v201 = total172[l] + v197;
        total172[l] = v201;
        const float v202 = total173[l] + v200;
        total173[l] = v202;
      }
    }
    float v203[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v203[l] = total172[l];
    }
    float sum204[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum204[l] = v203[l];
    fw_sum_f32x4_32x8(sum204, fw_scratch1);
    float v205[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v205[l] = total173[l];
    }
    float sum206[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum206[l] = v205[l];
    fw_sum_f32x4_32x8(sum206, fw_scratch0);
    float v208[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v207 = fw_max(sum204[l], 1.0f);
      v208[l] = sum206[l] / v207;
    }
    for (int t209 = v123; t209 < n1; t209 += 64) {
      const int v210 = t209 * n3;
      const int v211 = v210 + v130;
      const int v212 = v211 * 4;
      float v213[4];
      fw_load_f32x4_ldcg(part_r1_count + v212, v213);
      float v214[4];
      fw_load_f32x4_ldcg(part_r1_mean + v212, v214);
      float v215[4];
      fw_load_f32x4_ldcg(part_r1 + v212, v215);
      const int v216 = t209 + 32;
      const bool v217 = v216 < n1;
      const int v218 = v216 < v133 ? v216 : v133;
      const int v219 = v218 * n3;
      const int v220 = v219 + v130;
      const int v221 = v220 * 4;
      float v222[4];
      fw_load_f32x4_ldcg(part_r1_count + v221, v222);
      float v223[4];
      fw_load_f32x4_ldcg(part_r1_mean + v221, v223);
      float v224[4];
      fw_load_f32x4_ldcg(part_r1 + v221, v224);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v225 = v214[l] - v208[l];
        const float v226 = v225 * v213[l];
        const float v227 = v226 * v225;
        const float v228 = v215[l] + v227;
        const float v229 = total174[l] + v228;
        total174[l] = v229;
        const float v230 = v223[l] - v208[l];
        const float v231 = v230 * v222[l];
        const float v232 = v231 * v230;
        const float v233 = v224[l] + v232;
        const float v235 = v217 ? v233 : 0.0f;
        const float v236 = total174[l] + v235;
        total174[l] = v236;
      }
    }
    float v237[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v237[l] = total174[l];
    }
    float sum238[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum238[l] = v237[l];
    fw_sum_f32x4_32x8(sum238, fw_scratch1);
    const long long v239 = (long long)n8;
    const float v240 = (float)v239;
    const float v241 = ::fabsf(v240);
    const bool v242 = v241 < 7.888609e-31f;
    const float v243 = v242 ? 1.8446744e+19f : 1.0f;
    const float v244 = v240 * v243;
    const float v245 = 1.0f / v244;
    float v262[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v247 = sum171[l] * v245;
      const float v248 = ::fabsf(v247);
      const bool v249 = v248 > 0.0f;
      const bool v250 = v248 < fw_inff;
      const bool v251 = v249 && v250;
      const float v252 = -v247;
      const float v254 = ::fmaf(v252, v244, sum171[l]);
      const float v255 = ::fmaf(v254, v245, v247);
      const float v256 = v251 ? v255 : v247;
      const float v258 = v256 * v243;
      const float v259 = v208[l] - v258;
      const float v260 = v259 * sum204[l];
      const float v261 = v260 * v259;
      v262[l] = sum238[l] + v261;
    }
    const bool v263 = v123 == 0;
    const bool v264 = v263 && v128;
    if (v264) {
      fw_store_f32x4(out1 + v131, v262);
    }
  }
}
