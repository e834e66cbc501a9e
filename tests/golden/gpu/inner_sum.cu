// inner_sum, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

#endif

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

// sum over groups of 128 threads
__device__ __forceinline__ float fw_sum_f32_128x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned first = 0;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] + y[j + 1];
  x = y[0] + y[2];
  return x;
}

// inner reduction
extern "C" __global__ void __launch_bounds__(128) inner_sum_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[16];
  float acc1[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc1[l] = 0.0f;
  }
  const int v2 = fw_udiv(n1, 256);
  const int v3 = v2 * 256;
  const int v9 = bid0 * n2;
  for (int c4 = 0; c4 < v3; c4 += 256) {
    const int v5 = c4 + tid0;
    const int v6 = v5 * 4;
    const int v7 = v5 + 128;
    const int v8 = v7 * 4;
    const int v10 = v9 + v6;
    float v11[4];
    fw_load_f32x4_ldg(in0 + v10, v11);
    const int v12 = v9 + v8;
    float v13[4];
    fw_load_f32x4_ldg(in0 + v12, v13);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v14 = ::fmaf(v11[l], v11[l], acc1[l]);
      acc1[l] = v14;
      const float v15 = ::fmaf(v13[l], v13[l], acc1[l]);
      acc1[l] = v15;
    }
  }
  for (int c16 = v3; c16 < n1; c16 += 128) {
    const int v17 = c16 + tid0;
    const bool v22 = v17 < n1;
    if (v22) {
      const int v18 = v17 * 4;
      const int v19 = v9 + v18;
      float v20[4];
      fw_load_f32x4_ldg(in0 + v19, v20);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v21 = ::fmaf(v20[l], v20[l], acc1[l]);
        acc1[l] = v21;
      }
    }
  }
  float v23[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v23[l] = acc1[l];
  }
  const float v24 = fw_sum_f32x4(v23);
  const float sum25 = fw_sum_f32_128x1(v24, fw_scratch0);
  const bool v26 = tid0 == 0;
  if (v26) {
    out1[bid0] = sum25;
  }
}
