"""Vectors inside of rows that are moved to where vectors are aligned: nothing is asked about them, in walks over long
rows, in copies to shared memory, and in kernels whose sizes are numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, bf16, f32
from fusewright.fusion import collect
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.interp.loop import run as interpret
from fusewright.interp.values import InterpError
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Copy, For, If, Let, Store, walk
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule import gpu_anchor, gpu_tile
from fusewright.schedule.device import H200
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, settle
from tests.emulate.checks import stored_values
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.golden import cases
from tests.kernels import fusion_of, graph_of
from tests.kernels_gpu import SMALL, GpuCompiled, check_gpu, gpu_kernel, hint_of, run_sized
from tests.loop import test_gpu_lowering as programs
from tests.loop.test_constants import folded
from tests.loop.test_gpu_moved import MOVED, M, N, inputs_of, norm16

NEEDS_COMPILER = pytest.mark.skipif(COMPILER is None, reason=MISSING)


def apart_sum(b: Builder) -> Value:
    """Rows that start elsewhere, and a vector."""
    x, y = b.slice(b.input(bf16, (N, M + 3)), 1, 1, 1, M), b.input(bf16, (N, M))
    z = b.mul(b.add(b.cast(x, f32), b.cast(y, f32)), b.cast(b.input(bf16, (M,)), f32))
    return b.reduce("sum", z, [1])


def least(b: Builder) -> Value:
    """An identity that is neither 0 nor the value of a lane that reads nothing."""
    return b.reduce("min", b.abs(b.cast(b.input(bf16, (N, M)), f32)), [1])


def two(b: Builder) -> Value:
    """The softmax of a product of two tensors."""
    x, y = (b.cast(b.input(bf16, (N, M)), f32) for _ in range(2))
    z = b.mul(x, y)
    e = b.exp(b.sub(z, b.reduce("max", z, [1], keepdim=True)))
    return b.cast(b.div(e, b.reduce("sum", e, [1], keepdim=True)), bf16)


def beside(b: Builder) -> Value:
    """The softmax of a sum, of which one operand starts elsewhere in each row."""
    x, y = b.input(bf16, (N, M)), b.slice(b.input(bf16, (N, M + 3)), 1, 1, 1, M)
    z = b.add(b.cast(x, f32), b.cast(y, f32))
    e = b.exp(b.sub(z, b.reduce("max", z, [1], keepdim=True)))
    return b.cast(b.div(e, b.reduce("sum", e, [1], keepdim=True)), bf16)


PROGRAMS = {**{name: program for name, (program, _) in MOVED.items()}, "apart_sum": apart_sum, "two": two}
PROGRAMS |= {"beside": beside, "least": least}


@pytest.fixture(autouse=True)
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a few vectors are moved, too."""
    for name in ("LONG", "FEWEST", "SHORT", "MANY"):
        monkeypatch.setattr(gpu_anchor, name, 1)
    monkeypatch.setattr(gpu_tile, "OTHERS", -1)


def changed(graph: Graph, sizes: dict[str, int], **changes: object) -> GpuCompiled:
    """The kernel of another schedule than that which is chosen."""
    c = gpu_kernel(graph, sizes, SMALL)
    assert c.schedule.anchor
    fusion = fusion_of(graph, make=collect.build).fusion
    f, s, launch = settle(fusion, replace(c.schedule, **changes), Sizes(hint_of(sizes), SMALL))
    kernel = lower_gpu(f, s, "kernel")
    verify(kernel.func)
    return replace(c, built=replace(c.built, fusion=f), schedule=s, kernel=kernel, launch=launch)


def check(c: GpuCompiled, name: str, sizes: dict[str, int], emulated: bool = True) -> None:
    inputs = inputs_of(name, c.graph, sizes)
    check_gpu(c.graph, sizes, inputs, compiled=c)
    check_gpu(c.graph, sizes, inputs, compiled=c, machine=run_sized)
    if emulated and COMPILER is not None:
        check_gpu(c.graph, sizes, inputs, compiled=c, machine=run_emulated)


