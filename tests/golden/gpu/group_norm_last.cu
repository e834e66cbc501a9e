// group_norm_last, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// all blocks of the cluster have begun, and their mbarriers are made; other memory is not ordered
__device__ __forceinline__ void fw_cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ __forceinline__ void fw_cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

// an mbarrier that so many threads arrive at, and a fence: other blocks see it after fw_cluster_arrive and _wait
__device__ __forceinline__ void fw_mbarrier_init(unsigned long long* m, int count) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(m);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
__device__ __forceinline__ void fw_mbarrier_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

// begin to copy N bytes to shared memory; 16 go past the L1 cache
template <int N> __device__ __forceinline__ void fw_copy_async(void* to, const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if (N == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(N) : "memory");
}
__device__ __forceinline__ void fw_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void fw_copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

template <class T> __device__ __forceinline__ T fw_read(const T* p) { return *p; }

// x to where block `rank` of the cluster has what `p` is in this block's shared memory; `m` there counts its bytes
__device__ __forceinline__ unsigned fw_cluster_at(const void* p, int rank) {
  const unsigned mine = (unsigned)__cvta_generic_to_shared(p);
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(mine), "r"(rank));
  return at;
}
__device__ __forceinline__ void fw_cluster_send(float* p, float x, unsigned long long* m, int rank) {
  const unsigned at = fw_cluster_at(p, rank), there = fw_cluster_at(m, rank);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
               ::"r"(at), "f"(x), "r"(there) : "memory");
}
__device__ __forceinline__ void fw_cluster_send(double* p, double x, unsigned long long* m, int rank) {
  const unsigned at = fw_cluster_at(p, rank), there = fw_cluster_at(m, rank);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];"
               ::"r"(at), "d"(x), "r"(there) : "memory");
}
__device__ __forceinline__ void fw_cluster_send(int* p, int x, unsigned long long* m, int rank) {
  const unsigned at = fw_cluster_at(p, rank), there = fw_cluster_at(m, rank);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];"
               ::"r"(at), "r"(x), "r"(there) : "memory");
}
__device__ __forceinline__ void fw_cluster_send(unsigned* p, unsigned x, unsigned long long* m, int rank) {
  const unsigned at = fw_cluster_at(p, rank), there = fw_cluster_at(m, rank);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
               ::"r"(at), "r"(x), "r"(there) : "memory");
}
__device__ __forceinline__ void fw_cluster_send(long long* p, long long x, unsigned long long* m, int rank) {
  const unsigned at = fw_cluster_at(p, rank), there = fw_cluster_at(m, rank);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s64 [%0], %1, [%2];"
               ::"r"(at), "l"(x), "r"(there) : "memory");
}

// arrive, and say that so many bytes more will come; and wait until all threads and all bytes have
__device__ __forceinline__ void fw_mbarrier_expect(unsigned long long* m, int bytes) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(m);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
__device__ __forceinline__ void fw_mbarrier_wait(unsigned long long* m) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(m);
  unsigned done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(at) : "memory");
  } while (!done);
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

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

__device__ __forceinline__ unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

#endif

// what a block does first: make its mbarriers, at which each of its warps arrives
__device__ __forceinline__ void fw_cluster_begin(unsigned long long* m, int count, int warps) {
  if (threadIdx.x == 0) {
#pragma unroll
    for (int k = 0; k < count; ++k) fw_mbarrier_init(m + k, warps);
    fw_mbarrier_fence();
  }
  fw_cluster_arrive();
}

// wait for all threads of the block, and for the bytes that are sent to it
__device__ __forceinline__ void fw_cluster_receive(unsigned long long* m, int bytes) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) fw_mbarrier_expect(m, threadIdx.x == 0 ? bytes : 0);
  fw_mbarrier_wait(m);
}

