"""Times kernels whose sizes are numbers (`loop/constants.py`) against general ones of the same schedules.

    python benchmarks/gpu_constants.py [--json FILE] [--rounds N] [part of a case's name ...]

Each kernel of a case's first run is launched again on its own inputs, in turns: general, specialised, specialised with
registers bounded so that as many blocks run at once as of the general one (where they would not), and all once more,
from a cold L2 cache. Printed for each: the least of the two medians, the ratio (below 1: the specialised one is faster;
in brackets: with bounded registers), by how much the general one's two medians differ (noise), registers of the largest
launch, statements, and the time to compile the specialised one. The results of all must be the same bits.
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
from fusewright.bench.runner import ON_GPUS
from fusewright.build import nvrtc
from fusewright.core.errors import CompilerError
from fusewright.loop.constants import with_sizes
from fusewright.loop.ir import Func, walk
from fusewright.loop.verify import verify
from fusewright.run import gpu, internals, special, timed

DEVICE = "cuda"


def registers(kernel: gpu.GpuKernel) -> int:
    """Registers of the launch that takes most; 0 where there is no machine code."""
    try:
        return max(r.registers for r in nvrtc.report(kernel.code))
    except CompilerError:
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
    code = gpu.kernel_for(func, group.driver)
    compiled = time.perf_counter() - began
    plain = gpu.kernel_for(kernel.func, group.driver)
    kernels = [plain, code]
    tight = special.tightened(special.Special(func, code), plain, group.driver.gpu)
    if tight is not None:
        kernels.append(gpu.kernel_for(tight, group.driver))
    launches = [
        gpu.Prepared(group.driver, k.takes, k.handles, [] if k is not plain else numbers, list(group.fusion.hosts))
        for k in kernels
    ]
    outputs = [k for k, b in enumerate(group.fusion.buffers) if b.output]
    memories, runs = [], []
    for p in launches:
        memory, there = gpu.elsewhere(group, pointers, hint, outputs)
        for m in memory:
            m.zero_()
        memories.append(memory)
        runs.append(lambda p=p, there=there: p(*there, hosts=hosts))
    for r in runs:
        r()
    same = all(torch.equal(a, b) for m in memories[1:] for a, b in zip(memories[0], m, strict=True))
    times = group.driver.times(runs * 2, rounds)
    before, after, *bounded = map(min, zip(times[: len(runs)], times[len(runs) :], strict=True))
    return {
        "family": schedule.family,
        "mode": schedule.mode,
        "general_us": before * 1e6,
        "special_us": after * 1e6,
        "ratio": after / before,
        "bounded": bounded[0] / before if bounded else None,
        "noise": abs(times[0] - times[len(runs)]) / before,
        "registers": [registers(k) for k in kernels],
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
    took = " -> ".join(map(str, r["registers"]))
    bounded = f" [{r['bounded']:.3f}]" if r["bounded"] is not None else ""
    before, after = r["statements"]
    return (
        f"{name}: {r['family']} ({r['mode']}) {r['general_us']:.1f} -> {r['special_us']:.1f} us, "
        f"ratio {r['ratio']:.3f}{bounded} (noise {r['noise']:.3f}), registers {took}, statements {before} -> {after}, "
        f"folded in {r['fold_ms']:.0f} ms, compiled in {r['compile_s']:.2f} s{'' if r['same'] else ', RESULTS DIFFER'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("only", nargs="*")
    args = parser.parse_args()
    results = []
    with fusewright.options(fallback=False, single_op_groups=True, disk_cache=False, specialize="never"):
        for case in ON_GPUS:
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
        best = [min(1.0, r["ratio"], r["bounded"] or 1.0) for r in results]
        adopted = math.exp(sum(math.log(b if b <= timed.GAIN else 1.0) for b in best) / len(best))
        faster = sum(r["ratio"] < 0.97 for r in results)
        slower = sum(r["ratio"] > 1.03 for r in results)
        print(
            f"{len(results)} kernels: geometric mean {mean:.3f}; {faster} faster and {slower} slower by 3 %; "
            f"{adopted:.3f} where only what is faster is adopted"
        )
    if args.json:
        with open(args.json, "w") as out:
            json.dump(results, out)


if __name__ == "__main__":
    main()
