"""TorchScript in, fused kernels out: scripted and traced functions and modules, as they are.

    fused = fusewright.fuse(torch.jit.script(fn))          # or a ScriptModule; parameters and buffers stay shared
    with fusewright.fuser():                               # whatever is scripted and called in here runs fused
        model(x)

A graph is read (`trace/torchscript_read.py`), divided into regions that a trace can follow (`torchscript_regions.py`),
and written as Python (`torchscript_source.py`): the regions are fused functions (`fused.py`), and what lies between
them, with the control flow on values, runs in Python. Two things are learned: an operation that turns out not to be
traceable is taken out of its region, and a float that keeps changing, for which each value would need a trace, no
longer enters one. What cannot be converted runs as scripted. `reasons` says all of that.
"""

from __future__ import annotations

import builtins
import functools
import re
import threading
import traceback
import types
import weakref
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import torch

from .core.counters import count
from .core.errors import Refusal, UserError, flag
from .core.log import LOG
from .core.options import Options, current, from_mapping, options
from .core.warn import warn
from .fused import Fused, FusedModule
from .trace import frames, torchscript_inside
from .trace.torchscript import Op, Var
from .trace.torchscript_read import read
from .trace.torchscript_regions import LEAST, Region, Split, changed_inputs, own_tensors, split
from .trace.torchscript_source import Source, holders, write_driver, write_region
from .trace.torchscript_types import UNKNOWN, convert, copied, fits, test

SCRIPTED = (torch.jit.ScriptFunction, torch.jit.ScriptModule, torch._C.ScriptMethod)

CHANGING = 8  # values of a float after which it is no part of signatures any more

_call_function: Callable[..., Any] = torch.jit.ScriptFunction.__call__
_call_method: Callable[..., Any] = torch._C.ScriptMethod.__call__
_tracing_state: Callable[[], Any] = torch._C._get_tracing_state


class _RegionFused(Fused):
    """The fused function of a region. What a trace cannot follow is taken out of the region, and is no error."""

    strict = False

    def __init__(self, owner: Script, region: Region, fn: Callable[..., Any], source: Source, specialize: Any):
        super().__init__(fn, specialize, owner.overrides)
        self.owner, self.ops, self.inputs = weakref.ref(owner), source.ops, region.inputs
        self.tensors = [k for k, v in enumerate(region.inputs) if v.type == "Tensor"]
        self.floats: dict[int, set[str]] = {k: set() for k, v in enumerate(region.inputs) if v.kind == "float"}

    def slow(self, *values: Any) -> Any:
        if not all(isinstance(values[k], torch.Tensor) for k in self.tensors):
            return self.plain(*values)  # scripted, it says what is wrong
        for k, seen in self.floats.items():
            if len(seen) <= CHANGING:
                seen.add(repr(values[k]))
            owner = self.owner()
            if len(seen) > CHANGING and owner is not None and owner.loosen(self.inputs[k]):
                return self.plain(*values)
        return super().slow(*values)

    def failed(self, key: Any, e: Exception, options: Options) -> None:
        owner, op = self.owner(), self.culprit(e)
        if owner is not None and op is not None and owner.demote(op, f"cannot be traced: {_first_line(e)}"):
            self.declined.add(key)
            return
        if owner is not None:
            owner.notes[f"{self.title} runs unfused for some arguments: {_first_line(e)}"] = None
        super().failed(key, e, options)

    def culprit(self, e: BaseException | None) -> Op | None:
        """The operation in whose line an exception was raised while the region was traced."""
        found: Op | None = None
        code, seen = self.fn.__code__, set()
        while e is not None and found is None and id(e) not in seen:
            seen.add(id(e))  # chains of exceptions may be circular
            for frame, line in traceback.walk_tb(e.__traceback__):
                if frame.f_code is code:
                    found = self.ops.get(line)
            e = e.__cause__ or e.__context__
        return found


