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
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    run18[l] = 0.0f;
    run19[l] = 0.0f;
    acc20[l] = 0.0f;
  }
  const int v21 = v16 - v14;
  const int v22 = fw_udiv(v21, 128);
  const int v23 = v22 * 128;
  const int v24 = v14 + v23;
  for (int c25 = v14; c25 < v24; c25 += 128) {
    const int v26 = c25 + v1;
    const int v27 = v26 + 32;
    const int v28 = v26 + 64;
    const int v29 = v26 + 96;
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
  for (int c73 = v24; c73 < v16; c73 += 32) {
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
  fw_sum_f32x4_32x8(sum92, fw_scratch0);
  const float v93 = run17;
  float v94[4];
  float v95[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v94[l] = run18[l];
    v95[l] = run19[l];
  }
  const float sum96 = fw_sum_f32_32x8(v93, fw_scratch1);
  float v98[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v98[l] = v94[l] * v93;
  }
  float sum99[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum99[l] = v98[l];
  fw_sum_f32x4_32x8(sum99, fw_scratch0);
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
  fw_sum_f32x4_32x8(sum107, fw_scratch1);
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
  const bool last114 = fw_last(counters + v4, (int)n1);
  if (last114) {
    const int v115 = fw_udiv(tid0, 8);
    const int v116 = v115 * 8;
    const int v117 = tid0 - v116;
    const int v118 = v4 * 8;
    const int v119 = v118 + v117;
    const bool v120 = v119 < n3;
    const int v121 = n3 + (-1);
    const int v122 = v119 < v121 ? v119 : v121;
    const int v123 = v122 * 4;
    float total124[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total124[l] = 0.0f;
    }
    const int v125 = n1 + (-1);
    for (int t126 = v115; t126 < n1; t126 += 128) {
      const int v127 = t126 * n3;
      const int v128 = v127 + v122;
      const int v129 = v128 * 4;
      float v130[4];
      fw_load_f32x4_ldcg(part_r0 + v129, v130);
      const int v131 = t126 + 32;
      const bool v132 = v131 < n1;
      const int v133 = v131 < v125 ? v131 : v125;
      const int v134 = v133 * n3;
      const int v135 = v134 + v122;
      const int v136 = v135 * 4;
      float v137[4];
      fw_load_f32x4_ldcg(part_r0 + v136, v137);
      const int v138 = t126 + 64;
      const bool v139 = v138 < n1;
      const int v140 = v138 < v125 ? v138 : v125;
      const int v141 = v140 * n3;
      const int v142 = v141 + v122;
      const int v143 = v142 * 4;
      float v144[4];
      fw_load_f32x4_ldcg(part_r0 + v143, v144);
      const int v145 = t126 + 96;
      const bool v146 = v145 < n1;
      const int v147 = v145 < v125 ? v145 : v125;
      const int v148 = v147 * n3;
      const int v149 = v148 + v122;
      const int v150 = v149 * 4;
      float v151[4];
      fw_load_f32x4_ldcg(part_r0 + v150, v151);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v152 = total124[l] + v130[l];
        total124[l] = v152;
        const float v154 = v132 ? v137[l] : 0.0f;
        const float v155 = total124[l] + v154;
        total124[l] = v155;
        const float v157 = v139 ? v144[l] : 0.0f;
        const float v158 = total124[l] + v157;
        total124[l] = v158;
        const float v160 = v146 ? v151[l] : 0.0f;
        const float v161 = total124[l] + v160;
        total124[l] = v161;
      }
    }
    float v162[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v162[l] = total124[l];
    }
    float sum163[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum163[l] = v162[l];
    fw_sum_f32x4_32x8(sum163, fw_scratch0);
    float total164[4];
    float total165[4];
    float total166[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total164[l] = 0.0f;
      total165[l] = 0.0f;
      total166[l] = 0.0f;
    }
    for (int t167 = v115; t167 < n1; t167 += 64) {
      const int v168 = t167 * n3;
      const int v169 = v168 + v122;
      const int v170 = v169 * 4;
      float v171[4];
      fw_load_f32x4_ldcg(part_r1_count + v170, v171);
      float v172[4];
      fw_load_f32x4_ldcg(part_r1_mean + v170, v172);
      float v173[4];
      fw_load_f32x4_ldcg(part_r1 + v170, v173);
      const int v174 = t167 + 32;
      const bool v175 = v174 < n1;
      const int v176 = v174 < v125 ? v174 : v125;
      const int v177 = v176 * n3;
      const int v178 = v177 + v122;
      const int v179 = v178 * 4;
      float v180[4];
      fw_load_f32x4_ldcg(part_r1_count + v179, v180);
      float v181[4];
      fw_load_f32x4_ldcg(part_r1_mean + v179, v181);
      float v182[4];
      fw_load_f32x4_ldcg(part_r1 + v179, v182);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v183 = v171[l] * v172[l];
        const bool v184 = v171[l] > 0.0f;
        const float v185 = v184 ? v183 : 0.0f;
        const float v186 = total164[l] + v171[l];
        total164[l] = v186;
        const float v187 = total165[l] + v185;
        total165[l] = v187;
        const float v189 = v175 ? v180[l] : 0.0f;
        const float v190 = v189 * v181[l];
        const bool v191 = v189 > 0.0f;
        const float v192 = v191 ? v190 : 0.0f;
        const float v193 = total164[l] + v189;
        total164[l] = v193;
        const float v194 = total165[l] + v192;
        total165[l] = v194;
      }
    }
    float v195[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v195[l] = total164[l];
    }
    float sum196[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum196[l] = v195[l];
    fw_sum_f32x4_32x8(sum196, fw_scratch1);
    float v197[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v197[l] = total165[l];
    }
    float sum198[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum198[l] = v197[l];
    fw_sum_f32x4_32x8(sum198, fw_scratch0);
    float v200[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v199 = fw_max(sum196[l], 1.0f);
      v200[l] = sum198[l] / v199;
    }
    for (int t201 = v115; t201 < n1; t201 += 64) {
      const int v202 = t201 * n3;
      const int v203 = v202 + v122;
      const int v204 = v203 * 4;
      float v205[4];
      fw_load_f32x4_ldcg(part_r1_count + v204, v205);
      float v206[4];
      fw_load_f32x4_ldcg(part_r1_mean + v204, v206);
      float v207[4];
      fw_load_f32x4_ldcg(part_r1 + v204, v207);
      const int v208 = t201 + 32;
      const bool v209 = v208 < n1;
      const int v210 = v208 < v125 ? v208 : v125;
      const int v211 = v210 * n3;
      const int v212 = v211 + v122;
      const int v213 = v212 * 4;
      float v214[4];
      fw_load_f32x4_ldcg(part_r1_count + v213, v214);
      float v215[4];
      fw_load_f32x4_ldcg(part_r1_mean + v213, v215);
      float v216[4];
      fw_load_f32x4_ldcg(part_r1 + v213, v216);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v217 = v206[l] - v200[l];
        const float v218 = v217 * v205[l];
        const float v219 = v218 * v217;
        const float v220 = v207[l] + v219;
        const float v221 = total166[l] + v220;
        total166[l] = v221;
        const float v222 = v215[l] - v200[l];
        const float v223 = v222 * v214[l];
        const float v224 = v223 * v222;
        const float v225 = v216[l] + v224;
        const float v227 = v209 ? v225 : 0.0f;
        const float v228 = total166[l] + v227;
        total166[l] = v228;
      }
    }
    float v229[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v229[l] = total166[l];
    }
    float sum230[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum230[l] = v229[l];
    fw_sum_f32x4_32x8(sum230, fw_scratch1);
    const long long v231 = (long long)n8;
    const float v232 = (float)v231;
    const float v233 = ::fabsf(v232);
    const bool v234 = v233 < 7.888609e-31f;
    const float v235 = v234 ? 1.8446744e+19f : 1.0f;
    const float v236 = v232 * v235;
    const float v237 = 1.0f / v236;
    float v254[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v239 = sum163[l] * v237;
      const float v240 = ::fabsf(v239);
      const bool v241 = v240 > 0.0f;
      const bool v242 = v240 < fw_inff;
      const bool v243 = v241 && v242;
      const float v244 = -v239;
      const float v246 = ::fmaf(v244, v236, sum163[l]);
      const float v247 = ::fmaf(v246, v237, v239);
      const float v248 = v243 ? v247 : v239;
      const float v250 = v248 * v235;
      const float v251 = v200[l] - v250;
      const float v252 = v251 * sum196[l];
      const float v253 = v252 * v251;
      v254[l] = sum230[l] + v253;
    }
    const bool v255 = v115 == 0;
    const bool v256 = v255 && v120;
    if (v256) {
      fw_store_f32x4(out1 + v123, v254);
    }
  }
}
