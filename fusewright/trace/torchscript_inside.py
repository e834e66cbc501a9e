"""A fused scripted module inside `torch.compile`: its operations become part of the graph there.

Dynamo can neither read the attributes of a scripted module nor follow what runs it. So the module has a list of what
its program reads (`Attributes`), kept up to date, which Dynamo guards and hands to `run`; that is one call to Dynamo,
and what comes next (AOTAutograd, `make_fx`) runs it on its own tensors, and sees operations.
"""

from __future__ import annotations

import functools
import itertools
import types
import weakref
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..core.errors import UserError
from ..run.internals import dispatch_modes
from .torchscript import Block
from .torchscript_types import UNKNOWN, convert

_serial = itertools.count()
_scripts: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()  # of the modules that Dynamo has seen
_live: weakref.WeakSet[Attributes] = weakref.WeakSet()
_NONE = "<None of a script>"  # stands for None, which a call in a graph does not take
# Left to Python for reasons that a graph has not: what they ask is guarded by Dynamo, or made of what is.
_HARMLESS = frozenset(
    (
        *("aten::format", "aten::warn", "prim::requires_grad"),
        *("aten::is_autocast_enabled", "aten::is_autocast_cpu_enabled", "aten::is_grad_enabled"),
    )
)
_SYMBOLIC: dict[type, Any] = {torch.SymInt: 2, torch.SymFloat: 2.0, torch.SymBool: True}  # with a number of each kind


class Attributes:
    """The values of the attributes that a script's program reads, in order: `values`. `why`: if that cannot be told."""

    def __init__(self, script: Any):
        self.script = weakref.ref(script)
        self.values: list[Any] = []
        self.facts = ""
        self.key = f"{script.title}.{next(_serial)}"
        self.why = script.refused or _assigned(script.module) or _host(script.program.body)
        if not self.why:
            _watch()
            self.read()
            _scripts[self.key] = script
            _live.add(self)

    def read(self) -> None:
        found = _read(self.script())
        self.values[:] = [x for x in found if _carried(x)]
        self.facts = repr([None if _carried(x) else x for x in found])

    def assigned(self, name: str) -> None:
        """An attribute, or a submodule, of this name has been assigned somewhere."""
        script = self.script()
        if script is not None and any(name == n or name in path for path, n in script.program.attributes):
            self.read()


def _read(script: Any) -> list[Any]:
    return [script._module_at(path).getattr(name) for path, name in script.program.attributes]


def _carried(x: Any) -> bool:
    """Whether an attribute is an input of graphs: it is, or holds, a tensor."""
    return any(isinstance(y, torch.Tensor) for y in pytree.tree_leaves(x))


def _host(b: Block) -> str:
    """Why the graph of a program would not do what it does: it needs values, or has effects; "" if it would.

    What leads to an exception is left out: a graph has none, and a call that comes to that fails.
    """
    if any(op.rule.kind == "raise" for op in b.ops):
        return ""
    for op in b.ops:
        if op.rule.kind == "host" and op.name not in _HARMLESS:
            file, line, source = op.where
            where = f"{file}:{line}: {source or op.name}" if file else op.name
            return f"{where} {op.rule.why}"
        if why := next((why for inner in op.blocks if (why := _host(inner))), ""):
            return why
    return ""


def _assigned(module: Any) -> str:
    """Why attributes may change without Python's knowing: a method assigns them; "" if none does."""
    waiting = [module]
    while waiting:
        m = waiting.pop()
        waiting += [x for _, x in torch._C.ModuleDict(m).items()]
        for name in m._method_names():
            node = next(iter(m._get_method(name).graph.findAllNodes("prim::SetAttr")), None)
            if node is not None:
                return f"{name} assigns the attribute {node.s('name')}"
    return ""


@functools.cache
def _watch() -> None:
    """Read attributes again when Python assigns one of any scripted module."""
    classes: Any = torch.jit._script
    for cls, name in (
        (classes.RecursiveScriptModule, "__setattr__"),
        (classes.OrderedDictWrapper, "__setitem__"),
        (classes.OrderedModuleDict, "__setitem__"),
    ):
        setattr(cls, name, _noticing(getattr(cls, name)))


def _noticing(assign: Any) -> Any:
    @functools.wraps(assign)
    def noticed(self: Any, name: str, value: Any) -> None:
        assign(self, name, value)
        if not self.__dict__.get("_initializing"):
            for a in list(_live):
                a.assigned(name)

    return noticed


def _run(key: str, facts: str, tensors: list[Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Run a script, with `tensors` in the place of the module's. `facts` is for Dynamo, which guards it."""
    script = _scripts[key]
    scope = {**script.scope}
    carried = iter(tensors)
    attributes = [next(carried) if _carried(x) else x for x in _read(script)]
    for path, name in script.getters.items():
        mine = zip(script.program.attributes, attributes, strict=True)
        scope[name] = {n: x for (p, n), x in mine if p == path}.__getitem__
    if dispatch_modes():
        kinds = [a.type.annotation_str for a in script.schema.arguments][1:]
        scope.update(
            {"_raised": lambda e: e, "_scripted": _unconverted, "_converted": functools.partial(_given, kinds)}
        )
        scope.update({name: call._fusewright.fn for name, call in script.made.values()})
    call = types.FunctionType(script.call.__code__, scope, script.title, script.call.__defaults__)
    args, kwargs = pytree.tree_map(lambda x: None if type(x) is str and x == _NONE else x, (args, kwargs))
    return call(*args, **kwargs)


def _given(kinds: list[str], *values: Any) -> list[Any] | None:
    """Arguments as TorchScript would convert them; None if that is not known."""
    out = [_converted(kind, x) for kind, x in zip(kinds, values, strict=True)]
    return None if any(x is UNKNOWN for x in out) else out


def _converted(kind: str, x: Any) -> Any:
    """`convert`; symbolic numbers, which it does not know, stay what they are wherever they need no conversion."""
    leaves = pytree.tree_leaves(x)
    if not any(type(y) in _SYMBOLIC for y in leaves):
        return convert(kind, x)
    numbers = [_SYMBOLIC.get(type(y), y) for y in leaves]
    found = convert(kind, pytree.tree_unflatten(numbers, pytree.tree_structure(x)))
    if found is UNKNOWN or list(map(type, pytree.tree_leaves(found))) != list(map(type, numbers)):
        return UNKNOWN
    return pytree.tree_unflatten(leaves, pytree.tree_structure(found))


def _unconverted(*_: Any) -> Any:
    raise UserError(
        "a scripted module is called inside torch.compile with arguments that only TorchScript can convert: give it "
        "the types that it declares, or call it in a function under torch.compiler.disable"
    )


run = torch._dynamo.nonstrict_trace(_run)


def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`ScriptedModule.forward` as Dynamo sees it."""
    if self._inside.why:
        torch._dynamo.graph_break(
            msg=f"a scripted module cannot be part of a graph: {self._inside.why}. Call it in a function under "
            "torch.compiler.disable, or compile the module that was scripted"
        )
    given, named = pytree.tree_map(lambda x: _NONE if x is None else x, (list(args), kwargs))
    return run(self._inside.key, self._inside.facts, self._inside.values, given, named)


__all__ = ["Attributes", "forward"]
