"""`fusewright demo`: the bias-dropout-add-normalization block in three forms, forward and backward, checked and timed.

The block is the inner loop of a transformer layer: add a bias, drop out, add the residual, normalize. It is written
with `F.layer_norm`, with layer norm in primitive operations, and with RMS norm in primitive operations.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from rich.console import Console
from rich.table import Table

import fusewright
from fusewright.bench.measure import check_names, interleaved, private_copy, seconds

Tensors = list[torch.Tensor]
P = 0.1
NAMES = ("input", "residual", "weight", "bias", "norm bias")


# ---- the block -------------------------------------------------------------------------------------


def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[-1],), w, b)


def layer_norm_written_out(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(-1, keepdim=True)
    return w * (centred / torch.sqrt(variance + 1e-12)) + b


def rms_norm_written_out(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    square = x.mul(x).mean(-1, keepdim=True)
    return w * (x / torch.sqrt(square + 1e-12))


FORMS: dict[str, Callable[..., torch.Tensor]] = {
    "F.layer_norm": layer_norm,
    "layer norm written out": layer_norm_written_out,
    "RMS norm written out": rms_norm_written_out,
}


def block(norm: Callable[..., torch.Tensor], p: float) -> Callable[..., torch.Tensor]:
    """bias + dropout + residual + normalization, as a plain PyTorch function."""

    def bias_dropout_add_norm(
        x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, b: torch.Tensor
    ) -> torch.Tensor:
        return norm(F.dropout(x + bias, p, training=True) + residual, w, b)

    return bias_dropout_add_norm


def make_inputs(size: tuple[int, ...], device: str, seed: int = 0) -> tuple[Tensors, torch.Tensor]:
    """The five inputs, all with gradients, and the gradient of the output."""
    torch.manual_seed(seed)
    shapes = (size, size, size[-1:], size[-1:], size[-1:])
    return [torch.randn(s, device=device, requires_grad=True) for s in shapes], torch.randn(size, device=device)


def results(fn: Callable, inputs: Tensors, grad: torch.Tensor) -> Tensors:
    """Output and gradients; an input that the form does not use has a gradient of None, left out."""
    out = fn(*inputs)
    grads = torch.autograd.grad(out, inputs, grad, allow_unused=True)
    return [out.detach(), *(g for g in grads if g is not None)]


def make_step(fn: Callable, inputs: Tensors, grad: torch.Tensor) -> Callable[[], None]:
    """One iteration, forward and backward, with the gradients dropped afterwards."""

    def step() -> None:
        fn(*inputs).backward(grad)
        for t in inputs:
            t.grad = None

    return step


# ---- checks ----------------------------------------------------------------------------------------


def compare(got: Tensors, eager: Tensors, exact: Tensors) -> str:
    """What is wrong, or an empty string: errors against float64 may be twice eager's, plus a few units of rounding.

    The root mean square is compared, relative to the largest value: eager may be exact by luck in one element.
    """
    for i, (mine, theirs, reference) in enumerate(zip(got, eager, exact, strict=True)):
        what = "output" if i == 0 else f"gradient {i}"
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return f"{what}: {mine.dtype} {list(mine.shape)}, eager gives {theirs.dtype} {list(theirs.shape)}"
        scale = reference.abs().max().item()
        errors = [(t.double() - reference).square().mean().sqrt().item() for t in (mine, theirs)]
        if not errors[0] <= 2 * errors[1] + 4 * torch.finfo(mine.dtype).eps * scale:
            return f"{what}: error {errors[0]:.2g}, eager's is {errors[1]:.2g}"
    return ""


def check_values(norm: Callable, compiled: Callable, inputs: Tensors, grad: torch.Tensor) -> str:
    """Without dropout: output and gradients against eager."""
    plain = block(norm, 0.0)
    wide = [t.detach().double().requires_grad_() for t in inputs]
    return compare(results(compiled, inputs, grad), results(plain, inputs, grad), results(plain, wide, grad.double()))


def check_mask(norm: Callable, compiled: Callable, inputs: Tensors, grad: torch.Tensor) -> str:
    """With dropout: the mask's statistics, and that forward and backward use the same one.

    The stream of random numbers is not eager's, so the mask is read off the gradients: that of the input is that of
    the residual times 0 or 1/(1-p). The output must then be what eager computes with this mask.
    """
    out = compiled(*inputs)
    to_input, to_residual = torch.autograd.grad(out, inputs[:2], grad)
    kept = to_input != 0
    expected = torch.where(kept, to_residual / (1 - P), 0.0)
    # The gradient of the residual may itself be 0 only where both are: those elements do not matter here.
    worst = (to_input - expected).abs().max().item() / max(to_residual.abs().max().item(), 1e-30)
    if not worst < 1e-5:
        return f"gradients are not multiplied by 0 or 1/(1-p): off by {worst:.2g}"
    count, n = int(kept.sum()), kept.numel()
    if abs(count / n - (1 - P)) > 6 * (P * (1 - P) / n) ** 0.5:
        return f"{count} of {n} elements kept with p = {P}"
    x, residual, w, bias, b = inputs
    with torch.no_grad():
        want = norm(torch.where(kept, (x + bias) / (1 - P), 0.0) + residual, w, b)
    off = (out - want).abs().max().item() / want.abs().max().item()
    return "" if off < 1e-5 else f"the forward pass does not use the mask of the backward pass: off by {off:.2g}"


# ---- the program -----------------------------------------------------------------------------------


@dataclass
class Measured:
    """One row of either table."""

    form: str
    problems: list[str] = field(default_factory=list)
    rate: dict[str, float] = field(default_factory=dict)  # iterations per second
    first: dict[str, float] = field(default_factory=dict)  # seconds of the first call
    kernels: int | None = None
    torch_calls: int = 0
    operations: int = 0


class Demo:
    """The settings of one run and what it says while it works."""

    def __init__(self, args: argparse.Namespace, console: Console):
        self.device, self.quick = args.device, args.quick
        self.backends = {"fused": args.backend}
        if args.peers:
            try:
                torch.compile(lambda x: torch.sin(x) + 1, backend="inductor")(torch.ones(4, device=self.device))
                self.backends["TorchInductor"] = "inductor"
            except Exception as e:
                console.print(f"TorchInductor is left out, it does not work here: {str(e).splitlines()[0]}")
        self.size = (4, 8, 64) if self.quick else (64, 128, 1024)
        self.budget = 0.05 if self.quick else 2.0
        self.console = console
        self.status: Any = None

    def say(self, text: str) -> None:
        """Progress: a line that changes on a terminal, a line each elsewhere."""
        self.status.update(text)
        if not self.console.is_terminal:
            self.console.print(f"… {text}", highlight=False)

    def one_size(self, form: str) -> Measured:
        """Check a form, then time it at the one size."""
        torch._dynamo.reset()
        norm, row = FORMS[form], Measured(form)
        inputs, grad = make_inputs(self.size, self.device)
        steps = {"eager": make_step(block(norm, P), inputs, grad)}
        for name, backend in self.backends.items():
            self.say(f"{form}: {name}, compile")
            call = torch.compile(private_copy(block(norm, P), f"{name}_{backend}"), backend=backend)
            step = make_step(call, inputs, grad)
            before = fusewright.counters()
            row.first[name] = seconds(step, self.device)
            if name == "fused":
                grown = {k: v - before[k] for k, v in fusewright.counters().items()}
                row.kernels, row.torch_calls = grown["groups_formed"], grown["opaque_calls"]
                row.operations = grown["units_fused"]
                if grown["fallbacks"]:
                    row.problems.append(f"the compiler gave up {grown['fallbacks']} times")
            self.say(f"{form}: {name}, check against eager")
            plain = torch.compile(private_copy(block(norm, 0.0), f"{name}_{backend}_check"), backend=backend)
            problem = check_values(norm, plain, inputs, grad) or check_mask(norm, call, inputs, grad)
            if problem:
                row.problems.append(f"{name}: {problem}")
            steps[name] = step
        self.say(f"{form}: time")
        row.rate = {n: 1 / t for n, t in interleaved(steps, self.device, self.budget).items()}
        return row

    def many_sizes(self, form: str) -> Measured:
        """Warm up on one size, then run 20 random ones: time of the first pass over them, of later ones, kernels."""
        torch._dynamo.reset()
        norm, row = FORMS[form], Measured(form)
        rng = random.Random(42)
        first, second, last = self.size
        sizes = [(first + rng.randrange(-2, 3), second + rng.randrange(-2, 3), last) for _ in range(20)]
        warm = make_inputs(self.size, self.device)
        data = [make_inputs(s, self.device, i) for i, s in enumerate(sizes)]
        calls: dict[str, Callable] = {"eager": block(norm, P)}
        for name, backend in self.backends.items():
            self.say(f"{form}: {name}, 20 random sizes")
            call = torch.compile(private_copy(block(norm, P), f"{name}_{backend}_sizes"), backend=backend, dynamic=True)
            plain = torch.compile(
                private_copy(block(norm, 0.0), f"{name}_{backend}_sizes_check"), backend=backend, dynamic=True
            )
            for _ in range(3):
                make_step(call, *warm)()
            before = fusewright.counters()["kernels_compiled"]
            row.first[name] = sum(seconds(make_step(call, *d), self.device) for d in data)
            if name == "fused":
                row.kernels = fusewright.counters()["kernels_compiled"] - before
            problem = check_values(norm, plain, *data[0]) or check_mask(norm, call, *data[0])
            if problem:
                row.problems.append(f"{name}: {problem}")
            calls[name] = call
        self.say(f"{form}: time 20 random sizes")
        times: dict[str, list[float]] = {name: [] for name in calls}
        for inputs, grad in data:
            for name, call in calls.items():
                step = make_step(call, inputs, grad)
                times[name].append(seconds(step, self.device))
        row.rate = {name: 1 / statistics.mean(t) for name, t in times.items()}
        return row

    def tables(self, one: list[Measured], many: list[Measured]) -> list[Table]:
        """Both tables, ready to print."""
        peers = [n for n in self.backends if n != "fused"]
        size = list(self.size)
        first = Table(title=f"bias-dropout-add-norm {size}, p = {P}, forward + backward, {describe(self.device)}")
        second = Table(title="20 random sizes around it, after a warm-up on one")
        for table, middle in ((first, "compile"), (second, "first pass")):
            table.add_column("form")
            table.add_column("checked")
            for name in ("eager", "fused"):
                table.add_column(f"{name} it/s", justify="right")
            table.add_column("speed-up", justify="right")
            for name in peers:
                table.add_column(f"{name} it/s", justify="right")
            table.add_column("kernels run" if table is first else "kernels compiled", justify="right")
            for name in self.backends:  # compile time: the whole first call, tracing included
                table.add_column(f"{middle} s, {name}", justify="right")
        first.add_column("what was fused")
        for table, rows in ((first, one), (second, many)):
            for row in rows:
                cells = [row.form, "[red]wrong[/red]" if row.problems else "[green]ok[/green]"]
                cells += [f"{row.rate[n]:,.1f}" for n in ("eager", "fused")]
                cells.append(f"{row.rate['fused'] / row.rate['eager']:.2f}×")
                cells += [f"{row.rate[n]:,.1f}" for n in peers]
                cells.append(str(row.kernels))
                cells += [f"{row.first[n]:.2f}" for n in self.backends]
                if table is first:
                    left = f", {row.torch_calls} left to torch" if row.torch_calls else ""
                    cells.append(f"{row.operations} operations in {row.kernels} kernels{left}")
                table.add_row(*cells)
        return [first, second]

    def run(self) -> int:
        """The whole demonstration; 1 when a check failed."""
        began = time.perf_counter()
        with self.console.status("start") as self.status:
            one = [self.one_size(form) for form in FORMS]
            many = [self.many_sizes(form) for form in FORMS]
        for table in self.tables(one, many):
            self.console.print(table)
        problems = [f"{row.form}: {p}" for row in (*one, *many) for p in row.problems]
        for problem in problems:
            self.console.print(f"[red]wrong[/red] {problem}", highlight=False)
        if not problems:
            self.console.print(
                f"every result agrees with eager; {time.perf_counter() - began:.0f} s in all", highlight=False
            )
        return 1 if problems else 0


def describe(device: str) -> str:
    """The device in words."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    return f"CPU, {torch.get_num_threads()} threads"


def main(argv: list[str]) -> int:
    """The command. Exit status 1 when a result does not agree with eager."""
    parser = argparse.ArgumentParser(prog="fusewright demo", description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--peers", action="store_true", help="also TorchInductor (on a CPU it needs a C++ compiler)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it works, not how fast")
    parser.add_argument("--backend", default="fusewright", help="another backend of torch.compile in our place")
    args = parser.parse_args(argv)
    check_names(args.device, [args.backend])
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"torch\..*")
        return Demo(args, console).run()
