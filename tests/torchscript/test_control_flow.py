"""Branches, loops, exceptions and effects of scripted programs: what a trace takes in, and what stays in Python."""

from __future__ import annotations

import warnings
from typing import Dict, List, Optional  # noqa: UP035  (TorchScript reads these)

import pytest
import torch
import torch.nn.functional as F

import fusewright
from tests.support import random_tensor
from tests.torchscript.support import agree, outcome, regions, script_of

Tensor = torch.Tensor


def r(*shape, dtype=torch.float32, seed=0):
    return random_tensor(shape, dtype, seed)


# ---- branches -----------------------------------------------------------------------------------------


def by_flag(x, flag: bool, mode: str):
    if flag:
        x = x * 2 + 1
    elif mode == "relu":
        x = x.relu() * 3
    else:
        x = x - 1
    return x * x


def by_size(x, y):
    if x.size(0) > 4:
        z = (x + y) * 2
    else:
        z = (x - y) / 2
    return z * z + 1


def by_value(x):
    total = x.sum()
    if bool(total > 0):
        x = (x * 2 + 1) * x
    else:
        x = -x * 3
    return (x + 1) * 2, int(total > 0)


def by_rank(x, y: Optional[Tensor]):  # noqa: UP045
    if x.dim() == 2 and x.size(-1) != 1:
        x = x * 2 + 1
    if y is not None and x.dtype == torch.float32:
        x = x * y - 1
    return x + 1 if x.dim() > 1 else x


def early(x, k: int):
    if k == 0:
        return x
    x = x * 2 + 1
    if k == 1:
        return x.relu() * 2
    for i in range(k):
        if i == 3:
            return x - i
        x = x * 0.5 + i
    return x + k


def test_branches_on_what_a_trace_is_for_are_traced():
    makers = [lambda f=f, m=m: (r(3, 4), f, m) for f, m in ((True, "relu"), (False, "relu"), (False, "x"))]
    assert script_of(agree(torch.jit.script(by_flag), *makers, bits=True)).whole
    makers = [
        lambda x=x, y=y: (x(), y())
        for x in (lambda: r(3, 4), lambda: r(4), lambda: r(3, 1))
        for y in (lambda: None, lambda: r(1))
    ]
    agree(torch.jit.script(by_rank), *makers, bits=True)


def test_branches_on_sizes_and_values_stay_in_python():
    fused = agree(torch.jit.script(by_size), lambda: (r(5, 2), r(5, 2)), lambda: (r(3, 2), r(3, 2)), bits=True)
    assert regions(fused) == 3 and "depends on sizes" in script_of(fused).reasons[0]
    fused = agree(torch.jit.script(by_value), lambda: (r(3, 4).abs(),), lambda: (-r(3, 4).abs(),), bits=True)
    assert any("reads a value" in s for s in script_of(fused).reasons)


def test_a_branch_on_sizes_is_traced_if_sizes_are_specialised():
    scripted = torch.jit.script(by_size)
    fused = fusewright.fuse(scripted, specialize=True)
    assert script_of(fused).whole
    for n in (5, 3, 5):
        x = r(n, 2)
        assert torch.equal(fused(x, x + 1), scripted(x, x + 1))
    by_name = fusewright.fuse(scripted, specialize="x")
    assert script_of(by_name).whole and torch.equal(by_name(x, x), scripted(x, x))


def test_early_returns():
    fused = agree(torch.jit.script(early), *(lambda k=k: (r(2, 3), k) for k in (0, 1, 2, 7)), bits=True)
    assert regions(fused) >= 1


# ---- loops --------------------------------------------------------------------------------------------


def unrolled(x):
    for k in range(3):
        x = x * 0.5 + k
    for s in x.size():
        x = x + s * 2
    return x


def counted(x, n: int):
    for i in range(1, n, 2):
        x = x * 0.5 + i
        x = x * x - 1
    return x, n * 2


def until(x, limit: float):
    n = 0
    while bool(x.sum() > limit) and n < 10:
        x = x * 0.5 - 0.01
        n += 1
    return x + 1, n


