"""How a compiled program is called: what its arguments must be, and how its result is put together. Plain data.

An exported program is called with the nested arguments it was exported with. `Convention` says what they are, and
`to_data` and `from_data` turn it into what JSON can hold and back. Expressions are Python source over the
names of size symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ..core.errors import UserError

Size = int | str  # a number, or Python source over size symbols


@dataclass(frozen=True, slots=True)
class Spec:
    """The structure of nested arguments or results.

    kind       data                             parts
    "leaf"
    "tuple", "list"                             items
    "dict"     its keys, in order               values
    "other"    the node, as torch writes it     what is in it       (named tuples, dataclasses, ... known to pytree)
    """

    kind: str
    data: Any = None
    parts: tuple[Spec, ...] = ()

    @property
    def leaves(self) -> int:
        return 1 if self.kind == "leaf" else sum(p.leaves for p in self.parts)


@dataclass(frozen=True, slots=True)
class Argument:
    """A leaf of the arguments. `name`: as a Python expression, for messages.

    kind        meaning
    "tensor"    of `dtype` on `device` with extents `shape`; `strides`: those that the program wants it to have, which
                it is copied to if it has others (`contiguous`: they are the plain ones); `mutated`: whether the program
                writes into it
    "int"       an integer, whose value is the symbol `value`
    "value"     `value` and nothing else
    """

    name: str
    kind: str
    dtype: str = ""
    device: str = ""
    shape: tuple[Size, ...] = ()
    strides: tuple[Size, ...] = ()
    contiguous: bool = False
    mutated: bool = False
    value: Any = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A size symbol: `source`, Python source over `n`, its value where leaf `argument` has extent (or value) `n`.

    `dim`: which extent; None for an integer. `low`, `high`: the range it must be in (None: no limit).
    """

    name: str
    argument: int
    dim: int | None
    source: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Result:
    """A leaf of the result: output `data` of the plan, leaf `data` of the arguments, the parameter or buffer `data`, or
    the value `data`. `kind`: "output", "argument", "state" or "value"."""

    kind: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the plan: a new tensor, or (`dtype` "") the number `shape[0]`."""

    dtype: str
    device: str = ""
    shape: tuple[Size, ...] = ()
    strides: tuple[Size, ...] = ()


@dataclass(slots=True)
class Convention:
    """How a program is called.

    `names`: of positional parameters; `takes`: a tuple of the positional arguments and the dict of the others; `gives`:
    the result; `arguments`, `results`: the leaves of both. `symbols` in the order in which the plan takes them, before
    `state` (names of buffers that it writes), before the tensors (`passed`: (leaf, whether it is to have the strides
    that the program wants)). `guards`: conditions on the symbols. `outputs`: what the plan gives, if that is known and
    all of it is new.
    """

    names: list[str]
    takes: Spec
    gives: Spec
    arguments: list[Argument]
    results: list[Result]
    symbols: list[Symbol] = field(default_factory=list)
    state: list[str] = field(default_factory=list)
    passed: list[tuple[int, bool]] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    outputs: list[Output] | None = None


# --- structure of torch's making -------------------------------------------------------------------


def spec_of(tree: Any) -> Spec:
    """A `TreeSpec` of torch. Raises UserError for types that cannot be written down."""
    if tree.is_leaf():
        return Spec("leaf")
    parts = tuple(spec_of(c) for c in tree.children())
    if tree.type in (tuple, list):
        return Spec(tree.type.__name__, None, parts)
    if tree.type is dict and all(isinstance(k, (str, int)) and not isinstance(k, bool) for k in tree.context):
        return Spec("dict", list(tree.context), parts)
    bare = pytree.TreeSpec(tree.type, tree.context, [pytree.treespec_leaf() for _ in tree.children()])
    try:
        text = pytree.treespec_dumps(bare)
    except (NotImplementedError, TypeError, ValueError) as e:
        kind = tree.context if tree.type.__name__ == "namedtuple" else tree.type
        raise UserError(
            f"a {getattr(kind, '__name__', kind)} among the arguments or results cannot be written down ({e}): "
            "register it with torch's pytree under a name, or use tuples, lists and dicts"
        ) from e
    return Spec("other", text, parts)


def node_of(spec: Spec) -> Any:
    """The `TreeSpec` of an "other" node, with leaves for parts. Raises UserError if its type is not known here."""
    if "__enum__" in spec.data:  # torch would import what the file says
        raise UserError("a structure with enumerations as keys cannot be loaded")
    try:
        return pytree.treespec_loads(spec.data)
    except (NotImplementedError, AttributeError, ImportError, TypeError, ValueError, KeyError) as e:
        raise UserError(
            f"a type among the program's arguments or results is not known here ({e}): import the module that "
            "registers it before the program is loaded"
        ) from e


# --- as data -----------------------------------------------------------------------------------------


def to_data(c: Convention) -> dict[str, Any]:
    """What JSON can hold. Raises UserError for fixed values that it cannot."""

    def spec(s: Spec) -> Any:
        return [s.kind, s.data, [spec(p) for p in s.parts]]

    def argument(a: Argument) -> dict[str, Any]:
        if a.kind != "tensor":
            return {"name": a.name, "kind": a.kind, "value": pack(a.value) if a.kind == "value" else a.value}
        layout = {"shape": list(a.shape), "strides": list(a.strides), "contiguous": a.contiguous, "mutated": a.mutated}
        return {"name": a.name, "kind": a.kind, "dtype": a.dtype, "device": a.device, **layout}

    return {
        "names": c.names,
        "takes": spec(c.takes),
        "gives": spec(c.gives),
        "arguments": [argument(a) for a in c.arguments],
        "results": [[r.kind, pack(r.data) if r.kind == "value" else r.data] for r in c.results],
        "symbols": [[s.name, s.argument, s.dim, s.source, s.low, s.high] for s in c.symbols],
        "state": c.state,
        "passed": [list(p) for p in c.passed],
        "guards": c.guards,
        "outputs": c.outputs and [[o.dtype, o.device, list(o.shape), list(o.strides)] for o in c.outputs],
    }


def from_data(data: dict[str, Any]) -> Convention:
    """The inverse of `to_data`. Raises KeyError, TypeError or ValueError for other data."""

    def spec(s: Any) -> Spec:
        kind, own, parts = s
        return Spec(kind, own, tuple(spec(p) for p in parts))

    def argument(a: dict[str, Any]) -> Argument:
        if a["kind"] != "tensor":
            return Argument(a["name"], a["kind"], value=unpack(a["value"]) if a["kind"] == "value" else a["value"])
        shape, strides = tuple(a["shape"]), tuple(a["strides"])
        return Argument(a["name"], "tensor", a["dtype"], a["device"], shape, strides, a["contiguous"], a["mutated"])

    return Convention(
        list(data["names"]),
        spec(data["takes"]),
        spec(data["gives"]),
        [argument(a) for a in data["arguments"]],
        [Result(kind, unpack(x) if kind == "value" else x) for kind, x in data["results"]],
        [Symbol(*s) for s in data["symbols"]],
        list(data["state"]),
        [(int(k), bool(w)) for k, w in data["passed"]],
        list(data["guards"]),
        data.get("outputs") and [Output(t, d, tuple(n), tuple(k)) for t, d, n, k in data["outputs"]],
    )


_NAMED = (torch.dtype, torch.layout, torch.memory_format)


def pack(x: Any) -> Any:
    """A value of a program as JSON has it. Raises UserError for what is no plain value."""
    if x is None or isinstance(x, (bool, str)) or type(x) is int:
        return x
    if isinstance(x, float):
        return {"float": x.hex()}
    if isinstance(x, complex):
        return {"complex": [x.real.hex(), x.imag.hex()]}
    if isinstance(x, _NAMED):
        return {"torch": str(x).removeprefix("torch.")}
    if isinstance(x, torch.device):
        return {"device": str(x)}
    if isinstance(x, (list, tuple, torch.Size)):
        return {type(x).__name__: [pack(y) for y in x]}
    raise UserError(f"a {type(x).__name__} ({x!r}) is no value that can be saved")


def unpack(x: Any) -> Any:
    """The inverse of `pack`. Raises KeyError, TypeError or ValueError for other data."""
    if not isinstance(x, dict):
        return x
    ((kind, v),) = x.items()
    if kind == "float":
        return float.fromhex(v)
    if kind == "complex":
        return complex(float.fromhex(v[0]), float.fromhex(v[1]))
    if kind == "torch":
        found = getattr(torch, v, None)
        if not isinstance(found, _NAMED):
            raise ValueError(f"torch.{v} is no type, layout or memory format")
        return found
    if kind == "device":
        return torch.device(v)
    made: dict[str, Callable[[list[Any]], Any]] = {"list": list, "tuple": tuple, "Size": torch.Size}
    return made[kind]([unpack(y) for y in v])


def described(a: Argument) -> str:
    """An argument as people read it: "x: float32[s77, 64] on cpu"."""
    if a.kind == "tensor":
        written = ", written into" if a.mutated else ""
        return f"{a.name}: {a.dtype}[{', '.join(map(str, a.shape))}] on {a.device}{written}"
    return f"{a.name}: int {a.value}" if a.kind == "int" else f"{a.name}: {a.value!r}"
