"""Repro files: one Python file that rebuilds a group's inputs, runs it fused and through torch, compares and times.

    fusewright run FILE            or: python FILE

A file needs torch and Fusewright, not the program that it comes from. The group is the function `group` in it, in ATen
operations, or a definition in text if it is part of one, which is compared with NumPy; its inputs have the sizes,
strides and types of the original, and values that are random (a seed each), or the original ones: written out if they
are few, else in `FILE.pt` beside it.

The second half of this module is what such files call: `tensor`, `given`, `saved`, `run`.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import runpy
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule

from .. import __version__
from ..core.errors import CompilerError, UserError
from ..core.options import TABLE, Options, current, options
from ..fusion.build import Built
from ..graph.groups import Group
from ..trace.fx import Traced
from . import files, record
from .judging import Mismatch
from .precision import compare
from .program import Program, literal, of_graph, of_group, size

MARK = "# Fusewright repro"
INLINE = 256  # elements of all inputs together up to which values are written out
_LEFT_OUT = frozenset(("grouping", "disable", "single_op_groups"))


# --- writing ---------------------------------------------------------------------------------------


def text(
    program: Program,
    name: str,
    digest: str,
    lines: Sequence[str],
    reason: str,
    values: Sequence[torch.Tensor] | None = None,
    beside: bool = False,
) -> str:
    """The file. `values`: tensors for the program's inputs; with `beside`, they are read from `FILE.pt`."""
    about = [f"{MARK}: {name} ({digest or 'no hash'}), by Fusewright {__version__}, torch {torch.__version__}, "]
    about[0] += f"Python {platform.python_version()}."
    about += [f"#     {' '.join(line.split())}" for line in lines]
    about += ["#", *(f"# {part}" for part in reason.splitlines())] if reason else []
    about += ["#", "# Run it with `fusewright run FILE`, or with Python."]
    chosen = {k: v for k, v in _options(current()).items()}
    if len({n.target for n in program.body}) == 1 or len(program.body) == 1:
        chosen["single_op_groups"] = True
    inputs = []
    for k, n in enumerate(program.inputs):
        if beside:
            inputs.append(f"repro.saved(__file__, {k})")
        elif values is not None:
            inputs.append(_given(values[k]))
        else:
            inputs.append(_random(n.meta["val"], k, program.bounds.get(n)))
    inputs += [_random(n.meta["val"], 2000) for n in program.unread]
    inputs += [_given(t) if t.numel() <= INLINE else _random(t, 1000) for t in program.constants.values()]
    if program.definition is None:
        imports, body, call = "import torch", program.source(values), "repro.run(group, INPUTS"
    else:
        defined, numbers = program.definition
        inputs += numbers
        imports, call = (
            "import torch\n\nimport fusewright",
            "repro.run_definition(fusewright.Definition.parse(TEXT), INPUTS",
        )
        body = 'TEXT = """\\\n' + defined.text().replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + '"""\n'
    return "\n".join(
        [
            *about,
            "",
            imports,
            *([""] if program.definition is None else []),
            "from fusewright.debug import repro",
            "",
            f"HASH = {digest!r}",
            f"OPTIONS = {chosen!r}",
            "INPUTS = [",
            *(f"    {i}," for i in inputs),
            "]",
            "",
            "",
            body,
            "",
            'if __name__ == "__main__":',
            f"    raise SystemExit({call}, OPTIONS, HASH))",
            "",
        ]
    )


def write(
    path: str | Path,
    program: Program,
    name: str,
    digest: str = "",
    lines: Sequence[str] = (),
    reason: str = "",
    values: Sequence[torch.Tensor] | None = None,
) -> None:
    """Write a repro file, and `PATH.pt` if there are many values. Raises OSError."""
    beside = values is not None and sum(t.numel() for t in values) > INLINE
    Path(path).write_text(text(program, name, digest, lines, reason, values, beside), encoding="utf-8")
    if beside and values is not None:
        torch.save([t.detach().cpu() if t.device.type == "cpu" else t.detach() for t in values], f"{path}.pt")


