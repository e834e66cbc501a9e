"""A graph in float64: the same equations, with every float as wide as it gets and no rounding to narrower ones.

The interpreter's results for it are what a kernel's are judged by: they do not share the kernel's roundings. Random
numbers are drawn in the type of the original, since they are other numbers in another.
"""

from __future__ import annotations

from ..core.dtypes import DType, f64
from ..graph.ir import Eqn, Graph, Value


def widened(graph: Graph) -> tuple[Graph, dict[Value, Value]]:
    """The wide graph, and its value for each value of `graph`."""
    out = Graph(units=[])
    found: dict[Value, Value] = {}
    last = 0

    def wide(v: Value) -> Value:
        nonlocal last
        if v not in found:
            last += 1
            found[v] = Value(last, _wide(v.dtype), v.shape)
        return found[v]

    out.inputs = [wide(v) for v in graph.inputs]
    for u in graph.units:
        results = tuple(wide(v) for v in u.results) if u.kind == "torch" else ()
        new = type(u)(u.index, u.name, u.target, u.where, u.kind, (), results, u.reason, u.device)
        out.units.append(new)
    for e in graph.eqns:
        params = e.params
        if e.op == "cast":
            to = _wide(e.params[0])
            if to is found[e.inputs[0]].dtype:  # a rounding is left out
                found[e.out] = found[e.inputs[0]]
                continue
            params = (to, False)
        inputs = tuple(found[v] for v in e.inputs)
        if e.op == "random" and e.out.dtype.is_float:
            last += 1
            drawn = Value(last, e.out.dtype, e.out.shape)
            out.eqns.append(Eqn(e.op, inputs, params, drawn, e.unit))
            if e.out.dtype is f64:
                found[e.out] = drawn
            else:
                out.eqns.append(Eqn("cast", (drawn,), (f64, False), wide(e.out), e.unit))
            continue
        out.eqns.append(Eqn(e.op, inputs, params, wide(e.out), e.unit))
    out.outputs = [found[v] for v in graph.outputs]
    return out, found


def _wide(d: DType) -> DType:
    return f64 if d.is_float else d
