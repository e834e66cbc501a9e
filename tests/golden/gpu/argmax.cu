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
  const int v11 = fw_udiv(n2, 256);
  const int v12 = v11 * 256;
  const int v22 = v8 * n3;
  for (int c13 = 0; c13 < v12; c13 += 256) {
    const int v14 = c13 + v3;
    const int v15 = v14 * 4;
    const int v16 = v14 + 64;
    const int v17 = v16 * 4;
    const int v18 = v14 + 128;
    const int v19 = v18 * 4;
    const int v20 = v14 + 192;
    const int v21 = v20 * 4;
    const int v23 = v22 + v15;
    float v24[4];
    fw_load_f32x4_ldg(in0 + v23, v24);
    const int v25 = v22 + v17;
    float v26[4];
    fw_load_f32x4_ldg(in0 + v25, v26);
    const int v27 = v22 + v19;
    float v28[4];
    fw_load_f32x4_ldg(in0 + v27, v28);
    const int v29 = v22 + v21;
    float v30[4];
    fw_load_f32x4_ldg(in0 + v29, v30);
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int v31 = v15 + l;
      const long long v32 = (long long)v31;
      const bool v33 = v32 < pos10[l];
      const bool v34 = v24[l] > acc9[l];
      const bool v35 = v24[l] == acc9[l];
      const bool v36 = v35 && v33;
      const bool v37 = v34 || v36;
      const bool v38 = v24[l] != v24[l];
      const bool v39 = acc9[l] != acc9[l];
      const bool v40 = !v39;
      const bool v41 = v37 && v40;
      const bool v42 = v40 || v33;
      const bool v43 = v38 && v42;
      const bool v44 = v41 || v43;
      const float v45 = v44 ? v24[l] : acc9[l];
      acc9[l] = v45;
      const long long v46 = v44 ? v32 : pos10[l];
      pos10[l] = v46;
      const int v47 = v17 + l;
      const long long v48 = (long long)v47;
      const bool v49 = v48 < pos10[l];
      const bool v50 = v26[l] > acc9[l];
      const bool v51 = v26[l] == acc9[l];
      const bool v52 = v51 && v49;
      const bool v53 = v50 || v52;
      const bool v54 = v26[l] != v26[l];
      const bool v55 = acc9[l] != acc9[l];
      const bool v56 = !v55;
      const bool v57 = v53 && v56;
      const bool v58 = v56 || v49;
      const bool v59 = v54 && v58;
      const bool v60 = v57 || v59;
      const float v61 = v60 ? v26[l] : acc9[l];
      acc9[l] = v61;
      const long long v62 = v60 ? v48 : pos10[l];
      pos10[l] = v62;
      const int v63 = v19 + l;
      const long long v64 = (long long)v63;
      const bool v65 = v64 < pos10[l];
      const bool v66 = v28[l] > acc9[l];
      const bool v67 = v28[l] == acc9[l];
      const bool v68 = v67 && v65;
      const bool v69 = v66 || v68;
      const bool v70 = v28[l] != v28[l];
      const bool v71 = acc9[l] != acc9[l];
      const bool v72 = !v71;
      const bool v73 = v69 && v72;
      const bool v74 = v72 || v65;
      const bool v75 = v70 && v74;
      const bool v76 = v73 || v75;
      const float v77 = v76 ? v28[l] : acc9[l];
      acc9[l] = v77;
      const long long v78 = v76 ? v64 : pos10[l];
      pos10[l] = v78;
      const int v79 = v21 + l;
      const long long v80 = (long long)v79;
      const bool v81 = v80 < pos10[l];
      const bool v82 = v30[l] > acc9[l];
      const bool v83 = v30[l] == acc9[l];
      const bool v84 = v83 && v81;
      const bool v85 = v82 || v84;
      const bool v86 = v30[l] != v30[l];
      const bool v87 = acc9[l] != acc9[l];
      const bool v88 = !v87;
      const bool v89 = v85 && v88;
      const bool v90 = v88 || v81;
      const bool v91 = v86 && v90;
      const bool v92 = v89 || v91;
      const float v93 = v92 ? v30[l] : acc9[l];
      acc9[l] = v93;
      const long long v94 = v92 ? v80 : pos10[l];
      pos10[l] = v94;
    }
  }
  for (int c95 = v12; c95 < n2; c95 += 64) {
    const int v96 = c95 + v3;
    const bool v116 = v96 < n2;
    if (v116) {
      const int v97 = v96 * 4;
      const int v98 = v22 + v97;
      float v99[4];
      fw_load_f32x4_ldg(in0 + v98, v99);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int v100 = v97 + l;
        const long long v101 = (long long)v100;
        const bool v102 = v101 < pos10[l];
        const bool v103 = v99[l] > acc9[l];
        const bool v104 = v99[l] == acc9[l];
        const bool v105 = v104 && v102;
        const bool v106 = v103 || v105;
        const bool v107 = v99[l] != v99[l];
        const bool v108 = acc9[l] != acc9[l];
        const bool v109 = !v108;
        const bool v110 = v106 && v109;
        const bool v111 = v109 || v102;
        const bool v112 = v107 && v111;
        const bool v113 = v110 || v112;
        const float v114 = v113 ? v99[l] : acc9[l];
        acc9[l] = v114;
        const long long v115 = v113 ? v101 : pos10[l];
        pos10[l] = v115;
      }
    }
  }
  float v117[4];
  long long v118[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v117[l] = acc9[l];
    v118[l] = pos10[l];
  }
  const float v119 = fw_max_f32x4(v117);
  const float max120 = fw_max_f32_64x1_of128(v119, fw_scratch0);
  long long v125[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const bool v122 = v117[l] == max120;
    const bool v123 = v117[l] != v117[l];
    const bool v124 = v122 || v123;
    v125[l] = v124 ? v118[l] : 9223372036854775807ll;
  }
  const long long v126 = fw_min_i64x4(v125);
  const long long min127 = fw_min_i64_64x1_of128(v126, fw_scratch1);
  const bool v128 = v3 == 0;
  const bool v129 = v128 && v6;
  if (v129) {
    out1[v8] = min127;
  }
}