@pytest.mark.every(4)
@pytest.mark.parametrize(("steps", "threads"), [(1, 4), (2, 4), (4, 2), (2, 8)])
@pytest.mark.parametrize("name", ["persistent", "norm", "sums", "least", "log_sum_exp", "moments", "loss", "apart_sum"])
def test_walks_of_every_length(name: str, steps: int, threads: int) -> None:
    """Rows of fewer vectors than are beside the ends, of about a turn, of several; their ends anywhere."""
    graph = graph_of(PROGRAMS[name])
    turn = steps * threads
    for m in (9, 41, 63, 8 * turn + 1, 8 * (turn + 6) - 1, 8 * (3 * turn + 7) + 3, 701):
        sizes = {"n": 9, "m": m}
        changes = {"row_threads": 2, "col_threads": threads, "steps": steps}
        check(changed(graph, sizes, mode="loop", cluster=1, keep_in="registers", **changes), name, sizes, m > 600)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["sums", "moments", "log_sum_exp", "persistent"])
def test_pieces_of_rows(name: str) -> None:
    """A chunk of columns begins and ends within a row; vectors of the next one are not its own."""
    graph = graph_of(PROGRAMS[name])
    for m in (333, 1001, 2047):
        sizes = {"n": 3, "m": m}
        changes = {"row_threads": 1, "col_threads": 8, "steps": 2, "finish": False, "once": False}
        c = changed(graph, sizes, mode="split", cluster=1, keep_in="registers", **changes)
        assert c.launch["splits"] > 1
        check(c, name, sizes, m == 1001)


def test_nothing_is_asked_about_vectors_inside() -> None:
    """The first loop of each pass has no condition and no mask, its loads lie across vectors or are aligned."""
    c = changed(graph_of(norm16), {"n": 9, "m": 3333}, mode="loop", cluster=1, row_threads=1, col_threads=32, steps=2)
    loops = [s for s in walk(c.kernel.func.body) if isinstance(s, For)]
    assert len(loops) == 4
    inside = [x for s in loops[::2] for x in walk(s.body)]
    assert not any(isinstance(x, If) or (isinstance(x, Store) and x.mask is not None) for x in inside)
    loads = [x for x in inside if isinstance(x, Let) and x.op == "load"]
    assert {x.attr for x in loads} == {"aligned", "across"}
    assert all(len(x.args) == 1 for x in loads)


def test_positions_are_found_in_order() -> None:
    """Of equal values the first one counts, whichever vectors are partial."""
    graph = graph_of(cases.argmax)
    sizes = {"n": 9, "m": 701}
    c = changed(graph, sizes, mode="loop", cluster=1, row_threads=2, col_threads=8, steps=2)
    for inputs in ([np.zeros((9, 701), np.float32)], [np.tile([1.0, 2.0, 2.0, 0.0], 1578)[:6309].reshape(9, 701)]):
        check_gpu(graph, sizes, [inputs[0].astype(np.float32)], compiled=c)


# --- rows in shared memory ---
@pytest.mark.every(2)
@pytest.mark.parametrize("name", ["persistent", "two"])
@pytest.mark.parametrize(("steps", "cluster"), [(8, 1), (8, 2), (24, 1)])
def test_rows_in_shared_memory(name: str, steps: int, cluster: int) -> None:
    """Whole vectors are copied; those at the ends of a row are read, for what is beside them is of other rows, or of
    nobody."""
    graph = graph_of(PROGRAMS[name])
    for n, m in ((9, 8 * 8 * (steps - 1) * cluster + 3), (1, 8 * 8 * steps * cluster - 9), (9, 131), (9, 8)):
        sizes = {"n": n, "m": m}
        if not gpu_kernel(graph, sizes, SMALL).schedule.anchor:
            continue
        changes = {"row_threads": 1, "col_threads": 8, "steps": steps, "keep": "loads", "keep_in": "shared"}
        c = changed(graph, sizes, mode="persistent", cluster=cluster, **changes)
        assert any(isinstance(s, Copy) for s in walk(c.kernel.func.body))
        check(c, name, sizes, n == 9 and m > 200)


def test_long_rows_are_held_in_shared_memory() -> None:
    """As are those whose vectors are aligned as they are; not where an operand's rows start elsewhere."""
    for n in (32768, 32771, 50257):
        s = gpu_kernel(graph_of(programs.softmax16), {"n": 4000, "m": n}, H200).schedule
        assert s.keep_in == "shared" and bool(s.anchor) == bool(n % 8)
    graph = graph_of(PROGRAMS["beside"])
    c = gpu_kernel(graph, {"n": 4000, "m": 50257}, H200)
    assert c.schedule.anchor and c.schedule.keep_in == "registers"
    other = replace(c.schedule, keep_in="shared", keep="loads", steps=8, cluster=4, col_threads=256, row_threads=1)
    with pytest.raises(Illegal, match="rows are moved to where those of in0 are aligned, and others are not"):
        settle(fusion_of(graph, make=collect.build).fusion, other, Sizes(hint_of({"n": 4000, "m": 50257}), H200))


