"""Whether a definition computes what it says: its results against the NumPy interpreter's, or a function's.

The interpreter runs the definition's equations in float64 and shares nothing with kernels or torch. How far results may
be from that is what rounding explains (`precision.py`): for it, torch runs the equations in their own types, in
float64, and disturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ..core.errors import FusewrightError
from ..core.options import current
from ..interp.graph import evaluate
from ..interp.wide import widened
from ..prims import philox
from ..run import devices
from ..trace.calling import Checks, draw, plainly
from .precision import Deviation, compare

Tensors = Sequence[torch.Tensor]


class Mismatch(FusewrightError, AssertionError):
    """A definition's results are not the reference's. `deviations`: which, and by how much."""

    def __init__(self, message: str, deviations: Sequence[Deviation] = ()):
        super().__init__(message)
        self.deviations = list(deviations)


def copies(checks: Checks, inputs: Sequence[Any]) -> list[Any]:
    """The arguments, with copies of the tensors that are written."""
    return [_copy(x) if a.name in checks.written else x for a, x in zip(checks.defined.arguments, inputs, strict=True)]


def _copy(t: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=t.device).copy_(t.detach())


def generator_state(device: torch.device) -> torch.Tensor:
    """The state of PyTorch's generator for a device."""
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def _set_state(device: torch.device, state: torch.Tensor) -> None:
    torch.cuda.set_rng_state(state, device) if device.type == "cuda" else torch.set_rng_state(state)


class Judge:
    """References for one call."""

    def __init__(self, checks: Checks, given: Mapping[str, Any], device: torch.device, before: torch.Tensor):
        """`given`: the arguments by name; `before`: the generator's state before the call that is judged."""
        self.checks, self.d, self.given, self.device = checks, checks.defined, given, device
        self.env = checks.sizes(given)
        self.tensors = [given[a.name].detach() for a in self.d.tensors]
        after = generator_state(device)
        _set_state(device, before)
        self.seeds = draw(checks, device)
        _set_state(device, after)

    def compare(self, fused: Tensors, reference: Callable[..., Any] | None) -> None:
        """Raises Mismatch for what rounding does not explain."""
        run, precise = (self.plainly, self.interpreted()) if reference is None else (self.calling(reference), None)
        deviations = compare(fused, run, self.tensors, current().precision == "eager", precise)
        if deviations:
            lines = "\n  ".join(map(str, deviations))
            message = f"{self.d.name} deviates from its reference by more than rounding:\n  {lines}"
            raise Mismatch(message, deviations)

    def close(self, fused: Tensors, reference: Callable[..., Any] | None, rtol: float, atol: float) -> None:
        """Raises Mismatch unless results are within a tolerance."""
        wanted = self.interpreted() if reference is None else self.calling(reference)(self.tensors)
        for r, f, w in zip(self.d.results, fused, wanted, strict=True):
            try:
                torch.testing.assert_close(f, w.to(f.dtype), rtol=rtol, atol=atol, equal_nan=True)
            except AssertionError as e:
                raise Mismatch(f"{self.d.name}, output {r.name}: {e}") from None

    def _with(self, tensors: Tensors) -> dict[str, Any]:
        return {**self.given, **{a.name: t for a, t in zip(self.d.tensors, tensors, strict=True)}}

    def plainly(self, tensors: Tensors) -> list[torch.Tensor]:
        """Equation by equation through torch."""
        return plainly(self.checks, self._with(tensors), self.env, self.device, self.seeds)

    def interpreted(self) -> list[torch.Tensor]:
        """By the NumPy interpreter, in float64."""
        graph, wide = widened(self.checks.graph)
        seeds = {wide[v]: t.cpu().numpy() for v, t in self.seeds.items()}
        sizes = {**self.env, **{a.name: self.given[a.name] for a in self.d.scalars}}
        layout = philox.bits if devices.driver_for(self.device) is None else philox.quads
        opaque = lambda unit, _: [seeds[v] for v in unit.results]
        found = evaluate(graph, [_array(t) for t in self.tensors], sizes, opaque, layout=layout)
        return [torch.from_numpy(np.array(found[v])).to(self.device) for v in graph.outputs]

    def calling(self, reference: Callable[..., Any]) -> Callable[[Tensors], list[torch.Tensor]]:
        """By the user's function."""

        def run(tensors: Tensors) -> list[torch.Tensor]:
            given = self._with([t.clone() for t in tensors])
            out = reference(*(given[a.name] for a in self.d.arguments))
            if not isinstance(out, (torch.Tensor, Iterable)):
                raise Mismatch(f"the reference gives a {type(out).__name__}, not tensors")
            results = [out] if isinstance(out, torch.Tensor) else list(out)
            if len(results) != len(self.d.results):
                raise Mismatch(f"the reference gives {len(results)} results, {self.d.name} {len(self.d.results)}")
            for r, t in zip(self.d.results, results, strict=True):
                want = tuple(int(n.evaluate(self.env)) for n in r.value.shape)
                if not isinstance(t, torch.Tensor) or tuple(t.shape) != want:
                    what = f"shape {tuple(t.shape)}" if isinstance(t, torch.Tensor) else f"a {type(t).__name__}"
                    raise Mismatch(f"the reference's {r.name} is {what}, not of shape {want}")
            return results

        return run


def _array(t: torch.Tensor) -> np.ndarray:
    """A tensor for the interpreter, floats in float64."""
    wide = t.to(torch.float64) if t.dtype.is_floating_point else t
    return wide.detach().cpu().numpy()
