"""Loop IR: one kernel as typed loops over memory, ready to be printed as LLVM IR or CUDA C++.

Grammar (text format and parser in `loop/text.py`)
    func  ::= func name (param, ...) { stmt* }
    param ::= buf  name : dtype [out]              external memory, addressed by element
            | size name                             an index known at launch
            | host name : dtype                     a scalar known at launch
    stmt  ::= reg = op(arg, ...) {attr}             single assignment
            | var reg = arg                         a mutable register
            | set reg = arg
            | for reg in lo .. hi step s { stmt* }  serial; s >= 1; the body runs while reg < hi; `unroll` asks for
                                                    straight-line code (bounds and step are numbers)
            | if arg { stmt* } else { stmt* }       arg is a scalar bool
            | store buf[index] = value {mask, hint, meet}
            | parallel tid of nth { stmt* }         CPU: the body runs once per thread, 0 <= tid < nth; regions are
                                                    separated by barriers
            | grid bid of blocks, tid of n { stmt* } CUDA: one launch of `blocks` blocks of n threads (a number); the
                                                    body runs once per thread; launches follow one another.
                                                    `cluster c`: c consecutive blocks form a cluster, and run together;
                                                    `dependent`: blocks wait for the launch before
            | barrier "reason"                      CUDA: all threads of the block wait for each other
            | turn a[i] by p = b[j] by q of m, n    CPU: a[i + r*p + c] = b[j + c*q + r] for 0 <= r < m, 0 <= c < n, as
                                                    stored, in any order: what is side by side in b along r is so in
                                                    a along c
            | prefetch buf[index]                   a hint: bring the element's cache line nearer; reads nothing
            | copy own[i] = buf[j] of n {hint}      CUDA: begin to copy n elements, as stored, to the thread's scratch
            | commit                                CUDA: what this thread has begun to copy since then is a group
            | wait n                                CUDA: until all groups of this thread but its last n have come
            | fail                                  report failure (an index out of range); execution goes on
    arg   ::= reg | immediate
    reg   ::= name : dtype x lanes                  lanes = 1 is a scalar

Operations of a `Let`
    <prim>          a scalar primitive of `prims/table.py`, lane by lane; all operands have the same lanes
    cast            to the register's dtype; float to int truncates; bool to number gives 0 or 1
    round           f32 -> attr (a float of fewer bits) -> f32
    splat           scalar to all lanes
    iota            (base: index[, step: index]) -> base, base+step, ...  (indices; without: base+1; CPU: with)
    quotients       CPU, (a, d: index) -> a // d, (a+1) // d, ...; a is not negative and d >= 1
    lanemask        (n: index) -> lane < n
    lanerange       CUDA, (at, n: index) -> 0 <= at + lane < n
    load            (buf, index: scalar[, mask[, reach]]) -> `lanes` consecutive elements, widened to the register's
                    type; lanes whose mask is false read nothing and give 0. CUDA, of a vector that is "aligned" or
                    "across", with a `lanerange`: all elements up to index `reach` may be read, whatever the mask; a
                    lane whose mask is false then gives any value, if another lane's is true
    gather          (buf, index: lanes[, mask]) -> one element per lane
    strided         CPU, (buf, index: scalar[, mask]) -> lane l is element index + l * attr, attr one of STEPS; all
                    elements between the first and the last may be read; 0 where the mask is false
    hreduce         (vector) combine all lanes with the monoid in attr (sum prod max min any all; CUDA: logaddexp)
    philox          (seed: i64 scalar, row, column: index) -> u32; attr = stream (see prims/philox.py)
    philoxrun       (seed, row, start: scalars) -> u32 of columns start + offset, ..., one per lane; start is a
                    multiple of 64, attr = 64 * stream + offset, lanes divide 16 and offset
    philoxquad      CUDA, (seed: i64 scalar, row, start: index scalars) -> u32; lanes 4k .. 4k+3 are the four words of
                    one Philox block: columns start + lane; start and lanes are multiples of 4; attr = stream
    philoxword      CUDA, (seed: i64 scalar, row, column: index lanes) -> u32; what philoxquad gives for these columns
    curandword      CUDA, (seed, block, threads, shift: i64 scalars, element: index lanes) -> u32; see prims/curand.py
    curandrun       CUDA, (seed, block, threads, shift: i64 scalars, start: index scalar) -> u32; what curandword gives
                    for elements start + lane
    curandnormal    CUDA, operands of curandword -> f32; mean 0, variance 1
    treduce         (value) CUDA, a collective of the whole block: combine `value` over groups of threads, lane by lane;
                    attr = (monoid, group, stride): threads t and u are in one group when they differ only in
                    (t // stride) % group; every thread gets its group's result; group * stride divides the block's
                    threads. Order, with x[j] the value at position j of the group: if group is a power of two, for
                    s = 1, 2, 4, ..., group/2: all x[j] = combine(x[j], x[j xor s]) at once; else one after the
                    other from position 0. Memory: see below.
    creduce         (value) CUDA, a collective of all blocks of a cluster: combine what the blocks hold, lane by lane;
                    attr = (monoid, group, stride): within a block the value is the same in the threads of each such
                    group, as treduce leaves it. Order: one block after the other, from the cluster's first; every
                    thread gets the result. It is in no loop.
    tscan           (value: scalar) -> 2 lanes, CUDA, a collective of the whole block: what the positions of the group
                    before this thread's combine to, and what all of them do; attr and groups as for treduce; group
                    and stride are powers of two, and warps are full. Order, with segments of the min(group, max(32 /
                    stride, 1)) positions that are in one warp: within a segment, for s = 1, 2, 4, ...: all x[j] =
                    combine(x[j - s], x[j]) at once, where position j - s is in the segment; p = x[j - 1], the
                    identity at a segment's start; b = what the segments before combine to, one after the other
                    from the identity; the result is combine(b, p), and b after the last segment.
    last            (buf, index, count: index scalars) -> bool; CUDA, a collective of the whole block: counts it at a
                    counter; true in all threads of the block that is the count-th to be counted there, whose counter
                    is zero again. That block sees what the others stored before they were counted.
    hscan           (vector) CUDA, lane l: lanes 0 .. l combined with the monoid in attr, one after the other
    lane            (vector) CUDA, lane number attr, as a scalar
    permute         (operands of one type and number of lanes) CUDA, two lanes or more: lane l is lane number attr[l] of
                    the operands one behind the other
    udiv            (a, b) index, both non-negative and b >= 1

Semantics
- Index arithmetic does not overflow, nor does a loop's last step. Indices are i64; in a CUDA kernel they may all be
  i32 (`Func.index`). Everything called an index is of that type: size parameters, counts, bounds, thread and block
  numbers. The seed is always i64.
- Vector loads and stores need only element alignment, except a CPU store with hint "stream", and CUDA loads (attr) and
  stores (hint) marked "aligned": their address is a multiple of the vector's bytes as stored, or of 16 (on a CPU 64) if
  it has more.
  They have 2, 4, 8, ... lanes and no mask, or that of a `lanerange`: then a vector of which all lanes are on is one
  access. Buffers and scratch start at multiples of 16 bytes. "stream": the data are used once ("unaligned stream" on a
  CPU: where the address is such a multiple as "stream", else as without a hint); masked and scattered CUDA stores may
  have it, gathers have no marks. Both: "aligned stream". A CUDA load "across" may read all of the two
  aligned vectors that it lies in; those of its elements whose mask is lanerange(at, n) have n elements from index - at
  on, of which it may read any, and none besides, unless it has a `reach`.
- A store narrows to the buffer's dtype, rounding to nearest even; bool is stored as 0 or 1. Lanes whose mask is false
  write nothing. A store with a vector index register scatters.
- `meet` of a CUDA store: other threads of the launch may store to the same elements, and nobody reads them. "set": one
  of the values stays; "sum", "max" and "min" (of types in MEETS, `prims/table.py`) combine what is there with each, in
  any order.
- Scratch is declared in `Func.allocs` (`alloc name : dtype [count] scope`). CPU: "thread" (private) or "shared" (one
  for all threads; visible to later regions). CUDA: "register" (private, indexed by numbers and unrolled loops only),
  "own" (private, in the block's shared memory; the count is a number), "block" (one per block, gone with it; seen by
  others after a barrier; the count is a number), "grid" (device memory, visible to later launches, and to the block
  that is `last`), "counters" (i32, in device memory: zero when a kernel begins, and zero when it ends; for `last` only,
  one at most).
- A `copy` is asynchronous. Between it and the `wait` after which its group has come, `own` elements that it writes are
  neither read nor written, and nobody writes what it reads; it needs no barrier, since only its own thread sees them.
  No thread ends before all that it copies has come. n is a power of two, i a multiple of it.
- In a CUDA kernel `barrier`, `treduce`, `tscan` and `last` are reached by all threads of a block or none: the
  conditions and loop bounds around them are the same in all threads. A barrier orders all memory accesses of the
  block's threads. So do a `last`, and a `treduce` or `tscan` that combines across warps; one of groups within warps (of
  one thread, or group * stride divides 32) orders nothing.
- The blocks of a cluster have consecutive numbers, from a multiple of `cluster` (2, 4 or 8; 1: there are none), which
  divides the number of blocks. A `creduce` is reached by all threads of a cluster or none. It orders the memory
  accesses of each block's threads, as a barrier does, but not those of different blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.dtypes import DType, bool_, i64

WARP = 32  # CUDA threads that can exchange registers
STEPS = (*range(2, 9), -1)  # distances of elements in memory that vectors are taken apart for
CLUSTERS = (1, 2, 4, 8)  # blocks that a cluster may have


@dataclass(frozen=True, slots=True)
class Reg:
    """A virtual register."""

    name: str
    dtype: DType
    lanes: int = 1

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Imm:
    """A literal; `lanes` > 1 means every lane holds it."""

    value: Any
    dtype: DType
    lanes: int = 1

    def __repr__(self) -> str:
        return f"{self.value!r}"


Arg = Reg | Imm


@dataclass(frozen=True, slots=True)
class Buf:
    """Memory: an external tensor or scratch. `dtype` is the stored type."""

    name: str
    dtype: DType
    output: bool = False


@dataclass(frozen=True, slots=True)
class Let:
    dst: Reg
    op: str
    args: tuple[Arg, ...]
    buf: Buf | None = None
    attr: Any = None


@dataclass(frozen=True, slots=True)
class Var:
    dst: Reg
    init: Arg


@dataclass(frozen=True, slots=True)
class Set:
    dst: Reg
    src: Arg


@dataclass(frozen=True, slots=True)
class Store:
    buf: Buf
    index: Arg
    value: Arg
    mask: Arg | None = None
    hint: str = ""
    meet: str = ""


@dataclass(slots=True)
class For:
    var: Reg
    lo: Arg
    hi: Arg
    step: Arg
    body: list[Stmt]
    unroll: bool = False


@dataclass(slots=True)
class If:
    cond: Arg
    then: list[Stmt]
    orelse: list[Stmt] = field(default_factory=list)


@dataclass(slots=True)
class Alloc:
    """Scratch: `count` elements (a launch-time size, or a number). The scopes are explained above."""

    buf: Buf
    count: Arg
    scope: str = "thread"


@dataclass(slots=True)
class Parallel:
    tid: Reg
    nth: Reg
    body: list[Stmt]


@dataclass(slots=True)
class Grid:
    """One CUDA launch. `blocks` is a size or a number; 0 blocks launch nothing. `what`: its purpose, for people.

    `cluster`: how many blocks see each other's results (`creduce`); from compute capability 9.0 on. `beside`: how many
    blocks should fit a multiprocessor at once, which bounds their registers, or 0: that is left to the compiler, which
    may save registers for blocks that do not come. `dependent`: its blocks may be there
    before the launch before it has ended (from 9.0 on, too); they wait until then, and see all that it has left.
    """

    bid: Reg
    blocks: Arg
    tid: Reg
    threads: int
    body: list[Stmt]
    what: str = ""
    cluster: int = 1
    beside: int = 0
    dependent: bool = False


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the block wait for each other; `reason` says what for."""

    reason: str


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Ask for the cache line of an element; the element need not exist."""

    buf: Buf
    index: Arg


@dataclass(frozen=True, slots=True)
class Turn:
    """Transpose a tile: into[at + r * pitch + c] = buf[index + c * stride + r] for r < rows, c < cols."""

    into: Buf
    at: Arg
    pitch: Arg
    buf: Buf
    index: Arg
    stride: Arg
    rows: Arg
    cols: Arg


@dataclass(frozen=True, slots=True)
class Copy:
    """Begin to copy `lanes` elements buf[index], ... to into[at], ...: external memory to scratch of one type."""

    into: Buf
    at: Arg
    buf: Buf
    index: Arg
    lanes: int
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """The copies that a thread has begun since its last `Commit` form a group."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait until all groups of copies of this thread have come, but the last `groups` of them."""

    groups: int


