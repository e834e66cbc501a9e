"""The pipeline: a traced graph becomes a plan that runs it. The one file that knows every layer."""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import torch
from functorch.compile import make_boxed_func
from torch.fx import GraphModule

from .core.counters import count
from .core.errors import CompilerError, FusewrightWarning, Refusal
from .core.log import LOG
from .core.options import Options, current, using
from .core.switches import disables_group, family_name, names_of
from .debug import fuel, record, repro, sources, stages, steer, watch
from .debug.dump import About, show, timeline
from .fusion.build import Built, build
from .graph.grouping import Group, Grouping, group
from .graph.ir import Value
from .graph.text import dump
from .graph.verify import verify
from .index.expr import Ix
from .loop.lower import Kernel, lower
from .run import devices, inplace, specialize, tune
from .run.gpu import GpuGroup
from .run.gpu import kernel_for as gpu_kernel_for
from .run.kernels import target
from .run.launch import last_level_cache
from .run.plan import GroupPlan, Plan
from .schedule import gpu
from .schedule.cpu import Machine, Schedule, plan
from .schedule.naming import kernel_name
from .trace.fx import Traced, translate
from .trace.gradients import separate

SINGLE_OP_BYTES = 1 << 20  # a lone operation is compiled when its result is large enough for memory reuse to pay
SINGLE_SCATTER_BYTES = 1 << 14  # a lone scatter is, when result or source are: eager visits points or rows one by one

_warned: set[str] = set()
_serial = itertools.count()


def compile_fx(gm: GraphModule, kind: str) -> Callable[[list[Any]], list[Any]]:
    """A boxed callable for an ATen graph whose nodes carry fake tensors; `kind` names it ("forward", ...).

    When the pipeline as a whole fails, the graph runs through torch unchanged, with one warning per cause.
    """
    name = f"{kind}{next(_serial)}"
    with timeline(About(name)):
        return _compile_fx(gm, kind, name, current())


def _compile_fx(gm: GraphModule, kind: str, name: str, o: Options) -> Callable[[list[Any]], list[Any]]:
    show("torch", About(name), lambda: str(gm.print_readable(print_output=False)))
    try:
        if kind == "backward" and o.shared_gradients:
            separate(gm)
        with record.stage("translate", name):
            traced = translate(gm, o.precision == "eager", o.rng, o.disable)
        plan = compile_graph(traced, name)
        with record.stage("plan", name):
            fn = plan.callable()
        show("plan", About(name), lambda: plan.source)
        return fn
    except Exception as e:
        if not o.fallback:
            raise as_compiler_error(e, "compile a graph") from e
        count("fallbacks")
        record.failed(name, f"{type(e).__name__}: {e}")
        warn_once(f"{type(e).__name__}: {e}", "a whole graph", partial(repro.of_graph_failure, gm, name, e))
        return make_boxed_func(gm.forward)


def compile_graph(traced: Traced, name: str) -> Plan:
    """Group, schedule and compile `traced`.

    A group our compiler fails on runs through torch, with one warning per cause; with the option fallback=False the
    failure is raised as CompilerError.
    """
    return _Compilation(traced, name, current()).run()


