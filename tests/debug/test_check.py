"""Check mode: right kernels pass whatever the types, wrong ones are reported with group, line, index, inputs."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import fusewright
from fusewright.core.errors import FusewrightWarning
from fusewright.debug import check
from fusewright.debug.check import CheckedGroup
from fusewright.debug.precision import compare
from tests.debug.planted import plant
from tests.emulate.driver import emulated_gpu
from tests.processes import python
from tests.support import LAYOUTS, counted, counters, tensor_with_layout


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path) -> Iterator[None]:
    torch._dynamo.reset()
    with fusewright.options(disk_cache=False, check_dir=tmp_path / "check"):
        yield
    torch._dynamo.reset()


def quiet(fn: Callable[..., Any], *args: Any, **options: Any) -> dict[str, int]:
    """Run a compiled `fn` in check mode; fails on any warning. What was counted."""
    before = counters()
    with warnings.catch_warnings(), fusewright.options(check=True, **options):
        warnings.simplefilter("error", FusewrightWarning)
        torch.compile(fn, backend="fusewright")(*args)
    return counted(before)


# --- what is right passes ----------------------------------------------------------------------------------------


def block(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
    z = torch.nn.functional.layer_norm(torch.softmax(x.sin() * 2, -1) @ w, (w.shape[1],))
    return torch.nn.functional.gelu(z) * z + 3, z.argmax(-1), z > 0, z.var(0), z.round()


@pytest.mark.every(3)
@pytest.mark.parametrize("precision", ["default", "eager"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_right_kernels_pass(dtype: torch.dtype, precision: str) -> None:
    torch.manual_seed(0)
    got = quiet(block, torch.randn(65, 130, dtype=dtype), torch.randn(130, 33, dtype=dtype), precision=precision)
    assert got["checks"] >= 2 and got["deviations"] == 0


@pytest.mark.every(6)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(), (1,), (5, 7), (0, 3), (3, 1, 33)], ids=str)
def test_layouts_and_sizes(shape: tuple[int, ...], layout: str) -> None:
    x = tensor_with_layout(layout, shape)
    assert quiet(lambda x: (x.exp() * x).tanh() + x.sum(), x)["checks"] > 0


def test_gradients_and_dropout() -> None:
    """Random numbers are functions of the same seeds in both."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x.relu() * 2, 0.4).square().mean()

    x = torch.randn(40, 50, requires_grad=True)
    before = counters()
    with warnings.catch_warnings(), fusewright.options(check=True):
        warnings.simplefilter("error", FusewrightWarning)
        torch.compile(fn, backend="fusewright")(x).backward()
    got = counted(before)
    assert got["checks"] >= 2 and got["deviations"] == 0


