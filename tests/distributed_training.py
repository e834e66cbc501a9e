"""Two processes that train, or compute, together.

Run with backend "eager" and with "fusewright", the same steps end in the same parameters. `tests/test_distributed.py`
runs them on a CPU, `tests/gpu/test_device.py` on two GPUs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed import _functional_collectives as collectives

import fusewright
from tests.processes import Running

WORLD = 2
STEPS = 3


class Block(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.norm, self.wide, self.back = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.back(F.gelu(self.wide(self.norm(x))))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks, self.head = nn.Sequential(Block(), Block()), nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(x))


Wrap = Callable[[Net, str, torch.device], nn.Module]


def ddp(net: nn.Module, device: torch.device) -> nn.Module:
    return nn.parallel.DistributedDataParallel(net, device_ids=[device] if device.type == "cuda" else None)


def around(net: Net, backend: str, device: torch.device) -> nn.Module:
    """`compile` sees the wrapper, and cuts the program where gradients are exchanged."""
    dist._DEFAULT_FIRST_BUCKET_BYTES = 1 << 10  # of several buckets
    return torch.compile(ddp(net, device), backend=backend)


def inside(net: Net, backend: str, device: torch.device) -> nn.Module:
    return ddp(torch.compile(net, backend=backend), device)


def fused(net: Net, backend: str, device: torch.device) -> nn.Module:
    return ddp(fusewright.fuse(net) if backend == "fusewright" else net, device)


def sharded(net: Net, backend: str, device: torch.device) -> nn.Module:
    """Parameters lie in parts, and are gathered for each block."""
    from torch.distributed.fsdp import fully_shard

    for block in net.blocks:
        block.compile(backend=backend)
        fully_shard(block)
    return fully_shard(net)


def parallel(net: Net, backend: str, device: torch.device) -> nn.Module:
    """Weights are distributed tensors, cut along columns and rows."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh(device.type, (WORLD,))
    for block in net.blocks:
        parallelize_module(block, mesh, {"wide": ColwiseParallel(), "back": RowwiseParallel()})
    return torch.compile(net, backend=backend)


def train(wrap: Wrap, backend: str, device: torch.device) -> list[torch.Tensor]:
    """Losses and parameters (of this process)."""
    torch.manual_seed(0)
    net = wrap(Net().to(device), backend, device)
    # many tensors at a time, as on GPUs by default, may not be plain and distributed ones
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, foreach=False)
    different = 0 if wrap is parallel else dist.get_rank()
    generator = torch.Generator().manual_seed(different)
    losses = []
    for step in range(STEPS):  # a new size each time: the second one is traced with symbols
        x = torch.randn(6 + step, 16, generator=generator).to(device)
        y = torch.randint(0, 5, (6 + step,), generator=generator).to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    local = [p.to_local() if hasattr(p, "to_local") else p for p in net.parameters()]
    return losses + [p.detach() for p in local]


def exchanged(x: torch.Tensor) -> torch.Tensor:
    """What is exchanged in the middle of a program."""
    group = dist.group.WORLD
    y = collectives.all_reduce(torch.relu(x) + 1, "sum", group=group) * 2
    z = collectives.all_gather_tensor(y.sin(), gather_dim=0, group=group)
    return collectives.reduce_scatter_tensor(z * 3, "sum", scatter_dim=0, group=group) + y


def in_place(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x) + 1
    dist.all_reduce(y)
    return y * 2


def computed(fn: Callable[[torch.Tensor], torch.Tensor], backend: str, device: torch.device) -> list[torch.Tensor]:
    x = (torch.arange(12.0).view(4, 3) - 5 * dist.get_rank()).to(device)
    return [torch.compile(fn, backend=backend, fullgraph=True)(x)]


WAYS: dict[str, Callable[[str, torch.device], list[torch.Tensor]]] = {
    **{w.__name__: lambda b, d, w=w: train(w, b, d) for w in (around, inside, fused, sharded, parallel)},
    **{f.__name__: lambda b, d, f=f: computed(f, b, d) for f in (exchanged, in_place)},
}


def together(way: str, folder: Path, kind: str) -> None:
    """Run the processes, which meet in `folder`; fail if one does."""
    store, root = str(folder / "store"), str(Path(__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {root!r}); from tests.distributed_training import process; process"
    started = [Running("-c", f"{code}({way!r}, {rank}, {store!r}, {kind!r})") for rank in range(WORLD)]
    for one in [s.wait() for s in started]:
        assert one.returncode == 0 and "the same" in one.stdout, one.stdout + one.stderr


def process(way: str, rank: int, store: str, kind: str) -> None:
    """What one of them does."""
    device = torch.device("cpu") if kind == "cpu" else torch.device(kind, rank)
    if kind == "cuda":
        torch.cuda.set_device(device)
    torch.set_num_threads(1)
    backend = "gloo" if kind == "cpu" else "nccl"
    dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=WORLD)
    results: dict[str, Any] = {}
    with fusewright.options(fallback=False):
        for name in ("eager", "fusewright"):
            torch._dynamo.reset()
            results[name] = WAYS[way](name, device)
    torch.testing.assert_close(results["fusewright"], results["eager"], rtol=1e-4, atol=1e-5)
    counts = fusewright.counters()
    assert counts["units_fused"] > 0 and counts["fallbacks"] == 0, dict(counts)
    print("the same", flush=True)
    time.sleep(0.2)  # see `test_distributed_data_parallel` of tests/fuse/test_together.py
    os._exit(0)  # neither process waits for the other one's end
