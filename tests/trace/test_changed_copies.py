"""What torch computes as a changed copy of an operand is written into that where nothing reads it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import fusewright
from fusewright.debug import record
from fusewright.run.changed_copies import COPYING, in_place
from fusewright.trace import lowering
from tests.emulate.driver import emulated_gpu
from tests.support import assert_same_tensor_metadata, clone_like

WAYS = ("backend", "dynamic", "fuse")
# Those that are kernels on a CPU are left to torch here.
RULES = {str(op).rpartition(".")[0] for op in lowering.RULES}
LEFT = [f"op:aten.{name}" for name in sorted(COPYING) if f"aten.{name}" in RULES]
aten = torch.ops.aten
Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def left(strict: None) -> Iterator[None]:
    with fusewright.options(disable=LEFT):
        yield


def made(way: str, fn: Program) -> Program:
    if way == "fuse":
        return fusewright.fuse(fn)
    return torch.compile(fn, backend="fusewright", dynamic=way == "dynamic")


def written(graphs: list[record.GraphRecord]) -> list[str]:
    """The operators that run in place."""
    found = []
    for g in graphs:
        assert g.plan is not None
        names = [str(in_place(n.target)) for n in g.traced.nodes if n in g.plan.in_place]  # type: ignore[union-attr]
        found += [name.removeprefix("aten.") for name in names]
    return found


def compared(way: str, fn: Program, *args: Any) -> list[str]:
    """The operators that run in place in a program whose results, and arguments afterwards, are eager's."""
    compiled = made(way, fn)
    with record.recording() as graphs:
        for _ in range(2):
            mine, theirs = clone_like(args), clone_like(args)
            got, expected = compiled(*mine), fn(*theirs)
            torch.testing.assert_close(got, expected, equal_nan=True)
            torch.testing.assert_close(mine, theirs)
            one = isinstance(got, Tensor)
            for a, b in zip([got] if one else got, [expected] if one else expected, strict=True):
                assert_same_tensor_metadata(a, b)
    return written(graphs)


def values(dtype: torch.dtype, *shape: int) -> Tensor:
    return torch.randint(0, 5, shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def places(*shape: int) -> Tensor:
    return torch.randint(0, 6, shape, generator=torch.Generator().manual_seed(2))


CALLS: dict[str, Program] = {  # of a new tensor of (6, 8), indices (6, 8), values (6, 8), a mask (6, 8)
    "scatter_.src": lambda t, i, s, m: t.scatter(0, i, s),
    "scatter_.value": lambda t, i, s, m: t.scatter(0, i, 1),
    "scatter_.reduce": lambda t, i, s, m: t.scatter(0, i, s, reduce="add"),
    "scatter_.value_reduce": lambda t, i, s, m: t.scatter(0, i, 2, reduce="multiply"),
    "scatter_add_.default": lambda t, i, s, m: t.scatter_add(0, i, s),
    "scatter_reduce_.two": lambda t, i, s, m: t.scatter_reduce(0, i, s, "amax", include_self=False),
    "index_put_.default": lambda t, i, s, m: t.index_put((i[:3, 0],), s[:3]),
    "index_add_.default": lambda t, i, s, m: t.index_add(1, i[0], s, alpha=2),
    "index_copy_.default": lambda t, i, s, m: t.index_copy(1, i[0], s),
    "index_fill_.int_Scalar": lambda t, i, s, m: t.index_fill(1, i[0], 3),
    "index_fill_.int_Tensor": lambda t, i, s, m: t.index_fill(1, i[0], s[0, 0]),
    "index_reduce_.default": lambda t, i, s, m: t.index_reduce(1, i[0], s, "amin"),
    "masked_fill_.Scalar": lambda t, i, s, m: t.masked_fill(m, 3),
    "masked_fill_.Tensor": lambda t, i, s, m: t.masked_fill(m[0], s[0, 0]),
    "masked_scatter_.default": lambda t, i, s, m: t.masked_scatter(m, s),
    "put_.default": lambda t, i, s, m: t.put(i, s, True),
    "_index_put_impl_.default": lambda t, i, s, m: aten._index_put_impl(t, [i[:3, 0]], s[:3]),
}
_UNSAFE = {"index_put_.default": lambda t, i, s, m: aten._unsafe_index_put(t, [None, i[0]], s, True)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "call"), [*CALLS.items(), *_UNSAFE.items()])
def test_operators(name: str, call: Program, way: str) -> None:
    def fn(x: Tensor, i: Tensor, s: Tensor, m: Tensor) -> Tensor:
        return call(x.sin() * 2, i, s, m) * 3

    s = values(torch.float32, 6, 8)
    assert compared(way, fn, torch.randn(6, 8), places(6, 8), s, s > 2) == [name]


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.bfloat16, torch.int32, torch.uint8, torch.bool, torch.complex64]
)
@pytest.mark.parametrize(
    "name", ["scatter_.src", "scatter_add_.default", "index_put_.default", "masked_scatter_.default"]
)
def test_types(name: str, dtype: torch.dtype) -> None:
    def fn(x: Tensor, i: Tensor, s: Tensor, m: Tensor) -> Tensor:
        return CALLS[name](aten.mul(x, s), i, s, m).clone()

    s = values(dtype, 6, 8)
    assert compared("backend", fn, values(dtype, 6, 8), places(6, 8), s, s.real > 2 if s.is_complex() else s > 2) == [
        name
    ]


