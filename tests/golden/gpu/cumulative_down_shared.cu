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
  for (int c10 = 0; c10 < n2; c10 += 64) {
    const int v11 = c10 + v1;
    const int v13 = v11 < v12 ? v11 : v12;
    const bool v14 = v11 < n2;
    const int v15 = v11 + 8;
    const int v16 = v15 < v12 ? v15 : v12;
    const bool v17 = v15 < n2;
    const int v18 = v11 + 16;
    const int v19 = v18 < v12 ? v18 : v12;
    const bool v20 = v18 < n2;
    const int v21 = v11 + 24;
    const int v22 = v21 < v12 ? v21 : v12;
    const bool v23 = v21 < n2;
    const int v24 = v11 + 32;
    const int v25 = v24 < v12 ? v24 : v12;
    const bool v26 = v24 < n2;
    const int v27 = v11 + 40;
    const int v28 = v27 < v12 ? v27 : v12;
    const bool v29 = v27 < n2;
    const int v30 = v11 + 48;
    const int v31 = v30 < v12 ? v30 : v12;
    const bool v32 = v30 < n2;
    const int v33 = v11 + 56;
    const int v34 = v33 < v12 ? v33 : v12;
    const bool v35 = v33 < n2;
    const int v36 = v13 * n3;
    const int v37 = v36 + v8;
    const float v38 = __ldg(in0 + v37);
    const int v39 = v16 * n3;
    const int v40 = v39 + v8;
    const float v41 = __ldg(in0 + v40);
    const int v42 = v19 * n3;
    const int v43 = v42 + v8;
    const float v44 = __ldg(in0 + v43);
    const int v45 = v22 * n3;
    const int v46 = v45 + v8;
    const float v47 = __ldg(in0 + v46);
    const int v48 = v25 * n3;
    const int v49 = v48 + v8;
    const float v50 = __ldg(in0 + v49);
    const int v51 = v28 * n3;
    const int v52 = v51 + v8;
    const float v53 = __ldg(in0 + v52);
    const int v54 = v31 * n3;
    const int v55 = v54 + v8;
    const float v56 = __ldg(in0 + v55);
    const int v57 = v34 * n3;
    const int v58 = v57 + v8;
    const float v59 = __ldg(in0 + v58);
    const double v60 = (double)v38;
    const double v61 = v14 ? v60 : 0.0;
    double scan62[2];
    fw_scan_sum_f64_8x32(v61, scan62, fw_scratch0);
    const double v63 = scan62[0];
    const double v64 = scan62[1];
    const double v65 = carry9 + v63;
    const double v66 = v65 + v61;
    const double v67 = carry9 + v64;
    carry9 = v67;
    const float v68 = (float)v66;
    const double v69 = (double)v41;
    const double v70 = v17 ? v69 : 0.0;
    double scan71[2];
    fw_scan_sum_f64_8x32(v70, scan71, fw_scratch1);
    const double v72 = scan71[0];
    const double v73 = scan71[1];
    const double v74 = carry9 + v72;
    const double v75 = v74 + v70;
    const double v76 = carry9 + v73;
    carry9 = v76;
    const float v77 = (float)v75;
    const double v78 = (double)v44;
    const double v79 = v20 ? v78 : 0.0;
    double scan80[2];
    fw_scan_sum_f64_8x32(v79, scan80, fw_scratch0);
    const double v81 = scan80[0];
    const double v82 = scan80[1];
    const double v83 = carry9 + v81;
    const double v84 = v83 + v79;
    const double v85 = carry9 + v82;
    carry9 = v85;
    const float v86 = (float)v84;
    const double v87 = (double)v47;
    const double v88 = v23 ? v87 : 0.0;
    double scan89[2];
    fw_scan_sum_f64_8x32(v88, scan89, fw_scratch1);
    const double v90 = scan89[0];
    const double v91 = scan89[1];
    const double v92 = carry9 + v90;
    const double v93 = v92 + v88;
    const double v94 = carry9 + v91;
    carry9 = v94;
    const float v95 = (float)v93;
    const double v96 = (double)v50;
    const double v97 = v26 ? v96 : 0.0;
    double scan98[2];
    fw_scan_sum_f64_8x32(v97, scan98, fw_scratch0);
    const double v99 = scan98[0];
    const double v100 = scan98[1];
    const double v101 = carry9 + v99;
    const double v102 = v101 + v97;
    const double v103 = carry9 + v100;
    carry9 = v103;
    const float v104 = (float)v102;
    const double v105 = (double)v53;
    const double v106 = v29 ? v105 : 0.0;
    double scan107[2];
    fw_scan_sum_f64_8x32(v106, scan107, fw_scratch1);
    const double v108 = scan107[0];
    const double v109 = scan107[1];
    const double v110 = carry9 + v108;
    const double v111 = v110 + v106;
    const double v112 = carry9 + v109;
    carry9 = v112;
    const float v113 = (float)v111;
    const double v114 = (double)v56;
    const double v115 = v32 ? v114 : 0.0;
    double scan116[2];
    fw_scan_sum_f64_8x32(v115, scan116, fw_scratch0);
    const double v117 = scan116[0];
    const double v118 = scan116[1];
    const double v119 = carry9 + v117;
    const double v120 = v119 + v115;
    const double v121 = carry9 + v118;
    carry9 = v121;
    const float v122 = (float)v120;
    const double v123 = (double)v59;
    const double v124 = v35 ? v123 : 0.0;
    double scan125[2];
    fw_scan_sum_f64_8x32(v124, scan125, fw_scratch1);
    const double v126 = scan125[0];
    const double v127 = scan125[1];
    const double v128 = carry9 + v126;
    const double v129 = v128 + v124;
    const double v130 = carry9 + v127;
    carry9 = v130;
    const float v131 = (float)v129;
    const int v132 = v13 * n4;
    if (v14) {
      const int v133 = v132 + v8;
      if (v6) {
        out1[v133] = v68;
      }
    }
    const int v134 = v16 * n4;
    if (v17) {
      const int v135 = v134 + v8;
      if (v6) {
        out1[v135] = v77;
      }
    }
    const int v136 = v19 * n4;
    if (v20) {
      const int v137 = v136 + v8;
      if (v6) {
        out1[v137] = v86;
      }
    }
    const int v138 = v22 * n4;
    if (v23) {
      const int v139 = v138 + v8;
      if (v6) {
        out1[v139] = v95;
      }
    }
    const int v140 = v25 * n4;
    if (v26) {
      const int v141 = v140 + v8;
      if (v6) {
        out1[v141] = v104;
      }
    }
    const int v142 = v28 * n4;
    if (v29) {
      const int v143 = v142 + v8;
      if (v6) {
        out1[v143] = v113;
      }
    }
    const int v144 = v31 * n4;
    if (v32) {
      const int v145 = v144 + v8;
      if (v6) {
        out1[v145] = v122;
      }
    }
    const int v146 = v34 * n4;
    if (v35) {
      const int v147 = v146 + v8;
      if (v6) {
        out1[v147] = v131;
      }
    }
  }
  const bool v148 = v1 == 0;
}
