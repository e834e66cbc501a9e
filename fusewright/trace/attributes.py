"""Attributes that programs give tensors, and the class of a tensor, as a traced function sees them.

    getattr(p, "is_expert", False), isinstance(p, torch.nn.Parameter)

A function is traced with tensors of torch's in place of its arguments, which have neither. An attribute that such a
tensor lacks is looked up in the argument. A plain value, or that there is none, is a condition of the trace: calls
where it is another one have a trace of their own. What the function assigns would be lost: the plain function runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

from ..core.errors import Refusal

Found = dict[tuple[int, str], Any]  # (leaf, name) -> value

MISSING = type("Missing", (), {"__repr__": lambda self: "missing"})()
CLASS = "type()"  # stands for a name
_MARKS = {"_is_param": torch.nn.Parameter, "_is_buffer": torch.nn.Buffer}  # what `isinstance` looks at
_PLAIN = (type(None), bool, int, float, str, bytes, torch.dtype, torch.device, torch.Size)
_OF_TRACING = ("elem", "_inference_mode_base")  # with what Dynamo and its class note, all that a traced tensor has


class Attributes:
    """What one function asks of its arguments while it is traced. `given`: the tensors among them by leaf.

    `found`: what the trace is for. `checkpoint`: whether random numbers would have to be drawn a second time.
    """

    def __init__(self, given: Mapping[int, torch.Tensor], names: Sequence[str]):
        self.given, self.names = given, names
        self.leaves: list[tuple[int, Any]] = []
        self.found: Found = {}
        self.checkpoint = False

    @contextmanager
    def watched(self, leaves: Sequence[Any]) -> Iterator[None]:
        """Run a function on `leaves`. Raises Refusal if it has assigned an attribute of one."""
        self.leaves = [(k, leaves[k]) for k in self.given]
        before = [_own(t) for _, t in self.leaves]
        yield
        for (k, t), was in zip(self.leaves, before, strict=True):
            now = _own(t)
            changed = [n for n in {**was, **now} if was.get(n, MISSING) is not now.get(n, MISSING)]
            if changed:
                raise Refusal("state", f"it assigns the attribute {changed[0]} of {self.names[k]}")

    def results(self, outputs: Iterable[Any]) -> None:
        """Raises Refusal if a result has an attribute of its own."""
        for t in outputs:
            more = [n for n in _own(t) if n not in _OF_TRACING] if isinstance(t, torch.Tensor) else []
            if more:
                raise Refusal("result", f"a tensor in the result has an attribute {more[0]}")

    def get(self, x: torch.Tensor, name: str, users: Any, frame: FrameType) -> Any:
        """The attribute `name`, which is none of tensors, of a tensor in a trace; `MISSING` if it has none.

        `users(frame)`: whether code is a program's; `frame`: the one that asks.
        """
        k = next((k for k, t in self.leaves if t is x), None)
        if k is None:
            return MISSING
        if name in _MARKS and frame.f_code.co_name == "__instancecheck__" and frame.f_back is not None:
            if not users(frame.f_back):
                return MISSING
            self.found[k, CLASS] = type(self.given[k])
            self.found[k, name] = getattr(self.given[k], name, MISSING)
            return isinstance(self.given[k], _MARKS[name])
        if not users(frame):
            return MISSING
        value = getattr(self.given[k], name, MISSING)
        if value is not MISSING and type(value) not in _PLAIN:
            what = f"the attribute {name} of {self.names[k]}, which is a {type(value).__name__}"
            raise Refusal("argument", f"it uses {what}: a trace does not know it")
        self.found[k, name] = value
        return value

    def type_of(self, x: torch.Tensor) -> type:
        """The class that a tensor in a trace would have outside."""
        k = next((k for k, t in self.leaves if t is x), None)
        if k is None:
            return torch.Tensor
        self.found[k, CLASS] = type(self.given[k])
        return type(self.given[k])

    def close(self) -> None:
        """Forget all tensors."""
        self.given, self.leaves = {}, []


def _own(t: Any) -> dict[str, Any]:
    return {n: v for n, v in vars(t).items() if not n.startswith("_dynamo") and "_capsule" not in n}


def hold(found: Found, leaves: Sequence[Any]) -> bool:
    """Whether arguments have what a trace has found."""
    for (k, name), value in found.items():
        now = type(leaves[k]) if name == CLASS else getattr(leaves[k], name, MISSING)
        if now is not value and not alike(now, value):
            return False
    return True


def alike(a: Any, b: Any) -> bool:
    """Whether two plain values are the same to any program."""
    return type(a) is type(b) and type(a) in _PLAIN and repr(a) == repr(b)


__all__ = ["CLASS", "MISSING", "Attributes", "Found", "alike", "hold"]
