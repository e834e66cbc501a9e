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

#endif

#define fw_inff __int_as_float(0x7f800000)

#define fw_nanf __int_as_float(0x7fc00000)

__device__ __forceinline__ void fw_unpack_f32x4(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
}

__device__ __forceinline__ void fw_load_f32x4_ldg(const float* p, float* v) {
  const uint4 a0 = __ldg((const uint4*)p);
  const unsigned w[4] = {a0.x, a0.y, a0.z, a0.w};
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
      const float v27 = run1[l] - v26;
      const float v28 = ::expf(v27);
      const bool v29 = run1[l] == v26;
      const float v30 = v29 ? 1.0f : v28;
      const float v31 = run2[l] * v30;
      const float v32 = v16[l] - v26;
      const float v33 = ::expf(v32);
      const bool v34 = v16[l] == v26;
      const float v35 = v34 ? 1.0f : v33;
      const float v36 = v31 + v35;
      const float v37 = v18[l] - v26;
      const float v38 = ::expf(v37);
      const bool v39 = v18[l] == v26;
      const float v40 = v39 ? 1.0f : v38;
      const float v41 = v36 + v40;
      const float v42 = v20[l] - v26;
      const float v43 = ::expf(v42);
      const bool v44 = v20[l] == v26;
      const float v45 = v44 ? 1.0f : v43;
      const float v46 = v41 + v45;
      const float v47 = v22[l] - v26;
      const float v48 = ::expf(v47);
      const bool v49 = v22[l] == v26;
      const float v50 = v49 ? 1.0f : v48;
      const float v51 = v46 + v50;
      run2[l] = v51;
      run1[l] = v26;
    }
  }
  for (int c52 = v4; c52 < n1; c52 += 256) {
    const int v53 = c52 + tid0;
    const bool v68 = v53 < n1;
    if (v68) {
      const int v54 = v53 * 4;
      const int v55 = v14 + v54;
      float v56[4];
      fw_load_f32x4_ldg(in0 + v55, v56);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v57 = fw_max(run1[l], v56[l]);
        const float v58 = run1[l] - v57;
        const float v59 = ::expf(v58);
        const bool v60 = run1[l] == v57;
        const float v61 = v60 ? 1.0f : v59;
        const float v62 = run2[l] * v61;
        const float v63 = v56[l] - v57;
        const float v64 = ::expf(v63);
        const bool v65 = v56[l] == v57;
        const float v66 = v65 ? 1.0f : v64;
        const float v67 = v62 + v66;
        run2[l] = v67;
        run1[l] = v57;
      }
    }
  }
  float v69[4];
  float v70[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v69[l] = run1[l];
    v70[l] = run2[l];
  }
  const float v71 = fw_max_f32x4(v69);
  const float max72 = fw_max_f32_256x1(v71, fw_scratch0);
  float v78[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v74 = v69[l] - max72;
    const float v75 = ::expf(v74);
    const bool v76 = v69[l] == max72;
    const float v77 = v76 ? 1.0f : v75;
    v78[l] = v70[l] * v77;
  }
  const float v79 = fw_sum_f32x4(v78);
  const float sum80 = fw_sum_f32_256x1(v79, fw_scratch1);
  const float v81 = ::fabsf(max72);
  const bool v82 = v81 == fw_inff;
  const bool v83 = sum80 > 0.0f;
  const bool v84 = v82 && v83;
  const float v85 = v84 ? fw_nanf : sum80;
  const bool v86 = tid0 == 0;
  const float v87 = ::logf(v85);
  const float v88 = v87 + max72;
  if (v86) {
    out1[bid0] = v88;
  }
}