def repro(group: Any, path: str | Path, values: bool | Sequence[torch.Tensor] = False) -> None:
    """Write a repro file of a group from a recording or a check.

    `group`: a `record.GroupRecord` with its graph's `traced` as a pair (graph, group), or a `check.CheckedGroup`.
    `values`: the tensors that the group reads, in the order of its buffers, to be kept; True takes those of a
    CheckedGroup. Raises UserError when the values are asked for and not known, or the file cannot be written, or the
    operations have no Python (those of a definition).
    """
    try:
        if hasattr(group, "program"):
            kept = group.inputs if values is True else values or None
            write(path, group.program, group.name, group.hash, group.lines, group.message, kept)
            return
        if values is True:
            raise UserError("the values of a compiled group are not kept; give its tensors, or run with check=True")
        graph, one = group
        values = [values] if isinstance(values, torch.Tensor) else values
        program = of_group(one.plan.built, graph.traced, one.plan.group)
        _fitting(values, program)
        write(path, program, one.name, one.hash, one.lines, "", values or None)
    except OSError as e:
        raise UserError(f"cannot write a repro file to {path}: {e.strerror or e}") from e
    except CompilerError as e:
        raise UserError(f"there can be no repro file: {e}") from e


def _fitting(values: Any, program: Program) -> None:
    """Raises UserError unless `values` are tensors like those that the group reads, or there are none."""
    if values is False or values is None:
        return
    wanted = [n.meta["val"] for n in program.inputs]
    given = list(values) if isinstance(values, (list, tuple)) else [values]
    says = "values: the tensors that the group reads are wanted, in their order: "
    says += ", ".join(f"{t.dtype}[{', '.join(map(str, t.shape))}]" for t in wanted) or "none"
    if len(given) != len(wanted) or not all(isinstance(t, torch.Tensor) for t in given):
        raise UserError(says)
    for t, w in zip(given, wanted, strict=True):
        fixed = (x == y for x, y in zip(t.shape, w.shape, strict=False) if isinstance(y, int))
        if t.dtype != w.dtype or t.dim() != w.dim() or not all(fixed):
            raise UserError(f"{says}; not {t.dtype}[{', '.join(map(str, t.shape))}]")


def of_failure(traced: Traced, group: Group, built: Built | None, name: str, error: Exception) -> str:
    """Write a repro file for a group that our compiler failed on: what to say about it, "" if none is wanted."""
    try:
        lines = record.user_lines(traced, group)
        if built is not None:
            return _failed(of_group(built, traced, group), name, built.hash, lines, error)
        inside = [traced.nodes[u] for u in group.units]
        outs = [n for v in group.outputs if (n := traced.node_of.get(v)) is not None]
        return _failed(_cut(inside, outs or inside[-1:], traced), name, "", lines, error)
    except Exception:  # the failure itself matters more
        return ""


def of_graph_failure(gm: GraphModule, name: str, error: Exception) -> str:
    """The same for a whole graph."""
    try:
        return _failed(of_graph(gm), name, "", [], error)
    except Exception:
        return ""


def _cut(inside: list[Any], outs: list[Any], traced: Traced) -> Program:
    """The program of some nodes of a graph, of which no fusion could be made."""
    body, inputs = set(inside), dict.fromkeys(a for n in inside for a in n.all_input_nodes if a not in inside)
    tensors = [n for n in inputs if isinstance(n.meta.get("val"), torch.Tensor)]
    return Program(tensors, outs, [n for n in traced.module.graph.nodes if n in body])


def _failed(program: Program, name: str, digest: str, lines: Sequence[str], error: Exception) -> str:
    if not current().repro:
        return ""
    folder = files.directory("repro")
    try:
        path = files.place("repro", f"{name}-{digest or 'failure'}.py")
    except OSError as e:
        return f"There is no repro file: {files.because(folder, e)}"
    try:
        write(path, program, name, digest, lines, f"{type(error).__name__}: {error}")
    except Exception as e:
        path.unlink(missing_ok=True)
        return f"There is no repro file: {files.because(folder, e)}" if isinstance(e, OSError) else ""
    return f"To see it alone: fusewright run {path}"


