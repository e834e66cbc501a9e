"""What is measured: programs, their inputs, and the bytes that an ideal implementation moves.

The ideal traffic counts each input and output once in the forward pass; in the backward pass once the incoming
gradient, what has to be read again, and the gradients of the large inputs. Batch normalization reads its input twice
in each pass: its statistics are over more data than any cache holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F

Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `make(device, quick)` gives the inputs. `large` is how many times the (first) large input's bytes are moved
    ideally; 0: every input and output is moved once, of the first input the share `first`. `grads` says which inputs
    get gradients; empty means that only the forward pass runs, without gradients. `check` is a stand-in to compare
    with eager where `fn` is random.
    """

    name: str
    suite: str
    fn: Callable[..., torch.Tensor]
    make: Callable[[str, bool], Tensors]
    large: float
    grads: tuple[int, ...] = ()
    check: Callable[..., torch.Tensor] | None = None
    dropout: bool = False
    first: float = 1.0

    @property
    def backward(self) -> bool:
        return bool(self.grads)

    def inputs(self, device: str, quick: bool) -> Tensors:
        """Fresh random inputs, the same ones every time, with `requires_grad` set."""
        torch.manual_seed(0)
        return tuple(t.requires_grad_(i in self.grads) for i, t in enumerate(self.make(device, quick)))

    def traffic(self, inputs: Tensors) -> float:
        """Bytes that have to be moved at least."""
        large = inputs[0].numel() * inputs[0].element_size()
        if self.large:
            return self.large * large
        with torch.no_grad():
            out = self.fn(*inputs)
        rest = [*inputs[1:], *(out if isinstance(out, tuple) else (out,))]
        return self.first * large + sum(t.numel() * t.element_size() for t in rest)


# ---- programs --------------------------------------------------------------------------------------


def bias_drop_add_norm(
    p: float, training: bool, norm: Callable[..., torch.Tensor] | None = None
) -> Callable[..., torch.Tensor]:
    """The block: bias, dropout, residual, and a norm of (x, weight, bias), `F.layer_norm` unless given."""
    norm = norm or layer_norm

    def bias_drop_add_norm(
        x: torch.Tensor, residual: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, b: torch.Tensor
    ) -> torch.Tensor:
        return norm(F.dropout(x + bias, p, training) + residual, w, b)

    return bias_drop_add_norm


