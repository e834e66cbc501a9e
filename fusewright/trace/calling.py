"""Calls of a definition: what arguments must be, and the generated code that checks it and runs a plan.

    def rms_norm(x, w, eps):
        while True:                                                    # one block for each kind of arguments
            if not (_c0(x, w) and _options() is _o0 and ...): break    # torch's own check of types, devices, ranks
            n, m, = x.shape
            _w0, = w.shape
            if not (_w0 == m and n > 0 and m > 0 and x.is_contiguous() and ... and type(eps) is float): break
            return _p0([n, m, x, w, eps])[0]
        return _slow(x, w, eps)

`Checks` says the same in Python, with an error that names the argument.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad

from ..core.dtypes import DType, bool_, f64
from ..core.errors import UserError
from ..core.options import current
from ..graph.defined import Argument, Defined, bindings
from ..graph.ir import Value
from ..graph.requirements import extents, requirements
from ..graph.total import total
from ..index.expr import sym
from ..index.layout import row_major
from ..run.internals import has_tangent, tensor_check
from ..run.overlaps import apart
from ..run.random_ops import SEEDS
from . import frames
from .defined import Kinds, Strides, Variant, kinds_of
from .equations import Env, evaluate
from .types import TO_TORCH

TENSORS = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
_PYTHON = {f64: float, bool_: bool}  # scalars; i64 is int


def python_type(d: DType) -> type:
    """The Python type of a scalar argument."""
    return _PYTHON.get(d, int)


class Checks:
    """What the arguments of a definition must be."""

    def __init__(self, defined: Defined):
        self.defined = defined
        self.bindings, _ = bindings(defined)
        self.graph, self.new = total(defined.graph)
        self.extents = extents(self.graph)
        self.required = requirements(self.graph)
        self.written = [r.into for r in defined.results if r.into]
        self.differentiable = self._differentiable()

    def _differentiable(self) -> list[str]:
        """The tensors that a result depends on by way of floats alone, as gradients go."""
        wanted = {self.new[r.value] for r in self.defined.results if r.value.dtype.is_float}
        for e in reversed(self.graph.eqns):
            if e.out in wanted:
                wanted |= {v for v in e.inputs if v.dtype.is_float}
        return [a.name for a in self.defined.tensors if a.value is not None and self.new[a.value] in wanted]

    def fail(self, message: str) -> UserError:
        return UserError(f"{self.defined.name}: {message}")

    def arguments(self, values: Sequence[Any]) -> dict[str, Any]:
        """The arguments by name, scalars and sizes converted. Raises UserError for a wrong number or type."""
        d = self.defined
        if len(values) != len(d.arguments):
            names, n = ", ".join(a.name for a in d.arguments) or "none", len(values)
            raise self.fail(f"{n} argument{'s' * (n != 1)} given, it takes {len(d.arguments)}: {names}")
        out = {}
        for a, x in zip(d.arguments, values, strict=True):
            if a.kind == "tensor":
                self.tensor(a, x)
            elif a.kind == "size" and (type(x) is not int or x < 0):
                raise self.fail(f"{a.name} is a size: an integer of at least 0, not {x!r}")
            elif a.kind == "scalar":
                x = self.scalar(a, x)
            out[a.name] = x
        return out

    def tensor(self, a: Argument, t: Any) -> None:
        assert a.value is not None
        want = f"declared {a.value.dtype}[{', '.join(map(str, a.value.shape))}]"
        if type(t) not in TENSORS:
            kind = "a subclass of torch.Tensor" if isinstance(t, torch.Tensor) else f"{t!r:.80}"
            raise self.fail(f"{a.name} must be a tensor ({want}), not {kind}")
        if t.is_neg() or t.is_conj() or t._is_zerotensor():
            raise self.fail(f"{a.name} is computed lazily (conjugate, negative, zeros): give {a.name}.clone()")
        if t.layout is not torch.strided or t.device.type not in ("cpu", "cuda"):
            raise self.fail(f"{a.name} must be an ordinary strided tensor, not {t.layout} on {t.device}")
        if torch._C._functorch.is_functorch_wrapped_tensor(t):
            raise self.fail(f"{a.name} is under a transform of torch.func, which definitions do not know")
        if has_tangent(t):
            raise self.fail(f"{a.name} has a forward gradient: definitions are not differentiated")
        self.kind(a, t)

    def kind(self, a: Argument, t: torch.Tensor) -> None:
        """Raises UserError unless element type, rank and device of a tensor are as declared."""
        assert a.value is not None
        want = f"declared {a.value.dtype}[{', '.join(map(str, a.value.shape))}]"
        if t.dtype is not TO_TORCH[a.value.dtype]:
            raise self.fail(f"{a.name} is {str(t.dtype).removeprefix('torch.')}, {want}")
        if t.dim() != a.value.rank:
            raise self.fail(f"{a.name} has {t.dim()} dimension{'s' * (t.dim() != 1)}, {want}")
        if a.device and t.device.type != a.device:
            raise self.fail(f"{a.name} is on {t.device}, declared on {a.device}")

    def scalar(self, a: Argument, x: Any) -> Any:
        assert a.dtype is not None
        if a.dtype is f64 and type(x) is int:
            x = float(x)
        if type(x) is not python_type(a.dtype):
            raise self.fail(f"{a.name} must be a Python {python_type(a.dtype).__name__}, not {x!r:.80}")
        if type(x) is int and not -(1 << 63) <= x < 1 << 63:
            raise self.fail(f"{a.name} = {x} does not fit in 64 bits")
        return x

    def device(self, given: Mapping[str, Any], default: torch.device) -> torch.device:
        """The one device of all tensors."""
        found: dict[torch.device, str] = {}
        for a in self.defined.tensors:
            found.setdefault(given[a.name].device, a.name)
        if len(found) > 1:
            places = " and ".join(f"{name} on {device}" for device, name in found.items())
            raise self.fail(f"tensors on different devices: {places}")
        if not found and default.type == "cuda" and default.index is None:
            return torch.device("cuda", torch.cuda.current_device())
        return next(iter(found), default)

    def sizes(self, given: Mapping[str, Any]) -> dict[str, int]:
        """Every size symbol. Raises UserError where extents or declared strides contradict each other."""
        env: dict[str, int] = {}
        whence: dict[str, str] = {}
        for b in self.bindings:
            x = given[b.argument]
            have = int(x) if not b.what else x.size(b.dim) if b.what == "size" else x.stride(b.dim)
            n, left = divmod(have - int(b.rest.evaluate(env)), b.factor)
            if left or n < 0:
                e = b.factor * sym(b.symbol) + b.rest
                raise self.fail(f"{b.argument} has {b.what} {have} in dimension {b.dim}, declared {e}")
            env[b.symbol] = n
            whence[b.symbol] = f"{b.symbol} = {n}" + (f", by dimension {b.dim} of {b.argument}" if b.what else "")
        for a in self.defined.tensors:
            assert a.value is not None
            for d, n in enumerate(a.value.shape):
                have, want = given[a.name].size(d), int(n.evaluate(env))
                if have != want:
                    names = sorted(s.name for s in n.atoms() if s.kind == "sym")
                    because = f" ({'; '.join(whence[s] for s in names)})" if names else ""
                    declared = f"declared {n}, which is {want}{because}"
                    raise self.fail(f"{a.name} has extent {have} in dimension {d}, {declared}")
            self.strides(a, given[a.name], env)
        return env

    def strides(self, a: Argument, t: torch.Tensor, env: Mapping[str, int]) -> None:
        """Raises UserError unless a tensor has its declared layout."""
        if a.layout is None or not t.numel():
            return
        assert a.value is not None
        wanted = [None if s is None else int(s.evaluate(env)) for s in a.layout.of(a.value.shape)]
        for n, have, want in zip(t.shape, t.stride(), wanted, strict=True):
            if n != 1 and want is not None and have != want:
                raise self.fail(f"{a.name} has strides {tuple(t.stride())}, declared {a.layout}: {tuple(wanted)}")

    def requirements(self, env: Mapping[str, int]) -> bool:
        """Whether no extent is 0. Raises UserError for sizes with which the definition reads outside of something."""
        numbers = {n: int(n.evaluate(env)) for n in self.extents}
        for n, value in numbers.items():
            if value < 0:
                raise self.fail(f"an extent {n} is {value} ({_listed(env)})")
        if 0 in numbers.values():
            return False
        for r in self.required:
            if int(r.slack.evaluate(env)) < 0:
                where = self.graph.units[r.unit].where
                raise self.fail(f"{r.what}, at {where or 'an unknown line'} ({_listed(env)})")
        return True

    def differentiated(self, given: Mapping[str, Any]) -> bool:
        """Whether a result is to have a gradient."""
        return torch.is_grad_enabled() and any(given[name].requires_grad for name in self.differentiable)

    def gradients(self, given: Mapping[str, Any]) -> None:
        """Raises UserError for arguments whose gradients would be lost."""
        if not torch.is_grad_enabled():
            return
        for name in self.written:
            if given[name].requires_grad:
                raise self.fail(f"{name} requires a gradient and is written: wrap the call in torch.no_grad()")
        for name in self.differentiable:
            if given[name].requires_grad:
                raise self.fail(
                    f"{name} requires a gradient, and definitions are not differentiated: give {name}.detach(), wrap "
                    "the call in torch.no_grad(), say how they are computed (Definition.backward), or write it as a "
                    "function for fusewright.fuse"
                )

    def writable(self, given: Mapping[str, Any]) -> None:
        """Raises UserError for arguments that cannot be written as declared."""
        for name in self.written:
            t = given[name]
            if t.is_inference() and not torch.is_inference_mode_enabled():
                raise self.fail(f"{name} is a tensor of inference mode and is written outside of it")
            if t.numel() and any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride(), strict=True)):
                raise self.fail(f"{name} is written, but several of its elements are one in memory")

    def apart(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with copies of those that share memory with one that is written. Raises UserError for two that
        are written and share memory."""
        owner = {a.name: given[a.name].untyped_storage()._cdata for a in self.defined.tensors}
        written = {owner[n]: n for n in self.written if given[n].numel()}
        for n in self.written:
            if given[n].numel() and written[owner[n]] != n:
                raise self.fail(f"{n} and {written[owner[n]]} are both written and share memory")
        return {
            name: x.clone() if name in owner and owner[name] in written and name not in self.written else x
            for name, x in given.items()
        }


