"""What the switches do: primitives, operators, families, passes. Results are eager's whatever is left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import fusewright
from fusewright.core.errors import FusewrightWarning, UserError
from fusewright.core.options import TABLE
from fusewright.core.switches import EQUATIONS, FAMILIES, PRIMS, family_name
from fusewright.debug import record
from fusewright.debug.record import GraphRecord
from fusewright.run import kernels
from fusewright.schedule.device import Gpu
from tests.emulate.driver import emulated_gpu
from tests.support import clone_like, counted, counters


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    with fusewright.options(disk_cache=False):
        yield
    torch._dynamo.reset()


def compiled(fn: Callable[..., Any], *args: Any, **options: Any) -> list[GraphRecord]:
    """What a function becomes under some options; its results are compared with eager's."""
    torch._dynamo.reset()
    mine, theirs = clone_like(args), clone_like(args)
    with fusewright.options(**options), record.recording() as graphs:
        torch.testing.assert_close(torch.compile(fn, backend="fusewright")(*mine), fn(*theirs), equal_nan=True)
    torch.testing.assert_close(mine, theirs)
    return graphs


def primitives(graphs: list[GraphRecord]) -> set[str]:
    """Of all kernels."""
    found = set()
    for graph in graphs:
        assert graph.traced is not None
        for group in graph.groups:
            found |= {e.params[0] if e.op == "map" else e.op for e in group.plan.group.eqns}
    return found


def reasons(graphs: list[GraphRecord]) -> set[str]:
    return {why for graph in graphs for why in graph.torch_units.values()}


def families(graphs: list[GraphRecord]) -> list[str]:
    return [g.plan.schedule.family for graph in graphs for g in graph.groups if g.plan.schedule is not None]


X = torch.randn(9, 40, generator=torch.Generator().manual_seed(0))


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * 2, -1) + 1


# --- primitives and operators ------------------------------------------------------------------------------------


def test_a_primitive() -> None:
    assert "exp" in primitives(compiled(softmax, X))
    got = compiled(softmax, X, disable="prim:exp")
    assert "exp" not in primitives(got) and "mul" in primitives(got)
    assert "option: prim:exp is disabled" in reasons(got)


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["gather", "scatter", "reduce", "scan", "cat", "pad", "cast", "iota", "random"])
def test_kinds_of_equations(name: str) -> None:
    def fn(x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (
            x[i] * 2 + 1,
            torch.zeros(9, 40).index_add(0, i, x[:2]) * 2,
            x.sum(-1) + 1,
            x.cumsum(-1) * 2,
            torch.cat([x, x * 2]) + 1,
            torch.nn.functional.pad(x, (1, 1)) * 3,
            x.half() + 1,
            torch.arange(9) * 2 + i[0],
        )

    got = compiled(fn, X, torch.tensor([3, 5]), disable=f"prim:{name}")
    assert name not in primitives(got)
    if name != "random":
        assert f"option: prim:{name} is disabled" in reasons(got)


def test_every_primitive_at_once() -> None:
    everything = [f"prim:{name}" for name in (*PRIMS, *EQUATIONS)]
    assert compiled(softmax, X, disable=everything)[0].groups == []


def test_an_operator() -> None:
    got = compiled(lambda x: (x + 1).exp() * 2 - x, X, disable="op:aten.exp")
    assert "exp" not in primitives(got) and "option: op:aten.exp is disabled" in reasons(got)
    assert "option: op:aten.add.Tensor is disabled" in reasons(compiled(softmax, X, disable="op:aten.add.Tensor"))
    assert "option: op:aten.add.Scalar is disabled" not in reasons(compiled(softmax, X, disable="op:aten.add.Scalar"))


def test_an_operator_that_is_not_there() -> None:
    with pytest.raises(Exception, match=r"no rule for operator 'aten.gleu': did you mean 'aten.gelu") as caught:
        torch.compile(softmax, backend="fusewright", options={"disable": "op:aten.gleu"})(X)
    cause = caught.value
    assert isinstance(cause, UserError) or isinstance(getattr(cause, "inner_exception", cause.__cause__), UserError)


# --- families ----------------------------------------------------------------------------------------------------

BY_FAMILY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "pointwise": (lambda x: x.exp() * 2, (X,)),
    "transpose": (lambda x, y: x.t() * 2 + y, (torch.randn(64, 96), torch.randn(96, 64))),
    "inner reduction": (lambda x: (x * 2).sum(-1), (X,)),
    "inner persistent": (softmax, (X,)),
    "outer reduction": (lambda x: (x * 2).sum(0), (torch.randn(40, 64),)),
    "outer persistent": (lambda x: torch.softmax(x * 2, 0), (torch.randn(40, 64),)),
    "full reduction": (lambda x: (x * 2).sum(), (X,)),
    "scan": (lambda x: (x * 2).cumsum(-1) + 1, (X,)),
    "scatter": (lambda x, i: torch.zeros(50, 40).index_add(0, i, x * 2), (X, torch.arange(9))),
}


