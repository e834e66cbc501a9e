"""Convolutions on a GPU: biases, their gradients and layouts of operands in kernels of ours; the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright import backend
from fusewright.run import devices
from fusewright.trace.convolutions import open_convolutions
from tests.emulate.driver import EmulatedDriver
from tests.support import assert_as_accurate

aten = torch.ops.aten
LAST = torch.channels_last


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


def block(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
    return torch.tanh(F.conv2d(torch.tanh(x), w, b, padding=1))


def tensors(last: bool = True, bias: bool = True, grad: bool = True) -> tuple[Any, ...]:
    """The input is in contiguous memory, the weight in channels-last memory if `last`."""
    gen = torch.Generator().manual_seed(0)
    x, w, b = (torch.randn(s, generator=gen) for s in ((2, 4, 5, 6), (8, 4, 3, 3), (8,)))
    w = w.contiguous(memory_format=LAST) if last else w
    return tuple(t.requires_grad_(grad) if on else None for t, on in ((x, True), (w, True), (b, bias)))


def ran(fn: Callable, inputs: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[Any]]:
    """(result and gradients on an emulated GPU, the graphs that the pass left)."""
    found: list[Any] = []
    monkeypatch.setattr(backend, "open_convolutions", lambda gm: (open_convolutions(gm), found.append(gm)))
    with devices.use("cpu", EmulatedDriver()), fusewright.options(disk_cache=False, fallback=False):
        return results(torch.compile(fn, backend="fusewright"), inputs), found


def results(fn: Callable, inputs: tuple[Any, ...]) -> list[Any]:
    out = fn(*inputs)
    needed = [t for t in inputs if t is not None and t.requires_grad]
    grads = torch.autograd.grad(out.square().sum(), needed) if needed else ()
    return [out.detach(), *grads]


def nodes(gm: Any, target: Any) -> list[Any]:
    return [n for n in gm.graph.nodes if n.target is target]


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_results_and_strides(last: bool, bias: bool, grad: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = tensors(last, bias, grad)
    got, (gm,) = ran(block, inputs, monkeypatch)
    want = results(block, inputs)
    for a, e in zip(got, want, strict=True):
        torch.testing.assert_close(a, e)
        assert a.stride() == e.stride()
    (conv,) = nodes(gm, aten.convolution.default)
    assert conv.args[2] is None, "the bias is added by a kernel of ours"
    assert conv.args[0].meta["val"].is_contiguous(memory_format=LAST) == last
    for back in nodes(gm, aten.convolution_backward.default):
        assert back.args[-1][2] is False
        assert back.args[1] is conv.args[0], "one copy of the operand for both"
        assert back.args[0].meta["val"].is_contiguous(memory_format=LAST if last else torch.contiguous_format)


def test_tensors_of_the_program_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's copy is as good as ours, where no kernel of ours writes the tensor anyway."""
    x, w, b = tensors(grad=False)
    (got,), (gm,) = ran(lambda x, w, b: F.conv2d(x, w, b), (x, w, b), monkeypatch)
    torch.testing.assert_close(got, F.conv2d(x, w, b))
    assert not nodes(gm, aten.clone.default)


@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks(rank: int, monkeypatch: pytest.MonkeyPatch) -> None:
    conv = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    gen = torch.Generator().manual_seed(0)
    shapes = ((2, 3, *[6] * rank), (5, 3, *[3] * rank), (5,))
    inputs = tuple(torch.randn(s, generator=gen).requires_grad_() for s in shapes)
    fn = lambda x, w, b: torch.tanh(conv(x, w, b))
    got, (gm,) = ran(fn, inputs, monkeypatch)
    exact = results(fn, tuple(t.detach().double().requires_grad_() for t in inputs))
    for a, e, c in zip(got, results(fn, inputs), exact, strict=True):  # oneDNN's are off by 1e-5 on some processors
        assert_as_accurate(a, e, c)
    assert all(n.args[2] is None for n in nodes(gm, aten.convolution.default))


def test_what_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, b = torch.randn(2, 4, 9, 9), torch.randn(4, 1, 7, 7), torch.randn(4)
    grouped = lambda x, w, b: torch.tanh(F.conv2d(x, w, b, groups=4))
    (got,), (gm,) = ran(grouped, (x, w, b), monkeypatch)
    torch.testing.assert_close(got, grouped(x, w, b))
    (conv,) = nodes(gm, aten.convolution.default)
    assert conv.args[2] is not None, "a depthwise kernel rounds once, with the bias in it"


def test_off_and_on_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(backend, "open_convolutions", lambda gm: (open_convolutions(gm), seen.append(gm)))
    inputs = tensors()
    with fusewright.options(fallback=False):
        got = results(torch.compile(block, backend="fusewright"), inputs)
    torch.testing.assert_close(got, results(block, inputs))
    (conv,) = nodes(seen[0], aten.convolution.default)
    assert conv.args[2] is not None, "a CPU's library adds it"
    torch._dynamo.reset()
    with fusewright.options(fallback=False, convolutions=False):
        torch.compile(block, backend="fusewright")(*inputs)
    assert len(seen) == 1


def test_sizes_that_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, b = tensors()
    with torch._dynamo.config.patch(assume_static_by_default=False):  # undone as torch's settings want it
        got, _ = ran(block, (x, w, b), monkeypatch)
    for a, e in zip(got, results(block, (x, w, b)), strict=True):
        torch.testing.assert_close(a, e)
        assert a.stride() == e.stride()
