"""What a fused function reads from outside, of every kind that may change in place: functions, classes, what Python's
library has to hold values. A change between two calls is seen, whatever it is that changes."""

from __future__ import annotations

import argparse
import array
import collections
import contextvars
import copy
import enum
import functools
import operator
import os
import sys
import threading
import types
import typing
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn

import fusewright
from tests.support import counted, counters

Case = tuple[Any, Callable[[], Any]]  # a function, and what changes its result
CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    CASES[make.__name__] = make
    return make


@dataclass
class Inner:
    a: float = 2.0


@dataclass
class Config:
    inner: Inner = field(default_factory=Inner)
    b: Any = 2.0


class Named(typing.Protocol):
    b: float


def using(read: Callable[[], Any], change: Callable[[], Any]) -> Case:
    return (lambda x: x * read()), change


def sets(owner: Any, name: str, value: Any = 7.0) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)


# --- functions ---
@case
def defaults() -> Case:
    def f(x: Tensor, k: float = 2.0) -> Tensor:
        return x * k

    return (lambda x: f(x)), sets(f, "__defaults__", (7.0,))


@case
def items_of_defaults() -> Case:
    def f(x: Tensor, k: Any = [2.0]) -> Tensor:  # noqa: B006
        return x * k[0]

    return (lambda x: f(x)), lambda: f.__defaults__[0].append(f.__defaults__[0].pop() + 1)  # type: ignore[index]


@case
def objects_in_defaults() -> Case:
    def f(x: Tensor, *, k: Any = Config()) -> Tensor:  # noqa: B008
        return x * k.b

    return (lambda x: f(x)), sets(f.__kwdefaults__["k"], "b")  # type: ignore[index]


@case
def code() -> Case:
    def f(x: Tensor) -> Tensor:
        return x * 2

    def g(x: Tensor) -> Tensor:
        return x * 3

    return (lambda x: f(x)), sets(f, "__code__", g.__code__)


@case
def keywords_of_a_partial() -> Case:
    p = functools.partial(lambda x, k: x * k, k=2.0)
    return (lambda x: p(x)), lambda: p.keywords.update(k=7.0)


@case
def attributes_of_a_partial() -> Case:
    p: Any = functools.partial(lambda x: x * p.scale)
    p.scale = 2.0
    return (lambda x: p(x)), sets(p, "scale")


@case
def a_closure_in_a_dictionary() -> Case:
    scale = [2.0]
    acts = {"relu": lambda x: x * scale[0]}
    return (lambda x: acts["relu"](x)), lambda: scale.__setitem__(0, 7.0)


@case
def a_closure_in_an_attribute() -> Case:
    scale = {"s": 2.0}
    c = Config(b=lambda x: x * scale["s"])
    return (lambda x: c.b(x)), lambda: scale.update(s=7.0)


@case
def the_closure_of_a_decorator() -> Case:
    scale = {"s": 2.0}

    def scaled(f: Any) -> Any:
        @functools.wraps(f)
        def g(*args: Any) -> Any:
            return f(*args) * scale["s"]

        return g

    return scaled(lambda x: x * 3), lambda: scale.update(s=7.0)


@case
def the_closure_of_a_property() -> Case:
    scale = {"s": 2.0}

    class C:
        @property
        def s(self) -> float:
            return scale["s"]

    c = C()
    return using(lambda: c.s, lambda: scale.update(s=7.0))


@case
def a_method() -> Case:
    class C:
        def __init__(self) -> None:
            self.config = Config()

        def f(self, x: Tensor) -> Tensor:
            return x * self.config.inner.a

    c = C()
    return c.f, sets(c.config.inner, "a")


@case
def an_object_that_is_called() -> Case:
    class C:
        def __init__(self) -> None:
            self.config = Config()

        def __call__(self, x: Tensor) -> Tensor:
            return x * self.config.b

    c = C()
    return c, sets(c.config, "b")


# --- classes ---
def class_and_object() -> tuple[Any, Any, Any]:
    class Base:
        scale = 2.0

        def f(self, x: Tensor) -> Tensor:
            return x * 2

        def __call__(self, x: Tensor) -> Tensor:
            return x * 2

        @property
        def p(self) -> float:
            return 2.0

        @staticmethod
        def s(x: Tensor) -> Tensor:
            return x * 2

    class Derived(Base):
        def up(self, x: Tensor) -> Tensor:
            return super().f(x) * super().scale

    return Base, Derived, Derived()


