"""What is first tried with definitions, as with PyTorch: it works, or the error says what to do instead."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import fusewright
from fusewright.debug.judging import Mismatch


def made() -> tuple[Any, Any]:
    d = fusewright.define("first")
    return d, d.tensor("x", "n, m", "f32")


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
)
def test_element_types_of_torch(dtype: str) -> None:
    theirs = getattr(torch, dtype)
    d = fusewright.define()
    x = d.tensor("x", "n", theirs)
    d.output(d.where(x.to(torch.bool), 2.0, 1.0).to(theirs))
    given = torch.tensor([0, 1, 1]).to(theirs)
    assert torch.equal(d(given), torch.where(given.bool(), 2.0, 1.0).to(theirs))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e4m3fnuz, torch.uint16])
def test_element_types_of_torch_that_are_none_of_ours(dtype: torch.dtype) -> None:
    _, x = made()
    with pytest.raises(fusewright.UserError, match=f"no element type {dtype}"):
        x.to(dtype)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: torch.exp(x),
        lambda x: x + torch.ones(3),
        lambda x: torch.ones(3) * x,
        lambda x: torch.softmax(x, -1),
        lambda x: torch.nn.functional.gelu(x),
        lambda x: torch.cat([x, x]),
    ],
)
def test_functions_and_tensors_of_torch(use: Any) -> None:
    _, x = made()
    with pytest.raises(fusewright.UserError, match=r"does not take values of a definition: use its own operations"):
        use(x)


def test_tensors_that_are_negated_lazily() -> None:
    d, x = made()
    d.output(x * 2)
    z = torch.randn(2, 3, dtype=torch.complex64)
    with pytest.raises(fusewright.UserError, match=r"first: x is computed lazily .*: give x.clone\(\)"):
        d(z.conj().imag)
    assert torch.equal(d(z.conj().imag.clone()), -z.imag * 2)


def test_slices_that_end_before_they_begin() -> None:
    _, x = made()
    with pytest.raises(fusewright.UserError, match="3:1 ends before it begins"):
        x[3:1]


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (lambda x: fusewright.define(device="tpu"), "'tpu' is no device of torch"),
        (lambda x: fusewright.define(device=object()), "is no device of torch"),
        (lambda x: x.sum(1.0), "there is no dimension 1.0 of 2"),
        (lambda x: x + 10**400, "an integer of 1329 bits is not a value of f32"),
        (lambda x: type(x._definition).parse(None), "the text of a definition is needed, not None"),
    ],
)
def test_arguments_of_other_kinds(use: Any, says: str) -> None:
    _, x = made()
    with pytest.raises(fusewright.UserError, match=says):
        use(x)


def test_a_reference_that_gives_nothing() -> None:
    d, x = made()
    d.output(x * 2)
    with pytest.raises(Mismatch, match="the reference gives a NoneType, not tensors"):
        d.validate([torch.ones(2, 3)], lambda x: None)


def test_sizes_without_a_text() -> None:
    d, _ = made()
    with pytest.raises(fusewright.UserError, match="a text of names is needed, not 3"):
        d.sizes(3)
