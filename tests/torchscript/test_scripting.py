"""What becomes of a graph: regions, source, reasons, reports; and what stays with TorchScript."""

import enum
import os
import subprocess
import sys

import pytest
import torch
from torch import nn

import fusewright
from tests.processes import python
from tests.support import counted, counters, random_tensor
from tests.torchscript.support import agree, script_of


def r(*shape, dtype=torch.float32, seed=0):
    return random_tensor(shape, dtype, seed)


# ---- what cannot be converted -------------------------------------------------------------------------


@torch.jit.script
class Counter:
    def __init__(self):
        self.n = 0

    def add(self, x):
        self.n += 1
        return x + self.n


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@torch.jit.interface
class Activation(nn.Module):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        pass


class Holder(nn.Module):
    act: Activation

    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x) * 2


def classes(x):
    c = Counter()
    return c.add(x) * c.n


def enums(x, c: Color):
    if c == Color.RED:
        return x * 2 + 1
    return x - 1


def autocasts(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        z = x @ y
    return z * 2


DECLINED = {
    "classes": (classes, lambda: (r(3),), "class: it makes a __torch__.*Counter"),
    "autocast": (autocasts, lambda: (r(3, 3), r(3, 3)), "class: it makes a __torch__.torch.amp"),
}


@pytest.mark.parametrize("name", DECLINED)
def test_what_cannot_be_converted_runs_as_scripted(name):
    fn, make, why = DECLINED[name]
    scripted = torch.jit.script(fn)
    before = counters()
    with pytest.warns(fusewright.FusewrightWarning, match=f"{fn.__name__} runs as scripted: .*{why.partition(':')[0]}"):
        fused = fusewright.fuse(scripted)
    assert counted(before)["scripts_declined"] == 1
    assert len(script_of(fused).reasons) == 1
    for _ in range(2):
        torch.testing.assert_close(fused(*make()), scripted(*make()))
    with pytest.raises(RuntimeError):
        fused()


def test_enumerations():
    agree(torch.jit.script(enums), lambda: (r(3), Color.RED), lambda: (r(3), Color.BLUE), bits=True)


def test_modules_behind_an_interface_run_as_scripted():
    scripted = torch.jit.script(Holder())
    with pytest.warns(fusewright.FusewrightWarning, match="act is known by an interface only"):
        fused = fusewright.fuse(scripted)
    assert torch.equal(fused(r(3)), scripted(r(3)))


def test_a_failure_while_reading_is_no_error(monkeypatch):
    from fusewright import scripting

    monkeypatch.setattr(scripting, "read", lambda *a: 1 / 0)
    with pytest.warns(fusewright.FusewrightWarning, match="ZeroDivisionError"):
        fused = fusewright.fuse(torch.jit.script(checks))
    assert torch.equal(fused(r(3, 4), 2), checks(r(3, 4), 2))


# ---- source and reasons -------------------------------------------------------------------------------


def checks(x, k: int):
    assert x.dim() == 2
    y = x * 2 + 1
    if k > 3:
        y = y * x - k
    return y.relu() * 3


def test_source_reads_as_the_program():
    script = script_of(fusewright.fuse(torch.jit.script(checks)))
    text = script.source.text()
    assert text.splitlines()[0] == "def forward(x, k):"
    for line in ("(k > 3)", "if v", "_checks_0(x)", "return _checks_2("):
        assert line in text, text
    (reason,) = script.reasons
    assert reason.endswith("prim::If depends on sizes") and f"{__file__}:" in reason and "(y = y * x - k)" in reason


def test_values_die_after_their_last_use():
    """As in the interpreter: a driver must not hold on to what it has handed on."""
    import weakref

    alive = []

    @torch.jit.ignore
    def look(x):
        alive.append([ref() is not None for ref in refs])

    refs = []

    @torch.jit.ignore
    def keep(x):
        refs.append(weakref.ref(x))
        return x

    def chain(x, k: int):
        a = keep(x * 2 + 1)
        b = keep(a * 3 - x)
        look(b)
        if k > 3:
            b = keep(b * 2 + 1)
        for _ in range(k):
            b = keep(b * 2 - 1)
        look(b)
        return b + 1

    fused = fusewright.fuse(torch.jit.script(chain))
    with torch.no_grad():
        fused(r(4), 5)
    assert alive == [[False, True], [False] * 7 + [True]]


def test_lines_of_the_user_are_in_reports():
    report = fusewright.explain(torch.jit.script(checks), r(3, 4), 5)
    assert len(report.graphs) == 3 and len(report.breaks) == 1
    lines = [line for k in report.kernels for line in k.lines]
    assert any("y = x * 2 + 1" in line and __file__ in line for line in lines)
    assert "depends on sizes" in str(report)
    again = fusewright.explain(fusewright.fuse(torch.jit.script(checks)), r(3, 4).requires_grad_(), 1)
    assert {g.kind for g in again.graphs} == {"forward", "backward"}
    module = fusewright.explain(torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.LayerNorm(4))), r(3, 4))
    assert not module.breaks and module.kernels


