"""What a fused function's arguments are, as far as its trace depends on it.

`describe` turns the bound arguments of a call into leaves (tensors and symbolic integers, in order) and a structure: a
tree of `Node`s that says where each leaf is found and which values are fixed. Structure and the tensors' `Layout`s
are the key of a trace:

    tensor      element type, device, whether it requires a gradient (with the grad mode); each extent
                if it is 0 or 1 (else symbolic); each stride: dense (a product of inner extents), 0, 1, or symbolic
    int         symbolic, unless it is -1, 0 or 1 or its argument is specialised; then its value
    tuple, list, dict, named tuples and what torch's pytree knows: their type, keys and items
    set, frozenset  their items, in the order in which they are iterated; no tensors
    dataclass, attrs class, SimpleNamespace, if a tensor is in it: its type, and its attributes as a dict has items
    Module      itself, its tree of modules, their training flags; parameters and buffers are leaves
    all others  their value if they are plain (bool, float, str, None, dtype, device, ...), else their identity

Containers of other types (subclasses of these, mappings, iterators) are no part of a trace: it would not notice what
becomes of their items.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import weakref
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.modules import module
from torch.utils import _pytree as pytree

from ..core.errors import Refusal

PLAIN = (
    *(str, bytes, complex, range, type(...), enum.Enum, type),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format),
)
_CONTAINERS = (Mapping, Sequence, Set, ItemsView, KeysView, ValuesView, Iterator)
_FIXED = {-1, 0, 1}  # integers that programs compare with most (dimensions, switches): never symbolic
LARGEST = 1 << 62  # larger integers are never symbolic either: arithmetic in traces has 64 bits
# Hooks of all modules: the dictionaries that `Module.__call__` looks into, without those that this torch does not have.
HOOKS: tuple[Any, ...] = tuple(
    vars(module)[f"_global_{kind}_hooks"]
    for kind in ("backward", "backward_pre", "forward", "forward_pre")
    if f"_global_{kind}_hooks" in vars(module)
)
LOOSE = (complex, range)  # whose == takes different values to be equal; their repr tells them apart

deterministic: Callable[[], bool] = torch._C._get_deterministic_algorithms  # which scatters ask for, and `torch.empty`


def amp_state() -> tuple[Any, ...]:
    """Autocast as far as traces depend on it; () if it is off."""
    if not torch._C._is_any_autocast_enabled():
        return ()
    return tuple((d, torch.get_autocast_dtype(d)) for d in ("cpu", "cuda") if torch.is_autocast_enabled(d))


@dataclass(frozen=True, slots=True)
class Layout:
    """The part of a tensor that a trace depends on.

    `sizes[d]`: an extent that is fixed, or None. `strides[d]`: "dense" (the product of the extents further in), an int
    (fixed), or "free". `order`: dimensions from the innermost out. `name`: the argument, for messages.
    """

    dtype: torch.dtype
    device: torch.device
    requires_grad: bool
    sizes: tuple[int | None, ...]
    strides: tuple[int | str, ...]
    order: tuple[int, ...]
    contiguous: bool


def layout(t: torch.Tensor, fixed: bool) -> Layout:
    """The layout of a strided tensor; with every extent and stride if `fixed`."""
    shape, stride = t.shape, t.stride()
    contiguous = t.is_contiguous()
    sizes = tuple(n if fixed or n < 2 else None for n in shape)
    if fixed:
        return Layout(t.dtype, t.device, t.requires_grad, sizes, stride, (), contiguous)
    rank = len(shape)
    if contiguous:
        return Layout(
            t.dtype, t.device, t.requires_grad, sizes, ("dense",) * rank, tuple(range(rank - 1, -1, -1)), True
        )
    order = tuple(sorted(range(rank), key=lambda d: (stride[d], shape[d] != 1, -d)))
    kinds: list[int | str] = [0] * rank
    expected = 1
    for d in order:
        if shape[d] == 1 or stride[d] == expected:
            kinds[d] = "dense"
        elif stride[d] in (0, 1):
            kinds[d] = stride[d]
        else:
            kinds[d], expected = "free", stride[d]
        if kinds[d] != 0:
            expected *= shape[d]
    return Layout(t.dtype, t.device, t.requires_grad, sizes, tuple(kinds), order, False)


@dataclass(frozen=True, slots=True)
class Node:
    """One argument, or a part of one. Equal nodes are found in the same way and have the same fixed values.

    kind      data                        children
    "tensor", "int"  the leaf's number
    "value"   (type, repr (of floats, `LOOSE`) or value)
    "object"  `Same`
    "method"  `Same` of function and object
    "slice"   (start, stop, step)
    "list", "tuple", "size"  length       items
    "set"     (type, length)              items, none of them leaves
    "named"   type                        fields
    "dict"    keys                        values
    "fields"  (type, names)               attributes
    "module"  `ModuleState`               leaves
    "pytree"  (type, context)             children
    """

    kind: str
    data: Any = None
    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        yield self
        for c in self.children:
            yield from c.walk()


class Keys(tuple[Any, ...]):
    """The keys of a dictionary, literals of Python, in their order: 1 and True are different ones."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keys) and repr(self) == repr(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    @property
    def names(self) -> bool:
        """Whether all are strings, which == tells apart."""
        return all(type(k) is str for k in self)


