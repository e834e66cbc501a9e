"""Turning scalar expressions into Loop IR statements at the outermost loop where they are invariant."""

from __future__ import annotations

from typing import Any

from ..core.deep import Ladder
from ..core.dtypes import DType, bool_, compute_type, i64
from ..core.dtypes import f32 as F32
from ..core.dtypes import u32 as U32
from ..core.errors import Refusal
from ..fusion.scalar import Expr
from ..index.expr import ONE, ZERO, Atom, Ix, ix
from .factors import of_sizes, stages_of
from .ir import Arg, Buf, Func, Imm, Let, Reg
from .scope import Params, Scope
from .uniform import compared


class Emitter:
    """Emits expressions; keeps names unique in one function."""

    def __init__(self, func: Func, bufs: dict[str, Buf], params: Params | None = None):
        self.func = func
        self.ix = func.index
        self.bufs = bufs
        self.params = params or Params(func)
        self.hosts = {h.name: h for h in func.hosts}
        self.counter = 0
        self.homes: dict[str, Scope] = {}
        self.ladder = Ladder()
        self.steady = False  # whether quotients of positions are the same for all lanes of a vector

    # --- statements ---
    def imm(self, value: int) -> Imm:
        """A number among indices."""
        return Imm(value, self.ix)

    def reg(self, dtype: DType, lanes: int = 1, prefix: str = "v") -> Reg:
        self.counter += 1
        return Reg(f"{prefix}{self.counter}", dtype, lanes)

    def let(
        self,
        s: Scope,
        op: str,
        args: tuple[Arg, ...],
        dtype: DType,
        lanes: int = 1,
        buf: Buf | None = None,
        attr: Any = None,
    ) -> Arg:
        key = (op, args, dtype, lanes, buf, attr)
        if op not in ("load", "gather", "strided"):
            found = s.memo.get(key)
            if found is not None:
                return found
            folded = _fold(op, args, dtype, lanes, self.ix)
            if folded is not None:
                return folded
        dst = self.reg(dtype, lanes)
        s.body.append(Let(dst, op, args, buf, attr))
        s.memo[key] = dst
        self.homes[dst.name] = s
        return dst

    def prim(self, s: Scope, name: str, *args: Arg) -> Arg:
        lanes = max(a.lanes for a in args)
        args = tuple(self.splat(s, a, lanes) for a in args)
        first = args[-1] if name == "where" else args[0]
        dtype = bool_ if name in ("lt", "le", "gt", "ge", "eq", "ne", "isnan", "signbit") else first.dtype
        return self.let(s, name, args, dtype, lanes)

    def splat(self, s: Scope, a: Arg, lanes: int) -> Arg:
        if a.lanes == lanes:
            return a
        if isinstance(a, Imm):
            return Imm(a.value, a.dtype, lanes)
        home = self._home_of(s, a)
        return self.let(home, "splat", (a,), a.dtype, lanes)

    def _home_of(self, s: Scope, a: Reg) -> Scope:
        """The scope that defined register `a`: what only depends on it is computed there."""
        home = self.homes.get(a.name)
        if home is not None:
            return home
        return s.chain()[-1] if a in self.func.sizes or a in self.func.hosts else s

    def outermost(self, s: Scope, *args: Arg) -> Scope:
        """The outermost scope around `s` in which all of these are known. None of them may change in a loop."""
        homes = [self._home_of(s, a) for a in args if isinstance(a, Reg)]
        return max(homes, key=lambda c: c.level, default=s.chain()[-1])

    def own(self, s: Scope, a: Arg) -> Arg:
        """Record that scope `s` defines `a`."""
        if isinstance(a, Reg):
            self.homes[a.name] = s
        return a

    # --- where things live ---
    def level(self, s: Scope, axes: Any, stages: Any = ()) -> Scope:
        """The outermost scope of the chain that defines all of `axes` and `stages`."""
        need = set(axes)
        names = set(stages)
        for c in s.chain():
            if need & c.axes.keys() or names & c.stages.keys():
                return c
        return s.chain()[-1]

    def vector_of(self, s: Scope, axes: Any) -> int:
        """Lanes of something that depends on `axes`."""
        for c in s.chain():
            if c.vector is not None and c.vector in axes:
                return c.lanes
        return 1

    # --- index expressions ---
    def index(self, s: Scope, p: Ix, role: Any) -> tuple[Arg, bool]:
        """(register, contiguous): a scalar base with unit stride along the vector axis, or scalar / vector index."""
        v = next((c for c in s.chain() if c.vector is not None), None)
        if v is not None and v.vector is not None and v.vector in p.all_axes():
            c = p.coefficient(v.vector, within=self.steady)
            if c is ONE:
                base = self.scalar_index(s, p.without(v.vector), role)
                return self.add(s, base, v.axes[v.vector]), True
            if c is ZERO:  # only quotients vary along it, and not within a vector
                return self.scalar_index(s, p, role), False
            if c is not None and self.func.target == "cpu":
                at = self.scalar_index(s, p, role), self.scalar_index(s, c, role)
                return self.let(s, "iota", at, self.ix, v.lanes), False
            return self.vector_index(s, p, role, v), False
        return self.scalar_index(s, p, role), False

    def add(self, s: Scope, a: Arg, b: Arg) -> Arg:
        if isinstance(a, Imm) and a.value == 0:
            return b
        if isinstance(b, Imm) and b.value == 0:
            return a
        return self.prim(s, "add", a, b)

    def mul(self, s: Scope, a: Arg, b: Arg) -> Arg:
        if isinstance(a, Imm) and a.value == 1:
            return b
        if isinstance(b, Imm) and b.value == 1:
            return a
        return self.prim(s, "mul", a, b)

    def scalar_index(self, s: Scope, p: Ix, role: Any) -> Arg:
        """Sum the terms from the outermost scope inwards, so that invariant parts are computed once."""
        groups: dict[tuple[Atom, ...], Ix] = {}
        for m, c in p.terms:
            sizes = tuple(a for a in m if of_sizes(a))
            rest = tuple(a for a in m if not of_sizes(a))
            coeff = ix(c)
            for a in sizes:
                coeff = coeff * a.ix
            groups[rest] = groups.get(rest, ZERO) + coeff
        placed: list[tuple[int, Scope, Arg]] = []
        for rest, coeff in groups.items():
            if not rest:
                placed.append((0, s.chain()[-1], self.params.get(coeff, role)))
                continue
            axes: set[Atom] = set()
            for a in rest:
                axes |= a.ix.all_axes()
            home = self.level(s, axes, {n for a in rest for n in stages_of(a)})
            term: Arg = self.imm(1)
            for a in rest:
                term = self.mul(home, term, self.atom(home, a, role))
            if coeff == -1:
                term = self.prim(home, "neg", term)
            else:
                term = self.mul(home, term, self.params.get(coeff, role))
            placed.append((home.level, home, term))
        placed.sort(key=lambda t: t[0])
        total: Arg = self.imm(0)
        for _, home, term in placed:
            total = self.add(home, total, term)
        return total

    def atom(self, s: Scope, a: Atom, role: Any) -> Arg:
        if a.kind == "axis":
            for c in s.chain():
                if a in c.axes:
                    return c.axes[a]
            raise AssertionError(f"axis {a} is not in scope")
        if a.kind == "div":
            assert a.num is not None
            num = self.scalar_index(s, a.num, role)
            return self.let(s, "udiv", (num, self.params.divisor(a.aux, role)), self.ix)
        assert a.kind == "value"
        return self.as_index(s, self.emit(s, a.aux))

    def as_index(self, s: Scope, a: Arg) -> Arg:
        """A run-time i64 number as an index."""
        if a.dtype is self.ix:
            return a
        if isinstance(a, Imm):
            return Imm(a.value, self.ix, a.lanes)
        return self.let(self._home_of(s, a), "cast", (a,), self.ix, a.lanes)

    def as_number(self, s: Scope, a: Arg) -> Arg:
        """An index as an i64 number."""
        return a if a.dtype is i64 else self.let(s, "cast", (a,), i64, a.lanes)

    def vector_index(self, s: Scope, p: Ix, role: Any, v: Scope) -> Arg:
        assert v.vector is not None
        total: Arg = self.imm(0)
        for m, c in p.terms:
            coeff = ix(c)
            term: Arg = self.imm(1)
            for a in m:
                if of_sizes(a):
                    coeff = coeff * a.ix
                elif v.vector in a.ix.all_axes() and not (self.steady and a.kind == "div"):
                    term = self.mul(s, term, self.vector_atom(s, a, role, v))
                else:
                    term = self.mul(s, term, self.scalar_index(s, a.ix, role))
            term = self.mul(s, term, self.params.get(coeff, role))
            total = self.add(s, total, term)
        return self.splat(s, total, v.lanes)

    def vector_atom(self, s: Scope, a: Atom, role: Any, v: Scope) -> Arg:
        if a is v.vector:
            return self.let(v, "iota", (v.axes[a],), self.ix, v.lanes)
        if a.kind == "div":
            assert a.num is not None and v.vector is not None
            by = self.params.divisor(a.aux, role)
            if self.func.target == "cpu" and a.num.coefficient(v.vector) is ONE:
                first = self.add(s, self.scalar_index(s, a.num.without(v.vector), role), v.axes[v.vector])
                return self.let(s, "quotients", (first, by), self.ix, v.lanes)
            num = self.splat(s, self.vector_index(s, a.num, role, v), v.lanes)
            den = self.splat(s, by, v.lanes)
            return self.let(s, "udiv", (num, den), self.ix, v.lanes)
        assert a.kind == "value"
        return self.as_index(s, self.emit(s, a.aux))

    # --- scalar expressions ---
    def emit(self, s: Scope, e: Expr) -> Arg:
        """The value of `e` in scope `s`, emitted as far out as it is invariant."""
        for c in s.chain():
            if e in c.memo:
                return c.memo[e]
            if e in c.kept:
                s.memo[e] = self.keep_load(s, e, c.kept[e])
                return s.memo[e]
        self.ladder.climb(e, lambda x: self._unknown(s, x), lambda x: self.emit(s, x))
        home = self.level(s, e.axes, [n for n in e.stages])
        lanes = self.vector_of(s, e.axes)
        with self.ladder:
            out = home.memo[e] = self._emit(home, e, lanes)
        return out

    def _unknown(self, s: Scope, e: Expr) -> list[Expr]:
        """What is below an expression and not emitted yet."""
        known = [d for c in s.chain() for d in (c.memo, c.kept)]
        return [x for x in e.children() if not any(x in d for d in known)]

    def keep_load(self, s: Scope, e: Expr, buf: Buf) -> Arg:
        raise NotImplementedError

    def _emit(self, s: Scope, e: Expr, lanes: int) -> Arg:
        kind = e.kind
        if kind == "const":
            return Imm(e.data, e.dtype)
        if kind == "host":
            if e.data not in self.hosts:
                r = Reg(e.data, e.dtype)
                self.hosts[e.data] = r
                self.func.hosts.append(r)
            return self.hosts[e.data]
        if kind == "index":
            base, contiguous = self.index(s, e.data, "index")
            if contiguous and lanes > 1:
                base = self.let(s, "iota", (base,), self.ix, lanes)
            return self.as_number(s, self.splat(s, base, lanes))
        if kind == "load":
            return self._load(s, e, lanes)
        if kind == "stage":
            for c in s.chain():
                if e.data[0] in c.stages:
                    return c.stages[e.data[0]]
            raise AssertionError(f"stage {e.data[0]} is not available here")
        if (drawn := compared(e)) is not None:
            number, how, bound = drawn
            return self.prim(s, how, self._random(s, number, lanes, True), Imm(bound, U32))
        args = tuple(self.splat(s, self.emit(s, a), lanes) for a in e.args)
        if kind == "cast":
            return self.let(s, "cast", args, e.dtype, lanes)
        if kind == "round":
            return self.let(s, "round", args, e.dtype, lanes, attr=e.data)
        if kind == "random":
            return self._random(s, e, lanes)
        return self.let(s, e.data, args, e.dtype, lanes)

    def _load(self, s: Scope, e: Expr, lanes: int) -> Arg:
        name, offset, dtype = e.data
        base, contiguous = self.index(s, offset, name)
        given = [self.emit(s, a) for a in e.args]
        mask = [self.splat(s, a, lanes) for a in given]
        at = next((c for c in s.chain() if c.vector is not None), None)
        tail = None if at is None else at.mask
        if given and lanes > 1 and contiguous and at is not None and at.partial is not None:
            part = self.part_load(s, e, base, lanes)
            if part is not None:
                return part
        if tail is not None and lanes > 1:
            mask = [self.prim(s, "and", mask[0], tail)] if mask else [tail]
        if given and given[0].lanes < lanes and tail is None and contiguous:
            whole = self.whole_load(s, name, offset, given[0], base, lanes)
            if whole is not None:
                return whole
        elif given and lanes > 1 and tail is None and contiguous:
            whole = self.border_load(s, e, given[0], base, lanes)
            if whole is not None:
                return whole
        op = "load" if contiguous or lanes == 1 else "gather"
        if op == "gather":
            if base.lanes == 1 and tail is None and all(m.lanes == 1 for m in given):  # one element for all lanes
                one = self.let(s, "load", (base, *given), compute_type(dtype), 1, self.bufs[name])
                return self.splat(s, one, lanes)
            base = self.splat(s, base, lanes)
        ranged = at is not None and at.partial is not None and not given
        plain = op == "load" and (ranged or not mask)
        mark = (self.mark(name, offset) if lanes > 1 else self.mark_single(name)) if plain else None
        if ranged and op == "load" and lanes > 1 and mark is None:
            mark = "across"
        if ranged and mark is not None and mask:
            mask += self.reach(offset)
        return self.let(s, op, (base, *mask), compute_type(dtype), lanes, self.bufs[name], mark)

    def reach(self, offset: Ix) -> list[Arg]:
        """The last element of the buffer that a load at `offset`, of a range of lanes, may read; or nothing."""
        return []

    def whole_load(self, s: Scope, buffer: str, offset: Ix, mask: Arg, base: Arg, lanes: int) -> Arg | None:
        """A load of a whole vector or, where the scalar `mask` is false, of nothing. None: lane by lane, then."""
        return None

    def border_load(self, s: Scope, e: Expr, mask: Arg, base: Arg, lanes: int) -> Arg | None:
        """A load of a whole vector where all lanes of `mask` are true, else lane by lane. None: always lane by lane."""
        return None

    def part_load(self, s: Scope, e: Expr, base: Arg, lanes: int) -> Arg | None:
        """A load of the part of a vector for which a condition holds, at the end of a row or not. None: see above."""
        return None

    def mark(self, buffer: str, offset: Ix) -> str | None:
        """What is known of a whole vector at `offset` along the vector axis: "aligned", "stream", both or nothing."""
        return None

    def mark_single(self, buffer: str) -> str | None:
        """What is known of single elements of a buffer, as `mark`."""
        return None

    def words(self, s: Scope, seed: Arg, row: Ix, column: Ix, stream: int, lanes: int) -> Arg:
        """Random words in the layout for GPUs: a thread with four neighbouring columns uses all of a Philox block."""
        base, contiguous = self.index(s, column, "place")
        if contiguous and lanes % 4 == 0 and self.quads(column):
            at = (seed, self.scalar_index(s, row, "place"), base)
            return self.let(s, "philoxquad", at, U32, lanes, attr=stream)
        if contiguous and lanes > 1:
            base = self.let(s, "iota", (base,), self.ix, lanes)
        r, _ = self.index(s, row, "place")
        rows = self.splat(s, r, lanes)
        return self.let(s, "philoxword", (seed, rows, self.splat(s, base, lanes)), U32, lanes, attr=stream)

    def quads(self, column: Ix) -> bool:
        """Whether a vector of columns starts at a multiple of 4."""
        return False

    def _random(self, s: Scope, e: Expr, lanes: int, words: bool = False) -> Arg:
        """uniform: 24 random bits in [0, 1); normal: Box-Muller on two independent uniforms. `words`: what a uniform
        number is made of."""
        kind, row, column = e.data
        if kind.startswith("curand"):
            return self._curand(s, e, lanes, words)
        seed = self.emit(s, e.args[0])
        run = next((c.run for c in s.chain() if c.vector is not None), None)

        def lanewise(p: Ix) -> Arg:
            base, contiguous = self.index(s, p, "place")
            if contiguous and lanes > 1:
                return self.let(s, "iota", (base,), self.ix, lanes)
            return self.splat(s, base, lanes)

        def bits(stream: int) -> Arg:
            if self.func.target == "cuda":
                return self.words(s, seed, row, column, stream, lanes)
            if run is not None and run[0] is column.as_axis() and 16 % lanes == 0:
                start = (seed, self.scalar_index(s, row, "place"), run[1])
                return self.let(s, "philoxrun", start, U32, lanes, attr=64 * stream + run[2])
            return self.let(s, "philox", (seed, lanewise(row), lanewise(column)), U32, lanes, attr=stream)

        def unit(r: Arg, plus: int) -> Arg:
            top = self.prim(s, "shr", r, Imm(8, U32))
            f = self.let(s, "cast", (top,), F32, lanes)
            if plus:
                f = self.prim(s, "add", f, Imm(1.0, F32))
            return self.prim(s, "mul", f, Imm(2.0**-24, F32))

        if kind == "bits" or words:
            return bits(0)
        if kind == "uniform":
            return unit(bits(0), 0)
        radius = self.prim(s, "sqrt", self.prim(s, "mul", Imm(-2.0, F32), self.prim(s, "log", unit(bits(0), 1))))
        angle = self.prim(s, "mul", Imm(6.283185307179586, F32), unit(bits(1), 0))
        return self.prim(s, "mul", radius, self.prim(s, "cos", angle))

    def _curand(self, s: Scope, e: Expr, lanes: int, words: bool) -> Arg:
        """What PyTorch's CUDA kernels draw: neighbours share a Philox block if the state lets them."""
        if self.func.target != "cuda":
            raise Refusal("random", "random numbers of CUDA kernels")
        kind, _, element = e.data
        state = tuple(self.emit(s, a) for a in e.args)
        base, contiguous = self.index(s, element, "place")
        if kind == "curand_uniform" and contiguous and lanes > 1:
            r = self.let(s, "curandrun", (*state, base), U32, lanes)
        else:
            if contiguous and lanes > 1:
                base = self.let(s, "iota", (base,), self.ix, lanes)
            at = (*state, self.splat(s, base, lanes))
            if kind == "curand_normal":
                return self.let(s, "curandnormal", at, F32, lanes)
            r = self.let(s, "curandword", at, U32, lanes)
        if words:
            return r
        scaled = self.prim(s, "mul", self.let(s, "cast", (r,), F32, lanes), Imm(2.0**-32, F32))
        return self.prim(s, "add", scaled, Imm(2.0**-33, F32))


def _fold(op: str, args: tuple[Arg, ...], dtype: DType, lanes: int, index: DType) -> Arg | None:
    """Constants of index arithmetic and masks; everything else is left to the target's compiler."""
    if op in ("add", "mul") and all(isinstance(a, Imm) for a in args) and dtype is index:
        x, y = args[0].value, args[1].value  # type: ignore[union-attr]
        return Imm(x + y if op == "add" else x * y, index, lanes)
    if op == "neg" and isinstance(args[0], Imm) and dtype is index:
        return Imm(-args[0].value, index, lanes)
    return None
