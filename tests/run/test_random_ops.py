"""The operations that random numbers are traced to, as torch's tracing sees them."""

from __future__ import annotations

import pytest
import torch
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from fusewright.run import random_ops  # noqa: F401  (defines torch.ops.fusewright)

OPS = torch.ops.fusewright


@pytest.mark.parametrize("device", ["cpu", "cuda:0", "meta"])
@pytest.mark.parametrize("size", [[3, 5], [], [0, 2], [1]])
def test_fake_results_have_type_shape_and_device(device, size):
    with FakeTensorMode():
        seeds = OPS.seeds(3, torch.device(device))
        drawn = OPS.random(seeds, 1, size, "uniform", torch.float16)
    assert isinstance(seeds, FakeTensor) and isinstance(drawn, FakeTensor)
    assert (seeds.dtype, tuple(seeds.shape), seeds.device) == (torch.int64, (3,), torch.device(device))
    assert (drawn.dtype, list(drawn.shape), drawn.device) == (torch.float16, size, torch.device(device))
    assert drawn.is_contiguous()


def test_fake_results_keep_symbols():
    real, dims = torch.empty(7, 4), StatelessSymbolicContext([DimDynamic.DYNAMIC] * 2)
    with FakeTensorMode(shape_env=ShapeEnv()) as mode:
        n, m = mode.from_tensor(real, symbolic_context=dims, source=ConstantSource("x")).shape
        seeds = OPS.seeds(n, torch.device("cpu"))
        drawn = OPS.random(seeds, 0, [n, 2 * m], "normal", torch.float32)
    assert isinstance(n, torch.SymInt) and not mode.shape_env.guards
    assert [s.node.expr for s in (*seeds.shape, *drawn.shape)] == [n.node.expr, n.node.expr, (2 * m).node.expr]


@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_torch_finds_the_operation_well_defined(kind):
    """Schema, fake results, and what tracing makes of them, compared with a real call."""
    seeds = OPS.seeds(2, torch.device("cpu"))
    torch.library.opcheck(OPS.random.default, (seeds, 1, [3, 70], kind, torch.float32))


def test_the_seeds_are_the_generators():
    torch.manual_seed(3)
    first, second = OPS.seeds(4, torch.device("cpu")), OPS.seeds(4, torch.device("cpu"))
    torch.manual_seed(3)
    assert torch.equal(OPS.seeds(4, torch.device("cpu")), first) and not torch.equal(first, second)
