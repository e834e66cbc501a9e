"""Asynchronous copies to shared memory (`cuda_own.py`), for `cuda_prelude.py`."""

from __future__ import annotations

# name -> (names it needs, text), as in `cuda_prelude.py`
DEVICE: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_copy_async": (
        (),
        """\
// begin to copy N bytes to shared memory; 16 go past the L1 cache
template <int N> {fn} void fw_copy_async(void* to, const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if (N == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(N) : "memory");
}
{fn} void fw_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> {fn} void fw_copy_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }""",
    ),
}

__all__ = ["DEVICE"]
