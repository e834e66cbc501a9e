"""Gradients that autograd can keep as they are."""

from __future__ import annotations

import pytest
import torch

from fusewright import pipeline
from tests.support import compiled


def _grads(n: int, backend: bool) -> list[torch.Tensor]:
    torch.manual_seed(0)
    x, y = torch.randn(n, 512, requires_grad=True), torch.randn(n, 512, requires_grad=True)
    fn = lambda x, y: torch.tanh(x + y) * 2
    torch._dynamo.reset()
    out = (compiled(fn) if backend else fn)(x, y)
    out.backward(torch.linspace(0, 1, out.numel()).reshape(out.shape))
    assert x.grad is not None and y.grad is not None
    return [x.grad, y.grad]


@pytest.mark.parametrize("n", [4, 512])
def test_one_tensor_for_two_inputs(n: int) -> None:
    """`x + y` has one gradient; each input still gets memory of its own, with eager's values."""
    got, want = _grads(n, True), _grads(n, False)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)
    assert got[0].data_ptr() != got[1].data_ptr()
    got[0].add_(1)
    torch.testing.assert_close(got[1], want[1])


def test_large_shared_gradients_are_outputs_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:

    plans = []
    original = pipeline.Plan.callable
    monkeypatch.setattr(pipeline.Plan, "callable", lambda self: plans.append(self) or original(self))
    _grads(512, True)
    backward = next(p for p in plans if p.name.startswith("backward"))
    result = backward.source.rsplit("return [", 1)[1].rstrip("]\n").split(", ")
    assert len(set(result)) == 2
