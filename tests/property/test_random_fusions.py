"""Random graphs as one kernel, without torch: build, plan, lower, and the Loop IR against the meaning of the graph.

Values are small whole numbers, so that arithmetic is exact in any order and the results are equal, not just close.
What a stage refuses (no common domain, no loop nest) is not an error; anything else it raises is.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fusewright.core.dtypes import BY_NAME, bool_, f32, i64, numpy_type
from fusewright.core.errors import Refusal
from fusewright.core.switches import FUSION_PASSES
from fusewright.graph.builder import Builder
from fusewright.graph.ir import SCATTERS, Graph, Value
from fusewright.index.expr import ONE, ix, sym
from fusewright.index.layout import product
from fusewright.prims.table import MONOIDS, SCANNED
from tests.kernels import check, extent, graph_of, kernel

EXAMPLES = int(os.environ.get("FUSEWRIGHT_PROPERTY_EXAMPLES", "28"))
configured = settings(
    max_examples=3 * EXAMPLES,
    deadline=None,
    derandomize="FUSEWRIGHT_PROPERTY_RANDOM" not in os.environ,
    suppress_health_check=list(HealthCheck),
    database=None,
    print_blob=False,
)

N, M = sym("n"), sym("m")
DTYPES = [BY_NAME[n] for n in ("f32", "f32", "bf16", "f16", "f64", "i64", "i32", "u8", "bool")]
SHAPES = [(N, M), (N, M), (M,), (N, 1), (N, M, ix(3)), (ix(3), N), (), (N, ix(16)), (1, M)]


WITHOUT = [(), (), (), ("collapse",), ("keep",), FUSION_PASSES]  # passes that are switched off

Pick = Callable[[Sequence[Any]], Any]  # one of several


class Draw:
    """A random program over a Builder."""

    def __init__(self, b: Builder, pick: Pick):
        self.b, self.pick = b, pick
        self.values: list[Value] = []

    def some(self, wanted: Any = lambda v: True) -> Value:
        xs = [v for v in self.values if wanted(v)]
        assume(bool(xs))
        return self.pick(xs)  # type: ignore[no-any-return]

    def dim(self, v: Value) -> int:
        assume(v.rank > 0)
        return self.pick(range(v.rank))

    def input(self) -> None:
        dtype = self.pick(DTYPES)
        self.values.append(self.b.input(dtype, tuple(ix(s) for s in self.pick(SHAPES))))

    def step(self) -> None:
        rule = self.pick(STEPS)
        try:
            out = rule(self)
        except (Refusal, TypeError):  # shapes or types that do not go together
            assume(False)
        if out not in self.values:
            self.values.append(out)


def _same(d: Draw, x: Value) -> Value:
    """Another value brought to x's type."""
    return d.b.cast(d.some(), x.dtype)


def _unary(d: Draw) -> Value:
    x = d.some(lambda v: not v.dtype.is_bool)
    return d.b.map(d.pick(["neg", "abs", "sign"]), x)


def _binary(d: Draw) -> Value:
    x = d.some()
    ops = ["and", "or", "xor", "max"] if x.dtype.is_bool else ["add", "sub", "mul", "max", "min"]
    return d.b.map(d.pick(ops), x, _same(d, x))


def _number(d: Draw) -> Value:
    x = d.some(lambda v: not v.dtype.is_bool)
    return d.b.map(d.pick(["add", "mul", "min"]), x, d.b.const(d.pick([1, 2, 3]), x.dtype))


def _compare(d: Draw) -> Value:
    x = d.some()
    return d.b.map(d.pick(["lt", "eq", "ge"]), x, _same(d, x))


def _where(d: Draw) -> Value:
    x = d.some()
    return d.b.where(d.some(lambda v: v.dtype.is_bool), x, _same(d, x))


def _cast(d: Draw) -> Value:
    return d.b.cast(d.some(), d.pick(DTYPES), round=d.pick([False, True]))


def _reduce(d: Draw) -> Value:
    x = d.some()
    k = d.dim(x)
    axes = d.pick([[k], [k], list(range(x.rank))])
    names = [m for m in MONOIDS if x.dtype.kind in MONOIDS[m].kinds and m not in ("prod", *SCANNED)]
    name = d.pick(names)
    return d.b.reduce(name, x, [k] if name.startswith("arg") else axes, d.pick([True, True, False]))


