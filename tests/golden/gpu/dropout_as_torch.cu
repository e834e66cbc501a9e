// dropout_as_torch, made by Fusewright

#ifndef FUSEWRIGHT_EMULATION

template <class T> __device__ __forceinline__ void fw_write(T* p, T x) { *p = x; }

#endif

// the four words of a Philox4x32-10 block
__device__ __forceinline__ void fw_philox(long long seed, unsigned c0, unsigned c1, unsigned c2, unsigned c3, unsigned (&word)[4]) {
  unsigned k0 = (unsigned)seed, k1 = (unsigned)((unsigned long long)seed >> 32);
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    const unsigned h0 = __umulhi(c0, 0xD2511F53u), l0 = c0 * 0xD2511F53u;
    const unsigned h1 = __umulhi(c2, 0xCD9E8D57u), l1 = c2 * 0xCD9E8D57u;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  word[0] = c0;
  word[1] = c1;
  word[2] = c2;
  word[3] = c3;
}

// counter and word of an element as PyTorch's kernels draw it: `threads` threads take 1 << shift elements at a time
template <class I>
__device__ __forceinline__ void fw_curand_place(long long block, long long threads, unsigned shift, I element, unsigned (&at)[4]) {
  const unsigned n = threads ? (unsigned)threads : 1, lane = (unsigned)element & ((1u << shift) - 1);
  unsigned long long turn;
  if (sizeof(I) == 4) {
    const unsigned q = (unsigned)element >> shift;
    turn = q / n;
    at[2] = q - (unsigned)turn * n;
  } else {
    const unsigned long long q = (unsigned long long)element >> shift;
    turn = q / n;
    at[2] = (unsigned)(q - turn * n);
  }
  const unsigned long long call =
      (unsigned long long)block + (shift == 0 ? turn >> 2 : shift == 3 ? 2 * turn + (lane >> 2) : turn);
  at[0] = (unsigned)call;
  at[1] = (unsigned)(call >> 32);
  at[3] = shift == 0 ? (unsigned)turn & 3 : lane & 3;
}

__device__ __forceinline__ unsigned fw_curand_pick(const unsigned (&word)[4], unsigned at) {
  const unsigned low = at & 1 ? word[1] : word[0], high = at & 1 ? word[3] : word[2];
  return at & 2 ? high : low;
}

