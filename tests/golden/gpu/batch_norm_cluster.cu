// batch_norm_cluster, made by Fusewright

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

// a / b of non-negative numbers; `inverse`: (2^32 - 1) / b, with which the quotient is at most 1 too small
__device__ __forceinline__ int fw_udiv_by(int a, int b, unsigned inverse) {
  const unsigned q = __umulhi((unsigned)a, inverse);
  return (int)(q + ((unsigned)a - q * (unsigned)b >= (unsigned)b));
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
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(512) batch_norm_cluster_0(
    const float* __restrict__ in0,
    float* __restrict__ out1,
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
  __shared__ __align__(16) float kept0_of_all[10240];
  __shared__ __align__(16) float fw_slot0[8];
  __shared__ __align__(16) float fw_slot1[8];
  float* const kept0 = kept0_of_all + tid0 * 4;
  __shared__ __align__(16) unsigned char fw_scratch0[64];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  __shared__ unsigned long long fw_mbarrier[2];
  const unsigned n1_inverse = 0xffffffffu / (unsigned)n1;
  fw_cluster_begin(fw_mbarrier, 2, 16);
  const int v1 = fw_udiv(bid0, 8);
  const int v2 = v1 * 8;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 512;
  const int v5 = v4 + tid0;
  const int v14 = v1 * n3;
  #pragma unroll
  for (int k6 = 0; k6 < 2; ++k6) {
    const int v7 = k6 * 4096;
    const int v8 = v7 + v5;
    const bool v18 = v8 < n4;
    if (v18) {
      const int v9 = fw_udiv_by(v8, n1, n1_inverse);
      const int v10 = v9 * n1;
      const int v11 = v8 - v10;
      const int v12 = v11 * 4;
      const int v13 = v9 * n2;
      const int v15 = v14 + v13;
      const int v16 = v15 + v12;
      const int v17 = k6 * 4;
      fw_copy_async<16>(kept0 + v17 * 512, in0 + v16);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k19 = 2; k19 < 4; ++k19) {
    const int v20 = k19 * 4096;
    const int v21 = v20 + v5;
    const bool v30 = v21 < n4;
    if (v30) {
      const int v22 = fw_udiv_by(v21, n1, n1_inverse);
      const int v23 = v22 * n1;
      const int v24 = v21 - v23;
      const int v25 = v24 * 4;
      const int v26 = v22 * n2;
      const int v27 = v14 + v26;
      const int v28 = v27 + v25;
      const int v29 = k19 * 4;
      fw_copy_async<16>(kept0 + v29 * 512, in0 + v28);
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k31 = 4; k31 < 5; ++k31) {
    const int v32 = k31 * 4096;
    const int v33 = v32 + v5;
    const bool v42 = v33 < n4;
    if (v42) {
      const int v34 = fw_udiv_by(v33, n1, n1_inverse);
      const int v35 = v34 * n1;
      const int v36 = v33 - v35;
      const int v37 = v36 * 4;
      const int v38 = v34 * n2;
      const int v39 = v14 + v38;
      const int v40 = v39 + v37;
      const int v41 = k31 * 4;
      fw_copy_async<16>(kept0 + v41 * 512, in0 + v40);
    }
  }
  fw_copy_commit();
  float acc43[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc43[l] = (-0.0f);
  }
  fw_copy_wait<2>();
  #pragma unroll
  for (int k44 = 0; k44 < 2; ++k44) {
    const int v45 = k44 * 4096;
    const int v46 = v45 + v5;
    const bool v54 = v46 < n4;
    if (v54) {
      const int v47 = fw_udiv_by(v46, n1, n1_inverse);
      const int v48 = (int)((unsigned)v47 * (unsigned)n1);
      const int v49 = (int)((unsigned)v46 - (unsigned)v48);
      const int v50 = (int)((unsigned)v49 * (unsigned)4);
      const int v51 = k44 * 4;
      float v52[4];
      fw_load_f32x4(kept0 + v51 * 512, v52);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v53 = acc43[l] + v52[l];
        acc43[l] = v53;
      }
    }
  }
  fw_copy_wait<1>();
  #pragma unroll
  for (int k55 = 2; k55 < 4; ++k55) {
    const int v56 = k55 * 4096;
    const int v57 = v56 + v5;
    const bool v65 = v57 < n4;
    if (v65) {
      const int v58 = fw_udiv_by(v57, n1, n1_inverse);
      const int v59 = (int)((unsigned)v58 * (unsigned)n1);
      const int v60 = (int)((unsigned)v57 - (unsigned)v59);
      const int v61 = (int)((unsigned)v60 * (unsigned)4);
      const int v62 = k55 * 4;
      float v63[4];
      fw_load_f32x4(kept0 + v62 * 512, v63);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v64 = acc43[l] + v63[l];
        acc43[l] = v64;
      }
    }
  }
  fw_copy_wait<0>();
  #pragma unroll
  for (int k66 = 4; k66 < 5; ++k66) {
    const int v67 = k66 * 4096;
    const int v68 = v67 + v5;
    const bool v76 = v68 < n4;
    if (v76) {
      const int v69 = fw_udiv_by(v68, n1, n1_inverse);
      const int v70 = (int)((unsigned)v69 * (unsigned)n1);
      const int v71 = (int)((unsigned)v68 - (unsigned)v70);
      const int v72 = (int)((unsigned)v71 * (unsigned)4);
      const int v73 = k66 * 4;
      float v74[4];
      fw_load_f32x4(kept0 + v73 * 512, v74);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v75 = acc43[l] + v74[l];
        acc43[l] = v75;
      }
    }
  }
  float v77[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v77[l] = acc43[l];
  }
  const float v78 = fw_sum_f32x4(v77);
  const float v79 = v78 + 0.0f;
  const float sum80 = fw_sum_f32_512x1(v79, fw_scratch0);
  fw_cluster_wait();  // all blocks have made their mbarriers
  const float sum81 = fw_cluster_sum_f32_512x1_512x8(sum80, fw_slot0, fw_mbarrier);
  float acc82[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc82[l] = 0.0f;
  }
  const long long v92 = (long long)n5;
  const float v93 = (float)v92;
  const float v94 = sum81 / v93;
  #pragma unroll
  for (int k83 = 0; k83 < 5; ++k83) {
    const int v84 = k83 * 4096;
    const int v85 = v84 + v5;
    const bool v98 = v85 < n4;
    if (v98) {
      const int v86 = fw_udiv_by(v85, n1, n1_inverse);
      const int v87 = (int)((unsigned)v86 * (unsigned)n1);
      const int v88 = (int)((unsigned)v85 - (unsigned)v87);
      const int v89 = (int)((unsigned)v88 * (unsigned)4);
      const int v90 = k83 * 4;
      float v91[4];
      fw_load_f32x4(kept0 + v90 * 512, v91);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v96 = v91[l] - v94;
        const float v97 = ::fmaf(v96, v96, acc82[l]);
        acc82[l] = v97;
      }
    }
  }
  float v99[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v99[l] = acc82[l];
  }
  const float v100 = fw_sum_f32x4(v99);
  const float sum101 = fw_sum_f32_512x1(v100, fw_scratch1);
  const float sum102 = fw_cluster_sum_f32_512x1_512x8(sum101, fw_slot1, fw_mbarrier + 1);
  const float v113 = sum102 / v93;
  const float v114 = ::rsqrtf(v113);
  const int v118 = v1 * n7;
  #pragma unroll
  for (int k103 = 0; k103 < 5; ++k103) {
    const int v104 = k103 * 4096;
    const int v105 = v104 + v5;
    const bool v121 = v105 < n4;
    if (v121) {
      const int v106 = fw_udiv_by(v105, n1, n1_inverse);
      const int v107 = v106 * n1;
      const int v108 = v105 - v107;
      const int v109 = v108 * 4;
      const int v110 = k103 * 4;
      float v111[4];
      fw_load_f32x4(kept0 + v110 * 512, v111);
      float v116[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v112 = v111[l] - v94;
        v116[l] = v112 * v114;
      }
      const int v117 = v106 * n6;
      const int v119 = v118 + v117;
      const int v120 = v119 + v109;
      fw_store_f32x4(out1 + v120, v116);
    }
  }
  const bool v122 = v5 == 0;
  if (v122) {
    out2[v1] = v94;
  }
}
