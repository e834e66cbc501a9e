"""What the interpreters of Loop IR share: operations on values, and the arguments of a kernel.

A value is an array whose last axis is the register's lanes. The CPU interpreter has no other axis; the CUDA interpreter
has one more, for the threads of a block, of length 1 where all threads hold the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn, TypeVar

import numpy as np

from ..core.dtypes import f16, numpy_type, rounded
from ..core.errors import CompilerError
from ..loop.ir import Buf, Func, Imm, Let
from ..prims import curand, philox
from ..prims.table import MONOIDS, PRIMS


class InterpError(CompilerError):
    """A kernel did something with memory or threads that its IR forbids."""


class Memory:
    """A buffer's elements, and which of them hold a value."""

    __slots__ = ("data", "held")

    def __init__(self, data: np.ndarray, held: bool):
        self.data = data
        self.held = np.full(data.shape, held)


M = TypeVar("M", bound=Memory)


def bind(func: Func, buffers: dict[str, np.ndarray], make: Callable[[np.ndarray, bool], M]) -> dict[str, M]:
    """The memory of a kernel's external buffers. Arrays that go by two names are one memory.

    Raises CompilerError for an array that is missing or does not fit.
    """
    out: dict[str, M] = {}
    shared: dict[tuple[int, int], M] = {}
    for b in func.bufs:
        data = _argument(func, buffers, b)
        key = (data.__array_interface__["data"][0], data.size)
        found = shared.get(key) if data.size else None
        if found is None or found.data.dtype != data.dtype:
            found = shared[key] = make(data, not b.output)
        elif not b.output:
            found.held.fill(True)
        out[b.name] = found
    return out


def _argument(func: Func, buffers: dict[str, np.ndarray], b: Buf) -> np.ndarray:
    data = buffers.get(b.name)
    if data is None:
        raise CompilerError(f"no array for buffer '{b.name}' of kernel '{func.name}'")
    if data.ndim != 1 or data.dtype != numpy_type(b.dtype):
        want = np.dtype(numpy_type(b.dtype)).name
        raise CompilerError(f"buffer '{b.name}' must be a flat {want} array, not {data.dtype.name}{data.shape}")
    return data


def scalars(func: Func, sizes: dict[str, int], hosts: dict[str, Any]) -> dict[str, np.ndarray]:
    """The values of a kernel's scalar parameters. Raises CompilerError for one that is missing or does not fit."""
    out: dict[str, np.ndarray] = {}
    for kind, regs, values in (("size", func.sizes, sizes), ("host scalar", func.hosts, hosts)):
        for r in regs:
            if r.name not in values:
                raise CompilerError(f"no value for {kind} '{r.name}' of kernel '{func.name}'")
            try:
                out[r.name] = np.array([values[r.name]], numpy_type(r.dtype))
            except OverflowError:
                raise CompilerError(f"{kind} '{r.name}' of kernel '{func.name}' does not fit {r.dtype}") from None
    return out


@lru_cache(4096)
def _literal(value: Any, kind: type, lanes: int) -> np.ndarray:
    out: np.ndarray = np.full(lanes, value, kind)
    out.flags.writeable = False
    return out


def literal(a: Imm) -> np.ndarray:
    """The value of a literal, which is not to be written to."""
    kind = numpy_type(a.dtype)
    if not a.value and not isinstance(a.value, int):  # zeros are equal, whatever their sign
        return np.full(a.lanes, a.value, kind)
    return _literal(a.value, kind, a.lanes)


def narrow(values: np.ndarray, b: Buf) -> np.ndarray:
    """Register values as buffer `b` stores them; assigning to its array does the rest."""
    return values if b.dtype is f16 else rounded(values, b.dtype)


