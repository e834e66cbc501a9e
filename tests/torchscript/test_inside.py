"""Fused scripted modules inside `torch.compile`: part of the graph, with gradients, for every backend."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

import fusewright
from tests.support import random_tensor as r

BACKENDS = ["eager", "aot_eager", "fusewright"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.0)
        self.scale = 2.0
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen.add_(x.size(0))
        return self.drop(F.gelu(self.norm(self.conv(x)))) * self.scale


class Structured(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 4))

    def forward(
        self, x, y: Tensor | None = None, k: float = 2.0, n: int = 3
    ) -> tuple[Tensor, int, list[Tensor], dict[str, Tensor]]:
        z = x * self.weight * k
        if y is not None:
            z = z + y
        for _ in range(n):
            z = z.sin()
        if x.size(0) > 4:
            z = z * 2
        return z, x.size(0), [z * 2], {"a": z + 1}


def gradients(out, module):
    (sum(t.square().sum() for t in tree_leaves(out) if isinstance(t, Tensor))).backward()
    return [p.grad for p in module.parameters()]


@pytest.mark.every(6)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("make", "args"),
    [
        (Net, (r((2, 3, 8)),)),
        (lambda: nn.Sequential(Net().eval(), nn.Linear(6, 6)), (r((2, 3, 8)),)),
        (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (r((2, 3, 8)),)),
        (Structured, (r((3, 4)),)),
        (Structured, (r((5, 4)), None, 3.0, 4)),
        (Structured, (r((3, 4)), r((3, 4), seed=1))),
    ],
    ids=["net", "eval", "transformer", "structured", "none", "optional"],
)
def test_a_module_is_part_of_the_graph(make, args, backend):
    torch._dynamo.reset()
    torch.manual_seed(0)
    theirs = make()
    mine = fusewright.fuse(torch.jit.script(copy.deepcopy(theirs)))
    compiled = torch.compile(mine, backend=backend, fullgraph=True)
    for _ in range(2):
        got, want = compiled(*args), theirs(*args)
        tree_map(torch.testing.assert_close, got, want)
        for a, b in zip(gradients(got, mine), gradients(want, theirs), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
    for a, b in zip(mine.buffers(), theirs.buffers(), strict=True):
        torch.testing.assert_close(a, b)


def test_called_in_a_function_that_is_compiled():
    """A traced module, without Python code of its own, in the middle of a graph that backends see as operations."""
    torch._dynamo.reset()
    traced = torch.jit.trace(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), (r((2, 4)),))
    mine, targets = fusewright.fuse(traced), []

    def backend(gm, inputs):
        from torch._dynamo.backends.common import aot_autograd

        return aot_autograd(fw_compiler=lambda gm, _: targets.extend(str(n.target) for n in gm.graph.nodes) or gm)(
            gm, inputs
        )

    x = r((3, 4)).requires_grad_()
    out = torch.compile(lambda x: mine(x * 2).cos(), backend=backend, fullgraph=True)(x)
    torch.testing.assert_close(out, traced(x * 2).cos())
    assert "aten.tanh.default" in targets and "aten.cos.default" in targets
    (got,) = torch.autograd.grad(out.sum(), x)
    (want,) = torch.autograd.grad(traced(x * 2).cos().sum(), x)
    torch.testing.assert_close(got, want)


@pytest.mark.every(2)
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_assigned_is_seen(backend):
    class Held(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.n = nn.Parameter(torch.ones(4)), 3
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return self.drop((x * self.weight).sum(-1) * x.size(0) + self.n)

    torch._dynamo.reset()
    scripted, graphs = torch.jit.script(Held().eval()), []
    fused = fusewright.fuse(scripted)

    def counting(gm, inputs):
        graphs.append(gm)
        return torch._dynamo.lookup_backend(backend)(gm, inputs)

    compiled = torch.compile(fused, backend=counting, fullgraph=True, dynamic=True)

    def same(x):
        torch.testing.assert_close(compiled(x), scripted(x))

    for n in (3, 4, 5, 7):
        same(r((n, 4)))
    assert len(graphs) == 1
    scripted.weight = nn.Parameter(torch.full((4,), 2.0))
    same(r((3, 4)))
    scripted.n = 5
    same(r((3, 4)))
    fused.double()
    same(r((3, 4), torch.float64))
    fused.train()
    assert (compiled(torch.ones(200, 4, dtype=torch.float64)) == 0).any()
    fused.eval()
    same(r((6, 4), torch.float64))


def test_other_places():
    """Inside another fused function; with parameters that are not the module's; by a copy."""
    torch._dynamo.reset()
    scripted = torch.jit.script(nn.Linear(4, 4))
    mine, x = fusewright.fuse(scripted), r((3, 4))
    twin = copy.deepcopy(mine)
    with torch.no_grad():
        twin.weight.zero_()
    compiled = torch.compile(lambda x: mine(x) - twin(x), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), scripted(x) - twin.bias)


