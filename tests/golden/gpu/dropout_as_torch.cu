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
extern "C" __global__ void __launch_bounds__(128) dropout_as_torch_0(
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
  const int v1 = bid0 * 256;
  const int v2 = v1 + tid0;
  const int v3 = n1 + (-1);
  const bool v4 = v2 < n1;
  const int v5 = v2 < v3 ? v2 : v3;
  const int v6 = v5 * 4;
  const int v7 = v2 + 128;
  const bool v8 = v7 < n1;
  const int v9 = v7 < v3 ? v7 : v3;
  const int v10 = v9 * 4;
  const long long v11 = __ldg(in0 + 0);
  const long long v12 = __ldg(in0 + 1);
  const long long v13 = __ldg(in0 + n2);
  const long long v14 = __ldg(in0 + n3);
  unsigned v15[4];
  fw_curand_run<4>(v11, v12, v13, v14, v6, v15);
  float v17[4];
  fw_load_f32x4_ldg(in1 + v6, v17);
  const long long v20 = __ldg(in0 + n4);
  const long long v22 = __ldg(in0 + n5);
  const long long v24 = __ldg(in0 + n6);
  const long long v26 = __ldg(in0 + n7);
  unsigned v30[4];
  fw_curand_run<4>(v11, v12, v13, v14, v10, v30);
  float v32[4];
  fw_load_f32x4_ldg(in1 + v10, v32);
  float v19[4];
  float v29[4];
  float v34[4];
  float v36[4];
  #pragma unroll
  for (int l = 0; l < 4; ++l) {
    const bool v16 = v15[l] < 3221225344u;
    const float v18 = v17[l] * 1.3333334f;
    v19[l] = v16 ? v18 : 0.0f;
    const int v28 = v6 + l;
    v29[l] = fw_curand_normal(v20, v22, v24, v26, v28);
    const bool v31 = v30[l] < 3221225344u;
    const float v33 = v32[l] * 1.3333334f;
    v34[l] = v31 ? v33 : 0.0f;
    const int v35 = v10 + l;
    v36[l] = fw_curand_normal(v20, v22, v24, v26, v35);
  }
  if (v4) {
    fw_store_f32x4(out2 + v6, v19);
  }
  if (v4) {
    fw_store_f32x4(out3 + v6, v29);
  }
  if (v8) {
    fw_store_f32x4(out2 + v10, v34);
  }
  if (v8) {
    fw_store_f32x4(out3 + v10, v36);
  }
}
