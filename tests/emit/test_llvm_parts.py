"""The first lanes of vectors (`emit/llvm_parts.py`): what is read and written, and nothing beside it."""

from __future__ import annotations

import ctypes
import mmap
import sys
from functools import cache

import numpy as np
import pytest

from fusewright.core.dtypes import bf16, bool_, f16, f32, f64, i8, i64
from fusewright.emit.llvm_ops import Ops
from fusewright.emit.llvm_types import stored, vector

llvm = pytest.importorskip("llvmlite.binding")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

LANES = (2, 4, 8, 16)
TYPES = {d.name: d for d in (f64, f32, i64, f16, bf16, i8, bool_)}


@cache
def compiled(dtype: str, lanes: int) -> tuple[object, int, int]:
    """(what must stay alive, the address of `load`, of `store`): both have a pointer to a whole vector beside."""
    d = TYPES[dtype]
    elem = stored(d)
    ty, ops = vector(elem, lanes), Ops(256, frozenset(), True)
    store = ops.part_store(elem, d.itemsize, lanes)
    text = f"""
define void @store(ptr %p, ptr %v, i64 %n) {{
  %x = load {ty}, ptr %v, align 1
  call void @{store}(ptr %p, {ty} %x, i64 %n)
  ret void
}}
"""
    if d.itemsize * lanes in (8, 16):
        text += f"""
define void @load(ptr %p, ptr %v, i64 %n) {{
  %x = call {ty} @{ops.part_load(elem, d.itemsize, lanes)}(ptr %p, i64 %n)
  store {ty} %x, ptr %v, align 1
  ret void
}}
"""
    module = llvm.parse_assembly("\n".join([*ops.declarations(), text, *ops.definitions()]))
    module.verify()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=2)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, engine.get_function_address("load"), engine.get_function_address("store")


def call(address: int, p: int, v: int, n: int) -> None:
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address)(p, v, n)


class Page:
    """A page of memory with nothing behind it that may be touched."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 2 * mmap.PAGESIZE)
        self.view = np.frombuffer(self.memory, np.uint8)
        self.start = self.view.ctypes.data
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        end = ctypes.c_void_p(self.start + mmap.PAGESIZE)
        assert protect(end, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0

    def last(self, size: int) -> np.ndarray:
        """The last bytes of the page."""
        return self.view[mmap.PAGESIZE - size : mmap.PAGESIZE]


@pytest.mark.skipif(sys.platform != "linux", reason="protects memory as Linux does")
@pytest.mark.every(2)
@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", TYPES)
def test_first_lanes(dtype: str, lanes: int) -> None:
    _, load, store = compiled(dtype, lanes)
    size, page = TYPES[dtype].itemsize, Page()
    full = np.random.default_rng(lanes).integers(1, 255, size * lanes).astype(np.uint8)
    for n in (-3, *range(lanes + 1), lanes + 5):
        count = size * min(max(n, 0), lanes)
        got = np.full(size * lanes, 77, np.uint8)
        if load:
            page.last(count)[...] = full[:count]
            call(load, page.start + mmap.PAGESIZE - count, got.ctypes.data, n)
            assert (got[:count] == full[:count]).all() and not got[count:].any(), n
        page.view[: mmap.PAGESIZE] = 99
        call(store, page.start + mmap.PAGESIZE - count, full.ctypes.data, n)
        assert (page.last(count) == full[:count]).all(), n
        assert (page.view[: mmap.PAGESIZE - count] == 99).all(), n
        beside = np.full(size * lanes + 8, 99, np.uint8)  # with room behind it
        call(store, beside.ctypes.data, full.ctypes.data, n)
        assert (beside[:count] == full[:count]).all() and (beside[count:] == 99).all(), n
