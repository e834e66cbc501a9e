"""The host path: eager, torch.compile with several backends, and `fusewright.fuse`; time of a call, and of the host.

Rows: one addition and four operations on tiny tensors, without gradients and with them; bias, dropout, residual and
normalization on [64, 128, 1024] in three ways of writing it and two types, forward (recorded for gradients) and forward
+ backward; and the same over 20 sizes near it, traced once with symbolic sizes: the first pass over them, later ones,
and one size of the same trace. "20 small sizes" are of a few kilobytes, where nothing but the host's work is left.

    python benchmarks/fuse.py --device cuda --json run.json      # about 90 seconds
    python benchmarks/fuse.py --device null                      # without a GPU: the host's work for one, and no launch
    python benchmarks/fuse.py --device cuda --profile            # where the host's time goes, by function
    python benchmarks/fuse.py --device cuda --one-thread         # autograd without a thread for the device, for all

All implementations of a row take turns, in one process, each with autograd's thread for the device or without it as in
a program of its own (ours do without on a machine with one GPU, `fusewright/run/own_thread.py`); *wall* is the time
until the device has finished, *host* until the calls have returned. On a GPU numbers are medians; elsewhere the best of
the rounds, because other load on a CPU is part of what is measured (`--clock cpu` counts processor time; use it with
OMP_NUM_THREADS=1). On a CPU with the C library's defaults most of eager's time on large tensors is page faults of fresh
memory: measure with MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ raised, too.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import gc
import json
import pstats
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
from fusewright.bench.null import NullDriver
from fusewright.bench.runner import _hand_written
from fusewright.run import devices, own_thread

OURS = ("fusewright", "fuse")
NAMES = ("eager", "hand-written", "aot_eager", "inductor", *OURS)
FORMS = ("layer_norm", "written_out", "rms")
P = 0.1
Size = tuple[int, int, int]
Call = Callable[[], Any]
Times = dict[str, tuple[float, float]]  # by implementation: seconds per call, wall and host


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def tiny(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x + y) * 2 + 1


def layer_norm(x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor, b1: torch.Tensor, b2: torch.Tensor) -> Any:
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


class Bench:
    """Measures on one device and prints rows as they come."""

    def __init__(self, device: str, names: tuple[str, ...], clock: Callable[[], float], args: argparse.Namespace):
        self.device = "cuda" if device.startswith("cuda") else "cpu"
        self.names, self.clock, self.file, self.one_thread = names, clock, args.json, args.one_thread
        self.pick: Callable[[list[float]], float] = statistics.median if self.device == "cuda" else min
        self.rows: dict[str, Times] = {}

    def implementations(self, fn: Callable[..., Any], dynamic: bool = False) -> dict[str, Callable[..., Any]]:
        torch._dynamo.reset()
        made: dict[str, Callable[..., Any]] = {}
        for name in self.names:
            if name == "hand-written" and (fn is not add or dynamic):
                continue
            if name == "eager":
                made[name] = fn
            elif name == "fuse":
                made[name] = fusewright.fuse(fn)
            else:
                backend: Any = _hand_written() if name == "hand-written" else name
                copy = private_copy(fn, f"{name} {dynamic}".replace(" ", "_"))
                made[name] = torch.compile(copy, backend=backend, dynamic=dynamic)
        return made

    def threads(self, name: str) -> Any:
        """Whether backward passes of an implementation run in autograd's thread for the device, for a block."""
        alone = name.partition(" ")[0] in OURS and own_thread.wanted([torch.device(self.device)])
        return torch.autograd.set_multithreading_enabled(not (alone or self.one_thread))

    def turn(self, name: str, call: Call, number: int) -> tuple[float, float]:
        """Seconds per call of `number` calls: until the device is done, and until they have returned."""
        synchronize(self.device)
        with self.threads(name):
            began = self.clock()
            for _ in range(number):
                call()
            host = self.clock() - began
            synchronize(self.device)
            return (self.clock() - began) / number, host / number

    def times(self, calls: dict[str, Call], number: int, rounds: int, warm: int = 3) -> Times:
        """Each call's times, of `rounds` turns of `number` calls."""
        for name, call in calls.items():
            with self.threads(name):
                for _ in range(warm):
                    call()
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
        gc.collect()
        gc.disable()
        try:
            for _ in range(rounds):
                for name, call in calls.items():
                    taken[name].append(self.turn(name, call, number))
        finally:
            gc.enable()
        return {n: (self.pick([w for w, _ in t]), self.pick([h for _, h in t])) for n, t in taken.items()}

    def row(self, title: str, times: Times) -> None:
        if not self.rows:
            print(f"| µs, wall (host) | {' | '.join(self.names)} |\n| --- |{' --- |' * len(self.names)}")
        cells = (times.get(n) for n in self.names)
        shown = (f"{t[0] * 1e6:,.1f} ({t[1] * 1e6:,.1f})" if t else "" for t in cells)
        print(f"| {title} | {' | '.join(shown)} |", flush=True)
        self.rows[title] = times
        if self.file:
            self.file.write_text(json.dumps(self.rows, indent=1) + "\n")

    # --- tiny tensors ---
    def small_rows(self) -> None:
        x, y = (torch.randn(4, 8, device=self.device) for _ in range(2))
        z, grad = x.clone().requires_grad_(), torch.ones_like(x)
        for fn in (add, tiny):
            fns = self.implementations(fn)
            with torch.no_grad():
                calls: dict[str, Call] = {n: lambda f=f: f(x, y) for n, f in fns.items()}
                self.row(f"{fn.__name__} forward", self.times(calls, 200, 15))
            fns = self.implementations(fn)
            calls = {n: lambda f=f: step(f, [z, y], grad) for n, f in fns.items()}
            self.row(f"{fn.__name__} forward+backward", self.times(calls, 100, 15))

    # --- the block ---
    def inputs(self, size: Size, dtype: torch.dtype) -> list[torch.Tensor]:
        shapes = (size, size, size[-1:], size[-1:], size[-1:])
        return [torch.randn(s, device=self.device, dtype=dtype).requires_grad_() for s in shapes]

    def block_rows(self, form: str, size: Size, dtype: torch.dtype) -> None:
        fn = globals()[form]
        args = self.inputs(size, dtype)
        grad = torch.randn_like(args[0])
        fns = self.implementations(fn)
        number, rounds = (20, 12) if self.device == "cuda" else (1, 5)
        calls: dict[str, Call] = {n: lambda f=f: step(f, args, grad) for n, f in fns.items()}
        title = f"{form} {str(dtype)[6:]}"
        self.row(f"{title} forward+backward", self.times(calls, number, rounds))
        calls = {n: lambda f=f: f(*args) for n, f in fns.items()}
        self.row(f"{title} forward", self.times(calls, number, rounds))

    def sizes_rows(self, form: str, size: Size) -> None:
        """20 sizes in turn, of a trace with symbolic sizes; "first pass" is per size, too."""
        fns = self.implementations(globals()[form], dynamic=True)
        rng = random.Random(42)
        near = [(size[0] + rng.randrange(-2, 3), size[1] + rng.randrange(-2, 3), size[2]) for _ in range(20)]
        small = [(2 + k % 5, 3 + k, 16 + k) for k in range(20)]
        for what, base, sizes in (("20 sizes", size, near), ("20 small sizes", (3, 5, 15), small)):
            sets = [(self.inputs(s, torch.float32), torch.randn(s, device=self.device)) for s in (base, *sizes)]
            passes: dict[str, Call] = {
                n: lambda f=f: [step(f, args, grad) for args, grad in sets[1:]] for n, f in fns.items()
            }
            same: dict[str, Call] = {n: lambda f=f: [step(f, *sets[0]) for _ in sizes] for n, f in fns.items()}
            self.times(same, 1, 1)
            first = {n: self.turn(n, call, 1) for n, call in passes.items()}
            self.row(f"{form}, {what}, first pass", _each(first))
            both = {f"{n} {k}": c for k, calls in enumerate((passes, same)) for n, c in calls.items()}
            later = _each(self.times(both, 1, 7, warm=1))
            for k, title in enumerate((f"{form}, {what}, later", f"{form}, {what}, one of them")):
                self.row(title, {n: later[f"{n} {k}"] for n in fns})

    # --- where the time goes ---
    def profile(self, count: int) -> None:
        """cProfile of our paths. The backward pass runs on the thread that is profiled."""
        x, y = (torch.randn(4, 8, device=self.device) for _ in range(2))
        z, grad = x.clone().requires_grad_(), torch.ones_like(x)
        args = self.inputs((4, 8, 1024), torch.float32)
        out = torch.randn_like(args[0])

        def inference(f: Any) -> None:
            with torch.no_grad():
                f(x, y)

        for what, fn, run in (
            ("tiny forward", tiny, inference),
            ("tiny forward+backward", tiny, lambda f: step(f, [z, y], grad)),
            ("layer_norm forward+backward", layer_norm, lambda f: step(f, args, out)),
        ):
            for name, f in self.implementations(fn).items():
                with torch.autograd.set_multithreading_enabled(False):
                    for _ in range(5):
                        run(f)
                    synchronize(self.device)
                    profiler = cProfile.Profile()
                    profiler.enable()
                    for _ in range(count):
                        run(f)
                    profiler.disable()
                print(f"\n### {name}: {what}, {count} calls")
                pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def step(fn: Callable[..., Any], args: list[torch.Tensor], grad: torch.Tensor) -> None:
    fn(*args).backward(grad)
    for t in args:
        t.grad = None


