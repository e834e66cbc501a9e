"""Depthwise convolutions of few taps as elementwise operations: eager's results and layouts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import devices
from fusewright.trace import depthwise

pytestmark = pytest.mark.usefixtures("either")


def tensors(b: int, c: int, t: int, taps: int, dtype: torch.dtype = torch.float32, turned: bool = False) -> list[Any]:
    gen = torch.Generator().manual_seed(0)
    x = torch.randn(b, t, c, generator=gen).transpose(1, 2) if turned else torch.randn(b, c, t, generator=gen)
    others = [torch.randn(s, generator=gen) for s in ((c, 1, taps), (c,))]
    return [y.to(dtype).detach().requires_grad_() for y in (x, *others)]


def compare(inputs: list[Any], opened: bool = True, **kwargs: Any) -> None:
    groups = inputs[0].shape[1]

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None) -> torch.Tensor:
        conv = (F.conv1d, F.conv2d, F.conv3d)[x.dim() - 3]
        return F.silu(conv(x * 2, w, b, groups=groups, **kwargs))

    def run(fn: Any, at: Any) -> list[torch.Tensor]:
        out = fn(*at)
        weight = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)
        return [out, *torch.autograd.grad((out * weight).sum(), [t for t in at if t is not None])]

    report = fusewright.explain(torch.compile(f, backend="fusewright"), *inputs)
    left = [o.target for g in report.graphs for o in g.operations if "convolution" in o.target]
    gpu = devices.driver_for(torch.device("cpu")) is not None
    forward, backward = ["aten.convolution.default"], ["aten.convolution_backward.default"]
    assert left == forward * (not opened) + backward * (gpu or not opened)
    torch._dynamo.reset()
    got, want = run(torch.compile(f, backend="fusewright"), inputs), run(f, inputs)
    exact = run(f, [None if t is None else t.detach().double().requires_grad_() for t in inputs])
    for a, e, x in zip(got, want, exact, strict=True):
        assert a.dtype == e.dtype and a.shape == e.shape and a.stride() == e.stride()
        mine, theirs = ((y.double() - x).abs().max() for y in (a, e))
        assert mine <= 1.5 * theirs + 1e-6 * x.abs().max(), (mine, theirs)


@pytest.mark.every(6)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("taps", [1, 2, 4])
def test_causal(taps: int, dtype: torch.dtype, turned: bool) -> None:
    """As in state-space models: as many zeros in front as there are taps before the last."""
    compare(tensors(2, 6, 9, taps, dtype, turned), padding=taps - 1)


@pytest.mark.every(3)
@pytest.mark.parametrize(("padding", "dilation"), [(0, 1), (1, 1), (2, 2), (5, 1), (0, 3), (7, 2)])
def test_padding_and_dilation(padding: int, dilation: int) -> None:
    compare(tensors(2, 3, 11, 4), padding=padding, dilation=dilation)


@pytest.mark.every(2)
@pytest.mark.parametrize("t", [1, 2, 3])
def test_rows_shorter_than_the_kernel(t: int) -> None:
    compare(tensors(1, 3, t, 4), padding=3)


def images(shape: tuple[int, ...], taps: tuple[int, ...], last: bool, dtype: torch.dtype) -> list[Any]:
    """Images or volumes (b, c, *t), weights and a bias."""
    gen = torch.Generator().manual_seed(0)
    given = [torch.randn(s, generator=gen).to(dtype) for s in (shape, (shape[1], 1, *taps), shape[1:2])]
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    given[0] = given[0].contiguous(memory_format=formats[len(shape)] if last else torch.contiguous_format)
    return [t.requires_grad_() for t in given]


@pytest.fixture
def all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a library is faster."""
    monkeypatch.setattr(depthwise, "most", lambda *given: 32)


@pytest.mark.usefixtures("all_of_them")
@pytest.mark.every(8)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("padding", [(0, 0), (2, 1), (0, 3)])
@pytest.mark.parametrize("taps", [(5, 1), (1, 5), (2, 3), (1, 1)])
def test_images(taps: tuple[int, int], padding: tuple[int, int], dtype: torch.dtype, last: bool) -> None:
    """Among them the halves of separable filters."""
    compare(images((2, 3, 7, 9), taps, last, dtype), padding=padding)


@pytest.mark.every(3)
@pytest.mark.usefixtures("all_of_them")
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("padding", "dilation"), [(1, (2, 1)), ((3, 0), (1, 3)), ("same", (1, 2)), ("valid", 1)])
def test_images_padded_and_dilated(padding: Any, dilation: Any, last: bool) -> None:
    compare(images((2, 4, 8, 9), (3, 2), last, torch.float32), padding=padding, dilation=dilation)


