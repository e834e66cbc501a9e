"""Trace a Python function of tensors once, with symbolic sizes: AOTAutograd without Dynamo.

Inputs are fake tensors with a symbol for each extent that is not fixed; what AOTAutograd hands to the compilers is
kept, and so are the relations between sizes that tracing relied on. The flat inputs of all graphs are

    symbols of extents and strides (integers), symbolic integer arguments, tensors       in the order of the leaves
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch._dynamo.source import ConstantSource
from torch._functorch.aot_autograd import aot_module_simplified
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.fx import traceback as fx_traceback
from torch.fx._lazy_graph_module import _use_lazy_graph_module
from torch.fx.experimental.symbolic_shapes import DimDynamic
from torch.utils import _pytree as pytree

from ..core.errors import Refusal, UserError
from . import classes, nested, printing, questions, sizes
from .aot_node import allow_absent
from .attributes import Attributes, Found
from .cuts import Cuts
from .effects import draws
from .failures import MADE_BEFORE, check_constants, explained, made_and_kept
from .found import VALUE, Conditions, Known, Numbers, Retrace, multiples
from .functorch import floats_of_the_host
from .generators import Unclear, undrawn
from .kept import Again, Kept
from .known_values import KnownValues
from .lean import aot_settings, curved_at_all, nothing_donated, without_autocast, without_history
from .lines import Lines
from .numbers import unhashable, with_plain_keys
from .outside import Outside
from .reach import reached
from .signature import Described, Layout, Node, layout, rebuild
from .stand_in import standing_in
from .state import unchanged
from .triton_kernels import launches_traced
from .unchanged import both
from .written_views import check_addresses

ATTEMPTS = 28  # to trace a function
_grad_enabled = torch.is_grad_enabled  # torch's own: to ask by name is noted while there are traces (`questions.py`)
_CONSTANTS = (int, float, bool, str, complex, torch.dtype, torch.device, torch.layout, torch.memory_format)


@dataclass(slots=True)
class Captured:
    """What tracing found.

    `forward`, `backward`: what the compilers made of the graphs (`backward` None without gradients), with the FX graph
    of each; `whole`: AOTAutograd's own callable of the flat inputs; `meta`: its description of aliases and mutations.
    `symbols[k]`: (leaf number, "size" or "stride", dimension) of flat input k, which is what is found there divided by
    `factors[k]`; `layouts`: of the tensors, with the sizes that are numbers here; `numbers`: those that are not always.
    `guards`: Python conditions over `_s<k>`, the flat integers, symbols first. `result`: a pytree whose
    leaves are `Out`s. `modes`: those that it is for, if the function has asked for them. `attributes`: those that
    arguments must have. `cut`: how gradients are stopped in it (`cuts.py`), or "". `calls`: whether it calls modules,
    which may get hooks. `constants`: tensors that are the last leaves and no arguments (`kept.py`); `same` says whether
    the arguments still hold them. `enables`: whether it records gradients although they are not where it is called.
    """

    forward: Any
    backward: Any
    forward_graph: torch.fx.GraphModule
    backward_graph: torch.fx.GraphModule | None
    whole: Callable[..., Any]
    meta: Any
    symbols: list[tuple[int, str, int]]
    factors: list[int]
    integers: list[int]
    layouts: dict[int, Layout]
    numbers: Numbers
    guards: list[str]
    result: Any
    autocast: bool = False
    modes: questions.Modes | None = None
    cut: str = ""
    calls: bool = False
    constants: Sequence[torch.Tensor] = ()
    same: Callable[[], bool] | None = None
    attributes: Found = field(default_factory=dict)
    enables: bool = False


@dataclass(frozen=True, slots=True)
class Out:
    """A leaf of the result: graph output `data`, argument leaf `data`, or the constant `data`; "size": of `parts`."""

    kind: str  # "output", "input", "constant", "size"
    data: Any = None
    parts: tuple[Out, ...] = ()


@dataclass(slots=True)
class _Compiled:
    """What the compilers were given and made."""

    forward: Any = None
    backward: Any = None
    forward_graph: Any = None
    backward_graph: Any = None
    meta: Any = None


class _Flat(torch.nn.Module):
    """AOTAutograd wants a module."""

    def __init__(self, run: Callable[..., Any]):
        super().__init__()
        self.run = run

    def __call__(self, *args: Any) -> Any:  # without hooks, which are for the user's modules
        return self.run(*args)

    forward = __call__


class _Tracer:
    def __init__(
        self,
        fn: Callable[..., Any],
        values: tuple[Any, ...],
        described: Described,
        layouts: dict[int, Layout],
        known: Known,
        kept: Kept,
    ):
        self.known, self.device, self.kept = known, kept.device, kept
        self.fn, self.values, self.described, self.layouts = fn, values, described, layouts
        self.env = sizes.Env(duck_shape=False, allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)
        self.env.names, self.env.namespaces, self.env.hashes = {}, known.namespaces, known.hashes
        self.mode = FakeTensorMode(shape_env=self.env, allow_non_fake_inputs=False)
        self.symbols: list[tuple[int, str, int]] = []
        self.sizes: list[Any] = []
        self.arguments: dict[str, int] = {}
        self.integers = [k for k, x in enumerate(described.leaves) if k not in layouts]
        self.result: Any = None
        self.differentiable = False  # whether a result has a gradient
        self.modes = questions.modes()
        self.asked = False  # whether it asks for these
        self.leaves: bool | None = None  # the grad mode that it leaves behind, if it is another one
        self.cuts = Cuts()
        self.calls = False  # whether it calls modules
        functions = reached(fn, values)
        self.typed = classes.namespaces(functions)
        self.outside = Outside(fn, described.structure, functions, kept)
        self.attributes = Attributes({k: described.leaves[k] for k in layouts}, described.names)

    # --- inputs ---
    def symbol(self, value: int, what: str, positive: bool = True) -> Any:
        source = ConstantSource(what)
        if positive:
            s = self.env.create_symbol(value, source, DimDynamic.DYNAMIC, None)
        else:
            s = self.env.create_unspecified_symbol(value, source, DimDynamic.DYNAMIC)
        self.env.names[str(s)] = what
        return self.env.create_symintnode(s, hint=value, source=source)

    def fake(self, k: int) -> torch.Tensor:
        t, lay, name = self.described.leaves[k], self.layouts[k], self.described.names[k]
        sizes: list[Any] = list(lay.sizes)
        strides: list[Any] = list(lay.strides)
        for d, n in enumerate(lay.sizes):
            if n is None:
                factor = self.known.divisors.get((k, d), 1)
                found = self.symbol(t.shape[d] // factor, f"{name}.size({d})")
                self.symbols.append((k, "size", d))
                self.sizes.append(found)
                sizes[d] = found * factor
        expected: Any = 1
        for d in lay.order:
            if strides[d] == "dense":
                strides[d] = expected
            elif strides[d] == "free":
                strides[d] = self.symbol(t.stride(d), f"{name}.stride({d})")
                self.symbols.append((k, "stride", d))
                self.sizes.append(strides[d])
            if lay.strides[d] != 0:
                expected = strides[d] * sizes[d]
        out = torch.empty_strided(sizes, strides, dtype=lay.dtype, device=lay.device)
        return out.requires_grad_() if lay.requires_grad else out

    def argument(self, k: int) -> Any:
        """The symbol of an integer argument."""
        found = self.symbol(self.described.leaves[k], self.described.names[k], False)
        self.arguments[str(found.node.expr)] = k
        return found

    # --- the function ---
    def ask(self) -> None:
        self.asked = True

    def run(self, *flat: Any) -> list[Any]:
        leaves: list[Any] = [None] * len(self.described.leaves)
        given = flat[len(self.symbols) :]
        for k, x in zip((*self.integers, *self.layouts), given, strict=True):
            leaves[k] = x
        for k in self.integers:
            if (k, VALUE) in self.known.numbers:
                leaves[k] = leaves[k].node.guard_int(__file__, 0)  # a condition of the trace
        own = len(leaves) - len(self.kept.arguments)
        self.kept.begin(leaves[own:])
        args = [rebuild(n, v, leaves) for n, v in zip(self.described.structure, self.values, strict=True)]
        grad = self.known.grad or self.modes[0]
        with contextlib.ExitStack() as stack:
            pairs = zip(self.described.structure, self.values, strict=True)
            stack.enter_context(undrawn(self.known.states))
            check = [c for n, v in pairs for c in _enter(stack, n, v, leaves)]
            stack.enter_context(fx_traceback.preserve_node_meta())
            if self.device is not None:
                stack.enter_context(self.device)
            if self.known.grad:
                stack.enter_context(torch.set_grad_enabled(self.modes[0]))
            stack.enter_context(
                questions.answered(self.modes[1], self.ask, self.attributes, self.known.namespaces, self.typed)
            )
            cuts = self.cuts if grad else None
            lines = stack.enter_context(Lines(self.values, leaves, self.ask, cuts, self.kept, _Tracer.run.__code__))
            stack.enter_context(KnownValues())
            stack.enter_context(nested.inline())
            with unchanged(self.described.structure, args), self.attributes.watched(leaves), self.outside.watched():
                recorded = _grad_enabled()
                out = self.fn(*args)
            if _grad_enabled() is not recorded:
                self.leaves = not recorded
            if grad and any(_turned(leaves[k]) for k in self.layouts):
                raise Refusal("mutation", "an argument that requires a gradient is mutated")
            self.calls |= lines.calls
            for c in check:
                c()
        outputs: list[Any] = []
        positions = {id(leaves[k]): k for k in self.layouts}
        out, whole = with_plain_keys(out) if self.env.hashes else out, lambda x: isinstance(x, torch.Size)
        self.result = pytree.tree_map(lambda x: _out(self.kept.look(x), outputs, positions), out, is_leaf=whole)
        self.kept.end()
        self.differentiable |= any(isinstance(x, torch.Tensor) and x.grad_fn is not None for x in outputs)
        self.cuts.history(outputs)
        self.attributes.results(outputs)
        return outputs


def _enter(stack: contextlib.ExitStack, node: Node, value: Any, leaves: list[Any]) -> Iterator[Callable[[], None]]:
    """Put leaves in place of the parameters and buffers of modules among the arguments, until `stack` closes."""
    if node.kind != "module":
        parts: Any = value.values() if node.kind == "dict" else value
        parts = vars(value).values() if node.kind == "fields" else parts
        if node.kind in ("list", "tuple", "size", "named", "dict", "fields"):
            for n, v in zip(node.children, parts, strict=True):
                yield from _enter(stack, n, v, leaves)
        return
    yield stack.enter_context(standing_in(node, value, leaves))


def _out(x: Any, outputs: list[Any], positions: dict[int, int]) -> Out:
    if isinstance(x, torch.Tensor):
        k = positions.get(id(x))
        if k is not None:
            return Out("input", k)
        if x.requires_grad and x.grad_fn is None and not _view_in_no_grad(x, positions):
            raise Refusal("result", "a tensor in the result that is itself to have a gradient")
    elif isinstance(x, torch.Size):
        return Out("size", None, tuple(_out(n, outputs, positions) for n in x))
    elif not isinstance(x, sizes.NUMBERS) or sizes.fixed(x):
        x = x.node.hint if isinstance(x, sizes.NUMBERS) else x
        if x is None or isinstance(x, _CONSTANTS):
            return Out("constant", x)
        raise Refusal("result", f"a {type(x).__name__} in the result")
    for k, y in enumerate(outputs):
        if y is x:
            return Out("output", k)
    outputs.append(x)
    return Out("output", len(outputs) - 1)


def _turned(x: Any) -> bool:
    """Whether `t_`, `squeeze_` or the like were called for an argument that requires a gradient.

    AOTAutograd does not see that if sizes and strides are the same in the end, and loses the gradient of what was
    computed before.
    """
    if not isinstance(x, FunctionalTensor) or not x.requires_grad:
        return False
    return bool(torch._functionalize_has_metadata_mutation(x.elem))


def _view_in_no_grad(x: torch.Tensor, positions: dict[int, int]) -> bool:
    """Whether a tensor requires a gradient as a view of an argument that does: it looks like a leaf then."""
    if torch.is_grad_enabled():
        return False
    with torch._C.DisableTorchFunction():  # the program may not ask for it
        base = x._base
    return base is not None and base.requires_grad and id(base) in positions


def capture(
    fn: Callable[..., Any],
    values: tuple[Any, ...],
    described: Described,
    layouts: dict[int, Layout],
    compilers: dict[str, Any],
    device: torch.device | None = None,
    first: bool = True,
) -> Captured:
    """Trace and compile `fn(*values)`.

    `layouts`: of the leaves that are tensors. `compilers`: `forward`, `backward` and `inference`, functions of (graph,
    example inputs), and the other arguments of AOTAutograd. `device`: what factories are to use by default. `first`: it
    is done once more if it leaves tables of random numbers that the function keeps, which it reads then.
    Raises UserError for control flow that depends on what a trace does not know, Refusal for what only the plain
    function can do, and whatever `fn` or a compiler raises.

    A size that the program takes to be a multiple of a number (the heads of an attention, the gates of a cell) is
    traced as that number times a symbol: else no one could tell that its parts are equally large. That takes another
    trace, and so do functions that a module has imported from `math` (`numbers.py`).
    """
    known = Known()
    kept = Kept(described.structure, device)
    failure: Exception | None = None
    for _ in range(ATTEMPTS):
        found, failure = None, None
        try:
            found = _capture(fn, values, described, layouts, compilers, known, kept)
        except Retrace as a:
            known = a.known
        except Exception as e:
            failure = made_and_kept(e) if kept.stuck else e
        again = kept.mend(failure)
        if found is not None and not again:
            kept.settle(True)
            found.same = both(found.same, kept.unchanged(found.constants))
            return found
        if failure is not None and not again:
            break
    kept.settle(False)
    if kept.draw() and first:
        return capture(fn, values, described, layouts, compilers, device, False)
    try:
        raise failure or Refusal("state", "it makes other tensors each time, and keeps them")
    finally:
        del failure


def _capture(
    fn: Callable[..., Any],
    values: tuple[Any, ...],
    described: Described,
    layouts: dict[int, Layout],
    compilers: dict[str, Any],
    known: Known,
    kept: Kept,
) -> Captured:
    """Raises Retrace, before anything is compiled, where another trace is better."""
    constants = list(kept.arguments)
    described = described.more(constants)
    layouts = {**layouts, **{len(described.leaves) - k: layout(t, True) for k, t in enumerate(constants[::-1], 1)}}
    layouts = _with_numbers(dict(sorted(layouts.items())), known.numbers)
    tracer = _Tracer(fn, values, described, layouts, known, kept)
    made, conditions = _Compiled(), Conditions(tracer)
    context, autocast = TracingContext(tracer.mode), torch._C._is_any_autocast_enabled()

    def keep(kind: str) -> Callable[[Any, Any], Any]:
        def compiler(gm: torch.fx.GraphModule, inputs: Any) -> Any:
            if kind != "backward" and (more := multiples(tracer)):
                raise Retrace(replace(known, divisors=more))
            if tracer.differentiable and not (grad and any(lay.requires_grad for lay in layouts.values())):
                if not grad and any(lay.requires_grad for lay in layouts.values()) and not tracer.modes[1]:
                    raise Retrace(replace(known, grad=True))
                raise Refusal("gradient", "a result requires a gradient that no argument or grad mode asks for")
            meta: Any = context.fw_metadata
            if kind == "forward" and tracer.attributes.checkpoint and any(i.mutates_data for i in meta.input_info):
                raise Refusal("checkpoint", "it writes to memory under torch.utils.checkpoint, or beside that")
            check_constants(gm)
            if kind != "backward":
                check_addresses(gm, meta)
            built = compilers[kind](gm, inputs)
            if kind == "forward":
                built = without_history(built, gm, meta)
            which = "backward" if kind == "backward" else "forward"
            setattr(made, which, built)
            setattr(made, f"{which}_graph", gm)
            if which == "forward":
                made.meta = nothing_donated(context.fw_metadata)
            return built if which == "forward" else without_autocast(built)

        return compiler

    def partition(joint: torch.fx.GraphModule, inputs: Any, **kwargs: Any) -> Any:
        tracer.cuts.joint(joint, kwargs["num_fwd_outputs"])
        if tracer.attributes.checkpoint and any(map(draws, joint.graph.nodes)):
            raise Refusal("random", "it draws random numbers under torch.utils.checkpoint, or beside that")
        return compilers["partition"](joint, inputs, **kwargs)

    failure: Exception | None = None
    cached, grad = torch.is_autocast_cache_enabled(), known.grad or torch.is_grad_enabled()
    try:
        torch.set_autocast_cache_enabled(False)  # it would keep fake weights
        with contextlib.ExitStack() as stack:
            settings = (tracing(context), aot_settings(), floats_of_the_host(), launches_traced())
            unwritten = _use_lazy_graph_module(True)  # nobody reads their source, which some (`random.from`) have not
            for setting in (*settings, unwritten, torch.inference_mode(False)):
                stack.enter_context(setting)
            stack.enter_context(torch.set_grad_enabled(grad))  # sets it when made: after the guard that restores it
            with tracer.mode:
                tensors = [tracer.fake(k) for k in layouts]
            integers = [tracer.argument(k) for k in tracer.integers]
            flat = [*tracer.sizes, *integers, *tensors]
            tracer.env.conditions = conditions
            trace: Any = aot_module_simplified  # its annotations are narrower than what it takes
            whole = trace(
                _Flat(tracer.run),
                flat,
                fw_compiler=keep("forward"),
                bw_compiler=keep("backward"),
                inference_compiler=keep("inference"),
                partition_fn=partition,
                decompositions=compilers["decompositions"],
                keep_inference_input_mutations=True,
            )
            if made.backward_graph is not None:
                curved = curved_at_all(made.forward_graph, made.meta)
                allow_absent(made.meta, made.backward_graph, compilers["backward"], curved)
    except (Retrace, Again):
        raise
    except Unclear as e:
        raise Retrace(replace(known, states=e.states)) from None
    except Exception as e:
        if conditions.found is not None:
            raise Retrace(conditions.found) from None
        if tracer.env.importing is not None:
            raise Retrace(replace(known, namespaces=[*known.namespaces, tracer.env.importing])) from None
        if unhashable(e) and not known.hashes:
            raise Retrace(replace(known, hashes=True)) from None
        failure = explained(e, tracer.env.pinned)
    finally:
        torch.set_autocast_cache_enabled(cached)
        tracer.values, tracer.described = (), Described()  # what was compiled may keep the tracer
        tracer.env.conditions = None  # torch's caches may keep this
        tracer.attributes.close()
    if failure is not None:  # raised here, not there: it may be a cause of what was caught, which it must not get
        try:
            raise failure
        finally:
            del failure
    for t, info in zip(constants[::-1], made.meta.input_info[::-1], strict=False):
        if id(t) in kept.fresh and (info.mutates_data or info.mutates_metadata):
            raise UserError(f"the function writes to a tensor that it has made and kept: {MADE_BEFORE}")
    if made.meta.grad_enabled_mutation is not tracer.leaves:  # torch before 2.13 forgets it, if nothing has gradients
        raise Refusal("mode", "it leaves another grad mode than it was called with")
    names = _symbol_names(tracer, len(tracer.sizes), integers)
    return Captured(
        made.forward,
        made.backward,
        made.forward_graph,
        made.backward_graph,
        whole,
        made.meta,
        tracer.symbols,
        [known.divisors.get((k, d), 1) if what == "size" else 1 for k, what, d in tracer.symbols],
        tracer.integers,
        layouts,
        {place: n for place, n in known.numbers.items() if place[1] != VALUE},
        printing.conditions([g.expr for g in tracer.env.guards], names),
        tracer.result,
        autocast,
        tracer.modes if tracer.asked else None,
        tracer.cuts.why,
        tracer.calls,
        constants,
        same=tracer.outside.unchanged(),
        attributes=tracer.attributes.found,
        enables=known.grad,
    )


def _with_numbers(layouts: dict[int, Layout], numbers: Numbers) -> dict[int, Layout]:
    """Layouts with the sizes that are to be numbers."""
    for (k, d), n in numbers.items():
        if d != VALUE:
            sizes = layouts[k].sizes
            layouts[k] = replace(layouts[k], sizes=(*sizes[:d], n, *sizes[d + 1 :]))
    return layouts


def _symbol_names(tracer: _Tracer, count: int, integers: list[Any]) -> dict[str, str]:
    """Symbol -> the name of the flat input that is its value. They were made in the order of the inputs."""
    assert len(tracer.env.names) == count + len(integers)
    return {s: f"_s{k}" for k, s in enumerate(tracer.env.names)}


__all__ = ["Captured", "FakeTensor", "Out", "capture"]
