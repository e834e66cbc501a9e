"""`fusewright.aot_save`: a compiled program in one file, with machine code for each kind of machine asked for.

A plan (`run/plan.py`) is Python over names; `_Scope` says of each name what it is, so that a loader that knows nothing
of graphs and kernels can put it there again (`run/saved.py`). Machines differ in their plans, not only in their code:
the graph is compiled once for each, with schedules for it. The same kernel of several plans is kept once.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph

from . import __version__
from .build import cpus
from .core.errors import CompilerError, UserError, flag
from .core.lazy import lazy_import
from .core.options import current, using
from .exporting import Compiled, devices_of, prepared
from .graph.text import dump as graph_text
from .loop.text import dump as loop_text
from .run import archive, claimed, devices, direct, kernels, native, recordable
from .run.convention import pack, to_data
from .run.eager_states import Blocks
from .run.plan import GroupPlan, Plan, _Writer
from .run.pool import Allocation
from .run.program import Held, Program
from .run.restricted import Unsafe, function
from .run.saved import RUNTIME
from .run.written import Part

if TYPE_CHECKING:
    from . import saving_claims, saving_gpu
else:
    saving_claims = lazy_import("fusewright.saving_claims")
    saving_gpu = lazy_import("fusewright.saving_gpu")

_GPU = re.compile(r"sm_(\d+)(\d)$")
_SHORT = {fn: op for op, fn in direct.CALLS.items()}


def aot_save(
    program: Any,
    path: str | os.PathLike[str],
    *,
    architectures: Iterable[str] | None = None,
    sizes: Sequence[Any] | None = None,
    weights: bool = True,
) -> None:
    """Save a program, to be loaded by `fusewright.aot_load` where there is no compiler.

    program: an `ExportedProgram`, or what `fusewright.aot_compile` made of one.
    architectures: machines to make code for: CPUs by name ("native", "x86-64-v3", "x86-64-v4", "generic"), NVIDIA GPUs
        by compute capability ("sm_80", "sm_90"; they need not be there). Default: this machine.
    sizes: for GPUs, sizes to have the best kernels for: each a dict from a size's name ("x.shape[0]", or the symbol
        "s77") to its value, or example arguments (tensors, or their shapes, in the order of the leaves). Others run,
        too. Default: the sizes of the export and some spread over the range.
    weights: False leaves parameters and buffers out; `aot_load` is then given them.

    Raises UserError for arguments that make no sense, for what cannot be saved, and when `path` cannot be written; then
    what was there before is still there.
    """
    flag("aot_save", weights=weights)
    if not isinstance(path, (str, os.PathLike)):
        raise UserError(f"aot_save: path must be a path, not {path!r}")
    target = os.fspath(path)
    if os.path.isdir(target):
        raise UserError(f"cannot write {target}: it is a directory")
    names = [architectures] if isinstance(architectures, str) else architectures
    names = list(names) if isinstance(names, Iterable) else names
    if names is not None and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
        raise UserError(f"aot_save: architectures must be a list of names, not {architectures!r}")
    if sizes is not None and not isinstance(sizes, (list, tuple)):
        raise UserError(f"aot_save: sizes must be a list of dictionaries or of example arguments, not {sizes!r}")
    machines = _machines(devices_of(_graph(program)), names)
    compiled = _compiled(program, machines[0])
    with using(compiled.options):
        file = _File(compiled)
        if sizes is not None:
            saving_gpu.given(compiled.exported.convention, sizes)  # also where all kernels are for CPUs
        for machine in machines:
            file.add(machine, sizes)
        manifest, data = file.manifest(weights)
        archive.write(target, manifest, file.members, data)


def _graph(program: Any) -> Graph:
    """The operations of what was given. Raises UserError for what is no program."""
    if isinstance(program, ExportedProgram):
        return program.graph
    if isinstance(program, Program):
        if isinstance(program.about.origin, Compiled):
            return program.about.origin.exported.module.graph
        raise UserError(f"aot_save: the program was loaded from {program.about.origin}: copy that file")
    if isinstance(program, torch.nn.Module):
        raise UserError("aot_save: a module has to be exported first (torch.export.export, or fusewright.aot_compile)")
    raise UserError(f"aot_save: an ExportedProgram or a compiled program is needed, not a {type(program).__name__}")


def _compiled(program: Any, machine: _Machine) -> Compiled:
    if isinstance(program, ExportedProgram):
        with devices.compiling_for(machine.drivers):  # random numbers are drawn by kernels where there are some
            return prepared(program, current())
    made: Compiled = program.about.origin
    return made


class _Machine:
    """A kind of machine. `drivers`: what compiles for its GPU, by type of device."""

    def __init__(self, cpu: cpus.Cpu, gpu: Any = None, types: Sequence[str] = ()):
        self.cpu, self.gpu = cpu, gpu
        self.name = cpu.name if gpu is None else gpu.arch if cpu.name == cpus.NATIVE else f"{cpu.name} {gpu.arch}"
        self.drivers: Mapping[str, Any] = dict.fromkeys(types, gpu)


def _machines(places: Sequence[torch.device], names: list[str] | None) -> list[_Machine]:
    """The kinds of machines asked for, the best first. `places`: where the tensors are. Raises UserError."""
    types = {d.type for d in places}
    gpus = sorted(t for t in types if t == "cuda" or devices.driver_for(torch.device(t)) is not None)
    if names is not None and not names:
        raise UserError("architectures: there is none")
    wanted = [n for n in names or () if _GPU.match(n)]
    if wanted and not gpus:
        raise UserError(f"architectures: the program has no tensors on a GPU, {wanted[0]} is of no use to it")
    on_cpu = [cpus.named(n) for n in dict.fromkeys(names or ()) if n not in wanted] or [cpus.named(cpus.NATIVE)]
    on_cpu.sort(key=lambda p: (-(p.bits or 1024), -len(p.needs)))
    if not gpus:
        return [_Machine(p) for p in on_cpu]
    if not wanted and names is not None and "cpu" not in types:
        raise UserError(f"architectures: the program runs on a GPU, name one (sm_90), too, not only {names[0]}")
    found = [m for n in wanted if (m := _GPU.match(n))]
    emitters = saving_gpu.emitters([(int(m[1]), int(m[2])) for m in found], gpus)
    return [_Machine(p, g, gpus) for g, p in itertools.product(emitters, on_cpu)]


class _File:
    """What goes into a file."""

    def __init__(self, compiled: Compiled):
        self.compiled = compiled
        self.exported = compiled.exported
        self.members: dict[str, bytes] = {}
        self.kernels: dict[str, dict[str, Any]] = {}
        self.variants: list[dict[str, Any]] = []
        self.rules: dict[str, list[dict[str, Any]]] = {}  # of groups on GPUs that are the same

    def add(self, m: _Machine, sizes: Sequence[Any] | None) -> None:
        """Compile for a kind of machine."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(kernels.compiling_for(m.cpu))
            if m.drivers:
                stack.enter_context(devices.compiling_for(m.drivers))
            plan = self.compiled.plan()
            for g in plan.groups:
                g.watch = None
            scope = _Scope(self, plan, m, sizes)
            variant = scope.variant()
        if any(v["source"] == variant["source"] and v["scope"] == variant["scope"] for v in self.variants):
            return  # a program without kernels for CPUs is the same for all of them
        self.variants.append(variant)
        folder = f"text/{variant['name']}".replace(" ", "-")
        self.members[f"{folder}/plan.py"] = variant["source"].encode()
        self.members[f"{folder}/graph.txt"] = graph_text(plan.traced.graph).encode()

    # --- kernels ---
    def cpu_kernel(self, g: GroupPlan) -> str:
        """The key of a kernel for a CPU."""
        assert g.compiled is not None
        func = g.compiled.func
        key = g.compiled.key
        if key not in self.kernels:
            symbols, obj = kernels.object_of(g.compiled)
            hosts = kernels.host_types(func)
            self.kernels[key] = {"entry": func.name, "symbols": symbols, "buffers": len(func.bufs), "hosts": hosts}
            self.members[f"kernels/{key}.o"] = obj
            self.members[f"text/kernels/{key}.loop"] = loop_text(func).encode()
        return key

    # --- the whole ---
    def manifest(self, weights: bool) -> tuple[dict[str, Any], list[torch.Tensor]]:
        """(the manifest, memory in the order of its members)."""
        tensors, storages, data = _memory(self.exported.held, weights)
        has = {kind for v in self.variants for x in v["scope"].values() for kind in x}
        formats = {"executor": archive.CLAIMS, "launch": archive.LAUNCHES, "part": archive.PARTS}
        launches = saving_gpu.native_functions(self.members) if "launch" in has else []
        return {
            "format": max((n for kind, n in formats.items() if kind in has), default=archive.PLAIN),
            "fusewright": __version__,
            "torch": torch.__version__,
            "convention": to_data(self.exported.convention),
            "variants": self.variants,
            "kernels": self.kernels,
            "native": launches,
            "storages": storages,
            "tensors": tensors,
        }, data


