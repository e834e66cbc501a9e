"""Training steps of whole models: a GPT-2 of 12 layers, a Llama-style decoder of 8, and a GPT bound by the host.

    python benchmarks/models.py --device cuda --json run.json     # about two minutes
    python benchmarks/models.py --device cuda --profile out/      # and what every kernel took, a file for each
    python benchmarks/models.py --device cpu --small              # does it run at all
    python benchmarks/models.py --cuda-graphs --only "GPT, 12"    # with CUDA graphs: ours, and TorchInductor's
    python benchmarks/models.py --more                            # the models of `models_more.py`

A step is the forward pass, cross-entropy over the vocabulary, the backward pass and AdamW; parameters are bfloat16.
All implementations of a model take turns of a few steps, in one process, from the same weights and on the same tokens;
within a turn nobody waits for the device, as in training. Losses of the first steps are compared before anything is
timed. Memory is the peak of a step above what there is before it; what CUDA graphs keep between steps is in
"reserved MB" only, which is the whole process's.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from models_more import MORE, SMALL, Model
from torch import Tensor, nn
from torch.profiler import ProfilerActivity
from torch.profiler import profile as profiler

import fusewright
from fusewright.bench.measure import synchronize
from fusewright.run import cuda_graphs

BACKENDS = ("eager", "aot_eager", "inductor", "inductor_graphs", "fusewright", "fusewright_graphs")
GRAPHS: dict[str, dict[str, Any]] = {
    "inductor_graphs": {"backend": "inductor", "mode": "reduce-overhead"},
    "fusewright_graphs": {"backend": "fusewright", "options": {"cuda_graphs": True}},
}
TURN = 4  # steps of a turn
UNTIMED, UNTIMED_GRAPHS = 1, 10  # turns before any is timed; graphs are recorded, and have to prove themselves


@dataclass(frozen=True)
class Shape:
    """What a decoder is made of."""

    layers: int
    heads: int
    width: int
    hidden: int
    vocabulary: int
    batch: int
    tokens: int
    dropout: float = 0.0


class Attention(nn.Module):
    def __init__(self, s: Shape, bias: bool, rotary: bool):
        super().__init__()
        self.heads, self.rotary, self.dropout = s.heads, rotary, s.dropout
        self.qkv = nn.Linear(s.width, 3 * s.width, bias=bias)
        self.out = nn.Linear(s.width, s.width, bias=bias)

    def forward(self, x: Tensor, cos: Tensor | None, sin: Tensor | None) -> Tensor:
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(x).split(c, dim=2))
        if cos is not None and sin is not None:
            q, k = q * cos + rotated(q) * sin, k * cos + rotated(k) * sin
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.dropout(self.out(y.transpose(1, 2).reshape(b, t, c)), self.dropout, self.training)


def rotated(x: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class GPTBlock(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(s.width), nn.LayerNorm(s.width)
        self.attention = Attention(s, True, False)
        self.up, self.down = nn.Linear(s.width, s.hidden), nn.Linear(s.hidden, s.width)
        self.dropout = s.dropout

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), None, None)
        y = self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
        return x + F.dropout(y, self.dropout, self.training)


class GPT(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.token, self.position = nn.Embedding(s.vocabulary, s.width), nn.Embedding(s.tokens, s.width)
        self.blocks = nn.ModuleList(GPTBlock(s) for _ in range(s.layers))
        self.norm = nn.LayerNorm(s.width)
        self.dropout = s.dropout

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.token(tokens) + self.position(torch.arange(tokens.shape[1], device=tokens.device))
        x = F.dropout(x, self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.token.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class RMSNorm(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * y.to(x.dtype)


class LlamaBlock(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(s.width), RMSNorm(s.width)
        self.attention = Attention(s, False, True)
        self.gate, self.up = (nn.Linear(s.width, s.hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(s.hidden, s.width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), cos, sin)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    cos: Tensor
    sin: Tensor

    def __init__(self, s: Shape):
        super().__init__()
        self.token = nn.Embedding(s.vocabulary, s.width)
        self.blocks = nn.ModuleList(LlamaBlock(s) for _ in range(s.layers))
        self.norm = RMSNorm(s.width)
        self.head = nn.Linear(s.width, s.vocabulary, bias=False)
        d = s.width // s.heads
        angles = torch.outer(torch.arange(s.tokens), 10000.0 ** (-torch.arange(0, d, 2) / d))
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens: Tensor, targets: Tensor) -> Tensor:
        x = self.token(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return F.cross_entropy(self.head(self.norm(x)).float().flatten(0, 1), targets.flatten())


def decoder(kind: Callable[[Shape], nn.Module], s: Shape) -> Model:
    data = lambda: tuple(torch.randint(s.vocabulary, (s.batch, s.tokens)) for _ in range(2))
    return Model(lambda: kind(s), data, s.batch * s.tokens)


MODELS: dict[str, Model] = {
    "GPT-2 small, 8x1024 tokens": decoder(GPT, Shape(12, 12, 768, 3072, 50257, 8, 1024)),
    "GPT-2 small, dropout 0.1, 8x1024 tokens": decoder(GPT, Shape(12, 12, 768, 3072, 50257, 8, 1024, 0.1)),
    "Llama-style, 8 layers, 4x2048 tokens": decoder(Llama, Shape(8, 16, 2048, 5632, 32000, 4, 2048)),
    "GPT, 12 layers, 1x128 tokens": decoder(GPT, Shape(12, 12, 768, 3072, 50257, 1, 128)),
}
TINY = {
    "GPT": decoder(GPT, Shape(2, 2, 64, 256, 211, 2, 32, 0.1)),
    "Llama-style": decoder(Llama, Shape(2, 2, 64, 160, 211, 2, 32)),
}


class Run:
    """One implementation of one model: its parameters, its optimizer, and the compiled loss."""

    def __init__(self, model: nn.Module, backend: str, data: tuple[Tensor, ...]):
        self.model = copy.deepcopy(model)
        self.data = data
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=data[0].is_cuda)
        how = GRAPHS.get(backend, {"backend": backend})
        self.loss = self.model if backend == "eager" else torch.compile(self.model, **how)

    def step(self) -> Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(*self.data)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def first_steps(run: Run, device: str, steps: int = 4) -> tuple[float, list[float]]:
    """Seconds of the first step, and the losses of the first few."""
    torch.manual_seed(1)
    synchronize(device)
    began = time.perf_counter()
    losses = [float(run.step())]
    synchronize(device)
    took = time.perf_counter() - began
    return took, losses + [float(run.step()) for _ in range(steps - 1)]


def peak(run: Run) -> float:
    """MB that a step allocates at most, above what there is before it."""
    run.optimizer.zero_grad(set_to_none=True)
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run.step()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def spans(p: Any) -> list[tuple[float, float, str]]:
    """(begin, end, name) of what ran on the device, in microseconds, in the order of beginnings."""
    events = (e for e in p.events() if e.device_type.name == "CUDA" and not e.name.startswith("Optimizer."))  # a range
    return sorted((e.time_range.start, e.time_range.end, e.name) for e in events)


def exclusive(ran: Iterable[tuple[float, float, str]]) -> list[tuple[str, float]]:
    """(name, time) of each; while several ran, that time counts for the one that began first."""
    out, before = [], float("-inf")
    for start, stop, name in ran:
        out.append((name, max(0.0, stop - max(start, before))))
        before = max(before, stop)
    return out


def profile(run: Run, path: Path) -> float:
    """Write what each kernel of a step took to `path`; for how long any ran, in seconds."""
    steps = 3
    with profiler(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as p:
        for _ in range(steps):
            run.step()
        torch.cuda.synchronize()
    ran = spans(p)
    times: dict[str, list[float]] = {}
    for name, took in exclusive(ran):
        times.setdefault(name, []).append(took)
    total = sum(map(sum, times.values())) / steps
    slowest = sorted(times.items(), key=lambda item: -sum(item[1]))
    lines = [f"{sum(t) / steps:10.1f} us {len(t) / steps:6.1f} calls  {name[:150]}" for name, t in slowest]
    path.write_text("\n".join([f"{total:10.1f} us in all, idle: {pauses(ran[-len(ran) // steps :])}", *lines]) + "\n")
    return total * 1e-6


def pauses(ran: list[tuple[float, float, str]]) -> str:
    """When the device had nothing to do for long."""
    end, total, longest = ran[0][1], 0.0, []
    for start, stop, name in ran[1:]:
        if start > end:
            total += start - end
            longest.append((start - end, name))
        end = max(end, stop)
    worst = ", ".join(f"{gap:.0f} us before {name[:40]}" for gap, name in sorted(longest, reverse=True)[:8])
    return f"{total:.0f} us ({worst})"


def initialized(made: Model, device: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """A model and its data."""
    with torch.device(device):
        model = made.make()
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        model.to(dtype=None if made.autocast else torch.bfloat16, memory_format=torch.channels_last)
        return model, made.data()


def measure(name: str, made: Model, backends: list[str], device: str, out: Path | None, rounds: int) -> dict[str, Any]:
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, data = initialized(made, device)
    rows: dict[str, Any] = {}
    runs: dict[str, Run] = {}
    for backend in backends:
        runs[backend] = Run(model, backend, data)
        fusewright.reset_counters()
        first, losses = first_steps(runs[backend], device)
        rows[backend] = {"first": first, "losses": losses, "fallbacks": fusewright.counters()["fallbacks"]}
    expected = rows[backends[0]]["losses"]
    for backend in backends[1:]:
        worst = max(abs(a - b) for a, b in zip(rows[backend]["losses"], expected, strict=True))
        if worst > 0.02 * max(expected):
            print(f"  {backend}: the losses differ from {backends[0]}'s: {rows[backend]['losses']} {expected}")
    times: dict[str, list[float]] = {backend: [] for backend in backends}
    untimed = UNTIMED_GRAPHS if GRAPHS.keys() & runs.keys() else UNTIMED
    for _ in range(untimed + rounds):
        for backend, run in runs.items():
            synchronize(device)
            began = time.perf_counter()
            for _ in range(TURN):
                run.step()
            synchronize(device)
            times[backend].append((time.perf_counter() - began) / TURN)
    for backend, run in runs.items():
        row = rows[backend]
        row["step"] = statistics.median(times[backend][untimed:])
        row["tokens/s"] = made.items / row["step"]
        if device == "cuda":
            row["peak MB"] = peak(run)
            row["reserved MB"] = torch.cuda.memory_reserved() / 1e6
            if out is not None:
                file = name.replace(" ", "_").replace(",", "").replace("/", "-")
                row["device"] = profile(run, out / f"{file}-{backend}.txt")
        notes = [f"{k} {v:,.4g}" for k, v in row.items() if k != "losses"]
        print(f"  {backend:17s} {row['step'] * 1e3:9.3f} ms  " + "  ".join(notes), flush=True)
    if "fusewright_graphs" in runs:
        for plan, text in cuda_graphs.status().items():
            print(f"    {plan}: {text}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--backends", default="eager,inductor,fusewright", help=f"of {', '.join(BACKENDS)}")
    parser.add_argument("--cuda-graphs", action="store_true", help="also inductor and fusewright from CUDA graphs")
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--more", action="store_true", help="images, masks, a U-Net, experts, a state-space model")
    parser.add_argument("--small", action="store_true", help="models of a few layers and tokens")
    parser.add_argument("--rounds", type=int, default=8, help="turns that are timed")
    parser.add_argument("--profile", type=Path, help="a directory for what each kernel took")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.profile:
        args.profile.mkdir(parents=True, exist_ok=True)
    backends = args.backends.split(",")
    backends += [b for b in GRAPHS if args.cuda_graphs and b not in backends]
    torch.set_float32_matmul_precision("high")
    results = {}
    models = (SMALL if args.small else MORE) if args.more else (TINY if args.small else MODELS)
    for name, made in models.items():
        if args.only in name:
            print(name, flush=True)
            results[name] = measure(name, made, backends, args.device, args.profile, args.rounds)
            gc.collect()
            if args.device == "cuda":
                torch.cuda.empty_cache()
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