def rms_norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """RMS normalization as decoder models write it: computed in float32, scaled in the input's type."""
    f = x.float()
    return w * (f * torch.rsqrt(f.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def layer_norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[-1],), w, b)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def gelu_chain(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A gated unit after an affine map, with the exact GELU written out."""
    u = x * w + b
    return 0.5 * u * (1 + torch.erf(u * 0.7071067811865476)) * y


def batch_norm_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.relu(F.batch_norm(x, None, None, w, b, True))


def cross_entropy(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(x, target)


def rows(
    shape: tuple[int, ...],
    small: tuple[int, ...],
    big: int = 1,
    vectors: int = 0,
    axis: int = -1,
    dtype: torch.dtype = torch.float32,
) -> Callable[[str, bool], Tensors]:
    """`big` tensors of `shape` (of `small` when quick), then `vectors` as long as `axis`."""

    def make(device: str, quick: bool) -> Tensors:
        size = small if quick else shape
        tensors = [torch.randn(size, device=device, dtype=dtype) for _ in range(big)]
        return (*tensors, *(torch.randn(size[axis], device=device, dtype=dtype) for _ in range(vectors)))

    return make


def _classes(shape: tuple[int, int], small: tuple[int, int]) -> Callable[[str, bool], Tensors]:
    def make(device: str, quick: bool) -> Tensors:
        n, classes = small if quick else shape
        return torch.randn(n, classes, device=device), torch.randint(0, classes, (n,), device=device)

    return make


def _pair(
    name: str,
    suite: str,
    fn: Callable[..., torch.Tensor],
    make: Callable[[str, bool], Tensors],
    forward: float,
    both: float,
    grads: tuple[int, ...],
) -> Iterator[Case]:
    """The two rows of a program: forward alone, and forward + backward."""
    yield Case(f"{name} fwd", suite, fn, make, forward)
    yield Case(f"{name} fwd+bwd", suite, fn, make, both, grads)


def _cpu() -> Iterator[Case]:
    """The CPU table."""
    bf16 = torch.bfloat16
    block = rows((64, 128, 1024), (4, 8, 64), big=2, vectors=3)
    every = (0, 1, 2, 3, 4)
    title = "bias-drop-add-LN [64,128,1024]"
    plain = bias_drop_add_norm(0.0, True)
    yield Case(f"{title} eval fwd", "cpu", bias_drop_add_norm(0.1, False), block, 3)
    # The gradient of the residual differs from that of the input by the mask: one more tensor than without dropout.
    yield Case(f"{title} p=0.1 fwd+bwd", "cpu", bias_drop_add_norm(0.1, True), block, 8, every, plain, dropout=True)
    yield Case(f"{title} no dropout fwd+bwd", "cpu", bias_drop_add_norm(0.1, False), block, 7, every)
    yield from _pair("RMSNorm [8192,1024]", "cpu", rms_norm, rows((8192, 1024), (16, 64), vectors=1), 2, 5, (0, 1))
    yield from _pair("softmax [4096,4096]", "cpu", softmax, rows((4096, 4096), (16, 64)), 2, 5, (0,))
    chain = rows((8192, 4096), (16, 64), big=2, vectors=2)
    yield from _pair("gelu chain [8192,4096]", "cpu", gelu_chain, chain, 3, 8, (0, 1, 2, 3))
    images = rows((32, 64, 56, 56), (2, 4, 8, 8), vectors=2, axis=1)
    yield from _pair("BatchNorm+ReLU [32,64,56,56]", "cpu", batch_norm_relu, images, 3, 8, (0, 1, 2))
    words = _classes((2048, 32000), (8, 100))
    yield from _pair("cross-entropy [2048,32000]", "cpu", cross_entropy, words, 1, 3, (0,))
    half = rows((16384, 1024), (16, 64), vectors=2, dtype=bf16)
    yield from _pair("bf16 LayerNorm [16384,1024]", "cpu", layer_norm, half, 2, 5, (0, 1, 2))
    square = rows((4096, 4096), (16, 64), dtype=bf16)
    yield from _pair("bf16 softmax [4096,4096]", "cpu", softmax, square, 2, 5, (0,))
    yield Case("bf16 RMSNorm [8192,1024] fwd", "cpu", rms_norm, rows((8192, 1024), (16, 64), vectors=1, dtype=bf16), 2)


def _small() -> Iterator[Case]:
    """Sizes that stay in the caches, where the time of a call counts as much as memory."""
    yield from _pair("gelu chain [64,256]", "small", gelu_chain, rows((64, 256), (4, 8), 2, 2), 3, 8, (0, 1, 2, 3))
    yield from _pair("softmax [128,128]", "small", softmax, rows((128, 128), (4, 8)), 2, 5, (0,))
    yield from _pair("LayerNorm [128,768]", "small", layer_norm, rows((128, 768), (4, 8), 1, 2), 2, 5, (0, 1, 2))
    yield from _pair("RMSNorm [32,1024]", "small", rms_norm, rows((32, 1024), (4, 8), 1, 1), 2, 5, (0, 1))
    block = rows((4, 32, 256), (2, 2, 8), big=2, vectors=3)
    plain = bias_drop_add_norm(0.0, True)
    name = "bias-drop-add-LN [4,32,256] p=0.1 fwd+bwd"
    yield Case(name, "small", bias_drop_add_norm(0.1, True), block, 8, (0, 1, 2, 3, 4), plain, dropout=True)
    images = rows((4, 16, 14, 14), (2, 2, 3, 3), vectors=2, axis=1)
    yield Case("BatchNorm+ReLU [4,16,14,14] fwd+bwd", "small", batch_norm_relu, images, 8, (0, 1, 2))
    yield Case("cross-entropy [64,1000] fwd+bwd", "small", cross_entropy, _classes((64, 1000), (4, 10)), 3, (0,))


CASES: tuple[Case, ...] = (*_cpu(), *_small())
SUITES = ("cpu", "small", "overhead")  # of CASES
GPU_SUITES = ("gpu", "gpu-train")  # of `cases_gpu.GPU_CASES`
# of `cases_odd` and so on: run where they are asked for
MORE_SUITES = ("gpu-odd", "gpu-more", "gpu-sizes", "gpu-scatter")
