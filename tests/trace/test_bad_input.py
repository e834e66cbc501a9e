"""Inputs outside what the compiler claims, wrong ones, and unusual processes: torch runs them, nothing crashes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses import FakeTensor, FakeTensorMode
from torch.testing._internal.two_tensor import TwoTensor

import fusewright
from fusewright import backend, explaining
from fusewright.core.modes import MODES
from tests.processes import python
from tests.support import BACKEND, assert_agrees, compiled, is_ours, no_fallbacks

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


# ---- dtypes, layouts and devices that are not ours -------------------------------------------------


def test_complex() -> None:
    x = torch.randn(4, 5, dtype=torch.complex64)
    fn = lambda x: (x * x.conj() + 1j).abs().sum(-1) * 2
    assert_agrees(compiled(fn)(x), fn(x))


def test_sparse() -> None:
    s = torch.eye(5).to_sparse()
    fn = lambda s, x: torch.sparse.mm(s, x) * 2 + 1
    x = torch.randn(5, 3)
    assert_agrees(compiled(fn)(s, x), fn(s, x))


def test_zeros_without_memory() -> None:
    """As tangents of forward differentiation are; kernels would read at address 0."""
    fn = lambda x, w: (x * 2 + torch.arange(5.0)).sin() * w
    got, w = compiled(fn), torch.randn(5)
    for x in (torch.randn(4, 5), torch._efficientzerotensor(4, 5), torch.randn(4, 5)):
        assert_agrees(got(x, w), fn(x, w))
    if is_ours():
        assert "zeros without memory" in str(fusewright.explain(fn, torch._efficientzerotensor(4, 5), w))


@pytest.mark.parametrize("gradients", [False, True])
def test_tensors_without_data(gradients: bool) -> None:
    """What a program would give: shapes, strides, what requires gradients. Kernels would read at address 0."""
    linear = torch.nn.Linear(33, 700)
    fn = lambda x: torch.softmax(linear(x.sin() * 2).relu().t(), -1)
    got, x = compiled(fn), torch.randn(50, 33, requires_grad=gradients)
    with torch.set_grad_enabled(gradients):
        want = fn(x)
        for _ in range(2):
            assert_agrees(got(x), want)
            with FakeTensorMode(allow_non_fake_inputs=True) as mode:
                fake = got(mode.from_tensor(x))
            assert isinstance(fake, FakeTensor) and (fake.shape, fake.stride()) == (want.shape, want.stride())
            assert fake.requires_grad is gradients


@pytest.mark.parametrize("make", [torch.nn.Embedding, torch.nn.EmbeddingBag])
def test_sparse_gradients(make) -> None:
    """A backward pass with sparse results, which have no storage."""
    table = make(10, 4, sparse=True)
    index = torch.tensor([[1, 3], [3, 2]])
    grads = []
    with no_fallbacks():
        for fn in (lambda i: table(i).sin().sum(), compiled(lambda i: table(i).sin().sum())):
            fn(index).backward()
            grads.append(table.weight.grad)
            table.weight.grad = None
    assert grads[0].is_sparse and grads[1].is_sparse
    assert_agrees(grads[1].to_dense(), grads[0].to_dense())


@pytest.mark.filterwarnings("ignore")
def test_quantised() -> None:
    q = torch.quantize_per_tensor(torch.randn(4, 4), 0.1, 0, torch.quint8)
    fn = lambda q, x: q.dequantize() * 2 + x
    x = torch.randn(4, 4)
    assert_agrees(compiled(fn)(q, x), fn(q, x))


def test_meta() -> None:
    x = torch.empty(3, 4, device="meta")
    got = compiled(lambda x: torch.relu(x * 2).sum(0))(x)
    assert got.device.type == "meta" and got.shape == (4,)


def test_subclass() -> None:
    """A tensor that is two tensors: AOTAutograd hands the backend the inner ones."""
    x = TwoTensor(torch.randn(3, 4), torch.randn(3, 4))
    fn = lambda x: torch.relu(x * 2) + 1
    got, want = compiled(fn)(x), fn(x)
    assert type(got) is type(want)
    assert_agrees([got.a, got.b], [want.a, want.b])


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn], ids=str)
def test_rare_dtypes(dtype: torch.dtype) -> None:
    x = torch.randint(0, 9, (6,)).to(dtype)
    fn = lambda x: x.to(torch.float32) * 2 + 1
    assert_agrees(compiled(fn)(x), fn(x))


def test_string_and_none_arguments() -> None:
    fn = lambda x, mode, extra: F.interpolate(x, scale_factor=2, mode=mode) + (0 if extra is None else extra)
    x = torch.randn(1, 2, 4, 4)
    assert_agrees(compiled(fn)(x, "nearest", None), fn(x, "nearest", None))


@pytest.mark.skipif(not is_ours(), reason="Fusewright's own warning")
@pytest.mark.parametrize("mode", MODES)
def test_modes_are_short_for_options(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    of_mapping = backend.from_mapping
    for module in (backend, explaining):
        monkeypatch.setattr(module, "from_mapping", lambda given: seen.append(given) or of_mapping(given))
    fn, x = lambda x: x * 2 + 1, torch.ones(3)
    compiled = torch.compile(fn, backend="fusewright", mode=mode)
    for call in (compiled, fusewright.compile(fn, mode=mode)):
        torch._dynamo.reset()
        assert torch.equal(call(x), fn(x))
    assert seen == [MODES[mode]] * 2 * bool(MODES[mode])
    fusewright.explain(compiled, x)
    assert seen[-1] == MODES[mode]


@pytest.mark.skipif(not is_ours(), reason="Fusewright's own error")
def test_modes_that_do_not_exist() -> None:
    with pytest.raises(Exception, match="there is no mode 'fastest': known: default, reduce-overhead, max-autotune"):
        torch.compile(lambda x: x * 2 + 1, backend=BACKEND, mode="fastest")(torch.ones(3))
    with pytest.raises(fusewright.UserError, match="there is no mode 'fastest': known: default, reduce-overhead"):
        fusewright.compile(lambda x: x, mode="fastest")


def test_large_index_arithmetic() -> None:
    """An expanded tensor with more than 2**31 elements, of which a corner is read: no 32-bit overflow."""
    x = torch.arange(8.0).view(1, 8).expand(1 << 29, 8)
    fn = lambda x: x[-3:, 5:] * 2 + 1
    assert_agrees(compiled(fn)(x), fn(x))


# ---- wrong inputs ----------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable, tuple[Any, ...]]] = {
    "broadcast": (lambda x, y: x * 2 + y, (torch.randn(3, 4), torch.randn(5))),
    "matmul": (lambda x, y: torch.relu(x @ y), (torch.randn(3, 4), torch.randn(3, 4))),
    "dimension": (lambda x: (x + 1).sum(3), (torch.randn(3, 4),)),
    "reshape": (lambda x: (x + 1).reshape(5, 5), (torch.randn(3, 4),)),
    "cat": (lambda x, y: torch.cat([x + 1, y], 0), (torch.randn(3, 4), torch.randn(3, 5))),
    "layer norm": (lambda x: F.layer_norm(x * 2, (7,)), (torch.randn(3, 4),)),
    "select": (lambda x: x.select(0, 9) + 1, (torch.randn(3, 4),)),
    "integer mean": (lambda x: (x + 1).mean(), (torch.arange(6),)),
}


def _base(e: BaseException) -> type:
    """The built-in class of an exception, looking through Dynamo's wrapping of errors met while tracing."""
    inner = getattr(e, "__cause__", None)
    if type(e).__module__.startswith("torch._dynamo") and inner is not None:
        return _base(inner)
    return next(c for c in type(e).__mro__ if c.__module__ == "builtins")


