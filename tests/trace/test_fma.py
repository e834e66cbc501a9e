"""Products that join a sum unrounded: where eager's kernels do that, and nowhere with the switch `fma` off."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import fusewright
from fusewright.bench.null import NullDriver
from fusewright.build import nvrtc
from fusewright.debug import record
from fusewright.loop.text import dump
from fusewright.run import devices, kernels
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.support import same_bits

Fn = Callable[..., torch.Tensor]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


def run(fn: Fn, *args: torch.Tensor, **options: Any) -> torch.Tensor:
    torch._dynamo.reset()
    with fusewright.options(single_op_groups=True, fallback=False, **options):
        return torch.compile(fn, backend="fusewright")(*args)


def source(fn: Fn, *args: torch.Tensor, **options: Any) -> str:
    """Loop IR of all kernels."""
    with record.recording() as graphs:
        run(fn, *args, **options)
    return "\n".join(dump(g.plan.kernel.func) for graph in graphs for g in graph.groups if g.plan.kernel)


CASES: dict[str, Fn] = {
    "add": lambda x, y, z: torch.add(x, y, alpha=0.3),
    "sub": lambda x, y, z: torch.sub(x, y, alpha=0.3),
    "rsub": lambda x, y, z: torch.rsub(z, y, alpha=-1.7),
    "addcmul": lambda x, y, z: torch.addcmul(x, y, z),
    "addcmul by a number": lambda x, y, z: torch.addcmul(x, y, z, value=-0.3),
    "lerp near the start": lambda x, y, z: torch.lerp(x, y, 0.3),
    "lerp near the end": lambda x, y, z: torch.lerp(x, y, 0.7),
    "lerp by a tensor": lambda x, y, z: torch.lerp(x, y, z),
    "in a chain": lambda x, y, z: torch.addcmul(x * y, y, z.abs()) + x,
}


def operands(dtype: torch.dtype, *shape: int) -> list[torch.Tensor]:
    out = [torch.randn(shape).mul(3).to(dtype) for _ in range(3)]
    for k, x in enumerate(out):
        if x.numel() > 8:
            x.view(-1)[k : k + 4] = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0])
    return out


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_eagers_bits(name: str, dtype: torch.dtype) -> None:
    for args in (
        operands(dtype, 4099),
        operands(dtype, 7),
        operands(dtype, 1),
        operands(dtype),
        operands(dtype, 0, 3),
        [x.t() for x in operands(dtype, 33, 5)],
        [x[::2, 1:] for x in operands(dtype, 34, 9)],
        [operands(dtype, 9, 1)[0].expand(9, 40), *operands(dtype, 9, 40)[1:]],
    ):
        assert same_bits(run(CASES[name], *args), CASES[name](*args))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", [n for n in CASES if n != "in a chain"])
def test_eagers_bits_in_16_bits(name: str, dtype: torch.dtype) -> None:
    args = operands(dtype, 4096)  # whole vectors: eager's code for the rest does not round `alpha` to 16 bits
    assert same_bits(run(CASES[name], *args, precision="eager"), CASES[name](*args))


def test_a_number() -> None:
    """In whole vectors: for the rest eager's compiler has taken the product, the same for all, out of the loop."""
    x, fn = torch.randn(4096), lambda x: torch.add(x, 0.7, alpha=0.3)
    assert same_bits(run(fn, x), fn(x))


def test_integers_wrap_as_ever() -> None:
    x, y = (torch.randint(-128, 127, (100,), dtype=torch.int8) for _ in range(2))
    for fn in (lambda x, y: torch.add(x, y, alpha=7), lambda x, y: torch.sub(x, y, alpha=7)):
        assert torch.equal(run(fn, x, y), fn(x, y))
    x, y = (torch.randint(0, 255, (100,), dtype=torch.uint8) for _ in range(2))
    assert torch.equal(run(lambda x, y: torch.sub(x, y, alpha=7), x, y), torch.sub(x, y, alpha=7))


def test_a_symbolic_factor() -> None:
    fn = lambda x, y: torch.sub(torch.add(x, y, alpha=x.shape[0]), y, alpha=x.shape[1])
    with fusewright.options(single_op_groups=True):
        call = torch.compile(fn, backend="fusewright", dynamic=True)
        for shape in ((5, 9), (7, 11)):
            x, y = torch.randn(shape), torch.randn(shape)
            assert torch.equal(call(x, y), fn(x, y))


# --- the switch ----------------------------------------------------------------------------------------------------


