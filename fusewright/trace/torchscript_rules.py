"""What TorchScript's operators are in Python: an expression for each, and whether a trace can follow it.

PyTorch's own operators (those of its dispatcher) are called as they are. Those that only the TorchScript interpreter
has (arithmetic on numbers, lists, dictionaries, strings, what a tensor is like) have a row here. What has neither is
run by the interpreter, one node at a time.

A rule's `text` is a Python expression of the operands `{0}`, `{1}`, ...; `{*}` is all of them. Kinds:

    pure     decided by its operands alone
    static   decided by what a trace is for: rank, element type, device
    size     decided by extents and strides
    tensor   computes a tensor, or views one
    host     has to run in Python: it needs values, or has an effect that a trace would lose
    change   changes the list or dictionary {0}; its result is {0} itself if `text` ends with "-> {0}"
"""

from __future__ import annotations

import math
import warnings
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from ..core.errors import FusewrightError, Refusal


@dataclass(frozen=True, slots=True)
class Rule:
    """How an operator is written and run. `wraps`: on integers, it wraps around at 64 bits. `why`: of "host"."""

    kind: str
    text: str
    wraps: bool = False
    why: str = ""


# What the texts of rules call by the names that Python has for it: no value is called like that.
PYTHON = frozenset(("abs", "all", "any", "bool", "dict", "float", "int", "len", "list", "max", "min", "range", "sum"))
PYTHON |= {"isinstance", "round", "str", "tuple", "type"}
_NUMBERS = frozenset(("int", "float", "bool", "number", "Scalar"))


def _rows(kind: str, rows: dict[str, str], wraps: bool = False) -> dict[str, Rule]:
    return {name: Rule(kind, text, wraps) for name, text in rows.items()}


# Arithmetic on numbers, by base name; whatever the overload, if all operands are numbers.
_ARITHMETIC: dict[str, Rule] = {
    **_rows("pure", {"add": "({0} + {1})", "sub": "({0} - {1})", "mul": "({0} * {1})", "neg": "(-{0})"}, wraps=True),
    **_rows("pure", {"eq": "({0} == {1})", "ne": "({0} != {1})", "lt": "({0} < {1})", "le": "({0} <= {1})"}),
    **_rows("pure", {"gt": "({0} > {1})", "ge": "({0} >= {1})", "div": "_div({0}, {1})", "sqrt": "_sqrt({0})"}),
}

# The same for integers (and booleans) only: Python's meaning for floats differs from C++'s.
_INTEGERS: dict[str, Rule] = _rows(
    "pure",
    {
        **{"floordiv": "({0} // {1})", "remainder": "({0} % {1})", "__and__": "({0} & {1})", "__or__": "({0} | {1})"},
        **{"__xor__": "({0} ^ {1})", "min": "_min({0}, {1})", "max": "_max({0}, {1})", "abs": "abs({0})"},
        **{"Bool": "({0} != 0)", "Int": "int({0})", "Float": "_float({0})", "__range_length": "_trips({*})"},
        **{"__derive_index": "({0} * {2} + {1})"},
    },
)

