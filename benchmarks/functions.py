"""Elementwise functions one by one, beside eager and TorchInductor: of floats of 32 and 16 bits, and of integers.

    python benchmarks/functions.py --device cuda            # five minutes, most of them TorchInductor's compilations
    python benchmarks/functions.py --device cpu --only i64

A row says what a function costs beyond the memory that it moves. Each is multiplied, or what it gives added, once more,
since a single operation is left to eager. 25 million elements on a GPU, 800 thousand on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from beside import all_beside

Function = Callable[..., torch.Tensor]

UNARY: dict[str, Function] = {
    **{f.__name__: f for f in (torch.tanh, torch.exp, torch.expm1, torch.erf, torch.sin, torch.cos, torch.tan)},
    **{f.__name__: f for f in (torch.atan, torch.sinh, torch.cosh, torch.asinh, torch.sinc, torch.sigmoid)},
    **{f.__name__: f for f in (F.gelu, F.softplus, F.logsigmoid, F.elu, F.selu, F.mish, F.silu, F.hardswish)},
    **{f.__name__: f for f in (F.softsign, F.tanhshrink, torch.special.ndtr, torch.reciprocal, torch.round)},
    "gelu, tanh": lambda x: F.gelu(x, approximate="tanh"),
    "log": lambda x: x.abs().log(),
    "log1p": lambda x: x.abs().log1p(),
    "sqrt": lambda x: x.abs().sqrt(),
    "rsqrt": lambda x: x.abs().rsqrt(),
    "asin": lambda x: (x * 0.1).clamp(-1, 1).asin(),
    "logit": lambda x: torch.logit(x, 1e-3),
    "to the power of 2.5": lambda x: x.abs() ** 2.5,
    "to the third power": lambda x: x**3,
    "fmod by a number": lambda x: torch.fmod(x, 1.7),
    "remainder by a number": lambda x: x % 1.7,
    "floor division by a number": lambda x: x // 1.7,
    "quotient by a number": lambda x: x / 1.7,
    "glu": lambda x: F.glu(x, -1),
    "clamp": lambda x: x.clamp(-1, 1),
    "nan_to_num": torch.nan_to_num,
}
BINARY: dict[str, Function] = {
    **{f.__name__: f for f in (torch.atan2, torch.hypot, torch.logaddexp, torch.maximum, torch.fmin, torch.copysign)},
    "quotient": lambda x, y: x / y,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "floor division": torch.floor_divide,
    "power": lambda x, y: x.abs() ** y,
    "xlogy": lambda x, y: torch.xlogy(x, y.abs()),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "comparison": lambda x, y: torch.where(x < y, x, 0),
}
INTEGERS: dict[str, Function] = {
    "product": lambda x, y: x * y,
    "floor division": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "truncated": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "floor division by a number": lambda x, y: x // 7,
    "remainder by a number": lambda x, y: x % 12,
    "shift": lambda x, y: (x << 2) ^ (y >> 1),
    "bits": lambda x, y: (x & y) | ~x,
    "third power": lambda x, y: x**3,
    "maximum": torch.maximum,
    "comparison": lambda x, y: (x < y).to(torch.uint8),
    "to float": lambda x, y: x.float() * y.float(),
    "absolute difference": lambda x, y: (x - y).abs(),
}
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8}


def scaled(f: Function) -> Function:
    return lambda *a: f(*a) * 1.5


def one_more(f: Function) -> Function:
    return lambda *a: f(*a) + 1


def cases(device: str) -> list[tuple[str, Callable[..., Any], Sequence[torch.Tensor]]]:
    shape = (8, 2048, 1536) if device == "cuda" else (64, 16, 768)
    found: list[tuple[str, Callable[..., Any], Sequence[torch.Tensor]]] = []
    for kind, dtype in TYPES.items():
        torch.manual_seed(0)
        if dtype.is_floating_point:
            x, y = (torch.randn(shape, device=device).to(dtype) for _ in range(2))
            found += [(f"{name} {kind}", scaled(f), (x,)) for name, f in UNARY.items()]
            found += [(f"{name} {kind}", scaled(f), (x, y)) for name, f in BINARY.items()]
        else:
            x, y = (torch.randint(1, 100, shape, device=device, dtype=dtype) for _ in range(2))
            found += [(f"{name} {kind}", one_more(f), (x, y)) for name, f in INTEGERS.items()]
    return found


if __name__ == "__main__":
    all_beside(__doc__, cases)
