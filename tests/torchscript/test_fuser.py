"""`with fusewright.fuser():` around scripted code."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest
import torch
from torch import nn

import fusewright
from fusewright import scripting
from tests.support import counted, counters, random_tensor


def r(*shape, seed=0):
    return random_tensor(shape, seed=seed)


def norm_act(x, w):
    return ((x - x.mean(-1, keepdim=True)) * w).relu() * 2 + 1


def scripted():
    return torch.jit.script(norm_act)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(self.linear(x).relu() + x) * 2

    @torch.jit.export
    def gate(self, x):
        return torch.sigmoid(x) * x + 1


@pytest.fixture(autouse=True)
def everything_is_put_back():
    yield
    assert torch.jit.ScriptFunction.__call__ is scripting._call_function
    assert torch._C.ScriptMethod.__call__ is scripting._call_method
    assert scripting._blocks == 0 and not scripting._active.get()


def converted(fn, *args):
    """(result, functions converted, fused functions traced) of a call."""
    before = counters()
    out = fn(*args)
    after = counted(before)
    return out, after["scripts_converted"], after["fuse_traces"]


def test_functions_modules_and_methods_called_inside_run_fused():
    f, m, x, w = scripted(), torch.jit.script(Net()), r(4, 8), r(8)
    want = f(x, w), m(x), m.gate(x), m.norm(x)
    with fusewright.fuser():
        for fn, args, result in (
            (f, (x, w), want[0]),
            (m, (x,), want[1]),
            (m.gate, (x,), want[2]),
            (m.norm, (x,), want[3]),
        ):
            got, made, _ = converted(fn, *args)
            torch.testing.assert_close(got, result)
            assert made == 1
            assert converted(fn, *args)[1:] == (0, 0)
    assert converted(f, r(5, 8), w)[1:] == (0, 0)


def test_gradients_reach_the_parameters_of_the_module():
    m, x = torch.jit.script(Net()).double(), r(4, 8).double()
    m(x).square().sum().backward()
    want = [p.grad.clone() for p in m.parameters()]
    m.zero_grad()
    with fusewright.fuser():
        m(x).square().sum().backward()
    for p, g in zip(m.parameters(), want, strict=True):
        torch.testing.assert_close(p.grad, g)


def test_blocks_nest_and_are_left_by_exceptions():
    f, x, w = scripted(), r(4, 8), r(8)
    outer = fusewright.fuser()
    with outer, outer:
        assert converted(f, x, w)[1] == 1
        with fusewright.fuser(enabled=False):
            assert converted(scripted(), x, w)[1] == 0
        with pytest.raises(RuntimeError), fusewright.fuser(precision="eager"):
            assert fusewright.core.options.current().precision == "eager"
            f(x, r(3))
        assert fusewright.core.options.current().precision == "default"
        assert converted(f, x, w)[1] == 0


def test_as_a_decorator():
    f = scripted()

    @fusewright.fuser()
    def step(x, w):
        return f(x, w)

    assert converted(step, r(4, 8), r(8))[1] == 1
    assert step.__name__ == "step"


def test_it_holds_for_its_own_thread_and_task():
    f, seen = scripted(), {}
    inside, outside = threading.Event(), threading.Event()

    def other():
        inside.wait(10)
        seen["other"] = scripting._active.get(), converted(scripted(), r(4, 8), r(8))[1]
        outside.set()

    thread = threading.Thread(target=other)
    thread.start()
    with fusewright.fuser():
        inside.set()
        outside.wait(10)
        seen["mine"] = converted(f, r(4, 8), r(8))[1]
    thread.join()
    assert seen == {"other": (False, 0), "mine": 1}

    async def task(on):
        if on:
            with fusewright.fuser():
                await asyncio.sleep(0.01)
                return scripting._active.get()
        await asyncio.sleep(0.005)
        return scripting._active.get()

    async def both():
        return await asyncio.gather(task(True), task(False))

    assert asyncio.run(both()) == [True, False]


def test_threads_enter_and_leave_at_the_same_time():
    f, wrong = scripted(), []
    x, w = r(4, 8), r(8)
    want = f(x, w)

    def work():
        for _ in range(50):
            with fusewright.fuser():
                if not torch.allclose(f(x, w), want):
                    wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_it_stays_out_of_traces_and_of_torch_compile():
    f, x, w = scripted(), r(4, 8), r(8)
    with fusewright.fuser():
        traced = torch.jit.trace(lambda x, w: f(x, w) * 2, (x, w))
        torch._dynamo.reset()
        compiled = torch.compile(lambda x, w: f(x, w) * 2, backend="eager", fullgraph=True)
        before = counters()
        torch.testing.assert_close(compiled(x, w), norm_act(x, w) * 2)
        assert counted(before)["scripts_converted"] == 0
    torch.testing.assert_close(traced(x, w), norm_act(x, w) * 2)

    @torch.jit.script
    def caller(x, w):
        return f(x, w) + 1

    with fusewright.fuser():
        torch.testing.assert_close(caller(x, w), norm_act(x, w) + 1)


def test_modules_under_torch_compile():
    torch._dynamo.reset()
    m, x = torch.jit.script(Net()), r(4, 8)
    want = m(x) * 2
    with fusewright.fuser():
        torch.testing.assert_close(torch.compile(lambda x: m(x) * 2, backend="eager")(x), want)


def test_converted_functions_do_not_keep_scripted_ones_alive():
    f, m = scripted(), torch.jit.script(Net())
    with fusewright.fuser():
        f(r(4, 8), r(8))
        m(r(4, 8))
    refs = [weakref.ref(f), weakref.ref(m)]
    gc.collect()
    known = len(scripting._known)
    del f, m
    gc.collect()
    assert [ref() for ref in refs] == [None, None] and len(scripting._known) == known - 2


def test_what_cannot_be_converted_runs_as_scripted(caplog):
    class_of_ours = torch.jit.script(with_class)
    before = counters()
    with fusewright.fuser(), caplog.at_level("INFO", "fusewright"):
        for _ in range(2):
            torch.testing.assert_close(class_of_ours(r(3)), with_class(r(3)))
    assert counted(before)["scripts_declined"] == 1
    assert "with_class runs as scripted: class: it makes a" in caplog.text


@torch.jit.script
class Scale:
    def __init__(self, by: float):
        self.by = by

    def __call__(self, x):
        return x * self.by


def with_class(x):
    return Scale(2.0)(x) + 1


# ---- the old fusers' switches -------------------------------------------------------------------------


def kernels(fn, *args):
    """(kernels, operations left to torch, reasons) of what a call compiles."""
    before = counters()
    fn(*args)
    after = counted(before)
    return after["groups_formed"], after["opaque_calls"]


def test_single_nodes():
    def one(x):
        return x.exp()

    x = r(4)
    with fusewright.fuser():
        assert kernels(torch.jit.script(one), x) == (0, 0)  # no region: TorchScript's own node is as good
    with fusewright.fuser(single_op_groups=True):
        assert kernels(torch.jit.script(one), x) == (1, 0)


def test_horizontal_fusion():
    def siblings(x, y):
        return (x + 1) * 2, (x - y[0]) * 3

    x = r(1 << 16)
    with fusewright.fuser():
        assert kernels(torch.jit.script(siblings), x, x)[0] == 1
    with fusewright.fuser(siblings=False):
        assert kernels(torch.jit.script(siblings), x, x)[0] == 2


def test_skipped_node_kinds():
    def three(x):
        return (x * 2 + 1).exp() * x + x

    x = r(64)
    with fusewright.fuser():
        assert kernels(torch.jit.script(three), x) == (1, 0)
    for spelling in ("aten::exp", "op:aten.exp", ["aten::exp"]):
        with fusewright.fuser(disable=spelling):
            f = torch.jit.script(three)
            assert kernels(f, x) == (2, 1)
            torch.testing.assert_close(f(x), three(x))


def test_no_fallback(monkeypatch):
    from fusewright import fused

    monkeypatch.setattr(fused, "partition", lambda *a, **k: 1 / 0)
    f, x = scripted(), r(4, 8).requires_grad_()
    with pytest.raises(fusewright.CompilerError), fusewright.fuser(fallback=False):
        f(x, r(8))
    with pytest.warns(fusewright.FusewrightWarning), fusewright.fuser():
        torch.testing.assert_close(f(x, r(8)), norm_act(x, r(8)))


def test_guards_and_bad_options():
    f, x, w = scripted(), r(4, 8), r(8)
    with fusewright.fuser(guards=False):
        torch.testing.assert_close(f(x, w), norm_act(x, w))
    with pytest.raises(fusewright.UserError, match="unknown option 'single_node'"):
        fusewright.fuser(single_node=True)
