"""What the kernels of a model would be on a GPU that is not there: registers, spills, seconds of compilation.

    python benchmarks/registers.py ResNet U-Net            of the models of `models.py` whose names have these in them
    python benchmarks/registers.py --above 96 --sources out BERT

The model is traced on the CPU, forward and backward, at its full size, with kernels for an H200; nothing is run. Listed
are kernels that keep numbers on the stack, and those of more than so many registers. `--sources` keeps all of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from models import MODELS
from models_more import MORE, Model
from torch._dynamo.exc import BackendCompilerFailed

import fusewright
from fusewright import backend, compile_gpu
from fusewright.bench.null import NullDriver
from fusewright.build import nvrtc
from fusewright.emit.cuda import CudaTarget, emit_cuda
from fusewright.loop.ir import Func
from fusewright.run import devices
from fusewright.schedule.device import H200
from fusewright.trace import fx

TARGET = CudaTarget(*H200.capability)


class Traced(Exception):
    """Everything is compiled."""


class Absent(NullDriver):
    """Remembers what it should have compiled: CUDA C++, and what it was emitted for."""

    def __init__(self) -> None:
        super().__init__(H200)
        self.kernels: dict[str, Func] = {}

    def compile(self, func: Func) -> bytes:
        self.kernels.setdefault(emit_cuda(func, TARGET), func)
        return super().compile(func)


def compiled(fn: Callable[..., Any], inputs: Sequence[Any]) -> tuple[Absent, float]:
    """What is compiled for a function, forward and backward, and the seconds that the backend takes without NVRTC."""
    torch._dynamo.reset()
    driver, took = Absent(), 0.0

    def compile_only(gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        nonlocal took
        began = time.perf_counter()
        backend.fusewright(gm, inputs)
        took += time.perf_counter() - began
        raise Traced

    def on_gpu(*facts: Any) -> fx.Context:
        return replace(context(*facts), device="cuda")  # where eager rounds otherwise, and sums in other types

    context, options = fx.Context, fusewright.options(disk_cache=False, fallback=False)
    with devices.use("cpu", driver), options, mock.patch.object(fx, "Context", on_gpu):
        try:
            torch.compile(fn, backend=compile_only)(*inputs)
        except BackendCompilerFailed as e:
            if not isinstance(e.inner_exception, Traced):
                raise
        compile_gpu.settle()
    return driver, took


def traced(model: Model) -> tuple[Absent, float]:
    """`compiled`, of a step of a model."""
    torch.manual_seed(0)
    module = model.make().to(dtype=None if model.autocast else torch.bfloat16, memory_format=torch.channels_last)
    return compiled(module, model.data())


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[""], help="parts of names of models (all of them)")
    parser.add_argument("--above", type=int, default=128, metavar="N", help="list kernels of more registers (128)")
    parser.add_argument("--sources", type=Path, metavar="DIR", help="keep the CUDA C++ of all kernels")
    args = parser.parse_args(argv)
    if not nvrtc.available():
        sys.exit("registers.py needs NVRTC: pip install nvidia-cuda-nvrtc")
    if args.sources is not None:
        args.sources.mkdir(parents=True, exist_ok=True)
    for name, model in {**MODELS, **MORE}.items():
        if not any(part in name for part in args.names):
            continue
        driver, took = traced(model)
        seconds, spilled = 0.0, 0
        for k, (source, func) in enumerate(driver.kernels.items()):
            if args.sources is not None:
                (args.sources / f"{name.split()[0].strip(',')}-{k:03d}-{func.name}.cu").write_text(source)
            began = time.perf_counter()
            cubin, _ = nvrtc.compile(source, TARGET.arch)
            seconds += time.perf_counter() - began
            reports = nvrtc.report(cubin)
            spilled += any(r.stack for r in reports)
            for r in reports:
                if r.stack or r.registers > args.above:
                    print(f"  {r.registers:4d} registers, {r.stack:4d} bytes of stack: {r.name} ({k})")
        what = f"{len(driver.kernels)} kernels, {spilled} of them with a stack"
        print(f"{name}: {what}; {took:.1f} s without NVRTC, {seconds:.1f} s in it", flush=True)


if __name__ == "__main__":
    main()
