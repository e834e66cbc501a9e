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

// sum of what comes before, and of all, in groups of 128 threads
__device__ __forceinline__ void fw_scan_sum_f64_128x1(double x, double* out, unsigned char* scratch) {
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
  const unsigned mine = t / 32, k = mine / 1 % 4, first = mine - k * 1;
  double base = 0.0, all = 0.0;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
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
extern "C" __global__ void __launch_bounds__(128) cumulative_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[32];
  double carry1 = 0.0;
  const int v4 = n1 + (-1);
  const int v36 = bid0 * n2;
  const int v165 = bid0 * n3;
  for (int c2 = 0; c2 < n1; c2 += 1024) {
    const int v3 = c2 + tid0;
    const int v5 = v3 < v4 ? v3 : v4;
    const int v6 = v5 * 4;
    const bool v7 = v3 < n1;
    const int v8 = v3 + 128;
    const int v9 = v8 < v4 ? v8 : v4;
    const int v10 = v9 * 4;
    const bool v11 = v8 < n1;
    const int v12 = v3 + 256;
    const int v13 = v12 < v4 ? v12 : v4;
    const int v14 = v13 * 4;
    const bool v15 = v12 < n1;
    const int v16 = v3 + 384;
    const int v17 = v16 < v4 ? v16 : v4;
    const int v18 = v17 * 4;
    const bool v19 = v16 < n1;
    const int v20 = v3 + 512;
    const int v21 = v20 < v4 ? v20 : v4;
    const int v22 = v21 * 4;
    const bool v23 = v20 < n1;
    const int v24 = v3 + 640;
    const int v25 = v24 < v4 ? v24 : v4;
    const int v26 = v25 * 4;
    const bool v27 = v24 < n1;
    const int v28 = v3 + 768;
    const int v29 = v28 < v4 ? v28 : v4;
    const int v30 = v29 * 4;
    const bool v31 = v28 < n1;
    const int v32 = v3 + 896;
    const int v33 = v32 < v4 ? v32 : v4;
    const int v34 = v33 * 4;
    const bool v35 = v32 < n1;
    const int v37 = v36 + v6;
    float v38[4];
    fw_load_f32x4_ldg(in0 + v37, v38);
    const int v40 = v36 + v10;
    float v41[4];
    fw_load_f32x4_ldg(in0 + v40, v41);
    const int v43 = v36 + v14;
    float v44[4];
    fw_load_f32x4_ldg(in0 + v43, v44);
    const int v46 = v36 + v18;
    float v47[4];
    fw_load_f32x4_ldg(in0 + v46, v47);
    const int v49 = v36 + v22;
    float v50[4];
    fw_load_f32x4_ldg(in0 + v49, v50);
    const int v52 = v36 + v26;
    float v53[4];
    fw_load_f32x4_ldg(in0 + v52, v53);
    const int v55 = v36 + v30;
    float v56[4];
    fw_load_f32x4_ldg(in0 + v55, v56);
    const int v58 = v36 + v34;
    float v59[4];
    fw_load_f32x4_ldg(in0 + v58, v59);
    float v42[4];
    float v45[4];
    float v48[4];
    float v51[4];
    float v54[4];
    float v57[4];
    float v60[4];
    double v63[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v39 = v38[l] * 0.5f;
      v42[l] = v41[l] * 0.5f;
      v45[l] = v44[l] * 0.5f;
      v48[l] = v47[l] * 0.5f;
      v51[l] = v50[l] * 0.5f;
      v54[l] = v53[l] * 0.5f;
      v57[l] = v56[l] * 0.5f;
      v60[l] = v59[l] * 0.5f;
      const double v61 = (double)v39;
      v63[l] = v7 ? v61 : 0.0;
    }
    double v64[4];
    fw_scan_sum_f64_lanes4(v63, v64);
    const double v65 = v64[3];
    double scan66[2];
    fw_scan_sum_f64_128x1(v65, scan66, fw_scratch0);
    const double v67 = scan66[0];
    const double v68 = scan66[1];
    const double v69 = carry1 + v67;
    double v71[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v71[l] = v69 + v64[l];
    }
    const double v72 = carry1 + v68;
    carry1 = v72;
    float v73[4];
    double v76[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v73[l] = (float)v71[l];
      const double v74 = (double)v42[l];
      v76[l] = v11 ? v74 : 0.0;
    }
    double v77[4];
    fw_scan_sum_f64_lanes4(v76, v77);
    const double v78 = v77[3];
    double scan79[2];
    fw_scan_sum_f64_128x1(v78, scan79, fw_scratch1);
    const double v80 = scan79[0];
    const double v81 = scan79[1];
    const double v82 = carry1 + v80;
    double v84[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v84[l] = v82 + v77[l];
    }
    const double v85 = carry1 + v81;
    carry1 = v85;
    float v86[4];
    double v89[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v86[l] = (float)v84[l];
      const double v87 = (double)v45[l];
      v89[l] = v15 ? v87 : 0.0;
    }
    double v90[4];
    fw_scan_sum_f64_lanes4(v89, v90);
    const double v91 = v90[3];
    double scan92[2];
    fw_scan_sum_f64_128x1(v91, scan92, fw_scratch0);
    const double v93 = scan92[0];
    const double v94 = scan92[1];
    const double v95 = carry1 + v93;
    double v97[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v97[l] = v95 + v90[l];
    }
    const double v98 = carry1 + v94;
    carry1 = v98;
    float v99[4];
    double v102[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v99[l] = (float)v97[l];
      const double v100 = (double)v48[l];
      v102[l] = v19 ? v100 : 0.0;
    }
    double v103[4];
    fw_scan_sum_f64_lanes4(v102, v103);
    const double v104 = v103[3];
    double scan105[2];
    fw_scan_sum_f64_128x1(v104, scan105, fw_scratch1);
    const double v106 = scan105[0];
    const double v107 = scan105[1];
    const double v108 = carry1 + v106;
    double v110[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v110[l] = v108 + v103[l];
    }
    const double v111 = carry1 + v107;
    carry1 = v111;
    float v112[4];
    double v115[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v112[l] = (float)v110[l];
      const double v113 = (double)v51[l];
      v115[l] = v23 ? v113 : 0.0;
    }
    double v116[4];
    fw_scan_sum_f64_lanes4(v115, v116);
    const double v117 = v116[3];
    double scan118[2];
    fw_scan_sum_f64_128x1(v117, scan118, fw_scratch0);
    const double v119 = scan118[0];
    const double v120 = scan118[1];
    const double v121 = carry1 + v119;
    double v123[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v123[l] = v121 + v116[l];
    }
    const double v124 = carry1 + v120;
    carry1 = v124;
    float v125[4];
    double v128[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v125[l] = (float)v123[l];
      const double v126 = (double)v54[l];
      v128[l] = v27 ? v126 : 0.0;
    }
    double v129[4];
    fw_scan_sum_f64_lanes4(v128, v129);
    const double v130 = v129[3];
    double scan131[2];
    fw_scan_sum_f64_128x1(v130, scan131, fw_scratch1);
    const double v132 = scan131[0];
    const double v133 = scan131[1];
    const double v134 = carry1 + v132;
    double v136[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v136[l] = v134 + v129[l];
    }
    const double v137 = carry1 + v133;
    carry1 = v137;
    float v138[4];
    double v141[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v138[l] = (float)v136[l];
      const double v139 = (double)v57[l];
      v141[l] = v31 ? v139 : 0.0;
    }
    double v142[4];
    fw_scan_sum_f64_lanes4(v141, v142);
    const double v143 = v142[3];
    double scan144[2];
    fw_scan_sum_f64_128x1(v143, scan144, fw_scratch0);
    const double v145 = scan144[0];
    const double v146 = scan144[1];
    const double v147 = carry1 + v145;
    double v149[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v149[l] = v147 + v142[l];
    }
    const double v150 = carry1 + v146;
    carry1 = v150;
    float v151[4];
    double v154[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v151[l] = (float)v149[l];
      const double v152 = (double)v60[l];
      v154[l] = v35 ? v152 : 0.0;
    }
    double v155[4];
    fw_scan_sum_f64_lanes4(v154, v155);
    const double v156 = v155[3];
    double scan157[2];
    fw_scan_sum_f64_128x1(v156, scan157, fw_scratch1);
    const double v158 = scan157[0];
    const double v159 = scan157[1];
    const double v160 = carry1 + v158;
    double v162[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v162[l] = v160 + v155[l];
    }
    const double v163 = carry1 + v159;
    carry1 = v163;
    float v164[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      v164[l] = (float)v162[l];
    }
    if (v7) {
      const int v166 = v165 + v6;
      fw_store_f32x4(out1 + v166, v73);
    }
    if (v11) {
      const int v167 = v165 + v10;
      fw_store_f32x4(out1 + v167, v86);
    }
    if (v15) {
      const int v168 = v165 + v14;
      fw_store_f32x4(out1 + v168, v99);
    }
    if (v19) {
      const int v169 = v165 + v18;
      fw_store_f32x4(out1 + v169, v112);
    }
    if (v23) {
      const int v170 = v165 + v22;
      fw_store_f32x4(out1 + v170, v125);
    }
    if (v27) {
      const int v171 = v165 + v26;
      fw_store_f32x4(out1 + v171, v138);
    }
    if (v31) {
      const int v172 = v165 + v30;
      fw_store_f32x4(out1 + v172, v151);
    }
    if (v35) {
      const int v173 = v165 + v34;
      fw_store_f32x4(out1 + v173, v164);
    }
  }
  const bool v174 = tid0 == 0;
}
