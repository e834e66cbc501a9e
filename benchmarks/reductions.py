"""Reductions of 37 to 197 MB, which only read: where the L2 cache is full of what was written before, that shows.

    python benchmarks/reductions.py [--device cuda] [--peers eager,inductor] [--quick] [part of a case's name]

Each as `fusewright bench --device cuda` measures it; in parentheses the share of the copy roof.
A line ends with "<" where a peer is faster by more than 3 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F

from fusewright.bench import measure, report, runner
from fusewright.bench.cases import Case

BF16, F32 = torch.bfloat16, torch.float32
ROWS = (
    *((4096, 8192, BF16), (8000, 8192, BF16), (12_000, 8192, BF16), (4711, 8192, F32), (2000, 8200, F32)),
    *((30_011, 3001, BF16), (100_003, 777, BF16), (9999, 1111, F32), (3_000_000, 17, F32)),
)
IMAGES = ((33, 1001, 1024, F32), (17, 2777, 1001, F32), (64, 700, 1536, BF16), (500, 77, 1300, F32))


def case(name: str, fn: Callable[..., Any], *shape: int, dtype: torch.dtype = F32, labels: bool = False) -> Case:
    """`fn` of a random tensor, and of one label for each row."""

    def make(device: str, quick: bool) -> tuple[torch.Tensor, ...]:
        size = tuple(min(n, 19) for n in shape) if quick else shape
        x = torch.randn(size, device=device).to(dtype)
        return (x, torch.randint(0, size[-1], size[:1], device=device)) if labels else (x,)

    return Case(f"{name} {'x'.join(map(str, shape))} {str(dtype)[6:]}", "reductions", fn, make, 0)


def cases() -> list[Case]:
    out = []
    for *shape, dtype in ROWS:
        for d in (0, 1):
            out.append(case(f"sum dim {d}", lambda x, d=d: x.sum(d), *shape, dtype=dtype))
    for *shape, dtype in IMAGES:
        out.append(case("amax dim 1", lambda x: x.amax(1), *shape, dtype=dtype))
        out.append(case("var_mean dim 1", lambda x: torch.stack(torch.var_mean(x, 1)), *shape, dtype=dtype))
    for n in (25_000_000, 45_000_019):
        out.append(case("sum all", lambda x: x.sum(), n))
    out.append(case("logsumexp", lambda x: x.logsumexp(-1), 2048, 32_000, dtype=BF16))
    out.append(case("logsumexp", lambda x: x.logsumexp(-1), 8192, 5000))
    out.append(case("argmax", lambda x: x.argmax(-1), 8192, 5000))
    out.append(case("norm", lambda x: (x * x).sum(-1).sqrt(), 20_000, 2048, dtype=BF16))
    loss = lambda x, t: F.cross_entropy(x.float(), t)
    out.append(case("cross-entropy", loss, 3000, 32_000, dtype=BF16, labels=True))
    return out


def main(about: str | None, cases: Iterable[Case], device: str) -> None:
    """Measure `cases` as the command line says, by default on `device`, and print a line for each."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=device)
    parser.add_argument("--peers", default="eager,inductor")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: tries the programs, not speed")
    parser.add_argument("only", nargs="?", default="")
    args = parser.parse_args()
    roof = measure.copy_roof(args.device, args.quick)
    names = [*filter(None, args.peers.split(",")), report.OURS]
    for c in cases:
        if args.only in c.name:
            row = runner.run_case(c, names, args.device, args.quick, roof, lambda _: None)
            seconds = row["seconds"]
            slow = seconds[report.OURS] > 1.03 * min(seconds.values())
            times = (f"{n} {s * 1e6:,.1f} us ({row['share'][n]:.2f})" for n, s in seconds.items())
            print(f"{c.name}: {', '.join(times)} {row['failed'] or ''}{' <' * slow}", flush=True)


if __name__ == "__main__":
    main(__doc__, cases(), "cuda")
