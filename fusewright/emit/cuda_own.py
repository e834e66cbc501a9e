"""A thread's own scratch in shared memory (`own` scratch of `loop/ir.py`), and asynchronous copies to it.

Neighbouring threads have their pieces side by side, so that a warp's accesses meet no bank twice: with pieces of `unit`
elements (up to 16 bytes), element i of thread t is at (i // unit * threads + t) * unit + i % unit. A kernel's pointer
to its scratch is that of the thread's first element.

Copies are `cp.async`, from compute capability 8.0 on, in pieces of 4, 8 or 16 bytes; what comes in smaller pieces, or
on older GPUs, is loaded and stored at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ..core.dtypes import DType
from ..loop.ir import Alloc, Arg, Buf, Copy, Imm, Let, Stmt, Store, walk
from . import cuda_memory
from .cuda_prelude import Prelude
from .cuda_types import CudaTarget, stored_type

_READ = {"": "fw_read", "ldg": "__ldg"}


def units(allocs: Iterable[Alloc], body: list[Stmt]) -> dict[str, int]:
    """Own scratch of a launch -> elements of a piece: every access is of whole pieces."""
    found = {a.buf.name: max(1, 16 // a.buf.dtype.itemsize) for a in allocs if a.scope == "own"}
    if not found:
        return found
    divisor = cuda_memory.divisors(body)

    def note(b: Buf, index: Arg, lanes: int) -> None:
        if b.name in found:
            at = int(index.value) if isinstance(index, Imm) else divisor.get(index.name, 1)
            unit = math.gcd(found[b.name], lanes, at)
            found[b.name] = unit if cuda_memory.in_words(b.dtype, unit) else 1

    for s in walk(body):
        match s:
            case Let() if s.buf is not None:
                note(s.buf, s.args[0], s.dst.lanes)
            case Store():
                note(s.buf, s.index, s.value.lanes)
            case Copy():
                note(s.into, s.at, s.lanes)
    return found


class Own:
    """Writes accesses to own scratch. `arg`: an operand's text; `pointer`: a buffer's."""

    def __init__(self, prelude: Prelude, target: CudaTarget, threads: int, units: dict[str, int]):
        self.prelude, self.target, self.threads, self.units = prelude, target, threads, units

    def __contains__(self, name: str) -> bool:
        return name in self.units

    def piecewise(self, b: Buf) -> bool:
        """Whether vectors are accessed in pieces, not lane by lane."""
        return self.units[b.name] > 1

    def at(self, index: str) -> str:
        """How far from the thread's first element that with this number is: the first of a piece."""
        if index.isdigit():
            return str(int(index) * self.threads)
        return f"{index if index.isidentifier() else f'({index})'} * {self.threads}"

    def pieces(self, b: Buf, lanes: int) -> list[tuple[int, int]]:
        """(lane that it begins with, how far it is from the first one), of every piece of a vector."""
        unit = self.units[b.name]
        return [(k, k * self.threads) for k in range(0, lanes, unit)]

    def load(self, b: Buf, pointer: str, index: str, lanes: int, into: str) -> str:
        fn = cuda_memory.load(self.prelude, b.dtype, self.units[b.name], "")
        return " ".join(
            f"{fn}({pointer} + {self.at(index)}{_plus(far)}, {into}{_plus(k)});" for k, far in self.pieces(b, lanes)
        )

    def store(self, b: Buf, pointer: str, index: str, lanes: int, values: str) -> str:
        fn = cuda_memory.store(self.prelude, b.dtype, self.units[b.name], "")
        return " ".join(
            f"{fn}({pointer} + {self.at(index)}{_plus(far)}, {values}{_plus(k)});" for k, far in self.pieces(b, lanes)
        )

    def copy(
        self, s: Copy, to: str, source: str, at: str, index: str, policy: str, line: Callable[[str], None]
    ) -> None:
        """`to`, `source`: the pointers; `policy`: how the source is read where that is not asynchronous."""
        d, unit = s.buf.dtype, self.units[s.into.name]
        whole = "aligned" in s.hint or s.lanes == 1
        size = d.itemsize * (unit if whole else 1)
        there, here = f"{to} + {self.at(at)}", f"{source} + {index}"
        if whole:
            for k, far in self.pieces(s.into, s.lanes):
                line(self._move(d, size, f"{there}{_plus(far)}", f"{here}{_plus(k)}", policy))
            return
        line("#pragma unroll")
        lane = f" + l / {unit} * {unit * self.threads} + l % {unit}" if unit > 1 else f" + l * {self.threads}"
        line(f"for (int l = 0; l < {s.lanes}; ++l) {self._move(d, size, f'{there}{lane}', f'{here} + l', policy)}")

    def _move(self, d: DType, size: int, there: str, here: str, policy: str) -> str:
        if self.target.has_async_copies and size in (4, 8, 16):
            return f"{self.prelude.need('fw_copy_async')}<{size}>({there}, {here});"
        t = stored_type(d) if size == d.itemsize else cuda_memory.PIECES[size]
        read, write = _READ[policy], self.prelude.need("fw_write")
        if not policy:
            self.prelude.need(read)
        return f"{write}(({t}*)({there}), {read}((const {t}*)({here})));"

    def commit(self) -> str | None:
        return "fw_copy_commit();" if self._asynchronous() else None

    def wait(self, groups: int) -> str | None:
        return f"fw_copy_wait<{groups}>();" if self._asynchronous() else None

    def _asynchronous(self) -> bool:
        if self.target.has_async_copies:
            self.prelude.need("fw_copy_async")
        return self.target.has_async_copies


def _plus(n: int) -> str:
    return f" + {n}" if n else ""


__all__ = ["Own", "units"]
