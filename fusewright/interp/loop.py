"""Runs Loop IR in NumPy: the executable meaning of `loop/ir.py`, and a checker of its memory accesses.

Reported as InterpError, with the statement
- an index outside a buffer;
- a read of an element of scratch or of an output that nothing has written;
- a race: inside one parallel region, an element written by one thread and read or written by another;
- a division by zero by `udiv`; a loop whose step is < 1.

Threads run one after the other. Private scratch starts every region anew. Every register is an array of `lanes`
elements. The alignment that hint "stream" needs is not checked: an array's address is not the tensor's.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..core.dtypes import bf16, f16, numpy_type, round_bf16
from ..core.errors import CompilerError
from ..loop.ir import Alloc, Arg, Buf, Fail, For, Func, If, Imm, Let, Parallel, Prefetch, Set, Stmt, Store, Var
from ..loop.text import head
from ..prims import philox
from ..prims.table import MONOIDS, PRIMS

_NOBODY, _MANY = -1, -2


class InterpError(CompilerError):
    """A kernel did something with memory that its IR forbids."""


class _Memory:
    """A buffer's elements, which of them hold a value, and who touched them in the current region."""

    __slots__ = ("data", "held", "reader", "writer")

    def __init__(self, data: np.ndarray, held: bool):
        self.data = data
        self.held = np.full(data.size, held)
        self.writer = np.full(data.size, _NOBODY, np.int32)
        self.reader = np.full(data.size, _NOBODY, np.int32)

    def settle(self) -> None:
        """Forget who touched what: a region has ended."""
        self.writer.fill(_NOBODY)
        self.reader.fill(_NOBODY)


def run(
    func: Func,
    buffers: dict[str, np.ndarray],
    sizes: dict[str, int] | None = None,
    hosts: dict[str, Any] | None = None,
    threads: int = 2,
) -> bool:
    """Run a kernel on flat arrays, in place, with `threads` threads per region. Returns whether it reported failure.

    Arrays have the buffers' NumPy types; bf16 is float32 with values that bf16 can hold. Two buffers may be the same
    array. Raises InterpError for a forbidden access and CompilerError for arguments that do not fit the kernel.
    """
    machine = _Machine(func, buffers, sizes or {}, hosts or {}, threads)
    with np.errstate(all="ignore"):
        machine.block(func.body)
    return machine.failed


