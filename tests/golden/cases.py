"""The golden kernels: one small program per family, with symbolic sizes n and m."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fusewright.core.dtypes import bf16, bool_, f32, i64
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym

N, M = sym("n"), sym("m")

Program = Callable[[Builder], "Value | Sequence[Value]"]
Make = Callable[[list[np.ndarray], dict[str, int]], None]


@dataclass(frozen=True, slots=True)
class Case:
    """`family` and `vector` are what the schedule must be; `fix` makes random inputs legal (indices in range)."""

    program: Program
    family: str
    vector_rows: bool = False
    fix: Make | None = None
    sizes: tuple[tuple[int, int], ...] = ((1, 1), (5, 7), (16, 32), (3, 70), (33, 17), (0, 5), (4, 0), (7, 1), (1, 129))
    empty_columns: bool = True  # whether m = 0 has a meaning
    ll: bool = True
    tolerance: float | None = field(default=None)


def _mean(b: Builder, x: Value, dim: int, extent: object) -> Value:
    size = b.cast(b.scalar(x.shape[dim], i64), f32)
    return b.div(b.reduce("sum", x, [dim], keepdim=True), size)


def broadcast(b: Builder) -> Value:
    """relu(x * scale + bias), stored as bfloat16."""
    x, scale, bias = b.input(bf16, (N, M)), b.input(f32, (M,)), b.input(f32, ())
    y = b.add(b.mul(b.cast(x, f32), scale), bias)
    return b.cast(b.max(y, b.const(0.0, f32)), bf16)


def inner_sum(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    return b.reduce("sum", b.mul(x, x), [1])


def softmax(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [1], keepdim=True))


def _normalised(b: Builder, x: Value) -> tuple[Value, Value]:
    centred = b.sub(x, _mean(b, x, 1, M))
    rstd = b.rsqrt(b.add(_mean(b, b.mul(centred, centred), 1, M), b.const(1e-5, f32)))
    return b.mul(centred, rstd), rstd


def layer_norm(b: Builder) -> list[Value]:
    x, weight, bias = b.input(f32, (N, M)), b.input(f32, (M,)), b.input(f32, (M,))
    y, rstd = _normalised(b, x)
    return [b.add(b.mul(y, weight), bias), rstd]


def rms_norm_backward(b: Builder) -> list[Value]:
    """The gradients of x * rstd * weight: one reduction along rows, one along columns."""
    x, rstd = b.input(f32, (N, M)), b.input(f32, (N, 1))
    weight, grad = b.input(f32, (M,)), b.input(f32, (N, M))
    y = b.mul(x, rstd)
    g = b.mul(grad, weight)
    dx = b.mul(b.sub(g, b.mul(y, _mean(b, b.mul(g, y), 1, M))), rstd)
    return [dx, b.reduce("sum", b.mul(grad, y), [0])]


def outer_max(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    return b.reduce("max", b.abs(x), [0])


def full_sum(b: Builder) -> Value:
    x, y = b.input(f32, (N, M)), b.input(f32, (N, M))
    d = b.sub(x, y)
    return b.reduce("sum", b.mul(d, d), [0, 1])


def outer_softmax(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    e = b.exp(b.sub(x, b.reduce("max", x, [0], keepdim=True)))
    return b.div(e, b.reduce("sum", e, [0], keepdim=True))


def argmax(b: Builder) -> Value:
    return b.reduce("argmax", b.input(f32, (N, M)), [1])


def embedding(b: Builder) -> Value:
    table, at = b.input(f32, (M, 24)), b.input(i64, (N,))
    rows = b.gather(table, [at], (N, 24), [("at", 0, (0,)), ("dim", 1)])
    return b.mul(rows, b.const(2.0, f32))


def embedding_backward(b: Builder) -> Value:
    """Rows of the gradient summed by index, but those of row 1, and scaled on the way."""
    grad, at = b.input(f32, (N, M)), b.input(i64, (N,))
    counts = b.unsqueeze(b.ne(at, b.const(1, i64)), 1)
    rows = b.mul(grad, b.const(2.0, f32))
    return b.scatter(b.full((5, M), 0.0, f32), rows, [at], [("at", 0, (0,)), ("dim", 1)], "sum", counts)


def scatter_add(b: Builder) -> Value:
    """Along the last dim, accumulated in f32 and rounded once."""
    x, y, at = b.input(bf16, (N, 5)), b.input(bf16, (N, M)), b.input(i64, (N, M))
    return b.scatter(x, y, [at], [("dim", 0), ("at", 0, (0, 1))], "sum")


def _in_five(inputs: list[np.ndarray], sizes: dict[str, int]) -> None:
    inputs[-1] %= 5
    inputs[-1].reshape(-1)[::2] -= 5  # negative ones count from the end


def _indices(inputs: list[np.ndarray], sizes: dict[str, int]) -> None:
    inputs[1] %= max(sizes["m"], 1)
    inputs[1][::2] -= sizes["m"]  # negative ones count from the end


def cumulative(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    return b.scan("sum", b.mul(x, b.const(0.5, f32)), 1)


def cat_pad(b: Builder) -> Value:
    """Two pieces side by side, in a border of ones."""
    x, y = b.input(f32, (N, M)), b.input(f32, (N, 3))
    return b.pad(b.cat([b.neg(x), y], 1), [1, 0], [0, 2], b.const(1.0, f32))


def dropout(b: Builder) -> list[Value]:
    x, seeds = b.input(f32, (N, M)), b.input(i64, (2,))
    keep = b.ge(b.random(seeds, 1, (N, M), "uniform", f32), b.const(0.25, f32))
    zero = b.const(0.0, f32)
    return [b.where(keep, b.mul(x, b.const(4 / 3, f32)), b.expand(zero, (N, M))), keep]


def dropout_as_torch(b: Builder) -> list[Value]:
    """With the mask of PyTorch's CUDA kernel, and normal numbers of its own."""
    x, states = b.input(f32, (N, M)), b.input(i64, (8,))
    keep = b.lt(b.random(states, 0, (N, M), "curand_uniform", f32), b.const(0.75, f32))
    dropped = b.where(keep, b.mul(x, b.const(4 / 3, f32)), b.expand(b.const(0.0, f32), (N, M)))
    return [dropped, b.random(states, 1, (N, M), "curand_normal", f32)]


