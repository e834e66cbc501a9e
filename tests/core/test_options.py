"""Options: the table, the environment, overriding, and what every mistake says."""

from __future__ import annotations

import subprocess
import sys
import threading
import timeit

import pytest

from fusewright.core import options as module
from fusewright.core.errors import UserError
from fusewright.core.option_page import markdown_table, spelling
from fusewright.core.options import Options, current, from_environment, from_mapping, options


def test_every_option_is_documented_and_can_be_set_from_the_environment():
    for row in module.TABLE:
        assert row.metadata["doc"].endswith(".")
        assert spelling(row).startswith("FUSEWRIGHT_")


def test_environment():
    env = {
        "FUSEWRIGHT_DISABLE": "fallback, pool",
        "FUSEWRIGHT_ENABLE": "single_op_groups",
        "FUSEWRIGHT_PRECISION": "eager",
        "FUSEWRIGHT_RNG": "",
        "FUSEWRIGHT_CACHE_LIMIT_MB": "7",
        "FUSEWRIGHT_CACHE_DIR": "/somewhere",
        "FUSEWRIGHT_DUMP": "loop,graph",
    }
    got = from_environment(env)
    assert not got.fallback and not got.pool and got.disk_cache and got.single_op_groups
    assert (got.precision, got.rng, got.cache_limit_mb, got.cache_dir) == ("eager", "philox", 7, "/somewhere")
    assert got.pool_limit_mb is None
    assert got.dump == ("graph", "loop"), "in the order of the stages, whatever the order asked for"
    assert from_environment({}) == Options()


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"FUSEWRIGHT_DISABLE": "fallbak"}, "FUSEWRIGHT_DISABLE: unknown switch 'fallbak': did you mean 'fallback'?"),
        (
            {"FUSEWRIGHT_PRECISION": "eagr"},
            "FUSEWRIGHT_PRECISION: option 'precision' cannot be 'eagr': did you mean 'eager'?",
        ),
        (
            {"FUSEWRIGHT_CACHE_LIMIT_MB": "big"},
            "FUSEWRIGHT_CACHE_LIMIT_MB: must be a non-negative integer, not 'big'",
        ),
        (
            {"FUSEWRIGHT_CACHE_LIMIT_MB": "-1"},
            "FUSEWRIGHT_CACHE_LIMIT_MB: option 'cache_limit_mb' must be a non-negative integer, not -1",
        ),
        ({"FUSEWRIGHT_DUMP": "lop"}, "FUSEWRIGHT_DUMP: option 'dump' has no value 'lop': did you mean 'loop'?"),
    ],
)
def test_environment_mistakes(env, message):
    with pytest.raises(UserError) as caught:
        from_environment(env)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("percision", "eager", "unknown option 'percision': did you mean 'precision'?"),
        ("precision", "eagr", "option 'precision' cannot be 'eagr': did you mean 'eager'?"),
        ("rng", "xyz", "option 'rng' cannot be 'xyz': known: philox, eager"),
        ("pool", 1, "option 'pool' must be True or False, not 1"),
        ("cache_limit_mb", -3, "option 'cache_limit_mb' must be a non-negative integer, not -3"),
        ("cache_limit_mb", True, "option 'cache_limit_mb' must be a non-negative integer, not True"),
        ("cache_dir", 3, "option 'cache_dir' must be a path, not 3"),
        ("dump", 3, "option 'dump' must be a list of names, not 3"),
        ("dump", ["lop"], "option 'dump' has no value 'lop': did you mean 'loop'?"),
        ("fallback", None, "option 'fallback' must be True or False, not None"),
    ],
)
def test_mistakes(name, value, message):
    for attempt in (lambda: options(**{name: value}), lambda: from_mapping({name: value})):
        with pytest.raises(UserError) as caught:
            attempt()
        assert str(caught.value) == message


