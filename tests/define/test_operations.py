"""Every operation of a definition: against the NumPy interpreter in float64, and against torch where it has a twin."""

from __future__ import annotations

import math

import pytest
import torch

import fusewright
from fusewright import UserError, define
from fusewright.core.dtypes import BY_NAME
from fusewright.graph.units import spelled
from fusewright.prims.table import ARG_MONOIDS, MONOIDS, PRIMS, SCANNED
from fusewright.trace.equations import TORCH
from fusewright.trace.types import TO_TORCH
from tests.support import counted, counters, random_tensor, same_bits

TYPES = {"f": ("f32", "f64", "bf16", "f16"), "i": ("i8", "i16", "i32", "i64"), "u": ("u8",), "b": ("bool",)}
# Operands that a function is made for; the others are about 1.
DOMAINS = {
    **dict.fromkeys(("sqrt", "rsqrt", "log", "log2", "log10", "lgamma", "pow", "fast_sqrt", "fast_log"), (0.1, 3.0)),
    **dict.fromkeys(("log1p", "fast_log1p", "atanh", "asin", "acos"), (-0.9, 0.9)),
    "acosh": (1.1, 4.0),
}


@pytest.fixture(autouse=True)
def _no_fallbacks():
    torch.manual_seed(0)
    with fusewright.options(fallback=False):
        yield


def operand(prim: str, name: str, k: int, shape=(5, 37)) -> torch.Tensor:
    dtype = TO_TORCH[BY_NAME[name]]
    t = random_tensor(shape, dtype, seed=k)
    low, high = DOMAINS.get(prim, (None, None))
    if low is not None:
        t = torch.rand(shape, generator=torch.Generator().manual_seed(k), dtype=torch.float64).to(dtype)
        t = t * (high - low) + low
    if prim in ("shl", "shr") and k:
        t = t.remainder(8)
    return t


def all_primitives() -> list[tuple[str, str]]:
    return [(p.name, t) for p in PRIMS.values() for kind in p.kinds for t in TYPES[kind]]


@pytest.mark.every(6)
@pytest.mark.parametrize(("prim", "dtype"), all_primitives())
def test_a_primitive(prim, dtype):
    p = PRIMS[prim]
    d = define(prim)
    n, m = d.sizes("n m")
    kinds = ["bool", dtype, dtype] if prim == "where" else [dtype] * p.arity
    operands = [d.tensor(f"x{k}", (n, m), t) for k, t in enumerate(kinds)]
    out = getattr(d, spelled(prim))(*operands)
    assert out.dtype == ("bool" if p.result == "bool" else dtype) and out.shape == (n, m)
    d.output(out)
    inputs = [operand(prim, t, k) for k, t in enumerate(kinds)]
    before = counters()
    # approximations on a GPU
    rtol = {"bf16": 2**-7, "f16": 2**-10}.get(dtype, 2**-16)
    close = {"rtol": rtol, "atol": 1e-8} if prim.startswith("fast_") else {}
    (got,) = d.validate(inputs, **close)
    assert counted(before)["groups_formed"] == 1  # a kernel, and no call of torch
    assert counted(before)["opaque_calls"] == 0
    wide = [t.to(torch.float32) if t.dtype in (torch.bfloat16, torch.float16) else t for t in inputs]
    if p.kinds == "f" or (dtype not in ("i8", "i16", "i32", "i64", "u8") or prim not in ("floordiv", "truncdiv")):
        want = TORCH[prim](*wide) if "div" not in prim and prim not in ("remainder", "fmod") else None
        if want is not None and not got.dtype.is_floating_point:
            assert torch.equal(got, want)


def test_the_table_of_torch_functions_is_complete():
    assert set(TORCH) == set(PRIMS)


@pytest.mark.parametrize("name", sorted(PRIMS))
def test_primitives_have_docstrings_and_check_their_operands(name):
    p = PRIMS[name]
    d = define()
    method = getattr(d, spelled(name))
    assert f"`{name}`" in method.__doc__
    with pytest.raises(UserError, match=f"^{name} takes {p.arity} operands?, got {p.arity + 1}$"):
        method(*[1] * (p.arity + 1))
    bad = next((t for k, ts in TYPES.items() for t in ts if k not in p.kinds), None)
    if bad is not None:
        x = d.tensor("x", (3,), bad)
        args = [d.tensor("c", (3,), "bool"), x, x] if name == "where" else [x] * p.arity
        with pytest.raises(UserError, match=f"{name} does not take {bad}"):
            method(*args)