def cancelling() -> tuple[torch.Tensor, ...]:
    """x, y, and z = -(x * y) as it is rounded: x * y + z is 0 in two roundings, and the first one's error in one."""
    x, y = torch.randn(4099), torch.randn(4099)
    return x, y, -(x * y)


def test_the_switch() -> None:
    x, y, z = cancelling()
    fn = lambda x, y, z: torch.addcmul(z, x, y)
    once, twice = run(fn, x, y, z), run(fn, x, y, z, fma=False)
    assert torch.equal(once, fn(x, y, z)) and (once != 0).float().mean() > 0.9
    assert torch.equal(twice, x * y + z) and not twice.any()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names of the instructions")
def test_machine_code_of_a_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    """LLVM joins nothing by itself: not a product and a sum either."""
    if "+fma" not in kernels.target().features.split(","):
        pytest.skip("this CPU has no fused multiply-add")
    args = operands(torch.float32, 4099)
    for fn, options, fused in (
        (CASES["addcmul"], {}, True),
        (CASES["addcmul"], {"fma": False}, False),
        (lambda x, y, z: x * y + z, {}, False),
    ):
        run(fn, *args, dump="assembly", **options)
        assert bool(re.search(r"\bvfn?m(add|sub)", capsys.readouterr().err)) is fused


@pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")
def test_machine_code_of_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    args = operands(torch.float32, 4099)
    for fn, options, fused in (
        (CASES["addcmul"], {}, True),
        (CASES["addcmul"], {"fma": False}, False),
        (lambda x, y, z: x * y + z, {}, False),
    ):
        with devices.use("cpu", NullDriver()):
            run(fn, *args, dump="cuda,assembly", disk_cache=False, **options)
        said = capsys.readouterr().err
        assert ("fma.rn.f32" in said) is fused and ("fmaf(" in said) is fused and ".entry" in said


def test_what_eager_rounds_twice_is_rounded_twice() -> None:
    args = cancelling()
    fn = lambda x, y, z: x * y + z
    for options in ({}, {"fma": False}):
        assert torch.equal(run(fn, *args, **options), fn(*args)) and "fma" not in source(fn, *args, **options)


def test_kernels_of_both_kinds_are_not_mixed() -> None:
    """In either order, in one process: the switch is part of a kernel's key."""
    args = operands(torch.float32, 4099)
    fn = CASES["addcmul"]
    for fma in (False, True, False, True):
        assert ("fma" in source(fn, *args, fma=fma)) is fma
        want = fn(*args) if fma else args[0] + args[1] * args[2]
        assert same_bits(run(fn, *args, fma=fma), want)


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_on_gpus_where_16_bits_are_stored() -> None:
    """With it off, results are eager's; with it on, the error of a rounded product is there."""
    x, y, z = cancelling()
    fn = lambda x, y, z: (x * y + z).bfloat16()
    with emulated_gpu():
        once, twice = run(fn, x, y, z), run(fn, x, y, z, fma=False)
    assert (once != 0).float().mean() > 0.9 and (once.abs() <= (z.abs() * 2.0**-23)).all()
    assert torch.equal(twice, fn(x, y, z)) and not twice.any()


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_sums_of_products_on_gpus() -> None:
    def texts(**options: Any) -> str:
        fn = lambda x, y: ((x * y).sum(-1) * torch.sigmoid(x[:, 0]) + y[:, 1]).bfloat16()
        x, y = torch.randn(9, 300), torch.randn(9, 300)
        with emulated_gpu(), record.recording() as graphs:
            torch.testing.assert_close(run(fn, x, y, **options), fn(x, y), rtol=0.01, atol=0.01)
        groups = [g for graph in graphs for g in graph.groups]
        return "\n".join(dump(k.func) for g in groups for k, _ in g.plan.gpu.kernels.values())

    assert "fma" in texts() and "fma" not in texts(fma=False)
    assert "fast_" in texts(fma=False), "cheaper functions are another switch's"
    assert "fast_" not in texts(relaxed=False) and "fma" not in texts(relaxed=False)


def test_eager_without_fused_multiply_adds() -> None:
    """On an x86 CPU without AVX2 eager rounds every product, and so do we."""
    code = """
import torch, fusewright
x, y, z = torch.randn(3, 999)
with fusewright.options(single_op_groups=True, disk_cache=False):
    got = torch.compile(torch.addcmul, backend="fusewright")(x, y, z)
assert torch.equal(got, torch.addcmul(x, y, z))
"""
    env = {**os.environ, "ATEN_CPU_CAPABILITY": "default"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
