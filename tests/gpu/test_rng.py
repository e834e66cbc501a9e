"""rng="eager" on a real device: every number, and the generator's state after it, against eager, bit for bit.

    python -m pytest tests/gpu/test_rng.py -q

`test_layout_of_eager` compares eager with `fusewright/prims/curand.py` alone, without a kernel of ours: if it fails,
what is known of eager's kernels is wrong, else what we make of it. A failure says where the first difference is, which
thread and turn were expected there, and how well each width of vectors would have explained eager's numbers.

If the layout is wrong, this prints what is needed to correct it (`whence` looks for the block and word that eager's
numbers at some indices are from):

    python -c "
    from tests.gpu import test_rng as t
    t.facts()                                # torch, device, SMs, threads, grid
    for n in (1000, 1 << 20, 10_000_003):
        t.whence('rand', n)                  # index: thread, block, word
        t.whence('dropout', n)               # mismatches for w = 1, 2, 4, 8
        t.step('rand', n), t.step('dropout', n), t.step('bernoulli', n)  # by how much the offset grows
    "
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.core.errors import FusewrightWarning
from fusewright.prims import curand, philox
from fusewright.run import eager_states, seed_table
from fusewright.run.random_ops import SEEDS
from fusewright.trace import eager_random
from tests.support import counted, counters

SIZES = [1, 3, 255, 1000, 1002, 4097, 1 << 20, (1 << 20) + 2, 10_000_003]
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]
SEED = 0x9E3779B97F4A7C15

Tensors = tuple[torch.Tensor, ...]


# --- eager's layout, as we know it ------------------------------------------------------------------


def resident() -> int:
    p = torch.cuda.get_device_properties(0)
    return p.multi_processor_count * (p.max_threads_per_multi_processor // curand.BLOCK)


def state(n: int, width: int = 1, offset: int = 0) -> list[int]:
    return [SEED, offset // 4, curand.launch(n, resident())[0], width.bit_length() - 1]


def expected(n: int, width: int = 1, offset: int = 0) -> torch.Tensor:
    """float32 in (0, 1], on the CPU."""
    return torch.from_numpy(curand.uniform(state(n, width, offset), np.arange(n)))


def place(e: int, n: int, width: int) -> str:
    threads = curand.launch(n, resident())[0]
    turn, thread = divmod(e // width, threads)
    return f"thread {thread} of {threads}, turn {turn}, lane {e % width} of {width}"


def keep(u: torch.Tensor, dtype: torch.dtype, p: float) -> torch.Tensor:
    return u.double() < 1 - p if dtype is torch.float64 else u < torch.tensor(1 - p)


def generator() -> torch.Generator:
    return torch.cuda.default_generators[torch.cuda.current_device()]


def facts() -> None:
    p = torch.cuda.get_device_properties(0)
    print(torch.__version__, torch.version.cuda, p.name, (p.major, p.minor))
    print(f"{p.multi_processor_count} SMs of {p.max_threads_per_multi_processor} threads: {resident()} blocks of 256")
    print([(n, curand.launch(n, resident())) for n in SIZES], "(n, (threads, step))")


def step(kind: str, n: int) -> None:
    x = torch.ones(n, device="cuda")
    torch.cuda.manual_seed(SEED)
    {"rand": torch.rand_like, "dropout": lambda x: F.dropout(x, 0.5), "bernoulli": lambda x: torch.bernoulli(x, 0.5)}[
        kind
    ](x)
    print(f"{kind} of {n}: offset grows by {generator().get_offset()}, expected {curand.launch(n, resident())[1]}")


def whence(kind: str, n: int, dtype: torch.dtype = torch.float32) -> None:
    """Print where eager's numbers are from."""
    torch.cuda.manual_seed(SEED)
    if kind == "dropout":
        mask = torch.native_dropout(torch.ones(n, device="cuda", dtype=dtype), 0.5, True)[1].cpu()
        print(f"dropout of {n} {dtype}: {widths(mask, dtype, 0.5)}")
        return
    threads = curand.launch(n, resident())[0]
    got = torch.rand(n, device="cuda").cpu().numpy()
    t, b = (a.ravel().astype(np.uint64) for a in np.meshgrid(np.arange(threads), np.arange(16), indexing="ij"))
    zero = np.zeros_like(t)
    blocks = philox.philox4x32((b, zero, t, zero), (SEED & 0xFFFFFFFF, SEED >> 32))
    values = [curand.unit(w) for w in blocks]
    for e in sorted({0, 1, 2, 3, 4, 5, n // 2, n - 1} & set(range(n))):
        found = [
            f"thread {t[k]} block {b[k]} word {w}" for w in range(4) for k in np.flatnonzero(values[w] == got[e])[:2]
        ]
        print(f"rand of {n}: element {e}: {found or 'none'}; expected {place(e, n, 1)}")


def widths(mask: torch.Tensor, dtype: torch.dtype, p: float, offset: int = 0) -> str:
    """How many elements of a mask each width gets wrong."""
    n = mask.numel()
    wrong = {w: int((keep(expected(n, w, offset), dtype, p) != mask.reshape(-1)).sum()) for w in (1, 2, 4, 8)}
    return "wrong elements by width: " + ", ".join(f"{w}: {k}" for w, k in wrong.items())


def same(got: torch.Tensor, want: torch.Tensor, what: str) -> None:
    """Bit for bit; else, where the first difference is."""
    assert (got.dtype, got.shape, got.stride()) == (want.dtype, want.shape, want.stride()), what
    if torch.equal(got, want):
        return
    a, b = got.reshape(-1).cpu(), want.reshape(-1).cpu()
    wrong = (a != b) & ~(a.isnan() & b.isnan()) if a.dtype.is_floating_point else a != b
    if not wrong.any():
        return
    e = int(wrong.nonzero()[0])
    pytest.fail(
        f"{what}: {int(wrong.sum())} of {a.numel()} differ, first at {e}: {a[e].item()!r}, eager {b[e].item()!r}; "
        f"from there {a[e : e + 6].tolist()} and {b[e : e + 6].tolist()}; eager's is from "
        + " or ".join(place(e, a.numel(), w) for w in (1, 2, 4, 8))
    )


# --- what is compared ---------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def eagers_numbers(cuda: str) -> Iterator[None]:
    with fusewright.options(rng="eager", fallback=False, single_op_groups=True):
        yield


def check(f: Callable[..., Tensors], *inputs: Any, call: Callable[..., Tensors] | None = None, times: int = 2) -> None:
    """Fail unless `f`, and what eager draws after it, are the same compiled."""
    call = call or torch.compile(f, backend="fusewright", dynamic=False)
    for turn in range(times):
        torch.cuda.manual_seed(SEED)
        if turn:
            torch.rand(100, device="cuda")  # the offset is another one
        before = generator().get_state()
        want, after = f(*inputs), (generator().get_offset(), torch.rand(9, device="cuda"))
        generator().set_state(before)
        got = call(*inputs)
        offset = generator().get_offset()
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            same(a, b, f"result {k} of call {turn}")
        assert offset == after[0], f"the offset is {offset}, eager's {after[0]}"
        same(torch.rand(9, device="cuda"), after[1], "what eager draws next")


def replaced(f: Callable[..., Any], *inputs: Any) -> int:
    """How many batches of draws are ours in `f`."""
    made = []
    original = eager_random._Write.put

    def put(self: Any, node: Any, results: Any) -> None:
        made.append(node)
        original(self, node, results)

    eager_random._Write.put = put  # type: ignore[method-assign]
    try:
        torch._dynamo.reset()
        torch.compile(f, backend="fusewright", dynamic=False)(*inputs)
    finally:
        eager_random._Write.put = original  # type: ignore[method-assign]
    return len(made)


@pytest.mark.parametrize("n", SIZES)
def test_layout_of_eager(n: int) -> None:
    """Eager against the formula, without a kernel of ours."""
    torch.cuda.manual_seed(SEED)
    u = torch.rand(n, device="cuda").cpu()
    want = expected(n)
    same(u, torch.where(want == 1, 0, want), "torch.rand")
    assert generator().get_offset() == curand.launch(n, resident())[1]
    for dtype in DTYPES:
        for by in (0, 1, 2, 4):
            whole = torch.ones(n + 8, device="cuda", dtype=dtype)
            x = whole[by : by + n]
            torch.cuda.manual_seed(SEED)
            mask = torch.native_dropout(x, 0.5, True)[1].cpu()
            assert generator().get_offset() == curand.launch(n, resident())[1]
            w = curand.width(n, 16 // dtype.itemsize, x.data_ptr(), dtype.itemsize)
            kept = keep(expected(n, w), dtype, 0.5)
            assert torch.equal(mask, kept), f"{n} {dtype} at +{by}: expected width {w}; {widths(mask, dtype, 0.5)}"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_dropout(n: int, dtype: torch.dtype) -> None:
    x = torch.randn(n, device="cuda", dtype=dtype)
    f = lambda x: (F.dropout(x, 0.1), *torch.native_dropout(x, 0.5, True), F.dropout(x * 2, 0.5))
    assert replaced(f, x) == 3
    check(f, x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dropout_of_views(dtype: torch.dtype) -> None:
    """Misaligned, with gaps, turned, expanded, and in the memory of a channels-last image."""
    whole = torch.randn(4096 + 16, device="cuda", dtype=dtype)
    drop = lambda x: torch.native_dropout(x, 0.5, True)
    for by in (1, 2, 3, 4, 8):
        check(drop, whole[by : by + 4096])
        check(lambda x, by=by: drop(x[by : by + 4096]), whole)
        check(lambda x, by=by: drop((x * 2)[by : by + 4096]), whole)
    x = torch.randn(48, 80, device="cuda", dtype=dtype)
    check(lambda x: drop(x.t() * 2), x)
    check(drop, x.t())
    check(drop, x[:, :40])
    check(lambda x: drop((x * 2)[:, ::2]), x)
    check(lambda x: drop((x * 2).t()), x[:47, :79].contiguous())
    check(drop, x[:1].expand(48, 80))
    check(drop, torch.randn(2, 8, 5, 6, device="cuda", dtype=dtype).to(memory_format=torch.channels_last))
    check(drop, torch.randn((), device="cuda", dtype=dtype))


def test_nothing() -> None:
    check(
        lambda x: (F.dropout(x, 0.5), torch.rand_like(x), torch.randn(0, device="cuda")),
        torch.empty(0, 3, device="cuda"),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("n", SIZES)
def test_uniform_and_normal(n: int, dtype: torch.dtype) -> None:
    x = torch.empty(n, device="cuda", dtype=dtype)

    def f(x: torch.Tensor) -> Tensors:
        return (
            torch.rand(n, device="cuda", dtype=dtype),
            torch.randn(n, device="cuda", dtype=dtype),
            torch.rand_like(x),
            torch.randn_like(x),
            torch.zeros_like(x).uniform_(),
            torch.zeros_like(x).normal_(),
            torch.zeros_like(x).bernoulli_(0.3),
        )

    assert replaced(f, x) == (0 if dtype is torch.float64 else 7)
    check(f, x)


def test_layouts_of_numbers() -> None:
    x = torch.randn(30, 40, device="cuda")
    check(lambda x: (torch.rand_like(x), torch.randn_like(x)), x.t())
    check(lambda x: (torch.rand_like(x), torch.randn_like(x)), x[:, :20])
    check(lambda x: (torch.rand(3, 5, 7, device="cuda"), torch.rand((), device="cuda")), x)


def test_order_among_all_draws() -> None:
    """Ours, those of PyTorch that we do not make, and again ours."""

    def f(x: torch.Tensor) -> Tensors:
        a = F.dropout(x, 0.5)
        k = torch.randint(0, 100, (1000,), device="cuda")
        b = F.dropout(x[:100] + 1, 0.1)
        e = torch.empty(1000, device="cuda").exponential_()
        p = torch.bernoulli(x.abs().clamp(0, 1))
        return a, k, b, e, p, torch.randn(77, device="cuda"), torch.randperm(100, device="cuda")

    check(f, torch.randn(300, 128, device="cuda"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1000,), (255,), (300, 512), (64, 77, 33)])
def test_backward(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    g = torch.randn(shape, device="cuda", dtype=dtype)

    def f(x: torch.Tensor) -> torch.Tensor:
        return F.dropout(F.dropout(x * 2, 0.1) * 4, 0.5)  # by powers of two: nothing else rounds

    def both(f: Callable[..., torch.Tensor]) -> Callable[..., Tensors]:
        def run(x: torch.Tensor) -> Tensors:
            x = x.detach().requires_grad_()
            out = f(x)
            return out.detach(), *torch.autograd.grad(out, x, g)

        return run

    x = torch.randn(shape, device="cuda", dtype=dtype)
    with fusewright.options(precision="eager"):
        check(both(f), x, call=both(torch.compile(f, backend="fusewright", dynamic=False)))


def test_in_a_row_kernel() -> None:
    """The mask of a softmax's dropout, which its kernel draws, read off where the results are zero."""
    f = lambda x: F.dropout(torch.softmax(x, -1), 0.25)
    for m in (64, 77, 1000, 30000):
        x = torch.randn(128, m, device="cuda")
        call = torch.compile(f, backend="fusewright", dynamic=False)
        check(lambda x: (f(x) != 0,), x, call=lambda x, call=call: (call(x) != 0,))


def test_sizes_that_vary() -> None:
    f = lambda x: (F.dropout(x * 2, 0.5), torch.rand_like(x))
    call = torch.compile(f, backend="fusewright", dynamic=True)
    check(f, torch.randn(33, 64, device="cuda"), call=call)
    before = counters()
    for shape in ((40, 64), (7, 1001), (3000, 1024), (11, 13)):
        check(f, torch.randn(shape, device="cuda"), call=call)
    assert not counted(before).get("graphs_traced")


@pytest.mark.parametrize("n", [1, 3, 17, seed_table.MOST])
def test_seeds_of_tables_are_those_that_torch_draws(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the generator's state is the same after each; also where it was set back, and on another stream."""
    device = torch.device("cuda", torch.cuda.current_device())
    made: list[int] = []
    upload = seed_table.upload
    monkeypatch.setattr(seed_table, "upload", lambda *args: made.append(1) or upload(*args))
    for seed, offset in ((5, 0), (2**63 + 12345, 4 * (2**32 - 40)), (2**64 - 1, 2**40)):
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            torch.cuda.manual_seed(seed)
            generator().set_offset(offset)
            state = torch.cuda.get_rng_state()
            with torch.cuda.stream(stream):
                got = [(SEEDS(n, device), generator().get_offset()) for _ in range(150)]
                torch.cuda.set_rng_state(state)
                again = [SEEDS(n, device) for _ in range(150)]
                torch.cuda.set_rng_state(state)
                for (seeds, after), other in zip(got, again, strict=True):
                    want = torch.empty(n, dtype=torch.int64, device="cuda").random_(-(2**63), 2**63 - 1)
                    assert torch.equal(seeds, want) and torch.equal(other, want) and generator().get_offset() == after
    assert len(made) >= 6


def test_a_group_that_falls_back() -> None:
    x = torch.randn(1000, 33, device="cuda")
    f = lambda x: (*torch.native_dropout(x, 0.5, True), torch.randn_like(x), torch.rand_like(x))
    with fusewright.options(disable=("prim:random",)):
        check(f, x)


def test_fuse() -> None:
    f = lambda x: (F.dropout(x * 2, 0.5), torch.rand_like(x))
    check(f, torch.randn(1000, 30, device="cuda"), call=fusewright.fuse(f, rng="eager"))


@pytest.mark.parametrize("rng", ["philox", "eager"])
def test_a_graph_never_repeats_a_mask(rng: str) -> None:
    eager_states.warn_captured.cache_clear()
    x = torch.ones(1 << 16, device="cuda")
    with fusewright.options(rng=rng), torch.no_grad():
        call = torch.compile(lambda x: (F.dropout(x * 2, 0.5), torch.rand_like(x)), backend="fusewright")
        for _ in range(3):
            call(x)
        graph = torch.cuda.CUDAGraph()
        if rng == "eager":
            with pytest.warns(FusewrightWarning, match="CUDA graph"), torch.cuda.graph(graph):
                out = call(x)
        else:
            with torch.cuda.graph(graph):
                out = call(x)
    seen = []
    for _ in range(4):
        graph.replay()
        seen.append([t.clone() for t in out])
    for k in range(4):
        assert abs((seen[k][0] != 0).double().mean().item() - 0.5) < 0.02
        for other in seen[:k]:
            assert not any(torch.equal(a, b) for a, b in zip(seen[k], other, strict=True))
