"""The report of `fusewright.explain`: data about graphs, kernels, reasons and times; as text, dict or HTML on demand.

Units: seconds, bytes, bytes per second. Kernel sources are generated when they are first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from rich.console import Console, ConsoleOptions, RenderResult

from ..build import nvrtc
from ..core.errors import FusewrightError, UserError
from ..core.options import using
from ..emit.cuda import emit_cuda
from ..emit.cuda_types import CudaTarget
from ..emit.llvm import emit
from ..graph.ir import Value
from ..loop.ir import Func
from ..run.kernels import target
from ..run.plan import GroupPlan
from ..schedule.edit import Edit
from . import report_html, report_text, repro
from .dynamo import Break, Facts, Frame
from .reasons import Boundary, Operation, Reasons
from .record import GraphRecord, GroupRecord, Recording
from .traffic import moved_by, roof
from .trial import schedule_of
from .words import directives, family, sizes, words


@dataclass(frozen=True)
class KernelReport:
    """One group that runs as a kernel.

    `name`: "<graph>.g<k>"; `title`: the kernel's function, named after what it computes; `hash`: of its algorithm's
    structure; `operations`: numbers of the traced operations in it; `lines`: the user's lines; `words`, `directives`:
    its schedule; `sizes`: whether they are arguments of the kernel, or numbers in it; `buffers`: (name, "in" or "out",
    layout); `bytes_in`, `bytes_out`: distinct bytes it must move; `roof_seconds`: how long a plain copy takes to move
    as many; `seconds`: measured (None: `why_not_measured` says why); `calls` while it was recorded; `saved_bytes`:
    results of its operations that never reach memory; `origin`: "compiled", "disk", "memory" or "external";
    `stage_seconds`: compile time by stage.
    """

    name: str
    graph: str
    title: str
    hash: str
    device: str
    family: str
    words: str
    directives: tuple[str, ...]
    sizes: str
    operations: tuple[int, ...]
    lines: tuple[str, ...]
    buffers: tuple[tuple[str, str, str], ...]
    bytes_in: int
    bytes_out: int
    roof_seconds: float
    seconds: float | None
    why_not_measured: str
    calls: int
    saved_bytes: int
    origin: str
    stage_seconds: dict[str, float]
    record: GroupRecord = field(repr=False, compare=False)
    within: GraphRecord = field(repr=False, compare=False)

    @property
    def plan(self) -> GroupPlan:
        return self.record.plan

    @property
    def schedule(self) -> Edit:
        """Its schedule, to be changed by directives: `k.schedule.bind("i1", "vector", 8)` (`docs/schedules.md`)."""
        return schedule_of(self)

    @property
    def bytes(self) -> int:
        return self.bytes_in + self.bytes_out

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second that it reached."""
        return self.bytes / self.seconds if self.seconds else None

    @property
    def share(self) -> float | None:
        """Of the roof's bandwidth; above 1 where the data was in the caches."""
        return self.roof_seconds / self.seconds if self.seconds else None

    @cached_property
    def algorithm(self) -> str:
        """The fusion, in text."""
        assert self.plan.built is not None
        return self.plan.built.fusion.text()

    @property
    def language(self) -> str:
        return "CUDA C++" if self.plan.gpu is not None else "LLVM IR"

    @cached_property
    def source(self) -> str:
        """The source of the kernel: as generated, or as it was edited. On a GPU, of the schedule that ran last; where
        sizes are numbers (`sizes` says so), for the latest of these."""
        func, code = _latest(self.plan)
        if code.source:
            return str(code.source)
        with using(self.within.options):
            return emit(func, target()) if self.plan.gpu is None else emit_cuda(func, self._cuda)

    @property
    def _cuda(self) -> CudaTarget:
        assert self.plan.gpu is not None
        return CudaTarget(*self.plan.gpu.driver.gpu.capability)

    @cached_property
    def resources(self) -> dict[str, Any]:
        """What a launch takes of a GPU, by function: registers, bytes of shared memory, bytes of stack (where spilled
        registers are); {"unavailable": why} on a CPU or without NVRTC."""
        if self.plan.gpu is None:
            return {"unavailable": "a CPU has no such limits: registers are LLVM's to assign"}
        if not nvrtc.available():
            return {"unavailable": "NVRTC is not installed (pip install nvidia-cuda-nvrtc)"}
        try:
            cubin, _ = nvrtc.compile(self.source, self._cuda.arch)
            return {
                r.name: {"registers": r.registers, "shared": r.shared, "stack": r.stack} for r in nvrtc.report(cubin)
            }
        except FusewrightError as e:
            return {"unavailable": str(e)}

    def repro(self, path: str | os.PathLike[str], values: Sequence[torch.Tensor] | bool = False) -> None:
        """Write one Python file that runs this group alone, fused and through torch (`debug/repro.py`).

        `values`: the tensors that it reads, if random ones will not do. Raises UserError.
        """
        repro.repro((self.within, self.record), Path(path), values)

    def to_dict(self) -> dict[str, Any]:
        skip = ("record", "within")
        out = {k: v for k in self.__dataclass_fields__ if k not in skip for v in [getattr(self, k)]}
        out |= {k: getattr(self, k) for k in ("bandwidth", "share", "algorithm", "language", "source", "resources")}
        return out

    def __str__(self) -> str:
        return report_text.plain(report_text.kernel(self))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from report_text.kernel(self)


