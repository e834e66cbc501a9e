"""Scatters on GPUs: gradients of embeddings, sums over the edges of a graph, histograms, and single elements.

The ideal traffic is every input and output once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from fusewright.bench.cases import Case, Tensors

BF16, F32, I64 = torch.bfloat16, torch.float32, torch.int64
aten = torch.ops.aten


def embedding_backward(rows: int) -> Callable[..., torch.Tensor]:
    """The gradient of a table of so many rows."""

    def embedding_backward(g: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return aten.embedding_dense_backward(g, i, rows, -1, False)

    return embedding_backward


def sum_edges(rows: int) -> Callable[..., torch.Tensor]:
    def sum_edges(s: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return s.new_zeros(rows, s.shape[1]).index_add(0, i, s)

    return sum_edges


def message_passing(w: torch.Tensor, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Weighted rows of the edges' sources, summed at their targets: gather, product, scatter and what follows."""
    total = torch.zeros_like(x).index_add(0, target, x[source] * w[:, None])
    return torch.relu(total + x).to(BF16)


def largest_of_edges(s: torch.Tensor, i: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return x.scatter_reduce(0, i[:, None].expand_as(s), s, "amax", include_self=False)


def histogram(bins: int, dtype: torch.dtype) -> Callable[..., torch.Tensor]:
    def histogram(i: torch.Tensor) -> torch.Tensor:
        one = torch.ones(i.shape, dtype=dtype, device=i.device)
        return torch.zeros(bins, dtype=dtype, device=i.device).scatter_add(0, i, one)

    return histogram


def accumulate(x: torch.Tensor, i: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return x.index_put((i,), s * 0.5, accumulate=True)


def pick_backward(g: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """The gradient of `x[i, j]`, x of 4096 x 8192."""
    return g.new_zeros(4096, 8192).index_put((i, j), g, accumulate=True)


def copy_rows(x: torch.Tensor, i: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return x.index_copy(0, i, s)


def along_rows(x: torch.Tensor, i: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return x.scatter_add(1, i, s)


def uniform(limit: int, count: int, device: str) -> torch.Tensor:
    return torch.randint(0, limit, (count,), device=device)


def words(limit: int, count: int, device: str) -> torch.Tensor:
    """Like the words of a text: the k-th most frequent about 1/k as often as the first, 8 % of all."""
    u = torch.rand(count, device=device, dtype=torch.float64)
    k = (limit + 1.0) ** u - 1.0
    return (k.long() * 7919) % limit


def half_one(limit: int, count: int, device: str) -> torch.Tensor:
    """Half of them are one and the same: padding."""
    i = uniform(limit, count, device)
    return torch.where(torch.rand(count, device=device) < 0.5, 0, i)


Draw = Callable[[int, int, str], torch.Tensor]


def _rows(
    rows: int, points: int, width: int, dtype: torch.dtype = F32, draw: Draw = uniform, base: bool = False
) -> Callable[[str, bool], Tensors]:
    """(source [points, width], indices below `rows`[, the target]); small when quick."""

    def make(device: str, quick: bool) -> Tensors:
        v, n, m = (50, 300, min(width, 16)) if quick else (rows, points, width)
        s, i = torch.randn(n, m, device=device, dtype=dtype), draw(v, n, device)
        return (s, i, torch.randn(rows if not quick else v, m, device=device, dtype=dtype)) if base else (s, i)

    return make


def _edges(device: str, quick: bool) -> Tensors:
    v, n, m = (50, 300, 16) if quick else (100_000, 1_000_000, 64)
    x, w = torch.randn(v, m, device=device), torch.rand(n, device=device)
    return w, x, uniform(v, n, device), uniform(v, n, device)


def _into(rows: int, points: int, width: int, unique: bool = False) -> Callable[[str, bool], Tensors]:
    """(target, indices, source)."""

    def make(device: str, quick: bool) -> Tensors:
        v, n, m = (300, 50, min(width, 16)) if quick else (rows, points, width)
        i = torch.randperm(v, device=device)[:n] if unique else uniform(v, n, device)
        shape = (m,) if width > 1 else ()
        return torch.randn(v, *shape, device=device), i, torch.randn(n, *shape, device=device)

    return make


def _each(device: str, quick: bool) -> Tensors:
    n, m, k = (9, 20, 30) if quick else (4096, 4096, 1024)
    i = torch.randint(0, m, (n, k), device=device)
    return torch.randn(n, m, device=device), i, torch.randn(n, k, device=device)


def _picks(device: str, quick: bool) -> Tensors:
    n = 200 if quick else 1 << 19
    return torch.randn(n, device=device, dtype=BF16), uniform(4096, n, device), uniform(8192, n, device)


def _bins(bins: int, count: int) -> Callable[[str, bool], Tensors]:
    def make(device: str, quick: bool) -> Tensors:
        return (uniform(bins, 1000 if quick else count, device),)

    return make


def scatters() -> Iterator[Case]:
    def case(name: str, fn: Callable, make: Callable[[str, bool], Tensors]) -> Case:
        return Case(name, "gpu-scatter", fn, make, 0)

    gpt, llama = 50257, 128256
    of_words = embedding_backward(gpt)
    yield case("embedding backward 8192 words of 50257x768 bf16", of_words, _rows(gpt, 8192, 768, BF16, words))
    yield case("embedding backward 65536 words of 50257x768 bf16", of_words, _rows(gpt, 65536, 768, BF16, words))
    yield case("embedding backward 65536 words of 50257x768 f32", of_words, _rows(gpt, 65536, 768, F32, words))
    yield case("embedding backward 65536, half padding, bf16", of_words, _rows(gpt, 65536, 768, BF16, half_one))
    wide = _rows(llama, 16384, 4096, BF16, words)
    yield case("embedding backward 16384 words of 128256x4096 bf16", embedding_backward(llama), wide)
    yield case("1M edges of 64 to 100k nodes f32", sum_edges(100_000), _rows(100_000, 1_000_000, 64))
    yield case(
        "1M edges of 64 to 100k nodes, few frequent", sum_edges(100_000), _rows(100_000, 1_000_000, 64, F32, words)
    )
    yield case("message passing, 1M edges of 64", message_passing, _edges)
    yield case("1M nodes of 64 to 64 graphs f32", sum_edges(64), _rows(64, 1_000_000, 64))
    yield case("largest of 1M edges of 64", largest_of_edges, _rows(100_000, 1_000_000, 64, base=True))
    yield case("copy 8192 rows of 1024 into 65536 f32", copy_rows, _into(65536, 8192, 1024, True))
    yield case("accumulate 1M elements into 1M f32", accumulate, _into(1 << 20, 1_000_000, 1))
    yield case("accumulate 100k elements into 10k f32", accumulate, _into(10_000, 100_000, 1))
    yield case("accumulate 1M rows of 8 into 100k f32", accumulate, _into(100_000, 1_000_000, 8))
    yield case("accumulate 20k rows of 3 into 5000 f32", accumulate, _into(5_000, 20_000, 3))
    yield case("accumulate 16M elements into 1000 f32", accumulate, _into(1_000, 1 << 24, 1))
    yield case("gradient of 512k elements picked bf16", pick_backward, _picks)
    yield case("1M edges of 8 to 100k nodes f32", sum_edges(100_000), _rows(100_000, 1_000_000, 8))
    yield case("scatter_add 4096x1024 along rows of 4096 f32", along_rows, _each)
    yield case("histogram 16M in 256 bins f32", histogram(256, F32), _bins(256, 1 << 24))
    yield case("histogram 16M in 1M bins f32", histogram(1 << 20, F32), _bins(1 << 20, 1 << 24))
    yield case("histogram 16M in 1M bins i64", histogram(1 << 20, I64), _bins(1 << 20, 1 << 24))


SCATTER_CASES: tuple[Case, ...] = tuple(scatters())
