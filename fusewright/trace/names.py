"""The names that code uses: they tell what it may read from outside, and what it assigns there."""

from __future__ import annotations

import dis
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

# Functions that take the name of an attribute or a global, or give all of them.
_BY_TEXT = {"getattr", "hasattr", "setattr", "delattr", "vars", "globals", "dir", "attrgetter"}
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")
_READS = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM")
_LONGEST = 80  # longer texts are no names


class Names:
    """The names in code.

    `loaded`, `stored`: globals; `attributes`, `put`: attributes that are read and assigned; `cells`: nonlocals that are
    assigned; `modules`: what is imported. `asks`: whether attributes or globals are looked up by a text; then `texts`
    are those in the code, which are names, or parts of some (`f"layer{k}"`); `by_text`: whether of globals, too.
    `literals`: all texts in the code, which may be keys.
    """

    def __init__(self, code: CodeType):
        self.loaded, self.stored, self.attributes = set[str](), set[str](), set[str]()
        self.put, self.modules, cells = set[str](), set[str](), set[str]()
        for i in dis.get_instructions(code):
            if i.opname in _LOADS:
                self.loaded.add(i.argval)
            elif i.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                self.stored.add(i.argval)
            elif i.opname in ("STORE_ATTR", "DELETE_ATTR"):
                self.put.add(i.argval)
            elif i.opname in ("STORE_DEREF", "DELETE_DEREF"):
                cells.add(i.argval)
            elif i.opname == "IMPORT_NAME":
                self.modules.add(i.argval)
            elif i.opname in _READS:
                self.attributes.add(i.argval)
        self.cells = cells & set(code.co_freevars)
        self.asks = not _BY_TEXT.isdisjoint(self.loaded | self.attributes) or "__dict__" in self.attributes
        self.texts = set(_parts(code.co_consts)) if self.asks else set[str]()
        self.by_text = "globals" in self.loaded
        self.literals = {c for c in _flat(code.co_consts) if type(c) is str and len(c) <= _LONGEST}

    def among(self, names: Mapping[str, Any]) -> set[str]:
        """Those of `names` that the code may read or assign as attributes."""
        return names.keys() & (self.attributes | self.put) | _holding(self.texts, names)

    def globals_among(self, names: Mapping[str, Any]) -> set[str]:
        """Those of `names` that the code may read or assign as globals."""
        return names.keys() & (self.loaded | self.stored) | _holding(self.texts if self.by_text else (), names)


def _holding(texts: Collection[str], names: Iterable[str]) -> set[str]:
    return {n for n in names if any(t in n for t in texts)} if texts else set()


def _flat(constants: Iterable[Any]) -> Iterator[Any]:
    for c in constants:
        if isinstance(c, (tuple, frozenset)):
            yield from _flat(c)
        else:
            yield c


def _parts(constants: Iterable[Any]) -> Iterator[str]:
    """What of the texts among constants may be part of a name."""
    for c in _flat(constants):
        if type(c) is str and len(c) <= _LONGEST and not any(map(str.isspace, c)):
            yield from re.findall(r"\w{2,}|^\w$", re.sub(r"%[-+#0-9.]*[a-z]|\{[^}]*\}", " ", c))


__all__ = ["Names"]
