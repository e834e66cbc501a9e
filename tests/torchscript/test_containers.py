"""Lists and dictionaries that a program makes, changes and returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import fusewright
from tests.torchscript.support import agree


def comprehension(x: Tensor):
    return [x * float(i) + 1 for i in range(3)]


def appended(x: Tensor):
    out: list[Tensor] = []
    for i in range(3):
        out.append(x * float(i) + 1)
    return out


def of_a_list(x: Tensor):
    return [t * 2 + 1 for t in [x, x + 1]]


def lengths(x: Tensor):
    out = [x]
    out.append(x * 2)
    n = len(out)
    out.append(x * 3 + 1)
    return n, len(out), out


def dictionary(x: Tensor):
    out = {"a": x * 2}
    out["b"] = x * 3 + 1
    return out


def keyed(x: Tensor):
    out: dict[str, Tensor] = {}
    for k in ["a", "b"]:
        out[k] = x * 2 + 1
    return out, len(out)


def sizes(x: Tensor, n: int):
    out = [x.size(0), n]
    out.append(x.size(1) * 2)
    return (x * 2 + 1) * n, out, sum(out)


def numbers(x: Tensor):
    out: list[float] = []
    y = x * 2 + 1
    out.append(2.5)
    return y * y, out


def inner(x: Tensor):
    out: list[list[Tensor]] = []
    for i in range(2):
        out.append([x * 2 + float(i)])
    return out


def popped(x: Tensor):
    out = [x * 2, x * 3 + 1]
    out.pop()
    return out, len(out)


def assigned(x: Tensor):
    out = [x * 2 + 1]
    out[0] = x * 3 + 2
    return out[0] * 2, out


def read_and_returned(x: Tensor):
    out: list[Tensor] = []
    y = x * 2 + 1
    for i in range(2):
        out.append(y * float(i) + 1)
    return out[0] + out[1], out, (out, y)


def named_by_an_operator(x: Tensor):
    return x.max(0)


def named_in_others(x: Tensor):
    return [x.sort(0)], (x * 2).topk(2, 1), (x + 1).cummax(0)


def annotated(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.min(1)


def named_and_used(x: Tensor):
    m = (x * 2 + 1).max(0)
    return m, m.values * 3, m.indices


NAMED = [named_by_an_operator, named_in_others, annotated, named_and_used]
PROGRAMS = [comprehension, appended, of_a_list, lengths, dictionary, keyed, sizes, numbers, inner, popped, assigned]


@pytest.mark.parametrize("f", [*PROGRAMS, *NAMED, read_and_returned], ids=lambda f: f.__name__)
def test_what_a_program_has_put_together(f: Callable[..., Any]) -> None:
    more = (7,) if f is sizes else ()
    makers = [lambda shape=shape: (torch.linspace(-1, 1, 12).reshape(shape), *more) for shape in ((3, 4), (6, 2))]
    agree(torch.jit.script(f), *makers)


def test_each_call_gives_a_list_of_its_own() -> None:
    fused = fusewright.fuse(torch.jit.script(appended))
    x = torch.randn(3)
    first = fused(x)
    first.clear()
    assert len(fused(x)) == 3
