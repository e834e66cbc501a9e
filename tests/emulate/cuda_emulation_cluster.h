// What blocks know of each other: counters; clusters, and the mbarriers at which a block waits for what others send. A part of cuda_emulation.h.
//
// What is sent arrives at once in every second cluster. In the others it arrives as late as can be, when no thread can go
// on without it, and the last first.
//
// Reported: a thread that sends or uses an mbarrier before it has waited for its cluster, an mbarrier that was not made, or
// not fenced, a block of which threads have ended when something arrives, and mbarriers at which arrivals or bytes are
// missing or too many, or that are used twice.
#pragma once

// Blocks run one after the other, and see what those before have stored.
static inline void __threadfence() {}
static inline unsigned atomicInc(unsigned* p, unsigned most) {
  const unsigned old = *p;
  *p = old >= most ? 0 : old + 1;
  return old;
}

template <class T, class V> static inline void atomicAdd(T* p, V value) { *p += value; }
template <class T, class V> static inline void atomicMax(T* p, V value) { *p = *p < (T)value ? (T)value : *p; }
template <class T, class V> static inline void atomicMin(T* p, V value) { *p = (T)value < *p ? (T)value : *p; }

// All threads of the cluster wait for each other, in two steps.
static inline void fw_cluster_arrive() {
  emu_fiber& f = emu_fibers[emu_now];
  if (f.unfenced) emu_report("a thread has made mbarriers without a fence when its cluster meets");
  f.arrived = emu_cluster_phase;
  if (++emu_cluster_arrived == emu_count) {
    emu_cluster_arrived = 0;
    ++emu_cluster_phase;
  }
}
static inline void fw_cluster_wait() {
  emu_fiber& f = emu_fibers[emu_now];
  if (!f.arrived) emu_report("a thread waits for its cluster without having arrived");
  f.phase = f.arrived;
  f.arrived = 0;
  if (emu_cluster_phase == f.phase) {
    f.state = EMU_CLUSTER;
    emu_leave();
  }
  f.met = true;
}

// --- mbarriers ---------------------------------------------------------------------------------------------------

static const uint64_t EMU_MADE = 0xa5b;
struct emu_mbarrier {
  uint64_t made : 12;     // EMU_MADE
  uint64_t phase : 4;     // how many are complete
  uint64_t count : 12;    // arrivals that complete a phase
  uint64_t pending : 12;  // those of them still to come
  int64_t bytes : 24;     // expected and not received
};
static_assert(sizeof(emu_mbarrier) == 8, "what a kernel declares for one");

struct emu_message {
  int block, bytes;
  size_t at, mbarrier;
  char value[8];
};

struct emu_place {
  int block;
  size_t at;
};

static const int EMU_MOST_MBARRIERS = 1024;
inline emu_place emu_made[EMU_MOST_MBARRIERS];
inline emu_message* emu_sent;
inline int emu_made_count, emu_sent_count, emu_sent_room;

char* emu_memory(int block, size_t at);
size_t emu_shared_at(const void* p, size_t bytes);
emu_mbarrier& emu_own(const unsigned long long* m);
bool emu_complete(emu_mbarrier& m);
bool emu_passed(int t);
bool emu_deliver();

static inline void fw_mbarrier_init(unsigned long long* p, int count) {
  const size_t at = emu_shared_at(p, 8);
  emu_mbarrier& m = *(emu_mbarrier*)emu_memory(emu_shared_of, at);
  if (m.made == EMU_MADE) emu_report("an mbarrier of block %u is made twice", blockIdx.x);
  m = {EMU_MADE, 0, (uint64_t)count, (uint64_t)count, 0};
  if (emu_made_count < EMU_MOST_MBARRIERS) emu_made[emu_made_count++] = {emu_shared_of, at};
  emu_fibers[emu_now].unfenced = true;
}
static inline void fw_mbarrier_fence() { emu_fibers[emu_now].unfenced = false; }

static inline void fw_mbarrier_expect(unsigned long long* p, int bytes) {
  emu_mbarrier& m = emu_own(p);
  if (bytes < 0 || bytes >= 1 << 20) emu_report("%d bytes are expected at an mbarrier", bytes);
  m.bytes += bytes;
  --m.pending;
  emu_complete(m);
}

static inline void fw_mbarrier_wait(unsigned long long* p) {
  emu_own(p);
  emu_fiber& f = emu_fibers[emu_now];
  f.mbarrier = emu_shared_at(p, 8);
  if (emu_passed(emu_now)) return;
  f.state = EMU_MBARRIER;
  emu_leave();
}

template <class T> static void fw_cluster_send(T* p, T x, unsigned long long* m, int rank) {
  if (!emu_fibers[emu_now].met) emu_report("a thread sends before it has waited for its cluster");
  if (rank < 0 || rank >= emu_count / emu_block_threads) {
    emu_report("a thread sends to block %d of its cluster", rank);
    return;
  }
  if (emu_sent_count == emu_sent_room) {
    emu_sent_room = 2 * emu_sent_room + 64;
    emu_sent = (emu_message*)realloc(emu_sent, emu_sent_room * sizeof *emu_sent);
  }
  emu_message& s = emu_sent[emu_sent_count++];
  s = {rank, (int)sizeof x, emu_shared_at(p, sizeof x), emu_shared_at(m, 8)};
  memcpy(s.value, &x, sizeof x);
  if (emu_first_block / (emu_count / emu_block_threads) % 2) emu_deliver();
}
