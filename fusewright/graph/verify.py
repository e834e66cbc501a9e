"""Checks a graph against the rules of `graph/ir.py`: every type and shape is inferred again.

The rules
- A value is defined once (by an input, an equation, or the result of an opaque unit) and before it is used; ids are
  unique.
- Operands, parameters, result type and result shape of an equation are those of its operation.
- `units[k].index` is k; equations belong to units, of kind "fused" or "view", in order.
- Groups are made of whole units, each unit in at most one group; views, and units that only cast, address or name a
  constant, may be in several.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from ..core.dtypes import DType, bool_, i64
from ..core.errors import CompilerError, Refusal, VerifyError
from ..core.lazy import lazy_import
from ..index.expr import ONE, Ix, nonnegative
from ..index.layout import product
from ..prims.table import ARG_MONOIDS, MONOIDS, PRIMS, RANDOM_KINDS, SCANNED
from .builder import broadcast
from .ir import KINDS, SCATTERS, Eqn, Graph, Shape, Value

if TYPE_CHECKING:
    from . import text
else:  # for messages
    text = lazy_import("fusewright.graph.text")

_ARITY = {"cast": 1, "const": 0, "scalar": 0, "affine": 1, "reshape": 1, "pad": 2, "reduce": 1, "scan": 1, "iota": 0}
_ARITY["random"] = 1
_REPEATABLE = frozenset(("cast", "const", "scalar", "iota", "affine"))


class _Bad(Exception):
    """A broken rule; `verify` adds which equation."""


def verify(graph: Graph) -> None:
    """Raise VerifyError, naming the equation or unit, if `graph` breaks a rule."""
    ids: dict[int, Value] = {}
    done = 0

    def fail(message: str, e: Eqn | None = None) -> NoReturn:
        known = e is not None and 0 <= e.unit < len(graph.units)
        where = graph.units[e.unit].where if e is not None and known else ""
        raise VerifyError(f"{message}{_where(e)}", stage="verify graph", where=where)

    def define(v: Value, e: Eqn | None = None) -> None:
        if v.id in ids:
            fail(f"value %{v.id} is defined twice", e)
        ids[v.id] = v

    def opaque(limit: int) -> None:
        """Define the results of opaque units up to `limit`."""
        nonlocal done
        while done < len(graph.units) and done < limit:
            u = graph.units[done]
            done += 1
            if u.kind in ("fused", "view"):
                continue
            for v in u.reads:
                if ids.get(v.id) is not v:
                    fail(f"unit {u.index} reads %{v.id}, which is not defined before it")
            for v in u.results:
                if ids.get(v.id) is not v:
                    define(v)

    for v in graph.inputs:
        define(v)
    for k, u in enumerate(graph.units):
        if u.index != k:
            fail(f"unit {k} has index {u.index}")
        if u.kind not in KINDS:
            fail(f"unit {k} has unknown kind '{u.kind}'")
    last = 0
    for e in graph.eqns:
        if not 0 <= e.unit < len(graph.units):
            fail(f"there is no unit {e.unit}", e)
        if graph.units[e.unit].kind not in ("fused", "view"):
            fail(f"unit {e.unit} is of kind '{graph.units[e.unit].kind}', which has no equations", e)
        if e.unit < last:
            fail(f"an equation of unit {e.unit} comes after those of unit {last}", e)
        last = e.unit
        opaque(e.unit)
        for v in e.inputs:
            if ids.get(v.id) is not v:
                fail(f"value %{v.id} is not defined before it is used", e)
        try:
            check(e)
        except (TypeError, Refusal) as error:
            fail(str(error), e)
        define(e.out, e)
    opaque(len(graph.units))
    for u in graph.units:
        for v in (*u.reads, *u.results):
            if ids.get(v.id) is not v:
                fail(f"unit {u.index} names %{v.id}, which is not defined")
    for v in graph.outputs:
        if ids.get(v.id) is not v:
            fail(f"output %{v.id} is not defined")


def verify_groups(graph: Graph, groups: Iterable[Collection[Eqn]], again: Collection[int] = ()) -> None:
    """Raise VerifyError unless each group is made of whole units and no unit that computes is in two groups, but for
    those that are meant to be computed `again`."""
    size: dict[int, int] = {}
    work: set[int] = set()
    for e in graph.eqns:
        size[e.unit] = size.get(e.unit, 0) + 1
        if e.op not in _REPEATABLE:
            work.add(e.unit)
    owner: dict[int, int] = {}
    mine = set(graph.eqns)
    for g, group in enumerate(groups):
        members: dict[int, int] = {}
        for e in group:
            if e not in mine:
                raise VerifyError(f"group {g} has an equation that is not in the graph{_where(e)}", stage="group")
            members[e.unit] = members.get(e.unit, 0) + 1
        for n, count in members.items():
            u = graph.units[n]
            if count != size[n]:
                raise VerifyError(
                    f"group {g} has {count} of the {size[n]} equations of unit {n} '{u.name}'", "group", u.where
                )
            if owner.setdefault(n, g) != g and u.kind != "view" and n in work and n not in again:
                raise VerifyError(f"unit {n} '{u.name}' is in groups {owner[n]} and {g}", "group", u.where)


def _where(e: Eqn | None) -> str:
    if e is None:
        return ""
    try:
        return f", in '{text.equation(e)}'"
    except (CompilerError, IndexError, TypeError, ValueError):  # parameters too broken to print
        return f", in the equation of %{e.out.id}"


def _list(xs: Iterable[object]) -> str:
    return ", ".join(map(str, xs))


def check(e: Eqn) -> None:
    """Raise TypeError or Refusal, with what is wrong, unless `e` follows the rules of its operation."""
    try:
        dtype, shape = infer(e)
    except _Bad as error:
        raise TypeError(str(error)) from None
    if e.out.dtype is not dtype:
        raise TypeError(f"the result is {dtype}, not {e.out.dtype}")
    if e.out.shape != shape:
        raise TypeError(f"the shape is [{_list(shape)}], not [{_list(e.out.shape)}]")


def infer(e: Eqn) -> tuple[DType, Shape]:
    """The type and shape that an equation's result must have. Raises _Bad, TypeError or Refusal when it has none."""
    p, xs, out = e.params, e.inputs, e.out
    if e.op in _ARITY and len(xs) != _ARITY[e.op]:
        raise _Bad(f"{e.op} takes {_ARITY[e.op]} operands, got {len(xs)}")
    match e.op:
        case "map":
            if p[0] not in PRIMS:
                raise _Bad(f"unknown primitive '{p[0]}'")
            return PRIMS[p[0]].result_type(tuple(x.dtype for x in xs)), broadcast(*(x.shape for x in xs))
        case "cast":
            if p[0] is bool_ and xs[0].dtype is not bool_:
                raise _Bad("cast cannot give bool: compare with 0 instead")
            return p[0], xs[0].shape
        case "const":
            if not _fits(p[0], out.dtype):
                raise _Bad(f"constant {p[0]!r} is not a {out.dtype}")
            return out.dtype, ()
        case "scalar":
            return out.dtype, ()
        case "iota":
            _dims(e, (p[0],), out.rank)
            return i64, out.shape
        case "random":
            if p[0] not in RANDOM_KINDS:
                raise _Bad(f"unknown kind of random number '{p[0]}'")
            if xs[0].dtype is not i64 or xs[0].rank != 1:
                raise _Bad("the seeds must be a one-dimensional i64 tensor")
            return out.dtype, out.shape
        case "reshape":
            if product(out.shape) is not xs[0].numel:
                raise _Bad(f"{xs[0]} has another number of elements")
            return xs[0].dtype, out.shape
        case "affine":
            _count(e, p[0], xs[0])
            _dims(e, (k for _, terms in p[0] for k, _ in terms), out.rank)
            return xs[0].dtype, out.shape
        case "pad":
            return _pad(e)
        case "cat":
            return _cat(e)
        case "gather":
            return _gather(e)
        case "scatter":
            return _scatter(e)
        case "reduce" | "scan":
            return _combine(e)
    raise _Bad(f"unknown operation '{e.op}'")


