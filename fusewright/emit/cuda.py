"""Loop IR -> CUDA C++ text. A pure function of the kernel and the GPU's generation.

Each `grid` statement becomes one kernel, `<func>_0`, `<func>_1`, ... All have the same parameters (`parameters`): the
buffers, the sizes, the host scalars, one pointer for each "grid" scratch, one to the counters. Block scratch, and each
thread's own, is static shared memory, or dynamic where it exceeds what a kernel may declare (`launches`). Registers
with lanes are arrays; lane-wise statements that follow each other share one unrolled loop over the lanes
(`cuda_body.py`).

Aliasing. A buffer that a kernel does not store to is read through the read-only cache, and every buffer is
`__restrict__`: no two buffers share memory, except inputs with each other. `aliases` lists the exceptions: pairs of
buffers that a launch may be given the same memory for. They must be accessed at the same elements by the same thread;
they lose `__restrict__`, and the read-only cache if one of them is stored to.

A launch that is `dependent` begins by waiting for the one before: memory changes while its blocks are there. So none
of its pointers is `__restrict__`, for the compiler would take it that only this kernel writes there, and could read
before the wait; nor does it read through the read-only cache. The launch before lets it begin when all of its own
blocks are at their end: blocks that came earlier would take room, and wait longer. It has waited itself by then, so
that who waits for it waits for all before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.errors import CompilerError
from ..loop.ir import Alloc, Arg, Func, Grid, Store, walk
from . import cuda_cluster
from .cuda_body import Body
from .cuda_own import Own, units
from .cuda_prelude import Prelude
from .cuda_reduce import TURNS, plan_scratch
from .cuda_types import CudaTarget, Names, number, stored_type, value_type

POINTED = (("grid", "scratch"), ("counters", "counters"))  # scopes of device memory, kinds of parameters, in order
STATIC_SHARED = 48 * 1024  # bytes of shared memory that a kernel may declare


@dataclass(frozen=True, slots=True)
class Param:
    """A kernel parameter. `kind`: "buffer", "size", "host", "scratch" or "counters"; `name`: the IR's; `dtype`: of a
    scalar, or of the elements pointed to (all others)."""

    kind: str
    name: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel of a func: its name, blocks (a size or a number), threads, and bytes of dynamic shared memory.

    `cluster`: how many blocks run together; that is part of the kernel's code, and nothing a launch has to say.
    `dependent`: it may be launched so that it begins before the one before it has ended.
    """

    name: str
    blocks: Arg
    threads: int
    shared: int
    cluster: int = 1
    dependent: bool = False


def parameters(func: Func) -> list[Param]:
    """What every launch of `func` takes, in order. Scalars have their value's type, pointers are 64 bits."""
    out = [Param("buffer", b.name, b.dtype.name) for b in func.bufs]
    out += [Param("size", r.name, r.dtype.name) for r in func.sizes]
    out += [Param("host", r.name, r.dtype.name) for r in func.hosts]
    for scope, kind in POINTED:
        out += [Param(kind, a.buf.name, a.buf.dtype.name) for a in func.allocs if a.scope == scope]
    return out


def launches(func: Func) -> list[Launch]:
    """The kernels of `func`, in the order in which they must run."""
    return [
        Launch(f"{_function(func)}_{k}", g.blocks, g.threads, _Shared(func, g).dynamic, g.cluster, g.dependent)
        for k, g in enumerate(_grids(func))
    ]


def emit_cuda(func: Func, target: CudaTarget, aliases: Iterable[tuple[str, str]] = (), bounded: bool = True) -> str:
    """CUDA C++ source of a verified kernel. bounded: its registers are, so that `Grid.beside` blocks fit."""
    return _Module(func, target, frozenset(n for pair in aliases for n in pair), bounded).run()


def _function(func: Func) -> str:
    return func.name.replace(".", "_")


