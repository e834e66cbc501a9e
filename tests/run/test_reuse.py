"""Outputs written over dead inputs: never memory that anybody can still see, and a lower peak."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint

import fusewright
from fusewright.run import pool as pool_module
from fusewright.run import reuse
from fusewright.run.pool import POOL
from tests.support import counted, counters

SHAPE = (64, 1100)  # above the pool's threshold, and no whole number of vectors


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()
    torch.manual_seed(0)


def compiled(fn: Callable[..., Any], **kwargs: Any) -> Callable[..., Any]:
    return torch.compile(fn, backend="fusewright", fullgraph=True, **kwargs)


def overwrites(before: dict[str, int]) -> int:
    return counted(before)["pool_overwrites"]


# ---- a single input ------------------------------------------------------------------------------------------------


def take(hold: Callable[[torch.Tensor], Any] = lambda t: None, spec: Any = None, mine: Any = None) -> bool:
    """Whether a plan takes over the memory of its argument, after `hold` got hold of it. The contents must survive."""
    spec = spec or POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32)
    args = [(mine or spec)().fill_(7)]
    held = hold(args[0])
    address = args[0].data_ptr()
    out = reuse._site(args, reuse.over, spec)
    taken = out.data_ptr() == address
    assert type(out) is torch.Tensor and not out.requires_grad and out.grad_fn is None and out.is_leaf
    assert (out.shape, out.stride(), out.storage_offset()) == (SHAPE, (SHAPE[1], 1), 0) and not out._is_view()
    assert out.is_inference() or out._version == 0
    del held
    return taken


def test_what_nobody_holds_is_taken() -> None:
    before = counters()
    assert take()
    assert overwrites(before) == 1
    with torch.inference_mode():
        assert take()


WAYS: dict[str, Callable[[torch.Tensor], Any]] = {
    "tensor": lambda t: t,
    "list": lambda t: [t],
    "view": lambda t: t[1:],
    "detached": lambda t: t.detach(),
    "data": lambda t: t.data,
    "transpose of a view": lambda t: t[3].unsqueeze(1).t(),
    "storage": lambda t: t.untyped_storage(),
    "numpy": lambda t: t.numpy(),
    "numpy of a view": lambda t: t[2:].numpy()[1:],
    "memory view": lambda t: memoryview(t.numpy()),
    "dlpack": lambda t: torch.utils.dlpack.to_dlpack(t),
    "from dlpack": lambda t: torch.from_dlpack(t[1:]),
    "saved for backward": lambda t: torch.ones(SHAPE, requires_grad=True) * t,
    "gradient": lambda t: setattr(x := torch.empty(SHAPE, requires_grad=True), "grad", t) or x,
    "parameter": lambda t: torch.nn.Parameter(t),
    "weak reference": lambda t: weakref.ref(t),
    "weak reference to the storage": lambda t: weakref.ref(t.untyped_storage()),
    "cycle": lambda t: setattr(t, "me", t),
    "set_": lambda t: torch.empty(0).set_(t),
    "lazy copy": lambda t: torch._lazy_clone(t),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_held_stays(way: str) -> None:
    assert not take(WAYS[way])
    gc.collect()
    assert take(), "and the next one is free again"


def test_held_contents_do_not_change() -> None:
    spec = POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32)
    for way in ("tensor", "view", "numpy", "storage", "from dlpack", "lazy copy"):
        args = [spec().fill_(7)]
        held = WAYS[way](args[0])
        reuse._site(args, reuse.over, spec).fill_(8)
        seen = torch.empty(0).set_(held) if way == "storage" else torch.as_tensor(held)
        assert (seen == 7).all(), way


def test_a_handle_that_was_dropped_does_not_count() -> None:
    assert take(lambda t: (t[1:], t.untyped_storage()) and None)
    assert not take(lambda t: (t.numpy(),) and None)  # which could not be resized any more


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.untyped_storage().resize_(1 << 20) and None,
        lambda t: t.untyped_storage().share_memory_() and None,
        lambda t: t.untyped_storage().__dict__.update(mark=1),
    ],
)
def test_changed_storage_stays(change: Callable[[torch.Tensor], None]) -> None:
    POOL.trim()  # what numpy has seen in other tests cannot be resized
    assert not take(change)


@pytest.mark.parametrize(
    ("size", "stride", "dtype"),
    [
        (SHAPE, (1, SHAPE[0]), torch.float32),
        (SHAPE[::-1], SHAPE, torch.float32),
        (SHAPE, (SHAPE[1], 1), torch.int32),
        ((SHAPE[0] * SHAPE[1],), (1,), torch.float32),
    ],
)
def test_other_layouts_stay(size: Any, stride: Any, dtype: torch.dtype) -> None:
    stride = (size[1], 1) if size == SHAPE[::-1] else stride
    assert not take(mine=POOL.allocation(size, stride, dtype))


def test_memory_of_others_stays() -> None:
    """Its owner need not show in any count."""
    array = torch.ones(SHAPE).numpy()
    assert not take(mine=lambda: torch.from_numpy(array))
    assert (array == 7).all()
    assert not take(mine=lambda: torch.empty(SHAPE))


def test_part_of_a_block_stays() -> None:
    """It is the only tensor there (no view of another), but does not start where the block does."""
    large = POOL.allocation((SHAPE[0] + 1, SHAPE[1]), (SHAPE[1], 1), torch.float32)
    part = lambda start: torch.empty(0).set_(large().untyped_storage(), start, SHAPE, (SHAPE[1], 1))
    assert take(mine=lambda: part(0))
    assert not take(mine=lambda: part(SHAPE[1]))


def test_subclasses_stay() -> None:
    class Mine(torch.Tensor):
        pass

    spec = POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32)
    assert not take(mine=lambda: spec().as_subclass(Mine))
    assert not take(mine=lambda: torch.nn.Parameter(spec(), requires_grad=False))


def test_inference_tensors_and_others_do_not_mix() -> None:
    spec = POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32)
    with torch.inference_mode():
        args = [spec()]
    assert not reuse._site(args, reuse.over, spec).is_inference()


def test_with_the_pool_off_nothing_is_taken() -> None:
    args = [POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32)()]
    before = counters()
    with fusewright.options(pool=False):
        reuse._site(args, reuse.over, POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32))
    assert overwrites(before) == 0


def test_nothing_is_taken_while_user_code_sees_every_call() -> None:
    kept: list[torch.Tensor] = []

    class Keep(TorchFunctionMode):
        def __torch_function__(self, f: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if f == torch.Tensor.data.__get__:  # the last call before the memory changes hands
                kept.append(args[0])
            return f(*args, **(kwargs or {}))

    spec = POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32)
    args = [spec()]
    before = counters()
    with Keep():
        reuse._site(args, reuse.over, spec)
    assert overwrites(before) == 0


def test_no_reuse_where_counts_mean_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_counts", lambda block, box: [(1, 1, 1, 1)])
    assert reuse._calibrate() is None
    monkeypatch.setattr(reuse, "_FREE", None)
    before = counters()
    take()
    assert overwrites(before) == 0


def test_threads_never_lose_what_they_hold() -> None:
    """Another thread trades one kind of handle on the tensor for another all the time; meanwhile nothing changes."""
    spec = POOL.allocation(SHAPE, (SHAPE[1], 1), torch.float32)
    wrong: list[str] = []
    box: list[Any] = []
    stop = threading.Event()

    def other() -> None:
        while not stop.is_set():
            try:
                t = box.pop()
            except IndexError:
                continue
            value = t[0, 0].item()
            view = t[1:]
            del t
            storage = view.untyped_storage()
            del view
            back = torch.empty(0).set_(storage)
            del storage
            if back[-1].item() != value:
                wrong.append("changed")

    worker = threading.Thread(target=other)
    worker.start()
    for k in range(400):
        args = [spec().fill_(k)]
        box.append(args[0])
        reuse._site(args, reuse.over, spec).fill_(-1)
    stop.set()
    worker.join()
    assert not wrong


# ---- training steps ------------------------------------------------------------------------------------------------


def block(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Both inputs get the same gradient; the sum is saved."""
    return F.layer_norm(x + r, (x.shape[-1],), w, b)


