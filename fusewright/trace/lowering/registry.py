"""The table from ATen operators to primitives, and what a lowering rule is given.

A rule is a function `rule(ctx, *args, **kwargs)` registered with `@lower(op, ...)`. Arguments arrive translated:
tensors as `Value`, symbolic sizes as `Ix`, floats made of such as `HostFloat`, everything else as in the traced call
(`torch.dtype`, `None`, numbers, lists). It returns one `Value`, or a tuple for an operator with several results (None
for an unused optional). It raises `Refusal(code, detail)` when it cannot express this call: the call then stays
opaque, with that reason. The dtype and shape of what it returns must be those of the traced result; the translator
verifies it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import torch

from ...core.dtypes import DType, bool_
from ...core.errors import Refusal
from ...graph.builder import Builder
from ...graph.ir import Shape, Value
from ...index.expr import ONE, Ix, nonnegative
from ..types import FROM_TORCH, TO_TORCH

Rule = Callable[..., Any]

RULES: dict[Any, Rule] = {}
VIEWS: set[Any] = set()
_aten = torch.ops.aten
# Operators beside views whose rules take 8-bit floats: what eager has for them on a CPU and on GPUs, no arithmetic.
FLOAT8: set[Any] = {
    *(_aten._to_copy.default, torch.ops.prims.convert_element_type.default, _aten.full.default),
    *(_aten.clone.default, _aten.copy.default, _aten.cat.default, _aten.constant_pad_nd.default, _aten.where.self),
    *(_aten.slice_scatter.default, _aten.select_scatter.default, _aten.repeat.default),
    *(_aten.index_select.default, _aten.index.Tensor, _aten.embedding.default),
}


def lower(*ops: Any, view: bool = False, takes: str = "") -> Callable[[Rule], Rule]:
    """Register a rule for operator overloads; `view` marks those that only alias their input.

    `takes`: the kinds of element type (`DType.kind`) that eager has the operators for, where that is not all: tensors
    of others are left to it, for its own error.
    """

    def register(rule: Rule) -> Rule:
        for op in ops:
            if op in RULES:
                raise ValueError(f"{op} has two lowering rules")
            RULES[op] = _of_kinds(rule, takes) if takes else rule
            if view:
                VIEWS.add(op)
        return rule

    return register


def _of_kinds(rule: Rule, takes: str) -> Rule:
    @wraps(rule)
    def checked(ctx: Context, *args: Any, **kwargs: Any) -> Any:
        for a in args:
            if isinstance(a, Value) and a.dtype.kind not in takes:
                raise Refusal("dtype", f"eager does not take {a.dtype}")
        return rule(ctx, *args, **kwargs)

    return checked


@dataclass(frozen=True, slots=True)
class HostFloat:
    """A float that the host computes from sizes when the program runs (a SymFloat): the FX node of this name."""

    name: str


@dataclass(slots=True)
class Context:
    """What a rule works with.

    `b` builds equations. `dtypes`, `shapes`: of the traced results, in order. `exact_rounding`: the option
    precision="eager". `rng`: "philox" or "eager". `fma`: whether a product joins a sum unrounded where it does in
    eager. `device`: the kind of device, "cpu" or "cuda". `positive`: whether an extent is known never to be 0.
    """

    b: Builder
    dtypes: tuple[DType, ...]
    shapes: tuple[Shape, ...]
    exact_rounding: bool = False
    rng: str = "philox"
    fma: bool = True
    device: str = "cpu"
    positive: Callable[[Ix], bool] = lambda n: nonnegative(n - ONE)

    @property
    def dtype(self) -> DType:
        """The first result's type."""
        return self.dtypes[0]

    @property
    def shape(self) -> Shape:
        return self.shapes[0]

    def operand(self, x: Any, dtype: DType) -> Value:
        """A tensor, number or symbolic number as a value of `dtype`."""
        if isinstance(x, Value):
            return self.b.cast(x, dtype)
        if isinstance(x, Ix):
            return self.b.cast(self.b.scalar(x, FROM_TORCH[torch.int64]), dtype)
        if isinstance(x, HostFloat):
            return self.b.cast(self.b.scalar(x.name, FROM_TORCH[torch.float64]), dtype)
        if isinstance(x, (bool, int, float)):
            return self.b.const(x, dtype)
        raise Refusal("argument", f"cannot use a {type(x).__name__} as an operand")

    def dim(self, d: int, rank: int) -> int:
        """A dimension counted from the front."""
        return d + rank if d < 0 else d

    def dims(self, ds: Any, rank: int) -> list[int]:
        """Dimensions counted from the front; None or an empty list means all of them."""
        if ds is None or (isinstance(ds, (list, tuple)) and not ds):
            return list(range(rank))
        if isinstance(ds, int):
            ds = [ds]
        return [self.dim(d, rank) for d in ds]

    def promote(self, *args: Any) -> DType:
        """The common type of operands under PyTorch's promotion rules (dimensioned > 0-d > number)."""
        slots: list[torch.dtype | None] = [None, None, None]
        for a in args:
            if isinstance(a, Value):
                slot, t = (0 if a.rank else 1), TO_TORCH[a.dtype]
            elif isinstance(a, bool):
                slot, t = 2, torch.bool
            elif isinstance(a, (int, Ix)):
                slot, t = 2, torch.int64
            elif isinstance(a, (float, HostFloat)):
                slot, t = 2, torch.get_default_dtype()
            else:
                raise Refusal("argument", f"cannot use a {type(a).__name__} as an operand")
            have = slots[slot]
            slots[slot] = t if have is None else torch.promote_types(have, t)
        best = _combine(slots[0], _combine(slots[1], slots[2]))
        if best is None or best not in FROM_TORCH:
            raise Refusal("dtype", f"no common type for {args}")
        return FROM_TORCH[best]


def _combine(higher: torch.dtype | None, lower: torch.dtype | None) -> torch.dtype | None:
    """c10's combine_categories: a lower class of operands counts only if its kind of number is a higher one."""
    if higher is None or lower is None:
        return higher or lower
    if higher.is_floating_point or (higher != torch.bool and not lower.is_floating_point):
        return higher
    return torch.promote_types(higher, lower)


def truth(ctx: Context, x: Value) -> Value:
    """`x != 0` as bool."""
    return ctx.b.cast(x, bool_)
