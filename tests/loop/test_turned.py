"""Tiles that pass through scratch and vectors of elements a few apart: Loop IR, its meaning, and machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from fusewright.build import llvm_jit
from fusewright.core.dtypes import BY_NAME, DType, bf16, bool_, f16, f32, f64, i8, numpy_type
from fusewright.core.errors import VerifyError
from fusewright.emit.llvm import emit
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.interp.loop import InterpError, run
from fusewright.loop.ir import STEPS, Let, Store, Turn, walk
from fusewright.loop.lower import lower
from fusewright.loop.overwrite import overwritable
from fusewright.loop.rows import Parts, Rows
from fusewright.loop.strided import NEAR
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.run.kernels import target
from fusewright.schedule import legal
from fusewright.schedule.cpu import Machine, Schedule, plan
from fusewright.schedule.edit import Edit
from fusewright.schedule.forms import Illegal
from fusewright.schedule.turned import LINES, WRITTEN
from tests.kernels import Compiled, check, fusion_of, graph_of, kernel, planned

N, M = sym("n"), sym("m")
TURN = """func k(buf x: {0}, buf y: {0} out, size p, size q, size m, size n) {{
  turn y[2] by p = x[3] by q of m, n
}}
"""
STRIDED = "func k(buf x: {0}, buf y: {0} out, size at) {{\n  v: {1}x8 = strided(x, at) {{{2}}}\n  store y[0] = v\n}}\n"
MASKED = """func k(buf x: {0}, buf y: {0} out, size at, size n) {{
  m: boolx16 = lanemask(n)
  v: {0}x16 = strided(x, at, m) {{{1}}}
  store y[0] = v
}}
"""


def machine(text: str, arrays: Sequence[np.ndarray], sizes: Sequence[int], bits: int) -> None:
    """Run a kernel's machine code on arrays, made for registers of `bits`."""
    func = parse(text)
    verify(func)
    host = target()
    if bits > host.bits:
        pytest.skip(f"no registers of {bits} bits")
    t = replace(host, bits=bits)
    fn = llvm_jit.load(llvm_jit.compile_ir(emit(func, t), t), func.name, [], t)
    table = np.array(sizes, np.int64)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, table)]
    call = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * (len(pointers) + 1))(fn)
    assert call(*pointers, None) == 0


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("name", ["u8", "i16", "f32", "f64"])
def test_machine_code_turns_what_the_interpreter_turns(name: str, bits: int) -> None:
    text, dtype = TURN.format(name), numpy_type(BY_NAME[name])
    shapes = [(1, 1), (2, 5), (3, 40), (40, 3), (4, 4), (7, 9), (8, 16), (17, 33), (64, 70), (0, 3), (3, 0)]
    pairs = [(m, 2) for m in (1, 2, 4, 15, 16, 33, 70)]
    for m, n in [*shapes, *pairs]:
        p, q = n + 3 * ((m, n) in shapes), m + 2
        x: np.ndarray = np.random.default_rng(m).integers(0, 100, 3 + n * q + m).astype(dtype)
        want: np.ndarray = np.full(2 + m * p + n, 7, dtype)
        got = want.copy()
        run(parse(text), {"x": x, "y": want}, {"p": p, "q": q, "m": m, "n": n})
        for r in range(m):
            for c in range(n):
                assert want[2 + r * p + c] == x[3 + c * q + r]
        machine(text, [x, got], [p, q, m, n], bits)
        np.testing.assert_array_equal(got, want)


@pytest.mark.every(4)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("count", range(2, 9))
@pytest.mark.parametrize("name", ["u8", "i16", "f32", "f64"])
def test_machine_code_puts_lines_together(name: str, count: int, bits: int) -> None:
    """A known number of lines that leave without gaps."""
    text = TURN.format(name).replace("by p", f"by {count}").replace("m, n", f"m, {count}")
    text = text.replace("size p, ", "").replace(", size n", "")
    dtype = numpy_type(BY_NAME[name])
    for m in (0, 1, 2, 7, 8, 15, 16, 17, 33, 70):
        x: np.ndarray = np.random.default_rng(m).integers(0, 100, 3 + count * (m + 2)).astype(dtype)
        want: np.ndarray = np.full(2 + m * count + 1, 7, dtype)
        got = want.copy()
        run(parse(text), {"x": x, "y": want}, {"q": m + 2, "m": m})
        for c in range(count):
            np.testing.assert_array_equal(want[2 + c : 2 + m * count : count], x[3 + c * (m + 2) :][:m])
        machine(text, [x, got], [m + 2, m], bits)
        np.testing.assert_array_equal(got, want)


