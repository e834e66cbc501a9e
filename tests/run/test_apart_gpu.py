"""Rows that are read along one axis and written along another, and rows in strips that are walked twice, become two
kernels on a GPU, and what runs is eager's.

The kernels are emulated on the CPU.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright import compile_gpu
from fusewright.core.errors import FusewrightWarning
from fusewright.debug import record
from fusewright.debug.record import GraphRecord, GroupRecord
from fusewright.schedule import apart, crossed
from fusewright.schedule.device import Gpu
from tests.emulate.cuda import COMPILER
from tests.emulate.driver import SMALL, emulated_gpu
from tests.support import clone_like, counted, counters

pytestmark = pytest.mark.skipif(not COMPILER, reason="no C++ compiler")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small tensors are cut as large ones are."""
    monkeypatch.setattr(apart, "LEAST", 1)
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def last(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    x = torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(0))
    return x.to(memory_format=torch.channels_last) if len(shape) == 4 else x


def compiled(fn: Callable[..., Any], *args: torch.Tensor, gpu: Gpu = SMALL, **options: Any) -> tuple[Any, GraphRecord]:
    torch._dynamo.reset()
    with (
        emulated_gpu(gpu),
        fusewright.options(disk_cache=False, fallback=False, **options),
        record.recording() as graphs,
    ):
        with torch.no_grad():
            out = torch.compile(fn, backend="fusewright")(*clone_like(args))
    return out, graphs[0]


def group_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """As on CUDA: of the contiguous input, whatever its layout is."""
    return F.silu(F.group_norm(x.contiguous(), 4, w, b))


@pytest.mark.every(4)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(2, 32, 8, 8), (3, 24, 5, 7), (1, 64, 16, 16), (2, 16, 17, 1)])
def test_group_norm_of_channels_last(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x, w, b = last(*shape, dtype=dtype), last(shape[1], dtype=dtype), last(shape[1], dtype=dtype)
    got, graph = compiled(group_norm, x, w, b)
    want = group_norm(x, w, b)
    exact = group_norm(x.double(), w.double(), b.double())
    assert got.dtype == want.dtype and got.stride() == want.stride()
    error, theirs = ((t.double() - exact).abs().max() for t in (got, want))
    assert error <= max(theirs * 1.5, 1e-6), (error, theirs)
    runs = shape[2] * shape[3] >= crossed.SIDE
    assert len(graph.groups) == (2 if runs else 1)
    if runs:
        stored = sum(v.numel.evaluate({}) for v in graph.groups[0].plan.group.outputs)
        assert stored <= 2 * shape[0] * 4, "the first kernel leaves what groups have once"


@pytest.mark.parametrize("shape", [(32, 64), (40, 20), (17, 33)])
def test_softmax_of_the_transposed(shape: tuple[int, int]) -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x.t() * 2.0, -1).contiguous()

    x = last(*shape)
    got, graph = compiled(fn, x)
    torch.testing.assert_close(got, fn(x), rtol=1e-6, atol=1e-7)
    assert got.is_contiguous() and len(graph.groups) == 2
    assert graph.groups[1].plan.group.again


def test_not_numbers_are_where_eager_has_them() -> None:
    x = last(2, 32, 8, 8)
    x[0, 3, 2, 2], x[1, 9, 0, 0] = float("nan"), float("inf")
    w, b = last(32), last(32)
    got, graph = compiled(group_norm, x, w, b)
    assert len(graph.groups) == 2
    torch.testing.assert_close(got, group_norm(x, w, b), equal_nan=True, rtol=1e-5, atol=1e-5)


def copied(x: torch.Tensor) -> torch.Tensor:
    y = x * 2.0
    out = torch.softmax(y.t(), -1).contiguous()
    x.copy_(y)
    return out


def doubled(x: torch.Tensor) -> torch.Tensor:
    x.mul_(2.0)
    return torch.softmax(x.t(), -1).contiguous()


def doubled_after(x: torch.Tensor) -> torch.Tensor:
    """The old contents are wanted again after the new ones are there."""
    old = x + 1.0
    x.mul_(2.0)
    return torch.softmax(x.t() * old.t(), -1).contiguous()


