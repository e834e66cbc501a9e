"""What we use of torch's private interface, and what stands in where a version of torch lacks it.

Each name is looked up once. Without it a feature is slower or absent, never wrong:

    storage_uses     absent: the pool finds that it cannot tell live memory from free, and hands out fresh memory
    empty_strided    absent: the public function, which takes twice as long
    reinterpret      absent: the public function, which takes twice as long
    tensor_uses      absent: no output is written over an input
    function_modes   absent: likewise
    without_modes    absent: Python is asked for the address of every tensor, and makes every view; PyTorch draws seeds
    tensor_guards    absent: the same check in Python, ten times as slow; and sizes that come often are not known
    record_function  absent: the public context manager, which takes microseconds
    clear_workspaces absent: CUDA graphs share workspaces of cuBLAS
    product_precision  absent: a CUDA graph does not notice that another precision was chosen

`trace/partition.py` does the same for the partitioner: importing that takes seconds, and not all need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import torch
import torch.overrides
from torch.autograd import forward_ad
from torch.utils._device import DeviceContext

Size = tuple[int, ...]


def _private(path: str, stand_in: Any) -> Any:
    """`torch.<path>`, or `stand_in` if this torch has no such name."""
    try:
        return attrgetter(path)(torch)
    except AttributeError:
        return stand_in


def _empty_strided(size: Size, stride: Size, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=dtype, device="cpu")


# References to a storage, from its address (`UntypedStorage._cdata`); always 0 where torch does not say.
storage_uses: Callable[[int], int] = _private("_C._storage_Use_Count", lambda address: 0)

# An uninitialised CPU tensor of (size, stride, dtype), without argument parsing.
empty_strided: Callable[[Size, Size, torch.dtype], torch.Tensor] = _private(
    "_C._dynamo.guards._empty_strided_cpu", _empty_strided
)


def as_strided(t: torch.Tensor, size: Size, stride: Size, start: int) -> torch.Tensor:
    """A view of `t`, `start` elements behind its first, as torch makes them: with the version counter of `t`."""
    return torch.as_strided(t, size, stride, t.storage_offset() + start)


# A tensor of (size, stride) on the memory of `t`, `start` elements behind its first; without gradients, and with a
# version counter of its own.
reinterpret: Callable[[torch.Tensor, Size, Size, int], torch.Tensor] = _private(
    "_C._dynamo.guards._reinterpret_tensor", as_strided
)

# References to a tensor in C++; always 0, as no tensor has, where torch does not say.
tensor_uses: Callable[[torch.Tensor], int] = _private("Tensor._use_count", lambda t: 0)

# A context manager that names what happens inside for `torch.profiler`. Each is entered once.
record_function: Callable[[str], Any] = _private("_C._profiler._RecordFunctionFast", torch.profiler.record_function)

# How many modes of `torch.overrides` are active, whose code sees each call of a tensor's methods and may keep it.
function_modes: Callable[[], int] = _private("_C._len_torch_function_stack", lambda: 1)

_mode_at: Callable[[int], Any] = _private("_C._get_function_stack_at", lambda k: None)


def default_device() -> Any:
    """The device that `torch.set_default_device` or `with torch.device(...)` names; None without, False if there is
    another mode of `torch.overrides`."""
    count = function_modes()
    if not count:
        return None
    mode = _mode_at(0)
    if count > 1 or type(mode) is not DeviceContext:
        return False
    device: torch.device = mode.device
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", current_cuda())
    return False if device.type == "meta" else device


@contextmanager
def without_default_device() -> Iterator[None]:
    """Take the mode of a default device, if it is the only one, from this thread's stack."""
    mode = None if default_device() in (None, False) else _mode_at(0)
    if mode is None:
        yield
        return
    torch.overrides._pop_mode()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        torch.overrides._push_mode(mode)  # type: ignore[attr-defined]


# A context manager: tensors made inside are what they look like, whatever is being traced.
without_modes: Callable[[], Any] | None = _private("utils._python_dispatch._disable_current_modes", None)

# How many modes of `torch.utils._python_dispatch` are active.
dispatch_modes: Callable[[], int] = _private("_C._len_torch_dispatch_stack", lambda: 0)

_tensor_guards: Any = _private("_C._dynamo.guards.TensorGuards", None)


def tensor_check(tensors: Sequence[torch.Tensor], sizes: Sequence[Sequence[int | None]]) -> Callable[..., bool]:
    """A function of as many objects: whether they are tensors like these, here and now.

    Compared are the exact type, element type, device, whether a gradient is required (not the grad mode), rank, extents
    (where `sizes` does not say None) and dispatch keys as modified by what is active in the thread: transforms, modes
    of `torch.utils._python_dispatch`, autocast, inference mode.
    """
    if _tensor_guards is None:
        return _slow_tensor_check(tensors, sizes)
    strides = [[None] * len(s) for s in sizes]
    guards = _tensor_guards(*tensors, dynamic_dims_sizes=[list(s) for s in sizes], dynamic_dims_strides=strides)
    check: Callable[..., bool] = guards.check
    return check


