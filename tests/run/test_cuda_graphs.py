"""Plans that run from CUDA graphs, with a recorder that runs the plan again: when they do, and that it never shows.

A graph that is replayed where it must not be gives wrong numbers here as on a GPU: it reads and writes the addresses
that it was recorded with.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import fusewright
from fusewright.core.errors import FusewrightWarning
from fusewright.run import cuda_graphs, recordable
from tests.emulate.recorder import FakeRecorder
from tests.run.graphed import ON, STEPS, Model, both, chain, compared, recorder, status_of
from tests.support import counted, counters

aten = torch.ops.aten

__all__ = ["compared", "recorder"]


def test_recorded_once_and_replayed(recorder: FakeRecorder) -> None:
    f, plain = both(chain)
    w, kept = torch.randn(16, 16), []
    before = counters()
    with torch.no_grad():
        for _ in range(STEPS):
            x = torch.randn(4, 16)
            kept.append(x)  # every call has its arguments elsewhere
            assert torch.equal(f(x, w), plain(x, w))
    assert recorder.recorded == 1 and counted(before)["cuda_graphs_captured"] == 1
    assert f"1 recorded, {STEPS - cuda_graphs.WARM} replays, 1 arguments are copied" in status_of("inference")


def test_without_the_option_a_plan_is_what_it_was(recorder: FakeRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(cuda_graphs, "begin", never)
    x, w = torch.randn(4, 16), torch.randn(16, 16)
    assert torch.compile(chain, backend="fusewright")(x, w).shape == (4, 16)


def test_fused_functions(recorder: FakeRecorder) -> None:
    f, plain = fusewright.fuse(chain, cuda_graphs=True), fusewright.fuse(chain)
    w = torch.randn(16, 16, requires_grad=True)
    for step in range(STEPS):
        x = torch.randn(4 + step % 2, 16)
        got, want = f(x, w), plain(x, w)
        assert torch.equal(got, want)
        g = torch.randn_like(got)
        (a,), (b,) = torch.autograd.grad(got, w, g), torch.autograd.grad(want, w, g)
        assert torch.equal(a, b)
    assert recorder.recorded >= 3  # two sizes, both passes


def test_programs_compiled_ahead_of_time(recorder: FakeRecorder) -> None:
    """Their parameters are constants of the code, and as good as any other operand."""
    torch.manual_seed(0)
    m = Model().eval()
    program = fusewright.aot_compile(m, (torch.randn(8, 24),), cuda_graphs=True)
    plain = fusewright.aot_compile(m, (torch.randn(8, 24),))
    with torch.no_grad():
        for _ in range(STEPS):
            x = torch.randn(8, 24)
            assert torch.equal(program(x), plain(x))
            m.norm.weight.mul_(1.1)
    assert recorder.recorded == 1


def test_weights_that_move(recorder: FakeRecorder) -> None:
    f, plain = both(chain)
    w = torch.randn(64, 64)
    kept: list[Tensor] = []
    with torch.no_grad():
        for step in range(3 * STEPS):
            if step % STEPS == STEPS - 1:
                kept.append(w)
                w = torch.randn(64, 64)
            x = torch.randn(4, 64)
            assert torch.equal(f(x, w), plain(x, w))
            w.mul_(0.9)  # in place: the graph sees it
    assert 2 <= recorder.recorded <= 4


@pytest.mark.parametrize("sizes", [2, 5])
def test_sizes(sizes: int, recorder: FakeRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_graphs, "SIZES", 3)
    f, plain = both(chain, dynamic=True)
    w = torch.randn(16, 16)
    before = counters()
    with torch.no_grad():
        for _ in range(STEPS):
            for n in range(2, 2 + sizes):
                x = torch.randn(n, 16)
                assert torch.equal(f(x, w), plain(x, w))
    dropped = counted(before)["cuda_graphs_dropped"]
    assert (dropped == 0) == (sizes <= 3)
    assert recorder.recorded - dropped == min(sizes, 3)


def test_sizes_that_keep_changing(recorder: FakeRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is recorded for sizes that do not come again, and little is kept about them."""
    monkeypatch.setattr(cuda_graphs, "SEEN", 4)
    f, plain = both(chain, dynamic=True)
    w = torch.randn(16, 16)
    with torch.no_grad():
        for n in range(2, 30):
            x = torch.randn(n, 16)
            assert torch.equal(f(x, w), plain(x, w))
    assert recorder.recorded == 0


def test_results_that_are_kept(recorder: FakeRecorder) -> None:
    """Small results are copied; of large ones there are a few generations, then the plan runs plainly."""
    for size, few in ((16, True), (256, False)):
        f, plain = both(chain)
        recorder.recorded = 0
        w, x, got, want = torch.randn(size, size) / 16, torch.randn(size, size), [], []
        with torch.no_grad():
            for step in range(2 * STEPS + cuda_graphs.PATIENCE):
                got.append(f(x, w))
                want.append(plain(x, w))
                x = x.roll(1) + 0.01 * step
            assert all(map(torch.equal, got, want))
        assert recorder.recorded == (1 if few else cuda_graphs.KEPT)
        assert ("its results are kept" in status_of("inference")) != few


