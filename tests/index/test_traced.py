"""A recorded computation gives, for other sizes, what the computation itself would give, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.index.traced import Trace, Traced, settled, source


def chosen(n, m):
    """What schedulers do with sizes."""
    steps = max(1, min(4, 64 // max(n, 1), -(-m // 8)))
    power = min(256, 1 << max(0, m - 1).bit_length()) if m < 256 else 256
    lanes = 4
    while lanes > 1 and (n % lanes or n * m - 1 < lanes):
        lanes //= 2
    order = sorted([("a", n), ("b", m), ("c", 7)], key=lambda x: -x[1])
    share = n / (m + 1) > 0.5
    width = int(n * 1.5) if n > 40 else 0
    table = {3: "three"}.get(n, "other")
    return steps, power, lanes, [x[0] for x in order], share, abs(3 - n) + width, bool(m >> 2 & 1), table, n != m


def record(n, m):
    """(the results as recorded, the rule) of `chosen(n, m)`."""
    trace = Trace(["n", "m"])
    out = chosen(trace.number("n", n), trace.number("m", m))
    flat = [y for x in out for y in (x if isinstance(x, list) else [x])]
    return trace, trace.function([source(x) for x in flat])


def plain(n, m):
    return tuple(y for x in chosen(n, m) for y in (x if isinstance(x, list) else [x]))


@settings(max_examples=200, deadline=None)
@given(*[st.integers(0, 70)] * 4)
def test_a_rule_is_right_or_silent(n, m, other_n, other_m):
    _, rule = record(n, m)
    assert rule(n, m) == plain(n, m)
    got = rule(other_n, other_m)
    assert got is None or got == plain(other_n, other_m)


def test_it_holds_for_more_than_one_size():
    trace = Trace(["n", "m"])
    n, m = trace.number("n", 40), trace.number("m", 64)
    rows, lanes = max(1, n // 8), 4 if m % 4 == 0 else 1
    rule = trace.function([source(rows), source(lanes)])
    assert (rule(40, 64), rule(48, 32), rule(48, 33), rule(0, 8)) == ((5, 4), (6, 4), None, None)


def test_looking_at_a_value_fixes_it():
    for look in (int, float, hash, lambda x: list(range(x)), lambda x: {x: 1}, lambda x: [0, 1, 2, 3][x], settled):
        trace = Trace(["n"])
        look(trace.number("n", 3))
        rule = trace.function(["n"])
        assert rule(3) == (3,) and rule(4) is None


def test_what_it_does_not_know_raises():
    x = Trace(["n"]).number("n", 3)
    for use in (lambda: x**2, lambda: divmod(x, 2), lambda: round(x), lambda: x @ x, lambda: x + "a"):
        with pytest.raises(TypeError):
            use()


def test_errors_are_the_computation_s():
    trace = Trace(["n", "m"])
    rule = trace.function([source(trace.number("n", 8) // trace.number("m", 2))])
    assert rule(9, 3) == (3,)
    with pytest.raises(ZeroDivisionError):
        rule(9, 0)


def test_settled_looks_into_tuples():
    trace = Trace(["n"])
    n = trace.number("n", 5)
    out = settled((("a", n), 2, "b"))
    assert out == (("a", 5), 2, "b") and not isinstance(out[0][1], Traced)
    assert trace.function([])(6) is None
