"""What functions do besides computing on tensors: a trace would do it once, so the plain function runs."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

import fusewright
from tests.support import assert_agrees, counted, counters, random_tensor


def test_containers_that_are_changed():
    def f(items, cache):
        items.append(items[0] * 2)
        cache["sum"] = items[0] + items[1]
        return items[0] + 1

    fused = fusewright.fuse(f)
    for _ in range(3):
        mine, theirs = ([torch.ones(2)], {}), ([torch.ones(2)], {})
        assert_agrees((fused(*mine), mine), (f(*theirs), theirs))


class Settings:
    def __init__(self, **values):
        self.__dict__.update(values)


@pytest.fixture
def known_to_torch():
    pytree.register_pytree_node(Settings, lambda s: ([s.__dict__], None), lambda parts, _: Settings(**parts[0]))
    yield
    pytree._deregister_pytree_node(Settings)


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda: defaultdict(int), Settings])
def test_items_of_all_kinds_of_dictionaries(kind, known_to_torch):
    def f(counts, x):
        items = vars(counts) if isinstance(counts, Settings) else counts
        items["n"] = items["n"] + 1
        return x * items["n"]

    counts, x = kind(), torch.ones(2)
    (vars(counts) if isinstance(counts, Settings) else counts)["n"] = 1
    fused = fusewright.fuse(f)
    assert [fused(counts, x)[0].item() for _ in range(3)] == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("kind", [list, deque, set])
def test_items_of_other_containers(kind):
    def f(seen, x):
        (seen.add if isinstance(seen, set) else seen.append)(len(seen))
        return x * len(seen)

    seen, fused = kind(), fusewright.fuse(f)
    assert [fused(seen, torch.ones(2))[0].item() for _ in range(3)] == [1.0, 2.0, 3.0]
    assert list(seen) == [0, 1, 2]


@pytest.mark.parametrize("nested", [False, True])
def test_what_a_module_collects(nested):
    """In attributes, and in what those hold; the module is an argument, or in one."""

    class Collecting(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen, self.cache = [], {"layers": [set()]}

        def forward(self, x):
            self.seen.append(len(self.seen))
            self.cache["layers"][0].add(len(self.seen))
            return x * len(self.cache["layers"][0])

    m, fused = Collecting(), fusewright.fuse(lambda m, x: m[0](x) if nested else m(x))
    assert [fused([m] if nested else m, torch.ones(2))[0].item() for _ in range(3)] == [1.0, 2.0, 3.0]
    assert m.seen == [0, 1, 2] and m.cache == {"layers": [{1, 2, 3}]}


def test_attributes_of_modules_in_a_list():
    torch.manual_seed(0)
    m, x = Counting(), random_tensor((2, 3))
    fused = fusewright.fuse(lambda modules, x: modules[0](x))
    for step in range(1, 4):
        torch.testing.assert_close(fused([m], x), m.linear(x) * step)


def test_what_the_function_changes_for_itself_is_no_obstacle():
    def f(items):
        items = [*items, items[0] * 2]
        items.append(items[1] + 1)
        return items[-1] + 1

    before = counters()
    fused = fusewright.fuse(f)
    assert torch.equal(fused([torch.ones(2)]), torch.full((2,), 4.0))
    assert counted(before)["fuse_traces"] == 1


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.steps = nn.Linear(3, 3), 0

    def forward(self, x):
        self.steps += 1
        return self.linear(x) * self.steps


def test_attributes_that_are_assigned():
    torch.manual_seed(0)
    mine = Counting()
    fused, x = fusewright.fuse(mine), random_tensor((2, 3))
    for step in range(1, 4):
        torch.testing.assert_close(fused(x), mine.linear(x) * step)
        assert mine.steps == step


def test_results_that_are_kept_in_a_module():
    class Keeping(nn.Module):
        def forward(self, x):
            self.last = torch.sigmoid(x)
            return self.last * 2

    m = nn.Sequential(Keeping(), nn.Tanh())
    fused = fusewright.fuse(m)
    for n in (2, 3):
        x = random_tensor((n,))
        torch.testing.assert_close(fused(x), m(x))
        assert type(m[0].last) is torch.Tensor and m[0].last.shape == (n,)


def test_what_is_set_up_at_first():
    """A cache that is filled by the first call: the function is fused from the next one on."""

    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.size = None

        def forward(self, x):
            if self.size is None:
                self.size = 4
            return torch.sigmoid(x) * self.size

    m = Cached()
    fused, x, before = fusewright.fuse(m), random_tensor((3,)), counters()
    for _ in range(3):
        torch.testing.assert_close(fused(x), torch.sigmoid(x) * 4)
    assert counted(before)["fuse_traces"] == 1 and m.size == 4


def test_objects_whose_method_is_fused():
    class Holder:
        def __init__(self):
            self.calls = 0

        @fusewright.fuse
        def f(self, x):
            self.calls += 1
            return x * 2 + 1

    h = Holder()
    for _ in range(3):
        h.f(torch.ones(3))
    assert h.calls == 3


def test_a_trace_that_fails_leaves_objects_as_they_were():
    class Failing(Counting):
        def forward(self, x):
            self.steps += 1
            self.seen.append(x)
            if bool(x.sum() > 0):
                return x
            return -x

    m = Failing()
    m.seen = [1]
    with pytest.raises(fusewright.UserError):
        fusewright.fuse(m)(torch.ones(3))
    assert m.steps == 0 and m.seen == [1]


def test_gradients_that_a_function_asks_for():
    def f(x):
        with torch.enable_grad():
            return torch.sigmoid(x) * 2, torch.ones(2, requires_grad=True) * 1

    fused = fusewright.fuse(f)
    for grad in (True, False, True, False):
        for needs in (True, False):
            x = random_tensor((3,)).requires_grad_(needs)
            with torch.set_grad_enabled(grad):
                got, want = fused(x), f(x)
            assert [t.requires_grad for t in got] == [t.requires_grad for t in want]
            assert_agrees([t.detach() for t in got], [t.detach() for t in want])


def test_tensors_of_inference_mode_where_gradients_are_recorded():
    f = lambda x, w: torch.sigmoid(x) * torch.tanh(w)
    fused = fusewright.fuse(f)
    with torch.inference_mode():
        x = random_tensor((3,))
    w = random_tensor((3,), seed=1).requires_grad_()
    fused(random_tensor((3,)), w)
    for _ in range(2):
        (got,) = torch.autograd.grad(fused(x, w).sum(), w)
        (want,) = torch.autograd.grad(f(x, w).sum(), w)
        torch.testing.assert_close(got, want)
    with torch.no_grad():
        torch.testing.assert_close(fused(x, w), f(x, w))