_BY_NAME: dict[str, Rule] = {
    **_rows(
        "pure",
        {
            **{"aten::__not__": "(not {0})", "aten::__is__": "({0} is {1})", "aten::__isnot__": "({0} is not {1})"},
            **{"aten::Float.float": "{0}", "aten::Float.Scalar": "_float({0})", "aten::Int.float": "_truncated({0})"},
            **{"aten::Int.Scalar": "_int({0})"},
            **{"aten::Bool.float": "({0} != 0)", "aten::neg.float": "(-{0})", "prim::abs.float": "abs({0})"},
            **{"prim::min.float": "_min({0}, {1})", "prim::max.float": "_max({0}, {1})"},
            **{"aten::_unwrap_optional": "_unwrap({0})", "prim::unchecked_unwrap_optional": "{0}"},
            **{"prim::unchecked_cast": "{0}", "prim::Uninitialized": "None"},
            # sequences
            **{"aten::len.t": "len({0})", "aten::len.str": "len({0})", "aten::__getitem__.t": "{0}[{1}]"},
            **{"aten::select.t": "{0}[{1}]", "aten::slice.t": "{0}[{1}:{2}:{3}]", "aten::add.t": "({0} + {1})"},
            **{"aten::list.t": "list({0})", "aten::copy.t": "list({0})", "aten::Size": "list({0})"},
            **{"aten::mul.left_t": "({0} * {1})", "aten::mul.right_": "({0} * {1})", "prim::rangelist": "_range({0})"},
            **{"aten::list": "list({0})", "prim::TupleIndex": "{0}[{1}]", "aten::any.bool": "any({0})"},
            **{"aten::all.bool": "all({0})", "aten::any.int": "any({0})", "aten::all.int": "all({0})"},
            **{"aten::sum.int": "sum({0})", "prim::min.self_int": "min({0})", "prim::max.self_int": "max({0})"},
            **{
                f"aten::{op}.{kind}_list": f"({{0}} {sign} {{1}})"
                for op, sign in (("eq", "=="), ("ne", "!="))
                for kind in ("int", "bool", "str", "float")
            },
            **{f"aten::__contains__.{kind}_list": "({1} in {0})" for kind in ("int", "float", "str")},
            # strings, devices and members of enumerations
            **{
                f"aten::{op}.{kind}": f"({{0}} {sign} {{1}})"
                for op, sign in (("eq", "=="), ("ne", "!="))
                for kind in ("str", "device", "enum")
            },
            **{"aten::add.str": "({0} + {1})", "aten::__getitem__.str": "{0}[{1}]"},
            **{"aten::device": "_torch.device({0})", "aten::device.with_index": "_torch.device({0}, {1})"},
            **{"prim::type": "{0}.type", "prim::index": "{0}.index"},
        },
    ),
    **_rows(
        "static",
        {
            **{"aten::dim": "{0}.dim()", "prim::dtype": "_code({0}.dtype)", "prim::device": "{0}.device"},
            **{"prim::layout": "_code({0}.layout)", "aten::is_floating_point": "{0}.is_floating_point()"},
            **{"aten::is_complex": "{0}.is_complex()", "prim::itemsize": "{0}.itemsize"},
            **{"aten::element_size": "{0}.element_size()", "aten::is_contiguous": "{0}.is_contiguous()"},
            **{
                f"prim::is_{what}": f"{{0}}.is_{what}"
                for what in ("cpu", "cuda", "meta", "mkldnn", "mps", "nested", "quantized", "sparse", "xpu", "xla")
            },
        },
    ),
    **_rows(
        "size",
        {
            **{"aten::size": "list({0}.shape)", "aten::size.int": "{0}.size({1})", "aten::numel": "{0}.numel()"},
            **{"aten::stride": "list({0}.stride())", "aten::stride.int": "{0}.stride({1})"},
            **{"aten::len.Tensor": "{0}.size(0)", "prim::nbytes": "({0}.numel() * {0}.itemsize)"},
        },
    ),
    **_rows(
        "tensor",
        {
            **{"prim::NumToTensor.Scalar": "_wrapped({0})", "prim::NumToTensor.bool": "_wrapped({0})"},
            **{f"aten::tensor{over}": "_tensor({0}, {1}, {2}, {3})" for over in ("", ".int", ".float", ".bool")},
            **{f"aten::as_tensor{over}": "_tensor({0}, {1}, {2})" for over in (".list", ".int", ".float", ".bool")},
            **{"aten::as_tensor": "_to({0}, {2}, {1}, False, False)", "aten::numpy_T.a": "{0}.T"},
            **{"aten::to.prim_Device": "_to({*})", "aten::to.prim_dtype": "_to({0}, None, {1}, {2}, {3})"},
            **{"aten::to.prim_other": "_to({0}, None, None, {1}, {2})", "aten::cpu": "{0}.cpu()"},
            **{"aten::cuda": "{0}.cuda()", "prim::abs": "{0}.abs()"},
            **{"aten::split": "{0}.split({1}, {2})", "aten::copy_.Tensor": "{0}.copy_({1})"},
            **{"aten::copy_.int": "{0}.fill_({1})", "aten::copy_.float": "{0}.fill_({1})"},
        },
    ),
    **_rows(
        "change",
        {
            **{"aten::append.t": "{0}.append({1}) -> {0}", "aten::extend.t": "{0}.extend({1})"},
            **{"aten::insert.t": "{0}.insert({1}, {2})", "aten::pop.t": "{0}.pop({1})", "aten::clear.t": "{0}.clear()"},
            **{"aten::reverse.t": "{0}.reverse()", "aten::_set_item.t": "{0}.__setitem__({1}, {2}) -> {0}"},
            **{"aten::add_.t": "{0}.extend({1}) -> {0}", "aten::Delete.t": "{0}.__delitem__({1})"},
            **{f"aten::sort.{kind}": "{0}.sort(reverse={1})" for kind in ("int", "float", "bool", "str")},
            **{f"aten::remove.{kind}": "{0}.remove({1})" for kind in ("int", "float", "bool", "str")},
        },
    ),
    **{
        name: Rule("host", text, why=why)
        for text, why, *names in (
            ("int({0}.item())", "reads a value", "aten::Int.Tensor"),
            ("float({0}.item())", "reads a value", "aten::Float.Tensor"),
            ("bool({0}.item())", "reads a value", "aten::Bool.Tensor"),
            ("{0}.item()", "reads a value", "aten::item"),
            ("{0}.requires_grad", "asks for a gradient's need", "prim::requires_grad"),
            ("_torch.is_grad_enabled()", "asks for the grad mode", "aten::is_grad_enabled"),
            ("_torch._C._set_grad_enabled({0})", "changes the grad mode", "aten::set_grad_enabled"),
            ("{0}.data", "takes a tensor out of autograd", "prim::data"),
            ("{0}.grad", "asks for a gradient", "prim::grad"),
            ("_warn({0}, {1})", "warns", "aten::warn"),
        )
        for name in names
    },
}

