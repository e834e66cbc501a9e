"""More models for `models.py`: images, masks, a U-Net, experts, and a state-space model written out.

Each is a module whose forward takes the batch's tensors and returns a loss. Convolutions are in channels-last memory;
those with `autocast` have float32 parameters and run under bfloat16 autocast, as such models are trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Bottleneck(nn.Module):
    def __init__(self, c: int, middle: int, out: int, stride: int):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(c, middle, 1, bias=False), nn.BatchNorm2d(middle)
        self.conv2 = nn.Conv2d(middle, middle, 3, stride, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(middle)
        self.conv3, self.norm3 = nn.Conv2d(middle, out, 1, bias=False), nn.BatchNorm2d(out)
        same = stride == 1 and c == out
        self.short = None if same else nn.Sequential(nn.Conv2d(c, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        y = F.relu(self.norm2(self.conv2(y)))
        return F.relu(self.norm3(self.conv3(y)) + (x if self.short is None else self.short(x)))


class ResNet(nn.Module):
    """ResNet-50 for layers (3, 4, 6, 3) and width 64."""

    def __init__(self, layers: tuple[int, ...] = (3, 4, 6, 3), width: int = 64, classes: int = 1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width))
        blocks, c = [], width
        for k, n in enumerate(layers):
            for j in range(n):
                middle = width * 2**k
                blocks.append(Bottleneck(c, middle, 4 * middle, 2 if j == 0 and k else 1))
                c = 4 * middle
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(c, classes)

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        with torch.autocast(images.device.type, torch.bfloat16):
            x = self.blocks(F.max_pool2d(F.relu(self.stem(images)), 3, 2, 1))
            return F.cross_entropy(self.head(x.mean((2, 3))), labels, label_smoothing=0.1)


class Layer(nn.Module):
    """A transformer layer, norm first, with a mask of keys, dropout, and layer scale if `scale`."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0, scale: bool = False):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scales = nn.ParameterList(nn.Parameter(torch.full((width,), 0.1)) for _ in range(2 if scale else 0))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(b, t, c)
        y = F.dropout(self.out(y), self.dropout, self.training)
        x = x + (y * self.scales[0] if self.scales else y)
        y = F.dropout(self.down(F.gelu(self.up(self.norm2(x)))), self.dropout, self.training)
        return x + (y * self.scales[1] if self.scales else y)


class ViT(nn.Module):
    def __init__(self, layers: int = 12, width: int = 768, heads: int = 12, size: int = 224, patch: int = 16):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(torch.zeros(1, 1, width))
        self.place = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.layers = nn.ModuleList(Layer(width, heads, scale=True) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, images: Tensor, labels: Tensor) -> Tensor:
        with torch.autocast(images.device.type, torch.bfloat16):
            x = self.patches(images).flatten(2).transpose(1, 2)
            x = torch.cat((self.first.expand(x.shape[0], -1, -1), x), 1) + self.place
            for layer in self.layers:
                x = layer(x)
            return F.cross_entropy(self.head(self.norm(x)[:, 0]), labels)


