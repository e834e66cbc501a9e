"""Calls of a compiled program: what they must be, what they give back, and what state they meet."""

from __future__ import annotations

import copy
import pickle
import threading
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, export
from torch.utils import _pytree as pytree

import fusewright
from fusewright import UserError
from fusewright.run.program import Program
from tests.aot.programs import CASES, MLP, Case, Counting

X, B = torch.randn(4, 12), torch.randn(3)


def compiled(name: str) -> Program:
    return fusewright.aot_compile(CASES[name].export()[1])


@pytest.fixture(scope="module")
def mlp() -> Program:
    return compiled("mlp")


@pytest.fixture(scope="module")
def nested() -> Program:
    return compiled("nested")


def call(n: int = 5, **changes: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args, kwargs = CASES["nested"].args(n)
    return args, {**kwargs, **changes}


# --- what is wrong -----------------------------------------------------------------------------------

WRONG: dict[str, tuple[Any, str]] = {
    "type": (torch.randn(4, 12).double(), "argument x is of float64: the program takes float32"),
    "rank": (torch.randn(12), "argument x has 1 dimensions: the program takes 2"),
    "extent": (torch.randn(4, 13), "argument x has extent 13 in dimension 1: the program takes 12"),
    "range": (torch.randn(5000, 12), r"x.shape\[0\] is 5000: the program was exported for 0 to 4096"),
    "device": (torch.randn(4, 12, device="meta"), "argument x is on meta: the program takes it on cpu"),
    "no tensor": ([1.0], "argument x is a list"),
    "a number": (3, "argument x is a int: the program takes a tensor"),
    "sparse": (torch.randn(4, 12).to_sparse(), "argument x is a torch.sparse_coo"),
    "zeros without memory": (torch._efficientzerotensor(4, 12), "lazy tensor"),
    "subclass": (torch.randn(4, 12).as_subclass(type("Mine", (Tensor,), {})), "argument x is a Mine"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_tensors(what: str, mlp: Program) -> None:
    value, message = WRONG[what]
    with pytest.raises(UserError, match=message):
        mlp(value)


def test_wrong_arity(mlp: Program) -> None:
    with pytest.raises(UserError, match=r"the program takes \(x\), and was called with \(\)"):
        mlp()
    with pytest.raises(UserError, match=r"was called with \(Tensor, Tensor\)"):
        mlp(X, X)
    with pytest.raises(UserError, match=r"was called with \(Tensor, y=Tensor\)"):
        mlp(X, y=X)


def test_arguments_by_name_and_in_any_order(mlp: Program, nested: Program) -> None:
    assert torch.equal(mlp(x=X), mlp(X))
    (pair, scale), kwargs = call()
    want = nested(pair, scale, **kwargs)
    got = nested(scale=scale, more=kwargs["more"], pair=pair, flag=True)
    assert torch.equal(got[0]["y"], want[0]["y"])


def test_wrong_structures(nested: Program) -> None:
    (pair, scale), kwargs = call()
    x, named = pair
    wrong: list[tuple[Any, str]] = [
        (([x, named], scale), "argument pair is a list, not a tuple"),
        (((x,), scale), "argument pair has 1 items, not 2"),
        (((x, {"c": named["b"]}), scale), r"argument pair\[1\] has the keys \['c'\], not \['b'\]"),
        (((x, [named["b"]]), scale), r"argument pair\[1\] is a list, not a dict"),
        (((x, named), 2.0), "argument scale is 2.0: the program was exported for 1.5 only"),
        (((x, named), torch.tensor(1.5)), "argument scale is tensor"),
    ]
    for args, message in wrong:
        with pytest.raises(UserError, match=message):
            nested(*args, **kwargs)
    with pytest.raises(UserError, match="argument flag is False: the program was exported for True only"):
        nested(pair, scale, **{**kwargs, "flag": False})
    with pytest.raises(UserError, match=r"argument more has 2 items, not 1"):
        nested(pair, scale, **{**kwargs, "more": [B, B]})


def test_sizes_that_do_not_go_together() -> None:
    program = compiled("derived")
    with pytest.raises(UserError, match=r"x.shape\[0\] is 7: the program takes 2\*\w+ there"):
        program(torch.randn(7, 3), torch.randn(4, 3))
    only = compiled("only derived")
    with pytest.raises(UserError, match=r"x.shape\[0\] is 7"):
        only(torch.randn(7))


def test_integers(mlp: Program) -> None:
    program = compiled("sizes")
    with pytest.raises(UserError, match="argument n is a float: the program takes an int"):
        program(torch.randn(4, 3), 2.0)
    with pytest.raises(UserError, match="argument n is a bool"):
        program(torch.randn(4, 3), True)


def test_what_torch_assumed_of_sizes_is_asked() -> None:
    class Half(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[: x.shape[0] // 2] * 2 if x.shape[0] > 4 else x

    program = fusewright.aot_compile(Half(), (torch.randn(8, 3),), dynamic_shapes=({0: Dim.AUTO},))
    assert program(torch.randn(9, 3)).shape == (4, 3)
    with pytest.raises(UserError, match=r"x.shape\[0\]"):
        program(torch.randn(3, 3))


def test_no_largest_element_of_none() -> None:
    """Eager raises an error; other reductions of nothing have a result, and a softmax of nothing is empty."""

    class M(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
            return x.amax(0) * 2, (x + 1).argmax(), torch.softmax(y * 2, 0), (y + 1).mean(0)

    shapes = {"x": {0: Dim("n")}, "y": {0: Dim("m")}}
    program = fusewright.aot_compile(M(), (torch.randn(3, 4), torch.randn(3, 4)), dynamic_shapes=shapes)
    x, y = torch.randn(1, 4), torch.randn(0, 4)
    torch.testing.assert_close(program(x, y), M()(x, y), equal_nan=True)
    with pytest.raises(UserError, match=r"exported for sizes with \w+ != 0 \(here \w+ = 0, x.shape\[0\]\)"):
        program(y, x)


def test_an_argument_that_is_written_and_another_that_shares_its_memory() -> None:
    program = compiled("writing")
    keys = torch.randn(3, 4)
    with pytest.raises(UserError, match="shares memory with another argument"):
        program(keys, {"keys": keys, "seen": torch.zeros((), dtype=torch.int32)})


# --- what comes back ---------------------------------------------------------------------------------


def test_results_that_are_arguments_and_views_of_them() -> None:
    program = compiled("writing")
    x, cache = torch.randn(3, 4), {"keys": torch.randn(3, 4), "seen": torch.zeros((), dtype=torch.int32)}
    want = cache["keys"] * 2 + x
    keys, turned, piece, _ = program(x, cache)
    assert keys is cache["keys"] and torch.equal(keys, want)
    assert turned.data_ptr() == keys.data_ptr() and turned.shape == (4, 3)
    assert piece._is_view() or piece.data_ptr() == keys.data_ptr()
    keys.zero_()
    assert not turned.any() and not piece.any()
    assert cache["seen"].item() == 1


VIEWS: dict[str, Any] = {
    "transposed": lambda x: (x.t(), x * 2),
    "sliced": lambda x: x[1:, ::2],
    "a chain": lambda x: x.t()[1:].unsqueeze(1).transpose(0, 2),
    "pieces": lambda x: (*x.split(2, 1), *x.unbind(1)),
    "of another type": lambda x: x.view(torch.int32)[1:],
    "flattened": lambda x: x.flatten(),
    "expanded": lambda x: x.unsqueeze(0).expand(3, -1, -1),
    "of what is written": lambda x: (x.mul_(3), x.t(), x[0]),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_arguments_with_other_strides(name: str) -> None:
    class M(nn.Module):
        def forward(self, x: Any) -> Any:
            return VIEWS[name](x)

    dims = {"x": {0: Dim("n", max=99)}} if name == "transposed" else None
    program = fusewright.aot_compile(M(), (torch.randn(6, 4),), dynamic_shapes=dims)
    for layout in (lambda x: x[3:9], lambda x: x[::2], lambda x: x.view(4, 12)[:, 3:9].t()):
        ours, eagers = (layout(torch.arange(48.0).view(12, 4)) for _ in range(2))
        got, want = ([*out] if isinstance(out, tuple) else [out] for out in (program(ours), M()(eagers)))
        assert torch.equal(ours, eagers)
        for a, b in zip(got, want, strict=True):
            assert torch.equal(a, b) and a.dtype == b.dtype
            shared = b.untyped_storage()._cdata == eagers.untyped_storage()._cdata
            assert (a.untyped_storage()._cdata == ours.untyped_storage()._cdata) is shared
            if shared:
                assert (a.stride(), a.storage_offset()) == (b.stride(), b.storage_offset())


def test_arguments_with_other_strides_are_written_all_the_same() -> None:
    program = compiled("writing")
    x, base = torch.randn(3, 4), torch.randn(4, 3)
    keys = base.t()
    want = keys * 2 + x
    out = program(x, {"keys": keys, "seen": torch.zeros((), dtype=torch.int32)})
    assert out[0] is keys and torch.equal(keys, want) and torch.equal(base, want.t())


def test_versions_count_writes() -> None:
    program = compiled("writing")
    cache = {"keys": torch.randn(3, 4), "seen": torch.zeros((), dtype=torch.int32)}
    before = cache["keys"]._version
    program(torch.randn(3, 4), cache)
    assert cache["keys"]._version > before
    counting = compiled("counting")
    before = counting.mean._version
    counting(torch.randn(3, 6))
    assert counting.mean._version > before


def test_namedtuples_and_other_nodes_of_pytree(tmp_path: Path) -> None:
    Pair = namedtuple("Pair", "left right")

    class M(nn.Module):
        def forward(self, p: Any) -> Any:
            return Pair(p.left + p.right, [p.left * 2])

    program = export(M(), (Pair(torch.randn(3), torch.randn(3)),), strict=False)
    with pytest.raises(UserError, match=r"Pair among the arguments or results cannot be written down"):
        fusewright.aot_compile(program)
    pytree._register_namedtuple(Pair, serialized_type_name="tests.aot.Pair")
    compiled = fusewright.aot_compile(program)
    fusewright.aot_save(compiled, tmp_path / "p.fwp")
    loaded = fusewright.aot_load(tmp_path / "p.fwp")
    given = Pair(torch.randn(3), torch.randn(3))
    for p in (compiled, loaded):
        got = p(given)
        assert type(got) is Pair and torch.equal(got.left, given.left + given.right)
        with pytest.raises(UserError, match="argument p is a tuple"):
            p(tuple(given))


# --- the state of the thread -----------------------------------------------------------------------------


def test_autograd_autocast_and_inference_mode(mlp: Program) -> None:
    want = mlp(X)
    got = mlp(X.clone().requires_grad_())
    assert not got.requires_grad and torch.equal(got, want)
    with torch.autocast("cpu", torch.bfloat16):
        got = mlp(X)
    assert got.dtype == torch.float32 and torch.equal(got, want)
    with torch.inference_mode():
        inside = torch.randn(4, 12)
        assert torch.equal(mlp(inside), mlp(inside.clone()))
    with torch.no_grad():
        assert torch.equal(mlp(X), want)


def test_transforms_are_refused(mlp: Program) -> None:
    with pytest.raises(UserError, match=r"cannot be transformed by torch.func"):
        torch.func.vmap(mlp)(torch.randn(2, 4, 12))


def test_inside_torch_compile(mlp: Program) -> None:
    torch._dynamo.reset()
    f = torch.compile(lambda x: mlp(x * 2) + 1, backend="eager")
    assert torch.equal(f(X), mlp(X * 2) + 1)
    torch._dynamo.reset()


def test_threads(mlp: Program, tmp_path: Path) -> None:
    inputs = [torch.randn(k + 1, 12) for k in range(8)]
    want = [mlp(x) for x in inputs]
    wrong: list[int] = []
    fusewright.aot_save(mlp, tmp_path / "mlp.fwp")
    loaded = fusewright.aot_load(tmp_path / "mlp.fwp")

    def work(k: int) -> None:
        for _ in range(50):
            for j in range(len(inputs)):
                n = (j + k) % len(inputs)
                if not torch.equal((loaded if k % 2 else mlp)(inputs[n]), want[n]):
                    wrong.append(n)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


# --- the module --------------------------------------------------------------------------------------


class Looking(nn.Module):
    """Updates a buffer by what an index finds."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.ones(1000))
        self.register_buffer("table", torch.arange(10.0))

    def forward(self, i: Tensor) -> Tensor:
        self.seen.mul_(self.table[i] + 1)
        return self.seen * 2


def test_an_exception_half_way_loses_no_state(tmp_path: Path) -> None:
    program = fusewright.aot_compile(Looking(), (torch.zeros(1000, dtype=torch.int64),))
    fusewright.aot_save(program, tmp_path / "looking.fwp")
    for p in (program, fusewright.aot_load(tmp_path / "looking.fwp")):
        index = torch.zeros(1000, dtype=torch.int64)
        index[999] = 10
        with pytest.raises(IndexError, match="out of"):
            p(index)
        assert bool((p.seen == 1).all())
        index[999] = 3
        assert p(index)[999] == 8 and p.seen[999] == 4 and bool((p.seen[:999] == 1).all())


def test_hooks(mlp: Program) -> None:
    seen: list[str] = []
    handles = [
        mlp.register_forward_pre_hook(lambda m, args: seen.append("before")),
        mlp.register_forward_hook(lambda m, args, out: out * 2),
    ]
    doubled = mlp(X)
    for h in handles:
        h.remove()
    assert seen == ["before"] and torch.equal(doubled, mlp(X) * 2)


def test_parameters_are_shared_and_can_be_written() -> None:
    module = MLP()
    program = fusewright.aot_compile(module, (X,), dynamic_shapes=({0: Dim("b")},))
    assert program.up.weight is module.up.weight
    with torch.no_grad():
        module.up.weight.mul_(2)
        torch.testing.assert_close(program(X), module(X))
    other = MLP()
    program.load_state_dict(other.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(program(X), other(X))
    assert dict(program.named_parameters()).keys() == dict(module.named_parameters()).keys()


def test_tied_weights_stay_tied(tmp_path: Path) -> None:
    fusewright.aot_save(CASES["gpt"].export()[1], tmp_path / "gpt.fwp")
    program = fusewright.aot_load(tmp_path / "gpt.fwp")
    assert program.head.weight is program.tokens.weight
    assert len(list(program.parameters())) == len(list(CASES["gpt"].make().parameters()))


def test_views_of_one_memory_stay_so(tmp_path: Path) -> None:
    class Halves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            whole = torch.zeros(8)
            self.register_buffer("left", whole[:4])
            self.register_buffer("both", whole)

        def forward(self, x: Tensor) -> Tensor:
            return self.both.sum() + x

    fusewright.aot_save(export(Halves(), (torch.ones(2),)), tmp_path / "h.fwp")
    program = fusewright.aot_load(tmp_path / "h.fwp")
    program.left.fill_(1)
    assert program(torch.zeros(2)).tolist() == [4, 4]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda p: p.to(torch.float64), "for its devices and types"),
        (lambda p: p.half(), "for its devices and types"),
        (lambda p: p.train(), r"export it in train\(\) mode"),
        (lambda p: p.load_state_dict(p.state_dict(), assign=True), "without assign"),
        (lambda p: copy.deepcopy(p), "cannot be copied"),
        (lambda p: pickle.dumps(p), "not pickled"),
    ],
)
def test_what_a_program_cannot_do(what: Any, message: str, mlp: Program) -> None:
    with pytest.raises(UserError, match=message):
        what(mlp)
    assert mlp.eval() is mlp and not mlp(X).requires_grad


def test_names_that_the_class_has_too() -> None:
    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("about", torch.ones(3))
            self.register_buffer("_program", torch.ones(3))
            self.inner = nn.Linear(3, 3)

        def forward(self, args: Tensor, kwargs: Tensor) -> Tensor:
            return self.inner(args) * self.about + self._program + kwargs

    m = M()
    program = fusewright.aot_compile(m, (torch.ones(3), torch.ones(3)))
    torch.testing.assert_close(program(torch.ones(3), torch.ones(3)), m(torch.ones(3), torch.ones(3)).detach())
    assert set(program.state_dict()) == set(m.state_dict())


def test_argument_names_that_plans_use() -> None:
    class M(nn.Module):
        def forward(self, S: Tensor, nt: Tensor, p0: Tensor, w0: Tensor, in0: Tensor, math: Tensor) -> Tensor:
            return (S * nt + p0).softmax(-1) * w0 + in0 - math

    args = [torch.randn(5, 4) for _ in range(6)]
    program = fusewright.aot_compile(M(), tuple(args), dynamic_shapes=tuple({0: Dim("b")} for _ in args))
    torch.testing.assert_close(program(*args), M()(*args))


# --- what cannot be compiled -------------------------------------------------------------------------------


def test_what_is_no_program() -> None:
    with pytest.raises(UserError, match="an ExportedProgram or a module is needed, not a function"):
        fusewright.aot_compile(lambda x: x)
    with pytest.raises(UserError, match="needs example arguments"):
        fusewright.aot_compile(MLP())
    with pytest.raises(UserError, match="example arguments are for modules"):
        fusewright.aot_compile(CASES["mlp"].export()[1], (X,))
    with pytest.raises(UserError, match="compiled already"):
        fusewright.aot_compile(compiled("mlp"))
    with pytest.raises(UserError, match="unknown option 'speed'"):
        fusewright.aot_compile(CASES["mlp"].export()[1], speed=True)


def test_control_flow_on_values_is_refused() -> None:
    class M(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))

    with pytest.raises(UserError, match="control flow on values cannot be compiled ahead of time"):
        fusewright.aot_compile(export(M(), (torch.randn(3),)))


def test_options_are_the_programs_own() -> None:
    _, exported = Case(Counting, CASES["counting"].args, [(4,)], CASES["counting"].dynamic).export()
    before = fusewright.counters()["kernels_compiled"]
    program = fusewright.aot_compile(exported, grouping=False, disk_cache=False)
    assert fusewright.counters()["kernels_compiled"] == before
    program(torch.randn(3, 6))
