"""The Loop IR verifier: one kernel per rule that breaks only that rule, with the exact message."""

from __future__ import annotations

import time

import pytest

from fusewright.core.dtypes import bf16, bool_, f16, f32, i8, i64
from fusewright.core.errors import VerifyError
from fusewright.loop.ir import (
    Alloc,
    Buf,
    Fail,
    For,
    Func,
    If,
    Imm,
    Let,
    Parallel,
    Reg,
    Set,
    Store,
    Var,
    imm,
    ireg,
    walk,
)
from fusewright.loop.text import parse
from fusewright.loop.verify import verify

from .test_text import SOFTMAX

HEAD = "func k(buf x: f32, buf y: bf16 out, buf o: i64 out, size n, host h: f32) {\n"


def message(func: Func) -> str:
    with pytest.raises(VerifyError) as caught:
        verify(func)
    text = str(caught.value)
    assert text.endswith(f", in pass 'verify loop '{func.name}''")
    return text.removesuffix(f", in pass 'verify loop '{func.name}''")


def test_a_good_kernel_passes() -> None:
    verify(parse(SOFTMAX))


@pytest.mark.parametrize(
    "body",
    [
        "a: i64 = add(n, 1)",
        "a: f32 = round(h) \n b: f32 = round(a) {f16}",
        "a: boolx4 = lanemask(n)\n b: f32x4 = where(a, 1.0:f32x4, 2.0:f32x4)",
        "a: f32x8 = splat(h)\n b: i64x8 = iota(n)\n store o[b] = b",
        "a: f32 = load(x, n, true)\n b: f32 = load(y, n)\n store y[n] = a",
        "a: i8x4 = cast(true:boolx4)\n b: f32x4 = cast(a)",
        "a: i64x4 = udiv(7:i64x4, 2:i64x4)",
        "if true { a: i64 = neg(n) } else { a: f32 = neg(h) }",
        "for i in 0 .. n step n { a: i64 = neg(i) } for i in 0 .. n step 2 { a: i64 = neg(i) }",
        "var a: i64 = n parallel t of m { var b: i64 = a set b = t } set a = 3",
        "a: u32 = philox(n, n, n) {0}",
    ],
)
def test_legal(body: str) -> None:
    verify(parse(HEAD + body + "}"))


