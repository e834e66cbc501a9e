"""Plans run from CUDA graphs (option `cuda_graphs`): what the device does is recorded once and then replayed.

A call is looked up by its sizes, layouts and stream (an `Entry`). The first calls run plainly and are watched: where
arguments are, which results somebody still sees at the next call, how long the host and the device take. Then the plan
is recorded (`replay.py`) and the first replays are timed as well; what takes longer than the plain plan is given up.

A replay uses addresses, so it is only run when all operands are where they were and when nobody sees its earlier
results any more; else another recording of the same plan is, or the plan runs plainly. A recording is made when the
present places of the operands have come up before, so that one which does not last is not made. Everything is decided
per call from what is true then: there is nothing that callers must promise.
"""

from __future__ import annotations

import itertools
import statistics
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from ..core.counters import count
from ..core.errors import Refusal
from ..core.log import LOG
from ..core.options import current
from ..core.warn import warn
from . import internals
from .recordable import Facts, facts, watched
from .recorder import Recorder, recorder_for
from .replay import Operands, Replay, _storage
from .steps import no_memory

if TYPE_CHECKING:
    from .plan import Plan

WARM = 6  # plain calls before recording; of the last of them, PLAIN are timed
PLAIN = 4
TIMED = 4  # replays that are timed, after the first two
AGAIN = 2  # calls with operands at the same places before there is a recording for these
LATELY = 4  # calls in which an operand that moves more than once is restless
PLACES = 4  # recordings for the same sizes: operands at other places, results kept
KEPT = 2  # of those, for operands at the same places, whose results are kept for more than a call
SIZES = 8  # sizes with recordings; the least recently used are dropped
SEEN = 64  # sizes that something is known of
TRIES = 12  # recordings of the same sizes in all
LIMIT = 64  # recordings of a plan in all
PATIENCE = 64  # plain calls in a row after which the same sizes are given up
SLOWER = 1.03  # of the plain plan's time: more is not noise
COPIED = 64 << 20  # bytes of arguments that are copied at most
BANDWIDTH = 1e11  # bytes per second of copies that a plan's host time pays for: a tenth of it at 1 TB/s
SMALL, FEW = 64 << 10, 32  # bytes of a result that is copied if it is kept, and how many are at most
SETTLED = 3 * WARM  # plain calls after which operands that still move will move on
TOGETHER = 8  # operands that move at the same time, above which it is a change of places and not restlessness

Boxed = Callable[[list[Any]], list[Any]]
_clock = itertools.count(1)
_warned: set[str] = set()
_all: weakref.WeakSet[Graphs] = weakref.WeakSet()


def begin(plan: Plan, plain: Boxed) -> Boxed:
    """What to call in place of `plain`, the plan's function; `plan.graphs` then says how it runs."""
    groups = [g.gpu for g in plan.groups if g.gpu is not None]
    plan.graphs = graphs_of(plan.name, plain, facts(plan), groups, watched(plan))
    return plan.graphs.call


def graphs_of(
    name: str, plain: Boxed, found: Facts | str, groups: Sequence[Any], watched: bool = False
) -> Graphs | Unrecorded:
    """How a plan runs from now on. `found`: its facts, or why it is not recorded; `groups`: see `Graphs`."""
    recorder = None
    if not isinstance(found, str):
        recorder = recorder_for(found.device)
        if recorder is None:
            found = "it does not run on a GPU"
    if isinstance(found, str) or recorder is None or watched:
        unrecorded = Unrecorded(name, plain, "" if not isinstance(found, str) else found)
        LOG.info("%s: CUDA graph: %s", name, unrecorded.status())
        return unrecorded
    graphs = Graphs(name, plain, recorder, found, groups)
    _all.add(graphs)
    return graphs


def status() -> dict[str, str]:
    """How each plan that may run from CUDA graphs does run, by name: for people."""
    return {g.name: g.status() for g in sorted(_all, key=lambda g: g.name)}


class Unrecorded:
    """A plan that is not recorded. `call` runs it; `why`: the reason; "" while its kernels are watched one by one."""

    def __init__(self, name: str, call: Boxed, why: str):
        self.name, self.call, self.why = name, call, why

    def status(self) -> str:
        if self.why:
            return f"not recorded: {self.why}"
        return (
            f"recorded after {WARM} calls with the same sizes (but not where kernels are looked at one by one, as by "
            "`explain`, profiles, checks and dumps)"
        )


