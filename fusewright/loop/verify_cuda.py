"""Checks what only CUDA kernels must observe. Names and types have been checked by `loop/verify.py`.

The rules
- The body consists of `grid` statements; `grid` is nowhere else. A grid has 1 to 1024 threads in a block; its number of
  blocks is a size or a number, and if that is one, a multiple of its cluster of 1, 2, 4 or 8 blocks.
- `register`, `own` and `block` scratch have a number of elements; all `block` scratch, and the `own` scratch of all
  threads of a block, fit together into a block's memory.
- `register` scratch is indexed by constants: numbers, variables of unrolled loops, and sums, differences and products
  of those. An unrolled loop has numbers for bounds and step.
- `treduce`, `creduce` and `tscan` have groups of group * stride threads, a divisor of the block's threads. Those of a
  `tscan` are powers of two, in full warps. A `creduce` is in a grid with clusters, and in no loop.
- `treduce`, `tscan`, `last` and `barrier` are reached by all threads of a block: the conditions and bounds around them
  are uniform. Uniform are numbers, parameters, the block's number, results of `last` and of `treduce` over the whole
  block, and what is computed from those; not the thread's number, not what memory holds, and not a `var` that is set
  where threads may have parted. A `creduce` wants conditions that are the same in all blocks of a cluster: so are
  numbers, parameters, the cluster's number (the block's, divided by the cluster), and results of `creduce` for whole
  blocks.
- A `last` is reached by all threads of a block, with a counter and a count that are the same in all; it alone touches
  `counters`, of which there is one piece at most.
- Stores in which threads `meet` have no mask, and the types of MEETS.
- "aligned" accesses have a power of two of at least two lanes, one index, and no mask but that of a `lanerange`; marks
  are for `block` scratch and device memory. Loads "across" have no mask but that of a `lanerange`, too.
- `own` scratch is accessed in a power of two of consecutive lanes, without a mask. A `copy` is from a buffer to `own`
  scratch. A load of what a `copy` fills comes after a `wait`, which is in the same block or in one around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NoReturn

from ..core.dtypes import bool_, f32, i32, i64, u32
from ..core.errors import VerifyError
from ..prims.table import MONOIDS, ORDERED, can_meet
from .ir import (
    CLUSTERS,
    WARP,
    Arg,
    Barrier,
    Buf,
    Copy,
    For,
    Func,
    Grid,
    If,
    Imm,
    Let,
    Prefetch,
    Reg,
    Set,
    Stmt,
    Store,
    Var,
    Wait,
    walk,
)
from .text import head

if TYPE_CHECKING:
    from .verify import _Verifier

MAX_THREADS = 1024
MAX_BLOCKS = 2**31 - 1
BLOCK_MEMORY = 227 * 1024  # bytes, what one block may have since compute capability 9.0
THREAD, BLOCK, CLUSTER = 0, 1, 2  # the same in one thread, in all of a block, in all of a cluster
MARKS = ("", "aligned", "stream", "aligned stream", "across")
MONOID_NAMES = ("sum", "prod", "max", "min", "any", "all", "logaddexp")


# --- types of the operations that only CUDA kernels have --------------------------------------------


def _collective(v: _Verifier, s: Let) -> None:
    v.plain(s, 1, attr=True)
    a = s.args[0]
    v.use(a)
    attr = s.attr
    if not isinstance(attr, tuple) or len(attr) != 3 or any(type(n) is not int or n < 1 for n in attr[1:]):
        v.fail(f"{s.op} wants a monoid, a group and a stride")
    _combines(v, s, attr[0])
    if s.op == "tscan":
        v.want(a, a.dtype, 1, "the value")
        v.result(s, a.dtype, 2)
    else:
        v.result(s, a.dtype, a.lanes)


def _combines(v: _Verifier, s: Let, monoid: object) -> None:
    a = s.args[0]
    if monoid not in MONOID_NAMES and not (monoid in ORDERED and s.op in ("tscan", "hscan")):
        v.fail(f"{s.op} cannot combine with '{monoid}'")
    if a.dtype.kind not in MONOIDS[str(monoid)].kinds:
        v.fail(f"{monoid} does not take {a.dtype}")


def _hscan(v: _Verifier, s: Let) -> None:
    v.plain(s, 1, attr=True)
    v.use(s.args[0])
    _combines(v, s, s.attr)
    v.result(s, s.args[0].dtype, s.args[0].lanes)


def _lane(v: _Verifier, s: Let) -> None:
    v.plain(s, 1, attr=True)
    a = s.args[0]
    v.use(a)
    if type(s.attr) is not int or not 0 <= s.attr < a.lanes:
        v.fail(f"there is no lane {s.attr} of {a.lanes}")
    v.result(s, a.dtype, 1)


def _permute(v: _Verifier, s: Let) -> None:
    if not s.args or s.buf is not None:
        v.fail("permute takes one operand or more, and no buffer")
    first = s.args[0]
    for a in s.args:
        v.want(a, s.dst.dtype, first.lanes, "an operand")
    order, n = s.attr, len(s.args) * first.lanes
    if not isinstance(order, tuple) or any(type(k) is not int or not 0 <= k < n for k in order):
        v.fail(f"permute wants numbers of lanes below {n}, not {order!r}")
    if len(order) != s.dst.lanes or len(order) < 2:
        v.fail(f"permute gives {len(order)} lanes, not {s.dst.lanes}, and two at least")


def _philox(v: _Verifier, s: Let) -> None:
    v.plain(s, 3, attr=True)
    if s.attr not in (0, 1) or type(s.attr) is not int:
        v.fail(f"{s.op} has streams 0 and 1, not {s.attr!r}")
    quad = s.op == "philoxquad"
    lanes = s.dst.lanes
    if quad and lanes % 4:
        v.fail(f"philoxquad gives multiples of 4 lanes, not {lanes}")
    v.want(s.args[0], i64, 1, "the seed")
    v.want(s.args[1], v.index, 1 if quad else lanes, "the row")
    v.want(s.args[2], v.index, 1 if quad else lanes, "the start" if quad else "the column")
    if quad and isinstance(s.args[2], Imm) and s.args[2].value % 4:
        v.fail("the start must be a multiple of 4")
    v.result(s, u32, lanes)


def _curand(v: _Verifier, s: Let) -> None:
    v.plain(s, 5)
    lanes = s.dst.lanes
    for a, what in zip(s.args, ("the seed", "the block", "the threads", "the shift"), strict=False):
        v.want(a, i64, 1, what)
    run = s.op == "curandrun"
    if run and lanes == 1:
        v.fail("curandrun gives two lanes or more")
    v.want(s.args[4], v.index, 1 if run else lanes, "the start" if run else "the element")
    v.result(s, f32 if s.op == "curandnormal" else u32, lanes)


def _last(v: _Verifier, s: Let) -> None:
    if s.buf is None or s.attr is not None or len(s.args) != 2:
        v.fail("last takes counters, an index and a count")
    v.memory(s.buf, i32, "last counts in")
    for a, what in zip(s.args, ("the index", "the count"), strict=True):
        v.want(a, v.index, 1, what)
    v.result(s, bool_, 1)


def _lanerange(v: _Verifier, s: Let) -> None:
    v.plain(s, 2)
    for a, what in zip(s.args, ("the start", "the count"), strict=True):
        v.want(a, v.index, 1, what)
    v.result(s, bool_, s.dst.lanes)


OPS: dict[str, Callable[[_Verifier, Let], None]] = {
    "last": _last,
    "lanerange": _lanerange,
    "treduce": _collective,
    "creduce": _collective,
    "tscan": _collective,
    "hscan": _hscan,
    "lane": _lane,
    "permute": _permute,
    "philoxquad": _philox,
    "philoxword": _philox,
    "curandword": _curand,
    "curandrun": _curand,
    "curandnormal": _curand,
}


# --- structure -------------------------------------------------------------------------------------


def check(func: Func) -> None:
    """Raise VerifyError, naming the statement, if a CUDA kernel with correct names and types breaks a rule."""
    _Structure(func).run()


class _Structure:
    __slots__ = (
        *("block", "constant", "copied", "counters", "func", "launch", "loops", "own"),
        *("parted", "ranges", "registers", "stmt", "uniform", "waited"),
    )

    def __init__(self, func: Func):
        self.func = func
        self.stmt: Stmt | None = None
        self.registers: set[str] = set()  # scratch in registers
        self.ranges: set[str] = set()  # masks that were made by `lanerange`
        self.counters: set[str] = set()
        self.own: dict[str, int] = {}  # scratch that each thread has in shared memory: bytes
        self.block = 0  # bytes of block scratch
        self.copied: set[str] = set()  # scratch that a `copy` of the launch fills
        self.waited = False  # whether a `wait` comes before the statement, whenever that runs
        self.uniform: dict[str, int] = {}  # every register that can be seen: where it is the same
        self.constant: set[str] = set()  # registers that are numbers once loops are unrolled
        self.parted: dict[int, Stmt] = {}  # the outermost statement around that not all threads of a ... run alike
        self.loops = 0  # how many are around
        self.launch: Grid  # the one being checked

    def fail(self, message: str) -> NoReturn:
        where = f", in '{head(self.stmt, self.func.index)}'" if self.stmt is not None else ""
        raise VerifyError(f"{message}{where}", stage=f"verify loop '{self.func.name}'")

    def run(self) -> None:
        f = self.func
        for a in f.allocs:
            self.stmt = a
            if a.scope == "register":
                self.registers.add(a.buf.name)
            if a.scope == "counters":
                if self.counters or a.buf.dtype is not i32:
                    self.fail("there is one piece of counters at most, of i32")
                self.counters.add(a.buf.name)
            if a.scope in ("grid", "counters"):
                continue
            if not isinstance(a.count, Imm):
                self.fail(f"the count of {a.scope} scratch must be a number")
            size = a.count.value * a.buf.dtype.itemsize
            if a.scope == "own":
                self.own[a.buf.name] = size
            if a.scope == "block":
                self.block += size
                self.fits(self.block)
        self.uniform = {r.name: CLUSTER for r in (*f.sizes, *f.hosts)}
        for k, s in enumerate(f.body):
            self.stmt = s
            if not isinstance(s, Grid):
                self.fail("outside 'grid'")
            if s.dependent and not k:
                self.fail("the first launch depends on none")
            self.grid(s)

    def grid(self, s: Grid) -> None:
        if type(s.threads) is not int or not 1 <= s.threads <= MAX_THREADS:
            self.fail(f"a block has 1 to {MAX_THREADS} threads, not {s.threads}")
        if isinstance(s.blocks, Imm):
            if not 0 <= s.blocks.value <= MAX_BLOCKS:
                self.fail(f"a grid has 0 to {MAX_BLOCKS} blocks, not {s.blocks.value}")
            if s.cluster in CLUSTERS and s.blocks.value % s.cluster:
                self.fail(f"clusters of {s.cluster} do not divide {s.blocks.value} blocks")
        elif s.blocks not in self.func.sizes:
            self.fail("the number of blocks must be a size or a number")
        if s.cluster not in CLUSTERS:
            self.fail(f"a cluster has {', '.join(map(str, CLUSTERS))} blocks, not {s.cluster}")
        if type(s.beside) is not int or not 0 <= s.beside * s.threads <= 2 * MAX_THREADS:
            self.fail(f"a multiprocessor has no room for {s.beside} blocks of {s.threads} threads")
        self.launch = s
        self.copied = {x.into.name for x in walk(s.body) if isinstance(x, Copy)}
        used = {b.name for x in walk(s.body) for b in (getattr(x, "buf", None), getattr(x, "into", None)) if b}
        self.fits(self.block + s.threads * sum(self.own[name] for name in used & self.own.keys()))
        self.inner(s.body, {s.bid.name: BLOCK, s.tid.name: THREAD})

    def fits(self, used: int) -> None:
        if used > BLOCK_MEMORY:
            self.fail(f"scratch of {used} bytes in a block, which has {BLOCK_MEMORY}")

    # --- what is the same in all threads ---
    def same(self, a: Arg | None) -> int:
        return self.uniform[a.name] if isinstance(a, Reg) else CLUSTER

    def all_same(self, args: Iterable[Arg]) -> int:
        return min(map(self.same, args), default=CLUSTER)

    def inner(self, body: list[Stmt], regs: dict[str, int]) -> None:
        """Check a block that sees `regs` besides what is seen around it."""
        outside = set(self.uniform)
        waited = self.waited
        self.uniform.update(regs)
        for s in body:
            self.stmt = s
            self.statement(s)
        for name in [n for n in self.uniform if n not in outside]:
            del self.uniform[name]
            self.constant.discard(name)
        self.waited = waited

    def under(self, s: Stmt, same: int, body: list[Stmt], regs: dict[str, int] | None = None) -> None:
        """Check a block inside `s`, which all threads of a block (or cluster) enter alike if `same` says so."""
        before = self.parted
        self.parted = {**{level: s for level in (BLOCK, CLUSTER) if level > same}, **before}
        self.inner(body, regs or {})
        self.parted = before

    def statement(self, s: Stmt) -> None:
        if isinstance(s, Let):
            self.let(s)
        elif isinstance(s, Var):
            self.uniform[s.dst.name] = self.same(s.init)
        elif isinstance(s, Set):
            together = min(self.parted, default=CLUSTER + 1) - 1
            self.uniform[s.dst.name] = min(self.uniform[s.dst.name], self.same(s.src), together)
        elif isinstance(s, Store):
            self.access(s.buf, s.index)
            if s.hint == "across":
                self.fail("only loads may be 'across'")
            if s.meet and not can_meet(s.meet, s.buf.dtype):
                self.fail(f"threads cannot meet in {s.buf.dtype} with '{s.meet}'")
            if s.meet and s.mask is not None:
                self.fail("a store in which threads meet has no mask")
            self.marks(s.hint, s.buf, s.value.lanes, s.index.lanes == 1 and self.ranged(s.mask))
            self.owned(s.buf, s.value.lanes, s.index.lanes == 1 and s.mask is None)
        elif isinstance(s, If):
            same = self.same(s.cond)
            self.under(s, same, s.then)
            self.under(s, same, s.orelse)
        elif isinstance(s, For):
            self.loop(s)
        elif isinstance(s, Barrier):
            self.together("barrier", BLOCK)
        elif isinstance(s, Prefetch):
            self.access(s.buf, s.index)
        elif isinstance(s, Copy):
            self.copy(s)
        elif isinstance(s, Wait):
            if type(s.groups) is not int or s.groups < 0:
                self.fail("a wait leaves out a number of groups")
            self.waited = True
        elif isinstance(s, Grid):
            self.fail("'grid' inside 'grid'")

    def loop(self, s: For) -> None:
        bounds = (s.lo, s.hi, s.step)
        if s.unroll:
            if not all(isinstance(b, Imm) for b in bounds):
                self.fail("the bounds and the step of an unrolled loop must be numbers")
        same = self.all_same(bounds)
        self.loops += 1
        while True:  # a var that the body sets differs in the next round: again, until nothing changes
            before = dict(self.uniform)
            if s.unroll:
                self.constant.add(s.var.name)
            self.under(s, same, s.body, {s.var.name: same})
            if self.uniform == before:
                break
        self.loops -= 1

    def let(self, s: Let) -> None:
        dst = s.dst.name
        (self.ranges.add if s.op == "lanerange" else self.ranges.discard)(dst)
        if s.op == "last":
            self.last(s)
            self.uniform[dst] = BLOCK
        elif s.buf is not None:
            self.access(s.buf, s.args[0])
            if s.attr == "across" and not (s.op == "load" and s.dst.lanes > 1 and self.ranged(*s.args[1:2])):
                self.fail("a load 'across' is of a vector, with a lanerange or no mask")
            self.marks(s.attr or "", s.buf, s.dst.lanes, s.op == "load" and self.ranged(*s.args[1:2]))
            if len(s.args) == 3 and not (s.attr == "across" or "aligned" in (s.attr or "")):
                self.fail("a load with a reach is aligned or across")
            self.owned(s.buf, s.dst.lanes, s.op == "load" and len(s.args) == 1)
            if s.buf.name in self.copied and not self.waited:
                self.fail(f"no wait comes before a load of '{s.buf.name}', to which elements are copied")
            self.uniform[dst] = THREAD
        elif s.op in ("treduce", "creduce", "tscan"):
            self.uniform[dst] = self.collective(s)
        elif s.op == "udiv" and s.args == (self.launch.bid, Imm(self.launch.cluster, s.dst.dtype)):
            self.uniform[dst] = CLUSTER
        else:
            self.uniform[dst] = self.all_same(s.args)
            if s.op in ("add", "sub", "mul") and s.dst.lanes == 1 and all(map(self.fixed, s.args)):
                self.constant.add(dst)

    def collective(self, s: Let) -> int:
        """Check an operation that threads do together; returns where its result is the same."""
        threads, cluster = self.launch.threads, self.launch.cluster
        _, group, stride = s.attr
        self.together(s.op, CLUSTER if s.op == "creduce" else BLOCK)
        if threads % (group * stride):
            self.fail(f"groups of {group} * {stride} threads do not divide a block of {threads}")
        if s.op == "tscan":
            if group & (group - 1) or stride & (stride - 1):
                self.fail("the group and the stride of a tscan are powers of two")
            if threads % WARP:
                self.fail(f"a tscan in a block of {threads} threads, whose last warp is not full")
            return THREAD
        if s.op == "creduce":
            if cluster == 1:
                self.fail("creduce in a grid without clusters")
            if self.loops:
                self.fail("creduce in a loop")
            return CLUSTER if group == threads else THREAD
        return BLOCK if group == threads else THREAD

    def last(self, s: Let) -> None:
        self.together("last", BLOCK)
        assert s.buf is not None
        if s.buf.name not in self.counters:
            self.fail(f"'{s.buf.name}' are no counters")
        if self.all_same(s.args) < BLOCK:
            self.fail("the counter and the count are the same in all threads of a block")

    def together(self, what: str, level: int) -> None:
        if level in self.parted:
            around = head(self.parted[level], self.func.index)
            where, who = (
                ("cluster", "blocks") if level == CLUSTER and BLOCK not in self.parted else ("block", "threads")
            )
            self.fail(f"{what} where not all threads of the {where} may be: '{around}' differs between {who}")

    # --- memory ---
    def fixed(self, a: Arg) -> bool:
        return isinstance(a, Imm) or a.name in self.constant

    def access(self, b: Buf, index: Arg) -> None:
        if b.name in self.counters:
            self.fail(f"counters '{b.name}' are for 'last' only")
        if b.name in self.registers and not (index.lanes == 1 and self.fixed(index)):
            self.fail(f"registers '{b.name}' are indexed by numbers and variables of unrolled loops only")

    def owned(self, b: Buf, lanes: int, plain: bool) -> None:
        if b.name in self.own and (not plain or lanes & (lanes - 1)):
            self.fail(f"'{b.name}' is accessed in 1, 2, 4, 8, ... consecutive lanes without a mask")

    def copy(self, s: Copy) -> None:
        if s.into.name not in self.own or s.buf not in self.func.bufs:
            self.fail("a copy is from a buffer to scratch of the thread's own in shared memory")
        self.access(s.buf, s.index)
        self.marks(s.hint, s.buf, s.lanes, True)
        self.owned(s.into, s.lanes, True)

    def ranged(self, mask: Arg | None = None) -> bool:
        return mask is None or (isinstance(mask, Reg) and mask.name in self.ranges)

    def marks(self, marks: str, b: Buf, lanes: int, plain: bool) -> None:
        """Check "aligned" and "stream" at an access of `lanes` lanes; `plain`: consecutive, without a mask other than a
        `lanerange`."""
        if not marks:
            return
        if marks not in MARKS:
            self.fail(f"unknown mark '{marks}'")
        if b.name in self.registers:
            self.fail(f"registers '{b.name}' take no mark '{marks}'")
        if b.name in self.own:
            self.fail(f"a thread's own scratch '{b.name}' takes no mark '{marks}'")
        if "aligned" in marks:
            if not plain:
                self.fail("an aligned access is consecutive, with a lanerange or no mask")
            if lanes < 2 or lanes & (lanes - 1):
                self.fail(f"an aligned access has 2, 4, 8, ... lanes, not {lanes}")
