"""20 random sizes of a program traced once: the first pass over them, a later pass, and the kernels compiled.

Sizes vary in both leading axes (`--vary leading`) or in the length of the rows (`--vary rows`). With `--dynamic none`
torch.compile decides by itself: it traces again, with symbolic sizes, at the second size. "fixed" is a pass over as
many tensors of one size, each in memory of its own as those of many sizes are: one that is used again is in the
processor's or the GPU's cache. The implementation `fuse` is `fusewright.fuse`, all others are backends of
torch.compile. Eager runs over all sizes first, untimed: nobody pays for memory that the next one finds in the
allocator's cache.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

import fusewright
from fusewright.bench.measure import private_copy, synchronize

Size = tuple[int, int, int]
Inputs = tuple[torch.Tensor, ...]


def program(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Bias, residual and normalization, then a GELU."""
    return F.gelu(F.layer_norm(x + b + y, (x.shape[-1],), w, b))


def sizes(vary: str, base: Size) -> list[Size]:
    """20 sizes near `base`, always the same ones."""
    rng = random.Random(42)
    a, b, c = base
    if vary == "rows":
        return [(a, b, c + rng.randrange(-200, 200)) for _ in range(20)]
    return [(a + rng.randrange(-2, 3), b + rng.randrange(-2, 3), c) for _ in range(20)]


def make(size: Size, device: str) -> Inputs:
    return (
        torch.randn(size, device=device, requires_grad=True),
        torch.randn(size, device=device),
        torch.randn(size[-1], device=device, requires_grad=True),
        torch.randn(size[-1], device=device, requires_grad=True),
    )


def run(call: Callable, data: list[Inputs], device: str) -> float:
    """Seconds for one forward and backward pass of each, until the device is done."""
    synchronize(device)
    began = time.perf_counter()
    for inputs in data:
        call(*inputs).sum().backward()
        for t in inputs:
            t.grad = None
    synchronize(device)
    return time.perf_counter() - began


def implementation(name: str, dynamic: bool | None) -> Callable:
    torch._dynamo.reset()
    if name == "eager":
        return program
    if name == "fuse":
        return fusewright.fuse(program)
    return torch.compile(private_copy(program, name), backend=name, dynamic=dynamic)


def measure(name: str, data: list[Inputs], alike: list[Inputs], device: str, dynamic: bool | None) -> dict[str, Any]:
    call = implementation(name, dynamic)
    run(program, [*alike[:1], *data], device)
    run(call, alike[:1] * 3, device)
    before = fusewright.counters()["kernels_compiled"]
    first = run(call, data, device)
    kernels = fusewright.counters()["kernels_compiled"] - before
    later, fixed = [], []
    for _ in range(7):
        later.append(run(call, data, device))
        fixed.append(run(call, alike, device))
    pick = statistics.median if device == "cuda" else min
    return {
        "first_pass_s": first,
        "later_pass_s": pick(later),
        "fixed_pass_s": pick(fixed),
        "kernels_compiled": kernels if name in ("fuse", "fusewright") else None,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", action="append", help="repeatable; default: eager, fusewright, fuse")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--vary", choices=("leading", "rows"), default="leading")
    parser.add_argument("--size", default="16,64,1024", help="the size that is traced")
    parser.add_argument("--dynamic", choices=("none", "true"), default="true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    a, b, c = map(int, args.size.split(","))
    data = [make(size, args.device) for size in sizes(args.vary, (a, b, c))]
    alike = [make((a, b, c), args.device) for _ in data]
    results = {}
    for name in args.backend or ["eager", "fusewright", "fuse"]:
        row = measure(name, data, alike, args.device, True if args.dynamic == "true" else None)
        results[name] = row
        kernels = "" if row["kernels_compiled"] is None else f", {row['kernels_compiled']} kernels compiled"
        first, later, fixed = (row[f"{k}_pass_s"] * 1e3 for k in ("first", "later", "fixed"))
        print(f"{name:12} first pass {first:.2f} ms, later {later:.2f}, fixed size {fixed:.2f}{kernels}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