class Entry:
    """What is known of calls with the same sizes, layouts and stream.

    `window`: where the operands of the latest plain calls were; `restless`: operands that are not worth a recording for
    each place; `last`: results of the previous plain call, weakly; `kept`: results to be copied; `plain`, `timed`:
    (host's seconds, begin, end) of calls; `ready`: replays are neither timed nor doubted any more; `closed`: why there
    are no replays, for good.
    """

    def __init__(self) -> None:
        self.calls = self.tries = self.misses = self.used = 0
        self.threads: set[int] = set()
        self.window: list[tuple[int, ...]] = []
        self.restless: set[int] = set()
        self.last: list[tuple[StorageWeakRef, int] | None] = []
        self.kept: set[int] = set()
        self.replays: list[Replay] = []
        self.plain: list[tuple[float, Any, Any]] = []
        self.timed: list[tuple[float, Any, Any]] = []
        self.ready = False
        self.closed = self.note = ""

    def close(self, why: str) -> None:
        """Run plainly from now on."""
        count("cuda_graphs_dropped", len(self.replays))
        self.replays, self.window, self.last, self.plain, self.timed = [], [], [], [], []
        self.ready, self.closed = False, why

    def status(self) -> str:
        if self.closed:
            return f"not recorded: {self.closed}"
        if not self.replays:
            return f"not recorded so far: {self.note or f'{self.calls} calls'}"
        ran = sum(r.replays for r in self.replays)
        copies = max(len(r.copies) for r in self.replays)
        moved = f", {copies} arguments are copied" if copies else ""
        return f"{len(self.replays)} recorded, {ran} replays{moved}" + (f"; {self.note}" if self.note else "")


