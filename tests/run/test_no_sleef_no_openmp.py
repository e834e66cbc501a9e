"""Without torch's vector functions, without its threads, with one thread, after a fork: slower, still right."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.run import kernels
from tests.support import assert_as_accurate, counted, counters, no_fallbacks

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


UNARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "sqrt", "rsqrt", "sigmoid"),
)
POSITIVE = ("log", "log2", "log10", "lgamma", "sqrt", "rsqrt")

PROGRAMS: dict[str, Callable[..., torch.Tensor]] = {
    "pointwise": lambda x, y: torch.sin(x) * y + torch.pow(x.abs() + 0.5, 1.7) + torch.atan2(x, y),
    "softmax": lambda x, y: F.softmax(x * 2 + y, -1),
    "softmax down": lambda x, y: F.softmax(x, 0) * y,
    "norm": lambda x, y: F.layer_norm(F.gelu(x), (x.shape[-1],)) + y,
    "sum": lambda x, y: (x * y).sum(),
    "column sums": lambda x, y: (x * y).sum(0),
    "cumulative": lambda x, y: torch.cumsum(x, -1) * y,
}
VARIANTS = {
    "no sleef": {"sleef": False},
    "no openmp": {"openmp": False},
    "neither": {"sleef": False, "openmp": False},
    "eager's bits": {"precision": "eager"},
    "eager's bits, no sleef": {"precision": "eager", "sleef": False},
}


def check(fn: Callable[..., torch.Tensor], *inputs: torch.Tensor, what: str = "") -> None:
    with no_fallbacks():
        got = torch.compile(fn, backend="fusewright")(*inputs)
    # the stand-ins may be a unit in the last place worse than SLEEF, which is within one
    assert_as_accurate(got, fn(*inputs), fn(*(t.double() for t in inputs)), what, factor=3.0, floor=8.0)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: str, variant: str) -> None:
    x, y = torch.randn(37, 515), torch.randn(37, 515)
    with fusewright.options(**VARIANTS[variant]):
        check(PROGRAMS[program], x, y)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_function(variant: str) -> None:
    """All transcendental functions in one kernel each way, with the values at which they are special."""
    special = torch.tensor([0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-30, 3e4])

    def ordinary(name: str) -> torch.Tensor:
        x = torch.randn(403)
        x = x.abs() + 0.01 if name in POSITIVE else 1 + x.abs() if name == "acosh" else x
        return x.clamp(-0.99, 0.99) if name in ("asin", "acos", "atanh") else x

    def fn(*xs: torch.Tensor) -> list[torch.Tensor]:
        return [getattr(torch, name)(x) * 2 for name, x in zip(UNARY, xs, strict=True)]

    usual = [ordinary(name) for name in UNARY]
    with fusewright.options(single_op_groups=True, **VARIANTS[variant]), no_fallbacks():
        results = torch.compile(fn, backend="fusewright")(*(torch.cat([x, special]) for x in usual))
    exact = fn(*(x.double() for x in usual))
    for name, got, x, want in zip(UNARY, results, usual, exact, strict=True):
        function = getattr(torch, name)
        assert_as_accurate(got[:403], function(x) * 2, want, name, factor=3.0, floor=8.0)
        got, want = got[403:], function(special) * 2
        assert torch.equal(got.isnan(), want.isnan()), name
        big = want.isinf()
        assert torch.equal(got[big], want[big]), name


def test_the_options_do_what_they_say() -> None:
    with fusewright.options(sleef=False, openmp=False):
        t = kernels.target()
        assert not t.sleef and not t.openmp
    with fusewright.options(sleef=False):
        before = counters()
        check(PROGRAMS["softmax"], torch.randn(4, 9), torch.randn(4, 9))
        assert counted(before)["groups_formed"] == 1


def test_changing_the_number_of_threads() -> None:
    x, y = torch.randn(300, 700), torch.randn(300, 700)
    had = torch.get_num_threads()
    call = torch.compile(PROGRAMS["norm"], backend="fusewright")
    want = PROGRAMS["norm"](x, y)
    try:
        for n in (1, 3, 2, 1):
            torch.set_num_threads(n)
            torch.testing.assert_close(call(x, y), want, rtol=1e-4, atol=1e-5)
    finally:
        torch.set_num_threads(had)


def test_results_do_not_depend_on_chance() -> None:
    """The same threads give the same bits, run after run."""
    x, y = torch.randn(300, 700), torch.randn(300, 700)
    for name in ("sum", "column sums"):
        call = torch.compile(PROGRAMS[name], backend="fusewright")
        first = call(x, y)
        assert all(torch.equal(first, call(x, y)) for _ in range(5))


FORK = """
import os, signal, torch, torch.nn.functional as F
def fn(x):
    return F.softmax(torch.tanh(x) * 2, -1) + x.sum(0)
call = torch.compile(fn, backend="fusewright")
x = torch.randn(700, 900)
def right():
    torch.testing.assert_close(call(x), fn(x), rtol=1e-4, atol=1e-4)
right()
for generation in range(2):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        torch.set_num_threads(1)
        right()
        other = torch.compile(lambda x: torch.relu(x) * x.amax(-1, keepdim=True), backend="fusewright")
        torch.testing.assert_close(other(x), torch.relu(x) * x.amax(-1, keepdim=True))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
right()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_fork_after_use(threads: str) -> None:
    """The child uses what the parent compiled and compiles more; the parent goes on."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": threads},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr


FEWER = """
import torch
torch.set_num_threads(4)
fn = lambda x: ((x * 2).sum(), (x + 1).sum(0), (x * x).sum(0).sqrt())
x = torch.randn(3000, 70)
for got, want in zip(torch.compile(fn, backend="fusewright")(x), fn(x)):
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-3)
print("right")
"""


def test_fewer_threads_than_asked_for() -> None:
    """The OpenMP runtime may start fewer threads; what the absent ones would have summed is nothing, not garbage."""
    env = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run([sys.executable, "-c", FEWER], env=env, capture_output=True, text=True)
    assert done.stdout == "right\n", done.stderr[-2000:]