class Bert(nn.Module):
    """Masked language modelling of padded batches."""

    def __init__(self, layers: int = 12, width: int = 768, heads: int = 12, vocabulary: int = 30522, tokens: int = 512):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Layer(width, heads, 0.1) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, vocabulary))

    def forward(self, tokens: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
        with torch.autocast(tokens.device.type, torch.bfloat16):
            where = torch.arange(tokens.shape[1], device=tokens.device)
            mask = (where[None] < lengths[:, None])[:, None, None, :]
            x = F.dropout(self.norm(self.token(tokens) + self.place(where)), 0.1, self.training)
            for layer in self.layers:
                x = layer(x, mask)
            return F.cross_entropy(self.head(x).flatten(0, 1), labels.flatten(), ignore_index=-100)


class Residual(nn.Module):
    """A residual block of a diffusion model: group norms, and a shift by the time step."""

    def __init__(self, c: int, out: int, time: int):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, c), nn.Conv2d(c, out, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(32, out), nn.Conv2d(out, out, 3, padding=1)
        self.time = nn.Linear(time, 2 * out)
        self.short = nn.Conv2d(c, out, 1) if c != out else nn.Identity()

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        scale, shift = self.time(F.silu(t))[:, :, None, None].chunk(2, 1)
        y = self.conv1(F.silu(self.norm1(x)))
        y = self.conv2(F.silu(self.norm2(y) * (1 + scale) + shift))
        return y + self.short(x)


class UNet(nn.Module):
    """Learns the noise that was added to images."""

    def __init__(self, width: int = 128, time: int = 512, levels: tuple[int, ...] = (1, 2, 4)):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(), nn.Linear(time, time))
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)
        wide = [width * n for n in levels]
        self.down = nn.ModuleList(Residual(a, b, time) for a, b in zip([width, *wide], wide, strict=False))
        self.middle = Residual(wide[-1], wide[-1], time)
        pairs = zip(wide[::-1], [*wide[-2::-1], width], strict=True)
        self.up = nn.ModuleList(Residual(2 * a, b, time) for a, b in pairs)
        self.norm = nn.GroupNorm(32, width)
        self.width = width

    def forward(self, images: Tensor, noise: Tensor, step: Tensor) -> Tensor:
        with torch.autocast(images.device.type, torch.bfloat16):
            rates = torch.exp(-math.log(1e4) * torch.arange(self.width // 2, device=images.device) / (self.width // 2))
            angles = step[:, None] * 1000 * rates
            t = self.time(torch.cat((angles.sin(), angles.cos()), 1))
            part = torch.cos(step * math.pi / 2)[:, None, None, None]
            x = self.first(images * part + noise * (1 - part * part).sqrt())
            kept = []
            for block in self.down:
                x = block(x, t)
                kept.append(x)
                x = F.avg_pool2d(x, 2)
            x = self.middle(x, t)
            for block in self.up:
                x = F.interpolate(x, scale_factor=2, mode="nearest")
                x = block(torch.cat((x, kept.pop()), 1), t)
            return F.mse_loss(self.last(F.silu(self.norm(x))), noise)


class Experts(nn.Module):
    """A mixture of experts, each of which sees all tokens; `top` of them count."""

    def __init__(self, width: int, hidden: int, experts: int, top: int):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.empty(experts, width, 2 * hidden))
        self.down = nn.Parameter(torch.empty(experts, hidden, width))
        self.top = top

    def forward(self, x: Tensor) -> Tensor:
        gates = F.softmax(self.router(x).float(), -1)
        value, which = gates.topk(self.top, -1)
        value = value / value.sum(-1, keepdim=True)
        weights = torch.zeros_like(gates).scatter(-1, which, value).to(x.dtype)
        gate, up = torch.einsum("btw,ewh->ebth", x, self.up).chunk(2, -1)
        y = F.silu(gate) * up * weights.permute(2, 0, 1)[..., None]
        return torch.einsum("ebth,ehw->btw", y, self.down)


class MixtureBlock(nn.Module):
    def __init__(self, width: int, heads: int, hidden: int, experts: int):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.experts, self.heads = Experts(width, hidden, experts, 2), heads

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        q, k = F.rms_norm(q, q.shape[-1:]), F.rms_norm(k, k.shape[-1:])
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.experts(self.norm2(x))


class Mixture(nn.Module):
    def __init__(self, layers: int = 6, width: int = 1024, heads: int = 16, hidden: int = 1024, experts: int = 8):
        super().__init__()
        self.token = nn.Embedding(32000, width)
        self.blocks = nn.ModuleList(MixtureBlock(width, heads, hidden, experts) for _ in range(layers))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, 32000, bias=False)

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        x = self.token(tokens)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(torch.tanh(logits / 30).mul(30).flatten(0, 1), labels.flatten())


