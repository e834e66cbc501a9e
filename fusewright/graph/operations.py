"""The operations of a definition: the equations of the Graph IR, on `Tensor`s. The primitives are in `units.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtypes import DType, f32, i64, u32
from ..core.errors import UserError
from ..core.switches import suggest
from ..index.expr import ONE, Ix
from ..index.layout import product
from ..prims.table import ARG_MONOIDS, MONOIDS, RANDOM_KINDS, SCANNED
from .builder import Builder
from .ir import SCATTERS, Unit, Value
from .symbolic import Size, SizeLike, Tensor, TensorLike, as_ix, as_shape
from .units import PREFIX, Units, dim_of, dims_of, dtype_of, fitting, users_line

SEEDS = PREFIX + "seeds"  # the one opaque unit: i64 numbers from PyTorch's generator


class Operations(Units):
    """All that can be written in a definition."""

    # --- numbers, casts, leaves ---
    def constant(self, value: bool | int | float, dtype: DType | str) -> Tensor:
        """A 0-d constant."""
        d = dtype_of(dtype)
        return self._unit("constant", lambda b: b.const(fitting(value, d), d))

    def full(self, shape: Any, value: TensorLike, dtype: DType | str) -> Tensor:
        """A tensor of one number (or of a 0-d tensor's)."""
        d, s = dtype_of(dtype), as_shape(shape)
        self._check((value,), "full")
        return self._unit("full", lambda b: b.expand(self._operand(b, value, d), s))

    def iota(self, shape: Any, dim: int = 0) -> Tensor:
        """i64: the index of each element along `dim`."""
        s = as_shape(shape)
        return self._unit("iota", lambda b: b.iota(s, dim_of(dim, len(s))))

    def random(
        self, kind: str, shape: Any, dtype: DType | str = "f32", seeds: Tensor | None = None, index: int = 0
    ) -> Tensor:
        """Random numbers: "uniform" in [0, 1), "normal", or "bits" (integers below 2^32, as i64).

        They are a function of the element and of a seed, `seeds[index]` of an i64 vector (for the kinds curand_* the
        state `seeds[4 * index : 4 * index + 4]`). Without `seeds`, a seed is drawn from PyTorch's generator of the
        device at every execution.
        """
        if kind not in RANDOM_KINDS:
            raise UserError(f"random: no kind {kind!r}: {suggest(kind, RANDOM_KINDS)}")
        d, s = (i64 if kind == "bits" else dtype_of(dtype)), as_shape(shape)
        if kind != "bits" and not d.is_float:
            raise UserError(f"random: {kind} numbers are floats, not {d}")
        given = self._seeds() if seeds is None else self._mine(seeds, "random")
        if given._value.dtype is not i64 or given.ndim != 1:
            raise UserError(f"random: seeds must be a vector of i64, not {given!r}")
        wide = u32 if kind == "bits" else d
        return self._unit("random", lambda b: b.cast(b.random(given._value, index, s, kind, wide), d))

    def _seeds(self) -> Tensor:
        self._open()
        v = self._builder.value(i64, (ONE,))
        units = self.graph.units
        units.append(Unit(len(units), f"seeds_{len(units)}", SEEDS, users_line(), "torch", (), (v,)))
        return Tensor(self, v)

    def cast(self, x: TensorLike, dtype: DType | str, round: bool = False) -> Tensor:
        """Convert: floats to integers by truncation, anything to bool by `!= 0`.

        `round`: the rounding of a cast to a 16-bit type is kept even where the result stays in a kernel.
        """
        t, d = self._mine(x, "cast"), dtype_of(dtype)
        return self._unit("cast", lambda b: b.cast(t._value, d, round))

    # --- index maps ---
    def affine(self, x: Tensor, shape: Any, spec: Sequence[tuple[SizeLike, Sequence[tuple[int, SizeLike]]]]) -> Tensor:
        """out[I] = x[J], J_d = offset + sum of factor * I_k. `spec`: (offset, ((k, factor), ...)) for each dim of x."""
        t, s = self._mine(x, "affine"), as_shape(shape)
        if len(spec) != t.ndim:
            raise UserError(f"affine: {len(spec)} rows for an operand of {t.ndim} dimensions")
        rows = [(as_ix(o), [(dim_of(k, len(s)), as_ix(c)) for k, c in terms]) for o, terms in spec]
        return self._unit("affine", lambda b: b.affine(t._value, s, rows))

    def permute(self, x: Tensor, dims: Sequence[int]) -> Tensor:
        t = self._mine(x, "permute")
        order = [dim_of(d, t.ndim) for d in dims]
        if sorted(order) != list(range(t.ndim)):
            raise UserError(f"permute: {tuple(dims)} is no order of {t.ndim} dimensions")
        return self._unit("permute", lambda b: b.permute(t._value, order))

    def expand(self, x: Tensor, shape: Any) -> Tensor:
        """Broadcast to `shape`, aligned at the right."""
        t, s = self._mine(x, "expand"), as_shape(shape)
        if len(s) < t.ndim:
            raise UserError(f"expand: {t.ndim} dimensions to {len(s)}")
        return self._unit("expand", lambda b: b.expand(t._value, s))

    def slice(
        self, x: Tensor, dim: int, start: SizeLike = 0, stop: SizeLike | None = None, step: SizeLike = 1
    ) -> Tensor:
        """x[..., start:stop:step, ...] along `dim`. Bounds must lie in the tensor: that is checked when sizes are."""
        t = self._mine(x, "slice")
        k = dim_of(dim, t.ndim)
        n = t._value.shape[k]
        low, high = (_from_end(as_ix(v), n) for v in (start, n if stop is None else stop))
        by = as_ix(step)
        known = by.as_int()
        if known is not None and known < 1:
            raise UserError("slice: the step must be at least 1")
        length = high - low if by is ONE else (high - low + by - 1) // by
        if (known := length.as_int()) is not None and known < 0:
            raise UserError(f"slice: {low}:{high} ends before it begins")
        return self._unit("slice", lambda b: b.slice(t._value, k, low, by, length))

    def select(self, x: Tensor, dim: int, index: SizeLike) -> Tensor:
        """One index along `dim`, which is dropped; negative integers count from the end."""
        t = self._mine(x, "select")
        k = dim_of(dim, t.ndim)
        return self._unit("select", lambda b: b.select(t._value, k, _from_end(as_ix(index), t._value.shape[k])))

    def flip(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        t = self._mine(x, "flip")
        return self._unit("flip", lambda b: b.flip(t._value, dims_of(dims, t.ndim)))

    def squeeze(self, x: Tensor, dims: int | Sequence[int]) -> Tensor:
        """Drop dimensions of extent 1."""
        t = self._mine(x, "squeeze")
        drop = dims_of(dims, t.ndim)
        for k in drop:
            if t._value.shape[k] is not ONE:
                raise UserError(f"squeeze: dimension {k} has extent {t._value.shape[k]}")
        return self._unit("squeeze", lambda b: b.squeeze(t._value, drop))

    def unsqueeze(self, x: Tensor, dim: int) -> Tensor:
        t = self._mine(x, "unsqueeze")
        return self._unit("unsqueeze", lambda b: b.unsqueeze(t._value, dim_of(dim, t.ndim + 1)))

    def reshape(self, x: Tensor, shape: Any) -> Tensor:
        """Same elements in row-major order; one extent may be -1. Equally many elements for all sizes."""
        t = self._mine(x, "reshape")
        s = list(as_shape(shape))
        unknown = [k for k, n in enumerate(s) if n.as_int() == -1]
        if len(unknown) > 1:
            raise UserError("reshape: more than one extent is -1")
        if unknown:
            s[unknown[0]] = t._value.numel // product(n for n in s if n.as_int() != -1)
        return self._unit("reshape", lambda b: b.reshape(t._value, s))

    def pad(self, x: Tensor, low: Any, high: Any, value: TensorLike = 0) -> Tensor:
        """`low[d]` elements before and `high[d]` after each dim, filled with a number or 0-d tensor."""
        t = self._mine(x, "pad")
        lo, hi = as_shape(low), as_shape(high)
        self._check((value,), "pad")
        if len(lo) != t.ndim or len(hi) != t.ndim:
            raise UserError(f"pad: {len(lo)} and {len(hi)} widths for {t.ndim} dimensions")
        return self._unit("pad", lambda b: b.pad(t._value, lo, hi, self._operand(b, value, t._value.dtype)))

    def cat(self, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
        """Tensors of one type one after the other along `dim`."""
        ts = [self._mine(x, "cat") for x in tensors]
        if not ts:
            raise UserError("cat takes at least one tensor")
        kinds = {(t._value.dtype, t.ndim) for t in ts}
        if len(kinds) > 1:
            raise UserError("cat takes tensors of one type and rank")
        k = dim_of(dim, ts[0].ndim)
        rest = lambda t: [n for d, n in enumerate(t._value.shape) if d != k]
        for t in ts:
            if rest(t) != rest(ts[0]):
                raise UserError(f"cat: {t!r} and {ts[0]!r} differ in more than dimension {k}")
        return self._unit("cat", lambda b: b.cat([t._value for t in ts], k))

    # --- indices ---
    def gather(self, x: Tensor, shape: Any, spec: Sequence[tuple[Any, ...]], indices: Sequence[Tensor]) -> Tensor:
        """out[I] = x[J]. `spec[d]`: ("dim", k) for J_d = I_k, or ("at", n, dims) for J_d = indices[n][I[dims]].

        Negative indices count from the end; one out of range is an IndexError.
        """
        t, s, at = self._mine(x, "gather"), as_shape(shape), [self._mine(i, "gather") for i in indices]
        rows = self._picks("gather", t, at, spec, len(s))
        return self._unit("gather", lambda b: b.gather(t._value, [i._value for i in at], s, rows))

    def take(self, x: Tensor, index: Tensor, dim: int = 0) -> Tensor:
        """x[..., index, ...]: the dimension `dim` becomes those of `index`."""
        t, i = self._mine(x, "take"), self._mine(index, "take")
        k, n = dim_of(dim, t.ndim), i.ndim
        shape = (*t._value.shape[:k], *i._value.shape, *t._value.shape[k + 1 :])
        at = ("at", 0, tuple(range(k, k + n)))
        spec = [("dim", d) if d < k else at if d == k else ("dim", d + n - 1) for d in range(t.ndim)]
        rows = self._picks("take", t, [i], spec, len(shape))
        return self._unit("take", lambda b: b.gather(t._value, [i._value], shape, rows))

    def take_along(self, x: Tensor, index: Tensor, dim: int) -> Tensor:
        """out[I] = x[I with I_dim replaced by index[I]]; the other extents of `index` are those of x."""
        t, i = self._mine(x, "take_along"), self._mine(index, "take_along")
        k = dim_of(dim, t.ndim)
        spec = [("at", 0, tuple(range(i.ndim))) if d == k else ("dim", d) for d in range(t.ndim)]
        rows = self._picks("take_along", t, [i], spec, i.ndim)
        return self._unit("take_along", lambda b: b.gather(t._value, [i._value], i._value.shape, rows))

    def scatter(
        self,
        base: Tensor,
        src: Tensor,
        spec: Sequence[tuple[Any, ...]],
        indices: Sequence[Tensor] = (),
        how: str = "set",
        mask: Tensor | None = None,
    ) -> Tensor:
        """`base` with every point I of `src` whose mask is true written to, or combined with, its place J in order.

        `how`: "set", "sum", "prod", "max", "min". `spec[d]` of each dim of base as in `gather`, of the dims of src.
        """
        t, s = self._mine(base, "scatter"), self._mine(src, "scatter")
        at = [self._mine(i, "scatter") for i in indices]
        on = None if mask is None else self._mine(mask, "scatter")
        if how not in SCATTERS:
            raise UserError(f"scatter: no way {how!r}: {suggest(how, SCATTERS)}")
        if s._value.dtype is not t._value.dtype:
            raise UserError(f"scatter of {s.dtype} into {t.dtype}")
        if how != "set" and t._value.dtype.kind not in MONOIDS[how].kinds:
            raise UserError(f"scatter: {how} does not take {t.dtype}")
        if on is not None and (not on._value.dtype.is_bool or on.ndim > s.ndim):
            raise UserError(f"scatter: the mask must be of truth values, broadcastable to {s!r}, not {on!r}")
        rows = self._picks("scatter", t, at, spec, s.ndim)
        values = [i._value for i in at]
        where = None if on is None else on._value
        return self._unit("scatter", lambda b: b.scatter(t._value, s._value, values, rows, how, where))

    def _picks(
        self, op: str, x: Tensor, at: Sequence[Tensor], spec: Sequence[tuple[Any, ...]], rank: int
    ) -> list[tuple[Any, ...]]:
        """A checked spec. Extents are checked by the builder and the verifier."""
        for i in at:
            if not i._value.dtype.is_int:
                raise UserError(f"{op}: indices must be integers, not {i.dtype}")
        if len(spec) != x.ndim:
            raise UserError(f"{op}: {len(spec)} rows for {x.ndim} dimensions")
        out: list[tuple[Any, ...]] = []
        for row in spec:
            if row[0] == "dim" and len(row) == 2:
                out.append(("dim", dim_of(row[1], rank)))
                continue
            if row[0] != "at" or len(row) != 3 or not 0 <= row[1] < len(at) or len(row[2]) != at[row[1]].ndim:
                raise UserError(f'{op}: {row!r} is neither ("dim", k) nor ("at", n, dims) of one of {len(at)} indices')
            out.append(("at", row[1], tuple(dim_of(k, rank) for k in row[2])))
        return out

    # --- reductions ---
    def reduce(self, monoid: str, x: Tensor, axes: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """Combine over `axes` (None: all). 16-bit floats are accumulated in float32; "argmax" and "argmin" give i64."""
        t = self._mine(x, "reduce")
        self._monoid("reduce", monoid, t)
        if monoid in SCANNED:
            raise UserError(f"reduce: {monoid} has prefixes only")
        over = list(range(t.ndim)) if axes is None else dims_of(axes, t.ndim)
        if monoid in ARG_MONOIDS and len(over) != 1:
            raise UserError(f"reduce: {monoid} is over one axis, not {len(over)}")
        d = t._value.dtype

        def build(b: Builder) -> Value:
            out = b.reduce(monoid, b.cast(t._value, f32) if d.is_reduced else t._value, over, keepdim)
            return out if monoid in ARG_MONOIDS else b.cast(out, d)

        return self._unit(monoid, build)

    def mean(self, x: Tensor, axes: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """The sum over `axes` by the number of elements; of integers in float32."""
        t = self._mine(x, "mean")
        over = list(range(t.ndim)) if axes is None else dims_of(axes, t.ndim)
        d = t._value.dtype if t._value.dtype.is_float else f32

        def build(b: Builder) -> Value:
            wide = f32 if d.is_reduced else d
            total = b.reduce("sum", b.cast(t._value, wide), over, keepdim)
            n = product(t._value.shape[k] for k in over)
            return b.cast(b.div(total, b.cast(b.scalar(n, i64), wide)), d)

        return self._unit("mean", build)

    def scan(self, monoid: str, x: Tensor, axis: int) -> Tensor:
        """Inclusive prefix combination along `axis`."""
        t = self._mine(x, "scan")
        self._monoid("scan", monoid, t)
        if monoid in ARG_MONOIDS:
            raise UserError(f"scan: {monoid} has no prefixes")
        k, d = dim_of(axis, t.ndim), t._value.dtype
        build = lambda b: b.cast(b.scan(monoid, b.cast(t._value, f32) if d.is_reduced else t._value, k), d)
        return self._unit(f"scan_{monoid}", build)

    def _monoid(self, op: str, monoid: str, t: Tensor) -> None:
        if monoid not in MONOIDS:
            raise UserError(f"{op}: no monoid {monoid!r}: {suggest(str(monoid), MONOIDS)}")
        if t._value.dtype.kind not in MONOIDS[monoid].kinds:
            raise UserError(f"{op}: {monoid} does not take {t.dtype}")

    # --- x[...] ---
    def _index(self, x: Tensor, key: Any) -> Tensor:
        keys = list(key) if isinstance(key, tuple) else [key]
        for k in keys:
            if isinstance(k, bool) or not isinstance(k, (int, Size, slice, type(None), type(...))):
                raise UserError(f"an index must be of integers, sizes, slices, None and ..., not {k!r}; see take")
        used = sum(k is not None and k is not ... for k in keys)
        if keys.count(...) > 1 or used > x.ndim:
            raise UserError(f"too many indices for {x.ndim} dimensions")
        if ... not in keys:
            keys.append(...)
        at, dim = keys.index(...), 0
        keys[at : at + 1] = [slice(None)] * (x.ndim - used)
        out = self._mine(x, "index")
        for k in keys:
            if k is None:
                out, dim = self.unsqueeze(out, dim), dim + 1
            elif isinstance(k, slice):
                if k != slice(None):
                    start, step = (0 if k.start is None else k.start), (1 if k.step is None else k.step)
                    out = self.slice(out, dim, start, k.stop, step)
                dim += 1
            else:
                out = self.select(out, dim, k)
        return out


def _from_end(i: Ix, n: Ix) -> Ix:
    """A position counted from the front."""
    known = i.as_int()
    return i + n if known is not None and known < 0 else i
