"""A graph written by hand in the form that the pipeline wants: nothing unused, values numbered in order, safe division.

Kernels divide integers with the machine's instructions, which fault for a divisor of 0, and on some machines for the
least number by -1. Traced programs have only divisors that are neither. In a definition a divisor may be anything: here
each division by an unknown integer becomes one that cannot fault, with NumPy's results (the table's meaning): quotient
and remainder by 0 are 0, and the least number by -1 wraps.

    q = x op (d in (0, -1) ? 1 : d);   d == -1 ? (q is a quotient ? -x : 0) : d == 0 ? 0 : q
"""

from __future__ import annotations

from dataclasses import replace

from ..core.dtypes import i64
from ..index.expr import Ix, nonnegative
from .builder import Builder
from .ir import Eqn, Graph, Unit, Value

_QUOTIENTS = ("floordiv", "truncdiv")
_DIVISIONS = (*_QUOTIENTS, "remainder", "fmod")


def total(graph: Graph, divisions: bool = True) -> tuple[Graph, dict[Value, Value]]:
    """A copy of `graph`, and the value in it of each value that is used.

    Units that no output needs are left out; the ids of values are in the order of computation. `divisions`: whether
    those are made safe.
    """
    makers = graph.producers()
    out = Graph()
    b = Builder(out)
    new: dict[Value, Value] = {v: b.input(v.dtype, v.shape) for v in graph.inputs}
    own: dict[int, list[Eqn]] = {}
    for e in graph.eqns:
        own.setdefault(e.unit, []).append(e)
    for u in _needed(graph):
        b.unit = len(out.units)
        if u.kind == "torch":
            new.update({v: b.value(v.dtype, v.shape) for v in u.results})
        for e in own.get(u.index, ()):
            inputs = tuple(new[v] for v in e.inputs)
            if divisions and _unsafe(e, makers):
                b.forget()
                new[e.out] = _divide(b, e.params[0], *inputs)
            elif e.op == "scalar" and isinstance(e.params[0], str) and e.out.dtype.is_bool:
                b.forget()  # kernels take numbers
                new[e.out] = b.ne(b.scalar(e.params[0], i64), b.const(0, i64))
            else:
                new[e.out] = b.emit(e.op, inputs, e.params, e.out.dtype, e.out.shape)
        reads, results = (tuple(new[v] for v in vs) for vs in (u.reads, u.results))
        out.units.append(replace(u, index=b.unit, reads=reads, results=results))
    out.outputs = [new[v] for v in graph.outputs]
    return out, new


def _needed(graph: Graph) -> list[Unit]:
    wanted = set(graph.outputs)
    found = []
    for u in reversed(graph.units):
        if wanted.intersection(u.results):
            found.append(u)
            wanted.update(u.reads)
    return found[::-1]


def _unsafe(e: Eqn, makers: dict[Value, Eqn]) -> bool:
    if e.op != "map" or e.params[0] not in _DIVISIONS or not e.out.dtype.is_int:
        return False
    divisor = makers.get(e.inputs[1])
    while divisor is not None and divisor.op in ("affine", "reshape"):
        divisor = makers.get(divisor.inputs[0])
    if divisor is not None and divisor.op == "scalar" and isinstance(divisor.params[0], Ix):
        return not nonnegative(divisor.params[0] - 1)  # i64, and not wrapped by a cast
    return divisor is None or divisor.op != "const" or divisor.params[0] in (0, -1)


def _divide(b: Builder, op: str, x: Value, d: Value) -> Value:
    zero, one = b.const(0, d.dtype), b.const(1, d.dtype)
    is_zero = b.eq(d, zero)
    if d.dtype.kind == "u":
        return b.where(is_zero, zero, b.map(op, x, b.where(is_zero, one, d)))
    minus = b.eq(d, b.const(-1, d.dtype))
    q = b.map(op, x, b.where(b.or_(is_zero, minus), one, d))
    q = b.where(minus, b.neg(x) if op in _QUOTIENTS else zero, q)
    return b.where(is_zero, zero, q)
