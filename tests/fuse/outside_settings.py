"""A module with settings that fused functions of the tests read."""

from __future__ import annotations

from typing import Any

from torch import Tensor

SCALE: Any = 2


class Nested:
    def __init__(self) -> None:
        self.eps = 2.0


nested = Nested()


def inside(x: Tensor) -> Tensor:
    from tests.fuse.outside_settings import SCALE

    return x * SCALE  # type: ignore[no-any-return]
