"""Which 16-bit values decide something, so that a kernel has to round them as eager PyTorch does.

Within a kernel 16-bit floats are computed in float32, whose further digits do no harm where they merely change a result
a little. But which of two values is larger, or the next integer, may then depend on digits that eager does not have:
comparisons whose result leaves its operator, signs, positions of extremes, rounding to integers and remainders are
given what eager gives them. Comparisons in float32 inside an operator (`elu`, `huber_loss`) choose between formulas
that meet, and are not decisions; a rule that compares the 16-bit values themselves (`nan_to_num`, `all`, `threshold`)
means that they are. What leaves the kernel as a wider number, being a 16-bit one to the program, is rounded, too:
another kernel or an operator that PyTorch runs (`topk`) may decide by it. So are values that leave the kernel together
with an extreme of them: the gradient of that goes to the values that are equal to it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..graph.ir import Eqn, Value
from ..prims.table import ARG_MONOIDS, STEPWISE

_CARRY = ("cast", "affine", "reshape")  # the same values
_COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))


def deciding(eqns: Sequence[Eqn], outputs: Collection[Value]) -> frozenset[Value]:
    """Values of `eqns` (in order of computation) that some decision among them depends on, itself included."""
    leaving = set(outputs)
    unit = {e.out: e.unit for e in eqns}
    for e in eqns:
        leaving.update(v for v in e.inputs if unit.get(v, e.unit) != e.unit)
    found = {e.inputs[0] for e in eqns if e.out in outputs and _widens(e)}
    found |= _compared(eqns, outputs)
    for e in reversed(eqns):
        if e.out in found:
            found.update(e.inputs)
        elif e.op == "map" and e.params[0] == "copysign":
            found.add(e.inputs[1])
        elif _decides(e) and (e.out in leaving or not _meets(e)):
            found.add(e.out)
            found.update(e.inputs)
    return frozenset(found)


def _compared(eqns: Sequence[Eqn], outputs: Collection[Value]) -> set[Value]:
    """Operands of extremes, where these and 16-bit values that they are made of are among `outputs`."""
    extremes = [e for e in eqns if e.op == "reduce" and e.params[0] in ("max", "min") and e.out.dtype.is_float]
    if not extremes:
        return set()
    made = {e.out: e for e in eqns}
    shown, stack = set[Value](), [v for v in outputs if v.dtype.is_reduced]
    while stack:
        v = stack.pop()
        shown.add(v)
        e = made.get(v)
        if e is not None and e.op in _CARRY:
            stack.extend(e.inputs)
    found: set[Value] = set()
    for e in extremes:
        if e.out in shown:
            below, stack = set[Value](), [*e.inputs]
            while stack:
                v = stack.pop()
                if v in made and v not in below:
                    below.add(v)
                    stack.extend(made[v].inputs)
            if any(v.dtype.is_reduced and v in outputs for v in below):
                found.update(e.inputs)
    return found


def _widens(e: Eqn) -> bool:
    """Whether `e` makes a wider number of one of 16 bits."""
    return e.op == "cast" and e.out.dtype.is_float and e.inputs[0].dtype.is_reduced and not e.out.dtype.is_reduced


def _meets(e: Eqn) -> bool:
    """Whether `e` is a comparison that, inside its operator, chooses between formulas that meet."""
    return e.op == "map" and e.params[0] in _COMPARISONS and not e.inputs[0].dtype.is_reduced


def _decides(e: Eqn) -> bool:
    if e.op == "map":
        return e.params[0] in STEPWISE
    if e.op == "cast":
        return not e.out.dtype.is_float and e.inputs[0].dtype.is_float
    return e.op in ("reduce", "scan") and any(p in ARG_MONOIDS for p in e.params if isinstance(p, str))
