"""Running totals over groups of threads (`tscan`) and over lanes (`hscan`), as device functions.

The order of combination is that of `loop/ir.py`: shuffles within a warp, then every thread adds up the totals of the
warps before its own, which pass through shared memory. The scratch is that of other collectives (`cuda_reduce.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.dtypes import DType
from ..loop.ir import WARP, Let
from ..prims.table import MONOIDS
from .cuda_prelude import Prelude
from .cuda_rules import combine
from .cuda_types import literal, value_type

_FN = "__device__ __forceinline__"


@dataclass(frozen=True, slots=True)
class Shape:
    """A scan over groups of `group` threads, `stride` apart, in a block of `threads`."""

    monoid: str
    dtype: DType
    group: int
    stride: int
    threads: int

    @property
    def segment(self) -> int:
        """Positions of a group that are in one warp."""
        return min(self.group, max(WARP // self.stride, 1))

    @property
    def kept(self) -> int:
        """How many totals a warp leaves: one for each group that it is a part of."""
        return min(self.stride, WARP)

    @property
    def scratch(self) -> int:
        """Bytes of shared memory; 0 when the group lies in a warp."""
        return self.threads // WARP * self.kept * self.dtype.itemsize if self.group > self.segment else 0

    @property
    def name(self) -> str:
        block = "" if not self.scratch or self.group * self.stride == self.threads else f"_of{self.threads}"
        return f"fw_scan_{self.monoid}_{self.dtype}_{self.group}x{self.stride}{block}"


def shape_of(s: Let, threads: int) -> Shape:
    monoid, group, stride = s.attr
    return Shape(monoid, s.dst.dtype, group, stride, threads)


def scan(prelude: Prelude, s: Shape) -> str:
    """The function `void (T x, T* out[, scratch])`: out[0] is of the positions before, out[1] of all."""
    if s.name not in prelude:
        prelude.define(s.name, _text(prelude, s))
    return s.name


def _text(prelude: Prelude, s: Shape) -> str:
    t = value_type(s.dtype)
    small = s.dtype.itemsize < 4

    def join(x: str, y: str) -> str:
        return combine(prelude, s.monoid, s.dtype, x, y)

    def shuffled(how: str, x: str, at: str) -> str:
        got = f"__shfl_{how}sync(0xffffffffu, {'(int)' if small else ''}{x}, {at})"
        return f"({t}){got}" if small else got

    identity = literal(MONOIDS[s.monoid].identity(s.dtype), s.dtype)
    distance = f"d * {s.stride}" if s.stride > 1 else "d"
    place = f"t / {s.stride} % {s.segment}" if s.stride > 1 else f"t % {s.segment}"
    lines = [
        f"// {s.monoid} of what comes before, and of all, in groups of {s.group} threads"
        + (f" that are {s.stride} apart" if s.stride > 1 else ""),
        f"{_FN} void {s.name}({t} x, {t}* out{', unsigned char* scratch' if s.scratch else ''}) {{",
    ]
    body = ["const unsigned t = threadIdx.x;"]
    before = identity
    if s.segment > 1:
        body += [
            f"const unsigned j = {place};",
            "#pragma unroll",
            f"for (int d = 1; d < {s.segment}; d *= 2) {{",
            f"  const {t} y = {shuffled('up_', 'x', distance)};",
            f"  if (j >= d) x = {join('y', 'x')};",
            "}",
            f"const {t} y = {shuffled('up_', 'x', str(s.stride))};",
        ]
        before = f"j ? y : {identity}"
    if not s.scratch:
        last = f"t % {WARP} + ({s.segment - 1} - j) * {s.stride}" if s.segment > 1 else f"t % {WARP}"
        body += [
            f"const {t} before = {before}, none = {identity};",
            f"const {t} all = {shuffled('', 'x', last)};",
            f"out[0] = {join('none', 'before')};",
            f"out[1] = {join('none', 'all')};",
        ]
        return "\n".join([*lines, *(f"  {line}" for line in body), "}"])
    count, apart = s.group // s.segment, s.kept * max(s.stride // WARP, 1)
    slot = "t" if s.kept == WARP else f"t / {WARP}" if s.kept == 1 else f"t / {WARP} * {s.kept} + t % {s.kept}"
    put = f"s[{slot}] = x;" if s.segment == 1 else f"if (j == {s.segment - 1}) s[{slot}] = x;"
    body += [
        f"{t}* const s = reinterpret_cast<{t}*>(scratch);",
        put,
        "__syncthreads();",
        f"const unsigned mine = {slot}, k = mine / {apart} % {count}, first = mine - k * {apart};",
        f"{t} base = {identity}, all = {identity};",
        "#pragma unroll",
        f"for (int i = 0; i < {count}; ++i) {{",
        "  if (i == k) base = all;",
        f"  all = {join('all', f's[first + i * {apart}]')};",
        "}",
        f"const {t} before = {before};",
        f"out[0] = {join('base', 'before')};",
        "out[1] = all;",
    ]
    return "\n".join([*lines, *(f"  {line}" for line in body), "}"])


def over_lanes(prelude: Prelude, monoid: str, d: DType, lanes: int) -> str:
    """The function `void (const T* v, T* out)` of running totals, in order."""
    fn = f"fw_scan_{monoid}_{d}_lanes{lanes}"
    if fn not in prelude:
        t = value_type(d)
        step = combine(prelude, monoid, d, "out[l - 1]", "v[l]")
        lines = [
            f"{_FN} void {fn}(const {t}* v, {t}* out) {{",
            "  out[0] = v[0];",
            "  #pragma unroll",
            f"  for (int l = 1; l < {lanes}; ++l) out[l] = {step};",
            "}",
        ]
        prelude.define(fn, "\n".join(lines))
    return fn


__all__ = ["Shape", "over_lanes", "scan", "shape_of"]
