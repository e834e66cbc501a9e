"""Vector elementary functions as LLVM IR text: stand-ins for SLEEF, and faster than it where they are polynomials.

`define(name, dtype, lanes, fma)` is the text of one function

    define internal <N x float> @fw_<name>_f32x<N>(<N x float> %x) alwaysinline nounwind memory(none) { ... }

(`float`, not `<1 x float>`, for one lane). Functions without a polynomial, every f64 function, and sin and cos on
machines without fused multiply-add call libm lane by lane; `declarations` lists what they call. Intrinsics need no
declaration in LLVM 20 and later.

Algorithms: the textbook ones (Cody and Waite 1980 for argument reduction; Payne and Hanek are left to libm).

    exp exp2     x = n ln2 + r, |r| <= ln2/2; degree 6 in r; scaled by 2^n in a way that rounds subnormals once
    expm1        the same, with r as a head and a tail, and 2^n - 1 added exactly
    log*, log1p  x = 2^e (1 + f), 1/sqrt2 <= 1 + f < sqrt2; degree 10 in f; e ln2 + f as a head and a tail
    tanh         |x| <= 1: odd polynomial of degree 15; beyond: 1 - 2 / (exp(2|x|) + 1)
    erf          |x| <= 1: odd polynomial of degree 15; beyond: 1 - 2^g(|x|), g of degree 6 fitted to log2(erfc)
                 both in sixteen lanes of AVX-512: up to sixteen pieces, of degree 5 (erf) and 6, looked up in registers
    sin cos      x = n pi/2 + r by a three-part pi/2, r as a head and a tail; |x| > 1e5 and non-finite: libm

The coefficients are minimax fits of our own (weighted least squares on Chebyshev nodes, reweighted by Lawson's
rule; each coefficient rounded to float32 in turn and the rest fitted again).

Largest error in units in the last place, against float64, over every 251st float32 and two million points where it
peaks, with fused multiply-add (SLEEF's u10 functions, measured the same way, after the slash):

    exp 0.89/0.97   exp2 0.86/0.86   expm1 0.84/1.00   log 0.84/0.61   log2 1.19/0.64   log10 1.09/0.62
    log1p 0.91/1.00   tanh 0.95/1.00   erf 0.96/1.00   sin 0.79/0.88   cos 0.81/0.93
    in pieces: tanh 0.82   erf 0.79

Without it: exp 1.17, erf 1.24, log 0.90, log1p 1.5, log2 2.1, log10 1.9, expm1 1.01; sin and cos are libm's.

Values that eager rounds differently may differ here: SLEEF stays the default where results must match eager's.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from ..core.dtypes import DType, f32, f64
from . import llvm_fits as fits
from .llvm_types import splat

_LIBM = ("exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "tanh", "erf", "sin", "cos")
_HAND = frozenset(_LIBM)
AVAILABLE: frozenset[tuple[str, DType]] = frozenset((n, d) for n in _LIBM for d in (f32, f64))

# ln2 = HI + LO; HI has 15 bits, so that n * HI is exact
_LN2_HI, _LN2_LO = 0.693145751953125, math.log(2) - 0.693145751953125
# pi/2 as the sum of three float32
_HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
_NOTHING = -254.0  # the exponent of 2 that stands for everything below; 2^-150 is 0
_MAGIC = 12582912.0  # 1.5 * 2^23: adding it rounds to an integer, left in the low bits of the sum


def _single(v: float) -> float:
    return struct.unpack("f", struct.pack("f", v))[0]


class _Text:
    """Appends instructions; a value is the name of a register or the text of a constant."""

    def __init__(self, lanes: int, fma: bool, avx512: bool):
        self.n, self.fused = lanes, fma
        self.lines: list[str] = []
        self.count = 0
        # The scaling and unpacking instructions of AVX-512 replace several integer operations each
        self.avx512 = avx512 and lanes in (4, 8, 16)
        self.pieces = avx512 and lanes == 16  # one instruction looks up sixteen lanes in a register's
        self.f = self.vector("float")
        self.i = self.vector("i32")
        self.b = self.vector("i1")
        self.suffix = "f32" if lanes == 1 else f"v{lanes}f32"

    def vector(self, scalar: str) -> str:
        return scalar if self.n == 1 else f"<{self.n} x {scalar}>"

    def put(self, text: str) -> str:
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def splat(self, scalar: str, text: str) -> str:
        return splat(scalar, text, self.n)

    def c(self, v: float | str) -> str:
        """A float operand: a constant of every lane, or a register as it is."""
        if isinstance(v, str):
            return v
        return self.splat("float", self.number(v))

    def number(self, v: float) -> str:
        bits = struct.unpack("<Q", struct.pack("<d", _single(v) if math.isfinite(v) else v))[0]
        return f"0x{bits:016X}"

    def k(self, v: int | str) -> str:
        """An i32 operand."""
        return v if isinstance(v, str) else self.splat("i32", str(v))

    def op(self, name: str, a: float | str, b: float | str) -> str:
        return self.put(f"{name} {self.f} {self.c(a)}, {self.c(b)}")

    def add(self, a: float | str, b: float | str) -> str:
        return self.op("fadd", a, b)

    def sub(self, a: float | str, b: float | str) -> str:
        return self.op("fsub", a, b)

    def mul(self, a: float | str, b: float | str) -> str:
        return self.op("fmul", a, b)

    def fma(self, a: float | str, b: float | str, c: float | str) -> str:
        if not self.fused:
            return self.add(self.mul(a, b), c)
        f = self.f
        return self.put(f"call {f} @llvm.fma.{self.suffix}({f} {self.c(a)}, {f} {self.c(b)}, {f} {self.c(c)})")

    def poly(self, x: str, coefficients: tuple[float, ...]) -> str:
        out = self.c(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            out = self.fma(out, x, c)
        return out

    def unary(self, name: str, a: str) -> str:
        return self.put(f"call {self.f} @llvm.{name}.{self.suffix}({self.f} {a})")

    def copysign(self, a: str, b: str) -> str:
        return self.put(f"call {self.f} @llvm.copysign.{self.suffix}({self.f} {a}, {self.f} {b})")

    def cmp(self, pred: str, a: float | str, b: float | str) -> str:
        return self.put(f"fcmp {pred} {self.f} {self.c(a)}, {self.c(b)}")

    def select(self, cond: str, a: float | str, b: float | str) -> str:
        return self.put(f"select {self.b} {cond}, {self.f} {self.c(a)}, {self.f} {self.c(b)}")

    def at_most(self, a: str, top: float) -> str:
        """min(a, top); NaN stays."""
        return self.select(self.cmp("ogt", a, top), top, a)

    def at_least(self, a: str, low: float) -> str:
        """max(a, low); NaN stays."""
        return self.select(self.cmp("olt", a, low), low, a)

    def near(self, a: str, low: float, top: float) -> str:
        """The argument of a power: what is below `low` is 0 in `scaled`, with AVX-512 whatever it was before."""
        a = self.at_most(a, top)
        return a if self.avx512 else self.at_least(a, low)

    def bits(self, a: str) -> str:
        return self.put(f"bitcast {self.f} {a} to {self.i}")

    def as_float(self, a: str) -> str:
        return self.put(f"bitcast {self.i} {a} to {self.f}")

    def integer(self, name: str, a: int | str, b: int | str) -> str:
        return self.put(f"{name} {self.i} {self.k(a)}, {self.k(b)}")

    def round(self, x: str, scale: float | str) -> tuple[str, str]:
        """round(x * scale) twice: as the low bits of an integer (the bits of the first), and as a float."""
        t = self.fma(x, scale, _MAGIC)
        return t, self.sub(t, _MAGIC)

    def shifted(self, a: str, t: str) -> str:
        """a * 2^n, for a result in the normal range; `t` is the first result of `round`."""
        return self.as_float(self.integer("add", self.bits(a), self.integer("shl", self.bits(t), 23)))

    def power(self, n: str) -> str:
        """2^n for -126 <= n <= 127, n an integer register."""
        return self.as_float(self.integer("shl", self.integer("add", n, 127), 23))

    def scaled(self, a: str, t: str, n: str) -> str:
        """a * 2^n for -254 <= n <= 254, rounding once where the result is subnormal.

        Both factors of 2^-254 are 0, so that nothing underflows there: that takes a processor many times as long, and
        exp(-inf) is what masks are made of.
        """
        if self.avx512:
            f = self.f
            a = self.select(self.cmp("ole", n, _NOTHING), 0.0, a)
            return self.x86("scalef", f"{f} {a}, {f} {n}, {f} zeroinitializer")
        whole = self.integer("sub", self.bits(t), 0x4B400000)
        half = self.integer("ashr", whole, 1)
        return self.mul(self.mul(a, self.power(half)), self.power(self.integer("sub", whole, half)))

    def x86(self, name: str, args: str) -> str:
        """A masked AVX-512 operation on all lanes."""
        mask, tail = ("i16", ", i32 4") if self.n == 16 else ("i8", "")
        return self.put(f"call {self.f} @llvm.x86.avx512.mask.{name}.ps.{32 * self.n}({args}, {mask} -1{tail})")

    def look(self, table: Sequence[float], at: str) -> str:
        """One of sixteen numbers for each lane, by the last four bits of `at`; `pieces` says where."""
        numbers = ", ".join(f"float {self.number(v)}" for v in table)
        return self.put(f"call {self.f} @llvm.x86.avx512.permvar.sf.512({self.f} <{numbers}>, {self.i} {at})")

    def unpack(self, x: str) -> tuple[str, str]:
        """(e, m): x = 2^e m, both floats, for finite x > 0; 1/sqrt2 <= m < sqrt2, or 3/4 <= m < 3/2 (AVX-512)."""
        if self.avx512:
            f = self.f
            m = self.x86("getmant", f"{f} {x}, i32 11, {f} zeroinitializer")
            e, adjust = (self.x86("getexp", f"{f} {v}, {f} zeroinitializer") for v in (x, m))
            return self.sub(e, adjust), m
        tiny = self.cmp("olt", x, 2.0**-126)
        b = self.bits(self.select(tiny, self.mul(x, 2.0**23), x))
        k = self.integer("ashr", self.integer("sub", b, 0x3F3504F3), 23)
        m = self.as_float(self.integer("sub", b, self.integer("shl", k, 23)))
        e = self.put(f"sitofp {self.i} {k} to {self.f}")
        return self.select(tiny, self.sub(e, 23.0), e), m


# --- the functions ---------------------------------------------------------------------------------


def _exp(t: _Text) -> str:
    x = t.near("%x", _NOTHING * math.log(2), 89.0)
    bits, n = t.round(x, 1 / math.log(2))
    r = t.fma(n, -_LN2_LO, t.fma(n, -_LN2_HI, x))
    return t.scaled(t.poly(r, fits.EXP), bits, n)


def _exp2(t: _Text) -> str:
    x = t.near("%x", _NOTHING, 128.0)
    bits, n = t.round(x, 1.0)
    return t.scaled(t.poly(t.sub(x, n), fits.EXP2), bits, n)


def _expm1(t: _Text) -> str:
    x = t.at_least(t.at_most("%x", 89.0), -18.0)
    bits, n = t.round(x, 1 / math.log(2))
    head = t.fma(n, -_LN2_HI, x)
    r = t.fma(n, -_LN2_LO, head)
    tail = t.fma(n, -_LN2_LO, t.sub(head, r))
    # 2^n (r + tail + r^2 q) + (2^n - 1), halved because 2^128 is not a float32
    half = t.power(t.integer("sub", t.integer("sub", t.bits(bits), 0x4B400000), 1))
    q = t.fma(t.mul(r, r), t.poly(r, fits.EXPM1), tail)
    one = t.sub(half, 0.5)
    top = t.fma(half, r, one)
    rest = t.fma(half, r, t.sub(one, top))
    rest = t.add(rest, t.sub(t.sub(half, one), 0.5))
    out = t.add(top, t.fma(half, q, rest))
    twice = t.add(out, out)
    # keeps -0 and subnormals, where halving would round
    return t.select(t.cmp("olt", t.unary("fabs", "%x"), 2.0**-25), "%x", twice)


def _log_sum(t: _Text, e: str, f: str, coefficients: tuple[float, ...], tail: str | float = 0.0) -> str:
    """e ln2 + log(1 + f + tail)."""
    head = t.fma(e, _LN2_HI, f)
    rest = t.sub(f, t.fma(e, -_LN2_HI, head))
    if tail != 0.0:
        rest = t.add(rest, tail)
    rest = t.fma(e, _LN2_LO, rest)
    return t.add(head, t.fma(t.mul(f, f), t.poly(f, coefficients), rest))


def _log_specials(t: _Text, x: str, out: str, zero: float = 0.0) -> str:
    """The logarithm's values at `zero` and below, at infinity and NaN."""
    if t.avx512 and zero == 0.0:
        # one nibble per class of x: NaN, NaN, zero, one, -inf, inf, negative, positive (the lowest first)
        table = t.splat("i32", str(0x03530422))
        return t.x86("fixupimm", f"{t.f} {out}, {t.f} {x}, {t.i} {table}, i32 0")
    out = t.select(t.cmp("olt", x, math.inf), out, x)
    out = t.select(t.cmp("oeq", x, zero), -math.inf, out)
    return t.select(t.cmp("olt", x, zero), math.nan, out)


