"""`fusewright.aot_load`: a program from a file, without any compiler.

Nothing of what makes kernels is imported: machine code goes to the object loader (`build/objects.py`) or to the CUDA
driver, and a plan is text of a small language (`restricted.py`) over what the manifest lists by name. The manifest:

    format, fusewright, torch    versions: of the file, and of who wrote it
    convention                   how the program is called (`convention.py`)
    storages, tensors            memory (bytes, or null if it was not saved), and the tensors on it
    kernels                      what is to be known of each kernel besides its machine code
    native                       functions that launch kernels on GPUs (`saved_native.py`)
    variants                     for each kind of machine: `cpu` (architecture, what it must be able to do), `gpu` (its
                                 kind), the plan's `source` and `scope`, `operators` with their schemas, `graphs` (what
                                 CUDA graphs of it depend on, or why there are none)

A variant's `scope` says what each name in the source is. Operators are looked up by name; that their schemas are those
that the plan was made for is all that a file assumes of a version of torch.
"""

from __future__ import annotations

import functools
import math
import operator
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch

from ..core.counters import count
from ..core.errors import FusewrightError, RuntimeFault, UserError, flag
from ..core.lazy import lazy_import
from ..core.options import current
from ..core.switches import RUN_STAGES, dumps
from ..core.warn import warn
from . import direct, internals, pool, reuse
from .archive import DAMAGE, Archive
from .convention import from_data, unpack
from .launch import Scratch, SizeTable, bump, restride, threads
from .program import About, Held, Program
from .restricted import Unsafe, function
from .written import Part

if TYPE_CHECKING:
    from ..build import cpus, objects
    from . import checked, claimed, cuda_graphs, eager_states, random_ops, recordable, saved_gpu, saved_native
else:  # for programs with kernels for CPUs, checks, calls of executors, random numbers, kernels for GPUs, CUDA graphs
    cpus = lazy_import("fusewright.build.cpus")
    objects = lazy_import("fusewright.build.objects")
    checked = lazy_import("fusewright.run.checked")
    claimed = lazy_import("fusewright.run.claimed")
    cuda_graphs = lazy_import("fusewright.run.cuda_graphs")
    eager_states = lazy_import("fusewright.run.eager_states")
    random_ops = lazy_import("fusewright.run.random_ops")
    recordable = lazy_import("fusewright.run.recordable")
    saved_gpu = lazy_import("fusewright.run.saved_gpu")
    saved_native = lazy_import("fusewright.run.saved_native")

Boxed = Callable[[list[Any]], list[Any]]

TORCH = ((2, 11), (2, 14))  # from, up to (not included): the versions whose interfaces `run/` knows

# What every plan may use, by the names that it uses.
RUNTIME: dict[str, Any] = {
    "math": math,
    "_empty": pool._empty,
    "_spec": pool.spec,
    "_over": reuse.over,
    "_over_private": reuse.over_private,
    "_scratch": pool.scratch,
    "_threads": threads,
    "_restride": restride,
    "_bump": bump,
    "_view": internals.reinterpret,
    "_strided": internals.as_strided,
    "_device": internals.current_cuda,
    "_there": internals.call_on,
}
_PYTHON = {"_operator": operator, "operator": operator, "math": math, "torch": torch}


def aot_load(
    path: str | os.PathLike[str], *, weights: Mapping[str, torch.Tensor] | None = None, mmap: bool = False
) -> Program:
    """Load a program that `fusewright.aot_save` has written. A file is code: load only what you trust.

    weights: parameters and buffers by name, for a file that was saved without, or in place of those in the file; their
        memory is used as it is if it is laid out as that of the exported ones, else copied.
    mmap: map the memory of parameters instead of reading it; it is then not checked for damage.

    Raises UserError, naming the file and what to do, when it is damaged or foreign, or made for other machines, other
    operators or a newer Fusewright.
    """
    flag("aot_load", mmap=mmap)
    if weights is not None and not isinstance(weights, Mapping):
        raise UserError(f"aot_load: weights must be a dictionary of tensors by name, not {weights!r}")
    archive = Archive(path)
    try:
        program = Loader(archive, weights, mmap).program()
    except FusewrightError:
        raise
    except DAMAGE as e:
        raise archive.damaged(e) from e
    finally:
        archive.close()
    count("programs_loaded")
    _say_what_is_not_done(archive.path)
    return program