@pytest.mark.parametrize("fn", [copied, doubled, doubled_after])
def test_an_input_that_is_written(fn: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """What the second computes again it computes of the input as it was."""
    torch._dynamo.reset()
    x = last(32, 64)
    mine, theirs = x.clone(), x.clone()
    with emulated_gpu(), fusewright.options(disk_cache=False, fallback=False), record.recording() as graphs:
        got = torch.compile(fn, backend="fusewright")(mine)
    assert len(graphs[0].groups) == 2
    torch.testing.assert_close(got, fn(theirs), rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(mine, theirs)


def test_sizes_change() -> None:
    """The same two kernels' rules, for other sizes; where there is nothing to turn any more, too."""
    with emulated_gpu(), fusewright.options(disk_cache=False, fallback=False), torch.no_grad():
        f = torch.compile(group_norm, backend="fusewright", dynamic=True)
        for shape in ((2, 32, 8, 8), (3, 32, 6, 10), (2, 32, 1, 1), (5, 32, 16, 3)):
            x, w, b = last(*shape), last(32), last(32)
            torch.testing.assert_close(f(x, w, b), group_norm(x, w, b), rtol=1e-5, atol=1e-5)


def test_one_layout_is_one_kernel() -> None:
    w, b = last(32), last(32)
    x = torch.randn(2, 32, 8, 8)
    assert len(compiled(group_norm, x, w, b)[1].groups) == 1
    y = last(2, 32, 8, 8)
    assert len(compiled(batch_norm, y, w, b)[1].groups) == 1


def batch_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.relu(F.batch_norm(x, None, None, w, b, True))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((4, 100, 37, 41), torch.float32),
        ((3, 20, 70, 70), torch.float32),
        ((9, 20, 70, 71), torch.float16),
        ((5, 100, 61, 53), torch.bfloat16),
    ],
)
def test_strips_that_are_walked_twice(shape: tuple[int, ...], dtype: torch.dtype, monkeypatch: Any) -> None:
    """A batch norm of channels-last memory, of more than the L2 cache has: statistics first, then the rest."""
    x, w, b = last(*shape, dtype=dtype), last(shape[1]), last(shape[1])
    monkeypatch.setattr(apart, "MUCH", 1000)
    assert len(compiled(batch_norm, x, w, b)[1].groups) == 1
    monkeypatch.setattr(apart, "MUCH", 0)
    got, graph = compiled(batch_norm, x, w, b)
    first, second = (g.plan.group for g in graph.groups)
    assert sum(v.numel.evaluate({}) for v in first.outputs) <= 2 * shape[1] and not any(
        e.op == "reduce" for e in second.eqns
    )
    exact = batch_norm(x.double(), w.double(), b.double())
    want = batch_norm(x, w, b)
    assert got.dtype == want.dtype and got.stride() == want.stride()
    error, theirs = ((t.double() - exact).abs().max() for t in (got, want))
    assert error <= max(theirs * 1.5, 1e-6), (error, theirs)


@pytest.mark.parametrize(("shape", "apart_"), [((7, 3, 120, 119), True), ((7, 3, 40, 30), False)])
def test_rows_that_are_read_again(shape: tuple[int, ...], apart_: bool) -> None:
    """A batch norm of contiguous memory, whose rows no block holds: all at once are more than the L2 cache has."""
    x, w, b = torch.randn(shape, generator=torch.Generator().manual_seed(1)), last(3), last(3)
    got, graph = compiled(batch_norm, x, w, b, gpu=Gpu((7, 0), 2, 1 << 17, 48 << 10))
    assert len(graph.groups) == 1 + apart_
    torch.testing.assert_close(got, batch_norm(x, w, b), rtol=1e-5, atol=1e-5)


def soft(x: torch.Tensor) -> torch.Tensor:
    return x.square().softmax(1)


def centred(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(1, keepdim=True)) * (x.var(1, keepdim=True) + 1e-5).rsqrt()


@pytest.mark.parametrize("fn", [soft, centred])
@pytest.mark.parametrize(
    ("shape", "dtype", "apart_"),
    [
        ((2, 40000, 3), torch.float32, True),
        ((2, 9000, 7), torch.bfloat16, True),
        ((2, 40000, 4), torch.float32, False),  # vectors
        ((2, 9, 3), torch.float32, False),  # blocks hold rows
    ],
)
def test_rows_without_vectors_that_are_read_again(
    fn: Callable[[torch.Tensor], torch.Tensor], shape: tuple[int, ...], dtype: torch.dtype, apart_: bool
) -> None:
    """An elementwise kernel, which takes rows as one, has vectors."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2)).to(dtype)
    got, graph = compiled(fn, x)
    assert len(graph.groups) == 1 + apart_
    exact, want = fn(x.double()), fn(x)
    error, theirs = ((t.double() - exact).abs().max() for t in (got, want))
    assert error <= max(1.5 * theirs, 1e-6), (error, theirs)


def test_strips_of_a_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MUCH", 0)
    x, w, b = (t.requires_grad_() for t in (last(3, 20, 70, 70), last(20), last(20)))
    with emulated_gpu(), fusewright.options(disk_cache=False, fallback=False), record.recording() as graphs:
        out = torch.compile(batch_norm, backend="fusewright")(x, w, b)
        grad = last(*out.shape)
        mine = torch.autograd.grad(out, (x, w, b), grad)
    assert [len(g.groups) for g in graphs] == [2, 2]
    theirs = torch.autograd.grad(batch_norm(x, w, b), (x, w, b), grad)
    doubles = [t.detach().double().requires_grad_() for t in (x, w, b)]
    exact = torch.autograd.grad(batch_norm(*doubles), doubles, grad.double())
    for got, want, e in zip(mine, theirs, exact, strict=True):
        error, eagers = ((t.double() - e).abs().max() for t in (got, want))
        assert error <= max(2 * eagers, 1e-6 * e.abs().max()), (error, eagers)
        assert got.stride() == want.stride()


def test_little_data_is_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another launch would cost more."""
    monkeypatch.setattr(apart, "LEAST", 1 << 20)
    assert len(compiled(group_norm, last(2, 32, 8, 8), last(32), last(32))[1].groups) == 1


