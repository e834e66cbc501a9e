"""`torch.set_default_device` and `with torch.device(...)`: functions stay fused, and what they make goes there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch.overrides import TorchFunctionMode

import fusewright
from fusewright.run.internals import default_device, without_default_device
from fusewright.trace import capture
from tests.support import counted, counters, random_tensor

CPU = torch.device("cpu")


def positions(x):
    return torch.sigmoid(x) * torch.arange(x.size(-1)) + torch.ones(x.size(-1))


@pytest.fixture
def default() -> Iterator[None]:
    torch.set_default_device("cpu")
    yield
    torch.set_default_device(None)


class Passing(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_runs_fused_under_a_default_device(default):
    fused = fusewright.fuse(positions)
    before = counters()
    for n in (3, 4, 5):
        x = random_tensor((2, n)).requires_grad_()
        out = fused(x)
        torch.testing.assert_close(out, positions(x))
        (got,) = torch.autograd.grad(out.sum(), x)
        (want,) = torch.autograd.grad(positions(x).sum(), x)
        torch.testing.assert_close(got, want)
    assert counted(before)["fuse_traces"] == 1 and "_device()" in fused._fusewright.source


def test_the_device_is_part_of_the_signature():
    fused, x = fusewright.fuse(positions), random_tensor((2, 3))
    before = counters()
    for _ in range(2):
        fused(x)
        with torch.device("cpu"):
            fused(x)
    assert counted(before)["fuse_traces"] == 2 and len(fused._fusewright.blocks) == 2


def test_what_the_function_sees():
    seen = []

    @fusewright.fuse
    def f(x):
        seen.append(torch.get_default_device())
        return x + torch.ones(())

    with torch.device("cpu"):
        f(torch.ones(3))
    assert seen and set(seen) == {CPU}


def test_factories_are_traced_for_the_device():
    """A graph for another device than there is here."""
    graphs = []

    def compiler(gm, inputs):
        graphs.append(gm)
        return gm

    described = capture.Described()
    compilers = {k: compiler for k in ("forward", "backward", "inference")}
    compilers.update(partition=None, decompositions={})
    capture.capture(lambda: torch.arange(7), (), described, {}, compilers, torch.device("cuda", 1))
    (made,) = (n for n in graphs[0].graph.nodes if "arange" in str(n.target))
    assert made.kwargs["device"] == torch.device("cuda", 1)


def test_the_device_is_back_after_a_trace_and_after_one_that_fails():
    def f(x):
        if bool(x.sum() > 0):
            return x + 1
        return x

    fused = fusewright.fuse(f)
    with torch.device("cpu"):
        with pytest.raises(fusewright.UserError):
            fused(torch.ones(3))
        assert default_device() == CPU
        with without_default_device():
            assert default_device() is None
        fusewright.fuse(positions)(torch.ones(3))
        assert default_device() == CPU
    assert default_device() is None


def test_other_modes_and_meta_see_the_plain_function():
    fused, x = fusewright.fuse(lambda n: torch.ones(n) * 2), 3
    before = counters()
    with torch.device("meta"):
        assert fused(x).device.type == "meta"
    with Passing(), torch.device("cpu"):
        assert default_device() is False
        fused(x)
    with torch.device("cpu"), Passing():
        fused(x)
    assert counted(before)["fuse_traces"] == 0
    assert fused(x).device == CPU
    with torch.device("meta"):
        assert fused(x).device.type == "meta"


def test_scripted_functions_ignore_it():
    scripted = torch.jit.script(_made)
    fused, x = fusewright.fuse(scripted), random_tensor((3,))
    with torch.device("cpu"):
        torch.testing.assert_close(fused(x), scripted(x))


def _made(x):
    return torch.sigmoid(x) * 2 + torch.ones(3)


def test_programs_are_loaded_under_a_default_device(tmp_path):
    program = fusewright.aot_compile(torch.nn.Linear(3, 3), (torch.ones(2, 3),))
    fusewright.aot_save(program, tmp_path / "p.fwp")
    with torch.device("meta"):
        loaded = fusewright.aot_load(tmp_path / "p.fwp")
    x = torch.ones(2, 3)
    assert torch.equal(loaded(x), program(x))
