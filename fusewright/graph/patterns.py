"""A small graph found in a large one.

A pattern is a definition (`graph/defined.py`). It matches where equations of a graph compute its outputs as it does:

- Views are looked through: what counts is which element of which value an equation reads. So expanding by hand and by
  broadcasting are the same. Dimensions of extent 1 do not count, but for arguments and outputs: `keepdim` is all one.
- Commutative operands may be swapped. Sizes of the pattern stand for any expression, the same one everywhere; its
  scalars for any constant, or for a 0-d float64 input of the graph (a Python float that varies).
- What is computed twice in the same way is one value: programs are not rid of common subexpressions before.
- `round` of casts is ignored, as are names, lines and units.

Nothing is rewritten here (`trace/claims.py` does that).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.dtypes import f32, f64
from ..core.errors import UserError
from ..index.expr import ONE, ZERO, Atom, Ix, ix
from .builder import Builder
from .defined import Defined
from .ir import Eqn, Graph, Unit, Value
from .total import total

COMMUTATIVE = frozenset(("add", "mul", "max", "min", "fmax", "fmin", "and", "or", "xor", "eq", "ne"))
# Primitives that the lowering rules apply to 16-bit floats as they are; for all others they widen.
_UNWIDENED = frozenset(("where", "max", "min", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "neg", "abs"))

_POSITIONAL = ("gather", "scatter", "pad")  # their parameters count dimensions of extent 1, too

Rows = tuple[tuple[Ix, tuple[tuple[int, Ix], ...]], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A value as an equation reads it: element I of what is read is `value[J]`, J_d = offset + sum of factor * I_k.

    A row for each dimension d of the value, but for those of extent 1; k counts the others, too.
    """

    value: Value
    rows: Rows


@dataclass(slots=True)
class Match:
    """Where a pattern was found.

    `inputs`: of each tensor argument, by name; `numbers`: of each scalar, a number or a value; `sizes`: of each symbol;
    `outputs`: in the pattern's order; `eqns`: all equations of the graph that are part of it, views in between, too.
    """

    inputs: dict[str, Value]
    numbers: dict[str, Any]
    sizes: dict[str, Ix]
    outputs: list[Value]
    eqns: set[Eqn]


class Pattern:
    """A definition prepared for matching. Raises UserError for one that cannot be a pattern."""

    def __init__(self, defined: Defined):
        for r in defined.results:
            if r.into:
                raise UserError(f"pattern '{defined.name}': output '{r.name}' is written into an argument")
        self.name = defined.name
        self.defined = defined
        graph, first = total(defined.graph, divisions=False)
        if any(e.op == "random" for e in graph.eqns):
            raise UserError(f"pattern '{defined.name}': random numbers cannot be matched")
        self.graph, new = widen(graph)
        self.outputs = [new[v] for v in graph.outputs]
        self.names: dict[Value, str] = {new[first[a.value]]: a.name for a in defined.tensors if a.value is not None}
        self.makers = self.graph.producers()
        self.views = Views(self.makers)
        self.anchor = self.views.root(self.outputs[0])
        wanted = self.makers.get(self.anchor)
        if wanted is None or (wanted.op == "scalar" and isinstance(wanted.params[0], str)):
            raise UserError(f"pattern '{self.name}': its first output is an argument")

    def find(self, graph: Graph) -> Iterator[Match]:
        """Every match in a graph, in the order of its equations; they may overlap."""
        views = Views(graph.producers())
        same = congruent(graph)
        wanted = self.makers[self.anchor]
        for e in graph.eqns:
            if e.op == wanted.op and (e.op != "map" or e.params == wanted.params):
                found = _Matcher(self, graph, views, same).match(e.out)
                if found is not None:
                    yield found


def congruent(graph: Graph) -> dict[Value, Value]:
    """For each value that an equation makes, the first one that is computed in the same way."""
    first: dict[Any, Value] = {}
    same: dict[Value, Value] = {}
    for e in graph.eqns:
        params = (repr(e.params), e.out.dtype) if e.op == "const" else e.params
        key = (e.op, params, tuple(same.get(v, v) for v in e.inputs), e.out.shape, e.out.dtype)
        same[e.out] = first.setdefault(key, e.out)
    return same


