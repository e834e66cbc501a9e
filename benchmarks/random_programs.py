"""Random programs of elementwise operations, reductions, norms, softmax and transposes, beside TorchInductor.

    python benchmarks/random_programs.py --first 1000 --count 100        on a GPU, some 2.5 s a program
    python benchmarks/random_programs.py --device cpu --grow 20 23       smaller tensors: 2^20 to 2^23 elements

What nobody has thought of: three to nine operations of few kinds, along any dims of tensors of two to four, with
operands that are broadcast, one result or two, a third with gradients. The same number draws the same program;
`--show N` prints one. Results are checked against eager loosely (what is standardized twice, or is a gradient that
should be zero, has no digits in common); a line says if they differ, and which of both is slower.
"""

from __future__ import annotations

import argparse
import json
import linecache
import math
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

import fusewright
from fusewright.bench import measure

EXTENTS = [1, 2, 3, 4, 7, 8, 14, 16, 17, 32, 49, 64, 96, 128, 196, 255, 256, 384, 512, 768, 1000, 1024, 1536, 2048]
EXTENTS += [4096, 5000, 8192, 16384, 50257]
POINTWISE = ["neg", "exp", "sigmoid", "tanh", "abs", "square", "relu", "gelu", "silu"]
OF_F = ("gelu", "silu")
KINDS = ["point", "point", "bin", "binop", "reduce", "norm", "soft", "two", "perm", "reduce"]
LEAST = 6 << 20  # bytes of inputs and results: what takes less is a launch
PEER = "inductor"

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Drawn:
    """A program's source, its arguments by name, their type, and whether they have gradients."""

    source: str
    arguments: list[tuple[str, Shape]]
    dtype: torch.dtype
    grad: bool

    def function(self, tag: str) -> Callable[..., Any]:
        """The program, with a code object of its own."""
        name = f"<random program {hash(self.source)} {tag}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        made: dict[str, Any] = {"F": F, "torch": torch}
        exec(compile(self.source, name, "exec"), made)
        return made["fn"]  # type: ignore[no-any-return]

    def inputs(self, device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        made = (torch.randn(shape, device=device).to(self.dtype) for _, shape in self.arguments)
        return [x.requires_grad_(self.grad) for x in made]


def program(number: int, bits: tuple[int, int]) -> Drawn:
    """A program of tensors of about 2^bits elements."""
    rng = random.Random(number)
    shape = _shape(rng, bits)
    values, arguments, lines, grad, dtype = _drawn(rng, shape)
    results = [values[-1][0]]
    if rng.random() < 0.3 and len(values) > 2:
        results.append(rng.choice(values[1:-1])[0])
    if rng.random() < 0.25:
        results[0] = f"{results[0]}.mean()"
    results = [r if r.endswith(")") else f"{r}.contiguous()" for r in results]
    head = f"def fn({', '.join(name for name, _ in arguments)}):"
    source = "\n".join([head, *(f"    {line}" for line in lines), f"    return {', '.join(results)}", ""])
    return Drawn(source, arguments, dtype, grad)


def _shape(rng: random.Random, bits: tuple[int, int]) -> Shape:
    rank = rng.choice([2, 2, 3, 3, 4])
    total = 2 ** rng.randint(*bits)
    while True:
        shape = tuple(rng.choice(EXTENTS) for _ in range(rank))
        if total / 2 <= math.prod(shape) <= total * 2:
            return shape


def _drawn(
    rng: random.Random, shape: Shape
) -> tuple[list[tuple[str, Shape]], list[tuple[str, Shape]], list[str], bool, torch.dtype]:
    """(values and their shapes, arguments likewise, lines of a program, whether it has gradients, its type)"""
    dtype = rng.choice([torch.float32, torch.bfloat16])
    values: list[tuple[str, Shape]] = [("x", shape)]
    arguments = [("x", shape)]
    lines: list[str] = []
    grad = rng.random() < 0.35

    def operand() -> tuple[str, Shape]:
        """Another argument: broadcast, whole, or of one axis."""
        s = [d if rng.random() < 0.5 else 1 for d in shape]
        kind = rng.choice(["full", "bcast", "vec"])
        if kind == "full":
            s = list(shape)
        if kind == "vec":
            last = rng.random() < 0.6
            s = [1] * (len(shape) - 1) + [shape[-1]] if last else [1, shape[1]] + [1] * (len(shape) - 2)
        arguments.append((f"a{len(arguments)}", tuple(s)))
        return arguments[-1]

    made = 0
    for _ in range(rng.randint(3, 9)):
        kind, (name, size) = rng.choice(KINDS), rng.choice(values[-3:])
        v, made = f"v{made}", made + 1
        if kind == "point":
            op = rng.choice(POINTWISE)
            lines.append(f"{v} = F.{op}({name})" if op in OF_F else f"{v} = {name}.{op}()")
            values.append((v, size))
        elif kind in ("bin", "binop"):
            other, theirs = operand() if kind == "bin" else rng.choice(values)
            try:
                both = tuple(torch.broadcast_shapes(size, theirs))
            except RuntimeError:
                continue
            if math.prod(both) <= 2 * math.prod(shape):
                lines.append(f"{v} = {name} {rng.choice('+*-')} {other}")
                values.append((v, both))
        elif kind in ("reduce", "two"):
            if math.prod(size) < 1000:
                continue
            dims = sorted(rng.sample(range(len(size)), rng.randint(1, max(1, len(size) - 1))))
            op, keep = rng.choice(["sum", "mean", "amax", "var"]), rng.random() < 0.85
            lines.append(f"{v} = {name}.{op}({tuple(dims)}, keepdim={keep})")
            left = [1 if k in dims else d for k, d in enumerate(size) if keep or k not in dims]
            values.append((v, tuple(left)))
        elif not size and kind in ("norm", "soft"):
            continue
        elif kind == "norm":
            d = rng.randrange(len(size))
            if size[d] > 1:
                mean, var = (f"{name}.{what}({d}, keepdim=True)" for what in ("mean", "var"))
                lines.append(f"{v} = ({name} - {mean}) * ({var} + 1e-5).rsqrt()")
                values.append((v, size))
        elif kind == "soft":
            lines.append(f"{v} = {name}.softmax({rng.randrange(len(size))})")
            values.append((v, size))
        elif size == shape and rng.random() >= 0.5:
            i, j = rng.sample(range(len(size)), 2)
            turned = list(size)
            turned[i], turned[j] = turned[j], turned[i]
            lines.append(f"{v} = {name}.transpose({i},{j})")
            values.append((v, tuple(turned)))
    return values, arguments, lines, grad, dtype


def step(p: Drawn, fn: Callable[..., Any], inputs: Sequence[torch.Tensor]) -> Callable[[], Any]:
    """One iteration: forward without gradients, or forward and backward."""
    if not p.grad:

        def forward() -> Any:
            with torch.no_grad():
                return _several(fn(*inputs))

        return forward
    torch.manual_seed(1)  # the same for all
    with torch.no_grad():
        grads = [torch.randn_like(t) for t in _several(p.function("shapes")(*inputs))]

    def both() -> Any:
        pairs = [(t, g) for t, g in zip(_several(fn(*inputs)), grads, strict=True) if t.requires_grad]
        outs, given = zip(*pairs, strict=True)
        return torch.autograd.grad(outs, inputs, given, allow_unused=True)

    return both


def _several(x: Any) -> tuple[torch.Tensor, ...]:
    return x if isinstance(x, tuple) else (x,)


def compiled(p: Drawn, backend: str, inputs: Sequence[torch.Tensor]) -> tuple[Callable[[], Any], Any]:
    """A step under a backend, and what it gives."""
    torch._dynamo.reset()
    s = step(p, torch.compile(p.function(backend), backend=backend), inputs)
    return s, s()


def differs(mine: Any, theirs: Any) -> str:
    """By how much of the largest number, if by more than a few roundings."""
    worst = 0.0
    for a, b in zip(mine, theirs, strict=True):
        if b is not None and bool(b.isfinite().all()):
            scale = max(float(b.double().abs().max()), 1e-9) if b.numel() else 1.0
            off = float((a.double() - b.double()).abs().max()) / scale if b.numel() else 0.0
            worst = max(worst, off / (0.05 if b.dtype.itemsize < 4 else 1e-3))
    return f"differs, {worst:.2g} times what is usual" if not worst <= 1 else ""


def measured(number: int, bits: tuple[int, int], device: str, roof: float) -> dict[str, Any] | None:
    """Seconds of both for one program; None of one that is too small."""
    p = program(number, bits)
    inputs = p.inputs(device)
    eager = step(p, p.function("eager"), inputs)
    with torch.no_grad():
        results = _several(p.function("size")(*inputs))
    size = sum(t.numel() * t.element_size() for t in (*inputs, *results))
    if device == "cuda" and size < LEAST:
        return None
    steps, failed = {}, fusewright.counters()["fallbacks"]
    for backend in (PEER, "fusewright"):
        steps[backend], got = compiled(p, backend, inputs)
    wrong = differs(got, eager())
    failed = fusewright.counters()["fallbacks"] - failed
    del got, results
    took = measure.on_device(steps, 0.1) if device == "cuda" else measure.interleaved(steps, device, 1.0)
    return {"program": number, "seconds": took, "ideal": size / roof, "differs": wrong, "failed": failed, "drawn": p}


def line(found: dict[str, Any]) -> str:
    p, took = found["drawn"], found["seconds"]
    ratio = took[PEER] / took["fusewright"]
    times = ", ".join(f"{k} {t * 1e6:.1f}" for k, t in took.items())
    kind = f"{str(p.dtype).removeprefix('torch.')} {'x'.join(map(str, p.arguments[0][1]))}{' grad' if p.grad else ''}"
    notes = ["slower"] * (ratio < 0.97) + [found["differs"]] * bool(found["differs"])
    notes += ["FELL BACK"] * bool(found["failed"])
    share = found["ideal"] / took["fusewright"]
    return " ".join([f"{found['program']} {kind}: {times} us, {ratio:.2f}; {share:.2f} of a copy", *notes])


def warmed(args: argparse.Namespace) -> None:
    """Have processes beside each other compile what TorchInductor keeps on disk."""
    jobs = max(1, (os.cpu_count() or 2) - 2)
    base = [sys.executable, __file__, "--device", args.device, "--grow", *map(str, args.grow), "--warm", str(jobs)]
    span = ["--count", str(args.count)]
    for p in [subprocess.Popen([*base, *span, "--first", str(args.first + k)]) for k in range(jobs)]:
        p.wait()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="the first program (0)")
    parser.add_argument("--count", type=int, default=60, help="how many (60)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument(
        "--grow", type=int, nargs=2, default=(21, 25), metavar="BITS", help="elements, as powers of two"
    )
    parser.add_argument("--limit", type=float, default=1e9, metavar="S", help="begin no program after so many seconds")
    parser.add_argument("--json", type=Path, help="also write the numbers there")
    parser.add_argument("--show", type=int, metavar="N", help="print one program, and run nothing")
    parser.add_argument("--warm", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    bits = (args.grow[0], args.grow[1])
    if args.show is not None:
        p = program(args.show, bits)
        print(p.source, *(f"# {name}: {p.dtype} {list(shape)}" for name, shape in p.arguments), sep="\n")
        return
    measure.check_names(args.device, (PEER, "fusewright"))
    began, numbers = time.monotonic(), range(args.first, args.first + args.count)
    if args.warm:
        for number in numbers[:: args.warm]:
            p = program(number, bits)
            compiled(p, PEER, p.inputs(args.device))
        return
    if args.device == "cuda":
        warmed(args)
    roof, rows = measure.copy_roof(args.device), []
    for number in numbers:
        if time.monotonic() - began > args.limit:
            print(f"stopped before {number}")
            break
        if (found := measured(number, bits, args.device, roof)) is not None:
            print(line(found), flush=True)
            rows.append({k: v for k, v in found.items() if k != "drawn"})
    ratios = [r["seconds"][PEER] / r["seconds"]["fusewright"] for r in rows]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} programs: {mean:.2f} times as fast as {PEER}, least {min(ratios):.2f}")
    if args.json is not None:
        args.json.write_text(json.dumps({"machine": measure.machine(args.device), "programs": rows}, indent=1))


if __name__ == "__main__":
    main()
