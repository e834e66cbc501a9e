"""Outputs that CPU kernels write past the caches."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

import fusewright
from fusewright.core.dtypes import DType, bf16, f32, f64
from fusewright.emit.llvm import Target, emit
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.ir import Store, walk
from fusewright.loop.lower import lower
from fusewright.loop.text import dump, parse
from fusewright.schedule import cpu
from fusewright.schedule.cpu import Machine, Schedule, plan
from tests.kernels import fusion_of, graph_of
from tests.support import same_bits

Program = Callable[[Builder], Value]
N, M = sym("n"), sym("m")
WIDE, NARROW = Machine(16, 8 << 20, 2), Machine(8, 8 << 20, 2)


def halved(dtype: DType, columns: int) -> Program:
    def program(b: Builder) -> Value:
        x = b.input(dtype, (N, columns))
        return b.mul(x, b.const(0.5, dtype))

    return program


def off_the_largest(dtype: DType, columns: int) -> Program:
    """Rows in lanes: the second walk down the columns stores."""

    def program(b: Builder) -> Value:
        x = b.input(dtype, (N, M, columns))
        return b.sub(x, b.reduce("max", x, [1], keepdim=True))

    return program


def planned(program: Program, machine: Machine, **sizes: int) -> Schedule:
    f = fusion_of(graph_of(program)).fusion
    return plan(f, lambda e: int(e.evaluate(sizes)), machine)[1]


@pytest.mark.parametrize(
    ("dtype", "columns", "machine", "past"),
    [
        (f32, 1024, WIDE, True),
        (f32, 1024, NARROW, True),  # halves of lines, which follow each other
        (f64, 1024, WIDE, True),
        (bf16, 1024, WIDE, True),
        (bf16, 1024, NARROW, False),  # quarters, which are no gain
    ],
)
def test_what_is_larger_than_the_caches_of_all_threads(
    dtype: DType, columns: int, machine: Machine, past: bool
) -> None:
    s = planned(halved(dtype, columns), machine, n=1 << 16)
    assert s.stream == ({"out1"} if past else frozenset())
    assert not planned(halved(dtype, columns), machine, n=16).stream, "it stays in the caches"


def scaled(columns: object) -> Program:
    """Rows of their own."""

    def program(b: Builder) -> Value:
        return b.mul(b.input(f32, (N, columns)), b.input(f32, (columns,)))

    return program


@pytest.mark.parametrize(
    ("columns", "m", "hint"),
    [
        (1024, 0, "stream"),
        (M, 1024, "unaligned stream"),  # another size may not be a multiple of a line
        (M, 1000, ""),  # nor is this one
        (1000, 0, ""),
    ],
)
def test_rows_that_begin_where_lines_do(columns: object, m: int, hint: str) -> None:
    f = fusion_of(graph_of(scaled(columns))).fusion
    f, s = plan(f, lambda e: int(e.evaluate({"n": 1 << 16, "m": m})), WIDE)
    assert s.stream == ({"out2"} if hint else frozenset())
    func = lower(f, s, "kernel").func
    assert {x.hint for x in walk(func.body) if isinstance(x, Store) and x.mask is None and x.value.lanes > 1} == {hint}
    assert parse(dump(func)) == func


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("shape", [(96, 128), (99, 131), (64, 1040)], ids=str)
def test_transposes_of_several_outputs(shape: tuple[int, int], dynamic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only one is written a tile begins where its lines do."""
    monkeypatch.setattr(cpu, "SHARE", 1)
    monkeypatch.setattr(cpu, "OWN", 1)
    x, y = torch.randn(shape), torch.randn(shape[::-1])
    for fn in (lambda x, y: (x.t() * y, x.t() + y), lambda x, y: x.t() * y):
        torch._dynamo.reset()
        with fusewright.options(fallback=False, disk_cache=False, precision="eager"), torch.no_grad():
            compiled = torch.compile(fn, backend="fusewright", dynamic=dynamic)
            for a, b in ((x, y), (x[1:, 3:].contiguous(), y[3:, 1:].contiguous())):
                got, want = compiled(a, b), fn(a, b)
                for g, w in zip(got, want, strict=True):
                    assert same_bits(g, w)


def test_no_more_is_claimed_of_addresses_than_that_lines_begin_there() -> None:
    """Vectors of float64 are two lines."""
    f, s = plan(fusion_of(graph_of(halved(f64, 1024))).fusion, lambda e: 1 << 20, WIDE)
    text = emit(lower(f, s, "kernel").func, Target(512, False, frozenset()))
    found = re.findall(r"store <16 x double> .* align (\d+), !nontemporal", text)
    assert found and set(found) == {"64"}


@pytest.mark.parametrize(
    ("dtype", "columns", "past"),
    [
        (f32, 784, True),
        (bf16, 800, True),
        (f32, 792, False),  # every second row begins in the middle of a line
        (bf16, 784, False),
        (f32, 16, False),  # single vectors of rows
    ],
)
def test_blocks_of_rows_in_lanes(dtype: DType, columns: int, past: bool) -> None:
    s = planned(off_the_largest(dtype, columns), WIDE, n=64, m=512)
    assert s.family == "outer persistent" and bool(s.abreast) == (columns > 16)
    assert s.stream == ({"out1"} if past else frozenset())


@pytest.mark.parametrize("dtype", [f32, bf16])
def test_whole_vectors_of_blocks_and_behind_them_go_past_the_caches(dtype: DType) -> None:
    f, s = plan(
        fusion_of(graph_of(off_the_largest(dtype, 800))).fusion, lambda e: int(e.evaluate({"n": 64, "m": 512})), WIDE
    )
    stores = [x for x in walk(lower(f, s, "kernel").func.body) if isinstance(x, Store)]
    assert stores and all(x.hint == "stream" for x in stores if x.mask is None and x.value.lanes > 1)


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("shape", [(3, 7, 784), (2, 5, 800), (5, 3, 64), (2, 9, 33), (1, 40, 832)], ids=str)
def test_results(dtype: torch.dtype, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of other sizes than those that a kernel was made for."""
    monkeypatch.setattr(cpu, "SHARE", 1)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    w = torch.randn(shape[-1], generator=torch.Generator().manual_seed(1)).to(dtype)
    for fn in (lambda x, w: x * w - x.amax(1, keepdim=True), lambda x, w: (x + w).relu() * 0.5):
        for dynamic in (False, True):
            torch._dynamo.reset()
            with fusewright.options(fallback=False, disk_cache=False, precision="eager"), torch.no_grad():
                compiled = torch.compile(fn, backend="fusewright", dynamic=dynamic)
                assert same_bits(compiled(x, w), fn(x, w))
                if dynamic:
                    y, v = x[..., :-1].contiguous(), w[:-1].contiguous()
                    assert same_bits(compiled(y, v), fn(y, v))