class _Compilation:
    def __init__(self, traced: Traced, name: str, options: Options):
        self.traced = traced
        self.name = name
        self.options = options
        self.tried = 0  # kernels so far
        self.fell_apart: list[tuple[list[int], str]] = []  # groups without a schedule after all, and why
        self.producers = traced.graph.producers()
        self.memo: dict[tuple[int, ...], tuple[Built, Schedule | None]] = {}
        self.on_gpus: dict[tuple[int, ...], GpuGroup] = {}
        self.copied = inplace.copied(traced)
        self.machine = Machine(target().bits // 32, last_level_cache() if options.streaming else 1 << 62)

    def run(self) -> Plan:
        count("graphs_traced")
        began = time.perf_counter()
        graph = self.traced.graph
        about = About(self.name, operators=tuple(u.target for u in graph.units))
        verify(graph)
        show("graph", about, lambda: dump(graph))
        with record.stage("group", self.name):
            grouping = group(graph, self.accepts, self.traced.after, self.bytes, self.options.siblings)
        plans: list[GroupPlan] = []
        self.compile_ahead(grouping.groups)
        for g in grouping.groups:
            plans.extend(self.group(g))
        count("plans_built")
        grouping.apart = self.fell_apart
        plan = Plan(self.traced, plans, grouping.refused, self.name)
        show("groups", about, lambda: stages.groups(plan))
        show("refusals", about, lambda: stages.refusals(plan))
        watch.install(plan)
        record.finished(plan, grouping)
        LOG.info("%s: %s", self.name, stages.summary(plan, began))
        return plan

    # --- estimates ---
    def hint(self, e: Ix) -> int:
        return self.traced.symbols.hint(e)

    def bytes(self, v: Value) -> int:
        return self.hint(v.numel) * v.dtype.itemsize

    # --- one group ---
    def built(self, g: Group) -> tuple[Built, Schedule | None]:
        """The group's fusion and schedule (None on a GPU, where it depends on the sizes of a call).

        Raises Refusal when there is none.
        """
        key = tuple(g.units)
        found = self.memo.get(key)
        if found is None:
            b = build(g.eqns, g.outputs, self.producers, set(), self.traced.strides, self.options.precision == "eager")
            b.fusion.exact = b.fusion.exact or not self.options.relaxed
            driver = self.driver(g)
            if driver is not None:
                if b.fusion.scatters():
                    raise Refusal("scatter", "scatters have kernels on CPUs only")
                self.allow(gpu.plan(b.fusion, self.hint, driver.gpu)[1].family)
                found = self.memo[key] = (b, None)
                return found
            f, s = plan(b.fusion, self.hint, self.machine)
            self.allow(s.family)
            b.fusion = f
            # what is copied into an input may be written there directly, and inputs may start anywhere in memory
            s = s.streaming(lambda n: n in b.sources and b.sources[n] not in self.copied)
            found = self.memo[key] = (b, s)
        return found

    def driver(self, g: Group) -> devices.Driver | None:
        """The driver of the GPU that the group runs on, if it is one."""
        return devices.driver_for(torch.device(self.traced.graph.units[g.units[0]].device))

    def accepts(self, g: Group) -> None:
        if not self.options.grouping:
            raise Refusal("option", "grouping is disabled")
        try:
            self.built(g)
        except Refusal:
            raise
        except Exception as e:
            if not self.options.fallback:
                raise self.failure(g, e) from e
            raise Refusal("failure", f"{type(e).__name__}: {e}") from e

    def group(self, g: Group) -> list[GroupPlan]:
        """The plans of a group: a kernel, or its units one by one through torch."""
        if not g.kernel:
            return [GroupPlan(g, None, None, None, "")]
        reason = self.leave(g)
        if not reason:
            name = f"{self.name}.g{self.tried}"
            self.tried += 1
            try:
                with record.stage("schedule", self.name, name):
                    b, s = self.built(g)
                about = About(self.name, name, tuple(self.traced.graph.units[u].target for u in g.units), b)
                reason = self.kept_out(g, about)
                if not reason:
                    return [self.kernel(g, b, s, about)]
            except Refusal as r:
                if len(g.units) > 1:
                    self.fell_apart.append((g.units, str(r)))
                    return [p for u in self.apart(g) for p in self.group(u)]
                reason = str(r)
            except Exception as e:
                self.failed(g, e, name)
                reason = f"fallback: {e}"
        if g.outputs:
            count("opaque_calls", len(g.units))
        return [GroupPlan(Group([u], order=g.order), None, None, None, reason) for u in g.units]

    def kept_out(self, g: Group, about: About) -> str:
        """Why the options want torch to run a group that could be a kernel, or ""."""
        disabled = self.options.disable
        entry = disables_group(disabled, about.group, about.hash) if names_of(disabled, "group") else ""
        return f"{entry} is disabled" if entry else fuel.take(about, self.traced, g)

    def allow(self, family: str) -> None:
        """Raises Refusal for a family of schedules that is disabled."""
        if family_name(family) in names_of(self.options.disable, "family"):
            raise Refusal("option", f"schedule family '{family}' is disabled")

    def kernel(self, g: Group, b: Built, s: Schedule | None, about: About) -> GroupPlan:
        """The plan of a group that becomes a kernel."""
        show("fusion", about, b.fusion.text)
        driver = self.driver(g)
        if driver is not None:
            return self.on_gpu(g, b, driver, about)
        assert s is not None
        chosen = ""
        if steer.active():
            s, chosen = steer.on_cpu(b, s, about, lambda: self.anywhere(b))
        show("schedule", about, lambda: stages.schedule(s, b.fusion, self.hint, self.machine))
        with record.stage("lower", self.name, about.group):
            k = lower(b.fusion, s, kernel_name(b.fusion, s.family), self.options.prefetch)
        stages.cpu_kernel(about, k.func)
        began = time.perf_counter()
        with record.stage("compile", self.name, about.group):
            compiled = sources.kernel_for(k.func, about)
        show("cache", about, lambda: stages.origin(compiled, began))
        count("groups_formed")
        count("units_fused", len(g.units))
        return GroupPlan(g, b, k, compiled, "", s, name=about.group, chosen=chosen)

    def anywhere(self, b: Built) -> set[str]:
        """Buffers that may start at any address: what is copied into an input may be written there directly."""
        return {n.name for n in b.fusion.buffers if n.name not in b.sources or b.sources[n.name] in self.copied}

    def gpu_group(self, g: Group, b: Built, driver: devices.Driver) -> GpuGroup:
        key = tuple(g.units)
        if key not in self.on_gpus:
            units = self.traced.graph.units
            notes = [f"{units[u].target} at {units[u].where}" for u in g.units]
            self.on_gpus[key] = GpuGroup(b.fusion, driver, lambda e: None, notes)
            self.on_gpus[key].allow = self.allow
        return self.on_gpus[key]

    def compile_ahead(self, groups: list[Group]) -> None:
        """Compile the kernels of several groups on GPUs at once. Whatever fails will fail again in its turn."""
        ours = [g for g in groups if g.kernel and self.driver(g) is not None and not self.leave(g)]
        if len(ours) < 2 or not self.options.parallel:
            return
        with ThreadPoolExecutor(min(len(ours), os.cpu_count() or 1)) as pool:
            for g in ours:
                with contextlib.suppress(Exception):
                    b, _ = self.built(g)
                    driver = self.driver(g)
                    assert driver is not None
                    k, _, _ = self.gpu_group(g, b, driver).lower(self.hint)
                    pool.submit(contextvars.copy_context().run, gpu_kernel_for, k.func, driver)

    def on_gpu(self, g: Group, b: Built, driver: devices.Driver, about: About) -> GroupPlan:
        """The plan of a group on a GPU, with the kernel for the sizes seen while tracing compiled."""
        group = self.gpu_group(g, b, driver)
        group.failed = lambda e: self.failed(g, e, about.group)
        group.made = lambda schedule: stages.gpu_kernel(about, group, schedule, self.hint)
        group.choose, chosen = steer.on_gpu(b, about, driver.gpu)
        group.compile = sources.gpu_compiler(about)
        group.meanwhile = specialize.begin
        group.tune = tune.begin if self.options.autotune else None
        with record.stage("compile", self.name, about.group):
            k, _, _ = group.kernel(self.hint)
        count("groups_formed")
        count("units_fused", len(g.units))
        return GroupPlan(g, b, k, None, "", None, group, about.group, chosen=chosen)

    def leave(self, g: Group) -> str:
        """Why a group is left to torch, or ""."""
        if not g.outputs:
            return "unused"
        if not self.options.grouping:
            return "grouping is disabled"
        if len(g.units) > 1 or self.options.single_op_groups:
            return ""
        unit = self.traced.graph.units[g.units[0]]
        if unit.target.startswith("fusewright."):
            return ""
        if self.driver(g) is not None:
            return self.leave_on_gpu(g)
        ops = {e.op for e in g.eqns}
        if ops & {"gather", "scan", "cat", "pad"} or all(e.op in ("affine", "reshape", "const") for e in g.eqns):
            return "single operation"
        if max(self.bytes(v) for v in g.outputs) >= SINGLE_OP_BYTES:
            return ""
        if any(e.op == "scatter" and max(map(self.bytes, e.inputs[:2])) >= SINGLE_SCATTER_BYTES for e in g.eqns):
            return ""
        return "single operation"

    def leave_on_gpu(self, g: Group) -> str:
        """Why a single operation is left to torch. Large reductions and transposes of ours are faster."""
        moved = max(self.bytes(v) for v in (*g.outputs, *(v for e in g.eqns for v in e.inputs)))
        return "" if moved >= SINGLE_OP_BYTES else "single operation"

    def apart(self, g: Group) -> list[Group]:
        """A group that turned out not to be schedulable, as single units in order."""
        out = []
        for u in g.units:
            one = Group([u], order=g.order, kernel=True)
            unit = self.traced.graph.units[u]
            one.outputs = list(unit.results)
            inside = {id(e) for e in g.eqns if e.unit == u}
            one.eqns = [e for e in g.eqns if id(e) in inside or self.traced.graph.units[e.unit].kind == "view"]
            out.append(one)
        return out

    def where(self, g: Group) -> str:
        """The user's line behind a group."""
        return next((w for u in g.units if (w := self.traced.graph.units[u].where)), "")

    def failure(self, g: Group, e: Exception) -> CompilerError:
        """`e` as the error users see: with the stage and their line."""
        return as_compiler_error(e, "compile a group", self.where(g))

    def failed(self, g: Group, e: Exception, name: str) -> None:
        if isinstance(e, Refusal) and e.code == "option":  # sizes for which the schedule is one that is not wanted
            LOG.info("%s runs through PyTorch: %s", name, e)
            return
        if not self.options.fallback:
            raise self.failure(g, e) from e
        count("fallbacks")
        b = self.memo.get(tuple(g.units), (None, None))[0]
        with using(self.options):
            warn_once(f"{type(e).__name__}: {e}", self.where(g), lambda: repro.of_failure(self.traced, g, b, name, e))


def as_compiler_error(e: Exception, stage: str, where: str = "") -> CompilerError:
    """`e` itself if it is a CompilerError (its stage and line completed), else one that quotes it."""
    if isinstance(e, CompilerError):
        e.stage, e.where = e.stage or stage, e.where or where
        return e
    return CompilerError(f"{type(e).__name__}: {e}", stage, where)


def warn_once(cause: str, where: str, repro_file: Callable[[], str] = str) -> None:
    """One warning per cause: what failed, where, what runs instead, how to see the failure, a file that shows it."""
    if cause in _warned:
        return
    _warned.add(cause)
    file = repro_file()
    message = (
        f"Fusewright could not compile a group of operations at {where or 'an unknown line'} ({cause}); it runs "
        "through PyTorch instead. Set FUSEWRIGHT_DISABLE=fallback to raise the failure."
    )
    if file:
        message += f" To see it alone: fusewright run {file}"
    LOG.warning(message)
    warnings.warn(message, FusewrightWarning, stacklevel=3)


__all__ = ["Grouping", "Kernel", "compile_graph"]
