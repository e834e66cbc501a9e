"""A graph with named arguments and results: what `fusewright.define` makes, and its text.

Grammar
    defined  ::= "definition" string "{" argument* result* "}" graph           graph: as in `graph/text.py`
    argument ::= "tensor" name %id [layout] ["on" word]                        in the order of the call
               | "scalar" name dtype                                           f64, i64 or bool: a Python number
               | "size" name                                                   a size that no tensor shows
    layout   ::= "order" "[" dim,* "]"                                         dense, from the outermost dimension in
               | "strides" "[" (ix | "*"),* "]"                                `*`: any; 0: expanded
    result   ::= "result" name %id ["into" name] [layout]

Semantics
- Sizes are what the shapes of tensors show: an extent that is one unknown symbol, or that times and plus integers,
  binds it; every other extent is compared. Symbols of strides are bound in the same way.
- A tensor without a layout may have any strides: a plan is made for each kind of them.
- A result goes into new memory, or is a view of an argument or of another result if it is one by its operations
  (`permute`, a slice); or it is written into an argument, which all operations read as it was before.
- Extents may be 0. What a definition takes for granted is checked at every call (`requirements.py`).
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from typing import NoReturn

from ..core.dtypes import BY_NAME, DType, bool_, f64, i64
from ..core.errors import UserError, VerifyError
from ..core.lexer import ParseError, Token, is_word, quote
from ..index.expr import Ix, ix, sym
from ..index.layout import row_major
from .ir import Graph, Value
from .operations import SEEDS
from .text import Parser, dump
from .verify import verify

SCALARS = (f64, i64, bool_)
DEVICES = ("cpu", "cuda")
# Names that code generated for plans and kernels uses for itself.
RESERVED = frozenset(("args", "call", "math", "nt", "threads", "stream", "torch", "self", "S", "L"))

Strides = tuple[Ix | None, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Strides of a tensor: dense in `order` (dimensions from the outermost in), or `strides` (None: any)."""

    order: tuple[int, ...] | None = None
    strides: Strides | None = None

    def of(self, shape: tuple[Ix, ...]) -> Strides:
        """The strides, in elements, of a tensor of this shape."""
        if self.strides is not None:
            return self.strides
        assert self.order is not None
        dense = row_major(tuple(shape[d] for d in self.order))
        place = {d: k for k, d in enumerate(self.order)}
        return tuple(dense[place[d]] for d in range(len(shape)))

    def __str__(self) -> str:
        if self.strides is not None:
            return f"strides [{', '.join('*' if s is None else str(s) for s in self.strides)}]"
        return f"order [{', '.join(map(str, self.order or ()))}]"


@dataclass(frozen=True, slots=True)
class Argument:
    """`kind`: "tensor" (of `value`), "scalar" (of `dtype`) or "size". `layout` None: any; `device` "": any."""

    kind: str
    name: str
    value: Value | None = None
    dtype: DType | None = None
    layout: Layout | None = None
    device: str = ""

    def __str__(self) -> str:
        if self.kind == "tensor":
            assert self.value is not None
            text = f"tensor {self.name} %{self.value.id}"
            text += f" {self.layout}" if self.layout else ""
            return text + (f" on {self.device}" if self.device else "")
        return f"scalar {self.name} {self.dtype}" if self.kind == "scalar" else f"size {self.name}"


@dataclass(frozen=True, slots=True)
class Result:
    """`into`: the name of the argument that it is written into, or ""."""

    name: str
    value: Value
    into: str = ""
    layout: Layout | None = None

    def __str__(self) -> str:
        text = f"result {self.name} %{self.value.id}"
        text += f" into {self.into}" if self.into else ""
        return text + (f" {self.layout}" if self.layout else "")


@dataclass(slots=True)
class Defined:
    """`graph.inputs` are the values of the tensors among `arguments`, `graph.outputs` those of `results`, in order."""

    name: str
    graph: Graph
    arguments: list[Argument] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def text(self) -> str:
        """The text of a definition. Parsing it gives the same definition."""
        lines = [f"definition {quote(self.name)} {{", *(f"  {a}" for a in self.arguments)]
        return "\n".join([*lines, *(f"  {r}" for r in self.results), "}"]) + "\n" + dump(self.graph)

    @property
    def tensors(self) -> list[Argument]:
        return [a for a in self.arguments if a.kind == "tensor"]

    @property
    def scalars(self) -> list[Argument]:
        return [a for a in self.arguments if a.kind == "scalar"]

    def argument(self, name: str) -> Argument:
        return next(a for a in self.arguments if a.name == name)