def _log(t: _Text) -> str:
    e, m = t.unpack("%x")
    return _log_specials(t, "%x", _log_sum(t, e, t.sub(m, 1.0), fits.LOG_512 if t.avx512 else fits.LOG))


def _log_base(t: _Text, scale: float, ln2: float) -> str:
    """log(x) * scale, as e * (ln2 * scale) + f * scale + ..., with the products' tails kept."""
    e, m = t.unpack("%x")
    f = t.sub(m, 1.0)
    hi = math.floor(scale * 2048) / 2048
    e_hi = math.floor(ln2 * 2**14) / 2**14
    big = t.mul(e, e_hi)  # exact
    part = t.mul(f, hi)
    head = t.add(big, part)
    rest = t.add(t.sub(part, t.sub(head, big)), t.fma(f, hi, t.put(f"fneg {t.f} {part}")))
    rest = t.fma(f, scale - hi, rest)
    if ln2 != e_hi:
        rest = t.fma(e, ln2 - e_hi, rest)
    q = t.mul(t.mul(f, f), t.poly(f, fits.LOG_512 if t.avx512 else fits.LOG))
    return _log_specials(t, "%x", t.add(head, t.fma(q, scale, rest)))


def _log2(t: _Text) -> str:
    return _log_base(t, 1 / math.log(2), 1.0)


