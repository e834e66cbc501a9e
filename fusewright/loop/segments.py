"""Parts of the vector axis in which a condition on the position is known.

What `cat`, `pad`, slices that are written and shifts leave behind are conditions such as j < n and reads behind them:
lanes would compare their positions, read every piece behind a mask and select. Between the places where conditions
change their truth, nothing of that is left (Griebl, Feautrier and Lengauer, "Index set splitting", International
Journal of Parallel Programming 28, 2000).
"""

from __future__ import annotations

from dataclasses import replace

from ..fusion import scalar as sc
from ..fusion.conditions import change
from ..fusion.ir import Stage
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix

MOST = 6  # ends of segments: code grows with them


def segments(stages: list[Stage], v: Atom) -> list[tuple[Ix | None, list[Stage]]]:
    """The stages of each segment of `v`, in order, and where it ends (None: at the end of the axis).

    Ends do not depend on `v`, and none is before that of the segment in front, whatever the sizes; they may be outside
    of the axis.
    """
    conditions = dict[Expr, tuple[Ix, bool]]()
    for e in sc.walk([s.body for s in stages]):
        found = change(e, v)
        if found is not None:
            conditions[e] = found
    ends = _ordered([end for end, _ in conditions.values()])
    if not ends:
        return [(None, stages)]
    out: list[tuple[Ix | None, list[Stage]]] = []
    for k, end in enumerate([*ends, None]):
        known = {e: below == (k <= ends.index(b)) for e, (b, below) in conditions.items() if b in ends}
        memo = sc.transformed([s.body for s in stages], lambda e, known=known: _known(e, known))  # type: ignore[misc]
        out.append((end, [replace(s, body=memo[s.body]) for s in stages]))
    return out


def _ordered(ends: list[Ix]) -> list[Ix]:
    """Those whose order is the same for all sizes, in that order."""
    out: list[Ix] = []
    for end in dict.fromkeys(ends):
        if len(out) == MOST or not all(_before(x, end) or _before(end, x) for x in out):
            continue
        out.insert(sum(_before(x, end) for x in out), end)
    return out


def _before(a: Ix, b: Ix) -> bool:
    """Whether a <= b for all sizes, of nothing, too."""
    return all(c >= 0 and all(x.kind == "sym" for x in m) for m, c in (b - a).terms)


def _known(e: Expr, known: dict[Expr, bool]) -> Expr:
    if e in known:
        return sc.const(known[e], e.dtype)
    if e.kind == "op" and e.dtype.is_bool and e.data in ("not", "or") and any(a.kind == "const" for a in e.args):
        if e.data == "not":
            return sc.const(not e.args[0].data, e.dtype)
        one, other = e.args if e.args[0].kind == "const" else e.args[::-1]
        return one if one.data else other
    return e