def exact_check(tensors: Sequence[torch.Tensor]) -> Callable[..., bool] | None:
    """As `tensor_check`, of all sizes and strides; None where torch has no such function."""
    if _tensor_guards is None:
        return None
    sizes, strides = [list(t.shape) for t in tensors], [list(t.stride()) for t in tensors]
    check: Callable[..., bool] = _tensor_guards(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides).check
    return check


def _thread_state() -> tuple[Any, ...]:
    keys = torch._C
    return (
        torch.is_inference_mode_enabled(),
        str(keys._dispatch_tls_local_include_set()),
        str(keys._dispatch_tls_local_exclude_set()),
    )


def _slow_tensor_check(tensors: Sequence[torch.Tensor], sizes: Sequence[Sequence[int | None]]) -> Callable[..., bool]:
    def facts(t: torch.Tensor, size: Sequence[int | None]) -> tuple[Any, ...]:
        shape = tuple(None if n is None else m for n, m in zip(size, t.shape, strict=True))
        return type(t), t.dtype, t.device, t.requires_grad, shape, str(torch._C._dispatch_keys(t))

    wanted, state = [facts(t, s) for t, s in zip(tensors, sizes, strict=True)], _thread_state()

    def check(*args: Any) -> bool:
        return (
            all(isinstance(t, torch.Tensor) and t.dim() == len(s) for t, s in zip(args, sizes, strict=True))
            and [facts(t, s) for t, s in zip(args, sizes, strict=True)] == wanted
            and _thread_state() == state
        )

    return check


def _empty_strided_cuda(size: Size, stride: Size, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty_strided(size, stride, dtype=dtype, device="cuda")


_empty_on_current: Callable[[Size, Size, torch.dtype], torch.Tensor] = _private(
    "_C._dynamo.guards._empty_strided_cuda", _empty_strided_cuda
)

# The number of the current CUDA device.
current_cuda: Callable[[], int] = _private("_C._cuda_getDevice", torch.cuda.current_device)


# The address of the current stream of a CUDA device, by its number.
raw_stream: Callable[[int], int] = _private(
    "_C._cuda_getCurrentRawStream", lambda index: torch.cuda.current_stream(index).cuda_stream
)

# Whether the current CUDA stream is being captured into a graph.
capturing: Callable[[], bool] = _private("_C._cuda_isCurrentStreamCapturing", torch.cuda.is_current_stream_capturing)

# Lets cuBLAS forget its workspaces, so that a recorded graph gets its own.
clear_workspaces: Callable[[], None] = _private("_C._cuda_clearCublasWorkspaces", lambda: None)

_float32_precision: Callable[[str, str], str] = _private("_C._get_fp32_precision_getter", lambda backend, op: "")


def product_precision() -> str:
    """How exact cuBLAS is to be with float32: "ieee", "tf32", or "" where torch does not say."""
    return _float32_precision("cuda", "matmul")


def end_pool(index: int, pool: Any) -> None:
    """Let a CUDA device's allocations go where they went before a recording into `pool` that was not ended."""
    torch._C._cuda_endAllocateToPool(index, pool)
    torch._C._cuda_releasePool(index, pool)


def empty_on(device: torch.device, here: bool) -> Callable[[Size, Size, torch.dtype], torch.Tensor]:
    """As `empty_strided`, on a CUDA device. `here`: it is the current one whenever the function is called."""
    if here:
        return _empty_on_current
    return lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype, device=device)


def empty(size: Size, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    """An uninitialised vector, without argument parsing where that is possible."""
    if device.type == "cpu":
        return empty_strided(size, (1,), dtype)
    if device.type == "cuda" and device.index == current_cuda():
        return _empty_on_current(size, (1,), dtype)
    return torch.empty(size, dtype=dtype, device=device)


def call_on(index: int, fn: Callable[..., Any], *args: Any) -> Any:
    """fn(*args) while CUDA device `index` is the current one."""
    with torch.cuda.device(index):
        return fn(*args)


def has_tangent(t: torch.Tensor) -> bool:
    """Whether the calling thread differentiates forward, and a tensor has what it multiplies derivatives with."""
    return forward_ad._current_level >= 0 and forward_ad.unpack_dual(t).tangent is not None


def returning(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, after which the CUDA device is current that was before."""
    return lambda *args: call_on(current_cuda(), fn, *args)
