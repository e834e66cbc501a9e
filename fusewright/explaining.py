"""`fusewright.explain(fn, *args)` and `fusewright explain script.py`: what was compiled, why so, and how fast it is."""

from __future__ import annotations

import argparse
import json
import runpy
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch.export import ExportedProgram
from torch.fx import GraphModule
from torch.utils._pytree import tree_leaves, tree_map

from . import exporting, scripting
from .backend import fusewright
from .core.counters import counters
from .core.errors import UserError
from .core.modes import options_of
from .core.options import current, from_mapping, using
from .debug import dynamo, record
from .debug.report import Report, make
from .fused import Fused, FusedModule
from .run.program import Program
from .trace.fx import EXPLAINED


def explain(fn: Callable[..., Any], *args: Any, backward: bool | str = "auto", **kwargs: Any) -> Report:
    """Compile `fn`, run it once on these arguments, and report what became of it.

    `fn`: a function or module, what `torch.compile`, `fuse`, `torch.jit` or `aot_compile` made of one, a program of
    `torch.export`, or a `Definition`; each is compiled again in its own way. It really runs: what it prints or changes
    (buffers, a generator's state) happens. `backward`: whether to compile and run the backward pass of the sum of the
    results; "auto" does if any result requires grad. Gradients (`.grad`) stay as they are. Functions that were compiled
    before keep what was compiled; the explained run shares nothing with them. `args`, `kwargs` are handed to `fn`.

    Errors of `fn` are raised as they are. Raises UserError for a bad `backward`, and for what cannot be compiled again.
    """
    if backward not in (True, False, "auto"):
        raise UserError(f"backward must be True, False or 'auto', not {backward!r}")
    own = getattr(type(fn), "_fusewright_explain", None)
    if own is not None:
        report: Report = own(fn, *args, **kwargs)
        return report
    if isinstance(fn, (Program, ExportedProgram)):
        if backward is True:
            raise UserError(
                "backward=True, but the results of a program compiled ahead of time never require gradients"
            )
        return _explain_exported(fn, args, kwargs)
    scripted = scripting.original(fn)
    if scripted is not None:
        return _explain_scripted(scripted, args, kwargs, backward)
    if isinstance(fn, FusedModule) or isinstance(getattr(fn, "_fusewright", None), Fused):
        return _explain_fused(fn, args, kwargs, backward)
    if isinstance(fn, type) or not callable(fn):
        raise UserError(f"explain: a function or a module is needed, not {fn!r}")
    inner = dynamo.original(fn)
    theirs, arguments, dynamic = dynamo.given(fn) or (None, {}, None)
    options = from_mapping(options_of(arguments) if theirs is fusewright else {})

    def backend(gm: GraphModule, inputs: Sequence[Any]) -> Any:  # one that no other function was compiled with
        return fusewright(gm, inputs)

    args, kwargs = tree_map(_leaf, (args, kwargs))
    with using(options), record.recording(measure=True) as graphs, dynamo.undisturbed(), dynamo.observing() as facts:
        began = time.perf_counter()
        out = torch.compile(_own_code(inner), backend=backend, dynamic=dynamic)(*args, **kwargs)
        _backward(out, backward)
        seconds = time.perf_counter() - began
    return make(_title(inner), graphs, facts, {"total": seconds})


def _explain_scripted(fn: Any, args: Any, kwargs: Any, backward: bool | str) -> Report:
    """As `explain`, of what TorchScript made. What its fused functions leave out counts as graph breaks."""
    args, kwargs = tree_map(_leaf, (args, kwargs))
    with record.recording(measure=True) as graphs:
        began = time.perf_counter()
        fused = scripting.fuse_scripted(fn, False, {})
        _backward(fused(*args, **kwargs), backward)
        seconds = time.perf_counter() - began
    script = scripting.behind(fused)
    facts = dynamo.Facts(breaks=[dynamo.Break(where, why) for where, why in script.breaks])
    return make(script.title, graphs, facts, {"total": seconds})


def _explain_fused(fn: Any, args: Any, kwargs: Any, backward: bool | str) -> Report:
    """As `explain`, of what `fuse` made: traced again, without Dynamo."""
    bound = (fn.__self__,) if isinstance(fn, types.MethodType) else ()
    args, kwargs = tree_map(_leaf, ((*bound, *args), kwargs))
    with record.recording(measure=True) as graphs:
        began = time.perf_counter()
        _backward((fn.again() if isinstance(fn, FusedModule) else fn._fusewright.again())(*args, **kwargs), backward)
        seconds = time.perf_counter() - began
    return make(_title(fn._plain if isinstance(fn, FusedModule) else fn), graphs, dynamo.Facts(), {"total": seconds})


