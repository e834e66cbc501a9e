"""Counters: a flat dictionary of integers that tests and users read.

Each event is counted where it happens, by name; a name that is not in the table below is a bug and raises.
"""

from __future__ import annotations

import threading

# name -> what one unit of it is
KNOWN = {
    "graphs_traced": "a graph that torch handed to the backend (forward and backward count separately)",
    "fuse_traces": "a function given to `fuse` traced for a signature that it had not seen",
    "fuse_declined": "a signature of a fused function that runs as plain PyTorch",
    "definitions_compiled": "a definition compiled for a kind of arguments that it had not seen",
    "scripts_converted": "a scripted function or method that was converted, whole or in regions",
    "scripts_declined": "a scripted function or method that runs as scripted",
    "groups_formed": "a group of operations that became one fusion",
    "units_fused": "an operation that runs inside a fusion (counted once per compiled graph)",
    "opaque_calls": "an operation left to torch (counted once per compiled graph, not per run)",
    "kernels_compiled": "a kernel that went through code generation",
    "kernels_tuned": "a GPU kernel whose schedule was chosen by timing several",
    "kernels_specialized": "a GPU kernel made for one set of sizes, which are numbers in it",
    "kernels_adopted": "a set of sizes of a group that runs on such a kernel from then on",
    "kernels_reused": "a kernel found in memory, where another group or size had it compiled",
    "disk_hits": "a kernel loaded from the disk cache",
    "disk_misses": "a kernel looked for in the disk cache and not found",
    "disk_evictions": "a kernel removed from the disk cache to keep it under its limit",
    "plans_built": "a launch plan made for a new combination of sizes",
    "checks": "a run of a kernel that was compared with torch",
    "deviations": "a comparison that found more than rounding explains",
    "programs_loaded": "a program loaded from a file that `aot_save` has written",
    "sizes_without_kernel": "new sizes of a loaded program for which a group has no GPU kernel, so that torch runs it",
    "fallbacks": "a group or graph that runs through torch because our compiler failed on it",
    "cuda_graphs_captured": "a plan recorded as a CUDA graph, for some sizes and places of its operands",
    "cuda_graphs_dropped": "a recorded CUDA graph given up: it was slower, or others were needed more",
    "pool_hits": "a large CPU tensor that took over the memory of a dead one",
    "pool_misses": "a large CPU tensor that needed new memory",
    "outputs_over_inputs": "a large GPU tensor written over an input of its kernel that only the graph has seen",
    "pool_overwrites": "a large CPU tensor written over an input of its kernel that nobody else saw",
}

_lock = threading.Lock()
_values = dict.fromkeys(KNOWN, 0)


def count(name: str, n: int = 1) -> None:
    """Add `n` to counter `name`. An unknown name raises `KeyError`."""
    with _lock:
        _values[name] += n


def counters() -> dict[str, int]:
    """A copy of every counter, those at zero included."""
    with _lock:
        return dict(_values)


def reset_counters() -> None:
    """Set every counter to zero."""
    with _lock:
        for name in _values:
            _values[name] = 0
