"""What a call of a loaded program takes: launched by machine code, by Python, or from CUDA graphs.

    python benchmarks/aot_calls.py                       # without a GPU: the host's work for one, and no launch
    python benchmarks/aot_calls.py --device cuda         # a minute; *host* is the time until calls have returned
    python benchmarks/aot_calls.py --device cuda --layers 24 --width 1024

All ways take turns in one process. `chain` is twelve kernels and four small products, which keep only the host busy;
`gpt` (on a GPU) is the model of `aot.py` on 2x64 tokens. *load*: seconds that loading takes in a process that has
loaded such a program before; `aot.py` has that of fresh ones.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from aot import GPT
from torch import Tensor, nn

import fusewright
from fusewright.bench.null import NullDriver
from fusewright.run import cuda_graphs, devices

WAYS: dict[str, dict[str, Any] | None] = {
    "eager": None,
    "compiled here": None,
    "loaded": {},
    "loaded, launched by Python": {"native_launch": False},
    "loaded, CUDA graphs": {"cuda_graphs": True},
}


class Chain(nn.Module):
    """Normalizations of rows and columns in turns, which no kernel does together."""

    def __init__(self, width: int = 16, turns: int = 4):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(width, width) / width) for _ in range(turns))
        self.scale = nn.Parameter(torch.rand(width))

    def forward(self, x: Tensor) -> Tensor:
        for w in self.weights:
            x = torch.softmax(torch.softmax(x, -1) * self.scale, 0)
            x = x @ w.t()
            x = x + x.sum(0)
        return x


def turn(call: Callable[[], Any], number: int, cuda: bool) -> tuple[float, float]:
    """Seconds of a call: until the device is done (of the processor, without a GPU), and until it has returned."""
    clock = time.perf_counter if cuda else time.process_time
    if cuda:
        torch.cuda.synchronize()
    began = clock()
    for _ in range(number):
        call()
    host = clock() - began
    if cuda:
        torch.cuda.synchronize()
    return (clock() - began) / number, host / number


def measured(model: nn.Module, x: Tensor, dims: Any, folder: Path, cuda: bool, rounds: int) -> dict[str, Any]:
    """For each way: microseconds until the device is done, of the host, and of loading."""
    path = folder / "program.fwp"
    with torch.no_grad():
        exported = torch.export.export(model, (x,), dynamic_shapes=dims)
    compiled = fusewright.aot_compile(exported)
    fusewright.aot_save(compiled, path, architectures=None if cuda else ["sm_90"])
    fusewright.aot_load(path)
    calls: dict[str, Callable[[Tensor], Any]] = {}
    loads: dict[str, float] = {}
    for name, options in WAYS.items():
        if options is None:
            calls[name] = model if name == "eager" else compiled
        elif cuda or "cuda_graphs" not in options:
            began = time.perf_counter()
            with fusewright.options(**options):
                calls[name] = fusewright.aot_load(path)
            loads[name] = 1e6 * (time.perf_counter() - began)
    if not cuda:
        del calls["eager"]  # a CPU's
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    with torch.no_grad():
        for call in calls.values():
            for _ in range(40):
                call(x)
        for _ in range(rounds):
            for name, call in calls.items():
                taken[name].append(turn(lambda call=call: call(x), 50, cuda))
    pick = statistics.median if cuda else min
    out: dict[str, Any] = {}
    for name, pairs in taken.items():
        wall, host = (1e6 * pick(column) for column in zip(*pairs, strict=True))
        out[name] = {"wall": wall, "host": host, "load": loads.get(name)}
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("null", "cuda"), default="null")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    cuda = given.device == "cuda"
    device = "cuda" if cuda else "cpu"
    n = torch.export.Dim("n", max=512)
    programs: dict[str, tuple[nn.Module, Tensor, Any]] = {
        "chain": (Chain().to(device), torch.randn(8, 16, device=device), {"x": {0: n}})
    }
    if cuda:
        dims = {"tokens": {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("length", max=512)}}
        x = torch.randint(0, 8192, (2, 64), device=device)
        programs["gpt"] = (GPT(given.layers, given.width).to(device).eval(), x, dims)
    results = {}
    null = contextlib.nullcontext() if cuda else devices.use("cpu", NullDriver())
    with null, tempfile.TemporaryDirectory() as folder:
        for name, (model, x, dims) in programs.items():
            results[name] = measured(model, x, dims, Path(folder), cuda, given.rounds)
            for way, t in results[name].items():
                load = "" if t["load"] is None else f"load {1e-3 * t['load']:8.1f} ms"
                print(f"{name:8}{way:30}wall {t['wall']:9.1f} µs  host {t['host']:9.1f} µs  {load}", flush=True)
    for name, status in cuda_graphs.status().items():
        print(f"{name}: CUDA graph: {status}")
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
