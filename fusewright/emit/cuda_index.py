"""Which integers of a kernel are indices: their arithmetic does not overflow, while that of data wraps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..loop.ir import Arg, Copy, For, If, Imm, Let, Prefetch, Reg, Set, Stmt, Store, Var, walk

_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
_LINEAR = ("add", "sub", "mul", "splat", "iota", "cast", "where", "max", "min")  # what index arithmetic passes through


def divisors(body: list[Stmt], sizes: Sequence[Reg]) -> list[str]:
    """The size parameters that 32-bit indices are divided by more than once, lanes of vectors included."""
    times: Counter[str] = Counter()
    splats = {s.dst.name: s.args[0] for s in walk(body) if isinstance(s, Let) and s.op == "splat"}

    def count(body: list[Stmt], each: int) -> None:
        for s in body:
            if isinstance(s, Let) and s.op == "udiv" and s.dst.dtype.itemsize == 4 and isinstance(s.args[1], Reg):
                by = splats.get(s.args[1].name, s.args[1])
                if isinstance(by, Reg):
                    times[by.name] += each * s.dst.lanes
            elif isinstance(s, For):
                count(s.body, 2 * each)
            elif isinstance(s, If):
                count(s.then, each)
                count(s.orelse, each)

    count(body, 1)
    return [r.name for r in sizes if times[r.name] > 1]


def index_registers(body: list[Stmt], given: Iterable[Reg]) -> set[str]:
    """Registers that indices and loop bounds are computed from: their arithmetic does not overflow.

    `given`: the sizes and the numbers of block and thread.
    So are those that are compared and made of numbers, sizes and the thread's place alone. A name that is defined
    twice is left out: the other one may be data, whose arithmetic wraps.
    """
    defined: Counter[str] = Counter()
    sources: dict[str, list[str]] = {}
    work: list[str] = []
    placed = {r.name for r in given}

    def is_placed(args: tuple[Arg, ...]) -> bool:
        return all(isinstance(a, Imm) or a.name in placed for a in args)

    def regs(args: Iterable[Arg]) -> list[str]:
        return [a.name for a in args if isinstance(a, Reg)]

    for s in walk(body):
        match s:
            case Let():
                defined[s.dst.name] += 1
                if s.buf is not None:
                    work += regs(s.args[:1])
                elif s.op in _LINEAR:
                    sources.setdefault(s.dst.name, []).extend(regs(s.args))
                    if is_placed(s.args) and s.dst.dtype.is_int:
                        placed.add(s.dst.name)
                elif s.op in ("udiv", "lanemask", "lanerange"):
                    work += regs(s.args)
                    placed.add(s.dst.name)
                elif s.op in _COMPARE and is_placed(s.args):
                    work += regs(s.args)
            case Var():
                defined[s.dst.name] += 1
                sources.setdefault(s.dst.name, []).extend(regs((s.init,)))
            case Set():
                sources.setdefault(s.dst.name, []).extend(regs((s.src,)))
            case Store() | Prefetch():
                work += regs((s.index,))
            case Copy():
                work += regs((s.at, s.index))
            case For():
                defined[s.var.name] += 1
                placed.add(s.var.name)
                work += regs((s.lo, s.hi, s.step))
    found: set[str] = set()
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += sources.get(name, ())
    return {n for n in found if defined[n] == 1}


def lanes_of(s: Stmt) -> int:
    """The lanes that a statement works on."""
    match s:
        case Let() | Var() | Set():
            return s.dst.lanes
        case Store():
            return s.value.lanes
    return 1
