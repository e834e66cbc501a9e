"""`fusewright.compile`: one way in for whatever PyTorch calls a program.

model = fusewright.compile(model)                        # nn.Module or function: torch.compile, our backend
model = fusewright.compile(torch.jit.load("model.pt"))   # TorchScript: converted (`scripting.py`)
program = fusewright.compile(torch.export.export(...))   # ExportedProgram: compiled now (`exporting.py`)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram

from .core.errors import UserError, flag
from .core.lazy import lazy_import
from .core.modes import options_of
from .core.options import from_mapping

if TYPE_CHECKING:
    from . import exporting, scripting
else:
    exporting = lazy_import("fusewright.exporting")
    scripting = lazy_import("fusewright.scripting")

_SCRIPTED = (torch.jit.ScriptFunction, torch.jit.ScriptModule, torch._C.ScriptMethod)


def compile(
    obj: Any = None, *, dynamic: bool | None = None, fullgraph: bool = False, mode: str | None = None, **options: Any
) -> Any:
    """Compile a program; as a decorator, with or without arguments.

    obj: what happens depends on its type.

        torch.jit.ScriptFunction, ScriptModule (scripted, traced, loaded)
            as `fusewright.fuse`: its graph is converted, parameters and buffers stay shared
        torch.export.ExportedProgram
            as `fusewright.aot_compile`: compiled at once, with its dynamic dimensions
        torch.nn.Module, function
            `torch.compile(obj, backend="fusewright")`: Dynamo finds the graphs. `fusewright.fuse` does without it

    dynamic: False fixes all sizes. As in `torch.compile`, None lets it find out which sizes vary; converted programs
        have symbolic sizes unless it is False. An ExportedProgram says itself which of its dimensions are dynamic.
    fullgraph: raise an error unless there is one graph: Dynamo's for functions, UserError for TorchScript.
    mode: one of `torch.compile`'s, which is short for some options (`core/modes.py`): "reduce-overhead" for
        `cuda_graphs`, "max-autotune" for that and `autotune`, "max-autotune-no-cudagraphs" for `autotune`.
    options: Fusewright's, by name (`precision="eager"`).

    Raises UserError for what is none of these, and for unknown modes and options.
    """
    options = options_of({"mode": mode, "options": options})
    from_mapping(options)
    flag("compile", fullgraph=fullgraph)
    if dynamic is not None:
        flag("compile", dynamic=dynamic)
    if obj is None:
        return lambda f: compile(f, dynamic=dynamic, fullgraph=fullgraph, **options)
    if isinstance(obj, ExportedProgram):
        return exporting.aot_compile(obj, **options)
    if isinstance(obj, _SCRIPTED):
        fused = scripting.fuse_scripted(obj, dynamic is False, options)
        if fullgraph:
            _whole(fused)
        return fused
    if isinstance(obj, (torch.nn.Module, Callable)) and not (isinstance(obj, type)):  # type: ignore[arg-type]
        return torch.compile(obj, backend="fusewright", dynamic=dynamic, fullgraph=fullgraph, options=options or None)
    raise UserError(
        f"compile: a function, a module, a scripted function or module, or an ExportedProgram is needed, not {obj!r}"
    )


def _whole(fused: Any) -> None:
    """Raises UserError unless a converted function or module is one fused function."""
    script = scripting.behind(fused)
    if not script.whole:
        raise UserError("\n".join(["compile: fullgraph=True, but", *script.reasons]))


__all__ = ["compile"]
