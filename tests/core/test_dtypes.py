"""Element types: there is one object of each."""

from __future__ import annotations

import copy
import pickle

import pytest

from fusewright.core.dtypes import ALL, DType


@pytest.mark.parametrize("d", ALL, ids=str)
def test_copies_are_the_same_object(d: DType) -> None:
    assert copy.copy(d) is copy.deepcopy(d) is pickle.loads(pickle.dumps(d)) is d
