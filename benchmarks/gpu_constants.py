"""Times kernels whose sizes are numbers (`loop/constants.py`) against general ones of the same schedules.

    python benchmarks/gpu_constants.py [--json FILE] [--rounds N] [part of a case's name ...]

Each kernel of a case's first run is launched again on its own inputs, in turns: general, specialised, and both once
more, from a cold L2 cache. Printed for each: the least of the two medians, their ratio (below 1: the specialised one is
faster), by how much the general one's two medians differ (noise), registers of the largest launch, statements, and the
time to compile the specialised one. The results of both must be the same bits.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from gpu_variants import Recorder

import fusewright
from fusewright.bench.cases_gpu import GPU_CASES
from fusewright.build import nvrtc
from fusewright.loop.constants import with_sizes
from fusewright.loop.ir import Func, walk
from fusewright.loop.verify import verify
from fusewright.run import gpu, internals, tune

DEVICE = "cuda"


def registers(driver: Any, func: Func) -> int:
    """Registers of the launch that takes most; 0 where no machine code can be had."""
    try:
        return max(r.registers for r in nvrtc.report(driver.compile(func)))
    except Exception:
        return 0


def statements(func: Func) -> int:
    return sum(1 for _ in walk(func.body))


@contextmanager
def keeping() -> Iterator[list[torch.Tensor]]:
    """What plans compiled here allocate on a GPU stays alive, for their kernels are launched again later."""
    kept: list[torch.Tensor] = []
    empty_on = internals.empty_on

    def patched(*where: Any, **how: Any) -> Any:
        empty = empty_on(*where, **how)

        def allocate(*args: Any) -> torch.Tensor:
            kept.append(empty(*args))
            return kept[-1]

        return allocate

    with mock.patch.object(internals, "empty_on", patched):
        yield kept


def launches(case: Any) -> tuple[Any, list[Any]]:
    """(what must stay alive, the kernels that a case launches)."""
    torch._dynamo.reset()
    inputs = case.inputs(DEVICE, False)
    with keeping() as kept, Recorder() as recorder:
        fn = torch.compile(case.fn, backend="fusewright")
        if case.backward:
            out = fn(*inputs)
            grad = torch.randn_like(out)
            alive: Any = [grad, out, torch.autograd.grad(out, [inputs[i] for i in case.grads], grad, retain_graph=True)]
        else:
            with torch.no_grad():
                alive = fn(*inputs)
    return (inputs, alive, kept), recorder.found


def compare(group: gpu.GpuGroup, key: tuple[int, ...], pointers: Any, hosts: Any, rounds: int) -> dict[str, Any]:
    env, alignment = group.sizes_at(key)
    hint = gpu.sizes_of(env)
    f, schedule, extra = group.scheduled(hint, alignment)
    kernel = group._lower(f, schedule)
    numbers = kernel.evaluate({**env, **extra})
    began = time.perf_counter()
    func = with_sizes(kernel.func, numbers)
    folded = time.perf_counter() - began
    verify(func)
    began = time.perf_counter()
    code = group.driver.load(group.driver.compile(func), func)
    compiled = time.perf_counter() - began
    general = group.trial((f, schedule, extra), env)
    special = gpu.Prepared(group.driver, gpu.interface(func), code, [], list(group.fusion.hosts))
    memories, runs = [], []
    for p in (general, special):
        memory, there = tune._elsewhere(group.fusion, pointers, hint, group)
        for m in memory:
            m.zero_()
        memories.append(memory)
        runs.append(lambda p=p, there=there: p(*there, hosts=hosts))
    for r in runs:
        r()
    same = all(torch.equal(a, b) for a, b in zip(*memories, strict=True))
    times = group.driver.times(runs * 2, rounds)
    before, after = min(times[0::2]), min(times[1::2])
    return {
        "family": schedule.family,
        "mode": schedule.mode,
        "general_us": before * 1e6,
        "special_us": after * 1e6,
        "ratio": after / before,
        "noise": abs(times[0] - times[2]) / before,
        "registers": [registers(group.driver, x) for x in (kernel.func, func)],
        "statements": [statements(x) for x in (kernel.func, func)],
        "fold_ms": folded * 1e3,
        "compile_s": compiled,
        "same": same,
    }


def study(case: Any, rounds: int) -> Iterator[dict[str, Any]]:
    alive, found = launches(case)
    for group, key, pointers, hosts in found:
        yield {"case": case.name, **compare(group, key, pointers, hosts, rounds)}
    del alive


def show(name: str, r: dict[str, Any]) -> str:
    g, s = r["registers"]
    before, after = r["statements"]
    return (
        f"{name}: {r['family']} ({r['mode']}) {r['general_us']:.1f} -> {r['special_us']:.1f} us, "
        f"ratio {r['ratio']:.3f} (noise {r['noise']:.3f}), registers {g} -> {s}, statements {before} -> {after}, "
        f"folded in {r['fold_ms']:.0f} ms, compiled in {r['compile_s']:.2f} s{'' if r['same'] else ', RESULTS DIFFER'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("only", nargs="*")
    args = parser.parse_args()
    results = []
    with fusewright.options(fallback=False, single_op_groups=True):
        for case in GPU_CASES:
            if args.only and not any(p in case.name for p in args.only):
                continue
            try:
                for r in study(case, args.rounds):
                    results.append(r)
                    print(show(case.name, r), flush=True)
            except Exception as e:
                print(f"{case.name}: {type(e).__name__}: {e}"[:400], flush=True)
            if DEVICE == "cuda":
                torch.cuda.empty_cache()
    if results:
        mean = math.exp(sum(math.log(r["ratio"]) for r in results) / len(results))
        faster = sum(r["ratio"] < 0.97 for r in results)
        slower = sum(r["ratio"] > 1.03 for r in results)
        print(f"{len(results)} kernels: geometric mean {mean:.3f}; {faster} faster and {slower} slower by 3 %")
    if args.json:
        with open(args.json, "w") as out:
            json.dump(results, out)


if __name__ == "__main__":
    main()
