"""The block that is the last to be counted: what it means, in the interpreter and in the emitted kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fusewright.core.errors import VerifyError
from fusewright.interp.loop import run
from fusewright.interp.values import InterpError
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from tests.emulate.cuda import COMPILER, MISSING, EmulationError, run_emulated

# Three blocks for each of n results; the last of them adds up what the three have left.
SUMS = """func k cuda i32 (buf x: f32, buf y: f32 out, size n, size m) {
  alloc part: f32[m] grid
  alloc counters: i32[n] counters
  grid b of m, t of 32 {
    r: i32 = udiv(b, 3) i: i32 = mul(b, 32) at: i32 = add(i, t) v: f32 = load(x, at)
    s: f32 = treduce(v) {sum, 32, 1}
    first: bool = eq(t, 0) if first { store part[b] = s }
    done: bool = last(counters, r, COUNT)
    if done {
      p: i32 = mul(r, 3) q: i32 = add(p, 3)
      var total: f32 = 0.0:f32
      for j in p .. q step 1 { u: f32 = load(part, j) w: f32 = add(total, u) set total = w }
      c: bool = eq(t, 0) if c { store y[r] = total }
    }
  } }"""


def sums(text: str, of: Callable[..., object]) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).integers(0, 100, 4 * 3 * 32).astype(np.float32)
    y = np.zeros(4, np.float32)
    func = parse(text)
    verify(func)
    of(func, {"x": x, "y": y}, {"n": 4, "m": 12})
    return x.reshape(4, -1).sum(1), y


def test_the_last_block_sees_what_the_others_left() -> None:
    text = SUMS.replace("COUNT", "3")
    np.testing.assert_array_equal(*sums(text, run))
    assert dump(parse(dump(parse(text)))) == dump(parse(text))


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_the_emitted_kernel_does_so_too() -> None:
    np.testing.assert_array_equal(*sums(SUMS.replace("COUNT", "3"), run_emulated))


def test_counters_are_zero_again() -> None:
    text = SUMS.replace("COUNT", "4")
    with pytest.raises(InterpError, match="counter 0 has counted 3 blocks, and found no last one"):
        sums(text, run)
    if COMPILER is not None:
        with pytest.raises(EmulationError, match="are not zero when the kernel ends"):
            sums(text, run_emulated)


@pytest.mark.parametrize(
    ("who", "message"),
    [("lt(i2, 1)", "is read before it is written"), ("gt(i2, 1)", "block 2 reads element 0 of 'part', which block 0")],
)
def test_what_blocks_left_that_were_not_counted_is_not_seen(who: str, message: str) -> None:
    one = f"""o: i32 = mul(r, 3) i2: i32 = sub(b, o) some: bool = {who} var done: bool = false
      if some {{ d: bool = last(counters, r, 1) set done = d }}"""
    with pytest.raises(InterpError, match=message):
        sums(SUMS.replace("done: bool = last(counters, r, COUNT)", one), run)


def kernel(body: str, alloc: str = "alloc c: i32[4] counters") -> str:
    head = "func k cuda i32 (buf x: f32, buf y: f32 out, size n) {"
    return f"{head} {alloc} alloc p: i32[4] grid grid b of n, t of 64 {{ {body} }} }}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (kernel("d: bool = last(c, t, 3)"), "the counter and the count are the same in all threads of a block"),
        (kernel("d: bool = last(p, 0, 3)"), "'p' are no counters"),
        (kernel("d: i32 = last(c, 0, 3)"), "last gives bool, not i32"),
        (kernel("d: bool = last(c, 0)"), "last takes counters, an index and a count"),
        (kernel("e: bool = lt(t, n) if e { d: bool = last(c, 0, 3) }"), "last where not all threads of the block may"),
        (kernel("v: i32 = load(c, 0)"), "counters 'c' are for 'last' only"),
        (kernel("store c[0] = 0"), "counters 'c' are for 'last' only"),
        (kernel("", "alloc c: f32[4] counters"), "there is one piece of counters at most, of i32"),
        (kernel("", "alloc c: i32[4] counters alloc d: i32[4] counters"), "there is one piece of counters at most"),
    ],
)
def test_rules(text: str, message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        verify(parse(text))


def test_what_only_the_last_block_does_may_have_barriers() -> None:
    verify(parse(kernel('d: bool = last(c, 0, n) if d { barrier "all" s: f32 = treduce(1.0:f32) {sum, 64, 1} }')))
