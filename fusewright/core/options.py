"""Options: one table, read from the environment once, overridden per thread with `options(...)`.

The fields of `Options` *are* the table: each is declared once, with its choices, whether it changes the code that
is generated (`affects_code`, from which cache keys derive), its spelling in the environment, and its documentation.

    with fusewright.options(precision="eager", fallback=False):
        compiled(x)

    @fusewright.options(dump=("loop",))
    def step(x): ...

Switches (the boolean options) share two environment variables: `FUSEWRIGHT_DISABLE=fallback,pool` turns them off,
`FUSEWRIGHT_ENABLE=single_op_groups` turns them on. Every other option has its own variable, but `disable`: its names
(`prim:exp`, `group:forward0.g3`) are listed in `FUSEWRIGHT_DISABLE`, too. `docs/options.md` is this table
(`option_page.py`).
"""

from __future__ import annotations

import difflib
import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, TypeVar

from fusewright.core.errors import FusewrightWarning, UserError
from fusewright.core.switches import hint_for_switch, parse_dump, structured, suggest

F = TypeVar("F", bound=Callable[..., Any])

PREFIX = "FUSEWRIGHT_"
DISABLE = f"{PREFIX}DISABLE"
ENABLE = f"{PREFIX}ENABLE"


def _option(default: Any, kind: str, doc: str, *, code: bool = False, env: str = "", choices: tuple = ()) -> Any:
    """One row of the table.

    `kind` is one of switch, choice, count (a non-negative integer), path, dump and disable (`core/switches.py`), names,
    check (a switch, or a function).
    """
    meta = {"kind": kind, "doc": doc, "affects_code": code, "env": env, "choices": choices}
    return field(default=default, metadata=meta)


def _code_switch(doc: str) -> Any:
    """A switch that is on, of what code is generated."""
    return _option(True, "switch", doc, code=True)


