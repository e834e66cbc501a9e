"""How many vectors of rows, and columns of single ones, a CPU kernel takes at a time (`schedule/cpu_blocks.py`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusewright.core.dtypes import DType, bf16, f32, f64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import Ix, sym
from fusewright.schedule import edit, text
from fusewright.schedule.cpu import Machine, Schedule, plan
from fusewright.schedule.forms import Illegal
from tests.kernels import fusion_of, graph_of

B, N, M = sym("b"), sym("n"), sym("m")
Program = Callable[[Builder], Value]


def sums(dtype: DType = f32) -> Program:
    return lambda b: b.reduce("sum", b.input(dtype, (B, N, M)), [1])


def softmax(b: Builder) -> Value:
    x = b.input(f32, (B, N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [1], keepdim=True))


def _hint(b: int, n: int, m: int) -> Callable[[Ix], int]:
    return lambda e: int(e.evaluate({"b": b, "n": n, "m": m}))


def _plan(program: Program, b: int, n: int, m: int, lanes: int = 8, threads: int = 2) -> Schedule:
    return plan(fusion_of(graph_of(program)).fusion, _hint(b, n, m), Machine(lanes, 1 << 62, threads))[1]


@pytest.mark.parametrize(
    ("m", "abreast", "steps"),
    [(3, 0, 4), (16, 2, 0), (32, 4, 0), (51, 4, 4), (128, 16, 0), (129, 16, 0), (1000, 16, 0)],
)
def test_blocks_cover_the_rows(m: int, abreast: int, steps: int) -> None:
    """As wide as there are rows; where single vectors are much of the work they take several columns at a time."""
    s = _plan(sums(), 100, 200, m)
    assert (s.abreast, s.steps) == (abreast, steps) and s.vector == s.rows[-1]


def test_runs_of_memory_are_what_counts() -> None:
    """Blocks are measured in bytes of memory: half as many vectors of AVX-512 do."""
    assert _plan(sums(), 100, 200, 1024, lanes=16).abreast == 8
    assert _plan(sums(), 100, 200, 32, lanes=16).abreast == 2


def test_dear_work_has_narrower_blocks() -> None:
    assert _plan(softmax, 100, 200, 1024).abreast == 8
    assert _plan(sums(f64), 100, 200, 1024).abreast == 8, "a vector of eight doubles is two registers"
    assert _plan(sums(bf16), 100, 200, 1024).abreast == 16


def test_threads_are_fed() -> None:
    """Few rows are not taken at once by few threads."""
    assert _plan(softmax, 1, 500, 256, threads=2).abreast == 8
    assert _plan(softmax, 1, 500, 256, threads=32).abreast == 0


def test_where_the_rows_are_kept() -> None:
    """Sums over the middle keep theirs in registers; sums over the first axis walk along memory, each thread its part,
    and so do those of rows that are too few."""
    middle, first, few = _plan(sums(), 100, 200, 64), _plan(sums(), 1, 4000, 512), _plan(sums(), 2, 4000, 16)
    assert middle.vector in middle.rows
    heads = _plan(lambda b: b.reduce("sum", b.input(f32, (B, N, M)), [0]), 4000, 12, 64)  # one run of 768
    assert heads.vector in heads.cols
    assert first.vector in first.cols and few.vector in few.cols and not few.abreast


def test_in_text_and_by_hand() -> None:
    e = edit.on_cpu(fusion_of(graph_of(softmax)).original, _hint(100, 200, 512), Machine(8, 1 << 62, 2))
    assert "unroll(rows, 8)" in e.directives()
    assert text.parse(e.text())[0].schedule == e.schedule
    assert e.unroll(4, "rows").unroll(2).directives()[-2:] == ["unroll(rows, 4)", "unroll(columns, 2)"]
    assert not [d for d in e.unroll(1, "rows").directives() if d.startswith("unroll")]
    other = e.bind("i1", "vector", 8)  # lanes along a column: no rows to have several vectors of
    assert not [d for d in other.directives() if d.startswith("unroll")]
    with pytest.raises(Illegal, match=r"unroll\(rows, 3\): argument '3': not a number .*; legal: 1, 2, 4, 8, 16"):
        e.unroll(3, "rows")
    with pytest.raises(Illegal, match=r"unroll\(columns, 2\): argument '2': rows do not fill the lanes"):
        other.unroll(2)
