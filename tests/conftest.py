"""What every test shares: a disk cache of its own, the switch that rewrites golden files, and what saves time."""

from __future__ import annotations

import gc
import logging
import os
import tempfile
import zlib
from collections.abc import Iterator

import pytest

# Before anything imports fusewright, which reads the environment once. Tests neither use nor fill the user's cache;
# processes that tests start inherit the directory.
if not os.environ.get("FUSEWRIGHT_CACHE_DIR"):
    os.environ["FUSEWRIGHT_CACHE_DIR"] = os.path.join(tempfile.mkdtemp(prefix="fusewright-tests-"), "cache")

# What Inductor computes around our kernels need not be fast: it does not try which vectors the C++ compiler can make.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "0")

# Nor is the garbage of each compilation looked for at once.
os.environ.setdefault("TORCH_DYNAMO_RUN_GC_AFTER_COMPILE", "0")


def _only_where_asked_for(logger: logging.Logger) -> None:
    """Keep pytest's handlers away from a logger: whatever torch traces it writes down if there is a handler to take it.

    Pytest adds its own to every logger that does not propagate, and a twelfth of all time was spent on what they drop.
    """
    add = logger.addHandler

    def others(handler: logging.Handler) -> None:
        if not type(handler).__module__.startswith("_pytest."):
            add(handler)

    logger.addHandler = others  # type: ignore[method-assign]


_only_where_asked_for(logging.getLogger("torch.__trace"))


def pytest_collection_finish(session: pytest.Session) -> None:
    _freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is not None and nextitem.path != item.path:
        _freeze()


def _freeze() -> None:
    """What is there before a file's tests stays: no later collection of garbage looks at it again.

    Some tests ask for dozens, each of which took a second after an hour of others.
    """
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    for marker in (
        "every(n): about one in n of a test's cases is run, all of them with --thorough or by a name with ::",
        "thorough: run only with --thorough or by a name with ::, because other tests cover most of it in less time",
    ):
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--thorough") or any("::" in name for name in config.args):
        return
    seen: set[tuple[object, str]] = set()
    kept: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        name = getattr(item, "originalname", item.name)
        first = (item.parent, name) not in seen
        seen.add((item.parent, name))
        every = item.get_closest_marker("every")
        chosen = every is None or first or zlib.crc32(item.name.encode()) % every.args[0] == 0
        kept[chosen and item.get_closest_marker("thorough") is None].append(item)
    config.hook.pytest_deselected(items=kept[False])
    items[:] = kept[True]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write tests/golden/* instead of comparing")
    parser.addoption("--thorough", action="store_true", help="all cases: those left out for time, too")
    parser.addoption(
        "--emulate-gpu",
        action="store_true",
        help="make GPU kernels for CPU tensors and emulate them (needs g++); for end-to-end tests",
    )


@pytest.fixture(autouse=True)
def _emulated(request: pytest.FixtureRequest) -> Iterator[None]:
    if not request.config.getoption("--emulate-gpu"):
        yield
        return
    from tests.emulate.driver import emulated_gpu

    with emulated_gpu():
        yield


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-goldens"))
