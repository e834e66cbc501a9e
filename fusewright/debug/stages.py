"""The texts of stages that no IR prints itself: groups, refusals, schedules, machine code, origins of kernels."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..build import llvm_jit, nvrtc
from ..core.options import current
from ..emit.cuda import emit_cuda
from ..emit.cuda_types import CudaTarget
from ..emit.llvm import emit
from ..fusion.build import Built
from ..fusion.ir import Fusion, expression
from ..fusion.relax import relax
from ..graph.groups import Seen
from ..graph.ir import Graph, Unit
from ..graph.text import equation
from ..index.expr import Ix
from ..loop.gpu_nest import running, walks
from ..loop.ir import Func, Grid
from ..loop.passes import Passes
from ..loop.text import dump as dump_loop
from ..run.gpu import GpuGroup, GpuKernel
from ..run.kernels import CompiledKernel, target
from ..run.plan import Plan
from ..schedule import gpu_scatter
from ..schedule.cpu import Machine, Schedule
from ..schedule.device import Gpu
from ..schedule.gpu_base import GpuSchedule
from ..schedule.legal import conform
from .dump import About, compared, show

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


def partition(graph: Graph, groups: list[list[int]]) -> str:
    """Graph IR by groups of units; what is in none of them (views, and what every reader computes) comes last."""
    lines: list[str] = []
    inside = {u for units in groups for u in units}
    parts = [*groups, [u.index for u in graph.units if u.index not in inside]]
    for k, units in enumerate(parts):
        name = f"group {k}" if k < len(groups) else "in no group"
        lines.append(f"{name}: {', '.join(_unit(graph.units[u]) for u in units)}")
        mine = set(units)
        lines += [f"  {equation(e)}" for e in graph.eqns if e.unit in mine]
    return "\n".join(lines)


def merged(about: About, graph: Graph) -> Seen:
    """Shows each pass of the grouping."""

    def seen(name: str, before: list[list[int]], after: list[list[int]]) -> None:
        show(name, about, lambda: compared(partition(graph, before), partition(graph, after)))

    return seen


def cpu_schedule(about: About, b: Built, s: Schedule, hint: Hint, machine: Machine) -> None:
    """Show what becomes of a fusion until it is lowered for a CPU."""
    show("collapse", about, lambda: compared(b.original.text(), b.fusion.text()))
    show("schedule", about, lambda: schedule(s, b.fusion, hint, machine))
    parts = [*zip(b.fusion.before, s.before, strict=True), (b.fusion, s), *zip(b.fusion.after, s.after, strict=True)]
    show("walks", about, lambda: "\n\n".join(Passes(f, x).text() for f, x in parts))


def cpu_kernel(about: About, func: Func) -> None:
    """Show the stages of a CPU kernel from Loop IR on."""
    show("loop", about, lambda: dump_loop(func))
    show("llvm", about, lambda: emit(func, target()))
    show("assembly", about, lambda: llvm_jit.assembly(emit(func, target()), target()))


def edited(about: About, code: CompiledKernel) -> None:
    """Show the source that runs in the place of the generated one."""
    show("llvm", about, lambda: code.source)
    show("assembly", about, lambda: llvm_jit.assembly(code.source, target()))


def gpu_kernel(about: About, group: GpuGroup, s: GpuSchedule, hint: Hint) -> None:
    """Show the stages of the kernel that `group` has for a schedule. `hint`: sizes as they were while tracing."""
    k, code = group.kernels[s]
    gpu = group.driver.gpu
    cuda = CudaTarget(*gpu.capability)

    def fusion() -> Fusion:
        if gpu_scatter.collected(group.fusion) is not None:  # its points are no axes of the nest
            return gpu_scatter.plan(group.fusion, hint, gpu)[0]
        return conform(group.fusion, s)

    def passes() -> str:
        if gpu_scatter.collected(group.fusion) is not None:
            return "\n".join(f"launch {n}: {g.what}" for n, g in enumerate(k.func.body) if isinstance(g, Grid))
        return walks(relax(fusion()), s).text()

    def source() -> str:
        return code.source or emit_cuda(k.func, cuda)

    show("collapse", about, lambda: compared(group.fusion.text(), fusion().text()))
    show("schedule", about, lambda: schedule(s, group.fusion, hint, gpu))
    show("relaxed", about, lambda: compared(fusion().text(), relax(fusion()).text()))
    show("online", about, lambda: on_the_fly(relax(fusion()), s))
    show("walks", about, passes)
    show("loop", about, lambda: dump_loop(k.func))
    show("cuda", about, source)
    show("assembly", about, lambda: nvrtc.assembly(source(), cuda.arch, current().lineinfo))
    show("cache", about, lambda: origin(code, 0.0))


def gpu_special(about: About, group: GpuGroup, func: Func, code: GpuKernel) -> None:
    """Show the stages of a kernel that is made for one set of sizes, in which it differs from the general one."""
    cuda = CudaTarget(*group.driver.gpu.capability)
    show("loop", about, lambda: dump_loop(func))
    show("cuda", about, lambda: emit_cuda(func, cuda))
    show("assembly", about, lambda: nvrtc.assembly(emit_cuda(func, cuda), cuda.arch, current().lineinfo))
    show("cache", about, lambda: origin(code, 0.0))


def on_the_fly(f: Fusion, s: GpuSchedule) -> str:
    """The stages before, and which of them are combined on the fly after."""
    found = running(f, s)
    before = [line.strip() for line in f.text().splitlines() if line.strip().startswith("reduce ")]
    after = [
        f"{name}: {o.kind}{f', with the maximum {o.lead}' if o.lead else ''}"
        f"{f', about {expression(o.about)}' if o.about is not None else ''}, of {expression(o.of)}"
        for name, o in found.items()
    ]
    return compared("\n".join(before), "\n".join(after or before))


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
