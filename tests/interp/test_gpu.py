"""CUDA kernels in the Loop IR interpreter: what they compute, and the accesses and meetings it must report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, numpy_type, round_bf16
from fusewright.core.errors import CompilerError
from fusewright.interp.loop import InterpError, run
from fusewright.loop.text import parse
from fusewright.loop.verify import verify
from fusewright.prims import philox

from ..loop.cuda_kernels import COLUMNS, POINTWISE, ROWS, TRANSPOSE


def execute(text: str, buffers: dict[str, np.ndarray], sizes: dict[str, int] | None = None, **kwargs: Any) -> bool:
    func = parse(text)
    verify(func)
    return run(func, buffers, sizes, **kwargs)


def ceil(a: int, b: int) -> int:
    return -(-a // b)


# --- the four shapes -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 7, 8, 512, 1000, 1024])
def test_pointwise(n: int) -> None:
    x = round_bf16(np.random.default_rng(n).normal(size=n).astype(np.float32))
    y = np.full(n, np.nan, np.float32)
    assert not execute(POINTWISE, {"x": x, "y": y}, {"n": n, "blocks": ceil(n, 512)}, hosts={"s": 1.7})
    np.testing.assert_array_equal(y, round_bf16(x * np.float32(1.7)))


@pytest.mark.parametrize("rows, n, blocks", [(1, 4, 1), (5, 1024, 2), (3, 516, 7), (0, 8, 2), (4, 8, 0)])
def test_rows(rows: int, n: int, blocks: int) -> None:
    x = np.random.default_rng(n).normal(size=(rows, n)).astype(np.float32)
    y = np.full(rows * n, np.nan, np.float32)
    execute(ROWS, {"x": x.ravel(), "y": y}, {"rows": rows, "n": n, "blocks": blocks})
    if blocks == 0:
        assert np.isnan(y).all()
        return
    e = np.exp(x - x.max(1, keepdims=True)) if rows else x
    np.testing.assert_allclose(y.reshape(rows, n), e / e.sum(1, keepdims=True), rtol=2e-6)


@pytest.mark.parametrize("rows, n, chunks", [(1, 1, 1), (100, 40, 3), (33, 64, 2), (2, 65, 4)])
def test_columns(rows: int, n: int, chunks: int) -> None:
    x = np.random.default_rng(n).integers(-9, 9, (rows, n)).astype(np.float32)
    y = np.full(n, np.nan, np.float32)
    across = ceil(n, 32)
    sizes = {"rows": rows, "n": n, "chunks": chunks, "across": across, "total": across * chunks, "m": chunks * n}
    execute(COLUMNS, {"x": x.ravel(), "y": y}, sizes)
    np.testing.assert_array_equal(y, x.sum(0))


@pytest.mark.parametrize("rows, n", [(1, 1), (32, 32), (33, 31), (70, 5)])
def test_transpose(rows: int, n: int) -> None:
    x = np.random.default_rng(n).integers(-999, 999, (rows, n)).astype(np.int16)
    y = np.zeros(rows * n, np.int16)
    across = ceil(n, 32)
    execute(
        TRANSPOSE, {"x": x.ravel(), "y": y}, {"rows": rows, "n": n, "across": across, "blocks": across * ceil(rows, 32)}
    )
    np.testing.assert_array_equal(y.reshape(n, rows), x.T)


@pytest.mark.parametrize("kernel, lost", [(TRANSPOSE, '    barrier "tile complete"\n')])
def test_a_lost_barrier_is_found(kernel: str, lost: str) -> None:
    assert lost in kernel
    x, y = np.zeros(1024, np.int16), np.zeros(1024, np.int16)
    with pytest.raises(InterpError, match="race: thread 1 reads element 33 of 'tile', which thread 32 wrote with no"):
        execute(kernel.replace(lost, ""), {"x": x, "y": y}, {"rows": 32, "n": 32, "across": 1, "blocks": 1})


# --- threads ---------------------------------------------------------------------------------------


def per_thread(body: str, threads: int, dtype: str, out: np.ndarray, blocks: int = 1, index: str = "i32") -> np.ndarray:
    """`out` after `body`, which stores to `y`; `at` is the thread's number in the launch."""
    text = f"""func k cuda {index} (buf y: {dtype} out) {{
      alloc reg: f32[4] register
      grid b of {blocks}, t of {threads} {{ first: {index} = mul(b, {threads}) at: {index} = add(first, t) {body} }}
    }}"""
    assert not execute(text, {"y": out})
    return out