def transpose(b: Builder) -> Value:
    x, y = b.input(f32, (M, N)), b.input(bool_, (N, M))
    return b.where(y, b.permute(x, [1, 0]), b.const(0.0, f32))


CASES: dict[str, Case] = {
    "broadcast": Case(broadcast, "pointwise", ll=False),
    "inner_sum": Case(inner_sum, "inner reduction"),
    "argmax": Case(argmax, "inner reduction", empty_columns=False, ll=False),
    "softmax": Case(softmax, "inner persistent"),
    "layer_norm": Case(layer_norm, "inner persistent", empty_columns=False, ll=False),
    "rms_norm_backward": Case(rms_norm_backward, "inner+outer reduction", empty_columns=False, ll=False),
    "outer_max": Case(outer_max, "outer reduction"),
    "full_sum": Case(full_sum, "full reduction"),
    "outer_softmax": Case(outer_softmax, "outer persistent", vector_rows=True, ll=False),
    "embedding": Case(embedding, "pointwise", fix=_indices, sizes=((1, 1), (5, 7), (16, 3), (0, 4))),
    "embedding_backward": Case(embedding_backward, "scatter", fix=_in_five, tolerance=0),
    "scatter_add": Case(scatter_add, "scatter", fix=_in_five, ll=False, tolerance=0),
    "cumulative": Case(cumulative, "scan"),
    "cat_pad": Case(cat_pad, "pointwise", ll=False),
    "dropout": Case(dropout, "pointwise", ll=False),
    "transpose": Case(transpose, "transpose", ll=False),
}
