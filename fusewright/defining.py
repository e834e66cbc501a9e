"""`fusewright.define`: a computation written down directly, without tracing PyTorch.

    d = fusewright.define("rms_norm")
    n, m = d.sizes("n m")
    x, w = d.tensor("x", (n, m), "bf16"), d.tensor("w", (m,), "bf16")
    eps = d.scalar("eps", float)
    wide = x.to("f32")
    scale = d.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
    d.output((wide * scale).to("bf16") * w)
    y = d(tensor, weight, 1e-6)

For compiler writers, tests and other front ends. What is written is a graph of the Graph IR; the pipeline that compiles
traced programs groups, schedules and compiles it. docs/definitions.md is the guide.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from .core.counters import count
from .core.dtypes import bool_, f64, i64
from .core.errors import CompilerError, UserError
from .core.options import current
from .debug import judging, record
from .debug.dynamo import Facts
from .debug.judging import Mismatch
from .debug.report import Report, make
from .fallback import raise_or_fall_back
from .graph import defined as text_of
from .graph.builder import Builder
from .graph.defined import Argument, Defined, Layout, Result, check_layout, check_name, verify_defined
from .graph.operations import Operations
from .graph.symbolic import Size, SizeLike, Tensor, TensorLike, as_ix, as_shape
from .graph.units import dtype_of
from .index.expr import sym
from .pipeline import compile_traced
from .run.internals import dispatch_modes
from .trace import operators
from .trace.calling import SCOPE, Checks, block, compiled, kinds_of, plainly, write, written
from .trace.defined import Kinds, Variant, strides_of, traced

BLOCKS = 12  # kinds of arguments that the generated code tries one after the other; the others are looked up by key
_SCALARS = {float: f64, int: i64, bool: bool_}

Plan = Any  # a boxed callable; None: the definition runs through torch

_keys = itertools.count()
_definitions: weakref.WeakValueDictionary[str, Definition] = weakref.WeakValueDictionary()


@torch.compiler.assume_constant_result  # Dynamo calls it, and looks at the key before each call of what it compiles
def _about(key: str) -> str:
    """What a trace must know of a definition, as a text, which Dynamo takes for a constant.

    Its operator; its arguments; its results: numbers of the operator's, and names of arguments that they go into.
    """
    d = _definitions[key]
    name = d.operator.rpartition(":")[2]
    numbers = itertools.count()
    results = [r.into or str(next(numbers)) for r in d._defined.results]
    return f"{name};{','.join(a.name for a in d._defined.arguments)};{','.join(results)}"


def _called_in_a_trace(self: Definition, *inputs: Any, **named: Any) -> Any:
    """`Definition.__call__` as Dynamo sees it: a call of an operator."""
    name, arguments, results = _about(self._key).split(";")
    names = arguments.split(",") if arguments else []
    given = {**dict(zip(names, inputs, strict=False)), **named}
    if len(inputs) + len(named) != len(names) or any(n not in given for n in names):
        raise TypeError(f"{self.name}() takes {len(names)} arguments, {arguments}: not {len(inputs)} and {list(named)}")
    out = getattr(torch.ops.fusewright, name)(*[given[n] for n in names])
    fresh = out if isinstance(out, (list, tuple)) else [out]
    found = [fresh[int(r)] if r.isdigit() else given[r] for r in results.split(",")]
    return found[0] if len(found) == 1 else tuple(found)


class Definition(Operations):
    """A computation: arguments, operations (all of `Operations`), outputs; then calls.

    It can be added to until it is first used. Calls are thread-safe.
    """

    def __init__(self, name: str = "definition", device: str | torch.device = "cpu"):
        """`device`: where results are made if no argument is a tensor."""
        super().__init__()
        if not isinstance(name, str) or not name:
            raise UserError(f"the name of a definition must be a text, not {name!r}")
        self.name = name
        self._key = f"definition {next(_keys)}"
        _definitions[self._key] = self
        try:
            self.device = torch.device(device)
        except (RuntimeError, TypeError):
            raise UserError(f"define: {device!r} is no device of torch") from None
        self._defined = Defined(name, self.graph)
        self._checks: Checks | None = None
        self._lock = threading.RLock()
        self._plans: dict[Any, tuple[Plan, Variant]] = {}
        self._blocks: list[list[str]] = []
        self._numbers = itertools.count()  # of blocks: another thread may still run one that is gone
        self._scope: dict[str, Any] = {}
        self._call: Any = None
        self._backward: Callable[..., Any] | None = None

    # --- arguments and outputs ---
    def size(self, name: str) -> Size:
        """A symbolic size. Extents with the same size are equal; its value comes from the shapes of the arguments."""
        return Size(sym(check_name(name, "size", {a.name for a in self._defined.arguments})))

    def sizes(self, names: str) -> tuple[Size, ...]:
        """Several sizes: `n, m = d.sizes("n m")`."""
        if not isinstance(names, str):
            raise UserError(f"sizes: a text of names is needed, not {names!r}")
        return tuple(self.size(n) for n in names.replace(",", " ").split())

    def size_input(self, name: str) -> Size:
        """A size that is an argument itself, a Python integer, because no tensor has such an extent."""
        self._argument(Argument("size", self._new_name(name)))
        return Size(sym(name))

    def tensor(
        self,
        name: str,
        shape: Any,
        dtype: str,
        *,
        strides: str | Sequence[SizeLike | None] | None = None,
        order: Sequence[int] | None = None,
        device: str = "",
    ) -> Tensor:
        """A tensor argument.

        shape: integers, sizes and texts ("2 * n"), or one text with commas.
        strides: None: any, and a kernel is made for each kind that comes; "contiguous"; or one for each dimension: an
            integer, a size, 0 for an expanded dimension, None for any.
        order: dense in this order of dimensions, from the outermost in ((0, 2, 3, 1) is channels last).
        device: "cpu" or "cuda"; "" for either. All tensors of a call are on one device.
        """
        s, d, layout = as_shape(shape, f"shape of {name}"), dtype_of(dtype, f"dtype of {name}"), None
        negative = [n for n in (e.as_int() for e in s) if n is not None and n < 0]
        if negative:
            raise UserError(f"{name}: an extent is at least 0, not {negative[0]}")
        if strides is not None and order is not None:
            raise UserError(f"{name}: give strides or order, not both")
        if device not in ("", *text_of.DEVICES):
            raise UserError(f"{name}: the device is 'cpu', 'cuda' or '', not {device!r}")
        if order is not None or strides == "contiguous":
            layout = Layout(order=tuple(range(len(s)) if order is None else order))
        elif isinstance(strides, str):
            raise UserError(f"{name}: strides are 'contiguous' or one for each dimension, not {strides!r}")
        elif strides is not None:
            layout = Layout(strides=tuple(None if x is None else as_ix(x, f"a stride of {name}") for x in strides))
        if layout is not None:
            check_layout(layout, s, name)
        self._new_name(name)
        self._open()
        v = self._builder.input(d, s)
        self._argument(Argument("tensor", name, v, None, layout, device))
        return Tensor(self, v)

    def scalar(self, name: str, kind: type | str = float) -> Tensor:
        """A number that is given at every call: `float`, `int` or `bool`. Beside tensors it takes their type."""
        d = _SCALARS.get(kind) if isinstance(kind, type) else {str(t): t for t in _SCALARS.values()}.get(kind)
        if d is None:
            raise UserError(f"{name}: a scalar is float, int or bool, not {kind!r}")
        self._argument(Argument("scalar", self._new_name(name), dtype=d))
        t = self._unit("scalar", lambda b: b.scalar(name, d), number=True)
        return t

    def output(
        self,
        value: TensorLike,
        name: str | None = None,
        *,
        into: Tensor | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        """Declare an output. Calls return one tensor, or a tuple of all in this order.

        into: a tensor argument that the result is written into, and that is returned; operations read it as it was.
        order: dense in this order of dimensions. Without it, a value that is an argument, or a view by its operations
            (`permute`, slices, ...), shares memory; all others are contiguous.
        """
        t = self._mine(value, "output")
        taken = {r.name for r in self._defined.results}
        label = check_name(f"out{len(taken)}" if name is None else name, "output", taken)
        target = "" if into is None else self._target(into, t, label)
        if order is not None and into is not None:
            raise UserError(f"{label}: what is written into an argument has its layout: leave out order")
        layout = None if order is None else Layout(order=tuple(order))
        if layout is not None:
            check_layout(layout, t._value.shape, label)
        self._open()
        self._defined.results.append(Result(label, t._value, target, layout))
        self.graph.outputs.append(t._value)

    def _target(self, into: Tensor, t: Tensor, label: str) -> str:
        a = next((a for a in self._defined.tensors if isinstance(into, Tensor) and a.value is into._value), None)
        if a is None or a.value is None:
            raise UserError(f"{label}: into must be a tensor argument of this definition, not {into!r}")
        if (a.value.dtype, a.value.shape) != (t._value.dtype, t._value.shape):
            raise UserError(f"{label}: {t!r} does not fit into {a.name}, {into!r}")
        if any(r.into == a.name for r in self._defined.results):
            raise UserError(f"{label}: another output goes into {a.name} already")
        return a.name

    def _new_name(self, name: str) -> str:
        return check_name(name, "argument", {a.name for a in self._defined.arguments})

    def _argument(self, a: Argument) -> None:
        self._open()
        self._defined.arguments.append(a)

    # --- text ---
    def __str__(self) -> str:
        return self._defined.text()

    def __repr__(self) -> str:
        names = ", ".join(a.name for a in self._defined.arguments)
        return f"<definition {self.name}({names}) of {len(self.graph.units)} operations>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the definition as text; `load` reads it. Raises UserError."""
        self.finish()
        out = Path(path)
        try:
            out.write_text(str(self), encoding="utf-8")
        except OSError as e:
            raise UserError(f"cannot write the definition to {out}: {e.strerror or e}") from e
        return out

    @classmethod
    def parse(cls, text: str, device: str | torch.device = "cpu") -> Definition:
        """The definition that `text` (of `str` or `save`) stands for. Raises UserError with line and column."""
        if not isinstance(text, str):
            raise UserError(f"parse: the text of a definition is needed, not {text!r}")
        try:
            d = text_of.parse(text)
        except CompilerError as e:
            raise UserError(f"not a definition: {e}") from None
        return cls._of(d, device)

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | torch.device = "cpu") -> Definition:
        """Read a definition that was saved. Raises UserError."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            raise UserError(f"cannot read {path}: {getattr(e, 'strerror', None) or e}") from None
        try:
            return cls.parse(text, device)
        except UserError as e:
            raise UserError(f"{path}: {e}") from None

    @classmethod
    def _of(cls, d: Defined, device: str | torch.device) -> Definition:
        out = cls(d.name, device)
        out.graph, out._defined, out._builder = d.graph, d, Builder(d.graph)
        out._fixed = "it is complete"
        return out

    # --- calls ---
    def finish(self) -> Definition:
        """Check that the definition is complete; nothing can be added from now on. Calls do it by themselves.

        Raises UserError or VerifyError, with what is missing.
        """
        with self._lock:
            if self._call is None:
                if not self._defined.results:
                    raise UserError(f"definition '{self.name}': it has no outputs (output gives it one)")
                verify_defined(self._defined)
                self._fixed = self._fixed or "it has been used"
                self._checks = Checks(self._defined)
                self._scope = {**SCOPE, "_slow": torch._dynamo.disable(self._slow)}
                call = compiled(write(self._defined, []), self.name)
                self._call = type(call)(call.__code__, self._scope, self.name)
                self._call._torchdynamo_disable = True  # kernels are compiled already
        return self

    def __reduce__(self) -> Any:
        how = self._backward
        how = how.definition if isinstance(how, operators.Backward) else how
        return _restored, (str(self.finish()), str(self.device), how)

    def backward(self, how: Callable[..., Any] | Definition) -> Any:
        """Say how its gradients are computed; gives `how`, so that it may be a decorator. Raises UserError.

        how: a function of three tuples, the gradients of the results, the arguments and the results, which gives the
            gradient of each argument that is a tensor (None for those without), in order. Or a definition that takes
            all of these, one after the other, and has the gradients of the floating-point tensors for results.
        """
        self.finish()
        if any(r.into for r in self._defined.results):
            raise UserError(f"{self.name}: a definition that writes into arguments has no gradients")
        if not callable(how):
            raise UserError(f"{self.name}: its backward must be a function or a definition, not {how!r}")
        self._backward = operators.Backward(self._defined, how) if isinstance(how, Definition) else how
        self._key = f"definition {next(_keys)}"  # what has been traced is traced again
        _definitions[self._key] = self
        return how

    def __enter__(self) -> Definition:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.finish()

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run it on tensors, scalars and sizes, in the order in which they were declared, or by name.

        Raises UserError for arguments that are not as declared, naming the argument, and (without a `backward`) for
        those whose gradients would be lost: that require one, where gradients are recorded, and that a result depends
        on.
        """
        if self._call is None:
            self.finish()
        return self._call(*inputs, **named)

    __call__._torchdynamo_inline = _called_in_a_trace  # type: ignore[attr-defined]

    @property
    def operator(self) -> str:
        """The name of the operator that stands for it in traced programs, "fusewright::defined_...".

        torch knows the operator from then on, as the loader of a program that calls it needs.
        """
        self.finish()
        assert self._checks is not None
        name = operators.register(self._checks, self._call, self.device, self._backward)
        return f"{operators.NAMESPACE}::{name}"

    def execute(self, inputs: Sequence[Any] | Mapping[str, Any]) -> list[Any]:
        """Run it on a list of arguments, or on a dict by name; gives a list of all outputs."""
        self.finish()
        if isinstance(inputs, Mapping):
            names = [a.name for a in self._defined.arguments]
            for wrong in [*(n for n in names if n not in inputs), *(n for n in inputs if n not in names)]:
                raise UserError(f"{self.name}: {'no' if wrong in names else 'there is no'} argument {wrong}")
            inputs = [inputs[n] for n in names]
        assert self._checks is not None
        if len(inputs) != len(self._defined.arguments):
            self._checks.arguments(inputs)
        out = self._call(*inputs)
        return list(out) if len(self._defined.results) > 1 else [out]

    def _slow(self, *values: Any) -> Any:
        """A call that the generated code does not know."""
        checks, d = self._checks, self._defined
        assert checks is not None
        if dispatch_modes():  # somebody traces
            return _called_in_a_trace(self, *values)
        given = checks.arguments(values)
        if self._backward is not None and checks.differentiated(given):
            return _called_in_a_trace(self, *given.values())
        checks.gradients(given)
        device = checks.device(given, self.device)
        env = checks.sizes(given)
        there = checks.requirements(env)
        checks.writable(given)
        apart = checks.apart(given)
        inputs = {k: x.detach() if isinstance(x, torch.Tensor) else x for k, x in apart.items()}
        with torch.no_grad(), torch._C._DisableAutocast():
            kinds = {a.name: None if a.layout else kinds_of(inputs[a.name]) for a in d.tensors}
            plan, variant = self._plan(inputs, env, kinds, device) if there else (None, None)
            if plan is None or variant is None:
                return self._returned(given, written(d, inputs, plainly(checks, inputs, env, device)))
            if all(apart[k] is given[k] for k in given):
                self._install(given, kinds, variant, plan)
            strides = {s: inputs[name].stride(k) for s, (name, k) in variant.free.items()}
            sizes = [env[s] if s in env else strides[s] for s in variant.hints]
            out = iter(plan([*sizes, *(inputs[a.name] for a in [*d.tensors, *d.scalars])]))
            return self._returned(given, [None if r.into else next(out) for r in d.results])

    def _returned(self, given: dict[str, Any], results: list[Any]) -> Any:
        out = tuple(given[r.into] if r.into else t for r, t in zip(self._defined.results, results, strict=True))
        return out[0] if len(out) == 1 else out

    def _plan(
        self, given: dict[str, Any], env: dict[str, int], kinds: dict[str, Kinds | None], device: torch.device
    ) -> tuple[Plan, Variant]:
        """The plan for arguments of this kind, compiled if it is the first such call."""
        options = current()
        key = (device, tuple(kinds.values()), options)
        with self._lock:
            found = self._plans.get(key)
            if found is not None:
                return found
            d = self._defined
            taken = {*env, *(a.name for a in d.arguments)}
            strides, free = {}, {}
            for a in d.tensors:
                strides[a.name], more = strides_of(a, kinds[a.name], taken)
                free.update(more)
            hints = {**env, **{s: given[name].stride(k) for s, (name, k) in free.items()}}
            variant = Variant(d, device, strides, free, hints, {a.name: given[a.name] for a in d.scalars})
            plan: Plan = None
            try:
                with record.stage("translate", self.name):
                    trace = traced(variant, options)
                plan = compile_traced(trace, "definition")
                count("definitions_compiled")
            except Exception as e:
                raise_or_fall_back(e, f"compile definition '{self.name}'", f"the definition '{self.name}'", options)
            self._plans[key] = plan, variant
            return plan, variant

    def _install(self, given: dict[str, Any], kinds: dict[str, Any], variant: Variant, plan: Plan) -> None:
        """Let the generated code know arguments like these."""
        with self._lock:
            if len(self._blocks) >= BLOCKS or torch._C._is_any_autocast_enabled():
                return
            assert self._checks is not None
            lines = block(self._checks, next(self._numbers), self._scope, given, kinds, variant, plan)
            self._blocks = [*self._blocks, lines]
            self._call.__code__ = compiled(write(self._defined, self._blocks), self.name).__code__

    @property
    def source(self) -> str:
        """The generated code of calls, as it is now."""
        return write(self._defined, self._blocks)

    def reset(self) -> None:
        """Forget what was compiled, so that the next call sees schedules that were pinned since."""
        with self._lock:
            self._plans.clear()
            self._blocks = []
            if self._call is not None:
                self._call.__code__ = compiled(write(self._defined, []), self.name).__code__

    # --- looking ---
    def explain(self, *inputs: Any, **named: Any) -> Report:
        """Compile it anew, run it once on these arguments, and report what became of it (as `fusewright.explain`)."""
        fresh = Definition._of(self.finish()._defined, self.device)
        with record.recording(measure=True) as graphs:
            fresh(*inputs, **named)
        return make(self.name, graphs, Facts(), {"total": sum(s.end - s.start for s in graphs.spans)})

    _fusewright_explain = explain  # what `fusewright.explain` calls

    def validate(
        self,
        inputs: Sequence[Any],
        reference: Any = None,
        *,
        rtol: float | None = None,
        atol: float | None = None,
    ) -> list[Any]:
        """Run it on copies of `inputs` and compare with a reference; gives the outputs. Raises Mismatch.

        reference: a function of the same arguments that returns a tensor, or a sequence of as many as there are
            outputs. None: the NumPy interpreter, in float64.
        rtol, atol: a plain tolerance (as `torch.testing.assert_close`). Without them, results may be off by what
            rounding explains (`debug/precision.py`): the reference is run in float64, too, and disturbed.
        """
        self.finish()
        checks = self._checks
        assert checks is not None
        given = checks.arguments(inputs)
        device = checks.device(given, self.device)
        before = judging.generator_state(device)
        with torch.no_grad():
            fused = self.execute(judging.copies(checks, inputs))
            judge = judging.Judge(checks, given, device, before)
            if rtol is not None or atol is not None:
                judge.close(fused, reference, rtol or 0.0, atol or 0.0)
            else:
                judge.compare(fused, reference)
        return fused


def _restored(text: str, device: str, backward: Any) -> Definition:
    out = Definition.parse(text, device)
    if backward is not None:
        out.backward(backward)
    return out


def define(name: str = "definition", device: str | torch.device = "cpu") -> Definition:
    """A new definition (`Definition`). `device`: where results are made if no argument is a tensor."""
    return Definition(name, device)


__all__ = ["Definition", "Mismatch", "Size", "Tensor", "define"]
