"""What the tests of the TorchScript front end share: scripted and fused, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

import fusewright
from tests.support import assert_same_tensor_metadata, clone_like, counted, counters, same_bits

Outcome = tuple[Any, Any, Any]


def script_of(fused: Any) -> Any:
    """The `Script` behind what `fuse` made."""
    return (fused._call if isinstance(fused, torch.nn.Module) else fused)._fusewright


def outcome(fn: Callable[..., Any], args: Any, seed: int = 0) -> Outcome:
    """(results, gradients of what requires them, the arguments afterwards); an exception counts as a result."""
    torch.manual_seed(seed)
    inputs = [t for t in tree_leaves(args) if isinstance(t, torch.Tensor) and t.requires_grad]
    try:
        out = fn(*args)
    except Exception as e:
        return ("raised", type(e), last_line(e)), None, args
    results = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad]
    grads = None
    if results and inputs:
        weights = [torch.linspace(-1, 1, t.numel(), dtype=t.dtype).view(t.shape) for t in results]
        grads = torch.autograd.grad(results, inputs, weights, allow_unused=True)
    return out, grads, args


def last_line(e: BaseException) -> str:
    return str(e).strip().splitlines()[-1].rpartition(": ")[2]


def compare(got: Any, want: Any, bits: bool, what: str) -> None:
    """Fail unless two structures are the same: bit for bit, or as near as `assert_close` asks."""
    assert _shape(got) == _shape(want), f"{what}: {_shape(got)}, not {_shape(want)}"
    for k, (a, b) in enumerate(zip(tree_leaves(got), tree_leaves(want), strict=True)):
        if not isinstance(b, torch.Tensor):
            assert type(a) is type(b) and (a == b or (a != a and b != b)), f"{what} {k}: {a!r}, not {b!r}"
            continue
        assert_same_tensor_metadata(a, b, f"{what} {k}")
        if bits:
            assert same_bits(a.detach(), b.detach()), f"{what} {k}: other bits"
        else:
            torch.testing.assert_close(a, b, equal_nan=True)


def compare_gradients(got: Any, want: Any) -> None:
    assert (got is None) == (want is None)
    for k, (a, b) in enumerate(zip(got or (), want or (), strict=True)):
        assert (a is None) == (b is None), f"gradient {k}: {a}, not {b}"
        if b is not None:
            torch.testing.assert_close(a, b, equal_nan=True)


def _shape(x: Any) -> Any:
    """The containers of a structure; named tuples count as equal if their fields are, whatever their class."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x).__name__, x._fields, tuple(map(_shape, x))
    if isinstance(x, (list, tuple)):
        return type(x), tuple(map(_shape, x))
    if isinstance(x, dict):
        return dict, {k: _shape(v) for k, v in x.items()}
    return None


def with_grad(args: Any) -> Any:
    """The arguments, whose floating-point tensors require gradients."""

    def one(t: Any) -> Any:
        floating = isinstance(t, torch.Tensor) and t.is_floating_point()
        return t.requires_grad_() if floating and not t.requires_grad else t

    return tree_map(one, args)


def agree(scripted: Any, *makers: Callable[[], Any], bits: bool = False, grad: bool = True, eager: Any = None) -> Any:
    """Fail unless `fuse(scripted)` does what `scripted` does, for the arguments that each maker gives; twice each.

    Results, gradients and arguments are compared; results and arguments bit for bit if `bits` (the sum of gradients has
    an order that is autograd's own). `eager`: the function that was scripted, where
    its results are to be compared as well. Returns the fused function.
    """
    fused = fusewright.fuse(scripted)
    before = counters()
    with fusewright.options(rng="eager"):
        for make in makers:
            for args in (make(), with_grad(make())) if grad else (make(),):
                want = outcome(scripted, clone_like(args))
                for _ in range(2):
                    got = outcome(fused, clone_like(args))
                    compare(got[0], want[0], bits, "result")
                    compare(got[2], want[2], bits, "argument")
                    compare_gradients(got[1], want[1])
                if eager is not None:
                    compare(want[0], outcome(eager, clone_like(args))[0], bits, "eager's result")
    assert counted(before).get("fallbacks", 0) == 0
    assert not script_of(fused).refused, script_of(fused).refused
    return fused


def regions(fused: Any) -> int:
    return len(script_of(fused).split.regions)