@pytest.mark.parametrize("op", ["floordiv", "truncdiv", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "u8"])
def test_integers_are_divided_by_anything(op, dtype):
    """By 0: 0; the least number by -1 wraps: no trap."""
    d = define(op)
    x, y = d.tensor("x", ("n",), dtype), d.tensor("y", ("n",), dtype)
    d.output(getattr(d, op)(x, y))
    info = torch.iinfo(TO_TORCH[BY_NAME[dtype]])
    xs = torch.tensor([info.min, info.min, info.max, 7, -7 if info.min else 7, 0] * 9, dtype=TO_TORCH[BY_NAME[dtype]])
    ys = torch.tensor([0, -1 if info.min else 1, 3, 0, 2, 5] * 9, dtype=TO_TORCH[BY_NAME[dtype]])
    (got,) = d.validate([xs, ys])
    assert got[0] == 0 and got[3] == 0
    if info.min:
        assert got[1] == (info.min if op in ("floordiv", "truncdiv") else 0)
    sane = (ys != 0) & (ys != -1)
    mode = {"floordiv": "floor", "truncdiv": "trunc"}.get(op)
    fn = {"remainder": torch.remainder, "fmod": torch.fmod}.get(op)
    want = torch.div(xs[sane], ys[sane], rounding_mode=mode) if mode else fn(xs[sane], ys[sane])
    assert torch.equal(got[sane], want)


@pytest.mark.every(6)
@pytest.mark.parametrize("monoid", sorted(set(MONOIDS) - set(SCANNED)))
@pytest.mark.parametrize("axes", [0, 1, (0, 2), None, -1])
def test_reductions(monoid, axes):
    if monoid in ARG_MONOIDS and not isinstance(axes, int):
        axes = 2
    for dtype in [t for k in MONOIDS[monoid].kinds for t in TYPES[k]]:
        for keepdim in (False, True):
            d = define(monoid)
            x = d.tensor("x", "a, b, c", dtype)
            d.output(getattr(x, monoid)(axes, keepdim))
            t = random_tensor((3, 17, 5), TO_TORCH[BY_NAME[dtype]], seed=3)
            if monoid == "prod":
                t = torch.where(t.abs() > 1, torch.ones_like(t), t) if dtype not in ("u8",) else t.clamp(max=1)
            (got,) = d.validate([t])
            if monoid in ("argmax", "argmin"):
                wide = t.int() if t.dtype is torch.bool else t
                assert torch.equal(got, getattr(torch, monoid)(wide, axes, keepdim))


@pytest.mark.parametrize("monoid", sorted(set(MONOIDS) - set(ARG_MONOIDS)))
@pytest.mark.parametrize("axis", [0, 1])
def test_scans(monoid, axis):
    for dtype in [t for k in MONOIDS[monoid].kinds for t in TYPES[k]]:
        d = define(monoid)
        x = d.tensor("x", "a, b", dtype)
        d.output(d.scan(monoid, x, axis))
        t = random_tensor((7, 21), TO_TORCH[BY_NAME[dtype]], seed=3)
        if monoid == "prod" and t.dtype.is_floating_point:
            t = t.clamp(-1, 1)
        d.validate([t])


def test_mean_is_of_floats():
    d = define()
    x = d.tensor("x", "n, m", "i32")
    assert x.mean().dtype == "f32" and d.mean(x.to("bf16"), 0).dtype == "bf16"
    d.output(x.mean(1))
    t = torch.arange(12, dtype=torch.int32).reshape(3, 4)
    assert torch.equal(d(t), t.float().mean(1))


# --- casts, constants, index maps ----------------------------------------------------------------------


@pytest.mark.every(6)
@pytest.mark.parametrize("source", [t for ts in TYPES.values() for t in ts])
@pytest.mark.parametrize("target", [t for ts in TYPES.values() for t in ts])
def test_casts(source, target):
    d = define()
    x = d.tensor("x", "n", source)
    d.output(x.to(target))
    t = random_tensor((33,), TO_TORCH[BY_NAME[source]])
    if target == "u8" and source not in ("bool", "u8"):
        t = t.abs()
    got = d(t)
    assert same_bits(got, t.to(TO_TORCH[BY_NAME[target]]))
    d.validate([t])


def test_a_rounding_cast_rounds_inside_a_kernel():
    d = define()
    x = d.tensor("x", "n", "f32")
    d.output(x.to("bf16", round=True).to("f32") - x)
    d.output(x.to("bf16").to("f32") - x)
    t = torch.randn(100)
    rounded, kept = d(t)
    assert same_bits(rounded, t.bfloat16().float() - t)
    assert not kept.any()