@pytest.mark.parametrize("family", BY_FAMILY)
def test_a_family(family: str) -> None:
    fn, args = BY_FAMILY[family]
    assert family in families(compiled(fn, *args)), "the example is one"
    got = compiled(fn, *args, disable=f"family:{family}")
    assert family not in families(got)


def test_every_family_at_once() -> None:
    got = compiled(softmax, X, disable=[f"family:{f}" for f in FAMILIES], single_op_groups=True)
    assert families(got) == [] and any("schedule family" in r for r in reasons(got))


def test_a_softmax_without_its_family_is_made_of_others() -> None:
    assert {"inner reduction", "pointwise"} & set(families(compiled(softmax, X, disable="family:inner persistent")))


def gpu_families(graphs: list[GraphRecord]) -> list[str]:
    return [family_name(s.family) for graph in graphs for g in graph.groups for s in g.plan.gpu.kernels]


def whole(*shape: int) -> torch.Tensor:
    """Small whole numbers, whose sums are exact in any order."""
    return torch.randint(-3, 4, shape).float()


SIXTEEN = Gpu((9, 0), 16, 1 << 20, 227 << 10)
ON_GPUS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "pointwise": (lambda x: x.exp() * 2, (X,)),
    "transpose": (lambda x, y: x.t() * 2 + y, (torch.randn(64, 96), torch.randn(96, 64))),
    "inner reduction": (lambda x: (x * 2).sum(-1), (X,)),
    "inner persistent": (softmax, (X,)),
    "inner reduction split": (lambda x: (x * 2).sum(-1), (whole(2, 70000),)),
    "outer reduction": (lambda x: (x * 2).sum(0), (torch.randn(9, 640),)),
    "outer persistent": (lambda x: torch.softmax(x * 2, 0), (torch.randn(40, 64),)),
    "outer reduction split": (lambda x: (x * 2).sum(0), (whole(3000, 24),)),
    "inner+outer reduction": (lambda x: ((y := torch.softmax(x * 2, -1)) * x, y.sum(0)), (X,)),
    "full reduction": (lambda x: (x * 2).sum(), (whole(300, 200),)),
    "scan": (lambda x: (x * 2).cumsum(-1) + 1, (X,)),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("family", ON_GPUS)
def test_a_family_on_a_gpu(family: str) -> None:
    fn, args = ON_GPUS[family]
    with emulated_gpu(SIXTEEN):
        assert family in gpu_families(compiled(fn, *args)), "the example is one"
        assert family not in gpu_families(compiled(fn, *args, disable=f"family:{family}"))


def test_the_rest_on_a_gpu() -> None:
    """A primitive, an operator, a group, and siblings."""

    def two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x * 2).exp(), (x * 2 + 1).sum(-1)

    with emulated_gpu():
        assert "exp" not in primitives(got := compiled(softmax, X, disable="prim:exp"))
        assert "option: prim:exp is disabled" in reasons(got)
        assert "option: op:aten.exp is disabled" in reasons(compiled(softmax, X, disable="op:aten.exp"))
        digest = compiled(softmax, X)[0].groups[0].hash
        assert f"group:{digest} is disabled" in reasons(compiled(softmax, X, disable=f"group:{digest}"))
        x = torch.randn(64, 128)
        assert count_kernels(compiled(two, x)) < count_kernels(compiled(two, x, siblings=False))


