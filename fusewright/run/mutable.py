"""Calls of custom operators and Triton kernels that write into what they are given (`trace/mutable.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from torch._higher_order_ops.auto_functionalize import auto_functionalized_v2_dense
from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table, triton_kernel_wrapper_mutation
from torch._prims_common import clone_preserve_strides
from torch.fx import Node

from .written import Mutable


class Operator(Mutable):
    """Takes what `auto_functionalized_v2` takes, but for the operator."""

    def __init__(self, op: Any, bases: int, own: frozenset[int]):
        super().__init__(str(op), own)
        self.op, self.copied = op, tuple(k for k in range(bases) if k not in own)

    def __call__(self, **kwargs: Any) -> Any:
        return auto_functionalized_v2_dense(self.op, self.copied, **kwargs)

    def in_place(self, n: Node) -> list[Any]:
        bases: Any = n.kwargs["_all_bases"]
        return [bases[k] for k in self.own]


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

    def in_place(self, n: Node) -> list[Any]:
        given: Any = n.kwargs["kwargs"]
        return [given[k] for k in self.own]

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


__all__ = ["Kernel", "Operator"]
