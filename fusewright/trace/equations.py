"""Graph equations run by torch, one after the other: what runs where no kernel does.

An `Equations` is the target of a node for a unit that has no operator of PyTorch behind it: the units of a definition
(`defined.py`). It is called with the tensors that the unit reads, its scalars and its sizes, and gives what the IR says
(`graph/ir.py`): a fallback, an index out of range, a check and an empty tensor come here. Values are held as in the
interpreter: 16-bit floats in float32, rounded where the IR rounds and where they leave the unit. u32 is held in int64.
A unit that is a view gives one; the results of all others are in memory of their own, laid out as traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ..core.dtypes import DType, bool_, compute_type, u32
from ..core.errors import CompilerError
from ..graph.ir import Eqn, Shape, Value
from ..index.expr import Ix
from ..prims import philox
from ..prims.table import ARG_MONOIDS, MONOIDS
from ..run.random_ops import RANDOM
from .types import TO_TORCH

Env = dict[Value, torch.Tensor]


def torch_type(d: DType) -> torch.dtype:
    """The type that tensors of `d` are held in."""
    return torch.int64 if d is u32 else TO_TORCH[d]


class Equations:
    """A function of (tensors of `reads`, numbers of `hosts`, sizes of `symbols`) that gives `results`.

    `device`: of what is made from nothing; `strides`: of each result, None for a unit that is a view. One result comes
    as a tensor, several as a tuple.
    """

    pure = True  # `effects.py` asks

    __module__ = __name__

    def __init__(
        self,
        name: str,
        eqns: Sequence[Eqn],
        reads: Sequence[Value],
        results: Sequence[Value],
        device: torch.device,
        strides: Sequence[Shape] | None,
    ):
        self.__name__ = name
        self.eqns, self.reads, self.results, self.device = tuple(eqns), tuple(reads), tuple(results), device
        self.strides, self.is_view = strides, strides is None
        self.hosts, self.symbols = parameters(eqns, strides or ())

    def __call__(self, *given: Any) -> Any:
        n = len(self.reads)
        env: Env = dict(zip(self.reads, given[:n], strict=True))
        numbers = dict(zip((*self.hosts, *self.symbols), given[n:], strict=True))
        out = evaluate(self.eqns, self.results, env, numbers, self.device)
        if self.strides is not None:
            theirs = {t.untyped_storage()._cdata for t in given[:n]}
            out = [_own(t, theirs, s, numbers) for t, s in zip(out, self.strides, strict=True)]
        return out[0] if len(out) == 1 else tuple(out)

    def __repr__(self) -> str:
        return self.__name__


def _own(t: torch.Tensor, theirs: set[Any], strides: Shape, numbers: Mapping[str, Any]) -> torch.Tensor:
    """`t` with these strides, in memory that is not one of `theirs`."""
    wanted = tuple(int(n.evaluate(numbers)) for n in strides)
    there = all(n == 1 or a == b for n, a, b in zip(t.shape, t.stride(), wanted, strict=True)) or not t.numel()
    if there and t.untyped_storage()._cdata not in theirs:
        return t
    return torch.empty_strided(t.shape, wanted, dtype=t.dtype, device=t.device).copy_(t)


def parameters(eqns: Sequence[Eqn], more: Any = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The host scalars and the size symbols that equations mention (and expressions in the tuple `more`)."""
    hosts: dict[str, None] = {}
    symbols: set[str] = set()

    def look(e: object) -> None:
        if isinstance(e, Ix):
            symbols.update(a.name for a in e.atoms() if a.kind == "sym")
        elif isinstance(e, tuple):
            for part in e:
                look(part)

    for e in eqns:
        look(e.out.shape)
        if e.op == "scalar" and isinstance(e.params[0], str):
            hosts[e.params[0]] = None
        else:
            look(e.params)
    look(tuple(more))
    return tuple(hosts), tuple(sorted(symbols))