class Graphs:
    """The recordings of one plan. `call` is what runs it; `groups` have their launches in a `memo`."""

    def __init__(self, name: str, plain: Boxed, recorder: Recorder, about: Facts, groups: Sequence[Any]):
        self.name, self.plain, self.recorder, self.about, self.groups = name, plain, recorder, about, groups
        self.fallback = current().fallback
        self.entries: dict[Any, Entry] = {}
        self.lock = threading.Lock()
        self.tries = 0
        self.call = self._write()

    def _write(self) -> Boxed:
        """The function that finds the entry of a call."""
        scope: dict[str, Any] = {
            "_state": self.recorder.state,
            "_capturing": self.recorder.capturing,
            "_inference": torch.is_inference_mode_enabled,
            "_plain": self.plain,
            "_entries": self.entries,
            "_run": self.run,
            "_slow": self.slow,
            "_no_memory": no_memory,
            **{f"_c{k}": c for k, c in enumerate(self.about.constants)},
        }
        lines = []
        if self.about.device.type == "cuda":
            index = self.about.device.index
            scope.update(_device=internals.current_cuda, _there=internals.call_on)
            lines.append(f"if _device() != {index}: return _there({index}, call, args)")
        operands = [f"args[{k}]" for k in self.about.tensors] + [f"_c{k}" for k in range(len(self.about.constants))]
        lines += [
            "if _capturing(): return _plain(args)",
            f"key = ({''.join(f'{s}, ' for s in ('_state()', '_inference()', *self.about.key))})",
            "e = _entries.get(key)",
            "if e is not None and e.closed: return _plain(args)",
            "try:",
            f"    if e is None or not e.ready: return _slow(key, args, [{', '.join(operands)}])",
            f"    return _run(e, key, args, [{', '.join(operands)}])",
            "except RuntimeError as x:",  # batches of gradients are nowhere in memory: the plan knows what to do
            "    if not _no_memory(x) or not args: raise",
            "return _plain(args)",
        ]
        source = "def call(args):\n" + "\n".join(f"    {s}" for s in lines)
        exec(compile(source, f"<fusewright graphs of {self.name}>", "exec"), scope)
        call: Boxed = scope["call"]
        return call

    # --- calls ---
    def run(self, e: Entry, key: Any, args: list[Any], operands: Operands) -> list[Any]:
        """A call for which there are recordings that have proved themselves."""
        with self.lock:
            for r in e.replays:
                if r.fits(operands) and r.free():
                    e.used = r.used = next(_clock)
                    e.misses = 0
                    return self.finish(r, args, operands)
        return self.slow(key, args, operands)

    def finish(self, r: Replay, args: list[Any], operands: Operands) -> list[Any]:
        written = [operands[k] for k in self.about.written]
        out = r(args, operands)
        for t in written:
            if not t.is_inference():
                torch.autograd.graph.increment_version(t)
        return out

    def slow(self, key: Any, args: list[Any], operands: Operands) -> list[Any]:
        """Any other call: replayed and timed, recorded, or run plainly and watched."""
        with self.lock:
            e = self.entry(key)
            e.used = next(_clock)
            if not e.closed:
                r = next((r for r in e.replays if r.fits(operands) and r.free()), None)
                if r is not None:
                    r.used, e.misses = e.used, 0
                    return self.trial(e, r, args, operands)
                self.learn(e, operands)
                r = self.record(e, args, operands)
                if r is not None:
                    return self.finish(r, args, operands)
        del operands  # what the plan drops early is freed early
        return self.plain(args) if e.closed else self.watch(e, args)

    def entry(self, key: Any) -> Entry:
        e = self.entries.get(key)
        if e is None:
            if len(self.entries) >= SEEN:
                oldest = min(self.entries, key=lambda k: self.entries[k].used)
                self.entries.pop(oldest).close("")
            e = self.entries[key] = Entry()
            if self.about.draws and not self.recorder.may_draw():
                e.close("it draws random numbers, and graphs that do run on another stream")
            elif self.tries >= LIMIT:
                e.close(f"{LIMIT} graphs of this plan have been recorded: its sizes keep changing")
        return e

    def watch(self, e: Entry, args: list[Any]) -> list[Any]:
        """Run plainly; note the time, and the results without keeping them."""
        e.calls += 1
        e.threads.add(threading.get_ident())
        if e.replays or e.calls > PATIENCE:
            return self.plain(args)
        given = {_storage(t) for t in args if isinstance(t, torch.Tensor)}
        begin, began = self.recorder.mark(), time.perf_counter()
        out = self.plain(args)
        e.plain = [*e.plain, (time.perf_counter() - began, begin, self.recorder.mark())][-PLAIN:]
        fresh = (isinstance(t, torch.Tensor) and _storage(t) not in given for t in out)
        e.last = [_weak(t) if new else None for t, new in zip(out, fresh, strict=True)]
        return out

    def trial(self, e: Entry, r: Replay, args: list[Any], operands: Operands) -> list[Any]:
        """Replay, note the time, and decide once there are enough."""
        begin, began = self.recorder.mark(), time.perf_counter()
        out = self.finish(r, args, operands)
        sample = (time.perf_counter() - began, begin, self.recorder.mark())
        if r.replays > 2:  # a graph is moved to the device by its first run
            e.timed = [*e.timed, sample][-2 * TIMED :]
        if len(e.timed) >= TIMED:
            self.judge(e)
        return out

    def judge(self, e: Entry) -> None:
        """Keep what is faster, by the longer one of the host's time and the device's: that is what is waited for."""
        graph, plain = self.cost(e.timed), self.cost(e.plain)
        if graph is None or plain is None:  # the device is behind
            return
        text = f"{1e6 * graph:.0f} µs from a graph, {1e6 * plain:.0f} µs without"
        if graph > SLOWER * plain:
            e.close(f"slower: {text}")
        else:
            e.ready, e.note = True, text
        LOG.info("%s: CUDA graph: %s", self.name, e.status())

    def cost(self, samples: Sequence[tuple[float, Any, Any]]) -> float | None:
        """Seconds of a call as far as is known; None while that is too little."""
        device = [t for _, begin, end in samples if (t := self.recorder.between(begin, end)) is not None]
        if len(device) < 2:
            return None
        return max(statistics.median(host for host, _, _ in samples), statistics.median(device))

    # --- what to record ---
    def learn(self, e: Entry, operands: Operands) -> None:
        """Take note of a call that cannot be replayed, before it runs."""
        if e.last:
            e.kept = _few(k for k, x in enumerate(e.last) if x is not None and not x[0].expired() and x[1] <= SMALL)
            e.last = []
        unread = self.about.unread
        at = tuple(0 if k in unread else t.data_ptr() for k, t in enumerate(operands))
        e.window = [*e.window, at][-WARM:]
        if not e.replays:
            return
        e.misses += 1
        for r in e.replays:
            moved = r.moved(operands)
            if not moved:
                e.kept |= _few(r.held(SMALL))
            elif len(moved) <= TOGETHER and self.worth_copying(e, moved, operands):
                e.restless.update(moved)
        if e.misses >= PATIENCE:
            fits = any(r.fits(operands) for r in e.replays)
            e.close("its results are kept for many calls" if fits else "its arguments keep moving")

    def worth_copying(self, e: Entry, which: Sequence[int], operands: Operands) -> bool:
        """Whether copying these operands at every call costs little next to the plain plan's time on the host."""
        if any(k in self.about.written or k >= len(self.about.tensors) for k in which):
            return False  # what is written has to be in its place, and the plan's code holds its constants
        nbytes = sum(operands[k].numel() * operands[k].itemsize for k in which)
        host = statistics.median(t for t, _, _ in e.plain) if e.plain else 0.0
        return nbytes <= min(COPIED, BANDWIDTH * host)

    def wanted(self, e: Entry, operands: Operands) -> set[int] | None:
        """Which operands a recording made now should copy; None if it is not to be made."""
        if e.closed or e.calls < WARM or threading.get_ident() not in e.threads:
            return None
        if any(t.device != self.about.device for k, t in enumerate(operands) if k not in self.about.unread):
            self.wait(e, "an argument is on the CPU, where the host may look at it")
            return None
        if self.unfinished() and e.calls < PATIENCE:
            self.wait(e, "better kernels are being made")
            return None
        now = e.window[-1]
        turns = [sum(a != b for a, b in itertools.pairwise(p)) for p in zip(*e.window[-LATELY:], strict=True)]
        fits = any(r.fits(operands) for r in e.replays)
        moving = {k for k, n in enumerate(turns) if n > 1}
        if len(moving) > TOGETHER and e.calls < SETTLED:
            return None
        copies = e.restless | moving
        if not self.worth_copying(e, sorted(copies), operands):
            # Several large ones may be at a few places in turns, as what another plan's recordings leave behind is.
            copies = set(e.restless)
            stay = [k for k in range(len(now)) if k not in copies]
            if sum(all(p[k] == now[k] for k in stay) for p in e.window) < AGAIN:
                self.wait(e, "its arguments are elsewhere at every call")
                return None
        elif not fits and (len(e.window) <= AGAIN or any(n == 1 for k, n in enumerate(turns) if k not in copies)):
            return None  # what has moved once may stay
        alike = sum(r.fits(operands) and set(r.copies) >= copies and r.copied >= e.kept for r in e.replays)
        return None if alike >= KEPT else copies

    def wait(self, e: Entry, why: str) -> None:
        """Record nothing for now; for good, if there has been nothing else for long."""
        e.note = why
        if e.calls >= PATIENCE and not e.replays:
            e.close(why)

    def unfinished(self) -> bool:
        """Whether kernels are stand-ins for better ones that will be there soon."""
        return any(getattr(x, "waiting", False) for g in self.groups for x in list(g.memo.values()))

    def record(self, e: Entry, args: list[Any], operands: Operands) -> Replay | None:
        """Record the plan for this call if that is wanted, and make room for it."""
        copies = self.wanted(e, operands)
        if copies is None:
            return None
        if e.tries >= TRIES or self.tries >= LIMIT:
            if not e.replays:
                e.close(f"recorded {e.tries} times: its arguments and results keep changing their places")
            return None
        e.tries += 1
        self.tries += 1
        try:
            made = Replay(self.recorder, self.plain, self.about, args, operands, copies, e.kept)
        except Refusal as r:
            e.close(r.detail)
            return None
        except Exception as x:
            self.failed(e, x)
            return None
        count("cuda_graphs_captured")
        others = sorted((r for r in e.replays if not made.replaces(r)), key=lambda r: r.used)[-(PLACES - 1) :]
        count("cuda_graphs_dropped", len(e.replays) - len(others))
        e.replays, e.timed, e.ready, e.misses, e.note = [made, *others], [], False, 0, ""
        made.used = e.used
        self.make_room()
        LOG.info("%s: CUDA graph: %s", self.name, e.status())
        return made

    def failed(self, e: Entry, x: Exception) -> None:
        if not self.fallback:
            raise x
        cause = f"{type(x).__name__}: {str(x).strip().splitlines()[0] if str(x).strip() else ''}"
        e.close(f"recording failed ({cause})")
        if cause not in _warned:
            _warned.add(cause)
            message = f"Fusewright could not record {self.name} as a CUDA graph ({cause}); it runs without one."
            LOG.warning(message)
            warn(message)

    def make_room(self) -> None:
        """Drop the recordings of the sizes that were not used for longest."""
        full = sorted((e for e in self.entries.values() if e.replays), key=lambda e: e.used)
        for e in full[:-SIZES]:
            count("cuda_graphs_dropped", len(e.replays))
            e.replays, e.window, e.ready, e.calls, e.note = [], [], False, 0, "dropped for other sizes"

    # --- for people ---
    def status(self) -> str:
        found = [e.status() for e in list(self.entries.values()) if e.calls or e.closed]
        return "; ".join(dict.fromkeys(found)) or "not called so far"


def _few(results: Iterable[int]) -> set[int]:
    """These results, if they are few: copying many costs too much, and copying some of them frees nothing."""
    found = set(results)
    return found if len(found) <= FEW else set()


def _weak(t: torch.Tensor) -> tuple[StorageWeakRef, int]:
    """(its storage, without keeping it alive; its bytes)."""
    return StorageWeakRef(t.untyped_storage()), t.numel() * t.itemsize


__all__ = ["Graphs", "Unrecorded", "begin", "graphs_of", "status"]
