"""Golden GPU kernels: Loop IR and CUDA C++ as text, what NVRTC says of them, and a numeric twin by interpretation.

No GPU is needed. `python -m pytest tests/golden --update-goldens` writes the files again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fusewright.build import nvrtc
from fusewright.core.dtypes import BY_NAME
from fusewright.emit.cuda import emit_cuda
from fusewright.emit.cuda_types import CudaTarget
from fusewright.loop import text as loop_text
from fusewright.loop.constants import with_sizes
from fusewright.loop.ir import Func, Grid
from fusewright.loop.verify import verify as verify_loop
from fusewright.schedule.device import H200, Gpu
from tests.golden import cases
from tests.golden.cases import CASES, Program
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import GpuCompiled, check_gpu, gpu_kernel, hint_of, lower_gpu
from tests.loop import test_gpu_clusters as clusters
from tests.loop import test_gpu_interleave as interleave
from tests.loop import test_gpu_lanes as lanes
from tests.loop import test_gpu_lowering as programs
from tests.loop import test_gpu_moved as moved
from tests.loop import test_gpu_scans as scans
from tests.loop import test_gpu_scatter as scatters
from tests.loop import test_gpu_shared as shared
from tests.loop import test_gpu_split as split

HERE = Path(__file__).parent / "gpu"
FEW = Gpu((9, 0), 8, 1 << 20, 227 << 10)
NEEDS_NVRTC = pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")

# name -> (program, sizes, the schedule's mode); one for each way in which a kernel can be made
GOLDENS: dict[str, tuple[Program, tuple[int, int], str]] = {
    "broadcast": (cases.broadcast, (64, 1024), "tile"),
    "cat_pad": (cases.cat_pad, (40, 1021), "tile"),
    "dropout": (cases.dropout, (64, 512), "tile"),
    "dropout_as_torch": (cases.dropout_as_torch, (64, 512), "tile"),
    "embedding": (cases.embedding, (100, 48), "tile"),
    "rope": (programs.rope, (64, 64), "tile"),
    "pairs": (lanes.pairs16, (64, 48), "tile"),
    "transpose": (cases.transpose, (96, 160), "staged"),
    "transpose_short": (cases.transpose, (8, 3000), "staged"),
    "softmax": (cases.softmax, (64, 1024), "persistent"),
    "softmax_bf16": (programs.softmax16, (64, 4096), "persistent"),
    "softmax_moved": (programs.softmax16, (64, 4097), "persistent"),
    "norm_moved": (moved.norm16, (64, 1001), "persistent"),
    "softmax_moved_shared": (programs.softmax16, (16, 50257), "persistent"),
    "sums_moved": (moved.sums16, (64, 20001), "loop"),
    "apart_moved": (moved.apart, (64, 1001), "tile"),
    "bias_as_one": (moved.bias_relu, (64, 1001), "tile"),
    "softmax_runs": (programs.softmax16, (3000, 13), "persistent"),
    "sums_runs": (moved.sums16, (3000, 7), "loop"),
    "layer_norm": (cases.layer_norm, (300, 256), "persistent"),
    "rms_norm_backward": (cases.rms_norm_backward, (200, 512), "persistent"),
    "outer_softmax": (cases.outer_softmax, (64, 256), "persistent"),
    "inner_sum": (cases.inner_sum, (100, 2048), "loop"),
    "inner_sum_at_once": (cases.inner_sum, (100, 2000), "persistent"),
    "argmax": (cases.argmax, (50, 1024), "persistent"),
    "log_sum_exp": (programs.log_sum_exp, (20, 40000), "loop"),
    "full_sum": (cases.full_sum, (512, 256), "split"),
    "column_moments": (programs.column_moments, (4000, 24), "split"),
    "batch_norm_split": (split.batch_norm(), (5000, 128), "split"),
    "softmax_cluster": (programs.softmax16, (2, 32768), "persistent"),
    "batch_norm_cluster": (clusters.batch_norm, (40, 20000), "persistent"),
    "norm_shared": (shared.norm32, (2, 200704), "persistent"),
    "group_norm_last": (interleave.group_norm(BY_NAME["bf16"], 16, 8), (4, 4096), "persistent"),
    "cumulative": (cases.cumulative, (64, 8192), "loop"),
    "cumulative_down": (scans.down, (100, 16384), "loop"),
    "cumulative_down_shared": (scans.down, (1000, 200), "loop"),
    "cumulative_split": (scans.peaks, (2, 40000), "split"),
    "embedding_backward": (scatters.embedding_backward, (100, 768), "collect"),
    "scatter_add": (cases.scatter_add, (40, 50), "collect"),
    "index_copy": (scatters.index_copy, (50, 96), "collect"),
}
SIZED = ("layer_norm", "rope")  # also as kernels for these sizes only, `<name>_sized`
# registers, where they are not 64: at most so many let 1024 threads run, or two blocks of 256 that only combine
LIMITS = {"column_moments": 72, "batch_norm_split": 128, "cumulative": 72, "embedding_backward": 72}


def golden(name: str) -> GpuCompiled:
    program, (n, m), _ = GOLDENS[name]
    return gpu_kernel(graph_of(program), {"n": n, "m": m}, FEW, name)


def sized(name: str) -> Func:
    c, (n, m) = golden(name), GOLDENS[name][1]
    func = with_sizes(c.kernel.func, c.kernel.evaluate({"n": n, "m": m, **c.launch}))
    func.name = f"{name}_sized"
    return func


def _golden(name: str, suffix: str, text: str, update: bool) -> None:
    path = HERE / f"{name}.{suffix}"
    text = text.rstrip("\n") + "\n"
    if update:
        path.write_text(text)
    assert path.exists(), f"no golden gpu/{path.name}: run with --update-goldens"
    assert text == path.read_text(), f"gpu/{path.name} differs: if that is meant, run with --update-goldens"


@pytest.mark.parametrize("name", GOLDENS)
def test_loop(name: str, update_goldens: bool) -> None:
    c = golden(name)
    assert c.schedule.mode == GOLDENS[name][2]
    text = loop_text.dump(c.kernel.func)
    _golden(name, "loop", text, update_goldens)
    again = loop_text.parse((HERE / f"{name}.loop").read_text())
    verify_loop(again)
    assert loop_text.dump(again) == text


@pytest.mark.parametrize("name", GOLDENS)
def test_cuda(name: str, update_goldens: bool) -> None:
    _golden(name, "cu", emit_cuda(golden(name).kernel.func, CudaTarget(9, 0)), update_goldens)


@pytest.mark.parametrize("name", SIZED)
def test_for_one_set_of_sizes(name: str, update_goldens: bool) -> None:
    """What they compute is compared with the general kernels in `tests/loop/test_constants.py`."""
    func = sized(name)
    verify_loop(func)
    _golden(func.name, "loop", loop_text.dump(func), update_goldens)
    _golden(func.name, "cu", emit_cuda(func, CudaTarget(9, 0)), update_goldens)


@NEEDS_NVRTC
@pytest.mark.parametrize("name", GOLDENS)
def test_compiles_without_spills(name: str) -> None:
    """Registers allow as many threads as the schedule assumes; nothing lives on the stack; shared memory fits."""
    func = golden(name).kernel.func
    cubin, _ = nvrtc.compile((HERE / f"{name}.cu").read_text(), "sm_90")
    reports = nvrtc.report(cubin)
    grids = [s for s in func.body if isinstance(s, Grid)]
    assert len(reports) == len(grids)
    for r, g in zip(reports, grids, strict=True):
        assert r.stack == 0, f"{r.name} has {r.stack} bytes of stack"
        assert r.registers * g.threads <= H200.registers
        assert r.registers <= LIMITS.get(name, 64)
        assert r.shared <= 48 << 10


@NEEDS_NVRTC
@pytest.mark.parametrize("arch", nvrtc.architectures() if nvrtc.available() else ())
def test_compiles_for_every_gpu(arch: str) -> None:
    """All goldens in one translation unit for each; goldens differ in the names of their kernels."""
    number = arch.removeprefix("sm_").rstrip("af")
    target = CudaTarget(int(number[:-1]), int(number[-1]))
    for name in ("softmax_bf16", "rms_norm_backward", "dropout"):
        cubin, _ = nvrtc.compile(emit_cuda(golden(name).kernel.func, target), arch)
        assert len(nvrtc.report(cubin)) >= 1


@pytest.mark.parametrize("name", GOLDENS)
def test_values(name: str) -> None:
    program, (n, m), _ = GOLDENS[name]
    graph, sizes = graph_of(program), {"n": n, "m": m}
    inputs = random_inputs(graph, sizes)
    if name in CASES and CASES[name].fix is not None:
        CASES[name].fix(inputs, sizes)  # type: ignore[misc]
    check_gpu(graph, sizes, inputs, gpu=FEW)


def test_no_golden_is_left_over() -> None:
    assert {p.name for p in HERE.iterdir()} == {
        f"{n}.{s}" for n in (*GOLDENS, *(f"{n}_sized" for n in SIZED)) for s in ("loop", "cu")
    }


__all__ = ["hint_of", "lower_gpu"]
