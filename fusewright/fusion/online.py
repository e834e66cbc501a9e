"""Reductions that seem to wait for another one, but need not: they can be combined as the points come by.

`sum exp(x - max x)`   the running sum is rescaled whenever the maximum grows, by exp(old - new)
                       (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018)
`sum (x - E)^2`        whatever E is: with the mean m and the second moment M of n points, it is M + n (m - E)^2;
                       partial (n, m, M) are merged by the rule of Chan, Golub and LeVeque (1979)

A row that does not fit registers is then read once less. The rules look at what is computed, not at names: any program
that computes these gets them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..index.expr import Atom
from . import scalar as sc
from .ir import Fusion, Stage
from .scalar import Expr


@dataclass(frozen=True, slots=True)
class Online:
    """How a stage is combined on the fly.

    `kind`: "rescaled" (`lead` is the stage of the maximum) or "moments" (about `about`, an expression of the row);
    `of`: x. `fast`: the exponentials may be approximate (`relax.py`).
    """

    kind: str
    of: Expr
    lead: str = ""
    about: Expr | None = None
    fast: bool = False


def online(f: Fusion, cols: set[Atom]) -> dict[str, Online]:
    """The stages of `f`, reductions over `cols`, that can be combined on the fly, by name; none if `f` does without."""
    if "online" in f.without:
        return {}
    rows = {s.name: s for s in f.reductions() if set(s.raxes) == cols}
    out: dict[str, Online] = {}
    for s in rows.values():
        if s.monoid == "sum" and s.body.dtype.is_float:
            found = _rescaled(sc.bare(s.body), rows) or _moments(sc.bare(s.body), rows, cols)
            if found is not None:
                out[s.name] = found
    return out


def _is(e: Expr, prim: str) -> bool:
    return e.kind == "op" and e.data == prim


def shifted(e: Expr, stages: dict[str, Stage]) -> tuple[Expr, Stage] | None:
    """(x, the stage of max x) of exp(x - max x), also where another number stands for an infinite maximum."""
    if not _is(e, "exp") or not _is(e.args[0], "sub"):
        return None
    x, top = e.args[0].args
    if _is(top, "where") and top.args[1].kind == "const":
        top = top.args[2]
    lead = stages.get(top.data[0]) if top.kind == "stage" else None
    return (x, lead) if lead is not None and lead.monoid == "max" and lead.body is x else None


def _rescaled(body: Expr, rows: dict[str, Stage]) -> Online | None:
    """`body` may have been through `relax`, too."""
    fast = _is(body, "fast_exp2") and _is(body.args[0], "mul")
    power = body.args[0].args[0] if fast else body.args[0] if _is(body, "exp") else None
    if power is None or not _is(power, "sub"):
        return None
    x, top = power.args
    lead = rows.get(top.data[0]) if top.kind == "stage" else None
    if lead is None or lead.monoid != "max" or lead.body is not x:
        return None
    return Online("rescaled", x, lead.name, fast=fast)


def _moments(body: Expr, rows: dict[str, Stage], cols: set[Atom]) -> Online | None:
    """E must come from the sum of x itself: then it is infinite or NaN whenever an x is, and so are both forms."""
    if not (_is(body, "mul") and body.args[0] is body.args[1] and _is(body.args[0], "sub")):
        return None
    x, about = body.args[0].args
    if about.axes & cols or not about.stages or len(about.stages) != 1:
        return None
    (name,) = about.stages
    source = rows.get(name)
    if source is None or source.monoid != "sum" or source.body is not x or name in x.stages:
        return None
    return Online("moments", x, about=about)
