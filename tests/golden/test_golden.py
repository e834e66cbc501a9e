"""Golden kernels: the graph, its Loop IR and its LLVM IR as text, and a numeric twin of each.

`python -m pytest tests/golden --update-goldens` writes them again; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm
import pytest

from fusewright.emit.llvm import Target, emit
from fusewright.emit.llvm_rules import SLEEF
from fusewright.graph import text as graph_text
from fusewright.graph.verify import verify as verify_graph
from fusewright.loop import text as loop_text
from fusewright.loop.verify import verify as verify_loop
from tests.golden.cases import CASES
from tests.kernels import check, graph_of, kernel, random_inputs

HERE = Path(__file__).parent
LL = [name for name, case in CASES.items() if case.ll]

# A machine that stays the same: 512-bit vectors, torch's threads, every SLEEF function.
GOLDEN = Target(
    bits=512,
    openmp=True,
    sleef=frozenset(f"Sleef_{n}{w}_{s}" for n, s in SLEEF.items() for w in ("f16", "f8", "f4", "d8", "d4", "d2")),
    inline_math=False,
)
BARE = Target(bits=128, openmp=False, sleef=frozenset())


def _golden(name: str, suffix: str, text: str, update: bool) -> None:
    path = HERE / f"{name}.{suffix}"
    text = text.rstrip("\n") + "\n"
    if update:
        path.write_text(text)
    assert path.exists(), f"no golden {path.name}: run with --update-goldens"
    assert text == path.read_text(), f"{path.name} differs: if that is meant, run with --update-goldens"


def _llvm(text: str) -> None:
    module = llvm.parse_assembly(text)
    module.verify()


@pytest.mark.parametrize("name", CASES)
def test_graph(name: str, update_goldens: bool) -> None:
    text = graph_text.dump(graph_of(CASES[name].program))
    _golden(name, "graph", text, update_goldens)
    again = graph_text.parse((HERE / f"{name}.graph").read_text())
    verify_graph(again)
    assert graph_text.dump(again) == text


@pytest.mark.parametrize("name", CASES)
def test_loop(name: str, update_goldens: bool) -> None:
    c = kernel(graph_of(CASES[name].program), name)
    assert c.schedule.family == CASES[name].family
    text = loop_text.dump(c.kernel.func)
    _golden(name, "loop", text, update_goldens)
    again = loop_text.parse((HERE / f"{name}.loop").read_text())
    verify_loop(again)
    assert loop_text.dump(again) == text


@pytest.mark.parametrize("name", CASES)
def test_llvm(name: str, update_goldens: bool) -> None:
    """The golden is LLVM IR for a fixed machine; what other machines get parses and verifies too."""
    func = kernel(graph_of(CASES[name].program), name).kernel.func
    text = emit(func, GOLDEN)
    if CASES[name].ll:
        _golden(name, "ll", text, update_goldens)
        text = (HERE / f"{name}.ll").read_text()
    _llvm(text)
    _llvm(emit(func, BARE))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, threads: int) -> None:
    """The Loop IR, as parsed from its text, computes what the graph means."""
    case = CASES[name]
    graph = graph_of(case.program)
    c = kernel(graph, name)
    c.kernel.func = loop_text.parse(loop_text.dump(c.kernel.func))
    for n, m in case.sizes:
        if m == 0 and not case.empty_columns:
            continue
        sizes = {"n": n, "m": m}
        inputs = random_inputs(graph, sizes)
        if case.fix is not None:
            case.fix(inputs, sizes)
        check(graph, sizes, threads, inputs, c, case.tolerance)
        check(graph, sizes, threads, inputs, c, case.tolerance, stream=True)


def test_an_index_out_of_range_is_reported() -> None:
    graph = graph_of(CASES["embedding"].program)
    sizes = {"n": 3, "m": 4}
    inputs = random_inputs(graph, sizes)
    inputs[1][:] = (0, 4, 1)
    with pytest.raises(AssertionError, match="reported failure"):
        check(graph, sizes, inputs=inputs)


def test_no_golden_is_left_over() -> None:
    want = {f"{n}.{s}" for n in CASES for s in ("graph", "loop")} | {f"{n}.ll" for n in LL}
    have = {p.name for p in HERE.iterdir() if p.suffix in (".graph", ".loop", ".ll")}
    assert have == want
