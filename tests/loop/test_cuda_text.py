"""The text of CUDA kernels: what is printed parses back to the same kernel, and mistakes are located."""

from __future__ import annotations

import pytest

from fusewright.core.dtypes import bf16, bool_, f32, i32, i64
from fusewright.core.lexer import ParseError
from fusewright.loop.ir import (
    Alloc,
    Barrier,
    Buf,
    Fail,
    For,
    Func,
    Grid,
    If,
    Imm,
    Let,
    Reg,
    Store,
    imm,
    ireg,
    walk,
)
from fusewright.loop.text import dump, head, parse

from .cuda_kernels import ALL


@pytest.mark.parametrize("name", ALL)
def test_round_trip_of_text(name: str) -> None:
    func = parse(ALL[name])
    assert dump(func) == ALL[name]
    assert parse(dump(func)) == func
    assert func.target == "cuda"


def test_what_the_text_says() -> None:
    func = parse(ALL["rows"])
    (grid,) = func.body
    assert isinstance(grid, Grid) and (grid.threads, grid.what) == (128, "")
    loops = [s for s in walk(func.body) if isinstance(s, For)]
    assert [s.unroll for s in loops] == [False, True, True, True]
    reduced = [s.attr for s in walk(func.body) if isinstance(s, Let) and s.op == "treduce"]
    assert reduced == [("max", 128, 1), ("sum", 128, 1)]
    assert [(a.scope, a.count) for a in func.allocs] == [("register", imm(8))]
    (grid,) = parse(ALL["pointwise"]).body
    assert isinstance(grid, Grid) and grid.what == "x * s" and grid.tid == Reg("t", i32)


def test_round_trip_of_a_built_kernel() -> None:
    x, s = Buf("x", bf16, True), Buf("s", f32)
    n, t, b = Reg("n", i32), Reg("t", i32), Reg("b", i32)
    v = Reg("v", f32, 8)
    func = Func("k", [x], [n], [], [Alloc(s, Imm(64, i32), "block")], target="cuda", index=i32)
    func.body = [
        Grid(
            b,
            n,
            t,
            32,
            [
                Let(v, "load", (Imm(0, i32),), x, "aligned stream"),
                Barrier('a "reason" # with\nall'),
                Let(Reg("w", i64), "cast", (t,)),
                Let(Reg("u", i64), "add", (Reg("w", i64), imm(5))),
                Store(x, t, v, Imm(True, bool_, 8), "aligned stream"),
                For(Reg("i", i32), Imm(0, i32), Imm(4, i32), Imm(1, i32), [If(Imm(True, bool_), [Fail()])], True),
            ],
            "é",
        ),
        Grid(b, Imm(3, i32), t, 1, []),
    ]
    text = dump(func)
    assert parse(text) == func
    assert dump(parse(text)) == text
    assert "add(w, 5:i64)" in text and "load(x, 0) {aligned stream}" in text  # bare integers are indices


def test_bare_integers_are_indices() -> None:
    a, b = (parse(f"func k cuda {d} () {{ grid b of 1, t of 1 {{ a: {d} = add(b, 7) }} }}") for d in ("i32", "i64"))
    (grid,) = a.body
    assert isinstance(grid, Grid) and grid.body == [Let(Reg("a", i32), "add", (Reg("b", i32), Imm(7, i32)))]
    (grid,) = b.body
    assert isinstance(grid, Grid) and grid.body == [Let(ireg("a"), "add", (ireg("b"), imm(7)))]
    assert head(Let(Reg("a", i32), "neg", (Imm(7, i32),))) == "a: i32 = neg(7:i32)"
    assert head(Let(Reg("a", i32), "neg", (Imm(7, i32),)), i32) == "a: i32 = neg(7)"


def test_notes_are_no_part_of_the_text() -> None:
    func = parse(ALL["pointwise"])
    func.notes = ["train.py:12"]
    assert dump(func) == ALL["pointwise"]
    assert parse(dump(func)).notes == []


@pytest.mark.parametrize(
    "text, message",
    [
        ("func k cuda () {}", "1:13: expected an element type, found '('"),
        ("func k cuda f32 () {}", "1:13: indices are i32 or i64, not f32"),
        ("func k rocm i32 () {}", "1:8: expected '(', found 'rocm'"),
        (
            "func k cuda i32 () {\n  alloc s: f32[4] shared\n}",
            "2:19: expected 'register' or 'own' or 'block' or 'grid' or 'counters', found 'shared'",
        ),
        ("func k() {\n  alloc s: f32[4] block\n}", "2:19: expected 'thread' or 'shared', found 'block'"),
        ("func k cuda i32 () {\n  grid b of 1 {\n  }\n}", "2:15: expected ',', found '{'"),
        ("func k cuda i32 () {\n  grid b of 1, t of n {\n  }\n}", "2:21: expected a number of threads, found 'n'"),
        ("func k cuda i32 () {\n  barrier\n}", "3:1: expected a reason, as a string, found '}'"),
        ("func k cuda i32 () {\n  a: f32 = treduce(1.0:f32) {sum, 8, x}\n}", "2:38: expected a number, found 'x'"),
        ("func k cuda i32 () {\n  a: f32 = treduce(1.0:f32) {sum 8}\n}", "2:34: expected '}', found '8'"),
        ("func k cuda i32 () {\n  for i in 0 .. 4 step 1 unrolled {\n  }\n}", "2:26: expected '{', found 'unrolled'"),
    ],
)
def test_parse_errors(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == message
