"""Values of which two operands walk the same axis along different dims: every element of them is stored."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import pad

import fusewright


def _chunks(x: torch.Tensor) -> torch.Tensor:
    """Rows of a sequence, filled up with zeros and taken apart into chunks of 8."""
    return pad(x, (0, 0, 0, 0, 0, 4)).view(2, 2, 8, 8, 8)


def _products(b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Rows of `c` by rows of `b` in the same chunk: the place in a chunk is walked along two dims."""
    v, w = _chunks(b), _chunks(c)
    p, r = (w.permute(0, 1, 3, 2, 4).reshape(32, 8, 8)[:, :, k : k + 1] for k in range(2))
    q, t = (v.permute(0, 1, 3, 4, 2).reshape(32, 8, 8)[:, k : k + 1] for k in range(2))
    return pad(b, (0, 0, 0, 0, 0, 4)), pad(c, (0, 0, 0, 0, 0, 4)), p * q + r * t, v * 2


def _chunk_by_chunk(b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Chunks of both, elementwise, and again with the dims of one in another order."""
    x, y = _chunks(b) + 1, _chunks(c) * 2
    return x, y, x * y.transpose(2, 3), x[:, :, :, 0, :, None] - y[:, :, :, 0, None]


def _outer(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """One row by itself, along both dims; and picked by an index that is computed of it."""
    y = x.exp()
    return y, y[:, None] * y, x[None].expand(24, 24) + y[:, None], y[(i + 1) % 24] - y


def _picked_twice(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Rows and columns that are picked by the same index, which the kernel computes."""
    j = (i * 5 + 1) % 24
    y = x[j[:, None], j]
    return j, y + 1, x[j][:, j] - j, y.amax(1), y * j[:, None], x.expand(3, 24, 24)[:, j[:, None], j] * 2


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("fn", [_products, _chunk_by_chunk])
def test_chunks_walked_along_two_dims(fn, dynamic):
    b, c = torch.randn(2, 12, 8, 8), torch.randn(2, 12, 8, 8)
    with fusewright.options(fallback=False):
        got = torch.compile(fn, backend="fusewright", dynamic=dynamic)(b, c)
    for g, w in zip(got, fn(b, c), strict=True):
        torch.testing.assert_close(g, w, rtol=0, atol=0)


@pytest.mark.parametrize("dynamic", [False, True])
def test_one_index_along_two_dims(dynamic):
    x, i = torch.randn(24, 24), torch.arange(24)
    with fusewright.options(fallback=False):
        got = torch.compile(_picked_twice, backend="fusewright", dynamic=dynamic)(x, i)
    for g, w in zip(got, _picked_twice(x, i), strict=True):
        torch.testing.assert_close(g, w, rtol=0, atol=0)


def test_a_row_by_itself():
    x, i = torch.randn(24), torch.arange(24)
    with fusewright.options(fallback=False):
        got = torch.compile(_outer, backend="fusewright")(x, i)
    for g, w in zip(got, _outer(x, i), strict=True):
        torch.testing.assert_close(g, w)
