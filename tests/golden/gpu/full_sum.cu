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
  float acc8[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc8[l] = 0.0f;
  }
  const int v9 = v7 - v5;
  const int v10 = fw_udiv(v9, 2048);
  const int v11 = v10 * 2048;
  const int v12 = v5 + v11;
  for (int c13 = v5; c13 < v12; c13 += 2048) {
    const int v14 = c13 + tid0;
    const int v15 = v14 * 4;
    const int v16 = v14 + 512;
    const int v17 = v16 * 4;
    const int v18 = v14 + 1024;
    const int v19 = v18 * 4;
    const int v20 = v14 + 1536;
    const int v21 = v20 * 4;
    float v22[4];
    fw_load_f32x4_ldcs(in0 + v15, v22);
    float v23[4];
    fw_load_f32x4_ldcs(in1 + v15, v23);
    float v25[4];
    fw_load_f32x4_ldcs(in0 + v17, v25);
    float v26[4];
    fw_load_f32x4_ldcs(in1 + v17, v26);
    float v28[4];
    fw_load_f32x4_ldcs(in0 + v19, v28);
    float v29[4];
    fw_load_f32x4_ldcs(in1 + v19, v29);
    float v31[4];
    fw_load_f32x4_ldcs(in0 + v21, v31);
    float v32[4];
    fw_load_f32x4_ldcs(in1 + v21, v32);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v24 = v22[l] - v23[l];
      const float v27 = v25[l] - v26[l];
      const float v30 = v28[l] - v29[l];
      const float v33 = v31[l] - v32[l];
      const float v34 = ::fmaf(v24, v24, acc8[l]);
      acc8[l] = v34;
      const float v35 = ::fmaf(v27, v27, acc8[l]);
      acc8[l] = v35;
      const float v36 = ::fmaf(v30, v30, acc8[l]);
      acc8[l] = v36;
      const float v37 = ::fmaf(v33, v33, acc8[l]);
      acc8[l] = v37;
    }
  }
  for (int c38 = v12; c38 < v7; c38 += 512) {
    const int v39 = c38 + tid0;
    const bool v45 = v39 < v7;
    if (v45) {
      const int v40 = v39 * 4;
      float v41[4];
      fw_load_f32x4_ldcs(in0 + v40, v41);
      float v42[4];
      fw_load_f32x4_ldcs(in1 + v40, v42);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v43 = v41[l] - v42[l];
        const float v44 = ::fmaf(v43, v43, acc8[l]);
        acc8[l] = v44;
      }
    }
  }
  float v46[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v46[l] = acc8[l];
  }
  const float v47 = fw_sum_f32x4(v46);
  const float sum48 = fw_sum_f32_512x1(v47, fw_scratch0);
  const bool v49 = tid0 == 0;
  if (v49) {
    part_r0[v3] = sum48;
  }
  const bool last50 = fw_last(counters + v1, (int)n1);
  if (last50) {
    float total51 = 0.0f;
    const int v52 = n1 + (-1);
    for (int t53 = tid0; t53 < n1; t53 += 2048) {
      const float v54 = __ldcg(part_r0 + t53);
      const int v55 = t53 + 512;
      const bool v56 = v55 < n1;
      const int v57 = v55 < v52 ? v55 : v52;
      const float v58 = __ldcg(part_r0 + v57);
      const int v59 = t53 + 1024;
      const bool v60 = v59 < n1;
      const int v61 = v59 < v52 ? v59 : v52;
      const float v62 = __ldcg(part_r0 + v61);
      const int v63 = t53 + 1536;
      const bool v64 = v63 < n1;
      const int v65 = v63 < v52 ? v63 : v52;
      const float v66 = __ldcg(part_r0 + v65);
      const float v67 = total51 + v54;
      total51 = v67;
      const float v68 = v56 ? v58 : 0.0f;
      const float v69 = total51 + v68;
      total51 = v69;
      const float v70 = v60 ? v62 : 0.0f;
      const float v71 = total51 + v70;
      total51 = v71;
      const float v72 = v64 ? v66 : 0.0f;
      const float v73 = total51 + v72;
      total51 = v73;
    }
    const float v74 = total51;
    const float sum75 = fw_sum_f32_512x1(v74, fw_scratch1);
    const bool v76 = tid0 == 0;
    if (v76) {
      out2[0] = sum75;
    }
  }
}