def sizes_of(defined: Defined) -> list[str]:
    """The size symbols, in the order they appear: in arguments, then in equations."""
    found: dict[str, None] = {}

    def look(e: object) -> None:
        if isinstance(e, Ix):
            found.update(dict.fromkeys(sorted(a.name for a in e.atoms() if a.kind == "sym")))
        elif isinstance(e, tuple):
            for part in e:
                look(part)

    for a in defined.arguments:
        if a.kind == "size":
            look(sym(a.name))
        elif a.value is not None:
            look(a.value.shape)
            look(a.layout.strides if a.layout else ())
    for u in defined.graph.units:
        for v in u.results:
            look(v.shape)
    for eqn in defined.graph.eqns:
        look(eqn.params)
        look(eqn.out.shape)
    return list(found)


@dataclass(frozen=True, slots=True)
class Binding:
    """How a size symbol is found: `expr` of the extents and strides `name.size(d)`, `name.stride(d)`.

    extent = factor * symbol + rest, so symbol = (extent - rest) // factor.
    """

    symbol: str
    argument: str
    what: str  # "size", "stride" or "" (the argument itself is the size)
    dim: int
    factor: int
    rest: Ix


def bindings(defined: Defined) -> tuple[list[Binding], list[str]]:
    """How symbols are found from the arguments, in an order that works; and the symbols that cannot be."""
    wanted = sizes_of(defined)
    known: dict[str, Binding] = {
        a.name: Binding(a.name, a.name, "", 0, 1, ix(0)) for a in defined.arguments if a.kind == "size"
    }
    shown: list[tuple[str, str, int, Ix]] = []
    for a in defined.tensors:
        assert a.value is not None
        shown += [(a.name, "size", d, n) for d, n in enumerate(a.value.shape)]
    for a in defined.tensors:
        strides = a.layout.strides if a.layout and a.layout.strides else ()
        shown += [(a.name, "stride", d, n) for d, n in enumerate(strides) if n is not None]
    progress = True
    while progress:
        progress = False
        for name, what, d, e in shown:
            unknown = [a for a in e.atoms() if a.kind == "sym" and a.name not in known]
            if len(unknown) != 1 or any(a.kind == "div" and unknown[0] in a.ix.atoms() for a in e.atoms()):
                continue
            (atom,) = unknown
            rest = e.without(atom)
            factor = [(m, c) for m, c in e.terms if atom in m]
            if len(factor) == 1 and factor[0][0] == (atom,) and factor[0][1] > 0:
                known[atom.name] = Binding(atom.name, name, what, d, factor[0][1], rest)
                progress = True
    return list(known.values()), [s for s in wanted if s not in known]


# --- checks ------------------------------------------------------------------------------------------


def check_name(name: object, what: str, taken: set[str]) -> str:
    """A name for an argument, result or size. Raises UserError."""
    if not isinstance(name, str) or not name.isidentifier() or not is_word(name) or keyword.iskeyword(name):
        raise UserError(f"{what}: {name!r} is not a name")
    if name.startswith("_") or name in RESERVED:
        raise UserError(f"{what}: the name '{name}' is reserved")
    if name in taken:
        raise UserError(f"{what}: the name '{name}' is taken")
    return name


def check_layout(layout: Layout, shape: tuple[Ix, ...], what: str) -> None:
    """Raises UserError for a layout that does not fit a shape."""
    if layout.order is not None and sorted(layout.order) != list(range(len(shape))):
        raise UserError(f"{what}: {layout.order} is no order of {len(shape)} dimensions")
    if layout.strides is not None and len(layout.strides) != len(shape):
        raise UserError(f"{what}: {len(layout.strides)} strides for {len(shape)} dimensions")


