"""Rows that are moved back to where vectors are aligned in memory, interpreted and emulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, bf16, bool_, f16, f32, i64
from fusewright.core.errors import VerifyError
from fusewright.fusion import collect
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import ix, sym
from fusewright.interp.loop import run as interpret
from fusewright.interp.values import InterpError
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Func
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule import gpu_anchor, gpu_tile
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.legal_gpu import Sizes, settle
from tests.emulate.checks import stored_values
from tests.emulate.cuda import COMPILER, MISSING, run_emulated
from tests.golden import cases
from tests.kernels import fusion_of, graph_of, random_inputs
from tests.kernels_gpu import SMALL, GpuCompiled, check_gpu, gpu_kernel, hint_of
from tests.loop import test_gpu_lowering as programs

N, M = sym("n"), sym("m")
ONE_SM = Gpu((8, 0), 1, 1 << 10, 96 << 10)
MANY = Gpu((9, 0), 64, 1 << 20, 227 << 10)
NEEDS_COMPILER = pytest.mark.skipif(COMPILER is None, reason=MISSING)
Program = Callable[[Builder], "Value | list[Value]"]


@pytest.fixture(autouse=True)
def short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a few vectors are moved, too."""
    for name in ("LONG", "FEWEST", "SHORT", "MANY"):
        monkeypatch.setattr(gpu_anchor, name, 1)
    monkeypatch.setattr(gpu_tile, "OTHERS", -1)  # nor are they walked as one


def bias_relu(b: Builder) -> Value:
    x, bias = b.input(bf16, (N, M)), b.input(bf16, (M,))
    return b.cast(b.max(b.add(b.cast(x, f32), b.cast(bias, f32)), b.const(0.0, f32)), bf16)


def norm16(b: Builder) -> Value:
    x, weight, bias = b.input(bf16, (N, M)), b.input(bf16, (M,)), b.input(f32, (M,))
    y, _ = cases._normalised(b, b.cast(x, f32))
    return b.cast(b.add(b.mul(y, b.cast(weight, f32)), bias), bf16)


def rows_of_a_table(b: Builder) -> Value:
    table, at = b.input(bf16, (N, M)), b.input(i64, (N,))
    rows = b.gather(table, [at], (N, M), [("at", 0, (0,)), ("dim", 1)])
    return b.cast(b.mul(b.cast(rows, f32), b.const(2.0, f32)), bf16)


def sums16(b: Builder) -> Value:
    return b.reduce("sum", b.cast(b.input(bf16, (N, M)), f32), [1])


def extremes(b: Builder) -> list[Value]:
    """Identities that are neither 0 nor the value of a lane that reads nothing."""
    x = b.cast(b.input(f16, (N, M)), f32)
    return [b.reduce(m, f(x), [1]) for m, f in (("max", b.neg), ("min", b.abs), ("prod", b.abs), ("argmin", b.abs))]


def cross_entropy(b: Builder) -> list[Value]:
    """Each row's loss, and the sum of all."""
    x, y = b.input(bf16, (N, M)), b.input(i64, (N,))
    own = b.cast(b.gather(x, [y], (N,), [("dim", 0), ("at", 0, (0,))]), f32)
    x = b.cast(x, f32)
    top = b.reduce("max", x, [1], keepdim=True)
    total = b.add(b.log(b.reduce("sum", b.exp(b.sub(x, top)), [1], keepdim=True)), top)
    loss = b.sub(b.reshape(total, (N,)), own)
    return [loss, b.reduce("sum", loss, [0])]


def groups(b: Builder) -> Value:
    """Rows of three pieces, each with a factor of its own."""
    x, scale = b.input(bf16, (N, ix(3), M)), b.input(f32, (ix(3), 1))
    x = b.cast(x, f32)
    y = b.sub(x, b.reduce("max", x, [1, 2], keepdim=True))
    return b.cast(b.mul(y, scale), bf16)


