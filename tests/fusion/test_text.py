"""The text of a fusion is as long as its expressions have distinct parts, and no deeper than Python's stack."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fusewright.core.dtypes import f32
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from tests.kernels import fusion_of, graph_of


def text_of(step: Callable[[Builder, Value], Value], times: int) -> str:
    def program(b: Builder) -> Value:
        x = b.input(f32, (sym("n"),))
        for _ in range(times):
            x = step(b, x)
        return x

    return fusion_of(graph_of(program)).fusion.text()


def test_short_expressions_are_written_in_place():
    text = text_of(lambda b, x: b.mul(x, x), 3)
    assert "let" not in text and text.count("in0[") == 8


def test_names_appear_where_the_text_would_be_long():
    text = text_of(lambda b, x: b.mul(x, b.exp(x)), 40)  # 2**40 uses of the input
    lines = text.splitlines()
    assert len(text) < 10_000
    names = [line.split()[1] for line in lines if line.startswith("  let ")]
    assert names == [f"v{k}" for k in range(len(names))] and len(names) > 10
    for k, name in enumerate(names):  # defined before use, and used
        first = next(n for n, line in enumerate(lines) if line.startswith(f"  let {name} "))
        assert not any(f"{name})" in line or f"{name}," in line for line in lines[:first]), k
        assert any(f"({name}" in line or f" {name})" in line for line in lines[first + 1 :])


@pytest.mark.parametrize("prim", ["exp", "tanh"])
def test_long_chains(prim):
    text = text_of(lambda b, x: b.add(getattr(b, prim)(x), b.const(1.5, f32)), 90)
    assert text.count(f"{prim}(") == 90 and "let" not in text
    text = text_of(lambda b, x: b.add(getattr(b, prim)(x), b.mul(x, b.const(1.5, f32))), 60)
    assert text.count(f"{prim}(") == 60 and max(map(len, text.splitlines())) < 5000
