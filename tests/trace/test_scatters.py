"""Scatters in kernels of our own against eager: every operator, many layouts, wrong indices, whole backward passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import fusewright
from fusewright.run import devices
from tests.support import BACKEND, assert_agrees, compiled, counted, counters, is_ours, same_bits

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo"),
    pytest.mark.skipif(not is_ours(BACKEND), reason="options of our own backend"),
]

aten = torch.ops.aten


def emulated() -> bool:
    """Whether GPU kernels are made for CPU tensors (--emulate-gpu)."""
    return devices.driver_for(torch.device("cpu")) is not None


FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
BOOL = (torch.bool,)
SUMS_ROUND_ONCE = ("index_add", "index_put accumulate", "embedding backward", "put accumulate")  # eager: every addition


def values(dtype: torch.dtype, *shape: int, seed: int = 0) -> torch.Tensor:
    gen = torch.Generator().manual_seed(seed)
    if dtype is torch.bool:
        return torch.rand(shape, generator=gen) > 0.6
    if dtype.is_floating_point:
        return torch.randn(shape, generator=gen).to(dtype)
    return torch.randint(0, 5, shape, generator=gen).to(dtype)


def at(limit: int, *shape: int, low: int = 0, seed: int = 1) -> torch.Tensor:
    return torch.randint(low, limit, shape, generator=torch.Generator().manual_seed(seed))


Make = Callable[[torch.dtype], tuple[Any, ...]]
CASES: dict[str, tuple[Callable[..., torch.Tensor], Make, tuple[torch.dtype, ...]]] = {
    "scatter_add": (
        lambda x, i, s: x.scatter_add(1, i, s),
        lambda d: (values(d, 9, 11), at(11, 7, 20), values(d, 9, 23, seed=2)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "scatter_add first dim": (
        lambda x, i, s: x.scatter_add(0, i, s),
        lambda d: (values(d, 5, 70), at(5, 31, 70), values(d, 31, 70, seed=2)),
        (*FLOATS, torch.int64),
    ),
    "scatter_add one index a row": (
        lambda x, i, s: x.scatter_add(0, i[:, None].expand(-1, s.shape[1]), s),
        lambda d: (values(d, 5, 70), at(5, 31), values(d, 31, 70, seed=2)),
        (*FLOATS, torch.int64),
    ),
    "scatter_add cube": (
        lambda x, i, s: x.scatter_add(1, i, s),
        lambda d: (values(d, 3, 4, 5), at(4, 3, 9, 5), values(d, 3, 9, 5, seed=2)),
        (torch.float32, torch.int32),
    ),
    "scatter": (
        lambda x, i, s: x.scatter(1, i, s),
        lambda d: (values(d, 9, 11), torch.stack([torch.randperm(11)[:4] for _ in range(9)]), values(d, 9, 4, seed=2)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "scatter value": (
        lambda x, i: x.scatter(1, i, 1),
        lambda d: (values(d, 9, 11), at(11, 9, 20)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "scatter add": (
        lambda x, i, s: aten.scatter.reduce(x, 1, i, s, reduce="add"),
        lambda d: (values(d, 9, 11), at(11, 9, 20), values(d, 9, 20, seed=2)),
        (torch.float32, torch.int64),
    ),
    "scatter multiply value": (
        lambda x, i: aten.scatter.value_reduce(x, 0, i, 3, reduce="multiply"),
        lambda d: (values(d, 9, 11), at(9, 12, 11)),
        (torch.float32, torch.int64),
    ),
    **{
        f"scatter_reduce {r}": (
            lambda x, i, s, r=r: x.scatter_reduce(1, i, s, r),
            lambda d: (values(d, 9, 11), at(11, 9, 20), values(d, 9, 20, seed=2)),
            (*FLOATS, *INTS),
        )
        for r in ("sum", "prod", "amax", "amin")
    },
    **{
        f"scatter_reduce {r} without what was there": (
            lambda x, i, s, r=r: x.scatter_reduce(0, i, s, r, include_self=False),
            lambda d: (values(d, 9, 11), at(5, 40, 11), values(d, 40, 11, seed=2)),
            (*FLOATS, torch.int64, torch.uint8),
        )
        for r in ("sum", "prod", "amax", "amin")
    },
    "index_add": (
        lambda x, i, s: x.index_add(0, i, s),
        lambda d: (values(d, 7, 33), at(7, 40), values(d, 40, 33, seed=2)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "index_add middle dim scaled": (
        lambda x, i, s: x.index_add(1, i, s, alpha=2),
        lambda d: (values(d, 3, 7, 33), at(7, 40), values(d, 3, 40, 33, seed=2)),
        (torch.float32, torch.float64, *INTS),
    ),
    "index_copy": (
        lambda x, i, s: x.index_copy(1, i, s),
        lambda d: (values(d, 3, 7, 33), torch.randperm(7)[:5], values(d, 3, 5, 33, seed=2)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "index_fill": (
        lambda x, i: (x.index_fill(0, i, 1), x.index_fill(1, i[:3], x[0, 0]))[1],
        lambda d: (values(d, 7, 33), at(7, 4, low=-7)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "index_put": (
        lambda x, i, s: x.index_put((i,), s),
        lambda d: (values(d, 7, 33), torch.tensor([3, -1, 0]), values(d, 3, 33, seed=2)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "index_put accumulate": (
        lambda x, i, s: x.index_put((i,), s, accumulate=True),
        lambda d: (values(d, 7, 33), at(7, 4, 10, low=-7), values(d, 4, 10, 33, seed=2)),
        (*FLOATS, *INTS, *BOOL),
    ),
    "index_put of a number": (
        lambda x, i: aten.index_put(x, [None, i], x[0, 0]),
        lambda d: (values(d, 7, 33), at(33, 5)),
        (torch.float32, torch.int64, *BOOL),
    ),
    "index_put in the middle": (
        lambda x, i, s: aten.index_put(x, [None, i, i], s, True),
        lambda d: (values(d, 3, 6, 6, 5), at(6, 2, 9), values(d, 3, 2, 9, 5, seed=2)),
        (torch.float32, torch.int64),
    ),
    "index_put of dims apart": (
        lambda x, i, j, s: aten.index_put(x, [i, None, j], s, True),
        lambda d: (values(d, 6, 4, 6), at(6, 9), at(6, 2, 1), values(d, 2, 9, 4, seed=2)),
        (torch.float32, torch.int64),
    ),
    "index_put everywhere": (
        lambda x, i, j, s: aten.index_put(x, [i, j], s, True),
        lambda d: (values(d, 70, 6), at(70, 200), at(6, 200, low=-6), values(d, 200, seed=2)),
        (torch.float32, torch.int64),
    ),
    "put accumulate": (
        lambda x, i, s: x.put(i, s, accumulate=True),
        lambda d: (values(d, 3, 4, 5), at(60, 5, 20, low=-60), values(d, 100, seed=2)),
        (*FLOATS, torch.int64),
    ),
    "put": (
        lambda x, i, s: x.put(i, s),
        lambda d: (values(d, 11), torch.tensor([3, -1, 0]), values(d, 3, seed=2)),
        (torch.float32, torch.int64),
    ),
    "embedding backward": (
        lambda g, i: aten.embedding_dense_backward(g, i, 13, 2, False),
        lambda d: (values(d, 4, 30, 40), at(13, 4, 30)),
        FLOATS,
    ),
    "index_reduce amin without what was there": (
        lambda x, i, s: x.index_reduce(1, i, s, "amin", include_self=False),
        lambda d: (values(d, 3, 7, 33), at(5, 40), values(d, 3, 40, 33, seed=2)),
        (torch.float32, torch.int64),
    ),
    "index_reduce amax": (
        lambda x, i, s: x.index_reduce(0, i, s, "amax"),
        lambda d: (values(d, 7, 33), at(7, 40), values(d, 40, 33, seed=2)),
        (torch.float32, torch.int64),
    ),
}
PAIRS = [(name, d) for name, (_, _, dtypes) in CASES.items() for d in dtypes]


def one_kernel(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """fn's results, all of them computed in our kernels."""
    before = counters()
    with fusewright.options(single_op_groups=True, fallback=False):
        got = compiled(fn, **kwargs)(*args)
    grown = counted(before)
    assert grown["groups_formed"] >= 1 and not grown.get("opaque_calls", 0), grown
    return got


