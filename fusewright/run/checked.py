"""`fusewright::between_0_and_1(x, what)`: x, of which every element is between 0 and 1, or eager's error.

Eager's binary cross-entropy checks its operands. What it is taken apart into does not, so that they go through this
first; kernels check while they compute, and a group in which the check fails runs through torch, which is here.
"""

from __future__ import annotations

import torch

_lib = torch.library.Library("fusewright", "FRAGMENT")
_lib.define("between_0_and_1(Tensor x, str what) -> Tensor")


def _checked(x: torch.Tensor, what: str) -> torch.Tensor:
    inside = ((x >= 0) & (x <= 1)).all()  # NaN is not
    message = f"all elements of {what} should be between 0 and 1"
    if x.device.type != "cpu":
        torch._assert_async(inside, message)
    elif not inside:
        raise RuntimeError(message)
    return x.clone()


_lib.impl("between_0_and_1", _checked, "CPU")
_lib.impl("between_0_and_1", _checked, "CUDA")
_lib.impl("between_0_and_1", lambda x, what: torch.empty_like(x), "Meta")
torch.library.register_autograd("fusewright::between_0_and_1", lambda ctx, grad: (grad, None), lib=_lib)

BETWEEN = torch.ops.fusewright.between_0_and_1.default
