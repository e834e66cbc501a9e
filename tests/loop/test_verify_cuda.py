"""The rules of CUDA kernels: one kernel per rule that breaks only that rule, with the exact message."""

from __future__ import annotations

import pytest

from fusewright.core.dtypes import f32, i32, i64
from fusewright.core.errors import VerifyError
from fusewright.loop.ir import Alloc, Buf, For, Func, Grid, Imm, Parallel, Reg, imm, ireg
from fusewright.loop.text import parse
from fusewright.loop.verify import verify

from .cuda_kernels import ALL

PARAMS = "(buf x: f32, buf y: bf16 out, buf o: i64 out, size n, host h: f32, host seed: i64)"
SCRATCH = "alloc reg: f32[8] register\nalloc tile: f32[64] block\nalloc part: f32[n] grid\n"


def kernel(body: str, index: str = "i32") -> Func:
    """A kernel of one launch of n blocks of 64 threads."""
    return parse(f"func k cuda {index} {PARAMS} {{\n{SCRATCH} grid b of n, t of 64 {{\n{body}\n}} }}")


def complaint(func: Func) -> str:
    with pytest.raises(VerifyError) as caught:
        verify(func)
    text = str(caught.value)
    assert text.endswith(", in pass 'verify loop 'k''")
    return text.removesuffix(", in pass 'verify loop 'k''")


@pytest.mark.parametrize("name", ALL)
def test_good_kernels_pass(name: str) -> None:
    verify(parse(ALL[name]))


@pytest.mark.parametrize(
    "body",
    [
        # types
        "a: i64 = cast(t) c: i64 = add(a, 1:i64) d: i32 = cast(c) e: i32 = add(d, 1)",
        "a: i32x4 = iota(t) c: boolx4 = lanemask(t) v: f32x4 = gather(x, a, c) store y[a] = v {mask c}",
        "a: u32x8 = philoxquad(seed, b, 4) {1} c: u32x2 = philoxword(seed, 1:i32x2, 2:i32x2) {0}",
        "a: u32x3 = curandrun(seed, 1:i64, seed, 2:i64, t) c: u32x2 = curandword(seed, 0:i64, seed, seed, 2:i32x2)",
        "a: f32 = curandnormal(seed, 0:i64, 512:i64, 0:i64, t)",
        # conditions that are the same in all threads
        'c: bool = lt(b, n) if c { barrier "x" }',
        "for r in b .. n step 3 { a: f32 = treduce(h) {max, 64, 1} }",
        'a: f32 = load(x, t) s: f32 = treduce(a) {sum, 64, 1} c: bool = gt(s, h) if c { barrier "x" }',
        'var a: i32 = n for r in 0 .. n step 1 { set a = r } for r in 0 .. a step 1 { barrier "x" }',
        "for k in 0 .. 4 step 2 unroll { s: boolx2 = treduce(true:boolx2) {any, 8, 4} }",
        "s: f32 = treduce(h) {sum, 1, 64} u: f32 = treduce(h) {sum, 4, 16} v: i32 = treduce(t) {prod, 2, 1}",
        # a register of that name was something else elsewhere
        'if true { c: bool = lt(t, n) } if true { c: bool = lt(b, n) if c { barrier "x" } }',
        # registers
        "for k in 0 .. 2 step 1 unroll { a: i32 = mul(k, 4) e: i32 = add(a, 3) store reg[e] = h }",
        "for k in 0 .. 2 step 1 unroll { for m in 0 .. 2 step 1 unroll { a: i32 = add(k, m) store reg[a] = h } }",
        "store reg[0] = 1.0:f32x8 a: f32x8 = load(reg, 0, true:boolx8)",
        # marks
        "v: f32x4 = load(x, t) {aligned} store y[t] = v {hint aligned stream} w: f32 = load(x, t) {stream}",
        "i: i32x2 = iota(t) store y[i] = 1.0:f32x2 {mask true:boolx2, hint stream} u: f32x2 = load(tile, t) {aligned}",
        "prefetch x[t] fail",
    ],
)
def test_legal(body: str) -> None:
    verify(kernel(body))
    if "i64" not in body:
        verify(kernel(body.replace("i32", "i64"), "i64"))


def test_indices_of_64_bits() -> None:
    verify(kernel("a: i64 = add(t, b) v: f32 = load(x, a) u: u32 = philoxword(seed, a, n) {0}", "i64"))
    expected = "the index must be i64, not i32, in 'v: f32 = load(x, a)'"
    assert complaint(kernel("a: i32 = cast(t) v: f32 = load(x, a)", "i64")) == expected


