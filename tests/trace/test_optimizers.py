"""`torch.compile(optimizer.step)` over several steps: parameters, states and numbers of graphs as with others."""

from __future__ import annotations

import contextlib
import copy
import logging
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, optim
from torch._dynamo.backends.registry import lookup_backend

from tests.support import BACKEND

SHAPES: tuple[tuple[int, ...], ...] = ((7, 5), (5,), (3, 4, 2), (1,), ())
Params = list[Tensor]
Between = Callable[[int, optim.Optimizer, Params], None]  # what is done before a step


def parameters(dtype: torch.dtype, shapes: tuple[tuple[int, ...], ...], seed: int = 0) -> Params:
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(s, generator=draw, dtype=torch.float64).to(dtype).requires_grad_() for s in shapes]


def set_gradients(params: Params, step: int) -> None:
    draw = torch.Generator().manual_seed(100 + step)
    for p in params:
        p.grad = torch.randn(p.shape, generator=draw, dtype=torch.float64).to(p.dtype)


class Counted:
    """A backend, and how many graphs it was given."""

    def __init__(self, name: str) -> None:
        self.name, self.graphs = name, 0
        self.backend: Any = lookup_backend(name)

    def __call__(self, gm: Any, inputs: Any, **kwargs: Any) -> Any:
        self.graphs += 1
        return self.backend(gm, inputs, **kwargs)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without what Dynamo says of profilers' functions that it leaves out."""
    logger = logging.getLogger("torch._dynamo")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def run(
    make: Callable[[Params], optim.Optimizer],
    backend: Any,
    dtype: torch.dtype = torch.float32,
    steps: int = 4,
    between: Between | None = None,
    shapes: tuple[tuple[int, ...], ...] = SHAPES,
) -> dict[str, Tensor]:
    """Parameters and states after some steps, with what is done `between` them."""
    params = parameters(dtype, shapes)
    opt = make(params)
    step = opt.step
    if backend is not None:
        torch._dynamo.reset()
        step = torch.compile(opt.step, backend=backend)
    with quiet():
        for k in range(steps):
            set_gradients(params, k)
            if between is not None:
                between(k, opt, params)
            step()
    out = {f"parameter {k}": p.detach() for k, p in enumerate(params)}
    for k, state in opt.state_dict()["state"].items():
        out.update({f"{name} {k}": torch.as_tensor(v).detach() for name, v in state.items()})
    return out


def check(make: Callable[[Params], optim.Optimizer], between: Between | None = None, **kwargs: Any) -> None:
    """As near to what float64 gives as eager or AOTAutograd's graph of it, and as many graphs as that takes."""
    ours, other = Counted(BACKEND), Counted("aot_eager")
    got = run(make, ours, between=between, **kwargs)
    eager = run(make, None, between=between, **kwargs)
    traced = run(make, other, between=between, **kwargs)
    exact = run(make, None, torch.float64, between=between, **kwargs)
    assert ours.graphs == other.graphs
    assert list(got) == list(eager)
    for name, g in got.items():
        e, t, x = eager[name], traced[name], exact[name]
        assert (g.dtype, g.shape, g.stride()) == (e.dtype, e.shape, e.stride()), name
        if torch.equal(g, e) or torch.equal(g, t):
            continue
        allowed = max(float((y.double() - x).abs().max()) for y in (e, t)) + 2**-22 * float(x.abs().max())
        assert float((g.double() - x).abs().max()) <= allowed, name


def exactly(make: Callable[[Params], optim.Optimizer], **kwargs: Any) -> None:
    """Eager's bits, or those of what Dynamo makes of the step: before 2.13 it takes `add_` with `alpha` apart."""
    eager = run(make, None, **kwargs)
    try:
        traced = run(make, "eager", **kwargs)
    except Exception as e:  # for which backend, all the same
        pytest.skip(f"Dynamo cannot trace it in this version: {e}")
    got = run(make, BACKEND, **kwargs)
    assert list(got) == list(eager)
    assert [
        name for name, g in got.items() if not torch.equal(g, eager[name]) and not torch.equal(g, traced[name])
    ] == []


