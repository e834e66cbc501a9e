"""The random numbers of a stream: Philox4x32-10, addressed by (seed, row, column).

A tensor's element at index (..., c) has column c and the row-major position of its leading indices as row. It is
word `(c // 16) % 4` of the Philox block with this counter, so that 64 consecutive columns that start at a multiple of
64 are the four words of sixteen blocks: sixteen vector lanes draw four vectors at once.

    key     = (low, high) 32 bits of the seed
    counter = (16 * (c // 64) + c % 16, low, high 32 bits of the row, call)   `call`: 1 for a normal's second number
    bits    = r, that word
    uniform = (r >> 8) * 2^-24, in [0, 1)
    normal  = sqrt(-2 ln u1) * cos(2 pi u2), u1 = ((r >> 8) + 1) * 2^-24, u2 = the uniform of call 1

That is the layout of CPU kernels. In CUDA kernels a thread draws for a few consecutive columns, so there four of them
are the words of one block (`quads`): element (row, c) is word `c % 4` of the block with

    counter = (c // 4, low, high 32 bits of the row, 2 + call)

and the same key. The last word keeps the two layouts' counters apart: no block is drawn by both. Columns are below 2^34
in either layout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
ROUNDS = 10


def philox4x32(
    counter: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], key: tuple[Any, Any]
) -> tuple[np.ndarray, ...]:
    """The four words of each block. Words are uint64 arrays of values below 2^32; a key's may be ints."""
    c0, c1, c2, c3 = counter
    k0, k1 = (np.asarray(k, np.uint64) for k in key)
    for _ in range(ROUNDS):
        p0, p1 = c0 * _M0, c2 * _M1
        c0, c1, c2, c3 = (
            (p1 >> _SHIFT) ^ c1 ^ k0,
            p1 & _LOW,
            (p0 >> _SHIFT) ^ c3 ^ k1,
            p0 & _LOW,
        )
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return c0, c1, c2, c3


def place(shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of every element of a tensor of `shape`, each of that shape; a 0-d tensor is at (0, 0)."""
    columns = shape[-1] if len(shape) else 1
    element = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    return element // max(columns, 1), element % max(columns, 1)


def _words(seed: np.ndarray | int, row: Any, number: Any, last: int) -> tuple[np.ndarray, ...]:
    """The blocks with counters (number, row, last); seeds that differ broadcast with rows and numbers."""
    key: Any = np.asarray(seed & ((1 << 64) - 1) if isinstance(seed, int) else seed.astype(np.int64).view(np.uint64))
    key = key.astype(np.uint64)
    counter = (number & _LOW, row & _LOW, row >> _SHIFT, np.full_like(row, last))
    return philox4x32(counter, (key & _LOW, key >> _SHIFT))


def bits(seed: np.ndarray | int, row: np.ndarray | int, column: np.ndarray, call: int = 0) -> np.ndarray:
    """uint32 of the elements at (row, column), which broadcast, in the stream of `seed`."""
    r: Any
    c: Any
    r, c = np.broadcast_arrays(np.asarray(row, np.uint64), np.asarray(column, np.uint64))
    words = _words(seed, r, np.uint64(16) * (c // np.uint64(64)) + c % np.uint64(16), call)
    return np.choose((c // np.uint64(16) % np.uint64(4)).astype(np.int64), words).astype(np.uint32)


def quads(seed: np.ndarray | int, row: np.ndarray | int, column: np.ndarray, call: int = 0) -> np.ndarray:
    """`bits`, in the layout of CUDA kernels."""
    r: Any
    c: Any
    r, c = np.broadcast_arrays(np.asarray(row, np.uint64), np.asarray(column, np.uint64))
    words = _words(seed, r, c // np.uint64(4), 2 + call)
    return np.choose((c % np.uint64(4)).astype(np.int64), words).astype(np.uint32)


Layout = Callable[..., np.ndarray]  # `bits` or `quads`


def uniform(
    seed: int,
    row: np.ndarray | int,
    column: np.ndarray,
    call: int = 0,
    dtype: Any = np.float32,
    layout: Layout = bits,
) -> np.ndarray:
    """Numbers in [0, 1), multiples of 2^-24."""
    return (layout(seed, row, column, call) >> np.uint32(8)).astype(dtype) * dtype(2.0**-24)


def normal(
    seed: int, row: np.ndarray | int, column: np.ndarray, dtype: Any = np.float32, layout: Layout = bits
) -> np.ndarray:
    """Normal numbers of mean 0 and variance 1 (Box-Muller)."""
    u1 = ((layout(seed, row, column) >> np.uint32(8)).astype(dtype) + dtype(1)) * dtype(2.0**-24)
    u2 = uniform(seed, row, column, 1, dtype, layout)
    return (np.sqrt(dtype(-2) * np.log(u1)) * np.cos(dtype(2 * np.pi) * u2)).astype(dtype)
