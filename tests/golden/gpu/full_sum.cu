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
extern "C" __global__ void __launch_bounds__(256) full_sum_0(
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
  const int v9 = v7 - v5;
  const int v10 = fw_udiv(v9, 1024);
  const int v11 = v10 * 1024;
  const int v12 = v5 + v11;
  for (int c13 = v5; c13 < v12; c13 += 1024) {
    const int v14 = c13 + tid0;
    const int v15 = v14 * 4;
    const int v16 = v14 + 256;
    const int v17 = v16 * 4;
    const int v18 = v14 + 512;
    const int v19 = v18 * 4;
    const int v20 = v14 + 768;
    const int v21 = v20 * 4;
    float v22[4];
    fw_load_f32x4_ldg(in0 + v15, v22);
    float v23[4];
    fw_load_f32x4_ldg(in1 + v15, v23);
    float v26[4];
    fw_load_f32x4_ldg(in0 + v17, v26);
    float v27[4];
    fw_load_f32x4_ldg(in1 + v17, v27);
    float v30[4];
    fw_load_f32x4_ldg(in0 + v19, v30);
    float v31[4];
    fw_load_f32x4_ldg(in1 + v19, v31);
    float v34[4];
    fw_load_f32x4_ldg(in0 + v21, v34);
    float v35[4];
    fw_load_f32x4_ldg(in1 + v21, v35);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v24 = v22[l] - v23[l];
      const float v25 = v24 * v24;
      const float v28 = v26[l] - v27[l];
      const float v29 = v28 * v28;
      const float v32 = v30[l] - v31[l];
      const float v33 = v32 * v32;
      const float v36 = v34[l] - v35[l];
      const float v37 = v36 * v36;
      const float v38 = acc8[l] + v25;
      acc8[l] = v38;
      const float v39 = acc8[l] + v29;
      acc8[l] = v39;
      const float v40 = acc8[l] + v33;
      acc8[l] = v40;
      const float v41 = acc8[l] + v37;
      acc8[l] = v41;
    }
  }
  for (int c42 = v12; c42 < v7; c42 += 256) {
    const int v43 = c42 + tid0;
    const bool v50 = v43 < v7;
    if (v50) {
      const int v44 = v43 * 4;
      float v45[4];
      fw_load_f32x4_ldg(in0 + v44, v45);
      float v46[4];
      fw_load_f32x4_ldg(in1 + v44, v46);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v47 = v45[l] - v46[l];
        const float v48 = v47 * v47;
        const float v49 = acc8[l] + v48;
        acc8[l] = v49;
      }
    }
  }
  float v51[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v51[l] = acc8[l];
  }
  const float v52 = fw_sum_f32x4(v51);
  const float sum53 = fw_sum_f32_256x1(v52, fw_scratch0);
  const bool v54 = tid0 == 0;
  if (v54) {
    part_r0[v3] = sum53;
  }
  const bool last55 = fw_last(counters + v1, (int)n1);
  if (last55) {
    float total56 = 0.0f;
    for (int t57 = tid0; t57 < n1; t57 += 256) {
      const float v58 = __ldcg(part_r0 + t57);
      const float v59 = total56 + v58;
      total56 = v59;
    }
    const float v60 = total56;
    const float sum61 = fw_sum_f32_256x1(v60, fw_scratch1);
    const bool v62 = tid0 == 0;
    if (v62) {
      out2[0] = sum61;
    }
  }
}
