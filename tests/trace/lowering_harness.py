"""Trace a function with torch, translate it, interpret the Graph with NumPy, and compare with eager."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from functorch.compile import aot_function, make_boxed_func
from torch.fx import GraphModule, Node

from fusewright.core.dtypes import DType
from fusewright.graph.ir import Unit, Value
from fusewright.interp.graph import evaluate
from fusewright.trace.decompositions import table
from fusewright.trace.fx import Traced, translate
from fusewright.trace.types import TO_TORCH


def to_numpy(t: torch.Tensor) -> np.ndarray:
    t = t.detach()
    return (t.float() if t.dtype is torch.bfloat16 else t).resolve_conj().resolve_neg().numpy()


def to_torch(x: np.ndarray, dtype: DType) -> torch.Tensor:
    return torch.from_numpy(np.array(x)).to(TO_TORCH[dtype])


@dataclass
class Outcome:
    """What the interpreter made of a function: results as eager returns them, and the translation."""

    results: list[Any]
    traced: list[Traced]

    def opaque(self) -> list[Unit]:
        return [u for t in self.traced for u in t.graph.units if u.kind == "torch"]

    def reasons(self) -> list[str]:
        return [f"{u.target}: {u.reason}" for u in self.opaque()]

    def targets(self) -> list[str]:
        return [u.target for t in self.traced for u in t.graph.units if u.kind in ("fused", "view")]


class _Opaque:
    """Runs opaque units with torch, keeping what the Graph has no values for (complex tensors, for one)."""

    def __init__(self, traced: Traced, inputs: Mapping[Node, Any]):
        self.traced = traced
        self.kept: dict[Node, Any] = dict(inputs)

    def __call__(self, unit: Unit, env: Mapping[Value, np.ndarray]) -> Sequence[np.ndarray]:
        node = self.traced.nodes[unit.index]
        got = self.run(node, env)
        self.kept[node] = got
        bound = self.traced.values[node]
        many = zip(bound, got, strict=True) if isinstance(bound, tuple) else [(bound, got)]
        return [to_numpy(t) for v, t in many if isinstance(v, Value)]

    def run(self, node: Node, env: Mapping[Value, np.ndarray]) -> Any:
        args = torch.fx.map_arg(node.args, lambda n: self.look(n, env))
        kwargs = torch.fx.map_arg(node.kwargs, lambda n: self.look(n, env))
        return node.target(*args, **kwargs)  # type: ignore[operator]

    def look(self, node: Node, env: Mapping[Value, np.ndarray]) -> Any:
        v = self.traced.values.get(node)
        if isinstance(v, Value):
            return to_torch(env[v], v.dtype)
        if isinstance(v, tuple) and all(isinstance(x, Value) for x in v):
            return tuple(to_torch(env[x], x.dtype) for x in v)
        if node not in self.kept:
            self.kept[node] = self.run(node, env)
        return self.kept[node]


class Compiler:
    """A compiler for AOTAutograd that interprets what it is given."""

    def __init__(self, **options: Any):
        self.options = options
        self.traced: list[Traced] = []

    def __call__(self, gm: GraphModule, example: Sequence[Any]) -> Callable[..., Any]:
        traced = translate(gm, **self.options)
        self.traced.append(traced)

        def run(args: list[Any]) -> list[Any]:
            given = list(args)
            args.clear()
            return execute(traced, given)

        return make_boxed_func(lambda *args: run(list(args)))

    def wrap(self, f: Callable[..., Any], dynamic: bool = False) -> Callable[..., Any]:
        """f, compiled by this; differentiable."""
        return aot_function(f, self, self, decompositions=table(), dynamic=dynamic)


def execute(traced: Traced, args: Sequence[Any]) -> list[Any]:
    """Run a translated graph on torch tensors."""
    known: dict[Node, Any] = {}
    arrays: list[np.ndarray] = []
    symbols: dict[Any, int] = {}
    given = iter(args)
    for node in traced.module.graph.nodes:
        if node.op == "placeholder":
            known[node] = next(given)
            val = node.meta.get("val")
            if isinstance(val, torch.Tensor):
                pairs = list(zip(val.shape, known[node].shape, strict=True))
            else:
                pairs = [(val, known[node])]
            for size, n in pairs:
                if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                    symbols[size.node.expr] = int(n)
        elif node.op == "get_attr":
            known[node] = getattr(traced.module, node.target)
        else:
            continue
        if isinstance(traced.values[node], Value):
            arrays.append(to_numpy(known[node]))
    sizes = {str(s): n for s, n in symbols.items()}
    sizes |= {name: int(e.subs(symbols)) for name, e in traced.symbols.sources.items()}
    runner = _Opaque(traced, known)
    env = evaluate(traced.graph, arrays, sizes, opaque=runner)
    return [restrided(n, runner.look(n, env)) if isinstance(n, Node) else n for n in traced.outputs]


def restrided(node: Node, t: Any) -> Any:
    """A result with the strides that the traced program gives it."""
    val = node.meta.get("val")
    if not isinstance(t, torch.Tensor) or not all(isinstance(s, int) and s > 0 for s in val.stride()):
        return t
    return torch.empty_strided(t.shape, val.stride(), dtype=t.dtype).copy_(t)


def interpret(f: Callable[..., Any], args: Sequence[Any], dynamic: bool = False, **options: Any) -> Outcome:
    """f's results by way of AOTAutograd and the Graph. `options` are `translate`'s."""
    compiler = Compiler(**options)
    results = tensors_of(compiler.wrap(f, dynamic)(*args))
    return Outcome(results, compiler.traced)


def tensors_of(out: Any) -> list[torch.Tensor]:
    if isinstance(out, torch.Tensor):
        return [out]
    return [t for o in out for t in tensors_of(o)] if isinstance(out, (list, tuple)) else []


TOLERANCE = {torch.bfloat16: 2e-2, torch.float16: 3e-3, torch.float32: 3e-5, torch.float64: 1e-9}


def compare(got: Sequence[Any], want: Sequence[torch.Tensor], scale: float = 1.0) -> None:
    """Same shapes and dtypes; values close, NaN and infinities alike."""
    assert len(got) == len(want), f"{len(got)} results for {len(want)}"
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape, f"{g.dtype}{g.shape} for {w.dtype}{w.shape}"
        tol = TOLERANCE.get(w.dtype, 0) * scale
        torch.testing.assert_close(g, w, rtol=tol, atol=tol, equal_nan=True)


def check(
    f: Callable[..., Any], *args: torch.Tensor, fused: bool = True, scale: float = 1.0, **options: Any
) -> Outcome:
    """f by way of the Graph agrees with eager; with `fused`, nothing stayed opaque."""
    want = tensors_of(f(*args))
    out = interpret(f, args, **options)
    compare(out.results, want, scale)
    if fused:
        assert not out.opaque(), out.reasons()
    return out
