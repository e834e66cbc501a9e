"""Random operations: one draw of seeds from PyTorch's generator, then a pure function of (seed, element).

`fusewright::seeds(n, device)` draws n 64-bit seeds from the device's default generator (so `torch.manual_seed`
reproduces, and the generator's state advances once per call of the graph). `fusewright::random(seeds, i, shape, kind,
dtype)` is pure: the partitioner may recompute it in the backward pass instead of saving masks.

With the option rng="eager" random operations stay PyTorch's own, or on a GPU draw the same numbers
(`eager_random.py`): kinds curand_*, where four of the seeds are the state of a draw (prims/curand.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from ..core.dtypes import u32
from ..graph.ir import Value
from ..run import devices
from ..run.random_ops import RANDOM, SEEDS, fake_seeds
from . import distributions
from .eager_strides import dropout_backward
from .lowering.registry import Context, lower

aten = torch.ops.aten


@lower(RANDOM)
def _lower_random(ctx: Context, seeds: Value, index: int, size: Any, kind: str, dtype: torch.dtype) -> Value:
    drawn = ctx.b.random(seeds, index, ctx.shape, kind, u32 if kind == "bits" else ctx.dtype)
    return ctx.b.cast(drawn, ctx.dtype)


def _native_dropout(x: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
    """As ATen's native_dropout_cpu, on a uniform draw: keep where u >= p, scale by 1 / (1 - p)."""
    if train is False or p == 0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    if p == 1:
        return nothing_kept(x)
    keep = aten.rand.default(x.shape, dtype=torch.float32, device=x.device) >= p
    return x * keep * (1.0 / (1.0 - p)), keep


def nothing_kept(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What `torch.dropout` is with p=1, which draws no numbers, and its mask."""
    return x * 0.0, torch.zeros_like(x, dtype=torch.bool)


def _bernoulli(x: torch.Tensor, p: Any = None, generator: Any = None) -> torch.Tensor:
    if generator is not None:
        return NotImplemented
    # a probability that is none raises in eager: of a tensor on a CPU that is known when it is looked at
    if x.device.type == "cpu" if p is None else not 0 <= p <= 1:
        return NotImplemented
    u = aten.rand.default(x.shape, dtype=torch.float32, device=x.device)
    return (u < (x if p is None else p)).to(x.dtype)


@cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    """Decompositions that turn composite random operators into `aten.rand` and arithmetic."""
    return {
        aten.native_dropout.default: _native_dropout,
        aten.native_dropout_backward.default: dropout_backward,
        aten.bernoulli.p: lambda x, p=0.5, *, generator=None: _bernoulli(x, p, generator),
        aten.bernoulli.default: lambda x, *, generator=None: _bernoulli(x, None, generator),
        **distributions.DECOMPOSITIONS,
    }


_KINDS = {
    aten.rand.default: "uniform",
    aten.rand_like.default: "uniform",
    aten.randn.default: "normal",
    aten.randn_like.default: "normal",
    aten.randint.low: "bits",
}
_TYPES = (torch.float32, torch.float16, torch.bfloat16)


def replace_random(gm: GraphModule) -> None:
    """Replace draws from the global generator by streams of `fusewright::random`, in place."""
    graph: Graph = gm.graph
    draws = [n for n in graph.nodes if n.op == "call_function" and n.target in _KINDS and _replaceable(n)]
    if not draws:
        return
    for device in dict.fromkeys(n.meta["val"].device for n in draws):
        _replace(graph, [n for n in draws if n.meta["val"].device == device], device)
    graph.lint()
    gm.recompile()


def _replace(graph: Graph, draws: list[Node], device: torch.device) -> None:
    """Replace draws on one device."""
    with torch._guards.detect_fake_mode([n.meta.get("val") for n in draws]):  # type: ignore[union-attr]
        drawn = fake_seeds(len(draws), device)
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    first = placeholders[-1].next if placeholders else next(iter(graph.nodes))
    with graph.inserting_before(first):
        seeds = graph.call_function(SEEDS, (len(draws), device))
        seeds.meta["val"] = drawn
    for k, n in enumerate(draws):
        val = n.meta["val"]
        with graph.inserting_before(n):
            given: Any = n.args[2 if n.target is aten.randint.low else 0]
            size = list(given.meta["val"].shape if isinstance(given, Node) else given)
            new = graph.call_function(RANDOM, (seeds, k, _sizes(graph, n, size), _KINDS[n.target], val.dtype))  # type: ignore[index]
        new.meta = dict(n.meta)
        n.replace_all_uses_with(new)
        graph.erase_node(n)


def _replaceable(n: Node) -> bool:
    val = n.meta.get("val")
    return (
        isinstance(val, torch.Tensor)
        and (val.dtype in _TYPES if n.target is not aten.randint.low else _is_word(n))
        and not devices.unsupported(val.device)
        and val.is_contiguous()
        and n.kwargs.get("generator") is None
    )


def _is_word(n: Node) -> bool:
    """Whether it is 32 bits, as `distributions.py` draws them."""
    return n.args[:2] == (0, distributions.WORD) and n.meta["val"].dtype is torch.int64


def _sizes(graph: Graph, n: Node, size: list[Any]) -> list[Any]:
    """Symbolic sizes as nodes: `rand_like(x)` has none, so they are asked of x."""
    out: list[Any] = []
    for d, s in enumerate(size):
        if isinstance(s, torch.SymInt):
            node = graph.call_function(aten.sym_size.int, (n.args[0], d))
            node.meta["val"] = s
            out.append(node)
        else:
            out.append(s)
    return out
