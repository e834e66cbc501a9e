"""Products of small matrices as elementwise operations and sums: eager's results, strides and gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import fusewright

pytestmark = pytest.mark.usefixtures("strict")

PRODUCTS = ("aten.mm", "aten.bmm", "aten.addmm", "aten.baddbmm")


def left(fn: Callable[..., Any], *inputs: torch.Tensor) -> list[str]:
    """The products of a program that PyTorch's libraries compute."""
    report = fusewright.explain(fn, *inputs)
    found = [o.target for g in report.graphs for o in g.operations if o.place == "torch"]
    return [t for t in found if t.startswith(PRODUCTS)]


def check(
    fn: Callable[..., torch.Tensor], *inputs: torch.Tensor, dynamic: bool = False, exact: Sequence[Any] = ()
) -> None:
    """`exact`: the result and gradients, in place of what eager has in float64."""
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="fusewright", dynamic=dynamic, fullgraph=True)
    results = []
    for f, wide in ((compiled, False), (fn, False), (fn, True)):
        given = [x.detach().to(torch.float64 if wide else x.dtype).requires_grad_() for x in inputs]
        out = f(*given)
        grads = torch.autograd.grad(out.to(torch.float64).square().sum(), given)
        results.append((out, *grads))
    for got, want, true in zip(*results[:2], exact or results[2], strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        if exact:
            mine, theirs = (float(np.abs(t.detach().numpy() - true).max()) for t in (got, want))
        else:
            mine, theirs = ((t.double() - true).abs().max() for t in (got, want))
        scale = torch.finfo(want.dtype).eps * float(abs(true).max())
        assert mine <= 1.5 * theirs + 2 * scale, (mine, theirs)
    assert results[0][0].stride() == results[1][0].stride()


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.sin(a * 2) @ b + 1


def product_exactly(a: torch.Tensor, b: torch.Tensor) -> list[Any]:
    """`product` and the gradients of the sum of its squares, of float64 in more bits than that has."""
    x, y = (t.numpy().astype(np.longdouble) for t in (a, b))
    out = np.sin(x * 2) @ y + 1
    return [out, 2 * np.cos(x * 2) * (2 * out @ y.swapaxes(-1, -2)), np.sin(x * 2).swapaxes(-1, -2) @ (2 * out)]


def rows(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.einsum("bi,bi->b", torch.sin(a), b) + 1


DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


@pytest.mark.every(4)
@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "gpu"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7, 1, 33), (5, 1, 16), (9, 3, 40), (6, 4, 16), (1, 2, 19)])
def test_few_terms(shape: tuple[int, int, int], dtype: torch.dtype, emulated: bool, request: Any) -> None:
    if emulated:
        request.getfixturevalue("emulated")
    m, k, n = shape
    for a, b in (
        (torch.randn(m, k, dtype=dtype), torch.randn(k, n, dtype=dtype)),
        (torch.randn(3, m, k, dtype=dtype), torch.randn(3, k, n, dtype=dtype)),
        (torch.randn(m, k, dtype=dtype), torch.randn(n, k, dtype=dtype).t()),
    ):
        check(product, a, b, exact=product_exactly(a, b) if dtype is torch.float64 else ())