@dataclass(frozen=True, slots=True)
class Fail:
    """An index was out of range."""


Flat = Let | Var | Set | Store | Barrier | Prefetch | Turn | Copy | Commit | Wait | Fail  # statements without a body
Stmt = Flat | For | If | Alloc | Parallel | Grid


@dataclass(slots=True)
class Func:
    """A kernel. `sizes` and `hosts` are its scalar parameters, in order; `allocs` its scratch.

    `target` is "cpu" or "cuda"; `index` the type of indices and size parameters. On a CPU `threads` is the size
    parameter that says how many threads the launch uses; it is always `sizes[0]`. The body of a CUDA kernel consists of
    `Grid` statements only. `notes` (the user's lines) are for people: they are no part of the kernel's text.
    """

    name: str
    bufs: list[Buf] = field(default_factory=list)
    sizes: list[Reg] = field(default_factory=list)
    hosts: list[Reg] = field(default_factory=list)
    allocs: list[Alloc] = field(default_factory=list)
    body: list[Stmt] = field(default_factory=list)
    target: str = "cpu"
    index: DType = i64
    notes: list[str] = field(default_factory=list)

    @property
    def threads(self) -> Reg:
        return self.sizes[0]

    def can_fail(self) -> bool:
        return any(isinstance(s, Fail) for s in walk(self.body))


