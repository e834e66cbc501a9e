"""What a fused function reads from outside: globals, closures, attributes of what is found there."""

from __future__ import annotations

import argparse
import copy
import functools
import math
import types
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fusewright
from tests.fuse import outside_settings as settings
from tests.support import assert_agrees, counted, counters

EPS = 0.5
SIZES = [1, 2]
TABLE = {"scale": 2.0, "acts": [F.relu]}
ACT = F.relu
LAYER: Any = nn.ReLU()


class Config:
    eps = 0.5
    act = F.relu
    __slots__ = ("__dict__", "__weakref__", "slot")

    def __init__(self, scale: float = 2.0) -> None:
        self.scale, self.sizes, self.slot, self.inner = scale, [1, 2], 3.0, None

    @property
    def doubled(self) -> float:
        return self.scale * 2

    @functools.cached_property
    def cached(self) -> float:
        return self.scale * 3

    def __call__(self, x: Tensor) -> Tensor:
        return x * self.scale


class Derived(Config):
    pass


@dataclass(frozen=True)
class Frozen:
    scale: float = 2.0


class Meta(type):
    pass


class Odd(metaclass=Meta):
    def __init__(self) -> None:
        self.eps = 0.5

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


class Attributes(dict[str, Any]):
    def __getattr__(self, name: str) -> Any:
        return self[name]


CFG, FROZEN, SPACE = Derived(), Frozen(), types.SimpleNamespace(eps=0.5)
ARGS, ITEMS, ODD = argparse.Namespace(eps=0.5), Attributes(eps=0.5), Odd()
LIST = [Config(), Config()]
CALL: Any = functools.partial(Config.__call__, CFG)


def helper(x: Tensor) -> Tensor:
    return ACT(x) + EPS


def other(x: Tensor) -> Tensor:
    return x * 7


helper.scale = 2.0  # type: ignore[attr-defined]
THIS = globals()


def put(name: str, value: Any) -> Callable[[], None]:
    return lambda: THIS.__setitem__(name, value)