class _Scope:
    """What the names in a plan are."""

    def __init__(self, file: _File, plan: Plan, machine: _Machine, sizes: Sequence[Any] | None):
        self.file, self.plan, self.machine, self.sizes = file, plan, machine, sizes
        self.operators: dict[str, str] = {}
        self.functions: list[str] = []  # what takes over from executors
        self.more: dict[str, dict[str, Any]] = {}  # names in these
        self.writer: Any = None
        self.table: dict[str, GroupPlan] = {}
        self.memos: dict[int, str] = {}
        self.groups: dict[int, str] = {}
        self.on_cpu = [g for g in plan.groups if g.compiled is not None]
        self.on_gpu = {id(g.gpu): g for g in plan.groups if g.gpu is not None}

    def variant(self) -> dict[str, Any]:
        self.writer = writer = _Writer(self.plan, native=False)
        source = writer.write()
        tables = [name for name in writer.scope if re.match(r"_t\d+$", name)]
        self.table = dict(zip(tables, self.on_cpu, strict=True))
        self.memos = {id(writer.scope[n].memo): n for n in writer.scope if re.match(r"_[tg]\d+$", n)}
        self.groups = {id(x): n for n, x in writer.scope.items() if re.match(r"_g\d+$", n)}
        scope: dict[str, Any] = {}
        for name, x in writer.scope.items():
            if name not in RUNTIME and name != "torch":
                scope[name] = self.entry(name, x)
        scope.update(self.more)
        source = "\n".join([*self.functions, source])
        order = {"sizes": 0, "group": 0, "room": 1}  # others have these, or parts of them
        scope = dict(sorted(scope.items(), key=lambda e: order.get(next(iter(e[1])), 2)))
        try:
            function(source, [*RUNTIME, *scope], "plan")
        except Unsafe as e:
            raise CompilerError(f"a plan has {e}, which cannot be saved", "save") from e
        m = self.machine
        needs = {"name": m.cpu.name, "architecture": m.cpu.architecture, "needs": list(m.cpu.needs)}
        name = m.name if self.on_cpu or m.gpu is None else m.gpu.arch
        return {
            "name": name,
            "cpu": needs if self.on_cpu else None,
            "gpu": None if m.gpu is None else saving_gpu.about(m.gpu, devices_of(self.file.exported.module.graph)),
            "source": source,
            "several_gpus": len(writer.gpus) > 1,
            "graphs": None if m.gpu is None else recordable.to_data(self.plan),
            "operators": dict(sorted(self.operators.items())),
            "scope": scope,
        }

    def entry(self, name: str, x: Any) -> dict[str, Any]:
        """What `name` is, as `saved.Loader.plan` reads it."""
        kind, number = re.match(r"_?([a-z]*)(\d*)", name).groups()  # type: ignore[union-attr]
        if name in self.file.exported.weights:
            return {"state": self.file.exported.weights[name]}
        if name in self.table:
            return {"sizes": _sizes(self.table[name])}
        if id(x) in self.on_gpu and kind == "g":
            return {"group": saving_gpu.group(self.on_gpu[id(x)], self.plan, self.sizes, self.file)}
        if isinstance(x, native.Described):
            return {"launch": saving_gpu.saved_native.data(x, self.groups[id(x.group)])}
        if isinstance(x, native.Room):
            return {"room": next(iter(self.groups.values()))}
        if id(x) in self.memos:
            return {"memo": self.memos[id(x)]}
        if kind == "k" and f"_t{number}" in self.table:
            return {"kernel": self.file.cpu_kernel(self.table[f"_t{number}"])}
        if isinstance(x, Allocation):
            size, stride, dtype = x.layout
            return {"allocation": [list(size), list(stride), str(dtype).removeprefix("torch.")]}
        if name.startswith("_empty_cuda"):
            index = name.removeprefix("_empty_cuda")
            here = str(next(iter(self.writer.gpus), ""))
            return {"empty_on": [f"cuda:{index}", False] if index else [here, True]}
        if isinstance(x, claimed.Claimed):
            return {"executor": self.claimed(name, x)}
        if isinstance(x, Part):
            return {"part": [self.operator(x.write), *map(self.operator, x.views)]}
        if isinstance(x, Blocks):
            return {"blocks_of": str(x.device)}
        if isinstance(x, torch._ops.OpOverload):
            return {"operator": self.operator(x)}
        if callable(x) and _hashable(x) and x in _SHORT:
            return {"short operator": self.operator(_SHORT[x])}
        if callable(x) and not isinstance(x, (torch.dtype, torch.device)):
            return {"python": _python(x)}
        try:
            return {"value": pack(x)}
        except UserError as e:
            raise UserError(f"the program cannot be saved: {e}") from e

    def claimed(self, name: str, c: claimed.Claimed) -> dict[str, Any]:
        """A call of an executor."""
        out = saving_claims.entry(name, c, self.operator)
        if mine := out["original"].get("function"):
            theirs: Any = c.original
            lines, names = saving_claims.function(mine, theirs)
            self.functions += [*lines, ""]
            self.more.update({n: self.entry(n, x) for n, x in names.items()})
        return out

    def operator(self, op: Any) -> str:
        name = f"{op._schema.name}.{op._overloadname}"
        self.operators[name] = str(op._schema)
        return name


