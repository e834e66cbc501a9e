"""When a GPU schedule is legal for a fusion and the sizes of a call, and what a launch of it needs to know.

As on a CPU (`legal.py`) a schedule that passes computes what the fusion means. Some fields are facts rather than
choices: which buffers' vectors are `aligned` or can be `permuted`, whether conditions on positions are `uniform`,
quotients `steady` and vectors `whole`. They may be claimed only where they hold; `settle` says what holds for the sizes
of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..fusion.ir import Fusion, Stage
from ..index.expr import Atom
from . import gpu_runs, gpu_scatter
from .device import Gpu
from .forms import Illegal, spelled
from .gpu_anchor import Anchors, refusal, start
from .gpu_anchor import count as anchored_count
from .gpu_base import (
    ACCESS,
    INDEX_LIMIT,
    SIDES,
    STAGE,
    WARP,
    GpuSchedule,
    Hint,
    Settled,
    Vectors,
    accesses,
    beside,
    pieces,
    resident_blocks,
    sides,
    whole_scans,
)
from .gpu_fit import CLUSTERS, OTHER_SHARED, SUMS, copies_rows, room_for, row_bytes
from .legal import check_vector, conform, fail, legal_nests, listed, nest_error, over_rows

MODES = ("tile", "staged", "persistent", "loop", "split")
KEEP = ("values", "loads")
PLACES = ("registers", "shared")
LANES = (1, 2, 4, 8)  # widths of vectors: up to 16 bytes of the narrowest types
BLOCK = 1024  # threads of a block, at most
AHEAD = 7  # rows that are on their way, at most
UNROLL = 64  # steps of a thread written out, at most
REGISTERS = 255  # 32-bit registers of a thread


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes a schedule is for: `hint` gives each, `alignment` the bytes to which a buffer's address is aligned."""

    hint: Hint
    gpu: Gpu
    alignment: Callable[[str], int] = lambda buffer: ACCESS


def settle(f: Fusion, s: GpuSchedule, sizes: Sizes) -> Settled:
    """As `gpu.plan` gives it: the fusion with the axes that `s` names, `s` with those of its facts that hold for these
    sizes, the sizes of the launch. Raises Illegal when `s` is not legal for them."""
    if gpu_scatter.collected(f) is not None:
        return gpu_scatter.settle(f, s, sizes.hint, sizes.gpu, sizes.alignment)
    f = conform(f, s)
    s = replace(
        s,
        aligned=s.aligned & aligned(f, s, sizes),
        uniform=s.uniform and uniform(f, s, sizes),
        steady=s.steady and steady(f, s, sizes),
        whole=s.whole and whole(f, s, sizes),
    )
    s = replace(s, permuted=s.permuted & permuted(f, s, sizes), runs=s.runs & runs(f, s, sizes))
    check(f, s, sizes)
    return f, s, launch_sizes(f, s, sizes)


