"""Calls of executors in saved programs: a reference to the function, and what takes over when it fails.

What torch runs in the place of an operator is the operator. In the place of a pattern it is several, which become a
function in the text of the plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.fx import Node

from .core.errors import UserError
from .run.claimed import Claimed, Picked, parameters, reference
from .run.convention import pack
from .trace.claim_patterns import Replay

Entry = dict[str, Any]


def entry(name: str, c: Claimed, operator: Callable[[Any], str]) -> Entry:
    """What a file has of a claimed call, `name` in a plan. `operator` gives the name of one. Raises UserError.

    `original` is {"operator": its name}, or {"function": its name in the plan} (`function`).
    """
    pick = c.call.pick if isinstance(c.call, Picked) else None
    fn = c.call.fn if isinstance(c.call, Picked) else c.call
    own = isinstance(fn, torch._ops.OpOverload)
    try:
        target = operator(fn) if own else c.reference or reference(fn)
    except UserError as e:
        raise UserError(
            f"the program cannot be saved: executor {c.executor}, for {c.what}, has a function that cannot be found "
            f"again: {e}. Register a function of a module, or 'module:name' in its place"
        ) from None
    theirs: Entry = {"function": f"{name}_original"}
    return {
        "name": c.executor,
        "for": c.what,
        "where": c.where,
        "calls": {"operator": target} if own else {"reference": target, "parameters": parameters(fn)},
        "pick": None if pick is None else [[kind, k if kind else pack(k)] for kind, k in pick],
        "results": [None if r is None else [str(r.dtype).removeprefix("torch."), str(r.device)] for r in c.results],
        "single": c.single,
        "fallback": c.fallback,
        "original": theirs if isinstance(c.original, Replay) else {"operator": operator(c.original)},
    }


def function(name: str, r: Replay) -> tuple[list[str], Mapping[str, Any]]:
    """(source lines of what a match stands for, what its names are)."""
    takes = [f"a{k}" for k in range(r.skip + len(r.inputs))]
    env: dict[Any, str] = dict(zip(r.inputs, takes[r.skip :], strict=True))
    scope: dict[str, Any] = {}

    def constant(x: Any) -> str:
        known = f"{name}_{len(scope)}"
        scope[known] = x
        return known

    def text(a: Any) -> str:
        if isinstance(a, (Node, torch.SymInt)):
            return env[a if isinstance(a, Node) else str(a.node.expr)]
        if isinstance(a, (list, tuple)):
            inner = ", ".join(map(text, a))
            return f"[{inner}]" if isinstance(a, list) else f"({inner}{',' if len(a) == 1 else ''})"
        if isinstance(a, slice):
            return f"slice({text(a.start)}, {text(a.stop)}, {text(a.step)})"
        plain = a is None or type(a) in (bool, int, str) or (type(a) is float and math.isfinite(a))
        return repr(a) if plain else constant(a)

    lines = [f"def {name}({', '.join(takes)}):"]
    for k, (n, target, args, kwargs) in enumerate(r.steps):
        given = ", ".join([*map(text, args), *(f"{key}={text(a)}" for key, a in kwargs.items())])
        lines.append(f"    v{k} = {constant(target)}({given})")
        env[n] = f"v{k}"
    results = [env[n] for n in r.outs]
    return [*lines, f"    return {', '.join(results)}"], scope


__all__ = ["entry", "function"]