class Script:
    """A scripted function or method: its program, regions, and the Python function that runs them (`call`).

    `scripted` runs it as it is. `reasons`: why it runs so (then there is nothing else), or what is not fused.
    """

    def __init__(self, target: Any, scripted: Callable[..., Any], specialize: Any = (), overrides: Any = None):
        self.overrides: dict[str, Any] = overrides or {}
        self.least = 1 if from_mapping(self.overrides).single_op_groups else LEAST
        self.scripted = scripted
        self.title = str(target.name)
        self.module: Any = target.owner if isinstance(target, torch._C.ScriptMethod) else None
        self.demoted: dict[Op, str] = {}
        self.notes: dict[str, None] = {}
        self.loose: set[Var] = set()
        self.made: dict[tuple[Op | None, ...], Any] = {}  # regions, those of earlier divisions too
        self.getters: dict[tuple[str, ...], str] = {}
        self.lock = threading.RLock()
        self.refused = ""
        self.source = Source()
        self.scope: dict[str, Any] = {"__builtins__": builtins}
        self.call = self._driver("*args, **kwargs", ["    return _scripted(*args, **kwargs)"], {"_scripted": scripted})
        try:
            self.schema = target.schema
            self.program = read(target.graph, self.title, self.schema, self.module)
            self.fixed = self._fixed(specialize)
            self.build()
        except UserError:
            raise
        except Exception as e:  # torch's own passes, and programs that we do not know, may fail in any way
            self.refused = str(e) if isinstance(e, Refusal) else f"{type(e).__name__}: {_first_line(e)}"
            count("scripts_declined")
            LOG.info("%s runs as scripted: %s", self.title, self.refused)
        else:
            count("scripts_converted")
        self.call.__dict__["_fusewright"] = self

    def _fixed(self, specialize: Any) -> frozenset[str] | bool:
        if isinstance(specialize, bool):
            return True if specialize else frozenset()
        names = frozenset([specialize] if isinstance(specialize, str) else specialize)
        for name in sorted(names):
            if name not in self.program.names:
                known = ", ".join(self.program.names) or "none"
                raise UserError(f"specialize: {self.title} has no parameter '{name}', only {known}")
        return names

    @property
    def reasons(self) -> list[str]:
        """Why it runs as scripted, or what is left out of its regions, with the user's lines."""
        return [f"{where}: {why}" if where else why for where, why in self.breaks]

    @property
    def breaks(self) -> list[tuple[str, str]]:
        """`reasons` as pairs of the user's line ("" if it is about all of it) and the reason."""
        if self.refused:
            return [("", f"{self.title} runs as scripted: {self.refused}")]
        out = [(_line(op), f"{op.name} {why}") for op, why in self.split.reasons.items()]
        return list(dict.fromkeys([*out, *(("", note) for note in self.notes)]))

    # --- source ---
    def build(self) -> None:
        """Divide the program and put its driver in place. Called again when an operation turns out untraceable."""
        self.split: Split = split(self.program, self.demoted, self.least, self.fixed, self.loose)
        whole = self._only()
        names: dict[Region, str] = {}
        scope: dict[str, Any] = {}
        for r in self.split.regions:
            names[r], scope = (made := self._region(r, r is whole))[0], {**scope, made[0]: made[1]}
        head, globals_ = self._head({v.name for v in whole.inputs} if whole else set())
        parameters = ", ".join(n if n not in self.program.defaults else f"{n}=None" for n in self.program.names)
        source = write_driver(self.split, self.program.body, head, names, "forward", parameters)
        scope.update({**source.scope, **globals_})
        scope.update({name: functools.partial(self._module_at, path) for name, path in holders(source).items()})
        if clash := (scope.keys() | source.called()) & self.program.names.keys():
            raise Refusal("name", f"a parameter is called {', '.join(sorted(clash))}")
        self.source = source
        made_driver = self._driver(parameters, source.lines[1:], scope)
        self.bind()
        self.call.__defaults__ = tuple(self.program.defaults.values()) or None
        self.call.__code__ = made_driver.__code__

    def _driver(self, parameters: str, lines: list[str], scope: dict[str, Any]) -> types.FunctionType:
        """A function with `self.scope` as its globals, to which `scope` is added."""
        self.scope.update(scope)
        text = "\n".join([f"def forward({parameters}):", *lines, ""])
        made: dict[str, Any] = {}
        exec(compile(text, frames.name(f"script {self.title}"), "exec"), made)
        call = types.FunctionType(made["forward"].__code__, self.scope, self.title)
        call.__qualname__ = self.title  # in errors of a wrong number of arguments
        return call

    @property
    def whole(self) -> bool:
        """Whether it is one fused function."""
        return not self.refused and self._only() is not None

    def _only(self) -> Region | None:
        """The region that is the whole program, if one is."""
        pieces = self.split.pieces[self.program.body]
        only = pieces[0] if len(pieces) == 1 and isinstance(pieces[0], Region) else None
        return only if only and not only.early and not only.late and only.outputs == self.program.body.results else None

    def _region(self, r: Region, whole: bool) -> tuple[str, Any]:
        key = (*r.first, *r.ops, *(None,) * whole)
        if key not in self.made:
            name = f"_{''.join(c if c.isalnum() else '_' for c in self.title)}_{len(self.made)}"
            source = write_region(r, name)
            source.scope[frames.LINES] = {line: op.where for line, op in source.ops.items() if op.where[0]}
            exec(compile(source.text(), frames.name(f"script {name}"), "exec"), source.scope)
            fixed = self.fixed
            if not isinstance(fixed, bool):
                mine = {self.program.names[n] for n in fixed} | {v.name for v in own_tensors(self.program)}
                fixed = frozenset(v.name for v in r.inputs if v.name in mine)
            fused = _RegionFused(self, r, source.scope[name], source, fixed)
            params = self.program.body.params
            if whole and all(p in r.inputs for p in params):
                where, scripted = [r.inputs.index(p) for p in params], self.scripted
                fused.plain = lambda *values: scripted(*(values[k] for k in where))
            self.made[key] = name, fused.call
        return self.made[key]

    def _head(self, checked: set[str]) -> tuple[list[str], dict[str, Any]]:
        """The lines before the program, and their globals. `checked`: tensors that a region asks whether they are."""
        p = self.program
        arguments = list(self.schema.arguments)[self.module is not None :]
        annotations = [(a.name, a.type.annotation_str) for a in arguments]
        everything = ", ".join(p.names)
        lines = [f"if _tracing() is not None: return _scripted({everything})"]
        scope: dict[str, Any] = {"_tracing": _tracing_state, "_scripted": self.scripted}
        scope |= {"_fits": fits, "_copied": copied}
        asked = {n for n, v in p.names.items() if v in checked}
        tests = [t for n, kind in annotations if not (kind == "Tensor" and n in asked) and (t := test(kind, n))]
        if tests:
            scope["_converted"] = functools.partial(_converted, [kind for _, kind in annotations])
            lines += [
                f"if not ({' and '.join(tests)}):",
                f"    _given = _converted({everything})",
                f"    if _given is None: return _scripted({everything})",
                f"    {everything}, = _given",
            ]
        lines += [f"{var} = {name}" for name, var in p.names.items() if name != var]
        changed, attributes = changed_inputs(p)
        if attributes:
            raise Refusal("attribute", f"it changes a list or dictionary that is an attribute, {attributes[0].name}")
        lines += [f"{v.name} = _copied({v.name})" for v in changed]
        if any(path for path, _ in p.attributes):
            _watch_modules()
            scope.update({"_modules": _modules, "_bind": self.bind})
            lines.append("if _modules[0] != _bound: _bind()")
        paths = enumerate(dict.fromkeys(path for path, _ in p.attributes))  # `a.b_c` and `a_b.c` are two
        self.getters = {path: re.sub(r"\W", "_", f"_get{k}_{'_'.join(path)}") for k, path in paths}
        lines += [f"{v.name} = {self.getters[path]}({name!r})" for (path, name), v in p.attributes.items()]
        return lines, scope

    def bind(self) -> None:
        """Look the modules up whose attributes are read. Needed again when a submodule has been replaced."""
        self.scope["_bound"] = _modules[0]
        for path, name in self.getters.items():
            self.scope[name] = self._module_at(path).getattr

    def _module_at(self, path: tuple[str, ...]) -> Any:
        out = self.module
        for name in path:
            out = out.getattr(name)
        return out

    def demote(self, op: Op, why: str) -> bool:
        """Take an operation out of its region; False if that has been done."""
        with self.lock:
            if op in self.demoted:
                return False
            self.demoted[op] = why
            return self.divided()

    def loosen(self, v: Var) -> bool:
        """Keep a float that changes from call to call out of the traces; False if that has been done."""
        with self.lock:
            if v in self.loose:
                return False
            self.loose.add(v)
            self.notes[f"{v.name} changes from call to call"] = None
            return self.divided()

    def divided(self) -> bool:
        """Divide the program again; False if that fails, and all stays as it was."""
        try:
            self.build()
        except Exception as e:
            LOG.info("%s cannot be divided again: %s", self.title, e)
            return False
        return True