def _grids(func: Func) -> list[Grid]:
    out = []
    for s in func.body:
        if not isinstance(s, Grid):
            raise CompilerError(f"a CUDA kernel consists of grids, not {type(s).__name__}", "emit")
        out.append(s)
    return out


def _used(func: Func, grid: Grid, scope: str) -> list[Alloc]:
    names = {b.name for s in walk(grid.body) for b in (getattr(s, "buf", None), getattr(s, "into", None)) if b}
    return [a for a in func.allocs if a.scope == scope and a.buf.name in names]


class _Shared:
    """Shared memory of one launch: block scratch and that of its threads, then what reductions need (`slots`: those
    over a cluster).

    `counts`: elements of the former; `offsets`: of all that in dynamic shared memory, if `dynamic` says that they are
    there.
    """

    def __init__(self, func: Func, grid: Grid):
        own = _used(func, grid, "own")
        self.blocks = [*_used(func, grid, "block"), *own]
        self.counts = [max(1, number(a.count) or 0) * (grid.threads if a in own else 1) for a in self.blocks]
        self.scratch = plan_scratch(grid, len(own) == len(self.blocks))
        self.slots = [cuda_cluster.shape_of(s, grid) for s in cuda_cluster.reductions(grid)]
        self.offsets: list[int] = []
        total = 0
        for a, count in zip(self.blocks, self.counts, strict=True):
            self.offsets.append(total)
            total += (count * a.buf.dtype.itemsize + 15) & -16
        for x in self.slots:
            self.offsets.append(total)
            total += (x.bytes + 15) & -16
        others = sum(self.scratch.sizes) + 8 * len(self.slots)
        self.dynamic = total if total + others > STATIC_SHARED else 0


