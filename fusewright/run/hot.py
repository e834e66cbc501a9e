"""Kernels for one set of sizes, where they are faster than the general one (option `specialize`).

A GPU kernel takes its sizes as arguments. There may be a second one, of the same schedule, in which they are numbers
(`loop/constants.py`). With "hot" both are compiled at the same time for the sizes that a program is first called with,
and for all sizes of a program that was traced for one set of them; what is there first is launched first, and then the
special one unless its registers let clearly fewer blocks run at once (`first.py`): then they are timed soon. For sizes
that come later nobody waits: when they have kept the device busy for long, it is compiled in the background and then
timed beside the general one, on the tensors of a call (`timed.py`); it stays only if it is clearly faster. With
"always" it is compiled before the first launch, and nothing is timed; with "never" there is none.

Total time is what counts, so little is tried. A kernel that moves little is never looked at. A later one is looked at
when it has moved as much as takes longer than compiling it, which holds up what runs meanwhile. What came out is known
for all groups that run the same kernel, and for sizes to come: a kernel that did not gain a few times is left alone,
and none is made for more than a few sizes.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

from ..core.options import current
from ..loop.ir import Func
from ..loop.lower import Kernel
from .first import Soon
from .gpu import Found, GpuGroup, Prepared, key_of, sizes_of
from .special import adopted, asked, at_once, kind_of
from .specialize import worker
from .timed import Hot, traffic

SMALL = 4 << 20  # bytes of a launch that takes longer to begin than to run
STAKE = 1 << 40  # bytes that are moved before more is compiled: a quarter of a second's worth


def ahead(pool: Executor, group: GpuGroup, kernel: Kernel, numbers: list[int], moved: int) -> Future[Func] | None:
    """Have `pool` compile the special kernel that the first launches will want, if any.

    `moved`: bytes of the first one.
    """
    o = current()
    always = o.specialize == "always"
    if o.specialize == "never" or o.autotune or o.external_source is not None or (moved < SMALL and not always):
        return None
    kind = kind_of(group, key_of(kernel.func, group.driver))
    wanted = always or tuple(numbers) in kind.ahead or kind.wants(group)
    return asked(pool, kind, group, kernel, numbers) if wanted else None


def begin(group: GpuGroup, key: tuple[int, ...], found: Found, entry: Prepared) -> Any:
    """What takes the place of `entry`, the launch of a general kernel: itself, a special one's, a `Soon` or a `Hot`."""
    kernel, code, numbers = found
    how = group.options.specialize
    if how == "never" or group.options.external_source is not None:  # people edit general kernels
        return entry
    kind = kind_of(group, code.key)
    if how == "always":
        special = at_once(group, kind, found)
        kind.forget(numbers)
        return entry if special is None else adopted(group, key, special, entry)
    known, special = kind.find(numbers)
    if known:
        return entry if special is None else adopted(group, key, special, entry)
    moved = traffic(group, sizes_of(group.sizes_at(key)[0]))
    if kind.closed() or moved < SMALL:
        return entry
    if tuple(numbers) in kind.ahead or kind.wants(group):
        return Soon(group, key, found, entry, asked(worker(), kind, group, kernel, numbers))
    return Hot(group, key, found, entry, moved, STAKE)


__all__ = ["ahead", "begin"]
