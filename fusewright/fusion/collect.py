"""A group with a scatter as a Fusion over the scatter's target, for GPUs.

The scattered form (`build.py`) visits the points and writes where they say. Here every element of the target asks for
its points (a *collect* stage): it is written once, by whoever owns it, so that what it starts from and what becomes of
the sum are part of the same kernel, and the points of an element are combined in their order without atomics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.errors import Refusal
from ..graph.ir import Eqn, Value
from ..graph.ranges import Range, unknown
from ..index.expr import ONE, ZERO, Atom, Ix
from ..index.layout import row_major
from ..prims.table import MONOIDS
from . import build as plain
from . import scalar as sc
from .build import Built, Layout, Phase
from .ir import Origin, Stage
from .scalar import Expr

NAME = "s0"  # of the one collect stage of a fusion


def build(
    eqns: Sequence[Eqn],
    outputs: Sequence[Value],
    producers: dict[Value, Eqn],
    views: set[int],
    layout: Layout,
    round_every_op: bool = False,
    without: frozenset[str] = frozenset(),
    ranges: Callable[[Value], Range | None] = unknown,
) -> Built:
    """As `build.build`, but what is scattered is collected. Raises Refusal."""
    chain = [e for e in eqns if e.op == "scatter"]
    if not chain:
        return plain.build(eqns, outputs, producers, views, layout, round_every_op, without, loose=True, ranges=ranges)
    given = _Given(eqns, producers, views, layout, round_every_op, without)
    main = chain[-1]
    first = given.cleared(chain) if len(chain) > 1 else main
    return _Target(given, outputs, main, first).run()


@dataclass(frozen=True, slots=True)
class _Given:
    """The operands of `build`."""

    eqns: Sequence[Eqn]
    producers: dict[Value, Eqn]
    views: set[int]
    layout: Layout
    round_every_op: bool
    without: frozenset[str]

    def phase(self, values: Sequence[Value], also: Sequence[Value] = (), prefix: str = "p") -> Phase:
        return Phase(self.eqns, values, self.producers, self.views, self.layout, self.round_every_op, also, prefix)

    def cleared(self, chain: Sequence[Eqn]) -> Eqn:
        """The first of two scatters, of which it sets the identity wherever the second combines.

        Raises Refusal for any other chain.
        """
        first, main = chain[0], chain[-1]
        same = first.params[1:] == main.params[1:] and first.inputs[2:] == main.inputs[2:]
        if len(chain) == 2 and main.inputs[0] is first.out and first.params[0] == "set" and same:
            p = self.phase([first.inputs[1]])
            body = p.eval(first.inputs[1], p.domain.complete_index(first.inputs[1]), None)
            how = MONOIDS.get(main.params[0])
            if body.kind == "const" and how is not None and body.data == how.identity(main.out.dtype):
                return first
        raise Refusal("scatter", "two scatters in one kernel")


class _Target(Phase):
    """The target's domain: what is stored, in terms of what the elements collect.

    `first`: the scatter whose base the elements start from; `main` itself, unless that clears them before.
    """

    def __init__(self, given: _Given, outputs: Sequence[Value], main: Eqn, first: Eqn):
        self.given, self.main = given, main
        self.base: Value = first.inputs[0]
        self.fresh = first is not main
        eqns = _after(given.eqns, outputs, main, self.base)
        super().__init__(eqns, outputs, given.producers, given.views, given.layout, given.round_every_op, [self.base])
        self.windows = {}
        self.home = self.domain.complete_index(main.out)
        self.fusion.without = given.without

    def run(self) -> Built:
        if any(i.as_axis() is None and i is not ZERO for i in self.home):
            raise Refusal("scatter", "the target of a scatter is stored in another shape")
        self.collect()
        built = super().run()
        home = {a for i in self.home for a in i.axes()}
        for s in self.stages:
            if s.kind not in ("collect", "store"):
                raise Refusal("scatter", f"a {s.kind} beside a scatter")
            if set(s.axes) != home:
                raise Refusal("scatter", "a stored value has other elements than the target of a scatter")
        return built

    def _scatter(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        if idx != self.home:
            raise Refusal("scatter", f"{e.out} is read at {idx}, but lives at {self.home}")
        out = sc.stage_value(NAME, e.out.dtype, frozenset(self.points(self.home)))
        return sc.round_to(out, e.out.dtype) if e.out in self.rounded and e.out.dtype.is_reduced else out

    def collect(self) -> None:
        """The collect stage: which points there are, and which rows they belong to."""
        e = self.main
        how, _, spec = e.params
        source = e.inputs[1]
        p = self.given.phase([source], e.inputs[2:])
        p.buffers, p.sources = self.buffers, self.sources
        places, mask, _, coords = p.targets(e)
        body = p.eval(source, p.domain.complete_index(source), None)
        if p.stages:
            raise Refusal("scatter", f"a {p.stages[0].kind} feeds a scatter")
        bound = {a for x in (mask, *(at for at, _ in places)) for a in x.axes}
        columns: dict[Atom, Ix] = {}  # of the source's axes, those that are coordinates of the target and nothing else
        dims: list[int] = []  # of the target, the others
        for d, s in enumerate(spec):
            a = coords[d].as_axis()
            whole = s[0] == "dim" and source.shape[s[1]] is e.out.shape[d]
            if whole and a is not None and a not in bound and self.home[d] is not ZERO:
                columns[a] = self.home[d]
            elif e.out.shape[d] is not ONE:
                dims.append(d)
        if any(a in columns for d in dims for a in coords[d].axes()):
            raise Refusal("scatter", "an axis of the source is two coordinates of the target")
        key = ZERO
        for d, step in zip(dims, row_major(tuple(e.out.shape[d] for d in dims)), strict=True):
            key = key + coords[d] * step
        rows = tuple(a for d in dims if (a := self.home[d].as_axis()) is not None)
        points = tuple(a for a in p.domain.axes if a not in columns)
        start = self.eval(self.base, self.home, None)
        body = sc.rewrite(body, columns, {})
        origin = Origin(rows, key, mask, start, self.fresh)
        home = self.points(self.home)
        self.stages.append(Stage("collect", NAME, home, points, how, body, e.out.dtype, origin=origin))
        self.fusion.axes += points
        for c, _ in p.fusion.checks:
            here = sc.rewrite(c, columns, {})
            self.fusion.checks.append((here, tuple(x for x in (*home, *points) if x in here.axes)))
        self.fusion.hosts |= p.fusion.hosts


def _after(eqns: Sequence[Eqn], outputs: Sequence[Value], main: Eqn, base: Value) -> list[Eqn]:
    """The equations that the outputs and the scatter's base need, but for what only its points do."""
    made = {e.out: e for e in eqns}
    found: set[Value] = set()
    stack = [*outputs, base]
    while stack:
        v = stack.pop()
        if v in made and v not in found:
            found.add(v)
            stack += [base] if made[v] is main else made[v].inputs
    if main.out not in found:
        raise Refusal("scatter", "what is stored does not depend on the scatter")
    return [e for e in eqns if e.out in found]


__all__ = ["NAME", "build"]
