"""A compiled program: a module that is called like the one that was exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from ..core.errors import UserError
from .convention import Convention
from .entry import entry
from .program_inside import Inside, forward


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor of the program. `kind`: "parameter", "buffer", "temporary" (a buffer that is not persistent) or
    "constant"."""

    kind: str
    tensor: torch.Tensor


@dataclass(slots=True)
class About:
    """What is known about a program, for people and for saving it.

    `source`: of the plan; `call`: of the function that checks the arguments and calls it; `origin`: what `aot_compile`
    knows of it, or the path of the file.
    """

    convention: Convention
    source: str
    call: str = ""
    origin: Any = None
    held: Mapping[str, Held] = field(default_factory=dict)


class _Part(torch.nn.Module):
    """Holds the parameters and buffers of a submodule."""


class Program(torch.nn.Module):
    """A program of `torch.export`, compiled: call it as the exported module.

    Its parameters and buffers have the names of the exported ones. The kernels read their memory: values may be written
    into it (`load_state_dict`, `copy_`), but it cannot be replaced (`to`, `load_state_dict(assign=True)`). Results
    never require gradients. `about` says what is known.
    """

    about: About
    _program: Callable[[tuple[Any, ...], dict[str, Any]], Any]

    def __init__(self, about: About, run: Callable[[list[Any]], list[Any]]):
        super().__init__()
        tensors = {name: h.tensor for name, h in about.held.items()}
        call, about.call = entry(about.convention, run, tensors)
        self.__dict__["about"], self.__dict__["_program"] = about, call
        held = {name: h.tensor for name, h in about.held.items() if h.kind != "constant"}
        self.__dict__["_inside"] = inside = Inside(about.convention, run, tensors, held)
        self.__dict__["_graphed"] = inside.forward()
        for name, h in about.held.items():
            if h.kind != "constant":
                self._hold(name, h)

    def _hold(self, name: str, h: Held) -> None:
        """Register a tensor, past the checks of names: an exported module may have names that this class has, too."""
        *path, last = name.split(".")
        at: torch.nn.Module = self
        for part in path:
            if at._modules.get(part) is None:
                at._modules[part] = _Part()
            at = at._modules[part]  # type: ignore[assignment]
        if h.kind == "parameter":
            t = h.tensor
            at._parameters[last] = t if isinstance(t, torch.nn.Parameter) else torch.nn.Parameter(t, False)
            return
        at._buffers[last] = h.tensor
        if h.kind == "temporary":
            at._non_persistent_buffers_set.add(last)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._program(args, kwargs)

    def _aside(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that Dynamo leaves alone."""
        return self._program(args, kwargs)

    # --- what a program cannot do ---
    def train(self, mode: bool = True) -> Program:
        if mode:
            raise UserError("a compiled program does as the module did when it was exported: export it in train() mode")
        return self

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        if assign:
            raise UserError("the memory of a compiled program's parameters is fixed: load_state_dict without assign")
        return super().load_state_dict(state_dict, strict)

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Program:
        raise UserError("a compiled program is for its devices and types: move the module, export and compile it again")

    def __deepcopy__(self, memo: Any) -> Program:
        raise UserError("a compiled program cannot be copied: compile or load it again (fusewright.aot_load)")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise UserError("a compiled program is not pickled: use fusewright.aot_save and fusewright.aot_load")

    def extra_repr(self) -> str:
        return f"{len(self.about.convention.arguments)} arguments"


Program.forward._torchdynamo_inline = forward()  # type: ignore[attr-defined]
Program._aside._torchdynamo_disable = True  # type: ignore[attr-defined]
