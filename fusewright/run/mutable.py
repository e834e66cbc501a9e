"""Calls that write into what they are given: of custom operators and Triton kernels (`trace/mutable.py`), and of
PyTorch's operators that write into a part (`trace/written_parts.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from torch._higher_order_ops.auto_functionalize import auto_functionalized_v2_dense
from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table, triton_kernel_wrapper_mutation
from torch._prims_common import clone_preserve_strides
from torch.fx import Node

from . import direct

MEMORY = "fusewright_memory"  # in the meta of a node: another one, whose memory its value is in


class Mutable:
    """What a node calls instead: a function that gives what it has written, as the functional operation would.

    `own`: which of the operands that it writes into it does not copy first, by index or name; `why`: for reports.
    """

    why = "writes into its operands"
    pure = True  # `effects.py` asks: what is written in place nobody else reads
    __module__ = __name__

    def __init__(self, name: str, own: frozenset[Any]):
        self.__name__, self.own = name, own

    def __repr__(self) -> str:
        return self.__name__


class Operator(Mutable):
    """Takes what `auto_functionalized_v2` takes, but for the operator."""

    def __init__(self, op: Any, bases: int, own: frozenset[int]):
        super().__init__(str(op), own)
        self.op, self.copied = op, tuple(k for k in range(bases) if k not in own)

    def __call__(self, **kwargs: Any) -> Any:
        return auto_functionalized_v2_dense(self.op, self.copied, **kwargs)


class Kernel(Mutable):
    """Takes what `triton_kernel_wrapper_functional` takes, but for what is written, of which it gives a tuple."""

    def __init__(self, index: int, constants: int, written: tuple[str, ...], own: frozenset[str]):
        self.kernel: Any = kernel_side_table.get_kernel(index)
        self.constants = kernel_side_table.get_constant_args(constants)
        super().__init__(f"triton.{_kernel_name(self.kernel)}", own)
        self.written, self.copied = written, frozenset(written) - own

    def __call__(self, *, grid: list[Any], kwargs: Mapping[str, Any], **more: Any) -> tuple[Any, ...]:
        given = {k: clone_preserve_strides(v) if k in self.copied else v for k, v in kwargs.items()}
        if more["tma_descriptor_metadata"]:
            triton_kernel_wrapper_mutation(grid=grid, kwargs=given, **more)
        else:  # what that does, without torch's dispatcher, which takes longer than the launch
            self.launch(grid, given)
        return tuple(given[k] for k in self.written)

    def launch(self, grids: list[Any], given: Mapping[str, Any]) -> None:
        """`grids`: one, or one for each configuration of an autotuned kernel."""
        named = {**self.constants, **given}
        first = takewhile(named.__contains__, self.kernel.arg_names)  # hooks of autotuners take them by position
        args = [named.pop(name) for name in list(first)]
        self.kernel[grids[0] if len(grids) == 1 else self._grid(grids)](*args, **named)

    def _grid(self, grids: list[Any]) -> Callable[[Mapping[str, Any]], Any]:
        known = [(c.kwargs, g) for c, g in zip(self.kernel.configs, grids, strict=True)]
        known.sort(key=lambda x: -len(x[0]))  # the one that says most of those that agree

        def grid(meta: Mapping[str, Any]) -> Any:
            """The grid of the configuration that Triton has chosen."""
            return next(g for c, g in known if all(meta.get(k, v) == v for k, v in c.items()))

        return grid


def _kernel_name(kernel: Any) -> str:
    while not hasattr(kernel, "__name__"):  # autotuners and heuristics around it
        kernel = kernel.fn
    return str(kernel.__name__)


class Part(Mutable):
    """`write`, an operator in place, into a view of a view ... of a tensor, which it gives."""

    why = "writes a part of a large tensor in place, which a kernel would move as a whole"

    def __init__(self, views: tuple[Any, ...], write: Any):
        super().__init__(str(write), frozenset((0,)))
        self.views, self.write = views, write
        self.calls = [direct.CALLS.get(view, view) for view in views], direct.CALLS.get(write, write)

    def __call__(self, whole: Any, views: list[tuple[Any, ...]], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`views`: the arguments of each view; `args`, `kwargs`: of `write`, behind the view."""
        part = whole
        steps, write = self.calls
        for view, a in zip(steps, views, strict=True):
            part = view(part, *a)
        write(part, *args, **kwargs)
        return whole


def written_in_place(n: Node) -> bool:
    """Whether a node is an argument of its graph that a `Mutable` writes into."""
    return any(isinstance(u.target, Mutable) and any(a is n for a in _in_place(u)) for u in n.users)


def _in_place(n: Node) -> list[Any]:
    """The operands that a call of a `Mutable` writes in place."""
    target: Any = n.target
    if isinstance(target, Part):
        return [n.args[0]]
    name = "_all_bases" if isinstance(target, Operator) else "kwargs"
    return [n.kwargs[name][k] for k in target.own]  # type: ignore[index]


__all__ = ["MEMORY", "Kernel", "Mutable", "Operator", "Part", "written_in_place"]
