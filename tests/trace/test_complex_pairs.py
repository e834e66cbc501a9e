"""Complex numbers between real ones: their arithmetic is fused, with eager's results, strides and gradients."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import fusewright
from fusewright.run import devices
from tests.emulate.driver import EmulatedDriver


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)


def pairs(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)))


def rope(q: torch.Tensor, k: torch.Tensor, f: torch.Tensor) -> tuple[torch.Tensor, ...]:
    f = f.view(1, f.shape[0], 1, f.shape[1])
    return tuple(torch.view_as_real(pairs(x.float()) * f).flatten(3).type_as(x) for x in (q, k))


def of_rope(dtype: torch.dtype = torch.bfloat16, tokens: int = 16) -> list[torch.Tensor]:
    q, k = (torch.randn(2, tokens, n, 32, dtype=dtype).requires_grad_() for n in (4, 2))
    return [q, k, torch.polar(torch.ones(tokens, 16), torch.randn(tokens, 16))]


def _repeated(z: torch.Tensor, f: torch.Tensor) -> torch.Tensor:
    for _ in range(24):  # each read twice
        z = z * f * 0.5 + z * 0.5
    return z


def check(fn: Callable, *inputs: torch.Tensor, rtol: float = 1e-5) -> dict[str, int]:
    """Results and gradients are eager's; what was counted."""
    twins = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
    fusewright.reset_counters()
    with fusewright.options(fallback=False, disk_cache=False):
        got = torch.compile(fn, backend="fusewright", fullgraph=True)(*inputs)
        got = got if isinstance(got, tuple) else (got,)
        want = fn(*twins)
        want = want if isinstance(want, tuple) else (want,)
        for a, b in zip(got, want, strict=True):
            torch.testing.assert_close(a, b, rtol=rtol, atol=1e-5, equal_nan=True)
            assert a.stride() == b.stride()
        if any(b.requires_grad for b in want):
            grads = [torch.randn_like(b) for b in want]
            torch.autograd.backward(got, grads)
            torch.autograd.backward(want, grads)
    for a, b in zip(inputs, twins, strict=True):
        if b.grad is not None:
            torch.testing.assert_close(a.grad, b.grad, rtol=rtol, atol=1e-5)
            assert a.grad is not None and a.grad.stride() == b.grad.stride()
    return fusewright.counters()


@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "gpu"])
def test_rotary_embeddings(emulated: bool) -> None:
    if emulated:
        with devices.use("cpu", EmulatedDriver()):
            check(rope, *of_rope(), rtol=1e-2)
    else:
        check(rope, *of_rope(), rtol=1e-2)


def test_of_one_kernel_each() -> None:
    q, k, f = (x.detach() for x in of_rope())
    report = fusewright.explain(torch.compile(rope, backend="fusewright"), q, k, f)
    assert len(report.graphs[0].kernels) <= 2 and "aten.mul" not in str(report)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, f: torch.view_as_real(-(pairs(x * 2) * f + pairs(x).conj() * 0.5 - pairs(x * 2))).flatten(-2).sin(),
        lambda x, f: torch.view_as_real(pairs(x.sin()) * f * x[:, :4]).relu(),
        lambda x, f: torch.view_as_real((pairs(x.sin()).unsqueeze(1) * f[:, None, :].expand(-1, 3, -1))[:, 1:]).sin(),
        lambda x, f: torch.view_as_real((pairs(x.sin()) * f).clone().select(0, 1)) * 2,
        lambda x, f: torch.view_as_real((pairs(x.sin()) * f).transpose(0, 1)).tanh(),
        lambda x, f: (torch.view_as_real(pairs(x.sin()) * f).tanh(), (pairs(x.sin()) * f).abs()),
        lambda x, f: torch.view_as_real((pairs(x.sin()) * f.conj()).resolve_conj()).tanh(),
        lambda x, f: torch.view_as_real(pairs(x.sin()) * (1 + 2j) * f).tanh(),
        lambda x, f: torch.view_as_real((pairs(x.sin()) * f).t().contiguous().view(2, -1)).tanh(),
        lambda x, f: torch.view_as_real(_repeated(pairs(x.sin()), f)).tanh(),
    ],
    ids="sums factors views copies turned both conjugates number reshaped repeated".split(),
)
def test_chains(fn: Callable) -> None:
    check(fn, torch.randn(3, 8, requires_grad=True), torch.randn(3, 4, dtype=torch.complex64))


def test_gradients_of_both() -> None:
    fn = lambda x, f: torch.view_as_real(pairs(x.sin()) * pairs(f.cos())).tanh()
    check(fn, torch.randn(5, 8, requires_grad=True), torch.randn(8, requires_grad=True))


def test_double_precision() -> None:
    fn = lambda x, f: torch.view_as_real(pairs(x.sin()) * f).tanh()
    check(
        fn, torch.randn(5, 8, dtype=torch.float64).requires_grad_(), torch.randn(4, dtype=torch.complex128), rtol=1e-12
    )


def test_infinities_and_none() -> None:
    """A real factor has an imaginary part of 0, as in eager."""
    x = torch.tensor([[1.0, float("inf"), float("nan"), 0.0, -float("inf"), 1.0, 0.0, -0.0]])
    fn = lambda x, f: torch.view_as_real(pairs(x * 1) * f * 2.0) + 0
    check(fn, x, torch.tensor([[1 + 1j, 2, 0j, -1j]]))


@pytest.mark.parametrize("way", ["compile", "fuse"])
def test_an_argument_that_is_lazily_conjugated(way: str) -> None:
    fn = lambda x, f: torch.view_as_real(pairs(x.exp()) * f).sin()
    compiled = fusewright.fuse(fn) if way == "fuse" else torch.compile(fn, backend="fusewright")
    x, f = torch.randn(5, 8), torch.randn(5, 4, dtype=torch.complex64)
    for g in (f, f.conj(), f):
        torch.testing.assert_close(compiled(x, g), fn(x, g))


def test_products_alone_and_eager_precision_are_torchs() -> None:
    alone = lambda x, f: torch.view_as_real(pairs(x) * f)
    inputs = torch.randn(64, 8), torch.randn(64, 4, dtype=torch.complex64)
    assert "aten.mul" in str(fusewright.explain(torch.compile(alone, backend="fusewright"), *inputs))
    torch._dynamo.reset()
    near = lambda x, f: torch.view_as_real(pairs(x.sin()) * f).tanh()
    with fusewright.options(precision="eager"):
        assert "aten.mul" in str(fusewright.explain(torch.compile(near, backend="fusewright"), *inputs))


def test_sizes_that_vary() -> None:
    fused = fusewright.fuse(rope)
    for tokens in (16, 5, 33):
        q, k, f = of_rope(tokens=tokens)
        for a, b in zip(fused(q, k, f), rope(q, k, f), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-2, atol=1e-2)
