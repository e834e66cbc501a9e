"""Triton kernels that a program calls, between fusions of ours (`trace/mutable.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright
from tests.support import no_fallbacks

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")


@triton.jit
def scaled_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """out = 3 * x + y"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 3 + tl.load(y + i, mask=i < n), mask=i < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 256}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def tripled_kernel(x, out, n, BLOCK: tl.constexpr):
    """out = 3 * x"""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)


def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out, n = torch.empty_like(x), x.numel()
    scaled_kernel[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    return out


def scaled_(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    n = x.numel()
    scaled_kernel[(triton.cdiv(n, 256),)](x, y, x, n, BLOCK=256)
    return x


def tripled(x: torch.Tensor) -> torch.Tensor:
    out, n = torch.empty_like(x), x.numel()
    tripled_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out


@torch.library.triton_op("fusewright_gpu_tests::scaled", mutates_args=())
def scaled_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out, n = torch.empty_like(x), x.numel()
    torch.library.wrap_triton(scaled_kernel)[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
    return out


scaled_op.register_autograd(lambda ctx, g: (g * 3, g))


class Scaled(torch.autograd.Function):
    """With its gradient by kernels, too."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return scaled(x, y)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        (x,) = ctx.saved_tensors
        return scaled(g, torch.zeros_like(g)) + x * 0, g


Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
PROGRAMS: dict[str, Program] = {
    "between": lambda x, y: scaled(x * 2 + 1, y.sin()).cos() * x,
    "in place": lambda x, y: scaled_(x * 2 + 1, y.sin()).cos() * x,
    "turned": lambda x, y: scaled((x * 2).t().contiguous(), y.t().contiguous()).t() * 2,
    "a part": lambda x, y: scaled((x * 2)[1:3].contiguous(), y[1:3].contiguous())[0] * 2,
    "autotuned": lambda x, y: tripled(x * 2 + 1) * y.relu(),
    "twice": lambda x, y: tripled(scaled(x.exp(), y)).relu() + y,
    "an argument": lambda x, y: scaled_(x, y.sin()).cos() * x,
}
DIFFERENTIABLE: dict[str, Program] = {
    "operator": lambda x, y: scaled_op(x * 2 + 1, y.sin()).cos() * x,
    "function": lambda x, y: Scaled.apply(x * 2 + 1, y.sin()).cos() * x,
}


def ways(fn: Program) -> list[Program]:
    return [torch.compile(fn, backend="fusewright"), fusewright.fuse(fn)]


@pytest.mark.parametrize("name", [*PROGRAMS, *DIFFERENTIABLE])
def test_forward(name: str, cuda: str) -> None:
    fn = (PROGRAMS | DIFFERENTIABLE)[name]
    with fusewright.options(fallback=False), no_fallbacks():
        for compiled in ways(fn):
            for n in (6, 7, 9):
                x, y = (torch.randn(n, 33, device=cuda) for _ in range(2))
                given = x.clone(), y.clone()
                torch.testing.assert_close(compiled(*given), fn(x, y))
                torch.testing.assert_close(given, (x, y))


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_backward(name: str, cuda: str) -> None:
    fn = DIFFERENTIABLE[name]
    with fusewright.options(fallback=False), no_fallbacks():
        for compiled in ways(fn):
            x, y = (torch.randn(6, 33, device=cuda, requires_grad=True) for _ in range(2))
            out, expected = compiled(x, y), fn(x, y)
            torch.testing.assert_close(out, expected)
            got, want = (torch.autograd.grad(o.sum(), (x, y)) for o in (out, expected))
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def test_what_a_kernel_fills_is_not_copied(cuda: str) -> None:
    compiled = torch.compile(PROGRAMS["between"], backend="fusewright")
    x, y = (torch.randn(1 << 20, device=cuda) for _ in range(2))
    compiled(x, y)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        compiled(x, y)
    assert not [e.key for e in seen.key_averages() if "Memcpy" in e.key or "copy" in e.key]