NOT_ALL = "where not all threads of the block may be"


@pytest.mark.parametrize(
    "body, expected",
    [
        # index types
        ("a: f32 = load(x, 0:i64)", "the index must be i32, not i64, in 'a: f32 = load(x, 0:i64)'"),
        ("a: f32x2 = gather(x, 0:i64x2)", "the index must be i32x2, not i64x2, in 'a: f32x2 = gather(x, 0:i64x2)'"),
        ("store y[0:i64] = h", "the index must be i32 or i32, not i64, in 'store y[0:i64] = h'"),
        ("a: i64 = udiv(1:i64, 2:i64)", "the operand must be i32, not i64, in 'a: i64 = udiv(1:i64, 2:i64)'"),
        ("a: i64x2 = iota(0)", "iota gives i32x2, not i64x2, in 'a: i64x2 = iota(0)'"),
        ("a: boolx2 = lanemask(1:i64)", "the count must be i32, not i64, in 'a: boolx2 = lanemask(1:i64)'"),
        ("prefetch x[0:i64]", "the index must be i32, not i64, in 'prefetch x[0:i64]'"),
        ("for i in 0 .. seed step 1 { }", "the upper bound must be i32, not i64, in 'for i in 0 .. seed step 1'"),
        ("a: i64 = add(seed, t)", "add takes operands of one type, got i64, i32, in 'a: i64 = add(seed, t)'"),
        # random numbers
        ("a: u32x2 = philoxquad(seed, b, 0) {0}", "philoxquad gives multiples of 4 lanes, not 2, in 'a: u32x2 = "
         "philoxquad(seed, b, 0) {0}'"),
        ("a: u32x4 = philoxquad(seed, b, 0) {2}", "philoxquad has streams 0 and 1, not 2, in 'a: u32x4 = "
         "philoxquad(seed, b, 0) {2}'"),
        ("a: u32x4 = philoxquad(seed, b, 2) {0}", "the start must be a multiple of 4, in 'a: u32x4 = "
         "philoxquad(seed, b, 2) {0}'"),
        ("a: u32x4 = philoxquad(n, b, 0) {0}", "the seed must be i64, not i32, in 'a: u32x4 = "
         "philoxquad(n, b, 0) {0}'"),
        ("a: u32x4 = philoxquad(seed, b, 0:i32x4) {0}", "the start must be i32, not i32x4, in 'a: u32x4 = "
         "philoxquad(seed, b, 0:i32x4) {0}'"),
        ("a: u32x4 = philoxword(seed, b, 0:i32x4) {0}", "the row must be i32x4, not i32, in 'a: u32x4 = "
         "philoxword(seed, b, 0:i32x4) {0}'"),
        ("a: u32 = curandrun(seed, seed, seed, seed, t)", "curandrun gives two lanes or more, in 'a: u32 = "
         "curandrun(seed, seed, seed, seed, t)'"),
        ("a: u32x2 = curandrun(seed, seed, seed, seed, 0:i32x2)", "the start must be i32, not i32x2, in 'a: u32x2 = "
         "curandrun(seed, seed, seed, seed, 0:i32x2)'"),
        ("a: u32 = curandword(seed, seed, n, seed, t)", "the threads must be i64, not i32, in 'a: u32 = "
         "curandword(seed, seed, n, seed, t)'"),
        ("a: u32 = curandword(seed, seed, t)", "curandword takes 5 operands, got 3, in 'a: u32 = "
         "curandword(seed, seed, t)'"),
        ("a: u32 = curandnormal(seed, seed, seed, seed, t)", "curandnormal gives f32, not u32, in 'a: u32 = "
         "curandnormal(seed, seed, seed, seed, t)'"),
        ("a: i32 = philoxword(seed, b, t) {0}", "philoxword gives u32, not i32, in 'a: i32 = "
         "philoxword(seed, b, t) {0}'"),
        ("a: u32 = philox(seed, seed, t) {0}", "the row must be i32, not i64, in 'a: u32 = philox(seed, seed, t) {0}'"),
        ("a: u32 = philoxrun(seed, b, seed) {0}", "the start must be i32, not i64, in 'a: u32 = philoxrun(seed, b, "
         "seed) {0}'"),
        # regions
        ("parallel u of m { }", "cuda kernels have no such regions, in 'parallel u of m'"),
        ("grid c of 1, u of 1 { }", "'grid' inside 'grid', in 'grid c of 1, u of 1'"),
        # treduce
        ("a: f32 = treduce(h) {sum}", "treduce wants a monoid, a group and a stride, in 'a: f32 = treduce(h) {sum}'"),
        ("a: f32 = treduce(h) {sum, 0, 1}", "treduce wants a monoid, a group and a stride, in 'a: f32 = treduce(h) "
         "{sum, 0, 1}'"),
        ("a: f32 = treduce(h) {mean, 8, 1}", "treduce cannot combine with 'mean', in 'a: f32 = treduce(h) "
         "{mean, 8, 1}'"),
        ("a: f32 = treduce(h) {any, 8, 1}", "any does not take f32, in 'a: f32 = treduce(h) {any, 8, 1}'"),
        ("a: f32x2 = treduce(h) {sum, 8, 1}", "treduce gives f32, not f32x2, in 'a: f32x2 = treduce(h) {sum, 8, 1}'"),
        ("a: f32 = treduce(h) {sum, 3, 1}", "groups of 3 * 1 threads do not divide a block of 64, in 'a: f32 = "
         "treduce(h) {sum, 3, 1}'"),
        ("a: f32 = treduce(h) {sum, 64, 2}", "groups of 64 * 2 threads do not divide a block of 64, in 'a: f32 = "
         "treduce(h) {sum, 64, 2}'"),
        # creduce, tscan, hscan, lane
        ("a: f32 = creduce(h) {sum}", "creduce wants a monoid, a group and a stride, in 'a: f32 = creduce(h) {sum}'"),
        ("a: f32 = creduce(h) {sum, 64, 1}", "creduce in a grid without clusters, in 'a: f32 = creduce(h) "
         "{sum, 64, 1}'"),
        ("a: f32x2 = tscan(h) {mean, 8, 1}", "tscan cannot combine with 'mean', in 'a: f32x2 = tscan(h) {mean, 8, 1}'"),
        ("a: f32 = tscan(h) {sum, 8, 1}", "tscan gives f32x2, not f32, in 'a: f32 = tscan(h) {sum, 8, 1}'"),
        ("a: f32x2 = tscan(1.0:f32x2) {sum, 8, 1}", "the value must be f32, not f32x2, in 'a: f32x2 = "
         "tscan(1.0:f32x2) {sum, 8, 1}'"),
        ("a: f32x2 = tscan(h) {sum, 128, 1}", "groups of 128 * 1 threads do not divide a block of 64, in 'a: f32x2 = "
         "tscan(h) {sum, 128, 1}'"),
        ("c: bool = lt(t, n) if c { a: f32x2 = tscan(h) {sum, 2, 1} }", f"tscan {NOT_ALL}: 'if c' differs between "
         "threads, in 'a: f32x2 = tscan(h) {sum, 2, 1}'"),
        ("a: f32x2 = hscan(1.0:f32x2) {any}", "any does not take f32, in 'a: f32x2 = hscan(1.0:f32x2) {any}'"),
        ("a: f32 = hscan(1.0:f32x2) {sum}", "hscan gives f32x2, not f32, in 'a: f32 = hscan(1.0:f32x2) {sum}'"),
        ("a: f32 = lane(1.0:f32x2) {2}", "there is no lane 2 of 2, in 'a: f32 = lane(1.0:f32x2) {2}'"),
        ("a: f32x2 = lane(1.0:f32x2) {1}", "lane gives f32, not f32x2, in 'a: f32x2 = lane(1.0:f32x2) {1}'"),
        # collectives
        ("c: bool = lt(t, n) if c { barrier \"x\" }", f"barrier {NOT_ALL}: 'if c' differs between threads, in "
         "'barrier \"x\"'"),
        ("c: bool = lt(t, n) if c { } else { if true { barrier \"x\" } }", f"barrier {NOT_ALL}: 'if c' differs "
         "between threads, in 'barrier \"x\"'"),
        ("for i in t .. n step 1 { a: f32 = treduce(h) {sum, 2, 1} }", f"treduce {NOT_ALL}: 'for i in t .. n step 1' "
         "differs between threads, in 'a: f32 = treduce(h) {sum, 2, 1}'"),
        ("v: f32 = load(x, 0) c: bool = gt(v, h) if c { barrier \"x\" }", f"barrier {NOT_ALL}: 'if c' differs "
         "between threads, in 'barrier \"x\"'"),
        ("v: f32 = treduce(h) {sum, 32, 1} c: bool = gt(v, h) if c { barrier \"x\" }", f"barrier {NOT_ALL}: 'if c' "
         "differs between threads, in 'barrier \"x\"'"),
        # a var is as different as what is put into it, and as where that happens
        ("var a: i32 = 0 set a = t for i in 0 .. a step 1 { barrier \"x\" }", f"barrier {NOT_ALL}: 'for i in 0 .. a "
         "step 1' differs between threads, in 'barrier \"x\"'"),
        ("var a: i32 = 0 c: bool = lt(t, n) if c { set a = 1 } for i in 0 .. a step 1 { barrier \"x\" }",
         f"barrier {NOT_ALL}: 'for i in 0 .. a step 1' differs between threads, in 'barrier \"x\"'"),
        ("var a: i32 = 0 for i in 0 .. n step 1 { for j in 0 .. a step 1 { barrier \"x\" } set a = t }",
         f"barrier {NOT_ALL}: 'for j in 0 .. a step 1' differs between threads, in 'barrier \"x\"'"),
        # registers
        ("store reg[t] = h", "registers 'reg' are indexed by numbers and variables of unrolled loops only, in "
         "'store reg[t] = h'"),
        ("for k in 0 .. 4 step 1 { a: f32 = load(reg, k) }", "registers 'reg' are indexed by numbers and variables of "
         "unrolled loops only, in 'a: f32 = load(reg, k)'"),
        ("for k in 0 .. 4 step 1 unroll { i: i32 = add(k, n) store reg[i] = h }", "registers 'reg' are indexed by "
         "numbers and variables of unrolled loops only, in 'store reg[i] = h'"),
        ("a: f32x2 = gather(reg, 0:i32x2)", "registers 'reg' are indexed by numbers and variables of unrolled loops "
         "only, in 'a: f32x2 = gather(reg, 0:i32x2)'"),
        ("prefetch reg[t]", "registers 'reg' are indexed by numbers and variables of unrolled loops only, in "
         "'prefetch reg[t]'"),
        ("for k in 0 .. n step 1 unroll { }", "the bounds and the step of an unrolled loop must be numbers, in "
         "'for k in 0 .. n step 1 unroll'"),
        # marks
        ("a: f32x4 = load(x, 0) {fast}", "unknown mark 'fast', in 'a: f32x4 = load(x, 0) {fast}'"),
        ("a: f32 = load(x, 0) {aligned}", "an aligned access has 2, 4, 8, ... lanes, not 1, in 'a: f32 = load(x, 0) "
         "{aligned}'"),
        ("store y[0] = 1.0:f32x3 {hint aligned}", "an aligned access has 2, 4, 8, ... lanes, not 3, in 'store y[0] = "
         "1.0:f32x3 {hint aligned}'"),
        ("a: f32x2 = load(x, 0, true:boolx2) {aligned}", "an aligned access is consecutive, with a lanerange or no "
         "mask, in 'a: f32x2 = load(x, 0, true:boolx2) {aligned}'"),
        ("store y[0:i32x2] = 1.0:f32x2 {hint aligned}", "an aligned access is consecutive, with a lanerange or no "
         "mask, in 'store y[0:i32x2] = 1.0:f32x2 {hint aligned}'"),
        ("a: f32x2 = gather(x, 0:i32x2) {stream}", "gather takes a buffer, an index and possibly a mask, in "
         "'a: f32x2 = gather(x, 0:i32x2) {stream}'"),
        ("a: f32x2 = load(reg, 0) {aligned}", "registers 'reg' take no mark 'aligned', in 'a: f32x2 = load(reg, 0) "
         "{aligned}'"),
        # what holds for all targets
        ("store x[0] = h", "store to 'x', which is an input, in 'store x[0] = h'"),
        ("a: f32 = load(tile, 0) a: f32 = neg(h)", "register 'a' is already defined, in 'a: f32 = neg(h)'"),
    ],
)  # fmt: skip
def test_rules(body: str, expected: str) -> None:
    assert complaint(kernel(body)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a: f32 = neg(1.0:f32)", "outside 'grid', in 'a: f32 = neg(1.0:f32)'"),
        ('barrier "x"', "outside 'grid', in 'barrier \"x\"'"),
        ("grid b of n, t of 0 { }", "a block has 1 to 1024 threads, not 0, in 'grid b of n, t of 0'"),
        ("grid b of n, t of 1025 { }", "a block has 1 to 1024 threads, not 1025, in 'grid b of n, t of 1025'"),
        ("grid b of -1, t of 1 { }", "a grid has 0 to 2147483647 blocks, not -1, in 'grid b of -1, t of 1'"),
        ("grid b of h, t of 1 { }", "the number of blocks must be a size or a number, in 'grid b of h, t of 1'"),
        ("grid b of 1:i64, t of 1 { }", "the number of blocks must be i32, not i64, in 'grid b of 1:i64, t of 1'"),
        ("alloc s: f32[n] block", "the count of block scratch must be a number, in 'alloc s: f32[n] block'"),
        ("alloc s: f32[n] register", "the count of register scratch must be a number, in 'alloc s: f32[n] register'"),
        ("alloc s: f32[4:i64] grid", "the count of an alloc must be an i32 scalar, in 'alloc s: f32[4:i64] grid'"),
        (
            "alloc s: bf16[116000] block alloc u: i8[449] block",
            "scratch of 232449 bytes in a block, which has 232448, in 'alloc u: i8[449] block'",
        ),
    ],
)
def test_rules_of_the_kernel(text: str, expected: str) -> None:
    assert complaint(parse(f"func k cuda i32 (size n, host h: i32) {{ {text} }}")) == expected