def widen(graph: Graph) -> tuple[Graph, dict[Value, Value]]:
    """A copy in which 16-bit floats are computed in float32 between casts, as the lowering rules write it."""
    out = Graph(units=[Unit(u.index, u.name, u.target, u.where, u.kind) for u in graph.units])
    b = Builder(out)
    new: dict[Value, Value] = {v: b.input(v.dtype, v.shape) for v in graph.inputs}
    for e in graph.eqns:
        b.unit = e.unit
        b.forget()
        inputs = [new[v] for v in e.inputs]
        if e.op == "map" and e.params[0] not in _UNWIDENED and any(v.dtype.is_reduced for v in inputs):
            wide = [_widened(b, v) for v in inputs]
            new[e.out] = b.cast(b.map(e.params[0], *wide), e.out.dtype)
        else:
            new[e.out] = b.emit(e.op, inputs, e.params, e.out.dtype, e.out.shape)
    return out, new


def _widened(b: Builder, v: Value) -> Value:
    maker = b.graph.producers().get(v)
    if maker is not None and maker.op == "const" and v.dtype.is_reduced:
        return b.const(maker.params[0], f32)
    if maker is not None and maker.op == "cast" and v.dtype.is_reduced and maker.inputs[0].rank == 0:
        return b.cast(maker.inputs[0], f32)  # a scalar or a size
    return b.cast(v, f32) if v.dtype.is_reduced else v


class Views:
    """Reads of values, with the views in between composed."""

    def __init__(self, makers: dict[Value, Eqn]):
        self.makers = makers

    def root(self, v: Value) -> Value:
        """The value that views begin with."""
        while (e := self.makers.get(v)) is not None and e.op == "affine":
            v = e.inputs[0]
        return v

    def chain(self, v: Value, shape: tuple[Ix, ...]) -> list[Seen]:
        """What a read of `v`, broadcast to `shape`, comes down to: `v` itself first, what its views begin with last."""
        lead = len(shape) - v.rank
        rows: Rows = tuple((ZERO, ((lead + d, ONE),) if n is not ONE else ()) for d, n in enumerate(v.shape))
        out = [Seen(v, _normal(rows, v, shape))]
        while (e := self.makers.get(v)) is not None and e.op == "affine":
            rows = tuple(_composed(row, rows) for row in e.params[0])
            v = e.inputs[0]
            out.append(Seen(v, _normal(rows, v, shape)))
        return out


def _composed(row: tuple[Ix, tuple[tuple[int, Ix], ...]], rows: Rows) -> tuple[Ix, tuple[tuple[int, Ix], ...]]:
    offset, terms = row
    total: dict[int, Ix] = {}
    for k, c in terms:
        inner, more = rows[k]
        offset = offset + c * inner
        for j, f in more:
            total[j] = total.get(j, ZERO) + c * f
    return offset, tuple(total.items())


def _normal(rows: Rows, v: Value, shape: tuple[Ix, ...]) -> Rows:
    """Rows without dimensions of extent 1, terms in order."""
    at = _positions(shape)
    out = []
    for (offset, terms), n in zip(rows, v.shape, strict=True):
        if n is not ONE:
            out.append((offset, tuple(sorted((at[k], c) for k, c in terms if c is not ZERO and k in at))))
    return tuple(out)


def _positions(shape: tuple[Ix, ...]) -> dict[int, int]:
    """Dimension -> its place among those whose extent is not 1."""
    return {d: k for k, d in enumerate(d for d, n in enumerate(shape) if n is not ONE)}


@dataclass(slots=True)
class _State:
    inputs: dict[Value, Value] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Ix] = field(default_factory=dict)
    pairs: set[tuple[Value, Value]] = field(default_factory=set)
    later: list[tuple[Ix, Ix]] = field(default_factory=list)  # to be equal once all symbols are known
    eqns: set[Eqn] = field(default_factory=set)

    def copy(self) -> _State:
        return _State(
            dict(self.inputs), dict(self.numbers), dict(self.sizes), set(self.pairs), list(self.later), set(self.eqns)
        )


