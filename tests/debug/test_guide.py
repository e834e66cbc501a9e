"""docs/debugging.md: every program in it runs, and does what the guide says, but for times."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.processes import python
from tests.support import TORCH

GUIDE = Path(__file__).parent.parent.parent / "docs" / "debugging.md"
BLOCKS = re.findall(r"^```(python|console)\n(.*?)^```$", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE)

pytestmark = pytest.mark.skipif(TORCH != (2, 13), reason="the output is that of torch 2.13")


def normal(text: str) -> str:
    """A line without what differs from run to run and from machine to machine."""
    text = re.sub(r"\S*/(?=[\w.-]+\.py:)", "", text)
    text = re.sub(r"[\d.]+ (µs|ms|s)\b", "<time>", text)
    text = re.sub(r"[\d.]+ GB/s", "<rate>", text)
    text = re.sub(r"\b\d+%|\bcached\b", "<share>", text)
    text = re.sub(r"\d+\.\d{6,}", "<number>", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", "<hash>", text)
    return " ".join(text.replace("█", " ").split())


def sections() -> list[tuple[str, dict[str, str], list[tuple[str, list[str]]]]]:
    """(heading, programs by file name, commands with their output) of each part of the guide that has any."""
    out = []
    for part in re.split(r"^## ", GUIDE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        programs: dict[str, str] = {}
        commands: list[tuple[str, list[str]]] = []
        for kind, body in re.findall(r"^```(python|console)\n(.*?)^```$", part, re.DOTALL | re.MULTILINE):
            if kind == "python":
                programs[body.partition("\n")[0].removeprefix("# ")] = body
                continue
            for line in body.splitlines():
                if line.startswith("$ "):
                    commands.append((line[2:], []))
                else:
                    commands[-1][1].append(line)
        if programs:
            out.append((part.splitlines()[0], programs, commands))
    return out


SECTIONS = sections()


def test_the_guide_has_the_four_walks():
    headings = [h for h, _, _ in SECTIONS]
    assert {"A missing fusion", "A slow model", "A wrong result", "A recompiling loop"} <= set(headings)
    assert sum(kind == "python" for kind, _ in BLOCKS) == sum(len(p) for _, p, _ in SECTIONS)


@pytest.mark.every(3)
@pytest.mark.parametrize(("programs", "commands"), [s[1:] for s in SECTIONS], ids=[s[0] for s in SECTIONS])
def test_a_walk(programs, commands, tmp_path):
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    env = {**os.environ, "FUSEWRIGHT_CACHE_DIR": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    for command, wanted in commands:
        *settings, first = re.split(r"\s+(?=fusewright|python)", command, maxsplit=1)
        here = {**env, **dict(s.split("=", 1) for s in " ".join(settings).split())}
        words = first.split()
        start = ["-m", "fusewright.cli"] if words[0] == "fusewright" else []
        done = python(*start, *words[1:], cwd=tmp_path, env=here)
        shown = [normal(line) for line in (done.stdout + done.stderr).splitlines()]
        at, left = 0, list(range(len(shown)))
        for line in map(normal, wanted):
            if line == "…":
                continue
            begin = 0 if "<time>" in line else at  # tables are sorted by times, which a busy machine changes
            found = next((k for k in left if k >= begin and line in shown[k]), None)
            assert found is not None, f"{command}\nno line like\n  {line}\nin\n" + "\n".join(shown[begin:])
            left.remove(found)
            at = max(at, found + 1)
