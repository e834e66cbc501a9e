"""One operator of PyTorch's OpInfo database, sample by sample: compiled against eager.

For every sample the operator is called in eager mode and under `torch.compile`; values, dtype, shape, strides and
in-place effects must agree, and where eager raises, the compiled call must raise too.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import freeze_rng_state
from torch.testing._internal.opinfo.core import OpInfo
from torch.utils._pytree import tree_flatten

from tests.support import clone_like, counted, counters, eager_random, is_ours, significant_strides

SEED = 1234

# What these return is memory that nobody has written: only the metadata means anything.
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}

# Operators that are not compared, and why: every entry must be explained here, and shows in the docs.
EXCLUDED: dict[str, str] = {
    "torch.ops.aten._efficient_attention_forward": "(CUDA) without dropout, its seed and offset are memory that nobody "
    "has written: eager differs from itself",
    "torch.ops.aten._flash_attention_forward": "(CUDA) one of its results is memory that nobody has written",
}

# Error inputs that torch.compile accepts whatever the backend (tried with "aot_eager"), by operator and position.
ACCEPTED_ERRORS: dict[tuple[str, int], str] = {
    ("complex", 2): "functionalization drops the check of the dtype of out=",
    ("aminmax", 3): "functionalization drops the check of the dtype of out=",
}


@dataclass
class Result:
    """What became of one operator's samples in one dtype."""

    op: str
    dtype: str
    samples: int = 0
    passed: int = 0
    fused: int = 0  # samples that ran in compiled kernels only
    partly: int = 0  # samples that ran in compiled kernels and in torch calls
    opaque: int = 0  # samples that ran as torch calls only
    free: int = 0  # samples whose graph computes nothing: views, metadata
    untraced: int = 0  # samples that made no new graph: like an earlier one, or torch.compile does not trace them
    errors_checked: int = 0  # error inputs that raised in both
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    excluded: str = ""

    @property
    def verdict(self) -> str:
        if self.excluded:
            return "excluded"
        return "pass" if not self.failures else "FAIL"

    @property
    def kind(self) -> str:
        """fused, partly, opaque or free: the word for the operator as a whole; empty when nothing was counted."""
        if self.fused and not (self.partly or self.opaque):
            return "fused"
        if self.fused or self.partly:
            return "partly"
        if self.opaque or (self.untraced and not self.free):
            return "opaque"
        return "free" if self.free else ""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict, "kind": self.kind}


def op_name(op: OpInfo) -> str:
    """The database's name of an operator with its variant."""
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


DEVICE = "cpu"  # where samples are made: "cpu" or "cuda"


def operators(dtype: torch.dtype, backward: bool = False) -> list[OpInfo]:
    """The operators that support `dtype` on the device (and autograd in it), in the database's order."""
    chosen = [op for op in op_db if dtype in op.supported_dtypes(DEVICE)]
    if backward:
        chosen = [op for op in chosen if op.supports_autograd and dtype in op.supported_backward_dtypes(DEVICE)]
    return chosen


DEFAULT_TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex128: (1e-7, 1e-7),
}


def tolerances(op: OpInfo, dtype: torch.dtype) -> dict[str, float]:
    """`assert_close`'s defaults for `dtype`, widened by what the database itself asks for this operator."""
    rtol, atol = DEFAULT_TOLERANCES.get(dtype, (0.0, 0.0))
    for info in op.decorators:
        override = getattr(getattr(info, "decorators", [None])[0], "overrides", None)
        test_class = getattr(info, "cls_name", None)
        if override and test_class in (None, "TestCommon", "TestInductorOpInfo", "TestDecomp", "TestUnaryUfuncs"):
            if getattr(info, "device_type", None) in (None, DEVICE) and dtype in override:
                rtol, atol = max(rtol, override[dtype].rtol), max(atol, override[dtype].atol)
    return {"rtol": rtol, "atol": atol}


def _configure() -> None:
    """No limit on recompilation: an operator may have over a thousand samples."""
    torch._dynamo.config.recompile_limit = 1 << 20
    torch._dynamo.config.accumulated_recompile_limit = 1 << 20
    torch._dynamo.config.fail_on_recompile_limit_hit = False


def _describe(sample: Any) -> str:
    def one(x: Any) -> str:
        if isinstance(x, torch.Tensor):
            return f"{str(x.dtype)[6:]}{list(x.shape)}"
        if isinstance(x, (list, tuple)):
            return "[" + ", ".join(map(one, x[:4])) + (", ..." if len(x) > 4 else "") + "]"
        return repr(x)[:40]

    parts = [one(sample.input), *map(one, sample.args), *(f"{k}={one(v)}" for k, v in sample.kwargs.items())]
    return "(" + ", ".join(parts)[:160] + ")"


