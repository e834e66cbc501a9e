"""What traces assume about sizes, whatever it is made of: each call checks it."""

from __future__ import annotations

import math

import pytest
import torch

import fusewright
from fusewright.trace import printing
from tests.support import counted, counters

FUNCTIONS = {
    "floor": lambda x: x * 2 if math.floor(x.size(0) / 2) > 2 else x * 3,
    "ceil": lambda x: torch.linspace(0, 1, math.ceil(x.size(0) / 3)) * 2,
    "trunc": lambda x: x * 2 if math.trunc(x.size(0) / 2) > 2 else x * 3,
    "round": lambda x: x * 2 if round(x.size(0) / 3) > 2 else x * 3,
    "is_integer": lambda x: x * 2 if (x.size(0) / 2).is_integer() else x * 3,
    "float": lambda x: x * 2 if torch.sym_float(x.size(0)) / 3 > 2.2 else x * 3,
    "product": lambda x: x * 2 if x.size(0) * 1.5 > 8.2 else x * 3,
    "root": lambda x: x * 2 if torch.sym_sqrt(x.size(0)) > 2.2 else x * 3,
    "power": lambda x: x * 2 if x.size(0) ** 0.5 > 2.2 else x * 3,
    "square": lambda x: x * 2 if x.size(0) ** 2 > 30 else x * 3,
    "cosine": lambda x: x * 2 if torch._sym_cos(x.size(0)) > 0.2 else x * 3,
    "abs": lambda x: x * 2 if abs(5 - x.size(0)) > 2 else x * 3,
    "max": lambda x: x * 2 if torch.sym_max(x.size(0) // 2, 3) > 3 else x * 3,
    "min": lambda x: x * 2 if torch.sym_min(x.size(0) // 2, 3) > 2 else x * 3,
    "bits": lambda x: x * 2 if x.size(0) & 1 else x * 3,
    "shift": lambda x: x[: x.size(0) >> 1] * 2,
    "alternatives": lambda x: x * 2 if (x.size(0) > 4) & (x.size(0) < 7) else x * 3,
    "negative": lambda x: x * 2 if -x.size(0) // 3 < -2 else x * 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_conditions_of_all_kinds(name):
    fn = FUNCTIONS[name]
    fused, before = fusewright.fuse(fn), counters()
    for n in (4, 4, 9, 5, 4, 7, 6, 2, 9, 9):
        x = torch.arange(float(n))
        torch.testing.assert_close(fused(x), fn(x))
    assert 2 <= counted(before)["fuse_traces"] <= 4


def test_rounded_sizes_in_scripted_functions():
    @torch.jit.script
    def f(x):
        return x * 2 + int(x.size(0) / 2)

    fused = fusewright.fuse(f)
    for n in (4, 4, 5, 6, 5):
        torch.testing.assert_close(fused(torch.ones(n)), f(torch.ones(n)))


def test_what_python_cannot_say_runs_as_the_plain_function(monkeypatch):
    monkeypatch.setattr(printing, "source", lambda e: f"Strange({e})")
    fused, before = fusewright.fuse(FUNCTIONS["square"]), counters()
    for n in (4, 9, 4):
        torch.testing.assert_close(fused(torch.ones(n)), FUNCTIONS["square"](torch.ones(n)))
    grown = counted(before)
    assert grown["fuse_declined"] == 1 and not grown["fuse_traces"]


@pytest.mark.parametrize(
    "fn, more",
    [
        (lambda x, type: x * type, (3,)),
        (lambda x, int: x * int, (3,)),
        (lambda x, len: x * len[0], ([3, 4],)),
        (lambda x, tuple: x * tuple["a"], ({"a": 3},)),
        (lambda x, repr: x * repr, (0.0,)),
        (lambda x, slice, float: x[slice] * float, (slice(0, 3), 2.5)),
        (lambda x, math, max: x * math if torch.sym_max((x.size(0) / 2).__floor__(), 3) > 3 else x * max, (2, 3)),
    ],
)
def test_parameters_with_names_of_builtins(fn, more):
    fused = fusewright.fuse(fn)
    for n in (4, 4, 9, 9, 5):
        x = torch.arange(float(n))
        torch.testing.assert_close(fused(x, *more), fn(x, *more))