def test_a_block_may_have_227_kib() -> None:
    verify(parse("func k cuda i32 () { alloc s: bf16[116000] block alloc u: i8[448] block }"))


def test_rules_that_text_cannot_break() -> None:
    scratch = Alloc(Buf("s", f32), Imm(4, i32), "shared")
    assert complaint(Func("k", target="cuda", index=i32, allocs=[scratch])) == (
        "unknown scope 'shared', in 'alloc s: f32[4] shared'"
    )
    assert complaint(Func("k", target="cuda", index=f32)) == "there are no kernels for 'cuda' with f32 indices"
    assert complaint(Func("k", target="cpu", index=i32)) == "there are no kernels for 'cpu' with i32 indices"
    assert complaint(Func("k", target="tpu")) == "there are no kernels for 'tpu' with i64 indices"
    size = Func("k", sizes=[ireg("n")], target="cuda", index=i32)
    assert complaint(size) == "size 'n' must be an i32 scalar"
    grid = Grid(Reg("b", i32), Imm(1, i32), ireg("t"), 32, [])
    assert complaint(Func("k", body=[grid], target="cuda", index=i32)) == (
        "register 't' must be an i32 scalar, in 'grid b of 1, t of 32'"
    )


@pytest.mark.parametrize(
    "body, expected",
    [
        ("grid b of 1, t of 1 { }", "cpu kernels have no such regions, in 'grid b of 1, t of 1'"),
        ('barrier "x"', "not a statement: Barrier(reason='x')"),
        ("a: f32 = treduce(h) {sum, 1, 1}", "unknown operation 'treduce', in 'a: f32 = treduce(h) {sum, 1, 1}'"),
        ("a: u32 = philoxword(n, n, n) {0}", "unknown operation 'philoxword', in 'a: u32 = philoxword(n, n, n) {0}'"),
        (
            "a: f32x4 = load(x, 0) {aligned}",
            "load takes a buffer, an index and possibly a mask, in 'a: f32x4 = load(x, 0) {aligned}'",
        ),
        ("store y[0] = 1.0:f32x4 {hint aligned}", "unknown hint 'aligned', in 'store y[0] = 1.0:f32x4 {hint aligned}'"),
        (
            "for i in 0 .. 4 step 1 unroll { }",
            "only loops of CUDA kernels are unrolled, in 'for i in 0 .. 4 step 1 unroll'",
        ),
    ],
)
def test_none_of_it_is_for_cpus(body: str, expected: str) -> None:
    assert complaint(parse(f"func k(buf x: f32, buf y: f32 out, size n, host h: f32) {{ {body} }}")) == expected