@pytest.mark.every(2)
@pytest.mark.parametrize("rng", ["philox", "eager"])
@pytest.mark.parametrize("gpu", [False, True])
def test_several_kernels_with_random_numbers(rng: str, gpu: bool) -> None:
    """Each has a part of the vector of seeds."""

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = torch.nn.functional.dropout(torch.mm(x, w), 0.4) * torch.rand_like(x)
        return x.square().mean()

    x, w = torch.randn(33, 16, requires_grad=True), torch.randn(16, 16)
    before = counters()
    with emulated_gpu() if gpu else contextlib.nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("error", FusewrightWarning)
        with fusewright.options(check=True, rng=rng):
            torch.compile(fn, backend="fusewright")(x, w).backward()
    got = counted(before)
    assert got["checks"] >= (6 if rng == "philox" else 4) and got["deviations"] == 0


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_a_result_among_several_of_an_operation_outside(rows: int) -> None:
    """Of an empty tensor a kernel reads nothing; its program still needs to know the tensor's type and size."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        values, _ = torch.sort(x, -1)
        return torch.layer_norm(values, (32,)).sum(-1) * 2

    quiet(fn, torch.randn(rows, 32))


def test_random_numbers_of_the_program_are_not_disturbed() -> None:
    """The generator is where it would be without checks."""

    def draws(**options: Any) -> tuple[torch.Tensor, torch.Tensor]:
        torch._dynamo.reset()
        torch.manual_seed(3)
        with fusewright.options(**options):
            f = torch.compile(lambda x: torch.nn.functional.dropout(x + 1, 0.5), backend="fusewright")
            return f(torch.ones(100)), torch.rand(3)

    for a, b in zip(draws(), draws(check=True), strict=True):
        assert torch.equal(a, b)


def test_cancellation_and_decisions_are_explained() -> None:
    """Large errors that rounding makes: differences of large numbers, comparisons and argmax on a last digit."""

    def fn(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = (x + 1e4).exp2().log2() - 1e4
        m = torch.softmax(x * 1e-7, -1)
        return x.sum(-1) - x.flip(-1).sum(-1), m.argmax(-1), x.mean(-1) > x.flip(-1).mean(-1), y.floor()

    torch.manual_seed(1)
    x = torch.randn(300, 257)
    quiet(fn, x.abs() / 100)
    quiet(fn, x)


@pytest.mark.every(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_rounding_inside_an_operation_is_explained(dtype: torch.dtype, approximate: str) -> None:
    """gelu's tail is a difference of nearly equal numbers, torch's own included."""
    torch.manual_seed(0)
    x, grad = ((torch.randn(50, 500) * 3).to(dtype) for _ in range(2))
    gelu = torch.nn.functional.gelu

    def run(x: torch.Tensor, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return gelu(x, approximate=approximate), torch.ops.aten.gelu_backward(grad, x, approximate=approximate)

    quiet(run, x, grad)
    good = run(x, grad)
    again = lambda given: run(*given)
    assert not compare(good, again, [x, grad])
    least = 1e-5 if dtype is torch.float32 else 0.03
    bad = [(t.double() * (1 + least)).to(dtype) for t in good]
    assert [d.output for d in compare(bad, again, [x, grad])] == [0, 1], "where the formula is good, so is the check"


def test_a_zero_in_float64() -> None:
    """It may be what is left of a difference of which a kernel knows more; a larger number is wrong."""
    x = torch.linspace(-12, 3, 500)
    run = lambda given: [torch.nn.functional.gelu(given[0].double()).float()]
    (zero,) = run([x])
    assert zero[0] == 0 and compare([torch.where(zero == 0, 1e-9, zero)], run, [x])
    assert not compare([torch.where(zero == 0, -3.9e-20, zero)], run, [x])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_what_is_rounded_because_it_decides(dtype: torch.dtype) -> None:
    """The backward pass of a power asks whether the exponent is 0, and so has it in 16 bits."""
    torch.manual_seed(0)
    x, y = ((torch.randn(40, 1000) * 3).to(dtype).requires_grad_() for _ in range(2))
    before = counters()
    with warnings.catch_warnings(), fusewright.options(check=True):
        warnings.simplefilter("error", FusewrightWarning)
        out = torch.compile(lambda x, y: x.abs() ** (y * 1.1), backend="fusewright")(x, y)
        out.backward(torch.randn(40, 1000).to(dtype))
    assert counted(before)["checks"] == 2


def test_nan_and_infinities() -> None:
    x = torch.tensor([[float("nan"), 1.0], [float("inf"), -float("inf")], [3.4e38, -3.4e38], [1e-45, 0.0]])
    quiet(lambda x: ((x * 2).exp(), x.log() + 1, (x * x).sum(-1), x.amax(-1) / 0.0), x)
    half = torch.tensor([60000.0, 300.0, -2.0], dtype=torch.float16)
    quiet(lambda x: (x * x).sqrt() + 1, half)  # finite where eager overflows


def test_in_place_and_views() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        x.mul_(2).add_(1)
        return x.sin() * 2

    x = torch.randn(300, 1200)
    want = fn(x.clone())
    got = x.clone()
    with warnings.catch_warnings(), fusewright.options(check=True):
        warnings.simplefilter("error", FusewrightWarning)
        torch.testing.assert_close(torch.compile(fn, backend="fusewright")(got), want)


def test_dynamic_sizes() -> None:
    before = counters()
    with warnings.catch_warnings(), fusewright.options(check=True):
        warnings.simplefilter("error", FusewrightWarning)
        f = torch.compile(lambda x: x.view(-1, 4).softmax(-1) * x.shape[0], backend="fusewright", dynamic=True)
        for n in (3, 8, 21):
            f(torch.randn(n, 4))
    got = counted(before)
    assert got["checks"] >= 3 and got["deviations"] == 0


def test_an_index_out_of_range_is_eagers_error() -> None:
    with fusewright.options(check=True), pytest.raises(IndexError):
        torch.compile(lambda x, i: x[i] * 2 + 1, backend="fusewright")(torch.randn(5, 3), torch.tensor([1, 9]))


def test_dropout_forward_and_backward_on_a_gpu() -> None:
    """The masks are those that a GPU's kernels draw, in torch's stead as well."""

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.layer_norm(torch.dropout(torch.nn.functional.gelu(x * w), 0.3, True), (40,)).sum(-1)

    torch.manual_seed(0)
    before = counters()
    with emulated_gpu(), warnings.catch_warnings(), fusewright.options(check=True):
        warnings.simplefilter("error", FusewrightWarning)
        for dtype in (torch.float32, torch.bfloat16):
            torch._dynamo.reset()
            x, w = (torch.randn(s, dtype=dtype, requires_grad=True) for s in ((16, 40), (40,)))
            torch.compile(fn, backend="fusewright")(x, w).sum().backward()
    got = counted(before)
    assert got["checks"] >= 4 and got["deviations"] == 0


def test_on_a_gpu() -> None:
    with emulated_gpu():
        assert quiet(block, torch.randn(9, 40), torch.randn(40, 17))["checks"] >= 2


# --- what is wrong does not --------------------------------------------------------------------------------------


def wrong(x: torch.Tensor) -> torch.Tensor:
    y = x.sin() * 2  # the guilty line
    return y + 1


def test_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plant(monkeypatch, "sin", "cos")
    x = torch.randn(4, 300)
    with pytest.warns(FusewrightWarning, match="deviates") as caught, fusewright.options(check=True):
        f = torch.compile(wrong, backend="fusewright")
        f(x)
        f(x)
    (message,) = [str(w.message) for w in caught if "deviates" in str(w.message)]
    assert re.search(r"group \w+\.g0 \([0-9a-f]{12}\) at .*test_check.py:\d+ \(.*the guilty line\)", message)
    got, want = 2 * x[0, 0].cos().item() + 1, wrong(x)[0, 0].item()
    found = re.search(r"output 0 at \[0, 0\]: fused (\S+), PyTorch (\S+), in float64 (\S+) .*; (\d+) of 1200", message)
    assert found is not None, message
    assert float(found[1]) == pytest.approx(got, rel=1e-5) and float(found[2]) == want and int(found[4]) > 1100
    path = re.search(r"fusewright run (\S+\.py)", message)
    assert path is not None
    (saved,) = torch.load(f"{path[1]}.pt")
    assert torch.equal(saved, x)
    right = python(path[1])
    assert right.returncode == 0 and "right: " in right.stdout, "in a process whose sin is right"


@pytest.mark.parametrize(
    ("dtype", "least"), [(torch.float32, 1e-5), (torch.float64, 1e-13), (torch.bfloat16, 0.03)], ids=str
)
def test_small_errors_are_found(dtype: torch.dtype, least: float) -> None:
    torch.manual_seed(0)
    x = torch.randn(50, 60, dtype=dtype)

    def run(given: list[torch.Tensor]) -> list[torch.Tensor]:
        return [given[0].sin() * 2 + 3, (given[0].exp() * 2).sum(-1)]

    good = run([x])
    assert not compare(good, run, [x])
    for k in range(2):
        bad = [(t.double() * (1 + least)).to(dtype) if i == k else t for i, t in enumerate(good)]
        (found,) = compare(bad, run, [x])
        assert found.output == k and found.wrong > found.total // 2


def test_one_wrong_element() -> None:
    x = torch.randn(50, 60)
    bad = x.exp()
    bad[17, 5] += 0.01
    (found,) = compare([bad], lambda given: [given[0].exp()], [x])
    assert (found.index, found.wrong, found.total) == ((17, 5), 1, 3000)


@pytest.mark.parametrize(
    ("bad", "want"),
    [
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0])),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, float("nan")])),
        (torch.tensor([1.0, float("inf")]), torch.tensor([1.0, -float("inf")])),
        (torch.tensor([1.0, 3.0e38]), torch.tensor([1.0, float("inf")])),
        (torch.tensor([1, 3]), torch.tensor([1, 2])),
        (torch.tensor([True, True]), torch.tensor([True, False])),
    ],
    ids=["nan", "no nan", "sign", "finite", "integer", "bool"],
)
def test_patterns_must_agree(bad: torch.Tensor, want: torch.Tensor) -> None:
    (found,) = compare([bad], lambda given: [given[0] * 1 if want.dtype != torch.bool else given[0] & True], [want])
    assert found.index == (1,) and found.wrong == 1


def test_what_has_no_float64_is_compared_by_tolerances() -> None:
    x = torch.randn(20)

    def run(given: list[torch.Tensor]) -> list[torch.Tensor]:
        return [given[0].view(torch.int32).view(torch.float32).sin()]

    def bits(given: list[torch.Tensor]) -> list[torch.Tensor]:
        return [(given[0].view(torch.int32) + 0).view(torch.float32)[: x.numel()]]

    assert not compare(run([x]), run, [x])
    assert not compare(bits([x]), bits, [x])
    (found,) = compare([bits([x])[0] + 0.1], bits, [x])
    assert found.wrong == 20


# --- the user's function -----------------------------------------------------------------------------------------


def test_a_callback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plant(monkeypatch, "sin", "cos")
    seen: list[tuple[list[torch.Tensor], list[torch.Tensor], CheckedGroup]] = []
    x = torch.randn(3, 5)
    with warnings.catch_warnings(), fusewright.options(check=lambda *a: seen.append(a)):
        warnings.simplefilter("error", FusewrightWarning)
        f = torch.compile(wrong, backend="fusewright")
        out = f(x)
        f(x)
    assert len(seen) == 2, "at every run"
    fused, unfused, group = seen[0]
    assert torch.equal(fused[0], out) and torch.equal(unfused[0], wrong(x))
    assert group.name.endswith(".g0") and "aten.sin.default" in group.operators and "guilty" in group.lines[0]
    assert torch.equal(group.inputs[0], x) and group.deviations[0].total == 15
    group.repro(str(tmp_path / "r.py"))
    assert "repro.given(" in (tmp_path / "r.py").read_text(), "few values are written out"
    assert not (tmp_path / "check").exists()


def test_a_callback_is_not_called_for_what_is_right() -> None:
    def never(*args: Any) -> None:
        raise AssertionError

    with warnings.catch_warnings(), fusewright.options(check=never):
        warnings.simplefilter("error", FusewrightWarning)
        torch.compile(wrong, backend="fusewright")(torch.randn(30))


def test_a_callback_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "sin", "cos")

    def mine(fused: Any, unfused: Any, group: Any) -> None:
        raise KeyError("planted")

    x = torch.randn(30)
    with pytest.warns(FusewrightWarning) as caught, fusewright.options(check=mine):
        got = torch.compile(wrong, backend="fusewright")(x)
    (said,) = [str(w.message) for w in caught if issubclass(w.category, FusewrightWarning)]
    assert "the function given as check, mine, raised KeyError: 'planted'" in said and "deviates" in said
    torch.testing.assert_close(got, x.cos() * 2 + 1)


def test_a_directory_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plant(monkeypatch, "sin", "cos")
    (tmp_path / "file").write_text("")
    with pytest.warns(FusewrightWarning, match="deviates") as caught:
        with fusewright.options(check=True, check_dir=tmp_path / "file"):
            torch.compile(wrong, backend="fusewright")(torch.randn(30))
    (said,) = [str(w.message) for w in caught if issubclass(w.category, FusewrightWarning)]
    assert "fusewright run" not in said
    assert said.endswith(f"Its inputs are not saved: cannot write to {tmp_path / 'file'}: it is not a directory")


def test_a_check_that_fails_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(*args: Any, **kwargs: Any) -> Any:
        raise MemoryError("planted")

    monkeypatch.setattr(check, "compare", planted)
    x = torch.randn(30)
    with pytest.warns(FusewrightWarning, match=r"could not be checked \(MemoryError: planted\)"):
        with fusewright.options(check=True):
            got = torch.compile(wrong, backend="fusewright")(x)
    torch.testing.assert_close(got, wrong(x))


def test_per_function() -> None:
    before = counters()
    torch.compile(wrong, backend="fusewright", options={"check": True})(torch.randn(30))
    assert counted(before)["checks"] == 1


def test_errors_of_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, "sin", "cos")
    with warnings.catch_warnings(), fusewright.options(check=True):
        warnings.simplefilter("error", FusewrightWarning)
        with pytest.raises(FusewrightWarning, match="deviates from PyTorch"):
            torch.compile(wrong, backend="fusewright")(torch.randn(30))
