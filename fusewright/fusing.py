"""`@fusewright.fuse` and `fusewright.memory_efficient_fusion`: plain PyTorch in, fused kernels out, without Dynamo.

    @fusewright.fuse
    def rms_norm(x, weight, eps=1e-6):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight

How such a function is traced and called is in `fused.py`; what `torch.jit.script` made is fused by `scripting.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch

from .core.errors import UserError, flag
from .core.lazy import lazy_import
from .core.options import from_mapping
from .fused import Fused, FusedModule
from .trace import frames

if TYPE_CHECKING:
    from . import scripting
else:
    scripting = lazy_import("fusewright.scripting")

_SCRIPTED = (torch.jit.ScriptFunction, torch.jit.ScriptModule, torch._C.ScriptMethod)


def fuse(
    fn: Any = None,
    *,
    specialize: Iterable[str] | str | bool = (),
    dynamic: bool = True,
    rng: str | None = None,
    precision: str | None = None,
    autotune: Any = None,
    cuda_graphs: bool | None = None,
) -> Any:
    """Fuse a function of tensors, or a module; as a decorator, with or without arguments.

    The function is traced when a signature is first seen: element types, devices, ranks, orders of strides, which
    extents are 0 or 1, which tensors require gradients, the values of arguments that are not tensors or integers, and
    the default device. Every other size reuses the trace, unless Python conditions on sizes turn out otherwise, and
    every grad mode, unless the function asks (`torch.is_grad_enabled()`) or there are gradients to record. Python
    code in it runs while it is traced only, which may take several runs (sizes found to be multiples are traced again
    as such), and values that are no arguments (globals, attributes of modules and objects) are read then, and are
    conditions of the trace. Tensors are read in each call if modules or objects among the arguments hold them, in
    attributes or containers, or if they are tables that the function has made of constants and kept; others that are no
    arguments are an error. It sees a tensor of its own for each argument: `x is y` is False for one that is given
    twice. If it asks where a tensor lies in memory or what autograd noted about an argument (`storage_offset()`,
    `is_leaf`, ...), turns a tensor into text (that of a size is a condition of the trace), assigns to a tensor (`data`,
    `grad`, an attribute), or seeds, saves or holds a generator of random numbers, the plain function runs. A size is an
    instance of `int`, and an argument one of `Parameter` if it is one, but their `type` is another.

    specialize: names of parameters (or True: all) whose sizes and integers are fixed in a trace instead of symbolic,
        for Python control flow that depends on them.
    dynamic: False is specialize=True.
    rng, precision, autotune, cuda_graphs: options of these names, for this function.

    Under transforms of `torch.func`, forward-mode differentiation, tensor subclasses, active torch function modes
    (other than a default device) or dispatch modes and inside `torch.compile`, the plain function runs. Raises
    UserError for control flow that a trace cannot follow, naming the line. What `torch.compile` has made is fused in
    its place.
    """
    given = {"rng": rng, "precision": precision, "autotune": autotune, "cuda_graphs": cuda_graphs}
    overrides = {k: v for k, v in given.items() if v is not None}
    from_mapping(overrides)  # raises UserError for what it does not know
    flag("fuse", dynamic=dynamic)
    how = specialize if dynamic else True

    def decorate(f: Any) -> Any:
        f = _inside(f)
        if isinstance(f, _SCRIPTED):
            return scripting.fuse_scripted(f, how, overrides)
        if isinstance(f, torch.nn.Module):
            return FusedModule(f, how, overrides)
        if isinstance(f, type) or not callable(f):
            raise UserError(f"fuse: a function or a module is needed, not {f!r}")
        return Fused(f, how, overrides).call

    return decorate if fn is None else decorate(fn)


def _inside(f: Any) -> Any:
    """What `torch.compile` was given, if `f` is what it made: one of the two compiles."""
    if isinstance(f, torch.nn.Module):
        return f._orig_mod if type(f).__name__ == "OptimizedModule" else f
    mine = inspect.getattr_static(f, "_torchdynamo_wrapper_id", id(f)) == id(f)  # else `functools.wraps` has copied it
    return inspect.getattr_static(f, "_torchdynamo_orig_callable", f) if mine else f


def memory_efficient_fusion(
    fn: Any, fw_compiler: Any = None, static_argnums: Iterable[int] | None = None, **kwargs: Any
) -> Any:
    """functorch's `memory_efficient_fusion`: fuse a function or module, recomputing in the backward pass.

    static_argnums: positions of arguments whose values and sizes are fixed in a trace. fw_compiler and the other
    settings of functorch choose a compiler there; here they must be None.
    """
    for name, value in {"fw_compiler": fw_compiler, **kwargs}.items():
        if value is not None:
            raise UserError(f"memory_efficient_fusion: {name} cannot be chosen, the compiler is Fusewright's own")
    names: tuple[str, ...] = ()
    if static_argnums is not None:
        target = fn.forward if isinstance(fn, torch.nn.Module) else fn
        try:
            parameters = list(inspect.signature(target).parameters)
        except ValueError:
            raise UserError(f"static_argnums: {target!r} does not say which parameters it has") from None
        numbers = list(static_argnums) if isinstance(static_argnums, Iterable) else [static_argnums]
        if not all(isinstance(k, int) and not isinstance(k, bool) for k in numbers):
            raise UserError(f"static_argnums: positions of parameters are needed, not {static_argnums!r}")
        if any(not -len(parameters) <= k < len(parameters) for k in numbers):
            raise UserError(f"static_argnums: {numbers} for {len(parameters)} parameters")
        names = tuple(parameters[k] for k in numbers)
    return fuse(fn, specialize=names)


frames.leave_alone(__file__)  # Dynamo fails on `getattr_static`

__all__ = ["Fused", "FusedModule", "fuse", "memory_efficient_fusion"]
