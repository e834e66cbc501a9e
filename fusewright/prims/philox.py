"""The random numbers of a stream: Philox4x32-10, addressed by (seed, element).

Element e of the stream of a 64-bit seed is word `(e // 16) % 4` of the Philox block whose counter is
`16 * (e // 64) + e % 16`, so that sixteen vector lanes draw four vectors from sixteen consecutive counters.

    key     = (low, high) 32 bits of the seed
    counter = (low, high 32 bits of that number, call, 0)     `call` is 0; 1 for the second number of a normal
    bits    = r, that word
    uniform = (r >> 8) * 2^-24, in [0, 1)
    normal  = sqrt(-2 ln u1) * cos(2 pi u2), u1 = ((r >> 8) + 1) * 2^-24, u2 = the uniform of call 1
"""

from __future__ import annotations

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


def bits(seed: int, element: np.ndarray, call: int = 0) -> np.ndarray:
    """uint32 of each element of the stream of `seed`."""
    e = np.asarray(element, np.uint64)
    number = np.uint64(16) * (e // np.uint64(64)) + e % np.uint64(16)
    zero = np.zeros_like(number)
    seed &= (1 << 64) - 1
    words = philox4x32((number & _LOW, number >> _SHIFT, zero + np.uint64(call), zero), (seed & 0xFFFFFFFF, seed >> 32))
    return np.choose((e // np.uint64(16) % np.uint64(4)).astype(np.int64), words).astype(np.uint32)


def uniform(seed: int, element: np.ndarray, call: int = 0, dtype: Any = np.float32) -> np.ndarray:
    """Numbers in [0, 1), multiples of 2^-24."""
    return (bits(seed, element, call) >> np.uint32(8)).astype(dtype) * dtype(2.0**-24)


def normal(seed: int, element: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
    """Normal numbers of mean 0 and variance 1 (Box-Muller)."""
    u1 = ((bits(seed, element) >> np.uint32(8)).astype(dtype) + dtype(1)) * dtype(2.0**-24)
    u2 = uniform(seed, element, 1, dtype)
    return (np.sqrt(dtype(-2) * np.log(u1)) * np.cos(dtype(2 * np.pi) * u2)).astype(dtype)
