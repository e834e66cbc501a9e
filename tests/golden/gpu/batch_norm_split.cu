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
  float sum21[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    run18[l] = 0.0f;
    run19[l] = 0.0f;
    acc20[l] = 0.0f;
    sum21[l] = 0.0f;
  }
  const int v22 = v16 - v14;
  const int v23 = fw_udiv(v22, 32);
  const int v24 = v23 * 32;
  const int v25 = v14 + v24;
  for (int b27 = v14; b27 < v25; b27 += 512) {
    const int v28 = b27 + 512;
    const int v29 = v28 < v25 ? v28 : v25;
    for (int c26 = b27; c26 < v29; c26 += 32) {
      const int v30 = c26 + v1;
      const int v31 = v30 + 8;
      const int v32 = v30 + 16;
      const int v33 = v30 + 24;
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
  for (int c80 = v25; c80 < v16; c80 += 8) {
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
  fw_sum_f32x4_8x32(sum101, fw_scratch0);
  const float v102 = run17;
  float v103[4];
  float v104[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v103[l] = run18[l];
    v104[l] = run19[l];
  }
  const float sum105 = fw_sum_f32_8x32(v102, fw_scratch1);
  float v107[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v107[l] = v103[l] * v102;
  }
  float sum108[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum108[l] = v107[l];
  fw_sum_f32x4_8x32(sum108, fw_scratch0);
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
  fw_sum_f32x4_8x32(sum116, fw_scratch1);
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
  const int v123 = fw_udiv(tid1, 2);
  const int v124 = v123 * 2;
  const int v125 = tid1 - v124;
  const int v126 = bid1 * 2;
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
  for (int t134 = v123; t134 < n1; t134 += 512) {
    const int v135 = t134 * n3;
    const int v136 = v135 + v130;
    const int v137 = v136 * 4;
    float v138[4];
    fw_load_f32x4_ldg(part_r0 + v137, v138);
    const int v139 = t134 + 128;
    const bool v140 = v139 < n1;
    const int v141 = v139 < v133 ? v139 : v133;
    const int v142 = v141 * n3;
    const int v143 = v142 + v130;
    const int v144 = v143 * 4;
    float v145[4];
    fw_load_f32x4_ldg(part_r0 + v144, v145);
    const int v146 = t134 + 256;
    const bool v147 = v146 < n1;
    const int v148 = v146 < v133 ? v146 : v133;
    const int v149 = v148 * n3;
    const int v150 = v149 + v130;
    const int v151 = v150 * 4;
    float v152[4];
    fw_load_f32x4_ldg(part_r0 + v151, v152);
    const int v153 = t134 + 384;
    const bool v154 = v153 < n1;
    const int v155 = v153 < v133 ? v153 : v133;
    const int v156 = v155 * n3;
    const int v157 = v156 + v130;
    const int v158 = v157 * 4;
    float v159[4];
    fw_load_f32x4_ldg(part_r0 + v158, v159);
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
  fw_sum_f32x4_128x2(sum171, fw_scratch0);
  float total172[4];
  float total173[4];
  float total174[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total172[l] = 0.0f;
    total173[l] = 0.0f;
    total174[l] = 0.0f;
  }
  for (int t175 = v123; t175 < n1; t175 += 256) {
    const int v176 = t175 * n3;
    const int v177 = v176 + v130;
    const int v178 = v177 * 4;
    float v179[4];
    fw_load_f32x4_ldg(part_r1_count + v178, v179);
    float v180[4];
    fw_load_f32x4_ldg(part_r1_mean + v178, v180);
    float v181[4];
    fw_load_f32x4_ldg(part_r1 + v178, v181);
    const int v182 = t175 + 128;
    const bool v183 = v182 < n1;
    const int v184 = v182 < v133 ? v182 : v133;
    const int v185 = v184 * n3;
    const int v186 = v185 + v130;
    const int v187 = v186 * 4;
    float v188[4];
    fw_load_f32x4_ldg(part_r1_count + v187, v188);
    float v189[4];
    fw_load_f32x4_ldg(part_r1_mean + v187, v189);
    float v190[4];
    fw_load_f32x4_ldg(part_r1 + v187, v190);
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
  fw_sum_f32x4_128x2(sum204, fw_scratch1);
  float v205[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v205[l] = total173[l];
  }
  float sum206[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum206[l] = v205[l];
  fw_sum_f32x4_128x2(sum206, fw_scratch0);
  float v208[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v207 = fw_max(sum204[l], 1.0f);
    v208[l] = sum206[l] / v207;
  }
  for (int t209 = v123; t209 < n1; t209 += 256) {
    const int v210 = t209 * n3;
    const int v211 = v210 + v130;
    const int v212 = v211 * 4;
    float v213[4];
    fw_load_f32x4_ldg(part_r1_count + v212, v213);
    float v214[4];
    fw_load_f32x4_ldg(part_r1_mean + v212, v214);
    float v215[4];
    fw_load_f32x4_ldg(part_r1 + v212, v215);
    const int v216 = t209 + 128;
    const bool v217 = v216 < n1;
    const int v218 = v216 < v133 ? v216 : v133;
    const int v219 = v218 * n3;
    const int v220 = v219 + v130;
    const int v221 = v220 * 4;
    float v222[4];
    fw_load_f32x4_ldg(part_r1_count + v221, v222);
    float v223[4];
    fw_load_f32x4_ldg(part_r1_mean + v221, v223);
    float v224[4];
    fw_load_f32x4_ldg(part_r1 + v221, v224);
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
  fw_sum_f32x4_128x2(sum238, fw_scratch1);
  const long long v239 = (long long)n9;
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
    fw_store_f32x4(total_r0 + v131, sum171);
    fw_store_f32x4(total_r1 + v131, v262);
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
  const int v265 = fw_udiv(tid2, 32);
  const int v266 = v265 * 32;
  const int v267 = tid2 - v266;
  const int v268 = fw_udiv(bid2, n1);
  const int v269 = v268 * n1;
  const int v270 = bid2 - v269;
  const int v271 = v268 * 32;
  const int v272 = v271 + v267;
  const bool v273 = v272 < n3;
  const int v274 = n3 + (-1);
  const int v275 = v272 < v274 ? v272 : v274;
  const int v276 = v275 * 4;
  float v277[4];
  fw_load_f32x4_ldg(total_r0 + v276, v277);
  float v278[4];
  fw_load_f32x4_ldg(total_r1 + v276, v278);
  const int v279 = v270 * n5;
  const int v280 = v279 < n4 ? v279 : n4;
  const int v281 = v280 + n5;
  const int v282 = v281 < n4 ? v281 : n4;
  const int v283 = v280 + v282;
  const int v284 = v283 + (-1);
  const int v285 = v282 - v280;
  const int v286 = fw_udiv(v285, 32);
  const int v287 = v286 * 32;
  const int v288 = v280 + v287;
  const long long v301 = (long long)n9;
  const float v302 = (float)v301;
  const float v303 = ::fabsf(v302);
  const bool v304 = v303 < 7.888609e-31f;
  const float v305 = v304 ? 1.8446744e+19f : 1.0f;
  const float v306 = v302 * v305;
  const float v307 = 1.0f / v306;
  float v320[4];
  float v333[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v309 = v277[l] * v307;
    const float v310 = ::fabsf(v309);
    const bool v311 = v310 > 0.0f;
    const bool v312 = v310 < fw_inff;
    const bool v313 = v311 && v312;
    const float v314 = -v309;
    const float v316 = ::fmaf(v314, v306, v277[l]);
    const float v317 = ::fmaf(v316, v307, v309);
    const float v318 = v313 ? v317 : v309;
    v320[l] = v318 * v305;
    const float v322 = v278[l] * v307;
    const float v323 = ::fabsf(v322);
    const bool v324 = v323 > 0.0f;
    const bool v325 = v323 < fw_inff;
    const bool v326 = v324 && v325;
    const float v327 = -v322;
    const float v328 = ::fmaf(v327, v306, v278[l]);
    const float v329 = ::fmaf(v328, v307, v322);
    const float v330 = v326 ? v329 : v322;
    const float v331 = v330 * v305;
    const float v332 = v331 + 1.0e-05f;
    v333[l] = ::rsqrtf(v332);
  }
  float v335[4];
  fw_load_f32x4_ldg(in1 + v276, v335);
  float v337[4];
  fw_load_f32x4_ldg(in2 + v276, v337);
  for (int c289 = v280; c289 < v288; c289 += 32) {
    const int v290 = c289 + v265;
    const int v291 = v284 - v290;
    const int v292 = v290 + 8;
    const int v293 = v284 - v292;
    const int v294 = v290 + 16;
    const int v295 = v284 - v294;
    const int v296 = v290 + 24;
    const int v297 = v284 - v296;
    const int v298 = v291 * n6;
    const int v299 = v298 + v276;
    float v300[4];
    fw_load_f32x4_ldg(in0 + v299, v300);
    const int v339 = v293 * n6;
    const int v340 = v339 + v276;
    float v341[4];
    fw_load_f32x4_ldg(in0 + v340, v341);
    const int v346 = v295 * n6;
    const int v347 = v346 + v276;
    float v348[4];
    fw_load_f32x4_ldg(in0 + v347, v348);
    const int v353 = v297 * n6;
    const int v354 = v353 + v276;
    float v355[4];
    fw_load_f32x4_ldg(in0 + v354, v355);
    float v338[4];
    float v345[4];
    float v352[4];
    float v359[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v321 = v300[l] - v320[l];
      const float v334 = v321 * v333[l];
      const float v336 = v334 * v335[l];
      v338[l] = v336 + v337[l];
      const float v342 = v341[l] - v320[l];
      const float v343 = v342 * v333[l];
      const float v344 = v343 * v335[l];
      v345[l] = v344 + v337[l];
      const float v349 = v348[l] - v320[l];
      const float v350 = v349 * v333[l];
      const float v351 = v350 * v335[l];
      v352[l] = v351 + v337[l];
      const float v356 = v355[l] - v320[l];
      const float v357 = v356 * v333[l];
      const float v358 = v357 * v335[l];
      v359[l] = v358 + v337[l];
    }
    const int v360 = v291 * n10;
    const int v361 = v360 + v276;
    if (v273) {
      fw_store_f32x4(out3 + v361, v338);
    }
    const int v362 = v293 * n10;
    const int v363 = v362 + v276;
    if (v273) {
      fw_store_f32x4(out3 + v363, v345);
    }
    const int v364 = v295 * n10;
    const int v365 = v364 + v276;
    if (v273) {
      fw_store_f32x4(out3 + v365, v352);
    }
    const int v366 = v297 * n10;
    const int v367 = v366 + v276;
    if (v273) {
      fw_store_f32x4(out3 + v367, v359);
    }
  }
  for (int c368 = v288; c368 < v282; c368 += 8) {
    const int v369 = c368 + v265;
    const bool v380 = v369 < v282;
    if (v380) {
      const int v370 = v284 - v369;
      const int v371 = v370 * n6;
      const int v372 = v371 + v276;
      float v373[4];
      fw_load_f32x4_ldg(in0 + v372, v373);
      float v377[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v374 = v373[l] - v320[l];
        const float v375 = v374 * v333[l];
        const float v376 = v375 * v335[l];
        v377[l] = v376 + v337[l];
      }
      const int v378 = v370 * n10;
      const int v379 = v378 + v276;
      if (v273) {
        fw_store_f32x4(out3 + v379, v377);
      }
    }
  }
  const bool v381 = v265 == 0;
  const int v382 = (int)((unsigned)v270 * (unsigned)n3);
  const int v383 = (int)((unsigned)v382 + (unsigned)v275);
  const int v384 = (int)((unsigned)v383 * (unsigned)4);
  const bool last385 = fw_last(counters + v268, (int)n1);
  if (last385) {
    const int v386 = fw_udiv(tid2, 32);
    const int v387 = v386 * 32;
    const int v388 = tid2 - v387;
    const int v389 = v268 * 32;
    const int v390 = v389 + v388;
    const bool v391 = v390 < n3;
    const int v392 = n3 + (-1);
    const int v393 = v390 < v392 ? v390 : v392;
    const int v394 = v393 * 4;
    float v395[4];
    fw_load_f32x4_ldg(total_r0 + v394, v395);
    float v396[4];
    fw_load_f32x4_ldg(total_r1 + v394, v396);
    const bool v397 = v386 == 0;
    const long long v398 = (long long)n9;
    const float v399 = (float)v398;
    const float v400 = ::fabsf(v399);
    const bool v401 = v400 < 7.888609e-31f;
    const float v402 = v401 ? 1.8446744e+19f : 1.0f;
    const float v403 = v399 * v402;
    const float v404 = 1.0f / v403;
    float v419[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v406 = v396[l] * v404;
      const float v407 = ::fabsf(v406);
      const bool v408 = v407 > 0.0f;
      const bool v409 = v407 < fw_inff;
      const bool v410 = v408 && v409;
      const float v411 = -v406;
      const float v413 = ::fmaf(v411, v403, v396[l]);
      const float v414 = ::fmaf(v413, v404, v406);
      const float v415 = v410 ? v414 : v406;
      const float v417 = v415 * v402;
      const float v418 = v417 + 1.0e-05f;
      v419[l] = ::rsqrtf(v418);
    }
    const bool v420 = v397 && v391;
    if (v420) {
      fw_store_f32x4(out4 + v394, v419);
    }
    float v421[4];
    fw_load_f32x4_ldg(in3 + v394, v421);
    float v434[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v422 = v421[l] * 0.9f;
      const float v423 = v395[l] * v404;
      const float v424 = ::fabsf(v423);
      const bool v425 = v424 > 0.0f;
      const bool v426 = v424 < fw_inff;
      const bool v427 = v425 && v426;
      const float v428 = -v423;
      const float v429 = ::fmaf(v428, v403, v395[l]);
      const float v430 = ::fmaf(v429, v404, v423);
      const float v431 = v427 ? v430 : v423;
      const float v432 = v431 * v402;
      const float v433 = v432 * 0.1f;
      v434[l] = v422 + v433;
    }
    if (v420) {
      fw_store_f32x4(out6 + v394, v434);
    }
  }
}
