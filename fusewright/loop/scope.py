"""The parameters of a kernel, and one loop body while it is being filled."""

from __future__ import annotations

from typing import Any

from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix
from .ir import Arg, Buf, Func, Imm, Reg, Stmt


class Params:
    """The i64 parameters of a kernel: one per role, so that equal sizes by coincidence do not change the kernel.

    `values[k]` is the index expression (over size symbols) of parameter k.
    """

    def __init__(self, func: Func):
        self.func = func
        self.values: list[Ix] = []
        self.divisors: set[int] = set()
        self._by_role: dict[Any, Reg] = {}
        self.phase = 0  # roles are those of one phase of a kernel

    def divisor(self, value: Ix, role: Any) -> Arg:
        """A register holding max(value, 1): an empty extent divides nothing that is used, but must not trap."""
        before = len(self.values)
        got = self.get(value, ("divisor", role))
        if len(self.values) > before:
            self.divisors.add(before)
        return got

    def get(self, value: Ix, role: Any) -> Arg:
        """A register holding `value`; 1 and -1 are part of the kernel's structure."""
        n = value.as_int()
        if n in (1, -1):
            assert n is not None
            return Imm(n, self.func.index)
        key = (self.phase, role, value)
        found = self._by_role.get(key)
        if found is None:
            found = Reg(f"n{len(self.values)}", self.func.index)
            self._by_role[key] = found
            self.values.append(value)
            self.func.sizes.append(found)
        return found


class Scope:
    """One loop body (or the region itself) while it is being filled.

    `axes`: the index registers this scope defines; `vector`: the axis whose consecutive points fill lanes, if this
    scope steps through it; `mask`: lanes that exist (in a tail); `partial`: whether some do not, if whole vectors are
    accessed as such; `run`: (vector axis, register that is a multiple of 64, offset): where these lanes are in an
    aligned run of 64 points.
    """

    def __init__(self, parent: Scope | None, body: list[Stmt]):
        self.parent = parent
        self.body = body
        self.level: int = 0 if parent is None else parent.level + 1
        self.axes: dict[Atom, Arg] = {}
        self.stages: dict[str, Arg] = {}
        self.memo: dict[Any, Arg] = {}
        self.kept: dict[Expr, Buf] = {}
        self.vector: Atom | None = None
        self.mask: Arg | None = None
        self.partial: Arg | None = None
        self.lanes = 1
        self.run: tuple[Atom, Arg, int] | None = None

    def chain(self) -> list[Scope]:
        out: list[Scope] = []
        s: Scope | None = self
        while s is not None:
            out.append(s)
            s = s.parent
        return out
