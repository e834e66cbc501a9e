"""Scalar expressions: what one element of a stage is.

Grammar
    expr ::= Const value | Host ix-or-name | Index ix | Load buffer[offset] if mask
           | Op prim(expr, ...) | Cast expr | Round expr | Stage name | Random(kind, seed, row, column)

Semantics
- A 16-bit float is held in f32; `Load` widens. `Round` narrows to its 16-bit `data` type and widens again.
- `Load` with a false mask reads nothing and gives 0.
- `Stage` is the value of a reduction or scan at the current point of the iteration domain.
- `Random` is element (row, column) of the Philox4x32-10 stream keyed by the i64 `seed` (prims/philox.py). Kinds
  curand_* have the four numbers of a state in its place, row 0, and the element as column (prims/curand.py).
Expressions are pure and interned: equal means identical.
"""

from __future__ import annotations

import itertools
import operator
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakValueDictionary

from ..core.dtypes import DType, bool_, compute_type, f32, i64
from ..index import expr as index
from ..index.expr import Atom, Ix, ix
from ..prims.table import PRIMS

_lock = threading.Lock()
_table: WeakValueDictionary[Any, Expr] = WeakValueDictionary()
_serials = itertools.count()
_COMPARED = {k: getattr(operator, k) for k in ("lt", "le", "gt", "ge", "eq", "ne")}


class Expr:
    """An interned scalar expression. `axes` are the loop variables it depends on; `stages` the stages it reads."""

    __slots__ = ("__weakref__", "args", "axes", "below", "cost", "data", "dtype", "kind", "serial", "stages", "total")
    kind: str
    dtype: DType
    args: tuple[Expr, ...]
    data: Any
    axes: frozenset[Atom]
    stages: frozenset[str]
    cost: int
    serial: int
    below: tuple[Expr, ...] | None  # of `walk`, once somebody has asked
    total: tuple[int, int] | None  # of `repeats`, likewise

    def __repr__(self) -> str:
        return f"e{self.serial}"

    def children(self) -> tuple[Expr, ...]:
        """Sub-expressions, including those inside offsets."""
        extra = [a.aux for i in self.indices() for a in i.atoms() if a.kind == "value"]
        return (*self.args, *extra)

    def indices(self) -> tuple[Ix, ...]:
        if self.kind == "load":
            return (self.data[1],)
        if self.kind == "index":
            return (self.data,)
        if self.kind == "random":
            return (self.data[1], self.data[2])
        return ()


def _make(kind: str, dtype: DType, args: tuple[Expr, ...], data: Any, cost: int) -> Expr:
    key = (kind, dtype, args, repr(data) if kind == "const" else data)
    found = _table.get(key)
    if found is not None:
        return found
    e = Expr()
    e.below = e.total = None
    e.kind, e.dtype, e.args, e.data, e.cost = kind, dtype, args, data, cost
    axes: set[Atom] = set()
    stages: set[str] = set()
    if kind == "stage":
        stages.add(data[0])
        axes |= data[1]
    for i in e.indices():
        for a in i.atoms():
            if a.kind == "axis":
                axes.add(a)
            elif a.kind == "value":
                axes |= a.aux.axes
                stages |= a.aux.stages
    for c in args:
        axes |= c.axes
        stages |= c.stages
    e.axes, e.stages = frozenset(axes), frozenset(stages)
    with _lock:
        e.serial = next(_serials)
        return _table.setdefault(key, e)


def const(value: Any, dtype: DType) -> Expr:
    return _make("const", compute_type(dtype), (), value, 0)


def zero(dtype: DType) -> Expr:
    return const(False if dtype.is_bool else 0.0 if dtype.is_float else 0, dtype)


def host(name: str, dtype: DType) -> Expr:
    """A scalar kernel argument computed by the host, by name."""
    return _make("host", dtype, (), name, 0)


def index_value(i: Ix) -> Expr:
    """An index expression as an i64 value."""
    n = i.as_int()
    if n is not None:
        return const(n, i64)
    if len(i.terms) == 1 and i.terms[0][1] == 1 and len(i.terms[0][0]) == 1 and i.terms[0][0][0].kind == "value":
        return i.terms[0][0][0].aux
    return _make("index", i64, (), i, 1)


