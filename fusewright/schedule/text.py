"""Schedules as text files.

    # what is behind a `#` is a comment
    schedule cpu "inner persistent" for "4be1f2a09c77"
      bind(i0, parallel)
      bind(i1, vector, 16)

Grammar
    file     ::= schedule*
    schedule ::= "schedule" ("cpu" | "gpu") family "for" fusion part
                 ("before" family part | "after" family part)*      what runs around a scatter, on a CPU
    part     ::= directive*                                         `forms.py`
    family   ::= string                                             what this kind of kernel is called, for people
    fusion   ::= string                                             structure hash, or the name of a group

Which directives there are, is declared beside the fields that they set: in `cpu.py` and `gpu.py`. Their order matters
only for the axes of loops, which are outermost first; a vectorised axis that no other line binds is the innermost
column.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import Refusal
from ..core.lexer import Cursor, ParseError, quote
from ..fusion.ir import Fusion
from . import legal, legal_gpu
from .cpu import Schedule
from .forms import Directive, Illegal, finish, read, render, take
from .gpu_base import GpuSchedule
from .legal_gpu import Sizes

KINDS: dict[str, type] = {"cpu": Schedule, "gpu": GpuSchedule}
_PARTS = ("before", "after")
_FAMILY = 40  # characters


@dataclass(frozen=True, slots=True)
class Script:
    """A schedule of a file. `key`: the structure hash or the group it is for; `line`: of its header.

    `written`: (field that it sets, directive), in order, for messages.
    """

    schedule: Schedule | GpuSchedule
    key: str
    line: int = 0
    source: str = ""
    written: list[tuple[str, Directive]] = field(default_factory=list, compare=False)

    @property
    def target(self) -> str:
        return "cpu" if isinstance(self.schedule, Schedule) else "gpu"

    def located(self, error: Illegal) -> Illegal:
        """`error` with the directive that is at fault, as it was written, and its line; without one the header's."""

        def likely(found: tuple[str, Directive]) -> int:
            f, d = found
            named = any(error.argument == t.text for a in d.arguments for t in a)
            alike = (f == error.field) + (d.head == error.directive.partition("(")[0])
            return 9 * (str(d) == error.directive) + 3 * named + alike if named or f == error.field else 0

        best = max(self.written, key=likely, default=None)
        if best is None or likely(best) == 0:
            return Illegal(
                error.directive, error.argument, error.why, error.legal, error.field, error.line or self.line
            )
        d = best[1]
        return Illegal(str(d), error.argument, error.why, error.legal, error.field, error.line or d.line)

    def check(self, f: Fusion, sizes: Sizes | None = None, anywhere: Iterable[str] = ()) -> Fusion:
        """The fusion with the schedule's axes. Raises Illegal with the line at fault. `sizes`: of a GPU schedule."""
        try:
            if isinstance(self.schedule, Schedule):
                return legal.check(f, self.schedule, tuple(anywhere))
            assert sizes is not None
            return legal_gpu.check(f, self.schedule, sizes)
        except Illegal as e:
            raise self.located(e) from None
        except Refusal as r:
            raise Illegal("schedule", "", r.detail or r.code, line=self.line) from None


def dump(schedule: Schedule | GpuSchedule, key: str, comment: str = "") -> str:
    """The text of a schedule for a fusion; `parse` gives it back. `comment`: any text, put above."""
    target = next(name for name, kind in KINDS.items() if type(schedule) is kind)
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"schedule {target} {quote(schedule.family)} for {quote(key)}")
    lines += [f"  {d}" for d in render(schedule)]
    for when in _PARTS:
        for part in getattr(schedule, when, ()):
            lines += [f"{when} {quote(part.family)}", *(f"  {d}" for d in render(part))]
    return "\n".join(lines) + "\n"


def parse(text: str, source: str = "") -> list[Script]:
    """The schedules of a file. Raises ParseError where it does not follow the grammar, Illegal for a directive that
    does not exist; both with the line."""
    c = Cursor(text)
    out: list[Script] = []
    while c.token.kind != "end":
        out.append(_schedule(c, source))
    return out


def parse_one(text: str) -> Script:
    """The only schedule of a text. Raises ParseError."""
    scripts = parse(text)
    if len(scripts) != 1:
        raise ParseError(f"1:1: expected one schedule, found {len(scripts)}")
    return scripts[0]


def _schedule(c: Cursor, source: str) -> Script:
    line = c.expect("schedule").line
    token = c.token
    target = c.word("'cpu' or 'gpu'")
    if target not in KINDS:
        c.fail(f"expected 'cpu' or 'gpu', found {token}", token)
    family = _family(c)
    c.expect("for")
    key = c.string("the structure hash or the group, in quotes")
    written: list[tuple[str, Directive]] = []
    kind = KINDS[target]
    state = _part(c, kind, written)
    rest: dict[str, Any] = {"family": family}
    if target == "cpu":
        parts: dict[str, list[Schedule]] = {when: [] for when in _PARTS}
        while c.token.text in _PARTS:
            when = c.next().text
            named = _family(c)
            parts[when].append(_made(Schedule, _part(c, Schedule, written), family=named))
        rest |= {when: tuple(found) for when, found in parts.items()}
    if c.token.kind != "end" and not c.is_at("schedule"):
        c.fail(f"expected a directive, found {c.token}")
    return Script(_made(kind, state, **rest), key, line, source, written)


def _family(c: Cursor) -> str:
    token = c.token
    family = c.string("the family, in quotes")
    plain = family.isascii() and family.isprintable() and family[:1].isalpha() and len(family) <= _FAMILY
    if not plain:
        c.fail(f"not a name of a kind of kernel: {token.text}", token)
    return family


def _part(c: Cursor, kind: type, written: list[tuple[str, Directive]]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    while c.token.kind == "word" and c.peek().text == "(":
        d = read(c)
        written.append((take(kind, state, d), d))
    return state


def _made(kind: type, state: dict[str, Any], **rest: Any) -> Any:
    if kind is Schedule and state.get("vector"):
        bound = (*state.get("rows", ()), *state.get("cols", ()))
        if state["vector"] not in bound:
            state["cols"] = (*state.get("cols", ()), state["vector"])
    if kind is GpuSchedule:
        state.setdefault("mode", "loop")
    return finish(kind, state, **rest)
