"""Fusion IR: the algorithm of one kernel; no order, no memory, no parallelism.

Grammar
    fusion ::= axes, buffers, stages, scratch, before, after
    axis   ::= name < extent                         (index.Atom of kind "axis")
    stage  ::= reduce name over axes, raxes : monoid = expr
             | scan   name over axes, along axis : monoid = expr
             | store  buffer[offset] over axes = expr
             | scatter buffer[offset] over axes = expr if mask, how
             | collect name over axes, points : how = expr if mask and key = row, from base
    check  ::= expr must be true over axes           (an index out of range: the kernel reports failure)

Semantics
- A stage is defined at every point of its `axes`; a reduction combines its `expr` over `raxes`.
- Stages are listed so that a stage reads only earlier ones (`Stage` references).
- `before` and `after` are fusions of their own, over their own axes, that run before and after this one; each sees all
  that the one before it stored. They share `buffers` and `scratch` (buffers that nobody outside sees).
- A scatter combines (`how`: set, sum, prod, max, min) what its buffer holds with its `expr` at every point whose mask
  is true, in the order of `Target.order`. Its offset has run-time values; several points may meet in one element. Its
  buffer is stored by the first fusion of `before`, and no stage reads it; others of `before` scatter into it, too.
- A collect is a scatter seen from where it writes: its `axes` are those of the target, its value at an element is
  `base` combined with its `expr` at every point of `raxes` whose mask is true and whose key is the element's row, in
  the order of the points. `set` takes the last of them.
- Buffers are external tensors addressed by element offset; no two outputs overlap each other; an output may be
  the same memory as an input only where `loop/overwrite.py` says so: each element is read only at the point that
  writes it, and before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..core.dtypes import DType
from ..index.expr import ZERO, Atom, Ix
from ..index.layout import product
from .scalar import Expr, walk

LONG = 400  # nodes of all expressions of a fusion that are written in place; of more, values get names
SHORT = 3  # nodes of a value that is written in place however often it is used


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

    @property
    def last(self) -> Ix:
        """The offset of the last element."""
        return sum(((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)), ZERO)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a scatter writes.

    `places`: its run-time coordinates, outermost first, each with its extent; valid wherever `mask` is true.
    `free`: axes that are coordinates themselves, so that points which differ along them never meet.
    `order`: a point's number; points that meet are combined in this order.
    """

    places: tuple[tuple[Expr, Ix], ...]
    mask: Expr
    free: tuple[Atom, ...]
    order: Ix


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the values of a collect come from.

    `rows`: axes of the target; the number of an element's row is its row-major position along them. `key`: the row that
    a point belongs to (it has run-time values), valid wherever `mask` is true. `base`: what an element has before;
    `fresh`: an element that some point belongs to starts from the identity instead. `apart`: the points are not put in
    order: the elements are stored first, then each point combines its value with what is there.
    """

    rows: tuple[Atom, ...]
    key: Ix
    mask: Expr
    base: Expr
    fresh: bool
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """`kind` is "reduce", "scan", "store", "scatter" or "collect". `axes`: the points it is defined at; `raxes`:
    combined axes, of a collect in the order of its points.

    `monoid`: how values are combined; of a scatter or collect also "set". `fused`: `body` is a product, which may join
    the sum without having been rounded. `relaxed`: a sum, or running totals, that end in numbers of 16 bits
    (`relax.py`).
    """

    kind: str
    name: str
    axes: tuple[Atom, ...]
    raxes: tuple[Atom, ...]
    monoid: str
    body: Expr
    dtype: DType
    buffer: str = ""
    offset: Ix | None = None
    target: Target | None = None
    fused: bool = False
    relaxed: bool = False
    origin: Origin | None = None

    def others(self) -> list[Expr]:
        """What a scatter or collect computes besides its body."""
        t, o = self.target, self.origin
        out = [] if t is None else [t.mask, *(p for p, _ in t.places)]
        return out if o is None else [*out, o.mask, o.base, *(a.aux for a in o.key.atoms() if a.kind == "value")]


@dataclass(slots=True)
class Fusion:
    """One kernel's algorithm.

    `exact`: nothing in it may be computed in a cheaper way (`fusion/relax.py`). `without`: passes that are switched off
    for it, by the names of their options.
    """

    axes: tuple[Atom, ...]
    buffers: list[Buffer] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    checks: list[tuple[Expr, tuple[Atom, ...]]] = field(default_factory=list)
    hosts: dict[str, DType] = field(default_factory=dict)
    scratch: list[Buffer] = field(default_factory=list)
    before: list[Fusion] = field(default_factory=list)
    after: list[Fusion] = field(default_factory=list)
    exact: bool = False
    without: frozenset[str] = frozenset()

    def stores(self) -> list[Stage]:
        return [s for s in self.stages if s.kind == "store"]

    def scatters(self) -> list[Stage]:
        return [s for s in self.stages if s.kind == "scatter"]

    def reductions(self) -> list[Stage]:
        return [s for s in self.stages if s.kind == "reduce"]

    def scans(self) -> list[Stage]:
        return [s for s in self.stages if s.kind == "scan"]

    def text(self) -> str:
        """Readable text, one stage a line. Where that would be very long, values that are used often have names."""
        from_scalar = _Printer()
        lines = [f"fusion over {', '.join(f'{a.name}<{a.extent}' for a in self.axes)}"]
        for b in (*self.buffers, *self.scratch):
            io = "scratch" if b in self.scratch else "out" if b.output else "in"
            shape, strides = ", ".join(map(str, b.shape)), ", ".join(map(str, b.strides))
            lines.append(f"  {io} {b.name}: {b.dtype}[{shape}] strides ({strides})")
        roots = [s.body for s in self.stages] + [c for c, _ in self.checks]
        roots += [e for s in self.stages for e in s.others()]
        lines += from_scalar.lets(roots)
        for s in self.stages:
            over = ", ".join(a.name for a in s.axes)
            body = from_scalar(s.body)
            if s.kind == "store":
                lines.append(f"  store {s.buffer}[{s.offset}] over ({over}) = {body}")
            elif s.target is not None and s.offset is not None:
                mask = from_scalar(s.target.mask)
                lines.append(f"  scatter {s.buffer}[{from_scalar.index(s.offset)}] over ({over}): {s.monoid} {body}")
                lines.append(f"    where {mask}")
            elif s.origin is not None:
                points, rows = (", ".join(a.name for a in x) for x in (s.raxes, s.origin.rows))
                start = f"{s.monoid} from the identity, else {from_scalar(s.origin.base)}"
                start = start if s.origin.fresh else f"{from_scalar(s.origin.base)}, {s.monoid}"
                how = "in any order " * s.origin.apart
                lines.append(f"  collect {s.name} over ({over}): {start} {how}of ({points}) {body}")
                lines.append(f"    where {from_scalar(s.origin.mask)}, {from_scalar.index(s.origin.key)} = ({rows})")
            else:
                along = ", ".join(a.name for a in s.raxes)
                how = "fused " * s.fused + "relaxed " * s.relaxed + s.monoid
                lines.append(f"  {s.kind} {s.name} over ({over}): {how} of ({along}) = {body}")
        for c, axes in self.checks:
            lines.append(f"  check over ({', '.join(a.name for a in axes)}) {from_scalar(c)}")
        around = [("before", f) for f in self.before] + [("after", f) for f in self.after]
        for when, f in around:
            lines += [f"  {when}", *("    " + line for line in f.text().splitlines())]
        return "\n".join(lines)


def expression(e: Expr) -> str:
    """A scalar expression as the text of a fusion has it."""
    return _Printer()(e)


class _Printer:
    def __init__(self) -> None:
        self.names: dict[Expr, str] = {}

    def lets(self, roots: list[Expr]) -> list[str]:
        """Definitions of values to be called by name: none, unless all `roots` together are longer than LONG."""
        order = walk(roots)
        size: dict[Expr, int] = {}
        for e in order:
            size[e] = 1 + sum(size[c] for c in e.children())
        if sum(size[e] for e in roots) <= LONG:
            return []
        uses = Counter(c for e in order for c in e.children()) + Counter(roots)
        left: dict[Expr, int] = {}  # the length of each value's own text, given the names so far
        lines: list[str] = []
        for e in order:
            left[e] = 1 + sum(left[c] for c in e.children())
            if left[e] > (SHORT if uses[e] > 1 else LONG // 4):
                lines.append(f"  let v{len(lines)} = {self(e)}")
                self.names[e] = f"v{len(lines) - 1}"
                left[e] = 1
        return lines

    def __call__(self, e: Expr) -> str:
        if e in self.names:
            return self.names[e]
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
            given = [*(self(a) for a in e.args), *(self.index(i) for i in e.data[1:])]
            return f"random_{e.data[0]}({', '.join(given)})"
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
