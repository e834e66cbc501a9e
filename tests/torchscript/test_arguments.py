"""What scripted functions take and give, and how they stand among PyTorch's machinery."""

from __future__ import annotations

import threading
from typing import Dict, List, Optional, Tuple, Union  # noqa: UP035  (TorchScript reads these)

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import fusewright
from tests.support import random_tensor
from tests.torchscript.support import agree, outcome, script_of

Tensor = torch.Tensor


def r(*shape, dtype=torch.float32, seed=0):
    return random_tensor(shape, dtype, seed)


@torch.jit.script
def typed(x, a: float, k: int, flag: bool = True, dims: List[int] = (0,), name: str = "n", s: Optional[float] = None):  # noqa: UP006, UP045
    y = x * a + k
    if flag:
        y = y.sum(dims) * 2
    if s is not None:
        y = y * s
    return y + len(name)


@torch.jit.script
def nested(t: Tuple[Tensor, float], d: Dict[str, Tensor], xs: List[Tensor]):  # noqa: UP006
    return t[0] * t[1] + d["x"] * xs[0] - len(xs)


fused_typed, fused_nested = fusewright.fuse(typed), fusewright.fuse(nested)

CALLS = {
    "plain": ((2.0, 3), {}),
    "an integer for a float": ((2, 3), {}),
    "booleans for numbers": ((True, True), {}),
    "keywords": ((), dict(k=3, a=2.0, s=1.5)),
    "a tuple for a list": ((2.0, 3, True, (0, 1)), {}),
    "sizes for a list": ((2.0, 3, True, torch.Size([1])), {}),
    "a tensor for a number": ((torch.tensor(2.0), 3), {}),
    "all": ((2.0, 3, False, [0], "name", 2), {}),
    "a float for an integer": ((2.0, 3.5), {}),
    "None for a float": ((None, 3), {}),
    "a string for a flag": ((2.0, 3, "yes"), {}),
    "too few": ((2.0,), {}),
    "an unknown keyword": ((2.0, 3), dict(z=1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_converted_as_by_torchscript(name):
    args, kwargs = CALLS[name]
    for x in (r(3, 4).round(), r(3, 4, dtype=torch.int64)):  # whole numbers: sums are exact in every order
        got, want = (outcome(lambda *a, f=f: f(*a, **kwargs), (x, *args))[0] for f in (fused_typed, typed))
        if isinstance(want, tuple):
            assert got[0] == "raised" and (got[1] is want[1] or issubclass(got[1], TypeError))
        else:
            assert got.dtype is want.dtype and torch.equal(got, want)


@pytest.mark.parametrize("bad", [3, None, "x", [1.0]])
def test_what_is_no_tensor_is_refused_as_by_torchscript(bad):
    for f in (typed, fused_typed, fusewright.fuse(torch.jit.script(lambda_like))):
        with pytest.raises(RuntimeError):
            f(bad, 2.0, 3)


def lambda_like(x, a: float, k: int):
    return x * a + k


def test_containers_of_arguments():
    for args in (((r(3), 2.0), {"x": r(3)}, [r(3)]), ((r(3), 2), {"x": r(3)}, (r(3), r(3)))):
        assert torch.equal(fused_nested(*args), nested(*args))
    with pytest.raises(RuntimeError):
        fused_nested((r(3),), {"x": r(3)}, [r(3)])


# ---- results and their memory -------------------------------------------------------------------------


def aliases(x, y):
    z = x * 2
    return x, z, z.t(), x[1:], y.view(-1), [x, y], x.expand(2, 3, 4)


def test_results_share_memory_as_they_do_unfused():
    scripted = torch.jit.script(aliases)
    fused = agree(scripted, lambda: (r(3, 4), r(3, 4)), bits=True)
    for f in (scripted, fused, fused):
        x, y = r(3, 4), r(3, 4)
        a, z, zt, tail, flat, both, wide = f(x, y)
        same = lambda p, q: p.untyped_storage().data_ptr() == q.untyped_storage().data_ptr()
        assert a is x and both[1] is y
        assert same(z, zt) and same(tail, x) and same(flat, y) and same(wide, x)
        assert zt.stride() == (1, 4) and tail.storage_offset() == 4


def write_through(x, y):
    v = x.view(-1)
    v.add_(1)
    y.mul_(v.sum())
    return x * 2 + y


def test_arguments_that_are_written():
    scripted = torch.jit.script(write_through)
    fused = agree(scripted, lambda: (r(3, 4), r(3, 4, seed=1)), bits=False, grad=False)
    x, y = r(3, 4), r(3, 4)
    got, want = fused(x, x), scripted(y, y)  # the same tensor twice
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(x, y)
    base, other = r(8), r(8)
    got, want = fused(base[:4], base[2:6]), scripted(other[:4], other[2:6])  # memory that overlaps
    torch.testing.assert_close((got, base), (want, other))


def test_a_result_that_is_an_argument_list():
    def back(xs: List[Tensor], flag: bool):  # noqa: UP006
        if flag:
            xs.append(xs[0] * 2 + 1)
        return xs

    fused = agree(torch.jit.script(back), lambda: ([r(3)], True), lambda: ([r(3)], False), bits=True)
    xs = [r(3)]
    assert len(fused(xs, True)) == 2 and len(xs) == 1


# ---- among PyTorch's machinery ------------------------------------------------------------------------


def gated(x, y):
    return torch.sigmoid(x) * torch.tanh(y) + x


scripted_gate = torch.jit.script(gated)
gate = fusewright.fuse(scripted_gate)


def test_looks_like_the_scripted_function():
    assert (
        gate.__wrapped__ is scripted_gate
        and gate.__name__ == "gated"
        and gate.qualified_name == "__torch__.tests.torchscript.test_arguments.gated"
    )
    assert "aten::sigmoid" in str(gate.graph) and str(gate.schema).startswith("gated(Tensor x, Tensor y)")


def test_modes_and_transforms():
    x, y = r(3, 4), r(3, 4, seed=1)
    want = gated(x, y)
    with torch.no_grad():
        torch.testing.assert_close(gate(x, y), want)
    with torch.inference_mode():
        torch.testing.assert_close(gate(x, y), want)
    torch.testing.assert_close(torch.func.vmap(gate)(x, y), want)
    torch.testing.assert_close(
        torch.func.grad(lambda x: gate(x, y).sum())(x), torch.func.grad(lambda x: gated(x, y).sum())(x)
    )
    with torch.device("meta"):
        torch.testing.assert_close(gate(x, y), want)


def test_traced_by_torch_jit_trace():
    """Traced, it is what it was: a call of a scripted function, control flow and all."""
    traced = torch.jit.trace(lambda x, y: gate(x, y) * 2, (r(3, 4), r(3, 4)))
    torch.testing.assert_close(traced(r(5), r(5)), gated(r(5), r(5)) * 2)


def test_inside_torch_compile():
    torch._dynamo.reset()
    x, y = r(3, 4), r(3, 4, seed=1)
    compiled = torch.compile(lambda x, y: gate(x, y) * 2, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, y), gated(x, y) * 2)
    module = fusewright.fuse(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())))
    want = module(x) * 2
    torch.testing.assert_close(torch.compile(lambda x: module(x) * 2, backend="eager", fullgraph=True)(x), want)


