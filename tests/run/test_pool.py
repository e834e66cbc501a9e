"""The pool: memory comes back when nobody can see it, never before, and not too much of it is kept."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import warnings
import weakref

import pytest
import torch

from fusewright.run.pool import THRESHOLD, Pool, storage_bytes

F32 = torch.float32
SIZE, STRIDE = (512, 512), (512, 1)  # 1 MiB
NBYTES = 1 << 20


@pytest.fixture
def pool():
    return Pool(1 << 30)


def new(pool, size=SIZE, stride=STRIDE, dtype=F32, visible=True):
    return pool.empty(size, stride, dtype, visible)


def reused(pool, address):
    """Whether the next tensor takes over the memory at `address`."""
    return new(pool).data_ptr() == address


# -- what a tensor is ---------------------------------------------------------------------------------------------


def check_like_empty_strided(tensor, size, stride, dtype):
    expected = torch.empty_strided(size, stride, dtype=dtype)
    assert (tensor.shape, tensor.stride(), tensor.dtype) == (expected.shape, expected.stride(), expected.dtype)
    assert type(tensor) is torch.Tensor and tensor.device == expected.device
    assert tensor.is_inference() == expected.is_inference()
    assert not tensor.requires_grad and tensor.grad_fn is None and tensor.is_leaf
    assert not tensor._is_view() and tensor._base is None and tensor.storage_offset() == 0
    assert tensor.untyped_storage().nbytes() == expected.untyped_storage().nbytes()
    assert tensor.untyped_storage().resizable() and not tensor.is_shared() and not tensor.is_pinned()
    if not tensor.is_inference():
        assert tensor._version == 0


LAYOUTS = [
    ((4, 4), (4, 1), F32),
    ((0, 3), (3, 1), F32),
    ((), (), F32),
    (SIZE, STRIDE, F32),
    (SIZE, (1, 512), F32),
    ((512, 500), (512, 1), F32),
    ((1024, 512), (512, 1), torch.bfloat16),
    ((1 << 20,), (1,), torch.bool),
    ((128, 1024), (1024, 1), torch.float64),
    ((3, 512, 512), (0, 512, 1), F32),
]


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_like_empty_strided(pool, layout, inference):
    with torch.inference_mode(inference):
        for _ in range(3):  # a miss, a hit, a hit with everything prepared
            check_like_empty_strided(pool.empty(*layout), *layout)
        assert storage_bytes(*layout) == torch.empty_strided(*layout[:2], dtype=layout[2]).untyped_storage().nbytes()


def test_layouts_of_the_same_bytes_share_memory(pool):
    address = new(pool).data_ptr()
    for layout in [x for x in LAYOUTS if storage_bytes(*x) == NBYTES]:
        tensor = pool.empty(*layout)
        assert tensor.data_ptr() == address
        check_like_empty_strided(tensor, *layout)
        del tensor


def test_small_tensors_are_not_pooled(pool):
    for _ in range(2):
        pool.empty((THRESHOLD // 4 - 1,), (1,), F32)
    assert pool.stats()["misses"] == 0
    pool.empty((THRESHOLD // 4,), (1,), F32)
    assert pool.stats()["misses"] == 1


def test_version_counters_are_fresh(pool):
    first = new(pool)
    first.add_(1)
    first.add_(1)
    address = first.data_ptr()
    del first
    second = new(pool)
    assert second.data_ptr() == address and second._version == 0
    second.add_(1)
    assert second._version == 1


def test_inference_mode_and_outside_do_not_mix(pool):
    with torch.inference_mode():
        tensor = new(pool)
        assert tensor.is_inference()
        address = tensor.data_ptr()
        del tensor
    tensor = new(pool)
    assert tensor.data_ptr() == address and not tensor.is_inference()
    weight = torch.ones(512, requires_grad=True)
    (tensor.fill_(2) * weight).sum().backward()
    assert weight.grad[0] == 1024
    del tensor, weight
    gc.collect()
    with torch.inference_mode():
        assert new(pool).is_inference()


def test_every_in_place_change_of_metadata_works(pool):
    for change in (
        lambda t: t.t_(),
        lambda t: t.unsqueeze_(0),
        lambda t: t.resize_(3, 3),
        lambda t: t.resize_(1024, 1024),
        lambda t: t.as_strided_((2,), (1,)),
        lambda t: t.set_(),
        lambda t: t.set_(torch.zeros(3).untyped_storage()),
        lambda t: t.requires_grad_(),
        lambda t: t.detach_(),
        lambda t: setattr(t, "data", torch.zeros(4)),
    ):
        change(new(pool))
        gc.collect()
        check_like_empty_strided(new(pool), SIZE, STRIDE, F32)


# -- when memory comes back ---------------------------------------------------------------------------------------


def test_a_dead_tensor_gives_its_memory_back(pool):
    tensor = new(pool)
    address = tensor.data_ptr()
    other = new(pool)
    assert other.data_ptr() != address
    del tensor
    assert reused(pool, address)
    assert pool.stats()["held_bytes"] == 2 * NBYTES


class Holder:
    """An object that keeps memory alive through an attribute."""


def share_storage_with_another(t):
    other = torch.empty(0)
    other.set_(t.untyped_storage(), 0, (3,), (1,))
    return other


def saved_for_backward(t):
    x = t.fill_(2)
    weight = torch.ones(512, 512, requires_grad=True)
    return (x * weight).sum()


def attribute(t):
    holder = Holder()
    holder.tensor = t
    return holder


def typed_storage(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return t.storage()


HOLDERS = {
    "tensor": lambda t: t,
    "view": lambda t: t[3:, 1],
    "detached": lambda t: t.detach(),
    "data": lambda t: t.data,
    "view of another type": lambda t: t.view(torch.int32),
    "storage": lambda t: t.untyped_storage(),
    "typed storage": typed_storage,
    "numpy": lambda t: t.numpy(),
    "numpy slice": lambda t: t[2:].numpy()[1:],
    "torch of numpy": lambda t: torch.from_numpy(t.numpy()),
    "dlpack capsule": lambda t: torch.utils.dlpack.to_dlpack(t),
    "dlpack tensor": lambda t: torch.from_dlpack(t),
    "set_": share_storage_with_another,
    "saved for backward": saved_for_backward,
    "parameter": lambda t: torch.nn.Parameter(t),
    "attribute": attribute,
    "closure": lambda t: lambda: t,
    "subclass": lambda t: torch.Tensor._make_subclass(torch.Tensor, t),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_memory_in_use_stays(pool, name):
    tensor = new(pool)
    address = tensor.data_ptr()
    holder = HOLDERS[name](tensor)
    del tensor
    gc.collect()
    others = [new(pool) for _ in range(40)]  # long enough for upkeep, too
    assert all(t.data_ptr() != address for t in others)
    del holder, others
    gc.collect()
    again = [new(pool) for _ in range(41)]
    if "numpy" not in name:  # what NumPy has seen is given back
        assert any(t.data_ptr() == address for t in again), "and comes back afterwards"


def test_gradients_are_right_when_everything_is_pooled(pool):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = new(pool)
            torch.mul(x, x, out=out)
            ctx.save_for_backward(x)
            return out

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            out = new(pool)
            torch.mul(x, grad * 2, out=out)
            return out

    x = torch.rand(SIZE, requires_grad=True)
    for _ in range(3):
        y = x
        for _ in range(4):
            y = Double.apply(y)
        x.grad = None
        y.sum().backward()
        torch.testing.assert_close(x.grad, 16 * x.detach() ** 15)
    assert pool.stats()["hits"] > 0


def test_a_weak_reference_to_a_tensor_dies_with_it(pool):
    died = []
    tensor = new(pool)
    reference = weakref.ref(tensor, lambda _: died.append(1))
    del tensor
    assert reference() is None and died == [1]


def test_a_watched_storage_is_given_back(pool):
    died = []
    tensor = new(pool)
    weakref.finalize(tensor.untyped_storage(), died.append, 1)
    del tensor
    new(pool)
    assert died == [1]


def test_a_marked_storage_is_given_back(pool):
    tensor = new(pool)
    tensor.untyped_storage().mark = "mine"
    del tensor
    assert not hasattr(new(pool).untyped_storage(), "mark")


@pytest.mark.parametrize("elements", [10, 1 << 20])
def test_a_resized_storage_is_given_back(pool, elements):
    tensor = new(pool)
    tensor.untyped_storage().resize_(elements * 4)
    tensor.resize_(elements)
    del tensor
    check_like_empty_strided(new(pool), SIZE, STRIDE, F32)
    assert pool.stats()["held_bytes"] == NBYTES


def test_what_numpy_has_seen_is_given_back(pool):
    """It cannot be resized any more, as in eager; a new tensor can."""
    tensor = new(pool)
    tensor.numpy()
    del tensor
    tensor = new(pool)
    assert tensor.untyped_storage().resizable()
    torch.add(torch.ones(3 * tensor.numel()), 1, out=tensor.resize_(0))
    assert tensor.shape == (3 * NBYTES // 4,)


def test_a_shared_storage_is_given_back(pool):
    tensor = new(pool)
    tensor.share_memory_()
    del tensor
    tensor = new(pool)
    assert not tensor.is_shared()


def test_a_lazy_copy_is_not_overwritten(pool):
    tensor = new(pool).fill_(1)
    copied = torch._lazy_clone(tensor)
    del tensor
    for _ in range(3):
        new(pool).fill_(2)
    assert (copied == 1).all()


def test_saving_and_copying_leave_no_trace(pool):
    tensor = new(pool).fill_(3)
    address = tensor.data_ptr()
    buffer = io.BytesIO()
    torch.save(tensor, buffer)
    assert len(buffer.getvalue()) < NBYTES + 4096, "no more bytes than eager would save"
    buffer.seek(0)
    for other in (torch.load(buffer), pickle.loads(pickle.dumps(tensor)), copy.deepcopy(tensor)):
        assert torch.equal(other, tensor) and other.data_ptr() != address
    del tensor, other
    assert reused(pool, address)


def test_invisible_tensors_may_sit_in_larger_blocks(pool):
    together = [new(pool), new(pool)]  # a peak of live bytes under which the pool may keep one of them
    del together
    pool.trim()
    smaller = ((500, 500), (500, 1), F32)
    tensor = new(pool)
    address = tensor.data_ptr()
    del tensor
    visible = pool.empty(*smaller)
    check_like_empty_strided(visible, *smaller)
    assert visible.data_ptr() != address
    hidden = pool.empty(*smaller, False)
    assert hidden.data_ptr() == address and hidden.shape == (500, 500) and hidden.is_contiguous()
    other = new(pool)
    assert other.data_ptr() != address
    del hidden
    assert reused(pool, address), "a visible tensor of the full size takes it again"
    tiny = pool.empty((256, 512), (512, 1), F32, False)
    assert tiny.data_ptr() != address, "more than a quarter too large"
