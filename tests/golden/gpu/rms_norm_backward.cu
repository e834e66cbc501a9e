// rms_norm_backward, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

__device__ __forceinline__ void fw_unpack_f32x4(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
}

__device__ __forceinline__ void fw_load_f32x4_ldcs(const float* p, float* v) {
  const uint4 a0 = __ldcs((const uint4*)p);
  const unsigned w[4] = {a0.x, a0.y, a0.z, a0.w};
  fw_unpack_f32x4(w, v);
}

__device__ __forceinline__ void fw_load_f32x4_ldg(const float* p, float* v) {
  const uint4 a0 = __ldg((const uint4*)p);
  const unsigned w[4] = {a0.x, a0.y, a0.z, a0.w};
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

// sum over groups of 64 threads
__device__ __forceinline__ float fw_sum_f32_64x1_of128(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  const int mine = t / 32, first = mine - mine / 1 % 2 * 1;
  float y[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) y[j] = s[first + j * 1];
  x = y[0] + y[1];
  return x;
}

__device__ __forceinline__ void fw_pack_f32x4(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
  w[2] = __float_as_uint(v[2]);
  w[3] = __float_as_uint(v[3]);
}

__device__ __forceinline__ void fw_store_f32x4_stcs(float* p, const float* v) {
  unsigned w[4];
  fw_pack_f32x4(v, w);
  __stcs((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// sum over groups of 2 threads that are 64 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_2x64(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    s[t + l * 128] = x;
  }
  __syncthreads();
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float x = v[l];
    const int mine = t, first = mine - mine / 64 % 2 * 64 + l * 128;
    float y[2];
    #pragma unroll
    for (int j = 0; j < 2; ++j) y[j] = s[first + j * 64];
    x = y[0] + y[1];
    v[l] = x;
  }
}

// sum over groups of 32 threads that are 8 apart, 4 values at a time
__device__ __forceinline__ void fw_sum_f32x4_32x8(float* v, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
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
    const int mine = t / 32 * 8 + t % 8, first = mine - mine / 8 % 8 * 8 + l * 64;
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

__device__ __forceinline__ void fw_store_f32x4(float* p, const float* v) {
  unsigned w[4];
  fw_pack_f32x4(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// inner+outer reduction
extern "C" __global__ void __launch_bounds__(128) rms_norm_backward_0(
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
  float kept0[8];
  float kept1[8];
  float held_r1[8];
  __shared__ __align__(16) unsigned char fw_scratch0[2048];
  const int v1 = fw_udiv(tid0, 64);
  const int v2 = v1 * 64;
  const int v3 = tid0 - v2;
  #pragma unroll
  for (int k4 = 0; k4 < 2; ++k4) {
    const int v5 = k4 * 4;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      held_r1[v5 + l] = 0.0f;
    }
  }
  const long long v48 = (long long)n7;
  const float v49 = (float)v48;
  for (int tile6 = bid0; tile6 < n9; tile6 += n1) {
    const int v7 = tile6 * 2;
    const int v8 = v7 + v1;
    const bool v9 = v8 < n3;
    const int v10 = n3 + (-1);
    const int v11 = v8 < v10 ? v8 : v10;
    float acc12[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc12[l] = 0.0f;
    }
    const int v17 = v11 * n4;
    const int v21 = v11 * n5;
    const float v26 = __ldg(in3 + v11);
    #pragma unroll
    for (int k13 = 0; k13 < 2; ++k13) {
      const int v14 = k13 * 64;
      const int v15 = v14 + v3;
      const bool v34 = v15 < n6;
      if (v34) {
        const int v16 = v15 * 4;
        const int v18 = v17 + v16;
        float v19[4];
        fw_load_f32x4_ldcs(in2 + v18, v19);
        const int v20 = k13 * 4;
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          kept0[v20 + l] = v19[l];
        }
        const int v22 = v21 + v16;
        float v23[4];
        fw_load_f32x4_ldcs(in0 + v22, v23);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          kept1[v20 + l] = v23[l];
        }
        float v24[4];
        fw_load_f32x4_ldg(in1 + v16, v24);
        float v33[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v25 = v23[l] * v24[l];
          const float v28 = v19[l] * v26;
          const float v29 = v25 * v28;
          const float v30 = v23[l] * v28;
          const float v31 = acc12[l] + v29;
          acc12[l] = v31;
          const float v32 = held_r1[v20 + l];
          v33[l] = v32 + v30;
        }
        if (v9) {
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            held_r1[v20 + l] = v33[l];
          }
        }
      }
    }
    float v35[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v35[l] = acc12[l];
    }
    const float v36 = fw_sum_f32x4(v35);
    __syncthreads();  // all have read the results of the reduction before
    const float sum37 = fw_sum_f32_64x1_of128(v36, fw_scratch0);
    const float v50 = sum37 / v49;
    const int v55 = v11 * n8;
    #pragma unroll
    for (int k38 = 0; k38 < 2; ++k38) {
      const int v39 = k38 * 64;
      const int v40 = v39 + v3;
      const bool v57 = v40 < n6;
      if (v57) {
        const int v41 = v40 * 4;
        const int v42 = k38 * 4;
        float v44[4];
        fw_load_f32x4_ldg(in1 + v41, v44);
        float v54[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v43 = kept1[v42 + l];
          const float v45 = v43 * v44[l];
          const float v46 = kept0[v42 + l];
          const float v47 = v46 * v26;
          const float v52 = v47 * v50;
          const float v53 = v45 - v52;
          v54[l] = v53 * v26;
        }
        const int v56 = v55 + v41;
        if (v9) {
          fw_store_f32x4_stcs(out4 + v56, v54);
        }
      }
    }
    const bool v58 = v3 == 0;
  }
  const bool v59 = tid0 == 0;
  #pragma unroll
  for (int k60 = 0; k60 < 2; ++k60) {
    const int v61 = k60 * 64;
    const int v62 = v61 + v3;
    const bool v63 = v62 < n6;
    const bool v64 = v1 == 0;
    const bool v65 = v63 && v64;
    const int v66 = v62 * 4;
    const int v67 = bid0 * n10;
    const int v68 = k60 * 4;
    float v69[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v69[l] = held_r1[v68 + l];
    }
    __syncthreads();  // all have read the results of the reduction before
    float sum70[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) sum70[l] = v69[l];
    fw_sum_f32x4_2x64(sum70, fw_scratch0);
    const int v71 = v67 + v66;
    if (v65) {
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        part_r1[v71 + l] = sum70[l];
      }
    }
  }
}

// combine the blocks' column results
extern "C" __global__ void __launch_bounds__(256) rms_norm_backward_1(
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
  __shared__ __align__(16) unsigned char fw_scratch0[1024];
  const int v72 = fw_udiv(tid1, 8);
  const int v73 = v72 * 8;
  const int v74 = tid1 - v73;
  const int v75 = bid1 * 8;
  const int v76 = v75 + v74;
  const bool v77 = v76 < n6;
  const int v78 = n6 + (-1);
  const int v79 = v76 < v78 ? v76 : v78;
  const int v80 = v79 * 4;
  float total81[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    total81[l] = 0.0f;
  }
  for (int t82 = v72; t82 < n1; t82 += 32) {
    const int v83 = t82 * n10;
    const int v84 = v83 + v80;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v85 = __ldg(part_r1 + v84 + l);
      const float v86 = total81[l] + v85;
      total81[l] = v86;
    }
  }
  float v87[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v87[l] = total81[l];
  }
  float sum88[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) sum88[l] = v87[l];
  fw_sum_f32x4_32x8(sum88, fw_scratch0);
  const bool v89 = v72 == 0;
  const bool v90 = v77 && v89;
  if (v90) {
    fw_store_f32x4(out5 + v80, sum88);
  }
}
