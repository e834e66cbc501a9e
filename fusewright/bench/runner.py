"""Runs cases: compiles every implementation, checks it against eager, then times all of them in turns."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func

from fusewright.bench import measure
from fusewright.bench.cases import CASES as CPU_CASES
from fusewright.bench.cases import Case, Tensors
from fusewright.bench.cases_gpu import GPU_CASES
from fusewright.bench.cases_more import MORE_CASES
from fusewright.bench.cases_odd import ODD_CASES
from fusewright.bench.cases_scatter import SCATTER_CASES
from fusewright.bench.cases_sizes import SIZES_CASES

EAGER = "eager"
ON_GPUS = (*GPU_CASES, *ODD_CASES, *MORE_CASES, *SIZES_CASES)  # whose kernels the planner of GPUs makes
CASES = (*CPU_CASES, *ON_GPUS, *SCATTER_CASES)
Say = Callable[[str], None]


class WrongResult(Exception):
    """An implementation does not agree with eager."""


def implementation(name: str, fn: Callable, tag: str) -> Callable:
    """`fn` under the implementation called `name`: eager, or a backend of `torch.compile`."""
    return fn if name == EAGER else torch.compile(measure.private_copy(fn, tag), backend=name)


def _gradient(case: Case, fn: Callable, inputs: Tensors) -> torch.Tensor | None:
    """The incoming gradient for the backward pass: random, as dense as the output."""
    if not case.backward:
        return None
    with torch.no_grad():
        out = fn(*inputs)
        return torch.randn_like(out)


def make_step(case: Case, fn: Callable, inputs: Tensors, grad: torch.Tensor | None) -> Callable[[], Any]:
    """One iteration: the forward pass without gradients, or forward and backward with gradients dropped after."""
    if grad is None:

        def forward() -> Any:
            with torch.no_grad():
                return fn(*inputs)

        return forward
    leaves = [inputs[i] for i in case.grads]

    def both() -> None:
        fn(*inputs).backward(grad)
        for leaf in leaves:
            leaf.grad = None

    return both


def _results(case: Case, fn: Callable, inputs: Tensors, grad: torch.Tensor | None) -> list[torch.Tensor]:
    """The output and the gradients."""
    if grad is None:
        with torch.no_grad():
            out = fn(*inputs)
            return list(out) if isinstance(out, tuple) else [out]
    out = fn(*inputs)
    return [out.detach(), *torch.autograd.grad(out, [inputs[i] for i in case.grads], grad)]


def _exact(case: Case, fn: Callable, inputs: Tensors, grad: torch.Tensor | None) -> list[torch.Tensor]:
    """The same in float64."""
    wide = tuple(t.detach().double().requires_grad_(t.requires_grad) if t.is_floating_point() else t for t in inputs)
    return [t.double() for t in _results(case, fn, wide, None if grad is None else grad.double())]


def disagreement(got: list[torch.Tensor], want: list[torch.Tensor], exact: list[torch.Tensor]) -> str:
    """What differs from float64 by more than rounding and by more than eager does, or an empty string.

    Errors are measured against the largest value of the tensor: the sums over thousands of rows in these programs
    round differently in every implementation, eager's included.
    """
    for i, (a, b, c) in enumerate(zip(got, want, exact, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {i} is {a.dtype} {list(a.shape)}, eager gives {b.dtype} {list(b.shape)}"
        scale = max(c.abs().max().item(), 1e-12)
        rounding = {torch.bfloat16: 1.6e-2, torch.float16: 2e-3}.get(b.dtype, 1e-5)
        mine, theirs = ((t.double() - c).abs().max().item() / scale for t in (a, b))
        if not mine <= max(rounding, 2 * theirs):  # NaN is wrong too
            return f"result {i} is off by {mine:.2g} of its largest value, eager by {theirs:.2g}"
    return ""


def run_case(case: Case, names: list[str], device: str, quick: bool, roof: float, say: Say) -> dict[str, Any]:
    """One row: seconds per implementation, first call, share of the roof; or the reason why one is missing."""
    torch._dynamo.reset()
    inputs = case.inputs(device, quick)
    grad = _gradient(case, case.fn, inputs)
    ideal = case.traffic(inputs) / roof
    row: dict[str, Any] = {
        "suite": case.suite,
        "case": case.name,
        "backward": case.backward,
        "dropout": case.dropout,
        "bytes": case.traffic(inputs),
        "first_call_s": {},
        "seconds": {},
        "share": {},
        "failed": {},
    }
    plain = case.check or case.fn
    want = _results(case, plain, inputs, grad)
    exact = _exact(case, plain, inputs, grad)
    steps = {}
    for number, name in enumerate(names):
        say(f"{case.name}: {name}")
        try:
            call = implementation(name, case.fn, f"{name}_{number}")
            step = make_step(case, call, inputs, grad)
            row["first_call_s"][name] = measure.seconds(step, device)
            if name != EAGER:
                checked = implementation(name, plain, f"{name}_{number}_check") if case.check else call
                if wrong := disagreement(_results(case, checked, inputs, grad), want, exact):
                    raise WrongResult(wrong)
            steps[name] = step
        except Exception as e:
            row["failed"][name] = f"{type(e).__name__}: {e}"[:300]
    del want, exact
    if device.startswith("cuda"):
        row["seconds"] = measure.on_device(steps, 0.02 if quick else 0.15)
        if case.backward:
            row["wall_seconds"] = measure.interleaved(steps, device, 0.02 if quick else 0.5, least=2 if quick else 7)
    else:
        row["seconds"] = measure.interleaved(steps, device, 0.02 if quick else 1.0, least=2 if quick else 7)
    row["share"] = {name: ideal / t for name, t in row["seconds"].items()}
    return row


def run_memory(case: Case, name: str, device: str, quick: bool) -> int | None:
    """Peak bytes of one step above the inputs, in a process that runs nothing else (see `memory_of`).

    What the compiler itself keeps is brought in before by a small version of the same program, and then not counted;
    memory that a runtime keeps between steps is.
    """
    torch._dynamo.reset()
    small = case.inputs(device, True)
    step = make_step(case, implementation(name, case.fn, "small"), small, _gradient(case, case.fn, small))
    step()
    inputs = case.inputs(device, quick)
    grad = _gradient(case, case.fn, inputs)
    gc.collect()
    baseline = torch.cuda.memory_allocated() if device.startswith("cuda") else measure.settle()
    step = make_step(case, implementation(name, case.fn, "real"), inputs, grad)
    for _ in range(3):
        step()
    return measure.peak_during(step, device, baseline)


_CHILD = "import sys; from fusewright.bench.runner import memory_child; memory_child(sys.argv[1:])"


def memory_child(argv: list[str]) -> None:
    """Entry of the process that `memory_of` starts."""
    case_name, name, device, quick = argv
    case = next(c for c in CASES if c.name == case_name)
    print("\n" + json.dumps(run_memory(case, name, device, quick == "quick")))


def memory_of(case: Case, name: str, device: str, quick: bool) -> int | None:
    """Peak bytes of one step of an implementation, measured in a process of its own with glibc's default allocator."""
    command = [sys.executable, "-W", "ignore", "-c", _CHILD, case.name, name, device, "quick" if quick else "full"]
    env = measure.allocator_environment("default")
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)
        return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    except (subprocess.SubprocessError, ValueError, IndexError):
        return None


