// batch_norm_cluster, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

// all blocks of the cluster: what was written before is seen after everybody's wait
__device__ __forceinline__ void fw_cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
__device__ __forceinline__ void fw_cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

__device__ __forceinline__ void fw_cluster_sync() {
  fw_cluster_arrive();
  fw_cluster_wait();
}

// where block `rank` of the cluster has what `p` is in this block's shared memory, and what is there
__device__ __forceinline__ unsigned fw_cluster_at(const void* p, int rank) {
  const unsigned mine = (unsigned)__cvta_generic_to_shared(p);
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(mine), "r"(rank));
  return at;
}
__device__ __forceinline__ float fw_cluster_read(const float* p, int rank) {
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(fw_cluster_at(p, rank)) : "memory");
  return x;
}
__device__ __forceinline__ double fw_cluster_read(const double* p, int rank) {
  double x;
  asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(x) : "r"(fw_cluster_at(p, rank)) : "memory");
  return x;
}
__device__ __forceinline__ int fw_cluster_read(const int* p, int rank) {
  int x;
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(x) : "r"(fw_cluster_at(p, rank)) : "memory");
  return x;
}
__device__ __forceinline__ unsigned fw_cluster_read(const unsigned* p, int rank) {
  unsigned x;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(fw_cluster_at(p, rank)) : "memory");
  return x;
}
__device__ __forceinline__ long long fw_cluster_read(const long long* p, int rank) {
  long long x;
  asm volatile("ld.shared::cluster.s64 %0, [%1];" : "=l"(x) : "r"(fw_cluster_at(p, rank)) : "memory");
  return x;
}

#endif

__device__ __forceinline__ void fw_unpack_f32x4(const unsigned* w, float* v) {
  v[0] = __uint_as_float(w[0]);
  v[1] = __uint_as_float(w[1]);
  v[2] = __uint_as_float(w[2]);
  v[3] = __uint_as_float(w[3]);
}

__device__ __forceinline__ void fw_load_f32x4_ldcs(const float* p, float* v) {
  const uint4 a0 = __ldcs((const uint4*)p);
  const unsigned w[4] = {a0.x, a0.y, a0.z, a0.w};
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

// sum over groups of 1024 threads
__device__ __forceinline__ float fw_sum_f32_1024x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  x = s[t / 1024 * 32 + t % 32];
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  return x;
}

// sum over the 8 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_sum_f32_1024x1_8(float x, float* slot) {
  const int t = threadIdx.x, mine = t / 1024;
  if (t % 1024 == 0) slot[mine] = x;
  fw_cluster_sync();  // all blocks have left theirs
  x = fw_cluster_read(slot + mine, 0);
  #pragma unroll
  for (int r = 1; r < 8; ++r) {
    const float y = fw_cluster_read(slot + mine, r);
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

__device__ __forceinline__ void fw_store_f32x4_stcs(float* p, const float* v) {
  unsigned w[4];
  fw_pack_f32x4(v, w);
  __stcs((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// inner persistent
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(1024) batch_norm_cluster_0(
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
  float kept0[28];
  __shared__ __align__(16) unsigned char fw_scratch0[128];
  __shared__ float fw_slot0[1];
  __shared__ float fw_slot1[1];
  const int v1 = fw_udiv(bid0, 8);
  const int v2 = v1 * 8;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 1024;
  const int v5 = v4 + tid0;
  float acc6[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc6[l] = 0.0f;
  }
  const int v15 = v1 * n3;
  #pragma unroll
  for (int k7 = 0; k7 < 7; ++k7) {
    const int v8 = k7 * 8192;
    const int v9 = v8 + v5;
    const bool v21 = v9 < n4;
    if (v21) {
      const int v10 = fw_udiv(v9, n1);
      const int v11 = v10 * n1;
      const int v12 = v9 - v11;
      const int v13 = v12 * 4;
      const int v14 = v10 * n2;
      const int v16 = v15 + v14;
      const int v17 = v16 + v13;
      float v18[4];
      fw_load_f32x4_ldcs(in0 + v17, v18);
      const int v19 = k7 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        kept0[v19 + l] = v18[l];
        const float v20 = acc6[l] + v18[l];
        acc6[l] = v20;
      }
    }
  }
  float v22[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v22[l] = acc6[l];
  }
  const float v23 = fw_sum_f32x4(v22);
  const float sum24 = fw_sum_f32_1024x1(v23, fw_scratch0);
  const float sum25 = fw_cluster_sum_f32_1024x1_8(sum24, fw_slot0);
  float acc26[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    acc26[l] = 0.0f;
  }
  const long long v36 = (long long)n5;
  const float v37 = (float)v36;
  const float v38 = sum25 / v37;
  #pragma unroll
  for (int k27 = 0; k27 < 7; ++k27) {
    const int v28 = k27 * 8192;
    const int v29 = v28 + v5;
    const bool v43 = v29 < n4;
    if (v43) {
      const int v30 = fw_udiv(v29, n1);
      const int v31 = (int)((unsigned)v30 * (unsigned)n1);
      const int v32 = (int)((unsigned)v29 - (unsigned)v31);
      const int v33 = (int)((unsigned)v32 * (unsigned)4);
      const int v34 = k27 * 4;
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v35 = kept0[v34 + l];
        const float v40 = v35 - v38;
        const float v41 = v40 * v40;
        const float v42 = acc26[l] + v41;
        acc26[l] = v42;
      }
    }
  }
  float v44[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    v44[l] = acc26[l];
  }
  const float v45 = fw_sum_f32x4(v44);
  const float sum46 = fw_sum_f32_1024x1(v45, fw_scratch0);
  const float sum47 = fw_cluster_sum_f32_1024x1_8(sum46, fw_slot1);
  fw_cluster_arrive();  // this block has read what it wants of the others
  const float v58 = sum47 / v37;
  const float v59 = ::rsqrtf(v58);
  const int v63 = v1 * n7;
  #pragma unroll
  for (int k48 = 0; k48 < 7; ++k48) {
    const int v49 = k48 * 8192;
    const int v50 = v49 + v5;
    const bool v66 = v50 < n4;
    if (v66) {
      const int v51 = fw_udiv(v50, n1);
      const int v52 = v51 * n1;
      const int v53 = v50 - v52;
      const int v54 = v53 * 4;
      const int v55 = k48 * 4;
      float v61[4];
      #pragma unroll
      for (int l = 0; l < 4; ++l) {
        const float v56 = kept0[v55 + l];
        const float v57 = v56 - v38;
        v61[l] = v57 * v59;
      }
      const int v62 = v51 * n6;
      const int v64 = v63 + v62;
      const int v65 = v64 + v54;
      fw_store_f32x4_stcs(out1 + v65, v61);
    }
  }
  const bool v67 = v5 == 0;
  if (v67) {
    out2[v1] = v38;
  }
  fw_cluster_wait();  // a block's shared memory stays until all blocks have read it
}
