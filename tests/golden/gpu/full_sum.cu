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

// pass 0 over the columns
extern "C" __global__ void __launch_bounds__(256, 4) full_sum_0(
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
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[32];
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
  float sum9 = 0.0f;
  const int v10 = v7 - v5;
  const int v11 = fw_udiv(v10, 1024);
  const int v12 = v11 * 1024;
  const int v13 = v5 + v12;
  for (int b15 = v5; b15 < v13; b15 += 16384) {
    const int v16 = b15 + 16384;
    const int v17 = v16 < v13 ? v16 : v13;
    for (int c14 = b15; c14 < v17; c14 += 1024) {
      const int v18 = c14 + tid0;
      const int v19 = v18 * 4;
      const int v20 = v18 + 256;
      const int v21 = v20 * 4;
      const int v22 = v18 + 512;
      const int v23 = v22 * 4;
      const int v24 = v18 + 768;
      const int v25 = v24 * 4;
      float v26[4];
      fw_load_f32x4_ldcs(in0 + v19, v26);
      float v27[4];
      fw_load_f32x4_ldcs(in1 + v19, v27);
      float v29[4];
      fw_load_f32x4_ldcs(in0 + v21, v29);
      float v30[4];
      fw_load_f32x4_ldcs(in1 + v21, v30);
      float v32[4];
      fw_load_f32x4_ldcs(in0 + v23, v32);
      float v33[4];
      fw_load_f32x4_ldcs(in1 + v23, v33);
      float v35[4];
      fw_load_f32x4_ldcs(in0 + v25, v35);
      float v36[4];
      fw_load_f32x4_ldcs(in1 + v25, v36);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v28 = v26[l] - v27[l];
        const float v31 = v29[l] - v30[l];
        const float v34 = v32[l] - v33[l];
        const float v37 = v35[l] - v36[l];
        const float v38 = ::fmaf(v28, v28, acc8[l]);
        acc8[l] = v38;
        const float v39 = ::fmaf(v31, v31, acc8[l]);
        acc8[l] = v39;
        const float v40 = ::fmaf(v34, v34, acc8[l]);
        acc8[l] = v40;
        const float v41 = ::fmaf(v37, v37, acc8[l]);
        acc8[l] = v41;
      }
    }
    float v42[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v42[l] = acc8[l];
    }
    const float v43 = fw_sum_f32x4(v42);
    const float v44 = sum9 + v43;
    sum9 = v44;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc8[l] = 0.0f;
    }
  }
  for (int c45 = v13; c45 < v7; c45 += 256) {
    const int v46 = c45 + tid0;
    const bool v52 = v46 < v7;
    if (v52) {
      const int v47 = v46 * 4;
      float v48[4];
      fw_load_f32x4_ldcs(in0 + v47, v48);
      float v49[4];
      fw_load_f32x4_ldcs(in1 + v47, v49);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v50 = v48[l] - v49[l];
        const float v51 = ::fmaf(v50, v50, acc8[l]);
        acc8[l] = v51;
      }
    }
  }
  float v53[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v53[l] = acc8[l];
  }
  const float v54 = fw_sum_f32x4(v53);
  const float v55 = sum9 + v54;
  sum9 = v55;
  const float v56 = sum9;
  const float sum57 = fw_sum_f32_256x1(v56, fw_scratch0);
  const bool v58 = tid0 == 0;
  if (v58) {
    part_r0[v3] = sum57;
  }
  const bool last59 = fw_last(counters + v1, (int)n1);
  if (last59) {
    float total60 = 0.0f;
    const int v61 = n1 + (-1);
    for (int t62 = tid0; t62 < n1; t62 += 1024) {
      const float v63 = __ldcg(part_r0 + t62);
      const int v64 = t62 + 256;
      const bool v65 = v64 < n1;
      const int v66 = v64 < v61 ? v64 : v61;
      const float v67 = __ldcg(part_r0 + v66);
      const int v68 = t62 + 512;
      const bool v69 = v68 < n1;
      const int v70 = v68 < v61 ? v68 : v61;
      const float v71 = __ldcg(part_r0 + v70);
      const int v72 = t62 + 768;
      const bool v73 = v72 < n1;
      const int v74 = v72 < v61 ? v72 : v61;
      const float v75 = __ldcg(part_r0 + v74);
      const float v76 = total60 + v63;
      total60 = v76;
      const float v77 = v65 ? v67 : 0.0f;
      const float v78 = total60 + v77;
      total60 = v78;
      const float v79 = v69 ? v71 : 0.0f;
      const float v80 = total60 + v79;
      total60 = v80;
      const float v81 = v73 ? v75 : 0.0f;
      const float v82 = total60 + v81;
      total60 = v82;
    }
    const float v83 = total60;
    const float sum84 = fw_sum_f32_256x1(v83, fw_scratch1);
    const bool v85 = tid0 == 0;
    if (v85) {
      out2[0] = sum84;
    }
  }
}
