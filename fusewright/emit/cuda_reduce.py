"""Reductions over groups of threads (`treduce`) and over lanes (`hreduce`), as device functions.

The order of combination is that of `loop/ir.py`: in a group of a power of two, position j takes
`combine(x[j], x[j ^ s])` for s = 1, 2, ..., group / 2; other groups combine in order of position. Distances of less
than a warp are exchanged by shuffles. What is left are a few results of each warp: through shared memory every thread
gets those of its group, one in each lane of its warp if they are many, to be shuffled once more.

A function leaves its scratch being read by slower threads, so the next one that writes there must wait.
`plan_scratch` gives successive reductions different parts of the scratch, whose own barriers then are enough; one that
is alone in a loop has two halves of its own, and uses them in turn. A scan that is alone in a loop waits at a barrier.

Groups of whole warps side by side, each with a row, wait each for itself (`apart`), so that one can compute while
another one waits for memory. Their scratch is nobody else's, two halves that they use in turn, since their barrier says
nothing of other groups.

Reductions of the same kind that follow each other are one, of several values (`together`): they share its barrier.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..core.dtypes import DType
from ..loop.ir import Barrier, For, Grid, If, Let, Reg, Stmt
from .cuda_prelude import Prelude
from .cuda_rules import combine
from .cuda_scan import shape_of as scan_shape
from .cuda_types import value_type

_FN = "__device__ __forceinline__"
_WARP = 32
TURNS = 2  # parts of the scratch that successive collectives share
BARRIERS = 15  # of a block, besides that of `__syncthreads`
SEVERAL = 512  # threads of a block that has them: a multiprocessor has not many, so that fewer small blocks would run
HALF = 1024  # bytes of scratch of which a reduction has two halves, at most, rather than wait at one more barrier
_PACKED = 4  # values of each thread that share their shuffles, at most
SCRATCH = 8192  # bytes of scratch that one reduction uses at most, unless one value of each thread takes more


def _power(n: int) -> bool:
    return n & (n - 1) == 0


@dataclass(frozen=True, slots=True)
class Shape:
    """A reduction of `lanes` values in each of `threads` threads over groups of `group` threads `stride` apart.

    `apart`: each group waits for itself.
    """

    monoid: str
    dtype: DType
    group: int
    stride: int
    lanes: int
    threads: int
    apart: bool = False

    @property
    def shuffles(self) -> bool:
        """Whether (some of) the steps can be shuffles: distances are powers of two and warps are full."""
        return _power(self.group) and _power(self.stride) and self.threads % _WARP == 0

    @property
    def whole(self) -> bool:
        """Whether a group is (side by side with others) the whole block."""
        return self.group * self.stride == self.threads

    @property
    def kept(self) -> int:
        """How many values of a warp go through shared memory: one for each group that the warp is a part of."""
        return min(self.stride, _WARP) if self.shuffles else _WARP

    @property
    def values(self) -> int:
        """How many values of a lane go through shared memory."""
        return self.threads * self.kept // _WARP

    @property
    def scratch(self) -> int:
        """Bytes of shared memory; 0 when the group lies in a warp."""
        if self.group == 1 or (self.shuffles and self.group * self.stride <= _WARP):
            return 0
        return self.values * self.dtype.itemsize * self.chunk

    @property
    def chunk(self) -> int:
        """How many lanes are reduced at a time."""
        return max(1, min(self.lanes, SCRATCH // (self.values * self.dtype.itemsize)))

    @property
    def packed(self) -> bool:
        """Whether two to four values take little more than one: after each of the first steps half of the threads go on
        with one half of them.

        Only for what does not depend on the order of two operands."""
        few = 1 < self.lanes == self.chunk <= _PACKED
        return few and self.shuffles and self.stride == 1 and self.monoid in ("sum", "prod")

    @property
    def name(self) -> str:
        lanes = f"x{self.lanes}" if self.lanes > 1 else ""
        block = "" if not self.scratch or self.whole else f"_of{self.threads}"
        return f"fw_{self.monoid}_{self.dtype}{lanes}_{self.group}x{self.stride}{block}{'_apart' * self.apart}"

    @property
    def separable(self) -> bool:
        """Whether groups are whole warps, so few that each has a barrier, and what goes through memory is little."""
        several = self.threads >= SEVERAL and 1 < self.threads // self.group <= BARRIERS
        whole = self.stride == 1 and self.group % _WARP == 0 and _power(self.group)
        return several and whole and 0 < self.scratch <= HALF


def shape_of(s: Let, threads: int, count: int = 1, apart: bool = False) -> Shape:
    """Of `count` reductions like `s`, done at once; `apart`: by each group for itself, if it can."""
    monoid, group, stride = s.attr
    found = Shape(monoid, s.dst.dtype, group, stride, s.dst.lanes * count, threads)
    return replace(found, apart=True) if apart and found.separable else found


def reduction(prelude: Prelude, shape: Shape) -> str:
    """The function `T (T x[, scratch])`, or `void (T* x[, scratch])` that works in place for several lanes."""
    if shape.name not in prelude:
        prelude.define(shape.name, _Text(prelude, shape).run())
    return shape.name


class _Text:
    def __init__(self, prelude: Prelude, shape: Shape):
        self.shape = shape
        self.prelude = prelude
        self.lines: list[str] = []

    def join(self, x: str, y: str) -> str:
        return combine(self.prelude, self.shape.monoid, self.shape.dtype, x, y)

    def shuffled(self, lane: str, value: str = "x", how: str = "xor") -> str:
        d = self.shape.dtype
        x = f"(int){value}" if d.itemsize < 4 else value
        got = f"__shfl_{how}_sync(0xffffffffu, {x}, {lane})".replace("_idx", "")
        return f"({value_type(d)}){got}" if d.itemsize < 4 else got

    def run(self) -> str:
        s = self.shape
        t = value_type(s.dtype)
        scratch = ", unsigned char* scratch" if s.scratch else ""
        one = s.lanes == 1
        self.lines = [
            f"// {s.monoid} over groups of {s.group} threads"
            + (f" that are {s.stride} apart" if s.stride > 1 else "")
            + ("" if one else f", {s.lanes} values at a time"),
            f"{_FN} {t} {s.name}({t} x{scratch}) {{" if one else f"{_FN} void {s.name}({t}* v{scratch}) {{",
        ]
        if s.scratch:
            self.add(f"{t}* const s = reinterpret_cast<{t}*>(scratch);", "const unsigned t = threadIdx.x;")
            for start in range(0, s.lanes, s.chunk):
                if start:
                    self.add("__syncthreads();")
                self.through_memory(start, min(start + s.chunk, s.lanes))
        elif s.group > 1:
            self.each_lane(0, s.lanes, self.shuffles(s.stride, s.group * s.stride // 2), True)
        if one:
            self.add("return x;")
        self.lines.append("}")
        return "\n".join(self.lines)

    def add(self, *lines: str) -> None:
        self.lines += [f"  {line}" for line in lines]

    def each_lane(self, start: int, stop: int, lines: list[str], keep: bool) -> None:
        """`lines` for every lane in a range, with `x` its value; `keep`: they change it."""
        if self.shape.lanes == 1:
            self.add(*lines)
            return
        t = value_type(self.shape.dtype)
        load, after = f"{t} x = v[l];", ["v[l] = x;"] if keep else []
        self.add("#pragma unroll", f"for (int l = {start}; l < {stop}; ++l) {{")
        self.add(*(f"  {line}" for line in [load, *lines, *after]))
        self.add("}")

    def shuffles(self, first: int, last: int) -> list[str]:
        """Steps at distances first, 2 * first, ..., last."""
        t = value_type(self.shape.dtype)
        return [
            "#pragma unroll",
            f"for (int d = {first}; d <= {last}; d *= 2) {{",
            f"  const {t} y = {self.shuffled('d')};",
            f"  x = {self.join('x', 'y')};",
            "}",
        ]

    def through_memory(self, start: int, stop: int) -> None:
        s = self.shape
        base = "" if s.chunk == 1 else f" + (l - {start}) * {s.values}" if start else f" + l * {s.values}"
        if _power(s.group) and not s.shuffles:
            self.exchanges(start, stop, base)
        elif s.packed:
            self.pack()
        elif _power(s.group):
            self.across_warps(start, stop, base)
        else:
            self.in_order(start, stop, base)

    def meet(self) -> str:
        """What is in shared memory is seen by all: the block, or the group."""
        if not self.shape.apart:
            return "__syncthreads();"
        return f"{self.prelude.need('fw_group_barrier')}<{self.shape.group}>();"

    def across_warps(self, start: int, stop: int, base: str) -> None:
        """Shuffles within warps, then each warp's results, `kept` values apart, then the steps at larger distances."""
        s = self.shape
        kept = s.kept
        count = s.group * s.stride // max(_WARP, s.stride)  # values to combine
        apart = kept * max(s.stride // _WARP, 1)  # their distance in shared memory
        inside = self.shuffles(s.stride, _WARP // 2) if s.stride < _WARP else []
        if kept == _WARP:
            self.each_lane(start, stop, [*inside, f"s[t{base}] = x;"], False)
        else:
            put = f"if (t % {_WARP} < {kept}) s[t / {_WARP} * {kept} + t % {_WARP}{base}] = x;"
            if kept == 1:
                put = f"if (t % {_WARP} == 0) s[t / {_WARP}{base}] = x;"
            self.each_lane(start, stop, [*inside, put], False)
        self.add(self.meet())
        mine = "t" if kept == _WARP else f"t / {_WARP} * {kept} + t % {kept}" if kept > 1 else f"t / {_WARP}"
        if kept * count <= _WARP and count > 4:  # a lane for each value of the group
            group = "" if s.whole else f"t / {count * _WARP} * {count * kept} + "
            lines = [
                f"x = s[{group}t % {count * kept}{base}];",
                *self.shuffles(kept, kept * count // 2),
            ]
            self.each_lane(start, stop, lines, True)
            return
        first = f"mine - mine / {apart} % {count} * {apart}"
        if s.whole:
            first = f"mine % {apart}" if apart > 1 else ""
        lines = [
            *([f"const unsigned mine = {mine};"] if first else []),
            f"const unsigned first = {(first + base).removeprefix(' + ') or '0'};",
            *self.by_each_thread(count, f"first + j * {apart}", "x"),
        ]
        self.each_lane(start, stop, lines, True)

    def by_each_thread(self, count: int, at: str, into: str) -> list[str]:
        """The values s[at], for j = 0, 1, ... `count` - 1, are combined: by every thread, in pairs."""
        lines = [
            f"{value_type(self.shape.dtype)} y[{count}];",
            "#pragma unroll",
            f"for (int j = 0; j < {count}; ++j) y[j] = s[{at}];",
        ]
        n = 1
        while 2 * n < count:
            step = self.join("y[j]", f"y[j + {n}]")
            lines += ["#pragma unroll", f"for (int j = 0; j < {count}; j += {2 * n}) y[j] = {step};"]
            n *= 2
        return [*lines, f"{into} = {self.join('y[0]', f'y[{n}]')};"]

    def pack(self) -> None:
        """`across_warps` for few values of each thread, `n` of them, if need be with zeros.

        At distance 1 odd threads go on with the second half of them, and hand over the first; likewise at distance 2,
        until a thread has one. So value l is with the threads whose last bits are those of l, in reverse order.
        """
        s = self.shape
        t = value_type(s.dtype)
        count = s.group // _WARP
        n = 1 << (s.lanes - 1).bit_length()
        values = [f"v[{k}]" if k < s.lanes else f"({t})0" for k in range(n)]
        distance = 1
        while len(values) > 1:
            half = len(values) // 2
            self.add(f"const bool second{distance} = t & {distance};")
            kept = []
            for k, (a, b) in enumerate(zip(values[:half], values[half:], strict=True)):
                mine, give, got = f"x{distance}{k}", f"give{distance}{k}", f"got{distance}{k}"
                self.add(
                    f"const {t} {give} = second{distance} ? {a} : {b};",
                    f"const {t} {got} = {self.shuffled(str(distance), give)};",
                    f"const {t} {mine} = {self.join(f'(second{distance} ? {b} : {a})', got)};",
                )
                kept.append(mine)
            values, distance = kept, 2 * distance
        which = "t % 2" if n == 2 else "(t % 2 * 2 + t / 2 % 2)"
        self.add(
            f"{t} x = {values[0]};",
            *self.shuffles(n, _WARP // 2),
            f"if (t % {_WARP} < {s.lanes}) s[t / {_WARP} + {which} * {s.values}] = x;",
            self.meet(),
        )
        first = f"t / {s.group} * {count}"
        if 4 < count <= _WARP // n:  # a lane for each value of the group
            mine = f"t / {count} % {n}" + f" % {s.lanes}" * (s.lanes < n)
            self.add(
                f"x = s[{first} + {mine} * {s.values} + t % {count}];",
                *self.shuffles(1, count // 2),
                *(f"v[{k}] = {self.shuffled(str(k * count), how='idx')};" for k in range(s.lanes)),
            )
            return
        lines = self.of_warps(first, count)
        self.add("#pragma unroll", f"for (int l = 0; l < {s.lanes}; ++l) {{", *(f"  {line}" for line in lines), "}")

    def of_warps(self, first: str, count: int) -> list[str]:
        """What the warps of a group have left of value `l` is combined: by lanes of a warp, or by every thread."""
        s = self.shape
        t = value_type(s.dtype)
        if 4 < count <= _WARP:
            return [
                f"{t} x = s[{first} + t % {count} + l * {s.values}];",
                *self.shuffles(1, count // 2),
                "v[l] = x;",
            ]
        return self.by_each_thread(count, f"{first} + j + l * {s.values}", "v[l]")

    def in_order(self, start: int, stop: int, base: str) -> None:
        """One after the other: groups that are no power of two."""
        s = self.shape
        self.each_lane(start, stop, [f"s[t{base}] = x;"], False)
        self.add("__syncthreads();")
        lines = [
            f"const unsigned first = t - t / {s.stride} % {s.group} * {s.stride}{base};",
            "x = s[first];",
            "#pragma unroll 4",
            f"for (int j = 1; j < {s.group}; ++j) {{",
            f"  const {value_type(s.dtype)} y = s[first + j * {s.stride}];",
            f"  x = {self.join('x', 'y')};",
            "}",
        ]
        self.each_lane(start, stop, lines, True)

    def exchanges(self, start: int, stop: int, base: str) -> None:
        """Step by step through shared memory: for distances that no shuffle has."""
        s = self.shape
        t = value_type(s.dtype)
        self.add(f"for (int h = 1; h < {s.group}; h *= 2) {{")
        outer = self.lines
        self.lines = []
        self.add(f"const unsigned j = t / {s.stride} % {s.group}, other = t + ((j ^ h) - j) * {s.stride};")
        self.each_lane(start, stop, [f"s[t{base}] = x;"], False)
        self.add("__syncthreads();")
        self.each_lane(start, stop, [f"const {t} y = s[other{base}];", f"x = {self.join('x', 'y')};"], True)
        self.add("__syncthreads();")
        outer += [f"  {line}" for line in self.lines]
        self.lines = outer
        self.add("}")


# --- over lanes ------------------------------------------------------------------------------------


def over_lanes(prelude: Prelude, monoid: str, d: DType, lanes: int) -> str:
    """The function `T (const T* v)` that combines all lanes: halves while their number is even, then in order."""
    fn = f"fw_{monoid}_{d}x{lanes}"
    if fn not in prelude:
        t = value_type(d)
        lines = [f"{_FN} {t} {fn}(const {t}* v) {{", f"  {t} x[{lanes}];", "  #pragma unroll"]
        lines.append(f"  for (int j = 0; j < {lanes}; ++j) x[j] = v[j];")
        n = lanes
        while n > 1 and n % 2 == 0:
            n //= 2
            if n == 1:
                lines.append(f"  x[0] = {combine(prelude, monoid, d, 'x[0]', 'x[1]')};")
                break
            step = combine(prelude, monoid, d, "x[j]", f"x[j + {n}]")
            lines += ["  #pragma unroll", f"  for (int j = 0; j < {n}; ++j) x[j] = {step};"]
        lines += [f"  x[0] = {combine(prelude, monoid, d, 'x[0]', f'x[{j}]')};" for j in range(1, n)]
        prelude.define(fn, "\n".join([*lines, "  return x[0];", "}"]))
    return fn


# --- who may still be reading ------------------------------------------------------------------------


@dataclass(slots=True)
class Scratch:
    """`place[id(statement)]`: (which part of the scratch a collective uses, whether a barrier must come first).

    `sizes`: bytes of each part; from part TURNS on they are halves, which one reduction uses in turn. `apart`: groups
    wait each for itself, where they can.
    """

    place: dict[int, tuple[int, bool]]
    sizes: list[int]
    apart: bool = False


def plan_scratch(grid: Grid, apart: bool = False) -> Scratch:
    """Where each `treduce` and `tscan` of a launch has its scratch.

    `apart`: nothing else is written to shared memory by one thread and read by another, which a reduction's barrier
    would have to order.
    """
    plan = Scratch({}, [0] * TURNS, apart)
    _walk(grid.body, frozenset(), grid.threads, plan)
    for body in _bodies(grid.body):
        for first, count in collectives(body):
            if id(first) not in plan.place:
                continue
            k, barrier = plan.place[id(first)]
            size = _scratch(first, grid.threads, count)
            if barrier and first.op == "treduce" and size <= HALF:
                plan.place[id(first)] = len(plan.sizes), False
                plan.sizes.append(2 * ((size + 15) & -16))
            else:
                plan.sizes[k] = max(plan.sizes[k], size)
    return plan


def collectives(body: list[Stmt]) -> Iterator[tuple[Let, int]]:
    """The reductions and scans of a body, each with how many statements from it on are done at once."""
    k = 0
    while k < len(body):
        s = body[k]
        if isinstance(s, Let) and s.op in ("treduce", "tscan"):
            n = len(together(body, k))
            yield s, n
            k += n
        else:
            k += 1


def together(body: list[Stmt], k: int) -> list[Let]:
    """The collective that is statement k, and the reductions after it that can be one with it, of several values."""
    first = body[k]
    assert isinstance(first, Let)
    found = [first]
    if first.op != "treduce" or first.dst.lanes > 1:
        return found
    names = {first.dst.name}
    for s in body[k + 1 :]:
        if not isinstance(s, Let) or s.op != "treduce" or s.attr != first.attr or s.dst.lanes > 1:
            break
        if s.dst.dtype is not first.dst.dtype or any(isinstance(a, Reg) and a.name in names for a in s.args):
            break
        found.append(s)
        names.add(s.dst.name)
    return found


def _bodies(body: list[Stmt]) -> Iterator[list[Stmt]]:
    yield body
    for s in body:
        if isinstance(s, For):
            yield from _bodies(s.body)
        elif isinstance(s, If):
            yield from _bodies(s.then)
            yield from _bodies(s.orelse)


def _scratch(s: Let, threads: int, count: int) -> int:
    """Bytes of scratch that a collective of `count` statements needs."""
    return shape_of(s, threads, count).scratch if s.op == "treduce" else scan_shape(s, threads).scratch


def _walk(body: list[Stmt], busy: frozenset[int], threads: int, plan: Scratch) -> frozenset[int]:
    """The parts that some thread may still be reading after `body`, if `busy` are those before."""
    counts = {id(s): n for s, n in collectives(body)}
    for s in body:
        if isinstance(s, Barrier):  # a creduce would do as well, but tools that look for races do not see it
            busy = frozenset()
        elif isinstance(s, Let) and id(s) in counts and _scratch(s, threads, counts[id(s)]):
            if s.op == "treduce" and shape_of(s, threads, counts[id(s)], plan.apart).apart:
                plan.place[id(s)] = 0, True  # halves of its own, since its barrier is past what its own group read only
                continue
            k = 0 if 0 not in busy else 1 if 1 not in busy else 0
            plan.place[id(s)] = (k, k in busy)
            busy = frozenset((k,))  # the reduction's own barrier is past what was read before
        elif isinstance(s, For):
            before = None
            while before != busy:
                before = busy
                busy = busy | _walk(s.body, busy, threads, plan)
        elif isinstance(s, If):
            busy = _walk(s.then, busy, threads, plan) | _walk(s.orelse, busy, threads, plan)
    return busy


__all__ = ["TURNS", "Scratch", "Shape", "over_lanes", "plan_scratch", "reduction", "shape_of", "together"]