def with_break(xs: List[Tensor], stop: int):  # noqa: UP006
    out = torch.zeros_like(xs[0])
    for k, x in enumerate(xs):
        if k == stop:
            break
        if k == 1:
            continue
        out = out * 2 + x * k
    return out


def carried_numbers(x):
    a, b = 1, 0.5
    for i in range(x.size(0)):
        x = x * b + a
        a, b = a + i, b * 0.5
    return x, a, b


def test_short_loops_are_unrolled_in_a_region():
    fused = agree(torch.jit.script(unrolled), lambda: (r(3, 4),), lambda: (r(5),), bits=True)
    assert script_of(fused).whole


def test_long_loops_have_regions_of_their_own():
    fused = agree(torch.jit.script(counted), *(lambda n=n: (r(2, 3), n) for n in (0, 1, 2, 9)), bits=True)
    assert regions(fused) == 1


def test_loops_on_values():
    agree(torch.jit.script(until), lambda: (r(5, 2).abs(), 0.5), lambda: (-r(5, 2).abs(), 0.5), bits=True)
    makers = [lambda n=n, s=s: ([r(3, seed=k) for k in range(n)], s) for n, s in ((1, 5), (4, 2), (4, 9), (3, 0))]
    agree(torch.jit.script(with_break), *makers, bits=True)
    agree(torch.jit.script(carried_numbers), lambda: (r(4, 2),), lambda: (r(0, 2),), bits=True)


def test_an_unrolled_loop_is_bounded():
    def many(x):
        for _ in range(1000):
            x = x * 0.5 + 1
        return x

    fused = agree(torch.jit.script(many), lambda: (r(3),), bits=True, grad=False)
    assert not script_of(fused).whole and regions(fused) == 1


# ---- exceptions and warnings --------------------------------------------------------------------------


