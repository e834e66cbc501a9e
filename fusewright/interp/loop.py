"""Runs Loop IR in NumPy: the executable meaning of `loop/ir.py`, and a checker of its memory accesses.

Reported as InterpError, with the statement
- an index outside a buffer;
- a read of an element of scratch or of an output that nothing has written;
- a race: inside one parallel region, an element written by one thread and read or written by another;
- a division by zero by `udiv`; a loop whose step is < 1.

Threads run one after the other. Private scratch starts every region anew. Every register is an array of `lanes`
elements. The alignment that hint "stream" needs is not checked: an array's address is not the tensor's.

`run` takes kernels for CUDA, too; `interp/gpu.py` runs them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from ..core.dtypes import numpy_type
from ..loop.ir import (
    Alloc,
    Arg,
    Buf,
    Fail,
    For,
    Func,
    If,
    Imm,
    Let,
    Parallel,
    Prefetch,
    Set,
    Stmt,
    Store,
    Turn,
    Var,
    walk,
)
from ..loop.text import head
from . import gpu
from .values import InterpError, Memory, bind, literal, narrow, operate, scalars

__all__ = ["InterpError", "run"]

_NOBODY, _MANY = -1, -2


class _Memory(Memory):
    """A buffer, and who touched its elements in the current region.

    `constant`: every element holds a value, and no statement writes one. `writers`, `readers`: the threads that touched
    any element: only where there are others than the running one are elements looked at.
    """

    __slots__ = ("constant", "reader", "readers", "writer", "writers")

    def __init__(self, data: np.ndarray, held: bool):
        super().__init__(data, held)
        self.constant = held
        self.writer = np.full(data.size, _NOBODY, np.int32)
        self.reader = np.full(data.size, _NOBODY, np.int32)
        self.writers: set[int] = set()
        self.readers: set[int] = set()

    def settle(self) -> None:
        """Forget who touched what: a region has ended."""
        if self.writers:
            self.writer.fill(_NOBODY)
            self.writers.clear()
        if self.readers:
            self.reader.fill(_NOBODY)
            self.readers.clear()


@lru_cache(64)
def _lanes(count: int) -> np.ndarray:
    out = np.arange(count)
    out.flags.writeable = False
    return out


def run(
    func: Func,
    buffers: dict[str, np.ndarray],
    sizes: dict[str, int] | None = None,
    hosts: dict[str, Any] | None = None,
    threads: int = 2,
) -> bool:
    """Run a kernel on flat arrays, in place; on a CPU with `threads` threads per region. Returns whether it failed.

    Arrays have the buffers' NumPy types; bf16 is float32 with values that bf16 can hold. Two buffers may be the same
    array. Raises InterpError for a forbidden access and CompilerError for arguments that do not fit the kernel.
    """
    if func.target == "cuda":
        return gpu.run(func, buffers, sizes, hosts)
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
        self.stmt: Stmt | None = None
        self.memory = bind(func, buffers, _Memory)
        self.regs = scalars(func, sizes, hosts)
        self.literals: dict[int, np.ndarray] = {}  # by the identity of what the kernel holds
        for a in func.allocs:
            self.allocate(a)
        for s in walk(func.body):
            if isinstance(s, (Store, Turn)):
                self.memory[(s.buf if isinstance(s, Store) else s.into).name].constant = False

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
            made = self.literals.get(id(a))
            if made is None:
                made = self.literals[id(a)] = literal(a)
            return made
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
                case Turn():
                    self.turn(s)
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
    def where(self, b: Buf, index: np.ndarray, lanes: int, mask: np.ndarray | None) -> np.ndarray:
        """The positions of the lanes that are on. Reports those outside the buffer."""
        at = index[0] + _lanes(lanes) if len(index) == 1 < lanes else index
        if mask is not None:
            at = at[mask]
        size = self.memory[b.name].data.size
        if len(at) and (np.minimum.reduce(at) < 0 or np.maximum.reduce(at) >= size):
            outside = at[(at < 0) | (at >= size)]
            self.error(f"index {outside[0]} is outside buffer '{b.name}' of {size} elements")
        return at

    def conflict(self, b: Buf, at: np.ndarray, who: np.ndarray, verb: str, did: str) -> None:
        """Report an element at which `who` names another thread of this region."""
        other = (who[at] != _NOBODY) & (who[at] != self.thread)
        if np.count_nonzero(other):
            k = int(at[other][0])
            by = "several threads" if who[k] == _MANY else f"thread {who[k]}"
            self.error(f"race: thread {self.thread} {verb} element {k} of '{b.name}', which {by} {did} in this region")

    def load(self, s: Let) -> np.ndarray:
        b, lanes = s.buf, s.dst.lanes
        assert b is not None
        m = self.memory[b.name]
        mask = self.value(s.args[1]) if len(s.args) > 1 else None
        index = self.value(s.args[0])
        if s.op == "strided":
            index = index[0] + _lanes(lanes) * s.attr
        if m.constant and mask is None and len(index) == 1 and 0 <= (first := int(index[0])) <= m.data.size - lanes:
            return m.data[first : first + lanes].astype(numpy_type(s.dst.dtype))
        at = self.where(b, index, lanes, mask)
        if not m.constant:
            self.read(b, m, at)
        if mask is None:
            return m.data[at].astype(numpy_type(s.dst.dtype), copy=False)
        out: np.ndarray = np.zeros(lanes, numpy_type(s.dst.dtype))
        out[mask] = m.data[at]
        return out

    def read(self, b: Buf, m: _Memory, at: np.ndarray) -> None:
        """Check that elements hold what this thread may read, and note that it has."""
        held = m.held[at]
        if np.count_nonzero(held) < len(held):
            self.error(f"element {at[~held][0]} of '{b.name}' is read before it is written")
        if self.thread is None:
            return
        if m.writers and m.writers != {self.thread}:
            self.conflict(b, at, m.writer, "reads", "wrote")
        if m.readers and m.readers != {self.thread}:
            seen = m.reader[at]
            m.reader[at] = np.where((seen == _NOBODY) | (seen == self.thread), self.thread, _MANY)
        else:
            m.reader[at] = self.thread
        m.readers.add(self.thread)

    def store(self, s: Store) -> None:
        b = s.buf
        value = self.value(s.value)
        mask = self.value(s.mask) if s.mask is not None else None
        at = self.where(b, self.value(s.index), len(value), mask)
        self.written(b, at)
        self.memory[b.name].data[at] = narrow(value if mask is None else value[mask], b)

    def turn(self, s: Turn) -> None:
        rows, cols = np.arange(self.number(s.rows)), np.arange(self.number(s.cols))
        to = (self.number(s.at) + rows[:, None] * self.number(s.pitch) + cols).ravel()
        of = (self.number(s.index) + rows[:, None] + cols * self.number(s.stride)).ravel()
        if len(of):
            source = self.memory[s.buf.name]
            of = self.where(s.buf, of, len(of), None)
            if not source.constant:
                self.read(s.buf, source, of)
            to = self.where(s.into, to, len(to), None)
            self.written(s.into, to)
            self.memory[s.into.name].data[to] = source.data[of]

    def written(self, b: Buf, at: np.ndarray) -> None:
        """Check that this thread may write these elements, and note that it has."""
        m = self.memory[b.name]
        if self.thread is not None:
            if m.writers and m.writers != {self.thread}:
                self.conflict(b, at, m.writer, "writes", "wrote")
            if m.readers and m.readers != {self.thread}:
                self.conflict(b, at, m.reader, "writes", "read")
            m.writer[at] = self.thread
            m.writers.add(self.thread)
        m.held[at] = True

    # --- operations ---
    def let(self, s: Let) -> np.ndarray:
        if s.op in ("load", "gather", "strided"):
            return self.load(s)
        return operate(s, [self.value(a) for a in s.args], lambda message, row: self.error(message))
