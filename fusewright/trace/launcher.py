"""The call path of a fused function: generated Python that checks one signature after the other and launches.

    def f(x, y):
        while True:                                                    # one block for each entry
            if not (ad._current_level < 0 and not modes() and ...): break
            _c, _n = e0[0]
            if not _c(x, y):
                if not (c0(x, y)): break
                _s0, _s1, = x.shape
                _s2, _ = y.shape
                if not (1 < _s0 and 1 < _s1 and 1 < _s2 and x.is_contiguous() and ... and _s0 == _s2): break
                _n = (_s0, _s1, _s2,)
                if _n == e0[1]: often0(_n, x, y)
                e0[1] = _n
            return p0([*_n, x, y])[0]
        return slow(x, y)

`c0` is torch's own C++ check of tensors: exact type, element type, device, whether they require a gradient, fixed
extents, and the dispatch keys, which transforms, autocast and inference mode change. What it cannot see (the grad mode,
forward-mode levels, `TorchFunctionMode`) is asked for. When sizes come again and again, `e0` gets the same check of
those very sizes and strides, which takes the place of all conditions on them.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch.utils import _pytree as pytree

from ..core.options import current
from ..run.internals import default_device, exact_check, function_modes, tensor_check
from ..run.overlaps import apart
from . import frames
from .attributes import CLASS, MISSING, alike
from .capture import Captured, Out
from .signature import HOOKS, LARGEST, LOOSE, Layout, ModuleState, Node, amp_state, deterministic
from .written_views import from_the_start


@dataclass(slots=True)
class Entry:
    """A plan with the signature of calls that may use it.

    `how`: "plain" (a boxed plan), "node" (`apply` of an autograd node, which takes the integers as one tuple) or
    "whole" (AOTAutograd's callable); `run` is that. `mutated`: leaves that are written; `viewed`: those that must be
    `from_the_start`. `device`: what factories use by default, if set. `options`: the options object in force.
    """

    structure: tuple[Node, ...]
    layouts: dict[int, Layout]
    captured: Captured
    how: str
    run: Callable[..., Any]
    mutated: tuple[int, ...] = ()
    viewed: tuple[int, ...] = ()
    returns: int = 1  # how many results a node has
    amp: tuple[Any, ...] = ()
    device: torch.device | None = None
    options: Any = None
    leaves: list[Any] = field(default_factory=list)  # an example, while code is generated


_HOOK_NAMES = {f"_h{k}": d for k, d in enumerate(HOOKS)}
_HOOKED = " or ".join(_HOOK_NAMES)  # whether any hooks of all modules are registered
_TYPES = {"tuple": tuple, "list": list, "dict": dict, "size": torch.Size}


class _Block:
    """Writes one entry."""

    def __init__(self, entry: Entry, number: int, scope: dict[str, Any]):
        self.entry, self.number, self.scope = entry, number, scope
        self.lines: list[str] = []
        self.found: dict[int, str] = {}  # leaf -> expression
        self.fresh = 0
        c = entry.captured
        for k, t in zip([*c.layouts][::-1], c.constants[::-1], strict=False):
            self.found[k] = self.constant(t, "k")

    def constant(self, value: Any, prefix: str) -> str:
        name = f"_{prefix}{self.number}_{len(self.scope)}"
        self.scope[name] = value
        return name

    def local(self, expression: str) -> str:
        if expression.isidentifier():
            return expression
        self.fresh += 1
        name = f"_a{self.fresh}"
        self.lines.append(f"{name} = {expression}")
        return name

    def unless(self, *conditions: str) -> None:
        if conditions:
            self.lines.append(f"if not ({' and '.join(conditions)}): break")

    # --- arguments ---
    def node(self, n: Node, expression: str, check: bool) -> None:
        e = expression
        if n.kind in ("tensor", "int"):
            self.found[n.data] = e = self.local(e)
            if n.kind == "int" and check:
                self.unless(f"_type({e}) is _int", f"(1 < {e} < {LARGEST} or {-LARGEST} < {e} < -1)")
        elif n.kind in ("value", "object", "slice", "method"):
            if check:
                self.unless(*self.same(n, e))
        elif n.kind == "module":
            gathered = self.constant(gatherer(n.data), "g")
            e = self.local(f"{gathered}({e})")
            if check:
                self.unless(f"{e} is not None")
            for k, c in enumerate(n.children):
                self.node(c, f"{e}[{k}]", check)
        elif n.kind == "fields":
            e = self.local(e)
            if check:
                self.unless(f"_type({e}) is {self.constant(n.data[0], 'y')}")
            e = self.local(f"{e}.__dict__")
            if check:
                self.unless(f"_tuple({e}) == {self.constant(n.data[1], 'k')}")
            for k, c in zip(n.data[1], n.children, strict=True):
                self.node(c, f"{e}[{k!r}]", check)
        elif n.kind == "set":
            if check:
                e = self.local(e)
                self.unless(f"_type({e}) is {self.constant(n.data[0], 'y')} and _len({e}) == {n.data[1]}")
                e = self.local(f"_tuple({e})")
                for k, c in enumerate(n.children):
                    self.node(c, f"{e}[{k}]", True)
        else:
            e = self.local(e)
            kind = self.constant(n.data if n.kind == "named" else _TYPES[n.kind], "y")
            if check:
                self.unless(f"_type({e}) is {kind}")
                if n.kind == "dict":
                    alike = f"_tuple({e}) == {self.constant(tuple(n.data), 'k')}"
                    self.unless(alike if n.data.names else f"_repr(_tuple({e})) == {repr(n.data)!r}")
                elif n.kind != "named":
                    self.unless(f"_len({e}) == {n.data}")
            for k, c in enumerate(n.children):
                item = f"{e}[{n.data[k]!r}]" if n.kind == "dict" else f"{e}[{k}]"
                self.node(c, item, check)

    def same(self, n: Node, e: str) -> list[str]:
        if n.kind == "object":
            return [f"{self.constant(n.data.get, 'w')}() is {e}"]
        if n.kind == "method":
            own = f"_type({e}) is {self.constant(types.MethodType, 'y')}"
            of = zip(n.data, ("__func__", "__self__"), strict=True)
            return [own, *(f"{self.constant(s.get, 'w')}() is {e}.{part}" for s, part in of)]
        if n.kind == "slice":
            return [f"_type({e}) is _slice", f"({e}.start, {e}.stop, {e}.step) == {n.data!r}"]
        kind, value = n.data
        if value is None or kind is bool:
            return [f"{e} is {value}"]
        if kind is float:
            return (
                [f"_type({e}) is _float", f"_repr({e}) == {value!r}"]
                if float(value) in (0.0,) or value == "nan"
                else [
                    f"_type({e}) is _float",
                    f"{e} == {self.constant(float(value), 'v')}",
                ]
            )
        if kind in LOOSE:
            return [f"_type({e}) is {self.constant(kind, 'y')}", f"_repr({e}) == {value!r}"]
        return [f"_type({e}) is {self.constant(kind, 'y')}", f"{e} == {self.constant(value, 'v')}"]

    # --- tensors ---
    def tensors(self) -> None:
        en = self.entry
        names = [self.found[k] for k in en.layouts]
        sizes = [list(lay.sizes) for lay in en.layouts.values()]
        check = tensor_check([en.leaves[k] for k in en.layouts], sizes)
        conditions = ["_ad._current_level < 0"]
        conditions.append("not _modes()" if en.device is None else f"_device() == {self.constant(en.device, 'd')}")
        conditions.append(f"_options() is {self.constant(en.options, 'o')}")
        conditions.append(f"_default() is {self.constant(torch.get_default_dtype(), 't')}")
        conditions.append("_deterministic()" if deterministic() else "not _deterministic()")
        modes = en.captured.modes
        if modes is not None or any(en.leaves[k].requires_grad for k in en.layouts):
            conditions.append("_grad()" if torch.is_grad_enabled() else "not _grad()")
        if modes is not None:
            conditions.append("_inference()" if modes[1] else "not _inference()")
        if en.amp:
            conditions.append(f"_amp() == {self.constant(en.amp, 'm')}")
        if en.captured.calls and HOOKS and not any(n.kind == "module" and n.data.inside for n in _walk(en.structure)):
            self.scope.update(_HOOK_NAMES)
            conditions.append(f"not ({_HOOKED})")
        if en.captured.same is not None:
            conditions.append(f"{self.constant(en.captured.same, 'h')}()")
        conditions += [c for (k, name), v in en.captured.attributes.items() for c in self.attribute(k, name, v)]
        self.unless(*conditions)
        known = None if en.mutated or en.captured.integers or not names else Known()
        before, self.lines = self.lines, []
        self.unless(f"{self.constant(check, 'c')}({', '.join(names)})")
        self.unless(*self.sizes(True))
        self.lines.append(f"_n = ({''.join(f'{n}, ' for n in self.numbers())})")
        if known is None:
            self.lines[:0] = before
            return
        e, given = self.constant(known.box, "e"), ", ".join(names)
        self.lines += [f"if _n == {e}[1]: {self.constant(known.often, 'f')}(_n, {given})", f"{e}[1] = _n"]
        self.lines = [*before, f"_c, _n = {e}[0]", f"if not _c({given}):", *(f"    {s}" for s in self.lines)]

    def attribute(self, k: int, name: str, value: Any) -> list[str]:
        """That an argument has what the trace has found; its class is a part of torch's check."""
        if name == CLASS:
            return []
        found, wanted = f"_getattr({self.found[k]}, {name!r}, _MISSING)", self.constant(value, "v")
        one = value is MISSING or value is None or type(value) is bool
        return [f"{found} is {wanted}" if one else f"_alike({found}, {wanted})"]

    def sizes(self, check: bool) -> list[str]:
        """Bind the flat integers; returns the conditions that they must meet."""
        en = self.entry
        symbols = en.captured.symbols
        conditions: list[str] = []
        for k, lay in en.layouts.items():
            e = self.found[k]
            for kind, call in (("size", "shape"), ("stride", "stride()")):
                mine = {d: f"_s{i}" for i, (leaf, what, d) in enumerate(symbols) if leaf == k and what == kind}
                strided = kind == "stride" and not lay.contiguous and lay.order and check
                if mine or strided:
                    targets = [mine.get(d, f"_x{k}_{d}" if strided else "_") for d in range(len(lay.sizes))]
                    self.lines.append(f"{', '.join(targets)}, = {e}.{call}")
                    for s in mine.values():
                        if (factor := en.captured.factors[int(s[2:])]) > 1:
                            self.unless(f"{s} % {factor} == 0")
                            self.lines.append(f"{s} //= {factor}")
                    conditions += [f"1 < {s}" for s in mine.values()]
            conditions += self.strides(k, e, lay)
        for i, k in enumerate(en.captured.integers):
            self.lines.append(f"_s{len(symbols) + i} = {self.found[k]}")
        if en.mutated:
            if en.viewed:
                conditions.append(f"_from_the_start(({', '.join(self.found[k] for k in en.viewed)},))")
            others = [self.found[k] for k in en.layouts]
            conditions.append(f"_apart(({', '.join(self.found[k] for k in en.mutated)},), ({', '.join(others)},))")
        return conditions + en.captured.guards

    def strides(self, k: int, e: str, lay: Layout) -> list[str]:
        if lay.contiguous and (lay.order or not lay.sizes):
            return [f"{e}.is_contiguous()"]
        if not lay.order:
            return [f"{e}.stride() == {lay.strides!r}"]
        c = self.entry.captured
        symbols = {
            s: f"_s{i}" if f == 1 else f"{f} * _s{i}" for i, (s, f) in enumerate(zip(c.symbols, c.factors, strict=True))
        }
        expected, out = "1", []
        for d in lay.order:
            kind, size = lay.strides[d], lay.sizes[d]
            n = symbols[k, "size", d] if size is None else str(size)
            have = symbols.get((k, "stride", d), f"_x{k}_{d}")
            if kind == "dense":
                if size != 1:
                    out.append(f"{have} == {expected}")
                have = expected
            elif kind != "free":
                out.append(f"{have} == {kind}")
            if kind != 0:
                expected = n if have == "1" else f"{have} * {n}"
        return out

    def numbers(self) -> list[str]:
        """The variables of the flat integers."""
        return [f"_s{i}" for i in range(len(self.entry.captured.symbols) + len(self.entry.captured.integers))]

    # --- the call ---
    def call(self) -> None:
        """Run the entry, for tensors and the flat integers `_n`."""
        en = self.entry
        tensors = [self.found[k] for k in en.captured.layouts]
        run = self.constant(en.run, "p")
        numbers = ["_n"] if en.how == "node" else ["*_n"] * bool(self.numbers())
        flat = ", ".join([*numbers, *tensors])
        call = f"{run}([{flat}])" if en.how == "plain" else f"{run}({flat})"
        single = en.how == "node" and en.returns == 1
        parts, spec = pytree.tree_flatten(en.captured.result)
        used = sum(p.kind == "output" or p.kind == "size" for p in parts)
        quiet = en.captured.autocast
        if used == 1 and parts[0].kind == "output" and len(parts) == 1 and not quiet:
            item = "" if single else f"[{parts[0].data}]"
            self.lines.append(f"return {self.tree(spec, [f'{call}{item}'])}")
            return
        if quiet:
            self.lines += ["with _no_autocast():", f"    _o = {call}"]
        else:
            self.lines.append(f"_o = {call}")
        self.lines.append(f"return {self.tree(spec, [self.result(p, single) for p in parts])}")

    def result(self, o: Out, single: bool) -> str:
        if o.kind == "output":
            return "_o" if single else f"_o[{o.data}]"
        if o.kind == "input":
            return self.found[o.data]
        if o.kind == "size":
            return f"_Size(({''.join(self.result(p, single) + ', ' for p in o.parts)}))"
        return repr(o.data) if o.data is None or type(o.data) in (bool, int) else self.constant(o.data, "r")

    def tree(self, spec: Any, items: list[str]) -> str:
        if spec.is_leaf():
            return items[0]
        if spec.type in (tuple, list):
            out, at = [], 0
            for c in spec.children():
                out.append(self.tree(c, items[at : at + c.num_leaves]))
                at += c.num_leaves
            inner = ", ".join(out)
            return f"[{inner}]" if spec.type is list else f"({inner}{',' if len(out) == 1 else ''})"
        return f"_unflatten([{', '.join(items)}], {self.constant(spec, 'u')})"


OFTEN = 8  # calls in a row with the same sizes, after which they are known


class Known:
    """The sizes that calls come with again and again, with the check that tensors have these.

    `box`: (check, flat integers), read and replaced as one, for other threads; the flat integers of the last call that
    had others. Each replacement takes twice as many calls as the one before it, so that sizes which keep changing
    cost next to nothing.
    """

    def __init__(self) -> None:
        self.box: list[Any] = [(_never, ()), None]
        self.left = self.next = OFTEN

    def often(self, numbers: tuple[int, ...], *tensors: torch.Tensor) -> None:
        """Count a call like the one before it."""
        self.left -= 1
        if self.left <= 0:
            self.next *= 2
            self.left = self.next
            check = exact_check(tensors)
            if check is not None:
                self.box[0] = (check, numbers)


def _never(*tensors: Any) -> bool:
    return False


SCOPE: dict[str, Any] = {
    "_ad": forward_ad,
    "_modes": function_modes,
    "_device": default_device,
    "_grad": torch.is_grad_enabled,
    "_amp": amp_state,
    "_apart": apart,
    "_deterministic": deterministic,
    "_from_the_start": from_the_start,
    "_inference": torch.is_inference_mode_enabled,
    "_default": torch.get_default_dtype,
    "_options": current,
    "_no_autocast": torch._C._DisableAutocast,
    "_Size": torch.Size,
    "_unflatten": pytree.tree_unflatten,
    "_MISSING": MISSING,
    "_alike": alike,
    # parameters may be called like what is Python's
    **{f"_{f.__name__}": f for f in (abs, float, getattr, int, len, max, min, repr, round, slice, tuple, type)},
    "_math": math,
}


def gatherer(state: ModuleState) -> Callable[[Any], tuple[Any, ...] | None]:
    """A function that returns a module's leaves, or None if the module is not as described."""
    modules = [(path, same.get, training, held) for path, same, training, held in state.modules]
    scope: dict[str, Any] = {}
    names: dict[tuple[str, ...], str] = {(): "m"}
    lines = [f"if {_HOOKED}: return None"] if state.inside and HOOKS else []
    scope.update(_HOOK_NAMES)
    for k, (path, get, training, held) in enumerate(modules):
        if path:
            names[path] = f"m{k}"
            lines.append(f"m{k} = {names[path[:-1]]}.__dict__['_modules'].get({path[-1]!r})")
        m = names[path]
        scope[f"w{k}"], scope[f"h{k}"] = get, held
        lines.append(
            f"if {m} is None or w{k}() is not {m} or {m}.training is not {training} or names({m}) != h{k}: return None"
        )
        if path or state.called:
            hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
            lines.append(f"if {' or '.join(f'{m}.{h}' for h in hooks)}: return None")
    scope["names"] = _held
    for path, kind, name, k in state.shared:
        at, where, key = state.slots[k] if kind != "_modules" else (modules[k][0], "", "")
        first = names[at] if kind == "_modules" else f"{names[at]}.__dict__[{where!r}][{key!r}]"
        lines.append(f"if {names[path]}.__dict__[{kind!r}].get({name!r}) is not {first}: return None")
    leaves = [f"{names[path]}.__dict__[{kind!r}][{name!r}]" for path, kind, name in state.slots]
    lines.append(f"return ({', '.join(leaves)}{',' if len(leaves) == 1 else ''})")
    text = "def gather(m):\n" + "\n".join(f"    {s}" for s in lines)
    exec(compile(text, frames.name("module"), "exec"), scope)
    gather: Callable[[Any], tuple[Any, ...] | None] = scope["gather"]
    return gather


def _held(m: torch.nn.Module) -> tuple[str, ...]:
    """The names of what a module holds, absent ones marked; as in `ModuleState.modules`."""
    d = m.__dict__
    out = tuple(d["_modules"])
    for kind in ("_parameters", "_buffers"):
        for key, t in d[kind].items():
            out += (key if t is not None else f"-{key}",)
    return out


def inlinable(structure: Sequence[Node]) -> bool:
    """Whether generated code can look into the arguments."""
    return all(n.kind != "pytree" for n in _walk(structure))


def _walk(structure: Sequence[Node]) -> Iterator[Node]:
    for top in structure:
        yield from top.walk()


def renamed(values: Sequence[str]) -> dict[str, str]:
    """Parameter -> the variable of generated code that has its value. Names that begin with "_" are ours."""
    taken = set(values)

    def fresh(name: str) -> str:
        while name in taken:
            name += "_"
        return name

    return {v: fresh(f"p{k}{v}") if v.startswith("_") else v for k, v in enumerate(values)}


def block(entry: Entry, number: int, values: Sequence[str], scope: dict[str, Any]) -> list[str]:
    """The lines that check one entry against the parameters `values` and run it; what they name goes into `scope`."""
    b = _Block(entry, number, scope)
    for n, v in zip(entry.structure, renamed(values).values(), strict=True):
        b.node(n, v, True)
    b.tensors()
    b.call()
    return b.lines


def write(name: str, head: str, values: Sequence[str], blocks: Sequence[list[str]]) -> str:
    """Source of the function `name`, whose parameters are `head`, that tries the blocks and then calls `_slow`."""
    mine = renamed(values)
    lines = [f"def {name}({head}):"]
    if list(mine) != list(mine.values()):  # a parameter may hide a name that the blocks need
        inner = "_inside"
        while inner in mine:
            inner += "_"
        lines = [f"def {name}({head}): return {inner}({', '.join(mine)})", f"def {inner}({', '.join(mine.values())}):"]
    for b in blocks:
        lines.append("    while True:")
        lines += [f"        {s}" for s in b]
    lines.append(f"    return _slow({', '.join(mine.values())})")
    return "\n".join([*lines, ""])


def launcher(entry: Entry) -> Callable[[list[Any], list[int]], Any]:
    """A function of (leaves, flat integers) that runs an entry whose conditions are known to hold."""
    scope = dict(SCOPE)
    b = _Block(entry, 0, scope)
    b.found = {k: f"_l[{k}]" for k in (*entry.captured.integers, *entry.layouts)} | b.found
    b.call()
    exec("def run(_l, _n):\n" + "\n".join(f"    {s}" for s in b.lines), scope)
    run: Callable[[list[Any], list[int]], Any] = scope["run"]
    return run


def integers(captured: Captured, leaves: list[Any]) -> list[int] | None:
    """The flat integers of a call; None if a size is no multiple of its factor, or no larger one, or another number."""
    if any(leaves[k].shape[d] != n for (k, d), n in captured.numbers.items()):
        return None
    out: list[int] = []
    for (k, what, d), factor in zip(captured.symbols, captured.factors, strict=True):
        n = leaves[k].shape[d] if what == "size" else leaves[k].stride(d)
        if factor > 1 and (n % factor or n < 2 * factor):
            return None
        out.append(n // factor)
    return out + [leaves[k] for k in captured.integers]


def condition(guards: Sequence[str], count: int) -> Callable[[list[int]], bool]:
    """A function of the flat integers: whether what a trace assumed holds."""
    scope = dict(SCOPE)
    unpack = f"    {', '.join(f'_s{i}' for i in range(count))}, = _n\n" if count else ""
    exec(f"def holds(_n):\n{unpack}    return bool({' and '.join(f'({g})' for g in guards) or True})", scope)
    holds: Callable[[list[int]], bool] = scope["holds"]
    return holds
