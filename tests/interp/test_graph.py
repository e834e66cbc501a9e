"""The NumPy meaning of every Graph operation, on graphs built by hand."""

import numpy as np
import pytest

from fusewright.core.dtypes import bf16, bool_, f16, f32, i64
from fusewright.core.errors import CompilerError
from fusewright.graph.builder import Builder
from fusewright.graph.ir import OPS, Graph, Unit
from fusewright.index.expr import sym
from fusewright.interp.graph import _RULES, evaluate
from fusewright.prims import philox

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def _setup(shape=(3, 4), dtype=f32):
    g = Graph()
    b = Builder(g)
    return g, b, b.input(dtype, shape)


def _one(g, v, x=X, **kw):
    g.outputs = [v]
    return evaluate(g, [x], **kw)[v]


def test_every_operation_has_a_meaning() -> None:
    assert set(_RULES) == set(OPS)


def test_map_broadcasts() -> None:
    g, b, x = _setup()
    np.testing.assert_array_equal(_one(g, b.add(x, b.const(2, f32))), X + 2)


def test_index_maps() -> None:
    g, b, x = _setup()
    cases = {
        b.permute(x, [1, 0]): X.T,
        b.flip(x, [1]): X[:, ::-1],
        b.slice(x, 1, 1, 2, 2): X[:, 1::2],
        b.select(x, 0, 2): X[2],
        b.reshape(x, (2, 6)): X.reshape(2, 6),
        b.unsqueeze(x, 1): X[:, None],
        b.expand(b.select(x, 0, 0), (2, 4)): np.stack([X[0], X[0]]),
        b.pad(x, [1, 0], [0, 2], b.const(7, f32)): np.pad(X, [(1, 0), (0, 2)], constant_values=7),
        b.cat([x, x], 1): np.concatenate([X, X], 1),
        b.iota((3, 4), 1): np.broadcast_to(np.arange(4), (3, 4)),
    }
    g.outputs = list(cases)
    env = evaluate(g, [X])
    for v, want in cases.items():
        np.testing.assert_array_equal(env[v], want)


def test_reductions_and_scans() -> None:
    g, b, x = _setup()
    cases = {
        b.reduce("sum", x, [1]): X.sum(1),
        b.reduce("max", x, [0, 1], keepdim=True): X.max(keepdims=True),
        b.reduce("argmax", x, [1]): X.argmax(1),
        b.reduce("prod", x, [0]): X.prod(0),
        b.scan("sum", x, 1): X.cumsum(1),
    }
    g.outputs = list(cases)
    env = evaluate(g, [X])
    for v, want in cases.items():
        np.testing.assert_array_equal(env[v], want)


def test_reduction_of_nothing_is_the_identity() -> None:
    g, b, x = _setup((0, 4))
    v = b.reduce("max", x, [0])
    assert (_one(g, v, np.empty((0, 4), np.float32)) == -np.inf).all()


def test_argmax_takes_the_first_nan() -> None:
    g, b, x = _setup((4,))
    v = b.reduce("argmax", x, [0])
    assert _one(g, v, np.array([1, np.nan, 3, np.nan], np.float32)) == 1


def test_gather_counts_negative_indices_from_the_end_and_checks_the_range() -> None:
    g, b, x = _setup()
    at = b.input(i64, (2,))
    v = b.gather(x, [at], (2, 4), [("at", 0, (0,)), ("dim", 1)])
    g.outputs = [v]
    np.testing.assert_array_equal(evaluate(g, [X, np.array([-1, 0])])[v], X[[-1, 0]])
    with pytest.raises(IndexError, match="dimension 0 of extent 3"):
        evaluate(g, [X, np.array([3, 0])])


@pytest.mark.parametrize(
    ("how", "want"),
    [("set", [5, 10, 4]), ("sum", [6, 10, 10]), ("prod", [5, 10, 20]), ("max", [5, 10, 5]), ("min", [1, 10, 1])],
)
def test_scatter_takes_the_points_in_order_and_leaves_out_the_masked(how: str, want: list[float]) -> None:
    g, b, x = _setup((3,))
    src, mask, at = b.input(f32, (2, 2)), b.input(bool_, (2, 2)), b.input(i64, (2, 2))
    v = b.scatter(x, src, [at], [("at", 0, (0, 1))], how, mask)
    g.outputs = [v]
    base, on = np.array([1, 10, 1], np.float32), np.array([[True, False], [True, True]])
    args = [base, np.array([[5, 99], [5, 4]], np.float32), on, np.array([[2, 7], [0, -1]])]
    np.testing.assert_array_equal(evaluate(g, args)[v], np.array(want, np.float32))
    args[3][0, 0] = 3
    with pytest.raises(IndexError, match="dimension 0 of extent 3"):
        evaluate(g, args)


def test_sizes_are_bound_by_name() -> None:
    n = sym("n")
    g, b, x = _setup((n, 4))
    v = b.mul(x, b.cast(b.scalar(n, i64), f32))
    np.testing.assert_array_equal(_one(g, v, sizes={"n": 3}), X * 3)
    with pytest.raises(CompilerError, match="has the shape"):
        evaluate(g, [X], {"n": 2})


@pytest.mark.parametrize("dtype", [bf16, f16])
def test_rounding_happens_where_the_ir_says(dtype) -> None:
    x = np.array([1.0], np.float32)
    tiny = 2.0**-13  # below half a unit of either type at 1

    def lost(round: bool, **kw) -> bool:
        g, b, v = _setup((1,), dtype)
        wide = b.add(b.cast(v, f32), b.const(tiny, f32))
        back = b.cast(b.cast(wide, dtype, round=round), f32)
        return bool(_one(g, b.sub(back, b.const(1, f32)), x, **kw)[0] == 0)

    assert lost(True)
    assert not lost(False)
    assert lost(False, round_every_op=True)


def test_outputs_are_rounded() -> None:
    g, b, x = _setup((1,), f16)
    out = _one(g, b.add(x, b.const(2.0**-13, f16)), np.array([1], np.float16))
    assert out.dtype == np.float16 and out[0] == 1


def test_floats_become_integers_by_truncation() -> None:
    g, b, x = _setup((3,))
    np.testing.assert_array_equal(_one(g, b.cast(x, i64), np.array([-1.9, 0.5, 1.9], np.float32)), [-1, 0, 1])


def test_random_is_the_stream_of_its_seed() -> None:
    g = Graph()
    b = Builder(g)
    seeds = b.input(i64, (2,))
    v = b.random(seeds, 1, (5, 30), "uniform", f32)
    g.outputs = [v]
    got = evaluate(g, [np.array([3, 9])])[v]
    np.testing.assert_array_equal(got, philox.uniform(9, np.arange(5)[:, None], np.arange(30)))


def test_opaque_units_run_in_order() -> None:
    g, b, x = _setup()
    before = b.neg(x)
    made = b.value(f32, (3, 4))
    after_unit = Unit(0, "t", "torch.op", "", "torch", (before,), (made,))
    g.units = [after_unit]
    b.unit = 1
    v = b.add(made, x)
    g.outputs = [v]
    np.testing.assert_array_equal(evaluate(g, [X], opaque=lambda u, env: [env[before] * 2])[v], -X)
    with pytest.raises(CompilerError, match="nothing to run it with"):
        evaluate(g, [X])
