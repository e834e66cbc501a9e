"""Random programs, compiled, against eager: values, dtypes, shapes, strides, and gradients.

FUSEWRIGHT_PROPERTY_EXAMPLES sets how many; the same ones are drawn every time unless FUSEWRIGHT_PROPERTY_RANDOM is set.
"""

from __future__ import annotations

import os

import torch
from hypothesis import HealthCheck, given, settings
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.property.programs import HALF, Program, programs
from tests.support import (
    assert_as_accurate,
    assert_same_tensor_metadata,
    clone_like,
    compiled,
    no_fallbacks,
    same_bits,
    significant_strides,
)

EXAMPLES = int(os.environ.get("FUSEWRIGHT_PROPERTY_EXAMPLES", "42"))
configured = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="FUSEWRIGHT_PROPERTY_RANDOM" not in os.environ,
    suppress_health_check=list(HealthCheck),
    database=None,
)


def _wide(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [t.detach().double() if t.dtype.is_floating_point else t for t in tensors]


def _compare(got: torch.Tensor, want: torch.Tensor, exact: torch.Tensor, what: str, narrow: bool) -> None:
    """Integers must be equal; floating-point values about as near to the float64 run as eager's are.

    In a program with 16-bit values anywhere, the float64 run skips roundings that both others do: the floor is then
    a few units in the last place of the narrowest type.
    """
    if not want.dtype.is_floating_point:
        assert torch.equal(got, want), f"{what}: integers differ"
        return
    # Normalization of a few nearly equal values magnifies the rounding of what came before, and eager may be lucky.
    units = 16.0 if want.dtype in HALF else 64.0
    if narrow and want.dtype not in HALF:
        units = 8 * torch.finfo(torch.bfloat16).eps / torch.finfo(want.dtype).eps
    elif want.dtype is torch.float64:
        units = 64 * torch.finfo(torch.float32).eps / torch.finfo(torch.float64).eps  # may come from float32
    assert_as_accurate(got, want, exact, what, floor=units)


def _metadata(got: torch.Tensor, want: torch.Tensor, program: Program, name: str) -> None:
    """dtype, shape and strides as eager gives them, or as torch's own tracing predicts them.

    For a 16-bit operand that is expanded beside one that is permuted, torch's meta kernels predict other strides than
    its CPU kernels give, and every backend of torch.compile follows the prediction.
    """
    if significant_strides(got) != significant_strides(want):
        mode = FakeTensorMode()
        fakes = [mode.from_tensor(t.detach()) for t in program.inputs]
        with mode, torch.no_grad():
            predicted = dict(zip(program.outputs, program.function()(*fakes), strict=True))[name]
        if significant_strides(got) == significant_strides(predicted):
            want = torch.empty_strided(want.shape, predicted.stride(), dtype=want.dtype)
    assert_same_tensor_metadata(got, want, name)


@given(programs())
@configured
def test_forward(program: Program) -> None:
    torch._dynamo.reset()
    fn = program.function()
    narrow = any(t.dtype in HALF for t in program.inputs) or any("16)" in line for line in program.lines)
    mine, theirs = clone_like(program.inputs), clone_like(program.inputs)
    with torch.no_grad(), no_fallbacks():
        want = fn(*theirs)
        got = compiled(program.function(), dynamic=False)(*mine)
        wide = fn(*_wide(program.inputs))
    for a, b in zip(mine, theirs, strict=True):
        assert same_bits(a, b), "an input was changed"
    for name, a, b, c in zip(program.outputs, got, want, wide, strict=True):
        _metadata(a, b, program, name)
        if name in program.exact:
            assert same_bits(a, b) or torch.equal(a, b), f"{name}: not equal to eager"
        else:
            _compare(a, b, c, name, narrow)


@given(programs(gradients=True, most=5))
@configured
def test_backward(program: Program) -> None:
    torch._dynamo.reset()
    fn = program.function()
    results = []
    for call, inputs in (
        (compiled(program.function(), dynamic=False), clone_like(program.inputs)),
        (fn, clone_like(program.inputs)),
        (fn, _wide(program.inputs)),
    ):
        leaves = [t.requires_grad_() for t in inputs]
        out = call(*leaves)[0]
        if not out.requires_grad:  # made of comparisons only
            return
        seed = torch.linspace(0.5, 1.5, out.numel(), dtype=torch.float64).reshape(out.shape)
        results.append((out, torch.autograd.grad(out, leaves, seed.to(out.dtype), allow_unused=True)))
    narrow = any("16)" in line for line in program.lines)
    _metadata(results[0][0].detach(), results[1][0].detach(), program, program.outputs[0])
    _compare(results[0][0], results[1][0], results[2][0], "output", narrow)
    for i, (a, b, c) in enumerate(zip(*(r[1] for r in results), strict=True)):
        if b is None:  # not used: we may give None or zeros
            assert a is None or not a.any()
            continue
        assert a.shape == b.shape and a.dtype == b.dtype
        _compare(a, b, c, f"gradient of x{i}", narrow)


@given(programs(most=4))
@settings(configured, max_examples=max(EXAMPLES // 4, 1))
def test_dynamic(program: Program) -> None:
    """The same programs, traced with symbolic sizes."""
    torch._dynamo.reset()
    narrow = any(t.dtype in HALF for t in program.inputs) or any("16)" in line for line in program.lines)
    fn = program.function()
    with torch.no_grad(), no_fallbacks():
        want, wide = fn(*program.inputs), fn(*_wide(program.inputs))
        got = compiled(program.function(), dynamic=True)(*clone_like(program.inputs))
    for name, a, b, c in zip(program.outputs, got, want, wide, strict=True):
        _metadata(a, b, program, name)
        _compare(a, b, c, name, narrow)
