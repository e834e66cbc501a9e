// inner_sum, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

#endif

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

// inner reduction
extern "C" __global__ void __launch_bounds__(256) inner_sum_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  float acc1[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc1[l] = 0.0f;
  }
  float sum2 = 0.0f;
  const int v3 = fw_udiv(n1, 512);
  const int v4 = v3 * 512;
  const int v13 = bid0 * n2;
  for (int b6 = 0; b6 < v4; b6 += 16384) {
    const int v7 = b6 + 16384;
    const int v8 = v7 < v4 ? v7 : v4;
    for (int c5 = b6; c5 < v8; c5 += 512) {
      const int v9 = c5 + tid0;
      const int v10 = v9 * 4;
      const int v11 = v9 + 256;
      const int v12 = v11 * 4;
      const int v14 = v13 + v10;
      float v15[4];
      fw_load_f32x4_ldcs(in0 + v14, v15);
      const int v16 = v13 + v12;
      float v17[4];
      fw_load_f32x4_ldcs(in0 + v16, v17);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v18 = ::fmaf(v15[l], v15[l], acc1[l]);
        acc1[l] = v18;
        const float v19 = ::fmaf(v17[l], v17[l], acc1[l]);
        acc1[l] = v19;
      }
    }
    float v20[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v20[l] = acc1[l];
    }
    const float v21 = fw_sum_f32x4(v20);
    const float v22 = sum2 + v21;
    sum2 = v22;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc1[l] = 0.0f;
    }
  }
  for (int c23 = v4; c23 < n1; c23 += 256) {
    const int v24 = c23 + tid0;
    const bool v29 = v24 < n1;
    if (v29) {
      const int v25 = v24 * 4;
      const int v26 = v13 + v25;
      float v27[4];
      fw_load_f32x4_ldcs(in0 + v26, v27);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v28 = ::fmaf(v27[l], v27[l], acc1[l]);
        acc1[l] = v28;
      }
    }
  }
  float v30[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v30[l] = acc1[l];
  }
  const float v31 = fw_sum_f32x4(v30);
  const float v32 = sum2 + v31;
  sum2 = v32;
  const float v33 = sum2;
  const float sum34 = fw_sum_f32_256x1(v33, fw_scratch0);
  const bool v35 = tid0 == 0;
  if (v35) {
    out1[bid0] = sum34;
  }
}