class _Matcher:
    """One attempt. Methods return the state after a match, or None."""

    def __init__(self, pattern: Pattern, graph: Graph, views: Views, same: dict[Value, Value]):
        self.p, self.graph, self.makers, self.views, self.one = pattern, graph, views.makers, views, same

    def match(self, anchor: Value) -> Match | None:
        state = self.value(self.p.anchor, anchor, _State())
        if state is None:
            return None
        outputs: list[Value] = []
        for wanted in self.p.outputs:
            found = next(self.outputs(wanted, state), None)
            if found is None:
                return None
            v, state = found
            outputs.append(v)
        sizes = state.sizes
        waiting = state.later
        while any(_solved(p, g, sizes) for p, g in waiting):
            pass
        if any(_substituted(p, sizes) is not g for p, g in waiting):
            return None
        inputs = {self.p.names[v]: w for v, w in state.inputs.items()}
        if len(inputs) < len(self.p.names):
            return None  # an argument that no output depends on
        return Match(inputs, state.numbers, sizes, outputs, state.eqns)

    def outputs(self, wanted: Value, state: _State) -> Iterator[tuple[Value, _State]]:
        """Values of the graph that are the pattern's output `wanted`."""
        root = self.p.views.root(wanted)
        for e in self.graph.eqns:
            v = e.out
            if v.dtype is not wanted.dtype or v.rank != wanted.rank:
                continue
            mine, theirs = self.p.views.chain(wanted, wanted.shape), self.views.chain(v, v.shape)
            if mine[-1].value is not root:
                continue
            after = self.read(mine[-1], theirs, state.copy())
            if after is not None and self.same(wanted.shape, v.shape, after):
                yield v, after

    # --- values ---
    def read(self, p: Seen, chain: list[Seen], state: _State) -> _State | None:
        """Match a read of the pattern (what its views begin with) with one of the graph."""
        candidates = chain if p.value in self.p.names else chain[-1:]
        for k, g in enumerate(candidates):
            trial = state.copy()
            if not self.rows(p.rows, g.rows, trial):
                continue
            after = self.value(p.value, g.value, trial)
            if after is not None:
                through = chain[: k if p.value in self.p.names else len(chain) - 1]
                after.eqns.update(self.makers[s.value] for s in through)
                return after
        return None

    def value(self, p: Value, g: Value, state: _State) -> _State | None:
        if (p, g) in state.pairs:
            return state
        if p.dtype is not g.dtype or (p in self.p.names and p.rank != g.rank):
            return None
        if p in self.p.names:
            bound = state.inputs.setdefault(p, g)
            if self.one.get(bound, bound) is not self.one.get(g, g) or not self.same(p.shape, g.shape, state):
                return None
            return state
        e, f = self.p.makers[p], self.makers.get(g)
        name = self.scalar(p)
        if name:
            return self.number(name, g, state)
        if f is not None and f.op == "const" and e.op in ("cast", "scalar"):
            n, c = self.sized(e), float(f.params[0])
            if n is None or not c.is_integer() or not self.size(n, ix(int(c)), state):
                return None
            state.eqns.add(f)
            return state
        if f is None or f.op != e.op or len(f.inputs) != len(e.inputs) or not self.shapes(p.shape, g.shape, state):
            return None
        whole = lambda a: (a.out.rank, *(v.rank for v in a.inputs))
        if (e.op in _POSITIONAL and whole(e) != whole(f)) or not self.params(e, f, state):
            return None
        for order in self.orders(e):
            after = self.operands(e, [f.inputs[k] for k in order], f, state.copy())
            if after is not None:
                after.pairs.add((p, g))
                after.eqns.add(f)
                return after
        return None

    def number(self, name: str, g: Value, state: _State) -> _State | None:
        """A constant of the graph, or a float that is one of its inputs, for a scalar."""
        after = state.copy()
        while (f := self.makers.get(g)) is not None and f.op in ("cast", "affine"):
            after.eqns.add(f)
            g = f.inputs[0]
        if f is not None and f.op == "const":
            after.eqns.add(f)
            found: Any = f.params[0]
        elif f is None and g in self.graph.inputs and g.dtype is f64 and g.rank == 0:
            found = g
        else:
            return None
        return after if repr(after.numbers.setdefault(name, found)) == repr(found) else None

    def scalar(self, p: Value) -> str:
        """The scalar argument that a value is, perhaps cast."""
        e = self.p.makers.get(p)
        while e is not None and e.op == "cast":
            e = self.p.makers.get(e.inputs[0])
        return e.params[0] if e is not None and e.op == "scalar" and isinstance(e.params[0], str) else ""

    def sized(self, e: Eqn | None) -> Ix | None:
        """The size that an equation is, perhaps cast. In a program of fixed sizes it may be a constant."""
        while e is not None and e.op == "cast":
            e = self.p.makers.get(e.inputs[0])
        return e.params[0] if e is not None and e.op == "scalar" and isinstance(e.params[0], Ix) else None

    def operands(self, e: Eqn, given: list[Value], f: Eqn, state: _State) -> _State | None:
        after = state
        for p, g in zip(e.inputs, given, strict=True):
            broadcast = e.op == "map"
            mine = self.p.views.chain(p, e.out.shape if broadcast else p.shape)[-1]
            theirs = self.views.chain(g, f.out.shape if broadcast else g.shape)
            found = self.read(mine, theirs, after)
            if found is None:
                return None
            after = found
        return after

    def orders(self, e: Eqn) -> list[list[int]]:
        """Orders of operands that mean the same."""
        every = list(range(len(e.inputs)))
        if e.op == "map" and e.params[0] in COMMUTATIVE:
            return [every, [1, 0]]
        return [every, [1, 0, 2]] if e.op == "map" and e.params[0] == "fma" else [every]

    # --- sizes and parameters ---
    def params(self, e: Eqn, f: Eqn, state: _State) -> bool:
        if e.op == "cast":
            return bool(e.params[0] is f.params[0])
        if e.op == "const":
            return repr(e.params[0]) == repr(f.params[0])
        if e.op in ("reduce", "scan", "cat", "iota"):
            return _squeezed(e) == _squeezed(f)
        return self.same(e.params, f.params, state)

    def same(self, p: Any, g: Any, state: _State) -> bool:
        if isinstance(p, Ix) and isinstance(g, Ix):
            return self.size(p, g, state)
        if isinstance(p, tuple) and isinstance(g, tuple):
            return len(p) == len(g) and all(self.same(a, b, state) for a, b in zip(p, g, strict=True))
        return bool(p == g)

    def rows(self, p: Rows, g: Rows, state: _State) -> bool:
        return self.same(p, g, state)

    def shapes(self, p: tuple[Ix, ...], g: tuple[Ix, ...], state: _State) -> bool:
        mine, theirs = (tuple(n for n in s if n is not ONE) for s in (p, g))
        return self.same(mine, theirs, state)

    def size(self, p: Ix, g: Ix, state: _State) -> bool:
        """A size of the pattern against one of the graph; a symbol that is new takes the expression."""
        if p.as_int() is not None:
            return p is g
        if len(p.terms) == 1 and p.terms[0][1] == 1 and len(p.terms[0][0]) == 1 and p.terms[0][0][0].kind == "sym":
            return state.sizes.setdefault(p.terms[0][0][0].name, g) is g
        state.later.append((p, g))
        return True


