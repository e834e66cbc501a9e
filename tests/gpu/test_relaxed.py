"""Cheaper arithmetic (`fusion/relax.py`) cannot be seen: all 16-bit numbers through every function, and rows.

A result may be as far from the exact one as eager's is, and half a unit in the last place more. Where eager's own
formula has no digits left (the tail of gelu) ours may be better, not worse.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.debug import record
from fusewright.loop.text import dump
from tests.support import no_fallbacks

HALF = {torch.bfloat16: 8, torch.float16: 11}  # bits of precision
Unary = Callable[[torch.Tensor], torch.Tensor]
FUNCTIONS: dict[str, Unary] = {
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
    "sqrt": torch.sqrt,
    "reciprocal": torch.reciprocal,
    "log": torch.log,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "softplus": F.softplus,
    "mish": F.mish,
    "elu": F.elu,
    "logsigmoid": F.logsigmoid,
    "1 / (1 + x^2)": lambda x: (1 / (1 + x.float().square())).to(x.dtype),
    "x / sqrt(x^2 + 1)": lambda x: (x.float() / torch.sqrt(x.float().square() + 1)).to(x.dtype),
    "x / 3": lambda x: x / 3,
    "fast sigmoid": lambda x: x / (1 + x.abs()),
}
# without cancellation, where float64 has not digits enough either
EXACT: dict[str, Unary] = {
    "gelu": lambda x: 0.5 * x * torch.special.erfc(-x * 0.5**0.5),
    "gelu tanh": lambda x: x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)),
}


def everything(dtype: torch.dtype, device: str) -> torch.Tensor:
    """All numbers of a 16-bit type, infinities and NaN included."""
    return torch.arange(-(1 << 15), 1 << 15, dtype=torch.int16).view(dtype).to(device)


def units(exact: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance of neighbouring numbers of `dtype` around `exact`."""
    info = torch.finfo(dtype)
    _, exponent = torch.frexp(exact.abs().clamp(info.smallest_normal))
    return torch.ldexp(torch.ones_like(exact), exponent - HALF[dtype])


def assert_as_good(got: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, what: str) -> None:
    """Nowhere is `got` half a unit further from `exact` than `eager` is; NaN and infinities are in the same places."""
    most = torch.finfo(got.dtype).max
    got64, eager64 = got.double(), eager.double()
    assert torch.equal(got64.isnan(), eager64.isnan()), what
    edge = exact.abs() > most * (1 - 2.0 ** -HALF[got.dtype])  # rounds to infinity, or nearly so
    plain = ~got64.isnan() & ~edge
    assert not (got64.isinf() & plain & exact.isfinite() & ~eager64.isinf()).any(), what
    ok = plain & got64.isfinite() & exact.isfinite()
    unit = units(exact[ok], got.dtype)
    mine, theirs = ((t[ok] - exact[ok]).abs() / unit for t in (got64, eager64))
    worst = (mine - theirs).argmax()
    assert (mine <= theirs + 0.5).all(), (
        f"{what}: {mine[worst]:.3f} units off, eager {theirs[worst]:.3f}, at {exact[ok][worst]:.6g}"
    )


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_number(name: str, dtype: torch.dtype, device: str) -> None:
    fn = FUNCTIONS[name]
    x = everything(dtype, device)
    if device == "cpu" and name in ("gelu", "gelu tanh", "mish"):  # eager's CPU kernels make NaN of infinities
        x = torch.where(x.isinf(), 0.0, x)
    with no_fallbacks(), torch.no_grad(), fusewright.options(single_op_groups=True, disk_cache=False):
        got = torch.compile(fn, backend="fusewright")(x)
    exact = EXACT.get(name, fn)(x.double())
    assert_as_good(got, fn(x), exact, f"{name} of {dtype}")


@pytest.mark.every(4)
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("name", ["silu", "gelu", "gelu tanh", "sigmoid", "elu"])
def test_every_gradient(name: str, dtype: torch.dtype, device: str) -> None:
    x = everything(dtype, device)
    x = torch.where(x.isfinite() & (x.abs() < 1e4), x, 0.0)
    results = []
    fn = FUNCTIONS[name]
    with no_fallbacks(), fusewright.options(single_op_groups=True, disk_cache=False):
        for call, t in ((torch.compile(fn, backend="fusewright"), x), (fn, x), (fn, x.double())):
            t = t.clone().requires_grad_()
            results.append(torch.autograd.grad(call(t).sum(), t)[0])
    got, eager, exact = results
    # eager's formula, and ours, cancel where the gradient crosses zero
    unit = torch.maximum(units(exact, dtype), torch.full_like(exact, 2.0 ** -(HALF[dtype] + 6)))
    mine, theirs = ((t.double() - exact).abs() / unit for t in (got, eager))
    slack = 1.0 if name == "sigmoid" else 0.5  # of a saved result, which is rounded
    assert (mine <= theirs + slack).all(), f"{(mine - theirs).max():.3f} units more, at {x[(mine - theirs).argmax()]}"


