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
  const int v24 = fw_udiv(v23, 32);
  const int v25 = v24 * 32;
  const int v26 = v14 + v25;
  for (int b28 = v14; b28 < v26; b28 += 512) {
    const int v29 = b28 + 512;
    const int v30 = v29 < v26 ? v29 : v26;
    for (int c27 = b28; c27 < v30; c27 += 32) {
      const int v31 = c27 + v1;
      const int v32 = v31 + 8;
      const int v33 = v31 + 16;
      const int v34 = v31 + 24;
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
  for (int c81 = v26; c81 < v16; c81 += 8) {
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
  fw_sum_f32x4_8x32(sum102, fw_scratch0);
  const float v103 = run17;
  float v104[4];
  float v105[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v104[l] = run18[l];
    v105[l] = run19[l];
  }
  const float sum106 = fw_sum_f32_8x32(v103, fw_scratch1);
  float v108[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v108[l] = v104[l] * v103;
  }
  float sum109[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum109[l] = v108[l];
  fw_sum_f32x4_8x32(sum109, fw_scratch0);
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
  fw_sum_f32x4_8x32(sum117, fw_scratch1);
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
  const int v124 = fw_udiv(tid1, 2);
  const int v125 = v124 * 2;
  const int v126 = tid1 - v125;
  const int v127 = bid1 * 2;
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
  for (int t135 = v124; t135 < n1; t135 += 512) {
    const int v136 = t135 * n3;
    const int v137 = v136 + v131;
    const int v138 = v137 * 4;
    float v139[4];
    fw_load_f32x4_ldg(part_r0 + v138, v139);
    const int v140 = t135 + 128;
    const bool v141 = v140 < n1;
    const int v142 = v140 < v134 ? v140 : v134;
    const int v143 = v142 * n3;
    const int v144 = v143 + v131;
    const int v145 = v144 * 4;
    float v146[4];
    fw_load_f32x4_ldg(part_r0 + v145, v146);
    const int v147 = t135 + 256;
    const bool v148 = v147 < n1;
    const int v149 = v147 < v134 ? v147 : v134;
    const int v150 = v149 * n3;
    const int v151 = v150 + v131;
    const int v152 = v151 * 4;
    float v153[4];
    fw_load_f32x4_ldg(part_r0 + v152, v153);
    const int v154 = t135 + 384;
    const bool v155 = v154 < n1;
    const int v156 = v154 < v134 ? v154 : v134;
    const int v157 = v156 * n3;
    const int v158 = v157 + v131;
    const int v159 = v158 * 4;
    float v160[4];
    fw_load_f32x4_ldg(part_r0 + v159, v160);
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
  fw_sum_f32x4_128x2(sum172, fw_scratch0);
  float total173[4];
  float total174[4];
  float total175[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total173[l] = 0.0f;
    total174[l] = 0.0f;
    total175[l] = 0.0f;
  }
  for (int t176 = v124; t176 < n1; t176 += 256) {
    const int v177 = t176 * n3;
    const int v178 = v177 + v131;
    const int v179 = v178 * 4;
    float v180[4];
    fw_load_f32x4_ldg(part_r1_count + v179, v180);
    float v181[4];
    fw_load_f32x4_ldg(part_r1_mean + v179, v181);
    float v182[4];
    fw_load_f32x4_ldg(part_r1 + v179, v182);
    const int v183 = t176 + 128;
    const bool v184 = v183 < n1;
    const int v185 = v183 < v134 ? v183 : v134;
    const int v186 = v185 * n3;
    const int v187 = v186 + v131;
    const int v188 = v187 * 4;
    float v189[4];
    fw_load_f32x4_ldg(part_r1_count + v188, v189);
    float v190[4];
    fw_load_f32x4_ldg(part_r1_mean + v188, v190);
    float v191[4];
    fw_load_f32x4_ldg(part_r1 + v188, v191);
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
  fw_sum_f32x4_128x2(sum205, fw_scratch1);
  float v206[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v206[l] = total174[l];
  }
  float sum207[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum207[l] = v206[l];
  fw_sum_f32x4_128x2(sum207, fw_scratch0);
  float v209[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v208 = fw_max(sum205[l], 1.0f);
    v209[l] = sum207[l] / v208;
  }
  for (int t210 = v124; t210 < n1; t210 += 256) {
    const int v211 = t210 * n3;
    const int v212 = v211 + v131;
    const int v213 = v212 * 4;
    float v214[4];
    fw_load_f32x4_ldg(part_r1_count + v213, v214);
    float v215[4];
    fw_load_f32x4_ldg(part_r1_mean + v213, v215);
    float v216[4];
    fw_load_f32x4_ldg(part_r1 + v213, v216);
    const int v217 = t210 + 128;
    const bool v218 = v217 < n1;
    const int v219 = v217 < v134 ? v217 : v134;
    const int v220 = v219 * n3;
    const int v221 = v220 + v131;
    const int v222 = v221 * 4;
    float v223[4];
    fw_load_f32x4_ldg(part_r1_count + v222, v223);
    float v224[4];
    fw_load_f32x4_ldg(part_r1_mean + v222, v224);
    float v225[4];
    fw_load_f32x4_ldg(part_r1 + v222, v225);
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
  fw_sum_f32x4_128x2(sum239, fw_scratch1);
  const long long v240 = (long long)n9;
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
    fw_store_f32x4(total_r0 + v132, sum172);
    fw_store_f32x4(total_r1 + v132, v263);
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
  const int v266 = fw_udiv(tid2, 32);
  const int v267 = v266 * 32;
  const int v268 = tid2 - v267;
  const int v269 = fw_udiv(bid2, n1);
  const int v270 = v269 * n1;
  const int v271 = bid2 - v270;
  const int v272 = v269 * 32;
  const int v273 = v272 + v268;
  const bool v274 = v273 < n3;
  const int v275 = n3 + (-1);
  const int v276 = v273 < v275 ? v273 : v275;
  const int v277 = v276 * 4;
  float v278[4];
  fw_load_f32x4_ldg(total_r0 + v277, v278);
  float v279[4];
  fw_load_f32x4_ldg(total_r1 + v277, v279);
  const int v280 = v271 * n5;
  const int v281 = v280 < n4 ? v280 : n4;
  const int v282 = v281 + n5;
  const int v283 = v282 < n4 ? v282 : n4;
  const int v284 = v281 + v283;
  const int v285 = v284 + (-1);
  const int v286 = v283 - v281;
  const int v287 = fw_udiv(v286, 32);
  const int v288 = v287 * 32;
  const int v289 = v281 + v288;
  const long long v302 = (long long)n9;
  const float v303 = (float)v302;
  const float v304 = ::fabsf(v303);
  const bool v305 = v304 < 7.888609e-31f;
  const float v306 = v305 ? 1.8446744e+19f : 1.0f;
  const float v307 = v303 * v306;
  const float v308 = 1.0f / v307;
  float v321[4];
  float v334[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v310 = v278[l] * v308;
    const float v311 = ::fabsf(v310);
    const bool v312 = v311 > 0.0f;
    const bool v313 = v311 < fw_inff;
    const bool v314 = v312 && v313;
    const float v315 = -v310;
    const float v317 = ::fmaf(v315, v307, v278[l]);
    const float v318 = ::fmaf(v317, v308, v310);
    const float v319 = v314 ? v318 : v310;
    v321[l] = v319 * v306;
    const float v323 = v279[l] * v308;
    const float v324 = ::fabsf(v323);
    const bool v325 = v324 > 0.0f;
    const bool v326 = v324 < fw_inff;
    const bool v327 = v325 && v326;
    const float v328 = -v323;
    const float v329 = ::fmaf(v328, v307, v279[l]);
    const float v330 = ::fmaf(v329, v308, v323);
    const float v331 = v327 ? v330 : v323;
    const float v332 = v331 * v306;
    const float v333 = v332 + 1.0e-05f;
    v334[l] = ::rsqrtf(v333);
  }
  float v336[4];
  fw_load_f32x4_ldg(in1 + v277, v336);
  float v338[4];
  fw_load_f32x4_ldg(in2 + v277, v338);
  for (int c290 = v281; c290 < v289; c290 += 32) {
    const int v291 = c290 + v266;
    const int v292 = v285 - v291;
    const int v293 = v291 + 8;
    const int v294 = v285 - v293;
    const int v295 = v291 + 16;
    const int v296 = v285 - v295;
    const int v297 = v291 + 24;
    const int v298 = v285 - v297;
    const int v299 = v292 * n6;
    const int v300 = v299 + v277;
    float v301[4];
    fw_load_f32x4_ldg(in0 + v300, v301);
    const int v340 = v294 * n6;
    const int v341 = v340 + v277;
    float v342[4];
    fw_load_f32x4_ldg(in0 + v341, v342);
    const int v347 = v296 * n6;
    const int v348 = v347 + v277;
    float v349[4];
    fw_load_f32x4_ldg(in0 + v348, v349);
    const int v354 = v298 * n6;
    const int v355 = v354 + v277;
    float v356[4];
    fw_load_f32x4_ldg(in0 + v355, v356);
    float v339[4];
    float v346[4];
    float v353[4];
    float v360[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v322 = v301[l] - v321[l];
      const float v335 = v322 * v334[l];
      const float v337 = v335 * v336[l];
      v339[l] = v337 + v338[l];
      const float v343 = v342[l] - v321[l];
      const float v344 = v343 * v334[l];
      const float v345 = v344 * v336[l];
      v346[l] = v345 + v338[l];
      const float v350 = v349[l] - v321[l];
      const float v351 = v350 * v334[l];
      const float v352 = v351 * v336[l];
      v353[l] = v352 + v338[l];
      const float v357 = v356[l] - v321[l];
      const float v358 = v357 * v334[l];
      const float v359 = v358 * v336[l];
      v360[l] = v359 + v338[l];
    }
    const int v361 = v292 * n10;
    const int v362 = v361 + v277;
    if (v274) {
      fw_store_f32x4(out3 + v362, v339);
    }
    const int v363 = v294 * n10;
    const int v364 = v363 + v277;
    if (v274) {
      fw_store_f32x4(out3 + v364, v346);
    }
    const int v365 = v296 * n10;
    const int v366 = v365 + v277;
    if (v274) {
      fw_store_f32x4(out3 + v366, v353);
    }
    const int v367 = v298 * n10;
    const int v368 = v367 + v277;
    if (v274) {
      fw_store_f32x4(out3 + v368, v360);
    }
  }
  for (int c369 = v289; c369 < v283; c369 += 8) {
    const int v370 = c369 + v266;
    const bool v381 = v370 < v283;
    if (v381) {
      const int v371 = v285 - v370;
      const int v372 = v371 * n6;
      const int v373 = v372 + v277;
      float v374[4];
      fw_load_f32x4_ldg(in0 + v373, v374);
      float v378[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v375 = v374[l] - v321[l];
        const float v376 = v375 * v334[l];
        const float v377 = v376 * v336[l];
        v378[l] = v377 + v338[l];
      }
      const int v379 = v371 * n10;
      const int v380 = v379 + v277;
      if (v274) {
        fw_store_f32x4(out3 + v380, v378);
      }
    }
  }
  const bool v382 = v266 == 0;
  const int v383 = (int)((unsigned)v271 * (unsigned)n3);
  const int v384 = (int)((unsigned)v383 + (unsigned)v276);
  const int v385 = (int)((unsigned)v384 * (unsigned)4);
  const bool last386 = fw_last(counters + v269, (int)n1);
  if (last386) {
    const int v387 = fw_udiv(tid2, 32);
    const int v388 = v387 * 32;
    const int v389 = tid2 - v388;
    const int v390 = v269 * 32;
    const int v391 = v390 + v389;
    const bool v392 = v391 < n3;
    const int v393 = n3 + (-1);
    const int v394 = v391 < v393 ? v391 : v393;
    const int v395 = v394 * 4;
    float v396[4];
    fw_load_f32x4_ldg(total_r0 + v395, v396);
    float v397[4];
    fw_load_f32x4_ldg(total_r1 + v395, v397);
    const bool v398 = v387 == 0;
    const long long v399 = (long long)n9;
    const float v400 = (float)v399;
    const float v401 = ::fabsf(v400);
    const bool v402 = v401 < 7.888609e-31f;
    const float v403 = v402 ? 1.8446744e+19f : 1.0f;
    const float v404 = v400 * v403;
    const float v405 = 1.0f / v404;
    float v420[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v407 = v397[l] * v405;
      const float v408 = ::fabsf(v407);
      const bool v409 = v408 > 0.0f;
      const bool v410 = v408 < fw_inff;
      const bool v411 = v409 && v410;
      const float v412 = -v407;
      const float v414 = ::fmaf(v412, v404, v397[l]);
      const float v415 = ::fmaf(v414, v405, v407);
      const float v416 = v411 ? v415 : v407;
      const float v418 = v416 * v403;
      const float v419 = v418 + 1.0e-05f;
      v420[l] = ::rsqrtf(v419);
    }
    const bool v421 = v398 && v392;
    if (v421) {
      fw_store_f32x4(out4 + v395, v420);
    }
    float v422[4];
    fw_load_f32x4_ldg(in3 + v395, v422);
    float v435[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v423 = v422[l] * 0.9f;
      const float v424 = v396[l] * v405;
      const float v425 = ::fabsf(v424);
      const bool v426 = v425 > 0.0f;
      const bool v427 = v425 < fw_inff;
      const bool v428 = v426 && v427;
      const float v429 = -v424;
      const float v430 = ::fmaf(v429, v404, v396[l]);
      const float v431 = ::fmaf(v430, v405, v424);
      const float v432 = v428 ? v431 : v424;
      const float v433 = v432 * v403;
      const float v434 = v433 * 0.1f;
      v435[l] = v423 + v434;
    }
    if (v421) {
      fw_store_f32x4(out6 + v395, v435);
    }
  }
}
