"""Launches of a plan in machine code (`build/launcher.py`), and in Python what that leaves over.

A *site* is one launch in a plan. What it has launched once, it can launch again without Python: an entry is made of the
`Prepared` launch that a group remembers for those sizes. Stand-ins for one (autotuning, a kernel until the best is
compiled) are called as Python, unless they `lend` what they stand for: that may be launched so many times before they
are called again. So a `Prepared` that is remembered stays; what may be replaced has to be a stand-in.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch

from ..build import launcher
from ..build.launcher import ANY, ENTRY, HOST, LAUNCH, SITE, TYPES
from ..core.options import current
from . import handles, internals
from .dependent import ATTRIBUTES
from .prepared import Calls, Prepared

ENTRIES = 64  # of a site, which are compared one after the other
LEFT, NUMBER = ENTRY.index("left"), (1 << 64) - 1
ROOM = 1 << 20  # bytes of scratch memory up to which a launch may share it


class Group(Protocol):
    """What launches: `gpu.GpuGroup`, `saved_gpu.SavedGroup`."""

    symbols: list[str]
    memo: dict[Any, Any]
    driver: Any

    def make(self, *key: int) -> Any:
        """Prepare, and remember, the launch for a key of `memo`."""


@runtime_checkable
class Lender(Protocol):
    """A stand-in that lets others launch what it stands for."""

    entry: Prepared

    def lend(self) -> int:
        """How many launches of `entry` may be made before it is called again; 0: none."""


def calls_of(group: Any) -> Calls | None:
    """How native code launches on the group's device; None: Python does."""
    how: Calls | None = getattr(group.driver, "native", None)
    return how if current().native_launch and launcher.supported() else None


@dataclass(frozen=True, slots=True)
class Described:
    """A site of a plan that is saved, with what `site` takes; `room`: whether it has that of the plan."""

    group: Group
    aligned: list[bool]
    hosts: int
    here: bool
    room: bool


class Room:
    """Scratch memory of a plan: its launches, which run one after the other, take the same.

    `bytes`: what the largest of those that have been launched takes.
    """

    def __init__(self, calls: Calls | None):
        self.empty = calls.empty if calls is not None else internals.empty_strided  # without native code never asked
        self.bytes = 0

    def __call__(self) -> tuple[torch.Tensor | None, int, int]:
        """(memory, its address, bytes) for one run of the plan, on the current device."""
        n = self.bytes
        if not n:
            return None, 0, 0
        memory = self.empty((n,), (1,), torch.uint8)
        return memory, memory.data_ptr(), n


def site(
    group: Group, calls: Calls, aligned: Sequence[bool], hosts: int, here: bool, room: Room | None = None
) -> Callable[..., bool | None]:
    """A function of (buffers..., sizes..., host scalars...), which launches the group's kernel.

    A buffer is a tensor or an address.

    It returns True if there is no kernel for them. `aligned`: which buffers count for the alignment; `hosts`: how many
    host scalars; `here`: the device is the current one whenever it is called. With a `room` it takes two more
    arguments, the address and bytes of that.
    """
    python = Site(group, calls, aligned, hosts, room)
    n = len(aligned)
    objects: tuple[Any, ...] = (calls.device, calls.stream, calls.empty, calls.capturing, torch.Tensor.data_ptr)
    objects = (*objects, python.miss, python.resume, None, False, calls.index)
    device, *others = map(id, objects)
    shared, known = room is not None, handles.functions()
    address = known.data_ptr if known is not None else 0
    numbers = [calls.launch, calls.follow, 0 if here else device, *others]
    numbers += [address, *map(id, handles.CLASSES), calls.index]
    numbers += [n + len(group.symbols) + hosts + 2 * shared, n, len(group.symbols), shared, 0]
    numbers += [15 * a for a in aligned]
    python.words = launcher.array(numbers)
    try:
        return launcher.builtin(python.words, *objects)  # type: ignore[no-any-return]
    except Exception:  # which has been logged
        return python.miss