def _log10(t: _Text) -> str:
    return _log_base(t, 1 / math.log(10), math.log10(2))


def _log1p(t: _Text) -> str:
    # 1 + x only chooses the exponent; f + tail = x 2^-e + (2^-e - 1)
    u = t.add("%x", 1.0)
    k = t.integer("ashr", t.integer("sub", t.bits(u), 0x3F3504F3), 23)
    four = t.power(t.integer("sub", 2, k))  # 4 * 2^-e, because 2^-128 is subnormal
    e = t.put(f"sitofp {t.i} {k} to {t.f}")
    quarter, shift = t.mul("%x", 0.25), t.fma(four, 0.25, -1.0)
    f = t.fma(quarter, four, shift)
    tail = t.fma(quarter, four, t.sub(shift, f))
    out = _log_specials(t, "%x", _log_sum(t, e, f, fits.LOG, tail), -1.0)
    return t.select(t.cmp("olt", t.unary("fabs", "%x"), 2.0**-25), "%x", out)


def _odd(t: _Text, pieces: fits.Pieces) -> str:
    """An odd function that ends at 1, in up to sixteen pieces, whose coefficients are in registers.

    x^2 chooses the piece by the lower three bits of its exponent and the first of its fraction, which no other piece
    has; the number that no piece has stands for the first.
    """
    start, top, rows = pieces
    first = struct.unpack("i", struct.pack("f", start))[0] >> 22
    places = {0: (first - 1) % 16} | {k: (first + k - 1) % 16 for k in range(1, len(rows))}
    table = {at: rows[k] for k, at in places.items()}
    columns = [[table.get(at, rows[0])[j] for at in range(16)] for j in range(len(rows[0]))]
    y = t.at_most(t.unary("fabs", "%x"), top)
    z = t.mul(y, y)
    far = t.cmp("oge", y, math.sqrt(start) * (1 + 2.0**-24))  # whose square is not rounded to less than `start`
    at = t.put(f"select {t.b} {far}, {t.i} {t.integer('lshr', t.bits(z), 22)}, {t.i} {t.k(places[0])}")
    centre, value, *q = (t.look(c, at) for c in columns)
    h = t.sub(y, centre)
    p, out = t.select(far, h, z), q[-1]
    for c in reversed(q[:-1]):
        out = t.fma(out, p, c)
    return t.copysign(t.fma(h, out, t.select(far, value, y)), "%x")


