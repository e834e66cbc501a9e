"""Tensors that a function keeps: tables that it makes when they are first needed, in a cache, a dictionary, an object.

While a function is traced, such a table is a tensor without memory, and it stays where the function has put it. So what
is made from nothing but constants (among them sizes that are conditions of the trace) is written down (`_Pass`), and
after an attempt to trace, those tensors that somebody still refers to are made real in place: the calls are run again,
and the values exchanged (`torch.utils.swap_tensors`). In the next attempt they are arguments of the graph, which reads
them from memory: whoever keeps them may write to them.

So are tensors that objects and modules among the arguments hold in attributes and containers. Each call checks that
they are still the same ones.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from types import NoneType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.utils import _pytree as pytree
from torch.utils.weak import WeakTensorKeyDictionary

from . import frames
from .failures import Used, Written
from .signature import Node
from .sizes import fixed
from .state import Change, held_tensors, refuse, undo

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_PLAIN = (int, float, complex, str, NoneType, torch.dtype, torch.device, torch.layout, torch.memory_format, type(...))
_T: Any = torch.Tensor
_ALIASES = (_T.detach, _T.data.__get__)  # share memory, and autograd does not know of it
_STEPS = {"attribute": ".__dict__[{}]", "key": ".get({})", "index": "[{}]"}
_known: Any = WeakTensorKeyDictionary()  # tensors made real


class Again(Exception):
    """A tensor is used that is to be an argument: trace once more."""


class _Number:
    """Stands for a tensor in a call that is written down."""

    __slots__ = ("number",)

    def __init__(self, number: int):
        self.number = number


def _parts(x: Any) -> Iterator[Any]:
    if isinstance(x, (tuple, list)):
        for y in x:
            yield from _parts(y)
    elif type(x) is dict:
        for y in x.values():
            yield from _parts(y)
    elif type(x) is slice:
        yield from (x.start, x.stop, x.step)
    else:
        yield x


def _tensors(x: Any) -> list[torch.Tensor]:
    return [t for t in _parts(x) if isinstance(t, torch.Tensor)]


def writes(func: Any, kwargs: Any) -> bool:
    """Whether a call may write to its first argument, or to `out`."""
    name = getattr(func, "__name__", "")
    schema = getattr(func, "_schema", None)
    if schema is not None:
        return bool(schema.is_mutable)
    own = name.startswith("__i") and name not in ("__index__", "__int__", "__invert__")
    return own or name in ("__setitem__", "__set__") or (name.endswith("_") and name[-2:] != "__") or "out" in kwargs


def _targets(func: Any, args: Any, kwargs: Any, parts: list[Any]) -> list[Any]:
    """What a call that writes may write to, and more where only its operator's schema would say; `parts`: of its
    arguments."""
    return parts if hasattr(func, "_schema") else list(_parts((args[:1], kwargs.get("out"))))


def _in_memory(x: Any) -> bool:
    """Whether `x` is a tensor with memory: it is no argument, and the trace itself would write to it."""
    if not isinstance(x, torch.Tensor) or isinstance(x, (FakeTensor, FunctionalTensor)) or x.is_meta:
        return False
    return not torch._is_functional_tensor(x) and not torch._C._functorch.is_functorch_wrapped_tensor(x)


class _Pass:
    """The calls of one run of the function that depend on nothing but constants."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Any, Any, list[int]]] = []  # function, arguments, the numbers of its results
        self.tensors: list[Any] = []
        self.numbers: dict[int, int] = {}  # id -> number
        self.bases: dict[int, int] = {}  # id -> id of the tensor whose memory it shares
        self.spoilt: set[int] = set()  # ids of those that were written by a call that depends on more
        self.lost: set[int] = set()  # numbers of those and of what shares their memory, when the run is over

    def base(self, t: torch.Tensor) -> int:
        if id(t) in self.bases:
            return self.bases[id(t)]
        with torch._C.DisableTorchFunction():
            base = t._base
        return id(t) if base is None else self.bases.get(id(base), id(base))

    def constant(self, parts: list[Any]) -> bool:
        for x in parts:
            if isinstance(x, torch.Tensor):
                if id(x) not in self.numbers or self.base(x) in self.spoilt:
                    return False
            elif not fixed(x) if isinstance(x, _SYMBOLIC) else not isinstance(x, _PLAIN):
                return False
        return True

    def note(self, func: Any, args: Any, kwargs: Any, parts: list[Any], out: Any) -> None:
        if not self.constant(parts):
            if self.numbers and writes(func, kwargs):
                self.spoilt |= {self.base(t) for t in _tensors(_targets(func, args, kwargs, parts))}
            return
        made = _tensors(out)
        if not made and not writes(func, kwargs):
            return

        def written(x: Any) -> Any:
            if isinstance(x, torch.Tensor):
                return _Number(self.numbers[id(x)])
            return x.node.hint if isinstance(x, _SYMBOLIC) else x

        given = pytree.tree_map(written, (args, kwargs))
        results = []
        for t in made:
            if id(t) not in self.numbers:
                self.numbers[id(t)] = len(self.tensors)
                self.tensors.append(t)
                if func in _ALIASES:
                    self.bases[id(t)] = self.base(args[0])
            results.append(self.numbers[id(t)])
        self.calls.append((func, *given, results))

    def left(self) -> list[int]:
        """The numbers of tensors that somebody else refers to, too; all others are forgotten."""
        if self.spoilt and self.numbers:
            self.lost = {k for k, t in enumerate(self.tensors) if self.base(t) in self.spoilt}
        self.numbers.clear()
        found: list[int] = []
        while True:
            for k in range(len(self.tensors)):
                if self.tensors[k] is not None and sys.getrefcount(self.tensors[k]) <= 2:
                    self.tensors[k] = None
            left = [k for k, t in enumerate(self.tensors) if t is not None]
            if len(left) == len(found):
                return left
            found = left

    def needed(self, numbers: Collection[int]) -> list[tuple[Any, Any, Any, list[int]]]:
        """The calls that these tensors come of."""
        known, found = set(numbers), set[int]()
        while True:
            size = len(found)
            for k in reversed(range(len(self.calls))):
                func, args, kwargs, results = self.calls[k]
                given = {x.number for x in _parts((args, kwargs)) if isinstance(x, _Number)}
                if k not in found and known & {*results, *(given if writes(func, kwargs) else ())}:
                    found.add(k)
                    known |= given
            if len(found) == size:
                return [c for k, c in enumerate(self.calls) if k in found]

    def values(self, drawn_for: Collection[int] = ()) -> list[Any]:
        """The tensors, by running the calls; [] if these cannot be run again. `drawn_for`: these tensors only, whose
        random numbers are drawn now."""
        before = torch.get_rng_state()
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        out: list[Any] = [None] * len(self.tensors)
        value = lambda x: out[x.number] if isinstance(x, _Number) else x
        try:
            for func, args, kwargs, results in self.needed(drawn_for) if drawn_for else self.calls:
                args, kwargs = pytree.tree_map(value, (args, kwargs))
                for k, t in zip(results, _tensors(func(*args, **kwargs)), strict=True):
                    out[k] = t
        except Exception:
            return []
        if drawn_for:
            return out
        drawn = not torch.equal(before, torch.get_rng_state())
        if cuda and not all(map(torch.equal, cuda, torch.cuda.get_rng_state_all())):
            torch.cuda.set_rng_state_all(cuda)
            drawn = True
        torch.set_rng_state(before)
        return [] if drawn else out  # each call would draw its own


