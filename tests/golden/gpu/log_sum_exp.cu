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

// max over groups of 1024 threads
__device__ __forceinline__ float fw_max_f32_1024x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 32];
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  return x;
}

// sum over groups of 1024 threads
__device__ __forceinline__ float fw_sum_f32_1024x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 32];
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  return x;
}

// inner reduction
extern "C" __global__ void __launch_bounds__(1024) log_sum_exp_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ __align__(16) unsigned char fw_scratch1[128];
  float run1 = (-fw_inff);
  float run2 = 0.0f;
  const int v3 = fw_udiv(n1, 2048);
  const int v4 = v3 * 2048;
  const int v10 = bid0 * n2;
  for (int c5 = 0; c5 < v4; c5 += 2048) {
    const int v6 = c5 + tid0;
    const int v7 = v6 * 4;
    const int v8 = v6 + 1024;
    const int v9 = v8 * 4;
    const int v11 = v10 + v7;
    float v12[4];
    fw_load_f32x4_ldcs(in0 + v11, v12);
    const int v13 = v10 + v9;
    float v14[4];
    fw_load_f32x4_ldcs(in0 + v13, v14);
    float v15[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v15[l] = fw_max(v12[l], v14[l]);
    }
    const float v16 = fw_max_f32x4(v15);
    const float v17 = fw_max(run1, v16);
    float v26[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v19 = fw_max(v17, (-3.4028235e+38f));
      const float v20 = v12[l] - v19;
      const float v21 = v20 * 1.442695f;
      const float v22 = fw_fast_exp2(v21);
      const float v23 = v14[l] - v19;
      const float v24 = v23 * 1.442695f;
      const float v25 = fw_fast_exp2(v24);
      v26[l] = v22 + v25;
    }
    const float v27 = fw_max(v17, (-3.4028235e+38f));
    const float v28 = run1 - v27;
    const float v29 = v28 * 1.442695f;
    const float v30 = fw_fast_exp2(v29);
    const float v31 = run2 * v30;
    const float v32 = fw_sum_f32x4(v26);
    const float v33 = v31 + v32;
    run2 = v33;
    run1 = v17;
  }
  for (int c34 = v4; c34 < n1; c34 += 1024) {
    const int v35 = c34 + tid0;
    const bool v53 = v35 < n1;
    if (v53) {
      const int v36 = v35 * 4;
      const int v37 = v10 + v36;
      float v38[4];
      fw_load_f32x4_ldcs(in0 + v37, v38);
      const float v39 = fw_max_f32x4(v38);
      const float v40 = fw_max(run1, v39);
      float v45[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v42 = fw_max(v40, (-3.4028235e+38f));
        const float v43 = v38[l] - v42;
        const float v44 = v43 * 1.442695f;
        v45[l] = fw_fast_exp2(v44);
      }
      const float v46 = fw_max(v40, (-3.4028235e+38f));
      const float v47 = run1 - v46;
      const float v48 = v47 * 1.442695f;
      const float v49 = fw_fast_exp2(v48);
      const float v50 = run2 * v49;
      const float v51 = fw_sum_f32x4(v45);
      const float v52 = v50 + v51;
      run2 = v52;
      run1 = v40;
    }
  }
  const float v54 = run1;
  const float v55 = run2;
  const float max56 = fw_max_f32_1024x1(v54, fw_scratch0);
  const float v57 = fw_max(max56, (-3.4028235e+38f));
  const float v58 = v54 - v57;
  const float v59 = v58 * 1.442695f;
  const float v60 = fw_fast_exp2(v59);
  const float v61 = v55 * v60;
  const float sum62 = fw_sum_f32_1024x1(v61, fw_scratch1);
  const bool v63 = max56 == (-fw_inff);
  const bool v64 = n1 > 0;
  const bool v65 = v63 && v64;
  const float v66 = v65 ? fw_nanf : sum62;
  const bool v67 = tid0 == 0;
  const float v68 = ::logf(v66);
  const float v69 = v68 + max56;
  if (v67) {
    out1[bid0] = v69;
  }
}
