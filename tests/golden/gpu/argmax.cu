// argmax, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

#endif

#define fw_inff __int_as_float(0x7f800000)

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

__device__ __forceinline__ float fw_max_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = fw_max(x[j], x[j + 2]);
  x[0] = fw_max(x[0], x[1]);
  return x[0];
}

// max over groups of 64 threads
__device__ __forceinline__ float fw_max_f32_64x1_of128(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32;
  const unsigned first = mine - mine / 1 % 2 * 1;
  float y[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) y[j] = s[first + j * 1];
  x = fw_max(y[0], y[1]);
  return x;
}

__device__ __forceinline__ int fw_min_i32x4(const int* v) {
  int x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] < x[j + 2] ? x[j] : x[j + 2];
  x[0] = x[0] < x[1] ? x[0] : x[1];
  return x[0];
}

// min over groups of 64 threads
__device__ __forceinline__ int fw_min_i32_64x1_of128(int x, unsigned char* scratch) {
  int* const s = reinterpret_cast<int*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const int y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x < y ? x : y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32;
  const unsigned first = mine - mine / 1 % 2 * 1;
  int y[2];
  #pragma unroll
  for (int j = 0; j < 2; ++j) y[j] = s[first + j * 1];
  x = y[0] < y[1] ? y[0] : y[1];
  return x;
}

// inner reduction
extern "C" __global__ void __launch_bounds__(128) argmax_0(
    const float* __restrict__ in0,
    long long* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  float kept0[16];
  __shared__ __align__(16) unsigned char fw_scratch0[16];
  __shared__ __align__(16) unsigned char fw_scratch1[16];
  const int v1 = fw_udiv(tid0, 64);
  const int v2 = v1 * 64;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 2;
  const int v5 = v4 + v1;
  const bool v6 = v5 < n1;
  const int v7 = n1 + (-1);
  const int v8 = v5 < v7 ? v5 : v7;
  float acc9[4];
  int pos10[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc9[l] = (-fw_inff);
    pos10[l] = 0;
  }
  const int v16 = v8 * n2;
  #pragma unroll
  for (int k11 = 0; k11 < 4; ++k11) {
    const int v12 = k11 * 64;
    const int v13 = v12 + v3;
    const bool v19 = v13 < n3;
    if (v19) {
      const int v14 = v13 * 4;
      const int v15 = k11 * 4;
      const int v17 = v16 + v14;
      float v18[4];
      fw_load_f32x4_ldg(in0 + v17, v18);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v15 + l] = v18[l];
      }
    }
  }
  #pragma unroll
  for (int k20 = 0; k20 < 4; ++k20) {
    const int v21 = k20 * 64;
    const int v22 = v21 + v3;
    const bool v34 = v22 < n3;
    if (v34) {
      const int v23 = (int)((unsigned)v22 * (unsigned)4);
      const int v24 = k20 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v25 = kept0[v24 + l];
        const bool v26 = acc9[l] >= v25;
        const bool v27 = !(::fabsf(acc9[l]) <= fw_inff);
        const bool v28 = !v26;
        const bool v29 = !v27;
        const bool v30 = v28 && v29;
        const float v31 = v30 ? v25 : acc9[l];
        acc9[l] = v31;
        const int v33 = v30 ? v23 : pos10[l];
        pos10[l] = v33;
      }
    }
  }
  float v35[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v35[l] = acc9[l];
  }
  const float v36 = fw_max_f32x4(v35);
  const float max37 = fw_max_f32_64x1_of128(v36, fw_scratch0);
  int v46[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const float v38 = acc9[l];
    const int v39 = pos10[l];
    const int v40 = l;
    const int v41 = (int)((unsigned)v39 + (unsigned)v40);
    const bool v43 = v38 == max37;
    const bool v44 = !(::fabsf(v38) <= fw_inff);
    const bool v45 = v43 || v44;
    v46[l] = v45 ? v41 : 2147483647;
  }
  const int v47 = fw_min_i32x4(v46);
  const int min48 = fw_min_i32_64x1_of128(v47, fw_scratch1);
  const long long v49 = (long long)min48;
  const bool v50 = v3 == 0;
  const bool v51 = v50 && v6;
  if (v51) {
    out1[v8] = v49;
  }
}
