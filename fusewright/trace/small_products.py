"""Products of small matrices as elementwise operations and sums, which join what is before and behind them.

A product of m x k and k x n matrices has m n results of k terms each. With few terms, or where either matrix is a
vector, it takes no longer than its operands take to be read and its results to be written; PyTorch's libraries are made
for others, and read and write all of that on their own.

    out[i, j] = a[i, 0] b[0, j] + ... + a[i, k - 1] b[k - 1, j]

are elementwise operations on columns of `a` and rows of `b`, for few k: outer products, rotations of points, linear
layers of few features. The product of a matrix and a vector is a sum over rows or columns, as of any two tensors.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..run import devices
from .rewriting import arguments, inline, replace, tidy

aten = torch.ops.aten

TERMS = 5  # of a result that is computed elementwise on a GPU
TERMS_CPU = 3  # the same on a CPU, of 16-bit numbers one less
FEW = 32  # terms of a row of results on a CPU
SQUARE = 12  # the same, and columns: of many small matrices, and on a GPU
# Products, and where their matrices are.
_MATRICES: dict[Any, tuple[int, int]] = {
    aten.mm.default: (0, 1),
    aten.bmm.default: (0, 1),
    aten.addmm.default: (1, 2),
    aten.baddbmm.default: (1, 2),
    aten.mv.default: (0, 1),
    aten.dot.default: (0, 1),
}


def open_small_products(gm: GraphModule, exact: bool = False) -> None:
    """Rewrite the small products of a functional graph, in place. `exact`: only those that are eager's to the bit."""
    before = len(gm.graph.nodes)
    for n in list(gm.graph.nodes):
        if n.op == "call_function" and n.target in _MATRICES and not n.kwargs and _small(n, exact):
            _open(n)
    if len(gm.graph.nodes) != before:
        tidy(gm)


def _small(n: Node, exact: bool) -> bool:
    a, b = (arguments(n)[k].meta["val"] for k in _MATRICES[n.target])
    out = n.meta["val"]
    if not out.is_floating_point() or not out.is_contiguous() or devices.unsupported(a.device):
        return False
    if any(getattr(x.meta.get("val"), "dtype", out.dtype) is not out.dtype for x in n.all_input_nodes):
        return False  # eager raises
    gpu = devices.driver_for(a.device) is not None
    m, k, width = a.shape[-2] if a.dim() > 1 else 1, a.shape[-1], b.shape[-1] if b.dim() > 1 else 1
    if not isinstance(k, int) or k == 0 or not isinstance(width, int) or (exact and k != 1):
        return False
    if k == 1 and a.dim() > 1 and b.dim() > 1:
        return not exact or len(arguments(n)) == 2
    if gpu and width > SQUARE and _is_vector(m, width) and b.dim() == 2 and b.stride(1) == 1:
        return k <= TERMS  # libraries are faster where a row is multiplied with a matrix in the order of memory
    if _is_vector(m, width) or (max(k, width) <= SQUARE and (gpu or a.dim() > 2)):
        return True
    if gpu:
        return k <= TERMS
    narrow = a.dtype.itemsize < 4  # which lanes have to widen
    return k <= TERMS_CPU - narrow or (k * width <= FEW and (not narrow or width <= 2))


def _is_vector(m: Any, width: int) -> bool:
    return width == 1 or (isinstance(m, int) and m == 1)


def _open(n: Node) -> None:
    a, b = (arguments(n)[k].meta["val"] for k in _MATRICES[n.target])
    many = a.shape[-1] > (TERMS if b.shape[-1] > 1 else 1)
    if b.dim() == 1:
        how: Any = _of_vectors
    elif many and _is_vector(a.shape[-2], b.shape[-1]):
        how = _sum
    else:
        how = _terms
    with n.graph.inserting_before(n):
        (new,) = inline(n, how, *arguments(n))
    if new.meta["val"].stride() == n.meta["val"].stride():
        replace(n, new)


def _of_vectors(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor]:
    """Of a matrix or a vector, and a vector."""
    wide = _wide(a)
    return ((a.to(wide) * b.to(wide)).sum(-1).to(a.dtype),)


def _sum(*given: torch.Tensor) -> tuple[torch.Tensor]:
    """Of matrices of which one has a single row, or the other a single column."""
    *more, a, b = given
    wide = _wide(a)
    x, y = a.to(wide), b.to(wide)
    total = (x * y.mT).sum(-1).unsqueeze(-1 if b.shape[-1] == 1 else -2)
    return _finished(total, more, a)


def _terms(*given: torch.Tensor) -> tuple[torch.Tensor]:
    """Elementwise. The first of three operands is added."""
    *more, a, b = given
    wide = _wide(a)
    x, y = a.to(wide), b.to(wide)
    total: Any = None
    for k in range(a.shape[-1]):
        term = x.narrow(-1, k, 1) * y.narrow(-2, k, 1)
        total = term if total is None else total + term
    return _finished(total, more, a)


def _finished(total: torch.Tensor, more: list[torch.Tensor], like: torch.Tensor) -> tuple[torch.Tensor]:
    for bias in more:
        total = total + bias.to(total.dtype)
    return (total.to(like.dtype).contiguous(),)


def _wide(x: torch.Tensor) -> torch.dtype:
    return torch.promote_types(x.dtype, torch.float32)


__all__ = ["open_small_products"]
