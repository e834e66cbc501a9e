"""Bad input and what cannot be traced: messages, and state left intact."""

from __future__ import annotations

import contextlib
import gc
import warnings
import weakref

import pytest
import torch

import fusewright
from fusewright import CompilerError, FusewrightWarning, UserError
from tests.support import assert_agrees, counted, counters, random_tensor


def here(offset=0):
    import inspect

    return f"{__file__}:{inspect.currentframe().f_back.f_lineno + offset}"


def add(x, y, *, scale=1.0):
    return (x + y) * scale


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f(),
        lambda f: f(torch.ones(2)),
        lambda f: f(torch.ones(2), torch.ones(2), 3.0),
        lambda f: f(torch.ones(2), torch.ones(2), other=1),
        lambda f: f(torch.ones(2), torch.ones(2), y=1),
    ],
)
def test_wrong_arity_is_pythons_error(call):
    fused = fusewright.fuse(add)
    messages = []
    for f in (add, fused):
        with pytest.raises(TypeError) as error:
            call(f)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_wrong_arity_of_a_module():
    m = torch.nn.Linear(2, 2)
    messages = []
    for f in (m, fusewright.fuse(m)):
        with pytest.raises(TypeError) as error:
            f()
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("args", [(torch.ones(2, 3), torch.ones(4)), (torch.ones(2), "text"), (None, None)])
def test_the_functions_own_errors_are_eagers(args):
    fused = fusewright.fuse(add)
    messages = []
    for f in (add, fused):
        with pytest.raises((RuntimeError, TypeError)) as error:
            f(*args)
        messages.append((type(error.value), str(error.value)))
    assert messages[0] == messages[1]
    assert error.value.__cause__ is None and error.value.__context__ is None
    assert torch.equal(fused(torch.ones(2), torch.ones(2)), torch.full((2,), 2.0))


def test_mixed_devices():
    fused = fusewright.fuse(add)
    fused(torch.ones(2), torch.ones(2))
    messages = []
    for f in (add, fused):
        with pytest.raises(Exception) as error:
            f(torch.ones(2), torch.ones(2, device="meta")).tolist()
        messages.append((type(error.value), str(error.value)))
    assert messages[0] == messages[1]


def test_exceptions_half_way_leave_no_state():
    fail = [True]

    @fusewright.fuse
    def f(x):
        y = x * 2
        if fail[0]:
            raise KeyError("half-way")
        return y

    for _ in range(2):
        with pytest.raises(KeyError, match="half-way"):
            f(torch.ones(3))
    fail[0] = False
    before = counters()
    assert torch.equal(f(torch.ones(3)), torch.full((3,), 2.0))
    assert counted(before)["fuse_traces"] == 1 and counted(before)["fuse_declined"] == 0


def test_control_flow_on_values():
    line = here(5)

    @fusewright.fuse
    def f(x):
        y = x * 2
        if y.sum() > 0:
            return y
        return -y

    with pytest.raises(UserError) as error:
        f(torch.ones(3))
    assert str(error.value) == (
        f"{line} (if y.sum() > 0:) needs the value of a tensor, which a trace does not know. "
        "Express it with torch.where or leave it outside the fused function."
    )


@pytest.mark.parametrize(
    "body",
    [lambda x: x * x.sum().item(), lambda x: x[x > 0] * 2, lambda x: torch.nonzero(x) + 1, lambda x: x * float(x[0])],
)
def test_results_that_depend_on_values(body):
    with pytest.raises(UserError, match="needs the value of a tensor"):
        fusewright.fuse(body)(torch.ones(3))


def test_loops_over_sizes():
    line = here(5)

    @fusewright.fuse
    def f(x, y):
        z = y
        for k in range(x.shape[0]):
            z = z + x[k]
        return z

    with pytest.raises(UserError) as error:
        f(torch.ones(3, 4), torch.ones(4))
    assert str(error.value) == (
        f"{line} (for k in range(x.shape[0]):) uses x.size(0) as a Python number, so that one trace cannot serve all "
        'sizes. Pass specialize=("x",) or specialize=True to fuse: then each value has a trace of its own.'
    )
    special = fusewright.fuse(specialize="x")(f.__wrapped__)
    for n in (3, 5):
        assert torch.equal(special(torch.ones(n, 4), torch.ones(4)), torch.full((4,), n + 1.0))