def _tanh(t: _Text) -> str:
    if t.pieces:
        return _odd(t, fits.TANH_PIECES)
    a = t.unary("fabs", "%x")
    z = t.mul("%x", "%x")
    near = t.fma(t.mul(z, a), t.poly(z, fits.TANH), a)
    y = t.at_most(a, 9.2)
    bits, n = t.round(y, 2 / math.log(2))
    r = t.fma(n, -_LN2_LO / 2, t.fma(n, -_LN2_HI / 2, y))
    e = t.shifted(t.poly(r, tuple(c * 2.0**k for k, c in enumerate(fits.EXP))), bits)  # exp(2y)
    far = t.sub(1.0, t.op("fdiv", 2.0, t.add(e, 1.0)))
    return t.copysign(t.select(t.cmp("ogt", a, 1.0), far, near), "%x")


def _erf(t: _Text) -> str:
    if t.pieces:
        return _odd(t, fits.ERF_PIECES)
    a = t.unary("fabs", "%x")
    near = t.fma("%x", t.poly(t.mul("%x", "%x"), fits.ERF), "%x")
    y = t.at_most(a, 3.95)
    q = t.poly(y, fits.ERFC)
    bits, n = t.round(q, y)
    r = t.fma(q, y, t.put(f"fneg {t.f} {n}"))  # the exponent is never rounded as a whole
    far = t.sub(1.0, t.shifted(t.poly(r, fits.EXP2), bits))
    return t.select(t.cmp("ogt", a, 1.0), t.copysign(far, "%x"), near)


