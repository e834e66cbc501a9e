"""The tokens of every text format, and a cursor over them for recursive-descent parsers.

Grammar
    word    ::= letter (letter | digit | "_")* ("." (letter | digit | "_")+)*
    number  ::= digits, with an optional fraction and exponent; the sign is a token of its own
    string  ::= '"' characters '"'            backslash escapes as in JSON
    id      ::= ("%" | "$" | "@") digits
    punct   ::= ".." | "//" | one of ( ) [ ] { } , : ; = + - *
Blanks separate tokens; `#` starts a comment that ends with its line. Newlines mean nothing else.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import NoReturn

from .errors import CompilerError

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+|\#[^\n]*)
      | (?P<number>\d+(?:\.(?!\.)\d*)?(?:[eE][+-]?\d+)?)
      | (?P<word>[A-Za-z_]\w*(?:\.\w+)*)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<id>[%$@]\d+)
      | (?P<punct>\.\.|//|[()\[\]{},:;=+\-*])""",
    re.VERBOSE | re.ASCII,
)
_WORD = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*", re.ASCII)


class ParseError(CompilerError):
    """Text that does not follow its grammar. The message starts with `line:column` of the offending token."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is word, number, string, id, punct or end; `line` and `col` count from 1."""

    kind: str
    text: str
    line: int
    col: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


def tokenize(text: str) -> list[Token]:
    """All tokens, closed by one of kind `end`. Raises ParseError at the first character that starts none."""
    out: list[Token] = []
    pos, line, start = 0, 1, 0
    while pos < len(text):
        m = _TOKEN.match(text, pos)
        if m is None:
            raise ParseError(f"{line}:{pos - start + 1}: unexpected character {text[pos]!r}")
        kind = m.lastgroup or ""
        if kind == "blank":
            newlines = m.group().count("\n")
            if newlines:
                line += newlines
                start = text.rindex("\n", pos, m.end()) + 1
        else:
            out.append(Token(kind, m.group(), line, pos - start + 1))
        pos = m.end()
    out.append(Token("end", "", line, pos - start + 1))
    return out


def is_word(name: str) -> bool:
    """Whether `name` can be written as a word."""
    return _WORD.fullmatch(name) is not None


def quote(text: str) -> str:
    """A string token that stands for `text`."""
    return json.dumps(text)


def number_text(value: bool | int | float) -> str:
    """The spelling of a number that `Cursor.number` reads back as the same value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


class Cursor:
    """A position in a token list. Every method that fails raises ParseError at the current token."""

    __slots__ = ("at", "tokens")

    def __init__(self, text: str):
        self.tokens = tokenize(text)
        self.at = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        """The token `ahead` of the current one (the last one when there are fewer)."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        t = token or self.token
        raise ParseError(f"{t.line}:{t.col}: {message}")

    def next(self) -> Token:
        t = self.tokens[self.at]
        if t.kind != "end":
            self.at += 1
        return t

    def is_at(self, text: str) -> bool:
        """Whether the current token is this word or punctuation."""
        t = self.tokens[self.at]
        return t.text == text and t.kind in ("word", "punct")

    def accept(self, text: str) -> bool:
        """Step over this word or punctuation if it is the current token."""
        if self.is_at(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        if not self.is_at(text):
            self.fail(f"expected '{text}', found {self.token}")
        return self.next()

    def kind(self, kind: str, what: str) -> Token:
        """The current token, which must be of `kind`; `what` says what was wanted."""
        if self.token.kind != kind:
            self.fail(f"expected {what}, found {self.token}")
        return self.next()

    def word(self, what: str) -> str:
        return self.kind("word", what).text

    def string(self, what: str) -> str:
        token = self.kind("string", what)
        try:
            return str(json.loads(token.text))
        except ValueError:
            self.fail(f"bad escape in {token.text}", token)

    def natural(self, what: str) -> int:
        """An unsigned integer."""
        token = self.kind("number", what)
        if not token.text.isdigit():
            self.fail(f"expected {what}, found {token}", token)
        return int(token.text)

    def integer(self, what: str) -> int:
        sign = -1 if self.accept("-") else 1
        return sign * self.natural(what)

    def number(self) -> bool | int | float:
        """`true`, `false`, or an optionally negative integer, decimal, `inf` or `nan`."""
        start = self.token
        if self.accept("true"):
            return True
        if self.accept("false"):
            return False
        negative = self.accept("-")
        t = self.token
        value: int | float
        if t.kind == "number":
            value = int(t.text) if t.text.isdigit() else float(t.text)
        elif t.kind == "word" and t.text in ("inf", "nan"):
            value = math.inf if t.text == "inf" else math.nan
        else:
            self.fail(f"expected a number, found {start}", start)
        self.at += 1
        return -value if negative else value

    def list(self, open_: str, close: str) -> _Items:
        """Iterate over comma-separated items between two brackets; the caller parses each item."""
        return _Items(self, open_, close)


class _Items:
    __slots__ = ("close", "cursor", "first")

    def __init__(self, cursor: Cursor, open_: str, close: str):
        cursor.expect(open_)
        self.cursor, self.close, self.first = cursor, close, True

    def __iter__(self) -> _Items:
        return self

    def __next__(self) -> int:
        if self.first:
            self.first = False
            if self.cursor.accept(self.close):
                raise StopIteration
        else:
            if self.cursor.accept(self.close):
                raise StopIteration
            if not self.cursor.is_at(","):
                self.cursor.fail(f"expected ',' or '{self.close}', found {self.cursor.token}")
            self.cursor.next()
        return 0