def _fits(value: object, d: DType) -> bool:
    if d.is_float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, int) and isinstance(value, bool) is d.is_bool


def _dims(e: Eqn, dims: Iterable[int], rank: int) -> None:
    for k in dims:
        if not 0 <= k < rank:
            raise _Bad(f"{e.op} names dimension {k} of {rank}")


def _count(e: Eqn, spec: tuple[object, ...], x: Value) -> None:
    if len(spec) != x.rank:
        raise _Bad(f"{e.op} lists {len(spec)} dimensions of an operand that has {x.rank}")


def _pad(e: Eqn) -> tuple[DType, Shape]:
    x, fill = e.inputs
    _count(e, e.params[0], x)
    if fill.rank != 0 or fill.dtype is not x.dtype:
        raise _Bad(f"the padding must be a 0-d {x.dtype}")
    if e.out.rank != x.rank:
        raise _Bad(f"pad gives {x.rank} dimensions, not {e.out.rank}")
    return x.dtype, e.out.shape


def _cat(e: Eqn) -> tuple[DType, Shape]:
    if not e.inputs:
        raise _Bad("cat takes at least one operand")
    first, dim = e.inputs[0], e.params[0]
    _dims(e, (dim,), first.rank)
    shape: list[Ix] = list(first.shape)
    for x in e.inputs[1:]:
        if x.dtype is not first.dtype or x.rank != first.rank:
            raise _Bad("cat takes operands of one type and rank")
        if any(a is not b for d, (a, b) in enumerate(zip(shape, x.shape, strict=True)) if d != dim):
            raise _Bad("cat of extents that differ")
        shape[dim] = shape[dim] + x.shape[dim]
    return first.dtype, tuple(shape)


