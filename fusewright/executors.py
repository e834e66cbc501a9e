"""`fusewright.executors`: kernels of your own for operators and patterns, beside the generated ones and torch.

    import fusewright

    def gelu_is_mine(x, *, approximate="none"):                 # sees types and shapes
        return approximate == "none" or "only the exact one"

    fusewright.executors.register("mine", torch.ops.aten.gelu.default, my_gelu, checker=gelu_is_mine)
    fusewright.executors.unregister("mine")

An executor claims a call, forward or backward, when a graph is compiled; what nobody claims is fused, or runs through
torch. docs/executors.md is the guide.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .backend import _decompositions, partition
from .core.dtypes import f64
from .core.errors import Refusal, UserError, VerifyError
from .core.options import current
from .defining import Definition
from .graph.defined import Argument, Defined, Result, verify_defined
from .graph.ir import Eqn, Graph, Value
from .graph.patterns import Pattern
from .graph.total import total
from .run.claimed import find
from .trace import executors as registry
from .trace.capture import capture
from .trace.claims import Meta
from .trace.executors import Executor
from .trace.fx import Traced, translate
from .trace.signature import describe, layout

PRIORITY = 10


class Registration:
    """What `register` has added. `unregister()` takes it back; so does leaving a `with` block."""

    def __init__(self, name: str, entries: Sequence[Executor]):
        self.name, self.entries = name, tuple(entries)

    def unregister(self) -> None:
        registry.remove(self.entries)

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *_: Any) -> None:
        self.unregister()

    def __repr__(self) -> str:
        return f"<executor {self.name} for {', '.join(e.target for e in self.entries)}>"


def register(
    name: str,
    what: Any,
    fn: Callable[..., Any] | str,
    checker: Callable[..., Any] | None = None,
    *,
    priority: int = PRIORITY,
    devices: str | Iterable[str] = (),
) -> Registration:
    """Let `fn` run calls of an operator, or matches of a pattern, in graphs that are compiled from now on.

    name: of the executor; several registrations may have one name.
    what: an operator overload (`torch.ops.aten.gelu.default`, a custom operator's), a `Definition`, what `pattern`
        returns, or a list of these.
    fn: a function, or "module:name" of one, which is imported now. It takes the operator's arguments, or the pattern's
        in their order; returns new tensors with the types and shapes that were traced. It must not write into its
        arguments.
    checker: takes the same arguments, with a `Meta` (dtype, device, shape, strides, hint) for each tensor; True claims
        the call, False or a text (the reason) declines it. None: claims all.
    priority: executors are asked from the highest on; above 0 before operations are fused, below 0 for what has no
        kernels of ours.
    devices: "cpu", "cuda", or several; () for all.

    Raises UserError for what cannot be claimed.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise UserError(f"register: the name of an executor is an identifier, not {name!r}")
    if name in registry.PRIORITIES:
        raise UserError(f"register: '{name}' is built in")
    given = fn if isinstance(fn, str) else ""
    if isinstance(fn, str):
        try:
            fn = find(fn)
        except UserError as error:
            raise UserError(f"register: executor {name}: {error}") from error.__cause__
    if not callable(fn):
        raise UserError(f"register: executor {name} needs a function, not {fn!r}")
    if checker is not None and not callable(checker):
        raise UserError(f"register: the checker of executor {name} must be a function, not {checker!r}")
    if isinstance(priority, bool) or not isinstance(priority, int) or priority == 0:
        raise UserError(f"register: a priority is an integer above or below 0, not {priority!r}")
    if not isinstance(devices, Iterable):
        raise UserError(f"register: devices are 'cpu' and 'cuda', not {devices!r}")
    places = (devices,) if isinstance(devices, str) else tuple(devices)
    for d in places:
        if d not in ("cpu", "cuda"):
            raise UserError(f"register: devices are 'cpu' and 'cuda', not {d!r}")
    found = [_claimable(w) for w in (what if isinstance(what, (list, tuple)) else [what])]
    if not found:
        raise UserError(f"register: executor {name} needs an operator or a pattern, the list is empty")
    if priority < 0 and any(isinstance(w, Pattern) for w in found):
        raise UserError("register: patterns are of operations that have kernels: their priority must be above 0")
    entries = [Executor(name, w, fn, checker, priority, places, given) for w in found]
    for e in entries:
        registry.add(e)
    return Registration(name, entries)


def unregister(name: str | None = None) -> int:
    """Forget all registrations of an executor (of all, without a name); how many there were."""
    return registry.remove([e for e in registry.registered() if name in (None, e.name)])


def registered() -> list[tuple[str, str, int]]:
    """(name, what it runs, priority) of all executors, built-in ones too, in the order in which they are asked."""
    rows = [(e.name, e.target, e.priority) for e in registry.registered()]
    rows += [(registry.KERNELS, "what has lowering rules", 0), (registry.TORCH, "the rest", -(1 << 30))]
    return sorted(rows, key=lambda r: -r[2])


def _claimable(what: Any) -> Any:
    """An operator or a pattern. Raises UserError."""
    if isinstance(what, Pattern):
        return what
    if isinstance(what, Definition):
        return Pattern(what.finish()._defined)
    if isinstance(what, torch._ops.OpOverloadPacket):
        names = ", ".join(f"{what}.{o}" for o in what.overloads())
        raise UserError(f"register: {what} has several overloads, name one: {names}")
    if not isinstance(what, torch._ops.OpOverload):
        raise UserError(f"register: expected an operator overload, a Definition or a pattern, not {what!r}")
    if what._schema.is_mutable:
        raise UserError(
            f"register: {what} writes into its operands; graphs have the operator that returns a new tensor"
        )
    if what.is_view:
        raise UserError(f"register: {what} is a view, which runs nothing")
    if torch._C._dispatch_has_kernel_for_dispatch_key(what.name(), "CompositeImplicitAutograd"):
        raise UserError(
            f"register: {what} is made of other operators before graphs are traced and never in one; register what "
            "`fusewright.explain` shows in its place, or a pattern"
        )
    return what


# --- patterns from functions -----------------------------------------------------------------------------


def pattern(fn: Callable[..., Any], *examples: Any, name: str = "") -> Pattern:
    """A pattern from a function of tensors and floats, traced as programs are.

    examples: tensors, of which element types, ranks and extents of 1 count, and floats, which become scalars: the
        pattern matches with any number in their place. All other arguments are part of the pattern.

    Raises UserError if it uses operators without primitives, mutates, or depends on a float in other ways.
    """
    if not callable(fn):
        raise UserError(f"pattern: a function is needed, not {fn!r}")
    if not isinstance(name, str):
        raise UserError(f"pattern: name must be a string, not {name!r}")
    name = name or getattr(fn, "__name__", "pattern")
    _parameters(fn, examples, name)
    traced = [_trace(fn, tuple(given), name) for given in (examples, _moved(examples))]
    first, second = traced
    names = _parameters(fn, examples, name)
    numbers = {n: (x, y) for n, x, y in zip(names, examples, _moved(examples), strict=True) if isinstance(x, float)}
    defined = _defined(name, first, [n for n, x in zip(names, examples, strict=True) if isinstance(x, torch.Tensor)])
    _with_scalars(defined, second.graph, numbers)
    defined.arguments.sort(key=lambda a: names.index(a.name))
    try:
        verify_defined(defined)
    except VerifyError as error:
        raise UserError(f"pattern '{name}': {error.args[0]}") from error
    return Pattern(defined)


def _parameters(fn: Callable[..., Any], examples: Sequence[Any], name: str) -> list[str]:
    """The names of the parameters that examples are for. Raises UserError unless each is for one."""
    try:
        signature = inspect.signature(fn)
        signature.bind(*examples)
    except (TypeError, ValueError) as e:
        raise UserError(f"pattern '{name}': {e}: give an example for each parameter") from None
    kinds = {p.kind for p in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        raise UserError(f"pattern '{name}': its parameters need names, which those of *args have not")
    return list(signature.parameters)[: len(examples)]


def _moved(examples: Sequence[Any]) -> list[Any]:
    """The same arguments with other floats, each another one."""
    return [x * 1.0625 + 0.015625 * (k + 1) if isinstance(x, float) else x for k, x in enumerate(examples)]


def _trace(fn: Callable[..., Any], values: tuple[Any, ...], name: str) -> Traced:
    """The trace of a function, without executors."""
    names = tuple(list(inspect.signature(fn).parameters)[: len(values)])
    try:
        fixed = frozenset(n for n, x in zip(names, values, strict=True) if not isinstance(x, torch.Tensor))
        described = describe(values, names, fixed)
    except Refusal as r:
        raise UserError(f"pattern '{name}': {r.detail}") from None
    layouts = {k: layout(t.detach(), False) for k, t in enumerate(described.leaves) if isinstance(t, torch.Tensor)}
    kept: list[Any] = []

    def keep(gm: Any, inputs: Any) -> Any:
        kept.append(gm)
        return gm.forward

    compilers: dict[str, Any] = dict.fromkeys(("forward", "backward", "inference"), keep)
    with torch.no_grad():
        how = {**compilers, "partition": partition, "decompositions": _decompositions("philox")}
        captured = capture(fn, values, described, layouts, how)
    if any(i.mutates_data for i in captured.meta.input_info):
        raise UserError(f"pattern '{name}': it writes into an argument")
    results = pytree.tree_leaves(captured.result)
    if not results or [r.data for r in results if r.kind == "output"] != list(range(len(results))):
        raise UserError(f"pattern '{name}': its results must be tensors that it computes, each another one")
    out = translate(kept[0], False, "philox", (), current().fma)
    for u in out.graph.units:
        if u.kind == "torch":
            raise UserError(f"pattern '{name}': {u.target} has no primitives ({u.reason})")
    return out


def _defined(name: str, traced: Traced, tensors: list[str]) -> Defined:
    """A trace as a definition. Its placeholders are sizes, then tensors."""
    graph, _ = total(traced.graph)
    if len(graph.inputs) != len(tensors):
        raise UserError(f"pattern '{name}': it reads a tensor that is no argument")
    out = Defined(name, graph, [Argument("tensor", n, v) for n, v in zip(tensors, graph.inputs, strict=True)])
    out.results = [Result(f"out{k}", v) for k, v in enumerate(graph.outputs)]
    return out


def _with_scalars(d: Defined, other: Graph, numbers: dict[str, tuple[float, float]]) -> None:
    """Constants that are one float in one trace and another in the other become scalars."""
    theirs, _ = total(other)
    if len(theirs.eqns) != len(d.graph.eqns):
        raise UserError(f"pattern '{d.name}': its operations depend on a float")
    for e, f in zip(list(d.graph.eqns), theirs.eqns, strict=True):
        if e.op != f.op or (e.op != "const" and repr(e.params) != repr(f.params)):
            raise UserError(f"pattern '{d.name}': its operations depend on a float")
        if repr(e.params) == repr(f.params):
            continue
        found = [n for n, pair in numbers.items() if (e.params[0], f.params[0]) == pair]
        if len(found) != 1:
            raise UserError(f"pattern '{d.name}': it computes with a float before any tensor does")
        _scalar(d, d.graph.eqns.index(e), found[0])
    used = {e.params[0] for e in d.graph.eqns if e.op == "scalar" and isinstance(e.params[0], str)}
    for n in numbers:
        if n not in used:
            raise UserError(f"pattern '{d.name}': the float {n} is not used")


def _scalar(d: Defined, k: int, name: str) -> None:
    """Equation `k`, a constant, becomes the scalar `name`, which is f64, cast to the constant's type."""
    old = d.graph.eqns[k]
    if not any(a.name == name for a in d.arguments):
        d.arguments.append(Argument("scalar", name, dtype=f64))
    ids = [v.id for v in (*d.graph.inputs, *(e.out for e in d.graph.eqns))]
    given = Value(max(ids) + 1, f64, ())
    d.graph.eqns[k : k + 1] = [
        Eqn("scalar", (), (name,), given, old.unit),
        Eqn("cast", (given,), (old.out.dtype, False), old.out, old.unit),
    ]


__all__ = ["Meta", "Registration", "pattern", "register", "registered", "unregister"]
