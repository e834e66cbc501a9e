"""A fixed slice of the OpInfo database: every k-th float32 sample of every operator, one test per operator.

The whole database is `python -m tests.opinfo.run`; FUSEWRIGHT_OPINFO_EVERY=1 runs all of it here.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

from tests.opinfo.harness import op_name, operators
from tests.opinfo.pool import Settings, run
from tests.support import BACKEND

EVERY = int(os.environ.get("FUSEWRIGHT_OPINFO_EVERY", "16"))
NAMES = [op_name(op) for op in operators(torch.float32)]


@pytest.fixture(scope="session")
def answers(request: pytest.FixtureRequest) -> dict[int, dict[str, Any]]:
    """All results, made once: only the operators that this session's selection asks for."""
    wanted = sorted(
        item.callspec.params["number"]
        for item in request.session.items
        if getattr(item, "originalname", "") == "test_operator" and "opinfo" in str(item.path)
    )
    settings = Settings(backend=BACKEND, every=EVERY, errors=False, timeout_s=300)
    beside = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))  # processes that run other tests at the same time
    with pytest.MonkeyPatch.context() as patch:
        # lone operations too run in our own kernels: torch is not to be tested against itself
        patch.setenv("FUSEWRIGHT_ENABLE", os.environ.get("FUSEWRIGHT_ENABLE", "single_op_groups"))
        results = run(wanted, NAMES, settings, jobs=max(1, min((os.cpu_count() or 1) // beside, 8)))
    return dict(zip(wanted, results, strict=True))


@pytest.mark.every(8)
@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_operator(number: int, answers: dict[int, dict[str, Any]]) -> None:
    answer = answers[number]
    if answer["excluded"]:
        pytest.skip(answer["excluded"])
    assert not answer["failures"], "\n".join(answer["failures"])
