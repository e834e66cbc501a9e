"""A group of Graph equations becomes a Fusion: views turn into index arithmetic, the rest into scalar expressions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ..core.deep import Ladder
from ..core.dtypes import bool_, f32, i64
from ..core.errors import Refusal
from ..graph.ir import Eqn, Value
from ..graph.ranges import Range, unknown
from ..index import expr as index
from ..index.expr import ONE, ZERO, Atom, Ix
from ..index.layout import flatten, linear, row_major
from . import scalar as sc
from .decisions import deciding
from .domain import Domain
from .ir import Buffer, Fusion, Stage, Target
from .masks import trim_masks
from .onehot import picked
from .places import VIEWS, in_range, name_of
from .repeats import Divided, Repeat, divided, repeats
from .scalar import Expr
from .streams import Window, named, place, windows
from .structure import structure_hash

Layout = Callable[[Value], tuple[Ix, ...]]
Key = tuple[Value, tuple[Ix, ...], Expr | None]  # a value, where, and under which mask
PLACES = 512, 8  # that values are computed at, at most: so many, and for each operation so many more


@dataclass(slots=True)
class Built:
    """A fusion and the graph values behind its buffers, by buffer name.

    `repeats`: what is computed at several places; `windows`: of buffers that are part of what is behind them
    (`fusion/streams.py`); `original`: the fusion as it was built; a schedule puts one with
    fewer axes in the place of `fusion`. `quotients`: finds what reads at divided positions (`repeats.divided`).
    """

    fusion: Fusion
    sources: dict[str, Value]
    repeats: tuple[Repeat, ...] = ()
    quotients: Callable[[Iterable[Value]], list[Divided]] | None = None
    windows: dict[str, Window] = field(default_factory=dict)
    original: Fusion = field(init=False)
    _hash: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self.original = self.fusion

    @property
    def hash(self) -> str:
        """The structure hash of the original fusion."""
        self._hash = self._hash or structure_hash(self.original)
        return self._hash


def build(
    eqns: Sequence[Eqn],
    outputs: Sequence[Value],
    producers: dict[Value, Eqn],
    views: set[int],
    layout: Layout,
    round_every_op: bool = False,
    without: frozenset[str] = frozenset(),
    loose: bool = False,
    ranges: Callable[[Value], Range | None] = unknown,
) -> Built:
    """The Fusion of `eqns` that stores `outputs`.

    `producers`: the equation behind any value of the graph; `views`: units that are metadata only, looked
    through when they feed the group; `layout(value)`: strides in elements of a value that lives in memory; `without`:
    passes that are switched off for it; `loose`: whether to mark what is not rounded to 16 bits; `ranges`:
    between which numbers a value lies. Raises Refusal when the group has no common iteration domain.
    """
    scatters = [e for e in eqns if e.op == "scatter"]
    if any(e.inputs[0] is not before.out for before, e in itertools.pairwise(scatters)):
        raise Refusal("scatter", "two tensors are scattered into")
    if scatters and list(outputs) != [scatters[-1].out]:
        raise Refusal("scatter", "a kernel that scatters stores nothing else, and its result is read elsewhere")

    def phase(values: Sequence[Value], also: Sequence[Value] = (), prefix: str = "i") -> Phase:
        out = Phase(eqns, values, producers, views, layout, round_every_op, also, prefix)
        out.fusion.without, out.loose, out.ranges = without, loose, ranges
        return out

    if scatters:
        return _scattered(scatters, phase)
    one = phase(outputs)
    built = one.run()
    f = built.fusion
    if one.picked:
        if all(s.kind == "store" for s in f.stages) and len({s.axes for s in f.stages}) > 1:
            # rows beside points are one kernel only if there is a loop over the row
            one = phase(outputs)
            one.picks = False
            built = one.run()
            f = built.fusion
        walked = {a for s in f.stages for a in (*s.axes, *s.raxes)}
        f.axes = tuple(a for a in f.axes if a in walked)  # without those that only the sums had
    trim_masks(f)
    return built


def _scattered(chain: Sequence[Eqn], phase: Callable[..., Phase]) -> Built:
    """Scatters, each into the result of the one before: store the base, visit every source, round what was accumulated.

    Sums and products of 16-bit floats are accumulated in f32 scratch and rounded once: in the tensor itself every
    addition would round.
    """
    base, result = chain[0].inputs[0], chain[-1].out
    first = phase([base], prefix="o")
    parts = [phase([e.inputs[1]], e.inputs[2:], prefix=f"s{k}i") for k, e in enumerate(chain[:-1])]
    parts.append(phase([chain[-1].inputs[1]], chain[-1].inputs[2:]))
    out = Buffer("out", result.dtype, result.shape, first.layout(result), True)
    target = out
    if result.dtype.is_reduced and any(e.params[0] in ("sum", "prod") for e in chain):
        target = Buffer("total", f32, out.shape, row_major(out.shape), False)
    first.store(base, target)
    if any(s.kind != "store" for s in first.stages):
        raise Refusal("scatter", "the base of a scatter is the result of a reduction")
    for part, e in zip(parts, chain, strict=True):
        part.buffers, part.sources = first.buffers, first.sources
        part.scatter(e, target)
    *before, fusion = [p.finish([out]) for p in (first, *parts)]
    for f in before:
        fusion.hosts |= f.hosts
    fusion.before = before
    if target is not out:
        idx = first.domain.complete_index(base)
        body = sc.load(target.name, first.offset(target, idx), f32, None)
        last = Stage("store", out.name, before[0].axes, (), "", body, out.dtype, out.name, first.offset(out, idx))
        fusion.after = [Fusion(before[0].axes, [out], [last], without=fusion.without)]
        fusion.scratch = [target]
    first.sources[out.name] = result
    return Built(fusion, first.sources, windows=named(first.windows, first.sources))


class Phase:
    """One iteration domain being evaluated; `outputs` define it, and stages may read the values `also`, too."""

    def __init__(
        self,
        eqns: Sequence[Eqn],
        outputs: Sequence[Value],
        producers: dict[Value, Eqn],
        views: set[int],
        layout: Layout,
        round_every_op: bool,
        also: Sequence[Value] = (),
        prefix: str = "i",
    ):
        self.outputs = list(outputs)
        self.layout = layout
        self.windows = windows(eqns)
        mine = self.mine = {e.out: e for e in eqns}
        # views of outside tensors are part of the addressing, so they join the group's equations
        around: dict[Value, Eqn] = {}
        stack = [v for e in eqns for v in e.inputs]
        while stack:
            v = stack.pop()
            if v in mine or v in around:
                continue
            e = producers.get(v)
            if e is not None and e.unit in views:
                around[v] = e
                stack.extend(e.inputs)
        self.eqn = {**around, **mine}
        needed: set[Value] = set()
        stack = [*outputs, *also]
        while stack:
            v = stack.pop()
            if v in self.eqn and v not in needed:
                needed.add(v)
                stack.extend(self.eqn[v].inputs)
        order = sorted((self.eqn[v] for v in needed), key=lambda e: e.out.id)
        self.rounded = set(self.eqn) if round_every_op else deciding(order, self.outputs)
        self.anchors = [e.out for e in order if e.op in ("reduce", "scan", "scatter")]
        self.anchors += [v for v in outputs if v not in self.anchors]
        self.domain = Domain(order, self.anchors, prefix)
        self.memo: dict[Key, Expr] = {}
        self.ladder = Ladder()
        self.buffers: dict[Value, Buffer] = {}
        self.names: dict[Value, str] = {}
        self.stages: list[Stage] = []
        self.fusion = Fusion(tuple(self.domain.axes), exact=round_every_op)
        self.sources: dict[str, Value] = {}
        self.depth = 0  # of pads and cats around what is being evaluated
        self.picks = True  # sums of what is zero but at one place need no loop
        self.picked = False
        self.loose = False  # what is rounded in the program only, is marked where it becomes float32
        self.ranges: Callable[[Value], Range | None] = unknown
        self.certain: set[Expr | None] = {None}  # masks that hold everywhere, or the kernel reports failure

    def run(self) -> Built:
        outs = []
        for v in self.outputs:
            body = self.eval(v, self.domain.complete_index(v), None)
            b = Buffer(f"out{len(self.sources)}", v.dtype, v.shape, self.layout(v), True)
            self.sources[b.name] = v
            self.store(v, b, body)
            outs.append(b)
        f = self.finish(outs)
        again = repeats(self.memo, self.mine, self.certain)
        quotients = partial(divided, self.memo, self.lies)
        return Built(f, self.sources, again, quotients, named(self.windows, self.sources))

    def lies(self, v: Value, idx: tuple[Ix, ...]) -> Ix:
        """Where an element of a value lies in memory, if that is stored."""
        return linear(idx, self.layout(v))

    def finish(self, outs: list[Buffer]) -> Fusion:
        self.fusion.stages = self.stages
        self.fusion.buffers = [*self.buffers.values(), *outs]
        return self.fusion

    def points(self, idx: tuple[Ix, ...]) -> tuple[Atom, ...]:
        """The domain's axes that an index walks."""
        return tuple(a for a in self.domain.axes if any(a in i.axes() for i in idx))

    def store(self, v: Value, b: Buffer, body: Expr | None = None) -> None:
        """A stage that stores `v` in `b`, at its place in the domain."""
        idx = self.domain.complete_index(v)
        body = body if body is not None else self.eval(v, idx, None)
        if b.dtype.is_reduced and body.kind == "round" and body.data is b.dtype:
            body = body.args[0]  # the store rounds
        self.stages.append(Stage("store", b.name, self.points(idx), (), "", body, b.dtype, b.name, self.offset(b, idx)))

    def scatter(self, e: Eqn, b: Buffer) -> None:
        """A stage that scatters into `b`."""
        places, mask, free, coords = self.targets(e)
        src = e.inputs[1]
        idx = self.domain.complete_index(src)
        body = self.eval(src, idx, None)
        if b.dtype.is_reduced and body.kind == "round" and body.data is b.dtype:
            body = body.args[0]
        target = Target(places, mask, free, flatten(idx, src.shape))
        offset = self.offset(b, coords)
        axes = self.points(idx)
        self.stages.append(Stage("scatter", b.name, axes, (), e.params[0], body, b.dtype, b.name, offset, target))

    def targets(self, e: Eqn) -> tuple[tuple[tuple[Expr, Ix], ...], Expr, tuple[Atom, ...], tuple[Ix, ...]]:
        """Of the points that a scatter visits: (run-time coordinates with their extents, the mask, the axes that are
        coordinates, all coordinates of the target); the first three as in `Target`."""
        _, masked, spec = e.params
        src = e.inputs[1]
        idx = self.domain.complete_index(src)

        def here(v: Value, dims: Sequence[int]) -> tuple[Ix, ...]:
            return tuple(ZERO if n is ONE else idx[k] for k, n in zip(dims, v.shape, strict=True))

        counts = self.eval(e.inputs[2], here(e.inputs[2], range(src.rank)), None) if masked else None
        mask, places, free, coords = counts, [], [], []
        for s, n in zip(spec, e.out.shape, strict=True):
            if s[0] == "dim":
                coords.append(idx[s[1]])
                a = idx[s[1]].as_axis()
                free += [a] if a is not None else []
                continue
            at = e.inputs[2 + masked + s[1]]
            where, valid = self.place(at, self.eval(at, here(at, s[2]), None), n, counts)
            mask = valid if mask is None else sc.op("and", mask, valid)
            places.append((where, n))
            coords.append(index.value(where, n))
        return tuple(places), sc.const(True, bool_) if mask is None else mask, tuple(free), tuple(coords)

    def _scatter(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        raise Refusal("scatter", f"{e.out} is read by the kernel that scatters into it")

    def place(self, at: Value, raw: Expr, extent: Ix, mask: Expr | None) -> tuple[Expr, Expr]:
        """(an index `raw`, which is an element of `at`, counted from the front, whether it is below `extent`); adds the
        check that it is, where `mask`, unless that is known."""
        raw, known, size = sc.cast(raw, i64), self.ranges(at), extent.as_int()
        if known is not None and size is not None and 0 <= known[0] and known[1] < size:
            return raw, sc.const(True, bool_)
        n, zero = sc.size_value(extent), sc.const(0, i64)
        wrapped = sc.op("where", sc.op("lt", raw, zero), sc.op("add", raw, n), raw)
        valid = sc.op("and", sc.op("ge", wrapped, zero), sc.op("lt", wrapped, n))
        must = valid if mask is None else sc.op("or", valid, sc.op("not", mask))
        self.fusion.checks.append((must, tuple(a for a in self.domain.axes if a in must.axes)))
        return wrapped, valid

    def offset(self, b: Buffer, idx: tuple[Ix, ...]) -> Ix:
        return linear(idx, b.strides)

    def buffer(self, v: Value) -> Buffer:
        b = self.buffers.get(v)
        if b is None:
            shape = (index.ix(self.windows[v][1]),) if v in self.windows else v.shape
            b = Buffer(f"in{len(self.buffers)}", v.dtype, shape, self.layout(v), False)
            self.buffers[v] = b
            self.sources[b.name] = v
        return b

    def eval(self, v: Value, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        key = (v, idx, mask)
        found = self.memo.get(key)
        keys = []
        while found is None:
            keys.append(key)
            e = self.eqn.get(v)
            if e is None or e.op not in VIEWS:
                found = self._eval(v, idx, mask)
            else:  # one after the other: there may be more of them than Python has frames
                v, idx = e.inputs[0], VIEWS[e.op](e, idx)
                key = (v, idx, mask)
                found = self.memo.get(key)
        for key in reversed(keys):
            self.memo[key] = found
        return found

    def _eval(self, v: Value, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        e = self.eqn.get(v)
        if e is None:
            if ZERO in v.shape:  # no element is asked for, but a kernel may read ahead of a loop
                return sc.const(False if v.dtype.is_bool else 0, v.dtype)
            b = self.buffer(v)
            return sc.load(b.name, self.offset(b, idx), b.dtype, mask)
        if len(self.memo) > PLACES[0] + PLACES[1] * len(self.eqn):  # pieces of pieces of pieces, each where others end
            raise Refusal("places", f"{len(self.eqn)} operations would be computed at {len(self.memo)} places or more")
        self.ladder.climb((v, idx, mask), self._below, lambda key: self.eval(*key))
        with self.ladder:
            out: Expr = getattr(self, f"_{e.op}")(e, idx, mask)
        return out

    def _below(self, key: Key) -> list[Key]:
        """What an elementwise operation or a view takes, as far as it is not known yet."""
        v, idx, mask = key
        e = self.eqn.get(v)
        if e is None or e.op not in ("map", "cast", *VIEWS):
            return []
        if e.op in VIEWS:
            found = [(e.inputs[0], VIEWS[e.op](e, idx), mask)]
        else:
            found = [(x, _beside(e, x, idx), mask) for x in e.inputs]
        return [key for key in found if key not in self.memo]

    def operand(self, e: Eqn, n: int, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        return self.eval(e.inputs[n], _beside(e, e.inputs[n], idx), mask)

    def _map(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        out = sc.op(e.params[0], *(self.operand(e, n, idx, mask) for n in range(len(e.inputs))))
        if e.out in self.rounded and e.out.dtype.is_reduced:
            out = sc.round_to(out, e.out.dtype)
        return out

    def _cast(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        x = self.operand(e, 0, idx, mask)
        to, keep_rounding = e.params
        out = sc.cast(x, to)
        if to.is_reduced and e.inputs[0].dtype is not to and (keep_rounding or e.out in self.rounded):
            out = sc.round_to(out, to)
        elif self.loose and e.inputs[0].dtype.is_reduced and to.is_float:
            out = sc.loose(out)
        return out

    def _const(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        return sc.const(e.params[0], e.out.dtype)

    def _scalar(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        v = e.params[0]
        if isinstance(v, Ix):
            return sc.cast(sc.size_value(v), e.out.dtype)
        self.fusion.hosts[v] = e.out.dtype
        return sc.host(v, e.out.dtype)

    def _pad(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        x, fill = e.inputs
        src = tuple(i - lo for i, lo in zip(idx, e.params[0], strict=True))
        inside = sc.const(True, bool_)
        for j, n in zip(src, x.shape, strict=True):
            inside = sc.op("and", inside, in_range(j, n))
        if sc.never(inside):
            return self.eval(fill, (), mask)
        both = inside if mask is None else sc.op("and", mask, inside)
        body = self.inside(x, src, None if both.kind == "const" else both)
        return sc.op("where", inside, body, self.eval(fill, (), mask))

    def _cat(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        dim = e.params[0]
        start = ZERO
        pieces: list[tuple[Expr, Expr]] = []
        for x in e.inputs:
            j = idx[dim] - start
            here = in_range(j, x.shape[dim])
            both = here if mask is None else sc.op("and", mask, here)
            src = tuple(j if d == dim else i for d, i in enumerate(idx))
            if not sc.never(here):
                pieces.append((here, self.inside(x, src, None if both.kind == "const" else both)))
            start = start + x.shape[dim]
        out = pieces[-1][1] if pieces else sc.zero(e.out.dtype)
        for here, body in reversed(pieces[:-1]):
            out = sc.op("where", here, body, out)
        return out

    def inside(self, x: Value, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        """`x` at `idx`, of use only where `idx` is a place in `x`, which `mask` ensures wherever memory is read.

        While `x` is evaluated, a coordinate that may lie outside has a name that lies inside: divisions by the extents
        of views then fold as they do elsewhere. The names do not outlive this function.
        """
        names = {
            d: name_of(self.depth, d, n)
            for d, (j, n) in enumerate(zip(idx, x.shape, strict=True))
            if not index.within(j, n)
        }
        if not names or mask is None:
            return self.eval(x, idx, mask)
        self.depth += 1
        checks = len(self.fusion.checks)
        body = self.eval(x, tuple(names.get(d, j) for d, j in enumerate(idx)), mask)
        self.depth -= 1
        places = {a: idx[d] for d, name in names.items() if (a := name.as_axis()) is not None}
        read = [sc.rewrite(must, places, {}) for must, _ in self.fusion.checks[checks:]]  # of indices on the way
        read = [c for c in read if c.kind != "const" or sc.never(c)]
        self.fusion.checks[checks:] = [(c, tuple(a for a in self.domain.axes if a in c.axes)) for c in read]
        return sc.rewrite(body, places, {})

    def _gather(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        x = e.inputs[0]
        src: list[Ix] = []
        for d, s in enumerate(e.params[0]):
            if s[0] == "dim":
                src.append(idx[s[1]])
                continue
            at = e.inputs[1 + s[1]]
            place = tuple(ZERO if n is ONE else idx[k] for k, n in zip(s[2], at.shape, strict=True))
            wrapped, valid = self.place(at, self.eval(at, place, mask), x.shape[d], mask)
            certain = mask in self.certain
            if valid.kind != "const":
                mask = valid if mask is None else sc.op("and", mask, valid)
            if certain:
                self.certain.add(mask)
            src.append(index.value(wrapped, x.shape[d]))
        return self.eval(x, tuple(src), mask)

    def _iota(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        return sc.index_value(idx[e.params[0]])

    def _random(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        kind, n = e.params
        at = place(kind, n)[0] - self.windows.get(e.inputs[0], (0, 0))[0]
        if kind.startswith("curand"):
            state = tuple(self.eval(e.inputs[0], (index.ix(at + k),), None) for k in range(4))
            return sc.cast(sc.random(kind, state, ZERO, flatten(idx, e.out.shape), f32), e.out.dtype)
        seed = self.eval(e.inputs[0], (index.ix(at),), None)
        row = flatten(idx[:-1], e.out.shape[:-1])
        column = idx[-1] if idx else ZERO
        out = sc.random(kind, seed, row, column, f32 if e.out.dtype.is_float else e.out.dtype)
        return sc.cast(out, e.out.dtype)

    def _reduce(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        return self.anchor(e, idx, "reduce", e.params[0], e.params[1])

    def _scan(self, e: Eqn, idx: tuple[Ix, ...], mask: Expr | None) -> Expr:
        return self.anchor(e, idx, "scan", e.params[0], (e.params[1],))

    def anchor(self, e: Eqn, idx: tuple[Ix, ...], kind: str, monoid: str, dims: tuple[int, ...]) -> Expr:
        """The value of a reduction or scan: one stage, readable only at its own place in the domain."""
        home = self.domain.complete_index(e.out)
        if idx != home:
            raise Refusal("domain", f"{e.out} is read at {idx}, but lives at {home}")
        axes = tuple(a for a in self.domain.axes if any(a in i.axes() for i in home))
        name = self.names.get(e.out)
        if name is None:
            x = e.inputs[0]
            src = self.domain.complete_index(x) if x in self.domain.index else None
            if src is None or None in src:
                raise Refusal("domain", f"operand of {e.out} has no place")
            raxes = self.domain.walked(kind, monoid, [(src[d], x.shape[d]) for d in dims if x.shape[d] is not ONE])
            for d in range(x.rank):
                if d not in dims and src[d] is not home[d]:
                    raise Refusal("domain", f"{e.out} and its operand disagree on dim {d}")
            if set(raxes) & set(axes) and kind == "reduce":
                raise Refusal("domain", f"{e.out} still depends on an axis it reduces")
            body = self.eval(x, src, None)
            sums = self.picks and kind == "reduce" and monoid == "sum" and len(raxes) == 1
            one = picked(body, raxes[0]) if sums else None
            if one is not None:
                self.picked = True
                return sc.cast(one, e.out.dtype)
            made = Stage(kind, f"r{len(self.names)}", axes, raxes, monoid, body, e.out.dtype)
            self.names[e.out] = name = next((s.name for s in self.stages if s == replace(made, name=s.name)), made.name)
            self.stages += [made] if name == made.name else []
        out = sc.stage_value(name, e.out.dtype, frozenset(axes))
        if e.out in self.rounded and e.out.dtype.is_reduced:
            out = sc.round_to(out, e.out.dtype)
        return out


def _beside(e: Eqn, x: Value, idx: tuple[Ix, ...]) -> tuple[Ix, ...]:
    """Where an elementwise operation reads an operand for its result at `idx`."""
    lead = e.out.rank - x.rank
    return tuple(ZERO if x.shape[d] is ONE else idx[lead + d] for d in range(x.rank))
