// What runs the threads of kernels: a part of cuda_emulation.h, compiled once and linked to each kernel.
#include "cuda_emulation.h"

static const size_t EMU_STACK = 128 << 10;
static char* emu_stacks;
static emu_warp emu_warps[EMU_THREADS / 32];
static emu_warp emu_groups[EMU_THREADS / 32];  // of threads that have a barrier of their own
static void (*emu_body)();
static bool emu_backwards;  // which threads go on first

// --- copies ------------------------------------------------------------------------------------------------------------

static void emu_begin_copies() {
  for (int t = 0; t < emu_count; ++t) emu_copying[t].count = emu_copying[t].groups = 0;
}

static void emu_end_copies() {
  if (emu_copying[emu_now].count)
    emu_report("a thread ends before %d copies have come", emu_copying[emu_now].count);
}

// --- clusters ----------------------------------------------------------------------------------------------------------

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

// Shared memory of a block of the cluster: what kernels declare, then dynamic shared memory.
char* emu_memory(int block, size_t at) {
  if (block != emu_shared_of) return emu_saved[block] + at;
  return at < emu_shared_bytes ? __start_emu_shared + at : emu_dynamic + (at - emu_shared_bytes);
}

// Where something of so many bytes is in it.
size_t emu_shared_at(const void* p, size_t bytes) {
  if ((uintptr_t)p % bytes) emu_report("%d bytes of shared memory at %p, which is misaligned", (int)bytes, p);
  const size_t fixed = (const char*)p - __start_emu_shared, dynamic = (const char*)p - emu_dynamic;
  if (fixed < emu_shared_bytes) return fixed;
  if (dynamic < emu_dynamic_bytes) return emu_shared_bytes + dynamic;
  emu_report("a place for another block's data that is not in shared memory");
  return 0;
}

static emu_mbarrier& emu_mbarrier_at(int block, size_t at) {
  static emu_mbarrier none;
  emu_mbarrier& m = *(emu_mbarrier*)emu_memory(block, at);
  if (m.made == EMU_MADE) return m;
  emu_report("an mbarrier of block %u is used and was not made", emu_first_block + block);
  return none = {EMU_MADE, 1, 1, 1, 0};
}

emu_mbarrier& emu_own(const unsigned long long* m) {
  if (!emu_fibers[emu_now].met) emu_report("a thread uses an mbarrier before it has waited for its cluster");
  return emu_mbarrier_at(emu_shared_of, emu_shared_at(m, 8));
}

// Whether an mbarrier's phase ends.
bool emu_complete(emu_mbarrier& m) {
  if (m.pending || m.bytes) return false;
  m.pending = m.count;
  ++m.phase;
  return true;
}

bool emu_passed(int t) {  // the first phase
  return emu_mbarrier_at(t / emu_block_threads, emu_fibers[t].mbarrier).phase % 2;
}

// What has been sent arrives, until an mbarrier's phase ends. Returns whether one has.
bool emu_deliver() {
  while (emu_sent_count) {
    const emu_message& s = emu_sent[--emu_sent_count];
    for (int t = s.block * emu_block_threads; t < (s.block + 1) * emu_block_threads; ++t)
      if (emu_fibers[t].state == EMU_DONE)
        emu_report("block %u has ended when what was sent to it arrives", emu_first_block + s.block);
    emu_mbarrier& m = emu_mbarrier_at(s.block, s.mbarrier);
    memcpy(emu_memory(s.block, s.at), s.value, s.bytes);
    m.bytes -= s.bytes;
    if (emu_complete(m)) return true;
  }
  return false;
}

static void emu_begin_mbarriers() { emu_made_count = emu_sent_count = 0; }

