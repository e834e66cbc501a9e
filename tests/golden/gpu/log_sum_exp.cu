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

__device__ __forceinline__ float fw_max_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = fw_max(x[j], x[j + 2]);
  x[0] = fw_max(x[0], x[1]);
  return x[0];
}

// max over groups of 256 threads
__device__ __forceinline__ float fw_max_f32_256x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  x = s[t / 256 * 8 + t % 8];
  #pragma unroll
  for (int d = 1; d <= 4; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  return x;
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

// sum over groups of 256 threads
__device__ __forceinline__ float fw_sum_f32_256x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  x = s[t / 256 * 8 + t % 8];
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
  float run1[4];
  float run2[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    run1[l] = (-fw_inff);
    run2[l] = 0.0f;
  }
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
    fw_load_f32x4_ldg(in0 + v15, v16);
    const int v17 = v14 + v9;
    float v18[4];
    fw_load_f32x4_ldg(in0 + v17, v18);
    const int v19 = v14 + v11;
    float v20[4];
    fw_load_f32x4_ldg(in0 + v19, v20);
    const int v21 = v14 + v13;
    float v22[4];
    fw_load_f32x4_ldg(in0 + v21, v22);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v23 = fw_max(run1[l], v16[l]);
      const float v24 = fw_max(v23, v18[l]);
      const float v25 = fw_max(v24, v20[l]);
      const float v26 = fw_max(v25, v22[l]);
      const float v27 = fw_max(v26, (-3.4028235e+38f));
      const float v28 = run1[l] - v27;
      const float v29 = v28 * 1.442695f;
      const float v30 = fw_fast_exp2(v29);
      const float v31 = run2[l] * v30;
      const float v32 = v16[l] - v27;
      const float v33 = v32 * 1.442695f;
      const float v34 = fw_fast_exp2(v33);
      const float v35 = v31 + v34;
      const float v36 = v18[l] - v27;
      const float v37 = v36 * 1.442695f;
      const float v38 = fw_fast_exp2(v37);
      const float v39 = v35 + v38;
      const float v40 = v20[l] - v27;
      const float v41 = v40 * 1.442695f;
      const float v42 = fw_fast_exp2(v41);
      const float v43 = v39 + v42;
      const float v44 = v22[l] - v27;
      const float v45 = v44 * 1.442695f;
      const float v46 = fw_fast_exp2(v45);
      const float v47 = v43 + v46;
      run2[l] = v47;
      run1[l] = v26;
    }
  }
  for (int c48 = v4; c48 < n1; c48 += 256) {
    const int v49 = c48 + tid0;
    const bool v63 = v49 < n1;
    if (v63) {
      const int v50 = v49 * 4;
      const int v51 = v14 + v50;
      float v52[4];
      fw_load_f32x4_ldg(in0 + v51, v52);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v53 = fw_max(run1[l], v52[l]);
        const float v54 = fw_max(v53, (-3.4028235e+38f));
        const float v55 = run1[l] - v54;
        const float v56 = v55 * 1.442695f;
        const float v57 = fw_fast_exp2(v56);
        const float v58 = run2[l] * v57;
        const float v59 = v52[l] - v54;
        const float v60 = v59 * 1.442695f;
        const float v61 = fw_fast_exp2(v60);
        const float v62 = v58 + v61;
        run2[l] = v62;
        run1[l] = v53;
      }
    }
  }
  float v64[4];
  float v65[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v64[l] = run1[l];
    v65[l] = run2[l];
  }
  const float v66 = fw_max_f32x4(v64);
  const float max67 = fw_max_f32_256x1(v66, fw_scratch0);
  float v73[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v69 = fw_max(max67, (-3.4028235e+38f));
    const float v70 = v64[l] - v69;
    const float v71 = v70 * 1.442695f;
    const float v72 = fw_fast_exp2(v71);
    v73[l] = v65[l] * v72;
  }
  const float v74 = fw_sum_f32x4(v73);
  const float sum75 = fw_sum_f32_256x1(v74, fw_scratch1);
  const bool v76 = max67 == (-fw_inff);
  const bool v77 = n1 > 0;
  const bool v78 = v76 && v77;
  const float v79 = v78 ? fw_nanf : sum75;
  const bool v80 = tid0 == 0;
  const float v81 = ::logf(v79);
  const float v82 = v81 + max67;
  if (v80) {
    out1[bid0] = v82;
  }
}