def other(self: Any, x: Tensor) -> Tensor:
    return x * 7


@case
def a_method_that_is_replaced() -> Case:
    base, _, c = class_and_object()
    return (lambda x: c.f(x)), sets(base, "f", other)


@case
def a_method_that_is_overridden() -> Case:
    _, derived, c = class_and_object()
    return (lambda x: c.f(x)), sets(derived, "f", other)


@case
def a_method_without_a_name() -> Case:
    base, _, c = class_and_object()
    return (lambda x: c(x)), sets(base, "__call__", other)


@case
def a_property_that_is_replaced() -> Case:
    base, _, c = class_and_object()
    return using(lambda: c.p, sets(base, "p", property(lambda self: 7.0)))


@case
def a_static_method_that_is_replaced() -> Case:
    base, _, _ = class_and_object()
    return (lambda x: base.s(x)), sets(base, "s", staticmethod(lambda x: x * 7))


@case
def by_super() -> Case:
    base, _, c = class_and_object()
    return (lambda x: c.up(x)), sets(base, "scale")


@case
def hidden_by_a_derived_class() -> Case:
    _, derived, _ = class_and_object()
    return using(lambda: derived.scale, sets(derived, "scale"))


@case
def not_there_before() -> Case:
    base, _, c = class_and_object()
    return using(lambda: getattr(c, "more", 2.0), sets(base, "more"))


@case
def another_class() -> Case:
    _, _, c = class_and_object()

    class Other(type(c)):  # type: ignore[misc]
        def __call__(self, x: Tensor) -> Tensor:
            return x * 7

    return (lambda x: c(x)), sets(c, "__class__", Other)


@case
def of_a_metaclass() -> Case:
    class Meta(type):
        scale = 2.0

    class C(metaclass=Meta):
        bias = 1.0

    return using(lambda: C.scale + C.bias, sets(Meta, "scale"))


@case
def of_a_class_with_a_metaclass() -> Case:
    class C(Named):
        def __init__(self) -> None:
            self.b = 2.0

    c = C()
    return using(lambda: c.b, sets(c, "b"))


@case
def of_an_enumeration() -> Case:
    class Kind(enum.Enum):
        A = (1.0, [2.0])

    return using(lambda: Kind.A.value[1][0], lambda: Kind.A.value[1].insert(0, 7.0))


@case
def a_descriptors() -> Case:
    class Value:
        v = 2.0

        def __get__(self, x: Any, t: Any = None) -> float:
            return self.v

    class C:
        value = Value()

    c = C()
    return using(lambda: c.value, sets(vars(C)["value"], "v"))


# --- modules ---
class Small(nn.Module):
    part: Any

    def forward(self, x: Tensor) -> Any:
        return self.body(x)

    def body(self, x: Tensor) -> Tensor:
        return x * getattr(self, "more", 2.0)


def of_module(change: Callable[[Any, Any], None], **methods: Any) -> Case:
    """A module of a class of its own."""
    kind: Any = type("Kind", (Small,), {"__module__": __name__, **methods})
    m = kind()
    m.scale = 2.0
    return m, lambda: change(kind, m)


@case
def a_modules_attribute_that_was_not_there() -> Case:
    return of_module(lambda kind, m: setattr(m, "more", 7.0))


@case
def a_modules_class_attribute_that_was_not_there() -> Case:
    return of_module(lambda kind, m: setattr(kind, "more", 7.0))


@case
def a_modules_method() -> Case:
    return of_module(lambda kind, m: setattr(kind, "body", other))


@case
def a_modules_forward() -> Case:
    return of_module(lambda kind, m: setattr(kind, "forward", other))


@case
def a_modules_own_forward() -> Case:
    return of_module(lambda kind, m: setattr(m, "forward", lambda x: x * 7))


@case
def a_modules_dictionary() -> Case:
    body = lambda self, x: x * self.__dict__["scale"] * vars(self).get("more", 2.0)
    return of_module(lambda kind, m: setattr(m, "more", 7.0), body=body)