def test_through_torch_when_a_kernel_cannot_run() -> None:
    """The second computes what it needs of the first's large values through torch, too."""
    x, w, b = last(2, 32, 8, 8), last(32), last(32)
    want = group_norm(x, w, b)
    for k in (0, 1):
        name = compiled(group_norm, x, w, b)[1].groups[k].hash
        got, graph = compiled(group_norm, x, w, b, disable=f"group:{name}")
        assert len(graph.groups) == 1
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def tokens(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Of a convolution's result, as vision models normalise it."""
    return F.layer_norm(x.flatten(2).transpose(1, 2), (x.shape[1],), w, b)


@pytest.mark.parametrize("fn", [group_norm, tokens])
def test_gradients(fn: Callable[..., torch.Tensor]) -> None:
    image = last(2, 32, 8, 8) if fn is group_norm else last(2, 32, 8, 8).contiguous()
    x, w, b = (t.requires_grad_() for t in (image, last(32), last(32)))
    with emulated_gpu(), fusewright.options(disk_cache=False, fallback=False):
        out = torch.compile(fn, backend="fusewright")(x, w, b)
        grad = torch.randn_like(out)
        mine = torch.autograd.grad(out, (x, w, b), grad)
    want = fn(x, w, b)
    assert out.stride() == want.stride()
    torch.testing.assert_close(out, want, rtol=1e-5, atol=1e-5)
    theirs = torch.autograd.grad(want, (x, w, b), grad)
    for a, e in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, e, rtol=1e-4, atol=1e-4)
        assert a.stride() == e.stride()


def test_checked_and_explained() -> None:
    """Check mode compares both with torch; the report has two kernels."""
    x, w, b = last(2, 32, 8, 8), last(32), last(32)
    with emulated_gpu(), fusewright.options(disk_cache=False, fallback=False), torch.no_grad():
        report = fusewright.explain(group_norm, x, w, b)
    assert len(report.kernels) == 2
    before = counters()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FusewrightWarning)
        compiled(group_norm, x, w, b, check=True)
    got = counted(before)
    assert (got["checks"], got["deviations"]) == (2, 0)


def family(g: GroupRecord) -> str:
    assert g.plan.gpu is not None and g.plan.gpu.schedule is not None
    return g.plan.gpu.schedule.family