def test_the_last_result_is_kept(recorder: FakeRecorder) -> None:
    """As in `y = f(x)` in a loop: two generations take turns."""
    f, plain = both(chain)
    w, y = torch.randn(256, 256) / 16, torch.zeros(256, 256)
    with torch.no_grad():
        for _ in range(2 * STEPS):
            x = y + 1
            y = f(x, w)
            assert torch.equal(y, plain(x, w))
    assert recorder.recorded == 2 and "2 recorded" in status_of("inference")


def test_views_and_arguments_as_results(recorder: FakeRecorder) -> None:
    def f(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        y = chain(x, w)
        a, b = y.split(8, 1)
        return x, x.t(), a, b, y[1:], y, y * 2

    mine, plain = both(f)
    w = torch.randn(16, 16)
    with torch.no_grad():
        for _ in range(STEPS):
            x = torch.randn(4, 16)
            for got, want in zip(mine(x, w), plain(x, w), strict=True):
                assert torch.equal(got, want) and got.stride() == want.stride()
            results = mine(x, w)
            assert results[0] is x and results[1].data_ptr() == x.data_ptr()
            results[5].fill_(3.0)
            assert (results[2] == 3).all() and results[4].data_ptr() == results[5][1:].data_ptr()
    assert recorder.recorded


@pytest.mark.parametrize("moves", [False, True])
def test_parts_of_arguments_that_are_written(moves: bool, recorder: FakeRecorder) -> None:
    def f(cache: Tensor, x: Tensor, w: Tensor, pos: Tensor) -> Tensor:
        y = chain(x, w)
        cache[:, pos] = y[:, None] * 2
        cache[0, 3] += y[0]
        return cache[:, :5].relu() @ w

    mine, plain = both(f)
    w, cache = torch.randn(16, 16), torch.randn(4, 1024, 16)
    mirror = cache.clone()
    with torch.no_grad():
        for step in range(STEPS):
            cache = cache.clone() if moves else cache
            x, pos = torch.randn(4, 16), torch.tensor([step % 7])
            assert torch.equal(mine(cache, x, w, pos), plain(mirror, x, w, pos))
            assert torch.equal(cache, mirror)
    assert recorder.recorded or moves  # what is written has to be in its place


def test_arguments_of_many_layouts(recorder: FakeRecorder, compared: None) -> None:
    """Copied: with holes, turned, expanded, empty, of one element. What overlaps itself is not recorded."""
    f, plain = both(lambda x, w: chain(x, w).sum(0))
    w = torch.randn(16, 16)
    makes: list[Callable[[], Tensor]] = [
        lambda: torch.randn(4, 40)[:, 3:19],
        lambda: torch.randn(16, 4).t(),
        lambda: torch.randn(1, 16).expand(4, 16),
        lambda: torch.randn(0, 16),
        lambda: torch.randn(1, 16),
        lambda: torch.randn(64).as_strided((4, 16), (2, 1)),
    ]
    kept = []
    with torch.no_grad(), fusewright.options(small_products=False):
        for make in makes:
            torch._dynamo.reset()
            for _ in range(STEPS):
                kept.append(x := make())
                assert torch.equal(f(x, w), plain(x, w))
    assert "overlaps itself" in status_of("inference")
    assert recorder.recorded == len(makes) - 1


# --- where it must not, or need not --------------------------------------------------------------------------


def refused(f: Callable[..., Any], *args: Tensor, **options: Any) -> str:
    """What the report says of CUDA graphs for each graph."""
    with fusewright.options(cuda_graphs=True, **options):
        return " / ".join(g.cuda_graph for g in fusewright.explain(f, *args).graphs)


def test_refusals(recorder: FakeRecorder) -> None:
    x, w = torch.randn(8, 8), torch.randn(8, 8)
    assert "recorded after 6 calls" in refused(chain, x, w)
    assert "nothing to gain" in refused(lambda x, w: (x @ w).relu(), x, w)
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        assert "read by the host" in refused(lambda x, w: chain(x, w).clamp(max=x.sum().item()), x, w)
        assert "depends on values" in refused(lambda x, w: (chain(x, w), torch.nonzero(x) + 1), x, w)
    meta = torch.ones(8, 8, device="meta")
    assert "several devices: " in refused(lambda x, w, y: (chain(x, w), y @ y), x, w, meta)
    assert "of another library" in refused(lambda x, w: torch.ops.graph_tests.twice(chain(x, w)), x, w)
    assert recorder.recorded == 0


@pytest.mark.parametrize("p", [0.0, 0.1])
def test_attention_with_dropout(p: float) -> None:
    """Its seed is on the host, but on the device while it is recorded; its backward pass may not find it there."""
    for op in (aten._scaled_dot_product_flash_attention, aten._scaled_dot_product_efficient_attention):
        graph = torch.fx.Graph()
        q = graph.placeholder("q")
        more = (None, True) if op is aten._scaled_dot_product_efficient_attention else ()
        n = graph.call_function(op.default, (q, q, q, *more, p))
        assert bool(p) == ("draws random numbers" in recordable._why_not(n, False))


@torch.library.custom_op("graph_tests::twice", mutates_args=())
def twice(x: Tensor) -> Tensor:
    return x * 2


@twice.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def test_plans_for_cpus_are_not_recorded() -> None:
    torch._dynamo.reset()
    assert refused(chain, torch.randn(8, 8), torch.randn(8, 8)) == "not recorded: it does not run on a GPU"
    assert fusewright.explain(chain, torch.randn(8, 8), torch.randn(8, 8)).graphs[0].cuda_graph == ""


def test_what_fails_to_be_recorded_runs(recorder: FakeRecorder) -> None:
    recorder.failure = RuntimeError("operation not permitted when stream is capturing")
    f, plain = both(chain)
    w = torch.randn(16, 16)
    with torch.no_grad(), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(STEPS):
            x = torch.randn(4, 16)
            assert torch.equal(f(x, w), plain(x, w))
    ours = [str(s.message) for s in seen if issubclass(s.category, FusewrightWarning)]
    assert len(ours) == 1 and "not permitted" in ours[0] and "CUDA graph" in ours[0]
    assert "recording failed" in status_of("inference")
    with fusewright.options(fallback=False):
        g = torch.compile(lambda x, w: chain(x, w) * 2, backend="fusewright", options=ON)
        with torch.no_grad(), pytest.raises(RuntimeError, match="not permitted"):
            for _ in range(STEPS):
                g(torch.randn(4, 16), w)


def test_what_is_slower_is_given_up(recorder: FakeRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_graphs, "SLOWER", 0.0)
    f, plain = both(chain)
    w = torch.randn(16, 16)
    before = counters()
    with torch.no_grad():
        for _ in range(2 * STEPS):
            x = torch.randn(4, 16)
            assert torch.equal(f(x, w), plain(x, w))
    assert recorder.recorded == 1 and counted(before)["cuda_graphs_dropped"] == 1
    assert "slower: " in status_of("inference")


def test_somebody_else_records(recorder: FakeRecorder) -> None:
    """Inside a recording of the caller's own nothing is replayed or recorded."""
    f, plain = both(chain)
    w = torch.randn(16, 16)
    with torch.no_grad():
        for step in range(2 * STEPS):
            recorder.busy = step > STEPS
            before = status_of("inference") if step > STEPS + 1 else ""
            x = torch.randn(4, 16)
            assert torch.equal(f(x, w), plain(x, w))
            assert not before or status_of("inference") == before


def test_streams(recorder: FakeRecorder) -> None:
    """Each stream has its own recordings; random numbers are recorded on one stream only."""
    w = torch.randn(16, 16)
    for draws, recorded in ((False, 2), (True, 1)):

        def fn(x: Tensor, w: Tensor, draws: bool = draws) -> Tensor:
            return F.dropout(chain(x, w), 0.5 if draws else 0.0)

        f, plain = both(fn)
        recorder.recorded, recorder.drawing = 0, None
        with torch.no_grad():
            for step in range(2 * STEPS):
                recorder.stream = step % 2
                x = torch.randn(4, 16)
                torch.manual_seed(step)
                got = f(x, w)
                torch.manual_seed(step)
                assert torch.equal(got, plain(x, w))
        assert recorder.recorded == recorded
    assert "another stream" in status_of("inference")


def test_threads(recorder: FakeRecorder) -> None:
    f = torch.compile(chain, backend="fusewright", options=ON)
    w = torch.randn(16, 16)
    wrong: list[Any] = []
    with torch.no_grad():
        f(torch.randn(4, 16), w)

    def work(seed: int) -> None:
        g = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for _ in range(4 * STEPS):
                x = torch.randn(4, 16, generator=g)
                y = f(x, w)
                if not torch.allclose(y, chain(x, w), atol=1e-4, rtol=1e-4):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and recorder.recorded


def test_inference_mode(recorder: FakeRecorder) -> None:
    """Results are inference tensors where they are without graphs."""
    f, plain = both(chain)
    w = torch.randn(16, 16)
    for step in range(2 * STEPS):
        with torch.inference_mode(step % 2 == 0), torch.no_grad():
            x = torch.randn(4, 16)
            got, want = f(x, w), plain(x, w)
            assert torch.equal(got, want) and got.is_inference() == want.is_inference()
    assert recorder.recorded == 2
