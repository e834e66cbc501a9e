"""Every operation outside a kernel, and every boundary between kernels, has a reason: in models and in OpInfo."""

from __future__ import annotations

import os

import pytest
import torch
from torch.utils._pytree import tree_leaves

import fusewright
from fusewright.debug import record
from fusewright.debug.reasons import UNKNOWN, Reasons
from tests.models.zoo import MODELS
from tests.opinfo.harness import _call, op_name, operators

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

PLACES = {"kernel", "inline", "view", "torch", "host", "item", "dropped", "unused"}
# Every 18th operator of the database; FUSEWRIGHT_REASONS_EVERY=1 looks at all of them.
OPERATORS = operators(torch.float32)[:: int(os.environ.get("FUSEWRIGHT_REASONS_EVERY", "18"))]


def complaints(recording: record.Recording) -> list[str]:
    """What lacks a reason, is in two places, or has a boundary that nobody explains."""
    out = []
    for g in recording:
        if g.failure:
            out.append(f"{g.name} failed: {g.failure}")
            continue
        reasons = Reasons(g)
        operations = reasons.operations()
        names = {k.name for k in g.groups}
        for o in operations:
            if o.place not in PLACES or (o.place != "kernel" and (not o.reason or UNKNOWN in o.reason)):
                out.append(f"{g.name} {o.name} ({o.target}): {o.place} because {o.reason!r}")
            if not set(o.kernels) <= names or (o.place == "kernel") != (o.index in reasons.plan_of and not o.reason):
                out.append(f"{g.name} {o.name}: in kernels {o.kernels}, {o.place}")
        known = set()
        for b in reasons.boundaries():
            if not b.reason or UNKNOWN in b.reason:
                out.append(f"{g.name} {b}")
            known |= {(b.first, b.second), (b.second, b.first)}
        ours = [p for p in g.plan.groups if p.ours]
        for k, p in enumerate(ours):  # found in another way than Reasons does
            for q in ours[k + 1 :]:
                read = {q.built.sources[b.name] for b in q.built.fusion.buffers if not b.output}
                if (read & set(p.group.outputs) or q is ours[k + 1]) and (p.name, q.name) not in known:
                    out.append(f"no boundary between {p.name} and {q.name}")
    return out


@pytest.mark.every(3)
@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    model, batch = MODELS[name]()
    with record.recording() as r:
        torch.compile(model, backend="fusewright")(**batch(0)).backward()
    assert {"forward", "backward"} <= {g.kind for g in r}
    assert not complaints(r)


@pytest.mark.every(6)
@pytest.mark.parametrize("single_op_groups", [False, True])
@pytest.mark.parametrize("number", range(len(OPERATORS)), ids=[op_name(op) for op in OPERATORS])
def test_operators(number, single_op_groups):
    op = OPERATORS[number]
    samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd))
    with record.recording() as r, fusewright.options(single_op_groups=single_op_groups):
        for sample in samples[:: max(1, len(samples) // 2)]:
            torch._dynamo.reset()
            call = torch.compile(lambda x, a, k: op.op(x, *a, **k), backend="fusewright")
            try:
                out, _ = _call(call, sample)
            except Exception:  # what eager refuses, and what Dynamo cannot trace
                continue
            wanted = [y for y in tree_leaves(out) if isinstance(y, torch.Tensor) and y.requires_grad]
            wanted = [y for y in wanted if not y.is_sparse]
            if wanted:
                torch.autograd.backward(wanted, [torch.ones_like(y) for y in wanted])
    assert not complaints(r)


def reasons_of(fn, *args, **options) -> tuple[Reasons, dict[str, str]]:
    torch._dynamo.reset()
    with fusewright.options(**options), record.recording() as r:
        torch.compile(fn, backend="fusewright")(*args)
    out = Reasons(r[0])
    return out, {o.target: f"{o.place}: {o.reason}" for o in out.operations()}


def test_what_the_reasons_say():
    def f(x, w, s):
        s.copy_(x.exp() + 1)
        y = torch.sort(x * 2, -1)[0]
        return y.t(), (x @ w).relu(), x.to(torch.complex64) * 2, torch.nonzero(x)

    _, why = reasons_of(f, torch.randn(6, 6), torch.randn(6, 6), torch.zeros(6, 6))
    assert why["aten.exp.default"] == "kernel: "
    assert why["aten.sort.default"] == "torch: unsupported operator: aten.sort.default has no lowering rule"
    assert why["aten.t.default"] == "view: metadata only: a torch view, which moves nothing"
    assert why["aten.mm.default"] == "torch: aten.mm.default is left to torch's libraries"
    assert why["aten.relu.default"].startswith("torch: single operation")
    assert "dtype torch.complex64" in why["aten._to_copy.default"]
    assert why["aten.copy_.default"].startswith("dropped: mutation: ")
    assert why["<built-in function getitem>"] == "item: one result of an operation with several"


def test_seeds():
    """Our own operation, which a user has not written."""
    _, why = reasons_of(lambda x: torch.dropout(x * 2, 0.5, True), torch.randn(64, 64))
    assert why["fusewright.seeds.default"].startswith("torch: random numbers: the seeds come from torch's generator")


def test_a_mutation_that_torch_runs():
    def f(x, s):
        y = s * 2
        s.copy_(x[0])
        return y.exp() + s

    _, why = reasons_of(f, torch.randn(3, 4), torch.randn(4))
    assert "mutation" in why["aten.copy_.default"]


def test_options_are_reasons():
    x = torch.randn(8, 8)
    _, why = reasons_of(lambda x: x.exp() + 1, x, grouping=False)
    assert why["aten.exp.default"] == "torch: grouping is disabled"


def boundaries(fn, *args, **options) -> list[tuple[str, str, str]]:
    out, _ = reasons_of(fn, *args, **options)
    return [(f"{b.first.partition('.')[2]} {b.second.partition('.')[2]}", b.kind, b.reason) for b in out.boundaries()]


def test_what_the_boundaries_say():
    x, w = torch.randn(64, 64), torch.randn(64, 64)
    (apart,) = boundaries(lambda x, w: (x.exp() + 1, w.cos() * 2), x, w[:32])
    assert apart == ("g0 g1", "in order", "no data in common")
    (between,) = boundaries(lambda x, w: ((x.exp() + 1) @ w).relu() * 3, x, w)
    assert between[:2] == ("g0 g1", "torch between") and "aten.mm.default between them runs through torch" in between[2]
    (small,) = boundaries(lambda x, w, v: (x.exp() + v, w.cos() * v), x, w[:32], torch.randn(64))
    assert small == (
        "g0 g1",
        "in order",
        "all they have in common is a tensor of 256 bytes, which is not worth a merge",
    )
    (refused,) = boundaries(lambda x: torch.cumsum(torch.cumsum(x * 2, 1) + 1, 0) * 2, x)
    assert refused == ("g0 g1", "reads", "schedule: scans along different axes")
    both = boundaries(lambda x: (x.sum(0) * 2, torch.cumsum(x.exp(), 1) * 2), x)
    assert both == [("g0 g1", "shares an input", "schedule: a reduction over rows beside a scan")]


def test_a_lone_operation_next_to_a_kernel_has_a_boundary_too():
    (only,) = boundaries(lambda x: torch.cumsum(torch.cumsum(x * 2, 1) + 1, 0), torch.randn(8, 8))
    assert only == ("g0 cumsum_1", "reads", "schedule: scans along different axes")