# --- loads across, without a mask ---
WHOLE = """func k cuda i32 (buf x: f32, buf y: f32 out) { grid b of 1, t of 2 {
  p: i32 = mul(t, 4) at: i32 = add(p, 1) v: f32x4 = load(x, at) {across} store y[p] = v } }"""


def test_what_is_around_a_whole_vector_exists() -> None:
    func = parse(WHOLE)
    verify(func)
    x, y = np.arange(12, dtype=np.float32), np.zeros(8, np.float32)
    interpret(func, {"x": x, "y": y}, {}, {})
    np.testing.assert_array_equal(x[1:9], y)
    with pytest.raises(InterpError, match="elements 4 to 12 are not all in buffer 'x' of 11"):
        interpret(func, {"x": x[:11], "y": y}, {}, {})


@pytest.mark.every(6)
@NEEDS_COMPILER
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64", "i64", "u8", "i8", "bool"])
@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_a_whole_load_across_is_any_load(dtype: str, lanes: int) -> None:
    """The same elements, wherever they begin, and wherever the buffer does."""
    x = stored_values(BY_NAME[dtype], 8 * lanes)
    value = "f32" if dtype.endswith("f16") else dtype
    for first in range(lanes):
        text = f"""func k cuda i32 (buf x: {dtype}, buf y: {dtype} out) {{ grid b of 1, t of 4 {{
          p: i32 = mul(t, {lanes}) at: i32 = add(p, {lanes + first})
          v: {value}x{lanes} = load(x, at) {{across}} store y[p] = v }} }}"""
        func = parse(text)
        verify(func)
        for offset in range(3):
            y = np.zeros_like(x)[: 4 * lanes]
            run_emulated(func, {"x": x, "y": y}, {}, offsets={"x": offset})
            np.testing.assert_array_equal(y, x[lanes + first :][: 4 * lanes])


# --- kernels whose sizes are numbers ---
def ranged(body: str, n: int) -> list[Let]:
    text = f"""func k cuda i32 (buf x: f32, buf y: f32 out, size n) {{ grid b of 9, t of 8 {{
      s: i32 = mul(b, n) q: i32 = and(s, 3) p: i32 = mul(t, 4) {body} }} }}"""
    return [s for s in walk(folded(text, n).body) if isinstance(s, Let) and s.op == "load"]


@pytest.mark.parametrize(
    ("first", "mark", "n", "whole"),
    [(4, "aligned", 39, True), (2, "aligned", 39, False), (4, "aligned", 34, False), (4, "aligned", 35, False)]
    + [(8, "across", 46, True), (4, "across", 46, False), (8, "across", 42, False)],
)
def test_ranges_of_lanes_that_are_all_on(first: int, mark: str, n: int, whole: bool) -> None:
    """Vectors from `first` - 3 to `first` + 28, of rows of `n`: a load across reads what is beside them, too."""
    loads = ranged(
        f"""r: i32 = add(p, {first}) at: i32 = sub(r, q) k: boolx4 = lanerange(at, n) i: i32 = add(s, at)
        v: f32x4 = load(x, i, k) {{{mark}}} store y[i] = v {{mask k}}""",
        n,
    )
    assert [len(s.args) == 1 for s in loads] == [whole]


def test_ranges_of_lanes_that_are_off() -> None:
    text = "r: i32 = add(p, 48) at: i32 = sub(r, q) k: boolx4 = lanerange(at, n) v: f32x4 = load(x, at, k) {aligned}"
    assert ranged(f"{text} store y[p] = v", 45) == []


def test_the_first_vector_of_a_row_is_on_its_own() -> None:
    """Of a row in registers the first and the last ones are behind conditions, those between are not."""
    c = gpu_kernel(graph_of(programs.softmax16), {"n": 4000, "m": 5501}, H200)
    assert c.schedule.anchor and c.schedule.mode == "persistent" and c.schedule.steps >= 3
    func = folded(dump(c.kernel.func), *c.kernel.evaluate({"n": 4000, "m": 5501, **c.launch}))
    loads = [s for s in walk(func.body) if isinstance(s, Let) and s.buf is not None and s.buf.name == "in0"]
    assert sorted(len(s.args) > 1 for s in loads) == [False, True, True], dump(func)
