"""Philox against the known answers of its authors, and the streams made of it."""

import numpy as np

from fusewright.prims import philox


def _block(word: int, key: int) -> list[int]:
    w = np.full(1, word, np.uint64)
    return [int(x[0]) for x in philox.philox4x32((w, w, w, w), (key, key))]


def test_known_answers() -> None:
    assert _block(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert _block(0xFFFFFFFF, 0xFFFFFFFF) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_elements_share_blocks_as_documented() -> None:
    z = np.zeros(1, np.uint64)
    words = philox.philox4x32((z + np.uint64(16 * 3 + 5), z + np.uint64(9), z, z), (7, 0))
    for word in range(4):
        assert philox.bits(7, 9, np.array([64 * 3 + 16 * word + 5]))[0] == words[word][0]


def test_negative_seed_is_its_bit_pattern() -> None:
    e = np.arange(10)
    assert (philox.bits(-1, 0, e) == philox.bits((1 << 64) - 1, 0, e)).all()


def test_moments() -> None:
    e = np.arange(200_000)
    u, n = philox.uniform(5, 0, e), philox.normal(5, 0, e)
    assert u.dtype == n.dtype == np.float32
    assert 0 <= u.min() and u.max() < 1 and abs(u.mean() - 0.5) < 5e-3
    assert abs(n.mean()) < 1e-2 and abs(n.var() - 1) < 1e-2
    assert np.isfinite(n).all()


def test_element_does_not_depend_on_its_neighbours() -> None:
    whole = philox.uniform(3, 2, np.arange(1000))
    assert (philox.uniform(3, 2, np.arange(500, 600)) == whole[500:600]).all()


def test_quads_share_blocks_as_documented() -> None:
    z = np.zeros(1, np.uint64)
    row = (5 << 32) + 9
    for call in (0, 1):
        counter = (z + np.uint64(13), z + np.uint64(9), z + np.uint64(5), z + np.uint64(2 + call))
        words = philox.philox4x32(counter, (7, 3))
        got = philox.quads((3 << 32) + 7, row, np.arange(52, 56), call)
        assert list(got) == [w[0] for w in words]


def test_the_layouts_draw_different_blocks() -> None:
    """Words of one layout do not occur in the other, at any column, row or call: equal words are chance, 2^-32 each."""
    c = np.arange(256)
    ours = np.concatenate([philox.quads(11, r, c, call) for r in range(4) for call in (0, 1)])
    others = np.concatenate([philox.bits(11, r, c, call) for r in range(4) for call in (0, 1)])
    assert not np.intersect1d(ours, others).size
    assert len(np.unique(ours)) == ours.size


def test_seeds_may_differ_by_element() -> None:
    seeds, rows = np.array([3, -1, 1 << 40]), np.array([0, 5, 1 << 33])
    for draw in (philox.bits, philox.quads):
        got = draw(seeds, rows, np.full(3, 77), 1)
        assert list(got) == [draw(int(s), int(r), np.array([77]), 1)[0] for s, r in zip(seeds, rows, strict=True)]


def test_moments_of_quads() -> None:
    u = (philox.quads(5, 0, np.arange(200_000)) >> np.uint32(8)) * 2.0**-24
    assert abs(u.mean() - 0.5) < 5e-3 and abs(u.var() - 1 / 12) < 1e-3
