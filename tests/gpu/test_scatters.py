"""Scatters on a GPU, all of them in kernels of our own, against eager on the CPU, which adds one after the other.

    python -m pytest tests/gpu/test_scatters.py

Without a CUDA device the kernels are emulated, in fewer sizes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.bench.measure import deterministic
from tests.support import counted, counters, no_fallbacks, same_bits

REAL = torch.cuda.is_available()
aten = torch.ops.aten
Program = Callable[..., torch.Tensor]


def scatter_rows(how: str, keep: bool = True) -> Program:
    """Rows by an index, as scatter_reduce wants it: one for each element."""
    return lambda x, i, s: x.scatter_reduce(0, i[:, None].expand_as(s), s * 2, how, include_self=keep)


PROGRAMS: dict[str, Program] = {  # x: [v, m], i: [n] in 0 .. v, s: [n, m]
    "index_add": lambda x, i, s: x.index_add(0, i, s * 2),
    "index_add of zeros": lambda x, i, s: torch.zeros_like(x).index_add(0, i, torch.relu(s)) * 0.5,
    "index_add down": lambda x, i, s: x.t().contiguous().index_add(1, i, s.t() - 1),
    "index_put accumulate": lambda x, i, s: x.index_put((i - x.shape[0],), s * 2, accumulate=True),
    "index_copy": lambda x, i, s: x.index_copy(0, i, s * 2),
    "scatter_add": lambda x, i, s: x.scatter_add(0, i[:, None].expand_as(s), s * 2),
    "embedding backward": lambda x, i, s: aten.embedding_dense_backward(s * 2, i, x.shape[0], -1, False),
    "embedding backward but one": lambda x, i, s: aten.embedding_dense_backward(s * 2, i, x.shape[0], 1, False),
    **{f"rows {how}": scatter_rows(how) for how in ("sum", "prod", "amax", "amin")},
    **{f"rows {how} afresh": scatter_rows(how, False) for how in ("sum", "prod", "amax", "amin")},
}
# of elements: each has an index of its own, in a row of [v, m]
BY_ELEMENT: dict[str, Program] = {
    "scatter_add along rows": lambda x, i, s: x.scatter_add(1, i, s * 2),
    "scatter amax along rows": lambda x, i, s: x.scatter_reduce(1, i, s * 2, "amax"),
    "put accumulate": lambda x, i, s: x.put(i, s * 2, accumulate=True),
    "histogram": lambda x, i, s: torch.zeros_like(x[0]).index_add(0, i.flatten(), torch.ones_like(s).flatten()),
}
SIZES = [(40, 33, 7), (200, 64, 1000)]  # n, m, v
ELEMENTS = [(7, 33), (30, 40)]
if REAL:
    SIZES += [
        (3000, 3, 2),
        (5000, 768, 50257),
        (70000, 64, 3000),
        (200000, 5, 2),
        (100003, 17, 70001),
        (4099, 4096, 30),
        (150000, 20, 5000),  # blocks share the bucket of the index that is frequent
    ]
    SIZES += [(9, 100003, 4), (1 << 20, 8, 1 << 20)]
    ELEMENTS += [(1000, 5000), (5000, 1000), (3, 1 << 18)]
OLD = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 12)
SPECIAL = [(300, 1, 1), (0, 8, 5), (1, 1, 1)] if REAL else [(0, 8, 5)]  # 0 and 1 are no symbols
DTYPES = [torch.float32, torch.bfloat16]
if REAL:
    DTYPES += [torch.int64, torch.float16, torch.float64, torch.int32]


def random(dtype: torch.dtype, *shape: int, seed: int = 0) -> torch.Tensor:
    gen = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return torch.randn(shape, generator=gen).clamp(-2, 2).to(dtype)
    return torch.randint(-3, 4, shape, generator=gen).to(dtype)


def indices(limit: int, *shape: int, often: float = 0.2) -> torch.Tensor:
    """Uniform, but for one that is frequent."""
    gen = torch.Generator().manual_seed(sum(shape))
    i = torch.randint(0, limit, shape, generator=gen)
    return torch.where(torch.rand(shape, generator=gen) < often, limit // 2, i)


def ours(fn: Program, *args: Any, may_be_torchs: bool = False, ordered: bool = False) -> torch.Tensor:
    """`ordered`: points are combined in the same order at every run; else those of single elements have none."""
    before = counters()
    options = fusewright.options(single_op_groups=True, fallback=False)
    with no_fallbacks(), torch.no_grad(), options, deterministic(ordered):
        out = fn(*args)
    left = counted(before).get("opaque_calls", 0)
    assert may_be_torchs or not left or 0 in (t.numel() for t in args), "torch's kernels"
    return out


def wanted(fn: Program, args: Any, placed: Any, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Eager's results for points in any order, and in theirs: a sum of a million numbers one by one, as atomics make
    it, is less exact than what eager does on a CPU."""
    there = fn(*placed).cpu() if dtype in (torch.float32, torch.float64) else fn(*args)
    return there, fn(*args)


