"""`fusewright.compile`: whatever PyTorch calls a program."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import fusewright
from tests.support import counted, counters, random_tensor
from tests.torchscript.support import script_of


def r(*shape, seed=0):
    return random_tensor(shape, seed=seed)


def program(x, y):
    return (x * 2 + y).relu() * y


def branching(x, y):
    if x.size(0) > 3:
        x = x * 2 + 1
    return (x + y) * 2


def test_scripted_and_traced_programs():
    x, y = r(4, 5), r(4, 5, seed=1)
    for made in (torch.jit.script(program), torch.jit.trace(program, (x, y))):
        fused = fusewright.compile(made)
        assert script_of(fused).whole and torch.equal(fused(x, y), program(x, y))
    module = torch.jit.script(nn.Sequential(nn.Linear(5, 5), nn.GELU()))
    torch.testing.assert_close(fusewright.compile(module)(x), module(x))
    exact = fusewright.compile(torch.jit.script(program), precision="eager", siblings=False)
    assert torch.equal(exact(x, y), program(x, y)) and exact._fusewright.overrides["siblings"] is False


def test_sizes_and_whole_graphs():
    scripted, x = torch.jit.script(branching), r(4, 5)
    with pytest.raises(fusewright.UserError, match=r"(?s)fullgraph=True, but.*prim::If depends on sizes"):
        fusewright.compile(scripted, fullgraph=True)
    fixed = fusewright.compile(scripted, fullgraph=True, dynamic=False)
    assert torch.equal(fixed(x, x), branching(x, x))


def test_functions_and_modules_go_through_torch_compile():
    torch._dynamo.reset()
    x, y = r(4, 5), r(4, 5, seed=1)
    before = counters()
    assert torch.equal(fusewright.compile(program)(x, y), program(x, y))
    module = nn.Sequential(nn.Linear(5, 5), nn.GELU())
    torch.testing.assert_close(fusewright.compile(module, precision="eager")(x), module(x))
    assert counted(before)["graphs_traced"] == 3  # one, and one forward and backward

    @fusewright.compile(fullgraph=True, dynamic=True)
    def decorated(x):
        return x * 2 + 1

    assert torch.equal(decorated(x), x * 2 + 1)


def test_exported_programs():
    class Module(nn.Module):
        def forward(self, x, y):
            return program(x, y)

    x, y = r(4, 5), r(4, 5, seed=1)
    batch = torch.export.Dim("batch")
    compiled = fusewright.compile(torch.export.export(Module(), (x, y), dynamic_shapes=({0: batch}, {0: batch})))
    for n in (4, 7):
        x, y = r(n, 5), r(n, 5, seed=1)
        assert torch.equal(compiled(x, y), program(x, y))


@pytest.mark.parametrize("bad", [3, "x", None.__class__, torch.ones(2)])
def test_what_is_no_program(bad):
    with pytest.raises(fusewright.UserError, match="compile: a function, a module"):
        fusewright.compile(bad)


def test_the_name_is_the_function_whatever_has_been_imported():
    import fusewright.backend  # which imports the pipeline

    assert fusewright.compile is fusewright.compiling.compile


def test_unknown_options():
    with pytest.raises(fusewright.UserError, match="unknown option 'precison': did you mean 'precision'"):
        fusewright.compile(program, precison="eager")
