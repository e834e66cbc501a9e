"""Executors for patterns of primitives: what matches, what does not, and what becomes of a program."""

from __future__ import annotations

import pytest
import torch

import fusewright
from fusewright import FusewrightWarning, UserError, define, executors
from fusewright.graph.patterns import Pattern
from fusewright.graph.text import parse
from tests.support import assert_agrees, compiled

aten = torch.ops.aten


@pytest.fixture(autouse=True)
def _clean():
    torch.manual_seed(0)
    assert executors.unregister() == 0
    with fusewright.options(fallback=False):
        yield
    executors.unregister()
    torch.compiler.reset()


class Recorder:
    def __init__(self, fn):
        self.fn, self.calls = fn, []

    def __call__(self, *args):
        self.calls.append(args)
        return self.fn(*args)


def rms(x, w, eps):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), w, eps)


def written(x, w, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w


def definition(**how):
    d = define("rms_norm")
    n, m = d.sizes("n m")
    x, w, eps = d.tensor("x", (n, m), "f32", **how), d.tensor("w", (m,), "f32"), d.scalar("eps", float)
    d.output(x * d.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w)
    return d


def reasons(fn, *args) -> list[str]:
    with torch.no_grad():
        return [o.reason for g in fusewright.explain(fn, *args).graphs for o in g.operations if "executor" in o.reason]


def test_a_definition_is_found_in_a_traced_program():
    mine = Recorder(rms)
    with executors.register("norms", definition(), mine):
        f = lambda x, w: (written(x.exp(), w).sin(), x * 2)
        run = compiled(f, dynamic=True)
        for n, m in ((4, 8), (3, 5)):
            x, w = torch.randn(n, m), torch.randn(m)
            assert_agrees(run(x, w), f(x, w))
        assert [(a[0].shape, a[2]) for a in mine.calls] == [((4, 8), 1e-5), ((3, 5), 1e-5)]
        assert reasons(f, x, w) == ["claimed by executor norms"]
        g = lambda x, w: rms(x.exp(), w, 0.25) + 1  # torch's own function, which is made of the same
        x, w = torch.randn(4, 8), torch.randn(8)
        assert_agrees(compiled(g)(x, w), g(x, w))
        assert mine.calls[-1][2] == 0.25


def test_a_function_is_a_pattern():
    mine = Recorder(rms)
    p = executors.pattern(written, torch.randn(2, 3, 4), torch.randn(4), 1e-5, name="norm3")
    with executors.register("norms", p, mine):
        f = lambda x, w: written(x.sin(), w, 0.5) * 2
        x, w = torch.randn(2, 5, 8), torch.randn(8)
        assert_agrees(compiled(f, dynamic=True)(x, w), f(x, w))
        ((y, v, eps),) = mine.calls
        assert y.shape == (2, 5, 8) and v is w and eps == 0.5
        compiled(f)(torch.randn(5, 8), w)  # another rank
        compiled(f)(x.double(), w.double())  # another type
        assert len(mine.calls) == 1


def test_16_bit_floats_in_both_ways_of_writing():
    d = define("scaled")
    x, y = d.tensor("x", "n, m", "bf16"), d.tensor("y", "m", "bf16")
    d.output(x * y + 2)
    p = executors.pattern(
        lambda x, y: x * y + 2, torch.zeros(3, 4).bfloat16(), torch.zeros(4).bfloat16(), name="traced"
    )
    for what in (d, p):
        mine = Recorder(lambda x, y: (x.float() * y.float() + 2).bfloat16())
        torch.compiler.reset()
        with executors.register("mine", what, mine):
            f = lambda x, y: (x.exp() * y + 2).exp()
            a, b = torch.randn(3, 4).bfloat16(), torch.randn(4).bfloat16()
            compiled(f)(a, b)
            assert len(mine.calls) == 1


def test_commutative_operands_views_and_repeated_casts():
    mine = Recorder(rms)
    variants = [
        lambda x, w, e: w * (torch.rsqrt(e + (x * x).mean(-1, keepdim=True)) * x),
        lambda x, w, e: x * torch.rsqrt(x.square().mean(-1)[:, None] + e) * w[None, :].expand(x.shape),
        lambda x, w, e: x * torch.rsqrt(x.square().sum(-1, keepdim=True) / x.shape[-1] + e) * w,
    ]
    with executors.register("norms", definition(), mine):
        for k, f in enumerate(variants):
            torch.compiler.reset()
            x, w = torch.randn(4, 8), torch.randn(8)
            run = compiled(lambda x, w: f(x.sin(), w, 1e-3).cos())
            torch.testing.assert_close(run(x, w), f(x.sin(), w, 1e-3).cos())
            assert len(mine.calls) == k + 1, k


def test_several_matches_and_what_is_between():
    mine = Recorder(rms)
    with executors.register("norms", definition(), mine):
        f = lambda x, w: written(torch.nn.functional.gelu(written(x, w)) + x, w).exp()
        x, w = torch.randn(4, 8), torch.randn(8)
        assert_agrees(compiled(f)(x, w), f(x, w))
        assert len(mine.calls) == 2


def test_several_outputs():
    d = define("both")
    x = d.tensor("x", "n, m", "f32")
    m = x.mean(-1, keepdim=True)
    d.output(x - m)
    d.output(m)
    mine = Recorder(lambda x: (x - x.mean(-1, keepdim=True), x.mean(-1, keepdim=True)))
    with executors.register("mine", d, mine):
        f = lambda x: (lambda y, m: [(y - m) * 2, m * 2])(x.exp(), x.exp().mean(-1, keepdim=True))
        x = torch.randn(4, 8)
        assert_agrees(compiled(f, dynamic=True)(x), f(x))
        assert len(mine.calls) == 1


def test_gradients_forward_and_backward_graphs():
    """The forward pattern leaves a backward pass of ours; what that needs must not be inside the match."""
    swish = define("swish")
    x = swish.tensor("x", "n, m", "f32")
    swish.output(x / (1 + swish.exp(-x)))
    mine = Recorder(lambda x: torch.nn.functional.silu(x))
    f = lambda x: (x * 2) / (1 + torch.exp(-(x * 2)))
    with executors.register("mine", swish, mine):
        with torch.no_grad():
            x = torch.randn(4, 8)
            assert_agrees(compiled(f)(x), f(x))
        assert len(mine.calls) == 1
        g = torch.randn(4, 8, requires_grad=True)
        run = compiled(f)
        run(g).sum().backward()
        twin = g.detach().requires_grad_()
        f(twin).sum().backward()
        torch.testing.assert_close(g.grad, twin.grad)


def test_a_pattern_of_a_backward_pass():
    p = executors.pattern(lambda g, y: g * (1 - y * y), torch.zeros(3, 4), torch.zeros(3, 4), name="tanh_backward")
    mine = Recorder(lambda g, y: g * (1 - y * y))
    with executors.register("mine", p, mine):
        x = torch.randn(4, 8, requires_grad=True)
        (compiled(lambda x: torch.tanh(x) @ torch.ones(8, 2))(x).sum()).backward()
        torch.testing.assert_close(
            x.grad, 1 - torch.tanh(x.detach()) ** 2 + 0 * x.detach() + (1 - torch.tanh(x.detach()) ** 2)
        )
        assert len(mine.calls) in (0, 1)  # as the derivative is written in this torch


def test_definitions_are_programs_too():
    mine = Recorder(rms)
    with executors.register("norms", definition(), mine):
        d = define("uses")
        n, m = d.sizes("a b")
        x, w = d.tensor("p", (n, m), "f32"), d.tensor("q", (m,), "f32")
        y = d.sin(x)
        d.output(y * d.rsqrt((y * y).mean(-1, keepdim=True) + 0.5) * w + 1)
        a, b = torch.randn(3, 4), torch.randn(4)
        torch.testing.assert_close(d(a, b), rms(a.sin(), b, 0.5) + 1)
        assert len(mine.calls) == 1
        d.validate([a, b])
        d(torch.randn(7, 9), torch.randn(9))
        assert mine.calls[-1][0].shape == (7, 9)


# --- what does not match ---------------------------------------------------------------------------------


OBSTACLES = {
    "read elsewhere": (
        lambda x, w: (lambda s: (x * s * w, s * 2))(torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)),
        r"executor norms declined: %\d+, the result of aten.rsqrt.default, is read elsewhere",
    ),
    "returned": (
        lambda x, w: (lambda s: (x * s * w, s))(torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)),
        r"is read elsewhere",
    ),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_obstacles(name):
    f, message = OBSTACLES[name]
    mine = Recorder(rms)
    x, w = torch.randn(4, 8), torch.randn(8)
    with executors.register("norms", definition(), mine):
        assert_agrees(compiled(f)(x, w), f(x, w))
        (why,) = reasons(f, x, w)
        import re

        assert re.search(message, why)
    assert not mine.calls


