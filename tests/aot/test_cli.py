"""`fusewright aot info` and `fusewright aot check`."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

import fusewright
from fusewright.bench.null import NullDriver
from fusewright.build import nvrtc
from fusewright.cli import main
from fusewright.run import devices
from tests.aot.programs import CASES


def test_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.fwp"
    fusewright.aot_save(CASES["counting"].export()[1], path)
    assert main(["aot", "info", str(path)]) == 0
    said = capsys.readouterr().out
    assert "launches by" not in said
    for part in (
        f"{path}: ",
        "format 1",
        "x: float32[",
        "x.shape[0], 0 to 4096",
        "2 buffers, 32 B",
        "1 other buffers, 24 B",
        "for native: ",
        "groups on the CPU",
        "calls torch's ",
    ):
        assert part in said, said


def test_info_of_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.fwp"
    fusewright.aot_save(CASES["writing"].export()[1], path)
    main(["aot", "info", str(path)])
    assert "cache['keys']: float32[" in (said := capsys.readouterr().out) and "written into" in said
    fusewright.aot_save(CASES["nested"].export()[1], path)
    main(["aot", "info", str(path)])
    assert "flag: True" in (said := capsys.readouterr().out) and "pair[1]['b']: float32[4] on cpu" in said
    fusewright.aot_save(CASES["sizes"].export()[1], path)
    main(["aot", "info", str(path)])
    assert "n: int s" in (said := capsys.readouterr().out) and " = n, " in said
    fusewright.aot_save(CASES["only derived"].export()[1], path)
    main(["aot", "info", str(path)])
    assert "(n - 0) // 2 with n = x.shape[0]" in capsys.readouterr().out


@pytest.mark.skipif(not nvrtc.available(), reason="needs NVRTC")
def test_info_of_gpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.fwp"
    with devices.use("cpu", NullDriver()):
        fusewright.aot_save(CASES["mlp"].export()[1], path, architectures=["sm_80"], sizes=[{}], weights=False)
    assert main(["aot", "info", str(path)]) == 0
    said = capsys.readouterr().out
    assert (
        "for sm_80: a GPU of compute capability 8.0" in said and "rules for sizes" in said and "not in the file" in said
    )
    assert f"launches by machine code on {sys.platform} " in said
    assert main(["aot", "check", str(path)]) == 1
    assert "no machine code for this machine" in capsys.readouterr().out


def test_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.fwp"
    fusewright.aot_save(CASES["mlp"].export()[1], path)
    assert main(["aot", "check", str(path)]) == 0
    assert "loads on this machine" in capsys.readouterr().out
    whole = bytearray(path.read_bytes())
    info = next(i for i in zipfile.ZipFile(path).infolist() if i.filename.startswith("text/kernels"))
    whole[info.header_offset + 30 + len(info.filename) + 5] ^= 0xFF  # loading does not look at it
    path.write_bytes(whole)
    fusewright.aot_load(path)
    assert main(["aot", "check", str(path)]) == 1
    assert "is damaged" in capsys.readouterr().out


def test_without_weights_it_is_checked_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "p.fwp"
    fusewright.aot_save(CASES["mlp"].export()[1], path, weights=False)
    assert main(["aot", "check", str(path)]) == 0


def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["aot", "info", str(tmp_path / "none")]) == 2
    assert "cannot read" in capsys.readouterr().err
    (tmp_path / "text").write_text(json.dumps({}))
    assert main(["aot", "check", str(tmp_path / "text")]) == 2
    assert main(["aot", "compile", "x"]) == 2