def _explain_exported(program: Program | ExportedProgram, args: Any, kwargs: Any) -> Report:
    """As `explain`, of a program that is compiled ahead of time."""
    if isinstance(program, ExportedProgram):
        compiled, title = exporting.prepared(program, current()), type(program).__name__
    else:
        compiled, title = program.about.origin, type(program).__name__
        if not isinstance(compiled, exporting.Compiled):
            raise UserError(
                f"the program was loaded from {compiled}, and a file does not keep what was compiled: explain the "
                f"exported program, fusewright.explain(exported, ...), or look into the file, fusewright aot info "
                f"{compiled}"
            )
    with record.recording(measure=True) as graphs:
        began = time.perf_counter()
        compiled.program()(*args, **kwargs)
        seconds = time.perf_counter() - began
    return make(title, graphs, dynamo.Facts(), {"total": seconds})


def _own_code(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls `fn`, with a code object that nothing else has: Dynamo keeps what it compiles by code."""

    def explained(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return types.FunctionType(
        explained.__code__.replace(co_name=EXPLAINED), explained.__globals__, "explained", None, explained.__closure__
    )


def _leaf(x: Any) -> Any:
    """An argument that the user's own graph computed becomes a leaf: our backward pass must not go through that."""
    if isinstance(x, torch.Tensor) and x.requires_grad and not x.is_leaf:
        return x.detach().requires_grad_()
    return x


def _backward(out: Any, wanted: bool | str) -> None:
    """Run the backward pass of the sum of all results, without touching `.grad`."""
    tensors = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad]
    if wanted is False or (wanted == "auto" and not tensors):
        return
    if not tensors:
        raise UserError("backward=True, but no result requires grad")
    leaves = _leaves(tensors)
    if not leaves:
        return
    try:
        torch.autograd.grad(tensors, leaves, [torch.ones_like(t) for t in tensors], allow_unused=True)
    except RuntimeError as e:
        if wanted is True or "through the graph a second time" not in str(e):  # the program has done it itself
            raise


def _leaves(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors whose `.grad` a backward pass would add to."""
    found: dict[int, torch.Tensor] = {}
    seen: set[Any] = set()
    stack: list[Any] = [t.grad_fn for t in tensors]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, torch.Tensor):
            found[id(leaf)] = leaf
        stack += [n for n, _ in node.next_functions]
    return list(found.values())


def _title(fn: Any) -> str:
    return str(getattr(fn, "__qualname__", None) or type(fn).__name__)


# --- scripts -----------------------------------------------------------------------------------------


def add_script(parser: argparse.ArgumentParser) -> None:
    """The positional arguments of commands that run a script."""
    parser.add_argument("script", help="a Python file, run as `python script.py` would")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")


def run_script(script: str, arguments: Sequence[str]) -> int:
    """Run a script as the main program and return its exit code; a traceback is printed, and 1 returned.

    Raises UserError if there is no such file.
    """
    path = Path(script)
    if not path.is_file():
        raise UserError(f"no such script: {script}")
    with _as_main(path, arguments):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as e:
            if e.code is None or isinstance(e.code, int):
                return e.code or 0
            print(e.code, file=sys.stderr)
            return 1
        except Exception:
            traceback.print_exc()
            return 1
    return 0


@contextmanager
def _as_main(path: Path, arguments: Sequence[str]) -> Iterator[None]:
    before = sys.argv, sys.path[:]
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before


def loaded(console: Console) -> None:
    """Say that there are programs whose kernels nobody looks at."""
    n = counters()["programs_loaded"]
    if n:
        console.print(
            f"not seen: the kernels of {n} saved programs (aot_load); fusewright aot info tells what is in them"
        )


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        "fusewright explain", description="Run a script and report what its torch.compile calls became."
    )
    parser.add_argument("--html", metavar="PATH", help="write the report as one self-contained page")
    parser.add_argument("--json", metavar="PATH", help="write the report as JSON")
    parser.add_argument("--kernel", metavar="NAME", help="print this kernel in full: schedule, algorithm, source")
    add_script(parser)
    parsed = parser.parse_args(argv)
    with record.recording(measure=True) as graphs, dynamo.observing() as facts:
        began = time.perf_counter()
        code = run_script(parsed.script, parsed.arguments)
        seconds = time.perf_counter() - began
    report = make(Path(parsed.script).name, graphs, facts, {"total": seconds})
    console = Console() if sys.stdout.isatty() else Console(width=180)
    if not graphs:
        console.print("nothing was compiled with backend='fusewright'")
    loaded(console)
    console.print(report.kernel(parsed.kernel) if parsed.kernel else report)
    if parsed.html:
        report.to_html(parsed.html)
    if parsed.json:
        try:
            Path(parsed.json).write_text(json.dumps(report.to_dict(), indent=1), encoding="utf-8")
        except OSError as e:
            raise UserError(f"cannot write {parsed.json}: {e.strerror or e}") from e
    return code


__all__ = ["add_script", "explain", "main", "run_script"]