def mixed(b: Builder) -> list[Value]:
    """Types of several sizes."""
    x, y, z = b.input(f32, (N, M)), b.input(bf16, (N, M)), b.input(BY_NAME["u8"], (N, M))
    s = b.add(b.mul(b.mul(x, b.cast(y, f32)), b.input(f32, (M,))), b.cast(z, f32))
    return [s, b.lt(s, x), b.cast(s, bf16)]


def wide(b: Builder) -> list[Value]:
    x, y, z = b.input(BY_NAME["f64"], (N, M)), b.input(bf16, (N, M)), b.input(i64, (N, M))
    s = b.mul(b.add(x, b.cast(y, BY_NAME["f64"])), b.input(BY_NAME["f64"], (M,)))
    return [s, b.add(z, b.const(1, i64)), b.neg(y)]


def small(b: Builder) -> list[Value]:
    x, y = b.input(BY_NAME["i8"], (N, M)), b.input(bool_, (N, M))
    return [b.where(y, x, b.neg(x)), b.reduce("any", y, [1])]


def off_by_one(b: Builder) -> Value:
    """Rows that start at an odd element."""
    x = b.cast(b.input(bf16, (N, M + 2)), f32)
    return b.reduce("sum", b.slice(x, 1, 1, 1, M), [1])


def total(b: Builder) -> Value:
    """Over rows and columns, of rows that are not next to each other."""
    x = b.cast(b.slice(b.input(bf16, (N, M + 2)), 1, 1, 1, M), f32)
    return b.reduce("sum", b.mul(x, x), [0, 1])


def apart(b: Builder) -> Value:
    """An operand whose rows start elsewhere."""
    x, y = b.slice(b.input(bf16, (N, M + 3)), 1, 1, 1, M), b.input(bf16, (N, M))
    return b.add(b.cast(x, f32), b.cast(b.add(b.cast(y, f32), b.cast(b.input(bf16, (M,)), f32)), f32))


def pieces(b: Builder) -> Value:
    """Three tensors side by side, of which no row starts where the result's does."""
    xs = [b.input(bf16, (N, m)) for m in (M, M + 5, M)]
    return b.neg(b.cat(xs, 1))


def framed(b: Builder) -> Value:
    """One tensor on top of another, and a frame around both."""
    x, y = b.cast(b.input(bf16, (N, M)), f32), b.cast(b.input(bf16, (N, M)), f32)
    return b.cast(b.pad(b.cat([x, b.neg(y)], 0), [1, 3], [2, 1], b.const(0.5, f32)), bf16)


MOVED: dict[str, tuple[Program, Gpu]] = {
    "tile": (bias_relu, SMALL),
    "table": (rows_of_a_table, SMALL),
    "persistent": (programs.softmax16, SMALL),
    "norm": (norm16, SMALL),
    "sums": (sums16, SMALL),
    "extremes": (extremes, SMALL),
    "argmax": (cases.argmax, SMALL),
    "log_sum_exp": (programs.log_sum_exp, SMALL),
    "moments": (programs.moments, SMALL),
    "loss": (cross_entropy, SMALL),
    "groups": (groups, SMALL),
    "mixed": (mixed, SMALL),
    "wide": (wide, SMALL),
    "small": (small, SMALL),
    "off_by_one": (off_by_one, SMALL),
    "total": (total, SMALL),
    "apart": (apart, SMALL),
    "pieces": (pieces, SMALL),
    "framed": (framed, SMALL),
}


def moved(graph: Graph, n: int, m: int, gpu: Gpu = SMALL, **kwargs) -> GpuCompiled:
    c = gpu_kernel(graph, {"n": n, "m": m}, gpu, **kwargs)
    assert c.schedule.anchor, f"{n}x{m} is not moved"
    return c


def inputs_of(name: str, graph: Graph, sizes: dict[str, int]) -> list[np.ndarray]:
    inputs = random_inputs(graph, sizes)
    if name == "loss":
        inputs[1] %= sizes["m"]
    if name == "table":
        inputs[1] %= sizes["n"]
    return inputs


