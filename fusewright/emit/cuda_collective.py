"""What the threads of a block, or of a cluster, do together: reductions and scans, as statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..loop.ir import Let
from . import cuda_cluster, cuda_scan
from .cuda_reduce import reduction, shape_of

if TYPE_CHECKING:
    from .cuda_body import Body


def write(b: Body, s: Let, name: str, t: str) -> None:
    """What the threads of a block, or of a cluster, combine."""
    place = b.scratch.place.get(id(s))
    scratch = f", fw_scratch{place[0]}" if place else ""
    if place and place[1]:
        b.line("__syncthreads();  // all have read the results of the reduction before")
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
        fn = reduction(b.prelude, shape_of(s, b.grid.threads))
    if s.dst.lanes == 1:
        b.line(f"const {t} {name} = {fn}({b.arg(s.args[0])}{scratch});")
        return
    b.line(f"{t} {name}[{s.dst.lanes}];")
    b.line("#pragma unroll")
    b.line(f"for (int l = 0; l < {s.dst.lanes}; ++l) {name}[l] = {b.arg(s.args[0])};")
    b.line(f"{fn}({name}{scratch});")