def verify_defined(d: Defined) -> None:
    """Raise VerifyError or UserError, naming argument or result, unless the definition is complete and consistent."""

    def fail(message: str) -> NoReturn:
        raise VerifyError(f"definition '{d.name}': {message}", stage="verify definition")

    verify(d.graph)
    taken: set[str] = set()
    for a in d.arguments:
        taken.add(check_name(a.name, "argument", taken))
        if a.kind == "tensor":
            assert a.value is not None
            if a.layout is not None:
                check_layout(a.layout, a.value.shape, a.name)
            if a.device not in ("", *DEVICES):
                fail(f"{a.name}: no kind of device '{a.device}'")
        elif a.kind == "scalar" and a.dtype not in SCALARS:
            fail(f"{a.name}: scalars are f64, i64 or bool, not {a.dtype}")
    if [a.value for a in d.tensors] != d.graph.inputs:
        fail("the tensors are not the graph's inputs")
    for u in d.graph.units:
        if u.kind not in ("fused", "view") and (u.target != SEEDS or u.kind != "torch"):
            fail(f"unit {u.index} '{u.name}' is of kind '{u.kind}': a definition consists of equations")
    types = {a.name: a.dtype for a in d.scalars}
    for e in d.graph.eqns:
        if e.op == "scalar" and isinstance(e.params[0], str):
            want = types.get(e.params[0])
            if want is None or e.out.dtype is not want:
                fail(f"%{e.out.id} is the scalar '{e.params[0]}', which is no argument of type {e.out.dtype}")
    if not d.results:
        fail("it has no outputs")
    if [r.value for r in d.results] != d.graph.outputs:
        fail("the results are not the graph's outputs")
    _verify_results(d, fail)
    for s in sizes_of(d):
        if s in taken and not any(a.kind == "size" and a.name == s for a in d.arguments):
            fail(f"'{s}' is a size and an argument")
        if s in RESERVED or s.startswith("_") or not s.isidentifier():
            fail(f"a size cannot be called '{s}'")
    unknown = bindings(d)[1]
    if unknown:
        fail(
            f"nothing tells the size{'s' * (len(unknown) > 1)} {', '.join(unknown)}: no argument has such an extent "
            "(size_input makes it an argument)"
        )


def _verify_results(d: Defined, fail: object) -> None:
    assert callable(fail)
    taken: set[str] = set()
    written: set[str] = set()
    for r in d.results:
        taken.add(check_name(r.name, "output", taken))
        if r.layout is not None:
            check_layout(r.layout, r.value.shape, r.name)
        if not r.into:
            continue
        target = next((a for a in d.tensors if a.name == r.into), None)
        if target is None or target.value is None:
            fail(f"output '{r.name}' goes into '{r.into}', which is no tensor argument")
            return
        if (target.value.dtype, target.value.shape) != (r.value.dtype, r.value.shape):
            fail(f"output '{r.name}' is {r.value}, which does not fit into '{r.into}', {target.value}")
        if r.into in written:
            fail(f"two outputs go into '{r.into}'")
        if r.layout is not None:
            fail(f"output '{r.name}' goes into '{r.into}' and has no layout of its own")
        written.add(r.into)


# --- parsing -----------------------------------------------------------------------------------------


def parse(text: str) -> Defined:
    """The definition that `text` stands for. Raises ParseError (with line and column), VerifyError or UserError."""
    out = _Parser(text).defined()
    verify_defined(out)
    return out


class _Parser(Parser):
    def defined(self) -> Defined:
        c = self.c
        c.expect("definition")
        name = c.string("a name")
        c.expect("{")
        arguments: list[tuple[Argument, Token | None]] = []
        while c.is_at("tensor") or c.is_at("scalar") or c.is_at("size"):
            arguments.append(self.argument())
        results: list[tuple[str, Token, str, Layout | None]] = []
        while c.accept("result"):
            which, token = c.word("a name"), self.id("%", "a value like '%1'")
            into = c.word("an argument") if c.accept("into") else ""
            results.append((which, token, into, self.layout()))
        c.expect("}")
        out = Defined(name, self.graph())
        for a, at in arguments:
            value = None if at is None else self.find(at)
            out.arguments.append(Argument(a.kind, a.name, value, a.dtype, a.layout, a.device))
        out.results = [Result(which, self.find(at), into, layout) for which, at, into, layout in results]
        return out

    def argument(self) -> tuple[Argument, Token | None]:
        c = self.c
        kind, name = c.next().text, c.word("a name")
        if kind == "size":
            return Argument(kind, name), None
        if kind == "scalar":
            token = c.kind("word", "an element type")
            if token.text not in BY_NAME:
                c.fail(f"unknown element type {token}", token)
            return Argument(kind, name, dtype=BY_NAME[token.text]), None
        token, layout = self.id("%", "a value like '%1'"), self.layout()
        device = c.word("a kind of device") if c.accept("on") else ""
        return Argument(kind, name, layout=layout, device=device), token

    def layout(self) -> Layout | None:
        c = self.c
        if c.accept("order"):
            return Layout(order=tuple(c.natural("a dimension") for _ in c.list("[", "]")))
        if c.accept("strides"):
            return Layout(strides=tuple(None if c.accept("*") else self.ix() for _ in c.list("[", "]")))
        return None


__all__ = ["Argument", "Binding", "Defined", "Layout", "ParseError", "Result", "bindings", "parse", "verify_defined"]