def operate(s: Let, args: list[np.ndarray], fail: Callable[[str, int], NoReturn]) -> np.ndarray:
    """The result of an operation that touches no memory and no other thread.

    `fail(message, row)` reports a forbidden operand; `row` is the first thread (of the array's first axis) that has it.
    """
    kind = numpy_type(s.dst.dtype)
    op, lanes = s.op, s.dst.lanes
    if op == "round" and s.attr is not None:
        assert s.attr.is_reduced
        return rounded(args[0], s.attr)
    if op in PRIMS:
        return np.asarray(PRIMS[op].numpy(*args)).astype(kind, copy=False)
    match op:
        case "cast":
            return args[0].astype(kind)
        case "splat":
            return np.repeat(args[0], lanes, axis=-1)
        case "iota":
            apart = args[1] if len(args) > 1 else 1
            return (args[0] + np.arange(lanes, dtype=kind) * apart).astype(kind, copy=False)
        case "quotients":
            return _udiv(args[0] + np.arange(lanes), args[1], fail)
        case "lanemask":
            return np.arange(lanes) < args[0]
        case "lanerange":
            at = args[0] + np.arange(lanes)
            return (at >= 0) & (at < args[1])
        case "udiv":
            return _udiv(args[0], args[1], fail)
        case "philox":
            return philox.bits(args[0], args[1], args[2], s.attr)
        case "philoxword":
            return philox.quads(args[0], args[1], args[2], s.attr)
        case "philoxrun":
            stream, offset = divmod(s.attr, 64)
            start = _multiple(op, args[2], 64, fail)
            return philox.bits(args[0], args[1], start + offset + np.arange(lanes), stream)
        case "philoxquad":
            start = _multiple(op, args[2], 4, fail)
            return philox.quads(args[0], args[1], start + np.arange(lanes), s.attr)
        case "curandword":
            return _curand(curand.bits, args)
        case "curandnormal":
            return _curand(curand.normal, args)
        case "curandrun":
            return _curand(curand.bits, (*args[:4], args[4] + np.arange(lanes)))
        case "hreduce":
            return _hreduce(args[0], s.attr).astype(kind)
        case "hscan":
            return _hscan(args[0], s.attr).astype(kind)
        case "permute":
            return np.concatenate(np.broadcast_arrays(*args), -1)[..., list(s.attr)]
        case "lane":
            return args[0][..., s.attr : s.attr + 1]
    fail(f"unknown operation '{op}'", 0)


def _curand(draw: Callable[..., np.ndarray], args: Sequence[np.ndarray]) -> np.ndarray:
    """Elements drawn by threads whose states may differ: state by state."""
    *state, element = np.broadcast_arrays(*args)
    out = np.empty(element.shape, np.float32 if draw is curand.normal else np.uint32)
    numbers = np.stack([s.astype(np.int64) for s in state], -1)
    for each in np.unique(numbers.reshape(-1, 4), axis=0):
        here = (numbers == each).all(-1)
        out[here] = draw(each, element[here])
    return out


def _row(at: np.ndarray) -> int:
    """The row of a flat position in an array: 0 if it has lanes only."""
    return int(at[0]) if len(at) > 1 else 0


def _multiple(op: str, start: np.ndarray, n: int, fail: Callable[[str, int], NoReturn]) -> np.ndarray:
    bad = np.argwhere(start % n != 0)
    if len(bad):
        fail(f"{op} at {start[tuple(bad[0])]}, which is no multiple of {n}", _row(bad[0]))
    return start.astype(np.int64)


def _udiv(a: np.ndarray, b: np.ndarray, fail: Callable[[str, int], NoReturn]) -> np.ndarray:
    a, b = np.broadcast_arrays(a, b)
    bad = np.argwhere(b < 1)
    if len(bad):
        at = tuple(bad[0])
        fail(f"udiv of {a[at]} by {b[at]}", _row(bad[0]))
    unsigned = np.dtype(f"u{a.dtype.itemsize}")  # lanes that are masked off may hold anything
    return (a.view(unsigned) // b.view(unsigned)).view(a.dtype)


def _hscan(v: np.ndarray, monoid: str) -> np.ndarray:
    out = [v[..., :1]]
    for k in range(1, v.shape[-1]):
        out.append(MONOIDS[monoid].numpy(out[-1], v[..., k : k + 1]))
    return np.concatenate(out, -1)


def _hreduce(v: np.ndarray, monoid: str) -> np.ndarray:
    """Halves are combined while their number is even: the order in which LLVM's code does it."""
    combine = MONOIDS[monoid].numpy
    while v.shape[-1] > 1 and v.shape[-1] % 2 == 0:
        half = v.shape[-1] // 2
        v = combine(v[..., :half], v[..., half:])
    out: np.ndarray = v[..., :1]
    for k in range(1, v.shape[-1]):
        out = combine(out, v[..., k : k + 1])
    return out
