"""Max pooling as elementwise operations, which join what is before and behind them.

Forward, the elements of a window are strided slices of the padded operand. Each is compared with the largest so far, in
the order of the window as in PyTorch's kernels: the first of equal ones stays, the last NaN wins. Where it was in its
window is a byte, from which the index is computed if the program asks for it; the backward pass reads the byte, which
is an eighth of the index. There an element of the gradient adds up what the few windows give that hold the element, if
the byte says it was theirs, in the order of PyTorch's kernels:

    dx[h] = sum over j of g[(h + p) // s - j], where the largest of that window was its element (h + p) % s + j s

Adaptive pooling whose extents divide evenly has such windows, side by side; large ones are reductions: `large_windows`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch._prims_common import suggest_memory_format
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import CheckpointPolicy

from ..run import devices
from . import large_windows
from .pooling import Windows, elements
from .rewriting import arguments, inline, replace, tidy

aten = torch.ops.aten

LANES = 9  # elements of a window, of channels-last memory on a CPU
MOST = 27  # elements of a window: of more, an elementwise kernel reads each of them as often
_ADAPTIVE = {aten.adaptive_max_pool2d.default: 2, aten.adaptive_max_pool3d.default: 3}
_RANK = {aten.max_pool2d_with_indices.default: 2, aten.max_pool3d_with_indices.default: 3, **_ADAPTIVE}
_BACKWARD = (
    *(aten.max_pool2d_with_indices_backward.default, aten.max_pool3d_with_indices_backward.default),
    *(aten.adaptive_max_pool2d_backward.default, aten.adaptive_max_pool3d_backward.default),
)


class Numbered(Windows):
    """A pooling, and numbers of the elements of its windows."""

    @property
    def rank(self) -> int:
        return len(self.size)

    def several(self, d: int) -> int:
        """The window's extent along d, rounded up to a multiple of the stride.

        Elements are numbered as if windows were that large, so that what lies behind a window has numbers of its own.
        """
        return -(-self.kernel[d] // self.stride[d]) * self.stride[d]

    def step(self, d: int) -> int:
        """How far the numbers of neighbours along d are apart; -1: of windows."""
        return prod(map(self.several, range(d + 1, self.rank)))

    def number(self, element: Sequence[int]) -> int:
        """Of an element of the window, as a byte holds it."""
        return sum(e * self.step(d) for d, e in enumerate(element))


class Steps(NamedTuple):
    """How a pooling is computed: functions of tensors, what the pooling does, and where eager has the results."""

    forward: Callable[..., tuple[torch.Tensor, ...]]
    indices: Callable[..., torch.Tensor]
    backward: Callable[..., torch.Tensor]


def open_max_pooling(gm: GraphModule) -> None:
    """Rewrite the max poolings of a functional graph, and their gradients, in place."""
    before = len(gm.graph.nodes)
    for n in list(gm.graph.nodes):
        windows = _windows(n) if n.target in _RANK and not n.kwargs else None
        if windows is not None and (steps := _steps(n, windows)) is not None:
            _open(n, windows, steps)
    if len(gm.graph.nodes) != before:
        tidy(gm)


def _windows(n: Node) -> Numbered | None:
    """What a pooling does; None where it stays whole."""
    x, kernel, *rest = arguments(n)
    val, rank = x.meta["val"], _RANK[n.target]  # type: ignore[index]
    stride, pad, dilation = (rest[k] if k < len(rest) else default for k, default in enumerate(([], [0], [1])))
    size, out = (tuple(v.shape[-rank:]) for v in (val, n.meta["val"][0]))
    if not all(isinstance(s, int) and s > 0 for s in (*val.shape, *out)) or any(d != 1 for d in dilation):
        return None
    if n.target in _ADAPTIVE:
        if any(s % m for s, m in zip(size, out, strict=True)):
            return None
        kernel = [s // m for s, m in zip(size, out, strict=True)]
    w = Numbered(size, out, *(tuple(a) * (rank if len(a) == 1 else 1) for a in (kernel, stride or kernel, pad)))
    return w if val.is_floating_point() and not devices.unsupported(val.device) else None


def _steps(n: Node, w: Numbered) -> Steps | None:
    """Comparisons of few elements, or reductions; None where the pooling stays whole."""
    x = arguments(n)[0].meta["val"]
    if prod(w.kernel) <= MOST and w.step(-1) <= 128 and not _vectorized(x, w):
        return Steps(forward, indices, backward)
    numbered = any(user.users for user in n.users if user.args[1] == 1)
    values = large_windows.chosen(x, w, numbered) if n.target in _ADAPTIVE else None
    return Steps(values, _indices_of_large, large_windows.backward) if values is not None else None


def _form(n: Node) -> torch.memory_format:
    """Where eager has a pooling's results and its gradient; those of adaptive pooling of volumes are contiguous."""
    if n.target is aten.adaptive_max_pool3d.default:
        return torch.contiguous_format
    return suggest_memory_format(arguments(n)[0].meta["val"])


