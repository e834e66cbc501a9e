"""Rounding to bfloat16 (`emit/llvm_ops.py`), at every width: to nearest, ties to even, also subnormal numbers; NaN."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch

from fusewright.core.dtypes import bf16, f32
from fusewright.emit.llvm_ops import Ops
from fusewright.emit.llvm_types import vector

llvm = pytest.importorskip("llvmlite.binding")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

FEATURES = llvm.get_host_cpu_features()
WIDTHS = [(lanes, 256) for lanes in (1, 4, 8, 16)]
if all(FEATURES.get(n) for n in ("avx512f", "avx512vl", "avx512bw")):
    WIDTHS += [(lanes, 512) for lanes in (1, 8, 16)]


class Lines:
    """What `Ops` writes to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block_memo: dict[object, str] = {}

    def line(self, s: str) -> None:
        self.lines.append(s)

    def fresh(self, prefix: str = "t") -> str:
        return f"%{prefix}{len(self.lines)}"

    def put(self, text: str) -> str:
        v = self.fresh()
        self.line(f"{v} = {text}")
        return v


@pytest.mark.parametrize("lanes, bits", WIDTHS)
def test_rounding_to_bfloat16(lanes: int, bits: int) -> None:
    """Every upper half, with lower halves around the ties: as it is stored, and as float32 again."""
    w, ops = Lines(), Ops(bits, frozenset(), True)
    f, i = vector("float", lanes), vector("i16", lanes)
    stored = ops.narrow(w, "%v", f32, bf16, lanes)
    ops.through(w, "%again", "%v", f32, bf16, lanes)
    body = "\n".join(f"  {s}" for s in w.lines)
    text = f"""
define void @apply(ptr %x, ptr %y, ptr %z, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr float, ptr %x, i64 %i
  %q = getelementptr i16, ptr %y, i64 %i
  %r = getelementptr float, ptr %z, i64 %i
  %v = load {f}, ptr %p, align 4
{body}
  store {i} {stored}, ptr %q, align 2
  store {f} %again, ptr %r, align 4
  %next = add i64 %i, {lanes}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
    module = llvm.parse_assembly("\n".join([*ops.declarations(), text, *ops.definitions()]))
    module.verify()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=FEATURES.flatten(), opt=2)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(engine.get_function_address("apply"))

    low = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    x = ((np.arange(65536, dtype=np.uint32) << 16)[:, None] | low).ravel().view(np.float32)
    y, z = np.empty(len(x), np.int16), np.empty_like(x)
    call(x.ctypes.data, y.ctypes.data, z.ctypes.data, len(x))
    exact = torch.from_numpy(x).bfloat16()
    nan = exact.isnan()
    got = torch.from_numpy(y).view(torch.bfloat16)
    assert torch.equal(got.isnan(), nan) and torch.equal(torch.from_numpy(z).isnan(), nan)
    assert torch.equal(got.view(torch.int16)[~nan], exact.view(torch.int16)[~nan])
    again = torch.from_numpy(z)[~nan].view(torch.int32)
    assert torch.equal(again, exact[~nan].float().view(torch.int32))
