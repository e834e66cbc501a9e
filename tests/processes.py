"""Python in a process of its own that need not import torch once more, which takes most of such a test's time.

`python("-c", code)` is `subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)` in a fork of a
process that has imported torch and its compiler, but nothing of fusewright: options and counters are a new process's.
It is not for tests of what is imported, or of what torch, the OpenMP runtime and Python's hashes take from the
environment.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FORKS = hasattr(os, "fork")
_template: subprocess.Popen[str] | None = None


def _ask(**request: Any) -> Any:
    """Have the process that has imported torch do something; it is started when it is first needed."""
    global _template
    if _template is None or _template.poll() is not None:
        pipe = subprocess.PIPE
        _template = subprocess.Popen([sys.executable, __file__], stdin=pipe, stdout=pipe, text=True)
        atexit.register(_template.terminate)
    assert _template.stdin is not None and _template.stdout is not None
    _template.stdin.write(json.dumps(request) + "\n")
    _template.stdin.flush()
    return json.loads(_template.stdout.readline())


class Running:
    """A process that has been started, as `python` does; `wait` returns what `python` does."""

    def __init__(self, *args: object, env: Mapping[str, str] | None = None, cwd: Path | None = None):
        self.args = [str(a) for a in args]
        environment = dict(os.environ if env is None else env)
        if not _FORKS:
            self.process = subprocess.Popen(
                [sys.executable, *self.args],
                env=environment,
                cwd=cwd,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            return
        self.folder = tempfile.TemporaryDirectory()
        where = str(cwd or Path.cwd())
        self.pid = _ask(start=self.args, env=environment, cwd=where, into=self.folder.name)

    def wait(self) -> subprocess.CompletedProcess[str]:
        if not _FORKS:
            out, err = self.process.communicate()
            return subprocess.CompletedProcess(self.args, self.process.returncode, out, err)
        code = _ask(wait=self.pid)
        out, err = (Path(self.folder.name, name).read_text() for name in ("stdout", "stderr"))
        self.folder.cleanup()
        return subprocess.CompletedProcess(self.args, code, out, err)


def python(
    *args: object, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments as on the command line: a script, `-c` or `-m`, and the program's own."""
    return Running(*args, env=env, cwd=cwd).wait()


# --- the process that forks ---
def _serve() -> None:
    import torch._decomp
    import torch._dynamo.backends.common
    import torch._functorch.aot_autograd
    import torch._functorch.partitioners
    import torch._inductor.compiler_bisector
    import torch.fx.experimental.symbolic_shapes  # noqa: F401

    assert not any(name.partition(".")[0] == "fusewright" for name in sys.modules)
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            answer: Any = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                _become(request)
                return
        print(json.dumps(answer), flush=True)


def _become(request: dict[str, Any]) -> None:
    """Be the process that was asked for; then Python ends as it does for any program."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(os.path.join(request["into"], name), os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    first, *rest = request["start"]
    main = types.ModuleType("__main__")
    if first == "-m":
        sys.argv = rest
        sys.path[0] = request["cwd"]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    if first == "-c":
        sys.argv, sys.path[0], code = ["-c", *rest[1:]], "", compile(rest[0], "<string>", "exec")
    else:
        sys.argv, sys.path[0], code = (
            [first, *rest],
            os.path.dirname(first),
            compile(Path(first).read_text(), first, "exec"),
        )
        main.__file__ = first
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    try:
        exec(code, main.__dict__)
    except Exception as e:
        traceback.print_exception(e.with_traceback(e.__traceback__ and e.__traceback__.tb_next))
        sys.exit(1)


if __name__ == "__main__":
    _serve()
