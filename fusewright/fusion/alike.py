"""Groups that are alike, as those of the layers of a deep model: what was found for one holds for the others.

Two groups are alike when their equations are the same but for the names of values and for the seeds of random numbers,
in the same order, on tensors of the same types, extents and strides. A graph of many layers then takes hardly longer to
compile than one layer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from ..core.errors import Refusal
from ..graph.ir import Eqn, Value
from .build import Built
from .streams import Window, named, place, windows


@dataclass(frozen=True, slots=True)
class Likeness:
    """`key` is the same for groups that are alike; `values` are theirs, each in the place of its counterpart.

    `windows`: of the vectors of seeds.
    """

    key: Hashable
    values: tuple[Value, ...]
    windows: dict[Value, Window]


def likeness(eqns: Sequence[Eqn], outputs: Sequence[Value], fact: Callable[[Value], Hashable]) -> Likeness:
    """What a group is like. `fact`: what counts of a value in memory besides its type and shape."""
    numbers: dict[Value, int] = {}
    parts: list[Hashable] = []
    seeds = windows(eqns)

    def number(v: Value) -> int:
        n = numbers.get(v)
        if n is None:  # read from memory
            n = numbers[v] = len(numbers)
            parts.append((v.dtype, seeds[v][1] if v in seeds else v.shape, fact(v)))
        return n

    for e in sorted(eqns, key=lambda e: e.out.id):
        inputs = tuple(number(v) for v in e.inputs)
        params = repr(e.params) if e.op == "const" else e.params  # 0.0 is not -0.0
        if e.op == "random":
            params = (e.params[0], place(*e.params)[0] - seeds.get(e.inputs[0], (0, 0))[0])
        parts.append((e.op, inputs, params, e.out.dtype, e.out.shape))
        numbers[e.out] = len(numbers)
    parts.append(tuple((number(v), fact(v)) for v in outputs))
    return Likeness(tuple(parts), tuple(numbers), seeds)


def renamed(b: Built, then: Likeness, now: Likeness) -> Built:
    """What was built for one group, for another that is like it. They share the fusion."""
    place = dict(zip(then.values, now.values, strict=True))
    sources = {name: place[v] for name, v in b.sources.items()}
    out = Built(b.original, sources, windows=named(now.windows, sources))
    out.fusion = b.fusion
    return out


def refused_again(r: Refusal, then: Likeness, now: Likeness) -> Refusal:
    """Why one group was refused, said of another that is like it."""
    ids = {str(a.id): str(b.id) for a, b in zip(then.values, now.values, strict=True)}
    return Refusal(r.code, re.sub(r"%(\d+)", lambda m: f"%{ids.get(m[1], m[1])}", r.detail))
