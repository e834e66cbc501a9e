"""Random definitions: kernels against the NumPy interpreter in float64, and their text against themselves.

What is drawn: arguments of several types, shapes (sizes, fixed extents, 0-d) and layouts, a dozen operations, and
outputs that are new, views, or go into arguments; then several sets of sizes, 0 and 1 among them, for one definition.
"""

from __future__ import annotations

import os

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fusewright
from fusewright import Definition, UserError, define
from fusewright.core.dtypes import BY_NAME
from fusewright.graph import text
from fusewright.graph.ir import Eqn
from fusewright.graph.patterns import COMMUTATIVE, Pattern, widen
from fusewright.graph.symbolic import Tensor
from fusewright.graph.total import total
from fusewright.trace.types import TO_TORCH
from tests.support import random_tensor, same_bits

EXAMPLES = int(os.environ.get("FUSEWRIGHT_PROPERTY_EXAMPLES", "28"))
RANDOM = bool(os.environ.get("FUSEWRIGHT_PROPERTY_RANDOM"))

TYPES = ("f32", "f32", "bf16", "f64", "i64", "i32", "u8", "bool")
SHAPES = ("n, m", "n, m", "m", "n, 1", "1, m", "n, m, 3", "", "2 * n, m", "m + 1")
UNARY = ("neg", "abs", "sign", "exp2", "tanh", "floor", "isnan", "sin")
BINARY = ("add", "sub", "mul", "max", "min", "lt", "eq", "div", "floordiv", "remainder", "and")


class Program:
    """Draws a definition."""

    def __init__(self, data: st.DataObject):
        self.draw = data.draw
        self.d = define("drawn")
        self.pool: list[Tensor] = []
        self.tensors: list[tuple[Tensor, str]] = []

    def one(self, xs):
        return self.draw(st.sampled_from(list(xs)))

    def build(self) -> Definition:
        d = self.d
        d.tensor("anchor", "n, m", "f32")  # shows both sizes
        self.tensors.append((Tensor(d, d.graph.inputs[0]), "anchor"))
        self.pool.append(self.tensors[0][0])
        for k in range(self.draw(st.integers(1, 4))):
            how = self.one(({}, {}, {"strides": "contiguous"}, {"order": None}))
            shape = self.one(SHAPES)
            rank = len([s for s in shape.split(",") if s.strip()])
            if "order" in how:
                how = {"order": tuple(self.draw(st.permutations(range(rank))))}
            t = d.tensor(f"x{k}", shape, self.one(TYPES), **how)
            self.tensors.append((t, f"x{k}"))
            self.pool.append(t)
        if self.draw(st.booleans()):
            self.pool.append(d.scalar("a", float))
        for _ in range(self.draw(st.integers(1, 12))):
            self.step()
        into: set[str] = set()
        for _ in range(self.draw(st.integers(1, 3))):
            x = self.one(self.pool)
            targets = [(t, n) for t, n in self.tensors if t.shape == x.shape and t.dtype == x.dtype and n not in into]
            if targets and self.draw(st.integers(0, 2)) == 0:
                target, name = self.one(targets)
                into.add(name)
                d.output(x, into=target)
            elif self.draw(st.integers(0, 3)) == 0:
                d.output(x, order=tuple(self.draw(st.permutations(range(x.ndim)))))
            else:
                d.output(x)
        return d

    def step(self) -> None:
        """One operation, if the drawn operands allow it."""
        try:
            got = getattr(self, f"_{self.one(KINDS)}")(self.one(self.pool))
        except UserError:
            return
        self.pool.append(got)

    def _unary(self, x):
        return getattr(self.d, self.one(UNARY))(x)

    def _binary(self, x):
        y = self.one([*self.pool, 2, 0.5, True])
        op = self.one(BINARY)
        if self.draw(st.booleans()):
            return self.d._operator(op, x, y)
        return getattr(self.d, op + "_" * (op == "and"))(x, y)

    def _where(self, x):
        y = self.one(self.pool)
        return self.d.where(x > y, x, y.to(x.dtype))

    def _cast(self, x):
        return x.to(self.one(TYPES), self.draw(st.booleans()))

    def _reduce(self, x):
        axes = self.one([None, *range(x.ndim)]) if x.ndim else None
        monoid = self.one(("sum", "max", "min", "any", "argmax", "mean", "prod"))
        if monoid == "prod":
            x = d_sign(x)
        return getattr(x, monoid)(axes, self.draw(st.booleans()))

    def _scan(self, x):
        need(x.ndim)
        return self.d.scan(self.one(("sum", "max")), x, self.one(range(x.ndim or 1)))

    def _view(self, x):
        how = self.one(("permute", "slice", "select", "flip", "unsqueeze", "expand", "flat"))
        need(x.ndim)
        dim = self.one(range(x.ndim))
        if how == "permute":
            return x.permute(self.draw(st.permutations(range(x.ndim))))
        if how == "slice":
            return self.d.slice(x, dim, self.one((0, 1)), self.one((None, -1)), self.one((1, 2)))
        if how == "select":
            return self.d.select(x, dim, self.one((0, -1)))
        if how == "expand":
            return x.expand((2, *x.shape))
        return self.d.reshape(x, (-1,)) if how == "flat" else getattr(self.d, how)(x, dim)

    def _pad(self, x):
        low, high = ([self.one((0, 0, 1, 2)) for _ in range(x.ndim)] for _ in range(2))
        return self.d.pad(x, low, high, 1)

    def _cat(self, x):
        return self.d.cat([x, self.one([p for p in self.pool if p.ndim == x.ndim])], self.one(range(max(x.ndim, 1))))

    def _take(self, x):
        need(x.ndim)
        dim = self.one(range(x.ndim))
        at = self.one([p for p in self.pool if p.dtype in ("i64", "i32") and p.ndim] or [x])
        return self.d.take(x, at % x.shape[dim], dim)

    def _scatter(self, x):
        need(x.ndim)
        src = self.one([p for p in self.pool if p.dtype == x.dtype and p.ndim == x.ndim and p.ndim])
        at = self.one([p for p in self.pool if p.dtype in ("i64", "i32") and p.ndim == 1] or [x])
        spec = [("at", 0, (0,)), *(("dim", k) for k in range(1, x.ndim))]
        return self.d.scatter(x, src, spec, [at % x.shape[0]], self.one(("set", "sum", "max")))

    def _leaf(self, x):
        shape = x.shape
        if self.draw(st.booleans()) and x.ndim:
            return self.d.iota(shape, self.one(range(x.ndim)))
        return self.d.random("uniform", shape)


