"""The structure hash of a fusion: twelve hex digits that name an algorithm, the same in every process.

It covers axes, buffers (types, shapes, strides), stages and checks with their names as they are. Expressions are
written as a list of distinct nodes, so that a value used many times costs one line; terms of index expressions are
sorted by their text, because their order in memory depends on what was made before.
"""

from __future__ import annotations

import hashlib

from ..index.expr import Atom, Ix
from .ir import Fusion, Stage
from .scalar import Expr

DIGITS = 12


def structure_hash(f: Fusion) -> str:
    """The hash of `f` as `fusion/build.py` made it (a schedule may merge axes: hash before that)."""
    writer = _Writer()
    writer.fusion(f)
    return hashlib.sha256("\n".join(writer.lines).encode()).hexdigest()[:DIGITS]


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.numbers: dict[Expr, str] = {}

    def fusion(self, f: Fusion) -> None:
        axes = [f"{a.name}<{'' if a.extent is None else self.ix(a.extent)}" for a in f.axes]
        self.lines.append(f"axes {', '.join(axes)}")
        for b in (*f.buffers, *f.scratch):
            shape, strides = (",".join(map(self.ix, xs)) for xs in (b.shape, b.strides))
            self.lines.append(f"buffer {b.name} {b.dtype} ({shape}) ({strides}) {b.output}")
        self.lines += [f"host {name} {dtype}" for name, dtype in f.hosts.items()]
        for s in f.stages:
            self.stage(s)
        for c, over in f.checks:
            self.lines.append(f"check {self.expr(c)} {[a.name for a in over]}")
        for when, parts in (("before", f.before), ("after", f.after)):
            for g in parts:
                self.lines.append(when)
                self.fusion(g)

    def stage(self, s: Stage) -> None:
        body = self.expr(s.body)
        offset = "" if s.offset is None else self.ix(s.offset)
        over, along = [a.name for a in s.axes], [a.name for a in s.raxes]
        line = f"{s.kind} {s.name} {over} {along} {s.monoid} {s.dtype} {s.buffer} {offset} = {body}"
        if s.target is not None:
            places = [(self.expr(e), self.ix(n)) for e, n in s.target.places]
            free = [a.name for a in s.target.free]
            line += f" at {places} if {self.expr(s.target.mask)} {free} {self.ix(s.target.order)}"
        if s.origin is not None:
            o, rows = s.origin, [a.name for a in s.origin.rows]
            line += f" at {rows} = {self.ix(o.key)} if {self.expr(o.mask)} from {self.expr(o.base)} {o.fresh} {o.apart}"
        self.lines.append(line)

    def expr(self, root: Expr) -> str:
        """The name of an expression; its lines and those of what it reads are written first (without recursion)."""
        stack = [root]
        while stack:
            e = stack[-1]
            if e in self.numbers:
                stack.pop()
                continue
            missing = [c for c in e.children() if c not in self.numbers]
            if missing:
                stack += missing
                continue
            stack.pop()
            self.numbers[e] = name = f"e{len(self.numbers)}"
            args = " ".join(self.numbers[c] for c in e.args)
            self.lines.append(f"{name} = {e.kind} {e.dtype} {args} {self.data(e)}")
        return self.numbers[root]

    def data(self, e: Expr) -> str:
        d = e.data
        if isinstance(d, Ix):
            return self.ix(d)
        if e.kind == "stage":
            return str(d[0])  # its axes are those of the stage
        if isinstance(d, tuple):
            return " ".join(self.ix(x) if isinstance(x, Ix) else str(x) for x in d)
        return repr(d) if e.kind == "const" else str(d)

    def ix(self, i: Ix) -> str:
        """An index expression; run-time values in it by the names of their expressions."""
        terms = ["*".join([str(c), *sorted(self.atom(a) for a in m)]) for m, c in i.terms]
        return "+".join(sorted(terms)) or "0"

    def atom(self, a: Atom) -> str:
        if a.kind == "div":
            assert a.num is not None
            return f"({self.ix(a.num)})//({self.ix(a.aux)})"
        return f"@{self.expr(a.aux)}" if a.kind == "value" else a.name