@pytest.mark.parametrize("emulated", [False, True], ids=["cpu", "gpu"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_result_of_each_pair(dtype: torch.dtype, emulated: bool, request: Any) -> None:
    if emulated:
        request.getfixturevalue("emulated")
    check(rows, torch.randn(9, 37, dtype=dtype), torch.randn(9, 37, dtype=dtype))
    check(rows, torch.randn(1, 5, dtype=dtype), torch.randn(1, 5, dtype=dtype))
    check(rows, torch.randn(37, 9, dtype=dtype).t(), torch.randn(9, 37, dtype=dtype))


@pytest.mark.parametrize("bias", [False, True])
def test_linear_layers(bias: bool) -> None:
    def layer(x: torch.Tensor, w: torch.Tensor, *b: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.linear(x, w, *b)) + 1

    check(layer, torch.randn(4, 11, 3), torch.randn(32, 3), *([torch.randn(32)] if bias else []))
    check(layer, torch.randn(50, 1), torch.randn(20, 1), *([torch.randn(20)] if bias else []))


# extents of two matrices, and whether their product is taken apart on a CPU (float32, bfloat16) and on a GPU
KINDS = [
    ((8, 1), (1, 16), True, True, True),
    ((8, 3), (3, 16), True, False, True),
    ((8, 4), (4, 16), False, False, True),
    ((8, 6), (6, 16), False, False, False),
    ((8, 9), (9, 9), False, False, True),
    ((8, 9), (9, 13), False, False, False),
    ((5, 8, 9), (5, 9, 9), True, True, True),
    ((5, 8, 13), (5, 13, 9), False, False, False),
    ((8, 40), (40, 1), True, True, True),
    ((1, 40), (40, 50), True, True, False),
    ((3, 8, 40), (3, 40, 1), True, True, True),
    ((3, 1, 40), (3, 40, 8), True, True, True),
    ((8, 40), (40,), True, True, True),
    ((40,), (40,), True, True, True),
]


@pytest.mark.usefixtures("emulated")
def test_one_row_of_a_linear_layer() -> None:
    """On a GPU, where the weights of a result lie side by side."""
    check(lambda x, w, b: torch.sin(F.linear(x, w, b)), torch.randn(1, 40), torch.randn(50, 40), torch.randn(50))
    assert not left(lambda x, w: torch.sin(F.linear(x, w)), torch.randn(1, 40), torch.randn(50, 40))


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", KINDS, ids=lambda k: f"{'x'.join(map(str, k[0]))}-{'x'.join(map(str, k[1]))}")
def test_which_are_small(kind: Any, request: Any) -> None:
    a, b, *cpu, gpu = kind
    for dtype, apart in zip((torch.float32, torch.bfloat16), cpu, strict=True):
        torch._dynamo.reset()
        assert bool(left(product, torch.randn(a, dtype=dtype), torch.randn(b, dtype=dtype))) != apart
    check(product, torch.randn(a), torch.randn(b))
    request.getfixturevalue("emulated")
    assert bool(left(product, torch.randn(a), torch.randn(b))) != gpu
    check(product, torch.randn(a), torch.randn(b))


def test_sizes_that_vary() -> None:
    """Rows may; terms are a property of the program."""
    f = torch.compile(product, backend="fusewright", fullgraph=True)
    b = torch.randn(3, 32)
    for n in (5, 9, 17):
        a = torch.randn(n, 3)
        torch.testing.assert_close(f(a, b), product(a, b))


def test_integers_stay() -> None:
    a, b = torch.randint(0, 9, (4, 1)), torch.randint(0, 9, (1, 5))
    f = torch.compile(lambda a, b: (a * 2) @ b + 1, backend="fusewright")
    assert torch.equal(f(a, b), (a * 2) @ b + 1)


def test_as_eager_rounds() -> None:
    """With one term nothing is added up, so that bits are eager's; other sums stay PyTorch's then."""
    with fusewright.options(precision="eager"):
        a, b = torch.randn(40, 1, dtype=torch.bfloat16), torch.randn(1, 50, dtype=torch.bfloat16)
        f = torch.compile(lambda a, b: (a @ b) + 1, backend="fusewright")
        assert torch.equal(f(a, b), a @ b + 1) and not left(lambda a, b: (a @ b) + 1, a, b)
        assert left(product, torch.randn(4, 3), torch.randn(3, 32))


def test_infinities_and_nan() -> None:
    a, b = torch.randn(6, 3), torch.randn(3, 16)
    a[0, 0], a[1, 1], a[2, 2], b[0, 0] = torch.inf, -torch.inf, torch.nan, 0.0
    f = torch.compile(lambda a, b: a @ b + 1, backend="fusewright")
    torch.testing.assert_close(f(a, b), a @ b + 1, equal_nan=True)


def test_nothing_in_it() -> None:
    for a, b in (((0, 3), (3, 16)), ((4, 0), (0, 16)), ((2, 0, 1), (2, 1, 5)), ((0, 1, 8), (0, 8, 1))):
        torch._dynamo.reset()
        x, y = torch.randn(a), torch.randn(b)
        got = torch.compile(product, backend="fusewright")(x, y)
        assert torch.equal(got, product(x, y)) and got.stride() == product(x, y).stride()


def test_the_pass_can_be_left_out() -> None:
    with fusewright.options(small_products=False):
        assert left(product, torch.randn(7, 1), torch.randn(1, 33))
