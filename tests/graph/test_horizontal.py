"""Small operations side by side in one kernel: which, and which never."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import fusewright
from fusewright.graph.grouping import group
from fusewright.graph.groups import Grouping
from fusewright.graph.horizontal import LEAST, MOST, SMALL
from fusewright.graph.ir import Value
from fusewright.graph.verify import verify, verify_groups
from fusewright.index.expr import sym
from tests.emulate.driver import emulated_gpu
from tests.graph.test_grouping import M, N, Program

K = sym("k")


class Beside(Program):
    def beside(self, *outputs: Value, large: bool = False, **kwargs: Any) -> Grouping:
        self.graph.outputs = list(outputs)
        verify(self.graph)
        size = SMALL + 1 if large else SMALL
        out = group(self.graph, self.schedulable, {}, lambda v: size, horizontal=True, **kwargs)
        verify_groups(self.graph, [g.eqns for g in out.groups if g.kernel])
        return out


def test_elementwise_operations_of_one_shape() -> None:
    p = Beside()
    outs = [p.map(name, p.input(N)) for name in ("neg", "exp", "sin", "cos")]
    other = [p.map("neg", p.input(M)) for _ in range(LEAST - 1)]
    got = p.beside(*outs, *other)
    assert p.names(got)[0] == "neg+exp+sin+cos" and got.groups[0].outputs == outs
    assert p.names(got)[1:] == ["neg"] * (LEAST - 1), "too few of this shape"


def test_sums_of_one_shape() -> None:
    p = Beside()
    rows = [p.sum(p.input(N, M), 0, False) for _ in range(LEAST)]
    columns = [p.sum(p.input(N, M), 1, False) for _ in range(LEAST)]
    assert p.names(p.beside(*rows, *columns)) == ["+".join(["sum"] * LEAST)] * 2


def test_large_operations_stay_apart() -> None:
    p = Beside()
    outs = [p.map("neg", p.input(N)) for _ in range(LEAST)]
    assert p.names(p.beside(*outs, large=True)) == ["neg"] * LEAST


def test_maxima_and_scans_stay_apart() -> None:
    p = Beside()
    outs = [p.unit("max", lambda a: p.b.reduce("max", a, [1]), p.input(N, M)) for _ in range(LEAST)]
    assert p.names(p.beside(*outs)) == ["max"] * LEAST


def test_what_leads_to_another_stays_apart() -> None:
    """A chain of library calls: each operation needs the one before it."""
    p = Beside()
    x, outs = p.input(N, M), []
    for _ in range(LEAST):
        outs.append(p.map("neg", x))
        x = p.opaque("matmul", outs[-1])
    alone = [p.map("exp", p.input(N, M)) for _ in range(LEAST - 1)]
    got = p.beside(*outs, *alone)
    names = p.names(got)
    assert names.count("matmul") == LEAST and sorted(n for n in names if n != "matmul") == sorted(
        ["neg+exp+exp+exp", *["neg"] * (LEAST - 1)]
    )


def test_a_kernel_has_only_so_many() -> None:
    p = Beside()
    outs = [p.map("neg", p.input(N)) for _ in range(2 * MOST + LEAST)]
    assert [len(g.units) for g in p.beside(*outs).groups] == [MOST, MOST, LEAST]


def test_without_the_option() -> None:
    p = Beside()
    p.graph.outputs = [p.map("neg", p.input(N)) for _ in range(LEAST)]
    got = group(p.graph, p.schedulable, {}, lambda v: 4)
    assert p.names(got) == ["neg"] * LEAST


@pytest.mark.parametrize("on", [True, False])
def test_counters_of_batch_norms(on: bool) -> None:
    """All counters in one kernel, which writes into them."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    layers = [part for _ in range(LEAST) for part in (nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3), nn.ReLU())]
    model, x = nn.Sequential(*layers), torch.randn(2, 3, 4, 5)
    with emulated_gpu(), fusewright.options(fallback=False, horizontal=on):
        report = fusewright.explain(torch.compile(model, backend="fusewright"), x)
        found = [k for g in report.graphs for k in g.kernels if k.title == "pointwise_add"]
        assert len(found) == (1 if on else 0)
    with emulated_gpu(), fusewright.options(fallback=False, horizontal=on):
        before = [b.num_batches_tracked.item() for b in model if isinstance(b, nn.BatchNorm2d)]
        f = torch.compile(model, backend="fusewright")
        for _ in range(2):
            f(x)
    after = [b.num_batches_tracked.item() for b in model if isinstance(b, nn.BatchNorm2d)]
    assert after == [n + 2 for n in before]


def test_gradients_of_small_parameters() -> None:
    """Sums and casts that make gradients of biases under autocast: the same bits as in kernels of their own."""
    torch.manual_seed(0)
    model = nn.Sequential(*(part for _ in range(LEAST + 1) for part in (nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8))))
    x, w = torch.randn(6, 8), torch.randn(6, 8)

    def grads(horizontal: bool) -> tuple[list[torch.Tensor], int]:
        model.zero_grad(set_to_none=True)
        with emulated_gpu() as driver, fusewright.options(fallback=False, single_op_groups=True, horizontal=horizontal):
            with torch.autocast("cpu", torch.bfloat16):
                (torch.compile(model, backend="fusewright")(x) * w).sum().backward()
            return [p.grad.clone() for p in model.parameters()], driver.launched

    (got, few), (want, many) = grads(True), grads(False)
    assert few < many - LEAST
    for a, b in zip(got, want, strict=True):
        assert torch.equal(a, b)
