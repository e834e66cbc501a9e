"""Integers of a program that may be negative: positions from the back, and quotients of sizes less than zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.support import no_fallbacks

Program = Callable[[torch.Tensor, int], torch.Tensor]


def assigned(x: torch.Tensor, n: int) -> torch.Tensor:
    y = x * 1
    y[n:] = 0
    y[:, n : n + 2] += 5
    return y


POSITIONS: dict[str, Program] = {
    "from": lambda x, n: x[n:] * 2 + 1,
    "up to": lambda x, n: x[:n] * 2 + 1,
    "of columns": lambda x, n: x[:, n:] * 2 + x[:, :1],
    "two": lambda x, n: x[n : n + 2] * 2,
    "halved": lambda x, n: x[n // 2 :] * 2,
    "scaled": lambda x, n: x * n + n // 3 - n % 4,
    "assigned": assigned,
}
PICKED: dict[str, Program] = {  # `fuse` wants `specialize` for these
    "picked": lambda x, n: x[n] * 2 + 1,
    "picked column": lambda x, n: x[:, n] * 2 + x[:, 0],
    "half picked": lambda x, n: x[n // 2] * 2 + 1,
}
SIZES: dict[str, Program] = {
    "quotient": lambda x, n: x * 2 + (3 - x.size(0)) // 2,
    "remainder": lambda x, n: x * 2 + (-x.size(0)) % 3,
    "by a size": lambda x, n: x - (2 - x.size(0) * 3) // x.size(1),
    "compared": lambda x, n: torch.where(x > (1 - x.size(0)) // 2, x, x * 2),
    "clamped": lambda x, n: (x * 10).clamp(min=(3 - x.size(0)) // 2),
    "centred": lambda x, n: x + torch.arange(x.size(0))[:, None] + (1 - x.size(0)) // 2,
    "diagonal": lambda x, n: (x + 1).tril((3 - x.size(0)) // 2),
}


def by_fuse(fn: Program) -> Any:
    return fusewright.fuse(fn)


def by_compile(fn: Program) -> Any:
    torch._dynamo.reset()
    return torch.compile(fn, backend="fusewright", dynamic=True)


@pytest.mark.every(6)
@pytest.mark.parametrize("way", [by_fuse, by_compile])
@pytest.mark.parametrize("name", [*POSITIONS, *PICKED])
@pytest.mark.parametrize("numbers", [(2, 3, -2, -3, -6, 5), (-4, -5, 4)])
def test_positions_from_the_back(way: Callable[[Program], Any], name: str, numbers: tuple[int, ...]) -> None:
    """The first number is of either sign: a trace for one serves none of the other."""
    if way is by_fuse and name in PICKED:
        pytest.skip("one trace serves no two positions")
    fn = {**POSITIONS, **PICKED}[name]
    call = way(fn)
    with no_fallbacks():
        for n in numbers:
            x, y = (torch.arange(56.0).view(7, 8).requires_grad_() for _ in range(2))
            got, want = call(x, n), fn(y, n)
            torch.testing.assert_close(got, want, rtol=0, atol=0)
            got.sum().backward()
            want.sum().backward()
            torch.testing.assert_close(x.grad, y.grad, rtol=0, atol=0)


@pytest.mark.every(4)
@pytest.mark.parametrize("way", [by_fuse, by_compile])
@pytest.mark.parametrize("name", SIZES)
def test_quotients_of_negative_numbers(way: Callable[[Program], Any], name: str) -> None:
    fn, call = SIZES[name], way(SIZES[name])
    with no_fallbacks():
        for rows in (5, 8, 2, 13):
            x = torch.randn(rows, 4)
            torch.testing.assert_close(call(x, 0), fn(x, 0), rtol=0, atol=0)


def test_in_a_definition() -> None:
    d = fusewright.define()
    n = d.size("n")
    d.output(d.tensor("y", "n", "f32") * 2 + (3 - n) // 2)
    for k in (7, 2, 1):
        torch.testing.assert_close(d(torch.ones(k)), torch.ones(k) * 2 + (3 - k) // 2)


class Both(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2 + (3 - x.size(0)) // 2, (x + 1) * ((2 - x.size(0)) % 5)


def test_in_an_exported_program() -> None:
    exported = torch.export.export(Both(), (torch.ones(7),), dynamic_shapes=({0: torch.export.Dim("n", max=100)},))
    program = fusewright.aot_compile(exported)
    for k in (7, 30, 2):
        torch.testing.assert_close(program(torch.ones(k)), Both()(torch.ones(k)))


@pytest.mark.skipif(not COMPILER, reason=MISSING)
def test_on_an_emulated_gpu() -> None:
    with emulated_gpu(), no_fallbacks():
        for fns, numbers in ((POSITIONS, (-2, 3, -5)), (SIZES, (0,))):
            for name in ("from", "of columns", "scaled") if fns is POSITIONS else SIZES:
                fn, call = fns[name], by_fuse(fns[name])
                for n in numbers:
                    x = torch.arange(56.0).view(7, 8)
                    torch.testing.assert_close(call(x, n), fn(x, n), msg=f"{name} {n}")