def _literal(key: Any) -> bool:
    return type(key) in (str, int, bool) or (type(key) is tuple and all(map(_literal, key)))


class Same:
    """An object by identity; weakly referenced where its type allows it."""

    __slots__ = ("_key", "get")

    def __init__(self, x: Any):
        self._key = id(x)
        try:
            self.get: Callable[[], Any] = weakref.ref(x)
        except TypeError:
            self.get = lambda: x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._key == other._key and self.get() is other.get() is not None

    def __hash__(self) -> int:
        return self._key


@dataclass(frozen=True, slots=True)
class ModuleState:
    """What a trace depends on in a module tree, besides its tensors.

    `modules`: (path, module, training, names of its submodules, parameters and buffers); `slots`: (path,
    "_parameters" or "_buffers", name) of every leaf, the shared ones once; `shared`: (path, "_parameters", "_buffers"
    or "_modules", name, number of the slot or module) of those that are found elsewhere, too. `called`: whether hooks
    of the module itself would run inside (that whose forward is traced has been called already).
    """

    modules: tuple[tuple[tuple[str, ...], Same, bool, tuple[str, ...]], ...]
    slots: tuple[tuple[tuple[str, ...], str, str], ...]
    shared: tuple[tuple[tuple[str, ...], str, str, int], ...]
    called: bool

    @property
    def inside(self) -> bool:
        """Whether any module may be called inside, whose hooks a trace would lose."""
        return self.called or len(self.modules) > 1


class Described:
    """The leaves and the structure of one call's arguments."""

    __slots__ = ("entered", "fixed", "inside", "leaves", "names", "structure")

    def __init__(self, entered: str = "") -> None:
        self.entered = entered
        self.leaves: list[Any] = []
        self.names: list[str] = []  # of the argument behind each leaf, as a Python expression
        self.fixed: list[bool] = []  # whether the argument behind a leaf is specialised
        self.inside: set[int] = set()  # ids of the objects whose attributes are looked at
        self.structure: tuple[Node, ...] = ()

    def has_modules(self) -> bool:
        """Whether there are modules among the arguments."""
        return any(n.kind == "module" for top in self.structure for n in top.walk())

    def has_objects(self) -> bool:
        """Whether there are objects among the arguments that may hold tensors where a trace does not look."""
        objects = [n.data for top in self.structure for n in top.walk() if n.kind == "object"]
        return any(not isinstance(x.get(), (types.FunctionType, types.BuiltinFunctionType)) for x in objects)

    def layouts(self) -> dict[int, Layout]:
        """The layout of each tensor among the leaves."""
        return {k: layout(t, self.fixed[k]) for k, t in enumerate(self.leaves) if isinstance(t, torch.Tensor)}

    def more(self, constants: Sequence[torch.Tensor]) -> Described:
        """The same with more leaves, which are no part of the structure."""
        out = Described(self.entered)
        out.structure, out.leaves = self.structure, [*self.leaves, *constants]
        out.names = [*self.names, *("a constant" for _ in constants)]
        out.fixed = [*self.fixed, *(True for _ in constants)]
        return out


