"""Vectors of which only some elements may exist: those at 0 <= at + lane < n.

Whole ones that are aligned are accessed as `cuda_memory.py` does it, others element by element. Both ways end in the
same words, so that only the access itself is in a branch: nobody waits in it for what was read before. Vectors that lie
across two aligned ones are read as those, and shifted, where all of that is elements of the row. With a `reach` vectors
of which only some elements exist are read whole, too, where memory allows it: `left` elements follow after the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.dtypes import DType
from ..loop.ir import Arg, Buf, Let, Reg, Stmt, Store, Var, walk
from .cuda_memory import _pieces, fetch, load, pack, unpack
from .cuda_memory import store as whole_store
from .cuda_prelude import Prelude
from .cuda_types import stored_type, value_type

_WHOLE = "__device__ __forceinline__ void"
_FN = f"template <class I> {_WHOLE}"
WORD = 4  # bytes; a vector of fewer has no aligned ones worth reading around it
_RAW = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2"}
_READ = {"": "", "ldg": "__ldg", "ldcs": "__ldcs", "ldcg": "__ldcg"}

Range = tuple[Arg, Arg]  # (at, n)


@dataclass(frozen=True, slots=True)
class Kind:
    """How vectors with a range are read: `across` two aligned ones or not, with what is `beside` the range or not."""

    across: bool = False
    beside: bool = False

    def name(self) -> str:
        return ("across" if self.across else "range") + "_beside" * self.beside

    def given(self, d: DType) -> list[tuple[str, str]]:
        """The functions' other arguments, types and names: the buffer's start, elements up to the reach."""
        return [(f"const {stored_type(d)}*", "first")] * self.across + [("I", "left")] * self.beside


_PLAIN = Kind()


def ranges(body: list[Stmt]) -> dict[str, Range]:
    """The masks that are ranges of lanes, by the register's name, with operands that stay as they are."""
    defined = Counter(s.dst.name for s in walk(body) if isinstance(s, (Let, Var)))
    mutable = {s.dst.name for s in walk(body) if isinstance(s, Var)}
    found: dict[str, Range] = {}
    for s in walk(body):
        if isinstance(s, Let) and s.op == "lanerange" and defined[s.dst.name] == 1:
            if all(not isinstance(a, Reg) or (a.name not in mutable and defined[a.name] <= 1) for a in s.args):
                found[s.dst.name] = (s.args[0], s.args[1])
    return found


def range_of(s: Stmt, found: Mapping[str, Range]) -> Range | None:
    """The range of an access to one vector, if it has one."""
    match s:
        case Let(op="load", args=(_, Reg() as mask, *_), buf=Buf()):
            return found.get(mask.name) if lies_across(s) or "aligned" in (s.attr or "") else None
        case Store(mask=Reg() as mask) if "aligned" in s.hint and s.index.lanes == 1:
            return found.get(mask.name)
    return None


def lies_across(s: Let) -> bool:
    """Whether a load reads the aligned vectors that it lies in."""
    return s.attr == "across" and s.buf is not None and s.buf.dtype.itemsize * s.dst.lanes >= WORD


def masks(body: list[Stmt], found: Mapping[str, Range]) -> list[str]:
    """The masks that accesses to one vector do without, an entry for each."""
    some = [s for s in walk(body) if range_of(s, found) is not None]
    every = [s.args[1] if isinstance(s, Let) else s.mask for s in some if isinstance(s, (Let, Store))]
    return [a.name for a in every if isinstance(a, Reg)]


def reader(prelude: Prelude, s: Let, how: str, policy: str) -> str:
    """The function that reads the vector of a load: "load" its elements, or "fetch" them as words."""
    assert s.buf is not None
    across = s.attr == "across"
    if len(s.args) == 1:
        whole = {"load": load_two, "fetch": fetch_two} if across else {"load": load, "fetch": fetch}
        return whole[how](prelude, s.buf.dtype, s.dst.lanes, policy)
    make = {"load": load_range, "fetch": fetch_range}[how]
    return make(prelude, s.buf.dtype, s.dst.lanes, policy, Kind(across, len(s.args) == 3))


