// inner_sum, made by Fusewright

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
  const int v5 = bid0 * n2;
  for (int c2 = 0; c2 < n1; c2 += 256) {
    const int v3 = c2 + tid0;
    const bool v9 = v3 < n1;
    if (v9) {
      const int v4 = v3 * 4;
      const int v6 = v5 + v4;
      float v7[4];
      fw_load_f32x4_ldg(in0 + v6, v7);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v8 = ::fmaf(v7[l], v7[l], acc1[l]);
        acc1[l] = v8;
      }
    }
  }
  float v10[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v10[l] = acc1[l];
  }
  const float v11 = fw_sum_f32x4(v10);
  const float sum12 = fw_sum_f32_256x1(v11, fw_scratch0);
  const bool v13 = tid0 == 0;
  if (v13) {
    out1[bid0] = sum12;
  }
}
