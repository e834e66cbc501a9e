"""Operations that are alone in their group, on a CPU: those that torch visits point by point are compiled."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import fusewright
from fusewright.run.kernels import target
from tests.support import BACKEND, compiled, is_ours, no_fallbacks

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.skipif(not is_ours(BACKEND), reason="counts our kernels"),
]

Program = Callable[[torch.Tensor], torch.Tensor]

OURS: dict[str, tuple[Program, torch.dtype]] = {
    "variance": (lambda x: x.var(1), torch.float32),
    "of all": (lambda x: x.std(), torch.float32),
    "position": (lambda x: x.argmax(1), torch.float32),
    "position down": (lambda x: x.argmin(0), torch.bfloat16),
    "16-bit extremes": (lambda x: x.amax(1), torch.bfloat16),
    "float16 means": (lambda x: x.mean(1), torch.float16),
    "sums of integers": (lambda x: x.sum(1), torch.int32),
    "sums of bytes": (lambda x: x.sum(), torch.uint8),
    "any": (lambda x: x.any(1), torch.bool),
    "count": (lambda x: x.count_nonzero(), torch.float32),
    "sums down": (lambda x: x.sum(0), torch.float32),
    "transposed": (lambda x: x.t().amax(1), torch.float32),
    "running sums": (lambda x: x.cumsum(1), torch.float32),
    "sums of short rows": (lambda x: x.view(-1, 10).sum(1), torch.float32),
    "extremes of short rows": (lambda x: x.view(-1, 10).amax(1), torch.float32),
    "running sums down": (lambda x: x.cumsum(0), torch.float32),
    "transpose": (lambda x: x[:100].t().contiguous(), torch.float32),
    "16-bit transpose": (lambda x: x.t().contiguous(), torch.bfloat16),
}
TORCHS: dict[str, tuple[Program, torch.dtype]] = {
    "sums": (lambda x: x.sum(1), torch.float32),
    "sums of all": (lambda x: x.sum(), torch.float64),
    "extremes": (lambda x: x.amax(1), torch.float32),
    "three columns": (lambda x: x[:, :3].t().contiguous(), torch.float32),
    "rows in another order": (lambda x: x.view(21, 100, 260).transpose(0, 1).contiguous(), torch.bfloat16),
}


def some(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    x = torch.randn(*shape) * 10
    return x.abs().to(dtype) if dtype is torch.uint8 else x > 5 if dtype is torch.bool else x.to(dtype)


def kernels(fn: Program, x: torch.Tensor) -> tuple[int, torch.Tensor]:
    before = fusewright.counters()["groups_formed"]
    with no_fallbacks():
        got = compiled(fn)(x)
    return fusewright.counters()["groups_formed"] - before, got


@pytest.mark.parametrize("name", OURS)
def test_what_torch_does_point_by_point(name: str) -> None:
    fn, dtype = OURS[name]
    x = some(dtype, 2100, 260)
    count, got = kernels(fn, x)
    want = fn(x)
    assert count == 1 and got.dtype == want.dtype and got.stride() == want.stride()
    if got.is_floating_point():
        exact = fn(x.double())
        error, eager = ((t.double() - exact).abs().max().item() for t in (got, want))
        assert error <= max(2 * eager, 4 * torch.finfo(dtype).eps * exact.abs().max().item())
    else:
        assert torch.equal(got, want)


WIDE: dict[str, tuple[Program, torch.dtype, int]] = {
    "sums of bfloat16": (lambda x: x.sum(1), torch.bfloat16, 260),
    "sums of forty": (lambda x: x.sum(1), torch.float32, 40),
    "extremes of forty": (lambda x: x.amax(1), torch.float32, 40),
}


def test_what_torch_does_in_wide_vectors() -> None:
    x = some(torch.float32, 260, 2100)
    assert kernels(lambda x: x.sum(0), x)[0] == (target().bits < 512)
    assert kernels(lambda x: x.sum(), x.repeat(2, 1).bfloat16())[0] == 0


@pytest.mark.parametrize("name", WIDE)
def test_what_wide_vectors_do_faster(name: str) -> None:
    """A mebibyte and more in short rows, or of bfloat16, is compiled for vectors of sixteen lanes."""
    fn, dtype, columns = WIDE[name]
    x = some(dtype, 2100 * 260 // columns, columns)
    count, got = kernels(fn, x)
    assert count == (target().bits >= 512)
    assert count or torch.equal(got, fn(x))
    torch.testing.assert_close(got.double(), fn(x.double()), rtol=torch.finfo(dtype).eps, atol=1e-3)


@pytest.mark.parametrize("name", TORCHS)
def test_what_torch_does_in_vectors(name: str) -> None:
    fn, dtype = TORCHS[name]
    x = some(dtype, 2100, 260)
    count, got = kernels(fn, x)
    assert count == 0 and torch.equal(got, fn(x))


def test_what_is_little() -> None:
    assert kernels(lambda x: x.var(1), torch.randn(9, 100))[0] == 0
    assert kernels(lambda x: x.var(1), torch.randn(41, 100))[0] == 1


ROWS: dict[str, tuple[Program, torch.dtype, int]] = {
    "short rows": (lambda x: x[:, 1:20] * 2, torch.float32, 1),
    "rows of bfloat16": (lambda x: x[:200, 1:] + 1, torch.bfloat16, 1),
    "a vector added to each": (lambda x: x.view(-1, 10)[:8000] + x[0, :10], torch.bfloat16, 1),
    "every second": (lambda x: x[:200, ::2].exp(), torch.float32, 1),
    "every second of three": (lambda x: x.view(-1, 3)[:9000, ::2] * 2, torch.float32, 1),
    "columns of three in turn": (lambda x: x.view(-1, 3)[:30000].flip(1) * 2, torch.bfloat16, 1),
    "every second of few": (lambda x: x.view(-1, 13)[:9000, ::2] * 2, torch.float32, 0),
    "long rows": (lambda x: x[:200, 1:] * 2, torch.float32, 0),
    "one run": (lambda x: x[:200] * 2, torch.bfloat16, 0),
    "few": (lambda x: x[:100, 1:20] * 2, torch.float32, 0),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", ROWS)
def test_what_torch_does_row_by_row(name: str) -> None:
    if target().bits < 512:
        pytest.skip("only where vectors have masks")
    fn, dtype, ours = ROWS[name]
    x = some(dtype, 2100, 260)
    count, got = kernels(fn, x)
    assert count == ours
    torch.testing.assert_close(got, fn(x), rtol=2 * torch.finfo(dtype).eps, atol=0)
