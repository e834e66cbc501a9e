"""The models of `tests/models` on a GPU: ten training steps beside eager's, and float64's."""

from __future__ import annotations

import copy
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
    model, batch = model.cuda().train(), on_gpu(batch)
    eager = train(copy.deepcopy(model), batch, "sgd")
    exact = train(copy.deepcopy(model).double(), batch, "sgd")
    with no_fallbacks():
        before = counters()["groups_formed"]
        got = train(model, batch, "sgd", compiled(model))
        assert counters()["groups_formed"] > before, "nothing was fused"
    compare(got, eager, exact)
