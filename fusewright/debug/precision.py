"""What rounding explains: a group run in float64, run with other roundings, and the rule that compares.

The rule, for every element. `fused`: what the kernel gave; `eager`: what torch gives, operation by operation, in the
program's own types; `precise`: the same in float64 (every float16, bfloat16 and float32 widened, casts to them left
out). An element is right if one of these holds:

1. `fused` is `eager`, or `precise` rounded to the result's type. NaN is NaN; infinities have signs.
2. `|fused - precise| <= 4 |eager - precise| + (eps (8 + 2 log2 n) + r) |precise|`. Here n is the number of elements of
   the largest tensor of the group, which bounds the length of its reductions; eps is that of the result's type. As
   16-bit floats are computed in float32, it is float32's for them, and r their own eps, for the last rounding. Where
   `precise` is 0, which may be what float64 has left of a difference, up to 2^-52 of the largest result is as good.
3. It is explained by rounding on the way: the group is run in float64 up to 8 times more, the result of every operation
   multiplied by 1 + eps or 1 - eps at random, element by element (Monte Carlo arithmetic; Parker, 1997). The eps is
   that of the type that the program has there; of a 16-bit type only where the kernel rounds to it: where the program
   casts, and everywhere with `precision="eager"`. With d the largest distance of those from `precise`,
   `|fused - precise| <= 4 d` plus the bound of 2. This is what admits cancellation, and decisions (a comparison, a
   rounding, an argmax) that a last digit tips.
4. It is explained by rounding inside an operation, of which 3 knows nothing (the tail of gelu is the difference of
   almost equal numbers): up to 8 times all floats among the inputs are moved by up to 1/64 of themselves, and the group
   is run there in float64 and as torch has it, 16-bit floats in float32. With d the largest distance between these two,
   `|fused - precise| <= 4 d` plus the bound of 2.

Integers and truth values must be `eager`'s exactly, or `precise`'s; but if the group has floats at all, not where the
runs of 3 (then up to 32) disagree with each other: there rounding decides. A group that cannot be run in float64 is
compared with `eager` by the tolerances of
`torch.testing.assert_close`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

from ..trace.random import RANDOM

PROBES = 8
DECISIONS = 32  # for results that are no floats: each run tips a coin
FACTOR = 4.0
AROUND = 1 / 64  # how far inputs are moved, relatively
_HALF = (torch.float16, torch.bfloat16)
_NARROW = (torch.float16, torch.bfloat16, torch.float32)
_CLOSE = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.float32: (1.3e-6, 1e-5)}  # as assert_close

Run = Callable[[list[torch.Tensor]], Sequence[Any]]
Eps = list[list[float]] | float | None


@dataclass(frozen=True, slots=True)
class Deviation:
    """A result that rounding does not explain: `output`, the first `index` that is wrong and the values there.

    `allowed`: how far `fused` might have been from `precise`; `wrong` of `total` elements are.
    """

    output: int
    index: tuple[int, ...]
    fused: Any
    eager: Any
    precise: Any
    allowed: float
    wrong: int
    total: int

    def __str__(self) -> str:
        at = f"[{', '.join(map(str, self.index))}]"
        return (
            f"output {self.output} at {at}: fused {self.fused!r}, PyTorch {self.eager!r}, in float64 {self.precise!r} "
            f"(rounding explains {self.allowed:.3g}); {self.wrong} of {self.total} elements"
        )


class _Recorded(TorchDispatchMode):
    """Notes what each operation rounds its results to: the eps of each, in the order of the calls.

    `exact`: 16-bit results are rounded after every operation, and not only where a type is asked for.
    """

    def __init__(self, exact: bool):
        super().__init__()
        self.exact = exact
        self.eps: list[list[float]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        asked = any(isinstance(a, torch.dtype) for a in tree_leaves((args, kwargs)))
        self.eps.append([_rounding(t, self.exact or asked) for t in tree_leaves(out)])
        return out


def _rounding(t: Any, to_type: bool) -> float:
    if not isinstance(t, torch.Tensor) or not t.dtype.is_floating_point:
        return 0.0
    return float(torch.finfo(t.dtype if to_type or t.dtype not in _HALF else torch.float32).eps)


class _Widened(TorchDispatchMode):
    """Every operation in type `to`. `eps`: by how much to disturb the results, of each call or of all, at random from
    `seed`; None: not at all."""

    def __init__(self, eps: Eps = None, seed: int = 0, to: torch.dtype = torch.float64):
        super().__init__()
        self.eps = eps
        self.seed = seed
        self.calls = 0
        self.widen = partial(_widen, to=to)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is not RANDOM:  # which is to draw the same numbers, not others
            args, kwargs = tree_map(self.widen, (tuple(args), dict(kwargs or {})))
        out = tree_map(self.widen, func(*args, **(kwargs or {})))
        if self.eps is None:
            return out
        flat, spec = tree_flatten(out)
        eps = [self.eps] * len(flat) if isinstance(self.eps, float) else self.eps[self.calls]
        self.calls += 1
        return tree_unflatten([self.disturb(t, e) for t, e in zip(flat, eps, strict=True)], spec)

    def disturb(self, t: Any, eps: float) -> Any:
        if not eps or not isinstance(t, torch.Tensor) or t.dtype is not torch.float64 or not t.numel():
            return t
        self.seed += 1
        generator = torch.Generator(t.device).manual_seed(self.seed)
        signs = torch.randint(0, 2, t.shape, device=t.device, generator=generator) * 2 - 1
        return t * (1.0 + eps * signs.to(torch.float64))


def _widen(a: Any, to: torch.dtype = torch.float64) -> Any:
    narrow = _NARROW if to is torch.float64 else _HALF
    if isinstance(a, torch.Tensor):
        return a.to(to) if a.dtype in narrow else a
    return to if isinstance(a, torch.dtype) and a in narrow else a


def in_float64(run: Run, inputs: Sequence[torch.Tensor], eps: Eps = None, seed: int = 0) -> list[torch.Tensor]:
    """The results of `run` with all its arithmetic in float64; with `eps`, disturbed by that (see `_Widened`)."""
    mode = _Widened(eps, seed)
    with torch.no_grad():
        wide = [_widen(t) for t in inputs]
        if eps is not None:
            wide = [mode.disturb(w, _rounding(t, False)) for w, t in zip(wide, inputs, strict=True)]
        with mode:
            return list(run(wide))


def compare(
    fused: Sequence[torch.Tensor],
    run: Run,
    inputs: Sequence[torch.Tensor],
    exact: bool = False,
    known: Sequence[torch.Tensor] | None = None,
) -> list[Deviation]:
    """Where the results of a kernel are not explained by rounding; `run` is the group, operation by operation.

    `exact`: the kernel rounds after every operation (`precision="eager"`). `known`: the results in float64, where
    somebody else has computed them.
    """
    recorded = _Recorded(exact)
    inputs = [t.detach() for t in inputs]
    with torch.no_grad(), recorded:
        eager = run(inputs)
    floats = [t.dtype for t in (*inputs, *fused) if t.dtype.is_floating_point]
    eps: Eps = recorded.eps
    try:
        precise = known if known is not None else in_float64(run, inputs) if floats else eager
    except Exception:  # an operator that has no float64, a reinterpretation of bits
        return list(_found(fused, eager, eager, [_close(f, e) for f, e in zip(fused, eager, strict=True)]))
    largest = max([t.numel() for t in (*inputs, *fused)], default=1)
    bounds = []
    right = []
    for f, e, p in zip(fused, eager, precise, strict=True):
        ok, allowed = _first_look(f, e, p, 8 + 2 * math.log2(max(largest, 1)))
        right.append(ok)
        bounds.append(allowed)
    distance = [torch.zeros_like(p, dtype=torch.float64) for p in precise]
    for probe in range(DECISIONS if floats else 0):
        open_ = [f.dtype.is_floating_point for f, ok in zip(fused, right, strict=True) if not bool(ok.all())]
        if not open_ or (probe >= PROBES and all(open_)):
            break
        try:
            other = in_float64(run, inputs, eps, 1000 * probe)
        except (IndexError, ValueError):  # in float64 some operator is made of other ones: no telling which is which
            eps = max(torch.finfo(f).eps for f in floats)
            other = in_float64(run, inputs, eps, 1000 * probe)
        for k, (f, p, o) in enumerate(zip(fused, precise, other, strict=True)):
            if f.dtype.is_floating_point:
                d = (o - p).abs()
                distance[k] = torch.maximum(distance[k], torch.where(d.isfinite(), d, 0.0))
                near = (f.double() - p).abs() <= FACTOR * distance[k] + bounds[k]
                right[k] = right[k] | near | _same(f, o.to(f.dtype)) & ~f.isfinite()
            else:
                right[k] = right[k] | (f == o) | (o != p)
    _look_around(run, inputs, exact, (fused, precise, right, bounds, distance))
    explained = [FACTOR * d + b for d, b in zip(distance, bounds, strict=True)]
    return list(_found(fused, eager, precise, list(zip(right, explained, strict=True))))


def _look_around(
    run: Run, inputs: Sequence[torch.Tensor], exact: bool, found: tuple[Sequence[torch.Tensor], ...]
) -> None:
    """Rule 4, for what is still open of `found` (fused, precise, right, bounds, distance), of which the latter grow."""
    fused, precise, right, bounds, distance = found
    for probe in range(PROBES):
        open_ = [k for k, f in enumerate(fused) if f.dtype.is_floating_point and not bool(right[k].all())]
        if not open_:
            return
        moved = [_moved(t, exact, 7919 * probe + k) for k, t in enumerate(inputs)]
        try:
            with torch.no_grad(), nullcontext() if exact else _Widened(to=torch.float32):
                theirs = list(run(moved))
            there = in_float64(run, moved)
        except Exception:  # inputs that an operator does not admit
            return
        for k in open_:
            d = (theirs[k].double() - there[k].double()).abs()
            distance[k].copy_(torch.maximum(distance[k], torch.where(d.isfinite(), d, 0.0)))
            right[k] |= (fused[k].double() - precise[k]).abs() <= FACTOR * distance[k] + bounds[k]


def _moved(t: torch.Tensor, exact: bool, seed: int) -> torch.Tensor:
    """An input with its floats moved a little, at random."""
    if not t.dtype.is_floating_point:
        return t
    generator = torch.Generator(t.device).manual_seed(seed)
    factor = 1.0 + AROUND * (2 * torch.rand(t.shape, device=t.device, generator=generator) - 1)
    return (t.double() * factor).to(torch.float32 if t.dtype in _HALF and not exact else t.dtype)


def _same(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b) | (a.isnan() & b.isnan())


def _first_look(f: torch.Tensor, e: torch.Tensor, p: torch.Tensor, ulps: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Rules 1 and 2: (elements that are right, what rounding of the result explains)."""
    if not f.dtype.is_floating_point:
        return (f == e) | (f == p), torch.zeros_like(p, dtype=torch.float64)
    p = p.double()
    info = torch.finfo(f.dtype)
    half = f.dtype in _HALF
    relative = (torch.finfo(torch.float32).eps if half else info.eps) * ulps + (info.eps if half else 0.0)
    base = relative * p.abs() + info.tiny
    error = (e.double() - p).abs()
    allowed = torch.where(base.isfinite(), base, 0.0) + FACTOR * torch.where(error.isfinite(), error, 0.0)
    if p.numel():
        allowed += torch.where(p == 0, torch.where(p.isfinite(), p.abs(), 0.0).max() * 2.0**-52, 0.0)
    near = (f.double() - p).abs() <= allowed
    return near | _same(f, e) | _same(f, p.to(f.dtype)), allowed


def _close(f: torch.Tensor, e: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if not f.dtype.is_floating_point:
        return f == e, torch.zeros(f.shape, device=f.device)
    rtol, atol = _CLOSE.get(f.dtype, (1e-7, 1e-7))
    allowed = atol + rtol * e.double().abs()
    return ((f.double() - e.double()).abs() <= allowed) | _same(f, e), allowed


def _found(
    fused: Sequence[torch.Tensor],
    eager: Sequence[torch.Tensor],
    precise: Sequence[torch.Tensor],
    judged: Sequence[tuple[torch.Tensor, torch.Tensor]],
) -> Iterable[Deviation]:
    for k, (f, e, p, (right, allowed)) in enumerate(zip(fused, eager, precise, judged, strict=True)):
        if bool(right.all()):
            continue
        at = tuple(int(i) for i in (~right).nonzero()[0])
        wrong = int((~right).sum())
        yield Deviation(
            k, at, f[at].item(), e[at].item(), p[at].item(), float(allowed[at].item()), wrong, right.numel()
        )
