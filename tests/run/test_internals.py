"""What stands in where a version of torch lacks the private names that we use."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from torch._functorch import partitioners

import fusewright.run.internals as internals
import fusewright.run.pool as pool
import fusewright.trace.partition as partition
from tests.support import assert_agrees, compiled, is_ours, no_fallbacks

pytestmark = pytest.mark.skipif(not is_ours(), reason="Fusewright's own parts")

STORAGE_USES = "_storage_Use_Count"
EMPTY_STRIDED = "_empty_strided_cpu"


def fresh(module: ModuleType) -> ModuleType:
    """The module, executed once more from its source, beside the one that everybody uses."""
    spec = importlib.util.find_spec(module.__name__)
    assert spec is not None and spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert sys.modules[module.__name__] is module
    return again


FIRST_CALL = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import torch
    call = torch.compile(lambda x: torch.softmax(x.sin() * 2, -1), backend="fusewright")
    call(torch.randn(64, 1000, requires_grad=True)).sum().backward()
import fusewright
assert fusewright.counters()["kernels_compiled"] + fusewright.counters()["disk_hits"] >= 2
ours = fusewright.FusewrightWarning
print([str(w.message) for w in seen if issubclass(w.category, ours) or "CUDA" in str(w.message)])
"""


def test_a_first_call_warns_of_nothing() -> None:
    """Neither of a compiler nor of a device that is not there, whatever torch was built for."""
    done = subprocess.run([sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
    assert "CUDA" not in done.stderr and "usewright" not in done.stderr


def test_names_of_this_torch() -> None:
    """The versions of torch that are supported have them all: a stand-in would be a loss of speed unnoticed."""
    assert internals.storage_uses is getattr(torch._C, STORAGE_USES)
    assert internals.empty_strided is getattr(torch._C._dynamo.guards, EMPTY_STRIDED)
    assert internals.tensor_uses(torch.empty(3)) == 1 and internals.function_modes() == 0
    assert internals.record_function is torch._C._profiler._RecordFunctionFast
    assert partition._operator_lists is not None
    assert pool.POOL._free_mark is not None


def test_without_the_quick_record_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch._C._profiler, "_RecordFunctionFast")
    assert fresh(internals).record_function is torch.profiler.record_function


def test_without_storage_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory is handed out twice when nobody says whether a storage is in use."""
    monkeypatch.delattr(torch._C, STORAGE_USES)
    uses = fresh(internals).storage_uses
    assert uses(torch.empty(3).untyped_storage()._cdata) == 0
    monkeypatch.setattr(pool, "_use_count", uses)
    mine = pool.Pool(1 << 30)
    assert mine._free_mark is None
    layout = (512, 512), (512, 1), torch.float32
    first = mine.empty(*layout)
    view, address = first[1:], first.data_ptr()
    del first
    assert mine.empty(*layout).data_ptr() != address
    assert view.data_ptr() != address
    assert mine.stats()["blocks"] == 0


@pytest.mark.parametrize("layout", [((), ()), ((3, 0), (1, 1)), ((3, 5), (1, 3)), ((4,), (7,)), ((2, 3), (0, 1))])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_plain_empty_strided(
    layout: tuple[tuple[int, ...], tuple[int, ...]], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = internals.empty_strided(*layout, dtype)
    monkeypatch.delattr(torch._C._dynamo.guards, EMPTY_STRIDED)
    with torch.device("meta"):  # the default device is not for kernels' memory
        plain = fresh(internals).empty_strided(*layout, dtype)
    for t in (quick, plain):
        assert (t.shape, t.stride(), t.dtype, t.device.type) == (*layout, dtype, "cpu")
    assert plain.untyped_storage().nbytes() == quick.untyped_storage().nbytes()


def test_without_operator_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """The partition is torch's own, and gradients are the same."""
    with monkeypatch.context() as m:
        m.delattr(partitioners, "get_default_op_list")
        assert fresh(partition)._operator_lists is None
    monkeypatch.setattr(partition, "_operator_lists", None)

    def fn(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.softmax(x.sin() * y, -1).square()

    args = [torch.randn(6, 41, requires_grad=True) for _ in range(2)]
    torch._dynamo.reset()
    with no_fallbacks():
        got = compiled(fn)(*args)
        want = fn(*args)
        seed = torch.randn_like(want)
        grads = [torch.autograd.grad(out, args, seed) for out in (got, want)]
    assert_agrees(*grads, rtol=1e-5, atol=1e-6)


def test_operator_lists_are_put_back() -> None:
    """Other backends of the same process see torch's own lists, also after a failure inside."""
    theirs = partitioners.get_default_op_list
    operator = torch.ops.aten._cdist_forward
    assert operator not in theirs().recomputable_ops
    with pytest.raises(ZeroDivisionError), partition.recomputing(frozenset({operator})):
        lists = partitioners.get_default_op_list()
        assert operator in lists.recomputable_ops and operator in lists.fusible_ops
        raise ZeroDivisionError
    assert partitioners.get_default_op_list is theirs
    assert operator not in theirs().recomputable_ops
