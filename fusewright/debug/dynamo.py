"""What Dynamo knows about a compilation: frames, graph breaks, recompilations; and compiling without leaving traces.

Dynamo's own structures are private, so each is looked up by name when it is needed. Where a version of torch lacks
one, that part of a report is empty and `Facts.missing` says which and why.

    compile metrics          one record for each frame it compiled: name, line, guards, times, why it was compiled again
    graph_break_reasons      the reason and the user's stack of each break
    bytecode hooks           which code objects have entries of ours, so that they can be taken out again
    pgo._CODE_STATE          which sizes were seen, by line of code: what makes later compilations dynamic
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ..trace.fx import EXPLAINED

METRICS = 4096  # frames whose records are kept while we look on (Dynamo keeps the last 64)


@dataclass(frozen=True, slots=True)
class Frame:
    """One compilation of one Python frame.

    `id`: Dynamo's "frame/compilation"; `guards`: how many; `seconds`: of the whole compilation; `backend_seconds`: of
    that, in the backend; `recompiled`: the guard that failed, if the frame had been compiled before; `failure`: why
    Dynamo gave up on it, if it did.
    """

    id: str
    name: str
    where: str
    guards: int
    seconds: float
    backend_seconds: float
    recompiled: str
    failure: str
    started: float = 0.0  # seconds since the epoch; 0 if unknown


@dataclass(frozen=True, slots=True)
class Break:
    """A graph break: the user's line and the reason."""

    where: str
    reason: str


@dataclass(slots=True)
class Facts:
    """Frames in the order they were compiled, graph breaks, and what this version of torch does not tell."""

    frames: list[Frame] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def recompilations(self) -> list[Frame]:
        return [f for f in self.frames if f.recompiled]


def _find(path: str) -> Any:
    """`torch._dynamo.<path>`, or None."""
    module, _, name = f"torch._dynamo.{path}".rpartition(".")
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


@contextmanager
def observing() -> Iterator[Facts]:
    """Collect what Dynamo does in a block; the result is complete at its end."""
    facts = Facts()
    breaks = _find("utils.graph_break_reasons")
    metrics, limit = _find("utils.get_compilation_metrics"), _find("utils.set_compilation_metrics_limit")
    if not isinstance(breaks, list):
        facts.missing.append("graph breaks: this version of torch keeps no list of their reasons")
        breaks = []
    if metrics is None or limit is None:
        facts.missing.append("recompilations: this version of torch keeps no compile metrics")
    else:
        limit(METRICS)
    seen = {id(m) for m in metrics()} if metrics is not None else set()
    first = len(breaks)
    try:
        yield facts
    finally:
        facts.breaks += _breaks(breaks[first:])
        if metrics is not None:
            frames = [_frame(m) for m in metrics() if id(m) not in seen and not getattr(m, "is_runtime", False)]
            facts.frames += [f for f in frames if f.name]


def _breaks(reasons: list[Any]) -> list[Break]:
    """Dynamo notes a break for each graph it ends, and once more where it resumes: each line and reason once."""
    out: dict[Break, None] = {}
    for r in reasons:
        stack = list(getattr(r, "user_stack", None) or ())
        last = stack[-1] if stack else None
        where = "" if last is None else f"{last.filename}:{last.lineno}" + (f" ({last.line})" if last.line else "")
        out[Break(where, _first_lines(str(getattr(r, "reason", r))))] = None
    return list(out)


def _first_lines(text: str, most: int = 6) -> str:
    """The message without the long advice that follows it."""
    lines = [s.rstrip() for s in text.strip().splitlines() if s.strip()]
    return "\n".join(lines[:most])


def _frame(m: Any) -> Frame:
    def get(name: str, default: Any) -> Any:
        value = getattr(m, name, None)
        return default if value is None else value

    name = get("co_name", "")
    where = f"{m.co_filename}:{m.co_firstlineno}" if get("co_filename", "") else ""
    if EXPLAINED in name:  # the function around the user's
        name, where = "the explained function", ""
    reason = " ".join(get("recompile_reason", "").partition("User stack trace:")[0].split())
    if "BACKEND_MATCH" in reason:  # compiled before with another backend: no recompilation
        reason = ""
    return Frame(
        get("compile_id", ""),
        name,
        where,
        get("guard_count", 0),
        get("entire_frame_compile_time_s", 0.0),
        get("backend_compile_time_s", 0.0),
        reason,
        _first_lines(get("fail_reason", "") or ""),
        get("start_time_us", 0) * 1e-6,
    )


