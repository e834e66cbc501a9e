"""`fusewright::eager_states`: where eager's next random numbers on a GPU begin (`trace/eager_random.py` says why)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from ..core.warn import warn
from ..prims import curand

_lib = torch.library.Library("fusewright", "FRAGMENT")
_lib.define(
    "eager_states(SymInt[] sizes, int[] lanes, int[] itemsizes, Tensor?[] operands, int[] offsets, int blocks, "
    "Device device) -> Tensor",
    tags=(torch.Tag.nondeterministic_seeded,),
)
_lock = threading.Lock()


def take(device: torch.device, step: int) -> tuple[int, int]:
    """Seed and offset of a CUDA device's generator, whose offset moves on by `step`, a multiple of 4."""
    generators = torch.cuda.default_generators
    generator = generators[torch.cuda.current_device() if device.index is None else device.index]
    with _lock:
        offset = generator.get_offset()
        if step:
            generator.set_offset(offset + step)
        return generator.initial_seed(), offset


def _states(
    sizes: Sequence[int],
    lanes: Sequence[int],
    itemsizes: Sequence[int],
    operands: Sequence[torch.Tensor | None],
    offsets: Sequence[int],
    blocks: int,
    device: torch.device,
) -> torch.Tensor:
    """States of draws, one after the other: i64[4 * draws] on `device`.

    Draw k is of sizes[k] elements. A thread takes up to lanes[k] elements of itemsizes[k] bytes at once; their memory
    is offsets[k] bytes after operands[k] (None: after an aligned address). `blocks`: that the GPU holds at once.
    """
    capturing = device.type == "cuda" and torch.cuda.is_current_stream_capturing()
    rows: list[int] = []
    for n, lane, itemsize, x, at in zip(sizes, lanes, itemsizes, operands, offsets, strict=True):
        threads, step = curand.launch(n, blocks) if n else (curand.BLOCK, 0)
        width = curand.width(n, lane, at if x is None else at + x.data_ptr(), itemsize)
        seed, offset = (0, 0) if capturing else take(device, step)
        rows += [(seed + (1 << 63)) % (1 << 64) - (1 << 63), offset // curand.UNROLL, threads, width.bit_length() - 1]
    if capturing:
        return captured(rows, device)
    host = torch.tensor(rows, dtype=torch.int64, device="cpu", pin_memory=device.type == "cuda")
    return host.to(device, non_blocking=True)


def captured(rows: list[int], device: torch.device) -> torch.Tensor:
    """States for a CUDA graph, which are to be others every time that it runs.

    Seed and offset are then in memory that only PyTorch's kernels know, and the host's must not become part of the
    graph, for it would repeat them. So seeds are drawn, in the graph, by a kernel of PyTorch's.
    """
    warn_captured()
    out = torch.empty(len(rows), dtype=torch.int64, device=device)
    for k, number in enumerate(rows):
        out[k].fill_(number)
    out[::4] = torch.randint(-(2**63), 2**63 - 1, (len(rows) // 4,), dtype=torch.int64, device=device)
    return out


@cache
def warn_captured() -> None:
    warn(
        'Fusewright: random numbers in a CUDA graph are not eager\'s, in spite of rng="eager": they are drawn from '
        "seeds of their own, new ones each time that the graph runs."
    )


def _fake_states(
    sizes: Any, lanes: Any, itemsizes: Any, operands: Any, offsets: Any, blocks: int, device: torch.device
) -> torch.Tensor:
    return torch.empty((4 * len(sizes),), dtype=torch.int64, device=device)


_lib.impl("eager_states", _states, "CompositeExplicitAutograd")
torch.library.register_fake("fusewright::eager_states", _fake_states, lib=_lib)


class Blocks(int):
    """How many blocks `device` holds at once: an argument of the operator that is another number on another GPU."""

    device: torch.device

    def __new__(cls, n: int, device: torch.device) -> Blocks:
        made = super().__new__(cls, n)
        made.device = device
        return made


STATES = torch.ops.fusewright.eager_states.default
