"""What a function decides by values of tensors that it makes of constants is traced; by those of others it is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import fusewright
from fusewright.core.errors import UserError
from tests.support import counted, counters

XS = (torch.arange(12.0).view(3, 4) - 5, torch.arange(42.0).view(6, 7) - 20)


def _positive(sigma: Tensor) -> None:
    if not bool((sigma > 0).all()):
        raise ValueError("sigma must be positive")


def a_check(x: Tensor) -> Tensor:
    sigma = torch.tensor([[1.5, 0.7]], dtype=x.dtype)
    _positive(sigma.expand(3, 2).to(x))
    return x * sigma[0, 0]


def dims(x: Tensor) -> Tensor:
    return x.sum(torch.arange(1, x.dim()).tolist())


def nested(x: Tensor) -> Tensor:
    return sum((x * n for row in torch.arange(4).view(2, 2).tolist() for n in row), x)


def a_loop(x: Tensor) -> Tensor:
    parts = [x[:, int(i)] * i.item() for i in torch.linspace(0, 2, 3)]
    return torch.stack([*parts, *(x[:, i] for i in range(torch.tensor(2)))])


def comparisons(x: Tensor) -> Tensor:
    return x.sin() if torch.equal(torch.ones(3), torch.full((3,), 1.0)) and torch.zeros(2).any().item() is False else x


def a_mask(x: Tensor) -> Tensor:
    return x[:3, :3][~torch.eye(3).bool()] * 2


def places(x: Tensor) -> Tensor:
    return (
        x[:, torch.tensor([1, 0, 0, 1]).nonzero()[:, 0]]
        + x[torch.where(torch.tensor([True, False, True]))[0], :2].sum()
    )


def counts(x: Tensor) -> Tensor:
    ids = torch.tensor([1, 2, 2])
    return x[:3].repeat_interleave(torch.bincount(ids) + 1, 0) * torch.unique(ids).shape[0]


def a_view_is_written(x: Tensor) -> Tensor:
    z = torch.zeros(3)
    z[1:].add_(1)
    y = z.detach()
    y += 2
    w = z.view(3, 1).t()
    w.mul_(2)
    return x * z.sum().item() + w[0, 2].item()


def all_ways_to_write(x: Tensor) -> Tensor:
    z = torch.zeros(3)
    z.copy_(torch.arange(3))
    torch.add(z, 1, out=z)
    z[0] = 7
    z.index_put_((torch.tensor([2]),), torch.tensor(5.0))
    z.data.mul_(2)
    parts = [z[i] for i in range(3)]
    parts[1].fill_(9)
    return x * z.sum().item() + z.max().item()


def a_leaf(x: Tensor) -> Tensor:
    z = (torch.ones(3, requires_grad=True) * 2).detach()
    return x * z.sum().item()


@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize(
    "f",
    [
        *(a_check, dims, nested, a_loop, comparisons, a_mask, places, counts),
        *(a_view_is_written, all_ways_to_write, a_leaf),
    ],
)
def test_values_that_are_known(f: Callable[[Tensor], Tensor], needs: bool) -> None:
    fused, before = fusewright.fuse(f), counters()
    with fusewright.options(fallback=False):
        for data in XS:
            results = []
            for g in (fused, f):
                x = data.clone().requires_grad_(needs)
                y = g(x)
                results.append([y, *(torch.autograd.grad(y.sum(), x) if needs else ())])
            torch.testing.assert_close(*results)
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


def test_a_check_that_fails() -> None:
    def f(x: Tensor, sigma: float) -> Tensor:
        _positive(torch.tensor([sigma]))
        return x * sigma

    fused = fusewright.fuse(f)
    torch.testing.assert_close(fused(XS[0], 2.0), XS[0] * 2)
    with pytest.raises(ValueError, match="sigma must be positive"):
        fused(XS[0], -2.0)


def of_an_argument(x: Tensor) -> Tensor:
    return x * 2 if bool(x.sum() > 0) else x


def of_a_size(x: Tensor) -> Tensor:
    return x * torch.ones(x.shape[0]).sum().item()


def random(x: Tensor) -> Tensor:
    return x * torch.ones(3).bernoulli_(0.5).sum().item()


def unset(x: Tensor) -> Tensor:
    return x * torch.empty(3).sum().item()


def written_to(x: Tensor) -> Tensor:
    z = torch.zeros(3)
    z.view(3, 1).t()[0, 1] = x.sum()
    return x * z.sum().item()


def written_to_in_part(x: Tensor) -> Tensor:
    z = torch.zeros(9)
    z[: x.shape[0]].add_(1)
    return x * z.sum().item()


def scattered(x: Tensor) -> Tensor:
    z = torch.zeros(4)
    z.scatter_(0, torch.tensor([1]), x.sum().reshape(1))
    return x + z.sum().item()


@torch.library.custom_op("fusewright_tests::drawn", mutates_args=())
def _drawn(n: int) -> Tensor:
    DRAWN.append(n)
    return torch.full((n,), float(len(DRAWN)))


@_drawn.register_fake
def _(n: int) -> Tensor:
    return torch.empty(n)


DRAWN: list[int] = []


def of_an_operator_of_others(x: Tensor) -> Tensor:
    return x * torch.ops.fusewright_tests.drawn(3).sum().item()


@pytest.mark.parametrize(
    "f", [of_an_operator_of_others, of_an_argument, of_a_size, random, unset, written_to, written_to_in_part, scattered]
)
def test_values_that_are_not(f: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(UserError, match="needs the value of a tensor"):
        fusewright.fuse(f)(XS[0])
