"""Executors' functions that saved programs find by their names."""

from __future__ import annotations

from typing import Any

import torch

CALLS: list[str] = []


def gelu(x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    CALLS.append("gelu")
    return torch.nn.functional.gelu(x, approximate=approximate)


def rms(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    CALLS.append("rms")
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps)


def broken(*args: Any, **kwargs: Any) -> torch.Tensor:
    raise ValueError("no such kernel")


class Kernels:
    """A function that is not at the top of its module, and one of an object."""

    @staticmethod
    def gelu(x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
        CALLS.append("Kernels.gelu")
        return torch.nn.functional.gelu(x, approximate=approximate)

    def __call__(self, x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
        CALLS.append("an object")
        return torch.nn.functional.gelu(x, approximate=approximate)


OBJECT = Kernels()
