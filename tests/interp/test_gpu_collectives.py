"""What the collectives of clusters and of scans mean, and what the interpreter reports of them."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, numpy_type
from fusewright.interp.loop import run
from fusewright.interp.values import InterpError
from fusewright.loop.ir import Func
from fusewright.loop.text import parse
from fusewright.loop.verify import verify
from fusewright.prims.table import MONOIDS


def execute(text: str, buffers: dict[str, np.ndarray], checked: bool = True) -> Func:
    func = parse(text)
    if checked:
        verify(func)
    assert not run(func, buffers)
    return func


def scanned(x: np.ndarray, monoid: str, group: int, stride: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """(what comes before, all) of each thread, in two blocks."""
    n = x.size // 2
    text = f"""func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, buf z: {dtype} out) {{ grid b of 2, t of {n} {{
      i: i32 = mul(b, {n}) at: i32 = add(i, t) v: {dtype} = load(x, at)
      s: {dtype}x2 = tscan(v) {{{monoid}, {group}, {stride}}}
      p: {dtype} = lane(s) {{0}} a: {dtype} = lane(s) {{1}} store y[at] = p store z[at] = a }} }}"""
    y, z = np.zeros_like(x), np.zeros_like(x)
    execute(text, {"x": x, "y": y, "z": z})
    return y, z


@pytest.mark.parametrize(
    "group, stride", [(1, 1), (8, 1), (32, 1), (128, 1), (8, 8), (2, 32), (4, 2), (16, 8), (2, 64)]
)
def test_tscan(group: int, stride: int) -> None:
    """Bit for bit: the order is part of the IR."""
    x = np.random.default_rng(group).normal(size=256).astype(np.float32)
    before, total = np.zeros_like(x), np.zeros_like(x)
    segment = min(group, max(32 // stride, 1))
    for t in range(256):
        first = t - t // stride % group * stride
        part = x[first : first + group * stride : stride].copy()
        base, ends = np.float32(0), []
        for k in range(0, group, segment):
            step = 1
            while step < segment:
                piece = part[k : k + segment].copy()
                piece[step:] = piece[:-step] + piece[step:]
                part[k : k + segment] = piece
                step *= 2
            ends.append(base)
            base = base + part[k + segment - 1]
        j = t // stride % group
        before[t] = ends[j // segment] + (part[j - 1] if j % segment else np.float32(0))
        total[t] = base
    got = scanned(x, "sum", group, stride, "f32")
    np.testing.assert_array_equal(got[0], before)
    np.testing.assert_array_equal(got[1], total)


@pytest.mark.parametrize("dtype", ["f64", "i64", "i32", "i8", "u8", "bool"])
def test_tscan_monoids(dtype: str) -> None:
    d = BY_NAME[dtype]
    x = np.random.default_rng(1).integers(0, 2 if d.is_bool else 100, 256).astype(numpy_type(d))
    for monoid in ("any", "all", "max", "min") if d.is_bool else ("sum", "prod", "max", "min"):
        m = MONOIDS[monoid]
        with np.errstate(over="ignore"):
            sums = m.numpy.accumulate(x.reshape(-1, 64), axis=1, dtype=x.dtype)
        start = np.full((4, 1), m.identity(d), x.dtype)
        before, total = scanned(x, monoid, 64, 1, dtype)
        check = np.testing.assert_allclose if d.is_float else np.testing.assert_array_equal
        check(before, np.concatenate([start, sums[:, :-1]], 1).ravel())
        check(total, np.repeat(sums[:, -1:], 64, 1).ravel())


def test_hscan_and_lane() -> None:
    x = np.array([1, 2, 3, 4, np.nan, 6, 7, 8], np.float32)
    y, z = np.zeros(8, np.float32), np.zeros(2, np.float32)
    execute(
        """func k cuda i32 (buf x: f32, buf y: f32 out, buf z: f32 out) { grid b of 1, t of 2 {
      at: i32 = mul(t, 4) v: f32x4 = load(x, at) s: f32x4 = hscan(v) {sum} store y[at] = s
      l: f32 = lane(v) {2} store z[t] = l } }""",
        {"x": x, "y": y, "z": z},
    )
    np.testing.assert_array_equal(y, np.cumsum(x.reshape(2, 4), 1).ravel())
    np.testing.assert_array_equal(z, [3, 7])


# --- clusters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cluster", [2, 4, 8])
@pytest.mark.parametrize("group, stride", [(1, 1), (4, 1), (8, 1), (2, 4), (2, 2)])
def test_creduce(cluster: int, group: int, stride: int) -> None:
    """Each cluster's values, from its first block on; in a block, those of the groups stay apart."""
    blocks = 2 * cluster
    x = np.random.default_rng(cluster).normal(size=(blocks, 8, 2)).astype(np.float32)
    for t in range(8):  # the same within a group
        x[:, t] = x[:, t - t // stride % group * stride]
    y = np.zeros(x.size, np.float32)
    text = f"""func k cuda i32 (buf x: f32, buf y: f32 out) {{ grid b of {blocks}, t of 8 cluster {cluster} {{
      i: i32 = mul(b, 8) j: i32 = add(i, t) at: i32 = mul(j, 2) v: f32x2 = load(x, at)
      s: f32x2 = creduce(v) {{sum, {group}, {stride}}} store y[at] = s }} }}"""
    execute(text, {"x": x.ravel(), "y": y})
    want = np.empty_like(x)
    for k in range(0, blocks, cluster):
        total = x[k]
        for r in range(1, cluster):
            total = total + x[k + r]
        want[k : k + cluster] = total
    np.testing.assert_array_equal(y, want.ravel())


def test_blocks_of_a_cluster_have_memory_of_their_own() -> None:
    y = np.zeros(16, np.int32)
    execute(
        """func k cuda i32 (buf y: i32 out) { alloc tile: i32[4] block alloc reg: i32[1] register
      grid b of 4, t of 4 cluster 2 {
        i: i32 = mul(b, 4) at: i32 = add(i, t) store tile[t] = at store reg[0] = b
        c: bool = gt(b, 1) if c { barrier "all of this block" } else { barrier "and of this" }
        o: i32 = sub(3, t) v: i32 = load(tile, o) u: i32 = load(reg, 0) w: i32 = mul(u, 100) z: i32 = add(v, w)
        store y[at] = z } }""",
        {"y": y},
    )
    np.testing.assert_array_equal(y, [k // 4 * 100 + k // 4 * 4 + 3 - k % 4 for k in range(16)])


HEAD = "func k cuda i32 (buf x: f32, buf y: f32 out) { alloc tile: f32[4] block grid b of 4, t of 4 cluster 2 {"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "f: f32 = cast(t) s: f32 = creduce(f) {sum, 2, 1}",
            "creduce of a value that differs from that of other threads of its group, in 's: f32 = creduce(f) "
            "{sum, 2, 1}', by thread 1 of block 0",
        ),
        (
            "c: bool = eq(b, 0) if c { s: f32 = creduce(1.0:f32) {sum, 4, 1} }",
            "creduce reached by 4 of 8 threads, in 's: f32 = creduce(1.0:f32) {sum, 4, 1}', by thread 0 of block 1",
        ),
        (
            'c: bool = eq(b, 0) d: bool = lt(t, 3) if c { } else { if d { barrier "x" } }',
            "barrier reached by 3 of 4 threads, in 'barrier \"x\"', by thread 3 of block 1",
        ),
        (
            "c: bool = eq(t, 2) if c { store y[b] = 1.0:f32 } s: f32 = creduce(1.0:f32) {sum, 4, 1} "
            "i: i32 = sub(1, b) v: f32 = load(y, i)",
            "race: block 0 reads element 1 of 'y', which block 1 wrote in this launch, in 'v: f32 = load(y, i)', by "
            "thread 0 of block 0",
        ),
        (
            "store tile[t] = 1.0:f32 o: i32 = sub(3, t) c: bool = eq(b, 1) if c { v: f32 = load(tile, o) }",
            "race: thread 0 reads element 3 of 'tile', which thread 3 wrote with no barrier between, in "
            "'v: f32 = load(tile, o)', by thread 0 of block 1",
        ),
        (
            'c: bool = eq(b, 0) store tile[t] = 1.0:f32 if c { barrier "x" } o: i32 = sub(3, t) v: f32 = load(tile, o)',
            "race: thread 0 reads element 3 of 'tile', which thread 3 wrote with no barrier between, in "
            "'v: f32 = load(tile, o)', by thread 0 of block 1",
        ),
        (
            "i: i32 = add(t, b) v: f32 = load(tile, i)",
            "index 4 is outside buffer",
        ),
    ],
)
def test_what_is_reported(body: str, message: str) -> None:
    with pytest.raises(InterpError) as caught:
        execute(f"{HEAD} {body} }} }}", {"x": np.zeros(4, np.float32), "y": np.zeros(4, np.float32)}, checked=False)
    if message.startswith("index"):
        assert "index 4 is outside buffer 'tile' of 4 elements" in str(caught.value)
        return
    assert str(caught.value) == f"{message}, in pass 'run loop 'k''"


def test_a_creduce_orders_the_memory_of_its_block() -> None:
    body = "store tile[t] = 1.0:f32 s: f32 = creduce(1.0:f32) {sum, 4, 1} o: i32 = sub(3, t) v: f32 = load(tile, o)"
    execute(f"{HEAD} {body} }} }}", {"x": np.zeros(4, np.float32), "y": np.zeros(4, np.float32)})


def test_part_of_a_cluster() -> None:
    text = "func k cuda i32 (size n, buf y: f32 out) { grid b of n, t of 1 cluster 4 { } }"
    with pytest.raises(InterpError, match="a launch of 6 blocks in clusters of 4"):
        run(parse(text), {"y": np.zeros(1, np.float32)}, {"n": 6})
