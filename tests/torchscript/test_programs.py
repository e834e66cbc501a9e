"""The kinds of programs that TorchScript's own fusers were tested with: scripted and fused agree."""

from __future__ import annotations

import math
from typing import List, NamedTuple, Optional, Tuple  # noqa: UP035  (TorchScript reads these)

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import random_tensor, tensor_with_layout
from tests.torchscript.support import agree, regions, script_of

Tensor = torch.Tensor


def r(*shape, dtype=torch.float32, seed=0):
    return random_tensor(shape, dtype, seed)


# ---- arithmetic on tensors and numbers ----------------------------------------------------------------


def unary(x):
    return (-x).abs().floor() + x.ceil() * x.round() - x.trunc() / 3 + x.sign()


def binary(x, y):
    return x + y * 2 - x / 3.0 + torch.max(x, y) - torch.min(x, y) * (x > y)


def comparisons(x, y):
    return (x == y, x != y, x < y, x >= 2, (x > 0) & (y > 0) | ~(x <= y))


def scalars(x, a: float, k: int, flag: bool):
    return x * a + k - a / k + k // 2 + (k % 3) * (1 - x) + 2 / x + (1 if flag else 0), x + flag


def ternary(x, y):
    z = torch.where(x > 0, x, y)
    return (
        torch.clamp(z, -0.5, 0.5) + torch.clamp(y, min=0.0),
        torch.addcmul(x, y, z, value=0.5),
        x.masked_fill(y > 0, 1.5),
    )


def chunks(x):
    a, b, c = torch.chunk(x, 3, dim=1)
    d, e = x.split([1, x.size(1) - 1], dim=1)
    return a * b + c, d * e


def broadcasts(x, y):
    return (x[:, None] + y[None, :]) * 2 - x.unsqueeze(-1) * y


def concatenated(x, y):
    z = torch.cat([x + 1, y * 2], 1)
    return z * z, torch.stack([x, x * 2])[1:]


def views(x):
    return (
        (x.t() + 1).reshape(-1) * 2,
        x.permute(1, 0)[1:].flatten() - 1,
        x.unsqueeze(0).squeeze(0) * x.view(-1).view_as(x),
    )


def fresh_tensors(x):
    y = torch.zeros(x.size(0), x.size(1), dtype=x.dtype) + torch.tensor([1.0, 2.0, 3.0])
    z = torch.ones_like(x) * torch.tensor(x.size(0)) + torch.arange(x.size(1))
    return y * x, z + torch.full_like(x, 2.5), torch.tensor(x.size(0) / 2) * x


ARITHMETIC = {
    "unary": (unary, lambda: (r(3, 5),), lambda: (r(7),)),
    "binary": (binary, lambda: (r(3, 5), r(3, 5, seed=1)), lambda: (r(), r(4, seed=1))),
    "comparisons": (comparisons, lambda: (r(3, 5), r(3, 5, seed=1))),
    "scalars": (scalars, lambda: (r(3, 5), 2.5, 7, True), lambda: (r(3, 5, dtype=torch.int64) * 2 + 1, 0.1, -3, False)),
    "ternary": (ternary, lambda: (r(3, 5), r(3, 5, seed=1))),
    "chunks": (chunks, lambda: (r(4, 9),), lambda: (r(2, 3),)),
    "broadcasts": (broadcasts, lambda: (r(5), r(4)), lambda: (r(1), r(6))),
    "concatenated": (concatenated, lambda: (r(3, 2), r(3, 4)), lambda: (r(0, 2), r(0, 4))),
    "views": (views, lambda: (r(3, 5),), lambda: (tensor_with_layout("transposed", (4, 3)),)),
    "fresh_tensors": (fresh_tensors, lambda: (r(2, 3),), lambda: (r(5, 3),)),
}


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_has_the_same_bits(name):
    fn, *makers = ARITHMETIC[name]
    fused = agree(torch.jit.script(fn), *makers, bits=True, eager=fn)
    assert script_of(fused).whole


