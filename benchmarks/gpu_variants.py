"""Times many legal schedules of the kernels of the GPU cases, to see what the heuristics leave on the table.

    python benchmarks/gpu_variants.py [--json FILE] [--most N] [--set NAME=NUMBER ...] [--general]
        [--drawn SEED [--count N] [--kinds KINDS] [--scale SCALE]] [part of a case's name ...]

Each kernel of a case's first run is launched again with its own tensors under every schedule of `schedule/variants.py`
(at most N, 60 by default), from a cold L2 cache, in turns. Printed: share of the copy roof (or microseconds, where a
case has several kernels) of the heuristic's choice and of the best ones. Kernels have their sizes as numbers, as those
of a program's first sizes have, or with `--general` as arguments. `--set`: another number for a constant of the
heuristics, in every module that has it, as in `--set PIECES=8`.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import drawn_shapes
import torch
from draw import Draw

import fusewright
from fusewright.bench import measure
from fusewright.bench.cases import Case
from fusewright.bench.runner import ON_GPUS
from fusewright.loop.constants import with_sizes
from fusewright.run import gpu
from fusewright.schedule.legal_gpu import Sizes
from fusewright.schedule.variants import variants

ROUNDS = 7


class Recorder:
    """Catches the kernels that a program launches: their group, sizes and pointers."""

    def __init__(self) -> None:
        self.found: list[tuple[gpu.GpuGroup, tuple[int, ...], tuple[int, ...], tuple[float, ...]]] = []
        self.made: dict[int, tuple[gpu.GpuGroup, tuple[int, ...]]] = {}

    def __enter__(self) -> Recorder:
        self.make, self.call = gpu.GpuGroup.make, gpu.Prepared.__call__
        recorder = self

        def make(group: gpu.GpuGroup, *key: int) -> Any:
            entry = recorder.make(group, *key)
            recorder.made[id(getattr(entry, "entry", entry))] = (group, key)  # a stand-in launches its `entry`
            return entry

        def call(entry: gpu.Prepared, *pointers: int, hosts: tuple[float, ...] = ()) -> None:
            if id(entry) in recorder.made:
                recorder.found.append((*recorder.made.pop(id(entry)), pointers, hosts))
            recorder.call(entry, *pointers, hosts=hosts)

        gpu.GpuGroup.make, gpu.Prepared.__call__ = make, call
        return self

    def __exit__(self, *_: object) -> None:
        gpu.GpuGroup.make, gpu.Prepared.__call__ = self.make, self.call


def kept(s: Any) -> str:
    where = " shared" * (s.keep_in == "shared") + f" ahead{s.ahead}" * (s.ahead > 0) + " alone" * s.alone
    return f" {s.keep}{where}" if s.mode == "persistent" else ""


def words(s: Any) -> str:
    out = f"{s.mode} {s.row_threads}x{s.col_threads} s{s.steps} l{s.lanes}"
    out += f" again{s.repeats}({s.repeat})" * (s.repeats > 1) + " interleaved" * s.interleaved + " runs" * bool(s.runs)
    return out + f" c{s.cluster}" * (s.cluster > 1) + kept(s) + " ldcs" * bool(s.stream) + " resident" * s.resident


def prepare(group: gpu.GpuGroup, env: dict[str, int], settled: Any, general: bool) -> gpu.Prepared | str:
    f, schedule, extra = settled
    try:
        if general:
            return group.trial(settled, env)
        kernel = group._lower(f, schedule)
        func = with_sizes(kernel.func, kernel.evaluate({**env, **extra}))
        code = gpu.kernel_for(func, group.driver)
        return gpu.Prepared(group.driver, code.takes, code.handles, [], list(group.fusion.hosts))
    except Exception as e:
        return f"{type(e).__name__}: {e}"[:200]


def study(case: Any, most: int, roof: float, pool: ThreadPoolExecutor, general: bool) -> dict[str, Any]:
    torch._dynamo.reset()
    inputs = case.inputs("cuda", False)
    with Recorder() as recorder, fusewright.options(native_launch=False):
        fn = torch.compile(case.fn, backend="fusewright")
        if case.backward:
            out = fn(*inputs)
            grad = torch.randn_like(out)
            alive: Any = [out, torch.autograd.grad(out, [inputs[i] for i in case.grads], grad, retain_graph=True)]
        else:
            with torch.no_grad():
                alive = fn(*inputs)
    ideal = case.traffic(inputs) / roof
    result: dict[str, Any] = {"case": case.name, "ideal_us": ideal * 1e6, "kernels": []}
    for group, key, pointers, hosts in recorder.found:
        env, alignment = group.sizes_at(key)
        hint = gpu.sizes_of(env)
        found = [group.scheduled(hint, alignment)]
        s = found[0][1]
        sizes = Sizes(hint, group.driver.gpu, lambda b, n=alignment: n)
        for v in variants(group.fusion, s, sizes):
            if len(found) >= most:
                break
            if v[1] != s:
                found.append(v)
        made = list(pool.map(lambda v: prepare(group, env, v, general), found))
        runs = {k: (lambda p=p: p(*pointers, hosts=hosts)) for k, p in enumerate(made) if not isinstance(p, str)}
        for k, p in enumerate(made):
            if isinstance(p, str):
                print("   ", words(found[k][1]), p)
        times = dict(zip(runs, group.driver.times(list(runs.values()), ROUNDS), strict=True))
        order = sorted(times, key=times.__getitem__)
        rows = [(words(found[k][1]), times[k] * 1e6) for k in order]
        result["kernels"].append({"family": s.family, "base": words(s), "base_us": times.get(0, 0) * 1e6, "all": rows})
        alone = len(recorder.found) == 1
        show = (lambda t: f"{ideal / t:.2f}") if alone else (lambda t: f"{t * 1e6:.1f}us")
        best = "; ".join(f"{words(found[k][1])} {show(times[k])}" for k in order[:6])
        print(f"{case.name}: {words(s)} {show(times[0])} | {best}", flush=True)
    del alive
    return result


def change(name: str, value: int) -> None:
    """Give a constant of the schedules' modules another value."""
    modules = [m for k, m in sys.modules.items() if k.startswith("fusewright.schedule") and hasattr(m, name)]
    if not modules:
        raise SystemExit(f"no module of fusewright.schedule has {name}")
    for m in modules:
        setattr(m, name, value)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER")
    parser.add_argument("--general", action="store_true", help="sizes as arguments")
    parser.add_argument("--drawn", type=int, metavar="SEED")
    parser.add_argument("--count", type=int, default=2, help="shapes drawn for each kind of program")
    parser.add_argument("--kinds", choices=tuple(drawn_shapes.KINDS), default="first", help="of programs drawn")
    parser.add_argument("--scale", type=float, default=1, help="of the elements of programs drawn")
    parser.add_argument("only", nargs="*")
    args = parser.parse_args()
    for text in args.set:
        name, _, value = text.partition("=")
        change(name, int(value))
    cases: tuple[Case, ...] = ON_GPUS
    if args.drawn is not None:
        draw = Draw(args.drawn, args.scale)
        cases = tuple(c for _ in range(args.count) for c in drawn_shapes.KINDS[args.kinds](draw))
    roof = measure.copy_roof("cuda")
    print(f"copy roof {roof / 1e9:.0f} GB/s")
    results = []
    with ThreadPoolExecutor(14) as pool, fusewright.options(fallback=False):
        for case in cases:
            if not args.only or any(p in case.name for p in args.only):
                try:
                    results.append(study(case, args.most, roof, pool, args.general))
                except Exception as e:
                    print(f"{case.name}: {type(e).__name__}: {e}"[:300])
                torch.cuda.empty_cache()
    if args.json:
        with open(args.json, "w") as out:
            json.dump(results, out)


if __name__ == "__main__":
    main()