def _scan(d: Draw) -> Value:
    x = d.some(lambda v: not v.dtype.is_bool and v.rank > 0)
    return d.b.scan(d.pick(["sum", "max", "lastmin"]), x, d.dim(x))


def _permute(d: Draw) -> Value:
    x = d.some(lambda v: v.rank > 1)
    return d.b.permute(x, d.pick(list(itertools.permutations(range(x.rank)))))


def _flip(d: Draw) -> Value:
    x = d.some()
    return d.b.flip(x, [d.dim(x)])


def _expand(d: Draw) -> Value:
    x = d.some(lambda v: any(s is ONE for s in v.shape))
    return d.b.expand(x, [d.pick([N, ix(3), s]) if s is ONE else s for s in x.shape])


def _unsqueeze(d: Draw) -> Value:
    x = d.some(lambda v: v.rank < 3)
    return d.b.unsqueeze(x, d.pick(range(x.rank + 1)))


def _slice(d: Draw) -> Value:
    x = d.some(lambda v: any(s.as_int() in (3, 16) for s in v.shape))
    k = d.pick([k for k, s in enumerate(x.shape) if s.as_int() in (3, 16)])
    start, step = d.pick([(0, 1), (1, 1), (1, 2), (2, 1)])
    length = ((x.shape[k].as_int() or 0) - start + step - 1) // step
    return d.b.slice(x, k, start, step, length)


def _reshape(d: Draw) -> Value:
    x = d.some(lambda v: v.rank > 1)
    k = d.pick(range(x.rank - 1))
    return d.b.reshape(x, (*x.shape[:k], product(x.shape[k : k + 2]), *x.shape[k + 2 :]))


def _unflatten(d: Draw) -> Value:
    x = d.some(lambda v: any(s is N * M or s is N * M * 3 for s in v.shape))
    k = next(k for k, s in enumerate(x.shape) if s is N * M or s is N * M * 3)
    pair = d.pick([(N, M), (M, N)]) if x.shape[k] is N * M else d.pick([(N, M * 3), (N * 3, M), (N * M, ix(3))])
    return d.b.reshape(x, (*x.shape[:k], *pair, *x.shape[k + 1 :]))


def _pad(d: Draw) -> Value:
    x = d.some(lambda v: v.rank > 0)
    k = d.dim(x)
    lo = [d.pick([0, 1, 5]) if j == k else 0 for j in range(x.rank)]
    hi = [d.pick([0, 2]) if j == k else 0 for j in range(x.rank)]
    return d.b.pad(x, lo, hi, d.b.const(d.pick([0, 1]), x.dtype))


def _cat(d: Draw) -> Value:
    x = d.some(lambda v: v.rank > 0)
    y = d.b.cast(d.some(lambda v: v.rank == x.rank), x.dtype)
    return d.b.cat([x, y] if d.pick([0, 1]) else [y, x, x], d.dim(x))


def _iota(d: Draw) -> Value:
    x = d.some(lambda v: v.rank > 0)
    return d.b.iota(x.shape, d.dim(x))


def _size(d: Draw) -> Value:
    x = d.some(lambda v: v.dtype is f32)
    return d.b.add(x, d.b.cast(d.b.scalar(N + 2 * M, i64), f32))


def _gather(d: Draw) -> Value:
    """Rows of x, at positions computed from its own size: always in range."""
    x = d.some(lambda v: v.rank in (1, 2) and v.shape[0] in (N, M))
    length = d.pick([N, M, ix(3)])
    last = d.b.scalar(x.shape[0] - 1, i64)
    at = d.b.min(d.b.mul(d.b.iota((length,), 0), d.b.const(d.pick([1, 2]), i64)), last)
    if d.pick([0, 1]):
        at = d.b.sub(at, d.b.scalar(x.shape[0], i64))  # counted from the end
    rest = x.shape[1:]
    return d.b.gather(x, [at], (length, *rest), [("at", 0, (0,)), *(("dim", 1 + k) for k in range(len(rest)))])


