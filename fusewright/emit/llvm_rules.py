"""One LLVM rule per primitive and Loop IR operation: `RULES[name](o)` writes the instructions that define `o.dst`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..core.dtypes import DType
from . import llvm_philox, llvm_quotients, llvm_remainders
from .llvm_types import literal, mangle, scalar, splat, vector

# SLEEF's accuracy suffix of the variant ATen's Vectorized calls
SLEEF = {
    "exp": "u10",
    "exp2": "u10",
    "expm1": "u10",
    "log": "u10",
    "log2": "u10",
    "log10": "u10",
    "log1p": "u10",
    "sin": "u35",
    "cos": "u35",
    "tan": "u10",
    "asin": "u10",
    "acos": "u10",
    "atan": "u10",
    "sinh": "u10",
    "cosh": "u10",
    "tanh": "u10",
    "asinh": "u10",
    "acosh": "u10",
    "atanh": "u10",
    "erf": "u10",
    "erfc": "u15",
    "lgamma": "u10",
    "pow": "u10",
    "atan2": "u10",
    "hypot": "u05",
}


class Writer(Protocol):
    """A function being written. `block_memo`: values that may be used again until the basic block ends."""

    block_memo: dict[Any, str]

    def line(self, s: str) -> None: ...
    def fresh(self, prefix: str = "t") -> str: ...
    def put(self, text: str) -> str: ...


class Services(Protocol):
    """What rules need of the module being written (`llvm_ops.Ops`). `bits`: of the target's vectors."""

    bits: int

    def declare(self, text: str) -> None: ...
    def special(self, o: Op, name: str) -> str: ...
    def helper(self, name: str, define: Callable[[str], str]) -> str: ...
    def through(self, w: Writer, dst: str, v: str, src: DType, d: DType, lanes: int) -> None: ...


@dataclass(slots=True)
class Op:
    """One operation being written: destination, operands, their types."""

    ops: Services
    w: Writer
    dst: str
    a: list[str]
    types: list[tuple[DType, int]]
    dtype: DType
    lanes: int
    attr: Any

    @property
    def ty(self) -> str:
        """LLVM type of the operands (of the last one for `where`)."""
        d, n = self.types[-1]
        return vector(scalar(d), n)

    @property
    def operand(self) -> DType:
        return self.types[-1][0]

    def t(self, text: str) -> str:
        """A temporary holding `text`."""
        v = self.w.fresh()
        self.w.line(f"{v} = {text}")
        return v

    def done(self, text: str) -> None:
        self.w.line(f"{self.dst} = {text}")

    def const(self, value: Any, d: DType | None = None) -> str:
        d = d or self.operand
        text = literal(value, d)
        n = self.types[-1][1]
        return splat(scalar(d), text, n)

    @property
    def mask_ty(self) -> str:
        return vector("i1", self.types[-1][1])

    def intrinsic(self, name: str, *args: str) -> str:
        fn = f"llvm.{name}.{mangle(scalar(self.operand), self.types[-1][1])}"
        self.ops.declare(f"declare {self.ty} @{fn}({', '.join([self.ty] * len(args))})")
        return f"call {self.ty} @{fn}({', '.join(f'{self.ty} {x}' for x in args)})"

    def select(self, m: str, x: str, y: str) -> str:
        return f"select {self.mask_ty} {m}, {self.ty} {x}, {self.ty} {y}"


Rule = Callable[[Op], None]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register(f: Rule) -> Rule:
        for n in names:
            RULES[n] = f
        return f

    return register


# --- arithmetic ---------------------------------------------------------------------------------------


def _binary(fp: str, signed: str, unsigned: str | None = None) -> Rule:
    def emit(o: Op) -> None:
        name = fp if o.operand.is_float else signed if o.operand.kind == "i" else (unsigned or signed)
        o.done(f"{name} {o.ty} {o.a[0]}, {o.a[1]}")

    return emit


RULES["add"] = _binary("fadd", "add")
RULES["sub"] = _binary("fsub", "sub")
RULES["mul"] = _binary("fmul", "mul")
RULES["div"] = _binary("fdiv", "sdiv")
RULES["truncdiv"] = _binary("", "sdiv", "udiv")
RULES["and"] = _binary("", "and")
RULES["or"] = _binary("", "or")
RULES["xor"] = _binary("", "xor")
RULES["udiv"] = _binary("", "udiv")


