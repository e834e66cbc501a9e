"""Reductions over the blocks of a cluster (`creduce`), as device functions.

In its shared memory a block has a slot for each value of each block. A group of threads, which all have its value,
sends it to its slot in every block of the cluster, this one included (`st.async`; the r-th thread to the r-th block),
and the values are combined where they have come, in the order of the ranks. An mbarrier tells when they have: the
stores complete the bytes that it expects. Each warp arrives at it too, so that it is also a barrier of the block, as
the IR says of a `creduce`.

Before anything is sent all blocks must have made their mbarriers. They say so at their start, and wait for each other
as late as possible, before the first reduction: meanwhile they have asked for their rows.

Each reduction has slots and an mbarrier of its own and is reached once (the IR has none in a loop): nothing is used
twice, and a wait is always for the first phase. Nor does a block have to wait for others at its end. What is sent to it
has come when its threads have waited for it, so that nothing writes to the memory of a block that has ended; and what
it sends is on its way without it, to blocks that cannot end before it has come. That holds also of reductions that a
condition guards: the IR has all threads of a cluster reach them, or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.dtypes import DType, i32
from ..loop.ir import WARP, Grid, Let, Stmt, walk
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
        """How many values a block gets: [groups, lanes, blocks of the cluster]."""
        return self.threads // self.group * self.lanes * self.cluster

    @property
    def bytes(self) -> int:
        return self.slots * self.slot.itemsize

    @property
    def name(self) -> str:
        lanes = f"x{self.lanes}" if self.lanes > 1 else ""
        return f"fw_cluster_{self.monoid}_{self.dtype}{lanes}_{self.group}x{self.stride}_{self.threads}x{self.cluster}"


def shape_of(s: Let, grid: Grid) -> Shape:
    monoid, group, stride = s.attr
    return Shape(monoid, s.dst.dtype, group, stride, s.dst.lanes, grid.threads, grid.cluster)


def reductions(grid: Grid) -> Iterator[Let]:
    """The `creduce` of a launch, in order."""
    return (s for s in walk(grid.body) if isinstance(s, Let) and s.op == "creduce")


def first(body: list[Stmt]) -> int:
    """How many of the statements there are before the first with a `creduce` in it; all if none has."""
    return next((k for k, s in enumerate(body) if any(_is(x) for x in walk([s]))), len(body))


def _is(s: Stmt) -> bool:
    return isinstance(s, Let) and s.op == "creduce"


def begin(prelude: Prelude, grid: Grid, mbarriers: str) -> str:
    """The statement that makes the mbarriers of all reductions of a launch. Every thread reaches it, before `wait`."""
    count, warps = len(list(reductions(grid))), -(-grid.threads // WARP)
    return f"{prelude.need('fw_cluster_begin')}({mbarriers}, {count}, {warps});"


def wait(prelude: Prelude) -> str:
    """The statement after which blocks may send to each other. Every thread reaches it once, before any reduction."""
    prelude.need("fw_cluster_arrive")
    return "fw_cluster_wait();"


def reduction(prelude: Prelude, shape: Shape) -> str:
    """The function `T (T x, S* slot, unsigned long long* m)`; for several lanes it is `void` and changes `T* x`."""
    if shape.name not in prelude:
        for name in ("fw_cluster_send", "fw_cluster_receive"):
            prelude.need(name)
        prelude.define(shape.name, _text(prelude, shape))
    return shape.name


def _text(prelude: Prelude, s: Shape) -> str:
    t, slot = value_type(s.dtype), value_type(s.slot)
    one, c = s.lanes == 1, s.cluster
    whole = s.group * s.stride == s.threads
    block = "" if whole else _times(f"t / {s.group * s.stride}", s.stride)
    group = " + ".join(x for x in (block, _rest(s.stride)) if x)
    mine = _times(group if s.stride == 1 else f"({group})", s.lanes * c) if group else ""
    position = _over("t", s.stride) + ("" if whole else f" % {s.group}")
    at, value = ("", "x") if one else (f" + l * {c}", "v[l]")
    narrow = s.slot is not s.dtype
    send = f"fw_cluster_send(slot{at} + us, {f'({slot})' if narrow else ''}{value}, m, {{}});"
    each = f"for (int l = 0; l < {s.lanes}; ++l) "
    if s.group < c:
        to, send = f"for (int r = {position}; r < {c}; r += {s.group}) ", send.format("r")
    else:
        to, send = f"if (p < {c}) ", send.format("p")
    cast = f"({t})" if narrow else ""
    gather = [
        f"{'x' if one else f'{t} x'} = {cast}slot[{'0' if one else f'l * {c}'}];",
        "#pragma unroll",
        f"for (int r = 1; r < {c}; ++r) {{",
        f"  const {t} y = {cast}slot[{'r' if one else f'l * {c} + r'}];",
        f"  x = {combine(prelude, s.monoid, s.dtype, 'x', 'y')};",
        "}",
    ]
    lines = [
        f"// {s.monoid} over the {c} blocks of a cluster, in the order of their ranks",
        f"{_FN} {f'{t} {s.name}({t} x' if one else f'void {s.name}({t}* v'}, {slot}* slot, unsigned long long* m) {{",
        f"  const unsigned t = threadIdx.x, us = blockIdx.x % {c}{f', p = {position}' if s.group >= c else ''};",
        *([f"  slot += {mine};"] if mine else []),
        f"  {to}{'' if one else each}{send}",
        f"  fw_cluster_receive(m, {s.bytes});",
    ]
    if one:
        return "\n".join([*lines, *(f"  {line}" for line in gather), "  return x;", "}"])
    inner = [f"    {line}" for line in [*gather, "v[l] = x;"]]
    return "\n".join([*lines, "  #pragma unroll", f"  {each}{{", *inner, "  }", "}"])


def _over(text: str, n: int) -> str:
    return f"{text} / {n}" if n > 1 else text


def _times(text: str, n: int) -> str:
    return f"{text} * {n}" if n > 1 else text


def _rest(n: int) -> str:
    return f"t % {n}" if n > 1 else ""


__all__ = ["Shape", "begin", "first", "reduction", "reductions", "shape_of", "wait"]
