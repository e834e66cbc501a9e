"""Custom operators and Triton kernels that write into their operands: in place where nobody else has the memory."""

from __future__ import annotations

import operator
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table, triton_kernel_wrapper_functional
from torch._subclasses import FakeTensorMode
from torch.fx import Graph, GraphModule, Node

import fusewright
from fusewright.pipeline import compile_fx
from fusewright.trace.triton_kernels import launches_traced

SEEN: list[int] = []  # where operators have found what they write into

Program = Callable[..., Any]


@torch.library.custom_op("fusewright_tests::raise_", mutates_args=("x",))
def raise_(x: torch.Tensor, y: torch.Tensor) -> None:
    """x += y"""
    SEEN.append(x.untyped_storage().data_ptr())
    x.add_(y)


@torch.library.custom_op("fusewright_tests::halve_", mutates_args=("x",))
def halve_(x: torch.Tensor) -> torch.Tensor:
    """The sum of x, which is halved."""
    SEEN.append(x.untyped_storage().data_ptr())
    total = x.sum()
    x.mul_(0.5)
    return total


@halve_.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return x.new_empty(())


pytestmark = pytest.mark.usefixtures("strict")
WAYS = ("backend", "fuse")


def made(way: str, fn: Program) -> Program:
    return torch.compile(fn, backend="fusewright") if way == "backend" else fusewright.fuse(fn)


def compared(way: str, fn: Program, *shapes: tuple[int, ...]) -> tuple[Any, list[torch.Tensor], list[int]]:
    """Results, arguments and `SEEN` of the second of two calls that did as eager did."""
    compiled = made(way, fn)
    for _ in range(2):
        inputs = [torch.randn(s) for s in shapes]
        given = [x.clone() for x in inputs]
        expected = fn(*inputs)
        SEEN.clear()
        got = compiled(*given)
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(given, inputs)
    return got, given, list(SEEN)


