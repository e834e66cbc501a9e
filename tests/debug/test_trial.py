"""Other schedules for kernels of a report: right or wrong, both times, pinned and unpinned."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import fusewright
from fusewright import cli
from fusewright.build import pins as store
from fusewright.core.errors import FusewrightWarning, UserError
from fusewright.debug import record, steer, trial
from fusewright.schedule.forms import Illegal
from tests.emulate.cuda import COMPILER, MISSING
from tests.emulate.driver import emulated_gpu
from tests.processes import python
from tests.support import same_bits


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w) * 2


def halves(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Exact in any order."""
    return (x * 0.5 + w).clamp(min=-1.0)


X, W = torch.randn(37, 130), torch.randn(130)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path) -> Iterator[Path]:
    torch._dynamo.reset()
    store.forget()
    steer.forget()
    with fusewright.options(cache_dir=tmp_path / "cache"):
        yield tmp_path / "cache" / "schedules"
    store.forget()
    torch._dynamo.reset()


def kernel_of(f: Any, *args: torch.Tensor) -> Any:
    (k,) = fusewright.explain(f, *args).kernels
    return k


# --- trying --------------------------------------------------------------------------------------


def test_another_schedule() -> None:
    k = kernel_of(halves, X, W)
    s = k.schedule
    assert s.key == k.hash and s.directives() == list(k.directives)
    t = fusewright.try_schedule(k, s.bind("i1", "vector", 4).split("i1", 64))
    assert t.right and t.identical and not t.coarser
    assert t.seconds > 0 and t.heuristic_seconds > 0 and t.speedup == t.heuristic_seconds / t.seconds
    assert k.name in str(t) and "the same bits" in str(t) and "heuristic" in str(t)


def test_every_lanes_and_role_gives_the_right_result() -> None:
    k = kernel_of(norm, X, W)
    for n in (1, 2, 4, 8, 16, 32):
        assert fusewright.try_schedule(k, k.schedule.bind("i1", "vector", n)).right, n
        assert n == 1 or fusewright.try_schedule(k, k.schedule.bind("i0", "vector", n)).right, n


def test_in_any_form() -> None:
    k = kernel_of(norm, X, W)
    s = k.schedule.bind("i1", "vector", 8)
    for form in (s, s.schedule, s.text()):
        assert fusewright.try_schedule(k, form).right
    with pytest.raises(UserError, match="the schedule is for 'ffff', the kernel is"):
        fusewright.try_schedule(k, s.text().replace(f'for "{k.hash}"', 'for "ffff"'))
    with pytest.raises(Illegal, match=r"line \d+: bind\(i1, vector, 9\): argument '9'"):
        fusewright.try_schedule(k, s.text().replace("vector, 8", "vector, 9"))
    with pytest.raises(UserError, match="is for the structure"):
        fusewright.try_schedule(k, kernel_of(halves, X, W).schedule)
    with pytest.raises(UserError, match="a Schedule, an Edit or a text is wanted, not 7"):
        fusewright.try_schedule(k, 7)
    with pytest.raises(UserError, match=r"a kernel of a report is wanted .* not 'forward0.g0'"):
        fusewright.try_schedule("forward0.g0", s)


def test_illegal_schedules_are_not_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    k = kernel_of(norm, X, W)
    s = k.schedule.schedule
    monkeypatch.setattr(trial, "lower", lambda *a: pytest.fail("lowered"))
    for bad in (
        trial.replace(s, rows=("i1",), cols=("i0",)),
        trial.replace(s, lanes=3),
        trial.replace(s, cols=("i9",)),
    ):
        with pytest.raises(Illegal):
            fusewright.try_schedule(k, bad)
        with pytest.raises(Illegal):
            fusewright.pin(k, bad)
    for text in ("nonsense", str(k.schedule)[:-9], str(k.schedule) * 2):
        with pytest.raises(UserError, match="the text of the schedule: "):
            fusewright.try_schedule(k, text)


def test_a_wrong_kernel_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: another schedule's kernel adds one to what it multiplies."""
    k = kernel_of(halves, X, W)
    good = trial.sources.cpu_kernel
    (path,) = fusewright.save_sources([k], Path(store.pins().store.directory).parent / "src")
    body = path.read_text()
    wrong = body.replace("0x3FE0000000000000", "0x3FF0000000000000")
    assert wrong != body and good
    t = fusewright.try_source(k, wrong)
    assert not t.right and "WRONG" in str(t) and "output 0 at" in str(t)
    assert fusewright.try_source(k, path).identical


def test_on_given_inputs() -> None:
    k = kernel_of(halves, X, W)
    s = k.schedule.bind("i1", "vector", 8)
    assert fusewright.try_schedule(k, s, [X, W]).right
    with pytest.raises(UserError, match="the kernel reads 2 tensors"):
        fusewright.try_schedule(k, s, [X])
    with pytest.raises(UserError, match=r"in1 is torch.float32 \(130,\)"):
        fusewright.try_schedule(k, s, [X, W[:7]])
    with pytest.raises(UserError, match="with strides"):
        fusewright.try_schedule(k, s, [X.T.contiguous().T, W])