__device__ __forceinline__ void fw_fetch_bf16x8(const unsigned short* p, unsigned* w) {
  const uint4 a0 = fw_read((const uint4*)p);
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

__device__ __forceinline__ void fw_load_bf16x8(const unsigned short* p, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8(p, w);
  fw_unpack_bf16x8(w, v);
}

__device__ __forceinline__ float fw_sum_f32x8(const float* v) {
  float x[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = x[j] + x[j + 4];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 64 threads that are 8 apart
__device__ __forceinline__ float fw_sum_f32_64x8(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 8; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 8) s[t / 32 * 8 + t % 32] = x;
  __syncthreads();
  const unsigned mine = t / 32 * 8 + t % 8;
  const unsigned first = mine % 8;
  float y[16];
  #pragma unroll
  for (int j = 0; j < 16; ++j) y[j] = s[first + j * 8];
  #pragma unroll
  for (int j = 0; j < 16; j += 2) y[j] = y[j] + y[j + 1];
  #pragma unroll
  for (int j = 0; j < 16; j += 4) y[j] = y[j] + y[j + 2];
  #pragma unroll
  for (int j = 0; j < 16; j += 8) y[j] = y[j] + y[j + 4];
  x = y[0] + y[8];
  return x;
}

// sum over the 8 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_sum_f32_64x8_512x8(float x, float* slot, unsigned long long* m) {
  const unsigned t = threadIdx.x, us = blockIdx.x % 8, p = t / 8;
  slot += (t % 8) * 8;
  if (p < 8) fw_cluster_send(slot + us, x, m, p);
  fw_cluster_receive(m, 256);
  x = slot[0];
  #pragma unroll
  for (int r = 1; r < 8; ++r) {
    const float y = slot[r];
    x = x + y;
  }
  return x;
}

__device__ __forceinline__ void fw_fetch_bf16x8_ldg(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
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

// inner persistent
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(512) group_norm_last_0(
    const unsigned short* __restrict__ in0,
    const unsigned short* __restrict__ in1,
    const unsigned short* __restrict__ in2,
    unsigned short* __restrict__ out3,
    float* __restrict__ out4,
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
    int n11,
    int n12,
    int n13) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  unsigned kept1[32];  // 64 bf16, packed
  unsigned kept2[32];  // 64 bf16, packed
  extern __shared__ uint4 fw_shared[];
  unsigned short* const kept0_of_all = reinterpret_cast<unsigned short*>(fw_shared + 0);
  float* const fw_slot0 = reinterpret_cast<float*>(fw_shared + 4096);
  float* const fw_slot1 = reinterpret_cast<float*>(fw_shared + 4112);
  unsigned short* const kept0 = kept0_of_all + tid0 * 8;
  __shared__ __align__(16) unsigned char fw_scratch0[512];
  __shared__ __align__(16) unsigned char fw_scratch1[512];
  __shared__ unsigned long long fw_mbarrier[2];
  fw_cluster_begin(fw_mbarrier, 2, 16);
  const int v1 = fw_udiv(tid0, 8);
  const int v2 = v1 * 8;
  const int v3 = tid0 - v2;
  const int v4 = fw_udiv(bid0, 8);
  const int v5 = v4 * 8;
  const int v6 = bid0 - v5;
  const int v7 = v6 * 64;
  const int v8 = v7 + v1;
  const int v9 = v5 + v3;
  const bool v10 = v9 < n1;
  const int v11 = n1 + (-1);
  const int v12 = v9 < v11 ? v9 : v11;
  const int v13 = fw_udiv(v12, n2);
  const int v14 = v13 * n2;
  const int v15 = v12 - v14;
  const int v22 = v13 * n3;
  const int v24 = v15 * n5;
  const int v25 = v22 + v24;
  #pragma unroll
  for (int k16 = 0; k16 < 2; ++k16) {
    const int v17 = k16 * 512;
    const int v18 = v17 + v8;
    const bool v29 = v18 < n6;
    if (v29) {
      const int v19 = v18;
      const int v20 = v18 - v19;
      const int v21 = v20 * 8;
      const int v23 = v19 * n4;
      const int v26 = v25 + v23;
      const int v27 = v26 + v21;
      const int v28 = k16 * 8;
      fw_copy_async<16>(kept0 + v28 * 512, in0 + v27);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k30 = 2; k30 < 4; ++k30) {
    const int v31 = k30 * 512;
    const int v32 = v31 + v8;
    const bool v40 = v32 < n6;
    if (v40) {
      const int v33 = v32;
      const int v34 = v32 - v33;
      const int v35 = v34 * 8;
      const int v36 = v33 * n4;
      const int v37 = v25 + v36;
      const int v38 = v37 + v35;
      const int v39 = k30 * 8;
      fw_copy_async<16>(kept0 + v39 * 512, in0 + v38);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k41 = 4; k41 < 6; ++k41) {
    const int v42 = k41 * 512;
    const int v43 = v42 + v8;
    const bool v51 = v43 < n6;
    if (v51) {
      const int v44 = v43;
      const int v45 = v43 - v44;
      const int v46 = v45 * 8;
      const int v47 = v44 * n4;
      const int v48 = v25 + v47;
      const int v49 = v48 + v46;
      const int v50 = k41 * 8;
      fw_copy_async<16>(kept0 + v50 * 512, in0 + v49);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k52 = 6; k52 < 8; ++k52) {
    const int v53 = k52 * 512;
    const int v54 = v53 + v8;
    const bool v62 = v54 < n6;
    if (v62) {
      const int v55 = v54;
      const int v56 = v54 - v55;
      const int v57 = v56 * 8;
      const int v58 = v55 * n4;
      const int v59 = v25 + v58;
      const int v60 = v59 + v57;
      const int v61 = k52 * 8;
      fw_copy_async<16>(kept0 + v61 * 512, in0 + v60);
    }
  }
  fw_copy_commit();
  float acc63[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc63[l] = (-0.0f);
  }
  fw_copy_wait<3>();
  #pragma unroll
  for (int k64 = 0; k64 < 2; ++k64) {
    const int v65 = k64 * 512;
    const int v66 = v65 + v8;
    const bool v73 = v66 < n6;
    if (v73) {
      const int v67 = v66;
      const int v68 = (int)((unsigned)v66 - (unsigned)v67);
      const int v69 = (int)((unsigned)v68 * (unsigned)8);
      const int v70 = k64 * 8;
      float v71[8];
      fw_load_bf16x8(kept0 + v70 * 512, v71);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v72 = acc63[l] + v71[l];
        acc63[l] = v72;
      }
    }
  }
  fw_copy_wait<2>();
  #pragma unroll
  for (int k74 = 2; k74 < 4; ++k74) {
    const int v75 = k74 * 512;
    const int v76 = v75 + v8;
    const bool v83 = v76 < n6;
    if (v83) {
      const int v77 = v76;
      const int v78 = (int)((unsigned)v76 - (unsigned)v77);
      const int v79 = (int)((unsigned)v78 * (unsigned)8);
      const int v80 = k74 * 8;
      float v81[8];
      fw_load_bf16x8(kept0 + v80 * 512, v81);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v82 = acc63[l] + v81[l];
        acc63[l] = v82;
      }
    }
  }
  fw_copy_wait<1>();
  #pragma unroll
  for (int k84 = 4; k84 < 6; ++k84) {
    const int v85 = k84 * 512;
    const int v86 = v85 + v8;
    const bool v93 = v86 < n6;
    if (v93) {
      const int v87 = v86;
      const int v88 = (int)((unsigned)v86 - (unsigned)v87);
      const int v89 = (int)((unsigned)v88 * (unsigned)8);
      const int v90 = k84 * 8;
      float v91[8];
      fw_load_bf16x8(kept0 + v90 * 512, v91);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v92 = acc63[l] + v91[l];
        acc63[l] = v92;
      }
    }
  }
  fw_copy_wait<0>();
  #pragma unroll
  for (int k94 = 6; k94 < 8; ++k94) {
    const int v95 = k94 * 512;
    const int v96 = v95 + v8;
    const bool v103 = v96 < n6;
    if (v103) {
      const int v97 = v96;
      const int v98 = (int)((unsigned)v96 - (unsigned)v97);
      const int v99 = (int)((unsigned)v98 * (unsigned)8);
      const int v100 = k94 * 8;
      float v101[8];
      fw_load_bf16x8(kept0 + v100 * 512, v101);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v102 = acc63[l] + v101[l];
        acc63[l] = v102;
      }
    }
  }
  float v104[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v104[l] = acc63[l];
  }
  const float v105 = fw_sum_f32x8(v104);
  const float v106 = v105 + 0.0f;
  const float sum107 = fw_sum_f32_64x8(v106, fw_scratch0);
  fw_cluster_wait();  // all blocks have made their mbarriers
  const float sum108 = fw_cluster_sum_f32_64x8_512x8(sum107, fw_slot0, fw_mbarrier);
  float acc109[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc109[l] = 0.0f;
  }
  const long long v118 = (long long)n7;
  const float v119 = (float)v118;
  const float v120 = sum108 / v119;
  #pragma unroll
  for (int k110 = 0; k110 < 8; ++k110) {
    const int v111 = k110 * 512;
    const int v112 = v111 + v8;
    const bool v124 = v112 < n6;
    if (v124) {
      const int v113 = v112;
      const int v114 = (int)((unsigned)v112 - (unsigned)v113);
      const int v115 = (int)((unsigned)v114 * (unsigned)8);
      const int v116 = k110 * 8;
      float v117[8];
      fw_load_bf16x8(kept0 + v116 * 512, v117);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v122 = v117[l] - v120;
        const float v123 = ::fmaf(v122, v122, acc109[l]);
        acc109[l] = v123;
      }
    }
  }
  float v125[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v125[l] = acc109[l];
  }
  const float v126 = fw_sum_f32x8(v125);
  const float sum127 = fw_sum_f32_64x8(v126, fw_scratch1);
  const float sum128 = fw_cluster_sum_f32_64x8_512x8(sum127, fw_slot1, fw_mbarrier + 1);
  const int v136 = v15 * n8;
  const int v139 = v15 * n9;
  #pragma unroll
  for (int k129 = 0; k129 < 2; ++k129) {
    const int v130 = k129 * 512;
    const int v131 = v130 + v8;
    const bool v142 = v131 < n6;
    if (v142) {
      const int v132 = v131;
      const int v133 = v131 - v132;
      const int v134 = v133 * 8;
      const int v135 = k129 * 8;
      const int v137 = v136 + v134;
      fw_fetch_bf16x8_ldg(in1 + v137, kept1 + v135 / 2);
      const int v140 = v139 + v134;
      fw_fetch_bf16x8_ldg(in2 + v140, kept2 + v135 / 2);
    }
  }
  const float v152 = sum128 / v119;
  const float v153 = v152 + 1.0e-05f;
  const float v154 = ::rsqrtf(v153);
  const int v166 = v13 * n10;
  const int v168 = v15 * n12;
  const int v169 = v166 + v168;
  #pragma unroll
  for (int k143 = 0; k143 < 2; ++k143) {
    const int v144 = k143 * 512;
    const int v145 = v144 + v8;
    const bool v172 = v145 < n6;
    if (v172) {
      const int v146 = v145;
      const int v147 = v145 - v146;
      const int v148 = v147 * 8;
      const int v149 = k143 * 8;
      float v150[8];
      fw_load_bf16x8(kept0 + v149 * 512, v150);
      float v157[8];
      fw_unpack_bf16x8(kept1 + v149 / 2, v157);
      float v158[8];
      fw_unpack_bf16x8(kept2 + v149 / 2, v158);
      float v165[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v151 = v150[l] - v120;
        const float v156 = v151 * v154;
        const float v159 = ::fmaf(v156, v157[l], v158[l]);
        const float v160 = ::fmaf(v159, (-1.442695f), (-2.0f));
        const float v161 = fw_fast_exp2(v160);
        const float v162 = v161 + 0.25f;
        const float v163 = fw_fast_reciprocal(v162);
        const float v164 = v163 * 0.25f;
        v165[l] = v159 * v164;
      }
      const int v167 = v146 * n11;
      const int v170 = v169 + v167;
      const int v171 = v170 + v148;
      if (v10) {
        fw_store_bf16x8(out3 + v171, v165);
      }
    }
  }
  #pragma unroll
  for (int k173 = 2; k173 < 4; ++k173) {
    const int v174 = k173 * 512;
    const int v175 = v174 + v8;
    const bool v184 = v175 < n6;
    if (v184) {
      const int v176 = v175;
      const int v177 = v175 - v176;
      const int v178 = v177 * 8;
      const int v179 = k173 * 8;
      const int v180 = v136 + v178;
      fw_fetch_bf16x8_ldg(in1 + v180, kept1 + v179 / 2);
      const int v182 = v139 + v178;
      fw_fetch_bf16x8_ldg(in2 + v182, kept2 + v179 / 2);
    }
  }
  #pragma unroll
  for (int k185 = 2; k185 < 4; ++k185) {
    const int v186 = k185 * 512;
    const int v187 = v186 + v8;
    const bool v207 = v187 < n6;
    if (v207) {
      const int v188 = v187;
      const int v189 = v187 - v188;
      const int v190 = v189 * 8;
      const int v191 = k185 * 8;
      float v192[8];
      fw_load_bf16x8(kept0 + v191 * 512, v192);
      float v195[8];
      fw_unpack_bf16x8(kept1 + v191 / 2, v195);
      float v196[8];
      fw_unpack_bf16x8(kept2 + v191 / 2, v196);
      float v203[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v193 = v192[l] - v120;
        const float v194 = v193 * v154;
        const float v197 = ::fmaf(v194, v195[l], v196[l]);
        const float v198 = ::fmaf(v197, (-1.442695f), (-2.0f));
        const float v199 = fw_fast_exp2(v198);
        const float v200 = v199 + 0.25f;
        const float v201 = fw_fast_reciprocal(v200);
        const float v202 = v201 * 0.25f;
        v203[l] = v197 * v202;
      }
      const int v204 = v188 * n11;
      const int v205 = v169 + v204;
      const int v206 = v205 + v190;
      if (v10) {
        fw_store_bf16x8(out3 + v206, v203);
      }
    }
  }
  #pragma unroll
  for (int k208 = 4; k208 < 6; ++k208) {
    const int v209 = k208 * 512;
    const int v210 = v209 + v8;
    const bool v219 = v210 < n6;
    if (v219) {
      const int v211 = v210;
      const int v212 = v210 - v211;
      const int v213 = v212 * 8;
      const int v214 = k208 * 8;
      const int v215 = v136 + v213;
      fw_fetch_bf16x8_ldg(in1 + v215, kept1 + v214 / 2);
      const int v217 = v139 + v213;
      fw_fetch_bf16x8_ldg(in2 + v217, kept2 + v214 / 2);
    }
  }
  #pragma unroll
  for (int k220 = 4; k220 < 6; ++k220) {
    const int v221 = k220 * 512;
    const int v222 = v221 + v8;
    const bool v242 = v222 < n6;
    if (v242) {
      const int v223 = v222;
      const int v224 = v222 - v223;
      const int v225 = v224 * 8;
      const int v226 = k220 * 8;
      float v227[8];
      fw_load_bf16x8(kept0 + v226 * 512, v227);
      float v230[8];
      fw_unpack_bf16x8(kept1 + v226 / 2, v230);
      float v231[8];
      fw_unpack_bf16x8(kept2 + v226 / 2, v231);
      float v238[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v228 = v227[l] - v120;
        const float v229 = v228 * v154;
        const float v232 = ::fmaf(v229, v230[l], v231[l]);
        const float v233 = ::fmaf(v232, (-1.442695f), (-2.0f));
        const float v234 = fw_fast_exp2(v233);
        const float v235 = v234 + 0.25f;
        const float v236 = fw_fast_reciprocal(v235);
        const float v237 = v236 * 0.25f;
        v238[l] = v232 * v237;
      }
      const int v239 = v223 * n11;
      const int v240 = v169 + v239;
      const int v241 = v240 + v225;
      if (v10) {
        fw_store_bf16x8(out3 + v241, v238);
      }
    }
  }
  #pragma unroll
  for (int k243 = 6; k243 < 8; ++k243) {
    const int v244 = k243 * 512;
    const int v245 = v244 + v8;
    const bool v254 = v245 < n6;
    if (v254) {
      const int v246 = v245;
      const int v247 = v245 - v246;
      const int v248 = v247 * 8;
      const int v249 = k243 * 8;
      const int v250 = v136 + v248;
      fw_fetch_bf16x8_ldg(in1 + v250, kept1 + v249 / 2);
      const int v252 = v139 + v248;
      fw_fetch_bf16x8_ldg(in2 + v252, kept2 + v249 / 2);
    }
  }
  #pragma unroll
  for (int k255 = 6; k255 < 8; ++k255) {
    const int v256 = k255 * 512;
    const int v257 = v256 + v8;
    const bool v277 = v257 < n6;
    if (v277) {
      const int v258 = v257;
      const int v259 = v257 - v258;
      const int v260 = v259 * 8;
      const int v261 = k255 * 8;
      float v262[8];
      fw_load_bf16x8(kept0 + v261 * 512, v262);
      float v265[8];
      fw_unpack_bf16x8(kept1 + v261 / 2, v265);
      float v266[8];
      fw_unpack_bf16x8(kept2 + v261 / 2, v266);
      float v273[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v263 = v262[l] - v120;
        const float v264 = v263 * v154;
        const float v267 = ::fmaf(v264, v265[l], v266[l]);
        const float v268 = ::fmaf(v267, (-1.442695f), (-2.0f));
        const float v269 = fw_fast_exp2(v268);
        const float v270 = v269 + 0.25f;
        const float v271 = fw_fast_reciprocal(v270);
        const float v272 = v271 * 0.25f;
        v273[l] = v267 * v272;
      }
      const int v274 = v258 * n11;
      const int v275 = v169 + v274;
      const int v276 = v275 + v260;
      if (v10) {
        fw_store_bf16x8(out3 + v276, v273);
      }
    }
  }
  const bool v278 = v8 == 0;
  const int v279 = v13 * n13;
  const int v280 = v279 + v15;
  const bool v281 = v278 && v10;
  if (v281) {
    out4[v280] = v154;
  }
}