def attribute(x: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(x, name, value)


CASES: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[], None], Callable[[], None]]] = {
    "a number": (lambda x: x + EPS, put("EPS", 3.0), put("EPS", 0.5)),
    "another type": (lambda x: x * (2 if type(EPS) is float else 3), put("EPS", 1), put("EPS", 0.5)),
    "in what is called": (lambda x: helper(x) * 2, put("EPS", 3.0), put("EPS", 0.5)),
    "in what is inside": (lambda x: sum((lambda k: x * EPS * k)(k) for k in (1, 2)), put("EPS", 3.0), put("EPS", 0.5)),  # type: ignore[return-value, misc]
    "a function": (lambda x: helper(x) * 2, put("helper", other), put("helper", helper)),
    "a function of torch": (lambda x: ACT(x) * 2, put("ACT", torch.tanh), put("ACT", F.relu)),
    "a function's attribute": (
        lambda x: x * helper.scale,
        attribute(helper, "scale", 3.0),
        attribute(helper, "scale", 2.0),
    ),  # type: ignore[attr-defined]
    "a list": (lambda x: x * sum(SIZES), lambda: SIZES.append(5), lambda: SIZES.pop() and None),
    "a dictionary": (lambda x: x * TABLE["scale"], lambda: TABLE.update(scale=3.0), lambda: TABLE.update(scale=2.0)),
    "a list in a dictionary": (
        lambda x: TABLE["acts"][0](x * 2),  # type: ignore[index]
        lambda: TABLE["acts"].__setitem__(0, torch.tanh),  # type: ignore[attr-defined]
        lambda: TABLE["acts"].__setitem__(0, F.relu),  # type: ignore[attr-defined]
    ),
    "a module of Python's": (
        lambda x: x * settings.SCALE,
        attribute(settings, "SCALE", 5),
        attribute(settings, "SCALE", 2),
    ),
    "an object there": (
        lambda x: x * settings.nested.eps,
        attribute(settings.nested, "eps", 5.0),
        attribute(settings.nested, "eps", 2.0),
    ),
    "by getattr": (
        lambda x: x * getattr(settings, "SCALE", 1) * getattr(CFG, "scale", 1),
        lambda: (setattr(settings, "SCALE", 5), setattr(CFG, "scale", 5.0)) and None,
        lambda: (setattr(settings, "SCALE", 2), setattr(CFG, "scale", 2.0)) and None,
    ),
    "imported inside": (settings.inside, attribute(settings, "SCALE", 5), attribute(settings, "SCALE", 2)),
    "a class": (lambda x: x * Config.eps, attribute(Config, "eps", 4.0), attribute(Config, "eps", 0.5)),
    "a base class": (lambda x: x * Derived.eps, attribute(Config, "eps", 4.0), attribute(Config, "eps", 0.5)),
    "a class by an object": (lambda x: x * CFG.eps, attribute(Config, "eps", 4.0), attribute(Config, "eps", 0.5)),
    "hidden by an object": (lambda x: x * CFG.eps, attribute(CFG, "eps", 4.0), lambda: delattr(CFG, "eps")),
    "an object": (lambda x: x * CFG.scale, attribute(CFG, "scale", 4.0), attribute(CFG, "scale", 2.0)),
    "a slot": (lambda x: x * CFG.slot, attribute(CFG, "slot", 4.0), attribute(CFG, "slot", 3.0)),
    "a property": (lambda x: x * CFG.doubled, attribute(CFG, "scale", 4.0), attribute(CFG, "scale", 2.0)),
    "a method": (lambda x: CFG(x) * 2, attribute(CFG, "scale", 4.0), attribute(CFG, "scale", 2.0)),
    "a partial": (lambda x: CALL(x) * 2, attribute(CFG, "scale", 4.0), attribute(CFG, "scale", 2.0)),
    "a list of an object": (lambda x: x * CFG.sizes[-1], lambda: CFG.sizes.append(9), lambda: CFG.sizes.pop() and None),
    "an object in a list": (
        lambda x: x * LIST[1].scale,
        attribute(LIST[1], "scale", 4.0),
        attribute(LIST[1], "scale", 2.0),
    ),
    "all attributes": (lambda x: x * vars(CFG)["scale"], attribute(CFG, "scale", 4.0), attribute(CFG, "scale", 2.0)),
    "not there": (
        lambda x: x * (2 if hasattr(CFG, "more") else 3),
        attribute(CFG, "more", 1),
        lambda: delattr(CFG, "more"),
    ),
    "a frozen object": (lambda x: x * FROZEN.scale, put("FROZEN", Frozen(3.0)), put("FROZEN", FROZEN)),
    "a namespace": (lambda x: x * SPACE.eps, attribute(SPACE, "eps", 4.0), attribute(SPACE, "eps", 0.5)),
    "arguments": (lambda x: x * ARGS.eps, attribute(ARGS, "eps", 4.0), attribute(ARGS, "eps", 0.5)),
    "of a class of its own kind": (lambda x: x * ODD.eps, attribute(ODD, "eps", 4.0), attribute(ODD, "eps", 0.5)),
    "items as attributes": (lambda x: x * ITEMS.eps, lambda: ITEMS.update(eps=4.0), lambda: ITEMS.update(eps=0.5)),
    "a module": (lambda x: LAYER(x * 2), put("LAYER", nn.Tanh()), put("LAYER", LAYER)),
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("gradient", [False, pytest.param(True, marks=pytest.mark.every(4))])
def test_another_value_and_the_old_one(kind: str, gradient: bool) -> None:
    f, change, back = CASES[kind]
    saved = {k: THIS[k] for k in ("EPS", "ACT", "helper", "FROZEN", "LAYER")}
    f = types.FunctionType(f.__code__, f.__globals__, "f") if f is not settings.inside else f
    fused, x = fusewright.fuse(f), torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_(gradient)

    def check(traces: int) -> None:
        before = counters()
        for _ in range(2):
            got, want = fused(x), f(x)
            assert_agrees(got.detach(), want.detach())
            if gradient:
                weight = torch.arange(12.0).reshape(3, 4)
                assert_agrees(torch.autograd.grad(got, x, weight), torch.autograd.grad(want, x, weight))
        assert counted(before)["fuse_traces"] == traces and counted(before)["fuse_declined"] == 0

    check(1)
    change()
    try:
        check(1)
        back()
        check(0)
        change()
        check(0)
    finally:
        back()
        THIS.update(saved)
    assert "__getattribute__" not in vars(Config) and "__setattr__" not in vars(Derived)


def test_closures() -> None:
    scale, cfg, act = 2.0, Config(), torch.tanh

    @fusewright.fuse
    def f(x: Tensor) -> Tensor:
        return act(x) * scale + cfg.scale

    def assign(value: float, function: Any) -> None:
        nonlocal scale, act
        scale, act = value, function

    x, before = torch.ones(3), counters()
    for value, function, traces in (
        (2.0, torch.tanh, 1),
        (3.0, torch.tanh, 2),
        (3.0, torch.sin, 3),
        (2.0, torch.tanh, 3),
    ):
        assign(value, function)
        torch.testing.assert_close(f(x), function(x) * value + 2)
        assert counted(before)["fuse_traces"] == traces
    cfg = Config(5.0)
    torch.testing.assert_close(f(x), torch.tanh(x) * 2 + 5)
    plain: Any = f.__wrapped__
    del plain.__closure__[plain.__code__.co_freevars.index("act")].cell_contents
    with pytest.raises(NameError):
        f(x)


def test_negative_zeros() -> None:
    zero = 0.0
    fused = fusewright.fuse(lambda x: x * math.copysign(2.0, zero))
    for zero in (0.0, -0.0, 0.0):
        assert torch.equal(fused(torch.ones(3)), torch.full((3,), math.copysign(2.0, zero)))


def test_globals_that_are_deleted_and_defined_later() -> None:
    names: dict[str, Any] = {"__name__": "made"}
    exec("def f(x, late):\n    return later(x) if late else x * EPS", names)
    names["EPS"] = 2.0
    f, x = fusewright.fuse(names["f"]), torch.ones(3)
    assert torch.equal(f(x, False), x * 2)
    with pytest.raises(NameError):
        f(x, True)
    names["later"] = other
    assert torch.equal(f(x, True), x * 7)
    before = counters()
    del names["EPS"]
    assert torch.equal(f(x, True), x * 7)
    with pytest.raises(NameError):
        f(x, False)
    names["EPS"] = 2.0
    assert torch.equal(f(x, False), x * 2) and torch.equal(f(x, True), x * 7)
    assert counted(before)["fuse_declined"] <= 1


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.config, self.act = nn.Linear(4, 4), Config(), functools.partial(F.gelu, approximate="tanh")

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.linear(x)) * self.config.scale + EPS


