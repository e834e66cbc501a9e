"""Check mode: every kernel's results compared with torch's, at every run (`FUSEWRIGHT_ENABLE=check`).

    with fusewright.options(check=True): ...                    # a warning for each group that deviates
    with fusewright.options(check=lambda fused, unfused, group: ...): ...

`precision.py` says what counts as a deviation. Its inputs are saved, with a repro file beside them; or all is handed to
the user's function. A program in check mode goes on whatever a check finds, and whatever happens in it; unless Python
is told to make errors of these warnings (`-W "error:Fusewright check"`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

from ..core.counters import count
from ..core.errors import FusewrightWarning, UserError
from ..core.log import LOG
from ..core.options import Options, current, using
from ..core.warn import warn
from ..run.claimed import Claimed
from ..run.plan import GroupPlan, Plan, Watch
from . import files, repro
from .precision import Deviation, compare
from .program import Program, of_group
from .record import user_lines


@dataclass(slots=True)
class CheckedGroup:
    """A group that deviates, as the user's function gets it.

    `lines`: the user's lines behind it; `operators`: what it computes; `inputs`: what its kernel read.
    """

    name: str
    hash: str
    lines: list[str]
    operators: tuple[str, ...]
    deviations: list[Deviation]
    inputs: list[torch.Tensor]
    program: Program
    options: Options

    @property
    def message(self) -> str:
        """What is wrong, in a few lines."""
        where = "; ".join(self.lines[:3]) or "an unknown line"
        found = "\n  ".join(map(str, self.deviations))
        return f"group {self.name} ({self.hash}) at {where} deviates from PyTorch by more than rounding:\n  {found}"

    def repro(self, path: str) -> None:
        """Write a repro file, with these inputs. Raises UserError."""
        with using(self.options):
            repro.repro(self, path, True)


class _Check:
    """The watch of one kernel."""

    def __init__(self, p: GroupPlan, plan: Plan):
        assert p.built is not None
        self.options = current()
        self.name, self.hash = p.name, p.built.hash
        self.lines = user_lines(plan.traced, p.group)
        self.outputs = [b.output for b in p.built.fusion.buffers]
        self.program = of_group(p.built, plan.traced, p.group)
        reads = [b.name for b in p.built.fusion.buffers if not b.output]
        self.windows = {k: p.built.windows[name][0] for k, name in enumerate(reads) if name in p.built.windows}
        self.lock = threading.Lock()
        self.told: set[str] = set()

    def __call__(
        self, kernel: Callable[..., Any], arguments: tuple[Any, ...], tensors: tuple[torch.Tensor, ...], sizes: Any
    ) -> Any:
        outs = [t for t, out in zip(tensors, self.outputs, strict=True) if out]
        written = {t.untyped_storage().data_ptr() for t in outs}
        inputs = [t for t, out in zip(tensors, self.outputs, strict=True) if not out]
        for k, start in self.windows.items():  # of seeds: the program reads the whole vector
            val = self.program.inputs[k].meta["val"]
            at = inputs[k].storage_offset() - start * inputs[k].stride(0)
            inputs[k] = inputs[k].as_strided((int(val.shape[0]),), inputs[k].stride(), at)
        inputs = [_copy(t) if t.untyped_storage().data_ptr() in written else t for t in inputs]
        failed = kernel(*arguments)
        if not failed:  # an index out of range: torch runs the group anyway
            try:
                self.check(outs, inputs, sizes)
            except FusewrightWarning:  # the user has made errors of warnings
                raise
            except Exception as e:
                self.say("check", f"group {self.name} could not be checked ({type(e).__name__}: {e})")
        return failed

    def check(self, outs: list[torch.Tensor], inputs: list[torch.Tensor], sizes: dict[str, int]) -> None:
        count("checks")
        run = lambda given: self.program.run(given, sizes)
        with torch.random.fork_rng(devices=[]):
            deviations = compare(outs, run, inputs, self.options.precision == "eager")
        if not deviations:
            return
        count("deviations")
        group = CheckedGroup(
            self.name, self.hash, self.lines, self.program.operators, deviations, inputs, self.program, self.options
        )
        if callable(self.options.check):
            self.hand_over(self.options.check, outs, run(inputs), group)
            return
        self.say("deviation", group.message, lambda: self.save(group))

    def hand_over(self, callback: Callable[..., Any], fused: list[Any], unfused: Sequence[Any], group: Any) -> None:
        try:
            callback(fused, list(unfused), group)
        except Exception as e:
            name = getattr(callback, "__name__", repr(callback))
            self.say(
                "callback", f"the function given as check, {name}, raised {type(e).__name__}: {e}; {group.message}"
            )

    def save(self, group: CheckedGroup) -> str:
        """Where a repro file with the inputs is, or why there is none, as the end of a message."""
        with using(self.options):
            folder = files.directory("check")
            try:
                path = files.place("check", f"{self.name}-{self.hash}.py")
                group.repro(str(path))
            except OSError as e:
                return f"\nIts inputs are not saved: {files.because(folder, e)}"
            except UserError as e:
                path.unlink(missing_ok=True)
                return f"\nIts inputs are not saved: {e}"
        return f"\n`fusewright run {path}` runs it on these inputs."

    def say(self, kind: str, message: str, more: Callable[[], str] = str) -> None:
        """One warning of each kind for a group; the rest goes to the log."""
        with self.lock:
            known = kind in self.told
            self.told.add(kind)
        if known:
            LOG.info(message)
            return
        message += more()
        LOG.warning(message)
        warn(f"Fusewright check: {message}")


def _copy(t: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides, for a tensor that the kernel may write to."""
    return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=t.device).copy_(t)


def of_claims(plan: Plan) -> None:
    """Have the calls of executors compared with what they stand for."""
    for n in plan.traced.nodes:
        if isinstance(n.target, Claimed):
            n.target.watch = _Claims()


class _Claims:
    """Compares the results of an executor with PyTorch's. Says once what deviates; the program goes on with them."""

    def __init__(self) -> None:
        self.options = current()
        self.told = False

    def __call__(self, c: Any, outs: Sequence[Any], args: Sequence[Any], kwargs: Any) -> None:
        count("checks")
        leaves, spec = tree_flatten((tuple(args), dict(kwargs)))
        at = [k for k, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        kept = [k for k, t in enumerate(outs) if isinstance(t, torch.Tensor)]

        def run(given: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            mine = list(leaves)
            for k, t in zip(at, given, strict=True):
                mine[k] = t
            args_, kwargs_ = tree_unflatten(mine, spec)
            results = c.original(*args_, **kwargs_)
            results = [results] if c.single else list(results)
            return [results[k] for k in kept]

        with torch.random.fork_rng(devices=[]):
            deviations = compare(
                [outs[k] for k in kept], run, [leaves[k] for k in at], self.options.precision == "eager"
            )
        if deviations and not self.told:
            self.told = True
            count("deviations")
            found = "\n  ".join(map(str, deviations))
            message = f"executor {c.executor}, for {c.what} at {c.where or 'an unknown line'}, deviates "
            message += f"from PyTorch by more than rounding:\n  {found}"
            LOG.warning(message)
            warn(f"Fusewright check: {message}")


def watch_for(p: GroupPlan, plan: Plan) -> Watch | None:
    """The check of a kernel, if the option asks for it. See `watch.py`."""
    if not current().check:
        return None
    try:
        return _Check(p, plan)
    except Exception as e:
        LOG.warning("group %s cannot be checked: %s", p.name, e)
        warn(f"Fusewright check: group {p.name} cannot be checked ({e})")
        return None
