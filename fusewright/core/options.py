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
(`fusewright options --markdown`).
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, TypeVar

from fusewright.core.errors import UserError
from fusewright.core.switches import ALIASES, KINDS, STAGES, hint_for_switch, parse_dump, structured, suggest

F = TypeVar("F", bound=Callable[..., Any])

DISABLE = "FUSEWRIGHT_DISABLE"
ENABLE = "FUSEWRIGHT_ENABLE"


def _option(default: Any, kind: str, doc: str, *, code: bool = False, env: str = "", choices: tuple = ()) -> Any:
    """One row of the table.

    `kind` is one of switch, choice, count (a non-negative integer), path, dump and disable (`core/switches.py`), check
    (a switch, or a function).
    """
    meta = {"kind": kind, "doc": doc, "affects_code": code, "env": env, "choices": choices}
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True)
class Options:
    """Every setting of the compiler and the runtime. Immutable; `current()` is the one in force in this thread."""

    # Switches that are on: FUSEWRIGHT_DISABLE turns them off.
    fallback: bool = _option(True, "switch", "Run a group through torch when our compiler fails; off: raise.")
    disk_cache: bool = _option(True, "switch", "Keep compiled kernels on disk between processes.")
    pool: bool = _option(True, "switch", "Reuse the memory of large CPU tensors once they are dead.")
    streaming: bool = _option(
        True, "switch", "Write outputs larger than the last-level cache with non-temporal stores.", code=True
    )
    overwrite: bool = _option(True, "switch", "Let an output take over the memory of an input that dies in its kernel.")
    inplace: bool = _option(
        True, "switch", "Let a kernel write what is copied into an input into that input directly.", code=True
    )
    kernel_reuse: bool = _option(True, "switch", "Groups whose kernels are the same share one; off: each has its own.")
    guards: bool = _option(
        True, "switch", "Copy arguments whose strides are not those of the trace; off: trust them (for tests)."
    )
    pins: bool = _option(True, "switch", "Use the schedules that were pinned (`fusewright pins`).", code=True)
    repro: bool = _option(True, "switch", "Write a repro file when our compiler fails.")
    grouping: bool = _option(True, "switch", "Fuse operations; off: every operation is a torch call.", code=True)
    siblings: bool = _option(
        True, "switch", "Fuse groups that read the same large tensor and do not depend on each other.", code=True
    )
    recompute: bool = _option(
        True, "switch", "Compute cheap values again in the backward pass; off: save them all.", code=True
    )
    shared_gradients: bool = _option(
        True, "switch", "Store a gradient that two inputs share twice, which spares autograd a copy.", code=True
    )
    prefetch: bool = _option(True, "switch", "Ask for the next row while working on one, on CPUs.", code=True)
    sleef: bool = _option(
        True, "switch", "Call torch's own SLEEF vector functions; off: our stand-in for them.", code=True
    )
    openmp: bool = _option(True, "switch", "Run kernels on torch's own OpenMP threads; off: one thread.", code=True)
    relaxed: bool = _option(
        True,
        "switch",
        "On GPUs, use cheaper arithmetic where results are rounded to 16 bits (docs/numerics.md).",
        code=True,
    )
    parallel: bool = _option(True, "switch", "Compile the GPU kernels of a graph in several threads at once.")

    # Switches that are off: FUSEWRIGHT_ENABLE turns them on.
    single_op_groups: bool = _option(
        False, "switch", "Compile every group of one operation, even where torch is as good (for tests).", code=True
    )
    verify_loop: bool = _option(False, "switch", "Verify Loop IR after every pass, not only at the end of a stage.")
    lineinfo: bool = _option(
        False, "switch", "Keep line numbers of the source in GPU kernels, for profilers and debuggers.", code=True
    )
    autotune: bool = _option(
        False,
        "switch",
        "Time schedules near the heuristic's when a GPU kernel first runs for given sizes; remember the best on disk.",
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
        "GPU kernels for new sizes: `hot`: one that is there runs at once, and sizes that come again get the best one, "
        "compiled in the background; `never`: only what is there; `always`: compile the best one first.",
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
            if ":" in name and not state:
                try:
                    chosen["disable"] = tuple(sorted({*chosen.get("disable", ()), structured(name)}))
                except UserError as error:
                    raise UserError(f"{variable}: {error}") from None
            elif name not in _SWITCHES:
                raise UserError(f"{variable}: unknown switch '{name}': {hint_for_switch(name, _SWITCHES)}")
            else:
                chosen[name] = state
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


def spelling(row: Field) -> str:
    """How an option is written in the environment: `FUSEWRIGHT_DISABLE=pool`, `FUSEWRIGHT_RNG=philox|eager`."""
    kind, choices, env = row.metadata["kind"], row.metadata["choices"], row.metadata["env"]
    if kind in ("switch", "check"):
        return f"{DISABLE if row.default else ENABLE}={row.name}"
    if kind == "choice":
        return f"{env}={'|'.join(choices)}"
    what = {"path": "<path>", "count": "<integer>", "dump": "<stage>[@<group>][:<directory>],..."}
    return f"{DISABLE}=<kind>:<name>,..." if kind == "disable" else f"{env}={what[kind]}"


def default_text(row: Field) -> str:
    """The default of an option, as the tables print it."""
    if row.metadata["kind"] in ("switch", "check"):
        return "on" if row.default else "off"
    return (
        "unset" if row.default is None else ",".join(row.default) or "none" if row.default == () else str(row.default)
    )


def markdown_table() -> str:
    """The table of options for the documentation."""
    lines = ["| option | default | environment | changes code | meaning |", "| --- | --- | --- | --- | --- |"]
    for row in TABLE:
        env = spelling(row).replace("|", "\\|")
        code = "yes" if row.metadata["affects_code"] else "no"
        lines.append(f"| `{row.name}` | {default_text(row)} | `{env}` | {code} | {row.metadata['doc']} |")
    return "\n".join(lines) + "\n"


def markdown() -> str:
    """`docs/options.md`: the table, the names that `disable` takes, and the stages that `dump` knows."""
    kinds = "\n".join(f"- `{kind}:` {what}" for kind, what in KINDS.items())
    stages = "\n".join(f"| `{stage}` | {what} |" for stage, what in STAGES.items())
    also = ", ".join(f"`{name}` for {'everything' if name == 'all' else '+'.join(of)}" for name, of in ALIASES.items())
    return _PAGE.format(table=markdown_table(), kinds=kinds, stages=stages, aliases=also)


_PAGE = """# Options

Written by `fusewright options --markdown`; the table is `fusewright/core/options.py`.

An option is set in the environment, for a block or a function with `fusewright.options(...)`, or for one compiled
function with `torch.compile(..., backend="fusewright", options={{...}})`. What holds is what was in force when the
function was *compiled*; only the memory pool asks at every call. A name that does not exist is an error that suggests
the nearest one. Options that change code say so below: kernels, in memory and on disk, are found by their content and
never mixed.

{table}
## Doing without parts: `disable`

`FUSEWRIGHT_DISABLE` takes switches of the table above and these names, `options(disable=...)` only these:

{kinds}

A group has the name of its graph (`forward0`, `backward1`, `inference2`) and a number, in the order they run:
`forward0.g3`. Its structure hash is the same in every process that runs the same program; `FUSEWRIGHT_DUMP=groups`
prints both. A group that is disabled, or for which there is no fuel, keeps its number.

## Seeing the stages: `dump`

`FUSEWRIGHT_DUMP=loop` prints to stderr. `loop@forward0.g3` is for one group, `loop@forward0.g2-g5` for some,
`loop@forward*` for all forward graphs, `loop@3fa0c41b22e9` for a structure, `loop@softmax` for every group with such an
operator; several `@` mean any of them. `graph,loop:DIR` writes files into a directory, numbered in the order of the
pipeline; a directory also holds for the stages before it that have none.

| stage | what |
| --- | --- |
{stages}

Short: {aliases}.
"""
