"""Elements of tensors that become numbers and sizes within one graph: what must be in memory when they are read."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import BACKEND, compiled, is_ours, no_fallbacks

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.skipif(not is_ours(BACKEND), reason="options of our own backend"),
]

PROGRAMS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "slice to": lambda n, x: x[: n.item()].sum(0) * 2,
    "slice from": lambda n, x: x[n.item() :] * 2 + 1,
    "select": lambda n, x: x[n.item()].exp() * 2,
    "narrow": lambda n, x: (x.narrow(0, 0, n.item()) * 2 + 1).sum(0),
    "both parts": lambda n, x: torch.cat([x[: n.item()] * 2, x[n.item() :].sin()]) + 1,
    "padding": lambda n, x: F.pad(x * 2, (0, 0, 0, n.item())) + 1,
    "of a kernel": lambda n, x: x * ((x * 2 + 1).sum() * 3).item() + 1,
    "size of a kernel": lambda n, x: torch.arange((n * 2 + 1).item()) * 2 + 1,
    "comparison": lambda n, x: torch.where(x > ((x * x).mean() * 0.5).item(), x, -x),
    "nothing else": lambda n, x: x * 2 if (x.sum() > 0).item() else x - 1,
    "overwritten": lambda n, x: (lambda a, y: y.mul_(3) * (a.sum() * 2).item() + 1)(x * 2, x.clone()),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("single", [False, True], ids=["groups", "single operations"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_that_are_read(name: str, single: bool) -> None:
    fn = PROGRAMS[name]
    ours = compiled(fn)
    with (
        torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True),
        fusewright.options(single_op_groups=single),
        no_fallbacks(),
    ):
        for n in (3, 0, 1):
            args = torch.tensor(n), torch.randn(4, 3)
            got, want = ours(*args), fn(*args)
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_a_value_that_is_read_is_made_by_a_kernel() -> None:
    """The operations before it share one."""
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        report = fusewright.explain(lambda x: x * ((x * 2 + 1).sum() * 3).item(), torch.randn(64, 64))
    places = {o.target: o.place for g in report.graphs for o in g.operations}
    assert places["aten.sum.default"] == "kernel"
    assert not report.breaks


def test_gradients_past_values_that_are_read() -> None:
    fn = lambda n, x: (x * (x.detach() * 2).sum().item()).sin().sum() + x[: n.item()].exp().sum()
    with torch._dynamo.config.patch(capture_scalar_outputs=True), no_fallbacks():
        ours = compiled(fn)
        for n in (2, 3, 0):
            x = torch.randn(4, 3, requires_grad=True)
            (got,) = torch.autograd.grad(ours(torch.tensor(n), x), x)
            (want,) = torch.autograd.grad(fn(torch.tensor(n), x), x)
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def sized(y: torch.Tensor) -> int:
    return int(y.max().item() * 3) + 2


FLOATS: dict[str, Callable[..., torch.Tensor]] = {
    "zeros": lambda x, y: torch.zeros(sized(y), 3) + x.sum(),
    "a number": lambda x, y: torch.ones(sized(y), 3)[:2] * sized(y) + x[:1],
    "ceiling": lambda x, y: torch.ones(math.ceil(y.max().item()) + 2, 3)[:2] + x[:1] * y.max().item(),
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", FLOATS)
def test_sizes_made_of_floats_that_are_read(name: str, grad: bool) -> None:
    """A backward pass is given the sizes, and not the floats."""
    fn = FLOATS[name]
    with torch._dynamo.config.patch(capture_scalar_outputs=True), no_fallbacks():
        ours = compiled(lambda x, y: (fn(x, y).sin() * x[:1].exp()) if grad else fn(x, y))
        for top in (0.9, 0.2, 2.5):
            x, y = torch.randn(4, 3, requires_grad=grad), torch.tensor([0.1, top])
            got = ours(x, y)
            want = fn(x, y).sin() * x[:1].exp() if grad else fn(x, y)
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
            if grad:
                mine, theirs = (torch.autograd.grad(t.sum(), x, retain_graph=True)[0] for t in (got, want))
                torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)