def make(n: int = SHAPE[0], m: int = SHAPE[1]) -> list[torch.Tensor]:
    torch.manual_seed(1)
    return [torch.randn(s, requires_grad=True) for s in ((n, m), (n, m), (m,), (m,))]


def close(got: Any, want: Any) -> None:
    for a, b in zip(got, want, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-5)


def same(got: Any, want: Any) -> None:
    for a, b in zip(got, want, strict=True):
        assert torch.equal(a, b)


def without_reuse(step: Callable[[], Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuse, "_FREE", None)
        return step()


def reference(seed: torch.Tensor) -> list[torch.Tensor | None]:
    inputs = make()
    block(*inputs).backward(seed)
    return [t.grad for t in inputs]


def test_a_saved_tensor_is_overwritten_and_gradients_are_right() -> None:
    seed = torch.randn(SHAPE)
    kept = seed.clone()
    fn, want = compiled(block), reference(seed)
    for _ in range(3):
        inputs = make()
        out = fn(*inputs)
        before = counters()
        out.backward(seed)
        assert overwrites(before) == 1
        close([t.grad for t in inputs], want)
        assert inputs[0].grad.data_ptr() != inputs[1].grad.data_ptr()
        assert all(t.grad._version == 0 for t in inputs)
    assert torch.equal(seed, kept), "the user's own gradient is never touched"


def test_gradients_between_compiled_functions_are_overwritten_too() -> None:
    fn, second = compiled(block), compiled(lambda *a: block(*a))

    def step() -> list[torch.Tensor | None]:
        inputs = make()
        second(fn(*inputs), *inputs[1:]).square().sum().backward()
        return [t.grad for t in inputs]

    want = without_reuse(step)
    before = counters()
    same(step(), want)
    # two saved sums, and where torch lets go of it the gradient that one function hands to the other
    released = hasattr(torch.autograd.function.BackwardCFunction, "apply_boxed")
    assert overwrites(before) >= (3 if released else 2)


def test_gradients_that_hooks_and_retain_grad_see_stay() -> None:
    fn, second = compiled(block), compiled(lambda *a: block(*a))

    def step() -> list[torch.Tensor]:
        inputs = make()
        kept: list[torch.Tensor] = []
        copies: list[torch.Tensor] = []
        middle = fn(*inputs)
        middle.register_hook(lambda g: kept.append(g) or copies.append(g.clone()))
        middle.retain_grad()
        second(middle, *inputs[1:]).square().sum().backward()
        same([*kept, middle.grad], [*copies, *copies])
        return [*kept, *(t.grad for t in inputs)]

    want = without_reuse(step)
    same(step(), want)


def test_retained_graphs_keep_their_saved_tensors() -> None:
    seed = torch.randn(SHAPE)
    inputs, want = make(), reference(seed)
    out = compiled(block)(*inputs)
    before = counters()
    for _ in range(2):
        got = torch.autograd.grad(out, inputs, seed, retain_graph=True)
        close(got, want)
    assert overwrites(before) == 0
    close(torch.autograd.grad(out, inputs, seed), want)
    assert overwrites(before) == 1, "the last one may"


@pytest.mark.parametrize("unpacked", [lambda t: t, lambda t: t.detach(), lambda t: t.clone()])
def test_saved_tensor_hooks(unpacked: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """The user's hooks keep every saved tensor."""
    seed = torch.randn(SHAPE)
    inputs, want = make(), reference(seed)
    held: list[torch.Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: held.append(t) or t, unpacked):
        out = compiled(block)(*inputs)
    copies = [t.clone() for t in held]
    out.backward(seed)
    close([t.grad for t in inputs], want)
    assert held and all(map(torch.equal, held, copies))


def test_checkpointing() -> None:
    seed = torch.randn(SHAPE)
    inputs, want = make(), reference(seed)
    fn = compiled(block)
    checkpoint(fn, *inputs, use_reentrant=False).backward(seed)
    close([t.grad for t in inputs], want)
    inputs = make()
    compiled(lambda *a: checkpoint(block, *a, use_reentrant=False))(*inputs).backward(seed)
    close([t.grad for t in inputs], want)


def test_a_saved_result_that_the_user_got_stays() -> None:
    def both(x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        s = x + r
        return F.layer_norm(s, (s.shape[-1],), w, b), s

    inputs = make()
    out, total = compiled(both)(*inputs)
    kept = total.detach().clone()
    view = total.detach()[1:]
    out.sum().backward()
    assert torch.equal(total, kept) and torch.equal(view, kept[1:])


def test_weights_and_inputs_stay() -> None:
    inputs = make()
    copies = [t.detach().clone() for t in inputs]
    fn = compiled(lambda x, y, w, b: (x * y * w + b).sin() * y)
    for _ in range(3):
        fn(*inputs).sum().backward()
        assert all(torch.equal(t, c) for t, c in zip(inputs, copies, strict=True))


def test_accumulating_gradients() -> None:
    """`.grad` of one step lives on while the next one's tensors come and go."""
    seed = torch.randn(SHAPE)
    inputs, want = make(), reference(seed)
    fn = compiled(block)
    for k in range(1, 4):
        fn(*inputs).backward(seed)
        close([t.grad for t in inputs], [k * g for g in want])


def test_intermediate_results_within_a_graph() -> None:
    """A product between two kernels: what the first stored is dead after the second."""

    def f(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(x) * 2 + 1
        return torch.sigmoid(h + (h @ w)) * h

    x, w = torch.randn(300, 300), torch.randn(300, 300)
    fn = compiled(f)
    for context in (torch.no_grad, torch.inference_mode):
        with context():
            before = counters()
            close([fn(x, w)], [f(x, w)])
            assert overwrites(before) == 1


def test_dynamic_sizes() -> None:
    fn = compiled(block, dynamic=True)
    for n, m in ((70, 1100), (90, 1200), (3, 5), (90, 1200)):
        inputs, eager = make(n, m), make(n, m)
        before = counters()
        fn(*inputs).sum().backward()
        block(*eager).sum().backward()
        close([t.grad for t in inputs], [t.grad for t in eager])
        assert overwrites(before) >= (n * m * 4 >= pool_module.THRESHOLD)


def test_several_threads() -> None:
    seed = torch.randn(SHAPE)
    fn, want = compiled(block), reference(seed)
    given = make()
    fn(*given).backward(seed)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                inputs = [t.detach().clone().requires_grad_() for t in given]
                fn(*inputs).backward(seed)
                close([t.grad for t in inputs], want)
        except BaseException as e:
            failed.append(e)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for t in workers:
        t.start()
    for t in workers:
        t.join()
    assert not failed


def test_the_peak_of_a_step_is_three_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of the forward pass; then the saved sum, which becomes a gradient, and the other gradient."""
    fn, seed, inputs = compiled(block), torch.randn(SHAPE), make()

    def step() -> None:
        fn(*inputs).backward(seed)
        for t in inputs:
            t.grad = None

    def peak() -> float:
        for _ in range(3):
            step()
        POOL.trim()
        before = POOL.stats()["held_bytes"]
        step()
        return (POOL.stats()["held_bytes"] - before) / (4 * SHAPE[0] * SHAPE[1])

    reused = peak()
    monkeypatch.setattr(reuse, "_FREE", None)
    assert peak() - reused == 1
    assert round(reused) == 3
