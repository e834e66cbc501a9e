"""The CUDA C++ of every case of the GPU suites, for a GPU that is not there: what a change does to the kernels.

    python benchmarks/gpu_sources.py before          on one commit, ten seconds
    python benchmarks/gpu_sources.py after           on another
    diff -r before after

A file for each case, without comments, which name files and lines. Nothing is run; tensors are never written.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from registers import compiled

from fusewright.bench.cases import Case
from fusewright.bench.runner import ON_GPUS


def blank(*size: Any, generator: torch.Generator | None = None, **kwargs: Any) -> torch.Tensor:
    """`torch.randn` and `torch.rand` without the numbers."""
    return torch.empty(*size, **kwargs)


def zeros(*given: Any, dtype: torch.dtype = torch.int64, **kwargs: Any) -> torch.Tensor:
    """`torch.randint` without the numbers."""
    return torch.zeros(next(g for g in given if isinstance(g, (tuple, list))), dtype=dtype)


def sources(case: Case) -> list[str]:
    """What is compiled for a case, forward and backward."""
    made: dict[str, Callable[..., torch.Tensor]] = {"randn": blank, "rand": blank, "randint": zeros}
    made["randn_like"] = torch.empty_like
    with mock.patch.multiple(torch, **made):
        inputs = case.inputs("cpu", False)
    with torch.set_grad_enabled(case.backward):
        driver, _ = compiled(case.fn, inputs)
    return sorted("\n".join(x for x in s.splitlines() if not x.strip().startswith("//")) for s in driver.kernels)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--only", default="", metavar="SUBSTR", help="only cases whose name contains this")
    args = parser.parse_args(argv)
    args.folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for case in ON_GPUS:
        if args.only in case.name:
            name = re.sub(r"[^\w.+-]+", "_", f"{case.suite} {case.name}")
            (args.folder / f"{name}.cu").write_text("\n\n".join(sources(case)) + "\n")
            count += 1
    print(f"{count} cases in {args.folder}")


if __name__ == "__main__":
    main()
