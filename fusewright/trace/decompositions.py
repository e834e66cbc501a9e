"""Which composite operators AOTAutograd takes apart before we see them.

An operator is taken apart when its pieces give the min-cut partitioner a choice (what to save for the backward pass
and what to recompute) or when it has no lowering rule of its own but its pieces do. Everything else has a rule: fewer
traced operators mean faster tracing. The decompositions used compute 16-bit floats in float32 and keep eager's
output strides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any

import torch
from torch._decomp import get_decompositions
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ..run import devices
from ..run.checked import BETWEEN
from . import pooling, unfolding
from .eager_losses import rounding
from .eager_strides import as_eager

aten = torch.ops.aten

_NORMS = (
    aten.native_layer_norm,
    aten.native_batch_norm,
    aten._native_batch_norm_legit,
    aten._native_batch_norm_legit_functional,
    aten._native_batch_norm_legit_no_training,
    aten._batch_norm_with_update,
    aten._batch_norm_with_update_functional,
    aten._batch_norm_no_update,
)

# The pieces let the partitioner save the statistics and recompute the rest.
_FOR_PARTITIONER = (
    *_NORMS,
    aten._softmax,
    aten._log_softmax,
    aten._safe_softmax,
    aten._fused_rms_norm,
    aten.glu,
    aten.mse_loss,
    aten.smooth_l1_loss,
    aten.huber_loss,
    aten.soft_margin_loss,
    aten.binary_cross_entropy,
    aten.binary_cross_entropy_with_logits,
    aten._weight_norm_interface,
)

# No rule of their own.
_FOR_RULES = (
    aten.native_group_norm_backward,
    aten.native_batch_norm_backward,
    aten.batch_norm_backward,
    aten._fused_rms_norm_backward,
    aten.glu_backward,
    aten.mse_loss_backward,
    aten.smooth_l1_loss_backward,
    aten.huber_loss_backward,
    aten.soft_margin_loss_backward,
    aten.binary_cross_entropy_backward,
    aten.logit_backward,
    aten.rrelu_with_noise_backward,
    aten.addr,
    aten.block_diag,
    aten.dist,
    aten.isin,
    aten.multi_margin_loss,
    aten.renorm,
    aten.rot90,
    aten.tril_indices,
    aten.triu_indices,
    aten._chunk_cat,
    aten._euclidean_dist,
    aten.upsample_nearest1d,
    aten.upsample_nearest2d,
    aten.upsample_nearest3d,
    aten._unsafe_masked_index,
    aten.trace,
)

# On GPUs only: PyTorch's vectorized kernels for a CPU take less than what an elementwise kernel gathers (the gradient
# of reflection a third); and the buffer that logsigmoid leaves for its gradient is empty on a GPU, and not to be kept.
_ON_GPUS = (
    aten.affine_grid_generator,
    aten.grid_sampler_2d,
    aten.log_sigmoid_backward,
    aten.reflection_pad1d_backward,
    aten.reflection_pad2d_backward,
    aten.reflection_pad3d_backward,
)

# Of float32 and float64: PyTorch's kernels round the step to 16 bits, or to an integer.
_WIDE = (aten.linspace, aten.logspace)

# The correction of a norm's moments, as a program's own `var_mean` never has it: zero, too. Eager's norms have their
# moments in float32 on a CPU, its `var_mean` in float64.
OF_NORM = -0.0
SIDE_BY_SIDE = 32  # most channels of a group, in channels-last memory, whose moments have lanes along all channels

_taking_norm_apart: ContextVar[bool] = ContextVar("_taking_norm_apart", default=False)


def _norm(how: Callable[..., Any]) -> Callable[..., Any]:
    """`how`, whose `var_mean` is that of a norm, and whose statistics have eager's type."""

    @wraps(how)
    def take_apart(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if _other_types(x, *args, *kwargs.values()):
            return NotImplemented
        token = _taking_norm_apart.set(True)
        try:
            if not _mixed(x, *args, *kwargs.values()):
                return how(x, *args, **kwargs)
            out, *others = how(x.to(torch.float32), *args, **kwargs)
            return (out.to(x.dtype), *others)
        finally:
            _taking_norm_apart.reset(token)

    return take_apart


def _other_types(x: torch.Tensor, *others: Any) -> bool:
    """Whether `x` is of wide floats and another operand has another type, which eager's kernels refuse."""
    wide = x.dtype in (torch.float32, torch.float64)
    return wide and any(isinstance(t, torch.Tensor) and t.dtype is not x.dtype for t in others)


def _mixed(x: torch.Tensor, *others: Any) -> bool:
    """Whether eager's norm of 16-bit floats has its statistics in float32, as its first parameter is, on a CPU.

    torch's decompositions round them to 16 bits, with which the gradient is another, and its own operators raise.
    """
    first = next((t for t in others if isinstance(t, torch.Tensor)), x)
    return x.device.type == "cpu" and x.dtype in (torch.float16, torch.bfloat16) and first.dtype is torch.float32


def _var_mean(x: torch.Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
    if not _taking_norm_apart.get() or is_of_norm(correction):
        return NotImplemented
    assert correction == 0, "the moments of a norm are those of the population"
    return aten.var_mean.correction(x, dim, correction=OF_NORM, keepdim=keepdim)


def is_of_norm(correction: Any) -> bool:
    """Whether it is the correction of a norm's moments."""
    return isinstance(correction, float) and correction == 0 and math.copysign(1, correction) < 0


def _group_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    n: int,
    channels: int,
    inner: int,
    groups: int,
    eps: float,
) -> Any:
    """native_group_norm as x * scale + shift, like eager's kernel. torch's own decomposition goes through storage."""
    if _other_types(x, weight, bias):
        return NotImplemented
    wide = x.to(torch.float32) if x.dtype in (torch.float16, torch.bfloat16) else x
    if groups > 1 and _few_side_by_side(x, channels // groups):
        variance, mean = _moments_of_channels(wide, (n, groups, channels // groups, 1))
    else:
        grouped = wide.reshape(n, groups, channels // groups, inner)
        variance, mean = torch.var_mean(grouped, dim=(2, 3), correction=OF_NORM, keepdim=True)
    rstd = torch.rsqrt(variance + eps)
    per_channel = (1, groups, channels // groups, 1)
    scale = rstd if weight is None else rstd * weight.reshape(per_channel)
    shift = -mean * scale
    if bias is not None:
        shift = shift + bias.reshape(per_channel)
    spread = (n, channels, *[1] * (x.dim() - 2))
    whole = (n, groups, channels // groups, 1)
    out = wide * scale.expand(whole).reshape(spread) + shift.expand(whole).reshape(spread)
    kept = torch.float32 if _mixed(x, weight, bias) else x.dtype
    return out.to(x.dtype), mean.reshape(n, groups).to(kept), rstd.reshape(n, groups).to(kept)


def _few_side_by_side(x: torch.Tensor, count: Any) -> bool:
    """Whether a group of so many channels is a few elements side by side at every pixel, on a CPU: parts of vectors."""
    if x.device.type != "cpu" or x.dim() < 3 or not statically_known_true(x.stride(1) == 1):
        return False
    if isinstance(count, torch.SymInt):
        count = count.node.hint if count.node.has_hint() else 1
    return bool(1 < count <= SIDE_BY_SIDE)


def _moments_of_channels(x: torch.Tensor, shape: tuple[Any, ...]) -> tuple[torch.Tensor, torch.Tensor]:
    """The variance and the mean of groups, from those of each channel, whose sums have lanes along all channels."""
    pixels = tuple(range(2, x.dim()))
    own = x.mean(pixels, keepdim=True)
    apart = x - own
    within = (apart * apart).mean(pixels).reshape(shape).mean(2, keepdim=True)
    own = own.reshape(shape)
    mean = own.mean(2, keepdim=True)
    apart = own - mean
    return within + (apart * apart).mean(2, keepdim=True), mean


def _of_floats(how: Callable[..., Any]) -> Callable[..., Any]:
    """`how`, for floats: of integers and booleans the operator stays whole, to raise eager's error."""

    @wraps(how)
    def take_apart(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return how(x, *args, **kwargs) if x.is_floating_point() else NotImplemented

    return take_apart


def _on_gpus(how: Callable[..., Any]) -> Callable[..., Any]:
    """`how`, where our kernels are those of a GPU."""

    @wraps(how)
    def take_apart(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return NotImplemented if devices.driver_for(x.device) is None else how(x, *args, **kwargs)

    return take_apart


def _wide(how: Callable[..., Any]) -> Callable[..., Any]:
    """`how`, where that makes a tensor of float32 or float64."""

    @wraps(how)
    def make(*args: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> Any:
        kept = dtype or torch.get_default_dtype()
        return how(*args, dtype=dtype, **kwargs) if kept in (torch.float32, torch.float64) else NotImplemented

    return make


def _pow(x: torch.Tensor, n: Any) -> Any:
    """Booleans to the power of one are booleans in eager, but int64 where torch traces it."""
    if x.dtype is not torch.bool or not isinstance(n, bool):
        return NotImplemented
    return x.clone() if n else torch.ones_like(x)


def _of_fractions(how: Callable[..., Any]) -> Callable[..., Any]:
    """`how`, of operands that eager wants to be between 0 and 1."""

    @wraps(how)
    def take_apart(x: torch.Tensor, target: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if target.dtype is not x.dtype:
            return NotImplemented  # eager's own kernel raises
        return how(BETWEEN(x, "input"), BETWEEN(target, "target"), *args, **kwargs)

    return take_apart


def _assert_async(x: torch.Tensor) -> None:
    """With the message that it has: torch keeps assertions with messages in a graph, and drops others."""
    aten._assert_async.msg(x, "Expected Tensor with single nonzero value, but got zero")


@cache
def table(exact_rounding: bool = False) -> dict[Any, Callable[..., Any]]:
    """The decompositions for `aot_autograd(decompositions=...)`; `exact_rounding`: of 16 bits as eager rounds them."""
    found = get_decompositions([*_FOR_PARTITIONER, *_FOR_RULES])
    found = rounding(found) if exact_rounding else found
    floats = (aten._softmax.default, aten._log_softmax.default, aten.glu.default)
    checked = {aten.binary_cross_entropy.default: _of_fractions(found[aten.binary_cross_entropy.default])}
    norms = {op: _norm(how) for op, how in found.items() if getattr(op, "overloadpacket", None) in _NORMS}
    return {
        **as_eager({**found, **norms, **checked}),
        **{op: _of_floats(found[op]) for op in floats},
        **{op: _wide(how) for op, how in get_decompositions(_WIDE).items()},
        **{op: _on_gpus(how) for op, how in get_decompositions(_ON_GPUS).items()},
        aten.var_mean.correction: _var_mean,
        aten.native_group_norm.default: _group_norm,
        aten.pow.Tensor_Scalar: _pow,
        aten._assert_async.default: _assert_async,
        **pooling.TABLE,
        **unfolding.TABLE,
    }


# Operators with a rule that torch's partitioner does not know to be cheap to recompute, or to read what was recomputed:
# what an operator outside its lists reads in the backward pass is always saved.
CHEAP = (
    aten.leaky_relu,
    aten._prelu_kernel,
    aten.hardtanh,
    aten.hardswish,
    aten.softshrink,
    aten.log_sigmoid_forward,
    aten.tril,
    aten.constant_pad_nd,
    aten.flip,
    aten.linalg_cross,
    aten.stack,
    aten.cat,
    aten.eye,
    aten.detach,
    aten.transpose,
    aten.new_full,
    aten.ones_like,
    aten.nll_loss_forward,
    aten.nll_loss2d_forward,
    aten.nll_loss_backward,
    aten.nll_loss2d_backward,
    aten._log_softmax_backward_data,
    aten._softmax_backward_data,
    aten._prelu_kernel_backward,
    aten.elu_backward,
    aten.hardshrink_backward,
    aten.hardsigmoid_backward,
    aten.hardswish_backward,
    aten.hardtanh_backward,
    aten.leaky_relu_backward,
    aten.log_sigmoid_backward,
    aten.mish_backward,
    aten.angle,
    aten.ldexp,
    aten.erfinv,
    aten.i0,
    aten.special_i0e,
    aten.special_i1,
    aten.special_i1e,
    aten.special_ndtri,
    aten.special_erfcx,
    aten.fake_quantize_per_tensor_affine_cachemask,
    aten.fake_quantize_per_channel_affine_cachemask,
    aten.select_backward,
    aten.slice_backward,
    aten.softplus_backward,
    aten.softshrink_backward,
)
