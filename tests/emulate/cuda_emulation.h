// Enough of CUDA to compile the kernels that fusewright/emit/cuda.py writes with a C++ compiler and to run them on a CPU.
//
// Clusters of blocks (mostly, single ones) run one after the other. The threads of a cluster are fibers: each runs until
// it waits, at a barrier or for the other threads of its warp or group, or until it ends. Without barriers and shuffles
// they need no fibers and run in a loop. Shared memory is one place for all blocks; when a thread of another block of the
// cluster goes on, what that block has in it is brought back.
//
// Which thread goes on first shows where a barrier lacks, in one direction or the other: in two of four clusters it is
// the last one that can. Of an odd number of blocks the last one runs first.
//
// Reported (emu_error, the first one): a barrier or shuffle that not all threads reach, different barriers reached by
// threads of one block, a misaligned vector access, what cuda_emulation_cluster.h says of clusters and
// cuda_emulation_copies.h of asynchronous copies. Shared memory starts every block filled with 0xff: NaNs.
#pragma once
#define FUSEWRIGHT_EMULATION 1

#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

extern "C" char __start_emu_shared[] __attribute__((weak));
extern "C" char __stop_emu_shared[] __attribute__((weak));

#pragma GCC visibility push(hidden)  // every kernel has its own

#define __global__
#define __align__(n) __attribute__((aligned(n)))
#define __device__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(x, y, z)
#define __shared__ static __attribute__((section("emu_shared"), used))
#define __restrict__

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct emu_dim {
  unsigned x, y, z;
};

inline emu_dim threadIdx, blockIdx;
inline char emu_error[256];
inline int emu_failed, emu_lock;
inline void** emu_args;  // addresses of the running kernel's parameters

template <class... Args> static void emu_report(const char* format, Args... args) {
  if (!emu_error[0]) snprintf(emu_error, sizeof emu_error, format, args...);
}

// --- threads -----------------------------------------------------------------------------------------------------

enum emu_state { EMU_READY, EMU_BARRIER, EMU_WARP, EMU_GROUP, EMU_CLUSTER, EMU_MBARRIER, EMU_DONE };

struct emu_fiber {
  void* stack_pointer;
  emu_state state;
  int line;          // of the barrier it waits at
  unsigned phase;    // of its warp, group of threads or cluster, when it began to wait
  int group;         // that it waits for: which of the cluster
  unsigned arrived;  // the cluster's phase when it arrived; 0 if it has waited since
  size_t mbarrier;   // that it waits at, in shared memory
  bool unfenced;     // it has made mbarriers without a fence since
  bool met;          // it has waited for its cluster
#if !defined(__x86_64__)
  ucontext_t context;
#endif
};

struct emu_warp {
  unsigned phase;  // exchanges completed
  int arrived;
  uint64_t slot[2][32];
};

static const int EMU_CLUSTERS = 8;  // blocks of a cluster
static const int EMU_THREADS = 1024 * EMU_CLUSTERS;
inline emu_fiber emu_fibers[EMU_THREADS];
inline int emu_count, emu_block_threads, emu_now, emu_uses_fibers;  // threads of the cluster, of a block
inline unsigned emu_cluster_phase;                                  // the cluster's barrier that all are to arrive at
inline int emu_cluster_arrived;
inline unsigned emu_first_block;
inline int emu_shared_of;  // the block of the cluster whose shared memory is in place
inline char* emu_saved[EMU_CLUSTERS];
inline size_t emu_shared_bytes, emu_dynamic_bytes;

// cuda_emulation.cc has these, compiled once: together they take longer than a small kernel.
void emu_leave();  // back to the scheduler
emu_warp& emu_warp_of(int t);
void emu_barrier(int line);
void emu_meet(emu_warp& w, int lanes);
void emu_meet_group(int threads);
int emu_launch(void** args, void (*body)(), long long blocks, int threads, int cluster, int dynamic, int uses_fibers);

#define __syncthreads() emu_barrier(__LINE__)

template <int N> static void fw_group_barrier() { emu_meet_group(N); }

static inline void __syncwarp() {
  const int after = emu_block_threads - threadIdx.x / 32 * 32;
  emu_meet(emu_warp_of(emu_now), after < 32 ? after : 32);
}

