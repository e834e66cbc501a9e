"""New sizes on a GPU: a rule stands in for the scheduler, and decides as it does. No launch does anything here."""

from __future__ import annotations

import itertools
import threading

import pytest
import torch
import torch.nn.functional as F

import fusewright
from fusewright.bench.null import NullDriver
from fusewright.run import devices, gpu
from fusewright.schedule.device import Gpu
from tests.support import no_fallbacks

PROGRAMS = {
    "pointwise": lambda x, w: F.gelu(x + w) * 2,
    "softmax": lambda x, w: torch.softmax(x * 2, -1) + w,
    "layer norm": lambda x, w: F.layer_norm(x + 1, x.shape[-1:], w),
    "dropout": lambda x, w: F.dropout(x, 0.5) + w,
    "sums": lambda x, w: ((x * w).sum(0), (x + w).sum(1), x.sum()),
    "down": lambda x, w: torch.softmax(x + w, 0),
    "transpose": lambda x, w: (x.t() * 2).contiguous() + 1,
    "pieces": lambda x, w: F.pad(torch.cat([x, -x], 1), (1, 3)).relu(),
    "scan": lambda x, w: torch.cumsum(x * w, 1),
    "size as a number": lambda x, w: x / x.shape[0] + w * x.shape[1],
}
SIZES = [(4, 32), (5, 32), (64, 1024), (65, 1024), (63, 1028), (8192, 64), (3, 4099), (1000, 1), (1, 1000), (300, 257)]


@pytest.fixture
def groups(monkeypatch):
    """The GPU groups that have been made."""
    found = []
    before = gpu.GpuGroup.__init__

    def init(self, *args):
        before(self, *args)
        found.append(self)

    monkeypatch.setattr(gpu.GpuGroup, "__init__", init)
    torch._dynamo.reset()
    with devices.use("cpu", NullDriver()), fusewright.options(disk_cache=False), no_fallbacks():
        yield found
    torch._dynamo.reset()


def compiled(name, size=SIZES[0]):
    x, w = torch.randn(size, requires_grad=True), torch.randn(size[1])
    out = torch.compile(PROGRAMS[name], backend="fusewright", dynamic=True)(x, w)
    sum(t.sum() for t in (out if isinstance(out, tuple) else (out,))).backward()


def scheduled(g, values, alignment):
    """(schedule, size parameters) as the scheduler decides."""
    env = dict(zip(g.symbols, values, strict=True))
    k, schedule, extra = g.lower(gpu.sizes_of(env), alignment)
    return schedule, k.evaluate({**env, **extra})


@pytest.mark.every(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_rules_decide_as_the_scheduler_does(name, groups):
    compiled(name)
    used = [g for g in groups if g.memo]
    assert used
    for g in used:
        g.meanwhile = None  # sizes without a rule wait for the scheduler
        hits = 0
        for size, alignment in itertools.product(SIZES, (16, 4)):
            values = [size[k % 2] for k in range(len(g.symbols))]
            if g.known(values, alignment) is None:
                g.make(*values, alignment % 16)
            for other in (size, *SIZES):
                values = [other[k % 2] for k in range(len(g.symbols))]
                found = g.known(values, alignment)
                if found is not None:
                    hits += 1
                    kernel, code, numbers = found
                    schedule, want = scheduled(g, values, alignment)
                    assert (g.schedule, numbers) == (schedule, want)
                    assert g.kernels[schedule] == (kernel, code)
        assert hits


def test_sizes_near_each_other_share_a_rule(groups, monkeypatch):
    compiled("layer norm", (2000, 1024))
    planned = []
    monkeypatch.setattr(gpu, "plan", lambda *args: planned.append(args))
    for g in groups:
        if g.memo:
            g.meanwhile = None
            before = len(g.kernels)
            for rows in range(1995, 2006):
                values = [1024 if v == 1024 else rows for v in next(iter(g.memo))[:-1]]
                assert g.make(*values, 0) is not None
            assert len(g.kernels) == before
    assert not planned


def test_a_schedule_chosen_by_people_is_asked_for_each_size(groups):
    compiled("softmax")
    g = next(g for g in groups if g.memo)
    asked = []
    g.rules.clear()
    g.meanwhile = None
    g.choose = lambda hint, alignment: asked.append(alignment)
    for k in range(3):
        g.make(*[40 + k] * len(g.symbols), 0)
    assert len(asked) == 3 and not g.rules


def test_rules_are_bounded(groups):
    compiled("softmax")
    g = next(g for g in groups if g.memo)
    g.meanwhile = None
    for n in (1, 2, 3, 5, 8, 17, 33, 100, 500, 1000, 3000, 9000, 40000):
        g.make(*[n] * len(g.symbols), 0)
    assert len(g.rules[16]) <= gpu.RULES


def test_arguments_reach_the_kernel():
    """Pointers, sizes and scratch memory, each where the kernel's parameters are; from several threads."""
    import ctypes

    seen = []
    lock = threading.Lock()

    class Reading(NullDriver):
        native = None

        def launch(self, handle, blocks, threads, shared, args, stream):
            table = (ctypes.c_uint64 * 4).from_address(args)
            with lock:
                seen.append(tuple(ctypes.c_uint64.from_address(a).value for a in table[:3]))

    torch._dynamo.reset()
    with devices.use("cpu", Reading(Gpu((9, 0), 132, 50 << 20, 227 << 10))), fusewright.options(disk_cache=False):
        f = fusewright.fuse(lambda x, y: torch.relu(x + y) * 2)
        with torch.no_grad():
            f(torch.randn(40, 8), torch.randn(40, 8))
            seen.clear()
            want = []

            def work():
                for _ in range(200):
                    x, y = torch.randn(40, 8), torch.randn(40, 8)
                    out = f(x, y)
                    with lock:
                        want.append((x.data_ptr(), y.data_ptr(), out.data_ptr()))

            workers = [threading.Thread(target=work) for _ in range(3)]
            for w in workers:
                w.start()
            for w in workers:
                w.join()
    assert sorted(seen) == sorted(want)