def _vectorized(x: torch.Tensor, w: Numbered) -> bool:
    """Whether PyTorch's kernel has lanes along channels and compares much: of contiguous memory its kernels on a CPU go
    point by point."""
    last = suggest_memory_format(x) is not torch.contiguous_format
    return last and prod(w.kernel) > LANES and devices.driver_for(x.device) is None


def _scatters(x: torch.Tensor, w: Numbered) -> bool:
    """Whether the gradient is PyTorch's scatter: lanes along a line would have to divide to find their windows."""
    contiguous = suggest_memory_format(x) is torch.contiguous_format
    between = any(1 < s < k for s, k in zip(w.stride, w.kernel, strict=True))
    return contiguous and between and devices.driver_for(x.device) is None


def _open(n: Node, w: Numbered, steps: Steps) -> None:
    x, form = arguments(n)[0], _form(n)
    with n.graph.inserting_before(n):
        made = inline(n, lambda x: steps.forward(x, w, form), x)
    largest, at = made[0], made[-1]  # only one, if nothing reads the other
    if _strides(largest) != n.meta["val"][0].stride():
        return
    for user in list(n.users):
        if user.args[1] == 0:
            replace(user, largest)
            continue
        gradients = [b for b in user.users if b.target in _BACKWARD and b.args[1] is x]
        for back in () if _scatters(x.meta["val"], w) else gradients:
            with back.graph.inserting_before(back):
                (grad,) = inline(back, lambda g, k: (steps.backward(g, k, w, form),), back.args[0], at)
            if _strides(grad) == _strides(back):
                replace(back, grad)
                at.meta.setdefault("recompute", CheckpointPolicy.MUST_SAVE)  # nothing is compared again
        if user.users:
            with user.graph.inserting_before(user):
                (places,) = inline(n, lambda k: (steps.indices(k, w, form),), at)
            replace(user, places)


