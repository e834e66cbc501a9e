"""Second derivatives: what a node's backward pass gave under `create_graph=True`, differentiated again.

The gradients themselves are computed by the compiled backward pass. When they are differentiated, forward and backward
pass are run again by torch, one operation after the other, with gradients recorded (`steps.py`): the backward pass of
what was saved for it, and of the forward pass what makes saved intermediates of arguments and results, whose history
autograd knows. Values are those that were saved, so that nothing depends on how torch rounds, and random numbers are
those of the same seeds. What that gives is differentiated by autograd, any number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import Function

from . import steps
from .steps import Steps

Backward = Callable[[list[Any]], list[Any]]


class Root(Function):
    """An empty tensor with the history of an argument: a root of `raising`, without the argument's memory."""

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return x.new_empty(0)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is needed."""

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:  # type: ignore[override]
        return None


class Valued(Function):
    """A value that was saved, with the history of one that was computed again."""

    generate_vmap_rule = True

    @staticmethod
    def forward(again: torch.Tensor, saved: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return saved.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is needed."""

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:  # type: ignore[override]
        return grad, None


class FromResult(Function):
    """A value that was saved, as the result of an operation on `x` whose derivative is a function of that result."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor, saved: torch.Tensor, formula: Any) -> torch.Tensor:  # type: ignore[override]
        return saved.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output)
        ctx.formula = inputs[2]

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:  # type: ignore[override]
        (y,) = ctx.saved_tensors
        return ctx.formula(grad, y), None, None


_aten = torch.ops.aten
# Operators whose derivative is a function of their result: of the gradient and that.
FROM_RESULT: dict[Any, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    _aten.exp.default: lambda g, y: g * y,
    _aten.tanh.default: lambda g, y: g * (1 - y * y),
    _aten.sigmoid.default: lambda g, y: g * (y * (1 - y)),
    _aten.relu.default: lambda g, y: torch.where(y > 0, g, 0),
    _aten.sqrt.default: lambda g, y: g / (2 * y),
    _aten.rsqrt.default: lambda g, y: -0.5 * g * y**3,
    _aten.reciprocal.default: lambda g, y: -g * (y * y),
}


def with_value(formula: Any, undo: tuple[Any, ...]) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """A function of a value that was computed again, and of what was saved of it: the latter, with history.

    With a `formula` of `FROM_RESULT`, the first is an operand. `undo`: which views to undo in what was saved, from the
    last one on: an order of dimensions, or "reshape" to the shape that there was.
    """

    def call(again: torch.Tensor, saved: torch.Tensor) -> torch.Tensor:
        shape = again.shape
        for step in reversed(undo):  # from the first view on, up to the one that reshapes
            if step == "reshape":
                break
            inverse = sorted(range(len(step)), key=lambda d, step=step: step[d])  # type: ignore[misc]
            shape = torch.Size([shape[d] for d in inverse])
        for step in undo:
            saved = saved.reshape(shape) if step == "reshape" else saved.permute(step)
        return Valued.apply(again, saved) if formula is None else FromResult.apply(again, saved, formula)  # type: ignore[no-any-return]

    return call


@dataclass(frozen=True, slots=True)
class Second:
    """How the second derivative of a function is computed.

    `backward`: the backward pass, of its arguments in their order; `forward`: makes the arguments `known`, which are
    intermediates of the forward pass, of `sources`: ("arg", k), argument k of the backward pass; ("size", k, d), an
    extent of it; ("leaf", j, k), input j of the forward pass among those that are tensors. That is a leaf, of which
    argument k is a view; or k is None, and its value does not matter. `linked`: arguments whose history autograd is to
    know. `depends`: for each gradient, the arguments that it depends on.
    """

    backward: Steps
    forward: Steps | None
    sources: tuple[tuple[Any, ...], ...]
    known: tuple[int, ...]
    linked: tuple[int, ...]
    depends: tuple[frozenset[int], ...]

    def leaves(self, ctx: Any, args: Sequence[Any]) -> list[torch.Tensor] | None:
        """The leaves among `sources`, from the edges of a node; None if one is no leaf, or not what it was."""
        found = []
        for s in self.sources:
            if s[0] == "leaf":
                leaf = getattr(ctx.next_functions[s[1]][0], "variable", None)
                # memory that is shared with a saved tensor has not been written to: its version was looked at
                if leaf is None or (s[2] is not None and not _same_memory(leaf, args[s[2]])):
                    return None
                found.append(leaf)
        return found

    def again(self, args: Sequence[Any], leaves: Sequence[torch.Tensor]) -> list[Any]:
        """The gradients, as torch computes and records them."""
        args = list(args)
        if self.forward is not None:
            left = iter(leaves)
            made = self.forward([self.source(s, args, left) for s in self.sources])
            for k, t in zip(self.known, made, strict=True):
                args[k] = t
        return self.backward(args)

    def source(self, s: tuple[Any, ...], args: Sequence[Any], leaves: Any) -> Any:
        if s[0] == "leaf":
            return next(leaves)
        return args[s[1]] if s[0] == "arg" else args[s[1]].shape[s[2]]


def twice(second: Second | None, why: str, curved: bool) -> Callable[[Backward, list[Any], Any], Sequence[Any]]:
    """What a node calls for its backward pass under create_graph=True, with that, its arguments and the node.

    `why`: what there is in place of a `Second`; `curved`: see `NodeShape`.
    """

    def call(backward: Backward, args: list[Any], ctx: Any) -> Sequence[Any]:
        if not curved and not any(isinstance(a, torch.Tensor) and a.requires_grad for a in args):
            with torch.no_grad():
                return backward(args)
        if second is None:
            return delayed(backward, args, ctx, why)
        leaves = second.leaves(ctx, args)
        if leaves is None or not all(args[k].requires_grad for k in second.linked):
            return delayed(backward, args, ctx, "an argument that is needed for that is not saved")
        batched = steps.bare(*(a for a in args if isinstance(a, torch.Tensor)))
        if batched or torch._C._are_functorch_transforms_active():
            with torch._C._DisableAutocast():
                return second.again(args, leaves)
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        numbers = [None if isinstance(a, torch.Tensor) else a for a in args]
        args.clear()
        out: Sequence[Any] = _Again.apply(second, backward, numbers, leaves, *tensors, *leaves)
        return out

    return call


class _Again(Function):
    """Gradients of the compiled backward pass; their gradients are those of `Second.again`."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, second: Second, backward: Backward, numbers: list[Any], leaves: list[Any], *tensors: torch.Tensor
    ) -> Any:
        ctx.second, ctx.numbers, ctx.leaves = second, numbers, leaves  # whose values do not matter, or are saved
        ctx.save_for_backward(*tensors[: len(tensors) - len(leaves)])
        ctx.set_materialize_grads(False)
        args, _ = _merged(numbers, tensors)
        curved = {k for k, a in enumerate(args) if isinstance(a, torch.Tensor) and a.requires_grad} | set(second.known)
        grads = backward([a.detach() if isinstance(a, torch.Tensor) else a for a in args])
        grads = [g.detach() if isinstance(g, torch.Tensor) else g for g in grads]  # each an object of its own
        pairs = zip(grads, second.depends, strict=True)
        fixed = [g for g, on in pairs if isinstance(g, torch.Tensor) and not (_real(g) and on & curved)]
        ctx.mark_non_differentiable(*fixed)
        return tuple(grads)

    @staticmethod
    def backward(ctx: Any, *cts: Any) -> Any:  # type: ignore[override]
        needed = ctx.needs_input_grad[4:]
        create = torch.is_grad_enabled()
        with torch.enable_grad(), torch._C._DisableAutocast():
            # names of their own, so that gradients end there and are not added up for what one depends on by another
            given = (*ctx.saved_tensors, *ctx.leaves)
            linked = create or torch._C._are_functorch_transforms_active()  # where no leaves can be made
            own = [_named(t, need, linked) for t, need in zip(given, needed, strict=True)]
            args, leaves = _merged(ctx.numbers, own)
            grads = ctx.second.again(args, leaves)
            pairs = [(g, ct) for g, ct in zip(grads, cts, strict=True) if ct is not None and _recorded(g)]
            roots = [t for t, need in zip(own, needed, strict=True) if need]
            found: Any = [None] * len(roots)
            if pairs and roots:
                outs, last = zip(*pairs, strict=True)
                found = torch.autograd.grad(outs, roots, last, create_graph=create, allow_unused=True)
        left = iter(found)
        return (None, None, None, None, *(next(left) if need else None for need in needed))