def evaluate(
    eqns: Sequence[Eqn], results: Sequence[Value], env: Env, numbers: Mapping[str, Any], device: torch.device
) -> list[torch.Tensor]:
    """The tensors of `results`; `env` has those that the equations read, and gets all others."""
    for e in eqns:
        shape = tuple(int(n.evaluate(numbers)) for n in e.out.shape)
        out = _RULES[e.op](_Step(e, env, numbers, shape, device))
        if tuple(out.shape) != shape:
            raise CompilerError(f"{e.op} made {tuple(out.shape)} for {e.out}, {shape}", "equations")
        env[e.out] = out
    return [_stored(env[v], v.dtype) for v in results]


def _stored(t: torch.Tensor, d: DType) -> torch.Tensor:
    return t if t.dtype is TO_TORCH[d] else t.to(TO_TORCH[d])


class _Step:
    """One equation, its operands and its sizes."""

    __slots__ = ("device", "e", "env", "numbers", "shape")

    def __init__(self, e: Eqn, env: Env, numbers: Mapping[str, Any], shape: tuple[int, ...], device: torch.device):
        self.e, self.env, self.numbers, self.shape, self.device = e, env, numbers, shape, device

    def __getitem__(self, k: int) -> torch.Tensor:
        """Operand `k` as it is held."""
        return self.env[self.e.inputs[k]]

    def wide(self, k: int) -> torch.Tensor:
        """Operand `k` in the type that it is computed in."""
        t, d = self[k], self.e.inputs[k].dtype
        return t.to(TO_TORCH[compute_type(d)]) if d.is_reduced and t.dtype is TO_TORCH[d] else t

    def number(self, n: Ix) -> int:
        return int(n.evaluate(self.numbers))


def _map(s: _Step) -> torch.Tensor:
    out = TORCH[s.e.params[0]](*(s.wide(k) for k in range(len(s.e.inputs))))
    return out.expand(s.shape)


def _cast(s: _Step) -> torch.Tensor:
    to, keep = s.e.params
    x = s.wide(0)
    if to is bool_:
        return x != 0
    if to.is_reduced:
        return x.to(TO_TORCH[to]) if keep else x.to(torch.float32)
    return x.to(torch_type(to))


def _const(s: _Step) -> torch.Tensor:
    return torch.full((), s.e.params[0], dtype=torch_type(compute_type(s.e.out.dtype)), device=s.device)


def _scalar(s: _Step) -> torch.Tensor:
    what = s.e.params[0]
    value = s.numbers[what] if isinstance(what, str) else s.number(what)
    return torch.full((), value, dtype=torch_type(compute_type(s.e.out.dtype)), device=s.device)


def _affine(s: _Step) -> torch.Tensor:
    x, shape = s[0], s.shape
    rows = [(s.number(o), [(k, s.number(c)) for k, c in terms]) for o, terms in s.e.params[0]]
    if 0 in shape:
        return x.new_empty(shape)
    for d, (offset, terms) in enumerate(rows):
        ends = [c * (shape[k] - 1) for k, c in terms]
        if offset + sum(min(n, 0) for n in ends) < 0 or offset + sum(max(n, 0) for n in ends) >= x.shape[d]:
            raise IndexError(f"{s.e.out} reads outside dimension {d} of {tuple(x.shape)}")
    if all(c >= 0 for _, terms in rows for _, c in terms):
        strides = [0] * len(shape)
        offset = int(x.storage_offset())
        for (o, terms), stride in zip(rows, x.stride(), strict=True):
            offset += o * stride
            for k, c in terms:
                strides[k] += c * stride
        return x.as_strided(shape, strides, offset)
    index = []
    for o, terms in rows:
        at = torch.full((), o, dtype=torch.int64, device=x.device)
        for k, c in terms:
            at = at + c * _along(len(shape), k, shape[k], x.device)
        index.append(at)
    return x[tuple(index)].expand(shape)