def _sincos(t: _Text, cosine: bool) -> str:
    p1, p2, p3 = _HALF_PI
    bits, n = t.round("%x", 2 / math.pi)
    r1 = t.fma(n, -p1, "%x")  # exact
    p = t.mul(n, p2)
    r = t.sub(r1, p)
    tail = t.sub(t.sub(t.sub(r1, r), p), t.fma(n, p2, t.put(f"fneg {t.f} {p}")))
    tail = t.fma(n, -p3, tail)
    z = t.mul(r, r)
    sine = t.add(r, t.fma(t.mul(z, r), t.poly(z, fits.SIN), tail))
    # 1 - z/2 as a head and a tail, and cos(r + tail) = cos(r) - r tail
    half = t.mul(z, -0.5)
    head = t.add(half, 1.0)
    rest = t.add(t.sub(1.0, head), half)
    rest = t.sub(rest, t.mul(r, tail))
    cos = t.add(head, t.fma(t.mul(z, z), t.poly(z, fits.COS), rest))
    quadrant = t.bits(bits)
    if cosine:
        quadrant = t.integer("add", quadrant, 1)
    odd = t.put(f"icmp ne {t.i} {t.integer('and', quadrant, 1)}, {t.k(0)}")
    out = t.select(odd, cos, sine)
    sign = t.integer("shl", t.integer("and", quadrant, 2), 30)
    out = t.as_float(t.integer("xor", t.bits(out), sign))
    if not cosine:
        out = t.select(t.cmp("oeq", "%x", 0.0), "%x", out)  # -0
    return out


