"""Which single operations on a CPU are compiled, and which are left to torch (`lone.py`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import fusewright
from tests.support import counted, counters

F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16

ROWS, PLACES = torch.arange(3000), torch.zeros(3000, 100, dtype=torch.int64)
CASES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], tuple[int, ...], torch.dtype, bool]] = {
    "extremes down few columns": (lambda x: x.amax(0), (8000, 3), F32, True),
    "down more": (lambda x: x.amax(0), (240, 100), F32, False),
    "of a tiny tensor": (lambda x: x.amax(0), (300, 3), F32, False),
    "sums down few columns": (lambda x: x.sum(0), (8000, 3), F32, False),
    "of many rows": (lambda x: x.sum(0), (120000, 3), F32, True),
    "mean of all, bfloat16": (lambda x: x.mean(), (1000, 701), BF16, True),
    "mean of all, float32": (lambda x: x.mean(), (1000, 701), F32, False),
    "sum of all, float32": (lambda x: x.sum(), (1000, 701), F32, False),
    "largest of all, float16": (lambda x: x.amax(), (1000, 701), F16, True),
    "variances": (lambda x: x.var(1), (100, 301), F32, True),
    "positions": (lambda x: x.argmax(1), (100, 301), F32, True),
    "relu": (torch.relu, (100, 100), F32, False),
    "transpose": (lambda x: x.t().contiguous(), (60, 100), F32, True),
    "of three columns": (lambda x: x.t().contiguous(), (7000, 3), F32, True),
    "to three columns": (lambda x: x.t().contiguous(), (3, 7000), F32, True),
    "of a few points": (lambda x: x.t().contiguous(), (5000, 3), F32, False),
    "images of three channels": (lambda x: x.permute(0, 2, 1).contiguous(), (16, 3, 400), BF16, True),
    "cross products": (lambda x: torch.linalg.cross(x[:-1], x[1:], dim=1), (100000, 3), F32, True),
    "of a few": (lambda x: torch.linalg.cross(x[:-1], x[1:], dim=1), (1000, 3), F32, False),
    "cat": (lambda x: torch.cat([x, x]), (3000, 100), F32, True),
    "cat of less": (lambda x: torch.cat([x, x]), (900, 100), F32, False),
    "cat of 16-bit elements": (lambda x: torch.cat([x, x]), (9000, 100), BF16, False),
    "rolled": (lambda x: x.roll(1, 1), (3000, 100), F32, True),
    "zeros around": (lambda x: torch.nn.functional.pad(x, (1, 1)), (3000, 100), F32, True),
    "zeros around a few": (lambda x: torch.nn.functional.pad(x, (1, 1)), (60000, 5), F32, False),
    "looked up by rows": (lambda x: x[ROWS], (3000, 100), F32, True),
    "looked up one by one": (lambda x: x.gather(1, PLACES), (3000, 100), F32, False),
    "zeros": (lambda x: torch.zeros_like(x), (3000, 100), F32, True),
    "of a copy in another order": (lambda x: x.permute(1, 0, 2).contiguous() * 2, (100, 3, 50), F32, True),
    "of a view of a copy": (lambda x: x.permute(1, 0, 2).contiguous().view(3, -1) * 2, (100, 3, 50), F32, True),
    "of a small copy": (lambda x: x.permute(1, 0, 2).contiguous() * 2, (10, 3, 50), F32, False),
    "rows in another order": (lambda x: x.permute(1, 0, 2).contiguous(), (100, 30, 50), F32, False),
}


@pytest.mark.parametrize("name", CASES)
def test_where_torch_is_slow(name: str) -> None:
    program, shape, dtype, ours = CASES[name]
    x = torch.randn(shape).to(dtype)
    before = counters()
    with fusewright.options(fallback=False, disk_cache=False), torch.no_grad():
        torch._dynamo.reset()
        got = torch.compile(program, backend="fusewright")(x)
    torch.testing.assert_close(got, program(x), rtol=1e-2 if dtype.itemsize == 2 else 1e-5, atol=1e-4)
    assert (counted(before)["groups_formed"] > 0) == ours
