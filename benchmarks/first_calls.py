"""The first call of each GPU case, tracing included: on a GPU, or without one.

    python benchmarks/first_calls.py [--only PART]

Without a GPU the cases run at full size on CPU tensors that nobody fills, for an H200: their kernels are compiled by
NVRTC (needed) and not launched. NVRTC, which keeps what it has compiled in `~/.nv`, starts with an empty folder in each
run. Printed for each case: milliseconds of the call; the mean and the median leave out the first case, whose call
imports what the others find.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import torch

import fusewright
from fusewright import compile_gpu
from fusewright.bench.cases import Case
from fusewright.bench.cases_gpu import GPU_CASES
from fusewright.bench.measure import synchronize
from fusewright.bench.null import NullDriver
from fusewright.build import nvrtc
from fusewright.emit.cuda_types import CudaTarget
from fusewright.loop.ir import Func
from fusewright.run import devices, gpu
from fusewright.schedule.device import H200


class Compiling(NullDriver):
    """Compiles as the driver of a GPU does, and launches nothing."""

    target = CudaTarget(*H200.capability)

    def versions(self) -> str:
        return f"no launches {nvrtc.versions()}"

    def compile(self, func: Func) -> bytes:
        return gpu.cubin_of(func, self.target, lambda text: nvrtc.compile(text, self.target.arch)[0])

    def load(self, code: bytes, func: Func) -> list[Any]:
        return self.restore(code, gpu.interface(func).launches)

    def can_time(self) -> bool:
        return True


@contextlib.contextmanager
def unfilled() -> Iterator[None]:
    """`torch.randn` gives memory that is never touched, which takes none."""
    filled = torch.randn
    torch.randn = lambda *size, **how: torch.empty(*size, **how)
    try:
        yield
    finally:
        torch.randn = filled


def first_call(case: Case, device: str) -> float:
    """Seconds of the first call of a case."""
    with contextlib.nullcontext() if device == "cuda" else unfilled():
        inputs = case.inputs(device, False)
    torch._dynamo.reset()
    synchronize(device)
    with fusewright.options(disk_cache=False, fallback=False), torch.no_grad():
        began = time.perf_counter()
        torch.compile(case.fn, backend="fusewright")(*inputs)
        synchronize(device)
        return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases with this in their names")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cases = [c for c in GPU_CASES if args.only in c.name and not c.backward]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        os.environ["CUDA_CACHE_PATH"] = folder
        if device == "cpu":
            stack.enter_context(devices.use("cpu", Compiling()))
        found = []
        for case in cases:
            found.append(first_call(case, device))
            print(f"{found[-1] * 1e3:6.0f} ms  {case.name}", flush=True)
            compile_gpu.settle()  # what is compiled in the background belongs to this call
    rest = found[1:] or found
    mean, median = statistics.mean(rest), statistics.median(rest)
    print(f"{len(rest)} calls but the first: mean {mean:.3f} s, median {median:.3f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