def launch_sizes(f: Fusion, s: GpuSchedule, sizes: Sizes) -> dict[str, int]:
    """Blocks of a resident kernel, or pieces of a row: values of the kernel's own symbols."""
    rows, cols = _steps(f, s, sizes)
    tiles = -(-rows // s.row_threads)
    if s.mode == "split":
        most = min(-(-cols // (s.col_threads * s.steps)), BLOCK)
        return {"splits": max(1, min(sizes.gpu.sms * pieces(f) // tiles, most))}
    if s.resident:
        together = beside(s)
        if s.keep_in == "shared":
            together = max(1, min(together, room_for(row_bytes(f, s), sizes.gpu)))
        return {"blocks": resident_blocks(s, tiles, sizes.gpu.sms * together)}
    if s.runs:
        return {"rounds": gpu_runs.rounds(s, rows, _columns(f, s, sizes), gpu_runs.room(f, s), sizes.gpu)}
    return {}


def aligned(f: Fusion, s: GpuSchedule, sizes: Sizes) -> frozenset[str]:
    """The buffers whose vectors under `s` all lie at multiples of their size."""
    by_name = {a.name: a for a in f.axes}
    v = by_name.get(s.vector)
    if max(s.lanes, s.turned) == 1 or v is None:
        return frozenset()
    planner = Anchors(f, sizes.hint, sizes.gpu, sizes.alignment)
    if s.anchor:
        return planner.held(f, v, s.anchor, s.lanes)
    across = by_name.get(s.across)
    widths = {v: s.lanes} if across is None else {v: s.lanes, across: s.turned}
    return planner.aligned(planner.walks(f, v, across), widths)


def uniform(f: Fusion, s: GpuSchedule, sizes: Sizes) -> bool:
    """Whether conditions on positions never divide a vector of `s`."""
    return Vectors(f, sizes.hint, sizes.gpu, sizes.alignment)._uniform(f, s)


def steady(f: Fusion, s: GpuSchedule, sizes: Sizes) -> bool:
    """Whether quotients of positions never change within a vector of `s`."""
    return Vectors(f, sizes.hint, sizes.gpu, sizes.alignment)._steady(f, s)


def permuted(f: Fusion, s: GpuSchedule, sizes: Sizes) -> frozenset[str]:
    """The buffers of which lanes can be taken out of aligned vectors."""
    return Vectors(f, sizes.hint, sizes.gpu, sizes.alignment)._permuted(f, s)


def runs(f: Fusion, s: GpuSchedule, sizes: Sizes) -> frozenset[str]:
    """The buffers of which a block's rows are one run of memory, from a multiple of 16 bytes on."""
    by_name = {a.name: a for a in f.axes}
    return gpu_runs.found(f, [by_name[n] for n in (*s.rows, *s.cols)], sizes.hint, sizes.alignment)


def whole(f: Fusion, s: GpuSchedule, sizes: Sizes) -> bool:
    """Whether no vector of a tile of `s` is partial."""
    return Vectors(f, sizes.hint, sizes.gpu, sizes.alignment)._whole(f, s)


def _steps(f: Fusion, s: GpuSchedule, sizes: Sizes) -> tuple[int, int]:
    """Vectors (points, along axes that are not vectorised) of all rows, and of a row."""

    def count(names: Sequence[str]) -> int:
        n = 1
        for a in f.axes:
            if a.name in names and a.extent is not None:
                size, lanes = sizes.hint(a.extent), s.lanes if a.name == s.vector else 1
                n *= anchored_count(size, lanes) if s.anchor else -(-size // lanes)
        return max(1, n)

    return count(s.rows), count(s.cols)


def _columns(f: Fusion, s: GpuSchedule, sizes: Sizes) -> int:
    """Points of a row."""
    return Vectors(f, sizes.hint, sizes.gpu, sizes.alignment).size([a for a in f.axes if a.name in s.cols])


def check(f: Fusion, s: GpuSchedule, sizes: Sizes) -> Fusion:
    """`f` with the axes that `s` names, if `s` is legal for it and these sizes. Raises Illegal."""
    if gpu_scatter.collected(f) is not None:
        return gpu_scatter.settle(f, s, sizes.hint, sizes.gpu, sizes.alignment)[0]
    for x in f.stages:
        if x.kind not in ("store", "reduce", "scan"):
            raise Illegal("schedule", "", f"a {x.kind} has no GPU schedule")
    f = conform(f, s)
    check_vector(s, LANES)
    by_name = {a.name: a for a in f.axes}
    rows, cols = [by_name[n] for n in s.rows], [by_name[n] for n in s.cols]
    modes: tuple[str, ...] = MODES[2:] if f.reductions() else MODES[:2]
    what = "with reductions" if f.reductions() else "without reductions"
    if f.scans():
        modes, what = MODES[3:], "with scans"
        if why := whole_scans(f):
            modes, what = ("loop",), f"with scans where {why}"
    if s.mode not in modes:
        fail(s, "mode", [s.mode], f"not a mode of kernels {what}", listed(modes))
    why = nest_error(f, set(rows), set(cols))
    if why:
        fail(s, "rows" if s.rows else "cols", (s.rows or s.cols)[:1], why, legal_nests(f))
    _check_counts(f, s, sizes)
    _check_anchor(f, s, sizes, cols)
    _check_facts(f, s, sizes)
    {"tile": _tile, "staged": _staged}.get(s.mode, _rows)(f, s, sizes, rows, cols, by_name.get(s.vector))
    return f


def _power(n: int) -> bool:
    return n > 0 and not n & (n - 1)


def _check_counts(f: Fusion, s: GpuSchedule, sizes: Sizes) -> None:
    def wrong(field: str, n: int, why: str, legal: str) -> None:
        raise Illegal(spelled(GpuSchedule, field, (n,)), str(n), why, legal, field)

    for field in ("row_threads", "col_threads"):
        n = getattr(s, field)
        parts = s.mode == "split" and s.vector in s.rows  # all of a block are combined, in order, if not in pairs
        if not (_power(n) or (parts and n > 0)) or n > BLOCK:
            wrong(field, n, "threads are combined in pairs", f"powers of two up to {BLOCK}")
    if not s.rows and s.row_threads > 1:
        wrong("row_threads", s.row_threads, "the kernel has no rows", "1")
    if s.threads > BLOCK:
        wrong(
            "col_threads",
            s.col_threads,
            f"a block would have {s.threads} threads",
            f"{BLOCK // s.row_threads} or fewer",
        )
    if not 1 <= s.steps <= UNROLL:
        wrong("steps", s.steps, "not a number of steps to write out", f"1 to {UNROLL}")
    if s.index not in (32, 64):
        wrong("index", s.index, "not the bits of an index", "32, 64")
    if s.index == 32 and not Vectors(f, sizes.hint, sizes.gpu, sizes.alignment)._small(f):
        wrong("index", 32, f"a position may exceed {INDEX_LIMIT}", "64")
    legal = listed(c for c in CLUSTERS if c == 1 or (sizes.gpu.clusters and s.mode == "persistent" and not s.resident))
    if str(s.cluster) not in legal.split(", "):
        why = "only a row that stays in registers, of a kernel that is not resident, is shared by blocks"
        if not sizes.gpu.clusters:
            why = "the GPU has no clusters"
        wrong("cluster", s.cluster, why if s.cluster in CLUSTERS else "not a number of blocks", legal)
    if s.keep not in KEEP:
        fail(s, "keep", [s.keep, s.keep_in], "not what a row can keep between its passes", listed(KEEP))
    if s.keep_in not in PLACES or (s.keep_in == "shared" and s.mode != "persistent"):
        why = "not where a row can be kept" if s.keep_in not in PLACES else "the kernel keeps no rows"
        raise Illegal(spelled(GpuSchedule, "keep", (s.keep, s.keep_in)), s.keep_in, why, _places(s), "keep_in")
    if s.ahead and not (s.resident and s.keep_in == "shared"):
        why = "only a resident block that keeps its rows in shared memory has another row to ask for"
        wrong("ahead", s.ahead, why, "0")
    if not 0 <= s.ahead <= AHEAD:
        wrong("ahead", s.ahead, "not a number of rows that are on their way", f"0 to {AHEAD}")
    if s.finish and not s.resident and s.mode != "split":
        raise Illegal("finish(block)", "block", "blocks leave nothing to be combined", "no finish", "finish")
    if s.once and s.mode != "split":
        raise Illegal("combine(launch)", "launch", "no chunks of columns leave anything", "no combine", "once")
    if s.alone and not (s.resident and s.mode == "persistent"):
        why = "only resident blocks that keep their rows are as many as multiprocessors"
        raise Illegal("alone(blocks)", "blocks", why, "no alone", "alone")
    _check_repeat(s)
    _check_interleaved(f, s)
    _check_runs(f, s, sizes)
    if s.split:
        raise Illegal("split", "", "pieces of a GPU's columns are those of mode(split)", "mode(split)", "split")


def _check_interleaved(f: Fusion, s: GpuSchedule) -> None:
    """Threads of neighbouring rows side by side."""
    if not s.interleaved:
        return
    why = "" if s.rows else "the kernel has no rows"
    if s.mode not in MODES[2:]:
        why = "only blocks that reduce rows have several of them side by side"
    elif f.scans():
        why = "the threads of a scan are neighbours along its columns"
    elif s.vector in s.rows:
        why = "where vectors are along rows, so are neighbouring threads"
    if why:
        raise Illegal("interleave(rows)", "rows", why, "no interleave", "interleaved")


def _check_runs(f: Fusion, s: GpuSchedule, sizes: Sizes) -> None:
    """Short rows that pass through shared memory."""
    if not s.runs:
        return
    holds = runs(f, s, sizes)
    for b in sorted(s.runs - holds):
        why = "its rows do not follow each other, from a multiple of 16 bytes on"
        fail(s, "runs", [b], why, listed(sorted(holds)))
    room = gpu_runs.room(f, s)
    why = "" if s.rows else "the kernel has no rows"
    if s.mode not in ("persistent", "loop") or s.resident or s.cluster > 1:
        why = "only blocks that have whole rows of their own read many of them at a time"
    elif s.anchor or s.interleaved or s.vector in s.rows or s.keep_in != "registers":
        why = "in shared memory rows follow each other, and vectors and threads are along them"
    elif s.row_threads % gpu_runs.whole_rows(f, s.runs):
        why = f"a run is a multiple of 16 bytes if it is of a multiple of {gpu_runs.whole_rows(f, s.runs)} rows"
    elif s.row_threads * _columns(f, s, sizes) > room:
        why = f"a run has no more than {room} elements"
    elif gpu_runs.shared_scan(f, s):
        columns, need = _steps(f, s, sizes)[1], gpu_runs.scanned_bytes(f, s)
        if s.steps * s.col_threads < columns:
            why = f"{s.col_threads} threads of {s.steps} vectors do not scan the {columns} vectors of a row at once"
        elif need > gpu_runs.SCANS:
            why = f"a block would need {need} bytes of shared memory, of {gpu_runs.SCANS}"
    if why:
        fail(s, "runs", sorted(s.runs)[:1], why, "no run")


def _places(s: GpuSchedule) -> str:
    return listed(PLACES if s.mode == "persistent" else PLACES[:1])


def _check_anchor(f: Fusion, s: GpuSchedule, sizes: Sizes, cols: list[Atom]) -> None:
    """Rows that are moved back to where vectors of a buffer are aligned."""
    if not s.anchor:
        return
    why = refusal(f, cols)
    if why or s.mode == "staged" or s.repeat:
        why = why or "only rows on their own are moved, not in tiles of several"
        fail(s, "anchor", [s.anchor], why, "no align")
    v = next((a for a in cols if a.name == s.vector), None)
    if v is None or v is not cols[-1] or s.lanes == 1:
        fail(s, "anchor", [s.anchor], "only vectors along the innermost columns are moved", "no align")
    legal = [b.name for b in f.buffers if start(f, v, b.name) is not None]
    if s.anchor not in legal:
        fail(s, "anchor", [s.anchor], "its columns are not side by side where positions alone say", listed(legal))


def _check_repeat(s: GpuSchedule) -> None:
    if s.repeat and (s.mode != "tile" or s.repeat not in s.rows):
        why = "a thread takes several points of a row axis of a tile" if s.mode == "tile" else "the kernel has no tiles"
        fail(s, "repeat", [s.repeat], why, listed(s.rows) if s.mode == "tile" else "mode(tile)")
    if not 1 <= s.repeats <= 8 or (s.repeats > 1 and not s.repeat):
        directive = spelled(GpuSchedule, "repeats", (s.repeats,))
        why = "not a number of points to write out" if s.repeat else "no axis is reused"
        raise Illegal(directive, str(s.repeats), why, "1 to 8" if s.repeat else "1", "repeats")


def _check_facts(f: Fusion, s: GpuSchedule, sizes: Sizes) -> None:
    names = [b.name for b in f.buffers]
    for b in sorted(s.stream):
        if b not in names:
            fail(s, "stream", [b], "the kernel has no such buffer", listed(names))
    holds = aligned(f, s, sizes)
    for b in sorted(s.aligned - holds):
        why = "its vectors do not all lie at multiples of their size" if b in names else "the kernel has no such buffer"
        fail(s, "aligned", [b], why, listed(sorted(holds)))
    holds = permuted(f, s, sizes)
    for b in sorted(s.permuted - holds):
        why = "no lanes can be taken out of its aligned vectors" if b in names else "the kernel has no such buffer"
        fail(s, "permuted", [b], why, listed(sorted(holds)))
    if s.whole and not whole(f, s, sizes):
        raise Illegal("whole(vectors)", "vectors", "lanes do not divide the columns of a tile", "no whole", "whole")
    if s.uniform and not uniform(f, s, sizes):
        raise Illegal("uniform(conditions)", "conditions", "a condition may divide a vector", "no uniform", "uniform")
    if s.steady and not steady(f, s, sizes):
        raise Illegal("uniform(quotients)", "quotients", "a quotient may change within a vector", "no steady", "steady")


def _divides(
    s: GpuSchedule, a: Atom | None, sizes: Sizes, why: str, field: str = "vector", width: str = "lanes"
) -> None:
    """Whether vectors of the axis that `field` names, as wide as `width` says, are whole."""
    if a is None or a.extent is None:
        return
    n, lanes = sizes.hint(a.extent), getattr(s, width)
    if lanes not in LANES or n % lanes:
        legal = listed(k for k in LANES if n % k == 0)
        raise Illegal(spelled(GpuSchedule, field, (a.name, lanes)), str(lanes), f"{why} ({n})", legal, field)


def _no_reductions(s: GpuSchedule) -> None:
    if s.resident:
        raise Illegal("resident(grid)", "grid", "nothing is reduced over rows", "no resident", "resident")


def _tile(f: Fusion, s: GpuSchedule, sizes: Sizes, rows: list[Atom], cols: list[Atom], v: Atom | None) -> None:
    _no_reductions(s)
    if (len(cols) > 1 and (not s.whole or v is not cols[-1])) or (rows and not cols):
        why = "a tile has one column axis, or several that are walked in whole vectors of the last"
        fail(s, "cols" if cols else "rows", (s.cols or s.rows)[:1], why, "one axis bound to threads")
    if v in rows:
        fail(s, "vector", [s.vector, s.lanes], "a tile is vectorised along its columns", listed(s.cols))
    if s.across:
        fail(s, "across", [s.across, s.turned], "only mode(staged) has a tile in shared memory", "mode(staged)")


def _staged(f: Fusion, s: GpuSchedule, sizes: Sizes, rows: list[Atom], cols: list[Atom], v: Atom | None) -> None:
    _no_reductions(s)
    if len(cols) != 1 or v is not cols[0]:
        fail(s, "vector", [s.vector, s.lanes], "a staged tile has one column axis, which is the vectorised one", "")
    if s.across not in s.rows:
        fail(
            s,
            "across",
            [s.across or "axis", s.turned],
            "a staged tile needs the row axis along which it is read",
            listed(s.rows),
        )
    why = "a staged tile is read in whole vectors both ways: lanes divide the extents"
    _divides(s, v, sizes, why)
    _divides(s, next(a for a in rows if a.name == s.across), sizes, why, "across", "turned")
    across, along = sides(s)
    least, most = min(SIDES), max(SIDES)
    directive = spelled(GpuSchedule, "col_threads", (s.col_threads,))
    if not least <= along <= most:
        legal = f"{max(1, least // s.lanes)} to {most // s.lanes}"
        raise Illegal(
            directive, str(s.col_threads), f"a side of the tile is {least} to {most} points", legal, "col_threads"
        )
    directive = spelled(GpuSchedule, "row_threads", (s.row_threads,))
    if s.row_threads > across or s.threads > BLOCK:
        raise Illegal(directive, str(s.row_threads), "more threads than points", f"up to {across}", "row_threads")
    least, most = (max(1, n // (s.turned * s.col_threads)) for n in (across, STAGE * STAGE))
    if not least <= s.row_threads <= most:
        why = f"{s.threads} threads, {s.turned} points each at a time, do not read {across} by {along} points"
        raise Illegal(directive, str(s.row_threads), why, f"{least} to {min(across, most)}", "row_threads")
    if s.steps != 1:
        raise Illegal(spelled(GpuSchedule, "steps", (s.steps,)), str(s.steps), "a staged tile is whole", "1", "steps")


def _rows(f: Fusion, s: GpuSchedule, sizes: Sizes, rows: list[Atom], cols: list[Atom], v: Atom | None) -> None:
    if not cols:
        fail(s, "rows", s.rows[:1], "a row has columns", legal_nests(f))
    if s.across:
        fail(s, "across", [s.across, s.turned], "only mode(staged) has a tile in shared memory", "mode(staged)")
    outer = over_rows(f, rows, cols)
    if v is not None and not s.anchor:
        _divides(s, v, sizes, "the vectors of a row are whole: lanes divide the extent")
    if v in rows and outer:
        why = "what is reduced over rows is not kept lane by lane"
        fail(s, "vector", [s.vector, s.lanes], why, f"a column axis: {listed(s.cols)}")
    if s.mode == "split" and outer:
        fail(s, "mode", [s.mode], "a reduction over rows is not combined from pieces of rows", "persistent, loop")
    if s.resident and not outer:
        raise Illegal("resident(grid)", "grid", "nothing is reduced over rows", "no resident", "resident")
    if not s.resident and (any(r.axes for r in outer) or (outer and s.runs)):
        why = "what is reduced over rows stays in registers until the end"
        raise Illegal("resident(grid)", "grid", why, "resident(grid)", "resident")
    if s.mode == "loop" and any(r.axes for r in outer):
        fail(s, "mode", [s.mode], "sums of columns are kept in registers, all columns in one block", "persistent")
    if s.mode == "persistent":
        _persistent(f, s, sizes, outer)
    if s.col_threads > 1 and f.scans():
        _shared_scan(s, v in rows)


def _shared_scan(s: GpuSchedule, row_vector: bool) -> None:
    """Threads that share the columns of a scan."""
    directive = spelled(GpuSchedule, "col_threads", (s.col_threads,))
    if row_vector and s.lanes > 1:
        why = "threads share a scan of single rows, not of vectors of them"
        raise Illegal(directive, str(s.col_threads), why, "1", "col_threads")
    if s.threads % WARP:
        why = f"a scan is shared in full warps, not in blocks of {s.threads} threads"
        raise Illegal(directive, str(s.col_threads), why, f"1, {WARP} or more", "col_threads")


def _persistent(f: Fusion, s: GpuSchedule, sizes: Sizes, outer: list[Stage]) -> None:
    _, columns = _steps(f, s, sizes)
    threads = s.col_threads * s.cluster
    if s.steps * threads < columns:
        directive = spelled(GpuSchedule, "steps", (s.steps,))
        why = f"{threads} threads of {s.steps} vectors do not cover the {columns} vectors of a row"
        raise Illegal(directive, str(s.steps), why, f"{-(-columns // threads)} or more", "steps")
    words = float(sum(bool(r.axes) for r in outer))
    if s.keep_in == "shared":
        _in_shared(f, s, sizes)
    else:
        words += _loaded(f)
    held = int(s.steps * s.lanes * words)
    if held > REGISTERS:
        directive = spelled(GpuSchedule, "steps", (s.steps,))
        most = int(REGISTERS / (s.lanes * words))  # held > 0, hence words > 0
        why = f"a thread would hold {held} registers of values"
        raise Illegal(directive, str(s.steps), why, f"{most} or fewer, with more threads(columns, n)", "steps")


def _in_shared(f: Fusion, s: GpuSchedule, sizes: Sizes) -> None:
    """Check a row in shared memory."""
    directive = spelled(GpuSchedule, "keep", (s.keep, s.keep_in))
    if s.vector in s.rows or not s.rows:
        why = "vectors of rows are kept in registers" if s.rows else "the kernel has no rows"
        raise Illegal(directive, "shared", why, "registers", "keep_in")
    if not copies_rows(f, s):
        why = f"rows are moved to where those of {s.anchor} are aligned, and others are not"
        raise Illegal(directive, "shared", why, "registers", "keep_in")
    need, have = row_bytes(f, s), sizes.gpu.shared - OTHER_SHARED
    if s.resident:
        have -= min(SUMS, 8 * s.threads * s.lanes)
    if need > have:
        why = f"a block would need {need} bytes of shared memory, of {max(0, have)}"
        raise Illegal(directive, "shared", why, "registers, or fewer threads and unroll", "keep_in")


def _loaded(f: Fusion) -> float:
    """32-bit registers of what is read at every point of a row: the least that a persistent row holds."""
    loads = {(b, o): d for b, o, d in accesses(f, stores=False) if o.axes() == set(f.axes)}
    return max(0.5, sum(max(d.itemsize, 2) / 4 for d in loads.values()))


__all__ = [
    "Sizes",
    "Stage",
    "aligned",
    "check",
    "launch_sizes",
    "permuted",
    "runs",
    "settle",
    "steady",
    "uniform",
    "whole",
]
