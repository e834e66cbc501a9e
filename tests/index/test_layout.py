"""Which multi-indices are each element of a tensor once."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fusewright.index.expr import ONE, ZERO, Ix, axis, ix, sym
from fusewright.index.layout import bijective, product, reshaped


def _bijective(index: tuple[Ix, ...], shape: tuple[Ix, ...]) -> bool:
    """The same, by going through all points."""
    axes = sorted({a for i in index for a in i.axes()}, key=lambda a: a.name)
    extents = [a.extent.as_int() for a in axes]
    points = {a.name: p for a, p in zip(axes, np.indices(extents), strict=True)}
    coords = [np.broadcast_to(i.evaluate(points), extents).ravel() for i in index]
    sizes = [n.as_int() for n in shape]
    if any(c.min() < 0 or c.max() >= n for c, n in zip(coords, sizes, strict=True)):
        return False
    flat = np.ravel_multi_index(coords, sizes)
    return len(np.unique(flat)) == len(flat) == np.prod(sizes)


def _drawn(r: random.Random) -> tuple[tuple[Ix, ...], tuple[Ix, ...]]:
    """An index that is reshaped, turned and flipped a few times; in half of the cases with a dim put in by another."""
    shape = tuple(ix(r.choice([1, 2, 3, 4, 6])) for _ in range(r.randint(1, 3)))
    index = tuple(ZERO if n is ONE else axis(f"i{k}", n) for k, n in enumerate(shape))
    for _ in range(r.randint(1, 4)):
        kind = r.choice(["reshape", "permute", "flip", "split", "merge"])
        if kind == "split":
            k = r.randrange(len(shape))
            size = shape[k].as_int()
            by = r.choice([d for d in range(1, size + 1) if size % d == 0])
            new = (*shape[:k], ix(size // by), ix(by), *shape[k + 1 :])
            index, shape = reshaped(index, shape, new), new
        elif kind == "merge" and len(shape) > 1:
            k = r.randrange(len(shape) - 1)
            new = (*shape[:k], shape[k] * shape[k + 1], *shape[k + 2 :])
            index, shape = reshaped(index, shape, new), new
        elif kind == "reshape":
            new = (product(shape),) if r.random() < 0.5 else tuple(reversed(shape))
            index, shape = reshaped(index, shape, new), new
        elif kind == "permute":
            order = r.sample(range(len(shape)), len(shape))
            index, shape = tuple(index[k] for k in order), tuple(shape[k] for k in order)
        elif kind == "flip":
            k = r.randrange(len(shape))
            index = (*index[:k], shape[k] - 1 - index[k], *index[k + 1 :])
    if r.random() < 0.5 and len(shape) > 1:
        to, of = r.sample(range(len(shape)), 2)
        if shape[to] is shape[of]:
            index = (*index[:to], index[of], *index[to + 1 :])
    return index, shape


def test_an_index_said_to_be_bijective_is():
    r = random.Random(0)
    found = {(seen, is_so): 0 for seen in (False, True) for is_so in (False, True)}
    for _ in range(3000):
        index, shape = _drawn(r)
        seen, is_so = bijective(index, shape), _bijective(index, shape)
        assert is_so or not seen, (index, shape)
        found[seen, is_so] += 1
    assert found[False, False] > 50
    assert found[False, True] < 0.1 * found[True, True]  # what is one, is mostly seen to be


def test_sizes_that_are_symbols():
    n, m = sym("n"), sym("m")
    i, j = axis("i", n), axis("j", m)
    assert bijective((i, j), (n, m))
    assert bijective((m - 1 - j, i), (m, n))
    assert bijective(reshaped((i, j), (n, m), (n * m,)), (n * m,))
    assert bijective((axis("k", n * 4) // 4, axis("k", n * 4) % 4), (n, ix(4)))
    assert not bijective((i, i), (n, n))
    assert not bijective((i, ZERO), (n, m))
    assert bijective((i, i), (n, ZERO))  # there is no element


@pytest.mark.parametrize("size", [6, 8])
def test_a_part_of_an_axis_is_not_all_of_it(size):
    """As many points as elements, but some elements twice and others not at all."""
    i, j = axis("i", 4), axis("j", 2)
    assert not bijective((i // 2 + 2 * j, ZERO), (ix(8), ONE))
    assert not bijective((2 * i % size, j), (ix(4), ix(2)))
    assert bijective((i % 2 + 2 * j, i // 2), (ix(4), ix(2)))
