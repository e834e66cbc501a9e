"""Where values live in the iteration domain, and which neighbouring axes become one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusewright.core.dtypes import f32
from fusewright.core.errors import Refusal
from fusewright.fusion.collapse import collapse, mergeable
from fusewright.fusion.domain import Domain
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Graph, Value
from fusewright.index.expr import ZERO, sym
from tests.kernels import fusion_of, graph_of

N, M = sym("n"), sym("m")


def domain(graph: Graph) -> Domain:
    anchors = [e.out for e in graph.eqns if e.op in ("reduce", "scan")]
    return Domain(graph.eqns, anchors + [v for v in graph.outputs if v not in anchors])


def places(program: Callable[[Builder], Value | list[Value]]) -> list[str]:
    """The place of every output, as text."""
    g = graph_of(program)
    d = domain(g)
    return [", ".join(map(str, d.complete_index(v))) for v in g.outputs]


def test_the_operand_of_the_largest_reduction_spans_the_domain() -> None:
    def program(b: Builder) -> list[Value]:
        x = b.input(f32, (N, M))
        total = b.reduce("sum", x, [1], keepdim=True)
        return [total, b.neg(total), b.mul(x, total)]

    assert places(program) == ["i0, 0", "i0, 0", "i0, i1"]


def test_views_carry_places_along() -> None:
    def program(b: Builder) -> list[Value]:
        x = b.input(f32, (N, M, 4))
        y = b.permute(b.neg(x), [2, 0, 1])
        return [b.reduce("sum", x, [0]), b.reduce("max", b.reshape(y, (4, N * M)), [0])]

    assert places(program) == ["i1, i2", "i0 * m + i1"]


def test_a_mirrored_output_has_a_mirrored_place() -> None:
    def program(b: Builder) -> list[Value]:
        x = b.input(f32, (N,))
        return [b.neg(x), b.flip(b.neg(x), [0])]

    assert places(program) in (["i0", "-i0 + n - 1"], ["-i0 + n - 1", "i0"])


def test_extents_of_one_have_no_axis() -> None:
    g = graph_of(lambda b: b.neg(b.input(f32, (1, N, 1))))
    d = domain(g)
    assert len(d.axes) == 1 and d.complete_index(g.outputs[0])[0] is ZERO


def test_unrelated_outputs_of_one_size_share_axes() -> None:
    def program(b: Builder) -> list[Value]:
        return [b.neg(b.input(f32, (N, M))), b.exp(b.input(f32, (N, M)))]

    assert places(program) == ["i0, i1", "i0, i1"]


def test_a_part_of_the_domain_cannot_be_stored_as_if_it_covered_it() -> None:
    """A diagonal read covers fewer points than the axes it uses."""

    def program(b: Builder) -> list[Value]:
        x = b.input(f32, (N, N))
        total = b.reduce("sum", x, [0, 1], keepdim=True)
        return [b.add(b.affine(b.exp(x), (N,), [(0, [(0, 1)]), (0, [(0, 1)])]), b.squeeze(total, [0]))]

    try:
        got = places(program)
    except Refusal as r:
        assert r.code == "domain"
    else:
        assert got == ["i0"]


# ---- collapse --------------------------------------------------------------------------------------------------


def test_contiguous_axes_merge() -> None:
    f = fusion_of(graph_of(lambda b: b.exp(b.input(f32, (N, 3, M))))).fusion
    merged, order = collapse(f, list(f.axes))
    assert [str(a.extent) for a in order] == ["3 * m * n"]
    (store,) = merged.stores()
    assert store.offset is order[0].ix and merged.axes == tuple(order)


def test_padded_rows_do_not_merge() -> None:
    g = graph_of(lambda b: b.exp(b.input(f32, (N, M))))
    f = fusion_of(g, strides={g.inputs[0]: (M + 2, sym("one") // sym("one"))}).fusion
    assert not mergeable(f, f.axes[0], f.axes[1])
    assert collapse(f, list(f.axes))[0] is f


def test_a_reduced_axis_does_not_merge_with_a_kept_one() -> None:
    f = fusion_of(graph_of(lambda b: b.reduce("sum", b.input(f32, (N, M)), [1]))).fusion
    assert not mergeable(f, *f.axes)


def test_reduced_axes_merge() -> None:
    f = fusion_of(graph_of(lambda b: b.reduce("sum", b.input(f32, (N, M, 4)), [1, 2]))).fusion
    merged, order = collapse(f, list(f.axes))
    assert [str(a.extent) for a in order] == ["n", "4 * m"]
    (r,) = merged.reductions()
    assert r.raxes == (order[1],) and r.axes == (order[0],)


def test_a_scanned_axis_never_merges() -> None:
    f = fusion_of(graph_of(lambda b: b.scan("sum", b.input(f32, (N, M)), 1))).fusion
    assert not mergeable(f, *f.axes)


@pytest.mark.parametrize("where", ["load", "store"])
def test_an_index_value_stops_merging(where: str) -> None:
    """`iota` along one axis needs that axis by itself."""

    def program(b: Builder) -> Value:
        x = b.input(f32, (N, M))
        return b.add(x, b.cast(b.iota((N, M), 1), f32))

    f = fusion_of(graph_of(program)).fusion
    assert not mergeable(f, *f.axes)
