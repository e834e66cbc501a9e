"""Runs CUDA kernels in NumPy: the executable meaning of `loop/ir.py`, and a checker of memory and threads.

Launches and clusters of blocks run one after the other; the threads of a cluster (mostly, one block) run in lockstep,
each statement for all of them that are there. A register is an array [threads, lanes], or [1, lanes] where all threads
hold the same.

Reported as InterpError, with the statement, the block and the thread
- an index outside a buffer, also if only a part of a vector is;
- a read of an element of scratch or of an output that nothing has written; `register`, `own` and `block` scratch starts
  every block anew;
- an access of an element that is being copied to, a thread that ends before all that it copies has come;
- a `copy` or an access of `own` scratch at an index that is no multiple of its elements;
- a race in a block: an element written by one thread and read or written by another, with no barrier between, nor a
  `treduce` or `tscan` across warps, nor a `creduce`;
- a race in a launch: an element written in one block and read or written in another, also of a cluster;
- a `barrier`, `treduce`, `tscan` or `last` that not all threads of the block reach, a `creduce` that not all of the
  cluster do;
- a `creduce` of values that are not the same in a group of threads;
- an "aligned" access at an index that is no multiple of the vector's elements, or of 16 bytes' if it has more. Buffers
  themselves are taken as aligned;
- a counter that is not zero when a launch ends;
- a division by zero by `udiv`; a `philoxquad` whose start is no multiple of 4; a loop whose step is < 1.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..core.dtypes import compute_type, numpy_type
from ..loop.ir import (
    WARP,
    Arg,
    Barrier,
    Buf,
    Commit,
    Copy,
    Fail,
    For,
    Func,
    Grid,
    If,
    Imm,
    Let,
    Prefetch,
    Reg,
    Set,
    Stmt,
    Store,
    Var,
    Wait,
)
from ..loop.text import head
from ..prims.table import MONOIDS
from .collectives import creduce, treduce, tscan
from .gpu_memory import MANY, NOBODY, Own, Shared, beside, missing, poison, put
from .values import InterpError, Memory, bind, literal, narrow, operate, scalars

_FIRST = np.zeros(1, np.int64)


def run(
    func: Func, buffers: dict[str, np.ndarray], sizes: dict[str, int] | None = None, hosts: dict[str, Any] | None = None
) -> bool:
    """Run a CUDA kernel on flat arrays, in place. Returns whether it reported failure. See `interp/loop.py`."""
    machine = _Machine(func, buffers, sizes or {}, hosts or {})
    with np.errstate(all="ignore"):
        for s in func.body:
            machine.launch(s)
    return machine.failed


class _Machine:
    def __init__(self, func: Func, buffers: dict[str, np.ndarray], sizes: dict[str, int], hosts: dict[str, Any]):
        self.func = func
        self.failed = False
        self.stmt: Stmt | None = None
        self.epochs = 0
        self.epoch = np.zeros(1, np.int64)  # of each running block
        self.blocks = np.full(1, NOBODY)  # the running blocks, in a launch
        self.block_threads = 1
        self.threads = 1  # of all running blocks
        self.active = np.zeros(1, np.int64)  # the numbers of the threads that run the statement, ascending
        self.regs: dict[str, np.ndarray] = {}
        self.memory: dict[str, Memory] = {}
        self.spans: dict[str, tuple[Arg, ...]] = {}  # the operands of lanerange, by its register
        self.counted: dict[int, list[int]] = {}  # the blocks that each counter has counted
        self.groups = np.ones(1, np.int64)  # of each thread: the group of copies that it commits next
        external = bind(func, buffers, Shared)
        for b in func.bufs:
            if b.output and not external[b.name].watched:
                external[b.name].watch()
        self.memory.update(external)
        self.params = {name: v[None] for name, v in scalars(func, sizes, hosts).items()}
        self.regs = dict(self.params)
        for a in func.allocs:
            if a.scope == "counters":
                self.counted = {k: [] for k in range(int(self.value(a.count)[0, 0]))}
            if a.scope == "grid":
                data: np.ndarray = np.zeros(int(self.value(a.count)[0, 0]), numpy_type(a.buf.dtype))
                self.memory[a.buf.name] = Shared(data, False, True)

    def error(self, message: str, thread: int | None = None) -> NoReturn:
        where = f", in '{head(self.stmt, self.func.index)}'" if self.stmt is not None else ""
        by = ""
        if self.blocks[0] != NOBODY:
            block = self.blocks[(thread or 0) // self.block_threads]
            by = f", in block {block}" if thread is None else f", by thread {self.number(thread)} of block {block}"
        raise InterpError(f"{message}{where}{by}", stage=f"run loop '{self.func.name}'")

    def number(self, thread: int) -> int:
        """The number that a thread has in its block."""
        return int(thread % self.block_threads)

    # --- values ---
    def value(self, a: Arg) -> np.ndarray:
        if isinstance(a, Imm):
            return literal(a)[None]
        found = self.regs.get(a.name)
        if found is None:
            self.error(f"register '{a.name}' has no value")
        return found

    def here(self, v: np.ndarray) -> np.ndarray:
        """The rows of a value that belong to the running threads."""
        return v if len(v) == 1 or len(self.active) == self.threads else v[self.active]

    def spread(self, v: np.ndarray) -> np.ndarray:
        """The inverse of `here`; what the other threads get is never used."""
        if len(v) == 1 or len(self.active) == self.threads:
            return v
        out = np.zeros((self.threads, v.shape[1]), v.dtype)
        out[self.active] = v
        return out

    def all_rows(self, v: np.ndarray, rows: int) -> np.ndarray:
        return v if len(v) == rows else np.broadcast_to(v, (rows, v.shape[1]))

    # --- statements ---
    def launch(self, s: Stmt) -> None:
        self.stmt = s
        if not isinstance(s, Grid):
            self.error("a statement outside 'grid'")
        blocks = int(self.value(s.blocks)[0, 0])
        if blocks < 0:
            self.error(f"a launch of {blocks} blocks")
        if blocks % s.cluster:
            self.error(f"a launch of {blocks} blocks in clusters of {s.cluster}")
        index = numpy_type(self.func.index)
        n = s.cluster
        self.block_threads, self.threads = s.threads, s.threads * n
        for m in self.memory.values():
            if isinstance(m, Shared):
                m.settle()
        for b in range(0, blocks, n):
            self.blocks = b + np.arange(n)
            self.epochs += 1
            self.epoch = np.full(n, self.epochs)
            self.active = np.arange(self.threads)
            for a in self.func.allocs:
                kind = numpy_type(a.buf.dtype)
                count = int(self.value(a.count)[0, 0])
                if a.scope == "register":
                    self.memory[a.buf.name] = Memory(np.zeros((self.threads, count), kind), False)
                elif a.scope == "own":
                    self.memory[a.buf.name] = Own(np.zeros((self.threads, count), kind))
                elif a.scope == "block":
                    self.memory[a.buf.name] = Shared(np.zeros(n * count, kind), False, True, count)
            self.regs = dict(self.params)
            blocks_of = self.blocks if n == 1 else np.repeat(self.blocks, s.threads)
            self.regs[s.bid.name] = blocks_of.astype(index)[:, None]
            self.regs[s.tid.name] = np.tile(np.arange(s.threads, dtype=index), n)[:, None]
            self.groups = np.ones(self.threads, np.int64)
            self.body(s.body)
            self.ended()
        self.blocks = np.full(1, NOBODY)
        self.regs = dict(self.params)
        for k, blocks_there in self.counted.items():
            if blocks_there:
                self.error(f"counter {k} has counted {len(blocks_there)} blocks, and found no last one")

    def body(self, body: list[Stmt]) -> None:
        for s in body:
            self.stmt = s
            match s:
                case Let():
                    self.regs[s.dst.name] = self.let(s)
                case Var():
                    self.regs[s.dst.name] = self.value(s.init)
                case Set():
                    self.set(s)
                case Store():
                    self.store(s)
                case For():
                    self.loop(s)
                case If():
                    self.branch(s)
                case Barrier():
                    self.meet("barrier")
                case Fail():
                    self.failed = True
                case Copy():
                    self.copy(s)
                case Commit():
                    self.groups[self.active] += 1
                case Wait():
                    self.wait(s.groups)
                case Prefetch():
                    pass
                case _:
                    self.error(f"not a statement that runs: {s!r}")

    def under(self, active: np.ndarray, body: list[Stmt]) -> None:
        """Run a block for some of the running threads."""
        if len(active):
            before = self.active
            self.active = active
            self.body(body)
            self.active = before

    def branch(self, s: If) -> None:
        cond = self.value(s.cond)
        if len(cond) == 1:
            self.body(s.then if cond[0, 0] else s.orelse)
        else:
            on = cond[self.active, 0]
            active = self.active
            self.under(active[on], s.then)
            self.under(active[~on], s.orelse)

    def loop(self, s: For) -> None:
        """Threads whose loop has ended wait for those whose has not."""
        lo, hi, step = (self.here(self.value(a)).astype(np.int64)[:, 0] for a in (s.lo, s.hi, s.step))
        if (step < 1).any():
            self.error(f"a loop steps by {step[step < 1][0]}")
        kind = numpy_type(s.var.dtype)
        if len(lo) == len(hi) == len(step) == 1:
            for i in range(lo[0], hi[0], step[0]):
                self.regs[s.var.name] = np.full((1, 1), i, kind)
                self.body(s.body)
            return
        active = self.active
        lo, hi, step = np.broadcast_arrays(lo, hi, step)
        at = lo.copy()
        while (on := at < hi).any():
            self.regs[s.var.name] = self.spread(at.astype(kind)[:, None])
            self.under(active[on], s.body)
            at += step

    def set(self, s: Set) -> None:
        new = self.value(s.src)
        if len(self.active) < self.threads:
            old = self.value(s.dst)
            merged = self.all_rows(old, self.threads).copy()
            merged[self.active] = self.here(new)
            new = merged
        self.regs[s.dst.name] = new

    def meet(self, what: str, orders: bool = True) -> None:
        """All threads of each block meet; if it `orders` memory, what they did before is seen by all."""
        here = np.unique(self.active // self.block_threads)
        if what == "creduce":
            here = np.arange(len(self.blocks))
        wanted = len(here) * self.block_threads
        if len(self.active) < wanted:
            missing = np.setdiff1d(np.arange(self.threads), self.active)
            missing = missing[np.isin(missing // self.block_threads, here)]
            self.error(f"{what} reached by {len(self.active)} of {wanted} threads", int(missing[0]))
        if orders:
            self.epochs += 1
            self.epoch[here] = self.epochs

    # --- memory ---
    def where(
        self, b: Buf, index: Arg, lanes: int, mask: Arg | None, marks: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(which lanes of which running threads are on, their positions, their threads).

        Reports positions outside the buffer and aligned accesses that are not.
        """
        rows = len(self.active)
        at = self.all_rows(self.here(self.value(index)).astype(np.int64), rows)
        if "aligned" in marks:
            self.multiple(b, at[:, 0], min(lanes, max(16 // b.dtype.itemsize, 1)), " elements")
        if isinstance(self.memory[b.name], Own):
            self.multiple(b, at[:, 0], lanes, "")
        if at.shape[1] == 1 and lanes > 1:
            at = at + np.arange(lanes)
        if marks == "across":
            self.reads_across(b, at[:, 0], mask, rows, lanes)
        if mask is None:
            on, at = np.ones((rows, lanes), bool), at.reshape(-1)
            who = self.active if lanes == 1 else np.repeat(self.active, lanes)
        else:
            on = self.all_rows(self.here(self.value(mask)), rows)
            who = np.broadcast_to(self.active[:, None], on.shape)[on]
            at = at[on]
        m = self.memory[b.name]
        apart = m.apart if isinstance(m, Shared) else None
        size = m.data.shape[-1] if apart is None else apart
        if len(at) and (at.min() < 0 or at.max() >= size):
            first = int(np.flatnonzero((at < 0) | (at >= size))[0])
            self.error(f"index {at[first]} is outside buffer '{b.name}' of {size} elements", int(who[first]))
        if apart is not None and len(self.blocks) > 1:
            at = at + who // self.block_threads * apart
        return on, at, who

    def multiple(self, b: Buf, at: np.ndarray, unit: int, what: str) -> None:
        if (odd := at % unit).any():
            first = int(np.flatnonzero(odd)[0])
            self.error(f"index {at[first]} of '{b.name}' is no multiple of {unit}{what}", int(self.active[first]))

    def reads_across(self, b: Buf, at: np.ndarray, mask: Arg | None, rows: int, lanes: int) -> None:
        """Report what a load across may read of which not all elements exist."""
        spans = self.spans[mask.name] if isinstance(mask, Reg) else ()
        span = [self.all_rows(self.here(self.value(a)), rows).astype(np.int64)[:, 0] for a in spans]
        found = missing(at, lanes, span, self.memory[b.name].data.shape[-1])
        if found is not None:
            self.error(found[1].format(b.name), int(self.active[found[0]]))

    def element(self, b: Buf, at: np.ndarray, k: int) -> str:
        """The k-th of the positions that `where` has found, for messages."""
        m = self.memory[b.name]
        apart = m.apart if isinstance(m, Shared) else None
        return f"element {at[k] if apart is None else at[k] % apart} of '{b.name}'"

    def of(self, who: np.ndarray) -> np.ndarray:
        """The running blocks that threads belong to, by their positions: one for all where there is only one."""
        return who // self.block_threads if len(self.blocks) > 1 else _FIRST

    def conflict(self, b: Buf, at: np.ndarray, who: np.ndarray, did: str, verb: str) -> None:
        """Report an access of `at` by threads `who` to what others have written (`did`: "wrote") or read."""
        m = self.memory[b.name]
        assert isinstance(m, Shared)
        blocks, epochs, threads = (
            (m.write_block, m.write_epoch, m.write_thread)
            if did == "wrote"
            else (m.read_block, m.read_epoch, m.read_thread)
        )
        ours = self.of(who)
        block, mine = blocks[at], self.blocks[ours]
        bad = (block != NOBODY) & (block != mine)
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            mine = np.broadcast_to(mine, block.shape)
            by = "several blocks" if block[first] == MANY else f"block {block[first]}"
            message = f"race: block {mine[first]} {verb} {self.element(b, at, first)}, which {by} {did}"
            self.error(f"{message} in this launch", int(who[first]))
        bad = (epochs[at] == self.epoch[ours]) & (threads[at] != who)
        if bad.any():
            self.race(b, at, who, threads[at], int(np.flatnonzero(bad)[0]), did, verb)

    def race(
        self, b: Buf, at: np.ndarray, who: np.ndarray, other: np.ndarray, first: int, did: str, verb: str
    ) -> NoReturn:
        by = "several threads" if other[first] == MANY else f"thread {self.number(other[first])}"
        message = f"race: thread {self.number(who[first])} {verb} {self.element(b, at, first)}, which {by} {did}"
        self.error(f"{message} with no barrier between", int(who[first]))

    def load(self, s: Let) -> np.ndarray:
        b, lanes = s.buf, s.dst.lanes
        assert b is not None
        m = self.memory[b.name]
        on, at, who = self.where(b, s.args[0], lanes, s.args[1] if len(s.args) > 1 else None, s.attr or "")
        place: Any = at if isinstance(m, Shared) else (who, at)
        self.settled(b, at, who, "read")
        held = m.held[place]
        if not held.all():
            first = int(np.flatnonzero(~held)[0])
            self.error(f"{self.element(b, at, first)} is read before it is written", int(who[first]))
        if isinstance(m, Shared) and m.watched:
            self.conflict(b, at, who, "wrote", "reads")
            ours = self.of(who)
            seen = np.where(m.read_epoch[at] == self.epoch[ours], m.read_thread[at], NOBODY)
            mine = np.where((seen == NOBODY) | (seen == who), who, MANY)
            m.read_thread[at] = mine
            if (others := m.read_thread[at] != mine).any():
                m.read_thread[at[others]] = MANY  # several threads at once
            m.read_epoch[at] = self.epoch[ours]
            block = m.read_block[at]
            us = np.where((block == NOBODY) | (block == self.blocks[ours]), self.blocks[ours], MANY)
            m.read_block[at] = us
            if len(self.blocks) > 1:
                m.read_block[at[m.read_block[at] != us]] = MANY  # several blocks of a cluster at once
        if len(s.args) < 2:
            return self.spread(m.data[place].astype(numpy_type(s.dst.dtype), copy=False).reshape(on.shape))
        out: np.ndarray = np.zeros(on.shape, numpy_type(s.dst.dtype))
        out[on] = m.data[place]
        if len(s.args) == 3:
            index, (_, reach, _) = self.value(s.args[0]), self.where(b, s.args[2], 1, None, "")
            out[beside(on, self.all_rows(self.here(index), len(on))[:, 0], reach)] = poison(out.dtype)
        return self.spread(out)

    def store(self, s: Store) -> None:
        b = s.buf
        m = self.memory[b.name]
        on, at, who = self.where(b, s.index, s.value.lanes, s.mask, s.hint)
        place: Any = at if isinstance(m, Shared) else (who, at)
        if isinstance(m, Shared) and m.watched and s.meet:
            self.conflict(b, at, who, "read", "writes")
            m.write_block[at] = m.write_thread[at] = MANY
        elif isinstance(m, Shared) and m.watched:
            for did in ("wrote", "read"):
                self.conflict(b, at, who, did, "writes")
            m.write_thread[at] = who
            if (twice := m.write_thread[at] != who).any():
                self.race(b, at, who, m.write_thread[at], int(np.flatnonzero(twice)[0]), "wrote", "writes")
            ours = self.of(who)
            m.write_epoch[at], m.write_block[at] = self.epoch[ours], self.blocks[ours]
        self.settled(b, at, who, "written")
        value = self.all_rows(self.here(self.value(s.value)), len(on))
        put(m, place, narrow(value.reshape(-1) if s.mask is None else value[on], b), s.meet)
        m.held[place] = True

    # --- copies ---
    def settled(self, b: Buf, at: np.ndarray, who: np.ndarray, did: str) -> None:
        """Report an access to what is on its way."""
        m = self.memory[b.name]
        if isinstance(m, Own):
            bad = np.flatnonzero(m.coming[who, at])
            if len(bad):
                first = int(bad[0])
                self.error(f"{self.element(b, at, first)} is {did} before its copy has come", int(who[first]))

    def copy(self, s: Copy) -> None:
        """What is copied is read at once: until it has come nobody may change it."""
        got = self.load(Let(Reg("copied", compute_type(s.buf.dtype), s.lanes), "load", (s.index,), s.buf, s.hint))
        m = self.memory[s.into.name]
        assert isinstance(m, Own)
        _, at, who = self.where(s.into, s.at, s.lanes, None, "")
        self.settled(s.into, at, who, "copied to")
        m.brought[who, at] = narrow(self.all_rows(self.here(got), len(self.active)).reshape(-1), s.into)
        m.coming[who, at] = self.groups[who]

    def wait(self, but: int) -> None:
        for m in self.memory.values():
            if isinstance(m, Own):
                come = (m.coming > 0) & (m.coming < (self.groups - but)[:, None])
                come[np.setdiff1d(np.arange(self.threads), self.active)] = False
                m.data[come] = m.brought[come]
                m.held |= come
                m.coming[come] = 0

    def ended(self) -> None:
        for name, m in self.memory.items():
            if isinstance(m, Own) and m.coming.any():
                thread = int(np.flatnonzero(m.coming.any(1))[0])
                self.error(f"a thread ends before all that it copies to '{name}' has come", thread)

    # --- operations ---
    def let(self, s: Let) -> np.ndarray:
        if s.op == "last":
            return self.last(s)
        if s.buf is not None:
            return self.load(s)
        if s.op == "lanerange":
            self.spans[s.dst.name] = s.args
        args = [self.here(self.value(a)) for a in s.args]
        if s.op in ("treduce", "creduce", "tscan"):
            return self.collective(s, self.all_rows(self.spread(args[0]), self.threads))

        def fail(message: str, row: int) -> NoReturn:
            self.error(message, int(self.active[row]))

        return self.spread(operate(s, args, fail))

    def last(self, s: Let) -> np.ndarray:
        """Whether a block, or each of a cluster, is the last to be counted, which then sees what the others wrote."""
        self.meet("last")
        rows = np.arange(len(self.blocks)) * self.block_threads
        at, wanted = (self.all_rows(self.value(a), self.threads)[rows, 0] for a in s.args)
        out = np.zeros((len(self.blocks), 1), bool)
        for k, (i, n) in enumerate(zip(at.tolist(), wanted.tolist(), strict=True)):
            if i not in self.counted:
                self.error(f"counter {i} of {len(self.counted)}", int(rows[k]))
            there = self.counted[i]
            there.append(int(self.blocks[k]))
            if len(there) == n:
                out[k] = True
                for m in self.memory.values():
                    if isinstance(m, Shared) and m.watched and m.apart is None:
                        m.write_block[np.isin(m.write_block, there)] = NOBODY
                there.clear()
        return np.repeat(out, self.block_threads, 0)

    def collective(self, s: Let, v: np.ndarray) -> np.ndarray:
        """[threads, lanes] -> [threads, lanes]; of the groups of each block: [blocks of a cluster, groups, positions,
        stride, lanes]."""
        monoid, group, stride = s.attr
        self.meet(s.op, s.op == "creduce" or (group > 1 and WARP % (group * stride) != 0))
        if self.block_threads % (group * stride):
            self.error(f"groups of {group} * {stride} threads do not divide a block of {self.block_threads}")
        x = v.reshape(len(self.blocks), -1, group, stride, v.shape[1])
        if s.op == "tscan":
            x = tscan(x, monoid, MONOIDS[monoid].identity(s.dst.dtype))
        else:
            x = creduce(x, monoid, self.error) if s.op == "creduce" else treduce(x, monoid)
        return np.ascontiguousarray(x).reshape(self.threads, -1).astype(v.dtype, copy=False)
