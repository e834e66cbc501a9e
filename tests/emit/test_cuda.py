"""Emitted CUDA C++: every primitive, conversion and access, run in the emulation, against NumPy.

Where NVRTC is installed, each source must also compile for a GPU.
"""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.dtypes import ALL, BY_NAME, DType, bool_, compute_type, f32, f64, i32, i64, numpy_type, round_bf16
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.emit.cuda_prelude import Prelude
from fusewright.emit.cuda_rules import RULES, Op, expression
from fusewright.loop.ir import Buf, Func, Grid, Imm, Let, Reg, Store
from fusewright.loop.text import parse
from fusewright.loop.verify import verify
from fusewright.prims.table import MONOIDS, PRIMS
from tests.emulate.checks import both, compiles, execute, stored_values
from tests.emulate.cuda import COMPILER, H100, MISSING, run_emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

T4, A100 = CudaTarget(7, 5), CudaTarget(8, 0)
COMPUTED = [d for d in ALL if d is compute_type(d)]

# --- primitives ------------------------------------------------------------------------------------

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    1e-3,
    7.25,
    -88.5,
    1e20,
    1e-40,
    np.inf,
    -np.inf,
    np.nan,
]
EXACT = {
    *("add", "sub", "mul", "div", "floordiv", "truncdiv", "remainder", "fmod", "copysign", "max", "min", "fmax"),
    *("fmin", "and", "or", "xor", "shl", "shr", "eq", "ne", "lt", "le", "gt", "ge", "where", "neg", "abs", "sign"),
    *("not", "floor", "ceil", "trunc", "round", "isnan", "signbit", "sqrt", "reciprocal"),
}


