"""Operations along each dim of long, narrow, few and many rows, beside eager: where are we far slower than before?

    python benchmarks/cliffs.py [--device cuda] [--dtype float32] [--elements 16000000] [--below 0.9] [--inductor]
        [part of a name ...]

Where speed falls off a cliff is a shape that no schedule was made for: one block that walks over a whole tensor, a
thread with a row of millions. So shapes are extreme here, and operations many; times are rough. A line for each that
takes longer than eager does by more than `--below` allows, or gives another result than eager by more than rounding
could, and how many there were. With `--inductor` it runs beside TorchInductor, too (a second more for each program),
and the faster of the two counts.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator

import torch

from fusewright.bench import measure

Program = Callable[[torch.Tensor, int], "torch.Tensor | tuple[torch.Tensor, ...]"]

ALONG: dict[str, Program] = {
    "sum": lambda x, d: x.sum(d),
    "mean of squares": lambda x, d: x.square().mean(d),
    "prod": lambda x, d: (1 + x / 1e6).prod(d),
    "amax": lambda x, d: x.amax(d),
    "argmax": lambda x, d: x.argmax(d),
    "min": lambda x, d: tuple(x.min(d)),
    "any": lambda x, d: (x > 3).any(d),
    "count": lambda x, d: torch.count_nonzero(x > 0, d),
    "var": lambda x, d: x.var(d),
    "std, mean": lambda x, d: torch.std_mean(x, d),
    "norm": lambda x, d: x.norm(dim=d),
    "aminmax": lambda x, d: (x.amax(d), x.amin(d)),
    "logsumexp": lambda x, d: x.logsumexp(d),
    "softmax": lambda x, d: torch.softmax(x, d),
    "log softmax": lambda x, d: torch.log_softmax(x, d),
    "standardize": lambda x, d: (x - x.mean(d, keepdim=True)) / (x.std(d, keepdim=True) + 1e-5),
    "times the first": lambda x, d: x * x.narrow(d, 0, 1) + 1,
    "minus mean": lambda x, d: x - x.mean(d, keepdim=True),
    "one hot of the largest": lambda x, d: (x == x.amax(d, keepdim=True)).to(x.dtype),
    "cumsum": lambda x, d: x.cumsum(d),
    "sum of cumsum": lambda x, d: (x.cumsum(d) * 2).sum(d),
    "flip": lambda x, d: x.flip(d) * 2,
    "roll": lambda x, d: x.roll(3, d) * 2,
    "cat": lambda x, d: torch.cat([x, x * 2], d),
    "stack": lambda x, d: torch.stack([x, x * 2], d),
    "halves": lambda x, d: x.chunk(2, d)[0] * 2 if x.shape[d] > 1 else x * 2,
    "every second": lambda x, d: x.narrow(d, 0, x.shape[d] // 2 * 2).unflatten(d, (-1, 2)).select(d + 1, 0) * 2,
    "differences": lambda x, d: x.diff(dim=d) if x.shape[d] > 1 else x * 2,
    "repeat": lambda x, d: x.repeat_interleave(2, d) * 2,
    "to the front": lambda x, d: x.movedim(d, 0).contiguous(),
    "to the end": lambda x, d: x.movedim(d, -1).contiguous() * 2,
    "gather": lambda x, d: x.index_select(d, torch.arange(x.shape[d] - 1, -1, -1, device=x.device)) * 2,
    "causal": lambda x, d: torch.where(torch.arange(x.shape[d], device=x.device) < 7, x.movedim(d, -1), 0.0),
}


def shapes(n: int) -> Iterator[tuple[int, ...]]:
    """Of about n elements."""
    root = math.isqrt(n)
    yield (n,)
    yield from ((16, n // 16), (n // 16, 16), (3, n // 3), (n // 3, 3), (root // 2, 2 * root + 3), (128, n // 128))
    yield from ((8, root // 2, root // 4), (root // 2, 8, root // 4), (root // 4, root // 2, 8))


def rows(device: str, dtype: torch.dtype, n: int) -> Iterator[tuple[str, Program, torch.Tensor, int]]:
    for shape in shapes(n):
        x = torch.randn(shape, device=device).to(dtype)
        for d in range(len(shape)):
            for name, fn in ALONG.items():
                yield f"{name}, dim {d} of {'x'.join(map(str, shape))}", fn, x, d


def differs(got: torch.Tensor, want: torch.Tensor) -> bool:
    """By more than rounding could; positions and truths of values that tie in one of the two may differ a little."""
    if got.shape != want.shape or got.dtype != want.dtype or got.stride() != want.stride():
        return True
    if not got.dtype.is_floating_point:
        return (got != want).double().mean().item() > 1e-3
    got, want = got.double(), want.double()
    size = want.abs().max().item() if want.numel() else 0.0
    return (got - want).abs().nan_to_num(0.0).max().item() > 0.02 * size


def compare(fn: Program, x: torch.Tensor, d: int, args: argparse.Namespace) -> tuple[dict[str, float], bool]:
    """Seconds of each implementation, and whether our results differ from eager's."""
    torch._dynamo.reset()
    backends = ["fusewright", *["inductor"] * args.inductor]
    steps: dict[str, Callable[[], object]] = {"eager": lambda: fn(x, d)}
    for name in backends:
        compiled = torch.compile(fn, backend=name, dynamic=False)
        steps[name] = lambda c=compiled: c(x, d)
        got = steps[name]()
        if name == "fusewright":
            want = fn(x, d)
            pairs = zip(*(r if isinstance(r, tuple) else (r,) for r in (got, want)), strict=True)
            wrong = any(differs(a, b) for a, b in pairs)
            del want, pairs
        del got
    if args.device == "cuda":
        return measure.on_device(steps, 0.02, least=4, most=8, hot=False), wrong
    return measure.interleaved(steps, args.device, 0.05, least=3), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--elements", type=int, default=16_000_000)
    parser.add_argument("--below", type=float, default=0.9, help="a line for what has less of a peer's speed")
    parser.add_argument("--inductor", action="store_true", help="beside TorchInductor, too")
    parser.add_argument("only", nargs="*")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    ratios: dict[str, list[float]] = {}
    for name, fn, x, d in rows(args.device, getattr(torch, args.dtype), args.elements):
        if args.only and not any(part in name for part in args.only):
            continue
        try:
            with torch.no_grad():
                times, wrong = compare(fn, x, d, args)
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {e}"[:300], flush=True)
            continue
        mine = times.pop("fusewright")
        for peer, seconds in times.items():
            ratios.setdefault(peer, []).append(seconds / mine)
        if min(times.values()) / mine < args.below or wrong:
            peers = ", ".join(f"{peer} {seconds * 1e6:,.0f}" for peer, seconds in times.items())
            least = min(times.values()) / mine
            print(f"{name}: {peers} us, fusewright {mine * 1e6:,.0f} ({least:.2f})" + " DIFFERS" * wrong, flush=True)
    for peer, of in ratios.items():
        mean = math.exp(sum(map(math.log, of)) / len(of))
        print(f"{len(of)} programs, {sum(r < args.below for r in of)} below {args.below} of {peer}; mean {mean:.2f}")


if __name__ == "__main__":
    main()
