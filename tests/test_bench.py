"""`fusewright bench`: what it has measured is kept."""

import json

import pytest

from fusewright import bench
from fusewright.bench import runner
from fusewright.bench.cases import SUITES


def test_a_run_that_is_cut_short_keeps_its_rows_and_the_runs_before(monkeypatch, tmp_path):
    names = iter(["first", "second"])

    def row(case, *_):
        if (name := next(names, None)) is None:
            raise KeyboardInterrupt
        return {"suite": case.suite, "case": name, "seconds": {"eager": 1.0}}

    monkeypatch.setattr(runner, "run_case", row)
    monkeypatch.setattr(bench.measure, "copy_roof", lambda device, quick: 1e9)
    earlier, out = tmp_path / "child.json", tmp_path / "run.json"
    earlier.write_text(json.dumps([{"allocator": "reuse", "rows": []}]))
    out.write_text("what was measured yesterday")
    with pytest.raises(KeyboardInterrupt):
        bench.main(
            ["--suite", SUITES[0], "--quick", "--allocator", "default", "--json", str(out), "--child", str(earlier)]
        )
    document = json.loads(out.read_text())
    assert [run["allocator"] for run in document["runs"]] == ["reuse", "default"]
    assert [r["case"] for r in document["runs"][1]["rows"]] == ["first", "second"]
    assert document["runs"][1]["finished"] is False
    assert sorted(f.name for f in tmp_path.iterdir()) == ["child.json", "run.json"]


def test_a_run_that_measured_nothing_leaves_the_file_as_it_was(monkeypatch, tmp_path):
    def failed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench.measure, "copy_roof", failed)
    earlier, out = tmp_path / "child.json", tmp_path / "run.json"
    earlier.write_text("[]")
    out.write_text("what was measured yesterday")
    with pytest.raises(KeyboardInterrupt):
        bench.main(["--quick", "--allocator", "default", "--json", str(out), "--child", str(earlier)])
    assert out.read_text() == "what was measured yesterday"


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_a_folder_that_is_not_there_is_said_at_once(option, tmp_path, capsys):
    with pytest.raises(SystemExit):
        bench.main(["--quick", option, str(tmp_path / "nowhere" / "run")])
    assert f"{option}: there is no folder {tmp_path / 'nowhere'}" in capsys.readouterr().err
