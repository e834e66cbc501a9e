"""Memory as the interpreter of CUDA kernels has it: who touched an element last, and what is on its way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..prims.table import MONOIDS
from .values import Memory

NOBODY, MANY = -1, -2  # in place of the number of a block or thread


class Shared(Memory):
    """Memory that several threads see, and, once it is watched, who touched its elements last.

    Epochs number the stretches between barriers, in all blocks and launches.
    """

    __slots__ = (
        *("apart", "read_block", "read_epoch", "read_thread"),
        *("watched", "write_block", "write_epoch", "write_thread"),
    )

    def __init__(self, data: np.ndarray, held: bool, watched: bool = False, apart: int | None = None):
        super().__init__(data, held)
        self.apart = apart  # elements that each block of a cluster has for itself; None: it is one memory
        self.watched = False
        if watched:
            self.watch()

    def watch(self) -> None:
        """From now on note who reads and writes. What is never written needs no watching."""
        self.watched = True
        size = self.data.size
        self.read_block, self.write_block = np.full((2, size), NOBODY, np.int32)
        self.read_thread, self.write_thread = np.full((2, size), NOBODY, np.int32)
        self.read_epoch, self.write_epoch = np.full((2, size), NOBODY, np.int64)

    def settle(self) -> None:
        """A launch has ended: what its blocks did is no longer a race."""
        if self.watched:
            self.read_block.fill(NOBODY)
            self.write_block.fill(NOBODY)


class Own(Memory):
    """Scratch that each thread has for itself, [threads, elements], and what is on its way to it.

    `coming`: the number of the group that will bring an element, 0 if none does.
    """

    __slots__ = ("brought", "coming")

    def __init__(self, data: np.ndarray):
        super().__init__(data, False)
        self.coming = np.zeros(data.shape, np.int64)
        self.brought = data.copy()


def put(m: Memory, place: Any, values: np.ndarray, meet: str) -> None:
    """Store values at `place`; where threads `meet`, what is there is combined with each."""
    if meet in ("", "set"):
        m.data[place] = values
    else:
        ufunc: Any = MONOIDS[meet].numpy
        ufunc.at(m.data, place, values)


def missing(at: np.ndarray, lanes: int, span: Sequence[np.ndarray], size: int) -> tuple[int, str] | None:
    """Whether loads "across" two aligned vectors, at positions `at` of a buffer, may read elements that it lacks.

    `span`: (how far into its row each is, elements of the row), of which any may be read; nothing: the aligned vectors
    that it lies in. Returns the number of the first one and what there is to say, with a place for the buffer's name.
    """
    if span:
        first, n = at - span[0], span[1]
    else:
        first, n = at // lanes * lanes, (-(-(at + lanes) // lanes) - at // lanes) * lanes
    bad = np.flatnonzero((n > 0) & ((first < 0) | (first + n > size)))
    if not len(bad):
        return None
    k = int(bad[0])
    return k, f"elements {first[k]} to {first[k] + n[k]} are not all in buffer '{{}}' of {size}"


def beside(on: np.ndarray, index: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """The lanes that are off, but may be read with others of their vector: `index`, `reach` as a load has them."""
    whole = on.any(1) & (index >= 0) & (index + on.shape[1] - 1 <= reach)
    return whole[:, None] & ~on


def poison(dtype: np.dtype[Any]) -> Any:
    """A value that shows wherever it gets."""
    return np.nan if dtype.kind in "fc" else True if dtype.kind == "b" else np.iinfo(dtype).max


__all__ = ["MANY", "NOBODY", "Own", "Shared", "beside", "missing", "poison"]
