"""Definitions and executors on a GPU."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright import UserError, define, executors
from tests.support import counted, counters


@pytest.fixture(autouse=True)
def _no_fallbacks():
    torch.manual_seed(0)
    with fusewright.options(fallback=False):
        yield


def norm(dtype: str = "f32"):
    d = define("norm")
    n, m = d.sizes("n m")
    x, w = d.tensor("x", (n, m), dtype), d.tensor("w", (m,), dtype)
    eps = d.scalar("eps", float)
    wide = x.to("f32")
    d.output((wide * d.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)).to(dtype) * w)
    return d


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_sizes_strides_and_scalars(device, dtype):
    d = norm(dtype)
    kind = torch.float32 if dtype == "f32" else torch.bfloat16
    make = lambda *s: torch.randn(*s, device=device).to(kind)
    for n, m in ((64, 256), (3, 7), (1, 1), (33, 1000)):
        d.validate([make(n, m), make(m), 1e-5])
    d.validate([make(65, 40).t(), make(65), 0.5])
    d.validate([make(1, 64).expand(5, 64), make(64), 0.5])
    assert d(make(0, 4), make(4), 1.0).shape == (0, 4)


def test_one_call_after_the_other_compiles_nothing(device):
    d = norm()
    d(torch.randn(64, 256, device=device), torch.randn(256, device=device), 1e-5)
    before = counters()
    for n in (64, 128, 192):
        d(torch.randn(n, 256, device=device), torch.randn(256, device=device), 0.1 * n)
    assert counted(before)["definitions_compiled"] == 0


def test_into_arguments_and_views(device):
    d = define("step")
    p, g = d.tensor("p", "n, m", "f32"), d.tensor("g", "n, m", "f32")
    lr, k, on = d.scalar("lr", float), d.scalar("k", int), d.scalar("on", bool)
    new = d.where(on, p - g * lr, p) + k
    d.output(new, into=p)
    d.output(g.permute(1, 0))
    d.output(p.sum(-1))
    for _ in range(2):
        x, y = torch.randn(40, 70, device=device), torch.randn(40, 70, device=device)
        old, want = x.clone(), x - y * 0.5 + 3
        got, view, total = d(x, y, 0.5, 3, True)
        assert got is x and torch.allclose(x, want, atol=1e-6) and view.data_ptr() == y.data_ptr()
        torch.testing.assert_close(total, old.sum(-1))


def test_gathers_scans_and_argmax(device):
    d = define("mixed")
    x, i = d.tensor("x", "n, m", "f32"), d.tensor("i", "k", "i64")
    d.output(d.take(x, i) * 2)
    d.output(d.scan("sum", x, 1))
    d.output(x.argmax(1))
    d.output(d.pad(x, (1, 0), (0, 2), 7))
    t, at = torch.randn(40, 70, device=device), torch.randint(-40, 40, (9,), device=device)
    a, b, c, e = d(t, at)
    assert torch.equal(a, t[at] * 2) and torch.equal(c, t.argmax(1))
    torch.testing.assert_close(b, t.cumsum(1), rtol=1e-4, atol=1e-4)
    assert torch.equal(e, torch.nn.functional.pad(t, (0, 2, 1, 0), value=7))
    d.validate([t, at])


def test_integers_are_divided_by_anything(device):
    d = define("div")
    x, y = d.tensor("x", "n", "i32"), d.tensor("y", "n", "i32")
    for op in (d.floordiv, d.truncdiv, d.remainder, d.fmod):
        d.output(op(x, y))
    xs = torch.tensor([-(1 << 31), 7, -7, 5], dtype=torch.int32, device=device)
    ys = torch.tensor([-1, 0, 2, -3], dtype=torch.int32, device=device)
    assert [t.tolist() for t in d.validate([xs, ys])] == [
        [-(1 << 31), 0, -4, -2],
        [-(1 << 31), 0, -3, -1],
        [0, 0, 1, -1],
        [0, 0, -1, 2],
    ]


def test_random_numbers(cuda):
    d = define("random")
    x = d.tensor("x", "n, m", "f32")
    d.output(d.random("uniform", x.shape) + x)
    t = torch.zeros(64, 100, device=cuda)
    torch.manual_seed(0)
    a = d(t)
    torch.manual_seed(0)
    assert torch.equal(d(t), a) and not torch.equal(d(t), a)
    d.validate([t])


def test_devices(cuda):
    d = norm()
    x, w = torch.randn(4, 8, device=cuda), torch.randn(8)
    with pytest.raises(UserError, match=r"norm: tensors on different devices: x on cuda:0 and w on cpu"):
        d(x, w, 1e-5)
    for _ in range(2):  # one definition on both
        torch.testing.assert_close(d(x, w.to(cuda), 1e-5).cpu(), d(x.cpu(), w, 1e-5))


def test_executors_beside_kernels(device):
    calls = []

    def mine(x, w, eps):
        calls.append(x.device.type)
        return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps)

    f = lambda x, w: (torch.nn.functional.rms_norm(x.exp() + 1, (8,), w, 1e-5) * 2).sin()
    x, w = torch.randn(64, 8, device=device), torch.randn(8, device=device)
    pattern = define("rms")
    n, m = pattern.sizes("n m")
    a, b, eps = pattern.tensor("a", (n, m), "f32"), pattern.tensor("b", (m,), "f32"), pattern.scalar("eps", float)
    pattern.output(a * pattern.rsqrt((a * a).mean(-1, keepdim=True) + eps) * b)
    with executors.register("mine", pattern, mine):
        torch.testing.assert_close(torch.compile(f, backend="fusewright")(x, w), f(x, w))
    assert calls == [device]


def test_claims_by_device(cuda):
    calls = []
    gelu = lambda name: lambda x, **_: calls.append((name, x.device.type)) or torch.nn.functional.gelu(x)
    op = torch.ops.aten.gelu.default
    with (
        executors.register("gpu", op, gelu("gpu"), devices="cuda"),
        executors.register("cpu", op, gelu("cpu"), devices="cpu"),
    ):
        f = torch.compile(
            lambda x, y: (torch.nn.functional.gelu(x * 2), torch.nn.functional.gelu(y * 2)), backend="fusewright"
        )
        f(torch.randn(4, device=cuda), torch.randn(4))
    assert sorted(calls) == [("cpu", "cpu"), ("gpu", "cuda")]
