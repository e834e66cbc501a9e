"""More kinds of programs for `drawn_shapes.py`: short rows of any length, operands that are the same for many rows,
softmax and sums that do not go along memory; and training steps."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from draw import Draw, Program, case, images

from fusewright.bench import cases_gpu as g
from fusewright.bench import cases_more as more
from fusewright.bench.cases import Case, layer_norm, rows, softmax


def eval_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A batch norm of known statistics."""
    return F.relu(F.batch_norm(x, b, w.abs() + 0.5, w, b, False))


def layer_scale(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x + y * w


def row_scale(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return (x * s).tanh()


def masked(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Attention scores (batch, heads, tokens, tokens) under a mask of (batch, 1, 1, tokens)."""
    return torch.softmax(x.masked_fill(mask > 0, float("-inf")), -1)


# name, program, large tensors, vectors of the last extent
SHORT: tuple[tuple[str, Program, int, int], ...] = (
    ("sum dim 1", lambda x: x.sum(1), 1, 0),
    ("amax dim 1", lambda x: x.amax(1), 1, 0),
    ("argmax dim 1", lambda x: x.argmax(1), 1, 0),
    ("mean square dim 1", lambda x: (x * x).mean(1), 1, 0),
    ("var dim 1", lambda x: x.var(1), 1, 0),
    ("softmax", softmax, 1, 0),
    ("layernorm", layer_norm, 1, 2),
    ("rmsnorm", g.rms_norm, 1, 1),
    ("bias+gelu", g.bias_gelu, 1, 1),
    ("layer scale", layer_scale, 2, 1),
    ("cat of 2", lambda x, y: torch.cat([x, y], 1).relu(), 2, 0),
    ("cumsum dim 1", lambda x: x.cumsum(1), 1, 0),
    ("halves", lambda x: x[:, ::2] * 2.0, 1, 0),
)
# the same of three axes, the middle one reduced
MIDDLE: tuple[tuple[str, Program], ...] = (
    ("softmax dim 1", lambda x: torch.softmax(x, 1)),
    ("sum dim 1 of 3", lambda x: x.sum(1)),
    ("amax dim 1 of 3", lambda x: x.amax(1)),
    ("normalize dim 1", lambda x: F.normalize(x, dim=1)),
    ("transpose of 3", lambda x: x.transpose(1, 2).contiguous()),
)


def others(draw: Draw) -> Iterator[Case]:
    """One case of each kind, forward."""
    for name, fn, large, vectors in SHORT:
        m, dtype = _short(draw), draw.dtype()
        n = max(1, draw.elements(10_000_000, 80_000_000) // m // large)
        yield case(name, fn, rows((n, m), (8, 6), big=large, vectors=vectors, dtype=dtype), dtype, n, m)
    for name, fn in MIDDLE:
        k, n, dtype = draw.extent(2, 200), draw.extent(20, 2_000), draw.dtype()
        m = max(8, draw.elements(10_000_000, 80_000_000) // k // n)
        yield case(name, fn, rows((k, n, m), (2, 8, 16), dtype=dtype), dtype, k, n, m)
    for last in (False, True):
        yield images(draw, "eval norm" + " channels last" * last, eval_norm, last)
    n, m, dtype = draw.extent(5_000, 500_000), draw.extent(16, 4_000), draw.dtype()
    n = min(n, draw.scaled(80_000_000) // m)
    yield case("row scale", row_scale, g._shapes((n, m), (n, 1), dtype=dtype, small=((5, 8), (5, 1))), dtype, n, m)
    b, h, t, dtype = draw.extent(1, 32), draw.extent(4, 32), draw.extent(64, 2_000), draw.dtype()
    b = max(1, min(b, draw.scaled(80_000_000) // (h * t * t)))
    scores = g._shapes((b, h, t, t), (b, 1, 1, t), dtype=dtype, small=((2, 3, 4, 4), (2, 1, 1, 4)))
    yield case("masked softmax", masked, scores, dtype, b, h, t, t)
    w, n, dtype = _short(draw), draw.extent(1_000, 200_000), draw.dtype()
    k = draw.scaled(40_000_000) // w
    yield case("embedding*2", g.embedding, g._words(n, w, k, dtype), dtype, k, n, w)


def training(draw: Draw) -> Iterator[Case]:
    """One case of each kind, forward and backward."""
    kinds: tuple[tuple[str, Program, int, float], ...] = (
        ("bias+gelu", g.bias_gelu, 1, 5),
        ("softmax", softmax, 0, 5),
        ("rmsnorm", g.rms_norm, 1, 5),
        ("layernorm", layer_norm, 2, 5),
        ("layernorm+gelu", more.layer_norm_gelu, 2, 5),
        ("swiglu", more.swiglu, 0, 4),
    )
    for name, fn, vectors, large in kinds:
        (n, m), dtype = draw.matrix(64, 8_000), draw.dtype()
        n, m = max(1, n // 2), m // 2 * 2
        make = rows((n, m), more.TINY, vectors=vectors, dtype=dtype)
        yield case(name, fn, make, dtype, n, m, large=large, grads=range(1 + vectors))
    n, m = draw.matrix(500, 100_000)
    yield case("cross-entropy", g.cross_entropy, g._classes(n, m), torch.bfloat16, n, m, large=3, grads=(0,))
    for name, fn, last in (
        ("batchnorm+relu", more.batch_norm_relu, False),
        ("batchnorm+relu channels last", more.batch_norm_relu, True),
        ("groupnorm+silu", g.group_norm_silu, False),
    ):
        yield images(draw, name, fn, last, large=8, grads=(0, 1, 2))


def _short(draw: Draw) -> int:
    """A length of 2 to 700, odd ones as often as even ones."""
    return round(2 * 350 ** draw.random.random())
