"""Fake quantization: eager's bits, and gradients where eager lets them pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright

Q = torch.ao.quantization
pytestmark = pytest.mark.usefixtures("strict")

SPECIAL = [torch.nan, torch.inf, -torch.inf, 1e30, -1e30, 1e18, 2.5, -0.5, 0.0, -0.0]


def i32(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def per_tensor(x: torch.Tensor) -> torch.Tensor:
    return torch.fake_quantize_per_tensor_affine(x * 2, 0.3, 3, -128, 127) * 2


def of_tensors(x: torch.Tensor, s: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return torch.fake_quantize_per_tensor_affine(x * 2, s, z, 0, 255) * 2


def rows(x: torch.Tensor, s: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return torch.fake_quantize_per_channel_affine(x * 2, s, z, 0, -8, 7) * 2


def columns(x: torch.Tensor, s: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return torch.fake_quantize_per_channel_affine(x * 2, s, z, 1, -128, 127) * 2


CASES: list[tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]] = [
    (per_tensor, ()),
    (of_tensors, (torch.tensor(0.1), torch.tensor(5, dtype=torch.int32))),
    (of_tensors, (torch.tensor([0.7]), i32(0))),
    (rows, (torch.rand(40) + 0.1, torch.randint(-4, 5, (40,), dtype=torch.int32))),
    (columns, (torch.rand(33) + 0.1, torch.randint(-4, 5, (33,), dtype=torch.int32))),
]


def some(dtype: torch.dtype) -> torch.Tensor:
    x = torch.randn(40, 33) * 20
    x[0, : len(SPECIAL)] = torch.tensor(SPECIAL)
    return x.to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_bits_and_gradients(case: int, dtype: torch.dtype) -> None:
    fn, parameters = CASES[case]
    x = some(dtype).requires_grad_()
    report = fusewright.explain(fn, x, *parameters)
    assert not [o.target for g in report.graphs for o in g.operations if o.place == "torch" and "quantize" in o.target]
    torch._dynamo.reset()
    got, want = torch.compile(fn, backend="fusewright")(x, *parameters), fn(x, *parameters)
    assert got.dtype == want.dtype and got.stride() == want.stride()
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    grad = torch.randn_like(want)
    assert torch.equal(*(torch.autograd.grad(y, x, grad)[0] for y in (got, want)))


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("case", [0, 1, 3, 4])
def test_on_a_gpu(case: int) -> None:
    fn, parameters = CASES[case]
    x = some(torch.float32).requires_grad_()
    got, want = torch.compile(fn, backend="fusewright")(x, *parameters), fn(x, *parameters)
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(*(torch.autograd.grad(y.sum(), x)[0] for y in (got, want)))


def test_a_quantization_that_is_off() -> None:
    def f(x: torch.Tensor, on: torch.Tensor) -> torch.Tensor:
        s, z = torch.tensor(0.1), torch.tensor(0, dtype=torch.int32)
        how = torch._fake_quantize_per_tensor_affine_cachemask_tensor_qparams
        return how(x * 2, s, z, on, -128, 127)[0] + 1

    x = some(torch.float32)
    g = torch.compile(f, backend="fusewright")
    for on in (0, 1):
        flag = torch.tensor([on])
        torch.testing.assert_close(g(x, flag), f(x, flag), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 300, -128, 127),
        lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 127, -128),
        lambda x: torch.fake_quantize_per_channel_affine(
            x, torch.ones(3), torch.zeros(3, dtype=torch.int32), 0, 0, 255
        ),
    ],
    ids=["zero point", "bounds", "channels"],
)
def test_errors_are_eagers(fn: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.randn(5, 4)
    with pytest.raises(RuntimeError) as want:
        fn(x)
    with pytest.raises(Exception) as got:
        torch.compile(lambda x: fn(x + 1), backend="fusewright")(x)
    assert str(want.value).split("\n")[0][:30] in str(got.value)


@pytest.mark.parametrize("tensors", [False, True])
def test_fused_functions(tensors: bool) -> None:
    """Sizes vary there."""
    parameters = (torch.tensor(0.1), i32(3)) if tensors else (0.1, 3)

    @fusewright.fuse
    def f(x: torch.Tensor, *parameters: Any) -> torch.Tensor:
        return torch.fake_quantize_per_tensor_affine(x, *parameters, 0, 15) * 2

    for shape in ((5, 6), (7, 9)):
        x = torch.randn(shape, requires_grad=True)
        got, want = f(x, *parameters), torch.fake_quantize_per_tensor_affine(x, *parameters, 0, 15) * 2
        assert torch.equal(got, want)
        assert torch.equal(*(torch.autograd.grad(y.sum(), x)[0] for y in (got, want)))


def per_channel() -> torch.nn.Module:
    observer = Q.MovingAveragePerChannelMinMaxObserver
    return Q.FusedMovingAvgObsFakeQuantize(
        observer, -128, 127, dtype=torch.qint8, qscheme=torch.per_channel_symmetric, ch_axis=0
    )


@pytest.mark.parametrize(
    "make",
    [
        per_channel,
        lambda: Q.FusedMovingAvgObsFakeQuantize(Q.MovingAverageMinMaxObserver, 0, 255),
        lambda: Q.FakeQuantize(Q.MovingAverageMinMaxObserver, 0, 255),
        lambda: Q.MinMaxObserver(),
    ],
)
def test_modules_that_observe(make: Callable[[], torch.nn.Module]) -> None:
    """Whose extrema get the number of channels in the first call, and which read the values of tensors."""
    plain, other = make(), make()
    with fusewright.options(fallback=True):
        fused = fusewright.fuse(other)
        for _ in range(3):
            x = torch.randn(4, 6)
            assert torch.equal(fused(x), plain(x))
    for (name, a), b in zip(plain.named_buffers(), other.buffers(), strict=True):
        assert torch.equal(a, b), name
