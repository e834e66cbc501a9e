"""Fusion IR: the algorithm of one kernel; no order, no memory, no parallelism.

Grammar
    fusion ::= axes, buffers, stages
    axis   ::= name < extent                         (index.Atom of kind "axis")
    stage  ::= reduce name over axes, raxes : monoid = expr
             | scan   name over axes, along axis : monoid = expr
             | store  buffer[offset] over axes = expr
    check  ::= expr must be true over axes           (an index out of range: the kernel reports failure)

Semantics
- A stage is defined at every point of its `axes`; a reduction combines its `expr` over `raxes`.
- Stages are listed so that a stage reads only earlier ones (`Stage` references).
- Buffers are external tensors addressed by element offset; no two outputs overlap each other; an output may be
  the same memory as an input only where `Buffer.inplace` says so, and then each element is read only at the point
  that writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.dtypes import DType
from ..index.expr import Atom, Ix
from ..index.layout import product
from .scalar import Expr


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor a kernel reads or writes. `strides` in elements, as seen by the graph."""

    name: str
    dtype: DType
    shape: tuple[Ix, ...]
    strides: tuple[Ix, ...]
    output: bool

    @property
    def numel(self) -> Ix:
        return product(self.shape)


@dataclass(frozen=True, slots=True)
class Stage:
    """`kind` is "reduce", "scan" or "store". `axes`: the points it is defined at; `raxes`: combined axes."""

    kind: str
    name: str
    axes: tuple[Atom, ...]
    raxes: tuple[Atom, ...]
    monoid: str
    body: Expr
    dtype: DType
    buffer: str = ""
    offset: Ix | None = None


@dataclass(slots=True)
class Fusion:
    """One kernel's algorithm."""

    axes: tuple[Atom, ...]
    buffers: list[Buffer] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    checks: list[tuple[Expr, tuple[Atom, ...]]] = field(default_factory=list)
    hosts: dict[str, DType] = field(default_factory=dict)

    def stores(self) -> list[Stage]:
        return [s for s in self.stages if s.kind == "store"]

    def reductions(self) -> list[Stage]:
        return [s for s in self.stages if s.kind == "reduce"]

    def text(self) -> str:
        """Readable text, one stage a line."""
        from_scalar = _Printer()
        lines = [f"fusion over {', '.join(f'{a.name}<{a.extent}' for a in self.axes)}"]
        for b in self.buffers:
            io = "out" if b.output else "in"
            shape, strides = ", ".join(map(str, b.shape)), ", ".join(map(str, b.strides))
            lines.append(f"  {io} {b.name}: {b.dtype}[{shape}] strides ({strides})")
        for s in self.stages:
            over = ", ".join(a.name for a in s.axes)
            body = from_scalar(s.body)
            if s.kind == "store":
                lines.append(f"  store {s.buffer}[{s.offset}] over ({over}) = {body}")
            else:
                along = ", ".join(a.name for a in s.raxes)
                lines.append(f"  {s.kind} {s.name} over ({over}): {s.monoid} of ({along}) = {body}")
        for c, axes in self.checks:
            lines.append(f"  check over ({', '.join(a.name for a in axes)}) {from_scalar(c)}")
        return "\n".join(lines)


class _Printer:
    def __call__(self, e: Expr) -> str:
        if e.kind == "const":
            return repr(e.data)
        if e.kind == "host":
            return str(e.data)
        if e.kind == "stage":
            return str(e.data[0])
        if e.kind == "index":
            return f"index({self.index(e.data)})"
        if e.kind == "load":
            mask = f" if {self(e.args[0])}" if e.args else ""
            return f"{e.data[0]}[{self.index(e.data[1])}{mask}]"
        if e.kind == "cast":
            return f"{e.dtype}({self(e.args[0])})"
        if e.kind == "round":
            return f"round_{e.data}({self(e.args[0])})"
        if e.kind == "random":
            return f"random_{e.data[0]}({self(e.args[0])}, {self.index(e.data[1])}, {self.index(e.data[2])})"
        return f"{e.data}({', '.join(self(a) for a in e.args)})"

    def index(self, i: Ix) -> str:
        def atom(a: Atom) -> str:
            if a.kind == "value":
                return f"@({self(a.aux)})"
            if a.kind == "div":
                assert a.num is not None
                return f"(({a.num.text(atom)}) // ({a.aux.text(atom)}))"
            return a.name

        return i.text(atom)
