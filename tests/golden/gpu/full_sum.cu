// full_sum, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

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

__device__ __forceinline__ float fw_sum_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 512 threads
__device__ __forceinline__ float fw_sum_f32_512x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 16];
  #pragma unroll
  for (int d = 1; d <= 8; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  return x;
}

// pass 0 over the columns
extern "C" __global__ void __launch_bounds__(512, 2) full_sum_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    float* __restrict__ part_r0,
    int* __restrict__ counters) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[64];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = v3 * n4;
  const int v5 = v4 < n3 ? v4 : n3;
  const int v6 = v5 + n4;
  const int v7 = v6 < n3 ? v6 : n3;
  float acc9[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float acc8 = 0.0f;
    acc9[l] = 0.0f;
  }
  float sum10 = 0.0f;
  const int v11 = v7 - v5;
  const int v12 = fw_udiv(v11, 2048);
  const int v13 = v12 * 2048;
  const int v14 = v5 + v13;
  for (int b16 = v5; b16 < v14; b16 += 32768) {
    const int v17 = b16 + 32768;
    const int v18 = v17 < v14 ? v17 : v14;
    for (int c15 = b16; c15 < v18; c15 += 2048) {
      const int v19 = c15 + tid0;
      const int v20 = v19 * 4;
      const int v21 = v19 + 512;
      const int v22 = v21 * 4;
      const int v23 = v19 + 1024;
      const int v24 = v23 * 4;
      const int v25 = v19 + 1536;
      const int v26 = v25 * 4;
      float v27[4];
      fw_load_f32x4_ldcs(in0 + v20, v27);
      float v28[4];
      fw_load_f32x4_ldcs(in1 + v20, v28);
      float v30[4];
      fw_load_f32x4_ldcs(in0 + v22, v30);
      float v31[4];
      fw_load_f32x4_ldcs(in1 + v22, v31);
      float v33[4];
      fw_load_f32x4_ldcs(in0 + v24, v33);
      float v34[4];
      fw_load_f32x4_ldcs(in1 + v24, v34);
      float v36[4];
      fw_load_f32x4_ldcs(in0 + v26, v36);
      float v37[4];
      fw_load_f32x4_ldcs(in1 + v26, v37);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v29 = v27[l] - v28[l];
        const float v32 = v30[l] - v31[l];
        const float v35 = v33[l] - v34[l];
        const float v38 = v36[l] - v37[l];
        const float v39 = ::fmaf(v29, v29, acc9[l]);
        acc9[l] = v39;
        const float v40 = ::fmaf(v32, v32, acc9[l]);
        acc9[l] = v40;
        const float v41 = ::fmaf(v35, v35, acc9[l]);
        acc9[l] = v41;
        const float v42 = ::fmaf(v38, v38, acc9[l]);
        acc9[l] = v42;
      }
    }
    const int v43 = (int)((unsigned)v18 - (unsigned)b16);
    float v44[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v44[l] = acc9[l];
    }
    const float v45 = fw_sum_f32x4(v44);
    const float v46 = sum10 + v45;
    sum10 = v46;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc9[l] = 0.0f;
    }
  }
  for (int c47 = v14; c47 < v7; c47 += 512) {
    const int v48 = c47 + tid0;
    const bool v54 = v48 < v7;
    if (v54) {
      const int v49 = v48 * 4;
      float v50[4];
      fw_load_f32x4_ldcs(in0 + v49, v50);
      float v51[4];
      fw_load_f32x4_ldcs(in1 + v49, v51);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v52 = v50[l] - v51[l];
        const float v53 = ::fmaf(v52, v52, acc9[l]);
        acc9[l] = v53;
      }
    }
  }
  float v55[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v55[l] = acc9[l];
  }
  const float v56 = fw_sum_f32x4(v55);
  const float v57 = sum10 + v56;
  sum10 = v57;
  const float v58 = sum10;
  const float sum59 = fw_sum_f32_512x1(v58, fw_scratch0);
  const bool v60 = tid0 == 0;
  if (v60) {
    part_r0[v3] = sum59;
  }
  const bool last61 = fw_last(counters + v1, (int)n1);
  if (last61) {
    float total62 = 0.0f;
    const int v63 = n1 + (-1);
    for (int t64 = tid0; t64 < n1; t64 += 2048) {
      const float v65 = __ldcg(part_r0 + t64);
      const int v66 = t64 + 512;
      const bool v67 = v66 < n1;
      const int v68 = v66 < v63 ? v66 : v63;
      const float v69 = __ldcg(part_r0 + v68);
      const int v70 = t64 + 1024;
      const bool v71 = v70 < n1;
      const int v72 = v70 < v63 ? v70 : v63;
      const float v73 = __ldcg(part_r0 + v72);
      const int v74 = t64 + 1536;
      const bool v75 = v74 < n1;
      const int v76 = v74 < v63 ? v74 : v63;
      const float v77 = __ldcg(part_r0 + v76);
      const float v78 = total62 + v65;
      total62 = v78;
      const float v79 = v67 ? v69 : 0.0f;
      const float v80 = total62 + v79;
      total62 = v80;
      const float v81 = v71 ? v73 : 0.0f;
      const float v82 = total62 + v81;
      total62 = v82;
      const float v83 = v75 ? v77 : 0.0f;
      const float v84 = total62 + v83;
      total62 = v84;
    }
    const float v85 = total62;
    const float sum86 = fw_sum_f32_512x1(v85, fw_scratch1);
    const bool v87 = tid0 == 0;
    if (v87) {
      out2[0] = sum86;
    }
  }
}