def test_statements_are_found_at_any_depth() -> None:
    inner = Parallel(ireg("u"), ireg("m"), [])
    loop = For(ireg("i"), imm(0), imm(4), imm(1), [inner])
    func = Func("k", body=[Grid(ireg("b"), imm(1), ireg("t"), 32, [loop])], target="cuda", index=i64)
    assert complaint(func) == "cuda kernels have no such regions, in 'parallel u of m'"


# --- clusters ----------------------------------------------------------------------------------------


def clustered(body: str, grid: str = "grid b of n, t of 64 cluster 4") -> Func:
    return parse(f"func k cuda i32 {PARAMS} {{\n{SCRATCH} {grid} {{\n{body}\n}} }}")


@pytest.mark.parametrize(
    "body",
    [
        "a: f32 = creduce(h) {sum, 64, 1} u: f32x2 = creduce(1.0:f32x2) {max, 8, 4} v: i64 = creduce(seed) {min, 1, 2}",
        "c: bool = lt(n, 5) if c { a: f32 = creduce(h) {sum, 64, 1} }",
        "r: i32 = udiv(b, 4) c: bool = lt(r, n) if c { a: f32 = creduce(h) {sum, 64, 1} }",
        "s: f32 = creduce(h) {sum, 64, 1} c: bool = lt(s, h) if c { a: f32 = creduce(h) {sum, 64, 1} }",
        # the blocks of a cluster may part where nothing is waited for
        'c: bool = lt(b, n) if c { barrier "x" } a: f32 = creduce(h) {sum, 64, 1}',
    ],
)
def test_good_clusters_pass(body: str) -> None:
    verify(clustered(body))


