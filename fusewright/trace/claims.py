"""Claims of executors: what a checker is asked, and the call of an executor in a plan.

See `executors.py`. Nothing here is imported until an executor is registered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.utils._pytree import tree_map

from ..core.errors import CompilerError, UserError
from ..graph.symbolic import Size, size
from ..index.layout import row_major
from ..run.claimed import Claimed, Expected, tell
from .executors import Executor, Order
from .types import Symbols

# --- what a checker sees -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Meta:
    """A tensor as a checker sees it: no data, and sizes that may be symbolic.

    `shape`, `strides` (in elements): integers, and `Size`s for what varies. To compare one with <, or to use it as a
    number, means that the executor declines. `hint`: the shape of the call that is compiled for.
    """

    dtype: torch.dtype
    device: torch.device
    shape: tuple[int | Size, ...]
    strides: tuple[int | Size, ...]
    hint: tuple[int, ...]
    contiguous: bool

    @property
    def ndim(self) -> int:
        return len(self.shape)


def meta(t: torch.Tensor, symbols: Symbols) -> Meta:
    shape, strides = symbols.shape(t.shape), symbols.shape(t.stride())
    dense = strides == row_major(shape)
    hint = tuple(symbols.hint(n) for n in shape)
    return Meta(t.dtype, t.device, tuple(map(size, shape)), tuple(map(size, strides)), hint, dense)


def metas(args: Any, symbols: Symbols) -> Any:
    """Arguments as a checker gets them: of nodes, tensors and symbolic sizes."""

    def one(a: Any) -> Any:
        if isinstance(a, Node):
            a = a.meta.get("val")
        if isinstance(a, torch.Tensor):
            return meta(a, symbols)
        return size(symbols.ix(a)) if isinstance(a, torch.SymInt) else a

    return tree_map(one, args, is_leaf=lambda a: isinstance(a, Node))


class Copied:
    """A copy of a graph module's graph, for claims to be written into; nodes have the same names and values."""

    def __init__(self, gm: GraphModule):
        self.graph = Graph()
        result = self.graph.graph_copy(gm.graph, {})
        self.graph.output(result)
        self.plain = gm  # without claims

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["plain"], name)


def claim_operator(node: Node, o: Order, ahead: bool, symbols: Symbols, where: str) -> tuple[str, list[str]]:
    """Let an executor have the operator of a node, if one claims it: its target is another one afterwards.

    Gives (what the executor says, "" if none claims it; why others declined).
    """
    said: list[str] = []
    for e in o.of(node.target, ahead):
        claimed, why = ask(e, metas(tuple(node.args), symbols), metas(dict(node.kwargs), symbols), where, o.fallback)
        if claimed:
            results, layouts, single = expected(node.meta["val"])
            original: Any = node.target
            node.target = Claimed(e.name, e.target, e.fn, original, results, where, o.fallback, single, e.reference)
            node.args = (layouts, *node.args)
            return why, said
        said.append(why)
    return "", said


def ask(e: Executor, args: Sequence[Any], kwargs: Mapping[str, Any], where: str, fallback: bool) -> tuple[bool, str]:
    """(whether an executor claims a call, what it says of it). `args`, `kwargs`: from `metas`."""
    found = {m.device.type for m in (*args, *kwargs.values()) if isinstance(m, Meta)}
    if e.devices and not found <= set(e.devices):
        return False, f"executor {e.name} declined: it is for {', '.join(e.devices)}, not {', '.join(sorted(found))}"
    if e.checker is None:
        return True, f"claimed by executor {e.name}"
    try:
        said = e.checker(*args, **kwargs)
    except UserError as error:  # a symbolic size used as a number
        return False, f"executor {e.name} declined: {error}"
    except Exception as error:
        return False, _broken(e, f"its checker raised {type(error).__name__}: {error}", where, fallback, error)
    if said is True:
        return True, f"claimed by executor {e.name}"
    if said is False or said is None:
        return False, f"executor {e.name} declined"
    if isinstance(said, str):
        return False, f"executor {e.name} declined: {said}"
    return False, _broken(e, f"its checker returned {said!r}, not True, False or a reason", where, fallback)


def _broken(e: Executor, what: str, where: str, fallback: bool, cause: Exception | None = None) -> str:
    message = f"executor {e.name}, for {e.target}: {what}"
    if not fallback:
        raise CompilerError(message, stage="executors", where=where) from cause
    tell(f"{message}, at {where or 'an unknown line'}; the operation runs without it")
    return message


# --- decompositions --------------------------------------------------------------------------------------


def keeping(table: dict[Any, Callable[..., Any]], o: Order) -> dict[Any, Callable[..., Any]]:
    """Decompositions that leave an operator whole where an executor ahead of the kernels claims it."""
    wanted = {e.what for e in o.ahead if e.what in table}
    return {**table, **{op: _unless_claimed(op, table[op], o) for op in wanted}} if wanted else table


def _unless_claimed(op: Any, decomposition: Callable[..., Any], o: Order) -> Callable[..., Any]:
    def decompose(*args: Any, **kwargs: Any) -> Any:
        symbols = Symbols()
        seen, named = metas(tuple(args), symbols), metas(dict(kwargs), symbols)
        if any(ask(e, seen, named, "", o.fallback)[0] for e in o.of(op, True)):
            return NotImplemented
        return decomposition(*args, **kwargs)

    return decompose


# --- a claimed call -------------------------------------------------------------------------------------


def expected(val: Any) -> tuple[list[Expected | None], tuple[Any, ...], bool]:
    """(what results must be, their layouts as node arguments, whether there is one) of a node's fake value."""
    single = not isinstance(val, (list, tuple))
    vals = [val] if single else list(val)
    results = [Expected(t.dtype, t.device) if isinstance(t, torch.Tensor) else None for t in vals]
    layouts = tuple((tuple(t.shape), tuple(t.stride())) if isinstance(t, torch.Tensor) else None for t in vals)
    return results, layouts, single
