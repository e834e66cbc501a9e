"""What lies along another axis than a result passes through tiles of shared memory: eager's results, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import fusewright
from fusewright.loop.ir import For, Func, Grid, If
from fusewright.loop.text import dump
from fusewright.run import devices
from tests.emulate.driver import EmulatedDriver
from tests.support import same_bits

Program = Callable[..., Tensor]


class Seen(EmulatedDriver):
    """Keeps the kernels that were made."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Func] = []

    def compile(self, func: Func) -> bytes:
        self.made.append(func)
        return super().compile(func)


@pytest.fixture
def seen() -> Iterator[Seen]:
    driver = Seen()
    torch._dynamo.reset()
    with devices.use("cpu", driver), fusewright.options(disk_cache=False, fallback=False, precision="eager"):
        yield driver


def tiles(seen: Seen) -> list[list[str]]:
    """The types of the tiles of each kernel."""
    found = ([str(a.buf.dtype) for a in f.allocs if a.buf.name.startswith("tile")] for f in seen.made)
    return [types for types in found if types]


def slots(xs: tuple[Tensor, ...], y: Tensor) -> Tensor:
    """As the gradients of slices are added up: each of a few matrices has its place, all of them turned."""
    n = len(xs)
    return y * sum(F.pad(x.t()[None], (0, 0, 0, 0, k, n - 1 - k)) for k, x in enumerate(xs))


# Results lie as `y` does.
PROGRAMS: dict[str, tuple[Program, list[str]]] = {
    "one operand": (lambda a, b, y: (y + a.t()) * 2, ["{0}"]),
    "a value that is rounded": (lambda a, b, y: y + (a * 2 + b).t(), ["{0}"]),
    "what is read takes no more": (lambda a, b, y: y * a.t() + b.t(), ["{0}", "{0}"]),
    "a condition": (lambda a, b, y: y * (a < b).t(), ["bool"]),
    "padded": (lambda a, b, y: y + F.pad(a.t()[3:], (0, 0, 3, 0)), ["{0}"]),
    "a shift along it": (
        lambda a, b, y: y * F.pad(a[:, 1:], (0, 1)).t() + F.pad(b[:, :-1], (1, 0)).t(),
        ["{0}", "{0}"],
    ),
    "a column": (lambda a, b, y: y + (a * b[:1]).t(), ["{0}"]),
    "a row": (lambda a, b, y: y + (a * b[:, :1]).t(), ["{0}"]),
    "places": (lambda a, b, y: slots((a, b, a - b), y), ["{0}"]),
    "both ways": (lambda a, b, y: y * (a + b[0, 0]).t() + (y * a.t()), ["{0}"]),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("shape", [(64, 128), (300, 8), (67, 129), (200, 65), (67, 72)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, dtype: torch.dtype, shape: tuple[int, int], seen: Seen) -> None:
    fn, want = PROGRAMS[name]
    gen = torch.Generator().manual_seed(0)
    a, b = ((torch.randn(shape, generator=gen) * 9).to(dtype) for _ in range(2))
    y = (torch.randn(shape[::-1], generator=gen) * 9).to(dtype)
    got = torch.compile(fn, backend="fusewright")(a, b, y)
    assert same_bits(got, fn(a, b, y)) and got.stride() == fn(a, b, y).stride()
    name = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int64: "i64"}[dtype]
    room = 1 if dtype is torch.int64 else 2  # tiles
    assert tiles(seen) == [[t.format(name) for t in want[:room]]]


@pytest.mark.parametrize("sizes", [(200, 130, 70), (64, 64, 64), (3, 65, 300), (128, 5, 2)], ids=str)
def test_tiles_are_computed_where_a_piece_of_a_cat_is(sizes: tuple[int, int, int], seen: Seen) -> None:
    before, own, after = sizes
    x, y, z = torch.randn(own, 90), torch.randn(90, before), torch.randn(90, after)

    def f(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        return torch.cat([y, (x * 2).t() + 1, z], 1)

    got = torch.compile(f, backend="fusewright")(x, y, z)
    assert same_bits(got, f(x, y, z))
    (made,) = seen.made
    grid = made.body[-1]
    assert isinstance(grid, Grid)
    ways = [way for s in grid.body if isinstance(s, If) for way in (s.then, s.orelse)]
    checked = [s for way in ways for s in way if isinstance(s, If) and any(isinstance(x, For) for x in s.then)]
    assert len(checked) == 2 * len(tiles(seen)) == 2  # of whole tiles, and of others


@pytest.mark.parametrize("lanes", [(128, 64, 4, 4), (72, 67, 4, 1), (67, 72, 1, 4)], ids=str)
def test_each_side_of_a_tile_has_vectors_of_its_own(lanes: tuple[int, int, int, int], seen: Seen) -> None:
    rows, cols, read, written = lanes
    a, y = torch.randn(rows, cols), torch.randn(cols, rows)
    got = torch.compile(lambda a, y: torch.relu(y + a.t()), backend="fusewright")(y, a)
    assert same_bits(got, torch.relu(a + y.t()))
    (made,) = seen.made
    lines = [x.strip() for x in dump(made).splitlines()]
    loads = [x for x in lines if "= load(in" in x]
    assert [": f32x4 " in x for x in loads] == 2 * [read == 4] + 2 * [written == 4]  # of whole tiles, and of others


def test_places_beyond_the_end_are_those_of_one_point(seen: Seen) -> None:
    """A condition read one way and an index read the other, both of the last point: not of two of them."""
    table, y = torch.randn(9), torch.randn(66, 70)
    ok = torch.arange(66)[:, None] == 65  # of the last row only
    index = torch.where(ok.expand(66, 70), 3, 10**6).t().contiguous()
    ok = ok.expand(66, 70).contiguous()

    def f(index: Tensor, ok: Tensor, table: Tensor, y: Tensor) -> Tensor:
        return y * table[torch.where(ok, index.t(), 0)]

    got = torch.compile(f, backend="fusewright")(index, ok, table, y)
    assert same_bits(got, f(index, ok, table, y)) and tiles(seen) == [["i64"]]


def kernels(seen: Seen) -> list[str]:
    return sorted({f.name.partition("_")[0] for f in seen.made})


@pytest.mark.parametrize("side", [512, 1024])
def test_a_reduction_does_not_read_large_tensors_along_two_axes(side: int, seen: Seen) -> None:
    """A tile turns one of them first, in a kernel of its own, where that takes less time than another launch."""
    x, y = torch.randn(side, side), torch.randn(side, side)

    def f(x: Tensor, y: Tensor) -> Tensor:
        return (F.silu(y * 2) + x.t()).sum(0)

    got = torch.compile(f, backend="fusewright")(x, y)
    assert (got - f(x.double(), y.double())).abs().max() < 1e-3
    assert kernels(seen) == (["outer", "transpose"] if side == 1024 else ["outer"])


def test_a_reduction_reads_one_large_tensor_as_it_lies(seen: Seen) -> None:
    gen = torch.Generator().manual_seed(0)  # of other numbers some sums are so large that half a unit is the bound
    x, y = torch.randn(1024, 1024, generator=gen), torch.randn(1, 1024, generator=gen)
    got = torch.compile(lambda x, y: (F.silu(y * 2) + x.t()).sum(0), backend="fusewright")(x, y)
    assert (got - (F.silu(y * 2) + x.t()).double().sum(0)).abs().max() < 1e-3
    assert kernels(seen) == ["inner"]
