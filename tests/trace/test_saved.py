"""What the forward pass leaves for the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.fx import GraphModule

import fusewright.backend
from tests.support import no_fallbacks

PROGRAMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "layer_norm": lambda x: F.layer_norm(x * 2, x.shape[-1:]) * 2,
    "logsumexp": lambda x: torch.logsumexp(x * 2, -1) * 2,
    "norm": lambda x: torch.linalg.vector_norm(x * 2, 1, -1) * 2,
    "norm3": lambda x: torch.linalg.vector_norm(x * 2, 3, -1) * 2,
    "renorm": lambda x: torch.renorm(x * 2, 2, 0, 1.0) * 2,
    "pixel_shuffle": lambda x: F.pixel_shuffle((x * 2).view(2, 4, 5, -1).sin(), 2) * 2,
    "log_sigmoid": lambda x: F.logsigmoid(x * 2) * 2,
    "softmax": lambda x: torch.logsumexp((x * 2).softmax(-1), 0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_of_an_input_s_size_only_the_input_is_saved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What operators with rules read is computed again from it: it need not be in memory."""
    fn = PROGRAMS[name]
    passes: list[tuple[GraphModule, GraphModule]] = []
    mark = fusewright.backend.mark_private

    def seen(forward: GraphModule, backward: GraphModule, outputs: int) -> None:
        passes.append((forward, backward))
        mark(forward, backward, outputs)

    monkeypatch.setattr(fusewright.backend, "mark_private", seen)
    torch._dynamo.reset()
    x = torch.randn(20, 40, requires_grad=True)
    with no_fallbacks():
        out = torch.compile(fn, backend="fusewright")(x)
    want = fn(x)
    torch.testing.assert_close(out, want)
    grad = torch.randn_like(want)
    torch.testing.assert_close(torch.autograd.grad(out, x, grad), torch.autograd.grad(want, x, grad))
    (_, backward) = passes[0]
    taken: list[Any] = [n for n in backward.graph.find_nodes(op="placeholder") if n.meta["val"].numel() >= x.numel()]
    assert [n.name for n in taken if not n.name.startswith("tangents")] == ["primals_1"]
