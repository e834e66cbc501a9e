"""What a saved program has of a group on a GPU: kernels for some sizes, and rules that say for which sizes each is.

Two kinds of rules come of the scheduler's own reasoning on traced numbers (`index/traced.py`). One says that it would
choose the same schedule for other sizes. The other says that a schedule is legal for them (`schedule/legal_gpu.py`):
a kernel of another size then runs where the best one was not saved. Where no kernel is legal, plain schedules without
vectors are added, which assume less, until sizes all over their ranges have a kernel. Where still no rule holds, torch
runs the group's operations.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import math
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import torch

from .build import cpus, llvm_jit, nvrtc
from .core.errors import FusewrightError, Refusal, UserError
from .core.log import LOG
from .emit.cuda import emit_cuda
from .emit.cuda_types import CudaTarget
from .index.traced import Trace, source
from .loop.ir import Func
from .loop.lower import Kernel
from .loop.text import dump as loop_text
from .run import devices, kernels, saved_native
from .run.convention import Convention, Symbol
from .run.gpu import GpuKernel, cubin_of, interface, plain, sizes_of, traced
from .run.plan import GroupPlan, Plan
from .run.prepared import Launch
from .schedule.device import Gpu, typical
from .schedule.forms import Illegal
from .schedule.gpu_base import ACCESS, GpuSchedule
from .schedule.legal_gpu import Sizes, settle

SPREAD = (1, 2, 7, 16, 100, 512, 4096, 65536)  # values of a size that kernels are made for, where its range has them
MOST = 16  # sets of sizes that kernels are made for by default
SCATTERED = 64  # sets of sizes, all over their ranges, that are tried
PLAIN = 3  # plain kernels of a group, at most
SAMPLE = 16  # sets of sizes by which plain schedules are judged
UNKNOWN = 64  # the estimate of a size that is known only when the program runs


Made = tuple[GpuSchedule, Kernel, GpuKernel]


class Emitter:
    """Compiles for a GPU that need not be there. See `devices.Driver`; nothing can be launched."""

    def __init__(self, gpu: Gpu):
        self.gpu = gpu
        self.target = CudaTarget(*gpu.capability)
        self.arch = self.target.arch

    def versions(self) -> str:
        return f"{self.arch} {nvrtc.versions()}"

    def compile(self, func: Func) -> bytes:
        return cubin_of(func, self.target, self.compile_text)

    def compile_text(self, text: str) -> bytes:
        return nvrtc.compile(text, self.arch)[0]

    def load(self, code: bytes, func: Func) -> list[Any]:
        return [code for _ in interface(func).launches]

    def restore(self, code: bytes, launches: Sequence[Launch]) -> list[Any]:
        raise NotImplementedError

    def scratch(self, nbytes: int) -> torch.Tensor:
        raise NotImplementedError

    def counters(self, count: int, stream: int) -> torch.Tensor:
        raise NotImplementedError

    def enter(self) -> int:
        raise NotImplementedError

    def can_time(self) -> bool:
        return False

    def times(self, runs: Sequence[Any], rounds: int) -> list[float]:
        raise NotImplementedError

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        raise NotImplementedError


def emitters(capabilities: Sequence[tuple[int, int]], types: Sequence[str]) -> list[Emitter]:
    """What compiles for GPUs of these compute capabilities (none: the GPU that is here), the newest first.

    `types`: the device types that stand for it. Raises UserError.
    """
    present: list[Gpu] = []
    for t in types:
        if (t != "cuda" or torch.cuda.is_available()) and not devices.unsupported(torch.device(t)):
            driver = devices.driver_for(torch.device(t, 0) if t == "cuda" else torch.device(t))
            if driver is not None:
                present.append(driver.gpu)
    if torch.version.cuda:
        nvrtc.prefer(int(torch.version.cuda.split(".")[0]))
    known = nvrtc.architectures()
    if not capabilities:
        if not present:
            raise UserError("architectures: there is no GPU here; name one to make kernels for (sm_90)")
        return [Emitter(present[0])]
    wanted = sorted(set(capabilities), reverse=True)
    for c in wanted:
        if CudaTarget(*c).arch not in known:
            raise UserError(f"architectures: NVRTC {nvrtc.version()} does not compile for {CudaTarget(*c).arch}")
    return [Emitter(next((g for g in present if g.capability == c), typical(c))) for c in wanted]


def about(emitter: Emitter, places: Sequence[torch.device]) -> dict[str, Any]:
    """What a machine must have to run code for a GPU."""
    on = [d for d in places if d.type == "cuda"] or list(places)
    compiler = ".".join(map(str, nvrtc.version()))
    return {"capability": list(emitter.gpu.capability), "nvrtc": compiler, "device": str(on[0])}


def native_functions(members: dict[str, bytes]) -> list[dict[str, Any]]:
    """What launches the kernels, for CPUs of this architecture; the object code goes into `members`."""
    out = []
    cpu = cpus.named(cpus.GENERIC)
    with kernels.compiling_for(cpu):
        for name, ir in saved_native.texts().items():
            member = f"native/{name}.o"
            members[member] = llvm_jit.compile_ir(ir, kernels.target())
            out.append({**saved_native.record(name, cpu), "member": member})
    return out


# --- sizes ---------------------------------------------------------------------------------------------


def chosen(c: Convention, hints: Mapping[str, int], sizes: Sequence[Any] | None) -> list[dict[str, int]]:
    """Sets of values of the size symbols to make kernels for, that of the export first. Raises UserError."""
    if sizes is not None:
        return [_given(c, hints, s) for s in sizes]
    out = [dict(hints)]
    steps = {s.name: _steps(s) for s in c.symbols}
    for k in range(max(map(len, steps.values()), default=0)):
        out.append({n: (v[min(k, len(v) - 1)] if v else hints[n]) for n, v in steps.items()})
    for name, values in steps.items():
        out += [{**hints, name: v} for v in (values[:1] + values[-1:])]
    unique = {tuple(e.items()): e for e in out if _allowed(c, e)}
    return list(unique.values())[:MOST]


def given(c: Convention, sizes: Sequence[Any]) -> None:
    """Raises UserError unless these are sizes of the program."""
    chosen(c, {s.name: s.low or 0 for s in c.symbols}, sizes)


def scattered(c: Convention, hints: Mapping[str, int]) -> list[dict[str, int]]:
    """Sets of sizes all over their ranges: all combinations of a few values if there are few symbols, else some."""
    steps = {s.name: [0] * (s.low == 0) + (_steps(s) or [hints[s.name]]) for s in c.symbols}
    count = math.prod(map(len, steps.values()))
    every = itertools.product(*steps.values())
    if count > SCATTERED:
        rng = random.Random(0)
        every = ((*(rng.choice(v) for v in steps.values()),) for _ in range(SCATTERED))  # type: ignore[assignment]
    return [e for values in every if _allowed(c, e := dict(zip(steps, values, strict=True)))]


def _steps(s: Symbol) -> list[int]:
    """Values of a symbol, small to large."""
    found = [n for n in SPREAD if (s.low or 1) <= n and (s.high is None or n <= s.high)]
    return found if s.high is None or s.high in found or s.high > SPREAD[-1] else [*found, s.high]


def _allowed(c: Convention, env: Mapping[str, int]) -> bool:
    return all(eval(g, {"math": math, **env}) for g in c.guards)


def _given(c: Convention, hints: Mapping[str, int], s: Any) -> dict[str, int]:
    """One entry of `aot_save(sizes=...)`."""
    names = {f"{c.arguments[x.argument].name}.shape[{x.dim}]": x for x in c.symbols if x.dim is not None}
    names |= {x.name: x for x in c.symbols} | {c.arguments[x.argument].name: x for x in c.symbols if x.dim is None}
    if isinstance(s, Mapping):
        env = dict(hints)
        for key, n in s.items():
            if key not in names:
                raise UserError(f"sizes: there is no size named {key!r}, only {', '.join(sorted(names)) or 'none'}")
            if isinstance(n, bool) or not isinstance(n, int):
                raise UserError(f"sizes: {key} must be an integer, not {n!r}")
            x = names[key]
            env[x.name] = n if key == x.name else int(eval(x.source, {"n": n}))
    else:
        leaves = list(s) if isinstance(s, (tuple, list)) else [s]
        if len(leaves) != len(c.arguments):
            raise UserError(
                f"sizes: {len(leaves)} example arguments for {len(c.arguments)} (None for those of no matter)"
            )
        env = dict(hints)
        for x in c.symbols:
            leaf = leaves[x.argument]
            if leaf is not None:
                shape = leaf.shape if isinstance(leaf, torch.Tensor) else [leaf] if x.dim is None else leaf
                name, dim = c.arguments[x.argument].name, x.dim or 0
                n = shape[dim] if isinstance(shape, (list, tuple)) and dim < len(shape) else None
                if isinstance(n, bool) or not isinstance(n, int):
                    raise UserError(f"sizes: {name} must be an example, its shape or None, not {leaf!r}")
                env[x.name] = int(eval(x.source, {"n": n}))
    for x in c.symbols:
        n = env[x.name]
        if (x.low is not None and n < x.low) or (x.high is not None and n > x.high):
            raise UserError(f"sizes: {x.name} = {n} is outside of what the program was exported for")
    return env


# --- a group ---------------------------------------------------------------------------------------------


def group(g: GroupPlan, plan: Plan, sizes: Sequence[Any] | None, file: Any) -> dict[str, Any]:
    """What `saved_gpu.SavedGroup` reads; the kernels go into `file`."""
    assert g.gpu is not None
    f = g.gpu.fusion
    layout = [(b.name, [n.text() for n in b.shape], [n.text() for n in b.strides]) for b in f.buffers]
    same = repr((f.text(), layout, g.gpu.symbols, list(f.hosts), g.gpu.driver.versions()))
    made = _Rules(g, plan, sizes, file)
    rules = file.rules.get(same) if g.gpu.choose is None else None
    if rules is None:  # layers of a model have the same groups
        rules = file.rules[same] = made.run()
    return made.record(rules)


class _Rules:
    """Makes the kernels of a group and the rules for them.

    `envs`: sizes that the scheduler chooses kernels for; `everywhere`: sizes, all over their ranges, that there should
    be a kernel for in any case.
    """

    def __init__(self, g: GroupPlan, plan: Plan, sizes: Sequence[Any] | None, file: Any):
        assert g.gpu is not None
        self.group, self.name, self.file = g.gpu, g.name, file
        self.where = next((w for u in g.group.units if (w := plan.traced.graph.units[u].where)), "")
        self.device = plan.traced.graph.units[g.group.units[0]].device
        self.symbols = plan.traced.symbols
        c: Convention = file.exported.convention
        hints = {s.name: self.symbols.hint(self.symbols.ix(file.exported.sizes[s.name])) for s in c.symbols}
        self.envs = self.unique(chosen(c, hints, sizes))
        self.everywhere = self.unique([*chosen(c, hints, None), *scattered(c, hints)])
        self.rules: dict[tuple[int, str, str], dict[str, Any]] = {}
        self.tests: dict[int, list[Callable[..., Any]]] = {ACCESS: [], 1: []}  # by alignment: the rules, as functions

    def unique(self, envs: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
        """The values of the group's symbols, each set once."""
        return list({tuple(e.items()): e for e in map(self.complete, envs)}.values())

    def complete(self, env: Mapping[str, int]) -> dict[str, int]:
        """The values of the group's symbols, those that follow from others included."""
        out: dict[str, int] = {}
        for name in self.group.symbols:
            if name in env:
                out[name] = env[name]
            elif name in self.symbols.sources:
                subs = {s: env.get(str(s), UNKNOWN) for s in self.symbols.sources[name].free_symbols}
                out[name] = max(1, int(self.symbols.sources[name].subs(subs)))
            else:  # known only when the program runs
                out[name] = UNKNOWN
        return out

    def run(self) -> list[dict[str, Any]]:
        """The rules."""
        made = self.wanted()
        for s, kernel, code in made.values():
            self.extend(s, kernel, code)
        forms = list(dict.fromkeys(p for s in made for p in _plain_forms(s)))
        for _ in range(PLAIN):
            left = self.left()
            sample = left[:: max(1, len(left) // SAMPLE)]
            ranked = [(sum(self.settles(p, env, a) for env, a in sample), -k) for k, p in enumerate(forms)]
            best, k = max(ranked, default=(0, 0))
            if not best:
                break
            try:
                self.extend(*self.plain(forms.pop(-k), sample))
            except (FusewrightError, Refusal) as e:
                LOG.info("%s: no plain kernel: %s", self.name, e)
        return list(self.rules.values())

    def record(self, rules: list[dict[str, Any]]) -> dict[str, Any]:
        """The group, as a file has it."""
        return {
            "name": f"{self.name} at {self.where.partition(' (')[0]}" if self.where else self.name,
            "device": self.device,
            "symbols": self.group.symbols,
            "hosts": list(self.group.fusion.hosts),
            "rules": rules,
        }

    def left(self) -> list[tuple[dict[str, int], int]]:
        """Sizes and alignments without a kernel."""
        return [(e, a) for a in (ACCESS, 1) for e in self.everywhere if not self.covered(e, a)]

    def covered(self, env: Mapping[str, int], alignment: int) -> bool:
        tests = self.tests[1] if alignment == 1 else [*self.tests[ACCESS], *self.tests[1]]
        for rule in tests:
            with contextlib.suppress(ArithmeticError, ValueError):
                if rule(*env.values()) is not None:
                    return True
        return False

    def extend(self, s: GpuSchedule, kernel: Kernel, code: GpuKernel) -> None:
        """Let a kernel serve the sizes for which it is legal and no other is there."""
        for env, alignment in self.left():
            if not self.covered(env, alignment):
                text = self.legal(s, env, alignment)
                if text is not None:
                    self.add(alignment, False, text, kernel, code)

    def wanted(self) -> dict[GpuSchedule, Made]:
        """The kernels that the scheduler chooses for the sizes, with its rules."""
        g = self.group
        decisions = []
        for env in self.envs:
            try:
                d = g.decide(env, ACCESS)
                decisions.append((d, g.lowering(d.fusion, d.schedule)))
            except Refusal as r:
                LOG.info("%s: no kernel for %s: %s", self.name, env, r)
        with ThreadPoolExecutor(max(1, min(8, os.cpu_count() or 1))) as pool:  # what NVRTC takes, it takes at once
            runs = [pool.submit(contextvars.copy_context().run, g.compile, k.func, g.driver) for _, k in decisions]
        out: dict[GpuSchedule, Made] = {}
        for (d, k), run in zip(decisions, runs, strict=True):
            try:
                code = run.result()
            except FusewrightError as e:
                g.failed(e)  # which raises it without fallback
                continue
            out.setdefault(d.schedule, (d.schedule, k, code))
            text = d.rule
            if text is None:  # people have chosen: for these sizes only
                text = "\n".join([*(f"if {s} != {n}: return None" for s, n in d.env.items()), *_lines(d.launch)])
            self.add(ACCESS, True, text, k, code)
        return out

    def plain(self, p: GpuSchedule, sample: Sequence[tuple[dict[str, int], int]]) -> Made:
        """The kernel of a plain schedule that is legal for some of the sizes."""
        g = self.group
        env, alignment = next(x for x in sample if self.settles(p, *x))
        f, same, _ = settle(g.fusion, p, Sizes(sizes_of(env), g.driver.gpu, lambda buffer: alignment))
        kernel = g.lowering(f, same)
        return p, kernel, g.compile(kernel.func, g.driver)

    def settles(self, s: GpuSchedule, env: Mapping[str, int], alignment: int) -> bool:
        """Whether a schedule is legal for sizes."""
        g = self.group
        try:
            found = settle(g.fusion, s, Sizes(sizes_of(env), g.driver.gpu, lambda buffer: alignment))
        except (Illegal, Refusal, ArithmeticError):
            return False
        return found[1] == s

    def legal(self, s: GpuSchedule, env: Mapping[str, int], alignment: int) -> str | None:
        """The rule that says for which sizes `s` is legal for the same reasons as for `env`; None if it is not."""
        g = self.group
        trace = Trace(g.symbols)
        try:
            _, same, launch = settle(g.fusion, s, Sizes(traced(trace, env), g.driver.gpu, lambda buffer: alignment))
            if plain(same) != s:
                return None
        except (Illegal, Refusal, ArithmeticError):
            return None
        return "\n".join([*trace.lines, *_lines(launch)])

    def add(self, alignment: int, wanted: bool, text: str, kernel: Kernel, code: GpuKernel) -> None:
        key = self.kernel(code)
        if (alignment, text, key) in self.rules:
            return
        numbers = [f"max({t}, 1)" if k in kernel.divisors else t for k, t in enumerate(e.text() for e in kernel.sizes)]
        lines = [*text.splitlines(), f"return ({''.join(f'{n}, ' for n in numbers)})"]
        made = f"def rule({', '.join(self.group.symbols)}):\n" + "".join(f"    {s}\n" for s in lines)
        self.rules[alignment, text, key] = {"alignment": alignment, "wanted": wanted, "kernel": key, "source": made}
        scope: dict[str, Any] = {}
        exec(made, scope)
        self.tests[alignment].append(scope["rule"])

    def kernel(self, code: GpuKernel) -> str:
        """The key of a kernel, whose code goes into the file."""
        key = code.key
        if key not in self.file.kernels:
            takes = code.takes
            self.file.kernels[key] = {
                "entry": code.func.name,
                "arch": self.group.driver.arch,  # type: ignore[attr-defined]
                "buffers": takes.buffers,
                "sizes": [list(x) for x in takes.sizes],
                "hosts": [list(x) for x in takes.hosts],
                "scratch": [list(x) for x in takes.scratch],
                "counters": takes.counters,
                "launches": [[x.name, x.blocks, x.threads, x.shared, x.dependent] for x in takes.launches],
            }
            self.file.members[f"kernels/{key}.cubin"] = code.handles[0] if code.handles else b""
            self.file.members[f"text/kernels/{key}.loop"] = loop_text(code.func).encode()
            target = self.group.driver.target  # type: ignore[attr-defined]
            self.file.members[f"text/kernels/{key}.cu"] = (code.source or emit_cuda(code.func, target)).encode()
        return key


def _lines(launch: Mapping[str, Any]) -> list[str]:
    return [f"{name} = {source(n)}" for name, n in launch.items()]


def _plain_forms(s: GpuSchedule) -> Iterator[GpuSchedule]:
    """Schedules like `s` that assume less: no vectors, no 32-bit indices, no clusters, and rows in memory, or longer
    ones in registers."""
    plain = replace(
        s, vector="", lanes=1, index=64, aligned=frozenset(), stream=frozenset(), uniform=False, cluster=1, across=""
    )
    plain = replace(plain, steady=False, permuted=frozenset(), whole=False)
    plain = replace(plain, keep_in="registers", ahead=0, finish=False)
    plain = replace(plain, repeat="", repeats=1, steps=1, row_threads=1, family=f"plain {s.family}")
    if s.mode in ("tile", "staged"):
        yield replace(plain, mode="tile", col_threads=256)
        return
    for threads in (256, 32):
        yield replace(plain, mode="loop", col_threads=threads, resident=s.resident)
    for threads, steps in ((64, 2), (256, 4), (1024, 4), (1024, 16), (1024, 48)):
        yield replace(plain, mode="persistent", col_threads=threads, steps=steps, keep="loads")


__all__ = ["Emitter", "about", "emitters", "group"]
