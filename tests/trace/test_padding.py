"""Products of odd extents: padded on a GPU where that is worth it, with the same results in the same layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright import backend
from fusewright.bench.null import NullDriver
from fusewright.run import devices
from fusewright.trace import padding
from fusewright.trace.padding import pad_products
from tests.emulate.driver import EmulatedDriver

aten = torch.ops.aten
HALF = {"dtype": torch.bfloat16}
V = 1003  # columns: 1,008 in whole 16 bytes


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    monkeypatch.setattr(padding, "LAUNCH", 0.0)  # small matrices are worth it
    monkeypatch.setattr(padding, "SLOWER", 1e3)


def graphs(fn: Callable, *inputs: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> list[torch.fx.GraphModule]:
    """What the pass made of a function's graph, for a GPU on which nothing runs."""
    found: list[torch.fx.GraphModule] = []
    monkeypatch.setattr(backend, "pad_products", lambda gm: (pad_products(gm), found.append(gm)))
    with devices.use("cpu", NullDriver()), fusewright.options(disk_cache=False, fallback=False):
        torch.compile(fn, backend="fusewright")(*inputs)
    return found


def products(gm: torch.fx.GraphModule) -> list[tuple[int, ...]]:
    """The extents m, k, n of the products of a graph."""
    out = []
    for n in gm.graph.nodes:
        if n.target in (aten.mm.default, aten.addmm.default):
            a, b = (x.meta["val"] for x in n.args[-2:])
            out.append((*a.shape, b.shape[1]))
    return out


def compiled(fn: Callable, *inputs: torch.Tensor) -> Any:
    """The results on an emulated GPU, and gradients in the inputs if there is something to differentiate."""
    options = fusewright.options(disk_cache=False, fallback=False, small_products=False)
    with devices.use("cpu", EmulatedDriver()), options:
        got = torch.compile(fn, backend="fusewright")(*inputs)
        if isinstance(got, torch.Tensor) and got.requires_grad:
            got.sum().backward()
    return got


