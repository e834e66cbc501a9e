// cumulative_down, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

__device__ __forceinline__ void fw_fetch_f32x2_ldg(const float* p, unsigned* w) {
  const uint2 a0 = __ldg((const uint2*)p);
  w[0] = a0.x;
  w[1] = a0.y;
}

__device__ __forceinline__ void fw_unpack_f32x2(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
}

__device__ __forceinline__ void fw_load_f32x2_ldg(const float* p, float* v) {
  unsigned w[2];
  fw_fetch_f32x2_ldg(p, w);
  fw_unpack_f32x2(w, v);
}

__device__ __forceinline__ void fw_pack_f32x2(const float* v, unsigned* w) {
  w[0] = __float_as_uint(v[0]);
  w[1] = __float_as_uint(v[1]);
}

__device__ __forceinline__ void fw_store_f32x2(float* p, const float* v) {
  unsigned w[2];
  fw_pack_f32x2(v, w);
  fw_write((uint2*)p, uint2{w[0], w[1]});
}

// scan
extern "C" __global__ void __launch_bounds__(256) cumulative_down_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = bid0 * 256;
  const int v2 = v1 + tid0;
  const bool v3 = v2 < n1;
  const int v4 = n1 + (-1);
  const int v5 = v2 < v4 ? v2 : v4;
  const int v6 = v5 * 2;
  double carry7[2];
  #pragma unroll
  for (int l = 0; l < 2; ++l) {
    carry7[l] = 0.0;
  }
  const int v8 = fw_udiv(n2, 8);
  const int v9 = v8 * 8;
  for (int c10 = 0; c10 < v9; c10 += 8) {
    const int v11 = c10 + 1;
    const int v12 = c10 + 2;
    const int v13 = c10 + 3;
    const int v14 = c10 + 4;
    const int v15 = c10 + 5;
    const int v16 = c10 + 6;
    const int v17 = c10 + 7;
    const int v18 = c10 * n3;
    const int v19 = v18 + v6;
    float v20[2];
    fw_load_f32x2_ldg(in0 + v19, v20);
    const int v21 = v11 * n3;
    const int v22 = v21 + v6;
    float v23[2];
    fw_load_f32x2_ldg(in0 + v22, v23);
    const int v24 = v12 * n3;
    const int v25 = v24 + v6;
    float v26[2];
    fw_load_f32x2_ldg(in0 + v25, v26);
    const int v27 = v13 * n3;
    const int v28 = v27 + v6;
    float v29[2];
    fw_load_f32x2_ldg(in0 + v28, v29);
    const int v30 = v14 * n3;
    const int v31 = v30 + v6;
    float v32[2];
    fw_load_f32x2_ldg(in0 + v31, v32);
    const int v33 = v15 * n3;
    const int v34 = v33 + v6;
    float v35[2];
    fw_load_f32x2_ldg(in0 + v34, v35);
    const int v36 = v16 * n3;
    const int v37 = v36 + v6;
    float v38[2];
    fw_load_f32x2_ldg(in0 + v37, v38);
    const int v39 = v17 * n3;
    const int v40 = v39 + v6;
    float v41[2];
    fw_load_f32x2_ldg(in0 + v40, v41);
    float v44[2];
    float v47[2];
    float v50[2];
    float v53[2];
    float v56[2];
    float v59[2];
    float v62[2];
    float v65[2];
    #pragma unroll
    for (int l = 0; l < 2; ++l) {
      const double v42 = (double)v20[l];
      const double v43 = carry7[l] + v42;
      carry7[l] = v43;
      v44[l] = (float)v43;
      const double v45 = (double)v23[l];
      const double v46 = carry7[l] + v45;
      carry7[l] = v46;
      v47[l] = (float)v46;
      const double v48 = (double)v26[l];
      const double v49 = carry7[l] + v48;
      carry7[l] = v49;
      v50[l] = (float)v49;
      const double v51 = (double)v29[l];
      const double v52 = carry7[l] + v51;
      carry7[l] = v52;
      v53[l] = (float)v52;
      const double v54 = (double)v32[l];
      const double v55 = carry7[l] + v54;
      carry7[l] = v55;
      v56[l] = (float)v55;
      const double v57 = (double)v35[l];
      const double v58 = carry7[l] + v57;
      carry7[l] = v58;
      v59[l] = (float)v58;
      const double v60 = (double)v38[l];
      const double v61 = carry7[l] + v60;
      carry7[l] = v61;
      v62[l] = (float)v61;
      const double v63 = (double)v41[l];
      const double v64 = carry7[l] + v63;
      carry7[l] = v64;
      v65[l] = (float)v64;
    }
    const int v66 = c10 * n4;
    const int v67 = v66 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v67, v44);
    }
    const int v68 = v11 * n4;
    const int v69 = v68 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v69, v47);
    }
    const int v70 = v12 * n4;
    const int v71 = v70 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v71, v50);
    }
    const int v72 = v13 * n4;
    const int v73 = v72 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v73, v53);
    }
    const int v74 = v14 * n4;
    const int v75 = v74 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v75, v56);
    }
    const int v76 = v15 * n4;
    const int v77 = v76 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v77, v59);
    }
    const int v78 = v16 * n4;
    const int v79 = v78 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v79, v62);
    }
    const int v80 = v17 * n4;
    const int v81 = v80 + v6;
    if (v3) {
      fw_store_f32x2(out1 + v81, v65);
    }
  }
  for (int c82 = v9; c82 < n2; ++c82) {
    const bool v91 = c82 < n2;
    if (v91) {
      const int v83 = c82 * n3;
      const int v84 = v83 + v6;
      float v85[2];
      fw_load_f32x2_ldg(in0 + v84, v85);
      float v88[2];
      #pragma unroll
      for (int l = 0; l < 2; ++l) {
        const double v86 = (double)v85[l];
        const double v87 = carry7[l] + v86;
        carry7[l] = v87;
        v88[l] = (float)v87;
      }
      const int v89 = c82 * n4;
      const int v90 = v89 + v6;
      if (v3) {
        fw_store_f32x2(out1 + v90, v88);
      }
    }
  }
}
