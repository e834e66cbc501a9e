"""Programs that once went wrong, end to end."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from tests.processes import python
from tests.support import assert_agrees, compiled, no_fallbacks

X, B = torch.randn(64, 300), torch.randn(300)

PROGRAMS: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    # a negative dividend of an unsigned division: wrong addresses
    "mirrored reshape": lambda x, b: (x * 2 + b).reshape(-1).flip(0) + 1,
    "mirrored reshape of a mirror": lambda x, b: (x.flip(0) + b.flip(0)).reshape(300, -1).flip(1) * 2,
    "padded reshape": lambda x, b: F.pad((x + b).reshape(-1), (1, 299)).reshape(-1, 300) * 3,
    "rolled reshape": lambda x, b: torch.roll((x + b).reshape(-1), 7).reshape(100, -1) * 3,
    # argmax over an axis of extent 1: no axis to vectorise
    "argmax of one": lambda x, b: (x[:, :1] * 2).argmax(1) + 1,
    "argmax of all": lambda x, b: (x + b).argmax(),
    "argmax down": lambda x, b: (x + b).argmax(0),
    # a scan beside something larger
    "two scans": lambda x, b: (torch.cumsum(torch.cumsum(x, 0) * 2, 0), b.cumsum(0)),
    "a small scan": lambda x, b: (x + b, torch.cumsum(b * 2, 0) + 1),
}


def every_second(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    t = x * 2 + b
    t.view(-1)[::2] = 0.25
    return t


# a value within an operation, which has no place in memory: a failure when groups were merged, seen by nobody
PROGRAMS["every second is set"] = every_second
PROGRAMS["every second of what is gathered"] = lambda x, b: (
    x.gather(1, (b[:64, None] > 0).long().expand(64, 10))[:, ::2] * 2 + b[:5]
)


@pytest.mark.every(6)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_eager(name: str, dynamic: bool) -> None:
    torch._dynamo.reset()
    with no_fallbacks():
        got = compiled(PROGRAMS[name], dynamic=dynamic)(X, B)
    assert_agrees(got, PROGRAMS[name](X, B), rtol=1e-4, atol=1e-4)


def test_an_empty_slice_that_is_padded() -> None:
    """The extent `s - 2` is 0 at s = 2: no division by it."""
    fn = lambda x: F.pad((x[2:] * 2).reshape(-1), (1, 2)) + 1
    call = compiled(fn, dynamic=True)
    for n in (6, 3, 2, 9):
        x = torch.randn(n, 5)
        assert_agrees(call(x), fn(x))


NOTHING_SELECTED = """
import torch, torch.nn.functional as F
torch._dynamo.config.capture_dynamic_output_shape_ops = True
def fn(x, c):
    y = x[x > 0]
    return F.pad((y[None, :] * c[:, None]).reshape(-1), (1, 2)) + 1
call = torch.compile(fn, backend="fusewright", dynamic=True, fullgraph=True)
c = torch.randn(4)
for x in (torch.randn(20), torch.ones(3), -torch.ones(9)):
    torch.testing.assert_close(call(x, c), fn(x, c))
"""


def test_a_size_known_only_at_run_time_is_zero() -> None:
    done = python("-c", NOTHING_SELECTED)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr}"


def test_backward_of_an_operation_with_effects() -> None:
    """AOTAutograd threads a token through such graphs, which is None at run time (linalg.eig: a message on errors)."""
    x = torch.tensor([[2.0, 1.0], [0.5, 3.0]], requires_grad=True)
    torch._dynamo.reset()
    with no_fallbacks():
        compiled(lambda x: torch.linalg.eig(x * 2)[0].real * 3)(x).sum().backward()
    got, x.grad = x.grad, None
    (torch.linalg.eig(x * 2)[0].real * 3).sum().backward()
    torch.testing.assert_close(got, x.grad)


def test_random_numbers_in_a_gradient_that_threads_divide() -> None:
    """Threads took strips of the embedding's gradient that began between two runs of random numbers."""
    w = (torch.rand(50, 1000) + 0.5).requires_grad_()  # no zeros: what is 0 in the result was dropped
    at = torch.randint(0, 50, (64,))
    call = compiled(lambda w, at: F.dropout(F.embedding(at, w), 0.3, True))
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        out = call(w, at)
        out.backward(torch.ones_like(out))
    finally:
        torch.set_num_threads(before)
    kept = (out.detach() != 0).float() / 0.7
    assert w.grad is not None
    torch.testing.assert_close(w.grad, torch.zeros(50, 1000).index_add_(0, at, kept))