def test_objects_that_modules_hold() -> None:
    m = Model()
    m.config.inner = Config(7.0)  # type: ignore[assignment]
    plain, fused, x = copy.deepcopy(m), fusewright.fuse(m), torch.randn(3, 4)
    before = counters()
    for value, traces in ((2.0, 1), (3.0, 2), (2.0, 2)):
        for own in (m, plain):
            own.config.scale = value
        torch.testing.assert_close(fused(x), plain(x))
        assert counted(before)["fuse_traces"] == traces
    for _ in range(3):  # another object with the same attributes
        m.config = Config()
        torch.testing.assert_close(fused(x), plain(x))
    assert counted(before)["fuse_traces"] == 2
    m.config = plain.config = Config(5.0)
    torch.testing.assert_close(fused(x), plain(x))
    m.act = plain.act = torch.tanh
    torch.testing.assert_close(fused(x), plain(x))


def test_objects_among_arguments() -> None:
    def f(x: Tensor, cfg: Config, kind: type[Config]) -> Tensor:
        return x * cfg.scale + sum(cfg.sizes) + kind.eps

    fused, cfg, x, before = fusewright.fuse(f), Config(), torch.ones(3), counters()
    for scale, traces in ((2.0, 1), (3.0, 2), (2.0, 2)):
        cfg.scale = scale
        torch.testing.assert_close(fused(x, cfg, Config), f(x, cfg, Config))
        assert counted(before)["fuse_traces"] == traces
    cfg.sizes.append(3)
    torch.testing.assert_close(fused(x, cfg, Config), f(x, cfg, Config))


def test_modules_in_globals() -> None:
    global LAYER
    LAYER = nn.Dropout(0.5)
    fused, x = fusewright.fuse(lambda x: LAYER(x) * 2), torch.ones(400)
    try:
        assert fused(x).unique().tolist() == [0.0, 4.0]
        LAYER.eval()
        assert torch.equal(fused(x), x * 2)
        LAYER.train()
        LAYER.p = 0.0
        assert torch.equal(fused(x), x * 2)
        LAYER = nn.Linear(400, 2)
        with pytest.raises(fusewright.UserError, match="no argument"):
            fused(x)
    finally:
        LAYER = nn.ReLU()


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_containers_of_many_items(kind: Any) -> None:
    table = kind((k, float(k)) for k in range(200))
    fused, x = fusewright.fuse(lambda x: x * table[150]), torch.ones(3)
    before = counters()
    for value, traces in ((150.0, 1), (2.0, 2), (2.0, 2)):
        if table[150] != value:
            table[150] = value
        assert torch.equal(fused(x), x * value)
        assert counted(before)["fuse_traces"] == traces