def test_inside_another_fused_function():
    x, y = r(3, 4), r(3, 4, seed=1)
    outer = fusewright.fuse(lambda x, y: gate(x * 2, y) + 1)
    torch.testing.assert_close(outer(x, y), gated(x * 2, y) + 1)


def test_checkpoint_and_double_backward():
    x, y = r(3, 4).requires_grad_(), r(3, 4, seed=1).requires_grad_()
    want = torch.autograd.grad(gated(x, y).sum(), (x, y))
    got = torch.autograd.grad(checkpoint(gate, x, y, use_reentrant=False).sum(), (x, y))
    torch.testing.assert_close(got, want)
    results = []
    for f in (gate, gated):
        (g,) = torch.autograd.grad(f(x, y).sum(), x, create_graph=True)
        results.append(torch.autograd.grad(g.square().sum(), (x, y)))
    torch.testing.assert_close(*results)


def test_subclasses_run_unfused():
    class Wrapped(torch.Tensor):
        pass

    x = r(3, 4).as_subclass(Wrapped)
    torch.testing.assert_close(gate(x, x).as_subclass(torch.Tensor), gated(r(3, 4), r(3, 4)))


def test_threads_call_the_same_function():
    def work(x, m):
        return (x[m] * 2 + 1) * x[m]

    scripted = torch.jit.script(work)
    fused, wrong = fusewright.fuse(scripted), []

    def run(k):
        x, m = r(6, 4, seed=k), torch.arange(6) % 2 == k % 2
        for i in range(4):
            index = m if i % 2 else m.nonzero()[:, 0]
            if not torch.equal(fused(x, index), scripted(x, index)):
                wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and not script_of(fused).refused


