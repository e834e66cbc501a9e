"""Functions of AOTAutograd that do something else in threads that trace for us.

Where sizes are symbols, AOTAutograd takes incoming gradients to be contiguous or channels-last, whatever the results
are. Eager's operators give them the order in memory that the results have, and gradients of inputs follow what they
are computed from. So here gradients are traced in the order of the results (`gradients_like_results`); one that comes
in another order after all is copied by the plan that reads it. Where elements of a result share memory (`unfold`),
torch has gradients copied into memory that is shared likewise, which leaves one of them: there they are contiguous.

Operators with a float that is computed from sizes are rewritten by torch to operators of tensors that compute the
float, in the kernel and for each element. For traces with floats of the host that is left out (`floats_of_the_host`).
Where it is done, Dynamo also traces once more, without those of its inputs that are floats and have become constants.
It is told so of every float64 tensor of no dimensions, too, and then drops what writes to that tensor. Ours does not
tell (`writes_to_scalars_stay`).

AOTAutograd makes a dozen empty tensors before and after each trace, in which the state of random generators would be
kept if random operators were made functional by torch; that takes 10 to 20 ms, and they are not (`no_random_state`).
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._decomp.decompositions_for_rng import PhiloxStateTracker
from torch._dynamo.source import CallMethodItemSource
from torch._dynamo.symbolic_convert import TensorifyState
from torch._functorch import config as functorch_config
from torch._functorch._aot_autograd import collect_metadata_analysis, graph_compile
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

_lock = threading.Lock()


class Replaced:
    """The function or method `name` of a module or class. In threads inside `here` it is `ours`, of torch's own and
    arguments."""

    def __init__(self, module: Any, name: str, ours: Callable[..., Any]):
        self.module, self.name, self.ours = module, name, ours
        self.plain: Any = getattr(module, name, None)
        self.threads: list[int] = []

    @contextmanager
    def here(self) -> Iterator[None]:
        me = threading.get_ident()
        with _lock:
            if not self.threads and self.plain is not None:
                setattr(self.module, self.name, lambda *args, **kwargs: self.call(*args, **kwargs))
            self.threads.append(me)
        try:
            yield
        finally:
            with _lock:
                self.threads.remove(me)
                if not self.threads and self.plain is not None:
                    setattr(self.module, self.name, self.plain)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() in self.threads:
            return self.ours(self.plain, *args, **kwargs)
        return self.plain(*args, **kwargs)


def _gradient_like(plain: Callable[[Any], Any], x: Any) -> Any:
    """torch's function: (the gradient of a result `x` as it is traced, what its runtime makes of real ones, ...)."""
    if not isinstance(x, torch.Tensor) or is_traceable_wrapper_subclass(x):
        return plain(x)
    if not _in_order(x, operator.ge):
        x = x.contiguous()
    out = plain(x)
    return (x.detach(), *out[1:]) if _in_order(x, operator.eq) else out


def _in_order(x: torch.Tensor, holds: Callable[[Any, Any], Any]) -> bool:
    """Whether there is an order of dimensions in which each stride is (`eq`) what the ones before it span, so that `x`
    is dense, or at least that (`ge`), so that no two elements share memory; as far as is known without assuming
    anything of sizes."""
    spanned: Any = 1
    left = {d for d in range(x.dim()) if not statically_known_true(x.shape[d] == 1)}
    while left:
        found = [d for d in left if statically_known_true(holds(x.stride(d), spanned))]
        least = (d for d in found if all(statically_known_true(x.stride(d) <= x.stride(e)) for e in left))
        d = next((d for d in found if statically_known_true(x.stride(d) == spanned)), next(least, None))
        if d is None:
            return False
        left.remove(d)
        spanned = x.stride(d) * x.shape[d]
    return True


def _reset(plain: Callable[[], None]) -> None:
    """torch's function makes the states anew."""
    if functorch_config.functionalize_rng_ops:
        plain()


class _Local(threading.local):
    host_floats = False


_local = _Local()


def _tensorify(plain: Callable[..., None], gm: Any, env: Any, mode: Any) -> None:
    """torch's function rewrites operators with floats, and notes the floats that have become constants."""
    if _local.host_floats:
        return
    sources = env.var_to_sources
    own = {
        str(s) for s in env.backed_var_to_val if any(isinstance(x, CallMethodItemSource) for x in sources.get(s, ()))
    }
    own -= TensorifyState.force_specializations
    TensorifyState.force_specializations |= own  # as if they had been noted before
    try:
        plain(gm, env, mode)
    finally:
        TensorifyState.force_specializations -= own


@contextmanager
def floats_of_the_host() -> Iterator[None]:
    """Leave operators with floats as they are. Inside `writes_to_scalars_stay`."""
    before, _local.host_floats = _local.host_floats, True
    try:
        yield
    finally:
        _local.host_floats = before


_gradients = Replaced(collect_metadata_analysis, "coerce_tangent_and_suggest_memory_format", _gradient_like)
_floats = Replaced(graph_compile, "tensorify_python_scalars", _tensorify)
_states = Replaced(PhiloxStateTracker, "reset", _reset)
gradients_like_results, writes_to_scalars_stay, no_random_state = _gradients.here, _floats.here, _states.here

__all__ = ["Replaced", "floats_of_the_host", "gradients_like_results", "no_random_state", "writes_to_scalars_stay"]
