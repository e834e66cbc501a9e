"""Results and gradients lie in memory as eager's do, for operands in every order of memory.

Many operations share one program, each with an operand of its own, so that a layout is compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import assert_same_tensor_metadata, compiled, random_tensor

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

Tensor = torch.Tensor

SHAPE = (4, 6, 5, 7)


def stored(order: tuple[int, ...], seed: int) -> Tensor:
    """A dense tensor whose dimensions lie in memory in this order, outermost first."""
    back = [order.index(k) for k in range(4)]
    return random_tensor(tuple(SHAPE[k] for k in order), seed=seed).permute(back)


LAYOUTS: dict[str, Callable[[int], Tensor]] = {
    "channels last": lambda seed: stored((0, 2, 3, 1), seed),
    "permuted": lambda seed: stored((3, 0, 1, 2), seed),
    "transposed": lambda seed: stored((0, 1, 3, 2), seed),
    "expanded": lambda seed: random_tensor((1, *SHAPE[1:]), seed=seed).expand(SHAPE),
    "sliced": lambda seed: random_tensor((4, 6, 5, 15), seed=seed)[..., 1::2],
    "channels last, sliced": lambda seed: random_tensor((4, 5, 7, 8), seed=seed)[..., 1:-1].permute(0, 3, 1, 2),
}

Operation = Callable[[Tensor, Tensor, Tensor], Tensor]  # of x, of a contiguous tensor, of a vector of channels

NORMS: dict[str, Operation] = {
    "batch_norm": lambda x, y, w: F.batch_norm(x, None, None, w, w, True),
    "batch_norm, eval": lambda x, y, w: F.batch_norm(x, w.detach(), w.detach().abs() + 1, w, w, False),
    "group_norm": lambda x, y, w: F.group_norm(x, 3, w, w),
    "layer_norm": lambda x, y, w: F.layer_norm(x, SHAPE[-2:]),
    "instance_norm": lambda x, y, w: F.instance_norm(x, weight=w, bias=w),
    "softmax": lambda x, y, w: F.softmax(x, 1),
    "log_softmax": lambda x, y, w: F.log_softmax(x, -1),
}

ELEMENTWISE: dict[str, Operation] = {
    "gelu": lambda x, y, w: F.gelu(x),
    "prelu": lambda x, y, w: F.prelu(x, w),
    "glu": lambda x, y, w: F.glu(x, 1),
    "dropout": lambda x, y, w: F.dropout(x, 0.3, True),
    "where": lambda x, y, w: torch.where(x > 0, x, y),
    "where, broadcast": lambda x, y, w: torch.where(x[:1] > 0, x, w.view(-1, 1, 1)),
    "add, contiguous": lambda x, y, w: y + x,
    "cumsum": lambda x, y, w: x.cumsum(1),
    "cat": lambda x, y, w: torch.cat([x, y], 1),
}

LOSSES: dict[str, Operation] = {
    "mse": lambda x, y, w: F.mse_loss(x, y, reduction="none"),
    "smooth_l1": lambda x, y, w: F.smooth_l1_loss(x, y, reduction="none"),
    "huber": lambda x, y, w: F.huber_loss(x, y, reduction="none"),
    "bce": lambda x, y, w: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y), reduction="none"),
    "bce, mean": lambda x, y, w: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)),
    "kl": lambda x, y, w: F.kl_div(x, y, reduction="none"),
    "cross_entropy": lambda x, y, w: F.cross_entropy(x, y.argmax(1), reduction="none"),
    "adaptive_avg_pool": lambda x, y, w: F.adaptive_avg_pool2d(x, 2),
}


def norms(xs: list[Tensor], y: Tensor, w: Tensor) -> list[Tensor]:
    return [op(x, y, w) for op, x in zip(NORMS.values(), xs, strict=True)]


def elementwise(xs: list[Tensor], y: Tensor, w: Tensor) -> list[Tensor]:
    return [op(x, y, w) for op, x in zip(ELEMENTWISE.values(), xs, strict=True)]


def losses(xs: list[Tensor], y: Tensor, w: Tensor) -> list[Tensor]:
    return [op(x, y, w) for op, x in zip(LOSSES.values(), xs, strict=True)]


PROGRAMS: dict[str, tuple[dict[str, Operation], Any]] = {
    "norms": (NORMS, norms),
    "elementwise": (ELEMENTWISE, elementwise),
    "losses": (LOSSES, losses),
}


def run(fn: Any, name: str, layout: str) -> tuple[list[Tensor], list[Tensor]]:
    """Results and gradients; all gradients that come in lie as the results do."""
    xs = [LAYOUTS[layout](seed).requires_grad_() for seed in range(len(PROGRAMS[name][0]))]
    out = fn(xs, random_tensor(SHAPE, seed=100), random_tensor((SHAPE[1],), seed=101))
    return out, list(torch.autograd.grad(out, xs, [torch.ones_like(t) for t in out]))


def assert_same(name: str, got: list[Tensor], want: list[Tensor], what: str) -> None:
    for op, a, b in zip(PROGRAMS[name][0], got, want, strict=True):
        assert_same_tensor_metadata(a, b, f"{what} of {op}")
        if op != "dropout":
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.every(6)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_strides(name: str, layout: str) -> None:
    program = PROGRAMS[name][1]
    got, want = run(compiled(program), name, layout), run(program, name, layout)
    assert_same(name, got[0], want[0], "result")
    assert_same(name, got[1], want[1], "gradient")


USUAL = {("norms", "permuted"), ("elementwise", "transposed"), ("losses", "channels last")}


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        pytest.param(name, layout, marks=[] if (name, layout) in USUAL else pytest.mark.thorough)
        for name in PROGRAMS
        for layout in ("channels last", "permuted", "transposed")
    ],
)
def test_strides_of_fused_functions(name: str, layout: str) -> None:
    """Where strides vary, too, gradients are traced as ones that lie as the results do."""
    program = PROGRAMS[name][1]
    fused = fusewright.fuse(program)
    got, want = (run(fn, name, layout) for fn in (fused, program))
    assert_same(name, got[0], want[0], "result")
    assert_same(name, got[1], want[1], "gradient")


def test_gradients_that_lie_otherwise_than_the_results() -> None:
    fused, plain = fusewright.fuse(F.gelu), F.gelu
    for gradient in (lambda t: random_tensor(SHAPE, seed=3), lambda t: torch.ones(()).expand(t.shape), torch.ones_like):
        grads = []
        for fn in (fused, plain):
            x = LAYOUTS["permuted"](1).requires_grad_()
            out = fn(x)
            grads += torch.autograd.grad(out, x, gradient(out))
        torch.testing.assert_close(*grads)


def test_gradients_where_a_compiled_program_has_symbolic_sizes() -> None:
    compiled_gelu = torch.compile(F.gelu, backend="fusewright", dynamic=True)
    grads = []
    for fn in (compiled_gelu, F.gelu):
        x = LAYOUTS["permuted"](1).requires_grad_()
        out = fn(x)
        grads += torch.autograd.grad(out, x, torch.ones_like(out))
    assert_same_tensor_metadata(*grads, "gradient")
    torch.testing.assert_close(*grads)
