"""How the units of a definition are made: operands, primitives, operators.

Primitives are generated from `prims/table.py` (`d.exp(x)`, `d.fma(x, y, z)`; `d.and_`, `d.or_`, `d.not_` because of
Python's keywords). They are strict: operands have one type, as the table says. Python numbers, sizes and scalars take
the type of the tensors beside them. Operators (`x + y`) promote (`symbolic.py`).

Each call is a unit of the graph, with the user's line. Errors are UserErrors that begin with the operation's name.
"""

from __future__ import annotations

import keyword
import linecache
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.dtypes import BY_NAME, DType, bool_, f32, f64, i64, u32
from ..core.errors import Refusal, UserError
from ..core.switches import suggest
from ..prims.table import PRIMS, Prim
from .builder import Builder
from .ir import Graph, Unit, Value
from .promotion import common, number_type
from .symbolic import Size, Tensor, TensorLike
from .verify import check

PREFIX = "fusewright."  # of units' targets
_PACKAGE = f"{Path(__file__).parent.parent}/"
_KIND_NAMES = {"f": "floats", "i": "signed integers", "u": "unsigned integers", "b": "truth values"}
_MULTIPLIED: dict[int | float, int] = {2: 1, 3: 2}  # exponents that are so many multiplications


_TORCHS = {"bfloat16": "bf16", "bool": "bool", "uint8": "u8", "float8_e4m3fn": "f8e4m3s", "float8_e5m2": "f8e5m2"} | {
    f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("float", "int") for bits in (8, 16, 32, 64)
}


def dtype_of(name: Any, what: str = "dtype") -> DType:
    """An element type by name ("f32", "bf16", ...), or by what torch calls it (`torch.float32`). Raises UserError."""
    if type(name).__module__ == "torch":
        known_as = _TORCHS.get(str(name).removeprefix("torch."))
        name = name if known_as is None else known_as
    d = name if isinstance(name, DType) else BY_NAME.get(name) if isinstance(name, str) else None
    if d is None or d is u32:
        known = [n for n in BY_NAME if n != "u32"]
        raise UserError(f"{what}: no element type {name!r}: {suggest(str(name), known)}")
    return d


