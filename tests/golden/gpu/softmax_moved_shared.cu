// softmax_moved_shared, made by Fusewright

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

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

__device__ __forceinline__ unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

template <class T> __device__ __forceinline__ T fw_read(const T* p) { return *p; }

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}

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

#define fw_inff __int_as_float(0x7f800000)

__device__ __forceinline__ void fw_fetch_bf16x8_ldg(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

template <class I> __device__ __forceinline__ void fw_fetch_bf16x8_range_beside_ldg(I left, const unsigned short* p, I at, I n, unsigned* w) {
  if (at > -8 && at < n && left >= 7) {
    fw_fetch_bf16x8_ldg(p, w);
  } else {
    w[0] = 0;
    w[1] = 0;
    w[2] = 0;
    w[3] = 0;
    if (at >= n) return;
    const unsigned short* const q = (const unsigned short*)p;
    if (at >= 0 && at < n) w[0] |= (unsigned)__ldg(q + 0);
    if (at + 1 >= 0 && at + 1 < n) w[0] |= (unsigned)__ldg(q + 1) << 16;
    if (at + 2 >= 0 && at + 2 < n) w[1] |= (unsigned)__ldg(q + 2);
    if (at + 3 >= 0 && at + 3 < n) w[1] |= (unsigned)__ldg(q + 3) << 16;
    if (at + 4 >= 0 && at + 4 < n) w[2] |= (unsigned)__ldg(q + 4);
    if (at + 5 >= 0 && at + 5 < n) w[2] |= (unsigned)__ldg(q + 5) << 16;
    if (at + 6 >= 0 && at + 6 < n) w[3] |= (unsigned)__ldg(q + 6);
    if (at + 7 >= 0 && at + 7 < n) w[3] |= (unsigned)__ldg(q + 7) << 16;
  }
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

template <class I> __device__ __forceinline__ void fw_load_bf16x8_range_beside_ldg(I left, const unsigned short* p, I at, I n, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8_range_beside_ldg(left, p, at, n, w);
  fw_unpack_bf16x8(w, v);
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

__device__ __forceinline__ void fw_fetch_bf16x8(const unsigned short* p, unsigned* w) {
  const uint4 a0 = fw_read((const uint4*)p);
  w[0] = a0.x;
  w[1] = a0.y;
  w[2] = a0.z;
  w[3] = a0.w;
}

__device__ __forceinline__ void fw_load_bf16x8(const unsigned short* p, float* v) {
  unsigned w[4];
  fw_fetch_bf16x8(p, w);
  fw_unpack_bf16x8(w, v);
}

__device__ __forceinline__ float fw_max_f32x8(const float* v) {
  float x[8];
  #pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = v[j];
  #pragma unroll
  for (int j = 0; j < 4; ++j) x[j] = fw_max(x[j], x[j + 4]);
  #pragma unroll
  for (int j = 0; j < 2; ++j) x[j] = fw_max(x[j], x[j + 2]);
  x[0] = fw_max(x[0], x[1]);
  return x[0];
}

// max over groups of 256 threads
__device__ __forceinline__ float fw_max_f32_256x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 8];
  #pragma unroll
  for (int d = 1; d <= 4; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  return x;
}

// max over the 4 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_max_f32_256x1_256x4(float x, float* slot, unsigned long long* m) {
  const unsigned t = threadIdx.x, us = blockIdx.x % 4, p = t;
  if (p < 4) fw_cluster_send(slot + us, x, m, p);
  fw_cluster_receive(m, 16);
  x = slot[0];
  #pragma unroll
  for (int r = 1; r < 4; ++r) {
    const float y = slot[r];
    x = fw_max(x, y);
  }
  return x;
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

// sum over groups of 256 threads
__device__ __forceinline__ float fw_sum_f32_256x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 8];
  #pragma unroll
  for (int d = 1; d <= 4; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  return x;
}

// sum over the 4 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_sum_f32_256x1_256x4(float x, float* slot, unsigned long long* m) {
  const unsigned t = threadIdx.x, us = blockIdx.x % 4, p = t;
  if (p < 4) fw_cluster_send(slot + us, x, m, p);
  fw_cluster_receive(m, 16);
  x = slot[0];
  #pragma unroll
  for (int r = 1; r < 4; ++r) {
    const float y = slot[r];
    x = x + y;
  }
  return x;
}

