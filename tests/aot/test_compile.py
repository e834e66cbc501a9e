"""Programs of torch.export, compiled in this process: eager's results, for every size, layout and structure."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

import fusewright
from fusewright import CompilerError
from fusewright.trace import exported
from tests.aot.programs import CASES, Case
from tests.support import assert_agrees, clone_like, no_fallbacks


@pytest.mark.every(6)
@pytest.mark.parametrize("name", CASES)
def test_programs(name: str) -> None:
    case: Case = CASES[name]
    module, source = case.export()
    state = copy.deepcopy(module)
    with no_fallbacks():
        program = fusewright.aot_compile(source)
    for k, (args, kwargs) in enumerate(case.calls()):
        mine = clone_like((args, kwargs))
        theirs = clone_like((args, kwargs))
        with torch.no_grad():
            want = state(*theirs[0], **theirs[1])
        got = program(*mine[0], **mine[1])
        if k >= len(case.sizes):  # results are laid out as those of the export, whatever the arguments' strides are
            want = tree_map(_laid_out_as, want, got)
        assert_agrees(tree_map(_plain, got), tree_map(_plain, want))
        assert_agrees(mine, theirs)
        if case.exact:
            for a, b in zip(tree_leaves(got), tree_leaves(want), strict=True):
                assert not isinstance(a, torch.Tensor) or torch.equal(a, b)
    for key, t in state.state_dict().items():
        torch.testing.assert_close(program.state_dict()[key], t, msg=key)
    assert list(program.state_dict()) == list(state.state_dict())


def _laid_out_as(x: object, like: object) -> object:
    if not isinstance(x, torch.Tensor) or not isinstance(like, torch.Tensor):
        return x
    return torch.empty_strided(x.shape, like.stride(), dtype=x.dtype).copy_(x)


def _plain(x: object) -> object:
    return x.detach() if isinstance(x, torch.Tensor) else x


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ["counting", "writing", "gpt"])
def test_programs_that_torch_has_already_worked_on(name: str, tmp_path: Path) -> None:
    """Exported strictly, decomposed, saved and loaded by torch."""
    case = CASES[name]
    _, plain = case.export()
    torch.export.save(plain, tmp_path / "program.pt2")
    for program in (
        replace(case, strict=True).export()[1],
        plain.run_decompositions(),
        torch.export.load(tmp_path / "program.pt2"),
    ):
        compiled = fusewright.aot_compile(program)
        fresh = case.make()  # what is exported is not changed by calls of others
        fresh.load_state_dict(program.state_dict, strict=False)
        args, kwargs = case.args(*case.sizes[-1])
        mine, theirs = clone_like((args, kwargs)), clone_like((args, kwargs))
        with torch.no_grad():
            want = fresh(*theirs[0], **theirs[1])
        got = compiled(*mine[0], **mine[1])
        assert_agrees(tree_map(_plain, got), tree_map(_plain, want))
        assert_agrees(mine, theirs)


def test_sizes_that_torch_fixes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some operators' own code, asked to take them apart, wants to know sizes, and nothing else tells."""
    op = torch.ops.aten.upsample_bilinear2d.vec

    def by_its_own_code(*args: object) -> object:
        return op._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args)

    table = exported._table
    monkeypatch.setattr(exported, "_table", lambda ours: {**table(ours), op: by_its_own_code})
    with pytest.raises(CompilerError, match=r"torch fixes x.shape\[0\], which is to vary"):
        fusewright.aot_compile(CASES["image"].export()[1])
