"""Seconds of the first training step of a GPT in a fresh process whose kernels are on disk, beside `aot_eager`.

    python benchmarks/warm_start.py                       # 12 layers, batch 1, sequence 128, on a CPU: 3 minutes
    python benchmarks/warm_start.py --profile out.prof    # one warm process of ours, under cProfile

What `aot_eager` takes is what Dynamo and AOTAutograd take by themselves; the rest is ours. Both processes have run the
step in eager before, and nothing of `torch.compile`. The processes take turns, and each number is the least of several
(`cpu`: time of the processor, which other programs disturb less). As for an installed package, byte code exists.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BACKENDS = ("aot_eager", "fusewright")


def child(args: argparse.Namespace) -> dict[str, Any]:
    import torch
    from models import GPT, Shape

    torch.manual_seed(0)
    shape = Shape(args.layers, 8, args.width, 4 * args.width, 1000, args.batch, args.length)
    model = GPT(shape).to(args.device)
    tokens, targets = (torch.randint(0, 1000, (args.batch, args.length), device=args.device) for _ in range(2))

    def step(m: Any) -> None:
        m(tokens, targets).backward()
        if args.device == "cuda":
            torch.cuda.synchronize()

    step(model)
    profile = cProfile.Profile() if args.profile else None
    began, cpu = time.perf_counter(), time.process_time()
    if profile:
        profile.enable()
    step(torch.compile(model, backend=args.child))
    if profile:
        profile.disable()
        profile.dump_stats(args.profile)
    out: dict[str, Any] = {"wall": time.perf_counter() - began, "cpu": time.process_time() - cpu}
    if args.child == "fusewright":
        import fusewright

        counters = fusewright.counters()
        out |= {k: counters[k] for k in ("kernels_compiled", "disk_hits", "groups_formed", "fallbacks")}
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--profile", help="write the profile of one warm process of ours here")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print("\n" + json.dumps(child(args)))
        return 0
    rows: dict[str, list[dict[str, Any]]] = {"cold": [], **{b: [] for b in BACKENDS}}
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        env |= {"FUSEWRIGHT_CACHE_DIR": f"{folder}/kernels", "PYTHONPYCACHEPREFIX": f"{folder}/code"}

        def run(backend: str, *more: str) -> dict[str, Any]:
            given = [f"--{k}={getattr(args, k)}" for k in ("layers", "width", "batch", "length", "device")]
            command = [sys.executable, "-W", "ignore", __file__, "--child", backend, *given, *more]
            out = subprocess.run(command, env=env, capture_output=True, text=True)
            if out.returncode:
                raise SystemExit(f"{backend}: {out.stderr[-2000:]}")
            return dict(json.loads(out.stdout.splitlines()[-1]))

        for backend in BACKENDS:  # writes byte code and kernels
            first = run(backend)
            rows["cold"] += [first] if backend == "fusewright" else []
        if args.profile:
            print(run("fusewright", f"--profile={args.profile}"))
            return 0
        for _ in range(args.runs):
            for backend in BACKENDS:
                rows[backend].append(run(backend))
    best = {b: {k: min(r[k] for r in rows[b]) for k in ("wall", "cpu")} for b in BACKENDS}
    for b in BACKENDS:
        print(f"{b:12} {best[b]['wall']:.2f} s wall, {best[b]['cpu']:.2f} s cpu")
    ours = {k: best["fusewright"][k] - best["aot_eager"][k] for k in ("wall", "cpu")}
    print(f"{'difference':12} {ours['wall']:.2f} s wall, {ours['cpu']:.2f} s cpu   (goal: 0.5 s)")
    last = rows["fusewright"][-1]
    print(", ".join(f"{k} {last[k]}" for k in ("groups_formed", "disk_hits", "kernels_compiled", "fallbacks")))
    if args.json:
        args.json.write_text(json.dumps({"best": best, "runs": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