template <class I> __device__ __forceinline__ void fw_store_bf16x8_range(unsigned short* p, I at, I n, const float* v) {
  if (at >= 0 && at + 8 <= n) {
    fw_store_bf16x8(p, v);
  } else {
    unsigned w[4];
    fw_pack_bf16x8(v, w);
    unsigned short* const q = (unsigned short*)p;
    if (at >= 0 && at < n) q[0] = (unsigned short)w[0];
    if (at + 1 >= 0 && at + 1 < n) q[1] = (unsigned short)(w[0] >> 16);
    if (at + 2 >= 0 && at + 2 < n) q[2] = (unsigned short)w[1];
    if (at + 3 >= 0 && at + 3 < n) q[3] = (unsigned short)(w[1] >> 16);
    if (at + 4 >= 0 && at + 4 < n) q[4] = (unsigned short)w[2];
    if (at + 5 >= 0 && at + 5 < n) q[5] = (unsigned short)(w[2] >> 16);
    if (at + 6 >= 0 && at + 6 < n) q[6] = (unsigned short)w[3];
    if (at + 7 >= 0 && at + 7 < n) q[7] = (unsigned short)(w[3] >> 16);
  }
}

// inner persistent
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) softmax_moved_shared_0(
    const unsigned short* __restrict__ in0,
    unsigned short* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3,
    int n4,
    int n5,
    int n6) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  __shared__ __align__(16) unsigned short kept0_of_all[14336];
  __shared__ __align__(16) float fw_slot0[4];
  __shared__ __align__(16) float fw_slot1[4];
  unsigned short* const kept0 = kept0_of_all + tid0 * 8;
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[32];
  __shared__ unsigned long long fw_mbarrier[2];
  fw_cluster_begin(fw_mbarrier, 2, 8);
  const int v1 = fw_udiv(bid0, 4);
  const int v2 = v1 * 4;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 256;
  const int v5 = v4 + tid0;
  const int v10 = (int)((unsigned)v1 * (unsigned)n2);
  const int v11 = v10 & 7;
  const int v18 = v1 * n3;
  #pragma unroll
  for (int k6 = 0; k6 < 2; ++k6) {
    const int v7 = k6 * 1024;
    const int v8 = v7 + v5;
    const bool v22 = v8 < n4;
    if (v22) {
      const int v9 = v8 * 8;
      const int v12 = v9 - v11;
      const int v13 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v14 = v12 > v13;
      const bool v15 = v12 < 0;
      const bool v16 = v15 || v14;
      const int v19 = v18 + v12;
      const bool v20 = !v16;
      const int v21 = k6 * 8;
      if (v20) {
        fw_copy_async<16>(kept0 + v21 * 256, in0 + v19);
      }
    }
  }
  #pragma unroll
  for (int k23 = 0; k23 < 2; ++k23) {
    const int v24 = k23 * 1024;
    const int v25 = v24 + v5;
    const bool v36 = v25 < n4;
    if (v36) {
      const int v26 = v25 * 8;
      const int v27 = v26 - v11;
      const int v28 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v29 = v27 > v28;
      const bool v30 = v27 < 0;
      const bool v31 = v30 || v29;
      const int v33 = k23 * 8;
      if (v31) {
        const int v34 = v18 + v27;
        float v35[8];
        fw_load_bf16x8_range_beside_ldg(n5 - v34, in0 + v34, v27, n1, v35);
        fw_store_bf16x8(kept0 + v33 * 256, v35);
      }
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k37 = 2; k37 < 4; ++k37) {
    const int v38 = k37 * 1024;
    const int v39 = v38 + v5;
    const bool v50 = v39 < n4;
    if (v50) {
      const int v40 = v39 * 8;
      const int v41 = v40 - v11;
      const int v42 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v43 = v41 > v42;
      const bool v44 = v41 < 0;
      const bool v45 = v44 || v43;
      const int v47 = v18 + v41;
      const bool v48 = !v45;
      const int v49 = k37 * 8;
      if (v48) {
        fw_copy_async<16>(kept0 + v49 * 256, in0 + v47);
      }
    }
  }
  #pragma unroll
  for (int k51 = 2; k51 < 4; ++k51) {
    const int v52 = k51 * 1024;
    const int v53 = v52 + v5;
    const bool v64 = v53 < n4;
    if (v64) {
      const int v54 = v53 * 8;
      const int v55 = v54 - v11;
      const int v56 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v57 = v55 > v56;
      const bool v58 = v55 < 0;
      const bool v59 = v58 || v57;
      const int v61 = k51 * 8;
      if (v59) {
        const int v62 = v18 + v55;
        float v63[8];
        fw_load_bf16x8_range_beside_ldg(n5 - v62, in0 + v62, v55, n1, v63);
        fw_store_bf16x8(kept0 + v61 * 256, v63);
      }
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k65 = 4; k65 < 6; ++k65) {
    const int v66 = k65 * 1024;
    const int v67 = v66 + v5;
    const bool v78 = v67 < n4;
    if (v78) {
      const int v68 = v67 * 8;
      const int v69 = v68 - v11;
      const int v70 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v71 = v69 > v70;
      const bool v72 = v69 < 0;
      const bool v73 = v72 || v71;
      const int v75 = v18 + v69;
      const bool v76 = !v73;
      const int v77 = k65 * 8;
      if (v76) {
        fw_copy_async<16>(kept0 + v77 * 256, in0 + v75);
      }
    }
  }
  #pragma unroll
  for (int k79 = 4; k79 < 6; ++k79) {
    const int v80 = k79 * 1024;
    const int v81 = v80 + v5;
    const bool v92 = v81 < n4;
    if (v92) {
      const int v82 = v81 * 8;
      const int v83 = v82 - v11;
      const int v84 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v85 = v83 > v84;
      const bool v86 = v83 < 0;
      const bool v87 = v86 || v85;
      const int v89 = k79 * 8;
      if (v87) {
        const int v90 = v18 + v83;
        float v91[8];
        fw_load_bf16x8_range_beside_ldg(n5 - v90, in0 + v90, v83, n1, v91);
        fw_store_bf16x8(kept0 + v89 * 256, v91);
      }
    }
  }
  fw_copy_commit();
  #pragma unroll
  for (int k93 = 6; k93 < 7; ++k93) {
    const int v94 = k93 * 1024;
    const int v95 = v94 + v5;
    const bool v106 = v95 < n4;
    if (v106) {
      const int v96 = v95 * 8;
      const int v97 = v96 - v11;
      const int v98 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v99 = v97 > v98;
      const bool v100 = v97 < 0;
      const bool v101 = v100 || v99;
      const int v103 = v18 + v97;
      const bool v104 = !v101;
      const int v105 = k93 * 8;
      if (v104) {
        fw_copy_async<16>(kept0 + v105 * 256, in0 + v103);
      }
    }
  }
  #pragma unroll
  for (int k107 = 6; k107 < 7; ++k107) {
    const int v108 = k107 * 1024;
    const int v109 = v108 + v5;
    const bool v120 = v109 < n4;
    if (v120) {
      const int v110 = v109 * 8;
      const int v111 = v110 - v11;
      const int v112 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v113 = v111 > v112;
      const bool v114 = v111 < 0;
      const bool v115 = v114 || v113;
      const int v117 = k107 * 8;
      if (v115) {
        const int v118 = v18 + v111;
        float v119[8];
        fw_load_bf16x8_range_beside_ldg(n5 - v118, in0 + v118, v111, n1, v119);
        fw_store_bf16x8(kept0 + v117 * 256, v119);
      }
    }
  }
  fw_copy_commit();
  float acc121[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc121[l] = (-fw_inff);
  }
  fw_copy_wait<3>();
  #pragma unroll
  for (int k122 = 0; k122 < 2; ++k122) {
    const int v123 = k122 * 1024;
    const int v124 = v123 + v5;
    const bool v138 = v124 < n4;
    if (v138) {
      const int v125 = v124 * 8;
      const int v126 = v125 - v11;
      const int v127 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v128 = v126 > v127;
      const bool v129 = v126 < 0;
      const bool v130 = v129 || v128;
      const int v132 = k122 * 8;
      float v133[8];
      fw_load_bf16x8(kept0 + v132 * 256, v133);
      float real135[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v134 = fw_max(acc121[l], v133[l]);
        real135[l] = v134;
      }
      if (v130) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v136 = v126 + l >= 0 && v126 + l < n1;
          const float v137 = v136 ? real135[l] : acc121[l];
          real135[l] = v137;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc121[l] = real135[l];
      }
    }
  }
  fw_copy_wait<2>();
  #pragma unroll
  for (int k139 = 2; k139 < 4; ++k139) {
    const int v140 = k139 * 1024;
    const int v141 = v140 + v5;
    const bool v155 = v141 < n4;
    if (v155) {
      const int v142 = v141 * 8;
      const int v143 = v142 - v11;
      const int v144 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v145 = v143 > v144;
      const bool v146 = v143 < 0;
      const bool v147 = v146 || v145;
      const int v149 = k139 * 8;
      float v150[8];
      fw_load_bf16x8(kept0 + v149 * 256, v150);
      float real152[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v151 = fw_max(acc121[l], v150[l]);
        real152[l] = v151;
      }
      if (v147) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v153 = v143 + l >= 0 && v143 + l < n1;
          const float v154 = v153 ? real152[l] : acc121[l];
          real152[l] = v154;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc121[l] = real152[l];
      }
    }
  }
  fw_copy_wait<1>();
  #pragma unroll
  for (int k156 = 4; k156 < 6; ++k156) {
    const int v157 = k156 * 1024;
    const int v158 = v157 + v5;
    const bool v172 = v158 < n4;
    if (v172) {
      const int v159 = v158 * 8;
      const int v160 = v159 - v11;
      const int v161 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v162 = v160 > v161;
      const bool v163 = v160 < 0;
      const bool v164 = v163 || v162;
      const int v166 = k156 * 8;
      float v167[8];
      fw_load_bf16x8(kept0 + v166 * 256, v167);
      float real169[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v168 = fw_max(acc121[l], v167[l]);
        real169[l] = v168;
      }
      if (v164) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v170 = v160 + l >= 0 && v160 + l < n1;
          const float v171 = v170 ? real169[l] : acc121[l];
          real169[l] = v171;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc121[l] = real169[l];
      }
    }
  }
  fw_copy_wait<0>();
  #pragma unroll
  for (int k173 = 6; k173 < 7; ++k173) {
    const int v174 = k173 * 1024;
    const int v175 = v174 + v5;
    const bool v189 = v175 < n4;
    if (v189) {
      const int v176 = v175 * 8;
      const int v177 = v176 - v11;
      const int v178 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v179 = v177 > v178;
      const bool v180 = v177 < 0;
      const bool v181 = v180 || v179;
      const int v183 = k173 * 8;
      float v184[8];
      fw_load_bf16x8(kept0 + v183 * 256, v184);
      float real186[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v185 = fw_max(acc121[l], v184[l]);
        real186[l] = v185;
      }
      if (v181) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v187 = v177 + l >= 0 && v177 + l < n1;
          const float v188 = v187 ? real186[l] : acc121[l];
          real186[l] = v188;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc121[l] = real186[l];
      }
    }
  }
  float v190[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v190[l] = acc121[l];
  }
  const float v191 = fw_max_f32x8(v190);
  const float max192 = fw_max_f32_256x1(v191, fw_scratch0);
  fw_cluster_wait();  // all blocks have made their mbarriers
  const float max193 = fw_cluster_max_f32_256x1_256x4(max192, fw_slot0, fw_mbarrier);
  float acc194[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc194[l] = (-0.0f);
  }
  #pragma unroll
  for (int k195 = 0; k195 < 7; ++k195) {
    const int v196 = k195 * 1024;
    const int v197 = v196 + v5;
    const bool v215 = v197 < n4;
    if (v215) {
      const int v198 = v197 * 8;
      const int v199 = v198 - v11;
      const int v200 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v201 = v199 > v200;
      const bool v202 = v199 < 0;
      const bool v203 = v202 || v201;
      const int v205 = k195 * 8;
      float v206[8];
      fw_load_bf16x8(kept0 + v205 * 256, v206);
      float real212[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v208 = v206[l] - max193;
        const float v209 = v208 * 1.442695f;
        const float v210 = fw_fast_exp2(v209);
        const float v211 = acc194[l] + v210;
        real212[l] = v211;
      }
      if (v203) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v213 = v199 + l >= 0 && v199 + l < n1;
          const float v214 = v213 ? real212[l] : acc194[l];
          real212[l] = v214;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc194[l] = real212[l];
      }
    }
  }
  float v216[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v216[l] = acc194[l];
  }
  const float v217 = fw_sum_f32x8(v216);
  const float v218 = v217 + 0.0f;
  const float sum219 = fw_sum_f32_256x1(v218, fw_scratch1);
  const float sum220 = fw_cluster_sum_f32_256x1_256x4(sum219, fw_slot1, fw_mbarrier + 1);
  const float v236 = fw_fast_reciprocal(sum220);
  const int v239 = v1 * n6;
  #pragma unroll
  for (int k221 = 0; k221 < 7; ++k221) {
    const int v222 = k221 * 1024;
    const int v223 = v222 + v5;
    const bool v241 = v223 < n4;
    if (v241) {
      const int v224 = v223 * 8;
      const int v225 = v224 - v11;
      const int v226 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v227 = v225 > v226;
      const bool v228 = v225 < 0;
      const bool v229 = v228 || v227;
      const int v231 = k221 * 8;
      float v232[8];
      fw_load_bf16x8(kept0 + v231 * 256, v232);
      float v238[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v233 = v232[l] - max193;
        const float v234 = v233 * 1.442695f;
        const float v235 = fw_fast_exp2(v234);
        v238[l] = v235 * v236;
      }
      const int v240 = v239 + v225;
      fw_store_bf16x8_range(out1 + v240, v225, n1, v238);
    }
  }
  const bool v242 = v5 == 0;
}
