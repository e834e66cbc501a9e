"""Kernels of several launches, and what the launches behind the first cost.

    python benchmarks/second_launches.py [part of a case's name ...]

On a GPU. The kernel of each case with several launches is launched again on its own tensors: as it is; with each launch
waiting until the one before has ended (no `dependent_launch`); with what blocks have left combined by the last of them
(`finish`), or by another launch. Printed are microseconds of a call, many of them back to back, and from a cold L2
cache; then those of each launch (a dependent one begins early, and its time has the wait in it) and of all from the
first's begin to the last's end, as CUPTI sees them.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from gpu_variants import Recorder

import fusewright
from fusewright.core.options import current
from fusewright.run import gpu

CALLS, ROUNDS = 50, 15


def drop_add_norm(x: Any, b: Any, r: Any, w: Any, v: Any) -> torch.Tensor:
    return F.layer_norm(F.dropout(x + b, 0.1) + r, (x.shape[-1],), w, v)


def _norm(dtype: torch.dtype, rows: int, columns: int) -> Callable[[], Any]:
    def run() -> Any:
        x, r = (torch.randn(rows, columns, device="cuda", dtype=dtype).requires_grad_() for _ in range(2))
        b, w, v = (torch.randn(columns, device="cuda", dtype=dtype).requires_grad_() for _ in range(3))
        y = fusewright.fuse(drop_add_norm)(x, b, r, w, v)
        return torch.autograd.grad(y, [x, r, b, w, v], torch.randn_like(y)), y

    return run


def _one(f: Callable[..., Any], *shape: int, dtype: torch.dtype = torch.float32) -> Callable[[], Any]:
    return lambda: fusewright.fuse(f)(torch.randn(shape, device="cuda", dtype=dtype))


def _embedding() -> Any:
    w = torch.randn(50000, 768, device="cuda", requires_grad=True)
    i = torch.randint(0, 50000, (16384,), device="cuda")
    y = fusewright.fuse(lambda w, i: F.embedding(i, w) * 2)(w, i)
    return torch.autograd.grad(y, w, torch.randn_like(y)), y


CASES: dict[str, Callable[[], Any]] = {
    "norm backward 8192x1024 f32": _norm(torch.float32, 8192, 1024),
    "norm backward 8192x1024 bf16": _norm(torch.bfloat16, 8192, 1024),
    "norm backward 32768x4096 bf16": _norm(torch.bfloat16, 32768, 4096),
    "norm backward 65536x256 f32": _norm(torch.float32, 65536, 256),
    "sum dim 0 32768x4096 bf16": _one(lambda x: x.sum(0), 32768, 4096, dtype=torch.bfloat16),
    "var_mean dim 0 32768x1024 f32": _one(lambda x: torch.var_mean(x, 0), 32768, 1024),
    "sum all 16384x8192 f32": _one(lambda x: x.sum(), 16384, 8192),
    "softmax 4x2M f32": _one(lambda x: torch.softmax(x, -1), 4, 1 << 21),
    "layer norm 8x1M f32": _one(lambda x: F.layer_norm(x, x.shape[-1:]), 8, 1 << 20),
    "embedding backward 50000x768 f32": _embedding,
}


def ways(settled: Any) -> Iterator[tuple[str, Any, bool]]:
    """(name, what is launched, whether launches are dependent)."""
    f, s, launch = settled
    yield "as it is", settled, True
    yield "one after the other", settled, False
    if s.resident or s.mode == "split":
        other = (f, replace(s, finish=not s.finish), launch)
        yield "no finish" if s.finish else "finish", other, True
        if s.finish:
            yield "no finish, one after the other", other, False


def back_to_back(run: Callable[[], None]) -> float:
    """Microseconds of a call."""
    times = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(2_000_000)
        begin.record()
        for _ in range(CALLS):
            run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / CALLS)
    return statistics.median(times)


def profiled(run: Callable[[], None], launches: int) -> tuple[list[float], float]:
    """Microseconds of each launch, and of all of a call from the first's begin to the last's end: medians."""
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:
        for _ in range(CALLS):
            run()
        torch.cuda.synchronize()
    found = [e.time_range for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA]
    found.sort(key=lambda t: t.start)
    calls = [found[k : k + launches] for k in range(0, len(found) - launches + 1, launches)][CALLS // 5 :]
    each = [statistics.median(c[k].end - c[k].start for c in calls) for k in range(launches)]
    return each, statistics.median(c[-1].end - c[0].start for c in calls)


def main(only: list[str]) -> None:
    with fusewright.options(fallback=False, native_launch=False, specialize="never"):
        for name, make in CASES.items():
            if only and not any(x in name for x in only):
                continue
            with Recorder() as recorder:
                alive = make()
            torch.cuda.synchronize()
            for group, key, pointers, hosts in recorder.found:
                env, alignment = group.sizes_at(key)
                settled = group.scheduled(gpu.sizes_of(env), alignment)
                options, found = group.options, {}
                for way, what, dependent in ways(settled):
                    with fusewright.options(dependent_launch=dependent):
                        group.options = replace(options, dependent_launch=current().dependent_launch)
                        try:
                            found[way] = group.trial(what, env)
                        except Exception as e:
                            print(f"{name}: {way}: {type(e).__name__}: {e}"[:200])
                group.options = options
                if all(len(x.launches) < 2 for x in found.values()):
                    continue
                runs = {way: (lambda p=p: p(*pointers, hosts=hosts)) for way, p in found.items()}
                cold = dict(zip(runs, group.driver.times(list(runs.values()), ROUNDS), strict=True))
                for way, run in runs.items():
                    blocks = ", ".join(f"{b}x{t}" for _, b, t, *_ in found[way].launches)
                    each, whole = profiled(run, len(found[way].launches))
                    times = " + ".join(f"{t:.1f}" for t in each)
                    row = f"{back_to_back(run):7.1f} us warm, {cold[way] * 1e6:7.1f} cold; {times}, in all {whole:.1f}"
                    print(f"{name}: {way:30} {row} ({blocks})", flush=True)
            del alive
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main(sys.argv[1:])
