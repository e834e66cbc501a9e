"""Option rng="eager" on GPUs: random operations whose numbers are those of PyTorch's own CUDA kernels.

A draw of eager is a function of the generator's seed and offset, of the number of elements, and of facts of the device
(prims/curand.py). `fusewright::eager_states` takes seed and offset where the program draws, moves the offset on as
eager does, and returns for each of several draws the four numbers of its state, on the device. What then makes the
numbers is `fusewright::random`, which is pure: a mask is drawn again in the backward pass. The order among all random
operations, PyTorch's own included, is that of the program, so that every later draw is eager's, too.

Replaced are dropout, and uniform and normal numbers in types that cuRAND draws in float32. Everything else stays
PyTorch's, with its numbers. So do draws in a backward pass, and layouts whose order of elements depends on addresses.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from typing import Any

import numpy as np
import torch
from torch.fx import Graph, GraphModule, Node

from ..prims import curand
from ..run import devices
from ..run.eager_states import STATES
from ..schedule.device import Gpu
from .eager_strides import dropout_backward
from .effects import effectful
from .random import RANDOM, nothing_kept

aten = torch.ops.aten

_HIGHEST = (1 << 31) - 1  # bytes that eager's kernels for random numbers address; they split what is larger


def _native_dropout(x: torch.Tensor, p: float, train: bool | None) -> Any:
    """With p=1, where `torch.dropout` draws nothing, though the operator that torch traces it to does on CPUs."""
    return nothing_kept(x) if p == 1 and train is not False else NotImplemented


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Decompositions under rng="eager"; what is drawn is replaced later, by `replace_random`."""
    return {aten.native_dropout_backward.default: dropout_backward, aten.native_dropout.default: _native_dropout}


@dataclass(slots=True)
class _Draw:
    """A random operation that is replaced. `lanes`, `operand`, `offset`: see `_states`.

    `value`: what its numbers are strided as; `order`: its dimensions as they are in memory, if not in their own order.
    `make(write, numbers)` writes what makes the operation's results of numbers in its shape, a node for each.
    """

    node: Node
    value: torch.Tensor
    kind: str
    make: Callable[[_Write, Node], list[Node]]
    lanes: int = 1
    operand: Node | None = None
    offset: int = 0
    order: list[int] | None = None


@dataclass(slots=True)
class _Batch:
    """Draws whose states are taken together, by `states`. `columns`: of its first arguments."""

    states: Node
    columns: tuple[list[Any], ...] = field(default_factory=lambda: ([], [], [], [], []))


def gpu_of(device: torch.device) -> Gpu | None:
    """The GPU whose generator draws for tensors of `device`, if it makes kernels, too; else None."""
    if device.type != "cuda" or devices.unsupported(device):
        return None
    driver = devices.driver_for(device)
    return None if driver is None else driver.gpu


def replace_random(gm: GraphModule) -> None:
    """Replace draws from a GPU's generator by states and functions of them, in place."""
    batches: dict[torch.device, _Batch] = {}
    found = False
    for n in list(gm.graph.nodes):
        if n.op != "call_function":
            continue
        d = _draw(n)
        if d is not None:
            batch = _Write(gm.graph, n).replace(d, batches.get(d.value.device))
            if batch is not None:
                batches[d.value.device] = batch
                found = True
                continue
        if effectful(n):
            batches.clear()
    if found:
        gm.graph.lint()
        gm.recompile()


