"""Index expressions against Python's integers: every rule, for every value of its axes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.index import expr
from fusewright.index.expr import ONE, ZERO, Ix, axis, floordiv, ix, mod, nonnegative, sym, upper, within
from fusewright.index.layout import flatten, product, row_major, unflatten

N, M = sym("n"), sym("m")
EXTENTS = [N, M, N * M, ix(3), ix(16), N + 2, 2 * M]
AXES = [axis(f"x{k}", e) for k, e in enumerate(EXTENTS)]
SIZES = [{"n": n, "m": m} for n, m in ((1, 1), (2, 3), (5, 1), (4, 7))]
configured = settings(max_examples=300, deadline=None, derandomize=True, database=None)


def points(*exprs: Ix) -> Iterator[dict[str, int]]:
    """Sizes and, for each, some values of the axes that occur: the corners and a few inside."""
    axes = sorted({a for e in exprs for a in e.axes()}, key=lambda a: a.name)
    for sizes in SIZES:
        ranges = []
        for a in axes:
            assert a.extent is not None
            n = int(a.extent.evaluate(sizes))
            ranges.append(sorted({0, 1, n // 2, n - 2, n - 1} & set(range(n))))
        for values in itertools.product(*ranges):
            yield {**sizes, **{a.name: v for a, v in zip(axes, values, strict=True)}}


LEAVES = st.one_of(st.sampled_from(AXES[:4]), st.sampled_from([N, M]), st.integers(-20, 20).map(ix))
DIVISORS = st.one_of(st.sampled_from(EXTENTS), st.integers(1, 20).map(ix))
EXPRS = st.recursive(
    LEAVES,
    lambda e: st.one_of(
        st.tuples(e, e).map(lambda p: p[0] + p[1]),
        st.tuples(e, e).map(lambda p: p[0] - p[1]),
        st.tuples(e, st.one_of(st.sampled_from([N, M]), st.integers(-3, 17).map(ix))).map(lambda p: p[0] * p[1]),
        st.tuples(e, DIVISORS).map(lambda p: p[0] // p[1]),
        st.tuples(e, DIVISORS).map(lambda p: p[0] % p[1]),
    ),
    max_leaves=5,
)


@given(EXPRS, EXPRS)
@configured
def test_arithmetic(a: Ix, b: Ix) -> None:
    for env in points(a, b):
        x, y = a.evaluate(env), b.evaluate(env)
        assert (a + b).evaluate(env) == x + y
        assert (a - b).evaluate(env) == x - y
        assert (a * b).evaluate(env) == x * y
    assert a + b is b + a and (a + b) - b is a and a * b is b * a


@given(EXPRS, DIVISORS)
@configured
def test_division(a: Ix, d: Ix) -> None:
    q, r = floordiv(a, d), mod(a, d)
    assert q * d + r is a
    for env in points(a, d):
        x, y = a.evaluate(env), d.evaluate(env)
        assert q.evaluate(env) == x // y
        assert r.evaluate(env) == x % y


@given(EXPRS, DIVISORS)
@configured
def test_bounds(a: Ix, d: Ix) -> None:
    """What is claimed holds everywhere; nothing says that everything true is claimed."""
    top, positive, inside = upper(a), nonnegative(a), within(a, d)
    for env in points(a, d):
        x = a.evaluate(env)
        assert top is None or x <= top.evaluate(env)
        assert not positive or x >= 0
        assert not inside or 0 <= x < d.evaluate(env)


@given(EXPRS)
@configured
def test_text_is_python(a: Ix) -> None:
    for env in points(a):
        assert eval(str(a), {}, env) == a.evaluate(env)


SHAPES = st.lists(st.sampled_from([N, M, ONE, ix(3), ix(16), N + 2, N * M]), min_size=1, max_size=4)


def _index(shape: tuple[Ix, ...]) -> tuple[Ix, ...]:
    return tuple(ZERO if n is ONE else axis(f"k{d}", n) for d, n in enumerate(shape))


@given(SHAPES)
@configured
def test_unflatten_undoes_flatten(dims: list[Ix]) -> None:
    shape = tuple(dims)
    index = _index(shape)
    assert all(a is b for a, b in zip(unflatten(flatten(index, shape), shape), index, strict=True))


@given(SHAPES)
@configured
def test_flatten_undoes_unflatten(dims: list[Ix]) -> None:
    shape = tuple(dims)
    total = product(shape)
    flat = ZERO if total is ONE else axis("f", total)
    index = unflatten(flat, shape)
    assert flatten(index, shape) is flat
    for env in points(flat):
        for i, n in zip(index, shape, strict=True):
            assert 0 <= i.evaluate(env) < n.evaluate(env)


@given(SHAPES, SHAPES, st.integers(-3, 3), st.data())
@configured
def test_no_dividend_turns_negative(dims: list[Ix], other: list[Ix], shift: int, data: st.DataObject) -> None:
    """Mirrored, shifted and reshaped: where the position is not negative, nothing that is divided on the way is.

    Targets divide unsigned numbers; positions outside the tensor are masked, so what they give does not matter.
    """
    shape = tuple(dims)
    index = tuple(n - 1 - i if data.draw(st.booleans()) else i for i, n in zip(_index(shape), shape, strict=True))
    flat = flatten(index, shape) + shift
    if data.draw(st.booleans()):
        flat = product(shape) - 1 - flat
    for i in unflatten(flat, tuple(other)):
        for env in points(flat, i):
            if flat.evaluate(env) >= 0:
                assert all(a.num is None or a.num.evaluate(env) >= 0 for a in i.atoms())


def test_simplifications() -> None:
    i, j = axis("i", N), axis("j", M)
    assert floordiv(i * M + j, M) is i
    assert mod(i * M + j, M) is j
    assert floordiv(floordiv(i, ix(4)), ix(3)) is floordiv(i, ix(12))
    assert floordiv(i * M + j, M * 7) is floordiv(i, ix(7))
    assert floordiv(i * 96 + axis("k", 96), ix(96 * 64)) is floordiv(i, ix(64))
    assert floordiv(i * 96 + axis("k", 97), ix(96 * 64)) is not floordiv(i, ix(64))
    assert floordiv(i * M * 4 + j * 4 + axis("k", 4), N * M * 4) is ZERO
    assert floordiv(N - 1 - i, N) is ZERO
    assert mod(N - 1 - i, N) is N - 1 - i
    assert floordiv((N + 2) * M, N + 2) is M
    assert floordiv(31 - axis("k", 32), ix(16)) is not ZERO
    assert within(i, N) and within(N - 1 - i, N) and not within(i + 1, N)
    assert nonnegative(N * M - N) and not nonnegative(N - M)
    assert upper(i * M + j) is N * M - 1
    assert row_major((N, M, ix(3))) == (3 * M, ix(3), ONE)


def test_interned() -> None:
    assert sym("n") is N and ix(5) is ix(5) and N + M - M is N
    assert axis("i", N) is axis("i", N) and axis("i", N) is not axis("i", M)
    assert (N * 2).as_int() is None and ix(3).as_int() == 3 and ix(3) == 3 and N != 3


def test_substitution() -> None:
    i, j, k = axis("i", N), axis("j", M), axis("k", N * M)
    (a,), (b,) = i.axes(), j.axes()
    flat = i * M + j
    assert flat.subst({a: floordiv(k, M), b: mod(k, M)}) is k
    assert flat.subst({}) is flat
    assert flat.coefficient(a) is M and flat.coefficient(b) is ONE and floordiv(flat + i, ix(7)).coefficient(a) is None
    assert floordiv(flat + i, ix(7)).coefficient(a, within=True) is ZERO


@pytest.mark.parametrize("divisor", [0, -3])
def test_divisors_are_positive(divisor: int) -> None:
    with pytest.raises(ValueError, match="must be >= 1"):
        floordiv(N, ix(divisor))


@configured
@given(EXPRS, DIVISORS, st.integers(1, 5), EXPRS)
def test_remainders_have_bounds_however_they_were_written(a: Ix, d: Ix, k: int, rest: Ix) -> None:
    if nonnegative(d - 1):
        r = a - d * floordiv(a, d)
        e = k * r + rest
        top = upper(e)
        for env in points(a, d, rest):
            value = e.evaluate(env)
            assert top is None or value <= top.evaluate(env)
            assert not nonnegative(e) or value >= 0


def test_remainders() -> None:
    """What is left of a position without its quotient, as where a view splits an axis and another joins it."""
    x = axis("x", N * 24 * M)
    head = x - 24 * M * floordiv(x, 24 * M)
    assert upper(head) is 24 * M - 1 and nonnegative(head)
    assert floordiv(head, 24 * M) is ZERO
    y = axis("y", 7)
    both = 3 * head + y
    assert upper(both) is 72 * M + 3 and nonnegative(both)
    wide = x - (N + 2) * floordiv(x, N + 2)
    assert within(wide, N + 2) and not within(wide, N + 1)
    assert not nonnegative(wide - 1)


def test_the_work_of_nested_divisions_is_not_exponential_in_their_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extents that are quotients themselves, as those of strided convolutions of a varying image, nest divisions."""
    made = 0
    poly = expr._poly

    def counted(terms: Any) -> Ix:
        nonlocal made
        made += 1
        return poly(terms)

    monkeypatch.setattr(expr, "_poly", counted)
    p = axis("deep", N)
    for k in range(8):
        p = mod(p, sym(f"deep{k}") + 1) * 2 + (p + 1) // 3
    nonnegative(p)
    assert made < 5000  # 1000; half a million if each level looks at the one below several times
