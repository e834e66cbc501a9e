"""What we use of torch's private interface, and what stands in where a version of torch lacks it.

Each name is looked up once. Without it a feature is slower or absent, never wrong:

    storage_uses     absent: the pool finds that it cannot tell live memory from free, and hands out fresh memory
    empty_strided    absent: the public function, which takes twice as long
    tensor_uses      absent: no output is written over an input
    function_modes   absent: likewise

`trace/partition.py` does the same for the partitioner: importing that takes seconds, and not all need it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import torch

Size = tuple[int, ...]


def _private(path: str, stand_in: Any) -> Any:
    """`torch.<path>`, or `stand_in` if this torch has no such name."""
    try:
        return attrgetter(path)(torch)
    except AttributeError:
        return stand_in


def _empty_strided(size: Size, stride: Size, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=dtype, device="cpu")


# References to a storage, from its address (`UntypedStorage._cdata`); always 0 where torch does not say.
storage_uses: Callable[[int], int] = _private("_C._storage_Use_Count", lambda address: 0)

# An uninitialised CPU tensor of (size, stride, dtype), without argument parsing.
empty_strided: Callable[[Size, Size, torch.dtype], torch.Tensor] = _private(
    "_C._dynamo.guards._empty_strided_cpu", _empty_strided
)

# References to a tensor in C++; always 0, as no tensor has, where torch does not say.
tensor_uses: Callable[[torch.Tensor], int] = _private("Tensor._use_count", lambda t: 0)

# How many modes of `torch.overrides` are active, whose code sees each call of a tensor's methods and may keep it.
function_modes: Callable[[], int] = _private("_C._len_torch_function_stack", lambda: 1)


def _empty_strided_cuda(size: Size, stride: Size, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=dtype, device="cuda")


_empty_on_current: Callable[[Size, Size, torch.dtype], torch.Tensor] = _private(
    "_C._dynamo.guards._empty_strided_cuda", _empty_strided_cuda
)
_current_cuda: Callable[[], int] = _private("_C._cuda_getDevice", torch.cuda.current_device)


def empty_on(device: torch.device) -> Callable[[Size, Size, torch.dtype], torch.Tensor]:
    """As `empty_strided`, on a CUDA device."""
    index = device.index if device.index is not None else torch.cuda.current_device()

    def empty(size: Size, stride: Size, dtype: torch.dtype) -> torch.Tensor:
        if _current_cuda() == index:
            return _empty_on_current(size, stride, dtype)
        return torch.empty_strided(size, stride, dtype=dtype, device=device)

    return empty
