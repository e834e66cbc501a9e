"""Draws from other distributions: taken apart, with eager's types, ranges and errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright

pytestmark = pytest.mark.usefixtures("strict")

# name: a draw like x, and the mean and standard deviation of what it draws
DRAWS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float, float]] = {
    "uniform": (lambda x: torch.empty_like(x).uniform_(0.25, 0.75), 0.5, 0.5 / math.sqrt(12)),
    "uniform from 0": (lambda x: torch.empty_like(x).uniform_(0, 3), 1.5, 3 / math.sqrt(12)),
    "exponential": (lambda x: torch.empty_like(x).exponential_(2.0), 0.5, 0.5),
    "geometric": (lambda x: torch.empty_like(x).geometric_(0.25), 4.0, math.sqrt(0.75) / 0.25),
    "normal_": (lambda x: torch.empty_like(x).normal_(3.0, 2.0), 3.0, 2.0),
    "normal": (lambda x: torch.normal(x * 0 + 1, 2.0), 1.0, 2.0),
    "log_normal": (lambda x: torch.empty_like(x).log_normal_(0.0, 0.5), math.exp(0.125), 0.6039),
    "randint": (lambda x: torch.randint(3, 11, x.shape), 6.5, math.sqrt(63 / 12)),
    "randint_like": (lambda x: torch.randint_like(x, -2, 6), 1.5, math.sqrt(63 / 12)),
    "randint without": (lambda x: torch.randint(8, x.shape, dtype=torch.int32), 3.5, math.sqrt(63 / 12)),
}


def compiled(draw: Callable[[torch.Tensor], torch.Tensor], **how: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    return torch.compile(lambda x: draw(x) + x * 0, backend="fusewright", **how)


def left(fn: Callable[..., Any], *inputs: torch.Tensor) -> list[str]:
    report = fusewright.explain(fn, *inputs)
    return [o.target for g in report.graphs for o in g.operations if o.place == "torch" and "seeds" not in o.target]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", DRAWS)
def test_moments_and_seeds(name: str, dynamic: bool) -> None:
    draw, mean, deviation = DRAWS[name]
    x = torch.randn(200, 501)
    f = compiled(draw, dynamic=dynamic)
    torch.manual_seed(1)
    a, b = f(x), f(x)
    torch.manual_seed(1)
    assert torch.equal(f(x), a) and not torch.equal(a, b)
    want = draw(x) + x * 0
    assert a.dtype == want.dtype and a.shape == want.shape and a.stride() == want.stride()
    assert abs(a.mean().item() - mean) < 6 * deviation / math.sqrt(x.numel())
    assert abs(a.std().item() - deviation) < 0.03 * deviation
    assert not left(lambda x: draw(x) + x * 0, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_bounds(dtype: torch.dtype) -> None:
    x = torch.zeros(300, 1001, dtype=dtype)
    u = compiled(lambda x: torch.empty_like(x).uniform_(0.5, 0.5625))(x)
    assert u.dtype == dtype and u.min() >= 0.5 and u.max() < 0.5625
    e = torch.compile(lambda x: torch.empty_like(x).exponential_().log(), backend="fusewright")(x)
    assert e.isfinite().all()  # of float16, too: 0 would be minus infinity
    n = compiled(lambda x: torch.randint_like(x, 3, 7))(x)
    assert n.dtype == dtype and sorted(n.unique().tolist()) == [3, 4, 5, 6]


def test_all_integers_of_an_odd_range_come_equally_often() -> None:
    drawn = compiled(lambda x: torch.randint(-3, 4, x.shape))(torch.zeros(700, 1000)).to(torch.int64)
    counts = torch.bincount((drawn + 3).flatten(), minlength=7)
    assert len(counts) == 7 and (counts - 1e5).abs().max() < 6 * math.sqrt(1e5)


def test_cauchy() -> None:
    drawn = compiled(lambda x: torch.empty_like(x).cauchy_(1.0, 2.0))(torch.zeros(300, 1000))
    quartiles = torch.quantile(drawn.flatten()[:100000], torch.tensor([0.25, 0.5, 0.75]))
    torch.testing.assert_close(quartiles, torch.tensor([-1.0, 1.0, 3.0]), rtol=0, atol=0.1)


@pytest.mark.parametrize("training", [False, True])
def test_rrelu(training: bool) -> None:
    x = torch.randn(100, 333).requires_grad_()
    y = torch.compile(lambda x: F.rrelu(x, 0.1, 0.4, training) * 1.0, backend="fusewright")(x)
    (grad,) = torch.autograd.grad(y.sum(), x)
    slope = torch.where(x > 0, 1.0, y / x)
    torch.testing.assert_close(grad, slope.detach(), rtol=1e-5, atol=1e-6)
    below = slope[x <= 0]
    if training:
        assert below.min() >= 0.1 and below.max() <= 0.4 + 1e-6 and abs(below.mean().item() - 0.25) < 0.01
    else:
        torch.testing.assert_close(y, F.rrelu(x, 0.1, 0.4, False))


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("name", ["uniform", "exponential", "randint"])
def test_on_a_gpu(name: str) -> None:
    draw, mean, deviation = DRAWS[name]
    x = torch.randn(40, 129)
    a = compiled(draw)(x)
    assert abs(a.mean().item() - mean) < 6 * deviation / math.sqrt(x.numel())
    assert abs(a.std().item() - deviation) < 0.1 * deviation


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.empty_like(x).uniform_(1.0, 0.0),
        lambda x: torch.empty_like(x).exponential_(-1.0),
        lambda x: torch.empty_like(x).geometric_(1.5),
        lambda x: torch.empty_like(x).normal_(0.0, -1.0),
        lambda x: torch.randint(3, 3, x.shape),
        lambda x: torch.randint_like(x.to(torch.int8), 0, 1000),
    ],
    ids=["uniform", "exponential", "geometric", "normal", "randint", "int8"],
)
def test_errors_are_eagers(draw: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.zeros(3, 4)
    with pytest.raises(RuntimeError) as want:
        draw(x)
    with pytest.raises(Exception) as got:
        compiled(draw)(x)
    assert str(want.value).split("\n")[0][:30] in str(got.value)


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.empty_like(x, dtype=torch.float64).uniform_(0, 2),
        lambda x: torch.empty_like(x).uniform_(0, 2, generator=torch.default_generator),
        lambda x: torch.empty_like(x.t()).uniform_(0, 2).t(),
        lambda x: torch.randint(0, 1 << 40, x.shape),
    ],
    ids=["float64", "generator", "transposed", "wide"],
)
def test_what_stays_torchs(draw: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.zeros(3, 4)
    got = compiled(draw)(x)
    want = draw(x)
    assert got.dtype == (want + x * 0).dtype and got.stride() == (want + x * 0).stride() and (got >= 0).all()


def test_eagers_own_numbers() -> None:
    x = torch.zeros(30, 70)
    for draw, _, _ in DRAWS.values():
        torch._dynamo.reset()
        with fusewright.options(rng="eager"):
            f = compiled(draw)
            torch.manual_seed(5)
            got = f(x)
        torch.manual_seed(5)
        assert torch.equal(got, draw(x) + x * 0)
