"""Common operators, each between two elementwise operations, beside eager and TorchInductor, forward or with gradients.

    python benchmarks/operators.py --device cuda                   # five minutes: TorchInductor's compilations
    python benchmarks/operators.py --device cpu --backward         # forward and backward pass
    python benchmarks/operators.py --only pool --only interpolate  # operators with one of these in their names

A row says what is slow, by itself or because it cuts what is around it in two; last comes the geometric mean of all.
Times on a GPU are the device's, from a cold L2 cache; tensors have 67 MB there, and 8 MB on a CPU.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from beside import parser, print_means, print_row

from fusewright.bench import measure

Operator = Callable[..., torch.Tensor]

# name: an operator of the kinds of tensors behind it; the first one comes from a ReLU, or from doubling it
OPERATORS: dict[str, tuple[Operator, tuple[str, ...]]] = {
    "avg_pool1d 2": (lambda x: F.avg_pool1d(x, 2), ("matrix",)),
    "avg_pool2d 2": (lambda x: F.avg_pool2d(x, 2), ("image",)),
    "avg_pool2d 3, stride 1": (lambda x: F.avg_pool2d(x, 3, 1, 1), ("image",)),
    "avg_pool2d without padding": (lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False), ("image",)),
    "avg_pool3d 2": (lambda x: F.avg_pool3d(x, 2), ("image",)),
    "adaptive_avg_pool2d 1": (lambda x: F.adaptive_avg_pool2d(x, 1), ("image",)),
    "adaptive_avg_pool2d 8": (lambda x: F.adaptive_avg_pool2d(x, 8), ("image",)),
    "adaptive_max_pool2d 8": (lambda x: F.adaptive_max_pool2d(x, 8), ("image",)),
    "max_pool2d 2": (lambda x: F.max_pool2d(x, 2), ("image",)),
    "max_pool2d 3, stride 2": (lambda x: F.max_pool2d(x, 3, 2, 1), ("image",)),
    "interpolate nearest": (lambda x: F.interpolate(x, scale_factor=2), ("image",)),
    "interpolate bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), ("image",)),
    "interpolate to corners": (
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        ("image",),
    ),
    "interpolate 65x65": (lambda x: F.interpolate(x, size=(65, 65), mode="bilinear"), ("image",)),
    "interpolate half": (lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear"), ("image",)),
    "interpolate bicubic": (lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), ("image",)),
    "grid_sample": (lambda x, g: F.grid_sample(x, g, align_corners=False), ("image", "grid")),
    "unfold 3x3": (lambda x: F.unfold(x, 3), ("image",)),
    "fold 3x3": (lambda x: F.fold(x.view(-1, 288, 455), (37, 15), 3), ("columns",)),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), ("image",)),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), ("image",)),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), ("image",)),
    "pad reflect": (lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), ("image",)),
    "pad replicate": (lambda x: F.pad(x, (1, 1, 1, 1), mode="replicate"), ("image",)),
    "pad circular": (lambda x: F.pad(x, (1, 1, 1, 1), mode="circular"), ("image",)),
    "pad zeros": (lambda x: F.pad(x, (1, 1, 1, 1)), ("image",)),
    "roll": (lambda x: torch.roll(x, (3, 3), (2, 3)), ("image",)),
    "flip": (lambda x: torch.flip(x, (3,)), ("image",)),
    "channels last": (lambda x: x.permute(0, 2, 3, 1).contiguous(), ("image",)),
    "local_response_norm": (lambda x: F.local_response_norm(x, 3), ("image",)),
    "instance_norm": (F.instance_norm, ("image",)),
    "group_norm": (lambda x: F.group_norm(x, 8), ("image",)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), ("image",)),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1:]), ("matrix",)),
    "softmax over channels": (lambda x: x.softmax(1), ("image",)),
    "logsumexp of rows": (lambda x: torch.logsumexp(x, -1), ("matrix",)),
    "logsumexp of columns": (lambda x: torch.logsumexp(x, 0), ("matrix",)),
    "norm 1": (lambda x: torch.linalg.vector_norm(x, 1, -1), ("matrix",)),
    "norm 3": (lambda x: torch.linalg.vector_norm(x, 3, -1), ("matrix",)),
    "std": (lambda x: x.std(-1), ("matrix",)),
    "amax": (lambda x: x.amax(-1), ("matrix",)),
    "max of columns": (lambda x: x.max(0)[0], ("matrix",)),
    "prod": (lambda x: x.prod(-1), ("unit",)),
    "renorm": (lambda x: torch.renorm(x, 2, 0, 1.0), ("matrix",)),
    "cumsum of rows": (lambda x: x.cumsum(-1), ("matrix",)),
    "cumsum of columns": (lambda x: x.cumsum(0), ("matrix",)),
    "cumprod": (lambda x: x.cumprod(-1), ("unit",)),
    "cummax": (lambda x: x.cummax(-1)[0], ("matrix",)),
    "logcumsumexp": (lambda x: torch.logcumsumexp(x, -1), ("matrix",)),
    "cumulative_trapezoid": (torch.cumulative_trapezoid, ("matrix",)),
    "diff": (torch.diff, ("matrix",)),
    "tril": (torch.tril, ("matrix",)),
    "glu": (F.glu, ("matrix",)),
    "gather": (lambda x, i: x.gather(1, i), ("matrix", "places")),
    "rows by index": (lambda x, i: x[i], ("matrix", "rows")),
    "columns by index": (lambda x, i: x.index_select(1, i), ("matrix", "few")),
    "scatter": (lambda x, i, s: x.scatter(1, i, s), ("matrix", "places", "halves")),
    "scatter_add": (lambda x, i, s: x.scatter_add(1, i, s), ("matrix", "places", "halves")),
    "index_add": (lambda x, i, s: x.index_add(0, i, s), ("matrix", "rows", "matrix")),
    "index_put": (lambda x, i, s: x.index_put((i,), s), ("matrix", "rows", "matrix")),
    "masked_fill": (lambda x, m: x.masked_fill(m, 0.0), ("matrix", "mask")),
    "unfold views": (lambda x: x.unfold(-1, 4, 2), ("matrix",)),
    "distances of numbers": (lambda a, b: (a[:, None] - b).abs().mean(-1), ("vector", "numbers")),
    "cross_entropy": (F.cross_entropy, ("matrix", "labels")),
    "cross_entropy of images": (F.cross_entropy, ("image", "classes")),
    "label smoothing": (lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), ("matrix", "labels")),
    "binary_cross_entropy_with_logits": (F.binary_cross_entropy_with_logits, ("matrix", "target")),
    "huber_loss": (F.huber_loss, ("matrix", "target")),
    "kl_div": (lambda x, t: F.kl_div(x.log_softmax(-1), t), ("matrix", "target")),
    "logsigmoid": (F.logsigmoid, ("matrix",)),
    "erfinv": (torch.erfinv, ("unit",)),
    "gumbel_softmax": (F.gumbel_softmax, ("matrix",)),
    "dropout": (F.dropout, ("matrix",)),
}


def tensors(kinds: tuple[str, ...], device: str) -> list[torch.Tensor]:
    """Operands of these kinds, random."""
    n, batch = (16384, 128) if device == "cuda" else (2048, 16)

    def whole(most: int, *shape: int) -> torch.Tensor:
        return torch.randint(0, most, shape, device=device)

    def floats(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device=device)

    make: dict[str, Callable[[], torch.Tensor]] = {
        "image": lambda: floats(batch, 32, 64, 64),
        "columns": lambda: floats(batch * 288 * 455),
        "grid": lambda: torch.rand(batch, 64, 64, 2, device=device) * 2 - 1,
        "classes": lambda: whole(32, batch, 64, 64),
        "matrix": lambda: floats(n, 1024),
        "halves": lambda: floats(n, 512),
        "unit": lambda: torch.rand(n, 1024, device=device) * 0.45 + 0.025,
        "target": lambda: torch.rand(n, 1024, device=device),
        "mask": lambda: floats(n, 1024) > 0,
        "places": lambda: whole(1024, n, 512),
        "rows": lambda: torch.randperm(n, device=device),
        "few": lambda: whole(1024, 512),
        "labels": lambda: whole(1024, n),
        "vector": lambda: floats(n),
        "numbers": lambda: floats(2048),
    }
    return [make[k]() for k in kinds]


def program(operator: Operator, kinds: tuple[str, ...]) -> Operator:
    """The operator between two others."""
    if kinds[0] == "image":
        return lambda x, *more: operator(F.relu(x), *more) * 2
    return lambda x, *more: operator(x * 2, *more) * 2


def timed(name: str, device: str, backward: bool) -> dict[str, float] | None:
    """Seconds of eager, TorchInductor and Fusewright, in turns; None for gradients of what has none."""
    operator, kinds = OPERATORS[name]
    inputs, fn = tensors(kinds, device), program(operator, kinds)
    wanted = [t.requires_grad_() for k, t in zip(kinds, inputs, strict=True) if t.is_floating_point() and k != "target"]
    if not backward:
        wanted = [t.requires_grad_(False) for t in wanted]
    out = fn(*inputs)
    if backward and not out.requires_grad:
        return None
    grad = torch.randn_like(out)
    torch._dynamo.reset()
    calls: dict[str, Operator] = {"eager": fn}
    for backend in ("inductor", "fusewright"):
        calls[backend] = torch.compile(measure.private_copy(fn, backend), backend=backend, fullgraph=True)

    def run(f: Operator) -> Any:
        if backward:
            return torch.autograd.grad(f(*inputs), wanted, grad)
        with torch.no_grad():
            return f(*inputs)

    turns = {k: (lambda f=f: run(f)) for k, f in calls.items()}
    if device == "cuda":
        return measure.on_device(turns, 0.02, 15, 15, False)
    return measure.interleaved(turns, "cpu", 0.5)


def main() -> None:
    warnings.filterwarnings("ignore")
    given = parser(__doc__)
    given.add_argument("--backward", action="store_true", help="forward and backward pass")
    given.add_argument("--only", action="append", default=[], help="part of a name")
    args = given.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for name in OPERATORS:
        if args.only and not any(part in name for part in args.only):
            continue
        times = timed(name, args.device, args.backward)
        if times is None:
            continue
        rows[name] = times
        print_row(name, times)
    print_means(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