_make: Callable[..., Script] = torch._dynamo.disable(Script)  # type: ignore[no-untyped-call]


def _converted(kinds: list[str], *values: Any) -> list[Any] | None:
    """Arguments as TorchScript would convert them; None if it has to."""
    out = [convert(kind, x) for kind, x in zip(kinds, values, strict=True)]
    return None if any(x is UNKNOWN for x in out) else out


_modules = [0]  # how often a submodule of a scripted module has been replaced


@functools.cache
def _watch_modules() -> None:
    """Notice when a scripted module gets another submodule: drivers hold on to those they know."""
    holder: Any = torch.jit._script.OrderedModuleDict
    assign = holder.__setitem__

    @functools.wraps(assign)
    def noted(self: Any, name: str, module: Any) -> None:
        assign(self, name, module)
        _modules[0] += 1

    holder.__setitem__ = noted


def _first_line(e: BaseException) -> str:
    return next((line.strip() for line in str(e).splitlines() if line.strip()), type(e).__name__)


def _line(op: Op) -> str:
    file, line, source = op.where
    return f"{file}:{line}{f' ({source})' if source else ''}" if file else "unknown line"


def original(x: Any) -> Any:
    """What was scripted, if `x` is that, or what `fuse` made of it; None if it is something else."""
    if isinstance(x, ScriptedModule):
        return x._plain
    found = x.__wrapped__ if isinstance(getattr(x, "_fusewright", None), Script) else x
    return found if isinstance(found, SCRIPTED) else None


