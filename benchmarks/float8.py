"""Scaling to 8-bit floats and back, beside eager and TorchInductor: share of the roof, and whether bits are eager's.

    python benchmarks/float8.py --device cuda       # half a minute
    python benchmarks/float8.py --device cpu        # smaller ones

A row, a block of 128 numbers or a whole tensor has one scale; inputs are bfloat16. "differ" is the share of results
whose bits are not eager's, for TorchInductor and Fusewright: a scale one unit in the last place off counts.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from beside import beside, parser

from fusewright.bench import measure

Outputs = torch.Tensor | tuple[torch.Tensor, ...]
E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2
LARGEST = 448.0


def _scale(y: torch.Tensor) -> torch.Tensor:
    return LARGEST / y.abs().amax(-1, keepdim=True).float().clamp(min=1e-12)


def _to8(y: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    return (y * s).clamp(-LARGEST, LARGEST).to(E4)


def rowwise(x: torch.Tensor) -> Outputs:
    s = _scale(x)
    return _to8(x.float(), s), s


def tensorwise(x: torch.Tensor, s: torch.Tensor) -> Outputs:
    return _to8(x.float(), s)


def turned(x: torch.Tensor, s: torch.Tensor) -> Outputs:
    q = _to8(x.float(), s)
    return q, q.t().contiguous()


def norm(x: torch.Tensor, w: torch.Tensor) -> Outputs:
    y = x.float()
    y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) * w.float()
    s = _scale(y)
    return _to8(y, s), s


def swiglu(a: torch.Tensor, b: torch.Tensor) -> Outputs:
    y = F.silu(a.float()) * b.float()
    s = _scale(y)
    return _to8(y, s), s


def blocks(x: torch.Tensor) -> Outputs:
    y = x.float().view(x.shape[0], -1, 128)
    s = _scale(y)
    return _to8(y, s).view(x.shape), s.squeeze(-1)


def back(q: torch.Tensor, s: torch.Tensor) -> Outputs:
    return (q.float() * s).bfloat16()


def e5m2(x: torch.Tensor, s: torch.Tensor) -> Outputs:
    return (x.float() * s).to(E5)


def cases(device: str) -> list[tuple[str, Callable[..., Outputs], tuple[torch.Tensor, ...]]]:
    n, m = (16384, 4096) if device == "cuda" else (2048, 2048)

    def some(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device=device, dtype=torch.bfloat16)

    x, s = some(n, m), torch.tensor(50.0, device=device)
    return [
        ("row by row", rowwise, (x,)),
        ("row by row, odd", rowwise, (some(n * 5 // 8 + 1, m * 3 // 4 - 1),)),
        ("blocks of 128", blocks, (x,)),
        ("one scale", tensorwise, (x, s)),
        ("one scale, and transposed", turned, (x[: n // 2], s)),
        ("RMS norm, row by row", norm, (x, some(m))),
        ("swiglu, row by row", swiglu, (some(n // 2, 2 * m), some(n // 2, 2 * m))),
        ("back to bfloat16", back, ((x * 50).to(E4), s)),
        ("to e5m2", e5m2, (x, s)),
    ]


def together(x: Outputs) -> tuple[torch.Tensor, ...]:
    return x if isinstance(x, tuple) else (x,)


def bits(x: torch.Tensor) -> torch.Tensor:
    return x.view(torch.uint8) if x.dtype in (E4, E5) else x


def main() -> None:
    warnings.filterwarnings("ignore")
    args = parser(__doc__).parse_args()
    roof = measure.copy_roof(args.device)
    print(f"copy roof {roof / 1e9:.0f} GB/s")
    rows: list[dict[str, Any]] = []
    for name, fn, inputs in cases(args.device):
        found, times = beside(fn, inputs, args.device)
        results = {k: together(r) for k, r in found.items()}
        moved = sum(t.nbytes for t in (*inputs, *results["eager"]))
        differ = {
            k: max((bits(a) != bits(b)).float().mean().item() for a, b in zip(r, results["eager"], strict=True))
            for k, r in results.items()
        }
        rows.append({"case": name, "seconds": times, "share": {k: moved / roof / t for k, t in times.items()}})
        shown = " ".join(f"{k} {t * 1e6:.1f} us ({moved / roof / t:.2f})" for k, t in times.items())
        best = times["inductor"] / times["fusewright"]
        apart = f"differ {differ['inductor']:.1e}, {differ['fusewright']:.1e}"
        title = f"{name} {'x'.join(map(str, inputs[0].shape))}"
        print(f"{title}: {shown} | {best:.2f} of TorchInductor, {apart}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