_DICT: dict[str, Rule] = {
    **_rows(
        "pure",
        {
            **{"__getitem__": "{0}[{1}]", "__contains__": "({1} in {0})", "len": "len({0})", "get": "{0}.get({1})"},
            **{"get.default": "{0}.get({1}, {2})", "keys": "list({0}.keys())", "values": "list({0}.values())"},
            **{"items": "list({0}.items())", "copy": "dict({0})", "dict": "dict({*})"},
        },
    ),
    **_rows(
        "change",
        {
            **{"_set_item": "{0}.__setitem__({1}, {2})", "Delete": "{0}.__delitem__({1})", "clear": "{0}.clear()"},
            **{"pop": "{0}.pop({1})", "pop.default": "{0}.pop({1}, {2})", "update": "{0}.update({1})"},
            **{"setdefault": "{0}.setdefault({1}, {2})"},
        },
    ),
}
_KEYS = ("str", "int", "bool", "float")

# Recurrent networks: a trace would unroll them over time.
_WHOLE = frozenset(
    ("lstm", "gru", "rnn_tanh", "rnn_relu", "quantized_lstm", "quantized_gru", "_cudnn_rnn", "mkldnn_rnn_layer")
)
_UNTRACED = frozenset(("requires_grad_", "set_data", "_backward", "retain_grad", "detach_"))
# Dynamic by their tags, but only for boolean masks.
_GATHERS = frozenset(("index", "_unsafe_index"))


def rule_for(schema: Any) -> Rule | None:
    """The row for an operator that only the interpreter has, or with a shorter form in Python; None: it has no row."""
    name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    space, _, base = schema.name.partition("::")
    if space not in ("aten", "prim"):
        return None
    types = [str(a.type) for a in schema.arguments]
    if types and all(t in _NUMBERS for t in types):
        if base in _ARITHMETIC:
            return _ARITHMETIC[base]
        if base in _INTEGERS and all(t in ("int", "bool") for t in types):
            return _INTEGERS[base]
    if types and types[0].startswith("Dict"):
        over = schema.overload_name.removeprefix("Dict_")
        default, key = ("default_", over.removeprefix("default_")) if over.startswith("default_") else ("", over)
        if key in _KEYS:
            return _DICT.get(f"{base}.default" if default else base)
    return None


# What traced programs do with sizes as 0-d tensors, as arithmetic on the sizes themselves.
_SIZES: dict[str, Rule] = _rows(
    "pure",
    {
        **{"aten::add": "({0} + {1})", "aten::sub": "({0} - {1})", "aten::mul": "({0} * {1})"},
        **{"aten::floor_divide": "({0} // {1})", "aten::remainder": "({0} % {1})", "aten::neg": "(-{0})"},
    },
)


