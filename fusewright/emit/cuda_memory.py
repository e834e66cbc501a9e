"""Vector accesses: functions that move several elements between memory and registers in pieces of up to 16 bytes.

Everything passes through 32-bit words: `fw_load_bf16x8` reads a `uint4` and unpacks its four words into eight floats.
16-bit and 8-bit register scratch is held in such words, too, where every access covers whole words: elements of their
own would take a 32-bit register each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..core.dtypes import DType
from ..loop.ir import Alloc, Arg, For, Imm, Let, Reg, Set, Stmt, Store, Var, walk
from .cuda_prelude import Prelude
from .cuda_types import stored_type, value_type

_FN = "__device__ __forceinline__"
PIECES = {16: "uint4", 8: "uint2", 4: "unsigned", 2: "unsigned short"}
_READ = {"": "fw_read", "ldg": "__ldg", "ldcs": "__ldcs", "ldcg": "__ldcg"}
_WRITE = {"": "fw_write", "stcs": "__stcs"}


def in_words(d: DType, lanes: int) -> bool:
    """Whether the elements of an aligned access (a power of two of them) are whole words, or half a word."""
    return d.itemsize * lanes >= 2


def _pieces(d: DType, lanes: int) -> tuple[str, int, int]:
    """(type, bytes, number) of the accesses that move aligned elements."""
    size = d.itemsize * lanes
    piece = min(size, 16)
    return PIECES[piece], piece, size // piece


def load(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """The function `(const T* p, float* v)` that reads aligned elements; `policy`: "", "ldg", "ldcs" or "ldcg"."""
    fn = f"fw_load_{d}x{lanes}{'_' + policy if policy else ''}"
    if fn not in prelude:
        words = max(1, d.itemsize * lanes // 4)
        lines = [f"  unsigned w[{words}];", f"  {fetch(prelude, d, lanes, policy)}(p, w);"]
        lines.append(f"  {unpack(prelude, d, lanes)}(w, v);")
        head = f"{_FN} void {fn}(const {stored_type(d)}* p, {value_type(d)}* v) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


def fetch(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """The function `(const T* p, unsigned* w)` that reads aligned elements as words; `policy`: as for `load`."""
    fn = f"fw_fetch_{d}x{lanes}{'_' + policy if policy else ''}"
    if fn not in prelude:
        read = prelude.need("fw_read") if not policy else _READ[policy]
        t, size, count = _pieces(d, lanes)
        per = max(1, size // 4)
        lines = []
        for k in range(count):
            lines.append(f"  const {t} a{k} = {read}((const {t}*)p{f' + {k}' if k else ''});")
            parts = [f"a{k}.{c}" for c in "xyzw"[:per]] if size > 4 else [f"a{k}"]
            lines += [f"  w[{per * k + j}] = {part};" for j, part in enumerate(parts)]
        head = f"{_FN} void {fn}(const {stored_type(d)}* p, unsigned* w) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


def move(prelude: Prelude, d: DType, lanes: int) -> str:
    """The function `(const unsigned* w, unsigned* to)` that copies elements held in words."""
    fn = f"fw_move_{d}x{lanes}"
    if fn not in prelude:
        lines = [f"  to[{j}] = w[{j}];" for j in range(max(1, d.itemsize * lanes // 4))]
        prelude.define(fn, "\n".join([f"{_FN} void {fn}(const unsigned* w, unsigned* to) {{", *lines, "}"]))
    return fn


def store(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """The function `(T* p, const float* v)` that writes aligned elements; `policy`: "" or "stcs"."""
    fn = f"fw_store_{d}x{lanes}{'_' + policy if policy else ''}"
    if fn not in prelude:
        write = prelude.need("fw_write") if not policy else _WRITE[policy]
        t, size, count = _pieces(d, lanes)
        per = max(1, size // 4)
        lines = [f"  unsigned w[{count * per}];", f"  {pack(prelude, d, lanes)}(v, w);"]
        for k in range(count):
            words = ", ".join(f"w[{per * k + j}]" for j in range(per))
            value = f"{t}{{{words}}}" if size > 4 else f"({t}){words}"
            lines.append(f"  {write}(({t}*)p{f' + {k}' if k else ''}, {value});")
        head = f"{_FN} void {fn}({stored_type(d)}* p, const {value_type(d)}* v) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


def meet(d: DType, how: str, p: str, value: str) -> str:
    """The call that combines what is at `p` with a value, whatever other threads do there meanwhile."""
    if how == "sum" and d.name == "i64":  # there is one for unsigned numbers, which wrap alike
        p, value = f"(unsigned long long*)({p})", f"(unsigned long long)({value})"
    return f"atomic{'Add' if how == 'sum' else how.title()}({p}, {value})"


def unpack(prelude: Prelude, d: DType, lanes: int) -> str:
    """The function `(const unsigned* w, float* v)` that takes elements out of words."""
    fn = f"fw_unpack_{d}x{lanes}"
    if fn not in prelude:
        lines = [f"  v[{k}] = {_element(prelude, d, k)};" for k in range(lanes)]
        head = f"{_FN} void {fn}(const unsigned* w, {value_type(d)}* v) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


def pack(prelude: Prelude, d: DType, lanes: int) -> str:
    """The function `(const float* v, unsigned* w)` that puts elements into words."""
    fn = f"fw_pack_{d}x{lanes}"
    if fn not in prelude:
        lines = []
        for j in range(math.ceil(d.itemsize * lanes / 4)):
            lines += [f"  w[{j}] = {text};" if d.itemsize <= 4 else text for text in _word(prelude, d, lanes, j)]
        head = f"{_FN} void {fn}(const {value_type(d)}* v, unsigned* w) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


def _element(prelude: Prelude, d: DType, k: int) -> str:
    """Element k of the words `w`."""
    per = 4 // d.itemsize
    match d.name:
        case "f32":
            return f"__uint_as_float(w[{k}])"
        case "f64":
            return f"__hiloint2double((int)w[{2 * k + 1}], (int)w[{2 * k}])"
        case "i64":
            return f"(long long)((unsigned long long)w[{2 * k + 1}] << 32 | w[{2 * k}])"
        case "i32" | "u32":
            return f"({value_type(d)})w[{k}]"
        case "bf16":
            word = f"w[{k // 2}]"
            return f"__uint_as_float({word} << 16)" if k % 2 == 0 else f"__uint_as_float({word} & 0xffff0000u)"
    word, shift = f"w[{k // per}]", 8 * d.itemsize * (k % per)
    bits = f"({word} >> {shift})" if shift else word
    if d.name == "f16":
        return f"{prelude.need('fw_f16_f32')}((unsigned short){bits})"
    if d.is_float8:  # both halves of a pair are one conversion
        pair = f"({word} >> {shift & 16})" if shift & 16 else word
        halves = f"{prelude.need(f'fw_halves_{d}')}({pair} & 0xffffu)"
        return f"{prelude.need('fw_f16_f32')}((unsigned short)({halves}{' >> 16' if k % 2 else ''}))"
    return f"({bits} & 0xff) != 0" if d.is_bool else f"({value_type(d)}){bits}"


def _word(prelude: Prelude, d: DType, lanes: int, j: int) -> list[str]:
    """Word j of the elements `v`; for 64-bit types the statements of words 2j and 2j + 1, if j is even."""
    match d.name:
        case "f32":
            return [f"__float_as_uint(v[{j}])"]
        case "i32" | "u32":
            return [f"(unsigned)v[{j}]"]
        case "f64":
            fn = "__double2hiint" if j % 2 else "__double2loint"
            return [f"  w[{j}] = (unsigned){fn}(v[{j // 2}]);"]
        case "i64":
            high = " >> 32" if j % 2 else ""
            return [f"  w[{j}] = (unsigned)((unsigned long long)v[{j // 2}]{high});"]
        case "bf16" | "f16":
            return [f"{prelude.need(f'fw_pack_{d}')}(v[{2 * j}], v[{2 * j + 1}])"]
    if d.is_float8:
        pairs = [(2 * k, 2 * k + 1) for k in (2 * j, 2 * j + 1) if 2 * k < lanes]
        fn = prelude.need(f"fw_pack_{d}")
        return [" | ".join(f"{fn}(v[{a}], v[{b}]){' << 16' if n else ''}" for n, (a, b) in enumerate(pairs))]
    per = 4 // d.itemsize
    narrow = stored_type(d) if d.kind in "ub" else f"unsigned {'short' if d.itemsize == 2 else 'char'}"
    parts = []
    for k in range(per):
        if per * j + k < lanes:
            part = f"(unsigned)({narrow})v[{per * j + k}]"
            parts.append(f"{part} << {8 * d.itemsize * k}" if k else part)
    return [" | ".join(parts)]


# --- register scratch in words ------------------------------------------------------------------------


def divisors(body: list[Stmt]) -> dict[str, int]:
    """Register -> a number that divides it whatever the inputs. Names defined twice divide both; 0 divides 0 alone."""
    found: dict[str, int] = {}
    sources: dict[str, set[Arg]] = {}  # what is put into mutable registers
    for s in walk(body):
        if isinstance(s, (Var, Set)):
            sources.setdefault(s.dst.name, set()).add(s.init if isinstance(s, Var) else s.src)
            found[s.dst.name] = 0  # of what is put there later nothing is known yet that it does not divide
        elif isinstance(s, (Let, For)):
            found[(s.dst if isinstance(s, Let) else s.var).name] = 0
    while True:  # what a loop's next round finds in them may have fewer divisors
        before = dict(found)
        _divide(body, found, sources)
        if found == before:
            return found


def _divide(body: list[Stmt], found: dict[str, int], sources: dict[str, set[Arg]]) -> None:

    def of(a: Arg) -> int:
        if isinstance(a, Imm):
            return abs(int(a.value)) if a.dtype.is_int else 1
        return found.get(a.name, 1)

    def note(r: Reg, n: int) -> None:
        found[r.name] = math.gcd(found[r.name], n)

    for s in walk(body):
        if isinstance(s, Let):
            n = 1
            if s.dst.lanes == 1 and s.op == "mul":
                n = of(s.args[0]) * of(s.args[1])
            elif s.dst.lanes == 1 and s.op in ("add", "sub"):
                n = math.gcd(of(s.args[0]), of(s.args[1]))
            elif s.dst.lanes == 1 and s.op == "where":
                n = math.gcd(of(s.args[1]), of(s.args[2]))
            note(s.dst, n)
        elif isinstance(s, Var):
            note(s.dst, math.gcd(*map(of, sources[s.dst.name])))
        elif isinstance(s, For):
            note(s.var, math.gcd(of(s.lo), of(s.step)))


def packed_registers(allocs: Iterable[Alloc], body: list[Stmt]) -> set[str]:
    """Names of the register scratch whose elements can be held in words: every access covers whole ones."""
    small = {a.buf.name for a in allocs if a.scope == "register" and a.buf.dtype.itemsize < 4}
    if not small:
        return small
    divisor = divisors(body)
    for s in walk(body):
        if not isinstance(s, (Let, Store)) or s.buf is None or s.buf.name not in small:
            continue
        index = s.args[0] if isinstance(s, Let) else s.index
        lanes = s.dst.lanes if isinstance(s, Let) else s.value.lanes
        masked = len(s.args) > 1 if isinstance(s, Let) else s.mask is not None
        per = 4 // s.buf.dtype.itemsize
        at = int(index.value) if isinstance(index, Imm) else divisor.get(index.name, 1)
        if lanes % per or at % per or masked or index.lanes > 1:
            small.discard(s.buf.name)
    return small


__all__ = ["PIECES", "divisors", "fetch", "in_words", "load", "move", "pack", "packed_registers", "store", "unpack"]