def test_with_indices() -> None:
    """Random inputs are in range where the graph says what for."""

    def f(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return torch.relu(x[at] * 2 + 1)

    at = torch.randint(0, 37, (11,))
    k = kernel_of(f, X, at)
    assert fusewright.try_schedule(k, k.schedule.bind("i1", "vector", 4)).identical
    with pytest.raises(UserError, match="out of range"):
        fusewright.try_schedule(k, k.schedule.bind("i1", "vector", 4), [at + 100, X])


def test_a_scatter() -> None:
    def f(x: torch.Tensor, at: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        return x.index_add(0, at, s * 2)

    x, at, s = torch.randn(50, 64), torch.randint(0, 50, (200,)), torch.randn(200, 64)
    k = kernel_of(f, x, at, s)
    e = k.schedule
    for other in (e.divide(0), e.divide(None), e.bind("i1", "vector", 4)):
        assert fusewright.try_schedule(k, other).identical, other


def dynamic(f: Any, *args: torch.Tensor) -> Any:
    """The kernel of a function compiled for any size, as a pair of records."""
    with record.recording() as graphs:
        torch.compile(f, backend="fusewright", dynamic=True)(*args)
    return graphs[0], graphs[0].groups[0]


def test_dynamic_sizes() -> None:
    k = dynamic(halves, X, W)
    s = fusewright.schedule_of(k)
    assert "i0<s" in s.fusion.text()
    assert fusewright.try_schedule(k, s.bind("i1", "vector", 4)).identical


@pytest.mark.parametrize("shape", [(0, 130), (1, 1), (5, 1)])
def test_odd_sizes(shape: tuple[int, int]) -> None:
    with fusewright.options(single_op_groups=True):
        k = kernel_of(halves, torch.randn(shape), torch.randn(shape[1]))
    s = k.schedule
    assert fusewright.try_schedule(k, s.bind(s.schedule.cols[-1], "vector", 4) if s.schedule.cols else s).right


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_on_a_gpu() -> None:
    with emulated_gpu():
        x, w = torch.randn(30, 256), torch.randn(256)
        k = kernel_of(norm, x, w)
        s = k.schedule
        assert "mode(persistent)" in s.directives()
        assert fusewright.try_schedule(k, s).identical
        assert fusewright.try_schedule(k, s.mode("loop", columns=32, unroll=1)).right
        assert fusewright.try_schedule(k, s.unroll(2).bind("i1", "vector", 2).index(64)).right
        with pytest.raises(UserError, match="a GpuSchedule, an Edit or a text is wanted"):
            fusewright.try_schedule(k, 3)


# --- pins ----------------------------------------------------------------------------------------


def run(f: Any = halves, *args: torch.Tensor) -> Any:
    """Compile again; the record of the only kernel."""
    torch._dynamo.reset()
    args = args or (X, W)
    k = kernel_of(f, *args)
    assert same_bits(torch.compile(f, backend="fusewright")(*args), f(*args)) or f is norm
    return k


def test_a_pin_is_used_until_it_is_taken_back(directory: Path) -> None:
    k = kernel_of(halves, X, W)
    p = fusewright.pin(k, k.schedule.bind("i1", "vector", 4))
    assert p.path.parent == directory and p.path.exists() and p.hash == k.hash
    pinned = run()
    assert pinned.plan.schedule.lanes == 4 and pinned.family.startswith("edited ")
    assert str(p.path) in pinned.plan.chosen
    assert run(norm, X, W).plan.chosen == "", "another fusion has none"
    with fusewright.options(pins=False):
        assert run().plan.chosen == ""
    fusewright.pin(pinned, pinned.schedule.bind("i1", "vector", 8))
    assert run().plan.schedule.lanes == 8, "the last one counts"
    assert fusewright.unpin(k) == 1 and not p.path.exists()
    assert run().plan.chosen == "" and fusewright.unpin(k) == 0


def test_the_heuristics_own_choice_can_be_pinned() -> None:
    k = kernel_of(halves, X, W)
    fusewright.pin(k, k.schedule)
    again = run()
    assert again.plan.chosen and again.family == k.family and again.plan.compiled is k.plan.compiled


def test_pins_are_for_other_processes_too(directory: Path) -> None:
    k = kernel_of(halves, X, W)
    fusewright.pin(k, k.schedule.bind("i1", "vector", 4))
    code = (
        "import torch, fusewright\nfrom tests.debug.test_trial import halves, X, W\n"
        f"with fusewright.options(cache_dir={str(directory.parent)!r}):\n"
        "    (k,) = fusewright.explain(halves, X, W).kernels\nprint(k.hash, k.plan.schedule.lanes)"
    )
    done = python("-c", code)
    assert done.stdout.split() == [k.hash, "4"], done.stderr


def test_without_pins_a_look_up_is_one_question(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not store.pins() and not directory.exists()
    monkeypatch.setattr(steer, "on_cpu", lambda *a: pytest.fail("asked"))
    run()


def _planted(directory: Path, k: Any, body: str) -> Path:
    p = store.pins().put(k.hash, steer.cpu_facts(trial.target()), body, {"group": k.name})
    store.forget()
    return p.path


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: t.replace("i1", "i7"), r"bind\(i7, vector, 4\): argument 'i7': the fusion has no such axis"),
        (lambda t: t.replace("vector, 4", "vector, 5"), r"argument '5': not a width of vectors"),
        (lambda t: "nonsense", "expected 'schedule'"),
        (lambda t: "", "is ignored: it holds 0 schedules instead of one"),
        (lambda t: t + t, "is ignored: it holds 2 schedules instead of one"),
        (lambda t: 'schedule gpu "loop" for "x"\nbind(i0, grid)', "the schedule is for a GPU, the group runs on a CPU"),
    ],
)
def test_a_stale_pin_is_ignored_and_said_once(directory: Path, change: Any, why: str) -> None:
    k = kernel_of(halves, X, W)
    _planted(directory, k, change(k.schedule.bind("i1", "vector", 4).text()))
    with pytest.warns(FusewrightWarning, match=why) as seen:
        assert run().plan.chosen == ""
    (said,) = [str(w.message) for w in seen if issubclass(w.category, FusewrightWarning)]
    assert f"fusewright pins clear {k.hash}" in said and "the heuristic's is used" in said


