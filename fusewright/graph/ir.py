"""Graph IR: a program as single-assignment equations over tensors.

Grammar (the text format is in `graph/text.py`)
    graph  ::= inputs eqn* outputs
    eqn    ::= values = op(values; params)        # unit, user line
    value  ::= %id : dtype[dim, ...]              dim is an index expression over size symbols
    op     ::= map       prim                      elementwise; operands broadcast as in NumPy
             | cast      to dtype                  `round=True` keeps a downcast's rounding inside a kernel
             | const     value                     a 0-d constant
             | scalar    ix                        a 0-d integer computed from sizes at launch (SymInt), or host float
             | affine    shape, (offset, ((out_dim, coeff), ...)) per input dim
             | reshape   shape                     row-major order kept
             | pad       lo per dim, shape         outside the input the value is the 2nd operand (0-d)
             | cat       dim
             | gather    shape, spec per input dim: ("dim", out_dim) or ("at", operand, out_dims)
             | scatter   how, masked, spec per dim of base: ("dim", src_dim) or ("at", operand, src_dims)
             | reduce    monoid, axes, keepdim
             | scan      monoid, axis
             | iota      shape, dim                index along dim (i64)
             | random    shape, kind, index        operand: i64[n] seeds; stream seeds[index] (prims/philox.py), or for
                                                 curand_* the state seeds[4 index] ... (prims/curand.py)
             | torch                               an opaque call, run by the owner of the unit

Semantics
- `affine`: out[I] = x[J], J_d = offset_d + sum coeff * I_k. Permute, slice, select, flip, expand, diagonal, unfold,
  squeeze and unsqueeze are all this one operation.
- `gather`: out[I] = x[J]; J_d is I_k, or an index tensor at those of I's dims; negative indices count from the
  end; an index out of range makes the kernel report failure, whereupon the group runs in PyTorch, which raises
  its own error.
- `scatter`: operands base, src, a mask if `masked`, index tensors. The result is base, into which every point I of src
  whose mask is true goes in row-major order: out[J] = src[I] ("set") or out[J] combined with src[I] (sum, prod, max,
  min). J_d is I_k, or an index tensor at those of I's dims; signs and range as in `gather`, for points that count. Sums
  and products of 16-bit floats are rounded once, at the end.
- `reduce` over no elements gives the monoid's identity. `argmax`/`argmin` give i64.
- Every operation is pure. Equations are in evaluation order.
- A *unit* is one operation of the traced program (it may expand to several equations). Groups consist of whole
  units, so that any group can instead be run by PyTorch, unit by unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..core.dtypes import DType
from ..index.expr import Ix
from ..index.layout import numel

Shape = tuple[Ix, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A tensor: identity by object. `id` is unique in its graph."""

    id: int
    dtype: DType
    shape: Shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> Ix:
        return numel(self.shape)

    def __repr__(self) -> str:
        return f"%{self.id}:{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True, eq=False)
class Eqn:
    """One equation. `params` is a plain tuple whose meaning depends on `op` (see the grammar)."""

    op: str
    inputs: tuple[Value, ...]
    params: tuple[Any, ...]
    out: Value
    unit: int


OPS = (
    "map",
    "cast",
    "const",
    "scalar",
    "affine",
    "reshape",
    "pad",
    "cat",
    "gather",
    "scatter",
    "reduce",
    "scan",
    "iota",
    "random",
)


SCATTERS = ("set", "sum", "prod", "max", "min")  # how a scatter treats what is already there

KINDS = ("fused", "view", "torch", "host", "item")  # of units


@dataclass(slots=True)
class Unit:
    """One operation of the traced program.

    `kind`: "fused" (has equations), "view" (metadata only: equations exist, so that fused neighbours can see
    through it, but it never becomes a kernel), "torch" (opaque), "host" (sizes and other Python scalars), "item" (one
    result of an operation with several).
    `reason` says why an operation is opaque; `device` where its tensors are ("cpu", "cuda:0").
    """

    index: int
    name: str
    target: str
    where: str
    kind: str
    reads: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    reason: str = ""
    device: str = "cpu"


@dataclass(slots=True)
class Graph:
    """Inputs, equations in order, outputs, and the units they came from."""

    inputs: list[Value] = field(default_factory=list)
    eqns: list[Eqn] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)

    def producers(self) -> dict[Value, Eqn]:
        return {e.out: e for e in self.eqns}
