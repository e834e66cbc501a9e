"""A fused function or module: its traces, and the generated function that finds the one for a call.

The function is traced with symbolic sizes when a signature (`trace/signature.py`) is first seen, and compiled, forward
and backward, by the pipeline of the `torch.compile` backend. A call finds its plan in generated code
(`trace/launcher.py`): the function that callers get *is* that code, and its code object is replaced when a signature is
added.
"""

from __future__ import annotations

import copy
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch.nn.modules.lazy import LazyModuleMixin

from .backend import _compiler, decompositions, partition
from .core.counters import count
from .core.errors import FusewrightError, Refusal, UserError
from .core.options import Options, current, from_mapping, using
from .debug import record
from .fallback import raise_or_fall_back, traced_enough
from .run.internals import default_device, dispatch_modes, without_default_device
from .run.node import make_node
from .run.overlaps import apart
from .run.second import twice
from .trace import attributes, frames, questions
from .trace.absent import absent
from .trace.capture import Captured, capture
from .trace.failures import Foreign
from .trace.handed import as_given, is_wrapper
from .trace.launcher import SCOPE, Entry, block, condition, inlinable, integers, launcher, write
from .trace.lean import below_autograd, is_lean, node_shape
from .trace.second import second_of
from .trace.signature import HOOKS, Described, Layout, amp_state, describe, deterministic
from .trace.written_views import from_the_start, seen_again

ENTRIES = 16  # signatures that the generated code tries one after the other; the others are looked up by key
OPTIONS = 4  # entries of one trace in the generated code: for other options, grad modes, kinds of tensors
TRACES = 128  # signatures of one function, or as many that it cannot be traced for: new ones run as plain PyTorch then

_tracing = threading.RLock()  # AOTAutograd and the partitioner change state of their modules while they trace


class _Plan:
    """A compiled trace: the entry to run, and when (`holds`, of the flat integers)."""

    __slots__ = ("entries", "entry", "holds", "run")

    def __init__(self, entry: Entry):
        self.entry = entry
        c = entry.captured
        self.holds = condition(c.guards, len(c.symbols) + len(c.integers))
        self.run = launcher(entry)
        self.entries = 0  # in the generated code
        c.forward_graph = c.backward_graph = None  # type: ignore[assignment]


