// rms_norm_backward, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
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
__device__ __forceinline__ float fw_sum_f32_128x1_of512(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
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
    float* __restrict__ part_r1,
    int* __restrict__ counters) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[4];
  float kept1[4];
  float held_r1[4];
  float kept2[4];
  float next0[4];
  float next1[4];
  __shared__ __align__(16) unsigned char fw_scratch0[8192];
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
  const bool v30 = bid0 < n4;
  if (v30) {
    const int v13 = bid0 * 4;
    const int v14 = v13 + v1;
    const bool v15 = v14 < n5;
    const int v16 = n5 + (-1);
    const int v17 = v14 < v16 ? v14 : v16;
    const int v23 = v17 * n6;
    const int v26 = v17 * n7;
    #pragma unroll
    for (int k18 = 0; k18 < 1; ++k18) {
      const int v19 = k18 * 128;
      const int v20 = v19 + v3;
      const bool v29 = v20 < n3;
      if (v29) {
        const int v21 = v20 * 4;
        const int v22 = k18 * 4;
        const int v24 = v23 + v21;
        float v25[4];
        fw_load_f32x4_ldg(in0 + v24, v25);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          next0[v22 + l] = v25[l];
        }
        const int v27 = v26 + v21;
        float v28[4];
        fw_load_f32x4_ldg(in2 + v27, v28);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          next1[v22 + l] = v28[l];
        }
      }
    }
  }
  const long long v97 = (long long)n8;
  const float v98 = (float)v97;
  for (int tile31 = bid0; tile31 < n4; tile31 += n1) {
    const int v32 = tile31 * 4;
    const int v33 = v32 + v1;
    const bool v34 = v33 < n5;
    const int v35 = n5 + (-1);
    const int v36 = v33 < v35 ? v33 : v35;
    #pragma unroll
    for (int k37 = 0; k37 < 1; ++k37) {
      const int v38 = k37 * 128;
      const int v39 = v38 + v3;
      const bool v44 = v39 < n3;
      if (v44) {
        const int v40 = (int)((unsigned)v39 * (unsigned)4);
        const int v41 = k37 * 4;
        float v42[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          v42[l] = next0[v41 + l];
        }
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          kept1[v41 + l] = v42[l];
        }
        float v43[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          v43[l] = next1[v41 + l];
        }
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          kept0[v41 + l] = v43[l];
        }
      }
    }
    const int v45 = tile31 + n1;
    const bool v63 = v45 < n4;
    if (v63) {
      const int v46 = v45 * 4;
      const int v47 = v46 + v1;
      const bool v48 = v47 < n5;
      const int v49 = n5 + (-1);
      const int v50 = v47 < v49 ? v47 : v49;
      const int v56 = v50 * n6;
      const int v59 = v50 * n7;
      #pragma unroll
      for (int k51 = 0; k51 < 1; ++k51) {
        const int v52 = k51 * 128;
        const int v53 = v52 + v3;
        const bool v62 = v53 < n3;
        if (v62) {
          const int v54 = v53 * 4;
          const int v55 = k51 * 4;
          const int v57 = v56 + v54;
          float v58[4];
          fw_load_f32x4_ldg(in0 + v57, v58);
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            next0[v55 + l] = v58[l];
          }
          const int v60 = v59 + v54;
          float v61[4];
          fw_load_f32x4_ldg(in2 + v60, v61);
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            next1[v55 + l] = v61[l];
          }
        }
      }
    }
    const float v64 = __ldg(in3 + v36);
    float acc65[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc65[l] = (-0.0f);
    }
    #pragma unroll
    for (int k66 = 0; k66 < 1; ++k66) {
      const int v67 = k66 * 128;
      const int v68 = v67 + v3;
      const bool v82 = v68 < n3;
      if (v82) {
        const int v69 = (int)((unsigned)v68 * (unsigned)4);
        const int v70 = k66 * 4;
        float v81[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v71 = kept1[v70 + l];
          const float v72 = kept2[v70 + l];
          const float v73 = v71 * v72;
          const float v74 = kept0[v70 + l];
          const float v76 = v74 * v64;
          const float v77 = v73 * v76;
          const float v78 = v71 * v76;
          const float v79 = acc65[l] + v77;
          acc65[l] = v79;
          const float v80 = held_r1[v70 + l];
          v81[l] = v80 + v78;
        }
        if (v34) {
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            held_r1[v70 + l] = v81[l];
          }
        }
      }
    }
    float v83[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v83[l] = acc65[l];
    }
    const float v84 = fw_sum_f32x4(v83);
    const float v85 = v84 + 0.0f;
    __syncthreads();  // all have read the results of the reduction before
    const float sum86 = fw_sum_f32_128x1_of512(v85, fw_scratch0);
    const float v99 = sum86 / v98;
    const int v104 = v36 * n9;
    #pragma unroll
    for (int k87 = 0; k87 < 1; ++k87) {
      const int v88 = k87 * 128;
      const int v89 = v88 + v3;
      const bool v106 = v89 < n3;
      if (v106) {
        const int v90 = v89 * 4;
        const int v91 = k87 * 4;
        float v103[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v92 = kept1[v91 + l];
          const float v93 = kept2[v91 + l];
          const float v94 = v92 * v93;
          const float v95 = kept0[v91 + l];
          const float v96 = v95 * v64;
          const float v101 = v96 * v99;
          const float v102 = v94 - v101;
          v103[l] = v102 * v64;
        }
        const int v105 = v104 + v90;
        if (v34) {
          fw_store_f32x4(out4 + v105, v103);
        }
      }
    }
    const bool v107 = v3 == 0;
  }
  const bool v108 = tid0 == 0;
  #pragma unroll
  for (int k109 = 0; k109 < 1; ++k109) {
    const int v110 = k109 * 128;
    const int v111 = v110 + v3;
    const bool v112 = v111 < n3;
    const bool v113 = v1 == 0;
    const bool v114 = v112 && v113;
    const int v115 = v111 * 4;
    const int v116 = bid0 * n10;
    const int v117 = k109 * 4;
    float v118[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v118[l] = held_r1[v117 + l];
    }
    __syncthreads();  // all have read the results of the reduction before
    float sum119[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum119[l] = v118[l];
    fw_sum_f32x4_4x128(sum119, fw_scratch0);
    const int v120 = v116 + v115;
    if (v114) {
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        part_r1[v120 + l] = sum119[l];
      }
    }
  }
  const bool last121 = fw_last(counters + 0, (int)n1);
  if (last121) {
    const int v122 = fw_udiv(tid0, 128);
    const int v123 = v122 * 128;
    const int v124 = tid0 - v123;
    for (int c125 = 0; c125 < n3; c125 += 128) {
      const int v126 = c125 + v124;
      const bool v127 = v126 < n3;
      const int v128 = n3 + (-1);
      const int v129 = v126 < v128 ? v126 : v128;
      const int v130 = v129 * 4;
      float total131[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        total131[l] = 0.0f;
      }
      for (int t132 = v122; t132 < n1; t132 += 4) {
        const int v133 = t132 * n10;
        const int v134 = v133 + v130;
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v135 = __ldcg(part_r1 + v134 + l);
          const float v136 = total131[l] + v135;
          total131[l] = v136;
        }
      }
      float v137[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        v137[l] = total131[l];
      }
      __syncthreads();  // all have read the results of the reduction before
      float sum138[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) sum138[l] = v137[l];
      fw_sum_f32x4_4x128(sum138, fw_scratch0);
      const bool v139 = v122 == 0;
      const bool v140 = v127 && v139;
      if (v140) {
        fw_store_f32x4(out5 + v130, sum138);
      }
    }
  }
}