def _of_floats(o: Op, define: Callable[[str, DType, int, bool], str]) -> str:
    """A call of a function of `llvm_remainders.py`."""
    d, lanes = o.operand, o.types[-1][1]
    text = lambda name: define(name, d, lanes, o.ops.bits >= 256)
    fn = o.ops.helper(f"fw_{define.__name__}_{d.name}x{lanes}", text)
    return f"call {o.ty} @{fn}({o.ty} {o.a[0]}, {o.ty} {o.a[1]})"


@rule("fmod")
def _fmod(o: Op) -> None:
    if o.operand.is_float:
        o.done(_of_floats(o, llvm_remainders.fmod))
    else:
        o.done(f"{'srem' if o.operand.kind == 'i' else 'urem'} {o.ty} {o.a[0]}, {o.a[1]}")


def _different_sign(o: Op, m: str) -> str:
    """m != 0 and sign(m) != sign(divisor), of integers"""
    zero = o.const(0)
    x, y = o.t(f"icmp slt {o.ty} {m}, {zero}"), o.t(f"icmp slt {o.ty} {o.a[1]}, {zero}")
    differ = o.t(f"xor {o.mask_ty} {x}, {y}")
    nonzero = o.t(f"icmp ne {o.ty} {m}, {zero}")
    return o.t(f"and {o.mask_ty} {differ}, {nonzero}")


@rule("remainder")
def _remainder(o: Op) -> None:
    if o.operand.kind == "u":
        o.done(f"urem {o.ty} {o.a[0]}, {o.a[1]}")
        return
    if o.operand.is_float:
        o.done(_of_floats(o, llvm_remainders.remainder))
        return
    m = o.t(f"srem {o.ty} {o.a[0]}, {o.a[1]}")
    fix = _different_sign(o, m)
    moved = o.t(f"add {o.ty} {m}, {o.a[1]}")
    o.done(o.select(fix, moved, m))


@rule("floordiv")
def _floordiv(o: Op) -> None:
    if o.operand.kind == "u":
        o.done(f"udiv {o.ty} {o.a[0]}, {o.a[1]}")
        return
    if o.operand.is_float:
        o.done(_of_floats(o, llvm_remainders.floordiv))
        return
    q, m = o.t(f"sdiv {o.ty} {o.a[0]}, {o.a[1]}"), o.t(f"srem {o.ty} {o.a[0]}, {o.a[1]}")
    fix = _different_sign(o, m)
    less = o.t(f"sub {o.ty} {q}, {o.const(1)}")
    o.done(o.select(fix, less, q))


def _extremum(greater: bool) -> Rule:
    def emit(o: Op) -> None:
        x, y = o.a
        if o.operand.is_bool:
            o.done(f"{'or' if greater else 'and'} {o.ty} {x}, {y}")
        elif o.operand.is_float:
            # x > y ? x : y is one instruction and gives y when either is NaN: put x back when x is NaN
            m = o.t(o.select(o.t(f"fcmp {'ogt' if greater else 'olt'} {o.ty} {x}, {y}"), x, y))
            o.done(o.select(o.t(f"fcmp uno {o.ty} {x}, {x}"), x, m))
        else:
            name = {("i", True): "smax", ("i", False): "smin", ("u", True): "umax", ("u", False): "umin"}
            o.done(o.intrinsic(name[o.operand.kind, greater], x, y))

    return emit


RULES["max"] = RULES["lastmax"] = _extremum(True)  # of two equal numbers the second
RULES["min"] = RULES["lastmin"] = _extremum(False)
RULES["fmax"] = lambda o: o.done(o.intrinsic("maxnum", *o.a))
RULES["fmin"] = lambda o: o.done(o.intrinsic("minnum", *o.a))
RULES["copysign"] = lambda o: o.done(o.intrinsic("copysign", *o.a))


@rule("shl", "shr")
def _shift(o: Op) -> None:
    """Amounts outside [0, bits) give 0, or the sign for an arithmetic shift right, as in PyTorch."""
    bits = 8 * o.operand.itemsize
    inside = o.t(f"icmp ult {o.ty} {o.a[1]}, {o.const(bits)}")
    left = o.attr == "shl"
    if not left and o.operand.kind == "i":
        amount = o.t(o.select(inside, o.a[1], o.const(bits - 1)))
        o.done(f"ashr {o.ty} {o.a[0]}, {amount}")
        return
    amount = o.t(o.select(inside, o.a[1], o.const(0)))
    v = o.t(f"{'shl' if left else 'lshr'} {o.ty} {o.a[0]}, {amount}")
    o.done(o.select(inside, v, o.const(0)))