def test_check_mode_and_other_options_hold_for_regions():
    scripted = torch.jit.script(checks)
    before = counters()
    with fusewright.options(check=True):
        fusewright.fuse(scripted)(r(3, 4), 5)
    assert counted(before)["checks"] == 3
    exact = fusewright.fuse(scripted, precision="eager")
    assert torch.equal(exact(r(3, 4), 5), scripted(r(3, 4), 5))


def test_regions_do_not_depend_on_hashes():
    """The same program is divided and written in the same way in every process."""
    code = (
        "import torch, fusewright\nfrom tests.torchscript.test_scripting import checks\n"
        "from tests.torchscript.test_control_flow import dictionaries\n"
        "for f in (checks, dictionaries):\n"
        "    s = fusewright.fuse(torch.jit.script(f))._fusewright\n"
        "    print(s.source.text(), s.reasons, [m[1]._fusewright.names for m in s.made.values()])\n"
    )
    command, env = [sys.executable, "-W", "ignore", "-c", code], {**os.environ, "PYTHONHASHSEED": "1"}
    second = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    first = python("-c", code)  # with the hashes that its process drew
    assert first.stdout == second and second, first.stderr


# ---- operators ----------------------------------------------------------------------------------------


def test_operators_that_only_the_interpreter_has():
    def exotic(x, a: float, words: str):
        parts = words.split(" ")
        n = len(parts) + int(math_like(a)) + words.find("b")
        return x * n + 1, parts, words.upper() + "!", round(a), divmod(7, 2), float("1.5"), ord(words[0])

    def math_like(a: float):
        return torch.jit.annotate(float, a) ** 2

    agree(torch.jit.script(exotic), lambda: (r(3), 2.5, "a b c"), bits=True)


def test_single_operations_are_left_alone():
    def one(x):
        return x.relu()

    fused = agree(torch.jit.script(one), lambda: (r(3),), bits=True)
    assert not script_of(fused).split.regions
    with fusewright.options(single_op_groups=True):
        assert script_of(fusewright.fuse(torch.jit.script(one))).whole


def test_recurrent_networks_of_torch_are_left_whole():
    lstm = torch.jit.script(nn.Sequential(Last(nn.LSTM(4, 8)), nn.LayerNorm(8), nn.GELU()))
    fused = fusewright.fuse(lstm)
    for n in (3, 5):
        torch.testing.assert_close(fused(r(n, 2, 4)), lstm(r(n, 2, 4)))
    assert any("left to torch as a whole" in s for s in fused._call._fusewright.reasons)


class Last(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        out, _ = self.inner(x)
        return out[-1]


def test_quantised_and_sparse_tensors_run_unfused():
    def work(x, y):
        return (x * 2 + 1) * y.to_dense(), y.to_dense() * 2 + 1

    scripted = torch.jit.script(work)
    fused = fusewright.fuse(scripted)
    x = r(3, 3)
    for _ in range(2):
        torch.testing.assert_close(fused(x, x.to_sparse()), scripted(x, x.to_sparse()))