def _hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _python(x: Any) -> list[str]:
    """Module and name of a function of Python's or torch's for sizes."""
    module, name = getattr(x, "__module__", ""), getattr(x, "__name__", "")
    if module in ("_operator", "operator", "math") or (module == "torch" and name.lstrip("_").startswith("sym_")):
        return [module, name]
    raise UserError(f"the program cannot be saved: it calls {module}.{name}, which has no name that a file can hold")


def _sizes(g: GroupPlan) -> dict[str, Any]:
    """The size parameters of a kernel for the CPU, as text."""
    assert g.kernel is not None and g.built is not None
    k = g.kernel
    table = kernels.size_table(k, g.built.fusion)
    texts = [e.text() for e in k.sizes]
    return {
        "symbols": table.symbols,
        "names": list(table.names),
        "numbers": [f"max({t}, 1)" if j in k.divisors else t for j, t in enumerate(texts)],
        "work": sorted({b.numel.text() for b in g.built.fusion.buffers}),
        "scratch": [[s.itemsize, s.count, s.each] for s in table.scratch],
    }


def _memory(held: Mapping[str, Held], weights: bool) -> tuple[dict[str, Any], list[dict[str, Any]], list[torch.Tensor]]:
    """(tensors by name, storages, the bytes of those that are saved). What shares memory, shares it when loaded."""
    tensors: dict[str, Any] = {}
    first: dict[int, str] = {}
    ranges: dict[int, tuple[int, int]] = {}
    numbers: dict[int, int] = {}
    owners: list[torch.UntypedStorage] = []
    kept: list[bool] = []
    for name, h in held.items():
        t = h.tensor
        storage = t.untyped_storage()
        key = storage._cdata
        k = numbers.setdefault(key, len(numbers))
        if k == len(owners):
            owners.append(storage)
            kept.append(False)
        kept[k] |= weights or h.kind in ("constant", "temporary")
        start, end = _reach(t)
        low, high = ranges.get(k, (start, end))
        ranges[k] = (min(low, start), max(high, end))
        tensors[name] = {
            "kind": h.kind,
            "dtype": str(t.dtype).removeprefix("torch."),
            "shape": list(t.shape),
            "strides": list(t.stride()),
            "device": str(t.device),
            "storage": k,
            "offset": t.storage_offset(),
            "same": first.setdefault(id(t), name) if id(t) in first else None,
        }
        first.setdefault(id(t), name)
    storages: list[dict[str, Any]] = []
    data: list[torch.Tensor] = []
    for k, storage in enumerate(owners):
        low, high = ranges[k]
        low -= low % archive.ALIGN
        storages.append({"bytes": high - low, "saved": kept[k], "member": len(data) if kept[k] else None})
        for record in tensors.values():
            if record["storage"] == k:
                record["offset"] -= low // getattr(torch, record["dtype"]).itemsize
        if kept[k]:
            whole = torch.empty(0, dtype=torch.uint8, device=storage.device)
            whole.set_(storage, low, (high - low,), (1,))  # type: ignore[call-overload]
            data.append(whole.cpu())
    return tensors, storages, data


def _reach(t: torch.Tensor) -> tuple[int, int]:
    """First byte of a tensor's elements in its storage, and the one after the last."""
    start = int(t.storage_offset()) * t.itemsize
    if t.numel() == 0:
        return start, start
    last = sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
    return start, start + (1 + last) * t.itemsize


__all__ = ["aot_save"]