def _compare(fp: str, signed: str, unsigned: str) -> Rule:
    def emit(o: Op) -> None:
        k = o.operand.kind
        pred = f"fcmp {fp}" if k == "f" else f"icmp {signed if k == 'i' else unsigned}"
        o.done(f"{pred} {o.ty} {o.a[0]}, {o.a[1]}")

    return emit


for _name, _preds in {
    "eq": ("oeq", "eq", "eq"),
    "ne": ("une", "ne", "ne"),
    "lt": ("olt", "slt", "ult"),
    "le": ("ole", "sle", "ule"),
    "gt": ("ogt", "sgt", "ugt"),
    "ge": ("oge", "sge", "uge"),
}.items():
    RULES[_name] = _compare(*_preds)

RULES["where"] = lambda o: o.done(o.select(*o.a))
RULES["isnan"] = lambda o: o.done(f"fcmp uno {o.ty} {o.a[0]}, {o.a[0]}")
RULES["floor"] = lambda o: o.done(o.intrinsic("floor", o.a[0]))
RULES["ceil"] = lambda o: o.done(o.intrinsic("ceil", o.a[0]))
RULES["trunc"] = lambda o: o.done(o.intrinsic("trunc", o.a[0]))
RULES["sqrt"] = lambda o: o.done(o.intrinsic("sqrt", o.a[0]))
RULES["reciprocal"] = lambda o: o.done(f"fdiv {o.ty} {o.const(1)}, {o.a[0]}")
RULES["fma"] = lambda o: o.done(o.intrinsic("fma", *o.a))
RULES["rsqrt"] = lambda o: o.done(f"fdiv {o.ty} {o.const(1)}, {o.t(o.intrinsic('sqrt', o.a[0]))}")


@rule("neg")
def _neg(o: Op) -> None:
    o.done(f"fneg {o.ty} {o.a[0]}" if o.operand.is_float else f"sub {o.ty} {o.const(0)}, {o.a[0]}")


@rule("abs")
def _abs(o: Op) -> None:
    if o.operand.is_float:
        o.done(o.intrinsic("fabs", o.a[0]))
    elif o.operand.kind == "u":
        o.done(f"add {o.ty} {o.a[0]}, {o.const(0)}")
    else:
        low = o.t(f"sub {o.ty} {o.const(0)}, {o.a[0]}")
        o.done(o.select(o.t(f"icmp slt {o.ty} {o.a[0]}, {o.const(0)}"), low, o.a[0]))


@rule("sign")
def _sign(o: Op) -> None:
    k = o.operand.kind
    gt, lt = {"f": ("fcmp ogt", "fcmp olt"), "i": ("icmp sgt", "icmp slt"), "u": ("icmp ugt", "icmp ult")}[k]
    up = o.t(o.select(o.t(f"{gt} {o.ty} {o.a[0]}, {o.const(0)}"), o.const(1), o.const(0)))
    down = o.t(f"{lt} {o.ty} {o.a[0]}, {o.const(0)}")
    o.done(o.select(down, o.const(-1 if k != "u" else 0), up))


@rule("not")
def _not(o: Op) -> None:
    o.done(f"xor {o.ty} {o.a[0]}, {o.const(True) if o.operand.is_bool else o.const(-1)}")


@rule("signbit")
def _signbit(o: Op) -> None:
    d, n = o.types[0]
    ity = vector(f"i{8 * d.itemsize}", n)
    bits = o.t(f"bitcast {o.ty} {o.a[0]} to {ity}") if d.is_float else o.a[0]
    o.done(f"icmp slt {ity} {bits}, zeroinitializer" if n > 1 else f"icmp slt {ity} {bits}, 0")


# --- special functions ----------------------------------------------------------------------------------


def _special(name: str) -> Rule:
    def emit(o: Op) -> None:
        o.done(o.ops.special(o, name))

    return emit


for _name in SLEEF:
    RULES[_name] = _special(_name)


def _whole_range(name: str) -> Rule:
    """asinh and acosh, which SLEEF squares the operand for: log(2x), where that is all of them, from sqrt(x)'s."""

    def emit(o: Op) -> None:
        x, size = o.a[0], o.t(o.intrinsic("fabs", o.a[0])) if name == "asinh" else o.a[0]
        far = o.t(f"fcmp ogt {o.ty} {size}, {o.const(2.0**63 if o.operand.name == 'f32' else 2.0**511)}")
        near = o.t(o.select(far, o.t(o.intrinsic("sqrt", size)), x))
        out = o.t(o.ops.special(replace(o, a=[near]), name))
        twice = o.t(f"fsub {o.ty} {o.t(f'fadd {o.ty} {out}, {out}')}, {o.const(math.log(2))}")
        o.done(o.select(far, o.t(o.intrinsic("copysign", twice, x)), out))

    return emit


