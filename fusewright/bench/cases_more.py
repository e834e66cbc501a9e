"""More programs of models, in shapes that no heuristic was tuned on: forward, and forward + backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F

from fusewright.bench import cases_gpu as g
from fusewright.bench.cases import Case, Tensors, bias_drop_add_norm, layer_norm, rms_norm, rows, softmax

BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32
TINY = (6, 40)
Program = Callable[..., object]
Make = Callable[[str, bool], Tensors]


def masked_softmax(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * 0.125 + mask, -1)


def add_rms_norm(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor) -> Tensors:
    y = x + r
    return y, rms_norm(y, w)


def layer_norm_gelu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.gelu(layer_norm(x, w, b))


def group_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.group_norm(x, min(32, x.shape[1]), w, b)


def batch_norm_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.relu(F.batch_norm(x, None, None, w, b, True))


def swiglu(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def geglu(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return F.gelu(a) * b


def rope_pairs(x: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of neighbouring pairs; x: (batch, tokens, heads, width)."""
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    c, s = c[:, None], s[:, None]
    return torch.stack((even * c - odd * s, even * s + odd * c), -1).flatten(-2).to(x.dtype)


def kl(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.kl_div(F.log_softmax(x.float(), -1), F.log_softmax(y.float(), -1), reduction="batchmean", log_target=True)


def embed(words: torch.Tensor, ids: torch.Tensor, places: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> object:
    return layer_norm(F.embedding(ids, words) + places, w, b)


def smoothed(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x.float(), target, label_smoothing=0.1)


def _embed(device: str, quick: bool) -> Tensors:
    n, batch, tokens, width = (50, 2, 4, 16) if quick else (50304, 48, 700, 768)
    words, places = (torch.randn(k, width, device=device, dtype=BF16) for k in (n, tokens))
    w, b = (torch.randn(width, device=device, dtype=BF16) for _ in range(2))
    return words, torch.randint(0, n, (batch, tokens), device=device), places, w, b


def _mask(device: str, quick: bool) -> Tensors:
    b, h, n = (2, 2, 16) if quick else (12, 20, 1000)
    mask = torch.full((n, n), -1e4, device=device, dtype=BF16).triu(1)
    return torch.randn(b, h, n, n, device=device, dtype=BF16), mask


def _pairs(device: str, quick: bool) -> Tensors:
    b, t, h, n = (2, 4, 2, 8) if quick else (6, 3000, 24, 96)
    c = torch.randn(t, n // 2, device=device)
    return torch.randn(b, t, h, n, device=device, dtype=BF16), c, c.sin()


def _channels_last(make: Make) -> Make:
    def made(device: str, quick: bool) -> Tensors:
        x, *rest = make(device, quick)
        return (x.to(memory_format=torch.channels_last), *rest)

    return made


def _forward() -> Iterator[tuple[str, Program, Make]]:
    """(name, program, inputs)"""
    images = (3, 32, 4, 4)

    def vectors(n: int, *shape: int, dtype: torch.dtype = BF16, axis: int = -1, big: int = 1) -> Make:
        return rows(shape, images if len(shape) == 4 else TINY, big=big, vectors=n, axis=axis, dtype=dtype)

    yield "log softmax 10000x2048 bf16", lambda x: F.log_softmax(x, -1), vectors(0, 10000, 2048)
    yield "log softmax 200000x250 f32", lambda x: F.log_softmax(x, -1), vectors(0, 200_000, 250, dtype=F32)
    yield "masked softmax 12x20x1000x1000 bf16", masked_softmax, _mask
    yield "add + RMS norm 12000x5120 bf16", add_rms_norm, vectors(1, 12000, 5120, big=2)
    yield "RMS norm written out 24576x2304 bf16", rms_norm, vectors(1, 24576, 2304)
    yield "layer norm 150528x192 f16", layer_norm, vectors(2, 150_528, 192, dtype=F16)
    yield "layer norm + gelu 50176x384 bf16", layer_norm_gelu, vectors(2, 50176, 384)
    yield "layer norm 3000x12288 f32", layer_norm, vectors(2, 3000, 12288, dtype=F32)
    yield "group norm 8x512x32x32 bf16", group_norm, vectors(2, 8, 512, 32, 32, axis=1)
    yield "group norm + silu 4x128x256x256 bf16", g.group_norm_silu, vectors(2, 4, 128, 256, 256, axis=1)
    last = _channels_last(vectors(2, 16, 256, 64, 64, axis=1))
    yield "group norm + silu 16x256x64x64 channels last bf16", g.group_norm_silu, last
    yield "instance norm 16x64x128x128 f32", lambda x: F.instance_norm(x), vectors(0, 16, 64, 128, 128, dtype=F32)
    yield "batch norm + relu 100x64x112x112 bf16", batch_norm_relu, vectors(2, 100, 64, 112, 112, axis=1)
    yield "batch norm + relu 200x512x14x14 f32", batch_norm_relu, vectors(2, 200, 512, 14, 14, axis=1, dtype=F32)
    last = _channels_last(vectors(2, 64, 256, 28, 28, axis=1, dtype=F32))
    yield "batch norm + relu 64x256x28x28 channels last f32", batch_norm_relu, last
    yield "batch norm 100000x256 f32", g.batch_norm, rows((100_000, 256), TINY, vectors=2, axis=1)
    yield "normalize 150000x384 f32", lambda x: F.normalize(x, dim=-1), vectors(0, 150_000, 384, dtype=F32)
    cosine = vectors(0, 65536, 700, dtype=F32, big=2)
    yield "cosine similarity 65536x700 f32", lambda x, y: F.cosine_similarity(x, y, -1), cosine
    yield "cross-entropy 20000x32000 bf16", g.cross_entropy, g._classes(20000, 32000)
    yield "smoothed cross-entropy 8192x50304 bf16", smoothed, g._classes(8192, 50304)
    yield "cross-entropy 100000x1000 bf16", g.cross_entropy, g._classes(100_000, 1000)
    yield "KL divergence 4096x32000 bf16", kl, vectors(0, 4096, 32000, big=2)
    yield "mean squared error 50M f32", F.mse_loss, rows((50_000_000,), (37,), big=2)
    yield "swiglu 9000x22016 bf16", swiglu, vectors(0, 9000, 22016)
    yield "geglu 20000x5120 f16", geglu, vectors(0, 20000, 5120, dtype=F16)
    yield "rotary pairs 6x3000x24x96 bf16", rope_pairs, _pairs
    heads = vectors(0, 16, 12, 1500, 64)
    yield "heads 16x12x1500x64 to tokens bf16", lambda x: x.transpose(1, 2).contiguous(), heads
    nchw = vectors(0, 40, 192, 56, 56)
    yield "NCHW 40x192x56x56 to NHWC bf16", lambda x: x.permute(0, 2, 3, 1).contiguous(), nchw
    yield "mean over 64x2048x14x14 f32", lambda x: x.mean((2, 3)), vectors(0, 64, 2048, 14, 14, dtype=F32)
    yield "sum dim 1 of 60x1500x768 bf16", lambda x: x.sum(1), rows((60, 1500, 768), (2, 5, 8), dtype=BF16)
    yield "amax 70000x1500 bf16", lambda x: x.amax(-1), vectors(0, 70000, 1500)
    yield "argmax 4096x50304 bf16", lambda x: x.argmax(-1), vectors(0, 4096, 50304)
    yield "std 8192x10000 f32", lambda x: x.std(-1), vectors(0, 8192, 10000, dtype=F32)
    yield "cumulative sum 10000x4096 f32", lambda x: x.cumsum(-1), vectors(0, 10000, 4096, dtype=F32)
    yield "pad 500x3x224x224 f32", lambda x: F.pad(x, (4, 4, 4, 4)), vectors(0, 500, 3, 224, 224, dtype=F32)
    yield "embedding + place + layer norm 48x700x768 bf16", embed, _embed


def _training() -> Iterator[Case]:
    forms = {"layer norm": layer_norm, "layer norm written out": g.layer_norm_written_out}
    forms["RMS norm written out"] = g.rms_norm_written_out
    for size, dtype in (((16, 200, 768), F32), ((8, 1000, 4096), BF16), ((128, 64, 512), F32), ((4, 2048, 2560), BF16)):
        block = rows(size, (4, 8, 64), big=2, vectors=3, dtype=dtype)
        for name, norm in forms.items():
            made, plain = (bias_drop_add_norm(p, True, norm) for p in (0.1, 0.0))
            grads = (0, 1, 2, 3) if "RMS" in name else (0, 1, 2, 3, 4)
            title = f"bias-drop-add-{name} [{','.join(map(str, size))}] {str(dtype)[6:]}"
            yield Case(f"{title} fwd+bwd", "gpu-more", made, block, 8, grads, plain, dropout=True)

    def case(name: str, fn: Callable, make: Make, large: float, *grads: int) -> Case:
        return Case(f"{name} fwd+bwd", "gpu-more", fn, make, large, grads)

    def one(n: int, *shape: int, dtype: torch.dtype = BF16, axis: int = -1) -> Make:
        return rows(shape, (3, 32, 4, 4) if len(shape) == 4 else TINY, vectors=n, axis=axis, dtype=dtype)

    yield case("softmax 16000x2000 bf16", softmax, one(0, 16000, 2000), 5, 0)
    yield case("RMS norm 12000x5120 bf16", g.rms_norm, one(1, 12000, 5120), 5, 0, 1)
    yield case("layer norm 40000x768 f32", layer_norm, one(2, 40000, 768, dtype=F32), 5, 0, 1, 2)
    yield case("swiglu 9000x22016 bf16", swiglu, one(0, 9000, 22016), 4, 0)
    yield case("cross-entropy 8192x32000 bf16", g.cross_entropy, g._classes(8192, 32000), 3, 0)
    yield case(
        "batch norm + relu 64x128x56x56 f32", batch_norm_relu, one(2, 64, 128, 56, 56, dtype=F32, axis=1), 8, 0, 1, 2
    )
    yield case("group norm + silu 8x320x64x64 bf16", g.group_norm_silu, one(2, 8, 320, 64, 64, axis=1), 6, 0, 1, 2)


def more() -> Iterator[Case]:
    for name, fn, make in _forward():
        yield Case(name, "gpu-more", fn, make, 0)  # type: ignore[arg-type]
    yield from _training()


MORE_CASES: tuple[Case, ...] = tuple(more())
