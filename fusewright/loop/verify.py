"""Checks a kernel against the rules of `loop/ir.py`.

`verify` runs on every kernel in production, so the common case is a handful of comparisons per statement; only
when one of them fails is the rule looked up again to say what is wrong. The rules
- Registers hold compute types (no 16-bit floats) in `lanes` >= 1 lanes; immediates are in their type's range.
- A register is defined before it is used, and seen only in the block that defines it and the blocks inside. A name
  is not defined again while it can be seen; blocks side by side may use the same name.
- `set` changes only registers made by `var`, and inside `parallel` only those made inside it.
- Operand and result types and lanes are those listed in `loop/ir.py`. Buffers are declared, under one name each; only
  outputs and scratch are stored to.
- `parallel` is not inside `parallel`; an immediate `step` is >= 1; `alloc` appears only in `Func.allocs`.

This file checks names and types for all targets; what else holds for CUDA kernels is in `loop/verify_cuda.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from ..core.dtypes import BY_NAME, DType, bool_, compute_type, f32, i32, i64, u32
from ..core.errors import VerifyError
from ..core.lazy import lazy_import
from ..prims.table import MONOIDS, PRIMS
from .ir import (
    STEPS,
    Alloc,
    Arg,
    Barrier,
    Buf,
    Commit,
    Copy,
    Fail,
    For,
    Func,
    Grid,
    If,
    Imm,
    Let,
    Parallel,
    Prefetch,
    Reg,
    Set,
    Stmt,
    Store,
    Turn,
    Var,
    Wait,
)
from .text import SCOPES, head, printable

if TYPE_CHECKING:
    from . import verify_cuda
else:
    verify_cuda = lazy_import("fusewright.loop.verify_cuda")

HINTS = ("", "stream", "unaligned stream")
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")
MAX_LANES = 1024

# (operand kinds, result is bool), for every primitive but `where`
_PRIM = {p.name: (p.arity, frozenset(p.kinds), p.result == "bool") for p in PRIMS.values() if p.name != "where"}
_RANGE = {
    d: (0 if d.kind == "u" else -(1 << (8 * d.itemsize - 1)), (1 << (8 * d.itemsize - (d.kind == "i"))) - 1)
    for d in BY_NAME.values()
    if d.is_int
}


def verify(func: Func) -> None:
    """Raise VerifyError, naming the statement, if `func` breaks a rule."""
    _Verifier(func).run()
    if func.target == "cuda":
        verify_cuda.check(func)


class _Verifier:
    __slots__ = ("bufs", "cuda", "func", "index", "live", "ops", "parallel", "stmt", "writable")

    def __init__(self, func: Func):
        self.func = func
        self.index = func.index
        self.cuda = func.target == "cuda"
        self.ops = _OPS | verify_cuda.OPS if self.cuda else _OPS
        # The registers that `set` may change, and whether they were made inside `parallel`
        self.live: dict[str, Reg] = {}
        self.writable: dict[str, bool] = {}
        self.bufs: dict[str, tuple[Buf, bool]] = {}  # name -> buffer, whether it may be stored to
        self.parallel = False
        self.stmt: Stmt | None = None

    def fail(self, message: str) -> NoReturn:
        where = f", in '{head(self.stmt, self.index)}'" if self.stmt is not None else ""
        raise VerifyError(f"{message}{where}", stage=f"verify loop '{self.func.name}'")

    def run(self) -> None:
        f = self.func
        index = self.index
        if f.target not in SCOPES or index not in ((i32, i64) if self.cuda else (i64,)):
            self.fail(f"there are no kernels for '{f.target}' with {index} indices")
        for b in f.bufs:
            self.declare(b, b.output)
        for r in f.sizes:
            if r.dtype is not index or r.lanes != 1:
                self.fail(f"size '{r.name}' must be an {index} scalar")
            self.define(r)
        sizes = set(f.sizes)
        for r in f.hosts:
            if r.lanes != 1:
                self.fail(f"host '{r.name}' must be a scalar")
            self.define(r)
        for a in f.allocs:
            self.stmt = a
            if a.scope not in SCOPES[f.target]:
                self.fail(f"unknown scope '{a.scope}'")
            if isinstance(a.count, Reg):
                if a.count not in sizes:
                    self.fail("the count of an alloc must be a size or an immediate")
            else:
                self.use(a.count)
                if a.count.value < 0:
                    self.fail("the count of an alloc must be >= 0")
            if a.count.dtype is not index or a.count.lanes != 1:
                self.fail(f"the count of an alloc must be an {index} scalar")
            self.declare(a.buf, True)
        self.block(f.body)

    def declare(self, b: Buf, store: bool) -> None:
        if not printable(b.name):
            self.fail(f"bad buffer name '{b.name}'")
        if b.name in self.bufs:
            self.fail(f"buffer '{b.name}' is declared twice")
        self.bufs[b.name] = (b, store)

    def define(self, r: Reg) -> None:
        live = self.live
        name = r.name
        if name in live:
            self.fail(f"register '{name}' is already defined")
        d = r.dtype
        if d.is_reduced:
            self.fail(f"register '{name}' cannot hold {d}: registers hold compute types")
        if not 1 <= r.lanes <= MAX_LANES:
            self.fail(f"register '{name}' has {r.lanes} lanes")
        live[name] = r

    def use(self, a: Arg) -> None:
        """Check that an operand exists."""
        if isinstance(a, Reg):
            found = self.live.get(a.name)
            if found is not a and found != a:
                if found is None:
                    self.fail(f"register '{a.name}' is not defined here")
                self.fail(f"register '{a.name}' is {_show(found)}, but is used as {_show(a)}")
        else:
            v = a.value
            if a.dtype is i64 and type(v) is int and -0x8000000000000000 <= v <= 0x7FFFFFFFFFFFFFFF:
                return
            self.immediate(a)

    def immediate(self, a: Arg) -> None:
        if not isinstance(a, Imm):
            self.fail(f"operand {a!r} is neither a register nor an immediate")
        d, v = a.dtype, a.value
        if d.is_reduced:
            self.fail(f"an immediate cannot be {d}: registers hold compute types")
        if d.is_bool:
            good = type(v) is bool
        elif d.is_float:
            good = type(v) is float or type(v) is int
        else:
            lo, hi = _RANGE[d]
            good = type(v) is int and lo <= v <= hi
        if not good:
            self.fail(f"immediate {v!r} is not a {d}")
        if not 1 <= a.lanes <= MAX_LANES:
            self.fail(f"an immediate has {a.lanes} lanes")

    def want(self, a: Arg, dtype: DType, lanes: int, what: str) -> None:
        """Check that an operand exists and has this type."""
        self.use(a)
        if a.dtype is not dtype or a.lanes != lanes:
            self.fail(f"{what} must be {_show_type(dtype, lanes)}, not {_show(a)}")

    # --- blocks ---
    def block(self, body: list[Stmt]) -> None:
        """Check a block, then forget what it defined."""
        live = self.live
        before = len(live)
        let, use = self.let, self.use
        for s in body:
            self.stmt = s
            t = type(s)
            if t is Let:
                let(s)  # type: ignore[arg-type]
            elif t is Store:
                self.store(s)  # type: ignore[arg-type]
            elif isinstance(s, Set):
                dst = s.dst
                if dst.name not in self.writable:
                    self.use(dst)
                    self.fail(f"register '{dst.name}' is not a var")
                use(dst)
                if self.parallel and not self.writable[dst.name]:
                    self.fail(f"var '{dst.name}' belongs to the code outside 'parallel', whose threads share it")
                self.want(s.src, dst.dtype, dst.lanes, "the new value")
            elif isinstance(s, Var):
                self.want(s.init, s.dst.dtype, s.dst.lanes, "the initial value")
                self.define(s.dst)
                self.writable[s.dst.name] = self.parallel
            elif isinstance(s, For):
                self.loop(s)
            elif isinstance(s, If):
                self.want(s.cond, bool_, 1, "the condition")
                self.block(s.then)
                self.block(s.orelse)
            elif isinstance(s, Parallel) and not self.cuda:
                self.region(s)
            elif self.cuda and isinstance(s, Grid):
                self.want(s.blocks, self.index, 1, "the number of blocks")
                self.inner(s.body, s.bid, s.tid)
            elif isinstance(s, (Parallel, Grid)):
                self.fail(f"{self.func.target} kernels have no such regions")
            elif isinstance(s, Alloc):
                self.fail("scratch is declared in Func.allocs, not in a block")
            elif isinstance(s, Prefetch):
                self.memory(s.buf, compute_type(s.buf.dtype), "asks for")
                self.want(s.index, self.index, 1, "the index")
            elif isinstance(s, Turn) and not self.cuda:
                self.turn(s)
            elif isinstance(s, Copy) and self.cuda:
                self.copy(s)
            elif not (isinstance(s, Fail) or (self.cuda and isinstance(s, (Barrier, Commit, Wait)))):
                self.stmt = None
                self.fail(f"not a statement: {s!r}")
        # A dict keeps the order of insertion, so what this block defined is at its end
        for _ in range(len(live) - before):
            name, _reg = live.popitem()
            self.writable.pop(name, None)

    def loop(self, s: For) -> None:
        self.want(s.lo, self.index, 1, "the lower bound")
        self.want(s.hi, self.index, 1, "the upper bound")
        self.want(s.step, self.index, 1, "the step")
        if s.unroll and not self.cuda:
            self.fail("only loops of CUDA kernels are unrolled")
        if isinstance(s.step, Imm) and s.step.value < 1:
            self.fail("the step must be >= 1")
        self.inner(s.body, s.var)

    def region(self, s: Parallel) -> None:
        if self.parallel:
            self.fail("'parallel' inside 'parallel'")
        self.parallel = True
        self.inner(s.body, s.tid, s.nth)
        self.parallel = False

    def inner(self, body: list[Stmt], *regs: Reg) -> None:
        for r in regs:
            if r.dtype is not self.index or r.lanes != 1:
                self.fail(f"register '{r.name}' must be an {self.index} scalar")
            self.define(r)
        self.block(body)
        for r in regs:
            del self.live[r.name]

    # --- memory ---
    def memory(self, b: Buf, value: DType, what: str) -> bool:
        """Check a buffer and the type that its elements have in registers; says whether it may be stored to."""
        found = self.bufs.get(b.name)
        if found is None:
            self.fail(f"buffer '{b.name}' is not declared")
        if found[0] is not b and found[0] != b:
            self.fail(f"buffer '{b.name}' is not the one that was declared")
        d = b.dtype
        if (f32 if d.is_reduced else d) is not value:
            self.fail(f"{what} buffer '{b.name}' of {d}, so the register must be {f32 if d.is_reduced else d}")
        return found[1]

    def store(self, s: Store) -> None:
        v, index = s.value, s.index
        self.use(v)
        if not self.memory(s.buf, v.dtype, "stores to"):
            self.fail(f"store to '{s.buf.name}', which is an input")
        self.use(index)
        lanes = v.lanes
        if index.dtype is not self.index or index.lanes not in (1, lanes):
            self.fail(f"the index must be {self.index} or {_show_type(self.index, lanes)}, not {_show(index)}")
        if s.mask is not None:
            self.want(s.mask, bool_, lanes, "the mask")
        if s.hint and not self.cuda:
            if s.hint not in HINTS:
                self.fail(f"unknown hint '{s.hint}'")
            if index.lanes != 1 or s.mask is not None:
                self.fail("a store with hint 'stream' must be consecutive and without a mask")

    def turn(self, s: Turn) -> None:
        if not self.memory(s.into, compute_type(s.into.dtype), "stores to"):
            self.fail(f"store to '{s.into.name}', which is an input")
        self.memory(s.buf, compute_type(s.buf.dtype), "reads")
        if s.into.dtype is not s.buf.dtype or s.into.name == s.buf.name:
            self.fail("a tile is turned into another buffer of its type")
        for a in (s.at, s.pitch, s.index, s.stride, s.rows, s.cols):
            self.want(a, self.index, 1, "the operand")

    def copy(self, s: Copy) -> None:
        for b, at in ((s.into, s.at), (s.buf, s.index)):
            self.memory(b, compute_type(b.dtype), "copies")
            self.want(at, self.index, 1, "the index")
        if s.into.dtype is not s.buf.dtype:
            self.fail(f"a copy of {s.buf.dtype} to scratch of {s.into.dtype}")

    # --- operations ---
    def let(self, s: Let) -> None:
        op, dst, args = s.op, s.dst, s.args
        lanes, dtype = dst.lanes, dst.dtype
        # "round" with an attribute narrows to a 16-bit float, without one it is the primitive
        row = _PRIM.get(op) if s.attr is None else None
        if row is not None:
            live = self.live
            arity, kinds, to_bool = row
            if len(args) != arity:
                self.prim(s)
            first = args[0].dtype
            for a in args:
                if type(a) is not Reg or live.get(a.name) is not a:
                    self.use(a)
                if a.dtype is not first or a.lanes != lanes:
                    self.prim(s)
            if first.kind not in kinds or dtype is not (bool_ if to_bool else first) or s.buf:
                self.prim(s)
        else:
            check = self.ops.get(op)
            if check is None:
                if op in PRIMS:
                    self.prim(s)
                self.fail(f"unknown operation '{op}'")
            check(self, s)
        if dst.name in self.live or dtype.is_reduced or not 1 <= lanes <= MAX_LANES:
            self.define(dst)
        self.live[dst.name] = dst

    def prim(self, s: Let) -> NoReturn:
        """Say which rule of a primitive `s` breaks."""
        dst = s.dst
        for a in s.args:
            self.use(a)
        try:
            result = PRIMS[s.op].result_type(tuple(a.dtype for a in s.args))
        except TypeError as error:
            self.fail(str(error))
        for a in s.args:
            if a.lanes != dst.lanes:
                self.fail(f"{s.op} gives {dst.lanes} lanes, but operand {_name(a)} has {a.lanes}")
        if result is not dst.dtype:
            self.fail(f"{s.op} gives {result}, not {dst.dtype}")
        self.fail(f"{s.op} takes no attribute and no buffer")

    def plain(self, s: Let, count: int, attr: bool = False) -> None:
        if len(s.args) != count:
            self.fail(f"{s.op} takes {count} operand{'s' * (count != 1)}, got {len(s.args)}")
        if s.buf is not None or (s.attr is not None) is not attr:
            self.fail(f"{s.op} takes {'an attribute' if attr else 'no attribute'} and no buffer")

    def result(self, s: Let, dtype: DType, lanes: int) -> None:
        if s.dst.dtype is not dtype or s.dst.lanes != lanes:
            self.fail(f"{s.op} gives {_show_type(dtype, lanes)}, not {_show(s.dst)}")

    def where(self, s: Let) -> None:
        args, dst = s.args, s.dst
        for a in args:
            self.use(a)
        if len(args) != 3 or s.attr is not None or s.buf is not None:
            self.prim(s)
        c, a, b = args
        n = dst.lanes
        typed = c.dtype is bool_ and a.dtype is b.dtype and a.dtype is dst.dtype
        if not typed or c.lanes != n or a.lanes != n or b.lanes != n:
            self.prim(s)

    def cast(self, s: Let) -> None:
        self.plain(s, 1)
        self.use(s.args[0])
        if s.args[0].lanes != s.dst.lanes:
            self.fail(f"cast gives {s.args[0].lanes} lanes, not {s.dst.lanes}")
        if s.dst.dtype is bool_:
            self.fail("cast cannot give bool: compare with 0 instead")

    def round(self, s: Let) -> None:
        self.plain(s, 1, attr=True)
        if not isinstance(s.attr, DType) or not s.attr.is_reduced:
            self.fail(f"round to {s.attr}: only floats of fewer than 32 bits are rounded to")
        self.want(s.args[0], f32, s.dst.lanes, "the operand")
        self.result(s, f32, s.dst.lanes)

    def splat(self, s: Let) -> None:
        self.plain(s, 1)
        self.want(s.args[0], s.dst.dtype, 1, "the operand")

    def iota(self, s: Let) -> None:
        self.plain(s, 2 if len(s.args) == 2 and not self.cuda else 1)
        self.want(s.args[0], self.index, 1, "the base")
        if len(s.args) == 2:
            self.want(s.args[1], self.index, 1, "the step")
        self.result(s, self.index, s.dst.lanes)

    def lanemask(self, s: Let) -> None:
        self.plain(s, 1)
        self.want(s.args[0], self.index, 1, "the count")
        self.result(s, bool_, s.dst.lanes)

    def load(self, s: Let) -> None:
        args, lanes = s.args, s.dst.lanes
        marked = s.attr is not None and not (self.cuda and s.op == "load")
        if s.buf is None or marked or len(args) not in ((1, 2, 3) if self.cuda and s.op == "load" else (1, 2)):
            self.fail(f"{s.op} takes a buffer, an index and possibly a mask")
        self.memory(s.buf, s.dst.dtype, f"{s.op} reads")
        self.want(args[0], self.index, lanes if s.op == "gather" else 1, "the index")
        if len(args) >= 2:
            self.want(args[1], bool_, lanes, "the mask")
        if len(args) == 3:
            self.want(args[2], self.index, 1, "the reach")

    def strided(self, s: Let) -> None:
        if self.cuda or s.buf is None or not 1 <= len(s.args) <= 2 or s.attr not in STEPS or s.dst.lanes < 2:
            self.fail(f"strided takes a buffer, an index and a step of {STEPS}, and gives lanes")
        self.memory(s.buf, s.dst.dtype, "strided reads")
        self.want(s.args[0], self.index, 1, "the index")
        for mask in s.args[1:]:
            self.want(mask, bool_, s.dst.lanes, "the mask")

    def hreduce(self, s: Let) -> None:
        self.plain(s, 1, attr=True)
        a = s.args[0]
        self.use(a)
        if s.attr not in REDUCTIONS and not (self.cuda and s.attr == "logaddexp"):
            self.fail(f"hreduce cannot combine with '{s.attr}'")
        if a.dtype.kind not in MONOIDS[s.attr].kinds:
            self.fail(f"{s.attr} does not take {a.dtype}")
        self.result(s, a.dtype, 1)

    def philox(self, s: Let) -> None:
        self.plain(s, 3, attr=True)
        if s.attr not in (0, 1) or type(s.attr) is not int:
            self.fail(f"philox has streams 0 and 1, not {s.attr!r}")
        self.want(s.args[0], i64, 1, "the seed")
        self.want(s.args[1], self.index, s.dst.lanes, "the row")
        self.want(s.args[2], self.index, s.dst.lanes, "the column")
        self.result(s, u32, s.dst.lanes)

    def philoxrun(self, s: Let) -> None:
        self.plain(s, 3, attr=True)
        if type(s.attr) is not int or not 0 <= s.attr < 128:
            self.fail(f"philoxrun wants 64 * stream + offset, not {s.attr!r}")
        if s.attr % s.dst.lanes or 16 % s.dst.lanes:
            self.fail(f"philoxrun cannot give {s.dst.lanes} lanes at offset {s.attr % 64}")
        self.want(s.args[0], i64, 1, "the seed")
        self.want(s.args[1], self.index, 1, "the row")
        self.want(s.args[2], self.index, 1, "the start")
        self.result(s, u32, s.dst.lanes)

    def udiv(self, s: Let) -> None:
        self.plain(s, 2)
        for a in s.args:
            self.want(a, self.index, 1 if s.op == "quotients" else s.dst.lanes, "the operand")
        b = s.args[1]
        if isinstance(b, Imm) and b.value < 1:
            self.fail("the divisor must be >= 1")
        self.result(s, self.index, s.dst.lanes)


_OPS: dict[str, Callable[[_Verifier, Let], None]] = {
    "where": _Verifier.where,
    "cast": _Verifier.cast,
    "round": _Verifier.round,
    "splat": _Verifier.splat,
    "iota": _Verifier.iota,
    "lanemask": _Verifier.lanemask,
    "load": _Verifier.load,
    "gather": _Verifier.load,
    "strided": _Verifier.strided,
    "hreduce": _Verifier.hreduce,
    "philox": _Verifier.philox,
    "philoxrun": _Verifier.philoxrun,
    "udiv": _Verifier.udiv,
    "quotients": _Verifier.udiv,
}


def _show_type(dtype: DType, lanes: int) -> str:
    return dtype.name if lanes == 1 else f"{dtype.name}x{lanes}"


def _show(a: Arg) -> str:
    return _show_type(a.dtype, a.lanes)


def _name(a: Arg) -> str:
    return f"'{a.name}'" if isinstance(a, Reg) else repr(a.value)
