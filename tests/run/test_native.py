"""Launches in machine code: the same as Python's, and whatever is unusual is Python's. A callback is the GPU."""

from __future__ import annotations

import ctypes
import gc
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.bench.null import NullDriver
from fusewright.build import launcher, llvm_jit, machine_code
from fusewright.build.store import default_store
from fusewright.core.errors import RuntimeFault
from fusewright.run import devices, hot, native, special, timed
from fusewright.run.dependent import ATTRIBUTES, Attribute, Config
from fusewright.run.prepared import Calls, Interface, Launch, Prepared
from tests.emulate.driver import EmulatedDriver

FOLLOW = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint32] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
KINDS = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32}


class Gpu:
    """A driver, and the function that native code launches with; both note what they are asked for."""

    def __init__(self, kinds: list[str]):
        """`kinds`: of a kernel's arguments, "p" for an address."""
        self.kinds = kinds
        self.by_native: list[tuple[Any, ...]] = []
        self.by_python: list[tuple[Any, ...]] = []
        self.memory: list[torch.Tensor] = []
        self.fails: Callable[[int], bool] = lambda handle: False
        self.current, self.stream = 0, 0x7F00
        self.callback = LAUNCH(self.queue)
        address = ctypes.cast(self.callback, ctypes.c_void_p).value
        assert address
        self.recording = False
        how = (int, 0, lambda: self.current, lambda index: self.stream, self.empty, lambda: self.recording)
        self.followed: list[tuple[Any, ...]] = []
        self.callback_follow = FOLLOW(self.queue_behind)
        behind = ctypes.cast(self.callback_follow, ctypes.c_void_p).value
        assert behind
        self.native = Calls(address, *how, behind)

    def queue_behind(self, config: int, handle: int, args: int, extra: Any) -> int:
        """`cuLaunchKernelEx`."""
        c = Config.from_address(config)
        assert (c.y, c.z, c.threads_y, c.threads_z, c.count, extra) == (1, 1, 1, 1, 1, None)
        attribute = Attribute.from_address(c.attributes)
        assert (attribute.id, attribute.value, c.attributes) == (6, 1, ATTRIBUTES)
        self.followed.append((handle, len(self.by_native)))
        return self.queue(handle, c.x, 1, 1, c.threads, 1, 1, c.shared, c.stream, args, extra)

    def read(self, args: int) -> tuple[Any, ...]:
        table = (ctypes.c_void_p * len(self.kinds)).from_address(args)
        return tuple(
            KINDS.get(k, ctypes.c_uint64).from_address(a).value for k, a in zip(self.kinds, table, strict=True)
        )

    def queue(self, handle: int, *more: Any) -> int:
        x, y, z, threads, ty, tz, shared, stream, args, extra = more
        assert (y, z, ty, tz, extra) == (1, 1, 1, 1, None)
        if self.fails(handle):
            return 1
        self.by_native.append((handle, x, threads, shared, stream or 0, *self.read(args)))
        return 0

    def empty(self, size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
        self.memory.append(torch.empty_strided(size, stride, dtype=dtype))
        return self.memory[-1]

    # --- Python's side ---
    def counters(self, count: int, stream: int) -> torch.Tensor:
        self.memory.append(torch.zeros(count, dtype=torch.int32))
        return self.memory[-1]

    def enter(self) -> int:
        self.current = 0
        return self.stream

    def scratch(self, nbytes: int) -> torch.Tensor:
        return self.empty((nbytes,), (1,), torch.uint8)

    def launch(self, handle: int, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        self.by_python.append((handle, blocks, threads, shared, stream, *self.read(args)))

    def follow(self, handle: int, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        self.followed.append((handle, "python"))
        self.launch(handle, blocks, threads, shared, args, stream)


class Group:
    """What remembers launches (`gpu.GpuGroup`)."""

    def __init__(self, gpu: Any, takes: Interface, hosts: list[str], symbols: list[str]):
        self.driver, self.takes, self.hosts, self.symbols = gpu, takes, hosts, symbols
        self.memo: dict[Any, Any] = {}
        self.made = 0

    def make(self, *key: int) -> Any:
        self.made += 1
        handles = [100 + k for k in range(len(self.takes.launches))]
        self.memo[key] = Prepared(self.driver, self.takes, handles, list(key[:-1]), self.hosts)
        return self.memo[key]


def simple(n: int = 2, launches: int = 1, aligned: bool = True) -> tuple[Gpu, Group, Any]:
    """A kernel of n buffers and one size, and its site."""
    gpu = Gpu(["p"] * n + ["i64"])
    takes = Interface(n, (("n", "i64"),), (), (), tuple(Launch(f"k{k}", "n", 64, 16 * k) for k in range(launches)))
    group = Group(gpu, takes, [], ["s0"])
    return gpu, group, native.site(group, gpu.native, [aligned] * n, 0, False)


def test_same_as_python() -> None:
    """Addresses, sizes, host scalars, scratch memory and several launches, the second time by machine code."""
    takes = Interface(
        3,
        (("n", "i64"), ("m", "i32")),
        (("d", "f64"), ("s", "f32"), ("k", "i64"), ("i", "i32")),
        (("n", 4), (1000, 1)),
        (Launch("a", "m", 128, 0), Launch("b", 7, 32, 4096)),
    )
    gpu = Gpu(["p", "p", "p", "i64", "i32", "f64", "f32", "i64", "i32", "p", "p"])
    group = Group(gpu, takes, ["i", "s", "other", "k", "d"], ["n", "m"])
    site = native.site(group, gpu.native, [True, False, True], 5, False)
    hosts = (-5, 0.1, 3.5, -(1 << 40), 0.1)
    call = (1 << 63, 3, 0x1000, 100, 9, *hosts)
    assert site(*call) is False
    assert len(gpu.by_python) == 2 and not gpu.by_native
    assert site(*call) is None
    assert len(gpu.by_python) == 2 and len(gpu.by_native) == 2
    single = ctypes.c_float(0.1).value
    for launches, memory in ((gpu.by_python, gpu.memory[0]), (gpu.by_native, gpu.memory[1])):
        base = memory.data_ptr()
        args = (1 << 63, 3, 0x1000, 100, 9, 0.1, single, -(1 << 40), -5, base, base + 512)
        assert launches == [(100, 9, 128, 0, 0x7F00, *args), (101, 7, 32, 4096, 0x7F00, *args)]
        assert memory.numel() == 512 + 1024
    assert group.made == 1


def test_sizes_and_alignment_have_launches_of_their_own() -> None:
    gpu, group, site = simple()
    for _ in range(3):
        for n in (5, -3, 1 << 40):
            for p in (16, 24, 17):
                site(p, 32, n)
    assert group.made == 9 and len(gpu.by_python) == 3 + 9
    assert set(group.memo) == {(n, p % 16) for n in (5, -3, 1 << 40) for p in (16, 24, 17)}
    # of -3 blocks nothing is launched, and 2**40 are too many for native code
    assert {(x, n) for _, x, *_, n in gpu.by_native} == {(5, 5)} and len(gpu.by_native) == 6
    assert gpu.by_native[0] == (100, 5, 64, 0, 0x7F00, 16, 32, 5)
    unaligned, group, site = simple(aligned=False)
    site(16, 32, 5), site(17, 33, 5)
    assert group.made == 1 and len(unaligned.by_native) == 1


def test_many_arguments() -> None:
    gpu, _, site = simple(300)
    call = [*range(1000, 1300), 4]
    site(*call), site(*call)
    assert gpu.by_native[0][5:] == tuple(call) == gpu.by_python[0][5:]


def test_more_sizes_than_are_compared() -> None:
    """The oldest are forgotten, and learnt again."""
    gpu, group, site = simple()
    for _ in range(2):
        for n in range(1, native.ENTRIES + 10):
            site(16, 32, n), site(16, 32, n)
    assert group.made == native.ENTRIES + 9
    assert {a[1] for a in gpu.by_native} == set(range(1, native.ENTRIES + 10))
    assert all(a[1] == a[-1] for a in gpu.by_native)


def test_failed_launch_is_repeated_by_python_from_there_on() -> None:
    """Those before it stay as they are, and so does their scratch memory."""
    gpu = Gpu(["p", "p"])
    takes = Interface(1, (), (), ((64, 4),), tuple(Launch(f"k{k}", 1, 32, 0) for k in range(3)))
    group = Group(gpu, takes, [], [])
    site = native.site(group, gpu.native, [True], 0, False)
    site(16)
    gpu.by_python.clear()
    gpu.fails = lambda handle: handle == 101
    assert site(16) is None
    assert [a[0] for a in gpu.by_native] == [100] and [a[0] for a in gpu.by_python] == [101, 102]
    assert len(gpu.memory) == 2 and gpu.by_native[0][5:] == gpu.by_python[0][5:] == (16, gpu.memory[1].data_ptr())

    def broken(*args: Any) -> None:
        raise RuntimeFault("launch a kernel: no")

    gpu.launch = broken  # type: ignore[method-assign]
    with pytest.raises(RuntimeFault, match="no"):
        site(16)
    gpu.fails = lambda handle: False
    assert site(16) is None and len(gpu.by_native) == 1 + 1 + 3


def test_scratch_memory_of_a_plan() -> None:
    """It is as large as the largest of its launches needs; one that needs more allocates, and so does a huge one."""
    gpu = Gpu(["p", "i64", "p", "p"])
    takes = Interface(1, (("n", "i64"),), (), (("n", 4), (1, 4)), (Launch("k", 1, 32, 0), Launch("l", 1, 32, 0)))
    group, room = Group(gpu, takes, [], ["n"]), native.Room(gpu.native)
    site = native.site(group, gpu.native, [True], 0, False, room)

    def call(n: int) -> tuple[Any, list[Any], int]:
        """(the room, the launches, how many tensors were allocated)."""
        memory, at, size = room()
        del gpu.by_native[:], gpu.by_python[:]
        before = len(gpu.memory)
        assert not site(16, n, at, size)
        return memory, [a[6:] for a in gpu.by_native + gpu.by_python], len(gpu.memory) - before

    assert room() == (None, 0, 0)
    assert call(100)[2] == 1 and room.bytes == 512 + 256
    memory, launched, fresh = call(100)
    at = memory.data_ptr()
    assert memory.numel() == 768 and launched == [(100, at, at + 512)] * 2 and not fresh
    assert call(200)[2] == 1 and room.bytes == 1024 + 256
    memory, launched, fresh = call(100)
    assert memory.numel() == 1280 and launched == [(100, memory.data_ptr(), memory.data_ptr() + 512)] * 2 and not fresh
    assert call(1 << 19)[2] == 1 and room.bytes == 1280
    assert call(1 << 19)[2] == 1 and len(gpu.by_native) == 2
    with pytest.raises(struct.error):
        site(16, 1.5, 0, 0)
    # a launch that fails is made again with the same memory
    gpu.fails = lambda handle: handle == 101
    memory, launched, fresh = call(100)
    assert launched == [(100, memory.data_ptr(), memory.data_ptr() + 512)] * 2 and not fresh
    assert len(gpu.by_native) == len(gpu.by_python) == 1
    memory, launched, fresh = call(1 << 19)
    assert launched[0] == launched[1] and launched[0][1] == gpu.memory[-1].data_ptr() and fresh == 1


def test_another_device_is_pythons() -> None:
    gpu, _, site = simple()
    site(16, 16, 2)
    gpu.current = 1
    site(16, 16, 2)
    assert len(gpu.by_python) == 2 and gpu.current == 0
    site(16, 16, 2)
    assert len(gpu.by_native) == 1
    gpu.stream = 0x7F10
    site(16, 16, 2)
    assert gpu.by_native[-1][4] == 0x7F10

    class Lost(Exception):
        pass

    def lost() -> int:
        raise Lost

    group = Group(gpu, Interface(1, (), (), (), ()), [], [])
    site = native.site(group, Calls(1, int, 0, lost, gpu.native.stream, gpu.empty), [True], 0, False)
    assert site(16) is False and site(16) is False  # Python asks in its own way


@pytest.mark.parametrize(
    ("call", "error"), [((1.5, 16, 2), TypeError), (("x", 16, 2), TypeError), ((16, 16), IndexError)]
)
def test_other_arguments_are_errors_of_python(call: tuple[Any, ...], error: type[Exception]) -> None:
    gpu, _, site = simple()
    site(16, 16, 2)
    with pytest.raises((error, TypeError, ValueError, KeyError)):
        site(*call)
    site(16, 16, 2)
    assert len(gpu.by_native) == 1


def test_host_scalars_out_of_range() -> None:
    for kind, good, bad in (("i32", 1 << 30, 1 << 31), ("i64", 1 << 62, 1 << 63)):
        gpu = Gpu(["p", kind])
        group = Group(gpu, Interface(1, (), (("h", kind),), (), (Launch("k", 1, 32, 0),)), ["h"], [])
        site = native.site(group, gpu.native, [True], 1, False)
        site(16, good), site(16, good)
        assert gpu.by_native == gpu.by_python == [(100, 1, 32, 0, 0x7F00, 16, good)]
        with pytest.raises((OverflowError, struct.error)):
            site(16, bad)
        assert len(gpu.by_native) == 1
    gpu = Gpu(["p", "f32"])
    group = Group(gpu, Interface(1, (), (("h", "f32"),), (), (Launch("k", 1, 32, 0),)), ["h"], [])
    site = native.site(group, gpu.native, [True], 1, False)
    for x in (1e39, -float("inf"), 1e-46, float("nan")):
        site(16, x), group.memo[0,](16, hosts=(x,))
    del gpu.by_python[0]
    assert list(map(repr, gpu.by_native)) == list(map(repr, gpu.by_python[1:]))


def test_no_memory() -> None:
    """The allocator's error is the call's."""
    gpu = Gpu(["p", "p"])
    group = Group(gpu, Interface(1, (), (), ((64, 4),), (Launch("k", 1, 32, 0),)), [], [])
    full = False

    def empty(*args: Any) -> torch.Tensor:
        if full:
            raise MemoryError("full")
        return gpu.empty(*args)

    site = native.site(group, Calls(gpu.native.launch, int, 0, lambda: 0, abs, empty), [True], 0, True)
    site(16)
    full = True
    with pytest.raises(MemoryError, match="full"):
        site(16)
    full = False
    site(16)
    assert len(gpu.by_native) == 1


def test_what_stands_in_for_a_launch_is_called() -> None:
    gpu, group, site = simple(1)
    called = []
    group.memo[3, 0] = lambda *p, hosts: called.append(p)
    group.memo[4, 0] = None
    assert site(16, 3) is False and site(16, 3) is False and called == [(16,), (16,)]
    assert site(16, 4) is True
    assert not gpu.by_native and not gpu.by_python and not group.made


def test_what_stands_in_may_lend_its_launch() -> None:
    """So many times; then it is asked again, and what has taken its place lasts."""
    gpu, group, site = simple(1)
    entry, turns = group.make(3, 0), [2, 1, 0]

    class Waiting:
        def __init__(self) -> None:
            self.entry, self.asked = entry, 0

        def lend(self) -> int:
            return turns.pop(0)

        def __call__(self, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
            self.asked += 1
            entry(*pointers, hosts=hosts)

    waiting = group.memo[3, 0] = Waiting()
    for total, asked in enumerate((1, 1, 1, 2, 2, 3), 1):
        site(16, 3)
        assert waiting.asked == asked == len(gpu.by_python) and len(gpu.by_native) == total - asked
    group.memo[3, 0] = entry
    for _ in range(4):
        site(16, 3)
    assert waiting.asked == 3 and len(gpu.by_python) == 4 and len(gpu.by_native) == 3 + 3
    python: native.Site = site.__self__[7].__self__
    assert len(python.entries) == 1, "the same words serve again"


def test_an_entry_for_one_stream() -> None:
    gpu, group, site = simple(1)
    python: native.Site = site.__self__[7].__self__
    entry = native.entry_of(group.make(3, 0), gpu.native, (3, 0), on=0x7F10)
    assert entry is not None
    python.add(entry)
    gpu.stream = 0x7F10
    site(16, 3)
    assert len(gpu.by_native) == 1 and not gpu.by_python
    gpu.stream = 0x7F20
    site(16, 3)
    assert len(gpu.by_native) == 1 and len(gpu.by_python) == 1


def dependent(n: str | int = "n") -> tuple[Gpu, Group, Any]:
    """A kernel of three launches, the last two of which wait for those before."""
    gpu = Gpu(["p", "i64"])
    launches = (Launch("a", n, 64, 0), Launch("b", 5, 32, 16, True), Launch("c", 1 << 20, 1024, 1 << 17, True))
    group = Group(gpu, Interface(1, (("n", "i64"),), (), (), launches), [], ["n"])
    return gpu, group, native.site(group, gpu.native, [True], 0, False)


def test_launches_that_follow_others() -> None:
    gpu, _, site = dependent()
    site(16, 7)
    assert gpu.followed == [(101, "python"), (102, "python")]
    assert site(32, 7) is None
    assert gpu.followed[2:] == [(101, 1), (102, 2)]
    first, second, third = gpu.by_native
    assert first == (100, 7, 64, 0, 0x7F00, 32, 7) and second == (101, 5, 32, 16, 0x7F00, 32, 7)
    assert third == (102, 1 << 20, 1024, 1 << 17, 0x7F00, 32, 7)


def test_the_first_that_is_launched_follows_none() -> None:
    gpu, _, site = dependent()
    site(16, 0), site(16, 0)
    assert gpu.followed == [(102, "python"), (102, 1)]
    assert [handle for handle, *_ in gpu.by_native] == [101, 102]


def test_into_a_recording_python_launches_what_follows() -> None:
    """It knows what to do there (`cuda_launch.Launcher.follow`)."""
    gpu, _, site = dependent()
    site(16, 7), site(16, 7)
    gpu.recording = True
    site(16, 7)
    assert len(gpu.by_native) == 3 and len(gpu.by_python) == 6
    gpu.recording = False
    site(16, 7)
    assert len(gpu.by_native) == 6 and len(gpu.by_python) == 6


def test_what_follows_fails() -> None:
    gpu, _, site = dependent()
    site(16, 7)
    gpu.fails = lambda handle: handle == 101
    site(16, 7)
    assert [x[0] for x in gpu.by_native] == [100] and [x[0] for x in gpu.by_python[3:]] == [101, 102]


def test_no_driver_function_no_following() -> None:
    gpu, group, _ = dependent()
    gpu.native = Calls(*[getattr(gpu.native, k) for k in Calls.__slots__[:-1]])
    site = native.site(group, gpu.native, [True], 0, False)
    site(16, 7), site(16, 7)
    assert [x for x in gpu.followed if x[1] != "python"] == [] and len(gpu.by_native) == 3


def test_following_can_be_switched_off() -> None:
    with fusewright.options(dependent_launch=False):
        gpu, _, site = dependent()
        site(16, 7), site(16, 7)
    assert not gpu.followed and len(gpu.by_native) == 3


def test_counters_are_a_streams_own_and_not_for_recordings() -> None:
    gpu = Gpu(["p", "i64", "p", "p"])
    takes = Interface(1, (("n", "i64"),), (), (("n", 4),), (Launch("k", 1, 32, 0),), "n")
    group = Group(gpu, takes, [], ["n"])
    site = native.site(group, gpu.native, [True], 0, False)
    kept: dict[int, int] = {}
    for stream in (0x7F00, 0x7F10):
        gpu.stream = stream
        for _ in range(3):
            site(16, 3)
        assert gpu.by_python.pop()[4] == stream and not gpu.by_python  # the first one
        first, second = gpu.by_native
        assert first[-1] == second[-1] and first[4] == stream
        kept[stream] = first[-1]
        gpu.by_native.clear()
    assert kept[0x7F00] != kept[0x7F10]
    gpu.recording = True
    for stream in (0x7F00, 0x7F20):  # one that was used before, and a new one
        gpu.stream = stream
        for _ in range(2):
            site(16, 3)
        assert not gpu.by_native and not {x[-1] for x in gpu.by_python} & set(kept.values())
    gpu.recording, gpu.stream = False, 0x7F00
    site(16, 3)
    assert [x[-1] for x in gpu.by_native] == [kept[0x7F00]]


def counts(*objects: Any) -> list[int]:
    return [sys.getrefcount(x) for x in objects]


def test_no_reference_is_lost() -> None:
    """Arguments, constants, memory and launches: after thousands of calls, failed ones too, all is as before."""
    gpu = Gpu(["p", "i64", "f64", "p"])
    takes = Interface(1, (("n", "i64"),), (("h", "f64"),), ((64, 4),), (Launch("k", 1, 32, 0), Launch("l", 1, 32, 0)))
    group = Group(gpu, takes, ["h"], ["n"])
    memory = torch.empty(64)
    calls = Calls(gpu.native.launch, int, 0, lambda: 0, abs, lambda *a: memory)
    site = native.site(group, calls, [True], 1, False)
    pointer, size, host = 1 << 50, 1 << 40, 0.25
    site(pointer, size, host)
    prepared = group.memo[size, 0]
    watched = (pointer, size, host, memory, prepared, site, torch.uint8, torch.Tensor.data_ptr)
    gpu.queue = lambda *a: 0  # type: ignore[method-assign]

    def many() -> None:
        for k in range(3000):
            site(pointer, size, host)
            if k % 10 == 0:
                with pytest.raises(struct.error):
                    site(pointer, size, "x")
                with pytest.raises(TypeError):
                    site("x", size, host)
                gpu.fails = lambda handle: handle == 101
                site(pointer, size, host)
                gpu.fails = lambda handle: False
            del gpu.by_native[:], gpu.by_python[:]

    many()
    gc.collect()
    before, nones = counts(*watched), []
    for _ in range(3):  # of None others have some, too, and may let go of thousands meanwhile
        none = sys.getrefcount(None)
        many()
        gc.collect()
        nones.append(abs(sys.getrefcount(None) - none))
    assert counts(*watched) == before
    assert min(nones) < 2500  # of 3000 calls


def test_a_site_goes_with_its_plan() -> None:
    _, group, site = simple()
    site(16, 16, 2), site(16, 16, 2)
    gc.collect()
    group.memo.clear()
    before = sys.getrefcount(group)
    del site
    gc.collect()
    assert sys.getrefcount(group) < before


def test_threads() -> None:
    """Each launch has the arguments of its own call, while entries come and go."""
    gpu, _, site = simple(3)
    errors: list[Any] = []

    def work(t: int) -> None:
        try:
            for k in range(200):
                n = 1 + (k * 7 + t) % (native.ENTRIES + 8)
                site(16 * n, 16 * (n + t), 16 * (n + k), n)
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(6)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        for x in threads:
            x.start()
        for x in threads:
            x.join()
    finally:
        sys.setswitchinterval(before)
    assert not errors
    every = gpu.by_native + gpu.by_python
    assert len(every) == 6 * 200 and gpu.by_native
    expected = sorted(
        (16 * n, 16 * (n + t), 16 * (n + k), n)
        for t in range(6)
        for k in range(200)
        for n in [1 + (k * 7 + t) % (native.ENTRIES + 8)]
    )
    assert sorted(a[5:] for a in every) == expected and all(a[1] == a[-1] for a in every)


# --- whole programs ----------------------------------------------------------------------------------


class Emulated(EmulatedDriver):
    """The emulation, launched by machine code."""

    def __init__(self) -> None:
        super().__init__()
        self.table: list[Any] = []
        self.natively = 0
        self.callback = LAUNCH(self.queue)
        address = ctypes.cast(self.callback, ctypes.c_void_p).value
        assert address
        self.native = Calls(address, self.number, 0, lambda: 0, abs, self.empty)

    def number(self, handle: Any) -> int:
        self.table.append(handle)
        return len(self.table) - 1

    def empty(self, size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
        return self.scratch(size[0])

    def queue(self, handle: int | None, blocks: int, *more: Any) -> int:
        *_, args, _extra = more
        self.natively += 1
        try:
            self.launch(self.table[handle or 0], blocks, 0, 0, args, 0)
        except IndexError:
            return 1
        return 0


@pytest.fixture
def emulated() -> Iterator[Emulated]:
    driver = Emulated()
    torch._dynamo.reset()
    with devices.use("cpu", driver), fusewright.options(disk_cache=False, fallback=False):
        yield driver
    torch._dynamo.reset()


def test_a_program(emulated: Emulated) -> None:
    """Several launches, scratch memory, symbolic sizes and host scalars: eager's numbers."""

    def f(x: torch.Tensor, w: torch.Tensor, scale: float) -> tuple[torch.Tensor, ...]:
        y = torch.softmax(x * scale + w, -1)
        return y, (y * x).sum(0), x.exp().sum()

    fused = fusewright.fuse(f)
    for n, m in ((64, 96), (64, 96), (40, 33), (40, 33), (64, 96)):
        x, w = torch.randn(n, m), torch.randn(m)
        for got, wanted in zip(fused(x, w, 0.5), f(x, w, 0.5), strict=True):
            torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)
    assert emulated.natively >= 3


def test_a_program_with_scratch_memory(emulated: Emulated) -> None:
    """Its launches take turns in the same."""

    def f(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a = F.layer_norm(x, (200,)).cos().sum(0)
        b = torch.mm(x.exp() + a, y)
        return a, b, F.layer_norm(b, (200,)).sin().sum(0)

    fused = fusewright.fuse(f)
    x, y = torch.randn(200, 200), torch.randn(200, 200)
    taken: list[int] = []
    empty = emulated.scratch
    emulated.scratch = lambda nbytes: taken.append(nbytes) or empty(nbytes)  # type: ignore[method-assign,func-returns-value]
    runs: list[int] = []
    for _ in range(3):
        del taken[:]
        for got, wanted in zip(fused(x, y), f(x, y), strict=True):
            torch.testing.assert_close(got, wanted, rtol=1e-3, atol=1e-3)
        runs.append(len(taken))
    assert emulated.natively >= 6 and runs[0] > 1 and runs[1:] == [1, 1]


def test_index_out_of_range(emulated: Emulated) -> None:
    def f(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x[i] * 2 + 1

    fused = fusewright.fuse(f)
    x, i = torch.randn(8, 32), torch.tensor([0, 1, 2, 3])
    for _ in range(2):
        torch.testing.assert_close(fused(x, i), f(x, i))
    with pytest.raises(IndexError):
        fused(x, i + 6)


def test_null_driver_and_option() -> None:
    """Launches are counted either way; without the option plans launch by Python."""

    def f(x: torch.Tensor) -> torch.Tensor:
        return (x * 2 + 1).exp()

    for wanted in (True, False):
        driver = NullDriver()
        with devices.use("cpu", driver), fusewright.options(native_launch=wanted):
            fused = fusewright.fuse(f)
            for _ in range(4):
                fused(torch.ones(64))
        assert driver.launched == 4


@pytest.mark.parametrize("wanted", [True, False])
def test_sizes_that_may_get_their_own_kernel_are_counted(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by machine code: what is to be decided in the seventh launch is decided then, and not before."""
    asked: list[int] = []
    monkeypatch.setattr(hot, "SMALL", 0)
    monkeypatch.setattr(hot, "STAKE", 0)
    monkeypatch.setattr(timed, "LAUNCHES", 7)
    monkeypatch.setattr(special.Kind, "wants", lambda kind, group: False)
    monkeypatch.setattr(timed.Hot, "ask", lambda self: asked.append(driver.launched))
    driver = NullDriver()
    with devices.use("cpu", driver), fusewright.options(native_launch=wanted, disk_cache=False):
        fused = fusewright.fuse(lambda x: (x * 3 + 1).exp())
        for n in range(1, 10):
            fused(torch.ones(64))
            assert driver.launched == n
            assert asked == [6, 7, 8][: max(0, n - 6)]


def test_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is in the disk cache, and is compiled without it."""
    monkeypatch.setattr(machine_code, "_given", {})  # no loaded program has brought it
    with fusewright.options(cache_dir=tmp_path):
        first = machine_code.address(launcher.NAME, launcher.text())
        assert [e.key for e in default_store().entries()]
        monkeypatch.setattr(llvm_jit, "compile_ir", lambda *a: pytest.fail("compiled again"))
        assert machine_code.address(launcher.NAME, launcher.text()) != first


def test_without_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the function cannot be made, Python does all of it."""
    monkeypatch.setattr(launcher, "_method", [])
    monkeypatch.setattr(launcher, "_failed", [])

    def no(*args: str) -> int:
        raise RuntimeFault("the loader rejected a kernel")

    monkeypatch.setattr(launcher, "address", no)
    gpu, _, site = simple()
    assert site(16, 16, 2) is False and site(16, 16, 2) is False
    assert len(gpu.by_python) == 2
