"""Memory for large CPU tensors, reused once nobody can see it any more.

Why. The C library maps a large block when it is allocated and unmaps it when it is freed, so every output of a
kernel is touched for the first time, page by page: for 64 MB the page faults cost several times the work.

How. A `Block` is the storage of a large tensor that we allocated. The pool keeps one reference to the storage's
Python object and one *template* tensor on it; what the caller gets is `template.data`, a new tensor on the same
storage with a version counter of its own. Whatever else keeps the memory alive (a tensor, a view, a saved tensor, a
NumPy array, a DLPack capsule, the storage object) holds a reference to the same storage or its Python object. So a
block is free exactly when both reference counts are back to what the pool alone accounts for. Nobody can make a new
reference to a free block, because references come only from references. (A weak storage reference, as
`torch.multiprocessing` keeps for shared memory, would be one: sharing moves the data, which `_reusable` sees.)

A free block backs a new tensor of exactly as many bytes; one that the user cannot see (`visible=False`) may sit in a
block up to a quarter larger. A block that the user resized, moved, marked, watches or gave to NumPy is given back to
torch.

Retention is bounded three ways, so that peak memory stays near eager's:
- idle bytes stay under the option `pool_limit_mb`;
- a block idle for more than `MAX_AGE` pool allocations is released;
- before new memory is taken, idle blocks are released until idle and live bytes together fit under the peak of live
  bytes seen lately: the pool never makes the process larger than its live tensors did.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from operator import attrgetter

import torch

from fusewright.core.counters import count
from fusewright.core.options import current

from .internals import Size
from .internals import empty_strided as _empty
from .internals import storage_uses as _use_count
from .pages import HUGE_FROM, advise_huge

THRESHOLD = 256 << 10  # below this the C library reuses memory by itself
MAX_AGE = 64  # pool allocations that an idle block survives
SLACK = 1.25  # how much larger a block may be than a tensor that the user never sees
UPKEEP = 16  # pool allocations between two looks at all blocks
WINDOW = 256  # pool allocations after which an old peak is forgotten
NEWEST, OLDEST = 4, 8  # how many live blocks of one size are looked at for one allocation
SCRATCH_KEEP = 64 << 20  # scratch memory above this is not kept for the next call

_storage_of = attrgetter("storage")
_address_of = attrgetter("address")


def storage_bytes(size: Size, stride: Size, dtype: torch.dtype) -> int:
    """Bytes of the storage that `torch.empty_strided(size, stride)` makes."""
    if 0 in size:
        return 0
    return (1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))) * dtype.itemsize


class Block:
    """One storage that the pool keeps. `template` is laid out for `spec`, under inference mode or not."""

    __slots__ = ("address", "data", "idle_since", "inference", "nbytes", "spec", "storage", "template")

    def __init__(self, template: torch.Tensor, spec: Allocation):
        self.template = template
        self.storage = template.untyped_storage()
        self.address = self.storage._cdata
        self.data = self.storage.data_ptr()
        self.nbytes = spec.nbytes
        self.spec = spec
        self.inference = template.is_inference()
        self.idle_since = 0

    def tensor(self, spec: Allocation) -> torch.Tensor:
        """A new tensor on this storage, as `torch.empty_strided` would make it in the present mode."""
        inference = torch.is_inference_mode_enabled()
        if (spec is not self.spec and spec.layout != self.spec.layout) or inference is not self.inference:
            size, stride, dtype = spec.layout
            self.template = _empty((0,), (1,), dtype).set_(self.storage, 0, size, stride)  # type: ignore[call-overload]
            self.inference = inference
        self.spec = spec
        return self.template.data


def _references(blocks: list[Block]) -> list[tuple[int, int]]:
    """(references to the Python object, references to the storage) of each block.

    The outer `list` call runs from end to end without giving another thread the interpreter, so that the two counts
    of a block belong together: otherwise a thread could trade one kind of reference for the other in between.
    """
    return list(zip(map(sys.getrefcount, map(_storage_of, blocks)), map(_use_count, map(_address_of, blocks))))  # noqa: B905


def _reusable(block: Block) -> bool:
    """Whether a free block is as we made it: not resized, moved to shared memory, marked or watched by the user."""
    storage = block.storage
    return (
        storage.nbytes() == block.nbytes
        and storage.data_ptr() == block.data
        and not storage.is_shared()
        and storage.resizable()  # not once NumPy has seen it, and there is no way back
        and not storage.__dict__
        and weakref.getweakrefcount(storage) == 0
    )


class Allocation:
    """How to allocate one tensor: sizes, strides and type worked out once. Call it for a tensor, as often as needed."""

    __slots__ = ("layout", "nbytes", "pool", "visible")

    def __init__(self, pool: Pool, size: Size, stride: Size, dtype: torch.dtype, visible: bool):
        self.pool = pool
        self.layout = (tuple(size), tuple(stride), dtype)
        self.visible = visible
        self.nbytes = storage_bytes(*self.layout)

    def __call__(self) -> torch.Tensor:
        if self.nbytes < THRESHOLD or not current().pool:
            return _empty(*self.layout)
        return self.pool.take(self)


class Pool:
    """The pool. One per process (`POOL`); tests make their own."""

    def __init__(self, limit_bytes: int | None = None):
        self._limit = limit_bytes
        # Never waited for: whoever finds it taken allocates plainly. So a finalizer that runs inside the pool and
        # calls back into it, or a fork while another thread is inside, cannot deadlock.
        self._lock = threading.Lock()
        self._idle: dict[int, list[Block]] = {}  # storage bytes -> free blocks, latest last
        self._live: dict[int, list[Block]] = {}  # storage bytes -> blocks handed out, which may have died since
        self._held = 0  # bytes of all blocks
        self._idle_bytes = 0
        self._tick = 0  # pool allocations so far
        self._next_upkeep = UPKEEP
        self._peak = [0, 0]  # peak of live bytes in the present and the previous window
        self._window_end = WINDOW
        self._fresh = 0  # bytes newly allocated since all blocks were looked at
        self._hits = self._misses = self._released = 0
        self._specs: dict[tuple, Allocation] = {}
        self._free_mark = _calibrate()

    # -- allocation ---------------------------------------------------------------------------------------------

    def allocation(self, size: Size, stride: Size, dtype: torch.dtype, visible: bool = True) -> Allocation:
        """A reusable way to allocate such a tensor: what a launch plan keeps."""
        return Allocation(self, size, stride, dtype, visible)

    def empty(self, size: Size, stride: Size, dtype: torch.dtype, visible: bool = True) -> torch.Tensor:
        """An uninitialised tensor, like `torch.empty_strided` on the CPU."""
        return self.spec(size, stride, dtype, visible)()

    def spec(self, size: Size, stride: Size, dtype: torch.dtype, visible: bool = True) -> Allocation:
        """`allocation`, remembered."""
        key = (size, stride, dtype, visible)
        spec = self._specs.get(key)
        if spec is None:
            if len(self._specs) >= 1024:
                self._specs.clear()
            spec = self._specs[key] = Allocation(self, size, stride, dtype, visible)
        return spec

    def block_of(self, storage: torch.UntypedStorage) -> Block | None:
        """The block whose storage this is, if it is the pool's and still as the pool made it."""
        for block in reversed(self._live.get(storage.nbytes(), ())):
            if block.storage is storage:
                return block if _reusable(block) else None
        return None

    def take(self, spec: Allocation) -> torch.Tensor:
        """A tensor for `spec` from a free block, else from new memory that the pool will know."""
        if self._free_mark is None or not self._lock.acquire(False):
            return _empty(*spec.layout)
        dropped: list[Block] = []  # outlives the lock: unmapping takes long
        try:
            self._tick += 1
            if self._tick >= self._next_upkeep:
                self._upkeep(dropped)
            block = self._find(spec, dropped)
            if block is not None:
                result = block.tensor(spec)
                self._live.setdefault(block.nbytes, []).append(block)
                self._hits += 1
            else:
                self._make_room(spec.nbytes, dropped)
                self._misses += 1
        finally:
            self._lock.release()
        if block is not None:
            count("pool_hits")
            return result
        count("pool_misses")
        if dropped:
            dropped.clear()  # give the room back before taking more
        return self._fresh_tensor(spec)

    def _fresh_tensor(self, spec: Allocation) -> torch.Tensor:
        try:
            template = _empty(*spec.layout)
        except RuntimeError:  # out of memory: perhaps we hold it
            self.trim()
            template = _empty(*spec.layout)
        block = Block(template, spec)
        if block.nbytes >= HUGE_FROM:
            advise_huge(block.data, block.nbytes)
        result = template.data
        if block.nbytes <= self.limit() and self._lock.acquire(False):
            try:
                self._live.setdefault(block.nbytes, []).append(block)
                self._held += block.nbytes
                self._fresh += block.nbytes
            finally:
                self._lock.release()
        return result

    def _find(self, spec: Allocation, dropped: list[Block]) -> Block | None:
        nbytes = spec.nbytes
        idle = self._idle.get(nbytes)
        if not idle:
            live = self._live.get(nbytes)
            if live:
                self._look(nbytes, live, dropped)
                idle = self._idle.get(nbytes)
        if not idle and not spec.visible:
            for larger in [n for n in self._live if nbytes < n <= nbytes * SLACK]:
                self._look(larger, self._live[larger], dropped)
            fitting = [n for n, blocks in self._idle.items() if blocks and nbytes < n <= nbytes * SLACK]
            idle = self._idle[min(fitting)] if fitting else None
        if not idle:
            return None
        block = idle.pop()
        self._idle_bytes -= block.nbytes
        return block

    # -- finding out what died ----------------------------------------------------------------------------------

    def _collect(self, nbytes: int, blocks: list[Block], dropped: list[Block]) -> list[Block]:
        """Move the dead among `blocks` to the idle ones, or to `dropped` if not as we made them; return the others."""
        free = self._free_mark
        assert free is not None
        # Cheap first look: most often all of many blocks are in use.
        if len(blocks) > 4 and free[1] not in map(_use_count, map(_address_of, blocks)):
            return blocks
        marks = _references(blocks)
        if free not in marks:
            return blocks
        keep: list[Block] = []
        idle = self._idle.setdefault(nbytes, [])
        for block, mark in zip(blocks, marks, strict=True):
            if mark != free:
                keep.append(block)
            elif _reusable(block):
                block.idle_since = self._tick
                idle.append(block)
                self._idle_bytes += nbytes
            else:
                self._held -= nbytes
                dropped.append(block)
        return keep

    def _look(self, nbytes: int, live: list[Block], dropped: list[Block]) -> None:
        """Look for dead blocks of one size: all of a few, else the newest (temporaries) and then the oldest.

        Old ones that are still alive move behind the others, so that the next look sees different ones.
        """
        if len(live) <= NEWEST + OLDEST:
            live[:] = self._collect(nbytes, live, dropped)
            return
        newest = live[-NEWEST:]
        keep = self._collect(nbytes, newest, dropped)
        if len(keep) < NEWEST:
            live[-NEWEST:] = keep
        else:
            live[:] = live[OLDEST:-NEWEST] + self._collect(nbytes, live[:OLDEST], dropped) + newest

    def _sweep_all(self, dropped: list[Block]) -> None:
        for nbytes, live in list(self._live.items()):
            live[:] = self._collect(nbytes, live, dropped)
            if not live:
                del self._live[nbytes]
        self._fresh = 0

    # -- giving back --------------------------------------------------------------------------------------------

    def limit(self) -> int:
        """Most idle bytes to keep."""
        if self._limit is not None:
            return self._limit
        megabytes = current().pool_limit_mb
        return _DEFAULT_LIMIT if megabytes is None else megabytes << 20

    def _release(self, target: int, dropped: list[Block]) -> None:
        """Give idle blocks back, longest idle first, until at most `target` bytes are idle."""
        by_age = sorted((b for blocks in self._idle.values() for b in blocks), key=attrgetter("idle_since"))
        for block in by_age:
            if self._idle_bytes <= target:
                break
            self._drop_idle(block, dropped)

    def _drop_idle(self, block: Block, dropped: list[Block]) -> None:
        blocks = self._idle[block.nbytes]
        blocks.remove(block)
        if not blocks:
            del self._idle[block.nbytes]
        self._idle_bytes -= block.nbytes
        self._held -= block.nbytes
        self._released += 1
        dropped.append(block)

    def _note_peak(self, live: int) -> int:
        """Record live bytes; return the peak over the present and the previous window."""
        if self._tick >= self._window_end:
            self._window_end = self._tick + WINDOW
            self._peak = [0, self._peak[0]]
        self._peak[0] = max(self._peak[0], live)
        return max(self._peak)

    def _upkeep(self, dropped: list[Block]) -> None:
        """Every few allocations: see what died, release what is old or too much."""
        self._sweep_all(dropped)
        for block in [b for blocks in self._idle.values() for b in blocks]:
            if self._tick - block.idle_since > MAX_AGE:
                self._drop_idle(block, dropped)
        if self._idle_bytes > self.limit():
            self._release(self.limit(), dropped)
        self._note_peak(self._held - self._idle_bytes)
        for nbytes in [n for n, blocks in self._idle.items() if not blocks]:
            del self._idle[nbytes]
        # More blocks, less often: a look costs each block a fraction of a microsecond.
        self._next_upkeep = self._tick + UPKEEP + sum(map(len, self._live.values())) // 4

    def _make_room(self, nbytes: int, dropped: list[Block]) -> None:
        """Before `nbytes` of new memory: keep live, idle and new bytes under the recent peak of live bytes."""
        if self._held + nbytes <= max(self._peak):
            return
        # Looking at every block for every new one would be quadratic while a program starts up: wait until an
        # eighth of what is held is new.
        if self._fresh * 8 < self._held:
            return
        self._sweep_all(dropped)
        live = self._held - self._idle_bytes
        peak = self._note_peak(live + nbytes)
        if self._held + nbytes > peak:
            self._release(max(peak - live - nbytes, 0), dropped)

    def trim(self) -> int:
        """Give every idle block back to the C library; returns how many bytes that was."""
        if not self._lock.acquire(timeout=1):
            return 0
        dropped: list[Block] = []
        try:
            self._sweep_all(dropped)
            self._release(0, dropped)
        finally:
            self._lock.release()
        return sum(block.nbytes for block in dropped)

    def stats(self) -> dict[str, int]:
        """Where the pool stands: blocks and bytes, held and idle, and what happened so far."""
        dropped: list[Block] = []
        with self._lock:
            self._sweep_all(dropped)
            return {
                "blocks": sum(map(len, self._live.values())) + sum(map(len, self._idle.values())),
                "idle_blocks": sum(map(len, self._idle.values())),
                "held_bytes": self._held,
                "idle_bytes": self._idle_bytes,
                "hits": self._hits,
                "misses": self._misses,
                "released": self._released,
            }