class Kept:
    """What is known of such tensors while a function is traced, over all attempts.

    `arguments`: those that the next attempt takes as arguments; `fresh`: ids of those made real since it began.
    """

    def __init__(self, structure: tuple[Node, ...], device: torch.device | None):
        self.structure, self.device = structure, device
        self.arguments: list[torch.Tensor] = []
        self.fresh: set[int] = set()
        self.passes: list[_Pass] = []
        self.changes: list[Change] = []  # what the function has changed besides, which it may do once only
        self.earlier: set[int] = set()
        self.stand_ins: dict[int, Any] = {}
        self.asked: dict[int, Any] = {}  # tensors that are no arguments, and are asked for their shapes or the like
        self.paths: dict[int, Any] | None = None
        self.drawn: list[_Pass] = []  # of which something is left that random numbers were drawn for
        self.again = False  # whether there are more arguments since the attempt began
        self.stuck = False  # whether it uses what an earlier run of the attempt has made

    def begin(self, traced: list[Any]) -> None:
        """A run of the function begins, with these in place of `arguments`."""
        self.earlier = {k for p in self.passes for k in p.numbers}
        self.passes.append(_Pass())
        self.stand_ins = dict(zip(map(id, self.arguments), traced, strict=True))

    def end(self) -> None:
        """The run is over. Raises Again if there are more arguments now."""
        if self.again or self.stuck:
            raise Again

    def look(self, x: Any) -> Any:
        """What stands for `x` in the trace. Raises Again for what an earlier run has made."""
        if not isinstance(x, torch.Tensor):
            return x
        found = self.stand_ins.get(id(x))
        if found is not None:
            return found
        if id(x) in self.earlier:
            self.stuck = True
            raise Again
        if type(x) in (torch.Tensor, torch.nn.Buffer) and self.plain(x) and (x in _known or id(x) in self.held()):
            self.arguments.append(x)
            self.again = True  # for what is left of this attempt, a tensor like it will do
            self.stand_ins[id(x)] = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)
            return self.stand_ins[id(x)]
        return x

    def constant(self, t: torch.Tensor) -> bool:
        """Whether the attempt has made a tensor from nothing but constants."""
        return any(id(t) in p.numbers and p.base(t) not in p.spoilt for p in self.passes)

    def settle(self, traced: bool) -> None:
        """No more attempts are made. Raises Refusal if a function that could be traced has kept other tensors."""
        leaks = [c for c in self.changes if c.kind == "tensor"]
        undo(self.changes if traced and leaks else [*leaks])
        if traced:
            refuse(leaks)

    def draw(self) -> bool:
        """After `settle`: make what is kept real that random numbers are drawn for, as the function's first call does,
        since nobody could use it otherwise; whether there was any."""
        before = len(self.arguments)
        for p in self.drawn:
            if numbers := p.left():
                self.make_real(p, numbers, True)
        self.drawn = []
        return len(self.arguments) > before

    @staticmethod
    def plain(x: torch.Tensor) -> bool:
        """Whether a tensor can be an argument that nobody has to be told of."""
        with torch._C.DisableTorchFunction():
            if x.requires_grad or x.layout is not torch.strided or x.is_quantized or x.is_nested or x.is_inference():
                return False
            lazy = x.is_neg() or x.is_conj() or x._is_zerotensor()
            return x.device.type != "meta" and not (lazy or torch._is_functional_tensor(x))

    def held(self) -> dict[int, Any]:
        """The tensors that objects among the arguments hold: by id, the object and the way from there."""
        if self.paths is None:
            self.paths = held_tensors(self.structure)
        return self.paths

    def call(self, func: Any, args: Any, kwargs: Any, run: Callable[..., Any]) -> Any:
        """A call of torch in the function, which `run` does."""
        parts = list(_parts((args, kwargs)))
        found = [self.look(x) for x in parts]
        if writes(func, kwargs) and any(_in_memory(self.look(x)) for x in _targets(func, args, kwargs, parts)):
            raise Written
        if any(_in_memory(x) and x._is_zerotensor() for x in found):  # torch computes with it before the trace sees it
            raise Used
        self.asked |= {id(x): x for x in found if _in_memory(x)}
        if any(a is not b for a, b in zip(parts, found, strict=True)):
            args, kwargs = pytree.tree_map(self.look, (args, kwargs))
            parts = found
        out = run(func, args, kwargs)
        self.passes[-1].note(func, args, kwargs, parts, out)
        return out

    def mend(self, failure: BaseException | None) -> bool:
        """Make what is kept real, after an attempt; whether the attempt is to be made again, with more arguments."""
        again, self.again, self.stuck = self.again, False, False
        return self._mend(failure) or again

    def _mend(self, failure: BaseException | None) -> bool:
        passes, self.passes, self.stand_ins, self.paths = self.passes, [], {}, None
        if not any(p.tensors for p in passes):
            return False
        while failure is not None:
            traceback.clear_frames(failure.__traceback__)
            failure = failure.__cause__ or failure.__context__
        left = [p.left() for p in passes]
        if any(left):
            gc.collect()
            left = [p.left() for p in passes]
        before = len(self.arguments)
        for p, numbers in zip(passes, left, strict=True):
            if numbers and not self.make_real(p, numbers):
                self.drawn.append(p)
        return len(self.arguments) > before

    def make_real(self, p: _Pass, numbers: list[int], draw: bool = False) -> bool:
        """Give tensors of a pass that are left their values, if these can be had; with `draw`, random ones, too."""
        with torch.inference_mode(False), torch.no_grad(), self.device or contextlib.nullcontext():
            values = p.values(numbers if draw else ())
            for k in reversed(numbers if values else []):  # views first: they refer to what they are views of
                self.exchange(p, k, values)
        return bool(values)

    def exchange(self, p: _Pass, k: int, values: list[Any]) -> None:
        if sys.getrefcount(p.tensors[k]) <= 2 or k in p.lost:  # the list's and the call's
            return
        kept, value = p.tensors[k], values[k]
        if kept.requires_grad or type(value) is not torch.Tensor or not self.plain(value):
            return
        try:
            torch.utils.swap_tensors(kept, value.data)
        except RuntimeError:  # torch refers to it elsewhere
            return
        _known[kept] = True
        self.fresh.add(id(kept))
        self.arguments.append(kept)

    def unchanged(self, constants: Sequence[torch.Tensor]) -> Callable[[], bool] | None:
        """A function that says whether the objects that hold these still do; None if there are none."""
        conditions: list[str] = []
        scope: dict[str, Any] = {}
        for n, t in enumerate(constants):
            if id(t) not in self.held():
                conditions += [] if t in _known else ["False"]
                continue
            get, steps = self.held()[id(t)]
            scope |= {f"o{n}": get, f"t{n}": t, **{f"k{n}_{i}": key for i, (_, key) in enumerate(steps)}}
            at = "".join(_STEPS[kind].format(f"k{n}_{i}") for i, (kind, _) in enumerate(steps))
            conditions.append(f"o{n}(){at} is t{n}")
        if not conditions:
            return None
        text = f"def same():\n    try: return {' and '.join(conditions)}\n    except Exception: return False\n"
        exec(compile(text, frames.name("kept"), "exec"), scope)
        same: Callable[[], bool] = scope["same"]
        return same


__all__ = ["Again", "Kept"]
