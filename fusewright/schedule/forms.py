"""Directives as text: how the fields of a schedule are written, one directive a line, and read back.

Every field of a schedule's dataclass that has a textual form says so where it is declared, as in

    steps: int = number("unroll(columns, {n})", 1)

Printing, parsing and error messages all come from there. Fields without a form (`family`, the schedules of other
phases) belong to the header (`text.py`).

Grammar
    directive ::= word "(" argument ("," argument)* ")"
    argument  ::= (word | number)+
A pattern is a directive in which {axis} and {buffer} stand for a name and {n} for a number.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field
from functools import cache
from typing import Any

from ..core.errors import UserError
from ..core.lexer import Cursor, Token

Values = tuple[Any, ...]


class Illegal(UserError):
    """A directive that cannot be: `directive` as text, `argument` of it, why, and what would be legal instead.

    `field`: the field of the schedule that is wrong ("" when the text itself is); `line`: in a file, 0 if unknown.
    """

    def __init__(self, directive: str, argument: str, why: str, legal: str = "", field: str = "", line: int = 0):
        self.directive, self.argument, self.why, self.legal = directive, argument, why, legal
        self.field, self.line = field, line
        super().__init__()

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        argument = f" argument '{self.argument}':" if self.argument else ""
        legal = f"; legal: {self.legal}" if self.legal else ""
        return f"{where}{self.directive}:{argument} {self.why}{legal}"


@dataclass(frozen=True, slots=True)
class Form:
    """How one field is written.

    `patterns`: its spellings; `lines(value, schedule)`: (pattern, what fills its blanks) for each line;
    `take(state, field, pattern, values)` adds one line to the values of the fields read so far.
    """

    patterns: tuple[str, ...]
    lines: Callable[[Any, Any], list[tuple[str, Values]]]
    take: Callable[[dict[str, Any], str, str, Values], None]
    rank: int = 1


def _field(form: Form, default: Any) -> Any:
    return field(default=default, metadata={"form": form})


def _set(value: Callable[[Values], Any]) -> Callable[[dict[str, Any], str, str, Values], None]:
    def take(state: dict[str, Any], name: str, pattern: str, values: Values) -> None:
        if name in state:
            raise ValueError("given twice")
        state[name] = value(values)

    return take


def _append(item: Callable[[Values], Any]) -> Callable[[dict[str, Any], str, str, Values], None]:
    def take(state: dict[str, Any], name: str, pattern: str, values: Values) -> None:
        before = state.get(name, ())
        if item(values) in before:
            raise ValueError("given twice")
        state[name] = (*before, item(values))

    return take


# --- what fields are declared with: those without a default as `field(metadata=axes(...))` -------


def axes(pattern: str, *more: str, pick: Callable[[Any], int] | None = None, keep: Any = None) -> dict[str, Form]:
    """A tuple of axes: a line for each, in order. `pick(schedule)`: which spelling; `keep(axis, schedule)`: whether the
    axis has a line here at all (another directive may imply it)."""
    patterns = (pattern, *more)

    def lines(value: Sequence[str], s: Any) -> list[tuple[str, Values]]:
        how = patterns[pick(s) if pick is not None else 0]
        return [(how, (a,)) for a in value if keep is None or keep(a, s)]

    return {"form": Form(patterns, lines, _append(lambda v: v[0]))}


def choice(pattern: str) -> dict[str, Form]:
    """One word, written first."""
    return {"form": Form((pattern,), lambda v, s: [(pattern, (v,))], _set(lambda v: v[0]), 0)}


def name(pattern: str, default: str) -> Any:
    """One name, or ""."""
    return _field(Form((pattern,), lambda v, s: [(pattern, (v,))] if v else [], _set(lambda v: v[0])), default)


def word(pattern: str, default: str) -> Any:
    """One word, always written."""
    return _field(Form((pattern,), lambda v, s: [(pattern, (v,))], _set(lambda v: v[0])), default)


def _together(pattern: str, other: str, always: bool = False) -> Form:
    """A field together with the field `other`, which has no line of its own."""

    def take(state: dict[str, Any], name: str, pattern: str, values: Values) -> None:
        if name in state:
            raise ValueError("given twice")
        state[name], state[other] = values

    return Form((pattern,), lambda v, s: [(pattern, (v, getattr(s, other)))] if v or always else [], take)


def kept(pattern: str, default: str) -> Any:
    """A word together with that of the field `keep_in`; always written."""
    return _field(_together(pattern, "keep_in", True), default)


def staged(pattern: str) -> Any:
    """An axis, or "", together with the field `turned`."""
    return _field(_together(pattern, "turned"), "")


def number(pattern: str, default: int) -> Any:
    """A number, always written."""
    return _field(Form((pattern,), lambda v, s: [(pattern, (v,))], _set(lambda v: v[0])), default)


def flag(pattern: str) -> Any:
    """Written when true."""
    return _field(Form((pattern,), lambda v, s: [(pattern, ())] if v else [], _set(lambda v: True)), False)


def some(pattern: str) -> Any:
    """A number, written when it is not zero."""
    return _field(Form((pattern,), lambda v, s: [(pattern, (v,))] if v else [], _set(lambda v: v[0])), 0)


def names(pattern: str) -> Any:
    """A set of names, a line for each."""
    form = Form((pattern,), lambda v, s: [(pattern, (n,)) for n in sorted(v)], _append(lambda v: v[0]))
    return _field(form, frozenset())


def sizes(pattern: str) -> dict[str, Form]:
    """A tuple of (name, number), a line for each, written first."""
    return {"form": Form((pattern,), lambda v, s: [(pattern, tuple(x)) for x in v], _append(tuple), 0)}


def vector(pattern: str) -> dict[str, Form]:
    """The vector axis together with the field `lanes`."""
    return {"form": _together(pattern, "lanes")}


def owner(by_name: str, by_number: str) -> Any:
    """A name, a number, or None (no line)."""

    def lines(v: str | int | None, s: Any) -> list[tuple[str, Values]]:
        return [] if v is None else [(by_name if isinstance(v, str) else by_number, (v,))]

    return _field(Form((by_name, by_number), lines, _set(lambda v: v[0]), 0), None)


# --- the table of a class ------------------------------------------------------------------------


@cache
def table(kind: Any) -> tuple[tuple[str, Form], ...]:
    """(field, form) of a schedule class, in the order in which directives are written."""
    found = [(f.name, f.metadata["form"]) for f in dataclasses.fields(kind) if "form" in f.metadata]
    return tuple(sorted(found, key=lambda x: x[1].rank))


def render(schedule: Any) -> list[str]:
    """The directives of a schedule."""
    out = []
    kind: Any = type(schedule)
    for name, form in table(kind):
        out += [_fill(p, v) for p, v in form.lines(getattr(schedule, name), schedule)]
    return out


def spelled(kind: type, name: str, values: Values = (), which: int = 0) -> str:
    """The directive that gives field `name` a value, for messages."""
    form = dict(table(kind)).get(name)
    return name if form is None else _fill(form.patterns[which], values)


def _fill(pattern: str, values: Values) -> str:
    parts = _blanks(pattern)
    filled = iter(values)
    return "".join(str(next(filled, p[1:-1])) if p.startswith("{") else p for p in parts)


@cache
def _blanks(pattern: str) -> tuple[str, ...]:
    out, rest = [], pattern
    while "{" in rest:
        before, _, rest = rest.partition("{")
        blank, _, rest = rest.partition("}")
        out += [before, "{" + blank + "}"]
    return (*out, rest)


@cache
def _shape(pattern: str) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """A pattern as its name and its arguments' words."""
    head, _, rest = pattern.partition("(")
    return head, tuple(tuple(a.split()) for a in rest.rstrip(")").split(","))