@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.parametrize("turn", [True, False])
def test_strides(name: str, turn: bool) -> None:
    """Some copies keep the order of memory, others are contiguous: the result is laid out as eager's."""

    def fn(x: Tensor, i: Tensor, s: Tensor, m: Tensor) -> Tensor:
        return CALLS[name]((x.sin() * 2).t() if turn else x.t().sin() * 2, i, s, m)

    s = values(torch.float32, 6, 8)
    found = compared("backend", fn, torch.randn(8, 6), places(6, 8), s, s > 2)
    keep = name.startswith(("index_put", "_index_put", "index_fill", "put"))
    assert found == ([name] if keep and not turn else [])  # a result is not to look like a view


@pytest.mark.parametrize("shape", [(0, 8), (6, 0), (1, 1), (1, 8)])
@pytest.mark.parametrize(
    "name", ["scatter_.src", "scatter_add_.default", "masked_scatter_.default", "masked_fill_.Scalar"]
)
def test_empty_and_small(name: str, shape: tuple[int, int]) -> None:
    def fn(x: Tensor, i: Tensor, s: Tensor, m: Tensor) -> Tensor:
        return CALLS[name](x.sin() * 2, i, s, m) * 3

    s = values(torch.float32, *shape)
    assert compared("fuse", fn, torch.randn(shape), torch.zeros(shape, dtype=torch.long), s, s > 2) == [name]


def test_table() -> None:
    assert in_place(aten.scatter.src) is aten.scatter_.src
    assert in_place(aten._unsafe_index_put.default) is aten.index_put_.default
    for other in (aten.add.Tensor, aten.scatter.src_out, aten.scatter_.src, aten.slice_scatter.default, torch.sin):
        assert in_place(other) is None


