"""The iteration domain of a group: at which point of it each value lives.

Starting from one equation whose operand spans the domain, the index of every value is propagated along the
equations, forwards and backwards, wherever the relation is one to one. What matters are the *anchors*
(reductions, scans and stored values): each must get an index that covers it exactly once; everything else is
computed at whatever index its readers ask for.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.errors import Refusal
from ..graph.ir import Eqn, Value
from ..index.expr import ONE, ZERO, Atom, Ix, axis
from ..index.layout import bijective, product, reshaped

Index = tuple[Ix | None, ...]


class Domain:
    """Assigns indices over shared axes to the values of a group's equations.

    `index[v]` is a tuple with one index expression (or None while unknown) per dim of `v`. Raises Refusal when
    an anchor cannot be placed. Axes are named `prefix` and a number.
    """

    def __init__(self, eqns: list[Eqn], anchors: list[Value], prefix: str = "i"):
        self.eqns = eqns
        self.prefix = prefix
        self.axes: list[Atom] = []
        self.index: dict[Value, Index] = {}
        self.placed: set[Value] = set()  # values of which every dim has an index
        producer = {e.out: e for e in eqns}
        root = self._root(eqns, anchors, producer)
        self._place(root, tuple(self._axis(n) for n in root.shape))
        self._propagate()
        for v in anchors:
            self._complete(v, producer.get(v))
        for v in anchors:
            self._verify(v)

    def _root(self, eqns: list[Eqn], anchors: list[Value], producer: dict[Value, Eqn]) -> Value:
        """The operand of the largest reduction (of the most axes), else of a scan, else the largest stored value."""
        best: Value | None = None
        for e in eqns:
            if e.op in ("reduce", "scan"):
                v = e.inputs[0]
                if best is None or _larger(v.numel, best.numel):
                    best = v
        if best is not None:
            return best
        best = anchors[0]
        for v in anchors[1:]:
            if _larger(v.numel, best.numel):
                best = v
        return best

    def _axis(self, extent: Ix) -> Ix:
        if extent is ONE:
            return ZERO
        a = axis(f"{self.prefix}{len(self.axes)}", extent)
        self.axes.append(a.terms[0][0][0])
        return a

    def _propagate(self) -> None:
        placed = self.placed
        forward = [e for e in self.eqns if e.out not in placed]
        backward = [e for e in reversed(self.eqns) if not placed.issuperset(e.inputs)]
        changed = True
        while changed:
            changed = False
            for e in forward:
                changed |= self._forward(e)
            for e in backward:
                changed |= self._backward(e)

    def _place(self, v: Value, idx: Index) -> None:
        self.index[v] = idx
        if None not in idx:
            self.placed.add(v)

    def _set(self, v: Value, idx: Index) -> bool:
        if v in self.placed:
            return False
        old = self.index.get(v)
        idx = tuple(ZERO if n is ONE else i for i, n in zip(idx, v.shape, strict=True))
        if old is None:
            if all(i is None for i in idx) and idx:
                return False
            self._place(v, idx)
            return True
        new = _joined(old, idx)
        if new == old:
            return False
        self._place(v, new)
        return True

    def _forward(self, e: Eqn) -> bool:
        if e.out in self.placed:
            return False
        known = [self.index.get(v) for v in e.inputs]
        if all(k is None for k in known):
            return False
        got = _FORWARD.get(e.op, _nothing)(e, known)
        return got is not None and self._set(e.out, got)

    def _backward(self, e: Eqn) -> bool:
        out = self.index.get(e.out)
        if out is None or self.placed.issuperset(e.inputs):
            return False
        got = _BACKWARD.get(e.op, _nothing_back)(e, out)
        changed = False
        for v, i in zip(e.inputs, got, strict=False):
            if i is not None:
                changed |= self._set(v, i)
        return changed

    def _complete(self, v: Value, e: Eqn | None) -> None:
        """Give an anchor's unknown dims axes: an unused one of the same extent, else a new one."""
        if e is not None and e.op in ("reduce", "scan"):
            self._fill(e.inputs[0])
        self._fill(v)

    def _fill(self, v: Value) -> None:
        idx = self.index.get(v)
        if idx is None and all(n is ONE for n in v.shape):
            self._place(v, (ZERO,) * v.rank)
            return
        if idx is None:
            idx = (None,) * v.rank
        if None not in idx:
            return
        used = {a for i in idx if i is not None for a in i.axes()}
        new: list[Ix] = []
        for i, n in zip(idx, v.shape, strict=True):
            if i is not None:
                new.append(i)
                continue
            if n is ONE:
                new.append(ZERO)
                continue
            pick = next((a for a in self.axes if a.extent is n and a not in used), None)
            chosen = pick.ix if pick is not None else self._axis(n)
            used |= chosen.axes()
            new.append(chosen)
        self._place(v, tuple(new))
        self._propagate()

    def _verify(self, v: Value) -> None:
        idx = self.index.get(v)
        if idx is None or None in idx:
            raise Refusal("domain", f"{v} cannot be placed in the iteration domain")
        if not bijective(idx, v.shape):  # type: ignore[arg-type]
            raise Refusal("domain", f"{v} does not have one element for each point of the axes of {idx}")

    def complete_index(self, v: Value) -> tuple[Ix, ...]:
        return self.index[v]  # type: ignore[return-value]

    def walked(self, kind: str, monoid: str, dims: list[tuple[Ix, Ix]]) -> tuple[Atom, ...]:
        """The axes that a reduction or scan walks, along dims of these indices and extents.

        Each dim is an axis, or all of them together are all points of some axes, as those of a reshaped operand are.
        Such axes are walked in another order than the dims: not by scans, nor where a position is asked for.
        """
        alone = [i.as_axis() for i, _ in dims]
        if None not in alone:
            return tuple(a for a in alone if a is not None)
        found = {a for i, _ in dims for a in i.axes()}
        whole = product(a.extent for a in found) is product(n for _, n in dims)
        if kind == "scan" or monoid in ("argmax", "argmin") or not whole:
            index = next(i for i, _ in dims if i.as_axis() is None)
            raise Refusal("domain", f"{kind} over {index}, which is not a loop axis")
        return tuple(a for a in self.axes if a in found)


