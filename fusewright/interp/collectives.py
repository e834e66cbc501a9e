"""What the threads of a block combine together, in the order that `loop/ir.py` fixes.

x: [blocks, groups, positions, stride, lanes].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..loop.ir import WARP
from ..prims.table import MONOIDS


def treduce(x: np.ndarray, monoid: str) -> np.ndarray:
    combine, group = MONOIDS[monoid].numpy, x.shape[2]
    if group & (group - 1):
        total = x[:, :, :1]
        for k in range(1, group):
            total = combine(total, x[:, :, k : k + 1])
        return np.broadcast_to(total, x.shape)
    step = 1
    while step < group:
        x = combine(x, x[:, :, np.arange(group) ^ step])
        step *= 2
    return x


def tscan(x: np.ndarray, monoid: str, identity: Any) -> np.ndarray:
    """Of one lane: (what the positions before combine to, what all do)."""
    combine, (blocks, groups, group, stride, _) = MONOIDS[monoid].numpy, x.shape
    segment = min(group, max(WARP // stride, 1))
    x = x.reshape(blocks, groups, group // segment, segment, stride)
    step = 1
    while step < segment:
        x = np.concatenate([x[:, :, :, :step], combine(x[:, :, :, :-step], x[:, :, :, step:])], 3)
        step *= 2
    none = np.full_like(x[:, :, :, :1], identity)
    before = np.concatenate([none, x[:, :, :, :-1]], 3)
    base, bases = none[:, :, 0], []
    for k in range(group // segment):
        bases.append(base)
        base = combine(base, x[:, :, k, -1:])
    out = combine(np.stack(bases, 2), before)
    total = np.broadcast_to(base[:, :, None], out.shape)
    return np.stack([out, total], -1).reshape(blocks, groups, group, stride, 2)


def creduce(x: np.ndarray, monoid: str, fail: Callable[[str, int], NoReturn]) -> np.ndarray:
    """Of the blocks of a cluster. `fail` is told of a group's values that are not the same."""
    first = x[:, :, :1]
    bad = np.flatnonzero(((x != first) & ((x == x) | (first == first))).any(-1))
    if len(bad):
        fail("creduce of a value that differs from that of other threads of its group", int(bad[0]))
    total = x[:1]
    for k in range(1, len(x)):
        total = MONOIDS[monoid].numpy(total, x[k : k + 1])
    return np.broadcast_to(total, x.shape)


__all__ = ["creduce", "treduce", "tscan"]