def _gather(e: Eqn) -> tuple[DType, Shape]:
    if not e.inputs:
        raise _Bad("gather takes at least one operand")
    x, indices = e.inputs[0], e.inputs[1:]
    _count(e, e.params[0], x)
    for d, s in enumerate(e.params[0]):
        if s[0] == "dim":
            _dims(e, s[1:], e.out.rank)
            if e.out.shape[s[1]] is not x.shape[d]:
                raise _Bad(f"gather keeps dimension {d} whole, but its extent changes")
        else:
            _index_operand(e, s, indices, e.out, "the result")
    return x.dtype, e.out.shape


def _index_operand(e: Eqn, s: tuple[Any, ...], indices: tuple[Value, ...], points: Value, whose: str) -> None:
    """Check ("at", operand, dims of `points`) in a gather or scatter."""
    if not 0 <= s[1] < len(indices):
        raise _Bad(f"{e.op} has no index operand {s[1]}")
    at = indices[s[1]]
    if not at.dtype.is_int:
        raise _Bad(f"index operand {s[1]} must be of an integer type, not {at.dtype}")
    if len(s[2]) != at.rank:
        raise _Bad(f"index operand {s[1]} has {at.rank} dimensions, {len(s[2])} are given")
    _dims(e, s[2], points.rank)
    for k, n in zip(s[2], at.shape, strict=True):
        if n is not ONE and n is not points.shape[k]:
            raise _Bad(f"index operand {s[1]} has extent {n} where {whose} has {points.shape[k]}")


def _scatter(e: Eqn) -> tuple[DType, Shape]:
    how, masked, spec = e.params
    if how not in SCATTERS:
        raise _Bad(f"unknown way to scatter '{how}'")
    if len(e.inputs) < 2 + masked:
        raise _Bad(f"scatter takes at least {2 + masked} operands, got {len(e.inputs)}")
    base, src = e.inputs[:2]
    _count(e, spec, base)
    if src.dtype is not base.dtype:
        raise _Bad(f"scatter of {src.dtype} into {base.dtype}")
    if how != "set" and base.dtype.kind not in MONOIDS[how].kinds:
        raise _Bad(f"{how} does not take {base.dtype}")
    if masked:
        mask = e.inputs[2]
        if mask.dtype is not bool_ or mask.rank != src.rank:
            raise _Bad(f"the mask must be bool with {src.rank} dimensions")
        if any(n is not ONE and n is not s for n, s in zip(mask.shape, src.shape, strict=True)):
            raise _Bad("the mask has another extent than the source")
    seen: set[int] = set()
    for d, s in enumerate(spec):
        if s[0] == "dim":
            _dims(e, s[1:], src.rank)
            if s[1] in seen:
                raise _Bad(f"scatter uses dimension {s[1]} of the source twice")
            seen.add(s[1])
            if not nonnegative(base.shape[d] - src.shape[s[1]]):
                raise _Bad(f"the source may be larger than dimension {d}")
        else:
            _index_operand(e, s, e.inputs[2 + masked :], src, "the source")
    return base.dtype, base.shape


def _combine(e: Eqn) -> tuple[DType, Shape]:
    x, monoid = e.inputs[0], e.params[0]
    if monoid not in MONOIDS:
        raise _Bad(f"unknown monoid '{monoid}'")
    if x.dtype.kind not in MONOIDS[monoid].kinds:
        raise _Bad(f"{monoid} does not take {x.dtype}")
    if e.op == "reduce" and monoid in SCANNED:
        raise _Bad(f"{monoid} combines prefixes only")
    axes = e.params[1] if e.op == "reduce" else (e.params[1],)
    _dims(e, axes, x.rank)
    if e.op == "scan":
        return x.dtype, x.shape
    if len(set(axes)) != len(axes):
        raise _Bad("reduce lists a dimension twice")
    shape = tuple(ONE if d in axes else s for d, s in enumerate(x.shape))
    return (i64 if monoid in ARG_MONOIDS else x.dtype), shape
