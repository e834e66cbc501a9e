"""Draws of PyTorch's CUDA kernels in ours, against a walk of their threads (tests/eager_draws.py)."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.prims import curand
from tests.eager_draws import blocks_of, walk
from tests.emulate.checks import both, execute

SEED, OFFSET = -0x123456789ABCDEF1, (1 << 34) - 8  # block numbers cross 32 bits


@pytest.mark.every(6)
@pytest.mark.parametrize("index", ["i32", "i64"])
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_words(width: int, lanes: int, index: str) -> None:
    n, resident = 16384, 2  # several turns of each thread
    threads, _ = curand.launch(n, resident)
    start = 3 * lanes  # not at a multiple of a block's words
    text = f"""func k cuda {index} (buf s: i64, buf y: u32 out, buf z: u32 out) {{ grid b of 8, t of 128 {{
        seed: i64 = load(s, 0) block: i64 = load(s, 1) threads: i64 = load(s, 2) shift: i64 = load(s, 3)
        rest: {index} = mul(b, 128) thread: {index} = add(rest, t) at: {index} = mul(thread, {lanes})
        e: {index} = add(at, {start})
        q: u32x{lanes} = curandrun(seed, block, threads, shift, e) store y[at] = q
        c: {index}x{lanes} = {"iota" if lanes > 1 else "splat"}(e)
        p: u32x{lanes} = curandword(seed, block, threads, shift, c) store z[at] = p }} }}"""
    if lanes == 1:
        text = text.replace("q: u32x1 = curandrun", "q: u32 = curandword").replace("p: u32x1", "p: u32")
        text = text.replace(f"c: {index}x1 = splat(e)", "").replace("shift, c)", "shift, e)")
    state = np.array([SEED, OFFSET // 4, threads, width.bit_length() - 1])
    words = np.zeros(1024 * lanes, np.uint32)
    got = both(text, {"s": state, "y": words, "z": words.copy()})
    want = walk(SEED, OFFSET, n, width, threads)[start : start + words.size]
    np.testing.assert_array_equal(got["y"], want)
    np.testing.assert_array_equal(got["z"], want)
    np.testing.assert_array_equal(curand.bits(state, np.arange(start, start + words.size)), want)


def test_normal() -> None:
    n, resident = 4096, 2
    threads, _ = curand.launch(n, resident)
    text = """func k cuda i32 (buf s: i64, buf y: f32 out) { grid b of 8, t of 128 {
        seed: i64 = load(s, 0) block: i64 = load(s, 1) threads: i64 = load(s, 2) shift: i64 = load(s, 3)
        rest: i32 = mul(b, 128) thread: i32 = add(rest, t) at: i32 = mul(thread, 4) c: i32x4 = iota(at)
        p: f32x4 = curandnormal(seed, block, threads, shift, c) store y[at] = p } }"""
    state = np.array([SEED, OFFSET // 4, threads, 0])
    y = np.zeros(n, np.float32)
    execute(text, {"s": state, "y": y})
    words, word = blocks_of(SEED, OFFSET, n, 1, threads)
    u = (words[np.arange(n), word & 2].astype(np.float64) + 0.5) * 2.0**-32
    v = (words[np.arange(n), (word & 2) + 1].astype(np.float64) + 0.5) * 2.0**-32 * 2 * np.pi
    want = np.sqrt(-2 * np.log(u)) * np.where(word & 1, np.cos(v), np.sin(v))
    assert np.abs(y - want).max() < 2e-6 * 6
    assert np.abs(curand.normal(state, np.arange(n)) - want).max() < 2e-6 * 6