def _call(fn: Callable, sample: Any) -> tuple[Any, list[Any]]:
    """The result, and the inputs as the call left them."""
    inputs = clone_like((sample.input, tuple(sample.args), dict(sample.kwargs)))
    with freeze_rng_state():
        torch.manual_seed(SEED)
        out = fn(*inputs)
    return out, tree_flatten(inputs)[0]


def _gradients(out: Any, inputs: list[Any]) -> list[torch.Tensor | None]:
    """Gradients of a fixed random projection of the outputs with respect to the inputs that want one."""
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    outs = [y for y in tree_flatten(out)[0] if isinstance(y, torch.Tensor) and y.requires_grad]
    if not wanted or not outs:
        return []
    gen = torch.Generator().manual_seed(SEED)
    seeds = [torch.rand(y.shape, generator=gen, dtype=torch.float64).to(y.dtype) for y in outs]
    return list(torch.autograd.grad(outs, wanted, seeds, allow_unused=True))


def _promote(sample: Any) -> Any | None:
    """The sample in float64, for a second opinion on rounding; None when it holds no floating-point tensor."""
    found = False

    def one(x: Any) -> Any:
        nonlocal found
        if isinstance(x, torch.Tensor) and x.dtype in (torch.float32, torch.float16, torch.bfloat16):
            found = True
            return x.detach().double().requires_grad_(x.requires_grad)
        return x

    wide = sample.transform(one)
    return wide if found else None


def _compare(got: Any, want: Any, what: str, tol: dict[str, float], values: bool) -> tuple[str, bool]:
    """(what differs, or empty; whether it is only a matter of rounding)."""
    mine, my_spec = tree_flatten(got)
    theirs, their_spec = tree_flatten(want)
    if len(mine) != len(theirs) or str(my_spec) != str(their_spec):
        return f"{what}: structure {my_spec}, eager {their_spec}"[:300], False
    for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        where = what if len(mine) == 1 else f"{what} {i}"
        if not isinstance(b, torch.Tensor):
            if not (a == b or (a != a and b != b)):
                return f"{where}: {a!r}, eager {b!r}"[:300], False
            continue
        if not isinstance(a, torch.Tensor):
            return f"{where}: not a tensor", False
        if a.dtype != b.dtype or a.shape != b.shape or a.layout != b.layout:
            return f"{where}: {a.dtype} {list(a.shape)}, eager {b.dtype} {list(b.shape)}", False
        if a.layout is torch.strided and significant_strides(a) != significant_strides(b):
            return f"{where}: strides {a.stride()}, eager {b.stride()} for {list(b.shape)}", False
        if values:
            try:
                # integers may become floats: at least the defaults for the type of the result
                rtol, atol = DEFAULT_TOLERANCES.get(b.dtype, (0.0, 0.0))
                ours = {"rtol": max(rtol, tol["rtol"]), "atol": max(atol, tol["atol"])} if rtol else {}
                torch.testing.assert_close(a, b, equal_nan=True, check_stride=False, **ours)
            except AssertionError as e:
                rounding = b.dtype.is_floating_point
                return f"{where}: {' '.join(str(e).split())}"[:300], rounding
    return "", False


def _as_near(got: Any, want: Any, exact: Any) -> bool:
    """Whether every output is at most twice as far from the float64 result as eager's is.

    Where 16-bit steps overflow in eager, the right finite result is as good.
    """
    for a, b, c in zip(tree_flatten(got)[0], tree_flatten(want)[0], tree_flatten(exact)[0], strict=True):
        if not isinstance(b, torch.Tensor) or not b.dtype.is_floating_point:
            continue
        mine, theirs = (a.double() - c).abs(), (b.double() - c).abs()
        if (theirs.isfinite() & ~mine.isfinite()).any():
            return False
        over = mine.isfinite() & ~theirs.isfinite()
        if (mine[over] > 4 * torch.finfo(b.dtype).eps * c[over].abs()).any():
            return False
        floor = 2 * torch.finfo(b.dtype).eps * c.abs()[c.isfinite()].amax().item() if c.isfinite().any() else 0.0
        finite = mine.isfinite() & theirs.isfinite()
        if finite.any() and mine[finite].max() > 2 * theirs[finite].max() + floor:
            return False
    return True