def _larger(a: Ix, b: Ix) -> bool:
    """Whether a > b, judged with every size symbol taken as 64 (a tie-break only: any answer is legal)."""
    return _guess(a) > _guess(b)


def _guess(e: Ix) -> int:
    return sum(c * 64 ** len(m) for m, c in e.terms)


# --- one relation per operation ----------------------------------------------------------------------


def _nothing(e: Eqn, known: list[Index | None]) -> Index | None:
    return None


def _nothing_back(e: Eqn, out: Index) -> list[Index | None]:
    return []


def _joined(known: Index, more: Index) -> Index:
    """`known`, and what another source says of other dims.

    Each source walks its dims one to one, but two of them may walk the same axis, as `x` does in `x[:, None] * x`: what
    is said of a dim counts only if no other walks its axes, or the same source says the same of that one.
    """
    taken = {a for k, m in zip(known, more, strict=True) if k is not None and k is not m for a in k.axes()}

    def free(m: Ix | None) -> bool:
        return m is not None and taken.isdisjoint(m.axes())

    return tuple(m if k is None and free(m) else k for k, m in zip(known, more, strict=True))


def _map_forward(e: Eqn, known: list[Index | None]) -> Index | None:
    out: Index = (None,) * e.out.rank
    for v, k in zip(e.inputs, known, strict=True):
        if k is None:
            continue
        lead = e.out.rank - v.rank
        said = (i if n is e.out.shape[lead + d] else None for d, (i, n) in enumerate(zip(k, v.shape, strict=True)))
        out = _joined(out, (None,) * lead + tuple(said))
    return out


def _map_backward(e: Eqn, out: Index) -> list[Index | None]:
    got: list[Index | None] = []
    for v in e.inputs:
        lead = e.out.rank - v.rank
        got.append(tuple(ZERO if v.shape[d] is ONE else out[lead + d] for d in range(v.rank)))
    return got


