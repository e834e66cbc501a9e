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
  float acc21[4];
  float sum22[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    run18[l] = 0.0f;
    run19[l] = 0.0f;
    float acc20 = 0.0f;
    acc21[l] = 0.0f;
    sum22[l] = 0.0f;
  }
  const int v23 = v16 - v14;
  const int v24 = fw_udiv(v23, 128);
  const int v25 = v24 * 128;
  const int v26 = v14 + v25;
  for (int b28 = v14; b28 < v26; b28 += 2048) {
    const int v29 = b28 + 2048;
    const int v30 = v29 < v26 ? v29 : v26;
    for (int c27 = b28; c27 < v30; c27 += 128) {
      const int v31 = c27 + v1;
      const int v32 = v31 + 32;
      const int v33 = v31 + 64;
      const int v34 = v31 + 96;
      const int v35 = v31 * n6;
      const int v36 = v35 + v12;
      float v37[4];
      fw_load_f32x4_ldg(in0 + v36, v37);
      const int v38 = v32 * n6;
      const int v39 = v38 + v12;
      float v40[4];
      fw_load_f32x4_ldg(in0 + v39, v40);
      const int v41 = v33 * n6;
      const int v42 = v41 + v12;
      float v43[4];
      fw_load_f32x4_ldg(in0 + v42, v43);
      const int v44 = v34 * n6;
      const int v45 = v44 + v12;
      float v46[4];
      fw_load_f32x4_ldg(in0 + v45, v46);
      const float v55 = run17 + 4.0f;
      const float v56 = 4.0f / v55;
      const float v58 = run17 * v56;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v47 = acc21[l] + v37[l];
        acc21[l] = v47;
        const float v48 = acc21[l] + v40[l];
        acc21[l] = v48;
        const float v49 = acc21[l] + v43[l];
        acc21[l] = v49;
        const float v50 = acc21[l] + v46[l];
        acc21[l] = v50;
        const float v51 = v37[l] + v40[l];
        const float v52 = v51 + v43[l];
        const float v53 = v52 + v46[l];
        const float v54 = v53 * 0.25f;
        const float v57 = v54 - run18[l];
        const float v60 = v57 * v58;
        const float v61 = v60 * v57;
        const float v62 = run19[l] + v61;
        const float v63 = v37[l] - v54;
        const float v64 = v63 * v63;
        const float v65 = v62 + v64;
        const float v66 = v40[l] - v54;
        const float v67 = v66 * v66;
        const float v68 = v65 + v67;
        const float v69 = v43[l] - v54;
        const float v70 = v69 * v69;
        const float v71 = v68 + v70;
        const float v72 = v46[l] - v54;
        const float v73 = v72 * v72;
        const float v74 = v71 + v73;
        const float v76 = v57 * v56;
        const float v77 = run18[l] + v76;
        run19[l] = v74;
        run18[l] = v77;
      }
      run17 = v55;
    }
    const int v78 = (int)((unsigned)v30 - (unsigned)b28);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v79 = acc21[l];
      const float v80 = sum22[l] + v79;
      sum22[l] = v80;
      acc21[l] = 0.0f;
    }
  }
  for (int c81 = v26; c81 < v16; c81 += 32) {
    const int v82 = c81 + v1;
    const bool v98 = v82 < v16;
    if (v98) {
      const int v83 = v82 * n6;
      const int v84 = v83 + v12;
      float v85[4];
      fw_load_f32x4_ldg(in0 + v84, v85);
      const float v87 = run17 + 1.0f;
      const float v88 = 1.0f / v87;
      const float v90 = run17 * v88;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v86 = acc21[l] + v85[l];
        acc21[l] = v86;
        const float v89 = v85[l] - run18[l];
        const float v92 = v89 * v90;
        const float v93 = v92 * v89;
        const float v94 = run19[l] + v93;
        const float v96 = v89 * v88;
        const float v97 = run18[l] + v96;
        run19[l] = v94;
        run18[l] = v97;
      }
      run17 = v87;
    }
  }
  float v101[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v99 = acc21[l];
    const float v100 = sum22[l] + v99;
    sum22[l] = v100;
    v101[l] = sum22[l];
  }
  float sum102[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum102[l] = v101[l];
  fw_sum_f32x4_32x8(sum102, fw_scratch0);
  const float v103 = run17;
  float v104[4];
  float v105[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v104[l] = run18[l];
    v105[l] = run19[l];
  }
  const float sum106 = fw_sum_f32_32x8(v103, fw_scratch1);
  float v108[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v108[l] = v104[l] * v103;
  }
  float sum109[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum109[l] = v108[l];
  fw_sum_f32x4_32x8(sum109, fw_scratch0);
  const float v110 = fw_max(sum106, 1.0f);
  float v112[4];
  float v116[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v112[l] = sum109[l] / v110;
    const float v113 = v104[l] - v112[l];
    const float v114 = v113 * v103;
    const float v115 = v114 * v113;
    v116[l] = v105[l] + v115;
  }
  float sum117[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum117[l] = v116[l];
  fw_sum_f32x4_32x8(sum117, fw_scratch1);
  const bool v118 = v1 == 0;
  const int v119 = v6 * n3;
  const int v120 = v119 + v11;
  const int v121 = v120 * 4;
  const bool v122 = v118 && v9;
  if (v122) {
    fw_store_f32x4(part_r0 + v121, sum102);
  }
  if (v122) {
    fw_store_f32x4(part_r1 + v121, sum117);
    const float constant1[4] = {sum106, sum106, sum106, sum106};
    fw_store_f32x4(part_r1_count + v121, constant1);
    fw_store_f32x4(part_r1_mean + v121, v112);
  }
  const bool last124 = fw_last(counters + v4, (int)n1);
  if (last124) {
    const int v125 = fw_udiv(tid0, 8);
    const int v126 = v125 * 8;
    const int v127 = tid0 - v126;
    const int v128 = v4 * 8;
    const int v129 = v128 + v127;
    const bool v130 = v129 < n3;
    const int v131 = n3 + (-1);
    const int v132 = v129 < v131 ? v129 : v131;
    const int v133 = v132 * 4;
    float total134[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total134[l] = 0.0f;
    }
    const int v135 = n1 + (-1);
    for (int t136 = v125; t136 < n1; t136 += 128) {
      const int v137 = t136 * n3;
      const int v138 = v137 + v132;
      const int v139 = v138 * 4;
      float v140[4];
      fw_load_f32x4_ldcg(part_r0 + v139, v140);
      const int v141 = t136 + 32;
      const bool v142 = v141 < n1;
      const int v143 = v141 < v135 ? v141 : v135;
      const int v144 = v143 * n3;
      const int v145 = v144 + v132;
      const int v146 = v145 * 4;
      float v147[4];
      fw_load_f32x4_ldcg(part_r0 + v146, v147);
      const int v148 = t136 + 64;
      const bool v149 = v148 < n1;
      const int v150 = v148 < v135 ? v148 : v135;
      const int v151 = v150 * n3;
      const int v152 = v151 + v132;
      const int v153 = v152 * 4;
      float v154[4];
      fw_load_f32x4_ldcg(part_r0 + v153, v154);
      const int v155 = t136 + 96;
      const bool v156 = v155 < n1;
      const int v157 = v155 < v135 ? v155 : v135;
      const int v158 = v157 * n3;
      const int v159 = v158 + v132;
      const int v160 = v159 * 4;
      float v161[4];
      fw_load_f32x4_ldcg(part_r0 + v160, v161);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v162 = total134[l] + v140[l];
        total134[l] = v162;
        const float v164 = v142 ? v147[l] : 0.0f;
        const float v165 = total134[l] + v164;
        total134[l] = v165;
        const float v167 = v149 ? v154[l] : 0.0f;
        const float v168 = total134[l] + v167;
        total134[l] = v168;
        const float v170 = v156 ? v161[l] : 0.0f;
        const float v171 = total134[l] + v170;
        total134[l] = v171;
      }
    }
    float v172[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v172[l] = total134[l];
    }
    float sum173[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum173[l] = v172[l];
    fw_sum_f32x4_32x8(sum173, fw_scratch0);
    float total174[4];
    float total175[4];
    float total176[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      total174[l] = 0.0f;
      total175[l] = 0.0f;
      total176[l] = 0.0f;
    }
    for (int t177 = v125; t177 < n1; t177 += 64) {
      const int v178 = t177 * n3;
      const int v179 = v178 + v132;
      const int v180 = v179 * 4;
      float v181[4];
      fw_load_f32x4_ldcg(part_r1_count + v180, v181);
      float v182[4];
      fw_load_f32x4_ldcg(part_r1_mean + v180, v182);
      float v183[4];
      fw_load_f32x4_ldcg(part_r1 + v180, v183);
      const int v184 = t177 + 32;
      const bool v185 = v184 < n1;
      const int v186 = v184 < v135 ? v184 : v135;
      const int v187 = v186 * n3;
      const int v188 = v187 + v132;
      const int v189 = v188 * 4;
      float v190[4];
      fw_load_f32x4_ldcg(part_r1_count + v189, v190);
      float v191[4];
      fw_load_f32x4_ldcg(part_r1_mean + v189, v191);
      float v192[4];
      fw_load_f32x4_ldcg(part_r1 + v189, v192);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v193 = v181[l] * v182[l];
        const bool v194 = v181[l] > 0.0f;
        const float v195 = v194 ? v193 : 0.0f;
        const float v196 = total174[l] + v181[l];
        total174[l] = v196;
        const float v197 = total175[l] + v195;
        total175[l] = v197;
        const float v199 = v185 ? v190[l] : 0.0f;
        const float v200 = v199 * v191[l];
        const bool v201 = v199 > 0.0f;
        const float v202 = v201 ? v200 : 0.0f;
        const float v203 = total174[l] + v199;
        total174[l] = v203;
        const float v204 = total175[l] + v202;
        total175[l] = v204;
      }
    }
    float v205[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v205[l] = total174[l];
    }
    float sum206[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum206[l] = v205[l];
    fw_sum_f32x4_32x8(sum206, fw_scratch1);
    float v207[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v207[l] = total175[l];
    }
    float sum208[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum208[l] = v207[l];
    fw_sum_f32x4_32x8(sum208, fw_scratch0);
    float v210[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v209 = fw_max(sum206[l], 1.0f);
      v210[l] = sum208[l] / v209;
    }
    for (int t211 = v125; t211 < n1; t211 += 64) {
      const int v212 = t211 * n3;
      const int v213 = v212 + v132;
      const int v214 = v213 * 4;
      float v215[4];
      fw_load_f32x4_ldcg(part_r1_count + v214, v215);
      float v216[4];
      fw_load_f32x4_ldcg(part_r1_mean + v214, v216);
      float v217[4];
      fw_load_f32x4_ldcg(part_r1 + v214, v217);
      const int v218 = t211 + 32;
      const bool v219 = v218 < n1;
      const int v220 = v218 < v135 ? v218 : v135;
      const int v221 = v220 * n3;
      const int v222 = v221 + v132;
      const int v223 = v222 * 4;
      float v224[4];
      fw_load_f32x4_ldcg(part_r1_count + v223, v224);
      float v225[4];
      fw_load_f32x4_ldcg(part_r1_mean + v223, v225);
      float v226[4];
      fw_load_f32x4_ldcg(part_r1 + v223, v226);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v227 = v216[l] - v210[l];
        const float v228 = v227 * v215[l];
        const float v229 = v228 * v227;
        const float v230 = v217[l] + v229;
        const float v231 = total176[l] + v230;
        total176[l] = v231;
        const float v232 = v225[l] - v210[l];
        const float v233 = v232 * v224[l];
        const float v234 = v233 * v232;
        const float v235 = v226[l] + v234;
        const float v237 = v219 ? v235 : 0.0f;
        const float v238 = total176[l] + v237;
        total176[l] = v238;
      }
    }
    float v239[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v239[l] = total176[l];
    }
    float sum240[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum240[l] = v239[l];
    fw_sum_f32x4_32x8(sum240, fw_scratch1);
    const long long v241 = (long long)n8;
    const float v242 = (float)v241;
    const float v243 = ::fabsf(v242);
    const bool v244 = v243 < 7.888609e-31f;
    const float v245 = v244 ? 1.8446744e+19f : 1.0f;
    const float v246 = v242 * v245;
    const float v247 = 1.0f / v246;
    float v264[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v249 = sum173[l] * v247;
      const float v250 = ::fabsf(v249);
      const bool v251 = v250 > 0.0f;
      const bool v252 = v250 < fw_inff;
      const bool v253 = v251 && v252;
      const float v254 = -v249;
      const float v256 = ::fmaf(v254, v246, sum173[l]);
      const float v257 = ::fmaf(v256, v247, v249);
      const float v258 = v253 ? v257 : v249;
      const float v260 = v258 * v245;
      const float v261 = v210[l] - v260;
      const float v262 = v261 * sum206[l];
      const float v263 = v262 * v261;
      v264[l] = sum240[l] + v263;
    }
    const bool v265 = v125 == 0;
    const bool v266 = v265 && v130;
    if (v266) {
      fw_store_f32x4(out1 + v133, v264);
    }
  }
}
