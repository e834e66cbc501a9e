"""What the threads of a block, or of a cluster, do together: reductions and scans, as statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loop.ir import Let
from . import cuda_cluster, cuda_scan
from .cuda_reduce import TURNS, reduction, shape_of
from .cuda_types import value_type

if TYPE_CHECKING:
    from .cuda_body import Body


def write(b: Body, s: Let, *more: Let) -> None:
    """What the threads of a block, or of a cluster, combine; `more`: what is combined with it (`together`)."""
    name, t = b.names(s.dst.name), value_type(s.dst.dtype)
    place = b.scratch.place.get(id(s))
    scratch = "" if place is None else f", fw_scratch{place[0]}"
    if place and place[1]:
        b.line("__syncthreads();  // all have read the results of the collective before")
    if place and place[0] >= TURNS:
        scratch += f" + fw_half{place[0]}"
        b.line(f"fw_half{place[0]} ^= {b.scratch.sizes[place[0]] // 2};")
    if s.op == "tscan":
        fn = cuda_scan.scan(b.prelude, cuda_scan.shape_of(s, b.grid.threads))
        b.line(f"{t} {name}[2];")
        b.line(f"{fn}({b.arg(s.args[0])}, {name}{scratch});")
        return
    if s.op == "creduce":
        fn = cuda_cluster.reduction(b.prelude, cuda_cluster.shape_of(s, b.grid))
        scratch = f", fw_slot{b.slots}, fw_mbarrier" + (f" + {b.slots}" if b.slots else "")
        b.slots += 1
    else:
        fn = reduction(b.prelude, shape_of(s, b.grid.threads, 1 + len(more), b.scratch.apart))
    if more:
        values = ", ".join(b.arg(x.args[0]) for x in (s, *more))
        array = b.names(f"{s.dst.name}_all", "together")
        b.line(f"{t} {array}[{1 + len(more)}] = {{{values}}};")
        b.line(f"{fn}({array}{scratch});")
        for k, x in enumerate((s, *more)):
            b.line(f"const {t} {b.names(x.dst.name)} = {array}[{k}];")
        return
    if s.dst.lanes == 1:
        b.line(f"const {t} {name} = {fn}({b.arg(s.args[0])}{scratch});")
        return
    b.line(f"{t} {name}[{s.dst.lanes}];")
    b.line("#pragma unroll")
    b.line(f"for (int l = 0; l < {s.dst.lanes}; ++l) {name}[l] = {b.arg(s.args[0])};")
    b.line(f"{fn}({name}{scratch});")
