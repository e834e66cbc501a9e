"""NVIDIA GPUs through the CUDA driver: facts, loading, launching, on PyTorch's own contexts, streams and memory.

`cuda-bindings` is an optional dependency (extra `cuda`): without it, without NVRTC, or on a GPU or driver that is too
old, operations on CUDA tensors are left to PyTorch, with one warning that says what is missing.
"""

from __future__ import annotations

import ctypes
import statistics
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch

from ..build import nvrtc
from ..core.errors import FusewrightWarning, RuntimeFault, UserError
from ..core.options import current
from ..emit.cuda import emit_cuda, launches
from ..emit.cuda_types import CudaTarget
from ..loop.ir import Func
from ..schedule.device import Gpu

try:
    from cuda.bindings import driver as cu
except ImportError:
    cu = None

OLDEST = (7, 0)  # compute capability
_STATIC_SHARED = 48 << 10  # bytes of shared memory that need no permission


@cache
def missing(device: torch.device) -> str:
    """Why kernels cannot run on a CUDA device, or "". Warns once."""
    why = _missing(device)
    if why:
        warnings.warn(f"Fusewright leaves operations on {device} to PyTorch: {why}", FusewrightWarning, stacklevel=2)
    return why


def _missing(device: torch.device) -> str:
    if cu is None:
        return "the package cuda-bindings is not installed; run `pip install 'fusewright[cuda]'`"
    if not torch.cuda.is_available():
        return "PyTorch finds no CUDA device"
    try:
        if torch.version.cuda:
            nvrtc.prefer(int(torch.version.cuda.split(".")[0]))
        version, oldest = nvrtc.version(), nvrtc.OLDEST
        if version < oldest:
            return f"NVRTC {_dotted(version)} is too old; install nvidia-cuda-nvrtc >= {_dotted(oldest)}"
        gpu = facts(device)
        if gpu.capability < OLDEST:
            return f"its compute capability is {_dotted(gpu.capability)}; {_dotted(OLDEST)} is needed"
        arch = CudaTarget(*gpu.capability).arch
        if arch not in nvrtc.architectures():
            return f"NVRTC {_dotted(version)} does not compile for {arch}"
    except UserError as e:
        return str(e)
    return ""


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@cache
def facts(device: torch.device) -> Gpu:
    """What schedules need to know of a device."""
    p = torch.cuda.get_device_properties(device)
    shared = getattr(p, "shared_memory_per_block_optin", _STATIC_SHARED)
    threads = getattr(p, "max_threads_per_multi_processor", 2048)
    registers = getattr(p, "regs_per_multiprocessor", 65536)
    return Gpu((p.major, p.minor), p.multi_processor_count, p.L2_cache_size, shared, threads, registers)


def _checked(result: Any, what: str) -> Any:
    """The value(s) of a driver call. Raises RuntimeFault."""
    status, *values = result
    if status != cu.CUresult.CUDA_SUCCESS:
        _, text = cu.cuGetErrorString(status)
        raise RuntimeFault(f"{what}: {text.decode() if text else status}")
    return values[0] if len(values) == 1 else values


class Driver:
    """A CUDA device; see `devices.Driver`."""

    def __init__(self, device: torch.device):
        self.device = device
        self.index = device.index if device.index is not None else torch.cuda.current_device()
        self.gpu = facts(device)
        self.target = CudaTarget(*self.gpu.capability)
        self._current = torch._C._cuda_getDevice
        self._stream = torch._C._cuda_getCurrentRawStream
        self._launch = cu.cuLaunchKernel
        self._lock = threading.Lock()
        self._context: Any = None
        torch.cuda.init()

    def versions(self) -> str:
        lines = f" {nvrtc.LINEINFO}" if current().lineinfo else ""
        return f"{self.target.arch} {nvrtc.versions()}{lines}"

    def compile(self, func: Func) -> bytes:
        return self.compile_text(emit_cuda(func, self.target))

    def compile_text(self, text: str) -> bytes:
        cubin, _ = nvrtc.compile(text, self.target.arch, current().lineinfo)
        return cubin

    def load(self, code: bytes, func: Func) -> list[Any]:
        self.enter()
        image = ctypes.create_string_buffer(code, len(code))
        loaded = cu.cuLibraryLoadData(ctypes.addressof(image), [], [], 0, [], [], 0)
        library = _checked(loaded, f"load kernel {func.name}")
        handles = []
        for launch in launches(func):
            kernel = _checked(cu.cuLibraryGetKernel(library, launch.name.encode()), f"find kernel {launch.name}")
            if launch.shared > _STATIC_SHARED:
                attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                got = cu.cuKernelSetAttribute(attribute, launch.shared, kernel, cu.CUdevice(self.index))
                _checked(got, f"reserve {launch.shared} bytes of shared memory")
            handles.append(cu.CUfunction(int(kernel)))
        return handles

    def scratch(self, nbytes: int) -> torch.Tensor:
        return torch.empty(nbytes, dtype=torch.uint8, device=self.device)

    def enter(self) -> int:
        if self._current() != self.index:
            torch.cuda.set_device(self.index)
        return self._stream(self.index)

    def can_time(self) -> bool:
        return not torch.cuda.is_current_stream_capturing()

    def times(self, runs: Sequence[Callable[[], None]], rounds: int) -> list[float]:
        flush = torch.empty(2 * self.gpu.l2, dtype=torch.uint8, device=self.device)
        found: list[list[float]] = [[] for _ in runs]
        for r in runs:
            r()
        for _ in range(rounds):
            marks = []
            for r in runs:
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                flush.zero_()
                begin.record()
                r()
                end.record()
                marks.append((begin, end))
            torch.cuda.synchronize(self.device)
            for into, (begin, end) in zip(found, marks, strict=True):
                into.append(begin.elapsed_time(end) * 1e-3)
        return [statistics.median(t) for t in found]

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        (status,) = self._launch(handle, blocks, 1, 1, threads, 1, 1, shared, stream, args, 0)
        if status:
            if status == cu.CUresult.CUDA_ERROR_INVALID_CONTEXT:
                self._bind()
                (status,) = self._launch(handle, blocks, 1, 1, threads, 1, 1, shared, stream, args, 0)
            _checked((status,), "launch a kernel")

    def _bind(self) -> None:
        """Make the device's context current in a thread that has not used CUDA yet, autograd's for example.

        PyTorch's own threads get theirs with their first call of the runtime, which allocating from the cache is not.
        """
        with self._lock:
            if self._context is None:
                device = _checked(cu.cuDeviceGet(self.index), f"find device {self.index}")
                self._context = _checked(cu.cuDevicePrimaryCtxRetain(device), "get the device's context")
        _checked(cu.cuCtxSetCurrent(self._context), "make the device's context current")
