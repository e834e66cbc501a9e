"""Backward passes of norms at many widths: the kernel that sums columns beside rows, under many ways to hold rows.

    python benchmarks/norm_gradients.py [--json FILE] [--widths 768,5120] [part of a program's name ...]

On a GPU, four minutes. The kernel is launched again on its own tensors, of 32 million elements, from a cold L2 cache,
in turns: as it is scheduled, and with rows in the registers of one block of a multiprocessor or of several, or in a
ring of shared memory, by 32 to 1024 threads, in vectors of several widths. Printed are the schedule, its microseconds,
the best one, its microseconds, and their ratio; then the geometric mean of the ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from gpu_variants import Recorder, prepare, words

import fusewright
from fusewright.bench.cases import layer_norm
from fusewright.bench.cases_gpu import bias_drop_add_norm, layer_norm_written_out, rms_norm_written_out
from fusewright.run import gpu
from fusewright.schedule.forms import Illegal
from fusewright.schedule.gpu_base import GpuSchedule
from fusewright.schedule.legal_gpu import Sizes, settle

ELEMENTS, ROUNDS = 32 << 20, 7
WIDTHS = "768,1024,2048,2560,4096,5120,8192,16000"
MOST = 40  # columns of a thread
REGISTERS = {"keep": "values", "keep_in": "registers", "ahead": 0}


def add_norm(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x + y, (x.shape[-1],), w, b)


def rms(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), w)


def gelu_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(F.gelu(x), (x.shape[-1],), w, b)


PROGRAMS: dict[str, tuple[Callable[..., Any], int, int]] = {  # with how many large tensors, and vectors
    "block, layer norm": (bias_drop_add_norm(0.1, True, layer_norm), 2, 3),
    "block, layer norm written out": (bias_drop_add_norm(0.1, True, layer_norm_written_out), 2, 3),
    "block, RMS norm written out": (bias_drop_add_norm(0.1, True, rms_norm_written_out), 2, 3),
    "add + layer norm": (add_norm, 2, 2),
    "RMS norm": (rms, 1, 1),
    "GELU + layer norm": (gelu_norm, 1, 2),
}


def others(s: GpuSchedule, columns: int, lanes: int) -> Iterator[GpuSchedule]:
    """Other ways to hold a row of so many columns; `lanes`: of 16 bytes."""
    s = replace(s, mode="persistent", cluster=1, finish=False)
    for n in sorted({lanes, lanes // 2, max(2, lanes // 4)}, reverse=True):
        vectors = -(-columns // n)
        for ct in (32, 64, 128, 256, 512, 1024):
            steps = -(-vectors // ct)
            if steps * n > MOST or (steps == 1 and 2 * vectors <= ct):
                continue
            t = replace(s, lanes=n, col_threads=ct, steps=steps)
            for threads, alone in ((512, True), (512, False), (256, False)):
                if not alone or ct <= threads:
                    yield replace(t, row_threads=max(1, threads // ct), alone=alone, **REGISTERS)
            ring = replace(t, keep="loads", keep_in="shared")
            for ahead in (0, 1, 2) if n == lanes else ():
                if ahead and ct <= 512:
                    yield replace(ring, row_threads=512 // ct, alone=True, ahead=ahead)
                if ct >= 256:
                    yield replace(ring, row_threads=1, alone=False, ahead=ahead)


def measure(name: str, dtype: torch.dtype, width: int, pool: ThreadPoolExecutor) -> Iterator[dict[str, Any]]:
    fn, large, vectors = PROGRAMS[name]
    make = lambda *shape: torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
    inputs = [make(ELEMENTS // width, width) for _ in range(large)] + [make(width) for _ in range(vectors)]
    with Recorder() as recorder:
        out = fusewright.fuse(fn)(*inputs)
        alive = torch.autograd.grad(out, inputs, torch.randn_like(out), allow_unused=True)
    for group, key, pointers, hosts in recorder.found:
        env, alignment = group.sizes_at(key)
        sizes = Sizes(gpu.sizes_of(env), group.driver.gpu, lambda b, n=alignment: n)
        found = [gpu.plan(group.fusion, sizes.hint, sizes.gpu, sizes.alignment)]
        if not found[0][1].family.startswith("inner+outer"):
            continue
        for s in others(found[0][1], width, 16 // dtype.itemsize):
            try:
                settled = settle(group.fusion, s, sizes)
            except Illegal:
                continue
            if all(settled[1] != f[1] for f in found):
                found.append(settled)
        made = list(pool.map(lambda f, g=group, e=env: prepare(g, e, f, False), found))
        runs = {words(f[1]): p for f, p in zip(found, made, strict=True) if not isinstance(p, str)}
        calls = [(lambda p=p: p(*pointers, hosts=hosts)) for p in runs.values()]
        times = dict(zip(runs, (t * 1e6 for t in group.driver.times(calls, ROUNDS)), strict=True))
        chosen, best = words(found[0][1]), min(times, key=times.__getitem__)
        title = f"{name} {str(dtype)[6:]} {width}"
        ratio = times[chosen] / times[best]
        print(f"{title:46} {chosen:50} {times[chosen]:7.1f}   {best:50} {times[best]:7.1f}  {ratio:.2f}", flush=True)
        yield {"program": name, "dtype": str(dtype)[6:], "width": width, "chosen": chosen, "times": times}
    del alive, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--widths", default=WIDTHS)
    parser.add_argument("only", nargs="*")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    options = fusewright.options(fallback=False, native_launch=False, specialize="never")
    with options, ThreadPoolExecutor(14) as pool:
        for name in (n for n in PROGRAMS if not args.only or any(p in n for p in args.only)):
            for dtype in (torch.bfloat16, torch.float32):
                for width in map(int, args.widths.split(",")):
                    rows += measure(name, dtype, width, pool)
                    torch.cuda.empty_cache()
                    if args.json:
                        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    ratios = [r["times"][r["chosen"]] / min(r["times"].values()) for r in rows if r["chosen"] in r["times"]]
    print(f"{len(ratios)} kernels, geometric mean {statistics.geometric_mean(ratios):.3f}, most {max(ratios):.2f}")


if __name__ == "__main__":
    main()
