"""Operations that are alone in their group: those that PyTorch does point by point, and those that are left to it.

    python benchmarks/alone.py [--device cpu] [--peers eager,inductor] [--quick] [part of a case's name]

Each as `fusewright bench` measures it. A line ends with "<" where a peer is faster by more than 3 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from reductions import main

from fusewright.bench.cases import Case

BF16, F16, F32, I32, U8, BOOL = (
    *(torch.bfloat16, torch.float16, torch.float32),
    *(torch.int32, torch.uint8, torch.bool),
)


def case(name: str, fn: Callable[..., Any], *shape: int, dtype: torch.dtype = F32, twice: bool = False) -> Case:
    """`fn` of one random tensor, or of two."""

    def make(device: str, quick: bool) -> tuple[torch.Tensor, ...]:
        size = tuple(min(n, 19) for n in shape) if quick else shape

        def draw() -> torch.Tensor:
            if dtype.is_floating_point:
                return torch.randn(size, device=device).to(dtype)
            return torch.randint(0, 2 if dtype == BOOL else 200, size, device=device).to(dtype)

        return tuple(draw() for _ in range(1 + twice))

    return Case(f"{name} {'x'.join(map(str, shape))} {str(dtype)[6:]}", "alone", fn, make, 0)


def cases() -> Iterator[Case]:
    wide, tall = (3000, 2000), (3000, 1001)
    yield case("std of rows", lambda x: x.std(-1), 109_235, 64, dtype=F16)
    yield case("std of rows", lambda x: x.std(-1), 50_000, 64)
    yield case("std of columns", lambda x: x.std(0), *tall)
    yield case("variance", lambda x: x.var(), *tall)
    yield case("moments of channels", lambda x: torch.stack(torch.var_mean(x, (0, 2, 3))), 8, 64, 56, 56)
    for dtype in (F32, BF16):
        yield case("sums of rows", lambda x: x.sum(1), *wide, dtype=dtype)
        yield case("sum", lambda x: x.sum(), 4_000_000, dtype=dtype)
        yield case("largest of rows", lambda x: x.amax(1), *wide, dtype=dtype)
        yield case("its position", lambda x: x.argmax(1), *wide, dtype=dtype)
        yield case("running sums of rows", lambda x: x.cumsum(1), *tall, dtype=dtype)
        yield case("gelu", lambda x: F.gelu(x), *tall, dtype=dtype)
        yield case("transpose", lambda x: x.t().contiguous(), *wide, dtype=dtype)
        yield case("softmax", lambda x: torch.softmax(x, -1), *tall, dtype=dtype)
    yield case("sums of columns", lambda x: x.sum(0), *tall)
    yield case("sums of columns", lambda x: x.sum(0), 1487, 8192, dtype=BF16)
    yield case("positions along columns", lambda x: x.argmax(0), *wide)
    yield case("running sums of columns", lambda x: x.cumsum(0), *tall)
    yield case("running products of rows", lambda x: x.cumprod(1), *tall)
    yield case("sums of bytes", lambda x: x.sum(1), *wide, dtype=U8)
    yield case("sums of integers", lambda x: x.sum(1), *wide, dtype=I32)
    yield case("any of rows", lambda x: x.any(1), *wide, dtype=BOOL)
    yield case("products of rows", lambda x: x.prod(1), *wide)
    yield case("lengths of rows", lambda x: x.norm(dim=1), *wide)
    yield case("logsumexp of rows", lambda x: x.logsumexp(1), *wide)
    yield case("softmax over the middle", lambda x: torch.softmax(x, 1), 16, 128, 777)
    yield case("log softmax of columns", lambda x: torch.log_softmax(x, 0), *tall)
    yield case("transpose and add", lambda x: x.t().contiguous() + 1, 1999, 3001)
    yield case("heads to tokens", lambda x: x.permute(0, 2, 1, 3).contiguous(), 16, 128, 12, 64)
    yield case("channels last", lambda x: x.contiguous(memory_format=torch.channels_last), 8, 64, 56, 56)
    yield case("every second column", lambda x: x[:, ::2] * 2.0, 20_000, 301)
    yield case("every second row", lambda x: x[::2] * 2.0, 6000, 500)
    yield case("side by side", lambda x, y: torch.cat([x, y], 1), 3000, 1000, twice=True)
    yield case("border", lambda x: F.pad(x, (1, 2)), 3000, 1000)
    yield case("backwards", lambda x: x.flip(1), 3000, 1000)
    yield case("rotated", lambda x: x.roll(3, 1), 3000, 1000)


if __name__ == "__main__":
    main(__doc__, cases(), "cpu")