def assert_agrees(
    got: torch.Tensor, want: torch.Tensor, exact: torch.Tensor | None, what: str, points: torch.Tensor | None = None
) -> None:
    """Integers and what is chosen are equal; sums differ by rounding, as many times as something was added.

    `points`: how many meet at an element, in any order: eager's error is another one at every run then, so that the
    bound is a random walk of that many roundings.
    """
    got = got.cpu()
    assert (got.dtype, got.shape) == (want.dtype, want.shape), what
    if exact is None or not got.dtype.is_floating_point:
        assert same_bits(got, want), what
        return
    mine, theirs = ((t.double() - exact).abs() for t in (got, want))
    eps = torch.finfo(got.dtype).eps
    scale = exact.abs().nan_to_num(0.0, 0.0, 0.0).clamp_min(1.0)
    ok = (mine <= 2 * theirs + 8 * eps * scale) | (got.double() == exact) | (mine <= 4 * theirs.max())
    if points is not None:
        ok |= mine <= eps * scale * points.sqrt()
    assert bool((ok | ~exact.isfinite()).all()), (
        f"{what}: off by {mine.max().item():.3g}, eager {theirs.max().item():.3g}"
    )


CHOSEN = ("index_copy", "amax", "amin")  # parts of names: nothing is rounded


@pytest.mark.every(6)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows(name: str, dtype: torch.dtype, device: str) -> None:
    if "embedding" in name and not dtype.is_floating_point:
        pytest.skip("embeddings are floats")
    fn = PROGRAMS[name]
    call = torch.compile(fn, backend="fusewright", dynamic=True)
    for n, m, v in (*SIZES, *SPECIAL):
        if (n, m, v) in SPECIAL:
            torch._dynamo.reset()
            call = torch.compile(fn, backend="fusewright", dynamic=False)
        if n > v and name == "index_copy":
            n = v  # which of several stays is not eager's to say
        i = indices(v, n) if name != "index_copy" else torch.randperm(v)[:n]
        args = random(dtype, v, m), i, random(dtype, n, m, seed=1)
        if "prod" in name:
            args = (args[0], i, args[2].sign() / 2 if dtype.is_floating_point else args[2])  # factors of 1 and -1
        wide = tuple(t.double() if t.is_floating_point() else t for t in args)
        exact = None if any(c in name for c in CHOSEN) else fn(*wide)
        placed = tuple(t.to(device) for t in args)
        untold = name == "index_copy" and OLD  # it does not tell that there are as many indices as rows
        got = [ours(call, *placed, may_be_torchs=untold, ordered=k > 0) for k in range(3)]
        for one, want in zip(got, wanted(fn, args, placed, dtype), strict=False):
            assert_agrees(one, want, exact, f"{name} {n} {m} {v} {dtype}")
        assert same_bits(*got[1:]), "the same result at every run"


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", DTYPES[:3], ids=str)
@pytest.mark.parametrize("name", BY_ELEMENT)
def test_elements(name: str, dtype: torch.dtype, device: str) -> None:
    fn = BY_ELEMENT[name]
    call = torch.compile(fn, backend="fusewright", dynamic=True)
    for n, m in ELEMENTS:
        args = random(dtype, n, m), indices(m, n, m), random(dtype, n, m, seed=1)
        wide = tuple(t.double() if t.is_floating_point() else t for t in args)
        exact, points = None, None
        if "amax" not in name:
            exact, points = fn(*wide), fn(torch.zeros_like(wide[0]), args[1], torch.full_like(wide[2], 0.5))
        placed = tuple(t.to(device) for t in args)
        got = [ours(call, *placed, ordered=k > 0) for k in range(3)]
        for k, (one, want) in enumerate(zip(got, wanted(fn, args, placed, dtype), strict=False)):
            assert_agrees(one, want, exact, f"{name} {n} {m} {dtype}", points if k == 0 else None)
        assert same_bits(*got[1:]), "the same result at every run"


def test_few_points_of_each_row_have_the_bits_of_a_serial_sum(device: str) -> None:
    x, i, s = random(torch.float32, 500, 48), indices(500, 4000, often=0.0), random(torch.float32, 4000, 48, seed=1)
    assert int(i.bincount().max()) < 32
    fn = lambda x, i, s: x.index_add(0, i, s)
    got = ours(torch.compile(fn, backend="fusewright"), *(t.to(device) for t in (x, i, s)))
    assert same_bits(got.cpu(), fn(x, i, s))