def _options(chosen: Options) -> dict[str, Any]:
    """The options that changed the code and are not the defaults."""
    out = {}
    for row in TABLE:
        value = getattr(chosen, row.name)
        if row.metadata["affects_code"] and row.name not in _LEFT_OUT and value != row.default:
            out[row.name] = os.path.abspath(os.path.expanduser(value)) if row.metadata["kind"] == "path" else value
    kept = tuple(d for d in chosen.disable if not d.startswith("group:"))
    return {**out, "disable": kept} if kept else out


def _random(t: Any, seed: int, bound: int | None = None) -> str:
    shape, strides = (tuple(size(s, {}) for s in x) for x in (t.shape, t.stride()))
    range_ = f", low=0, high={bound}" if bound is not None else ""
    dtype = str(t.dtype).removeprefix("torch.")
    return f'repro.tensor({shape}, {strides}, "{dtype}", "{t.device}", seed={seed}{range_})'


def _given(t: torch.Tensor) -> str:
    dtype = str(t.dtype).removeprefix("torch.")
    values = literal(t.detach().cpu().reshape(-1).tolist(), _number)
    return f'repro.given({values}, {tuple(t.shape)}, {tuple(t.stride())}, "{dtype}", "{t.device}")'


def _number(a: Any) -> str:
    return literal(a, _number)


# --- what the files call ---------------------------------------------------------------------------


def tensor(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: str = "float32",
    device: str = "cpu",
    seed: int = 0,
    low: int | None = None,
    high: int | None = None,
) -> torch.Tensor:
    """A random tensor: normal numbers; integers from `low` to `high` - 1; truth values."""
    kind: torch.dtype = getattr(torch, dtype)
    generator = torch.Generator().manual_seed(seed)
    n = 1 + sum((s - 1) * d for s, d in zip(shape, strides, strict=True)) if all(shape) else 0
    if kind.is_floating_point:
        flat = torch.randn(n, generator=generator, dtype=torch.float64).to(kind)
    elif kind is torch.bool:
        flat = torch.randint(0, 2, (n,), generator=generator).bool()
    else:
        least = low if low is not None else 0 if kind is torch.uint8 else -5
        flat = torch.randint(least, max(least + 1, high if high is not None else 6), (n,), generator=generator).to(kind)
    return _place(flat, device).as_strided(shape, strides)


def given(
    values: Sequence[Any], shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, device: str = "cpu"
) -> torch.Tensor:
    """A tensor of these values, in row-major order."""
    flat = torch.tensor(values, dtype=getattr(torch, dtype))
    return _restride(_place(flat.reshape(shape), device), strides)


def saved(file: str, k: int) -> torch.Tensor:
    """Input `k` of a repro file, from the file beside it."""
    try:
        t: torch.Tensor = torch.load(f"{file}.pt", map_location=None if torch.cuda.is_available() else "cpu")[k]
    except FileNotFoundError:
        raise UserError(f"{file}.pt, which has the values of the inputs, is not there") from None
    return t


def _place(t: torch.Tensor, device: str) -> torch.Tensor:
    if device.startswith("cuda") and not torch.cuda.is_available():
        print(f"(no {device} here: on the CPU instead)", file=sys.stderr)
        return t
    return t.to(device)