ELSEWHERE = "creduce where not all threads of the cluster may be"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("c: bool = lt(b, n) if c { a: f32 = creduce(h) {sum, 64, 1} }", f"{ELSEWHERE}: 'if c' differs between blocks"),
        (
            "r: i32 = udiv(b, 2) c: bool = lt(r, n) if c { a: f32 = creduce(h) {sum, 64, 1} }",
            f"{ELSEWHERE}: 'if c' differs between blocks",
        ),
        (
            "s: f32 = treduce(h) {sum, 64, 1} c: bool = lt(s, h) if c { a: f32 = creduce(h) {sum, 64, 1} }",
            f"{ELSEWHERE}: 'if c' differs between blocks",
        ),
        (
            "var r: i32 = 0 c: bool = lt(b, n) if c { set r = 1 } e: bool = lt(r, 1) if e { a: f32 = creduce(h) "
            "{sum, 64, 1} }",
            f"{ELSEWHERE}: 'if e' differs between blocks",
        ),
        (
            "c: bool = lt(t, n) if c { a: f32 = creduce(h) {sum, 64, 1} }",
            f"creduce {NOT_ALL}: 'if c' differs between threads",
        ),
        ("for k in 0 .. 2 step 1 unroll { a: f32 = creduce(h) {sum, 64, 1} }", "creduce in a loop"),
        ("a: f32 = creduce(h) {sum, 48, 1}", "groups of 48 * 1 threads do not divide a block of 64"),
        ("a: f32x2 = tscan(h) {sum, 8, 3}", "groups of 8 * 3 threads do not divide a block of 64"),
    ],
)
def test_the_rules_of_clusters(body: str, message: str) -> None:
    assert complaint(clustered(body)).startswith(f"{message}, in '")


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("grid b of n, t of 64 cluster 3", "a cluster has 1, 2, 4, 8 blocks, not 3"),
        ("grid b of n, t of 64 cluster 16", "a cluster has 1, 2, 4, 8 blocks, not 16"),
        ("grid b of 6, t of 64 cluster 4", "clusters of 4 do not divide 6 blocks"),
    ],
)
def test_the_blocks_of_a_cluster(grid: str, message: str) -> None:
    assert complaint(clustered("", grid)) == f"{message}, in '{grid}'"


@pytest.mark.parametrize(
    ("threads", "how", "message"),
    [
        (96, "{sum, 3, 1}", "the group and the stride of a tscan are powers of two"),
        (96, "{sum, 2, 3}", "the group and the stride of a tscan are powers of two"),
        (48, "{sum, 16, 1}", "a tscan in a block of 48 threads, whose last warp is not full"),
    ],
)
def test_the_groups_of_a_scan(threads: int, how: str, message: str) -> None:
    func = clustered(f"a: f32x2 = tscan(h) {how}", f"grid b of n, t of {threads}")
    assert complaint(func).startswith(message)


def test_room_for_blocks_beside_each_other() -> None:
    verify(clustered("", "grid b of n, t of 512 beside 4"))
    with pytest.raises(VerifyError, match="no room for 3 blocks of 1024 threads"):
        verify(clustered("", "grid b of n, t of 1024 beside 3"))