class StateSpace(nn.Module):
    """Diagonal state spaces in chunks, by running sums of logarithms (as Mamba-2 in plain PyTorch)."""

    def __init__(self, layers: int = 8, width: int = 768, state: int = 64, heads: int = 24, chunk: int = 64):
        super().__init__()
        self.token, self.norm = nn.Embedding(32000, width), nn.RMSNorm(width)
        inner = 2 * width
        self.into = nn.ModuleList(nn.Linear(width, 2 * inner + 2 * state + heads, bias=False) for _ in range(layers))
        self.conv = nn.ModuleList(
            nn.Conv1d(inner + 2 * state, inner + 2 * state, 4, groups=inner + 2 * state, padding=3)
            for _ in range(layers)
        )
        self.rate = nn.ParameterList(nn.Parameter(torch.zeros(heads)) for _ in range(layers))
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(layers))
        self.gated = nn.ModuleList(nn.RMSNorm(inner) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(inner, width, bias=False) for _ in range(layers))
        self.inner, self.state, self.heads, self.chunk = inner, state, heads, chunk

    def mix(self, x: Tensor, k: int) -> Tensor:
        b, t, _ = x.shape
        z, xbc, dt = self.into[k](x).split((self.inner, self.inner + 2 * self.state, self.heads), -1)
        xbc = F.silu(self.conv[k](xbc.transpose(1, 2))[..., :t].transpose(1, 2))
        y, into, out = xbc.split((self.inner, self.state, self.state), -1)
        dt = F.softplus(dt.float())
        decay = -torch.exp(self.rate[k].float()) * dt  # [b, t, heads]
        chunks = (b, t // self.chunk, self.chunk)
        total = decay.view(*chunks, self.heads).cumsum(2)
        values = (y.view(*chunks, self.heads, -1) * dt.view(*chunks, self.heads, 1)).to(x.dtype)
        into, out = into.reshape(*chunks, -1), out.reshape(*chunks, -1)
        apart = total[:, :, :, None] - total[:, :, None]  # [b, chunks, to, from, heads]
        causal = torch.ones(self.chunk, self.chunk, device=x.device, dtype=torch.bool).tril()
        weight = torch.where(causal[..., None], apart.exp(), 0.0) * (out @ into.transpose(-1, -2))[..., None]
        y = torch.einsum("bnqkh,bnkhd->bnqhd", weight.to(x.dtype), values)
        last = (total[:, :, -1:] - total).exp()
        states = torch.einsum("bnks,bnkhd->bnhds", into, (values * last[..., None]).to(x.dtype))
        carried, before = torch.zeros_like(states[:, 0]), []
        for n in range(chunks[1]):
            before.append(carried)
            carried = carried * total[:, n, -1].exp()[..., None, None].to(x.dtype) + states[:, n]
        y = y + torch.einsum("bnqs,bnhds->bnqhd", out, torch.stack(before, 1)) * total.exp()[..., None].to(x.dtype)
        return self.out[k](self.gated[k](y.reshape(b, t, -1) * F.silu(z)))

    def forward(self, tokens: Tensor, labels: Tensor) -> Tensor:
        x = self.token(tokens)
        for k, norm in enumerate(self.norms):
            x = x + self.mix(norm(x), k)
        return F.cross_entropy(F.linear(self.norm(x), self.token.weight).flatten(0, 1), labels.flatten())


@dataclass(frozen=True)
class Model:
    """`make()` a model, `data()` a batch for it, both on the default device; `autocast`: parameters are float32."""

    make: Callable[[], nn.Module]
    data: Callable[[], tuple[Tensor, ...]]
    items: int
    autocast: bool = False


def images(n: int, size: int) -> Callable[[], tuple[Tensor, ...]]:
    def data() -> tuple[Tensor, ...]:
        x = torch.randn(n, 3, size, size).to(memory_format=torch.channels_last)
        return x, torch.randint(10, (n,))

    return data


def noisy(n: int, size: int) -> Callable[[], tuple[Tensor, ...]]:
    def data() -> tuple[Tensor, ...]:
        x, y = (torch.randn(n, 3, size, size).to(memory_format=torch.channels_last) for _ in range(2))
        return x, y, torch.rand(n)

    return data


def words(n: int, tokens: int, vocabulary: int) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: (torch.randint(vocabulary, (n, tokens)), torch.randint(vocabulary, (n, tokens)))


def padded(n: int, tokens: int, vocabulary: int) -> Callable[[], tuple[Tensor, ...]]:
    def data() -> tuple[Tensor, ...]:
        x, labels = (torch.randint(vocabulary, (n, tokens)) for _ in range(2))
        hidden = torch.rand(n, tokens) < 0.15
        return x, torch.randint(tokens // 2, tokens + 1, (n,)), torch.where(hidden, labels, -100)

    return data


MORE: dict[str, Model] = {
    "ResNet-50, 64 images, autocast": Model(ResNet, images(64, 224), 64, True),
    "ViT-B/16, 64 images, autocast": Model(ViT, images(64, 224), 64, True),
    "BERT base, 16x512 tokens, padded, dropout, autocast": Model(Bert, padded(16, 512, 30522), 16 * 512, True),
    "diffusion U-Net, 32 images of 64, autocast": Model(UNet, noisy(32, 64), 32, True),
    "mixture of 8 experts, 4x1024 tokens": Model(Mixture, words(4, 1024, 32000), 4 * 1024),
    "state space, 8 layers, 4x1024 tokens": Model(StateSpace, words(4, 1024, 32000), 4 * 1024),
}
SMALL: dict[str, Model] = {
    "ResNet": Model(lambda: ResNet((1, 1), 8, 10), images(2, 32), 2, True),
    "ViT": Model(lambda: ViT(1, 32, 2, 32, 8), images(2, 32), 2, True),
    "BERT": Model(lambda: Bert(1, 32, 2, 101, 16), padded(2, 16, 101), 32, True),
    "U-Net": Model(lambda: UNet(32, 32, (1, 2)), noisy(2, 8), 2, True),
    "mixture of experts": Model(lambda: Mixture(1, 32, 2, 32, 4), words(2, 8, 101), 16),
    "state space": Model(lambda: StateSpace(1, 32, 8, 4, 4), words(2, 8, 101), 16),
}
