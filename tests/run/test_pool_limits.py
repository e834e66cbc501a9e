"""The pool: how much it keeps, threads and forks, huge pages, scratch memory."""

from __future__ import annotations

import ctypes
import os
import threading
import time
import warnings

import pytest
import torch

from fusewright.core.counters import counters
from fusewright.core.options import options
from fusewright.run import pages
from fusewright.run import pool as module
from fusewright.run.pool import MAX_AGE, Pool, release_scratch, scratch

F32 = torch.float32
SIZE, STRIDE = (512, 512), (512, 1)  # 1 MiB
NBYTES = 1 << 20


@pytest.fixture
def pool():
    return Pool(1 << 30)


def new(pool):
    return pool.empty(SIZE, STRIDE, F32)


# -- how much is kept ---------------------------------------------------------------------------------------------


def test_idle_bytes_are_limited():
    pool = Pool(4 * NBYTES)
    tensors = [new(pool) for _ in range(10)]
    del tensors
    for _ in range(40):
        new(pool)
    assert pool.stats()["idle_bytes"] <= 4 * NBYTES
    with options(pool_limit_mb=3):
        assert Pool().limit() == 3 << 20


def test_a_tensor_beyond_the_limit_is_not_kept():
    pool = Pool(NBYTES - 1)
    new(pool)
    assert pool.stats()["blocks"] == 0


def test_old_blocks_are_released(pool):
    address = new(pool).data_ptr()
    for _ in range(2 * MAX_AGE):
        pool.empty((2 * NBYTES // 4,), (1,), F32)
    stats = pool.stats()
    assert stats["held_bytes"] == 2 * NBYTES and stats["released"] == 1
    assert address


def test_the_pool_does_not_exceed_the_peak_of_live_bytes():
    pool = Pool(1 << 30)
    sizes = [300_000 + 20_000 * i for i in range(40)]  # no size fits another's block
    for i in range(200):  # one or two alive at a time: eager's peak is below 2.2 MB
        tensor = pool.empty((sizes[i % 40] // 4,), (1,), F32)
        previous = tensor
    del tensor, previous
    assert pool.stats()["held_bytes"] < 5_000_000, "all forty together would be 27 MB"


def test_a_training_pattern_reuses_everything(pool):
    def step():
        kept = [new(pool) for _ in range(12)]
        while kept:
            grad = new(pool)
            kept.pop()
        return grad

    for _ in range(2):
        step()
    before = pool.stats()["misses"]
    for _ in range(5):
        step()
    stats = pool.stats()
    assert stats["misses"] == before
    assert stats["held_bytes"] <= 14 * NBYTES, "no more than eager's own peak"


def test_trim(pool):
    kept, dead = new(pool), new(pool)
    del dead
    assert pool.trim() == NBYTES and pool.trim() == 0
    assert pool.stats()["blocks"] == 1
    del kept
    assert module.trim() >= 0


def test_running_out_of_memory_gives_idle_blocks_back(pool, monkeypatch):
    address = new(pool).data_ptr()
    real, calls = module._empty, []

    def failing_once(*layout):
        calls.append(layout)
        if len(calls) == 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return real(*layout)

    monkeypatch.setattr(module, "_empty", failing_once)
    tensor = pool.empty((NBYTES,), (1,), F32)
    assert tensor.numel() == NBYTES and pool.stats()["idle_bytes"] == 0 and address


def test_option_off(pool):
    with options(pool=False):
        new(pool)
    assert pool.stats()["misses"] == 0


def test_counters(pool):
    before = counters()
    new(pool)
    new(pool)
    after = counters()
    assert after["pool_misses"] - before["pool_misses"] == 1 and after["pool_hits"] - before["pool_hits"] == 1


# -- threads, forks, reentrance -----------------------------------------------------------------------------------


def test_threads_never_share_live_memory(pool):
    failures = []

    def work(me):
        try:
            kept = []
            for i in range(300):
                tensor = new(pool)
                tensor[0, :8] = me * 1000 + i
                kept.append((tensor, me * 1000 + i))
                if len(kept) > 3:
                    kept.pop(0)
                for t, value in kept:
                    assert t[0, 0] == value and t[0, 7] == value
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert pool.stats()["hits"] > 0


def test_a_storage_that_changes_hands_is_never_free(pool):
    """One thread trades tensor for storage and back, so that each kind of reference is sometimes the only one."""
    stop, failures = threading.Event(), []
    tensor = new(pool)
    address = tensor.data_ptr()
    holder = [tensor]
    del tensor

    def trade():
        while not stop.is_set():
            storage = holder[0].untyped_storage()
            holder.clear()
            holder.append(torch.empty(0).set_(storage, 0, SIZE, STRIDE))
            del storage

    thread = threading.Thread(target=trade)
    thread.start()
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        if new(pool).data_ptr() == address:
            failures.append(1)
    stop.set()
    thread.join()
    assert not failures


def test_whoever_finds_the_pool_busy_allocates_plainly(pool):
    with pool._lock:
        assert new(pool).shape == SIZE
    assert pool.stats()["misses"] == 0


def test_no_pooling_where_reference_counts_mean_nothing(monkeypatch):
    monkeypatch.setattr(module, "_use_count", lambda address: 1)
    pool = Pool()
    assert pool._free_mark is None
    new(pool)
    assert pool.stats()["blocks"] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_is_inside():
    address = module.empty(SIZE, STRIDE, F32).fill_(5).data_ptr()
    module.POOL._lock.acquire()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # forking with threads is what is tested
            child = os.fork()
        if child == 0:
            status = 1
            try:
                tensor = module.empty(SIZE, STRIDE, F32)
                ok = tensor.data_ptr() == address and not module.POOL._lock.locked()
                status = 0 if ok else 2
            finally:
                os._exit(status)
    finally:
        module.POOL._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# -- huge pages and scratch ---------------------------------------------------------------------------------------


def test_huge_page_advice_stays_inside(monkeypatch):
    calls = []
    monkeypatch.setattr(pages, "_madvise", lambda *a: calls.append(a) or 0)
    page = 2 << 20
    pages.advise_huge(5 * page + 64, 4 * page)
    pages.advise_huge(5 * page + 64, page)
    pages.advise_huge(5 * page, page)
    assert calls == [(6 * page, 3 * page, 14), (5 * page, page, 14)]


def test_large_tensors_are_right(pool):
    tensor = pool.empty((8 << 20,), (1,), F32)
    assert tensor.fill_(1).sum() == 8 << 20


def test_scratch():
    release_scratch()
    first = scratch(1000)
    assert first % 64 == 0
    ctypes.memset(first, 1, 1000)
    assert scratch(10) == first == scratch(1000)
    larger = scratch(1 << 20)
    assert larger % 64 == 0
    ctypes.memset(larger, 1, 1 << 20)
    assert scratch(1000) == larger, "only grows"
    scratch(module.SCRATCH_KEEP + 1)
    assert module._scratch.capacity > module.SCRATCH_KEEP
    scratch(1000)
    assert module._scratch.capacity == 4096, "except when it was very large"
    release_scratch()
    assert module._scratch.memory is None
    assert scratch(0) % 64 == 0


def test_each_thread_has_its_own_scratch():
    mine, theirs = scratch(100), []
    thread = threading.Thread(target=lambda: theirs.append(scratch(100)))
    thread.start()
    thread.join()
    assert theirs[0] != mine