def _along(rank: int, dim: int, n: int, device: torch.device) -> torch.Tensor:
    """0, 1, ..., n - 1 along `dim`."""
    return torch.arange(n, device=device).reshape([n if d == dim else 1 for d in range(rank)])


def _pad(s: _Step) -> torch.Tensor:
    x, fill = s.wide(0), s.wide(1)
    out = fill.expand(s.shape).clone()
    low = [s.number(n) for n in s.e.params[0]]
    out[tuple(slice(a, a + n) for a, n in zip(low, x.shape, strict=True))] = x
    return out


def _picked(s: _Step, spec: Any, first: int, sizes: Sequence[int], points: Sequence[int]) -> list[torch.Tensor]:
    """An index for each dimension of extents `sizes`, broadcastable to `points`; none checked."""
    out = []
    for d, row in enumerate(spec):
        if row[0] == "dim":
            out.append(_along(len(points), row[1], points[row[1]], s[0].device))
            continue
        t = s[first + row[1]].to(torch.int64)
        own = dict(zip(row[2], t.shape, strict=True))
        t = t.permute(sorted(range(t.dim()), key=lambda k: row[2][k]))
        t = t.reshape([own.get(k, 1) for k in range(len(points))])
        out.append(torch.where(t < 0, t + sizes[d], t))
    return out


def _in_range(index: Sequence[torch.Tensor], sizes: Sequence[int], counts: torch.Tensor | None = None) -> None:
    for d, (i, n) in enumerate(zip(index, sizes, strict=True)):
        wrong = (i < 0) | (i >= n)
        if counts is not None:
            wrong = wrong & counts
        if bool(wrong.any()):
            raise IndexError(f"index out of range for dimension {d} of extent {n}")


def _gather(s: _Step) -> torch.Tensor:
    x = s[0]
    if 0 in s.shape:
        return x.new_empty(s.shape)
    index = _picked(s, s.e.params[0], 1, x.shape, s.shape)
    _in_range(index, x.shape)
    return x[tuple(index)].expand(s.shape) if index else x.expand(s.shape)


def _scatter(s: _Step) -> torch.Tensor:
    """In row-major order of the source: of several values for one place the last one stays."""
    how, masked, spec = s.e.params
    base, src = s.wide(0), s.wide(1)
    counts = s[2].expand(src.shape) if masked else torch.ones(src.shape, dtype=torch.bool, device=src.device)
    index = [i.expand(src.shape) for i in _picked(s, spec, 2 + masked, base.shape, src.shape)]
    _in_range(index, base.shape, counts)
    place = torch.zeros(src.shape, dtype=torch.int64, device=src.device)
    for i, n in zip(index, base.shape, strict=True):
        place = place * n + i
    place, values = place[counts], src[counts]
    flat = base.reshape(-1).clone()
    if how == "set":
        last = torch.full_like(flat, -1, dtype=torch.int64)
        last.scatter_reduce_(0, place, torch.arange(len(place), device=src.device), "amax")
        return torch.where(last >= 0, values[last.clamp(min=0)], flat).reshape(s.shape) if len(place) else base.clone()
    if how == "sum":
        return flat.index_put_((place,), values, accumulate=True).reshape(s.shape)
    reduce = {"prod": "prod", "max": "amax", "min": "amin"}[how]
    if flat.dtype is torch.bool:
        return flat.to(torch.uint8).scatter_reduce_(0, place, values.to(torch.uint8), reduce).bool().reshape(s.shape)
    return flat.scatter_reduce_(0, place, values, reduce).reshape(s.shape)


