"""Aligned vectors of which only some elements may exist: those at 0 <= at + lane < n.

Whole ones are accessed as `cuda_memory.py` does it, others element by element. Both ways end in the same words, so that
only the access itself is in a branch: nobody waits in it for what was read before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ..core.dtypes import DType
from ..loop.ir import Arg, Let, Reg, Stmt, Store, Var, walk
from .cuda_memory import fetch, pack, unpack
from .cuda_memory import store as whole_store
from .cuda_prelude import Prelude
from .cuda_types import stored_type, value_type

_FN = "template <class I> __device__ __forceinline__ void"
_RAW = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2"}
_READ = {"": "", "ldg": "__ldg", "ldcs": "__ldcs", "ldcg": "__ldcg"}

Range = tuple[Arg, Arg]  # (at, n)


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
    """The range of an aligned access, if it has one."""
    match s:
        case Let(op="load", args=(_, Reg() as mask)) if "aligned" in (s.attr or ""):
            return found.get(mask.name)
        case Store(mask=Reg() as mask) if "aligned" in s.hint and s.index.lanes == 1:
            return found.get(mask.name)
    return None


def fetch_range(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """The function `(const T* p, at, n, unsigned* w)` that reads aligned elements as words, zeros for others."""
    fn = f"fw_fetch_{d}x{lanes}_range{'_' + policy if policy else ''}"
    if fn not in prelude:
        whole = fetch(prelude, d, lanes, policy)
        raw, words = _RAW[d.itemsize], max(1, d.itemsize * lanes // 4)
        lines = [f"  if (at >= 0 && at + {lanes} <= n) {{", f"    {whole}(p, w);", "  } else {"]
        lines.append(f"    const {raw}* const q = (const {raw}*)p;")
        lines += [f"    w[{j}] = 0;" for j in range(words)]
        for k in range(lanes):
            lines.append(f"    if ({_inside(k)}) {_put(d, k, f'{_READ[policy]}(q + {k})' if policy else f'q[{k}]')}")
        head = f"{_FN} {fn}(const {stored_type(d)}* p, I at, I n, unsigned* w) {{"
        prelude.define(fn, "\n".join([head, *lines, "  }", "}"]))
    return fn


def load_range(prelude: Prelude, d: DType, lanes: int, policy: str) -> str:
    """The function `(const T* p, at, n, float* v)` that reads aligned elements, zeros for those that do not exist."""
    fn = f"fw_load_{d}x{lanes}_range{'_' + policy if policy else ''}"
    if fn not in prelude:
        words = max(1, d.itemsize * lanes // 4)
        lines = [f"  unsigned w[{words}];", f"  {fetch_range(prelude, d, lanes, policy)}(p, at, n, w);"]
        lines.append(f"  {unpack(prelude, d, lanes)}(w, v);")
        head = f"{_FN} {fn}(const {stored_type(d)}* p, I at, I n, {value_type(d)}* v) {{"
        prelude.define(fn, "\n".join([head, *lines, "}"]))
    return fn


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