@pytest.mark.parametrize(
    "body, expected",
    [
        # primitives
        ("a: f32 = add(h)", "add takes 2 operands, got 1, in 'a: f32 = add(h)'"),
        ("a: f32 = add(h, n)", "add takes operands of one type, got f32, i64, in 'a: f32 = add(h, n)'"),
        ("a: i64 = exp(n)", "exp does not take i64, in 'a: i64 = exp(n)'"),
        ("a: i64 = add(h, h)", "add gives f32, not i64, in 'a: i64 = add(h, h)'"),
        ("a: f32 = lt(h, h)", "lt gives bool, not f32, in 'a: f32 = lt(h, h)'"),
        ("a: f32x4 = add(h, h)", "add gives 4 lanes, but operand 'h' has 1, in 'a: f32x4 = add(h, h)'"),
        ("a: f32 = add(h, h) {1}", "add takes no attribute and no buffer, in 'a: f32 = add(h, h) {1}'"),
        ("a: f32 = where(h, h, h)", "where takes (bool, T, T), got (f32, f32, f32), in 'a: f32 = where(h, h, h)'"),
        (
            "a: f32x2 = where(true, 1.0:f32x2, 1.0:f32x2)",
            "where gives 2 lanes, but operand True has 1, in 'a: f32x2 = where(true, 1.0:f32x2, 1.0:f32x2)'",
        ),
        ("a: f32 = frobnicate(h)", "unknown operation 'frobnicate', in 'a: f32 = frobnicate(h)'"),
        # the other operations
        ("a: f32x2 = cast(n)", "cast gives 1 lanes, not 2, in 'a: f32x2 = cast(n)'"),
        ("a: bool = cast(n)", "cast cannot give bool: compare with 0 instead, in 'a: bool = cast(n)'"),
        ("a: f32 = cast(n, n)", "cast takes 1 operand, got 2, in 'a: f32 = cast(n, n)'"),
        (
            "a: f32 = round(h) {f32}",
            "round to f32: only floats of fewer than 32 bits are rounded to, in 'a: f32 = round(h) {f32}'",
        ),
        ("a: f32 = round(n) {f16}", "the operand must be f32, not i64, in 'a: f32 = round(n) {f16}'"),
        ("a: i64x4 = splat(h)", "the operand must be i64, not f32, in 'a: i64x4 = splat(h)'"),
        ("a: f32x4 = iota(n)", "iota gives i64x4, not f32x4, in 'a: f32x4 = iota(n)'"),
        ("a: i64x4 = iota(h)", "the base must be i64, not f32, in 'a: i64x4 = iota(h)'"),
        ("a: i64x4 = lanemask(n)", "lanemask gives boolx4, not i64x4, in 'a: i64x4 = lanemask(n)'"),
        ("a: boolx4 = lanemask(h)", "the count must be i64, not f32, in 'a: boolx4 = lanemask(h)'"),
        (
            "a: f32 = hreduce(1.0:f32x4) {mean}",
            "hreduce cannot combine with 'mean', in 'a: f32 = hreduce(1.0:f32x4) {mean}'",
        ),
        ("a: f32 = hreduce(1.0:f32x4) {any}", "any does not take f32, in 'a: f32 = hreduce(1.0:f32x4) {any}'"),
        (
            "a: f32x4 = hreduce(1.0:f32x4) {sum}",
            "hreduce gives f32, not f32x4, in 'a: f32x4 = hreduce(1.0:f32x4) {sum}'",
        ),
        ("a: u32 = philox(n, n, n) {2}", "philox has streams 0 and 1, not 2, in 'a: u32 = philox(n, n, n) {2}'"),
        ("a: u32 = philox(h, n, n) {0}", "the seed must be i64, not f32, in 'a: u32 = philox(h, n, n) {0}'"),
        ("a: u32x2 = philox(n, n, n) {0}", "the row must be i64x2, not i64, in 'a: u32x2 = philox(n, n, n) {0}'"),
        ("a: i64 = philox(n, n, n) {0}", "philox gives u32, not i64, in 'a: i64 = philox(n, n, n) {0}'"),
        ("a: i64 = udiv(n, 0)", "the divisor must be >= 1, in 'a: i64 = udiv(n, 0)'"),
        ("a: i64 = udiv(n, h)", "the operand must be i64, not f32, in 'a: i64 = udiv(n, h)'"),
        # memory
        ("a: f32 = load(x, h)", "the index must be i64, not f32, in 'a: f32 = load(x, h)'"),
        ("a: f32x2 = load(x, 0:i64x2)", "the index must be i64, not i64x2, in 'a: f32x2 = load(x, 0:i64x2)'"),
        ("a: f32x2 = gather(x, 0)", "the index must be i64x2, not i64, in 'a: f32x2 = gather(x, 0)'"),
        ("a: f32x2 = load(x, 0, true)", "the mask must be boolx2, not bool, in 'a: f32x2 = load(x, 0, true)'"),
        ("a: f32 = load(x, 0, 1)", "the mask must be bool, not i64, in 'a: f32 = load(x, 0, 1)'"),
        (
            "a: i64 = load(x, 0)",
            "load reads buffer 'x' of f32, so the register must be f32, in 'a: i64 = load(x, 0)'",
        ),
        ("a: f32 = load(x)", "load takes a buffer, an index and possibly a mask, in 'a: f32 = load(x)'"),
        ("store x[0] = h", "store to 'x', which is an input, in 'store x[0] = h'"),
        ("store o[h] = n", "the index must be i64 or i64, not f32, in 'store o[h] = n'"),
        ("store o[0:i64x4] = 0:i64x2", "the index must be i64 or i64x2, not i64x4, in 'store o[0:i64x4] = 0:i64x2'"),
        ("store o[0] = h", "stores to buffer 'o' of i64, so the register must be i64, in 'store o[0] = h'"),
        (
            "store o[0] = n {mask true:boolx2}",
            "the mask must be bool, not boolx2, in 'store o[0] = n {mask true:boolx2}'",
        ),
        ("store o[0] = n {hint later}", "unknown hint 'later', in 'store o[0] = n {hint later}'"),
        (
            "store o[0] = n {mask true, hint stream}",
            "a store with hint 'stream' must be consecutive and without a mask, in "
            "'store o[0] = n {mask true, hint stream}'",
        ),
        # registers
        ("a: i64 = neg(n) a: i64 = neg(n)", "register 'a' is already defined, in 'a: i64 = neg(n)'"),
        ("a: i64 = neg(n) if true { a: i64 = neg(n) }", "register 'a' is already defined, in 'a: i64 = neg(n)'"),
        ("for n in 0 .. 4 step 1 { }", "register 'n' is already defined, in 'for n in 0 .. 4 step 1'"),
        ("a: i64 = neg(n) set a = 1", "register 'a' is not a var, in 'set a = 1'"),
        ("set n = 1", "register 'n' is not a var, in 'set n = 1'"),
        ("var a: i64 = h", "the initial value must be i64, not f32, in 'var a: i64 = h'"),
        ("var a: i64 = 1 set a = h", "the new value must be i64, not f32, in 'set a = h'"),
        (
            "a: i64 = neg(9223372036854775808)",
            "immediate 9223372036854775808 is not a i64, in 'a: i64 = neg(9223372036854775808)'",
        ),
        ("a: i8 = neg(128:i8)", "immediate 128 is not a i8, in 'a: i8 = neg(128:i8)'"),
        (
            "a: f32 = neg(1.0:f16)",
            "an immediate cannot be f16: registers hold compute types, in 'a: f32 = neg(1.0:f16)'",
        ),
        ("a: bf16 = neg(h)", "neg gives f32, not bf16, in 'a: bf16 = neg(h)'"),
        # control
        ("for i in 0 .. n step 0 { }", "the step must be >= 1, in 'for i in 0 .. n step 0'"),
        ("for i in 0 .. h step 1 { }", "the upper bound must be i64, not f32, in 'for i in 0 .. h step 1'"),
        ("if n { }", "the condition must be bool, not i64, in 'if n'"),
        ("if true:boolx2 { }", "the condition must be bool, not boolx2, in 'if true:boolx2'"),
        ("parallel a of b { parallel c of d { } }", "'parallel' inside 'parallel', in 'parallel c of d'"),
        (
            "var a: i64 = 0 parallel t of m { set a = t }",
            "var 'a' belongs to the code outside 'parallel', whose threads share it, in 'set a = t'",
        ),
    ],
)
def test_illegal(body: str, expected: str) -> None:
    assert message(parse(HEAD + body + "}")) == expected


