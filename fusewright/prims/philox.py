"""The random numbers of a stream: Philox4x32-10, addressed by (seed, row, column).

A tensor's element at index (..., c) has column c and the row-major position of its leading indices as row. It is
word `(c // 16) % 4` of the Philox block with this counter, so that 64 consecutive columns that start at a multiple of
64 are the four words of sixteen blocks: sixteen vector lanes draw four vectors at once.

    key     = (low, high) 32 bits of the seed
    counter = (16 * (c // 64) + c % 16, low, high 32 bits of the row, call)   `call`: 1 for a normal's second number
    bits    = r, that word
    uniform = (r >> 8) * 2^-24, in [0, 1)
    normal  = sqrt(-2 ln u1) * cos(2 pi u2), u1 = ((r >> 8) + 1) * 2^-24, u2 = the uniform of call 1
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
ROUNDS = 10


def philox4x32(
    counter: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], key: tuple[int, int]
) -> tuple[np.ndarray, ...]:
    """The four words of each block. Words are uint64 arrays of values below 2^32."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        p0, p1 = c0 * _M0, c2 * _M1
        c0, c1, c2, c3 = (
            (p1 >> _SHIFT) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _SHIFT) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _W0) & 0xFFFFFFFF, (k1 + _W1) & 0xFFFFFFFF
    return c0, c1, c2, c3


def place(shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of every element of a tensor of `shape`, each of that shape; a 0-d tensor is at (0, 0)."""
    columns = shape[-1] if len(shape) else 1
    element = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    return element // max(columns, 1), element % max(columns, 1)


def bits(seed: int, row: np.ndarray | int, column: np.ndarray, call: int = 0) -> np.ndarray:
    """uint32 of the elements at (row, column), which broadcast, in the stream of `seed`."""
    r: Any
    c: Any
    r, c = np.broadcast_arrays(np.asarray(row, np.uint64), np.asarray(column, np.uint64))
    number: Any = np.uint64(16) * (c // np.uint64(64)) + c % np.uint64(16)
    seed &= (1 << 64) - 1
    counter = (number & _LOW, r & _LOW, r >> _SHIFT, np.full_like(r, call))
    words = philox4x32(counter, (seed & 0xFFFFFFFF, seed >> 32))
    return np.choose((c // np.uint64(16) % np.uint64(4)).astype(np.int64), words).astype(np.uint32)


def uniform(seed: int, row: np.ndarray | int, column: np.ndarray, call: int = 0, dtype: Any = np.float32) -> np.ndarray:
    """Numbers in [0, 1), multiples of 2^-24."""
    return (bits(seed, row, column, call) >> np.uint32(8)).astype(dtype) * dtype(2.0**-24)


def normal(seed: int, row: np.ndarray | int, column: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
    """Normal numbers of mean 0 and variance 1 (Box-Muller)."""
    u1 = ((bits(seed, row, column) >> np.uint32(8)).astype(dtype) + dtype(1)) * dtype(2.0**-24)
    u2 = uniform(seed, row, column, 1, dtype)
    return (np.sqrt(dtype(-2) * np.log(u1)) * np.cos(dtype(2 * np.pi) * u2)).astype(dtype)
