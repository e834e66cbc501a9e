"""The texts of stages that no IR prints itself: groups, refusals, schedules, machine code, origins of kernels."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..build import llvm_jit, nvrtc
from ..emit.cuda import emit_cuda
from ..emit.cuda_types import CudaTarget
from ..emit.llvm import emit
from ..fusion.ir import Fusion
from ..graph.ir import Unit
from ..index.expr import Ix
from ..loop.ir import Func
from ..loop.text import dump as dump_loop
from ..run.gpu import GpuGroup, GpuKernel
from ..run.kernels import CompiledKernel, target
from ..run.plan import Plan
from ..schedule.cpu import Machine, Schedule
from ..schedule.device import Gpu
from ..schedule.gpu_base import GpuSchedule
from .dump import About, show

Hint = Callable[[Ix], int]


def groups(plan: Plan) -> str:
    """The groups in the order they run, by name and hash, and what torch runs with the reason."""
    units = plan.traced.graph.units
    lines = []
    for p in plan.groups:
        what = ", ".join(_unit(units[u]) for u in p.group.units)
        if p.ours and p.built is not None:
            lines.append(f"{p.name} ({p.built.hash}): {what}")
        else:
            reason = p.reason or "; ".join(dict.fromkeys(units[u].reason for u in p.group.units if units[u].reason))
            lines.append(f"torch: {what}{f': {reason}' if reason else ''}")
    return "\n".join(lines)


def refusals(plan: Plan) -> str:
    """The merges that were declined."""
    units = plan.traced.graph.units
    return "\n".join(f"{_unit(units[r.first])} with {_unit(units[r.second])}: {r.reason}" for r in plan.refused)


def _unit(u: Unit) -> str:
    return f"{u.index} {u.target}"


def schedule(s: Schedule | GpuSchedule, f: Fusion, hint: Hint, machine: Machine | Gpu) -> str:
    """A schedule with what the heuristic went by: the machine, the estimated extents, the traffic."""
    extents = ", ".join(f"{a.name}={hint(a.extent)}" for a in f.axes if a.extent is not None)
    traffic = sum(hint(b.numel) * b.dtype.itemsize for b in f.buffers)
    facts = [f"# {machine}", f"# {extents or 'no axes'}; {traffic} bytes"]
    return "\n".join([f"family: {s.family}", *s.directives(), *facts])


def cpu_kernel(about: About, func: Func) -> None:
    """Show the stages of a CPU kernel from Loop IR on."""
    show("loop", about, lambda: dump_loop(func))
    show("llvm", about, lambda: emit(func, target()))
    show("assembly", about, lambda: llvm_jit.assembly(emit(func, target()), target()))


def gpu_kernel(about: About, group: GpuGroup, s: GpuSchedule, hint: Hint) -> None:
    """Show the stages of the kernel that `group` has for a schedule. `hint`: sizes as they were while tracing."""
    k, code = group.kernels[s]
    gpu = group.driver.gpu
    cuda = CudaTarget(*gpu.capability)
    show("schedule", about, lambda: schedule(s, group.fusion, hint, gpu))
    show("loop", about, lambda: dump_loop(k.func))
    show("cuda", about, lambda: emit_cuda(k.func, cuda))
    show("assembly", about, lambda: nvrtc.assembly(emit_cuda(k.func, cuda), cuda.arch))
    show("cache", about, lambda: origin(code, 0.0))


def origin(code: CompiledKernel | GpuKernel, began: float) -> str:
    """Where a kernel came from. `began`: when it was asked for (`time.perf_counter`); an older one was in memory."""
    how = {"disk": "hit on disk", "compiled": "miss: compiled"}.get(code.origin, code.origin)
    return f"{'hit in memory' if code.made < began else f'{how} in {code.seconds * 1e3:.1f} ms'}, key {code.key}"


def summary(plan: Plan, began: float) -> str:
    """A compiled graph in a line, for the log. `began`: when that was started (`time.perf_counter`)."""
    units = plan.traced.graph.units
    ours = [p for p in plan.groups if p.ours]
    left = sum(units[u].kind in ("torch", "fused") for p in plan.groups if not p.ours for u in p.group.units)
    took = (time.perf_counter() - began) * 1e3
    return f"{len(ours)} kernels, {left} operations left to PyTorch, {took:.1f} ms"