def test_branches_leave_vars_of_other_threads_alone() -> None:
    body = """var a: i32 = 7
      odd: i32 = and(t, 1)
      c: bool = eq(odd, 1)
      if c { d: i32 = mul(t, 10) set a = d } else { low: bool = lt(t, 3) if low { set a = t } }
      store y[at] = a"""
    assert list(per_thread(body, 6, "i32", np.zeros(6, np.int32))) == [0, 10, 2, 30, 7, 50]


def test_loops_of_different_lengths() -> None:
    body = """var a: i32 = 0
      step: i32 = add(t, 1)
      for i in t .. 5 step step { d: i32 = add(a, i) set a = d e: i32 = mul(t, 100) z: i32 = add(d, e) store y[t] = z }
      store y[t] = a"""
    expected = [sum(range(t, 5, t + 1)) for t in range(7)]
    assert list(per_thread(body, 7, "i32", np.zeros(7, np.int32))) == expected


def test_one_thread_alone() -> None:
    body = """c: bool = eq(t, 2) store y[at] = 0:i64
      if c { w: i64 = cast(t) q: i64 = truncdiv(8:i64, w) v: i64 = add(q, 1:i64) store y[at] = v }"""
    assert list(per_thread(body, 4, "i64", np.zeros(4, np.int64))) == [0, 0, 5, 0]


def test_values_of_threads_elsewhere_are_not_computed() -> None:
    """Division by the thread's number: zero for the thread that does not come here."""
    body = "c: bool = ge(t, 1) store y[at] = 0 if c { d: i32 = truncdiv(12, t) e: i32 = udiv(d, t) store y[at] = e }"
    assert list(per_thread(body, 5, "i32", np.zeros(5, np.int32))) == [0, 12, 3, 1, 0]


def test_every_block_is_a_block() -> None:
    assert list(per_thread("store y[at] = b", 2, "i32", np.zeros(6, np.int32), 3)) == [0, 0, 1, 1, 2, 2]


def test_registers_are_private() -> None:
    body = """f: f32 = cast(t)
      for k in 0 .. 4 step 1 unroll { g: f32 = cast(k) h: f32 = add(f, g) store reg[k] = h }
      v: f32x2 = load(reg, 2) s: f32 = hreduce(v) {sum} store y[at] = s"""
    assert list(per_thread(body, 3, "f32", np.zeros(3, np.float32))) == [5, 7, 9]


def test_masks_and_vectors_by_thread() -> None:
    body = """k: boolx4 = lanemask(t) first4: i32 = mul(t, 4) i: i32x4 = iota(first4)
      j: i32x4 = sub(11:i32x4, i) store y[first4] = -1:i32x4 store y[j] = i {mask k}"""
    y = np.zeros(12, np.int32)
    with pytest.raises(InterpError, match="race: thread 2 writes element 3 of 'y', which thread 0 wrote"):
        per_thread(body, 3, "i32", y)
    body = body.replace("store y[j]", "j2: i32x4 = add(i, 0:i32x4) store y[j2]")
    assert list(per_thread(body, 3, "i32", y)) == [-1, -1, -1, -1, 4, -1, -1, -1, 8, 9, -1, -1]


def test_indices_of_32_bits_wrap_nowhere_near_memory() -> None:
    """`udiv` sees 32-bit numbers; a vector's last elements may lie beyond what an index holds."""
    assert list(per_thread("a: i32 = udiv(2147483647, 2) store y[at] = a", 1, "i32", np.zeros(1, np.int32))) == [
        2**30 - 1
    ]
    with pytest.raises(InterpError, match="index 2147483647 is outside"):
        per_thread("store y[2147483647] = 1:i32x4", 1, "i32", np.zeros(4, np.int32))


