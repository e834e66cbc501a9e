"""The primitive table is complete: every primitive and monoid has its rules, and they fit together."""

import numpy as np
import pytest

from fusewright.core.dtypes import ALL, bool_, f32, i64
from fusewright.interp.graph import held_type
from fusewright.prims.table import ARG_MONOIDS, MONOIDS, PRIMS


def _operands(name: str, dtype) -> list[np.ndarray]:
    p = PRIMS[name]
    if name == "where":
        one = np.ones(3, held_type(dtype))
        return [np.array([True, False, True]), one, one]
    return [np.ones(3, held_type(dtype)) for _ in range(p.arity)]


@pytest.mark.parametrize("name", sorted(PRIMS))
def test_numpy_meaning_has_the_result_type(name: str) -> None:
    p = PRIMS[name]
    assert p.name == name and p.result in ("same", "bool") and p.cost > 0
    assert p.kinds and set(p.kinds) <= set("fiub")
    for dtype in ALL:
        operands = (bool_, dtype, dtype) if name == "where" else (dtype,) * p.arity
        if dtype.kind not in p.kinds:
            with pytest.raises(TypeError):
                p.result_type(operands)
            continue
        out = np.asarray(p.numpy(*_operands(name, dtype)))
        assert out.shape == (3,)
        assert out.dtype == held_type(p.result_type(operands)), dtype


def test_type_rule_rejects_mixed_and_missing_operands() -> None:
    with pytest.raises(TypeError, match="operands of one type"):
        PRIMS["add"].result_type((f32, i64))
    with pytest.raises(TypeError, match="takes 2 operands, got 1"):
        PRIMS["add"].result_type((f32,))
    with pytest.raises(TypeError, match="where takes"):
        PRIMS["where"].result_type((f32, f32, f32))


@pytest.mark.parametrize("name", sorted(MONOIDS))
def test_monoid_identity_is_neutral(name: str) -> None:
    m = MONOIDS[name]
    assert m.combine in PRIMS and callable(m.numpy)
    if name in ARG_MONOIDS:
        return
    for dtype in ALL:
        if dtype.kind in m.kinds:
            kind = held_type(dtype)
            x = np.array([0, 1], kind)
            identity = np.full(2, m.identity(dtype), kind)
            np.testing.assert_array_equal(PRIMS[m.combine].numpy(x, identity), x)
