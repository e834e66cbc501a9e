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

__device__ __forceinline__ long long fw_min_i64x4(const long long* v) {
  long long x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] < x[j + 2] ? x[j] : x[j + 2];
  x[0] = x[0] < x[1] ? x[0] : x[1];
  return x[0];
}

// min over groups of 64 threads
__device__ __forceinline__ long long fw_min_i64_64x1_of128(long long x, unsigned char* scratch) {
  long long* const s = reinterpret_cast<long long*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const long long y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x < y ? x : y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32;
  const unsigned first = mine - mine / 1 % 2 * 1;
  long long y[2];
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
  __shared__ __align__(16) unsigned char fw_scratch1[32];
  const int v1 = fw_udiv(tid0, 64);
  const int v2 = v1 * 64;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 2;
  const int v5 = v4 + v1;
  const bool v6 = v5 < n1;
  const int v7 = n1 + (-1);
  const int v8 = v5 < v7 ? v5 : v7;
  float acc9[4];
  long long pos10[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc9[l] = (-fw_inff);
    pos10[l] = 9223372036854775807ll;
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
    const bool v42 = v22 < n3;
    if (v42) {
      const int v23 = (int)((unsigned)v22 * (unsigned)4);
      const int v24 = k20 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v25 = kept0[v24 + l];
        const int v26 = v23 + l;
        const long long v27 = (long long)v26;
        const bool v28 = v27 < pos10[l];
        const bool v29 = v25 > acc9[l];
        const bool v30 = v25 == acc9[l];
        const bool v31 = v30 && v28;
        const bool v32 = v29 || v31;
        const bool v33 = v25 != v25;
        const bool v34 = acc9[l] != acc9[l];
        const bool v35 = !v34;
        const bool v36 = v32 && v35;
        const bool v37 = v35 || v28;
        const bool v38 = v33 && v37;
        const bool v39 = v36 || v38;
        const float v40 = v39 ? v25 : acc9[l];
        acc9[l] = v40;
        const long long v41 = v39 ? v27 : pos10[l];
        pos10[l] = v41;
      }
    }
  }
  float v43[4];
  long long v44[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v43[l] = acc9[l];
    v44[l] = pos10[l];
  }
  const float v45 = fw_max_f32x4(v43);
  const float max46 = fw_max_f32_64x1_of128(v45, fw_scratch0);
  long long v51[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const bool v48 = v43[l] == max46;
    const bool v49 = v43[l] != v43[l];
    const bool v50 = v48 || v49;
    v51[l] = v50 ? v44[l] : 9223372036854775807ll;
  }
  const long long v52 = fw_min_i64x4(v51);
  const long long min53 = fw_min_i64_64x1_of128(v52, fw_scratch1);
  const bool v54 = v3 == 0;
  const bool v55 = v54 && v6;
  if (v55) {
    out1[v8] = min53;
  }
}
