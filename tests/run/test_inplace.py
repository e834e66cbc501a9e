"""Kernels that write straight into an input that the program mutates."""

from typing import Any

import pytest
import torch

import fusewright
from fusewright import pipeline


@pytest.fixture(autouse=True)
def _fresh_counters() -> None:
    fusewright.reset_counters()


def _compiled(f):
    torch._dynamo.reset()
    return torch.compile(f, backend="fusewright", fullgraph=True)


def test_mutation_reaches_the_input_and_its_version() -> None:
    def step(p, g):
        p.mul_(0.9).add_(g, alpha=-0.1)

    p, g = torch.randn(33, 65), torch.randn(33, 65)
    want = p.clone()
    step(want, g)
    before = p._version
    _compiled(step)(p, g)
    torch.testing.assert_close(p, want)
    assert p._version > before


def test_a_saved_tensor_that_was_changed_is_noticed() -> None:
    w = torch.randn(64, 64, requires_grad=True)
    x = torch.randn(64, 64, requires_grad=True)
    out = (w * x).sum()
    update = _compiled(lambda w, g: w.mul_(0.5).add_(g))
    with torch.no_grad():
        update(w, torch.randn(64, 64))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_old_contents_are_read_before_they_are_lost() -> None:
    def f(p, q):
        old = p.exp() * 2 + 1
        p.copy_(q * 3 + 1)
        return old, p.sum(0) * 2, old + q

    torch.manual_seed(0)  # of numbers that add up to nearly nothing sums are not close
    p, q = torch.randn(40, 70), torch.randn(40, 70)
    p2 = p.clone()
    want = f(p2, q)
    got = _compiled(f)(p, q)
    torch.testing.assert_close(p, p2)
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)


def test_shifted_reads_are_not_overwritten() -> None:
    def f(p):
        p.copy_(torch.roll(p, 1, 0) + p.flip(1) * 2)

    p = torch.randn(50, 37)
    want = p.clone()
    f(want)
    _compiled(f)(p)
    torch.testing.assert_close(p, want)


def test_row_statistics_are_taken_before_the_row_changes() -> None:
    def f(p):
        p.copy_((p - p.mean(-1, keepdim=True)) * torch.rsqrt(p.var(-1, keepdim=True) + 1e-5) + p)

    p = torch.randn(20, 129)
    want = p.clone()
    f(want)
    _compiled(f)(p)
    torch.testing.assert_close(p, want)


def test_transposed_and_narrow_inputs() -> None:
    def f(p, q):
        p.add_(q)
        q.mul_(2)

    base = torch.randn(30, 40)
    p, q = base[:, 3:20].t(), torch.randn(17, 30)
    base2 = base.clone()
    p2, q2 = base2[:, 3:20].t(), q.clone()
    f(p2, q2)
    _compiled(f)(p, q)
    torch.testing.assert_close(base, base2)
    torch.testing.assert_close(q, q2)


def test_returned_and_mutated() -> None:
    def f(p):
        p.add_(1).mul_(2)
        return p, p + 1

    p = torch.randn(16, 16)
    want = f(p.clone())
    got = _compiled(f)(p)
    assert got[0] is p or got[0].data_ptr() == p.data_ptr()
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b)
    assert fusewright.counters()["fallbacks"] == 0


def test_large_misaligned_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing past the caches needs aligned memory, which an input need not have."""
    monkeypatch.setattr(pipeline, "last_level_cache", lambda: 1)
    step = _compiled(lambda p, g: p.mul_(0.9).add_(g, alpha=-0.1))
    for offset in (1, 0, 3):
        p, g = torch.randn(64 * 256 + offset)[offset:], torch.randn(64 * 256)
        want = p.clone().mul_(0.9).add_(g, alpha=-0.1)
        step(p, g)
        torch.testing.assert_close(p, want)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, y: x.copy_(y.roll(1) * 2 + 1),
        lambda x, y: x.copy_(y * 2 + 1),
        lambda x, y: x.add_(y.flip(0)),
    ],
)
def test_arguments_that_share_memory_only_later(fn: Any) -> None:
    """Nobody guards against that: the program is traced with two that do not."""
    f = torch.compile(fn, backend="fusewright")
    f(torch.randn(64), torch.randn(64))
    for x, y in ((slice(0, 64), slice(0, 64)), (slice(8, 72), slice(4, 68)), (slice(0, 64), slice(64, 128))):
        got, want = torch.arange(128.0), torch.arange(128.0)
        f(got[x], got[y])
        fn(want[x], want[y].clone())
        assert torch.equal(got, want), (x, y)
