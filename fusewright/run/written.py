"""Calls that write into what they are given, as nodes of a plan: of PyTorch's operators that write into a part
(`trace/written_parts.py`), and of custom operators and Triton kernels (`mutable.py`, which takes long to import)."""

from __future__ import annotations

from typing import Any

from torch.fx import Node

from . import direct

MEMORY = "fusewright_memory"  # in the meta of a node: another one, whose memory its value is in


class Mutable:
    """What a node calls instead: a function that gives what it has written, as the functional operation would.

    `own`: which of the operands that it writes into it does not copy first, by index or name; `why`: for reports.
    """

    why = "writes into its operands"
    pure = True  # `effects.py` asks: what is written in place nobody else reads
    __module__ = __name__

    def __init__(self, name: str, own: frozenset[Any]):
        self.__name__, self.own = name, own

    def __repr__(self) -> str:
        return self.__name__

    def in_place(self, n: Node) -> list[Any]:
        """Those operands of a node that calls it which it writes in place."""
        raise NotImplementedError


class Part(Mutable):
    """`write`, an operator in place, into a view of a view ... of a tensor, which it gives."""

    why = "writes a part of a large tensor in place, which a kernel would move as a whole"

    def __init__(self, views: tuple[Any, ...], write: Any):
        super().__init__(str(write), frozenset((0,)))
        self.views, self.write = views, write
        self.steps, self.last = [direct.call(view, {}) for view in views], direct.call(write, {})

    def __call__(self, whole: Any, views: list[tuple[Any, ...]], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`views`: the arguments of each view; `args`, `kwargs`: of `write`, behind the view."""
        part = whole
        for step, a in zip(self.steps, views, strict=True):
            part = step(part, *a)
        self.last(part, *args, **kwargs)
        return whole

    def in_place(self, n: Node) -> list[Any]:
        return [n.args[0]]


def written_in_place(n: Node) -> bool:
    """Whether a node is an argument of its graph that a `Mutable` writes into."""
    calls = ((u, u.target) for u in n.users)
    return any(isinstance(t, Mutable) and any(a is n for a in t.in_place(u)) for u, t in calls)


__all__ = ["MEMORY", "Mutable", "Part", "written_in_place"]
