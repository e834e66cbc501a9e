"""Kinds of modules, fused, over a few steps of training: results, gradients and buffers are eager's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize
from torch.utils.checkpoint import checkpoint

import fusewright
from fusewright.debug import record
from tests.support import assert_agrees, counted, counters


class Around(nn.Module):
    """A module with elementwise operations around it."""

    def __init__(self, m: nn.Module) -> None:
        super().__init__()
        self.m = m

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(self.m(x)) + 1


class WithTensors(nn.Module):
    """Tensors that are neither parameters nor buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Around(nn.Linear(4, 4))
        self.inner.m.scale = torch.arange(4.0)  # type: ignore[assignment]
        self.same, self.moving = self.inner.m.scale, torch.zeros(4)

    def forward(self, x: Tensor) -> Tensor:
        self.moving.mul_(0.9).add_(x.detach().mean(0))
        return self.inner(x) * self.same + self.inner.m.scale + self.moving  # type: ignore[operator]


class InList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.scales = nn.Linear(4, 4), [torch.arange(4.0), torch.ones(4)]

    def forward(self, x: Tensor) -> Tensor:
        for s in self.scales:
            x = self.linear(x) * s
        return x


class Reassigned(nn.Module):
    """An attribute and a buffer that are replaced, and a buffer that is made in the first call."""

    late: Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.moving = nn.Linear(4, 4), torch.zeros(4)
        self.register_buffer("mean", torch.zeros(4), persistent=False)
        self.register_buffer("late", None)

    def forward(self, x: Tensor) -> Tensor:
        if self.late is None:
            self.late = torch.arange(4.0)
        if self.late.sum() is not None and x.shape[0] > 4:
            self.moving = self.moving * 0.9 + x.detach().mean(0)
            self.mean = self.mean * 0.9 + self.moving
        return self.linear(x) * self.late + self.mean + self.moving


class Late(nn.Module):
    """A buffer that is made in the first call."""

    late: Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("late", None, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if self.late is None:
            self.late = torch.arange(4.0)
        return self.linear(x) * self.late


class Checkpointed(nn.Module):
    def __init__(self, p: float, reentrant: bool) -> None:
        super().__init__()
        self.a, self.b, self.p, self.reentrant = nn.Linear(4, 4), nn.Linear(4, 4), p, reentrant

    def inside(self, x: Tensor) -> Tensor:
        return F.dropout(F.gelu(self.b(F.gelu(self.a(x)))), self.p)

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.inside, self.b(x), use_reentrant=self.reentrant) + x  # type: ignore[no-any-return]


class Counting(Checkpointed):
    """The backward pass runs the norm a second time, and so moves its statistics twice."""

    def __init__(self) -> None:
        super().__init__(0.0, False)
        self.norm = nn.BatchNorm1d(4)

    def inside(self, x: Tensor) -> Tensor:
        return F.gelu(self.norm(self.a(x)))


class Listed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.list = nn.ParameterList([nn.Parameter(torch.ones(4) * k) for k in (1, 2, 3)])
        self.dict = nn.ParameterDict({"a": nn.Parameter(torch.ones(4)), "b": nn.Parameter(torch.ones(4))})

    def forward(self, x: Tensor) -> Tensor:
        for p in self.list:
            x = x * p
        return torch.tanh(x + self.dict["a"] * self.dict["b"])


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        y, w = self.inner(x[None], x[None], x[None])
        return y[0] + w.sum()  # type: ignore[no-any-return]


class Recurrent(nn.Module):
    def __init__(self, m: nn.Module) -> None:
        super().__init__()
        self.m = m

    def forward(self, x: Tensor) -> Tensor:
        y = self.m(x[:, None] if isinstance(self.m, nn.RNNBase) else x)
        return (y[0] if isinstance(y, tuple) else y).flatten(1)[: x.shape[0]] + x


class Symmetric(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.triu() + x.triu(1).T


def with_symmetric() -> nn.Module:
    m = nn.Linear(4, 4)
    parametrize.register_parametrization(m, "weight", Symmetric())
    return Around(m)


def made_lazily() -> nn.Module:
    m = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.ReLU())
    m(torch.ones(4, 4))
    return m


MODULES: dict[str, Callable[[], nn.Module]] = {
    "batch norm": lambda: Around(nn.BatchNorm1d(4)),
    "cumulative": lambda: Around(nn.BatchNorm1d(4, momentum=None)),
    "old weight norm": lambda: Around(torch.nn.utils.weight_norm(nn.Linear(4, 4))),
    "old spectral norm": lambda: Around(torch.nn.utils.spectral_norm(nn.Linear(4, 4))),
    "weight norm": lambda: Around(parametrizations.weight_norm(nn.Linear(4, 4))),
    "spectral norm": lambda: Around(parametrizations.spectral_norm(nn.Linear(4, 4))),
    "orthogonal": lambda: Around(parametrizations.orthogonal(nn.Linear(4, 4))),
    "parametrized": with_symmetric,
    "tensors": WithTensors,
    "in a list": InList,
    "reassigned": Reassigned,
    "late": Late,
    "checkpoint": lambda: Checkpointed(0.0, False),
    "checkpoint, dropout": lambda: Checkpointed(0.5, False),
    "checkpoint, batch norm": Counting,
    "reentrant": lambda: Checkpointed(0.0, True),
    "lists": Listed,
    "attention": Attention,
    "LSTM": lambda: Recurrent(nn.LSTM(4, 4)),
    "GRU": lambda: Recurrent(nn.GRU(4, 4)),
    "LSTM cell": lambda: Recurrent(nn.LSTMCell(4, 4)),
    "lazy": made_lazily,
}
FUSED = {
    "batch norm",
    "weight norm",
    "parametrized",
    "tensors",
    "in a list",
    "checkpoint",
    "lists",
    "attention",
    "LSTM cell",
    "lazy",
}


