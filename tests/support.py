"""What the end-to-end tests share: the backend under test, comparisons, and tensors with odd layouts.

The backend is a parameter everywhere, so that the tests themselves can be tried with one of PyTorch's own:
`FUSEWRIGHT_TEST_BACKEND=aot_eager pytest tests/trace`. Only then are the checks on counters left out.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

BACKEND = os.environ.get("FUSEWRIGHT_TEST_BACKEND", "fusewright")

# (major, minor): for what torch itself, with any backend, cannot do in an older version.
TORCH = tuple(int(part) for part in torch.__version__.split(".")[:2])


def is_ours(backend: str = BACKEND) -> bool:
    """Whether `backend` is the project's own, with counters and options."""
    return backend.startswith("fusewright")


def counters(backend: str = BACKEND) -> dict[str, int]:
    """A copy of the project's counters; empty when another backend is under test."""
    if not is_ours(backend):
        return {}
    import fusewright

    return dict(fusewright.counters())


def counted(before: dict[str, int], backend: str = BACKEND) -> dict[str, int]:
    """How much every counter has grown since `before`."""
    return {name: value - before.get(name, 0) for name, value in counters(backend).items()}


@contextlib.contextmanager
def no_fallbacks(backend: str = BACKEND) -> Iterator[None]:
    """Fail if the compiler gave anything back to torch because it failed on it."""
    before = counters(backend)
    yield
    assert counted(before, backend).get("fallbacks", 0) == 0


@contextlib.contextmanager
def eager_random(backend: str = BACKEND) -> Iterator[None]:
    """Draw random numbers in eager's order, so that the same seed gives the same values."""
    if not is_ours(backend):
        yield
        return
    import fusewright

    with fusewright.options(rng="eager"):
        yield


def compiled(fn: Callable, backend: str = BACKEND, **kwargs: Any) -> Callable:
    """`torch.compile(fn)` with the backend under test."""
    return torch.compile(fn, backend=backend, **kwargs)


# ---- comparisons ---------------------------------------------------------------------------------


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors hold the same values, bit for bit; every NaN counts as the same one."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.is_floating_point:
        same = (a == b) & (torch.signbit(a) == torch.signbit(b))
        return bool((same | (a.isnan() & b.isnan())).all())
    return bool(torch.equal(a, b))


def significant_strides(t: torch.Tensor) -> tuple[int | None, ...]:
    """Strides, with None where no element is ever reached through them (extents 0 and 1)."""
    if t.numel() == 0:
        return (None,) * t.dim()
    return tuple(None if extent == 1 else stride for extent, stride in zip(t.shape, t.stride(), strict=True))


def assert_same_tensor_metadata(got: torch.Tensor, want: torch.Tensor, what: str = "result") -> None:
    """Fail unless dtype, shape, device, layout and the strides that matter are equal."""
    assert type(got) is type(want), f"{what}: a {type(got).__name__}, eager gives a {type(want).__name__}"
    for name in ("dtype", "shape", "device", "layout", "requires_grad"):
        mine, theirs = getattr(got, name), getattr(want, name)
        assert mine == theirs, f"{what}: {name} is {mine}, eager gives {theirs}"
    if got.layout is torch.strided:
        mine, theirs = significant_strides(got), significant_strides(want)
        assert mine == theirs, (
            f"{what}: strides {got.stride()} for shape {tuple(got.shape)}, eager gives {want.stride()}"
        )


def _errors(x: torch.Tensor, ref64: torch.Tensor) -> tuple[float, float]:
    """(root mean square, maximum) of the finite differences, in float64."""
    diff = (x.detach().double() - ref64.detach().double()).abs()
    diff = diff[torch.isfinite(diff)]
    if diff.numel() == 0:
        return 0.0, 0.0
    return diff.square().mean().sqrt().item(), diff.max().item()