@dataclass(frozen=True)
class GraphReport:
    """One compiled graph. `kind`: see `GraphRecord`; `failure`: why the whole of it runs as traced; `inputs`: (name,
    layout); `cuda_graph`: whether it runs from a CUDA graph, or why not ("" without the option)."""

    name: str
    kind: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]
    operations: tuple[Operation, ...]
    boundaries: tuple[Boundary, ...]
    kernels: tuple[KernelReport, ...]
    failure: str
    stage_seconds: dict[str, float]
    plan: str
    cuda_graph: str = ""

    @property
    def saved_bytes(self) -> int:
        return sum(k.saved_bytes for k in self.kernels)

    def to_dict(self) -> dict[str, Any]:
        return {
            **{k: getattr(self, k) for k in self.__dataclass_fields__},
            "operations": [asdict(o) for o in self.operations],
            "boundaries": [asdict(b) for b in self.boundaries],
            "kernels": [k.to_dict() for k in self.kernels],
            "saved_bytes": self.saved_bytes,
        }


@dataclass(frozen=True)
class Report:
    """What `fusewright.explain` found. Print it; or `to_html(path)`, `to_dict()`.

    `graphs` in the order they were compiled; `breaks`: graph breaks; `recompilations`: frames that were compiled again,
    with the guard that failed; `frames`: all of them; `missing`: what this version of torch does not tell; `roofs`:
    bandwidth of a copy by device; `seconds`: "total" of the explained call, "compile" of it spent in Dynamo and below,
    "ours" of that in this compiler.
    """

    title: str
    graphs: tuple[GraphReport, ...]
    breaks: tuple[Break, ...]
    recompilations: tuple[Frame, ...]
    frames: tuple[Frame, ...]
    missing: tuple[str, ...]
    roofs: dict[str, float]
    seconds: dict[str, float]

    @property
    def kernels(self) -> list[KernelReport]:
        return [k for g in self.graphs for k in g.kernels]

    @property
    def saved_bytes(self) -> int:
        """Intermediate results that eager writes to memory and the kernels do not."""
        return sum(g.saved_bytes for g in self.graphs)

    def kernel(self, name: str) -> KernelReport:
        """A kernel by name, "forward0.g3" ("g3" where only one graph has that), or by structure hash, the first.

        Raises UserError.
        """
        for k in self.kernels:
            if name in (k.name, k.hash):
                return k
        short = [k for k in self.kernels if k.name.rpartition(".")[2] == name]
        if len(short) == 1:
            return short[0]
        raise UserError(f"no kernel '{name}': {', '.join(k.name for k in self.kernels) or 'there are none'}")

    def to_dict(self) -> dict[str, Any]:
        """Everything, as lists, dicts, strings and numbers that `json` can write."""
        return {
            "title": self.title,
            "seconds": dict(self.seconds),
            "roofs": dict(self.roofs),
            "saved_bytes": self.saved_bytes,
            "breaks": [asdict(b) for b in self.breaks],
            "recompilations": [asdict(f) for f in self.recompilations],
            "frames": [asdict(f) for f in self.frames],
            "missing": list(self.missing),
            "graphs": [g.to_dict() for g in self.graphs],
        }

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained page; returns its path. Raises UserError when it cannot be written."""
        out = Path(path)
        try:
            out.write_text(report_html.page(self), encoding="utf-8")
        except OSError as e:
            raise UserError(f"cannot write the report to {out}: {e.strerror or e}") from e
        return out

    def __str__(self) -> str:
        return report_text.plain(report_text.report(self))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from report_text.report(self)


def _latest(p: GroupPlan) -> tuple[Func, Any]:
    """A group's kernel as Loop IR and as code; on a GPU, of the schedule that ran last, for certain sizes if there is
    one that was adopted."""
    if p.gpu is not None and p.gpu.special:
        special = next(reversed(p.gpu.special.values()))
        return special.func, special.code
    if p.gpu is None or p.gpu.schedule not in p.gpu.kernels:
        assert p.kernel is not None
        return p.kernel.func, p.compiled if p.gpu is None else next(iter(p.gpu.kernels.values()))[1]
    kernel, code = p.gpu.kernels[p.gpu.schedule]
    return kernel.func, code


# --- from records --------------------------------------------------------------------------------------


def make(title: str, recording: Recording, facts: Facts, seconds: dict[str, float]) -> Report:
    """The report of a recording."""
    graphs = tuple(_graph(g, recording) for g in recording)
    devices = dict.fromkeys(k.device for g in graphs for k in g.kernels)
    ours = sum(s.end - s.start for s in recording.spans)
    return Report(
        title,
        graphs,
        tuple(facts.breaks),
        tuple(facts.recompilations),
        tuple(facts.frames),
        tuple(facts.missing),
        {d: roof(d) for d in devices},
        {**seconds, "compile": sum(f.seconds for f in facts.frames), "ours": ours},
    )


def _graph(g: GraphRecord, recording: Recording) -> GraphReport:
    if g.traced is None or g.plan is None:
        return GraphReport(g.name, g.kind, (), (), (), (), (), g.failure, g.seconds, "")
    reasons = Reasons(g)
    operations = reasons.operations()
    nodes = g.traced.module.graph.nodes
    inputs = tuple((n.name, _layout(n.meta.get("val"))) for n in nodes if n.op in ("placeholder", "get_attr"))
    return GraphReport(
        name=g.name,
        kind=g.kind,
        inputs=inputs,
        outputs=tuple(str(a) for a in g.traced.outputs),
        operations=tuple(operations),
        boundaries=tuple(reasons.boundaries()),
        kernels=tuple(_kernel(k, g, recording, reasons) for k in g.groups),
        failure="",
        stage_seconds=g.seconds,
        plan=g.plan.source,
        cuda_graph=g.plan.graphs.status() if g.plan.graphs is not None else "",
    )


def _kernel(k: GroupRecord, g: GraphRecord, recording: Recording, reasons: Reasons) -> KernelReport:
    p, traced = k.plan, g.traced
    assert p.built is not None and traced is not None
    probe = recording.probes.get(k.name)
    hint = traced.symbols.hint
    read, written = (probe and probe.bytes) or moved_by(p, {}, hint)
    device = traced.graph.units[k.units[0]].device.split(":")[0]
    buffers = tuple(
        (b.name, "out" if b.output else "in", f"{b.dtype}[{', '.join(map(str, b.shape))}]")
        for b in p.built.fusion.buffers
    )
    return KernelReport(
        name=k.name,
        graph=g.name,
        title=_latest(p)[0].name,
        hash=k.hash,
        device=device,
        family=family(p),
        words=words(p),
        directives=tuple(directives(p)),
        sizes=sizes(p),
        operations=tuple(k.units),
        lines=tuple(k.lines),
        buffers=buffers,
        bytes_in=read,
        bytes_out=written,
        roof_seconds=(read + written) / roof(device),
        seconds=probe.seconds if probe else None,
        why_not_measured=probe.why if probe else "kernels were not measured",
        calls=probe.calls if probe else 0,
        saved_bytes=saved(p, reasons),
        origin=k.origin,
        stage_seconds=k.seconds,
        record=k,
        within=g,
    )


def saved(p: GroupPlan, reasons: Reasons) -> int:
    """Bytes of results that eager would have written and the kernel of `p` does not.

    A result whose readers all belong to the same operator of the program before decomposition is not counted: eager's
    own kernel for that operator does not write it either.
    """
    traced = reasons.traced
    kept = set(p.group.outputs)
    total = 0
    for u in p.group.units:
        for v in reasons.units[u].results:
            if v not in kept and not _within(v, u, reasons):
                total += traced.symbols.hint(v.numel) * v.dtype.itemsize
    return total


def _within(v: Value, u: int, reasons: Reasons) -> bool:
    mine = _composite(reasons.traced.nodes[u])
    readers = reasons.traced.nodes[u].users
    return mine is not None and all(_composite(n) == mine for n in readers)


def _composite(node: Any) -> tuple[Any, ...] | None:
    """What tells one call of an operator that was taken apart from another; None if `node` is an operator itself."""
    original = str(node.meta.get("original_aten", ""))  # by name: graphs are copied, and operators with them
    if original in ("", "None", str(node.target)):
        return None
    return (original, node.meta.get("seq_nr"), node.meta.get("stack_trace"))


def _layout(val: Any) -> str:
    shape = getattr(val, "shape", None)
    if shape is None:
        return type(val).__name__
    return f"{str(val.dtype).removeprefix('torch.')}[{', '.join(map(str, shape))}]"