def behind(fused: Any) -> Script:
    """The `Script` of what `fuse_scripted` has made."""
    call: Any = fused._call if isinstance(fused, ScriptedModule) else fused
    script: Script = call._fusewright
    return script


# --- fuse --------------------------------------------------------------------------------------------


def fuse_scripted(x: Any, specialize: Iterable[str] | str | bool, overrides: dict[str, Any]) -> Any:
    """`fusewright.fuse` for what `torch.jit.script` and `torch.jit.trace` make.

    A module gives a module that shares everything with it; a function, or a method, a function. What cannot be
    converted runs as scripted, with a warning that says why.
    """
    if isinstance(x, torch.jit.ScriptModule):
        return ScriptedModule(x, specialize, overrides)
    run = _call_function if isinstance(x, torch.jit.ScriptFunction) else _call_method
    script = _make(x, functools.partial(run, x), specialize, overrides)
    if script.refused:
        _warn(script)
    call: Any = script.call
    call.__wrapped__ = x
    call.__doc__ = x.__doc__ if isinstance(x, torch.jit.ScriptFunction) else None
    call.__module__ = getattr(x, "__module__", None)
    for name in ("graph", "schema", "save", "save_to_buffer", "qualified_name"):
        if hasattr(x, name):
            setattr(call, name, getattr(x, name))
    original = getattr(x, "_torchdynamo_inline", None)
    if original is not None:
        call._torchdynamo_inline = original
    return call


class ScriptedModule(FusedModule):
    """A scripted module whose methods run fused; parameters, buffers, submodules and hooks are shared with it."""

    def _make(self, module: Any, specialize: Any, overrides: dict[str, Any]) -> Callable[..., Any]:
        self.__dict__["_methods"] = {}
        if not hasattr(module, "forward"):  # only methods that are exported
            return functools.partial(torch.nn.modules.module._forward_unimplemented, self)
        call: Any = self._method("forward", module.forward)
        self.__dict__["_inside"] = torchscript_inside.Attributes(call._fusewright)
        return call

    def _method(self, name: str, method: Any) -> Callable[..., Any]:
        methods = self.__dict__["_methods"]
        if name not in methods:
            script = _make(method, functools.partial(_call_method, method), *self._given)
            if script.refused:
                _warn(script)
            methods[name] = script.call
        call: Callable[..., Any] = methods[name]
        return call

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    forward._torchdynamo_inline = torchscript_inside.forward  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        return self._method(name, value) if isinstance(value, torch._C.ScriptMethod) else value