# ---- call overhead ---------------------------------------------------------------------------------


def _add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def _hand_written() -> Callable:
    """A backend that only AOTAutograd and Dynamo cost anything in: the graphs are functions written by hand."""

    def count(gm: torch.fx.GraphModule) -> tuple[int, int]:
        nodes = list(gm.graph.nodes)
        return sum(n.op == "placeholder" for n in nodes), len(nodes[-1].args[0])

    def forward(gm: torch.fx.GraphModule, example: Any) -> Callable:
        assert count(gm) == (2, 1), "not the graph that the hand-written function replaces"
        return make_boxed_func(lambda x, y: [torch.add(x, y)])

    def backward(gm: torch.fx.GraphModule, example: Any) -> Callable:
        assert count(gm) == (1, 2), "not the graph that the hand-written function replaces"
        return make_boxed_func(lambda g: [g, g])

    return aot_autograd(fw_compiler=forward, bw_compiler=backward)


def run_overhead(names: list[str], quick: bool, say: Say) -> list[dict[str, Any]]:
    """Two rows: a 4-element add forward, and forward + backward, for each layer of torch.compile and the peers."""
    torch._dynamo.reset()
    kinds: dict[str, Any] = {
        "eager": None,
        "dynamo": "eager",
        "hand-written": _hand_written(),
        "aot_eager": "aot_eager",
    }
    kinds.update({n: n for n in names if n not in kinds})
    rows = []
    for backward in (False, True):
        x, y = (torch.randn(4, requires_grad=backward) for _ in range(2))
        seed = torch.ones(4)
        steps: dict[str, Callable[[], Any]] = {}
        row: dict[str, Any] = {
            "suite": "overhead",
            "case": "add of 4 elements " + ("fwd+bwd" if backward else "fwd"),
            "backward": backward,
            "dropout": False,
            "bytes": 0,
            "first_call_s": {},
            "share": {},
            "failed": {},
        }
        for name, backend in kinds.items():
            say(f"call overhead: {name}")
            fn = measure.private_copy(_add, f"{name}_{int(backward)}")
            call = fn if backend is None else torch.compile(fn, backend=backend)

            def forward(call: Callable = call) -> Any:
                return call(x, y)

            def both(call: Callable = call) -> None:
                call(x, y).backward(seed)
                x.grad = y.grad = None

            step = both if backward else forward
            try:
                row["first_call_s"][name] = measure.seconds(step)
                steps[name] = step
            except Exception as e:
                row["failed"][name] = f"{type(e).__name__}: {e}"[:300]
        row["seconds"] = measure.interleaved(steps, "cpu", 0.02 if quick else 0.6, least=3 if quick else 100, most=1000)
        rows.append(row)
    return rows


def run_all(
    suites: list[str],
    only: str,
    names: list[str],
    device: str,
    quick: bool,
    allocator: str,
    memory: bool,
    say: Say,
    keep: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Every selected row in this process, whose allocator is already set up as `allocator` says.

    `keep` is given what there is after each row, so that a run that is cut short has not been for nothing.
    """
    began = time.perf_counter()
    say("copy roof")
    roof = measure.copy_roof(device, quick)
    rows: list[dict[str, Any]] = []
    run: dict[str, Any] = {
        "allocator": allocator,
        "device": device,
        "quick": quick,
        "finished": False,
        "machine": measure.machine(device),
        "copy_roof_bytes_per_s": roof,
        "rows": rows,
    }
    for case in CASES:
        if case.suite in suites and only.lower() in case.name.lower():
            row = run_case(case, names, device, quick, roof, say)
            if memory and case.backward and case.suite == "cpu":
                say(f"{case.name}: memory")
                row["peak_bytes"] = {name: memory_of(case, name, device, quick) for name in names}
            rows.append(row)
            keep(run)
    if "overhead" in suites and device == "cpu" and only.lower() in "call overhead add of 4 elements":
        rows += run_overhead(names, quick, say)
    run["finished"], run["seconds"] = True, time.perf_counter() - began
    keep(run)
    return run