def _check_sample(fn: Callable, call: Callable, sample: Any, tol: dict[str, float], values: bool, back: bool) -> str:
    """Run one sample both ways; return what differs, or an empty string."""
    try:
        want, want_inputs = _call(fn, sample)
        want_grads = _gradients(want, want_inputs) if back else []
        raised = None
    except Exception as e:
        raised = e
    try:
        got, got_inputs = _call(call, sample)
        got_grads = _gradients(got, got_inputs) if back else []
    except Exception as e:
        if raised is not None:
            return ""
        return f"raises {type(e).__name__}: {' '.join(str(e).split())}"[:300]
    if raised is not None:
        return f"does not raise; eager raises {type(raised).__name__}: {str(raised)[:150]}"
    pairs = [
        ("result", got, want),
        ("input after the call", got_inputs, want_inputs),
        ("gradient", got_grads, want_grads),
    ]
    for what, mine, theirs in pairs:
        message, rounding = _compare(mine, theirs, what, tol, values)
        if message and rounding and (wide := _promote(sample)) is not None:
            # Beyond the tolerance, but no worse than eager when both are held against float64.
            try:
                exact, exact_inputs = _call(fn, wide)
                third = {"result": exact, "input after the call": exact_inputs}
                reference = third[what] if what in third else _gradients(exact, exact_inputs)
                if _as_near(mine, theirs, reference):
                    message = ""
            except Exception:
                pass
        if message:
            return message
    return ""


def _count(result: Result, before: dict[str, int], backend: str) -> None:
    """Classify the sample that has just run by what the counters say."""
    if not is_ours(backend):
        return
    grown = counted(before, backend)
    kernels = grown.get("kernels_compiled", 0) + grown.get("kernels_reused", 0) + grown.get("disk_hits", 0)
    calls = grown.get("opaque_calls", 0)
    if not grown.get("graphs_traced", 0):
        result.untraced += 1
    elif kernels and calls:
        result.partly += 1
    elif kernels:
        result.fused += 1
    elif calls:
        result.opaque += 1
    else:
        result.free += 1


def _check_errors(op: OpInfo, backend: str, result: Result) -> None:
    """Inputs that eager refuses must be refused; those that eager accepts here are passed over."""
    if op.error_inputs_func is None:
        return
    torch._dynamo.reset()

    def fn(x: Any, args: Any, kwargs: Any) -> Any:
        return op.op(x, *args, **kwargs)

    for i, bad in enumerate(op.error_inputs(DEVICE)):
        try:
            _call(fn, bad.sample_input)
            continue
        except Exception as e:
            expected = e
        try:
            _call(torch.compile(fn, backend=backend, dynamic=False), bad.sample_input)
            if (result.op, i) in ACCEPTED_ERRORS:
                continue
            result.failures.append(f"error input {i}: no error; eager: {type(expected).__name__} {str(expected)[:120]}")
        except Exception:
            result.errors_checked += 1


def check(
    op: OpInfo,
    dtype: torch.dtype,
    backend: str,
    backward: bool = False,
    every: int = 1,
    errors: bool = True,
    dynamic: bool = False,
    max_failures: int = 5,
) -> Result:
    """Check an operator: every `every`-th of its samples, starting at one that depends on the operator's name."""
    _configure()
    result = Result(op_name(op), str(dtype)[6:])
    if result.op in EXCLUDED:
        result.excluded = EXCLUDED[result.op]
        return result
    values = op.name not in UNINITIALISED
    tol = tolerances(op, dtype)
    began = time.perf_counter()
    before = counters(backend)

    def fn(x: Any, args: Any, kwargs: Any) -> Any:
        return op.op(x, *args, **kwargs)

    with warnings.catch_warnings(), eager_random(backend):
        warnings.simplefilter("ignore")
        torch.manual_seed(SEED)
        samples = list(op.sample_inputs(DEVICE, dtype, requires_grad=backward))
        # At least one of each operator; the start spreads the choice over the kinds of samples.
        start = zlib.crc32(result.op.encode()) % every % max(len(samples), 1)
        for i in range(start, len(samples), every):
            if (i - start) // every % 32 == 0:
                torch._dynamo.reset()  # guards of older samples would be tried first by every later one
            call = torch.compile(fn, backend=backend, dynamic=dynamic, fullgraph=False)
            sample_before = counters(backend)
            message = _check_sample(fn, call, samples[i], tol, values, backward)
            _count(result, sample_before, backend)
            result.samples += 1
            result.passed += not message
            if message and len(result.failures) < max_failures:
                result.failures.append(f"sample {i} {_describe(samples[i])}: {message}")
        if errors and not backward:
            try:
                _check_errors(op, backend, result)
            except NotImplementedError:
                pass  # the database has no error inputs of this operator for this device
    fallbacks = counted(before, backend).get("fallbacks", 0)
    if fallbacks:
        result.failures.append(f"the compiler gave up {fallbacks} times")
    result.seconds = time.perf_counter() - began
    torch._dynamo.reset()
    return result
