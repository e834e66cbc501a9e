"""Operations of ours that torch calls: seeds for random numbers, and random numbers where a group falls back.

`fusewright::seeds(n, device)` draws n 64-bit seeds from the device's default generator. `fusewright::random(seeds, i,
shape, kind, dtype)` is a function of them (`trace/random.py` says which and why); kernels compute the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..core.lazy import lazy_import
from . import direct, internals

if TYPE_CHECKING:
    from ..prims import curand, philox
    from . import seed_table
else:  # for groups that fall back, and for GPUs
    curand = lazy_import("fusewright.prims.curand")
    philox = lazy_import("fusewright.prims.philox")
    seed_table = lazy_import("fusewright.run.seed_table")

_lib = torch.library.Library("fusewright", "DEF")
_lib.define("seeds(SymInt n, Device device) -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
_lib.define("random(Tensor seeds, int index, SymInt[] size, str kind, ScalarType dtype) -> Tensor")


def draw_seeds(n: int, device: torch.device) -> torch.Tensor:
    if device.type == "cuda":
        found = seed_table.draw(n, device)
        if found is not None:
            return found
    return internals.empty((n,), device, torch.int64).random_(-(2**63), 2**63 - 1)


def layout_of(device: torch.device) -> Any:
    """Which word of which block an element has, as the kernels for a device draw it."""
    return philox.bits if device.type == "cpu" else philox.quads


def _random(seeds: torch.Tensor, index: int, size: Sequence[int], kind: str, dtype: torch.dtype) -> torch.Tensor:
    """The reference: NumPy Philox. Kernels compute the same numbers; this runs only when a group falls back."""
    if kind.startswith("curand"):
        state = seeds[4 * index : 4 * index + 4].tolist()
        if kind == "curand_normal" and seeds.device.type == "cuda":  # the GPU's own logarithm, sine and cosine
            generator = torch.Generator(seeds.device).manual_seed(state[0] & (1 << 64) - 1)
            generator.set_offset(4 * state[1])
            return torch.randn(tuple(size), generator=generator, dtype=dtype, device=seeds.device)
        draw = curand.uniform if kind == "curand_uniform" else curand.normal
        numbers = draw(state, np.arange(math.prod(size)))
        return torch.from_numpy(numbers).to(seeds.device, dtype).reshape(tuple(size))
    row, column = philox.place(size)
    if kind == "bits":
        words = layout_of(seeds.device)(int(seeds[index]), row, column)
        return torch.from_numpy(np.asarray(words, np.int64)).to(seeds.device).reshape(tuple(size))
    ours: Any = {"uniform": philox.uniform, "normal": philox.normal}[kind]
    drawn = ours(int(seeds[index]), row, column, layout=layout_of(seeds.device))
    return torch.from_numpy(np.asarray(drawn)).to(seeds.device, dtype).reshape(size)


def fake_seeds(n: int, device: torch.device) -> torch.Tensor:
    return torch.empty((n,), dtype=torch.int64, device=device)


def _fake_random(seeds: torch.Tensor, index: int, size: Sequence[int], kind: str, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(size, dtype=dtype, device=seeds.device)


_lib.impl("seeds", draw_seeds, "CompositeExplicitAutograd")
_lib.impl("random", _random, "CPU")
_lib.impl("random", _random, "CUDA")
# kernels for fake tensors; `torch.library.register_fake` looks for its caller in all modules, which takes 10 ms
_lib.impl("seeds", fake_seeds, "Meta")
_lib.impl("random", _fake_random, "Meta")

SEEDS = torch.ops.fusewright.seeds.default
direct.CALLS[SEEDS] = draw_seeds
RANDOM = torch.ops.fusewright.random.default