def loss(x: torch.Tensor, w: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy((x @ w.t()).float(), t)


def head(rows: int = 16) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    x, w = torch.randn(rows, 64, **HALF), torch.randn(V, 64, **HALF)
    return x.requires_grad_(), w.requires_grad_(), torch.randint(V, (rows,))


def test_logits_and_their_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    (joint,) = graphs(loss, *head(), monkeypatch=monkeypatch)
    assert sorted(products(joint)) == [(16, 64, 1008), (16, 1008, 64), (1008, 16, 64)]


def test_the_copy_of_a_weight_is_gone_before_its_gradient_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product that reads the copy comes first: copy and gradient, as large, are not in memory together."""
    (joint,) = graphs(loss, *head(), monkeypatch=monkeypatch)
    assert products(joint) == [(16, 64, 1008), (16, 1008, 64), (1008, 16, 64)]
    for n in joint.graph.nodes:
        assert all(a < n for a in n.all_input_nodes)


def _legacy(on: bool) -> None:
    torch.set_float32_matmul_precision("high" if on else "highest")


def _by_backend(on: bool) -> None:
    torch.backends.cuda.matmul.fp32_precision = "tf32" if on else "none"


@pytest.mark.parametrize("say", [_legacy, _by_backend])
def test_products_of_float32_where_they_may_be_tf32(say: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [x.detach().float().requires_grad_(x.requires_grad) if x.is_floating_point() else x for x in head()]
    say(True)
    try:
        (joint,) = graphs(loss, *inputs, monkeypatch=monkeypatch)
    finally:
        say(False)
    assert products(joint) == [(16, 64, 1004), (16, 1004, 64), (1004, 16, 64)]  # four to 16 bytes


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("recompute", [False, True])
def test_the_numbers(bias: bool, recompute: bool) -> None:
    def fn(x: torch.Tensor, w: torch.Tensor, t: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.linear(x, w, b if bias else None).float(), t)

    inputs = [*head(), torch.randn(V, **HALF).requires_grad_()]
    twin = [a.detach().clone().requires_grad_(a.requires_grad) for a in inputs]
    with fusewright.options(recompute=recompute):
        got = compiled(fn, *inputs)
    want = fn(*twin)
    want.backward()
    torch.testing.assert_close(got, want)
    for a, b in zip(inputs, twin, strict=True):
        if b.grad is not None:
            torch.testing.assert_close(a.grad, b.grad)
            assert a.grad is not None and a.grad.stride() == b.grad.stride()


def test_the_gradient_of_a_bias_is_summed_up_by_the_kernel_that_pads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of the logits is written once, padded."""
    x, w, t = head()
    b = torch.randn(V, **HALF).requires_grad_()

    def fn(x: torch.Tensor, w: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.linear(x, w, b).float(), t)

    (joint,) = graphs(fn, x, w, t, monkeypatch=monkeypatch)
    sums = [n for n in joint.graph.nodes if n.target is aten.sum.dim_IntList]
    (total,) = (n for n in sums if n.args[0].target is aten.constant_pad_nd.default)
    assert tuple(total.meta["val"].shape) == (1, 1008)
    torch._dynamo.reset()
    with devices.use("cpu", NullDriver()), fusewright.options(disk_cache=False):
        report = fusewright.explain(torch.compile(fn, backend="fusewright"), x, w, t)
    kernels = [k for k in report.graphs[-1].kernels if "exp" in k.title]
    written = [[layout.split(" strides")[0] for _, how, layout in k.buffers if how == "out"] for k in kernels]
    assert written == [["bf16[16, 1008]", "bf16[1, 1008]"]]


@pytest.mark.parametrize("dims", [[0], [1], [0, 1], []])
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_of_padded_operands(dims: list[int], keepdim: bool) -> None:
    """Along the padded dimension and along the other, of a product's operand."""
    torch.manual_seed(0)
    x, w = torch.randn(16, V, **HALF), torch.randn(V, 24, **HALF)

    def fn(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.relu(x)
        return y @ w, y.sum(dims, keepdim=keepdim)

    for got, want in zip(compiled(fn, x, w), fn(x, w), strict=True):
        torch.testing.assert_close(got, want)
        assert got.stride() == want.stride()


@pytest.mark.parametrize("grad", [False, True])
def test_what_the_program_gets_keeps_its_strides(grad: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: torch.Tensor, w: torch.Tensor, t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = x @ w.t()
        return logits.view(4, 4, V), F.cross_entropy(logits.float(), t)

    inputs = head()
    with torch.set_grad_enabled(grad):
        found = graphs(fn, *inputs, monkeypatch=monkeypatch)[0]
        assert (16, 64, 1008) in products(found)
        torch._dynamo.reset()
        got, want = compiled(fn, *inputs), fn(*inputs)
    torch.testing.assert_close(got, want)
    assert got[0].stride() == want[0].stride() and got[0].is_contiguous()


@pytest.mark.parametrize("shape", [(5, 7, 9), (16, 33, 24), (1, 9, 1), (8, 8, 17), (24, 1, 24)])
@pytest.mark.parametrize("turned", ["", "a", "b", "ab"])
def test_operands_of_all_kinds(shape: tuple[int, int, int], turned: str) -> None:
    """Products of what kernels compute and of what is given, transposed or not."""
    m, k, n = shape

    def fn(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b = (y.t() if name in turned else y for name, y in (("a", a.exp()), ("b", b)))
        return (a @ b).neg()

    a = torch.randn((k, m) if "a" in turned else (m, k), **HALF)
    b = torch.randn((n, k) if "b" in turned else (k, n), **HALF)
    torch.testing.assert_close(compiled(fn, a, b), fn(a, b))


def test_not_a_number_stays_where_it_is() -> None:
    """Zeros are all that is added: rows with NaN or infinity do not spread."""
    x, w, _ = (a.detach() for a in head())
    x[2, 3], x[5, 0], w[7, 1] = float("nan"), float("inf"), float("nan")

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x.t().contiguous() @ (x @ w.t()).exp()).neg()

    torch.testing.assert_close(compiled(fn, x, w), fn(x, w), equal_nan=True, rtol=0.05, atol=0.5)


@pytest.mark.parametrize(
    "change",
    [
        lambda x, w: (x, torch.randn(1008, 64, **HALF)),  # whole 16 bytes
        lambda x, w: (x.float(), w.float()),  # exact products of f32 do not need it
    ],
    ids=["aligned", "f32"],
)
def test_what_stays(change: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, _ = (a.detach() for a in head())
    x, w = change(x, w)
    (found,) = graphs(lambda x, w: (x @ w.t()).exp(), x, w, monkeypatch=monkeypatch)
    assert products(found) == [(16, 64, w.shape[0])]


def test_copies_must_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight is copied for many rows, not for a few."""
    monkeypatch.undo()
    w = torch.randn(5003, 128, **HALF)
    for rows, worth in ((8, False), (8192, True)):
        torch._dynamo.reset()
        (found,) = graphs(lambda x, w: (x @ w.t()).exp(), torch.randn(rows, 128, **HALF), w, monkeypatch=monkeypatch)
        assert products(found) == [(rows, 128, 5008 if worth else 5003)]


def test_off(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = head()
    for o in ({"padding": False}, {"precision": "eager"}):
        with fusewright.options(**o):
            assert not graphs(loss, *inputs, monkeypatch=monkeypatch)
            torch._dynamo.reset()


def test_sizes_that_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w, t = head(32)
    torch._dynamo.mark_dynamic(x, 0)
    torch._dynamo.mark_dynamic(t, 0)
    (joint,) = graphs(loss, x, w, t, monkeypatch=monkeypatch)
    assert sorted(str(p) for s in products(joint) for p in s if isinstance(p, int)) == ["1008"] * 3 + ["64"] * 3
