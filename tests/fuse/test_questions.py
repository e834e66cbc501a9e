"""What functions ask beside values: modes, memory, autograd's notes. Results are eager's, whoever answers."""

from __future__ import annotations

import numbers
import pprint
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import fusewright
from fusewright.trace import questions
from tests.support import counted, counters

MODES = (torch.enable_grad, torch.no_grad, torch.inference_mode)


@pytest.mark.every(4)
@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("name", ["is_grad_enabled", "is_inference_mode_enabled"])
def test_modes_that_a_function_asks_for(name, first, needs):
    def f(x):
        return x * 2 + 1 if getattr(torch, name)() else x * 3 + 5

    fused, before = fusewright.fuse(f), counters()
    x = torch.ones(3, requires_grad=needs)
    for mode in (MODES[first], *MODES, *MODES):
        with mode():
            got, want = fused(x), f(x)
            assert torch.equal(got, want) and got.requires_grad == want.requires_grad
    assert counted(before)["fuse_traces"] == 3


def test_modes_inside_a_function_are_its_own():
    def f(x):
        with torch.no_grad():
            y = x * (2 if torch.is_grad_enabled() else 3)
        return x + y

    fused, x = fusewright.fuse(f), torch.ones(3, requires_grad=True)
    for _ in range(2):
        assert torch.equal(fused(x), f(x)) and fused(x).requires_grad
        with torch.no_grad():
            assert torch.equal(fused(x), f(x))


def test_one_trace_serves_all_modes_if_nobody_asks():
    fused, before = fusewright.fuse(lambda x: torch.nn.functional.dropout(x, 0.5, False) * 2), counters()
    for mode in (*MODES, *MODES):
        with mode():
            fused(torch.ones(3))
    assert counted(before)["fuse_traces"] == 1
    assert type(torch.is_grad_enabled).__name__ == "builtin_function_or_method", "torch's own"


def test_other_threads_may_ask_meanwhile():
    asked = threading.Event()

    def other():
        torch.is_grad_enabled()
        asked.set()

    def f(x):
        threading.Thread(target=other).start()
        asked.wait()
        return x * 2

    fused, before = fusewright.fuse(f), counters()
    for mode in MODES:
        with mode():
            assert torch.equal(fused(torch.ones(3)), torch.full((3,), 2.0))
    assert counted(before)["fuse_traces"] == 1


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x * 2 + x.storage_offset(),
        lambda x: x * 2 + x[1:2].storage_offset(),
        lambda x: x.as_strided((3,), (1,), x.storage_offset() + 1) * 2,
        lambda x: x * 2 + x.untyped_storage().nbytes(),
        lambda x: x * 2 + x.data_ptr() % 16,
        lambda x: x * 2 + x.is_leaf,
        lambda x: x * 2 + (x.grad_fn is None),
        lambda x: x * 2 + (0 if x.grad is None else x.grad),
        lambda x: x * 2 + x.is_inference(),
        lambda x: x * 2 + (x._base is None),
        lambda x: x * 2 + x._is_view(),
    ],
)
@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_what_no_signature_says(fn):
    leaf = torch.arange(6.0).requires_grad_()
    leaf.sum().backward()
    base = torch.arange(12.0)
    with torch.inference_mode():
        inference = torch.arange(6.0)
    fused = fusewright.fuse(fn)
    for x in (base[:6], base[2:8], base[2:8], base[3:9].clone(), leaf, leaf * 1, inference):
        got, want = fused(x), fn(x)
        assert torch.equal(got, want) and got.requires_grad == want.requires_grad


def test_what_is_noted_about_intermediate_values_is_known():
    fused, before = fusewright.fuse(lambda x: x * 2 if (x * 3).grad_fn is None else x * 4), counters()
    for needs in (False, True, False, True):
        x = torch.ones(3, requires_grad=needs)
        assert torch.equal(fused(x), x * 4 if needs else x * 2)
    assert counted(before)["fuse_traces"] == 2


