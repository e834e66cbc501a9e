"""Profiles: every launch counted and measured, names for PyTorch's profiler, and the two commands that run scripts."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import fusewright
from fusewright import cli
from fusewright.debug import record
from fusewright.debug.profile import Profile, rows
from tests.emulate.driver import emulated_gpu
from tests.processes import python
from tests.support import same_bits

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

SCRIPT = """
import sys
import torch

@torch.compile(backend="fusewright")
def soft(x):
    return torch.softmax(x * 2 + 1, -1)

@torch.compile(backend="fusewright")
def chain(x):
    return x.exp() + x * 3

x = torch.randn(64, 32)
for _ in range(5):
    soft(x)
chain(x)
chain(torch.randn(7, 32))
print("arguments", sys.argv[1:], __name__)
"""


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (torch.softmax(x * 2 + 1, -1) @ w).relu() + 1


def test_every_launch_is_counted_and_measured():
    x, w = torch.randn(64, 32), torch.randn(32, 16)
    profile = Profile()
    with record.using(profile):
        f = torch.compile(program, backend="fusewright")
        want = f(x, w)
    for _ in range(9):  # after the block: what was compiled in it is measured
        assert same_bits(f(x, w), want)
    first, second = sorted(rows(profile), key=lambda r: r.name)
    assert (first.calls, second.calls) == (10, 10)
    assert (first.bytes, second.bytes) == (10 * 2 * 64 * 32 * 4, 10 * 2 * 64 * 16 * 4)
    for r in (first, second):
        assert 0 < r.per_call == pytest.approx(r.seconds / 10)
        assert r.bandwidth == pytest.approx(r.bytes / r.seconds) and "test_profile.py" in r.where
    assert first.share + second.share == pytest.approx(1)
    assert [name for name, _, _ in profile.launches[:2]] == [first.name, second.name]


def test_sizes_are_those_of_each_call():
    profile = Profile()
    with record.using(profile):
        f = torch.compile(lambda x: x.exp() + 1, backend="fusewright", dynamic=True)
        for n in (4, 6):
            f(torch.randn(n, 8))
    assert sum(r.bytes for r in rows(profile)) == (4 + 6) * 8 * 4 * 2


def test_launches_on_a_gpu():
    profile = Profile()
    with emulated_gpu(), record.using(profile):
        f = torch.compile(program, backend="fusewright")
        f(torch.randn(8, 32), torch.randn(32, 16))
    assert len(rows(profile)) == 2 and all(r.seconds > 0 for r in rows(profile))


def test_what_a_cuda_graph_captures_is_not_measured(monkeypatch: pytest.MonkeyPatch):
    """Nothing runs then, and events that are captured have no time."""

    class Tensor:
        device = torch.device("cuda")

    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    profile = Profile()
    with record.using(profile):
        torch.compile(program, backend="fusewright")(torch.randn(8, 32), torch.randn(32, 16))
    meter = next(iter(profile.meters.values()))
    calls, launches = meter.calls, len(profile.launches)
    assert meter(lambda p: p + 1, (41,), (Tensor(),), {}) == 42
    assert (meter.calls, len(profile.launches), meter.pending) == (calls, launches, [])


@pytest.mark.parametrize("gpu", [False, True])
def test_names_in_the_profiler(gpu):
    x, w = torch.randn(64, 32), torch.randn(32, 16)

    def names() -> list[str]:
        torch._dynamo.reset()
        f = torch.compile(program, backend="fusewright")
        f(x, w)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
            f(x, w)
        return [e.key for e in p.key_averages() if ".g" in e.key]

    with emulated_gpu() if gpu else fusewright.options():
        with fusewright.options(profile=True):
            found = sorted(names())
        assert len(found) == 2
        title = "inner_persistent" if gpu else "inner_persistent_max_exp_sum_div"
        assert ".g0 " + title in found[0] and "test_profile.py:" in found[0] and "torch.softmax" in found[0]
        assert names() == []


def test_nvtx_ranges(monkeypatch: pytest.MonkeyPatch):
    """On a GPU each launch is inside a range with the same name, which is closed whatever happens."""

    class Tensor:
        device = torch.device("cuda")

    seen: list[str] = []
    monkeypatch.setattr(torch.cuda.nvtx, "range_push", lambda name: seen.append(name))
    monkeypatch.setattr(torch.cuda.nvtx, "range_pop", lambda: seen.append("pop"))
    with fusewright.options(profile=True), record.recording() as graphs:
        torch.compile(program, backend="fusewright")(torch.randn(8, 32), torch.randn(32, 16))
    assert seen == [], "there is no GPU"
    watch = graphs[0].groups[0].plan.watch
    assert watch is not None and watch(lambda p: p + 1, (41,), (Tensor(),), {}) == 42
    with pytest.raises(ZeroDivisionError):
        watch(lambda p: p / 0, (41,), (Tensor(),), {})
    name, *rest = seen
    assert rest == ["pop", name, "pop"] and ".g0 inner_persistent_max_exp_sum_div test_profile.py:" in name


def test_ranges_close_when_a_launch_fails():
    """An index out of range: the kernel gives up, torch raises, and the range is closed."""
    table, at = torch.randn(5, 4), torch.tensor([7])
    with fusewright.options(profile=True):
        f = torch.compile(lambda t, i: t[i] * 2 + 1, backend="fusewright")
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
            with pytest.raises(IndexError):
                f(table, at)
            with torch.profiler.record_function("after"):
                pass
    (after,) = [e for e in p.events() if e.name == "after"]
    assert after.cpu_parent is None


# --- commands -------------------------------------------------------------------------------------------


def test_profile_a_script(script, tmp_path, capsys):
    trace, table = tmp_path / "trace.json", tmp_path / "table.json"
    assert cli.main(["profile", "--trace", str(trace), "--json", str(table), str(script), "--fast", "x"]) == 0
    out = capsys.readouterr().out
    assert "arguments ['--fast', 'x'] __main__" in out
    assert "inner_persistent_max_exp_sum_div" in out and "compile phase" in out and "script.py:" in out
    kernels = json.loads(table.read_text())["kernels"]
    calls = {k["title"]: 0 for k in kernels}
    for k in kernels:
        calls[k["title"]] += k["calls"]
    assert calls == {"inner_persistent_max_exp_sum_div": 5, "pointwise_exp_mul_add": 2}
    assert sum(k["share"] for k in kernels) == pytest.approx(1)
    events = json.loads(trace.read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert all(e["dur"] >= 0 and e["ts"] > 0 for e in spans)
    launches = [e for e in spans if e["tid"] == 2]
    assert len(launches) == 7 and {e["tid"] for e in spans} == {0, 1, 2}
    dynamo = [e for e in spans if e["tid"] == 0]
    ours = [e for e in spans if e["tid"] == 1]
    outer = min(e["ts"] for e in dynamo), max(e["ts"] + e["dur"] for e in dynamo)
    assert all(outer[0] <= e["ts"] and e["ts"] + e["dur"] <= outer[1] for e in ours)  # the clocks agree


def test_explain_a_script(script, tmp_path, capsys):
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    assert cli.main(["explain", "--html", str(page), "--json", str(data), str(script), "a"]) == 0
    out = capsys.readouterr().out
    assert "arguments ['a'] __main__" in out and "fusewright explains script.py" in out
    assert "size mismatch at index 0. expected 64, actual 7" in out  # chain was compiled again
    assert len(json.loads(data.read_text())["graphs"]) == 3
    assert "<!doctype html>" in page.read_text("utf-8")


def test_explain_one_kernel_of_a_script(script, capsys):
    assert cli.main(["explain", "--kernel", "nonsense", str(script)]) == 2
    assert "no kernel 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["explain", "profile"])
def test_scripts_that_fail(command, tmp_path, capsys):
    def run(text: str) -> int:
        path = tmp_path / "s.py"
        path.write_text(textwrap.dedent(text))
        return cli.main([command, str(path)])

    assert cli.main([command, str(tmp_path / "none.py")]) == 2
    assert "no such script" in capsys.readouterr().err
    assert run("import sys; sys.exit(3)") == 3
    assert run("import sys; sys.exit('bad news')") == 1
    assert "bad news" in capsys.readouterr().err
    assert run("raise ValueError('planted')") == 1
    assert "ValueError: planted" in capsys.readouterr().err
    assert run("print('no torch here')") == 0
    assert ("nothing was compiled" if command == "explain" else "no kernel of Fusewright") in capsys.readouterr().out
    arguments = sys.argv, sys.path[:]
    run("import sys; sys.argv.append('x'); sys.path.append('y')")
    assert (sys.argv, sys.path) == arguments


@pytest.mark.parametrize(("command", "option"), [("explain", "--html"), ("explain", "--json"), ("profile", "--trace")])
def test_paths_that_cannot_be_written(command, option, script, tmp_path, capsys):
    assert cli.main([command, option, str(tmp_path / "no" / "where"), str(script)]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_the_commands_in_a_process_of_their_own(script):
    for command in ("explain", "profile"):
        done = python("-m", "fusewright.cli", command, script)
        assert done.returncode == 0, done.stderr
        assert "inner_persistent_max_exp_sum_div" in done.stdout and "└" not in done.stderr
