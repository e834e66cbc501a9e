// sums_runs, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

__device__ __forceinline__ unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

__device__ __forceinline__ unsigned short fw_f32_bf16(float x) {
  unsigned r;  // two at once are one fast instruction, one alone is a slow one
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(0.0f), "f"(x));
  return (unsigned short)r;
}

#endif

__device__ __forceinline__ float fw_bf16_f32(unsigned short x) { return __uint_as_float((unsigned)x << 16); }

__device__ __forceinline__ void fw_fetch_bf16x8_ldg(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
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

__device__ __forceinline__ void fw_load_bf16x8_ldg(const unsigned short* p, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_ldg(p, w);
  fw_unpack_bf16x8(w, v);
}

__device__ __forceinline__ void fw_pack_bf16x8(const float* v, unsigned* w) {
  w[0] = fw_pack_bf16(v[0], v[1]);
  w[1] = fw_pack_bf16(v[2], v[3]);
  w[2] = fw_pack_bf16(v[4], v[5]);
  w[3] = fw_pack_bf16(v[6], v[7]);
}

__device__ __forceinline__ void fw_store_bf16x8(unsigned short* p, const float* v) {
  unsigned w[4];
  fw_pack_bf16x8(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// inner reduction
extern "C" __global__ void __launch_bounds__(128) sums_runs_0(
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
  __shared__ __align__(16) unsigned short run_in0[4096];
  const int v1 = bid0 * n1;
  const int v2 = n2 - v1;
  const int v3 = v2 < n1 ? v2 : n1;
  const int v4 = v1 * n3;
  const int v5 = v3 * n3;
  const int v6 = fw_udiv(v5, 8);
  const bool v31 = v6 > 0;
  if (v31) {
    const int v7 = v6 + (-1);
    const int v8 = tid0 < v7 ? tid0 : v7;
    const int v9 = v8 * 8;
    const int v10 = v4 + v9;
    float v11[8];
    fw_load_bf16x8_ldg(in0 + v10, v11);
    const bool v12 = tid0 < v6;
    const int v13 = tid0 + 128;
    const int v14 = v13 < v7 ? v13 : v7;
    const int v15 = v14 * 8;
    const int v16 = v4 + v15;
    float v17[8];
    fw_load_bf16x8_ldg(in0 + v16, v17);
    const bool v18 = v13 < v6;
    const int v19 = tid0 + 256;
    const int v20 = v19 < v7 ? v19 : v7;
    const int v21 = v20 * 8;
    const int v22 = v4 + v21;
    float v23[8];
    fw_load_bf16x8_ldg(in0 + v22, v23);
    const bool v24 = v19 < v6;
    const int v25 = tid0 + 384;
    const int v26 = v25 < v7 ? v25 : v7;
    const int v27 = v26 * 8;
    const int v28 = v4 + v27;
    float v29[8];
    fw_load_bf16x8_ldg(in0 + v28, v29);
    const bool v30 = v25 < v6;
    if (v12) {
      fw_store_bf16x8(run_in0 + v9, v11);
    }
    if (v18) {
      fw_store_bf16x8(run_in0 + v15, v17);
    }
    if (v24) {
      fw_store_bf16x8(run_in0 + v21, v23);
    }
    if (v30) {
      fw_store_bf16x8(run_in0 + v27, v29);
    }
  }
  const int v32 = v6 * 8;
  const int v33 = v32 + tid0;
  const bool v36 = v33 < v5;
  if (v36) {
    const int v34 = v4 + v33;
    const float v35 = fw_bf16_f32(__ldg(in0 + v34));
    run_in0[v33] = fw_f32_bf16(v35);
  }
  __syncthreads();  // the rows are there
  const int v38 = bid0 * n4;
  const int v80 = v3 + 127;
  const int v81 = fw_udiv(v80, 128);
  for (int turn37 = 0; turn37 < v81; ++turn37) {
    const int v39 = v38 + turn37;
    const int v40 = v39 * 128;
    const int v41 = v40 + tid0;
    const bool v42 = v41 < n2;
    const int v43 = n2 + (-1);
    const int v44 = v41 < v43 ? v41 : v43;
    const int v45 = v44 - v1;
    const int v46 = v45 * n3;
    float acc47 = 0.0f;
    float sum48 = 0.0f;
    const int v49 = fw_udiv(n5, 4);
    const int v50 = v49 * 4;
    for (int b52 = 0; b52 < v50; b52 += 64) {
      const int v53 = b52 + 64;
      const int v54 = v53 < v50 ? v53 : v50;
      for (int c51 = b52; c51 < v54; c51 += 4) {
        const int v55 = c51 + 1;
        const int v56 = c51 + 2;
        const int v57 = c51 + 3;
        const int v58 = v46 + c51;
        const float v59 = fw_bf16_f32(run_in0[v58]);
        const int v60 = v46 + v55;
        const float v61 = fw_bf16_f32(run_in0[v60]);
        const int v62 = v46 + v56;
        const float v63 = fw_bf16_f32(run_in0[v62]);
        const int v64 = v46 + v57;
        const float v65 = fw_bf16_f32(run_in0[v64]);
        const float v66 = acc47 + v59;
        acc47 = v66;
        const float v67 = acc47 + v61;
        acc47 = v67;
        const float v68 = acc47 + v63;
        acc47 = v68;
        const float v69 = acc47 + v65;
        acc47 = v69;
      }
      const float v70 = acc47;
      const float v71 = sum48 + v70;
      sum48 = v71;
      acc47 = 0.0f;
    }
    for (int c72 = v50; c72 < n5; ++c72) {
      const bool v76 = c72 < n5;
      if (v76) {
        const int v73 = v46 + c72;
        const float v74 = fw_bf16_f32(run_in0[v73]);
        const float v75 = acc47 + v74;
        acc47 = v75;
      }
    }
    const float v77 = acc47;
    const float v78 = sum48 + v77;
    sum48 = v78;
    const float v79 = sum48;
    if (v42) {
      out1[v44] = v79;
    }
  }
}
