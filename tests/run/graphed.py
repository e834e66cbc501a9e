"""What the tests of CUDA graphs share: a recorder that runs plans again, and programs with and without graphs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fusewright.run import cuda_graphs
from tests.emulate.recorder import FakeRecorder, faked_graphs
from tests.support import no_fallbacks

STEPS = 3 * cuda_graphs.WARM  # enough for a recording to be made and to prove itself
ON = {"cuda_graphs": True}


@pytest.fixture
def recorder() -> Iterator[FakeRecorder]:
    with faked_graphs() as made, no_fallbacks():
        yield made


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sizes count as worth copying whatever the time."""
    monkeypatch.setattr(cuda_graphs, "BANDWIDTH", 1e18)


def status_of(name: str) -> str:
    """The status of the latest plan of a kind."""
    found = {k: v for k, v in cuda_graphs.status().items() if k.startswith(name)}
    return found[max(found, key=lambda k: int(k.removeprefix(name)))]


def chain(x: Tensor, w: Tensor) -> Tensor:
    for _ in range(3):
        x = torch.relu(x @ w) + 1
    return x


def both(fn: Callable[..., Any], **kwargs: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`fn` compiled with and without graphs, as two functions."""
    return tuple(torch.compile(copy.deepcopy(fn), backend="fusewright", options=o, **kwargs) for o in (ON, {}))  # type: ignore[return-value]


class Model(nn.Module):
    def __init__(self, width: int = 24, layers: int = 3, dropout: float = 0.0):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.norm, self.dropout = nn.LayerNorm(width), dropout

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = x + F.dropout(F.gelu(layer(self.norm(x))), self.dropout, self.training)
        return x


def models(**kwargs: Any) -> tuple[list[nn.Module], list[Callable[..., Any]]]:
    """The same model with and without graphs, and what runs each."""
    torch.manual_seed(0)
    first = Model(**kwargs)
    mine = [first, copy.deepcopy(first)]
    calls = [torch.compile(m, backend="fusewright", options=o) for m, o in zip(mine, (ON, {}), strict=True)]
    return mine, calls  # type: ignore[return-value]


def same_gradients(a: nn.Module, b: nn.Module) -> None:
    for (name, p), q in zip(a.named_parameters(), b.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None), name
        assert p.grad is None or torch.equal(p.grad, q.grad), name  # type: ignore[arg-type]
