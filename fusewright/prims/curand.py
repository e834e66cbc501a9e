"""The random numbers of PyTorch's own CUDA kernels, as functions of the element (option rng="eager").

Those kernels draw with cuRAND's Philox4x32-10. A launch has T threads, at most as many as the GPU holds at once, that
walk over the elements together. Where a draw starts is four numbers, a *state*, which is kept for the backward pass:

    seed     of the generator, the key
    block    the generator's offset / 4: the number of each thread's first Philox block
    threads  T = 256 * min(ceil(n / 256), SMs * (threads of an SM // 256)) for n elements
    shift    log2 of the elements that a thread takes at once: w = 1, 2, 4 or 8

Thread t takes w neighbours, beginning at w * t, and then those that begin w * T further on. So element e is lane e % w
of turn q // T of thread q % T, where q = e // w. A thread's blocks have the counter

    (block + number, low and high 32 bits, thread, 0)

and an element is one word of one of them:

    w = 1     word q // T % 4 of block q // T // 4: four turns share a block
    w = 2     word e % 2 of block q // T: half of each block is thrown away
    w = 4, 8  word e % 4 of block q // T * (w / 4) + e % w // 4

    uniform = r * 2^-32 + 2^-33 rounded once, in (0, 1]
    normal  = sqrt(-2 ln u) * sin v for even words, * cos v for odd ones, where u is the uniform of the first word of
              the pair (words 0 and 1, or 2 and 3) and v = 2 pi times that of the second

Random numbers for their own sake have w = 1. Dropout has w = 16 bytes of its operand, or less if the operand's address
or number of elements is not a multiple of that. However wide, a draw of n elements moves the generator's offset by
4 * ceil(n / 4T), so for w = 2 and 8 blocks can be drawn again by what comes next: so they are in eager.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .philox import philox4x32

BLOCK = 256  # threads of a thread block
UNROLL = 4  # words of a Philox block, and the offset that it counts for

State = Any  # of four integers: seed, block, threads, shift


def launch(n: int, blocks: int) -> tuple[int, int]:
    """(threads, by how much the offset moves) of a draw of n > 0 elements; at most `blocks` blocks are resident."""
    threads = BLOCK * min(-(-n // BLOCK), blocks)
    return threads, UNROLL * -(-n // (UNROLL * threads))


def width(n: int, lanes: int, address: int, itemsize: int) -> int:
    """Elements that a thread of dropout takes at once: at most `lanes`, of `itemsize` bytes each, at `address`."""
    w = lanes
    while w > 1 and (address % (w * itemsize) or n % w):
        w //= 2
    return w


def _drawn(state: State, element: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The blocks that elements are drawn from, and the number of each one's word."""
    seed, block, threads, shift = (int(s) & ((1 << 64) - 1) for s in state)
    threads, shift = threads & 0xFFFFFFFF if threads else 1, shift & 3  # whatever is in a state, it draws something
    e = np.asarray(element).astype(np.uint64)
    one = np.uint64(1)
    lane = e & np.uint64((1 << shift) - 1)
    turn, thread = np.divmod(e >> np.uint64(shift), np.uint64(threads))
    if shift == 0:
        call, word = turn // np.uint64(4), turn % np.uint64(4)
    else:
        call, word = (turn << one) + lane // np.uint64(4) if shift == 3 else turn, lane % np.uint64(4)
    call = call + np.uint64(block)
    low = np.uint64(0xFFFFFFFF)
    counter = (call & low, call >> np.uint64(32), thread, np.zeros_like(e))
    return philox4x32(counter, (seed & 0xFFFFFFFF, seed >> 32)), word.astype(np.int64)


def bits(state: State, element: np.ndarray) -> np.ndarray:
    """uint32 of the elements."""
    words, word = _drawn(state, element)
    return np.choose(word, words).astype(np.uint32)


def unit(r: np.ndarray) -> np.ndarray:
    """Words as float32 in (0, 1]."""
    return np.asarray(r.astype(np.uint32).astype(np.float32) * np.float32(2.0**-32) + np.float32(2.0**-33))


def uniform(state: State, element: np.ndarray) -> np.ndarray:
    """float32 in (0, 1]."""
    return unit(bits(state, element))


def normal(state: State, element: np.ndarray) -> np.ndarray:
    """float32 of mean 0 and variance 1. On a GPU sine, cosine and logarithm have the last digits of its own."""
    words, word = _drawn(state, element)
    u = unit(np.choose(word & 2, words))
    scale = np.float32(2 * np.pi) * np.float32(2.0**-32)
    v = np.choose((word & 2) + 1, words).astype(np.float32) * scale + scale / np.float32(2)
    radius = np.sqrt(np.float32(-2) * np.log(u))
    return np.asarray(np.where(word & 1, np.cos(v), np.sin(v)) * radius + np.float32(0), np.float32)