def describe(
    values: tuple[Any, ...], names: tuple[str, ...], specialize: frozenset[str] | bool, entered: str = ""
) -> Described:
    """Leaves and structure of the bound arguments `values`, whose parameters are `names`.

    `entered`: the parameter whose `forward` is traced, if any: its hooks are run by whoever calls it.
    Raises Refusal for arguments that only the plain function can handle.
    """
    out = Described(entered)
    out.structure = tuple(
        _node(x, out, name, specialize is True or (specialize is not False and name in specialize))
        for x, name in zip(values, names, strict=True)
    )
    return out


def _leaf(x: Any, out: Described, name: str, fixed: bool) -> int:
    out.leaves.append(x)
    out.names.append(name)
    out.fixed.append(fixed)
    return len(out.leaves) - 1


def _node(x: Any, out: Described, name: str, fixed: bool) -> Node:
    t = type(x)
    if t is torch.Tensor or t is torch.nn.Parameter or t is torch.nn.Buffer:
        if x.layout is not torch.strided or x.is_quantized or x.is_nested or x.device.type == "meta":
            raise Refusal("argument", f"{name} is a {'nested' if x.is_nested else x.layout} tensor on {x.device}")
        if x.is_neg() or x.is_conj() or x._is_zerotensor():
            raise Refusal("argument", f"{name} is a lazy conjugate or negative, or zeros without memory")
        return Node("tensor", _leaf(x, out, name, fixed))
    if isinstance(x, torch.Tensor):
        raise Refusal("argument", f"{name} is a {t.__name__}, a subclass of torch.Tensor")
    if t is int:
        if fixed or x in _FIXED or not -LARGEST < x < LARGEST:
            return Node("value", (int, x))
        return Node("int", _leaf(x, out, name, fixed))
    if x is None or t is bool or t is int:
        return Node("value", (t, x))
    if t is float:
        return Node("value", (float, repr(x)))
    if isinstance(x, PLAIN):
        return Node("value", (t, repr(x) if t in LOOSE else x))
    if t is tuple or t is list:
        return Node(t.__name__, len(x), tuple(_node(y, out, f"{name}[{k}]", fixed) for k, y in enumerate(x)))
    if t is dict:
        if not all(map(_literal, x)):
            raise Refusal("argument", f"{name} has keys that are neither strings nor integers")
        items = tuple(_node(y, out, f"{name}[{k!r}]", fixed) for k, y in x.items())
        return Node("dict", Keys(tuple(x)), items)
    if t is torch.Size:
        return Node("size", len(x), tuple(_node(y, out, f"{name}[{k}]", fixed) for k, y in enumerate(x)))
    if t is slice and all(y is None or type(y) is int for y in (x.start, x.stop, x.step)):
        return Node("slice", (x.start, x.stop, x.step))
    if t is types.MethodType:
        return Node("method", (Same(x.__func__), Same(x.__self__)))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return Node("named", t, tuple(_node(getattr(x, f), out, f"{name}.{f}", fixed) for f in x._fields))
    if isinstance(x, torch.nn.Module):
        return _module(x, out, name)
    if t in pytree.SUPPORTED_NODES:
        children, context = pytree.SUPPORTED_NODES[t].flatten_fn(x)
        parts = tuple(_node(y, out, f"{name}[{k}]", fixed) for k, y in enumerate(children))
        return Node("pytree", (t, repr(context)), parts)
    if t is set or t is frozenset:
        before = len(out.leaves)
        items = tuple(_node(y, out, f"an item of {name}", True) for y in x)
        if len(out.leaves) != before:
            raise Refusal("argument", f"{name} is a set of tensors")
        return Node("set", (t, len(x)), items)
    if t.__module__ == "numpy":
        raise Refusal("argument", f"{name} is a NumPy array")
    if isinstance(x, (torch.SymInt, torch.SymFloat, torch.SymBool, torch.Generator, torch.fx.Proxy)):
        raise Refusal("argument", f"{name} is a {t.__name__}")
    if isinstance(x, _CONTAINERS):
        raise Refusal("argument", f"{name} is a {t.__name__}, a container that is not known to torch's pytree")
    return (_fields(x, out, name, fixed) if is_record(x) else None) or Node("object", Same(x))


def is_record(x: Any) -> bool:
    """Whether an object is nothing but its attributes: it is made anew of other ones."""
    t = type(x)
    if t is types.SimpleNamespace:
        return True
    known = dataclasses.is_dataclass(t) or hasattr(t, "__attrs_attrs__")
    plain = t.__new__ is object.__new__ and not hasattr(t, "__del__") and type(getattr(x, "__dict__", None)) is dict
    return known and plain and not any(vars(c).get("__slots__") for c in t.__mro__)


