"""What the factors of an index expression depend on: where they can be computed."""

from __future__ import annotations

from ..index.expr import Atom, nonnegative


def stages_of(a: Atom) -> frozenset[str]:
    """The stages whose results are in run-time values."""
    out: frozenset[str] = frozenset()
    for x in a.ix.atoms():
        if x.kind == "value":
            out |= x.aux.stages
    return out


def of_sizes(a: Atom) -> bool:
    """Whether a factor is an argument of the launch: a size, or a quotient of sizes.

    A quotient is, because it may be one of a negative number (a program's `(3 - n) // 2`) and kernels divide unsigned
    numbers. Not where the divisor is a size and nothing is negative: of no elements it may be 0, which must not trap.
    """
    if a.kind != "div" or any(x.kind in ("axis", "value") for x in a.ix.atoms()):
        return a.kind == "sym"
    assert a.num is not None
    return a.aux.as_int() is not None or not nonnegative(a.num)
