"""Settings of the ways in that make no sense: an error that names the argument, at once."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright import UserError, executors

GELU = torch.ops.aten.gelu.default


def f(x):
    return x * 2


@torch.jit.script
def scripted(x):
    return x * 2 + 1


class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2 + 1


@pytest.fixture(scope="module")
def program():
    exported = torch.export.export(
        Net(), (torch.ones(4, 3),), dynamic_shapes={"x": {0: torch.export.Dim("n", min=2, max=64)}}
    )
    return fusewright.aot_compile(exported)


@pytest.mark.parametrize(
    "message, call",
    [
        ("fuse: dynamic must be True or False, not 'no'", lambda: fusewright.fuse(f, dynamic="no")),
        ("fuse: dynamic must be True or False, not None", lambda: fusewright.fuse(dynamic=None)),
        ("'autotune' must be True or False, not 1", lambda: fusewright.fuse(f, autotune=1)),
        ("compile: fullgraph must be True or False, not 'no'", lambda: fusewright.compile(f, fullgraph="no")),
        ("compile: dynamic must be True or False, not 'no'", lambda: fusewright.compile(f, dynamic="no")),
        ("compile: dynamic must be True or False, not 0", lambda: fusewright.compile(scripted, dynamic=0)),
        ("fuser: enabled must be True or False, not 'no'", lambda: fusewright.fuser(enabled="no")),
        ("'disable' must be a list of names, not 3", lambda: fusewright.fuser(disable=3)),
        ("static_argnums: .* not 'x'", lambda: fusewright.memory_efficient_fusion(f, static_argnums="x")),
        ("static_argnums: .* not 1.5", lambda: fusewright.memory_efficient_fusion(f, static_argnums=1.5)),
        ("static_argnums: .* not .True", lambda: fusewright.memory_efficient_fusion(f, static_argnums=[True])),
        ("args must be a tuple", lambda: fusewright.aot_compile(Net(), [torch.ones(3)])),
        ("kwargs must be a dictionary", lambda: fusewright.aot_compile(Net(), (torch.ones(3),), 3)),
        ("aot_load: path must be a path, not 3", lambda: fusewright.aot_load(3)),
        ("aot_load: mmap must be True or False, not 'no'", lambda: fusewright.aot_load("x", mmap="no")),
        ("aot_load: weights must be a dictionary", lambda: fusewright.aot_load("x", weights=[3])),
        ("executor m needs an operator or a pattern, the list is empty", lambda: executors.register("m", [], f)),
        ("devices are 'cpu' and 'cuda', not 3", lambda: executors.register("m", GELU, f, devices=3)),
        ("pattern: a function is needed, not 3", lambda: executors.pattern(3, torch.ones(3))),
        ("pattern: name must be a string, not 3", lambda: executors.pattern(f, torch.ones(3), name=3)),
        ("pattern 'f': .* give an example for each parameter", lambda: executors.pattern(f)),
        ("pattern 'f': .* give an example for each parameter", lambda: executors.pattern(f, f, f)),
        ("which those of .args have not", lambda: executors.pattern(lambda *a: a[0] * 2, torch.ones(3))),
        ("tensors that it computes", lambda: executors.pattern(lambda x: x, torch.ones(3))),
        ("tensors that it computes", lambda: executors.pattern(lambda x: (x * 2, None), torch.ones(3))),
        ("tensors that it computes", lambda: executors.pattern(f, 3)),
    ],
)
def test_settings_of_a_wrong_kind(message, call):
    before = executors.registered()
    with pytest.raises(UserError, match=message):
        call()
    assert executors.registered() == before


@pytest.mark.parametrize(
    "message, given",
    [
        ("weights must be True or False, not 'no'", {"weights": "no"}),
        ("architectures must be a list of names, not 3", {"architectures": 3}),
        ("architectures must be a list of names, not .3.", {"architectures": [3]}),
        ("sizes must be a list", {"sizes": 3}),
        ("sizes must be a list", {"sizes": {"x.shape[0]": 3}}),
        ("there is no size named 'y', only", {"sizes": [{"y": 3}]}),
        (r"x.shape\[0\] must be an integer, not 'a'", {"sizes": [{"x.shape[0]": "a"}]}),
        ("is outside of what the program was exported for", {"sizes": [{"x.shape[0]": 65}]}),
        ("x must be an example, its shape or None, not 'a'", {"sizes": [("a",)]}),
        ("2 example arguments for 1", {"sizes": [((3, 3), (3, 3))]}),
    ],
)
def test_what_a_program_is_saved_with(message, given, program, tmp_path):
    """Sizes too, though all kernels are for CPUs, which serve all."""
    with pytest.raises(UserError, match=message):
        fusewright.aot_save(program, tmp_path / "p.fwp", **given)
    assert not list(tmp_path.iterdir())


def test_where_a_program_is_saved(program, tmp_path):
    with pytest.raises(UserError, match="aot_save: path must be a path, not 3"):
        fusewright.aot_save(program, 3)
    fusewright.aot_save(program, tmp_path / "p.fwp", sizes=[{"x.shape[0]": 8}, (torch.ones(5, 3),), ((7, 3),)])
    assert torch.equal(fusewright.aot_load(tmp_path / "p.fwp")(torch.ones(5, 3)), torch.full((5, 3), 3.0))
