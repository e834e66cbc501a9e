"""The pipeline: a traced graph becomes a plan that runs it. The one file that knows every layer."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from functorch.compile import make_boxed_func
from torch.fx import GraphModule

from .build.pins import steered
from .core.counters import count
from .core.errors import Refusal
from .core.lazy import lazy_import
from .core.log import LOG
from .core.options import Options, current, using
from .core.switches import FUSION_PASSES, family_name, names_of
from .debug import fuel, record, unmet, watch
from .debug.dump import About, around, readable, show, shown, timeline
from .fallback import INSTEAD, fail, fall_back, whole_graph
from .fusion.alike import Likeness, likeness, refused_again, renamed
from .fusion.build import Built, build
from .fusion.ir import Fusion
from .fusion.repeats import columns, times, too_dear
from .graph.grouping import group
from .graph.groups import Again, Group, Grouping
from .graph.ir import Shape, Value
from .graph.ranges import Ranges
from .graph.verify import verify
from .index.expr import Ix
from .lone import Lone
from .loop.lower import Kernel, lower
from .run import devices, inplace
from .run.kernels import CompiledKernel, kernel_for, target
from .run.launch import last_level_cache
from .run.plan import GroupPlan, Plan
from .schedule.cpu import Machine, Schedule, plan
from .schedule.crossed import cut_behind, written_across
from .schedule.gathering import gathers, spread_thin
from .schedule.idle import idle
from .schedule.naming import kernel_name
from .schedule.quotients import divides, spared
from .trace import executors
from .trace.fx import Traced, translate
from .trace.gradients import separate
from .trace.mutable import has_mutable, open_mutable
from .trace.written_parts import parts_written, write_parts

if TYPE_CHECKING:
    from . import compile_gpu
    from .debug import repro, sources, stages, steer
    from .graph import text
    from .run.gpu import GpuGroup
    from .trace import claim_patterns, claims
else:  # for groups on GPUs, for failures, and for what people ask to see or to choose
    compile_gpu = lazy_import("fusewright.compile_gpu")
    repro = lazy_import("fusewright.debug.repro")
    sources = lazy_import("fusewright.debug.sources")
    stages = lazy_import("fusewright.debug.stages")
    steer = lazy_import("fusewright.debug.steer")
    text = lazy_import("fusewright.graph.text")
    claim_patterns = lazy_import("fusewright.trace.claim_patterns")
    claims = lazy_import("fusewright.trace.claims")

_serial = itertools.count()


def compile_fx(
    gm: GraphModule, kind: str, passes: Mapping[str, Callable[[GraphModule], None]] = MappingProxyType({})
) -> Callable[[list[Any]], list[Any]]:
    """A boxed callable for an ATen graph whose nodes carry fake tensors; `kind` names it ("forward", ...).

    `passes` over it that are still to be run, by name, come first. When the pipeline as a whole fails, the graph runs
    through torch unchanged, with one warning per cause.
    """
    name = f"{kind}{next(_serial)}"
    with timeline(About(name)):
        for step, run in passes.items():
            with around(step, About(name), partial(readable, gm)):
                run(gm)
        return _compile_fx(gm, kind, name, current())


def _compile_fx(gm: GraphModule, kind: str, name: str, o: Options) -> Callable[[list[Any]], list[Any]]:
    show("torch", About(name), partial(readable, gm))
    try:
        if kind == "backward" and o.shared_gradients:
            with around("shared_gradients", About(name), partial(readable, gm)):
                separate(gm)
        with record.stage("translate", name):
            order = executors.order(o)
            in_place = has_mutable(gm.graph) or (o.inplace and parts_written(gm.graph))
            work: Any = claims.Copied(gm) if order or in_place else gm  # which may have to run as it is
            if in_place:
                open_mutable(work.graph, o.inplace)
                if o.inplace:
                    write_parts(work.graph)
            traced = translate(work, o.precision == "eager", o.rng, o.disable, o.fma, order)
            if order.patterns():
                claim_patterns.claim_patterns(traced, order)
        return _planned(traced, name)
    except Exception as e:
        run = whole_graph(e, "compile a graph", gm, name, o, partial(repro.of_graph_failure, gm, name, e))
        return make_boxed_func(run)


def _planned(traced: Traced, name: str) -> Callable[[list[Any]], list[Any]]:
    plan = compile_graph(traced, name)
    with record.stage("plan", name):
        fn = plan.callable()
    show("plan", About(name), lambda: plan.source)
    return fn


def compile_traced(traced: Traced, kind: str) -> Callable[[list[Any]], list[Any]]:
    """A boxed callable for a graph that is traced already. Raises whatever the pipeline as a whole raises."""
    name = f"{kind}{next(_serial)}"
    with timeline(About(name)):
        order = executors.order(current())
        if order.patterns():
            claim_patterns.claim_patterns(traced, order)
        return _planned(traced, name)


def compile_graph(traced: Traced, name: str) -> Plan:
    """Group, schedule and compile `traced`.

    A group our compiler fails on runs through torch, with one warning per cause; with the option fallback=False the
    failure is raised as CompilerError.
    """
    return _Compilation(traced, name, current()).run()


class _Compilation(Lone):
    def __init__(self, traced: Traced, name: str, options: Options):
        self.traced = traced
        self.name = name
        self.options = options
        self.tried = 0  # kernels so far
        self.fell_apart: list[tuple[list[int], str]] = []  # groups without a schedule after all, and why
        self.producers = traced.graph.producers()
        self.ranges = Ranges(self.producers)
        self.strides_of: dict[Value, Shape] = {}
        self.memo: dict[Hashable, tuple[Built, Schedule | None]] = {}
        self.merging = False  # whether what is built is a merge that may be declined
        self.alike: dict[Hashable, tuple[Likeness, tuple[Built, Schedule | None] | Refusal]] = {}
        self.on_cpus: dict[tuple[int, int], tuple[Fusion, Schedule, Kernel, CompiledKernel]] = {}
        self.on_gpus: dict[tuple[int, ...] | int, GpuGroup] = {}
        self.copied = inplace.copied(traced)
        self.without = frozenset(name for name in FUSION_PASSES if not getattr(options, name))
        cache = last_level_cache() if options.streaming else 1 << 62
        self.machine = Machine(target().bits // 32, cache, torch.get_num_threads())

    def run(self) -> Plan:
        count("graphs_traced")
        began = time.perf_counter()
        graph = self.traced.graph
        about = About(self.name, operators=tuple(u.target for u in graph.units))
        verify(graph)
        show("graph", about, lambda: text.dump(graph))
        with record.stage("group", self.name):
            seen = stages.merged(about, graph) if shown() else None
            places = {u.device for u in graph.units if u.kind == "fused"}
            on_gpu = any(devices.driver_for(torch.device(d)) is not None for d in places)
            side = on_gpu and self.options.horizontal
            again: Again = "never" if not self.options.rematerialize else "always" if on_gpu else "moved"
            siblings, cut = self.options.siblings, self.better_cut
            grouping = group(graph, self.accepts, self.traced.after, self.bytes, siblings, seen, cut, again, side)
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
        if LOG.isEnabledFor(logging.INFO):
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
        key = _key(g)
        if key not in self.memo:
            like = likeness(g.eqns, g.outputs, self.fact)
            about = (self.traced.graph.units[g.units[0]].device, self.scattered(g), like.key)
            known = self.alike.get(about)  # a long key, hashed anew each time
            if known is None:
                try:
                    known = (like, self._built(g))
                except Refusal as r:
                    known = (like, r)
                self.alike[about] = known
            then, found = known
            if isinstance(found, Refusal):
                raise refused_again(found, then, like)
            self.memo[key] = (renamed(found[0], then, like), found[1])
        return self.memo[key]

    def fact(self, v: Value) -> Hashable:
        """What counts of a value in memory besides its type and shape."""
        return self.strides(v), v in self.copied, self.ranges(v) if v.dtype.is_int else None

    def strides(self, v: Value) -> Shape:
        """Strides in elements of a value that lives in memory, as traced. Every merge that is tried asks for them."""
        found = self.strides_of.get(v)
        if found is None:
            found = self.strides_of[v] = self.traced.strides(v)
        return found

    def _built(self, g: Group) -> tuple[Built, Schedule | None]:
        exact, strides = self.options.precision == "eager", self.strides
        driver = self.driver(g)
        make = build if driver is None else compile_gpu.build
        b = make(g.eqns, g.outputs, self.producers, set(), strides, exact, self.without, ranges=self.ranges)
        b.quotients, quotients = None, b.quotients  # what is built may be kept for long
        units = (*g.units, *g.again)
        own = {v for u in units for v in self.traced.graph.units[u].results} if len(units) > 1 else set()
        inner = columns(b.fusion.axes, b.fusion.stages) if driver is not None else None
        dear = too_dear((r for r in b.repeats if r.value in own), b.fusion.axes, self.hint, inner)
        if dear is not None:
            n = times(dear, b.fusion.axes, self.hint)
            raise Refusal("profit", f"{dear.value} takes {dear.cost} instructions and would be computed {n:.1f} times")
        if driver is not None:
            self.allow(compile_gpu.family(b.fusion, self.hint, driver, self.scattered(g)))
            return b, None
        f, s = plan(b.fusion, self.hint, self.machine)
        self.allow(s.family)
        if self.merging and own and gathers(f, s, self.hint):
            raise Refusal("profit", "lanes would gather, and not if what reduces over rows were another kernel")
        if self.merging and own and spread_thin(f, s, self.hint):
            raise Refusal("profit", "lanes would go along rows, if what reduces over them were another kernel")
        if self.merging and own and written_across(f, self.hint):
            raise Refusal("profit", "a result is written along another axis than what is reduced is read along")
        if self.merging and own and quotients is not None and (v := divides(b.fusion, s)) is not None:
            lost = next((x for x, at, reads in quotients(own) if spared(v, s.lanes, at, reads)), None)
            if lost is not None:
                raise Refusal("profit", f"lanes would divide to find what {lost} is made of, and not if it were stored")
        b.fusion = f
        # what is copied into an input may be written there directly, and inputs may start anywhere in memory
        return b, s.streaming(lambda n: n in b.sources and b.sources[n] not in self.copied)

    def scattered(self, g: Group) -> frozenset[str]:
        """The operators of the group's scatters."""
        return frozenset(self.traced.graph.units[e.unit].target for e in g.eqns if e.op == "scatter")

    def driver(self, g: Group) -> devices.Driver | None:
        """The driver of the GPU that the group runs on, if it is one."""
        return devices.driver_for(torch.device(self.traced.graph.units[g.units[0]].device))

    def accepts(self, g: Group) -> None:
        if not self.options.grouping:
            raise Refusal("option", "grouping is disabled")
        if not g.outputs:
            raise Refusal("unused", "nothing reads what it computes")
        self.merging = True
        try:
            b, _ = self.built(g)
            if self.driver(g) is not None:
                parts = None if g.again else g.parts
                compile_gpu.check_merge(b.fusion, self.hint, parts, lambda p: self.built(p)[0].fusion)
        except Refusal:
            raise
        except Exception as e:
            self.failed(g, e, self.name, "it runs in parts")
            raise Refusal("failure", f"{type(e).__name__}: {e}") from e
        finally:
            self.merging = False

    def better_cut(self, g: Group, between: bool) -> bool:
        """Whether a group should be two kernels, of which the first reduces (`schedule/apart.py`, `idle.py`); if
        the cut is `between` reductions, so does the second."""
        driver = self.driver(g)
        b, s = self.built(g)
        if driver is None:
            if s is None or between:
                return False
            return cut_behind(b.fusion, s, self.hint) or idle(b.fusion, s, self.hint, self.machine)
        return compile_gpu.better_apart(b.fusion, self.hint, driver.gpu, between)

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
        entry = unmet.disabled(disabled, about.group, about.hash) if names_of(disabled, "group") else ""
        return f"{entry} is disabled" if entry else fuel.take(about, self.traced, g)

    def allow(self, family: str) -> None:
        """Raises Refusal for a family of schedules that is disabled."""
        if family_name(family) in names_of(self.options.disable, "family"):
            raise Refusal("option", f"schedule family '{family}' is disabled")

    def kernel(self, g: Group, b: Built, s: Schedule | None, about: About) -> GroupPlan:
        """The plan of a group that becomes a kernel."""
        show("fusion", about, b.original.text)
        if self.driver(g) is not None:
            return self.on_gpu(g, b, about)
        assert s is not None
        chosen = ""
        if steered():
            s, chosen = steer.on_cpu(b, s, about, lambda: self.anywhere(b))
        if shown():
            stages.cpu_schedule(about, b, s, self.hint, self.machine)
        k, compiled = self.on_cpu(b, s, about)
        count("groups_formed")
        count("units_fused", len(g.units))
        return GroupPlan(g, b, k, compiled, "", s, name=about.group, chosen=chosen)

    def on_cpu(self, b: Built, s: Schedule, about: About) -> tuple[Kernel, CompiledKernel]:
        """The kernel of a fusion: one for groups that are alike, unless somebody looks at each or edits it."""
        edited, key = self.options.external_source is not None, (id(b.fusion), id(s))
        if key in self.on_cpus and not edited and not shown() and self.options.kernel_reuse:
            count("kernels_reused")
            return self.on_cpus[key][2:]
        with record.stage("lower", self.name, about.group):
            k = lower(b.fusion, s, kernel_name(b.fusion, s.family), self.options.prefetch)
        if shown():
            stages.cpu_kernel(about, k.func)
        began = time.perf_counter()
        with record.stage("compile", self.name, about.group):
            compiled = sources.kernel_for(k.func, about) if edited else kernel_for(k.func)
        if compiled.source and shown():
            stages.edited(about, compiled)
        show("cache", about, lambda: stages.origin(compiled, began))
        self.on_cpus[key] = b.fusion, s, k, compiled  # which keeps what the key names alive
        return k, compiled

    def anywhere(self, b: Built) -> set[str]:
        """Buffers that may start at any address: what is copied into an input may be written there directly."""
        return {n.name for n in b.fusion.buffers if n.name not in b.sources or b.sources[n.name] in self.copied}

    # --- on a GPU ---
    def gpu_group(self, g: Group) -> GpuGroup:
        """How a group runs on its GPU. Raises Refusal when it has no schedule there."""
        fusion = self.built(g)[0].fusion
        # alike groups share one, unless somebody looks at each or steers it
        apart = shown() or steered() or self.options.external_source is not None
        key = tuple(g.units) if apart else id(fusion)
        if key not in self.on_gpus:
            units = self.traced.graph.units
            notes = [f"{units[u].target} at {units[u].where}" for u in g.units]
            driver = self.driver(g)
            assert driver is not None
            self.on_gpus[key] = compile_gpu.group(fusion, driver, notes, self.allow)
        return self.on_gpus[key]

    def compile_ahead(self, groups: list[Group]) -> None:
        """Compile the kernels of groups on GPUs at once. Whatever fails will fail again in its turn."""
        ours = [g for g in groups if g.kernel and self.driver(g) is not None and not self.leave(g)]
        if ours and self.options.parallel and self.options.kernel_reuse:
            compile_gpu.compile_ahead([partial(self.gpu_group, g) for g in ours], self.hint)

    def on_gpu(self, g: Group, b: Built, about: About) -> GroupPlan:
        """The plan of a group on a GPU, with the kernel for the sizes seen while tracing compiled."""
        group = self.gpu_group(g)
        with record.stage("compile", self.name, about.group):
            k, chosen = compile_gpu.compile_group(group, b, about, self.hint, lambda e: self.failed(g, e, about.group))
        count("groups_formed")
        count("units_fused", len(g.units))
        return GroupPlan(g, b, k, None, "", None, group, about.group, chosen=chosen)

    # --- what is left to torch ---
    def leave(self, g: Group) -> str:
        """Why a group is left to torch, or ""."""
        if not g.outputs:
            return "unused"
        if not self.options.grouping:
            return "grouping is disabled"
        if len(g.units) > 1 or g.again or self.options.single_op_groups:
            return ""
        unit = self.traced.graph.units[g.units[0]]
        if unit.target.startswith("fusewright."):
            return ""
        if self.of_a_copy(g, unit):
            return ""
        if self.driver(g) is not None:
            return self.leave_on_gpu(g)
        return self.leave_on_cpu(g)

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

    def fail(self, g: Group, e: Exception) -> NoReturn:
        """Raise `e` as the error users see: with the stage and their line."""
        fail(e, "compile a group", self.where(g))

    def failed(self, g: Group, e: Exception, name: str, instead: str = INSTEAD) -> None:
        if isinstance(e, Refusal) and e.code == "option":  # sizes for which the schedule is one that is not wanted
            LOG.info("%s runs through PyTorch: %s", name, e)
            return
        if not self.options.fallback:
            self.fail(g, e)
        b = self.memo.get(_key(g), (None, None))[0]
        with using(self.options):
            what = f"a group of operations at {self.where(g) or 'an unknown line'}"
            fall_back(e, what, lambda: repro.of_failure(self.traced, g, b, name, e), instead)


def _key(g: Group) -> Hashable:
    """What tells a group from others of the graph: what it computes, and what of that is stored."""
    return tuple(e.out.id for e in g.eqns), tuple(v.id for v in g.outputs)


__all__ = ["Grouping", "Kernel", "compile_graph"]
