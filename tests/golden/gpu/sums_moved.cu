// sums_moved, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

#endif

__device__ __forceinline__ void fw_fetch_bf16x8_ldcs(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldcs((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_unpack_bf16x8(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0] << 16);
  v[1] = __uint_as_float(w[0] & 0xffff0000u);
  v[2] = __uint_as_float(w[1] << 16);
  v[3] = __uint_as_float(w[1] & 0xffff0000u);
  v[4] = __uint_as_float(w[2] << 16);
  v[5] = __uint_as_float(w[2] & 0xffff0000u);
  v[6] = __uint_as_float(w[3] << 16);
  v[7] = __uint_as_float(w[3] & 0xffff0000u);
}

__device__ __forceinline__ void fw_load_bf16x8_ldcs(const unsigned short* p, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_ldcs(p, w);
  fw_unpack_bf16x8(w, v);
}

__device__ __forceinline__ float fw_sum_f32x8(const float* v) {
  float x[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = x[j] + x[j + 4];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

template <class I> __device__ __forceinline__ void fw_fetch_bf16x8_range_beside_ldcs(I left, const unsigned short* p, I at, I n, unsigned* w) {
  if (at > -8 && at < n && left >= 7) {
    fw_fetch_bf16x8_ldcs(p, w);
  } else {
    w[0] = 0;
    w[1] = 0;
    w[2] = 0;
    w[3] = 0;
    if (at >= n) return;
    const unsigned short* const q = (const unsigned short*)p;
    if (at >= 0 && at < n) w[0] |= (unsigned)__ldcs(q + 0);
    if (at + 1 >= 0 && at + 1 < n) w[0] |= (unsigned)__ldcs(q + 1) << 16;
    if (at + 2 >= 0 && at + 2 < n) w[1] |= (unsigned)__ldcs(q + 2);
    if (at + 3 >= 0 && at + 3 < n) w[1] |= (unsigned)__ldcs(q + 3) << 16;
    if (at + 4 >= 0 && at + 4 < n) w[2] |= (unsigned)__ldcs(q + 4);
    if (at + 5 >= 0 && at + 5 < n) w[2] |= (unsigned)__ldcs(q + 5) << 16;
    if (at + 6 >= 0 && at + 6 < n) w[3] |= (unsigned)__ldcs(q + 6);
    if (at + 7 >= 0 && at + 7 < n) w[3] |= (unsigned)__ldcs(q + 7) << 16;
  }
}

template <class I> __device__ __forceinline__ void fw_load_bf16x8_range_beside_ldcs(I left, const unsigned short* p, I at, I n, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_range_beside_ldcs(left, p, at, n, w);
  fw_unpack_bf16x8(w, v);
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
extern "C" __global__ void __launch_bounds__(256) sums_moved_0(
    const unsigned short* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  float acc1[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc1[l] = 0.0f;
  }
  float sum2 = 0.0f;
  const int v3 = n1 + (-3);
  const int v4 = v3 - 3;
  const int v5 = v4 > 0 ? v4 : 0;
  const int v6 = fw_udiv(v5, 1024);
  const int v7 = v6 * 1024;
  const int v8 = 3 + v7;
  const int v15 = (int)((unsigned)bid0 * (unsigned)n3);
  const int v16 = v15 & 7;
  const int v27 = bid0 * n4;
  for (int b10 = 3; b10 < v8; b10 += 16384) {
    const int v11 = b10 + 16384;
    const int v12 = v11 < v8 ? v11 : v8;
    for (int c9 = b10; c9 < v12; c9 += 1024) {
      const int v13 = c9 + tid0;
      const int v14 = v13 * 8;
      const int v17 = v14 - v16;
      const int v18 = v13 + 256;
      const int v19 = v18 * 8;
      const int v20 = v19 - v16;
      const int v21 = v13 + 512;
      const int v22 = v21 * 8;
      const int v23 = v22 - v16;
      const int v24 = v13 + 768;
      const int v25 = v24 * 8;
      const int v26 = v25 - v16;
      const int v28 = v27 + v17;
      float v29[8];
      fw_load_bf16x8_ldcs(in0 + v28, v29);
      const int v30 = v27 + v20;
      float v31[8];
      fw_load_bf16x8_ldcs(in0 + v30, v31);
      const int v32 = v27 + v23;
      float v33[8];
      fw_load_bf16x8_ldcs(in0 + v32, v33);
      const int v34 = v27 + v26;
      float v35[8];
      fw_load_bf16x8_ldcs(in0 + v34, v35);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v36 = acc1[l] + v29[l];
        acc1[l] = v36;
        const float v37 = acc1[l] + v31[l];
        acc1[l] = v37;
        const float v38 = acc1[l] + v33[l];
        acc1[l] = v38;
        const float v39 = acc1[l] + v35[l];
        acc1[l] = v39;
      }
    }
    float v40[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      v40[l] = acc1[l];
    }
    const float v41 = fw_sum_f32x8(v40);
    const float v42 = sum2 + v41;
    sum2 = v42;
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      acc1[l] = 0.0f;
    }
  }
  const int v43 = v8 - 3;
  const int v44 = n1 - v43;
  for (int c45 = 0; c45 < v44; c45 += 1024) {
    const int v46 = c45 + tid0;
    const bool v47 = v46 < 3;
    const int v48 = v46 + v43;
    const int v49 = v47 ? v46 : v48;
    const bool v50 = v49 < n1;
    const int v58 = c45 + 256;
    const int v59 = v58 + tid0;
    const bool v60 = v59 < 3;
    const int v61 = v59 + v43;
    const int v62 = v60 ? v59 : v61;
    const bool v63 = v62 < n1;
    const int v72 = c45 + 512;
    const int v73 = v72 + tid0;
    const bool v74 = v73 < 3;
    const int v75 = v73 + v43;
    const int v76 = v74 ? v73 : v75;
    const bool v77 = v76 < n1;
    const int v86 = c45 + 768;
    const int v87 = v86 + tid0;
    const bool v88 = v87 < 3;
    const int v89 = v87 + v43;
    const int v90 = v88 ? v87 : v89;
    const bool v91 = v90 < n1;
    if (v50) {
      const int v51 = v49 * 8;
      const int v52 = v51 - v16;
      const int v53 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v54 = v52 > v53;
      const bool v55 = v52 < 0;
      const bool v56 = v55 || v54;
      const int v64 = v63 ? v62 : n1;
      const int v65 = v64 * 8;
      const int v66 = v65 - v16;
      const int v67 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v68 = v66 > v67;
      const bool v69 = v66 < 0;
      const bool v70 = v69 || v68;
      const int v78 = v77 ? v76 : n1;
      const int v79 = v78 * 8;
      const int v80 = v79 - v16;
      const int v81 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v82 = v80 > v81;
      const bool v83 = v80 < 0;
      const bool v84 = v83 || v82;
      const int v92 = v91 ? v90 : n1;
      const int v93 = v92 * 8;
      const int v94 = v93 - v16;
      const int v95 = (int)((unsigned)n2 + (unsigned)(-8));
      const bool v96 = v94 > v95;
      const bool v97 = v94 < 0;
      const bool v98 = v97 || v96;
      const int v100 = v27 + v52;
      float v101[8];
      fw_load_bf16x8_range_beside_ldcs(n5 - v100, in0 + v100, v52, n2, v101);
      const int v102 = v27 + v66;
      float v103[8];
      fw_load_bf16x8_range_beside_ldcs(n5 - v102, in0 + v102, v66, n2, v103);
      const int v104 = v27 + v80;
      float v105[8];
      fw_load_bf16x8_range_beside_ldcs(n5 - v104, in0 + v104, v80, n2, v105);
      const int v106 = v27 + v94;
      float v107[8];
      fw_load_bf16x8_range_beside_ldcs(n5 - v106, in0 + v106, v94, n2, v107);
      float real109[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v108 = acc1[l] + v101[l];
        real109[l] = v108;
      }
      if (v56) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v110 = v52 + l >= 0 && v52 + l < n2;
          const float v111 = v110 ? real109[l] : acc1[l];
          real109[l] = v111;
        }
      }
      float real113[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc1[l] = real109[l];
        const float v112 = acc1[l] + v103[l];
        real113[l] = v112;
      }
      if (v70) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v114 = v66 + l >= 0 && v66 + l < n2;
          const float v115 = v114 ? real113[l] : acc1[l];
          real113[l] = v115;
        }
      }
      float real117[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc1[l] = real113[l];
        const float v116 = acc1[l] + v105[l];
        real117[l] = v116;
      }
      if (v84) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v118 = v80 + l >= 0 && v80 + l < n2;
          const float v119 = v118 ? real117[l] : acc1[l];
          real117[l] = v119;
        }
      }
      float real121[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc1[l] = real117[l];
        const float v120 = acc1[l] + v107[l];
        real121[l] = v120;
      }
      if (v98) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v122 = v94 + l >= 0 && v94 + l < n2;
          const float v123 = v122 ? real121[l] : acc1[l];
          real121[l] = v123;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc1[l] = real121[l];
      }
    }
  }
  float v124[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v124[l] = acc1[l];
  }
  const float v125 = fw_sum_f32x8(v124);
  const float v126 = sum2 + v125;
  sum2 = v126;
  const float v127 = sum2;
  const float sum128 = fw_sum_f32_256x1(v127, fw_scratch0);
  const bool v129 = tid0 == 0;
  if (v129) {
    out1[bid0] = sum128;
  }
}
