"""The beginning of a plan: its arguments, the sizes that they say, and whether they are what kernels take them for.

A backward plan may be called with gradients that have no memory, as `vmap` makes them. It finds that out while its
caller still has all arguments, and nothing has been computed, freed or overwritten, and leaves the call to `steps.py`.
That costs no time: where a gradient lies is asked here once, and kernels that read it go by the answer. Where torch's
operators read it and nothing depends on its strides, that is asked in place of these. Else machine code looks at both,
which takes a third of the time of one call of Python's.

Nor need a gradient's memory hold its values: torch puts off changing the signs of imaginary parts (of `z.conj()`), and
has zeros without memory. Kernels and views of memory get them computed.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import torch

from ..core.lazy import lazy_import
from . import internals, overlaps, steps
from .inplace import COPY
from .launch import values
from .written import written_in_place

if TYPE_CHECKING:
    from torch.fx import Node

    from . import handles
    from .plan import _Writer
else:
    handles = lazy_import("fusewright.run.handles")


def write(w: _Writer) -> None:
    """Append the head of the plan that `w` writes."""
    placeholders = [n for n in w.traced.module.graph.nodes if n.op == "placeholder"]
    names = [n.name for n in placeholders]
    head = []
    if len(w.gpus) == 1:  # allocations and launches below are on the current device
        index = next(iter(w.gpus)).index
        w.scope.update(_device=internals.current_cuda, _there=internals.call_on)
        head.append(f"if _device() != {index}: return _there({index}, call, args)")
    if names:
        head.append(f"{', '.join(names)}{',' if len(names) == 1 else ''} = args")
    for n in w.traced.module.graph.nodes:
        if n.op == "get_attr":
            w.scope[n.name] = operator.attrgetter(n.target)(w.traced.module)
            w.emitted.add(n)
    w.emitted.update(placeholders)
    w.trusted.update(n for n in placeholders if not w.backward)
    # a token of effects is None
    gradients = [n for n in placeholders if n.name.startswith("tangents") and not n.name.startswith("tangents_token")]
    asked = [n for n in gradients if w.native and _strided(n)]
    if not asked:
        head.append("args.clear()")
    w.add(head, set(), set(names))
    for n in placeholders:
        w.bind(n)
    _keep_apart(w, placeholders)
    # hooks on saved tensors may give them back in other layouts
    given = [n for n in placeholders if n in gradients or (w.backward and n in w.consumed)]
    plain = {n for n in asked if n not in w.consumed and all(map(_any_strides, n.users))}
    read = _read_on_cpu(w)
    together = _together(w, given, any(n not in read and n not in plain for n in asked))
    alone = [n for n in asked if n not in together]
    w.places.update((n, f"_at{k}") for k, n in enumerate(n for n in alone if n in read))
    if asked:
        module = w.traced.module
        w.scope["_values"] = values
        w.scope["_apart"] = steps.instead(getattr(module, "plain", module))  # executors take tensors as traced
    if alone:
        places = [f"{w.places[n]} = {n.name}.data_ptr()" if n in w.places else f"{n.name}.data_ptr()" for n in alone]
        lines = [f"try: {'; '.join(places)}", "except RuntimeError as _e: return _apart(_e, args)"]
        lines += [_in_memory(w, n) for n in alone if n not in plain]
        w.add(lines, {n.name for n in alone}, {n.name for n in alone})
    for n in given:
        if n not in together and n not in plain:
            w.check_strides(n)
    if together:
        w.scope["_dense"] = handles.dense()
        known = {n.name for n in together}
        lines = [f"if not _dense({', '.join(sorted(known))}):"]
        if bare := [n.name for n in asked if n in together]:
            w.scope["_bare"] = steps.bare
            lines.append(f"    if _bare({', '.join(bare)}): return _apart(None, args)")
        lines += [f"    {_in_memory(w, n)}" for n in asked if n in together]
        lines += [f"    {w.stride_check(n)}" for n in together]
        w.add(lines, known, known)
    if asked:
        w.add(["args.clear()"], set(), set())


def _in_memory(w: _Writer, n: Node) -> str:
    """The line that computes what torch may have put off: `conj` and what is made of it have other signs in memory."""
    t, at = n.name, w.places.get(n)
    lazy = ([f"{t}.is_conj()"] if n.meta["val"].is_complex() else []) + [f"{t}.is_neg()"]
    lazy.append(f"not {at}" if at else f"{t}._is_zerotensor()")
    return f"if {' or '.join(lazy)}: {t} = _values({t})" + (f"; {at} = {t}.data_ptr()" if at else "")


def _keep_apart(w: _Writer, placeholders: list[Node]) -> None:
    """Where kernels write into arguments, have others that lie in the same memory copied, as nobody guards against it.

    Not those that the graph gives back, or writes into as well: AOTAutograd has taken them to be apart, too.
    """
    if w.traced.module.meta.get(overlaps.ASKED):
        return
    written = [n.name for n in placeholders if n in w.into.values() or written_in_place(n)]
    beside = [n for n in placeholders if n.name not in written and n.users and n not in w.results and _strided(n)]
    beside = [n for n in beside if not any(u.target is COPY and u.args[0] is n for u in n.users)]
    if not (written and beside and w.native and w.guards):
        return
    w.scope["_private"] = overlaps.private
    names = {n.name for n in beside}
    given = "".join(f"{n.name}, " for n in beside)
    w.add([f"{given}= _private(({''.join(f'{t}, ' for t in written)}), ({given}))"], {*names, *written}, names)


def _together(w: _Writer, given: list[Node], needed: bool) -> list[Node]:
    """Those that should be contiguous, if machine code is to look at them all at once."""
    found = [n for n in given if w.traced.values.get(n) is not None and w.dense(n)]
    wanted = needed or (w.quick and len(found) > 1)
    return found if wanted and w.guards and handles.dense() is not None else []


def _read_on_cpu(w: _Writer) -> set[Node]:
    """Nodes whose addresses Python gives to kernels."""
    read: set[Node] = set()
    for g in w.plan.groups:
        if g.compiled is not None and g.built is not None:
            read.update(w.traced.node_of[g.built.sources[b.name]] for b in g.built.fusion.buffers if not b.output)
    return read


def _strided(n: Node) -> bool:
    val = n.meta.get("val")
    return isinstance(val, torch.Tensor) and val.layout is torch.strided


def _any_strides(n: Node) -> bool:
    """Whether a node is a call of one of torch's operators that does the same for operands of all strides."""
    target = n.target
    return isinstance(target, torch._ops.OpOverload) and target.namespace == "aten" and not target.is_view


__all__ = ["write"]