def _say_what_is_not_done(path: str | os.PathLike[str]) -> None:
    """Options that look at kernels, or choose them, do so when they are compiled: not those of a file."""
    o = current()
    asked = [n for n in ("check", "profile", "disable", "schedule", "external_source", "fuel") if getattr(o, n)]
    asked += [f"dump={stage}" for stage in dumps(o.dump) if stage in RUN_STAGES]
    if asked:
        warn(
            f"{path}: its kernels are what they were when the program was saved, so that {', '.join(asked)} "
            f"{'do' if len(asked) > 1 else 'does'} nothing here; compile the program in this process "
            "(fusewright.aot_compile) to have that"
        )


class Loader:
    """Builds one program from an archive. Methods raise UserError, or what `DAMAGE` lists for contents that are off."""

    def __init__(self, archive: Archive, weights: Mapping[str, torch.Tensor] | None = None, mapped: bool = False):
        self.archive = archive
        self.manifest = archive.manifest
        self.weights = weights
        self.mapped = mapped
        self.on_gpus: dict[tuple[str, str], Any] = {}  # (device, key) -> what `gpu_kernel` gives

    def program(self) -> Program:
        self.check_torch()
        convention = from_data(self.manifest["convention"])
        variant = self.variant()
        self.check_operators(variant)
        held = self.held()
        run = self.plan(variant, held)
        return Program(About(convention, variant["source"], origin=self.archive.path, held=held), run)

    # --- does it fit? ---
    def check_torch(self) -> None:
        have = tuple(int(x) for x in torch.__version__.split("+")[0].split(".")[:2])
        if not TORCH[0] <= have < TORCH[1]:
            limits = " to ".join(".".join(map(str, v)) for v in TORCH)
            raise UserError(
                f"{self.archive.path} cannot be loaded with torch {torch.__version__}: this version of Fusewright runs "
                f"with torch {limits} (not included)"
            )

    def variant(self) -> dict[str, Any]:
        """The variant for this machine. Raises UserError when there is none, saying why for each."""
        reasons = []
        for v in self.manifest["variants"]:
            why = self.unfit(v)
            if not why:
                return dict(v)
            reasons.append(f"{v['name']}: {why}")
        raise UserError(
            f"{self.archive.path} has no machine code for this machine ({'; '.join(reasons)}): save the program with "
            "architectures=[...] for it, or compile it here (fusewright.aot_compile)"
        )

    def unfit(self, v: Mapping[str, Any]) -> str:
        """Why a variant does not run on this machine, or ""."""
        if v["cpu"] is not None:
            c = v["cpu"]
            why: str = cpus.lacking(cpus.Cpu(c["name"], c["architecture"], "", 0, tuple(c["needs"])))
            if why:
                return why
        return saved_gpu.unfit(v["gpu"]) if v["gpu"] is not None else ""

    def check_operators(self, v: Mapping[str, Any]) -> None:
        """Raises UserError unless torch has the operators that a plan calls, as they were."""
        for name, schema in v["operators"].items():
            op = self.operator(name)
            if str(op._schema) != schema:
                raise UserError(
                    f"{self.archive.path} was saved with torch {self.manifest['torch']}, where the operator {name} was "
                    f"{schema}; in torch {torch.__version__} it is {op._schema}: save the program again with this torch"
                )

    def operator(self, name: str) -> Any:
        space, _, rest = name.partition("::")
        base, _, overload = rest.partition(".")
        if space == "fusewright":
            _ = {"eager_states": eager_states, "between_0_and_1": checked}.get(base, random_ops)._lib  # registers them
        try:
            return getattr(getattr(getattr(torch.ops, space), base), overload or "default")
        except AttributeError as e:
            hint = "import the package that registers it first" if space != "aten" else "save the program again"
            if space == "fusewright":
                hint = "it is a definition's: make that, and ask for its `operator`, first"
            raise UserError(f"{self.archive.path} calls the operator {name}, which is not known here: {hint}") from e

    # --- memory ---
    def held(self) -> dict[str, Held]:
        storages: dict[int, torch.UntypedStorage] = {}
        made: dict[str, torch.Tensor] = {}
        out: dict[str, Held] = {}
        given = dict(self.weights or {})
        for name, t in self.manifest["tensors"].items():
            kind, saved = t["kind"], self.manifest["storages"][t["storage"]]["saved"]
            dtype, shape, strides = unpack({"torch": t["dtype"]}), tuple(t["shape"]), tuple(t["strides"])
            if t["same"] is not None:
                tensor = made[t["same"]]
            elif name in given or not saved:
                tensor = self.given(name, given, dtype, shape, t["device"], strides)
            else:
                where = t["storage"]
                if where not in storages:
                    nbytes = self.manifest["storages"][where]["bytes"]
                    raw = self.archive.data(self.manifest["storages"][where]["member"], nbytes, self.mapped)
                    storages[where] = self.there(raw, str(t["device"])).untyped_storage()
                tensor = torch.empty(0, dtype=dtype, device=storages[where].device)
                try:
                    tensor.set_(storages[where], t["offset"], shape, strides)  # type: ignore[call-overload]
                except RuntimeError as e:  # not within the storage
                    raise self.archive.damaged(e) from e
            if kind == "parameter" and not isinstance(tensor, torch.nn.Parameter):
                tensor = torch.nn.Parameter(tensor, False)
            given.pop(name, None)
            made[name] = tensor
            out[name] = Held(kind, tensor)
        if given:
            raise UserError(f"{self.archive.path} has no parameter or buffer named {', '.join(sorted(given))}")
        return out

    def there(self, raw: torch.Tensor, device: str) -> torch.Tensor:
        try:
            return raw.to(device)
        except RuntimeError as e:
            raise UserError(f"{self.archive.path} has tensors on {device}, which cannot be used here: {e}") from e

    def given(
        self,
        name: str,
        given: Mapping[str, torch.Tensor],
        dtype: torch.dtype,
        shape: tuple[int, ...],
        device: str,
        strides: tuple[int, ...],
    ) -> torch.Tensor:
        """A parameter or buffer that the caller has given; a copy if the kernels want other strides."""
        t = given.get(name)
        if t is None:
            raise UserError(f"{self.archive.path} was saved without weights: give weights={{...}}, with {name}")
        wanted = (dtype, shape, torch.device(device))
        if (t.dtype, tuple(t.shape), t.device) != wanted:
            have = f"{t.dtype} {list(t.shape)} on {t.device}"
            raise UserError(f"weights: {name} is {have}, the program has {dtype} {list(shape)} on {device}")
        return restride(t, strides) if t.stride() != strides else t

    # --- the plan ---
    def plan(self, v: Mapping[str, Any], held: Mapping[str, Held]) -> Boxed:
        scope, ready = dict(RUNTIME), False
        if any("launch" in what for what in v["scope"].values()):  # format 3 on
            ready = saved_native.take(self.manifest["native"], self.archive.read)
            scope["_view"] = saved_native.view() if ready else scope["_view"]
        for name, what in v["scope"].items():
            ((kind, x),) = what.items()
            if kind == "sizes":
                scope[name] = size_table(x)
            elif kind == "group":
                scope[name] = saved_gpu.SavedGroup(x, self.gpu_kernel, self.archive.path)
            elif kind == "memo":
                scope[name] = scope[x].memo
            elif kind == "state":
                scope[name] = held[x].tensor.detach()
            elif kind == "executor":
                scope[name] = self.claimed(x, scope)
            elif kind == "launch":
                scope[name] = saved_native.site(x, scope, ready)
            elif kind == "room":
                scope[name] = saved_native.room(scope[x], ready)
            else:
                scope[name] = self.value(kind, x)
        try:
            code = function(v["source"], scope, f"<fusewright {os.path.basename(self.archive.path)}>")
        except Unsafe as e:
            raise self.archive.damaged(e) from e
        exec(code, scope)
        run: Boxed = scope["call"]
        run = internals.returning(run) if v["several_gpus"] else run
        return self.graphed(v, run, scope) if v["gpu"] is not None and current().cuda_graphs else run

    def graphed(self, v: Mapping[str, Any], run: Boxed, scope: Mapping[str, Any]) -> Boxed:
        """What runs the plan from CUDA graphs where it may be recorded."""
        data = v.get("graphs", "it was saved by an earlier version of Fusewright")
        found = recordable.from_data(data, scope)
        return cuda_graphs.graphs_of(os.path.basename(self.archive.path), run, found, ()).call

    def value(self, kind: str, x: Any) -> Any:
        """What a name in a plan stands for."""
        if kind == "operator":
            return self.operator(x)
        if kind == "short operator":
            return direct.call(self.operator(x), {})
        if kind == "part":
            write, *views = map(self.operator, x)
            return Part(tuple(views), write)
        if kind == "python":
            module, name = x
            if name.startswith("_") and not name.startswith("_sym_"):
                raise ValueError(f"{module}.{name}")
            return getattr(_PYTHON[module], name)
        if kind == "allocation":
            size, stride, dtype = x
            return pool.POOL.allocation(tuple(size), tuple(stride), unpack({"torch": dtype}))
        if kind == "kernel":
            return self.kernel(x)
        if kind == "empty_on":
            return internals.empty_on(torch.device(x[0]), x[1])
        if kind == "blocks_of":
            return saved_gpu.blocks_of(torch.device(x))
        if kind == "value":
            return unpack(x)
        raise ValueError(f"a {kind} in a plan")

    def claimed(self, x: Mapping[str, Any], scope: Mapping[str, Any]) -> Any:
        """A call of an executor. `scope`: where the plan's functions will be. Raises UserError, naming it."""
        calls = x["calls"]
        try:
            by = calls.get("reference")
            call = claimed.resolved(by, calls["parameters"]) if by else self.operator(calls["operator"])
        except UserError as e:
            raise UserError(
                f"{self.archive.path} calls the executor {x['name']} for {x['for']}, which is not here as it was: {e}. "
                "Install the package that has it, or save the program again"
            ) from e.__cause__
        if x["pick"] is not None:
            call = claimed.Picked(call, [(kind, k if kind else unpack(k)) for kind, k in x["pick"]])
        theirs = x["original"]
        original = self.operator(theirs["operator"]) if "operator" in theirs else None
        if original is None:
            original = functools.partial(_run_named, scope, str(theirs["function"]))
        results = [
            None if r is None else claimed.Expected(unpack({"torch": r[0]}), torch.device(r[1])) for r in x["results"]
        ]
        return claimed.Claimed(
            x["name"], x["for"], call, original, results, x["where"], bool(x["fallback"]), bool(x["single"])
        )

    def kernel(self, key: str) -> Callable[..., int]:
        """A kernel for the CPU, loaded."""
        k = self.manifest["kernels"][key]
        obj = self.archive.read(f"kernels/{key}.o")
        try:
            return _function(key, obj, k["entry"], tuple(k["symbols"]), k["buffers"], tuple(k["hosts"]))
        except RuntimeFault as e:
            raise UserError(
                f"{self.archive.path}: the kernel {k['entry']} cannot be loaded here ({e}): save the program again "
                f"with this torch ({torch.__version__})"
            ) from e

    def gpu_kernel(self, key: str, device: str) -> Any:
        """(interface, handles) of a kernel for a GPU, loaded."""
        if (device, key) not in self.on_gpus:
            code = self.archive.read(f"kernels/{key}.cubin")
            made = saved_gpu.load(self.manifest["kernels"][key], code, device, self.archive.path)
            self.on_gpus[device, key] = made
        return self.on_gpus[device, key]


