"""What the Python of saved plans may say."""

from __future__ import annotations

import pytest

from fusewright.run.restricted import Unsafe, expression, function

PLAN = """
def helper(a, n):
    return a,
def call(args):
    x, n = args
    args.clear()
    y = f((n, 4), (4, 1)) if 4 * n < 100 else f(n)()
    try: s = memo[n, (x.data_ptr() | y.data_ptr()) & 15]
    except KeyError: s = table.make(n)
    if not y.is_contiguous(): y, = helper(y, max(n, 1))
    del x
    return [y, float(s), slice(None, n, 1), 'x', -(-n // 8), math.floor(n / 2)]
"""


def test_plans_pass() -> None:
    assert function(PLAN, ["f", "memo", "table", "math"], "plan")
    assert eval(expression("2*s0 + max(s1, 1) // 3", ["s0", "s1"]), {"s0": 2, "s1": 5}) == 5


@pytest.mark.parametrize(
    "line",
    [
        "open('x')",
        "import os",
        "from os import system",
        "__builtins__",
        "args.__class__",
        "x.append(1)",
        "getattr(x, 'y')",
        "x.y = 1",
        "global helper2",
        "lambda: 0",
        "[n for n in args]",
        "def inner(): pass",
        "class A: pass",
        "f'{open}'",
        "yield_from(x)",
        "with x as y: pass",
        "raise ValueError",
        "assert x, sys",
    ],
)
def test_other_things_do_not(line: str) -> None:
    source = f"def call(args):\n    x, = args\n    {line}\n    return x\n"
    if line in ("global helper2", "[n for n in args]", "with x as y: pass"):
        try:  # they name nothing new
            function(source, [], "plan")
        except Unsafe:
            pass
        return
    with pytest.raises(Unsafe):
        function(source, [], "plan")


@pytest.mark.parametrize(
    "source",
    [
        "print(1)",
        "def call(args): return args\ncall(1)",
        "import os\ndef call(args): return args",
        "@property\ndef call(args): return args",
        "def call(args=open('x')): return args",
        "def call(args: open('x')): return args",
        "class call: pass",
        "x = 1",
        "def call(",
        "\0",
    ],
)
def test_only_functions(source: str) -> None:
    with pytest.raises(Unsafe):
        function(source, [], "plan")


@pytest.mark.parametrize(
    "source", ["open", "s1", "(lambda: 0)()", "().__class__", "s0 if s0 else print", "s0 +", "s0; s0"]
)
def test_only_expressions_of_sizes(source: str) -> None:
    with pytest.raises(Unsafe):
        expression(source, ["s0"])
