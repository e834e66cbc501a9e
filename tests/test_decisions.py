"""16-bit values that decide something are rounded first: eager's decision, not that of digits it does not have."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import fusewright
from tests.support import no_fallbacks

Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
DECISIONS: dict[str, Program] = {
    "argmax": lambda x, y: (x * y).argmax(1),
    "argmin": lambda x, y: (x + y).argmin(0),
    "max": lambda x, y: (x * y).max(1).indices,
    "threshold": lambda x, y: x * y > 0.5,
    "equal": lambda x, y: x * y == y * 0.5,
    "where": lambda x, y: torch.where(x * y >= 0.25, 1.0, 2.0),
    "floor": lambda x, y: torch.floor(x * y * 64),
    "round": lambda x, y: torch.round(x + y),
    "to integer": lambda x, y: (x * y * 100).to(torch.int32),
    "remainder": lambda x, y: torch.remainder(x * y, 0.5),
    "floor division": lambda x, y: (x * y) // 0.125,
    "sign": lambda x, y: ((x + 256) - 256).sign(),
    "sign bit": lambda x, y: ((x + 256) - 256).signbit(),
    "sign of another": lambda x, y: torch.copysign(y, (x + 256) - 256),
    "zero or not": lambda x, y: ((x + 256) - 256).bool(),
    "logical not": lambda x, y: ((x + 256) - 256).logical_not(),
    "logical and": lambda x, y: ((x + 256) - 256).logical_and(y),
    "all": lambda x, y: ((x + 256) - 256).all(1),
    "count": lambda x, y: ((x + 256) - 256).count_nonzero(1),
    "step": lambda x, y: torch.heaviside(x + 1 - 1, y),
    "replaced below": lambda x, y: torch.nn.functional.threshold(x * y, 0.5, 3.0),
    "shrunk": lambda x, y: torch.nn.functional.hardshrink(x * y, 0.5),
    "left to PyTorch": lambda x, y: (x * y).float().topk(5).indices,
    "widened": lambda x, y: (x * y - 1).double(),
    "infinite": lambda x, y: (x * torch.finfo(x.dtype).max).isinf(),
    "infinity replaced": lambda x, y: (x * torch.finfo(x.dtype).max).nan_to_num(0.0, 1.0, 2.0),
    "largest number": lambda x, y: (x * torch.finfo(x.dtype).max).nan_to_num() + y,
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", DECISIONS)
def test_eager_decides_the_same(name: str, dtype: torch.dtype) -> None:
    fn = DECISIONS[name]
    g = torch.Generator().manual_seed(3)
    x, y = (torch.randn(65, 1001, generator=g).to(dtype) for _ in range(2))
    with no_fallbacks():
        assert torch.equal(torch.compile(fn, backend="fusewright")(x, y), fn(x, y))


def _added_up(z: torch.Tensor, extreme: str) -> torch.Tensor:
    into = torch.zeros(13, z.shape[1], dtype=z.dtype)
    return into.scatter_reduce(0, (torch.arange(65) % 13)[:, None].expand(z.shape), z, extreme)


EXTREMES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "rows": lambda z: z.amax(1),
    "columns": lambda z: z.amin(0),
    "widened": lambda z: z.float().amax(1),
    "all": lambda z: z.max(),
    "both": lambda z: torch.stack(torch.aminmax(z, dim=1)),
    "norm": lambda z: torch.linalg.vector_norm(z, float("inf"), 1),
    "left to PyTorch": lambda z: z.nanmedian(),
    "scattered": lambda z: _added_up(z, "amax"),
    "softmax by hand": lambda z: (z - z.amax(1, keepdim=True)).exp().sum(1).log(),
    "made twice": lambda z: (z.sin() - z.sin().amax(1, keepdim=True)).exp().sum(1),
    "mask": lambda z: ((z == z.amax(1, keepdim=True)) * z).sum(1),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", EXTREMES)
def test_gradients_of_extremes_go_where_eagers_go(name: str) -> None:
    """They are made by a comparison with what the backward pass might compute again: 0 / 0 if nothing was equal."""

    def fn(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return EXTREMES[name](((x * 1.37 + y).sigmoid() * x).sin() * 1.5)

    torch._dynamo.reset()

    x, y = (torch.randn(65, 33, generator=torch.Generator().manual_seed(k)).bfloat16() for k in (3, 4))
    found = []
    for run in (fn, torch.compile(fn, backend="fusewright")):
        leaf = x.clone().requires_grad_()
        with no_fallbacks():
            run(leaf, y).sum().backward()
        found.append(leaf.grad)
    eager, got = found
    assert eager is not None and got is not None
    assert not got.isnan().any()
    if name not in ("scattered", "made twice"):  # another kernel stores what is scattered, and knows of no decision
        torch.testing.assert_close(got, eager, rtol=2e-2, atol=2e-2)


def test_what_torch_and_a_kernel_may_compute_is_compared_with_itself() -> None:
    """A function that torch runs in the forward pass, and a kernel might in the backward pass: other last digits."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        return x[:, None].expand(x.shape[0], 50).sin().nanmedian()

    fused = torch.compile(fn, backend="fusewright")
    for seed in range(6):
        grads = []
        for run in (fn, fused):
            x = torch.randn(61, generator=torch.Generator().manual_seed(seed)).requires_grad_()
            run(x).backward()
            grads.append(x.grad)
        torch.testing.assert_close(grads[1], grads[0])


def test_second_derivatives_compare_what_the_first_ones_do() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() - x.sin().amax(1, keepdim=True)).exp().sum(1)

    grads = []
    for run in (fn, fusewright.fuse(fn)):
        x = torch.randn(5, 7, generator=torch.Generator().manual_seed(3)).requires_grad_()
        (g,) = torch.autograd.grad(run(x).sum(), x, create_graph=True)
        grads.append(torch.autograd.grad(g.square().sum(), x)[0])
    torch.testing.assert_close(grads[1], grads[0])