class _Write:
    """Writes what takes the place of one random operation, before it."""

    def __init__(self, graph: Graph, at: Node):
        self.graph = graph
        self.at = at
        self.fake = torch._guards.detect_fake_mode([at.meta.get("val")])
        self.made: list[Node] = []

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Node:
        """A call before the operation, with what it gives for fake tensors."""

        def value(a: Any) -> Any:
            if isinstance(a, (list, tuple)):
                return [value(x) for x in a]
            return a.meta["val"] if isinstance(a, Node) else a

        assert self.fake is not None
        with self.fake:
            val = target(*(value(a) for a in args), **kwargs)
        with self.graph.inserting_before(self.at):
            node = self.graph.call_function(target, args, kwargs)
        node.meta = {**self.at.meta, "val": val}
        node.meta.pop("tensor_meta", None)
        self.made.append(node)
        return node

    def replace(self, d: _Draw, batch: _Batch | None) -> _Batch | None:
        """The batch with the draw in it: `batch`, or a new one where the number of elements is a symbol.

        None, with nothing changed, if the results would be strided in another way.
        """
        sizes = [self.extent(d, k) for k in d.order or range(d.value.dim())]
        numel = reduce(lambda a, b: self.call(operator.mul, a, b), sizes) if _symbolic(sizes) else d.value.numel()
        if batch is None or isinstance(numel, Node):
            batch = _Batch(self.call(STATES, [0], [1], [1], [None], [0], 1, d.value.device))
            batch.states.meta = {"val": batch.states.meta["val"]}  # it draws once, whatever is computed again
        drawn = self.call(RANDOM, batch.states, len(batch.columns[0]), sizes, d.kind, torch.float32)
        if d.order is not None:
            drawn = self.back(drawn, d.order)
        before = d.node.meta["val"]
        wanted = before if isinstance(before, (list, tuple)) else [before]
        if _known(wanted[0]) and drawn.meta["val"].stride() != wanted[0].stride() and (to := _in_memory(wanted[0])):
            turned = self.call(aten.permute.default, drawn, to)
            drawn = self.back(self.call(aten.clone.default, turned, memory_format=torch.contiguous_format), to)
        results = d.make(self, drawn)
        if any(r.meta["val"].stride() != w.stride() for r, w in zip(results, wanted, strict=True)):
            for n in reversed(self.made):
                self.graph.erase_node(n)
            return None
        row = (numel, d.lanes, d.value.element_size(), d.operand, d.offset)
        for column, x in zip(batch.columns, row, strict=True):
            column.append(x)
        gpu = gpu_of(d.value.device)
        assert gpu is not None and self.fake is not None
        states, blocks = batch.states, gpu.sms * (gpu.threads // curand.BLOCK)
        states.args = (*(list(c) for c in batch.columns), blocks, d.value.device)  # type: ignore[assignment]
        with self.fake:
            states.meta["val"] = torch.empty((4 * len(batch.columns[0]),), dtype=torch.int64, device=d.value.device)
        self.put(d.node, results)
        return batch

    def back(self, x: Node, order: list[int]) -> Node:
        """What has been permuted by `order`, as it was."""
        return self.call(aten.permute.default, x, [order.index(k) for k in range(len(order))])

    def extent(self, d: _Draw, k: int) -> Any:
        """A size: a number, or a node."""
        size = d.value.shape[k]
        if isinstance(size, int):
            return size
        source = d.node.args[0]
        return self.call(aten.sym_size.int, source, k) if isinstance(source, Node) else source[k]  # type: ignore[index]

    def put(self, node: Node, results: list[Node]) -> None:
        if isinstance(node.meta["val"], torch.Tensor):
            node.replace_all_uses_with(results[0])
        else:
            for user in list(node.users):  # each takes one of the results
                user.replace_all_uses_with(results[int(user.args[1])])  # type: ignore[arg-type]
                self.graph.erase_node(user)
        self.graph.erase_node(node)


def _symbolic(sizes: Sequence[Any]) -> bool:
    return any(isinstance(s, Node) for s in sizes)


# --- operations ------------------------------------------------------------------------------------


def _draw(n: Node) -> _Draw | None:
    """How `n` is replaced; None: it is not."""
    make = _OPERATIONS.get(n.target)
    if make is None or n.meta.get("partitioner_tag") == "is_backward" or n.kwargs.get("generator") is not None:
        return None
    val = n.meta.get("val")
    first = val[0] if isinstance(val, (list, tuple)) else val
    if not isinstance(first, torch.Tensor) or not first.dtype.is_floating_point or gpu_of(first.device) is None:
        return None
    if isinstance(first.numel(), int) and first.numel() == 0:
        return None
    return make(n, first)


def _arguments(n: Node, *names: str) -> list[Any]:
    """The arguments of these names, given or by default."""
    assert isinstance(n.target, torch._ops.OpOverload)
    out = []
    for name in names:
        k, a = next((k, a) for k, a in enumerate(n.target._schema.arguments) if a.name == name)
        out.append(n.args[k] if k < len(n.args) else n.kwargs.get(name, a.default_value))
    return out


def _known(x: torch.Tensor) -> bool:
    """Whether all sizes and strides are numbers."""
    return not any(isinstance(s, torch.SymInt) for s in (*x.shape, *x.stride()))


def _in_memory(x: torch.Tensor) -> list[int] | None:
    """The dimensions in their order in memory, where elements fill it without gaps or overlaps; None: they do not."""
    order = sorted(range(x.dim()), key=lambda k: (-x.stride()[k], k))
    step = 1
    for k in reversed([k for k in order if x.shape[k] != 1]):
        if x.stride(k) != step:
            return None
        step *= x.shape[k]
    return order


def _numbers(n: Node, x: torch.Tensor, kind: str, make: Callable[[_Write, Node], Node]) -> _Draw | None:
    """Numbers for their own sake, one for each element in the order of memory."""
    last = x.numel() * x.element_size()
    if isinstance(last, torch.SymInt):
        last = last.node.hint
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16) or last is None or last > _HIGHEST:
        return None
    order = None
    if not x.is_contiguous():
        order = _in_memory(x) if _known(x) else None
        if order is None:
            return None
    return _Draw(n, x, kind, lambda w, u: [make(w, u)], order=order)


