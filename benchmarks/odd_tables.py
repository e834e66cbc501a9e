"""The tables of `emit/llvm_fits.py`, fitted again: erf and tanh in pieces, for vectors of sixteen lanes.

`python benchmarks/odd_tables.py` prints them, each with its largest error in units in the last place, by a float32
evaluation in the order of `llvm_math._odd`. |x| below sqrt(start) is x + x q(x^2). Beyond, pieces end where x^2 is a
power of two or 1.5 times one, and are value + h q(h), h = |x| - centre. A centre is a float32 near the middle of its
piece where the function is nearly a float32 itself (Gal and Bachelis, 1991), so that the last addition is all that
rounds much. q is a minimax fit (least squares on Chebyshev nodes, reweighted by Lawson's rule), its coefficients
rounded to float32 in turn and the rest fitted again.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
f32 = np.float32

# name, function, number of coefficients, start, top: beyond it the function is 1 in float32
TABLES: tuple[tuple[str, Callable[[float], float], int, float, float], ...] = (
    ("ERF_PIECES", math.erf, 5, 0.25, 3.93),
    ("TANH_PIECES", math.tanh, 6, 0.5, 9.02),
)


def many(f: Callable[[float], float], x: Array) -> Array:
    return np.array([f(float(v)) for v in x])


def nodes(low: float, high: float, n: int = 160) -> Array:
    x = (high + low) / 2 + (high - low) / 2 * np.cos(np.linspace(0, np.pi, n))
    return np.where(np.abs(x) < 1e-6 * (high - low), 1e-6 * (high - low), x)


def minimax(x: Array, y: Array, weight: Array, n: int) -> list[float]:
    """n coefficients, the lowest first, float32."""
    powers = np.vander(x, n, increasing=True)
    out: list[float] = []
    for k in range(n):
        rest = y - powers[:, :k] @ np.array(out)
        least, share = math.inf, np.ones_like(x)
        for _ in range(60):
            w = np.sqrt(share) * weight
            c = np.linalg.lstsq(powers[:, k:] * w[:, None], rest * w, rcond=None)[0]
            error = np.abs((powers[:, k:] @ c - rest) * weight)
            if error.max() < least:
                least, best = error.max(), float(f32(c[0]))
            share = share * (error / error.max() + 1e-3)
            share /= share.sum()
        out.append(best)
    return out


def centre(f: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """(x, f(x)) near the middle, both float32: the nearest that is good enough, or the best."""
    middle = f32((low + high) / 2)
    step, reach = float(np.spacing(middle)), (high - low) / 20
    best = (math.inf, 0.0, 0.0)
    for k in sorted(np.unique(np.round(np.linspace(-reach / step, reach / step, 4001))), key=abs):
        x = float(middle) + k * step
        y = float(f32(f(x)))
        off = abs(y - f(x)) / float(np.spacing(f32(y)))
        best = min(best, (off, x, y))
        if off < 2**-9:
            break
    return best[1], best[2]


def pieces(f: Callable[[float], float], n: int, start: float, top: float) -> list[tuple[float, ...]]:
    """Rows (centre, value, q0, q1, ...): |x| < sqrt(start), then one piece after the other."""
    x = nodes(0, math.sqrt(start))
    unit = np.spacing(many(f, x).astype(f32)).astype(float)
    rows: list[tuple[float, ...]] = [(0.0, 0.0, *minimax(x * x, many(f, x) / x - 1, x / unit, n))]
    low = start
    while low < top * top:
        high = low * (1.5 if math.frexp(low)[0] == 0.5 else 4 / 3)
        ends = math.sqrt(low), min(math.sqrt(high), top * 1.002)
        c, value = centre(f, *ends)
        h = nodes(ends[0] - c, ends[1] - c)
        y = many(f, h + c)
        unit = np.spacing(y.astype(f32)).astype(float)
        rows.append((c, value, *minimax(h, (y - value) / h, np.abs(h) / unit, n)))
        low = high
    return rows


def fma(a: npt.NDArray[np.float32], b: npt.NDArray[np.float32], c: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return (a.astype(float) * b + c).astype(f32)


def largest(f: Callable[[float], float], rows: list[tuple[float, ...]], start: float, top: float) -> float:
    x = np.linspace(1e-6, top * 1.05, 1_000_003).astype(f32)
    columns = np.array(rows).astype(f32).T
    y = np.minimum(x, f32(top))
    z = y * y
    far = z >= f32(start)
    at = np.where(far, (z.view(np.int32) >> 22) - (np.array(start, f32).view(np.int32) >> 22) + 1, 0)
    h = y - columns[0][at]
    p, q = np.where(far, h, z), columns[-1][at]
    for c in columns[-2:1:-1]:
        q = fma(q, p, c[at])
    got = fma(h, q, np.where(far, columns[1][at], y))
    exact = many(f, x.astype(float))
    return float((np.abs(got - exact) / np.ldexp(1.0, np.frexp(exact)[1] - 24)).max())


def main() -> None:
    for name, f, n, start, top in TABLES:
        rows = pieces(f, n, start, top)
        print(f"# largest error {largest(f, rows, start, top):.2f}")
        print(f"{name} = (\n    {start},\n    {top},\n    (")
        for row in rows:
            print(f"        ({', '.join(str(f32(v)) for v in row)}),")
        print("    ),\n)")


if __name__ == "__main__":
    main()
