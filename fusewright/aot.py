"""`fusewright aot`: look at a saved program, or find out whether it runs here.

    fusewright aot info model.fwp        what is inside: arguments, sizes, memory, machines, kernels
    fusewright aot check model.fwp       read all of it, and load it as a program would

Exit codes: 0 fine; 1 `check` found that it does not load here; 2 no such file, or no saved program.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .core.errors import UserError
from .debug.units import size
from .run.archive import DAMAGE, Archive
from .run.convention import described, from_data
from .run.saved import Loader


def info(archive: Archive) -> Iterator[str]:
    """What is in a file, line by line."""
    m = archive.manifest
    c = from_data(m["convention"])
    members = archive.zip.infolist()
    yield f"{archive.path}: {size(sum(i.compress_size for i in members))}, format {m['format']}"
    yield f"saved with Fusewright {m['fusewright']}, torch {m['torch']}"
    yield "arguments"
    yield from (f"  {described(a)}" for a in c.arguments)
    if c.symbols:
        yield "sizes"
    for s in c.symbols:
        a = c.arguments[s.argument]
        where = a.name if s.dim is None else f"{a.name}.shape[{s.dim}]"
        of = where if s.source == "n" else f"{s.source} with n = {where}"
        low, high = "any" if s.low is None else s.low, "any" if s.high is None else s.high
        yield f"  {s.name} = {of}, {low} to {high}"
    yield from (f"  {g}" for g in c.guards)
    yield from _memory(m)
    for v in m["variants"]:
        yield from _variant(v, m["kernels"])
    systems = sorted({f"{n['system']} {n['cpu']['architecture']}" for n in m.get("native", ())})
    if systems:
        yield f"launches by machine code on {', '.join(systems)}"


def _memory(m: Mapping[str, Any]) -> Iterator[str]:
    for kind, title in (("parameter", "parameters"), ("buffer", "buffers"), ("temporary", "other buffers")):
        names = [n for n, t in m["tensors"].items() if t["kind"] == kind]
        if names:
            where = {m["tensors"][n]["storage"] for n in names}
            total = sum(m["storages"][k]["bytes"] for k in where)
            absent = "" if all(m["storages"][k]["saved"] for k in where) else ", not in the file"
            yield f"{len(names)} {title}, {size(total)}{absent}"


def _variant(v: Mapping[str, Any], kernels: Mapping[str, Any]) -> Iterator[str]:
    needs = []
    if v["cpu"] is not None:
        needs.append(f"{v['cpu']['architecture']} {' '.join(v['cpu']['needs'])}".rstrip())
    if v["gpu"] is not None:
        g = v["gpu"]
        kind = ".".join(map(str, g["capability"]))
        needs.append(f"a GPU of compute capability {kind} ({g['device']}), a driver for CUDA {g['nvrtc']}")
    yield f"for {v['name']}: {'; '.join(needs) or 'any machine'}"
    on_cpu = [x["kernel"] for x in v["scope"].values() if "kernel" in x]
    if on_cpu:
        yield f"  {len(on_cpu)} groups on the CPU"
        yield from (f"    {kernels[k]['entry']}" for k in on_cpu)
    groups = [x["group"] for x in v["scope"].values() if "group" in x]
    if groups:
        yield f"  {len(groups)} groups on the GPU"
    for g in groups:
        names = dict.fromkeys(kernels[r["kernel"]]["entry"] for r in g["rules"])
        wanted = sum(r["wanted"] for r in g["rules"])
        rules = f"{wanted} rules for sizes, {len(g['rules']) - wanted} for others"
        yield f"    {g['name']}: {', '.join(names) or 'no kernel'}; {rules}"
    for x in (x["executor"] for x in v["scope"].values() if "executor" in x):
        yield f"  calls executor {x['name']} for {x['for']}: {x['calls'].get('reference') or x['calls']['operator']}"
    if v["operators"]:
        yield f"  calls torch's {', '.join(n.removesuffix('.default') for n in v['operators'])}"


def check(archive: Archive) -> str:
    """What is wrong with a file, or ""; it is loaded, so that all that loading looks at is looked at."""
    try:
        for i in archive.zip.infolist():
            archive.read(i.filename)
        program = Loader(archive, {}, False)
        if any(not s["saved"] for s in archive.manifest["storages"]):
            program.check_torch()
            variant = program.variant()
            program.check_operators(variant)
            return ""
        program.program()
    except UserError as e:
        return str(e)
    except DAMAGE as e:
        return str(archive.damaged(e))
    return ""


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("fusewright aot", description="Programs saved by fusewright.aot_save.")
    parser.add_argument("action", choices=("info", "check"), help="print what is inside; see whether it loads here")
    parser.add_argument("file", help="the saved program")
    given = parser.parse_args(argv)
    archive = Archive(given.file)
    try:
        if given.action == "check":
            why = check(archive)
            print(why or f"{given.file} loads on this machine")
            return 1 if why else 0
        try:
            for line in info(archive):
                print(line)
        except DAMAGE as e:
            raise archive.damaged(e) from e
        return 0
    finally:
        archive.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