def forward(x: torch.Tensor, w: Numbered, form: torch.memory_format) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest element of each window, and as a byte which element of the window that is."""
    pads = [(p, max(b, 0)) for p, b in zip(w.pad, w.beyond, strict=True)]
    y = F.pad(x, [p for pair in reversed(pads) for p in pair], value=-torch.inf) if any(map(any, pads)) else x
    parts = [(w.number(element), part) for element, part in elements(y, w.kernel, w.out, w.stride)]
    largest, at = parts[0][1], _first(x, w).expand(parts[0][1].shape)
    for number, part in parts[1:]:
        better = (part > largest) | part.isnan()
        at = torch.where(better, number, at)
        # The last as it is written makes the byte part of the forward pass: what is not, cannot be marked to be saved.
        largest = torch.where(better if number < parts[-1][0] else at == number, part, largest)
    return largest.contiguous(memory_format=form), at.contiguous(memory_format=form)


def _first(x: torch.Tensor, w: Numbered) -> torch.Tensor:
    """The first element of each window that is no padding: what stays if all are minus infinity."""
    at = torch.zeros((), dtype=torch.int8, device=x.device)
    for d in range(w.rank):
        if w.pad[d]:
            first = (w.pad[d] - _line(w.out[d], d, w, x) * w.stride[d]).clamp(min=0)
            at = at + (first * w.step(d)).to(torch.int8)
    return at


def indices(at: torch.Tensor, w: Numbered, form: torch.memory_format) -> torch.Tensor:
    """Positions in the operand, counted along its pooled dimensions, of what `forward` says."""
    out = torch.zeros((), dtype=torch.int64, device=at.device)
    for d in range(w.rank):
        element = at // w.step(d) % w.several(d)
        place = _line(w.out[d], d, w, at) * w.stride[d] - w.pad[d] + element
        out = out + place.to(torch.int64) * prod(w.size[d + 1 :])
    return out.contiguous(memory_format=form)


def _indices_of_large(least: torch.Tensor, w: Numbered, form: torch.memory_format) -> torch.Tensor:
    """The same of what `large_windows.forward` says: without marks of NaN, its numbers are those of `Numbered`."""
    return large_windows.placed(indices(large_windows.known(least), w, form), form)


def backward(grad: torch.Tensor, at: torch.Tensor, w: Numbered, form: torch.memory_format) -> torch.Tensor:
    """The gradient of the operand, from that of the result."""
    wide = _around(grad.to(torch.promote_types(grad.dtype, torch.float32)), 0.0, w)
    which = _around(at, -1, w)
    lines = [(_line(w.size[d], d, w, at) + w.pad[d]) % w.stride[d] * w.step(d) for d in range(w.rank)]
    element = sum(lines[1:], lines[0]).to(torch.int8)  # of the last window that begins there or before
    total: Any = None
    for back in product(*(reversed(range(w.several(d) // w.stride[d])) for d in range(w.rank))):
        number = w.number([b * s for b, s in zip(back, w.stride, strict=True)])
        part = torch.where(_windows_of(which, back, w) == element + number, _windows_of(wide, back, w), 0.0)
        total = part if total is None else total + part
    return total.to(grad.dtype).contiguous(memory_format=form)


def _around(t: torch.Tensor, value: float, w: Numbered) -> torch.Tensor:
    """`t` with windows before and behind it, to which positions near the ends would belong."""
    pads = []
    for d in reversed(range(w.rank)):
        before = w.several(d) // w.stride[d] - 1 - w.pad[d] // w.stride[d]
        pads += [before, (w.size[d] - 1 + w.pad[d]) // w.stride[d] + 1 - w.out[d]]
    return F.pad(t, pads, value=value) if any(pads) else t


def _windows_of(t: torch.Tensor, back: tuple[int, ...], w: Numbered) -> torch.Tensor:
    """For each position of the operand, what `t`, see `_around`, has for the window `back` before the last."""
    for d in range(w.rank):
        dim, step = t.dim() - w.rank + d, w.stride[d]
        count = (w.size[d] - 1 + w.pad[d]) // step - w.pad[d] // step + 1
        t = t.narrow(dim, w.several(d) // step - 1 - back[d], count)
        if step > 1:
            t = t.unsqueeze(dim + 1).expand(*t.shape[: dim + 1], step, *t.shape[dim + 1 :]).flatten(dim, dim + 1)
        t = t.narrow(dim, w.pad[d] % step, w.size[d])
    return t


def _line(size: int, d: int, w: Numbered, like: torch.Tensor) -> torch.Tensor:
    """0, 1, ... along dimension d of those that are pooled."""
    return torch.arange(size, dtype=torch.int32, device=like.device).view(-1, *(1,) * (w.rank - 1 - d))


def _strides(n: Node) -> tuple[int, ...]:
    return tuple(n.meta["val"].stride())


__all__ = ["open_max_pooling"]