def size_value(i: Ix) -> Expr:
    """A number computed from sizes, as an i64: an argument of the kernel even when the sizes are known."""
    return _make("index", i64, (), i, 1)


def load(buffer: str, offset: Ix, dtype: DType, mask: Expr | None) -> Expr:
    """Element `offset` of `buffer`, whose stored type is `dtype`; of use where `mask` holds (None: everywhere)."""
    if mask is not None and mask.kind == "const":
        if not mask.data:
            return zero(dtype)
        mask = None
    return _make("load", compute_type(dtype), () if mask is None else (mask,), (buffer, offset, dtype), 2)


def op(prim: str, *args: Expr) -> Expr:
    """Apply a primitive; folds `where` on constants, comparisons of positions that are, and the identities of masks."""
    if prim == "and" and args[0].dtype.is_bool:
        for a, b in (args, args[::-1]):
            if a.kind == "const":
                return b if a.data else a
        if args[0] is args[1]:
            return args[0]
    if prim == "where" and args[0].kind == "const":
        return args[1] if args[0].data else args[2]
    if prim in _COMPARED and all(a.kind == "const" and a.dtype is i64 for a in args):
        return const(_COMPARED[prim](*(a.data for a in args)), bool_)
    p = PRIMS[prim]
    return _make("op", p.result_type(tuple(a.dtype for a in args)), args, prim, p.cost)


def never(e: Expr) -> bool:
    """Whether a condition is known to be false."""
    return e.kind == "const" and not e.data


def cast(x: Expr, dtype: DType) -> Expr:
    """Convert to the compute type of `dtype`."""
    to = compute_type(dtype)
    if x.dtype is to:
        return x
    if x.kind == "const" and not (to.is_bool or (to.is_int and x.dtype.is_float)):
        if to.is_float:
            return const(float(x.data), to)
        bits = 8 * to.itemsize
        v = int(x.data) & ((1 << bits) - 1)
        return const(v - (1 << bits) if to.kind == "i" and v >> (bits - 1) else v, to)
    if to is bool_:
        return op("ne", x, const(0, x.dtype))
    return _make("cast", to, (x,), None, 1)


def round_to(x: Expr, dtype: DType) -> Expr:
    """The nearest value that 16- or 8-bit `dtype` can hold, still in f32."""
    given = x.args[0].dtype if x.kind == "cast" else x.dtype
    if given is bool_ or (given.itemsize == 1 and not dtype.is_float8):  # 16 bits can hold all that 8 can
        return x
    if (x.kind == "round" and x.data is dtype) or (x.kind == "load" and x.data[2] is dtype):
        return x
    return _make("round", x.dtype, (x,), dtype, 4)


def loose(x: Expr) -> Expr:
    """`x`, where the program has it rounded to 16 bits and it is not: it may be off by less than those hold."""
    return _make("round", x.dtype, (x,), f32, 0) if x.kind in ("op", "stage") and x.dtype is f32 else x


def bare(x: Expr) -> Expr:
    """What `loose` was given."""
    return x.args[0] if x.kind == "round" and x.data is f32 else x


def stage_value(name: str, dtype: DType, axes: frozenset[Atom]) -> Expr:
    """The value of stage `name` at the current point; `axes` are those the stage is defined over."""
    return _make("stage", compute_type(dtype), (), (name, axes), 0)


def random(kind: str, seed: Expr | tuple[Expr, ...], row: Ix, column: Ix, dtype: DType) -> Expr:
    """`seed`: one number, or the four of a state (prims/curand.py), where `column` is the element and `row` is 0."""
    seeds = seed if isinstance(seed, tuple) else (seed,)
    return _make("random", compute_type(dtype), seeds, (kind, row, column), 60)


def rebuild(e: Expr, args: tuple[Expr, ...], memo: Mapping[Expr, Expr] | None = None) -> Expr:
    """`e` with other operands of the same types; `memo`: what the values in its offsets have become, if they have."""
    if e.kind == "load" and (memo is not None or args != e.args):
        offset = e.data[1] if memo is None else _with_values(e.data[1], memo)
        return load(e.data[0], offset, e.data[2], args[0] if args else None)
    if args == e.args:
        return e
    if e.kind == "op":
        return op(e.data, *args)
    return _make(e.kind, e.dtype, args, e.data, e.cost)


