"""rng="eager" on an emulated GPU: numbers are those of PyTorch's CUDA kernels, as `tests/eager_draws.py` walks them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.core.errors import FusewrightWarning
from fusewright.run import eager_states
from fusewright.trace import eager_random
from tests.eager_draws import dropout_width, launch, units, walk
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import SMALL, emulated_gpu
from tests.support import counted, counters

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

SEED = -0x123456789ABCDEF1
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]


class Generator:
    """A CUDA generator: seed and offset, and what eager would draw from them."""

    def __init__(self) -> None:
        self.offset = 96
        self.steps: list[int] = []

    def take(self, device: torch.device, step: int) -> tuple[int, int]:
        self.offset += step
        self.steps.append(step)
        return SEED, self.offset - step

    def numbers(self, shape: tuple[int, ...], width: int = 1) -> torch.Tensor:
        """float32 in (0, 1], as eager draws them next."""
        n = torch.Size(shape).numel()
        threads, step = launch(n, SMALL.sms, SMALL.threads)
        self.offset += step
        return units(walk(SEED, self.offset - step, n, width, threads)).reshape(shape)

    def dropped(self, x: torch.Tensor, p: float, address: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """What eager's dropout gives for a contiguous tensor."""
        mask = self.kept(tuple(x.shape), x.dtype, p, address)
        return scaled(x, mask, p), mask

    def kept(self, shape: tuple[int, ...], dtype: torch.dtype, p: float, address: int = 0) -> torch.Tensor:
        u = self.numbers(shape, dropout_width(torch.Size(shape).numel(), dtype.itemsize, address))
        return u.double() < 1 - p if dtype is torch.float64 else u < torch.tensor(1 - p)


def scaled(x: torch.Tensor, mask: torch.Tensor, p: float) -> torch.Tensor:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    keep = torch.tensor(1 - p, dtype=torch.float64).to(wide.dtype)
    return (wide * mask * (1 / keep.double()).to(wide.dtype)).to(x.dtype)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[Generator]:
    """What kernels draw from; another one is used to expect it."""
    g = Generator()
    monkeypatch.setattr(eager_states, "take", g.take)
    monkeypatch.setattr(eager_random, "gpu_of", lambda device: SMALL)
    with emulated_gpu(), fusewright.options(rng="eager", fallback=False, single_op_groups=True):
        yield g


def compiled(f: Callable[..., object], dynamic: bool | None = False) -> Callable[..., object]:
    return torch.compile(f, backend="fusewright", dynamic=dynamic)


def same(got: torch.Tensor, want: torch.Tensor) -> None:
    torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


@pytest.mark.every(6)
@pytest.mark.parametrize("p", [0.1, 0.5])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [1, 3, 255, 1000, 1002, 4097, 40000])
def test_dropout(n: int, dtype: torch.dtype, p: float, drawn: Generator) -> None:
    x = torch.randn(n).to(dtype)
    eager = Generator()
    out, mask = compiled(lambda x: torch.native_dropout(x, p, True))(x)
    wanted, kept = eager.dropped(x, p)
    same(mask, kept)
    same(out, wanted)
    assert drawn.offset == eager.offset


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_dropout_in_rows(dtype: torch.dtype, drawn: Generator) -> None:
    """Within a row kernel, where an element's number is not the column, and a vector begins within a block."""
    for shape in ((5, 48), (7, 30), (3, 2, 21)):
        x = torch.randn(shape).to(dtype)
        eager = Generator()
        eager.offset = drawn.offset
        _, mask = compiled(lambda x: torch.native_dropout(torch.softmax(x.float(), -1).to(x.dtype), 0.25, True))(x)
        same(mask, eager.kept(shape, dtype, 0.25))
        assert drawn.offset == eager.offset


def test_several_draws_in_order(drawn: Generator) -> None:
    """Sizes of their own, PyTorch's own draws between them, and one call after another."""

    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        _, m = torch.native_dropout(x, 0.5, True)
        r = torch.rand(37)
        k = torch.randint(0, 9, (3,))
        _, n = torch.native_dropout(x[:5] * 2, 0.1, True)
        return m, r, n, k

    x, eager, g = torch.randn(40, 33), Generator(), compiled(f)
    for _ in range(2):
        m, r, n, _ = g(x)
        same(m, eager.kept((40, 33), x.dtype, 0.5))
        same(r, eager.numbers((37,)))
        same(n, eager.kept((5, 33), x.dtype, 0.1))
    assert drawn.offset == eager.offset


