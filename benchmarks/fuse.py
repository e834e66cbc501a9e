"""The host path of fused functions: eager, torch.compile with TorchInductor and with us, and `fusewright.fuse`.

Rows: four operations on tiny tensors without gradients and with them; bias, dropout, residual and layer norm on
[64, 128, 1024] forward and backward, in three ways of writing it, at one size and over 20 sizes near it (all of them
for the first time, then again). `--parts` splits a tiny call of a fused function.

Times are the best of several repetitions, interleaved between the implementations so that other load on the machine
falls on all of them; "20 sizes" is the mean over sizes of each one's best. `--clock cpu` counts processor time (user
and system), for machines with other load: use it with OMP_NUM_THREADS=1. With the C library's defaults, most of eager's
time on large tensors is page faults of fresh memory: measure with MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_
raised, too.
"small sizes" is the same block on 20 new sizes of a few kilobytes, where nothing but the host's work is left.
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

import fusewright

NAMES = ("eager", "inductor", "fusewright", "fuse")
P = 0.1
clock = time.perf_counter


def tiny(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x + y) * 2 + 1


def composite(x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor, b1: torch.Tensor, b2: torch.Tensor) -> Any:
    y = F.dropout(x + b1, P) + residual
    return F.layer_norm(y, (y.shape[-1],), w, b2)


def written_out(x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor, b1: torch.Tensor, b2: torch.Tensor) -> Any:
    y = F.dropout(x + b1, P) + residual
    mean = y.mean(-1, keepdim=True)
    centred = y - mean
    var = (centred * centred).mean(-1, keepdim=True)
    return centred * torch.rsqrt(var + 1e-5) * w + b2


def rms(x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor, b1: torch.Tensor, b2: torch.Tensor) -> Any:
    y = F.dropout(x + b1, P) + residual
    return y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-5) * w + b2


def implementations(fn: Callable[..., Any], dynamic: bool) -> dict[str, Callable[..., Any]]:
    torch._dynamo.reset()
    return {
        "eager": fn,
        "inductor": torch.compile(fn, dynamic=dynamic),
        "fusewright": torch.compile(fn, backend="fusewright", dynamic=dynamic),
        "fuse": fusewright.fuse(fn),
    }


def best(calls: dict[str, Callable[[], Any]], number: int, repeat: int) -> dict[str, float]:
    """Seconds per call of each, best of `repeat` rounds in which they take turns."""
    out = dict.fromkeys(calls, float("inf"))
    for _ in range(repeat):
        for name, call in calls.items():
            began = clock()
            for _ in range(number):
                call()
            out[name] = min(out[name], (clock() - began) / number)
    return out


def inputs(size: tuple[int, int, int]) -> list[torch.Tensor]:
    shapes = (size, size, size[-1:], size[-1:], size[-1:])
    return [torch.randn(s).requires_grad_() for s in shapes]


def step(fn: Callable[..., Any], args: list[torch.Tensor], grad: torch.Tensor) -> None:
    fn(*args).backward(grad)
    for t in args:
        t.grad = None


def tiny_rows(names: tuple[str, ...]) -> dict[str, dict[str, float]]:
    x, y = torch.randn(4, 8), torch.randn(4, 8)
    fns = {n: f for n, f in implementations(tiny, False).items() if n in names}
    rows = {}
    with torch.no_grad():
        calls = {n: lambda f=f: f(x, y) for n, f in fns.items()}
        best(calls, 3, 1)
        rows["tiny forward"] = best(calls, 2000, 15)
    z, grad = torch.randn(4, 8, requires_grad=True), torch.ones(4, 8)
    fns = {n: f for n, f in implementations(tiny, False).items() if n in names}
    calls = {n: lambda f=f: step(f, [z, y], grad) for n, f in fns.items()}
    best(calls, 3, 1)
    rows["tiny forward+backward"] = best(calls, 500, 20)
    return rows


def block_rows(names: tuple[str, ...], size: tuple[int, int, int]) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    rng = random.Random(0)
    a, b, c = size
    sizes = [(a + rng.randrange(-4, 5), b + rng.randrange(-8, 9), c) for _ in range(20)]
    for fn in (composite, written_out, rms):
        args, grad = inputs(size), torch.randn(size)
        fns = {n: f for n, f in implementations(fn, True).items() if n in names}
        calls = {n: lambda f=f: step(f, args, grad) for n, f in fns.items()}
        best(calls, 2, 1)
        rows[f"{fn.__name__}, one size"] = best(calls, 1, 5)
        rows |= over(fn.__name__, fns, sizes, "20 sizes")
        small = [(2 + k % 5, 3 + k, 16 + k) for k in range(20)]
        rows |= over(fn.__name__, fns, small, "20 small sizes")
    return rows


def over(
    title: str, fns: dict[str, Callable[..., Any]], sizes: list[tuple[int, int, int]], what: str
) -> dict[str, dict[str, float]]:
    """Mean seconds per size of the first step and of the best of three later ones."""
    first, later = dict.fromkeys(fns, 0.0), dict.fromkeys(fns, 0.0)
    for s in sizes:
        args, grad = inputs(s), torch.randn(s)
        calls = {n: lambda f=f: step(f, args, grad) for n, f in fns.items()}
        for n, t in best(calls, 1, 1).items():
            first[n] += t / len(sizes)
        for n, t in best(calls, 1, 3).items():
            later[n] += t / len(sizes)
    return {f"{title}, {what}, first pass": first, f"{title}, {what}, later": later}


def parts() -> dict[str, float]:
    """Microseconds of the parts of a tiny call without gradients."""
    fused: Any = fusewright.fuse(tiny)
    x, y = torch.randn(4, 8), torch.randn(4, 8)
    fused(x, y)
    state = fused._fusewright
    (plan,) = next(iter(state.plans.values()))
    run = plan.entry.run
    scope = run.__globals__
    check = next(v for k, v in state.scope.items() if k.startswith("_c0"))
    kernel = next(v for k, v in scope.items() if k.startswith("_k"))
    table = next(v for k, v in scope.items() if k.startswith("_m"))
    sizes = next(iter(table.values()))[0]
    out = torch.empty(4, 8)
    pointers = (x.data_ptr(), y.data_ptr(), out.data_ptr())
    empty = scope["_empty"]
    calls = {
        "whole call": lambda: fused(x, y),
        "tensors as traced (C++)": lambda: check(x, y),
        "extents": lambda: (x.shape, y.shape, x.is_contiguous(), y.is_contiguous()),
        "plan": lambda: run([4, 8, 4, 8, x, y]),
        "plan: output": lambda: empty((4, 8), (8, 1), torch.float32),
        "plan: addresses": lambda: (x.data_ptr(), y.data_ptr(), out.data_ptr()),
        "plan: kernel": lambda: kernel(*pointers, sizes, 0),
        "nothing": lambda: None,
    }
    return {k: v * 1e6 for k, v in best(calls, 5000, 20).items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=NAMES, help="implementations; repeatable")
    parser.add_argument("--size", default="64,128,1024", help="of the block; 0 leaves it out")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    global clock
    clock = time.process_time if args.clock == "cpu" else time.perf_counter
    if args.parts:
        for name, t in parts().items():
            print(f"{name:28} {t:6.2f} µs")
        return 0
    names = tuple(args.only or NAMES)
    rows = tiny_rows(names)
    if args.size != "0":
        a, b, c = map(int, args.size.split(","))
        rows |= block_rows(names, (a, b, c))
    print(f"| µs | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
    for row, times in rows.items():
        print(f"| {row} | {' | '.join(f'{times[n] * 1e6:,.1f}' for n in names)} |")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
