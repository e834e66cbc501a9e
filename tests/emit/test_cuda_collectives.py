"""Collectives of clusters, and scans: what CUDA kernels do in the emulation is, bit for bit, what the IR says."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME
from fusewright.emit.cuda import emit_cuda
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


@pytest.mark.parametrize("dtype, monoid", KINDS)
def test_hscan_and_lane(dtype: str, monoid: str) -> None:
    text = f"""func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, buf z: {dtype} out) {{ grid b of 1, t of 32 {{
      at: i32 = mul(t, 4) v: {dtype}x4 = load(x, at) s: {dtype}x4 = hscan(v) {{{monoid}}} store y[at] = s
      a: {dtype} = lane(s) {{3}} c: {dtype} = lane(v) {{1}} e: {dtype}x4 = splat(a)
      store z[at] = e store z[at] = c }} }}"""
    x = _values(dtype, monoid, 128)
    both(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)})


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


def test_one_barrier_for_each_reduction_and_one_at_the_end() -> None:
    y = both(TWO, {"y": np.zeros(256, np.float32)})["y"]
    np.testing.assert_array_equal(y, np.repeat(np.float32([1, 15]), 128))
    source = emit_cuda(parse(TWO), H100)
    body = source[source.index('extern "C"') :]
    assert "__cluster_dims__(2, 1, 1) __launch_bounds__(64)" in body
    assert body.count("fw_slot0") == body.count("fw_slot1") == 2
    assert body.index("fw_slot1);") < body.index("fw_cluster_arrive();") < body.index("y[at] = c")
    assert body.rstrip("}\n ").splitlines()[-1].startswith("  fw_cluster_wait();")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  fw_cluster_wait();  // a", "  // a", "block . has ended when it is read"),
        ("  fw_cluster_arrive();  // this", "  if (t > 3) fw_cluster_arrive();  // this", "without having arrived"),
    ],
)
def test_the_emulation_reports_what_a_cluster_does_not_wait_for(old: str, new: str, message: str) -> None:
    """A block that leaves too early, and threads that do not take part."""
    func = parse(TWO)
    source = emit_cuda(func, H100)
    assert source.count(old) == 1
    memory = Memory(BY_NAME["f32"], 256)
    with pytest.raises(EmulationError, match=message):
        EmulatedKernel(func, source=source.replace(old, new)).launch([memory.pointer], [])
