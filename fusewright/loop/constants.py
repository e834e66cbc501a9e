"""A GPU kernel for one set of sizes: its size parameters are numbers, and what follows from that is folded.

`specialised` replaces the size parameters of a CUDA kernel by their values for a launch. Then it knows between which
numbers every index lies (the numbers of threads and blocks, loop variables, and what is computed from those), and folds
- arithmetic whose result is one number, sums with 0, products with 1, `min` and `max` that are always the same operand;
- comparisons and masks that hold at every point of the launch, or at none, and the branches they choose;
- loops that run once or not at all; loops that run equally often in all threads get that count for a bound; unrolled
  loops over a row are cut where it ends in some threads: what is before that needs no condition;
- loads and stores under masks that are all true (then there is no mask) or all false (then nothing is left).

The result computes what the kernel computed, in the same order, with the same collectives, but on launches of these
sizes only. It is not on the way of a general kernel: that never contains an extent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from ..core.dtypes import DType, numpy_type
from ..core.errors import CompilerError
from .ir import (
    Alloc,
    Arg,
    Barrier,
    Commit,
    Copy,
    Fail,
    For,
    Func,
    Grid,
    If,
    Imm,
    Let,
    Prefetch,
    Reg,
    Set,
    Stmt,
    Store,
    Var,
    Wait,
    operands,
    walk,
    zeros,
)
from .ranges import Range, holds, number, span_of

MAX_BLOCKS = 2**31 - 1

_COMPARE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}  # and what holds otherwise
_TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_KEPT = ("treduce", "creduce", "tscan", "last")  # other threads wait for them, whether or not the result is read


def with_sizes(func: Func, numbers: Sequence[int], kept: Collection[str] = ()) -> Func:
    """`func` for launches whose size parameters are `numbers`; but for those called `kept`, it has none any more."""
    if func.target != "cuda":
        raise CompilerError("only CUDA kernels are made for one set of sizes", "constants")
    return _Constants(func, numbers, kept).run()


def specialised(func: Func, numbers: Sequence[int]) -> Func:
    """`func` with sizes as numbers; what only says how many blocks are launched stays a parameter, if that is all the
    same to the code: then one kernel serves batches of all sizes."""
    full = with_sizes(func, numbers)
    read = {a.name for s in walk(func.body) for a in operands(s) if isinstance(a, Reg)}
    kept = {g.blocks.name for g in func.body if isinstance(g, Grid) and isinstance(g.blocks, Reg)} - read
    if not kept:
        return full
    free = with_sizes(func, numbers, kept)
    codes = [[replace(g, blocks=Imm(0, func.index)) for g in f.body if isinstance(g, Grid)] for f in (full, free)]
    return free if codes[0] == codes[1] else full


class _Constants:
    def __init__(self, func: Func, numbers: Sequence[int], kept: Collection[str]):
        self.func = func
        self.sizes = [r for r in func.sizes if r.name in kept]
        # Registers of the old kernel, and what stands in their place where they can be seen.
        self.now: dict[str, Arg] = {r.name: Imm(n, r.dtype) for r, n in zip(func.sizes, numbers, strict=True)}
        self.now.update((r.name, r) for r in (*func.hosts, *self.sizes))
        self.taken = {r.name for r in (*func.hosts, *self.sizes)}
        # Of registers of the new kernel, which has no name twice: what is known, and how they are computed.
        self.ranges: dict[str, Range] = {}
        self.made: dict[str, Let] = {}
        self.mutable: set[str] = set()

    def run(self) -> Func:
        f = self.func
        body: list[Stmt] = []
        for s in f.body:
            assert isinstance(s, Grid)
            body.append(self.grid(s))
        touched = [b for s in walk(body) for b in (getattr(s, "buf", None), getattr(s, "into", None))]
        used = {b.name for b in touched if b is not None}
        allocs = [Alloc(a.buf, self.arg(a.count), a.scope) for a in f.allocs if a.buf.name in used]
        return replace(f, sizes=self.sizes, allocs=allocs, body=body)

    def grid(self, s: Grid) -> Grid:
        blocks = self.arg(s.blocks)
        most = blocks.value if isinstance(blocks, Imm) else MAX_BLOCKS
        bid, tid = self.define(s.bid), self.define(s.tid)
        self.ranges[bid.name] = (0, max(0, most - 1))
        self.ranges[tid.name] = (0, s.threads - 1)
        body: list[Stmt] = []
        self.block(s.body, body)
        return replace(s, bid=bid, tid=tid, blocks=blocks, body=_without_unread(body))

    # --- registers ---
    def define(self, r: Reg) -> Reg:
        """The register that is now what `r` was; a name that is taken gets a number."""
        new = self.now[r.name] = self.fresh(r.name, r.dtype, r.lanes)
        return new

    def arg(self, a: Arg) -> Arg:
        if isinstance(a, Imm):
            return a
        new = self.now[a.name]
        return Imm(new.value, new.dtype, a.lanes) if isinstance(new, Imm) else new

    def fixed(self, a: Arg) -> bool:
        """Whether an operand has the same value wherever it can be seen."""
        return isinstance(a, Imm) or a.name not in self.mutable

    def range(self, a: Arg) -> Range | None:
        if isinstance(a, Imm):
            return (a.value, a.value) if a.dtype.is_int else None
        return self.ranges.get(a.name)

    # --- statements ---
    def block(self, body: list[Stmt], out: list[Stmt]) -> None:
        for s in body:
            match s:
                case Let():
                    self.let(s, out)
                case Var():
                    init = self.arg(s.init)
                    new = self.define(s.dst)
                    self.mutable.add(new.name)
                    out.append(Var(new, init))
                case Set():
                    dst = self.now[s.dst.name]
                    assert isinstance(dst, Reg)
                    out.append(Set(dst, self.arg(s.src)))
                case Store():
                    mask = None if s.mask is None else self.mask(s.mask, s.hint)
                    if isinstance(mask, Imm) and not mask.value:
                        continue
                    mask = None if isinstance(mask, Imm) else mask
                    out.append(replace(s, index=self.arg(s.index), value=self.arg(s.value), mask=mask))
                case Prefetch():
                    out.append(Prefetch(s.buf, self.arg(s.index)))
                case Copy():
                    out.append(replace(s, at=self.arg(s.at), index=self.arg(s.index)))
                case If():
                    self.branch(s, out)
                case For():
                    self.loop(s, out)
                case Barrier() | Fail() | Commit() | Wait():
                    out.append(s)
                case _:
                    raise CompilerError(f"a {type(s).__name__} in a CUDA kernel", "constants")

    def branch(self, s: If, out: list[Stmt]) -> None:
        cond = self.arg(s.cond)
        if isinstance(cond, Imm):
            self.block(s.then if cond.value else s.orelse, out)
            return
        then: list[Stmt] = []
        orelse: list[Stmt] = []
        for body, into, is_so in ((s.then, then, True), (s.orelse, orelse, False)):
            before = self.ranges
            self.ranges = self.where(cond, is_so)
            self.block(body, into)
            self.ranges = before
        if then or orelse:
            out.append(If(cond, then, orelse))

    def where(self, cond: Reg, is_so: bool) -> dict[str, Range]:
        """What is known in a branch: a comparison with a number also bounds what is compared."""
        known = dict(self.ranges)
        s = self.made.get(cond.name)
        if s is None or s.op not in _COMPARE or len(s.args) != 2:
            return known
        op = s.op if is_so else _COMPARE[s.op]
        for (a, b), is_ in ((s.args, op), (s.args[::-1], _TURNED[op])):
            there, bound = self.range(a), self.range(b)
            if isinstance(a, Reg) and self.fixed(a) and there is not None and bound is not None:
                lo, hi = there
                if is_ in ("lt", "le", "eq"):
                    hi = min(hi, bound[1] - (is_ == "lt"))
                if is_ in ("gt", "ge", "eq"):
                    lo = max(lo, bound[0] + (is_ == "gt"))
                if lo <= hi:  # else nothing runs here
                    known[a.name] = (lo, hi)
        return known

    def loop(self, s: For, out: list[Stmt]) -> None:
        lo, hi, step = self.arg(s.lo), self.arg(s.hi), self.arg(s.step)
        first, end, by = self.range(lo), self.range(hi), self.range(step)
        least, most = 0, None  # how often it runs in a thread
        if first is not None and end is not None and by is not None and by[0] >= 1:
            least = max(0, -(-(end[0] - first[1]) // by[1]))
            most = max(0, -(-(end[1] - first[0]) // by[0]))
        if most == 0:
            return
        if most == 1 and least == 1 and self.fixed(lo):
            self.now[s.var.name] = lo
            self.block(s.body, out)
            return
        if s.unroll and most is not None and (cut := self.cut(s, most)) < most:
            assert isinstance(lo, Imm) and isinstance(step, Imm)
            between = Imm(lo.value + cut * step.value, lo.dtype)
            self.loop(replace(s, hi=between), out)
            self.loop(replace(s, lo=between), out)
            return
        before, self.ranges = self.ranges, dict(self.ranges)
        body: list[Stmt] = []
        kind = s.var.dtype
        if most is not None and most == least and not isinstance(lo, Imm) and self.fixed(lo) and isinstance(step, Imm):
            assert first is not None and end is not None
            k = self.fresh("turn", kind)
            self.ranges[k.name] = (0, most - 1)
            at = self.emit("add", (lo, self.emit("mul", (k, step), kind, 1, body)), kind, 1, body, s.var.name)
            if isinstance(at, Reg):
                self.ranges[at.name] = (first[0], end[1] - 1)
            self.now[s.var.name] = at
            self.block(s.body, body)
            out.append(For(k, Imm(0, kind), Imm(most, kind), Imm(1, kind), body, s.unroll))
        else:
            var = self.define(s.var)
            if first is not None and end is not None:
                last = end[1] - 1
                if by is not None and by[0] == by[1] >= 1 and first[0] == first[1]:
                    last = first[0] + max(0, last - first[0]) // by[0] * by[0]
                self.ranges[var.name] = (first[0], max(first[0], last))
            self.block(s.body, body)
            out.append(For(var, lo, hi, step, body, s.unroll))
        self.ranges = before

    def cut(self, s: For, turns: int) -> int:
        """In how many of the first turns of an unrolled loop as much is certain as in the first one, at least one.

        The last vectors of a row are behind conditions; those before them need none, and beyond it there is nothing.
        Of a row that is moved to where vectors are aligned, the first vector is behind one, too.
        """
        assert isinstance(s.lo, Imm) and isinstance(s.step, Imm)
        lo, step = s.lo.value, s.step.value

        def left(first: int, n: int) -> list[Stmt]:
            """What these turns amount to, at least."""
            trial = copy(self)
            trial.now, trial.ranges, trial.made = dict(self.now), dict(self.ranges), dict(self.made)
            trial.taken, trial.mutable = set(self.taken), set(self.mutable)
            out: list[Stmt] = []
            trial.ranges[trial.define(s.var).name] = (lo + first * step, lo + (first + n - 1) * step)
            trial.block(s.body, out)
            return _without_unread(out)

        def doubts(n: int, first: int = 0) -> int:
            return sum(map(_doubtful, walk(left(first, n))))

        least = doubts(1)
        if turns > 2 and doubts(1, 1) < least:
            return 1
        if doubts(turns) > least:
            good, bad = 1, turns
            while bad - good > 1:
                n = (good + bad) // 2
                good, bad = (n, bad) if doubts(n) == least else (good, n)
            return good
        while least and turns > 1 and not left(turns - 1, 1):
            turns -= 1
        return turns

    # --- operations ---
    def let(self, s: Let, out: list[Stmt]) -> None:
        args = tuple(map(self.arg, s.args))
        if s.buf is not None:
            if s.op == "load" and len(args) >= 2:
                args = args[0], self.mask(s.args[1], s.attr or ""), *args[2:]
            if s.op != "last" and len(args) >= 2 and isinstance(mask := args[1], Imm):
                if not mask.value:
                    self.now[s.dst.name] = zeros(s.dst.dtype, s.dst.lanes)
                    return
                args = args[:1]
            out.append(Let(self.define(s.dst), s.op, args, s.buf, s.attr))
            return
        self.now[s.dst.name] = self.emit(s.op, args, s.dst.dtype, s.dst.lanes, out, s.dst.name, s.attr)

    def mask(self, mask: Arg, mark: str) -> Arg:
        """The mask of an access: what is true of all lanes may depend on the access.

        Of a range of lanes, all are on where the vector lies within it. A load across two aligned vectors reads what is
        around it, too: that has to lie within the range as well.
        """
        a = self.arg(mask)
        made = self.made.get(a.name) if isinstance(a, Reg) else None
        if made is None or made.op != "lanerange":
            return a
        x, y = map(self.range, made.args)
        if x is None or y is None:
            return a
        over = a.lanes - 1 if mark == "across" else 0
        return Imm(True, a.dtype, a.lanes) if x[0] >= over and x[1] + a.lanes + over <= y[0] else a

    def fresh(self, name: str, dtype: DType, lanes: int = 1) -> Reg:
        """A new register of a name like this."""
        unique, k = name, 1
        while unique in self.taken:
            k += 1
            unique = f"{name}_{k}"
        self.taken.add(unique)
        return Reg(unique, dtype, lanes)

    def emit(
        self,
        op: str,
        args: tuple[Arg, ...],
        dtype: DType,
        lanes: int,
        out: list[Stmt],
        name: str = "v",
        attr: object = None,
    ) -> Arg:
        """What an operation gives: an operand or a number where that is known, else a new register."""
        ranges = [self.range(a) for a in args]
        found = None if attr is not None else self.folded(op, args, ranges, dtype, lanes)
        if found is not None:
            return found
        span = self.span(op, args, ranges, dtype, lanes) if dtype.is_int else None
        if span is not None and span[0] == span[1]:
            return Imm(span[0], dtype, lanes)
        dst = self.fresh(name, dtype, lanes)
        let = Let(dst, op, args, None, attr)
        if span is not None:
            self.ranges[dst.name] = span
        self.made[dst.name] = let
        out.append(let)
        return dst

    def folded(
        self, op: str, args: tuple[Arg, ...], ranges: Sequence[Range | None], dtype: DType, lanes: int
    ) -> Arg | None:
        """The operand or number that an operation is known to give."""
        a = args[0]
        if op in _COMPARE and len(args) == 2:
            x, y = ranges
            known = None if x is None or y is None else holds(op, x, y)
            return None if known is None else Imm(known, dtype, lanes)
        if op == "lanemask":
            (x,) = ranges
            if x is not None and (x[0] >= lanes or x[1] <= 0):
                return Imm(x[0] >= lanes, dtype, lanes)
            return None
        if op == "lanerange":  # for all lanes that are on, see `mask`
            x, y = ranges
            nothing = x is not None and y is not None and (x[1] + lanes <= 0 or x[0] >= y[1])
            return Imm(False, dtype, lanes) if nothing else None
        if op == "where" and isinstance(a, Imm):
            return self.same(args[1] if a.value else args[2])
        if dtype.is_bool and op in ("and", "or", "not"):
            return self.logic(op, args, lanes)
        if isinstance(a, Imm) and op in ("splat", "cast", "neg"):
            return number(op, a, dtype, lanes)
        if not dtype.is_int or len(args) != 2:
            return None
        x, y = ranges
        zero, one = (0, 0), (1, 1)
        if op == "sub" and a == args[1] and self.fixed(a):
            return Imm(0, dtype, lanes)
        if (op in ("add", "sub") and y == zero) or (op in ("mul", "udiv") and y == one):
            return self.same(a)
        if (op == "add" and x == zero) or (op == "mul" and x == one):
            return self.same(args[1])
        if op in ("min", "max") and x is not None and y is not None:
            if x[1] <= y[0]:
                return self.same(args[op == "max"])
            if y[1] <= x[0]:
                return self.same(args[op == "min"])
        return None

    def same(self, a: Arg) -> Arg | None:
        return a if self.fixed(a) else None

    def logic(self, op: str, args: tuple[Arg, ...], lanes: int) -> Arg | None:
        a = args[0]
        if op == "not":
            return Imm(not a.value, a.dtype, lanes) if isinstance(a, Imm) else None
        for x, other in (args, args[::-1]):
            if isinstance(x, Imm):
                return x if x.value == (op == "or") else self.same(other)
        return None

    def span(
        self, op: str, args: tuple[Arg, ...], ranges: Sequence[Range | None], dtype: DType, lanes: int
    ) -> Range | None:
        """Between which numbers a result lies; None where that is not known, or where it might wrap."""
        if op == "where":
            ranges, op = ranges[1:], "either"
        if op == "and":  # no more than any of those that are not negative
            most = [r[1] for r in ranges if r is not None and r[0] >= 0]
            return (0, min(most)) if most else None
        if any(r is None for r in ranges):
            return self.remainder(args) if op == "sub" else None
        got = span_of(op, [r for r in ranges if r is not None], lanes)
        if op == "sub" and (rest := self.remainder(args)) is not None:
            got = rest
        least, greatest = np.iinfo(numpy_type(dtype)).min, np.iinfo(numpy_type(dtype)).max
        return got if got is not None and least <= got[0] and got[1] <= greatest else None

    def remainder(self, args: tuple[Arg, ...]) -> Range | None:
        """The range of x - x // d * d."""
        x, product = args
        times = self.made.get(product.name) if isinstance(product, Reg) else None
        if times is None or times.op != "mul" or not self.fixed(x):
            return None
        for q, d in (times.args, times.args[::-1]):
            over = self.made.get(q.name) if isinstance(q, Reg) else None
            if over is not None and over.op == "udiv" and over.args == (x, d) and isinstance(d, Imm):
                there = self.range(x)
                return (0, d.value - 1) if there is not None and there[0] >= 0 else None
        return None