class Fused:
    """What is known about one fused function: its traces, and the generated function that finds them.

    `traced`, a function of all parameters by position, is what is traced; `plain` runs what a trace cannot serve.
    """

    entered = ""  # the parameter whose `forward` is traced: its hooks are run by whoever calls it
    of_module = False  # whether it is the `forward` of a `FusedModule`
    strict = True  # whether what a trace cannot follow is the user's error; else the plain function runs

    def __init__(self, fn: Callable[..., Any], specialize: Any, overrides: dict[str, Any]):
        self.fn = fn
        self.overrides = overrides
        self.plans: dict[Any, list[_Plan]] = {}
        self.declined: set[Any] = set()
        self.again_once: set[Any] = set()
        self.others: dict[Any, Callable[..., Any]] = {}
        self.blocks: list[list[str]] = []  # of the generated code, one for each entry
        self.source = ""
        self.traces = 0
        self.lock = threading.RLock()
        self._read_signature()
        if self.title == "forward" and self.names[:1] == ("self",):
            self.entered = "self"
        self.specialize = _names(specialize, self.names, self.title)
        self.scope: dict[str, Any] = {**SCOPE, "_slow": torch._dynamo.disable(self.slow)}
        exec(compile(write("call", self.head, self.names, []), frames.name(self.title), "exec"), self.scope)
        call: Any = self.scope["call"]
        functools.update_wrapper(call, fn)
        call.__defaults__, call.__kwdefaults__ = self.defaults
        call.__qualname__ = getattr(fn, "__qualname__", self.title)
        call._torchdynamo_inline = fn  # torch.compile traces the plain function
        call._fusewright = self
        self.call: Callable[..., Any] = call

    def _read_signature(self) -> None:
        """Parameters in order, the head of a `def` that takes them, and the call of the plain function."""
        self.title = getattr(self.fn, "__name__", type(self.fn).__name__)
        try:
            parameters = list(inspect.signature(self.fn).parameters.values())
        except (TypeError, ValueError):
            parameters = list(inspect.signature(lambda *args, **kwargs: None).parameters.values())
        head, give = [], []
        kinds = [p.kind for p in parameters]
        for k, p in enumerate(parameters):
            optional = "" if p.default is p.empty else "=None"
            if p.kind is p.VAR_POSITIONAL:
                head.append(f"*{p.name}")
                give.append(f"*{p.name}")
            elif p.kind is p.VAR_KEYWORD:
                head.append(f"**{p.name}")
                give.append(f"**{p.name}")
            elif p.kind is p.KEYWORD_ONLY:
                if p.VAR_POSITIONAL not in kinds and "*" not in head:
                    head.append("*")
                head.append(p.name + optional)
                give.append(f"{p.name}={p.name}")
            else:
                head.append(p.name + optional)
                give.append(p.name)
                last = k + 1 == len(parameters) or kinds[k + 1] is not p.POSITIONAL_ONLY
                if p.kind is p.POSITIONAL_ONLY and last:
                    head.append("/")
        self.names = tuple(p.name for p in parameters)
        self.head = ", ".join(head)
        given = [p for p in parameters if p.default is not p.empty]
        self.defaults = (
            tuple(p.default for p in given if p.kind is not p.KEYWORD_ONLY) or None,
            {p.name: p.default for p in given if p.kind is p.KEYWORD_ONLY} or None,
        )
        source = f"lambda {', '.join(self.names)}: _fn({', '.join(give)})"

        def handing(fn: Callable[..., Any]) -> Callable[..., Any]:
            if is_wrapper(self.fn):
                return as_given(fn, parameters)
            made: Any = eval(compile(source, frames.name(self.title), "eval"), {"_fn": fn})
            made.__wrapped__ = fn
            return made  # type: ignore[no-any-return]

        self.handing = handing  # a function of all parameters by position that calls another one
        self.plain = self.traced = handing(self.fn)

    # --- a call that the generated code does not know ---
    def slow(self, *values: Any) -> Any:
        """Find or make the plan of a call, add it to the generated code, and run it."""
        if self.of_module and (forward := _forward(values[0])) is not self.fn:  # it has been replaced
            return self.instead(forward)(*values)
        if _transformed():
            return self.plain(*values)
        try:
            described = describe(values, self.names, self.specialize, self.entered)
        except Refusal as r:
            record.plain(self.title, str(r))
            return self.plain(*values)
        leaves = described.leaves
        layouts = described.layouts()
        grad = torch.is_grad_enabled() and any(lay.requires_grad for lay in layouts.values())
        options = self.options()
        amp = amp_state()
        device = default_device()
        state = (grad, amp, torch.get_default_dtype(), deterministic(), device, options.code_key(), options.fallback)
        key = (described.structure, tuple(layouts.items()), state)
        foreign = grad and not torch.is_inference_mode_enabled() and any(leaves[k].is_inference() for k in layouts)
        if foreign or key in self.declined:  # tensors of inference mode cannot be saved, what is made of them can
            return self.plain(*values)
        plan, failure = self.find(key, leaves), None
        if any(HOOKS) and (plan is None or plan.entry.captured.calls):  # a trace may call modules, and would lose them
            record.plain(self.title, "hooks of all modules are registered")
            return self.plain(*values)
        if plan is None and self.exhausted():
            return self.plain(*values)
        try:
            if plan is None:
                try:
                    with without_default_device():
                        plan = self.trace(key, values, described, layouts, options, amp, device)
                except Exception as e:
                    failure = e
                    held = described.has_modules() or described.has_objects()
                    if isinstance(e, Foreign) and held:  # by what a trace does not look into
                        failure = Refusal("constant", str(e).partition(" of the fused")[0])
                    if isinstance(failure, UserError) and self.strict:
                        raise
            if plan is not None and not self.apart(plan, leaves):
                record.plain(self.title, "it writes to arguments that share memory, or do not begin theirs")
                return self.plain(*values)
            if plan is None:
                result = self.plain(*values)  # if it raises, too, that is the error to see
                if failure is not None:
                    self.failed(key, failure, options)
                return result
        finally:
            failure = None  # its traceback leads here, to the arguments: nothing but the collector would free them
        self.install(plan, described)
        numbers = integers(plan.entry.captured, leaves)
        assert numbers is not None
        return plan.run(leaves, numbers)

    def instead(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        """What takes the same arguments, and is for a module that has this `forward` now."""
        if forward not in self.others:
            self.others[forward] = self.handing(_of_module(forward, self.specialize, self.overrides))
        return self.others[forward]

    def exhausted(self) -> bool:
        """Whether no more signatures are traced."""
        if self.traces >= TRACES:
            traced_enough(self.title, TRACES)
            record.plain(self.title, f"it has been traced {TRACES} times")
        elif len(self.declined) >= TRACES:
            record.plain(self.title, f"it could not be traced for {TRACES} signatures")
        else:
            return False
        return True

    def options(self) -> Options:
        """The options in force, with those given to `fuse`."""
        return from_mapping(self.overrides) if self.overrides else current()

    def again(self) -> Callable[..., Any]:
        """The same function, fused anew: nothing is shared with this one."""
        made = Fused(self.fn, self.specialize, self.overrides)
        made.entered = self.entered
        return made.call

    def find(self, key: Any, leaves: list[Any]) -> _Plan | None:
        for plan in self.plans.get(key, ()):
            e = plan.entry
            if e.captured.modes not in (None, questions.modes()):
                continue
            if e.captured.same is not None and not e.captured.same():
                continue
            if not attributes.hold(e.captured.attributes, [*leaves, *e.captured.constants]):
                continue
            numbers = integers(e.captured, leaves)
            if numbers is not None and plan.holds(numbers):
                return plan
        return None

    def apart(self, plan: _Plan, leaves: list[Any]) -> bool:
        """Whether what the plan writes into lies where it has to, and shares no memory with other arguments."""
        e = plan.entry
        if not e.mutated:
            return True
        given = [*leaves, *e.captured.constants]
        placed = from_the_start([given[k] for k in e.viewed])
        return placed and apart([given[k] for k in e.mutated], [given[k] for k in e.layouts])

    def trace(
        self,
        key: Any,
        values: tuple[Any, ...],
        described: Described,
        layouts: dict[int, Layout],
        options: Options,
        amp: tuple[Any, ...],
        device: torch.device | None,
    ) -> _Plan:
        """Trace and compile for a new signature."""
        with _tracing:
            plan = self.find(key, described.leaves)  # another thread may have been first
            if plan is not None:
                return plan
            with using(options):
                captured = capture(self.traced, values, described, layouts, _compilers(options), device)
                described = described.more(captured.constants)
                entry = _entry(captured, described, self.title)
                if captured.enables:
                    entry.run = _enabling(entry.run)
            entry.amp, entry.device = amp, device
            plan = _Plan(entry)
            self.traces += 1
            count("fuse_traces")
            self.plans.setdefault(key, []).append(plan)
            return plan

    def failed(self, key: Any, e: Exception, options: Options) -> None:
        """Run the plain function for this signature from now on, which did what tracing or compiling could not do."""
        record.plain(self.title, str(e) if isinstance(e, (Refusal, FusewrightError)) else f"{type(e).__name__}: {e}")
        if (
            isinstance(e, Refusal)
            and e.code == "state"
            and key not in self.again_once
            and len(self.again_once) < TRACES
        ):
            self.again_once.add(key)  # what a first call sets up stays as it is in later ones
            return
        if isinstance(e, (Refusal, UserError)):
            count("fuse_declined")
        else:
            raise_or_fall_back(e, f"trace {self.title}", f"the fused function {self.title}", options)
        self.declined.add(key)

    def install(self, plan: _Plan, described: Described) -> None:
        """Add an entry for tensors like these to the generated code."""
        e = plan.entry
        with self.lock:
            full = plan.entries >= OPTIONS or len(self.blocks) >= ENTRIES
            if full or not e.layouts or not inlinable(described.structure):
                return
            entry = replace(
                e, structure=described.structure, leaves=[*described.leaves, *e.captured.constants], options=current()
            )
            self.blocks = [*self.blocks, block(entry, len(self.blocks), self.names, self.scope)]
            plan.entries += 1
            self.source = write("call", self.head, self.names, self.blocks)
            exec(compile(self.source, frames.name(self.title), "exec"), self.scope)
            self.call.__code__ = self.scope["call"].__code__  # type: ignore[attr-defined]


def _transformed() -> bool:
    """Whether something in this thread wants to see each operation, or is differentiating forward."""
    return bool(
        default_device() is False
        or dispatch_modes()
        or forward_ad._current_level >= 0
        or torch._C._functorch.peek_interpreter_stack() is not None
        or torch.jit.is_tracing()
        or torch.compiler.is_compiling()
    )


def _compilers(options: Options) -> dict[str, Any]:
    """What AOTAutograd calls, with these options in force. They report to the recording there is now."""
    kinds = ("forward", "backward", "inference")
    made: dict[str, Any] = {kind: _compiler(kind, options, apart=True) for kind in kinds}
    return {**made, "partition": partition, "decompositions": decompositions(options)}


def _entry(c: Captured, described: Described, title: str) -> Entry:
    """How to run what was captured: by itself, under a node of our own, or by AOTAutograd's runtime.

    Ours are for graphs whose results are new tensors and that mutate nothing autograd could see.
    """
    meta, layouts, order = c.meta, c.layouts, [*c.integers, *c.layouts]
    offset = len(c.symbols)
    mutated = tuple(order[k - offset] for k, i in enumerate(meta.input_info) if i.mutates_data or i.mutates_metadata)
    seen = [order[k - offset] for k, i in enumerate(meta.input_info) if _recorded(i)]
    if (c.enables or torch.is_grad_enabled()) and any(layouts[k].requires_grad for k in seen):
        raise Refusal("mutation", "an argument that requires a gradient is mutated")
    if any(i.mutates_data and i.mutates_metadata for i in meta.input_info):
        raise Refusal("mutation", "elements and strides of an argument are changed")
    viewed = tuple(order[k - offset] for k in seen_again(meta))
    entry = Entry(described.structure, layouts, c, "whole", c.whole, mutated, viewed)
    if not is_lean(meta) or c.forward is None:
        return entry
    if c.backward_graph is None:
        entry.how, entry.run = "plain", below_autograd(c.forward, meta)
        return entry
    tensors = [False] * (len(c.symbols) + len(c.integers)) + [True] * len(layouts)
    shape = node_shape(c.forward_graph, c.backward_graph, meta, tensors)
    if shape is not None:
        second = twice(*second_of(c.forward_graph, c.backward_graph, meta, tensors, shape, c.cut), shape.curved)
        partials = absent(c.backward_graph, len(shape.tangents), _compiler("backward", current(), apart=True))
        entry.how, entry.run = "node", make_node(c.forward, c.backward, shape, title, second, partials)
        entry.returns = shape.outputs
    return entry


def _enabling(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run` with gradients recorded, for a function that enables that itself."""

    def enabled(*args: Any) -> Any:
        with torch.enable_grad():
            return run(*args)

    return enabled


def _recorded(i: Any) -> bool:
    """Whether what is done to an argument is a mutation that autograd records: any that is not under `no_grad`."""
    return bool(i.mutates_metadata or (i.mutates_data and not i.mutations_under_no_grad_or_inference_mode))


def _names(specialize: Any, parameters: tuple[str, ...], title: str) -> frozenset[str] | bool:
    if isinstance(specialize, bool):
        return specialize
    given = [specialize] if isinstance(specialize, str) else specialize
    names = frozenset(given if isinstance(given, Iterable) else [given])
    if not all(isinstance(name, str) for name in names):
        raise UserError(f"specialize: names of parameters of {title}, or True, are needed, not {specialize!r}")
    for name in sorted(names):
        if name not in parameters:
            raise UserError(f"specialize: {title} has no parameter '{name}', only {', '.join(parameters) or 'none'}")
    return names


class FusedModule(torch.nn.Module):
    """A module that runs another one's forward fused; parameters, buffers, submodules and hooks are shared with it."""

    _SHARED = (
        *("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_forward_hooks", "_forward_pre_hooks"),
        *("_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs"),
        *("_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks"),
        *("_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"),
    )

    def __init__(self, module: torch.nn.Module, specialize: Any, overrides: dict[str, Any]):
        super().__init__()
        if isinstance(module, LazyModuleMixin) and module.has_uninitialized_params():
            raise UserError(f"fuse: the parameters of {type(module).__name__} are not made yet: call it once before")
        d = self.__dict__
        d["_plain"], d["_given"] = module, (specialize, overrides)
        for name in self._SHARED:
            if name in module.__dict__:
                d[name] = module.__dict__[name]
        d.pop("_is_full_backward_hook", None)  # not a container: looked up in the module
        d["_call"] = self._make(module, specialize, overrides)

    def _make(self, module: torch.nn.Module, specialize: Any, overrides: dict[str, Any]) -> Callable[..., Any]:
        return _of_module(_forward(module), specialize, overrides)

    def again(self) -> FusedModule:
        """The same module, fused anew."""
        return FusedModule(self._plain, *self._given)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self._plain, *args, **kwargs)

    @property
    def training(self) -> bool:
        return self.__dict__["_plain"].training if "_plain" in self.__dict__ else True

    @training.setter
    def training(self, mode: bool) -> None:
        if "_plain" in self.__dict__:
            self.__dict__["_plain"].training = mode

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "training" or "_plain" not in self.__dict__:
            super().__setattr__(name, value)
        else:
            setattr(self.__dict__["_plain"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_plain"], name)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("__") or "_plain" not in self.__dict__:
                raise
            return getattr(self.__dict__["_plain"], name)

    # What containers of modules have: Python looks these up in the class.
    def __bool__(self) -> bool:
        return bool(self._plain)

    def __len__(self) -> int:
        return len(self._plain)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._plain)

    def __contains__(self, x: Any) -> bool:
        return x in self._plain

    def __getitem__(self, key: Any) -> Any:
        return self._plain[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._plain[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._plain[key]

    def __reduce__(self) -> Any:
        return type(self), (self._plain, *self._given)

    def __deepcopy__(self, memo: dict[int, Any]) -> FusedModule:
        out = type(self)(copy.deepcopy(self._plain, memo), *self._given)
        memo[id(self)] = out
        return out

    def extra_repr(self) -> str:
        return f"fused {type(self._plain).__name__}"


def _forward(module: torch.nn.Module) -> Callable[..., Any]:
    """The function that runs when a module is called, with the module as its first argument."""
    return _instance_forward if "forward" in module.__dict__ else type(module).forward


def _of_module(forward: Callable[..., Any], specialize: Any, overrides: dict[str, Any]) -> Callable[..., Any]:
    made = Fused(forward, specialize, overrides)
    made.entered, made.of_module = next(iter(made.names), ""), True
    return made.call


def _instance_forward(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    return self.forward(*args, **kwargs)


__all__ = ["Fused", "FusedModule"]
