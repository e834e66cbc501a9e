"""Counters: always complete, exact under threads, and a misspelt name is an error."""

from __future__ import annotations

import threading

import pytest

import fusewright
from fusewright.core.counters import KNOWN, count, counters, reset_counters


@pytest.fixture(autouse=True)
def fresh():
    reset_counters()
    yield
    reset_counters()


def test_all_known_names_are_there_at_zero():
    assert counters() == dict.fromkeys(KNOWN, 0)
    assert {"graphs_traced", "groups_formed", "kernels_compiled", "kernels_reused", "disk_hits"} <= counters().keys()
    assert all(KNOWN.values()), "each is documented"


def test_count_and_reset():
    count("fallbacks")
    count("fallbacks", 2)
    assert fusewright.counters()["fallbacks"] == 3
    fusewright.reset_counters()
    assert counters()["fallbacks"] == 0


def test_the_answer_is_a_copy():
    counters()["fallbacks"] = 9
    assert counters()["fallbacks"] == 0


def test_unknown_name():
    with pytest.raises(KeyError):
        count("fallback")
    assert "fallback" not in counters()


def test_threads():
    def work():
        for _ in range(5000):
            count("pool_hits")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters()["pool_hits"] == 20000
