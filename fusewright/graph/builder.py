"""Builds Graph equations, inferring types and shapes and folding the trivial as it goes.

Every method returns a `Value`; shapes are tuples of index expressions; dimensions and axes are non-negative.
Raises `Refusal` for what the primitives cannot express and `TypeError` for a broken type rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.dtypes import DType, bool_, i64
from ..core.errors import Refusal
from ..index.expr import ONE, ZERO, Ix, IxLike, ix, nonnegative
from ..index.layout import product
from ..prims.table import ARG_MONOIDS, MONOIDS, PRIMS
from .ir import Eqn, Graph, Shape, Value

AffineDim = tuple[IxLike, Sequence[tuple[int, IxLike]]]  # (offset, (output dim, coefficient) ...) of an input dim


def broadcast(*shapes: Shape) -> Shape:
    """The common shape, NumPy's rule. Raises Refusal when two extents cannot be shown equal."""
    rank = max(len(s) for s in shapes)
    out: list[Ix] = []
    for k in range(rank):
        dim = ONE
        for s in shapes:
            j = k - (rank - len(s))
            if j < 0 or s[j] is ONE or s[j] is dim:
                continue
            if dim is not ONE:
                raise Refusal("shape", f"extents {dim} and {s[j]} do not broadcast")
            dim = s[j]
        out.append(dim)
    return tuple(out)


