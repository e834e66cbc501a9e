"""GPU kernels of every family, interpreted, against the meaning of their graphs."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.dtypes import BY_NAME, DType, bf16, f32
from fusewright.core.errors import Refusal
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.loop.ir import Fail, For, If
from fusewright.loop.text import dump
from fusewright.schedule import gpu_tile
from fusewright.schedule.device import H200, Gpu
from fusewright.schedule.gpu import plan
from fusewright.schedule.gpu_base import PARTS
from tests.golden.cases import CASES
from tests.kernels import fusion_of, graph_of, random_inputs
from tests.kernels_gpu import SMALL, check_gpu, gpu_kernel, run_gpu, run_sized

N, M = sym("n"), sym("m")
ONE_SM = Gpu((9, 0), 1, 1 << 10, 227 << 10)  # less than a row of work fills it, and nothing fits its cache
MORE = ((257, 8), (3, 4096), (1, 40000), (64, 64), (130, 72), (1000, 48))


def values(name: str, n: int, m: int) -> tuple[object, list[np.ndarray], dict[str, int]]:
    case, sizes = CASES[name], {"n": n, "m": m}
    graph = graph_of(case.program)
    inputs = random_inputs(graph, sizes)
    if case.fix is not None:
        case.fix(inputs, sizes)
    return graph, inputs, sizes


@pytest.mark.every(6)
@pytest.mark.parametrize("gpu", [SMALL, H200, ONE_SM], ids=["small", "h200", "tiny"])
@pytest.mark.parametrize("name", CASES)
def test_families(name: str, gpu: Gpu) -> None:
    for n, m in (*CASES[name].sizes, *MORE):
        if m == 0 and not CASES[name].empty_columns:
            continue
        graph, inputs, sizes = values(name, n, m)
        if name == "rms_norm_backward" and m == 40000:  # a row does not fit the registers beside its column sums
            with pytest.raises(Refusal, match="columns too long"):
                gpu_kernel(graph, sizes, gpu)
            continue
        check_gpu(graph, sizes, inputs, gpu=gpu)


@pytest.mark.parametrize("name", ["embedding_backward", "scatter_add"])
def test_what_has_no_schedule_is_refused(name: str) -> None:
    """A scatter in the form that CPUs have; for GPUs it is collected."""
    with pytest.raises(Refusal, match="scatter has no GPU schedule"):
        plan(fusion_of(graph_of(CASES[name].program)).fusion, lambda e: 4, SMALL)


@pytest.mark.parametrize("alignment", [8, 4, 2])
def test_addresses_that_are_not_multiples_of_16(alignment: int) -> None:
    for name in ("broadcast", "softmax", "transpose", "outer_max"):
        graph, inputs, sizes = values(name, 64, 64)
        compiled = check_gpu(graph, sizes, inputs, alignment=alignment)
        small = min(b.dtype.itemsize for b in compiled.built.fusion.buffers if b.dtype.itemsize > 1)
        assert compiled.schedule.lanes <= max(1, alignment // small)


def shifted(b: Builder) -> Value:
    """Rows that cannot be one axis with the columns."""
    return b.mul(b.input(bf16, (N, M)), b.add(b.input(bf16, (N, 1)), b.input(bf16, (M,))))


@pytest.mark.parametrize(
    ("m", "threads", "lanes", "alignment"),
    [
        (768, 128, 8, 16),  # 96 vectors: rows follow each other, so that no thread is without one
        (11008, 128, 8, 16),
        (4096, 256, 8, 16),
        (248, 32, 8, 16),  # fewer vectors than a warp has threads
        (4000, 256, 8, 16),
        (28, 256, 4, 8),  # narrow vectors: rows follow each other, so that a thread has several
    ],
)
def test_tiles_without_partial_vectors(m: int, threads: int, lanes: int, alignment: int) -> None:
    """A row's last tile is like the others: what is beyond the row is its last vector again, and not stored."""
    graph = graph_of(shifted)
    for n in (1, 9, 50):
        c = check_gpu(graph, {"n": n, "m": m}, gpu=H200, alignment=alignment)
        check_gpu(graph, {"n": n, "m": m}, machine=run_sized, compiled=c)
        assert c.schedule.mode == "tile" and c.schedule.whole and c.schedule.lanes == lanes
        assert c.schedule.col_threads <= threads and "lanemask" not in dump(c.kernel.func)


