// cumulative_down_shared, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

#endif

// sum of what comes before, and of all, in groups of 8 threads that are 32 apart
__device__ __forceinline__ void fw_scan_sum_f64_8x32(double x, double* out, unsigned char* scratch) {
  const unsigned t = threadIdx.x;
  double* const s = reinterpret_cast<double*>(scratch);
  s[t] = x;
  __syncthreads();
  const unsigned mine = t, k = mine / 32 % 8, first = mine - k * 32;
  double base = 0.0, all = 0.0;
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i == k) base = all;
    all = all + s[first + i * 32];
  }
  const double before = 0.0;
  out[0] = base + before;
  out[1] = all;
}

// scan
extern "C" __global__ void __launch_bounds__(256) cumulative_down_shared_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[2048];
  __shared__ __align__(16) unsigned char fw_scratch1[2048];
  const int v1 = fw_udiv(tid0, 32);
  const int v2 = v1 * 32;
  const int v3 = tid0 - v2;
  const int v4 = bid0 * 32;
  const int v5 = v4 + v3;
  const bool v6 = v5 < n1;
  const int v7 = n1 + (-1);
  const int v8 = v5 < v7 ? v5 : v7;
  double carry9 = 0.0;
  const int v12 = n2 + (-1);
  for (int c10 = 0; c10 < n2; c10 += 16) {
    const int v11 = c10 + v1;
    const int v13 = v11 < v12 ? v11 : v12;
    const bool v14 = v11 < n2;
    const int v15 = v11 + 8;
    const int v16 = v15 < v12 ? v15 : v12;
    const bool v17 = v15 < n2;
    const int v18 = v13 * n3;
    const int v19 = v18 + v8;
    const float v20 = __ldg(in0 + v19);
    const int v21 = v16 * n3;
    const int v22 = v21 + v8;
    const float v23 = __ldg(in0 + v22);
    const double v24 = (double)v20;
    const double v25 = v14 ? v24 : 0.0;
    double scan26[2];
    fw_scan_sum_f64_8x32(v25, scan26, fw_scratch0);
    const double v27 = scan26[0];
    const double v28 = scan26[1];
    const double v29 = carry9 + v27;
    const double v30 = v29 + v25;
    const double v31 = carry9 + v28;
    carry9 = v31;
    const float v32 = (float)v30;
    const double v33 = (double)v23;
    const double v34 = v17 ? v33 : 0.0;
    double scan35[2];
    fw_scan_sum_f64_8x32(v34, scan35, fw_scratch1);
    const double v36 = scan35[0];
    const double v37 = scan35[1];
    const double v38 = carry9 + v36;
    const double v39 = v38 + v34;
    const double v40 = carry9 + v37;
    carry9 = v40;
    const float v41 = (float)v39;
    const int v42 = v13 * n4;
    if (v14) {
      const int v43 = v42 + v8;
      if (v6) {
        out1[v43] = v32;
      }
    }
    const int v44 = v16 * n4;
    if (v17) {
      const int v45 = v44 + v8;
      if (v6) {
        out1[v45] = v41;
      }
    }
  }
  const bool v46 = v1 == 0;
}
