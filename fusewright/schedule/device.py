"""Facts of an NVIDIA GPU, as a value: schedules can be made, compiled and interpreted for a GPU that is not there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """What schedules and code for a GPU depend on.

    `capability`: compute capability, (9, 0) for Hopper; `sms`: streaming multiprocessors; `l2`: bytes of the L2 cache;
    `shared`: bytes of shared memory a block may have; `threads`: resident threads of an SM; `registers`: 32-bit
    registers of an SM; `bandwidth`: bytes per second of device memory, for roof times (0: unknown).
    """

    capability: tuple[int, int]
    sms: int
    l2: int
    shared: int
    threads: int = 2048
    registers: int = 65536
    bandwidth: float = 0.0

    @property
    def clusters(self) -> bool:
        """Whether blocks can form clusters that see each other's shared memory."""
        return self.capability >= (9, 0)

    @property
    def dependent_launches(self) -> bool:
        """Whether the blocks of a launch can be there, and wait, before the launch before it has ended."""
        return self.capability >= (9, 0)


H200 = Gpu((9, 0), 132, 60 << 20, 227 << 10, bandwidth=4.8e12)
A100 = Gpu((8, 0), 108, 40 << 20, 163 << 10, bandwidth=2.0e12)
V100 = Gpu((7, 0), 80, 6 << 20, 96 << 10, bandwidth=0.9e12)

_SHARED = {(7, 0): 96, (7, 2): 96, (7, 5): 64, (8, 6): 99, (8, 9): 99, (8, 0): 163, (8, 7): 163}  # KiB of a block


def typical(capability: tuple[int, int]) -> Gpu:
    """A GPU of this compute capability, where it is not known which one: the largest that is widespread."""
    known = {g.capability: g for g in (H200, A100, V100)}
    if capability in known:
        return known[capability]
    shared = _SHARED.get(capability, 99 if capability[0] >= 12 else 227)
    threads = 1024 if capability == (7, 5) else 1536 if shared == 99 else 2048
    return Gpu(capability, 128 if capability[0] >= 8 else 40, 32 << 20, shared << 10, threads)