def _run_named(scope: Mapping[str, Any], name: str, *given: Any) -> Any:
    return scope[name](*given)


@functools.lru_cache(4096)
def _function(
    key: str, obj: bytes, entry: str, symbols: tuple[str, ...], buffers: int, hosts: tuple[str, ...]
) -> Callable[..., int]:
    """Machine code in this process: once, however often the same kernel is loaded."""
    fn: Callable[..., int] = objects.function(objects.load(obj, entry, symbols), buffers, hosts)
    return fn


def size_table(x: Mapping[str, Any]) -> SizeTable:
    """The size parameters of a kernel, from the texts of their expressions."""
    symbols = [str(s) for s in x["symbols"]]
    work = f"max({', '.join(['1', *x['work']])})" if x["work"] else "1"
    names = ", ".join(symbols)
    numbers = f"({''.join(f'{t}, ' for t in x['numbers'])})"
    source = (
        f"def numbers({', '.join(['threads', *symbols])}):\n    return {numbers}\n"
        f"def work({names}):\n    return {work}\n"
    )
    made: dict[str, Any] = {}

    def compiled() -> dict[str, Any]:
        """When they are first needed: most kernels of a program are called with few sizes."""
        if not made:
            exec(function(source, (), "<fusewright sizes>"), made)
        return made

    return SizeTable(
        symbols,
        x["names"],
        lambda env: compiled()["numbers"](env["threads"], *(env[s] for s in symbols)),
        lambda env: compiled()["work"](*(env[s] for s in symbols)),
        [Scratch(*s) for s in x["scratch"]],
    )


__all__ = ["Loader", "aot_load"]
