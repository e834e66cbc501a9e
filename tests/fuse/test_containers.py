"""Containers among the arguments: what is in them counts, not which object they are."""

from __future__ import annotations

from collections import Counter, OrderedDict, UserDict, UserList, deque

import pytest
import torch
from torch import nn

import fusewright
from tests.support import counted, counters


class Items(list):
    pass


class Names(dict):
    pass


CONTAINERS = [
    (lambda: {2, 3}, lambda c: c.add(10)),
    (lambda: Items([2, 3]), lambda c: c.append(10)),
    (lambda: Names(a=2, b=3), lambda c: c.update(c=10)),
    (lambda: UserDict(a=2), lambda c: c.update(c=10)),
    (lambda: UserList([2]), lambda c: c.append(10)),
    (lambda: Counter("aab"), lambda c: c.update("zzz")),
    (lambda: OrderedDict(a=2), lambda c: c.update(c=10)),
    (lambda: deque([2]), lambda c: c.append(10)),
    (lambda: bytearray(b"ab"), lambda c: c.append(10)),
    (lambda: {"a": {2, 3}}, lambda c: c["a"].add(10)),
]


@pytest.mark.parametrize("make, change", CONTAINERS)
def test_items_that_change_between_calls(make, change):
    """Whatever the container: one that is the same object may have other items."""

    def total(c, x):
        items = c if not isinstance(c, (dict, UserDict)) else c["a"] if isinstance(c.get("a"), set) else c.values()
        return x * sum(items)

    c, x, fused = make(), torch.ones(2), fusewright.fuse(total)
    for _ in range(2):
        assert torch.equal(fused(c, x), total(c, x))
    before = total(c, x)
    change(c)
    for _ in range(2):
        assert torch.equal(fused(c, x), total(c, x))
    assert not torch.equal(total(c, x), before)


def test_sets_are_told_apart_by_their_items():
    f = lambda flags, x: torch.tanh(x) * 2 if "a" in flags and 1 in flags else torch.sigmoid(x)
    fused, x, before = fusewright.fuse(f), torch.ones(2), counters()
    for flags in ({"a", 1}, {"b"}, {"a", 1}, {"a", 2}, frozenset({"a", 1}), frozenset({"a", 1}), set(), {(1, ("a",))}):
        torch.testing.assert_close(fused(flags, x), f(flags, x))
    assert counted(before)["fuse_traces"] == 6
    kinds = fusewright.fuse(lambda items, x: x * (2 if type(min(items)) is bool else 3))
    assert [kinds(items, x)[0].item() for items in ({1}, {True}, {1.0}, {True})] == [3.0, 2.0, 3.0, 2.0]


def test_sets_of_tensors_and_modules():
    a, b, relu = torch.ones(2), torch.full((2,), 3.0), nn.ReLU()
    fused = fusewright.fuse(lambda items, x: sum(items) + x)
    assert fused({a, b}, a).tolist() == [5.0, 5.0] and fused({b}, a).tolist() == [4.0, 4.0]
    fused = fusewright.fuse(lambda items, x: next(iter(items))(x) * 2)
    assert fused({relu}, -a).tolist() == [0.0, 0.0] and fused({nn.Identity()}, -a).tolist() == [-2.0, -2.0]


def test_iterators_go_on():
    fused = fusewright.fuse(lambda items, x: x * next(items))
    items = iter([1.0, 2.0, 3.0])
    assert [fused(items, torch.ones(2))[0].item() for _ in range(3)] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", [Items, UserList])
def test_a_container_of_ones_own_that_a_module_holds(kind):
    class Collecting(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = kind()

        def forward(self, x):
            self.seen.append(len(self.seen))
            return x * len(self.seen)

    m = Collecting()
    fused = fusewright.fuse(m)
    assert [fused(torch.ones(2))[0].item() for _ in range(3)] == [1.0, 2.0, 3.0]
    assert list(m.seen) == [0, 1, 2]


LOADED = []


class Lazy(dict):
    """A dictionary that makes what it gives when it is asked."""

    def __getitem__(self, key):
        return super().__getitem__(key) * 10

    def items(self):
        LOADED.extend(self.keys())
        return [(k, self[k]) for k in self.keys()]

    def values(self):
        return [v for _, v in self.items()]


class LazyItems(list):
    def __iter__(self):
        return (LOADED.append(x) or x * 10 for x in super().__iter__())


class Strict(dict):
    def __setitem__(self, key, value):
        assert key not in self, "it is there"
        LOADED.append(key)
        super().__setitem__(key, value)

    def clear(self):
        raise AssertionError("it is not to be cleared")


TABLE = {"dictionary": Lazy(a=2.0, b=3.0), "list": LazyItems([2.0, 3.0]), "strict": Strict(a=2.0)}


@pytest.mark.parametrize("kind, key", [("dictionary", "a"), ("list", 0)])
def test_methods_of_containers_are_called_by_the_program_alone(kind, key):
    """What is looked at while tracing, and compared at each call, is what Python keeps in a container."""
    fused, before, x = fusewright.fuse(lambda x: x * TABLE[kind][key]), counters(), torch.ones(2)
    LOADED.clear()
    plain = x * TABLE[kind][key]
    for _ in range(4):
        assert torch.equal(fused(x), plain)
    assert counted(before)["fuse_traces"] == 1 and not LOADED
    old = dict.__getitem__(TABLE[kind], key) if kind == "dictionary" else list.__getitem__(TABLE[kind], key)
    try:
        (dict if kind == "dictionary" else list).__setitem__(TABLE[kind], key, 7.0)
        assert torch.equal(fused(x), x * TABLE[kind][key]) and not torch.equal(fused(x), plain)
    finally:
        (dict if kind == "dictionary" else list).__setitem__(TABLE[kind], key, old)


def test_changes_of_containers_are_undone_without_their_methods():
    def step(x):
        TABLE["strict"][f"b{len(TABLE['strict'])}"] = 1.0
        return x * len(TABLE["strict"])

    fused = fusewright.fuse(step)
    LOADED.clear()
    try:
        assert [fused(torch.ones(2))[0].item() for _ in range(3)] == [2.0, 3.0, 4.0]
        assert list(TABLE["strict"]) == ["a", "b1", "b2", "b3"]
    finally:
        dict.clear(TABLE["strict"])
        dict.update(TABLE["strict"], a=2.0)