# --- compiling without leaving traces ---


def original(fn: Callable[..., Any]) -> Callable[..., Any]:
    """What was given to `torch.compile`, if `fn` is what it returned."""
    module = getattr(fn, "_orig_mod", None)
    if module is not None:
        return module
    innermost = _find("eval_frame.innermost_fn")
    return fn if innermost is None else innermost(fn)


def given(fn: Callable[..., Any]) -> tuple[Any, dict[str, Any], bool | None] | None:
    """(backend, its arguments, `dynamic`) that `torch.compile` was given for what it returned.

    None if `fn` is something else, or this version of torch keeps them elsewhere.
    """
    code, cells = getattr(fn, "__code__", None), getattr(fn, "__closure__", None) or ()
    held = dict(zip(code.co_freevars, cells, strict=False)) if code is not None else {}
    with suppress(AttributeError, ValueError):  # an empty cell
        context = fn.dynamo_ctx if hasattr(fn, "dynamo_ctx") else held["self"].cell_contents if "self" in held else None
        at = getattr(context, "callback", None)
        while at is not None:
            if hasattr(at, "compiler_fn") and hasattr(at, "kwargs") and hasattr(at, "dynamic"):
                return at.compiler_fn, dict(at.kwargs), at.dynamic
            at = getattr(at, "_torchdynamo_orig_backend", None)
    return None


@contextmanager
def undisturbed() -> Iterator[None]:
    """Compile in a block as in a new process, and leave other compiled functions, and Dynamo's counters, as they were.

    Restored: counters, the sizes seen so far (automatic dynamic shapes), the lists that `observing` reads. Entries that
    the block added to the caches of the user's own code (after a graph break) never match again and count for nothing.
    """
    with ExitStack() as undo:
        counters = _find("utils.counters")
        if counters is not None:
            undo.callback(_restore_counters, counters, {k: copy.copy(v) for k, v in counters.items()})
        breaks = _find("utils.graph_break_reasons")
        if isinstance(breaks, list):
            undo.callback(lambda n: breaks.__delitem__(slice(n, None)), len(breaks))
        with suppress(ImportError, AttributeError):
            pgo: Any = importlib.import_module("torch._dynamo.pgo")
            undo.callback(setattr, pgo, "_CODE_STATE", pgo._CODE_STATE)
            pgo._CODE_STATE = None
        register = _find("convert_frame.register_bytecode_hook")
        if register is not None:
            compiled: list[tuple[Any, Any]] = []
            handle = register(lambda code, new: compiled.append((code, new)))
            undo.callback(_remove_entries, compiled)
            undo.callback(handle.remove)
        yield


def _restore_counters(counters: Any, before: dict[str, Any]) -> None:
    counters.clear()
    counters.update(before)


def _remove_entries(compiled: list[tuple[Any, Any]]) -> None:
    """Take the entries whose code is one of ours out of the caches of the code objects they were made for."""
    entries_of, deleted = _find("eval_frame._debug_get_cache_entry_list"), _find("guards.DeletedGuardManagerWrapper")
    if entries_of is None or deleted is None:
        return
    mine = {id(new) for _, new in compiled}
    for code in {id(c): c for c, _ in compiled}.values():
        for entry in entries_of(code):
            state = getattr(entry.guard_manager, "extra_state", None)
            if id(entry.code) in mine and state is not None:
                gone = deleted("it belonged to fusewright.explain")
                gone.id_matched_objs = {"": _somebody}  # never those of a frame: not counted as a recompilation
                state.invalidate(entry, gone)


def _somebody() -> object:
    """Stands for a weak reference to an object that no frame holds."""
    return _somebody