def test_a_trace_is_one_to_programs_that_ask() -> None:
    """They leave out what no trace can do, as under `torch.compile`."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling() and (x < 0).any():
            raise ValueError("negative")
        return x.sqrt() * 2

    fused, before, x = fusewright.fuse(fn), counters(), torch.rand(5)
    for _ in range(2):
        torch.testing.assert_close(fused(x), fn(x))
    assert counted(before)["fuse_traces"] == 1 and not torch.compiler.is_compiling()


def test_other_threads_are_not_told_of_a_trace() -> None:
    plain = torch.compiler.is_compiling
    with questions.answered(False, lambda: None), ThreadPoolExecutor(1) as other:
        assert torch.compiler.is_compiling() and not other.submit(lambda: torch.compiler.is_compiling()).result()
    assert torch.compiler.is_compiling is plain and not torch.compiler.is_compiling()


def test_traces_of_two_threads_that_overlap() -> None:
    """The first to begin is the first to end: what was there before is there again, and each is told of its own."""
    plain, told = (torch.is_grad_enabled, torch.is_inference_mode_enabled), []
    first, second = (questions.answered(False, lambda n=n: told.append(n)) for n in (1, 2))
    first.__enter__()
    with ThreadPoolExecutor(1) as other:
        other.submit(second.__enter__).result()
        assert torch.is_grad_enabled() and told == [1]
        first.__exit__(None, None, None)
        assert torch.is_grad_enabled() and told == [1], "this thread traces no more"
        assert other.submit(lambda: torch.is_inference_mode_enabled()).result() is False and told == [1, 2]
        other.submit(second.__exit__, None, None, None).result()
    assert (torch.is_grad_enabled, torch.is_inference_mode_enabled) == plain


@pytest.mark.parametrize(
    "text",
    [
        lambda x, n: str(x.shape[0]),
        lambda x, n: f"{x.shape}",
        lambda x, n: f"{n * 2} {x.shape[0] / 2}",
        lambda x, n: f"{[n]!s}",
        lambda x, n: f"{n:04d} {n / 2:.3f} {x.shape[0]!r:>5}",
        lambda x, n: "{} {:x}".format(n, x.shape[0]),  # noqa: UP032
        lambda x, n: "n={0}".replace("{0}", str(n)),
        lambda x, n: pprint.pformat({"n": n}),
    ],
)
def test_texts_of_numbers_are_those_of_the_call(text):
    """What is in a text is a condition of the trace."""

    def f(x, n):
        return x * 2 + 1, text(x, n)

    fused, before = fusewright.fuse(f), counters()
    for x, n in ((torch.ones(3, 2), 5), (torch.ones(4, 2), 6), (torch.zeros(3, 2), 5), (torch.ones(4, 2), 5)):
        got, want = fused(x, n), f(x, n)
        assert torch.equal(got[0], want[0]) and got[1] == want[1]
    assert counted(before)["fuse_declined"] == 0 and 2 <= counted(before)["fuse_traces"] <= 3
    assert type(torch.SymInt.__getattribute__).__name__ == "wrapper_descriptor", "as it was"
    assert torch.SymInt.__repr__.__module__ == "torch" and "__format__" not in vars(torch.SymInt)


def test_what_a_text_of_a_size_finds():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale3, self.scale4 = (torch.nn.Parameter(torch.full((1,), k)) for k in (2.0, 5.0))

        def forward(self, x):
            return x.sin() * getattr(self, f"scale{x.shape[0]}")

    m = Scaled()
    fused, before = fusewright.fuse(m), counters()
    for n in (3, 4, 3, 4):
        torch.testing.assert_close(fused(torch.ones(n, 7)), m(torch.ones(n, 7)))
    assert counted(before)["fuse_declined"] == 0 and counted(before)["fuse_traces"] == 2


def test_messages_of_checks_are_no_reason_not_to_fuse():
    """They are made whether the check fails or not."""

    def check(holds, message):
        if not holds:
            raise ValueError(message)

    def f(x):
        check(x.ndim == 2 and x.shape[1] > 2, f"expected [n, more than 2], got {tuple(x.shape)}: {x.dtype}")
        return (x * 2).softmax(-1)

    fused, before = fusewright.fuse(f), counters()
    for shape in ((3, 5), (3, 5), (4, 6)):
        x = torch.randn(shape)
        torch.testing.assert_close(fused(x), f(x))
    with pytest.raises(ValueError, match=r"got \(3, 2\): torch.float32"):
        fused(torch.ones(3, 2))
    assert counted(before)["fuse_declined"] == 0 and counted(before)["kernels_compiled"] >= 1


@pytest.mark.parametrize("text", [lambda x: repr(x), lambda x: f"{x}", lambda x: str((x * 2)[0])])
def test_texts_of_tensors_are_those_of_the_call(text):
    """A trace has tensors without values: the plain function runs."""

    def f(x):
        return x * 2 + 1, text(x)

    fused = fusewright.fuse(f)
    for x in (torch.ones(3, 2), torch.ones(4, 2), torch.zeros(3, 2)):
        assert fused(x)[1] == f(x)[1]


def test_an_error_has_the_text_of_the_call():
    def f(x):
        if x.shape[0] < 5:
            raise ValueError(f"too small: {x.shape}")
        return x * 2 + 1

    with pytest.raises(ValueError, match=r"too small: torch\.Size\(\[3\]\)"):
        fusewright.fuse(f)(torch.ones(3))


@pytest.mark.parametrize("kind", [int, float, bool, (int, float), numbers.Number, numbers.Integral, torch.Tensor])
def test_numbers_of_a_trace_have_the_classes_of_numbers(kind):
    def f(x, n):
        found = [isinstance(v, kind) for v in (n, n * 2, x.shape[0], x.numel() + 1, n / 2, x.shape[0] / n)]
        return (x * 2 + sum(b << k for k, b in enumerate(found)), *found)

    fused, before = fusewright.fuse(f), counters()
    for size, n in ((3, 5), (4, 5), (4, 6)):
        (got, *classes), (want, *theirs) = fused(torch.ones(size), n), f(torch.ones(size), n)
        assert torch.equal(got, want) and classes == theirs
    assert counted(before)["fuse_traces"] == 1


def test_a_dimension_or_several():
    def f(x, dim):
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        return (x * 2 + 1).sum(dims)

    fused, x = fusewright.fuse(f), torch.arange(24.0).view(2, 3, 4)
    for dim in (2, 0, -2, (0, 2), [1, 2]):
        assert torch.equal(fused(x, dim), f(x, dim))


def _grads_of(f, *needs):
    x, y = (torch.full((3,), k + 2.0).requires_grad_(n) for k, n in enumerate(needs))
    out = f(x, y)
    leaves = [t for t in (x, y, *out) if t.is_leaf and t.requires_grad]
    if any(t.requires_grad for t in out):
        sum(t.sum() for t in out if t.requires_grad).backward()
    return [(t.requires_grad, t.is_leaf) for t in (x, y, *out)], [t.grad for t in leaves]


@pytest.mark.parametrize("needs", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize(
    "mark",
    [
        lambda x: x.requires_grad_(),
        lambda x: setattr(x, "requires_grad", True),
        lambda x: x.requires_grad and x.register_hook(lambda g: g * 2),
        lambda x: x.retain_grad() if x.requires_grad else None,
        lambda x: x.detach().requires_grad_(),
    ],
)
def test_what_autograd_is_told_about_an_argument_reaches_it(mark, needs):
    """Also where another argument needs a gradient, so that the result does."""

    def f(x, y):
        made = mark(x)
        return (x * 2 + y * 3, *([made] if isinstance(made, torch.Tensor) else []))

    (kinds, got), (same, want) = _grads_of(fusewright.fuse(f), *needs), _grads_of(f, *needs)
    assert kinds == same and len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert torch.equal(a, b)


def _leaf(x):
    y = x * 2
    y.requires_grad_()
    return y


@pytest.mark.every(6)
@pytest.mark.parametrize("needs", [False, True])
@pytest.mark.parametrize("first", range(2))
@pytest.mark.parametrize(
    "f",
    [
        _leaf,
        lambda x: _leaf(x).view(3, 1),
        lambda x: x.detach().requires_grad_(),
        lambda x: (torch.zeros(3, requires_grad=True), x * 2),
        lambda x: torch.nn.Parameter(x * 2),
        lambda x: x.detach().requires_grad_() * 3 + 1,
        lambda x: torch.ones(3, requires_grad=True) * 3 + x,
        lambda x: x[1:],
        lambda x: x.view(1, 3).t(),
    ],
)
def test_leaves_that_a_function_makes(f, first, needs):
    """In any mode: what is computed from them has a gradient where one is recorded."""
    fused, x = fusewright.fuse(f), torch.ones(3, requires_grad=needs)
    for mode in (MODES[first], *MODES[:2], *MODES[:2]):
        with mode():
            got, want = (out if isinstance(out, tuple) else (out,) for out in (fused(x), f(x)))
        for a, b in zip(got, want, strict=True):
            assert torch.equal(a, b) and type(a) is type(b)
            assert (a.requires_grad, a.is_leaf) == (b.requires_grad, b.is_leaf)
