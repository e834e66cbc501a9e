"""Device functions with which the blocks of a cluster send to each other (`cuda_cluster.py`), for `cuda_prelude.py`.

An mbarrier and what it guards are in shared memory; `mapa` tells where another block of the cluster has them. A wait
has the block as its scope, since what has come is in its own memory; the cluster's scope would empty the L1 cache too.
"""

from __future__ import annotations

# name -> (names it needs, text), as in `cuda_prelude.py`
PORTABLE: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_cluster_begin": (
        ("fw_cluster_arrive", "fw_mbarrier_init"),
        """\
// what a block does first: make its mbarriers, at which each of its warps arrives
{fn} void fw_cluster_begin(unsigned long long* m, int count, int warps) {
  if (threadIdx.x == 0) {
#pragma unroll
    for (int k = 0; k < count; ++k) fw_mbarrier_init(m + k, warps);
    fw_mbarrier_fence();
  }
  fw_cluster_arrive();
}""",
    ),
    "fw_cluster_receive": (
        ("fw_mbarrier_wait",),
        """\
// wait for all threads of the block, and for the bytes that are sent to it
{fn} void fw_cluster_receive(unsigned long long* m, int bytes) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) fw_mbarrier_expect(m, threadIdx.x == 0 ? bytes : 0);
  fw_mbarrier_wait(m);
}""",
    ),
}

DEVICE: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_cluster_arrive": (
        (),
        """\
// all blocks of the cluster have begun, and their mbarriers are made; other memory is not ordered
{fn} void fw_cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
{fn} void fw_cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }""",
    ),
    "fw_mbarrier_init": (
        (),
        """\
// an mbarrier that so many threads arrive at, and a fence: other blocks see it after fw_cluster_arrive and _wait
{fn} void fw_mbarrier_init(unsigned long long* m, int count) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(m);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}
{fn} void fw_mbarrier_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }""",
    ),
    "fw_mbarrier_wait": (
        (),
        """\
// arrive, and say that so many bytes more will come; and wait until all threads and all bytes have
{fn} void fw_mbarrier_expect(unsigned long long* m, int bytes) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(m);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
{fn} void fw_mbarrier_wait(unsigned long long* m) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(m);
  unsigned done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(at) : "memory");
  } while (!done);
}""",
    ),
    "fw_cluster_send": (
        (),
        """\
// x to where block `rank` of the cluster has what `p` is in this block's shared memory; `m` there counts its bytes
{fn} unsigned fw_cluster_at(const void* p, int rank) {
  const unsigned mine = (unsigned)__cvta_generic_to_shared(p);
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(mine), "r"(rank));
  return at;
}
"""
        + "\n".join(
            f"""\
{{fn}} void fw_cluster_send({t}* p, {t} x, unsigned long long* m, int rank) {{
  const unsigned at = fw_cluster_at(p, rank), there = fw_cluster_at(m, rank);
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{kind} [%0], %1, [%2];"
               ::"r"(at), "{c}"(x), "r"(there) : "memory");
}}"""
            for t, kind, c in (
                ("float", "f32", "f"),
                ("double", "f64", "d"),
                ("int", "s32", "r"),
                ("unsigned", "u32", "r"),
                ("long long", "s64", "l"),
            )
        ),
    ),
}

__all__ = ["DEVICE", "PORTABLE"]