def test_failure_in_one_thread() -> None:
    text = """func k cuda i32 (size n) { grid b of 2, t of 4 {
      a: i32 = mul(b, 4) c: i32 = add(a, t) d: bool = eq(c, n) if d { fail } } }"""
    assert execute(text, {}, {"n": 6})
    assert not execute(text, {}, {"n": 8})


def test_rounding_and_integer_wrap() -> None:
    y = per_thread("v: f32 = round(1.001:f32) {bf16} store y[at] = 1.001:f32 ", 1, "bf16", np.zeros(1, np.float32))
    np.testing.assert_array_equal(y, round_bf16(np.array([1.001], np.float32)))
    z = per_thread("w: i8 = cast(t) a: i8 = add(127:i8, w) store y[at] = a", 2, "i8", np.zeros(2, np.int8))
    assert list(z) == [127, -128]


# --- collectives -----------------------------------------------------------------------------------


def reduced(values: np.ndarray, monoid: str, group: int, stride: int, dtype: str) -> np.ndarray:
    threads, lanes = values.shape
    width = "" if lanes == 1 else f"x{lanes}"
    text = f"""func k cuda i32 (buf x: {dtype}, buf y: {dtype} out) {{ grid b of 1, t of {threads} {{
      at: i32 = mul(t, {lanes}) v: {dtype}{width} = load(x, at)
      s: {dtype}{width} = treduce(v) {{{monoid}, {group}, {stride}}} store y[at] = s }} }}"""
    y = np.zeros_like(values.ravel())
    execute(text, {"x": values.ravel(), "y": y})
    return y.reshape(values.shape)


