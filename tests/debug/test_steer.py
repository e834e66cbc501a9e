"""FUSEWRIGHT_SCHEDULE: schedules from a file, by group or structure; what is wrong with them is said."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import fusewright
from fusewright.core.errors import FusewrightWarning
from fusewright.debug import record, steer
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.processes import python
from tests.support import same_bits


def halves(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Exact in any order."""
    return (x * 0.5 + w).clamp(min=-1.0)


X, W = torch.randn(37, 130), torch.randn(130)


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path) -> Iterator[None]:
    torch._dynamo.reset()
    steer.forget()
    with fusewright.options(cache_dir=tmp_path / "cache"):
        yield
    steer.forget()
    torch._dynamo.reset()


def run(f: Any = halves, *args: torch.Tensor) -> Any:
    """Compile, run, compare with eager; the plan of the only kernel."""
    torch._dynamo.reset()
    args = args or (X, W)
    with record.recording() as graphs:
        out = torch.compile(f, backend="fusewright")(*args)
    assert same_bits(out, f(*args))
    (group,) = graphs[0].groups
    return group


def body(key: str, *directives: str, family: str = "pointwise", target: str = "cpu") -> str:
    return f'schedule {target} "{family}" for "{key}"\n' + "".join(f"  {d}\n" for d in directives)


GOOD = ("bind(i0, parallel)", "bind(i1, vector, 4)")


def test_by_structure_and_by_name(tmp_path: Path) -> None:
    g = run()
    file = tmp_path / "s.txt"
    file.write_text(body(g.hash, *GOOD) + body("forward77.g0", "bind(i0, serial)"))
    with fusewright.options(schedule=file):
        again = run()
        assert again.plan.schedule.lanes == 4 and again.plan.schedule.family == "edited pointwise"
        assert again.plan.chosen == str(file)
    # a name before a hash
    serial = int(again.name.removeprefix("inference").partition(".")[0]) + 1
    file.write_text(body(g.hash, *GOOD) + body(f"inference{serial}.g0", "bind(i0, parallel)", "bind(i1, vector, 2)"))
    with fusewright.options(schedule=file):
        assert run().plan.schedule.lanes == 2
        assert run().plan.schedule.lanes == 4, "the next graph has another name"


def test_the_heuristics_own_schedule_changes_nothing(tmp_path: Path) -> None:
    g = run()
    s = g.plan.schedule
    file = tmp_path / "s.txt"
    file.write_text(body(g.hash, *s.directives(), family=s.family))
    with fusewright.options(schedule=file):
        again = run()
    assert again.plan.schedule == s and again.plan.compiled is g.plan.compiled and again.plan.chosen


def test_in_the_environment(tmp_path: Path) -> None:
    g = run()
    file = tmp_path / "s.txt"
    file.write_text(body(g.hash, *GOOD) + body("forward9.g9", *GOOD))
    code = (
        "import torch\nfrom fusewright.debug import record\nfrom tests.debug.test_steer import halves, X, W\n"
        "with record.recording() as graphs:\n    torch.compile(halves, backend='fusewright')(X, W)\n"
        "print(graphs[0].groups[0].plan.schedule.lanes)"
    )
    env = {**os.environ, "FUSEWRIGHT_SCHEDULE": str(file)}
    done = python("-c", code, env=env)
    assert done.stdout.split() == ["4"], done.stderr
    assert "no group of this program was compiled with the schedules at line 4 for 'forward9.g9'" in done.stderr


