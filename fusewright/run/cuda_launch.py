"""Launching kernels on an NVIDIA GPU through the CUDA driver, on PyTorch's own contexts, streams and memory.

What compiles for GPUs is in `cuda.py`; machine code that is there already needs no more than this.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch

from ..core.errors import RuntimeFault
from . import dependent, internals
from .prepared import Calls, Launch

try:
    from cuda.bindings import driver as cu
except ImportError:
    cu = None

STATIC_SHARED = 48 << 10  # bytes of shared memory that need no permission, with those that a kernel declares
COUNTERS = 4096  # words kept for each stream, at least
NO_BINDINGS = "the package cuda-bindings is not installed; run `pip install 'fusewright[cuda]'`"


def _checked(result: Any, what: str) -> Any:
    """The value(s) of a driver call. Raises RuntimeFault."""
    status, *values = result
    if status != cu.CUresult.CUDA_SUCCESS:
        _, text = cu.cuGetErrorString(status)
        raise RuntimeFault(f"{what}: {text.decode() if text else status}")
    return values[0] if len(values) == 1 else values


@contextmanager
def beside_recording() -> Iterator[None]:
    """Allow what is not for the stream that this or another thread records in a CUDA graph: loading a kernel, timing.

    Kernels that are compiled in the background are loaded whenever they are ready.
    """
    status, before = cu.cuThreadExchangeStreamCaptureMode(cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    try:
        yield
    finally:
        if status == cu.CUresult.CUDA_SUCCESS:
            cu.cuThreadExchangeStreamCaptureMode(before)


class Launcher:
    """A CUDA device: loads machine code and launches kernels."""

    def __init__(self, device: torch.device):
        self.device = device
        self.index = device.index if device.index is not None else torch.cuda.current_device()
        self.capability = torch.cuda.get_device_capability(device)
        self._current = internals.current_cuda
        self._stream = torch._C._cuda_getCurrentRawStream
        self._capturing = torch._C._cuda_isCurrentStreamCapturing
        self._launch = cu.cuLaunchKernel
        self._follow = dependent.function()
        self._empty = internals.empty_on(device, here=True)
        self._lock = threading.Lock()
        self._counters: dict[int, torch.Tensor] = {}  # by stream
        self._context: Any = None
        torch.cuda.init()

    @cached_property
    def native(self) -> Calls | None:
        """What native code calls in place of `enter`, `scratch` and `launch`."""
        try:
            launch = ctypes.cast(ctypes.CDLL("libcuda.so.1").cuLaunchKernel, ctypes.c_void_p).value
        except (OSError, AttributeError):
            return None
        how = (int, self.index, self._current, self._stream, self._empty, self._capturing)
        follow = ctypes.cast(self._follow, ctypes.c_void_p).value if self._follow is not None else None  # type: ignore[arg-type]
        return Calls(launch, *how, follow or 0) if launch else None

    def restore(self, code: bytes, launches: Sequence[Launch]) -> list[Any]:
        """A handle for each launch of a kernel from its machine code, in order. Raises RuntimeFault."""
        image = ctypes.create_string_buffer(code, len(code))
        # the device is the current one only for this: kernels are also loaded where nothing is about to run on it
        with torch.cuda.device(self.index), beside_recording():
            loaded = cu.cuLibraryLoadData(ctypes.addressof(image), [], [], 0, [], [], 0)
        library = _checked(loaded, f"load the kernel {launches[0].name}" if launches else "load a kernel")
        handles = []
        for launch in launches:
            kernel = _checked(cu.cuLibraryGetKernel(library, launch.name.encode()), f"find kernel {launch.name}")
            if launch.shared:  # no more than what needs none, perhaps, but with what the kernel declares it is
                attribute = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                got = cu.cuKernelSetAttribute(attribute, launch.shared, kernel, cu.CUdevice(self.index))
                _checked(got, f"reserve {launch.shared} bytes of shared memory")
                prefer = cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
                cu.cuKernelSetAttribute(prefer, 100, kernel, cu.CUdevice(self.index))  # a hint, which may be declined
            handles.append(cu.CUfunction(int(kernel)))
        return handles

    def scratch(self, nbytes: int) -> torch.Tensor:
        """Memory on the device, which `enter` has made the current one."""
        return self._empty((nbytes,), (1,), torch.uint8)

    def counters(self, count: int, stream: int) -> torch.Tensor:
        """Words that are zero when a kernel on this stream begins. Each leaves them so, and the next one begins later.

        A recording may be replayed on any stream, beside others: what it launches has words of its own, zeroed by it.
        """
        if self._capturing():
            return torch.zeros(count, dtype=torch.int32, device=self.device)
        found = self._counters.get(stream)
        if found is None or found.numel() < count:
            found = torch.zeros(max(count, COUNTERS), dtype=torch.int32, device=self.device)
            self._counters[stream] = found
        return found

    def enter(self) -> int:
        if self._current() != self.index:
            torch.cuda.set_device(self.index)
        return self._stream(self.index)

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        (status,) = self._launch(handle, blocks, 1, 1, threads, 1, 1, shared, stream, args, 0)
        if status:
            if status == cu.CUresult.CUDA_ERROR_INVALID_CONTEXT:
                self._bind()
                (status,) = self._launch(handle, blocks, 1, 1, threads, 1, 1, shared, stream, args, 0)
            _checked((status,), "launch a kernel")

    def follow(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        """`launch`, of a kernel that may begin before the launch before it has ended: it waits for that itself.

        Into a recording it is launched like any other, since not every version of CUDA records what is between the two.
        """
        if self._follow is not None and not self._capturing():
            if not dependent.launch(self._follow, int(handle), blocks, threads, shared, args, stream):
                return
        self.launch(handle, blocks, threads, shared, args, stream)

    def _bind(self) -> None:
        """Make the device's context current in a thread that has not used CUDA yet, autograd's for example.

        PyTorch's own threads get theirs with their first call of the runtime, which allocating from the cache is not.
        """
        with self._lock:
            if self._context is None:
                device = _checked(cu.cuDeviceGet(self.index), f"find device {self.index}")
                self._context = _checked(cu.cuDevicePrimaryCtxRetain(device), "get the device's context")
        _checked(cu.cuCtxSetCurrent(self._context), "make the device's context current")
