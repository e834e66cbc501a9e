"""Backward passes of norms at many widths: kernels of blocks that have a multiprocessor alone, and of others.

    python benchmarks/norm_gradients.py [part of a program's name ...]

On a GPU, two minutes. The kernel that sums columns beside rows is launched again on its own tensors, of 16 million
elements: as it is scheduled, and as it would be if no block could have a multiprocessor alone (`gpu_fit.narrowed`),
where that makes a difference. Printed are both schedules, microseconds from a cold L2 cache, and the ratio (above 1:
alone is faster).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from gpu_variants import Recorder, prepare, words

import fusewright
from fusewright.bench.cases import layer_norm
from fusewright.bench.cases_gpu import bias_drop_add_norm, layer_norm_written_out, rms_norm_written_out
from fusewright.run import gpu
from fusewright.schedule import gpu_fit

ELEMENTS, ROUNDS = 16 << 20, 9
WIDTHS = (512, 768, 1024, 1536, 2048, 3072, 4096, 5120, 6144, 8192, 12288)


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


def planned(group: gpu.GpuGroup, key: tuple[int, ...], alone: bool) -> Any:
    """The schedule for a launch's sizes. Without `alone`, a block's part is as if it had no threads."""
    env, alignment = group.sizes_at(key)
    kept = gpu_fit._alone
    if not alone:
        gpu_fit._alone = lambda held, points, lanes, small: (held._replace(threads=0), lanes)
    try:
        return gpu.plan(group.fusion, gpu.sizes_of(env), group.driver.gpu, lambda b: alignment)
    finally:
        gpu_fit._alone = kept


def measure(name: str, dtype: torch.dtype, width: int) -> None:
    fn, large, vectors = PROGRAMS[name]
    rows = ELEMENTS // width
    make = lambda *shape: torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True)
    inputs = [make(rows, width) for _ in range(large)] + [make(width) for _ in range(vectors)]
    with Recorder() as recorder:
        out = fusewright.fuse(fn)(*inputs)
        alive = torch.autograd.grad(out, inputs, torch.randn_like(out), allow_unused=True)
    for group, key, pointers, hosts in recorder.found:
        ways = [planned(group, key, alone) for alone in (True, False)]
        if ways[0][1] == ways[1][1]:
            continue
        made = [prepare(group, group.sizes_at(key)[0], w, False) for w in ways]
        if odd := [p for p in made if isinstance(p, str)]:
            print(f"{name} {width}: {odd[0]}", flush=True)
            continue
        runs = [(lambda p=p: p(*pointers, hosts=hosts)) for p in made]
        mine, other = (t * 1e6 for t in group.driver.times(runs, ROUNDS))
        how = [words(w[1]) for w in ways]
        title = f"{name} {str(dtype)[6:]} {width}"
        print(f"{title:45} {how[0]:38} {mine:7.1f}   {how[1]:42} {other:7.1f}  {other / mine:.2f}", flush=True)
    del alive, out


def main(only: list[str]) -> None:
    with fusewright.options(fallback=False, native_launch=False, specialize="never"):
        for name in PROGRAMS:
            for dtype in (torch.bfloat16, torch.float32):
                for width in WIDTHS if not only or any(p in name for p in only) else ():
                    measure(name, dtype, width)
                    torch.cuda.empty_cache()


if __name__ == "__main__":
    main(sys.argv[1:])
