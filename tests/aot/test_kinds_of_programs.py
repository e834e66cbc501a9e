"""Programs of `torch.export` beyond the plain ones: what they say when they are refused, and what they do when not."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim, export
from torch.utils._pytree import tree_flatten, tree_map

import fusewright
from fusewright.core.errors import UserError


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        return torch.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))


class Inside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = Branches()

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x) + 1


class Loops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        _, y = while_loop(lambda n, y: n < 5, lambda n, y: (n + 1, y * 2), (torch.tensor(0), x))
        return y


class Maps(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return map_(lambda row: row.sin() * 2, x)


class Scans(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return scan(lambda c, row: (c + row, (c * row).clone()), torch.zeros(3), x)


REFUSED = {
    "cond": (Branches, Branches),
    "cond of a part": (Inside, Branches),
    "while_loop": (Loops, Loops),
    "map": (Maps, Maps),
    "scan": (Scans, Scans),
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_control_flow_names_the_users_line(name: str, strict: bool) -> None:
    made, at = REFUSED[name]
    program = export(made(), (torch.randn(4, 3),), strict=strict)
    source, first = inspect.getsourcelines(at.forward)
    word = name.split()[0].rstrip("_")
    line = first + next(k for k, s in enumerate(source) if word in s)
    where = rf"{re.escape(str(Path(__file__)))}:{line} \(.*{word}.*control flow on values .*\({word}"
    with pytest.raises(UserError, match=where):
        fusewright.aot_compile(program)


def test_another_shape_for_an_argument_is_refused() -> None:
    class Resizes(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            x.resize_(2, 3)
            return x + 1

    with pytest.raises(UserError, match=r"test_kinds_of_programs.py:\d+ \(x.resize_.* gives an argument another shape"):
        fusewright.aot_compile(export(Resizes(), (torch.randn(4, 3),)))


class Adds(nn.Module):
    def __init__(self, z: Tensor):
        super().__init__()
        self.register_buffer("z", z)

    def forward(self, x: Tensor) -> Tensor:
        return (x + self.z).sin()


@pytest.mark.parametrize(
    "z", [torch._neg_view(torch.ones(3)), torch._efficientzerotensor(3)], ids=["negative", "zeros"]
)
def test_buffers_that_are_computed_lazily_are_refused(z: Tensor) -> None:
    """A file would have what is in memory."""
    for compiler in (fusewright.aot_compile, fusewright.compile):
        with pytest.raises(UserError, match="z is computed lazily"):
            compiler(export(Adds(z), (torch.randn(4, 3),)))


class Asserts(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch._assert_async((x > -100).all())
        return x * 2


class Combines(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return associative_scan(lambda a, b: a * b, x, 0, combine_mode="generic")


class Chooses(nn.Module):
    def forward(self, x: Tensor, n: Tensor) -> Any:
        count = n.item()
        torch._check(count >= 0)
        torch._check(count <= 4)
        return x[:count] * 2, count


class Joins(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x, y]).view(-1, 2) * 1.5


class Mixed(nn.Module):
    def forward(self, x: Tensor, n: int, mode: str, z: Any = None, *, scale: float = 2.0) -> Any:
        y = x * n
        return {"y": y, "mode": mode, "n": n, "none": z, "more": (y.sum() * scale, [x.shape[0], scale])}


class Aliases(nn.Module):
    def forward(self, x: Tensor) -> Any:
        y = x * 2
        return x, x.t(), y, y.view(-1), y[0], x[1:], y


class Writes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(3))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x: Tensor, y: Tensor) -> Any:
        self.count.add_(1)
        self.total[1:].mul_(2)
        self.total.view(3, 1).add_(x.sum(0).view(3, 1))
        y.view(-1).add_(1)
        return y[2:], self.total[1:], x * self.total, self.count


X = torch.linspace(-1, 1, 12).reshape(4, 3)
RUN: dict[str, tuple[type[nn.Module], tuple[Any, ...], list[tuple[Any, ...]], Any]] = {
    "assertion": (Asserts, (X,), [(X * 3,), (X - 1000,)], None),
    "associative scan": (Combines, (X,), [(X + 2,)], None),
    "size of a value": (Chooses, (X, torch.tensor(2)), [(X, torch.tensor(k)) for k in (3, 0, 4, 5)], None),
    "multiple of a size": (
        Joins,
        (torch.ones(6, 2), torch.ones(4, 2)),
        [(torch.ones(8, 2), torch.ones(9, 2)), (torch.ones(2, 2), torch.ones(1, 2))],
        ({0: 2 * Dim("half", min=1, max=50)}, {0: Dim("other")}),
    ),
    "integers and strings": (
        Mixed,
        (X, 3, "mean"),
        [(torch.ones(9, 3), 5, "mean"), (torch.ones(2, 3), 0, "mean")],
        {"x": {0: Dim.AUTO}, "n": Dim.DYNAMIC, "mode": None},
    ),
    "aliases": (Aliases, (X,), [(X + 1,)], None),
    "writes": (Writes, (X, X * 1), [(X + 1, X * 2), (X - 1, X - 2)], None),
}


def outcome(f: Any, args: tuple[Any, ...]) -> Any:
    """What a call gives, and what it leaves in its arguments; or the error."""
    args = tree_map(lambda t: t.clone() if isinstance(t, Tensor) else t, args)
    try:
        out = f(*args)
    except RuntimeError:
        return "error", None, []
    flat, spec = tree_flatten((out, args))
    tensors = [t for t in flat if isinstance(t, Tensor)]
    memory = [[t.untyped_storage()._cdata == u.untyped_storage()._cdata for u in tensors] for t in tensors]
    return "result", spec, [*flat, memory]


@pytest.mark.parametrize("name", RUN)
def test_compiled_and_loaded_do_what_eager_does(name: str, tmp_path: Path) -> None:
    make, example, calls, dynamic = RUN[name]
    program = fusewright.aot_compile(export(make(), example, dynamic_shapes=dynamic))
    fusewright.aot_save(program, tmp_path / "program.fwp")
    for ours in (program, fusewright.aot_load(tmp_path / "program.fwp")):
        eager = make()
        kinds = set()
        for args in (example, *calls):
            got, expected = outcome(ours, args), outcome(eager, args)
            assert got[:2] == expected[:2]
            kinds.add(got[0])
            for g, e in zip(got[2], expected[2], strict=True):
                assert type(g) is type(e)
                if isinstance(g, Tensor):
                    torch.testing.assert_close(g, e)
                    assert g.stride() == e.stride()
                else:
                    assert g == e
        assert ("error" in kinds) == (name in ("assertion", "size of a value"))
        for key, value in eager.state_dict().items():
            torch.testing.assert_close(ours.state_dict()[key], value)
        if ours is program:
            ours.load_state_dict(make().state_dict())  # as the saved one was
