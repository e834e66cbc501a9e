"""What each kernel of a model's training step moves and takes, those that lose most against a copy first.

    python benchmarks/traffic.py                      # on a GPU; about half a minute a model
    python benchmarks/traffic.py BERT "state space"   # models whose names contain these

Bytes are those of a launch's distinct elements (`fusewright/debug/traffic.py`). Time is what CUPTI sees on the device,
of all launches of a kernel; where one begins before another has ended, what both ran counts for the first only. What
is lost: the time, less that of the bytes at the speed of a copy between two large tensors.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from models import MODELS, Run, exclusive, initialized, spans
from models_more import MORE, Model
from torch.profiler import ProfilerActivity
from torch.profiler import profile as profiler

from fusewright.debug import record
from fusewright.debug.profile import Profile
from fusewright.debug.traffic import roof
from fusewright.debug.units import short_line

WARM, STEPS = 4, 5


@dataclass
class Kernel:
    """One kernel of a step. `seconds`: of each of its calls that were seen."""

    name: str
    title: str
    where: str
    bytes: float
    seconds: list[float] = field(default_factory=list)

    def lost(self, speed: float) -> float:
        return statistics.median(self.seconds) - self.bytes / speed


def calls(launches: Sequence[tuple[str, float]], titles: set[str]) -> list[tuple[str, float]]:
    """Launches `title_0`, `title_1`, ... of one call, added up. Other kernels are left out."""
    out: list[tuple[str, float]] = []
    for name, time in launches:
        title, _, number = name.rpartition("_")
        if title not in titles or not number.isdigit():
            continue
        if number == "0":
            out.append((title, 0.0))
        elif not out or out[-1][0] != title:
            raise RuntimeError(f"{name} was launched behind {out[-1][0] if out else 'nothing'}")
        out[-1] = (title, out[-1][1] + time)
    return out


def measured(model: Model) -> tuple[list[Kernel], float]:
    """The kernels of a model's step, and seconds of all that ran on the device."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    made, data = initialized(model, "cuda")
    found = Profile()
    with record.using(found):
        run = Run(made, "fusewright", data)
        for _ in range(WARM):
            run.step()
        torch.cuda.synchronize()
        first = len(found.launches)
        with profiler(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as p:
            for _ in range(STEPS):
                run.step()
            torch.cuda.synchronize()
    ran = [(name, took * 1e-6) for name, took in exclusive(spans(p))]
    names = [name for name, _, _ in found.launches[first:]]
    seen = calls(ran, {found.meters[n].title for n in names})
    if [found.meters[n].title for n in names] != [title for title, _ in seen]:
        raise RuntimeError(f"{len(names)} kernels were called, and {len(seen)} others seen")
    kernels: dict[str, Kernel] = {}
    for name, (title, seconds) in zip(names, seen, strict=True):
        m = found.meters[name]
        made_of = kernels.setdefault(name, Kernel(name, title, short_line(m.where), m.bytes / m.calls))
        made_of.seconds.append(seconds)
    return list(kernels.values()), sum(t for _, t in ran) / STEPS


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of names of models (all of them)")
    parser.add_argument("--most", type=int, default=40, help="list no more kernels of a model (40)")
    args = parser.parse_args()
    for name, model in {**MODELS, **MORE}.items():
        if args.names and not any(n in name for n in args.names):
            continue
        kernels, seconds = measured(model)
        speed = roof("cuda")
        ours = sum(sum(k.seconds) for k in kernels) / STEPS
        ideal = sum(k.bytes * len(k.seconds) for k in kernels) / STEPS / speed
        print(
            f"{name}: {seconds * 1e3:.2f} ms on the device, of which {ours * 1e3:.2f} in {len(kernels)} kernels of"
            f" ours, which would be {ideal * 1e3:.2f} if they only copied their bytes",
            flush=True,
        )
        for k in sorted(kernels, key=lambda k: -k.lost(speed))[: args.most]:
            took = statistics.median(k.seconds)
            print(
                f"  {k.lost(speed) * 1e6:6.1f} us lost of {took * 1e6:6.1f} for {k.bytes / 1e6:7.1f} MB"
                f" ({k.bytes / speed / took:.2f})  {k.name} {k.title}  {k.where}",
                flush=True,
            )


if __name__ == "__main__":
    main()
