// cat_pad, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

#endif

// pointwise
extern "C" __global__ void __launch_bounds__(256) cat_pad_0(
    const float* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6,
    int n7,
    int n8,
    int n9,
    int n10,
    int n11) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  const int v1 = fw_udiv(tid0, 32);
  const int v2 = v1 * 32;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, n1);
  const int v5 = v4 * n1;
  const int v6 = bid0 - v5;
  const int v7 = v4 * 8;
  const int v8 = v7 + v1;
  const bool v9 = v8 < n2;
  const int v10 = n2 + (-1);
  const int v11 = v8 < v10 ? v8 : v10;
  const int v12 = v6 * 32;
  const int v13 = v12 + v3;
  const int v14 = n3 + (-1);
  const bool v15 = v13 < n3;
  const int v16 = v13 < v14 ? v13 : v14;
  const bool v17 = v15 && v9;
  const int v18 = v11 + (-1);
  const long long v19 = (long long)v18;
  const bool v20 = v19 >= 0ll;
  const long long v21 = (long long)v16;
  const long long v22 = (long long)n4;
  const bool v23 = v21 < v22;
  const bool v24 = v20 && v23;
  const long long v25 = (long long)n5;
  const bool v26 = v21 < v25;
  const int v27 = v11 * n6;
  const int v28 = v27 + n7;
  const int v29 = v28 + v16;
  const bool v30 = v24 && v26;
  const float v31 = v30 ? __ldg(in0 + v29) : 0.0f;
  const float v32 = -v31;
  const int v33 = v11 * n8;
  const int v34 = v33 + n9;
  const int v35 = v34 + v16;
  const int v36 = n10 + v16;
  const long long v37 = (long long)v36;
  const bool v38 = v37 >= 0ll;
  const bool v39 = v24 && v38;
  const float v40 = v39 ? __ldg(in1 + v35) : 0.0f;
  const float v41 = v26 ? v32 : v40;
  const float v42 = v24 ? v41 : 1.0f;
  const int v43 = v11 * n11;
  const int v44 = v43 + v16;
  if (v17) {
    out2[v44] = v42;
  }
}
