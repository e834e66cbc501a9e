"""`torch.compile(model, backend="fusewright")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition
from torch.fx import GraphModule

from .compile import compile_fx
from .core.options import Options, current, from_mapping, using
from .debug import record
from .trace import decompositions as decomp
from .trace import eager_random
from .trace import random as rnd
from .trace.aliases import drop_detached
from .trace.capture import aot_settings
from .trace.lean import Parts
from .trace.lowering import check_operators
from .trace.partition import recomputing

# What the partitioner may compute again besides what torch lists: our operators, and those that we fuse.
_RECOMPUTED = frozenset({rnd.RANDOM.overloadpacket, *decomp.CHEAP})


def partition(joint: GraphModule, inputs: Any, **kwargs: Any) -> tuple[GraphModule, GraphModule]:
    """Min-cut rematerialisation, after random draws have become pure functions that it may recompute."""
    _replace_random(joint, current().rng)
    drop_detached(joint)
    if not current().recompute:
        return default_partition(joint, inputs, **kwargs)
    with recomputing(_RECOMPUTED):
        return min_cut_rematerialization_partition(joint, inputs, **kwargs)


@cache
def _decompositions(rng: str) -> dict[Any, Callable[..., Any]]:
    return {**decomp.table(), **(rnd if rng == "philox" else eager_random).decompositions()}


def _replace_random(gm: GraphModule, rng: str) -> None:
    """Make random draws pure functions of what is drawn once."""
    (rnd if rng == "philox" else eager_random).replace_random(gm)


def _compiler(kind: str, opts: Options) -> Callable[[GraphModule, Sequence[Any]], Any]:
    recording = record.current()  # a backward pass is compiled later, perhaps on another thread

    def compiler(gm: GraphModule, example_inputs: Sequence[Any]) -> Any:
        with using(opts), record.using(recording):
            if kind == "inference":
                _replace_random(gm, opts.rng)
            return compile_fx(gm, kind)

    return compiler


def fusewright(gm: GraphModule, example_inputs: Sequence[Any], **kwargs: Any) -> Any:
    """The backend: called by torch.compile with a traced graph.

    `options` given to `torch.compile(..., options={...})` are Fusewright's options by name.
    """
    given = kwargs.pop("options", None) or {}
    opts = from_mapping(given) if given else current()
    check_operators(opts.disable)
    parts = Parts()
    with using(opts), aot_settings():
        whole = aot_autograd(
            fw_compiler=parts.keep("forward", _compiler("forward", opts)),
            bw_compiler=parts.keep("backward", _compiler("backward", opts)),
            inference_compiler=parts.keep("inference", _compiler("inference", opts)),
            partition_fn=partition,
            decompositions=_decompositions(opts.rng),
            keep_inference_input_mutations=True,
        )(gm, example_inputs)
        return parts.callable(whole, example_inputs, "fusewright")


__all__ = ["fusewright"]