@pytest.mark.usefixtures("all_of_them")
@pytest.mark.every(2)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("taps", [(3, 1, 1), (1, 2, 1), (2, 2, 2)])
def test_volumes(taps: tuple[int, int, int], last: bool) -> None:
    compare(images((2, 3, 4, 5, 6), taps, last, torch.float32), padding=(1, 0, 1))


@pytest.mark.parametrize("last", [False, True])
def test_one_channel(last: bool) -> None:
    """Of which strides do not say whether channels are last."""
    compare(images((3, 1, 6, 7), (1, 4), last, torch.float32), padding=(0, 2))
    compare(tensors(2, 1, 9, 3), padding=1)


def test_without_a_bias() -> None:
    x, w, _ = tensors(2, 3, 8, 3)
    compare([x, w, None], padding=1)


def test_what_stays() -> None:
    compare(tensors(2, 4, 50, 33), opened=False, padding=4)
    compare(tensors(2, 4, 9, 3), opened=False, stride=2)


def test_how_many_taps() -> None:
    gpu = devices.driver_for(torch.device("cpu")) is not None
    rows, images, volumes = torch.randn(2, 64, 9), torch.randn(2, 64, 8, 9), torch.randn(2, 64, 5, 6, 7)
    beside = images.to(memory_format=torch.channels_last)
    most = partial(depthwise.most, learned=True)
    found = [most(x, taps) for x, taps in ((rows, (31,)), (images, (1, 31)), (images, (5, 5)))]
    assert found == [32, 32, 4]
    assert most(images[:, :1], (5, 5)) == 32
    assert most(images[:, :3], (5, 5)) == (9 if gpu else 32)
    assert most(images[:, :3].to(memory_format=torch.channels_last), (3, 3)) == (8 if gpu else 0)
    assert depthwise.most(images, (3, 3), learned=False) == (9 if gpu else 4), "inference"
    assert most(volumes, (3, 3, 3)) == (4 if gpu else 32)
    assert most(rows.transpose(1, 2).contiguous().transpose(1, 2), (9,)) == (32 if gpu else 8)
    assert most(beside, (3, 1)) == (32 if gpu else 5)
    assert most(beside, (3, 3)) == (4 if gpu else 5)
    few = torch.randn(2, 3, 8, 9).to(memory_format=torch.channels_last)
    assert most(few, (3, 1)) == (32 if gpu else 0), "hardly a vector of a CPU is filled"


@pytest.mark.parametrize("grad", [(True, False, False), (False, True, False), (False, False, True)])
def test_some_gradients(grad: tuple[bool, ...]) -> None:
    inputs = [t.detach().requires_grad_(on) for t, on in zip(tensors(2, 3, 8, 4), grad, strict=True)]

    def f(*args: Any) -> torch.Tensor:
        out = torch.tanh(F.conv1d(*args, padding=3, groups=3))
        return torch.autograd.grad(out.square().sum(), [t for t in args if t.requires_grad])[0]

    def loss(*args: Any) -> torch.Tensor:
        return torch.tanh(F.conv1d(*args, padding=3, groups=3)).square().sum()

    (got,) = torch.autograd.grad(
        torch.compile(loss, backend="fusewright")(*inputs), [t for t in inputs if t.requires_grad]
    )
    torch.testing.assert_close(got, f(*inputs))


def test_infinities_are_not_spread_by_zeros() -> None:
    """What is beyond the ends is left out: eager multiplies nothing by it."""
    x, w, b = (t.detach() for t in tensors(1, 2, 6, 4))
    w[0, 0, 0], x[0, 1, 2], x[0, 1, 4] = torch.inf, torch.nan, -torch.inf

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.conv1d(x, w, b, padding=3, groups=2))

    want = torch.relu(sum_of_taps(x, w, b))
    torch.testing.assert_close(torch.compile(f, backend="fusewright")(x, w, b), want, equal_nan=True)


