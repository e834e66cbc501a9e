// Enough of CUDA to compile the kernels that fusewright/emit/cuda.py writes with a C++ compiler and to run them on a CPU.
//
// Clusters of blocks (mostly, single ones) run one after the other. The threads of a cluster are fibers: each runs until
// it waits, at a barrier or for the other threads of its warp, or until it ends. Without barriers and shuffles they need
// no fibers and run in a loop. Shared memory is one place for all blocks; when a thread of another block of the cluster
// goes on, what that block has in it is brought back.
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

static emu_dim threadIdx, blockIdx;
static char emu_error[256];
static int emu_failed, emu_lock;
static void** emu_args;  // addresses of the running kernel's parameters

template <class... Args> static void emu_report(const char* format, Args... args) {
  if (!emu_error[0]) snprintf(emu_error, sizeof emu_error, format, args...);
}

// --- threads -----------------------------------------------------------------------------------------------------

enum emu_state { EMU_READY, EMU_BARRIER, EMU_WARP, EMU_CLUSTER, EMU_MBARRIER, EMU_DONE };

struct emu_fiber {
  void* stack_pointer;
  emu_state state;
  int line;          // of the barrier it waits at
  unsigned phase;    // of its warp or cluster, when it began to wait
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
static const size_t EMU_STACK = 128 << 10;
static emu_fiber emu_fibers[EMU_THREADS];
static emu_warp emu_warps[EMU_THREADS / 32];
static char* emu_stacks;
static int emu_count, emu_block_threads, emu_now, emu_uses_fibers;  // threads of the cluster, of a block
static unsigned emu_cluster_phase;                                  // the cluster's barrier that all are to arrive at
static int emu_cluster_arrived;
static unsigned emu_first_block;
static int emu_shared_of;  // the block of the cluster whose shared memory is in place
static char* emu_saved[EMU_CLUSTERS];
static size_t emu_shared_bytes, emu_dynamic_bytes;
static void emu_bring(int block);
static bool emu_passed(int t);
static bool emu_deliver();
static void emu_begin_copies();
static void emu_end_copies();
static void emu_begin_mbarriers();
static void emu_end_mbarriers();
static void (*emu_body)();

#if defined(__x86_64__)
extern "C" void emu_switch(void** save, void* load);
asm(R"(
.pushsection .text
.type emu_switch, @function
emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emu_switch, .-emu_switch
.popsection
)");
static void* emu_main_pointer;
#else
static ucontext_t emu_main_context;
#endif

static void emu_leave() {  // back to the scheduler
#if defined(__x86_64__)
  emu_switch(&emu_fibers[emu_now].stack_pointer, emu_main_pointer);
#else
  swapcontext(&emu_fibers[emu_now].context, &emu_main_context);
#endif
}

static void emu_enter(int t) {
  emu_now = t;
  threadIdx.x = t % emu_block_threads;
  blockIdx.x = emu_first_block + t / emu_block_threads;
  emu_bring(t / emu_block_threads);
#if defined(__x86_64__)
  emu_switch(&emu_main_pointer, emu_fibers[t].stack_pointer);
#else
  swapcontext(&emu_main_context, &emu_fibers[t].context);
#endif
}

static void emu_start() {
  emu_body();
  emu_end_copies();
  emu_fibers[emu_now].state = EMU_DONE;
  emu_leave();
  abort();
}

static void emu_prepare(int t) {
  char* top = emu_stacks + (t + 1) * EMU_STACK;
  emu_fibers[t].state = EMU_READY;
  emu_fibers[t].arrived = 0;
  emu_fibers[t].unfenced = emu_fibers[t].met = false;
#if defined(__x86_64__)
  void** p = (void**)top;
  *--p = 0;  // where a function called by `emu_start` finds its stack aligned
  *--p = (void*)emu_start;
  for (int k = 0; k < 6; ++k) *--p = 0;
  emu_fibers[t].stack_pointer = p;
#else
  getcontext(&emu_fibers[t].context);
  emu_fibers[t].context.uc_stack.ss_sp = top - EMU_STACK;
  emu_fibers[t].context.uc_stack.ss_size = EMU_STACK;
  emu_fibers[t].context.uc_link = 0;
  makecontext(&emu_fibers[t].context, emu_start, 0);
#endif
}

static emu_warp& emu_warp_of(int t) {
  return emu_warps[t / emu_block_threads * ((emu_block_threads + 31) / 32) + t % emu_block_threads / 32];
}

static bool emu_runnable(const emu_fiber& f, int t) {
  return f.state == EMU_READY || (f.state == EMU_WARP && emu_warp_of(t).phase != f.phase) ||
         (f.state == EMU_CLUSTER && emu_cluster_phase != f.phase) || (f.state == EMU_MBARRIER && emu_passed(t));
}

// Lets the threads of a block go on past a barrier at which all of them wait. Returns whether any can go on; `last`: if
// none can, that is reported, unless all wait for other blocks.
static bool emu_release_block(int block, bool last) {
  int waiting = 0, done = 0, cluster = 0, mbarrier = 0, other = 0;
  const int n = emu_block_threads;
  const emu_fiber* f = emu_fibers + block * n;
  for (int t = 0; t < n; ++t) {
    waiting += f[t].state == EMU_BARRIER;
    done += f[t].state == EMU_DONE;
    cluster += f[t].state == EMU_CLUSTER;
    mbarrier += f[t].state == EMU_MBARRIER;
    if (f[t].state == EMU_BARRIER && f[t].line != f[0].line) other = t;
  }
  if (waiting == n && !other) {
    for (int t = 0; t < n; ++t) emu_fibers[block * n + t].state = EMU_READY;
    return true;
  }
  if (!last || done == n || cluster == n || mbarrier == n) return false;
  if (waiting == n) {
    emu_report("threads 0 and %d of block %u wait at different barriers (lines %d and %d)", other,
               emu_first_block + block, f[0].line, f[other].line);
  } else {
    emu_report("block %u: %d of %d threads wait at a barrier, %d have ended, %d wait for their warp%s",
               emu_first_block + block, waiting, n, done, n - waiting - done - cluster - mbarrier,
               cluster ? ", the others for the cluster" : mbarrier ? ", the others at an mbarrier" : "");
  }
  return false;
}

// Whether any thread can go on past a barrier. If none can, all have ended, or it is reported.
static bool emu_release() {
  bool any = false;
  int done = 0;
  const int blocks = emu_count / emu_block_threads;
  for (int b = 0; b < blocks; ++b) any |= emu_release_block(b, false);
  if (any || emu_deliver()) return true;
  for (int b = 0; b < blocks; ++b) emu_release_block(b, true);
  emu_end_mbarriers();
  for (int t = 0; t < emu_count; ++t) done += emu_fibers[t].state == EMU_DONE;
  if (done < emu_count)
    emu_report("%d of %d threads of the cluster of block %u have ended, and the others wait for them", done, emu_count,
               emu_first_block);
  return false;
}

// Whether any of these threads could go on.
static bool emu_run_warp(int first, int end) {
  bool moved = false;
  for (int t = first; t < end; ++t) {
    if (emu_runnable(emu_fibers[t], t)) {
      emu_fibers[t].state = EMU_READY;
      emu_enter(t);
      moved = true;
    }
  }
  return moved;
}

static void emu_run_block() {
  if (!emu_uses_fibers) {
    for (int t = 0; t < emu_count; ++t) {
      threadIdx.x = t % emu_block_threads;
      blockIdx.x = emu_first_block + t / emu_block_threads;
      emu_body();
    }
    return;
  }
  memset(emu_warps, 0, sizeof emu_warps);
  emu_cluster_phase = 1;
  emu_cluster_arrived = 0;
  emu_begin_mbarriers();
  emu_begin_copies();
  for (int t = 0; t < emu_count; ++t) emu_prepare(t);
  const int n = emu_block_threads;
  do {
    for (bool moved = true; moved;) {
      moved = false;
      for (int t = 0, end; t < emu_count; t = end) {
        const int after = n - t % n;  // each warp goes as far ahead of the others as it can
        end = t + (after < 32 ? after : 32);
        while (emu_run_warp(t, end)) moved = true;
      }
    }
  } while (emu_release());
}

static void emu_barrier(int line) {
  emu_fibers[emu_now].state = EMU_BARRIER;
  emu_fibers[emu_now].line = line;
  emu_leave();
}
#define __syncthreads() emu_barrier(__LINE__)

// All of so many lanes of the warp wait for each other.
static void emu_meet(emu_warp& w, int lanes) {
  const unsigned phase = w.phase;
  if (++w.arrived == lanes) {
    w.arrived = 0;
    ++w.phase;
  } else {
    emu_fibers[emu_now].state = EMU_WARP;
    emu_fibers[emu_now].phase = phase;
    emu_leave();
  }
}

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

extern "C" char __start_emu_shared[] __attribute__((weak));
extern "C" char __stop_emu_shared[] __attribute__((weak));
alignas(16) static char emu_dynamic[256 << 10];

// Put the shared memory of a block of the cluster in place.
static void emu_bring(int block) {
  if (block == emu_shared_of) return;
  for (int save = 1; save >= 0; --save) {
    char* at = emu_saved[save ? emu_shared_of : block];
    if (save) {
      memcpy(at, __start_emu_shared, emu_shared_bytes);
      memcpy(at + emu_shared_bytes, emu_dynamic, emu_dynamic_bytes);
    } else {
      memcpy(__start_emu_shared, at, emu_shared_bytes);
      memcpy(emu_dynamic, at + emu_shared_bytes, emu_dynamic_bytes);
    }
  }
  emu_shared_of = block;
}

#include "cuda_emulation_cluster.h"
#include "cuda_emulation_copies.h"

// Run `blocks` blocks of `threads` threads, so many of them at once; returns whether an error was reported.
static int emu_run(void (*body)(), long long blocks, int threads, int cluster, int dynamic, int uses_fibers) {
  emu_body = body;
  emu_count = threads * cluster;
  emu_block_threads = threads;
  emu_shared_bytes = __start_emu_shared ? __stop_emu_shared - __start_emu_shared : 0;
  emu_dynamic_bytes = dynamic;
  for (int b = 0; b < cluster && cluster > 1; ++b)
    emu_saved[b] = (char*)realloc(emu_saved[b], emu_shared_bytes + dynamic + 1);
  emu_uses_fibers = uses_fibers;
  emu_error[0] = 0;
  if (uses_fibers && !emu_stacks) {
    void* p = mmap(0, EMU_THREADS * EMU_STACK, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
      emu_report("no memory for the threads' stacks");
      return 1;
    }
    emu_stacks = (char*)p;
  }
  if (blocks % cluster) emu_report("%lld blocks in clusters of %d", blocks, cluster);
  for (long long b = 0; b < blocks && !emu_error[0]; b += cluster) {
    emu_first_block = (unsigned)b;
    emu_shared_of = 0;
    if (__start_emu_shared) memset(__start_emu_shared, 0xff, emu_shared_bytes);
    memset(emu_dynamic, 0xff, dynamic);
    for (int k = 0; k < cluster && cluster > 1; ++k) memset(emu_saved[k], 0xff, emu_shared_bytes + dynamic);
    emu_run_block();
  }
  return emu_error[0] != 0;
}

// The same, one launch at a time.
static int emu_launch(void** args, void (*body)(), long long blocks, int threads, int cluster, int dynamic,
                      int uses_fibers) {
  while (__sync_lock_test_and_set(&emu_lock, 1)) sched_yield();
  emu_args = args;
  const int error = emu_run(body, blocks, threads, cluster, dynamic, uses_fibers);
  __sync_lock_release(&emu_lock);
  return error;
}

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
template <class T> static T fw_div(T a, T b) {
  if (b == 0) return (T)-1;
  if ((T)-1 < 0 && b == (T)-1) return (T)(0 - (uint64_t)a);
  return (T)(a / b);
}
template <class T> static T fw_rem(T a, T b) {
  if (b == 0) return a;
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
