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

// max over groups of 128 threads
__device__ __forceinline__ float fw_max_f32_128x1_of256(float x, unsigned char* scratch) {
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
  const unsigned first = mine - mine / 1 % 4 * 1;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = fw_max(y[j], y[j + 1]);
  x = fw_max(y[0], y[2]);
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

// min over groups of 128 threads
__device__ __forceinline__ long long fw_min_i64_128x1_of256(long long x, unsigned char* scratch) {
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
  const unsigned first = mine - mine / 1 % 4 * 1;
  long long y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] < y[j + 1] ? y[j] : y[j + 1];
  x = y[0] < y[2] ? y[0] : y[2];
  return x;
}

// inner reduction
extern "C" __global__ void __launch_bounds__(256) argmax_0(
    const float* __restrict__ in0,
    long long* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  const int v1 = fw_udiv(tid0, 128);
  const int v2 = v1 * 128;
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
  const int v11 = fw_udiv(n2, 256);
  const int v12 = v11 * 256;
  const int v18 = v8 * n3;
  for (int c13 = 0; c13 < v12; c13 += 256) {
    const int v14 = c13 + v3;
    const int v15 = v14 * 4;
    const int v16 = v14 + 128;
    const int v17 = v16 * 4;
    const int v19 = v18 + v15;
    float v20[4];
    fw_load_f32x4_ldg(in0 + v19, v20);
    const int v21 = v18 + v17;
    float v22[4];
    fw_load_f32x4_ldg(in0 + v21, v22);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int v23 = v15 + l;
      const long long v24 = (long long)v23;
      const bool v25 = v24 < pos10[l];
      const bool v26 = v20[l] > acc9[l];
      const bool v27 = v20[l] == acc9[l];
      const bool v28 = v27 && v25;
      const bool v29 = v26 || v28;
      const bool v30 = v20[l] != v20[l];
      const bool v31 = acc9[l] != acc9[l];
      const bool v32 = !v31;
      const bool v33 = v29 && v32;
      const bool v34 = v32 || v25;
      const bool v35 = v30 && v34;
      const bool v36 = v33 || v35;
      const float v37 = v36 ? v20[l] : acc9[l];
      acc9[l] = v37;
      const long long v38 = v36 ? v24 : pos10[l];
      pos10[l] = v38;
      const int v39 = v17 + l;
      const long long v40 = (long long)v39;
      const bool v41 = v40 < pos10[l];
      const bool v42 = v22[l] > acc9[l];
      const bool v43 = v22[l] == acc9[l];
      const bool v44 = v43 && v41;
      const bool v45 = v42 || v44;
      const bool v46 = v22[l] != v22[l];
      const bool v47 = acc9[l] != acc9[l];
      const bool v48 = !v47;
      const bool v49 = v45 && v48;
      const bool v50 = v48 || v41;
      const bool v51 = v46 && v50;
      const bool v52 = v49 || v51;
      const float v53 = v52 ? v22[l] : acc9[l];
      acc9[l] = v53;
      const long long v54 = v52 ? v40 : pos10[l];
      pos10[l] = v54;
    }
  }
  for (int c55 = v12; c55 < n2; c55 += 128) {
    const int v56 = c55 + v3;
    const bool v76 = v56 < n2;
    if (v76) {
      const int v57 = v56 * 4;
      const int v58 = v18 + v57;
      float v59[4];
      fw_load_f32x4_ldg(in0 + v58, v59);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int v60 = v57 + l;
        const long long v61 = (long long)v60;
        const bool v62 = v61 < pos10[l];
        const bool v63 = v59[l] > acc9[l];
        const bool v64 = v59[l] == acc9[l];
        const bool v65 = v64 && v62;
        const bool v66 = v63 || v65;
        const bool v67 = v59[l] != v59[l];
        const bool v68 = acc9[l] != acc9[l];
        const bool v69 = !v68;
        const bool v70 = v66 && v69;
        const bool v71 = v69 || v62;
        const bool v72 = v67 && v71;
        const bool v73 = v70 || v72;
        const float v74 = v73 ? v59[l] : acc9[l];
        acc9[l] = v74;
        const long long v75 = v73 ? v61 : pos10[l];
        pos10[l] = v75;
      }
    }
  }
  float v77[4];
  long long v78[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v77[l] = acc9[l];
    v78[l] = pos10[l];
  }
  const float v79 = fw_max_f32x4(v77);
  const float max80 = fw_max_f32_128x1_of256(v79, fw_scratch0);
  long long v85[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const bool v82 = v77[l] == max80;
    const bool v83 = v77[l] != v77[l];
    const bool v84 = v82 || v83;
    v85[l] = v84 ? v78[l] : 9223372036854775807ll;
  }
  const long long v86 = fw_min_i64x4(v85);
  const long long min87 = fw_min_i64_128x1_of256(v86, fw_scratch1);
  const bool v88 = v3 == 0;
  const bool v89 = v88 && v6;
  if (v89) {
    out1[v8] = min87;
  }
}
