"""A failure planted in every stage: the program still gives eager's results, says so once, and counts it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import fusewright
from fusewright import backend, fallback, pipeline
from fusewright.core.errors import CompilerError, FusewrightWarning, RuntimeFault, UserError, VerifyError
from fusewright.run import kernels
from tests.support import assert_agrees, clone_like, counted, counters


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No cached kernels, no cause warned about yet, nothing traced."""
    torch._dynamo.reset()
    monkeypatch.setattr(fallback, "_warned", set())
    monkeypatch.setattr(kernels, "_kernels", {})
    with fusewright.options(disk_cache=False):
        yield
    torch._dynamo.reset()


def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x * 2 + 1)  # the first line
    y = y - y.mean(-1, keepdim=True)
    z = y @ w
    return torch.tanh(z) * z + 3  # the last line


X, W = torch.randn(7, 12), torch.randn(12, 5)


def _fail(error: Exception) -> Callable[..., Any]:
    def planted(*args: Any, **kwargs: Any) -> Any:
        raise error

    return planted


# stage -> (where the pipeline looks the function up, what it raises)
STAGES: dict[str, tuple[Any, str, Exception]] = {
    "lower": (pipeline, "lower", AssertionError("planted in lower")),
    "verify": (kernels, "verify", VerifyError("planted in verify", "verify loop")),
    "emit": (kernels, "emit", KeyError("planted in emit")),
    "compile": (kernels.llvm_jit, "compile_ir", CompilerError("planted in compile", "build")),
    "load": (kernels.llvm_jit, "load", RuntimeFault("planted in load")),
    "plan": (pipeline, "plan", ZeroDivisionError("planted in plan")),
    "build": (pipeline, "build", IndexError("planted in build")),
    "group": (pipeline, "group", RuntimeError("planted in group")),
    "translate": (pipeline, "translate", ValueError("planted in translate")),
    "rewrite": (backend, "follow_known_indices", RuntimeError("planted in rewrite")),
    "trace": (backend, "_compiler", AssertionError("planted in trace")),
}


def _run(stage: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[list[str], dict[str, int]]:
    """(warnings, counters) of two calls of two functions with the failure planted; results are compared to eager's."""
    where, name, error = STAGES[stage]
    monkeypatch.setattr(where, name, _fail(error))
    before = counters()
    with warnings.catch_warnings(record=True) as caught, fusewright.options(**options):
        warnings.simplefilter("always")
        call = torch.compile(fn, backend="fusewright")
        for _ in range(2):
            assert_agrees(call(X, W), fn(X, W))
        other = torch.compile(lambda x: torch.sigmoid(x) * x.exp(), backend="fusewright")
        assert_agrees(other(X), torch.sigmoid(X) * X.exp())
    ours = [str(w.message) for w in caught if issubclass(w.category, FusewrightWarning)]
    return ours, counted(before)


@pytest.mark.parametrize("stage", STAGES)
def test_the_program_still_works(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said, grew = _run(stage, monkeypatch)
    assert len(said) == 1, said
    assert f"planted in {stage}" in said[0] and "FUSEWRIGHT_DISABLE=fallback" in said[0]
    assert grew["fallbacks"] >= 2 and (grew["kernels_compiled"] == 0 or stage == "load")


WHOLE_GRAPH = ("group", "translate", "rewrite", "trace")  # before there are groups


@pytest.mark.parametrize("stage", [s for s in STAGES if s not in WHOLE_GRAPH])
def test_the_warning_names_the_line(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said, _ = _run(stage, monkeypatch)
    assert "test_fallback.py:" in said[0] and "the first line" in said[0]


@pytest.mark.parametrize("stage", STAGES)
def test_gradients_too(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, error = STAGES[stage]
    monkeypatch.setattr(where, name, _fail(error))
    (x, w), (x2, w2) = clone_like([X.clone().requires_grad_(), W]), clone_like([X.clone().requires_grad_(), W])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(fn, backend="fusewright")(x, w).sum().backward()
    fn(x2, w2).sum().backward()
    torch.testing.assert_close(x.grad, x2.grad)


def test_a_joint_graph_that_cannot_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "min_cut_rematerialization_partition", _fail(AssertionError("planted")))
    grads = []
    for call in (torch.compile(fn, backend="fusewright"), fn):
        x = X.clone().requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(x, W).sum().backward()
        grads.append(x.grad)
    assert torch.equal(*grads)


@pytest.mark.parametrize("stage", STAGES)
def test_without_fallback_it_raises(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One class whatever failed, with the stage and the user's line."""
    where, name, error = STAGES[stage]
    monkeypatch.setattr(where, name, _fail(error))
    with fusewright.options(fallback=False), pytest.raises(Exception) as raised:
        torch.compile(fn, backend="fusewright")(X, W)
    found = _ours(raised.value)
    assert found is not None, repr(raised.value)
    assert f"planted in {stage}" in str(found) and found.stage
    assert _ends(raised.value)
    if stage not in WHOLE_GRAPH:
        assert "test_fallback.py:" in found.where


def _ours(e: BaseException | None) -> CompilerError | None:
    """The CompilerError among an exception, its cause and what Dynamo wrapped."""
    seen: set[int] = set()
    while e is not None and id(e) not in seen:
        seen.add(id(e))
        if isinstance(e, CompilerError):
            return e
        e = getattr(e, "inner_exception", None) or e.__cause__ or e.__context__
    return None


def _ends(e: BaseException | None) -> bool:
    """Whether following causes comes to an end."""
    steps = 0
    while e is not None and steps < 100:
        e, steps = e.__cause__ or e.__context__, steps + 1
    return e is None


def test_causes_of_what_tracing_raises_end() -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > 0 else x

    def counts(x: torch.Tensor) -> torch.Tensor:
        return sum((x * k for k in range(x.size(0))), x)

    for f in (branches, counts):
        with pytest.raises(UserError) as raised:
            fusewright.fuse(f)(X)
        assert _ends(raised.value) and raised.value.__cause__ is not None


def test_options_of_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "lower", _fail(AssertionError("planted")))
    with pytest.raises(Exception, match="planted"):
        torch.compile(fn, backend="fusewright", options={"fallback": False})(X, W)


def test_one_warning_per_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many groups, one cause: one warning. Another cause: another."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for message in ("first", "first", "second"):
            torch._dynamo.reset()
            monkeypatch.setattr(pipeline, "lower", _fail(AssertionError(message)))
            torch.compile(fn, backend="fusewright")(X, W)
    said = [str(w.message) for w in caught if issubclass(w.category, FusewrightWarning)]
    assert len(said) == 2 and "first" in said[0] and "second" in said[1]


def test_nothing_to_say_when_nothing_fails() -> None:
    before = counters()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert_agrees(torch.compile(fn, backend="fusewright")(X, W), fn(X, W))
    assert not [w for w in caught if issubclass(w.category, FusewrightWarning)]
    assert counted(before)["fallbacks"] == 0 and counted(before)["kernels_compiled"] > 0