class _Machine:
    def __init__(
        self, func: Func, buffers: dict[str, np.ndarray], sizes: dict[str, int], hosts: dict[str, Any], threads: int
    ):
        self.func, self.threads = func, threads
        self.failed = False
        self.thread: int | None = None  # the running thread; None outside regions
        self.regs: dict[str, np.ndarray] = {}
        self.memory: dict[str, _Memory] = {}
        self.stmt: Stmt | None = None
        shared: dict[tuple[int, int], _Memory] = {}  # arrays that go by two names have one shadow
        for b in func.bufs:
            data = self.argument(buffers, b)
            key = (data.__array_interface__["data"][0], data.size)
            found = shared.get(key) if data.size else None
            if found is None or found.data.dtype != data.dtype:
                found = shared[key] = _Memory(data, not b.output)
            elif not b.output:
                found.held.fill(True)
            self.memory[b.name] = found
        for kind, regs, values in (("size", func.sizes, sizes), ("host scalar", func.hosts, hosts)):
            for r in regs:
                if r.name not in values:
                    raise CompilerError(f"no value for {kind} '{r.name}' of kernel '{func.name}'")
                self.regs[r.name] = np.array([values[r.name]], numpy_type(r.dtype))
        for a in func.allocs:
            self.allocate(a)

    def argument(self, buffers: dict[str, np.ndarray], b: Buf) -> np.ndarray:
        data = buffers.get(b.name)
        if data is None:
            raise CompilerError(f"no array for buffer '{b.name}' of kernel '{self.func.name}'")
        if data.ndim != 1 or data.dtype != numpy_type(b.dtype):
            want = np.dtype(numpy_type(b.dtype)).name
            raise CompilerError(f"buffer '{b.name}' must be a flat {want} array, not {data.dtype.name}{data.shape}")
        return data

    def allocate(self, a: Alloc) -> None:
        count = int(self.value(a.count)[0])
        self.memory[a.buf.name] = _Memory(np.zeros(count, numpy_type(a.buf.dtype)), False)

    def error(self, message: str) -> NoReturn:
        where = f", in '{head(self.stmt)}'" if self.stmt is not None else ""
        by = f", by thread {self.thread}" if self.thread is not None else ""
        raise InterpError(f"{message}{where}{by}", stage=f"run loop '{self.func.name}'")

    # --- values ---
    def value(self, a: Arg) -> np.ndarray:
        if isinstance(a, Imm):
            return np.full(a.lanes, a.value, numpy_type(a.dtype))
        found = self.regs.get(a.name)
        if found is None:
            self.error(f"register '{a.name}' has no value")
        return found

    def number(self, a: Arg) -> int:
        return int(self.value(a)[0])

    # --- statements ---
    def block(self, body: list[Stmt]) -> None:
        for s in body:
            self.stmt = s
            match s:
                case Let():
                    self.regs[s.dst.name] = self.let(s)
                case Var():
                    self.regs[s.dst.name] = self.value(s.init)
                case Set():
                    self.regs[s.dst.name] = self.value(s.src)
                case Store():
                    self.store(s)
                case For():
                    lo, hi, step = self.number(s.lo), self.number(s.hi), self.number(s.step)
                    if step < 1:
                        self.error(f"a loop steps by {step}")
                    for i in range(lo, hi, step):
                        self.regs[s.var.name] = np.array([i], np.int64)
                        self.block(s.body)
                case If():
                    self.block(s.then if self.value(s.cond)[0] else s.orelse)
                case Parallel():
                    self.region(s)
                case Fail():
                    self.failed = True
                case Prefetch():
                    pass
                case _:
                    self.error(f"not a statement that runs: {s!r}")

    def region(self, s: Parallel) -> None:
        if self.thread is not None:
            self.error("'parallel' inside 'parallel'")
        outside = self.regs
        for t in range(self.threads):
            self.thread = t
            self.regs = dict(outside)
            self.private()
            self.regs[s.tid.name] = np.array([t], np.int64)
            self.regs[s.nth.name] = np.array([self.threads], np.int64)
            self.block(s.body)
        self.thread = None
        self.regs = outside
        self.private()
        for m in self.memory.values():
            m.settle()

    def private(self) -> None:
        """Scratch of the thread that starts: fresh, so that nothing another thread left can be seen."""
        for a in self.func.allocs:
            if a.scope == "thread":
                m = self.memory[a.buf.name]
                m.held.fill(False)
                m.settle()

    # --- memory ---
    def where(self, b: Buf, index: np.ndarray, lanes: int, mask: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """(lanes that are on, their positions). Reports positions outside the buffer."""
        at = index[0] + np.arange(lanes) if len(index) == 1 else index
        on = np.ones(lanes, bool) if mask is None else mask
        at = at[on]
        size = self.memory[b.name].data.size
        outside = at[(at < 0) | (at >= size)]
        if outside.size:
            self.error(f"index {outside[0]} is outside buffer '{b.name}' of {size} elements")
        return on, at

    def conflict(self, b: Buf, at: np.ndarray, who: np.ndarray, verb: str, did: str) -> None:
        """Report an element at which `who` names another thread of this region."""
        other = (who[at] != _NOBODY) & (who[at] != self.thread)
        if other.any():
            k = int(at[other][0])
            by = "several threads" if who[k] == _MANY else f"thread {who[k]}"
            self.error(f"race: thread {self.thread} {verb} element {k} of '{b.name}', which {by} {did} in this region")

    def load(self, s: Let) -> np.ndarray:
        b, lanes = s.buf, s.dst.lanes
        assert b is not None
        m = self.memory[b.name]
        mask = self.value(s.args[1]) if len(s.args) > 1 else None
        on, at = self.where(b, self.value(s.args[0]), lanes, mask)
        empty = at[~m.held[at]]
        if empty.size:
            self.error(f"element {empty[0]} of '{b.name}' is read before it is written")
        if self.thread is not None:
            self.conflict(b, at, m.writer, "reads", "wrote")
            seen = m.reader[at]
            m.reader[at] = np.where((seen == _NOBODY) | (seen == self.thread), self.thread, _MANY)
        out: np.ndarray = np.zeros(lanes, numpy_type(s.dst.dtype))
        out[on] = m.data[at]
        return out

    def store(self, s: Store) -> None:
        b = s.buf
        m = self.memory[b.name]
        value = self.value(s.value)
        mask = self.value(s.mask) if s.mask is not None else None
        on, at = self.where(b, self.value(s.index), len(value), mask)
        if self.thread is not None:
            self.conflict(b, at, m.writer, "writes", "wrote")
            self.conflict(b, at, m.reader, "writes", "read")
            m.writer[at] = self.thread
        m.data[at] = round_bf16(value[on]) if b.dtype is bf16 else value[on]
        m.held[at] = True

    # --- operations ---
    def let(self, s: Let) -> np.ndarray:
        kind = numpy_type(s.dst.dtype)
        op, lanes = s.op, s.dst.lanes
        if op in ("load", "gather"):
            return self.load(s)
        args = [self.value(a) for a in s.args]
        if op == "round" and s.attr is not None:
            if s.attr is bf16:
                return round_bf16(args[0])
            assert s.attr is f16
            return args[0].astype(np.float16).astype(np.float32)
        if op in PRIMS:
            return np.asarray(PRIMS[op].numpy(*args)).astype(kind, copy=False)
        match op:
            case "cast":
                return args[0].astype(kind)
            case "splat":
                return np.full(lanes, args[0][0], kind)
            case "iota":
                return args[0][0] + np.arange(lanes, dtype=np.int64)
            case "lanemask":
                return np.arange(lanes) < args[0][0]
            case "udiv":
                a, b = args
                if (b < 1).any():
                    self.error(f"udiv of {int(a[0])} by {int(b[b < 1][0])}")
                return (a.view(np.uint64) // b.view(np.uint64)).view(np.int64)  # lanes masked off may hold anything
            case "philox":
                return philox.bits(int(args[0][0]), args[1], args[2], s.attr)
            case "philoxrun":
                stream, offset = divmod(s.attr, 64)
                start = int(args[2][0])
                if start % 64:
                    self.error(f"philoxrun at {start}, which is no multiple of 64")
                return philox.bits(int(args[0][0]), args[1], start + offset + np.arange(lanes), stream)
            case "hreduce":
                return self.hreduce(args[0], s.attr).astype(kind)
        self.error(f"unknown operation '{op}'")

    def hreduce(self, v: np.ndarray, monoid: str) -> np.ndarray:
        """Halves are combined while their number is even: the order in which LLVM's code does it."""
        combine = MONOIDS[monoid].numpy
        while len(v) > 1 and len(v) % 2 == 0:
            half = len(v) // 2
            v = combine(v[:half], v[half:])
        out: np.ndarray = v[:1]
        for k in range(1, len(v)):
            out = combine(out, v[k : k + 1])
        return out