@pytest.mark.parametrize("name", sorted(WRONG))
def test_shape_errors(name: str) -> None:
    fn, args = WRONG[name]
    with pytest.raises(Exception) as want:
        fn(*args)
    with pytest.raises(Exception) as got:
        compiled(fn)(*args)
    assert issubclass(_base(got.value), _base(want.value)) or isinstance(got.value, RuntimeError)
    assert "fusewright" not in str(got.value).replace("backend='fusewright'", "").split("\n")[0]


INDEXING: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "index": lambda x, i: x[i] * 2 + 1,
    "gather": lambda x, i: torch.gather(x * 2, 0, i[:, None]) + 1,
    "index_select": lambda x, i: x.index_select(0, i).relu() + 1,
    "embedding": lambda x, i: F.embedding(i, x) * 2 + 1,
    "scatter_add": lambda x, i: torch.zeros(5, 4).scatter_add(0, i[:, None].expand(-1, 4), x[: len(i)] + 1),
    "index_add": lambda x, i: torch.zeros(5, 4).index_add(0, i, x[: len(i)] * 2),
    "nll_loss": lambda x, i: F.nll_loss(F.log_softmax(x[: len(i), :3], -1), i) * 2,
}


@pytest.mark.parametrize("bad", [99, -77])
@pytest.mark.parametrize("name", sorted(INDEXING))
def test_index_out_of_range(name: str, bad: int) -> None:
    fn, x = INDEXING[name], torch.randn(5, 4)
    call = compiled(fn)
    good = torch.tensor([0, 2, 1])
    assert_agrees(call(x, good), fn(x, good))
    wrong = torch.tensor([0, bad, 1])
    with pytest.raises((IndexError, RuntimeError)) as want:
        fn(x, wrong)
    with pytest.raises((IndexError, RuntimeError)) as got:
        call(x, wrong)
    assert type(got.value) is type(want.value)
    assert_agrees(call(x, good), fn(x, good))  # and the function still works