def both_ways(x: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two results of the same elements, contiguous along different axes."""
    y = x * scale
    return torch.exp(y), torch.sin(y.transpose(1, 2).contiguous())


def test_results_along_different_axes() -> None:
    x, scale = last(3, 32, 48), last(3, 32, 1)
    got, graph = compiled(both_ways, x, scale, single_op_groups=True)
    for a, b in zip(got, both_ways(x, scale), strict=True):
        torch.testing.assert_close(a, b)
        assert a.stride() == b.stride()
    assert len(graph.groups) == 2
    assert sorted(map(family, graph.groups)) == ["pointwise", "transpose"]


def test_small_results_along_different_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another launch would cost more than lines that are written twice."""
    monkeypatch.setattr(apart, "LEAST", 1 << 20)
    x, scale = last(3, 32, 48), last(3, 32, 1)
    got, graph = compiled(both_ways, x, scale, single_op_groups=True)
    for a, b in zip(got, both_ways(x, scale), strict=True):
        torch.testing.assert_close(a, b)
    assert len(graph.groups) == 1


def test_a_small_operand_is_not_worth_a_tile() -> None:
    """It is contiguous along another axis than all that is large: it is read as it lies."""

    def fn(x: torch.Tensor, decay: torch.Tensor) -> torch.Tensor:
        return torch.exp(x) * decay.permute(0, 2, 1)[:, :, None]

    for rows, expected in ((32, "pointwise"), (2, "transpose")):
        x, decay = torch.randn(2, 64, rows, 32), torch.randn(2, 32, 64)
        got, graph = compiled(fn, x, decay)
        torch.testing.assert_close(got, fn(x, decay))
        assert family(graph.groups[0]) == expected


def distances(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What two vectors make, summed up along both axes."""
    d = (a[:, None] - b[None]).abs()
    return d.mean(1), d.mean(0)


def test_sums_along_both_axes_of_what_vectors_make() -> None:
    a, b = torch.randn(50), torch.randn(70)
    got, graph = compiled(distances, a, b)
    torch.testing.assert_close(got, distances(a, b))
    assert len(graph.groups) == 2
    x = torch.randn(50, 70)
    both = lambda x: (x.cos().mean(1), x.cos().mean(0))  # which share what is read
    got, graph = compiled(both, x)
    torch.testing.assert_close(got, both(x))
    assert len(graph.groups) == 1


def averaged(x: torch.Tensor) -> torch.Tensor:
    return F.avg_pool2d(x.relu(), 3, 1, 1) * 2


def enlarged(x: torch.Tensor) -> torch.Tensor:
    return F.interpolate(x.relu(), scale_factor=2, mode="bilinear", align_corners=True) * 2


def largest(x: torch.Tensor) -> torch.Tensor:
    return F.max_pool2d(x.relu() + 1, 3, 2, 1) * 2


@pytest.mark.parametrize("fn", [averaged, enlarged, largest])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_costs_little_is_computed_wherever_a_window_reads_it(fn: Callable[..., Any], dtype: torch.dtype) -> None:
    """Comparisons of positions and what finds a place do not count: they are needed to read what is stored, too."""
    x = last(2, 3, 8, 10, dtype=dtype).contiguous()
    got, graph = compiled(fn, x)
    torch.testing.assert_close(got, fn(x), rtol=1e-5 if dtype is torch.float32 else 1e-2, atol=1e-5)
    assert len(graph.groups) == 1


def test_what_costs_much_is_stored() -> None:
    dear = lambda x: F.avg_pool2d(torch.erf(x.sin()).exp(), 3, 1, 1) * 2
    x = last(2, 3, 8, 10).contiguous()
    got, graph = compiled(dear, x)
    torch.testing.assert_close(got, dear(x))
    assert len(graph.groups) == 2


def sum_and_transpose(x: torch.Tensor, y: torch.Tensor) -> Any:
    return (x + 1).sum(0), (x * y).t().contiguous()


def row_sum_and_transpose(x: torch.Tensor, y: torch.Tensor) -> Any:
    return (x + 1).sum(1), (x * y).t().contiguous()


def straight_and_turned(x: torch.Tensor, y: torch.Tensor) -> Any:
    """Both results read what is reduced along columns; one of them needs nothing of that."""
    return x.exp() * y, x.softmax(0).t().contiguous()


def both_of_sums(x: torch.Tensor, y: torch.Tensor) -> Any:
    v = (x - x.mean(0, keepdim=True)) * y
    return v * 2, v.t().contiguous()


@pytest.mark.parametrize(
    ("fn", "kernels"),
    [(sum_and_transpose, 2), (row_sum_and_transpose, 2), (straight_and_turned, 2), (both_of_sums, 3)],
    ids=lambda f: getattr(f, "__name__", ""),
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_results_beside_reductions(
    fn: Callable[..., Any], kernels: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_gpu, "SCATTERED", 1)
    x, y = last(70, 90, dtype=dtype), last(70, 90, dtype=dtype) + 1
    got, graph = compiled(fn, x, y)
    want, exact = fn(x, y), fn(x.double(), y.double())
    for a, b, c in zip(got, want, exact, strict=True):
        assert a.dtype == b.dtype and a.stride() == b.stride()
        error, theirs = ((t.double() - c).square().mean() for t in (a, b))
        assert error <= max(theirs * 1.5, 1e-12), (error, theirs)
    assert len(graph.groups) == kernels


def test_a_turned_result_of_short_sums() -> None:
    """A seventh of what is summed: what is made of that is stored as it is read, and turned by another kernel."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        v = (x + 1).transpose(1, 2)
        return ((v - v.mean(0, keepdim=True)) * (v.var(0, keepdim=True) + 1e-5).rsqrt()).contiguous()

    x = last(7, 40, 50)
    got, graph = compiled(fn, x)
    torch.testing.assert_close(got, fn(x), rtol=1e-5, atol=1e-5)
    (group,) = (g.plan.group for g in graph.groups)  # and a copy, which torch makes
    assert group.eqns[-1].op == "map" and group.outputs[0].numel == group.eqns[-1].out.numel
