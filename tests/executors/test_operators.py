"""Executors for operators: who is asked, what is claimed, what goes wrong."""

from __future__ import annotations

import ctypes
import threading
import warnings

import pytest
import torch

import fusewright
from fusewright import CompilerError, FusewrightWarning, UserError, executors
from tests.support import assert_agrees, compiled

aten = torch.ops.aten


@pytest.fixture(autouse=True)
def _clean():
    torch.manual_seed(0)
    assert executors.unregister() == 0
    yield
    executors.unregister()
    torch.compiler.reset()


class Recorder:
    """A function that counts its calls and keeps what it was called with."""

    def __init__(self, fn):
        self.fn, self.calls = fn, []

    def __call__(self, *args, **kwargs):
        self.calls.append((args, kwargs))
        return self.fn(*args, **kwargs)


def gelu(x, *, approximate="none"):
    return torch.nn.functional.gelu(x, approximate=approximate)


def program(x):
    return torch.nn.functional.gelu(x * 2) + 1


def reasons(fn, *args, **kwargs) -> dict[str, str]:
    return {o.target: o.reason for g in fusewright.explain(fn, *args, **kwargs).graphs for o in g.operations}


def test_a_claimed_operator_runs_the_executor_between_kernels():
    mine = Recorder(gelu)
    with executors.register("mine", aten.gelu.default, mine):
        f = compiled(program, dynamic=True)
        for shape in ((4, 8), (3, 5), (2, 2)):
            x = torch.randn(shape)
            assert_agrees(f(x), program(x))
        assert [a[0].shape for a, _ in mine.calls] == [(4, 8), (3, 5), (2, 2)]
        why = reasons(program, torch.randn(3, 4))
        assert why["aten.gelu.default"] == "claimed by executor mine"
        report = str(fusewright.explain(program, torch.randn(3, 4)))
        assert "run by executors: 1" in report and "claimed by executor mine" in report
    before = len(mine.calls)
    f(torch.randn(4, 8))  # what is compiled stays
    assert len(mine.calls) == before + 1
    torch.compiler.reset()
    compiled(program)(torch.randn(4, 8))
    assert len(mine.calls) == before + 1


@pytest.mark.parametrize("way", ["compile", "fuse"])
def test_forward_and_backward_are_claimed_independently(way):
    forward, backward = Recorder(gelu), Recorder(lambda g, x, *, approximate="none": aten.gelu_backward(g, x))
    with (
        executors.register("f", aten.gelu.default, forward),
        executors.register("b", aten.gelu_backward.default, backward),
    ):
        x = torch.randn(5, 6, requires_grad=True)
        f = compiled(program, dynamic=True) if way == "compile" else fusewright.fuse(program)
        f(x).sum().backward()
        want = torch.autograd.grad(program(x).sum(), x)[0]
        torch.testing.assert_close(x.grad, want)
        assert len(forward.calls) >= 1 and len(backward.calls) == 1


def test_a_composite_operator_stays_whole_if_it_is_claimed():
    def softmax(x, dim, half_to_float):
        return torch.softmax(x, dim)

    mine = Recorder(softmax)
    checker = Recorder(lambda x, dim, half_to_float: x.shape[-1] == 8 or f"a row of {x.shape[-1]}")
    f = lambda x: torch.softmax(x * 2, -1) + 1
    with executors.register("mine", aten._softmax.default, mine, checker):
        x = torch.randn(4, 8)
        assert_agrees(compiled(f, dynamic=False)(x), f(x))
        assert len(mine.calls) == 1
        y = torch.randn(4, 9)
        assert_agrees(compiled(f, dynamic=False)(y), f(y))
        assert len(mine.calls) == 1
        grown = torch.randn(4, 8, requires_grad=True)
        out = compiled(lambda x: torch.softmax(x, -1).square().sum(), dynamic=False)(grown)
        out.backward()
        twin = grown.detach().requires_grad_()
        torch.softmax(twin, -1).square().sum().backward()
        torch.testing.assert_close(grown.grad, twin.grad)
        assert len(mine.calls) >= 2


