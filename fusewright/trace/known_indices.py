"""Indices that are known while tracing and repeat elements, or leave some out, evenly, as of resized images: views.

    x[:, :, rows // 2, columns // 2]                      becomes    x expanded, and reshaped
    x[:, :, 2 * rows, 2 * columns + 1]                    becomes    x[:, :, ::2, 1::2]
    zeros.index_put((..., rows // 2, ...), g, sum)        becomes    the sum of a window's elements
    zeros.index_put((..., 2 * rows, ...), g, sum)         becomes    g with zeros between

A gather reads an index for every element and cannot have vectors; a scatter needs its positions sorted. What the index
computes is looked up: it is evaluated, if it depends on nothing but constants. What sizes it has must be known.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils._python_dispatch import _disable_current_modes

from ..run import devices
from .rewriting import arguments, call_like, replace, tidy

aten = torch.ops.aten

MOST = 1 << 16  # elements of an index, evaluated while tracing
WINDOW = 16  # elements of a window: of more, they are summed by a reduction
_GATHERS = (aten.index.Tensor, aten._unsafe_index.Tensor)
_SCATTERS = (aten.index_put.default, aten._unsafe_index_put.default)
_ZEROS = (aten.new_zeros.default, aten.zeros.default, aten.zeros_like.default)
# The same on every device: whole numbers, and products and sums of floats.
_EXACT = (
    *(aten.arange.default, aten.arange.start, aten.arange.start_step, torch.ops.prims.iota.default),
    *(aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.add.Scalar, aten.sub.Scalar, aten.mul.Scalar),
    *(aten.floor_divide.default, aten.div.Tensor_mode, aten.floor.default, aten._to_copy.default),
    *(aten.clamp.default, aten.clamp_min.default, aten.clamp_max.default),
    *(aten.view.default, aten.unsqueeze.default, aten.expand.default, torch.ops.prims.convert_element_type.default),
)


def follow_known_indices(gm: GraphModule) -> None:
    """Rewrite gathers and scatters of a functional graph in place, where the index repeats elements evenly or takes
    every n-th."""
    values: dict[Node, torch.Tensor | None] = {}
    before = list(gm.graph.nodes)
    for n in before:
        if n.target in _GATHERS and not n.kwargs:
            _gather(n, values)
        elif n.target in _SCATTERS and len(n.args) == 4 and n.args[3] is True:
            _scatter(n, values)
    for n in list(gm.graph.nodes):
        if n.target is aten._unsafe_index_put.default:
            _beside_channels(n)
    if list(gm.graph.nodes) != before:  # as many, where one operator takes the place of another
        tidy(gm)


def _gather(n: Node, values: dict[Node, torch.Tensor | None]) -> None:
    x, indices = arguments(n)
    found = _followed(x, indices, values)
    if found is not None and (slices := _slices(found)) is not None:
        with n.graph.inserting_before(n):
            out = x
            for d, each in slices.items():
                out = call_like(n, aten.slice.Tensor, out, d, *each)
            _replace(n, call_like(n, aten.clone.default, out, memory_format=torch.contiguous_format))
        return
    times = _times(x, found)
    if times is None or _along_lanes(x, times):
        return
    with n.graph.inserting_before(n):
        out = x
        for d in reversed(range(len(times))):
            out = call_like(n, aten.unsqueeze.default, out, d + 1) if times[d] > 1 else out
        shape = x.meta["val"].shape
        whole = [k for s, t in zip(shape, times, strict=True) for k in ((s, t) if t > 1 else (s,))]
        out = call_like(n, aten.expand.default, out, whole)
        out = call_like(n, aten.clone.default, out, memory_format=torch.contiguous_format)
        out = call_like(n, aten.view.default, out, [s * t for s, t in zip(shape, times, strict=True)])
        _replace(n, out)


def _scatter(n: Node, values: dict[Node, torch.Tensor | None]) -> None:
    zeros, indices, grad, _ = arguments(n)
    if not isinstance(zeros, Node) or zeros.target not in _ZEROS or not isinstance(grad, Node):
        return
    found = _followed(zeros, indices, values)
    g, dtype, shape = grad.meta["val"], n.meta["val"].dtype, zeros.meta["val"].shape
    if found is None or g.dtype != dtype or not dtype.is_floating_point:
        return
    if (slices := _slices(found)) is not None:
        sizes = [len(found[d]) if d in found else s for d, s in enumerate(shape)]
        if list(g.shape) == sizes:  # else it is expanded as it is put
            with n.graph.inserting_before(n):
                out = grad
                for d, each in slices.items():
                    sizes[d] = shape[d]
                    out = call_like(n, aten.slice_backward.default, out, list(sizes), d, *each)
                _replace(n, out)
        return
    times = _times(zeros, found)
    if times is None or _along_lanes(grad, times):
        return
    if tuple(g.shape) != tuple(s * t for s, t in zip(shape, times, strict=True)):
        return  # it is expanded as it is put
    with n.graph.inserting_before(n):
        split = [k for s, t in zip(shape, times, strict=True) for k in ((s, t) if t > 1 else (s,))]
        dims = [d + sum(u > 1 for u in times[:d]) + 1 for d, t in enumerate(times) if t > 1]
        out = grad
        if torch.promote_types(dtype, torch.float32) != dtype:
            out = call_like(n, aten._to_copy.default, out, dtype=torch.float32)
        out = call_like(n, aten.view.default, out, split)
        if math.prod(times) > WINDOW:
            out = call_like(n, aten.sum.dim_IntList, out, dims)
        else:
            parts = []
            for at in itertools.product(*(range(t) for t in times if t > 1)):
                part = out
                for d, k in zip(reversed(dims), reversed(at), strict=True):
                    part = call_like(n, aten.select.int, part, d, k)
                parts.append(part)
            out = parts[0]
            for part in parts[1:]:
                out = call_like(n, aten.add.Tensor, out, part)
        if out.meta["val"].dtype != dtype:
            out = call_like(n, aten._to_copy.default, out, dtype=dtype)
        _replace(n, out)


def _beside_channels(n: Node) -> None:
    """Have a sum into zeros in memory as what is added is, if that has its channels last: on a CPU they are its lanes.

    Only for gradients of what decompositions look up, which eager does not have in memory, and which others read.
    (Of bilinear upsampling of 4x16x128x128, two threads: 20 ms, forward + backward, and 10.)
    """
    zeros, indices, grad, *how = arguments(n)
    g, z = grad.meta["val"], zeros.meta["val"]
    if zeros.target not in _ZEROS or any(u.op == "output" for u in n.users) or devices.driver_for(g.device) is not None:
        return
    if g.dim() == 4 == z.dim() and not g.is_contiguous() and g.is_contiguous(memory_format=torch.channels_last):
        with n.graph.inserting_before(n):
            zeros = call_like(n, aten.clone.default, zeros, memory_format=torch.channels_last)
            replace(n, call_like(n, n.target, zeros, indices, grad, *how))


def _replace(n: Node, out: Node) -> None:
    """Put `out` in the place of `n`, in memory laid out alike."""
    want = n.meta["val"]
    for how in (None, torch.contiguous_format, torch.channels_last):
        if how is torch.channels_last and want.dim() != 4:
            continue
        new = out if how is None else call_like(n, aten.clone.default, out, memory_format=how)
        if new.meta["val"].stride() == want.stride():
            replace(n, new)
            return


def _along_lanes(x: Node, times: list[int]) -> bool:
    """Whether neighbours in memory are repeated, on a CPU: its lanes gather them faster than they divide positions."""
    val = x.meta["val"]
    return devices.driver_for(val.device) is None and any(
        t > 1 and s == 1 for t, s in zip(times, val.stride(), strict=True)
    )


def _followed(x: Any, indices: Any, values: dict[Node, torch.Tensor | None]) -> dict[int, list[int]] | None:
    """The elements along each dimension of `x` that has an index, if each is known and for that dimension alone."""
    shape = x.meta["val"].shape
    at = [d for d, i in enumerate(indices) if i is not None]
    if not at or at != list(range(at[0], at[-1] + 1)) or any(not isinstance(s, int) for s in shape):
        return None
    found = {}
    for k, d in enumerate(at):
        index = _value(indices[d], values)
        # along dimension k of what the indices broadcast to
        if index is None or index.dtype.is_floating_point or index.dtype is torch.bool or index.dim() > len(at):
            return None
        mine = index.dim() - len(at) + k
        if index.dim() == 0 or mine < 0 or index.numel() != index.shape[mine]:
            return None
        with _disable_current_modes():
            found[d] = index.flatten().tolist()
        if not found[d] or not 0 <= min(found[d]) <= max(found[d]) < shape[d]:
            return None
    return found


def _slices(found: dict[int, list[int]]) -> dict[int, tuple[int, int, int]] | None:
    """(start, end, step) along each dimension, if elements are equally far apart, or None."""
    out = {}
    for d, index in found.items():
        step = index[1] - index[0] if len(index) > 1 else 1
        if step <= 0 or index != list(range(index[0], index[-1] + 1, step)):
            return None
        out[d] = index[0], index[-1] + 1, step
    return out


def _times(x: Node, found: dict[int, list[int]] | None) -> list[int] | None:
    """How often each element along each dimension of `x` is repeated, if all are equally often, or None."""
    if found is None:
        return None
    shape = x.meta["val"].shape
    times = [1] * len(shape)
    for d, index in found.items():
        times[d] = len(index) // shape[d]
        if index != [k // times[d] for k in range(shape[d] * times[d])]:
            return None
    return times if max(times) > 1 else None


def _value(n: Any, values: dict[Node, torch.Tensor | None]) -> torch.Tensor | None:
    """What a node computes, if that is known, on the CPU."""
    if not isinstance(n, Node) or n.op != "call_function" or n.target not in _EXACT:
        return None
    if n not in values:
        values[n] = None
        val = n.meta.get("val")
        if isinstance(val, torch.Tensor) and isinstance(val.numel(), int) and val.numel() <= MOST:
            known = {a: _value(a, values) for a in n.all_input_nodes}
            if all(v is not None for v in known.values()):
                args, kwargs = torch.fx.node.map_arg((n.args, n.kwargs), lambda a: known[a])
                kwargs = {k: torch.device("cpu") if k == "device" else v for k, v in kwargs.items()}
                with _disable_current_modes():
                    values[n] = n.target(*args, **kwargs)
    return values[n]


__all__ = ["follow_known_indices"]
