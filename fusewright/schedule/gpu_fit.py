"""How rows are held in the registers of blocks: threads, vectors of each, and blocks that share a row."""

from __future__ import annotations

from .device import Gpu
from .gpu_base import power_up

THREADS = 256  # of a block, where nothing asks for more or fewer
WORDS = 32  # 32-bit registers of a thread for values kept between passes, in blocks of 1024 threads; twice in smaller
STEPS = 16  # vectors of a row per thread, at most
OTHERS = 28  # registers of a thread besides those it keeps values in, roughly
CHUNK = 1 << 15  # points of a row under which cutting it over blocks does not pay
SHARE = 32 << 10  # bytes of a row that a block holds best (measured on an H200): a longer row has a cluster of blocks
ALONE = 32 << 10  # bytes of parts that one block combines in about the time that another launch takes
CLUSTERS = (1, 2, 4, 8)  # blocks of a cluster


def shares(
    gpu: Gpu, clusters: tuple[int, ...], vectors: int, values: float, loads: float, rows: int, lanes: int
) -> tuple[int, int, int, str] | None:
    """(blocks that share a row, one of `clusters`, and how each holds its part, as `fit` says); None if it is too long.

    As many as let a block have its part at best, and others beside it; more if that leaves processors idle.
    """
    best: tuple[int, int, int, str] | None = None
    for c in clusters:
        share = -(-vectors // c)
        found = fit(gpu, share, values, loads, rows * c)
        if best is not None and (found is None or share < THREADS):
            break
        if found is None:
            continue
        ct, steps, keep = found
        good = 4 * share * loads <= SHARE and _blocks(gpu, (ct, steps), values if keep == "values" else loads) > 1
        best = (c, *found)
        if good and (rows * c >= gpu.sms or share * lanes < CHUNK // 2):
            break
    return best


def fit(gpu: Gpu, vectors: int, values: float, loads: float, rows: int) -> tuple[int, int, str] | None:
    """(threads of a row, vectors of each, what is kept) for a row held in registers; None if it is too long.

    `values`, `loads`: registers per vector to keep whatever later passes want, or only what was read. The latter
    computes some things again, and is for rows so long that otherwise only one block fits a multiprocessor: it
    would wait for memory while nobody computes.
    """
    best = _fit_words(gpu, vectors, values, rows)
    if best is None or (_blocks(gpu, best, values) < 2 and loads < values):
        other = _fit_words(gpu, vectors, loads, rows)
        if other is not None and (best is None or _blocks(gpu, other, loads) > _blocks(gpu, best, values)):
            return (*other, "loads")
    return None if best is None else (*best, "values")


def _blocks(gpu: Gpu, found: tuple[int, int], words: float) -> int:
    """Blocks that a multiprocessor can run at once."""
    threads = max(found[0], 128)
    return min(gpu.threads // threads, gpu.registers // int(threads * (OTHERS + found[1] * words)))


def by_columns(vectors: int, values: float) -> tuple[int, int] | None:
    """(threads of a row, vectors of each) where columns are summed, too; None if the row is too long.

    As few vectors of a thread as can be: besides a row it holds the sums, and the next row is on its way.
    """
    ct = power_up(vectors, 1024)
    steps = -(-vectors // ct)
    return (ct, steps) if holds(ct, steps, values) else None


def holds(threads: int, steps: int, words: float) -> bool:
    """Whether a thread, one of `threads` in its block, has registers for `steps` vectors of so many words each."""
    return steps <= STEPS and steps * words <= (WORDS if threads == 1024 else 2 * WORDS)


def _fit_words(gpu: Gpu, vectors: int, words: float, rows: int) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    for k in range(11):
        ct = 1 << k
        steps = -(-vectors // ct)
        if not holds(ct, steps, words):
            continue
        best = (ct, steps)
        roomy = steps * words <= WORDS and (ct >= 256 or steps <= (4 if ct >= 128 else 3))
        if (roomy and rows * ct >= gpu.sms * 512) or steps == 1:
            break
    return best
