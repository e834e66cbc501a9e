"""Norms of 16-bit floats with float32 parameters, as autocast has them on a CPU: statistics are float32 in between."""

import pytest
import torch
import torch.nn.functional as F

import fusewright

NORMS = {
    "layer_norm": lambda x, w, b: F.layer_norm(x, (16,), w, b),
    "layer_norm without bias": lambda x, w, b: F.layer_norm(x, (16,), w) + b,
    "group_norm": lambda x, w, b: F.group_norm(x.permute(0, 2, 1), 4, w, b),
    "batch_norm": lambda x, w, b: F.batch_norm(x.permute(0, 2, 1), None, None, w, b, training=True),
    "instance_norm": lambda x, w, b: F.instance_norm(x.permute(0, 2, 1), weight=w, bias=b),
}
WAYS = {"compile": lambda f: torch.compile(f, backend="fusewright"), "fuse": fusewright.fuse}


def gradients(f, leaves, dtype, g):
    x, w, b = (t.clone().requires_grad_() for t in leaves)
    out = f(x.to(dtype), w, b)
    return [out.detach(), *torch.autograd.grad(out, (x, w, b), g.to(out.dtype))]


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("way", WAYS)
def test_as_accurate_as_eager(way, name, dtype):
    """A mean that is large beside the deviation, rounded to 16 bits, would make another gradient."""
    f = NORMS[name]
    torch.manual_seed(0)
    x = (torch.randn(6, 20, 16) + 30.3).to(dtype).float()
    leaves = [x, torch.rand(16) + 0.5, torch.randn(16)]
    g = torch.randn(f(*leaves).shape).to(dtype)
    exact = gradients(f, [t.double() for t in leaves], torch.float64, g)
    eager, got = gradients(f, leaves, dtype, g), gradients(WAYS[way](f), leaves, dtype, g)
    for a, b, c in zip(got, eager, exact, strict=True):
        assert a.dtype is b.dtype and a.stride() == b.stride()
        error, theirs = ((t.double() - c).abs().max() / c.abs().max() for t in (a, b))
        assert error <= 1.5 * theirs + torch.finfo(dtype).eps


@pytest.mark.parametrize("way", WAYS)
def test_under_autocast_behind_a_convolution(way):
    """What PyTorch's own operators compute of a norm's gradient takes statistics of eager's type."""
    torch.manual_seed(0)
    convolution, norm = torch.nn.Conv2d(3, 16, 2, 2), torch.nn.LayerNorm(16)
    linear = torch.nn.Linear(16, 8)
    model = torch.nn.ModuleList((convolution, norm, linear))

    def f(x, model):
        return model[2](model[1](model[0](x).permute(0, 2, 3, 1)))

    def step(f):
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            out = f(torch.linspace(-1, 1, 2 * 3 * 8 * 8).view(2, 3, 8, 8), model)
        out.float().square().sum().backward()
        return [out, *(p.grad.clone() for p in model.parameters())]

    for got, want in zip(step(WAYS[way](f)), step(f), strict=True):
        assert got.dtype is want.dtype
        torch.testing.assert_close(got, want, rtol=4e-2, atol=4e-2 * want.abs().max().item())
