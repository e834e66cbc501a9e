"""Fusion + GPU Schedule -> Loop IR: the launches of one kernel. The nest is described in `schedule/gpu.py`.

What rows leave to be combined, or chunks of columns (`split`), goes through device memory: the next launch, or the
block that is the last to leave something, adds it up in a fixed order, so that results are the same from run to run.

The lowering is a chain of classes, each with one concern: where threads are (`gpu_nest.py`), short rows that pass
through shared memory (`gpu_runs.py`), sums on the fly (`gpu_online.py`), passes over a row (`gpu_rows.py`), results of
many rows (`gpu_outer.py`), rows cut over blocks (`gpu_split.py`), running totals (`gpu_scan.py`). Kernels without
reductions are tiles (`gpu_tiles.py`). Scatters sort their points (`gpu_sort.py`), then collect them
(`gpu_collect.py`), or store them one by one (`gpu_place.py`).
"""

from __future__ import annotations

from dataclasses import replace

from ..fusion.ir import Fusion
from ..fusion.relax import relax
from ..prims.table import MONOIDS
from ..schedule.gpu_base import GpuSchedule
from .gpu_collect import Collect
from .gpu_held import at_places
from .gpu_nest import BLOCKS
from .gpu_place import Place
from .gpu_scan import Scans
from .gpu_tiles import Tiles
from .ir import Arg, Commit, For, Func, Grid, If, Set, Stmt
from .lower import Kernel
from .scope import Scope

OF_ROW = 8  # numbers of a row that are asked for with it, at most: each takes a register


def lower_gpu(f: Fusion, schedule: GpuSchedule, name: str) -> Kernel:
    """Lower a fusion whose axes are those the schedule names. The result's `func.target` is "cuda".

    What is rounded to 16 bits is computed in cheaper ways (`fusion/relax.py`), unless the fusion is `exact`.
    """
    f = relax(f)
    kernel = _KINDS.get(schedule.mode, _Rows)(f, schedule, name)
    kernel.run()
    func, params = kernel.func, kernel.params
    return Kernel(func, params.values, [h.name for h in func.hosts], frozenset(params.divisors))


def overlapped(func: Func) -> Func:
    """`func` with launches that are there when the one before ends: its blocks leave one by one, and make room."""
    func.body = [replace(s, dependent=k > 0) if isinstance(s, Grid) else s for k, s in enumerate(func.body)]
    return func


class _Rows(Scans):
    """Kernels with reductions or scans."""

    def run(self) -> None:
        self.partial = {}
        if self.s.mode == "split":
            self.split()
        else:
            self.whole_rows()

    # --- whole rows ---
    def whole_rows(self) -> None:
        if self.s.runs:
            self.all_rounds(self.passes)
            self.epilogue()
            return
        s, bid, tid = self.launch(
            BLOCKS if self.s.resident else self.row_tiles(), self.s.threads, self.s.family, "rows", self.s.cluster
        )
        row, col = self.place_thread(s, tid)
        if not self.s.resident:
            tile, rank = self.divide(s, bid, self.s.cluster)
            col = self.add(s, self.mul(s, rank, self.imm(self.s.col_threads)), col)
            _, valid = self.place_row(s, tile, row)
            self.declare(s)
            if self.shared:
                self.copy_row(s, col)
            self.passes(s, col, valid)
            self.publish(s, bid, tid, row, col)
            self.epilogue()
            return
        self.declare(s)
        self.fetch_steady(s, col)
        self.look_ahead(s)
        tiles, blocks = self.params.get(self.row_tiles(), "row tiles"), self.params.get(BLOCKS, "blocks")
        for n in range(self.s.ahead):
            place = self.imm(n * self.s.steps * self.width)
            self.ask_ahead(s, self.add(s, bid, self.mul(s, blocks, self.imm(n))), tiles, row, col, place)
        self.ask(s, bid, tiles, row, col)
        tile = self.reg(self.ix, prefix="tile")
        inside: list[Stmt] = []
        x = Scope(s, inside)
        self.own(x, tile)
        _, valid = self.place_row(x, tile, row)
        following = self.turn_over(x, col)
        self.ask(x, self.add(x, tile, blocks), tiles, row, col)
        if self.s.ahead:
            last = self.add(x, tile, self.mul(x, blocks, self.imm(self.s.ahead)))
            self.ask_ahead(x, last, tiles, row, col, following)
        if self.shared and not self.s.ahead:
            self.copy_row(x, col)
        self.passes(x, col, valid)
        if self.s.ahead:
            x.body.append(Set(self.turn, self.next_to(x, self.half, back=False)))
        s.body.append(For(tile, bid, tiles, blocks, inside))
        self.publish(s, bid, tid, row, col)
        if self.s.finish:
            self.finish_here(s, bid, tid)
        else:
            self.epilogue()

    def ask(self, s: Scope, tile: Arg, tiles: Arg, row: Arg, col: Arg) -> None:
        """Ask for what is read into registers of a tile of rows, if there is such a tile."""
        there: list[Stmt] = []
        self.fetch_row(Scope(s, there), tile, row, col)
        if there:
            s.body.append(If(self.prim(s, "lt", tile, tiles), there))

    def ask_ahead(self, s: Scope, tile: Arg, tiles: Arg, row: Arg, col: Arg, place: Arg) -> None:
        """Ask for what is held in shared memory of a tile of rows, if there is such a tile; `place`: where it goes."""
        there: list[Stmt] = []
        self.fetch_ahead(Scope(s, there), tile, row, col, place)
        s.body += [If(self.prim(s, "lt", tile, tiles), there), Commit()]  # an empty group counts, too

    def passes(self, s: Scope, col: Arg, valid: Arg | None) -> None:
        """All passes over a row, then what is stored or counted once for it."""
        if self.s.mode == "persistent":
            # what a row has once (its weight) is asked for with it, though a later pass wants it, which would wait for
            # it after all threads have waited for each other
            for e in self.once_of(self.in_passes())[:OF_ROW]:
                self.emit(s, e)
        after = max(self.p.work, default=0) + 1
        # a row's index is checked before the first pass that reads where it says (and does so on the same condition):
        # no other waits for the index to come
        places = [p for p in sorted(self.p.work) if any(at_places(self.p.operand(st)) for st in self.p.work[p])]
        for p in [*sorted(self.p.work), after]:
            for c, per_point, when in self.p.checks:
                if not per_point and p == next((q for q in places if q >= when), after):
                    self.check(s, c)
            if p in self.p.work:
                self.one_pass(s, p, col, valid, None)
        shared = self.s.cluster * self.s.col_threads > 1
        first = self.prim(s, "eq", col, self.imm(0)) if shared else None
        for st in self.p.outer_scalar:
            acc = self.thread_acc[st.name]
            value = self.cast(s, self.emit(s, st.body), acc.dtype)
            total = self.prim(s, MONOIDS[st.monoid].combine, acc, value)
            for condition in (first, valid):
                if condition is not None:
                    total = self.prim(s, "where", condition, total, acc)
            s.body.append(Set(acc, total))
        for st in self.p.row_stores:
            self.store(s, st, first, valid)


_KINDS: dict[str, type[Tiles | _Rows | Collect]] = {
    "tile": Tiles,
    "staged": Tiles,
    "collect": Collect,
    "place": Place,
}
