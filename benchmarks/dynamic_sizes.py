"""20 random sizes of a program traced once: the first pass over them, a later pass, and the kernels compiled.

Sizes vary in both leading axes (`--vary leading`) or in the length of the rows (`--vary rows`). With `--dynamic none`
torch.compile decides by itself: it traces again, with symbolic sizes, at the second size.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

Size = tuple[int, int, int]


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


def make(size: Size) -> tuple[torch.Tensor, ...]:
    return (
        torch.randn(size, requires_grad=True),
        torch.randn(size),
        torch.randn(size[-1], requires_grad=True),
        torch.randn(size[-1], requires_grad=True),
    )


def run(call: Callable, data: list[tuple[torch.Tensor, ...]]) -> float:
    """Seconds for one forward and backward pass of each."""
    began = time.perf_counter()
    for inputs in data:
        call(*inputs).sum().backward()
        for t in inputs:
            t.grad = None
    return time.perf_counter() - began


def measure(backend: str, vary: str, base: Size, dynamic: bool | None) -> dict[str, Any]:
    torch._dynamo.reset()
    call = program if backend == "eager" else torch.compile(program, backend=backend, dynamic=dynamic)
    warm = make(base)
    run(call, [warm] * 3)
    data = [make(size) for size in sizes(vary, base)]
    kernels = None
    if backend == "fusewright":
        import fusewright

        before = fusewright.counters()["kernels_compiled"]
    first = run(call, data)
    if backend == "fusewright":
        kernels = fusewright.counters()["kernels_compiled"] - before
    return {"first_pass_s": first, "later_pass_s": min(run(call, data) for _ in range(3)), "kernels_compiled": kernels}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", action="append", help="repeatable; default: eager and fusewright")
    parser.add_argument("--vary", choices=("leading", "rows"), default="leading")
    parser.add_argument("--size", default="16,64,1024", help="the size that is traced")
    parser.add_argument("--dynamic", choices=("none", "true"), default="true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    a, b, c = map(int, args.size.split(","))
    results = {}
    for backend in args.backend or ["eager", "fusewright"]:
        row = measure(backend, args.vary, (a, b, c), True if args.dynamic == "true" else None)
        results[backend] = row
        kernels = "" if row["kernels_compiled"] is None else f", {row['kernels_compiled']} kernels compiled"
        print(f"{backend:12} first pass {row['first_pass_s']:.3f} s, later {row['later_pass_s']:.3f} s{kernels}")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
