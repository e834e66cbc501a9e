"""What happens when our compiler fails: the failure is raised, or PyTorch runs what could not be compiled.

The option `fallback` decides. There is one warning for each cause, and the counter `fallbacks` has them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from torch.fx import GraphModule

from .core.counters import count
from .core.errors import CompilerError, FusewrightError, UserError
from .core.log import LOG
from .core.options import Options
from .core.warn import warn
from .debug import record

INSTEAD = "it runs through PyTorch instead"

_warned: set[str] = set()


def as_compiler_error(e: Exception, stage: str, where: str = "") -> FusewrightError:
    """`e` itself if it is a CompilerError (its stage and line completed) or the user's mistake, else a CompilerError
    that quotes it."""
    if isinstance(e, UserError):
        return e
    if isinstance(e, CompilerError):
        e.stage, e.where = e.stage or stage, e.where or where
        return e
    return CompilerError(f"{type(e).__name__}: {e}", stage, where)


def fail(e: Exception, stage: str, where: str = "") -> NoReturn:
    """Raise what `as_compiler_error` makes of `e`, which must not become its own cause."""
    error = as_compiler_error(e, stage, where)
    if error is e:
        raise error
    raise error from e


def raise_or_fall_back(e: Exception, stage: str, what: str, options: Options, more: Callable[[], str] = str) -> None:
    """`fall_back`; where option `fallback` is off, raise the failure of `stage` instead."""
    if not options.fallback:
        fail(e, stage)
    fall_back(e, what, more)


def fall_back(e: Exception, what: str, more: Callable[[], str] = str, instead: str = INSTEAD) -> None:
    """Count that `what` runs through PyTorch because of `e`, and warn of it, once for each cause: what could not be
    compiled, why, what runs instead, how to see the failure, and `more`."""
    count("fallbacks")
    cause = f"{type(e).__name__}: {e}"
    if cause in _warned:
        return
    _warned.add(cause)
    how = f"Set FUSEWRIGHT_DISABLE=fallback to raise the failure. {more()}".rstrip()
    _say(f"Fusewright could not compile {what} ({cause}); {instead}. {how}")


def traced_enough(what: str, times: int) -> None:
    """Warn, once for each, that a fused function has so many traces that other arguments run it unfused."""
    if what in _warned:
        return
    _warned.add(what)
    _say(
        f"The fused function {what} has been traced {times} times: for arguments that want another trace it runs "
        "through PyTorch from now on. Numbers that change in every call want none if they are tensors."
    )


def _say(message: str) -> None:
    LOG.warning(message)
    warn(message)


def whole_graph(
    e: Exception, stage: str, gm: GraphModule, name: str, options: Options, more: Callable[[], str] = str
) -> Callable[..., Any]:
    """What runs a graph as it is, after `stage` has failed on it with `e`; raises that where option `fallback` is off.

    `name`: the graph's in records.
    """
    raise_or_fall_back(e, stage, "a whole graph", options, more)
    record.failed(name, f"{type(e).__name__}: {e}")
    run: Callable[..., Any] = gm.forward
    return run