def test_families_on_a_gpu() -> None:
    with emulated_gpu():
        got = compiled(softmax, X)
        assert [g.plan.gpu.schedule.family for g in got[0].groups] == ["inner persistent"]
        got = compiled(softmax, X, disable="family:inner_persistent")
        assert "inner persistent" not in [g.plan.gpu.schedule.family for g in got[0].groups]


# --- passes ------------------------------------------------------------------------------------------------------


def count_kernels(graphs: list[GraphRecord]) -> int:
    return sum(len(g.groups) for g in graphs)


def test_siblings() -> None:
    def fn(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (x * 2).exp(), (x * 2 + 1).sum(-1)

    x = torch.randn(64, 128)
    together, apart = compiled(fn, x), compiled(fn, x, siblings=False)
    assert count_kernels(together) < count_kernels(apart)


def test_kernel_reuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return ((x.sin() * 2) @ w).sin() * 2

    args = torch.randn(9, 9), torch.randn(9, 9)
    monkeypatch.setattr(kernels, "_kernels", {})
    before = counters()
    compiled(fn, *args)
    assert counted(before)["kernels_compiled"] == 1 and counted(before)["kernels_reused"] == 1
    before = counters()
    compiled(fn, *args, kernel_reuse=False)
    assert counted(before)["kernels_compiled"] == 2 and counted(before)["kernels_reused"] == 0


def source(graphs: list[GraphRecord]) -> str:
    return "".join(g.plan.source for g in graphs if g.plan is not None)


def test_inplace() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        x.mul_(2).add_(1)
        return x.sum()

    assert "_bump" in source(compiled(fn, X)) and "_bump" not in source(compiled(fn, X, inplace=False))


def test_overwrite() -> None:
    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return ((x.sin() * 2) @ w).exp() * 3 @ w

    args = torch.randn(600, 600), torch.randn(600, 600) / 600
    args[0].requires_grad_()

    def gradients(**options: Any) -> str:
        torch._dynamo.reset()
        with fusewright.options(**options), record.recording() as graphs:
            torch.compile(fn, backend="fusewright")(*args).sum().backward()
        return source(graphs)

    assert "_over(" in gradients() and "_over(" not in gradients(overwrite=False)


def test_guards() -> None:
    x = torch.randn(9, 40, requires_grad=True)

    def gradients(**options: Any) -> str:
        torch._dynamo.reset()
        with fusewright.options(**options), record.recording() as graphs:
            torch.compile(softmax, backend="fusewright")(x).sum().backward()
        return source(graphs)

    assert "_restride(" in gradients() and "_restride(" not in gradients(guards=False)


def test_recompute() -> None:
    """Without, what the backward pass needs is an output of the forward pass."""

    def outputs(**options: Any) -> int:
        torch._dynamo.reset()
        x = torch.randn(64, 64, requires_grad=True)
        y = x.detach().clone().requires_grad_()
        with fusewright.options(**options), record.recording() as graphs:
            fn = lambda x: (x.sin().exp() * 2).tanh()
            torch.compile(fn, backend="fusewright")(x).sum().backward()
            fn(y).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)
        assert graphs[0].traced is not None
        return len(graphs[0].traced.outputs)

    assert outputs() < outputs(recompute=False)


def test_shared_gradients() -> None:
    def outputs(**options: Any) -> tuple[Any, ...]:
        torch._dynamo.reset()
        a, b = (torch.randn(300, 300, requires_grad=True) for _ in range(2))
        with fusewright.options(**options), record.recording() as graphs:
            torch.compile(lambda a, b: (a + b).sin() * 2, backend="fusewright")(a, b).sum().backward()
        assert torch.equal(a.grad, b.grad)
        assert graphs[1].traced is not None
        return tuple(map(str, graphs[1].traced.outputs))

    with_, without = outputs(), outputs(shared_gradients=False)
    assert len(set(with_)) == 2 and len(set(without)) == 1


