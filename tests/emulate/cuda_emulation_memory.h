// Accesses to memory: a part of cuda_emulation.h.
#pragma once

template <class T> static const T* emu_aligned(const T* p) {
  if ((uintptr_t)p % sizeof(T)) emu_report("access of %d bytes at %p, which is misaligned", (int)sizeof(T), (void*)p);
  return p;
}

template <class T> static T emu_get(const T* p) {
  T x;
  memcpy(&x, emu_aligned(p), sizeof x);
  return x;
}

template <class T> static void emu_put(T* p, T x) { memcpy((T*)emu_aligned(p), &x, sizeof x); }

template <class T> static T __ldg(const T* p) { return emu_get(p); }
template <class T> static T __ldcs(const T* p) { return emu_get(p); }
template <class T> static T __ldcg(const T* p) { return emu_get(p); }
template <class T> static T fw_read(const T* p) { return emu_get(p); }
template <class T, class U> static void __stcs(T* p, U x) { emu_put(p, (T)x); }
template <class T, class U> static void fw_write(T* p, U x) { emu_put(p, (T)x); }
static inline void fw_prefetch(const void*) {}
static inline void fw_after_launch() {}  // launches follow one another
static inline void fw_next_launch() {}
static inline void fw_fail() { emu_failed = 1; }
