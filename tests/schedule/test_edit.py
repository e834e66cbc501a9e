"""Directives from Python: what each changes, what it refuses and why, on CPUs and GPUs."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from fusewright.core.dtypes import f32, i64
from fusewright.core.errors import UserError
from fusewright.graph.builder import Builder
from fusewright.graph.ir import Value
from fusewright.index.expr import sym
from fusewright.schedule import edit, gpu_anchor, gpu_runs
from fusewright.schedule.cpu import Machine
from fusewright.schedule.device import V100
from fusewright.schedule.edit import Edit
from fusewright.schedule.forms import Illegal
from fusewright.schedule.gpu_base import GpuSchedule
from fusewright.schedule.legal_gpu import Sizes
from tests.golden.cases import CASES
from tests.kernels import LANES, fusion_of, graph_of, hint
from tests.kernels_gpu import SMALL, hint_of

N, M, K = sym("n"), sym("m"), sym("k")


def on_cpu(program: Callable[[Builder], Any] | str, **kwargs: Any) -> Edit:
    program = CASES[program].program if isinstance(program, str) else program
    return edit.on_cpu(fusion_of(graph_of(program)).original, hint, Machine(LANES, 1 << 62), **kwargs)


def on_gpu(program: Callable[[Builder], Any] | str, n: int = 64, m: int = 256) -> Edit:
    program = CASES[program].program if isinstance(program, str) else program
    sizes = Sizes(hint_of({"n": n, "m": m}), SMALL)  # type: ignore[arg-type]
    return edit.on_gpu(fusion_of(graph_of(program)).original, sizes)


def refused(change: Callable[[], Any]) -> Illegal:
    with pytest.raises(Illegal) as caught:
        change()
    return caught.value


def _cube(b: Builder) -> Value:
    """Elementwise over three axes that cannot be merged."""
    x, y, z = b.input(f32, (N, M, K)), b.input(f32, (N, 1, K)), b.input(f32, (1, M, 1))
    return b.mul(b.add(x, y), z)


# --- CPU -----------------------------------------------------------------------------------------


def test_directives_make_new_schedules() -> None:
    s = on_cpu("softmax")
    t = s.bind("i1", "vector", 8)
    assert (s.schedule.lanes, t.schedule.lanes) == (16, 8)
    assert t.schedule.family == "edited inner persistent", "people see that it is not the heuristic's"
    assert s.bind("i1", "vector", 16) is s
    assert t.bind("i1", "vector", 4).schedule.family == "edited inner persistent"
    assert "schedule cpu" in str(s) and s.key in str(s) and "# fusion over" in str(s)


def test_bind() -> None:
    s = on_cpu(_cube)
    assert (s.schedule.rows, s.schedule.cols, s.schedule.vector) == (("i0", "i1"), ("i2",), "i2")
    t = s.bind("i1", "serial")
    assert (t.schedule.rows, t.schedule.cols) == (("i0",), ("i1", "i2")), "above the vectorised axis"
    assert t.bind("i1", "parallel").schedule.rows == ("i0", "i1")
    assert s.bind("i0", "vector", 8).schedule.vector == "i0" and s.bind("i0", "vector", 8).schedule.rows == ("i0", "i1")
    assert t.bind("i1", "vector", 8).schedule.cols == ("i2", "i1"), "a vectorised column is the innermost"
    assert s.bind("i2", "vector", 1).schedule.vector == ""


def test_bad_binds() -> None:
    s = on_cpu(_cube)
    e = refused(lambda: s.bind("i7", "parallel"))
    assert (e.directive, e.argument, e.legal) == ("bind(i7, parallel)", "i7", "i0, i1, i2")
    e = refused(lambda: s.bind("i0", "sideways"))
    assert e.argument == "sideways" and "parallel" in e.legal and "vector" in e.legal
    e = refused(lambda: s.bind("i2", "vector", 12))
    assert (e.directive, e.argument, e.legal) == ("bind(i2, vector, 12)", "12", "2, 4, 8, 16, 32")
    for n in (0, -3, 2.5, True, "8"):
        assert refused(lambda n=n: s.bind("i2", "vector", n)).argument == str(n)  # type: ignore[misc]
    assert refused(lambda: s.bind("i0", "parallel", 4)).argument == "4"
    assert isinstance(e, UserError)


def test_rows_and_columns_follow_the_reductions() -> None:
    s = on_cpu("softmax")
    e = refused(lambda: s.bind("i1", "parallel"))
    assert "rows (i0) and columns (i1)" in e.legal
    s = on_cpu("inner_sum")
    e = refused(lambda: s.bind("i0", "serial"))
    assert e.legal == "rows (i0) and columns (i1), or rows (i1) and columns (i0)"
    t = s.bind("i1", "vector", 1).nest(["i1"], ["i0"])
    assert (t.schedule.rows, t.schedule.cols) == (("i1",), ("i0",)), "both at once"
    assert refused(lambda: s.nest(["i0"], [])).argument == "i1"
    assert refused(lambda: s.nest(["i0", "i1"], ["i1"])).why.startswith("the axis has two places in the nest")


def test_lanes_along_rows() -> None:
    assert on_cpu("softmax").bind("i0", "vector", 8).schedule.cols == ("i1",)
    e = refused(lambda: on_cpu("rms_norm_backward").bind("i0", "vector", 8))
    assert e.argument == "i0" and "reduced over rows" in e.why and e.legal.endswith("i1")
    e = refused(lambda: on_cpu("cumulative").bind("i1", "vector", 8))
    assert "points of a scan" in e.why and e.legal == "i0"
    assert on_cpu("cumulative").bind("i0", "vector", 8).schedule.vector == "i0"


def test_split() -> None:
    s = on_cpu("broadcast")
    assert s.split("i1", 100).schedule.split == (("i1", 100),)
    assert s.split("i1", None).schedule.split == ()
    assert s.split("i1", None).bind("i0", "serial").split("i0", 7).schedule.split == (("i0", 7),)
    assert refused(lambda: s.split("i0", 16)).why == "only column axes are cut"
    assert refused(lambda: s.split("i1", 0)).argument == "0"
    assert refused(lambda: on_cpu("softmax").split("i1", 64)).why == "a reduction needs the whole row"
    assert refused(lambda: on_cpu("cumulative").split("i1", 64)).why == "a scan or scatter visits whole rows"
    e = refused(lambda: on_cpu("dropout").split("i1", 100))
    assert e.legal == "multiples of 64, as random numbers are drawn"
    assert on_cpu("dropout").split("i1", 128).schedule.split == (("i1", 128),)
    assert on_cpu("rms_norm_backward").schedule.split == ()


def test_order_of_loops() -> None:
    s = on_cpu(_cube)
    assert s.reorder("i1", "i0", "i2").schedule.rows == ("i1", "i0")
    assert refused(lambda: s.reorder("i0", "i1")).argument == "i2"
    assert refused(lambda: s.reorder("i0", "i1", "i2", "i3")).argument == "i3"
    t = s.bind("i1", "serial")
    assert "order i1, i2" in refused(lambda: t.reorder("i0", "i2", "i1")).legal


def test_fused_axes() -> None:
    def program(b: Builder) -> Value:
        return b.neg(b.input(f32, (N, M, 3)))

    s = on_cpu(program)
    assert s.schedule.cols == ("i0i1i2",), "the heuristic merges what memory walks as one"
    t = s.unfuse("i0i1i2")
    assert t.schedule.cols == ("i0", "i1", "i2") and t.schedule.vector == "i2"
    u = t.bind("i0", "parallel").fuse("i1", "i2")
    assert (u.schedule.rows, u.schedule.cols, u.schedule.vector) == (("i0",), ("i1i2",), "i1i2")
    assert refused(lambda: u.fuse("i0", "i1i2")).argument == "i1i2", "a row with a column"
    e = refused(lambda: on_cpu(_cube).fuse("i0", "i1"))
    assert "these axes cannot be one" in e.why


def test_streaming() -> None:
    def program(b: Builder) -> Value:
        return b.neg(b.input(f32, (N, 64)))

    s = on_cpu(program)
    t = s.hint("out1", "streaming")
    assert t.schedule.stream == {"out1"} and t.hint("out1", "cached").schedule.stream == frozenset()
    assert refused(lambda: s.hint("in0", "streaming")).legal == "out1"
    assert refused(lambda: s.hint("out9", "streaming")).legal == "in0, out1"
    assert refused(lambda: s.hint("out1", "warm")).legal == "streaming, cached"
    half = s.bind("i0i1", "vector", 8).hint("out1", "streaming")
    assert half.schedule.stream == {"out1"}, "the other half follows"
    assert refused(lambda: s.bind("i0i1", "vector", 4).hint("out1", "streaming")).argument == "out1", "a quarter"
    assert s.split("i0i1", 40).hint("out1", "streaming").schedule.stream == {"out1"}, "pieces start anywhere"
    e = refused(lambda: on_cpu(program, anywhere=frozenset(["out1"])).hint("out1", "streaming"))
    assert e.why == "it may start anywhere in memory"
    assert on_cpu("broadcast").hint("out3", "streaming").schedule.stream == {"out3"}, "rows of any length"
    few = refused(lambda: on_cpu("layer_norm").hint("out4", "streaming"))
    assert few.argument == "out4" and "vector by vector" in few.why, "one of each row"


def test_a_scatter() -> None:
    s = on_cpu("scatter_add")
    assert s.schedule.owner == "i0"
    assert s.divide(None).schedule.owner is None and s.divide(0).schedule.owner == 0
    assert refused(lambda: s.divide(3)).argument == "3"
    assert refused(lambda: s.divide("i9")).directive == "divide(i9, parallel)"
    t = s.part("before", 0, "split(o0o1, 64)")
    assert t.schedule.before[0].split == (("o0o1", 64),)
    assert refused(lambda: s.part("before", 4, "split(o0o1, 64)")).legal == "0"
    assert refused(lambda: s.part("before", 0, "split(o7, 64)")).argument == "o7"
    assert s.divide(0).nest(["i1"], ["i0"]).schedule.cols == ("i0",), "the batch may be anywhere"
    assert "can divide" in refused(lambda: s.divide("i1")).why
    assert "only CPU" in str(refused(lambda: on_gpu("softmax").divide(0)))


def test_points_that_meet_keep_their_order() -> None:
    def program(b: Builder) -> Value:
        x, src = b.input(f32, (K,)), b.input(f32, (N, M))
        at = b.input(i64, (N, M))
        return b.scatter(x, b.mul(src, src), [at], [("at", 0, (0, 1))], "sum")

    s = on_cpu(program)
    s = s.unfuse("i0i1") if "i0i1" in (*s.schedule.rows, *s.schedule.cols) else s
    e = refused(lambda: s.nest(["i1"], ["i0"]))
    assert "in the order of the source" in e.why and e.legal.endswith("i0, i1")


def test_several_at_once() -> None:
    s = on_cpu("inner_sum")
    t = s.apply("bind(i1, parallel) bind(i0, vector, 8)")
    assert (t.schedule.rows, t.schedule.cols, t.schedule.vector, t.schedule.lanes) == (("i1",), ("i0",), "i0", 8)
    assert on_cpu("broadcast").apply("split(i1, 256)").schedule.rows == ("i0",), "what is not mentioned stays"
    assert "did you mean 'bind'" in str(refused(lambda: s.apply("bnd(i1, parallel)")))


def test_every_directive_says_what_it_means() -> None:
    """Its equation, and when it is legal."""
    skip = {"text", "directives", "check", "changed", "apply"}
    for name, f in inspect.getmembers(Edit, inspect.isfunction):
        if not name.startswith("_") and name not in skip:
            assert f.__doc__ and "Legal" in f.__doc__, name


# --- GPU -----------------------------------------------------------------------------------------


def _s(e: Edit) -> GpuSchedule:
    assert isinstance(e.schedule, GpuSchedule)
    return e.schedule


def test_gpu_threads_and_vectors() -> None:
    s = on_gpu("softmax")
    assert _s(s).mode == "persistent" and _s(s).lanes == 4
    assert _s(s.threads(rows=1)).row_threads == 1
    e = refused(lambda: s.threads(columns=3))
    assert e.argument == "3" and "powers of two" in e.legal
    e = refused(lambda: s.threads(rows=1024, columns=1024))
    assert "a block would have" in e.why
    e = refused(lambda: s.bind("i1", "vector", 2))
    assert "do not cover" in e.why and "after" in e.why and e.legal.endswith("or more")
    wider = s.unroll(8)
    assert _s(wider.bind("i1", "vector", 2)).lanes == 2
    e = refused(lambda: on_gpu("softmax", m=15).bind("i1", "vector", 4))
    assert (e.argument == "4" and "lanes divide the extent (15)" in str(e).replace(": ", " ", 1)) or "15" in e.why
    assert refused(lambda: s.bind("i1", "parallel")).legal == "grid, threads, vector"
    assert _s(s.bind("i0", "grid", 2)).row_threads == 2
    assert refused(lambda: s.unroll(100)).legal == "1 to 64"


def test_gpu_facts_follow_the_vectors() -> None:
    s = on_gpu("softmax").unroll(4)
    assert _s(s).aligned
    t = s.mode("loop").bind("i1", "vector", 1)
    assert _s(t).aligned == frozenset()
    assert _s(t.bind("i1", "vector", 4)).aligned == _s(s).aligned
    assert "hint(nothing, aligned)" in str(refused(lambda: s.hint("nothing", "aligned")))


def test_gpu_modes() -> None:
    s = on_gpu("softmax")
    assert _s(s.mode("loop", columns=32, unroll=2)).col_threads == 32
    assert _s(s.mode("split")).mode == "split"
    e = refused(lambda: s.mode("tile"))
    assert (e.directive, e.argument, e.legal) == ("mode(tile)", "tile", "persistent, loop, split")
    assert refused(lambda: on_gpu("broadcast").mode("loop")).legal == "tile, staged"
    assert refused(lambda: s.mode("loop", blocks=3)).legal == "rows, columns, unroll, cluster"
    e = refused(lambda: on_gpu("rms_norm_backward").mode("loop"))
    assert e.legal == "persistent"
    e = refused(lambda: on_gpu("rms_norm_backward").mode("split"))
    assert "reduction over rows" in e.why
    assert _s(on_gpu("argmax").mode("split")).mode == "split"
    assert refused(lambda: on_gpu("rms_norm_backward").resident(False)).legal == "resident(grid)"
    assert refused(lambda: s.resident()).why == "nothing is reduced over rows"


def test_gpu_finish() -> None:
    s = on_gpu("softmax").mode("split")
    assert _s(s).finish and not _s(s.finish(False)).finish and not _s(s.mode("loop")).finish
    assert "finish(block)" in s.text()
    assert refused(lambda: s.mode("loop").finish()).why == "blocks leave nothing to be combined"
    assert _s(on_gpu("rms_norm_backward")).finish and "finish" not in on_gpu("rms_norm_backward").finish(False).text()


def test_gpu_blocks_that_are_alone() -> None:
    s = on_gpu("rms_norm_backward")
    assert _s(s).resident and not _s(s).alone
    t = s.alone()
    assert _s(t).alone and "alone(blocks)" in t.text() and not _s(t.alone(False)).alone
    e = refused(lambda: on_gpu("softmax").alone())
    assert "resident blocks that keep their rows" in e.why and e.legal == "no alone"


def test_gpu_moved_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _s(on_gpu("softmax", m=255)).anchor  # too short to pay
    monkeypatch.setattr(gpu_anchor, "LONG", 16)
    s = on_gpu("softmax", m=255)
    assert _s(s).anchor == "in0" and _s(s).lanes == 4 and _s(s).aligned == {"in0", "out1"}
    assert "align(rows, in0)" in s.text()
    assert not _s(s.unroll(16).bind("i1", "vector", 1)).anchor
    e = refused(lambda: s.align("rows", ""))
    assert "lanes divide the extent" in e.why
    assert _s(s.align("rows", "out1")).aligned == {"in0", "out1"}
    assert refused(lambda: s.align("columns", "in0")).legal == "rows"
    assert refused(lambda: s.align("rows", "other")).legal == "in0, out1"
    other = on_gpu("softmax", m=256)
    assert _s(other.unroll(8).align("rows", "in0")).aligned == {"in0", "out1"}
    assert "only vectors" in refused(lambda: s.unroll(16).bind("i1", "vector", 1).align("rows", "in0")).why
    assert "sums of columns" in refused(lambda: on_gpu("rms_norm_backward").align("rows", "in0")).why
    assert "scan" in refused(lambda: on_gpu("cumulative").align("rows", "in0")).why
    assert "random" in refused(lambda: on_gpu("dropout").align("rows", "in0")).why


def test_gpu_interleaved_rows() -> None:
    s = on_gpu("softmax").mode("loop", rows=4, columns=32)
    assert _s(s.interleave()).interleaved and "interleave(rows)" in s.interleave().text()
    assert _s(s.interleave().mode("split")).interleaved and not _s(s.interleave().interleave(False)).interleaved
    assert _s(s.apply("interleave(rows)")) == _s(s.interleave())
    assert _s(on_gpu("rms_norm_backward").interleave()).resident
    e = refused(lambda: on_gpu("broadcast").interleave())
    assert (e.directive, e.argument, e.legal) == ("interleave(rows)", "rows", "no interleave")
    assert "scan" in refused(lambda: on_gpu("cumulative").interleave()).why
    assert "along rows" in refused(lambda: on_gpu("outer_softmax").interleave()).why
    assert "no rows" in refused(lambda: on_gpu("full_sum").interleave()).why
    assert not _s(s.interleave().bind("i0", "vector", 4)).interleaved


def test_gpu_registers() -> None:
    s = on_gpu("softmax", m=4096).mode("persistent", columns=1024, rows=1, unroll=1)
    assert _s(s.keep("loads")).keep == "loads"
    assert refused(lambda: s.keep("everything")).legal == "values, loads"
    assert refused(lambda: s.keep("loads", "memory")).legal == "registers, shared"
    e = refused(lambda: on_gpu("softmax", m=4096).mode("persistent", rows=1, columns=16, unroll=64))
    assert "registers of values" in e.why


def test_gpu_rows_in_shared_memory() -> None:
    s = on_gpu("softmax", m=4096).mode("persistent", columns=256, rows=1, unroll=4)
    assert _s(s.keep("loads", "shared")).keep_in == "shared"
    assert "keep(loads, shared)" in _s(s.keep("loads", "shared")).directives()
    assert refused(lambda: s.keep("loads", "shared").ahead()).legal == "0"
    assert refused(lambda: s.mode("loop").keep("loads", "shared")).legal == "registers"
    assert _s(s.keep("loads", "shared").mode("loop")).keep_in == "registers"
    long = on_gpu("softmax", m=65536).keep("loads")
    long = long.mode("persistent", columns=1024, rows=1, unroll=16, cluster=1)
    e = refused(lambda: long.keep("loads", "shared"))
    assert e.why == "a block would need 262144 bytes of shared memory, of 228352"
    back = on_gpu("rms_norm_backward")
    two = back.keep("loads", "shared").ahead()
    assert _s(two).ahead == 1 and "ahead(rows, 1)" in _s(two).directives()
    assert _s(two.keep("loads")).ahead == 0
    assert _s(back.keep("loads", "shared").ahead(3)).ahead == 3
    assert _s(two.ahead(0)).ahead == 0
    assert refused(lambda: back.keep("loads", "shared").ahead("two")).why == "not a positive whole number"  # type: ignore
    e = refused(lambda: back.keep("loads", "shared").ahead(8))
    assert e.why == "not a number of rows that are on their way" and e.legal == "0 to 7"
    down = on_gpu("outer_softmax")
    assert refused(lambda: down.keep("loads", "shared")).why == "vectors of rows are kept in registers"


def test_gpu_clusters() -> None:
    s = on_gpu("softmax", m=4096)
    assert _s(s.mode("persistent", rows=1, columns=256, unroll=2, cluster=2)).cluster == 2
    assert refused(lambda: s.mode("persistent", rows=1, columns=256, unroll=4, cluster=3)).argument == "3"
    assert refused(lambda: s.mode("loop").cluster(2)).legal == "1"
    sizes = Sizes(hint_of({"n": 64, "m": 4096}), V100)  # type: ignore[arg-type]
    old = edit.on_gpu(s.fusion, sizes).mode("persistent", rows=1, columns=256, unroll=4)
    assert refused(lambda: old.cluster(2)).why == "the GPU has no clusters"


def test_gpu_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_runs, "FEW", 0)
    s = on_gpu("softmax", m=13)
    assert _s(s).runs == {"in0", "out1"} and "run(in0, shared)" in s.text()
    assert _s(s.run("in0")).runs == {"in0"} and not _s(s.run()).runs
    assert refused(lambda: s.run("in7")).legal == "in0, out1"
    assert "multiple of 4 rows" in refused(lambda: s.mode("persistent", rows=2, columns=16, unroll=1)).why
    assert "whole rows of their own" in refused(lambda: s.cluster(2)).why


def test_every_field_of_a_gpu_schedule_has_a_rule() -> None:
    """A new field needs one: `schedule/legal_gpu.py` is to say when its values are legal."""
    ruled = {"rows", "cols", "vector", "lanes", "mode", "row_threads", "col_threads", "steps", "resident", "cluster"}
    ruled |= {"across", "turned", "index", "aligned", "stream", "uniform", "keep", "split", "family"}
    ruled |= {"repeat", "repeats", "steady", "keep_in", "ahead", "finish", "anchor", "permuted", "whole", "interleaved"}
    ruled |= {"once", "runs", "alone"}
    assert {f.name for f in dataclasses.fields(GpuSchedule)} == ruled


def test_gpu_transposes() -> None:
    s = on_gpu("transpose", 64, 128)
    assert _s(s).mode == "staged"
    assert refused(lambda: s.threads(columns=1)).legal == "2 to 128"
    assert _s(s.threads(rows=64, columns=4)).col_threads == 4
    assert "do not read 128 by 32 points" in refused(lambda: s.threads(rows=1, columns=8)).why
    assert refused(lambda: s.unroll(2)).legal == "1"
    assert refused(lambda: s.stage_in("i9")).argument == "i9"
    plain = s.apply("mode(tile)") if not _s(s).across else None
    assert plain is None
    e = refused(lambda: on_gpu("broadcast", 63, 256).stage_in("i0"))
    assert "63" in e.why
    assert _s(on_gpu("broadcast", 64, 256).stage_in("i0")).across == "i0"
    narrow = on_gpu("broadcast", 63, 256).stage_in("i0", lanes=1)
    assert (_s(narrow).lanes, _s(narrow).turned) == (8, 1) and "stage_in(i0, shared, 1)" in narrow.text()
    assert refused(lambda: narrow.threads(rows=16, columns=64)).why == "more threads than points"
    e = refused(lambda: on_gpu("broadcast", 64, 256).stage_in("i0", lanes=3))
    assert (e.argument, e.legal) == ("3", "1, 2, 4, 8")


def test_gpu_reuse() -> None:
    s = on_gpu("broadcast", 64, 256)
    rows = _s(s).rows
    t = s.reuse(rows[0], 4)
    assert (_s(t).repeat, _s(t).repeats) == (rows[0], 4)
    assert "reuse(" in t.text() and _s(t.reuse(rows[0], 1)).repeat == ""
    assert refused(lambda: s.reuse(_s(s).cols[0], 4)).legal == ", ".join(rows)
    assert refused(lambda: s.reuse(rows[0], 16)).argument == "16"
    assert refused(lambda: s.reuse(rows[0], 4, "shared")).legal == "registers"
    assert "no tiles" in refused(lambda: on_gpu("softmax").reuse(_s(on_gpu("softmax")).rows[0], 4)).why


def test_gpu_index() -> None:
    s = on_gpu("softmax")
    assert _s(s.index(64)).index == 64
    assert refused(lambda: s.index(16)).legal == "32, 64"
    e = refused(lambda: on_gpu("broadcast", 1 << 16, 1 << 16).index(32))
    assert e.argument == "32" and e.legal == "64"
