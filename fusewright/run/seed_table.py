"""Seeds on a GPU without a kernel to draw them: tables of what PyTorch's generator will give next.

`random_(-2^63, 2^63 - 1)` of n <= 256 numbers (one block) is a function of the generator's seed and offset: number
k is that of thread k,

    x, y, _, _ = philox4x32_10(counter (offset / 4, low and high 32 bits, k, 0), key seed)
    ((x << 32 | y) mod (2^64 - 1)) - 2^63

and moves the offset by 4 (ATen/native/cuda/DistributionTemplates.h of PyTorch). So a table in device memory holds the
seeds of many offsets, a draw is a view of it, and the generator's state moves as if PyTorch had drawn. Whoever draws a
few times, from states far apart or in a CUDA graph, whose state is known to the device only, has PyTorch draw: these
are the same numbers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np
import torch

from ..prims import philox
from . import internals

MOST = 32  # seeds of a draw (PyTorch takes one thread for each): of more, tables cost more than they save
NUMBERS = 4096  # of a table: computed in about a millisecond
PATIENCE = 32  # draws that follow each other before a table is made
FEW = 64  # draws that a table should be good for
TABLES = 64  # at most, of different numbers of seeds, devices and streams
STEP = 4  # by which a draw moves the offset

_lock = threading.Lock()


def table(seed: int, offset: int, rows: int, n: int) -> np.ndarray:
    """i64[rows, n]: the seeds that a generator of this state gives `rows` times in a row, n at a time."""
    block = np.uint64(offset // STEP) + np.arange(rows, dtype=np.uint64)[:, None]
    thread = np.arange(n, dtype=np.uint64)[None, :]
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    zero = np.zeros((rows, n), np.uint64)
    counter = (zero + (block & low), zero + (block >> half), zero + thread, zero)
    x, y, _, _ = philox.philox4x32(counter, (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF))
    drawn = (x.astype(np.uint64) << half) | y.astype(np.uint64)
    drawn[drawn == np.uint64((1 << 64) - 1)] = 0
    return (drawn ^ np.uint64(1 << 63)).view(np.int64)  # the same as subtracting 2^63


class Seeds:
    """Draws of n seeds on one stream of a device: what a table was made from, and how often it was of use."""

    __slots__ = ("first", "follows", "last", "numbers", "patience", "rows", "seed", "served")

    def __init__(self) -> None:
        self.numbers: torch.Tensor | None = None
        self.seed = self.first = self.rows = self.served = 0
        self.last = (0, 0)  # seed and offset of the draw before
        self.follows = 0  # draws that came soon after one another
        self.patience = PATIENCE

    def wants(self, seed: int, offset: int, rows: int) -> bool:
        """Whether a table that begins here is likely to be of use: called for draws that no table has."""
        before, self.last = self.last, (seed, offset)
        near = before[0] == seed and 0 < offset - before[1] < STEP * rows // FEW
        self.follows = self.follows + 1 if near else 0
        if self.follows < self.patience and not (near and self.served >= FEW):
            return False
        if self.numbers is not None and self.served < FEW:
            self.patience *= 4  # the last was hardly worth it
        return True


def upload(numbers: np.ndarray, index: int) -> torch.Tensor:
    """`numbers` in the memory of a CUDA device, in the order of the current stream, which alone will use them."""
    assert internals.without_modes is not None
    with torch.inference_mode(False), torch.no_grad(), internals.without_modes():
        return copied(torch.from_numpy(numbers), index)


def copied(host: torch.Tensor, index: int) -> torch.Tensor:
    return host.pin_memory().to(torch.device("cuda", index), non_blocking=True)


_known: OrderedDict[tuple[int, int, int], Seeds] = OrderedDict()


def draw(n: int, device: torch.device) -> torch.Tensor | None:
    """i64[n] from the generator of a CUDA device, or None if PyTorch is to draw, and the state is as it was."""
    index = internals.current_cuda() if device.index is None else device.index
    if not 0 < n <= MOST or internals.without_modes is None or internals.capturing():
        return None
    key = (n, index, internals.raw_stream(index))
    with _lock:
        found = _known.get(key)
        if found is None:
            found = _known[key] = Seeds()
            if len(_known) > TABLES:
                _known.popitem(last=False)
        generator = torch.cuda.default_generators[index]
        try:
            offset, seed = generator.get_offset(), generator.initial_seed()
        except RuntimeError:  # a stream of another device than the current one is being captured
            return None
        row = (offset - found.first) // STEP
        if found.numbers is None or seed != found.seed or not 0 <= row < found.rows:
            rows = NUMBERS // n
            if not found.wants(seed, offset, rows):
                return None
            found.numbers = upload(table(seed, offset, rows, n), index)
            found.seed, found.first, found.rows, found.served, found.follows = seed, offset, rows, 0, 0
            row = 0
        found.served += 1
        found.last = (seed, offset)
        generator.set_offset(offset + STEP)
        return internals.reinterpret(found.numbers, (n,), (1,), row * n)