for _name in ("asinh", "acosh"):
    RULES[_name] = _whole_range(_name)

# no hardware to make these faster
for _name in ("exp2", "reciprocal", "div", "sqrt", "erfc", "expm1", "log", "log1p"):
    RULES[f"fast_{_name}"] = RULES[_name]
for _name in ("reciprocal", "div"):
    RULES[f"far_{_name}"] = RULES[_name]


# --- conversions and vectors ------------------------------------------------------------------------------


@rule("cast")
def _cast(o: Op) -> None:
    src, dst = o.operand, o.dtype
    to = vector(scalar(dst), o.lanes)
    if src.is_bool:
        o.done(f"{'uitofp' if dst.is_float else 'zext'} {o.ty} {o.a[0]} to {to}")
    elif dst.is_bool:
        o.done(f"{'fcmp une' if src.is_float else 'icmp ne'} {o.ty} {o.a[0]}, {o.const(0)}")
    elif src.is_float and dst.is_float:
        o.done(f"{'fpext' if dst.itemsize > src.itemsize else 'fptrunc'} {o.ty} {o.a[0]} to {to}")
    elif src.is_float:
        if dst.itemsize >= 4:
            got = o.t(f"{'fptosi' if dst.kind == 'i' else 'fptoui'} {o.ty} {o.a[0]} to {to}")
            o.done(f"freeze {to} {got}")  # else a comparison may be made of the number before it was converted
        else:  # as C does on this machine: through int, keeping the low bits; PyTorch itself asks for 64 to uint8
            wide = vector("i64" if src.itemsize == 8 and dst.kind == "u" and dst.itemsize == 1 else "i32", o.lanes)
            got = o.t(f"fptosi {o.ty} {o.a[0]} to {wide}")
            o.done(f"trunc {wide} {o.t(f'freeze {wide} {got}')} to {to}")
    elif dst.is_float:
        o.done(f"{'sitofp' if src.kind == 'i' else 'uitofp'} {o.ty} {o.a[0]} to {to}")
    elif dst.itemsize > src.itemsize:
        o.done(f"{'sext' if src.kind == 'i' else 'zext'} {o.ty} {o.a[0]} to {to}")
    elif dst.itemsize < src.itemsize:
        o.done(f"trunc {o.ty} {o.a[0]} to {to}")
    else:
        o.done(f"bitcast {o.ty} {o.a[0]} to {to}")


@rule("round")
def _round(o: Op) -> None:
    """With a storage type: through that type and back. Without: to the nearest integer, ties to even."""
    if o.attr is None:
        o.done(o.intrinsic("roundeven", o.a[0]))
        return
    o.ops.through(o.w, o.dst, o.a[0], o.operand, o.attr, o.lanes)


def _broadcast(o: Op, elem: str, value: str) -> str:
    """The text of a vector whose lanes all hold a scalar."""
    ty = vector(elem, o.lanes)
    one = o.t(f"insertelement {ty} poison, {elem} {value}, i64 0")
    return f"shufflevector {ty} {one}, {ty} poison, <{o.lanes} x i32> zeroinitializer"


@rule("splat")
def _splat(o: Op) -> None:
    o.done(_broadcast(o, scalar(o.operand), o.a[0]))


def _ramp(elem: str, lanes: int) -> str:
    return "<" + ", ".join(f"{elem} {k}" for k in range(lanes)) + ">"


@rule("iota")
def _iota(o: Op) -> None:
    ty, steps = vector("i64", o.lanes), _ramp("i64", o.lanes)
    if len(o.a) > 1:
        steps = o.t(f"mul {ty} {o.t(_broadcast(o, 'i64', o.a[1]))}, {steps}")
    o.done(f"add {ty} {o.t(_broadcast(o, 'i64', o.a[0]))}, {steps}")


@rule("quotients")
def _quotients(o: Op) -> None:
    fn = o.ops.helper(f"fw_quotients_x{o.lanes}", lambda name: llvm_quotients.define(name, o.lanes))
    o.done(f"call {vector('i64', o.lanes)} @{fn}(i64 {o.a[0]}, i64 {o.a[1]})")