@dataclass(frozen=True, slots=True)
class Options:
    """Every setting of the compiler and the runtime. Immutable; `current()` is the one in force in this thread."""

    # Switches that are on: FUSEWRIGHT_DISABLE turns them off.
    fallback: bool = _option(True, "switch", "Run a group through torch when our compiler fails; off: raise.")
    disk_cache: bool = _option(True, "switch", "Keep compiled kernels on disk between processes.")
    pool: bool = _option(True, "switch", "Reuse the memory of large CPU tensors once they are dead.")
    streaming: bool = _code_switch("Write outputs larger than the last-level cache with non-temporal stores.")
    overwrite: bool = _option(True, "switch", "Let an output take over the memory of an input that dies in its kernel.")
    inplace: bool = _code_switch(
        "Write what is copied into an input, or into part of it, there directly; change dead tensors without a copy."
    )
    kernel_reuse: bool = _option(True, "switch", "Groups whose kernels are the same share one; off: each has its own.")
    guards: bool = _option(
        True, "switch", "Copy arguments whose strides are not those of the trace; off: trust them (for tests)."
    )
    pins: bool = _code_switch("Use the schedules that were pinned (`fusewright pins`).")
    repro: bool = _option(True, "switch", "Write a repro file when our compiler fails.")
    grouping: bool = _code_switch("Fuse operations; off: every operation is a torch call.")
    siblings: bool = _code_switch("Fuse groups that read the same large tensor and do not depend on each other.")
    horizontal: bool = _code_switch(
        "On GPUs, run small operations of the same shapes in one kernel although they have no data in common."
    )
    rematerialize: bool = _code_switch(
        "Compute large values in every kernel that reads them, where that moves fewer bytes; on a CPU if only one does."
    )
    detach: bool = _code_switch(
        "Let what reads `detach(x)` read x where that is the same, which spares calls of torch."
    )
    known_indices: bool = _code_switch(
        "Read what an index repeats, or takes every n-th of, as a view, where the index is known while tracing "
        "(nearest-neighbour upsampling, images at half their size)."
    )
    complex_pairs: bool = _code_switch(
        "Compute with complex numbers between real ones as with pairs of those, which fuse."
    )
    small_products: bool = _code_switch(
        "Compute products of matrices with few terms, or one result, as elementwise operations and sums, which fuse."
    )
    max_pooling: bool = _code_switch(
        "Let max pooling be elementwise operations, which fuse; what it saves is a byte instead of an index."
    )
    padding: bool = _code_switch(
        "On GPUs, compute 16-bit and TF32 matrix products of odd extents in extents that are multiples of 16 bytes."
    )
    convolutions: bool = _code_switch(
        "On GPUs, let our kernels add biases of convolutions, sum their gradients, and write channels-last operands."
    )
    recompute: bool = _code_switch("Compute cheap values again in the backward pass; off: save them all.")
    shared_gradients: bool = _code_switch("Store a gradient that two inputs share twice, which spares autograd a copy.")
    collapse: bool = _code_switch("Walk axes as one where every access does; off: a loop for each dimension.")
    online: bool = _code_switch("On GPUs, sum up while the maximum or mean that is subtracted becomes known.")
    keep: bool = _code_switch("Keep dear values of a row for later passes over it; off: compute them again.")
    prefetch: bool = _code_switch("Ask for the next row while working on one, on CPUs.")
    sleef: bool = _code_switch("Call torch's own SLEEF vector functions; off: our stand-in for them.")
    openmp: bool = _code_switch("Run kernels on torch's own OpenMP threads; off: one thread.")
    relaxed: bool = _code_switch(
        "On GPUs, use cheaper arithmetic where results are rounded to 16 bits (docs/numerics.md)."
    )
    fma: bool = _code_switch(
        "Let a product join a sum unrounded where eager's kernels do (`add` with `alpha`, `addcmul`, `lerp`), and on "
        "GPUs where results are rounded to 16 bits, and in sums; off: every product is rounded."
    )
    own_thread: bool = _option(
        True,
        "switch",
        "With one GPU, let a thread that calls fused programs run its backward passes itself, as "
        "`torch.autograd.set_multithreading_enabled(False)` does; off: autograd's own thread for the GPU does.",
    )
    parallel: bool = _option(True, "switch", "Compile the GPU kernels of a graph in several threads at once.")
    native_launch: bool = _option(True, "switch", "Launch GPU kernels from machine code; off: from Python.")
    dependent_launch: bool = _code_switch(
        "Let the next launch of a GPU kernel get ready while the one before it ends (compute capability 9.0 or later)."
    )

    # Switches that are off: FUSEWRIGHT_ENABLE turns them on.
    single_op_groups: bool = _option(
        False, "switch", "Compile every group of one operation, even where torch is as good (for tests).", code=True
    )
    verify_loop: bool = _option(False, "switch", "Verify Loop IR after every pass, not only at the end of a stage.")
    lineinfo: bool = _option(
        False, "switch", "Keep line numbers of the source in GPU kernels, for profilers and debuggers.", code=True
    )
    guard_timing: bool = _option(
        False, "switch", "Let Dynamo time the guards of what it compiles with us, for its logs: 20 to 40 ms a frame."
    )
    autotune: bool = _option(
        False,
        "switch",
        "Time schedules near the heuristic's when a GPU kernel first runs for given sizes; remember the best on disk.",
    )
    cuda_graphs: bool = _option(
        False,
        "switch",
        "Record what a compiled graph does on a GPU as a CUDA graph, and replay that where it is safe and faster.",
        code=True,
    )
    profile: bool = _option(
        False, "switch", "Name every launch of a kernel, with the user's line, for `torch.profiler` and NVTX."
    )
    check: Any = _option(  # noqa: RUF009
        False,
        "check",
        "Run every group through torch as well, in higher precision too, and report what rounding does not explain; a "
        "function is called with (fused outputs, unfused outputs, group) instead.",
    )

    executors: tuple[str, ...] = _option(
        (),
        "names",
        "Only these executors, in this order (docs/executors.md); none: all that are registered, by priority.",
        code=True,
        env="FUSEWRIGHT_EXECUTORS",
    )
    disable: tuple[str, ...] = _option(
        (), "disable", "Primitives, operators, schedule families and groups to do without.", code=True
    )
    fuel: int | None = _option(
        None, "count", "Compile only so many groups in this process; torch runs the rest.", env="FUSEWRIGHT_FUEL"
    )
    fuel_report: str | None = _option(
        None,
        "path",
        "Directory to describe every group in that takes fuel, with a repro file (`fusewright bisect` sets it).",
        env="FUSEWRIGHT_FUEL_REPORT",
    )
    repro_dir: str | None = _option(
        None, "path", "Directory of repro files; unset: `repro` in the disk cache's.", env="FUSEWRIGHT_REPRO_DIR"
    )
    check_dir: str | None = _option(
        None,
        "path",
        "Directory of the inputs that a check saves; unset: `check` in the disk cache's.",
        env="FUSEWRIGHT_CHECK_DIR",
    )
    schedule: str | None = _option(
        None,
        "path",
        "File of schedules, by group or structure hash, to use instead of the heuristic's.",
        code=True,
        env="FUSEWRIGHT_SCHEDULE",
    )
    external_source: str | None = _option(
        None,
        "path",
        "Directory of edited kernels, `<group, structure hash or key>.ll` or `.cu`, to run instead of generated ones.",
        code=True,
        env="FUSEWRIGHT_EXTERNAL_SOURCE",
    )
    precision: str = _option(
        "default",
        "choice",
        "`default`: 16-bit floats are computed in float32 and rounded on store; `eager`: rounded after each operation.",
        code=True,
        env="FUSEWRIGHT_PRECISION",
        choices=("default", "eager"),
    )
    specialize: str = _option(
        "hot",
        "choice",
        "GPU kernels for new sizes: `hot`: the first sizes of a program get kernels in which they are numbers, "
        "compiled beside general ones; for later sizes a kernel that is there runs at once, those that come "
        "again get the best one, compiled in the background, and those that the device is busy with for long one in "
        "which they are numbers, if it is faster; `never`: only general kernels that are there; `always`: compile the "
        "best one first, with sizes as numbers.",
        env="FUSEWRIGHT_SPECIALIZE",
        choices=("hot", "never", "always"),
    )
    rng: str = _option(
        "philox",
        "choice",
        "`philox`: random numbers are a function of the element, recomputed in backward; `eager`: eager's exact ones, "
        "on GPUs recomputed, too.",
        code=True,
        env="FUSEWRIGHT_RNG",
        choices=("philox", "eager"),
    )
    cache_dir: str | None = _option(
        None, "path", "Directory of the disk cache; unset: the platform's cache directory.", env="FUSEWRIGHT_CACHE_DIR"
    )
    cache_limit_mb: int = _option(
        512,
        "count",
        "Size of the disk cache above which the least recently used kernels are removed.",
        env="FUSEWRIGHT_CACHE_LIMIT_MB",
    )
    pool_limit_mb: int | None = _option(
        None,
        "count",
        "Most idle memory that the pool keeps; unset: an eighth of the machine's memory, at most 1024.",
        env="FUSEWRIGHT_POOL_LIMIT_MB",
    )
    dump: tuple[str, ...] = _option(
        (), "dump", "Print these stages, all or of some groups, or write them to a directory.", env="FUSEWRIGHT_DUMP"
    )

    # Derived: the (name, value) pairs that generated code depends on, computed once because keys are made often.
    _code_key: tuple[tuple[str, Any], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        key = tuple((f.name, getattr(self, f.name)) for f in TABLE if f.metadata["affects_code"])
        object.__setattr__(self, "_code_key", key)

    def code_key(self) -> tuple[tuple[str, Any], ...]:
        """The (name, value) pairs of the options that change generated code: a part of every cache key."""
        return self._code_key


TABLE: tuple[Field, ...] = tuple(f for f in fields(Options) if f.init)
_BY_NAME: dict[str, Field] = {f.name: f for f in TABLE}
_SWITCHES = tuple(f.name for f in TABLE if f.metadata["kind"] in ("switch", "check"))


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _check(name: str, value: Any) -> Any:
    """The value of option `name` in the form it is stored in, or a `UserError` that names the option."""
    row = _BY_NAME.get(name)
    if row is None:
        raise UserError(f"unknown option '{name}': {suggest(name, _BY_NAME)}")
    kind, choices, default = row.metadata["kind"], row.metadata["choices"], row.default
    if value is None and default is None:
        return None
    if kind == "switch":
        if not isinstance(value, bool):
            raise UserError(f"option '{name}' must be True or False, not {value!r}")
        return value
    if kind == "choice":
        if value not in choices:
            raise UserError(f"option '{name}' cannot be {value!r}: {suggest(str(value), choices)}")
        return value
    if kind == "count":
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise UserError(f"option '{name}' must be a non-negative integer, not {value!r}")
        return value
    if kind == "path":
        if not isinstance(value, (str, os.PathLike)):
            raise UserError(f"option '{name}' must be a path, not {value!r}")
        return os.fspath(value)
    if kind == "check":
        if not isinstance(value, bool) and not callable(value):
            raise UserError(f"option '{name}' must be True, False or a function, not {value!r}")
        return value
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (tuple, list, set, frozenset)) or not all(isinstance(n, str) for n in names):
        raise UserError(f"option '{name}' must be a list of names, not {value!r}")
    if kind == "names":
        return tuple(dict.fromkeys(n for text in names for n in _split(text)))
    if kind == "dump":
        return tuple(map(str, parse_dump(",".join(names))))
    return _disabled(n for text in names for n in _split(text))


