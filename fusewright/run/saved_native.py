"""Launches of a saved program by machine code: the functions that launch are in the file, so that nothing is compiled.

They are the same for all kernels and all programs (`build/launcher.py`), and so plain that they are made for any CPU of
an architecture. A file has them with a digest of their text: what another version of Fusewright has saved is used where
that is the same. Where they are not, cannot be linked, or are not for this Python, Python launches.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from ..build import cpus, launcher, machine_code, tensor_calls
from ..core.errors import RuntimeFault
from ..core.log import LOG
from ..core.options import current
from . import handles, internals, native
from .native import Described, Room


@cache
def texts() -> dict[str, str]:
    """The functions by name, as LLVM IR."""
    return {launcher.NAME: launcher.text(), tensor_calls.VIEW_NAME: tensor_calls.view_text()}


def record(name: str, cpu: cpus.Cpu) -> dict[str, Any]:
    """What a file says of the object code of a function, made for such CPUs on a system like this."""
    about = {"name": cpu.name, "architecture": cpu.architecture, "needs": list(cpu.needs)}
    return {"name": name, "text": machine_code.digest(texts()[name]), "system": sys.platform, "cpu": about}


def take(records: Iterable[Mapping[str, Any]], read: Callable[[str], bytes]) -> bool:
    """Make use of what a file has, and say whether machine code can launch. `read(member)` gives object code."""
    if not current().native_launch or not launcher.supported() or handles.functions() is None:
        return False
    for r in records:
        ir = texts().get(r["name"])
        if ir is None or machine_code.given(ir) or not _fits(r, ir):
            continue
        try:
            machine_code.give(r["name"], ir, read(r["member"]))
        except (RuntimeFault, ImportError, OSError) as e:  # the linker is llvmlite's
            LOG.warning("%s is not used, which takes longer: %s", r["name"], e)
    return machine_code.given(texts()[launcher.NAME])


def _fits(r: Mapping[str, Any], ir: str) -> bool:
    """Whether object code is that of a function, for this machine."""
    c = r["cpu"]
    cpu = cpus.Cpu(c["name"], c["architecture"], "", 0, tuple(c["needs"]))
    return r["text"] == machine_code.digest(ir) and r["system"] == sys.platform and not cpus.lacking(cpu)


def view() -> Any:
    """What makes the views of a plan whose launches are native."""
    return handles.view() if machine_code.given(texts()[tensor_calls.VIEW_NAME]) else internals.reinterpret


def room(group: native.Group, ready: bool) -> Room:
    """Scratch memory of a plan, on the device of one of its groups. `ready`: what `take` has said."""
    return Room(native.calls_of(group) if ready else None)


def site(x: Mapping[str, Any], scope: Mapping[str, Any], ready: bool) -> Callable[..., bool | None]:
    """A launch, from what a file says of it; `scope`: the plan's."""
    group = scope[x["group"]]
    aligned = [bool(a) for a in x["aligned"]]
    shared = scope[x["room"]] if x["room"] is not None else None
    calls = native.calls_of(group) if ready else None
    if calls is None:
        return _python(group, aligned, int(x["hosts"]))
    return native.site(group, calls, aligned, int(x["hosts"]), bool(x["here"]), shared)


def _python(group: native.Group, aligned: Sequence[bool], hosts: int) -> Callable[..., bool | None]:
    """What `native.site` gives, in Python."""
    buffers, sizes = range(len(aligned)), [f"s{k}" for k in range(len(group.symbols))]
    scalars = [f"h{k}" for k in range(hosts)]
    pointers = [f"p{k}" for k in buffers]
    low = " | ".join(p for p, counts in zip(pointers, aligned, strict=True) if counts)
    key = ", ".join([*sizes, f"({low}) & 15" if low else "0"])
    given = f", hosts=({', '.join(scalars)},)" if hosts else ""
    lines = [
        f"def launch({''.join(f'b{k}, ' for k in buffers)}{''.join(f'{n}, ' for n in [*sizes, *scalars])}*room):",
        *(f"    p{k} = b{k} if type(b{k}) is int else b{k}.data_ptr()" for k in buffers),
        f"    try: L = memo[{key},]",
        f"    except KeyError: L = make({key})",
        "    if L is None: return True",
        f"    L({', '.join(pointers)}{given})",
    ]
    made: dict[str, Any] = {"memo": group.memo, "make": group.make}
    exec(compile("\n".join(lines), "<fusewright launch>", "exec"), made)
    launch: Callable[..., bool | None] = made["launch"]
    return launch


def data(x: Described, group: str) -> dict[str, Any]:
    """What a file says of a launch. `group`: the name of its group in the plan."""
    shared = "_room" if x.room else None
    return {"group": group, "aligned": x.aligned, "hosts": x.hosts, "here": x.here, "room": shared}


__all__ = ["data", "record", "room", "site", "take", "texts", "view"]