class OnValues(nn.Module):
    def forward(self, x):
        return x * 2 if bool(x.sum() > 0) else x - 1


class Assigning(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(4))

    def forward(self, x):
        self.n = self.n + 1
        return x * self.n


@pytest.mark.parametrize(("make", "why"), [(OnValues, "reads a value"), (Assigning, "assigns the attribute n")])
def test_what_no_graph_can_hold(make, why):
    torch._dynamo.reset()
    theirs, x = make(), r((3, 4))
    mine = fusewright.fuse(torch.jit.script(copy.deepcopy(theirs)))
    with pytest.raises(torch._dynamo.exc.Unsupported, match=rf"{why}.*torch.compiler.disable"):
        torch.compile(mine, backend="eager", fullgraph=True)(x)
    torch._dynamo.reset()
    broken = torch.compile(mine, backend="eager")
    for y in (x, -x, x):
        torch.testing.assert_close(broken(y), theirs(y))


def test_arguments_that_fail():
    torch._dynamo.reset()
    mine = fusewright.fuse(torch.jit.script(nn.Linear(4, 4)))
    compiled = torch.compile(mine, backend="eager")
    for bad in ((), (r((3, 4)), 1), ("x",), (r((3, 5)),)):
        with pytest.raises(Exception):  # noqa: B017  (TypeError, TorchScript's, Dynamo's)
            compiled(*bad)
    assert compiled(r((3, 4))).shape == (3, 4)


class Listed(nn.Module):
    def forward(self, x, ys: list[Tensor | None], mode: str = "", d: dict[str, int] | None = None):
        for y in ys:
            if y is not None:
                x = x + y
        if mode == "<None>":
            x = x * 3
        return x if d is None else x * d["k"]


def test_none_in_containers_and_as_text():
    torch._dynamo.reset()
    scripted, x = torch.jit.script(Listed()), r((3, 4))
    compiled = torch.compile(fusewright.fuse(scripted), backend="aot_eager", fullgraph=True)
    for args in ((x, [x, None]), (x, [None, x], "<None>"), (x, [x], "", {"k": 3}), (x, [x], "", None)):
        torch.testing.assert_close(compiled(*args), scripted(*args))
    torch.testing.assert_close(compiled(x=x, ys=[None], mode="<None>", d=None), x * 3)


class Sized(nn.Module):
    def forward(self, x, size: list[int], d: dict[str, int], scale: float | None = None):
        return x.view(size) * d["k"] if scale is None else x.view(size) * scale


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("scale", [(), (0.5,)])
def test_symbolic_numbers_in_containers(kind, scale):
    torch._dynamo.reset()
    scripted, graphs = torch.jit.script(Sized()), []
    compiled = torch.compile(fusewright.fuse(scripted), backend=lambda gm, _: graphs.append(gm) or gm, fullgraph=True)
    for n, k in ((3, 5), (4, 6), (5, 7), (6, 9), (7, 4)):
        args = r((n, 4)), kind([4, n]), {"k": k}, *(k * x for x in scale)
        torch.testing.assert_close(compiled(*args), scripted(*args))
    assert len(graphs) <= 3  # of five sizes
