// Asynchronous copies to shared memory: a part of cuda_emulation.h.
//
// In every second cluster of blocks (or block) what is copied comes at once. In the others it is read and comes when its
// thread waits for it.
//
// Reported: a misaligned copy, one that is not to shared memory, and a thread that ends before all has come.
#pragma once

struct emu_copy {
  char* to;
  const char* from;
  int bytes, group;
};

struct emu_copies {  // of a thread, those that have not come
  emu_copy* list;
  int count, room, groups;
};

inline emu_copies emu_copying[EMU_THREADS];

template <int N> static void fw_copy_async(void* to, const void* from) {
  static_assert(N == 4 || N == 8 || N == 16, "bytes that a GPU copies");
  if ((uintptr_t)to % N || (uintptr_t)from % N) emu_report("a misaligned copy of %d bytes from %p to %p", N, from, to);
  const size_t fixed = (char*)to - __start_emu_shared, dynamic = (char*)to - emu_dynamic;
  if (fixed + N > emu_shared_bytes && dynamic + N > emu_dynamic_bytes) {
    emu_report("a copy of %d bytes to what is not shared memory", N);
    return;
  }
  if (emu_first_block / (emu_count / emu_block_threads) % 2) {
    memcpy(to, from, N);
    return;
  }
  emu_copies& c = emu_copying[emu_now];
  if (c.count == c.room) {
    c.room = 2 * c.room + 16;
    c.list = (emu_copy*)realloc(c.list, c.room * sizeof *c.list);
  }
  c.list[c.count++] = {(char*)to, (const char*)from, N, c.groups};
}

static inline void fw_copy_commit() { ++emu_copying[emu_now].groups; }

template <int N> static void fw_copy_wait() {
  emu_copies& c = emu_copying[emu_now];
  int left = 0;
  for (int k = 0; k < c.count; ++k) {
    const emu_copy x = c.list[k];
    if (x.group < c.groups - N)
      memcpy(x.to, x.from, x.bytes);
    else
      c.list[left++] = x;
  }
  c.count = left;
}
