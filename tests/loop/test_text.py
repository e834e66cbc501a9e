"""Loop IR text: what is printed parses back to the same kernel, and mistakes are located."""

from __future__ import annotations

import math

import pytest

from fusewright.core.dtypes import bf16, bool_, f32, f64, i8, i64, u32
from fusewright.core.errors import VerifyError
from fusewright.core.lexer import ParseError
from fusewright.loop.ir import Alloc, Buf, Fail, For, Func, If, Imm, Let, Parallel, Reg, Set, Store, Var, imm, ireg
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify

SOFTMAX = """\
func softmax(buf x: f32, buf y: bf16 out, buf m: bool out, size n, host s: f64) {
  alloc t: f32[n] thread
  alloc p: f32[1024] shared
  parallel tid of nth {
    lo: i64 = mul(tid, 4)
    for r in lo .. n step 1 {
      base: i64 = mul(r, n)
      var acc: f32x16 = 0.0:f32x16
      for i in 0 .. n step 16 {
        left: i64 = sub(n, i)
        k: boolx16 = lanemask(left)
        v: f32x16 = load(x, base, k)
        at: i64x16 = iota(i)
        g: f32x16 = gather(x, at)
        w: f32x16 = add(v, -1.5e-07:f32x16)
        c: boolx16 = gt(w, -inf:f32x16)
        set acc = w
        store t[i] = w {mask k}
        store m[at] = c
      }
      q: f32 = hreduce(acc) {sum}
      h: f32 = round(q) {bf16}
      b: u32x16 = philox(r, 3:i64x16, at.0) {1}
      if true {
        fail
      } else {
        store y[-3] = h {hint stream}
      }
      if false {
      }
    }
  }
}
""".replace("philox(r, 3:i64x16, at.0)", "philox(r, 3:i64x16, 7:i64x16)")


def test_round_trip_of_text() -> None:
    func = parse(SOFTMAX)
    assert dump(func) == SOFTMAX
    assert parse(dump(func)) == func


def test_round_trip_of_a_built_kernel() -> None:
    x, y, t = Buf("x", bf16), Buf("y", f32, True), Buf("t.0", i8)
    a, b, i = Reg("a", f32, 4), Reg("b", bool_), ireg("i")
    func = Func("k", [x, y], [ireg("n")], [Reg("h", f64)], [Alloc(t, imm(3), "shared")])
    func.body = [
        Let(a, "load", (imm(-1), Imm(True, bool_, 4)), x),
        Var(b, Imm(False, bool_)),
        Parallel(
            ireg("tid"),
            ireg("nth"),
            [
                For(i, imm(0), ireg("n"), ireg("nth"), [Set(b, Imm(True, bool_))]),
                If(b, [Fail()], [Store(y, i, a, Imm(True, bool_, 4), "")]),
            ],
        ),
        Let(Reg("r", f32), "round", (Imm(1e-40, f32),), None, bf16),
        Let(Reg("p", u32), "philox", (imm(2**63 - 1), imm(-(2**63)), imm(5)), None, 1),
        Let(Reg("z", f32), "add", (Imm(-0.0, f32), Imm(math.inf, f32))),
    ]
    del func.body[2].body[1]  # reads `i` outside its loop, which text cannot say
    text = dump(func)
    assert parse(text) == func
    assert dump(parse(text)) == text


def test_nan_survives() -> None:
    text = "func k() {\n  a: f32 = neg(nan:f32)\n}\n"
    assert dump(parse(text)) == text


def test_comments_and_layout_do_not_matter() -> None:
    assert parse("func k ( )\n# nothing\n{ fail # here\n fail }") == Func("k", body=[Fail(), Fail()])


def test_a_name_means_its_own_scope() -> None:
    f = parse("func k() { if true { a: f32 = neg(1.0:f32) } else { a: i64 = neg(1)\n b: i64 = neg(a) } }")
    (branch,) = f.body
    assert branch.orelse[1].args == (Reg("a", i64),)


@pytest.mark.parametrize(
    "text, message",
    [
        ("kernel k() {}", "1:1: expected 'func', found 'kernel'"),
        ("func k(bufs x: f32) {}", "1:8: expected 'buf', 'size' or 'host', found 'bufs'"),
        ("func k(buf x: f33) {}", "1:15: unknown element type 'f33'"),
        ("func k(buf x: f32, buf x: f32) {}", "1:24: buffer 'x' is declared twice"),
        ("func k(size n size m) {}", "1:15: expected ',' or ')', found 'size'"),
        ("func k() {\n  fail", "2:7: expected a statement, found the end"),
        ("func k() {}\nfail", "2:1: expected the end, found 'fail'"),
        ("func k() {\n  a: f32y4 = neg(1.0:f32)\n}", "2:6: unknown type 'f32y4'"),
        ("func k() {\n  a: f32 = neg(b)\n}", "2:16: register 'b' is not defined here"),
        ("func k() {\n  if true { a: i64 = neg(1) }\n  b: i64 = neg(a)\n}", "3:16: register 'a' is not defined here"),
        ("func k() {\n  a: f32 = neg(1.0)\n}", "2:16: '1.0' needs a type, as in '1.0:f32'"),
        ("func k() {\n  a: i64 = neg(1.5:i64)\n}", "2:20: 1.5 is not a i64"),
        ("func k() {\n  a: f32 = neg(true:f32)\n}", "2:21: true is not a f32"),
        ("func k() {\n  a: f32 = load(x, 0)\n}", "2:17: buffer 'x' is not declared"),
        ("func k() {\n  store x[0] = 1\n}", "2:9: buffer 'x' is not declared"),
        (
            "func k(buf x: i64 out) {\n  store x[0] = 1 {masked true}\n}",
            "2:19: expected 'mask', 'hint' or 'meet', found 'masked'",
        ),
        ("func k() {\n  alloc t: f32[4] global\n}", "2:19: expected 'thread' or 'shared', found 'global'"),
        ("func k() {\n  for i in 0 .. 4 {\n  }\n}", "2:19: expected 'step', found '{'"),
        ("func k() {\n  a: i64 = neg(-)\n}", "2:16: expected a number, found '-'"),
        ("func k() {\n  a: i64 = neg(])\n}", "2:16: expected a register or a number, found ']'"),
        ("func k() {\n  a ? b\n}", "2:5: unexpected character '?'"),
        ("func k() {\n  set a = 1\n}", "2:7: register 'a' is not defined here"),
        ("func k() {\n  a: f32 = hreduce(1.0:f32) {)\n}", "2:30: expected an attribute, found ')'"),
    ],
)
def test_parse_errors(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_prefetch_round_trips_and_is_checked() -> None:
    """A prefetch reads nothing, so it may name any element of a declared buffer."""
    text = "func f(buf x: f32, size n) {\n  prefetch x[n]\n  prefetch x[-5]\n}\n"
    func = parse(text)
    verify(func)
    assert dump(func) == text
    with pytest.raises(VerifyError, match="the index must be i64"):
        verify(parse("func f(buf x: f32, size n) {\n  prefetch x[true]\n}\n"))
