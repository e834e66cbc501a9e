"""A definition as an operator of torch, for whoever traces programs: Dynamo, exports, fake tensors.

There is one for each definition as it is written (`digest`): `fusewright::defined_<digest>`. It takes the arguments in
their order and gives the results that are not written into arguments, each in memory of its own, as torch asks of
operators: what a call of the definition itself returns as a view is a copy here. Without a formula for its gradients
(`_Backward`), arguments that require one are an error, in a trace as in a call.
"""

from __future__ import annotations

import copy
import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from ..core.errors import UserError
from ..graph.defined import Defined
from ..graph.text import dump
from ..index.layout import row_major
from ..run.launch import restride, returned
from .calling import Checks, python_type
from .types import TO_TORCH

NAMESPACE = "fusewright"
_lib = torch.library.Library(NAMESPACE, "FRAGMENT")
_lock = threading.Lock()
_known: dict[str, Any] = {}  # name -> what computes its gradients


def digest(d: Defined, device: torch.device) -> str:
    """A name for what a definition says; the lines where it is written are no part of it."""
    bare = copy.copy(d.graph)
    bare.units = [replace(u, where="") for u in d.graph.units]
    text = "\n".join([d.name, str(device), *map(str, d.arguments), *map(str, d.results), dump(bare)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def schema(d: Defined) -> str:
    """Arguments and results of the operator, as `torch.library` has them."""
    written = {r.into for r in d.results if r.into}
    kinds = {float: "float", int: "SymInt", bool: "bool"}
    takes = []
    for k, a in enumerate(d.arguments):
        if a.kind == "tensor":
            takes.append(f"Tensor({chr(97 + k % 26) + str(k)}!) a{k}" if a.name in written else f"Tensor a{k}")
        else:
            takes.append(f"{'SymInt' if a.dtype is None else kinds[python_type(a.dtype)]} a{k}")
    fresh = sum(not r.into for r in d.results)
    gives = "Tensor" if fresh == 1 else f"({', '.join(['Tensor'] * fresh)})"
    return f"({', '.join(takes)}) -> {gives}"


def register(
    checks: Checks, run: Callable[..., Any], device: torch.device, backward: Callable[..., Any] | None = None
) -> str:
    """The name of a definition's operator, in `torch.ops.fusewright`; made if it is new.

    run: calls the definition; device: where results are made if no argument is a tensor; backward: a function of
    (gradients, arguments, results) that gives the gradients of all arguments that are tensors.
    """
    d = checks.defined
    name = f"defined_{digest(d, device)}{'_with_gradients' * (backward is not None)}"
    with _lock:
        while name in _known and _known[name] != backward:
            name += "_"
        if name in _known:
            return name
        tags = [torch.Tag.pt2_compliant_tag]
        if any(u.kind == "torch" for u in checks.graph.units):  # seeds
            tags.append(torch.Tag.nondeterministic_seeded)
        _lib.define(name + schema(d), tags=tuple(tags))
        op = getattr(getattr(torch.ops, NAMESPACE), name).default
        _lib.impl(name, _Real(checks, run), "CompositeExplicitAutograd")
        torch.library.register_fake(f"{NAMESPACE}::{name}", _Fake(checks, device), lib=_lib)
        if backward is None:
            _lib.impl(name, _Below(checks, op), "Autograd")
        else:
            formula = _Backward(checks, backward)
            torch.library.register_autograd(f"{NAMESPACE}::{name}", formula, setup_context=formula.keep, lib=_lib)
        _known[name] = backward
    return name


def _layout(d: Defined, env: Any) -> list[tuple[tuple[Any, ...], tuple[Any, ...], torch.dtype]]:
    """(shape, strides, type) of each result that is new."""
    out = []
    for r in d.results:
        if not r.into:
            strides = row_major(r.value.shape) if r.layout is None else r.layout.of(r.value.shape)
            shape = tuple(n.evaluate(env) for n in r.value.shape)
            out.append((shape, tuple(s.evaluate(env) for s in strides if s is not None), TO_TORCH[r.value.dtype]))
    return out


class _Real:
    """Calls the definition."""

    def __init__(self, checks: Checks, run: Callable[..., Any]):
        self.checks, self.run = checks, run

    def __call__(self, *args: Any) -> Any:
        d = self.checks.defined
        out = self.run(*args)
        taken = {t.untyped_storage()._cdata for t in args if isinstance(t, torch.Tensor)}
        env = self.checks.sizes({a.name: x for a, x in zip(d.arguments, args, strict=True)})
        results = []
        fresh = [t for r, t in zip(d.results, out if len(d.results) > 1 else [out], strict=True) if not r.into]
        for t, (_, strides, _) in zip(fresh, _layout(d, env), strict=True):
            if t.untyped_storage()._cdata in taken:
                t = torch.empty_strided(t.shape, strides, dtype=t.dtype, device=t.device).copy_(t)
            t = restride(t, strides)
            taken.add(t.untyped_storage()._cdata)
            results.append(t)
        return returned(results)


class _Fake:
    """Shapes and strides of the results."""

    def __init__(self, checks: Checks, device: torch.device):
        self.checks, self.device = checks, device

    def __call__(self, *args: Any) -> Any:
        c = self.checks
        d = c.defined
        given = {a.name: x for a, x in zip(d.arguments, args, strict=True)}
        device = next((given[a.name].device for a in d.tensors), self.device)
        for a in d.tensors:
            c.kind(a, given[a.name])
        env: dict[str, Any] = {}
        for b in c.bindings:
            x = given[b.argument]
            have = x if not b.what else x.size(b.dim) if b.what == "size" else x.stride(b.dim)
            env[b.symbol] = (have - b.rest.evaluate(env)) // b.factor
        for a in d.tensors:
            assert a.value is not None
            for k, n in enumerate(a.value.shape):
                have = given[a.name].size(k)
                _must(have == n.evaluate(env), c, f"{a.name} has extent {have} in dimension {k}, declared {n}")
        return returned(
            [torch.empty_strided(s, steps, dtype=dtype, device=device) for s, steps, dtype in _layout(d, env)]
        )


def _must(holds: Any, c: Checks, what: str) -> None:
    torch._check(holds, lambda: str(c.fail(what)))


class _Below:
    """Refuses what would need a gradient; all else runs below autograd."""

    def __init__(self, checks: Checks, op: Any):
        self.checks, self.op = checks, op

    def __call__(self, *args: Any) -> Any:
        self.checks.gradients({a.name: x for a, x in zip(self.checks.defined.arguments, args, strict=True)})
        with torch._C._AutoDispatchBelowAutograd():
            return self.op(*args)


class _Backward:
    """The formula of an operator's gradients: keeps arguments and results, and calls what the user gave."""

    def __init__(self, checks: Checks, backward: Callable[..., Any]):
        self.checks, self.backward = checks, backward

    def keep(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        results = list(output) if isinstance(output, (tuple, list)) else [output]
        ctx.mark_non_differentiable(*(t for t in results if not (t.is_floating_point() or t.is_complex())))
        ctx.save_for_backward(*(x for x in inputs if isinstance(x, torch.Tensor)), *results)
        ctx.numbers = [x for x in inputs if not isinstance(x, torch.Tensor)]
        ctx.count = len(results)

    def __call__(self, ctx: Any, *grads: Any) -> tuple[Any, ...]:
        d = self.checks.defined
        saved, numbers = iter(ctx.saved_tensors), iter(ctx.numbers)
        inputs = [next(saved) if a.kind == "tensor" else next(numbers) for a in d.arguments]
        found = self.backward(grads, tuple(inputs), tuple(saved))
        out = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(out) != len(d.tensors):
            raise self.checks.fail(f"its backward gives {len(out)} gradients, for {len(d.tensors)} tensors")
        given = iter(out)
        return tuple(next(given) if a.kind == "tensor" else None for a in d.arguments)


class Backward:
    """A definition as what computes another one's gradients."""

    def __init__(self, forward: Defined, definition: Any):
        self.forward, self.definition = forward, definition
        floats = sum(self._floating())
        takes, gives = definition.finish()._defined.arguments, definition._defined.results
        count = 2 * len(forward.results) + len(forward.arguments)
        if len(takes) != count:
            raise UserError(
                f"{definition.name}: it must take {count} arguments, not {len(takes)}: the gradients, arguments and "
                f"results of {forward.name}"
            )
        if len(gives) != floats:
            raise UserError(f"{definition.name}: it must have {floats} results, one for each floating-point tensor")

    def _floating(self) -> list[bool]:
        return [a.value is not None and a.value.dtype.kind == "f" for a in self.forward.tensors]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Backward) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(str(self.definition))

    def _facts(self) -> tuple[Any, ...]:
        d = self.definition
        return str(d), str(d.device), d._backward

    def __call__(self, grads: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        out = self.definition(*grads, *inputs, *outputs)
        found = iter(out if isinstance(out, tuple) else (out,))
        return [next(found) if floating else None for floating in self._floating()]


__all__ = ["Backward", "digest", "register", "schema"]