def users_line() -> str:
    """`file:line (source)` of the code that called this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    file, number = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(file, number).strip()
    return f"{file}:{number} ({source})" if source else f"{file}:{number}"


class Units:
    """Builds `graph`, unit by unit."""

    def __init__(self) -> None:
        self.graph = Graph()
        self._builder = Builder(self.graph)
        self._fixed = ""  # why nothing can be added any more

    # --- units ---
    def _unit(self, op: str, build: Callable[[Builder], Value], number: bool = False) -> Tensor:
        """What `build` makes, as a unit."""
        self._open()
        b, units = self._builder, self.graph.units
        unit = Unit(len(units), f"{op}_{len(units)}", PREFIX + op, users_line(), "fused")
        mark = len(self.graph.eqns)
        try:
            with b.transaction(unit.index):
                out = build(b)
                for e in self.graph.eqns[mark:]:
                    check(e)
        except (Refusal, TypeError, ValueError) as error:
            text = error.detail if isinstance(error, Refusal) else str(error)
            raise UserError(text if text.startswith(op) else f"{op}: {text}") from None
        eqns = self.graph.eqns[mark:]
        made = {e.out for e in eqns}
        if out not in made:
            del self.graph.eqns[mark:]
            return Tensor(self, out, number)
        unit.reads = tuple(dict.fromkeys(v for e in eqns for v in e.inputs if v not in made))
        unit.results = (out,)
        units.append(unit)
        return Tensor(self, out, number)

    def _open(self) -> None:
        if self._fixed:
            raise UserError(f"this definition can no longer be changed: {self._fixed}")

    def _mine(self, x: Any, what: str) -> Tensor:
        """A tensor of this definition, from a tensor, size or number."""
        if isinstance(x, Tensor):
            if x._definition is not self:
                raise UserError(f"{what}: {x!r} belongs to another definition")
            return x
        if isinstance(x, Size):
            return self._unit("size", lambda b: b.scalar(x.ix, i64), number=True)
        if isinstance(x, (bool, int, float)):
            return self._unit("constant", lambda b: b.const(x, number_type(x)), number=True)
        raise UserError(f"{what}: expected a tensor or a number, not {x!r}")

    def _operand(self, b: Builder, x: Any, dtype: DType) -> Value:
        """A tensor, size or number in `dtype`."""
        if isinstance(x, Tensor):
            return b.cast(x._value, dtype)
        if isinstance(x, Size):
            return b.cast(b.scalar(x.ix, i64), dtype)
        return b.const(fitting(x, dtype), dtype)

    def _check(self, xs: Iterable[Any], what: str) -> None:
        for x in xs:
            if isinstance(x, Tensor):
                self._mine(x, what)
            elif not isinstance(x, (Size, bool, int, float)):
                raise UserError(f"{what}: expected a tensor or a number, not {x!r}")

    # --- primitives and operators ---
    def _primitive(self, p: Prim, args: tuple[Any, ...]) -> Tensor:
        self._check(args, p.name)
        if len(args) != p.arity:
            raise UserError(f"{p.name} takes {p.arity} operand{'s' * (p.arity > 1)}, got {len(args)}")
        typed = args[1:] if p.name == "where" else args
        fixed = [x._value.dtype for x in typed if isinstance(x, Tensor) and not x._number]
        free = [_level(x) for x in typed if not isinstance(x, Tensor) or x._number]
        dtype = fixed[0] if fixed else common(free)
        if not fixed and dtype.kind not in p.kinds and "f" in p.kinds and not dtype.is_bool:
            dtype = f64  # numbers only: exp(2)
        number = not fixed and p.name != "where"

        def build(b: Builder) -> Value:
            loose = lambda x: not isinstance(x, Tensor) or x._number
            values = [self._operand(b, x, dtype if loose(x) else x._value.dtype) for x in typed]
            if p.name == "where":
                values.insert(0, self._operand(b, args[0], bool_) if loose(args[0]) else args[0]._value)
            return b.map(p.name, *values)

        return self._unit(p.name, build, number)

    def _operator(self, op: str, x: TensorLike, y: TensorLike) -> Any:
        """`x op y` with promotion."""
        if any(not isinstance(v, (Tensor, Size, bool, int, float)) for v in (x, y)):
            return NotImplemented
        self._check((x, y), op)
        dtype = common([_level(x), _level(y)])
        number = all(not isinstance(v, Tensor) or v._number for v in (x, y))
        if dtype.is_bool and op in ("add", "mul"):
            op = "or" if op == "add" else "and"
        if op == "div" and not dtype.is_float:
            dtype = f64 if number else f32
        if op == "pow":
            return self._power(x, y, dtype, number)
        p = PRIMS[op]
        if dtype.kind not in p.kinds:
            raise UserError(f"{op} does not take {dtype}")
        return self._unit(op, lambda b: b.map(op, self._operand(b, x, dtype), self._operand(b, y, dtype)), number)

    def _power(self, x: Any, y: Any, dtype: DType, number: bool) -> Tensor:
        times = _MULTIPLIED.get(y) if isinstance(y, (int, float)) and not isinstance(y, bool) else None
        if times is None and not dtype.is_float:
            raise UserError(f"pow of {dtype}: cast to a float first, or use the exponents 2 and 3")

        def build(b: Builder) -> Value:
            base = self._operand(b, x, dtype)
            if isinstance(y, float) and y == 0.5:
                return b.sqrt(base)
            if times is None:
                return b.pow(base, self._operand(b, y, dtype))
            out = base
            for _ in range(times):
                out = b.mul(out, base)
            return out

        return self._unit("pow", build, number)

    if TYPE_CHECKING:  # the primitives, which are made from the table below

        def __getattr__(self, name: str) -> Callable[..., Tensor]: ...


def _level(x: Any) -> tuple[DType, int]:
    if isinstance(x, Tensor):
        return x._value.dtype, 0 if x._number else 2 if x.ndim else 1
    return (i64, 0) if isinstance(x, Size) else (number_type(x), 0)


def fitting(x: Any, dtype: DType) -> Any:
    """A number that `dtype` can hold. Raises TypeError."""
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        if not isinstance(x, bool):
            raise TypeError(f"{x!r} is not a number")
        return x
    if dtype.is_bool:
        raise TypeError(f"{x!r} is not a truth value")
    if dtype.is_int:
        low = 0 if dtype.kind == "u" else -(1 << (8 * dtype.itemsize - 1))
        if isinstance(x, float) or not low <= x <= low + (1 << (8 * dtype.itemsize)) - 1:
            raise TypeError(f"{x!r} is not a value of {dtype}")
    elif isinstance(x, int):
        try:
            return float(x)
        except OverflowError:
            raise TypeError(f"an integer of {x.bit_length()} bits is not a value of {dtype}") from None
    return x


def dim_of(d: Any, rank: int) -> int:
    if isinstance(d, bool) or not isinstance(d, int) or not -rank <= d < rank:
        raise UserError(f"there is no dimension {d!r} of {rank}")
    return d + rank if d < 0 else d


def dims_of(ds: int | Sequence[int], rank: int) -> list[int]:
    out = [dim_of(d, rank) for d in (ds if isinstance(ds, Iterable) else [ds])]
    if len(set(out)) != len(out):
        raise UserError(f"a dimension twice in {tuple(out)}")
    return out


# --- primitives, from the table ----------------------------------------------------------------------


def spelled(prim: str) -> str:
    """The name of a primitive's method."""
    return f"{prim}_" if keyword.iskeyword(prim) else prim


def _method(p: Prim) -> Callable[..., Tensor]:
    def method(self: Units, *operands: TensorLike) -> Tensor:
        return self._primitive(p, operands)

    kinds = ", ".join(_KIND_NAMES[k] for k in p.kinds)
    takes = "a condition and two operands" if p.name == "where" else f"{p.arity} operand{'s' * (p.arity > 1)}"
    gives = "truth values" if p.result == "bool" else "their type"
    method.__name__ = method.__qualname__ = spelled(p.name)
    method.__doc__ = f"The primitive `{p.name}`: {takes} of one type ({kinds}), which broadcast; gives {gives}."
    return method


def _on_tensor(name: str) -> Callable[..., Tensor]:
    def method(self: Tensor) -> Tensor:
        out: Tensor = getattr(self._definition, name)(self)
        return out

    method.__name__ = method.__qualname__ = name
    method.__doc__ = getattr(Units, name).__doc__
    return method


for _p in PRIMS.values():
    setattr(Units, spelled(_p.name), _method(_p))
    if _p.arity == 1:
        setattr(Tensor, spelled(_p.name), _on_tensor(spelled(_p.name)))

del _p