@pytest.mark.parametrize(
    ("directives", "why"),
    [
        (
            ("bind(i0, parallel)", "bind(i1, vector, 7)"),
            r"s.txt is ignored: line 3: bind\(i1, vector, 7\): argument '7'",
        ),
        (
            ("bind(i0, parallel)", "bind(i3, vector, 8)"),
            r"line 3: bind\(i3, vector, 8\): argument 'i3': .*legal: i0, i1",
        ),
        (("bind(i0, sideways)",), r"s.txt: line 2: bind\(i0, sideways\): argument 'sideways'"),
        (("bind(i0, parallel",), r"s.txt: 3:1: expected"),
        (("split(i0, 8)", *GOOD), r"line 2: split\(i0, 8\): argument 'i0': only column axes are cut; legal: i1"),
    ],
)
def test_what_is_not_legal_is_said(tmp_path: Path, directives: tuple[str, ...], why: str) -> None:
    g = run()
    file = tmp_path / "s.txt"
    file.write_text(body(g.hash, *directives))
    with fusewright.options(schedule=file):
        with pytest.warns(FusewrightWarning, match=why) as seen:
            assert run().plan.schedule == g.plan.schedule
        assert len([w for w in seen if issubclass(w.category, FusewrightWarning)]) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", FusewrightWarning)
            run()  # once
    with fusewright.options(schedule=file, fallback=False), pytest.raises(Exception, match=why):
        run()


def test_a_schedule_for_another_target(tmp_path: Path) -> None:
    g = run()
    file = tmp_path / "s.txt"
    file.write_text(body(g.hash, "mode(tile)", "bind(i0, grid)", "bind(i1, threads)", target="gpu"))
    with (
        fusewright.options(schedule=file),
        pytest.warns(FusewrightWarning, match="is for a GPU, the group runs on a CPU"),
    ):
        assert run().plan.schedule == g.plan.schedule


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with fusewright.options(schedule=tmp_path / "nothing.txt"):
        with pytest.warns(FusewrightWarning, match="cannot read .*nothing.txt: No such file"):
            run()
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with fusewright.options(schedule=tmp_path / "binary"):
        with pytest.warns(FusewrightWarning, match="cannot read"):
            run()


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    g = run()
    file = tmp_path / "s.txt"
    for lanes in (4, 32):
        file.write_text(body(g.hash, "bind(i0, parallel)", f"bind(i1, vector, {lanes})"))
        with fusewright.options(schedule=file):
            assert run().plan.schedule.lanes == lanes


def test_what_is_written_in_place_is_not_written_past_the_caches(tmp_path: Path) -> None:
    """An input may start anywhere: a hint that assumes whole cache lines is not legal where a kernel writes there."""

    def f(x: torch.Tensor) -> torch.Tensor:
        x.copy_(x * 0.5 + 1)
        return x

    def compile_one() -> Any:
        torch._dynamo.reset()
        with record.recording() as graphs:
            torch.compile(f, backend="fusewright")(torch.randn(1 << 19))
        return graphs[0].groups[0]

    g = compile_one()
    out = next(b.name for b in g.plan.built.fusion.buffers if b.output)
    file = tmp_path / "s.txt"
    file.write_text(body(g.hash, "bind(i0, vector, 16)", f"hint({out}, streaming)"))
    with fusewright.options(schedule=file), pytest.warns(FusewrightWarning, match="it may start anywhere in memory"):
        assert compile_one().plan.schedule == g.plan.schedule


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_on_a_gpu(tmp_path: Path) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return (x * 0.5).sum(-1)

    x = torch.randint(-9, 9, (8, 64)).float()
    file = tmp_path / "s.txt"
    with emulated_gpu():
        g = run(f, x)
        rows = ("mode(split)", "bind(i0, grid)", "bind(i1, threads)", "threads(columns, 8)")
        file.write_text(body(g.hash, *rows, family="by hand", target="gpu"))
        with fusewright.options(schedule=file):
            again = run(f, x)
        assert again.plan.gpu.schedule.mode == "split" and len(again.plan.kernel.func.body) > 1
        assert again.plan.chosen == str(file)
        file.write_text(body(g.hash, "mode(split)", "bind(i0, grid)", "bind(i1, vector, 8)", target="gpu"))
        with fusewright.options(schedule=file), pytest.warns(FusewrightWarning, match="line 4: .*i1.* has no place"):
            assert run(f, x).plan.gpu.schedule == g.plan.gpu.schedule
