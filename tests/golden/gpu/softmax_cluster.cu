// softmax_cluster, made by Fusewright

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

#define fw_inff __int_as_float(0x7f800000)

__device__ __forceinline__ void fw_fetch_bf16x8_ldg(const unsigned short* p, unsigned* w) {
  const uint4 a0 = __ldg((const uint4*)p);
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

// max over groups of 512 threads
__device__ __forceinline__ float fw_max_f32_512x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const unsigned t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 == 0) s[t / 32] = x;
  __syncthreads();
  x = s[t % 16];
  #pragma unroll
  for (int d = 1; d <= 8; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  return x;
}

// max over the 4 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_max_f32_512x1_512x4(float x, float* slot, unsigned long long* m) {
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

// sum over the 4 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_sum_f32_512x1_512x4(float x, float* slot, unsigned long long* m) {
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
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(512) softmax_cluster_0(
    const unsigned short* __restrict__ in0,
    unsigned short* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  unsigned kept0[8];  // 16 bf16, packed
  __shared__ __align__(16) float fw_slot0[4];
  __shared__ __align__(16) float fw_slot1[4];
  __shared__ __align__(16) unsigned char fw_scratch0[64];
  __shared__ __align__(16) unsigned char fw_scratch1[64];
  __shared__ unsigned long long fw_mbarrier[2];
  fw_cluster_begin(fw_mbarrier, 2, 16);
  const int v1 = fw_udiv(bid0, 4);
  const int v2 = v1 * 4;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 512;
  const int v5 = v4 + tid0;
  float acc6[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc6[l] = (-fw_inff);
  }
  const int v12 = v1 * n1;
  #pragma unroll
  for (int k7 = 0; k7 < 2; ++k7) {
    const int v8 = k7 * 2048;
    const int v9 = v8 + v5;
    const bool v15 = v9 < n2;
    if (v15) {
      const int v10 = v9 * 8;
      const int v11 = k7 * 8;
      const int v13 = v12 + v10;
      fw_fetch_bf16x8_ldg(in0 + v13, kept0 + v11 / 2);
    }
  }
  #pragma unroll
  for (int k16 = 0; k16 < 2; ++k16) {
    const int v17 = k16 * 2048;
    const int v18 = v17 + v5;
    const bool v23 = v18 < n2;
    if (v23) {
      const int v19 = (int)((unsigned)v18 * (unsigned)8);
      const int v20 = k16 * 8;
      float v21[8];
      fw_unpack_bf16x8(kept0 + v20 / 2, v21);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v22 = fw_max(acc6[l], v21[l]);
        acc6[l] = v22;
      }
    }
  }
  float v24[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v24[l] = acc6[l];
  }
  const float v25 = fw_max_f32x8(v24);
  const float max26 = fw_max_f32_512x1(v25, fw_scratch0);
  fw_cluster_wait();  // all blocks have made their mbarriers
  const float max27 = fw_cluster_max_f32_512x1_512x4(max26, fw_slot0, fw_mbarrier);
  float acc28[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc28[l] = (-0.0f);
  }
  #pragma unroll
  for (int k29 = 0; k29 < 2; ++k29) {
    const int v30 = k29 * 2048;
    const int v31 = v30 + v5;
    const bool v40 = v31 < n2;
    if (v40) {
      const int v32 = (int)((unsigned)v31 * (unsigned)8);
      const int v33 = k29 * 8;
      float v34[8];
      fw_unpack_bf16x8(kept0 + v33 / 2, v34);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v36 = v34[l] - max27;
        const float v37 = v36 * 1.442695f;
        const float v38 = fw_fast_exp2(v37);
        const float v39 = acc28[l] + v38;
        acc28[l] = v39;
      }
    }
  }
  float v41[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v41[l] = acc28[l];
  }
  const float v42 = fw_sum_f32x8(v41);
  const float v43 = v42 + 0.0f;
  const float sum44 = fw_sum_f32_512x1(v43, fw_scratch1);
  const float sum45 = fw_cluster_sum_f32_512x1_512x4(sum44, fw_slot1, fw_mbarrier + 1);
  const float v55 = fw_fast_reciprocal(sum45);
  const int v58 = v1 * n3;
  #pragma unroll
  for (int k46 = 0; k46 < 2; ++k46) {
    const int v47 = k46 * 2048;
    const int v48 = v47 + v5;
    const bool v60 = v48 < n2;
    if (v60) {
      const int v49 = v48 * 8;
      const int v50 = k46 * 8;
      float v51[8];
      fw_unpack_bf16x8(kept0 + v50 / 2, v51);
      float v57[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v52 = v51[l] - max27;
        const float v53 = v52 * 1.442695f;
        const float v54 = fw_fast_exp2(v53);
        v57[l] = v54 * v55;
      }
      const int v59 = v58 + v49;
      fw_store_bf16x8(out1 + v59, v57);
    }
  }
  const bool v61 = v5 == 0;
}
