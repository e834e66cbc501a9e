// transpose_short, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ T fw_read(const T* p) { return *p; }

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

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

__device__ __forceinline__ void fw_fetch_f32x4(const float* p, unsigned* w) {
  const uint4 a0 = fw_read((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_load_f32x4(const float* p, float* v) {
  unsigned w[4];
  fw_fetch_f32x4(p, w);
  fw_unpack_f32x4(w, v);
}

__device__ __forceinline__ void fw_fetch_boolx4_ldg(const unsigned char* p, unsigned* w) {
  const unsigned a0 = __ldg((const unsigned*)p);
  w[0] = a0;
}

__device__ __forceinline__ void fw_unpack_boolx4(const unsigned* w, bool* v) {
  v[0] = (w[0] & 0xff) != 0;
  v[1] = ((w[0] >> 8) & 0xff) != 0;
  v[2] = ((w[0] >> 16) & 0xff) != 0;
  v[3] = ((w[0] >> 24) & 0xff) != 0;
}

__device__ __forceinline__ void fw_load_boolx4_ldg(const unsigned char* p, bool* v) {
  unsigned w[1];
  fw_fetch_boolx4_ldg(p, w);
  fw_unpack_boolx4(w, v);
}

__device__ __forceinline__ void fw_pack_f32x4(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
  w[2] = __float_as_uint(v[2]);
  w[3] = __float_as_uint(v[3]);
}

__device__ __forceinline__ void fw_store_f32x4(float* p, const float* v) {
  unsigned w[4];
  fw_pack_f32x4(v, w);
  fw_write((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// transpose
extern "C" __global__ void __launch_bounds__(256) transpose_short_0(
    const unsigned char* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) float tile0[4128];
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = fw_udiv(v1, n2);
  const int v5 = v4 * n2;
  const int v6 = v1 - v5;
  const int v7 = v6 * 8;
  const int v8 = v3 * 512;
  const int v9 = v7 + 8;
  const bool v10 = v9 <= n4;
  const int v11 = v8 + 512;
  const bool v12 = v11 <= n3;
  const bool v13 = v10 && v12;
  if (v13) {
    const int v14 = fw_udiv(tid0, 2);
    const int v15 = v14 * 2;
    const int v16 = tid0 - v15;
    const int v17 = v16 * 4;
    const int v21 = v7 + v17;
    #pragma unroll
    for (int k18 = 0; k18 < 4; ++k18) {
      const int v19 = k18 * 128;
      const int v20 = v14 + v19;
      const int v22 = v8 + v20;
      const int v23 = v22 * n5;
      const int v24 = v23 + v21;
      float v25[4];
      fw_load_f32x4_ldg(in1 + v24, v25);
      const int v26 = v17 * 516;
      const int v27 = v26 + v20;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int v28 = l;
        const int v29 = v28 * 516;
        const int v31 = v27 + v29;
        tile0[v31] = v25[l];
      }
    }
  } else {
    const int v32 = fw_udiv(tid0, 2);
    const int v33 = v32 * 2;
    const int v34 = tid0 - v33;
    const int v35 = v34 * 4;
    const int v39 = v7 + v35;
    const int v41 = n4 + (-4);
    const int v42 = v39 < v41 ? v39 : v41;
    const int v43 = n3 + (-1);
    for (int k36 = 0; k36 < 4; ++k36) {
      const int v37 = k36 * 128;
      const int v38 = v32 + v37;
      const int v40 = v8 + v38;
      const int v44 = v40 < v43 ? v40 : v43;
      const int v45 = v44 * n5;
      const int v46 = v45 + v42;
      float v47[4];
      fw_load_f32x4_ldg(in1 + v46, v47);
      const int v48 = v35 * 516;
      const int v49 = v48 + v38;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int v50 = l;
        const int v51 = v50 * 516;
        const int v53 = v49 + v51;
        tile0[v53] = v47[l];
      }
    }
  }
  __syncthreads();  // the tiles are complete
  if (v13) {
    const int v54 = fw_udiv(tid0, 128);
    const int v55 = v54 * 128;
    const int v56 = tid0 - v55;
    const int v57 = v56 * 4;
    const int v62 = v8 + v57;
    #pragma unroll
    for (int k58 = 0; k58 < 4; ++k58) {
      const int v59 = k58 * 2;
      const int v60 = v54 + v59;
      const int v61 = v7 + v60;
      const int v63 = v60 * 516;
      const int v64 = v63 + v57;
      float v65[4];
      fw_load_f32x4(tile0 + v64, v65);
      const int v66 = v61 * n6;
      const int v67 = v66 + v62;
      bool v68[4];
      fw_load_boolx4_ldg(in0 + v67, v68);
      float v69[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        v69[l] = v68[l] ? v65[l] : 0.0f;
      }
      const int v70 = v61 * n7;
      const int v71 = v70 + v62;
      fw_store_f32x4(out2 + v71, v69);
    }
  } else {
    const int v72 = fw_udiv(tid0, 128);
    const int v73 = v72 * 128;
    const int v74 = tid0 - v73;
    const int v75 = v74 * 4;
    const int v79 = n4 - v7;
    const int v80 = n3 - v8;
    const bool v82 = v75 < v80;
    const int v84 = v79 + (-1);
    const int v86 = v80 + (-4);
    const int v87 = v75 < v86 ? v75 : v86;
    const int v89 = v8 + v87;
    for (int k76 = 0; k76 < 4; ++k76) {
      const int v77 = k76 * 2;
      const int v78 = v72 + v77;
      const bool v81 = v78 < v79;
      const bool v83 = v81 && v82;
      const int v85 = v78 < v84 ? v78 : v84;
      const int v88 = v7 + v85;
      const int v90 = v85 * 516;
      const int v91 = v90 + v87;
      float v92[4];
      fw_load_f32x4(tile0 + v91, v92);
      const int v93 = v88 * n6;
      const int v94 = v93 + v89;
      bool v95[4];
      fw_load_boolx4_ldg(in0 + v94, v95);
      float v96[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        v96[l] = v95[l] ? v92[l] : 0.0f;
      }
      const int v97 = v88 * n7;
      const int v98 = v97 + v89;
      if (v83) {
        fw_store_f32x4(out2 + v98, v96);
      }
    }
  }
}