def _listed(env: Mapping[str, int]) -> str:
    return ", ".join(f"{k} = {n}" for k, n in env.items()) or "no sizes"


# --- without kernels -----------------------------------------------------------------------------------


def plainly(
    c: Checks,
    given: Mapping[str, Any],
    env: Mapping[str, int],
    device: torch.device,
    seeds: Mapping[Value, torch.Tensor] | None = None,
) -> list[torch.Tensor]:
    """The results (not written into arguments yet), equation by equation through torch.

    `seeds`: what random numbers are drawn with (`draw`); drawn if None.
    """
    values: Env = {c.new[a.value]: given[a.name] for a in c.defined.tensors if a.value is not None}
    values.update(draw(c, device) if seeds is None else seeds)
    numbers = {**env, **{a.name: given[a.name] for a in c.defined.scalars}}
    return evaluate(c.graph.eqns, c.graph.outputs, values, numbers, device)


def draw(c: Checks, device: torch.device) -> dict[Value, torch.Tensor]:
    """Seeds for the random numbers of a call, from PyTorch's generator, in the order that a plan draws them in."""
    seeds = [u.results[0] for u in c.graph.units if u.kind == "torch"]
    return {v: SEEDS(v.shape[0].as_int(), device) for v in seeds}


def written(d: Defined, given: Mapping[str, Any], results: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results as a call returns them: those that go into arguments are written there."""
    targets = {given[r.into].untyped_storage()._cdata for r in d.results if r.into}
    own = [t.clone() if t.untyped_storage()._cdata in targets else t for t in results]
    return [given[r.into].copy_(t) if r.into else t for r, t in zip(d.results, own, strict=True)]


# --- generated code ------------------------------------------------------------------------------------

SCOPE: dict[str, Any] = {"_ad": forward_ad, "_options": current, "_grad": torch.is_grad_enabled, "_apart": apart}
SCOPE.update(_type=type, _int=int, _float=float, _bool=bool)  # arguments may be called like what is Python's


def block(
    checks: Checks,
    number: int,
    scope: dict[str, Any],
    given: Mapping[str, Any],
    kinds: Mapping[str, Kinds | None],
    variant: Variant,
    run: Callable[[list[Any]], list[Any]],
) -> list[str]:
    """The lines that check one kind of arguments and run its plan; what they name goes into `scope`.

    `given`: arguments of that kind; `kinds`: of each tensor's strides.
    """
    d = checks.defined
    tensors = [a.name for a in d.tensors]
    lines, conditions = [], [f"_options() is _o{number}"]
    scope[f"_o{number}"], scope[f"_p{number}"] = current(), run
    if tensors:
        fixed = [[n.as_int() for n in a.value.shape] for a in d.tensors if a.value is not None]
        scope[f"_c{number}"] = tensor_check([given[n] for n in tensors], fixed)
        conditions = [f"_c{number}({', '.join(tensors)})", *conditions, "_ad._current_level < 0"]
    for a in d.arguments:
        if a.kind == "scalar":
            assert a.dtype is not None
            conditions.append(f"_type({a.name}) is _{python_type(a.dtype).__name__}")
            if python_type(a.dtype) is int:
                conditions.append(f"-9223372036854775808 <= {a.name} <= 9223372036854775807")
        elif a.kind == "size":
            conditions.append(f"_type({a.name}) is _int")
    lines.append(f"if not ({' and '.join(conditions)}): break")
    bound = {(b.argument, b.what, b.dim) for b in checks.bindings}
    conditions, local = [], {}
    plain = [b for b in checks.bindings if b.what and b.factor == 1 and b.rest.as_int() == 0]
    for a in d.tensors:
        assert a.value is not None
        for what, call in (("size", "shape"), ("stride", "stride()")):
            if not a.value.shape or (what == "stride" and _dense(a, kinds, variant)):
                continue
            names = [f"_{a.name}_{'s' * (what == 'stride')}{k}" for k in range(a.value.rank)]
            for b in plain:
                if (b.argument, b.what) == (a.name, what):
                    names[b.dim] = b.symbol
            for s, (name, k) in variant.free.items():
                if (name, "stride") == (a.name, what):
                    names[k] = s
            local.update({(a.name, what, k): n for k, n in enumerate(names)})
            if any(n.as_int() is None for n in a.value.shape) or what == "stride":
                lines.append(f"{', '.join(names)}, = {a.name}.{call}")
    for b in checks.bindings:
        if b.what and b not in plain:
            have = local[b.argument, b.what, b.dim]
            lines.append(f"{b.symbol} = ({have} - ({b.rest})) // {b.factor}")
            conditions.append(f"{b.factor} * {b.symbol} + {b.rest} == {have}")
    for a in d.tensors:
        assert a.value is not None
        for k, n in enumerate(a.value.shape):
            if (a.name, "size", k) not in bound and n.as_int() is None:
                conditions.append(f"{local[a.name, 'size', k]} == {n}")
        if _dense(a, kinds, variant):
            conditions.append(f"{a.name}.is_contiguous()")
        else:
            conditions += _stride_conditions(a, variant.strides[a.name], local)
    conditions += [f"{n} > 0" for n in checks.extents]
    conditions += [f"{r.slack} >= 0" for r in checks.required]
    if checks.written:
        conditions.append(f"_apart(({', '.join(checks.written)},), ({', '.join(tensors)},))")
    if any(given[n].requires_grad for n in (*checks.written, *checks.differentiable)):
        conditions.append("not _grad()")
    if conditions:
        lines.append(f"if not ({' and '.join(conditions)}): break")
    flat = list(variant.hints)
    for a in d.tensors:
        flat.append(f"{a.name}.detach()" if given[a.name].requires_grad else a.name)
    flat += [a.name for a in d.scalars]
    lines += returned(d, f"_p{number}([{', '.join(flat)}])")
    return lines


def _stride_conditions(a: Argument, strides: Strides, local: Mapping[tuple[str, str, int], str]) -> list[str]:
    """Strides as they were taken to be; those of extent 1 do not matter."""
    assert a.value is not None
    out = []
    for k, (n, s) in enumerate(zip(a.value.shape, strides, strict=True)):
        have, one = local[a.name, "stride", k], n.as_int()
        if one == 1 or s.text() == have:
            continue
        out.append(f"{have} == {s}" if one is not None else f"({n} == 1 or {have} == {s})")
    return out


def _dense(a: Argument, kinds: Mapping[str, Kinds | None], variant: Variant) -> bool:
    """Whether a tensor is contiguous, which torch can tell fastest."""
    assert a.value is not None
    return kinds[a.name] is None and variant.strides[a.name] == row_major(a.value.shape)


def returned(d: Defined, call: str) -> list[str]:
    """The lines that call a plan and return the results."""
    parts, k = [], 0
    for r in d.results:
        parts.append(r.into or f"_r[{k}]")
        k += not r.into
    if len(parts) == 1 and not d.results[0].into:
        return [f"return {call}[0]"]
    return [f"_r = {call}", f"return {parts[0]}" if len(parts) == 1 else f"return {', '.join(parts)}"]


def write(d: Defined, blocks: Sequence[list[str]]) -> str:
    """Source of the function that tries the blocks and then calls `_slow`."""
    names = ", ".join(a.name for a in d.arguments)
    title = d.name if d.name.isidentifier() and not keyword.iskeyword(d.name) else "call"
    lines = [f"def {title}({names}):"]
    for b in blocks:
        lines += ["    while True:", *(f"        {s}" for s in b)]
    return "\n".join([*lines, f"    return _slow({names})", ""])


def compiled(source: str, name: str) -> Any:
    """The function of that source, without its scope."""
    made: dict[str, Any] = {}
    exec(compile(source, frames.name(name), "exec"), made)
    (call,) = (f for f in made.values() if callable(f))
    return call


__all__ = ["SCOPE", "Checks", "block", "compiled", "kinds_of", "plainly", "returned", "write", "written"]
