"""Programs of one kernel in shapes drawn at random: what no heuristic can have been tuned on.

`python benchmarks/drawn_shapes.py --seed 3 --count 2 --json run.json` draws two shapes and element types for each kind
of program (the kinds of the suites `gpu` and `gpu-more`) and measures them as `fusewright bench --device cuda` does,
beside eager and TorchInductor. The same seed draws the same shapes. On one H200 about two seconds per program. Rows
where Fusewright is more than 3 % slower than the best peer say so. `--kinds others` has short rows of any length,
operands that are the same for many rows, and softmax and sums that do not go along memory; `--kinds training` forward
and backward passes (`drawn_others.py`); `--kinds losses` losses, both (`drawn_losses.py`). On a
CPU: `--device cpu --scale 0.1`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import drawn_losses
import drawn_others
import torch
import torch.nn.functional as F
from draw import SUITE, TYPES, Draw, case, images
from rich.console import Console

from fusewright.bench import cases_gpu as g
from fusewright.bench import cases_more as more
from fusewright.bench import measure, report, runner, write
from fusewright.bench.cases import Case, layer_norm, rows, softmax


def _cat(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return torch.cat([a, b, c], 1).relu()


# name, program, vectors beside the large tensors, large tensors, bounds of the last extent
ROWS: tuple[tuple[str, Callable[..., Any], int, int, tuple[int, int]], ...] = (
    ("bias+gelu", g.bias_gelu, 1, 1, (64, 20_000)),
    ("silu*mul", g.silu_mul, 0, 2, (64, 50_000)),
    ("softmax", softmax, 0, 1, (64, 200_000)),
    ("log softmax", lambda x: F.log_softmax(x, -1), 0, 1, (64, 200_000)),
    ("rmsnorm", g.rms_norm, 1, 1, (64, 200_000)),
    ("layernorm", layer_norm, 2, 1, (64, 60_000)),
    ("add+RMS norm", more.add_rms_norm, 1, 2, (256, 20_000)),
    ("layernorm+gelu", more.layer_norm_gelu, 2, 1, (64, 20_000)),
    ("swiglu", more.swiglu, 0, 1, (256, 50_000)),
    ("sum all", lambda x: x.sum(), 0, 1, (64, 20_000)),
    ("sum dim 0", lambda x: x.sum(0), 0, 1, (64, 20_000)),
    ("sum dim 1", lambda x: x.sum(1), 0, 1, (64, 200_000)),
    ("std", lambda x: x.std(-1), 0, 1, (64, 60_000)),
    ("transpose", lambda x: x.t().contiguous(), 0, 1, (512, 20_000)),
    ("cat of 3 + relu", _cat, 0, 3, (64, 10_000)),
    ("KL divergence", more.kl, 0, 2, (1_000, 100_000)),
)
IMAGES: tuple[tuple[str, Callable[..., Any], bool], ...] = (
    ("batchnorm", g.batch_norm, False),
    ("batchnorm+relu channels last", more.batch_norm_relu, True),
    ("groupnorm+silu", g.group_norm_silu, False),
    ("groupnorm+silu channels last", g.group_norm_silu, True),
)


def drawn(draw: Draw) -> Iterator[Case]:
    """One case of each kind."""

    for name, fn, vectors, big, bounds in ROWS:
        shape, dtype = draw.matrix(*bounds), draw.dtype()
        shape = (max(1, shape[0] // big), shape[1] // 2 * 2)
        yield case(name, fn, rows(shape, more.TINY, big=big, vectors=vectors, dtype=dtype), dtype, *shape)
    for name, fn, last in IMAGES:
        yield images(draw, name, fn, last)
    n, m = draw.matrix(500, 200_000)
    yield case("cross-entropy", g.cross_entropy, g._classes(n, m), torch.bfloat16, n, m)
    middle = (draw.elements(4, 64), draw.extent(200, 5_000), draw.extent(64, 2_000))
    dtype = draw.dtype()
    yield case("var_mean dim 1", lambda x: torch.var_mean(x, 1), rows(middle, (2, 8, 16), dtype=dtype), dtype, *middle)
    a, b, c = draw.elements(4, 32), draw.extent(32, 200), draw.extent(128, 2_000)
    wide = g._shapes((a, 1, b, c), (a, b, 1, c), dtype=torch.float32, small=((2, 1, 4, 16), (2, 4, 1, 16)))
    yield case("outer add", g.outer_add, wide, torch.float32, a, b, b, c)
    yield _rope(draw)
    yield _embedding(draw)
    yield _gradient(draw)


def _rope(draw: Draw) -> Case:
    heads, tokens = draw.extent(4, 40), draw.extent(500, 10_000)
    width = draw.random.choice((64, 80, 96, 128, 256))
    size, dtype = (max(1, draw.scaled(80_000_000) // (heads * tokens * width)), heads, tokens, width), draw.dtype()
    return case("rope", g.rope, g._heads(*size, dtype=dtype), dtype, *size)


def _embedding(draw: Draw) -> Case:
    n, width, k, dtype = draw.extent(1_000, 200_000), draw.extent(64, 8_000), draw.extent(5_000, 100_000), draw.dtype()
    k = min(k, draw.scaled(200_000_000) // width)
    name = f"embedding*2 {k} of {n}x{width} {TYPES[dtype]}"
    return Case(name, SUITE, g.embedding, g._words(n, width, k, dtype), 0, first=min(1, k / n))


def _gradient(draw: Draw) -> Case:
    n, m = draw.matrix(256, 16_000)
    dtype = draw.dtype()
    return case("layernorm backward", g.layer_norm_backward, g._norm_gradient(n, m, dtype), dtype, n, m)


KINDS = {
    "first": drawn,
    "others": drawn_others.others,
    "training": drawn_others.training,
    "losses": drawn_losses.losses,
}


def _measured(case: Case, names: list[str], args: argparse.Namespace, roof: float) -> dict[str, Any]:
    """One row; said as soon as it is there, and where a peer is faster."""
    row = runner.run_case(case, names, args.device, args.quick, roof, lambda _: None)
    mine = row["seconds"].get(report.OURS)
    best = min(t for t in row["seconds"].values())
    told = " ".join(f"{name} {t * 1e6:.1f} ({row['share'][name]:.2f})" for name, t in row["seconds"].items())
    remark = "failed" if mine is None else "slower" if mine > 1.03 * best else ""
    print(f"{case.name}: {told} {remark} {row['failed'] or ''}".rstrip(), flush=True)
    return row


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1, help="shapes for each kind of program")
    parser.add_argument("--kinds", choices=tuple(KINDS), default="first", help="of programs (default: first)")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--scale", type=float, default=1, help="so many times the elements: 0.1 for a CPU")
    parser.add_argument("--only", default="", metavar="SUBSTR", help="only programs whose name contains this")
    parser.add_argument("--peers", default="eager,inductor")
    parser.add_argument("--list", action="store_true", help="print what is drawn, and end")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: tries the program, not speed")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args(argv)
    draw = Draw(args.seed, args.scale)
    cases = tuple(c for _ in range(args.count) for c in KINDS[args.kinds](draw) if args.only in c.name)
    if args.list:
        print(*(c.name for c in cases), sep="\n")
        return 0
    warnings.simplefilter("ignore")  # peers warn about settings that do not matter here
    names = list(dict.fromkeys([runner.EAGER, *filter(None, args.peers.split(",")), report.OURS]))
    roof = measure.copy_roof(args.device, args.quick)
    rows: list[dict[str, Any]] = []
    run: dict[str, Any] = {
        "device": args.device,
        "allocator": "default",
        "machine": measure.machine(args.device),
        "copy_roof_bytes_per_s": roof,
        "rows": rows,
    }
    for program in cases:
        rows.append(_measured(program, names, args, roof))
        if args.json:
            write(args.json, names, [run])
    console = Console(width=200)
    report.show_machine(console, run["machine"])
    report.show(console, run, names, [SUITE])
    return 1 if any(report.OURS in row["failed"] for row in run["rows"]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