@case
def the_forward_of_a_part() -> Case:
    class Part(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    m = Small()
    m.part = Part()
    m.body = lambda x: m.part(x)  # type: ignore[method-assign]
    return m, sets(Part, "forward", other)


# --- names that the code does not have ---
@case
def names_that_are_composed() -> Case:
    c = types.SimpleNamespace(layer0=2.0)
    return using(lambda: sum(getattr(c, f"layer{k}") for k in range(1)), sets(c, "layer0"))


@case
def names_in_a_list() -> Case:
    class C:
        scale = 2.0

    names = ["scale"]
    return using(lambda: getattr(C, names[0]), sets(C, "scale"))


@case
def names_in_a_getter() -> Case:
    c, get = argparse.Namespace(scale=2.0), operator.attrgetter("scale")
    return using(lambda: get(c), sets(c, "scale"))


@case
def names_in_vars() -> Case:
    c = types.SimpleNamespace(scale=2.0)
    return using(lambda: vars(c)["scale"], sets(c, "scale"))


@case
def names_in_globals() -> Case:
    globals()["MADE"] = 2.0
    return using(lambda: globals()["MADE"], lambda: globals().update(MADE=7.0))


@case
def a_name_that_was_not_there() -> Case:
    c = types.SimpleNamespace()
    return using(lambda: getattr(c, "more", 2.0), sets(c, "more"))


@case
def more_names() -> Case:
    c = Config()
    return using(lambda: len(c.__dict__), sets(c, "more"))


@case
def a_copy() -> Case:
    c = Config()
    return using(lambda: copy.deepcopy(c).inner.a, sets(c.inner, "a"))


# --- what holds values ---
@case
def the_order_of_a_dictionary() -> Case:
    d = collections.OrderedDict(a=2.0, b=3.0)
    return using(lambda: next(iter(d.values())), lambda: d.move_to_end("a"))


@case
def a_chain_of_dictionaries() -> Case:
    d = {"a": 2.0}
    chain = collections.ChainMap({}, d)
    return using(lambda: chain["a"], lambda: d.update(a=7.0))


@case
def a_view_of_a_dictionary() -> Case:
    d = {"a": 2.0}
    values, proxy = d.values(), types.MappingProxyType(d)
    return using(lambda: next(iter(values)) + proxy["a"], lambda: d.update(a=7.0))


@case
def the_data_of_a_dictionary() -> Case:
    d = collections.UserDict(a=2.0)
    return using(lambda: d["a"], sets(d, "data", {"a": 7.0}))


@case
def deep_inside() -> Case:
    c = Config()
    d = functools.reduce(lambda x, k: {"a": [x]}, range(4), c)  # type: ignore[arg-type, return-value]
    read = lambda: functools.reduce(lambda x, k: x["a"][0], range(4), d).b  # type: ignore[index]
    return using(read, sets(c, "b"))


@case
def one_of_many() -> Case:
    many = [Config() for _ in range(2000)]
    return using(lambda: many[1999].b, sets(many[1999], "b"))


@case
def attributes_of_a_tuple() -> Case:
    t: Any = type("T", (tuple,), {"__module__": __name__})((1.0,))
    t.scale = 2.0
    return using(lambda: t.scale, sets(t, "scale"))


@case
def an_array() -> Case:
    a = numpy.array([2.0, 3.0])
    return using(lambda: float(a[0]), lambda: a.__setitem__(0, 7.0))


@case
def other_arrays() -> Case:
    a, b = array.array("d", [2.0]), bytearray(b"ab")
    return using(lambda: a[0] * b[0], lambda: b.__setitem__(0, 7))


@case
def a_numpy_number() -> Case:
    c = Config(b=numpy.float64(2.0))
    return using(lambda: c.b, sets(c, "b", numpy.float64(7.0)))


@case
def a_weak_reference() -> Case:
    c = Config()
    get, held = weakref.ref(c), [c]
    return using(lambda: get().b, sets(held[0], "b"))  # type: ignore[union-attr]


@case
def of_a_thread() -> Case:
    own = threading.local()
    own.scale = 2.0
    return using(lambda: own.scale, sets(own, "scale"))


@case
def of_a_context() -> Case:
    scale: Any = contextvars.ContextVar("scale", default=2.0)
    return using(lambda: scale.get(), lambda: scale.set(7.0))


@case
def of_the_environment() -> Case:
    name = "FUSEWRIGHT_TESTS_SCALE"
    os.environ[name] = "2.0"
    read = lambda: float(os.environ[name]) + float(os.environ.get(f"{name}_MORE", "1")) + len(os.getenv(name, ""))
    return using(read, lambda: os.environ.update({name: "7.0"}))


@case
def of_the_environment_by_a_function() -> Case:
    name = "FUSEWRIGHT_TESTS_GIVEN"
    os.environ[name] = "2.0"
    return using(lambda: float(os.getenv(name, "1")), lambda: os.environ.update({name: "7.0"}))


@case
def of_another_module() -> Case:
    first, second = types.ModuleType("made_here"), types.ModuleType("made_here")
    first.SCALE, second.SCALE = 2.0, 7.0  # type: ignore[attr-defined]
    sys.modules["made_here"] = first

    def read() -> Any:
        import made_here  # type: ignore[import-not-found]

        return made_here.SCALE

    return using(read, lambda: sys.modules.update(made_here=second))


@pytest.mark.parametrize("kind", CASES)
def test_a_change_is_seen(kind: str) -> None:
    f, change = CASES[kind]()
    x, before = torch.arange(1.0, 5.0), counters()
    try:
        fused = fusewright.fuse(f)
        first = f(x)
        for _ in range(2):
            torch.testing.assert_close(fused(x), first)
        assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0
        change()
        assert not torch.equal(f(x), first)
        torch.testing.assert_close(fused(x), f(x))
    finally:
        os.environ.pop("FUSEWRIGHT_TESTS_SCALE", None)
        sys.modules.pop("made_here", None)


def test_equal_numpy_numbers_share_a_trace() -> None:
    c, before = Config(), counters()
    fused = fusewright.fuse(lambda x: x * c.b)
    for _ in range(3):
        c.b = numpy.float32(2.5)
        assert torch.equal(fused(torch.ones(3)), torch.full((3,), 2.5))
    assert counted(before)["fuse_traces"] == 1


def test_names_that_classes_get_and_nobody_reads() -> None:
    base, derived, c = class_and_object()
    fused, before = fusewright.fuse(lambda x: c.f(x) * c.scale), counters()
    for k in range(3):
        setattr(base, f"unread{k}", k)
        setattr(derived, f"unread{k}", k)
        assert torch.equal(fused(torch.ones(3)), torch.full((3,), 4.0))
    assert counted(before)["fuse_traces"] == 1
    derived.scale = 7.0
    assert torch.equal(fused(torch.ones(3)), torch.full((3,), 14.0))


def test_a_thread_has_its_own_values() -> None:
    own = threading.local()
    fused, got = fusewright.fuse(lambda x: x * own.scale), []

    def call(scale: float) -> None:
        own.scale = scale
        got.append(float(fused(torch.ones(1))))

    for scale in (2.0, 3.0, 2.0):
        t = threading.Thread(target=call, args=(scale,))
        t.start()
        t.join()
    assert got == [2.0, 3.0, 2.0]


@pytest.mark.parametrize("kind", ["generator", "iterator", "counter"])
def test_iterators_go_on(kind: str) -> None:
    """Each call takes an item: a trace would take one once. Nothing is taken by the attempt."""
    made: Any = {"generator": (k for k in range(9)), "iterator": iter([0, 1, 2, 3]), "counter": map(int, "0123")}[kind]
    fused = fusewright.fuse(lambda x: x + next(made))
    assert [float(fused(torch.zeros(1))) for _ in range(3)] == [0.0, 1.0, 2.0]


def test_arrays_that_the_function_writes_to() -> None:
    seen = numpy.zeros(2)

    def f(x: Tensor) -> Tensor:
        seen[0] += 1
        return x * float(seen[0])

    fused = fusewright.fuse(f)
    assert [float(fused(torch.ones(1))) for _ in range(3)] == [1.0, 2.0, 3.0] and seen[0] == 3


def test_context_variables_that_the_function_sets() -> None:
    calls: Any = contextvars.ContextVar("calls", default=0)

    def f(x: Tensor) -> Tensor:
        calls.set(calls.get() + 1)
        return x * calls.get()

    fused = fusewright.fuse(f)
    assert [float(fused(torch.ones(1))) for _ in range(3)] == [1.0, 2.0, 3.0]