def _calibrate() -> tuple[int, int] | None:
    """What `_references` says of a free block; None (no pooling) where reference counts do not tell live from free.

    The counts depend on the versions of Python and torch, so they are measured, and every way of holding on to a
    block is tried once.
    """
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None  # without the interpreter lock two counts cannot be read together
    layout = ((16,), (1,), torch.float32)
    spec = Allocation.__new__(Allocation)
    spec.nbytes = 64
    block = Block(_empty(*layout), spec)
    [free] = _references([block])
    held: list[object] = []

    def seen_while(hold: Callable[[], object]) -> bool:
        held.append(hold())
        seen = _references([block]) != [free]
        held.clear()
        return seen and _references([block]) == [free]

    new = lambda: block.template.data
    ways = (new, lambda: new()[1:], lambda: new().untyped_storage(), lambda: new().numpy(), lambda: new().detach())
    return free if all(map(seen_while, ways)) else None


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30


_DEFAULT_LIMIT = min(_physical_memory() // 8, 1 << 30)


# -- scratch memory -------------------------------------------------------------------------------------------------


class _Scratch(threading.local):
    memory: torch.Tensor | None = None
    capacity = 0
    data = 0


_scratch = _Scratch()


def scratch(nbytes: int) -> int:
    """The address of `nbytes` of scratch memory, 64-byte aligned, valid until this thread asks again.

    It only grows, except that memory beyond `SCRATCH_KEEP` is given up when the next request is smaller.
    """
    mine = _scratch
    if nbytes > mine.capacity or (mine.capacity > SCRATCH_KEEP and nbytes <= mine.capacity // 2):
        release_scratch()  # first: the two need not exist together
        memory = _empty((max(nbytes, 4096) + 64,), (1,), torch.uint8)
        mine.memory, mine.capacity = memory, max(nbytes, 4096)
        mine.data = -(-memory.data_ptr() // 64) * 64
    return mine.data


def release_scratch() -> None:
    """Give this thread's scratch memory back."""
    _scratch.memory, _scratch.capacity, _scratch.data = None, 0, 0


# -- the process's pool -----------------------------------------------------------------------------------------------

POOL = Pool()
allocation = POOL.allocation
empty = POOL.empty
spec = POOL.spec
stats = POOL.stats


def trim() -> int:
    """Give all idle memory back: free blocks and this thread's scratch. Returns the bytes of the blocks."""
    release_scratch()
    return POOL.trim()


def _after_fork() -> None:
    # The thread that held the lock, if any, does not exist in the child.
    POOL._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