BIT_FOR_BIT: dict[str, tuple[Any, dict[str, Any]]] = {
    "SGD": (optim.SGD, {"lr": 0.1}),
    "SGD with momentum": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01, "dampening": 0.1}),
    "SGD of Nesterov": (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    "Rprop": (optim.Rprop, {"lr": 0.01}),
    "Adafactor": (optim.Adafactor, {"lr": 0.01, "weight_decay": 0.1}),
}
OTHERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "Adam": (optim.Adam, {"lr": 0.01}),
    "Adam with all": (optim.Adam, {"lr": 0.01, "amsgrad": True, "weight_decay": 0.1, "maximize": True}),
    "AdamW": (optim.AdamW, {"lr": 0.01, "amsgrad": True}),
    "Adamax": (optim.Adamax, {"lr": 0.01, "weight_decay": 0.1}),
    "Adagrad": (optim.Adagrad, {"lr": 0.1}),
    "Adagrad with all": (
        optim.Adagrad,
        {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.3, "maximize": True},
    ),
    "Adadelta": (optim.Adadelta, {"lr": 0.5, "weight_decay": 0.1}),
    "RMSprop": (optim.RMSprop, {"lr": 0.01}),
    "RMSprop with all": (optim.RMSprop, {"lr": 0.01, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    "NAdam": (optim.NAdam, {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "RAdam": (optim.RAdam, {"lr": 0.01, "weight_decay": 0.1, "maximize": True}),
    "ASGD": (optim.ASGD, {"lr": 0.01, "lambd": 0.01, "t0": 2}),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("name", BIT_FOR_BIT)
def test_eagers_bits(name: str, foreach: bool) -> None:
    make, options = BIT_FOR_BIT[name]
    exactly(lambda ps: make(ps, foreach=foreach, **options))


@pytest.mark.every(4)
@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_as_near_as_eager(name: str, foreach: bool) -> None:
    make, options = OTHERS[name]
    check(lambda ps: make(ps, foreach=foreach, **options), steps=6)


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, optim.RMSprop, optim.Adagrad])
def test_float64(make: Any) -> None:
    """Numbers are parameters, too: torch itself loses writes to tensors of no dimensions in float64."""
    kinds = [lambda ps: make(ps, lr=0.1, foreach=False), lambda ps: make(ps, lr=0.1, foreach=True)]
    try:
        torch.set_default_dtype(torch.float64)  # in which some count steps
        for kind in kinds:
            got, eager = (run(kind, b, torch.float64, shapes=SHAPES[2:]) for b in (BACKEND, None))
            assert list(got) == list(eager)
            for name, g in got.items():
                torch.testing.assert_close(g, eager[name], rtol=1e-13, atol=1e-13, msg=name)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("make", [optim.SGD, optim.Adagrad, optim.RMSprop])
def test_a_tensor_as_learning_rate(make: Any) -> None:
    def halve(k: int, opt: optim.Optimizer, params: Params) -> None:
        opt.param_groups[0]["lr"].mul_(0.5)

    check(lambda ps: make(ps, lr=torch.tensor(0.1)), halve)


@pytest.mark.parametrize("name", ["StepLR", "OneCycleLR"])
def test_schedules(name: str) -> None:
    """A learning rate that is a number is part of the graph, as with any backend."""
    schedulers: dict[int, Any] = {}

    def advance(k: int, opt: optim.Optimizer, params: Params) -> None:
        if k == 0:
            schedulers[id(opt)] = {
                "StepLR": lambda: optim.lr_scheduler.StepLR(opt, 2, 0.5),
                "OneCycleLR": lambda: optim.lr_scheduler.OneCycleLR(opt, 0.2, total_steps=6, cycle_momentum=False),
            }[name]()
        else:
            schedulers[id(opt)].step()

    with quiet():
        check(lambda ps: optim.AdamW(ps, lr=0.1), advance, shapes=SHAPES[:2])


def test_groups_and_states_that_change() -> None:
    """A group is added, states are saved and loaded, and gradients are missing."""
    kept: dict[int, Any] = {}

    def change(k: int, opt: optim.Optimizer, params: Params) -> None:
        if k == 1:
            more = torch.linspace(0, 1, 6, dtype=params[0].dtype).requires_grad_()
            params.append(more)
            opt.add_param_group({"params": [more], "lr": 0.5, "weight_decay": 0.2})
        if k == 2:
            kept[id(opt)] = copy.deepcopy(opt.state_dict())
            params[1].grad = None
        if k == 3:
            opt.load_state_dict(kept.pop(id(opt)))
        for p in params[2:]:
            p.grad = torch.ones_like(p) * k

    check(lambda ps: optim.Adam(ps, lr=0.1, foreach=False), change, steps=5, shapes=SHAPES[:2])
    check(lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9, foreach=True), change, steps=5, shapes=SHAPES[3:])


def test_states_go_from_ours_to_eagers() -> None:
    """`state_dict` of an optimizer with compiled steps goes on in one without, and is that of one without."""
    results = []
    for backend in (BACKEND, None):
        params = parameters(torch.float32, SHAPES)
        opt = optim.SGD(params, lr=0.1, momentum=0.9)
        step = opt.step if backend is None else torch.compile(opt.step, backend=backend)
        with quiet():
            for k in range(2):
                set_gradients(params, k)
                step()
        again = optim.SGD(params, lr=0.1, momentum=0.9)
        again.load_state_dict(copy.deepcopy(opt.state_dict()))
        set_gradients(params, 3)
        again.step()
        results.append((params, again.state_dict()["param_groups"]))
    assert results[0][1] == results[1][1]
    assert all(map(torch.equal, results[0][0], results[1][0]))


def test_a_scaler_of_gradients() -> None:
    """Steps are left out while there are infinite gradients, and the scale follows."""
    found = []
    for backend in (BACKEND, None):
        torch._dynamo.reset()
        params = parameters(torch.float32, SHAPES)
        opt = optim.AdamW(params, lr=0.1, foreach=True)
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)  # type: ignore[attr-defined]
        if backend is not None:
            opt.step = torch.compile(opt.step, backend=backend)  # type: ignore[method-assign]
        scales = []
        with quiet():
            for k in range(5):
                opt.zero_grad()
                scaler.scale(sum((p * p).sum() for p in params)).backward()  # type: ignore[union-attr]
                if k == 2:
                    params[0].grad[0, 0] = float("inf")  # type: ignore[index]
                scaler.step(opt)
                scaler.update()
                scales.append(scaler.get_scale())
        found.append((params, scales))
    assert found[0][1] == found[1][1] == [8.0, 16.0, 8.0, 8.0, 16.0]
    for p, q in zip(found[0][0], found[1][0], strict=True):
        torch.testing.assert_close(p, q)


