"""What the loader refuses must not disturb what is loaded afterwards; nor must a crowded address space."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
from fusewright.build import llvm_jit
from fusewright.core.errors import RuntimeFault
target = llvm_jit.host_target((), True, True, True)
text = "define i32 @f() {\\n  ret i32 7\\n}"
obj = llvm_jit.compile_ir(text, target)
for _ in range(2):
    try:
        llvm_jit.load(obj, "g", [], target)
    except RuntimeFault as e:
        print("refused")
import ctypes
print(ctypes.CFUNCTYPE(ctypes.c_int32)(llvm_jit.load(obj, "f", [], target))())
"""


def test_a_refused_object_leaves_a_working_loader() -> None:
    """In a process of its own: LLVM ends the process when a library's name is used a second time."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["refused", "refused", "7"]


CROWDED = """
import ctypes
from fusewright.build import llvm_jit
target = llvm_jit.host_target((), True, True, True)
text = '''
declare float @expf(float)
define float @f(float %x) {
  %y = fmul float %x, 0x3FF3AE1480000000
  %z = call float @expf(float %y)
  %w = fadd float %z, 0x400921FB60000000
  ret float %w
}'''
obj = llvm_jit.compile_ir(text, target)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
GB, NOTHING, RESERVE = 1 << 30, 0, 0x4022  # PROT_NONE; MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
base = libc.mmap(None, 900 * GB, NOTHING, RESERVE, -1, 0)
for k in range(290):
    libc.munmap(base + 3 * GB * k + GB, 4096)  # pages that are free, three gigabytes apart
for size in (GB, 1 << 26, 1 << 22, 1 << 18, 1 << 14, 4096):  # use up every other hole
    for _ in range(300000):
        p = libc.mmap(None, size, NOTHING, RESERVE, -1, 0)
        if p is None or p >= (1 << 64) - 4096:
            break
        if p < base + 900 * GB:
            libc.munmap(p, size)
            break
for _ in range(20):
    at = llvm_jit.load(obj, "f", ["expf"], target)
print(round(ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(at)(1.0), 4))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the layout of memory is arranged with Linux's mmap")
def test_kernels_load_where_memory_is_in_pieces() -> None:
    done = subprocess.run([sys.executable, "-c", CROWDED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["6.5628"]
