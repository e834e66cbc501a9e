"""Lanes taken out of whole vectors: pairs, steps, repetitions and flips, interpreted and emulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, DType, bf16, f16, f32
from fusewright.core.errors import VerifyError
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import axis, ix, sym
from fusewright.interp.loop import run as interpret
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Let, Store, walk
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule.device import H200
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, check, settle
from fusewright.schedule.windows import fit, windows
from tests.emulate.checks import both, stored_values
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.kernels import graph_of
from tests.kernels_gpu import SMALL, GpuCompiled, check_gpu, gpu_kernel, hint_of, run_sized

N, M = sym("n"), sym("m")
NEEDS_COMPILER = pytest.mark.skipif(COMPILER is None, reason=MISSING)
Program = Callable[[Builder], Value]


def pairs(b: Builder, dtype: DType) -> Value:
    """Neighbouring pairs, turned; tables of half the width."""
    x, c, s = b.input(dtype, (N, 2 * M)), b.input(f32, (M,)), b.input(f32, (M,))
    even, odd = (b.cast(b.slice(x, 1, k, 2, M), f32) for k in (0, 1))
    left, right = b.sub(b.mul(even, c), b.mul(odd, s)), b.add(b.mul(even, s), b.mul(odd, c))
    both = b.cat([b.unsqueeze(left, 2), b.unsqueeze(right, 2)], 2)
    return b.cast(b.reshape(both, (N, 2 * M)), dtype)


def pairs16(b: Builder) -> Value:
    return pairs(b, bf16)


def swapped(b: Builder, dtype: DType) -> Value:
    x = b.input(dtype, (N, 2 * M))
    halves = [b.unsqueeze(b.slice(x, 1, k, 2, M), 2) for k in (1, 0)]
    return b.neg(b.reshape(b.cat(halves, 2), (N, 2 * M)))


def every_second(b: Builder, dtype: DType) -> Value:
    x, y = b.input(dtype, (N, 2 * M)), b.input(dtype, (N, M))
    return b.add(b.slice(x, 1, 0, 2, M), b.add(b.slice(x, 1, 1, 2, M), y))


def repeated(b: Builder, dtype: DType) -> Value:
    x, y = b.input(dtype, (N, M)), b.input(dtype, (N, 2 * M))
    return b.add(b.reshape(b.expand(b.unsqueeze(x, 2), (N, M, 2)), (N, 2 * M)), y)


def thrice(b: Builder, dtype: DType) -> Value:
    """Vectors are no multiples of what is repeated."""
    x, y = b.input(dtype, (N, M)), b.input(dtype, (N, 3 * M))
    return b.add(b.reshape(b.expand(b.unsqueeze(x, 2), (N, M, 3)), (N, 3 * M)), y)


def flipped(b: Builder, dtype: DType) -> Value:
    x, y = b.input(dtype, (N, M)), b.input(dtype, (N, M))
    return b.sub(b.flip(x, [1]), y)


def shuffled(b: Builder, dtype: DType) -> Value:
    """Two rows of pixels as one of twice the width: lanes are in two windows far apart."""
    x, y = b.input(dtype, (N, M, 2, 64)), b.input(dtype, (N, M, 128))
    return b.add(b.reshape(b.permute(x, [0, 1, 3, 2]), (N, M, 128)), y)


def padded(b: Builder, dtype: DType) -> Value:
    """Behind a border that divides vectors, so that windows are of no use."""
    x, y = b.input(dtype, (N, 2 * M)), b.input(dtype, (N, M + 3))
    return b.add(b.pad(b.slice(x, 1, 0, 2, M), [0, 0], [0, 3], b.const(1.0, dtype)), y)


def taps(b: Builder, dtype: DType) -> Value:
    """A convolution of each channel on its own: its weights lie side by side."""
    x, w, y = b.input(dtype, (N, M)), b.input(dtype, (M, 4)), b.input(dtype, (N, M))
    for k in range(4):
        y = b.add(y, b.mul(x, b.select(w, 1, k)))
    return y


def guarded(b: Builder, dtype: DType) -> Value:
    """The taps behind something else, which is a multiple of every vector wide."""
    x, w, y = b.input(dtype, (N, M)), b.input(dtype, (M, 2)), b.input(dtype, (N, 16))
    z = x
    for k in range(2):
        z = b.add(z, b.select(w, 1, k))
    return b.neg(b.cat([y, z], 1))


def softmax_of_pairs(b: Builder, dtype: DType) -> Value:
    x = b.cast(b.input(dtype, (N, 2 * M)), f32)
    halves = [b.unsqueeze(b.slice(x, 1, k, 2, M), 2) for k in (1, 0)]
    turned = b.mul(b.reshape(b.cat(halves, 2), (N, 2 * M)), b.const(0.5, f32))
    e = b.exp(b.sub(turned, b.reduce("max", turned, [1], keepdim=True)))
    return b.cast(b.div(e, b.reduce("sum", e, [1], keepdim=True)), dtype)


PROGRAMS = {
    p.__name__: p
    for p in (
        pairs,
        swapped,
        every_second,
        repeated,
        thrice,
        flipped,
        shuffled,
        padded,
        taps,
        guarded,
        softmax_of_pairs,
    )
}


def compiled(name: str, dtype: DType, m: int, n: int = 5, alignment: int = 16) -> GpuCompiled:
    return gpu_kernel(graph_of(partial(PROGRAMS[name], dtype=dtype)), {"n": n, "m": m}, SMALL, alignment=alignment)


def ops(c: GpuCompiled) -> set[str]:
    return {s.op for s in walk(c.kernel.func.body) if isinstance(s, Let)}


@pytest.mark.every(6)
@pytest.mark.parametrize("m", [64, 48, 36, 20, 17, 8, 3, 1])
@pytest.mark.parametrize("dtype", [bf16, f32, f16], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, dtype: DType, m: int) -> None:
    """Of all sizes, and of addresses that are multiples of less than a vector."""
    for alignment in (16, 8, dtype.itemsize):
        c = compiled(name, dtype, m, alignment=alignment)
        for machine in (interpret, run_sized):
            check_gpu(c.graph, {"n": 5, "m": m}, compiled=c, machine=machine)


@pytest.mark.every(6)
@NEEDS_COMPILER
@pytest.mark.parametrize(("name", "m"), [(p, 48) for p in PROGRAMS] + [("pairs", 17), ("flipped", 20), ("pairs", 8)])
@pytest.mark.parametrize("dtype", [bf16, f32], ids=str)
def test_emulated(name: str, m: int, dtype: DType) -> None:
    sizes = {"n": 5, "m": m}
    c = compiled(name, dtype, m)
    check_gpu(c.graph, sizes, compiled=c, machine=run_emulated)
    c = compiled(name, dtype, m, alignment=dtype.itemsize)
    off = {b.name: 1 for b in c.kernel.func.bufs if b.dtype is dtype}
    check_gpu(c.graph, sizes, compiled=c, machine=partial(run_emulated, offsets=off))


@pytest.mark.parametrize(
    ("name", "m", "dtype", "loads"),
    [
        ("pairs", 48, bf16, 3),  # of x, and of either table
        ("swapped", 48, bf16, 1),
        ("every_second", 64, bf16, 3),  # two windows of x, for both halves
        ("every_second", 64, f32, 3),
        ("repeated", 48, bf16, 2),
        ("flipped", 64, f16, 2),
        ("shuffled", 64, bf16, 3),
        ("taps", 64, bf16, 6),
        ("taps", 64, f32, 6),
        ("guarded", 64, bf16, 4),
    ],
)
def test_whole_vectors_are_read(name: str, m: int, dtype: DType, loads: int) -> None:
    c = compiled(name, dtype, m)
    assert c.schedule.permuted
    assert c.schedule.lanes == 16 // dtype.itemsize
    assert c.schedule.whole
    found = [s for s in walk(c.kernel.func.body) if isinstance(s, Let) and s.buf is not None]
    assert len(found) == loads
    assert all(s.op == "load" and s.attr == "aligned" and len(s.args) == 1 for s in found)
    assert all(s.dst.lanes * s.buf.dtype.itemsize <= 16 for s in found if s.buf is not None)


def test_a_table_of_half_the_width_is_read_in_narrower_vectors() -> None:
    c = compiled("repeated", bf16, 64)
    widths = {s.dst.lanes for s in walk(c.kernel.func.body) if isinstance(s, Let) and s.op == "load"}
    assert widths == {4, 8}


@pytest.mark.parametrize("name", ["thrice", "every_second"])
def test_what_lies_in_no_window_is_read_lane_by_lane(name: str) -> None:
    """Rows of three at a time; and rows that start anywhere."""
    c = compiled(name, bf16, 64 if name == "thrice" else 33)
    assert not c.schedule.permuted
    assert "permute" not in ops(c)


def test_vectors_are_narrow_where_steps_are_not_read_in_windows() -> None:
    c = compiled("padded", bf16, 61)
    assert c.schedule.lanes == 2 and not c.schedule.permuted


@pytest.mark.parametrize("m", [64, 1024])
def test_a_view_by_steps_that_ends_with_its_last_element(m: int) -> None:
    """Its last window would have one element more than there are: none is read, and no row is moved for windows."""
    graph = graph_of(lambda b: b.add(b.input(bf16, (N, M)), b.input(bf16, (N, M))))
    strides = {v: (2 * M, ix(2)) for v in graph.inputs}
    c = gpu_kernel(graph, {"n": 9, "m": m}, strides=strides)
    assert c.schedule.lanes == 2 and not c.schedule.permuted and not c.schedule.anchor
    check_gpu(graph, {"n": 9, "m": m}, compiled=c)


def test_windows_end_with_the_buffer() -> None:
    """Of a view by steps, whose last element is the last that there is, the last window would have one more."""
    v, row, sizes = axis("v", 64), axis("r", 4), {"n": 5, "m": 64}
    c = compiled("every_second", bf16, 64)
    found = windows(128 * row + 2 * v, _atom(v), 8, 2, (True,) * 8)
    assert found is not None and len(found.starts) == 2
    whole = c.built.fusion.buffers[0]
    view = replace(whole, shape=(ix(4), ix(64)), strides=(ix(128), ix(2)))
    assert fit(found, whole, 16, hint_of(sizes))  # type: ignore[arg-type]
    assert not fit(found, whole, 8, hint_of(sizes))  # type: ignore[arg-type]
    assert not fit(found, view, 16)


def _atom(p):
    found = p.as_axis()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("offset", "lanes", "itemsize", "width", "count", "places"),
    [
        (lambda v: 2 * (v // 2), 8, 2, 8, 1, (0, 0, 2, 2, 4, 4, 6, 6)),
        (lambda v: 2 * (v // 2) + 1, 8, 2, 8, 1, (1, 1, 3, 3, 5, 5, 7, 7)),
        (lambda v: v // 2, 8, 4, 4, 1, (0, 0, 1, 1, 2, 2, 3, 3)),
        (lambda v: 2 * v, 4, 4, 4, 2, (0, 2, 4, 6)),
        (lambda v: 63 - v, 8, 2, 8, 1, (7, 6, 5, 4, 3, 2, 1, 0)),
        (lambda v: 62 - v, 8, 2, 8, 2, (14, 13, 12, 11, 10, 9, 8, 7)),
        (lambda v: v // 8, 8, 2, 1, 1, (0,) * 8),
        (lambda v: 3 * v + 2, 8, 2, 8, 3, tuple(range(2, 24, 3))),
        (lambda v: 4 * v + 1, 8, 2, 8, 4, tuple(range(1, 32, 4))),
    ],
)
def test_windows(offset, lanes: int, itemsize: int, width: int, count: int, places: tuple[int, ...]) -> None:
    v = axis("v", 64)
    w = windows(offset(v), _atom(v), lanes, itemsize, (True,) * lanes)
    assert w is not None
    assert (w.width, len(w.starts), w.lanes) == (width, count, places)
    for k in range(64 // lanes):
        for n, place in enumerate(w.lanes):
            start = w.starts[place // w.width].evaluate({"v": lanes * k})
            assert start % w.width == 0
            assert start + place % w.width == offset(lanes * k + n)


@pytest.mark.parametrize("offset", [lambda v: v // 3, lambda v: 5 * v, lambda v: v * v, lambda v: 64 * v])
def test_no_windows(offset) -> None:
    v = axis("v", 64)
    assert windows(offset(v), _atom(v), 8, 2, (True,) * 8) is None


def test_facts_are_checked() -> None:
    c = compiled("pairs", bf16, 256)
    f, s = c.built.fusion, c.schedule
    assert s.permuted and s.whole
    here, there = (Sizes(hint_of({"n": 5, "m": m}), H200, lambda b: 16) for m in (256, 257))  # type: ignore[arg-type]
    check(f, s, here)
    _, other, _ = settle(f, s, there)
    assert not other.permuted and not other.whole
    off = replace(here, alignment=lambda b: 2)
    assert not settle(f, s, off)[1].permuted & {"in0"}
    for field, what in (("permuted", "hint(in0, permuted)"), ("whole", "whole(vectors)")):
        bare = replace(s, aligned=frozenset(), permuted=frozenset(), whole=False)
        with pytest.raises(Illegal) as e:
            check(f, replace(bare, **{field: getattr(s, field) if field == "whole" else frozenset({"in0"})}), there)
        assert e.value.directive == what


def test_tiles_without_partial_vectors_have_no_masks() -> None:
    c = compiled("pairs", bf16, 256)
    assert c.schedule.whole
    assert "lanemask" not in ops(c)
    assert all(s.hint == "aligned" for s in walk(c.kernel.func.body) if isinstance(s, Store))
    masked = lower_gpu(c.built.fusion, replace(c.schedule, whole=False), "kernel")
    verify(masked.func)
    assert "lanemask" in dump(masked.func)
    check_gpu(c.graph, {"n": 5, "m": 256}, compiled=replace(c, kernel=masked))


# --- the operation ---
PERMUTE = """func k cuda i32 (buf x: {d}, buf y: {d} out) {{
  grid b of 1, t of 4 {{
    i: i32 = mul(t, 4)
    v: {r}x4 = load(x, i) {{aligned}}
    w: {r}x4 = splat({one})
    p: {r}x8 = permute(v, w) {{3, 3, 0, 4, 1, 7, 2, 0}}
    q: {r}x4 = permute(p) {{7, 1, 3, 5}}
    z: {r}x4 = permute(q, v, {one}x4) {{0, 5, 2, 11}}
    store y[i] = z {{hint aligned}}
  }}
}}"""


@NEEDS_COMPILER
@pytest.mark.parametrize("name", ["f32", "bf16", "f16", "i64", "i32", "u8", "bool"])
def test_permute(name: str) -> None:
    d = BY_NAME[name]
    r = "f32" if d.is_reduced else name
    one = "true:bool" if d.is_bool else f"1.0:{r}" if d.is_float else f"1:{r}"
    x = stored_values(d, 16)
    y = both(PERMUTE.format(d=name, r=r, one=one), {"x": x, "y": np.zeros_like(x)})["y"]
    p = np.concatenate([x.reshape(4, 4), np.ones((4, 4), x.dtype)], 1)[:, [3, 3, 0, 4, 1, 7, 2, 0]]
    want = np.concatenate([p[:, [7, 1, 3, 5]], x.reshape(4, 4), np.ones((4, 4), x.dtype)], 1)[:, [0, 5, 2, 11]]
    np.testing.assert_array_equal(y.reshape(4, 4), want)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("p: f32x2 = permute(v) {0, 4}", "permute wants numbers of lanes below 4"),
        ("p: f32x2 = permute(v, 1.0:f32x2) {0, 1}", "an operand must be f32x4"),
        ("p: i32x2 = permute(v) {0, 1}", "an operand must be i32x4"),
        ("p: f32x3 = permute(v) {0, 1}", "permute gives 2 lanes, not 3"),
        ("p: f32x2 = permute(v)", "permute wants numbers of lanes below 4, not None"),
        ("p: f32x2 = permute() {0, 1}", "permute takes one operand or more"),
    ],
)
def test_illegal(line: str, message: str) -> None:
    text = f"func k cuda i32 (buf x: f32) {{ grid b of 1, t of 4 {{ v: f32x4 = load(x, 0) {line} }} }}"
    with pytest.raises(VerifyError, match=message):
        verify(parse(text))
