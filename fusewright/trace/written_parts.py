"""Writes into a part of an argument stay writes into a part.

In a functional graph `cache[:, :, pos] = k` makes a new tensor of the whole cache, which is copied back at the end. A
kernel would move all of it for a row. Where the argument's old contents are read for nothing but what is written, the
part is written in place by PyTorch, and what reads the new contents reads the argument. So are many writes into one new
tensor, of which a kernel would ask at each point whether it is in their part.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import Graph, Node

from ..run.inplace import COPY, arguments_written
from ..run.views import new
from ..run.written import MEMORY, Part
from .lowering.views import PARTS

_aten = torch.ops.aten
_VIEWS: dict[Any, Any] = {  # the view that is written
    _aten.slice_scatter.default: _aten.slice.Tensor,
    _aten.select_scatter.default: _aten.select.int,
    _aten.diagonal_scatter.default: _aten.diagonal.default,
}
_DEFAULTS: dict[Any, tuple[Any, ...]] = {  # of its arguments, behind the tensor
    _aten.slice.Tensor: (0, None, None, 1),
    _aten.select.int: (None, None),
    _aten.diagonal.default: (0, 0, 1),
}
_PLACES: dict[Any, tuple[Any, int]] = {  # the same in place, and which argument has as many elements as are written
    _aten.index_put.default: (_aten.index_put_.default, 2),
    _aten.index_copy.default: (_aten.index_copy_.default, 3),
    _aten.scatter.src: (_aten.scatter_.src, 2),
    _aten.scatter.value: (_aten.scatter_.value, 2),
}
LEAST = {"cpu": 1 << 17, "cuda": 1 << 23}  # bytes of a tensor that take longer to move than an operation to call
SHARE = 2  # parts are at most one of so many of the whole


def parts_written(graph: Graph) -> list[list[Node]]:
    """Chains of such writes, each into what the one before it made."""
    chains = [(_chain(value), copy) for copy, x, value in arguments_written(graph)]
    found: list[tuple[list[Node], Node | None]] = [
        (c, copy) for c, copy in chains if c and c[0].args[0] is copy.args[0]
    ]
    done = {w for c, _ in chains for w in c}
    for n in reversed(graph.nodes):  # from the last write to the first
        if n.op == "call_function" and n not in done and (chain := _chain(n)):
            done.update(chain)
            if len(chain) > PARTS and new(chain[0].args[0]):
                found.append((chain, None))
    return [c for c, copy in found if _worth(c) and all(_only_for(w, c, copy) for w in c)]


def write_parts(graph: Graph) -> None:
    """Let such writes be calls of `Part`."""
    for chain in parts_written(graph):
        _write(chain)
    for n in reversed(list(graph.nodes)):
        if not n.users and isinstance(n.target, torch._ops.OpOverload) and not n.target._schema.is_mutable:
            if n.target.is_view or n.target in _VIEWS or n.target in _PLACES or n.target is _aten.copy.default:
                graph.erase_node(n)


def _chain(last: Any) -> list[Node]:
    """Writes, the first one first, of which each writes into what the one before made."""
    chain: list[Node] = []
    while isinstance(last, Node) and ((last.target in _VIEWS and not last.kwargs) or last.target in _PLACES):
        chain.append(last)
        last = last.args[0]
    return chain[::-1]


def _worth(chain: list[Node]) -> bool:
    """Whether parts are written faster than a kernel moves the whole."""
    whole = chain[0].meta["val"]
    size = _count(whole)
    if whole.layout is not torch.strided or whole.is_complex():
        return False
    if size is None or size * whole.element_size() < LEAST.get(whole.device.type, 1 << 62):
        return False
    parts = [_written(w) for w in chain]
    return len(chain) > PARTS or (None not in parts and SHARE * sum(parts) <= size)  # type: ignore[arg-type]


def _written(w: Node) -> int | None:
    """How many elements a write writes; None if nobody knows, or if it adds to them."""
    w = _innermost(w)[0]
    args: Any = w.args
    if w.target in _VIEWS:
        return _count(args[1].meta["val"])
    if w.target is not _aten.index_put.default:
        return _count(args[_PLACES[w.target][1]].meta["val"])
    indices = {k: i.meta["val"] for k, i in enumerate(args[1]) if i is not None}
    if (len(args) > 3 and args[3]) or any(i.dtype in (torch.bool, torch.uint8) for i in indices.values()):
        return None
    shapes = [[_size(s) for s in i.shape] for i in indices.values()]
    whole = [_size(s) for k, s in enumerate(args[0].meta["val"].shape) if k not in indices]
    if any(None in s for s in (*shapes, whole)):
        return None
    return math.prod((*torch.broadcast_shapes(*shapes), *whole))  # type: ignore[arg-type]


def _size(s: Any) -> int | None:
    return s if isinstance(s, int) else s.node.hint


def _count(t: torch.Tensor) -> int | None:
    return _size(t.numel())


def _only_for(w: Node, chain: list[Node], copy: Node | None) -> bool:
    """Whether what is read of what `w` writes into is read for what it writes, and not for a later write of its chain.
    (`copy`: the copy at the end, if any.)

    So that it is read before, and no kernel computes something of it anew, afterwards.
    """
    base: Any = w.args[0]
    waiting, seen = [base], {w, copy}
    while waiting:
        for u in waiting.pop().users:
            if u in seen:
                continue
            if u in chain or not isinstance(u.target, torch._ops.OpOverload) or u.target._schema.is_mutable:
                return False
            seen.add(u)
            waiting.append(u)
    return True


def _innermost(w: Node) -> tuple[Node, list[tuple[Any, tuple[Any, ...]]]]:
    """The write into a view of a view ... that `w` is, and the views, the outermost first."""
    views: list[tuple[Any, tuple[Any, ...]]] = []
    while w.target in _VIEWS:
        view, args = _view(w)
        inner: Any = w.args[1]
        if not isinstance(inner, Node) or len(inner.users) != 1 or not _chain(inner):
            break
        part: Any = inner.args[0]
        if not _is_view(part, view, args) or not _same(part.args[0], w.args[0]):
            break
        views.append((view, args))
        w = inner
    return w, views


def _same(a: Any, b: Any) -> bool:
    """Whether two nodes are one, or the same view of the same."""
    while a is not b:
        if a.target is not b.target or not getattr(a.target, "is_view", False) or a.args[1:] != b.args[1:] or a.kwargs:
            return False
        a, b = a.args[0], b.args[0]
    return True


def _view(w: Node) -> tuple[Any, tuple[Any, ...]]:
    """The view that `w` writes into, and its arguments."""
    view = _VIEWS[w.target]
    return view, _full(view, w.args[2:])


def _full(view: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A view's arguments with those that are not given."""
    return (*args, *_DEFAULTS[view][len(args) :])