// The value that lane `from` of the warp has.
template <class T> static T emu_exchange(unsigned mask, T x, int from) {
  static_assert(sizeof(T) <= 8, "a value of up to 64 bits");
  const int lane = threadIdx.x % 32;
  emu_warp& w = emu_warp_of(emu_now);
  const unsigned phase = w.phase;
  memcpy(&w.slot[phase % 2][lane], &x, sizeof x);
  if (mask != 0xffffffffu) emu_report("a shuffle of a part of a warp");
  emu_meet(w, 32);
  memcpy(&x, &w.slot[phase % 2][from % 32], sizeof x);
  return x;
}

template <class T> static T __shfl_xor_sync(unsigned mask, T x, int distance) {
  return emu_exchange(mask, x, threadIdx.x % 32 ^ distance);
}
template <class T> static T __shfl_up_sync(unsigned mask, T x, int distance) {
  const int lane = threadIdx.x % 32;
  return emu_exchange(mask, x, lane < distance ? lane : lane - distance);
}
template <class T> static T __shfl_sync(unsigned mask, T x, int from) { return emu_exchange(mask, x, from); }

alignas(16) inline char emu_dynamic[256 << 10];

#include "cuda_emulation_cluster.h"
#include "cuda_emulation_copies.h"
#include "cuda_emulation_memory.h"

// --- numbers -----------------------------------------------------------------------------------------------------

template <class To, class From> static To emu_cast_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "types of one size");
  To y;
  memcpy(&y, &x, sizeof y);
  return y;
}