class _Module:
    def __init__(self, func: Func, target: CudaTarget, aliased: frozenset[str], bounded: bool):
        self.func = func
        self.bounded = bounded
        self.aliased = aliased
        self.target = target
        self.prelude = Prelude(target)
        self.names = Names()

    def run(self) -> str:
        f = self.func
        for b in (*f.bufs, *(a.buf for a in f.allocs)):
            self.names(b.name, "buffer")
        for r in (*f.sizes, *f.hosts):
            self.names(r.name)
        kernels = [self.kernel(k, g) for k, g in enumerate(_grids(f))]
        head = [f"// {f.name}, made by Fusewright" + (" from" if f.notes else "")]
        head += [_comment(line, "//   ") for note in f.notes for line in note.splitlines()]
        return "\n\n".join(["\n".join(head), *self.prelude.text(kernels), *kernels]) + "\n"

    def kernel(self, k: int, grid: Grid) -> str:
        f = self.func
        shared = _Shared(f, grid)
        written = {s.buf.name for s in walk(grid.body) if isinstance(s, Store)}
        if written & self.aliased:
            written |= self.aliased
        if grid.dependent:  # by the launch before, while this one is there
            written |= {b.name for b in (*f.bufs, *(a.buf for a in f.allocs))}
        own = Own(self.prelude, self.target, grid.threads, units(f.allocs, grid.body))
        body = Body(self.prelude, self.names, grid, f.sizes, f.allocs, written, shared.scratch, own)
        text = body.run()
        what = [_comment(grid.what, "// ")] if grid.what else []
        if grid.cluster > 1 and not self.target.has_clusters:
            raise CompilerError(f"{self.target.arch} has no clusters of blocks", "emit")
        if grid.dependent and not self.target.has_dependent_launches:
            raise CompilerError(f"{self.target.arch} has no dependent launches", "emit")
        cluster = f"__cluster_dims__({grid.cluster}, 1, 1) " if grid.cluster > 1 else ""
        bounds = f"{grid.threads}, {grid.beside}" if self.bounded and grid.beside else str(grid.threads)
        head = f'extern "C" __global__ void {cluster}__launch_bounds__({bounds}) {_function(f)}_{k}('
        params = ",\n    ".join(self.params(grid))
        begin, end = [], []
        if grid.dependent:
            begin.append(f"  {self.prelude.need('fw_after_launch')}();  // what the launch before has left is there")
        following = next(iter(_grids(f)[k + 1 :]), None)
        if following is not None and following.dependent:
            end.append(f"  {self.prelude.need('fw_next_launch')}();  // may begin, and waits for this one")
        return "\n".join(
            [*what, f"{head}\n    {params}) {{", *begin, *self.declarations(grid, shared, body), *text, *end, "}"]
        )

    def whole(self, a: Alloc) -> str:
        """The name of scratch in shared memory, of all threads."""
        return self.names(f"{a.buf.name}_of_all" if a.scope == "own" else a.buf.name, "buffer")

    def params(self, grid: Grid) -> list[str]:
        f = self.func
        alone = "" if grid.dependent else " __restrict__"
        out = []
        for b in f.bufs:
            const = "" if b.output else "const "
            restrict = "" if b.name in self.aliased else alone
            out.append(f"{const}{stored_type(b.dtype)}*{restrict} {self.names(b.name, 'buffer')}")
        out += [f"{value_type(r.dtype)} {self.names(r.name)}" for r in (*f.sizes, *f.hosts)]
        for scope, _ in POINTED:
            for a in f.allocs:
                if a.scope == scope:
                    out.append(f"{stored_type(a.buf.dtype)}*{alone} {self.names(a.buf.name, 'buffer')}")
        return out

    def declarations(self, grid: Grid, shared: _Shared, body: Body) -> list[str]:
        index, names = value_type(grid.bid.dtype), self.names
        out = [
            f"  const {index} {names(grid.bid.name)} = blockIdx.x;",
            f"  const {index} {names(grid.tid.name)} = threadIdx.x;",
        ]
        for a in _used(self.func, grid, "register"):
            n, name = number(a.count) or 1, names(a.buf.name, "buffer")
            if a.buf.name in body.packed:
                out.append(f"  unsigned {name}[{-(-n * a.buf.dtype.itemsize // 4)}];  // {n} {a.buf.dtype}, packed")
            else:
                out.append(f"  {stored_type(a.buf.dtype)} {name}[{n}];")
        if shared.dynamic:
            out.append("  extern __shared__ uint4 fw_shared[];")
        arrays = [
            (stored_type(a.buf.dtype), self.whole(a), count)
            for a, count in zip(shared.blocks, shared.counts, strict=True)
        ]
        arrays += [(value_type(x.slot), f"fw_slot{k}", x.slots) for k, x in enumerate(shared.slots)]
        for (t, name, count), offset in zip(arrays, shared.offsets, strict=True):
            if shared.dynamic:
                out.append(f"  {t}* const {name} = reinterpret_cast<{t}*>(fw_shared + {offset // 16});")
            else:
                out.append(f"  __shared__ __align__(16) {t} {name}[{count}];")
        for a in shared.blocks:
            if a.scope == "own":
                t, unit = stored_type(a.buf.dtype), body.own.units[a.buf.name]
                mine = f"{names(grid.tid.name)}{f' * {unit}' if unit > 1 else ''}"
                out.append(f"  {t}* const {names(a.buf.name, 'buffer')} = {self.whole(a)} + {mine};")
        for k, size in enumerate(shared.scratch.sizes):
            if size:
                out.append(f"  __shared__ __align__(16) unsigned char fw_scratch{k}[{size}];")
                if k >= TURNS:
                    out.append(f"  unsigned fw_half{k} = 0;")
        if shared.slots:
            out.append(f"  __shared__ unsigned long long fw_mbarrier[{len(shared.slots)}];")
        return out


def _comment(text: str, start: str) -> str:
    """One line of a comment; a backslash at its end would continue it."""
    return (start + " ".join(text.split())).rstrip("\\")


__all__ = ["CudaTarget", "Launch", "Param", "emit_cuda", "launches", "parameters"]
