"""Reductions over the blocks of a cluster (`creduce`), as device functions.

A block leaves the value of each of its groups of threads in shared memory of its own. When all blocks of the cluster
have, every thread reads the values of all of them, in the order of their ranks, through distributed shared memory. Each
reduction has memory of its own, so that one barrier is enough for it; and no block may leave before the others have
read what they want: when the last reduction is over a block says so, and it waits at its very end for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.dtypes import DType, i32
from ..loop.ir import Grid, Let, Stmt, walk
from .cuda_prelude import Prelude
from .cuda_rules import combine
from .cuda_types import value_type

_FN = "__device__ __forceinline__"


@dataclass(frozen=True, slots=True)
class Shape:
    """A reduction of `lanes` values over `cluster` blocks, of groups of `group` threads `stride` apart."""

    monoid: str
    dtype: DType
    group: int
    stride: int
    lanes: int
    threads: int
    cluster: int

    @property
    def slot(self) -> DType:
        """The type of a value in shared memory: at least 32 bits."""
        return self.dtype if self.dtype.itemsize >= 4 else i32

    @property
    def slots(self) -> int:
        """How many values a block leaves."""
        return self.threads // self.group * self.lanes

    @property
    def name(self) -> str:
        lanes = f"x{self.lanes}" if self.lanes > 1 else ""
        return f"fw_cluster_{self.monoid}_{self.dtype}{lanes}_{self.group}x{self.stride}_{self.cluster}"


def shape_of(s: Let, grid: Grid) -> Shape:
    monoid, group, stride = s.attr
    return Shape(monoid, s.dst.dtype, group, stride, s.dst.lanes, grid.threads, grid.cluster)


def reductions(grid: Grid) -> Iterator[Let]:
    """The `creduce` of a launch, in order."""
    return (s for s in walk(grid.body) if isinstance(s, Let) and s.op == "creduce")


def last(body: list[Stmt]) -> int:
    """How many of the statements there are up to the last with a `creduce` in it."""
    return max((k + 1 for k, s in enumerate(body) if any(_is(x) for x in walk([s]))), default=0)


def _is(s: Stmt) -> bool:
    return isinstance(s, Let) and s.op == "creduce"


def reduction(prelude: Prelude, shape: Shape) -> str:
    """The function `T (T x, S* slot)`, or `void (T* x, S* slot)` that works in place for several lanes."""
    if shape.name not in prelude:
        for name in ("fw_cluster_sync", "fw_cluster_read"):
            prelude.need(name)
        prelude.define(shape.name, _text(prelude, shape))
    return shape.name


def _text(prelude: Prelude, s: Shape) -> str:
    t, slot = value_type(s.dtype), value_type(s.slot)
    one = s.lanes == 1
    read = "fw_cluster_read(slot + mine, {})" if one else "fw_cluster_read(slot + mine + l, {})"
    if s.slot is not s.dtype:
        read = f"({t}){read}"
    mine = " + ".join(x for x in (_times(f"t / {s.group * s.stride}", s.stride), _rest(s.stride)) if x)
    mine = mine if one else f"({mine}) * {s.lanes}"
    first = f"t / {s.stride} % {s.group} == 0" if s.stride > 1 else f"t % {s.group} == 0"
    value = "x" if one else "v[l]"
    put = f"slot[mine{'' if one else ' + l'}] = {value};"
    gather = [
        f"{'x' if one else f'{t} x'} = {read.format(0)};",
        "#pragma unroll",
        f"for (int r = 1; r < {s.cluster}; ++r) {{",
        f"  const {t} y = {read.format('r')};",
        f"  x = {combine(prelude, s.monoid, s.dtype, 'x', 'y')};",
        "}",
    ]
    each = f"for (int l = 0; l < {s.lanes}; ++l) "
    lines = [
        f"// {s.monoid} over the {s.cluster} blocks of a cluster, in the order of their ranks",
        f"{_FN} {t} {s.name}({t} x, {slot}* slot) {{" if one else f"{_FN} void {s.name}({t}* v, {slot}* slot) {{",
        f"  const int t = threadIdx.x, mine = {mine};",
        f"  if ({first}) {put}" if one else f"  if ({first}) {each}{put}",
        "  fw_cluster_sync();  // all blocks have left theirs",
    ]
    if one:
        return "\n".join([*lines, *(f"  {line}" for line in gather), "  return x;", "}"])
    inner = [f"    {line}" for line in [*gather, "v[l] = x;"]]
    return "\n".join([*lines, "  #pragma unroll", f"  {each}{{", *inner, "  }", "}"])


def _times(text: str, n: int) -> str:
    return f"{text} * {n}" if n > 1 else text


def _rest(n: int) -> str:
    return f"t % {n}" if n > 1 else ""


__all__ = ["Shape", "last", "reduction", "reductions", "shape_of"]