@pytest.mark.every(4)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["u8", "i16", "f32", "f64"])
def test_machine_code_takes_parts_of_vectors_apart(name: str, step: int) -> None:
    """Nothing is read but what lies between the first and the last lane wanted: the memory ends there."""
    text = MASKED.format(name, step)
    dtype = np.dtype(numpy_type(BY_NAME[name]))
    for n in (0, 1, 2, 7, 8, 11, 15, 16):
        size = 1 + abs(step) * max(n - 1, 0)
        at, x = (0 if step > 0 else size - 1), np.arange(1, size + 1).astype(dtype)
        want, got = np.full(16, 9, dtype), np.full(16, 9, dtype)
        run(parse(text), {"x": x, "y": want}, {"at": at, "n": n})
        np.testing.assert_array_equal(want[:n], x[at + step * np.arange(n)])
        machine(text, [x, got], [at, n], target().bits)
        np.testing.assert_array_equal(got, want)
        assert not got[n:].any()


@pytest.mark.every(3)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["u8", "i16", "f16", "bf16", "f32", "f64"])
def test_machine_code_takes_vectors_apart(name: str, step: int) -> None:
    """What is read ends with the vector's last element: the array ends there."""
    held = "f32" if name in ("f16", "bf16") else name
    text = STRIDED.format(name, held, step)
    dtype = np.dtype(np.uint16) if name == "bf16" else np.dtype(numpy_type(BY_NAME[name]))
    at, size = (7, 8) if step < 0 else (1, 1 + 7 * step + 1)
    x = np.arange(size).astype(dtype)
    got = np.zeros(8, dtype)
    machine(text, [x, got], [at], target().bits)
    np.testing.assert_array_equal(got, x[at + step * np.arange(8)])
    if name != "bf16":
        run(parse(text), {"x": x, "y": (out := np.zeros(8, dtype))}, {"at": at})
        np.testing.assert_array_equal(out, got)


def test_text_and_rules() -> None:
    for text in (TURN.format("bf16"), STRIDED.format("f32", "f32", -1)):
        verify(parse(text))
        assert dump(parse(text)) == text
    wrong = {
        TURN.format("f32").replace("y[2]", "x[2]"): "store to 'x', which is an input",
        TURN.format("f32").replace("buf x: f32", "buf x: i32"): "a tile is turned into another buffer of its type",
        TURN.format("f32").replace("x[3]", "y[3]"): "a tile is turned into another buffer of its type",
        TURN.format("f32").replace("of m", "of true"): "the operand must be i64, not bool",
        STRIDED.format("f32", "f32", 9): "strided takes a buffer, an index and a step",
        STRIDED.format("f32", "f32", 2).replace("x, at", "x, true"): "the index must be i64, not bool",
    }
    for text, message in wrong.items():
        with pytest.raises(VerifyError, match=message):
            verify(parse(text))


def test_a_tile_beyond_a_buffer_is_reported() -> None:
    text = TURN.format("f32")
    x, y = np.zeros(20, np.float32), np.zeros(20, np.float32)
    with pytest.raises(InterpError, match="index 20 is outside buffer 'x' of 20 elements"):
        run(parse(text), {"x": x, "y": y}, {"p": 4, "q": 9, "m": 9, "n": 2})
    with pytest.raises(InterpError, match="index 20 is outside buffer 'y' of 20 elements"):
        run(parse(text), {"x": x, "y": y}, {"p": 9, "q": 1, "m": 2, "n": 10})


# --- kernels -------------------------------------------------------------------------------------


def plain(b: Builder) -> Value:
    return b.permute(b.input(f32, (M, N)), [1, 0])


def mixed(b: Builder) -> Value:
    """Two types read across, others along, and of one axis each."""
    x, y = b.cast(b.input(f16, (M, N)), f32), b.cast(b.input(i8, (M, N)), f32)
    z = b.add(b.permute(b.add(x, b.input(f32, (N,))), [1, 0]), b.input(f32, (N, M)))
    return b.mul(b.add(z, b.permute(y, [1, 0])), b.input(f32, (M,)))


def both(b: Builder) -> list[Value]:
    """Two results that lie along different axes: one is written across."""
    x, y = b.input(f32, (M, N)), b.input(f32, (N, M))
    out = b.add(b.permute(x, [1, 0]), y)
    return [out, b.permute(b.mul(out, out), [1, 0])]


def deep(b: Builder) -> Value:
    return b.permute(b.input(bf16, (3, M, N)), [2, 0, 1])


def masks(b: Builder) -> Value:
    return b.permute(b.input(bool_, (M, N)), [1, 0])


def few(b: Builder) -> Value:
    """Three values side by side, as in channels-last memory: lanes go along the other axis."""
    return b.permute(b.add(b.input(f64, (3, M)), b.input(f64, (3, 1))), [1, 0])


