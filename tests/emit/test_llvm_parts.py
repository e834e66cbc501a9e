"""Parts of vectors (`emit/llvm_parts.py`): the first n elements are accessed, and no memory beside them."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator

import numpy as np
import pytest

from fusewright.emit import llvm_parts
from fusewright.emit.llvm_types import vector

llvm = pytest.importorskip("llvmlite.binding")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

DECLARED = """declare i64 @llvm.smin.i64(i64, i64)
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32 immarg, <4 x i1>, <4 x i32>)
"""
TYPES = {"i8": np.int8, "i16": np.int16, "half": np.float16, "float": np.float32, "double": np.float64, "i64": np.int64}


def _compiled(text: str) -> tuple[object, object]:
    """(what must stay alive, the function `apply` of two addresses and a number)."""
    module = llvm.parse_assembly(text)
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    return engine, kind(engine.get_function_address("apply"))


def _apply(function: str, elem: str, lanes: int, read: bool) -> str:
    ty = vector(elem, lanes)
    whole, part = (f"store {ty} %x, ptr %y", f"%x = call {ty} @f(ptr %p, i64 %n)")
    if not read:
        whole, part = (f"call void @f({ty} %x, ptr %y, i64 %n)", f"%x = load {ty}, ptr %p")
    body = f"define void @apply(ptr %p, ptr %y, i64 %n) {{\n  {part}\n  {whole}\n  ret void\n}}"
    return f"{DECLARED}{llvm_parts.NOTHING}\n{function}\n{body}"


@pytest.fixture
def edge() -> Iterator[int]:
    """The address behind which nothing can be accessed, with some memory before it."""
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    held = ctypes.c_char.from_buffer(pages)
    end = ctypes.addressof(held) + mmap.PAGESIZE
    libc = ctypes.CDLL(None, use_errno=True)
    protect = lambda how: libc.mprotect(ctypes.c_void_p(end), ctypes.c_size_t(mmap.PAGESIZE), how)
    if protect(0):
        pytest.skip("no protected pages here")
    yield end
    protect(mmap.PROT_READ | mmap.PROT_WRITE)
    del held
    pages.close()


@pytest.mark.parametrize("elem", ["i16", "half"])
def test_loads(elem: str, edge: int) -> None:
    _alive, f = _compiled(_apply(llvm_parts.load("f", elem, 8), elem, 8, True))
    out = np.empty(8, TYPES[elem])
    for n in (*range(-1, 9), 20):
        count = min(max(n, 0), 8)
        values = np.arange(1, 9).astype(TYPES[elem])
        ctypes.memmove(edge - 2 * count, values.ctypes.data, 2 * count)
        f(edge - 2 * count, out.ctypes.data, n)
        np.testing.assert_array_equal(out, np.where(np.arange(8) < count, values, 0))


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("elem", list(TYPES))
def test_stores(elem: str, lanes: int) -> None:
    size = np.dtype(TYPES[elem]).itemsize
    _alive, f = _compiled(_apply(llvm_parts.store("f", elem, lanes, size), elem, lanes, False))
    values = np.arange(1, lanes + 1).astype(TYPES[elem])
    for n in (*range(-1, lanes + 1), lanes + 5):
        out = np.zeros(lanes + 2, TYPES[elem])
        f(values.ctypes.data, out.ctypes.data + size, n)
        want = np.zeros(lanes + 2, TYPES[elem])
        count = min(max(n, 0), lanes)
        want[1 : 1 + count] = values[:count]
        np.testing.assert_array_equal(out, want)


def test_which_targets_need_them() -> None:
    """Masked loads of 16-bit elements are an instruction with AVX-512 only, those of 32-bit ones with AVX2."""
    assert llvm_parts.loads("i16", 8, 256) and llvm_parts.loads("half", 8, 256)
    assert not llvm_parts.loads("float", 8, 256) and not llvm_parts.loads("i16", 8, 512)
    assert llvm_parts.stores(8, 256) and llvm_parts.stores(4, 128) and not llvm_parts.stores(16, 512)
