"""Scripted programs as they are and converted: wall time of a call, forward and with backward.

    python benchmarks/torchscript.py [cpu|cuda]

Both run the same TorchScript; results are compared first. On a GPU, scripted programs have TorchScript's own fuser.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

import fusewright

warnings.filterwarnings("ignore", category=DeprecationWarning)


def tiny(x, y):
    return torch.relu(x + y) * 2 + 1


def bias_dropout_add_norm(x, bias, residual, weight):
    y = F.dropout(x + bias, 0.1, True) + residual
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    return (y - mean) * torch.rsqrt(var + 1e-5) * weight


def lstm_cell(x, hx, cx, w_ih, w_hh, b_ih, b_hh):
    gates = torch.mm(x, w_ih.t()) + torch.mm(hx, w_hh.t()) + b_ih + b_hh
    i, f, g, o = gates.chunk(4, 1)
    cy = (f.sigmoid() * cx) + (i.sigmoid() * g.tanh())
    return o.sigmoid() * cy.tanh(), cy


def rnn(x, h, w, u):
    outs = []
    for t in range(x.size(0)):
        h = torch.tanh(x[t] @ w + h @ u) * 0.5 + h * 0.5
        outs.append(h)
    return torch.stack(outs)


def main() -> None:
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    tokens, width = (64 * 128, 1024) if device == "cuda" else (1024, 1024)

    def r(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device=device)

    cases: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
        "tiny": (tiny, (r(4, 4), r(4, 4))),
        "bias_dropout_add_norm": (bias_dropout_add_norm, (r(tokens, width), r(width), r(tokens, width), r(width))),
        "lstm_cell": (lstm_cell, (r(64, 512), r(64, 512), r(64, 512), r(2048, 512), r(2048, 512), r(2048), r(2048))),
        "rnn of 32 steps": (rnn, (r(32, 64, 256), r(64, 256), r(256, 256) / 16, r(256, 256) / 16)),
    }
    print(f"{'':24}{'':>10}{'eager':>10}{'scripted':>10}{'fused':>10}  µs, {device}")
    for name, (fn, args) in cases.items():
        scripted = torch.jit.script(fn)
        fused = fusewright.fuse(scripted)
        if "dropout" not in name:
            torch.testing.assert_close(fused(*args), scripted(*args), rtol=1e-3, atol=1e-4)
        with torch.no_grad():
            times = [measure(lambda f=f: f(*args), device) for f in (fn, scripted, fused)]
        print(f"{name:24}{'forward':>10}" + "".join(f"{t:10.1f}" for t in times), flush=True)
        leaves = tuple(a.clone().requires_grad_() for a in args)
        times = [measure(lambda f=f: step(f, leaves), device) for f in (fn, scripted, fused)]
        print(f"{'':24}{'backward':>10}" + "".join(f"{t:10.1f}" for t in times), flush=True)


def step(fn: Callable[..., Any], leaves: tuple[torch.Tensor, ...]) -> None:
    """One training step, without an optimiser."""
    out = fn(*leaves)
    sum(t.sum() for t in (out if isinstance(out, tuple) else (out,))).backward()
    for leaf in leaves:
        leaf.grad = None


def measure(call: Callable[[], Any], device: str) -> float:
    """Microseconds of a call: the best of five runs of about 0.1 s, after a warm-up."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    for _ in range(12):
        call()
    wait()
    began = time.perf_counter()
    call()
    wait()
    n = max(3, min(2000, int(0.1 / max(time.perf_counter() - began, 1e-7))))
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(n):
            call()
        wait()
        best = min(best, (time.perf_counter() - began) / n)
    return best * 1e6


if __name__ == "__main__":
    main()