def _doubtful(s: Stmt) -> bool:
    """Whether there is a condition or a mask."""
    masked = isinstance(s, Store) and s.mask is not None
    return masked or isinstance(s, If) or (isinstance(s, Let) and s.buf is not None and len(s.args) > 1)


def _without_unread(body: list[Stmt]) -> list[Stmt]:
    """A block without what nothing reads."""
    while True:
        read = {a.name for s in walk(body) for a in operands(s) if isinstance(a, Reg)}
        read.update(s.dst.name for s in walk(body) if isinstance(s, Set))
        left = _needed(body, read)
        if left is None:
            return body
        body = left


def _needed(body: list[Stmt], read: set[str]) -> list[Stmt] | None:
    """The statements of a block that are needed; None if all are."""
    out: list[Stmt] = []
    changed = False
    for s in body:
        if isinstance(s, Let) and s.dst.name not in read and s.op not in _KEPT:
            changed = True
            continue
        if isinstance(s, For):
            inside = _needed(s.body, read)
            changed |= inside is not None
            s = s if inside is None else replace(s, body=inside)
            if not s.body:
                changed = True
                continue
        elif isinstance(s, If):
            then, orelse = _needed(s.then, read), _needed(s.orelse, read)
            if then is not None or orelse is not None:
                changed = True
                s = If(s.cond, s.then if then is None else then, s.orelse if orelse is None else orelse)
            if not s.then and not s.orelse:
                changed = True
                continue
        out.append(s)
    return out if changed else None


__all__ = ["specialised", "with_sizes"]