// the words of N neighbours: those of one block are drawn together
template <int N, class I>
__device__ __forceinline__ void fw_curand_run(long long seed, long long block, long long threads, long long shift, I start, unsigned* out) {
  const unsigned wide = (unsigned)shift & 3, shared = wide == 0 ? 0 : wide == 1 ? 1 : 3;
  unsigned at[4], word[4] = {};
#pragma unroll
  for (int k = 0; k < N; ++k) {
    if (k == 0 || (((unsigned)start + k) & shared) == 0) {
      fw_curand_place(block, threads, wide, (I)(start + k), at);
      fw_philox(seed, at[0], at[1], at[2], 0, word);
    } else {
      ++at[3];
    }
    out[k] = fw_curand_pick(word, at[3]);
  }
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

// Box-Muller on the element's word and the one that it makes a pair with
template <class I>
__device__ __forceinline__ float fw_curand_normal(long long seed, long long block, long long threads, long long shift, I element) {
  unsigned at[4], word[4];
  fw_curand_place(block, threads, (unsigned)shift & 3, element, at);
  fw_philox(seed, at[0], at[1], at[2], 0, word);
  const unsigned x = at[3] & 2 ? word[2] : word[0], y = at[3] & 2 ? word[3] : word[1];
  const float turn = 2.3283064e-10f * 6.2831855f;
  const float u = ::__fmaf_rn((float)x, 2.3283064e-10f, 2.3283064e-10f / 2);
  const float v = ::__fmaf_rn((float)y, turn, turn / 2);
  float sine, cosine;
  ::__sincosf(v, &sine, &cosine);
  return (at[3] & 1 ? cosine : sine) * ::sqrtf(-2.0f * ::logf(u)) + 0.0f;
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

// pointwise
extern "C" __global__ void __launch_bounds__(256) dropout_as_torch_0(
    const long long* __restrict__ in0,
    const float* __restrict__ in1,
    float* __restrict__ out2,
    float* __restrict__ out3,
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
  const int v1 = bid0 * 512;
  const int v2 = v1 + tid0;
  const int v3 = v1 + 512;
  const int v4 = v3 * 4;
  const bool v5 = v4 <= n1;
  const long long v9 = __ldg(in0 + 0);
  const long long v11 = __ldg(in0 + 1);
  const long long v13 = __ldg(in0 + n2);
  const long long v15 = __ldg(in0 + n3);
  const long long v25 = __ldg(in0 + n4);
  const long long v27 = __ldg(in0 + n5);
  const long long v29 = __ldg(in0 + n6);
  const long long v31 = __ldg(in0 + n7);
  if (v5) {
    const int v6 = v2 * 4;
    const int v7 = v2 + 256;
    const int v8 = v7 * 4;
    unsigned v17[4];
    fw_curand_run<4>(v9, v11, v13, v15, v6, v17);
    float v22[4];
    fw_load_f32x4_ldg(in1 + v6, v22);
    unsigned v35[4];
    fw_curand_run<4>(v9, v11, v13, v15, v8, v35);
    float v40[4];
    fw_load_f32x4_ldg(in1 + v8, v40);
    float v24[4];
    float v34[4];
    float v42[4];
    float v44[4];
    #pragma unroll
    for (int l = 0; l < 4; ++l) {
      const float v18 = (float)v17[l];
      const float v19 = v18 * 2.3283064e-10f;
      const float v20 = v19 + 1.1641532e-10f;
      const bool v21 = v20 < 0.75f;
      const float v23 = v22[l] * 1.3333334f;
      v24[l] = v21 ? v23 : 0.0f;
      const int v33 = v6 + l;
      v34[l] = fw_curand_normal(v25, v27, v29, v31, v33);
      const float v36 = (float)v35[l];
      const float v37 = v36 * 2.3283064e-10f;
      const float v38 = v37 + 1.1641532e-10f;
      const bool v39 = v38 < 0.75f;
      const float v41 = v40[l] * 1.3333334f;
      v42[l] = v39 ? v41 : 0.0f;
      const int v43 = v8 + l;
      v44[l] = fw_curand_normal(v25, v27, v29, v31, v43);
    }
    fw_store_f32x4(out2 + v6, v24);
    fw_store_f32x4(out3 + v6, v34);
    fw_store_f32x4(out2 + v8, v42);
    fw_store_f32x4(out3 + v8, v44);
  } else {
    for (int k45 = 0; k45 < 2; ++k45) {
      const int v46 = k45 * 256;
      const int v47 = v2 + v46;
      const int v48 = v47 * 4;
      const bool v62 = v48 < n1;
      if (v62) {
        const int v49 = v47 * 4;
        const int v50 = n1 - v48;
        unsigned v52[4];
        fw_curand_run<4>(v9, v11, v13, v15, v49, v52);
        bool v51[4];
        float v59[4];
        float v61[4];
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          v51[l] = l < v50;
          const float v53 = (float)v52[l];
          const float v54 = v53 * 2.3283064e-10f;
          const float v55 = v54 + 1.1641532e-10f;
          const bool v56 = v55 < 0.75f;
          const float v57 = v51[l] ? __ldg(in1 + v49 + l) : 0.0f;
          const float v58 = v57 * 1.3333334f;
          v59[l] = v56 ? v58 : 0.0f;
          const int v60 = v49 + l;
          v61[l] = fw_curand_normal(v25, v27, v29, v31, v60);
        }
        #pragma unroll
        for (int l = 0; l < 4; ++l) {
          if (v51[l]) out2[v49 + l] = v59[l];
          if (v51[l]) out3[v49 + l] = v61[l];
        }
      }
    }
  }
}
