"""Fused functions among PyTorch's own machinery: transforms, autocast, checkpoints, torch.compile, DDP, threads."""

from __future__ import annotations

import copy
import pickle
import socket
import threading
import time

import pytest
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import fusewright
from tests.support import assert_agrees, counted, counters, random_tensor


@fusewright.fuse
def gated(x, y):
    """A gate."""
    return torch.sigmoid(x) * torch.tanh(y) + x


plain = gated.__wrapped__


class Block(torch.nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.norm = torch.nn.LayerNorm(width)
        self.register_buffer("steps", torch.zeros(()))
        self.scale = 2.0

    def forward(self, x, shift=0.0):
        self.steps.add_(1)
        return self.norm(F.gelu(self.linear(x)) * self.scale + x) + shift


def pair():
    torch.manual_seed(0)
    mine = Block()
    return mine, copy.deepcopy(mine)


def test_looks_like_the_function():
    assert gated.__name__ == "gated" and gated.__doc__ == "A gate." and gated.__module__ == __name__
    assert pickle.loads(pickle.dumps(gated)) is gated
    assert copy.deepcopy(gated) is gated


def test_methods():
    class Holder:
        @fusewright.fuse
        def f(self, x):
            return torch.relu(x) * self.scale

    one, two = Holder(), Holder()
    one.scale, two.scale = 2.0, 3.0
    x = random_tensor((4,))
    for _ in range(2):
        assert torch.equal(one.f(x), torch.relu(x) * 2) and torch.equal(two.f(x), torch.relu(x) * 3)


def test_methods_of_modules():
    class M(torch.nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.weight, self.scale = torch.nn.Parameter(torch.ones(4)), scale

        @fusewright.fuse
        def forward(self, x):
            return x * self.weight * self.scale

    for scale in (2.0, 3.0):
        m = M(scale)
        for _ in range(2):
            m(torch.ones(3, 4)).sum().backward()
        assert torch.equal(m.weight.grad, torch.full((4,), 6.0 * scale))


# ---- differentiation --------------------------------------------------------------------------------


def test_retained_graphs_and_freed_ones():
    x = random_tensor((4, 6)).requires_grad_()
    out = gated(x, x)
    out.sum().backward(retain_graph=True)
    first = x.grad.clone()
    out.sum().backward()
    assert torch.equal(x.grad, 2 * first)
    with pytest.raises(RuntimeError, match="second time"):
        out.sum().backward()


def test_a_second_derivative_that_is_zero_through_the_function_is_not_an_error():
    fused = fusewright.fuse(lambda x: x * 2 + 1)
    x = random_tensor((4,)).requires_grad_()
    (g,) = torch.autograd.grad((fused(x) * x.detach()).sum(), x, create_graph=True)
    assert torch.equal(g, 2 * x.detach())


def test_saved_tensors_that_change_are_noticed():
    fused = fusewright.fuse(lambda x, y: x * y + 1)
    x, y = random_tensor((4,)).requires_grad_(), random_tensor((4,), seed=1)
    out = fused(x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_hooks_on_tensors_and_saved_ones():
    x, seen = random_tensor((4, 6)).requires_grad_(), []
    x.register_hook(lambda g: seen.append("x"))
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t.clone(), lambda t: t):
        out = gated(x, x)
    out.register_hook(lambda g: seen.append("out"))
    out.sum().backward()
    assert seen == ["out", "x"] and packed


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint(reentrant):
    x, y = random_tensor((4, 6)).requires_grad_(), random_tensor((4, 6), seed=1).requires_grad_()
    fused = fusewright.fuse(lambda x, y: F.dropout(gated(x, y), 0.5))
    torch.manual_seed(1)
    fused(x, y).sum().backward()
    want = x.grad.clone()
    x.grad = None
    torch.manual_seed(1)
    checkpoint(fused, x, y, use_reentrant=reentrant).sum().backward()
    assert torch.equal(x.grad, want)


def test_gradients_of_parameters_are_accumulated():
    w = torch.nn.Parameter(torch.ones(6))
    for _ in range(3):
        gated(w, w).sum().backward()
    (want,) = torch.autograd.grad(plain(w, w).sum(), w)
    torch.testing.assert_close(w.grad, 3 * want)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.func.vmap(f),
        lambda f: torch.func.grad(lambda x, y: f(x, y).sum()),
        lambda f: torch.func.vmap(torch.func.grad(lambda x, y: f(x, y).sum())),
        lambda f: lambda x, y: torch.func.jvp(f, (x, y), (y, x)),
        lambda f: lambda x, y: torch.func.vjp(f, x, y)[1](x),
        lambda f: torch.func.jacrev(f),
        lambda f: torch.func.hessian(lambda x, y: f(x, y).sum()),
        lambda f: torch.func.functionalize(f),
    ],
    ids=["vmap", "grad", "vmap_grad", "jvp", "vjp", "jacrev", "hessian", "functionalize"],
)
def test_transforms(transform):
    x, y = random_tensor((3, 4)), random_tensor((3, 4), seed=1)
    gated(x, y)  # the fast path exists
    assert_agrees(transform(gated)(x, y), transform(plain)(x, y))