ROWS: dict[str, Unary] = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "layer norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "rms norm": lambda x: F.rms_norm(x, x.shape[-1:], None, 1e-6),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "share": lambda x: x.abs() / x.abs().sum(-1, keepdim=True),
    "cross entropy": lambda x: F.cross_entropy(x.float(), torch.arange(len(x), device=x.device), reduction="none"),
    "logsumexp": lambda x: torch.logsumexp(x.float(), -1),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("columns", [300, 5000, 40000])
@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str, columns: int, device: str) -> None:
    """Rows of all magnitudes; masked ones, with infinities and NaN."""
    fn = ROWS[name]
    g = torch.Generator().manual_seed(columns)
    x = torch.randn(16, columns, generator=g)
    scale = torch.tensor([1, 1e-3, 30, 1e4, 1e-30, 1e-38, 1e18, 3e37, 1, 1, 1, 1, 1, 1, 1, 1])[:, None]
    x = (x.clamp(-4, 4) * scale).to(torch.bfloat16)
    x[8, : columns // 2] = -torch.inf
    x[9] = -torch.inf
    x[10] = torch.finfo(torch.bfloat16).min
    x[11, 7] = torch.inf
    x[12, 3] = torch.nan
    x[13] = 0
    x[14, 1:] = torch.finfo(torch.bfloat16).min
    x[15, 5] = 1e4
    x = x.to(device)
    with no_fallbacks(), torch.no_grad(), fusewright.options(single_op_groups=True, disk_cache=False):
        got = torch.compile(fn, backend="fusewright")(x)
    eager, exact = fn(x), fn(x.double())
    for k in range(len(x)):
        a, b, c = got[k].double(), eager[k].double(), exact[k].double()
        if k in (6, 7, 10, 14) and "norm" in name:  # float32 overflows, here or there
            continue
        assert torch.equal(a.isnan(), b.isnan()), f"row {k}"
        assert torch.equal(a.isinf(), b.isinf()), f"row {k}"
        ok = a.isfinite() & b.isfinite() & c.isfinite()
        ok &= c.abs() >= torch.finfo(torch.float32).smallest_normal  # shares of a row that are smaller may be 0
        if not ok.any():
            continue
        slack = 1.0 if got.dtype is torch.float32 else 0.5
        unit = units(c[ok], torch.bfloat16) if got.dtype is torch.bfloat16 else c[ok].abs().clamp(1.0) * 2.0**-23
        mine, theirs = ((t[ok] - c[ok]).abs() / unit for t in (a, b))
        if columns > 300 and got.dtype is torch.float32:
            theirs = theirs.clamp(2.0)  # sums in another order
        worst = (mine - theirs).argmax()
        assert (mine <= theirs + slack).all(), f"row {k}: {mine[worst]:.3f} units off, eager {theirs[worst]:.3f}"


def test_relaxed_can_be_left_out(device: str) -> None:
    """By an option, and by precision="eager"."""
    x = everything(torch.bfloat16, device)
    kernels = []
    for options in ({}, {"relaxed": False}, {"precision": "eager"}):
        torch._dynamo.reset()
        with fusewright.options(single_op_groups=True, **options), record.recording() as graphs:
            torch.compile(F.silu, backend="fusewright")(x)
        kernel = graphs[0].groups[0].plan.kernel
        assert kernel is not None
        kernels.append(dump(kernel.func))
    assert ["fast_exp2" in text for text in kernels] == [True, False, False]


@pytest.mark.parametrize("name", ["sigmoid", "silu", "fast sigmoid"])
def test_float32_quotients_without_a_branch(name: str, cuda: str) -> None:
    """Eager's bits, for numbers of all sizes; a subnormal result, or one of a subnormal number, may be a unit off."""
    fn = FUNCTIONS[name]
    bits = torch.randint(-(1 << 31), (1 << 31) - 1, (1 << 21,), dtype=torch.int64, device=cuda).to(torch.int32)
    x = torch.cat([bits.view(torch.float32), torch.randn(1 << 22, device=cuda) * 30])
    with no_fallbacks(), fusewright.options(single_op_groups=True), record.recording() as graphs:
        got = torch.compile(fn, backend="fusewright")(x)
    kernel = graphs[0].groups[0].plan.kernel
    assert kernel is not None and "far_" in dump(kernel.func)
    want = fn(x)
    near = (want.abs() < 2.0**-126) | ((x.abs() < 2.0**-100) & (x != 0))
    assert torch.equal(got[~near].nan_to_num(7.0), want[~near].nan_to_num(7.0))
    assert ((got - want)[near].abs() <= want[near].abs() * 2.0**-23 + 2.0**-149).all()
