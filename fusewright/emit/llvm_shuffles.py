"""Vectors made of the elements of several others, as LLVM IR: two are shuffled at a time, and what comes of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .llvm_types import vector

Part = tuple[str, dict[int, int]]  # a vector, and which of its elements goes to which lane of the result


def order(numbers: Sequence[int | None]) -> str:
    """The mask of a shuffle; None: any element."""
    return f"<{len(numbers)} x i32> <{', '.join('i32 poison' if k is None else f'i32 {k}' for k in numbers)}>"


def merged(line: Callable[[str, bool], str], elem: str, lanes: int, parts: Sequence[Part]) -> str:
    """The vector that has the elements of two parts or more where they say. `line` takes the text of an instruction and
    whether it is the last one, and returns the name of what it defines."""
    ty = vector(elem, lanes)
    rest = list(parts)
    while len(rest) > 1:
        joined: list[Part] = []
        for (a, low), (b, high) in zip(rest[::2], rest[1::2], strict=False):
            taken = [low[k] if k in low else lanes + high[k] if k in high else None for k in range(lanes)]
            x = line(f"shufflevector {ty} {a}, {ty} {b}, {order(taken)}", len(rest) == 2)
            joined.append((x, {k: k for k in (*low, *high)}))
        rest = joined + rest[len(rest) & ~1 :]
    return rest[0][0]
