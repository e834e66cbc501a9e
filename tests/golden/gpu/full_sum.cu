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
  float sum9 = 0.0f;
  const int v10 = v7 - v5;
  const int v11 = fw_udiv(v10, 2048);
  const int v12 = v11 * 2048;
  const int v13 = v5 + v12;
  for (int b15 = v5; b15 < v13; b15 += 32768) {
    const int v16 = b15 + 32768;
    const int v17 = v16 < v13 ? v16 : v13;
    for (int c14 = b15; c14 < v17; c14 += 2048) {
      const int v18 = c14 + tid0;
      const int v19 = v18 * 4;
      const int v20 = v18 + 512;
      const int v21 = v20 * 4;
      const int v22 = v18 + 1024;
      const int v23 = v22 * 4;
      const int v24 = v18 + 1536;
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
    const int v42 = (int)((unsigned)v17 - (unsigned)b15);
    float v43[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v43[l] = acc8[l];
    }
    const float v44 = fw_sum_f32x4(v43);
    const float v45 = sum9 + v44;
    sum9 = v45;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc8[l] = 0.0f;
    }
  }
  for (int c46 = v13; c46 < v7; c46 += 512) {
    const int v47 = c46 + tid0;
    const bool v53 = v47 < v7;
    if (v53) {
      const int v48 = v47 * 4;
      float v49[4];
      fw_load_f32x4_ldcs(in0 + v48, v49);
      float v50[4];
      fw_load_f32x4_ldcs(in1 + v48, v50);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v51 = v49[l] - v50[l];
        const float v52 = ::fmaf(v51, v51, acc8[l]);
        acc8[l] = v52;
      }
    }
  }
  float v54[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v54[l] = acc8[l];
  }
  const float v55 = fw_sum_f32x4(v54);
  const float v56 = sum9 + v55;
  sum9 = v56;
  const float v57 = sum9;
  const float sum58 = fw_sum_f32_512x1(v57, fw_scratch0);
  const bool v59 = tid0 == 0;
  if (v59) {
    part_r0[v3] = sum58;
  }
  const bool last60 = fw_last(counters + v1, (int)n1);
  if (last60) {
    float total61 = 0.0f;
    const int v62 = n1 + (-1);
    for (int t63 = tid0; t63 < n1; t63 += 2048) {
      const float v64 = __ldcg(part_r0 + t63);
      const int v65 = t63 + 512;
      const bool v66 = v65 < n1;
      const int v67 = v65 < v62 ? v65 : v62;
      const float v68 = __ldcg(part_r0 + v67);
      const int v69 = t63 + 1024;
      const bool v70 = v69 < n1;
      const int v71 = v69 < v62 ? v69 : v62;
      const float v72 = __ldcg(part_r0 + v71);
      const int v73 = t63 + 1536;
      const bool v74 = v73 < n1;
      const int v75 = v73 < v62 ? v73 : v62;
      const float v76 = __ldcg(part_r0 + v75);
      const float v77 = total61 + v64;
      total61 = v77;
      const float v78 = v66 ? v68 : 0.0f;
      const float v79 = total61 + v78;
      total61 = v79;
      const float v80 = v70 ? v72 : 0.0f;
      const float v81 = total61 + v80;
      total61 = v81;
      const float v82 = v74 ? v76 : 0.0f;
      const float v83 = total61 + v82;
      total61 = v83;
    }
    const float v84 = total61;
    const float sum85 = fw_sum_f32_512x1(v84, fw_scratch1);
    const bool v86 = tid0 == 0;
    if (v86) {
      out2[0] = sum85;
    }
  }
}
