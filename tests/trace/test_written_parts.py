"""Writes into parts of large arguments, as into a cache of keys and values, happen in place."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import fusewright
from fusewright.run.written import Part

pytestmark = pytest.mark.usefixtures("strict")
WAYS = ("backend", "dynamic", "fuse")
SHAPE = (4, 8, 256, 16)  # half a megabyte
Program = Callable[[Tensor, Tensor, Tensor], Any]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The writes that happened in place."""
    seen: list[str] = []
    call = Part.__call__

    def noted(self: Part, *given: Any) -> Any:
        seen.append(str(self))
        return call(self, *given)

    monkeypatch.setattr(Part, "__call__", noted)
    return seen


def made(way: str, fn: Program) -> Program:
    if way == "fuse":
        return fusewright.fuse(fn)
    return torch.compile(fn, backend="fusewright", dynamic=way == "dynamic")


def compared(way: str, fn: Program, *shapes: tuple[int, ...]) -> None:
    compiled = made(way, fn)
    for shape in shapes or (SHAPE, SHAPE):
        cache, k = torch.randn(shape), torch.randn(*shape[:2], 1, shape[3])
        given, pos = cache.clone(), torch.tensor([5])
        expected = fn(cache, k, pos)
        torch.testing.assert_close(compiled(given, k, pos), expected)
        torch.testing.assert_close(given, cache)


def row(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 7:8] = k * 2
    return c[:, :, :9] + k


def indexed(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, pos] = k * 2
    return c.sum()


def indexed_of_one(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[2, :, pos] = k[0] * 2
    return c[2, :, :4] * 2


def copied(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c.index_copy_(2, pos, k * 2)
    return c[:, :, :9] * 3


def scattered(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c.scatter_(2, pos.view(1, 1, 1, 1).expand(k.shape), k * 2)
    return c[0] * 3


def scattered_number(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c.scatter_(2, pos.view(1, 1, 1, 1).expand(k.shape), 3.0)
    return c[0] * 3


def added(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[0, 0, 3].add_(k[0, 0, 0] * 2)
    return c[0, 0, :5] * 2


def twice(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[0, 0, 0] += k[0, 0, 0]
    c[0, 0, 1] = c[0, 0, 0] * k[0, 0, 0]
    return c[0, 0, :5] * 2


def other_row(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 3] = c[:, :, 4]
    return c[:, :, 3] * k[:, :, 0]


def double_row(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 3] = k[0, :, 0].double() * 3  # another type, and broadcast
    return c[:, :, 3] * 2


def every_fourth(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 1::4] = k * 2
    return c[:, :, :4] * 2


def diagonal(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c.diagonal(0, 0, 1).copy_(k[:, 0].sum(-1, keepdim=True)[:, 0, 0])
    return c[1] * 2


def rows_in_a_loop(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    for i in range(3):
        c[:, :, i] = torch.tanh(c[:, :, i] + k[:, :, 0])
    return c[:, :, :3].sum(2)


def shifted(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 1:4] = c[:, :, :3].clone()
    return c[:, :, :4] * 2


def shifted_and_scaled(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 1:40] = c[:, :, :39] * 1.0
    c[:, :, :1] = k
    return c[:, :, :4] * 2


IN_PLACE = [row, indexed, indexed_of_one, copied, scattered, scattered_number, added, twice, other_row, double_row]
IN_PLACE += [every_fourth, diagonal, rows_in_a_loop, shifted, shifted_and_scaled]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fn", IN_PLACE, ids=lambda f: f.__name__)
def test_in_place(fn: Program, way: str, parts: list[str]) -> None:
    compared(way, fn)
    assert parts


def old_row_kept(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    t = c[:, :, 3] * 2
    c[:, :, 3] = t
    return t + 1  # may be computed anew, of what is there then


def old_sum(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    s = c.sum(2)
    c[:, :, 3] = k[:, :, 0]
    return s


def old_row_for_later(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 0] = k[:, :, 0]
    t = c[:, :, 0] * 2  # of what is overwritten before it is written elsewhere
    c[:, :, 0] = k[:, :, 0] + 1
    c[:, :, 1] = t
    return k.sum()


def old_row_of_many_for_later(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    out = torch.zeros(c.shape)
    out[:, :, 0] = k[:, :, 0]
    t = out[:, :, 0] * 2
    for i in range(20):
        out[:, :, i % 3] = torch.tanh(k[:, :, 0] + i)
    out[:, :, 4] = t
    return out * 2


def accumulated(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c.index_put_((pos,), k[0], accumulate=True) if c.shape[0] > 5 else c.index_add_(2, pos, k)
    return c[0] * 2


def most(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[:, :, 1:] = c[:, :, 1:] * 2
    return c[0] * 2


def masked(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
    c[c > 1] = 0.5
    return c[0] * 2


def result_of_its_own(c: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    old = c.clone()
    c[:, :, 3] = k[:, :, 0]
    return old, c * 2


WHOLE = [old_row_kept, old_sum, old_row_for_later, old_row_of_many_for_later, accumulated, most, masked]
WHOLE += [result_of_its_own]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("fn", WHOLE, ids=lambda f: f.__name__)
def test_as_a_whole(fn: Program, way: str, parts: list[str]) -> None:
    compared(way, fn)
    assert not parts


@pytest.mark.parametrize("way", WAYS)
def test_small_ones_as_a_whole(way: str, parts: list[str]) -> None:
    compared(way, row, (2, 2, 9, 4), (2, 2, 9, 4))
    assert not parts


@pytest.mark.parametrize("way", ["dynamic", "fuse"])
def test_sizes_that_vary(way: str, parts: list[str]) -> None:
    compared(way, indexed, SHAPE, (4, 8, 200, 16), (4, 8, 300, 16))
    assert len(parts) == 3


@pytest.mark.parametrize("way", WAYS)
def test_results_on_the_argument(way: str) -> None:
    def fn(c: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, ...]:
        c[:, :, 7:8] = k * 2
        return c, c[0], c.view(-1), c * 1

    compared(way, fn)
    cache = torch.randn(SHAPE)
    out = made(way, fn)(cache, torch.randn(4, 8, 1, 16), torch.tensor([5]))
    assert out[0] is cache
    assert [t.data_ptr() == cache.data_ptr() for t in out] == [True, True, True, False]


@pytest.mark.parametrize("way", WAYS)
def test_arguments_on_the_same_memory(way: str) -> None:
    def fn(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
        s = k * 3
        c[:, :, 7:8] = k.exp()
        return c[:, :, :1] + s

    compiled = made(way, fn)
    base = torch.randn(SHAPE)
    other = base.clone()
    compiled(base.clone(), torch.randn(4, 8, 1, 16), torch.tensor([5]))
    torch.testing.assert_close(compiled(base, base[:, :, 7:8], torch.tensor([5])), fn(other, other[:, :, 7:8], base))
    torch.testing.assert_close(base, other)


def test_counts_as_a_write() -> None:
    cache, k = torch.randn(SHAPE), torch.randn(4, 8, 1, 16)
    compiled = made("backend", row)
    compiled(cache, k, torch.tensor([5]))
    weight = torch.randn((), requires_grad=True)
    out = (cache * weight).sum()  # saves the cache
    compiled(cache, k, torch.tensor([5]))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_memory_that_eager_refuses_to_copy_to_itself() -> None:
    def fn(c: Tensor) -> Tensor:
        c[1:40] = c[:39]
        return c[0] * 2

    cache = torch.randn(256, 512)
    with pytest.raises(RuntimeError, match="memory location"):
        fn(cache.clone())
    with pytest.raises(RuntimeError, match="memory location"):
        torch.compile(fn, backend="fusewright")(cache)


def test_an_index_out_of_range() -> None:
    cache, k = torch.randn(SHAPE), torch.randn(4, 8, 1, 16)
    compiled = made("backend", indexed)
    with pytest.raises(IndexError):
        compiled(cache, k, torch.tensor([256]))
    compiled(cache, k, torch.tensor([255]))
    torch.testing.assert_close(cache[:, :, 255:], k * 2)


def test_beside_gradients(parts: list[str]) -> None:
    def fn(x: Tensor, buffer: Tensor) -> Tensor:
        buffer[3] = x.detach() * 2
        return (x.sin() + buffer[:5]).sum()

    x, buffer = torch.randn(64, requires_grad=True), torch.randn(1024, 64)
    y, other = x.detach().clone().requires_grad_(), buffer.clone()
    torch.compile(fn, backend="fusewright")(x, buffer).backward()
    fn(y, other).backward()
    torch.testing.assert_close(x.grad, y.grad)
    torch.testing.assert_close(buffer, other)
    assert parts


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("steps", [4, 20])
def test_many_writes_into_a_new_tensor(steps: int, way: str, parts: list[str]) -> None:
    """A recurrence: few are one kernel, of many each writes its own."""

    def fn(c: Tensor, k: Tensor, pos: Tensor) -> Tensor:
        out, h = torch.zeros(c.shape[1:]), k[0, :, 0]
        for i in range(steps):
            h = torch.tanh(h * 0.5 + c[0, :, i])
            out[:, i] = h
        return out * 2

    compared(way, fn, (1, 64, 256, 16), (1, 64, 256, 16))
    assert len(parts) == (0 if steps < 16 else 2 * steps)


class Cached(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(SHAPE))

    def forward(self, k: Tensor, pos: Tensor) -> Tensor:
        self.cache[1, :, pos] = k[0] * 2
        self.cache[:, :, 3] += k[:, :, 0]
        return self.cache[:, :, :9] * k


def test_programs_ahead_of_time(parts: list[str], tmp_path: Path) -> None:
    k, pos = torch.randn(4, 8, 1, 16), torch.tensor([5])
    program = fusewright.aot_compile(Cached(), (k, pos))
    fusewright.aot_save(program, tmp_path / "cached.fwp")
    assert format_of(tmp_path / "cached.fwp") == 4
    for p in (program, fusewright.aot_load(tmp_path / "cached.fwp")):
        parts.clear()
        plain = Cached()
        for _ in range(2):
            torch.testing.assert_close(p(k, pos), plain(k, pos))
        assert len(parts) == 4


def format_of(path: Path) -> int:
    """The format of a saved program."""
    with zipfile.ZipFile(path) as z:
        return int(json.loads(z.read("manifest.json"))["format"])