def test_backward_draws_the_same_mask(drawn: Generator) -> None:
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(30, 40).to(dtype).requires_grad_()
        g = torch.randn(30, 40).to(dtype)
        eager = Generator()
        eager.offset = drawn.offset
        out = compiled(lambda x: torch.native_dropout(x * 2, 0.1, True)[0])(x)
        saved = [t for t in out.grad_fn.saved_tensors if t.dtype == torch.bool]
        out.backward(g)
        mask = eager.kept((30, 40), dtype, 0.1)
        assert not saved
        wide = g.float() * mask * (torch.tensor(1 / 0.9))
        same(x.grad, wide.to(dtype) * 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("by", [1, 2, 4])
def test_a_misaligned_operand_takes_narrower_vectors(by: int, dtype: torch.dtype, drawn: Generator) -> None:
    whole = torch.randn(1000 + 16).to(dtype)
    x, eager = whole[by : by + 1000], Generator()
    address = x.data_ptr() % 64
    call = compiled(lambda x: torch.native_dropout(x, 0.5, True)[1])
    same(call(x), eager.kept((1000,), dtype, 0.5, address))
    same(call(whole[:1000]), eager.kept((1000,), dtype, 0.5))  # the same kernel, another address
    inside = compiled(lambda x: torch.native_dropout((x * 2)[by : by + 1000], 0.5, True)[1])
    same(inside(whole), eager.kept((1000,), dtype, 0.5, by * dtype.itemsize))
    view = compiled(lambda x: torch.native_dropout(x[by : by + 1000], 0.5, True)[1])
    same(view(whole), eager.kept((1000,), dtype, 0.5, by * dtype.itemsize))


def test_layouts(drawn: Generator) -> None:
    """Dense memory is walked in its own order if vectors fit, all else in that of indices."""
    eager = Generator()
    f = compiled(lambda x: torch.native_dropout((x * 1).t(), 0.5, True)[1])
    same(f(torch.randn(6, 10)), eager.kept((6, 10), torch.float32, 0.5).t())  # memory
    same(f(torch.randn(3, 5)), eager.kept((5, 3), torch.float32, 0.5))  # an odd number of elements: indices
    g = compiled(lambda x: torch.native_dropout((x * 1)[:, :8], 0.5, True)[1])
    u = eager.numbers((6, 8), 1)  # gaps: one by one
    same(g(torch.randn(6, 10)), u < 0.5)
    h = compiled(lambda x: torch.rand_like((x * 1).t()))
    same(h(torch.randn(6, 10)), open_(eager.numbers((6, 10))).t())
    point = compiled(lambda x: torch.native_dropout(x, 0.5, True)[1])
    same(point(torch.tensor(1.0)), eager.kept((), torch.float32, 0.5))
    assert drawn.offset == eager.offset


def open_(u: torch.Tensor) -> torch.Tensor:
    """[0, 1), as `torch.rand` makes it of (0, 1]."""
    return torch.where(u == 1, 0, u)


def test_nothing_is_drawn_for_nothing(drawn: Generator) -> None:
    before = drawn.offset
    out, mask = compiled(lambda x: torch.native_dropout(x + 1, 0.5, True), dynamic=True)(torch.empty(0, 4))
    assert out.shape == mask.shape == (0, 4)
    assert compiled(lambda: torch.rand(0, 3) + 1)().shape == (0, 3)
    assert drawn.offset == before


@pytest.mark.every(2)
@pytest.mark.parametrize("n", [1, 255, 4097, 40000])
def test_uniform(n: int, drawn: Generator) -> None:
    eager = Generator()
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        x = torch.empty(n, dtype=dtype)
        out, like, filled = compiled(
            lambda x: (torch.rand(x.shape, dtype=x.dtype), torch.rand_like(x), x.clone().uniform_())
        )(x)
        for got in (out, like, filled):
            same(got, open_(eager.numbers((n,)).to(dtype)))
            assert got.max() < 1
    assert drawn.offset == eager.offset


def test_bernoulli(drawn: Generator) -> None:
    eager = Generator()
    got = compiled(lambda x: torch.bernoulli(x, 0.3))(torch.empty(5000))
    same(got, (eager.numbers((5000,)) < torch.tensor(0.3)).float())
    out = compiled(lambda x: F.dropout1d(x, 0.3))(torch.ones(40, 50, 3))  # made of bernoulli_
    same(out != 0, (eager.numbers((40, 50, 1)) < torch.tensor(0.7)).expand(40, 50, 3))


@pytest.mark.parametrize("n", [1, 4097, 40000])
def test_normal(n: int, drawn: Generator) -> None:
    eager = Generator()
    out, like, filled, after = compiled(
        lambda x: (torch.randn(x.shape), torch.randn_like(x).bfloat16(), x.clone().normal_(), torch.rand(7))
    )(torch.empty(n))
    threads, step = launch(n, SMALL.sms, SMALL.threads)
    for got, tolerance in ((out, 1e-5), (like.float(), 0.02), (filled, 1e-5)):
        words = [walk(SEED, eager.offset, n + 4 * threads, 1, threads)]  # whole blocks
        eager.offset += step
        pairs = torch.from_numpy(words[0].astype("float64"))
        e = torch.arange(n)
        first = e // threads % 4 // 2 * 2 * threads + e // (4 * threads) * 4 * threads + e % threads
        u, v = ((pairs[k] + 0.5) / 2**32 for k in (first, first + threads))
        angle = 2 * torch.pi * v
        want = (-2 * u.log()).sqrt() * torch.where(e // threads % 2 == 1, angle.cos(), angle.sin())
        torch.testing.assert_close(got.double(), want, rtol=tolerance, atol=tolerance)
    same(after, open_(eager.numbers((7,))))
    assert drawn.offset == eager.offset


def test_sizes_that_vary(drawn: Generator) -> None:
    eager = Generator()
    f = compiled(lambda x: (torch.native_dropout(x * 2, 0.5, True)[1], torch.rand_like(x)), dynamic=True)
    f(torch.randn(9, 7))
    eager.offset = drawn.offset
    before = counters()
    for shape in ((33, 64), (4, 501), (11, 13)):
        mask, r = f(torch.randn(shape))
        same(mask, eager.kept(shape, torch.float32, 0.5))
        same(r, open_(eager.numbers(shape)))
    assert not counted(before).get("graphs_traced")
    assert drawn.offset == eager.offset


def test_through_torch_it_is_the_same(drawn: Generator) -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (*torch.native_dropout(x * 2, 0.5, True), torch.rand(300))

    x = torch.randn(50, 60)
    ours = compiled(f)(x)
    drawn.offset = Generator().offset
    torch._dynamo.reset()
    with fusewright.options(disable=("prim:random",)):
        theirs = compiled(f)(x)
    for a, b in zip(ours, theirs, strict=True):
        same(a, b)


def test_what_stays_torchs(drawn: Generator) -> None:
    """Types and parameters that are drawn in another way, and dropout that draws nothing."""

    def f(x: torch.Tensor) -> object:
        return (
            torch.rand(5, dtype=torch.float64) + x,
            x.clone().uniform_(1, 2),
            x.clone().normal_(0, 2),
            torch.bernoulli(x.abs().clamp(0, 1)),
            *torch.native_dropout(x, 1.0, True),
            *torch.native_dropout(x, 0.5, False),
        )

    compiled(f)(torch.randn(5))
    assert not drawn.steps


def test_fuse(drawn: Generator) -> None:
    eager = Generator()
    f = fusewright.fuse(lambda x: torch.native_dropout(x * 2, 0.5, True)[1], rng="eager")
    same(f(torch.randn(1000)), eager.kept((1000,), torch.float32, 0.5))
    same(f(torch.randn(1000)), eager.kept((1000,), torch.float32, 0.5))


def test_states_of_a_cuda_graph_are_new_each_time() -> None:
    eager_states.warn_captured.cache_clear()
    rows = [0, 0, 512, 2, 0, 0, 256, 0]
    with pytest.warns(FusewrightWarning, match="not eager's"):
        a = eager_states.captured(rows, torch.device("cpu"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        b = eager_states.captured(rows, torch.device("cpu"))
    assert len({*a[::4].tolist(), *b[::4].tolist()}) == 4
    for s in (a, b):
        assert s.reshape(2, 4)[:, 1:].tolist() == [[0, 512, 2], [0, 256, 0]]


def test_a_cpu_draws_with_its_own_generator() -> None:
    """On a CPU, emulating a GPU or not, the option leaves random operations to PyTorch."""
    f = lambda x: (torch.native_dropout(x * 2, 0.5, True)[0], torch.rand(50), torch.randn(20))
    x = torch.randn(1000)
    torch.manual_seed(5)
    want = f(x)
    with emulated_gpu(), fusewright.options(rng="eager", fallback=False):
        torch.manual_seed(5)
        for a, b in zip(compiled(f)(x), want, strict=True):
            same(a, b)