def test_gradients_clipped_and_steps_in_one_graph() -> None:
    def make(params: Params) -> optim.Optimizer:
        class Clipped(optim.AdamW):
            def step(self, closure: Any = None) -> None:  # type: ignore[override]
                torch.nn.utils.clip_grad_norm_(params, 0.5)
                super().step()

        return Clipped(params, lr=0.1)

    check(make)


def test_closures() -> None:
    """LBFGS evaluates the function itself; so may others."""
    for make in (lambda ps: optim.LBFGS(ps, lr=0.5, line_search_fn="strong_wolfe"), lambda ps: optim.SGD(ps, lr=0.1)):
        results = []
        for backend in (BACKEND, None):
            torch._dynamo.reset()
            params = parameters(torch.float64, SHAPES)
            opt: Any = make(params)
            step = opt.step if backend is None else torch.compile(opt.step, backend=backend)

            def closure(params: Params = params, opt: Any = opt) -> Tensor:
                opt.zero_grad()
                loss = sum((p.exp() - p).sum() for p in params)
                loss.backward()  # type: ignore[union-attr]
                return loss  # type: ignore[return-value]

            with quiet():
                losses = [float(step(closure)) for _ in range(3)]
            results.append((params, losses))
        assert results[0][1] == pytest.approx(results[1][1], rel=1e-12)
        for p, q in zip(results[0][0], results[1][0], strict=True):
            torch.testing.assert_close(p, q, rtol=1e-10, atol=1e-12)


def test_sparse_gradients() -> None:
    results = []
    for backend in (BACKEND, None):
        torch._dynamo.reset()
        table = torch.linspace(-1, 1, 24).reshape(8, 3).requires_grad_()
        opt = optim.SparseAdam([table], lr=0.1)
        step = opt.step if backend is None else torch.compile(opt.step, backend=backend)
        with quiet():
            for k in range(3):
                opt.zero_grad()
                torch.nn.functional.embedding(torch.tensor([k, 1, 1, 5]), table, sparse=True).exp().sum().backward()
                step()
        results.append(table.detach())
    torch.testing.assert_close(*results)


def test_a_differentiable_step() -> None:
    """Gradients of what parameters are after a step, with respect to what they were and to the learning rate."""
    results = []
    for backend in (BACKEND, None):
        torch._dynamo.reset()
        start, lr = parameters(torch.float64, ((4, 3),))[0], torch.tensor(0.1, dtype=torch.float64, requires_grad=True)

        def after(start: Tensor, lr: Tensor) -> Tensor:
            p = start.clone()
            p.grad = (start * start).sin()
            opt = optim.SGD([p], lr=lr, differentiable=True)
            opt.step()
            return p

        f = after if backend is None else torch.compile(after, backend=backend)
        with quiet():
            results.append(torch.autograd.grad(f(start, lr).sin().sum(), (start, lr)))
    for g, e in zip(*results, strict=True):
        torch.testing.assert_close(g, e)


@pytest.mark.skipif(not hasattr(optim, "Muon"), reason="there is none in this version of torch")
def test_muon_in_eagers_precision() -> None:
    if not BACKEND.startswith("fusewright"):
        pytest.skip("an option of ours")
    import fusewright

    with fusewright.options(precision="eager"):
        check(lambda ps: optim.Muon(ps, lr=0.01, weight_decay=0.1), shapes=((7, 5), (5, 8)))
