"""Arithmetic on complex numbers between real ones, as rotary embeddings have it: done with pairs of real numbers.

    view_as_real(view_as_complex(x) * f)    becomes, with g = view_as_real(f) and the last dimension for the two parts,

    cat([x[..., 0] * g[..., 0] - x[..., 1] * g[..., 1], x[..., 0] * g[..., 1] + x[..., 1] * g[..., 0]])

which fuses with what makes x, and with what reads the result. A complex tensor that comes from elsewhere is looked at
as pairs, which moves nothing. Chains are rewritten that end in real numbers (`view_as_real`, `abs`, `angle`) wherever
they are read, and only if our kernels compute something next to them: a product by itself is PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .lowering import RULES, VIEWS
from .padding import is_ours
from .rewriting import arguments, call_like, inline, replace, tidy

aten = torch.ops.aten

_REAL = {torch.complex64: torch.float32, torch.complex128: torch.float64}
_SAME = {aten.neg.default, aten.alias.default, aten.detach.default}
_CONJUGATE = {aten._conj.default, aten._conj_physical.default, aten.conj_physical.default}
_SUMS = {aten.add.Tensor, aten.sub.Tensor}
_AS_IS = {aten.resolve_conj.default, aten.resolve_neg.default}
# Views, and how their arguments are for a tensor of one dimension more.
_LOOKS: dict[Any, Callable[[int, tuple[Any, ...]], tuple[Any, ...]]] = {
    aten.view.default: lambda rank, a: ([*a[0], 2],),
    aten._unsafe_view.default: lambda rank, a: ([*a[0], 2],),
    aten.expand.default: lambda rank, a: ([*a[0], 2],),
    aten.permute.default: lambda rank, a: ([*(d % rank for d in a[0]), rank],),
    aten.transpose.int: lambda rank, a: (a[0] % rank, a[1] % rank),
    aten.unsqueeze.default: lambda rank, a: (a[0] % (rank + 1),),
    aten.squeeze.dim: lambda rank, a: (a[0] % rank,),
    aten.select.int: lambda rank, a: (a[0] % rank, a[1]),
    aten.slice.Tensor: lambda rank, a: ((a[0] if a else 0) % rank, *a[1:]),
}
_ARITHMETIC = {aten.mul.Tensor, *_SUMS, *_CONJUGATE, aten.neg.default}
_MADE = {aten.complex.default, aten.polar.default}  # of real numbers
_KNOWN = {aten.clone.default, *_ARITHMETIC, *_SAME, *_AS_IS, *_LOOKS, *_MADE}
_PARTS = {aten.abs.default, aten.angle.default}  # real numbers of complex ones
_ENDS = {aten.view_as_real.default, *_PARTS}


def pair_complex(gm: GraphModule) -> None:
    """Rewrite the chains of a functional graph that are worth it, in place."""
    pairs = _Pairs()
    for n in list(gm.graph.nodes):
        if n.target in _ENDS and _complex(n.args[0]) and pairs.worth(n):
            pair = pairs.end(n)
            if pair.meta["val"].stride() == n.meta["val"].stride():
                replace(n, pair)
    if pairs.made:
        tidy(gm)


def _complex(n: Any) -> bool:
    val = n.meta.get("val") if isinstance(n, Node) else None
    return isinstance(val, torch.Tensor) and val.dtype in _REAL and val.layout is torch.strided


class _Pairs:
    def __init__(self) -> None:
        self.made: dict[Node, Node] = {}
        self.links: dict[Node, bool] = {}

    def worth(self, end: Node) -> bool:
        """Whether the chain that ends here can be rewritten and gains by it."""
        chain, stack, found = [], [end.args[0]], set()
        while stack:
            n = stack.pop()
            if not isinstance(n, Node) or n in found or not _complex(n):
                continue
            found.add(n)
            if self.known(n):
                chain.append(n)
                stack.extend(n.all_input_nodes)
            elif n.target is not aten.view_as_complex.default and (n.meta["val"].is_conj() or n.meta["val"].is_neg()):
                return False
        if end.target not in _PARTS and not any(n.target in _ARITHMETIC | _MADE for n in chain):
            return False
        heads = (aten.view_as_complex.default, *_MADE)
        fed = [x for n in found if n.target in heads for x in n.all_input_nodes]
        return any(map(is_ours, fed)) or _feeds(end)

    def known(self, n: Node) -> bool:
        """Whether this is a link of a chain: what we can do with pairs, and nobody needs as a complex number."""
        if n not in self.links:
            ends = (u.target in _ENDS or (_complex(u) and self.known(u)) for u in n.users)
            self.links[n] = n.target in _KNOWN and self.takes(n) and all(ends)
        return self.links[n]

    def takes(self, n: Node) -> bool:
        a = arguments(n)
        if n.target in _MADE:
            return True
        if n.target is aten.mul.Tensor:
            return all(_complex(x) or _real(x) for x in a) and all(_same_type(n, x) for x in a)
        if n.target in _SUMS:
            return all(map(_complex, a)) and not n.kwargs and all(_same_type(n, x) for x in a)
        if n.target is aten.clone.default:
            return n.kwargs.get("memory_format") in (None, torch.contiguous_format, torch.preserve_format)
        return _complex(a[0]) and not n.kwargs

    def end(self, n: Node) -> Node:
        """The real numbers at the end of a chain."""
        pair = self.of(n.args[0])  # type: ignore[arg-type]
        if n.target not in _PARTS:
            return pair
        with n.graph.inserting_before(n):
            return inline(n, _modulus if n.target is aten.abs.default else _argument, pair)[0]

    def of(self, n: Node) -> Node:
        """The pairs of a complex tensor."""
        if n not in self.made:
            self.made[n] = self.make(n)
        return self.made[n]

    def make(self, n: Node) -> Node:
        if n.target is aten.view_as_complex.default:
            return n.args[0]  # type: ignore[return-value]
        if not self.known(n):
            with n.graph.inserting_after(n):
                return call_like(n, aten.view_as_real.default, n)
        a, rest = n.args[0], n.args[1:]
        if n.target in _MADE:
            with n.graph.inserting_before(n):
                return inline(n, _pair if n.target is aten.complex.default else _polar, a, *rest)[0]
        if n.target in _AS_IS:
            return self.of(a)  # type: ignore[arg-type]
        with n.graph.inserting_before(n):
            if n.target is aten.mul.Tensor:
                return self.product(n, *n.args)
            x = self.of(a)  # type: ignore[arg-type]
            if n.target in _CONJUGATE:
                return inline(n, _conjugate, x)[0]
            if n.target in _SUMS:
                return call_like(n, n.target, x, self.of(rest[0]))  # type: ignore[arg-type]
            if n.target is aten.clone.default:
                return call_like(n, n.target, x, memory_format=torch.contiguous_format)
            if n.target in _SAME:
                return call_like(n, n.target, x)
            return call_like(n, n.target, x, *_LOOKS[n.target](a.meta["val"].dim(), rest))  # type: ignore[union-attr]

    def product(self, n: Node, a: Any, b: Any) -> Node:
        if not _complex(a):
            a, b = b, a
        x = self.of(a)
        if isinstance(b, Node):
            return inline(n, _product, x, self.of(b))[0] if _complex(b) else inline(n, _scaled, x, b)[0]
        return inline(n, lambda x: _scaled(x, b), x)[0]


def _product(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor]:
    a, b, c, d = x.select(-1, 0), x.select(-1, 1), y.select(-1, 0), y.select(-1, 1)
    return _pair(a * c - b * d, a * d + b * c)


def _scaled(x: torch.Tensor, y: Any) -> tuple[torch.Tensor]:
    """`y`: a real tensor or number."""
    a, b = x.select(-1, 0), x.select(-1, 1)  # a real number has an imaginary part, 0, which infinities notice
    return _pair(a * y - b * 0.0, a * 0.0 + b * y)


def _conjugate(x: torch.Tensor) -> tuple[torch.Tensor]:
    return _pair(x.select(-1, 0), x.select(-1, 1).neg())


def _modulus(x: torch.Tensor) -> tuple[torch.Tensor]:
    return (torch.hypot(x.select(-1, 0), x.select(-1, 1)),)


def _argument(x: torch.Tensor) -> tuple[torch.Tensor]:
    return (torch.atan2(x.select(-1, 1), x.select(-1, 0)),)


def _polar(modulus: torch.Tensor, argument: torch.Tensor) -> tuple[torch.Tensor]:
    return _pair(modulus * torch.cos(argument), modulus * torch.sin(argument))


def _pair(real: torch.Tensor, imaginary: torch.Tensor) -> tuple[torch.Tensor]:
    real, imaginary = torch.broadcast_tensors(real, imaginary)
    return (torch.cat([real.unsqueeze(-1), imaginary.unsqueeze(-1)], -1),)


def _real(x: Any) -> bool:
    """A real number of the program, or a tensor of such in float32 or float64."""
    if isinstance(x, Node):
        val = x.meta.get("val")
        return isinstance(val, torch.Tensor) and val.dtype in _REAL.values()
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _same_type(n: Node, x: Any) -> bool:
    """Whether an operand of `n` is of the type of its result."""
    if not isinstance(x, Node):
        return True
    dtype = x.meta["val"].dtype
    return n.meta["val"].dtype in (dtype, torch.complex64 if dtype is torch.float32 else torch.complex128)


def _feeds(n: Node) -> bool:
    """Whether kernels of ours read it, seen through views."""
    return any(_feeds(u) if u.target in VIEWS else u.target in RULES for u in n.users)