Shapes = tuple[tuple[int, ...], tuple[int, ...]]
LAYOUTS: dict[str, tuple[Program, Shapes]] = {  # of the base and the source; 70 indices below 9
    "turned source": (lambda x, i, s: x.index_add(0, i, s.t()), ((9, 20), (20, 70))),
    "turned base": (lambda x, i, s: x.t().index_add(0, i, s), ((20, 9), (70, 20))),
    "expanded source": (lambda x, i, s: x.index_add(0, i, s.expand(70, 20)), ((9, 20), (70, 1))),
    "every second": (lambda x, i, s: x.index_add(0, i[::2], s[::2]), ((9, 20), (70, 20))),
    "32-bit index": (lambda x, i, s: x.index_add(0, i.int(), s), ((9, 20), (70, 20))),
    "middle": (lambda x, i, s: x.index_add(1, i, s), ((3, 9, 20), (3, 70, 20))),
    "two indices": (lambda x, i, s: x.index_put((i, i), s, True), ((9, 9, 20), (70, 20))),
    "not 16-byte aligned": (lambda x, i, s: x[1:].view(9, 20).index_add(0, i, s), ((181,), (70, 20))),
    "one element": (lambda x, i, s: x.index_add(0, i[:1], s), ((9, 1), (1, 1))),
    "infinities": (lambda x, i, s: x.index_add(0, i, s / s.round()), ((9, 20), (70, 20))),
    "largest": (lambda x, i, s: x.scatter_reduce(0, i, (s / s.round())[:, 0], "amax"), ((9,), (70, 1))),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str, device: str) -> None:
    fn, (base, source) = LAYOUTS[name]
    args = random(torch.float32, *base), indices(9, 70), random(torch.float32, *source, seed=1)
    got = ours(torch.compile(fn, backend="fusewright"), *(t.to(device) for t in args))
    torch.testing.assert_close(got.cpu(), fn(*args), rtol=1e-5, atol=1e-5, equal_nan=True)


def test_what_becomes_of_the_sum_is_part_of_the_kernel(device: str) -> None:
    def fn(x: torch.Tensor, w: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        message = x[source] * w[:, None]
        return torch.relu(torch.zeros_like(x).index_add(0, target, message) + x).to(torch.bfloat16)

    n, e = (20000, 300000) if REAL else (50, 300)
    x, w = random(torch.float32, n, 64), random(torch.float32, e, seed=1)
    args = x, w, indices(n, e, often=0.0), indices(n, e)
    before = counters()
    got = ours(torch.compile(fn, backend="fusewright"), *(t.to(device) for t in args))
    assert counted(before)["groups_formed"] == 1
    torch.testing.assert_close(got.cpu(), fn(*args), rtol=1.6e-2, atol=1e-2)


def test_backward_of_an_embedding(device: str) -> None:
    fn = lambda w, i: F.embedding(i, w, padding_idx=3) * 2
    w, i = random(torch.float32, 500, 64).to(device).requires_grad_(), indices(500, 8, 90).to(device)
    with no_fallbacks(), fusewright.options(single_op_groups=True, fallback=False):
        out = torch.compile(fn, backend="fusewright")(w, i)
        seed = torch.ones_like(out)
        (got,) = torch.autograd.grad(out, w, seed)
    (want,) = torch.autograd.grad(fn(w, i), w, seed)
    torch.testing.assert_close(got, want)


def test_an_index_out_of_range_is_an_error_and_writes_nothing(cuda: str) -> None:
    """In a process of its own, because the context is lost."""
    code = (
        "import torch, fusewright\n"
        "f = torch.compile(lambda x, i, s: x.index_add(0, i, s) * 2, backend='fusewright')\n"
        "x, s = torch.randn(10, 8, device='cuda'), torch.randn(2, 8, device='cuda')\n"
        "with fusewright.options(single_op_groups=True, fallback=False):\n"
        "    f(x, torch.tensor([1, 2], device='cuda'), s); torch.cuda.synchronize(); print('fine')\n"
        "    f(x, torch.tensor([1, 10], device='cuda'), s); torch.cuda.synchronize()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "fine" in done.stdout and done.returncode != 0 and "CUDA error" in done.stderr


def test_in_a_graph(cuda: str) -> None:
    call = torch.compile(lambda x, i, s: x.index_add(0, i, s) * 2, backend="fusewright")
    x, i, s = (t.to(cuda) for t in (random(torch.float32, 50, 64), indices(50, 9000), random(torch.float32, 9000, 64)))
    with torch.no_grad(), fusewright.options(single_op_groups=True, fallback=False):
        for _ in range(3):
            call(x, i, s)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = call(x, i, s)
        for seed in range(3):
            s.copy_(random(torch.float32, 9000, 64, seed=seed))
            graph.replay()
            assert same_bits(out.cpu(), call(x, i, s).cpu())
