"""Programs to export, and calls of them: what the tests of saving and loading share.

A `Case` makes a module and the example it is exported with, and gives the arguments of other calls. `arguments(k)` of
call k: new tensors every time, because programs may write into them.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram, export


@dataclass(frozen=True)
class Case:
    """`make()`: the module; `sizes[k]`: of call k, the first is what it is exported with; `args(*size)`: (args, kwargs)
    for a size. `exact`: whether eager's bits are expected of the fused result."""

    make: Callable[[], nn.Module]
    args: Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]
    sizes: list[tuple[int, ...]]
    dynamic: Any = None
    exact: bool = False
    no_grad: bool = True
    strict: bool = False
    more: list[Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]] = field(default_factory=list)

    def export(self) -> tuple[nn.Module, ExportedProgram]:
        torch.manual_seed(0)
        module = self.make()
        args, kwargs = self.args(*self.sizes[0])
        with torch.set_grad_enabled(not self.no_grad):
            return module, export(module, args, kwargs, dynamic_shapes=self.dynamic, strict=self.strict)

    def calls(self) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        out = []
        for k, size in enumerate(self.sizes):
            torch.manual_seed(k)
            out.append(self.args(*size))
        return out + [m() for m in self.more]


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(12, 32), nn.LayerNorm(32), nn.Linear(32, 12)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(F.gelu(self.norm(self.up(x))))


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (
            y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(self.ln1(x)).split(c, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    """Integer inputs, tied weights."""

    def __init__(self, layers: int = 2, width: int = 32, vocabulary: int = 40):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(64, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Nested(nn.Module):
    """Nested arguments and results; results that are arguments, views of them, numbers, None."""

    def forward(self, pair: tuple[Tensor, dict[str, Tensor]], scale: float, *, flag: bool, more: list[Tensor]) -> Any:
        x, named = pair
        y = (x * scale + named["b"]).softmax(-1)
        if flag:
            y = y + more[0].sum()
        size = x.shape[0]
        return {"y": y, "none": None, "size": size, "twice": 2 * size + 1, "half": 0.5}, [x, y[:, 1:], x.view(-1)], "s"


class Counting(nn.Module):
    """Buffers that are written, one that is not saved with the others, a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("scale", torch.full((6,), 2.0), persistent=False)
        self.table = torch.arange(6.0)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.calls.add_(1)
        self.mean.lerp_(x.mean(0), 0.25)
        return (x - self.mean) * self.scale + self.table, self.mean


class BatchNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(5)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.norm(x))


class Writing(nn.Module):
    """Arguments that are written; results that are they, and views of them."""

    def forward(self, x: Tensor, cache: dict[str, Tensor]) -> tuple[Tensor, ...]:
        keys = cache["keys"]
        keys.mul_(2).add_(x)
        cache["seen"].add_(1)
        return keys, keys.t(), keys[:, :2], x * 2


class Slices(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x[:, 1:3] = x[:, 1:3].exp()
        return x.sum(1)


class Odd(nn.Module):
    """Types and constants of all kinds."""

    def forward(self, x: Tensor, k: Tensor) -> tuple[Tensor, ...]:
        big = torch.where(k[:, None] > 2, float("inf"), x.double().exp())
        return (
            big,
            (x > 0) & (k != 3)[:, None],
            k.to(torch.int8) * 3,
            x.to(torch.bfloat16) * 1.7,
            torch.cumsum(k, 0),
            x[k % 4],
        )


class Sizes(nn.Module):
    """Integers as arguments; sizes in arithmetic."""

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, int]:
        return x.repeat(n, 1) / x.shape[0] + n, n * x.shape[0]


class Derived(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return (x.view(-1, 2, 3).sum(1) + y) * 2


class OnlyDerived(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x.view(-1, 2) * 3).sum(1)


class Gathered(nn.Module):
    """Results whose sizes depend on values, and operations that are PyTorch's."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        found = x.nonzero()
        return found * 2, torch.linalg.inv(x @ x.t() + 3 * torch.eye(x.shape[0])).exp()


class Number(nn.Module):
    def forward(self, x: Tensor) -> tuple[float, Tensor]:
        return x.sum().item(), x + 1


class Dropping(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return F.dropout(x, 0.4, True) * 2, torch.randn_like(x) + x


class Scaled(nn.Module):
    """Sizes that are rounded floats."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        root = x.new_ones(math.floor(torch.sym_sqrt(x.shape[0])))
        return F.interpolate(x[None, None], scale_factor=1.5)[0, 0] * 2, root + x.sum()


class NoArguments(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))

    def forward(self) -> tuple[Tensor, Tensor]:
        return torch.softmax(self.weight, 0).sum(1), self.weight


class Image(nn.Module):
    """Convolutions, pooling and interpolation are PyTorch's; its own code for the last fixes sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        y = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        return self.last(F.interpolate(y, scale_factor=2.0, mode="bilinear").mean((2, 3)))


class AnyArguments(nn.Module):
    def forward(self, *xs: Tensor, scale: float = 2.0, **others: Tensor) -> Tensor:
        return sum((x * scale for x in xs), others["b"])


class Empty(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return x.sum(0), x.mean(1), x.softmax(1), (x + 1).relu().sum(), torch.cat([x, x * 2])


class Point(NamedTuple):
    x: Tensor
    y: Tensor


class Ordered(nn.Module):
    def forward(self, d: Any) -> Any:
        return OrderedDict(z=d["a"] * 2, a=d["b"] + d["a"])


class Layouts(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return (x * 2 + y).softmax(-1), (x + 1).sum(0)


class Expanded(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2 + 1


def _rows(*shape: int) -> Tensor:
    return torch.randn(*shape)


_Args = tuple[tuple[Any, ...], dict[str, Any]]


def _nested(n: int) -> _Args:
    return ((_rows(n, 4), {"b": _rows(4)}), 1.5), {"flag": True, "more": [_rows(3)]}


def _writing(n: int) -> _Args:
    return (_rows(n, 4), {"keys": _rows(n, 4), "seen": torch.zeros((), dtype=torch.int32)}), {}


def _turned(n: int) -> _Args:
    return (_rows(6, n).t(), _rows(n, 12)[:, ::2]), {}


BATCH = Dim("batch", max=4096)
CASES: dict[str, Case] = {
    "mlp": Case(MLP, lambda n: ((_rows(n, 12),), {}), [(5,), (1,), (0,), (64,), (1000,)], {"x": {0: BATCH}}),
    "gpt": Case(
        lambda: GPT().eval(),
        lambda b, t: ((torch.randint(0, 40, (b, t)),), {}),
        [(2, 9), (1, 2), (3, 33), (0, 5)],
        {"tokens": {0: Dim("b"), 1: Dim("t", max=64)}},
    ),
    "static": Case(MLP, lambda n: ((_rows(n, 12),), {}), [(5,)]),
    "nested": Case(
        Nested,
        _nested,
        [(5,), (2,), (7,)],
        {"pair": ({0: Dim.DYNAMIC}, {"b": None}), "scale": None, "flag": None, "more": [None]},
    ),
    "counting": Case(Counting, lambda n: ((_rows(n, 6),), {}), [(4,), (9,), (1,)], {"x": {0: BATCH}}),
    "batch norm, training": Case(
        lambda: BatchNorm().train(), lambda n: ((_rows(n, 5, 4, 4),), {}), [(4,), (7,)], {"x": {0: Dim("b", min=1)}}
    ),
    "batch norm, evaluation": Case(
        lambda: BatchNorm().eval(), lambda n: ((_rows(n, 5, 4, 4),), {}), [(4,), (1,), (0,)], {"x": {0: BATCH}}
    ),
    "writing": Case(
        Writing,
        _writing,
        [(3,), (5,), (0,)],
        {"x": {0: BATCH}, "cache": {"keys": {0: BATCH}, "seen": None}},
        exact=True,
    ),
    "slices": Case(Slices, lambda n: ((_rows(n, 5),), {}), [(4,), (6,)], {"x": {0: BATCH}}),
    "odd": Case(
        Odd, lambda n: ((_rows(n, 7), torch.arange(n)), {}), [(6,), (4,), (9,)], {"x": {0: BATCH}, "k": {0: BATCH}}
    ),
    "sizes": Case(
        Sizes, lambda n, k: ((_rows(n, 3), k), {}), [(4, 3), (5, 7), (2, 2)], {"x": {0: Dim.DYNAMIC}, "n": Dim.DYNAMIC}
    ),
    "derived": Case(
        Derived,
        lambda n: ((_rows(2 * n, 3), _rows(n, 3)), {}),
        [(4,), (9,)],
        {"x": {0: 2 * Dim("n")}, "y": {0: Dim("n")}},
    ),
    "only derived": Case(OnlyDerived, lambda n: ((_rows(2 * n),), {}), [(4,), (9,)], {"x": {0: 2 * Dim("n")}}),
    "gathered": Case(Gathered, lambda n: ((_rows(n, 4).relu(),), {}), [(3,), (5,)], {"x": {0: Dim.DYNAMIC}}),
    "image": Case(lambda: Image().eval(), lambda n: ((_rows(n, 3, 8, 8),), {}), [(2,), (1,), (5,)], {"x": {0: BATCH}}),
    "any arguments": Case(AnyArguments, lambda n: ((_rows(n), _rows(n)), {"b": _rows(n)}), [(3,)]),
    "number": Case(Number, lambda n: ((_rows(n, 4),), {}), [(3,), (5,)], {"x": {0: BATCH}}),
    "scaled": Case(Scaled, lambda n: ((_rows(n),), {}), [(16,), (33,), (8,)], {"x": {0: Dim("n", min=6, max=99)}}),
    "no arguments": Case(NoArguments, lambda: ((), {}), [()]),
    "empty": Case(
        Empty, lambda n, m: ((_rows(n, m),), {}), [(3, 5), (0, 5), (7, 2), (1, 1)], {"x": {0: BATCH, 1: Dim("m")}}
    ),
    "ordered": Case(
        Ordered,
        lambda n: (({"b": _rows(n), "a": _rows(n)},), {}),
        [(3,), (4,)],
        {"d": {"b": {0: BATCH}, "a": {0: BATCH}}},
    ),
    "layouts": Case(
        Layouts,
        lambda n: ((_rows(n, 6), _rows(n, 6)), {}),
        [(4,), (5,)],
        {"x": {0: BATCH}, "y": {0: BATCH}},
        more=[
            lambda: _turned(4),
            lambda: ((_rows(1, 6).expand(5, 6), _rows(5, 6)), {}),
            lambda: ((_rows(31)[1:].view(5, 6), _rows(5, 6)), {}),
        ],
    ),
    "turned example": Case(
        Layouts,
        _turned,
        [(4,), (7,)],
        {"x": {0: BATCH}, "y": {0: BATCH}},
        more=[lambda: ((_rows(5, 6), _rows(5, 6)), {})],
    ),
    "expanded example": Case(
        Expanded,
        lambda n: ((_rows(1, 3).expand(n, 3),), {}),
        [(4,), (7,)],
        {"x": {0: BATCH}},
        more=[lambda: ((_rows(5, 3),), {}), lambda: ((_rows(3, 5).t(),), {})],
    ),
}
RANDOM = Case(Dropping, lambda n: ((_rows(n, 9),), {}), [(8,), (5,)], {"x": {0: BATCH}})
