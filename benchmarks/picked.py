"""Rows and columns that an index picks, what is computed of rows, and colors, beside eager and TorchInductor.

    python benchmarks/picked.py                      on a GPU
    python benchmarks/picked.py --device cpu --only edge

Forward passes; times on a GPU are the device's, from a cold L2 cache. Tables have 100,000 rows, a tenth on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from beside import all_beside

Case = tuple[str, Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]


def lab(x: torch.Tensor) -> torch.Tensor:
    """Planes of a color space, each made of powers of others."""
    linear = torch.where(x > 0.04045, ((x + 0.055) / 1.055).clamp_min(0).pow(2.4), x / 12.92)
    r, g, b = linear.unbind(1)
    f = [(0.4 * r + 0.3 * g + 0.3 * b * k + 0.01).pow(1 / 3) for k in (0.5, 1.0, 2.0)]
    return torch.stack([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])], 1)


def cases(device: str) -> list[Case]:
    """Names, programs and operands."""
    rows = 100_000 if device == "cuda" else 10_000

    def table(width: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(rows, width, device=device).to(dtype)

    def places(count: int) -> torch.Tensor:
        return torch.randint(0, rows, (count,), device=device)

    x, i, j = table(128), places(4 * rows), places(4 * rows)
    return [
        ("sums of picked rows", lambda x, i: x[i].sum(1), (x, i)),
        ("largest of picked rows", lambda x, i: x[i].amax(1), (x, i)),
        ("sum over picked rows", lambda x, i: x[i].sum(0), (x, i)),
        ("means of ten picked rows", lambda x, i: x[i.view(-1, 10)].mean(1), (x, i)),
        ("edges: products", lambda x, i, j: (x[i] * x[j]).sum(-1), (x, i, j)),
        ("edges: distances", lambda x, i, j: (x[i] - x[j]).square().sum(-1).sqrt(), (x, i, j)),
        ("edges: products bf16", lambda x, i, j: (x[i] * x[j]).sum(-1), (table(64, torch.bfloat16), i, j)),
        ("edges: differences", lambda x, i, j: torch.relu(x[i] - x[j]), (table(64), i, j)),
        ("sums of picked rows of 8", lambda x, i: x[i].sum(1), (table(8), places(20 * rows))),
        ("softmax of picked rows of 8", lambda x, i: torch.softmax(x[i], -1), (table(8), places(20 * rows))),
        ("embedding of 90 f16", lambda x, i: F.embedding(i, x) * 2, (table(90, torch.float16), i)),
        (
            "embedding of 1024 bf16",
            lambda x, i: F.embedding(i, x) * 2,
            (table(1024, torch.bfloat16), places(rows // 2)),
        ),
        *columns(device, rows),
        ("colors", lab, (torch.rand(rows // 3000, 3, 256, 256, device=device),)),
    ]


def columns(device: str, rows: int) -> list[Case]:
    """Points that an index picks within rows."""

    def within(rows: int, width: int, count: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
        return torch.randn(rows, width, device=device).to(dtype), torch.randint(0, width, (count,), device=device)

    few = rows // 25
    x, i = within(few, 8192, few * 4096)
    return [
        ("columns", lambda x, i: x[:, i] * 2, within(few, 8192, 8192)),
        ("columns of 3001", lambda x, i: x[:, i] * 2, within(2 * few, 3001, 3001)),
        ("columns of 4096 bf16", lambda x, i: x[:, i] * 2, within(2 * few, 4096, 4096, torch.bfloat16)),
        ("sorted columns", lambda x, i: x[:, i] * 2, (x, i[:2048].sort()[0])),
        ("a few columns", lambda x, i: x[:, i] * 2, within(4 * few, 4096, 40)),
        ("points of each row", lambda x, i: torch.gather(x, 1, i) * 2, (x, i.view(few, 4096))),
    ]


if __name__ == "__main__":
    all_beside(__doc__, cases)
