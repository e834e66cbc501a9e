"""Names of kernels that people recognise in profiles: the family and the main primitives, in order of evaluation.

`inner_persistent_max_exp_sum_div` is a softmax. A name follows from the fusion's structure alone, because it is part of
the kernel's text, by which kernels are shared.
"""

from __future__ import annotations

import re

from ..fusion import scalar as sc
from ..fusion.ir import Fusion, Stage
from ..fusion.scalar import Expr

LONGEST = 60  # characters
ENOUGH = 3  # telling primitives, beside which the plain ones are left out
_PLAIN = frozenset(
    ("add", "sub", "mul", "neg", "and", "or", "xor", "not", "lt", "le", "gt", "ge", "eq", "ne", "where", "abs")
)


def kernel_name(f: Fusion, family: str) -> str:
    """An identifier for the kernel of `f`, at most LONGEST characters."""
    names = list(dict.fromkeys(n for g in (*f.before, f, *f.after) for s in g.stages for n in _stage(s)))
    telling = [n for n in names if n not in _PLAIN]
    if len(telling) >= ENOUGH:
        names = telling
    out = re.sub(r"\W+", "_", family)
    for n in names or ["copy"]:
        if len(out) + 1 + len(n) > LONGEST:
            break
        out += f"_{n}"
    return out


def _stage(s: Stage) -> list[str]:
    """What a stage does, in order: the primitives of its body, then how values are combined."""
    out = [n for e in sc.walk([s.body]) if (n := _expression(e))]
    if s.kind in ("scatter", "collect"):
        out.append(f"scatter_{s.monoid}" if s.kind == "scatter" else s.monoid)
    elif s.kind in ("reduce", "scan"):
        out.append(s.monoid if s.kind == "reduce" else f"cum{s.monoid}")
    return out


def _expression(e: Expr) -> str:
    if e.kind == "random":
        return "random"
    if e.kind == "load":
        return "gather" if any(a.kind == "value" for a in e.data[1].atoms()) else ""
    return str(e.data) if e.kind == "op" else ""