def test_forward_mode():
    import torch.autograd.forward_ad as fwad

    x, t = random_tensor((3, 4)), random_tensor((3, 4), seed=1)
    gated(x, x)
    with fwad.dual_level():
        got = fwad.unpack_dual(gated(fwad.make_dual(x, t), x)).tangent
        want = fwad.unpack_dual(plain(fwad.make_dual(x, t), x)).tangent
    torch.testing.assert_close(got, want)


def test_modes_and_subclasses_see_the_plain_operations():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import FlopCounterMode

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    class LogFunctions(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    class Mine(torch.Tensor):
        pass

    x = random_tensor((3, 4))
    gated(x, x)
    for mode, name in ((Log(), "aten.sigmoid.default"), (LogFunctions(), "sigmoid")):
        seen: list[str] = []
        with mode:
            gated(x, x)
        assert name in seen
    assert type(gated(x.as_subclass(Mine), x)) is Mine
    with FlopCounterMode(display=False) as flops:
        fusewright.fuse(lambda a, b: a @ b + 1)(x, x.t())
    assert flops.get_total_flops() == 2 * 3 * 4 * 3


def test_make_fx_traces_through():
    from torch.fx.experimental.proxy_tensor import make_fx

    x = random_tensor((3, 4))
    gm = make_fx(gated, tracing_mode="symbolic")(x, x)
    assert "sigmoid" in gm.code


# ---- autocast ---------------------------------------------------------------------------------------


def test_autocast():
    def f(x, w):
        return torch.relu(x @ w) + 1

    fused = fusewright.fuse(f)
    args = [random_tensor((8, 8), seed=k).requires_grad_() for k in range(2)]
    grads = []
    for fn in (fused, f):
        for dtype in (torch.bfloat16, torch.float16, torch.bfloat16):
            with torch.autocast("cpu", dtype):
                out = fn(*args)
                again = fn(*args)
            assert out.dtype is dtype and torch.equal(out, again)
            out.sum().backward()
        assert fn(*args).dtype is torch.float32
        grads.append([a.grad.clone() for a in args])
        for a in args:
            a.grad = None
    for mine, theirs in zip(*grads, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0.02, atol=0.02)


def test_autocast_inside():
    def f(x, w):
        with torch.autocast("cpu", torch.bfloat16):
            y = x @ w
        return y.float() + 1

    x = random_tensor((8, 8))
    assert_agrees(fusewright.fuse(f)(x, x), f(x, x))


# ---- torch.compile ----------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "fusewright"])
def test_inside_torch_compile(backend):
    torch._dynamo.reset()

    def step(x, y):
        return gated(x * 2, y).cos()

    compiled = torch.compile(step, backend=backend, fullgraph=True)
    x = random_tensor((4, 6)).requires_grad_()
    for _ in range(2):
        torch.testing.assert_close(compiled(x, x), plain(x * 2, x).cos())
    gated(x, x)  # has a fast path now
    torch._dynamo.reset()
    before = counters()
    out = torch.compile(step, backend=backend, fullgraph=True)(x, x)
    out.sum().backward()
    assert counted(before)["fuse_traces"] == 0
    torch.testing.assert_close(out, plain(x * 2, x).cos())


def test_a_fused_module_inside_torch_compile():
    torch._dynamo.reset()
    mine, theirs = pair()
    fused = fusewright.fuse(mine)
    x = random_tensor((4, 16))
    torch.testing.assert_close(torch.compile(fused, backend="aot_eager", fullgraph=True)(x), theirs(x))
    outer = torch.compile(lambda x: fused(x) * 2, backend="eager", fullgraph=True)
    torch.testing.assert_close(outer(x), theirs(x) * 2)
    assert mine.steps == 2


def test_what_torch_compile_made_is_fused_in_its_place():
    x, calls = random_tensor((4, 16)), []

    def backend(gm, inputs):
        calls.append(gm)
        return gm

    mine, theirs = pair()
    for made, plainly in (
        (torch.compile(plain, backend=backend), plain),
        (torch.compile(mine, backend=backend), theirs),
    ):
        fused = fusewright.fuse(made)
        args = (x, x) if plainly is plain else (x,)
        before = counters()
        for _ in range(2):
            torch.testing.assert_close(fused(*args), plainly(*args))
        assert counted(before)["fuse_traces"] == 1 and counted(before)["fallbacks"] == 0
    assert not calls and list(fused.state_dict()) == list(theirs.state_dict())


@pytest.mark.parametrize("transform", ["functional_call", "grad"])
def test_other_parameters_for_a_fused_module(transform):
    torch.manual_seed(1)
    theirs = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU(), torch.nn.LayerNorm(16))
    fused, x = fusewright.fuse(copy.deepcopy(theirs)), random_tensor((4, 16))
    fused(x)
    given = {name: torch.randn_like(p) for name, p in theirs.named_parameters()}
    run = lambda m: lambda p: torch.func.functional_call(m, p, (x,)).sum()
    apply = run if transform == "functional_call" else lambda m: torch.func.grad(run(m))
    for _ in range(2):
        assert_agrees(apply(fused)(given), apply(theirs)(given), rtol=1e-5, atol=1e-5)