NO_MATCH = {
    "axis": lambda x, w: x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + 1e-5) * w,
    "primitive": lambda x, w: x * torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w,
    "operand": lambda x, w: x * torch.rsqrt(w.pow(2).mean(-1, keepdim=True) + 1e-5) * w,
    "reads another": lambda x, w: x.exp() * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w,
    "flipped": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * w.flip(0),
    "no constant": lambda x, w: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + w.abs().sum()) * w,
    "wider": lambda x, w: x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) / (x.shape[-1] + 1) + 1e-5) * w,
}


@pytest.mark.parametrize("name", NO_MATCH)
def test_what_is_not_the_pattern(name):
    f, mine = NO_MATCH[name], Recorder(rms)
    x, w = torch.randn(4, 8), torch.randn(8)
    with executors.register("norms", definition(), mine):
        assert_agrees(compiled(f)(x, w), f(x, w))
    if name != "flipped":
        assert not mine.calls
    else:  # the flipped tensor is an argument like any other
        assert torch.equal(mine.calls[0][1], w.flip(0))


def test_symbols_are_the_same_everywhere():
    d = define("outer")
    n = d.size("n")
    x, y = d.tensor("x", (n, 1), "f32"), d.tensor("y", (1, n), "f32")
    d.output(x + y)
    mine = Recorder(lambda x, y: x + y)
    with executors.register("mine", d, mine):
        f = lambda x, y: torch.exp(x + y) * 2
        compiled(f, dynamic=False)(torch.randn(4, 1), torch.randn(1, 5))
        assert not mine.calls
        compiled(f, dynamic=False)(torch.randn(4, 1), torch.randn(1, 4))
        assert len(mine.calls) == 1


