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

from ..core.errors import CompilerError, RuntimeFault, UserError
from ..graph.symbolic import Size, size
from ..index.layout import row_major
from ..run.launch import restride
from .executors import Executor, Order, tell
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
        self._module = gm

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_module"], name)


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
            node.target = Claimed(e, e.fn, original, results, where, o.fallback, single)
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


@dataclass(frozen=True, slots=True)
class Expected:
    """What a result must be, as traced; shape and strides come with the call."""

    dtype: torch.dtype
    device: torch.device


class Claimed:
    """The target of a claimed node: f(layouts, *args, **kwargs), `layouts` being (shape, strides) of each result.

    `call(*args, **kwargs)` is the executor's; `original` does the same by torch, and takes over for good when the
    executor raises, or gives something else than was traced. Results that alias an argument, or have other strides, are
    copied.
    """

    pure = True  # `effects.py` asks

    def __init__(
        self,
        executor: Executor,
        call: Callable[..., Any],
        original: Callable[..., Any],
        results: Sequence[Expected | None],
        where: str,
        fallback: bool,
        single: bool,
    ):
        self.executor, self.call, self.original = executor, call, original
        self.results, self.where, self.fallback, self.single = tuple(results), where, fallback, single
        self.broken = False
        self.watch: Callable[..., None] | None = None  # check mode: (results, original's arguments)
        self.__name__ = f"{executor.name}:{executor.target}"

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, layouts: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        if self.broken:
            return self.original(*args, **kwargs)
        given = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
        versions = [0 if t.is_inference() else t._version for t in given]
        try:
            out = self.call(*args, **kwargs)
            outs = [out] if self.single else list(out)
            outs = self.checked(outs, layouts, given)
        except torch.OutOfMemoryError:
            raise
        except Exception as e:
            self.failed(e)
            return self.original(*args, **kwargs)
        if versions != [0 if t.is_inference() else t._version for t in given]:
            raise RuntimeFault(f"executor {self.executor.name} has written into an operand of {self.executor.target}")
        if self.watch is not None:
            self.watch(self, outs, args, kwargs)
        return outs[0] if self.single else tuple(outs)

    def checked(self, outs: list[Any], layouts: Sequence[Any], given: Sequence[torch.Tensor]) -> list[Any]:
        """The results in memory of their own with the traced strides. Raises TypeError for what is not as traced."""
        if len(outs) != len(self.results):
            raise TypeError(f"{len(outs)} results instead of {len(self.results)}")
        theirs = {t.untyped_storage()._cdata for t in given}
        done: list[Any] = []
        for k, (t, want, layout) in enumerate(zip(outs, self.results, layouts, strict=True)):
            if want is None:
                done.append(None)
                continue
            shape, strides = layout
            if not isinstance(t, torch.Tensor):
                raise TypeError(f"result {k} is a {type(t).__name__}, not a tensor")
            if (t.dtype, t.device, tuple(t.shape)) != (want.dtype, want.device, shape):
                is_ = f"{t.dtype} {tuple(t.shape)} on {t.device}"
                raise TypeError(f"result {k} is {is_}, not {want.dtype} {shape} on {want.device}")
            t = t.detach() if t.requires_grad else t
            if t.untyped_storage()._cdata in theirs:
                t = torch.empty_strided(shape, strides, dtype=t.dtype, device=t.device).copy_(t)
            done.append(restride(t, strides))
        return done

    def failed(self, e: Exception) -> None:
        message = f"executor {self.executor.name} failed on {self.executor.target} at {self.where or 'an unknown line'}"
        message += f" ({type(e).__name__}: {e})"
        if not self.fallback:
            raise RuntimeFault(message) from e
        self.broken = True
        tell(f"{message}; it runs through PyTorch from now on. FUSEWRIGHT_DISABLE=fallback raises the failure.")


def expected(val: Any) -> tuple[list[Expected | None], tuple[Any, ...], bool]:
    """(what results must be, their layouts as node arguments, whether there is one) of a node's fake value."""
    single = not isinstance(val, (list, tuple))
    vals = [val] if single else list(val)
    results = [Expected(t.dtype, t.device) if isinstance(t, torch.Tensor) else None for t in vals]
    layouts = tuple((tuple(t.shape), tuple(t.stride())) if isinstance(t, torch.Tensor) else None for t in vals)
    return results, layouts, single