def sum_of_taps(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = b[:, None].expand(*x.shape[:2], x.shape[2] + 3).clone()
    for k in range(4):
        out[:, :, 3 - k : 3 - k + x.shape[2]] += w[:, 0, k, None] * x
    return out


def conv(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.conv1d(x, w, b, padding=3, groups=x.shape[1])[..., : x.shape[2]]


READERS = {
    "what reads it along the channels": lambda y: F.layer_norm(y.transpose(1, 2), y.shape[1:2]).exp(),
    "the program itself": lambda y: y,
    "a view of its memory": lambda y: y.contiguous().view(y.shape[0], -1).sin(),
    "a view of part of it": lambda y: y.transpose(1, 2).unflatten(2, (2, -1)).cos(),
    "a library": lambda y: y.transpose(1, 2) @ y,
    "several": lambda y: (y.relu(), y.transpose(1, 2).exp(), y.flatten(1)),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("reader", READERS)
def test_strides_of_what_is_made_of_it(reader: str, turned: bool) -> None:
    """The result may lie in another order than eager's, but nothing that the program gets."""
    inputs = tensors(2, 6, 9, 4, turned=turned)

    def f(*args: Any) -> Any:
        return READERS[reader](conv(*args))

    def run(fn: Any) -> list[torch.Tensor]:
        out = fn(*inputs)
        results = list(out) if isinstance(out, tuple) else [out]
        return [*results, *torch.autograd.grad(sum(y.square().sum() for y in results), inputs)]

    for a, e in zip(run(torch.compile(f, backend="fusewright")), run(f), strict=True):
        torch.testing.assert_close(a, e, rtol=1e-4, atol=1e-5)
        assert a.stride() == e.stride()


def test_it_lies_as_its_operand_does() -> None:
    """Channels are neighbours in memory from the operand to the result: nothing is transposed."""
    x, w, b = (t.detach() for t in tensors(4, 64, 128, 4, turned=True))

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.silu(conv(x * 2, w, b).transpose(1, 2)).contiguous()

    report = fusewright.explain(torch.compile(f, backend="fusewright"), x, w, b)
    assert [k.family for g in report.graphs for k in g.kernels] == ["pointwise"]


def test_sums_are_saved_for_the_backward_pass() -> None:
    """To add up the terms again took up to twice as long as reading the sum."""
    inputs = images((2, 4, 6, 7), (3, 3), False, torch.float32)

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.relu(F.batch_norm(F.conv2d(x, w, b, padding=1, groups=4), None, None, training=True))

    report = fusewright.explain(torch.compile(f, backend="fusewright"), *inputs)
    padded = [sum("constant_pad_nd" in o.target for o in g.operations) for g in report.graphs]
    gpu = devices.driver_for(torch.device("cpu")) is not None
    assert padded == [8, 8 if gpu else 16], "the sum's terms, those of x's gradient and those of the weights'"


def test_what_is_dear_is_not_computed_for_every_tap() -> None:
    """The first half of a separable filter, of which the second reads each element at five places: all under masks, as
    pieces of a `cat` are, which are computed once."""
    x, w = torch.randn(2, 3, 40, 40), torch.randn(3, 1, 5, 1)

    def halves(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        rows = F.conv2d(torch.tanh(x), w.transpose(2, 3), padding=(0, 2), groups=3)
        return F.conv2d(rows, w, padding=(2, 0), groups=3)

    def pieces(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(torch.tanh(x))
        return torch.cat([y[:, 1:], 3 * y[:, :1]], 1) + 1

    for fn, apart in ((halves, True), (pieces, False)):
        report = fusewright.explain(torch.compile(fn, backend="fusewright"), x, w)
        assert (sum(len(g.kernels) for g in report.graphs) > 1) == apart, fn.__name__
        torch.testing.assert_close(torch.compile(fn, backend="fusewright")(x, w), fn(x, w), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("learned", [False, True])
def test_weights_that_are_learned(learned: bool) -> None:
    """On a GPU an image's 3x3 are ours in inference, and where weights are given; steps of training are a library's."""
    x, w, _ = images((2, 24, 8, 9), (3, 3), False, torch.float32)
    w.requires_grad_(learned)

    def f(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.relu(F.conv2d(x.sin(), w, None, padding=1, groups=24))

    gpu = devices.driver_for(torch.device("cpu")) is not None
    for graphs, opened in ((1, gpu), (2, gpu and not learned)):
        torch._dynamo.reset()
        with torch.set_grad_enabled(graphs == 2):
            report = fusewright.explain(torch.compile(f, backend="fusewright"), x, w)
        left = [o.target for g in report.graphs for o in g.operations if "convolution" in o.target]
        assert len(report.graphs) == graphs and len(left) == graphs * (not opened), left
    got = torch.autograd.grad(torch.compile(f, backend="fusewright")(x, w).sum(), x)
    torch.testing.assert_close(got, torch.autograd.grad(f(x, w).sum(), x), rtol=1e-4, atol=1e-5)
