"""Which lines of what a GPU kernel reads should leave the L2 cache first.

A kernel finds the cache full of what those before it have written, most of which has not been to memory yet: lines that
it reads push that out, and wait until it has been written. Lines that leave first (`ld.global.cs`) take each other's
place, and what was written stays for whoever reads it next. Measured on an H200, sums of 64 to 192 MB took 3 to 12 %
less time after a kernel that had written as much as the cache holds, and as much as before after one that had not.

That is for kernels which read data once and write next to nothing: those that write as much as they read were slower by
3 to 10 %, whichever of the two was marked. More than a few times what the cache holds, and there is nothing left to
spare: sums of 512 MB were slower by 3 %. A lot less than it holds, and the next kernel may find the data there: from
three eighths of what it holds on the sum gains as much as a kernel loses that reads the same next (of 60 MB held: of
24 MB read 6 to 15 % less for the sum, 4 to 9 % more for the two together; of 32 MB 9 to 20 less, 2 less to 5 more; of
42 MB 9 to 24 less, 7 less to 3 more; but of 16 MB 3 to 7 less, 9 to 13 more).
"""

from __future__ import annotations

from ..fusion.ir import Fusion
from ..fusion.online import online
from .device import Gpu
from .gpu_along import passes_of
from .gpu_base import GpuSchedule, Hint, accesses

READ = 8  # times as much as is written is read by a kernel that writes next to nothing
CACHES = 4  # of data to read, in L2 caches: what is written out meanwhile is no longer a large part of the traffic


def passing(f: Fusion, s: GpuSchedule, gpu: Gpu, hint: Hint) -> frozenset[str]:
    """The buffers whose lines should leave the caches first (`GpuSchedule.stream`).

    All that are large, or none. Aligned vectors are marked, no copies to shared memory. Of single elements those of
    kernels whose threads are side by side along rows and take whole columns (10 to 29 % less for 15 reductions over the
    middle, of rows of odd length); where columns are cut, or threads are side by side along columns, parts of sectors
    are read a second time, when they were gone (10 to 30 % longer).
    """
    if s.mode not in ("persistent", "loop", "split") or s.keep_in == "shared" or s.runs:
        return frozenset()
    written = {x.buffer for x in f.stores()}
    large = {b for b, offset, _ in accesses(f, stores=False) if offset.axes() == set(f.axes)} - written

    def total(names: set[str]) -> int:
        return sum(hint(b.numel) * b.dtype.itemsize for b in f.buffers if b.name in names)

    if not large or not 3 * gpu.l2 // 8 <= total(large) <= CACHES * gpu.l2 or READ * total(written) > total(large):
        return frozenset()
    cols = {a for a in f.axes if a.name in s.cols}
    twice = s.mode == "split" and bool(f.scans())  # chunks' totals are found before
    again = twice or (s.mode != "persistent" and passes_of(f, cols, online(f, cols)) > 1)
    singles = s.lanes == 1 and s.vector not in s.cols and s.mode != "split"
    return frozenset() if again else frozenset(large if singles else s.aligned & large)
