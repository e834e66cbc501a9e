// softmax_moved, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

__device__ __forceinline__ float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
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
extern "C" __global__ void __launch_bounds__(256) softmax_moved_0(
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
  unsigned kept0[12];  // 24 bf16, packed
  __shared__ __align__(16) unsigned char fw_scratch0[32];
  __shared__ __align__(16) unsigned char fw_scratch1[32];
  float acc1[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc1[l] = (-fw_inff);
  }
  const int v6 = (int)((unsigned)bid0 * (unsigned)n2);
  const int v7 = v6 & 7;
  const int v15 = bid0 * n3;
  #pragma unroll
  for (int k2 = 0; k2 < 3; ++k2) {
    const int v3 = k2 * 256;
    const int v4 = v3 + tid0;
    const bool v18 = v4 < n5;
    if (v18) {
      const int v5 = v4 * 8;
      const int v8 = v5 - v7;
      const int v9 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v10 = v8 > v9;
      const bool v11 = v8 < 0;
      const bool v12 = v11 || v10;
      const int v14 = k2 * 8;
      const int v16 = v15 + v8;
      fw_fetch_bf16x8_range_beside_ldg(n4 - v16, in0 + v16, v8, n1, kept0 + v14 / 2);
    }
  }
  #pragma unroll
  for (int k19 = 0; k19 < 3; ++k19) {
    const int v20 = k19 * 256;
    const int v21 = v20 + tid0;
    const bool v35 = v21 < n5;
    if (v35) {
      const int v22 = v21 * 8;
      const int v23 = v22 - v7;
      const int v24 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v25 = v23 > v24;
      const bool v26 = v23 < 0;
      const bool v27 = v26 || v25;
      const int v29 = k19 * 8;
      float v30[8];
      fw_unpack_bf16x8(kept0 + v29 / 2, v30);
      float real32[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v31 = fw_max(acc1[l], v30[l]);
        real32[l] = v31;
      }
      if (v27) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v33 = v23 + l >= 0 && v23 + l < n1;
          const float v34 = v33 ? real32[l] : acc1[l];
          real32[l] = v34;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc1[l] = real32[l];
      }
    }
  }
  float v36[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v36[l] = acc1[l];
  }
  const float v37 = fw_max_f32x8(v36);
  const float max38 = fw_max_f32_256x1(v37, fw_scratch0);
  float acc39[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    acc39[l] = (-0.0f);
  }
  #pragma unroll
  for (int k40 = 0; k40 < 3; ++k40) {
    const int v41 = k40 * 256;
    const int v42 = v41 + tid0;
    const bool v60 = v42 < n5;
    if (v60) {
      const int v43 = v42 * 8;
      const int v44 = v43 - v7;
      const int v45 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v46 = v44 > v45;
      const bool v47 = v44 < 0;
      const bool v48 = v47 || v46;
      const int v50 = k40 * 8;
      float v51[8];
      fw_unpack_bf16x8(kept0 + v50 / 2, v51);
      float real57[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v53 = v51[l] - max38;
        const float v54 = v53 * 1.442695f;
        const float v55 = fw_fast_exp2(v54);
        const float v56 = acc39[l] + v55;
        real57[l] = v56;
      }
      if (v48) {
        #pragma unroll
        for (int l = 0; l < 8; ++l) {
          const bool v58 = v44 + l >= 0 && v44 + l < n1;
          const float v59 = v58 ? real57[l] : acc39[l];
          real57[l] = v59;
        }
      }
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        acc39[l] = real57[l];
      }
    }
  }
  float v61[8];
  #pragma unroll
  for (int l = 0; l < 8; ++l) {
    v61[l] = acc39[l];
  }
  const float v62 = fw_sum_f32x8(v61);
  const float v63 = v62 + 0.0f;
  const float sum64 = fw_sum_f32_256x1(v63, fw_scratch1);
  const float v80 = fw_fast_reciprocal(sum64);
  const int v83 = bid0 * n6;
  #pragma unroll
  for (int k65 = 0; k65 < 3; ++k65) {
    const int v66 = k65 * 256;
    const int v67 = v66 + tid0;
    const bool v85 = v67 < n5;
    if (v85) {
      const int v68 = v67 * 8;
      const int v69 = v68 - v7;
      const int v70 = (int)((unsigned)n1 + (unsigned)(-8));
      const bool v71 = v69 > v70;
      const bool v72 = v69 < 0;
      const bool v73 = v72 || v71;
      const int v75 = k65 * 8;
      float v76[8];
      fw_unpack_bf16x8(kept0 + v75 / 2, v76);
      float v82[8];
      #pragma unroll
      for (int l = 0; l < 8; ++l) {
        const float v77 = v76[l] - max38;
        const float v78 = v77 * 1.442695f;
        const float v79 = fw_fast_exp2(v78);
        v82[l] = v79 * v80;
      }
      const int v84 = v83 + v69;
      fw_store_bf16x8_range(out1 + v84, v69, n1, v82);
    }
  }
  const bool v86 = tid0 == 0;
}