def test_detach() -> None:
    """What a formula detaches and saves is a value of its own, unless its readers are given the original."""

    def operators(**options: Any) -> str:
        torch._dynamo.reset()
        x = torch.randn(9, 40, requires_grad=True)
        with fusewright.options(**options), record.recording() as graphs:
            torch.compile(lambda x: x.exp().tanh() * 2, backend="fusewright")(x).sum().backward()
        return " ".join(u.target for g in graphs if g.traced is not None for u in g.traced.graph.units)

    assert "detach" not in operators() and "detach" in operators(detach=False)


def axes(graphs: list[GraphRecord]) -> list[int]:
    """How many axes the fusions of kernels have."""
    return [len(g.plan.built.fusion.axes) for graph in graphs for g in graph.groups if g.plan.built is not None]


def test_collapse() -> None:
    fn = lambda x: x.exp() * 2
    assert axes(compiled(fn, X)) == [1] and axes(compiled(fn, X, collapse=False)) == [2]


def test_keep(capsys: pytest.CaptureFixture[str]) -> None:
    compiled(softmax, X, dump="loop")
    assert "kept0" in capsys.readouterr().err
    compiled(softmax, X, dump="loop", keep=False)
    assert "kept" not in capsys.readouterr().err


def test_online(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.randn(3, 70000)
    with emulated_gpu(Gpu((8, 0), 2, 1 << 20, 163 << 10)):
        compiled(lambda x: torch.softmax(x * 2, -1), x, dump="walks")
        assert "on the fly" in capsys.readouterr().err
        compiled(lambda x: torch.softmax(x * 2, -1), x, dump="walks", online=False)
        assert "on the fly" not in capsys.readouterr().err


def test_everything_off_at_once() -> None:
    """Whatever is left out together, results are eager's."""
    off = {row.name: False for row in TABLE if row.metadata["kind"] == "switch" and row.default and row.name != "pool"}
    off["grouping"] = True
    compiled(softmax, X, **off)
    # small sums: the exponential of a sum near 10 has two ulps more for each of the sum's
    compiled(lambda x: (x / 4).sum(0).exp() + x.t().sum(), X, **off)
    with emulated_gpu():
        compiled(softmax, X, **off)


def test_prefetch(capsys: pytest.CaptureFixture[str]) -> None:
    compiled(softmax, X, dump="loop")
    assert "prefetch" in capsys.readouterr().err
    compiled(softmax, X, dump="loop", prefetch=False)
    assert "prefetch" not in capsys.readouterr().err


def test_kernels_of_different_options_are_not_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that an option changes is another kernel."""
    monkeypatch.setattr(kernels, "_kernels", {})
    before = counters()
    for options in ({}, {"prefetch": False}, {"precision": "eager"}, {}, {"prefetch": False}, {"keep": False}):
        compiled(softmax, X, **options)
    assert counted(before)["kernels_compiled"] == 4


def test_families_on_a_gpu_when_new_sizes_come(capsys: pytest.CaptureFixture[str]) -> None:
    """Schedules are chosen by size: a family that is disabled is not used for those that come later either."""

    def run(**options: Any) -> list[str]:
        no_clusters = Gpu((8, 0), 2, 1 << 20, 163 << 10)  # a row that is too long for a block is read again
        with emulated_gpu(no_clusters), warnings.catch_warnings():
            warnings.simplefilter("error", FusewrightWarning)
            with fusewright.options(**options), record.recording() as graphs:
                call = torch.compile(softmax, backend="fusewright", dynamic=True)
                call(X)
            x = torch.randn(3, 70000)
            torch.testing.assert_close(call(x), softmax(x), rtol=1e-4, atol=1e-6)
            return [s.family for graph in graphs for g in graph.groups for s in g.plan.gpu.kernels]

    assert run(dump="loop") == ["inner persistent", "inner reduction"]
    assert capsys.readouterr().err.count("=== loop") == 2, "a kernel that is made at run time is shown, too"
    before = counters()
    assert run(disable="family:inner_reduction") == ["inner persistent"]
    assert counted(before)["fallbacks"] == 0
