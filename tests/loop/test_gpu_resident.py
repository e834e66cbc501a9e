"""Resident blocks: what they ask for ahead, what their reductions share, and vectors that registers have room for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusewright.build import nvrtc
from fusewright.core.dtypes import DType, bf16, f16, f32, i64
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.gpu import lower_gpu
from fusewright.loop.ir import For, Let, Store, walk
from fusewright.loop.verify import verify
from fusewright.schedule.device import H200
from tests.emulate.cuda import COMPILER, run_emulated
from tests.golden.cases import _mean
from tests.kernels import graph_of
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, run_sized

N, M = sym("n"), sym("m")
MACHINES = [{}, {"machine": run_sized}, *([{"machine": run_emulated}] if COMPILER is not None else [])]


def norm_backward(dtype: DType, drop: bool, stats: DType = f32, rms: bool = False, gelu: bool = False) -> object:
    """The gradients of a norm, of its weight and its bias; behind a bias and dropout, whose mask is drawn again, or a
    GELU."""

    def program(b: Builder) -> list[Value]:
        x, grad = (b.cast(b.input(dtype, (N, M)), f32) for _ in range(2))
        mean, rstd = (b.cast(b.input(stats, (N, 1)), f32) for _ in range(2))
        weight = b.cast(b.input(dtype, (M,)), f32)
        share = b.mul(b.add(b.erf(b.mul(x, b.const(0.5**0.5, f32))), b.const(1.0, f32)), b.const(0.5, f32))
        slope = b.add(share, b.mul(x, b.exp(b.mul(b.mul(x, x), b.const(-0.5, f32)))))
        x = b.mul(x, share) if gelu else x
        y = b.mul(x if rms else b.sub(x, mean), rstd)
        g = b.mul(grad, weight)
        inner = b.mul(y, _mean(b, b.mul(g, y), 1, M))
        rest = g if rms else b.sub(g, _mean(b, g, 1, M))
        dx = b.mul(rstd, b.sub(rest, inner))
        dx = b.mul(dx, slope) if gelu else dx
        out = [dx, b.reduce("sum", b.mul(grad, y), [0]), *([] if rms else [b.reduce("sum", grad, [0])])]
        if drop:
            keep = b.ge(b.random(b.input(i64, (1,)), 0, (N, M), "uniform", f32), b.const(0.1, f32))
            dropped = b.mul(dx, b.where(keep, b.const(1 / 0.9, f32), b.const(0.0, f32)))
            out += [dropped, b.reduce("sum", dropped, [0])]
        return [b.cast(v, dtype) for v in out]

    return program


def made(program: object, n: int, m: int, **fields: object) -> tuple[GpuCompiled, dict[str, int]]:
    sizes = {"n": n, "m": m}
    c = gpu_kernel(graph_of(program), sizes, H200)  # type: ignore[arg-type]
    if fields:
        c.schedule = replace(c.schedule, **fields)
        c.kernel = lower_gpu(c.built.fusion, c.schedule, "kernel")
        verify(c.kernel.func)
    return c, sizes


def loop_of(c: GpuCompiled) -> For:
    (found,) = (s for s in c.kernel.func.body[0].body if isinstance(s, For) and s.var.name.startswith("tile"))
    return found


# --- what is read once for a row -----------------------------------------------------------------------------------


@pytest.mark.every(3)
@pytest.mark.parametrize("stats", [f32, bf16, f16])
@pytest.mark.parametrize("fields", [{}, {"row_threads": 4, "col_threads": 32, "steps": 2}])
def test_what_a_row_has_once_is_asked_for_ahead(stats: DType, fields: dict[str, object]) -> None:
    """Rows for all blocks and for some of them; several side by side, of which some do not exist."""
    for n in (1, 3, 41):
        c, sizes = made(norm_backward(f32, False, stats), n, 256, **fields)
        c.launch = {**c.launch, "blocks": 2}
        for machine in MACHINES:
            check_gpu(c.graph, sizes, compiled=c, **machine)  # type: ignore[arg-type]
    inside = list(walk(loop_of(c).body))
    once = [s for s in inside if isinstance(s, Let) and s.op == "load" and s.buf.name.startswith("once")]
    read = {s.args[0].name for s in inside if isinstance(s, Let) and s.op == "load" and s.buf.name in ("in1", "in2")}
    assert len(once) == 2 and read
    assert loop_of(c).var.name not in read  # not of the row at hand
    first = next(k for k, s in enumerate(inside) if isinstance(s, Store) and s.buf.name.startswith("once"))
    assert all(inside.index(s) < first for s in once)


def test_16_bit_numbers_are_asked_for_as_they_are() -> None:
    """A conversion would wait for them."""
    c, _ = made(norm_backward(f32, False, bf16), 41, 256)
    text = emit_cuda(c.kernel.func, CudaTarget(9, 0))
    assert text.count("once0[0] = __ldg(") == 2 and text.count("fw_bf16_f32(once0[0])") == 1


# --- reductions of a row -------------------------------------------------------------------------------------------


def test_the_sums_of_a_row_share_a_barrier() -> None:
    c, sizes = made(norm_backward(f32, True), 41, 1024)
    c.launch = {**c.launch, "blocks": 2}
    for machine in MACHINES:
        check_gpu(c.graph, sizes, compiled=c, **machine)  # type: ignore[arg-type]
    text = emit_cuda(c.kernel.func, CudaTarget(9, 0))
    loop = text[text.index("for (int tile") :]
    loop = loop[: loop.index("\n  }\n")]
    assert loop.count("fw_sum_f32x2_") == 1 and "fw_half2 ^=" in loop and "__syncthreads" not in loop


def test_rows_of_a_block_do_not_wait_for_each_other() -> None:
    """Each row has a barrier of its own, unless blocks are so small that they would be too few for that."""
    c, _ = made(norm_backward(f32, True), 65536, 1024)
    assert (c.schedule.row_threads, c.schedule.col_threads) == (8, 64)
    text = emit_cuda(c.kernel.func, CudaTarget(9, 0))
    device = text[: text.index('extern "C"')]
    assert "bar.sync" in device and "fw_group_barrier<64>();" in device
    small = replace(c.schedule, row_threads=4, alone=False)
    text = emit_cuda(lower_gpu(c.built.fusion, small, "k").func, CudaTarget(9, 0))
    assert "bar.sync" not in text


# --- lanes ---------------------------------------------------------------------------------------------------------

# dtype, dropout, RMS norm, columns -> threads, steps, lanes, whether a block has a processor alone, rows on their way
WIDTHS = [
    (bf16, False, False, 4096, (256, 2, 8, True, 2)),  # rather than many threads of one vector each
    (bf16, False, False, 3200, (256, 2, 8, True, 2)),
    (bf16, False, False, 1024, (128, 2, 4, False, 0)),  # narrower vectors are enough
    (bf16, False, False, 5120, (256, 3, 8, True, 1)),  # fewer idle threads than in registers
    (bf16, True, False, 768, (64, 3, 4, True, 0)),  # more idle ones in a ring
    (bf16, True, False, 2560, (256, 3, 4, True, 0)),
    (bf16, True, False, 1024, (64, 2, 8, True, 2)),  # as many bytes as of one row of float32
    (bf16, True, True, 1024, (64, 2, 8, True, 2)),
    (bf16, True, True, 4096, (256, 2, 8, True, 2)),
    (bf16, True, False, 4096, (256, 2, 8, True, 2)),
    (bf16, True, False, 8192, (512, 4, 4, True, 0)),  # in a ring a block would have one row at a time
    (bf16, True, False, 384, (128, 1, 4, False, 0)),  # so few threads for a row that a block would have many rows
    (f32, True, False, 512, (64, 2, 4, True, 0)),
    (f32, True, False, 1024, (256, 1, 4, False, 0)),  # few rows for each group of threads
    (f32, False, False, 1024, (256, 1, 4, False, 0)),
    (f32, True, False, 2560, (128, 5, 4, True, 1)),
    (f32, True, False, 4096, (256, 4, 4, True, 1)),
    (f32, False, False, 8192, (512, 4, 4, True, 1)),
]


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype, drop, rms, m, want", WIDTHS)
def test_vectors_are_as_wide_as_registers_allow(
    dtype: DType, drop: bool, rms: bool, m: int, want: tuple[int, int, int, bool, int]
) -> None:
    c, _ = made(norm_backward(dtype, drop, rms=rms), 8192, m)
    s = c.schedule
    assert (s.col_threads, s.steps, s.lanes, s.alone, s.ahead) == want and s.resident
    assert s.keep_in == ("shared" if s.ahead else "registers")
    assert c.launch["blocks"] == 132 if s.alone else c.launch["blocks"] * s.threads == 132 * 1024
    text = emit_cuda(c.kernel.func, CudaTarget(9, 0))
    # a compiler that is not told that a block is alone saves registers for another, and spills
    assert f"__launch_bounds__({s.threads}, {1 if s.alone else 1024 // s.threads})" in text
    try:
        cubin, _ = nvrtc.compile(text, "sm_90")
    except Exception:
        pytest.skip("needs NVRTC")
    # with all the registers that a thread can have there, a few words do not matter (0.94 of the copy speed)
    assert nvrtc.report(cubin)[0].stack <= (24 if s.alone else 0)


def test_blocks_that_are_alone_compute_the_same() -> None:
    for dtype, m in ((bf16, 1024), (bf16, 768), (f32, 512)):
        c, _ = made(norm_backward(dtype, True), 8192, m)
        assert c.schedule.alone
        c.launch = {**c.launch, "blocks": 3}
        for machine in MACHINES:
            check_gpu(c.graph, {"n": 41, "m": m}, compiled=c, **machine)  # type: ignore[arg-type]


def test_dear_arithmetic_is_done_while_the_next_row_is_on_its_way() -> None:
    for dtype, gelu, found in (
        (f32, True, ("shared", 1)),
        (bf16, False, ("registers", 0)),
        (bf16, True, ("shared", 2)),
    ):
        c, _ = made(norm_backward(dtype, False, gelu=gelu), 65536, 1024)
        assert (c.schedule.keep_in, c.schedule.ahead) == found


def test_rows_in_a_ring_are_no_more_than_shared_memory_has_room_for() -> None:
    half = replace(H200, shared=100 << 10)
    for gpu, ahead in ((H200, 1), (half, 0)):
        c = gpu_kernel(graph_of(norm_backward(f32, True)), {"n": 65536, "m": 1024}, gpu)  # type: ignore[arg-type]
        assert c.schedule.ahead == ahead


def test_narrower_vectors_compute_the_same() -> None:
    c, _ = made(norm_backward(bf16, True), 8192, 768)
    assert c.schedule.lanes == 4
    c.launch = {**c.launch, "blocks": 3}
    check_gpu(c.graph, {"n": 9, "m": 768}, compiled=c)


def divergence(b: Builder) -> Value:
    """The mean over rows of the divergence of two softmaxes: passes over a row, and one number of all rows."""
    x, y = (b.cast(b.input(bf16, (N, M)), f32) for _ in range(2))
    logs = []
    for v in (x, y):
        shifted = b.sub(v, b.reduce("max", v, [1], keepdim=True))
        logs.append(b.sub(shifted, b.log(b.reduce("sum", b.exp(shifted), [1], keepdim=True))))
    each = b.reduce("sum", b.mul(b.exp(logs[1]), b.sub(logs[1], logs[0])), [1])
    return b.reduce("sum", each, [0])


@pytest.mark.parametrize(
    ("n", "m", "shape", "cluster", "resident"),
    [
        (4096, 1000, (4, 32), 1, False),
        (4096, 12000, (1, 256), 1, False),
        (4096, 32000, (1, 256), 2, False),
        (64, 32000, (1, 256), 4, False),
        (4096, 600000, (1, 1024), 1, True),  # read again
        (1 << 20, 80, (128, 4), 1, False),
        (1 << 18, 3, (32, 4), 1, True),  # or blocks would have little to read
        (1 << 24, 80, (8, 16), 1, True),  # blocks of a row or a few would leave too many numbers
    ],
)
def test_rows_that_are_summed_up(n: int, m: int, shape: tuple[int, int], cluster: int, resident: bool) -> None:
    """Each block, or cluster, has its own; nothing spills."""
    c, _ = made(divergence, n, m)
    s = c.schedule
    assert (s.row_threads, s.col_threads) == shape and (s.cluster, s.resident) == (cluster, resident), s
    if m < 100_000:
        check_gpu(c.graph, {"n": 5, "m": m}, compiled=c, tolerance=1e-3)
        check_gpu(graph_of(divergence), {"n": 1, "m": m}, gpu=H200, tolerance=1e-3)
    if nvrtc.available():
        code, _ = nvrtc.compile(emit_cuda(c.kernel.func, CudaTarget(9, 0)), "sm_90")
        assert all(r.stack == 0 for r in nvrtc.report(code))
