"""Which schedules the GPU cases get, and what their kernels take (registers, stack, shared memory), without a GPU.

    python benchmarks/gpu_schedules.py [part of a case's name]

The cases run at full size on CPU tensors, for an H200: kernels, with sizes as arguments, are planned, emitted and
compiled by NVRTC (needed), but not launched. Up to 8 GB of memory are used.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch

import fusewright
from fusewright.bench.cases import Case
from fusewright.bench.cases_gpu import GPU_CASES
from fusewright.bench.null import NullDriver
from fusewright.bench.runner import ON_GPUS
from fusewright.build import nvrtc
from fusewright.emit.cuda import emit_cuda
from fusewright.emit.cuda_types import CudaTarget
from fusewright.loop.ir import Func
from fusewright.run import devices, gpu


class Compiling(NullDriver):
    """A driver that compiles and launches nothing."""

    turn = 0.0  # no kernel of another is known

    def versions(self) -> str:
        return f"dry run {self.turn}"

    def compile(self, func: Func) -> bytes:
        cubin, _ = nvrtc.compile(emit_cuda(func, CudaTarget(9, 0)), "sm_90")
        self.reports = nvrtc.report(cubin)
        return cubin

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        self.launches.append(f"{blocks}x{threads}")

    follow = launch


def run(case: Case, driver: Compiling, **options: Any) -> None:
    """Plan and compile a case's kernels by `driver`, which keeps what it says of them, and launch nothing."""
    torch._dynamo.reset()
    driver.launches, driver.reports, driver.turn = [], [], time.time()
    inputs = case.inputs("cpu", False)
    options = {"disk_cache": False, "fallback": False, "native_launch": False, **options}
    with devices.use("cpu", driver), fusewright.options(**options):
        fn = torch.compile(case.fn, backend="fusewright")
        if case.backward:
            out = fn(*inputs)
            out.backward(torch.ones_like(out))
        else:
            with torch.no_grad():
                fn(*inputs)


def main(only: str) -> None:
    driver = Compiling()
    plan, seen = gpu.plan, []

    def planned(*args: Any) -> Any:
        out = plan(*args)
        seen.append(out[1])
        return out

    gpu.plan = planned
    for case in ON_GPUS if only else GPU_CASES:
        if only not in case.name:
            continue
        seen.clear()
        run(case, driver, specialize="never")
        print(f"{case.name}: {', '.join(driver.launches)}")
        for s in dict.fromkeys(seen):
            print(
                f"    {s.family} ({s.mode}) {s.row_threads}x{s.col_threads} threads, {s.steps} steps, {s.lanes} lanes"
                f"{f', clusters of {s.cluster}' if s.cluster > 1 else ''}{', resident' * s.resident}"
                f"{', interleaved' * s.interleaved}{', uniform' * s.uniform}, {s.index}-bit"
            )
        for r in driver.reports:
            print(f"    {r.name}: {r.registers} registers, {r.stack} stack, {r.shared} shared")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
