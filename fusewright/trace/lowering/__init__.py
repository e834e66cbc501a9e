"""Lowering rules, by family. Importing this package fills the table."""

from ...core.errors import UserError
from ...core.switches import names_of, suggest
from . import (  # noqa: F401
    activations,
    factories,
    float_parts,
    indexing,
    logic,
    losses,
    pointwise,
    quantize,
    reductions,
    scatters,
    special,
    views,
)
from .factories import UNWRITTEN
from .registry import FLOAT8, RULES, VIEWS, Context, HostFloat, Rule


def check_operators(disable: tuple[str, ...]) -> None:
    """Raises UserError for an operator in the option `disable` that has no rule: PyTorch's anyway, or misspelt."""
    known = {str(op) for op in RULES}
    known |= {name.rpartition(".")[0] for name in known}
    for name in names_of(disable, "op"):
        if name not in known:
            raise UserError(f"option 'disable': no rule for operator '{name}': {suggest(name, sorted(known))}")


__all__ = ["FLOAT8", "RULES", "UNWRITTEN", "VIEWS", "Context", "HostFloat", "Rule", "check_operators"]
