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
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v77 = acc20[l];
      const float v78 = sum21[l] + v77;
      sum21[l] = v78;
      acc20[l] = 0.0f;
    }
  }
  for (int c79 = v25; c79 < v16; c79 += 8) {
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
  fw_sum_f32x4_8x32(sum100, fw_scratch0);
  const float v101 = run17;
  float v102[4];
  float v103[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v102[l] = run18[l];
    v103[l] = run19[l];
  }
  const float sum104 = fw_sum_f32_8x32(v101, fw_scratch1);
  float v106[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v106[l] = v102[l] * v101;
  }
  float sum107[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum107[l] = v106[l];
  fw_sum_f32x4_8x32(sum107, fw_scratch0);
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
  fw_sum_f32x4_8x32(sum115, fw_scratch1);
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
  const int v122 = fw_udiv(tid1, 2);
  const int v123 = v122 * 2;
  const int v124 = tid1 - v123;
  const int v125 = bid1 * 2;
  const int v126 = v125 + v124;
  const bool v127 = v126 < n3;
  const int v128 = n3 + (-1);
  const int v129 = v126 < v128 ? v126 : v128;
  const int v130 = v129 * 4;
  float total131[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total131[l] = 0.0f;
  }
  const int v132 = n1 + (-1);
  for (int t133 = v122; t133 < n1; t133 += 512) {
    const int v134 = t133 * n3;
    const int v135 = v134 + v129;
    const int v136 = v135 * 4;
    float v137[4];
    fw_load_f32x4_ldg(part_r0 + v136, v137);
    const int v138 = t133 + 128;
    const bool v139 = v138 < n1;
    const int v140 = v138 < v132 ? v138 : v132;
    const int v141 = v140 * n3;
    const int v142 = v141 + v129;
    const int v143 = v142 * 4;
    float v144[4];
    fw_load_f32x4_ldg(part_r0 + v143, v144);
    const int v145 = t133 + 256;
    const bool v146 = v145 < n1;
    const int v147 = v145 < v132 ? v145 : v132;
    const int v148 = v147 * n3;
    const int v149 = v148 + v129;
    const int v150 = v149 * 4;
    float v151[4];
    fw_load_f32x4_ldg(part_r0 + v150, v151);
    const int v152 = t133 + 384;
    const bool v153 = v152 < n1;
    const int v154 = v152 < v132 ? v152 : v132;
    const int v155 = v154 * n3;
    const int v156 = v155 + v129;
    const int v157 = v156 * 4;
    float v158[4];
    fw_load_f32x4_ldg(part_r0 + v157, v158);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v159 = total131[l] + v137[l];
      total131[l] = v159;
      const float v161 = v139 ? v144[l] : 0.0f;
      const float v162 = total131[l] + v161;
      total131[l] = v162;
      const float v164 = v146 ? v151[l] : 0.0f;
      const float v165 = total131[l] + v164;
      total131[l] = v165;
      const float v167 = v153 ? v158[l] : 0.0f;
      const float v168 = total131[l] + v167;
      total131[l] = v168;
    }
  }
  float v169[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v169[l] = total131[l];
  }
  float sum170[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum170[l] = v169[l];
  fw_sum_f32x4_128x2(sum170, fw_scratch0);
  float total171[4];
  float total172[4];
  float total173[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total171[l] = 0.0f;
    total172[l] = 0.0f;
    total173[l] = 0.0f;
  }
  for (int t174 = v122; t174 < n1; t174 += 256) {
    const int v175 = t174 * n3;
    const int v176 = v175 + v129;
    const int v177 = v176 * 4;
    float v178[4];
    fw_load_f32x4_ldg(part_r1_count + v177, v178);
    float v179[4];
    fw_load_f32x4_ldg(part_r1_mean + v177, v179);
    float v180[4];
    fw_load_f32x4_ldg(part_r1 + v177, v180);
    const int v181 = t174 + 128;
    const bool v182 = v181 < n1;
    const int v183 = v181 < v132 ? v181 : v132;
    const int v184 = v183 * n3;
    const int v185 = v184 + v129;
    const int v186 = v185 * 4;
    float v187[4];
    fw_load_f32x4_ldg(part_r1_count + v186, v187);
    float v188[4];
    fw_load_f32x4_ldg(part_r1_mean + v186, v188);
    float v189[4];
    fw_load_f32x4_ldg(part_r1 + v186, v189);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v190 = v178[l] * v179[l];
      const bool v191 = v178[l] > 0.0f;
      const float v192 = v191 ? v190 : 0.0f;
      const float v193 = total171[l] + v178[l];
      total171[l] = v193;
      const float v194 = total172[l] + v192;
      total172[l] = v194;
      const float v196 = v182 ? v187[l] : 0.0f;
      const float v197 = v196 * v188[l];
      const bool v198 = v196 > 0.0f;
      const float v199 = v198 ? v197 : 0.0f;
      const float v200 = total171[l] + v196;
      total171[l] = v200;
      const float v201 = total172[l] + v199;
      total172[l] = v201;
    }
  }
  float v202[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v202[l] = total171[l];
  }
  float sum203[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum203[l] = v202[l];
  fw_sum_f32x4_128x2(sum203, fw_scratch1);
  float v204[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v204[l] = total172[l];
  }
  float sum205[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum205[l] = v204[l];
  fw_sum_f32x4_128x2(sum205, fw_scratch0);
  float v207[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v206 = fw_max(sum203[l], 1.0f);
    v207[l] = sum205[l] / v206;
  }
  for (int t208 = v122; t208 < n1; t208 += 256) {
    const int v209 = t208 * n3;
    const int v210 = v209 + v129;
    const int v211 = v210 * 4;
    float v212[4];
    fw_load_f32x4_ldg(part_r1_count + v211, v212);
    float v213[4];
    fw_load_f32x4_ldg(part_r1_mean + v211, v213);
    float v214[4];
    fw_load_f32x4_ldg(part_r1 + v211, v214);
    const int v215 = t208 + 128;
    const bool v216 = v215 < n1;
    const int v217 = v215 < v132 ? v215 : v132;
    const int v218 = v217 * n3;
    const int v219 = v218 + v129;
    const int v220 = v219 * 4;
    float v221[4];
    fw_load_f32x4_ldg(part_r1_count + v220, v221);
    float v222[4];
    fw_load_f32x4_ldg(part_r1_mean + v220, v222);
    float v223[4];
    fw_load_f32x4_ldg(part_r1 + v220, v223);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v224 = v213[l] - v207[l];
      const float v225 = v224 * v212[l];
      const float v226 = v225 * v224;
      const float v227 = v214[l] + v226;
      const float v228 = total173[l] + v227;
      total173[l] = v228;
      const float v229 = v222[l] - v207[l];
      const float v230 = v229 * v221[l];
      const float v231 = v230 * v229;
      const float v232 = v223[l] + v231;
      const float v234 = v216 ? v232 : 0.0f;
      const float v235 = total173[l] + v234;
      total173[l] = v235;
    }
  }
  float v236[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v236[l] = total173[l];
  }
  float sum237[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum237[l] = v236[l];
  fw_sum_f32x4_128x2(sum237, fw_scratch1);
  const long long v238 = (long long)n9;
  const float v239 = (float)v238;
  const float v240 = ::fabsf(v239);
  const bool v241 = v240 < 7.888609e-31f;
  const float v242 = v241 ? 1.8446744e+19f : 1.0f;
  const float v243 = v239 * v242;
  const float v244 = 1.0f / v243;
  float v261[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v246 = sum170[l] * v244;
    const float v247 = ::fabsf(v246);
    const bool v248 = v247 > 0.0f;
    const bool v249 = v247 < fw_inff;
    const bool v250 = v248 && v249;
    const float v251 = -v246;
    const float v253 = ::fmaf(v251, v243, sum170[l]);
    const float v254 = ::fmaf(v253, v244, v246);
    const float v255 = v250 ? v254 : v246;
    const float v257 = v255 * v242;
    const float v258 = v207[l] - v257;
    const float v259 = v258 * sum203[l];
    const float v260 = v259 * v258;
    v261[l] = sum237[l] + v260;
  }
  const bool v262 = v122 == 0;
  const bool v263 = v262 && v127;
  if (v263) {
    fw_store_f32x4(total_r0 + v130, sum170);
    fw_store_f32x4(total_r1 + v130, v261);
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
  const int v264 = fw_udiv(tid2, 32);
  const int v265 = v264 * 32;
  const int v266 = tid2 - v265;
  const int v267 = fw_udiv(bid2, n1);
  const int v268 = v267 * n1;
  const int v269 = bid2 - v268;
  const int v270 = v267 * 32;
  const int v271 = v270 + v266;
  const bool v272 = v271 < n3;
  const int v273 = n3 + (-1);
  const int v274 = v271 < v273 ? v271 : v273;
  const int v275 = v274 * 4;
  float v276[4];
  fw_load_f32x4_ldg(total_r0 + v275, v276);
  float v277[4];
  fw_load_f32x4_ldg(total_r1 + v275, v277);
  const int v278 = v269 * n5;
  const int v279 = v278 < n4 ? v278 : n4;
  const int v280 = v279 + n5;
  const int v281 = v280 < n4 ? v280 : n4;
  const int v282 = v279 + v281;
  const int v283 = v282 + (-1);
  const int v284 = v281 - v279;
  const int v285 = fw_udiv(v284, 32);
  const int v286 = v285 * 32;
  const int v287 = v279 + v286;
  const long long v300 = (long long)n9;
  const float v301 = (float)v300;
  const float v302 = ::fabsf(v301);
  const bool v303 = v302 < 7.888609e-31f;
  const float v304 = v303 ? 1.8446744e+19f : 1.0f;
  const float v305 = v301 * v304;
  const float v306 = 1.0f / v305;
  float v319[4];
  float v332[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v308 = v276[l] * v306;
    const float v309 = ::fabsf(v308);
    const bool v310 = v309 > 0.0f;
    const bool v311 = v309 < fw_inff;
    const bool v312 = v310 && v311;
    const float v313 = -v308;
    const float v315 = ::fmaf(v313, v305, v276[l]);
    const float v316 = ::fmaf(v315, v306, v308);
    const float v317 = v312 ? v316 : v308;
    v319[l] = v317 * v304;
    const float v321 = v277[l] * v306;
    const float v322 = ::fabsf(v321);
    const bool v323 = v322 > 0.0f;
    const bool v324 = v322 < fw_inff;
    const bool v325 = v323 && v324;
    const float v326 = -v321;
    const float v327 = ::fmaf(v326, v305, v277[l]);
    const float v328 = ::fmaf(v327, v306, v321);
    const float v329 = v325 ? v328 : v321;
    const float v330 = v329 * v304;
    const float v331 = v330 + 1.0e-05f;
    v332[l] = ::rsqrtf(v331);
  }
  float v334[4];
  fw_load_f32x4_ldg(in1 + v275, v334);
  float v336[4];
  fw_load_f32x4_ldg(in2 + v275, v336);
  for (int c288 = v279; c288 < v287; c288 += 32) {
    const int v289 = c288 + v264;
    const int v290 = v283 - v289;
    const int v291 = v289 + 8;
    const int v292 = v283 - v291;
    const int v293 = v289 + 16;
    const int v294 = v283 - v293;
    const int v295 = v289 + 24;
    const int v296 = v283 - v295;
    const int v297 = v290 * n6;
    const int v298 = v297 + v275;
    float v299[4];
    fw_load_f32x4_ldg(in0 + v298, v299);
    const int v338 = v292 * n6;
    const int v339 = v338 + v275;
    float v340[4];
    fw_load_f32x4_ldg(in0 + v339, v340);
    const int v345 = v294 * n6;
    const int v346 = v345 + v275;
    float v347[4];
    fw_load_f32x4_ldg(in0 + v346, v347);
    const int v352 = v296 * n6;
    const int v353 = v352 + v275;
    float v354[4];
    fw_load_f32x4_ldg(in0 + v353, v354);
    float v337[4];
    float v344[4];
    float v351[4];
    float v358[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v320 = v299[l] - v319[l];
      const float v333 = v320 * v332[l];
      const float v335 = v333 * v334[l];
      v337[l] = v335 + v336[l];
      const float v341 = v340[l] - v319[l];
      const float v342 = v341 * v332[l];
      const float v343 = v342 * v334[l];
      v344[l] = v343 + v336[l];
      const float v348 = v347[l] - v319[l];
      const float v349 = v348 * v332[l];
      const float v350 = v349 * v334[l];
      v351[l] = v350 + v336[l];
      const float v355 = v354[l] - v319[l];
      const float v356 = v355 * v332[l];
      const float v357 = v356 * v334[l];
      v358[l] = v357 + v336[l];
    }
    const int v359 = v290 * n10;
    const int v360 = v359 + v275;
    if (v272) {
      fw_store_f32x4(out3 + v360, v337);
    }
    const int v361 = v292 * n10;
    const int v362 = v361 + v275;
    if (v272) {
      fw_store_f32x4(out3 + v362, v344);
    }
    const int v363 = v294 * n10;
    const int v364 = v363 + v275;
    if (v272) {
      fw_store_f32x4(out3 + v364, v351);
    }
    const int v365 = v296 * n10;
    const int v366 = v365 + v275;
    if (v272) {
      fw_store_f32x4(out3 + v366, v358);
    }
  }
  for (int c367 = v287; c367 < v281; c367 += 8) {
    const int v368 = c367 + v264;
    const bool v379 = v368 < v281;
    if (v379) {
      const int v369 = v283 - v368;
      const int v370 = v369 * n6;
      const int v371 = v370 + v275;
      float v372[4];
      fw_load_f32x4_ldg(in0 + v371, v372);
      float v376[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v373 = v372[l] - v319[l];
        const float v374 = v373 * v332[l];
        const float v375 = v374 * v334[l];
        v376[l] = v375 + v336[l];
      }
      const int v377 = v369 * n10;
      const int v378 = v377 + v275;
      if (v272) {
        fw_store_f32x4(out3 + v378, v376);
      }
    }
  }
  const bool last380 = fw_last(counters + v267, (int)n1);
  if (last380) {
    const int v381 = fw_udiv(tid2, 32);
    const int v382 = v381 * 32;
    const int v383 = tid2 - v382;
    const int v384 = v267 * 32;
    const int v385 = v384 + v383;
    const bool v386 = v385 < n3;
    const int v387 = n3 + (-1);
    const int v388 = v385 < v387 ? v385 : v387;
    const int v389 = v388 * 4;
    float v390[4];
    fw_load_f32x4_ldg(total_r0 + v389, v390);
    float v391[4];
    fw_load_f32x4_ldg(total_r1 + v389, v391);
    const bool v392 = v381 == 0;
    const long long v393 = (long long)n9;
    const float v394 = (float)v393;
    const float v395 = ::fabsf(v394);
    const bool v396 = v395 < 7.888609e-31f;
    const float v397 = v396 ? 1.8446744e+19f : 1.0f;
    const float v398 = v394 * v397;
    const float v399 = 1.0f / v398;
    float v414[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v401 = v391[l] * v399;
      const float v402 = ::fabsf(v401);
      const bool v403 = v402 > 0.0f;
      const bool v404 = v402 < fw_inff;
      const bool v405 = v403 && v404;
      const float v406 = -v401;
      const float v408 = ::fmaf(v406, v398, v391[l]);
      const float v409 = ::fmaf(v408, v399, v401);
      const float v410 = v405 ? v409 : v401;
      const float v412 = v410 * v397;
      const float v413 = v412 + 1.0e-05f;
      v414[l] = ::rsqrtf(v413);
    }
    const bool v415 = v392 && v386;
    if (v415) {
      fw_store_f32x4(out4 + v389, v414);
    }
    float v416[4];
    fw_load_f32x4_ldg(in3 + v389, v416);
    float v429[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v417 = v416[l] * 0.9f;
      const float v418 = v390[l] * v399;
      const float v419 = ::fabsf(v418);
      const bool v420 = v419 > 0.0f;
      const bool v421 = v419 < fw_inff;
      const bool v422 = v420 && v421;
      const float v423 = -v418;
      const float v424 = ::fmaf(v423, v398, v390[l]);
      const float v425 = ::fmaf(v424, v399, v418);
      const float v426 = v422 ? v425 : v418;
      const float v427 = v426 * v397;
      const float v428 = v427 * 0.1f;
      v429[l] = v417 + v428;
    }
    if (v415) {
      fw_store_f32x4(out6 + v389, v429);
    }
  }
}
