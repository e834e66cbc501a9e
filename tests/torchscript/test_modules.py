"""Scripted and traced modules: what is shared with them, what changes, what is called beside `forward`."""

import copy
import enum
import io
from typing import Dict, Optional  # noqa: UP035  (TorchScript reads these)

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import fusewright
from tests.support import counted, counters, random_tensor
from tests.torchscript.support import regions, script_of

pytestmark = pytest.mark.filterwarnings("error::fusewright.FusewrightWarning")


class Block(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)
        self.scale = 2.0

    def forward(self, x, shift: float = 0.0):
        return x + self.drop(F.gelu(self.linear(self.norm(x)))) * self.scale + shift

    @torch.jit.export
    def gate(self, x):
        return torch.sigmoid(self.linear(x)) * x * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.bn = nn.BatchNorm1d(8)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        self.seen.add_(x.size(0))
        return self.bn(x).relu() * 2


def pair(make=Net):
    """A scripted module, another one that has its values, and that one fused."""
    torch.manual_seed(0)
    plain, other = torch.jit.script(make()), torch.jit.script(make())
    other.load_state_dict(plain.state_dict())
    return plain, other, fusewright.fuse(other)


def first(m):
    """The first block; indexing would give the Python module that was scripted."""
    return getattr(m.blocks, "0")


def x_of(n=4):
    return random_tensor((n, 8))


def test_forward_and_backward():
    plain, other, fused = (m.double() for m in pair())
    assert script_of(fused).whole
    with fusewright.options(rng="eager"):
        for n in (4, 6, 4):
            results = []
            for m in (plain, fused):
                torch.manual_seed(n)
                m.zero_grad()
                out = m(x_of(n).double())
                out.square().sum().backward()
                results.append((out.detach(), [p.grad.clone() for p in m.parameters()]))
            torch.testing.assert_close(*results)
    for (name, a), (_, b) in zip(plain.state_dict().items(), other.state_dict().items(), strict=True):
        torch.testing.assert_close(a, b, msg=name)
    assert other.seen == 14 and other.bn.num_batches_tracked == 3


def test_parameters_and_buffers_are_shared():
    plain, other, fused = pair()
    mine, theirs = dict(fused.named_parameters()), dict(other.named_parameters())
    assert list(mine) == list(theirs) and all(mine[n] is theirs[n] for n in mine)
    fused.eval()
    plain.eval()
    with torch.no_grad():
        for m in (plain, other):
            first(m).linear.weight.mul_(0.5)
            m.bn.running_mean.fill_(0.25)
        torch.testing.assert_close(fused(x_of()), plain(x_of()))
    halved = {k: v * 0.5 if v.is_floating_point() else v for k, v in plain.state_dict().items()}
    for m in (plain, fused):
        m.load_state_dict(halved)
        m.double()
    torch.testing.assert_close(fused(x_of().double()), plain(x_of().double()))
    assert other.bn.weight.dtype is torch.float64


def test_a_parameter_that_is_replaced():
    plain, other, fused = pair()
    for m in (plain, other, fused):
        m.eval()
    fused(x_of())
    for m in (plain, other):
        first(m).norm.weight = nn.Parameter(torch.full((8,), 3.0))
    torch.testing.assert_close(fused(x_of()), plain(x_of()))


def test_a_submodule_that_is_replaced():
    plain, other, fused = pair()
    plain.eval()
    fused.eval()
    fused(x_of())
    for m in (plain, other):
        setattr(m.blocks, "0", getattr(m.blocks, "1"))
    torch.testing.assert_close(fused(x_of()), plain(x_of()))


def test_training_and_evaluation():
    plain, other, fused = pair()
    assert fused.training and other.training
    fused.eval()
    assert not other.training and not first(other).drop.training
    plain.eval()
    torch.testing.assert_close(fused(x_of()), plain(x_of()))
    fused.train()
    assert other.bn.training and not torch.equal(fused(x_of()), fused(x_of()))


def test_other_methods_attributes_and_defaults():
    plain, _, fused = pair(Block)
    for m in (plain, fused):
        m.eval()
    torch.testing.assert_close(fused(x_of(), shift=1.5), plain(x_of(), 1.5))
    torch.testing.assert_close(fused(x_of(), 2), plain(x_of(), 2.0))
    torch.testing.assert_close(fused.gate(x_of()), plain.gate(x_of()))
    assert fused.gate is fused.gate and fused.scale == 2.0
    assert "LayerNorm" in str(fused) and "fused" in str(fused)
    method = fusewright.fuse(plain.gate)
    torch.testing.assert_close(method(x_of()), plain.gate(x_of()))


