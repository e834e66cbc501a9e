"""A kernel's schedule in words."""

from __future__ import annotations

from ..run.plan import GroupPlan
from ..schedule.cpu import Schedule
from ..schedule.edit import EDITED
from ..schedule.gpu_base import GpuSchedule

_FAMILIES = {
    "pointwise": "every element by itself",
    "transpose": "every element by itself, in tiles, because inputs are contiguous along different axes",
    "inner reduction": "each row is reduced along its contiguous axis",
    "inner persistent": "each row is read, reduced, and read again from the cache for what depends on the result",
    "outer reduction": "columns are reduced: each thread sums its rows into partial results, which are then combined",
    "inner+outer reduction": "rows and columns are reduced in one sweep",
    "outer persistent": "columns are reduced and read again, as many side by side as there are lanes",
    "full reduction": "everything is reduced to one value: each chunk by itself, then the parts",
    "scan": "running totals along one axis",
    "scatter": "every point of the source is visited in order; threads divide the target",
}
_MODES = {
    "tile": "each block of threads takes one tile",
    "staged": "each block takes one tile, which passes through shared memory to turn it",
    "persistent": "each row stays in the registers of its threads",
    "loop": "threads walk along the row, and read it again for every pass",
    "split": "each row is cut over blocks; every pass is a launch that combines what the one before left",
}


def words(p: GroupPlan) -> str:
    """What the schedule of a group's kernel does, in a sentence or two."""
    schedule = p.schedule if p.gpu is None else p.gpu.schedule
    if isinstance(schedule, GpuSchedule):
        return _gpu(schedule)
    return "" if schedule is None else _cpu(schedule)


def directives(p: GroupPlan) -> list[str]:
    """The schedule of a group's kernel as directives."""
    schedule = p.schedule if p.gpu is None else p.gpu.schedule
    return [] if schedule is None else list(schedule.directives())


def family(p: GroupPlan) -> str:
    schedule = p.schedule if p.gpu is None else p.gpu.schedule
    return "" if schedule is None else schedule.family


def sizes(p: GroupPlan) -> str:
    """Whether a group's kernel takes its sizes as arguments, or they are numbers in it."""
    special = {} if p.gpu is None else dict(p.gpu.special)
    if p.gpu is None or not special:
        return "arguments of the kernel"
    ratios = [f"{s.ratio:.2f}" for s in special.values() if s.ratio is not None]
    took = f", which took {', '.join(ratios)} of the general one's time" if ratios else ""
    return f"numbers in a kernel of their own for {len(special)} of {len(p.gpu.memo)} that were seen{took}"


def _cpu(s: Schedule) -> str:
    out = [_FAMILIES.get(s.family.removeprefix(EDITED), s.family)]
    chunks = dict(s.split)
    if s.scatters:
        owner = f"axis {s.owner}" if isinstance(s.owner, str) else "a coordinate known at run time"
        out.append("one thread does it" if s.owner is None else f"threads divide {owner}")
    elif s.rows or chunks:
        rows = [*s.rows, *(f"chunks of {n} of {a}" for a, n in s.split)]
        out.append(f"threads share {_list(rows)}")
    loops = [a for a in s.cols if a != s.vector]
    if loops:
        out.append(f"each walks over {_list(loops)}")
    if s.vector:
        out.append(f"{s.lanes} lanes lie along {s.vector}")
    else:
        out.append("no lanes: one element at a time")
    if s.stream:
        out.append(f"{_list(sorted(s.stream))} {'is' if len(s.stream) == 1 else 'are'} written past the caches")
    return "; ".join(out)


def _gpu(s: GpuSchedule) -> str:
    first = _FAMILIES.get(s.family, s.family) if s.mode in ("tile", "staged") else f"{s.family}"
    out = [first, _MODES.get(s.mode, s.mode)]
    out.append(f"blocks of {s.row_threads} x {s.col_threads} threads (rows x columns), {s.steps} vectors each")
    if s.interleaved:
        out.append("neighbouring threads have neighbouring rows, which are interleaved in memory")
    if s.runs:
        out.append(f"rows of {_list(sorted(s.runs))} pass through shared memory, many of them as one run")
    if s.vector:
        out.append(f"{s.lanes} lanes lie along {s.vector}")
    if s.resident:
        few = "each block has its share of the rows" if s.mode == "loop" else "only as many blocks as fit on the device"
        out.append(f"{few}, and leaves what is combined over rows")
    return "; ".join(out)


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
