// softmax_cluster, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

// of non-negative numbers
__device__ __forceinline__ int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ __forceinline__ long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}

__device__ __forceinline__ unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
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

#define fw_inff __int_as_float(0x7f800000)

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

__device__ __forceinline__ void fw_load_bf16x8_ldcs(const unsigned short* p, float* v) {
  const uint4 a0 = __ldcs((const uint4*)p);
  const unsigned w[4] = {a0.x, a0.y, a0.z, a0.w};
  fw_unpack_bf16x8(w, v);
}

__device__ __forceinline__ void fw_pack_bf16x8(const float* v, unsigned* w) {
  w[0] = fw_pack_bf16(v[0], v[1]);
  w[1] = fw_pack_bf16(v[2], v[3]);
  w[2] = fw_pack_bf16(v[4], v[5]);
  w[3] = fw_pack_bf16(v[6], v[7]);
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
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  x = s[t / 512 * 16 + t % 16];
  #pragma unroll
  for (int d = 1; d <= 8; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  return x;
}

// max over the 8 blocks of a cluster, in the order of their ranks
__device__ __forceinline__ float fw_cluster_max_f32_512x1_8(float x, float* slot) {
  const int t = threadIdx.x, mine = t / 512;
  if (t % 512 == 0) slot[mine] = x;
  fw_cluster_sync();  // all blocks have left theirs
  x = fw_cluster_read(slot + mine, 0);
  #pragma unroll
  for (int r = 1; r < 8; ++r) {
    const float y = fw_cluster_read(slot + mine, r);
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
__device__ __forceinline__ float fw_cluster_sum_f32_512x1_8(float x, float* slot) {
  const int t = threadIdx.x, mine = t / 512;
  if (t % 512 == 0) slot[mine] = x;
  fw_cluster_sync();  // all blocks have left theirs
  x = fw_cluster_read(slot + mine, 0);
  #pragma unroll
  for (int r = 1; r < 8; ++r) {
    const float y = fw_cluster_read(slot + mine, r);
    x = x + y;
  }
  return x;
}

__device__ __forceinline__ void fw_store_bf16x8_stcs(unsigned short* p, const float* v) {
  unsigned w[4];
  fw_pack_bf16x8(v, w);
  __stcs((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// inner persistent
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(512) softmax_cluster_0(
    const unsigned short* __restrict__ in0,
    unsigned short* __restrict__ out1,
    int n0,
    int n1,
    int n2,
    int n3) {
  const int bid0 = blockIdx.x;
  const int tid0 = threadIdx.x;
  unsigned kept0[16];  // 32 bf16, packed
  float kept1[32];
  __shared__ __align__(16) unsigned char fw_scratch0[64];
  __shared__ float fw_slot0[1];
  __shared__ float fw_slot1[1];
  const int v1 = fw_udiv(bid0, 8);
  const int v2 = v1 * 8;
  const int v3 = bid0 - v2;
  const int v4 = v3 * 512;
  const int v5 = v4 + tid0;
  float acc6[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc6[l] = (-fw_inff);
  }
  const int v11 = v1 * n1;
  #pragma unroll
  for (int k7 = 0; k7 < 4; ++k7) {
    const int v8 = k7 * 4096;
    const int v9 = v8 + v5;
    const bool v16 = v9 < n2;
    if (v16) {
      const int v10 = v9 * 8;
      const int v12 = v11 + v10;
      float v13[8];
      fw_load_bf16x8_ldcs(in0 + v12, v13);
      const int v14 = k7 * 8;
      fw_pack_bf16x8(v13, kept0 + v14 / 2);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v15 = fw_max(acc6[l], v13[l]);
        acc6[l] = v15;
      }
    }
  }
  float v17[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v17[l] = acc6[l];
  }
  const float v18 = fw_max_f32x8(v17);
  const float max19 = fw_max_f32_512x1(v18, fw_scratch0);
  const float max20 = fw_cluster_max_f32_512x1_8(max19, fw_slot0);
  float acc21[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc21[l] = 0.0f;
  }
  #pragma unroll
  for (int k22 = 0; k22 < 4; ++k22) {
    const int v23 = k22 * 4096;
    const int v24 = v23 + v5;
    const bool v32 = v24 < n2;
    if (v32) {
      const int v25 = (int)((unsigned)v24 * (unsigned)8);
      const int v26 = k22 * 8;
      float v27[8];
      fw_unpack_bf16x8(kept0 + v26 / 2, v27);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v29 = v27[l] - max20;
        const float v30 = ::expf(v29);
        kept1[v26 + l] = v30;
        const float v31 = acc21[l] + v30;
        acc21[l] = v31;
      }
    }
  }
  float v33[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v33[l] = acc21[l];
  }
  const float v34 = fw_sum_f32x8(v33);
  const float sum35 = fw_sum_f32_512x1(v34, fw_scratch0);
  const float sum36 = fw_cluster_sum_f32_512x1_8(sum35, fw_slot1);
  fw_cluster_arrive();  // this block has read what it wants of the others
  const int v45 = v1 * n3;
  #pragma unroll
  for (int k37 = 0; k37 < 4; ++k37) {
    const int v38 = k37 * 4096;
    const int v39 = v38 + v5;
    const bool v47 = v39 < n2;
    if (v47) {
      const int v40 = v39 * 8;
      const int v41 = k37 * 8;
      float v44[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v42 = kept1[v41 + l];
        v44[l] = v42 / sum36;
      }
      const int v46 = v45 + v40;
      fw_store_bf16x8_stcs(out1 + v46, v44);
    }
  }
  const bool v48 = v5 == 0;
  fw_cluster_wait();  // a block's shared memory stays until all blocks have read it
}
