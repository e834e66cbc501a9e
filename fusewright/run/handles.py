"""Tensors as C sees them: what machine code asks them without a call of Python.

PyTorch's C interface (`aoti_torch_*`, which compiled models rely on from version to version) takes the address of a C++
tensor. A Python tensor holds one right behind the object's header. That is no promise of PyTorch's, so it is looked at
once, on tensors of all kinds that plans meet; where it is otherwise, Python is asked, as ever.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from ..build import launcher, objects, tensor_calls
from ..build.launcher import TENSOR, TYPE
from ..core.log import LOG
from . import internals

_WRAP = "_Z16THPVariable_WrapRKN2at10TensorBaseE"  # a Python object for a C++ tensor
_LAZY = ("_ZN2at6native6is_negERKNS_6TensorE", "_ZN2at6native14_is_zerotensorERKNS_6TensorE")  # not what memory says
CLASSES = (torch.Tensor, torch.nn.Parameter)  # exactly these; others may be more than the tensor that they hold


@dataclass(frozen=True, slots=True)
class Functions:
    """Addresses in C: a tensor's data, whether it is contiguous, another view of its memory, its end, its object."""

    data_ptr: int
    is_contiguous: int
    reinterpret: int
    delete: int
    wrap: int


@cache
def functions() -> Functions | None:
    """What C offers; None where handles are not what they are taken for."""
    if not launcher.supported() or internals.without_modes is None:
        return None
    cpu, python = objects.loaded("libtorch_cpu.so"), objects.loaded("libtorch_python.so")
    does = ("get_data_ptr", "is_contiguous", "_reinterpret_tensor", "delete_tensor_object")
    try:
        addresses = [ctypes.cast(getattr(cpu, f"aoti_torch_{n}"), ctypes.c_void_p).value for n in does]
        wrap = ctypes.cast(getattr(python, _WRAP), ctypes.c_void_p).value
    except AttributeError:
        return None
    found = Functions(*addresses, wrap)  # type: ignore[arg-type, call-arg]
    return found if _as_expected(found) else None


def _as_expected(f: Functions) -> bool:
    """Whether a tensor's handle is where it should be. Reads only what belongs to the object."""
    with _plain():
        x = torch.arange(12.0, device="cpu")
        tensors = (x, x[3:], torch.nn.Parameter(x, requires_grad=False), x.new_empty(0), x.view(3, 4).t(), x + x)
    get = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))(f.data_ptr)
    for t in tensors:
        if type(t).__basicsize__ < TENSOR + 8 or _word(t, TYPE) != id(type(t)) or _word(t, TENSOR) != t._cdata:
            return False
        address = ctypes.c_void_p()
        if get(id(t) + TENSOR, ctypes.byref(address)) or (address.value or 0) != t.data_ptr():
            return False
    return True


def _word(t: Any, at: int) -> int:
    return ctypes.c_uint64.from_address(id(t) + at).value


@contextmanager
def _plain() -> Iterator[None]:
    """Tensors are made as ever, whatever is being traced."""
    assert internals.without_modes is not None
    with internals.without_modes(), torch._C.DisableTorchFunction():
        yield


@cache
def view() -> Any:
    """`internals.reinterpret`, in machine code where that is possible."""
    f = functions()
    if f is None:
        return internals.reinterpret
    try:
        made = tensor_calls.view([f.reinterpret, f.delete, f.wrap, *map(id, CLASSES)], internals.reinterpret, *CLASSES)
    except Exception as e:
        LOG.warning("views are made by Python, which takes longer: %s", e)
        return internals.reinterpret
    with _plain():
        x = torch.arange(12.0, device="cpu")[2:]
        y, z = made(x, (2, 3), (1, 3), 1), internals.reinterpret(x, (2, 3), (1, 3), 1)
        alike = y.stride() == z.stride() and y.storage_offset() == z.storage_offset() and y.dtype is z.dtype
        return made if alike and torch.equal(y, z) else internals.reinterpret


@cache
def dense() -> Any:
    """Whether all of some tensors are contiguous and in memory: True, or each is asked; None without machine code."""
    f = functions()
    if f is None:
        return None
    try:
        lazy = [ctypes.cast(getattr(objects.loaded("libtorch_cpu.so"), n), ctypes.c_void_p).value for n in _LAZY]
        made = tensor_calls.dense([f.is_contiguous, f.data_ptr, *lazy, *map(id, CLASSES)], *CLASSES)  # type: ignore[list-item]
    except Exception as e:
        LOG.warning("strides are checked by Python, which takes longer: %s", e)
        return None
    with _plain():
        x = torch.zeros(3, 4, device="cpu")
        others = (x.t(), x[:, 1:], torch._neg_view(x), torch._efficientzerotensor((3, 4), device="cpu"))
        return made if made(x, x[1:]) is True and not any(made(x, y) for y in others) else None


__all__ = ["CLASSES", "Functions", "dense", "functions", "view"]
