"""Bad and unusual input by every way in that takes PyTorch code: what eager does is what they do.

Exported programs, definitions and executors have callers of another kind, and their own tests of the same things
(tests/aot/test_calls.py, tests/define/test_calls.py, tests/executors).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import fusewright
from tests.support import TORCH, assert_agrees, clone_like, counted, counters, random_tensor

WAYS: dict[str, Callable[[Any], Any]] = {
    "fuse": fusewright.fuse,
    "memory_efficient_fusion": fusewright.memory_efficient_fusion,
    "compile": fusewright.compile,
    "fuse script": lambda f: fusewright.fuse(torch.jit.script(f)),
    "compile script": lambda f: fusewright.compile(torch.jit.script(f)),
    "fuse in inductor": lambda f: _outer(f, "inductor"),
    "fuse in aot_eager": lambda f: _outer(f, "aot_eager"),
    "compile of fuse": lambda f: fusewright.compile(fusewright.fuse(f)),
}
PLAIN = [w for w in WAYS if "script" not in w]
OWN = [w for w in WAYS if w in ("fuse", "memory_efficient_fusion", "fuse script", "compile script")]  # without Dynamo


def _outer(f: Any, backend: str) -> Any:
    """A compiled function that calls a fused one."""
    fused = fusewright.fuse(f)
    return torch.compile(lambda *args, **kwargs: fused(*args, **kwargs), backend=backend, fullgraph=True)


@pytest.fixture(params=WAYS)
def way(request):
    torch.manual_seed(0)
    torch.compiler.reset()
    yield WAYS[request.param]
    torch.compiler.reset()


@pytest.fixture(params=PLAIN)
def plain_way(request):
    """Those for Python that TorchScript does not have."""
    torch.manual_seed(0)
    torch.compiler.reset()
    yield WAYS[request.param]
    torch.compiler.reset()


def gate(x: torch.Tensor, y: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    return torch.sigmoid(x) * torch.tanh(y) * scale + x


def gate_pair(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    z = torch.tanh(x) * y
    return z, z.sum(-1)


X, Y = (random_tensor((3, 4), seed=k) for k in range(2))


def raised(f: Callable[..., Any], *args: Any, **kwargs: Any) -> BaseException:
    with pytest.raises(Exception) as error:
        f(*args, **kwargs)
    return error.value


# --- arguments ---------------------------------------------------------------------------------------


@pytest.mark.every(6)
@pytest.mark.parametrize("args", [(), (X,), (X, Y, 2.0, 3.0)])
def test_wrong_arity(way, args):
    f = way(gate)
    theirs, mine = raised(gate, *args), raised(f, *args)
    assert isinstance(theirs, TypeError)
    assert type(mine) is TypeError or "argument" in str(mine)  # TorchScript and Dynamo have exceptions of their own
    assert_agrees(f(X, Y), gate(X, Y))  # nothing is broken by that
    assert "other" in str(raised(f, X, Y, other=1))


def test_mixed_devices(way):
    f = way(gate)
    assert_agrees(f(X, Y), gate(X, Y))
    message = str(raised(f, X, Y.to("meta")).args[0])
    assert "meta" in message and "cpu" in message
    assert_agrees(f(X, Y), gate(X, Y))


def test_extents_that_do_not_fit(way):
    f = way(gate)
    for bad in (torch.ones(3), torch.ones(5, 4), torch.ones(2, 2, 2)):
        assert "must match" in str(raised(f, X, bad)) or "broadcast" in str(raised(f, X, bad))
    assert_agrees(f(X, Y), gate(X, Y))


@pytest.mark.every(3)
def test_signatures_never_seen(way):
    f = way(gate)
    for dtype in (torch.float32, torch.float64):
        for shape in ((3, 4), (7, 5), (6,), (2, 3, 4), (0, 4), (1, 1), ()):
            args = random_tensor(shape, dtype), random_tensor(shape, dtype, seed=1)
            assert_agrees(f(*args), gate(*args))
        torch.compiler.reset()  # its limit of recompilations
    args = X.t(), random_tensor((4, 6))[:, ::2]
    assert_agrees(f(*args), gate(*args))
    assert_agrees(f(X, Y, 3.5), gate(X, Y, 3.5))
    assert_agrees(f(X, torch.ones(4).expand(3, 4), scale=0.5), gate(X, torch.ones(4).expand(3, 4), scale=0.5))


@pytest.mark.parametrize("name", ["fuse", "memory_efficient_fusion", "fuse script"])
def test_new_signatures_are_traced_anew_and_counted(name):
    f = WAYS[name](gate)
    f(X, Y)
    for new, count in (((5, 6), 0), ((3, 4, 5), 1), ((7,), 1)):
        before = counters()
        for _ in range(2):
            f(random_tensor(new), random_tensor(new))
        assert counted(before)["fuse_traces"] == count
    before = counters()
    for _ in range(2):
        f(X.double(), Y.double())
    assert counted(before)["fuse_traces"] == 1


# --- memory ------------------------------------------------------------------------------------------


def views(x: torch.Tensor, y: torch.Tensor):
    return x, x.t(), (x * 2 + y).relu(), x[:, 1:], y.view(-1)


def test_results_that_alias_arguments(way):
    f = way(views)
    for shape in ((3, 4), (5, 2)):
        x, y = random_tensor(shape), random_tensor(shape, seed=1)
        got, want = f(x, y), views(x, y)
        assert_agrees(got, want)
        for a, b in zip(got, want, strict=True):
            assert (a.data_ptr() == b.data_ptr()) == (b.untyped_storage().data_ptr() in (x.data_ptr(), y.data_ptr()))
        got[1].fill_(7.0)
        assert bool((x == 7).all())


def updated(x: torch.Tensor, y: torch.Tensor):
    y.mul_(2).add_(x)
    z = y * x
    y[0] = 1.0
    return z, y


def test_arguments_that_are_written(way):
    f = way(updated)
    for shape in ((3, 4), (5, 2), (1, 3)):
        x = random_tensor(shape)
        mine, theirs = random_tensor(shape, seed=1), random_tensor(shape, seed=1)
        version = mine._version
        got, want = f(x, mine), updated(x, theirs)
        assert_agrees(got, want)
        assert_agrees(mine, theirs)
        assert got[1].data_ptr() == mine.data_ptr() and mine._version > version


@pytest.mark.parametrize("name", [w for w in WAYS if w != "fuse in inductor"])
def test_arguments_that_are_written_and_share_memory(name):
    """Inductor, by itself, gives wrong results."""
    torch.compiler.reset()
    f = WAYS[name](updated)
    f(X, Y.clone())
    for make in (lambda t: (t, t), lambda t: (t[:2], t[2:]), lambda t: (t.view(2, 8), t.view(2, 8))):
        a, b = make(random_tensor((4, 4))), make(random_tensor((4, 4)))
        assert_agrees(f(*a), updated(*b))
        assert_agrees(a, b)


def scaled(x: torch.Tensor, y: torch.Tensor):
    y.mul_(x)
    return torch.tanh(y) + x


@pytest.mark.parametrize("name", OWN)
def test_a_write_to_what_requires_a_gradient(name):
    """AOTAutograd, and so torch.compile with any backend, cannot differentiate this."""
    f = WAYS[name](scaled)
    x, leaf = X.clone().requires_grad_(), Y.clone().requires_grad_()
    assert "leaf Variable that requires grad" in str(raised(f, x, leaf))
    for _ in range(2):
        mine, theirs = leaf * 1, leaf * 1
        got, want = f(x, mine), scaled(x, theirs)
        assert_agrees(got, want)
        assert_agrees(mine, theirs)
        grads = [torch.autograd.grad(r.sum() + y.square().sum(), (x, leaf)) for r, y in ((got, mine), (want, theirs))]
        assert_agrees(*grads)


# --- results -----------------------------------------------------------------------------------------


def kinds(x: torch.Tensor, y: torch.Tensor):
    return {"a": x * 2 + y, "list": [x.size(0), None, "text", 2.5, True], "nested": (y.sum(), (x > 0,))}


def test_results_that_are_no_tensors(plain_way):
    f = plain_way(kinds)
    for shape in ((3, 4), (5, 6)):
        got = f(random_tensor(shape), random_tensor(shape, seed=1))
        want = kinds(random_tensor(shape), random_tensor(shape, seed=1))
        assert_agrees((got["a"], got["nested"]), (want["a"], want["nested"]))
        assert got["list"] == want["list"] and list(got) == list(want)
        assert [type(v) for v in got["list"]] == [type(v) for v in want["list"]]


def nothing(x: torch.Tensor, y: torch.Tensor):
    y.add_(x)


def test_no_result_at_all(way):
    f = way(nothing)
    for _ in range(2):
        y = Y.clone()
        assert f(X, y) is None
        assert torch.equal(y, Y + X)


# --- autograd ----------------------------------------------------------------------------------------


def test_hooks(way):
    f, seen = way(gate), []
    grads = []
    for run in (f, gate):
        x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
        x.register_hook(lambda g: seen.append("x") or g * 2)
        y.register_post_accumulate_grad_hook(lambda t: seen.append("y"))
        for _ in range(2):
            out = run(x, y)
            out.register_hook(lambda g: seen.append("out") or g * 3)
            out.sum().backward()
        grads.append((x.grad, y.grad))
    assert_agrees(*grads)
    assert len(seen) == 12 and sorted(seen[:3]) == ["out", "x", "y"] and seen[0] == "out"


def test_double_backward(way):
    """Right, or PyTorch's own kind of error; never a wrong number."""
    f = way(gate)
    x, y = X.double().requires_grad_(), Y.double().requires_grad_()
    try:
        got = torch.autograd.grad(f(x, y).sum(), (x, y), create_graph=True)
        second = torch.autograd.grad(got[0].square().sum() + got[1].sum(), (x, y))
    except RuntimeError as e:
        theirs = "not have been used in the graph"  # AOTAutograd does not connect the graph
        assert any(s in str(e) for s in ("differentiated twice", "double backward", theirs))
        return
    want = torch.autograd.grad(gate(x, y).sum(), (x, y), create_graph=True)
    assert_agrees(second, torch.autograd.grad(want[0].square().sum() + want[1].sum(), (x, y)))


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing(way, reentrant):
    f = way(gate)
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    for _ in range(2):
        x.grad = y.grad = None
        checkpoint(f, x, y, use_reentrant=reentrant).square().sum().backward()
        assert_agrees((x.grad, y.grad), torch.autograd.grad(gate(x, y).square().sum(), (x, y)))