# ---- modules ----------------------------------------------------------------------------------------


def test_modules_share_their_state():
    mine, theirs = pair()
    fused = fusewright.fuse(mine)
    assert isinstance(fused, torch.nn.Module)
    assert list(fused.state_dict()) == list(theirs.state_dict())
    assert dict(fused.named_parameters()).keys() == dict(theirs.named_parameters()).keys()
    optimizers = [torch.optim.SGD(m.parameters(), 0.1) for m in (fused, theirs)]
    before = counters()
    for step in range(3):
        x = random_tensor((3 + step, 16), seed=step)
        for m, o in zip((fused, theirs), optimizers, strict=True):
            o.zero_grad()
            m(x, shift=0.5).square().sum().backward()
            o.step()
    assert counted(before)["fuse_traces"] == 1
    for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(p, q)
    assert mine.steps == 3 and fused.steps == 3 and fused.scale == 2.0
    fused.load_state_dict(Block().state_dict())
    x = random_tensor((4, 16))
    torch.testing.assert_close(fused(x), mine.forward(x))
    fused.double()
    torch.testing.assert_close(fused(x.double()), mine.forward(x.double()))


def test_training_and_evaluation():
    torch.manual_seed(0)
    m = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.ReLU())
    fused = fusewright.fuse(m)
    x = torch.ones(100)
    assert (fused(x) == 0).any()
    fused.eval()
    assert not m.training and not m[0].training and torch.equal(fused(x), x)
    m.train()
    assert fused.training and (fused(x) == 0).any()
    m[0].eval()
    assert torch.equal(fused(x), x)


