"""Programs of every schedule family on a GPU, in many sizes and types, against eager.

    python -m pytest tests/gpu

Without a CUDA device the kernels are emulated on the CPU, in fewer sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.debug import record
from fusewright.schedule import gpu_runs
from tests.support import counted, counters, no_fallbacks

REAL = torch.cuda.is_available()
SIZES = [(5, 7), (1, 1), (64, 256), (33, 1000), (3, 4099), (257, 72)]
if REAL:
    SIZES += [(4096, 4096), (1, 1 << 20), (1 << 20, 3), (100003, 17), (17, 100003), (2048, 12345), (8192, 768), (0, 5)]
LONG = 8192
DTYPES = [torch.float32, torch.bfloat16] + ([torch.float16, torch.float64] if REAL else [])


def wide(x: torch.Tensor) -> torch.Tensor:
    """`x` in at least float32."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


Program = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]
PROGRAMS: dict[str, Program] = {
    "pointwise": lambda x, y, w, b: F.gelu(x + w) * y,
    "broadcast both ways": lambda x, y, w, b: x[:, :1] * w + y[:1],
    "transpose": lambda x, y, w, b: (x.t() * 2 + y.t().contiguous()).contiguous(),
    "softmax": lambda x, y, w, b: torch.softmax(x * 2, -1),
    "softmax down": lambda x, y, w, b: torch.softmax(x + y, 0),
    "log_softmax": lambda x, y, w, b: torch.log_softmax(x, -1) * 2,
    "layer norm": lambda x, y, w, b: F.layer_norm(x + y, x.shape[-1:], w, b),
    "rms norm": lambda x, y, w, b: x * torch.rsqrt(wide(x).square().mean(-1, keepdim=True) + 1e-5) * w,
    "moments": lambda x, y, w, b: torch.var_mean(wide(x + 1), 1, correction=0),
    "moments down": lambda x, y, w, b: torch.var_mean(wide(x + 1), 0, correction=0),
    "sums": lambda x, y, w, b: ((x * y).sum(1), (x + y).sum(0)),
    "sum": lambda x, y, w, b: wide(x * y).sum(),
    "extremes": lambda x, y, w, b: ((x - y).amax(1), (x * y).argmax(1), (x + y).amin(0)),
    "pieces": lambda x, y, w, b: F.pad(torch.cat([x, -y], 1), (1, 3)).relu(),
    "turned": lambda x, y, w, b: torch.cat([-x[:, x.shape[1] // 2 :], x[:, : x.shape[1] // 2]], -1) * w + y,
    "picked": lambda x, y, w, b: x[torch.arange(x.shape[0], device=x.device).flip(0)] * 2,
    "masked": lambda x, y, w, b: torch.where(x > 0, x, y).masked_fill(y > 1, 0.5),
    "running": lambda x, y, w, b: torch.cumsum(x * y, 1) + w,
    "running down": lambda x, y, w, b: torch.cumsum(x, 0) * y,
    "running share": lambda x, y, w, b: torch.cumsum(torch.softmax(x, 1), 1).amax(1, keepdim=True) * y,
    "running extremes": lambda x, y, w, b: tuple(torch.cummax(x * y, 1)),
    "running extremes down": lambda x, y, w, b: tuple(torch.cummin(x + y, 0)),
    "running logarithms": lambda x, y, w, b: torch.logcumsumexp(x * y, 1) + w,
    "three sums": lambda x, y, w, b: (F.layer_norm(x + y, x.shape[-1:]), (x * y).sum(0), wide(x - y).sum()),
    "batch norm": lambda x, y, w, b: F.batch_norm(x, None, None, w, b, True) if x.shape[0] > 1 else x * w,
}


def tensors(size: tuple[int, int], dtype: torch.dtype, device: str, grad: bool = False) -> list[torch.Tensor]:
    g = torch.Generator().manual_seed(sum(size))
    make = lambda *s: torch.randn(*s, generator=g).to(device, dtype).requires_grad_(grad)
    return [make(*size), make(*size), make(size[1]), make(size[1])]


def as_list(out: torch.Tensor | tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    return list(out) if isinstance(out, tuple) else [out]


def assert_as_good(got: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, what: str) -> None:
    """Same type, shape and strides; errors against float64 no larger than eager's, but for a few units of rounding."""
    assert (got.dtype, got.shape, got.stride()) == (eager.dtype, eager.shape, eager.stride()), what
    if not got.dtype.is_floating_point:
        assert torch.equal(got, eager), what
        return
    if got.numel() == 0:
        return
    got64, eager64 = got.double(), eager.double()
    assert torch.equal(got64.isnan(), eager64.isnan()), what
    ok = exact.isfinite() & eager64.isfinite()
    if not ok.any():
        return
    scale = exact[ok].abs().max().item()
    mine, theirs = ((t - exact)[ok].abs().max().item() for t in (got64, eager64))
    slack = {torch.float64: 1e-14, torch.float32: 4e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[got.dtype]
    assert mine <= 2 * theirs + slack * max(scale, 1e-30), f"{what}: off by {mine:.3g}, eager by {theirs:.3g}"


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_forward(name: str, dtype: torch.dtype, device: str) -> None:
    fn = PROGRAMS[name]
    compiled = torch.compile(fn, backend="fusewright", dynamic=True)
    with no_fallbacks(), torch.no_grad(), fusewright.options(single_op_groups=True):
        for size in SIZES:
            if 0 in size and name in ("extremes", "batch norm", "softmax down", "moments down"):
                continue
            args = tensors(size, dtype, device)
            got, want = as_list(compiled(*args)), as_list(fn(*args))
            exact = as_list(fn(*(t.double() for t in args)))
            for k, (a, b, c) in enumerate(zip(got, want, exact, strict=True)):
                assert_as_good(a, b, c.double(), f"{name} {size} {dtype}, result {k}")


@pytest.mark.parametrize("name", ["softmax", "layer norm", "log_softmax"])
def test_rows_that_blocks_share(name: str, device: str) -> None:
    """Too long for one block, so that a GPU with clusters has several at each."""
    fn = PROGRAMS[name]
    compiled = torch.compile(fn, backend="fusewright", dynamic=True)
    with no_fallbacks(), torch.no_grad():
        for size in [(3, 20000), (2, 33001), (5, 9000)] + ([(300, 131072), (1000, 100001)] if REAL else []):
            args = tensors(size, torch.float32, device)
            exact = fn(*(t.double() for t in args))
            assert_as_good(compiled(*args), fn(*args), exact, f"{name} {size}")


@pytest.mark.skipif(not REAL, reason="an emulated GPU has no limit")
def test_rows_of_just_as_much_shared_memory_as_needs_no_permission(device: str) -> None:
    """48 KiB, and a few bytes besides for what reductions need."""
    x, g = (torch.randn(300, 6144, device=device) for _ in range(2))
    w, b = (torch.randn(6144, device=device) for _ in range(2))
    x.requires_grad_()
    w.requires_grad_()
    with no_fallbacks():
        fn = torch.compile(lambda x, w, b: F.layer_norm(x * 2, x.shape[-1:], w, b).sin(), backend="fusewright")
        got = torch.autograd.grad(fn(x, w, b), (x, w), g)
    want = torch.autograd.grad(F.layer_norm(x * 2, x.shape[-1:], w, b).sin(), (x, w), g)
    for a, e in zip(got, want, strict=True):
        torch.testing.assert_close(a, e, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_that_are_interleaved_in_memory(dtype: torch.dtype, device: str) -> None:
    """The groups of channels-last images: held by a block, by several, and cut over blocks."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        return F.silu(F.group_norm(x, 8))

    large = [(16, 64, 96, 96), (16, 64, 65, 63), (1, 64, 200, 200), (300, 24, 31, 31)]
    for size in [(3, 64, 9, 7), (5, 40, 6, 5), *(large if REAL else [])]:
        torch._dynamo.reset()
        x = torch.randn(size).to(device, dtype).to(memory_format=torch.channels_last)
        with no_fallbacks(), torch.no_grad():
            got = torch.compile(fn, backend="fusewright")(x)
        assert_as_good(got, fn(x), fn(x.double()), f"group norm {size} {dtype}")


SHORT = {
    "softmax": lambda x, w: torch.softmax(x, -1),
    "layer norm": lambda x, w: F.layer_norm(x, x.shape[-1:], w, w),
    "sums": lambda x, w: (x.sum(-1), x.amax(-1), x.var(-1)),
    "argmax": lambda x, w: x.argmax(-1),
    "cumsum": lambda x, w: x.cumsum(-1),
    "scaled": lambda x, w: (x + x.sign() * w).relu(),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", SHORT)
def test_short_rows_of_any_length(name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They pass through shared memory as one run of memory, or are walked as one."""
    monkeypatch.setattr(gpu_runs, "FEW", 0)
    fn = SHORT[name]
    rows = [17003, 333_333] if REAL else [259]
    for n, m in itertools.product(rows, (2, 3, 7, 12, 13, 20, 33, 67, 131) if REAL else (3, 13)):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            torch._dynamo.reset()
            x, w = torch.randn(n, m).to(device, dtype), torch.randn(m).to(device, dtype)
            with no_fallbacks(), torch.no_grad():
                got = as_list(torch.compile(fn, backend="fusewright")(x, w))
            want, exact = as_list(fn(x, w)), as_list(fn(x.double(), w.double()))
            for k, (a, b, c) in enumerate(zip(got, want, exact, strict=True)):
                if a.dtype is torch.int64:
                    assert torch.equal(a, b), (name, n, m, dtype)
                else:
                    assert_as_good(a, b, c, f"{name} {n}x{m} {dtype}, result {k}")


def check_gradients(compiled: Callable, fn: Callable, given: Sequence[torch.Tensor], what: str) -> None:
    """All gradients are as near to those in float64 as eager's are."""
    results = []
    for call, wide in ((compiled, False), (fn, False), (fn, True)):
        args = [(t.double() if wide else t).detach().requires_grad_() for t in given]
        out = call(*args)
        grad = torch.randn(out.shape, generator=torch.Generator().manual_seed(1)).to(out)
        results.append([g for g in torch.autograd.grad(out, args, grad, allow_unused=True) if g is not None])
    for k, (a, b, c) in enumerate(zip(*results, strict=True)):
        assert_as_good(a, b, c, f"{what}, gradient {k}")


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["pointwise", "softmax", "layer norm", "rms norm", "pieces", "turned", "masked"])
def test_backward(name: str, device: str) -> None:
    fn = PROGRAMS[name]
    compiled = torch.compile(fn, backend="fusewright")
    with no_fallbacks():
        for size in SIZES[:4] if not REAL else SIZES[:-1]:
            if size[1] > LONG:  # traced anew: that takes two kernels
                torch._dynamo.reset()
                compiled = torch.compile(fn, backend="fusewright", dynamic=False)
            check_gradients(compiled, fn, tensors(size, torch.float32, device), f"{name} {size}")


NORMS = {
    "gelu + layer norm": lambda x, y, w, b: F.layer_norm(F.gelu(x) + y, x.shape[-1:], w, b),
    "rms norm": lambda x, y, w, b: F.rms_norm(x, x.shape[-1:], w) + y,
}


@pytest.mark.parametrize("name", NORMS)
def test_gradients_of_norms_at_many_widths(name: str, device: str) -> None:
    """In registers and in shared memory, several rows of a block, each of which waits for itself."""
    fn = NORMS[name]
    for m in (768, 1024, 1536, 2560, 4104, 5120, 8192, 16000) if REAL else (72,):
        for n, dtype in itertools.product((1, 261, 1500) if REAL else (5,), (torch.float32, torch.bfloat16)):
            torch._dynamo.reset()
            given = [t.to(dtype) for t in tensors((n, m), torch.float32, device)]
            with no_fallbacks():
                check_gradients(torch.compile(fn, backend="fusewright"), fn, given, f"{name} {n}x{m} {dtype}")


def test_twenty_sizes_compile_nothing_new(device: str) -> None:
    """Sizes are arguments of the kernels."""

    def block(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x + y, x.shape[-1:], w, b)

    compiled = torch.compile(block, backend="fusewright", dynamic=True)
    with torch.no_grad():
        compiled(*tensors((40, 64), torch.float32, device))
        before = counters()
        for n in range(41, 61):
            args = tensors((n, 64), torch.float32, device)
            torch.testing.assert_close(compiled(*args), block(*args))
    assert counted(before)["kernels_compiled"] == 0


@pytest.mark.parametrize("offset", [1, 2, 3, 4])
def test_misaligned_storage(offset: int, device: str) -> None:
    base = torch.randn(64 * 64 + 8, device=device)
    x = base[offset : offset + 64 * 64].view(64, 64)
    f = lambda x: torch.softmax(x * 2, -1)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(f, backend="fusewright")(x), f(x))


def test_strided_and_expanded(device: str) -> None:
    f = lambda x, y: (x * 2 + y).sum(-1)
    compiled = torch.compile(f, backend="fusewright")
    base = torch.randn(33, 40, device=device)
    for x in (base[:, ::2], base.t()[:20].t()[:, :20], base[:, :1].expand(33, 20), base.flip(0)[:, :20]):
        y = torch.randn(33, 20, device=device)
        torch.testing.assert_close(compiled(x, y), f(x, y), rtol=1e-5, atol=1e-5)


def test_dropout_masks_agree_and_follow_the_seed(device: str) -> None:
    f = lambda x: F.dropout(x, 0.25, True)
    compiled = torch.compile(f, backend="fusewright")
    x = torch.ones(100, 64, device=device, requires_grad=True)

    def draw() -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(7)
        out = compiled(x)
        (grad,) = torch.autograd.grad(out.sum(), x)
        return out.detach(), grad

    (a, ga), (b, gb) = draw(), draw()
    assert torch.equal(a, b) and torch.equal(ga, gb) and torch.equal(a, ga)
    assert abs((a > 0).float().mean().item() - 0.75) < 0.03
    assert not torch.equal(a, compiled(x).detach())


def test_results_are_the_same_every_time(device: str) -> None:
    f = lambda x, y: ((x * y).sum(0), (x + y).sum())
    compiled = torch.compile(f, backend="fusewright")
    x, y, *_ = tensors((1000, 256) if REAL else (300, 64), torch.float32, device)
    first = compiled(x, y)
    for _ in range(5):
        assert all(torch.equal(a, b) for a, b in zip(first, compiled(x, y), strict=True))


def test_what_is_nowhere_a_number(device: str) -> None:
    """Constant, as a compiler finds late: all of it is overwritten."""
    x = torch.randn(1, 3, 8, device=device)

    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.scatter(0, torch.zeros_like(x, dtype=torch.long), 0.0) / 0
        return torch.nan_to_num(y), y.isnan(), y != y, y.clamp(-1, 1).isnan() | (x > 0)

    with no_fallbacks():
        got = torch.compile(f, backend="fusewright", dynamic=False)(x)
    assert all(torch.equal(g, w) for g, w in zip(got, f(x), strict=True))


@pytest.mark.parametrize("name", ["logsigmoid", "silu", "mish", "gelu", "softplus", "elu", "hardswish", "softsign"])
def test_activations_are_a_kernel_each_way(name: str, device: str) -> None:
    """Which leaves its result, and nothing more for the backward pass."""
    f = lambda x: getattr(F, name)(x * 1.5)
    x = torch.randn(64, 48, device=device, requires_grad=True)
    with no_fallbacks(), record.recording() as graphs:
        y = torch.compile(f, backend="fusewright")(x)
        (got,) = torch.autograd.grad(y.sum(), x)
    (want,) = torch.autograd.grad(f(x).sum(), x)
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    assert [[len(g.plan.group.outputs) for g in graph.groups] for graph in graphs] == [[1], [1]]
    assert not any(graph.torch_units for graph in graphs)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8], ids=str)
def test_integer_division_by_a_tensor(dtype: torch.dtype, cuda: str) -> None:
    """Zero raises nothing, and gives what eager's kernels give."""
    x, y = (torch.randint(0 if dtype is torch.uint8 else -9, 10, (500, 33), device=cuda).to(dtype) for _ in range(2))
    if dtype is torch.int64:
        x[::3] *= 2**40 + 12345
    f = lambda x, y: (x // y + 1, x % y + 1, torch.div(x, y, rounding_mode="trunc") + 1, torch.fmod(x, y) + 1)
    with no_fallbacks():
        got = torch.compile(f, backend="fusewright")(x, y)
        alone = torch.compile(lambda x, y: (x % y) + 1, backend="fusewright")(x, y)
    for mine, theirs in zip((*got, alone), (*f(x, y), x % y + 1), strict=True):
        assert torch.equal(mine, theirs)


def test_mutated_inputs(device: str) -> None:
    """An optimizer's step: several tensors are read and written in place, one of them without being read for it."""

    def step(p: torch.Tensor, m: torch.Tensor, old: torch.Tensor, g: torch.Tensor) -> None:
        new = m * 0.9 + g
        p.sub_(m * 0.1 + old)
        m.copy_(new)
        old.copy_(g * 2)

    state = [torch.randn(1000, 7, device=device) for _ in range(4)]
    want = [t.clone() for t in state]
    step(*want)
    with no_fallbacks(), torch.no_grad():
        torch.compile(step, backend="fusewright")(*state)
    for a, b in zip(state, want, strict=True):
        torch.testing.assert_close(a, b)
