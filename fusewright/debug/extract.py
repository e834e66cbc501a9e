"""A group of a definition as a definition of its own: what its repro file holds, whose operations have no Python."""

from __future__ import annotations

from dataclasses import replace

from ..core.errors import CompilerError, FusewrightError
from ..fusion.build import Built
from ..graph.defined import Argument, Defined, Layout, Result, bindings, verify_defined
from ..graph.groups import Group
from ..graph.ir import Graph, Value
from ..index.layout import row_major
from ..trace.fx import Traced

NUMBERS = {"f64": 0.5, "i64": 2, "bool": True}  # scalars in repro files


def definition_of(built: Built, traced: Traced, group: Group) -> Defined:
    """Arguments and results in the order of the fusion's buffers; then scalars, and sizes that no tensor tells.

    Raises CompilerError for a group that is no definition, because of the names of its sizes for example.
    """
    units = {u: k for k, u in enumerate(sorted({e.unit for e in group.eqns}))}
    graph = Graph(eqns=[replace(e, unit=units[e.unit]) for e in group.eqns])
    graph.units = [replace(traced.graph.units[u], index=k) for u, k in units.items()]
    out = Defined("repro", graph)
    for b in built.fusion.buffers:
        v = built.sources[b.name]
        if b.output:
            graph.outputs.append(v)
            out.results.append(Result(b.name, v))
        else:
            graph.inputs.append(v)
            out.arguments.append(Argument("tensor", b.name, v, layout=_layout(v, traced)))
    hosts = {e.params[0]: e.out.dtype for e in group.eqns if e.op == "scalar" and isinstance(e.params[0], str)}
    out.arguments += [Argument("scalar", name, dtype=dtype) for name, dtype in hosts.items()]
    out.arguments += [Argument("size", name) for name in bindings(out)[1]]
    try:
        verify_defined(out)
    except FusewrightError as e:
        raise CompilerError(f"the group is no definition of its own: {e}", "repro") from e
    return out


def numbers(d: Defined, traced: Traced) -> list[str]:
    """Source of what a repro file gives for scalars and sizes."""
    hint = traced.symbols.hint
    sizes = {a.name: a for v in d.graph.inputs for n in v.shape for a in n.atoms()}
    sizes |= {a.name: a for e in d.graph.eqns for n in e.out.shape for a in n.atoms()}
    scalars = [repr(NUMBERS[str(a.dtype)]) for a in d.scalars]
    return scalars + [str(hint(sizes[a.name].ix)) for a in d.arguments if a.kind == "size"]


def _layout(v: Value, traced: Traced) -> Layout | None:
    strides = traced.strides(v)
    return None if strides == row_major(v.shape) else Layout(strides=strides)
