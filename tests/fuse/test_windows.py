"""Quotients and remainders of sizes: expressions stay short, and traces as general as they can be."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.trace.sizes import Env
from tests.support import counted, counters, random_tensor

LONGEST = 400  # characters of an expression that is evaluated; without an end to traces they have thousands


def windows(x, w=4):
    """Attention in windows of a picture that is padded to a whole number of them."""
    b, h, v, c = x.shape
    x = F.pad(x, (0, 0, 0, (w - v % w) % w, 0, (w - h % w) % w))
    _, hp, vp, _ = x.shape
    y = x.view(b, hp // w, w, vp // w, w, c).transpose(2, 3).contiguous().view(-1, w * w, c)
    y = torch.softmax(y @ y.transpose(1, 2), -1) @ y
    y = y.view(-1, hp // w, vp // w, w, w, c).transpose(2, 3).contiguous().view(-1, hp, vp, c)
    return y[:, :h, :v].contiguous().view(b, h * v, c).tanh()


def later(x):
    """Two halvings, each of a size that is known to be even only there."""
    for _ in range(2):
        if x.shape[1] % 2:
            x = F.pad(x, (0, 0, 0, 1))
        x = torch.cat([x[:, 0::2], x[:, 1::2]], -1).relu()
    return x.flatten(0, 1).softmax(-1)


@pytest.fixture
def evaluated(monkeypatch):
    """The lengths of the expressions that traces evaluate."""
    lengths = [0]
    plain = Env.evaluate_expr

    def evaluate_expr(self, e, *args, **kwargs):
        out = plain(self, e, *args, **kwargs)
        lengths.append(len(str(e)))
        return out

    monkeypatch.setattr(Env, "evaluate_expr", evaluate_expr)
    return lengths


def check(fused, fn, x, *others):
    x = x.requires_grad_()
    got, want = fused(x, *others), fn(x, *others)
    torch.testing.assert_close(got, want)
    found, wanted = (torch.autograd.grad(r.square().sum(), x)[0] for r in (got, want))
    torch.testing.assert_close(found, wanted, atol=2e-6, rtol=2e-5)


@pytest.mark.parametrize("given", [(), (4,)])
def test_windows_of_padded_pictures(evaluated, given):
    fused, before = fusewright.fuse(windows), counters()
    for shape in ((2, 16, 12, 5), (3, 20, 8, 6)):  # whole windows
        check(fused, windows, random_tensor(shape), *given)
    assert counted(before)["fuse_traces"] == 1
    for shape in ((2, 17, 12, 5), (3, 17, 20, 4)):  # no whole number of windows: a trace for this size
        check(fused, windows, random_tensor(shape), *given)
    assert counted(before)["fuse_traces"] == 2
    check(fused, windows, random_tensor((2, 3, 6, 5)), *given)
    assert counted(before)["fuse_traces"] == 3
    assert counted(before)["fallbacks"] == counted(before)["fuse_declined"] == 0
    assert max(evaluated) < LONGEST


def test_integer_arguments_that_are_divided_by():
    fused, before = fusewright.fuse(windows), counters()
    for w in (4, 3, 4):
        check(fused, windows, random_tensor((2, 12, 24, 5)), w)
    assert counted(before)["fuse_traces"] == 2


def test_a_size_is_halved_as_often_as_it_is_seen_to_be_even():
    fused, before = fusewright.fuse(later), counters()
    for n in (16, 8, 40, 10, 9):
        check(fused, later, random_tensor((3, n, 5)))
    assert counted(before)["fuse_declined"] == 0
    assert max(f for p in next(iter(fused._fusewright.plans.values())) for f in p.entry.captured.factors) == 4


def test_what_catches_the_end_of_a_trace():
    def fn(x):
        try:
            whole = x.shape[0] % 3 == 0
        except Exception:
            whole = False
        return x.view(3, -1).softmax(0) if whole else x.relu()

    fused = fusewright.fuse(fn)
    for n in (12, 9, 7, 3):
        check(fused, fn, random_tensor((n,)))
