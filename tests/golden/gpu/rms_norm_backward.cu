// rms_norm_backward, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

// waits for the others of N neighbouring threads
template <int N> __device__ __forceinline__ void fw_group_barrier() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.x / N + 1), "n"(N) : "memory");
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

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

__device__ __forceinline__ float fw_sum_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 128 threads
__device__ __forceinline__ float fw_sum_f32_128x1_of512_apart(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  fw_group_barrier<128>();
  const unsigned mine = t / 32;
  const unsigned first = mine - mine / 1 % 4 * 1;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] + y[j + 1];
  x = y[0] + y[2];
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

// sum over groups of 4 threads that are 128 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_4x128(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    s[t + l * 512] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const unsigned mine = t;
    const unsigned first = mine % 128 + l * 512;
    float y[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) y[j] = s[first + j * 128];
    #pragma unroll
    for (int j = 0; j < 4; j += 2) y[j] = y[j] + y[j + 1];
    x = y[0] + y[2];
    v[l] = x;
  }
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

// inner+outer reduction
extern "C" __global__ void __launch_bounds__(512, 2) rms_norm_backward_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    const float* __restrict__ in3,
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
    int n10,
    int n11,
    float* __restrict__ part_r1) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[4];
  float kept1[4];
  float held_r1[4];
  float kept2[4];
  float once0[1];
  float next0[4];
  float next1[4];
  __shared__ __align__(16) unsigned char fw_scratch0[8192];
  __shared__ __align__(16) unsigned char fw_scratch2[128];
  unsigned fw_half2 = 0;
  const int v1 = fw_udiv(tid0, 128);
  const int v2 = v1 * 128;
  const int v3 = tid0 - v2;
  #pragma unroll
  for (int k4 = 0; k4 < 1; ++k4) {
    const int v5 = k4 * 4;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      held_r1[v5 + l] = 0.0f;
    }
  }
  #pragma unroll
  for (int k6 = 0; k6 < 1; ++k6) {
    const int v7 = k6 * 128;
    const int v8 = v7 + v3;
    const bool v12 = v8 < n3;
    if (v12) {
      const int v9 = v8 * 4;
      const int v10 = k6 * 4;
      float v11[4];
      fw_load_f32x4_ldg(in1 + v9, v11);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept2[v10 + l] = v11[l];
      }
    }
  }
  const bool v31 = bid0 < n4;
  if (v31) {
    const int v13 = bid0 * 4;
    const int v14 = v13 + v1;
    const bool v15 = v14 < n5;
    const int v16 = n5 + (-1);
    const int v17 = v14 < v16 ? v14 : v16;
    const float v18 = __ldg(in3 + v17);
    once0[0] = v18;
    const int v24 = v17 * n6;
    const int v27 = v17 * n7;
    #pragma unroll
    for (int k19 = 0; k19 < 1; ++k19) {
      const int v20 = k19 * 128;
      const int v21 = v20 + v3;
      const bool v30 = v21 < n3;
      if (v30) {
        const int v22 = v21 * 4;
        const int v23 = k19 * 4;
        const int v25 = v24 + v22;
        float v26[4];
        fw_load_f32x4_ldg(in0 + v25, v26);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          next0[v23 + l] = v26[l];
        }
        const int v28 = v27 + v22;
        float v29[4];
        fw_load_f32x4_ldg(in2 + v28, v29);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          next1[v23 + l] = v29[l];
        }
      }
    }
  }
  const long long v96 = (long long)n8;
  const float v97 = (float)v96;
  for (int tile32 = bid0; tile32 < n4; tile32 += n1) {
    const int v33 = tile32 * 4;
    const int v34 = v33 + v1;
    const bool v35 = v34 < n5;
    const int v36 = n5 + (-1);
    const int v37 = v34 < v36 ? v34 : v36;
    const float v38 = once0[0];
    #pragma unroll
    for (int k39 = 0; k39 < 1; ++k39) {
      const int v40 = k39 * 128;
      const int v41 = v40 + v3;
      const bool v46 = v41 < n3;
      if (v46) {
        const int v42 = (int)((unsigned)v41 * (unsigned)4);
        const int v43 = k39 * 4;
        float v44[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          v44[l] = next0[v43 + l];
        }
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          kept1[v43 + l] = v44[l];
        }
        float v45[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          v45[l] = next1[v43 + l];
        }
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          kept0[v43 + l] = v45[l];
        }
      }
    }
    const int v47 = tile32 + n1;
    const bool v66 = v47 < n4;
    if (v66) {
      const int v48 = v47 * 4;
      const int v49 = v48 + v1;
      const bool v50 = v49 < n5;
      const int v51 = n5 + (-1);
      const int v52 = v49 < v51 ? v49 : v51;
      const float v53 = __ldg(in3 + v52);
      once0[0] = v53;
      const int v59 = v52 * n6;
      const int v62 = v52 * n7;
      #pragma unroll
      for (int k54 = 0; k54 < 1; ++k54) {
        const int v55 = k54 * 128;
        const int v56 = v55 + v3;
        const bool v65 = v56 < n3;
        if (v65) {
          const int v57 = v56 * 4;
          const int v58 = k54 * 4;
          const int v60 = v59 + v57;
          float v61[4];
          fw_load_f32x4_ldg(in0 + v60, v61);
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            next0[v58 + l] = v61[l];
          }
          const int v63 = v62 + v57;
          float v64[4];
          fw_load_f32x4_ldg(in2 + v63, v64);
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            next1[v58 + l] = v64[l];
          }
        }
      }
    }
    float acc67[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc67[l] = 0.0f;
    }
    #pragma unroll
    for (int k68 = 0; k68 < 1; ++k68) {
      const int v69 = k68 * 128;
      const int v70 = v69 + v3;
      const bool v82 = v70 < n3;
      if (v82) {
        const int v71 = (int)((unsigned)v70 * (unsigned)4);
        const int v72 = k68 * 4;
        float v81[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v73 = kept1[v72 + l];
          const float v74 = kept2[v72 + l];
          const float v75 = v73 * v74;
          const float v76 = kept0[v72 + l];
          const float v78 = v76 * v38;
          const float v79 = ::fmaf(v75, v78, acc67[l]);
          acc67[l] = v79;
          const float v80 = held_r1[v72 + l];
          v81[l] = ::fmaf(v73, v78, v80);
        }
        if (v35) {
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            held_r1[v72 + l] = v81[l];
          }
        }
      }
    }
    float v83[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v83[l] = acc67[l];
    }
    const float v84 = fw_sum_f32x4(v83);
    fw_half2 ^= 64;
    const float sum85 = fw_sum_f32_128x1_of512_apart(v84, fw_scratch2 + fw_half2);
    const float v98 = sum85 / v97;
    const int v103 = v37 * n9;
    #pragma unroll
    for (int k86 = 0; k86 < 1; ++k86) {
      const int v87 = k86 * 128;
      const int v88 = v87 + v3;
      const bool v105 = v88 < n3;
      if (v105) {
        const int v89 = v88 * 4;
        const int v90 = k86 * 4;
        float v102[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v91 = kept1[v90 + l];
          const float v92 = kept2[v90 + l];
          const float v93 = v91 * v92;
          const float v94 = kept0[v90 + l];
          const float v95 = v94 * v38;
          const float v100 = v95 * v98;
          const float v101 = v93 - v100;
          v102[l] = v101 * v38;
        }
        const int v104 = v103 + v89;
        if (v35) {
          fw_store_f32x4(out4 + v104, v102);
        }
      }
    }
    const bool v106 = v3 == 0;
  }
  const bool v107 = tid0 == 0;
  #pragma unroll
  for (int k108 = 0; k108 < 1; ++k108) {
    const int v109 = k108 * 128;
    const int v110 = v109 + v3;
    const bool v111 = v110 < n3;
    const bool v112 = v1 == 0;
    const bool v113 = v111 && v112;
    const int v114 = v110 * 4;
    const int v115 = bid0 * n10;
    const int v116 = k108 * 4;
    float v117[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v117[l] = held_r1[v116 + l];
    }
    __syncthreads();  // all have read the results of the collective before
    float sum118[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum118[l] = v117[l];
    fw_sum_f32x4_4x128(sum118, fw_scratch0);
    const int v119 = v115 + v114;
    if (v113) {
      fw_store_f32x4(part_r1 + v119, sum118);
    }
  }
}