class Site:
    """The part of a site that is Python, and its entries."""

    def __init__(self, group: Group, calls: Calls, aligned: Sequence[bool], hosts: int, room: Room | None):
        self.group, self.calls, self.room = group, calls, room
        self.aligned = [k for k, a in enumerate(aligned) if a]
        self.buffers, first = len(aligned), len(aligned) + len(group.symbols)
        self.sizes, self.hosts = slice(self.buffers, first), slice(first, first + hosts)
        self.words: Any = None
        self.entries: list[tuple[Any, Any]] = []
        self.known: dict[tuple[int, ...], tuple[Prepared, Any]] = {}  # those in `entries`, and their words
        self.lock = threading.Lock()

    def miss(self, *args: Any) -> bool:
        """The whole call, which may be the first one of its kind."""
        args = (*_addresses(args[: self.buffers]), *args[self.buffers :])
        low = 0
        for k in self.aligned:
            low |= args[k]
        key = (*args[self.sizes], low & 15)
        try:
            prepared = self.group.memo[key]
        except KeyError:
            prepared = self.group.make(*key)
        if prepared is None:
            return True
        if type(prepared) is Prepared:
            self.learn(prepared, key)
        prepared(*args[: self.buffers], hosts=args[self.hosts])
        still = self.group.memo.get(key) is prepared
        if still and isinstance(prepared, Lender) and (turns := prepared.lend()):
            self.learn(prepared.entry, key, turns)
        return False

    def resume(self, keep: tuple[Any, ...], first: int, scratch: torch.Tensor | None, *args: Any) -> None:
        """The launches from number `first` on, which failed."""
        prepared: Prepared = keep[0]
        base = 0
        if prepared.scratch_bytes:
            base = args[-2] if scratch is None else scratch.data_ptr()
        prepared.run(_addresses(args[: self.buffers]), args[self.hosts], first, base)

    def learn(self, prepared: Prepared, key: tuple[int, ...], turns: int = ANY) -> None:
        """Let native code launch that, from now on or so many times; what counts, on this stream, unless recorded."""
        name, on, counters = key, ANY, None
        if prepared.counted:
            on = self.group.driver.enter()
            name = (*key, on)
        known = self.known.get(name)
        if known is not None and known[0] is prepared:
            known[1][LEFT] = turns & NUMBER
            return
        if prepared.counted and self.calls.capturing():
            return
        if prepared.counted:
            counters = self.group.driver.counters(prepared.counted, on)
        entry = entry_of(prepared, self.calls, key, on, counters)
        if entry is None:
            return
        entry[0][LEFT] = turns & NUMBER
        self.add(entry)
        self.known[name] = prepared, entry[0]
        if self.room is not None and prepared.scratch_bytes <= ROOM:
            self.room.bytes = max(self.room.bytes, prepared.scratch_bytes)

    def add(self, entry: tuple[Any, Any]) -> None:
        """Put an entry in front of the others; of many, begin anew."""
        head = SITE.index("head")
        with self.lock:
            if len(self.entries) >= ENTRIES:
                self.words[head] = 0
                self.entries.clear()
                self.known.clear()
            entry[0][ENTRY.index("next")] = self.words[head]
            self.entries.append(entry)
            self.words[head] = ctypes.addressof(entry[0])


def _addresses(buffers: Sequence[Any]) -> list[int]:
    return [b.data_ptr() if isinstance(b, torch.Tensor) else b for b in buffers]


def entry_of(
    prepared: Prepared, calls: Calls, key: Sequence[int], on: int = ANY, counters: torch.Tensor | None = None
) -> tuple[Any, Any] | None:
    """(the words of an entry for a key of the group's memo, what they name); None for what it cannot express.

    `on`: the stream that it is for, if it is for one only; `counters`: of that stream. What may begin before the launch
    before it has ended is not for recordings, either.
    """
    launches = [
        (calls.number(h), *numbers, ATTRIBUTES if follows and calls.follow else 0)
        for h, *numbers, follows in prepared.launches
    ]
    if any(not 0 <= n < 1 << 32 for _, *numbers, _ in launches for n in numbers):
        return None
    if any(not -(1 << 63) <= n < 1 << 63 for n in key):
        return None
    hosts = [(TYPES.index(dtype), at // 8, k) for dtype, at, k in prepared.hosts]
    size, stride = (prepared.scratch_bytes,), (1,)
    keep = (prepared, size, stride, torch.uint8, counters)
    words = list(prepared.values)
    if counters is not None:
        words[prepared.counters] = counters.data_ptr()
    parts = [key[:-1], *launches, *hosts, prepared.offsets, words]
    flat = [n for part in parts for n in part]
    at = [len(ENTRY), len(key) - 1, len(LAUNCH) * len(launches), len(HOST) * len(hosts), len(prepared.offsets)]
    where = [sum(at[: k + 1]) for k in range(1, 5)]  # of launches, hosts, pieces, words
    counts = [len(launches), len(hosts), len(prepared.offsets), len(words), prepared.scratches.start]
    counts.append(int(counters is not None or any(attributes for *_, attributes in launches)))
    named = [id(size), id(stride), id(torch.uint8), id(keep)]
    head = [0, key[-1], on, ANY, len(ENTRY) + len(flat), *counts, prepared.scratch_bytes, *named, *where]
    return launcher.array([*head, *flat]), keep


__all__ = ["Described", "Room", "Site", "calls_of", "entry_of", "site"]