def test_checkers_and_layouts():
    x, w = torch.randn(4, 8), torch.randn(8)
    mine = Recorder(rms)
    seen = []

    def small(x, w, eps):
        seen.append((x.shape, w.dtype, eps))
        return x.hint[-1] <= 8 or "rows are too long"

    f = lambda x, w: written(x, w).sin()
    with executors.register("norms", definition(strides="contiguous"), mine, small):
        assert_agrees(compiled(f, dynamic=False)(x, w), f(x, w))
        assert len(mine.calls) == 1 and seen[0] == ((4, 8), torch.float32, 1e-5)
        y, v = torch.randn(4, 9), torch.randn(9)
        assert reasons(f, y, v) == ["executor norms declined: rows are too long"]
        assert reasons(f, torch.randn(8, 4).t(), w) == ["executor norms declined: x has other strides"]


def test_failures_run_what_was_matched():
    def broken(x, w, eps):
        raise ValueError("no")

    x, w = torch.randn(4, 8), torch.randn(8)
    f = lambda x, w: written(x.exp(), w).sin()
    with fusewright.options(fallback=True), executors.register("norms", definition(), broken):
        run = compiled(f, dynamic=True)
        with pytest.warns(
            FusewrightWarning, match=r"executor norms failed on rms_norm at .*test_patterns.py:\d+ .*ValueError: no"
        ):
            assert_agrees(run(x, w), f(x, w))
        y, v = torch.randn(3, 5), torch.randn(5)
        assert_agrees(run(y, v), f(y, v))
    torch.compiler.reset()
    with executors.register("norms", definition(), lambda x, w, eps: x[:1]):
        with pytest.raises(
            fusewright.RuntimeFault, match=r"executor norms failed on rms_norm .* not torch.float32 \(4, 8\)"
        ):
            compiled(f)(x, w)


def test_check_mode():
    x, w = torch.randn(4, 8), torch.randn(8)
    f = lambda x, w: written(x.exp(), w).sin()
    with executors.register("norms", definition(), lambda x, w, eps: rms(x, w, eps) * 1.01):
        run = compiled(f)
        with (
            fusewright.options(check=True),
            pytest.warns(FusewrightWarning, match="executor norms, for rms_norm at .* deviates"),
        ):
            run(x, w)


def test_operators_and_patterns_in_one_program():
    norms, gelus = Recorder(rms), Recorder(lambda x, *, approximate="none": torch.nn.functional.gelu(x))
    gelu = lambda x, *, approximate="none": gelus(x)
    with executors.register("norms", definition(), norms), executors.register("gelus", aten.gelu.default, gelu):
        f = lambda x, w: (torch.nn.functional.gelu(written(x.exp(), w)) * 2 + 1).sin() @ w
        x, w = torch.randn(4, 8), torch.randn(8)
        report = fusewright.explain(f, x, w)
        assert_agrees(compiled(f)(x, w), f(x, w))
        assert len(norms.calls) == len(gelus.calls) == 2 and report.kernels
        assert "run by executors: 2" in str(report)


