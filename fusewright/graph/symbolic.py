"""What a definition is written in: symbolic sizes, and tensors that are not computed yet.

    Size     an integer expression over size symbols: + - * // % with sizes and integers
    Tensor   a value of the graph: element type, shape, operators, reductions, views

Operators promote their operands by PyTorch's rules (`promotion.py`): tensors with dimensions over 0-d tensors over
numbers. Numbers are Python's, sizes, and scalars that are given when the definition is executed. `/` of integers is
float32; `//` and `%` round towards minus infinity, and give 0 where an integer is divided by 0; `**` with the exponents
2, 3 and 0.5 multiplies or takes the root, and wants floats otherwise. 16-bit floats are computed in float32 and rounded
where they are stored (option `precision`), their sums accumulated in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Union

from ..core.dtypes import DType
from ..core.errors import UserError
from ..index.expr import Ix, ix
from ..prims.table import MONOIDS
from .ir import Value
from .text import parse_ix

SizeLike = Union["Size", int, str]
TensorLike = Union["Tensor", "Size", bool, int, float]


class Size:
    """A symbolic size. Sizes are equal if their expressions are; they have no order and no truth value."""

    __slots__ = ("ix",)

    def __init__(self, e: Ix):
        self.ix = e

    def _with(self, other: Any, f: Any) -> Any:
        if isinstance(other, Size):
            return size(f(self.ix, other.ix))
        return size(f(self.ix, ix(other))) if type(other) is int else NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, _floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: _floordiv(b, a))

    def __mod__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b * _floordiv(a, b))

    def __neg__(self) -> Any:
        return size(-self.ix)

    def __eq__(self, other: object) -> bool:
        return self.ix is as_ix(other) if isinstance(other, (Size, int)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.ix)

    def _unknown(self, *_: Any) -> NoReturn:
        raise UserError(f"the size {self} is not known while the definition is made")

    __bool__ = __int__ = __index__ = __float__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown

    def __repr__(self) -> str:
        return str(self.ix)


def _floordiv(a: Ix, b: Ix) -> Ix:
    n = b.as_int()
    if n is not None and n < 1:
        raise UserError(f"sizes are divided by sizes and positive integers, not by {n}")
    return a // b


def size(e: Ix) -> Size | int:
    """An index expression as users see it: an int if it is constant."""
    n = e.as_int()
    return Size(e) if n is None else n


def as_ix(x: Any, what: str = "a size") -> Ix:
    """The expression behind an int, a Size, or a text like "2 * n + 1". Raises UserError."""
    if isinstance(x, Size):
        return x.ix
    if isinstance(x, int) and not isinstance(x, bool):
        return ix(x)
    if isinstance(x, Ix):
        return x
    if isinstance(x, str):
        try:
            return parse_ix(x)
        except Exception as e:
            raise UserError(f"{what}: {x!r} is not an expression of sizes ({e})") from None
    raise UserError(f"{what} must be an int, a size or a text, not {x!r}")


def as_shape(shape: Any, what: str = "a shape") -> tuple[Ix, ...]:
    """A shape from a sequence of sizes, or from a text with commas between them."""
    if isinstance(shape, str):
        shape = [s for s in shape.split(",") if s.strip()]
    if isinstance(shape, (int, Size, Ix)):
        shape = (shape,)
    try:
        return tuple(as_ix(s, what) for s in shape)
    except TypeError:
        raise UserError(f"{what} must be a sequence of sizes, not {shape!r}") from None


def _binary(method: str, doc: str) -> Any:
    def operator(self: Tensor, other: Any) -> Any:
        return self._definition._operator(method, self, other)

    def reflected(self: Tensor, other: Any) -> Any:
        return self._definition._operator(method, other, self)

    operator.__doc__ = reflected.__doc__ = doc
    return operator, reflected


class Tensor:
    """A value of a definition: it has a type and a shape, and is computed when the definition is executed."""

    __slots__ = ("_definition", "_number", "_value")

    def __init__(self, definition: Any, value: Value, number: bool = False):
        self._definition, self._value, self._number = definition, value, number

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """PyTorch has been given one, alone or beside a tensor of its own."""
        name = getattr(func, "__name__", str(func))
        raise UserError(
            f"torch's {name} does not take values of a definition: use its own operations (d.exp(x), x.sum(), +), and "
            "declare what else is needed as arguments (d.tensor); functions written in PyTorch are for fusewright.fuse"
        )

    @property
    def dtype(self) -> str:
        """The element type's name: "f32", "bf16", "i64", "bool", ..."""
        return self._value.dtype.name

    @property
    def shape(self) -> tuple[Size | int, ...]:
        return tuple(size(n) for n in self._value.shape)

    @property
    def ndim(self) -> int:
        return self._value.rank

    @property
    def numel(self) -> Size | int:
        return size(self._value.numel)

    __add__, __radd__ = _binary("add", "Elementwise sum (or, of truth values: or).")
    __sub__, __rsub__ = _binary("sub", "Elementwise difference.")
    __mul__, __rmul__ = _binary("mul", "Elementwise product (of truth values: and).")
    __truediv__, __rtruediv__ = _binary("div", "Elementwise quotient; of integers in float32.")
    __floordiv__, __rfloordiv__ = _binary("floordiv", "Elementwise quotient, rounded towards minus infinity.")
    __mod__, __rmod__ = _binary("remainder", "Elementwise remainder, with the sign of the divisor.")
    __pow__, __rpow__ = _binary("pow", "Elementwise power.")
    __and__, __rand__ = _binary("and", "Elementwise and of integers (by bits) or truth values.")
    __or__, __ror__ = _binary("or", "Elementwise or of integers (by bits) or truth values.")
    __xor__, __rxor__ = _binary("xor", "Elementwise exclusive or of integers (by bits) or truth values.")
    __lshift__, __rlshift__ = _binary("shl", "Shift to the left; amounts outside [0, bits) give 0.")
    __rshift__, __rrshift__ = _binary("shr", "Shift to the right; amounts outside [0, bits) give 0, or -1 if negative.")
    __lt__, __gt__ = _binary("lt", "Elementwise comparison.")
    __le__, __ge__ = _binary("le", "Elementwise comparison.")
    __eq__, _ = _binary("eq", "Elementwise comparison.")  # type: ignore[assignment]
    __ne__, _ = _binary("ne", "Elementwise comparison.")  # type: ignore[assignment]
    __hash__ = object.__hash__
    del _

    def __neg__(self) -> Tensor:
        return self._definition.neg(self)

    def __invert__(self) -> Tensor:
        return self._definition.not_(self)

    def __abs__(self) -> Tensor:
        return self._definition.abs(self)

    def __bool__(self) -> NoReturn:
        raise UserError("a tensor of a definition has no value yet: use where(condition, a, b) in place of `if`")

    __iter__ = None

    def __getitem__(self, key: Any) -> Tensor:
        """Integers, slices with sizes, None and `...`, as in NumPy; steps are positive integers."""
        return self._definition._index(self, key)

    def to(self, dtype: DType | str, round: bool = False) -> Tensor:
        """This tensor cast to another type; see `cast`."""
        return self._definition.cast(self, dtype, round)

    def reshape(self, *shape: Any) -> Tensor:
        return self._definition.reshape(self, _spread(shape))

    def permute(self, *dims: Any) -> Tensor:
        return self._definition.permute(self, _spread(dims))

    def expand(self, *shape: Any) -> Tensor:
        return self._definition.expand(self, _spread(shape))

    def mean(self, axes: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        """The sum over `axes` (None: all) by the number of elements; of integers in float32."""
        return self._definition.mean(self, axes, keepdim)

    def __repr__(self) -> str:
        return f"Tensor({self._value})"

    if TYPE_CHECKING:  # reductions and primitives of one operand, from the tables

        def __getattr__(self, name: str) -> Any: ...


def _spread(given: tuple[Any, ...]) -> Any:
    return given[0] if len(given) == 1 and isinstance(given[0], (tuple, list, str)) else given


def _reduction(monoid: str) -> Any:
    def method(self: Tensor, axes: int | Sequence[int] | None = None, keepdim: bool = False) -> Tensor:
        return self._definition.reduce(monoid, self, axes, keepdim)

    method.__name__ = monoid
    method.__doc__ = f"Reduce over `axes` (None: all) with the monoid `{monoid}`; see `reduce`."
    return method


for _name in MONOIDS:
    setattr(Tensor, _name, _reduction(_name))