def _with_values(i: Ix, memo: Mapping[Expr, Expr]) -> Ix:
    """An index with what its run-time values have become."""

    def value(a: Atom) -> Atom:
        assert a.extent is not None
        return index.value(memo[a.aux], a.extent).terms[0][0][0]

    return i.subst({}, value)


def transformed(roots: list[Expr], change: Callable[[Expr], Expr]) -> dict[Expr, Expr]:
    """What all expressions below `roots`, also in offsets of loads, are when each has been given to `change`, operands
    first."""
    memo: dict[Expr, Expr] = {}
    for x in walk(roots):
        memo[x] = change(rebuild(x, tuple(memo[a] for a in x.args), memo))
    return memo


def rewrite_index(i: Ix, axes: dict[Atom, Ix], memo: dict[Expr, Expr]) -> Ix:
    """Substitute axes in an index expression, also inside run-time values."""

    def value(a: Atom) -> Atom:
        assert a.extent is not None
        return index.value(rewrite(a.aux, axes, memo), a.extent.subst(axes)).terms[0][0][0]

    return i.subst(axes, value)


def rewrite(e: Expr, axes: dict[Atom, Ix], memo: dict[Expr, Expr]) -> Expr:
    """Substitute axes throughout an expression."""
    if e not in memo:
        for x in walk([e]):
            if x not in memo:
                memo[x] = _rewritten(x, axes, memo)
    return memo[e]


def _rewritten(e: Expr, axes: dict[Atom, Ix], memo: dict[Expr, Expr]) -> Expr:
    args = tuple(memo[c] for c in e.args)
    if e.kind == "load":
        return load(e.data[0], rewrite_index(e.data[1], axes, memo), e.data[2], args[0] if args else None)
    if e.kind == "index":
        moved = rewrite_index(e.data, axes, memo)
        return index_value(moved) if moved is not e.data else e
    if e.kind == "random":
        return _make("random", e.dtype, args, (e.data[0], *(rewrite_index(i, axes, memo) for i in e.data[1:])), e.cost)
    if e.kind == "stage":
        if not any(a in axes for a in e.data[1]):
            return e
        home = frozenset(b for a in e.data[1] for b in (axes[a].axes() if a in axes else (a,)))
        return stage_value(e.data[0], e.dtype, home)
    return rebuild(e, args)


def conjuncts(e: Expr) -> list[Expr]:
    """The conditions that a conjunction consists of."""
    return [x for a in e.args for x in conjuncts(a)] if e.kind == "op" and e.data == "and" and e.dtype.is_bool else [e]


def on_positions(e: Expr) -> bool:
    """Whether an expression compares a position with another, or with a number."""
    if e.kind != "op" or e.data not in ("lt", "le", "gt", "ge"):
        return False
    return all(a.kind in ("index", "const") for a in e.args) and any(a.kind == "index" for a in e.args)


def sides(e: Expr) -> tuple[Ix, Ix]:
    """What a comparison of positions, or of one with a number, compares."""
    a, b = (x.data if x.kind == "index" else ix(x.data) for x in e.args)
    return a, b


def walk(roots: Iterable[Expr]) -> list[Expr]:
    """All expressions below `roots`, operands first, and these. What is below one is kept: schedulers ask often."""
    found: dict[Expr, None] = {}
    for r in roots:
        if r not in found:
            found.update(dict.fromkeys(_below(r) if r.below is None else r.below))
            found[r] = None
    return list(found)


def _below(root: Expr) -> tuple[Expr, ...]:
    out: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        e, done = stack.pop()
        if e in out:
            continue
        if e.below is not None:
            out.update(dict.fromkeys(e.below))
            done = True
        if done:
            out[e] = None
        else:
            stack.append((e, True))
            stack.extend((c, False) for c in reversed(e.children()) if c not in out)
    del out[root]
    root.below = tuple(out)
    return root.below