def test_exception_in_the_function() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x) + 1
        if x.shape[0] == 3:
            raise ValueError("three rows")
        return y

    call = compiled(fn)
    with pytest.raises(ValueError, match="three rows"):
        call(torch.randn(3, 2))
    assert_agrees(call(torch.ones(4, 2)), fn(torch.ones(4, 2)))


# ---- processes -------------------------------------------------------------------------------------

PRELUDE = f"""
import os, sys, torch, torch.nn.functional as F
torch.manual_seed(0)
def fn(x, y):
    return F.softmax(x * 2 + y, -1) * y
call = torch.compile(fn, backend={BACKEND!r})
x, y = torch.randn(700, 900), torch.randn(700, 900)
def right(x, y):
    torch.testing.assert_close(call(x, y), fn(x, y), rtol=1e-4, atol=1e-6)
"""


def _script(body: str, **env: str) -> None:
    if env:
        command, own = [sys.executable, "-c", PRELUDE + body], {**os.environ, **env}
        result = subprocess.run(command, env=own, capture_output=True, text=True, timeout=180)
    else:
        result = python("-c", PRELUDE + body)
    assert result.returncode == 0, result.stdout + result.stderr


def test_one_thread() -> None:
    _script("torch.set_num_threads(1); right(x, y); torch.set_num_threads(3); right(x, y); right(x[:5], y[:5])")


def test_one_thread_from_the_environment() -> None:
    _script("right(x, y)", OMP_NUM_THREADS="1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_after_use() -> None:
    """As data loaders do it: the child uses one thread (torch's own OpenMP threads do not survive a fork)."""
    _script(
        f"""
right(x, y)
child = os.fork()
if child == 0:
    import signal
    signal.alarm(60)
    torch.set_num_threads(1)
    right(x, y)
    right(x[:33], y[:33])
    other = torch.compile(lambda x: torch.tanh(x) * 2 + x.sum(-1, keepdim=True), backend={BACKEND!r})
    torch.testing.assert_close(other(x), torch.tanh(x) * 2 + x.sum(-1, keepdim=True), rtol=1e-4, atol=1e-4)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
right(x, y)
"""
    )
