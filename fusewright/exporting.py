"""`fusewright.aot_compile`, `aot_save` and `aot_load`: programs of `torch.export`, compiled ahead of time.

    program = torch.export.export(model, (x,), dynamic_shapes={"x": {0: Dim("batch", max=512)}})
    compiled = fusewright.aot_compile(program)          # a module: compiled(x)
    fusewright.aot_save(compiled, "model.fwp")
    # in another process, without any compiler
    model = fusewright.aot_load("model.fwp")

docs/aot.md says what is in a file and which machines run it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph

from .backend import _replace_random, decompositions, rewrites
from .core.errors import FusewrightError, UserError
from .core.lazy import lazy_import
from .core.options import Options, from_mapping, using
from .debug import record
from .debug.dump import About as Of
from .debug.dump import show, timeline
from .fallback import fail
from .pipeline import compile_graph
from .run.overlaps import ASKED
from .run.plan import Plan
from .run.program import About, Program
from .trace import executors
from .trace.exported import Exported, prepare
from .trace.fx import translate
from .trace.lowering import check_operators
from .trace.written_parts import parts_written, write_parts

if TYPE_CHECKING:
    from .run import eager_states
    from .trace import claim_patterns, claims
else:  # option rng="eager"; registered executors
    eager_states = lazy_import("fusewright.run.eager_states")
    claim_patterns = lazy_import("fusewright.trace.claim_patterns")
    claims = lazy_import("fusewright.trace.claims")

_serial = itertools.count()


@dataclass(slots=True)
class Compiled:
    """What `aot_compile` knows of a program: enough to compile it for other machines, with the same executors."""

    exported: Exported
    options: Options
    name: str
    order: executors.Order

    def plan(self) -> Plan:
        """The plan for the machine that kernels are made for now, under the program's options."""
        o = self.options
        with using(o), timeline(Of(self.name)):
            try:
                parts = o.inplace and parts_written(self.exported.module.graph)
                module: Any = claims.Copied(self.exported.module) if self.order or parts else self.exported.module
                module.meta[ASKED] = True  # by the program's entry, of the caller's arguments
                if parts:
                    write_parts(module.graph)
                traced = translate(module, o.precision == "eager", o.rng, o.disable, o.fma, self.order)
                if self.order.patterns():
                    claim_patterns.claim_patterns(traced, self.order)
                return compile_graph(traced, self.name)
            except FusewrightError:
                raise
            except Exception as e:
                fail(e, "compile an exported program")

    def program(self) -> Program:
        """The program, compiled for this machine."""
        with using(self.options):
            plan = self.plan()
            with record.stage("plan", self.name):
                run = plan.callable()
            show("plan", Of(self.name), lambda: plan.source)
        e = self.exported
        return Program(About(e.convention, plan.source, origin=self, held=e.held), run)


def aot_compile(
    program: Any,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    **options: Any,
) -> Program:
    """Compile a program of `torch.export` for this machine: a module that is called as the exported one.

    program: an `ExportedProgram`, or a module, which is exported with `args`, `kwargs` and `dynamic_shapes`.
    options: Fusewright's options by name (`precision="eager"`, `rng="eager"`).

    Parameters and buffers are those of the program, shared. Raises UserError for programs that cannot be compiled by
    themselves, CompilerError when compiling fails.
    """
    chosen = from_mapping(options)
    if isinstance(program, Program):
        raise UserError("aot_compile: the program is compiled already")
    with using(chosen):
        return prepared(_exported(program, args, kwargs, dynamic_shapes, "aot_compile"), chosen).program()


def _exported(program: Any, args: Any, kwargs: Any, dynamic_shapes: Any, what: str) -> ExportedProgram:
    if isinstance(program, ExportedProgram):
        if args is not None or kwargs is not None or dynamic_shapes is not None:
            raise UserError(f"{what}: example arguments are for modules; the program has been exported with its own")
        return program
    if not isinstance(program, torch.nn.Module):
        raise UserError(f"{what}: an ExportedProgram or a module is needed, not a {type(program).__name__}")
    if args is None:
        raise UserError(f"{what}: a module needs example arguments to be exported with, args=(...)")
    if isinstance(args, (list, dict)):
        raise UserError(f"{what}: args must be a tuple of example arguments, not a {type(args).__name__}")
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise UserError(f"{what}: kwargs must be a dictionary of example arguments, not {kwargs!r}")
    given = args if isinstance(args, tuple) else (args,)
    return torch.export.export(program, given, dict(kwargs or {}), dynamic_shapes=dynamic_shapes)


def devices_of(graph: Graph) -> list[torch.device]:
    """Where a graph's tensors are."""
    vals = [n.meta.get("val") for n in graph.nodes]
    tensors = [t for v in vals for t in (v if isinstance(v, (list, tuple)) else [v])]
    return sorted({t.device for t in tensors if isinstance(t, torch.Tensor)}, key=str)


def prepared(program: ExportedProgram, options: Options) -> Compiled:
    """A program, ready to be compiled under `options`. Raises UserError, CompilerError."""
    check_operators(options.disable)
    try:
        exported = prepare(program, decompositions(options))
    except FusewrightError:
        raise
    except Exception as e:
        fail(e, "take an exported program apart")
    _replace_random(options.rng, exported.module)
    for n in exported.module.graph.nodes:
        if str(n.target) == "fusewright.eager_states.default":
            n.update_arg(5, eager_states.Blocks(n.args[5], n.args[6]))
    for rewrite in rewrites(options).values():
        rewrite(exported.module)
    return Compiled(exported, options, f"export{next(_serial)}", executors.order(options))


__all__ = ["Compiled", "aot_compile", "devices_of", "prepared"]