// combine the blocks' column results
extern "C" __global__ void __launch_bounds__(256, 2) rms_norm_backward_1(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    const float* __restrict__ in2,
    const float* __restrict__ in3,
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
    int n10,
    int n11,
    float* __restrict__ part_r1) {
  const int bid1 = blockIdx.x;
  const int tid1 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[256];
  const int v120 = fw_udiv(tid1, 2);
  const int v121 = v120 * 2;
  const int v122 = tid1 - v121;
  const int v123 = bid1 * 2;
  const int v124 = v123 + v122;
  const bool v125 = v124 < n3;
  const int v126 = n3 + (-1);
  const int v127 = v124 < v126 ? v124 : v126;
  const int v128 = v127 * 4;
  float total129[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total129[l] = 0.0f;
  }
  const int v130 = n1 + (-1);
  for (int t131 = v120; t131 < n1; t131 += 1024) {
    const int v132 = t131 * n10;
    const int v133 = v132 + v128;
    float v134[4];
    fw_load_f32x4_ldg(part_r1 + v133, v134);
    const int v135 = t131 + 128;
    const bool v136 = v135 < n1;
    const int v137 = v135 < v130 ? v135 : v130;
    const int v138 = v137 * n10;
    const int v139 = v138 + v128;
    float v140[4];
    fw_load_f32x4_ldg(part_r1 + v139, v140);
    const int v141 = t131 + 256;
    const bool v142 = v141 < n1;
    const int v143 = v141 < v130 ? v141 : v130;
    const int v144 = v143 * n10;
    const int v145 = v144 + v128;
    float v146[4];
    fw_load_f32x4_ldg(part_r1 + v145, v146);
    const int v147 = t131 + 384;
    const bool v148 = v147 < n1;
    const int v149 = v147 < v130 ? v147 : v130;
    const int v150 = v149 * n10;
    const int v151 = v150 + v128;
    float v152[4];
    fw_load_f32x4_ldg(part_r1 + v151, v152);
    const int v153 = t131 + 512;
    const bool v154 = v153 < n1;
    const int v155 = v153 < v130 ? v153 : v130;
    const int v156 = v155 * n10;
    const int v157 = v156 + v128;
    float v158[4];
    fw_load_f32x4_ldg(part_r1 + v157, v158);
    const int v159 = t131 + 640;
    const bool v160 = v159 < n1;
    const int v161 = v159 < v130 ? v159 : v130;
    const int v162 = v161 * n10;
    const int v163 = v162 + v128;
    float v164[4];
    fw_load_f32x4_ldg(part_r1 + v163, v164);
    const int v165 = t131 + 768;
    const bool v166 = v165 < n1;
    const int v167 = v165 < v130 ? v165 : v130;
    const int v168 = v167 * n10;
    const int v169 = v168 + v128;
    float v170[4];
    fw_load_f32x4_ldg(part_r1 + v169, v170);
    const int v171 = t131 + 896;
    const bool v172 = v171 < n1;
    const int v173 = v171 < v130 ? v171 : v130;
    const int v174 = v173 * n10;
    const int v175 = v174 + v128;
    float v176[4];
    fw_load_f32x4_ldg(part_r1 + v175, v176);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v177 = total129[l] + v134[l];
      total129[l] = v177;
      const float v179 = v136 ? v140[l] : 0.0f;
      const float v180 = total129[l] + v179;
      total129[l] = v180;
      const float v182 = v142 ? v146[l] : 0.0f;
      const float v183 = total129[l] + v182;
      total129[l] = v183;
      const float v185 = v148 ? v152[l] : 0.0f;
      const float v186 = total129[l] + v185;
      total129[l] = v186;
      const float v188 = v154 ? v158[l] : 0.0f;
      const float v189 = total129[l] + v188;
      total129[l] = v189;
      const float v191 = v160 ? v164[l] : 0.0f;
      const float v192 = total129[l] + v191;
      total129[l] = v192;
      const float v194 = v166 ? v170[l] : 0.0f;
      const float v195 = total129[l] + v194;
      total129[l] = v195;
      const float v197 = v172 ? v176[l] : 0.0f;
      const float v198 = total129[l] + v197;
      total129[l] = v198;
    }
  }
  float v199[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v199[l] = total129[l];
  }
  float sum200[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum200[l] = v199[l];
  fw_sum_f32x4_128x2(sum200, fw_scratch0);
  const bool v201 = v120 == 0;
  const bool v202 = v125 && v201;
  if (v202) {
    fw_store_f32x4(out5 + v128, sum200);
  }
}
