// transpose, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

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
extern "C" __global__ void __launch_bounds__(256) transpose_0(
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
  __shared__ __align__(16) float tile0[4160];
  const int v1 = fw_udiv(bid0, n1);
  const int v2 = v1 * n1;
  const int v3 = bid0 - v2;
  const int v4 = fw_udiv(v1, n2);
  const int v5 = v4 * n2;
  const int v6 = v1 - v5;
  const int v7 = v6 * 64;
  const int v8 = v3 * 64;
  const int v9 = v7 + 64;
  const bool v10 = v9 <= n4;
  const int v11 = v8 + 64;
  const bool v12 = v11 <= n3;
  const bool v13 = v10 && v12;
  if (v13) {
    const int v14 = fw_udiv(tid0, 16);
    const int v15 = v14 * 16;
    const int v16 = tid0 - v15;
    const int v17 = v16 * 4;
    const int v21 = v7 + v17;
    #pragma unroll
    for (int k18 = 0; k18 < 4; ++k18) {
      const int v19 = k18 * 16;
      const int v20 = v14 + v19;
      const int v22 = v8 + v20;
      const int v23 = v22 * n5;
      const int v24 = v23 + v21;
      float v25[4];
      fw_load_f32x4_ldg(in1 + v24, v25);
      const int v26 = v20 * 65;
      const int v27 = v26 + v17;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        tile0[v27 + l] = v25[l];
      }
    }
  } else {
    const int v28 = fw_udiv(tid0, 16);
    const int v29 = v28 * 16;
    const int v30 = tid0 - v29;
    const int v31 = v30 * 4;
    const int v35 = v7 + v31;
    const int v37 = n4 + (-4);
    const int v38 = v35 < v37 ? v35 : v37;
    const int v39 = n3 + (-1);
    for (int k32 = 0; k32 < 4; ++k32) {
      const int v33 = k32 * 16;
      const int v34 = v28 + v33;
      const int v36 = v8 + v34;
      const int v40 = v36 < v39 ? v36 : v39;
      const int v41 = v40 * n5;
      const int v42 = v41 + v38;
      float v43[4];
      fw_load_f32x4_ldg(in1 + v42, v43);
      const int v44 = v34 * 65;
      const int v45 = v44 + v31;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        tile0[v45 + l] = v43[l];
      }
    }
  }
  __syncthreads();  // the tiles are complete
  if (v13) {
    const int v46 = fw_udiv(tid0, 16);
    const int v47 = v46 * 16;
    const int v48 = tid0 - v47;
    const int v49 = v48 * 4;
    const int v54 = v8 + v49;
    #pragma unroll
    for (int k50 = 0; k50 < 4; ++k50) {
      const int v51 = k50 * 16;
      const int v52 = v46 + v51;
      const int v53 = v7 + v52;
      const int v55 = v49 * 65;
      const int v56 = v55 + v52;
      const int v62 = v53 * n6;
      const int v63 = v62 + v54;
      bool v64[4];
      fw_load_boolx4_ldg(in0 + v63, v64);
      float v65[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int v57 = l;
        const int v58 = v57 * 65;
        const int v60 = v56 + v58;
        const float v61 = tile0[v60];
        v65[l] = v64[l] ? v61 : 0.0f;
      }
      const int v66 = v53 * n7;
      const int v67 = v66 + v54;
      fw_store_f32x4(out2 + v67, v65);
    }
  } else {
    const int v68 = fw_udiv(tid0, 16);
    const int v69 = v68 * 16;
    const int v70 = tid0 - v69;
    const int v71 = v70 * 4;
    const int v75 = n4 - v7;
    const int v76 = n3 - v8;
    const bool v78 = v71 < v76;
    const int v80 = v75 + (-1);
    const int v82 = v76 + (-4);
    const int v83 = v71 < v82 ? v71 : v82;
    const int v85 = v8 + v83;
    for (int k72 = 0; k72 < 4; ++k72) {
      const int v73 = k72 * 16;
      const int v74 = v68 + v73;
      const bool v77 = v74 < v75;
      const bool v79 = v77 && v78;
      const int v81 = v74 < v80 ? v74 : v80;
      const int v84 = v7 + v81;
      const int v86 = v83 * 65;
      const int v87 = v86 + v81;
      const int v93 = v84 * n6;
      const int v94 = v93 + v85;
      bool v95[4];
      fw_load_boolx4_ldg(in0 + v94, v95);
      float v96[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const int v88 = l;
        const int v89 = v88 * 65;
        const int v91 = v87 + v89;
        const float v92 = tile0[v91];
        v96[l] = v95[l] ? v92 : 0.0f;
      }
      const int v97 = v84 * n7;
      const int v98 = v97 + v85;
      if (v79) {
        fw_store_f32x4(out2 + v98, v96);
      }
    }
  }
}
