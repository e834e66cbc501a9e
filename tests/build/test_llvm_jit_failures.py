"""What the loader refuses must not disturb what is loaded afterwards."""

from __future__ import annotations

import subprocess
import sys

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