@pytest.mark.parametrize(
    ("m", "threads", "steps", "cluster"),
    [
        (17, 8, 3, 1),  # single elements: as many threads as fill a sector, though a few more steps would do with two
        (526, 64, 5, 1),  # vectors of two: more steps of them, not threads without any
        (512, 64, 2, 1),
        (2048, 128, 4, 1),
        (8192, 256, 8, 1),  # much on its way in each thread, and no cluster
        (12288, 256, 6, 2),  # in shared memory
        (20000, 256, 5, 4),
    ],
)
def test_threads_of_a_row(m: int, threads: int, steps: int, cluster: int) -> None:
    s = gpu_kernel(graph_of(CASES["softmax"].program), {"n": 16_000, "m": m}, H200).schedule
    assert (s.col_threads, s.steps, s.cluster) == (threads, steps, cluster)


@pytest.mark.parametrize("name", ["shifted", "embedding", "dropout", "rope"])
@pytest.mark.parametrize("m", [40, 24, 296, 6])
def test_rows_of_a_tile_follow_each_other(name: str, m: int) -> None:
    """Where the vectors of one row would leave many threads without any."""
    graph = graph_of(CASES[name].program if name in CASES else {"shifted": shifted, "rope": rope}[name])
    for n in (1, 7, 300):
        sizes = {"n": n, "m": m}
        c = check_gpu(graph, sizes, gpu=H200)
        check_gpu(graph, sizes, machine=run_sized, compiled=c)
        one = name == "dropout" or (name, m) == ("shifted", 6)  # rows and columns are one axis
        if n > 1 and not one:
            assert len(c.schedule.cols) == 2 and c.schedule.whole and "lanemask" not in dump(c.kernel.func)


