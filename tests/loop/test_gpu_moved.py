"""Rows that are moved back to where vectors are aligned in memory, interpreted and emulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, DType, bf16, bool_, f16, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import ix, sym
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.text import dump
from fusewright.loop.verify import verify
from fusewright.schedule import gpu_anchor
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.forms import Illegal
from fusewright.schedule.legal_gpu import Sizes, settle
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
    monkeypatch.setattr(gpu_anchor, "LONG", 1)


def bias_relu(b: Builder) -> Value:
    x, bias = b.input(bf16, (N, M)), b.input(bf16, (M,))
    return b.cast(b.max(b.add(b.cast(x, f32), b.cast(bias, f32)), b.const(0.0, f32)), bf16)


def norm16(b: Builder) -> Value:
    x, weight, bias = b.input(bf16, (N, M)), b.input(bf16, (M,)), b.input(f32, (M,))
    y, _ = cases._normalised(b, b.cast(x, f32))
    return b.cast(b.add(b.mul(y, b.cast(weight, f32)), bias), bf16)


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


MOVED: dict[str, tuple[Program, Gpu]] = {
    "tile": (bias_relu, SMALL),
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
}


def moved(graph: Graph, n: int, m: int, gpu: Gpu = SMALL, **kwargs) -> GpuCompiled:
    c = gpu_kernel(graph, {"n": n, "m": m}, gpu, **kwargs)
    assert c.schedule.anchor, f"{n}x{m} is not moved"
    return c


def inputs_of(name: str, graph: Graph, sizes: dict[str, int]) -> list[np.ndarray]:
    inputs = random_inputs(graph, sizes)
    if name == "loss":
        inputs[1] %= sizes["m"]
    return inputs


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


@NEEDS_COMPILER
@pytest.mark.parametrize("name", MOVED)
def test_in_the_emulation(name: str) -> None:
    program, gpu = MOVED[name]
    graph = graph_of(program)
    m = 37
    for n in (9, 18):
        sizes = {"n": n, "m": m}
        check_gpu(graph, sizes, inputs_of(name, graph, sizes), compiled=moved(graph, n, m, gpu), machine=run_emulated)