@pytest.mark.every(6)
@pytest.mark.parametrize("name", MOVED)
def test_every_length_and_remainder(name: str) -> None:
    """Rows of 1 to 60 columns, 9 of them: they start at every remainder."""
    program, gpu = MOVED[name]
    graph = graph_of(program)
    seen = 0
    for m in (*range(1, 42), 47, 53, 59, 61):
        sizes = {"n": 9 if m % 3 else 1, "m": m}
        c = check_gpu(graph, sizes, inputs_of(name, graph, sizes), gpu=gpu)
        seen += bool(c.schedule.anchor)
    assert seen > 5, f"only {seen} lengths were moved"


@pytest.mark.parametrize(
    ("name", "least"),
    [("tile", 256), ("table", 128), ("sums", 24), ("extremes", 24), ("persistent", 768), ("norm", 768)],
)
def test_rows_that_are_too_short(name: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are held, or are walked over more than once, want more vectors than those that are summed up once."""
    monkeypatch.undo()
    monkeypatch.setattr(gpu_tile, "OTHERS", -1)
    graph = graph_of(MOVED[name][0])
    for m in range(least - 9, least + 9):
        c = gpu_kernel(graph, {"n": 10_000, "m": m}, H200)
        words = name == "tile" and m % 2 == 0  # two elements make one, and the bias lies across vectors
        assert bool(c.schedule.anchor) == (m >= least and bool(m % 4) and not words), m


def test_tiles_of_moved_rows_are_hardly_wider_than_these() -> None:
    for m in (301, 333, 571, 771, 1153, 4099):
        s = moved(graph_of(bias_relu), 100_000, m, H200).schedule
        width = s.col_threads * s.steps * s.lanes
        assert -(-m // width) * width <= 1.25 * m, (m, s.col_threads, s.steps)


@pytest.mark.every(6)
@NEEDS_COMPILER
@pytest.mark.parametrize("name", MOVED)
def test_in_the_emulation(name: str) -> None:
    program, gpu = MOVED[name]
    graph = graph_of(program)
    m = 37
    for n in (9, 18):
        sizes = {"n": n, "m": m}
        check_gpu(graph, sizes, inputs_of(name, graph, sizes), compiled=moved(graph, n, m, gpu), machine=run_emulated)


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("gpu", [SMALL, ONE_SM, MANY], ids=["small", "one", "many"])
@pytest.mark.parametrize("program", [programs.moments, programs.log_sum_exp, programs.softmax16, norm16])
def test_long_rows_with_infinities_and_nans(program: Program, gpu: Gpu, special: float) -> None:
    """One in a row, a row of nothing else, the ends of a row; the row before and after must not see it."""
    graph, sizes = graph_of(program), {"n": 5, "m": 7001}
    c = moved(graph, **sizes, gpu=gpu)
    inputs = random_inputs(graph, sizes)
    inputs[0][0, 6789] = special
    inputs[0][2] = special
    inputs[0][4, 0] = special
    check_gpu(graph, sizes, inputs, compiled=c)


@pytest.mark.parametrize(
    ("program", "gpu", "n", "m", "mode"),
    [
        (programs.row_sums, MANY, 2, 33333, "split"),
        (programs.moments, MANY, 2, 33333, "split"),
        (programs.log_sum_exp, MANY, 2, 33333, "split"),
        (programs.softmax16, MANY, 2, 70001, "split"),
        (programs.softmax16, ONE_SM, 3, 70001, "loop"),
        (programs.moments, ONE_SM, 3, 70001, "loop"),
        (programs.softmax16, H200, 40, 20001, "persistent"),
    ],
)
def test_every_mode(program: Program, gpu: Gpu, n: int, m: int, mode: str) -> None:
    graph, sizes = graph_of(program), {"n": n, "m": m}
    c = check_gpu(graph, sizes, gpu=gpu)
    assert c.schedule.anchor and c.schedule.mode == mode


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["tile", "norm", "sums", "moments", "loss", "apart", "mixed"])
def test_wide_indices_and_more_threads(name: str) -> None:
    """Other schedules of the same rows: 64-bit indices, blocks that share a row, other steps."""
    graph = graph_of(MOVED[name][0])
    sizes = {"n": 6, "m": 333}
    c = moved(graph, **sizes)
    fusion = fusion_of(graph, make=collect.build).fusion
    inputs = inputs_of(name, graph, sizes)
    for change in ({"index": 64}, {"steps": 4}, {"cluster": 2}, {"row_threads": 1, "col_threads": 64}):
        if "cluster" in change and (c.schedule.mode != "persistent" or c.schedule.resident):
            continue
        if c.schedule.mode == "persistent" and "row_threads" in change:
            continue
        f, s, launch = settle(fusion, replace(c.schedule, **change), Sizes(hint_of(sizes), SMALL))
        kernel = lower_gpu(f, s, "kernel")
        verify(kernel.func)
        built = replace(c.built, fusion=f)
        other = replace(c, built=built, schedule=s, kernel=kernel, launch=launch)
        check_gpu(graph, sizes, inputs, compiled=other)
        if COMPILER is not None:
            check_gpu(graph, sizes, inputs, compiled=other, machine=run_emulated)


def test_what_is_not_moved() -> None:
    """Buffers that are not aligned, rows that are short, or aligned as they are, or in pairs that fill 8 bytes."""
    graph = graph_of(programs.softmax16)
    for alignment in (2, 4, 8):
        assert not gpu_kernel(graph, {"n": 9, "m": 333}, alignment=alignment).schedule.anchor
    for m in (328, 332, 7):
        assert not gpu_kernel(graph, {"n": 9, "m": m}).schedule.anchor
    for program in (cases.rms_norm_backward, cases.cumulative, cases.dropout, cases.transpose):
        assert not gpu_kernel(graph_of(program), {"n": 9, "m": 333}).schedule.anchor


def test_rows_are_whole_vectors_in_memory() -> None:
    """Every access of a row is one that is aligned, but at its ends; what is not is read across two."""
    text = dump(moved(graph_of(norm16), 9, 333).kernel.func)
    assert text.count("{aligned}") == 1 and text.count("{across}") == 2 and text.count("{hint aligned}") == 0
    assert text.count("hint aligned") == 1 and "gather" not in text


def test_a_kernel_is_for_all_lengths_of_its_schedule() -> None:
    texts = {dump(moved(graph_of(programs.softmax16), n, m, H200).kernel.func) for n, m in ((4000, 4097), (5001, 4099))}
    assert len(texts) == 1


ACROSS = """func k cuda i32 (buf x: f32, buf y: f32 out, size n) { grid b of 1, t of 4 {
  p: i32 = mul(t, 4) at: i32 = sub(p, 1) k: boolx4 = lanerange(at, n) v: f32x4 = load(x, at, k) {across}
  store y[at] = v {mask k} } }"""


def test_a_load_across_has_a_row() -> None:
    func = parse(ACROSS)
    verify(func)
    x, y = np.arange(11, dtype=np.float32), np.zeros(11, np.float32)
    interpret(func, {"x": x, "y": y}, {"n": 11}, {})
    np.testing.assert_array_equal(x, y)
    with pytest.raises(InterpError, match="elements 0 to 11 are not all in buffer 'x' of 10"):
        interpret(func, {"x": x[:10], "y": y}, {"n": 11}, {})


@pytest.mark.every(6)
@NEEDS_COMPILER
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "f64", "i64", "u8", "i8", "bool"])
@pytest.mark.parametrize("first", range(4))
def test_a_load_across_is_any_load(dtype: str, first: int) -> None:
    """The same elements, wherever the row begins, and wherever the buffer does."""
    for lanes in (2, 4, 8):
        text = f"""func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, size n, size m) {{ grid b of m, t of 16 {{
          s: i32 = mul(b, n) q: i32 = and(s, {lanes - 1}) p: i32 = mul(t, {lanes}) r: i32 = sub(p, {first})
          at: i32 = sub(r, q) k: boolx{lanes} = lanerange(at, n) i: i32 = add(s, at)
          v: {"f32" if dtype.endswith("f16") else dtype}x{lanes} = load(x, i, k) {{across}}
          store y[i] = v {{mask k}} }} }}"""
        func = parse(text)
        verify(func)
        x = stored_values(BY_NAME[dtype], 9 * 21)
        for offset in range(3):
            y = np.zeros_like(x)
            run_emulated(func, {"x": x, "y": y}, {"n": 21, "m": 9}, offsets={"x": offset})
            want = np.zeros_like(x).reshape(9, 21)
            for row in range(9):
                low = -first - row * 21 % lanes
                have = slice(max(low, 0), max(min(low + 16 * lanes, 21), 0))
                want[row, have] = x.reshape(9, 21)[row, have]
            np.testing.assert_array_equal(y, want.reshape(-1))


ROWS = """func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, size n, size m, size end) {{ grid b of m, t of 16 {{
  s: i32 = mul(b, n) q: i32 = and(s, {last}) p: i32 = mul(t, {lanes}) at: i32 = sub(p, q)
  k: boolx{lanes} = lanerange(at, n) i: i32 = add(s, at) v: {value}x{lanes} = load(x, i, k, end) {{{mark}}}
  store y[i] = v {{mask k}} }} }}"""


def rows_beside(dtype: str, lanes: int, mark: str = "aligned") -> Func:
    value = "f32" if dtype.endswith("f16") else dtype
    return parse(ROWS.format(dtype=dtype, lanes=lanes, last=lanes - 1, value=value, mark=mark))


@pytest.mark.every(6)
@NEEDS_COMPILER
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64", "i64", "u8", "bool"])
@pytest.mark.parametrize("mark", ["aligned", "across"])
def test_what_is_beside_a_row_may_be_read(dtype: str, mark: str) -> None:
    """The elements of each row are the same; the last rows have nothing behind them."""
    for lanes in (2, 4, 8):
        func = rows_beside(dtype, lanes, mark)
        verify(func)
        for n in (1, 2, 21, 29):
            x = stored_values(BY_NAME[dtype], 9 * n)
            for machine in (interpret, run_emulated):
                y = np.zeros_like(x)
                machine(func, {"x": x, "y": y}, {"n": n, "m": 9, "end": 9 * n - 1}, *({},) * (machine is interpret))
                np.testing.assert_array_equal(y, x)


def test_what_was_read_beside_a_row_shows_if_it_is_used() -> None:
    """In the interpreter; and that there are such elements."""
    text = dump(rows_beside("f32", 4)).replace(" {mask k}", "")
    x, y = np.ones(27, np.float32), np.zeros(64, np.float32)
    with pytest.raises(InterpError, match="index 27 is outside buffer 'x' of 27"):
        interpret(parse(text), {"x": x, "y": y}, {"n": 9, "m": 3, "end": 27}, {})
    text = text.replace("store y[i]", "r: i32 = mul(b, 16) j: i32 = add(r, p) store y[j]").replace("t of 16", "t of 4")
    interpret(parse(text), {"x": x, "y": y}, {"n": 9, "m": 3, "end": 26}, {})
    off = np.flatnonzero(np.isnan(y)).tolist()
    assert off == [9, 10, 11, 16, 26, 27, 32, 33]  # beyond the last row there is nothing, which is read as 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("k: boolx4 = lanerange(t, 9) v: f32x4 = load(x, t, k, 9)", "a load with a reach is aligned or across"),
        ("k: boolx4 = lanerange(t, 9) v: f32x4 = load(x, t, k, 9:i64) {across}", "the reach must be i32, not i64"),
        ("k: boolx4 = lanemask(t) v: f32x4 = load(x, t, k) {across}", "with a lanerange or no mask"),
        ("v: f32 = load(x, t) {across}", "a load 'across' is of a vector"),
        ("k: boolx4 = lanemask(t) v: f32x4 = load(x, t, k) {aligned}", "with a lanerange or no mask"),
        ("k: boolx4 = lanerange(t, 1:i64)", "the count must be i32, not i64"),
        ("k: boolx4 = lanerange(t, 9) store y[t] = 1.0:f32x4 {mask k, hint across}", "only loads may be 'across'"),
    ],
)
def test_the_verifier_knows_ranges(body: str, message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        verify(parse(f"func k cuda i32 (buf x: f32, buf y: f32 out) {{ grid b of 1, t of 4 {{ {body} }} }}"))