def legal_forms(kind: type, head: str) -> list[str]:
    """The spellings of the directives called `head`, for messages."""
    return [p.replace("{", "").replace("}", "") for _, f in table(kind) for p in f.patterns if _shape(p)[0] == head]


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive as it was written."""

    head: str
    arguments: tuple[tuple[Token, ...], ...]
    line: int

    def __str__(self) -> str:
        return f"{self.head}({', '.join(' '.join(t.text for t in a) for a in self.arguments)})"


def read(c: Cursor) -> Directive:
    """The directive at the cursor. Raises ParseError."""
    head = c.kind("word", "a directive")
    arguments: list[tuple[Token, ...]] = []
    for _ in c.list("(", ")"):
        tokens = []
        while c.token.kind in ("word", "number"):
            tokens.append(c.next())
        if not tokens:
            c.fail(f"expected an argument of {head.text}, found {c.token}")
        arguments.append(tuple(tokens))
    return Directive(head.text, tuple(arguments), head.line)


def take(kind: type, state: dict[str, Any], d: Directive) -> str:
    """Add a directive to `state` (field -> value); returns the field. Raises Illegal.

    Sets are collected as tuples; `finish` makes them what the fields are.
    """
    heads = {_shape(p)[0] for _, f in table(kind) for p in f.patterns}
    if d.head not in heads:
        near = difflib.get_close_matches(d.head, heads, 1, 0.5)
        known = f"did you mean '{near[0]}'?" if near else "known: " + ", ".join(sorted(heads))
        raise Illegal(str(d), "", f"no directive is called '{d.head}', {known}", line=d.line)
    for name, form in table(kind):
        for pattern in form.patterns:
            values = _match(pattern, d)
            if values is None:
                continue
            try:
                form.take(state, name, pattern, values)
            except ValueError as e:
                raise Illegal(str(d), str(values[0]) if values else "", str(e), field=name, line=d.line) from None
            return name
    legal = legal_forms(kind, d.head)
    raise Illegal(str(d), _odd(kind, d), "not what this directive takes", " or ".join(legal), line=d.line)


def _match(pattern: str, d: Directive) -> Values | None:
    head, arguments = _shape(pattern)
    if head != d.head or len(arguments) != len(d.arguments):
        return None
    values: list[Any] = []
    for want, got in zip(arguments, d.arguments, strict=True):
        if len(want) != len(got):
            return None
        for w, t in zip(want, got, strict=True):
            if not w.startswith("{"):
                if t.text != w:
                    return None
            elif w == "{n}":
                if t.kind != "number" or not t.text.isdigit():
                    return None
                values.append(int(t.text))
            elif t.kind != "word":
                return None
            else:
                values.append(t.text)
    return tuple(values)


def _odd(kind: type, d: Directive) -> str:
    """The first argument of `d` that no pattern of its name has in that place."""
    forms = [_shape(p)[1] for _, f in table(kind) for p in f.patterns if _shape(p)[0] == d.head]
    for k, got in enumerate(d.arguments):
        forms = [f for f in forms if k < len(f) and _alike(f[k], got)]
        if not forms:
            return " ".join(t.text for t in got)
    return ""


def _alike(want: tuple[str, ...], got: tuple[Token, ...]) -> bool:
    if len(want) != len(got):
        return False
    return all(
        (t.text.isdigit() if w == "{n}" else t.kind == "word") if w.startswith("{") else t.text == w
        for w, t in zip(want, got, strict=True)
    )


def finish(kind: type, state: dict[str, Any], **rest: Any) -> Any:
    """The schedule of a class whose fields were read; `rest`: those without a form."""
    values: dict[str, Any] = {}
    for f in dataclasses.fields(kind):
        if f.name in rest:
            values[f.name] = rest[f.name]
        elif f.name in state:
            values[f.name] = frozenset(state[f.name]) if f.default == frozenset() else state[f.name]
        elif f.default is MISSING:
            values[f.name] = {"vector": "", "lanes": 1}.get(f.name, ())
    return kind(**values)
