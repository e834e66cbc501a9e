"""Operators that are taken apart to fuse with their neighbours, beside eager and TorchInductor: share of the roof.

    python benchmarks/opened.py --device cuda            # a minute
    python benchmarks/opened.py --device cpu             # smaller ones
    python benchmarks/opened.py --only product           # cases with this in their names

Small matrix products, windows of images, draws of random numbers, fake quantization, special functions, running
extremes and complex numbers, each between elementwise operations.
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

BF16 = torch.bfloat16
Case = tuple[str, Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]


def features(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.relu(F.linear(x, w, b))


def rotated(r: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.einsum("nij,nj->ni", r * 2, x) + 1


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * 2) @ b + 1


def similarity(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(torch.einsum("bi,bi->b", torch.tanh(a), b))


def distances(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (-(a.square().sum(-1)[:, None] + b.square().sum(-1) - 2 * a @ b.T)).exp()


def token(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.silu(F.linear(F.rms_norm(x, x.shape[-1:]), w))


def windows(x: torch.Tensor) -> torch.Tensor:
    return F.unfold(F.relu(x), 3, padding=1) * 0.5


def patches(x: torch.Tensor) -> torch.Tensor:
    return F.unfold(F.relu(x), 4, stride=4) * 0.5


def images(x: torch.Tensor) -> torch.Tensor:
    return F.fold(x * 0.5, (64, 64), 4, stride=4) + 1


def sampled(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    return F.grid_sample(x, g.tanh(), align_corners=False) * 2


def local_norm(x: torch.Tensor) -> torch.Tensor:
    return F.local_response_norm(F.relu(x), 5)


def jitter(x: torch.Tensor) -> torch.Tensor:
    return x * torch.empty_like(x).uniform_(0.99, 1.01)


def gumbel(x: torch.Tensor) -> torch.Tensor:
    return F.gumbel_softmax(x, tau=0.5)


def replaced(x: torch.Tensor) -> torch.Tensor:
    return torch.where(torch.rand_like(x) < 0.1, torch.randint_like(x, 0, 100), x)


def quantized(x: torch.Tensor, s: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    return F.relu(torch.fake_quantize_per_channel_affine(x * 2, s, z, 0, -128, 127))


def probit(x: torch.Tensor) -> torch.Tensor:
    return torch.erfinv(x * 1.9 - 0.95) * 1.4142135


def evidence(x: torch.Tensor) -> torch.Tensor:
    return (torch.lgamma(x + 1) - x * torch.digamma(x + 1)).sum(-1)


def scan(a: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    c = a.cumsum(1)
    return (c + torch.logcumsumexp(v - c, 1)).exp()


def peaks(x: torch.Tensor) -> torch.Tensor:
    return x * 2 - torch.cummax(x * 2, -1).values


def spectrum(x: torch.Tensor) -> torch.Tensor:
    return torch.log1p(torch.fft.rfft(x * 2).abs().square())


def _warped(images: int, device: str) -> torch.Tensor:
    """Where 128x128 images are sampled: shrunk, with some noise."""
    whole = F.affine_grid(0.9 * torch.eye(2, 3, device=device).expand(images, 2, 3), [images, 1, 128, 128], False)
    return torch.atanh(whole + 0.01 * torch.randn_like(whole).clamp(-3, 3))


def cases(device: str) -> list[Case]:
    big = device == "cuda"
    k = 16 if big else 1

    def some(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device, dtype=dtype)

    scales, zeros = torch.rand(1000, device=device) + 0.1, torch.zeros(1000, device=device, dtype=torch.int32)
    return [
        ("linear 3 to 256", features, (some(k * 20000, 3), some(256, 3), some(256))),
        (
            "linear 1 to 64 bf16",
            features,
            (some(k * 100000, 1, dtype=BF16), some(64, 1, dtype=BF16), some(64, dtype=BF16)),
        ),
        ("linear 4 to 4", features, (some(k * 200000, 4), some(4, 4), some(4))),
        ("product of 3x3 and 3", rotated, (some(k * 100000, 3, 3), some(k * 100000, 3))),
        ("product of 3x3 and 3x3", product, (some(k * 100000, 3, 3), some(k * 100000, 3, 3))),
        ("product of points and 3x3", product, (some(k, 65536, 3), some(k, 3, 3))),
        (
            "product of 4x4 and 4x4 bf16",
            product,
            (some(k * 100000, 4, 4, dtype=BF16), some(k * 100000, 4, 4, dtype=BF16)),
        ),
        ("outer products", product, (some(k * 64, 300, 1), some(k * 64, 1, 100))),
        ("product of 200x200 and 200", product, (some(k * 64, 200, 200), some(k * 64, 200, 1))),
        ("one token of a decoder bf16", token, (some(1, k * 256, dtype=BF16), some(k * 896, k * 256, dtype=BF16))),
        ("products of rows of 64", similarity, (some(k * 40000, 64), some(k * 40000, 64))),
        (
            "products of rows of 3000 bf16",
            similarity,
            (some(k * 800, 3000, dtype=BF16), some(k * 800, 3000, dtype=BF16)),
        ),
        ("distances in space", distances, (some(k * 200, 3), some(k * 200 + 8, 3))),
        ("windows 3x3", windows, (some(k * 2, 32, 64, 64),)),
        ("patches 4x4", patches, (some(k * 8, 32, 64, 64),)),
        ("images of patches", images, (some(k * 8, 32 * 16, 256),)),
        ("bilinear samples", sampled, (some(k, 32, 128, 128), _warped(k, device))),
        ("local response norm", local_norm, (some(k * 2, 64, 56, 56),)),
        ("uniform noise bf16", jitter, (some(k * 1000, 4096, dtype=BF16),)),
        ("gumbel softmax", gumbel, (some(k * 2000, 1000),)),
        ("random integers", replaced, (some(k * 2000, 1000),)),
        ("fake quantization", quantized, (some(1000, k * 2000), scales, zeros)),
        ("erfinv", probit, (torch.rand(k * 2000, 1000, device=device),)),
        ("lgamma and digamma", evidence, (torch.rand(k * 2000, 1000, device=device) * 20,)),
        ("logcumsumexp over the middle", scan, (some(k * 2, 512, 1024), some(k * 2, 512, 1024))),
        ("running maxima", peaks, (some(k * 1000, 2000),)),
        ("magnitudes of a spectrum", spectrum, (some(k * 1000, 2048),)),
    ]


def main() -> None:
    warnings.filterwarnings("ignore")
    given = parser(__doc__)
    given.add_argument("--only", default="", help="part of a name")
    args = given.parse_args()
    roof = measure.copy_roof(args.device)
    print(f"copy roof {roof / 1e9:.0f} GB/s")
    rows: list[dict[str, Any]] = []
    for name, fn, inputs in cases(args.device):
        if args.only not in name:
            continue
        results, times = beside(fn, inputs, args.device)
        moved = sum(t.nbytes for t in (*inputs, results["eager"]))
        rows.append({"case": name, "seconds": times, "share": {k: moved / roof / t for k, t in times.items()}})
        shown = " ".join(f"{k} {t * 1e6:.1f} us ({moved / roof / t:.2f})" for k, t in times.items())
        ratios = ", ".join(f"{times[k] / times['fusewright']:.2f} of {k}" for k in ("eager", "inductor"))
        print(f"{name} {'x'.join(map(str, inputs[0].shape))}: {shown} | {ratios}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
