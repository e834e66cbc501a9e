"""The three kinds of failure, and the reasons that are not failures.

`UserError`      a bad argument or option: the message names it and says what to do.
`CompilerError`  a bug or an unsupported case of ours: carries pass, group and user line; the runtime falls back.
`RuntimeFault`   the driver, the loader or memory: surfaced as it is, state consistent.
`Refusal`        not an error: why an operation or a merge was declined. `explain` prints it.
"""

from __future__ import annotations


class FusewrightError(Exception):
    """Base of everything Fusewright raises itself."""


class FusewrightWarning(UserWarning):
    """Something works, but not as well as it could: a fallback, a cache directory that cannot be written."""


class UserError(FusewrightError):
    """A bad argument, option or environment variable."""


def flag(call: str, **given: object) -> None:
    """Raise a UserError that names the argument of `call` that is neither True nor False."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise UserError(f"{call}: {name} must be True or False, not {value!r}")


class CompilerError(FusewrightError):
    """A stage failed on a program it should have handled.

    Parameters: `message`; `stage`, the pass that failed; `where`, the user's source line when known.
    """

    def __init__(self, message: str, stage: str = "", where: str = ""):
        super().__init__(message)
        self.stage = stage
        self.where = where

    def __str__(self) -> str:
        parts = [super().__str__()]
        if self.stage:
            parts.append(f"in pass '{self.stage}'")
        if self.where:
            parts.append(f"at {self.where}")
        return ", ".join(parts)


class VerifyError(CompilerError):
    """An IR that breaks its own rules reached a stage boundary."""


class RuntimeFault(FusewrightError):
    """Loading or launching a compiled kernel failed."""


class Refusal(Exception):
    """Why something was not lowered, merged or scheduled. `code` is a stable short name.

    Raised inside the compiler as control flow; recorded, never shown to the user as an error.
    """

    def __init__(self, code: str, detail: str = ""):
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail
