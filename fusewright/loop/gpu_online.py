"""Running sums of reductions that are combined on the fly (`fusion/online.py`), in a GPU kernel."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from ..core.dtypes import compute_type, f32
from ..fusion.ir import Stage
from ..fusion.relax import LOG2E
from .gpu_held import Held
from .ir import Arg, If, Imm, Reg, Set, Stmt, Var
from .scope import Scope

LARGEST = 3.4028234663852886e38  # of float32


class OnlineSums(Held):
    """Accumulators: of "rescaled" (maximum, sum), of "moments" (count, mean, second moment).

    The latter lane by lane. A thread has one maximum and sum of a row, so that what has been summed is rescaled once,
    not in each lane: exponentials are what such a kernel has most of.
    """

    def over_lanes(self, s: Scope, a: Arg, monoid: str) -> Arg:
        raise NotImplementedError

    def over_threads(self, s: Scope, a: Arg, monoid: str, group: int, stride: int) -> Arg:
        raise NotImplementedError

    def over_row(self, s: Scope, a: Arg, monoid: str) -> Arg:
        """Combine lanes and threads of a row."""
        return self.over_threads(s, self.over_lanes(s, a, monoid), monoid, self.s.col_threads, self.col_stride())

    def begin(self, s: Scope, st: Stage) -> tuple[Reg, ...]:
        dtype = compute_type(st.body.dtype)

        def var(value: float, lanes: int) -> Reg:
            r = self.reg(dtype, lanes, "run")
            s.body.append(Var(r, Imm(value, dtype, lanes)))
            return r

        if self.p.online[st.name].kind == "rescaled":
            lanes = self.row_lanes
            return var(-math.inf, lanes), var(0.0, lanes)
        return var(0.0, 1 if self.start is None else self.width), var(0.0, self.width), var(0.0, self.width)

    def advance(self, scopes: Sequence[Scope], st: Stage, regs: tuple[Reg, ...]) -> None:
        """Combine the values at some points into the running sums."""
        how = self.p.online[st.name]
        s = scopes[-1]
        values = [self.cast(x, self.splat(x, self.emit(x, how.of), self.width), regs[0].dtype) for x in scopes]
        if how.kind == "rescaled":
            lowest = Imm(-math.inf, regs[0].dtype)
            values = [self.real(x, v, lowest) for x, v in zip(scopes, values, strict=True)]
            self._advance_rescaled(s, st, values, *regs)
        elif any(x.mask is not None for x in scopes):
            self._advance_parts(scopes, values, *regs)
        else:
            self._advance_moments(s, values, *regs)

    def _one(self, a: Arg) -> Imm:
        return Imm(1.0, a.dtype, a.lanes)

    def _exp(self, s: Scope, st: Stage, x: Arg) -> Arg:
        if not self.p.online[st.name].fast:
            return self.prim(s, "exp", x)
        return self.prim(s, "fast_exp2", self.prim(s, "mul", x, Imm(LOG2E, x.dtype, x.lanes)))

    def _rescale(self, s: Scope, st: Stage, old: Arg, new: Arg) -> Arg:
        """exp(old - new), where `new` is no less; 0 if both are -inf: there is nothing to rescale."""
        lowest = Imm(-LARGEST if new.dtype is f32 else -sys.float_info.max, new.dtype, new.lanes)
        return self._exp(s, st, self.prim(s, "sub", old, self.prim(s, "max", new, lowest)))

    def _advance_rescaled(self, s: Scope, st: Stage, values: list[Arg], top: Reg, total: Reg) -> None:
        """After +inf and NaN the sum is NaN, and stays so; -inf adds nothing (`settled`)."""
        most = values[0]
        for v in values[1:]:
            most = self.prim(s, "max", most, v)
        new = self.prim(s, "max", top, self.over_lanes(s, most, "max"))
        everywhere = self.splat(s, new, self.width)
        terms = [self._rescale(s, st, v, everywhere) for v in values]
        here = terms[0]
        for x in terms[1:]:
            here = self.prim(s, "add", here, x)
        before = self.prim(s, "mul", total, self._rescale(s, st, top, new))
        out = self.prim(s, "add", before, self.over_lanes(s, here, "sum"))
        s.body += [Set(total, out), Set(top, new)]

    def _advance_moments(self, s: Scope, values: list[Arg], count: Reg, mean: Reg, second: Reg) -> None:
        n = len(values)
        here: Arg = values[0]
        for v in values[1:]:
            here = self.prim(s, "add", here, v)
        if n > 1:
            here = self.prim(s, "mul", here, Imm(1.0 / n, here.dtype))
        after = self.prim(s, "add", count, Imm(float(n), count.dtype))
        share = self.prim(s, "div", Imm(float(n), count.dtype), after)
        delta = self.prim(s, "sub", here, mean)
        moved = self.square(s, delta, self.prim(s, "mul", count, share))
        out = self.prim(s, "add", second, moved)
        if n > 1:
            for v in values:
                d = self.prim(s, "sub", v, here)
                out = self.prim(s, "add", out, self.prim(s, "mul", d, d))
        s.body += [
            Set(second, out),
            Set(mean, self.prim(s, "add", mean, self.prim(s, "mul", delta, share))),
            Set(count, after),
        ]

    def _advance_parts(self, scopes: Sequence[Scope], values: list[Arg], count: Reg, mean: Reg, second: Reg) -> None:
        """As `_advance_moments`, lanes with counts of their own: vectors of which some are partial join one by one."""
        s = scopes[-1]
        partial = scopes[0].partial
        assert partial is not None and self.v is not None
        for x in scopes[1:]:
            assert x.partial is not None
            partial = self.prim(s, "or", partial, x.partial)
        whole: list[Stmt] = []
        parts: list[Stmt] = []
        self._advance_moments(Scope(s, whole), values, count, mean, second)
        for x, v in zip(scopes, values, strict=True):
            c = Scope(s, parts)
            one = self.cast(c, self.columns_in(c, x.axes[self.v]), count.dtype)
            after = self.prim(c, "add", count, one)
            share = self.prim(c, "div", one, self.prim(c, "max", after, self._one(after)))
            nothing = Imm(0.0, v.dtype, v.lanes)
            delta = self.prim(c, "where", self.prim(c, "gt", one, nothing), self.prim(c, "sub", v, mean), nothing)
            moved = self.square(c, delta, self.prim(c, "mul", count, share))
            parts += [
                Set(second, self.prim(c, "add", second, moved)),
                Set(mean, self.prim(c, "add", mean, self.prim(c, "mul", delta, share))),
                Set(count, after),
            ]
        s.body.append(If(partial, parts, whole))

    # --- a row's result, from its threads' sums ---
    def finish_rescaled(self, s: Scope, st: Stage, regs: tuple[Reg, ...]) -> tuple[Arg, Arg]:
        """(maximum, sum) over the threads and lanes of a row."""
        top, total = self.freeze(s, regs[0]), self.freeze(s, regs[1])
        most = self.over_row(s, top, "max")
        scaled = self.prim(s, "mul", total, self._rescale(s, st, top, self.splat(s, most, top.lanes)))
        return most, self.over_row(s, scaled, "sum")

    def settled(self, s: Scope, most: Arg, total: Arg) -> Arg:
        """The sum as it is defined: where the maximum is -inf, all terms are exp(-inf + inf), if there are any."""
        nothing = self.prim(s, "eq", most, Imm(-math.inf, most.dtype, most.lanes))
        some = self.prim(s, "gt", self.col_steps(), self.imm(0))
        undefined = self.prim(s, "and", nothing, some)
        return self.prim(s, "where", undefined, Imm(math.nan, total.dtype, total.lanes), total)

    def finish_moments(self, s: Scope, regs: tuple[Reg, ...]) -> tuple[Arg, Arg, Arg]:
        """(count, mean, second moment) over the threads and lanes of a row."""
        count, mean, second = (self.freeze(s, r) for r in regs)
        lanes = 1 if self.row_vector else self.width
        points = self.over_threads(s, self.over_lanes(s, count, "sum"), "sum", self.s.col_threads, self.col_stride())
        if lanes > count.lanes:
            points = self.prim(s, "mul", points, Imm(float(lanes), points.dtype))
        weighted = self.over_row(s, self.prim(s, "mul", mean, count), "sum")
        average = self.prim(s, "div", weighted, self.prim(s, "max", points, self._one(points)))
        away = self.prim(s, "sub", mean, self.splat(s, average, mean.lanes))
        part = self.prim(s, "add", second, self.square(s, away, count))
        return points, average, self.over_row(s, part, "sum")

    def about(self, s: Scope, st: Stage, count: Arg, mean: Arg, second: Arg) -> Arg:
        """second + count (mean - E)^2"""
        e = self.p.online[st.name].about
        assert e is not None
        d = self.prim(s, "sub", mean, self.cast(s, self.emit(s, e), mean.dtype))
        return self.prim(s, "add", second, self.square(s, d, count))

    def square(self, s: Scope, d: Arg, weight: Arg) -> Arg:
        """weight d^2: 0 for a weight of 0, however far away its mean is from that of no points, which is 0."""
        return self.prim(s, "mul", self.prim(s, "mul", d, weight), d)
