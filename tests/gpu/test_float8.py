"""8-bit floats and complex rotary embeddings on a GPU: what `tests/trace` has for them, against eager there."""

from __future__ import annotations

import pytest
import torch

import fusewright
from tests.trace.test_complex_pairs import of_rope, rope
from tests.trace.test_float8 import E4, E5, MOVES, PROGRAMS, SHAPES, check, scaled, tensor


@pytest.mark.parametrize("name", PROGRAMS)
def test_conversions(name: str, cuda: str) -> None:
    with fusewright.options(fallback=False, single_op_groups=True, precision="eager"):
        for dtype in (torch.float32, torch.bfloat16):
            for shape in SHAPES:
                torch._dynamo.reset()
                check(PROGRAMS[name], tensor(shape, dtype).to(cuda))


@pytest.mark.parametrize("name", [name for name in MOVES if name != "full"])  # which makes its tensor on the CPU
def test_moves(name: str, cuda: str) -> None:
    with fusewright.options(fallback=False, single_op_groups=True):
        for dtype in (E4, E5):
            torch._dynamo.reset()
            check(MOVES[name], torch.randn(7, 33).to(dtype).to(cuda), torch.tensor([3, 0, 6, 3]).to(cuda))


def test_every_number(cuda: str) -> None:
    x = (torch.arange(1 << 16, dtype=torch.int32) << 16).view(torch.float32).to(cuda)
    with fusewright.options(fallback=False, single_op_groups=True, precision="eager"):
        check(lambda x: (x.to(E4), x.to(E5)), x)


def test_scaling_of_rows(cuda: str) -> None:
    with fusewright.options(fallback=False):
        for shape in ((37, 129), (300, 4096)):
            torch._dynamo.reset()
            check(scaled, torch.randn(shape, dtype=torch.bfloat16, device=cuda))


def test_complex_rotary_embeddings(cuda: str) -> None:
    inputs = [x.detach().to(cuda) for x in of_rope()]
    for a, b in zip(torch.compile(rope, backend="fusewright")(*inputs), rope(*inputs), strict=True):
        torch.testing.assert_close(a, b)
