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
  float acc2[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    float acc1 = 0.0f;
    acc2[l] = 0.0f;
  }
  float sum3 = 0.0f;
  const int v10 = bid0 * n2;
  for (int b5 = 0; b5 < n1; b5 += 16384) {
    const int v6 = b5 + 16384;
    const int v7 = v6 < n1 ? v6 : n1;
    for (int c4 = b5; c4 < v7; c4 += 256) {
      const int v8 = c4 + tid0;
      const bool v14 = v8 < n1;
      if (v14) {
        const int v9 = v8 * 4;
        const int v11 = v10 + v9;
        float v12[4];
        fw_load_f32x4_ldg(in0 + v11, v12);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v13 = ::fmaf(v12[l], v12[l], acc2[l]);
          acc2[l] = v13;
        }
      }
    }
    const int v15 = (int)((unsigned)v7 - (unsigned)b5);
    float v16[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v16[l] = acc2[l];
    }
    const float v17 = fw_sum_f32x4(v16);
    const float v18 = sum3 + v17;
    sum3 = v18;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      acc2[l] = 0.0f;
    }
  }
  float v19[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v19[l] = acc2[l];
  }
  const float v20 = fw_sum_f32x4(v19);
  const float v21 = sum3 + v20;
  sum3 = v21;
  const float v22 = sum3;
  const float sum23 = fw_sum_f32_256x1(v22, fw_scratch0);
  const bool v24 = tid0 == 0;
  if (v24) {
    out1[bid0] = sum23;
  }
}
