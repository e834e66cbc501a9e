"""Two processes that train together, and exchange tensors in the middle of a program, end up where they do in eager."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch.distributed

from tests.distributed_training import WAYS, together
from tests.support import is_ours


@pytest.mark.skipif(not is_ours(), reason="of the project's own backend")
@pytest.mark.skipif(not torch.distributed.is_gloo_available(), reason="torch has no gloo")
@pytest.mark.parametrize("way", WAYS)
def test_the_same_as_eager(way: str, tmp_path: Path) -> None:
    together(way, tmp_path, "cpu")