@pytest.mark.parametrize(
    "body",
    [
        lambda x, n: x + sum(range(n)),
        lambda x, n: x * int(n),
        lambda x, n: x * [1, 2, 3, 4, 5, 6, 7, 8][n],
    ],
)
def test_control_flow_on_integers(body):
    with pytest.raises(UserError, match=r"uses n as a Python number"):
        fusewright.fuse(body)(torch.ones(3), 7)
    special = fusewright.fuse(body, specialize=("n",))
    for n in (7, 6):
        assert torch.equal(special(torch.ones(3), n), body(torch.ones(3), n))


def checked(x, n):
    assert x.shape[1] == 4 and x.dim() == 2, "not for these"
    if x.shape[0] != n:
        raise ValueError("not so many rows")
    return x * 2 if n == 7 else x


def test_comparisons_are_conditions_of_the_trace():
    fused = fusewright.fuse(checked)
    before = counters()
    for n in (7, 5, 6, 7, 9):
        assert torch.equal(fused(torch.ones(n, 4), n), checked(torch.ones(n, 4), n))
    assert counted(before)["fuse_traces"] == 2
    for shape, n, error in (((7, 5), 7, AssertionError), ((7, 4), 8, ValueError)):
        messages = []
        for f in (checked, fused):
            with pytest.raises(error) as e:
                f(torch.ones(shape), n)
            messages.append(str(e.value))
        assert messages[0] == messages[1]


def test_tensors_that_are_no_arguments():
    hidden = torch.ones(3)
    line = here(1)
    f = fusewright.fuse(lambda x: x * 2 + hidden)
    with pytest.raises(UserError) as error:
        f(torch.ones(3))
    assert str(error.value).startswith(line) and "no argument of the fused function" in str(error.value)


def test_options_are_checked():
    with pytest.raises(UserError, match="specialize: add has no parameter 'z', only x, y, scale"):
        fusewright.fuse(add, specialize=("z",))
    for wrong in (None, 0, (0,)):
        with pytest.raises(UserError, match="specialize: names of parameters of add, or True, are needed, not"):
            fusewright.fuse(add, specialize=wrong)
    with pytest.raises(UserError, match="option 'rng' cannot be 'none'"):
        fusewright.fuse(add, rng="none")
    with pytest.raises(UserError, match="fuse: a function or a module is needed, not 3"):
        fusewright.fuse(3)


def test_what_only_the_plain_function_can_do():
    fused = fusewright.fuse(lambda x, y: x * 2 + y)
    sparse = torch.eye(3).to_sparse()
    before = counters()
    for _ in range(2):
        assert torch.equal((fused(sparse, sparse)).to_dense(), torch.eye(3) * 3)
    assert counted(before)["fuse_traces"] == 0
    import numpy as np

    from_array = fusewright.fuse(lambda x, y: x + torch.from_numpy(y))
    assert torch.equal(from_array(torch.ones(2), np.ones(2, np.float32)), torch.full((2,), 2.0))


def test_complex_numbers():
    fused = fusewright.fuse(lambda x, y: x * y.conj() + 1)
    x = torch.randn(4, 3, dtype=torch.complex64)
    assert_agrees(fused(x, x), x * x.conj() + 1)
    assert_agrees(fused(x.conj(), x), x.conj() * x.conj() + 1)
    assert_agrees(fused(x, x.conj()), x * x + 1)


@pytest.fixture
def broken(monkeypatch):
    """A compiler that fails in AOTAutograd's hands."""
    import fusewright.fused as fused_functions

    def fail(*args, **kwargs):
        raise ValueError("planted")

    monkeypatch.setattr(fused_functions, "partition", fail)


