"""Random programs whose outputs are written over dead inputs whatever their size: the same bits as without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hypothesis import given

import fusewright
from fusewright.run import plan, pool, reuse
from tests.property.programs import Program, programs
from tests.property.test_random_graphs import configured
from tests.support import clone_like, compiled, is_ours, same_bits

pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own memory")


@pytest.fixture(autouse=True, scope="module")
def _everything_is_large() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((pool, "THRESHOLD"), (reuse, "THRESHOLD"), (plan, "POOLED")):
            patch.setattr(module, name, 1)
        yield


def _twice(step: Callable[[], list[Any]]) -> None:
    """Without reuse and with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuse, "_FREE", None)
        want = step()
    for a, b in zip(step(), want, strict=True):
        assert (a is None and b is None) or same_bits(a, b)


@given(programs())
@configured
def test_forward(program: Program) -> None:
    torch._dynamo.reset()
    fn = compiled(program.function(), dynamic=False)

    def step() -> list[Any]:
        inputs = clone_like(program.inputs)
        with torch.no_grad():
            out = list(fn(*inputs))
        assert all(map(same_bits, inputs, program.inputs)), "an input was changed"
        return out

    _twice(step)


@given(programs(gradients=True, most=5))
@configured
def test_backward(program: Program) -> None:
    """Nobody else holds the arguments or the incoming gradient, so those are taken over as well."""
    torch._dynamo.reset()
    fn = compiled(program.function(), dynamic=False)

    def step() -> list[Any]:
        leaves = [t.requires_grad_() for t in clone_like(program.inputs)]
        out = fn(*[t * 1 for t in leaves])[0]
        if not out.requires_grad:  # made of comparisons only
            return []
        seed = torch.linspace(0.5, 1.5, out.numel(), dtype=torch.float64).reshape(out.shape).to(out.dtype)
        kept = out.detach().clone()
        grads = torch.autograd.grad(out, leaves, seed * 1, allow_unused=True)
        assert same_bits(out.detach(), kept), "the result was changed"
        return list(grads)

    _twice(step)


def test_that_something_is_written_over() -> None:
    """The properties would hold of a plan that never does it: few of the random programs do."""
    before = fusewright.counters()["pool_overwrites"]
    with torch.no_grad():
        compiled(lambda x: ((y := x.sin() * 2) * torch.linalg.det(y)).cos())(torch.randn(40, 40))
    assert fusewright.counters()["pool_overwrites"] > before