@pytest.mark.every(6)
@pytest.mark.parametrize(("name", "dtype"), PAIRS, ids=[f"{n}-{str(d).removeprefix('torch.')}" for n, d in PAIRS])
def test_same_bits(name: str, dtype: torch.dtype) -> None:
    """Eager's bits; for 16-bit floats those of the operators that eager accumulates in float32, too."""
    fn, make, _ = CASES[name]
    args = make(dtype)
    got = one_kernel(fn, *args)
    want = fn(*args)
    if dtype in (torch.bfloat16, torch.float16) and name in SUMS_ROUND_ONCE:
        floats = [a.float() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]
        want = fn(*floats).to(dtype)
    if name.endswith("scaled") and dtype.is_floating_point:  # eager's fused multiply-add rounds once less
        torch.testing.assert_close(got, want)
        return
    assert same_bits(got, want)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", sorted(n for n in CASES if n not in ("scatter_add", "scatter value")))
def test_dynamic_sizes(name: str) -> None:
    fn, make, _ = CASES[name]
    args = make(torch.float32)
    with fusewright.options(single_op_groups=True, fallback=False):
        got = compiled(fn, dynamic=True)(*args)
    torch.testing.assert_close(got, fn(*args), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["index_add", "index_put accumulate", "put", "index_copy", "scatter_add"])