def test_a_damaged_pin(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    k = kernel_of(halves, X, W)
    path = _planted(directory, k, k.schedule.bind("i1", "vector", 4).text())
    path.write_bytes(path.read_bytes()[:-3])
    for _ in range(2):  # somebody chose it: it stays, and is not forgotten silently
        store.forget()
        steer.forget()
        with pytest.warns(FusewrightWarning, match=f"the file is damaged; fusewright pins clear {k.hash} removes it"):
            assert run().plan.chosen == ""
    store.forget()
    assert cli.main(["pins", "list"]) == 0 and "damaged" in capsys.readouterr().out
    assert cli.main(["pins", "clear", k.hash]) == 0 and not path.exists()


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with fusewright.options(cache_dir=tmp_path / "file" / "cache"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        k = kernel_of(halves, X, W)
        with pytest.warns(FusewrightWarning, match="pinned for this process only"):
            fusewright.pin(k, k.schedule.bind("i1", "vector", 4))
        assert run().plan.schedule.lanes == 4
        assert fusewright.unpin() == 1 and run().plan.chosen == ""


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    k = kernel_of(halves, X, W)
    fusewright.pin(k, k.schedule.bind("i1", "vector", 4))
    assert cli.main(["pins", "list"]) == 0
    out = capsys.readouterr().out
    assert k.hash in out and "pinned schedules: 1" in out
    assert cli.main(["pins", "show", k.hash]) == 0
    assert "bind(i1, vector, 4)" in capsys.readouterr().out
    assert cli.main(["pins", "clear", "nothing"]) == 2
    assert "no schedule is pinned for nothing" in capsys.readouterr().err
    assert cli.main(["cache", "clear"]) == 0, "pins are no cache"
    assert cli.main(["pins", "clear", k.hash]) == 0 and "removed 1" in capsys.readouterr().out
    assert cli.main(["pins", "list"]) == 0 and "pinned schedules: 0" in capsys.readouterr().out


@pytest.mark.skipif(COMPILER is None, reason=MISSING)
def test_a_pin_for_a_gpu_is_for_the_sizes_it_is_legal_for() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, -1)

    with emulated_gpu():
        k = kernel_of(f, torch.randn(8, 64))
        fusewright.pin(k, k.schedule.mode("loop", columns=16, unroll=1).bind("i1", "vector", 4))
        torch._dynamo.reset()
        again = kernel_of(f, torch.randn(8, 64))
        assert again.plan.gpu.schedule.mode == "loop" and again.plan.chosen
        torch._dynamo.reset()
        k = dynamic(f, torch.randn(8, 64))
        fusewright.pin(k, fusewright.schedule_of(k).mode("loop", columns=16, unroll=1))
        torch._dynamo.reset()
        again = torch.compile(f, backend="fusewright", dynamic=True)
        for m in (64, 63):
            x = torch.randn(8, m)
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                torch.testing.assert_close(again(x), f(x))
            said = [str(w.message) for w in seen if issubclass(w.category, FusewrightWarning)]
            assert bool(said) == (m == 63), said
        assert "lanes divide the extent" in said[0]