# --- the rest ----------------------------------------------------------------------------------------


class Tagged(torch.Tensor):
    """A subclass that only notes what is called."""

    calls: list[str] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize("name", ["fuse", "memory_efficient_fusion"])
def test_subclasses_run_through_torch(name):
    f = WAYS[name](gate)
    f(X, Y)
    before = counters()
    Tagged.calls.clear()
    for _ in range(2):
        out = f(X.as_subclass(Tagged), Y)
        assert type(out) is Tagged and torch.equal(out.as_subclass(torch.Tensor), gate(X, Y))
    assert {"sigmoid", "mul"} <= set(Tagged.calls) and counted(before)["fuse_traces"] == 0


@pytest.mark.every(3)
def test_threads(way):
    if TORCH < (2, 13):
        pytest.skip("before, threads must not compile at the same time")
    f, failures = way(gate), []
    f(X, Y)
    start = threading.Barrier(4)

    def work(k: int) -> None:
        try:
            start.wait()
            for n in range(2, 8):
                x, y = random_tensor((n, k + 2), seed=n).requires_grad_(k % 2 == 0), random_tensor((n, k + 2), seed=k)
                out = f(x, y)
                assert_agrees(out, gate(x, y))
                if k % 2 == 0:
                    assert_agrees(torch.autograd.grad(out.sum(), x), torch.autograd.grad(gate(x, y).sum(), x))
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures[0]


