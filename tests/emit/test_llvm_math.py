"""The vector functions of `emit/llvm_math.py`: accuracy in units in the last place, special values, every width."""

from __future__ import annotations

import ctypes
import math
from functools import cache

import numpy as np
import pytest

from fusewright.core.dtypes import f32, f64
from fusewright.emit import llvm_fits as fits
from fusewright.emit.llvm_math import AVAILABLE, declarations, define

llvm = pytest.importorskip("llvmlite.binding")
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

FEATURES = llvm.get_host_cpu_features()
FMA = bool(FEATURES.get("fma")) or "aarch64" in llvm.get_process_triple()
AVX512 = bool(FEATURES.get("avx512f")) and bool(FEATURES.get("avx512vl"))
NAMES = sorted(n for n, d in AVAILABLE if d is f32)

REFERENCE = {n: getattr(np, n) for n in NAMES if n != "erf"}
REFERENCE["erf"] = np.vectorize(math.erf, otypes=[np.float64])

# the largest error allowed, with and without fused multiply-add; the measured ones are in the module's docstring
BOUND = {n: (1.0, 1.6) for n in NAMES} | {"log2": (1.25, 2.2), "log10": (1.25, 2.2)}
# where the error peaks
DENSE = {
    "exp": (-104.0, 89.0),
    "exp2": (-151.0, 129.0),
    "expm1": (-18.0, 89.0),
    "log": (0.3, 3.0),
    "log2": (0.3, 3.0),
    "log10": (0.3, 3.0),
    "log1p": (-0.99, 3.0),
    "tanh": (-10.0, 10.0),
    "erf": (-4.0, 4.0),
    "sin": (-50.0, 50.0),
    "cos": (-50.0, 50.0),
}
WIDTHS = [(1, FMA, False), (4, FMA, False), (8, FMA, False), (8, False, False), (16, FMA, False)]
if AVX512:
    WIDTHS += [(16, True, True), (8, True, True)]


@cache
def compiled(name: str, dtype: str, lanes: int, fma: bool, avx512: bool) -> tuple[object, int]:
    """(what must stay alive, the address of a loop that applies the function to n elements)."""
    d = f32 if dtype == "f32" else f64
    elem = "float" if d is f32 else "double"
    v = elem if lanes == 1 else f"<{lanes} x {elem}>"
    text = "\n".join(declarations(name, d, fma)) + "\n" + define(name, d, lanes, fma, avx512)
    text += f"""
define void @apply(ptr %x, ptr %y, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr {elem}, ptr %x, i64 %i
  %q = getelementptr {elem}, ptr %y, i64 %i
  %v = load {v}, ptr %p, align {d.itemsize}
  %r = call {v} @fw_{name}_{d}x{lanes}({v} %v)
  store {v} %r, ptr %q, align {d.itemsize}
  %next = add i64 %i, {lanes}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
    module = llvm.parse_assembly(text)
    module.verify()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=FEATURES.flatten(), opt=2)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, engine.get_function_address("apply")


def apply(name: str, x: np.ndarray, lanes: int, fma: bool, avx512: bool) -> np.ndarray:
    _, address = compiled(name, "f32" if x.dtype == np.float32 else "f64", lanes, fma, avx512)
    padded = np.zeros((len(x) + 15) // 16 * 16, x.dtype)
    padded[: len(x)] = x
    out = np.empty_like(padded)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address)
    call(padded.ctypes.data, out.ctypes.data, len(padded))
    return out[: len(x)]


@cache
def cases(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Arguments and exact results: every 60,013th float32, and 60,000 points where the error peaks."""
    everywhere = np.arange(0, 2**32, 60013, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([everywhere, np.linspace(*DENSE[name], 60000).astype(np.float32)])
    with np.errstate(all="ignore"):
        return x, REFERENCE[name](x.astype(np.float64))


def error(y: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units in the last place; NaN and infinities must be where the exact result has them."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
    finite = np.isfinite(rounded) & np.isfinite(y)
    same = finite | (rounded == y) | (np.isnan(rounded) & np.isnan(y))
    assert same.all(), (exact[~same][:4], y[~same][:4])
    unit = np.ldexp(1.0, np.maximum(np.frexp(exact[finite])[1], -125) - 24)
    return float((np.abs(y[finite].astype(np.float64) - exact[finite]) / unit).max())


@pytest.mark.parametrize("lanes, fma, avx512", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_accuracy(name: str, lanes: int, fma: bool, avx512: bool) -> None:
    x, exact = cases(name)
    assert error(apply(name, x, lanes, fma, avx512), exact) <= BOUND[name][0 if fma else 1]


@pytest.mark.parametrize("lanes, fma, avx512", WIDTHS)
@pytest.mark.parametrize("name, pieces", [("erf", fits.ERF_PIECES), ("tanh", fits.TANH_PIECES)])
def test_where_pieces_end(name: str, pieces: fits.Pieces, lanes: int, fma: bool, avx512: bool) -> None:
    start, top, rows = pieces
    ends = [start]
    while len(ends) < len(rows):
        ends.append(ends[-1] * (1.5 if math.frexp(ends[-1])[0] == 0.5 else 4 / 3))
    assert ends[-2] < top**2 < ends[-1]
    near = np.array([top, *np.sqrt(ends[:-1])], np.float32).view(np.int32)
    x = (near[:, None] + np.arange(-20, 21, dtype=np.int32)).ravel().view(np.float32)
    x = np.concatenate([x, -x])
    assert error(apply(name, x, lanes, fma, avx512), REFERENCE[name](x.astype(np.float64))) <= BOUND[name][not fma]


INF, NAN, TINY = math.inf, math.nan, 2.0**-149
SPECIAL = {
    "exp": [
        (0.0, 1.0),
        (-0.0, 1.0),
        (INF, INF),
        (-INF, 0.0),
        (88.72284, None),
        (88.72285, INF),
        (-103.98, 0.0),
        (-103.97, TINY),
    ],
    "exp2": [(0.0, 1.0), (INF, INF), (-INF, 0.0), (127.0, 2.0**127), (128.0, INF), (-149.0, TINY), (-150.5, 0.0)],
    "expm1": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (TINY, TINY),
        (-TINY, -TINY),
        (INF, INF),
        (-INF, -1.0),
        (89.0, INF),
        (-20.0, -1.0),
    ],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (-1.0, NAN), (-INF, NAN), (INF, INF), (TINY, None), (-TINY, NAN)],
    "log2": [(1.0, 0.0), (0.0, -INF), (-1.0, NAN), (INF, INF), (8.0, 3.0), (TINY, -149.0), (2.0**127, 127.0)],
    "log10": [(1.0, 0.0), (0.0, -INF), (-1.0, NAN), (INF, INF), (1000.0, 3.0), (TINY, None)],
    "log1p": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (TINY, TINY),
        (-1.0, -INF),
        (-2.0, NAN),
        (INF, INF),
        (3.4e38, None),
        (-INF, NAN),
    ],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (INF, 1.0), (-INF, -1.0), (100.0, 1.0), (-1.0, None), (1.0, None)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (INF, 1.0), (-INF, -1.0), (100.0, 1.0), (-1.0, None), (1.0, None)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (INF, NAN), (-INF, NAN), (1e5, None), (1e9, None), (-3e38, None)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (INF, NAN), (-INF, NAN), (1e5, None), (1e9, None), (-3e38, None)],
}


