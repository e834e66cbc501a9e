"""Outputs in the memory of inputs that die in the same launch.

`loop/overwrite.py` says which input of a kernel an output may overwrite, the plan which inputs it drops after the
launch. Whether anybody else still sees such an input is known at run time only: a saved tensor is free in the backward
pass unless the graph is retained, or the user holds the tensor, a view of it, its storage or an array on it. As in the
pool, reference counts tell: the input is free when the plan's variable is the only reference to the tensor, and the
tensor and the pool are the only ones to its storage. Memory that is not the pool's is never taken, because its owner
need not show in the counts (`torch.from_numpy`).
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable
from typing import Any

import torch

from ..core.counters import count
from ..core.options import current
from .internals import function_modes as _watched
from .internals import reinterpret
from .internals import storage_uses as _use_count
from .internals import tensor_uses as _uses
from .pool import POOL, THRESHOLD, Allocation, Block, _address_of, _empty, _storage_of

Counts = tuple[int, int, int, int]


def over(spec: Allocation, box: list[torch.Tensor]) -> torch.Tensor:
    """A tensor for `spec`: on the memory of `t` if the caller's variable alone keeps that alive, else as `spec()`.

    To be called from a plan's source, `x = _over(spec, [t])`: how many references that makes is measured below. In a
    list, because how many an argument has depends on whether anything (Dynamo) evaluates frames in Python's place. The
    tensor is a new one, with a version counter of its own.
    """
    if _FREE is None or _uses(box[0]) != 1 or sys.getrefcount(box[0]) > _FREE[0][0] or spec.nbytes < THRESHOLD:
        return spec()
    block = _block(spec, box[0])
    if block is not None and _counts(block, box) == _FREE and weakref.getweakrefcount(box[0]) == 0:
        count("pool_overwrites")
        return box[0].data
    return spec()


def over_private(
    box: list[torch.Tensor],
    empty: Callable[[Any, Any, torch.dtype], torch.Tensor],
    size: tuple[int, ...],
    stride: tuple[int, ...],
    dtype: torch.dtype,
) -> torch.Tensor:
    """A tensor of (size, stride, dtype), which is contiguous, on the memory of `t`, box[0], if nothing else keeps that
    alive and `t` covers it, contiguous, too; else `empty(size, stride, dtype)`. To be called from a plan's source, as
    `over` is.

    `t` must be one that only the graph has seen: a tensor that its user has let go of may still be in use on another
    stream. Memory that no allocator of torch's made is never taken.
    """
    t = box[0]
    fits = type(t) is torch.Tensor and t.dtype is dtype and t.numel() == math.prod(size) and t.is_contiguous()
    if fits and not _watched() and t.is_inference() is torch.is_inference_mode_enabled() and current().pool:
        storage = t.untyped_storage()
        covers = storage.resizable() and t.storage_offset() == 0 and storage.nbytes() == t.nbytes
        del t, storage
        if covers and _private(box) == _PRIVATE and weakref.getweakrefcount(box[0]) == 0:
            count("outputs_over_inputs")
            return reinterpret(box[0], size, stride, 0)
    return empty(size, stride, dtype)


def _private(box: list[torch.Tensor]) -> list[Counts]:
    """`_counts` of a tensor on memory that is not the pool's."""
    storages = [box[0].untyped_storage()]
    addresses = [storages[0]._cdata]
    held = zip(map(sys.getrefcount, box), map(_uses, box), map(sys.getrefcount, storages), map(_use_count, addresses))  # noqa: B905
    return list(held)


def _block(spec: Allocation, t: torch.Tensor) -> Block | None:
    """The pool's block under `t`, if `t` covers it as the tensor that `spec` makes would."""
    size, stride, dtype = spec.layout
    fits = type(t) is torch.Tensor and t.dtype is dtype and t.stride() == stride and t.shape == size
    if not fits or t.is_inference() is not torch.is_inference_mode_enabled() or not current().pool or _watched():
        return None
    block = spec.pool.block_of(t.untyped_storage())
    # at the block's start, memory is aligned as for any output
    return block if block is not None and t.data_ptr() == block.data else None


def _counts(block: Block, box: list[torch.Tensor]) -> list[Counts]:
    """(Python's references to the tensor, C++'s, Python's to its storage, C++'s), while no other thread runs.

    The `list` call keeps the interpreter from end to end: otherwise a thread could trade one kind of reference for
    another in between.
    """
    blocks = [block]
    storages, addresses = map(_storage_of, blocks), map(_address_of, blocks)
    held = zip(map(sys.getrefcount, box), map(_uses, box), map(sys.getrefcount, storages), map(_use_count, addresses))  # noqa: B905
    return list(held)


def _site(args: list[torch.Tensor], take: Callable[[Any, list[torch.Tensor]], Any], spec: Any) -> Any:
    """A plan, as far as references to an argument go."""
    (t,) = args
    args.clear()
    out = take(spec, [t])
    t.data_ptr()
    del t
    return out


def _ways(weight: torch.Tensor) -> tuple[Callable[[torch.Tensor], Any], ...]:
    """Ways of holding on to a tensor."""
    return (
        lambda t: t,
        lambda t: t[1:],
        lambda t: t.detach(),
        lambda t: t.untyped_storage(),
        lambda t: t.numpy(),
        lambda t: torch.utils.dlpack.to_dlpack(t),
        lambda t: weight * t,  # saves `t` for its backward pass
    )


def _calibrate() -> list[Counts] | None:
    """`_counts` of an input that only its plan sees; None (no reuse) where a way of holding on to one does not show."""
    if POOL._free_mark is None:
        return None
    spec = Allocation.__new__(Allocation)
    spec.nbytes = 64
    block = Block(_empty((16,), (1,), torch.float32), spec)
    free = _site([block.template.data], _counts, block)
    weight = torch.ones(16, device="cpu", requires_grad=True)

    def shows(hold: Callable[[torch.Tensor], Any]) -> bool:
        args = [block.template.data]
        held = hold(args[0])
        seen: bool = _site(args, _counts, block) != free
        del held
        return seen and _site([block.template.data], _counts, block) == free

    return free if free[0][1] == 1 and all(map(shows, _ways(weight))) else None


def _calibrate_private() -> list[Counts] | None:
    """`_private` of an input that only its plan sees; None where a way of holding on to one does not show."""

    def fresh() -> torch.Tensor:
        return _empty((16,), (1,), torch.float32)

    def counts(_: Any, box: list[torch.Tensor]) -> list[Counts]:
        return _private(box)

    free = _site([fresh()], counts, None)
    weight = torch.ones(16, device="cpu", requires_grad=True)

    def shows(hold: Callable[[torch.Tensor], Any]) -> bool:
        args = [fresh()]
        held = hold(args[0])
        seen: bool = _site(args, counts, None) != free
        del held
        return seen

    return free if free[0][1] == 1 and all(map(shows, _ways(weight))) else None


_FREE = _calibrate()
_PRIVATE = _calibrate_private()
