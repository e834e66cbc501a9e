"""Rows of GPU kernels in shared memory, filled by asynchronous copies: lowered, interpreted, emulated, compiled."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from fusewright.build import nvrtc
from fusewright.core.dtypes import BY_NAME, bf16, f32, i64
from fusewright.core.errors import VerifyError
from fusewright.emit.cuda import CudaTarget, emit_cuda, launches
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.interp.loop import run as interpret
from fusewright.interp.values import InterpError
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import Commit, Copy, Store, Wait, walk
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from fusewright.schedule.device import A100, H200, V100, Gpu
from fusewright.schedule.forms import Illegal
from fusewright.schedule.gpu_fit import Held, in_shared, row_bytes
from fusewright.schedule.legal_gpu import Sizes, settle
from fusewright.schedule.variants import variants
from tests.emulate.checks import both, execute
from tests.emulate.cuda import COMPILER, MISSING, EmulationError, run_emulated
from tests.golden import cases
from tests.kernels import graph_of
from tests.kernels_gpu import SMALL, GpuCompiled, check_gpu, gpu_kernel, hint_of
from tests.loop.test_gpu_clusters import batch_norm, counted
from tests.loop.test_gpu_interleave import group_norm
from tests.loop.test_gpu_lowering import centred, softmax16

N, M = sym("n"), sym("m")
NEEDS_NVRTC = pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")


def shared(program, sizes: dict[str, int], gpu: Gpu = SMALL, **fields) -> GpuCompiled:
    """The kernel of a program, with a row in shared memory and other fields of its schedule; it must be legal."""
    c = gpu_kernel(graph_of(program), sizes, gpu)
    s = dataclasses.replace(c.schedule, mode="persistent", keep="loads", keep_in="shared", cluster=1)
    if s.anchor:  # rows that are moved stay in registers
        s = dataclasses.replace(s, anchor="", lanes=1, vector="", aligned=frozenset())
    f, s, launch = settle(c.built.fusion, dataclasses.replace(s, **fields), Sizes(hint_of(sizes), gpu))  # type: ignore[arg-type]
    k = lower_gpu(f, s, "kernel")
    verify(k.func)
    assert dump(parse(dump(k.func))) == dump(k.func)
    c.built.fusion = f
    return dataclasses.replace(c, schedule=s, kernel=k, launch=launch)


def mixed(b: Builder) -> list[Value]:
    """Two types, a weight, and a term that only the last pass wants; vectors of 8 float32 are two pieces."""
    x, z, w = b.input(bf16, (N, M)), b.input(f32, (N, M)), b.input(f32, (M,))
    x32 = b.cast(x, f32)
    y = b.sub(x32, b.reduce("max", x32, [1], keepdim=True))
    return [b.cast(b.add(b.mul(y, b.reshape(w, (1, M))), z), bf16)]


def gathered(b: Builder) -> Value:
    """Rows of a table, normalised: what is read at a place that memory gives is no asynchronous copy."""
    table, at = b.input(f32, (50, M)), b.input(i64, (N,))
    x = b.gather(table, [at], (N, M), [("at", 0, (0,)), ("dim", 1)])
    return b.sub(x, b.reduce("max", x, [1], keepdim=True))


CASES = {
    "softmax": (softmax16, (5, 1040), {"row_threads": 1, "col_threads": 64, "steps": 3}),
    "rows side by side": (softmax16, (7, 1040), {"row_threads": 4, "col_threads": 16, "steps": 9}),
    "cluster": (softmax16, (5, 1040), {"row_threads": 1, "col_threads": 32, "steps": 3, "cluster": 2}),
    "rounds": (cases.softmax, (6, 500), {"row_threads": 1, "col_threads": 8, "steps": 18}),
    "rounds in a cluster": (batch_norm, (3, 1000), {"row_threads": 1, "col_threads": 32, "steps": 16, "cluster": 2}),
    "single elements": (cases.softmax, (6, 501), {"row_threads": 1, "col_threads": 32, "steps": 16}),
    "three passes": (centred, (4, 500), {"row_threads": 2, "col_threads": 32, "steps": 4}),
    "two types": (mixed, (5, 1000), {"row_threads": 1, "col_threads": 32, "steps": 4}),
    "two types in rounds": (mixed, (5, 1000), {"row_threads": 1, "col_threads": 8, "steps": 17}),
    "integers": (counted, (4, 300), {"row_threads": 1, "col_threads": 32, "steps": 5}),
    "values in registers": (cases.layer_norm, (6, 256), {"row_threads": 1, "col_threads": 16, "keep": "values"}),
    "resident": (cases.rms_norm_backward, (40, 512), {}),
    "resident, ahead": (cases.rms_norm_backward, (40, 512), {"ahead": 1}),
    "resident, ahead, more": (cases.rms_norm_backward, (41, 512), {"ahead": 1, "steps": 2, "col_threads": 64}),
    "resident, ahead, no row for some": (cases.rms_norm_backward, (2, 512), {"ahead": 1}),
    "resident, two ahead": (cases.rms_norm_backward, (40, 512), {"ahead": 2}),
    "resident, three ahead, more": (cases.rms_norm_backward, (41, 512), {"ahead": 3, "steps": 2, "col_threads": 64}),
    "resident, three ahead, no row for some": (cases.rms_norm_backward, (2, 512), {"ahead": 3}),
}
SIZES_TOO = ({}, {"n": 1})  # other sizes, with the same kernel


def made(name: str, gpu: Gpu = SMALL) -> tuple[GpuCompiled, dict[str, int]]:
    program, (n, m), fields = CASES[name]
    sizes = {"n": n, "m": m}
    if "steps" not in fields and not fields.get("ahead") and "resident" not in name:
        fields = {**fields, "steps": -(-m // (fields["col_threads"] * 4))}
    return shared(program, sizes, gpu, **fields), sizes


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    c, sizes = made(name)
    for other in SIZES_TOO:
        check_gpu(c.graph, {**sizes, **other}, compiled=c)


def test_what_memory_places_is_kept_by_stores() -> None:
    c = shared(gathered, {"n": 6, "m": 256}, row_threads=1, col_threads=32, steps=2)
    own = {a.buf.name for a in c.kernel.func.allocs if a.scope == "own"}
    found = list(walk(c.kernel.func.body))
    assert not any(isinstance(s, (Copy, Wait)) for s in found)
    assert own & {s.buf.name for s in found if isinstance(s, Store)}
    inputs = [np.random.default_rng(0).random((50, 256), np.float32), np.array([3, 49, 0, 3, 7, 1])]
    for machine in {} if COMPILER is None else {"machine": run_emulated}, {}:
        check_gpu(c.graph, {"n": 6, "m": 256}, inputs, compiled=c, **machine)


@pytest.mark.every(6)
@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize("name", CASES)
def test_emulated(name: str) -> None:
    c, sizes = made(name)
    check_gpu(c.graph, sizes, compiled=c, machine=run_emulated)


@pytest.mark.every(6)
@NEEDS_NVRTC
@pytest.mark.parametrize("name", CASES)
def test_compiles_without_a_stack(name: str) -> None:
    c, _ = made(name)
    archs = ("sm_90",) if c.schedule.cluster > 1 else ("sm_90", "sm_80", "sm_75")
    for arch in archs:
        if arch in nvrtc.architectures():
            target = CudaTarget(int(arch[3]), int(arch[4]))
            text = emit_cuda(c.kernel.func, target)
            assert ("cp.async" in text) is (target.major >= 8)
            assert all(r.stack == 0 for r in nvrtc.report(nvrtc.compile(text, arch)[0]))


def test_single_16_bit_elements_are_not_copied_asynchronously() -> None:
    c = shared(softmax16, {"n": 4, "m": 501}, row_threads=1, col_threads=32, steps=16)
    assert c.schedule.lanes == 1
    text = emit_cuda(c.kernel.func, CudaTarget(9, 0))
    assert "fw_copy_async<" not in text
    check_gpu(c.graph, {"n": 4, "m": 501}, compiled=c)
    assert "fw_copy_async<4>" in emit_cuda(made("single elements")[0].kernel.func, CudaTarget(9, 0))


@pytest.mark.parametrize("name", ["resident, ahead", "resident, three ahead, more"])
def test_rows_ahead_are_copied_in_whole_vectors(name: str) -> None:
    """Where a row is in the ring of places for rows is a multiple of a vector, and known to be."""
    text = emit_cuda(made(name)[0].kernel.func, CudaTarget(9, 0))
    assert set(re.findall(r"fw_copy_async<(\d+)>", text)) == {"16"}


def test_a_row_is_asked_for_before_the_first_pass_and_awaited_in_groups() -> None:
    c, _ = made("two types")
    found = [s for s in walk(c.kernel.func.body) if isinstance(s, (Copy, Commit, Wait))]
    kinds = "".join(type(s).__name__[:2] for s in found)
    assert re.fullmatch(r"(CoCo){4}CoCo(Wa){4}Wa", kinds.replace("Commit", "Co"))
    assert [s.groups for s in found if isinstance(s, Wait)] == [4, 3, 2, 1, 0]
    assert [s.buf.name for s in found if isinstance(s, Copy)] == ["in0"] * 4 + ["in2"]  # not the weight


def test_a_resident_block_asks_for_its_next_row_before_it_works_on_one() -> None:
    c, _ = made("resident, ahead")
    text = dump(c.kernel.func)
    loop = text[text.index("for tile") :]
    assert loop.index("wait 0") < loop.index("copy ") < loop.index("load(kept")
    assert "wait" not in text[: text.index("for tile")]
    assert "wait 0" not in loop[loop.index("copy ") :]


def test_of_rows_ahead_only_the_first_is_awaited() -> None:
    text = dump(made("resident, three ahead, more")[0].kernel.func)
    before, loop = text[: text.index("for tile")], text[text.index("for tile") :]
    assert (before.count("commit"), loop.count("commit"), before.count("wait")) == (3, 1, 0)
    assert re.findall(r"wait \d+", loop) == ["wait 2"]


# --- the instructions -----------------------------------------------------------------------------

BODY = """func k cuda i32 (buf x: f32, buf y: f32 out) {{
  alloc own: f32[8] own
  grid b of 4, t of 32 {{
    r: i32 = mul(b, 32)
    at: i32 = add(r, t)
    four: i32 = mul(at, 4)
    {}
  }}
}}"""
GOOD = "copy own[4] = x[four] of 4 {aligned} commit wait 0 v: f32x4 = load(own, 4) s: f32 = hreduce(v) {sum}"


def run(body: str) -> dict[str, np.ndarray]:
    x = np.arange(512).astype(np.float32)
    return both(BODY.format(body), {"x": x, "y": np.zeros(128, np.float32)})


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
@pytest.mark.parametrize(
    "body",
    [
        f"{GOOD} store y[at] = s",
        f"{GOOD.replace(' {aligned}', '')} store y[at] = s",
        f"{GOOD} store own[0] = v w: f32x4 = load(own, 0) u: f32 = hreduce(w) {{sum}} store y[at] = u",
        "copy own[4] = x[four] of 4 commit copy own[0] = x[at] of 1 commit wait 1 v: f32x4 = load(own, 4) "
        "s: f32 = hreduce(v) {sum} store y[at] = s wait 0",
    ],
)
def test_copies(body: str) -> None:
    got = run(body)["y"]
    np.testing.assert_array_equal(got, np.arange(512).reshape(128, 4).sum(1))


@pytest.mark.parametrize(
    "body, message",
    [
        (
            "copy own[0] = x[four] of 4 commit wait 1 v: f32 = load(own, 0)",
            "element 0 of 'own' is read before its copy",
        ),
        (
            "copy own[0] = x[at] of 1 wait 0 v: f32 = load(own, 0)",
            "element 0 of 'own' is read before its copy has come",
        ),
        ("copy own[0] = x[at] of 1 store own[0] = 1.0:f32 commit wait 0", "'own' is written before its copy has come"),
        ("copy own[0] = x[at] of 1 copy own[0] = x[at] of 1 commit wait 0", "'own' is copied to before its copy"),
        ("copy own[0] = x[at] of 1 commit", "a thread ends before all that it copies to 'own' has come"),
        ("wait 0 v: f32 = load(own, 0)", "element 0 of 'own' is read before it is written"),
        ("copy own[2] = x[four] of 4 commit wait 0", "index 2 of 'own' is no multiple of 4"),
        ("copy own[8] = x[at] of 1 commit wait 0", "index 8 is outside buffer 'own' of 8 elements"),
        ("copy own[0] = x[512] of 1 commit wait 0", "index 512 is outside buffer 'x'"),
        ("copy own[0] = x[at] of 4 {aligned} commit wait 0", "index 1 of 'x' is no multiple of 4 elements"),
    ],
)
def test_the_interpreter_reports(body: str, message: str) -> None:
    func = parse(BODY.format(body))
    verify(func)
    with pytest.raises(InterpError, match=re.escape(message)):
        interpret(func, {"x": np.zeros(512, np.float32), "y": np.zeros(128, np.float32)}, {}, {})


@pytest.mark.parametrize(
    "body, message",
    [
        ("copy own[0] = x[at] of 1 commit v: f32 = load(own, 0)", "no wait comes before a load of 'own'"),
        ("copy own[0] = x[at] of 1 if true { wait 0 } v: f32 = load(own, 0)", "no wait comes before a load of 'own'"),
        ("copy own[0] = y[at] of 1 v: f32x3 = load(own, 0)", "'own' is accessed in 1, 2, 4, 8, ... consecutive lanes"),
        ("copy own[0] = x[four] of 3", "'own' is accessed in 1, 2, 4, 8, ... consecutive lanes without a mask"),
        ("v: f32x2 = gather(own, 0:i32x2)", "'own' is accessed in 1, 2, 4, 8, ... consecutive lanes without a mask"),
        ("store own[0] = 1.0:f32x2 {mask true:boolx2}", "'own' is accessed in 1, 2, 4, 8, ... consecutive lanes"),
        ("store own[0] = 1.0:f32x2 {hint aligned}", "a thread's own scratch 'own' takes no mark 'aligned'"),
        ("copy own[0] = own[4] of 1", "a copy is from a buffer to scratch of the thread's own in shared memory"),
        ("copy x[0] = y[0] of 1", "a copy is from a buffer to scratch of the thread's own in shared memory"),
        ("copy own[0] = x[0] of 1 {aligned}", "an aligned access has 2, 4, 8, ... lanes, not 1"),
        ("copy own[0] = x[0] of 2 {fast}", "unknown mark 'fast'"),
        ("copy own[0:i64] = x[0] of 2", "the index must be i32, not i64"),
    ],
)
def test_rules(body: str, message: str) -> None:
    with pytest.raises(VerifyError, match=re.escape(message)):
        verify(parse(BODY.format(body)))


def test_own_scratch_fits_a_block() -> None:
    text = BODY.format(GOOD)
    with pytest.raises(VerifyError, match="scratch of 256000 bytes in a block"):
        verify(parse(text.replace("f32[8]", "f32[2000]")))
    verify(parse(text.replace("f32[8]", "f32[1600]")))
    with pytest.raises(VerifyError, match="a copy of f32 to scratch of i32"):
        verify(parse(text.replace("own: f32", "own: i32").replace("v: f32x4", "v: i32x4")))


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_the_emulation_reports() -> None:
    buffers = {"x": np.zeros(512, np.float32), "y": np.zeros(128, np.float32)}
    with pytest.raises(EmulationError, match="a thread ends before 1 copies have come"):
        run_emulated(parse(BODY.format("copy own[4] = x[four] of 4 {aligned} commit")), buffers)
    with pytest.raises(EmulationError, match="a misaligned copy of 16 bytes"):
        run_emulated(parse(BODY.format(GOOD)), buffers, offsets={"x": 1})
    with pytest.raises(EmulationError, match="misaligned"):  # at once, and in registers' way
        run_emulated(parse(BODY.format(GOOD)), buffers, CudaTarget(7, 0), offsets={"x": 1})


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_what_has_not_come_is_not_there() -> None:
    """In every second block copies are late: a wait that is forgotten is seen."""
    body = GOOD.replace("wait 0", "wait 1") + " store y[at] = s wait 0"
    out = {"x": np.ones(512, np.float32), "y": np.zeros(128, np.float32)}
    execute(BODY.format(body), out)
    assert np.isnan(out["y"].reshape(4, 32)).all(1).tolist() == [True, False, True, False]


# --- schedules ------------------------------------------------------------------------------------


def norm32(b: Builder) -> Value:
    x = b.input(f32, (N, M))
    y = b.sub(x, b.div(b.reduce("sum", x, [1], keepdim=True), b.cast(b.scalar(M, BY_NAME["i64"]), f32)))
    return b.mul(y, b.rsqrt(b.reduce("sum", b.mul(y, y), [1], keepdim=True)))


def test_rows_that_leave_registers_for_one_block_go_to_shared_memory() -> None:
    s = gpu_kernel(graph_of(norm32), {"n": 256, "m": 200704}, H200).schedule
    assert (s.keep_in, s.keep, s.cluster, s.threads) == ("shared", "loads", 8, 512)
    func = gpu_kernel(graph_of(norm32), {"n": 256, "m": 200704}, H200).kernel.func
    assert 2 * (launches(func)[0].shared + (1 << 10)) <= 228 << 10
    for n, m in ((4096, 4096), (4096, 8192), (4, 20000)):
        assert gpu_kernel(graph_of(norm32), {"n": n, "m": m}, H200).schedule.keep_in == "registers"
    for m, cluster in ((10000, 2), (16384, 2), (32768, 4), (65536, 8)):  # at most 32 KB for each of the blocks
        s = gpu_kernel(graph_of(norm32), {"n": 4096, "m": m}, H200).schedule
        assert (s.keep_in, s.cluster, s.threads) == ("shared", cluster, 256)


def test_few_rows_are_shared_by_processors_that_would_be_idle() -> None:
    """A row of which eight blocks each fill the shared memory of a processor is read again where there are many."""
    few, many = (gpu_kernel(graph_of(norm32), {"n": n, "m": 400_000}, H200).schedule for n in (40, 4000))
    assert (few.mode, few.keep_in, few.cluster) == ("persistent", "shared", 8) and many.mode == "loop"


def test_sums_of_columns_leave_no_registers_for_long_rows() -> None:
    found = {
        m: gpu_kernel(graph_of(cases.CASES["rms_norm_backward"].program), {"n": 8192, "m": m}, H200) for m in COLUMNS
    }
    assert {m: (c.schedule.keep_in, c.schedule.threads) for m, c in found.items()} == COLUMNS


COLUMNS = {1024: ("registers", 256), 2048: ("registers", 512), 4096: ("shared", 512), 8192: ("shared", 512)}


@NEEDS_NVRTC
def test_two_blocks_of_long_rows_fit_a_multiprocessor() -> None:
    func = gpu_kernel(graph_of(norm32), {"n": 256, "m": 200704}, H200).kernel.func
    (r,) = nvrtc.report(nvrtc.compile(emit_cuda(func, CudaTarget(9, 0)), "sm_90")[0])
    (launch,) = launches(func)
    assert r.stack == 0
    assert 2 * launch.threads * r.registers <= H200.registers
    assert 2 * (launch.shared + r.shared + 1024) <= 228 << 10


def test_only_what_is_filled_asynchronously() -> None:
    for gpu, found in ((H200, True), (A100, True), (V100, False)):
        assert (in_shared(gpu, (1,), 4096, 16, 4096) is not None) is found
    assert in_shared(H200, (1,), 8192, 16, 4096) is None  # 128 KiB: two do not fit
    assert in_shared(H200, (1, 2), 8192, 16, 4096) == Held(2, 512, 8, "loads", "shared")
    held = in_shared(H200, (1, 2, 4, 8), 4096, 16, 20)  # few rows: more blocks for each
    assert held is not None
    assert held.cluster == 8


def test_bytes_of_a_row() -> None:
    c, _ = made("two types")  # bf16 and f32, not the weight
    assert row_bytes(c.built.fusion, c.schedule) == 32 * 4 * 8 * (2 + 4)
    c, _ = made("resident, ahead")
    one = dataclasses.replace(c.schedule, ahead=0)
    assert row_bytes(c.built.fusion, c.schedule) == 2 * row_bytes(c.built.fusion, one)
    allocs = [a for a in c.kernel.func.allocs if a.scope == "own"]
    held = sum(a.count.value * a.buf.dtype.itemsize for a in allocs) * c.schedule.threads  # type: ignore[union-attr]
    assert 0 < held <= row_bytes(c.built.fusion, c.schedule)


def test_only_what_every_column_has_is_counted() -> None:
    """What a row has for some of its axes of columns (weights of the channels of a group) is read into registers."""
    c = gpu_kernel(graph_of(group_norm(bf16, 8, 8)), {"n": 16, "m": 4096}, H200)
    s = c.schedule
    assert s.keep_in == "shared" and row_bytes(c.built.fusion, s) == s.threads * s.steps * s.lanes * bf16.itemsize
    (own,) = (a for a in c.kernel.func.allocs if a.scope == "own")
    assert own.count.value * s.threads * bf16.itemsize == row_bytes(c.built.fusion, s)  # type: ignore[union-attr]


def test_what_does_not_fit_is_illegal() -> None:
    with pytest.raises(Illegal, match="a block would need 262144 bytes of shared memory"):
        shared(cases.softmax, {"n": 4, "m": 65536}, row_threads=1, col_threads=1024, steps=16)
    with pytest.raises(Illegal, match="only a resident block"):
        shared(cases.softmax, {"n": 4, "m": 4096}, row_threads=1, col_threads=1024, steps=1, ahead=1)


def test_both_places_are_tried() -> None:
    for program, sizes, ahead in (
        (norm32, {"n": 256, "m": 200704}, {0}),
        (cases.rms_norm_backward, {"n": 4096, "m": 1024}, {0, 1, 2}),
    ):
        c = gpu_kernel(graph_of(program), sizes, H200)
        found = [v[1] for v in variants(c.built.fusion, c.schedule, Sizes(hint_of(sizes), H200))]  # type: ignore[arg-type]
        assert len(found) == len(set(found))
        assert {s.keep_in for s in found if s.mode == "persistent"} == {"registers", "shared"}
        assert {s.ahead for s in found} == ahead
        for v in variants(c.built.fusion, c.schedule, Sizes(hint_of(sizes), H200)):  # type: ignore[arg-type]
            if v[1].keep_in == "shared":
                verify(lower_gpu(v[0], v[1], "kernel").func)
