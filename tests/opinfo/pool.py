"""Operators spread over worker processes, so that a crash or a hang costs one operator and not the run.

A worker reads operator numbers from its standard input and answers each with one line of JSON.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, Queue
from typing import Any

import torch

MARK = "@result "


@dataclass(frozen=True)
class Settings:
    """What a worker is told at its start."""

    dtype: str = "float32"
    backend: str = "fusewright"
    backward: bool = False
    every: int = 1
    errors: bool = True
    dynamic: bool = False
    timeout_s: float = 600.0
    device: str = "cpu"

    def arguments(self) -> list[str]:
        flags = ["--backward"] * self.backward + ["--no-errors"] * (not self.errors) + ["--dynamic"] * self.dynamic
        return [
            "--dtype",
            self.dtype,
            "--backend",
            self.backend,
            "--every",
            str(self.every),
            *flags,
            "--device",
            self.device,
        ]


def serve(settings: Settings) -> None:
    """The worker: answer requests until the input ends."""
    from tests.opinfo import harness

    if settings.device == "emulated":
        from tests.emulate.driver import emulated_gpu

        with emulated_gpu():
            _serve(settings)
        return
    harness.DEVICE = settings.device
    _serve(settings)


def _serve(settings: Settings) -> None:
    from tests.opinfo.harness import check, operators

    torch.set_num_threads(1)  # the samples are tiny, and every core has a worker of its own
    ops = operators(getattr(torch, settings.dtype), settings.backward)
    for line in sys.stdin:
        op = ops[int(line)]
        try:
            answer = check(
                op,
                getattr(torch, settings.dtype),
                settings.backend,
                settings.backward,
                settings.every,
                settings.errors,
                settings.dynamic,
            ).to_json()
        except Exception as e:  # the database itself failed to make samples
            answer = _dead(op.name, settings, f"harness: {type(e).__name__}: {e}"[:300])
        print(MARK + json.dumps(answer), flush=True)


def _dead(name: str, settings: Settings, why: str) -> dict[str, Any]:
    return {
        "op": name,
        "dtype": settings.dtype,
        "samples": 0,
        "passed": 0,
        "errors_checked": 0,
        "seconds": 0.0,
        "failures": [why],
        "excluded": "",
        "verdict": "FAIL",
        "kind": "",
    }


class _Worker:
    """A worker process with a line-based conversation and a time limit for each answer."""

    def __init__(self, settings: Settings):
        self.settings = settings
        command = [sys.executable, "-W", "ignore", "-m", "tests.opinfo.run", "--serve", *settings.arguments()]
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )

    def ask(self, number: int, name: str) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(f"{number}\n".encode())
            self.process.stdin.flush()
            while True:
                if not select.select([self.process.stdout], [], [], self.settings.timeout_s)[0]:
                    self.close()
                    return _dead(name, self.settings, f"no answer within {self.settings.timeout_s:g} s")
                line = self.process.stdout.readline()
                if not line:
                    break
                if line.startswith(MARK.encode()):
                    return json.loads(line[len(MARK) :])
        except BrokenPipeError:
            pass
        code = self.process.wait()
        return _dead(name, self.settings, f"the process died with exit status {code}")

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def run(
    numbers: list[int],
    names: list[str],
    settings: Settings,
    jobs: int,
    report: Callable[[dict[str, Any]], None] = lambda answer: None,
) -> list[dict[str, Any]]:
    """Check the operators with these numbers in `jobs` processes; results in the order of `numbers`."""
    queue: Queue[int] = Queue()
    for number in numbers:
        queue.put(number)
    answers: dict[int, dict[str, Any]] = {}
    lock = threading.Lock()

    def work() -> None:
        worker = _Worker(settings)
        try:
            while True:
                try:
                    number = queue.get_nowait()
                except Empty:
                    return
                if not worker.alive:
                    worker = _Worker(settings)
                answer = worker.ask(number, names[number])
                answer["op"] = names[number]
                with lock:
                    answers[number] = answer
                    report(answer)
        finally:
            worker.close()

    threads = [threading.Thread(target=work) for _ in range(min(jobs, max(len(numbers), 1)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in numbers]
