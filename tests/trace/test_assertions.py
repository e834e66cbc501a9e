"""Assertions on values stay in compiled graphs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import fusewright
from tests.support import BACKEND, is_ours

pytestmark = pytest.mark.skipif(not is_ours(), reason="torch's own backends drop some")


def plain(x: Tensor) -> Tensor:
    torch._assert_async((x > -100).all())
    return x * 2


def with_message(x: Tensor) -> Tensor:
    torch._assert_async((x > -100).all(), "too small")
    return x * 2


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("form", ["fuse", "compile"])
@pytest.mark.parametrize(
    ("f", "message"), [(plain, "Expected Tensor with single nonzero"), (with_message, "too small")]
)
def test_an_assertion_raises(f: Any, message: str, form: str, grad: bool) -> None:
    torch._dynamo.reset()
    run = fusewright.fuse(f) if form == "fuse" else torch.compile(f, backend=BACKEND)
    x = torch.randn(4, requires_grad=grad)
    assert torch.equal(run(x), f(x))
    with pytest.raises(RuntimeError, match=message):
        run(x - 1000)
