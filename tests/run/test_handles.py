"""What machine code asks tensors for: the same answers as Python's, and whatever is unusual is Python's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

import fusewright
from fusewright.bench.null import NullDriver
from fusewright.run import devices, direct, handles, internals
from fusewright.run.plan import Plan
from tests.run.test_native import Emulated, emulated, simple
from tests.support import is_ours

__all__ = ["emulated"]  # the fixture
pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own parts")


class Sub(torch.Tensor):
    pass


def test_this_torch_has_handles() -> None:
    """A version without them would be a loss of speed unnoticed."""
    assert handles.functions() is not None
    assert handles.view() is not internals.reinterpret


def test_found_while_something_is_traced() -> None:
    with FakeTensorMode(), torch.device("meta"):
        assert handles.functions.__wrapped__() is not None
        assert handles.view.__wrapped__() is not internals.reinterpret
    with torch.inference_mode():
        assert handles.functions.__wrapped__() is not None


@pytest.mark.parametrize("where", ["TYPE", "TENSOR"])
def test_other_layouts_of_objects_are_noticed(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, where, 0)
    assert handles.functions.__wrapped__() is None


def test_without_the_private_name_python_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "without_modes", None)
    assert handles.functions.__wrapped__() is None


def test_buffers_may_be_tensors() -> None:
    """The second launch is by machine code, of every way to say where a buffer is."""
    x = torch.randn(64)
    p, s, empty = torch.nn.Parameter(x[4:]), x[8:].as_subclass(Sub), torch.empty(0)
    for a, b in ((x, p), (p, x.data_ptr()), (x[16:], x), (empty, empty)):
        gpu, group, site = simple()
        addresses = [t if isinstance(t, int) else t.data_ptr() for t in (a, b)]
        assert site(a, b, 5) is False and site(a, b, 5) is None
        assert [launch[-3:-1] for launch in gpu.by_python] == [tuple(addresses)]
        assert [launch[-3:-1] for launch in gpu.by_native] == [tuple(addresses)]
        assert site(*addresses, 5) is None and group.made == 1
    gpu, group, site = simple()
    for _ in range(2):  # what is more than a tensor is Python's
        assert site(s, x, 5) is False
    assert [launch[-3:-1] for launch in gpu.by_python] == [(s.data_ptr(), x.data_ptr())] * 2 and not gpu.by_native


def test_failed_launches_of_tensors_are_made_again() -> None:
    gpu, _, site = simple()
    x, y = torch.randn(4), torch.randn(4)
    site(x, y, 5)
    gpu.fails = lambda handle: True
    assert site(x, y, 5) is None
    assert gpu.by_python[0][-3:] == gpu.by_python[1][-3:] == (x.data_ptr(), y.data_ptr(), 5)


def bases() -> Iterator[torch.Tensor]:
    x = torch.randn(6, 20)
    yield x
    yield x[2:]
    yield torch.nn.Parameter(x)
    yield x.to(torch.complex64)
    yield x.to(torch.bfloat16).t()
    yield torch.arange(120, dtype=torch.int8)[11:]
    yield x.as_subclass(Sub)
    with torch.inference_mode():
        yield torch.ones(100)


def facts(t: torch.Tensor) -> tuple[Any, ...]:
    about = (type(t), t.dtype, t.shape, t.stride(), t.storage_offset(), t.data_ptr(), t.requires_grad, t.is_leaf)
    return (*about, t.is_inference(), t._is_view(), t.is_conj(), str(torch._C._dispatch_keys(t)))


LAYOUTS: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
    ((), (), 0),
    ((3, 4), (1, 5), 2),
    ((0, 4), (4, 1), 0),
    ((2, 3, 2), (0, 7, 3), 1),
    ((2,), (3,), -1),
    ((2,) + (1,) * 15, (1,) * 16, 0),
    ((2,) + (1,) * 19, (1,) * 20, 0),
]


@pytest.mark.parametrize("size, stride, start", LAYOUTS)
def test_views_are_those_of_torch(size: tuple[int, ...], stride: tuple[int, ...], start: int) -> None:
    for base in bases():
        if start < 0 and base.storage_offset() == 0:
            continue
        made, expected = handles.view()(base, size, stride, start), internals.reinterpret(base, size, stride, start)
        assert facts(made) == facts(expected)


@pytest.mark.parametrize(
    "args",
    [
        (),
        (torch.ones(3),),
        (torch.ones(3), (2,), (1,), 0, 0),
        (3, (2,), (1,), 0),
        (torch.ones(3), (2,), (1, 1), 0),
        (torch.ones(3), (2.5,), (1,), 0),
        (torch.ones(3), ("a",), (1,), 0),
        (torch.ones(3), (2,), (1,), "a"),
        (torch.ones(3), 2, (1,), 0),
        (torch.ones(3), (-2,), (1,), 0),
        (torch.ones(3), (1 << 70,), (1,), 0),
    ],
)
def test_errors_are_those_of_torch(args: tuple[Any, ...]) -> None:
    try:
        expected = facts(internals.reinterpret(*args))
    except Exception as e:
        with pytest.raises(type(e)):
            handles.view()(*args)
    else:
        assert facts(handles.view()(*args)) == expected


def test_views_keep_their_memory_and_nothing_else() -> None:
    view = handles.view()
    base = torch.arange(100.0)
    made = view(base, (10,), (1,), 90)
    size, stride, objects = (4, 5), (5, 1), sys.getrefcount(base)
    uses, counts = internals.storage_uses(base.untyped_storage()._cdata), [sys.getrefcount(x) for x in (size, stride)]
    for _ in range(100):
        view(base, size, stride, 3)
    assert internals.storage_uses(base.untyped_storage()._cdata) == uses
    assert sys.getrefcount(base) == objects and [sys.getrefcount(x) for x in (size, stride)] == counts
    del base
    torch.full((100,), 7.0)
    assert made.tolist() == [float(k) for k in range(90, 100)]


def test_contiguous_or_to_be_asked_of_each() -> None:
    dense = handles.dense()
    x = torch.randn(6, 20)
    good = [x, x[2:], torch.nn.Parameter(x), torch.empty(0, 3), torch.tensor(1.0), torch.ones(1, 5).t()]
    assert dense() is dense(*good) is dense(x) is True
    lazy = (torch._neg_view(x), torch._efficientzerotensor((2,)))
    for other in (x.t(), x[:, 1:], x[::2], x.as_subclass(Sub), None, 3, torch.ones(1).expand(4), *lazy):
        for k in range(len(good)):
            assert dense(*good[:k], other, *good[k:]) is False


@pytest.mark.parametrize("native", [False, True])
def test_tangents_and_saved_tensors_in_other_layouts(
    native: bool, monkeypatch: pytest.MonkeyPatch, emulated: Emulated
) -> None:
    """One check of all, and one of each where that fails, see to the layouts that a kernel was compiled for."""
    asked: list[bool] = []
    made = handles.dense()

    def noted(*tensors: torch.Tensor) -> bool:
        asked.append(made(*tensors))
        return asked[-1]

    monkeypatch.setattr(handles, "dense", lambda: noted)
    if not native:
        monkeypatch.setattr(handles, "dense", lambda: None)

    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(x.sin() * w, (x.shape[-1],), w)

    def turned(t: torch.Tensor) -> torch.Tensor:
        return t.t().contiguous().t() if t.dim() == 2 else t

    f = fusewright.fuse(function)
    x, w = torch.randn(7, 9).requires_grad_(), torch.randn(9).requires_grad_()
    for _ in range(2):
        for change in (lambda t: t, turned):
            with torch.autograd.graph.saved_tensors_hooks(change, change):
                out = f(x, w)
            for g in (torch.randn(7, 9), torch.randn(9, 7).t(), torch.ones(()).expand(7, 9)):
                got = torch.autograd.grad(out, (x, w), g, retain_graph=True)
                torch.testing.assert_close(got, torch.autograd.grad(function(x, w), (x, w), g), rtol=1e-4, atol=1e-5)
    assert set(asked) == ({True, False} if native else set()) and emulated.natively > 0


def test_a_program_with_views_between_torch_and_kernels(emulated: Emulated, monkeypatch: pytest.MonkeyPatch) -> None:
    made, counted = handles.view(), []
    monkeypatch.setattr(handles, "view", lambda: lambda *args: counted.append(1) or made(*args))  # type: ignore[func-returns-value]

    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = torch.nn.functional.linear(x.sin() + 1, w, b).split(6, -1)
        return (torch.bmm(y[0], y[1].transpose(1, 2)).exp() * 0.1).sum((1, 2))

    fused = fusewright.fuse(f)
    x, w = torch.randn(3, 4, 5).requires_grad_(), torch.nn.Parameter(torch.randn(12, 5) / 9)
    b = torch.randn(12).requires_grad_()
    for _ in range(3):
        got, wanted = fused(x, w, b), f(x, w, b)
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)
        both = [torch.autograd.grad(y.sum(), (x, w, b)) for y in (got, wanted)]
        for mine, theirs in zip(*both, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)
    assert len(counted) >= 6


def test_results_that_nobody_checks_are_contiguous() -> None:
    """`direct.CONTIGUOUS` says so of any operands."""
    ways: list[Any] = [lambda t: t, lambda t: t.mT.contiguous().mT, lambda t: torch.cat([t, t], -1)[..., : t.shape[-1]]]
    for m, k, n in ((3, 4, 5), (1, 4, 5), (3, 1, 1), (0, 4, 5), (3, 0, 5), (1, 1, 1)):
        for left in ways:
            for right in ways:
                for dtype in (torch.float32, torch.bfloat16, torch.float64):
                    a, b = left(torch.ones(m, k, dtype=dtype)), right(torch.ones(k, n, dtype=dtype))
                    for bias in (torch.ones(n, dtype=dtype), torch.ones(n, m, dtype=dtype).t(), a.new_ones(1, 1)):
                        assert torch.addmm(bias, a, b).is_contiguous()
                    assert torch.mm(a, b).is_contiguous()
                    c, d = left(torch.ones(2, m, k, dtype=dtype)), right(torch.ones(2, k, n, dtype=dtype))
                    assert torch.bmm(c, d).is_contiguous()
    assert all(str(op) in ("aten.mm.default", "aten.bmm.default", "aten.addmm.default") for op in direct.CONTIGUOUS)


def test_plans_hand_tensors_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """And addresses where there are no handles."""
    sources: list[str] = []
    made = Plan.callable

    def noted(self: Plan) -> Any:
        out = made(self)
        sources.append(self.source)
        return out

    monkeypatch.setattr(Plan, "callable", noted)
    x = torch.randn(4, 64)
    with devices.use("cpu", NullDriver()), fusewright.options(disk_cache=False):
        for k in range(2):
            f = fusewright.fuse(lambda x: torch.softmax(x * 2, -1))
            for _ in range(3):
                f(x)
            assert ("data_ptr" in sources[-1]) is bool(k)
            monkeypatch.setattr(handles, "functions", lambda: None)