class Builder:
    """Appends equations to `graph` on behalf of the current unit."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.unit = -1
        self._next = 0
        self._consts: dict[Any, Value] = {}

    # --- plumbing ---
    def value(self, dtype: DType, shape: Sequence[IxLike]) -> Value:
        """A value with no equation yet (a graph input or an opaque call's result)."""
        self._next += 1
        return Value(self._next, dtype, tuple(ix(s) for s in shape))

    def input(self, dtype: DType, shape: Sequence[IxLike]) -> Value:
        v = self.value(dtype, shape)
        self.graph.inputs.append(v)
        return v

    def emit(self, op: str, inputs: Sequence[Value], params: tuple[Any, ...], dtype: DType, shape: Shape) -> Value:
        out = self.value(dtype, shape)
        self.graph.eqns.append(Eqn(op, tuple(inputs), params, out, self.unit))
        return out

    @contextmanager
    def transaction(self, unit: int) -> Iterator[None]:
        """Equations appended inside belong to `unit`; they are dropped if an exception leaves the block."""
        mark, before = len(self.graph.eqns), self.unit
        self.unit = unit
        self._consts.clear()
        try:
            yield
        except BaseException:
            del self.graph.eqns[mark:]
            raise
        finally:
            self.unit = before
            self._consts.clear()

    def forget(self) -> None:
        """Do not reuse constants emitted so far (their equations were removed)."""
        self._consts.clear()

    def unit_eqns(self) -> list[Eqn]:
        """The current unit's equations so far."""
        out: list[Eqn] = []
        for e in reversed(self.graph.eqns):
            if e.unit != self.unit:
                break
            out.append(e)
        return out

    # --- leaves ---
    def const(self, value: Any, dtype: DType) -> Value:
        """A 0-d constant; `value` is a Python bool, int or float."""
        if dtype.is_bool:
            value = bool(value)
        elif dtype.is_int:
            value = int(value)
            bits = 8 * dtype.itemsize
            value &= (1 << bits) - 1
            if dtype.kind == "i" and value >> (bits - 1):
                value -= 1 << bits
        else:
            value = float(value)
        key = (repr(value), dtype)
        if key not in self._consts:
            self._consts[key] = self.emit("const", (), (value,), dtype, ())
        return self._consts[key]

    def scalar(self, value: IxLike | str, dtype: DType) -> Value:
        """A 0-d number known at launch: an index expression over sizes, or the name of a host float."""
        if isinstance(value, int):
            value = ix(value)  # a size is not a literal: kernels do not depend on it
        return self.emit("scalar", (), (value,), dtype, ())

    def iota(self, shape: Sequence[IxLike], dim: int) -> Value:
        """i64 tensor whose element is its index along `dim`."""
        return self.emit("iota", (), (dim,), i64, tuple(ix(s) for s in shape))

    def full(self, shape: Sequence[IxLike], value: Any, dtype: DType) -> Value:
        v = value if isinstance(value, Value) else self.const(value, dtype)
        return self.expand(self.cast(v, dtype), shape)

    def random(self, seeds: Value, index: int, shape: Sequence[IxLike], kind: str, dtype: DType) -> Value:
        """`kind` "uniform": [0, 1); "normal": mean 0, variance 1. Element e of stream `seeds[index]`.

        "curand_uniform", (0, 1], and "curand_normal": of the state `seeds[4 * index : 4 * index + 4]`.
        """
        return self.emit("random", (seeds,), (kind, index), dtype, tuple(ix(s) for s in shape))

    # --- elementwise ---
    def map(self, prim: str, *args: Value) -> Value:
        p = PRIMS[prim]
        dtype = p.result_type(tuple(a.dtype for a in args))
        return self.emit("map", args, (prim,), dtype, broadcast(*(a.shape for a in args)))

    def __getattr__(self, name: str) -> Any:
        """`b.exp(x)` for `b.map("exp", x)`; a trailing underscore avoids keywords (`b.and_`)."""
        prim = name.rstrip("_")
        if prim in PRIMS:
            return lambda *args: self.map(prim, *args)
        raise AttributeError(name)

    def cast(self, x: Value, dtype: DType, round: bool = False) -> Value:
        """Convert, as `Tensor.to` does: float to int truncates, anything to bool tests != 0.

        `round` keeps the rounding of a narrowing float cast that the user wrote.
        """
        if x.dtype is dtype:
            return x
        if dtype is bool_:
            return self.map("ne", x, self.const(0, x.dtype))
        return self.emit("cast", (x,), (dtype, round), dtype, x.shape)

    # --- index maps ---
    def affine(self, x: Value, shape: Sequence[IxLike], spec: Sequence[AffineDim]) -> Value:
        """out[I] = x[J] with J_d = offset_d + sum(coeff * I[out_dim]); `spec` has one entry per dim of x."""
        norm = tuple((ix(o), tuple((k, ix(c)) for k, c in cs)) for o, cs in spec)
        out = tuple(ix(s) for s in shape)
        identity = tuple((ZERO, ((k, ONE),)) for k in range(x.rank))
        if norm == identity and out == x.shape:
            return x
        return self.emit("affine", (x,), (norm,), x.dtype, out)

    def permute(self, x: Value, perm: Sequence[int]) -> Value:
        inv = {d: k for k, d in enumerate(perm)}
        return self.affine(x, [x.shape[d] for d in perm], [(0, [(inv[d], 1)]) for d in range(x.rank)])

    def expand(self, x: Value, shape: Sequence[IxLike]) -> Value:
        """Broadcast to `shape` (aligned at the right)."""
        out = tuple(ix(s) for s in shape)
        lead = len(out) - x.rank
        spec: list[AffineDim] = []
        for d in range(x.rank):
            if x.shape[d] is ONE and out[lead + d] is not ONE:
                spec.append((ZERO, []))
            elif x.shape[d] is not out[lead + d]:
                raise Refusal("shape", f"cannot expand {x.shape[d]} to {out[lead + d]}")
            else:
                spec.append((ZERO, [(lead + d, ONE)]))
        return self.affine(x, out, spec)

    def slice(self, x: Value, dim: int, start: IxLike, step: IxLike, length: IxLike) -> Value:
        """x[..., start : start + step*length : step, ...] along `dim`."""
        shape = list(x.shape)
        shape[dim] = ix(length)
        spec = [(ix(start), [(d, ix(step))]) if d == dim else (ZERO, [(d, ONE)]) for d in range(x.rank)]
        return self.affine(x, shape, spec)

    def select(self, x: Value, dim: int, index: IxLike) -> Value:
        shape = [s for d, s in enumerate(x.shape) if d != dim]
        spec = [(ix(index), []) if d == dim else (ZERO, [(d - (d > dim), ONE)]) for d in range(x.rank)]
        return self.affine(x, shape, spec)

    def flip(self, x: Value, dims: Sequence[int]) -> Value:
        spec = [(x.shape[d] - 1, [(d, -1)]) if d in dims else (ZERO, [(d, ONE)]) for d in range(x.rank)]
        return self.affine(x, x.shape, spec)

    def squeeze(self, x: Value, dims: Sequence[int]) -> Value:
        """Drop `dims`, each of extent 1."""
        keep = [d for d in range(x.rank) if d not in dims]
        pos = {d: k for k, d in enumerate(keep)}
        spec: list[AffineDim] = [(0, [(pos[d], 1)] if d in pos else []) for d in range(x.rank)]
        return self.affine(x, [x.shape[d] for d in keep], spec)

    def unsqueeze(self, x: Value, dim: int) -> Value:
        shape = list(x.shape)
        shape.insert(dim, ONE)
        return self.affine(x, shape, [(0, [(d + (d >= dim), 1)]) for d in range(x.rank)])

    def reshape(self, x: Value, shape: Sequence[IxLike]) -> Value:
        """Same elements in row-major order; the number of elements must be provably equal."""
        out = tuple(ix(s) for s in shape)
        if out == x.shape:
            return x
        if product(out) is not x.numel:
            raise Refusal("shape", f"cannot show that {x.shape} and {out} have equally many elements")
        if tuple(s for s in out if s is not ONE) == tuple(s for s in x.shape if s is not ONE):
            src = [k for k, s in enumerate(out) if s is not ONE]
            spec, n = [], 0
            for s in x.shape:
                spec.append((ZERO, [] if s is ONE else [(src[n], ONE)]))
                n += s is not ONE
            return self.affine(x, out, spec)
        return self.emit("reshape", (x,), (), x.dtype, out)

    def pad(self, x: Value, lo: Sequence[IxLike], hi: Sequence[IxLike], fill: Value) -> Value:
        """Surround x with the 0-d value `fill`: `lo[d]` before and `hi[d]` after along each dim, all >= 0."""
        if all(ix(v) is ZERO for v in (*lo, *hi)):
            return x
        shape = tuple(s + a + b for s, a, b in zip(x.shape, lo, hi, strict=True))
        return self.emit("pad", (x, self.cast(fill, x.dtype)), (tuple(ix(v) for v in lo),), x.dtype, shape)

    def cat(self, xs: Sequence[Value], dim: int) -> Value:
        if len(xs) == 1:
            return xs[0]
        shape = list(xs[0].shape)
        for x in xs[1:]:
            if any(a is not b for d, (a, b) in enumerate(zip(shape, x.shape, strict=True)) if d != dim):
                raise Refusal("shape", "cat of extents that cannot be shown equal")
            shape[dim] = shape[dim] + x.shape[dim]
        return self.emit("cat", tuple(xs), (dim,), xs[0].dtype, tuple(shape))

    def gather(
        self, x: Value, indices: Sequence[Value], shape: Sequence[IxLike], spec: Sequence[tuple[Any, ...]]
    ) -> Value:
        """out[I] = x[J]; `spec[d]` is ("dim", k): J_d = I_k, or ("at", n, dims): J_d = indices[n][I[dims]]."""
        return self.emit("gather", (x, *indices), (tuple(spec),), x.dtype, tuple(ix(s) for s in shape))

    def scatter(
        self,
        base: Value,
        src: Value,
        indices: Sequence[Value],
        spec: Sequence[tuple[Any, ...]],
        how: str = "set",
        mask: Value | None = None,
    ) -> Value:
        """`base` with every point of `src` written or combined (`how`) into its place, in row-major order.

        `spec[d]` is ("dim", k): J_d = I_k, or ("at", n, dims): J_d = indices[n][I[dims]]. `mask`, broadcastable to src:
        the points that count.
        """
        for d, s in enumerate(spec):
            if s[0] == "dim" and not nonnegative(base.shape[d] - src.shape[s[1]]):
                raise Refusal("shape", f"cannot show that {src.shape[s[1]]} elements fit in {base.shape[d]}")
        operands = [base, self.cast(src, base.dtype)]
        if mask is not None:
            lead = (ONE,) * (src.rank - mask.rank)
            operands.append(self.reshape(mask, (*lead, *mask.shape)))
        return self.emit("scatter", (*operands, *indices), (how, mask is not None, tuple(spec)), base.dtype, base.shape)

    # --- reductions ---
    def reduce(self, monoid: str, x: Value, axes: Sequence[int], keepdim: bool = False) -> Value:
        """Combine over `axes`. `any`/`all` want bool; `argmax`/`argmin` want one axis and give i64."""
        m = MONOIDS[monoid]
        if x.dtype.kind not in m.kinds:
            raise TypeError(f"{monoid} does not take {x.dtype}")
        drop = sorted(set(axes))
        dtype = i64 if monoid in ARG_MONOIDS else x.dtype
        shape = tuple(ONE if d in drop else s for d, s in enumerate(x.shape))
        live = [d for d in drop if x.shape[d] is not ONE]
        if not live:
            out = self.expand(self.const(0, i64), shape) if monoid in ARG_MONOIDS else x
        else:
            out = self.emit("reduce", (x,), (monoid, tuple(drop)), dtype, shape)
        return out if keepdim else self.squeeze(out, drop)

    def scan(self, monoid: str, x: Value, axis: int) -> Value:
        """Inclusive prefix combination along `axis`."""
        return x if x.shape[axis] is ONE else self.emit("scan", (x,), (monoid, axis), x.dtype, x.shape)
