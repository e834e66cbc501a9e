"""Which of a program's seeds a group reads: a window of them in memory, which makes no difference to the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..graph.ir import Eqn, Value

Window = tuple[int, int]  # (first element, elements) of a vector that a kernel sees


def windows(eqns: Iterable[Eqn]) -> dict[Value, Window]:
    """The window of each vector of seeds in memory that a group reads as seeds only. (None where it scatters.)"""
    found: dict[Value, Window] = {}
    others: set[Value] = set()
    for e in eqns:
        if e.op == "scatter":  # the parts of such a kernel have different equations
            return {}
        others.add(e.out)
        seeds = e.inputs[0] if e.op == "random" else None
        others.update(v for v in e.inputs if v is not seeds)
        if seeds is not None:
            at, n = place(*e.params)
            first, count = found.get(seeds, (at, n))
            last = max(first + count, at + n)
            found[seeds] = min(first, at), last - min(first, at)
    return {v: w for v, w in found.items() if v not in others}


def place(kind: str, index: int) -> Window:
    """Where in the vector the seed of stream `index` is, or the four numbers of a state."""
    return (4 * index, 4) if kind.startswith("curand") else (index, 1)


def named(found: Mapping[Value, Window], sources: Mapping[str, Value]) -> dict[str, Window]:
    """The windows of buffers, by their names. `sources`: the values behind them."""
    return {name: found[v] for name, v in sources.items() if v in found}
