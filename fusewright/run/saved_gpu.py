"""GPU kernels of a saved program: which one runs for the sizes of a call is decided by rules that were saved with it.

A rule is the text of a function of the size symbols. It says that the scheduler would choose its kernel for these sizes
(`wanted`), or that the kernel is legal for them; the result are the kernel's size parameters, or None. Sizes for which
no rule holds run through torch, operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..core.counters import count
from ..core.errors import RuntimeFault, UserError
from ..core.warn import warn
from .archive import DAMAGE
from .devices import Launcher, launcher_for
from .prepared import Interface, Launch, Prepared
from .restricted import function

MEMO_LIMIT = 4096  # prepared launches remembered per group


def unfit(gpu: Mapping[str, Any]) -> str:
    """Why kernels for `gpu` do not run on the GPU of this machine, or ""."""
    device = torch.device(gpu["device"])
    try:
        launcher = launcher_for(device)
    except UserError as e:
        return str(e)
    have = getattr(launcher, "capability", None)
    major, minor = gpu["capability"]
    if have is None or (have[0] == major and have[1] >= minor):
        return ""
    return f"{device} is sm_{have[0]}{have[1]}, which does not run code for sm_{major}{minor}"


def blocks_of(device: torch.device) -> int:
    """Blocks of eager's kernels for random numbers that a device holds at once."""
    p = torch.cuda.get_device_properties(device)
    return int(p.multi_processor_count * (getattr(p, "max_threads_per_multi_processor", 2048) // 256))


class Rule:
    """A rule, compiled when it is first asked."""

    __slots__ = ("rule", "source")

    def __init__(self, source: str):
        self.source = source
        self.rule: Callable[..., Any] | None = None

    def __call__(self, *values: int) -> Any:
        """The kernel's size parameters, or None. Raises ArithmeticError or ValueError where the scheduler would."""
        if self.rule is None:
            scope: dict[str, Any] = {}
            exec(function(self.source, (), "<fusewright rule>"), scope)
            self.rule = scope["rule"]
        return self.rule(*values)


class SavedGroup:
    """One group of operations on a GPU, as `gpu.GpuGroup` for plans: `memo[sizes..., alignment]`, and `make`."""

    def __init__(self, data: Mapping[str, Any], kernel: Callable[[str, str], Any], path: str):
        """`kernel(key, device)` gives (interface, handles)."""
        self.name: str = data["name"]
        self.symbols: list[str] = list(data["symbols"])
        self.hosts: list[str] = list(data["hosts"])
        self.memo: dict[tuple[int, ...], Prepared | None] = {}
        self.driver: Launcher = launcher_for(torch.device(data["device"]))
        self.path = path
        self.warned = False
        # what the scheduler would choose before what is legal, what assumes more of addresses before what assumes less
        rules = sorted(data["rules"], key=lambda r: (not r["wanted"], -r["alignment"]))
        self.rules = [(int(r["alignment"]), Rule(r["source"]), *kernel(r["kernel"], data["device"])) for r in rules]

    def make(self, *key: int) -> Prepared | None:
        """Prepare, and remember, the launch for a key of `memo`; None: torch runs the group."""
        *values, low = key
        entry = None
        for alignment, rule, takes, handles in self.rules:
            if low % alignment:
                continue
            try:
                numbers = rule(*values)
            except (ArithmeticError, ValueError):  # as the scheduler would
                continue
            if numbers is not None:
                entry = Prepared(self.driver, takes, handles, numbers, self.hosts)
                break
        if entry is None:
            self.missing(values)
        if len(self.memo) >= MEMO_LIMIT:
            self.memo.clear()
        self.memo[key] = entry
        return entry

    def missing(self, values: list[int]) -> None:
        count("sizes_without_kernel")
        if not self.warned:
            self.warned = True
            sizes = ", ".join(f"{s}={v}" for s, v in zip(self.symbols, values, strict=True)) or "no sizes"
            warn(
                f"{self.path} has no kernel for {self.name} with {sizes}: PyTorch runs its operations. Save the "
                "program with sizes=[...] that are like these."
            )


def load(record: Mapping[str, Any], code: bytes, device: str, path: str) -> tuple[Interface, list[Any]]:
    """(interface, handles) of a kernel on a device."""
    takes = interface(record)
    try:
        return takes, launcher_for(torch.device(device)).restore(code, takes.launches)
    except RuntimeFault as e:
        raise UserError(
            f"{path}: a kernel cannot be loaded on {device} ({e}); its driver may be older than the CUDA version that "
            "the program was saved with: update the driver, or save the program again"
        ) from e


def interface(record: Mapping[str, Any]) -> Interface:
    """What a kernel takes, from its record."""
    try:
        return Interface(
            int(record["buffers"]),
            tuple((str(n), str(d)) for n, d in record["sizes"]),
            tuple((str(n), str(d)) for n, d in record["hosts"]),
            tuple((n, int(size)) for n, size in record["scratch"]),
            tuple(Launch(*x) for x in record["launches"]),
            record["counters"],
        )
    except DAMAGE as e:
        raise ValueError(f"a kernel's record: {e}") from e
