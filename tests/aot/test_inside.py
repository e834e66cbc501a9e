"""Programs compiled ahead of time inside `torch.compile`: one operator of the graph."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.utils import _pytree as pytree

import fusewright
from fusewright import FusewrightError, UserError
from fusewright.run.program import Program
from tests.aot.programs import CASES

BACKENDS = ["eager", "aot_eager", "fusewright"]
X = torch.linspace(-1, 1, 5 * 12).view(5, 12)


def compiled(name: str) -> Program:
    return fusewright.aot_compile(CASES[name].export()[1])


def same(got: object, want: object) -> None:
    a, b = pytree.tree_flatten(got), pytree.tree_flatten(want)
    assert a[1] == b[1]
    for x, y in zip(a[0], b[0], strict=True):
        if isinstance(x, Tensor):
            torch.testing.assert_close(x, y, rtol=0, atol=0, equal_nan=True)
            assert x.stride() == y.stride() and x.requires_grad == y.requires_grad
        else:
            assert type(x) is type(y) and x == y


@pytest.mark.every(6)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "name",
    [
        *("mlp", "gpt", "counting", "batch norm, training", "sizes", "derived", "ordered", "any arguments", "scaled"),
        "empty",
    ],
)
def test_part_of_the_graph(name: str, backend: str, tmp_path: Path) -> None:
    """State and arguments that are written, nested structure, sizes among the results; loaded, and compiled here."""
    torch._dynamo.reset()
    case, path, mine = CASES[name], tmp_path / "p.fwp", compiled(name)
    fusewright.aot_save(mine, path)
    for program in (mine, fusewright.aot_load(path)):
        theirs = fusewright.aot_load(path)
        f = torch.compile(program, backend=backend, fullgraph=True)
        for (args, kwargs), (args2, kwargs2) in zip(case.calls(), case.calls(), strict=True):
            torch.manual_seed(3)
            got = f(*args, **kwargs)
            torch.manual_seed(3)
            same((got, args, kwargs), (theirs(*args2, **kwargs2), args2, kwargs2))
        same(dict(program.named_buffers()), dict(theirs.named_buffers()))


@pytest.mark.parametrize("backend", BACKENDS)
def test_in_the_middle_of_a_function(backend: str) -> None:
    torch._dynamo.reset()
    program, graphs = compiled("mlp"), []

    def counting(gm: torch.fx.GraphModule, inputs: list[Tensor]) -> object:
        graphs.append(gm)
        return torch._dynamo.lookup_backend(backend)(gm, inputs)

    def f(x: Tensor, w: Tensor) -> Tensor:
        return program(x * 2) + program(x) * w

    g = torch.compile(f, backend=counting, fullgraph=True, dynamic=True)
    w = torch.ones(12).requires_grad_()
    for n in (5, 4, 3):
        x = X[:n].clone().requires_grad_()
        out, want = g(x, w), program((x * 2).detach()) + program(x.detach()) * w
        torch.testing.assert_close(out, want)
        out.sum().backward()
        assert x.grad is None  # results of a program require none
    assert len(graphs) == 1 and w.grad is not None
    calls = [n for n in graphs[0].graph.nodes if "fusewright.program_" in str(n.target)]
    assert len(calls) == 2
    with torch.no_grad():
        next(program.parameters()).mul_(2)
    torch.testing.assert_close(g(X, w), f(X, w))


def test_weights_that_the_graph_assigns() -> None:
    torch._dynamo.reset()
    program = compiled("mlp")
    weight = program.get_parameter("up.weight")

    def f(x: Tensor) -> Tensor:
        with torch.no_grad():
            weight.mul_(2)
        return program(x)

    with pytest.raises(FusewrightError, match="assigns its parameters before"):
        torch.compile(f, backend="aot_eager", fullgraph=True)(X)


def test_what_does_not_fit() -> None:
    torch._dynamo.reset()
    program = fusewright.aot_compile(CASES["mlp"].make(), (X,), dynamic_shapes={"x": {0: Dim("n", min=3, max=6)}})
    f = torch.compile(program, backend="eager", fullgraph=True)
    assert torch.equal(f(x=X), program(X))
    with pytest.raises(Exception, match="takes float32"):
        f(X.double())
    with pytest.raises(Exception, match="has 1 dimensions"):
        f(X[0])
    with pytest.raises(UserError, match="exported for 3 to 6"):
        f(torch.cat([X, X]))
    with pytest.raises(Exception):  # noqa: B017  (Dynamo's, for a TypeError)
        f(X, X)
    assert torch.equal(f(X[:4]), program(X[:4]))


@pytest.mark.parametrize("name", ["nested", "writing", "gathered"])
def test_what_no_graph_can_hold(name: str) -> None:
    """Results that are views, or whose sizes depend on values."""
    torch._dynamo.reset()
    case, program, theirs = CASES[name], compiled(name), compiled(name)
    args, kwargs = case.calls()[0]
    with pytest.raises(torch._dynamo.exc.Unsupported, match="compiled program cannot be part of a graph"):
        torch.compile(program, backend="eager", fullgraph=True)(*args, **kwargs)
    torch._dynamo.reset()
    (args, kwargs), (args2, kwargs2) = case.calls()[0], case.calls()[0]
    f = torch.compile(lambda *a, **k: program(*a, **k), backend="eager")
    same((f(*args, **kwargs), args, kwargs), (theirs(*args2, **kwargs2), args2, kwargs2))


class Times(nn.Module):
    def forward(self, x: Tensor, k: int) -> Tensor:
        return x * k


def test_integers_are_integers() -> None:
    """Symbolic, too; a bool would be another program, whose results have another type."""
    torch._dynamo.reset()
    x, graphs = torch.ones(3, dtype=torch.bool), []
    program = fusewright.aot_compile(torch.export.export(Times(), (x, 4), dynamic_shapes=({}, Dim.DYNAMIC)))

    def counting(gm: torch.fx.GraphModule, inputs: list[Tensor]) -> object:
        graphs.append(gm)
        return gm

    f = torch.compile(lambda x, k: program(x, k), backend=counting, fullgraph=True, dynamic=True)
    for k in (4, 5, 6, 7):
        same(f(x, k), x * k)
    assert len(graphs) == 1
    for bad in (True, 4.0):
        with pytest.raises(UserError, match="takes an int"):
            program(x, bad)
        with pytest.raises(torch._dynamo.exc.Unsupported, match="the program takes"):
            f(x, bad)


class Doubling(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x.mul_(2)
        return x + y


@pytest.mark.parametrize("backend", BACKENDS)
def test_written_arguments_that_share_memory(backend: str) -> None:
    """As by a call of the program itself; a backend may hand the operator copies, which share none."""
    torch._dynamo.reset()
    program = fusewright.aot_compile(torch.export.export(Doubling(), (X.clone(), X)))
    f = torch.compile(lambda x, y: program(x, y), backend=backend, fullgraph=True)
    x = X.clone()
    assert torch.equal(f(x, X), 3 * X) and torch.equal(x, 2 * X)
    for y in (x, x.view(60)[:].view(5, 12)):
        with pytest.raises(UserError, match="shares memory with another argument"):
            program(x, y)
        if y is not x:
            torch._dynamo.reset()  # which has no guard for that
        with pytest.raises(Exception, match="shares memory with another argument"):
            f(x, y)
    assert torch.equal(x, 2 * X)


class Shadowing(nn.Module):
    def forward(self, type: dict[str, Tensor], len: list[Tensor], getattr: int) -> Tensor:
        return type["set"] * len[0] + getattr


def test_parameters_with_names_of_builtins() -> None:
    torch._dynamo.reset()
    args = ({"set": X}, [X], 3)
    program = fusewright.aot_compile(torch.export.export(Shadowing(), args))
    f = torch.compile(program, backend="eager", fullgraph=True)
    same(f(*args), program(*args))
    same(f(type=args[0], len=args[1], getattr=3), program(*args))


def test_files_of_before(tmp_path: Path) -> None:
    """They do not say what a plan gives."""
    from tests.aot.test_files import changed

    fusewright.aot_save(compiled("mlp"), tmp_path / "new.fwp")
    path = changed(tmp_path / "new.fwp", tmp_path / "old.fwp", lambda m: m["convention"].pop("outputs"))
    torch._dynamo.reset()
    program = fusewright.aot_load(path)
    assert torch.equal(torch.compile(program, backend="eager")(X), compiled("mlp")(X))
    assert program.about.convention.outputs is None


def test_two_programs_of_one_interface() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)
    modules = [nn.Linear(12, 12) for _ in range(2)]
    one, two = (fusewright.aot_compile(m, (X,)) for m in modules)
    f = torch.compile(lambda x: one(x) - two(x), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(f(X), modules[0](X) - modules[1](X))


VALUES = (2, 1.5, 0.0, math.inf, -math.inf, math.nan, True, None, "mean")


class Scaled(nn.Module):
    def forward(self, x: Tensor, k: object) -> Tensor:
        return x / k if isinstance(k, (int, float)) else x * 2


@pytest.mark.every(3)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_of_another_type_or_sign_are_refused(value: object) -> None:
    """As by a call of the program itself: they would be another program."""
    torch._dynamo.reset()
    x = torch.arange(6)
    program = fusewright.aot_compile(torch.export.export(Scaled(), (x, value)))
    f = torch.compile(lambda x, k: program(x, k), backend="eager", fullgraph=True)
    for other in (*VALUES, 2.0, 1, 0, -0.0, False):
        if type(other) is type(value) and repr(other) == repr(value):
            same((f(x, other), program(x, other)), (Scaled()(x, value),) * 2)
            continue
        with pytest.raises(UserError, match=f"was exported for {value!r} only"):
            program(x, other)
        torch._dynamo.reset()  # to whose guards 0.0 is -0.0
        with pytest.raises(torch._dynamo.exc.Unsupported, match="the program takes"):
            f(x, other)
