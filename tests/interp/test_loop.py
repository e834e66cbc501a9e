"""The Loop IR interpreter: values, rounding, masks, and the accesses it must report."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fusewright.core.dtypes import round_bf16
from fusewright.core.errors import CompilerError
from fusewright.interp.loop import InterpError, run
from fusewright.loop.text import parse
from fusewright.loop.verify import verify
from fusewright.prims import philox

SOFTMAX = """
func softmax(buf x: f32, buf y: f32 out, size rows, size n) {
  alloc row: f32[n] thread
  parallel tid of nth {
    for r in tid .. rows step nth {
      base: i64 = mul(r, n)
      var m: f32x4 = -inf:f32x4
      for i in 0 .. n step 4 {
        left: i64 = sub(n, i)
        k: boolx4 = lanemask(left)
        at: i64 = add(base, i)
        v: f32x4 = load(x, at, k)
        w: f32x4 = where(k, v, -inf:f32x4)
        m1: f32x4 = max(m, w)
        set m = m1
      }
      top: f32 = hreduce(m) {max}
      top4: f32x4 = splat(top)
      var s: f32x4 = 0.0:f32x4
      for i in 0 .. n step 4 {
        left: i64 = sub(n, i)
        k: boolx4 = lanemask(left)
        at: i64 = add(base, i)
        v: f32x4 = load(x, at, k)
        d: f32x4 = sub(v, top4)
        e: f32x4 = exp(d)
        store row[i] = e {mask k}
        w: f32x4 = where(k, e, 0.0:f32x4)
        s1: f32x4 = add(s, w)
        set s = s1
      }
      total: f32 = hreduce(s) {sum}
      for i in 0 .. n step 1 {
        e: f32 = load(row, i)
        q: f32 = div(e, total)
        at: i64 = add(base, i)
        store y[at] = q
      }
    }
  }
}
"""


def execute(text: str, buffers: dict[str, np.ndarray], sizes: dict[str, int] | None = None, **kwargs: Any) -> bool:
    func = parse(text)
    verify(func)
    return run(func, buffers, sizes, **kwargs)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_softmax(threads: int) -> None:
    x = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    y = np.zeros(35, np.float32)
    assert not execute(SOFTMAX, {"x": x.ravel().copy(), "y": y}, {"rows": 5, "n": 7}, threads=threads)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y.reshape(5, 7), e / e.sum(1, keepdims=True), rtol=1e-6)


def one(body: str, out: np.ndarray, dtype: str, **hosts: Any) -> np.ndarray:
    """`out` after a body that stores to buffer y."""
    names = ", ".join(f"host {k}: f32" for k in hosts)
    text = f"func k(buf y: {dtype} out{', ' + names if names else ''}) {{ {body} }}"
    execute(text, {"y": out}, hosts=hosts)
    return out


def test_stores_round_to_the_stored_type() -> None:
    x = np.array([1.001, -3.14159, 1e-40, math.inf], np.float32)
    body = "".join(f"store y[{k}] = {v!r}:f32\n" for k, v in enumerate(map(float, x)))
    np.testing.assert_array_equal(one(body, np.zeros(4, np.float32), "bf16"), round_bf16(x))
    np.testing.assert_array_equal(one(body, np.zeros(4, np.float16), "f16"), x.astype(np.float16))
    rounded = one("a: f32 = round(h) {bf16} store y[0] = a", np.zeros(1, np.float32), "f32", h=1.001)
    np.testing.assert_array_equal(rounded, round_bf16(x[:1]))
    whole = one("a: f32 = round(h) store y[0] = a", np.zeros(1, np.float32), "f32", h=2.5)
    assert whole[0] == 2.0


def test_operations() -> None:
    y = one(
        "a: i64x4 = iota(5) b: i64x4 = udiv(a, 2:i64x4) store y[0] = b c: i64 = hreduce(a) {sum} store y[4] = c",
        np.zeros(5, np.int64),
        "i64",
    )
    assert list(y) == [2, 3, 3, 4, 26]
    y = one("a: i32x2 = cast(-2.7:f32x2) store y[0] = a", np.zeros(2, np.int32), "i32")
    assert list(y) == [-2, -2]
    z = one("a: u8 = add(250:u8, 10:u8) store y[0] = a", np.zeros(1, np.uint8), "u8")
    assert z[0] == 4
    m = one("a: boolx4 = lanemask(3) store y[0] = a", np.zeros(4, bool), "bool")
    assert list(m) == [True, True, True, False]
    f = one("a: f32 = hreduce(h3) {prod} store y[0] = a".replace("h3", "2.0:f32x3"), np.zeros(1, np.float32), "f32")
    assert f[0] == 8.0


def test_philox() -> None:
    y = np.zeros(64, np.uint32)
    one("a: i64x64 = iota(100) b: u32x64 = philox(-5, 7:i64x64, a) {1} store y[0] = b", y, "u32")
    np.testing.assert_array_equal(y, philox.bits(-5, 7, np.arange(100, 164), 1))


def test_gather_scatter_and_masks() -> None:
    x = np.arange(8, dtype=np.float32)
    y = np.full(4, -1, np.float32)
    text = """func k(buf x: f32, buf y: f32 out) {
      a: i64x4 = iota(-2)
      k: boolx4 = ge(a, 0:i64x4)
      v: f32x4 = gather(x, a, k)
      n: i64x4 = neg(a)
      store y[n] = v {mask k2}
    }""".replace("store y[n] = v {mask k2}", "k2: boolx4 = ge(n, 0:i64x4) store y[n] = v {mask k2}")
    execute(text, {"x": x, "y": y})
    assert list(y) == [0, 0, 0, -1]  # lanes -2, -1 and 0 read nothing or element 0


def test_failure_is_reported_and_does_not_stop() -> None:
    y = np.zeros(1, np.int64)
    assert execute("func k(buf y: i64 out) { fail store y[0] = 7 }", {"y": y})
    assert y[0] == 7


@pytest.mark.parametrize(
    "body, expected",
    [
        ("a: f32 = load(x, 8)", "index 8 is outside buffer 'x' of 8 elements, in 'a: f32 = load(x, 8)'"),
        ("a: f32x4 = load(x, 5)", "index 8 is outside buffer 'x' of 8 elements, in 'a: f32x4 = load(x, 5)'"),
        ("store y[-1] = 1.0:f32", "index -1 is outside buffer 'y' of 8 elements, in 'store y[-1] = 1.0:f32'"),
        ("a: f32 = load(y, 3)", "element 3 of 'y' is read before it is written, in 'a: f32 = load(y, 3)'"),
        ("a: f32 = load(s, 1)", "element 1 of 's' is read before it is written, in 'a: f32 = load(s, 1)'"),
        (
            "parallel t of m { store y[2] = 1.0:f32 }",
            "race: thread 1 writes element 2 of 'y', which thread 0 wrote in this region, in 'store y[2] = 1.0:f32', "
            "by thread 1",
        ),
        (
            "parallel t of m { z: bool = eq(t, 0) if z { store g[1] = 1.0:f32 } else { a: f32 = load(g, 1) } }",
            "race: thread 1 reads element 1 of 'g', which thread 0 wrote in this region, in 'a: f32 = load(g, 1)', "
            "by thread 1",
        ),
        (
            "store g[1] = 1.0:f32 parallel t of m { a: f32 = load(g, 1) z: bool = eq(t, 1) if z { store g[1] = a } }",
            "race: thread 1 writes element 1 of 'g', which several threads read in this region, in 'store g[1] = a', "
            "by thread 1",
        ),
        (
            "parallel t of m { z: bool = eq(t, 0) if z { store s[0] = 1.0:f32 } else { a: f32 = load(s, 0) } }",
            "element 0 of 's' is read before it is written, in 'a: f32 = load(s, 0)', by thread 1",
        ),
        (
            "parallel t of m { store s[0] = 1.0:f32 } a: f32 = load(s, 0)",
            "element 0 of 's' is read before it is written, in 'a: f32 = load(s, 0)'",
        ),
        ("z: i64 = sub(0, 0) a: i64 = udiv(4, z)", "udiv of 4 by 0, in 'a: i64 = udiv(4, z)'"),
        ("z: i64 = sub(0, 0) for i in 0 .. 4 step z { }", "a loop steps by 0, in 'for i in 0 .. 4 step z'"),
    ],
)
def test_reports(body: str, expected: str) -> None:
    text = f"""func k(buf x: f32, buf y: f32 out) {{
      alloc s: f32[4] thread
      alloc g: f32[4] shared
      {body}
    }}"""
    with pytest.raises(InterpError) as caught:
        execute(text, {"x": np.zeros(8, np.float32), "y": np.zeros(8, np.float32)})
    assert str(caught.value) == expected + ", in pass 'run loop 'k''"


def test_a_later_region_sees_shared_memory() -> None:
    y = np.zeros(2, np.float32)
    text = """func k(buf y: f32 out) {
      alloc g: f32[2] shared
      parallel t of m { v: f32 = cast(t) store g[t] = v }
      parallel t of m { u: i64 = sub(1, t) v: f32 = load(g, u) store y[t] = v }
    }"""
    execute(text, {"y": y})
    assert list(y) == [1, 0]


def test_one_array_under_two_names_is_watched_as_one() -> None:
    x = np.arange(4, dtype=np.float32)
    text = """func k(buf x: f32, buf y: f32 out) {
      parallel t of m { a: f32 = load(x, 0) store y[t] = a }
    }"""
    with pytest.raises(InterpError, match="race: thread 1 reads element 0 of 'x', which thread 0 wrote"):
        execute(text, {"x": x, "y": x})


@pytest.mark.parametrize(
    "buffers, expected",
    [
        ({}, "no array for buffer 'y' of kernel 'k'"),
        ({"y": np.zeros(4)}, "buffer 'y' must be a flat float32 array, not float64(4,)"),
        ({"y": np.zeros((2, 2), np.float32)}, "buffer 'y' must be a flat float32 array, not float32(2, 2)"),
        ({"y": np.zeros(4, np.float32)}, "no value for size 'n' of kernel 'k'"),
    ],
)
def test_bad_arguments(buffers: dict[str, np.ndarray], expected: str) -> None:
    with pytest.raises(CompilerError) as caught:
        run(parse("func k(buf y: bf16 out, size n) {}"), buffers)
    assert str(caught.value) == expected
