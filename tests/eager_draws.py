"""What PyTorch's CUDA kernels draw, found by letting each of their threads walk, one element after the other.

Written from what the kernels do, and on nothing of `fusewright`: Philox4x32-10 with the generator's seed as key, thread
t's counter starting at (offset / 4, t), one block for each call, and a loop over the grid.
"""

from __future__ import annotations

import numpy as np
import torch


def philox(seed: int, block: int, thread: int) -> list[int]:
    """The four words of one block, in Python's integers."""
    low = 0xFFFFFFFF
    c = [block & low, block >> 32 & low, thread & low, thread >> 32]
    k = [seed & low, seed >> 32 & low]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [b >> 32 ^ c[1] ^ k[0], b & low, a >> 32 ^ c[3] ^ k[1], a & low]
        k = [k[0] + 0x9E3779B9 & low, k[1] + 0xBB67AE85 & low]
    return c


def blocks_of(seed: int, offset: int, n: int, width: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """For each of n elements the block that it is from (n, 4), and the number of its word in that (n,)."""
    words = np.empty((n, 4), np.uint32)
    word = np.empty(n, np.int64)
    for t in range(min(threads, n)):
        calls = 0

        def draw(t: int = t) -> list[int]:
            nonlocal calls
            calls += 1
            return philox(seed, offset // 4 + calls - 1, t)

        if width == 1:  # four elements of a block lie one grid apart
            for first in range(t, n, 4 * threads):
                block = draw()
                for k in range(4):
                    if (e := first + k * threads) < n:
                        words[e], word[e] = block, k
        else:  # neighbours
            for first in range(t * width, n, threads * width):
                for part in range(0, width, 4):
                    block = draw()
                    for k in range(min(4, width)):
                        words[first + part + k], word[first + part + k] = block, k
    return words, word


def walk(seed: int, offset: int, n: int, width: int, threads: int) -> np.ndarray:
    """The word of each element."""
    words, word = blocks_of(seed, offset, n, width, threads)
    return words[np.arange(n), word]


def units(words: np.ndarray) -> torch.Tensor:
    """float32 in (0, 1]: rounded once, from more digits than it takes."""
    exact = words.astype(np.uint32).astype(np.float32).astype(np.float64) * 2.0**-32 + 2.0**-33
    return torch.from_numpy(exact.astype(np.float32))


def launch(n: int, sms: int, threads_of_sm: int) -> tuple[int, int]:
    """(threads of the grid, by how much the generator's offset grows)."""
    grid = min((n + 255) // 256, sms * (threads_of_sm // 256))
    return 256 * grid, ((n - 1) // (256 * grid * 4) + 1) * 4


def dropout_width(n: int, itemsize: int, address: int) -> int:
    """Elements that a thread of eager's dropout loads at once: 16 bytes if address and size allow it."""
    best = 16 // itemsize
    while best > 1 and address % (best * itemsize):
        best //= 2
    while best > 1 and n % best:
        best //= 2
    return best