def _warn(script: Script) -> None:
    warn(f"Fusewright: {script.reasons[0]}")


# --- fuser -------------------------------------------------------------------------------------------

_active: ContextVar[bool] = ContextVar("fusewright_fuser", default=False)
_entered: ContextVar[tuple[tuple[bool, options], ...]] = ContextVar("fusewright_fusers", default=())
_known: weakref.WeakKeyDictionary[Any, dict[bool, Script]] = weakref.WeakKeyDictionary()
_converting = threading.RLock()
_lock = threading.Lock()
_blocks = 0  # how many are open, in all threads


class fuser:
    """Run scripted functions and modules that are called in a block fused: `with fusewright.fuser():`.

    It takes the place of `torch.jit.fuser("fuser2")`. The block may be nested, and one object entered many times; it
    holds for the thread (or asyncio task) that enters it. Functions are converted when they are first called and kept
    for as long as they live. Under `torch.jit.trace` and inside `torch.compile`, they run as scripted.

    enabled: False turns it off within an outer block.
    changes: options for the block. Those of nvFuser's switches are `single_op_groups` (single nodes), `siblings`
        (horizontal fusion), `guards`, `fallback`, and `disable` for node kinds to skip, which may be written as
        TorchScript does ("aten::add"). Raises UserError for what is no option.
    """

    def __init__(self, *, enabled: bool = True, **changes: Any):
        if "disable" in changes:
            given = changes["disable"]
            names = [given] if isinstance(given, str) else given
            if isinstance(names, Iterable):  # else it is refused below
                changes["disable"] = [f"op:{n.replace('::', '.')}" if "::" in str(n) else n for n in names]
        flag("fuser", enabled=enabled)
        self.enabled, self.options = enabled, options(**changes)

    def __enter__(self) -> None:
        global _blocks
        with _lock:
            _blocks += 1
            if _blocks == 1:
                _patch(_function_call, _method_call)
        _entered.set((*_entered.get(), (_active.get(), self.options)))
        _active.set(self.enabled)
        self.options.__enter__()

    def __exit__(self, *exc_info: object) -> None:
        global _blocks
        self.options.__exit__(*exc_info)
        *rest, (before, _) = _entered.get()
        _entered.set(tuple(rest))
        _active.set(before)
        with _lock:
            _blocks -= 1
            if _blocks == 0:
                _patch(_call_function, _call_method)

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return fn(*args, **kwargs)

        return inside


def _patch(function: Any, method: Any) -> None:
    classes: Any = torch.jit.ScriptFunction, torch._C.ScriptMethod
    for cls, call in zip(classes, (function, method), strict=True):
        cls.__call__ = call


def _function_call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    if _active.get() and _tracing_state() is None and not torch.compiler.is_compiling():
        return _script_of(self, _call_function)(*args, **kwargs)
    return _call_function(self, *args, **kwargs)


def _method_call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
    if _active.get() and _tracing_state() is None and not torch.compiler.is_compiling():
        return _script_of(self, _call_method)(*args, **kwargs)
    return _call_method(self, *args, **kwargs)


def _script_of(target: Any, run: Callable[..., Any]) -> Callable[..., Any]:
    """The converted function of a scripted one, which it does not keep alive."""
    single = current().single_op_groups
    found = _known.get(target)
    script = None if found is None else found.get(single)
    if script is None:
        itself = weakref.ref(target)
        with _converting:
            mine = _known.setdefault(target, {})
            if single not in mine:
                mine[single] = _make(target, lambda *args, **kwargs: run(itself(), *args, **kwargs))
            script = mine[single]
    return script.call


frames.leave_alone(__file__)

__all__ = ["SCRIPTED", "Script", "ScriptedModule", "behind", "fuse_scripted", "fuser", "original"]
