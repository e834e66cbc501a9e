"""The `fusewright` command: demo, bench, bisect, repro files, saved programs, the disk cache, pins, the options.

Exit codes: 0 done; 1 the demo, a benchmark, a bisection or a repro file found something wrong; 2 a bad argument or
option.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from fusewright import __version__
from fusewright.build.pins import pins
from fusewright.build.store import Entry, Store, default_store
from fusewright.core.errors import UserError
from fusewright.core.option_page import default_text, markdown, spelling
from fusewright.core.options import TABLE, current
from fusewright.debug.units import size

_COLUMNS = ("name", "for")  # of what is known of a cached kernel


def _ago(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"


def _about(entry: Entry) -> str:
    return ", ".join(f"{name}={value}" for name, value in entry.meta.items() if name not in _COLUMNS)


def _cache_list(store: Store, console: Console) -> None:
    entries = store.entries()
    table = Table(caption=f"{len(entries)} kernels, {size(store.size())}")
    table.add_column("kernel", no_wrap=True)
    for head in ("what", "for", "size", "last used", "about"):
        table.add_column(head, overflow="fold")
    now = time.time()
    for entry in sorted(entries, key=lambda entry: -entry.used):
        what = [escape(str(entry.meta.get(name, ""))) for name in _COLUMNS]
        more = (size(entry.size), _ago(now - entry.used), escape(_about(entry)))
        table.add_row(escape(entry.key[:24]), *what, *more)
    console.print(table)


def _cache_size(store: Store, console: Console) -> None:
    table = Table("kernels", "size", "limit", "directory")
    used, limit = size(store.size()), size(store.limit_bytes)
    table.add_row(str(len(store.entries())), used, limit, escape(str(store.directory)))
    console.print(table)


def _cache_clear(store: Store, console: Console) -> None:
    used, removed = store.size(), store.clear()
    console.print(f"removed {removed} kernels, {size(used)}, from {escape(str(store.directory))}", soft_wrap=True)


def _cache_dir(store: Store, console: Console) -> None:
    # Plain, for use in scripts.
    print(store.directory)


def _pins(action: str, which: Sequence[str], console: Console) -> int:
    """`fusewright pins`: schedules that were pinned, for all fusions or those with these structure hashes."""
    store = pins()
    chosen = [p for p in store.list() if not which or p.hash in which]
    unknown = sorted(set(which) - {p.hash for p in chosen})
    if unknown:
        raise UserError(f"no schedule is pinned for {', '.join(unknown)} (fusewright pins list)")
    if action == "clear":
        gone = sum(store.remove(h) for h in {p.hash for p in chosen})
        console.print(f"removed {gone} pinned schedules from {escape(str(store.store.directory))}", soft_wrap=True)
    elif action == "show":
        for p in chosen:
            print(p.text if p.text is not None else f"# {p.path} is damaged")
    else:
        table = Table("structure", "group", "schedule", "target", caption=f"pinned schedules: {len(chosen)}")
        for p in chosen:
            about = [str(p.meta.get(k, "")) for k in ("group", "family", "target")]
            table.add_row(p.hash, *map(escape, about if p.text is not None else [about[0], "damaged", about[2]]))
        console.print(table)
    return 0


# Sub-commands that parse their own arguments, loaded only when asked for: they import torch.
PROGRAMS = {
    "demo": "fusewright.demo",
    "bench": "fusewright.bench",
    "bisect": "fusewright.debug.bisect",
    "run": "fusewright.debug.repro",
    "explain": "fusewright.explaining",
    "profile": "fusewright.profiling",
    "aot": "fusewright.aot",
}
CACHE_COMMANDS = {"list": _cache_list, "size": _cache_size, "clear": _cache_clear, "dir": _cache_dir}


def _options(console: Console) -> None:
    now = current()
    table = Table(show_lines=True)
    table.add_column("option", no_wrap=True)
    table.add_column("now", overflow="fold")
    table.add_column("environment", overflow="fold", min_width=30)
    table.add_column("meaning")
    for row in TABLE:
        value = getattr(now, row.name)
        text = ("on" if value else "off") if isinstance(value, bool) else "unset" if value is None else str(value)
        if isinstance(value, tuple):
            text = ",".join(value) or "none"
        table.add_row(
            row.name,
            escape(text),
            escape(spelling(row)),
            f"{escape(row.metadata['doc'])} Default: {default_text(row)}.",
        )
    console.print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("fusewright", description="A just-in-time fusion compiler for PyTorch.")
    parser.add_argument("--version", action="version", version=f"fusewright {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    # Named here for the help text; `main` hands them their arguments unread, --help included.
    commands.add_parser("demo", help="run the main job against eager on this machine", add_help=False)
    commands.add_parser("bench", help="run the benchmarks", add_help=False)
    cache = commands.add_parser("cache", help="look at or clear the disk cache")
    cache.add_argument("action", choices=tuple(CACHE_COMMANDS), help="list, measure, empty or locate it")
    commands.add_parser("bisect", help="find the group that makes a program fail", add_help=False)
    commands.add_parser("explain", help="run a script and report what was fused, why not, how fast", add_help=False)
    commands.add_parser("profile", help="run a script and measure every kernel", add_help=False)
    commands.add_parser("aot", help="look at a saved program, or see whether it loads here", add_help=False)
    commands.add_parser("run", help="run a repro file: fused, through torch; compare, time", add_help=False)
    pinned = commands.add_parser("pins", help="look at or remove pinned schedules")
    pinned.add_argument("action", choices=("list", "show", "clear"), help="list them, print their texts, remove them")
    pinned.add_argument("hash", nargs="*", help="structure hashes of fusions; all without")
    settings = commands.add_parser("options", help="print every option, its value and how to set it")
    settings.add_argument("--markdown", action="store_true", help="as the page of the documentation")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = _parser()
    try:
        if arguments and arguments[0] in PROGRAMS:
            program = importlib.import_module(PROGRAMS[arguments[0]])
            return int(program.main(arguments[1:]) or 0)
        parsed = parser.parse_args(arguments)
        console = Console()
        if parsed.command == "pins":
            return _pins(parsed.action, parsed.hash, console)
        if parsed.command == "cache":
            CACHE_COMMANDS[parsed.action](default_store(), console)
        elif parsed.markdown:
            print(markdown(), end="")
        else:
            _options(console)
        return 0
    except UserError as error:
        print(f"fusewright: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `fusewright options | head`
        sys.stderr.close()
        return 0
    except SystemExit as done:  # argparse
        return done.code if isinstance(done.code, int) else 2


if __name__ == "__main__":
    sys.exit(main())
