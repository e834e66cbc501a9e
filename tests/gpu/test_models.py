"""The models of `tests/models` on a GPU: ten training steps beside eager's, and float64's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.models.test_training import build, compare, train
from tests.models.zoo import MODELS, Batch
from tests.support import compiled, counters, no_fallbacks

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def on_gpu(batch: Callable[[int], Batch]) -> Callable[[int], Batch]:
    return lambda step: {k: v.cuda() for k, v in batch(step).items()}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_ten_training_steps(name: str) -> None:
    model, batch = build(name)
    model, batch = model.cuda(), on_gpu(batch)
    exact, eager = train(model, batch, "sgd", torch.float64), train(model, batch, "sgd")
    with no_fallbacks():
        before = counters()["groups_formed"]
        got = train(model, batch, "sgd", wrap=lambda m: compiled(m))
        assert counters()["groups_formed"] > before, "nothing was fused"
    compare(got, eager, exact)