def size_rule(schema: Any, constants: Sequence[Any]) -> Rule | None:
    """Arithmetic on integers for an operator on 0-d tensors of integers. `constants`: its further operands."""
    if schema.name == "aten::div" and list(constants) == ["floor"]:
        return _SIZES["aten::floor_divide"]
    return _SIZES.get(schema.name) if all(c == 1 for c in constants) else None


def overload(schema: Any) -> Any:
    """The dispatcher's operator of a schema, or None if it has no such operator."""
    space, _, base = schema.name.partition("::")
    over = schema.overload_name or "default"
    if over.endswith("hacked_twin"):  # the same operator for lists without None
        over = over.removesuffix("hacked_twin").rstrip("_") or "default"
    qualified = schema.name + ("" if over == "default" else f".{over}")
    if qualified not in _dispatched():
        return None
    return getattr(getattr(getattr(torch.ops, space), base), over, None)


@cache
def _dispatched() -> frozenset[str]:
    return frozenset(torch._C._dispatch_get_all_op_names())


def operator_rule(op: Any) -> Rule:
    """The rule of one of the dispatcher's operators; its call is written from its schema."""
    schema = op._schema
    base = schema.name.partition("::")[2]
    if base in _WHOLE:
        return Rule("host", "", why="is left to torch as a whole")
    if base in _UNTRACED or torch.Tag.inplace_view in op.tags:
        return Rule("host", "", why="changes what a tensor is, not its values")
    dynamic = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output} & set(op.tags)
    if dynamic and base not in _GATHERS:
        return Rule("host", "", why="has a result whose size or value depends on values")
    kinds = [a.type.kind() for a in schema.returns]
    if not kinds or any(k not in ("TensorType", "ListType") for k in kinds):
        return Rule("host", "", why="has a result that is no tensor")
    return Rule("tensor", "")


def is_view(op: Any) -> bool:
    """Whether an operator may return its operand's memory and computes nothing else."""
    schema = op._schema
    if schema.is_mutable:
        return False
    return any(a.alias_info is not None for a in schema.returns)


# --- what the expressions name -----------------------------------------------------------------------

_DTYPES: dict[torch.dtype, int] = {}
_CODES: dict[Any, int] = {}
_OF_CODE: dict[str, dict[int, Any]] = {"dtype": {}, "layout": {}, "memory_format": {}}


