"""The disk cache: round trips, everything that can be wrong with a file or a directory, eviction, two processes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
import warnings

import pytest

from fusewright.build import store as module
from fusewright.build.store import HEADER, Store, default_directory
from fusewright.core.counters import counters, reset_counters
from fusewright.core.errors import FusewrightWarning
from fusewright.core.options import options

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def not_warned_yet(monkeypatch):
    monkeypatch.setattr(module, "_warned", threading.Event())


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cache", MEGABYTE)


def file_of(store, key):
    return store.directory / f"{key}.fwk"


def test_round_trip(store):
    assert store.get("a") is None
    store.put("a", b"code", {"kind": "map"})
    store.put("empty", b"")
    assert store.get("a") == b"code" and store.get("empty") == b""
    assert Store(store.directory, MEGABYTE).get("a") == b"code", "another process sees it"
    store.put("a", b"newer")
    assert store.get("a") == b"newer"


def test_private_to_the_user(store):
    store.put("a", b"code")
    assert stat.S_IMODE(store.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(file_of(store, "a").stat().st_mode) == 0o600


def test_listing_does_not_need_payloads(store):
    store.put("a", b"x" * 100, {"name": "softmax", "n": 3})
    store.put("b", b"y")
    os.utime(file_of(store, "b"), (1, 1))
    with open(file_of(store, "a"), "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"!")  # a broken payload does not disturb the listing
    first, second = store.entries()
    assert (first.key, first.meta, second.key, second.meta) == ("a", {"name": "softmax", "n": 3}, "b", {})
    assert second.used == 1 and first.path == file_of(store, "a")
    assert store.size() == first.size + second.size == sum(p.stat().st_size for p in store.directory.iterdir())


def test_clear(store):
    store.put("a", b"x")
    store.put("b", b"x")
    (store.directory / "c.fwk.1.2.3.tmp").write_bytes(b"half")
    (store.directory / "notes.txt").write_text("mine")
    assert store.clear() == 2
    assert [p.name for p in store.directory.iterdir()] == ["notes.txt"], "what is not ours stays"
    assert store.get("a") is None and store.size() == 0


def truncate(blob):
    return blob[:-3]


def truncate_header(blob):
    return blob[:10]


def flip_payload(blob):
    return blob[:-1] + bytes([blob[-1] ^ 1])


def flip_meta(blob):
    return blob[: HEADER.size + 3] + b"#" + blob[HEADER.size + 4 :]


def other_version(blob):
    return blob[:7] + b"\x63" + blob[8:]


def foreign(blob):
    return b"\x7fELF something else entirely" * 10


def longer(blob):
    return blob + b"x"


@pytest.mark.parametrize(
    "damage",
    [truncate, truncate_header, flip_payload, flip_meta, other_version, foreign, longer, lambda blob: b""],
)
def test_a_damaged_file_is_absent_then_rebuilt(store, damage):
    store.put("a", b"code" * 10, {"name": "x"})
    path = file_of(store, "a")
    path.write_bytes(damage(path.read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.get("a") is None
        assert not path.exists()
        store.put("a", b"code")
    assert store.get("a") == b"code"


def test_a_renamed_file_is_foreign(store):
    store.put("a", b"code")
    file_of(store, "a").rename(file_of(store, "b"))
    assert store.get("b") is None


def test_a_directory_in_the_place_of_a_file(store):
    store.put("a", b"x")
    file_of(store, "b").mkdir()
    assert store.get("b") is None
    with pytest.warns(FusewrightWarning):
        store.put("b", b"y")
    assert store.get("b") == b"y" and store.get("a") == b"x"


@pytest.mark.parametrize("key", ["", "../a", "a/b", ".hidden", "a\n", "x" * 201])
def test_keys_cannot_leave_the_directory(store, key):
    with pytest.raises(ValueError, match="not a store key"):
        store.put(key, b"")
    with pytest.raises(ValueError, match="not a store key"):
        store.get(key)


def check_memory_only(store):
    with pytest.warns(FusewrightWarning, match="kept in memory only") as caught:
        store.put("a", b"code")
        store.put("b", b"more")
        again = Store(store.directory, MEGABYTE)
        again.put("c", b"again")
    assert len(caught) == 1, "once per process"
    assert str(store.directory) in str(caught[0].message)
    assert (store.get("a"), store.get("b"), store.get("z")) == (b"code", b"more", None)
    assert store.entries() == [] and store.size() == 0
    store.clear()
    assert store.get("a") is None


def test_the_parent_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    check_memory_only(Store(tmp_path / "file" / "cache", MEGABYTE))


def test_the_directory_is_a_file(tmp_path):
    (tmp_path / "cache").write_text("")
    check_memory_only(Store(tmp_path / "cache", MEGABYTE))


def test_read_only(store, monkeypatch):
    def refuse(path, *rest, **named):
        raise PermissionError(13, "Permission denied", path)

    store.put("old", b"code")
    for name in ("open", "utime", "unlink", "replace"):
        monkeypatch.setattr(module.os, name, refuse)
    with pytest.warns(FusewrightWarning, match="Permission denied") as caught:
        store.put("a", b"new")
        store.put("b", b"new")
    assert len(caught) == 1
    assert store.get("a") == b"new"
    assert store.get("old") == b"code", "what is there still serves"
    file_of(store, "old").write_bytes(b"damaged")
    assert store.get("old") is None


def test_a_full_disk_leaves_no_temporary_file(store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    store.put("a", b"x")
    monkeypatch.setattr(module.os, "replace", full)
    with pytest.warns(FusewrightWarning, match="No space left"):
        store.put("b", b"y")
    assert [p.name for p in store.directory.iterdir()] == ["a.fwk"]


def test_missing_parents_are_made(tmp_path):
    store = Store(tmp_path / "x" / "y" / "cache", MEGABYTE)
    store.put("a", b"code")
    assert Store(store.directory, MEGABYTE).get("a") == b"code"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX permissions")
def test_a_directory_that_anyone_may_write_to_is_not_trusted(store):
    store.put("a", b"code")
    store.directory.chmod(0o777)
    planted = Store(store.directory, MEGABYTE)
    with pytest.warns(FusewrightWarning, match="other users"):
        assert planted.get("a") is None
    planted.put("a", b"mine")
    assert planted.get("a") == b"mine" and store.get("a") == b"code"


def test_eviction_is_least_recently_used(tmp_path):
    store = Store(tmp_path, 10_000)
    for i in range(10):
        store.put(f"k{i}", bytes(1900))
        os.utime(file_of(store, f"k{i}"), (1000 + i, 1000 + i))
    assert store.get("k0") is not None, "a hit makes it the latest"
    reset_counters()
    removed = store.evict()
    left = {entry.key for entry in store.entries()}
    assert left == {"k0", "k6", "k7", "k8", "k9"} and removed == 5
    assert counters()["disk_evictions"] == 5
    assert store.size() <= 10_000
    reset_counters()


def test_eviction_happens_by_itself(tmp_path):
    store = Store(tmp_path, 10_000)
    for i in range(3 * module.CHECK_EVERY):
        store.put(f"k{i}", bytes(1000))
    assert store.size() <= 10_000 + module.CHECK_EVERY * 1100


def test_the_directory_is_read_once_in_many_puts(tmp_path, monkeypatch):
    """Each kernel has a store of its own (`default_store`), and a full cache is tens of thousands of files."""
    looks = []
    monkeypatch.setattr(Store, "evict", lambda store: looks.append(1))
    for i in range(3 * module.CHECK_EVERY):
        Store(tmp_path, MEGABYTE).put(f"k{i}", b"x")
    assert len(looks) == 3


def test_stale_temporary_files_go_and_fresh_ones_stay(store):
    store.put("a", b"x")
    old, new = store.directory / "b.fwk.1.1.1.tmp", store.directory / "b.fwk.1.1.2.tmp"
    old.write_bytes(b"")
    new.write_bytes(b"")
    os.utime(old, (1, 1))
    store.evict()
    assert not old.exists() and new.exists()


def test_a_hit_is_fast(store):
    store.put("a", os.urandom(20_000))
    best = 1.0
    for _ in range(50):
        start = time.perf_counter()
        store.get("a")
        best = min(best, time.perf_counter() - start)
    assert best < 300e-6, "about 50 us; the margin is for busy machines"


def test_threads(store):
    def work():
        for i in range(50):
            store.put(f"k{i % 5}", b"%d" % (i % 5) * 1000)
            got = store.get(f"k{i % 5}")
            assert got is not None and got == b"%d" % (i % 5) * 1000

    failures = []

    def guarded():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


WRITER = """
import sys, warnings
warnings.simplefilter("error")
from fusewright.build.store import Store
store = Store(sys.argv[1], 1 << 24)
print("ready", flush=True)
sys.stdin.readline()
for i in range(300):
    store.put(f"k{i % 3}", bytes([i % 3]) * 50000, {"writer": sys.argv[2]})
    got = store.get(f"k{(i + 1) % 3}")
    assert got is None or got == bytes([(i + 1) % 3]) * 50000
print("done")
"""


def test_two_processes_write_the_same_keys(tmp_path):
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "c"), n], stdin=pipe, stdout=pipe, text=True)
        for n in "ab"
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [p.communicate(timeout=60)[0] for p in processes] == ["done\n", "done\n"]
    store = Store(tmp_path / "c", MEGABYTE)
    assert sorted(entry.key for entry in store.entries()) == ["k0", "k1", "k2"]
    assert [store.get(f"k{i}") for i in range(3)] == [bytes([i]) * 50000 for i in range(3)]
    assert not list(store.directory.glob("*.tmp"))


def test_default_directory(tmp_path):
    with options(cache_dir=tmp_path, cache_limit_mb=3):
        assert default_directory() == tmp_path
        store = module.default_store()
        assert (store.directory, store.limit_bytes) == (tmp_path, 3 << 20)
    assert default_directory().name == "fusewright" or module.current().cache_dir is not None
