// norm_shared, made by Fusewright

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

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

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

__device__ __forceinline__ void fw_fetch_f32x4(const float* p, unsigned* w) {
  const uint4 a0 = fw_read((const uint4*)p);
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

__device__ __forceinline__ void fw_load_f32x4(const float* p, float* v) {
  unsigned w[4];
  fw_fetch_f32x4(p, w);
  fw_unpack_f32x4(w, v);
}

__device__ __forceinline__ float fw_sum_f32x4(const float* v) {
  float x[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = x[j] + x[j + 2];
  x[0] = x[0] + x[1];
  return x[0];
}

// sum over groups of 512 threads
__device__ __forceinline__ float fw_sum_f32_512x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 16];
  #pragma unroll
  for (int d = 1; d <= 8; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  return x;
}

// sum over the 8 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_sum_f32_512x1_512x8(float x, float* slot, unsigned long long* m) {
  const unsigned t = threadIdx.x, us = blockIdx.x % 8, p = t;
  if (p < 8) fw_cluster_send(slot + us, x, m, p);
  fw_cluster_receive(m, 32);
  x = slot[0];
  #pragma unroll
  for (int r = 1; r < 8; ++r) {
    const float y = slot[r];
    x = x + y;
  }
  return x;
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

// inner persistent
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(512) norm_shared_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  extern __shared__ uint4 fw_shared[];
  float* const kept0_of_all = reinterpret_cast<float*>(fw_shared + 0);
  float* const fw_slot0 = reinterpret_cast<float*>(fw_shared + 6656);
  float* const fw_slot1 = reinterpret_cast<float*>(fw_shared + 6658);
  float* const kept0 = kept0_of_all + tid0 * 4;
  __shared__ __align__(16) unsigned char fw_scratch0[64];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  __shared__ unsigned long long fw_mbarrier[2];
  fw_cluster_begin(fw_mbarrier, 2, 16);
  const int v1 = fw_udiv(bid0, 8);
  const int v2 = v1 * 8;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 512;
  const int v5 = v4 + tid0;
  const int v10 = v1 * n1;
  #pragma unroll
  for (int k6 = 0; k6 < 4; ++k6) {
    const int v7 = k6 * 4096;
    const int v8 = v7 + v5;
    const bool v13 = v8 < n2;
    if (v13) {
      const int v9 = v8 * 4;
      const int v11 = v10 + v9;
      const int v12 = k6 * 4;
      fw_copy_async<16>(kept0 + v12 * 512, in0 + v11);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k14 = 0; k14 < 4; ++k14) {
    const int v15 = 4 + k14;
    const int v16 = v15 * 4096;
    const int v17 = v16 + v5;
    const bool v21 = v17 < n2;
    if (v21) {
      const int v18 = v17 * 4;
      const int v19 = v10 + v18;
      const int v20 = v15 * 4;
      fw_copy_async<16>(kept0 + v20 * 512, in0 + v19);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k22 = 0; k22 < 4; ++k22) {
    const int v23 = 8 + k22;
    const int v24 = v23 * 4096;
    const int v25 = v24 + v5;
    const bool v29 = v25 < n2;
    if (v29) {
      const int v26 = v25 * 4;
      const int v27 = v10 + v26;
      const int v28 = v23 * 4;
      fw_copy_async<16>(kept0 + v28 * 512, in0 + v27);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k30 = 0; k30 < 1; ++k30) {
    const int v31 = 12 + k30;
    const int v32 = v31 * 4096;
    const int v33 = v32 + v5;
    const bool v37 = v33 < n2;
    if (v37) {
      const int v34 = v33 * 4;
      const int v35 = v10 + v34;
      const int v36 = v31 * 4;
      fw_copy_async<16>(kept0 + v36 * 512, in0 + v35);
    }
  }
  fw_copy_commit();
  float acc38[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc38[l] = 0.0f;
  }
  fw_copy_wait<3>();
  #pragma unroll
  for (int k39 = 0; k39 < 4; ++k39) {
    const int v40 = k39 * 4096;
    const int v41 = v40 + v5;
    const bool v46 = v41 < n2;
    if (v46) {
      const int v42 = (int)((unsigned)v41 * (unsigned)4);
      const int v43 = k39 * 4;
      float v44[4];
      fw_load_f32x4(kept0 + v43 * 512, v44);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v45 = acc38[l] + v44[l];
        acc38[l] = v45;
      }
    }
  }
  fw_copy_wait<2>();
  #pragma unroll
  for (int k47 = 0; k47 < 4; ++k47) {
    const int v48 = 4 + k47;
    const int v49 = v48 * 4096;
    const int v50 = v49 + v5;
    const bool v55 = v50 < n2;
    if (v55) {
      const int v51 = (int)((unsigned)v50 * (unsigned)4);
      const int v52 = v48 * 4;
      float v53[4];
      fw_load_f32x4(kept0 + v52 * 512, v53);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v54 = acc38[l] + v53[l];
        acc38[l] = v54;
      }
    }
  }
  fw_copy_wait<1>();
  #pragma unroll
  for (int k56 = 0; k56 < 4; ++k56) {
    const int v57 = 8 + k56;
    const int v58 = v57 * 4096;
    const int v59 = v58 + v5;
    const bool v64 = v59 < n2;
    if (v64) {
      const int v60 = (int)((unsigned)v59 * (unsigned)4);
      const int v61 = v57 * 4;
      float v62[4];
      fw_load_f32x4(kept0 + v61 * 512, v62);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v63 = acc38[l] + v62[l];
        acc38[l] = v63;
      }
    }
  }
  fw_copy_wait<0>();
  #pragma unroll
  for (int k65 = 0; k65 < 1; ++k65) {
    const int v66 = 12 + k65;
    const int v67 = v66 * 4096;
    const int v68 = v67 + v5;
    const bool v73 = v68 < n2;
    if (v73) {
      const int v69 = (int)((unsigned)v68 * (unsigned)4);
      const int v70 = v66 * 4;
      float v71[4];
      fw_load_f32x4(kept0 + v70 * 512, v71);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v72 = acc38[l] + v71[l];
        acc38[l] = v72;
      }
    }
  }
  float v74[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v74[l] = acc38[l];
  }
  const float v75 = fw_sum_f32x4(v74);
  const float sum76 = fw_sum_f32_512x1(v75, fw_scratch0);
  fw_cluster_wait();  // all blocks have made their mbarriers
  const float sum77 = fw_cluster_sum_f32_512x1_512x8(sum76, fw_slot0, fw_mbarrier);
  float acc78[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc78[l] = 0.0f;
  }
  const long long v87 = (long long)n3;
  const float v88 = (float)v87;
  const float v89 = sum77 / v88;
  for (int base79 = 0; base79 < 12; base79 += 4) {
    #pragma unroll
    for (int k80 = 0; k80 < 4; ++k80) {
      const int v81 = base79 + k80;
      const int v82 = v81 * 4096;
      const int v83 = v82 + v5;
      const bool v93 = v83 < n2;
      if (v93) {
        const int v84 = (int)((unsigned)v83 * (unsigned)4);
        const int v85 = v81 * 4;
        float v86[4];
        fw_load_f32x4(kept0 + v85 * 512, v86);
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v91 = v86[l] - v89;
          const float v92 = ::fmaf(v91, v91, acc78[l]);
          acc78[l] = v92;
        }
      }
    }
  }
  #pragma unroll
  for (int k94 = 0; k94 < 1; ++k94) {
    const int v95 = 12 + k94;
    const int v96 = v95 * 4096;
    const int v97 = v96 + v5;
    const bool v103 = v97 < n2;
    if (v103) {
      const int v98 = (int)((unsigned)v97 * (unsigned)4);
      const int v99 = v95 * 4;
      float v100[4];
      fw_load_f32x4(kept0 + v99 * 512, v100);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v101 = v100[l] - v89;
        const float v102 = ::fmaf(v101, v101, acc78[l]);
        acc78[l] = v102;
      }
    }
  }
  float v104[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v104[l] = acc78[l];
  }
  const float v105 = fw_sum_f32x4(v104);
  const float sum106 = fw_sum_f32_512x1(v105, fw_scratch1);
  const float sum107 = fw_cluster_sum_f32_512x1_512x8(sum106, fw_slot1, fw_mbarrier + 1);
  const float v117 = ::rsqrtf(sum107);
  const int v120 = v1 * n4;
  for (int base108 = 0; base108 < 12; base108 += 4) {
    #pragma unroll
    for (int k109 = 0; k109 < 4; ++k109) {
      const int v110 = base108 + k109;
      const int v111 = v110 * 4096;
      const int v112 = v111 + v5;
      const bool v122 = v112 < n2;
      if (v122) {
        const int v113 = v112 * 4;
        const int v114 = v110 * 4;
        float v115[4];
        fw_load_f32x4(kept0 + v114 * 512, v115);
        float v119[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          const float v116 = v115[l] - v89;
          v119[l] = v116 * v117;
        }
        const int v121 = v120 + v113;
        fw_store_f32x4(out1 + v121, v119);
      }
    }
  }
  #pragma unroll
  for (int k123 = 0; k123 < 1; ++k123) {
    const int v124 = 12 + k123;
    const int v125 = v124 * 4096;
    const int v126 = v125 + v5;
    const bool v133 = v126 < n2;
    if (v133) {
      const int v127 = v126 * 4;
      const int v128 = v124 * 4;
      float v129[4];
      fw_load_f32x4(kept0 + v128 * 512, v129);
      float v131[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v130 = v129[l] - v89;
        v131[l] = v130 * v117;
      }
      const int v132 = v120 + v127;
      fw_store_f32x4(out1 + v132, v131);
    }
  }
  const bool v134 = v5 == 0;
}
