"""Random programs on an emulated GPU, whose groups are cut, joined and computed again whatever their size: eager's.

What decides about that is bytes, of which small tensors never have enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings

import fusewright
from fusewright.graph import grouping
from fusewright.schedule import apart
from tests.emulate.cuda import COMPILER
from tests.emulate.driver import emulated_gpu
from tests.property import test_random_graphs as graphs
from tests.property.programs import Program, programs

pytestmark = pytest.mark.skipif(not COMPILER, reason="no C++ compiler")
few = settings(graphs.configured, max_examples=max(graphs.EXAMPLES // 6, 1))


@pytest.fixture(autouse=True, scope="module")
def _everything_is_large() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in ((grouping, "LEAST", 1), (grouping, "HORIZONTAL_LEAST", 2), (apart, "LEAST", 1)):
            patch.setattr(module, name, value)
        with emulated_gpu(), fusewright.options(fallback=False, single_op_groups=True):
            yield
        torch._dynamo.reset()


@given(programs())
@few
def test_forward(program: Program) -> None:
    graphs.test_forward.hypothesis.inner_test(program)


@given(programs(gradients=True, most=5))
@few
def test_backward(program: Program) -> None:
    graphs.test_backward.hypothesis.inner_test(program)