def operands_of(d: DType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a, b, condition): all pairs of interesting values, and random ones; as many as 16 divides."""
    kind = numpy_type(d)
    random = np.random.default_rng(3)
    if d.is_float:
        few = np.array(SPECIAL, kind)
        a, b = (np.concatenate([x.ravel(), random.standard_normal(92).astype(kind)]) for x in np.meshgrid(few, few))
    elif d.is_bool:
        a, b = np.arange(16) % 2 == 1, np.arange(16) // 2 % 2 == 1
    else:
        info = np.iinfo(kind)
        few = np.array([0, 1, 2, 3, 7, 31, 63, 100, info.max, info.max - 1, info.min, info.min + 1], np.int64)
        if d.kind == "i":
            few = np.concatenate([few, [-1, -2, -7, -100]])
        a, b = (x.ravel().astype(kind) for x in np.meshgrid(few, few))
    n = len(a) // 16 * 16
    return a[:n], b[:n], random.random(n) < 0.5


def all_primitives(d: DType, lanes: int, n: int) -> tuple[Func, list[str]]:
    """One launch for each primitive that takes `d`, each with its own part of the outputs."""
    a, b, c = Buf("a", d), Buf("b", d), Buf("c", bool_)
    out, flags = Buf("out", d, True), Buf("flags", bool_, True)
    func = Func(f"prims_{d}", [a, b, c, out, flags], target="cuda", index=i32)
    names = [p.name for p in PRIMS.values() if d.kind in p.kinds and not (d.is_float and p.name == "truncdiv")]
    for k, name in enumerate(names):
        p = PRIMS[name]
        to = bool_ if p.result == "bool" else d
        x, y, m, z = Reg("x", d, lanes), Reg("y", d, lanes), Reg("m", bool_, lanes), Reg("z", to, lanes)
        bid, tid, at, put = Reg("bid", i32), Reg("tid", i32), Reg("at", i32), Reg("put", i32)
        args = {1: (x,), 2: (x, y), 3: (m, x, y) if name == "where" else (x, y, x)}[p.arity]
        body = [
            Let(at, "mul", (tid, Imm(lanes, i32))),
            Let(put, "add", (at, Imm(k * n, i32))),
            Let(x, "load", (at,), a),
            Let(y, "load", (at,), b),
            Let(m, "load", (at,), c),
            Let(z, name, args),
            Store(flags if p.result == "bool" else out, put, z),
        ]
        func.body.append(Grid(bid, Imm(1, i32), tid, n // lanes, body, name))
    return func, names


@pytest.mark.every(6)
@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("d", COMPUTED, ids=str)
def test_every_primitive(d: DType, lanes: int) -> None:
    a, b, c = operands_of(d)
    n = len(a)
    divisors = b
    if d.is_int:  # not by zero, nor where the quotient is no number of the type
        divisors = np.where((b == 0) | ((b == -1) & (a == np.iinfo(a.dtype).min)), np.ones_like(b), b)
    func, names = all_primitives(d, lanes, n)
    verify(func)
    memory = {"a": a, "b": divisors, "c": c}
    memory |= {"out": np.zeros(n * len(names), numpy_type(d)), "flags": np.zeros(n * len(names), bool)}
    run_emulated(func, memory)
    for k, name in enumerate(names):
        p = PRIMS[name]
        args = {1: (a,), 2: (a, divisors), 3: (c, a, divisors) if name == "where" else (a, divisors, a)}[p.arity]
        with np.errstate(all="ignore"):
            want = np.asarray(p.numpy(*args))
        got = memory["flags" if p.result == "bool" else "out"][k * n : (k + 1) * n]
        if name.startswith("far_"):  # not by what is small
            far = ~(np.abs(args[-1]) < 2.0**-100)
            got, want = got[far], want[far]
        if name in EXACT or not d.is_float or (name == "fma" and d.itemsize == 4):
            np.testing.assert_array_equal(got, want, err_msg=name)
        else:
            rtol = 2e-6 if d.itemsize == 4 else 1e-14
            atol = 1e-15 if name == "lgamma" else rtol * 1e-30  # at lgamma's zeros Python's own is inexact
            if name in ("fast_erfc", "fast_expm1", "fast_log", "fast_log1p") and d.itemsize == 4:
                rtol, atol = 2.0**-17, 2e-9
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=name)
    if lanes == 4:
        compiles(func, H100, T4)


def test_every_primitive_and_monoid_has_a_rule() -> None:
    assert set(PRIMS) <= set(RULES)
    assert {m.combine for m in MONOIDS.values()} <= set(RULES)


def test_zero_and_sign_are_kept() -> None:
    """Equal is not enough: -0.0."""
    x = np.array([-0.0, 0.0, -0.0, -1.5, 1.5, -0.3, -0.0, 0.0], np.float32)
    ops = ("neg", "trunc", "round", "ceil", "sqrt")
    memory = {"x": x} | {op: np.zeros_like(x) for op in ops}
    body = " ".join(f"r_{op}: f32 = {op}(v) store {op}[t] = r_{op}" for op in ops)
    params = ", ".join(f"buf {op}: f32 out" for op in ops)
    execute(
        f"func k cuda i32 (buf x: f32, {params}) {{ grid b of 1, t of 8 {{ v: f32 = load(x, t) {body} }} }}", memory
    )
    for op in ops:
        y = memory[op]
        with np.errstate(all="ignore"):
            want = np.asarray(PRIMS[op].numpy(x))
        np.testing.assert_array_equal(np.signbit(y)[~np.isnan(want)], np.signbit(want)[~np.isnan(want)], err_msg=op)


def test_quotients_by_a_size() -> None:
    """Indices that are divided more than once by a size are multiplied by its inverse; no quotient differs."""
    random = np.random.default_rng(5)
    top = (1 << 31) - 1
    for b in [1, 2, 3, 7, 10, 64, 1000, 65535, 65537, 46341, (1 << 30) - 1, 1 << 30, top - 1, top]:
        near = np.arange(40)[:, None] * b + np.arange(-1, 2)
        a = np.concatenate(
            [near.ravel(), top - np.arange(50), top // b * b - np.arange(2), random.integers(0, top, 1000)]
        )
        a = a[(a >= 0) & (a <= top)]
        a = np.pad(a, (0, -len(a) % 64)).astype(np.int32)
        text = f"""func k cuda i32 (buf a: i32, size n, buf q: i32 out, buf r: i32 out) {{
          grid g of {len(a) // 64}, t of 64 {{ s: i32 = mul(g, 64) i: i32 = add(s, t) x: i32 = load(a, i)
          y: i32 = udiv(x, n) store q[i] = y
          z: i32 = udiv(y, n) store r[i] = z }} }}"""
        func = parse(text)
        memory = {"a": a, "q": np.zeros_like(a), "r": np.zeros_like(a)}
        assert "_inverse" in emit_cuda(func, H100)
        run_emulated(func, memory, {"n": b})
        np.testing.assert_array_equal(memory["q"], a // b)
        np.testing.assert_array_equal(memory["r"], a // b // b)


def test_casts() -> None:
    """Between all types, of values that both hold; from floats, what lies between integers is cut off."""
    n, params, launches = 16, [], []
    memory: dict[str, np.ndarray] = {}
    want: dict[str, np.ndarray] = {}
    for src in COMPUTED:
        for d in COMPUTED:
            if d.is_bool:
                continue
            x = np.arange(n) * 6.3 - (40 if src.kind in "fi" and d.kind != "u" else 0)
            x = x % 13 > 6 if src.is_bool else x.astype(numpy_type(src))
            i, o = f"x_{src}_{d}", f"y_{src}_{d}"
            memory |= {i: x, o: np.zeros(n, numpy_type(d)), f"{o}_v": np.zeros(n, numpy_type(d))}
            want |= {o: x.astype(numpy_type(d)), f"{o}_v": x.astype(numpy_type(d))}
            params += [f"buf {i}: {src}", f"buf {o}: {d} out", f"buf {o}_v: {d} out"]
            launches.append(f"""grid b of 1, t of {n} {{ v: {src} = load({i}, t) c: {d} = cast(v) store {o}[t] = c
              two: bool = lt(t, 2) if two {{ at: i32 = mul(t, 8) w: {src}x8 = load({i}, at) e: {d}x8 = cast(w)
              store {o}_v[at] = e }} }}""")
    execute(f"func k cuda i32 ({', '.join(params)}) {{ {' '.join(launches)} }}", memory)
    for o in want:
        np.testing.assert_array_equal(memory[o], want[o], err_msg=o)


# --- 16-bit floats ---------------------------------------------------------------------------------


def hard_floats() -> np.ndarray:
    """Every 16-bit pattern as the upper half of a float32, with lower halves at and beside a tie."""
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    low = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1000, 0x0FFF, 0x1001, 0x3000], np.uint32)
    return (high[:, None] | low).ravel().view(np.float32)


@pytest.mark.every(3)
@pytest.mark.parametrize("target", [H100, A100, T4], ids=lambda t: t.arch)
@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_rounding_to_16_bits(name: str, target: CudaTarget) -> None:
    x = hard_floats()
    with np.errstate(over="ignore", invalid="ignore"):
        want = round_bf16(x) if name == "bf16" else x.astype(np.float16).astype(np.float32)
    for lanes, mark in ((1, ""), (8, ""), (8, "aligned")):
        w = f"x{lanes}" if lanes > 1 else ""
        hint = f"{{hint {mark}}}" if mark else ""
        stored, rounded = np.zeros(len(x), numpy_type(BY_NAME[name])), np.zeros(len(x), np.float32)
        blocks = -(-len(x) // (256 * lanes))
        text = f"""func k cuda i32 (buf x: f32, buf y: {name} out, buf z: f32 out) {{ grid b of {blocks}, t of 256 {{
          i: i32 = mul(b, 256) j: i32 = add(i, t) at: i32 = mul(j, {lanes}) v: f32{w} = load(x, at)
          store y[at] = v {hint} r: f32{w} = round(v) {{{name}}} store z[at] = r }} }}"""
        execute(text, {"x": x, "y": stored, "z": rounded}, target)
        for got in (stored.astype(np.float32), rounded):
            finite = ~np.isnan(want)
            np.testing.assert_array_equal(got[finite].view(np.uint32), want[finite].view(np.uint32))
            assert np.isnan(got[~finite]).all()


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_every_16_bit_number_survives(name: str) -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = (bits.astype(np.uint32) << 16).view(np.float32) if name == "bf16" else bits.view(np.float16)
    for lanes, mark in ((1, ""), (2, "aligned"), (8, "aligned"), (4, "")):
        w = f"x{lanes}" if lanes > 1 else ""
        attr, hint = (f"{{{mark}}}", f"{{hint {mark}}}") if mark else ("", "")
        y, z = np.zeros_like(x), np.zeros(len(x), np.float32)
        text = f"""func k cuda i32 (buf x: {name}, buf y: {name} out, buf z: f32 out) {{
          grid b of {256 // lanes}, t of 256 {{ i: i32 = mul(b, 256) j: i32 = add(i, t) at: i32 = mul(j, {lanes})
          v: f32{w} = load(x, at) {attr} store y[at] = v {hint} store z[at] = v }} }}"""
        execute(text, {"x": x, "y": y, "z": z})
        np.testing.assert_array_equal(z, x.astype(np.float32))
        np.testing.assert_array_equal(y, x)


# --- memory ----------------------------------------------------------------------------------------


@pytest.mark.every(6)
@pytest.mark.parametrize("d", ALL, ids=str)
def test_copies(d: DType) -> None:
    """Whole vectors, aligned or not, with every mark; masked ones; through block scratch and registers."""
    n, c = 256, compute_type(d)
    lines, outputs = [], []

    def launch(lanes: int, body: str) -> None:
        out = f"o{len(outputs)}"
        outputs.append(out)
        w = f"x{lanes}" if lanes > 1 else ""
        lines.append(f"grid b of 2, t of {n // 2 // lanes} {{ i: i32 = mul(b, {n // 2 // lanes}) j: i32 = add(i, t)")
        lines.append(f"at: i32 = mul(j, {lanes}) own: i32 = mul(t, {lanes})")
        lines.append(body.replace("TYPE", f"{c}{w}").replace("OUT", out) + " }")

    for lanes in (1, 2, 4, 8, 16, 32):
        marks = ["stream"] if lanes == 1 else ["aligned", "stream", "aligned stream"]
        launch(lanes, "v: TYPE = load(x, at) store OUT[at] = v")
        for mark in marks:
            launch(lanes, f"v: TYPE = load(x, at) {{{mark}}} store OUT[at] = v {{hint {mark}}}")
    masked = "k: boolx4 = lanemask(left) v: TYPE = load(x, at, k) store OUT[at] = v {mask k}"
    launch(4, f"left: i32 = sub({n}, at) {masked}")
    launch(
        8,
        "v: TYPE = load(x, at) {aligned} store tile[own] = v {hint aligned} "
        'barrier "all" u: TYPE = load(tile, own) {aligned} store OUT[at] = u',
    )
    launch(4, "v: TYPE = load(x, at) store reg[0] = v store reg[4] = v u: TYPE = load(reg, 4) store OUT[at] = u")
    launch(4, "v: TYPE = load(x, at) store odd[1] = v u: TYPE = load(odd, 1) store OUT[at] = u")
    launch(1, "v: TYPE = load(x, at) w: bool = ge(at, 0) store OUT[at] = v {mask w, hint stream}")
    params = "".join(f", buf {o}: {d} out" for o in outputs)
    allocs = f"alloc tile: {d}[128] block alloc reg: {d}[8] register alloc odd: {d}[5] register"
    text = f"func k cuda i32 (buf x: {d}{params}) {{ {allocs} {' '.join(lines)} }}"
    x = stored_values(d, n)
    got = both(text, {"x": x} | {o: np.zeros_like(x) for o in outputs})
    for o in outputs:
        np.testing.assert_array_equal(got[o], x, err_msg=o)


@pytest.mark.parametrize("d", [BY_NAME[n] for n in ("f32", "bf16", "i64", "bool")], ids=str)
def test_masks_gathers_and_scatters(d: DType) -> None:
    c, n = compute_type(d), 100
    text = f"""func k cuda i64 (buf x: {d}, buf p: i64, buf y: {d} out, buf z: {d} out, size n) {{
      grid b of 1, t of 32 {{
        at: i64 = mul(t, 4) left: i64 = sub(n, at) m: boolx4 = lanemask(left)
        q: i64x4 = load(p, at, m) v: {c}x4 = gather(x, q, m) store y[at] = v {{mask m}}
        u: {c}x4 = load(x, at, m) store z[q] = u {{mask m}}
      }} }}"""
    x, p = stored_values(d, n), np.random.default_rng(0).permutation(n).astype(np.int64)
    got = both(text, {"x": x, "p": p, "y": np.zeros_like(x), "z": np.zeros_like(x)}, n=n)
    np.testing.assert_array_equal(got["y"], x[p])
    np.testing.assert_array_equal(got["z"][p], x)


def test_all_lanes_are_read_before_any_is_written() -> None:
    text = """func k cuda i32 (buf y: f32 out, buf z: f32 out, buf x: f32) { grid b of 1, t of 1 {
      v: f32x4 = load(x, 0) store y[0] = v w: f32x4 = load(y, 0) store y[1] = w
      store z[2] = v store z[0] = w u: f32x4 = add(v, w) store z[4] = u store z[3] = v } }"""
    got = both(text, {"x": np.arange(4, dtype=np.float32), "y": np.zeros(5, np.float32), "z": np.zeros(8, np.float32)})
    assert list(got["y"]) == [0, 0, 1, 2, 3]
    assert list(got["z"]) == [0, 1, 2, 0, 1, 2, 3, 6]


@pytest.mark.parametrize("dtype", ["bf16", "f16", "i8", "bool", "i16"])
def test_registers_at_odd_places(dtype: str) -> None:
    """What covers no whole words cannot be packed; nor what is masked."""
    c = compute_type(BY_NAME[dtype])
    zero = {"f": "0.0", "b": "false"}.get(c.kind, "0")
    text = f"""func k cuda i32 (buf x: {dtype}, buf y: {dtype} out) {{
      alloc a: {dtype}[8] register alloc b: {dtype}[8] register alloc c: {dtype}[8] register
      grid g of 1, t of 4 {{ at: i32 = mul(t, 8) v: {c}x4 = load(x, at)
        store a[0] = v store a[1] = v store a[4] = v
        store b[0] = {zero}:{c}x8 m: boolx4 = lanemask(t) store b[4] = v {{mask m}} store b[0] = v
        for k in 0 .. 3 step 1 unroll {{ w: {c} = load(a, k) o: i32 = add(k, 5) store c[o] = w store c[k] = w }}
        p: {c}x4 = load(a, 0) store y[at] = p q: {c}x4 = load(b, 4) far: i32 = add(at, 4) store y[far] = q
        r: {c} = load(c, 7) last: i32 = add(at, 7) store y[last] = r }} }}"""
    x = stored_values(BY_NAME[dtype], 32)
    both(text, {"x": x, "y": np.zeros_like(x)})


def test_lanes_that_are_off_read_nothing_and_give_zero() -> None:
    text = """func k cuda i32 (buf x: f32, buf y: f32 out) { grid b of 1, t of 2 {
      at: i32 = mul(t, 4) left: i32 = sub(3, at) m: boolx4 = lanemask(left) v: f32x4 = load(x, at, m)
      w: f32x4 = add(v, 1.0:f32x4) store y[at] = w
      one: bool = eq(t, 0) s: f32 = load(x, 2, one) base: i32 = add(t, 8) store y[base] = s } }"""
    got = both(text, {"x": np.full(3, 5, np.float32), "y": np.zeros(10, np.float32)})
    assert list(got["y"]) == [6, 6, 6, 1, 1, 1, 1, 1, 5, 0]


@pytest.mark.parametrize("d", [f32, f64], ids=str)
def test_no_value_is_compared_with_itself(d: DType) -> None:
    """NVRTC takes `x != x` for false where it finds late that x is a NaN."""
    for name, negated in (("isnan", "!("), ("ne", "!("), ("eq", "!(!(")):
        o = Op(Prelude(H100), ["x"] * (1 + (name != "isnan")), [d] * 2, bool_)
        text = expression(o, name)
        assert "abs" in text and "x != x" not in text and "x == x" not in text and text.startswith(negated)
    assert expression(Op(Prelude(H100), ["n", "n"], [i64] * 2, bool_), "eq") == "n == n"
    assert expression(Op(Prelude(H100), ["x", "y"], [d] * 2, bool_), "ne") == "x != y"