def fill(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(a)
    raise_(out, b.relu() * 2)
    return out


def through_a_view(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    out = a * 2 + 1
    raise_(out[1:3], b[1:3] * 2)
    return out


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fn", [fill, through_a_view], ids=lambda f: f.__name__)
def test_new_memory_is_written_in_place(fn: Program, way: str) -> None:
    got, _, seen = compared(way, fn, (4, 6), (4, 6))
    assert seen == [got.data_ptr()]


def step(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    raise_(cache, x.sigmoid() * 2)
    return cache.sin() * x


def twice(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    raise_(cache, x.sigmoid() * 2)
    total = halve_(cache)
    return x * total


def row(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    raise_(cache[1], x[0] * 2 + 1)
    return cache * x


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fn", [step, twice, row], ids=lambda f: f.__name__)
def test_arguments_are_written_in_place(fn: Program, way: str) -> None:
    _, given, seen = compared(way, fn, (4, 6), (4, 6))
    assert set(seen) == {given[0].untyped_storage().data_ptr()}
    cache = given[0]
    version = cache._version
    made(way, fn)(*given)
    assert cache._version > version  # as autograd has to know


def read_before(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    t = a * 2
    s = t.sin() + b
    raise_(t, b)
    return t, s


def kept_before(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    t = a * 2
    copy = t.clone()
    raise_(copy, b)
    return t, copy


def computed_twice(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    t, u = a * 2, a * 2
    raise_(t, b)
    return t, u


def argument_read(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    s = a.exp() * b
    raise_(a, b)
    return s + a


def argument_of_both(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    t = a + b
    raise_(t, t)
    return t * 2


def copied_argument(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    t = a.clone()
    raise_(t, b)
    return t, a * 2


def result_and_argument(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    raise_(a, b)
    return a, a.view(-1), a * 1


SHARED = [read_before, kept_before, computed_twice, argument_read, argument_of_both, copied_argument]
SHARED += [result_and_argument]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fn", SHARED, ids=lambda f: f.__name__)
def test_memory_that_others_have(fn: Program, way: str) -> None:
    compared(way, fn, (4, 6), (4, 6))


@pytest.mark.parametrize("way", WAYS)
def test_one_tensor_for_two_arguments(way: str) -> None:
    a = torch.randn(4, 6)
    expected = a.clone()
    want = step(expected, expected)
    torch.testing.assert_close(made(way, step)(a, a), want)
    torch.testing.assert_close(a, expected)


def read_late(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    s = x * 3  # in one kernel with the sine, after the cache is written
    raise_(cache, x.sigmoid() * 2)
    return cache.sin() + s


@pytest.mark.parametrize("way", WAYS)
def test_arguments_on_the_same_memory(way: str) -> None:
    compiled = made(way, read_late)
    compiled(torch.randn(4, 6), torch.randn(4, 6))  # compiled for arguments that are apart
    base = torch.randn(40)
    other = base.clone()
    views = [(x[:24].view(4, 6), x[12:36].view(4, 6)) for x in (base, other)]
    torch.testing.assert_close(compiled(*views[0]), read_late(*views[1]))
    torch.testing.assert_close(base, other)


@pytest.mark.parametrize("way", WAYS)
def test_sizes_that_vary(way: str) -> None:
    compiled = torch.compile(step, backend="fusewright", dynamic=True) if way == "backend" else fusewright.fuse(step)
    for n in (4, 7, 9):
        a, b = torch.randn(n, 6), torch.randn(n, 6)
        c = a.clone()
        SEEN.clear()
        got = compiled(a, b)
        assert SEEN == [a.data_ptr()]
        torch.testing.assert_close(got, step(c, b))
        torch.testing.assert_close(a, c)


def test_gradients() -> None:
    def fn(x: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
        raise_(counts, x.detach().exp() * 2)
        return x.sin() * counts

    x, counts = torch.randn(4, 6, requires_grad=True), torch.zeros(4, 6)
    y, expected = x.detach().clone().requires_grad_(), torch.zeros(4, 6)
    compiled = torch.compile(fn, backend="fusewright")
    compiled(x, counts).sum().backward()
    fn(y, expected).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    torch.testing.assert_close(counts, expected)


def test_without_the_option() -> None:
    with fusewright.options(inplace=False):
        _, given, seen = compared("backend", step, (4, 6), (4, 6))
        assert given[0].data_ptr() not in seen


# --- Triton kernels, without Triton: what stands for one is called as one is -------------------------------------


class Scaled:
    """out = 3 * x, as a Triton kernel says it."""

    __name__ = "scaled"
    arg_names = ("x", "out", "n")
    places: list[int] = []

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(x: torch.Tensor, out: torch.Tensor, n: int, BLOCK: int) -> None:
            assert (grid, BLOCK) == ((2,), 16)
            self.places.append(out.data_ptr())
            out.view(-1)[:n] = 3 * x.reshape(-1)[:n]

        return launch


def call_of(g: Graph, kernel: Any, x: Node, out: Node, mode: Any) -> Node:
    table = kernel_side_table
    index, constants = table.add_kernel(kernel), table.add_constant_args({"BLOCK": 16})
    written = g.call_function(
        triton_kernel_wrapper_functional,
        kwargs={
            "kernel_idx": index,
            "constant_args_idx": constants,
            "grid": [(2,)],
            "tma_descriptor_metadata": {},
            "kwargs": {"x": x, "out": out, "n": 24},
            "tensors_to_clone": ["out"],
        },
    )
    with mode:
        written.meta["val"] = {"out": out.meta["val"].clone()}
    item = g.call_function(operator.getitem, (written, "out"))
    item.meta["val"] = written.meta["val"]["out"]
    return item


@pytest.mark.parametrize("argument", [False, True], ids=["new memory", "argument"])
def test_a_kernel_between_fusions(argument: bool) -> None:
    """cos(scaled(x * 2 + 1)) transposed, into an empty tensor or an argument."""
    aten, mode, g = torch.ops.aten, FakeTensorMode(), Graph()

    def node(target: Any, *args: Any, **kwargs: Any) -> Node:
        n = g.call_function(target, args, kwargs)
        values = torch.fx.node.map_arg((args, kwargs), lambda a: a.meta["val"])
        with mode:
            n.meta["val"] = target(*values[0], **values[1])
        return n

    x, y = g.placeholder("x"), g.placeholder("y")
    for n in (x, y):
        n.meta["val"] = mode.from_tensor(torch.empty(4, 6))
    scaled = node(aten.add.Tensor, node(aten.mul.Tensor, x, 2), 1)
    into = y if argument else node(aten.empty_like.default, scaled)
    item = call_of(g, Scaled(), scaled, into, mode)
    flat = node(aten.mul.Tensor, node(aten.cos.default, node(aten.t.default, item)), 2)
    results = [flat] if argument else [flat, item]
    if argument:
        node(aten.copy_.default, y, item)
    g.output(tuple(results))
    given = torch.randn(4, 6), torch.randn(4, 6)
    Scaled.places.clear()
    out = compile_fx(GraphModule({}, g), "inference")(list(given))
    want = 3 * (given[0] * 2 + 1)
    torch.testing.assert_close(out[0], want.cos().t() * 2)
    torch.testing.assert_close(given[1] if argument else out[1], want)
    assert Scaled.places == [(given[1] if argument else out[1]).data_ptr()]


def test_launches_are_traced_in_one_thread_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interface:
        def __getitem__(self, grid: Any) -> Any:
            return "launched", grid

    class Kernel(Interface):
        pass

    class Wrapped:
        def __init__(self, kernel: Any) -> None:
            pass

        def __getitem__(self, grid: Any) -> Any:
            return "traced", grid

    names = {"KernelInterface": Interface, "JITFunction": Kernel, "Autotuner": Kernel}
    monkeypatch.setitem(sys.modules, "triton.runtime", types.SimpleNamespace(**names))
    monkeypatch.setattr(torch.library, "wrap_triton", Wrapped)
    before, elsewhere = Interface.__getitem__, []
    with launches_traced():
        thread = threading.Thread(target=lambda: elsewhere.append(Kernel()[1]))
        thread.start()
        thread.join()
        with launches_traced():
            assert Kernel()[2] == ("traced", 2)
        assert (Kernel()[3], Interface()[4]) == (("traced", 3), ("launched", 4))
    assert elsewhere == [("launched", 1)]
    assert Interface.__getitem__ is before