def test_rows_that_are_reused_are_not_among_those_that_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The heads of a rotary embedding, 10 vectors wide: a tile has neighbouring tokens, and several heads of each."""
    monkeypatch.setattr(gpu_tile, "NEAR", 0)

    def turned(b: Builder) -> Value:
        q = b.cast(b.input(bf16, (N, 40, M, 80)), f32)
        low, high = (b.slice(q, 3, k, 1, 40) for k in (0, 40))
        c = b.input(f32, (M, 80))
        return b.cast(b.mul(b.cat([b.neg(high), low], 3), c), bf16)

    sizes = {"n": 2, "m": 37}
    c = check_gpu(graph_of(turned), sizes, gpu=Gpu((9, 0), 1, 1 << 20, 227 << 10))
    assert c.schedule.repeat and c.schedule.repeat not in c.schedule.cols and len(c.schedule.cols) == 2


@pytest.mark.parametrize(
    ("k", "n", "m", "blocks"),
    [
        (16, 512, 128, 256),  # of 4 vectors there would be 128
        (4, 100, 1024, 256),
        (64, 100, 4096, 4096),  # enough of 16, which one block holds
        (1, 100, 512, 4),  # too few to fill processors, however they are spread
    ],
)
def test_few_rows_side_by_side(k: int, n: int, m: int, blocks: int) -> None:
    """Where the rows that lie side by side make few blocks, those have fewer of them: a sector's, at least."""

    def centred(b: Builder) -> Value:
        x = b.input(f32, (k, N, M))
        return b.sub(x, b.reduce("max", x, [1], keepdim=True))

    c = gpu_kernel(graph_of(centred), {"n": n, "m": m}, H200)
    s = c.schedule
    assert s.mode == "persistent" and s.row_threads * s.lanes * 4 >= 32
    assert k * -(-m // (s.row_threads * s.lanes)) == blocks
    sizes = {"n": 37, "m": m // 16}
    check_gpu(graph_of(centred), sizes, gpu=H200)


@pytest.mark.every(3)
@pytest.mark.parametrize(("m", "side"), [(8, 0), (16, 64), (32, 32), (40, 0), (96, 0), (1024, 1), (1000, 1)])
def test_a_block_of_rows_that_are_reused_has_several(m: int, side: int) -> None:
    """Of an image whose channels are few and come last: its weights are read once for several points. `side`: so many
    rows side by side, 0 where none is reused."""

    def scaled(b: Builder) -> Value:
        x, w, c = b.cast(b.input(bf16, (N, M)), f32), b.input(f32, (M,)), b.input(f32, (M,))
        return b.cast(b.add(b.mul(x, w), c), bf16)

    graph = graph_of(scaled)
    s = gpu_kernel(graph, {"n": 100_000, "m": m}, H200).schedule
    assert s.threads in (128, 256), "no blocks of a few threads"
    for n in (1, 65, 700, 1031):
        c = check_gpu(graph, {"n": n, "m": m})
        check_gpu(graph, {"n": n, "m": m}, machine=run_sized, compiled=c)
    assert bool(c.schedule.repeat) == bool(side) and (not side or c.schedule.row_threads == side)


@pytest.mark.parametrize(("m", "whole"), [(100_000, True), (100_001, False)])
def test_the_last_vector_of_a_flat_tile(m: int, whole: bool) -> None:
    graph = graph_of(lambda b: b.neg(b.input(f32, (M,))))
    c = check_gpu(graph, {"m": m}, gpu=H200)
    assert c.schedule.lanes == 4 and c.schedule.whole == whole


def row_sums(b: Builder) -> Value:
    return b.reduce("sum", b.input(f32, (N, M)), [1])


def column_sums(b: Builder) -> Value:
    return b.reduce("sum", b.input(f32, (N, M)), [0])


def centred(b: Builder) -> list[Value]:
    """What a row's mean leaves, and the largest of it: three passes."""
    x = b.input(f32, (N, M))
    y = b.sub(x, b.div(b.reduce("sum", x, [1], keepdim=True), b.cast(b.scalar(M, BY_NAME["i64"]), f32)))
    return [y, b.reduce("max", b.mul(y, y), [1])]


def softmax16(b: Builder) -> Value:
    x = b.cast(b.input(bf16, (N, M)), f32)
    e = b.exp(b.sub(x, b.reduce("max", x, [1], keepdim=True)))
    return b.cast(b.div(e, b.reduce("sum", e, [1], keepdim=True)), bf16)


@pytest.mark.parametrize(("n", "m"), [(3, 40), (2, 200), (1, 3000)])
def test_a_sum_of_negative_zeros_is_zero(n: int, m: int) -> None:
    """As of any sum that starts at 0: -0 less the mean 0 is -0 (less -0 it would be 0)."""
    graph, sizes = graph_of(centred), {"n": n, "m": m}
    compiled = gpu_kernel(graph, sizes)
    assert compiled.schedule.mode == "persistent"
    got = run_gpu(compiled, [np.full((n, m), -0.0, np.float32)], sizes)[graph.outputs[0]]
    assert np.signbit(got).all()


@pytest.mark.parametrize(
    ("program", "n", "m", "mode"),
    [
        (row_sums, 500, 96, "persistent"),
        (row_sums, 500, 128, "loop"),
        (row_sums, 1, 1 << 16, "split"),
        (row_sums, 2, 33333, "split"),
        (column_sums, 3000, 40, "split"),
        (column_sums, 70, 4096, "loop"),
        (centred, 100, 200, "persistent"),
        (centred, 1, 40000, "split"),
        (centred, 900, 20001, "persistent"),
        (centred, 900, 320001, "loop"),
        (softmax16, 64, 1024, "persistent"),
        (softmax16, 1, 70000, "split"),
    ],
)
def test_modes(program: object, n: int, m: int, mode: str) -> None:
    gpu = Gpu((9, 0), 16, 1 << 20, 227 << 10)
    graph = graph_of(program)  # type: ignore[arg-type]
    if n * m > 1 << 20:
        assert gpu_kernel(graph, {"n": n, "m": m}, gpu).schedule.mode == mode
        n //= 300
        compiled = gpu_kernel(graph, {"n": n, "m": m}, Gpu((9, 0), 1, 1 << 20, 227 << 10))
        assert compiled.schedule.mode == mode
        return
    compiled = check_gpu(graph, {"n": n, "m": m}, gpu=gpu)
    assert compiled.schedule.mode == mode


def moments(b: Builder) -> list[Value]:
    """Mean and variance of each row."""
    x = b.input(f32, (N, M))
    size = b.cast(b.scalar(M, BY_NAME["i64"]), f32)
    mean = b.div(b.reduce("sum", x, [1], keepdim=True), size)
    d = b.sub(x, mean)
    return [mean, b.div(b.reduce("sum", b.mul(d, d), [1]), b.reshape(size, ()))]


def log_sum_exp(b: Builder) -> list[Value]:
    x = b.input(f32, (N, M))
    top = b.reduce("max", x, [1], keepdim=True)
    return [b.add(b.log(b.reduce("sum", b.exp(b.sub(x, top)), [1], keepdim=True)), top)]


def column_moments(b: Builder, dtype: DType = f32) -> list[Value]:
    x = b.cast(b.input(dtype, (N, M)), f32)
    size = b.cast(b.scalar(N, BY_NAME["i64"]), f32)
    mean = b.div(b.reduce("sum", x, [0], keepdim=True), size)
    d = b.sub(x, mean)
    return [b.reduce("sum", b.mul(d, d), [0])]


@pytest.mark.parametrize("sms", [1, 16])
@pytest.mark.parametrize("program", [moments, log_sum_exp, softmax16, column_moments])
def test_long_rows_are_read_once(program: object, sms: int) -> None:
    """Sums that wait for a maximum or a mean are combined on the fly when a row does not fit registers."""
    gpu = Gpu((8, 0), sms, 1 << 20, 227 << 10)
    n, m = ((70000, 3) if sms > 1 else (9000, 67)) if program is column_moments else (3, 70000)
    compiled = check_gpu(graph_of(program), {"n": n, "m": m}, gpu=gpu)  # type: ignore[arg-type]
    assert compiled.schedule.mode == ("split" if sms == 16 else "loop")
    walks = [g for g in compiled.kernel.func.body if "pass" in g.what]  # type: ignore[union-attr]
    if compiled.schedule.mode == "split":
        assert len(walks) == (2 if program is softmax16 else 1)


@pytest.mark.parametrize(("capability", "sms"), [((8, 0), 1), ((8, 0), 32), ((9, 0), 1)])
@pytest.mark.parametrize("program", [moments, log_sum_exp, softmax16])
@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_long_rows_with_infinities_and_nans(
    program: object, capability: tuple[int, int], sms: int, special: float
) -> None:
    """One infinity or NaN in a row, a row of nothing else, and one that begins with many."""
    gpu = Gpu(capability, sms, 1 << 20, 227 << 10)
    sizes = {"n": 4, "m": 70000}
    graph = graph_of(program)  # type: ignore[arg-type]
    inputs = random_inputs(graph, sizes)
    inputs[0][0, 12345] = special
    inputs[0][1] = special
    inputs[0][2, :40000] = special
    check_gpu(graph, sizes, inputs, gpu=gpu)


@pytest.mark.parametrize(("capability", "sms"), [((8, 0), 1), ((8, 0), 32), ((9, 0), 1)])
def test_a_variance_of_numbers_whose_squares_overflow(capability: tuple[int, int], sms: int) -> None:
    """No deviation is as large as they are, not even that from the mean of no points, which does not count."""
    sizes = {"n": 2, "m": 70000}
    graph = graph_of(moments)
    inputs = [np.full((2, 70000), 2.0**70, np.float32)]
    inputs[0][1] *= -1
    check_gpu(graph, sizes, inputs, gpu=Gpu(capability, sms, 1 << 20, 227 << 10))


def test_a_large_mean_does_not_spoil_a_variance() -> None:
    sizes = {"n": 2, "m": 70000}
    graph = graph_of(moments)
    (x,) = random_inputs(graph, sizes)
    x += 1e4
    x[:, 0] = -1e4
    compiled = gpu_kernel(graph, sizes, Gpu((9, 0), 1, 1 << 20, 227 << 10))
    got = run_gpu(compiled, [x], sizes)[graph.outputs[1]]
    want = np.var(x.astype(np.float64), axis=1)
    np.testing.assert_allclose(got, want, rtol=2e-6)


def test_a_kernel_is_for_all_sizes_of_its_schedule() -> None:
    """Sizes are arguments: as long as the schedule is the same, so is the text."""
    graph = graph_of(softmax16)
    texts = {dump(gpu_kernel(graph, {"n": n, "m": 1024}, H200).kernel.func) for n in (4000, 5001, 6000, 8190)}
    assert len(texts) == 1


def test_large_tensors_have_wide_indices() -> None:
    graph = graph_of(row_sums)
    assert gpu_kernel(graph, {"n": 1 << 16, "m": 1 << 16}, H200).schedule.index == 64
    assert gpu_kernel(graph, {"n": 1 << 10, "m": 1 << 10}, H200).schedule.index == 32


def loss(b: Builder) -> list[Value]:
    """The sum over all rows of what a loop gives for each."""
    return [b.reduce("sum", log_sum_exp(b)[0], [0, 1])]


@pytest.mark.parametrize(
    ("n", "blocks"), [(3, 3), (700, 700), (PARTS, PARTS), (PARTS + 1, PARTS // 2 + 1), (3 * PARTS, PARTS)]
)
def test_blocks_with_results_over_rows_take_turns(n: int, blocks: int) -> None:
    """There are more blocks than fit, so that none waits for a slow one, but no more than are combined in no time."""
    compiled = gpu_kernel(graph_of(loss), {"n": n, "m": 70000}, ONE_SM)
    assert (compiled.schedule.mode, compiled.schedule.resident) == ("loop", True)
    assert compiled.launch == {"blocks": blocks}
    assert compiled.kernel.func.body[0].beside == 0  # type: ignore[union-attr]
    if n == 3:
        check_gpu(graph_of(loss), {"n": n, "m": 70000}, gpu=ONE_SM)


def picked(b: Builder) -> list[Value]:
    """What an index picks of each row, less what a loop gives for the row; the sum of that."""
    x, at = b.input(f32, (N, M)), b.input(BY_NAME["i64"], (N,))
    top = b.reduce("max", x, [1], keepdim=True)
    total = b.log(b.reduce("sum", b.exp(b.sub(x, top)), [1], keepdim=True))
    mine = b.gather(x, [at], (N,), [("dim", 0), ("at", 0, (0,))])
    return [b.reduce("sum", b.sub(mine, b.reshape(b.add(total, top), (N,))), [0])]


def test_no_pass_waits_for_an_index_that_is_used_after_it() -> None:
    """It is checked all the same."""
    n, m = sizes = (5, 3000)
    graph = graph_of(picked)
    x, _ = random_inputs(graph, dict(zip("nm", sizes, strict=True)))
    good, bad = np.array([0, 2999, 7, 1, 5]), np.array([0, 2999, 7, 1, m])
    compiled = check_gpu(graph, {"n": n, "m": m}, [x, good], gpu=ONE_SM)
    assert compiled.schedule.mode == "loop"
    (tiles,) = (s for s in compiled.kernel.func.body[0].body if isinstance(s, For))  # type: ignore[union-attr]
    kinds = [
        type(s)
        for s in tiles.body
        if isinstance(s, For) or (isinstance(s, If) and s.orelse and isinstance(s.orelse[0], Fail))
    ]
    assert kinds[-1] is If and For in kinds
    with pytest.raises(AssertionError, match="reported failure"):
        run_gpu(compiled, [x, bad], {"n": n, "m": m})


def rope(b: Builder) -> Value:
    """x * c + cat(-x[half:], x[:half]) * s"""
    x, c, s = b.input(bf16, (N, 2 * M)), b.input(f32, (2 * M,)), b.input(f32, (2 * M,))
    low, high = b.slice(x, 1, 0, 1, M), b.slice(x, 1, M, 1, M)
    turned = b.cast(b.cat([b.neg(high), low], 1), f32)
    return b.cast(b.add(b.mul(b.cast(x, f32), c), b.mul(turned, s)), bf16)


@pytest.mark.parametrize(("m", "uniform"), [(64, True), (8, True), (4, True), (20, True), (3, False), (7, False)])
def test_pieces_that_do_not_divide_a_vector_are_read_whole(m: int, uniform: bool) -> None:
    compiled = check_gpu(graph_of(rope), {"n": 9, "m": m})
    assert compiled.schedule.uniform == uniform
    assert (compiled.schedule.lanes > 1) == uniform


def padded(b: Builder) -> Value:
    """[n, m] out of rows of m + 35, with so many ones behind each row, too many to read what is there all the same."""
    x = b.slice(b.input(f32, (N, M + 35)), 1, 0, 1, M)
    return b.exp(b.pad(x, [0, 0], [0, 35], b.const(1.0, f32)))


@pytest.mark.parametrize("m", [1, 5, 57, 129])
def test_vectors_on_a_border_are_read_lane_by_lane_and_others_whole(m: int) -> None:
    compiled = check_gpu(graph_of(padded), {"n": 9, "m": m})
    assert (compiled.schedule.lanes, compiled.schedule.uniform) == (4, False)
    assert "maybe" in dump(compiled.kernel.func)


@pytest.mark.parametrize("m", [1, 5, 57, 129])
def test_a_few_columns_that_are_there_are_read_without_a_condition(m: int) -> None:
    def program(b: Builder) -> Value:
        x = b.slice(b.input(f32, (N, M + 3)), 1, 0, 1, M)
        return b.exp(b.pad(x, [0, 0], [0, 3], b.const(1.0, f32)))

    compiled = check_gpu(graph_of(program), {"n": 9, "m": m})
    assert compiled.schedule.lanes == 4
    assert "maybe" not in dump(compiled.kernel.func)