def test_hooks():
    plain, _, fused = pair(Block)
    for m in (plain, fused):
        m.eval()
    seen = []
    fused.register_forward_hook(lambda m, args, out: seen.append("after") or out * 2)
    fused.register_forward_pre_hook(lambda m, args: seen.append("before"))
    torch.testing.assert_close(fused(x_of()), plain(x_of()) * 2)
    assert seen == ["before", "after"]


def test_copies_and_saving():
    plain, other, fused = pair(Block)
    twin = copy.deepcopy(fused)
    with torch.no_grad():
        other.linear.weight.zero_()
    plain.eval()
    torch.testing.assert_close(twin.eval()(x_of()), plain(x_of()))
    buffer = io.BytesIO()
    torch.jit.save(fused._plain, buffer)
    buffer.seek(0)
    loaded = fusewright.fuse(torch.jit.load(buffer))
    torch.testing.assert_close(loaded.eval()(x_of()), fused.eval()(x_of()))


def test_traced_and_frozen_modules():
    module = Net().eval()
    traced = torch.jit.trace(module, x_of())
    frozen = torch.jit.freeze(torch.jit.script(copy.deepcopy(module)))
    for m in (traced, frozen):
        fused = fusewright.fuse(m)
        assert script_of(fused).whole
        for n in (4, 7):
            torch.testing.assert_close(fused(x_of(n)), module(x_of(n)))
    fused = fusewright.fuse(traced)
    fused(x_of()).sum().backward()
    assert module.blocks[0].linear.weight.grad is not None  # a traced module has the parameters of the module


class Stateful(nn.Module):
    last: Optional[torch.Tensor]  # noqa: UP045
    history: Dict[str, torch.Tensor]  # noqa: UP006

    def __init__(self):
        super().__init__()
        self.calls, self.last, self.history = 0, None, {}
        self.w = nn.Parameter(torch.ones(8))

    def forward(self, x):
        self.calls += 1
        y = x * self.w + self.calls
        last = self.last
        if last is not None:
            y = y * 2 + last
        self.last = y.detach() * 0.5
        return y * self.calls

    @torch.jit.export
    def remember(self, x):
        self.history["x"] = x
        return x * 2 + 1


def test_attributes_that_the_program_assigns():
    plain, other, fused = pair(Stateful)
    assert regions(fused) >= 1
    for _ in range(4):
        torch.testing.assert_close(fused(x_of()), plain(x_of()))
    assert other.calls == plain.calls == 4
    torch.testing.assert_close(other.last, plain.last)


@pytest.mark.filterwarnings("default::fusewright.FusewrightWarning")
def test_containers_of_the_module_that_change_stay_with_torchscript():
    _, other, fused = pair(Stateful)
    with pytest.warns(fusewright.FusewrightWarning, match="runs as scripted: attribute: it changes"):
        assert torch.equal(fused.remember(x_of()), x_of() * 2 + 1)
    assert torch.equal(other.history["x"], x_of())


def test_modules_on_the_meta_device_and_half_precision():
    plain, _, fused = pair(Block)
    for m in (plain, fused):
        m.eval()
        m.to(torch.bfloat16)
    with fusewright.options(precision="eager"):
        torch.testing.assert_close(fused(x_of().bfloat16()), plain(x_of().bfloat16()))
    for m in (plain, fused):
        m.to("meta")
    assert fused(x_of().to("meta", torch.bfloat16)).shape == (4, 8)


def test_autocast():
    plain, _, fused = pair()
    for m in (plain, fused):
        m.eval()
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a, b = fused(x_of()), plain(x_of())
        assert a.dtype is b.dtype
        torch.testing.assert_close(a, b)
    torch.testing.assert_close(fused(x_of()), plain(x_of()))


class Layout(str, enum.Enum):
    NCHW = "NCHW"
    NHWC = "NHWC"


class Turned(nn.Module):
    """As patch embeddings have it: which layout is an attribute, compared with members of an enumeration."""

    layout: Layout

    def __init__(self, layout: Layout):
        super().__init__()
        self.layout = layout

    def forward(self, x):
        y = x * 2 + 1
        if self.layout != Layout.NCHW:
            y = y.permute(0, 2, 3, 1) + 1
        if self.layout == Layout.NHWC:
            y = y.sin()
        return y * 3


