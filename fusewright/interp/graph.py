"""The executable meaning of the Graph IR, in NumPy.

How values are held: as in `core.dtypes.numpy_type`, except that floats of fewer bits are held in float32 and rounded
only where the IR rounds them: by `cast(round=True)`, where an opaque call reads or makes them, and at graph outputs
(with `round_every_op`, after every equation). Graph outputs of type f16 come back as float16 arrays, of type bf16 as
float32 arrays exact in bfloat16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DType, f16, numpy_type, rounded
from ..core.errors import CompilerError
from ..graph.ir import Eqn, Graph, Shape, Unit, Value
from ..index.expr import Ix
from ..prims import curand, philox
from ..prims.table import ARG_MONOIDS, MONOIDS, PRIMS

Array = np.ndarray
Opaque = Callable[[Unit, Mapping[Value, Array]], Sequence[Array]]


def evaluate(
    graph: Graph,
    inputs: Sequence[Array],
    sizes: Mapping[str, Any] | None = None,
    opaque: Opaque | None = None,
    round_every_op: bool = False,
    layout: philox.Layout = philox.bits,
) -> dict[Value, Array]:
    """Every value of `graph` on `inputs`.

    `sizes`: the size symbols and the named host scalars. `opaque(unit, env)` runs a "torch" unit: it reads the
    unit's operands in `env` and returns an array for each of `unit.results`. `layout`: of random numbers.
    """
    return _Run(graph, sizes or {}, opaque, round_every_op, layout).run(inputs)


def held_type(dtype: DType) -> Any:
    """The NumPy type in which the interpreter holds values of `dtype`."""
    return np.float32 if dtype.is_reduced else numpy_type(dtype)


def convert(x: Array, source: DType, target: DType) -> Array:
    """A cast without the rounding to 16 bits. Floats become integers by truncation, then wrap."""
    if target.is_bool:
        return x != 0
    if source.is_float and target.is_int:
        return np.asarray(x, np.float64).astype(np.int64).astype(numpy_type(target))
    return np.asarray(x).astype(held_type(target))


class _Run:
    def __init__(
        self,
        graph: Graph,
        sizes: Mapping[str, Any],
        opaque: Opaque | None,
        round_every_op: bool,
        layout: philox.Layout,
    ):
        self.graph = graph
        self.layout = layout
        self.sizes = sizes
        self.opaque = opaque
        self.round_every_op = round_every_op
        self.env: dict[Value, Array] = {}

    def run(self, inputs: Sequence[Array]) -> dict[Value, Array]:
        for v, x in zip(self.graph.inputs, inputs, strict=True):
            self.bind(v, x)
        waiting = [u for u in self.graph.units if u.kind == "torch"]
        with np.errstate(all="ignore"):
            for e in self.graph.eqns:
                while waiting and waiting[0].index < e.unit:
                    self.call(waiting.pop(0))
                self.step(e)
            for u in waiting:
                self.call(u)
        for v in self.graph.outputs:
            x = rounded(self.env[v], v.dtype)
            self.env[v] = x.astype(np.float16) if v.dtype is f16 else x
        return self.env

    def bind(self, v: Value, x: Array) -> None:
        x = np.asarray(x)
        if x.shape != self.shape(v.shape):
            raise CompilerError(f"{v} has the shape {x.shape}", "interp.graph")
        self.env[v] = x.astype(held_type(v.dtype))

    def call(self, unit: Unit) -> None:
        if self.opaque is None:
            raise CompilerError(f"{unit.target} is opaque and there is nothing to run it with", "interp.graph")
        for v in unit.reads:
            self.env[v] = rounded(self.env[v], v.dtype)
        for v, x in zip(unit.results, self.opaque(unit, self.env), strict=True):
            self.bind(v, x)

    def step(self, e: Eqn) -> None:
        rule = _RULES.get(e.op)
        if rule is None:
            raise CompilerError(f"no meaning for operation {e.op}", "interp.graph")
        out = np.asarray(rule(self, e, *(self.env[v] for v in e.inputs)))
        if self.round_every_op:
            out = rounded(out, e.out.dtype)
        want = (self.shape(e.out.shape), np.dtype(held_type(e.out.dtype)))
        if (out.shape, out.dtype) != want:
            raise CompilerError(f"{e.op} {e.params} made {out.dtype}{out.shape} for {e.out}", "interp.graph")
        self.env[e.out] = out

    def number(self, n: Ix) -> int:
        return int(n.evaluate(self.sizes))

    def shape(self, s: Shape) -> tuple[int, ...]:
        return tuple(self.number(n) for n in s)


def _map(run: _Run, e: Eqn, *xs: Array) -> Array:
    (prim,) = e.params
    out = np.asarray(PRIMS[prim].numpy(*xs)).astype(held_type(e.out.dtype), copy=False)
    return np.broadcast_to(out, run.shape(e.out.shape))


def _cast(run: _Run, e: Eqn, x: Array) -> Array:
    dtype, keep_rounding = e.params
    out = convert(x, e.inputs[0].dtype, dtype)
    return rounded(out, dtype) if keep_rounding else out


def _const(run: _Run, e: Eqn) -> Array:
    return np.asarray(e.params[0], held_type(e.out.dtype))


def _scalar(run: _Run, e: Eqn) -> Array:
    (what,) = e.params
    value = run.number(what) if isinstance(what, Ix) else run.sizes[what]
    return np.asarray(value).astype(held_type(e.out.dtype))


def _along(rank: int, dim: int, x: Array) -> Array:
    """A vector laid along `dim` of `rank` dims."""
    return x.reshape([x.shape[0] if d == dim else 1 for d in range(rank)])


def _load(x: Array, index: list[Array], shape: tuple[int, ...]) -> Array:
    """x at `index`, one array per dim of x, each broadcastable to `shape`."""
    if 0 in shape:
        return np.empty(shape, x.dtype)
    for d, i in enumerate(index):
        if (i < 0).any() or (i >= x.shape[d]).any():
            raise IndexError(f"index out of range for dimension {d} of extent {x.shape[d]}")
    return np.broadcast_to(x[tuple(index)] if index else x, shape)


def _affine(run: _Run, e: Eqn, x: Array) -> Array:
    (spec,) = e.params
    shape = run.shape(e.out.shape)
    index = []
    for offset, terms in spec:
        i = np.asarray(run.number(offset), np.int64)
        for k, coefficient in terms:
            i = i + run.number(coefficient) * _along(len(shape), k, np.arange(shape[k], dtype=np.int64))
        index.append(i)
    return _load(x, index, shape)


def _reshape(run: _Run, e: Eqn, x: Array) -> Array:
    return x.reshape(run.shape(e.out.shape))


def _pad(run: _Run, e: Eqn, x: Array, fill: Array) -> Array:
    (lo,) = e.params
    out = np.full(run.shape(e.out.shape), fill, x.dtype)
    start = [run.number(v) for v in lo]
    out[tuple(slice(s, s + n) for s, n in zip(start, x.shape, strict=True))] = x
    return out


def _cat(run: _Run, e: Eqn, *xs: Array) -> Array:
    return np.concatenate(xs, axis=e.params[0])


def _gather(run: _Run, e: Eqn, x: Array, *indices: Array) -> Array:
    (spec,) = e.params
    shape = run.shape(e.out.shape)
    index = []
    for d, entry in enumerate(spec):
        if entry[0] == "dim":
            i = _along(len(shape), entry[1], np.arange(shape[entry[1]], dtype=np.int64))
        else:
            i = _index_at(indices[entry[1]], entry[2], shape, x.shape[d])
        index.append(i)
    return _load(x, index, shape)


def _scatter(run: _Run, e: Eqn, base: Array, src: Array, *rest: Array) -> Array:
    how, masked, spec = e.params
    indices = rest[masked:]
    on = np.broadcast_to(rest[0], src.shape) if masked else np.ones(src.shape, bool)
    place = []
    for d, entry in enumerate(spec):
        if entry[0] == "dim":
            i = _along(src.ndim, entry[1], np.arange(src.shape[entry[1]], dtype=np.int64))
        else:
            i = _index_at(indices[entry[1]], entry[2], src.shape, base.shape[d])
        i = np.broadcast_to(i, src.shape)[on]
        if ((i < 0) | (i >= base.shape[d])).any():
            raise IndexError(f"index out of range for dimension {d} of extent {base.shape[d]}")
        place.append(i)
    out = np.array(base)
    if how == "set":
        out[tuple(place)] = src[on]  # of several values for one place the last one stays
    else:
        MONOIDS[how].numpy.at(out, tuple(place), src[on])  # type: ignore[attr-defined]
    return out


def _index_at(t: Array, dims: tuple[int, ...], shape: tuple[int, ...], extent: int) -> Array:
    """An index tensor that lies along `dims` of `shape`, broadcastable to it; negative ones count from the end."""
    if any(n not in (1, shape[k]) for n, k in zip(t.shape, dims, strict=True)):
        raise CompilerError(f"index {t.shape} does not lie along dims {dims} of {shape}", "interp.graph")
    own = dict(zip(dims, t.shape, strict=True))
    t = np.transpose(t, np.argsort(dims)) if dims else t
    i = t.reshape([own.get(k, 1) for k in range(len(shape))]).astype(np.int64)
    return np.where(i < 0, i + extent, i)


def _reduce(run: _Run, e: Eqn, x: Array) -> Array:
    name, axes = e.params
    if name in ARG_MONOIDS:
        (axis,) = axes
        return np.expand_dims(MONOIDS[name].numpy(x, axis=axis), axis).astype(np.int64)
    m = MONOIDS[name]
    initial = x.dtype.type(m.identity(e.out.dtype))
    return m.numpy.reduce(x, axis=tuple(axes), dtype=x.dtype, keepdims=True, initial=initial)  # type: ignore[attr-defined]


def _scan(run: _Run, e: Eqn, x: Array) -> Array:
    name, axis = e.params
    combine = MONOIDS[name].numpy
    if isinstance(combine, np.ufunc):
        return combine.accumulate(x, axis=axis, dtype=x.dtype)
    out = np.array(x)
    along = np.moveaxis(out, axis, 0)
    for k in range(1, len(along)):
        along[k] = combine(along[k - 1], along[k])
    return out


def _iota(run: _Run, e: Eqn) -> Array:
    (dim,) = e.params
    shape = run.shape(e.out.shape)
    return np.broadcast_to(_along(len(shape), dim, np.arange(shape[dim], dtype=np.int64)), shape)


def _random(run: _Run, e: Eqn, seeds: Array) -> Array:
    kind, index = e.params
    shape = run.shape(e.out.shape)
    if kind.startswith("curand"):
        element = np.arange(math.prod(shape)).reshape(shape)
        draw = curand.uniform if kind == "curand_uniform" else curand.normal
        return rounded(draw(seeds[4 * index : 4 * index + 4], element), e.out.dtype).astype(held_type(e.out.dtype))
    row, column = philox.place(shape)
    seed, dtype = int(seeds[index]), held_type(e.out.dtype)
    if kind == "uniform":
        return philox.uniform(seed, row, column, dtype=dtype, layout=run.layout)
    if kind == "normal":
        return philox.normal(seed, row, column, dtype=dtype, layout=run.layout)
    return run.layout(seed, row, column).astype(dtype)


_RULES: dict[str, Callable[..., Array]] = {
    "map": _map,
    "cast": _cast,
    "const": _const,
    "scalar": _scalar,
    "affine": _affine,
    "reshape": _reshape,
    "pad": _pad,
    "cat": _cat,
    "gather": _gather,
    "scatter": _scatter,
    "reduce": _reduce,
    "scan": _scan,
    "iota": _iota,
    "random": _random,
}
