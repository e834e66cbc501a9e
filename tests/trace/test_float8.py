"""Conversions to and from 8-bit floats are fused with what is around them: eager's bits, on a CPU and on GPUs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import fusewright
from fusewright.run import devices
from fusewright.schedule.device import A100, H200
from tests.emulate.driver import EmulatedDriver

E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2
TARGETS = {"cpu": None, "instructions": H200, "arithmetic": A100}
SHAPES = ((37, 129), (16, 256), (5,), (3, 1000), (0, 4))


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


@contextlib.contextmanager
def on(target: str, **options: Any) -> Iterator[None]:
    gpu = TARGETS[target]
    with contextlib.ExitStack() as stack:
        if gpu is not None:
            stack.enter_context(devices.use("cpu", EmulatedDriver(gpu)))
        stack.enter_context(fusewright.options(fallback=False, disk_cache=False, single_op_groups=True, **options))
        yield


def bits(x: torch.Tensor) -> torch.Tensor:
    """Bytes, if it is of 8-bit floats, with one NaN for all."""
    if x.dtype not in (E4, E5):
        return x.nan_to_num(12345)
    return torch.where(x.float().isnan(), 0x7F, x.view(torch.uint8))


def check(fn: Callable, *inputs: torch.Tensor) -> None:
    want, got = fn(*inputs), torch.compile(fn, backend="fusewright", fullgraph=True)(*inputs)
    for a, b in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert a.dtype is b.dtype and a.stride() == b.stride()
        assert torch.equal(bits(a), bits(b))


def tensor(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    torch.manual_seed(0)
    x = torch.randn(shape)
    if x.numel() > 40:
        x.view(-1)[3:12] = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.5, 1e-3, 1e-5, -448.0])
    return x.to(dtype)


def scaled(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    s = 448 / x.abs().amax(-1, keepdim=True).float().clamp(min=1e-12)
    return (x.float() * s).clamp(-448, 448).to(E4), s


PROGRAMS: dict[str, Callable] = {
    "all sizes": lambda x: ((x * 300).to(E4), (x * 6e4).to(E5), (x * 1e-2).to(E4), (x * 1e-5).to(E5)),
    "back": lambda x: x.to(E4).to(torch.bfloat16) * 2,
    "together": lambda x: torch.cat([x.to(E4), (x + 1).to(E4)], 0),
    "from integers": lambda x: (x.nan_to_num(1, 2, 3) * 50).to(torch.int32).to(E4),
    "to integers": lambda x: (x.nan_to_num(1, 2, 3) * 50).to(E5).to(torch.int64),
    "to bool": lambda x: x.to(E4).to(torch.bool),
    "one to the other": lambda x: (x * 1000).to(E5).to(E4).to(torch.float16),
    "moved": lambda x: (x.to(E5)[..., 1::2].contiguous(), (x * 2).to(E4).movedim(0, -1).contiguous()),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_bits(name: str, dtype: torch.dtype, target: str) -> None:
    with on(target, precision="eager"):
        for shape in SHAPES:
            torch._dynamo.reset()
            check(PROGRAMS[name], tensor(shape, dtype))


MOVES: dict[str, Callable] = {
    "slice": lambda q, i: torch.slice_scatter(q, (q[2:4].float() * 2).to(q.dtype), 0, 0, 2),
    "row": lambda q, i: torch.select_scatter(q, q[2].clone(), 0, 1),
    "assignment": lambda q, i: _assigned(q.clone(), q.float() * 2),
    "index_select": lambda q, i: q.index_select(0, i).float() * 2,
    "index": lambda q, i: q[i, :].bfloat16() + 1,
    "embedding": lambda q, i: torch.nn.functional.embedding(i, q).float() * 2,
    "where": lambda q, i: torch.where(q.float() > 0, q, q[:1]),
    "pad": lambda q, i: torch.nn.functional.pad(q, (1, 2, 0, 1)),
    "pad with a number": lambda q, i: torch.nn.functional.pad((q.float() * 3).to(q.dtype), (1, 2), value=1.5),
    "full": lambda q, i: torch.cat([q, torch.full((2, q.shape[1]), 1.3, dtype=q.dtype)]),
    "stack": lambda q, i: torch.stack([q, (q.float() * 2).to(q.dtype)], 1).repeat(2, 1, 1),
}


def _assigned(q: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    q[1:3] = x[2:4]
    return q


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [E4, E5], ids=str)
@pytest.mark.parametrize("name", MOVES)
def test_moves(name: str, dtype: torch.dtype, target: str) -> None:
    torch.manual_seed(0)
    with on(target):
        for columns in (8, 33, 1):
            torch._dynamo.reset()
            check(MOVES[name], torch.randn(7, columns).to(dtype), torch.tensor([3, 0, 6, 3]))


@pytest.mark.parametrize("target", TARGETS)
def test_scaling_of_rows_is_one_kernel(target: str) -> None:
    with on(target):
        for shape in ((37, 129), (16, 256)):
            torch._dynamo.reset()
            x = torch.randn(shape, dtype=torch.bfloat16)
            check(scaled, x)
        assert len(fusewright.explain(torch.compile(scaled, backend="fusewright"), x).graphs[0].kernels) == 1


def test_every_number_and_every_byte() -> None:
    """All numbers of 16 bits, and all bytes, in vectors and one by one."""
    x = (torch.arange(1 << 16, dtype=torch.int32) << 16).view(torch.float32)
    y = torch.arange(256, dtype=torch.uint8)
    for target in TARGETS:
        with on(target, precision="eager"):
            torch._dynamo.reset()
            check(lambda x: (x.to(E4), x.to(E5)), x)
            for t in (E4, E5):
                for n in (256, 3):
                    torch._dynamo.reset()
                    check(lambda y: (y.float(), y.to(torch.float16), y.clone()), y[-n:].view(t))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("given", [torch.int8, torch.uint8, torch.bool, E4, E5], ids=str)
def test_bytes_are_rounded_to_other_bytes(given: torch.dtype, target: str) -> None:
    """16 bits hold every integer of 8 bits; 8-bit floats do not."""
    y = torch.arange(256, dtype=torch.int16).to(torch.uint8)
    y = y.bool() if given is torch.bool else y.view(given)
    with on(target):
        check(lambda y: tuple(v for t in (E4, E5, torch.bfloat16) for v in (y.to(t).float() + 1, y.to(t))), y)


def test_a_change_of_an_argument_is_written() -> None:
    def fn(q: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        q.copy_(x)
        return q.float() * 2

    q, x = torch.zeros(5, 64).to(E4), torch.randn(5, 64)
    twin = q.clone()
    with on("cpu"):
        assert torch.equal(torch.compile(fn, backend="fusewright")(q, x), fn(twin, x))
    assert torch.equal(q.view(torch.uint8), twin.view(torch.uint8))


def test_gradients_pass_through_the_type() -> None:
    """Autograd converts the gradient of an 8-bit tensor to its type, too."""
    fn = lambda x: (x * 3).to(E4).float() * 2
    x = torch.randn(33, 65, requires_grad=True)
    twin = x.detach().clone().requires_grad_()
    grad = torch.randn(33, 65)
    with on("cpu"):
        torch.compile(fn, backend="fusewright")(x).backward(grad)
    fn(twin).backward(grad)
    assert torch.equal(x.grad, twin.grad)


def test_one_trace_for_all_sizes() -> None:
    fused = fusewright.fuse(scaled)
    before = fusewright.counters().get("fuse_traces", 0)
    for shape in ((7, 33), (12, 128), (3, 5)):
        x = torch.randn(shape)
        for a, b in zip(fused(x), scaled(x), strict=True):
            assert torch.equal(bits(a), bits(b))
    assert fusewright.counters()["fuse_traces"] - before == 1


def test_arithmetic_is_torchs_error() -> None:
    x = torch.randn(4, 8).to(E4)
    with pytest.raises(NotImplementedError) as theirs:
        x + x
    with on("cpu"), pytest.raises(NotImplementedError) as ours:
        torch.compile(lambda x: x + x, backend="fusewright")(x)
    assert str(ours.value).splitlines()[0] == str(theirs.value).splitlines()[0]


def test_definitions_have_the_types() -> None:
    d = fusewright.define("to_bytes")
    n, m = d.sizes("n m")
    x, q = d.tensor("x", (n, m), "f32"), d.tensor("q", (n, m), torch.float8_e5m2)
    d.output((x * 100).to("f8e4m3s"))
    d.output(q.to("f32") * 2)
    a, b = torch.randn(5, 33) * 10, torch.randn(5, 33).to(E5)
    got = d(a, b)
    assert got[0].dtype is E4 and torch.equal(got[1], b.float() * 2)
    assert torch.equal(got[0].float(), (a * 100).clamp(-448, 448).to(E4).float())