def test_leaves():
    d = define()
    n, m = d.sizes("n m")
    x = d.tensor("x", (n, m), "f32")
    d.output(x + d.full((m,), 2.5, "f32") + d.constant(3, "f32"))
    d.output(d.iota((n, m), 0) * m + d.iota((n, m), -1))
    d.output(d.full((2, n), True, "bool"))
    d.output(d.constant(-math.inf, "f64"))
    d.output(d.full((n,), x.sum(), "f32"))
    t = torch.ones(4, 6)
    a, b, c, e, f = d(t)
    assert torch.equal(a, torch.full((4, 6), 6.5))
    assert torch.equal(b, torch.arange(24).reshape(4, 6)) and b.dtype is torch.int64
    assert torch.equal(c, torch.ones(2, 4, dtype=torch.bool))
    assert e.shape == () and e.item() == -math.inf and e.dtype is torch.float64
    assert torch.equal(f, torch.full((4,), 24.0))
    d.validate([t])


INDEX_MAPS = {
    "permute": (lambda d, x: d.permute(x, (2, 0, 1)), lambda t: t.permute(2, 0, 1)),
    "expand": (lambda d, x: d.expand(x[:, :1], x.shape), lambda t: t[:, :1].expand(t.shape)),
    "slice": (lambda d, x: d.slice(x, 1, 1, -1, 2), lambda t: t[:, 1:-1:2]),
    "select": (lambda d, x: d.select(x, 0, -1), lambda t: t[-1]),
    "flip": (lambda d, x: d.flip(x, (0, -1)), lambda t: t.flip(0, -1)),
    "squeeze": (lambda d, x: d.squeeze(x[:1, :, None], (0, 2)), lambda t: t[0]),
    "unsqueeze": (lambda d, x: d.unsqueeze(x, -1), lambda t: t.unsqueeze(-1)),
    "reshape": (lambda d, x: x.reshape(-1, x.shape[2]), lambda t: t.reshape(-1, t.shape[2])),
    "flat": (lambda d, x: d.permute(x, (1, 0, 2)).reshape(-1), lambda t: t.permute(1, 0, 2).reshape(-1)),
    "getitem": (lambda d, x: x[1, ..., None, 2:], lambda t: t[1, ..., None, 2:]),
    "diagonal": (
        lambda d, x: d.affine(x, (x.shape[0], x.shape[2]), [(0, [(0, 1)]), (0, [(0, 1)]), (0, [(1, 1)])]),
        lambda t: t[torch.arange(len(t)), torch.arange(len(t))],
    ),
    "windows": (
        lambda d, x: d.affine(x[0, 0], (x.shape[2] - 2, 3), [(0, [(0, 1), (1, 1)])]),
        lambda t: t[0, 0].unfold(0, 3, 1),
    ),
    "pad": (
        lambda d, x: d.pad(x, (1, 0, 2), (0, 3, 1), 7),
        lambda t: torch.nn.functional.pad(t, (2, 1, 0, 3, 1, 0), value=7),
    ),
    "cat": (lambda d, x: d.cat([x, x + 1, x[:2]], 0), lambda t: torch.cat([t, t + 1, t[:2]])),
    "cat inside": (lambda d, x: d.cat([x, x[:, 1:]], 1), lambda t: torch.cat([t, t[:, 1:]], 1)),
}


@pytest.mark.every(6)
@pytest.mark.parametrize("name", INDEX_MAPS)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i64", "u8"])
def test_index_maps(name, dtype):
    mine, theirs = INDEX_MAPS[name]
    for after in (lambda y: y, lambda y: y * y):
        d = define(name)
        x = d.tensor("x", "a, b, c", dtype)
        d.output(after(mine(d, x)))
        for shape in ((5, 7, 6), (3, 4, 9)):
            t = random_tensor(shape, TO_TORCH[BY_NAME[dtype]])
            d.validate([t])
            with fusewright.options(precision="eager"):  # x + 1 is rounded before it is squared
                assert same_bits(d(t), after(theirs(t)))


def test_take_and_take_along():
    d = define()
    x, i = d.tensor("x", "n, m, k", "f32"), d.tensor("i", "a, b", "i64")
    j = d.tensor("j", "n, c, k", "i32")
    d.output(d.take(x, i, 1) + 1)
    d.output(d.take_along(x, j, 1) * 2)
    t, at = torch.randn(4, 9, 3), torch.randint(-9, 9, (2, 5))
    along = torch.randint(0, 9, (4, 6, 3)).int()
    a, b = d(t, at, along)
    assert torch.equal(a, t[:, at] + 1) and torch.equal(b, torch.gather(t, 1, along.long()) * 2)
    d.validate([t, at, along])
    with pytest.raises(IndexError):
        d(t, at + 9, along)


def test_a_gather_of_two_indices():
    d = define()
    x, i, j = d.tensor("x", "n, m", "f32"), d.tensor("i", "a", "i64"), d.tensor("j", "b", "i64")
    a, b = i.shape[0], j.shape[0]
    d.output(d.gather(x, (b, a), [("at", 0, (1,)), ("at", 1, (0,))], [i, j]))
    t, p, q = torch.randn(5, 6), torch.tensor([0, 4, -1]), torch.tensor([5, 2])
    assert torch.equal(d(t, p, q), t[p[None, :], q[:, None]])