// The state in which mbarriers are left.
static void emu_end_mbarriers() {
  for (int k = 0; k < emu_made_count; ++k) {
    const emu_mbarrier& m = emu_mbarrier_at(emu_made[k].block, emu_made[k].at);
    if (m.bytes || m.pending != m.count)
      emu_report("an mbarrier of block %u lacks %d arrivals and %d bytes", emu_first_block + emu_made[k].block,
                 (int)m.pending, (int)m.bytes);
    if (m.phase > 1) emu_report("an mbarrier of block %u is used twice", emu_first_block + emu_made[k].block);
  }
}

// --- threads -----------------------------------------------------------------------------------------------------------

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

void emu_leave() {
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

emu_warp& emu_warp_of(int t) {
  return emu_warps[t / emu_block_threads * ((emu_block_threads + 31) / 32) + t % emu_block_threads / 32];
}

static bool emu_runnable(const emu_fiber& f, int t) {
  return f.state == EMU_READY || (f.state == EMU_WARP && emu_warp_of(t).phase != f.phase) ||
         (f.state == EMU_GROUP && emu_groups[f.group].phase != f.phase) ||
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
  for (int k = first; k < end; ++k) {
    const int t = emu_backwards ? first + end - 1 - k : k;
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
    for (int k = 0; k < emu_count; ++k) {
      const int t = emu_backwards ? emu_count - 1 - k : k;
      threadIdx.x = t % emu_block_threads;
      blockIdx.x = emu_first_block + t / emu_block_threads;
      emu_body();
    }
    return;
  }
  memset(emu_warps, 0, sizeof emu_warps);
  memset(emu_groups, 0, sizeof emu_groups);
  emu_cluster_phase = 1;
  emu_cluster_arrived = 0;
  emu_begin_mbarriers();
  emu_begin_copies();
  for (int t = 0; t < emu_count; ++t) emu_prepare(t);
  const int n = emu_block_threads, warps = (n + 31) / 32, blocks = emu_count / n;
  do {
    for (bool moved = true; moved;) {
      moved = false;
      for (int k = 0; k < warps * blocks; ++k) {  // each warp goes as far ahead of the others as it can
        const int w = emu_backwards ? warps * blocks - 1 - k : k, first = w / warps * n + w % warps * 32;
        const int end = first + 32 < (w / warps + 1) * n ? first + 32 : (w / warps + 1) * n;
        while (emu_run_warp(first, end)) moved = true;
      }
    }
  } while (emu_release());
}

void emu_barrier(int line) {
  emu_fibers[emu_now].state = EMU_BARRIER;
  emu_fibers[emu_now].line = line;
  emu_leave();
}

// All of so many lanes of the warp wait for each other.
void emu_meet(emu_warp& w, int lanes) {
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

// All of so many neighbouring threads wait for each other.
void emu_meet_group(int threads) {
  emu_fiber& f = emu_fibers[emu_now];
  f.group = emu_now / threads;
  emu_warp& g = emu_groups[f.group];
  f.phase = g.phase;
  if (++g.arrived == threads) {
    g.arrived = 0;
    ++g.phase;
  } else {
    f.state = EMU_GROUP;
    emu_leave();
  }
}

// --- launches ----------------------------------------------------------------------------------------------------------

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
    emu_first_block = (unsigned)(blocks % 2 ? blocks - cluster - b : b);
    emu_backwards = (emu_first_block / cluster / 2 + blocks) % 2;
    emu_shared_of = 0;
    if (__start_emu_shared) memset(__start_emu_shared, 0xff, emu_shared_bytes);
    memset(emu_dynamic, 0xff, dynamic);
    for (int k = 0; k < cluster && cluster > 1; ++k) memset(emu_saved[k], 0xff, emu_shared_bytes + dynamic);
    emu_run_block();
  }
  return emu_error[0] != 0;
}

// The same, one launch at a time.
int emu_launch(void** args, void (*body)(), long long blocks, int threads, int cluster, int dynamic, int uses_fibers) {
  while (__sync_lock_test_and_set(&emu_lock, 1)) sched_yield();
  emu_args = args;
  const int error = emu_run(body, blocks, threads, cluster, dynamic, uses_fibers);
  __sync_lock_release(&emu_lock);
  return error;
}
