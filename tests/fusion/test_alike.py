"""Groups that are alike are built once."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright import pipeline
from fusewright.core.dtypes import f32
from fusewright.core.errors import Refusal
from fusewright.fusion.alike import likeness, refused_again, renamed
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import sym
from fusewright.index.layout import row_major
from tests.kernels import fusion_of

N = sym("n")


def facts(v: Value) -> tuple:
    return row_major(v.shape)


def graph(scale: float = 2.0, shape: tuple = (N, 8), axis: int = 1, before: int = 0) -> Graph:
    """A row's sum times a constant; `before`: values that exist before, so that its own have other numbers."""
    b = Builder(Graph())
    for _ in range(before):
        b.neg(b.input(f32, (N,)))
    x, y = b.input(f32, shape), b.input(f32, shape)
    out = b.mul(b.reduce("sum", b.add(x, y), (axis,), True), b.const(scale, f32))
    b.graph.outputs = [out]
    b.graph.eqns = b.graph.eqns[before:]
    return b.graph


def key(g: Graph) -> object:
    return likeness(g.eqns, g.outputs, facts).key


def test_names_do_not_count() -> None:
    assert key(graph()) == key(graph(before=3))


@pytest.mark.parametrize(
    "other", [{"scale": 3.0}, {"shape": (N, 9)}, {"axis": 0}, {"scale": float("nan")}], ids=lambda o: str(o)
)
def test_what_counts(other: dict) -> None:
    assert key(graph()) != key(graph(**other))


def test_zeros_of_both_signs() -> None:
    assert key(graph(scale=0.0)) != key(graph(scale=-0.0))
    assert key(graph(scale=0.0)) == key(graph(scale=0.0, before=1))


def test_where_memory_lies() -> None:
    g = graph()
    turned = likeness(g.eqns, g.outputs, lambda v: tuple(reversed(facts(v))))
    assert turned.key != key(g)


def test_which_values_are_stored_and_in_what_order() -> None:
    b = Builder(Graph())
    x = b.input(f32, (N,))
    y, z = b.neg(x), b.exp(x)
    keys = {likeness(b.graph.eqns, outs, facts).key for outs in ([y], [z], [y, z], [z, y])}
    assert len(keys) == 4


def test_the_fusion_is_shared_and_reads_other_tensors() -> None:
    first, second = graph(), graph(before=2)
    like = [likeness(g.eqns, g.outputs, facts) for g in (first, second)]
    one = fusion_of(first)
    two = renamed(one, *like)
    assert two.fusion is one.fusion
    direct = fusion_of(second)
    assert two.sources == direct.sources and two.sources != one.sources
    assert two.original.text() == direct.original.text()


def test_reasons_name_the_values_of_the_group_at_hand() -> None:
    like = [likeness(g.eqns, g.outputs, facts) for g in (graph(), graph(before=2))]
    then, now = (x.values[0] for x in like)
    r = refused_again(Refusal("domain", f"{then} is read elsewhere, %999 too"), *like)
    assert (r.code, r.detail) == ("domain", f"{now} is read elsewhere, %999 too")


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(24)
        self.up = torch.nn.Linear(24, 24)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.nn.functional.gelu(self.up(self.norm(x)))


def test_layers_of_a_deep_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many layers take no more fusions or kernels lowered, and every layer reads its own parameters."""
    built: list[int] = []
    lowered: list[int] = []
    build, lower = pipeline.build, pipeline.lower
    monkeypatch.setattr(pipeline, "build", lambda *args, **given: (built.append(1), build(*args, **given))[1])
    monkeypatch.setattr(pipeline, "lower", lambda *args: (lowered.append(1), lower(*args))[1])
    counts = []
    for n in (4, 8):
        torch.manual_seed(n)
        model = torch.nn.Sequential(*(Layer() for _ in range(n)))
        for p in model.parameters():
            torch.nn.init.normal_(p, std=0.2)
        x = torch.randn(5, 24)
        expected = model(x)
        want = torch.autograd.grad(expected.square().mean(), model.parameters())
        built.clear(), lowered.clear()
        fusewright.reset_counters()
        got = torch.compile(model, backend="fusewright", fullgraph=True)(x)
        grads = torch.autograd.grad(got.square().mean(), model.parameters())
        counts.append((len(built), len(lowered)))
        groups = fusewright.counters()["groups_formed"]
        assert fusewright.counters()["fallbacks"] == 0 and groups >= 2 * n > len(lowered)
        assert fusewright.counters()["kernels_reused"] >= groups - len(lowered)
        torch.testing.assert_close(got, expected)
        for a, b in zip(grads, want, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    assert counts[0] == counts[1] and min(counts[0]) > 0
    with fusewright.options(kernel_reuse=False):  # each group has a kernel of its own
        lowered.clear()
        torch.compiler.reset()
        torch.compile(model, backend="fusewright", fullgraph=True)(x)
        assert len(lowered) >= 8


class Dropped(torch.nn.Module):
    """A layer that draws random numbers twice in one kernel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.nn.functional.dropout(self.linear(x), 0.4)
        return x + y + torch.nn.functional.dropout(y.relu(), 0.6) + torch.rand_like(x)


def test_layers_that_draw_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are alike, and each draws its own; one by one they draw the same."""
    built: list[int] = []
    build = pipeline.build
    monkeypatch.setattr(pipeline, "build", lambda *args, **given: (built.append(1), build(*args, **given))[1])
    counts = []
    for n in (3, 6):
        model = torch.nn.Sequential(*(Dropped(24) for _ in range(n)))
        with torch.no_grad():
            for layer in model:
                layer.linear.weight.zero_()
        x = torch.randn(5, 24)
        torch._dynamo.reset()
        built.clear()
        got = {}
        for key, options in {"alike": {}, "apart": {"kernel_reuse": False, "disk_cache": False}}.items():
            compiled = torch.compile(model, backend="fusewright", options=options)
            torch.manual_seed(5)
            got[key] = compiled(x)
            if key == "alike":
                counts.append(len(built))
            torch._dynamo.reset()
        assert torch.equal(got["alike"], got["apart"])
        grads = torch.autograd.grad(got["alike"].square().sum(), model.parameters())
        drawn = {tuple(g.tolist()) for g in grads if g.dim() == 1}
        assert len(drawn) == n  # every layer has masks of its own
    assert counts[0] == counts[1] > 0


def test_where_seeds_lie_is_no_part_of_a_kernel() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first = torch.nn.functional.dropout(x, 0.5) * 1.8125
        second = torch.nn.functional.dropout(torch.mm(first, first), 0.5) * 1.8125  # as nobody else's kernel
        return first, torch.mm(second, second)

    x = torch.ones(32, 32)
    fusewright.reset_counters()
    torch._dynamo.reset()
    first, _ = torch.compile(f, backend="fusewright")(x)
    counted = fusewright.counters()
    assert counted["groups_formed"] == 2 and counted["kernels_reused"] == 1
    assert 300 < (first == 0).sum() < 724