@pytest.mark.every(2)
@pytest.mark.parametrize("layout", ["transposed", "sliced", "expanded", "offset"])
def test_layouts(layout):
    makers = [lambda: (tensor_with_layout(layout, (4, 6)), tensor_with_layout(layout, (4, 6), seed=1))]
    agree(torch.jit.script(binary), *makers, bits=True, grad=layout != "expanded")


@pytest.mark.every(3)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (1, 1), (33,), (5, 17)])
def test_odd_shapes(shape):
    agree(torch.jit.script(binary), lambda: (random_tensor(shape), random_tensor(shape, seed=1)), bits=True)


def test_nan_and_infinities():
    special = lambda: torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0])
    agree(torch.jit.script(binary), lambda: (special(), special().flip(0)), bits=True)
    agree(torch.jit.script(ternary), lambda: (special(), special().flip(0)), bits=True)


# ---- element types ------------------------------------------------------------------------------------


def promoted(x, i, b):
    return x + i, i * 2.5, i / 2, i // 3, (i % 3) + (x > 0), b + 1, b * x, i + b, i.to(x.dtype) - x, 2**i


def casts(x):
    return x.to(torch.float64) * 2, x.half().float() + 1, (x * 2).to(torch.int32), x.type_as(x.double()) + 1


def asks(x):
    if x.dtype == torch.float16:
        x = x.float()
    if x.is_floating_point() and x.dim() == 2:
        return x * 2 + 1, x.dtype, x.device, x.size()
    return x + 1 - x, x.dtype, x.device, x.size()


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_promotion(dtype):
    makers = lambda: (r(3, 5, dtype=dtype), r(3, 5, dtype=torch.int64), r(3, 5, dtype=torch.bool))
    agree(torch.jit.script(promoted), makers, bits=True, eager=promoted)
    agree(torch.jit.script(casts), lambda: (r(3, 5, dtype=dtype),), bits=True, eager=casts)
    agree(torch.jit.script(asks), lambda: (r(3, 5, dtype=dtype),), lambda: (r(4, dtype=torch.int64),), bits=True)


def test_numbers_of_element_types_are_torchscripts():
    """What scripted programs compare, and return, are c10's numbers."""
    script = torch.jit.script(asks)
    fused = fusewright.fuse(script)
    names = "uint8 int8 int16 int32 int64 float16 float32 float64 bool bfloat16 complex64"
    for dtype in (getattr(torch, n) for n in names.split()):
        x = torch.zeros(2, dtype=dtype)
        if dtype is not torch.bool:
            assert fused(x)[1] == script(x)[1]


# ---- reductions and what is made of them --------------------------------------------------------------


def reductions(x):
    return x.sum(0) / x.size(0), x.mean([0, 1], True) * 2, x.var(1), x.argmax(-1) + 1, x.max(1)[0] * 2, x.sum() + 1


def softmax(x, dim: int):
    return F.softmax(x, dim) * 2, F.log_softmax(x + 1, dim, dtype=torch.float64)


def layer_norm(x, w, b):
    return F.layer_norm(x, [x.size(-1)], w, b, 1e-5) * 2 + x


def batch_norm(x, mean, var, training: bool):
    return F.batch_norm(x * 2, mean, var, None, None, training, 0.1, 1e-5).relu()


def losses(x, t):
    return F.cross_entropy(x * 2, t) + F.mse_loss(x, x * 0.5) + F.smooth_l1_loss(x, x.detach() + 1)


def masked_attention(q, k, v):
    scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    mask = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool).tril()
    return F.softmax(scores.masked_fill(~mask, float("-inf")), -1) @ v


