"""How many vectors of rows a CPU kernel takes at a time, where rows fill the lanes; what it computes once for all rows.

One vector of rows is a chain of dependent operations down the columns, and takes half a cache line of each. A block of
several has as many chains, reads runs of memory that are as much longer, and needs as many registers. What is left of
the rows behind the last block is single vectors, which take several columns at a time where they are much of the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..fusion.scalar import Expr
from ..index.expr import Atom, Ix
from ..index.layout import product
from .analysis import Analysis
from .quotients import steady, steady_in

if TYPE_CHECKING:
    from .cpu import Machine, Schedule

# the most vectors of a block, by the instructions for a point: registers, and the time it takes to compile
MOST = ((16, 16), (40, 8), (80, 4))
SHARED_COST = 8  # instructions from which on what all rows share is computed once
SHARED, ROWS = 1 << 13, 32  # the most columns whose values all rows share, the fewest rows of a thread
COLUMNS = 4  # columns at a time of single vectors
# what a vector takes in a block of so many bytes of memory, relative to one in wide blocks, and by itself
TIME = {32: 1.8, 64: 1.4, 128: 1.15, 256: 1.0, 512: 0.9}
ALONE = 1.4


def in_blocks(f: Fusion, s: Schedule, hint: Callable[[Ix], int], machine: Machine) -> Schedule:
    """`s` with the rows of `f` in blocks, if its lanes are rows and that pays."""
    v = next((a for a in f.axes if a.name == s.vector), None)
    if v is None or s.vector not in s.rows or s.scatters or s.turn or Analysis(f, hint).unit is not v:
        return s
    cols = {a for a in f.axes if a.name in s.cols}
    work = [e for e in sc.walk([x.body for x in f.stages]) if e.axes & cols]
    cost = sum(e.cost for e in work)
    loads = [e.data[2].itemsize for e in work if e.kind == "load"]
    assert v.extent is not None
    extent = hint(v.extent)
    full, rest = extent // s.lanes, int(extent % s.lanes > 0)
    others = hint(product(a.extent for a in f.axes if a.name in s.rows and a is not v))
    most = next((n for c, n in MOST if cost <= c), 0) // (2 if max(loads, default=4) > 4 else 1)
    quotients = steady(f, v, s.lanes)
    best, least, single = 0, (full + rest) * TIME[32], full + rest
    n = 2
    while n <= min(full, most):
        lanes = n * s.lanes
        blocks = others * ((extent + lanes - 1) // lanes)
        fed = blocks >= 4 * machine.threads or blocks % machine.threads == 0
        left = full % n + rest
        size = min(max(lanes * max(loads, default=4), 32), 512)
        time = (full - full % n) * TIME[1 << (size.bit_length() - 1)] + left * ALONE
        if fed and time < least and not (quotients and not steady(f, v, lanes)):
            best, least, single = n, time, left
        n *= 2
    several = COLUMNS if 8 * single > full + rest and f.reductions() and cost <= MOST[0][0] else 0
    return replace(s, abreast=best, steps=several)


def sharing(f: Fusion, s: Schedule, hint: Callable[[Ix], int], machine: Machine) -> Schedule:
    """`s` with what all rows share computed once by each thread, if there are many rows and the columns stay in a cache
    next to the core. (The scale of a batch norm is a square root and a quotient of each channel; channels-last, every
    pixel is a row.)"""
    size = lambda names: hint(product(a.extent for a in f.axes if a.name in names))
    if s.vector not in s.cols or s.scatters or s.turn or size(s.cols) > SHARED or size(s.rows) < ROWS * machine.threads:
        return s
    cols = [a for a in f.axes if a.name in s.cols]
    v = next(a for a in cols if a.name == s.vector)
    return replace(s, shared=bool(in_all_rows([x.body for x in f.stages], cols, v, s.lanes)))


def in_all_rows(roots: list[Expr], cols: list[Atom], v: Atom | None, lanes: int) -> list[Expr]:
    """The largest expressions in `roots` that vary along lanes and columns only, if any of them is dear, as those are
    for which lanes divide positions; the loads of 16-bit floats, which have to be widened, among them. What goes by an
    index found at run time is left out."""
    inside, dear, loads = set(cols), [], []
    seen: set[Expr] = set()
    stack = list(reversed(roots))
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if v in e.axes and e.axes <= inside and not e.stages and e.dtype.is_float and v is not None:
            below = list(sc.walk([e]))
            at = [i for x in below for i in x.indices()]
            divides = not all(steady_in(i, v, lanes) for i in at)
            if not any(x.kind == "random" for x in below) and not any(a.kind == "value" for i in at for a in i.atoms()):
                if e.kind == "load" and e.data[2].is_reduced and not divides:
                    loads.append(e)
                elif divides or sum(x.cost for x in below if x.axes) >= SHARED_COST:
                    dear.append(e)
                    continue
        stack.extend(reversed(e.children()))
    return dear + loads if dear else []
