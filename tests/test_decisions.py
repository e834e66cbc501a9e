"""16-bit values that decide something are rounded first: eager's decision, not that of digits it does not have."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.support import no_fallbacks

Program = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
DECISIONS: dict[str, Program] = {
    "argmax": lambda x, y: (x * y).argmax(1),
    "argmin": lambda x, y: (x + y).argmin(0),
    "max": lambda x, y: (x * y).max(1).indices,
    "threshold": lambda x, y: x * y > 0.5,
    "equal": lambda x, y: x * y == y * 0.5,
    "where": lambda x, y: torch.where(x * y >= 0.25, 1.0, 2.0),
    "floor": lambda x, y: torch.floor(x * y * 64),
    "round": lambda x, y: torch.round(x + y),
    "to integer": lambda x, y: (x * y * 100).to(torch.int32),
    "remainder": lambda x, y: torch.remainder(x * y, 0.5),
    "floor division": lambda x, y: (x * y) // 0.125,
    "sign": lambda x, y: ((x + 256) - 256).sign(),
    "sign bit": lambda x, y: ((x + 256) - 256).signbit(),
    "sign of another": lambda x, y: torch.copysign(y, (x + 256) - 256),
    "zero or not": lambda x, y: ((x + 256) - 256).bool(),
    "logical not": lambda x, y: ((x + 256) - 256).logical_not(),
    "logical and": lambda x, y: ((x + 256) - 256).logical_and(y),
    "all": lambda x, y: ((x + 256) - 256).all(1),
    "count": lambda x, y: ((x + 256) - 256).count_nonzero(1),
    "step": lambda x, y: torch.heaviside(x + 1 - 1, y),
    "replaced below": lambda x, y: torch.nn.functional.threshold(x * y, 0.5, 3.0),
    "shrunk": lambda x, y: torch.nn.functional.hardshrink(x * y, 0.5),
    "left to PyTorch": lambda x, y: (x * y).float().topk(5).indices,
    "widened": lambda x, y: (x * y - 1).double(),
    "infinite": lambda x, y: (x * torch.finfo(x.dtype).max).isinf(),
    "infinity replaced": lambda x, y: (x * torch.finfo(x.dtype).max).nan_to_num(0.0, 1.0, 2.0),
    "largest number": lambda x, y: (x * torch.finfo(x.dtype).max).nan_to_num() + y,
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", DECISIONS)
def test_eager_decides_the_same(name: str, dtype: torch.dtype) -> None:
    fn = DECISIONS[name]
    g = torch.Generator().manual_seed(3)
    x, y = (torch.randn(65, 1001, generator=g).to(dtype) for _ in range(2))
    with no_fallbacks():
        assert torch.equal(torch.compile(fn, backend="fusewright")(x, y), fn(x, y))