def test_a_mistake_in_the_environment_is_raised_on_first_use_not_on_import():
    code = (
        "import fusewright.core.options as o\nprint('imported')\ntry: o.current()\nexcept o.UserError as e: print(e)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], env={"FUSEWRIGHT_RNG": "x"}, capture_output=True, text=True, check=True
    )
    assert out.stdout == "imported\nFUSEWRIGHT_RNG: option 'rng' cannot be 'x': known: philox, eager\n"


def test_nesting_and_exceptions():
    before = current()
    with options(pool=False) as outer:
        assert current() is outer and not outer.pool
        with pytest.raises(ZeroDivisionError), options(precision="eager", dump="loop,graph"):
            assert not current().pool and current().precision == "eager" and current().dump == ("graph", "loop")
            raise ZeroDivisionError
        assert current() is outer
    assert current() is before


def test_one_object_entered_twice():
    once = options(pool=False)
    before = current()
    with once:
        with options(pool=True), once:
            assert not current().pool
        assert not current().pool
    assert current() is before


def test_decorator():
    @options(fallback=False)
    def inner(x):
        """Doc."""
        return current().fallback, x

    assert inner(3) == (False, 3) and current().fallback
    assert inner.__name__ == "inner" and inner.__doc__ == "Doc."


def test_threads_do_not_see_each_other():
    inside, checked = threading.Event(), threading.Event()
    seen = []

    def other():
        inside.wait(5)
        seen.append(current().pool)
        with options(rng="eager"):
            checked.set()

    thread = threading.Thread(target=other)
    thread.start()
    with options(pool=False):
        inside.set()
        checked.wait(5)
        assert current().rng == "philox"
    thread.join()
    assert seen == [True]


def test_code_key():
    base = Options()
    assert Options(precision="eager").code_key() != base.code_key()
    assert Options(pool=False, cache_dir="/x", dump=("loop",)).code_key() == base.code_key()
    assert {name for name, _ in base.code_key()} == {r.name for r in module.TABLE if r.metadata["affects_code"]}
    hash(base.code_key())


def test_from_mapping():
    assert from_mapping(None) is current() and from_mapping({}) is current()
    got = from_mapping({"single_op_groups": True, "dump": "loop"})
    assert got.single_op_groups and got.dump == ("loop",) and got.fallback
    with pytest.raises(UserError, match="option names are strings, not 3"):
        from_mapping({3: 4})


def test_options_are_immutable():
    with pytest.raises(AttributeError):
        current().pool = False


def test_current_is_cheap():
    assert min(timeit.repeat(current, number=10000, repeat=5)) / 10000 < 1e-6


def test_markdown_table():
    lines = markdown_table().splitlines()
    assert len(lines) == len(module.TABLE) + 2
    assert any(line.startswith("| `pool` | on | `FUSEWRIGHT_DISABLE=pool` | no |") for line in lines)
    assert all(line.replace("\\|", "").count("|") == 6 for line in lines)


def test_check_is_a_switch_or_a_function():
    with options(check=True):
        assert current().check is True
    with options(check=print):
        assert current().check is print
    assert from_environment({"FUSEWRIGHT_DISABLE": "check"}).check is False
    with pytest.raises(UserError, match="option 'check' must be True, False or a function, not 3"):
        options(check=3)


def test_fuel_is_a_count():
    assert from_environment({"FUSEWRIGHT_FUEL": "3"}).fuel == 3 and Options().fuel is None
    with pytest.raises(UserError, match="FUSEWRIGHT_FUEL: must be a non-negative integer, not 'x'"):
        from_environment({"FUSEWRIGHT_FUEL": "x"})


def test_lists_of_names_keep_their_order():
    with options(executors="mine, kernels"):
        assert current().executors == ("mine", "kernels")
    with options(executors=["b", "a", "b"]):
        assert current().executors == ("b", "a")
    assert from_environment({"FUSEWRIGHT_EXECUTORS": "mine,kernels"}).executors == ("mine", "kernels")
    assert from_environment({"FUSEWRIGHT_DISABLE": "executor:mine"}).disable == ("executor:mine",)
    with pytest.raises(UserError, match="option 'executors' must be a list of names, not 3"):
        options(executors=3)
