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
  const int v7 = v3 * 64;
  const int v8 = v6 * 64;
  const int v9 = fw_udiv(tid0, 16);
  const int v10 = v9 * 16;
  const int v11 = tid0 - v10;
  const int v12 = v11 * 4;
  const int v16 = v8 + v12;
  const int v17 = n4 + (-4);
  const int v18 = v16 < v17 ? v16 : v17;
  const int v20 = n3 + (-1);
  #pragma unroll
  for (int k13 = 0; k13 < 4; ++k13) {
    const int v14 = k13 * 16;
    const int v15 = v9 + v14;
    const int v19 = v7 + v15;
    const int v21 = v19 < v20 ? v19 : v20;
    const int v22 = v21 * n5;
    const int v23 = v22 + v18;
    float v24[4];
    fw_load_f32x4_ldg(in1 + v23, v24);
    const int v25 = v15 * 65;
    const int v26 = v25 + v12;
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      tile0[v26 + l] = v24[l];
    }
  }
  __syncthreads();  // the tiles are complete
  const int v30 = n4 - v8;
  const int v31 = n3 - v7;
  const bool v33 = v12 < v31;
  const int v35 = v30 + (-1);
  const int v37 = v31 + (-4);
  const int v38 = v12 < v37 ? v12 : v37;
  const int v40 = v7 + v38;
  #pragma unroll
  for (int k27 = 0; k27 < 4; ++k27) {
    const int v28 = k27 * 16;
    const int v29 = v9 + v28;
    const bool v32 = v29 < v30;
    const bool v34 = v32 && v33;
    const int v36 = v29 < v35 ? v29 : v35;
    const int v39 = v8 + v36;
    const int v41 = v38 * 65;
    const int v42 = v41 + v36;
    const int v48 = v39 * n6;
    const int v49 = v48 + v40;
    bool v50[4];
    fw_load_boolx4_ldg(in0 + v49, v50);
    float v51[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const int v43 = l;
      const int v44 = v43 * 65;
      const int v46 = v42 + v44;
      const float v47 = tile0[v46];
      v51[l] = v50[l] ? v47 : 0.0f;
    }
    const int v52 = v39 * n7;
    const int v53 = v52 + v40;
    if (v34) {
      fw_store_f32x4(out2 + v53, v51);
    }
  }
}