def pairs(b: Builder) -> Value:
    """Two values of each point, side by side."""
    x, y = b.input(f32, (N, M, 1)), b.input(f32, (N, M, 1))
    return b.cat([b.mul(x, y), b.add(x, y)], 2)


PROGRAMS: dict[str, tuple[Callable[[Builder], Value | list[Value]], int]] = {
    "plain": (plain, 1),
    "mixed": (mixed, 2),
    "both": (both, 2),
    "deep": (deep, 1),
    "masks": (masks, 1),
    "few": (few, 1),
    "pairs": (pairs, 1),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tiles(name: str, lanes: int, threads: int) -> None:
    program, count = PROGRAMS[name]
    graph = graph_of(program)
    c = kernel(graph, lanes=lanes)
    assert c.schedule.turn and c.schedule.family == "transpose"
    statements = list(walk(c.kernel.func.body))
    assert sum(isinstance(s, Turn) for s in statements) == count
    assert not any(isinstance(s, Let) and s.op == "gather" for s in statements)
    for n, m in [(5, 3), (1, 1), (64, 70), (150, 140), (0, 4), (9, 0), (1, 300), (300, 2)]:
        check(graph, {"n": n, "m": m}, threads, compiled=c)


def converted(b: Builder) -> Value:
    return b.cast(b.permute(b.input(f32, (M, N)), [1, 0]), bf16)


@pytest.mark.every(3)
@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("program", [plain, mixed, deep, masks, converted])
def test_tiles_written_past_the_caches(program: Callable[[Builder], Value], lanes: int) -> None:
    """Whole vectors begin where a cache line of the output does, wherever its lines begin."""
    graph = graph_of(program)
    built, s = planned(graph, lanes)
    (out,) = [b.name for b in built.fusion.buffers if b.output]
    c = Compiled(graph, built, replace(s, stream=frozenset((out,))), lower(built.fusion, s, "cached"))
    plain_stores = [x for x in walk(c.kernel.func.body) if isinstance(x, Store)]
    c.kernel = lower(built.fusion, c.schedule, "past")
    verify(c.kernel.func)
    stores = [x for x in walk(c.kernel.func.body) if isinstance(x, Store)]
    assert any(x.hint == "stream" for x in stores) and len(stores) > len(plain_stores)
    assert legal.check(built.original, c.schedule).text() == built.fusion.text()
    for n, m in [(5, 3), (1, 1), (64, 70), (150, 140), (0, 4), (1, 300), (300, 2), (2, 600)]:
        check(graph, {"n": n, "m": m}, 3, compiled=c)


@pytest.mark.parametrize("lanes", [8, 16])
def test_what_a_tile_turns_on_its_way_out_is_not_written_past_the_caches(lanes: int) -> None:
    """Its vectors go along the other axis: no line of it is theirs."""
    built, s = planned(graph_of(few), lanes)
    assert s.turn and not s.stream
    (out,) = [b.name for b in built.fusion.buffers if b.output]
    with pytest.raises(Illegal, match="its vectors are no whole cache lines"):
        legal.check(built.original, replace(s, stream=frozenset((out,))))


@pytest.mark.parametrize(("dtype", "rows", "along"), [(f32, 30, 64), (f32, 12, 128), (f64, 30, 32), (i8, 30, 256)])
def test_tiles_that_are_written_across_leave_room_for_what_they_are_written_to(
    dtype: DType, rows: int, along: int
) -> None:
    """Both are in the nearest cache then, however short the lines are."""
    across = graph_of(lambda b: b.permute(b.input(dtype, (rows, M)), [1, 0]))
    f, machine = fusion_of(across).fusion, Machine(16, 256 << 20)
    fitting = plan(f, lambda e: int(e.evaluate({"m": 561})), machine)[1]
    (_, high), (_, wide) = fitting.split
    assert wide == along and high * wide * dtype.itemsize <= WRITTEN


def test_what_is_large_is_written_past_the_caches() -> None:
    """What a last level shared by many has no room near enough for, where vectors have masks."""

    def chosen(n: int, machine: Machine, program: Callable[[Builder], Value | list[Value]] = plain) -> Schedule:
        return plan(fusion_of(graph_of(program)).fusion, lambda e: int(e.evaluate({"n": n, "m": n})), machine)[1]

    server = Machine(16, 256 << 20)
    small, large = chosen(1000, server), chosen(1025, server)
    assert dict(chosen(4000, server, masks).split) == {"i0": 256, "i1": 256}, "no more than a tile may have"
    assert not small.stream and dict(small.split) == {"i0": 64, "i1": 64}
    assert large.stream == {"out1"} and dict(large.split)["i1"] == LINES // 4
    assert not chosen(1025, Machine(16, 256 << 20, 2)).stream and chosen(1500, Machine(16, 256 << 20, 2)).stream
    assert not chosen(1025, Machine(8, 256 << 20)).stream and not chosen(5000, Machine(16, 1 << 62)).stream
    assert not chosen(5000, Machine(8, 1 << 20)).stream, "lines of the output begin anywhere"
    assert not chosen(5000, server, both).stream, "not lines of both outputs at once"
    along = lambda b: b.add(b.input(f32, (N, M)), b.input(f32, (M,)))
    assert not chosen(5000, server, along).stream


def test_what_tiles_read_ahead_is_not_overwritten() -> None:
    """A tile reads more than its own points, which other threads may have replaced."""

    def program(b: Builder) -> list[Value]:
        x, y = b.input(f32, (M, N)), b.input(f32, (N, M))
        out = b.mul(b.permute(x, [1, 0]), y)
        return [out, b.permute(b.add(out, y), [1, 0])]

    c = kernel(graph_of(program))
    assert c.schedule.turn
    taken = overwritable(c.built.fusion, c.schedule)
    inputs = [b.name for b in c.built.fusion.buffers if not b.output]
    assert [n for names in taken.values() for n in names] == [inputs[1]]


def test_legal_tiles() -> None:
    built, s = planned(graph_of(plain))
    assert legal.check(built.original, s).text() == built.fusion.text()
    edit = Edit(built.original, s)
    assert "stage_in(i0, thread)" in edit.text()
    assert edit.changed(turn="").stage_in("i0", "thread").schedule == replace(s, family="edited transpose")
    for directives, why in {
        "split(i1, 64)": "a tile needs ends along both of its axes",
        "split(i0, 1024) split(i1, 1024)": "the tile is too large for scratch",
        "stage_in(i1, thread)": "not the axis around the vectorised one",
    }.items():
        with pytest.raises(Illegal, match=why):
            edit.apply(directives)
    other, s = planned(graph_of(lambda b: b.add(b.input(f32, (N, M)), b.input(f32, (M,)))))
    bound = Edit(other.original, s).nest([], ["i0", "i1"]).apply("split(i0, 8) split(i1, 64)")
    with pytest.raises(Illegal, match="nothing lies side by side along this axis only"):
        bound.stage_in("i0", "thread")


def strides(step: int) -> Callable[[Builder], Value]:
    def program(b: Builder) -> Value:
        x = b.input(f32, (N, step * M)) if step > 0 else b.input(f32, (N, M))
        if step < 0:
            return b.mul(b.flip(x, [1]), b.input(f32, (N, M)))
        parts = [b.slice(x, 1, k, step, M) for k in range(step)]
        return b.mul(parts[0], parts[-1])

    return program


@pytest.mark.parametrize("step", STEPS)
def test_vectors_of_elements_a_few_apart(step: int) -> None:
    graph = graph_of(strides(step))
    c = kernel(graph, lanes=8)
    whole = [s for s in walk(c.kernel.func.body) if isinstance(s, Let) and s.op == "strided"]
    assert {s.attr for s in whole} == ({step} if step <= NEAR else set())
    for n, m in [(3, 5), (1, 1), (2, 64), (3, 41), (0, 4)]:
        check(graph, {"n": n, "m": m}, 2, compiled=c)
    wide = kernel(graph, lanes=16)
    gathers = [x for x in walk(wide.kernel.func.body) if isinstance(x, Let) and x.op in ("gather", "iota")]
    assert not gathers, "parts of vectors, too, where there are masks for them"
    for n, m in [(3, 5), (2, 64), (3, 41), (0, 4)]:
        check(graph, {"n": n, "m": m}, 2, compiled=wide)


@pytest.mark.parametrize(
    ("shape", "first"),  # first: whether a tile is of all rows before the next one is
    [
        ((3, 5, 8000), True),
        ((8000, 5, 6), True),
        ((3, 5, 4000), False),
        ((3, 5, 17, 8000), True),
        ((5, 3, 8000), False),
    ],
)
def test_rows_in_the_same_lines_have_a_tile_in_turn(
    shape: tuple[int, ...], first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of so many lines, of which each row has parts, that caches would not have them for the next row."""
    found = []
    parts = Rows.parts

    def recorded(lowering: Rows) -> tuple[Parts, bool]:
        found.append(parts(lowering)[0][0][0] in lowering.chunk)
        return parts(lowering)

    monkeypatch.setattr(Rows, "parts", recorded)
    apart = shape[0] == 5  # rows are far apart in both
    dims = [0, 2, 1] if apart else [len(shape) - 1, *range(1, len(shape) - 1), 0]
    check(graph_of(lambda b: b.neg(b.permute(b.input(f32, shape), dims))), {}, threads=2)
    assert found and all(f == first for f in found)