def walk(body: list[Stmt]) -> Iterator[Stmt]:
    """Every statement, outermost first."""
    for s in body:
        yield s
        if isinstance(s, (For, Parallel, Grid)):
            yield from walk(s.body)
        elif isinstance(s, If):
            yield from walk(s.then)
            yield from walk(s.orelse)


def operands(s: Stmt) -> tuple[Arg, ...]:
    """The operands of a statement without a body, and of a block's head."""
    match s:
        case Let():
            return s.args
        case Var():
            return (s.init,)
        case Set():
            return (s.src,)
        case Store():
            return (s.index, s.value) if s.mask is None else (s.index, s.value, s.mask)
        case For():
            return (s.lo, s.hi, s.step)
        case If():
            return (s.cond,)
        case Prefetch():
            return (s.index,)
        case Turn():
            return (s.at, s.pitch, s.index, s.stride, s.rows, s.cols)
        case Copy():
            return (s.at, s.index)
    return ()


def ireg(name: str) -> Reg:
    return Reg(name, i64)


def imm(value: int) -> Imm:
    return Imm(value, i64)


def zeros(dtype: DType, lanes: int = 1) -> Imm:
    """What a load gives where its condition is false."""
    return Imm(False if dtype.is_bool else 0.0 if dtype.is_float else 0, dtype, lanes)


TRUE = Imm(True, bool_)
