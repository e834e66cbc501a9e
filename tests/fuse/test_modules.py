"""What fused modules hold and what is done to them: shared parts, ties, hooks, attributes; names."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fusewright
from tests.support import no_fallbacks


class Twice(nn.Module):
    """One submodule, with a parameter and a buffer, under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.b, self.again = self.a, self.norm

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(self.again(self.b(F.gelu(self.norm(self.a(x))))))


def grads(m: nn.Module) -> list[Tensor | None]:
    return [p.grad for p in m.parameters()]


def compare(fused: Any, plain: Any, *args: Tensor) -> None:
    """Results and gradients of two modules alike."""
    got, want = fused(*args), plain(*args)
    torch.testing.assert_close(got, want)
    for m, out in ((fused, got), (plain, want)):
        m.zero_grad()
        out.sin().sum().backward()
    torch.testing.assert_close(grads(fused), grads(plain))


@pytest.mark.parametrize("way", [fusewright.fuse, lambda m: fusewright.memory_efficient_fusion(m)])
def test_a_submodule_under_two_names(way: Any) -> None:
    torch.manual_seed(0)
    m = Twice().double()  # in front of a batch norm gradients cancel, of which eager's float32 leaves noise
    plain, x = copy.deepcopy(m), torch.randn(3, 4).double()
    parameters = list(m.parameters())
    fused = way(m)
    for _ in range(2):
        compare(fused, plain, x)
    assert all(p is q and type(p) is nn.Parameter for p, q in zip(m.parameters(), parameters, strict=True))
    torch.testing.assert_close(dict(m.state_dict()), dict(plain.state_dict()))
    compare(m, plain, x)


def test_a_submodule_under_two_names_becomes_two() -> None:
    m = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    m[2] = m[0]
    plain, fused, x = copy.deepcopy(m), fusewright.fuse(m), torch.randn(3, 4)
    compare(fused, plain, x)
    m[2], plain[2] = (copy.deepcopy(m[2]) for _ in range(2))
    for q in (m, plain):
        with torch.no_grad():
            q[2].weight.mul_(2)
    compare(fused, plain, x)


def test_tied_parameters_are_untied() -> None:
    m = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Tanh(), nn.Linear(4, 4, bias=False))
    m[2].weight = m[0].weight
    plain, fused, x = copy.deepcopy(m), fusewright.fuse(m), torch.randn(3, 4)
    compare(fused, plain, x)
    new = torch.randn(4, 4)
    m[2].weight, plain[2].weight = nn.Parameter(new.clone()), nn.Parameter(new.clone())
    compare(fused, plain, x)
    assert m[2].weight.grad is not None


@pytest.mark.parametrize("register", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_backward_hooks_of_submodules_that_come_later(register: str) -> None:
    fused = fusewright.fuse(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    x = torch.randn(3, 4)
    fused(x).sum().backward()
    calls: list[int] = []
    handle = getattr(fused._plain[0], register)(lambda *a: calls.append(1))
    fused(x).sum().backward()
    assert len(calls) == 1
    handle.remove()
    fused(x).sum().backward()
    assert len(calls) == 1


@pytest.mark.parametrize("early", [False, True])
def test_hooks_of_a_module_that_is_an_argument(early: bool) -> None:
    fused = fusewright.fuse(lambda m, x: m(x) + 1)
    m, x = nn.Linear(4, 4), torch.randn(3, 4)
    calls: list[int] = []

    def hook(m: nn.Module, args: Any, out: Tensor) -> Tensor:
        calls.append(1)
        return out * 2

    if not early:
        torch.testing.assert_close(fused(m, x), m(x) + 1)
    handle = m.register_forward_hook(hook)
    for k in range(3):
        torch.testing.assert_close(fused(m, x), m(x) + 1)
        assert len(calls) == 2 * (k + 1)
    handle.remove()
    torch.testing.assert_close(fused(m, x), m(x) + 1)
    assert len(calls) == 6


def test_attributes_are_those_of_the_module() -> None:
    class Eps(nn.Module):
        eps = 1.0

        def forward(self, x: Tensor) -> Tensor:
            return x * 2 + self.eps

    m = Eps()
    fused = fusewright.fuse(m)
    fused.eps = 5.0
    assert m.eps == 5.0 and fused(torch.ones(3)).tolist() == [7.0] * 3
    del fused.eps
    assert "eps" not in vars(m)
    fused.train(False)
    assert not m.training and not fused.training
    fused.scale = nn.Parameter(torch.ones(2))
    assert [name for name, _ in m.named_parameters()] == ["scale"]


@pytest.mark.parametrize("scripted", [False, True])
def test_containers_of_modules_stay_containers(scripted: bool) -> None:
    plain: Any = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Tanh())
    given = torch.jit.script(plain) if scripted else plain
    fused: Any = fusewright.fuse(given)
    x = torch.randn(3, 4)
    assert len(fused) == 3 and len(list(fused)) == 3 and bool(fused)
    assert fused[0].weight is plain[0].weight and list(fused)[1] is given[1]
    torch.testing.assert_close(fused(x), plain(x))
    if not scripted:  # those of TorchScript cannot be changed, nor asked what is in them
        assert plain[1] in fused and nn.ReLU() not in fused
        fused[1] = nn.GELU()
        torch.testing.assert_close(fused(x), plain(x))
        del fused[2]
        assert len(plain) == 2 and isinstance(plain[1], nn.GELU)
        torch.testing.assert_close(fused(x), plain(x))
        torch.testing.assert_close(nn.Sequential(*fused)(x), plain(x))


def test_modules_that_are_no_containers_say_so() -> None:
    fused: Any = fusewright.fuse(nn.Linear(4, 4))
    assert bool(fused)
    for use in (len, list, lambda m: m[0], lambda m: 1 in m):
        with pytest.raises(TypeError, match="Linear"):
            use(fused)
    table: Any = fusewright.fuse(nn.ModuleDict({"a": nn.Linear(4, 4)}))
    assert "a" in table and table["a"].in_features == 4 and list(table) == ["a"]


@pytest.mark.parametrize("names", [("_", "_n"), ("_c", "_o"), ("_s0", "_s1"), ("_type", "_slow"), ("p0_n", "_n")])
def test_names_of_parameters(names: tuple[str, str]) -> None:
    """Whatever generated code calls its own variables."""
    scope: dict[str, Any] = {}
    exec(f"def f({', '.join(names)}): return {names[0]} * 2 + {names[1]}", scope)
    fused = fusewright.fuse(scope["f"])
    with no_fallbacks():
        for shape in ((5, 1), (4, 1), (4, 3), (5, 1), (4,), (4,)):
            x, y = torch.randn(shape), torch.randn(shape)
            torch.testing.assert_close(fused(x, y), x * 2 + y)
            torch.testing.assert_close(fused(**dict(zip(names, (x, y), strict=True))), x * 2 + y)
    fused._fusewright.scope["_slow"] = None
    torch.testing.assert_close(fused(x, y), x * 2 + y)
