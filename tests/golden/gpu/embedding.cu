// embedding, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

// an index out of range: the context reports an error, as for eager's device-side assertion
__device__ __forceinline__ void fw_fail() { __trap(); }

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

// pointwise
extern "C" __global__ void __launch_bounds__(256) embedding_0(
    const long long* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 8);
  const int v2 = v1 * 8;
  const int v3 = tid0 - v2;
  const int v4 = bid0;
  const int v5 = bid0 - v4;
  const int v6 = v4 * 32;
  const int v7 = v6 + v1;
  const bool v8 = v7 < n1;
  const int v9 = n1 + (-1);
  const int v10 = v7 < v9 ? v7 : v9;
  const int v11 = v5 * 8;
  const int v12 = v11 + v3;
  const int v13 = v11 + 8;
  const int v14 = v13 * 4;
  const bool v15 = v14 <= n2;
  const long long v17 = __ldg(in0 + v10);
  const bool v18 = v17 < 0ll;
  const long long v19 = (long long)n3;
  const long long v20 = v17 + v19;
  const long long v21 = v18 ? v20 : v17;
  const bool v22 = v21 >= 0ll;
  const bool v23 = v21 < v19;
  const bool v24 = v22 && v23;
  const int v25 = (int)v21;
  const int v26 = v25 * n4;
  const int v32 = v10 * n5;
  if (v15) {
    const int v16 = v12 * 4;
    if (!v24) {
      fw_fail();
    }
    const int v27 = v26 + v16;
    float maybe29[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      maybe29[l] = 0.0f;
    }
    if (v24) {
      float v30[4];
      fw_load_f32x4_ldg(in1 + v27, v30);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        maybe29[l] = v30[l];
      }
    }
    float v31[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v31[l] = maybe29[l] * 2.0f;
    }
    const int v33 = v32 + v16;
    if (v8) {
      fw_store_f32x4(out2 + v33, v31);
    }
  } else {
    for (int k34 = 0; k34 < 1; ++k34) {
      const int v35 = k34 * 8;
      const int v36 = v12 + v35;
      const int v37 = v36 * 4;
      const bool v44 = v37 < n2;
      if (v44) {
        const int v38 = v36 * 4;
        if (!v24) {
          fw_fail();
        }
        const int v39 = v26 + v38;
        float maybe40[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          maybe40[l] = 0.0f;
        }
        if (v24) {
          float v41[4];
          fw_load_f32x4_ldg(in1 + v39, v41);
          #pragma unroll
          for (int l = 0; l < 4; ++l) {
            maybe40[l] = v41[l];
          }
        }
        float v42[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          v42[l] = maybe40[l] * 2.0f;
        }
        const int v43 = v32 + v38;
        if (v8) {
          fw_store_f32x4(out2 + v43, v42);
        }
      }
    }
  }
}