def need(condition) -> None:
    if not condition:
        raise UserError("not for this operand")


def d_sign(x: Tensor) -> Tensor:
    return x._definition.sign(x) if x.dtype != "bool" else x.to("f32")


KINDS = [n.removeprefix("_") for n in vars(Program) if n.startswith("_") and not n.startswith("__")]


def inputs_of(d: Definition, n: int, m: int, seed: int, strided: bool) -> list:
    out = []
    for k, a in enumerate(d._defined.arguments):
        if a.kind == "scalar":
            out.append(0.75)
            continue
        shape = tuple(int(e.evaluate({"n": n, "m": m})) for e in a.value.shape)
        t = random_tensor(shape, TO_TORCH[BY_NAME[a.value.dtype.name]], seed=seed + k)
        if a.layout is not None:
            strides = [int(s.evaluate({"n": n, "m": m})) for s in a.layout.of(a.value.shape)]
            t = torch.empty_strided(shape, strides, dtype=t.dtype).copy_(t)
        elif strided and k % 2 and t.dim():
            wide = random_tensor((*shape[:-1], 2 * shape[-1]), t.dtype, seed=seed + k)
            t = wide[..., ::2]
        out.append(t)
    return out


def clones(inputs: list) -> list:
    return [
        torch.empty_strided(t.shape, t.stride(), dtype=t.dtype).copy_(t) if isinstance(t, torch.Tensor) else t
        for t in inputs
    ]


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not RANDOM,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_random_definitions(data):
    d = Program(data).build()
    again = Definition.parse(str(d))
    assert str(again) == str(d)
    with fusewright.options(fallback=False):
        for k, (n, m) in enumerate(((5, 18), (3, 33), (1, 1), (4, 0), (0, 7))):
            inputs = inputs_of(d, n, m, 10 * k, k == 1)
            try:
                d.validate(clones(inputs))
            except UserError as e:  # a slice that these sizes do not allow
                assert " it reads " in str(e) or "extent" in str(e), e
                continue
            except IndexError:
                assert 0 in (n, m)  # an argmax over nothing
                continue
            except RuntimeError as e:
                assert "ZeroDivisionError" in str(e) and 0 in (n, m), e  # an index modulo an extent of 0
                continue
            torch.manual_seed(k)
            first = d.execute(clones(inputs))
            torch.manual_seed(k)
            second = again.execute(clones(inputs))
            assert all(same_bits(a, b) for a, b in zip(first, second, strict=True))


@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=not RANDOM, database=None, suppress_health_check=list(HealthCheck)
)
@given(st.data())
def test_a_definition_matches_itself(data):
    """As a pattern, in a graph where commutative operands are swapped at random."""
    program = Program(data)
    d = program.build()
    defined = d._defined
    defined.results[:] = [r for r in defined.results if not r.into][:1]
    defined.graph.outputs[:] = [r.value for r in defined.results]
    graph, new = total(defined.graph, divisions=False)
    used = {*graph.outputs, *(v for e in graph.eqns for v in e.inputs)}
    defined.arguments[:] = [a for a in defined.arguments if a.value is None or new[a.value] in used]
    defined.graph.inputs[:] = [a.value for a in defined.tensors]
    graph, _ = total(defined.graph, divisions=False)
    try:
        pattern = Pattern(defined)
    except (UserError, IndexError):  # random numbers, no output, an output that is an argument
        return
    wide, again = widen(graph)
    for k, e in enumerate(wide.eqns):
        if e.op == "map" and e.params[0] in COMMUTATIVE and data.draw(st.booleans()):
            wide.eqns[k] = Eqn(e.op, e.inputs[::-1], e.params, e.out, e.unit)
        elif e.op == "scalar" and isinstance(e.params[0], str):
            wide.eqns[k] = Eqn("const", (), (0.75,), e.out, e.unit)
    wide.outputs = [again[v] for v in graph.outputs]
    found = list(pattern.find(wide))
    assert any(m.outputs == wide.outputs for m in found), text.dump(wide)
    mine = next(m for m in found if m.outputs == wide.outputs)
    assert set(mine.inputs) == {a.name for a in defined.tensors}
    for a in defined.tensors:
        assert mine.inputs[a.name].shape == a.value.shape and mine.inputs[a.name].dtype is a.value.dtype
