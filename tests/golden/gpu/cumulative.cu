// cumulative, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

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

__device__ __forceinline__ void fw_scan_sum_f64_lanes4(const double* v, double* out) {
  out[0] = v[0];
  #pragma unroll
  for (int l = 1; l < 4; ++l) out[l] = out[l - 1] + v[l];
}

// sum of what comes before, and of all, in groups of 256 threads
__device__ __forceinline__ void fw_scan_sum_f64_256x1(double x, double* out, unsigned char* scratch) {
  const unsigned t = threadIdx.x;
  const unsigned j = t % 32;
  #pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const double y = __shfl_up_sync(0xffffffffu, x, d);
    if (j >= d) x = y + x;
  }
  const double y = __shfl_up_sync(0xffffffffu, x, 1);
  double* const s = reinterpret_cast<double*>(scratch);
  if (j == 31) s[t / 32] = x;
  __syncthreads();
  const unsigned mine = t / 32, k = mine / 1 % 8, first = mine - k * 1;
  double base = 0.0, all = 0.0;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i == k) base = all;
    all = all + s[first + i * 1];
  }
  const double before = j ? y : 0.0;
  out[0] = base + before;
  out[1] = all;
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

// scan
extern "C" __global__ void __launch_bounds__(256) cumulative_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[64];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  double carry1 = 0.0;
  const int v4 = n1 + (-1);
  const int v12 = bid0 * n2;
  const int v45 = bid0 * n3;
  for (int c2 = 0; c2 < n1; c2 += 512) {
    const int v3 = c2 + tid0;
    const int v5 = v3 < v4 ? v3 : v4;
    const int v6 = v5 * 4;
    const bool v7 = v3 < n1;
    const int v8 = v3 + 256;
    const int v9 = v8 < v4 ? v8 : v4;
    const int v10 = v9 * 4;
    const bool v11 = v8 < n1;
    const int v13 = v12 + v6;
    float v14[4];
    fw_load_f32x4_ldg(in0 + v13, v14);
    const int v16 = v12 + v10;
    float v17[4];
    fw_load_f32x4_ldg(in0 + v16, v17);
    float v18[4];
    double v21[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v15 = v14[l] * 0.5f;
      v18[l] = v17[l] * 0.5f;
      const double v19 = (double)v15;
      v21[l] = v7 ? v19 : 0.0;
    }
    double v22[4];
    fw_scan_sum_f64_lanes4(v21, v22);
    const double v23 = v22[3];
    double scan24[2];
    fw_scan_sum_f64_256x1(v23, scan24, fw_scratch0);
    const double v25 = scan24[0];
    const double v26 = scan24[1];
    const double v27 = carry1 + v25;
    double v29[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v29[l] = v27 + v22[l];
    }
    const double v30 = carry1 + v26;
    carry1 = v30;
    float v31[4];
    double v34[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v31[l] = (float)v29[l];
      const double v32 = (double)v18[l];
      v34[l] = v11 ? v32 : 0.0;
    }
    double v35[4];
    fw_scan_sum_f64_lanes4(v34, v35);
    const double v36 = v35[3];
    double scan37[2];
    fw_scan_sum_f64_256x1(v36, scan37, fw_scratch1);
    const double v38 = scan37[0];
    const double v39 = scan37[1];
    const double v40 = carry1 + v38;
    double v42[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v42[l] = v40 + v35[l];
    }
    const double v43 = carry1 + v39;
    carry1 = v43;
    float v44[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v44[l] = (float)v42[l];
    }
    if (v7) {
      const int v46 = v45 + v6;
      fw_store_f32x4(out1 + v46, v31);
    }
    if (v11) {
      const int v47 = v45 + v10;
      fw_store_f32x4(out1 + v47, v44);
    }
  }
  const bool v48 = tid0 == 0;
}
