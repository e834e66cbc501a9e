// inner_sum_at_once, made by Fusewright

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
extern "C" __global__ void __launch_bounds__(256) inner_sum_at_once_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[8];
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  float acc1[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc1[l] = 0.0f;
  }
  const int v7 = bid0 * n1;
  #pragma unroll
  for (int k2 = 0; k2 < 2; ++k2) {
    const int v3 = k2 * 256;
    const int v4 = v3 + tid0;
    const bool v10 = v4 < n2;
    if (v10) {
      const int v5 = v4 * 4;
      const int v6 = k2 * 4;
      const int v8 = v7 + v5;
      float v9[4];
      fw_load_f32x4_ldcs(in0 + v8, v9);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v6 + l] = v9[l];
      }
    }
  }
  #pragma unroll
  for (int k11 = 0; k11 < 2; ++k11) {
    const int v12 = k11 * 256;
    const int v13 = v12 + tid0;
    const bool v18 = v13 < n2;
    if (v18) {
      const int v14 = (int)((unsigned)v13 * (unsigned)4);
      const int v15 = k11 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v16 = kept0[v15 + l];
        const float v17 = ::fmaf(v16, v16, acc1[l]);
        acc1[l] = v17;
      }
    }
  }
  float v19[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v19[l] = acc1[l];
  }
  const float v20 = fw_sum_f32x4(v19);
  const float sum21 = fw_sum_f32_256x1(v20, fw_scratch0);
  const bool v22 = tid0 == 0;
  if (v22) {
    out1[bid0] = sum21;
  }
}
