"""Loads inside pads and cats: under which conditions they read."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.dtypes import f32, i64
from fusewright.fusion import scalar as sc
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import sym
from tests.kernels import check, fusion_of, graph_of
from tests.kernels_gpu import check_gpu

N, M = sym("n"), sym("m")


def conditions(graph: Graph) -> dict[str, str]:
    """Of each tensor that is read, the condition under which it is."""
    f = fusion_of(graph).fusion
    loads = [e for e in sc.walk([s.body for s in f.stages]) if e.kind == "load"]
    return {e.data[0]: " and ".join(sorted(str(sorted(a.name for a in c.axes)) for c in e.args)) for e in loads}


def shifted(b: Builder) -> Value:
    """Rows without their largest element, with columns of zeros around them."""
    x, top = b.input(f32, (N, M)), b.input(f32, (N, 1))
    return b.pad(b.sub(x, top), [0, 2], [0, 3], b.const(0.0, f32))


def test_what_belongs_to_the_row_is_read_for_the_row() -> None:
    assert conditions(graph_of(shifted)) == {"in0": "['i1']", "in1": ""}


def test_what_is_padded_along_both_dimensions() -> None:
    """A row's number is read where the row is one of the operand's, whatever the column."""

    def program(b: Builder) -> Value:
        x, top = b.input(f32, (N, M)), b.input(f32, (N, 1))
        return b.pad(b.sub(x, top), [1, 2], [1, 3], b.const(0.0, f32))

    assert conditions(graph_of(program)) == {"in0": "['i0', 'i1']", "in1": "['i0']"}


def test_pieces() -> None:
    def program(b: Builder) -> Value:
        x, y, top = b.input(f32, (N, M)), b.input(f32, (N, M)), b.input(f32, (N, 1))
        return b.cat([b.sub(x, top), b.mul(y, top)], 1)

    assert conditions(graph_of(program)) == {"in0": "['i1']", "in1": "", "in2": "['i1']"}


def test_an_index_is_where_it_reads() -> None:
    """A row of a table, in a pad: whether the index is one of the table's depends on the row, which the index has."""

    def program(b: Builder) -> Value:
        table, at = b.input(f32, (M, 8)), b.input(i64, (N,))
        rows = b.gather(table, [at], (N, 8), [("at", 0, (0,)), ("dim", 1)])
        return b.pad(rows, [0, 1], [0, 0], b.const(0.0, f32))

    assert conditions(graph_of(program)) == {"in0": "", "in1": "['i0', 'i1']"}  # the index is read first


@pytest.mark.parametrize(
    "sizes", [{"n": 3, "m": 5}, {"n": 7, "m": 1}, {"n": 2, "m": 0}, {"n": 0, "m": 4}, {"n": 1, "m": 40}]
)
def test_values(sizes: dict[str, int]) -> None:
    graph = graph_of(shifted)
    check(graph, sizes)
    if sizes["n"]:
        check_gpu(graph, sizes)


def test_what_is_read_too_early_does_no_harm() -> None:
    """The zeros around a row are zeros, though its number is NaN."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    check(graph_of(shifted), {"n": 3, "m": 4}, inputs=[x, np.full((3, 1), np.nan, np.float32)])
