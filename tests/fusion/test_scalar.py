"""What is below a scalar expression, in the order that schedules and emission rely on."""

from __future__ import annotations

import random

from fusewright.core.dtypes import bf16, f16, f32
from fusewright.fusion import scalar as sc
from fusewright.fusion.scalar import Expr
from fusewright.index import expr as index


def by_recursion(e: Expr, seen: dict[Expr, None]) -> None:
    if e not in seen:
        for c in e.children():
            by_recursion(c, seen)
        seen[e] = None


def test_operands_come_first_whatever_was_asked_before() -> None:
    """What is kept of smaller expressions gives the order of a walk that keeps nothing."""
    chance = random.Random(0)
    i = index.axis("i0", 64)
    made = [sc.load(f"in{k}", i + k, f32, None) for k in range(4)]
    for _ in range(60):
        made.append(sc.op("add", *chance.choices(made, k=2)))
        if chance.random() < 0.3:
            made.append(sc.load("table", index.value(sc.cast(made[-1], f32), 8) + i, f32, None))
    for e in chance.sample(made, len(made)):
        want: dict[Expr, None] = {}
        by_recursion(e, want)
        assert sc.walk([e]) == list(want)
    both: dict[Expr, None] = {}
    for e in made[-3:]:
        by_recursion(e, both)
    assert sc.walk(made[-3:]) == list(both)


def test_what_is_read_of_a_type_is_rounded_to_it() -> None:
    i = index.axis("i0", 64)
    x = sc.load("in0", i, bf16, None)
    assert sc.round_to(x, bf16) is x and sc.round_to(x, f16) is not x
    doubled = sc.op("add", x, x)
    assert sc.round_to(doubled, bf16).kind == "round"
