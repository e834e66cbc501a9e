// softmax_bf16, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

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

// max over groups of 128 threads
__device__ __forceinline__ float fw_max_f32_128x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = fw_max(x, y);
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  const int mine = t / 32, first = mine - mine / 1 % 4 * 1;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = fw_max(y[j], y[j + 1]);
  x = fw_max(y[0], y[2]);
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

// sum over groups of 128 threads
__device__ __forceinline__ float fw_sum_f32_128x1(float x, unsigned char* scratch) {
  float* const s = reinterpret_cast<float*>(scratch);
  const int t = threadIdx.x;
  #pragma unroll
  for (int d = 1; d <= 16; d *= 2) {
    const float y = __shfl_xor_sync(0xffffffffu, x, d);
    x = x + y;
  }
  if (t % 32 < 1) s[t / 32 * 1 + t % 32] = x;
  __syncthreads();
  const int mine = t / 32, first = mine - mine / 1 % 4 * 1;
  float y[4];
  #pragma unroll
  for (int j = 0; j < 4; ++j) y[j] = s[first + j * 1];
  #pragma unroll
  for (int j = 0; j < 4; j += 2) y[j] = y[j] + y[j + 1];
  x = y[0] + y[2];
  return x;
}

__device__ __forceinline__ void fw_store_bf16x8_stcs(unsigned short* p, const float* v) {
  unsigned w[4];
  fw_pack_bf16x8(v, w);
  __stcs((uint4*)p, uint4{w[0], w[1], w[2], w[3]});
}

// inner persistent
extern "C" __global__ void __launch_bounds__(128) softmax_bf16_0(
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
  __shared__ __align__(16) unsigned char fw_scratch0[16];
  __shared__ __align__(16) unsigned char fw_scratch1[16];
  float acc1[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc1[l] = (-fw_inff);
  }
  const int v6 = bid0 * n1;
  #pragma unroll
  for (int k2 = 0; k2 < 4; ++k2) {
    const int v3 = k2 * 128;
    const int v4 = v3 + tid0;
    const bool v11 = v4 < n2;
    if (v11) {
      const int v5 = v4 * 8;
      const int v7 = v6 + v5;
      float v8[8];
      fw_load_bf16x8_ldcs(in0 + v7, v8);
      const int v9 = k2 * 8;
      fw_pack_bf16x8(v8, kept0 + v9 / 2);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v10 = fw_max(acc1[l], v8[l]);
        acc1[l] = v10;
      }
    }
  }
  float v12[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v12[l] = acc1[l];
  }
  const float v13 = fw_max_f32x8(v12);
  const float max14 = fw_max_f32_128x1(v13, fw_scratch0);
  float acc15[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc15[l] = 0.0f;
  }
  #pragma unroll
  for (int k16 = 0; k16 < 4; ++k16) {
    const int v17 = k16 * 128;
    const int v18 = v17 + tid0;
    const bool v26 = v18 < n2;
    if (v26) {
      const int v19 = (int)((unsigned)v18 * (unsigned)8);
      const int v20 = k16 * 8;
      float v21[8];
      fw_unpack_bf16x8(kept0 + v20 / 2, v21);
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v23 = v21[l] - max14;
        const float v24 = ::expf(v23);
        kept1[v20 + l] = v24;
        const float v25 = acc15[l] + v24;
        acc15[l] = v25;
      }
    }
  }
  float v27[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v27[l] = acc15[l];
  }
  const float v28 = fw_sum_f32x8(v27);
  const float sum29 = fw_sum_f32_128x1(v28, fw_scratch1);
  const int v38 = bid0 * n3;
  #pragma unroll
  for (int k30 = 0; k30 < 4; ++k30) {
    const int v31 = k30 * 128;
    const int v32 = v31 + tid0;
    const bool v40 = v32 < n2;
    if (v40) {
      const int v33 = v32 * 8;
      const int v34 = k30 * 8;
      float v37[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v35 = kept1[v34 + l];
        v37[l] = v35 / sum29;
      }
      const int v39 = v38 + v33;
      fw_store_bf16x8_stcs(out1 + v39, v37);
    }
  }
  const bool v41 = tid0 == 0;
}
