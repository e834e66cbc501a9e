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
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  x = s[t / 512 * 16 + t % 16];
  #pragma unroll
  for (int d = 1; d <= 8; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  return x;
}

// sum over the 8 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_sum_f32_512x1_512x8(float x, float* slot, unsigned long long* m) {
  const int t = threadIdx.x, us = blockIdx.x % 8, p = t % 512;
  slot += t / 512 * 8;
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
  float kept0[20];
  __shared__ __align__(16) float fw_slot0[8];
  __shared__ __align__(16) float fw_slot1[8];
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
  float acc6[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc6[l] = 0.0f;
  }
  const int v16 = v1 * n3;
  #pragma unroll
  for (int k7 = 0; k7 < 5; ++k7) {
    const int v8 = k7 * 4096;
    const int v9 = v8 + v5;
    const bool v20 = v9 < n4;
    if (v20) {
      const int v10 = fw_udiv_by(v9, n1, n1_inverse);
      const int v11 = v10 * n1;
      const int v12 = v9 - v11;
      const int v13 = v12 * 4;
      const int v14 = k7 * 4;
      const int v15 = v10 * n2;
      const int v17 = v16 + v15;
      const int v18 = v17 + v13;
      float v19[4];
      fw_load_f32x4_ldg(in0 + v18, v19);
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v14 + l] = v19[l];
      }
    }
  }
  #pragma unroll
  for (int k21 = 0; k21 < 5; ++k21) {
    const int v22 = k21 * 4096;
    const int v23 = v22 + v5;
    const bool v31 = v23 < n4;
    if (v31) {
      const int v24 = fw_udiv_by(v23, n1, n1_inverse);
      const int v25 = (int)((unsigned)v24 * (unsigned)n1);
      const int v26 = (int)((unsigned)v23 - (unsigned)v25);
      const int v27 = (int)((unsigned)v26 * (unsigned)4);
      const int v28 = k21 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v29 = kept0[v28 + l];
        const float v30 = acc6[l] + v29;
        acc6[l] = v30;
      }
    }
  }
  float v32[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v32[l] = acc6[l];
  }
  const float v33 = fw_sum_f32x4(v32);
  const float sum34 = fw_sum_f32_512x1(v33, fw_scratch0);
  fw_cluster_wait();  // all blocks have made their mbarriers
  const float sum35 = fw_cluster_sum_f32_512x1_512x8(sum34, fw_slot0, fw_mbarrier);
  float acc36[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc36[l] = 0.0f;
  }
  const long long v46 = (long long)n5;
  const float v47 = (float)v46;
  const float v48 = sum35 / v47;
  #pragma unroll
  for (int k37 = 0; k37 < 5; ++k37) {
    const int v38 = k37 * 4096;
    const int v39 = v38 + v5;
    const bool v53 = v39 < n4;
    if (v53) {
      const int v40 = fw_udiv_by(v39, n1, n1_inverse);
      const int v41 = (int)((unsigned)v40 * (unsigned)n1);
      const int v42 = (int)((unsigned)v39 - (unsigned)v41);
      const int v43 = (int)((unsigned)v42 * (unsigned)4);
      const int v44 = k37 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v45 = kept0[v44 + l];
        const float v50 = v45 - v48;
        const float v51 = v50 * v50;
        const float v52 = acc36[l] + v51;
        acc36[l] = v52;
      }
    }
  }
  float v54[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v54[l] = acc36[l];
  }
  const float v55 = fw_sum_f32x4(v54);
  const float sum56 = fw_sum_f32_512x1(v55, fw_scratch1);
  const float sum57 = fw_cluster_sum_f32_512x1_512x8(sum56, fw_slot1, fw_mbarrier + 1);
  const float v68 = sum57 / v47;
  const float v69 = ::rsqrtf(v68);
  const int v73 = v1 * n7;
  #pragma unroll
  for (int k58 = 0; k58 < 5; ++k58) {
    const int v59 = k58 * 4096;
    const int v60 = v59 + v5;
    const bool v76 = v60 < n4;
    if (v76) {
      const int v61 = fw_udiv_by(v60, n1, n1_inverse);
      const int v62 = v61 * n1;
      const int v63 = v60 - v62;
      const int v64 = v63 * 4;
      const int v65 = k58 * 4;
      float v71[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v66 = kept0[v65 + l];
        const float v67 = v66 - v48;
        v71[l] = v67 * v69;
      }
      const int v72 = v61 * n6;
      const int v74 = v73 + v72;
      const int v75 = v74 + v64;
      fw_store_f32x4(out1 + v75, v71);
    }
  }
  const bool v77 = v5 == 0;
  if (v77) {
    out2[v1] = v48;
  }
}