def assert_as_accurate(
    got: torch.Tensor,
    ref32: torch.Tensor,
    ref64: torch.Tensor,
    what: str = "result",
    factor: float = 2.0,
    floor: float = 4.0,
) -> None:
    """Fail unless `got` is about as near to the float64 reference as eager's own result is.

    The root mean square of the error may be `factor` times eager's, the largest error twice that (a maximum
    varies more), each plus `floor` units in the last place of the largest finite value: eager may be exact by
    luck, and then no error at all would be asked of us. NaN and infinities must stand in the same places.
    """
    got, ref32, ref64 = got.detach(), ref32.detach(), ref64.detach()
    assert got.shape == ref32.shape and got.dtype == ref32.dtype, f"{what}: {got.shape} {got.dtype}"
    if not got.dtype.is_floating_point:
        assert torch.equal(got, ref32), f"{what}: integers differ"
        return
    assert torch.equal(got.isnan(), ref32.isnan()), f"{what}: NaN in other places than eager"
    infinite = ref32.isinf()
    assert torch.equal(got[infinite], ref32[infinite]), f"{what}: infinities in other places than eager"
    assert not bool((got.isinf() & ~infinite).any()), f"{what}: infinite where eager is finite"
    finite = ref64[torch.isfinite(ref64)]
    scale = finite.abs().max().item() if finite.numel() else 0.0
    scale = max(scale, 1e-3)  # operands are about 1: what cancels to nothing keeps their rounding errors
    allowance = floor * torch.finfo(got.dtype).eps * scale
    rms, worst = _errors(got, ref64)
    rms32, worst32 = _errors(ref32, ref64)
    assert rms <= factor * rms32 + allowance, f"{what}: rms error {rms:.3g}, eager's is {rms32:.3g} (scale {scale:.3g})"
    assert worst <= 2 * factor * worst32 + 2 * allowance, f"{what}: error {worst:.3g}, eager's is {worst32:.3g}"


def assert_agrees(got: Any, want: Any, **tolerances: float) -> None:
    """Compare two structures of tensors and plain values: values by `assert_close`, and the metadata."""
    mine, mine_spec = tree_flatten(got)
    theirs, their_spec = tree_flatten(want)
    assert mine_spec == their_spec, f"structure {mine_spec}, eager gives {their_spec}"
    for i, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if isinstance(b, torch.Tensor):
            assert_same_tensor_metadata(a, b, f"output {i}")
            torch.testing.assert_close(a, b, equal_nan=True, **tolerances)
        else:
            assert a == b or (a != a and b != b), f"output {i}: {a!r}, eager gives {b!r}"


def clone_like(t: Any) -> Any:
    """A deep copy of tensors in a structure, with the same strides and `requires_grad`, as leaves.

    `clone` alone would turn an expanded tensor into a dense one; here the elements that share memory still do.
    """

    def one(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        if x.layout is not torch.strided or x.is_quantized or x.device.type == "meta" or type(x) is not torch.Tensor:
            return x.detach().clone().requires_grad_(x.requires_grad)
        size = 1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True)) if x.numel() else 0
        storage = torch.empty(size, dtype=x.dtype, device=x.device)
        if size:
            storage.copy_(torch.as_strided(x.detach(), (size,), (1,)))
        copy = torch.as_strided(storage, x.shape, x.stride())
        if x.is_conj():
            copy = copy.conj()
        if x.is_neg():
            copy = copy.neg()
        return copy.detach().requires_grad_(x.requires_grad)

    return tree_map(one, t)


# ---- inputs with odd layouts -----------------------------------------------------------------------


def random_tensor(shape: tuple[int, ...], dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    """Random values that do not overflow short chains of arithmetic in `dtype`."""
    gen = torch.Generator().manual_seed(seed)
    if dtype is torch.bool:
        return torch.randint(0, 2, shape, generator=gen).bool()
    if not dtype.is_floating_point:
        low = 0 if dtype is torch.uint8 else -5
        return torch.randint(low, 6, shape, generator=gen).to(dtype)
    return torch.randn(shape, generator=gen, dtype=torch.float64).clamp(-3, 3).to(dtype)


def _transposed(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    return random_tensor(shape[::-1], dtype, seed).permute(tuple(range(len(shape) - 1, -1, -1)))


def _sliced(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Every second element of the last axis, from the second: neither dense nor at the start of its storage."""
    if not shape:
        return random_tensor((3,), dtype, seed)[1]
    return random_tensor((*shape[:-1], 2 * shape[-1] + 1), dtype, seed)[..., 1::2]


def _expanded(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    """The first axis has stride 0."""
    if not shape:
        return random_tensor((1,), dtype, seed).expand(4)[2]
    return random_tensor((1, *shape[1:]), dtype, seed).expand(shape)


def _offset(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Dense, but starting one element into its storage: not aligned for vectors."""
    n = 1
    for extent in shape:
        n *= extent
    return random_tensor((n + 1,), dtype, seed)[1:].view(shape)


LAYOUTS: dict[str, Callable[[tuple[int, ...], torch.dtype, int], torch.Tensor]] = {
    "contiguous": random_tensor,
    "transposed": _transposed,
    "sliced": _sliced,
    "expanded": _expanded,
    "offset": _offset,
}


def tensor_with_layout(
    layout: str, shape: tuple[int, ...], dtype: torch.dtype = torch.float32, seed: int = 0
) -> torch.Tensor:
    """A random tensor of `shape` stored in one of the `LAYOUTS`."""
    return LAYOUTS[layout](shape, dtype, seed)