@rule("lanemask")
def _lanemask(o: Op) -> None:
    # lanes < 2^15, so the comparison can be done in 32 bits
    fn = "llvm.smin.i64"
    o.ops.declare(f"declare i64 @{fn}(i64, i64)")
    n = o.t(f"trunc i64 {o.t(f'call i64 @{fn}(i64 {o.a[0]}, i64 {o.lanes})')} to i32")
    o.done(f"icmp slt {vector('i32', o.lanes)} {_ramp('i32', o.lanes)}, {o.t(_broadcast(o, 'i32', n))}")


@rule("hreduce")
def _hreduce(o: Op) -> None:
    d, n = o.types[0]
    elem = scalar(d)
    suffix = mangle(elem, n)
    kind = o.attr
    if d.is_float and kind in ("sum", "prod"):
        name, start = ("fadd", "-0.0") if kind == "sum" else ("fmul", "1.0")
        fn = f"llvm.vector.reduce.{name}.{suffix}"
        o.ops.declare(f"declare {elem} @{fn}({elem}, {o.ty})")
        o.done(f"call reassoc {elem} @{fn}({elem} {start}, {o.ty} {o.a[0]})")
        return
    if d.is_float:
        _extreme_lane(o, d, n)
        return
    signed = "s" if d.kind == "i" else "u"
    name = {"sum": "add", "prod": "mul", "any": "or", "all": "and"}.get(kind, f"{signed}{kind}")
    if d.is_bool:
        name = "or" if kind in ("any", "max") else "and"
    fn = f"llvm.vector.reduce.{name}.{suffix}"
    o.ops.declare(f"declare {elem} @{fn}({o.ty})")
    o.done(f"call {elem} @{fn}({o.ty} {o.a[0]})")


def _extreme_lane(o: Op, d: DType, n: int) -> None:
    """The largest or smallest lane, NaN if there is one, -0 below 0: of the integers that are ordered as floats are.

    LLVM's own reduction of floats looks for NaN and signs of zeros at every step, one after the other.
    """
    bits = 8 * d.itemsize
    elem, ity = f"i{bits}", vector(f"i{bits}", n)

    def ordered(x: str, ty: str, lanes: int) -> str:
        """The bits below the sign turned over if it is set: of floats as of such integers, back again."""

        def c(k: int) -> str:
            return splat(elem, k, lanes)

        sign = o.t(f"ashr {ty} {x}, {c(bits - 1)}")
        return o.t(f"xor {ty} {x}, {o.t(f'lshr {ty} {sign}, {c(1)}')}")

    fn = f"llvm.vector.reduce.s{o.attr}.{mangle(elem, n)}"
    o.ops.declare(f"declare {elem} @{fn}({ity})")
    x = ordered(o.t(f"bitcast {o.ty} {o.a[0]} to {ity}"), ity, n)
    found = ordered(o.t(f"call {elem} @{fn}({ity} {x})"), elem, 1)
    value = o.t(f"bitcast {elem} {found} to {scalar(d)}")
    lanes = o.t(f"bitcast {o.mask_ty} {o.t(f'fcmp uno {o.ty} {o.a[0]}, {o.a[0]}')} to i{n}")
    nan = o.t(f"icmp ne i{n} {lanes}, 0")
    o.done(f"select i1 {nan}, {scalar(d)} {literal(math.nan, d)}, {scalar(d)} {value}")


@rule("philox")
def _philox(o: Op) -> None:
    fn = o.ops.helper(f"fw_philox_x{o.lanes}", lambda name: llvm_philox.pointwise(name, o.lanes))
    ity, ety = vector("i32", o.lanes), vector("i64", o.lanes)
    o.done(f"call {ity} @{fn}(i64 {o.a[0]}, {ety} {o.a[1]}, {ety} {o.a[2]}, i32 {o.attr or 0})")


@rule("philoxrun")
def _philoxrun(o: Op) -> None:
    """Word `offset // 16` of the counters from 16 * (start / 64) + offset % 16 on; the words of a block share them."""
    stream, offset = divmod(o.attr, 64)
    fn = o.ops.helper(f"fw_philox_block_x{o.lanes}", lambda name: llvm_philox.block(name, o.lanes))
    ity = vector("i32", o.lanes)
    four = f"{{ {ity}, {ity}, {ity}, {ity} }}"
    key = (fn, *o.a, stream, offset % 16)
    words = o.w.block_memo.get(key)
    if words is None:
        first = o.t(f"lshr i64 {o.a[2]}, 2")
        counter = o.t(f"add i64 {first}, {offset % 16}")
        words = o.t(f"call {four} @{fn}(i64 {o.a[0]}, i64 {o.a[1]}, i64 {counter}, i32 {stream})")
        o.w.block_memo[key] = words
    o.done(f"extractvalue {four} {words}, {offset // 16}")
