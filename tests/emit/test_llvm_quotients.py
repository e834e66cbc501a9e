"""Quotients of consecutive numbers (`emit/llvm_quotients.py`), which lanes have of their own."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch

import fusewright
from fusewright.emit.llvm_quotients import define
from fusewright.emit.llvm_types import vector

llvm = pytest.importorskip("llvmlite.binding")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

LARGE = (2**31 - 7, 2**33 + 5, 2**52 + 1)


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_every_divisor(lanes: int) -> None:
    ty = vector("i64", lanes)
    module = llvm.parse_assembly(f"""{define("quotients", lanes)}
define void @run(i64 %a, i64 %d, ptr %p) {{
  %x = call {ty} @quotients(i64 %a, i64 %d)
  store {ty} %x, ptr %p, align 8
  ret void
}}
""")
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=llvm.get_host_cpu_name(), opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(engine.get_function_address("run"))
    out = np.zeros(lanes, np.int64)
    for d in (*range(1, 3 * lanes), 1000, *LARGE):
        some = {*range(-4 * lanes, 4 * lanes), d - 1, d, 3 * d - lanes // 2, 3 * d + d // 2}
        for a in {*some, *(n - lanes for n in LARGE), *(-n for n in LARGE)}:
            run(a, d, out.ctypes.data)
            np.testing.assert_array_equal(out, (a + np.arange(lanes)) // d, err_msg=f"{a} by {d}")


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 17, 40])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
def test_what_is_repeated(n: int, dtype: torch.dtype) -> None:
    """Each element n times, and the whole n times: one division for a vector, and none of each lane's."""

    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x + 1
        return y.repeat_interleave(n, 1) * 2, y.repeat(1, n) * 2, y.unsqueeze(2).expand(-1, -1, n).flatten(1) * 2

    compiled = torch.compile(program, backend="fusewright", dynamic=True)
    with fusewright.options(fallback=False):
        for rows, columns in ((3, 5), (4, 33), (1, 1)):
            x = torch.randn(rows, columns).mul(5).to(dtype)
            for got, want in zip(compiled(x), program(x), strict=True):
                assert torch.equal(got, want)