def _named(t: torch.Tensor, need: bool, linked: bool) -> torch.Tensor:
    """A tensor under a name of its own: a root of gradients if those are needed, `linked` with its history or not."""
    if linked and need:
        return t.view_as(t)
    return t.detach().requires_grad_() if need else t.detach()


def _merged(numbers: Sequence[Any], tensors: Sequence[torch.Tensor]) -> tuple[list[Any], list[torch.Tensor]]:
    """(arguments, leaves) from the arguments without tensors, and the tensors."""
    left = iter(tensors)
    args = [next(left) if n is None else n for n in numbers]
    return args, list(left)


def delayed(backward: Backward, args: list[Any], ctx: Any, why: str) -> Sequence[Any]:
    """Gradients that raise when they are differentiated again."""
    if steps.bare(*(a for a in args if isinstance(a, torch.Tensor))):
        raise RuntimeError(_refused(why))  # batches have no history that could be cut off
    roots = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
    roots += [v for v in leaves_of(ctx) if not any(v is a for a in roots)]
    with torch.no_grad():
        grads = backward([a.detach() if isinstance(a, torch.Tensor) else a for a in args])
    return raising(grads, roots, why)


def _refused(why: str) -> str:
    return f"a fused function cannot be differentiated twice here ({why}): call the plain function for that"


def leaves_of(ctx: Any) -> list[torch.Tensor]:
    """The inputs of a node that are leaves."""
    inputs = (getattr(n, "variable", None) for n, _ in ctx.next_functions)
    return [v for v in inputs if v is not None]


def raising(grads: Sequence[Any], roots: Sequence[torch.Tensor], why: str) -> tuple[Any, ...]:
    """Gradients that raise when they are differentiated again, by whatever `roots` depend on."""
    leaves = [g.detach().requires_grad_() for g in grads if _real(g)]
    # of all that they depend on, so that whoever asks for the second derivative of one of these gets there
    fail = torch._C._functions.DelayedError(_refused(why).encode(), len(leaves) + len(roots))
    out = iter(fail(*leaves, *roots)) if len(leaves) + len(roots) > 1 else iter([fail(*leaves)] if leaves else [])
    return tuple(next(out) if _real(g) else g for g in grads)


def _same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def _real(g: Any) -> bool:
    return isinstance(g, torch.Tensor) and (g.is_floating_point() or g.is_complex())


def _recorded(g: Any) -> bool:
    return isinstance(g, torch.Tensor) and g.requires_grad


__all__ = ["FROM_RESULT", "Root", "Second", "Valued", "delayed", "leaves_of", "raising", "twice", "with_value"]