def _each(passes: Times, of: int = 20) -> Times:
    """Per size."""
    return {n: (wall / of, host / of) for n, (wall, host) in passes.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda", "null"), default="cpu")
    parser.add_argument("--only", action="append", choices=NAMES, help="implementations; repeatable")
    parser.add_argument("--rows", action="append", choices=("tiny", "block", "sizes"), help="repeatable; default: all")
    parser.add_argument("--form", action="append", choices=FORMS, help="of the block; repeatable")
    parser.add_argument("--size", default="64,128,1024", help="of the block")
    parser.add_argument("--profile", action="store_true", help="cProfile of 2000 calls of each of our paths")
    parser.add_argument("--one-thread", action="store_true", help="all backward passes run in the calling thread")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    clock = time.process_time if args.clock == "cpu" else time.perf_counter
    a, b, c = map(int, args.size.split(","))
    rows = args.rows or ("tiny", "block", "sizes")
    forms = args.form or FORMS
    names = tuple(args.only or (OURS if args.profile or args.device == "null" else NAMES))
    bench = Bench(args.device, names, clock, args)
    null = devices.use("cpu", NullDriver()) if args.device == "null" else contextlib.nullcontext()
    with null, fusewright.options(disk_cache=args.device != "null"):
        if args.profile:
            bench.profile(2000)
            return 0
        if "tiny" in rows:
            bench.small_rows()
        for form in forms if "block" in rows else ():
            for dtype in (torch.float32, torch.bfloat16):
                bench.block_rows(form, (a, b, c), dtype)
        for form in forms if "sizes" in rows else ():
            bench.sizes_rows(form, (a, b, c))
    counters = fusewright.counters()
    print(f"\n{counters['kernels_compiled']} kernels compiled, {counters['fallbacks']} fallbacks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
