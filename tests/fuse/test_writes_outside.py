"""Tensors that are no arguments, written by a fused function: a trace must not do it in the function's place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import fusewright

COUNT: Tensor = torch.zeros(())

WRITES: dict[str, Callable[[Tensor, Tensor], object]] = {
    "add_": lambda t, x: t.add_(1),
    "copy_": lambda t, x: t.copy_(x),
    "iadd": lambda t, x: t.__iadd__(1),
    "setitem": lambda t, x: t.__setitem__(0, 5),
    "foreach": lambda t, x: torch._foreach_add_([t], [torch.ones(3)]),
    "out": lambda t, x: torch.add(torch.ones(3), 1, out=t),
    "operator": lambda t, x: torch.ops.aten.mul_.Scalar(t, 2),
    "of a view": lambda t, x: t[1:].fill_(7),
    "grad": lambda t, x: setattr(t, "grad", torch.ones(3)),
}


@pytest.mark.parametrize("how", WRITES)
def test_writes_to_tensors_that_are_no_arguments_are_errors(how: str) -> None:
    t = torch.ones(3)

    def f(x: Tensor) -> Tensor:
        WRITES[how](t, x)
        return x + 1

    with pytest.raises(fusewright.UserError, match=rf"{__file__}.* a tensor that is no argument of the fused function"):
        fusewright.fuse(f)(torch.zeros(3))
    assert torch.equal(t, torch.ones(3)) and t._version == 0 and t.grad is None


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        COUNT.add_(1)
        return self.linear(x).tanh() * 2


@pytest.mark.parametrize("argument", [False, True])
def test_functions_of_modules_write_once_each_call(argument: bool) -> None:
    """They run as they are: what they write is not written by the attempts to trace them."""
    m, x = Counting(), torch.randn(2, 3)
    call = fusewright.fuse(lambda m, x: m(x)) if argument else fusewright.fuse(m)
    COUNT.zero_()
    for k in range(1, 4):
        got = call(m, x) if argument else call(x)
        assert COUNT.item() == k
        torch.testing.assert_close(got, m.linear(x).tanh() * 2)


def test_tensors_that_the_function_makes_are_written() -> None:
    def f(x: Tensor) -> Tensor:
        t = torch.tensor([1.0, 2.0, 3.0])
        t[0] = 4
        t.add_(x).mul_(2)
        torch.add(x, 1, out=t)
        return t * x

    x = torch.randn(3)
    torch.testing.assert_close(fusewright.fuse(f)(x), f(x))