@pytest.mark.parametrize("group, stride", [(1, 1), (8, 1), (64, 1), (8, 8), (2, 32), (4, 2)])
def test_treduce_in_a_tree(group: int, stride: int) -> None:
    """Bit for bit: the order is part of the IR."""
    x = np.random.default_rng(group).normal(size=(64, 3)).astype(np.float32)
    expected = np.zeros_like(x)
    for t in range(64):
        first = t - (t // stride) % group * stride
        part = x[first : first + group * stride : stride]
        while len(part) > 1:
            part = part[::2] + part[1::2]
        expected[t] = part[0]
    np.testing.assert_array_equal(reduced(x, "sum", group, stride, "f32"), expected)


def test_treduce_in_order_if_the_group_is_no_power_of_two() -> None:
    x = np.random.default_rng(0).normal(size=(24, 1)).astype(np.float32)
    expected = np.zeros_like(x)
    for t in range(24):
        first = t - (t // 2) % 6 * 2
        total = np.float32(x[first, 0])
        for u in range(first + 2, first + 12, 2):
            total += x[u, 0]
        expected[t] = total
    np.testing.assert_array_equal(reduced(x, "sum", 6, 2, "f32"), expected)


@pytest.mark.parametrize("dtype", ["f64", "i64", "i32", "i16", "u8", "f32"])
def test_treduce_monoids(dtype: str) -> None:
    kind = numpy_type(BY_NAME[dtype])
    x = np.random.default_rng(1).integers(0, 100, (32, 1)).astype(kind)
    for monoid, f in (("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)):
        with np.errstate(over="ignore"):
            want = f(x, dtype=kind) if monoid in ("sum", "prod") else f(x)
        got = reduced(x, monoid, 32, 1, dtype)
        if dtype in ("f32", "f64") and monoid == "prod":
            np.testing.assert_allclose(got, np.full_like(x, want), rtol=1e-5)
        else:
            np.testing.assert_array_equal(got, np.full_like(x, want))


def test_treduce_of_truth_values_and_nan() -> None:
    x = np.zeros((8, 1), bool)
    x[5] = True
    assert reduced(x, "any", 8, 1, "bool").all()
    assert list(reduced(x, "any", 4, 1, "bool")[:, 0]) == [False] * 4 + [True] * 4
    assert not reduced(x, "all", 8, 1, "bool").any()
    y = np.arange(8, dtype=np.float32)[:, None]
    y[2] = np.nan
    assert np.isnan(reduced(y, "max", 8, 1, "f32")).all()


# --- random numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["i32", "i64"])
def test_philox(index: str) -> None:
    body = f"""at8: {index} = mul(at, 8) v: u32x8 = philoxquad(-5:i64, 7, at8) {{1}} store y[at8] = v"""
    quads = per_thread(body, 4, "u32", np.zeros(64, np.uint32), 2, index)
    np.testing.assert_array_equal(quads, philox.quads(-5, 7, np.arange(64), 1))
    body = f"""at8: {index} = mul(at, 8) c: {index}x8 = iota(at8) v: u32x8 = philoxword(-5:i64, 7:{index}x8, c) {{1}}
      store y[at8] = v"""
    np.testing.assert_array_equal(per_thread(body, 4, "u32", np.zeros(64, np.uint32), 2, index), quads)


def test_philox_with_a_seed_from_memory() -> None:
    text = """func k cuda i32 (buf s: i64, buf y: u32 out) { grid b of 1, t of 4 {
      seed: i64 = load(s, t) u: u32 = philoxword(seed, t, 3) {0} store y[t] = u } }"""
    seeds = np.array([0, -1, 2**40, 7])
    y = np.zeros(4, np.uint32)
    execute(text, {"s": seeds, "y": y})
    assert list(y) == [philox.quads(int(s), t, np.array([3]))[0] for t, s in enumerate(seeds)]


def test_the_layout_of_cpu_kernels() -> None:
    body = "c: i32x64 = iota(100) u: u32x64 = philox(-5:i64, 7:i32x64, c) {1} store y[0] = u"
    got = per_thread(body, 1, "u32", np.zeros(64, np.uint32))
    np.testing.assert_array_equal(got, philox.bits(-5, 7, np.arange(100, 164), 1))
    body = "start: i32 = mul(t, 64) u: u32x8 = philoxrun(-5:i64, 7, start) {72} i: i32 = mul(t, 8) store y[i] = u"
    got = per_thread(body, 2, "u32", np.zeros(16, np.uint32))
    np.testing.assert_array_equal(got, philox.bits(-5, 7, np.array([*range(8, 16), *range(72, 80)]), 1))


# --- reports ---------------------------------------------------------------------------------------

BARRIER_LESS = "with no barrier between"
CASES = [
    # bounds
    ("i: i32 = add(t, 13) a: f32 = load(x, i)", "index 16 is outside buffer 'x' of 16 elements, in 'a: f32 = "
     "load(x, i)', by thread 3 of block 0"),
    ("i: i32 = add(t, 11) a: f32x4 = load(x, i)", "index 16 is outside buffer 'x' of 16 elements, in 'a: f32x4 = "
     "load(x, i)', by thread 2 of block 0"),
    ("i: i32 = mul(t, -1) c: bool = eq(t, 1) if c { store y[i] = 1.0:f32 }", "index -1 is outside buffer 'y' of 16 "
     "elements, in 'store y[i] = 1.0:f32', by thread 1 of block 0"),
    ("store tile[15] = 1.0:f32x4", "index 16 is outside buffer 'tile' of 16 elements, in 'store tile[15] = "
     "1.0:f32x4', by thread 0 of block 0"),
    ("store reg[4] = 1.0:f32", "index 4 is outside buffer 'reg' of 4 elements, in 'store reg[4] = 1.0:f32', by thread "
     "0 of block 0"),
    ("i: i32x2 = iota(t) j: i32x2 = mul(i, 9:i32x2) a: f32x2 = gather(x, j)", "index 18 is outside buffer 'x' of 16 "
     "elements, in 'a: f32x2 = gather(x, j)', by thread 1 of block 0"),
    # elements that hold nothing
    ("a: f32 = load(y, t)", "element 0 of 'y' is read before it is written, in 'a: f32 = load(y, t)', by thread 0 of "
     "block 0"),
    ("a: f32 = load(part, t)", "element 0 of 'part' is read before it is written, in 'a: f32 = load(part, t)', by "
     "thread 0 of block 0"),
    ("c: bool = ne(t, 2) if c { store tile[t] = 1.0:f32 } a: f32 = load(tile, t)", "element 2 of 'tile' is read "
     "before it is written, in 'a: f32 = load(tile, t)', by thread 2 of block 0"),
    ("c: bool = ne(t, 1) if c { store reg[2] = 1.0:f32 } a: f32 = load(reg, 2)", "element 2 of 'reg' is read before "
     "it is written, in 'a: f32 = load(reg, 2)', by thread 1 of block 0"),
    ("c: bool = eq(b, 0) if c { store tile[t] = 1.0:f32 } a: f32 = load(tile, t)", "element 0 of 'tile' is read "
     "before it is written, in 'a: f32 = load(tile, t)', by thread 0 of block 1"),
    ("c: bool = eq(b, 0) if c { store reg[0] = 1.0:f32 } a: f32 = load(reg, 0)", "element 0 of 'reg' is read before "
     "it is written, in 'a: f32 = load(reg, 0)', by thread 0 of block 1"),
    # races in a block
    ("store tile[t] = 1.0:f32 i: i32 = sub(3, t) a: f32 = load(tile, i)", "race: thread 0 reads element 3 of 'tile', "
     f"which thread 3 wrote {BARRIER_LESS}, in 'a: f32 = load(tile, i)', by thread 0 of block 0"),
    ("store tile[t] = 1.0:f32 barrier \"x\" i: i32 = sub(3, t) a: f32 = load(tile, i) store tile[t] = a", "race: "
     f"thread 0 writes element 0 of 'tile', which thread 3 read {BARRIER_LESS}, in 'store tile[t] = a', by thread 0 "
     "of block 0"),
    ("store tile[0] = 1.0:f32 barrier \"x\" a: f32 = load(tile, 0) store tile[0] = a", "race: thread 0 writes "
     f"element 0 of 'tile', which thread 3 wrote {BARRIER_LESS}, in 'store tile[0] = 1.0:f32', by thread 0 of block "
     "0"),
    ("c: bool = eq(t, 0) if c { store tile[0] = 1.0:f32 } barrier \"x\" a: f32 = load(tile, 0) if c { store tile[0] = "
     "a }", f"race: thread 0 writes element 0 of 'tile', which several threads read {BARRIER_LESS}, in 'store "
     "tile[0] = a', by thread 0 of block 0"),
    ("c: bool = eq(t, 0) if c { store tile[12] = 1.0:f32 } else { store tile[t] = 1.0:f32x4 }", "race: thread 1 "
     f"writes element 2 of 'tile', which thread 2 wrote {BARRIER_LESS}, in 'store tile[t] = 1.0:f32x4', by thread 1 "
     "of block 0"),
    ("store tile[t] = 1.0:f32 s: f32 = treduce(1.0:f32) {sum, 4, 1} i: i32 = sub(3, t) a: f32 = load(tile, i)",
     f"race: thread 0 reads element 3 of 'tile', which thread 3 wrote {BARRIER_LESS}, in 'a: f32 = load(tile, i)', "
     "by thread 0 of block 0"),
    ("c: bool = eq(b, 0) if c { store y[t] = 1.0:f32 i: i32 = sub(3, t) a: f32 = load(y, i) }", "race: thread 0 reads "
     f"element 3 of 'y', which thread 3 wrote {BARRIER_LESS}, in 'a: f32 = load(y, i)', by thread 0 of block 0"),
    # races between blocks
    ("c: bool = eq(t, 2) if c { store y[7] = 1.0:f32 }", "race: block 1 writes element 7 of 'y', which block 0 wrote "
     "in this launch, in 'store y[7] = 1.0:f32', by thread 2 of block 1"),
    ("c: bool = eq(b, 0) if c { store part[t] = 1.0:f32 } else { a: f32 = load(part, t) }", "race: block 1 reads "
     "element 0 of 'part', which block 0 wrote in this launch, in 'a: f32 = load(part, t)', by thread 0 of block 1"),
    # meetings
    ("c: bool = lt(t, 3) if c { barrier \"x\" }", "barrier reached by 3 of 4 threads, in 'barrier \"x\"', by thread 3 "
     "of block 0"),
    ("for i in t .. 4 step 1 { barrier \"x\" }", "barrier reached by 3 of 4 threads, in 'barrier \"x\"', by thread 3 "
     "of block 0"),
    ("c: bool = gt(t, 0) if c { } else { s: f32 = treduce(1.0:f32) {sum, 4, 1} }", "treduce reached by 1 of 4 "
     "threads, in 's: f32 = treduce(1.0:f32) {sum, 4, 1}', by thread 1 of block 0"),
    # alignment
    ("i: i32 = mul(t, 2) a: f32x4 = load(x, i) {aligned}", "index 2 of 'x' is no multiple of 4 elements, in 'a: f32x4 "
     "= load(x, i) {aligned}', by thread 1 of block 0"),
    ("i: i32 = mul(t, 2) store z[i] = 1.0:f32x2 {hint aligned} store z[3] = 1.0:f32x2 {hint aligned stream}", "index "
     "3 of 'z' is no multiple of 2 elements, in 'store z[3] = 1.0:f32x2 {hint aligned stream}', by thread 0 of block "
     "0"),
    ("a: f32x8 = load(w, 4) {aligned}", "index 4 of 'w' is no multiple of 8 elements, in 'a: f32x8 = load(w, 4) "
     "{aligned}', by thread 0 of block 0"),
    # operations
    ("a: i32 = udiv(7, t)", "udiv of 7 by 0, in 'a: i32 = udiv(7, t)', by thread 0 of block 0"),
    ("c: bool = gt(t, 1) if c { z: i32 = sub(t, 3) a: i32 = udiv(t, z) }", "udiv of 2 by -1, in 'a: i32 = udiv(t, "
     "z)', by thread 2 of block 0"),
    ("i: i32 = mul(t, 2) u: u32x4 = philoxquad(1:i64, 0, i) {0}", "philoxquad at 2, which is no multiple of 4, in "
     "'u: u32x4 = philoxquad(1:i64, 0, i) {0}', by thread 1 of block 0"),
    ("for i in 0 .. 4 step b { }", "a loop steps by 0, in 'for i in 0 .. 4 step b', in block 0"),
]  # fmt: skip

HEAD = """func k cuda i32 (buf x: f32, buf w: bf16, buf y: f32 out, buf z: f32 out) {
  alloc reg: f32[4] register
  alloc tile: f32[16] block
  alloc part: f32[16] grid
"""


@pytest.mark.parametrize("body, expected", CASES)
def test_reports(body: str, expected: str) -> None:
    """Unverified: some of these the verifier would not let pass."""
    func = parse(f"{HEAD} grid b of 2, t of 4 {{ {body} }} }}")
    x = np.zeros(16, np.float32)
    with pytest.raises(InterpError) as caught:
        y = np.zeros(16, np.float32)
        z = np.zeros(16, np.float32)
        run(func, {"x": x, "w": x.copy(), "y": y, "z": z})
    assert str(caught.value) == expected + ", in pass 'run loop 'k''"


@pytest.mark.parametrize(
    "body",
    [
        # a vector of more than 16 bytes need be aligned to 16 only
        "a: f32x8 = load(x, 4) {aligned} c: f32x8 = load(w, 8) {aligned stream}",
        # what one thread or one block does is in order
        "i: i32 = mul(b, 4) j: i32 = add(i, t) store y[j] = 1.0:f32 a: f32 = load(y, j) store y[j] = a",
        # lanes that are off touch nothing
        "k: boolx4 = lanemask(1) i: i32 = mul(b, 4) j: i32 = add(i, t) store y[j] = 1.0:f32x4 {mask k} "
        "v: f32x4 = load(y, j, k) u: f32x4 = load(x, 14, k)",
        # barriers separate
        'store tile[t] = 1.0:f32 barrier "x" i: i32 = sub(3, t) a: f32 = load(tile, i) barrier "y" store tile[t] = a',
        # all may read
        "a: f32 = load(x, 0) c: f32 = load(x, 0)",
    ],
)
def test_not_reported(body: str) -> None:
    func = parse(f"{HEAD} grid b of 2, t of 4 {{ {body} }} }}")
    verify(func)
    x = np.zeros(16, np.float32)
    assert not run(func, {"x": x, "w": x.copy(), "y": x.copy(), "z": x.copy()})


def test_a_treduce_across_warps_orders_memory() -> None:
    """And one within warps does not."""
    text = """func k cuda i32 (buf y: f32 out) { alloc tile: f32[64] block grid b of 1, t of 64 {
      f: f32 = cast(t) store tile[t] = f s: f32 = treduce(f) {sum, GROUP} i: i32 = sub(63, t)
      a: f32 = load(tile, i) store y[t] = a } }"""
    y = np.zeros(64, np.float32)
    for group in ("64, 1", "2, 32", "16, 4"):
        execute(text.replace("GROUP", group), {"y": y})
        assert list(y) == list(range(63, -1, -1))
    for group in ("32, 1", "1, 1", "8, 2", "1, 64"):
        with pytest.raises(InterpError, match="race: thread 0 reads element 63 of 'tile'"):
            execute(text.replace("GROUP", group), {"y": y})


def test_a_later_launch_sees_grid_memory_and_outputs() -> None:
    text = """func k cuda i32 (buf y: f32 out, size n) { alloc part: f32[n] grid
      grid b of n, t of 1 { f: f32 = cast(b) store part[b] = f store y[b] = f }
      grid b of n, t of 1 { last: i32 = sub(n, 1) i: i32 = sub(last, b) f: f32 = load(part, i) g: f32 = load(y, b)
        h: f32 = mul(f, g) store y[b] = h }
    }"""
    y = np.zeros(4, np.float32)
    execute(text, {"y": y}, {"n": 4})
    assert list(y) == [0, 2, 2, 0]


def test_an_input_may_be_written_in_place() -> None:
    text = """func k cuda i32 (buf x: f32, buf y: f32 out) { grid b of 2, t of 2 {
      i: i32 = mul(b, 2) j: i32 = add(i, t) a: f32 = load(x, FROM) c: f32 = add(a, 1.0:f32) store y[j] = c } }"""
    x = np.arange(4, dtype=np.float32)
    execute(text.replace("FROM", "j"), {"x": x, "y": x})
    assert list(x) == [1, 2, 3, 4]
    with pytest.raises(InterpError, match="race: thread 0 writes element 0 of 'y', which several threads read"):
        execute(text.replace("FROM", "0"), {"x": x, "y": x})
    with pytest.raises(InterpError, match="race: block 1 writes element 3 of 'y', which several blocks read in this"):
        execute(text.replace("FROM", "3"), {"x": x, "y": x})
    text = """func k cuda i32 (buf x: f32, buf y: f32 out) { grid b of 2, t of 2 { c: bool = eq(b, 0)
      if c { a: f32 = load(x, t) } else { store y[t] = 1.0:f32 } } }"""
    with pytest.raises(InterpError, match="race: block 1 writes element 0 of 'y', which block 0 read in this launch"):
        execute(text, {"x": x, "y": x})


@pytest.mark.parametrize(
    "buffers, sizes, expected",
    [
        ({}, {"n": 1}, "no array for buffer 'y' of kernel 'k'"),
        ({"y": np.zeros(4)}, {"n": 1}, "buffer 'y' must be a flat float32 array, not float64(4,)"),
        ({"y": np.zeros(4, np.float32)}, {}, "no value for size 'n' of kernel 'k'"),
        ({"y": np.zeros(4, np.float32)}, {"n": 2**31}, "size 'n' of kernel 'k' does not fit i32"),
        (
            {"y": np.zeros(4, np.float32)},
            {"n": -1},
            "a launch of -1 blocks, in 'grid b of n, t of 1', in pass 'run loop 'k''",
        ),
    ],
)
def test_bad_arguments(buffers: dict[str, np.ndarray], sizes: dict[str, int], expected: str) -> None:
    with pytest.raises(CompilerError) as caught:
        run(parse("func k cuda i32 (buf y: bf16 out, size n) { grid b of n, t of 1 { } }"), buffers, sizes)
    assert str(caught.value) == expected
