"""A kernel of every kind on small tensors, against the CPU in float64: what compute-sanitizer looks at.

compute-sanitizer --tool racecheck python -m tests.gpu.sanitized     # test_sanitizer.py does, with every tool
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest import mock

import torch
import torch.nn.functional as F

import fusewright
from fusewright.schedule import gpu_scatter
from tests.gpu.test_programs import PROGRAMS, tensors

Tensors = Sequence[torch.Tensor]
F32, BF16 = torch.float32, torch.bfloat16
LONG = ("softmax", "layer norm", "moments", "sums", "three sums", "sum", "extremes")


def compare(title: str, fn: Callable[..., object], args: Tensors, grad: bool = False) -> None:
    """The results of `fn`, and its gradients, on the GPU: as in float64 on the CPU, places as in the operands' type,
    in which there are equal values where float64 has none."""
    results = []
    for compiled, wide in ((True, False), (False, True), (False, False)):
        given = [t.cuda() if compiled else t.double() if wide and t.is_floating_point() else t for t in args]
        given = [t.detach().requires_grad_(grad and t.is_floating_point()) for t in given]
        out = (torch.compile(fn, backend="fusewright") if compiled else fn)(*given)
        found = list(out) if isinstance(out, (list, tuple)) else [out]
        if grad:
            leaves = [t for t in given if t.requires_grad]
            found += torch.autograd.grad(found[0], leaves, torch.ones_like(found[0]), allow_unused=True)
        results.append([t.detach().cpu() for t in found if t is not None])
    for got, exact, same in zip(*results, strict=True):
        want = (exact if same.is_floating_point() else same).double()
        assert got.shape == want.shape, title
        off = (got.double() - want).abs().max().item() if got.numel() else 0.0
        assert off <= 0.05 * max(1.0, want.abs().max().item()), f"{title}: off by {off}"


def block(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(F.dropout(x + b, 0.0) * 2 + y, x.shape[-1:], w, b)


def after_gelu(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(F.gelu(x) + y, x.shape[-1:], w, b)


def main() -> None:
    with fusewright.options(fallback=False, single_op_groups=True):
        for name, fn in PROGRAMS.items():
            for size, dtype in (((5, 7), F32), ((33, 1003), BF16), ((130, 1000), F32)):
                torch._dynamo.reset()
                compare(f"{name} {size} {dtype}", fn, tensors(size, dtype, "cpu"))
        for name in LONG:  # clusters of blocks, rows in shared memory, rows cut over blocks, the last block finishes
            for size, dtype in (((3, 33001), F32), ((4, 131072), BF16), ((40, 40000), F32)):
                torch._dynamo.reset()
                compare(f"{name} {size} {dtype}", PROGRAMS[name], tensors(size, dtype, "cpu"))
        for name in ("softmax", "layer norm"):  # rows in shared memory, moved to where they are aligned
            torch._dynamo.reset()
            compare(f"{name} moved", PROGRAMS[name], tensors((300, 33001), BF16, "cpu"))
        for size, dtype in (((600, 1024), F32), ((600, 1024), BF16), ((300, 8192), F32)):  # resident blocks
            torch._dynamo.reset()
            compare(f"block {size} {dtype}", block, tensors(size, dtype, "cpu"), grad=True)
        # blocks of which each row waits for itself, with the next ones on their way to shared memory, or in registers
        for size, dtype in (((1100, 1024), F32), ((700, 2560), BF16), ((700, 2560), F32), ((1100, 768), BF16)):
            torch._dynamo.reset()
            compare(f"gelu + layer norm {size} {dtype}", after_gelu, tensors(size, dtype, "cpu"), grad=True)
        torch._dynamo.reset()
        images = torch.randn(8, 40, 28, 28)
        compare("group norm", lambda x: F.silu(F.group_norm(x, 4)), [images], grad=True)
        for last in (images, torch.randn(16, 64, 63, 65).bfloat16()):  # rows that are interleaved in memory
            torch._dynamo.reset()
            last = last.to(memory_format=torch.channels_last)
            compare("group norm, channels last", lambda x: F.silu(F.group_norm(x, 8)), [last], grad=True)
        for size, dtype in (((30_001, 13), F32), ((20_003, 7), BF16)):  # short rows: runs of memory, rows walked as one
            for name, fn in (("softmax", lambda x: x.softmax(-1)), ("sums", lambda x: x.sum(-1)), ("sine", torch.sin)):
                torch._dynamo.reset()
                compare(
                    f"{name} {size}",
                    lambda x, w, fn=fn: fn(x + w),
                    [t.to(dtype) for t in (torch.randn(size), torch.randn(size[1]))],
                )
        compare("batch norm", lambda x: F.batch_norm(x, None, None, training=True).relu(), [images], grad=True)
        for size in ((513, 301), (12, 4001), (4001, 12), (5000, 3)):  # square tiles, oblong ones, and in registers
            compare(f"transpose {size}", lambda x: x.t().contiguous() * 2, [torch.randn(size).bfloat16()])
        for columns in (37, 301):  # rows scanned in shared memory, of which there have to be many
            compare(f"running sums of {columns}", lambda x: x.cumsum(1), [torch.randn(17_000, columns).bfloat16()])
        for size, d in (((3, 70_001), 1), ((70_001, 3), 0), ((1, 90_000), 1)):  # columns cut over blocks
            compare(f"running sums {size}", lambda x, d=d: (s := x.cumsum(d)).amax(d, True) - s, [torch.randn(size)])
        words, table = torch.randint(0, 50, (700,)), torch.randn(50, 96)
        compare("embedding", lambda w, i: F.embedding(i, w) * 2, [table, words], grad=True)
        compare("index_add", lambda x, i: torch.zeros(50, 96, device=x.device, dtype=x.dtype).index_add(0, i, x * 2),
                [torch.randn(700, 96), words])  # fmt: skip
        crowded = torch.where(torch.rand(9000) < 0.5, 7, torch.randint(0, 900, (9000,)))
        with mock.patch.object(gpu_scatter, "CROWDED", gpu_scatter.TILE):  # of fewer points than else
            compare("crowded rows", lambda x, i: x[:900].index_add(0, i, x * 2), [torch.randn(9000, 16), crowded])
        compare("sums in any order", lambda x, i: (x[:50] * 0).index_add(0, i, x * 2), [torch.randn(700, 3), words])
        compare("rows set", lambda x, i: (x - 1).index_copy(0, i, x * 2), [torch.randn(700, 96), torch.randperm(700)])
        target = torch.randint(0, 5003, (65,))
        compare("cross-entropy", lambda x, t: F.cross_entropy(x * 2, t), [torch.randn(65, 5003), target], grad=True)
    torch.cuda.synchronize()
    print(fusewright.counters()["kernels_compiled"], "kernels")


if __name__ == "__main__":
    main()