def _is_view(n: Any, view: Any, args: tuple[Any, ...]) -> bool:
    return n.target is view and not n.kwargs and _full(view, n.args[1:]) == args


def _is(n: Any, whole: Any, views: list[tuple[Any, tuple[Any, ...]]]) -> bool:
    """Whether a node is these views of `whole`."""
    for view, args in reversed(views):
        if not _is_view(n, view, args):
            return False
        n = n.args[0]
    return n is whole


def _write(chain: list[Node]) -> None:
    whole: Any = chain[0].args[0]
    for w in chain:
        inner, views = _innermost(w)
        if inner.target in _VIEWS:
            views.append(_view(inner))
            source: Any = inner.args[1]
            if source.target is _aten.copy.default and len(source.args) == 2:
                source = source.args[1]
            if _is(source, w.args[0], views):  # `x[i] += y` assigns x[i] what it is
                w.replace_all_uses_with(w.args[0])  # type: ignore[arg-type]
                continue
            write, given, named = COPY, (source,), {}
        else:
            write, given, named = _PLACES[inner.target][0], inner.args[1:], dict(inner.kwargs)  # type: ignore[assignment,index]
        with w.graph.inserting_before(w):
            target = Part(tuple(v for v, _ in views), write)
            call = w.graph.call_function(target, (w.args[0], [a for _, a in views], given, named))
        call.meta = {**w.meta, MEMORY: whole}
        w.replace_all_uses_with(call)


__all__ = ["parts_written", "write_parts"]
