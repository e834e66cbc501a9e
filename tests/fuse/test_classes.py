"""The class of tensors and numbers, and all attributes of a tensor, as a fused function sees them."""

from __future__ import annotations

import builtins
import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import Parameter

import fusewright
from tests.support import assert_agrees, counted, counters, no_fallbacks

SCALES = {Tensor: 2, Parameter: 3}


def plain() -> Tensor:
    return torch.ones(3)


def parameter() -> Tensor:
    return Parameter(torch.ones(3))


def marked() -> Tensor:
    x = torch.ones(3)
    x.scale = 3  # type: ignore[attr-defined]
    return x


def scale(x: Any) -> int:
    return 2 if type(x) is Tensor else 3


@functools.wraps(scale)
def wrapped(x: Any) -> int:
    return scale(x)


class Scales:
    @property
    def one(self) -> Any:
        return type(self)

    @classmethod
    def of(cls, x: Any) -> int:
        return SCALES[type(x)]


CLASSES: dict[str, Callable[[Tensor], Any]] = {
    "is a tensor": lambda x: 2 if type(x) is Tensor else 3,
    "is a parameter": lambda x: 2 if type(x) is Parameter else 3,
    "is one of": lambda x: 2 if type(x) in (Tensor,) else 3,
    "in a table": lambda x: SCALES[type(x)],
    "by name": lambda x: len(type(x).__name__),
    "in a function that is called": scale,
    "in a function that is wrapped": wrapped,
    "in a class": lambda x: Scales.of(x) + len(Scales().one.__name__),
    "equal types": lambda x: 2 if type(x) == type(x + 1) else 3,  # noqa: E721
    "__class__": lambda x: 2 if x.__class__ is Tensor else 3,
    "__class__ of a result": lambda x: 2 if (x + 1).__class__ is Tensor else 3,
    "its own name": lambda x: len(type.__name__),
    "of a size": lambda x: 2 if type(x.shape[0]) is int and type(x.shape[0] / 2) is float else 3,
    "of its attributes": lambda x: SCALES[Tensor] + len(vars(type)["__mro__"].__get__(Scales)),
    "by inspect": lambda x: 2 if inspect.getattr_static(Scales, "one") is vars(Scales)["one"] else 3,
    "of a shape": lambda x: 2 if isinstance(x.shape, type(x.size())) else 3,
    "other uses": lambda x: type("A", (), {"k": 2}).k if isinstance(Tensor, type) and issubclass(type, type) else 3,
}


@pytest.mark.parametrize("f", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize("make", [plain, parameter])
def test_classes(f: Callable[[Tensor], Any], make: Callable[[], Tensor]) -> None:
    def g(x: Tensor) -> Tensor:
        return x * f(x) + 1

    fused = fusewright.fuse(g)
    before = counters()
    with no_fallbacks():
        for _ in range(2):
            assert_agrees(fused(make()), g(make()))
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0
    assert "type" not in globals() and builtins.type is type


def test_one_function_of_both_kinds() -> None:
    fused = fusewright.fuse(lambda x: x * scale(x))
    for make in (plain, parameter, plain):
        assert_agrees(fused(make()), make() * scale(make()))


class Module(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(torch.ones(3))
        self.register_buffer("b", torch.ones(3))

    def forward(self, x: Tensor, n: int) -> Tensor:
        scales = [2 if t is type(self.w) else 3 for t in (Parameter, type(self.b), type(n))]
        return x * scales[0] * (5 if type(self.b) is Tensor else 7) * (11 if type(n) is int else 13)


def test_modules() -> None:
    m = Module()
    fused = fusewright.fuse(m)
    for n in (5, 6):
        assert torch.equal(fused(torch.ones(3), n), m(torch.ones(3), n))


@pytest.mark.parametrize("make", [plain, marked])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * vars(x).get("scale", 2),
        lambda x: x * x.__dict__.get("scale", 2),
        lambda x: x * (2 if "scale" in dir(x) else 3),
        lambda x: x * len(vars(x * 2)),
    ],
)
def test_all_attributes_of_a_tensor(f: Callable[[Tensor], Tensor], make: Callable[[], Tensor]) -> None:
    fused = fusewright.fuse(f)
    for _ in range(2):
        assert torch.equal(fused(make()), f(make()))


def test_other_threads_have_pythons_type() -> None:
    seen: list[Any] = []

    def f(x: Tensor) -> Tensor:
        def look() -> None:
            seen.append((type(len("abc")), type(x).__name__))

        t = threading.Thread(target=look)
        t.start()
        t.join()
        return x * 2

    assert torch.equal(fusewright.fuse(f)(torch.ones(3)), torch.full((3,), 2.0))
    assert all(kind is int and "Tensor" in name for kind, name in seen) and seen
