"""Who runs an operation: a registry with priorities, and what becomes of a claim.

Executors are asked in the order of their priorities, the highest first: people's, by default ahead of "kernels" (what
this compiler generates, priority 0), and "torch", which takes whatever is left. An executor claims an operator of
PyTorch (`fx.py` asks, and the decompositions that would take it apart) or a pattern of primitives
(`claim_patterns.py`), if its checker, which sees types and shapes, says so (`claims.py`). Everything happens while a
graph is compiled: what is registered later is for graphs that are compiled later.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..core.options import Options
from ..core.switches import names_of
from ..run.claimed import tell

KERNELS, TORCH = "kernels", "torch"  # built in
PRIORITIES = {KERNELS: 0, TORCH: -(1 << 30)}

_serials = itertools.count()
_lock = threading.Lock()
_registered: tuple[Executor, ...] = ()
_version = 0


@dataclass(frozen=True, slots=True, eq=False)
class Executor:
    """One registration: `fn` runs `what`, an operator overload or a pattern, on devices of these types ((): all).

    `reference`: "module:name", if `fn` was given as that.
    """

    name: str
    what: Any
    fn: Callable[..., Any]
    checker: Callable[..., Any] | None
    priority: int
    devices: tuple[str, ...]
    reference: str = ""
    serial: int = field(default_factory=lambda: next(_serials))

    @property
    def is_pattern(self) -> bool:
        return hasattr(self.what, "find")

    @property
    def target(self) -> str:
        return self.what.name if self.is_pattern else str(self.what)


def add(e: Executor) -> None:
    global _registered, _version
    with _lock:
        _registered = (*_registered, e)
        _version += 1


def remove(gone: Iterable[Executor]) -> int:
    """How many of them were registered."""
    global _registered, _version
    with _lock:
        before = len(_registered)
        wanted = set(gone)
        _registered = tuple(e for e in _registered if e not in wanted)
        _version += 1
        return before - len(_registered)


def registered() -> tuple[Executor, ...]:
    return _registered


def version() -> int:
    """A number that changes with every registration."""
    return _version


# --- the order in one compilation ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Order:
    """The executors that a graph is compiled with: those ahead of the kernels, then those behind them.

    `kernels`: whether there are kernels; `fallback`: the option.
    """

    ahead: tuple[Executor, ...] = ()
    behind: tuple[Executor, ...] = ()
    kernels: bool = True
    fallback: bool = True

    def __bool__(self) -> bool:
        return bool(self.ahead or self.behind or not self.kernels)

    def of(self, op: Any, ahead: bool) -> list[Executor]:
        return [e for e in (self.ahead if ahead else self.behind) if e.what is op]

    def patterns(self) -> list[Executor]:
        return [e for e in self.ahead if e.is_pattern]


NO_EXECUTORS = Order()


def order(options: Options) -> Order:
    """The executors in force, as the options `executors` and `disable` have them."""
    off = names_of(options.disable, "executor")
    if not _registered and not options.executors and not off:
        return NO_EXECUTORS
    places: dict[str, float] = {}
    if options.executors:
        places = {name: -k for k, name in enumerate(options.executors)}
        known = {e.name for e in _registered} | set(PRIORITIES)
        for name in options.executors:
            if name not in known:
                tell(f"option 'executors': no executor '{name}' is registered")
    rank = lambda e: (-places.get(e.name, 0), -e.priority, e.serial) if places else (-e.priority, e.serial)
    found = sorted((e for e in _registered if e.name not in off and (not places or e.name in places)), key=rank)
    kernels = KERNELS not in off and (not places or KERNELS in places)
    here = places.get(KERNELS, -float("inf"))
    first = lambda e: places[e.name] > here if places else e.priority > PRIORITIES[KERNELS]
    ahead = tuple(e for e in found if not kernels or first(e))
    return Order(ahead, tuple(e for e in found if e not in ahead), kernels, options.fallback)
