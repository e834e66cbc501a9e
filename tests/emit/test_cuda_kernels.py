"""Emitted CUDA C++: collectives, random numbers and whole kernels, run in the emulation, against the interpreter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from fusewright.core.dtypes import ALL, BY_NAME, compute_type, i64, numpy_type, round_bf16
from fusewright.emit.cuda import emit_cuda
from fusewright.loop.text import parse
from fusewright.prims import philox
from tests.emulate.checks import both, compiles, execute, stored_values
from tests.emulate.cuda import COMPILER, H100, MISSING, EmulatedKernel, run_emulated
from tests.golden.cases import CASES
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import H200, SMALL, check_gpu
from tests.loop import cuda_kernels

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

COMPUTED = [d for d in ALL if d is compute_type(d)]

# --- collectives -----------------------------------------------------------------------------------

KINDS = [
    ("f32", "sum"),
    ("f64", "sum"),
    ("f32", "max"),
    ("f64", "min"),
    ("f32", "prod"),
    ("i64", "sum"),
    ("i32", "max"),
    ("i16", "sum"),
    ("u8", "min"),
    ("i8", "prod"),
    ("u32", "sum"),
    ("bool", "any"),
    ("bool", "all"),
]
GROUPS = [  # group, stride, lanes, threads
    *((2, 1, 1, 32), (32, 1, 1, 64), (8, 4, 2, 64), (4, 2, 3, 32), (16, 1, 8, 32)),  # within a warp
    *((64, 1, 1, 64), (128, 1, 1, 256), (256, 1, 4, 256), (1024, 1, 1, 1024), (256, 1, 1, 1024)),  # warps
    *((64, 1, 2, 64), (64, 1, 3, 128), (128, 1, 4, 128), (256, 1, 3, 512), (256, 1, 2, 256)),  # warps, few values
    *((512, 1, 3, 512), (512, 1, 2, 1024), (1024, 1, 2, 1024), (1024, 1, 4, 1024)),
    *((8, 8, 2, 128), (32, 2, 1, 128), (16, 16, 4, 512), (128, 4, 1, 512)),  # partly within a warp
    *((4, 32, 4, 128), (8, 32, 8, 256), (2, 64, 1, 256)),  # across warps only
    *((6, 1, 1, 48), (3, 32, 2, 96), (5, 3, 1, 30), (4, 3, 2, 24), (8, 1, 2, 24), (96, 1, 1, 96), (1, 7, 2, 14)),
]


@pytest.mark.every(4)
@pytest.mark.parametrize("dtype, monoid", KINDS)
def test_treduce(dtype: str, monoid: str) -> None:
    """Bit for bit what the interpreter says, twice in a row and a third time: the scratch is used again."""
    d, chosen = BY_NAME[dtype], GROUPS if dtype in ("f32", "f64") else GROUPS[::3]
    launches, first = [], 0
    for group, stride, lanes, threads in chosen:
        w = f"x{lanes}" if lanes > 1 else ""
        how = f"{{{monoid}, {group}, {stride}}}"
        again = "" if lanes > 1 else f"c: {dtype} = treduce(b2) {how} store z[at] = c"
        launches.append(f"""grid b of 3, t of {threads} {{
          i: i32 = mul(b, {threads}) j: i32 = add(i, t) own: i32 = mul(j, {lanes}) at: i32 = add(own, {first})
          v: {dtype}{w} = load(x, at) a: {dtype}{w} = treduce(v) {how} store y[at] = a
          u: {dtype}{w} = load(y, at) b2: {dtype}{w} = treduce(u) {how} store z[at] = b2 {again} }}""")
        first += 3 * threads * lanes
    x = stored_values(d, first)
    if dtype == "bool":
        x = np.random.default_rng(1).random(x.size) < (0.03 if monoid == "any" else 0.97)
    elif monoid == "prod" and d.is_float:
        x = np.exp(x / 8)
    elif d.is_float and monoid != "sum":
        x[5::1000] = np.nan
    text = f"func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, buf z: {dtype} out) {{ {' '.join(launches)} }}"
    both(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)})


def in_loop(how: str, lanes: int = 1, threads: int = 64) -> str:
    w = f"x{lanes}" if lanes > 1 else ""
    return f"""func k cuda i32 (buf y: f32 out, size n) {{ grid b of 2, t of {threads} {{
      i: i32 = mul(b, {threads}) j: i32 = add(i, t) at: i32 = mul(j, {lanes}) 
      o: i32{w} = {"iota(at)" if w else "mul(at, 1)"} e: f32{w} = cast(o) var a: f32{w} = 0.0:f32{w}
      for r in 0 .. n step 1 {{ rs: i32{w} = {"splat(r)" if w else "mul(r, 1)"} g: f32{w} = cast(rs)
        h: f32{w} = add(e, g) s: f32{w} = treduce(h) {how} z: f32{w} = add(a, s) set a = z }}
      store y[at] = a }} }}"""


def test_a_reduction_in_a_loop_uses_halves_of_its_scratch_in_turn() -> None:
    text = in_loop("{sum, 64, 1}")
    both(text, {"y": np.zeros(128, np.float32)}, n=5)
    source = emit_cuda(parse(text), H100)
    body = source[source.index('extern "C"') :]
    assert "__syncthreads" not in body and body.count("fw_half2 ^= 16;") == 1
    assert "fw_scratch2[32]" in body and "(h, fw_scratch2 + fw_half2)" in body


def test_a_reduction_of_much_in_a_loop_waits_for_slow_readers() -> None:
    text = in_loop("{sum, 4, 128}", 8, 512)
    both(text, {"y": np.zeros(8192, np.float32)}, n=3)
    source = emit_cuda(parse(text), H100)
    body = source[source.index('extern "C"') :]
    assert body.count("__syncthreads();") == 1 and "fw_half" not in body


TWO = """func k cuda i32 (buf y: f32 out, buf z: f32 out, buf w: f32 out, size n) { grid b of 2, t of 128 {
  i: i32 = mul(b, 128) at: i32 = add(i, t) f: f32 = cast(at) g: f32 = mul(f, f)
  for r in 0 .. n step 1 {
    a: f32 = treduce(f) {sum, 64, 1} c: f32 = treduce(g) {sum, 64, 1} d: f32 = treduce(c) {sum, 64, 1}
    e: f32 = treduce(d) {max, 64, 1} store y[at] = a store z[at] = c store w[at] = e } } }"""


def test_reductions_of_a_kind_share_a_barrier() -> None:
    """Not with one that wants the result of another, and not with one of another kind."""
    zeros = np.zeros(256, np.float32)
    both(TWO, {"y": zeros, "z": zeros.copy(), "w": zeros.copy()}, n=3)
    source = emit_cuda(parse(TWO), H100)
    body = source[source.index('extern "C"') :]
    assert "float a_all[2] = {f, g};" in body and "fw_sum_f32x2_64x1_of128(a_all, " in body
    assert body.count("fw_sum_f32_64x1_of128(") == body.count("fw_max_f32_64x1_of128(") == 1
    assert "__syncthreads" not in body


@pytest.mark.parametrize("dtype", ["f32", "f64", "i64", "i8"])
def test_two_values_at_once(dtype: str) -> None:
    """Groups of 2 to 32 warps, one in a block or several; products, which do not depend on the order either."""
    launches, first = [], 0
    for group, threads in (
        (64, 64),
        (64, 256),
        (128, 512),
        (256, 256),
        (256, 1024),
        (512, 512),
        (512, 1024),
        (1024, 1024),
    ):
        for monoid in ("sum", "prod"):
            how = f"{{{monoid}, {group}, 1}}"
            launches.append(f"""grid b of 2, t of {threads} {{
              i: i32 = mul(b, {threads}) j: i32 = add(i, t) at: i32 = add(j, {first}) f: {dtype} = load(x, at)
              g: {dtype} = mul(f, f) a: {dtype} = treduce(f) {how} c: {dtype} = treduce(g) {how}
              store y[at] = a store z[at] = c }}""")
            first += 2 * threads
    x = stored_values(BY_NAME[dtype], first)
    if dtype.startswith("f"):
        x = (1 + x / 64).astype(x.dtype)
    text = f"func k cuda i32 (buf x: {dtype}, buf y: {dtype} out, buf z: {dtype} out) {{ {' '.join(launches)} }}"
    both(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros_like(x)})
    source = emit_cuda(parse(text), H100)
    assert f"fw_sum_{dtype}x2_512x1_of1024_apart(a_all" in source


def test_reductions_that_follow_each_other_need_no_extra_barrier() -> None:
    steps = " ".join(f"s{k + 1}: f32 = treduce(s{k}) {{max, 64, 1}}" for k in range(5))
    text = f"""func k cuda i32 (buf y: f32 out, size n) {{ grid b of 1, t of 64 {{
      for r in 0 .. n step 1 {{ s0: f32 = cast(t) {steps} e: f32 = treduce(s5) {{sum, 64, 1}} store y[t] = e }} }} }}"""
    source = emit_cuda(parse(text), H100)
    assert "__syncthreads" not in source[source.index('extern "C"') :]


@pytest.mark.parametrize("dtype", ["f32", "i32", "i8"])
def test_hreduce(dtype: str) -> None:
    launches, first = [], 0
    for monoid in ("sum", "max", "min", "prod"):
        for lanes in (2, 3, 8, 12):
            launches.append(f"""grid b of 1, t of 8 {{
              own: i32 = mul(t, {lanes}) at: i32 = add(own, {first}) v: {dtype}x{lanes} = load(x, at)
              s: {dtype} = hreduce(v) {{{monoid}}} c: {dtype} = hreduce(3:{dtype}x{lanes}) {{{monoid}}}
              w: {dtype} = add(s, c) store y[at] = w }}""")
            first += 8 * lanes
    x = stored_values(BY_NAME[dtype], first)
    both(f"func k cuda i32 (buf x: {dtype}, buf y: {dtype} out) {{ {' '.join(launches)} }}", {"x": x, "y": x * 0})


# --- random numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["i32", "i64"])
def test_philox(index: str) -> None:
    seed, row, start = -7_654_321_987_654_321, 2**31 - 1 if index == "i32" else 2**40 + 3, 4 * 1111
    text = f"""func k cuda {index} (buf y: u32 out, buf z: u32 out, buf w: u32 out, host seed: i64, size row) {{
      grid b of 1, t of 4 {{
        at: {index} = mul(t, 8) c: {index} = add(at, {start})
        q: u32x8 = philoxquad(seed, row, c) {{1}} store y[at] = q
        cs: {index}x8 = iota(c) rs: {index}x8 = splat(row)
        p: u32x8 = philoxword(seed, rs, cs) {{0}} store z[at] = p
        o: u32x8 = philox(seed, rs, cs) {{1}} store w[at] = o }} }}"""
    memory = {k: np.zeros(32, np.uint32) for k in "yzw"}
    columns = np.arange(start, start + 32)
    got = both(text, memory, seed=seed, row=row)
    np.testing.assert_array_equal(got["y"], philox.quads(seed, row, columns, 1))
    np.testing.assert_array_equal(got["z"], philox.quads(seed, row, columns, 0))
    np.testing.assert_array_equal(got["w"], philox.bits(seed, row, columns, 1))


# --- kernels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 511, 512, 1300])
def test_pointwise(n: int) -> None:
    x = stored_values(BY_NAME["bf16"], n)
    both(cuda_kernels.POINTWISE, {"x": x, "y": np.zeros_like(x)}, n=n, blocks=-(-n // 512), s=1.7)


@pytest.mark.parametrize("rows, n, blocks", [(1, 4, 1), (5, 1024, 2), (3, 100, 3)])
def test_rows(rows: int, n: int, blocks: int) -> None:
    x = stored_values(BY_NAME["f32"], rows * n)
    y = np.zeros_like(x)
    execute(cuda_kernels.ROWS, {"x": x, "y": y}, rows=rows, n=n, blocks=blocks)
    e = np.exp(x.reshape(rows, n).astype(np.float64))
    np.testing.assert_allclose(y.reshape(rows, n), e / e.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("rows, n, chunks", [(1, 1, 1), (100, 70, 3), (33, 32, 2)])
def test_columns(rows: int, n: int, chunks: int) -> None:
    x = stored_values(BY_NAME["f32"], rows * n)
    across = -(-n // 32)
    numbers = {"rows": rows, "n": n, "chunks": chunks, "total": chunks * across, "across": across, "m": chunks * n}
    got = both(cuda_kernels.COLUMNS, {"x": x, "y": np.zeros(n, np.float32)}, **numbers)
    np.testing.assert_allclose(got["y"], x.reshape(rows, n).sum(0, dtype=np.float64), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows, n", [(1, 1), (32, 32), (33, 31), (70, 5)])
def test_transpose(rows: int, n: int) -> None:
    x = stored_values(BY_NAME["i16"], rows * n)
    across = -(-n // 32)
    numbers = {"rows": rows, "n": n, "across": across, "blocks": across * -(-rows // 32)}
    got = both(cuda_kernels.TRANSPOSE, {"x": x, "y": np.zeros_like(x)}, **numbers)
    np.testing.assert_array_equal(got["y"].reshape(n, rows), x.reshape(rows, n).T)


SHAPES: Sequence[tuple[int, int]] = ((5, 7), (130, 72), (3, 4096))


@pytest.mark.every(6)
@pytest.mark.parametrize("gpu", [SMALL, H200], ids=["small", "h200"])
@pytest.mark.parametrize("name", list(CASES))
def test_what_is_lowered(name: str, gpu) -> None:
    for n, m in SHAPES if gpu is SMALL else SHAPES[1:2]:
        graph, sizes = graph_of(CASES[name].program), {"n": n, "m": m}
        inputs = random_inputs(graph, sizes)
        if CASES[name].fix is not None:
            CASES[name].fix(inputs, sizes)
        c = check_gpu(graph, sizes, inputs, gpu=gpu, machine=run_emulated)
        compiles(c.kernel.func)


# --- the rest --------------------------------------------------------------------------------------


def test_shared_memory_beyond_what_may_be_declared() -> None:
    text = """func k cuda i32 (buf x: f64, buf y: f64 out) {
      alloc small: u8[3] block alloc tile: f64[8192] block
      grid b of 2, t of 64 {
        z: bool = lt(t, 3) if z { store small[t] = 9:u8 }
        for i in t .. 8192 step 64 { v: f64 = load(x, i) j: i32 = sub(8191, i) store tile[j] = v }
        barrier "all there"
        q: u8 = load(small, 2) f: f64 = cast(q) w: f64 = load(tile, t) r: f64 = add(w, f)
        i: i32 = mul(b, 64) at: i32 = add(i, t) store y[at] = r } }"""
    x = stored_values(BY_NAME["f64"], 8192)
    got = both(text, {"x": x, "y": np.zeros(128)})
    np.testing.assert_array_equal(got["y"], np.tile(x[:-65:-1] + 9, 2))
    kernel = EmulatedKernel(parse(text))
    assert kernel.launches[0].shared == 16 + 8192 * 8
    assert "extern __shared__" in kernel.source


def test_failure_and_prefetch() -> None:
    text = """func k cuda i32 (buf x: i32, buf y: i32 out, size n) { grid b of 1, t of 4 {
      far: i32 = add(t, 1000000) prefetch x[far] v: i32 = load(x, t) c: bool = lt(v, n)
      if c { store y[t] = v } else { fail } } }"""
    func = parse(text)
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    assert run_emulated(func, {"x": x, "y": y}, {"n": 3})
    assert list(y) == [0, 1, 2, 0]
    assert not run_emulated(func, {"x": x, "y": y}, {"n": 4})
    assert "if (!c)" not in emit_cuda(func, H100)
    compiles(func)


def test_one_memory_under_two_names() -> None:
    text = """func k cuda i32 (buf x: f32, buf w: f32, buf y: f32 out) { grid b of 1, t of 8 {
      at: i32 = mul(t, 4) v: f32x4 = load(x, at) {aligned} u: f32x4 = load(w, at) {aligned}
      s: f32x4 = add(v, u) store y[at] = s {hint aligned} } }"""
    x, w = stored_values(BY_NAME["f32"], 32), np.ones(32, np.float32)
    want = x + w
    assert not run_emulated(parse(text), {"x": x, "w": w, "y": x})
    np.testing.assert_array_equal(x, want)
    apart, shared = (emit_cuda(parse(text), H100, pairs) for pairs in ((), [("x", "y")]))
    assert apart.count("__restrict__") == 3 and shared.count("__restrict__") == 1
    assert "fw_load_f32x4_ldg(x" in apart and "fw_load_f32x4(x" in shared and "fw_load_f32x4_ldg(w" in shared


def test_names_that_belong_to_others() -> None:
    text = """func k.double cuda i32 (buf float: f32, buf float_: f32 out, buf l: f32 out, size fw_n, host exp: f32) {
      grid threadIdx of 1, signed of 4 {
        new: i32 = mul(signed, 2) l.x: f32x2 = load(float, new) sin: f32x2 = splat(exp) cos: f32x2 = sin(l.x)
        l_x: f32x2 = mul(cos, sin) store float_[new] = l_x
        c: bool = lt(signed, fw_n) tan: f32 = exp(exp) if c { store l[signed] = tan } } }"""
    x = np.linspace(0, 1, 8, dtype=np.float32)
    y, z = np.zeros(8, np.float32), np.zeros(4, np.float32)
    execute(text, {"float": x, "float_": y, "l": z}, fw_n=3, exp=2.0)
    np.testing.assert_allclose(y, np.sin(x) * 2, rtol=1e-6)
    np.testing.assert_allclose(z, [np.exp(2), np.exp(2), np.exp(2), 0], rtol=1e-6)


def test_host_scalars_of_every_type() -> None:
    names = [d.name for d in COMPUTED if not d.is_bool]
    params = ", ".join(f"host h{n}: {n}, buf y{n}: {n} out" for n in names)
    body = " ".join(f"store y{n}[t] = h{n}" for n in names)
    params += ", host hb: bool, buf yb: bool out"
    text = f"func k cuda i32 ({params}) {{ grid b of 1, t of 2 {{ {body} store yb[t] = hb }} }}"
    values = {f"h{n}": -3 if BY_NAME[n].kind in "fi" else 200 for n in names} | {"hb": True}
    memory = {f"y{n}": np.zeros(2, numpy_type(BY_NAME[n])) for n in names} | {"yb": np.zeros(2, bool)}
    execute(text, memory, **values)
    for n in names:
        assert list(memory[f"y{n}"]) == [values[f"h{n}"]] * 2
    assert memory["yb"].all()


def test_constants_are_exact() -> None:
    inf = float("inf")
    floats = [0.1, -0.1, 1e-45, 3.4028234663852886e38, 1e16, 123456.78, 5.9604645e-08, 1 / 3, inf, -inf, -0.0]
    constants = {
        "f32": floats,
        "f64": [*floats, 5e-324, 1.7976931348623157e308, 2.0**60],
        "i64": [-(2**63), 2**63 - 1, -1, 2**31],
        "i32": [-(2**31), 2**31 - 1],
        "i8": [-128, 127],
        "u32": [2**32 - 1],
    }
    lines = " ".join(f"store {d}_[{k}] = {v!r}:{d}" for d, values in constants.items() for k, v in enumerate(values))
    params = ", ".join(f"buf {d}_: {d} out" for d in constants)
    memory = {f"{d}_": np.zeros(len(v), numpy_type(BY_NAME[d])) for d, v in constants.items()}
    execute(f"func k cuda i32 ({params}) {{ grid b of 1, t of 1 {{ {lines} }} }}", memory)
    for d, values in constants.items():
        got = memory[f"{d}_"]
        np.testing.assert_array_equal(got.view(np.uint8), np.array(values, got.dtype).view(np.uint8), err_msg=d)


def test_nan_constants_and_wrapping_data() -> None:
    y, z = np.zeros(2, np.float32), np.zeros(2, np.int64)
    text = f"""func k cuda i32 (buf x: i64, buf y: f32 out, buf z: i64 out) {{ grid b of 1, t of 2 {{
      store y[t] = nan:f32 v: i64 = load(x, t) w: i64 = add(v, {2**62}:i64) u: i64 = mul(w, 3:i64)
      store z[t] = u }} }}"""
    execute(text, {"x": np.array([2**62, -5]), "y": y, "z": z})
    assert np.isnan(y).all()
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(z, (np.array([2**62, -5]) + np.int64(2**62)) * np.int64(3))
    source = emit_cuda(parse(text), H100)
    assert "(long long)((unsigned long long)v + (unsigned long long)4611686018427387904ll)" in source


def test_the_source_reads_well() -> None:
    """What people see: the user's lines, the launch's purpose, reasons for barriers; lanes in one loop."""
    func = parse("""func k cuda i32 (buf x: bf16, buf y: bf16 out, size n) {
      alloc keep: bf16[16] register
      grid b of n, t of 64 "two vectors each" {
        row: i32 = mul(b, 1024)
        for k in 0 .. 2 step 1 unroll {
          skip: i32 = mul(k, 512) own: i32 = mul(t, 8) c: i32 = add(skip, own) at: i32 = add(row, c)
          v: f32x8 = load(x, at) {aligned} slot: i32 = mul(k, 8) store keep[slot] = v }
        barrier "x is read"
        one: f32 = add(0.5:f32, 0.5:f32)
        for k in 0 .. 2 step 1 unroll {
          slot: i32 = mul(k, 8) v: f32x8 = load(keep, slot) s: f32x8 = splat(one)
          d: f32x8 = add(v, s) e: f32x8 = exp(d)
          skip: i32 = mul(k, 512) own: i32 = mul(t, 8) c: i32 = add(skip, own) at: i32 = add(row, c)
          store y[at] = e {hint aligned} } } }""")
    func.notes = ["model.py:3  y = (x + 1).exp()", "a trailing backslash \\"]
    source = emit_cuda(func, H100)
    assert source.startswith(
        """\
// k, made by Fusewright from
//   model.py:3 y = (x + 1).exp()
//   a trailing backslash\n""".replace("backslash\n", "backslash")
    )
    for text in (
        "// two vectors each\nextern",
        "__syncthreads();  // x is read",
        "unsigned keep[8];  // 16 bf16, packed",
        """\
    float e[8];
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      const float d = v[l] + one;
      e[l] = ::expf(d);
    }
""",
    ):
        assert text in source, text
    x = stored_values(BY_NAME["bf16"], 2048)
    y = np.zeros_like(x)
    run_emulated(func, {"x": x, "y": y}, {"n": 2})
    np.testing.assert_allclose(y, round_bf16(np.exp(x + np.float32(1))), rtol=1e-2)
    compiles(func)


def test_same_kernel_same_text() -> None:
    assert emit_cuda(parse(cuda_kernels.ROWS), H100) == emit_cuda(parse(cuda_kernels.ROWS), H100)


def test_64_bit_indices() -> None:
    assert i64 is parse(cuda_kernels.ROWS).index
    assert "const long long b = blockIdx.x;" in emit_cuda(parse(cuda_kernels.ROWS), H100)
