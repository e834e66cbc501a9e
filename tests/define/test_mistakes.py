"""What is first tried with definitions, as with PyTorch: it works, or the error says what to do instead."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import fusewright


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


def test_sizes_without_a_text() -> None:
    d, _ = made()
    with pytest.raises(fusewright.UserError, match="a text of names is needed, not 3"):
        d.sizes(3)
