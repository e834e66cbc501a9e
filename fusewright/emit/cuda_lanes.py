"""Lanes taken out of vectors by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..loop.ir import Imm, Let

if TYPE_CHECKING:
    from .cuda_body import Body


def permuted(body: Body, s: Let) -> Iterator[str]:
    """The lanes of a `permute`."""
    for k in s.attr:
        n, at = divmod(k, s.args[0].lanes)
        a = s.args[n]
        if isinstance(a, Imm) or a.lanes == 1 or a.name in body.splats:
            yield body.arg(a)
        else:
            yield f"{body.names(a.name)}[{at}]"


__all__ = ["permuted"]
