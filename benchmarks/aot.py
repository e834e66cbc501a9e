"""A GPT compiled ahead of time: how long saving takes, and what a process waits for that loads it and calls it once.

    python benchmarks/aot.py                    # 6 layers, width 256; a minute
    python benchmarks/aot.py --layers 12 --width 768
    python benchmarks/aot.py --device cuda

Loading and the first call are measured in processes of their own, which have imported torch and nothing else; the
median of several. For comparison: the first call of `torch.compile` with our backend in a fresh process, its kernels on
disk (`warm`) and not (`cold`), and of eager PyTorch. `..._cpu` is time of the processor, which other programs on the
machine disturb less.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.ln1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    """A decoder with learned positions and a head tied to the embedding."""

    def __init__(self, layers: int, width: int, heads: int = 8, vocabulary: int = 8192, context: int = 512):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


LOAD = """
import time, torch, json, sys
path, device, tokens = sys.argv[1], sys.argv[2], int(sys.argv[3])
x = torch.randint(0, 8192, (2, tokens), device=device)
begin, cpu = time.perf_counter(), time.process_time()
import fusewright
program = fusewright.aot_load(path, mmap=len(sys.argv) > 4)
loaded, loaded_cpu = time.perf_counter(), time.process_time()
program(x).sum().item()
first, first_cpu = time.perf_counter(), time.process_time()
program(x).sum().item()
again, again_cpu = time.perf_counter(), time.process_time()
print(json.dumps({"load": loaded - begin, "load_cpu": loaded_cpu - cpu, "first": first - loaded,
                  "first_cpu": first_cpu - loaded_cpu, "again": again - first, "again_cpu": again_cpu - first_cpu}))
"""
JIT = """
import time, torch, json, sys
sys.path.insert(0, sys.argv[1])
from aot import GPT
device, tokens, layers, width, backend = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6]
model = GPT(layers, width).to(device).eval()
x = torch.randint(0, 8192, (2, tokens), device=device)
begin, cpu = time.perf_counter(), time.process_time()
run = model if backend == "eager" else torch.compile(model, backend=backend, dynamic=True)
with torch.no_grad():
    run(x).sum().item()
    print(json.dumps({"first": time.perf_counter() - begin, "first_cpu": time.process_time() - cpu}))
"""


def child(code: str, *args: object, **env: str) -> dict[str, float]:
    command = [sys.executable, "-c", code, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    return {k: statistics.median(r[k] for r in runs) for k in runs[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    import fusewright

    model = GPT(given.layers, given.width).to(given.device).eval()
    x = torch.randint(0, 8192, (2, given.tokens), device=given.device)
    dims = {"tokens": {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("length", max=512)}}
    times: dict[str, float | dict[str, float]] = {}
    began = time.perf_counter()
    with torch.no_grad():
        exported = torch.export.export(model, (x,), dynamic_shapes=dims)
    times["export"] = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gpt.fwp"
        began = time.perf_counter()
        fusewright.aot_save(exported, path)
        times["save"] = time.perf_counter() - began
        times["MiB"] = path.stat().st_size / 2**20
        with torch.no_grad():
            error = (fusewright.aot_load(path)(x) - model(x)).abs().max().item()
        times["largest difference to eager"] = error
        loads = [child(LOAD, path, given.device, given.tokens) for _ in range(given.rounds)]
        times["aot"] = median(loads)
        times["aot, mapped"] = median([child(LOAD, path, given.device, given.tokens, 1) for _ in range(given.rounds)])
        shape = (Path(__file__).parent, given.device, given.tokens, given.layers, given.width)
        cache = {"FUSEWRIGHT_CACHE_DIR": str(Path(folder) / "cache")}
        times["torch.compile, cold"] = child(JIT, *shape, "fusewright", **cache)
        times["torch.compile, warm"] = median([child(JIT, *shape, "fusewright", **cache) for _ in range(3)])
        times["eager"] = median([child(JIT, *shape, "eager") for _ in range(3)])
    for name, value in times.items():
        if isinstance(value, dict):
            print(f"{name:30}", "  ".join(f"{k} {1e3 * v:.1f} ms" for k, v in value.items()))
        else:
            print(f"{name:30} {value:.3g}")
    if given.json:
        given.json.write_text(json.dumps(times, indent=1))


if __name__ == "__main__":
    main()
