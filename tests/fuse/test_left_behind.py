"""What tracing leaves behind: the caller's modes, what Dynamo knows, and memory."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

import fusewright
from fusewright.trace import nested

pytestmark = pytest.mark.filterwarnings("error::fusewright.core.errors.FusewrightWarning")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def within(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        return a * b


def switched(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    out = a * b
    torch.set_grad_enabled(before)
    return out


@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("fn", [within, switched])
def test_the_mode_is_the_callers(fn: Callable[..., torch.Tensor], mode: Callable[[], Any]) -> None:
    a, b = torch.randn(3, requires_grad=True), torch.randn(3)
    fused = fusewright.fuse(fn)
    for _ in range(3):
        with mode():
            before = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
            want, got = fn(a, b), fused(a, b)
            assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == before
            assert got.requires_grad == want.requires_grad and got.is_inference() == want.is_inference()
        torch.testing.assert_close(got, want)


def test_compiled_functions_are_compiled_afterwards() -> None:
    """They run as plain functions in the trace, and Dynamo is not asked about them."""
    made: list[str] = []

    def backend(gm: torch.fx.GraphModule, inputs: Any) -> Any:
        made.append("")
        return gm.forward

    some = torch.compile(lambda x: x.sin() * 2, backend=backend)
    whole = torch.compile(lambda x: x.cos() * 2, backend=backend, fullgraph=True)
    x = torch.randn(4)
    torch.testing.assert_close(fusewright.fuse(lambda x: some(x) + whole(x))(x), (x.sin() + x.cos()) * 2)
    assert made == []
    some(x), whole(x)
    assert len(made) == 2


def test_control_flow_works_afterwards() -> None:
    def fn(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.cond(a.sum() > 0, lambda a, b: (a * b).sin(), lambda a, b: a - b, (a, b))

    a, b = torch.rand(4), torch.rand(4)
    torch.testing.assert_close(fusewright.fuse(fn)(a, b), (a * b).sin())
    torch.testing.assert_close(fn(-a, b), -a - b)


def test_other_threads_compile_meanwhile() -> None:
    inside, compiled = threading.Event(), threading.Event()
    made: list[str] = []

    def backend(gm: torch.fx.GraphModule, inputs: Any) -> Any:
        made.append("")
        return gm.forward

    def slow(x: torch.Tensor) -> torch.Tensor:
        inside.set()
        assert compiled.wait(60)
        return x + 1

    def other() -> None:
        inside.wait(60)
        torch.compile(lambda x: x * 3, backend=backend, fullgraph=True)(torch.ones(2))
        compiled.set()

    thread = threading.Thread(target=other)
    thread.start()
    fusewright.fuse(slow)(torch.ones(3))
    thread.join()
    assert made == [""]


def test_torch_without_the_name_that_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses the frames then, as it did, and the results are the same."""
    monkeypatch.setattr(nested, "NAME", "_no_such_name")
    some = torch.compile(lambda x: x.sin() * 2, backend="eager")
    x = torch.randn(4)
    torch.testing.assert_close(fusewright.fuse(lambda x: some(x) + 1)(x), x.sin() * 2 + 1)


def test_our_own_code_is_not_compiled() -> None:
    """A backward pass within a function that Dynamo sees frame by frame."""

    def fn(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        d = a * b
        return (a * b).sum(), torch.autograd.grad(d.sum(), a)[0]

    a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
    counters.clear()
    got = torch.compile(fn, backend="fusewright")(a, b)
    torch.testing.assert_close(got, fn(a, b))
    assert counters["frames"]["total"] < 100  # 433 where ours were among them


def test_functions_are_freed() -> None:
    """Torch keeps what it has found out about sizes, with all that hangs on it."""

    def made() -> tuple[Any, Any]:
        def fn(a: torch.Tensor) -> torch.Tensor:
            return a * 2 + 1

        return fusewright.fuse(fn), weakref.ref(fn)

    refs = []
    for _ in range(3):
        fused, ref = made()
        fused(torch.randn(3))
        refs.append(ref)
        del fused
    gc.collect()
    assert sum(ref() is not None for ref in refs) <= 1  # of the last trace, until there is another


def test_traces_do_not_pile_up() -> None:
    def once() -> int:
        fusewright.fuse(lambda a: a * 2 + 1)(torch.randn(3))
        gc.collect()
        return len(gc.get_objects())

    for _ in range(5):
        once()
    before = once()
    after = [once() for _ in range(10)][-1]
    assert after - before < 10 * 100  # some 370 for each call, where they did
