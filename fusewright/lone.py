"""Operations that are alone in their group: which are compiled, and which are left to PyTorch.

A kernel of ours saves no traffic there. It is worth its call (some 10 us on a CPU) where PyTorch goes point by point,
row by row or in two passes, and where it has few blocks on a GPU; `benchmarks/alone.py` and `cliffs.py` measure both.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

import torch
from torch.fx import Node

from .core.dtypes import bf16
from .core.errors import Refusal
from .fusion.build import Built
from .fusion.scalar import walk
from .graph.groups import Group
from .graph.ir import Unit, Value
from .index.expr import Atom, Ix
from .loop.ir import STEPS
from .prims.table import ARG_MONOIDS
from .schedule.cpu import Machine, Schedule
from .schedule.turned import SHORT, WIDE
from .trace.fx import Traced

SINGLE_OP_BYTES = 1 << 20  # a lone operation is compiled when its result is large enough for memory reuse to pay
SINGLE_NARROW_BYTES = 1 << 24  # one that only moves elements of less than four bytes is
SINGLE_SLOW_BYTES = 1 << 14  # one that torch does point by point is, when what it reads is: a scatter, a variance
SINGLE_SLOW_POINTS = 1 << 14  # of a copy that reads across memory in runs of two or three
SINGLE_ROW_BYTES = 1 << 16  # one that torch does row by row is, when its result is
FEW = 10  # elements of a row below which torch pads as fast as vectors of sixteen lanes do
SHORT_ROW = 64  # elements of a row below which torch is slow at it
LONG_ROW = 2048  # elements of a row from which on torch sums up across rows as fast as vectors of sixteen lanes do


class Lone:
    """The part of a compilation that looks at single operations."""

    machine: Machine
    traced: Traced

    @cached_property
    def views(self) -> set[Node]:
        """The nodes that are views."""
        return {self.traced.nodes[u.index] for u in self.traced.graph.units if u.kind == "view"}

    def hint(self, e: Ix) -> int:
        raise NotImplementedError

    def bytes(self, v: Value) -> int:
        raise NotImplementedError

    def built(self, g: Group) -> tuple[Built, Schedule | None]:
        raise NotImplementedError

    def planned(self, g: Group) -> tuple[Built, Schedule] | None:
        """A group's fusion and its schedule on a CPU; None if it has none."""
        try:
            b, s = self.built(g)
        except Refusal:
            return None
        return None if s is None else (b, s)

    def vectors(self, g: Group) -> tuple[Built, Schedule, Atom, int, list[Ix]] | None:
        """A group's fusion, its schedule on a CPU, the axis of its vectors with its extent, and where it reads; None if
        it has no such axis."""
        planned = self.planned(g)
        if planned is None:
            return None
        b, s = planned
        v = next((a for a in b.fusion.axes if a.name == s.vector), None)
        if v is None or v.extent is None:
            return None
        places = [e.data[1] for e in walk([x.body for x in b.fusion.stages]) if e.kind == "load"]
        return b, s, v, self.hint(v.extent), places

    def of_a_copy(self, g: Group, unit: Unit) -> bool:
        """Whether a lone operation alone reads a copy: it costs nothing to compute, but torch makes it.

        (180k float32 numbers, permuted, made contiguous and doubled on two threads: 16 us, 31 in PyTorch.)
        """

        def copied(n: Node) -> bool:
            while n in self.views and len(n.users) == 1:
                n = n.all_input_nodes[0]
            return n.target is torch.ops.aten.clone.default and len(n.users) == 1

        small = max(map(self.bytes, g.outputs)) < SINGLE_SLOW_BYTES
        return not small and any(map(copied, self.traced.nodes[unit.index].all_input_nodes))

    def leave_on_cpu(self, g: Group) -> str:
        """Why a single operation on a CPU is left to torch, or ""."""
        if self.slow_alone(g):
            return ""
        ops = {e.op for e in g.eqns}
        computed = any(e.op == "map" and len(e.inputs) > 1 for e in g.eqns)  # from what was put together
        if "scan" in ops:
            return "single operation"
        if ops & {"gather", "pad"} or ("cat" in ops and not computed):
            return "" if self.moves(g) else "single operation"
        if ops <= {"affine", "reshape", "const"}:
            return "" if self.turns(g) or self.moves(g) else "single operation"
        if max(self.bytes(v) for v in g.outputs) >= SINGLE_OP_BYTES or self.by_rows(g):
            return ""
        if any(e.op == "scatter" and max(map(self.bytes, e.inputs[:2])) >= SINGLE_SLOW_BYTES for e in g.eqns):
            return ""
        return "single operation"

    def slow_alone(self, g: Group) -> bool:
        """Whether torch is slow at a lone reduction or scan on a CPU. It has vectors for sums and extremes of wide
        elements, and sums of bfloat16 (of eight lanes), along memory, if rows are not short; what else there is it
        visits point by point, or in two passes."""
        found = [e for e in g.eqns if e.op in ("reduce", "scan")]
        made = {e.out: e for e in g.eqns}
        read = [v for e in g.eqns for v in e.inputs if v not in made]
        much = max(map(self.bytes, read), default=0)
        if not found or much < SINGLE_SLOW_BYTES:
            return False
        (x,), (monoid, *_) = found[0].inputs, found[0].params
        if found[0].op == "reduce":
            cast = made.get(x)
            sums = monoid == "sum" and cast is not None and cast.op == "cast" and cast.inputs[0].dtype is bf16
            plain = sums or (x.dtype.itemsize >= 4 and (cast is None or cast.op == "affine"))
            if len(found) > 1 or monoid in ARG_MONOIDS or not plain:
                return True
        few = found[0].op == "reduce" and monoid != "sum" and self.hint(found[0].out.numel) < SHORT_ROW
        if much < (SINGLE_SLOW_BYTES if few else SINGLE_OP_BYTES):  # torch visits extremes down few columns one by one
            return False
        wide = self.machine.lanes >= WIDE
        if found[0].op == "reduce" and sums:
            whole = len(found[0].params[1]) == len(x.shape)
            if whole and any(e.op == "map" for e in g.eqns):  # a mean, for which torch does not use its sum
                return True
            if wide:
                return not whole
        planned = self.planned(g)
        if planned is None:
            return False
        _, s = planned
        if s.family.startswith("outer"):
            return not (wide and self.hint(found[0].out.numel) >= LONG_ROW)
        if not wide or found[0].op == "scan":
            return s.vector in s.rows
        points = [self.hint(n) for d, n in enumerate(x.shape) if d in found[0].params[1]]
        return x.dtype.itemsize < 8 and prod(points) < SHORT_ROW

    def moves(self, g: Group) -> bool:
        """Whether a lone operation that computes nothing moves so much that fresh memory is what PyTorch's waits for,
        and its elements are not looked up one by one."""
        most = max(map(self.bytes, g.outputs))
        vectors = self.vectors(g) if most >= SINGLE_OP_BYTES else None
        if vectors is None:
            return False
        b, _, v, columns, places = vectors
        if self.machine.lanes < WIDE and columns < SHORT_ROW:
            return False
        if any(e.op == "pad" and self.hint(e.out.shape[-1]) < FEW for e in g.eqns if e.out.shape):
            return False
        if any(a.kind == "value" and v in a.aux.axes for p in places for a in p.atoms()):
            return False
        narrow = min(x.dtype.itemsize for x in b.fusion.buffers if x.output) < 4
        return not narrow or most >= SINGLE_NARROW_BYTES

    def turns(self, g: Group) -> bool:
        """Whether a lone copy on a CPU reads across memory: torch's goes point by point."""
        if max(map(self.bytes, g.outputs)) < SINGLE_SLOW_BYTES:
            return False
        planned = self.planned(g)
        if planned is None or planned[1].family != "transpose":
            return False
        b, s = planned
        sizes = {a.name: self.hint(a.extent) for a in b.fusion.axes if a.extent is not None}
        long = bool(s.turn) and min(sizes[c] for c in s.cols) >= SHORT
        return long or prod(sizes.values()) >= SINGLE_SLOW_POINTS

    def by_rows(self, g: Group) -> bool:
        """Whether a lone elementwise operation has rows of few elements, of 16-bit floats, or of elements a few apart:
        torch's takes 10 ns and more for a row; ours takes less where vectors have masks."""
        if self.machine.lanes < WIDE or max(map(self.bytes, g.outputs)) < SINGLE_ROW_BYTES:
            return False
        vectors = self.vectors(g)
        if vectors is None or vectors[1].family not in ("pointwise", "transpose"):
            return False
        b, s, v, columns, places = vectors
        steps = [p.coefficient(v) for p in places]
        if any(c is not None and c.as_int() in STEPS for c in steps):
            return bool(s.turn) or 4 * columns >= 3 * self.machine.lanes
        few = columns < SHORT_ROW or any(x.dtype.is_reduced for x in b.fusion.buffers)
        return few and bool(s.rows or s.turn)

    def leave_on_gpu(self, g: Group) -> str:
        """Why a single operation is left to torch. Large transposes of ours are faster, and reductions that are not
        tiny: torch has few blocks for small ones. Of scatters `decide` (`schedule/gpu_scatter.py`) says the rest."""
        moved = max(self.bytes(v) for v in (*g.outputs, *(v for e in g.eqns for v in e.inputs)))
        slow = any(e.op in ("reduce", "scan", "scatter") for e in g.eqns)
        return "" if moved >= (SINGLE_SLOW_BYTES if slow else SINGLE_OP_BYTES) else "single operation"