def _disabled(names: Iterable[str]) -> tuple[str, ...]:
    """The value of `disable`."""
    found = []
    for each in names:
        if each in _SWITCHES:
            raise UserError(f"option 'disable' is for names like prim:exp; write {each}=False for the switch")
        try:
            found.append(structured(each))
        except UserError as error:
            raise UserError(f"option 'disable': {error}") from None
    return tuple(sorted(set(found)))


def from_environment(env: Mapping[str, str]) -> Options:
    """The options that the environment asks for. An empty variable counts as unset."""
    chosen: dict[str, Any] = {}
    for variable, state in ((ENABLE, True), (DISABLE, False)):
        for name in _split(env.get(variable, "")):
            if ":" in name and state:
                raise UserError(f"{variable}: '{name}': only {DISABLE} takes names of this form")
            if ":" in name:
                try:
                    chosen["disable"] = tuple(sorted({*chosen.get("disable", ()), structured(name)}))
                except UserError as error:
                    raise UserError(f"{variable}: {error}") from None
            elif name not in _SWITCHES:
                raise UserError(f"{variable}: unknown switch '{name}': {hint_for_switch(name, _SWITCHES)}")
            elif chosen.setdefault(name, state) is not state:
                raise UserError(f"{name} is both in {ENABLE} and in {DISABLE}")
    for row in TABLE:
        variable = row.metadata["env"]
        text = env.get(variable, "") if variable else ""
        if not text:
            continue
        value: Any = text
        if row.metadata["kind"] == "count":
            try:
                value = int(text)
            except ValueError:
                raise UserError(f"{variable}: must be a non-negative integer, not {text!r}") from None
        try:
            chosen[row.name] = _check(row.name, value)
        except UserError as error:
            raise UserError(f"{variable}: {error}") from None
    return Options(**chosen)


