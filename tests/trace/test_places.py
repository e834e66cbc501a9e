"""Values read at several places: inlined there when that costs nothing or little, else stored."""

from __future__ import annotations

import pytest
import torch

import fusewright
from tests.support import counted, counters, no_fallbacks, random_tensor


def halves_of_a_sum(x, b):
    i, g = (x + b).chunk(2, -1)
    return i.sigmoid() * g


def pieces_stored_apart(x, b):
    y = x + b
    return y[:, :6].sigmoid() * 2, y[:, 6:] * 2


def one_place_twice(x, b):
    y = x + b
    return y[:, :5].sigmoid() * y[:, :5].tanh()


def gates(x, b):
    i, f, g, o = (x * b + 1).chunk(4, -1)
    c = f.sigmoid() + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def cheap_stencil(x, b):
    y = x * b + 1
    return y[:, 2:] - 2 * y[:, 1:-1] + y[:, :-2]


def dear_pieces(x, b):
    y = torch.erf(x + b).tanh()
    return y[:, :6] * y[:, 6:]


def dear_broadcast(x, b):
    return x * torch.erf(b).tanh()


def dear_stencil(x, b):
    y = torch.erf(x + b).tanh()
    return y[:, 2:] - 2 * y[:, 1:-1] + y[:, :-2]


def dear_windows(x, b):
    return torch.erf(x + b).unfold(1, 4, 1) * 2 + 1


def dear_mirrored(x, b):
    y = torch.erf(x + b).tanh()
    return y + y.flip(1)


def places():
    return torch.arange(300) % 7


def cheap_gather(x, b):
    return (x + b)[places()] * 2


def dear_gather(x, b):
    """An index that is out of range stops the kernel: what is read under that condition is read everywhere."""
    return torch.erf(x + b).tanh()[places()] * 2


ONE = [
    *(halves_of_a_sum, pieces_stored_apart, one_place_twice, gates, cheap_stencil, dear_pieces),
    *(dear_broadcast, cheap_gather),
]
TWO = [dear_stencil, dear_windows, dear_gather]


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("fn", [*ONE, *TWO])
def test_kernels(fn, dynamic):
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="fusewright", dynamic=None if dynamic else False)
    before = counters()
    for n in (7, 40):
        x, b = random_tensor((n, 12)), random_tensor((12,))
        if dynamic:
            torch._dynamo.mark_dynamic(x, 0)
        with no_fallbacks():
            torch.testing.assert_close(compiled(x, b), fn(x, b))
    after = counted(before)
    graphs = after["graphs_traced"]
    assert graphs == (1 if dynamic else 2)
    assert after["groups_formed"] == graphs * (1 if fn in ONE else 2) and after["opaque_calls"] == 0


@pytest.mark.parametrize("fn", [dear_windows, dear_mirrored])
def test_the_reason_says_how_often(fn):
    report = fusewright.explain(fn, random_tensor((6, 12)), random_tensor((12,)))
    assert "would be computed 2.0 times" in str(report) or "would be computed 3.0 times" in str(report)


def shifted(x):
    """Scores of relative positions, as in Transformer-XL: rows move against each other."""
    padded = torch.cat([x.new_zeros(*x.shape[:-1], 1), x], -1).view(*x.shape[:-2], x.shape[-1] + 1, x.shape[-2])
    return padded[..., 1:, :].view(x.shape)


def relative_scores(x, y):
    return torch.softmax((x + shifted(y)) * 0.5, -1)


def heads(x, y):
    """Pieces of an axis that are whole vectors: their number is the same for all lanes."""
    split = (x * 2).view(*x.shape[:-1], -1, 64) * y.view(*y.shape[:-1], -1, 64)
    return torch.softmax(split.view(x.shape), -1)


def test_lanes_do_not_divide_to_spare_a_store():
    torch._dynamo.reset()
    x, y = random_tensor((2, 3, 24, 24)), random_tensor((2, 3, 24, 24))
    with no_fallbacks():
        report = fusewright.explain(relative_scores, x, y)
    (k,) = report.kernels
    assert "//" not in k.algorithm and "lanes would divide to find what" in str(report)
    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(relative_scores, backend="fusewright")(x, y), relative_scores(x, y))


def test_quotients_of_whole_vectors_are_no_reason():
    torch._dynamo.reset()
    x, y = random_tensor((3, 5, 256)), random_tensor((3, 5, 256))
    before = counters()
    torch.testing.assert_close(torch.compile(heads, backend="fusewright")(x, y), heads(x, y))
    assert counted(before)["groups_formed"] == 1 and counted(before)["opaque_calls"] == 0