def lookup(table: torch.Tensor, i: torch.Tensor, out: torch.Tensor):
    out.add_(1)
    return (table * 2 + 1)[i] * 3


def test_exceptions_half_way(way):
    """An index out of range, found by a kernel: eager's error, and the next call is right."""
    f = way(lookup)
    table, good, bad = random_tensor((6, 3)), torch.tensor([0, 5, -1]), torch.tensor([0, 6])
    assert_agrees(f(table, good, torch.zeros(2)), lookup(table, good, torch.zeros(2)))
    for _ in range(2):
        assert isinstance(raised(f, table, bad, torch.zeros(2)), (IndexError, RuntimeError))
        out = torch.zeros(2)
        assert_agrees(f(table, good, out), lookup(table, good, torch.zeros(2)))
        assert torch.equal(out, torch.ones(2))


def test_interrupted_while_compiling(plain_way):
    stop = [True]

    def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = x * 2
        if stop[0]:
            raise ValueError("half-way")
        return z + y

    f = plain_way(program)
    for _ in range(2):
        assert "half-way" in str(raised(f, X, Y))
    stop[0] = False
    for _ in range(2):
        assert_agrees(f(X, Y), X * 2 + Y)


@pytest.mark.every(3)
def test_state_of_the_thread(way):
    f = way(gate)
    x = X.clone().requires_grad_()
    assert f(x, Y).requires_grad
    with torch.no_grad():
        assert not f(x, Y).requires_grad
    with torch.inference_mode():
        out = f(x, Y)
        assert out.is_inference() and not out.requires_grad
    with torch.autocast("cpu", torch.bfloat16):
        assert_agrees(f(X, Y), gate(X, Y))
    assert f(x, Y).requires_grad


def test_transforms(way):
    f = way(gate)
    if getattr(f, "_fusewright", None) is None:
        pytest.skip("torch.compile inside of transforms is torch's own matter")
    f(X, Y)
    total = lambda g: lambda x, y: g(x, y).sum()
    for transform in (
        torch.func.vmap,
        lambda g: torch.func.grad(total(g)),
        lambda g: torch.func.vmap(torch.func.grad(total(g))),
        lambda g: lambda x, y: torch.func.jvp(g, (x, y), (y, x)),
    ):
        assert_agrees(transform(f)(X, Y), transform(gate)(X, Y))


def test_arguments_stay_as_they_are(way):
    f, args = way(gate_pair), (X.clone(), Y.clone())
    kept = clone_like(args)
    got = f(*args)
    assert isinstance(got, tuple)
    assert_agrees(got, gate_pair(*kept))
    assert_agrees(args, kept)