def _restride(t: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """A tensor with the values of `t` and these strides; elements that share memory have one value."""
    n = 1 + sum((s - 1) * d for s, d in zip(t.shape, strides, strict=True)) if t.numel() else 0
    out = torch.empty(n, dtype=t.dtype, device=t.device).as_strided(t.shape, strides)
    narrow = tuple(slice(0, 1) if d == 0 else slice(None) for d in strides)
    out[narrow].copy_(t[narrow])
    return out


def run(group: Callable[..., list[Any]], inputs: list[torch.Tensor], chosen: dict[str, Any], digest: str = "") -> int:
    """Run a repro file's group fused and through torch, compare, time; prints what it finds. Returns the exit code."""
    try:
        wanted = [t.clone() for t in group(*inputs)]
    except Exception as e:
        print(f"PyTorch itself fails on these inputs: {type(e).__name__}: {e}")
        return 1
    fused = torch.compile(group, backend="fusewright", fullgraph=True, dynamic=False)
    with options(**{**chosen, "fallback": False, "check": False}), record.recording() as graphs, torch.no_grad():
        try:
            got = fused(*inputs)
        except Exception as e:
            cause = next((c for c in _causes(e) if type(c).__module__.startswith("fusewright")), e)
            print(f"Fusewright fails: {type(cause).__name__}: {cause}")
            traceback.print_exception(cause, limit=-3)
            return 1
        _say_kernels(graphs, digest)
        deviations = compare(
            [t.detach() for t in got], lambda given: group(*given), inputs, current().precision == "eager"
        )
        for d in deviations:
            print(f"wrong: {d}")
        if not deviations:
            exact = all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
            print("right: " + ("the same bits as PyTorch's" if exact else "as near to PyTorch's as rounding allows"))
        print(f"fused {_time(fused, inputs):.1f} µs, PyTorch {_time(group, inputs):.1f} µs (median of many calls)")
    return 1 if deviations else 0


def run_definition(definition: Any, inputs: list[Any], chosen: dict[str, Any], digest: str = "") -> int:
    """Run a repro file's definition, compare with NumPy, time; prints what it finds. Returns the exit code."""
    with options(**{**chosen, "fallback": False, "check": False}), record.recording() as graphs, torch.no_grad():
        try:
            definition.validate(inputs)
        except Mismatch as e:
            print(f"wrong: {e}")
            return 1
        except Exception as e:
            print(f"Fusewright fails: {type(e).__name__}: {e}")
            traceback.print_exception(e, limit=-3)
            return 1
        _say_kernels(graphs, digest)
        print("right: as near to NumPy's as rounding allows")
        tensors = [t for t in inputs if isinstance(t, torch.Tensor)]
        print(f"fused {_time(lambda *_: definition.execute(inputs), tensors):.1f} µs (median of many calls)")
    return 0


def _say_kernels(graphs: Any, digest: str) -> None:
    kernels = [g for graph in graphs for g in graph.groups]
    same = "the original's structure" if digest and digest in [g.hash for g in kernels] else "another structure"
    made = ", ".join(f"{g.name} ({g.hash})" for g in kernels) or "none: torch runs it all"
    print(f"kernels: {made}{f'; {same}' if digest else ''}")


def _causes(e: BaseException | None) -> list[BaseException]:
    out: list[BaseException] = []
    while e is not None and e not in out:
        out.append(e)
        e = getattr(e, "inner_exception", None) or e.__cause__ or e.__context__
    return out[::-1]


def _time(f: Callable[..., Any], inputs: list[torch.Tensor], seconds: float = 0.3) -> float:
    """Microseconds of a call, the median."""
    wait = torch.cuda.synchronize if any(t.device.type == "cuda" for t in inputs) else lambda: None
    took: list[float] = []
    f(*inputs)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(took) < 5:
        wait()
        start = time.perf_counter()
        f(*inputs)
        wait()
        took.append(time.perf_counter() - start)
    return statistics.median(took) * 1e6 if took else math.nan


def main(argv: Sequence[str]) -> int:
    """`fusewright run FILE`."""
    parser = argparse.ArgumentParser("fusewright run", description="Run a repro file: fused, through torch; compare.")
    parser.add_argument("file", help="what a fallback's warning, a check, a report or `fusewright bisect` wrote")
    path = Path(parser.parse_args(argv).file)
    try:
        head = path.read_text(encoding="utf-8")[: len(MARK)]
    except (OSError, UnicodeDecodeError) as e:
        raise UserError(f"cannot read {path}: {getattr(e, 'strerror', None) or e}") from None
    if head != MARK:
        raise UserError(f"{path} is not a repro file: those begin with '{MARK}'")
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as done:
        return int(done.code or 0)
    return 0
