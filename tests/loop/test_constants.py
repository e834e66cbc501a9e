"""GPU kernels whose sizes are numbers: what is folded, and that they compute what the general kernels compute."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.core.errors import CompilerError
from fusewright.interp.loop import run as run_loop
from fusewright.loop.constants import specialised, with_sizes
from fusewright.loop.ir import For, Func, Grid, If, Let, Stmt, Store, walk
from fusewright.loop.text import dump, parse
from fusewright.loop.verify import verify
from tests.emulate.cuda import COMPILER, run_emulated
from tests.golden.cases import CASES
from tests.golden.test_golden_gpu import FEW, GOLDENS
from tests.kernels import graph_of, random_inputs
from tests.kernels_gpu import gpu_kernel, run_gpu


def folded(text: str, *numbers: int) -> Func:
    func = parse(text)
    verify(func)
    before = dump(func)
    out = with_sizes(func, numbers)
    assert dump(func) == before and not out.sizes
    verify(out)
    assert dump(parse(dump(out))) == dump(out)
    return out


def kernel(body: str, threads: int = 8, sizes: str = "n", blocks: str = "4", lanes: str = "") -> str:
    names = ", ".join(f"size {s}" for s in sizes.split())
    return (
        f"func k cuda i32 (buf x: f32, buf y: f32 out, {names}) {{ {lanes} "
        f"grid b of {blocks}, t of {threads} {{ {body} }} }}"
    )


def body(func: Func) -> list[Stmt]:
    (grid,) = func.body
    assert isinstance(grid, Grid)
    return grid.body


def ops(func: Func) -> list[str]:
    return [s.op for s in walk(func.body) if isinstance(s, Let)]


def machine(run):
    """An interpreter of the specialised kernel in place of the general one."""

    def specialised(func, memory, numbers, hosts):
        return run(folded(dump(func), *numbers.values()), memory, {}, hosts)

    return specialised


@pytest.mark.every(9)
@pytest.mark.parametrize("name", GOLDENS)
def test_computes_what_the_general_kernel_computes(name: str) -> None:
    program, (n, m), _ = GOLDENS[name]
    graph = graph_of(program)
    for sizes in ({"n": n, "m": m}, {"n": n + 3, "m": m - m % 8 + 8}, {"n": 3, "m": 29}):
        inputs = random_inputs(graph, sizes)
        if name in CASES and CASES[name].fix is not None:
            CASES[name].fix(inputs, sizes)  # type: ignore[misc]
        c = gpu_kernel(graph, sizes, gpu=FEW)
        want = run_gpu(c, inputs, sizes)
        machines = [run_loop, run_emulated] if COMPILER is not None else [run_loop]
        for run in machines[: 2 if sizes["n"] == n else 1]:
            plain = want if run is run_loop else run_gpu(c, inputs, sizes, run)
            got = run_gpu(c, inputs, sizes, machine(run))
            for v in want:
                np.testing.assert_array_equal(got[v], plain[v])


def test_only_the_kernels_sizes_are_left_out() -> None:
    """Hosts and buffers stay where callers expect them; scratch on the device has a number of elements."""
    out = folded(
        "func k cuda i32 (buf x: f32, buf y: f32 out, size n, size m, host h: f32) { alloc s: f32[m] grid "
        "grid b of n, t of 4 { store s[b] = h } grid c of 1, u of 1 { v: f32 = load(s, c) store y[c] = v } }",
        *(1, 5),
    )
    assert [r.name for r in out.hosts] == ["h"] and [x.name for x in out.bufs] == ["x", "y"]
    assert "alloc s: f32[5] grid" in dump(out)


STORE = "v: f32 = load(x, i) store y[i] = v"


@pytest.mark.parametrize(
    ("n", "branches", "stores"),
    [(32, 0, 1), (100, 0, 1), (31, 1, 1), (1, 1, 1), (0, 0, 0)],
)
def test_conditions_that_hold_everywhere(n: int, branches: int, stores: int) -> None:
    text = kernel(f"a: i32 = mul(b, 8) i: i32 = add(a, t) c: bool = lt(i, n) if c {{ {STORE} }}")
    out = folded(text, n)
    assert sum(isinstance(s, If) for s in walk(out.body)) == branches
    assert sum(isinstance(s, Store) for s in walk(out.body)) == stores


def test_the_other_branch() -> None:
    text = kernel(
        "c: bool = gt(n, 5) d: bool = not(c) if d { store y[t] = 1.0:f32 } else { store y[t] = 2.0:f32 }", blocks="1"
    )
    assert "store y[t] = 2.0:f32" in dump(folded(text, 6)) and "1.0:f32" not in dump(folded(text, 6))
    assert "store y[t] = 1.0:f32" in dump(folded(text, 5)) and "2.0:f32" not in dump(folded(text, 5))


@pytest.mark.parametrize(
    ("n", "loops", "loads"),
    [(8, 0, 1), (0, 0, 0), (24, 1, 1), (20, 1, 1), (7, 1, 1)],
)
def test_loops(n: int, loops: int, loads: int) -> None:
    """Threads that start at their number, and walk in steps of the block."""
    out = folded(kernel(f"for i in t .. n step 8 {{ {STORE} }}", blocks="1"), n)
    found = [s for s in walk(out.body) if isinstance(s, For)]
    assert len(found) == loops and ops(out).count("load") == loads
    if n == 24:  # as often in every thread: the compiler may count
        assert (found[0].lo.value, found[0].hi.value, found[0].step.value) == (0, 3, 1)  # type: ignore[union-attr]
    for x in (np.arange(float(max(n, 1)), dtype=np.float32),):
        y = np.zeros_like(x)
        run_loop(out, {"x": x, "y": y}, {}, {})
        np.testing.assert_array_equal(y[:n], x[:n])


@pytest.mark.parametrize(
    ("n", "bounds", "branches"),
    [(32, [(0, 4)], 0), (28, [(0, 3)], 1), (20, [(0, 2)], 1), (8, [], 0), (9, [], 1), (3, [], 1)],
)
def test_rows_that_end_within_a_step(n: int, bounds: list[tuple[int, int]], branches: int) -> None:
    """Steps that all threads make need no condition; those that none makes are left out."""
    text = kernel(
        f"for k in 0 .. 4 step 1 unroll {{ a: i32 = mul(k, 8) i: i32 = add(a, t) c: bool = lt(i, n) if c {{ "
        f"{STORE} store kept[k] = v }} }}",
        blocks="1",
        lanes="alloc kept: f32[4] register",
    )
    out = folded(text, n)
    loops = [s for s in walk(out.body) if isinstance(s, For)]
    assert [(s.lo.value, s.hi.value) for s in loops] == bounds  # type: ignore[union-attr]
    assert sum(isinstance(s, If) for s in walk(out.body)) == branches
    x, y = np.arange(32, dtype=np.float32) + 1, np.zeros(32, np.float32)
    run_loop(out, {"x": x, "y": y}, {}, {})
    np.testing.assert_array_equal(y, np.where(np.arange(32) < n, x, 0))


def test_divisions_by_what_is_known() -> None:
    text = "q: i32 = udiv(t, n) a: i32 = mul(q, n) r: i32 = sub(t, a) c: bool = lt(r, m) if c "
    text += "{ v: f32 = load(x, r) store y[t] = v }"
    assert "udiv" not in ops(folded(kernel(text, sizes="n m", blocks="1"), 8, 8))
    out = folded(kernel(text, sizes="n m", blocks="1"), 4, 4)  # a remainder is less than its divisor
    assert "udiv" in ops(out) and not any(isinstance(s, If) for s in walk(out.body))
    assert any(isinstance(s, If) for s in walk(folded(kernel(text, sizes="n m", blocks="1"), 4, 3).body))


def test_masks() -> None:
    text = kernel(
        "a: i32 = mul(t, 4) l: i32 = sub(n, a) m: boolx4 = lanemask(l) "
        "v: f32x4 = load(x, a, m) store y[a] = v {mask m}",
        blocks="1",
    )
    assert "mask" not in dump(folded(text, 32)) and "{mask m}" in dump(folded(text, 31))
    none = folded(text, -3)
    assert ops(none) == [] and body(none) == []


def test_a_variable_is_not_taken_for_its_value() -> None:
    text = kernel(
        "var v: i32 = 0 for i in 0 .. n step 1 { w: i32 = add(v, i) set v = w } "
        "c: bool = eq(v, 0) if c { store y[t] = 1.0:f32 } "
        "k: i32 = where(true, v, v) set v = 7 f: f32 = cast(k) store y[t] = f",
        blocks="1",
    )
    y = np.zeros(8, np.float32)
    run_loop(folded(text, 5), {"x": y[:0].copy(), "y": y}, {}, {})
    np.testing.assert_array_equal(y, 10.0)


def test_data_wraps() -> None:
    """Integers that are no indices may wrap: what is known of their operands bounds nothing then."""
    text = (
        "func k cuda i64 (buf y: i32 out, size n) { grid b of 1, t of 4 { s: i32 = cast(t) d: i32 = cast(n) "
        "p: i32 = mul(d, d) q: i32 = add(p, s) c: bool = gt(q, 0:i32) v: i32 = cast(c) store y[t] = v } }"
    )
    y = np.full(4, 9, np.int32)
    run_loop(folded(text, 50000), {"y": y}, {}, {})
    np.testing.assert_array_equal(y, 0)  # 50000 * 50000 is negative in 32 bits


def test_names_stay_unique_where_blocks_are_joined() -> None:
    text = kernel(
        "c: bool = lt(n, 9) if c { v: f32 = load(x, t) store y[t] = v } "
        "if c { v: f32 = load(x, b) store y[t] = v } for i in 0 .. n step 9 { v: f32 = load(x, i) store y[t] = v }",
        blocks="1",
    )
    names = [s.dst.name for s in body(folded(text, 4)) if isinstance(s, Let)]
    assert len(names) == 3 and len(set(names)) == 3


def test_collectives_stay() -> None:
    text = kernel("for i in 0 .. n step 1 { s: f32 = treduce(1.0:f32) {sum, 8, 1} }", blocks="1")
    assert ops(folded(text, 1)) == ["treduce"]


def test_the_number_of_blocks_may_stay_open() -> None:
    """If the code is the same whatever it is, and nothing but the launch reads it."""
    row = "a: i32 = mul(b, n) i: i32 = add(a, t) c: bool = lt(t, n) if c {{ {store} }}"
    func = parse(kernel(row.format(store=STORE).replace("{{", "{").replace("}}", "}"), sizes="n r", blocks="r"))
    out = specialised(func, [8, 5])
    verify(out)
    assert [s.name for s in out.sizes] == ["r"] and "grid b of r" in dump(out)
    x, y = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    run_loop(out, {"x": x, "y": y}, {"r": 5}, {})
    np.testing.assert_array_equal(x, y)
    tiles = kernel(
        f"a: i32 = mul(b, 8) i: i32 = add(a, t) c: bool = lt(i, n) if c {{ {STORE} }}", sizes="n r", blocks="r"
    )
    out = specialised(parse(tiles), [40, 5])  # that no block reaches beyond the end depends on how many there are
    assert not out.sizes and not any(isinstance(s, If) for s in walk(out.body))
    read = kernel(f"c: bool = lt(b, r) if c {{ i: i32 = add(t, 0) {STORE} }}", sizes="n r", blocks="r")
    assert not specialised(parse(read), [8, 5]).sizes


def test_kernels_for_cpus_are_not_specialised() -> None:
    with pytest.raises(CompilerError):
        with_sizes(parse("func k (size n) { parallel t of n2 { } }"), [1])