@pytest.mark.parametrize("layout", [Layout.NCHW, Layout.NHWC])
def test_members_of_an_enumeration_that_are_strings(layout):
    fused = fusewright.fuse(torch.jit.script(Turned(layout)))
    x = random_tensor((2, 3, 4, 5))
    torch.testing.assert_close(fused(x), Turned(layout)(x))
    assert not script_of(fused).refused and regions(fused) == 1


class Heads(nn.Module):
    """Sizes of which some are never used, beside and inside branches on those of a parameter."""

    def __init__(self, width: int = 8):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, width))
        self.grid = (2, 2)

    def forward(self, x):
        _b, _n, _c = x.shape
        y = (x * self.weight + 1).tanh()
        if self.weight.shape[0] % 4 == 0:
            y = y + self.weight.mean()
        batch, rows, columns = y.shape
        h, _w = self.grid
        return y.reshape(batch, rows, columns // 2, 2).sum(-1) * 2 + h


def test_sizes_that_are_not_used_and_sizes_of_parameters():
    module = Heads()
    fused = fusewright.fuse(torch.jit.script(module))
    assert not script_of(fused).refused and regions(fused) == 1
    before = counters()
    for shape in ((2, 3, 8), (5, 7, 8)):
        x = random_tensor(shape)
        torch.testing.assert_close(fused(x), module(x))
    assert counted(before)["fuse_traces"] == 1
    module.weight = fused.weight = nn.Parameter(torch.linspace(-2, 1, 6))
    x = random_tensor((5, 7, 6))
    torch.testing.assert_close(fused(x), module(x))
    assert counted(before)["fuse_traces"] == 2


class Checked(nn.Module):
    """Sizes that a message has, behind what a region computes, and one that nothing has."""

    def forward(self, x):
        y = (x * 2 + 1).tanh() * 3
        _rows, columns = y.shape
        torch._assert(columns == 8, f"{columns} columns instead of 8")
        return (y + 1).sin() * 2


def test_sizes_between_regions():
    fused = fusewright.fuse(torch.jit.script(Checked()))
    assert not script_of(fused).refused
    torch.testing.assert_close(fused(x_of()), Checked()(x_of()))
    with pytest.raises(torch.jit.Error, match="7 columns instead of 8"):
        fused(random_tensor((3, 7)))


def test_submodules_whose_names_are_alike():
    """Joined by underscores, the paths of two are the same; others are no identifiers."""

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Sequential()
            self.a.add_module("b_c", nn.Linear(8, 8))
            self.a_b = nn.Sequential()
            self.a_b.add_module("c", nn.Linear(8, 8))
            self.blocks = nn.Sequential()
            self.blocks.add_module("block1-0", nn.LayerNorm(8))
            self.blocks.add_module("block1_0", nn.LayerNorm(8))

        def forward(self, x):
            return self.blocks(self.a_b(self.a(x).tanh() * 2) + 1).relu()

    module = Outer()
    for k, p in enumerate(module.parameters()):
        nn.init.uniform_(p, -1, 1 + k)
    fused = fusewright.fuse(torch.jit.script(module))
    assert not script_of(fused).refused
    torch.testing.assert_close(fused(x_of()), module(x_of()))


class Shifted(nn.Module):
    """A list of the module's that is copied before it changes, as windowed attention has it."""

    def __init__(self):
        super().__init__()
        self.shift = [1, 2]

    def forward(self, x):
        shift = self.shift.copy()
        half = self.shift[:1] + [3]
        if x.size(0) <= 4:
            shift[0] = 0
        half.append(x.size(1))
        return (torch.roll(x * 2, shift, (0, 1)) + 1).tanh() * (len(half) + half[2] + self.shift[0])


def test_copies_of_lists_that_are_attributes():
    module = Shifted()
    fused = fusewright.fuse(torch.jit.script(module))
    assert not script_of(fused).refused
    for n in (3, 9, 3):
        torch.testing.assert_close(fused(x_of(n)), module(x_of(n)))
    assert module.shift == [1, 2]


class OnlyExported(nn.Module):
    @torch.jit.export
    def encode(self, x):
        return (x * 2 + 1).relu()


@pytest.mark.parametrize("make", [fusewright.fuse, fusewright.compile])
def test_a_module_without_forward(make):
    scripted = torch.jit.script(OnlyExported())
    fused, x = make(scripted), random_tensor((4,))
    assert torch.equal(fused.encode(x), scripted.encode(x))
    with pytest.raises(NotImplementedError, match="forward"):
        fused(x)
