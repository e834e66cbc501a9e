"""Random scatters, and gathers with their backward, compiled against eager: bit for bit, in kernels of our own.

Shapes, dims, layouts, duplicate and negative indices, empty sources; what surrounds the scatter is exact arithmetic.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fusewright
from tests.support import LAYOUTS, compiled, no_fallbacks, same_bits, tensor_with_layout

EXAMPLES = int(os.environ.get("FUSEWRIGHT_PROPERTY_EXAMPLES", "28"))
configured = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="FUSEWRIGHT_PROPERTY_RANDOM" not in os.environ,
    suppress_health_check=list(HealthCheck),
    database=None,
)

DTYPES = (torch.float32, torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8)
EXTENTS = st.sampled_from((1, 2, 3, 5, 17, 40))
REDUCTIONS = ("sum", "prod", "amax", "amin")
Pick = Callable[[Any], Any]


def _tensor(pick: Pick, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    t = tensor_with_layout(pick(st.sampled_from(sorted(LAYOUTS))), shape, dtype, seed=pick(st.integers(0, 9)))
    return t.detach()


def _index(pick: Pick, shape: tuple[int, ...], extent: int, negative: bool) -> torch.Tensor:
    gen = torch.Generator().manual_seed(pick(st.integers(0, 99)))
    return torch.randint(-extent if negative and pick(st.booleans()) else 0, extent, shape, generator=gen)


def _shape(pick: Pick, least: int = 1) -> tuple[int, ...]:
    return tuple(pick(st.lists(EXTENTS, min_size=least, max_size=3)))


def along(pick: Pick) -> tuple[Callable[..., Any], tuple[torch.Tensor, ...]]:
    """scatter_add and scatter_reduce: an index for each element; it may be smaller than base and source."""
    shape, dtype = _shape(pick), pick(st.sampled_from(DTYPES))
    dim = pick(st.integers(0, len(shape) - 1))
    points = tuple(
        pick(st.sampled_from((0, 1, 4, 30))) if d == dim else pick(st.integers(1, n)) for d, n in enumerate(shape)
    )
    x, i = _tensor(pick, shape, dtype), _index(pick, points, shape[dim], False)
    s = _tensor(pick, tuple(n + pick(st.integers(0, 1)) for n in points), dtype)
    how, keep = pick(st.sampled_from(REDUCTIONS)), pick(st.booleans())
    if pick(st.booleans()):
        return lambda x, i, s: (x * 2).scatter_add(dim, i, s - 1), (x, i, s)
    return lambda x, i, s: x.scatter_reduce(dim, i, s * 2, how, include_self=keep), (x, i, s)


def slices(pick: Pick) -> tuple[Callable[..., Any], tuple[torch.Tensor, ...]]:
    """index_add and index_reduce: an index for each slice."""
    shape, dtype = _shape(pick), pick(st.sampled_from(DTYPES))
    dim, count = pick(st.integers(0, len(shape) - 1)), pick(st.sampled_from((0, 1, 4, 30)))
    source = tuple(count if d == dim else n for d, n in enumerate(shape))
    args = (_tensor(pick, shape, dtype), _index(pick, (count,), shape[dim], False), _tensor(pick, source, dtype))
    if pick(st.booleans()):
        return lambda x, i, s: (x + 1).index_add(dim, i, torch.maximum(s, s - 1)), args
    return lambda x, i, s: x.index_add(dim, i, s).index_add(dim, i, s * 2), args


def points(pick: Pick) -> tuple[Callable[..., Any], tuple[torch.Tensor, ...]]:
    """index_put: some dims indexed, by indices that broadcast; values that do, too.

    Eager's order of points depends on the strides of the values here: whole numbers, whose sums do not.
    """
    shape, dtype = _shape(pick, 2), pick(st.sampled_from(DTYPES))
    at = sorted(pick(st.sets(st.integers(0, len(shape) - 1), min_size=1, max_size=2)))
    common = tuple(pick(st.lists(st.sampled_from((1, 3, 20)), min_size=1, max_size=2)))
    own = [common if pick(st.booleans()) else tuple(1 for _ in common) for _ in at]
    own[0] = common
    indices = [_index(pick, n, shape[d], True) for n, d in zip(own, at, strict=True)]
    x = _tensor(pick, shape, dtype)
    where: list[Any] = [slice(None)] * len(shape)
    for d, i in zip(at, indices, strict=True):
        where[d] = i
    value = _tensor(pick, tuple(1 if pick(st.integers(0, 4)) == 0 else n for n in x[tuple(where)].shape), dtype)

    def fn(x: torch.Tensor, value: torch.Tensor, *indices: torch.Tensor) -> torch.Tensor:
        given: list[Any] = [None] * x.dim()
        for d, i in zip(at, indices, strict=True):
            given[d] = i
        if x.is_floating_point():
            x, value = torch.round(x), torch.round(value)
        return torch.ops.aten.index_put(x, given, value * 2, True)

    return fn, (x, value, *indices)


@given(st.data(), st.sampled_from((along, slices, points)))
@configured
def test_scatters(data: st.DataObject, family: Callable[[Pick], Any]) -> None:
    torch._dynamo.reset()
    fn, args = family(data.draw)
    with fusewright.options(single_op_groups=True, fallback=False), no_fallbacks():
        got = compiled(fn, dynamic=data.draw(st.booleans()))(*args)
    assert same_bits(got, fn(*args))


def gathered(pick: Pick) -> tuple[Callable[..., Any], torch.Tensor, tuple[torch.Tensor, ...]]:
    shape = _shape(pick)
    dim, dtype = pick(st.integers(0, len(shape) - 1)), pick(st.sampled_from((torch.float32, torch.float64)))
    x = _tensor(pick, shape, dtype).requires_grad_()
    if pick(st.booleans()):
        i = _index(pick, (pick(st.sampled_from((1, 4, 30))),), shape[dim], False)
        return lambda x, i: x.index_select(dim, i) * 2, x, (i,)
    i = _index(pick, tuple(30 if d == dim else n for d, n in enumerate(shape)), shape[dim], False)
    return lambda x, i: x.gather(dim, i) * 2, x, (i,)


@given(st.data())
@configured
def test_backward_of_a_gather(data: st.DataObject) -> None:
    torch._dynamo.reset()
    fn, x, rest = gathered(data.draw)
    with fusewright.options(single_op_groups=True, fallback=False), no_fallbacks():
        out = compiled(fn)(x, *rest)
        seed = torch.randn(out.shape, dtype=out.dtype, generator=torch.Generator().manual_seed(1))
        (got,) = torch.autograd.grad(out, x, seed)
    (want,) = torch.autograd.grad(fn(x, *rest), x, seed)
    assert same_bits(got, want)