# --- patterns that cannot be ----------------------------------------------------------------------------


def test_bad_patterns():
    d = define("random")
    x = d.tensor("x", "n", "f32")
    d.output(x + d.random("uniform", x.shape))
    with pytest.raises(UserError, match="pattern 'random': random numbers cannot be matched"):
        executors.register("a", d, rms)
    d = define("inplace")
    x = d.tensor("x", "n", "f32")
    d.output(x + 1, into=x)
    with pytest.raises(UserError, match="pattern 'inplace': output 'out0' is written into an argument"):
        executors.register("a", d, rms)
    d = define("same")
    d.output(d.tensor("x", "n", "f32"))
    with pytest.raises(UserError, match="pattern 'same': its first output is an argument"):
        executors.register("a", d, rms)
    with pytest.raises(UserError, match="their priority must be above 0"):
        executors.register("a", definition(), rms, priority=-1)
    t = torch.randn(3, 3)
    cases = {
        "pattern 'mm': aten.mm.default has no primitives": (lambda x: x @ x, t),
        "pattern 'write': it writes into an argument": (lambda x: x.add_(1), t),
        "pattern 'closed': it reads a tensor that is no argument": (lambda x: x + t, t),
        "pattern 'early': it computes with a float": (lambda x, e: x + e * 2, t, 0.1),
        "pattern 'unused': the float e is not used": (lambda x, e: x + 1, t, 0.1),
        "pattern 'branch': its operations depend on a float": (lambda x, e: x + e if e < 0.11 else x - e, t, 0.1),
    }
    for message, (fn, *examples) in cases.items():
        with pytest.raises(UserError, match=message):
            executors.pattern(fn, *examples, name=message.split("'")[1])


# --- the matcher by itself -------------------------------------------------------------------------------

GRAPH = """graph {
  in %1: f32[a, b]
  in %2: f32[b]
  unit 0 fused "u" "t" "" reads (%1, %2) gives (%9)
  %3: f32[a, b] = affine [0, $1](%2) @0
  %4: f32[a, b] = map add(%3, %1) @0
  %5: f32[] = const 2.0() @0
  %6: f32[a, b] = map mul(%5, %4) @0
  %7: f32[b, a] = affine [$1, $0](%6) @0
  %8: f32[b, a] = map exp(%7) @0
  %9: f32[b, 1] = reduce sum [1](%8) @0
  out (%9)
}
""".replace("affine [0, $1](%2)", "affine [$1](%2)")


def found(build, graph: str = GRAPH) -> list[dict[str, str]]:
    d = define("p")
    build(d)
    g = parse(graph)
    return [
        {**{k: f"%{v.id}" for k, v in m.inputs.items()}, **m.numbers, **{k: str(e) for k, e in m.sizes.items()}}
        for m in Pattern(d.finish()._defined).find(g)
    ]


def test_matches():
    def scaled(d):
        x, w, s = d.tensor("x", "n, m", "f32"), d.tensor("w", "m", "f32"), d.scalar("s", float)
        d.output((x + w) * s)

    assert found(scaled) == [{"x": "%1", "w": "%2", "s": 2.0, "n": "a", "m": "b"}]

    def turned(d):
        x = d.tensor("x", "n, m", "f32")
        d.output(d.exp(d.permute(x, (1, 0))).sum(1))

    assert found(turned) == []  # keepdim: the pattern's output has another rank than any value there

    def kept(d):
        x = d.tensor("x", "n, m", "f32")
        d.output(d.exp(d.permute(x, (1, 0))).sum(1, keepdim=True))

    assert found(kept) == [{"x": "%6", "n": "a", "m": "b"}]

    def doubled(d):
        x = d.tensor("x", "n, m", "f32")
        d.output(x * 2)

    assert found(doubled) == [{"x": "%4", "n": "a", "m": "b"}]

    def tripled(d):
        x = d.tensor("x", "n, m", "f32")
        d.output(x * 3)

    assert found(tripled) == []

    def square(d):
        x = d.tensor("x", "n, n", "f32")
        d.output(d.exp(x))

    assert found(square) == []


def test_integers_of_an_example_are_part_of_the_pattern():
    made = executors.pattern(lambda x, dim, n: (x * n).exp().sum(dim), torch.randn(4, 5), 1, 3)
    with executors.register("mine", made, lambda x: (x * 3).exp().sum(1)):
        x = torch.randn(6, 7)
        reports = [str(fusewright.explain(lambda x, k=k: (x * k).exp().sum(1) + 1, x)) for k in (3, 2)]
    assert ["claimed by executor mine" in r for r in reports] == [True, False]