REDUCTIONS = {
    "reductions": (reductions, lambda: (r(5, 4),), lambda: (r(2, 9),)),
    "softmax": (softmax, lambda: (r(4, 5), 1), lambda: (r(4, 5), 0), lambda: (r(2, 3, 4), -1)),
    "layer_norm": (layer_norm, lambda: (r(4, 5), r(5), r(5, seed=1)), lambda: (r(2, 3, 8), r(8), r(8, seed=1))),
    "losses": (
        losses,
        lambda: (r(5, 4), torch.tensor([0, 1, 2, 3, 1])),
    ),
    "masked_attention": (masked_attention, lambda: (r(2, 5, 4), r(2, 5, 4, seed=1), r(2, 5, 4, seed=2))),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    fn, *makers = REDUCTIONS[name]
    agree(torch.jit.script(fn), *makers, eager=fn)


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_updates_its_statistics(training):
    makers = [lambda: (r(4, 3, 5), torch.zeros(3), torch.ones(3), training)]
    fused = agree(torch.jit.script(batch_norm), *makers, grad=False, eager=batch_norm)
    assert script_of(fused).whole


# ---- recurrent cells ----------------------------------------------------------------------------------


def lstm_cell(x, hx, cx, w_ih, w_hh, b_ih, b_hh):
    gates = torch.mm(x, w_ih.t()) + torch.mm(hx, w_hh.t()) + b_ih + b_hh
    i, f, g, o = gates.chunk(4, 1)
    cy = (f.sigmoid() * cx) + (i.sigmoid() * g.tanh())
    return o.sigmoid() * cy.tanh(), cy


def milstm_cell(x, hx, cx, w_ih, w_hh, alpha, beta_i, beta_h, bias):
    wx, uz = x.mm(w_ih.t()), hx.mm(w_hh.t())
    i, f, c, o = (alpha * wx * uz + beta_i * wx + beta_h * uz + bias).chunk(4, 1)
    cy = (f.sigmoid() * cx) + (i.sigmoid() * c.tanh())
    return o.sigmoid() * cy.tanh(), cy


def rnn(x, h, w, u):
    outs = []
    for t in range(x.size(0)):
        h = torch.tanh(x[t] @ w + h @ u)
        outs.append(h)
    return torch.stack(outs), h


def test_recurrent_cells():
    def lstm():
        return r(3, 10), r(3, 20), r(3, 20, seed=1), r(80, 10), r(80, 20), r(80), r(80, seed=1)

    def milstm():
        return r(3, 10), r(3, 20), r(3, 20, seed=1), r(80, 10), r(80, 20), *(r(80, seed=k) for k in range(4))

    for fn, make in ((lstm_cell, lstm), (milstm_cell, milstm)):
        assert script_of(agree(torch.jit.script(fn), make)).whole


def test_a_recurrent_network_of_any_length_is_traced_once():
    """The body of the loop is one fused function: new lengths compile nothing, but a first and a second trip."""
    scripted = torch.jit.script(rnn)
    make = lambda n: lambda: (r(n, 2, 3), r(2, 4), r(3, 4), r(4, 4))
    fused = agree(scripted, make(5))
    assert regions(fused) == 1
    fused(*make(4)())
    before = fusewright.counters()["fuse_traces"]
    for n in (2, 3, 9, 30):
        torch.testing.assert_close(fused(*make(n)()), scripted(*make(n)()))
    assert fusewright.counters()["fuse_traces"] == before


# ---- random numbers -----------------------------------------------------------------------------------


def dropout(x, p: float, training: bool):
    return F.dropout(x * 2, p, training) + 1


def noise(x):
    return x + torch.rand_like(x) * 2 + torch.randn(x.size(0), 1)


@pytest.mark.parametrize("p, training", [(0.3, True), (0.3, False), (0.0, True), (1.0, True)])
def test_dropout(p, training):
    agree(torch.jit.script(dropout), lambda: (r(5, 7), p, training), bits=True, eager=dropout)


def test_dropout_with_a_bad_probability_raises_as_scripted():
    agree(torch.jit.script(dropout), lambda: (r(5, 7), 1.3, True))


def test_random_numbers_are_eagers_if_asked():
    agree(torch.jit.script(noise), lambda: (r(5, 7),), bits=True)


def test_random_numbers_of_our_own_are_reproduced_by_the_seed():
    fused, x = fusewright.fuse(torch.jit.script(noise)), r(5, 7)
    first, again = (torch.manual_seed(3), fused(x))[1], (torch.manual_seed(3), fused(x))[1]
    assert torch.equal(first, again) and not torch.equal(first, fused(x))


# ---- sizes that change --------------------------------------------------------------------------------


def reshaped(x, y):
    return (x.reshape(-1, x.size(0)) * 2 + y[: x.size(0)]).relu() + x.size(1) * 0.5


def test_changing_sizes_share_a_trace():
    scripted = torch.jit.script(reshaped)
    fused = fusewright.fuse(scripted)
    before = fusewright.counters()["fuse_traces"]
    for n, m in ((3, 4), (5, 7), (2, 3), (9, 30)):
        x, y = r(n, m), r(40)
        assert torch.equal(fused(x, y), scripted(x, y))
    assert fusewright.counters()["fuse_traces"] == before + 1


def any_rank(x, y):
    return (x + y) * 2 - x.sum(-1, True)


def test_changing_ranks():
    """What a profile once saw is nothing to rely on: every rank is traced for itself."""
    makers = [lambda shape=shape: (random_tensor(shape), random_tensor(shape[-1:], seed=1)) for shape in ((4,), (3, 4))]
    agree(torch.jit.script(any_rank), *makers, lambda: (r(2, 3, 4), r(4)), lambda: (r(2, 1, 1, 4), r(4)))


# ---- containers ---------------------------------------------------------------------------------------


class Pair(NamedTuple):
    a: Tensor
    b: float


def named(p: Pair, x):
    y = p.a * x
    return Pair(y * p.b + 1, p.b * 2), (y, [y, x])


def optional(x, y: Optional[Tensor], s: Optional[float] = None):  # noqa: UP045
    if y is not None:
        x = x + y
    if s is not None:
        x = x * s
    return x * 2 - 1


def unpacked(pair: Tuple[Tensor, int], xs: List[Tensor]):  # noqa: UP006
    x, k = pair
    first, second = xs
    return [x * k + first, second - x], {"sum": first + second, "k": torch.tensor(k)}


def test_tuples_lists_dictionaries_and_none():
    agree(torch.jit.script(named), lambda: (Pair(r(3), 2.5), r(3, seed=1)), bits=True)
    makers = [lambda: (r(3), None), lambda: (r(3), r(3, seed=1)), lambda: (r(3), r(3, seed=1), 2.0)]
    agree(torch.jit.script(optional), *makers, bits=True, eager=optional)
    agree(torch.jit.script(unpacked), lambda: ((r(3), 4), [r(3, seed=1), r(3, seed=2)]), bits=True, eager=unpacked)


# ---- traced programs ----------------------------------------------------------------------------------


def sizes_as_tensors(x):
    b, t, c = x.shape
    y = x.view(b * t, c // 2, 2) * 2
    return y.reshape(-1, 2) + torch.arange(2, dtype=x.dtype), y * x.size(0) - 1


def test_traced_functions_keep_their_sizes_symbolic():
    """A traced graph computes with sizes as tensors; its example's sizes must not become ours."""
    traced = torch.jit.trace(sizes_as_tensors, r(2, 3, 4))
    makers = [lambda shape=shape: (random_tensor(shape),) for shape in ((2, 3, 4), (5, 6, 8), (1, 3, 2))]
    fused = agree(traced, *makers, bits=True, eager=sizes_as_tensors)
    assert script_of(fused).whole


def test_constants_of_traced_functions_are_shared_tensors():
    table = r(4)
    traced = torch.jit.trace(lambda x: (x + table) * 2, r(4))
    agree(traced, lambda: (r(4),), lambda: (r(3, 4),), bits=True)