def _affine_pairs(e: Eqn) -> list[tuple[int, int, bool, Ix]]:
    """(input dim, output dim, reversed, offset) for the dims that correspond one to one."""
    x = e.inputs[0]
    pairs = []
    for d, (offset, coeffs) in enumerate(e.params[0]):
        if len(coeffs) == 1 and x.shape[d] is e.out.shape[coeffs[0][0]]:
            k, c = coeffs[0]
            if c is ONE and offset is ZERO:
                pairs.append((d, k, False, offset))
            elif c == -1 and offset is x.shape[d] - 1:
                pairs.append((d, k, True, offset))
    seen: set[int] = set()
    return [p for p in pairs if not (p[1] in seen or seen.add(p[1]))]  # type: ignore[func-returns-value]


def _affine_forward(e: Eqn, known: list[Index | None]) -> Index | None:
    k = known[0]
    if k is None:
        return None
    out: list[Ix | None] = [None] * e.out.rank
    for d, o, rev, offset in _affine_pairs(e):
        i = k[d]
        out[o] = None if i is None else (offset - i if rev else i)
    return tuple(out)


def _affine_backward(e: Eqn, out: Index) -> list[Index | None]:
    x = e.inputs[0]
    pairs = _affine_pairs(e)
    got: list[Ix | None] = [None] * x.rank
    for d, o, rev, offset in pairs:
        i = out[o]
        got[d] = None if i is None else (offset - i if rev else i)
    if any(got[d] is None and x.shape[d] is not ONE for d in range(x.rank)):
        return [None]
    return [tuple(got)]


def _reshape(idx: Index, src: Value, dst: Value) -> Index | None:
    if any(i is None and n is not ONE for i, n in zip(idx, src.shape, strict=True)):
        return None
    return reshaped(tuple(i if i is not None else ZERO for i in idx), src.shape, dst.shape)


def _reduce_forward(e: Eqn, known: list[Index | None]) -> Index | None:
    k = known[0]
    if k is None:
        return None
    axes = e.params[1]
    return tuple(ZERO if d in axes else i for d, i in enumerate(k))


def _reduce_backward(e: Eqn, out: Index) -> list[Index | None]:
    axes = e.params[1]
    return [tuple(None if d in axes else i for d, i in enumerate(out))]


def _gather_dims(e: Eqn) -> list[tuple[int, list[tuple[int, int]]]]:
    """(operand, [(operand dim, output dim) that correspond one to one]) of each source: of the gathered tensor, and of
    an index for each dim that it picks from."""
    own = [(d, s[1]) for d, s in enumerate(e.params[0]) if s[0] == "dim"]
    picked = [(1 + s[1], list(enumerate(s[2]))) for s in e.params[0] if s[0] != "dim"]
    return [(n, [(d, k) for d, k in dims if e.inputs[n].shape[d] is e.out.shape[k]]) for n, dims in [(0, own), *picked]]


def _gather_forward(e: Eqn, known: list[Index | None]) -> Index | None:
    out: Index = (None,) * e.out.rank
    for n, dims in _gather_dims(e):
        got = known[n]
        if got is not None:
            said = {k: got[d] for d, k in dims}
            out = _joined(out, tuple(said.get(k) for k in range(e.out.rank)))
    return out


def _gather_backward(e: Eqn, out: Index) -> list[Index | None]:
    got: list[list[Ix | None]] = [[None] * v.rank for v in e.inputs]
    for n, dims in _gather_dims(e):
        for d, k in dims:
            got[n][d] = out[k]
    # the gathered tensor itself is addressed at run time: it has no place in the domain
    return [None, *(tuple(g) for g in got[1:])]


_FORWARD: dict[str, Callable[[Eqn, list[Index | None]], Index | None]] = {
    "map": _map_forward,
    "cast": _map_forward,
    "affine": _affine_forward,
    "reshape": lambda e, k: None if k[0] is None else _reshape(k[0], e.inputs[0], e.out),
    "reduce": _reduce_forward,
    "scan": _map_forward,
    "gather": _gather_forward,
}

_BACKWARD: dict[str, Callable[[Eqn, Index], list[Index | None]]] = {
    "map": _map_backward,
    "cast": _map_backward,
    "affine": _affine_backward,
    "reshape": lambda e, o: [_reshape(o, e.out, e.inputs[0])],
    "reduce": _reduce_backward,
    "scan": _map_backward,
    "gather": _gather_backward,
}
