"""Random graphs as one GPU kernel: plan, lower, verify, and the interpreted Loop IR against the meaning of the graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fusewright.core.errors import Refusal
from fusewright.schedule.device import Gpu
from tests.kernels_gpu import check_gpu
from tests.property.test_random_fusions import Pick, _has_meaning, configured, draw_graph, whole

GPUS = [Gpu((9, 0), 1, 1 << 8, 227 << 10), Gpu((7, 0), 3, 1 << 20, 96 << 10), Gpu((9, 0), 132, 50 << 20, 227 << 10)]


def attempt(pick: Pick) -> bool:
    """One random kernel; whether it was accepted. Fails if it is wrong."""
    graph = draw_graph(pick, 6)
    eager = pick([False, True])
    sizes = {"n": pick([5, 1, 2, 17, 32, 0]), "m": pick([3, 1, 16, 37, 64, 0])}
    if not _has_meaning(graph, sizes):
        return False
    try:
        check_gpu(
            graph,
            sizes,
            whole(graph, sizes, pick(range(3))),
            gpu=pick(GPUS),
            alignment=pick([16, 16, 4]),
            eager=eager,
        )
    except Refusal:
        return False
    return True


@given(st.data())
@configured
def test_one_kernel(data: st.DataObject) -> None:
    attempt(lambda xs: data.draw(st.sampled_from(list(xs))))