def test_precision_eager(name: str) -> None:
    """Every bit is eager's, if need be by leaving the operation to it."""
    fn, make, _ = CASES[name]
    args = make(torch.bfloat16)
    with fusewright.options(single_op_groups=True, fallback=False, precision="eager"):
        assert same_bits(compiled(fn)(*args), fn(*args))


def _index_add(x: torch.Tensor, i: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return x.index_add(0, i, s)


LAYOUTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "transposed base": (_index_add, (values(torch.float32, 33, 7).t(), at(7, 9), torch.randn(9, 33))),
    "transposed source": (_index_add, (torch.randn(7, 33), at(7, 9), torch.randn(33, 9).t())),
    "expanded source": (
        lambda x, i, s: x.index_add(0, i, s.expand(9, 33)),
        (torch.randn(7, 33), at(7, 9), torch.randn(9, 1)),
    ),
    "expanded base": (
        lambda x, i, s: x.expand(7, 33).index_add(0, i, s),
        (torch.randn(33), at(7, 9), torch.randn(9, 33)),
    ),
    "strided index": (lambda x, i, s: x.index_add(0, i[::2], s), (torch.randn(7, 33), at(7, 18), torch.randn(9, 33))),
    "flipped source": (
        lambda x, i, s: x.index_add(0, i, s.flip(0)),
        (torch.randn(7, 33), at(7, 9), torch.randn(9, 33)),
    ),
    "one row": (_index_add, (torch.randn(1, 1), at(1, 9), torch.randn(9, 1))),
    "one source": (_index_add, (torch.randn(7, 3), at(7, 1), torch.randn(1, 3))),
    "0-d index": (_index_add, (torch.randn(7, 3), at(7), torch.randn(1, 3))),
    "no source": (_index_add, (torch.randn(7, 3), at(7, 0), torch.randn(0, 3))),
    "no index": (lambda x, i, s: x.scatter_add(0, i, s), (torch.randn(7, 3), at(7, 0, 3), torch.randn(2, 3))),
    "no columns": (_index_add, (torch.randn(7, 0), at(7, 2), torch.randn(2, 0))),
    "empty base": (_index_add, (torch.randn(0, 3), at(1, 0), torch.randn(0, 3))),
    "0-d": (lambda x, i, s: x.scatter_add(0, i, s) + 1, (torch.randn(()), torch.tensor(0), torch.randn(()))),
    "special values": (
        lambda x, i, s: x.scatter_reduce(0, i, s, "amax").scatter_add(0, i, s),
        (torch.zeros(3), at(3, 9), torch.tensor([1, -0.0, float("nan"), float("inf"), -float("inf"), 2, 3, -1, 0.0])),
    ),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_layouts(name: str, dynamic: bool) -> None:
    fn, args = LAYOUTS[name]
    with fusewright.options(single_op_groups=True, fallback=False):
        got = compiled(fn, dynamic=dynamic)(*args)
    want = fn(*args)
    assert_agrees(got, want, rtol=0, atol=0)
    assert same_bits(got, want)


WRONG: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "scatter_add": lambda x, i: x.scatter_add(0, i[:, None].expand(-1, 4), x[: len(i)] * 2),
    "scatter": lambda x, i: x.scatter(0, i[:, None].expand(-1, 4), x[: len(i)] * 2),
    "scatter_add one write a line": lambda x, i: x[: len(i)].scatter_add(1, i[:, None], x[: len(i), :1] * 2),
    "scatter one write a line": lambda x, i: (x[: len(i)] * 2).scatter(1, i[:, None], 9.0),
    "scatter a number in one line": lambda x, i: (x[:, : len(i)] * 2).scatter(0, i[None], 9.0),
    "scatter_reduce": lambda x, i: x.scatter_reduce(0, i[:, None].expand(-1, 4), x[: len(i)] * 2, "amin"),
    "index_add": lambda x, i: x.index_add(0, i, x[: len(i)] * 2),
    "index_put": lambda x, i: x.index_put((i,), x[: len(i)] * 2),
    "index_put accumulate": lambda x, i: x.index_put((i,), x[: len(i)] * 2, accumulate=True),
    "index_copy": lambda x, i: x.index_copy(0, i, x[: len(i)] * 2),
    "index_fill": lambda x, i: (x * 2).index_fill(0, i, 1.0),
    "put": lambda x, i: x.put(i * 4, x[: len(i), 0] * 2),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("index", [[0, 5, 1], [0, -1, 1], [0, -6, 1], [2, 4, 1 << 40]], ids=str)
@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong_index(name: str, index: list[int]) -> None:
    """An index out of range raises eager's own error; what is in range to eager is to us."""
    fn, x, i = WRONG[name], torch.randn(5, 4), torch.tensor(index)
    call = compiled(fn)
    with fusewright.options(single_op_groups=True):
        assert same_bits(call(x, torch.tensor([0, 2, 1])), fn(x, torch.tensor([0, 2, 1])))
        try:
            want = fn(x, i)
        except (RuntimeError, IndexError) as error:
            if emulated():
                with pytest.raises(IndexError, match="out of range on the device"):
                    call(x, i)
                return
            with pytest.raises(type(error)) as mine:
                call(x, i)
            assert str(mine.value) == str(error)
        else:
            assert same_bits(call(x, i), want)


def test_embedding_backward_leaves_out_what_names_no_row() -> None:
    fn = lambda g, i: aten.embedding_dense_backward(g, i, 5, -1, False)
    g, i = torch.randn(6, 4), torch.tensor([0, 7, -1, 4, -9, 0])
    assert same_bits(one_kernel(fn, g, i), fn(g, i))


# ---- what fuses ------------------------------------------------------------------------------------------


def test_the_source_is_computed_in_the_kernel() -> None:
    fn = lambda x, i, s, m: (x * 2).index_add(0, i, torch.where(m, torch.relu(s) * 3, 0.5))
    args = (torch.randn(50, 40), at(50, 300), torch.randn(300, 40), torch.rand(300, 40) > 0.5)
    before = counters()
    got = compiled(fn)(*args)
    assert counted(before)["groups_formed"] == 1
    assert same_bits(got, fn(*args))


def test_a_norm_of_rows_is_computed_in_the_kernel() -> None:
    def fn(i: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return torch.zeros(50, 40).index_add(0, i, s - s.mean(-1, keepdim=True))

    args = (at(50, 300), torch.randn(300, 40))
    before = counters()
    got = compiled(fn)(*args)
    assert counted(before)["groups_formed"] == 1
    torch.testing.assert_close(got, fn(*args))


def test_the_result_is_read_by_another_kernel() -> None:
    fn = lambda x, i, s: torch.relu(x.index_add(0, i, s)) + 1
    args = (torch.randn(50, 400), at(50, 300), torch.randn(300, 400))
    before = counters()
    got = compiled(fn)(*args)
    assert counted(before)["groups_formed"] == (1 if emulated() else 2)  # so small a scatter is torch's on a GPU
    assert same_bits(got, fn(*args))


def test_scatters_into_a_scatter_are_one_kernel() -> None:
    def fn(x: torch.Tensor, i: torch.Tensor, s: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return x.index_add(0, i, s).index_add(0, i[:9], t.softmax(1)).index_copy(0, i[:1], s[:1] - s[:1].mean(1, True))

    if emulated():
        pytest.skip("a GPU's kernels have one scatter each")
    args = (torch.randn(50, 400), at(50, 300), torch.randn(300, 400), torch.randn(9, 400))
    before = counters()
    got = compiled(fn)(*args)
    assert counted(before)["groups_formed"] == 1
    torch.testing.assert_close(got, fn(*args))


def test_a_scatter_of_a_scatter_is_two_kernels() -> None:
    fn = lambda x, i, s: (lambda y: y.index_add(0, i, y[i] * 2))(x.index_add(0, i, s))
    if emulated():
        pytest.skip("a GPU's kernels have one scatter each")
    args = (torch.randn(50, 400), at(50, 300), torch.randn(300, 400))
    before = counters()
    got = compiled(fn)(*args)
    assert counted(before)["groups_formed"] == 2
    assert same_bits(got, fn(*args))


def test_into_an_input() -> None:
    """Mutated inputs get the result, whether they were read or not."""

    def fn(x: torch.Tensor, y: torch.Tensor, i: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        x.index_add_(0, i, s)
        y.copy_(torch.zeros(50, 400).index_add(0, i, s))
        return s * 2

    i, s = at(50, 300), torch.randn(300, 400)
    mine, theirs = [[torch.ones(50, 400), torch.ones(50, 400)] for _ in range(2)]
    call = compiled(fn)
    for _ in range(2):
        assert same_bits(call(*mine, i, s), fn(*theirs, i, s))
        assert all(map(same_bits, mine, theirs))


THREADED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "rows": (lambda x, i, s: x.index_add(0, i, s * 2), (torch.zeros(500, 64), at(500, 3000), torch.randn(3000, 64))),
    "wide rows": (lambda x, i, s: x.index_add(0, i, s * 2), (torch.zeros(5, 1100), at(5, 100), torch.randn(100, 1100))),
    "batch": (lambda x, i, s: x.scatter_add(1, i, s), (torch.zeros(90, 500), at(500, 90, 700), torch.randn(90, 700))),
    "columns": (lambda x, i, s: x.scatter_add(0, i, s), (torch.zeros(90, 500), at(90, 70, 500), torch.randn(70, 500))),
    "points": (
        lambda x, i, s: x.index_put((i,), s, accumulate=True),
        (torch.zeros(40000), at(99, 4000), torch.randn(4000)),
    ),
    "16 bits": (
        lambda x, i, s: x.index_add(0, i, s),
        (torch.zeros(500, 64).bfloat16(), at(500, 3000), torch.randn(3000, 64).bfloat16()),
    ),
    "reduced": (
        lambda x, i, s: x.index_add(0, i, s - s.mean(-1, keepdim=True)),
        (torch.zeros(500, 64), at(500, 3000), torch.randn(3000, 64)),
    ),
}  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("name", sorted(THREADED))
def test_threads_make_no_difference(name: str) -> None:
    fn, args = THREADED[name]
    call, before = compiled(fn), torch.get_num_threads()
    try:
        results = []
        for n in (1, 2, 3, 7):
            torch.set_num_threads(n)
            results.append(one_kernel(call, *args) if not results else call(*args))
    finally:
        torch.set_num_threads(before)
    assert all(same_bits(results[0], r) for r in results[1:])


# ---- whole backward passes -------------------------------------------------------------------------------


def _gradients(fn: Callable[..., torch.Tensor], args: tuple[Any, ...]) -> tuple[torch.Tensor, ...]:
    leaves = tuple(a for a in args if isinstance(a, torch.Tensor) and a.requires_grad)
    return torch.autograd.grad((fn(*args) ** 2).sum(), leaves)


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


def _edges(x: torch.Tensor, w: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """A layer of a graph network: messages along edges, their sum and the largest of them."""
    message = torch.relu(x[source] @ w) * 0.5
    total = torch.zeros(x.shape[0], w.shape[1]).index_add(0, target, message)
    top = torch.zeros_like(total).scatter_reduce(0, target[:, None].expand_as(message), message, "amax")
    return total + top


BACKWARD: dict[str, tuple[Callable[..., torch.Tensor], Callable[[], tuple[Any, ...]]]] = {
    "gather": (lambda x, i: x.gather(1, i) * 2, lambda: (leaf(300, 40), at(40, 300, 70))),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 0).sin(), lambda: (leaf(40, 300), at(40, 70, 300))),
    "index_select": (lambda x, i: x.index_select(0, i) * 2, lambda: (leaf(300, 40), at(300, 700))),
    "x[i]": (lambda x, i: torch.tanh(x[i]), lambda: (leaf(300, 40), at(300, 700, low=-300))),
    "x[:, i]": (lambda x, i: x[:, i] * 2, lambda: (leaf(300, 40), at(40, 90))),
    "x[i, :, j]": (lambda x, i, j: x[i, :, j] * 2, lambda: (leaf(30, 20, 40), at(30, 900), at(40, 900))),
    "take": (lambda x, i: x.take(i) * 2, lambda: (leaf(300, 40), at(12000, 700))),
    "embedding": (lambda i, w: F.embedding(i, w, padding_idx=3) * 2, lambda: (at(500, 8, 90), leaf(500, 64))),
    "embedding and norm": (
        lambda i, w: F.layer_norm(F.embedding(i, w), (64,)),
        lambda: (at(500, 8, 90), leaf(500, 64)),
    ),
    "scatter_reduce": (
        lambda x, i, s: x.scatter_reduce(0, i, s, "amax"),
        lambda: (leaf(300), at(300, 20000), leaf(20000)),
    ),
    "edges": (_edges, lambda: (leaf(200, 32), leaf(32, 48), at(200, 900), at(200, 900))),
    "index_put": (
        lambda x, i, s: x.index_put((i,), s * 2),
        lambda: (leaf(300, 64), torch.randperm(300)[:90], leaf(90, 64)),
    ),
    "assignment": (
        lambda x, i, s: (lambda y: (y.__setitem__(i, s * 2), y * 3)[1])(x.clone()),
        lambda: (leaf(300, 64), torch.randperm(300)[:90], leaf(90, 64)),
    ),
    "cross entropy": (lambda x, t: F.cross_entropy(x, t), lambda: (leaf(300, 70), at(70, 300))),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", sorted(BACKWARD))
def test_gradients(name: str, dynamic: bool) -> None:
    fn, make = BACKWARD[name]
    torch.manual_seed(3)
    args = make()
    with fusewright.options(fallback=False):
        mine = _gradients(compiled(fn, dynamic=dynamic), args)
    for got, want in zip(mine, _gradients(fn, args), strict=True):
        torch.testing.assert_close(got, want, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("name", ["embedding", "x[i]", "index_select", "gather"])
def test_a_backward_pass_is_one_kernel(name: str) -> None:
    """The gradient's computation and its scatter: no opaque calls."""
    fn, make = BACKWARD[name]
    args = make()
    before = counters()
    with fusewright.options(single_op_groups=True, fallback=False):
        _gradients(compiled(fn), args)
    grown = counted(before)
    assert grown["groups_formed"] == 2 and not grown.get("opaque_calls", 0), grown


def _log_likelihood(x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return -x.log_softmax(-1).gather(-1, t[:, None]).squeeze(-1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_the_gradient_of_picking_one_element_of_each_row_is_no_scatter(dtype: torch.dtype) -> None:
    """It is a comparison within the row, part of the softmax's gradient: one kernel reads and writes it once."""
    x, t = torch.randn(40, 70, dtype=dtype, requires_grad=True), at(70, 40)
    call, before = compiled(_log_likelihood), counters()
    (got,) = torch.autograd.grad(call(x, t).sum(), x)
    assert counted(before)["groups_formed"] == 2 and not counted(before).get("opaque_calls", 0)
    (want,) = torch.autograd.grad(_log_likelihood(x, t).sum(), x)
    tolerance = {"rtol": 2e-2, "atol": 1e-2} if dtype is torch.bfloat16 else {}
    torch.testing.assert_close(got, want, **tolerance)


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.float16], ids=str)
def test_one_write_a_line(dtype: torch.dtype, dim: int) -> None:
    x, shape = values(dtype, 9, 11), (1, 11) if dim == 0 else (9, 1)
    i, s = at(x.shape[dim], *shape), values(dtype, *shape, seed=2)
    fn = lambda x, i, s: x.scatter_add(dim, i, s)
    assert same_bits(one_kernel(fn, x, i, s), fn(x, i, s))


def test_training() -> None:
    """A few steps of a model that is little else than embeddings."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(300, 48, padding_idx=0), nn.Embedding(20, 48)
            self.out = nn.Linear(48, 300)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            h = self.words(ids) + self.places(torch.arange(ids.shape[1]))
            return F.cross_entropy(self.out(F.gelu(F.layer_norm(h, (48,)))).flatten(0, 1), ids.flatten())

    losses = []
    for wrap in (compiled, lambda m: m):
        torch.manual_seed(0)
        model = Model()
        call = wrap(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        ids = at(300, 16, 20)
        losses.append([])
        for _ in range(4):
            loss = call(ids)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    torch.testing.assert_close(torch.tensor(losses[0]), torch.tensor(losses[1]), rtol=1e-5, atol=1e-5)
