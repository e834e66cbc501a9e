"""Lowering rules, by family. Importing this package fills the table."""

from . import activations, factories, indexing, logic, losses, pointwise, reductions, scatters, views  # noqa: F401
from .registry import RULES, VIEWS, Context, Rule

__all__ = ["RULES", "VIEWS", "Context", "Rule"]
