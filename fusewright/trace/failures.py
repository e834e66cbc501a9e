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
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, guard_or_true

from ..core.errors import Refusal, UserError
from .fakes import check_grown

TORCH = str(Path(torch.__file__).parent)
PACKAGE = str(Path(__file__).parent.parent)


MADE_BEFORE = "make it before the first call, and pass it as an argument or hold it as a buffer of the module."


_KEPT = (
    "{} uses a tensor that an earlier run of the function has made and kept (in a cache, a dictionary or an object), "
    f"which a trace cannot do: {MADE_BEFORE}"
)


class Foreign(UserError):
    """A traced function uses a tensor that is not among its arguments."""


class Written(Exception):
    """A traced function writes to a tensor that is not among its arguments."""


class Used(Exception):
    """A traced function computes with such a tensor, where that would not fail."""


class Missing(IndexError):
    """A program selects what a tensor has not; eager raises IndexError."""


# Parts of torch that are programs as users write them. What they cannot do in a trace nobody could write otherwise.
_PROGRAMS = tuple(f"{TORCH}/{part}/" for part in ("nn", "optim", "distributions", "ao"))


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


def _line_of_torch(e: BaseException) -> str:
    """The innermost line of a program in an exception's traceback, if that is torch's; else ""."""
    out = ""
    for frame, number in traceback.walk_tb(e.__traceback__):
        file = frame.f_code.co_filename
        if file.startswith(_PROGRAMS):
            out = line_at(file, number)
        elif not file.startswith((TORCH, PACKAGE, "<")):
            out = ""
    return out


def _user_error(message: str, cause: Exception, kind: type[UserError] = UserError) -> UserError:
    out = kind(message)
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
        if isinstance(cause, Written):
            return _foreign("writes to", e)
        if isinstance(cause, Used):
            return _foreign("uses", e)
        if isinstance(cause, (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode)):
            if line := _line_of_torch(e):
                return Refusal("value", f"{line} needs the value of a tensor, which a trace does not know")
            return _user_error(
                f"{innermost_user_line(e) or 'the function'} needs the value of a tensor, which a trace does not know. "
                "Express it with torch.where or leave it outside the fused function.",
                e,
            )
        cause = cause.__cause__ or cause.__context__
    if "in tensor_tracker" in str(e):  # how torch before 2.13 fails on it
        return made_and_kept(e)
    if "torch.utils.checkpoint is incompatible with" in str(e):
        return Refusal("checkpoint", "it calls torch.utils.checkpoint with use_reentrant=True")
    if "Cannot backprop through mirrored meta" in str(e) or "through the graph a second time" in str(e):
        where = innermost_user_line(e) or "it"
        return Refusal("gradient", f"{where} computes gradients that are added to .grad, or of what is in the result")
    if "convert all Tensors to FakeTensors" in str(e):
        return _foreign("uses", e)
    return e


def _foreign(does: str, e: Exception) -> UserError:
    where = innermost_user_line(e) or "the function"
    text = f"{where} {does} a tensor that is no argument of the fused function: pass it as one, or fuse the module that"
    return _user_error(f"{text} holds it.", e, Foreign)


def made_and_kept(e: Exception) -> UserError:
    """What an exception means that was raised where a function used such a tensor."""
    return _user_error(_KEPT.format(innermost_user_line(e) or "the function"), e)


def check_constants(gm: torch.fx.GraphModule) -> None:
    """Raises UserError where a graph holds a tensor without memory: one that the function has made before, and kept.

    Raises Refusal where it holds a generator of random numbers, or what a call makes larger.
    """
    check_grown(gm)
    for n in gm.graph.nodes:
        if n.kwargs.get("generator") is not None:
            raise Refusal("random", "it draws with a torch.Generator, which it may have made or seeded itself")
        held = operator.attrgetter(n.target)(gm) if n.op == "get_attr" else None
        if not isinstance(held, torch.Tensor):
            continue
        if isinstance(held, (FakeTensor, FunctionalTensor)) or torch._is_functional_tensor(held):
            users = "".join(u.meta.get("stack_trace") or "" for u in n.users)
            lines = re.findall(r'File "(.*)", line (\d+)', users)
            where = line_at(lines[-1][0], int(lines[-1][1])) if lines else "the function"
            raise UserError(_KEPT.format(where))


def check_selections(gm: torch.fx.GraphModule) -> None:
    """Raises Missing where a graph selects what is not there; otherwise sizes are guarded to have it.

    Tracing does so itself from torch 2.13 on. Before, the view would be made, and read memory of others.
    """
    for n in gm.graph.find_nodes(op="call_function", target=torch.ops.aten.select.int):
        x = n.args[0].meta["val"]
        index = n.args[2].meta["val"] if isinstance(n.args[2], torch.fx.Node) else n.args[2]
        size = x.shape[n.args[1]]
        if not (guard_or_true(index < size) and guard_or_true(index >= -size)):
            place = f"tensor of size {[int(k) for k in x.shape]} at dimension {n.args[1]}"
            raise Missing(f"select(): index {index} out of range for {place}")


__all__ = [
    "MADE_BEFORE",
    "PACKAGE",
    "TORCH",
    "Foreign",
    "Missing",
    "Used",
    "Written",
    "check_constants",
    "check_selections",
    "explained",
    "line_at",
    "made_and_kept",
    "pinned",
]
