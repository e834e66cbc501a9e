"""`torch.compile(model, backend="fusewright")`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import TorchDynamoException, exceptions_allowed_to_be_fallback
from torch._functorch.partitioners import default_partition, min_cut_rematerialization_partition
from torch._subclasses import FakeTensor
from torch.fx import GraphModule

from .core.errors import UserError
from .core.lazy import lazy_import
from .core.modes import options_of
from .core.options import Options, current, from_mapping, using
from .debug import record
from .debug.dump import About, around, readable, show
from .fallback import whole_graph
from .pipeline import compile_fx
from .run.overlaps import ASKED
from .trace import decompositions as decomp
from .trace import executors, repeated
from .trace import random as rnd
from .trace.aliases import drop_detached
from .trace.complex_pairs import pair_complex
from .trace.convolutions import open_convolutions
from .trace.failures import Missing, check_selections
from .trace.guard_timing import skip_timing
from .trace.known_indices import follow_known_indices
from .trace.lean import Parts, aot_settings, tried_first, with_tangents
from .trace.lowering import check_operators
from .trace.max_pooling import open_max_pooling
from .trace.padding import pad_products
from .trace.partition import copy_written, keep_compared, mark_private, recomputing, separate_results
from .trace.small_products import open_small_products
from .trace.written_views import addresses, open_diagonals, where_it_holds

if TYPE_CHECKING:
    from .trace import claims, eager_random
else:
    claims = lazy_import("fusewright.trace.claims")
    eager_random = lazy_import("fusewright.trace.eager_random")

# What the partitioner may compute again besides what torch lists: our operators, and those that we fuse.
_RECOMPUTED = frozenset({rnd.RANDOM.overloadpacket, *decomp.CHEAP})

# What Dynamo deals with itself: it traces once more, or breaks the graph.
_OF_DYNAMO = (TorchDynamoException, *exceptions_allowed_to_be_fallback)

_joints = itertools.count()


def partition(joint: GraphModule, inputs: Any, **kwargs: Any) -> tuple[GraphModule, GraphModule]:
    """Min-cut rematerialisation, after random draws have become pure functions that it may recompute."""
    o, about, text = current(), About(f"joint{next(_joints)}"), partial(readable, joint)
    show("joint", about, text)
    with around("random", about, text):
        _replace_random(o.rng, joint)
    if o.detach:
        with around("detach", about, text):
            drop_detached(joint)
    for name, rewrite in rewrites(o).items():
        with around(name, about, text):
            rewrite(joint)
    if o.recompute:
        keep_compared(joint, _RECOMPUTED)
        with recomputing(_RECOMPUTED):
            passes = min_cut_rematerialization_partition(joint, inputs, **kwargs)
    else:
        passes = default_partition(joint, inputs, **kwargs)
    separate_results(passes[0], kwargs["num_fwd_outputs"])
    copy_written(*passes, kwargs["num_fwd_outputs"])
    mark_private(*passes, kwargs["num_fwd_outputs"])
    return passes


def rewrites(o: Options) -> dict[str, Callable[[GraphModule], None]]:
    """The passes over operations that are dear as they stand, by stage."""
    passes: dict[str, Callable[[GraphModule], None]] = {}
    if o.known_indices:
        passes["known_indices"] = follow_known_indices
    if o.complex_pairs and o.precision != "eager":  # whose sums of products may be rounded otherwise
        passes["complex_pairs"] = pair_complex
    if o.small_products:
        passes["small_products"] = partial(open_small_products, exact=o.precision == "eager")
    if o.max_pooling:
        passes["max_pooling"] = open_max_pooling
    if o.padding and o.precision != "eager":  # wider products may add up in another order than eager's
        passes["padding"] = pad_products
    if o.convolutions:
        passes["convolutions"] = open_convolutions
    return passes


@cache
def _decompositions(rng: str, exact_rounding: bool = False) -> dict[Any, Callable[..., Any]]:
    return {**decomp.table(exact_rounding), **(rnd if rng == "philox" else eager_random).decompositions()}


def decompositions(o: Options) -> dict[Any, Callable[..., Any]]:
    """The decompositions for AOTAutograd; operators that an executor claims stay whole."""
    table, order = _decompositions(o.rng, o.precision == "eager"), executors.order(o)
    return claims.keeping(table, order) if order.ahead else table


def _replace_random(rng: str, gm: GraphModule) -> None:
    """Make random draws pure functions of what is drawn once."""
    (rnd if rng == "philox" else eager_random).replace_random(gm)


def _compiler(kind: str, opts: Options, apart: bool = False) -> Callable[[GraphModule, Sequence[Any]], Any]:
    """`apart`: the plan's caller sees to it that nothing else lies in the memory of an argument that is written."""
    recording = record.current()  # a backward pass is compiled later, perhaps on another thread

    def compiler(gm: GraphModule, example_inputs: Sequence[Any]) -> Any:
        with using(opts), record.using(recording):
            gm.meta[ASKED] = apart
            if kind != "backward":
                check_selections(gm)
            passes: dict[str, Callable[[GraphModule], None]] = {}
            if kind == "inference":  # others had them before they were cut in two
                passes["random"] = partial(_replace_random, opts.rng)
                passes |= rewrites(opts)
            return compile_fx(gm, kind, passes)

    return torch._dynamo.disable(compiler)  # a backward pass within a function that Dynamo traces frame by frame


def _without_memory(gm: GraphModule) -> str:
    """What argument has no memory, of which the trace's tensors know nothing; "": all have. Dynamo guards on that."""
    given = [getattr(n.meta.get("grapharg"), "example", None) for n in gm.graph.find_nodes(op="placeholder")]
    mode = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE)
    if mode is not None or any(isinstance(x, FakeTensor) for x in given):
        return "tensors without data"
    zeros = any(isinstance(x, torch.Tensor) and x._is_zerotensor() for x in given)
    return "zeros without memory" if zeros else ""


def fusewright(gm: GraphModule, example_inputs: Sequence[Any], **kwargs: Any) -> Any:
    """The backend: called by torch.compile with a traced graph.

    `options` given to `torch.compile(..., options={...})` are Fusewright's options by name; a `mode` is short for some
    of them (`core/modes.py`). A graph that AOTAutograd or a pass over it fails on runs through torch as Dynamo made it,
    with one warning per cause.
    """
    given = options_of(kwargs)
    opts = from_mapping(given) if given else current()
    check_operators(opts.disable)
    missing = _without_memory(gm)
    why = f"it is called with {missing}" if missing else repeated.WHY if repeated.written(gm) else ""
    if why:
        record.plain(f"graph{next(_joints)}", why)
        return gm.forward
    open_diagonals(gm)
    parts = Parts(addresses(gm))
    with using(opts), aot_settings():
        skip_timing()
        try:
            whole = aot_autograd(
                fw_compiler=parts.keep("forward", _compiler("forward", opts)),
                bw_compiler=parts.keep("backward", _compiler("backward", opts)),
                inference_compiler=parts.keep("inference", _compiler("inference", opts)),
                partition_fn=partition,
                decompositions=decompositions(opts),
                keep_inference_input_mutations=True,
            )(gm, example_inputs)
        except (UserError, *_OF_DYNAMO):
            raise
        except Missing:
            return gm.forward  # which says so
        except Exception as e:
            return whole_graph(e, "trace a graph", gm, f"graph{next(_joints)}", opts)
        anyhow = with_tangents(where_it_holds(whole, parts.meta, gm.forward), gm.forward)
        return tried_first(whole, parts.callable(anyhow, example_inputs, "fusewright"))


__all__ = ["fusewright"]
