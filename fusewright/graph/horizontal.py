"""Small operations that have nothing to do with each other, in one kernel: horizontal fusion.

Casts of biases, counters of batch norms, sums that make gradients of biases: each costs a launch, and next to nothing
else. Those that do the same to tensors of the same shapes run side by side, wherever no one needs another's result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from .ir import Eqn, Value

LEAST = 4  # operations: of fewer, a kernel of their own takes longer to compile than it saves
MOST = 32  # operations of a kernel
SMALL = 1 << 18  # bytes of a tensor up to which a launch takes longer than to move it

_POINTWISE = frozenset(("map", "cast", "const", "scalar", "affine", "reshape"))


def alike(eqns: Sequence[Eqn], outputs: Sequence[Value], bytes_of: Callable[[Value], int]) -> Hashable | None:
    """What operations have in common that may share a kernel; None of one that is not small, or of another kind."""
    made = {e.out for e in eqns}
    read = {v for e in eqns for v in e.inputs} - made
    if not outputs or any(bytes_of(v) > SMALL for v in (*read, *outputs)):
        return None
    reduced = [e for e in eqns if e.op == "reduce"]
    shapes = tuple(dict.fromkeys(v.shape for v in outputs))
    if len(shapes) > 1 or any(e.op not in _POINTWISE for e in eqns if e not in reduced):
        return None
    if not reduced:
        return shapes
    if len(reduced) > 1 or reduced[0].params[0] != "sum":
        return None
    (e,) = reduced
    return shapes, e.params, e.inputs[0].shape


__all__ = ["LEAST", "MOST", "SMALL", "alike"]