def _name(how: str, d: DType, lanes: int, kind: str, policy: str) -> str:
    return f"fw_{how}_{d}x{lanes}_{kind}{'_' + policy if policy else ''}"


def fetch_range(prelude: Prelude, d: DType, lanes: int, policy: str, kind: Kind = _PLAIN) -> str:
    """The function `([first,] [left,] const T* p, at, n, unsigned* w)` that reads elements as words; those beside the
    range are zero, or what is there."""
    fn = _name("fetch", d, lanes, kind.name(), policy)
    if fn not in prelude:
        raw, words = _RAW[d.itemsize], max(1, d.itemsize * lanes // 4)
        if kind.across:
            lines = _two(prelude, d, lanes, policy, kind.beside)
        else:
            whole = fetch(prelude, d, lanes, policy)
            inside = f"at >= 0 && at + {lanes} <= n"
            if kind.beside:
                inside = f"at > -{lanes} && at < n && left >= {lanes - 1}"
            lines = [f"  if ({inside}) {{", f"    {whole}(p, w);", "  } else {"]
        lines += [f"    w[{j}] = 0;" for j in range(words)]
        lines += ["    if (at >= n) return;", f"    const {raw}* const q = (const {raw}*)p;"]
        for k in range(lanes):
            lines.append(f"    if ({_inside(k)}) {_put(d, k, f'{_READ[policy]}(q + {k})' if policy else f'q[{k}]')}")
        given = "".join(f"{t} {name}, " for t, name in kind.given(d))
        head = f"{_FN} {fn}({given}const {stored_type(d)}* p, I at, I n, unsigned* w) {{"
        prelude.define(fn, "\n".join([head, *lines, "  }", "}"]))
    return fn


def _two(prelude: Prelude, d: DType, lanes: int, policy: str, beside: bool) -> list[str]:
    """Statements that read a vector as the aligned ones that it is in, up to the branch where it is not whole."""
    _, size, _ = _pieces(d, lanes)
    over = lanes + size // d.itemsize - 1
    inside = f"at < n && left >= {over - 1}" if beside else f"at >= 0 && at + {over} <= n"
    inside += " && (const char*)a >= (const char*)first"
    shifted = ["  " + line for line in _shifted(prelude, d, lanes, policy)]
    return [*_pieces_of(d, lanes), f"  if ({inside}) {{", *shifted, "  } else {"]


def _pieces_of(d: DType, lanes: int) -> list[str]:
    """Statements that find the first aligned vector `a` that a vector at `p` lies in, and how much before it is."""
    t, size, _ = _pieces(d, lanes)
    skip = f"  const unsigned skip = (unsigned)(unsigned long long)p & {size - 1};"
    return [skip, f"  const {t}* const a = (const {t}*)((const char*)p - skip);"]


def _shifted(prelude: Prelude, d: DType, lanes: int, policy: str) -> list[str]:
    """Statements that read a vector as the aligned ones that it is in."""
    t, size, count = _pieces(d, lanes)
    words = size // 4
    read = prelude.need("fw_read") if not policy else _READ[policy]
    lines = [f"  unsigned x[{words * (count + 1)}];"]
    for k in range(count + 1):
        at = f"a + {k}" if k < count else f"a + (skip ? {k} : {k - 1})"
        lines.append(f"  const {t} a{k} = {read}({at});")
        parts = [f"a{k}.{c}" for c in "xyzw"[:words]] if words > 1 else [f"a{k}"]
        lines += [f"  x[{words * k + j}] = {part};" for j, part in enumerate(parts)]
    left = words * (count + 1)
    step = words // 2
    while step and 4 * step >= d.itemsize:
        left -= step
        lines.append(f"  if (skip & {4 * step}) {{")
        lines += [f"    x[{j}] = x[{j + step}];" for j in range(left)]
        lines.append("  }")
        step //= 2
    for j in range(words * count):
        shifted = f"__funnelshift_r(x[{j}], x[{j + 1}], 8 * (skip & 3))" if d.itemsize < 4 else f"x[{j}]"
        lines.append(f"  w[{j}] = {shifted};")
    return lines


def fetch_two(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """The function `(const T* p, unsigned* w)` that reads a whole vector as the aligned ones that it lies in."""
    fn = _name("fetch", d, lanes, "two", policy)
    if fn not in prelude:
        head = f"{_WHOLE} {fn}(const {stored_type(d)}* p, unsigned* w) {{"
        prelude.define(fn, "\n".join([head, *_pieces_of(d, lanes), *_shifted(prelude, d, lanes, policy), "}"]))
    return fn


def load_two(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """As `fetch_two`: the function `(const T* p, float* v)`."""
    fn = _name("load", d, lanes, "two", policy)
    if fn not in prelude:
        lines = _unpacked(prelude, d, lanes, f"{fetch_two(prelude, d, lanes, policy)}(p, w);")
        head = f"{_WHOLE} {fn}(const {stored_type(d)}* p, {value_type(d)}* v) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


def load_range(prelude: Prelude, d: DType, lanes: int, policy: str, kind: Kind = _PLAIN) -> str:
    """As `fetch_range`: the function `([first,] [left,] const T* p, at, n, float* v)`."""
    fn = _name("load", d, lanes, kind.name(), policy)
    if fn not in prelude:
        given = "".join(f"{name}, " for _, name in kind.given(d))
        typed = "".join(f"{t} {name}, " for t, name in kind.given(d))
        fetched = fetch_range(prelude, d, lanes, policy, kind)
        lines = _unpacked(prelude, d, lanes, f"{fetched}({given}p, at, n, w);")
        head = f"{_FN} {fn}({typed}const {stored_type(d)}* p, I at, I n, {value_type(d)}* v) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


def _unpacked(prelude: Prelude, d: DType, lanes: int, fetched: str) -> list[str]:
    """Statements that turn the words that a call fetches into values."""
    words = max(1, d.itemsize * lanes // 4)
    return [f"  unsigned w[{words}];", f"  {fetched}", f"  {unpack(prelude, d, lanes)}(w, v);"]


def store_range(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """The function `(T* p, at, n, const float* v)` that writes aligned elements, those that exist."""
    fn = f"fw_store_{d}x{lanes}_range{'_' + policy if policy else ''}"
    if fn not in prelude:
        whole = whole_store(prelude, d, lanes, policy)
        raw, words = _RAW[d.itemsize], max(1, d.itemsize * lanes // 4)
        lines = [f"  if (at >= 0 && at + {lanes} <= n) {{", f"    {whole}(p, v);", "  } else {"]
        lines += [f"    unsigned w[{words}];", f"    {pack(prelude, d, lanes)}(v, w);"]
        lines.append(f"    {raw}* const q = ({raw}*)p;")
        lines += [f"    if ({_inside(k)}) q[{k}] = {_get(d, k)};" for k in range(lanes)]
        head = f"{_FN} {fn}({stored_type(d)}* p, I at, I n, const {value_type(d)}* v) {{"
        prelude.define(fn, "\n".join([head, *lines, "  }", "}"]))
    return fn


def _inside(k: int) -> str:
    at = f"at + {k}" if k else "at"
    return f"{at} >= 0 && {at} < n"


def _put(d: DType, k: int, value: str) -> str:
    if d.itemsize == 8:
        return f"{{ const uint2 x = {value}; w[{2 * k}] = x.x; w[{2 * k + 1}] = x.y; }}"
    if d.itemsize == 4:
        return f"w[{k}] = {value};"
    per = 4 // d.itemsize
    shift = 8 * d.itemsize * (k % per)
    return f"w[{k // per}] |= (unsigned){value}{f' << {shift}' if shift else ''};"


def _get(d: DType, k: int) -> str:
    if d.itemsize == 8:
        return f"uint2{{w[{2 * k}], w[{2 * k + 1}]}}"
    if d.itemsize == 4:
        return f"w[{k}]"
    per = 4 // d.itemsize
    shift = 8 * d.itemsize * (k % per)
    return f"({_RAW[d.itemsize]}){f'(w[{k // per}] >> {shift})' if shift else f'w[{k // per}]'}"