@pytest.mark.every(6)
@pytest.mark.parametrize("how", ["set", "sum", "prod", "max", "min"])
@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16", "i64"])
@pytest.mark.parametrize("masked", [False, True])
def test_scatters(how, dtype, masked):
    d = define(how)
    base, src = d.tensor("base", "n, m", dtype), d.tensor("src", "k, m", dtype)
    at, on = d.tensor("at", "k", "i64"), d.tensor("on", "k, 1", "bool")
    d.output(d.scatter(base, src, [("at", 0, (0,)), ("dim", 1)], [at], how, on if masked else None))
    kind = TO_TORCH[BY_NAME[dtype]]
    inputs = [random_tensor((6, 5), kind, 1), random_tensor((40, 5), kind, 2).clamp(-1, 1)]
    inputs += [torch.randint(0, 6, (40,)), torch.rand(40, 1) < 0.6]
    if not masked:
        inputs[3] = torch.ones(40, 1, dtype=torch.bool)
    (got,) = d.validate(inputs)
    b, s, i, w = inputs
    want = b.double() if dtype != "i64" else b.clone()
    for k in range(40):
        if w[k]:
            old, new = want[i[k]], s[k].to(want.dtype)
            want[i[k]] = {"set": new, "sum": old + new, "prod": old * new}.get(
                how, torch.maximum(old, new) if how == "max" else torch.minimum(old, new)
            )
    torch.testing.assert_close(got, want.to(kind), rtol=2e-2 if dtype == "bf16" else 1e-5, atol=1e-5)


def test_random_numbers_are_torchs_seed_and_the_elements():
    d = define()
    x = d.tensor("x", "n, m", "f32")
    u, g = d.random("uniform", x.shape), d.random("normal", x.shape, "f64")
    d.output(u)
    d.output(g)
    d.output(d.random("bits", x.shape) + x.to("i64") * 0)
    t = torch.zeros(50, 60)
    torch.manual_seed(3)
    a, b, c = d(t)
    torch.manual_seed(3)
    again = d(t)
    assert all(torch.equal(p, q) for p, q in zip((a, b, c), again, strict=True))
    assert not torch.equal(d(t)[0], a)
    assert 0 <= a.min() and a.max() < 1 and abs(a.mean() - 0.5) < 0.02
    assert abs(b.mean()) < 0.06 and abs(b.std() - 1) < 0.06 and b.dtype is torch.float64
    assert c.dtype is torch.int64 and 0 <= c.min() and (1 << 31) < c.max() < (1 << 32)
    d.validate([t])


def test_random_numbers_of_given_seeds_are_a_function():
    d = define()
    x, s = d.tensor("x", "n", "f32"), d.tensor("s", (2,), "i64")
    d.output(d.random("uniform", x.shape, seeds=s, index=1) + x)
    t = torch.zeros(70)
    assert torch.equal(d(t, torch.tensor([1, 5])), d(t, torch.tensor([2, 5])))
    assert not torch.equal(d(t, torch.tensor([1, 5])), d(t, torch.tensor([1, 6])))
    d.validate([t, torch.tensor([1, 5])])


def test_indices_inside_what_is_padded_or_joined():
    d = define()
    x, i = d.tensor("x", "n, m", "f32"), d.tensor("i", "k, m", "i64")
    picked = d.take(x.reshape(-1), i)
    d.output(d.pad(picked, (2, 1), (1, 0), 1))
    d.output(d.cat([picked, x], 0) * 2)
    t, at = torch.randn(5, 18), torch.randint(0, 90, (7, 18))
    a, b = d(t, at)
    assert torch.equal(a, torch.nn.functional.pad(t.reshape(-1)[at], (1, 0, 2, 1), value=1.0))
    assert torch.equal(b, torch.cat([t.reshape(-1)[at], t]) * 2)
    with pytest.raises(IndexError):
        d(t, at + 90)


@pytest.mark.parametrize("monoid", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["f32", "i32", "u8"])
def test_extremes_of_no_elements(monoid, dtype):
    d = define()
    d.output(d.reduce(monoid, d.tensor("x", "n, m", dtype), 1))
    x = torch.empty(2, 0, dtype=TO_TORCH[BY_NAME[dtype]])
    if monoid.startswith("arg"):
        with pytest.raises(IndexError, match="Expected reduction dim 1 to have non-zero size"):
            d(x)
        return
    info = torch.finfo(x.dtype) if x.is_floating_point() else torch.iinfo(x.dtype)
    low, high = (-math.inf, math.inf) if x.is_floating_point() else (info.min, info.max)
    assert d(x).tolist() == [low if monoid == "max" else high] * 2