static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) {
  return (unsigned)(((uint64_t)high << 32 | low) >> (n & 31));
}
static inline float __uint_as_float(unsigned x) { return emu_cast_bits<float>(x); }
static inline float __int_as_float(int x) { return emu_cast_bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return emu_cast_bits<unsigned>(x); }
static inline int __float_as_int(float x) { return emu_cast_bits<int>(x); }
static inline double __longlong_as_double(long long x) { return emu_cast_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return emu_cast_bits<long long>(x); }
static inline int __double2loint(double x) { return (int)emu_cast_bits<uint64_t>(x); }
static inline int __double2hiint(double x) { return (int)(emu_cast_bits<uint64_t>(x) >> 32); }
static inline double __hiloint2double(int high, int low) {
  return emu_cast_bits<double>((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }

static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
#define __sincosf emu_sincosf  // the C library has one of this name
static inline void emu_sincosf(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }

// What a GPU approximates is off by as much here as its manual allows: a few units in the last place, by the operand's
// bits. Zeros, ones, infinities and NaN are exact.
static inline float emu_flush(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }
static inline float emu_off(double exact, float from, int units) {
  const float x = (float)exact;
  if (!(fabsf(x) >= 0x1p-120f && fabsf(x) <= 0x1p127f) || x == 1.0f) return x;
  const unsigned mix = (__float_as_uint(from) * 2654435761u) >> 16;
  return __int_as_float(__float_as_int(x) + (int)(mix % (2 * units + 1)) - units);
}
static inline float fw_fast_exp2(float x) { return emu_flush(emu_off(exp2((double)emu_flush(x)), x, 2)); }
static inline float fw_fast_reciprocal(float x) { return emu_flush(emu_off(1.0 / (double)emu_flush(x), x, 1)); }
static inline float fw_fast_sqrt(float x) { return emu_off(sqrt((double)x), x, 1); }
static inline float fw_log2(float x) {
  const double exact = log2((double)x);
  return fabs(exact) < 1.0 && x != 1.0f ? (float)(exact + (__float_as_uint(x) & 1 ? 0x1p-22 : -0x1p-22)) : emu_off(exact, x, 2);
}
static inline float fw_fast_div(float a, float b) { return emu_off((double)a / (double)b, b, 2); }

// As a GPU divides: by zero gives all ones, and nothing traps
template <class T> static T fw_by_zero(T a) { return sizeof(T) == 8 && (uint64_t)a >> 32 == 0 ? (T)0xffffffffu : (T)-1; }
template <class T> static T fw_div(T a, T b) {
  if (b == 0) return fw_by_zero(a);
  if ((T)-1 < 0 && b == (T)-1) return (T)(0 - (uint64_t)a);
  return (T)(a / b);
}
template <class T> static T fw_rem(T a, T b) {
  if (b == 0) return fw_by_zero(a);
  if ((T)-1 < 0 && b == (T)-1) return 0;
  return (T)(a % b);
}
static inline int fw_udiv(int a, int b) { return (int)fw_div<unsigned>((unsigned)a, (unsigned)b); }
static inline long long fw_udiv(long long a, long long b) { return (long long)fw_div<uint64_t>((uint64_t)a, (uint64_t)b); }

static inline float fw_f16_f32(unsigned short h) {
  const unsigned sign = (unsigned)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
  if (e == 31) return __uint_as_float(sign | 0x7f800000 | m << 13);
  if (e) return __uint_as_float(sign | (e + 112) << 23 | m << 13);
  return __uint_as_float(sign | __float_as_uint((float)m * 0x1p-24f));
}

static inline unsigned short fw_f32_f16(float x) {
  const unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000;
  const float a = fabsf(x);
  if (a != a) return 0x7fff;
  if (a >= 65520.0f) return sign | 0x7c00;
  if (a < 0x1p-14f) return sign | (unsigned)rintf(a * 0x1p24f);
  const unsigned r = (bits & 0x7fffffff) + 0xfff + (bits >> 13 & 1);
  return sign | (r >> 13) - (112 << 10);
}

static inline float fw_max_nan(float a, float b) {
  if (a != a || b != b) return __uint_as_float(0x7fffffff);
  return a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}
static inline float fw_min_nan(float a, float b) {
  if (a != a || b != b) return __uint_as_float(0x7fffffff);
  return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

#if EMU_ARCH >= 80  // what these GPUs do in one instruction
static inline float fw_max(float a, float b) { return fw_max_nan(a, b); }
static inline float fw_min(float a, float b) { return fw_min_nan(a, b); }
static inline unsigned short fw_f32_bf16(float x) {
  if (x != x) return 0x7fff;
  const unsigned bits = __float_as_uint(x);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static inline float fw_round_bf16(float x) { return __uint_as_float((unsigned)fw_f32_bf16(x) << 16); }
static inline unsigned fw_pack_bf16(float low, float high) { return fw_f32_bf16(low) | (unsigned)fw_f32_bf16(high) << 16; }
static inline unsigned fw_pack_f16(float low, float high) { return fw_f32_f16(low) | (unsigned)fw_f32_f16(high) << 16; }
#endif

#if EMU_ARCH >= 89
static inline unsigned fw_byte_f8(float x, int mantissa, int bias, unsigned last) {  // saturates at the byte `last`
  const unsigned sign = __float_as_uint(x) >> 24 & 0x80;
  const float a = fabsf(x);
  if (a != a) return sign | 0x7f;
  const int e = a < ldexpf(1, 1 - bias) ? 1 - bias : a >= 0x1p20f ? 20 : ilogbf(a);
  const float steps = rintf(ldexpf(a, mantissa - e));  // may be one more than there are to the next power of two
  const unsigned out = ((unsigned)(e + bias - 1) << mantissa) + (unsigned)steps;
  return sign | (out > last ? last : out);
}
static inline unsigned fw_pack_f8e4m3s(float low, float high) {
  return fw_byte_f8(low, 3, 7, 0x7e) | fw_byte_f8(high, 3, 7, 0x7e) << 8;
}
static inline unsigned fw_pack_f8e4m3(float low, float high) {
  return fw_byte_f8(low, 3, 7, 0x7f) | fw_byte_f8(high, 3, 7, 0x7f) << 8;
}
static inline unsigned fw_pack_f8e5m2(float low, float high) {
  return fw_byte_f8(low, 2, 15, 0x7c) | fw_byte_f8(high, 2, 15, 0x7c) << 8;
}
static inline unsigned fw_halves_f8e4m3(unsigned bytes) {
  unsigned out = 0;
  for (int k = 0; k < 2; ++k) {
    const unsigned byte = bytes >> 8 * k & 0xff, low = byte & 0x7f, sign = (byte & 0x80) << 8;
    const unsigned half = low == 0x7f ? 0x7fff : fw_f32_f16(fw_f16_f32(low << 7) * 256);
    out |= (sign | half) << 16 * k;
  }
  return out;
}
static inline unsigned fw_halves_f8e4m3s(unsigned bytes) { return fw_halves_f8e4m3(bytes); }
#endif

#pragma GCC visibility pop