def test_a_failure_of_ours_runs_the_plain_function(broken):
    fused = fusewright.fuse(add)
    x = random_tensor((3,)).requires_grad_()
    before = counters()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            assert torch.equal(fused(x, x), x + x)
    assert [w.category for w in seen] == [FusewrightWarning]
    assert "planted" in str(seen[0].message) and "add" in str(seen[0].message)
    assert counted(before)["fallbacks"] == 1
    with fusewright.options(fallback=False), pytest.raises(CompilerError, match="planted"):
        fused(x, x)


def test_memory_efficient_fusion():
    f = lambda x, n: torch.relu(x * 2).sum(n)
    x = random_tensor((4, 6))
    fused = fusewright.memory_efficient_fusion(f)
    before = counters()
    for shape in ((4, 6), (5, 3)):
        assert_agrees(fused(random_tensor(shape), 0), f(random_tensor(shape), 0))
    assert counted(before)["fuse_traces"] == 1
    loop = fusewright.memory_efficient_fusion(lambda x, n: x * sum(range(n)), static_argnums=(1,))
    assert torch.equal(loop(x, 5), x * 10)
    m = torch.nn.Linear(6, 2)
    fused_module = fusewright.memory_efficient_fusion(m)
    assert isinstance(fused_module, torch.nn.Module)
    torch.testing.assert_close(fused_module(x), m(x))
    with pytest.raises(UserError, match="fw_compiler cannot be chosen"):
        fusewright.memory_efficient_fusion(f, fw_compiler=lambda *a: None)
    with pytest.raises(UserError, match="does not say which parameters it has"):
        fusewright.memory_efficient_fusion(torch.sin, static_argnums=(0,))
    with pytest.raises(UserError, match="static_argnums"):
        fusewright.memory_efficient_fusion(f, static_argnums=5)


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def asks_where(x):
    return x + 0 * x.data_ptr()


def as_an_array(x):
    return torch.from_numpy(x.numpy()) + 1


def wrong(x):
    return x @ torch.ones(7)


@pytest.mark.parametrize("f", [asks_where, as_an_array, wrong, lambda x: x * float(x.shape[0])])
@pytest.mark.filterwarnings("ignore::fusewright.FusewrightWarning")
def test_arguments_of_a_call_that_is_not_traced_are_freed_with_it(f, no_collector):
    fused = fusewright.fuse(f)
    for _ in range(2):
        x = torch.ones(3)
        with contextlib.suppress(RuntimeError, UserError):
            fused(x)
        gone = weakref.ref(x)
        del x
        assert gone() is None


def test_signatures_that_cannot_be_traced_are_not_remembered_without_end(monkeypatch):
    from fusewright import fused as module

    monkeypatch.setattr(module, "TRACES", 4)

    @fusewright.fuse
    def f(x, factor):
        return x * factor + 0 * x.data_ptr()

    before = counters()
    for k in range(9):
        assert torch.equal(f(torch.ones(3), k + 0.5), torch.full((3,), k + 0.5))
    assert counted(before)["fuse_declined"] == 4
    assert len(f._fusewright.declined) == 4


def test_a_function_that_has_been_traced_often_enough_runs_unfused(monkeypatch):
    from fusewright import fused as module

    monkeypatch.setattr(module, "TRACES", 3)
    f = fusewright.fuse(lambda x, factor: x * factor + 1)
    monkeypatch.setattr(fusewright.fallback, "_warned", set())
    before = counters()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for k in range(6):
            assert torch.equal(f(torch.ones(3), k + 0.5), torch.full((3,), k + 1.5))
    assert ["has been traced 3 times" in str(w.message) for w in said] == [True]
    assert counted(before)["fuse_traces"] == 3
    assert torch.equal(f(torch.ones(5), 1.5), torch.full((5,), 2.5))  # what is known stays fused
    assert counted(before)["fuse_traces"] == 3