def test_modules_that_change_their_structure():
    m = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    fused = fusewright.fuse(m)
    x = random_tensor((3, 4))
    fused(x)
    m[1] = torch.nn.Tanh()
    torch.testing.assert_close(fused(x), torch.tanh(m[0](x)))
    m[0].bias = None
    torch.testing.assert_close(fused(x), torch.tanh(x @ m[0].weight.t()))
    m[0].weight = torch.nn.Parameter(torch.eye(4))
    torch.testing.assert_close(fused(x), torch.tanh(x))
    m.append(torch.nn.ReLU())
    torch.testing.assert_close(fused(x), torch.relu(torch.tanh(x)))


def test_hooks_of_modules_run_every_time():
    mine, theirs = pair()
    fused, seen = fusewright.fuse(mine), []
    x = random_tensor((3, 16))
    fused(x)
    handle = mine.norm.register_forward_hook(lambda *_: seen.append("norm"))
    mine.register_forward_hook(lambda *_: seen.append("block"))
    for _ in range(2):
        torch.testing.assert_close(fused(x), theirs(x))
    assert seen == ["norm", "block"] * 2
    handle.remove()
    fused(x)
    assert seen[4:] == ["block"]


def test_tied_parameters():
    m = torch.nn.Sequential(torch.nn.Linear(4, 4, bias=False), torch.nn.ReLU(), torch.nn.Linear(4, 4, bias=False))
    m[2].weight = m[0].weight
    twin = copy.deepcopy(m)
    x = random_tensor((3, 4))
    fusewright.fuse(m)(x).sum().backward()
    twin(x).sum().backward()
    torch.testing.assert_close(m[0].weight.grad, twin[0].weight.grad)


def test_a_buffer_that_is_assigned():
    class Count(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.zeros(()))

        def forward(self, x):
            self.n = self.n + 1
            return x * self.n

    m = Count()
    fused = fusewright.fuse(m)
    assert [float(fused(torch.ones(()))) for _ in range(3)] == [1, 2, 3] and m.n == 3


def test_copies_and_pickles():
    mine, _ = pair()
    fused = fusewright.fuse(mine, precision="eager")
    x = random_tensor((3, 16))
    want = fused(x)
    for twin in (copy.deepcopy(fused), pickle.loads(pickle.dumps(fused))):
        assert torch.equal(twin(x), want)
        with torch.no_grad():
            twin.linear.weight.zero_()
        assert not torch.equal(twin(x), want) and torch.equal(fused(x), want)
        assert twin._plain is not mine


# ---- processes and threads --------------------------------------------------------------------------


def test_threads():
    fused = fusewright.fuse(lambda x, y: torch.sigmoid(x) * torch.tanh(y) + x)
    failures: list[BaseException] = []
    start = threading.Barrier(6)

    def work(k):
        try:
            start.wait()
            for n in range(2, 30):
                x = random_tensor((n, 3 + k), seed=n).requires_grad_(k % 2 == 0)
                y = random_tensor((n, 3 + k), torch.float64 if k > 3 else torch.float32, seed=k)
                out = fused(x, y)
                torch.testing.assert_close(out, plain(x, y))
                if k % 2 == 0:
                    (mine,) = torch.autograd.grad(out.sum(), x)
                    (theirs,) = torch.autograd.grad(plain(x, y).sum(), x)
                    torch.testing.assert_close(mine, theirs)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    before = counters()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures[0]
    assert counted(before)["fuse_traces"] == 4


def test_distributed_data_parallel():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    try:
        mine, theirs = pair()
        ddp = torch.nn.parallel.DistributedDataParallel(fusewright.fuse(mine))
        outer = torch.nn.parallel.DistributedDataParallel(theirs)
        for step in range(3):
            x = random_tensor((3 + step, 16), seed=step)
            for m in (ddp, outer):
                m.zero_grad()
                m(x).square().sum().backward()
        for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
            torch.testing.assert_close(p.grad, q.grad)
    finally:
        # Gloo's threads want the interpreter's lock to let go of the last all-reduce; whoever destroys the group joins
        # them and does not give it up: torch may wait for ever.
        time.sleep(0.2)
        torch.distributed.destroy_process_group()
