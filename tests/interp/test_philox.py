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
