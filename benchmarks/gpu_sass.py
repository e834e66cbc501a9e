"""What the machine code of the GPU cases' kernels consists of, without a GPU.

    python benchmarks/gpu_sass.py [--loops] [--sizes] [--save DIR] [part of a case's name ...]

Needs NVRTC and `nvdisasm` (on the path, or PyPI's nvidia-cuda-nvdisasm). For each kernel, as it is planned for an
H200: instructions in all and the most frequent opcodes. `--loops`: the same for each loop of the machine code (what
lies between a backward branch and its target). `--sizes`: also the kernels in which sizes are numbers. `--save`:
sources (.cu) and machine code (.sass) for reading.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from gpu_schedules import Compiling, run

from fusewright.bench.cases_gpu import GPU_CASES
from fusewright.bench.runner import ON_GPUS
from fusewright.build import nvrtc
from fusewright.emit.cuda import emit_cuda
from fusewright.emit.cuda_types import CudaTarget
from fusewright.loop.ir import Func

_LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z0-9_.a-z]+)\s*(.*?);")


class Keeping(Compiling):
    """A driver that keeps what it compiles."""

    def compile(self, func: Func) -> bytes:
        cubin = super().compile(func)
        self.made.append((func, cubin))
        return cubin


def disassemble(tool: str, cubin: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as f:
        f.write(cubin)
        f.flush()
        return subprocess.run([tool, "-c", f.name], check=True, capture_output=True, text=True).stdout


def instructions(text: str) -> dict[str, list[tuple[int, str, str]]]:
    """kernel -> (address, opcode, operands) of its machine code; labels are replaced by addresses."""
    kernels: dict[str, list[tuple[int, str, str]]] = {}
    labels: dict[str, int] = {}
    name, waiting, at = "", [], 0
    for line in text.splitlines():
        if line.lstrip().startswith(".section") and ".text." in line:
            name = line.split(".text.")[1].split(",")[0].strip()
            kernels[name] = []
        elif m := re.match(r"^(\.L_x_\w+):", line.strip()):
            waiting.append(m[1])
        elif name and (m := _LINE.match(line)):
            at = int(m[1], 16)
            labels.update((f"{name}{w}", at) for w in waiting)
            waiting = []
            kernels[name].append((at, m[3], m[4]))
    for k, code in kernels.items():
        kernels[k] = [
            (a, op, re.sub(r"`?\(?(\.L_x_\w+)\)?", lambda m, k=k: hex(labels.get(f"{k}{m[1]}", 0)), rest))
            for a, op, rest in code
        ]
    return kernels


def histogram(code: list[tuple[int, str, str]], most: int = 16) -> str:
    count = Counter(".".join(op.split(".")[:2]) for _, op, _ in code if not op.startswith("NOP"))
    return f"{sum(count.values())}: " + ", ".join(f"{op} {n}" for op, n in count.most_common(most))


def loops(code: list[tuple[int, str, str]]) -> list[tuple[int, int]]:
    """Address ranges of loops: from the target of a backward branch to the branch."""
    found: dict[int, int] = {}
    for a, op, rest in code:
        if op.startswith("BRA") and (m := re.search(r"0x[0-9a-f]+", rest)):
            to = int(m[0], 16)
            if to < a:
                found[to] = max(a, found.get(to, 0))
    return sorted(found.items())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--save")
    parser.add_argument("only", nargs="*")
    args = parser.parse_args()
    tool, driver = nvrtc.disassembler(), Keeping()
    if tool is None:
        raise SystemExit("nvdisasm is not there: pip install nvidia-cuda-nvdisasm")
    for case in ON_GPUS if args.only else GPU_CASES:
        if args.only and not any(p in case.name for p in args.only):
            continue
        driver.made = []
        run(case, driver, specialize="always" if args.sizes else "never")
        print(f"{case.name}:")
        for k, (func, cubin) in enumerate(driver.made):
            text = disassemble(tool, cubin)
            if args.save:
                stem = re.sub(r"\W+", "_", case.name) + (f"_{k}" if k else "")
                Path(args.save).mkdir(parents=True, exist_ok=True)
                (Path(args.save) / f"{stem}.cu").write_text(emit_cuda(func, CudaTarget(9, 0)))
                (Path(args.save) / f"{stem}.sass").write_text(text)
            reports = {r.name: r for r in nvrtc.report(cubin)}
            for name, code in instructions(text).items():
                r = reports.get(name)
                size = f" ({r.registers} registers, {r.stack} stack, {r.shared} shared)" if r else ""
                print(f"  {name}{size} {histogram(code)}")
                if args.loops:
                    for lo, hi in loops(code):
                        print(f"    {lo:#x}-{hi:#x} {histogram([c for c in code if lo <= c[0] <= hi])}")


if __name__ == "__main__":
    main()