_BODIES = {
    "exp": _exp,
    "exp2": _exp2,
    "expm1": _expm1,
    "log": _log,
    "log2": _log2,
    "log10": _log10,
    "log1p": _log1p,
    "tanh": _tanh,
    "erf": _erf,
    "sin": lambda t: _sincos(t, False),
    "cos": lambda t: _sincos(t, True),
}
_FAR = 1e5  # beyond this the three-part reduction of sin and cos loses digits


def _by_lane(t: _Text, name: str, dtype: DType) -> list[str]:
    """The body of a function that calls libm on each lane."""
    scalar, symbol = ("float", name + "f") if dtype is f32 else ("double", name)
    if t.n == 1:
        return [f"  %r = call {scalar} @{symbol}({scalar} %x)", f"  ret {scalar} %r"]
    vector = f"<{t.n} x {scalar}>"
    lines, last = [], "poison"
    for k in range(t.n):
        lines.append(f"  %x{k} = extractelement {vector} %x, i32 {k}")
        lines.append(f"  %y{k} = call {scalar} @{symbol}({scalar} %x{k})")
        lines.append(f"  %r{k} = insertelement {vector} {last}, {scalar} %y{k}, i32 {k}")
        last = f"%r{k}"
    return [*lines, f"  ret {vector} {last}"]


def _with_far(t: _Text, name: str) -> list[str]:
    """The body of sin or cos: the polynomial, and libm for all lanes when one of them is far out."""
    a = t.unary("fabs", "%x")
    far = t.cmp("ogt", a, _FAR)
    if t.n > 1:
        far = t.put(f"call i1 @llvm.vector.reduce.or.v{t.n}i1({t.b} {far})")
    entry = ["entry:", *t.lines, f"  br i1 {far}, label %far, label %near", "near:"]
    t.lines = []
    out = _BODIES[name](t)
    return [*entry, *t.lines, f"  ret {t.f} {out}", "far:", *_by_lane(t, name, f32)]


def define(name: str, dtype: DType, lanes: int, fma: bool, avx512: bool = False) -> str:
    """The text of `fw_<name>_<dtype>x<lanes>`.

    `fma`: the target has fused multiply-add; `avx512`: it has AVX-512 F and VL, whose scaling instruction is then
    used. Raises KeyError for a function that is not in `AVAILABLE`.
    """
    if (name, dtype) not in AVAILABLE:
        raise KeyError((name, dtype))
    t = _Text(lanes, fma, avx512)
    if dtype is f64 or (name in ("sin", "cos") and not fma):
        body = _by_lane(t, name, dtype)
    elif name in ("sin", "cos"):
        body = _with_far(t, name)
    else:
        out = _BODIES[name](t)
        body = [*t.lines, f"  ret {t.f} {out}"]
    v = t.vector("float" if dtype is f32 else "double")
    head = f"define internal {v} @fw_{name}_{dtype}x{lanes}({v} %x) alwaysinline nounwind memory(none) {{"
    return "\n".join([head, *body, "}"]) + "\n"


def declarations(name: str, dtype: DType, fma: bool) -> tuple[str, ...]:
    """The declarations of the libm functions that `define` calls with these arguments."""
    if dtype is f32 and name not in ("sin", "cos"):
        return ()
    scalar, symbol = ("float", name + "f") if dtype is f32 else ("double", name)
    return (f"declare {scalar} @{symbol}({scalar}) nounwind willreturn memory(none)",)
