"""The emulation of CUDA reports what would hang or break on a GPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fusewright.emit.cuda_types import CudaTarget
from fusewright.loop.text import parse
from tests.emulate.cuda import COMPILER, MISSING, EmulationError, build, run_emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)


ALIGNED = """func k cuda i32 (buf x: f32, buf y: f32 out) { grid b of 1, t of 2 {
  at: i32 = mul(t, 4) v: f32x4 = load(x, at) {aligned} store y[at] = v } }"""


def test_the_emulation_reports_misaligned_accesses() -> None:
    with pytest.raises(EmulationError, match=r"access of 16 bytes .* misaligned, in k_0"):
        run_emulated(parse(ALIGNED), {"x": np.zeros(8, np.float32), "y": np.zeros(8, np.float32)}, offsets={"x": 1})


def test_the_emulation_reports_writes_outside_a_buffer() -> None:
    text = "func k cuda i32 (buf y: f32 out) { grid b of 1, t of 4 { store y[t] = 1.0:f32 } }"
    for n, inside in ((4, True), (3, False)):
        if inside:
            run_emulated(parse(text), {"y": np.zeros(n, np.float32)})
        else:
            with pytest.raises(EmulationError, match="outside its buffer"):
                run_emulated(parse(text), {"y": np.zeros(n, np.float32)})


@pytest.mark.parametrize(
    "body, message",
    [
        ('c: bool = lt(t, 3) if c { barrier "x" }', "3 of 4 threads wait at a barrier, 1 have ended"),
        ('c: bool = lt(t, 3) if c { barrier "x" } else { barrier "y" }', "threads 0 and 3 .* different barriers"),
        ("c: bool = lt(t, 3) if c { s: f32 = treduce(1.0:f32) {sum, 4, 1} }", "3 of 4 threads wait at a barrier"),
    ],
)
def test_the_emulation_reports_threads_that_part(body: str, message: str) -> None:
    with pytest.raises(EmulationError, match=message):
        run_emulated(parse(f"func k cuda i32 () {{ grid b of 1, t of 4 {{ {body} }} }}"), {})


def test_the_emulation_reports_a_shuffle_of_part_of_a_warp() -> None:
    text = "c: bool = lt(t, 7) if c { s: f32 = treduce(1.0:f32) {sum, 8, 1} }"
    with pytest.raises(EmulationError, match="0 of 32 threads wait at a barrier, 25 have ended, 7 wait for their warp"):
        run_emulated(parse(f"func k cuda i32 () {{ grid b of 1, t of 32 {{ {text} }} }}"), {})


@pytest.mark.parametrize(("source", "backwards"), [("sub(t, 32)", True), ("add(t, 32)", False)])
def test_a_barrier_that_lacks_shows_in_every_second_pair_of_blocks(source: str, backwards: bool) -> None:
    """A warp reads what the one before it, or after it, has written."""
    text = f"""func k cuda i32 (buf y: f32 out) {{ alloc tile: f32[128] block grid b of 8, t of 128 {{
      store tile[t] = 1.0:f32 BARRIER
      i: i32 = mul(b, 128) o: i32 = add(i, t) p: i32 = {source} q: i32 = max(p, 0) r: i32 = min(q, 127)
      v: f32 = load(tile, r) store y[o] = v }} }}"""
    for barrier in ('barrier "tile"', ""):
        y = np.zeros(1024, np.float32)
        run_emulated(parse(text.replace("BARRIER", barrier)), {"y": y})
        wrong = np.isnan(y.reshape(4, 2, 128)).any((1, 2))
        np.testing.assert_array_equal(wrong, [barrier == "" and bool(pair % 2) == backwards for pair in range(4)])


def test_the_first_kernels_for_an_architecture_may_be_compiled_at_once() -> None:
    """The second thread once found the folder that the first one was making, and gave up."""
    target = CudaTarget(8, 7)  # of no other test
    sources = [f'extern "C" int emu_number() {{ return {k}; }}' for k in range(3)]
    with ThreadPoolExecutor(3) as pool:
        libraries = list(pool.map(lambda s: build(s, target), sources))
    assert [x.emu_number() for x in libraries] == [0, 1, 2]
