"""What a failure of tracing means to users: the line, and what to do about it."""

from __future__ import annotations

import operator
import re
import traceback
from collections.abc import Sequence
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ..core.errors import Refusal, UserError

TORCH = str(Path(torch.__file__).parent)
PACKAGE = str(Path(__file__).parent.parent)


def line_at(file: str, number: int) -> str:
    """A line as messages show it."""
    found = traceback.FrameSummary(file, number, "").line
    return f"{file}:{number} ({found})" if found else f"{file}:{number}"


def innermost_user_line(e: BaseException) -> str:
    """The last line outside torch and this package in an exception's traceback; "" if there is none."""
    out = ""
    for frame, number in traceback.walk_tb(e.__traceback__):
        if not frame.f_code.co_filename.startswith((TORCH, PACKAGE, "<")):
            out = line_at(frame.f_code.co_filename, number)
    return out


def _user_error(message: str, cause: Exception) -> UserError:
    out = UserError(message)
    out.__cause__ = cause
    return out


def pinned(line: str, numbers: Sequence[str]) -> str:
    """What to say of a line that needs sizes and arguments, as expressions in `numbers`, as Python numbers."""
    arguments = ", ".join(dict.fromkeys(f'"{re.split(r"[.[]", n)[0]}"' for n in numbers))
    instead = " x.shape[0] in place of len(x) would not." if "len(" in line else ""
    return (
        f"{line} uses {' and '.join(numbers)} as a Python number, so that one trace cannot serve all sizes.{instead} "
        f"Pass specialize=({arguments},) or specialize=True to fuse: then each value has a trace of its own."
    )


def explained(e: Exception, pinned: str) -> Exception:
    """`e`, or the UserError or Refusal behind it. `pinned`: what to say if it needs a size as a number, or ""."""
    if pinned:
        return _user_error(pinned, e)
    cause: BaseException | None = e
    seen: set[int] = set()  # chains of exceptions may be circular
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, (Refusal, UserError)):
            return cause
        if isinstance(cause, (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode)):
            return _user_error(
                f"{innermost_user_line(e) or 'the function'} needs the value of a tensor, which a trace does not know. "
                "Express it with torch.where or leave it outside the fused function.",
                e,
            )
        cause = cause.__cause__ or cause.__context__
    if "convert all Tensors to FakeTensors" in str(e):
        return _user_error(
            f"{innermost_user_line(e) or 'the function'} uses a tensor that is no argument of the fused function: pass "
            "it as one, or fuse the module that holds it.",
            e,
        )
    return e


def check_constants(gm: torch.fx.GraphModule) -> None:
    """Raises UserError where a graph holds a tensor without memory: one that the function has made before, and kept."""
    for n in gm.graph.nodes:
        held = operator.attrgetter(n.target)(gm) if n.op == "get_attr" else None
        if not isinstance(held, torch.Tensor):
            continue
        if isinstance(held, (FakeTensor, FunctionalTensor)) or torch._is_functional_tensor(held):
            users = "".join(u.meta.get("stack_trace") or "" for u in n.users)
            lines = re.findall(r'File "(.*)", line (\d+)', users)
            where = line_at(lines[-1][0], int(lines[-1][1])) if lines else "the function"
            raise UserError(
                f"{where} uses a tensor that an earlier run of the function has made and kept (in a cache, a "
                "dictionary or an object), which a trace cannot do: make it before the first call, and pass it as an "
                "argument or hold it as a buffer of the module."
            )


__all__ = ["PACKAGE", "TORCH", "check_constants", "explained", "line_at", "pinned"]
