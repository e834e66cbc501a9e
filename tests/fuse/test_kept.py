"""Tensors that are no arguments, but kept: tables made when first needed, and what objects among the arguments hold."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fusewright
from fusewright.core.errors import UserError
from tests.support import counted, counters, no_fallbacks


class Tables:
    """A plain object that makes tables when they are first needed."""

    def __init__(self) -> None:
        self.made: dict[Any, Any] = {}
        self.calls = 0

    def get(self, n: int, dtype: torch.dtype, make: Callable[[int, torch.dtype], Any]) -> Any:
        if (n, dtype) not in self.made:
            self.calls += 1
            self.made[n, dtype] = make(n, dtype)
        return self.made[n, dtype]


def frequencies(n: int, dtype: torch.dtype) -> Tensor:
    return 1.0 / 100.0 ** (torch.arange(0, n, dtype=dtype) / n)


def interleaved(n: int, dtype: torch.dtype) -> Tensor:
    table = torch.zeros(2, n, dtype=dtype)
    table[:, 0::2] = torch.arange(n // 2).sin()
    table[:, 1::2] = torch.arange(n // 2).cos()
    return table.mul_(2)[1]


def parts(n: int, dtype: torch.dtype) -> tuple[Tensor, ...]:
    return torch.linspace(0, 1, 2 * n, dtype=dtype).chunk(2)


def masks(n: int, dtype: torch.dtype) -> dict[str, Tensor]:
    return {"mask": torch.ones(n, n, dtype=torch.bool).tril()[-1], "bias": torch.full((n,), 0.5, dtype=dtype)}


def total(table: Any) -> Any:
    if isinstance(table, dict):
        return torch.where(table["mask"], table["bias"], 0.0)
    return table if isinstance(table, Tensor) else table[0] * 2 + table[1]


def same(a: Any, b: Any) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=0)
    for t in (a,) if isinstance(a, Tensor) else a.values() if isinstance(a, dict) else a:
        assert type(t) is Tensor and not t.requires_grad and t.grad_fn is None and not t.is_inference()


@pytest.mark.every(2)
@pytest.mark.parametrize("make", [frequencies, interleaved, parts, masks])
def test_tables_that_are_made_when_needed(make: Any) -> None:
    """Real ones are in the cache after the first call, and later traces, calls and eager code use them."""
    tables = Tables()

    def f(x: Tensor) -> Tensor:
        return torch.tanh(x) * total(tables.get(8, x.dtype, make)) + 1

    fused, before = fusewright.fuse(f), counters()
    with no_fallbacks():
        for dtype in (torch.float32, torch.float64):
            for shape in ((3, 8), (5, 8), (2, 3, 8)):
                x = torch.randn(shape, dtype=dtype, requires_grad=len(shape) == 3)
                got = fused(x)
                same(tables.made[8, dtype], make(8, dtype))
                torch.testing.assert_close(got, f(x))
                if x.requires_grad:
                    (mine,), (want,) = (torch.autograd.grad(y.sum(), x) for y in (got, f(x)))
                    torch.testing.assert_close(mine, want)
    assert counted(before)["fuse_traces"] == 4 and tables.calls == 2


def test_a_cached_function() -> None:
    @functools.lru_cache
    def window(n: int) -> Tensor:
        return torch.hann_window(n)

    @functools.lru_cache
    def wider(n: int) -> Tensor:
        return torch.cat([window(n), window(n)])

    fused = fusewright.fuse(lambda x: (x * wider(4) + 1, window(4)))
    for x in (torch.ones(3, 8), torch.ones(8), torch.ones(4, 8)):
        got = fused(x)
        assert got[1] is window(4) and window.cache_info().misses == 1
        same(window(4), torch.hann_window(4))
        torch.testing.assert_close(got[0], x * torch.hann_window(4).repeat(2) + 1)
    wider(4).mul_(3)  # what is kept is read in each call
    torch.testing.assert_close(fused(x)[0], x * torch.hann_window(4).repeat(2) * 3 + 1)


@pytest.mark.parametrize("lazy", [torch._neg_view(torch.ones(4)), torch._efficientzerotensor(4)])
def test_kept_and_computed_lazily(lazy: Tensor) -> None:
    """Torch may compute with zeros without memory before a trace sees them: they are no constants of it."""

    class Holds:
        z: Tensor

    def f(x: Tensor, h: Holds) -> Tensor:
        return (x + h.z).exp() * h.z.cos()

    fused, h, x = fusewright.fuse(f), Holds(), torch.rand(3, 4)
    for z in (torch.rand(4), lazy, torch.rand(4), lazy):
        h.z = z
        torch.testing.assert_close(fused(x, h), f(x, h))
    with pytest.raises(UserError, match="no argument of the fused function"):
        fusewright.fuse(lambda x: (x + lazy).exp())(x)


def test_a_function_cached_by_size() -> None:
    """What is hashed is a condition of the trace, and a table of that size is a constant."""

    @functools.lru_cache
    def window(n: int) -> Tensor:
        return torch.hann_window(n)

    f = lambda x: x * window(x.shape[-1]) + 1
    fused, before = fusewright.fuse(f), counters()
    for x in (torch.ones(3, 4), torch.ones(2, 4), torch.ones(3, 7), torch.ones(5, 4)):
        torch.testing.assert_close(fused(x), x * torch.hann_window(x.shape[-1]) + 1)
    assert counted(before)["fuse_traces"] == 2 and counted(before)["fallbacks"] == 0
    same(window(7), torch.hann_window(7))


def test_sizes_as_keys() -> None:
    scales = {4: 2.0, (7, "w"): 5.0}
    f = lambda x: x * scales.get(x.shape[-1], 1.0) + scales.get((x.shape[-1], "w"), 0.0)
    fused, before = fusewright.fuse(f), counters()
    for n in (4, 7, 4, 9):
        assert torch.equal(fused(torch.ones(3, n)), f(torch.ones(3, n)))
    assert counted(before)["fuse_traces"] == 3 and counted(before)["fallbacks"] == 0


def test_a_program_that_does_without_hashes() -> None:
    """As einops does: it has a way for sizes that have none, and one trace then serves all sizes."""
    names = {4: "four"}

    def f(x: Tensor) -> Tensor:
        try:
            return x * len(names.get(x.shape[-1], ""))
        except TypeError:
            return x * torch.where(torch.tensor(x.shape[-1]) == 4, 4, 0)

    fused, before = fusewright.fuse(f), counters()
    for n in (5, 4, 6):
        assert torch.equal(fused(torch.ones(3, n)), f(torch.ones(3, n)))
    assert counted(before)["fuse_traces"] == 1


@pytest.mark.parametrize("key", [lambda x: x.shape[-1], lambda x: (x.shape[-1], x.dtype)])
def test_tables_by_size_have_numbers_as_keys(key) -> None:
    tables: dict[Any, Tensor] = {}

    def f(x: Tensor) -> Tensor:
        if key(x) not in tables:
            tables[key(x)] = torch.hann_window(x.shape[-1])
        return x * tables[key(x)] + 1

    fused, before = fusewright.fuse(f), counters()
    for n in (4, 4, 4, 7, 4, 7):
        torch.testing.assert_close(fused(torch.ones(3, n)), torch.hann_window(n).expand(3, n) + 1)
    assert [type(k) if type(k) is not tuple else type(k[0]) for k in tables] == [int, int]
    assert counted(before)["fallbacks"] == 0
    for k, t in tables.items():
        same(t, torch.hann_window(k if type(k) is int else k[0]))


def test_what_others_have_cached_is_no_argument() -> None:
    @functools.lru_cache
    def window(n: int) -> Tensor:
        return torch.hann_window(n)

    window(8)
    with pytest.raises(UserError, match="no argument"):
        fusewright.fuse(lambda x: x * window(8) + 1)(torch.ones(3, 8))


def of_the_argument(x: Tensor) -> Tensor:
    return x.sum(0) * 2


def written(x: Tensor) -> Tensor:
    table = torch.zeros(8)
    table[2:].add_(x[0, 2:])
    return table + 1


def with_gradient(x: Tensor) -> Tensor:
    return torch.ones(8, requires_grad=True) * 1


@pytest.mark.parametrize("make", [of_the_argument, written, with_gradient])
def test_what_is_kept_and_is_no_constant(make: Any) -> None:
    cache: list[Tensor] = []

    def f(x: Tensor) -> Tensor:
        if not cache:
            cache.append(make(x))
        return x * cache[0]

    state = torch.get_rng_state()
    with pytest.raises(UserError, match=r"test_kept\.py:\d+ .*made and kept"):
        fusewright.fuse(f)(torch.ones(3, 8))
    assert torch.equal(torch.get_rng_state(), state)


def cached_noise() -> Callable[[Tensor], Tensor]:
    @functools.lru_cache
    def noise(n: int) -> Tensor:
        return torch.randn(n).mul_(2).add_(1)

    return lambda x: x * noise(3) + noise(3)[0] + torch.arange(3)


def noise_in_a_dictionary() -> Callable[[Tensor], Tensor]:
    made: dict[str, Tensor] = {}

    def f(x: Tensor) -> Tensor:
        if "noise" not in made:
            made["noise"] = torch.randn(3)
            made["end"] = made["noise"][1:]
            made["noise"][2] = 7
        return x * made["noise"] + made["end"].sum()

    return f


@pytest.mark.parametrize("make", [cached_noise, noise_in_a_dictionary])
def test_random_numbers_that_are_drawn_once(make: Callable[[], Callable[[Tensor], Tensor]]) -> None:
    """As the plain function draws them, in its first call; the generator is then where that leaves it."""
    found = []
    for wrap in (lambda f: f, fusewright.fuse):
        plain = make()
        f = wrap(plain)
        torch.manual_seed(5)
        with no_fallbacks():
            found.append([*(f(torch.ones(3)) for _ in range(3)), plain(torch.ones(3)), torch.randn(3)])
    for want, got in zip(*found, strict=True):
        assert torch.equal(want, got)


def test_random_numbers_of_a_function_that_cannot_be_traced() -> None:
    """What it has drawn before is real, for whoever reads it then."""

    @functools.lru_cache
    def noise(n: int) -> Tensor:
        return torch.randn(n)

    def f(x: Tensor) -> Tensor:
        y = noise(3)
        return y * x if x.sum() > 2 else y

    torch.manual_seed(5)
    with pytest.raises(UserError, match="needs the value of a tensor"):
        fusewright.fuse(f)(torch.ones(3))
    torch.manual_seed(5)
    assert torch.equal(f(torch.ones(3)), torch.randn(3))


def test_a_table_that_is_written_in_each_call() -> None:
    cache: dict[str, Tensor] = {}

    def f(x: Tensor) -> Tensor:
        return x * cache.setdefault("n", torch.zeros(())).add_(1)

    with pytest.raises(UserError, match="made and kept"):
        fusewright.fuse(f)(torch.ones(3))


def test_a_trace_that_fails_leaves_real_tables() -> None:
    tables = Tables()

    def f(x: Tensor) -> Tensor:
        table = tables.get(8, x.dtype, frequencies)
        return x * table if bool(x.sum() > 0) else x

    with pytest.raises(UserError, match="needs the value"):
        fusewright.fuse(f)(torch.ones(8))
    same(tables.made[8, torch.float32], frequencies(8, torch.float32))


class Rotary(nn.Module):
    """Keeps tables in attributes, of its own and of a helper."""

    def __init__(self, eager: bool) -> None:
        super().__init__()
        self.linear, self.cos, self.helper, self.scales = nn.Linear(8, 8), None, Tables(), [torch.ones(8)]
        if eager:
            self(torch.ones(1, 8))

    def forward(self, x: Tensor) -> Tensor:
        if self.cos is None:
            self.cos = torch.arange(8.0).cos()
        return self.linear(x) * self.cos * self.scales[0] + self.helper.get(8, x.dtype, frequencies)


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("argument", [False, True])
def test_tensors_that_modules_hold(eager: bool, argument: bool) -> None:
    m = Rotary(eager)
    fused = fusewright.fuse((lambda m, x: m(x)) if argument else m)
    call = functools.partial(fused, m) if argument else fused
    before = counters()
    for shape in ((3, 8), (3, 8), (3, 8), (5, 8)):
        x = torch.randn(shape)
        got = call(x)
        torch.testing.assert_close(got, m(x))
    assert counted(before)["fuse_traces"] == 1 and m.helper.calls == 1 and type(m.cos) is Tensor


@pytest.mark.every(2)
@pytest.mark.parametrize("place", ["attribute", "list", "helper"])
def test_tensors_that_modules_hold_are_others_later(place: str) -> None:
    m = Rotary(True)
    fused, x = fusewright.fuse(m), torch.randn(3, 8)
    for k in range(4):
        for _ in range(2):
            torch.testing.assert_close(fused(x), m(x))
        old = m(x)
        if place == "attribute":
            m.cos = torch.full((8,), 2.0 + k) if k != 1 else None
        elif place == "list":
            m.scales[0] = torch.full((8,), 2.0 + k, dtype=torch.float64 if k == 2 else torch.float32)
        else:
            m.helper.made[8, torch.float32] = torch.full((8,), 2.0 + k)
        assert not torch.equal(m.linear(x), old)
    with torch.no_grad():
        m.scales[0].mul_(2)  # in place: no other one
    torch.testing.assert_close(fused(x), m(x))


def test_tensors_that_modules_hold_are_written() -> None:
    class Count(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.steps = torch.zeros(())

        def forward(self, x: Tensor) -> Tensor:
            self.steps.add_(1)
            return torch.tanh(x) * self.steps

    m, x = Count(), torch.randn(3)
    fused, steps = fusewright.fuse(m), m.steps
    for k in range(1, 4):
        torch.testing.assert_close(fused(x), torch.tanh(x) * k)
        assert m.steps is steps and steps.item() == k
    many = nn.Sequential(*(Count() for _ in range(20)))
    before = counters()
    torch.testing.assert_close(fusewright.fuse(many)(x), nn.Sequential(*(Count() for _ in range(20)))(x))
    assert counted(before)["fuse_traces"] == 1


def test_modules_with_weights_that_are_no_parameters_run_by_torch() -> None:
    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = [torch.ones(3, requires_grad=True)]

        def forward(self, x: Tensor) -> Tensor:
            return x * self.weights[0]

    m, before = Hidden(), counters()
    fusewright.fuse(m)(torch.ones(3)).sum().backward()
    assert torch.equal(m.weights[0].grad, torch.ones(3))
    assert counted(before)["fuse_declined"] == 1