def _learn_codes() -> None:
    """TorchScript's numbers of element types, layouts and memory formats: those of c10, in their order."""
    names = (
        *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64"),
        *("complex128", "bool", "qint8", "quint8", "qint32", "bfloat16", "quint4x2", "quint2x4", "bits1x8", "bits2x4"),
        *("bits4x2", "bits8", "bits16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz"),
        *("uint16", "uint32", "uint64"),
    )
    _OF_CODE["dtype"] = {k: getattr(torch, n) for k, n in enumerate(names) if hasattr(torch, n)}
    formats = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
    _OF_CODE["memory_format"] = {k: getattr(torch, n) for k, n in enumerate(formats)}
    layouts = ("strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
    _OF_CODE["layout"] = {k: getattr(torch, n) for k, n in enumerate(layouts) if hasattr(torch, n)}
    for table in _OF_CODE.values():
        _CODES.update({v: k for k, v in table.items()})


_learn_codes()


def code(x: Any) -> int:
    """TorchScript's number of an element type, a layout or a memory format. Raises KeyError for one without."""
    return _CODES[x]


def of_code(what: str, n: Any) -> Any:
    """The "dtype", "layout" or "memory_format" with a number; None stays None."""
    if n is None or not isinstance(n, (int, torch.SymInt)):
        return n
    try:
        return _OF_CODE[what][int(n)]
    except KeyError:
        raise RuntimeError(f"{n} is no {what}") from None


def _dtype(n: Any) -> Any:
    return of_code("dtype", n)


def _truncated(a: Any) -> Any:
    """A float as an integer of 64 bits, as C++ converts it: what does not fit, and NaN, is the least one on x86."""
    if isinstance(a, torch.SymFloat):
        return torch.sym_int(a)
    return int(a) if -(2.0**63) <= a < 2.0**63 else -(1 << 63)


def _div(a: Any, b: Any) -> Any:
    if b == 0:  # as C++ divides
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _sqrt(a: Any) -> Any:
    if isinstance(a, (torch.SymInt, torch.SymFloat)):
        return torch.sym_sqrt(a)
    return math.sqrt(a) if a >= 0 else math.nan


def _min(a: Any, b: Any) -> Any:
    return torch.sym_min(a, b) if isinstance(a, torch.SymInt) or isinstance(b, torch.SymInt) else (a if a < b else b)


def _max(a: Any, b: Any) -> Any:
    return torch.sym_max(a, b) if isinstance(a, torch.SymInt) or isinstance(b, torch.SymInt) else (a if a > b else b)


def _trips(low: Any, high: Any, step: Any) -> Any:
    """How many numbers `range` has."""
    if step == 0:
        raise RuntimeError("range() arg 3 must not be zero")
    return _max(0, -((low - high) // step))


def _unwrap(x: Any) -> Any:
    if x is None:
        raise RuntimeError("Unwrapping null optional")
    return x


def _wrapped(x: Any) -> torch.Tensor:
    """A number as a tensor of its full type."""
    kind = (
        torch.bool if isinstance(x, bool) else torch.float64 if isinstance(x, (float, torch.SymFloat)) else torch.int64
    )
    return torch.scalar_tensor(x, dtype=kind, device="cpu")


def _tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> torch.Tensor:
    """`torch.tensor` of numbers, which may be symbolic."""
    dtype = _dtype(dtype)
    if isinstance(data, (torch.SymInt, torch.SymFloat)):
        kind = torch.get_default_dtype() if isinstance(data, torch.SymFloat) else torch.int64
        number: Any = data
        return torch.scalar_tensor(number, dtype=dtype or kind, device=device)
    if isinstance(data, list) and any(isinstance(x, (torch.SymInt, torch.SymFloat)) for x in data):
        return torch.stack([_tensor(x, dtype, device) for x in data])
    return torch.tensor(data, dtype=dtype, device=device, requires_grad=bool(requires_grad))


def _to(x: torch.Tensor, device: Any, dtype: Any, non_blocking: bool, copy: bool) -> torch.Tensor:
    dtype = _dtype(dtype)
    return x.to(x.device if device is None else device, x.dtype if dtype is None else dtype, non_blocking, copy)


@cache
def _named(name: str, fields: tuple[str, ...]) -> Any:
    """The type of a named tuple."""
    return namedtuple(name, fields)


def _warn(message: str, stacklevel: int) -> None:
    """A warning of the program, which a trace must not swallow."""
    if torch._guards.TracingContext.try_get() is not None:
        raise Refusal("warning", "it warns")
    warnings.warn(message, stacklevel=2)


def failure(message: str, cls: str | None, where: tuple[str, int, str]) -> Exception:
    """What `raise` in a scripted function raises."""
    file, line, source = where
    at = f'  File "{file}", line {line}\n    {source}\n    {"~" * len(source)} <--- HERE\n' if file else ""
    return torch.jit.Error(f"{_FAILED}{at}{cls or 'RuntimeError'}: {message}\n")


_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def raised(e: Exception) -> Exception:
    """An exception as the interpreter hands it on: an error of an operator is a RuntimeError."""
    if not isinstance(e, _ERRORS) or isinstance(e, FusewrightError):
        return e
    out = RuntimeError(f"{_FAILED}{type(e).__name__}: {e}")
    out.__cause__ = e
    return out


_FAILED = (
    "The following operation failed in the TorchScript interpreter.\n"
    "Traceback of TorchScript (most recent call last):\n"
)


def wrap(n: Any) -> Any:
    """An integer as 64 bits hold it; other numbers as they are."""
    if type(n) is int and not -(1 << 63) <= n < 1 << 63:
        return (n + (1 << 63)) % (1 << 64) - (1 << 63)
    return n


HELPERS: dict[str, Callable[..., Any] | Any] = {
    "_torch": torch,
    **{
        "_code": code,
        "_dtype": _dtype,
        "_of_code": of_code,
        "_div": _div,
        "_sqrt": _sqrt,
        "_float": torch.sym_float,
        "_int": torch.sym_int,
        "_truncated": _truncated,
    },
    **{"_min": _min, "_max": _max, "_trips": _trips, "_unwrap": _unwrap, "_wrapped": _wrapped, "_tensor": _tensor},
    **{"_named": _named, "_failure": failure, "_raised": raised, "_warn": _warn},
    **{"_to": _to, "_wrap": wrap, "_range": lambda n: list(range(n))},
}
