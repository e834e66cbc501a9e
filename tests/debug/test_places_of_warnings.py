"""Warnings are of the line of the program that led to them; what we run ourselves is not compiled, nor reported."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fusewright
from fusewright import fallback, pipeline
from fusewright.core.warn import warn
from tests.support import counted, counters

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def f(x: Tensor) -> Tensor:
    return torch.softmax(x * 2, -1) + 1


def compiled() -> Any:
    return torch.compile(f, backend="fusewright")


def defined() -> Any:
    d = fusewright.define("doubled")
    d.output(d.tensor("x", "n, m", "f32") * 2 + 1)
    return d


@pytest.mark.parametrize("way", [compiled, lambda: fusewright.fuse(f), defined])
def test_fallbacks_are_warned_of_where_the_program_calls(way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*args: Any, **given: Any) -> Any:
        raise AssertionError(f"planted in {way}")

    monkeypatch.setattr(pipeline, "build", planted)
    monkeypatch.setattr(fallback, "_warned", set())
    call, x = way(), torch.randn(4, 8)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(x)
    ours = [w for w in found if issubclass(w.category, fusewright.FusewrightWarning)]
    assert len(ours) == 1 and ours[0].filename == __file__, [(w.filename, w.lineno) for w in ours]


def test_a_warning_without_a_line_of_a_program() -> None:
    names: dict[str, Any] = {"warn": warn}
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        exec(compile("warn('hello')", "<fusewright test>", "exec"), names)
    assert [w.filename for w in found] == [__file__]


def step(m: nn.Module, x: Tensor) -> Tensor:
    loss = m(x).square().mean()
    loss.backward()  # breaks the graph: what is called from here, Dynamo looks at
    return loss


def model() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.LayerNorm(4))


@pytest.mark.parametrize("fused", [False, True])
def test_a_step_that_runs_its_backward_pass_is_explained(fused: bool) -> None:
    x = torch.randn(3, 4)
    report = fusewright.explain(fusewright.fuse(step) if fused else step, model(), x)
    if fused:
        assert "computes gradients that are added to .grad" in str(report) and not report.kernels
        return
    assert [b.where.partition(" ")[0].rpartition(":")[0] for b in report.breaks] == [__file__]
    assert {g.kind for g in report.graphs if g.operations} == {"forward", "backward"}
    with pytest.raises(RuntimeError, match="a second time"):
        fusewright.explain(step, model(), x, backward=True)


@pytest.mark.parametrize("option", ["check", "profile"])
def test_what_looks_at_a_backward_pass_is_not_compiled(option: str) -> None:
    m, x, before = model(), torch.randn(3, 4), counters()
    torch.compile(step, backend="fusewright", options={option: True})(m, x)
    done = counted(before)
    assert done["graphs_traced"] == 2 and done["deviations"] == done["fallbacks"] == 0


def test_steps_that_fused_functions_cannot_trace_fall_back_quietly() -> None:
    def gradients(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        loss = (x * w).sum().exp()
        return loss, torch.autograd.grad(loss, w)[0]

    before = counters()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", fusewright.FusewrightWarning)
        fusewright.fuse(step)(model(), torch.randn(3, 4))
        x, w = torch.randn(3), torch.randn(3, requires_grad=True)
        for got, want in zip(fusewright.fuse(gradients)(x, w), gradients(x, w), strict=True):
            torch.testing.assert_close(got, want)
    assert counted(before)["fuse_declined"] == 2 and counted(before)["fallbacks"] == 0