def _like_operand(n: Node) -> bool:
    """Whether numbers that overwrite an operand are strided like it: else, eager walks over them in another order."""
    source = n.args[0]
    return isinstance(source, Node) and bool(source.meta["val"].is_contiguous())


def _rand(n: Node, x: torch.Tensor) -> _Draw | None:
    def make(w: _Write, u: Node) -> Node:
        if x.dtype is not torch.float32:
            u = w.call(aten._to_copy.default, u, dtype=x.dtype)
        return w.call(aten.mul.Tensor, u, w.call(aten.ne.Scalar, u, 1.0))  # (0, 1], and 0 for 1

    return _numbers(n, x, "curand_uniform", make)


def _randn(n: Node, x: torch.Tensor) -> _Draw | None:
    def make(w: _Write, u: Node) -> Node:
        return u if x.dtype is torch.float32 else w.call(aten._to_copy.default, u, dtype=x.dtype)

    return _numbers(n, x, "curand_normal", make)


def _uniform(n: Node, x: torch.Tensor) -> _Draw | None:
    return _rand(n, x) if _arguments(n, "from", "to") == [0, 1] and _like_operand(n) else None


def _normal(n: Node, x: torch.Tensor) -> _Draw | None:
    return _randn(n, x) if _arguments(n, "mean", "std") == [0, 1] and _like_operand(n) else None


def _bernoulli(n: Node, x: torch.Tensor) -> _Draw | None:
    (p,) = _arguments(n, "p")
    if not isinstance(p, (int, float)) or not 0 <= p <= 1 or not _like_operand(n):
        return None
    limit = float(np.float32(p))

    def make(w: _Write, u: Node) -> Node:
        return w.call(aten._to_copy.default, w.call(aten.lt.Scalar, u, limit), dtype=x.dtype)

    return _numbers(n, x, "curand_uniform", make)


def _dropout(n: Node, out: torch.Tensor) -> _Draw | None:
    operand, p, train = _arguments(n, "input", "p", "train")
    x = operand.meta["val"]
    if train is False or not isinstance(p, (int, float)) or p == 1 or x.dtype not in _WIDTHS:
        return None
    size = x.element_size()
    base, at = _memory(operand)
    start = at * size if isinstance(at, int) else None
    lanes, order = _WIDTHS[x.dtype], None
    if not x.is_contiguous():
        if not _known(x):
            return None
        dense = _in_memory(x)
        lanes = curand.width(x.numel(), lanes, start or 0, size) if dense is not None else 1
        if lanes > 1:  # in the order of memory, if its address allows vectors; else in that of indices
            order = dense
            if base is not None:
                return None
    if start is None and lanes > 1:
        return None
    double = x.dtype is torch.float64
    keep = 1.0 - p if double else float(np.float32(1.0 - p))
    scale = 1.0 / keep if double else float(np.float32(1.0 / keep))

    def make(w: _Write, u: Node) -> list[Node]:
        if double:
            u = w.call(aten._to_copy.default, u, dtype=torch.float64)
        mask = w.call(aten.lt.Scalar, u, keep)
        return [w.call(aten.mul.Tensor, w.call(aten.mul.Tensor, operand, mask), scale), mask]

    return _Draw(n, x, "curand_uniform", make, lanes, base if lanes > 1 else None, start or 0, order)


_WIDTHS = {torch.float32: 4, torch.float64: 2, torch.float16: 8, torch.bfloat16: 8}  # elements in 16 bytes


def _memory(n: Node) -> tuple[Node | None, Any]:
    """The graph input in whose memory a tensor lies, and by how many elements it begins later.

    None: in memory of its own, which begins at an aligned address.
    """
    offset = n.meta["val"].storage_offset()
    while n.op == "call_function":
        if n.target is operator.getitem:
            n = n.args[0]  # type: ignore[assignment]
            continue
        returns = n.target._schema.returns if isinstance(n.target, torch._ops.OpOverload) else ()
        if not any(r.alias_info is not None for r in returns) or not isinstance(n.args[0], Node):
            return None, offset
        n = n.args[0]
    return n, offset - n.meta["val"].storage_offset()


_OPERATIONS: dict[Any, Callable[[Node, torch.Tensor], _Draw | None]] = {
    aten.native_dropout.default: _dropout,
    aten.rand.default: _rand,
    aten.rand_like.default: _rand,
    aten.randn.default: _randn,
    aten.randn_like.default: _randn,
    aten.uniform.default: _uniform,
    aten.normal_functional.default: _normal,
    aten.bernoulli.p: _bernoulli,
}
