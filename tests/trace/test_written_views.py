"""Results that are views of an argument that is written, wherever and however that lies in its storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import fusewright
from tests.support import clone_like, counted, counters, is_ours, no_fallbacks, same_bits

Fn = Callable[[torch.Tensor], Any]
WAYS: dict[str, Callable[[Fn], Fn]] = {
    "fuse": fusewright.fuse,
    "static": lambda f: torch.compile(f, backend="fusewright", dynamic=False),
    "dynamic": lambda f: torch.compile(f, backend="fusewright", dynamic=True),
}
PLACES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda b: b[:24].view(4, 6),
    "offset": lambda b: b[3:27].view(4, 6),
    "steps": lambda b: b[:48].view(4, 12)[:, ::2],
    "columns": lambda b: b[:48].view(4, 12)[:, :6],
    "transposed": lambda b: b[:24].view(6, 4).t(),
    "rows": lambda b: b[6:42].view(6, 6)[:4],
}


def flattened(x):
    y = x.view(-1) if x.is_contiguous() else x[1]
    y.add_(1)
    return y[2:]


def part_of_a_chunk(x):
    y = x.chunk(2, 1)[1]
    y[0].add_(1)
    return y


def several(x):
    x.mul_(2)
    return x.flatten()[3:], x.unbind(0)[-1], x.chunk(2, 1)[1], x.t().unflatten(0, (2, 3))[1]


def reshaped(x):
    x.add_(1)
    y = x.reshape(-1)
    y.mul_(2)
    return y


def diagonal(x):
    x.fill_diagonal_(99)
    return x * 2


def address(x):
    x.add_(1)
    x.as_strided((2,), (1,)).add_(5)


def read_by_address(x):
    x.add_(1)
    return x.as_strided((2,), (1,)) * 2


def turned(x):
    x.add_(1)
    x.t_()


def one_more(x):
    x.copy_(x.sum(0, keepdim=True))
    x.unsqueeze_(0)
    return x[...]


PROGRAMS = [flattened, part_of_a_chunk, several, reshaped, diagonal, address, read_by_address, turned, one_more]


def _lies(t: torch.Tensor) -> tuple[Any, ...]:
    return t.shape, t.stride(), t.storage_offset()


@pytest.mark.filterwarnings("ignore:Fusewright could not compile")
@pytest.mark.every(2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_places(program: Fn, way: str) -> None:
    """One function, called with all of them: what it writes where, and what its results lie in."""
    torch._dynamo.reset()
    made = WAYS[way](program)
    for place in (*PLACES.values(), *reversed(PLACES.values())):
        memory = torch.arange(60.0), torch.arange(60.0)
        mine, theirs = map(place, memory)
        got, want = made(mine), program(theirs)
        assert same_bits(*memory), "memory around the argument"
        assert _lies(mine) == _lies(theirs)
        if want is None:
            assert got is None
            continue
        pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        for a, b in pairs:
            assert same_bits(a, b) and a.stride() == b.stride()
            if b.untyped_storage()._cdata == memory[1].untyped_storage()._cdata:
                assert a.untyped_storage()._cdata == memory[0].untyped_storage()._cdata and _lies(a) == _lies(b)


@pytest.mark.skipif(not is_ours(), reason="counters")
def test_views_of_whole_storages_are_compiled() -> None:
    fused, before = fusewright.fuse(part_of_a_chunk), counters()
    for n in (4, 6, 8):
        x, y = torch.arange(4.0 * n).view(4, n), torch.arange(4.0 * n).view(4, n)
        got, want = fused(x), part_of_a_chunk(y)
        assert same_bits(got, want) and same_bits(x, y) and got.untyped_storage().data_ptr() == x.data_ptr()
    found = counted(before)
    assert found["fuse_traces"] == 1 and not found.get("fuse_declined")


def rows_marked(x):
    return x.fill_diagonal_(fill_value=x.shape[1]).fill_diagonal_(-1.0, wrap=False) * 2


@pytest.mark.skipif(not is_ours(), reason="counters")
@pytest.mark.parametrize("program", [diagonal, rows_marked])
@pytest.mark.parametrize("place", PLACES)
def test_diagonals_of_matrices_are_compiled(place: str, program: Fn) -> None:
    torch._dynamo.reset()
    memory = torch.arange(60.0), torch.arange(60.0)
    mine, theirs = map(PLACES[place], memory)
    with no_fallbacks():
        got = torch.compile(program, backend="fusewright")(mine)
    assert same_bits(got, program(theirs)) and same_bits(*memory)


@pytest.mark.skipif(not is_ours(), reason="counters")
@pytest.mark.parametrize("way", WAYS)
def test_storage_of_other_tensors_is_compiled(way: str) -> None:
    """Windows of an intermediate result beside a running mean; arguments that share a storage."""

    def windows(x, mean):
        y = x * 2
        mean.lerp_(y.mean(0), 0.1)
        return y.as_strided((3, 2, 6), (6, 6, 1)).sum(1)

    def shared(x, y):
        x.add_(1)
        return y * 2

    torch._dynamo.reset()
    with no_fallbacks():
        for fn, args in ((windows, (torch.randn(4, 6), torch.zeros(6))), (shared, tuple(torch.randn(2, 8)))):
            mine, theirs = clone_like(args), clone_like(args)
            torch.testing.assert_close(WAYS[way](fn)(*mine), fn(*theirs))
            torch.testing.assert_close(mine, theirs)
