"""The programs of `cases_gpu` in shapes that suit no schedule: odd and prime extents, few, short or very long rows, and
operands that are transposed, strided or misaligned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from fusewright.bench import cases_gpu as g
from fusewright.bench.cases import Case, Tensors, layer_norm, rows, softmax

BF16, F16 = torch.bfloat16, torch.float16
TINY = (9, 37)


def _pair(change: Callable[[torch.Tensor], torch.Tensor], shape: tuple[int, int]) -> Callable[[str, bool], Tensors]:
    """Two tensors of a shape, of which `change` makes the operands, and a vector."""

    def make(device: str, quick: bool) -> Tensors:
        size = (11, 40) if quick else shape
        x, y = (change(torch.randn(size, device=device, dtype=BF16)) for _ in range(2))
        return x, y, torch.randn(x.shape[-1], device=device, dtype=BF16)

    return make


def silu_mul_bias(x: torch.Tensor, y: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.silu(x) * y + b


def odd() -> Iterator[Case]:
    def case(name: str, fn: Callable, make: Callable[[str, bool], Tensors]) -> Case:
        return Case(name, "gpu-odd", fn, make, 0)

    yield case("bias+gelu 16411x4099 bf16", g.bias_gelu, rows((16411, 4099), TINY, vectors=1, dtype=BF16))
    yield case("silu*mul 16384x8191 f16", g.silu_mul, rows((16384, 8191), TINY, big=2, dtype=F16))
    for n, m, dtype in ((65537, 511, BF16), (16384, 4097, BF16), (8191, 8191, torch.float32), (4096, 50257, BF16)):
        yield case(f"softmax {n}x{m} {str(dtype)[6:]}", softmax, rows((n, m), TINY, dtype=dtype))
    yield case("softmax 3000000x17 f32", softmax, rows((3_000_000, 17), TINY))
    yield case("softmax 13x4000037 f32", softmax, rows((13, 4_000_037), TINY))
    yield case("rmsnorm 30011x2560 bf16", g.rms_norm, rows((30011, 2560), TINY, vectors=1, dtype=BF16))
    yield case("layernorm 20011x3001 bf16", layer_norm, rows((20011, 3001), TINY, vectors=2, dtype=BF16))
    yield case("layernorm 400000x100 f32", layer_norm, rows((400_000, 100), TINY, vectors=2))
    yield case("layernorm 100x200003 f32", layer_norm, rows((100, 200_003), TINY, vectors=2))
    yield case("cross-entropy 8192x50257 bf16", g.cross_entropy, g._classes(8192, 50257))
    yield case("sum all 99999989 f32", lambda x: x.sum(), rows((99_999_989,), (37,)))
    yield case("sum dim 0 100003x777 bf16", lambda x: x.sum(0), rows((100_003, 777), TINY, dtype=BF16))
    yield case("sum dim 1 30011x3001 bf16", lambda x: x.sum(1), rows((30011, 3001), TINY, dtype=BF16))
    yield case("amax dim 1 33x2777x1001 f32", lambda x: x.amax(1), rows((33, 2777, 1001), (2, 9, 7)))
    images = rows((17, 77, 99, 101), (3, 5, 7, 9), vectors=2, axis=1)
    yield case("batchnorm training 17x77x99x101 f32", g.batch_norm, images)
    images = rows((7, 96, 131, 67), (3, 32, 5, 3), vectors=2, axis=1, dtype=BF16)
    yield case("groupnorm+silu 7x96x131x67 bf16", g.group_norm_silu, images)
    yield case("transpose 10007x9973 bf16", lambda x: x.t().contiguous(), rows((10007, 9973), TINY, dtype=BF16))
    yield case("silu*mul+bias of 8192x8192 transposed bf16", silu_mul_bias, _pair(torch.t, (8192, 8192)))
    sliced = _pair(lambda x: x[:, 1:-1], (16384, 4098))
    yield case("silu*mul+bias of 16384x4096 off by one bf16", silu_mul_bias, sliced)
    strided = _pair(lambda x: x[:, ::2], (16384, 8192))
    yield case("silu*mul+bias of every second of 8192 bf16", silu_mul_bias, strided)
    three = rows((16384, 1001), TINY, big=3, dtype=BF16)
    yield case("cat of 3 + relu 16384x1001 bf16", lambda a, b, c: torch.cat([a, b, c], 1).relu(), three)


ODD_CASES: tuple[Case, ...] = tuple(odd())