def _squeezed(e: Eqn) -> tuple[Any, ...]:
    """Parameters that name dimensions, counted without those of extent 1."""
    at = _positions(e.inputs[0].shape if e.op in ("reduce", "scan") else e.out.shape)
    if e.op == "reduce":
        return (e.params[0], frozenset(at[d] for d in e.params[1] if d in at))
    *rest, dim = e.params
    return (*rest, at.get(dim))


def _solved(p: Ix, g: Ix, sizes: dict[str, Ix]) -> bool:
    """Find the one symbol of `p` that is not known yet, if it is `p`'s but for factor and offset: p = g."""
    unknown = [a for a in p.atoms() if a.kind == "sym" and a.name not in sizes]
    if len(unknown) != 1:
        return False
    (atom,) = unknown
    factor = p.coefficient(atom)
    c = None if factor is None else factor.as_int()
    rest = _substituted(p.without(atom), sizes)
    if c is None or c < 1 or rest is None:
        return False
    found = (g - rest) // c
    if found * c is not g - rest:
        return False
    sizes[atom.name] = found
    return True


def _substituted(p: Ix, sizes: dict[str, Ix]) -> Ix | None:
    atoms: dict[Atom, Ix] = {}
    for a in p.atoms():
        if a.kind == "sym":
            if a.name not in sizes:
                return None
            atoms[a] = sizes[a.name]
    return p.subst(atoms)
