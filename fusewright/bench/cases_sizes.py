"""The programs of `cases_gpu` in other sizes of models: rows that are no powers of two, longer and shorter ones, and
images of other networks. A heuristic that suits the sizes of `cases_gpu` by chance shows here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from fusewright.bench import cases_gpu as g
from fusewright.bench.cases import Case, Tensors, layer_norm, rows, softmax

BF16, F32 = torch.bfloat16, torch.float32
TINY = (16, 64)
ROWS = ((65536, 512), (16384, 1536), (8192, 5120), (4096, 12288), (2048, 50000), (1024, 262144))
NORMED = ((16384, 1280), (8192, 5120), (8192, 20000), (4096, 40000), (4096, 65536), (1500, 100000))
DOWN = ((24576, 6144), (65536, 2048), (16384, 5000), (131072, 512), (12000, 9998))
ALONG = ((8192, 16384), (2048, 65536), (16384, 5000), (60000, 1500))
MIDDLE = ((16, 2048, 2048), (64, 1024, 768), (8, 8192, 512))
IMAGES = ((32, 512, 28, 28), (128, 64, 112, 112), (64, 2048, 7, 7), (16, 128, 56, 56))
GROUPED = ((8, 640, 32, 32), (4, 320, 128, 128), (16, 512, 64, 64), (32, 128, 128, 128))


def sizes() -> Iterator[Case]:
    def case(name: str, fn: Callable, make: Callable[[str, bool], Tensors], read: float = 1.0) -> Case:
        return Case(name, "gpu-sizes", fn, make, 0, first=read)

    for n, m in ROWS:
        yield case(f"softmax of {n}x{m} bf16", softmax, rows((n, m), TINY, dtype=BF16))
        yield case(f"rmsnorm of {n}x{m} bf16", g.rms_norm, rows((n, m), TINY, vectors=1, dtype=BF16))
    for n, m in NORMED:
        yield case(f"layernorm of {n}x{m} bf16", layer_norm, rows((n, m), TINY, vectors=2, dtype=BF16))
    for n, m in ((16384, 10000), (2048, 151936)):
        yield case(f"cross-entropy of {n}x{m} bf16", g.cross_entropy, g._classes(n, m))
    for n, m in DOWN:
        yield case(f"sum dim 0 of {n}x{m} bf16", lambda x: x.sum(0), rows((n, m), TINY, dtype=BF16))
    yield case("sum dim 0 of 30000x3001 f32", lambda x: x.sum(0), rows((30000, 3001), TINY))
    for n, m in ALONG:
        yield case(f"sum dim 1 of {n}x{m} bf16", lambda x: x.sum(1), rows((n, m), TINY, dtype=BF16))
    yield case("sum all of 20000x3000 f32", lambda x: x.sum(), rows((20000, 3000), TINY))
    for s in MIDDLE:
        yield case(f"var_mean dim 1 of {_by(s)} f32", lambda x: torch.var_mean(x, 1), rows(s, (2, 8, 16)))
    for size in IMAGES:
        yield case(f"batchnorm training of {_by(size)} f32", g.batch_norm, rows(size, (2, 4, 8, 8), vectors=2, axis=1))
    for size in GROUPED:
        images = rows(size, (2, 32, 4, 4), vectors=2, axis=1, dtype=BF16)
        yield case(f"groupnorm+silu of {_by(size)} bf16", g.group_norm_silu, images)
    for n, m in ((30000, 4000), (4096, 16384)):
        yield case(f"transpose of {n}x{m} bf16", lambda x: x.t().contiguous(), rows((n, m), TINY, dtype=BF16))
    three = rows((8192, 5000), TINY, big=3, dtype=BF16)
    yield case("cat of 3 + relu of 8192x5000 bf16", lambda a, b, c: torch.cat([a, b, c], 1).relu(), three)
    yield case("rope of 4x16x8192x64 bf16", g.rope, g._heads(4, 16, 8192, 64))
    yield case("rope of 2x40x4096x256 bf16", g.rope, g._heads(2, 40, 4096, 256))
    yield case("embedding*2 32768 rows of 768 of 50257 bf16", g.embedding, g._words(50257, 768, 32768), read=0.48)
    for n, m in ((16384, 1024), (8192, 8192), (65536, 768)):
        yield case(f"layernorm backward of {n}x{m} bf16", g.layer_norm_backward, g._norm_gradient(n, m))
    yield case("bias+gelu of 8192x12288 bf16", g.bias_gelu, rows((8192, 12288), TINY, vectors=1, dtype=BF16))
    yield case("silu*mul of 8192x14336 bf16", g.silu_mul, rows((8192, 14336), TINY, big=2, dtype=BF16))
    wide = g._shapes((8, 1, 64, 2048), (8, 64, 1, 2048), dtype=F32, small=((2, 1, 4, 16), (2, 4, 1, 16)))
    yield case("outer add of 8x64x64x2048 f32 to bf16", g.outer_add, wide)


def _by(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


SIZES_CASES: tuple[Case, ...] = tuple(sizes())
