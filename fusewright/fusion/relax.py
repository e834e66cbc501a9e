"""Cheaper arithmetic for a GPU where nobody can see it: `relax(fusion)`.

A float32 value is *relaxed* if whatever becomes of it ends, through continuous operations only, in a number that is
rounded to 16 bits: here, or in the program, where we go on in float32 (`scalar.loose`). It may be off by a few units in
the last place of float32. All else is strict:

- what is stored as it is (float32, float64, integers), or becomes float64;
- what decides something: comparisons, conditions, rounding to integers, casts to integers, indices, masks, positions of
  extremes, through 16-bit roundings, too;
- operands of functions that magnify relative errors without bound (sin, log, log1p near -1, pow, asin, ...).

A value with relaxed and strict uses is strict. What is relaxed gets these forms (L = log2 e):

    exp(x)               exp2(x L); `fast_exp2` (0 instead of a subnormal number) where it joins something larger
    a / b, 1 / b         a * (1 / b) with `fast_reciprocal` where b is 0, infinite or certainly from 2^-126 to 2^126;
                         b = c + exp(z): a quarter of it is inverted, which is never too large;
                         b of a row: (a * (1 / (s b))) s with a power of two s, for any b; else `fast_div`
    sqrt, expm1, log, log1p  `fast_sqrt`, ...
    1 + erf(x)           `fast_erfc`(-x); 1 - erf(x) is `fast_erfc`(x): without cancellation where the sum is small
    1 + tanh(x)          2 / (1 + exp(-2x))
    a * b + c            `fma`, if nothing else uses the product (or quotient), unless the option `fma` is off
    a + k b + k b        a + (2 k) b; a + k b + c, where k and c are made of sums of the row: a + (k b + c)

A reciprocal of what belongs to a row is computed once for the row. Infinities, NaN and zeros come out as from the exact
forms. Relaxed totals are added up in float32 (`Stage.relaxed`); of others a thread adds up blocks before these join the
sum, and threads that share a stretch of a row have running totals in float64.

Beside relaxed values, because sums of float32 are not eager's bit for bit anyway (the order is another):
- a product whose only use is to be summed joins the sum unrounded (`Stage.fused`; not with the option `fma` off): one
  rounding less, and sums of products that float32 has exactly stay exact; not where the sum decides something;
- `exp(x - max x)` whose only use is to be summed over the row may be off by a unit in the last place wherever the sum
  goes, for the sum is at least 1.
- a strict quotient by what belongs to the row, or by a number, is a product with the reciprocal and its correction
  (`_Rewriter.quotient`), and one by what is certainly not small is `far_div`: the quotient rounded to nearest, without
  a branch.

Relaxed sums that wait for other ones are taken apart, where that saves a pass, and what belongs to the row divides
them and not each value (`linear.py`).
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ..core.deep import Ladder
from ..core.dtypes import DType, f32
from . import scalar as sc
from .bounds import TINY, Bounds
from .ir import Fusion, Stage
from .linear import divided_later, independent, waits
from .online import shifted
from .scalar import Expr

LOG2E = 1.4426950216293335  # as float32 has it
FAR = 2.0**126  # reciprocals of numbers up to here are normal
UP = 2.0**64  # what makes them larger
NEAR = 2.0**-60  # of constants that an exponential is added to

# Operations that carry a small relative error of these operands over to their result (all operands: None)
_CONTINUOUS: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(("add", "sub", "mul", "div", "max", "min", "fmax", "fmin", "neg", "abs", "fma"), None),
    **dict.fromkeys(("sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "tanh", "erf", "hypot"), None),
    **dict.fromkeys(("atan", "asinh", "sinh", "cosh"), None),
    "where": (1, 2),
    "copysign": (0,),
}
_JOINS = ("sum", "prod", "max", "min", "logaddexp")  # monoids that are continuous


def relax(f: Fusion) -> Fusion:
    """`f` without what `scalar.loose` made, and with the cheaper forms, if it is not `exact` nor to do without them."""
    f = taken_apart(f)
    decides, exact = _strict(f)
    if not (f.exact or "relaxed" in f.without) and (divided := divided_later(f, decides | exact)) is not f:
        f = divided
        decides, exact = _strict(f)
    plain = sc.transformed([*(s.body for s in f.stages), *(c for c, _ in f.checks), *decides, *exact], sc.bare)
    if any(a is not b for a, b in plain.items()):
        checks = [(plain[c], axes) for c, axes in f.checks]
        f = replace(f, stages=[replace(s, body=plain[s.body]) for s in f.stages], checks=checks)
    if f.exact or "relaxed" in f.without:
        return f
    rewriter = _Rewriter(f, *({plain[e] for e in s if sc.bare(e) is e} for s in (decides, exact)))
    stages = [rewriter.stage(s) for s in f.stages]
    return f if all(a is b for a, b in zip(stages, f.stages, strict=True)) else replace(f, stages=stages)


def taken_apart(f: Fusion) -> Fusion:
    """`f` with the reductions that its relaxed form has."""
    if f.exact or "relaxed" in f.without or not waits(f):
        return f
    return independent(f, strict(f))


def strict(f: Fusion) -> set[Expr]:
    """The values of `f` that are not relaxed."""
    return set.union(*_strict(f))


def _strict(f: Fusion) -> tuple[set[Expr], set[Expr]]:
    """What decides something, through everything, and what is seen in full, up to where it is rounded."""
    bodies = {s.name: s for s in f.stages if s.kind in ("reduce", "scan")}
    bounds = Bounds(f)
    decides: list[Expr] = [c for c, _ in f.checks]
    exact: list[Expr] = []
    for s in f.stages:
        if s.target is not None:
            decides += [s.target.mask, *(p for p, _ in s.target.places)]
        if s.offset is not None:
            decides += [a.aux for a in s.offset.atoms() if a.kind == "value"]
        if s.kind in ("reduce", "scan"):
            if s.monoid not in _JOINS or not s.body.dtype.is_float:
                decides.append(s.body)
        elif not (s.kind == "store" and s.dtype.is_reduced):
            exact.append(s.body)
    for e in sc.walk([s.body for s in f.stages] + decides):
        decides += [c for c in e.children() if not _carries(e, c, bounds)]
        if e.kind == "cast" and e.dtype.is_float and e.dtype is not f32:
            exact += e.args
    return _below(decides, bodies, True), _below(exact, bodies, False)


def _carries(e: Expr, operand: Expr, bounds: Bounds) -> bool:
    """Whether all places that `operand` has in `e` pass on a small error, and nothing else."""
    if e.kind in ("round", "cast"):
        return e.dtype.is_float
    if _is(e, "log1p"):
        return bounds(operand)[0] >= -0.5
    if e.kind != "op" or e.data not in _CONTINUOUS:
        return False
    places = _CONTINUOUS[e.data]
    return places is None or all(k in places for k, a in enumerate(e.args) if a is operand)


def _below(roots: list[Expr], bodies: dict[str, Stage], rounded: bool) -> set[Expr]:
    """`roots` and all that goes into them, through stages, and through 16-bit roundings if `rounded`."""
    found: set[Expr] = set()
    stack = list(roots)
    while stack:
        e = stack.pop()
        if e in found:
            continue
        found.add(e)
        if e.kind == "stage" and e.data[0] in bodies:
            stack.append(bodies[e.data[0]].body)
        elif e.kind != "round" or rounded:
            stack.extend(e.children())
    return found


class _Rewriter:
    def __init__(self, f: Fusion, decides: set[Expr], exact: set[Expr]):
        self.decides = decides
        self.strict = decides | exact
        self.fma = "fma" not in f.without
        self.rows = {s.name: s for s in f.reductions()}
        self.bounds = Bounds(f)
        self.last = f.axes[-1] if f.axes else None  # the lanes of a vector are neighbours along it
        self.uses: Counter[Expr] = Counter(c for e in sc.walk([s.body for s in f.stages]) for c in e.children())
        self.uses.update(s.body for s in f.stages)
        self.uses.update(c for c, _ in f.checks)
        self.memo: dict[Expr, Expr] = {}
        self.ladder = Ladder()
        divisions = [e for e in sc.walk([s.body for s in f.stages]) if _is(e, "div") and e.dtype is f32]
        self.inverted = {e.args[1] for e in divisions if e not in self.strict and self.by_row(e)}

    def stage(self, s: Stage) -> Stage:
        body = self.new(s.body)
        adds = s.kind in ("reduce", "scan") and s.monoid == "sum" and s.body.dtype is f32
        if adds and s.body not in self.strict:
            s = replace(s, relaxed=True)
        if adds and s.kind == "reduce" and self.uses[s.body] == 1:
            if self.share(s.body) and self.rows[self.lead(s.body)].raxes == s.raxes:
                body = self.power(s.body.args[0], True)
            elif self.fma and s.body not in self.decides and _is(s.body, "mul"):
                return replace(s, body=body, fused=True)
        return s if body is s.body else replace(s, body=body)

    # --- what is known ---
    def by_row(self, e: Expr) -> bool:
        """Whether a quotient is by what a row has once."""
        return e.args[1].kind != "const" and self.last in e.axes and self.last not in e.args[1].axes

    def lead(self, e: Expr) -> str:
        """The stage of the maximum in exp(x - max x), or ""."""
        found = shifted(e, self.rows)
        return "" if found is None else found[1].name

    def share(self, e: Expr) -> bool:
        return bool(self.lead(e))

    def once(self, e: Expr) -> bool:
        """Whether a relaxed value has one use, which may do without it."""
        return self.uses[e] == 1 and e not in self.strict

    def product(self, e: Expr, of: Expr) -> tuple[Expr, Expr] | None:
        """The factors of `e`, if that is a product, or a quotient by what is inverted, that its one use, `of`, may take
        unrounded; None of what a row has once anyway."""
        if not (self.fma and self.once(e) and e.axes == of.axes):
            return None
        if _is(e, "mul"):
            return self.new(e.args[0]), self.new(e.args[1])
        q = self.div(e) if _is(e, "div") else None
        return (q.args[0], q.args[1]) if q is not None and _is(q, "mul") else None

    # --- rewriting ---
    def new(self, e: Expr) -> Expr:
        if e not in self.memo:
            self.ladder.climb(e, lambda x: [a for a in x.args if a not in self.memo], self.new)
            with self.ladder:
                self.memo[e] = self._new(e)
        return self.memo[e]

    def _new(self, e: Expr) -> Expr:
        if e.kind == "op" and e.dtype is f32:
            rule = _RULES.get(e.data) if e not in self.strict else _EXACT.get(e.data)
            out = rule(self, e) if rule is not None else None
            if out is not None:
                return out
        args = tuple(self.new(a) for a in e.args)
        return e if args == e.args else sc.rebuild(e, args)

    def power(self, x: Expr, flush: bool, scale: float = 1.0, plus: float = 0.0) -> Expr:
        """2^plus * exp(scale * x)"""
        while _is(x, "neg") or (_is(x, "mul") and x.args[1].kind == "const"):
            x, scale = x.args[0], scale * (-1.0 if x.data == "neg" else x.args[1].data)
        at, by = self.new(x), number(scale * LOG2E)
        if plus and self.fma:
            at = sc.op("fma", at, by, number(plus))
        else:
            at = sc.op("mul", at, by)
            at = sc.op("add", at, number(plus)) if plus else at
        return sc.op("fast_exp2" if flush else "exp2", at)

    def minus(self, e: Expr) -> Expr:
        """-e; a constant factor takes the sign."""
        if _is(e, "mul") and e.args[1].kind == "const":
            return sc.op("mul", self.new(e.args[0]), number(-e.args[1].data))
        return sc.op("neg", self.new(e))

    def exp(self, e: Expr) -> Expr:
        return self.power(e.args[0], self.share(e))

    def inverse(self, e: Expr) -> Expr | None:
        """1 / e, where that does not take a division."""
        if e.kind == "const":
            return number(1.0 / e.data) if 1.0 / FAR <= abs(e.data) <= FAR else None
        for c, x in _either(e):
            if c.kind == "const" and NEAR <= c.data <= 1.0 / NEAR and _is(x, "exp"):
                # 1 / (c/4 + exp(x)/4) is normal as long as exp(x) is finite
                quarter = sc.op("add", self.power(x.args[0], True, plus=-2.0), number(c.data / 4))
                return sc.op("mul", sc.op("fast_reciprocal", quarter), number(0.25))
        return sc.op("fast_reciprocal", self.new(e)) if self.bounds.invertible(e) else None

    def scaled_inverse(self, e: Expr) -> tuple[Expr, Expr]:
        """(1 / (s e), s) with a power of two that makes s e normal, unless it is 0 or infinite.

        (a / (s e)) s is a / e: the quotient that comes first is subnormal only if the result is, and infinite likewise.
        """
        x = self.new(e)
        size = sc.op("abs", x)
        small = sc.op("where", sc.op("lt", size, number(1.0 / FAR)), number(2.0**24), number(1.0))
        scale = sc.op("where", sc.op("ge", size, number(FAR)), number(0.25), small)
        return sc.op("fast_reciprocal", sc.op("mul", x, scale)), scale

    def div(self, e: Expr) -> Expr:
        a, b = e.args
        inverse = self.inverse(b)
        if inverse is None:
            x = self.new(a)
            if b not in self.inverted and _is(b, "mul") and b.args[0] in self.inverted and _few(b.args[1]):
                x, b = sc.op("mul", x, number(1.0 / b.args[1].data)), b.args[0]
            if b not in self.inverted:
                return sc.op("fast_div", x, self.new(b))
            inverse, scale = self.scaled_inverse(b)  # one reciprocal of the row does for all quotients
            return sc.op("mul", sc.op("mul", x, inverse), scale)
        if a.kind == "const" and a.data == 1:
            return inverse
        return sc.op("mul", self.new(a), inverse)

    def quotient(self, e: Expr) -> Expr | None:
        """a / b rounded to nearest, by the reciprocal r of b: q = a r, then q + (a - q b) r, both with `fma`.

        That is the quotient but for subnormal numbers, of which it may be a unit in the last place off (Brisebarre,
        Muller and Raina, "Accelerating correctly rounded floating-point division when the divisor is known in
        advance", 2004). A q that is zero, infinite or NaN has no correction.
        """
        a, b = e.args
        if not self.fma:
            return None
        if not (b.kind == "const" or self.by_row(e)):
            return sc.op("far_div", self.new(a), self.new(b)) if self.bounds.far(b) else None
        scale = None
        if b.kind != "const":
            by = self.new(b)
            scale = sc.op("where", sc.op("lt", sc.op("abs", by), number(TINY)), number(UP), number(1.0))
            by = sc.op("mul", by, scale)
            inverse = sc.op("reciprocal", by)
        elif TINY <= abs(b.data) <= 1.0 / TINY:
            by, inverse = b, number(1.0 / b.data)
        else:
            return None
        x = self.new(a)
        q = sc.op("mul", x, inverse)
        if by.kind == "const" and math.frexp(by.data)[0] in (0.5, -0.5):
            return q
        exact = sc.op("fma", sc.op("fma", sc.op("neg", q), by, x), inverse, q)
        size = sc.op("abs", q)
        finite = sc.op("and", sc.op("gt", size, number(0.0)), sc.op("lt", size, number(math.inf)))
        q = sc.op("where", finite, exact, q)
        return q if scale is None else sc.op("mul", q, scale)

    def far_reciprocal(self, e: Expr) -> Expr | None:
        return sc.op("far_reciprocal", self.new(e.args[0])) if self.fma and self.bounds.far(e.args[0]) else None

    def reciprocal(self, e: Expr) -> Expr:
        inverse = self.inverse(e.args[0])
        return inverse if inverse is not None else sc.op("fast_div", number(1.0), self.new(e.args[0]))

    def fast(self, e: Expr) -> Expr:
        return sc.op(f"fast_{e.data}", self.new(e.args[0]))

    def add(self, e: Expr) -> Expr | None:
        for c, x in _either(e):
            if c.kind == "const" and c.data == 1 and self.once(x):
                if _is(x, "erf"):
                    return sc.op("fast_erfc", self.minus(x.args[0]))
                if _is(x, "tanh"):
                    quarter = sc.op("add", self.power(x.args[0], True, -2.0, -2.0), number(0.25))
                    return sc.op("mul", sc.op("fast_reciprocal", quarter), number(0.5))
        if self.fma and (together := self.together(e)) is not None:
            return together
        for c, x in _either(e):
            if (found := self.product(x, e)) is not None:
                return sc.op("fma", *found, self.new(c))
        return None

    def together(self, e: Expr) -> Expr | None:
        """a + k b + k b + c, in any order, as a + (2 k b + c), without a product of its own.

        `c`, where there is one, and `k` are made of sums of the row: they are off by at least as much as another order
        of the additions is. Without `c` it may be any k b; `a` may be missing.
        """
        terms = Counter(self.terms(e))
        row = [t for t in terms if self.last not in t.axes]
        rest = [t for t in terms if t not in row]
        for x in rest:
            n = terms[x]
            others = [t for t in rest if t is not x]
            if x in self.strict or self.uses[x] != n or len(others) > 1 or any(terms[t] > 1 for t in (*others, *row)):
                continue
            factors = [(k, b) for k, b in (x.args, x.args[::-1]) if self.last not in k.axes] if _is(x, "mul") else []
            if not factors or n > 2 or (n == 1 and not row):
                continue
            (k, b), *_ = factors
            if row and not all(self.of_sums(t) for t in (k, *row)):
                continue
            by = self.new(k) if n == 1 else sc.op("mul", self.new(k), number(2.0))
            if row:
                c = self.new(row[0])
                for t in row[1:]:
                    c = sc.op("add", c, self.new(t))
                inner = sc.op("fma", by, self.new(b), c)
                if not others:
                    return inner
                found = self.product(others[0], e)
                return sc.op("fma", *found, inner) if found else sc.op("add", self.new(others[0]), inner)
            return sc.op("fma", by, self.new(b), self.new(others[0])) if others else None
        return None

    def terms(self, e: Expr) -> list[Expr]:
        """What is added up, of additions that are for this one only."""
        found: list[Expr] = []
        stack = list(reversed(e.args))
        while stack:
            a = stack.pop()
            if _is(a, "add") and self.once(a):
                stack.extend(reversed(a.args))
            else:
                found.append(a)
        return found

    def of_sums(self, e: Expr) -> bool:
        """Whether a value belongs to the row, and is made of what was reduced over it."""
        return self.last not in e.axes and bool(e.stages & self.rows.keys())

    def sub(self, e: Expr) -> Expr | None:
        a, b = e.args
        if a.kind == "const" and a.data == 1 and _is(b, "erf") and self.once(b):
            return sc.op("fast_erfc", self.new(b.args[0]))
        if (found := self.product(a, e)) is not None:
            return sc.op("fma", *found, sc.op("neg", self.new(b)))
        if (found := self.product(b, e)) is not None:
            return sc.op("fma", sc.op("neg", found[0]), found[1], self.new(a))
        return None


_RULES = {
    "exp": _Rewriter.exp,
    "div": _Rewriter.div,
    "reciprocal": _Rewriter.reciprocal,
    **dict.fromkeys(("sqrt", "expm1", "log", "log1p"), _Rewriter.fast),
    "add": _Rewriter.add,
    "sub": _Rewriter.sub,
}
_EXACT: dict[str, Callable[[_Rewriter, Expr], Expr | None]] = {  # what is strict
    "div": _Rewriter.quotient,
    "reciprocal": _Rewriter.far_reciprocal,
}


def _is(e: Expr, prim: str) -> bool:
    return e.kind == "op" and e.data == prim


def _few(e: Expr) -> bool:
    """Whether this is a number from 1 to 4: what is divided by it is no larger, and has all its digits if it is normal
    but for the last."""
    return e.kind == "const" and 1.0 <= abs(e.data) <= 4.0


def _either(e: Expr) -> tuple[tuple[Expr, Expr], ...]:
    """The operands of an addition in both orders; none if it is something else."""
    return ((e.args[0], e.args[1]), (e.args[1], e.args[0])) if _is(e, "add") else ()


def number(value: float, dtype: DType = f32) -> Expr:
    """A constant as float32 has it."""
    return sc.const(struct.unpack("f", struct.pack("f", value))[0], dtype)


__all__ = ["LOG2E", "relax", "strict", "taken_apart"]