def other_result(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = x.sin() * 2
    return t.scatter(0, i, s), t


def other_reader(x: Tensor, i: Tensor, s: Tensor) -> Any:
    """It is read afterwards, by a kernel."""
    t = x.sin() * 2
    u = t.scatter(0, i, s)
    return (t * (u @ u.t()).sum()).sigmoid()


def read_by_torch(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = x.sin() * 2
    u = t.scatter(0, i, s)
    return u @ (u.t() @ t)


def view_returned(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = x.sin() * 2
    return t[1:3], t.scatter(0, i, s)


def view_read(x: Tensor, i: Tensor, s: Tensor) -> Any:
    """A view of a view of it is read afterwards."""
    t = x.sin() * 2
    v = t.view(-1)[8:24].view(2, 8)
    u = t.scatter(0, i, s)
    return (u @ u.t()).sum(), v @ v.t() + u.sum()


def pieces(x: Tensor, i: Tensor, s: Tensor) -> Any:
    a, b = (x.sin() * 2).split(3)
    u = a.scatter(0, i[:3] % 3, s[:3])
    return u @ u.t(), b @ b.t()


def argument(x: Tensor, i: Tensor, s: Tensor) -> Any:
    return x.scatter(0, i, s) * 2


def view_of_argument(x: Tensor, i: Tensor, s: Tensor) -> Any:
    return x.t().t().scatter(0, i, s) * 2


def written_argument(x: Tensor, i: Tensor, s: Tensor) -> Any:
    """The operand is what the argument becomes."""
    x.sin_().mul_(2)
    return x.scatter(0, i, s) * 2


def expanded(x: Tensor, i: Tensor, s: Tensor) -> Any:
    return torch.zeros((), dtype=x.dtype).expand(6, 8).scatter(0, i, s) * 2


def expanded_row(x: Tensor, i: Tensor, s: Tensor) -> Any:
    return (x[0].sin() * 2).expand(6, 8).index_put((i[:3, 0],), s[:3]) * 2


def part(x: Tensor, i: Tensor, s: Tensor) -> Any:
    """Nothing reads the rest, but the result would keep it."""
    return torch.cat([x, x]).sin().mul(2)[:6].scatter(0, i, s)


def itself(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = x.sin() * 2
    return t.scatter(0, i, t) * 2


def itself_turned(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = x[:, :6].sin() * 2
    return t.scatter(0, i[:, :6], t.t()) * 2


def its_own_indices(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = (i + 1).clamp(max=5)
    return t.scatter(0, t, 3) * 2


def constant(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = torch.tensor([[0.5] * 8] * 6)
    return t.scatter(0, i, s) * 2


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "fn",
    [
        *(other_result, other_reader, read_by_torch, view_returned, view_read, pieces, argument, view_of_argument),
        *(written_argument, expanded, expanded_row, part, itself, itself_turned, its_own_indices),
    ],
    ids=lambda f: f.__name__,
)
def test_memory_that_is_seen_is_not_written(fn: Program, way: str) -> None:
    assert compared(way, fn, torch.randn(6, 8), places(6, 8), torch.randn(6, 8)) == []


@pytest.mark.parametrize("way", WAYS)
def test_constants(way: str) -> None:
    """What the code holds is copied: every call finds it as it was."""
    compared(way, constant, torch.randn(6, 8), places(6, 8), torch.randn(6, 8))


def read_before(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = x.sin() * 2
    r = t @ t.t()
    return t.scatter(0, i, s.sin() + 1) * 2, r


def view_read_before(x: Tensor, i: Tensor, s: Tensor) -> Any:
    t = x.sin() * 2
    r = t[:2] @ t[2:].t()
    return t.scatter(0, i, s * r.sum()) * 2


def by_torch(x: Tensor, i: Tensor, s: Tensor) -> Any:
    """A library's result."""
    return (x @ x.t() @ x).scatter(0, i, s)


def sorted_values(x: Tensor, i: Tensor, s: Tensor) -> Any:
    """One of two results."""
    t, j = x.sort(0)
    return t.scatter(0, j, s) * 2


def reshaped(x: Tensor, i: Tensor, s: Tensor) -> Any:
    """All of a new tensor, in another shape."""
    return (x.sin() * 2).view(48).index_put((i[:3, 0],), s[0, :3]) * 2


def zeros(x: Tensor, i: Tensor, s: Tensor) -> Any:
    return x.new_zeros(6, 8).scatter_add(0, i, s)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "fn", [read_before, view_read_before, by_torch, sorted_values, reshaped, zeros], ids=lambda f: f.__name__
)
def test_memory_of_the_plan_is_written(fn: Program, way: str) -> None:
    assert len(compared(way, fn, torch.randn(6, 8), places(6, 8), torch.randn(6, 8))) == 1


@pytest.mark.parametrize("way", WAYS)
def test_chain(way: str) -> None:
    """Each is the operand of the next, and the one that is read twice is copied once."""

    def fn(x: Tensor, i: Tensor, s: Tensor) -> Any:
        t = (x.sin() * 2).scatter(0, i, s).index_put((i[:, 0],), s).scatter_add(0, i, s)
        return t.scatter(0, i, 1.0), t.scatter_add(0, i, s)

    found = compared(way, fn, torch.randn(6, 8), places(6, 8), torch.randn(1, 8).expand(6, 8).contiguous())
    assert sorted(found[:3]) == ["index_put_.default", "scatter_.src", "scatter_add_.default"] and len(found) == 4


def test_program_that_writes() -> None:
    """`t[mask] = ...` in the program."""

    def fn(x: Tensor, m: Tensor) -> Tensor:
        t = x.sin() * 2
        t[m[:, 0]] = 3.0
        return t.exp() * 2

    assert compared("backend", fn, torch.randn(6, 8), torch.randn(6, 8) > 0) == ["index_put_.default"]


def test_no_copy_is_made() -> None:
    """As the profiler sees it, in the memory of the operand."""

    def fn(x: Tensor, m: Tensor, s: Tensor) -> Tensor:
        return (x @ x).masked_scatter(m, s)

    args = torch.randn(8, 8), torch.randn(8, 8) > 0, torch.randn(8, 8)
    compiled = torch.compile(fn, backend="fusewright")
    compiled(*args)
    with torch.profiler.profile() as p:
        compiled(*args)
    names = {e.name for e in p.events()}
    assert "aten::masked_scatter_" in names and not names & {"aten::masked_scatter", "aten::clone"}


def simple(x: Tensor, i: Tensor, s: Tensor) -> Tensor:
    return (x.sin() * 2).scatter(0, i, s)


def test_option() -> None:
    args = torch.randn(6, 8), places(6, 8), torch.randn(6, 8)
    with fusewright.options(inplace=False):
        assert compared("backend", simple, *args) == []
    torch._dynamo.reset()
    assert compared("backend", simple, *args) == ["scatter_.src"]


@pytest.mark.parametrize("way", WAYS)
def test_errors(way: str) -> None:
    """An index out of range raises what eager raises, and leaves what the program sees alone."""

    def fn(x: Tensor, i: Tensor, s: Tensor) -> Tensor:
        y = (x.sin() * 2).scatter(0, i, s)
        x.add_(1)
        return y * 2

    compiled = made(way, fn)
    x, i, s = torch.randn(6, 8), places(6, 8), torch.randn(6, 8)
    compiled(x.clone(), i, s)
    i[5, 7] = 6
    given = x.clone()
    with pytest.raises(RuntimeError) as theirs:
        fn(x.clone(), i, s)
    with pytest.raises(RuntimeError) as mine:
        compiled(given, i, s)
    assert str(mine.value) == str(theirs.value)
    torch.testing.assert_close(given, x, rtol=0, atol=0)
    i[5, 7] = 5
    torch.testing.assert_close(compiled(x.clone(), i, s), fn(x.clone(), i, s))


def differentiated(f: Program, other: tuple[int, ...]) -> list[Tensor]:
    """A result of `f(x, i, w)`, w of shape `other`, and its gradients."""
    g = torch.Generator().manual_seed(3)
    x, w = torch.randn(6, 8, generator=g).requires_grad_(), torch.randn(other, generator=g).requires_grad_()
    y = f(x, torch.arange(6)[:, None].expand(6, 8), w)
    return [y, *torch.autograd.grad(y.square().sum(), (x, w))]


@pytest.mark.parametrize("way", WAYS)
def test_gradients(way: str) -> None:
    """What the backward pass is given is a result of the forward pass; what it makes itself it writes."""

    def fn(x: Tensor, i: Tensor, s: Tensor) -> Tensor:
        t = x.sin() * 2
        u = t.scatter(0, i, s.exp() + 1)  # sin and exp are saved or computed again, t is neither
        return (u * u).gather(0, i) @ u.t()

    with record.recording() as graphs:
        compiled = made(way, fn)
        for _ in range(2):
            torch.testing.assert_close(differentiated(compiled, (6, 8)), differentiated(fn, (6, 8)))
    assert {"scatter_.src", "scatter_add_.default"} <= set(written(graphs))


@pytest.mark.parametrize("way", WAYS)
def test_saved_operands_are_copied(way: str) -> None:
    """A product saves its factor, which is the operand."""

    def fn(x: Tensor, i: Tensor, w: Tensor) -> Tensor:
        t = x @ w
        return t.scatter(0, i[:5], 1.0) @ t.t()

    compiled = made(way, fn)
    for _ in range(2):
        torch.testing.assert_close(differentiated(compiled, (8, 8)), differentiated(fn, (8, 8)))


def test_zeros_without_memory() -> None:
    """A gradient that torch keeps as a mere zero is multiplied to another one, which nothing can write into."""

    def fn(x: Tensor, i: Tensor, w: Tensor) -> Tensor:
        return x.scatter(0, i, 1.0) * w

    args = torch.randn(6, 8).requires_grad_(), places(6, 8), torch.randn(6, 8)
    with record.recording() as graphs:
        y = torch.compile(fn, backend="fusewright")(*args)
        torch.autograd.grad(y, args[0], torch.ones(6, 8), retain_graph=True)
    assert written(graphs) == ["scatter_.value"]
    (got,) = torch.autograd.grad(y, args[0], torch._efficientzerotensor(6, 8))
    torch.testing.assert_close(got, torch.zeros(6, 8))


def test_random_numbers() -> None:
    def fn(x: Tensor, i: Tensor, s: Tensor) -> Tensor:
        return torch.rand_like(x).scatter(0, i, s) + x.bernoulli()

    args = torch.rand(6, 8), places(6, 8), torch.randn(6, 8)
    with fusewright.options(rng="eager"):
        compiled = torch.compile(fn, backend="fusewright")
        for seed in (0, 1):
            torch.manual_seed(seed)
            got = compiled(*args)
            torch.manual_seed(seed)
            torch.testing.assert_close(got, fn(*args))


def test_deterministic() -> None:
    def fn(x: Tensor, i: Tensor, s: Tensor) -> Tensor:
        return (x.sin() * 2).index_put((i[0],), s[:1], True).scatter_add(0, i, s)

    torch.use_deterministic_algorithms(True)
    try:
        found = compared("backend", fn, torch.randn(6, 8), places(6, 8), torch.randn(6, 8))
    finally:
        torch.use_deterministic_algorithms(False)
    assert found == ["index_put_.default", "scatter_add_.default"]


def test_inference_mode() -> None:
    with torch.inference_mode():
        assert compared("fuse", simple, torch.randn(6, 8), places(6, 8), torch.randn(6, 8)) == ["scatter_.src"]


def test_large() -> None:
    """Memory of the pool: a result that is held keeps it, and later calls get other memory."""

    x, i, s = torch.randn(300, 512), torch.randint(0, 300, (1, 512)), torch.randn(1, 512)
    compiled = torch.compile(simple, backend="fusewright")
    held = [compiled(x + k, i, s) for k in range(4)]
    assert len({t.data_ptr() for t in held}) == 4
    for k, t in enumerate(held):
        torch.testing.assert_close(t, simple(x + k, i, s))


def test_gpu() -> None:
    """Scatters of single elements are torch's there, whatever the options say."""

    def fn(x: Tensor, i: Tensor, s: Tensor) -> Tensor:
        return (x * 2).scatter(1, i, s.exp()) * 2

    args = torch.randn(6, 8), places(6, 8), torch.randn(6, 8)
    with fusewright.options(disable=[]), emulated_gpu():
        assert compared("backend", fn, *args) == ["scatter_.src"]


class Masked(torch.nn.Module):
    def forward(self, x: Tensor, m: Tensor, s: Tensor) -> Tensor:
        return (x.sin() * 2).masked_scatter(m, s) * 2


def test_saved(tmp_path: Path) -> None:
    """A program in a file calls the operator in place, too."""
    args = torch.randn(6, 8), torch.randn(6, 8) > 0, torch.randn(6, 8)
    program = torch.export.export(Masked(), args)
    compiled = fusewright.aot_compile(program)
    fusewright.aot_save(program, tmp_path / "masked.fwp")
    with fusewright.options(disable=[]):
        loaded = fusewright.aot_load(tmp_path / "masked.fwp")
    for run in (compiled, loaded):
        torch.testing.assert_close(run(*args), Masked()(*args))
        with torch.profiler.profile() as p:
            run(*args)
        assert not {e.name for e in p.events()} & {"aten::masked_scatter", "aten::clone"}


def test_report() -> None:
    text = str(fusewright.explain(Masked(), torch.randn(6, 8), torch.randn(6, 8) > 0, torch.randn(6, 8)))
    assert "aten.masked_scatter.default" in text and "in the memory of its operand" in text.replace("\n", " ")
