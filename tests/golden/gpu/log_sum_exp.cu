// log_sum_exp, made by Fusewright

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

// 2^x, to 2^-22
__device__ __forceinline__ float fw_fast_exp2(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

#endif

#define fw_inff __int_as_float(0x7f800000)

#define fw_nanf __int_as_float(0x7fc00000)

__device__ __forceinline__ void fw_fetch_f32x4_ldcs(const float* p, unsigned* w) {
  const uint4 a0 = __ldcs((const uint4*)p);
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

__device__ __forceinline__ void fw_load_f32x4_ldcs(const float* p, float* v) {
  unsigned w[4];
  fw_fetch_f32x4_ldcs(p, w);
  fw_unpack_f32x4(w, v);
}

__device__ __forceinline__ float fw_max_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = fw_max(x[j], x[j + 2]);
  x[0] = fw_max(x[0], x[1]);
  return x[0];
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

// max over groups of 256 threads
__device__ __forceinline__ float fw_max_f32_256x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 8];
  #pragma unroll
  for (int d = 1; d <= 4; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  return x;
}

// sum over groups of 256 threads
__device__ __forceinline__ float fw_sum_f32_256x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 8];
  #pragma unroll
  for (int d = 1; d <= 4; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  return x;
}

// inner reduction
extern "C" __global__ void __launch_bounds__(256) log_sum_exp_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[32];
  float run1 = (-fw_inff);
  float run2 = 0.0f;
  const int v3 = fw_udiv(n1, 1024);
  const int v4 = v3 * 1024;
  const int v14 = bid0 * n2;
  for (int c5 = 0; c5 < v4; c5 += 1024) {
    const int v6 = c5 + tid0;
    const int v7 = v6 * 4;
    const int v8 = v6 + 256;
    const int v9 = v8 * 4;
    const int v10 = v6 + 512;
    const int v11 = v10 * 4;
    const int v12 = v6 + 768;
    const int v13 = v12 * 4;
    const int v15 = v14 + v7;
    float v16[4];
    fw_load_f32x4_ldcs(in0 + v15, v16);
    const int v17 = v14 + v9;
    float v18[4];
    fw_load_f32x4_ldcs(in0 + v17, v18);
    const int v19 = v14 + v11;
    float v20[4];
    fw_load_f32x4_ldcs(in0 + v19, v20);
    const int v21 = v14 + v13;
    float v22[4];
    fw_load_f32x4_ldcs(in0 + v21, v22);
    float v25[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v23 = fw_max(v16[l], v18[l]);
      const float v24 = fw_max(v23, v20[l]);
      v25[l] = fw_max(v24, v22[l]);
    }
    const float v26 = fw_max_f32x4(v25);
    const float v27 = fw_max(run1, v26);
    float v44[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v29 = fw_max(v27, (-3.4028235e+38f));
      const float v30 = v16[l] - v29;
      const float v31 = v30 * 1.442695f;
      const float v32 = fw_fast_exp2(v31);
      const float v33 = v18[l] - v29;
      const float v34 = v33 * 1.442695f;
      const float v35 = fw_fast_exp2(v34);
      const float v36 = v20[l] - v29;
      const float v37 = v36 * 1.442695f;
      const float v38 = fw_fast_exp2(v37);
      const float v39 = v22[l] - v29;
      const float v40 = v39 * 1.442695f;
      const float v41 = fw_fast_exp2(v40);
      const float v42 = v32 + v35;
      const float v43 = v42 + v38;
      v44[l] = v43 + v41;
    }
    const float v45 = fw_max(v27, (-3.4028235e+38f));
    const float v46 = run1 - v45;
    const float v47 = v46 * 1.442695f;
    const float v48 = fw_fast_exp2(v47);
    const float v49 = run2 * v48;
    const float v50 = fw_sum_f32x4(v44);
    const float v51 = v49 + v50;
    run2 = v51;
    run1 = v27;
  }
  for (int c52 = v4; c52 < n1; c52 += 256) {
    const int v53 = c52 + tid0;
    const bool v71 = v53 < n1;
    if (v71) {
      const int v54 = v53 * 4;
      const int v55 = v14 + v54;
      float v56[4];
      fw_load_f32x4_ldcs(in0 + v55, v56);
      const float v57 = fw_max_f32x4(v56);
      const float v58 = fw_max(run1, v57);
      float v63[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v60 = fw_max(v58, (-3.4028235e+38f));
        const float v61 = v56[l] - v60;
        const float v62 = v61 * 1.442695f;
        v63[l] = fw_fast_exp2(v62);
      }
      const float v64 = fw_max(v58, (-3.4028235e+38f));
      const float v65 = run1 - v64;
      const float v66 = v65 * 1.442695f;
      const float v67 = fw_fast_exp2(v66);
      const float v68 = run2 * v67;
      const float v69 = fw_sum_f32x4(v63);
      const float v70 = v68 + v69;
      run2 = v70;
      run1 = v58;
    }
  }
  const float v72 = run1;
  const float v73 = run2;
  const float max74 = fw_max_f32_256x1(v72, fw_scratch0);
  const float v75 = fw_max(max74, (-3.4028235e+38f));
  const float v76 = v72 - v75;
  const float v77 = v76 * 1.442695f;
  const float v78 = fw_fast_exp2(v77);
  const float v79 = v73 * v78;
  const float sum80 = fw_sum_f32_256x1(v79, fw_scratch1);
  const bool v81 = max74 == (-fw_inff);
  const bool v82 = n1 > 0;
  const bool v83 = v81 && v82;
  const float v84 = v83 ? fw_nanf : sum80;
  const bool v85 = tid0 == 0;
  const float v86 = ::logf(v84);
  const float v87 = v86 + max74;
  if (v85) {
    out1[bid0] = v87;
  }
}
