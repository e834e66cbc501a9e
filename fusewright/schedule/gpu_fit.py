"""How rows are held in the registers of blocks, or in their shared memory: threads, vectors of each, and blocks that
share a row."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ..fusion import relax
from ..fusion import scalar as sc
from ..fusion.ir import Fusion
from ..fusion.scalar import Expr
from ..index.expr import Atom
from .device import H200, Gpu
from .gpu_base import ACCESS, DEAR, WARP, GpuSchedule, accesses, power_up, row_load

THREADS = 256  # of a block, where nothing asks for more or fewer
HALF = THREADS // 2  # of one whose threads have several rows, or little to do
WORDS = 32  # 32-bit registers of a thread for values kept between passes, in blocks of 1024 threads; twice in smaller
ROOM = 48  # of them that leave room for other blocks, in blocks of 256 threads: much on its way at once counts for more
STEPS = 16  # vectors of a row per thread, at most
BESIDE = 12  # besides those of `demand`
DRAWING = 8  # of them while random words are drawn
BY_ROW = 4  # of them where a block has several rows at a time
SPARE = 2  # by which that estimate may be too high
EASY = 6  # registers to spare, where nothing else than narrower vectors is needed
COLUMNS = 16  # columns of a thread at best, in a block that has a processor for itself and rows in shared memory
COMING = 48 << 10  # bytes that such a block has on their way, at least: what comes in the time that memory takes
ROUNDS = 16  # rows that each group of its threads has at least; of fewer the sums of several groups do not pay
LEFT = 16  # of its registers left, besides those of `demand`
LOOSE = 0.1  # of the threads that may be idle, rather than have narrower vectors or more columns
EACH = 32  # bytes of each tensor that a thread has of a row, in a block that has a processor for itself
PIECE = 8  # bytes of a vector, at least, where vectors are narrower than they could be
OTHERS = 28  # registers of a thread besides those it keeps values in, roughly
SHARED_STEPS = 32  # vectors of a row in shared memory per thread, at most
MANY = 8  # of them that a thread has at best; of those in registers, at most, where only numbers are left of a row
ASYNCHRONOUS = (8, 0)  # the compute capability from which on shared memory is filled without registers
CHUNK = 1 << 15  # points of a row under which cutting it over blocks does not pay
ALL = 48 << 10  # bytes of a row that one block holds in registers: a longer row has a cluster of blocks, if it can
SHARE = 32 << 10  # bytes of a row that each of those holds best (both measured on an H200)
ALONE = 8 << 10  # bytes of parts that one block combines in no more than the time that another launch takes
TOGETHER = 32 << 10  # bytes of parts that all blocks read in no more than the time that another launch takes
EACH_ROW = 4  # vectors of a row that a thread has at best, where only numbers for all rows are left of it
CLUSTERS = (1, 2, 4, 8)  # blocks of a cluster
OTHER_SHARED = 4 << 10  # bytes of shared memory left for what reductions need
SUMS = 16 << 10  # and where sums of columns pass through it (twice `SCRATCH` of `emit/cuda_reduce.py`)
SYSTEM_SHARED = 1 << 10  # bytes of it that the system takes of every block; a processor has so many more than a block


class Held(NamedTuple):
    """How a row is held: in so many blocks, the threads of each, vectors of each of those, what is kept, and where;
    whether a block has a multiprocessor for itself; how many rows more are on their way."""

    cluster: int
    threads: int
    steps: int
    keep: str
    place: str = "registers"
    alone: bool = False
    ahead: int = 0


def shares(
    gpu: Gpu,
    clusters: tuple[int, ...],
    vectors: int,
    values: float,
    loads: float,
    rows: int,
    lanes: int,
    size: int,
    most: int,
    stored: bool,
) -> Held | None:
    """How blocks hold a row, so many together as one of `clusters`; None if it is too long.

    In registers if one block does it and others fit beside it, as many together as let a block have its part at best,
    and more if that leaves processors idle; else in shared memory: registers of longer rows leave too few threads that
    ask for something. (31 programs with rows of 40 to 262 KB reached 0.87 of the copy speed of an H200 so, in the mean,
    and 0.81 in registers.) `size`: bytes of shared memory for a vector, 0: none. `most`: bytes of a row that each of
    several blocks has in registers. `stored`: whether a result has columns.
    """
    best = _in_registers(gpu, clusters, vectors, values, loads, rows, lanes, stored)
    if not size:
        return best
    if best is not None and _blocks(gpu, best[1:3], values if best.keep == "values" else loads) > 1:
        part = -(-vectors // best.cluster) * size
        if part <= (max(SHARE, most) if best.cluster == 1 else most):
            return best
    found = in_shared(gpu, clusters, vectors, size, rows) or best
    # few rows would leave processors idle if each were one block's to read again
    return in_shared(gpu, clusters, vectors, size, rows, beside=1) if found is None and rows < gpu.sms else found


def in_shared(gpu: Gpu, clusters: tuple[int, ...], vectors: int, size: int, rows: int, beside: int = 2) -> Held | None:
    """Blocks that can have a row in shared memory, `beside` or more of them on a processor; None if none can.

    One works on its row and stores it while the other waits for its own. The fewest that have no more than is best, of
    as few threads as have no more than `MANY` vectors each.
    """
    if gpu.capability < ASYNCHRONOUS:
        return None
    found = None
    for c in clusters:
        share = -(-vectors // c)
        if rows * c < gpu.sms and c < clusters[-1]:
            continue
        ways = [(ct, -(-share // ct)) for ct in (THREADS, 2 * THREADS, 4 * THREADS)]
        fitting = [
            Held(c, ct, steps, "loads", "shared")
            for ct, steps in ways
            if min(room_for(ct * steps * size, gpu), gpu.threads // ct) >= beside and steps <= SHARED_STEPS
        ]
        found = next((h for h in fitting if h.steps <= MANY), fitting[-1] if fitting else found)
        if found is not None and share * size <= SHARE:
            break
    return found


def room_for(size: int, gpu: Gpu = H200) -> int:
    """Blocks that a processor can have at once, of so many bytes of shared memory for rows."""
    return (gpu.shared + SYSTEM_SHARED) // (size + OTHER_SHARED)


def _row_loads(f: Fusion, s: GpuSchedule) -> set[Expr]:
    rows, cols = ([a for a in f.axes if a.name in names] for names in (s.rows, s.cols))
    return {e for e in sc.walk([x.body for x in f.stages]) if row_load(e, rows, cols)}


def copies_rows(f: Fusion, s: GpuSchedule) -> bool:
    """Whether rows can be copied to shared memory in aligned pieces: of rows that are moved, all have to start as the
    one does that they are moved by."""
    return not s.anchor or all(e.data[0] in s.aligned and not e.args for e in _row_loads(f, s))


def row_bytes(f: Fusion, s: GpuSchedule) -> int:
    """Bytes of shared memory that a block needs for its rows there, at most."""
    point = sum(e.data[2].itemsize for e in _row_loads(f, s))
    return s.threads * s.steps * (s.lanes if s.vector else 1) * point * (1 + s.ahead)


def _in_registers(
    gpu: Gpu, clusters: tuple[int, ...], vectors: int, values: float, loads: float, rows: int, lanes: int, stored: bool
) -> Held | None:
    best: Held | None = None
    for c in clusters:
        share = -(-vectors // c)
        found = fit(gpu, share, values, loads, rows * c, stored)
        if best is not None and (found is None or share < THREADS):
            break
        if found is None:
            continue
        ct, steps, keep = found
        good = (
            4 * share * loads <= (ALL if c == 1 else SHARE)
            and _blocks(gpu, (ct, steps), values if keep == "values" else loads) > 1
        )
        best = Held(c, *found)
        if good and (rows * c >= gpu.sms or share * lanes < CHUNK // 2):
            break
    return best


def in_warp(gpu: Gpu, vectors: int, words: float, rows: int, lanes: int) -> Held | None:
    """How a warp, or a part of one, holds a row that is moved to where vectors are aligned; None if it is too long.

    The lanes of partial vectors are read one by one, and a whole warp waits for that: the fewer threads a row has, the
    more of their vectors are not at its ends.
    """
    for ct in (4, 8, 16, WARP):
        steps = -(-vectors // ct)
        if steps <= 3 + lanes // 2 and steps * words <= WORDS and rows * ct >= gpu.sms * 512:
            return Held(1, ct, steps, "values")
    return None


def fit(
    gpu: Gpu, vectors: int, values: float, loads: float, rows: int, stored: bool = True
) -> tuple[int, int, str] | None:
    """(threads of a row, vectors of each, what is kept) for a row held in registers; None if it is too long.

    `values`, `loads`: registers per vector to keep whatever later passes want, or only what was read. The latter
    computes some things again, and is for rows so long that otherwise only one block fits a multiprocessor: it
    would wait for memory while nobody computes.
    """
    best = _fit_words(gpu, vectors, values, rows, stored)
    if best is None or (_blocks(gpu, best, values) < 2 and loads < values):
        other = _fit_words(gpu, vectors, loads, rows, stored)
        if other is not None and (best is None or _blocks(gpu, other, loads) > _blocks(gpu, best, values)):
            return (*other, "loads")
    return None if best is None else (*best, "values")


def _blocks(gpu: Gpu, found: tuple[int, int], words: float) -> float:
    """Blocks that a multiprocessor can run at once."""
    threads = max(found[0], 128)
    registers = threads * (OTHERS + found[1] * words) // 1  # no `int`, after which a rule is for one number only
    return min(gpu.threads // threads, gpu.registers // registers)


def alone(gpu: Gpu, found: Held, values: float, loads: float) -> bool:
    """Whether a multiprocessor has room for one of the blocks only that hold rows so."""
    words = values if found.keep == "values" else loads
    return found.place == "registers" and _blocks(gpu, found[1:3], words) < 2


def by_columns(gpu: Gpu, vectors: int, values: float, sums: float, size: int) -> Held | None:
    """How one resident block holds a row, where rows or their columns are summed, too; None if the row is too long.

    In registers as few vectors of a thread as can be: besides a row it holds the sums, and the next row is on its way.
    In shared memory if two blocks fit a processor so; or one, if columns are summed and registers do not suffice. (Else
    reading the row again keeps more on its way than one block that waits for it.) `values`, `sums`: registers for a
    vector of a row, and of sums, 0: there are none; `size`: bytes of shared memory for the former.
    """
    ct = power_up(vectors, 1024)
    steps = -(-vectors // ct)
    fits = holds(ct, steps, values + sums) if sums else 2 * steps * values <= WORDS
    best = Held(1, ct, steps, "values") if fits else None
    if size and (best is None or ct == 1024):
        for ct in (2 * THREADS, 4 * THREADS):
            steps = -(-vectors // ct)
            most = min(room_for(ct * steps * size, gpu), gpu.threads // ct // 2)
            if gpu.capability >= ASYNCHRONOUS and steps * sums <= WORDS and most >= (1 if sums and not best else 2):
                return Held(1, ct, steps, "loads", "shared")
    return best


def each_row(
    gpu: Gpu, clusters: tuple[int, ...], vectors: int, values: float, loads: float, rows: int, size: int
) -> Held | None:
    """How blocks hold rows of which only numbers for all rows are left; None if a row is too long.

    All passes but the first wait for the whole row, twice or more, and nothing is stored meanwhile: what counts is how
    much of all rows is on a multiprocessor, in few threads that have much each. In the registers of one block, else in
    its shared memory if there is room for another such block, else in as few blocks as can be. `values`, `loads`:
    registers for a vector of a row (of `keep`); `size`: bytes of shared memory for it, 0: none.
    """
    for c in clusters:
        share = -(-vectors // c)
        if rows * c < gpu.sms and c < clusters[-1] and share > THREADS:
            continue
        ct = power_up(max(-(-share // EACH_ROW), min(share, EACH_ROW)), THREADS)
        steps = -(-share // ct)
        for keep, words in (("values", values), ("loads", loads)):
            if holds(ct, steps, words):
                return Held(c, ct, steps, keep)
        for ct in (THREADS, 2 * THREADS) if c == 1 and size and gpu.capability >= ASYNCHRONOUS else ():
            steps = -(-vectors // ct)
            if steps <= STEPS and room_for(ct * steps * size, gpu) > 1:
                return Held(1, ct, steps, "loads", "shared")
    return in_shared(gpu, clusters, vectors, size, rows) if size else None


def narrowed(
    f: Fusion, rows: set[Atom], cols: set[Atom], held: Held, vectors: int, lanes: int, size: int, count: int, gpu: Gpu
) -> tuple[Held, int]:
    """How one of `count` rows of so many vectors is held beside sums of columns, and lanes.

    `held`: as a block would have it in whole vectors; `size`: as for `by_columns`. Two blocks may fit a processor in
    registers. Else, or if threads wait often (each has one vector of a row only, or there is much to compute while
    nothing is asked for), a block has it alone, and its threads twice the registers. Its rows are in a ring of shared
    memory; in registers if that leaves fewer threads idle, or the ring had one row at a time. What is left are rows
    that are too short or too long for either: they are held in narrower vectors, on which a thread works one after the
    other, or by twice the threads.
    """
    f = relax.taken_apart(f)
    small = min((d.itemsize for _, o, d in accesses(f) if cols & o.axes()), default=ACCESS)
    use = lambda h, n: vectors * lanes / (h.threads * h.steps * n)
    ring = in_ring(f, rows, cols, vectors, lanes, size, gpu)
    two = _two_blocks(f, rows, cols, held, lanes, small, gpu)
    if two is not None:
        if ring is None:
            return two
        brief = count * ring.threads < ROUNDS * gpu.sms * 2 * THREADS
        waits = two[0].steps == 1 or per_column(f, cols) >= DEAR
        if use(*two) > use(ring, lanes) - LOOSE and (brief or not waits):
            return two
    if ring is None and held.place != "registers" and small >= 4 and dear_values(f, cols):  # many threads for them
        return held, lanes
    alone, n = _alone(held, vectors * lanes, lanes, small)
    fits = 2 * WARP <= alone.threads <= 2 * THREADS
    if fits and demand(f, rows, cols, alone, n) <= gpu.registers // (2 * THREADS) + SPARE:
        if ring is None or (small < 4 and (ring.threads > THREADS or use(ring, lanes) < use(alone, n))):
            return alone, n
    if ring is not None:
        return ring, lanes
    return (held, lanes) if held.place != "registers" else _narrower(f, rows, cols, held, lanes, small, gpu)


def per_column(f: Fusion, cols: Collection[Atom]) -> int:
    """What is computed for a column of a row, in additions."""
    return sum(e.cost for e in sc.walk([s.body for s in f.stages]) if e.axes & {*cols} and e.kind != "load")


def _two_blocks(
    f: Fusion, rows: set[Atom], cols: set[Atom], held: Held, lanes: int, small: int, gpu: Gpu
) -> tuple[Held, int] | None:
    """A row in registers, and lanes, where a processor has room for two blocks; None if it has not."""
    if held.place != "registers":
        return None
    room = gpu.registers // 1024 + SPARE
    if demand(f, rows, cols, held, lanes) + BY_ROW * (held.threads < THREADS) <= room:
        return held, lanes
    narrow = held._replace(steps=2 * held.steps)
    wanted = demand(f, rows, cols, narrow, lanes // 2) + BY_ROW * (held.threads < 2 * THREADS)
    return (narrow, lanes // 2) if lanes // 2 * small >= PIECE and wanted <= room - EASY else None


def in_ring(f: Fusion, rows: set[Atom], cols: set[Atom], vectors: int, lanes: int, size: int, gpu: Gpu) -> Held | None:
    """Blocks of 512 threads that have a processor alone, with each row of theirs the next ones in shared memory.

    None if that has no room for it, or rows are short. A thread has 9 to 24 columns of a row, 16 at best: fewer are
    little beside what is to be done for a row, of more the sums take too many registers. It may have more of rows that
    are long. The warps of a row do not wait for those of others (`apart` of `emit/cuda_reduce.py`).
    """
    if not size or gpu.capability < ASYNCHRONOUS:
        return None
    best: tuple[float, Held] | None = None
    for ct in (2 * WARP, 4 * WARP, THREADS, 2 * THREADS):
        steps = -(-vectors // ct)
        bytes_of = 2 * THREADS * steps * size  # one row of each group of threads
        h = Held(1, ct, steps, "loads", "shared", True, 1 if bytes_of >= COMING else 2)
        each, last = steps * lanes, ct == 2 * THREADS and best is None
        if not COLUMNS < 2 * each <= (4 if last else 3) * COLUMNS:
            continue
        if bytes_of * (1 + h.ahead) > gpu.shared - OTHER_SHARED - SUMS:
            continue
        if not last and demand(f, rows, cols, h, lanes) > gpu.registers // (2 * THREADS) - LEFT:
            continue
        good = vectors / (ct * steps) - LOOSE * (each > COLUMNS)
        if best is None or good > best[0]:
            best = good, h
    return best[1] if best is not None else None


def _narrower(
    f: Fusion, rows: set[Atom], cols: set[Atom], held: Held, lanes: int, small: int, gpu: Gpu
) -> tuple[Held, int]:
    """Rows in narrower vectors, or by more threads, that spill least of registers."""
    room = gpu.registers // 1024 + SPARE
    best = 2 * demand(f, rows, cols, held, lanes) / 3, held, lanes  # what spills either way, spills less
    n = lanes // 2
    while n * small >= PIECE:
        for threads in (held.threads, held.threads * (lanes // n)):
            if threads > 2 * THREADS:
                continue
            found = held._replace(threads=threads, steps=held.steps * lanes * held.threads // (n * threads))
            wanted = demand(f, rows, cols, found, n) + BY_ROW * (threads < 2 * THREADS)
            if wanted <= room:
                return found, n
            if wanted < best[0]:
                best = wanted, found, n
        n //= 2
    return best[1:]


def _alone(held: Held, points: int, lanes: int, small: int) -> tuple[Held, int]:
    """How a block that has a processor alone holds a row of so many points, and lanes: a thread asks for `EACH` bytes
    of every tensor at once, in vectors of four."""
    n = min(lanes, 4)
    threads = power_up(-(-points * small // EACH), 1 << 30)
    steps = -(-points // (n * threads))
    return held._replace(threads=threads, steps=steps, keep="values", place="registers", alone=True), n


def demand(f: Fusion, rows: set[Atom], cols: set[Atom], held: Held, lanes: int) -> float:
    """Registers that a thread of a resident block wants, estimated; where columns are summed beside reductions of rows.

    All the time it has sums of its columns, what is read of its rows, of this one and of the next, and what is the same
    for all of them; in a pass, an accumulator for each reduction of a row, what is stored, and random words.
    """
    loads = {e for e in sc.walk([s.body for s in f.stages]) if e.kind == "load" and e.axes & cols}
    words = {e: e.data[2].itemsize / 4 for e in loads}
    row, steady = (sum(w for e, w in words.items() if bool(e.axes & rows) == here) for here in (True, False))
    n = lanes * held.steps
    always = n * (sum(set(s.raxes) == rows for s in f.reductions() if s.axes) + steady)
    if held.place == "registers":
        always += 2 * n * row
    level: dict[str, int] = {}
    passing: dict[int, float] = {}
    for s in f.stages:
        p = max((level.get(name, 0) for name in s.body.stages), default=0)
        if s.kind == "reduce":
            inner = set(s.raxes) == cols
            level[s.name] = p + 1 if inner else p
            wants: float = lanes * inner
        else:
            wants = lanes * s.dtype.itemsize / 4 if cols <= set(s.axes) and rows <= set(s.axes) else 0
        passing[p] = passing.get(p, 0) + wants
    for p in passing:
        bodies = [s.body for s in f.stages if max((level.get(n, 0) for n in s.body.stages), default=0) == p]
        if any(e.kind == "random" for e in sc.walk(bodies)):
            passing[p] += lanes + DRAWING
    return always + max(passing.values(), default=0) + BESIDE


def holds(threads: int, steps: int, words: float) -> bool:
    """Whether a thread, one of `threads` in its block, has registers for `steps` vectors of so many words each."""
    return steps <= STEPS and steps * words <= (WORDS if threads == 1024 else 2 * WORDS)


def _fit_words(gpu: Gpu, vectors: int, words: float, rows: int, stored: bool) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    for k in range(11):
        ct = 1 << k
        steps = -(-vectors // ct)
        if not holds(ct, steps, words) or (ct == 1 and steps == 2 and words >= 4):  # two read such rows side by side
            continue
        best = (ct, steps)
        few = 4 if ct >= 128 else 3  # vectors of four registers; of a warp or more, as much in narrower ones
        much = steps <= few or (ct >= WARP and steps * words <= 4 * few)
        if not stored and WARP // 4 <= ct < 128:  # nobody waits but for others of the row: the fewer, the better
            much |= steps <= MANY and steps * words <= WORDS
        roomy = steps * words <= (ROOM if ct <= THREADS else WORDS) and (ct >= 256 or much)
        if (roomy and rows * ct >= gpu.sms * 512) or steps == 1:
            break
    return best


def dear_values(f: Fusion, cols: set[Atom]) -> int:
    """How many dear values of a point two passes want."""
    cost: dict[Expr, int] = {}
    by_level: dict[int, set[Expr]] = {}
    level: dict[str, int] = {}
    for s in f.stages:
        n = max((level.get(name, 0) for name in s.body.stages), default=0)
        if s.kind == "reduce":
            level[s.name] = n + 1 if set(s.raxes) == cols else n
        for e in sc.walk([s.body]):
            if e.axes & cols and e not in cost:
                cost[e] = e.cost + sum(cost.get(c, 0) for c in e.children())
        by_level.setdefault(n, set()).update(
            e for e in sc.walk([s.body]) if e.kind != "load" and cost.get(e, 0) >= DEAR
        )
    wanted = [e for e in cost if sum(e in found for found in by_level.values()) > 1]
    inside = {c for e in wanted for c in sc.walk(list(e.children()))}
    return sum(e not in inside for e in wanted)