def test_custom_operators_with_their_own_gradient():
    @torch.library.custom_op("fusewright_tests::cube", mutates_args=())
    def cube(x: torch.Tensor) -> torch.Tensor:
        return x * x * x

    cube.register_fake(lambda x: torch.empty_like(x))
    cube.register_autograd(
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    mine = Recorder(lambda x: x.pow(3))
    with executors.register("mine", torch.ops.fusewright_tests.cube.default, mine):
        x = torch.randn(4, requires_grad=True)
        compiled(lambda x: (cube(x * 2) + 1).sum())(x).backward()
        torch.testing.assert_close(x.grad, 6 * (2 * x.detach()) ** 2)
        assert len(mine.calls) == 1


def test_operators_that_have_no_kernels_and_several_results():
    topk = Recorder(lambda x, k, dim=-1, largest=True, sorted=True: tuple(torch.topk(x, k, dim)))
    mm = Recorder(torch.mm)
    with executors.register(
        "mine",
        [aten.topk.default, aten.mm.default],
        lambda *a: mm(*a) if len(a) == 2 and isinstance(a[1], torch.Tensor) else topk(*a),
    ):
        f = lambda x, w: torch.topk((x @ w).relu() + 1, 3)
        x, w = torch.randn(4, 6), torch.randn(6, 5)
        got, want = compiled(f, dynamic=True)(x, w), f(x, w)
        assert_agrees(tuple(got), tuple(want))
        assert len(topk.calls) == 1 and len(mm.calls) == 1


# --- checkers ----------------------------------------------------------------------------------------


def test_what_a_checker_sees():
    seen = []

    def checker(x, *, approximate="none"):
        seen.append(x)
        return False

    with executors.register("mine", aten.gelu.default, gelu, checker):
        compiled(program, dynamic=True)(torch.randn(4, 8))
        compiled(lambda x: torch.nn.functional.gelu(x.t()), dynamic=False)(torch.randn(4, 8, dtype=torch.float64))
    first, second = seen
    assert first.dtype is torch.float32 and first.device == torch.device("cpu") and first.ndim == 2
    assert first.contiguous and first.hint == (4, 8) and [type(n).__name__ for n in first.shape] == ["Size", "Size"]
    assert second.shape == (8, 4) and second.strides == (1, 8) and not second.contiguous


DECLINING = {
    "False": (lambda x, **_: False, "executor mine declined"),
    "None": (lambda x, **_: None, "executor mine declined"),
    "reason": (lambda x, **_: "not today", "executor mine declined: not today"),
    "size": (lambda x, **_: x.shape[0] > 3, r"executor mine declined: the size s\d+ is not known"),
}


@pytest.mark.parametrize("name", DECLINING)
def test_declining(name):
    checker, reason = DECLINING[name]
    mine = Recorder(gelu)
    f = lambda x: torch.nn.functional.gelu(x * 2) + 1
    with executors.register("mine", aten.gelu.default, mine, checker), warnings.catch_warnings():
        warnings.simplefilter("error", FusewrightWarning)
        x = torch.randn(4, 8)
        assert_agrees(compiled(f, dynamic=True)(x), f(x))
        report = fusewright.explain(torch.compile(f, dynamic=True), x) if name != "size" else None
    assert not mine.calls
    if report is not None:
        (why,) = (o.reason for g in report.graphs for o in g.operations if o.target == "aten.gelu.default")
        assert why == reason and "declined by executors: 1" in str(report)


@pytest.mark.parametrize("broken", [lambda x, **_: 1 / 0, lambda x, **_: 3, lambda: True])
def test_a_broken_checker_is_named_and_the_operation_runs_without_it(broken):
    mine = Recorder(gelu)
    x = torch.randn(4, 8)
    with executors.register("mine", aten.gelu.default, mine, broken):
        with pytest.warns(
            FusewrightWarning, match=r"executor mine, for aten.gelu.default: its checker (raised|returned)"
        ):
            assert_agrees(compiled(program)(x), program(x))
        assert not mine.calls
        torch.compiler.reset()
        with fusewright.options(fallback=False), pytest.raises(Exception, match=r"executor mine, for aten.gelu") as e:
            compiled(program)(x)
        causes = [e.value, getattr(e.value, "inner_exception", None), e.value.__cause__]
        assert any(isinstance(c, CompilerError) for c in causes)


# --- executors that fail or lie -------------------------------------------------------------------------


BROKEN = {
    "raises": (lambda x, **_: 1 / 0, "ZeroDivisionError: division by zero"),
    "dtype": (
        lambda x, **_: x.double(),
        r"result 0 is torch.float64 \(4, 8\) on cpu, not torch.float32 \(4, 8\) on cpu",
    ),
    "shape": (lambda x, **_: x[:1], r"result 0 is torch.float32 \(1, 8\) on cpu, not torch.float32 \(4, 8\)"),
    "device": (lambda x, **_: x.to("meta"), r"result 0 is torch.float32 \(4, 8\) on meta"),
    "none": (lambda x, **_: None, "result 0 is a NoneType, not a tensor"),
    "arity": (lambda x, y, **_: x, r"missing 1 required positional argument: 'y'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_executor_is_named_and_replaced(name):
    fn, message = BROKEN[name]
    mine = Recorder(fn)
    x = torch.randn(4, 8)
    f = lambda x: torch.nn.functional.gelu(x * 2) + len(name)
    with executors.register(f"e_{name}", aten.gelu.default, mine):
        run = compiled(f)
        with pytest.warns(FusewrightWarning, match=rf"executor e_{name} failed on aten.gelu.default at .*{message}"):
            assert_agrees(run(x), f(x))
        assert_agrees(run(x), f(x))
        assert len(mine.calls) == 1  # from then on torch's
        torch.compiler.reset()
        with fusewright.options(fallback=False):
            run = compiled(f)
            with pytest.raises(fusewright.RuntimeFault, match=message):
                run(x)


def test_an_executor_in_programs_that_write_fail_and_are_differentiated_twice():
    def f(x, i, out):
        y = torch.nn.functional.gelu(x * 2)
        out.add_(y.detach().sum())
        return (y * 3 + 1)[i]

    mine = Recorder(gelu)
    with executors.register("mine", aten.gelu.default, mine):
        for way in (fusewright.fuse, compiled):
            run = way(f)
            x, good, bad = torch.randn(6, 3), torch.tensor([0, 5, -1]), torch.tensor([0, 6])
            for _ in range(2):
                out, want = torch.zeros(()), torch.zeros(())
                assert_agrees(run(x, good, out), f(x, good, want))
                assert_agrees(out, want)
                with pytest.raises((IndexError, RuntimeError), match="out of"):
                    run(x, bad, torch.zeros(()))
            grown = x.clone().requires_grad_()
            smooth = way(lambda x: torch.nn.functional.gelu(x) * x)
            (g,) = torch.autograd.grad(smooth(grown).sum(), grown, create_graph=True)
            batch = torch.randn(4, 6, 3)
            got = torch.autograd.grad(smooth(grown), grown, batch, is_grads_batched=True)
            plain = torch.nn.functional.gelu(grown) * grown
            want = torch.autograd.grad(plain, grown, batch, is_grads_batched=True, retain_graph=True)
            torch.testing.assert_close(got, want)
            if way is compiled:
                with pytest.raises(RuntimeError, match=r"differentiated twice|double backward"):
                    g.sum().backward()
            else:
                (want,) = torch.autograd.grad(
                    torch.autograd.grad(plain.sum(), grown, create_graph=True)[0].sum(), grown
                )
                torch.testing.assert_close(torch.autograd.grad(g.sum(), grown)[0], want)
    assert mine.calls


def test_threads_share_a_program_with_an_executor():
    mine = Recorder(gelu)
    with executors.register("mine", aten.gelu.default, mine):
        f, failures = fusewright.fuse(program), []

        def work(k):
            try:
                for n in range(2, 12):
                    x = torch.randn(n, k + 1)
                    assert_agrees(f(x), program(x))
            except BaseException as e:
                failures.append(e)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not failures, failures[0]
    assert len(mine.calls) == 40


def test_results_that_alias_or_have_other_strides_are_copied():
    x = torch.randn(4, 8)
    with (
        executors.register("same", aten.relu.default, lambda x: x),
        executors.register("turned", aten.gelu.default, lambda x, **_: gelu(x).t().contiguous().t()),
    ):
        f = compiled(lambda x: (torch.relu(x), torch.nn.functional.gelu(x), torch.nn.functional.gelu(x) * 2))
        a, b, c = f(x)
        assert a.data_ptr() != x.data_ptr() and torch.equal(a, x)
        assert b.is_contiguous() and torch.equal(b, gelu(x))
        torch.testing.assert_close(c, gelu(x) * 2)


def test_writing_into_an_operand_is_an_error():
    with executors.register("mine", aten.gelu.default, lambda x, **_: x.mul_(2).clone()):
        with pytest.raises(
            fusewright.RuntimeFault, match=r"executor mine has written into an operand of aten\.gelu\.default"
        ):
            compiled(lambda x: torch.nn.functional.gelu(x * 2))(torch.randn(4, 8))


def test_gradients_that_an_executor_makes_do_not_escape():
    w = torch.nn.Parameter(torch.ones(8))
    with executors.register("mine", aten.gelu.default, lambda x, **_: gelu(x) * w):
        out = compiled(lambda x: torch.nn.functional.gelu(x * 2))(torch.randn(4, 8))
        assert not out.requires_grad


def test_check_mode_compares_executors():
    x = torch.randn(40, 8)
    with executors.register("good", aten.gelu.default, gelu), executors.register("bad", aten.tanh.default, lambda x: x):
        f = compiled(lambda x: torch.nn.functional.gelu(x * 2) + torch.tanh(x))
        before = fusewright.counters()["checks"]
        with (
            fusewright.options(check=True),
            pytest.warns(FusewrightWarning, match="executor bad, for aten.tanh.default at .* deviates"),
        ):
            f(x)
        assert fusewright.counters()["checks"] >= before + 2


# --- priorities, selection ------------------------------------------------------------------------------


def test_priorities():
    low, high = Recorder(gelu), Recorder(gelu)
    with (
        executors.register("low", aten.gelu.default, low, priority=1),
        executors.register("high", aten.gelu.default, high, priority=20),
    ):
        names = [n for n, _, _ in executors.registered()]
        assert names == ["high", "low", "kernels", "torch"]
        compiled(program)(torch.randn(3))
        assert (len(high.calls), len(low.calls)) == (1, 0)
        for chosen, who in ((("low",), low), (("low", "high", "kernels"), low), (("high", "low"), high)):
            torch.compiler.reset()
            before = len(who.calls)
            with fusewright.options(executors=chosen):
                compiled(program)(torch.randn(3))
            assert len(who.calls) == before + 1
        torch.compiler.reset()
        with fusewright.options(disable=("executor:high",)):
            compiled(program)(torch.randn(3))
        assert (len(high.calls), len(low.calls)) == (2, 3)
        with fusewright.options(executors=("kernels",)):
            why = reasons(program, torch.randn(3))
        assert "executor" not in why["aten.gelu.default"]


def test_behind_the_kernels():
    """A negative priority: only what has no lowering rule."""
    mm, gl = Recorder(torch.mm), Recorder(gelu)
    with (
        executors.register("mine", aten.mm.default, mm, priority=-1),
        executors.register("mine", aten.gelu.default, gl, priority=-1),
    ):
        f = lambda x: torch.nn.functional.gelu(x @ x) * 2
        x = torch.randn(8, 8)
        assert_agrees(compiled(f)(x), f(x))
        assert len(mm.calls) == 1 and not gl.calls
        torch.compiler.reset()
        with fusewright.options(executors=("mine", "kernels")):  # an order of its own
            compiled(f)(x)
        assert len(mm.calls) == 2 and len(gl.calls) == 1


def test_without_kernels():
    f = lambda x: (x * 2).exp() + 1
    x = torch.randn(1000)
    for chosen in ({"executors": ("torch",)}, {"disable": ("executor:kernels",)}):
        with fusewright.options(**chosen):
            report = fusewright.explain(f, x)
            assert not report.kernels
            assert {o.reason for o in report.graphs[0].operations} == {"option: executor kernels is left out"}
            d = fusewright.define()
            d.output(d.tensor("x", "n", "f32") * 2)
            assert torch.equal(d(x), x * 2) and not d.explain(x).kernels


def test_an_unknown_name_in_the_option_is_said():
    with (
        fusewright.options(executors=("nobody", "kernels")),
        pytest.warns(FusewrightWarning, match="no executor 'nobody' is registered"),
    ):
        compiled(program)(torch.randn(3))


def test_devices():
    mine = Recorder(gelu)
    with executors.register("mine", aten.gelu.default, mine, devices="cuda"):
        why = reasons(program, torch.randn(3))
        assert why["aten.gelu.default"].endswith("executor mine declined: it is for cuda, not cpu")
    with executors.register("mine", aten.gelu.default, mine, devices=("cuda", "cpu")):
        compiled(program)(torch.randn(3))
    assert len(mine.calls) == 1


def test_fused_functions_see_what_is_registered_when_they_are_traced():
    mine = Recorder(gelu)
    f = fusewright.fuse(program)
    f(torch.randn(4))
    with executors.register("mine", aten.gelu.default, mine):
        f(torch.randn(5))
        assert not mine.calls  # the same trace
        f(torch.randn(4, 4))
        assert len(mine.calls) == 1
    f(torch.randn(5, 5))
    assert len(mine.calls) == 2


def test_registering_from_threads():
    errors = []

    def work(k):
        try:
            for _ in range(50):
                with executors.register(f"t{k}", aten.gelu.default, gelu):
                    assert any(n == f"t{k}" for n, _, _ in executors.registered())
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and executors.unregister() == 0


BAD = {
    "identifier": (("a b", aten.gelu.default, gelu), "the name of an executor is an identifier, not 'a b'"),
    "built in": (("kernels", aten.gelu.default, gelu), "'kernels' is built in"),
    "function": (("a", aten.gelu.default, 3), "executor a needs a function, not 3"),
    "checker": (("a", aten.gelu.default, gelu, 3), "the checker of executor a must be a function, not 3"),
    "packet": (("a", aten.gelu, gelu), "aten.gelu has several overloads, name one: aten.gelu.default"),
    "what": (("a", "gelu", gelu), "expected an operator overload, a Definition or a pattern, not 'gelu'"),
    "mutable": (("a", aten.gelu_.default, gelu), "aten.gelu_.default writes into its operands"),
    "view": (("a", aten.t.default, gelu), "aten.t.default is a view, which runs nothing"),
    "composite": (("a", aten.layer_norm.default, gelu), "aten.layer_norm.default is made of other operators"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_registrations(name):
    args, message = BAD[name]
    with pytest.raises(UserError, match=message):
        executors.register(*args)
    assert executors.unregister() == 0


def test_bad_priorities_and_devices():
    for bad in (0, True, 1.5):
        with pytest.raises(UserError, match="a priority is an integer above or below 0"):
            executors.register("a", aten.gelu.default, gelu, priority=bad)
    with pytest.raises(UserError, match="devices are 'cpu' and 'cuda', not 'tpu'"):
        executors.register("a", aten.gelu.default, gelu, devices=("cpu", "tpu"))
    with pytest.raises(UserError, match="'a b' is not the name of an executor"):
        fusewright.options(disable=("executor:a b",))


# --- kernels that are not Python ------------------------------------------------------------------------


def test_a_kernel_made_with_llvmlite():
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = """
define void @relu(ptr %x, ptr %y, i64 %n) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %p = getelementptr float, ptr %x, i64 %i
  %q = getelementptr float, ptr %y, i64 %i
  %v = load float, ptr %p
  %neg = fcmp olt float %v, 0.0
  %w = select i1 %neg, float 0.0, float %v
  store float %w, ptr %q
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    native = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
        engine.get_function_address("relu")
    )

    def relu(x):
        y = torch.empty_like(x)
        native(x.data_ptr(), y.data_ptr(), x.numel())
        return y

    mine = Recorder(relu)
    only = lambda x: (x.dtype is torch.float32 and x.contiguous) or "dense float32 only"
    with executors.register("native", aten.relu.default, mine, only, devices="cpu"):
        f = compiled(lambda x: torch.relu(x - 1) * 3, dynamic=True)
        for n in (7, 64, 1000):
            x = torch.randn(n)
            assert_agrees(f(x), torch.relu(x - 1) * 3)
        assert len(mine.calls) == 3
        x = torch.randn(4, dtype=torch.float64)
        assert_agrees(f(x), torch.relu(x - 1) * 3)
        assert len(mine.calls) == 3
