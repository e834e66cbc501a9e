// softmax_runs, made by Fusewright

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

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

// 2^x, to 2^-22
__device__ __forceinline__ float fw_fast_exp2(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// 1 / x, to 1 ulp; 0 from 2^126 on
__device__ __forceinline__ float fw_fast_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

template <class T> __device__ __forceinline__ T fw_read(const T* p) { return *p; }

#endif

__device__ __forceinline__ float fw_bf16_f32(unsigned short x) { return __uint_as_float((unsigned)x << 16); }

#define fw_inff __int_as_float(0x7f800000)

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

__device__ __forceinline__ void fw_fetch_bf16x8(const unsigned short* p, unsigned* w) {
  const uint4 a0 = fw_read((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_load_bf16x8(const unsigned short* p, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8(p, w);
  fw_unpack_bf16x8(w, v);
}

// inner persistent
extern "C" __global__ void __launch_bounds__(128) softmax_runs_0(
    const unsigned short* __restrict__ in0,
    unsigned short* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  unsigned short kept0[13];
  __shared__ __align__(16) unsigned short run_in0[4096];
  __shared__ __align__(16) unsigned short result_out1[4096];
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
  const int v76 = v3 + 127;
  const int v77 = fw_udiv(v76, 128);
  for (int turn37 = 0; turn37 < v77; ++turn37) {
    const int v39 = v38 + turn37;
    const int v40 = v39 * 128;
    const int v41 = v40 + tid0;
    const bool v42 = v41 < n2;
    const int v43 = n2 + (-1);
    const int v44 = v41 < v43 ? v41 : v43;
    const int v45 = v44 - v1;
    const int v46 = v45 * n3;
    float acc47 = (-fw_inff);
    #pragma unroll
    for (int k48 = 0; k48 < 13; ++k48) {
      const bool v51 = k48 < n5;
      if (v51) {
        const int v49 = v46 + k48;
        kept0[k48] = run_in0[v49];
      }
    }
    #pragma unroll
    for (int k52 = 0; k52 < 13; ++k52) {
      const bool v55 = k52 < n5;
      if (v55) {
        const float v53 = fw_bf16_f32(kept0[k52]);
        const float v54 = fw_max(acc47, v53);
        acc47 = v54;
      }
    }
    const float v56 = acc47;
    float acc57 = (-0.0f);
    #pragma unroll
    for (int k58 = 0; k58 < 13; ++k58) {
      const bool v64 = k58 < n5;
      if (v64) {
        const float v59 = fw_bf16_f32(kept0[k58]);
        const float v60 = v59 - v56;
        const float v61 = v60 * 1.442695f;
        const float v62 = fw_fast_exp2(v61);
        const float v63 = acc57 + v62;
        acc57 = v63;
      }
    }
    const float v65 = acc57;
    const float v66 = v65 + 0.0f;
    const float v72 = fw_fast_reciprocal(v66);
    #pragma unroll
    for (int k67 = 0; k67 < 13; ++k67) {
      const bool v75 = k67 < n5;
      if (v75) {
        const float v68 = fw_bf16_f32(kept0[k67]);
        const float v69 = v68 - v56;
        const float v70 = v69 * 1.442695f;
        const float v71 = fw_fast_exp2(v70);
        const float v73 = v71 * v72;
        const int v74 = v46 + k67;
        if (v42) {
          result_out1[v74] = fw_f32_bf16(v73);
        }
      }
    }
  }
  __syncthreads();  // the results are there
  if (v31) {
    const int v78 = v6 + (-1);
    const int v79 = tid0 < v78 ? tid0 : v78;
    const int v80 = v79 * 8;
    float v81[8];
    fw_load_bf16x8(result_out1 + v80, v81);
    const bool v82 = tid0 < v6;
    const int v83 = tid0 + 128;
    const int v84 = v83 < v78 ? v83 : v78;
    const int v85 = v84 * 8;
    float v86[8];
    fw_load_bf16x8(result_out1 + v85, v86);
    const bool v87 = v83 < v6;
    const int v88 = tid0 + 256;
    const int v89 = v88 < v78 ? v88 : v78;
    const int v90 = v89 * 8;
    float v91[8];
    fw_load_bf16x8(result_out1 + v90, v91);
    const bool v92 = v88 < v6;
    const int v93 = tid0 + 384;
    const int v94 = v93 < v78 ? v93 : v78;
    const int v95 = v94 * 8;
    float v96[8];
    fw_load_bf16x8(result_out1 + v95, v96);
    const bool v97 = v93 < v6;
    const int v98 = v4 + v80;
    if (v82) {
      fw_store_bf16x8(out1 + v98, v81);
    }
    const int v99 = v4 + v85;
    if (v87) {
      fw_store_bf16x8(out1 + v99, v86);
    }
    const int v100 = v4 + v90;
    if (v92) {
      fw_store_bf16x8(out1 + v100, v91);
    }
    const int v101 = v4 + v95;
    if (v97) {
      fw_store_bf16x8(out1 + v101, v96);
    }
  }
  if (v36) {
    const float v102 = fw_bf16_f32(result_out1[v33]);
    const int v103 = v4 + v33;
    out1[v103] = fw_f32_bf16(v102);
  }
}
