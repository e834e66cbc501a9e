"""Collectives of clusters, and scans: what CUDA kernels do in the emulation is, bit for bit, what the IR says."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.build import nvrtc
from fusewright.core.dtypes import BY_NAME
from fusewright.emit.cuda import emit_cuda, launches
from fusewright.loop.text import parse
from tests.emulate.checks import both, stored_values
from tests.emulate.cuda import COMPILER, H100, MISSING, EmulatedKernel, EmulationError, Memory

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

KINDS = [
    *((d, m) for d in ("f32", "f64", "i64", "i32", "u32", "i16", "i8", "u8") for m in ("sum", "max")),
    *(("f32", "prod"), ("f32", "min"), ("bool", "any"), ("bool", "all")),
]
SCANS = [  # group, stride, threads
    *((1, 1, 32), (2, 1, 32), (32, 1, 64), (8, 4, 64), (4, 8, 32)),  # within a warp
    *((64, 1, 64), (128, 1, 256), (1024, 1, 1024), (32, 2, 128), (8, 8, 128), (32, 32, 1024)),  # warps
    *((2, 64, 256), (4, 32, 128)),
]
CLUSTERS = [  # group, stride, lanes, threads, cluster
    *(
        (128, 1, 1, 128, 2),
        (32, 1, 1, 128, 4),
        (1, 1, 1, 32, 2),
        (8, 16, 1, 128, 8),
        (4, 8, 3, 64, 2),
        (64, 1, 4, 64, 8),
    ),
    *((24, 1, 1, 48, 2), (1024, 1, 1, 1024, 8)),
]


def _values(dtype: str, monoid: str, n: int) -> np.ndarray:
    d = BY_NAME[dtype]
    if d.is_bool:
        return np.random.default_rng(1).random(n) < (0.03 if monoid == "any" else 0.97)
    x = stored_values(d, n)
    if monoid == "prod":
        return np.exp(x / 8)
    if d.is_float and monoid != "sum":
        x[5::1000] = np.nan
    return x


@pytest.mark.every(9)
@pytest.mark.parametrize("dtype, monoid", KINDS)
def test_tscan(dtype: str, monoid: str) -> None:
    """Twice in a row and once in a loop: the scratch is used again."""
    launches, first = [], 0
    for group, stride, threads in SCANS:
        how = f"{{{monoid}, {group}, {stride}}}"
        launches.append(f"""grid b of 2, t of {threads} {{
          i: i32 = mul(b, {threads}) j: i32 = add(i, t) at: i32 = add(j, {first}) v: {dtype} = load(x, at)
          s: {dtype}x2 = tscan(v) {how} p: {dtype} = lane(s) {{0}} a: {dtype} = lane(s) {{1}}
          store y[at] = p var last: {dtype} = a
          for r in 0 .. 3 step 1 {{ u: {dtype}x2 = tscan(last) {how} w: {dtype} = lane(u) {{0}} set last = w }}
          store z[at] = last }}""")
        first += 2 * threads
    x = _values(dtype, monoid, first)
    text = f"func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, buf z: {dtype} out) {{ {' '.join(launches)} }}"
    both(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)})


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype, monoid", KINDS)
def test_hscan_and_lane(dtype: str, monoid: str) -> None:
    text = f"""func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, buf z: {dtype} out) {{ grid b of 1, t of 32 {{
      at: i32 = mul(t, 4) v: {dtype}x4 = load(x, at) s: {dtype}x4 = hscan(v) {{{monoid}}} store y[at] = s
      a: {dtype} = lane(s) {{3}} c: {dtype} = lane(v) {{1}} e: {dtype}x4 = splat(a)
      store z[at] = e store z[at] = c }} }}"""
    x = _values(dtype, monoid, 128)
    both(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)})


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype, monoid", KINDS)
def test_creduce(dtype: str, monoid: str) -> None:
    """Twice, behind a reduction of the block and alone, then one that only some clusters do."""
    launches, first = [], 0
    for group, stride, lanes, threads, cluster in CLUSTERS:
        w = f"x{lanes}" if lanes > 1 else ""
        how = f"{{{monoid}, {group}, {stride}}}"
        launches.append(f"""grid b of {2 * cluster}, t of {threads} cluster {cluster} {{
          i: i32 = mul(b, {threads}) j: i32 = add(i, t) own: i32 = mul(j, {lanes}) at: i32 = add(own, {first})
          v: {dtype}{w} = load(x, at) a: {dtype}{w} = treduce(v) {how} c: {dtype}{w} = creduce(a) {how}
          store y[at] = c e: {dtype}{w} = treduce(c) {how} f: {dtype}{w} = creduce(e) {how} store z[at] = f
          r: i32 = udiv(b, {cluster}) first: bool = eq(r, 0)
          if first {{ g: {dtype}{w} = creduce(f) {how} store y[at] = g }} }}""")
        first += 2 * cluster * threads * lanes
    x = _values(dtype, monoid, first)
    text = f"func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, buf z: {dtype} out) {{ {' '.join(launches)} }}"
    both(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)})


TWO = """func k cuda i32 (buf y: f32 out) { grid b of 4, t of 64 cluster 2 {
  i: i32 = mul(b, 64) at: i32 = add(i, t) f: f32 = cast(b) a: f32 = creduce(f) {sum, 64, 1}
  e: f32 = mul(a, f) c: f32 = creduce(e) {max, 64, 1} store y[at] = c } }"""


def test_the_blocks_of_a_cluster_wait_for_each_other_before_the_first_reduction_only() -> None:
    y = both(TWO, {"y": np.zeros(256, np.float32)})["y"]
    np.testing.assert_array_equal(y, np.repeat(np.float32([1, 15]), 128))
    source = emit_cuda(parse(TWO), H100)
    body = source[source.index('extern "C"') :]
    assert "__cluster_dims__(2, 1, 1) __launch_bounds__(64)" in body
    lines = [line.strip() for line in body.splitlines()]
    begin, wait = lines.index("fw_cluster_begin(fw_mbarrier, 2, 2);"), lines.index(WAIT.strip())
    assert lines[begin - 1] == "__shared__ unsigned long long fw_mbarrier[2];"
    assert begin < wait and lines[wait + 1].endswith("(f, fw_slot0, fw_mbarrier);")
    assert lines[-3:] == [lines[-3], "y[at] = c;", "}"] and lines[-3].endswith("(e, fw_slot1, fw_mbarrier + 1);")
    assert body.count("fw_cluster_begin") == body.count("fw_cluster_wait") == 1
    assert "arrive.relaxed" in source and "barrier.cluster.arrive.release" not in source  # that waits for all stores


WAIT = "  fw_cluster_wait();  // all blocks have made their mbarriers"
GUARDED = """func k cuda i32 (buf y: f32 out) { grid b of 6, t of 64 cluster 2 {
  i: i32 = mul(b, 64) at: i32 = add(i, t) f: f32 = cast(b) r: i32 = udiv(b, 2) c: bool = ne(r, 1) var v: f32 = f
  if c { a: f32 = creduce(f) {sum, 64, 1} set v = a } else { d: f32 = creduce(f) {max, 64, 1} set v = d }
  store y[at] = v } }"""


def test_reductions_that_only_some_clusters_reach() -> None:
    y = both(GUARDED, {"y": np.zeros(384, np.float32)})["y"]
    np.testing.assert_array_equal(y, np.repeat(np.float32([1, 3, 9]), 128))
    lines = [line.strip() for line in emit_cuda(parse(GUARDED), H100).splitlines()]
    assert lines.count(WAIT.strip()) == 1 and lines[lines.index(WAIT.strip()) + 1] == "if (c) {"


def test_groups_of_two_launches_with_other_threads() -> None:
    """Their functions differ in how much a block receives."""
    grids = [
        f"grid b of 4, t of {n} cluster 2 {{ i: i32 = mul(b, {n}) at: i32 = add(i, t) v: f32 = load(x, at) "
        f"a: f32 = treduce(v) {{sum, 32, 1}} s: f32 = creduce(a) {{sum, 32, 1}} store {out}[at] = s }}"
        for n, out in ((64, "y"), (128, "z"))
    ]
    x = _values("f32", "sum", 512)
    text = f"func k cuda i32 (buf x: f32, buf y: f32 out, buf z: f32 out) {{ {' '.join(grids)} }}"
    both(text, {"x": x, "y": np.zeros(256, np.float32), "z": np.zeros(512, np.float32)})


def test_slots_that_are_more_than_a_kernel_may_declare() -> None:
    text = """func k cuda i32 (buf x: f64, buf y: f64 out, buf z: f32 out) { alloc tile: f32[1024] block
      grid b of 16, t of 1024 cluster 8 { i: i32 = mul(b, 1024) at: i32 = add(i, t) v: f64 = load(x, at)
      s: f64 = creduce(v) {sum, 1, 1} store y[at] = s
      f: f32 = cast(b) store tile[t] = f c: f32 = creduce(f) {max, 512, 1} o: i32 = sub(1023, t)
      w: f32 = load(tile, o) e: f32 = sub(c, w) store z[at] = e } }"""
    x = _values("f64", "sum", 16384)
    y = both(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros(16384, np.float32)})
    np.testing.assert_array_equal(y["z"], np.repeat(np.tile(np.arange(7, -1, -1, dtype=np.float32), 2), 1024))
    (launch,) = launches(parse(text))
    assert launch.shared == 1024 * 4 + 1024 * 8 * 8 + 2 * 8 * 4


ORDERS = """func k cuda i32 (buf y: f32 out) { alloc tile: f32[128] block grid b of 8, t of 128 cluster 2 {
  i: i32 = mul(b, 128) at: i32 = add(i, t) o: i32 = sub(127, t) n: i32 = add(t, 1) p: i32 = min(n, 127)
  f: f32 = cast(at) c: f32 = creduce(1.0:f32) {sum, 128, 1} store tile[t] = f s: f32 = creduce(c) {max, 128, 1}
  u: f32 = load(tile, o) v: f32 = load(tile, p) w: f32 = sub(u, v) x: f32 = mul(w, s) store y[at] = x } }"""


def _emulated(text: str, count: int, *changes: tuple[str, str]) -> np.ndarray:
    """The float32 buffer that the kernel fills, with its source changed."""
    func = parse(text)
    source = emit_cuda(func, H100)
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    memory = Memory(BY_NAME["f32"], count)
    EmulatedKernel(func, source=source).launch([memory.pointer], [])
    return memory.values()


def test_a_creduce_is_a_barrier_of_its_block() -> None:
    """Because each warp arrives when all of its threads have."""
    want = both(ORDERS, {"y": np.zeros(1024, np.float32)})["y"]
    t = np.arange(128)
    np.testing.assert_array_equal(want, np.tile(2 * (127 - t - np.minimum(t + 1, 127)).astype(np.float32), 8))
    one_warp = ("if (threadIdx.x % 32 == 0)", "if (threadIdx.x == 0)"), ("fw_mbarrier, 2, 4)", "fw_mbarrier, 2, 1)")
    assert not np.array_equal(_emulated(ORDERS, 1024, *one_warp), want)
    no_lanes = ("  __syncwarp();\n", "")
    assert not np.array_equal(_emulated(ORDERS, 1024, no_lanes), want)


RECEIVE = "  fw_cluster_receive(m, 8);\n  x = slot[0];\n  #pragma unroll\n  for (int r = 1; r < 2; ++r) {\n"
ADDS = RECEIVE + "    const float y = slot[r];\n    x = x + y;"
SENDS = "  if (p < 2) fw_cluster_send(slot + us, x, m, p);\n"


@pytest.mark.every(4)
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (WAIT, "", "a thread sends before it has waited for its cluster"),
        (WAIT, "  fw_cluster_wait();\n" + WAIT, "waits for its cluster without having arrived"),
        ("  fw_cluster_begin(", "  if (t > 3) fw_cluster_begin(", "waits for its cluster without having arrived"),
        (WAIT, "  if (b != 1)" + WAIT, "a thread sends before it has waited for its cluster"),
        ("    fw_mbarrier_fence();\n", "", "mbarriers without a fence"),
        ("(fw_mbarrier, 2, 2)", "(fw_mbarrier, 1, 2)", "an mbarrier of block . is used and was not made"),
        ("(fw_mbarrier, 2, 2)", "(fw_mbarrier, 2, 3)", "an mbarrier of block 0 lacks 1 arrivals and 0 bytes"),
        ("(fw_mbarrier, 2, 2)", "(fw_mbarrier, 2, 1)", "block . has ended when what was sent to it arrives"),
        ("fw_mbarrier + 1", "fw_mbarrier", "block . has ended when what was sent to it arrives"),
        (ADDS, ADDS.replace("  fw_cluster_receive(m, 8);\n", ""), "block . has ended when what was sent to it arrives"),
        (SENDS + ADDS, SENDS + ADDS.replace("8", "4"), "block . has ended when what was sent to it arrives"),
        (SENDS + ADDS, SENDS + ADDS.replace("8", "12"), "an mbarrier of block 0 lacks 0 arrivals and 4 bytes"),
        (SENDS + ADDS, SENDS.replace("p <", "p < us + 0 *") + ADDS, "an mbarrier of block 0 lacks"),
    ],
)
def test_the_emulation_reports_what_breaks_a_cluster(old: str, new: str, message: str) -> None:
    """What would hang on a GPU, and memory that is not there yet, or no more."""
    with pytest.raises(EmulationError, match=message):
        _emulated(TWO, 256, (old, new))


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
def test_what_is_emitted_for_clusters_compiles() -> None:
    """Each type of a slot, one value and several, groups of more and of fewer threads than a cluster has blocks."""
    bodies = []
    for k, (dtype, _) in enumerate(dict(KINDS).items()):
        bodies.append(
            f"a{k}: {dtype} = cast(t) c{k}: {dtype} = creduce(a{k}) {{max, 1, 1}} v{k}: {dtype}x2 = splat(c{k}) "
            f"w{k}: {dtype}x2 = creduce(v{k}) {{max, 16, 4}} h{k}: {dtype} = hreduce(w{k}) {{max}} "
            f"f{k}: f64 = cast(h{k}) store y[{k}] = f{k}".replace("max", "any" if dtype == "bool" else "max")
        )
    text = f"func k cuda i32 (buf y: f64 out) {{ grid b of 8, t of 64 cluster 8 {{ {' '.join(bodies)} }} }}"
    cubin, _ = nvrtc.compile(emit_cuda(parse(text), H100), "sm_90")
    (report,) = nvrtc.report(cubin)
    slots = [max(4, BY_NAME[d].itemsize) * 8 * (64 + 2 * 4) for d in dict(KINDS)]
    assert sum(slots) + 8 * 2 * len(slots) <= report.shared <= sum(slots) + 8 * 2 * len(slots) + 1024 + 16
