"""The names that `disable` takes and the syntax of `dump`."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fusewright
from fusewright.core import switches
from fusewright.core.errors import UserError
from fusewright.core.option_page import markdown
from fusewright.core.options import Options, current, from_environment, misspelled, options
from fusewright.core.switches import Dump, disables_group, disables_operator, family_name, parse_dump, structured
from fusewright.graph.ir import OPS
from fusewright.prims.table import PRIMS

PACKAGE = Path(fusewright.__file__).parent


# --- the lists are those of the layers that define the names -------------------------------------------------------


def test_primitives_are_those_of_the_table():
    assert sorted(switches.PRIMS) == sorted(PRIMS)
    assert set(switches.EQUATIONS) <= set(OPS) and not set(switches.EQUATIONS) & set(PRIMS)
    notation = {"map", "const", "scalar", "affine", "reshape"}
    assert set(OPS) - set(switches.EQUATIONS) == notation


def test_families_are_those_of_the_schedulers():
    words = ("pointwise", "transpose", "scan", "scatter")
    found: set[str] = set()
    for name in ("cpu.py", "gpu.py", "gpu_along.py"):
        for node in ast.walk(ast.parse((PACKAGE / "schedule" / name).read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                text = node.value
                if text in words or (text.split(",")[0].endswith(("reduction", "persistent")) and len(text) < 30):
                    found.add(family_name(text))
    found.discard("persistent")  # a mode of GPU schedules
    found.add("outer reduction split")  # put together there
    assert found == set(switches.FAMILIES)


# --- disable -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("prim:exp", "prim:exp"),
        ("prim:gather", "prim:gather"),
        ("family:inner persistent", "family:inner persistent"),
        ("family:inner_persistent", "family:inner persistent"),
        ("family:Inner-Persistent", "family:inner persistent"),
        ("family:inner reduction, split", "family:inner reduction split"),
        ("family:inner+outer reduction", "family:inner+outer reduction"),
        ("group:forward0.g3", "group:forward0.g3"),
        ("group:forward*.g3", "group:forward*.g3"),
        ("group:3fa0c41b22e9", "group:3fa0c41b22e9"),
        ("op:aten.gelu", "op:aten.gelu"),
        (" op : aten.add.Tensor ", "op:aten.add.Tensor"),
    ],
)
def test_structured_names(text, kept):
    assert structured(text) == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prim:xep", "unknown primitive 'xep': did you mean 'exp'?"),
        ("prim:gathr", "unknown primitive 'gathr': did you mean 'gather'?"),
        ("famly:scan", "there is no 'famly:' in 'famly:scan': did you mean 'family'?"),
        ("family:inner persistant", "unknown schedule family 'inner persistant': did you mean 'inner persistent'?"),
        ("group:three", "'three' is not a group: they are called like 'forward0.g3', or by 6 to 12 digits of a hash"),
        ("op:gelu", "'gelu' is not an operator: they are called like 'aten.gelu' or 'aten.add.Tensor'"),
        ("exp", "'exp' is not of the form kind:name, kind being one of prim, op, family, group, executor"),
    ],
)
def test_mistakes_in_structured_names(text, message):
    with pytest.raises(UserError) as caught:
        structured(text)
    assert str(caught.value) == message
    with pytest.raises(UserError) as caught:
        options(disable=text)
    assert str(caught.value) == f"option 'disable': {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prim:xep", "FUSEWRIGHT_DISABLE: unknown primitive 'xep': did you mean 'exp'?"),
        ("exp", "FUSEWRIGHT_DISABLE: unknown switch 'exp': did you mean 'prim:exp'?"),
        ("scan", "FUSEWRIGHT_DISABLE: unknown switch 'scan': did you mean 'prim:scan' or 'family:scan'?"),
        (
            "inner_persistent",
            "FUSEWRIGHT_DISABLE: unknown switch 'inner_persistent': did you mean 'family:inner persistent'?",
        ),
    ],
)
def test_mistakes_in_the_environment(text, message):
    with pytest.raises(UserError) as caught:
        from_environment({"FUSEWRIGHT_DISABLE": text})
    assert str(caught.value) == message


def test_suggestions_are_near():
    """A name that is like none is answered with all of them, not with the least different one."""
    hint = lambda name: switches.hint_for_switch(name, ("fma", "fallback", "recompute"))
    assert hint("softmax") == "known: fma, fallback, recompute"
    assert hint("fall") == hint("falback") == "did you mean 'fallback'?"
    stages = (*switches.STAGES, *switches.ALIASES)
    assert [switches.nearest(name, stages) for name in ("launch_parameters", "bandwith", "assembler", "hits")] == [
        *("launch", "bandwidth", "assembly", ""),
    ]
    assert [d.stage for d in parse_dump("ptx")] == [d.stage for d in parse_dump("sass")] == ["assembly"]


def test_the_other_variable():
    with pytest.raises(
        UserError, match=r"^FUSEWRIGHT_ENABLE: 'family:scan': only FUSEWRIGHT_DISABLE takes names of this"
    ):
        from_environment({"FUSEWRIGHT_ENABLE": "family:scan"})
    with pytest.raises(UserError, match=r"^pool is both in FUSEWRIGHT_ENABLE and in FUSEWRIGHT_DISABLE$"):
        from_environment({"FUSEWRIGHT_ENABLE": "pool", "FUSEWRIGHT_DISABLE": "fma,pool"})
    assert not from_environment({"FUSEWRIGHT_DISABLE": "pool,pool"}).pool


def test_variables_that_are_nearly_ours():
    others = {"FUSEWRIGHT_TEST_BACKEND": "x", "FUSEWRIGHT_PROPERTY_EXAMPLES": "1", "FUSEWRIGHT_DUMP": "loop"}
    assert misspelled({**others, "FUSEWRIGHT_DISALBE": "", "HOME": "/"}) == []
    assert misspelled({**others, "FUSEWRIGHT_DISALBE": "fma", "FUSEWRIGHT_DUMPS": "loop"}) == [
        "FUSEWRIGHT_DISALBE means nothing to Fusewright: did you mean FUSEWRIGHT_DISABLE?",
        "FUSEWRIGHT_DUMPS means nothing to Fusewright: did you mean FUSEWRIGHT_DUMP?",
    ]
    env = {**os.environ, "FUSEWRIGHT_DISALBE": "fma"}
    done = subprocess.run([sys.executable, "-c", "import fusewright"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.count("did you mean FUSEWRIGHT_DISABLE?") == 1


def test_the_environment_takes_both_kinds():
    got = from_environment({"FUSEWRIGHT_DISABLE": "pool,prim:exp, family:scan", "FUSEWRIGHT_ENABLE": "check"})
    assert not got.pool and got.disable == ("family:scan", "prim:exp") and got.check is True


def test_only_names_are_disabled_by_the_option():
    with pytest.raises(UserError, match="write pool=False for the switch"):
        options(disable="pool")
    with options(disable=("prim:exp", "family:scan")):
        assert current().disable == ("family:scan", "prim:exp")
        with options(disable=()):
            assert current().disable == ()


def test_what_is_disabled_changes_the_code():
    assert Options(disable=("prim:exp",)).code_key() != Options().code_key()


def test_matching():
    assert disables_group(("group:forward0.g3",), "forward0.g3", "abcdef012345") == "group:forward0.g3"
    assert disables_group(("group:forward*.g3",), "forward12.g3", "abcdef012345")
    assert disables_group(("group:abcdef",), "forward0.g1", "abcdef012345")
    assert not disables_group(("group:forward0.g3", "prim:exp"), "forward0.g30", "abcdef012345")
    assert disables_operator(("op:aten.add",), "aten.add.Tensor") == "op:aten.add"
    assert not disables_operator(("op:aten.add",), "aten.addmm.default")
    assert not disables_operator(("op:aten.add.Scalar",), "aten.add.Tensor")


# --- dump --------------------------------------------------------------------------------------------------------


def test_directories_hold_for_what_is_before_them():
    assert parse_dump("graph,loop:/a,llvm:/b,fusion") == (
        Dump("graph", (), "/a"),
        Dump("fusion"),
        Dump("loop", (), "/a"),
        Dump("llvm", (), "/b"),
    )


def test_filters_and_aliases():
    assert parse_dump("loop@forward0.g3@softmax:C:\\dumps") == (Dump("loop", ("forward0.g3", "softmax"), "C:\\dumps"),)
    passes = ["grouping", "siblings", "horizontal", "rematerialize"]
    assert [d.stage for d in parse_dump("source,primitives")] == ["graph", *passes, "llvm", "cuda"]
    assert [d.stage for d in parse_dump("all")] == list(switches.STAGES)
    assert parse_dump("") == () and parse_dump(",loop,") == (Dump("loop"),)


def test_a_dump_prints_as_it_is_read():
    for text in ("loop", "loop@forward0.g3", "loop@a@b:/c/d"):
        (item,) = parse_dump(text)
        assert str(item) == text and parse_dump(str(item)) == (item,)
    got = from_environment({"FUSEWRIGHT_DUMP": "llvm,graph:/x"})
    assert got.dump == ("graph:/x", "llvm:/x") and options(dump=got.dump).overrides["dump"] == got.dump


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lop", "option 'dump' has no value 'lop': did you mean 'loop'?"),
        ("loop,:dir", "dump ':dir' names no stage"),
        ("loop@:dir", "dump 'loop@' has an empty filter after '@'"),
    ],
)
def test_mistakes_in_dump(text, message):
    with pytest.raises(UserError) as caught:
        options(dump=text)
    assert str(caught.value) == message


GROUP = ("forward0", "forward0.g3", "3fa0c41b22e9", ("aten.exp.default", "aten.sum.dim_IntList"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("forward0.g3", True),
        ("forward0.g2", False),
        ("forward0", True),
        ("forward1", False),
        ("forward*", True),
        ("g3", True),
        ("g2-g4", True),
        ("forward0.g3-5", True),
        ("forward0.g4-g5", False),
        ("forward1.g2-g4", False),
        ("backward*.g3", False),
        ("3fa0c41b", True),
        ("3fa0c41c", False),
        ("exp", True),
        ("softmax", False),
    ],
)
def test_filters(text, wanted):
    assert Dump("loop", (text,)).wants(*GROUP) is wanted
    assert Dump("loop", ("nothing", text)).wants(*GROUP) is wanted, "any of several"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("forward0.g3", True), ("forward0", True), ("forward1.g3", False), ("forward*.g1", True), ("g2-g4", True)],
)
def test_filters_of_a_whole_graph(text, wanted):
    assert Dump("graph", (text,)).wants("forward0", "", "", ("aten.mm.default",)) is wanted


# --- the page of the documentation -------------------------------------------------------------------------------


def test_the_page_is_up_to_date():
    page = PACKAGE.parent / "docs" / "options.md"
    assert page.read_text(encoding="utf-8") == markdown(), "run `fusewright options --markdown > docs/options.md`"


def test_the_page_names_everything():
    page = markdown()
    for name in (*switches.STAGES, *switches.KINDS, *switches.ALIASES):
        assert f"`{name}" in page, name
