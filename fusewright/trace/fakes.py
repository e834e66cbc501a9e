"""What fake quantization gives, for tensors without values: torch has no kernels for these.

Where all sizes are numbers it runs eager's on zeros instead; where they vary (`fuse`, `dynamic=True`) it raises.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses import fake_impls

from ..core.errors import Refusal

_aten = torch.ops.aten
_QUANTIZED = (
    _aten.fake_quantize_per_tensor_affine_cachemask.default,
    _aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default,
    _aten.fake_quantize_per_channel_affine_cachemask.default,
)


def _quantized(mode: Any, func: Any, x: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
    with mode:
        return torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)


for _op in _QUANTIZED:
    fake_impls.op_implementations_dict.setdefault(_op, _quantized)


def check_grown(gm: torch.fx.GraphModule) -> None:
    """Raises Refusal where eager's first call makes an observer's extrema as many as there are channels: its buffers
    get another size, of which tensors without values know nothing."""
    for n in gm.graph.find_nodes(op="call_function", target=_aten._fused_moving_avg_obs_fq_helper_functional.default):
        x, low, axis, rows = n.args[0], n.args[3], n.args[10], n.args[11:12] == (True,)
        if rows and low.meta["val"].numel() != x.meta["val"].shape[axis]:
            raise Refusal("mutation", "an observer's extrema of another size than the channels, which become as many")


__all__ = ["check_grown"]