def test_bad_names_to_specialise():
    with pytest.raises(fusewright.UserError, match="typed has no parameter 'z', only x, a, k"):
        fusewright.fuse(typed, specialize="z")


@torch.jit.script
def like_builtins(x, list: List[int], range: float, max: float, sum: Tensor):  # noqa: UP006
    y = x.clamp(max=max) + range * len(list)
    for k in list:
        y = y * k + x.size(0) / 2
    for k in [1, 2]:
        y = y + range * k
    return y + sum


@torch.jit.script
def like_a_builtin(x, type: int):
    return x * type + 1


def test_parameters_with_names_of_builtins():
    fused = fusewright.fuse(like_builtins)
    assert not script_of(fused).refused
    for n in (4, 4, 7):
        args = r(n), [2, 3], 2.5, 0.5, r(n, seed=1)
        torch.testing.assert_close(fused(*args), like_builtins(*args))
    with pytest.warns(fusewright.FusewrightWarning, match="a parameter is called type"):
        fused = fusewright.fuse(like_a_builtin)  # whose checks of arguments ask for the type of it
    assert torch.equal(fused(r(4), type=3), like_a_builtin(r(4), 3))


def test_a_wrong_number_of_arguments_is_an_error_of_the_function() -> None:
    for call in (fused_typed, fusewright.compile(typed)):
        with pytest.raises(TypeError, match=r"^typed\(\) missing 2 required positional arguments: 'a' and 'k'"):
            call(r(3))


@torch.jit.script
def by_complex(x, b: complex):
    return x * b + 1


@torch.jit.script
def by_first(x, b: List[complex]):  # noqa: UP006
    return x * b[0] + 1


@torch.jit.script
def moved(x, d: torch.device):
    return x.to(d) * 2, d.type


@torch.jit.script
def either(x, k: Union[int, complex]):  # noqa: UP007
    return x * 2 + 1, k


@pytest.mark.parametrize(
    ("f", "given"),
    [
        *((by_complex, b) for b in (2, 2.0, True, 1j, torch.tensor(2.0), 10**400, "2")),
        *((by_first, b) for b in ([1], [1.0, 2j], [torch.tensor(1.0)], (1,))),
        *((moved, d) for d in ("cpu", torch.device("cpu"), 3)),
        *((either, k) for k in (1, 2j, 1.0, "1")),
    ],
    ids=lambda v: getattr(v, "name", None) or str(v)[:20],
)
def test_complex_numbers_devices_and_unions(f, given):
    def of(g):
        try:
            return g(r(3), given)
        except (RuntimeError, TypeError, OverflowError) as e:
            return type(e)

    mine, theirs = of(fusewright.fuse(f)), of(f)
    torch.testing.assert_close(mine, theirs) if isinstance(theirs, torch.Tensor) else None
    assert str(mine) == str(theirs)


def test_a_list_that_a_decomposition_gives_as_a_tuple():
    @torch.jit.script
    def f(x):
        return torch.chunk(x * 2 + 1, 2)

    got, want = fusewright.fuse(f)(r(4)), f(r(4))
    assert type(got) is type(want) is list
    assert all(map(torch.equal, got, want))
