"""The tutorial's block by a profiler's clock: what its kernels take, forward and backward.

    python benchmarks/block.py                     # on a GPU; about a minute
    python benchmarks/block.py "1024] bfloat16"    # cases whose names contain this

A step is the forward pass and the backward pass to all inputs, by eager, TorchInductor and Fusewright in one process.
Printed are microseconds a step, of many steps in a row: the sum of its kernels' times, and the same with what two
kernels that run at once share counted once; and how many kernels there are.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable

import torch
from models import exclusive, spans
from torch.profiler import ProfilerActivity
from torch.profiler import profile as profiler

from fusewright.bench.cases import Case
from fusewright.bench.cases_gpu import tutorial

WARM, STEPS, ROUNDS = 8, 20, 5


def step_of(case: Case, backend: str) -> Callable[[], None]:
    torch._dynamo.reset()
    fn = case.fn if backend == "eager" else torch.compile(case.fn, backend=backend)
    inputs = case.inputs("cuda", False)
    wanted = [inputs[i] for i in case.grads]
    grad = torch.randn_like(fn(*inputs))

    def step() -> None:
        torch.autograd.grad(fn(*inputs), wanted, grad)

    return step


def measured(step: Callable[[], None]) -> tuple[float, float, float]:
    """(sum of kernels, the same without what they share, number of kernels) of a step, the median of some rounds."""
    for _ in range(WARM):
        step()
    torch.cuda.synchronize()
    rounds = []
    for _ in range(ROUNDS):
        with profiler(activities=[ProfilerActivity.CUDA]) as p:
            for _ in range(STEPS):
                step()
            torch.cuda.synchronize()
        ran = spans(p)
        every, once = sum(b - a for a, b, _ in ran), sum(t for _, t in exclusive(ran))
        rounds.append((every / STEPS, once / STEPS, len(ran) / STEPS))
    every, once, count = (statistics.median(r[k] for r in rounds) for k in range(3))
    return every, once, count


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    for case in tutorial():
        if part not in case.name:
            continue
        found = []
        for backend in ("eager", "inductor", "fusewright"):
            every, once, count = measured(step_of(case, backend))
            found.append(f"{backend} {every:6.1f} ({once:6.1f}; {count:4.1f} kernels)")
        print(f"{case.name:60} {'   '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