def steps(m: nn.Module, call: Callable[..., Any]) -> list[Any]:
    """What some steps of training give, with changing sizes, a look at the model between them, and what is left."""
    out: list[Any] = []
    optimizer, g = torch.optim.SGD(m.parameters(), lr=0.05), torch.Generator().manual_seed(1)
    torch.manual_seed(2)
    for k, n in enumerate((4, 4, 6, 4, 6)):
        x = torch.randn(n, 4, generator=g).requires_grad_(k % 2 == 0)
        y = call(x)
        y.square().mean().backward()
        out += [y.detach().clone(), x.grad, *(p.grad for p in m.parameters()), *(b.clone() for b in m.buffers())]
        optimizer.step()
        optimizer.zero_grad()
        if k == 2:
            m.eval()
            with torch.no_grad():
                out.append(call(x))
            m.train()
    tensors = [t.detach().clone() for part in m.modules() for t in vars(part).values() if isinstance(t, Tensor)]
    return [*out, *tensors, dict(m.state_dict()), torch.rand(2)]


@pytest.mark.every(6)
@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.filterwarnings("ignore:`torch.nn.utils.(weight|spectral)_norm` is deprecated")
@pytest.mark.filterwarnings("error::fusewright.core.errors.FusewrightWarning")
def test_steps_of_training(kind: str) -> None:
    torch.manual_seed(0)
    plain = MODULES[kind]()
    torch.manual_seed(0)
    m = MODULES[kind]()
    with record.recording() as seen, fusewright.options(rng="eager"):
        got = steps(m, fusewright.fuse(m))
    torch.testing.assert_close(got, steps(plain, plain), rtol=1e-4, atol=1e-5)
    assert any(g.kind == "plain" for g in seen) != (kind in FUSED) or kind in ("late", "spectral norm", "orthogonal")


def test_attributes_that_are_replaced() -> None:
    m = WithTensors()
    plain, fused, x = copy.deepcopy(m), fusewright.fuse(m), torch.randn(3, 4)
    new = [torch.ones(4), torch.full((1,), 2.0), torch.ones(4).double(), torch.ones(3, 1), nn.Parameter(torch.ones(4))]
    for k, t in enumerate([None, *new]):
        for q in (m, plain):
            if t is not None:
                q.same = copy.deepcopy(t)
            if k == 2:
                q.moving += 5
        got, want = fused(x), plain(x)
        torch.testing.assert_close(got, want)
    torch.testing.assert_close(m.moving, plain.moving)


@pytest.mark.parametrize("name", ["forward_hook", "forward_pre_hook", "full_backward_hook"])
def test_hooks_of_all_modules(name: str) -> None:
    """They come and go between calls, and reach the parts of a module."""
    change: dict[str, Any] = {
        "forward_hook": lambda m, args, out: out * 2 if isinstance(m, nn.Linear) else None,
        "forward_pre_hook": lambda m, args: (args[0] * 2,) if isinstance(m, nn.Linear) else None,
        "full_backward_hook": lambda m, grads, out: (grads[0] * 2,) if isinstance(m, nn.Linear) else None,
    }
    torch.manual_seed(0)
    m, x = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)), torch.randn(3, 4)
    fused = fusewright.fuse(m)

    def grads(f: Any) -> list[Any]:
        y = f(x.clone().requires_grad_())
        return [y, *torch.autograd.grad(y.sum(), list(m.parameters()))]

    for on in (False, True, False):
        handles = [getattr(nn.modules.module, f"register_module_{name}")(change[name])] if on else []
        try:
            torch.testing.assert_close(grads(fused), grads(m))
        finally:
            for h in handles:
                h.remove()


@pytest.mark.parametrize("where", ["fused", "plain"])
def test_backward_hooks_of_a_fused_module(where: str) -> None:
    m = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    fused, seen = fusewright.fuse(m), []
    x = torch.randn(3, 4, requires_grad=True)
    fused(x)
    owner = fused if where == "fused" else m
    owner.register_full_backward_hook(lambda _, grads, out: seen.append((len(grads), len(out))))
    fused(x).sum().backward()
    assert seen == [(1, 1)]


def test_sizes_of_parameters_are_part_of_a_trace() -> None:
    """The same module with parameters of other sizes is traced again; sizes of its input are not in a trace."""
    m = nn.Linear(8, 6)
    fused = fusewright.fuse(lambda m, x: F.gelu(m(x)))
    before = counters()
    for out, traces in ((6, 1), (6, 1), (5, 2), (6, 2)):
        with torch.no_grad():
            m.weight, m.bias = nn.Parameter(torch.randn(out, 8)), nn.Parameter(torch.randn(out))
        for n in (3, 4):
            x = torch.randn(n, 8, requires_grad=True)
            got, want = fused(m, x), F.gelu(m(x))
            assert_agrees(got, want)
            grads = [torch.autograd.grad(y.square().sum(), (x, m.weight, m.bias)) for y in (got, want)]
            assert_agrees(*grads)
        assert counted(before)["fuse_traces"] == traces