def raising(x, k: int, mode: str):
    if k == 1:
        raise ValueError("no " + mode)
    if x.size(0) == 3:
        raise RuntimeError(f"three rows, {k}")
    assert x.dim() == 2, "not a matrix"
    if mode == "out of range":
        return x[100] * 2
    if mode == "shapes":
        return x + torch.ones(77)
    if mode == "division":
        return x * (k // (k - k))
    return x * 2 + 1


def warning(x, y):
    if x.size(0) != y.size(0):
        warnings.warn("sizes differ")  # noqa: B028
    return x[0] * y[0] + 1


CALLS = [(1, "x", (2, 2)), (2, "x", (3, 2)), (2, "x", (4,)), (2, "out of range", (2, 2)), (2, "shapes", (2, 2))]


@pytest.mark.parametrize("k, mode, shape", [*CALLS, (2, "division", (2, 2)), (2, "x", (2, 2))])
def test_exceptions_are_those_of_torchscript(k, mode, shape):
    scripted = torch.jit.script(raising)
    fused = fusewright.fuse(scripted)
    for _ in range(2):
        (got, _, _), (want, _, _) = (outcome(f, (random_tensor(shape), k, mode)) for f in (fused, scripted))
        if isinstance(want, tuple):
            assert got[:2] == want[:2] and type(got[1]) is type(want[1])
            assert got[2] == want[2] or want[1] is RuntimeError
        else:
            assert torch.equal(got, want)


def test_messages_name_the_line():
    fused = fusewright.fuse(torch.jit.script(raising))
    with pytest.raises(torch.jit.Error, match=r"(?s)TorchScript interpreter.*raise ValueError.*ValueError: no x"):
        fused(r(2, 2), 1, "x")


def test_nothing_is_lost_by_an_exception():
    scripted = torch.jit.script(raising)
    fused = fusewright.fuse(scripted)
    for mode in ("x", "shapes", "x", "out of range", "x"):
        got, want = (outcome(f, (r(2, 2), 2, mode))[0] for f in (fused, scripted))
        assert torch.equal(got, want) if mode == "x" else got[1] is want[1]


def test_warnings_are_given_at_every_call():
    fused = fusewright.fuse(torch.jit.script(warning))
    for _ in range(3):
        fused(r(3), r(3))
        with pytest.warns(UserWarning, match="sizes differ"):
            fused(r(3), r(4))


# ---- values in between --------------------------------------------------------------------------------


def items(x):
    s = float(x.sum())
    y = x * s + 1
    if s > 0:
        y = y * 2
    return y * y, int(x[0, 0] * 10), x.max().item()


def masked(x, i, m):
    return (x[i] * 2 + 1) * x[i], (x[m] + 1) * 2, (x[:, 1:] * x[:, :-1] + 1) * 2


def counts(x):
    hits = (x > 0).nonzero()
    return (x * 2 + 1) * x, hits.size(0), hits * 2 + 1


def test_values_read_in_between():
    agree(torch.jit.script(items), lambda: (r(2, 3),), lambda: (-r(2, 3).abs(),), bits=True)


def test_what_cannot_be_traced_is_found_out_and_left_out():
    """An index may be a mask, which no type says: the trace fails once, and the operation leaves the region."""
    scripted = torch.jit.script(masked)
    fused = fusewright.fuse(scripted)
    x, i = r(5, 4), torch.tensor([1, 3])
    m = torch.tensor([True, False, True, False, True])
    before = fusewright.counters()
    for args in ((x, i, i), (x, i, m), (x, i, m), (x, i, ~m)):
        for a, b in zip(fused(*args), scripted(*args), strict=True):
            assert torch.equal(a, b)
    after = fusewright.counters()
    assert after["fallbacks"] == before["fallbacks"]
    assert any("index.Tensor cannot be traced" in s for s in script_of(fused).reasons)
    assert regions(fused) >= 1


def test_results_whose_size_depends_on_values():
    fused = agree(torch.jit.script(counts), lambda: (r(3, 4),), bits=True, grad=False)
    assert regions(fused) == 1


def test_a_float_that_keeps_changing_is_left_out_of_traces():
    def scaled(x, lr: float, p: float):
        return ((x * 2 + 1) * x * lr + 1) * p

    scripted = torch.jit.script(scaled)
    fused, x = fusewright.fuse(scripted), r(3, 4)
    for k in range(24):
        assert torch.equal(fused(x, 1 / (k + 1), 0.5), scripted(x, 1 / (k + 1), 0.5))
    traces = fusewright.counters()["fuse_traces"]
    for k in range(24, 48):
        assert torch.equal(fused(x, 1 / (k + 1), 0.5), scripted(x, 1 / (k + 1), 0.5))
    assert fusewright.counters()["fuse_traces"] == traces
    assert "lr changes from call to call" in script_of(fused).reasons


# ---- effects ------------------------------------------------------------------------------------------


def in_place(x, y):
    z = x * 2
    z += y
    z.mul_(3).relu_()
    x.add_(1)
    y[0] = 7.0
    return z, x, y.t_()


def lists_that_change(xs: List[Tensor], n: int):  # noqa: UP006
    out = [torch.zeros(1)]
    for x in xs:
        out.append(x * n + 1)
    out[0] = out[-1] * 2
    ys = [o.sum() * 2 for o in out]
    xs.append(out[0])
    last = ys.pop()
    ys.reverse()
    return torch.cat(out), ys, len(xs), last


def local_list(x):
    out = [x + 1]
    out.append(x * 2)
    out.insert(0, x - 1)
    return torch.stack(out) * 2


def dictionaries(d: Dict[str, Tensor], x):  # noqa: UP006
    y = d["a"] + x
    out = {"y": y * 2, "z": y.sigmoid() * d["b"]}
    if "c" in d:
        out["c"] = d["c"] * 2
    d["d"] = y
    for k, v in d.items():
        out[k + "!"] = v + 1
    return out, len(d)


def no_grad(x, w):
    y = x * 2 + 1
    with torch.no_grad():
        s = (y * w).sum() * 2
    return y * w * s, s


def test_tensors_that_change():
    agree(torch.jit.script(in_place), lambda: (r(5, 2), r(5, 2, seed=1)), bits=True, grad=False)


def test_lists_and_dictionaries_that_change():
    """They are changed in the program's own copies: the caller's stay, as with TorchScript."""
    agree(torch.jit.script(lists_that_change), lambda: ([r(2, 3), r(4, 3)], 3), lambda: ([r(1)], 1), bits=False)
    assert script_of(agree(torch.jit.script(local_list), lambda: (r(3),), bits=True)).whole
    make = lambda *names: lambda: ({n: r(3, seed=k) for k, n in enumerate(names)}, r(3))
    agree(torch.jit.script(dictionaries), make("a", "b"), make("a", "b", "c"))
    xs = [r(2, 3)]
    fusewright.fuse(torch.jit.script(lists_that_change))(xs, 2)
    assert len(xs) == 1


def test_no_grad_blocks():
    """Compared with eager: TorchScript itself moves operations out of such a block."""
    fused = fusewright.fuse(torch.jit.script(no_grad))
    assert script_of(fused).whole
    for _ in range(2):
        x, w = r(2, 3).requires_grad_(), r(3).requires_grad_()
        (a, s), (b, t) = fused(x, w), no_grad(x, w)
        torch.testing.assert_close((a, s), (b, t))
        assert a.requires_grad and not s.requires_grad
        for g, h in zip(torch.autograd.grad(a.sum(), (x, w)), torch.autograd.grad(b.sum(), (x, w)), strict=True):
            torch.testing.assert_close(g, h)


def test_integers_wrap_around_as_in_torchscript():
    def generator(x, seed: int):
        for _ in range(5):
            seed = seed * 6364136223846793005 + 1442695040888963407
        return x + seed % 7, seed

    agree(torch.jit.script(generator), lambda: (torch.arange(3), 12345), bits=True)


def truncated(x, a: float):
    n = int(a)
    return x * 2 + 1, n, int(a * 0.5) // 3


@pytest.mark.parametrize("a", [2.9, -2.9, 1e30, -1e30, float("inf"), float("-inf"), float("nan"), 2.0**63, -(2.0**63)])
def test_floats_that_no_integer_holds(a):
    agree(torch.jit.script(truncated), lambda: (random_tensor((3,)), a))


def test_numbers_are_doubles_and_division_is_c():
    def numbers(x, a: float, k: int):
        inf = a / 0.0
        return (
            x * (k / 3) + a**2,
            inf,
            -a / 0.0,
            float(k),
            int(a),
            k // 2,
            -k // 2,
            k % 3,
            -k % 3,
            round(a),
            abs(-a),
            max(k, 3),
            min(a, 0.5),
        )

    agree(torch.jit.script(numbers), lambda: (r(3), 2.5, 7), lambda: (r(3), -0.5, -8), bits=True)


def test_printing_and_formatting_are_torchscripts(capfd):
    def prints(x, a: float):
        y = x * 2 + 1
        print("a is", a, y.size(0))
        return y * a, "{} {}".format(a, y.size()), str(x.size(0))  # noqa: UP032

    scripted = torch.jit.script(prints)
    fused = fusewright.fuse(scripted)
    x = r(3)
    want = scripted(x, 1e-5)
    printed = capfd.readouterr().out
    got = fused(x, 1e-5)
    assert capfd.readouterr().out == printed and got[1:] == want[1:] and torch.equal(got[0], want[0])


def test_calls_back_into_python():
    seen = []

    @torch.jit.ignore
    def note(x):
        seen.append(tuple(x.shape))
        return x + 1

    def calls(x):
        y = note(x * 2 + 1)
        return F.gelu(y) * y

    agree(torch.jit.script(calls), lambda: (r(3),))
    assert len(seen) == 6


def test_forks_run_in_line():
    def forked(x):
        a = torch.jit.fork(by_size, x, x + 1)
        return torch.jit.wait(a) * 2 + x

    agree(torch.jit.script(forked), lambda: (r(5, 2),), lambda: (r(2, 2),), bits=True)
