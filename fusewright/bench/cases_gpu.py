"""Memory-bound programs for GPUs: one kernel each, ideally; and the tutorial block, forward and backward.

The ideal traffic is every input and output once; of an embedding's table, the rows that are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F

from fusewright.bench.cases import Case, Tensors, bias_drop_add_norm, layer_norm, rows, softmax

BF16, F32 = torch.bfloat16, torch.float32
LONG = ((32768, 1024), (32768, 4096), (16384, 8192), (8192, 32768), (2048, 131072))


def bias_gelu(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.gelu(x + b)


def silu_mul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.silu(x) * y


def outer_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x + y).to(BF16)


def rms_norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), w, 1e-6)


def cross_entropy(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x.float(), target)


def batch_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.batch_norm(x, None, None, w, b, True)


def group_norm_silu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.silu(F.group_norm(x, min(32, x.shape[1]), w, b))


def rope(q: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """Rotary position embedding."""
    h = q.shape[-1] // 2
    turned = torch.cat((-q[..., h:], q[..., :h]), -1)
    return (q * c + turned * s).to(q.dtype)


def embedding(w: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    return F.embedding(i, w) * 2.0


def layer_norm_backward(
    g: torch.Tensor, x: torch.Tensor, w: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> Tensors:
    """The gradients of layer norm, written out."""
    xh = (x.float() - mean) * rstd
    gw = g.float() * w.float()
    dx = (gw - gw.mean(-1, keepdim=True) - xh * (gw * xh).mean(-1, keepdim=True)) * rstd
    return dx.to(x.dtype), (g.float() * xh).sum(0).to(w.dtype), g.float().sum(0).to(w.dtype)


def layer_norm_written_out(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(-1, keepdim=True)
    return w * (centred / torch.sqrt(variance + 1e-12)) + b


def rms_norm_written_out(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    square = x.mul(x).mean(-1, keepdim=True)
    return w * (x / torch.sqrt(square + 1e-12))


def _shapes(
    *shapes: tuple[int, ...], dtype: torch.dtype = BF16, small: tuple[tuple[int, ...], ...]
) -> Callable[[str, bool], Tensors]:
    """Random tensors of these shapes (of `small` when quick)."""

    def make(device: str, quick: bool) -> Tensors:
        return tuple(torch.randn(s, device=device, dtype=dtype) for s in (small if quick else shapes))

    return make


def _classes(n: int, m: int) -> Callable[[str, bool], Tensors]:
    def make(device: str, quick: bool) -> Tensors:
        a, b = (8, 100) if quick else (n, m)
        return torch.randn(a, b, device=device, dtype=BF16), torch.randint(0, b, (a,), device=device)

    return make


def _heads(*size: int, dtype: torch.dtype = BF16) -> Callable[[str, bool], Tensors]:
    """Queries of a rotary embedding (batch, heads, tokens, width), and its tables."""

    def make(device: str, quick: bool) -> Tensors:
        shape = (2, 2, 8, 16) if quick else size
        c = torch.randn(shape[-2:], device=device)
        return torch.randn(shape, device=device, dtype=dtype), c, c.sin()

    return make


def _words(n: int, m: int, k: int, dtype: torch.dtype = BF16) -> Callable[[str, bool], Tensors]:
    """A table of n rows of m, and k indices."""

    def make(device: str, quick: bool) -> Tensors:
        a, b, c = (64, 32, 50) if quick else (n, m, k)
        return torch.randn(a, b, device=device, dtype=dtype), torch.randint(0, a, (c,), device=device)

    return make


def _norm_gradient(n: int, m: int, dtype: torch.dtype = BF16) -> Callable[[str, bool], Tensors]:
    """What the backward pass of a layer norm of n rows of m reads."""

    def make(device: str, quick: bool) -> Tensors:
        a, b = (16, 64) if quick else (n, m)
        g, x = (torch.randn(a, b, device=device, dtype=dtype) for _ in range(2))
        f = x.float()
        rstd = f.var(-1, keepdim=True).add(1e-5).rsqrt()
        return g, x, torch.randn(b, device=device, dtype=dtype), f.mean(-1, keepdim=True), rstd

    return make


def micro() -> Iterator[Case]:
    """One kernel each."""
    tiny = (16, 64)

    def case(name: str, fn: Callable, make: Callable[[str, bool], Tensors], read: float = 1.0) -> Case:
        return Case(name, "gpu", fn, make, 0, first=read)

    yield case("bias+gelu 16384x4096 bf16", bias_gelu, rows((16384, 4096), tiny, vectors=1, dtype=BF16))
    yield case("silu*mul 16384x8192 bf16", silu_mul, rows((16384, 8192), tiny, big=2, dtype=BF16))
    wide = _shapes((16, 1, 128, 1024), (16, 128, 1, 1024), dtype=F32, small=((2, 1, 4, 16), (2, 4, 1, 16)))
    yield case("outer add 16x128x128x1024 f32 to bf16", outer_add, wide)
    for n, m in LONG:
        yield case(f"softmax {n}x{m} bf16", softmax, rows((n, m), tiny, dtype=BF16))
    for n, m in LONG:
        yield case(f"rmsnorm {n}x{m} bf16", rms_norm, rows((n, m), tiny, vectors=1, dtype=BF16))
    for n, m in ((65536, 768), (32768, 4096), (8192, 16384)):
        yield case(f"layernorm {n}x{m} bf16", layer_norm, rows((n, m), tiny, vectors=2, dtype=BF16))
    for n, m in ((8192, 32768), (4096, 128256)):
        yield case(f"cross-entropy {n}x{m} bf16", cross_entropy, _classes(n, m))
    yield case("sum all 16384x8192 f32", lambda x: x.sum(), rows((16384, 8192), tiny))
    yield case("sum dim 0 32768x4096 bf16", lambda x: x.sum(0), rows((32768, 4096), tiny, dtype=BF16))
    yield case("sum dim 1 4096x32768 bf16", lambda x: x.sum(1), rows((4096, 32768), tiny, dtype=BF16))
    middle = rows((32, 4096, 1024), (2, 8, 16))
    yield case("var_mean dim 1 32x4096x1024 f32", lambda x: torch.var_mean(x, 1), middle)
    images = rows((64, 256, 56, 56), (2, 4, 8, 8), vectors=2, axis=1)
    yield case("batchnorm training 64x256x56x56 f32", batch_norm, images)
    images = rows((16, 320, 64, 64), (2, 32, 4, 4), vectors=2, axis=1, dtype=BF16)
    yield case("groupnorm+silu 16x320x64x64 bf16", group_norm_silu, images)
    yield case("transpose 16384x8192 bf16", lambda x: x.t().contiguous(), rows((16384, 8192), tiny, dtype=BF16))
    yield case("transpose+add 8192x8192 f32", lambda x, y: x.t() + y, rows((8192, 8192), (32, 32), big=2))
    three = rows((16384, 2048), tiny, big=3, dtype=BF16)
    yield case("cat of 3 + relu 16384x2048 bf16", lambda a, b, c: torch.cat([a, b, c], 1).relu(), three)
    yield case("rope 8x32x4096x128 bf16", rope, _heads(8, 32, 4096, 128))
    yield case("embedding*2 65536 rows of 1024 bf16", embedding, _words(131072, 1024, 65536), read=0.5)
    yield case("layernorm backward 32768x4096 bf16", layer_norm_backward, _norm_gradient(32768, 4096))


def tutorial() -> Iterator[Case]:
    """The block in three forms, float32 and bfloat16, and a large one."""
    forms = {
        "layer_norm": layer_norm,
        "layer norm written out": layer_norm_written_out,
        "RMS norm written out": rms_norm_written_out,
    }
    for dtype in (F32, BF16):
        for size in ((64, 128, 1024), (64, 512, 4096)):
            block = rows(size, (4, 8, 64), big=2, vectors=3, dtype=dtype)
            for name, norm in forms.items():
                title = f"bias-drop-add-{name} [{','.join(map(str, size))}] {str(dtype)[6:]} fwd+bwd"
                grads = (0, 1, 2, 3) if "RMS" in name else (0, 1, 2, 3, 4)
                made, plain = (bias_drop_add_norm(p, True, norm) for p in (0.1, 0.0))
                yield Case(title, "gpu-train", made, block, 8, grads, plain, dropout=True)


GPU_CASES: tuple[Case, ...] = (*micro(), *tutorial())
