"""The share of elements that are bit-identical to eager's: float32 elementwise operators and chains of them.

    python benchmarks/bit_identity.py [--elements N] [--threads N]

Prints markdown tables for docs/numerics.md: `default` are Fusewright's default options, `eager` is
precision="eager" (SLEEF's functions instead of our inlined ones). `ulp` is the largest distance between the two
results in units in the last place, where both are finite. Every NaN counts as the same one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F

import fusewright

Fn = Callable[..., torch.Tensor]

UNARY = (
    "abs neg relu sign floor ceil trunc round frac sqrt rsqrt reciprocal square exp exp2 expm1 log log2 log10 log1p "
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc lgamma sigmoid deg2rad sinc logit"
).split()
ACTIVATIONS = (
    "silu gelu mish elu celu selu softplus softsign hardswish hardsigmoid hardtanh leaky_relu relu6 logsigmoid "
    "hardshrink softshrink tanhshrink"
).split()
BINARY = (
    "add sub mul div maximum minimum fmax fmin atan2 hypot copysign remainder fmod floor_divide pow xlogy logaddexp "
    "logaddexp2 heaviside"
).split()
POSITIVE = {"sqrt", "rsqrt", "log", "log2", "log10", "log1p", "lgamma"}  # of |x|
WITHIN_ONE = {"asin", "acos", "atanh", "logit"}  # of x / 4 cut off at 1


def operators() -> Iterator[tuple[str, Fn]]:
    """(name, function of three tensors)."""
    for n in UNARY:
        f = getattr(torch, n)
        if n in POSITIVE:
            yield n, lambda x, y, z, f=f: f(x.abs())
        elif n in WITHIN_ONE:
            yield n, lambda x, y, z, f=f: f((x * 0.25).clamp(-1, 1))
        elif n == "acosh":
            yield n, lambda x, y, z, f=f: f(x.abs() + 1)
        else:
            yield n, lambda x, y, z, f=f: f(x)
    for n in ACTIVATIONS:
        f = getattr(F, n)
        yield n, lambda x, y, z, f=f: f(x)
    yield "gelu (tanh)", lambda x, y, z: F.gelu(x, approximate="tanh")
    for n in BINARY:
        f = getattr(torch, n)
        if n in ("pow", "xlogy"):
            yield n, lambda x, y, z, f=f: f(x.abs(), y.abs())
        else:
            yield n, lambda x, y, z, f=f: f(x, y)
    yield "add (alpha)", lambda x, y, z: torch.add(x, y, alpha=0.3)
    yield "sub (alpha)", lambda x, y, z: torch.sub(x, y, alpha=0.3)
    yield "lerp", lambda x, y, z: torch.lerp(x, y, z)
    yield "addcmul", lambda x, y, z: torch.addcmul(x, y, z)
    yield "addcmul (value)", lambda x, y, z: torch.addcmul(x, y, z, value=0.3)
    yield "addcdiv", lambda x, y, z: torch.addcdiv(x, y, z)
    yield "where", lambda x, y, z: torch.where(x > y, y, z)
    yield "clamp", lambda x, y, z: x.clamp(-1.5, 2.5)
    yield "pow (scalar)", lambda x, y, z: x.abs() ** 1.7
    yield "cube", lambda x, y, z: x**3
    yield "div (scalar)", lambda x, y, z: x / 3
    yield "to bfloat16 and back", lambda x, y, z: x.to(torch.bfloat16).float()


def chains() -> Iterator[tuple[str, Fn]]:
    yield "(x * y + z) / (abs(x) + 1)", lambda x, y, z: (x * y + z) / (x.abs() + 1)
    yield "x * 0.1 + y * 0.9 - z", lambda x, y, z: x * 0.1 + y * 0.9 - z
    yield "relu(x * y) + z.clamp(-1, 1)", lambda x, y, z: torch.relu(x * y) + z.clamp(-1, 1)
    yield "sqrt(abs(where(x > y, x * z, y / 3)))", lambda x, y, z: torch.where(x > y, x * z, y / 3).abs().sqrt()
    yield "Adam's update", lambda x, y, z: x - 1e-3 * (y * 0.9 + z * 0.1) / (torch.sqrt(z * z) + 1e-8)
    yield "x * sigmoid(y) + z", lambda x, y, z: x * torch.sigmoid(y) + z
    yield "silu(x) * y", lambda x, y, z: F.silu(x) * y
    yield "gelu(x + y) * z", lambda x, y, z: F.gelu(x + y) * z
    yield "tanh(x) * exp(-y * y)", lambda x, y, z: torch.tanh(x) * torch.exp(-y * y)
    yield "sin(x) * cos(y) + z", lambda x, y, z: torch.sin(x) * torch.cos(y) + z
    yield "log1p(exp(x)) - y", lambda x, y, z: torch.log1p(torch.exp(x)) - y


def operands(n: int) -> tuple[torch.Tensor, ...]:
    """Normal numbers of scale 3, some very large and very small ones, and the special values."""
    gen = torch.Generator().manual_seed(0)
    out = []
    for _ in range(3):
        x = torch.randn(n, generator=gen) * 3
        x[::17] *= 10.0 ** torch.randint(-30, 10, (len(x[::17]),), generator=gen)
        x[:6] = torch.tensor([0.0, -0.0, 1.0, float("inf"), -float("inf"), float("nan")])
        out.append(x[torch.randperm(n, generator=gen)])
    return tuple(out)


def compare(got: torch.Tensor, want: torch.Tensor) -> tuple[float, int]:
    """(share of identical elements, largest distance in units in the last place)."""
    same = (got.view(torch.int32) == want.view(torch.int32)) | (got.isnan() & want.isnan())

    def order(t: torch.Tensor) -> torch.Tensor:
        bits = t.view(torch.int32).long()
        return torch.where(bits < 0, -(bits & 0x7FFFFFFF), bits)

    finite = got.isfinite() & want.isfinite()
    ulp = (order(got) - order(want)).abs()[finite]
    return same.double().mean().item(), int(ulp.max()) if ulp.numel() else 0


def measure(fn: Fn, args: tuple[torch.Tensor, ...]) -> list[tuple[float, int]]:
    """For the default options and for precision="eager"."""
    want = fn(*args)
    found = []
    for precision in ("default", "eager"):
        torch._dynamo.reset()
        with fusewright.options(precision=precision, single_op_groups=True):
            found.append(compare(torch.compile(fn, backend="fusewright", dynamic=False)(*args), want))
    return found


def _cell(share: float) -> str:
    """Never rounded up to 100 %."""
    return "100 %" if share == 1 else f"{int(share * 1e5) / 1e3:.3f} %"


def table(title: str, rows: Iterator[tuple[str, Fn]], args: tuple[torch.Tensor, ...]) -> tuple[int, int]:
    """Print the rows that are not identical, and name those that are; returns (rows, identical ones)."""
    results = [(name, measure(fn, args)) for name, fn in rows]
    exact = [name for name, found in results if all(share == 1 for share, _ in found)]
    print(
        f"\n**{title}: bit-identical throughout ({len(exact)} of {len(results)}).** "
        + ", ".join(f"`{n}`" for n in exact)
    )
    print(f"\n| {title.lower()} | default | ulp | eager | ulp |\n| --- | --- | --- | --- | --- |")
    for name, ((share, ulp), (share2, ulp2)) in results:
        if name not in exact:
            print(f"| `{name}` | {_cell(share)} | {ulp} | {_cell(share2)} | {ulp2} |")
    return len(results), len(exact)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--elements", type=int, default=1_000_003)
    p.add_argument("--threads", type=int, default=torch.get_num_threads())
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch._dynamo.config.recompile_limit = 1 << 20
    args = operands(a.elements)
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, {a.elements} elements per operand")
    table("Operators", operators(), args)
    table("Chains", chains(), args)


if __name__ == "__main__":
    main()
