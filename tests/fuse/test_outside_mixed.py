"""Containers that hold tensors beside other values, and objects of torch's own classes that hold settings."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import fusewright
from tests.support import counted, counters

TABLE: dict[str, Any] = {}


class Held:
    def __init__(self, table: Any) -> None:
        self.table = table


class Layer(nn.Module):
    def __init__(self, table: Any) -> None:
        super().__init__()
        self.table = table

    def forward(self, x: Tensor) -> Tensor:
        return x * self.table["scale"] + self.table["inner"][0]["shift"]


def made() -> dict[str, Any]:
    return {"w": torch.ones(3), "scale": 2.0, "inner": [{"shift": 1.0, "t": torch.ones(2)}, (torch.ones(1), 4.0)]}


@pytest.mark.parametrize("place", ["global", "closure", "object", "argument", "module"])
def test_numbers_beside_tensors_are_conditions(place: str) -> None:
    table = made()
    TABLE.clear()
    TABLE.update(table)
    held, x = Held(table), torch.randn(4)
    given = fusewright.fuse(lambda x, h: x * h.table["scale"] + h.table["inner"][0]["shift"])
    call: Any = {
        "global": fusewright.fuse(lambda x: x * TABLE["scale"] + TABLE["inner"][0]["shift"]),
        "closure": fusewright.fuse(lambda x: x * table["scale"] + table["inner"][0]["shift"]),
        "object": fusewright.fuse(lambda x: x * held.table["scale"] + held.table["inner"][0]["shift"]),
        "argument": lambda x: given(x, held),
        "module": fusewright.fuse(Layer(table)),
    }[place]
    here = TABLE if place == "global" else table
    for change in range(6):
        if change == 1:
            here["scale"] = 3.0
        elif change == 2:
            here["inner"][0]["shift"] = 5.0
        elif change == 3:
            here["scale"] = 3  # an integer: another type
        elif change == 4:
            here["inner"] = [{"shift": 7.0, "t": torch.ones(2)}]
        elif change == 5:
            here["scale"] = 2.0
        for _ in range(2):
            assert torch.equal(call(x), x * here["scale"] + here["inner"][0]["shift"])


def test_tensors_beside_numbers_are_no_conditions() -> None:
    """Tensors may be exchanged, added and removed: the function does not use them."""
    table = made()
    fused, before = fusewright.fuse(lambda x: x * table["scale"] + table["inner"][0]["shift"]), counters()
    for k in range(5):
        fused(torch.ones(4))
        table["w"], table[f"more{k}"] = torch.zeros(3), torch.ones(1)
        table["inner"][0]["t"] = torch.zeros(k)
    assert counted(before)["fuse_traces"] == 1
    table["flag"] = True  # what else is added may be asked for
    fused(torch.ones(4))
    assert counted(before)["fuse_traces"] == 2


def test_names_that_are_asked_for_in_a_table_of_tensors() -> None:
    table: dict[str, Any] = {"a": torch.ones(1)}
    fused = fusewright.fuse(lambda x: x * table.get("scale", 2.0))
    assert torch.equal(fused(torch.ones(3)), torch.full((3,), 2.0))
    table["scale"] = 3.0
    assert torch.equal(fused(torch.ones(3)), torch.full((3,), 3.0))


def test_a_cache_that_holds_a_setting() -> None:
    cache: dict[str, Any] = {"scale": 2.0}

    def f(x: Tensor) -> Tensor:
        if "table" not in cache:
            cache["table"] = torch.arange(4.0)
        return x * cache["table"] * cache["scale"]

    fused, x, before = fusewright.fuse(f), torch.randn(4), counters()
    for _ in range(3):
        torch.testing.assert_close(fused(x), x * torch.arange(4.0) * 2)
    assert counted(before)["fuse_traces"] == 1
    cache["scale"] = 5.0
    torch.testing.assert_close(fused(x), x * torch.arange(4.0) * 5)


def test_settings_of_optimizers_and_schedulers() -> None:
    opt: Any = torch.optim.SGD([nn.Parameter(torch.ones(4))], lr=0.5, momentum=0.9)
    plan: Any = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)
    scaler: Any = torch.amp.GradScaler("cpu", init_scale=8.0)
    outside = fusewright.fuse(lambda x: x * opt.param_groups[0]["lr"])
    given = fusewright.fuse(lambda x, o: x * o.param_groups[0]["lr"])
    last = fusewright.fuse(lambda x: x * plan.get_last_lr()[0])
    scaled = fusewright.fuse(lambda x: x * scaler.get_scale())
    x = torch.ones(3)
    for k in range(4):
        lr = torch.full((3,), opt.param_groups[0]["lr"])
        for got in (outside(x), given(x, opt), last(x)):
            assert torch.equal(got, lr)
        opt.step()
        plan.step()
        scaler._init_scale = 2.0**k
        assert torch.equal(scaled(x), torch.full((3,), 2.0**k))


@pytest.mark.parametrize("kind", ["SGD", "Adam", "Adagrad"])
def test_a_step_of_an_optimizer_that_cannot_be_traced_changes_nothing(kind: str) -> None:
    """Its parameters are no arguments, and what it has begun to set up for them must not stay."""
    p = nn.Parameter(torch.ones(4))
    opt = getattr(torch.optim, kind)([p], lr=0.5)
    p.grad = torch.ones(4)
    before = {k: dict(v) for k, v in opt.state.items()}
    with pytest.raises(fusewright.UserError, match="no argument of the fused function"):
        fusewright.fuse(lambda: opt.step())()
    assert {k: dict(v) for k, v in opt.state.items()} == before and torch.equal(p, torch.ones(4))
    opt.step()
    assert not torch.equal(p, torch.ones(4))


SHAPED = torch.ones(2)


def asks_of_a_global(x: Tensor) -> Tensor:
    return x * SHAPED.shape[0] * (2 if SHAPED.requires_grad else 1) * (3 if SHAPED.dtype is torch.float32 else 1)


@pytest.mark.parametrize("place", ["global", "list", "dictionary", "object", "module"])
def test_what_is_asked_of_tensors_outside(place: str) -> None:
    """Their elements are not known to a trace; their shapes and types are conditions of it."""
    global SHAPED
    items, table = [torch.ones(2), 1.0], {"t": torch.ones(2), "k": 1.0}
    held, m = Held(torch.ones(2)), nn.Module()
    m.t = torch.ones(2)
    functions: dict[str, Any] = {
        "global": asks_of_a_global,
        "list": lambda x: x * items[0].shape[0] * (3 if items[0].dtype is torch.float32 else 1),
        "dictionary": lambda x: x * table["t"].numel() * (3 if table["t"].is_floating_point() else 1),
        "object": lambda x: x * held.table.size(0) * (2 if held.table.requires_grad else 1),
        "module": lambda x: x * m.t.shape[0] * (3 if m.t.dtype is torch.float32 else 1),
    }
    fused, x, before = fusewright.fuse(functions[place]), torch.ones(3), counters()
    others = [torch.zeros(2), torch.ones(5), torch.ones(5, requires_grad=True), torch.ones(5, dtype=torch.int64)]
    for other in (torch.ones(2), *others):
        SHAPED, items[0], table["t"], held.table, m.t = (other,) * 5
        for _ in range(2):
            assert torch.equal(fused(x), functions[place](x))
    assert counted(before)["fuse_traces"] <= 4  # not for other elements


def test_how_many_tensors_a_list_holds() -> None:
    items = [torch.ones(2)]
    fused = fusewright.fuse(lambda x: x * len(items))
    for k in range(1, 4):
        assert torch.equal(fused(torch.ones(2)), torch.full((2,), float(k)))
        items.append(torch.ones(2))


def test_keys_that_code_asks_for_by_name() -> None:
    table: dict[str, Any] = {"a": torch.ones(1)}
    fused, before = fusewright.fuse(lambda x: x * (2.0 if "b" in table else 1.0)), counters()
    for there in (False, True, False, True):
        table.pop("b", None)
        if there:
            table["b"] = torch.ones(1)
        assert torch.equal(fused(torch.ones(2)), torch.full((2,), 1.0 + there))
        table[f"unread{len(table)}"] = torch.ones(1)  # as another trace fills a cache
    assert counted(before)["fuse_traces"] == 2