@pytest.mark.parametrize("lanes, fma, avx512", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_special_values(name: str, lanes: int, fma: bool, avx512: bool) -> None:
    """Exact where a value is given, within the bound where it is None; alone in a vector and among others."""
    rows = [*SPECIAL[name], (NAN, NAN)]
    x = np.array([a for a, _ in rows], np.float32)
    with np.errstate(all="ignore"):
        exact = REFERENCE[name](x.astype(np.float64))
    for given in (x, np.repeat(x, 16)):
        y = apply(name, given, lanes, fma, avx512)[:: len(given) // len(x)]
        assert error(y, exact) <= BOUND[name][0 if fma else 1]
        for got, (a, want) in zip(y, rows, strict=True):
            if want is not None:
                wanted = np.float32(want)
                assert np.isnan(wanted) == np.isnan(got), a
                assert np.isnan(wanted) or (got == wanted and np.signbit(got) == np.signbit(wanted)), (a, got)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_f64_calls_libm(name: str, lanes: int) -> None:
    x = np.linspace(0.1, 3.0, 64)
    np.testing.assert_allclose(apply(name, x, lanes, FMA, False), REFERENCE[name](x), rtol=1e-14)


def test_no_such_function() -> None:
    with pytest.raises(KeyError):
        define("gamma", f32, 4, True)


def test_what_is_called_is_declared() -> None:
    assert declarations("exp", f32, True) == ()
    assert declarations("sin", f32, True) == ("declare float @sinf(float) nounwind willreturn memory(none)",)
    assert declarations("exp", f64, False) == ("declare double @exp(double) nounwind willreturn memory(none)",)


@pytest.mark.skipif("x86_64" not in llvm.get_process_triple(), reason="reads the flags of x86's floating-point unit")
@pytest.mark.parametrize("lanes, fma, avx512", WIDTHS)
@pytest.mark.parametrize("name, far", [("exp", -177.0), ("exp", -1e4), ("exp2", -254.0), ("exp", -INF), ("exp2", -INF)])
def test_powers_far_down_do_not_underflow(name: str, far: float, lanes: int, fma: bool, avx512: bool) -> None:
    """A product that underflows takes a processor many times as long, and masks are made of exp(-inf)."""
    libm = ctypes.CDLL(None)
    x = np.array([far, 1.0] * 8, np.float32)
    apply(name, x, lanes, fma, avx512)
    for given, underflow in ((x, 0), (np.array([-100.3] * 16, np.float32) * (1 if name == "exp" else 1.3), 0x10)):
        libm.feclearexcept(0x3F)
        y = apply(name, given, lanes, fma, avx512)
        assert libm.fetestexcept(0x10) == underflow
        assert underflow or (y[::2] == 0).all()