def _fields(x: Any, out: Described, name: str, fixed: bool) -> Node | None:
    """None if there is no tensor in it."""
    if id(x) in out.inside:
        raise Refusal("argument", f"{name} holds itself")
    before = len(out.leaves)
    out.inside.add(id(x))
    try:
        items = tuple(_node(y, out, f"{name}.{k}", fixed) for k, y in vars(x).items())
    except Refusal:
        if any(isinstance(y, torch.Tensor) for y in out.leaves[before:]):
            raise
        items = ()
    finally:
        out.inside.discard(id(x))
    if any(isinstance(y, torch.Tensor) for y in out.leaves[before:]):
        return Node("fields", (type(x), tuple(vars(x))), items)
    for found in (out.leaves, out.names, out.fixed):
        del found[before:]
    return None


def _module(m: torch.nn.Module, out: Described, name: str) -> Node:
    modules: list[tuple[tuple[str, ...], Same, bool, tuple[str, ...]]] = []
    slots: list[tuple[tuple[str, ...], str, str]] = []
    shared: list[tuple[tuple[str, ...], str, str, int]] = []
    children: list[Node] = []
    seen: dict[int, int] = {}
    first = {id(sub): (k, path) for k, (path, sub) in enumerate(m.named_modules())}
    called = name != out.entered
    for path, sub in m.named_modules():
        if (called or sub is not m) and hooked(sub):
            raise Refusal("argument", f"{name}{'.' if path else ''}{path} has hooks")
        parts = tuple(path.split(".")) if path else ()
        held = tuple(sub.__dict__["_modules"])
        for kind in ("_parameters", "_buffers"):
            for key, t in sub.__dict__[kind].items():
                if t is None:
                    held += (f"-{key}",)
                    continue
                held += (key,)
                if id(t) in seen:
                    shared.append((parts, kind, key, seen[id(t)]))
                else:
                    seen[id(t)] = len(slots)
                    slots.append((parts, kind, key))
                    # a module is the same one in each call, and so are the sizes of what it holds, nearly always
                    children.append(_node(t, out, f"{name}.{path}{'.' if path else ''}{key}", True))
        for key, part in sub.__dict__["_modules"].items():
            if part is not None and first[id(part)][1] != ".".join((*parts, key)):
                shared.append((parts, "_modules", key, first[id(part)][0]))
        modules.append((parts, Same(sub), sub.training, held))
    state = ModuleState(tuple(modules), tuple(slots), tuple(shared), called)
    if state.inside and any(HOOKS):
        raise Refusal("argument", "hooks of all modules are registered")
    return Node("module", state, tuple(children))


def hooked(m: torch.nn.Module) -> bool:
    """Whether calling `m` runs hooks, whose effects a trace would lose."""
    return bool(m._forward_hooks or m._forward_pre_hooks or m._backward_hooks or m._backward_pre_hooks)


def rebuild(node: Node, value: Any, leaves: list[Any]) -> Any:
    """The argument behind `node` with `leaves` in place of its own; `value` is the argument as given."""
    kind = node.kind
    if kind in ("tensor", "int"):
        return leaves[node.data]
    if kind in ("value", "object", "module", "slice", "method", "set"):
        return value
    if kind == "dict":
        return {k: rebuild(c, value[k], leaves) for k, c in zip(node.data, node.children, strict=True)}
    if kind == "pytree":
        entry = pytree.SUPPORTED_NODES[node.data[0]]
        parts, context = entry.flatten_fn(value)
        built = [rebuild(c, v, leaves) for c, v in zip(node.children, parts, strict=True)]
        return entry.unflatten_fn(built, context)
    if kind == "fields":
        t, names = node.data
        made = t.__new__(t)
        vars(made).update({k: rebuild(c, vars(value)[k], leaves) for k, c in zip(names, node.children, strict=True)})
        return made
    items = [rebuild(c, v, leaves) for c, v in zip(node.children, value, strict=True)]
    if kind == "named":
        return node.data(*items)
    return torch.Size(items) if kind == "size" else items if kind == "list" else tuple(items)
