"""Which outputs of a kernel may be stored in the memory of one of its inputs."""

from __future__ import annotations

from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..fusion.scalar import Expr
from ..index.expr import Ix
from ..schedule.cpu import Schedule
from ..schedule.turned import turned
from .passes import Passes


def overwritable(f: Fusion, schedule: Schedule) -> dict[str, list[str]]:
    """output buffer -> input buffers of its type whose memory may be the output's, if both have the same layout.

    Each answer stands alone: an input may take one output only. A store visits every element once, so the point that
    stores an element is the only one that reads it if every load of the input has the store's own offset. What is left
    is order. A store at every point is made in one pass, after everything that the point computes in that pass
    (`_Lower._point`): the input may be read there and in the passes before, by any stage. A store that comes after the
    passes may be the input's only reader. What a tile reads is more than its own points have. A kernel with checks may
    have to be run again by torch, from the same inputs; one that scatters runs as several nests.
    """
    if f.checks or f.before or f.after or any(s.kind not in ("reduce", "scan", "store") for s in f.stages):
        return {}
    p = Passes(f, schedule)
    late = max(p.work, default=0) + 1
    when: dict[str, int] = {}  # input -> the last pass that reads it; `late`: after the passes
    offsets: dict[str, set[Ix]] = {}
    roots = {n: p.with_scans([s.body for s in stages]) for n, stages in p.work.items()}
    after = [*p.outer_scalar, *p.row_stores, *p.epilogue]
    for n, bodies in [*sorted(roots.items()), (late, p.with_scans([s.body for s in after]))]:
        for e in sc.walk(bodies):
            if e.kind == "load":
                when[e.data[0]] = n
                offsets.setdefault(e.data[0], set()).add(e.data[1])
    tiles = {e.data[0] for e in turned(f, p.cols[-2], p.cols[-1])} if schedule.turn and p.v in p.cols else set()
    out: dict[str, list[str]] = {}
    for n, stages in [*p.work.items(), (late, after)]:
        for s in stages:
            if s.kind != "store" or s.offset is None or set(s.offset.axes()) != set(s.axes):
                continue
            if not s.axes and s not in p.epilogue:
                continue  # every thread loads it, ahead of its rows
            if any(a.kind == "value" for a in s.offset.atoms()) or sum(x.buffer == s.buffer for x in f.stores()) > 1:
                continue
            own = _loaded(s.body)
            out[s.buffer] = [
                b.name
                for b in f.buffers
                if not b.output
                and b.name not in tiles
                and b.dtype is s.dtype
                and offsets.get(b.name) == {s.offset}
                and when[b.name] <= n
                and (n < late or (b.name in own and sum(b.name in _loaded(x.body) for x in f.stages) == 1))
            ]
    return out


def _loaded(e: Expr) -> set[str]:
    """The buffers that `e` itself loads from."""
    return {x.data[0] for x in sc.walk([e]) if x.kind == "load"}