def _scatter(d: Draw) -> Value:
    """Into x, along one of its dims, at positions computed from its own size; points meet."""
    x = d.some(lambda v: v.rank in (1, 2, 3))
    k = d.dim(x)
    how = d.pick([h for h in SCATTERS if h == "set" or (x.dtype.kind in MONOIDS[h].kinds and h != "prod")])
    src = d.b.cast(d.some(lambda v: v.rank == x.rank), x.dtype)
    along = d.pick([[k], list(range(src.rank))])
    at = d.b.const(0, i64)
    for n, j in enumerate(along):
        step = d.b.iota([src.shape[a] if a == j else 1 for a in along], n)
        at = d.b.add(at, d.b.mul(step, d.b.const(d.pick([1, 2, 3]), i64)))
    at = d.b.remainder(at, d.b.scalar(x.shape[k], i64))
    if d.pick([0, 1]):
        at = d.b.sub(at, d.b.scalar(x.shape[k], i64))  # counted from the end
    mask = None
    if d.pick([0, 0, 1]):
        mask = d.b.ne(d.b.iota([n if a == k else 1 for a, n in enumerate(src.shape)], k), d.b.const(1, i64))
    spec = [("at", 0, tuple(along)) if a == k else ("dim", a) for a in range(x.rank)]
    return d.b.scatter(x, src, [at], spec, how, mask)


STEPS = [
    *(_unary, _binary, _binary, _binary, _number, _compare, _where, _cast, _reduce, _reduce, _reduce, _scan),
    *(_permute, _flip, _expand, _unsqueeze, _slice, _reshape, _unflatten, _pad, _cat, _iota, _size, _gather),
    *(_scatter, _scatter),
]


def draw_graph(pick: Pick, most: int) -> Graph:
    def program(b: Builder) -> list[Value]:
        d = Draw(b, pick)
        for _ in range(pick(range(1, 4))):
            d.input()
        for _ in range(pick(range(1, most + 1))):
            d.step()
        made = d.values[len(b.graph.inputs) :]
        assume(bool(made))
        extra = [v for v in made[:-1] if pick(range(5)) == 4]
        return [*extra, made[-1]]

    return graph_of(program)


def whole(graph: Graph, sizes: dict[str, int], seed: int) -> list[np.ndarray]:
    """Small whole numbers in the inputs' types."""
    rng = np.random.default_rng(seed)

    def one(v: Value) -> np.ndarray:
        low, high = (0, 2) if v.dtype.is_bool else (0, 4) if v.dtype.kind == "u" else (-3, 4)
        return rng.integers(low, high, extent(v.shape, sizes)).astype(numpy_type(v.dtype))

    return [one(v) for v in graph.inputs]


def _has_meaning(graph: Graph, sizes: dict[str, int]) -> bool:
    """argmax over nothing and a gather from nothing have none (the lowering never asks for them)."""
    for e in graph.eqns:
        if e.op == "reduce" and e.params[0].startswith("arg") and 0 in extent(e.inputs[0].shape, sizes):
            return False
        if e.op == "scatter" and 0 in extent(e.inputs[0].shape, sizes):
            return False
        if e.op == "gather" and 0 in extent(e.inputs[0].shape, sizes):
            return False
    return True


def attempt(pick: Pick) -> bool:
    """One random kernel on two sets of sizes; whether it was accepted. Fails if it is wrong."""
    graph = draw_graph(pick, 6)
    eager = pick([False, True])
    try:
        compiled = kernel(graph, lanes=pick([16, 4]), eager=eager, without=pick(WITHOUT))
        for _ in range(2):
            sizes = {"n": pick([5, 1, 2, 17, 32, 0]), "m": pick([3, 1, 16, 37, 0])}
            if _has_meaning(graph, sizes):
                check(graph, sizes, pick([1, 2, 3]), whole(graph, sizes, pick(range(3))), compiled, eager=eager)
    except Refusal:
        return False
    return True


@given(st.data())
@configured
def test_one_kernel(data: st.DataObject) -> None:
    attempt(lambda xs: data.draw(st.sampled_from(list(xs))))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i64", "bool"])
def test_enough_is_accepted(dtype: str) -> None:
    """The property would hold of a compiler that refuses everything: these must not be refused."""
    d = BY_NAME[dtype]
    monoid = "any" if d is bool_ else "max"

    def program(b: Builder) -> list[Value]:
        x = b.input(d, (N, M))
        y = b.permute(b.flip(x, [1]), [1, 0])
        top = b.reduce(monoid, y, [0], keepdim=True)
        return [b.eq(y, top), top]

    check(graph_of(program), {"n": 5, "m": 37})