def misspelled(env: Mapping[str, str]) -> list[str]:
    """What to say about variables that are ours by their prefix and nearly by their name."""
    known = [ENABLE, DISABLE, *(row.metadata["env"] for row in TABLE if row.metadata["env"])]
    short = [name.removeprefix(PREFIX) for name in known]
    said = []
    for name in sorted(env):
        if name.startswith(PREFIX) and name not in known and env[name]:
            near = difflib.get_close_matches(name.removeprefix(PREFIX), short, 1, 0.7)
            said += [f"{name} means nothing to Fusewright: did you mean {PREFIX}{near[0]}?"] if near else []
    return said


def _platform_cache(env: Mapping[str, str]) -> str:
    """Where this platform keeps caches."""
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches")
    if sys.platform == "win32":
        return env.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    xdg = env.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore relative paths.
    return xdg if os.path.isabs(xdg) else os.path.join(home, ".cache")


# The only place that reads the environment, once. What is wrong with it is raised by the first `current()`: raised
# here, it would be a traceback out of every import, and of `fusewright --version`.
PLATFORM_CACHE = _platform_cache(os.environ)
PROCESS_DEFAULT = Options()
_mistake = ""
try:
    PROCESS_DEFAULT = from_environment(os.environ)
except UserError as error:
    _mistake = str(error)
for _message in misspelled(os.environ):
    warnings.warn(_message, FusewrightWarning, stacklevel=2)


def _raise_mistake() -> Options:
    raise UserError(_mistake)


_current: ContextVar[Options] = ContextVar("fusewright_options", default=PROCESS_DEFAULT)
_saved: ContextVar[tuple[Options, ...]] = ContextVar("fusewright_saved_options", default=())

# The options in force here and now. Bound directly because the runtime asks on every call (about 30 ns).
current: Callable[[], Options] = _raise_mistake if _mistake else _current.get


class options:
    """Override options for a block or a function: `with options(pool=False):` or `@options(pool=False)`.

    Nests; restores on exceptions; seen by this thread (or asyncio task) only. One object may be entered many times
    and from many threads at once, because what it saves lives in the context, not in the object.
    """

    __slots__ = ("overrides",)

    def __init__(self, **overrides: Any):
        self.overrides = {name: _check(name, value) for name, value in overrides.items()}

    def __enter__(self) -> Options:
        before = current()
        inside = replace(before, **self.overrides)
        _saved.set((*_saved.get(), before))
        _current.set(inside)
        return inside

    def __exit__(self, *exc_info: object) -> None:
        *rest, before = _saved.get()
        _saved.set(tuple(rest))
        _current.set(before)

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]


@contextmanager
def using(chosen: Options) -> Iterator[Options]:
    """Put a whole `Options` in force for a block: what was captured when a function was compiled, say."""
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)


def from_mapping(mapping: Mapping[str, Any] | None) -> Options:
    """The current options with those of `mapping` in their place: `torch.compile(..., options=mapping)`."""
    if not mapping:
        return current()
    for name in mapping:
        if not isinstance(name, str):
            raise UserError(f"option names are strings, not {name!r}")
    return replace(current(), **{name: _check(name, value) for name, value in mapping.items()})


def child_environment(**changes: str) -> dict[str, str]:
    """The environment of this process with `changes`, for a process to be started."""
    return {**os.environ, **changes}
