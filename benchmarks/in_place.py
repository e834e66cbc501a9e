"""Writes into parts of large arguments, and Triton kernels between elementwise operations: wall time of a call.

    python benchmarks/in_place.py [cpu|cuda]

A cache of keys and values (16 MB of float32 on a CPU, 64 MB of bfloat16 on a GPU) gets a row, in the ways that programs
write that, and something is computed of the row. The Triton kernels, on a GPU, have 268 MB operands, and tiny ones.
All implementations of a case run in turns, after each result was compared with eager's.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F

import fusewright

warnings.filterwarnings("ignore")
Case = tuple[str, Callable[..., Any], tuple[torch.Tensor, ...]]


def row(c, k, pos):
    c[:, :, 7:8] = k * 2
    return (k * 3).sum()


def indexed(c, k, pos):
    c[:, :, pos] = k * 2
    return (k * 3).sum()


def of_a_layer(c, k, pos):
    c[1, :, pos] = k[0] * 2
    return (k * 3).sum()


def copied(c, k, pos):
    c.index_copy_(2, pos, k * 2)
    return (k * 3).sum()


def scattered(c, k, pos):
    c.scatter_(2, pos.view(1, 1, 1, 1).expand(k.shape), k * 2)
    return (k * 3).sum()


def added(c, k, pos):
    c[0, 0, 3] += k[0, 0, 0] * 2
    return (k * 3).sum()


def attention(c, k, pos):
    c[:, :, pos] = k * 2
    mask = (torch.arange(c.shape[2], device=c.device) <= pos)[None, None, None]
    return F.scaled_dot_product_attention(k * 0.5, c, c, attn_mask=mask) * 2 + 1


def caches(device: str) -> Iterator[Case]:
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    shape = (8, 8, 8192, 64) if device == "cuda" else (4, 2, 8192, 64)
    cache = torch.zeros(shape, device=device, dtype=dtype)
    k = torch.randn(*shape[:2], 1, 64, device=device, dtype=dtype)
    pos = torch.tensor([5], device=device)
    for fn in (row, indexed, of_a_layer, copied, scattered, added, attention):
        yield fn.__name__, fn, (cache, k, pos)


def kernels() -> Iterator[Case]:
    from tests.gpu.test_triton import PROGRAMS

    for n in (8192, 16):
        x, y = torch.randn(n, n, device="cuda"), torch.randn(n, n, device="cuda")
        for name in ("between", "autotuned", "in place"):
            yield f"triton {name} {n}", PROGRAMS[name], (x, y)


def main() -> None:
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    names = ("eager", "inductor", "backend", "fuse")
    print(f"{'µs':28}" + "".join(f"{n:>10}" for n in names))
    for name, fn, args in [*caches(device), *(kernels() if device == "cuda" else ())]:
        torch._dynamo.reset()
        calls = [
            fn,
            torch.compile(fn, backend="inductor"),
            torch.compile(fn, backend="fusewright"),
            fusewright.fuse(fn),
        ]
        with torch.no_grad():
            for call in calls:
                given, plain = [a.clone() for a in args], [a.clone() for a in args]
                torch.testing.assert_close(call(*given), fn(*plain), rtol=3e-2, atol=3e-2)
                torch.testing.assert_close(given, plain, rtol=3e-2, atol=3e-2)
            print(f"{name:28}" + "".join(f"{t:10.1f}" for t in measure(calls, args, device)), flush=True)


def measure(calls: list[Callable[..., Any]], args: tuple[Any, ...], device: str) -> list[float]:
    """Medians of rounds of calls, µs per call."""
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call(*args)
    for _ in range(15):
        for call, found in zip(calls, times, strict=True):
            count, took = 1, 0.0
            while took < 5e-3:  # enough calls for the clock
                wait()
                began = time.perf_counter()
                for _ in range(count):
                    call(*args)
                wait()
                took = time.perf_counter() - began
                count *= 2
            found.append(2 * took / count * 1e6)
    return [median(t) for t in times]


if __name__ == "__main__":
    main()