A = ireg("a")
X, T = Buf("x", f32), Buf("t", f32)


@pytest.mark.parametrize(
    "func, expected",
    [
        # what text cannot say: the parser resolves names itself
        (
            Func("k", body=[Let(A, "neg", (ireg("b"),))]),
            "register 'b' is not defined here, in 'a: i64 = neg(b)'",
        ),
        (
            Func("k", body=[Let(A, "neg", (A,))]),
            "register 'a' is not defined here, in 'a: i64 = neg(a)'",
        ),
        (
            Func("k", body=[For(ireg("i"), imm(0), imm(4), imm(1), [Let(A, "neg", (imm(1),))]), Var(ireg("b"), A)]),
            "register 'a' is not defined here, in 'var b: i64 = a'",
        ),
        (
            Func("k", body=[For(ireg("i"), imm(0), imm(4), imm(1), []), Var(ireg("b"), ireg("i"))]),
            "register 'i' is not defined here, in 'var b: i64 = i'",
        ),
        (
            Func("k", body=[If(Imm(True, bool_), [Var(A, imm(1))]), Set(A, imm(1))]),
            "register 'a' is not defined here, in 'set a = 1'",
        ),
        (
            Func("k", body=[Var(A, imm(1)), Let(Reg("b", f32), "neg", (Reg("a", f32),))]),
            "register 'a' is i64, but is used as f32, in 'b: f32 = neg(a)'",
        ),
        (
            Func("k", body=[Let(Reg("a", f32), "load", (imm(0),), X)]),
            "buffer 'x' is not declared, in 'a: f32 = load(x, 0)'",
        ),
        (
            Func("k", [X], body=[Let(Reg("a", f32), "load", (imm(0),), Buf("x", bf16))]),
            "buffer 'x' is not the one that was declared, in 'a: f32 = load(x, 0)'",
        ),
        (Func("k", [X, X]), "buffer 'x' is declared twice"),
        (Func("k", [X], allocs=[Alloc(X, imm(4))]), "buffer 'x' is declared twice, in 'alloc x: f32[4] thread'"),
        (Func("k", [Buf("a b", f32)]), "bad buffer name 'a b'"),
        (Func("k", sizes=[Reg("n", f32)]), "size 'n' must be an i64 scalar"),
        (Func("k", hosts=[Reg("h", f32, 4)]), "host 'h' must be a scalar"),
        (Func("k", hosts=[Reg("h", f16)]), "register 'h' cannot hold f16: registers hold compute types"),
        (Func("k", body=[Var(Reg("a", i8, 0), Imm(1, i8, 0))]), "an immediate has 0 lanes, in 'var a: i8x0 = 1:i8x0'"),
        (
            Func("k", body=[Let(Reg("a", i64, 0), "iota", (imm(0),))]),
            "register 'a' has 0 lanes, in 'a: i64x0 = iota(0)'",
        ),
        (Func("k", allocs=[Alloc(T, imm(4), "block")]), "unknown scope 'block', in 'alloc t: f32[4] block'"),
        (Func("k", allocs=[Alloc(T, imm(-4))]), "the count of an alloc must be >= 0, in 'alloc t: f32[-4] thread'"),
        (
            Func("k", allocs=[Alloc(T, ireg("n"))]),
            "the count of an alloc must be a size or an immediate, in 'alloc t: f32[n] thread'",
        ),
        (
            Func("k", allocs=[Alloc(T, Imm(1, i8))]),
            "the count of an alloc must be an i64 scalar, in 'alloc t: f32[1:i8] thread'",
        ),
        (
            Func("k", body=[Alloc(T, imm(4))]),
            "scratch is declared in Func.allocs, not in a block, in 'alloc t: f32[4] thread'",
        ),
        (
            Func("k", body=[For(Reg("i", i8), imm(0), imm(4), imm(1), [])]),
            "register 'i' must be an i64 scalar, in 'for i in 0 .. 4 step 1'",
        ),
        (Func("k", body=["fail"]), "not a statement: 'fail'"),
    ],
)
def test_illegal_beyond_text(func: Func, expected: str) -> None:
    assert message(func).startswith(expected)


def test_private_scratch_may_be_stored_to() -> None:
    verify(Func("k", allocs=[Alloc(T, imm(4))], body=[Store(T, imm(0), Imm(1.0, f32)), Fail()]))


def test_the_first_region_does_not_forbid_a_second() -> None:
    region = Parallel(ireg("t"), ireg("m"), [])
    verify(Func("k", body=[region, region]))


def test_it_is_fast() -> None:
    func = parse(SOFTMAX)
    func.body *= 40
    count = len(list(walk(func.body)))
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        verify(func)
        best = min(best, time.perf_counter() - start)
    assert best / count < 5e-6  # about 0.7 µs where nothing else runs
