"""Modules among the arguments of a traced function: leaves in the places of their tensors, while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.utils.stateless import _reparametrize_module

from ..core.errors import Refusal
from .signature import ModuleState, Node

_HELD = ("_parameters", "_buffers", "_modules")


def entered(stack: contextlib.ExitStack, node: Node, value: Any, leaves: list[Any]) -> Iterator[Callable[[], None]]:
    """Put leaves in place of the tensors of modules among the arguments, until `stack` closes.

    What this yields is to be called behind the function: it raises Refusal if that has put others there.
    """
    if node.kind != "module":
        parts: Any = value.values() if node.kind == "dict" else value
        if node.kind in ("list", "tuple", "size", "named", "dict"):
            for n, v in zip(node.children, parts, strict=True):
                yield from entered(stack, n, v, leaves)
        return
    state = node.data
    mine = [leaves[c.data] for c in node.children]
    places = [(*slot, k) for k, slot in enumerate(state.slots)] + [s for s in state.shared if s[1] != "_modules"]
    given = {".".join((*path, name)): mine[k] for path, kind, name, k in places if kind}
    # Each place once: torch's own `tie_weights` takes those of a module that is found twice for two, and exchanges
    # both, so that what it puts back at the end is a leaf.
    stack.enter_context(_reparametrize_module(value, given))
    found = {path: same.get() for path, same, *_ in state.modules}
    stack.enter_context(_attributes([(found[path], name, mine[k]) for path, kind, name, k in places if not kind]))
    changed = stack.enter_context(_kept(state))

    def unchanged() -> None:
        for name in changed():
            raise Refusal("module", f"{name} is assigned in forward: write into it instead")

    yield unchanged


@contextlib.contextmanager
def _attributes(places: list[tuple[Any, str, Any]]) -> Iterator[None]:
    """Put leaves in place of attributes of modules."""
    before = [vars(m)[name] for m, name, _ in places]
    for m, name, leaf in places:
        vars(m)[name] = leaf
    try:
        yield
    finally:
        for (m, name, _), t in zip(places, before, strict=True):
            vars(m)[name] = t


@contextlib.contextmanager
def _kept(state: ModuleState) -> Iterator[Callable[[], list[str]]]:
    """Undo at the end what is put among the parameters, buffers and submodules; gives what tells the names."""
    modules: list[tuple[tuple[str, ...], torch.nn.Module]] = [(path, same.get()) for path, same, *_ in state.modules]
    held = [(path, vars(m)[kind], dict(vars(m)[kind])) for path, m in modules for kind in _HELD]

    def changed() -> list[str]:
        return [
            ".".join((*path, n))
            for path, now, was in held
            for n in {**was, **now}
            if now.get(n, held) is not was.get(n, held)
        ]

    try:
        yield changed
    finally:
        if changed():
            for _, now, was in held:
                now.clear()
                now.update(was)


__all__ = ["entered"]
