"""Shapes and element types drawn at random, and cases of them: what `drawn_shapes.py` and `drawn_others.py` share."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import torch

from fusewright.bench import cases_more as more
from fusewright.bench.cases import Case, Tensors, rows

SUITE = "gpu-drawn"
TYPES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}
Program = Callable[..., torch.Tensor]
Make = Callable[[str, bool], Tensors]


class Draw:
    """Sizes and element types, by one generator. `scale`: tensors have so many times the elements."""

    def __init__(self, seed: int, scale: float = 1) -> None:
        self.random = random.Random(seed)
        self.scale = scale

    def elements(self, least: int, most: int) -> int:
        """Of a large tensor, within bounds that are to be scaled."""
        return self.scaled(self.extent(least, most))

    def scaled(self, elements: int) -> int:
        return max(1, round(elements * self.scale))

    def dtype(self) -> torch.dtype:
        return self.random.choices(list(TYPES), (5, 2, 4))[0]

    def extent(self, least: int, most: int) -> int:
        """Log-uniform; a power of two, a multiple of 128 or of 8, or any number."""
        n = least * (most / least) ** self.random.random()
        unit = self.random.choices((0, 128, 8, 1), (3, 4, 2, 1))[0]
        n = 2 ** round(torch.tensor(n).log2().item()) if unit == 0 else max(unit, round(n / unit) * unit)
        return int(min(max(n, least), most))

    def matrix(self, least: int = 64, most: int = 200_000) -> tuple[int, int]:
        """Rows of a length within the bounds, of 20 to 300 million elements in all."""
        m = self.extent(least, most)
        return max(1, self.elements(20_000_000, 300_000_000) // m), m

    def images(self) -> tuple[int, int, int, int]:
        c = 32 * self.random.randint(1, 20)
        side = self.random.choice((7, 14, 28, 32, 56, 64, 112, 128))
        return max(1, self.elements(20_000_000, 100_000_000) // (c * side * side)), c, side, side


def case(
    name: str, fn: Program, make: Make, dtype: torch.dtype, *shape: int, large: float = 0, grads: Iterable[int] = ()
) -> Case:
    """A case of the suite, named by what it is, its shape and its type. `large`, `grads`: see `Case`."""
    title = f"{name} {'x'.join(map(str, shape))} {TYPES[dtype]}"
    wanted = tuple(grads)
    return Case(title + " fwd+bwd" * bool(wanted), SUITE, fn, make, large, wanted)


def images(draw: Draw, name: str, fn: Program, last: bool, large: float = 0, grads: Iterable[int] = ()) -> Case:
    """A case of images, in channels-last memory if `last`, and of two vectors with an element for each channel."""
    shape, dtype = draw.images(), draw.dtype()
    make = rows(shape, (3, 32, 4, 4), vectors=2, axis=1, dtype=dtype)
    return case(name, fn, more._channels_last(make) if last else make, dtype, *shape, large=large, grads=grads)
