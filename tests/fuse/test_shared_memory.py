"""Fused functions that write into arguments, where these lie in one memory with others."""

from __future__ import annotations

import itertools

import pytest
import torch

import fusewright
from fusewright.run.overlaps import apart, private
from tests.support import counters


def step(p: torch.Tensor, g: torch.Tensor) -> None:
    p.mul_(0.5).add_(g * g, alpha=-0.1)


def test_slices_of_one_tensor_are_apart() -> None:
    """As parameters that are views of one flat tensor, and their gradients of another."""
    fused, flat = fusewright.fuse(step), torch.randn(64)
    expected = flat.clone()
    before = counters()["fuse_traces"]
    for lo in (0, 16, 32):
        fused(flat[lo : lo + 16], flat[48:])
        step(expected[lo : lo + 16], expected[48:])
    assert torch.equal(flat, expected)
    assert counters()["fuse_traces"] == before + 1
    assert "_apart(" in fused._fusewright.source


def test_what_overlaps_is_not_traced_again() -> None:
    """A call whose arguments overlap runs as plain PyTorch; a trace that serves others is kept from the first on."""
    fused, flat = fusewright.fuse(step), torch.randn(64)
    before = counters()["fuse_traces"]
    for _ in range(3):
        expected = flat.clone()
        step(expected[:16], expected[:16])
        fused(flat[:16], flat[0:16])
        assert torch.equal(flat, expected)
    assert counters()["fuse_traces"] == before + 1
    other = torch.randn(16)
    expected = flat.clone()
    step(expected[:16], other)
    fused(flat[:16], other)
    assert torch.allclose(flat, expected)
    assert counters()["fuse_traces"] == before + 1
    with pytest.raises(RuntimeError, match="single memory location"):  # eager's own error
        fusewright.fuse(lambda p, g: p.add_(g))(flat[:16], flat[8:24])


def views() -> list[torch.Tensor]:
    flat, other = torch.arange(40.0), torch.arange(10.0)
    return [
        *(flat[:10], flat[10:20], flat[5:15], flat[:0], flat[12:12], flat[20:40:2], flat[21:40:2], flat[39:]),
        *(flat[:30].view(5, 6).t(), flat[30:].expand(3, 10), other[:5], other[5:]),
    ]


def test_apart_is_what_spans_say() -> None:
    found = views()

    def span(t: torch.Tensor) -> set[int]:
        if not t.numel():
            return set()
        reach = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))
        return {t.data_ptr() + 4 * k for k in range(reach)}

    spans = {id(t): span(t) for t in found}
    for given in itertools.combinations(found, 3):
        for k in range(3):
            meet = any(spans[id(given[k])] & spans[id(t)] for t in given if t is not given[k])
            assert apart([given[k]], given) is not meet, [(t.storage_offset(), t.shape, t.stride()) for t in given]
    assert not apart([found[0]], [found[0], found[0]])  # given twice
    assert apart([], [found[0], found[0]])


def test_copies_of_what_overlaps() -> None:
    found = views()
    for written in found:
        for t in found:
            (got,) = private((written,), (t,))
            assert got.shape == t.shape and got.stride() == t.stride() and torch.equal(got, t)
            kept = t is not written and apart([written], [written, t])
            assert (got is t) is (kept or not t.numel())


RESULTS = {
    "sort": lambda x: (x.sort(-1)[0], x.sort(-1)[0]),
    "max": lambda x: (x.max(-1).values, x.max(-1).indices, x.max(-1).values * 1, x.max(-1).values),
    "topk": lambda x: ((x * 2).topk(2)[0], (x * 2).topk(2)[0]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_computed_twice_is_two_results(name: str) -> None:
    """The partitioner joins equal operations; of those with several results, also where both are returned."""
    program, x = RESULTS[name], torch.randn(3, 4, requires_grad=True)
    got = fusewright.fuse(program)(x)
    for a, b in itertools.combinations(got, 2):
        assert a.data_ptr() != b.data_ptr()
    with torch.no_grad():
        got[0].zero_()
    for a, b in zip(got[1:], program(x)[1:], strict=True):
        assert torch.equal(a, b)
    (got[0].sum() + got[-1].sum()).backward()
    again = x.detach().clone().requires_grad_()
    want = program(again)
    (want[0].sum() + want[-1].sum()).backward()
    assert torch.equal(x.grad, again.grad)


def test_one_result_twice_stays_one() -> None:
    def twice(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x.sort(-1)[0]
        return y, y

    a, b = fusewright.fuse(twice)(torch.randn(5, requires_grad=True))
    assert a.data_ptr() == b.data_ptr()