def _reduce(s: _Step) -> torch.Tensor:
    name, axes = s.e.params
    x = s.wide(0)
    if name in ARG_MONOIDS:
        t = x.to(torch.uint8) if x.dtype is torch.bool else x
        return (torch.argmax if name == "argmax" else torch.argmin)(t, dim=axes[0], keepdim=True)
    if any(x.shape[d] == 0 for d in axes):
        identity = MONOIDS[name].identity(s.e.out.dtype)
        return torch.full(s.shape, identity, dtype=x.dtype, device=x.device)
    if name == "prod":
        for d in axes:
            x = x.prod(dim=d, keepdim=True, dtype=x.dtype)
        return x
    if name == "sum":
        return x.sum(dim=axes, keepdim=True, dtype=x.dtype)
    f: Any = {"max": torch.amax, "min": torch.amin, "any": torch.any, "all": torch.all}[name]
    out: torch.Tensor = f(x, dim=axes, keepdim=True)
    return out


def _scan(s: _Step) -> torch.Tensor:
    name, axis = s.e.params
    x = s.wide(0)
    if name in ("sum", "prod"):
        return (torch.cumsum if name == "sum" else torch.cumprod)(x, dim=axis, dtype=x.dtype)
    if name == "logaddexp":
        return torch.logcumsumexp(x, dim=axis)
    t = x.to(torch.uint8) if x.dtype is torch.bool else x
    most = name in ("max", "lastmax", "any")
    return (torch.cummax if most else torch.cummin)(t, dim=axis).values.to(x.dtype)


def _iota(s: _Step) -> torch.Tensor:
    dim = s.e.params[0]
    return _along(len(s.shape), dim, s.shape[dim], s.device).expand(s.shape)


def _random(s: _Step) -> torch.Tensor:
    kind, index = s.e.params
    if kind == "bits":
        layout = philox.bits if s.device.type == "cpu" else philox.quads
        drawn = layout(int(s[0][index]), *philox.place(s.shape)).astype(np.int64)
        return torch.from_numpy(drawn).to(s.device)
    out: torch.Tensor = RANDOM(s[0], index, s.shape, kind, torch_type(compute_type(s.e.out.dtype)))
    return out


_RULES: dict[str, Callable[[_Step], torch.Tensor]] = {
    "map": _map,
    "cast": _cast,
    "const": _const,
    "scalar": _scalar,
    "affine": _affine,
    "reshape": lambda s: s[0].reshape(s.shape),
    "pad": _pad,
    "cat": lambda s: torch.cat([s.wide(k) for k in range(len(s.e.inputs))], dim=s.e.params[0]),
    "gather": _gather,
    "scatter": _scatter,
    "reduce": _reduce,
    "scan": _scan,
    "iota": _iota,
    "random": _random,
}


def _fma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """a * b + c with the product exact, as far as float64 goes."""
    return (a.to(torch.float64) * b.to(torch.float64) + c.to(torch.float64)).to(a.dtype)


# Primitive -> what torch calls it.
TORCH: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "floordiv": torch.floor_divide,
    "truncdiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "pow": torch.pow,
    "atan2": torch.atan2,
    "hypot": torch.hypot,
    "copysign": torch.copysign,
    "max": torch.maximum,
    "min": torch.minimum,
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "lastmax": lambda a, b: torch.where((a > b) | (a != a), a, b),
    "lastmin": lambda a, b: torch.where((a < b) | (a != a), a, b),
    "logaddexp": torch.logaddexp,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "shl": torch.bitwise_left_shift,
    "shr": torch.bitwise_right_shift,
    **{name: getattr(torch, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "where": torch.where,
    "not": torch.bitwise_not,
    **{
        name: getattr(torch, name)
        for name in (
            *("neg", "abs", "sign", "floor", "ceil", "trunc", "round", "isnan", "signbit", "sqrt", "rsqrt"),
            *("reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin"),
            *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma"),
        )
    },
    "fma": _fma,
    "fast_exp2": torch.exp2,
    "fast_reciprocal": torch.reciprocal,
    "fast_div": torch.div,
    "far_reciprocal": torch.reciprocal,
    "far_div": torch.div,
    "fast_sqrt": torch.sqrt,
    "fast_erfc": torch.erfc,
    "fast_expm1": torch.expm1,
    "fast_log": torch.log,
    "fast_log1p": torch.log1p,
}
