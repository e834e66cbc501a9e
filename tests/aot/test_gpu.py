"""Programs for GPUs that are not there: machine code by NVRTC, and the same programs run by emulation.

The device type "cpu" is given a GPU's driver, as in tests/emulate. For emulation, code is not the cubin but the CUDA
C++ that it would have been made of, which `Emulation` compiles with g++ when a program is loaded.
"""

from __future__ import annotations

import ctypes
import json
import random
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim, export
from torch.fx.experimental.symbolic_shapes import ShapeEnv

import fusewright
from fusewright import CompilerError, FusewrightWarning, UserError, saving_gpu
from fusewright.bench.null import NullDriver
from fusewright.build import nvrtc
from fusewright.emit.cuda import emit_cuda
from fusewright.run import devices
from fusewright.run.prepared import Launch
from fusewright.schedule.device import A100, H200, typical
from tests.aot.programs import CASES, GPT
from tests.emulate.cuda import COMPILER, MISSING, EmulationError, build
from tests.emulate.driver import SMALL, EmulatedDriver
from tests.support import counted, counters, no_fallbacks

needs_nvrtc = pytest.mark.skipif(not nvrtc.available(), reason="needs NVRTC")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason=MISSING)

# Calls a kernel with arguments from an array of pointers, whatever its parameters are.
_CALL = """
#include <utility>
template <class... A, unsigned long... I>
static void fw_apply(void (*f)(A...), void** a, std::integer_sequence<unsigned long, I...>) {{ f(*(A*)a[I]...); }}
template <class... A> static void fw_call(void (*f)(A...), void** a) {{
  fw_apply(f, a, std::make_integer_sequence<unsigned long, sizeof...(A)>());
}}
{bodies}
extern "C" const char* emu_message() {{ return emu_error; }}
"""


class Emulation(EmulatedDriver):
    """Runs saved kernels whose code is CUDA C++."""

    def restore(self, code: bytes, launches: Sequence[Launch]) -> list[Any]:
        source = code.decode()
        fibers = int(any(word in source for word in ("__syncthreads()", "__shfl", "fw_cluster")))
        bodies = []
        for k, x in enumerate(launches):
            found = re.search(rf"__cluster_dims__\((\d+)[^{{]*\b{x.name}\(", source)
            how = f"{x.threads}, {found[1] if found else 1}, {x.shared}, {fibers}"
            bodies += [
                f"static void emu_body_{k}() {{ fw_call({x.name}, emu_args); }}",
                f'extern "C" int emu_launch_{k}(void** args, long long blocks) {{',
                f"  return emu_launch(args, emu_body_{k}, blocks, {how});\n}}",
            ]
        dynamic = "uint4* const fw_shared = reinterpret_cast<uint4*>(emu_dynamic);"
        library = build(
            source.replace("extern __shared__ uint4 fw_shared[];", dynamic) + _CALL.format(bodies="\n".join(bodies))
        )
        library.emu_message.restype = ctypes.c_char_p
        return [library[f"emu_launch_{k}"] for k in range(len(launches))]

    def launch(self, handle: Any, blocks: int, threads: int, shared: int, args: int, stream: int) -> None:
        if isinstance(handle, tuple):  # of a kernel of this process
            super().launch(handle, blocks, threads, shared, args, stream)
            return
        self.launched += 1
        if handle(ctypes.c_void_p(args), ctypes.c_longlong(blocks)):
            raise EmulationError("an emulated kernel failed")


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulation]:
    """Kernels for CPU tensors are saved as CUDA C++ for a small GPU, and emulated."""
    if COMPILER is None:
        pytest.skip(MISSING)
    monkeypatch.setattr(saving_gpu.Emitter, "compile", lambda self, func: emit_cuda(func, self.target).encode())
    monkeypatch.setattr(saving_gpu.Emitter, "versions", lambda self: f"emulated {self.arch}")
    driver = Emulation(SMALL)
    with devices.use("cpu", driver), fusewright.options(disk_cache=False):
        yield driver


def manifest(path: Path) -> dict[str, Any]:
    return dict(json.loads(zipfile.ZipFile(path).read("manifest.json")))


def groups(variant: dict[str, Any]) -> list[dict[str, Any]]:
    return [x["group"] for x in variant["scope"].values() if "group" in x]


@needs_nvrtc
def test_machine_code_for_two_architectures(tmp_path: Path) -> None:
    """Compiled without a GPU: a variant for each, whose kernels are ELF files for it and need no stack."""
    path = tmp_path / "gpt.fwp"
    with devices.use("cpu", NullDriver()):
        fusewright.aot_save(CASES["gpt"].export()[1], path, architectures=["sm_80", "sm_90"])
    m, z = manifest(path), zipfile.ZipFile(path)
    assert [v["name"] for v in m["variants"]] == ["sm_90", "sm_80"]
    assert [v["gpu"]["capability"] for v in m["variants"]] == [[9, 0], [8, 0]]
    for v in m["variants"]:
        assert v["cpu"] is None and groups(v)
        for key in {r["kernel"] for g in groups(v) for r in g["rules"]}:
            k = m["kernels"][key]
            assert k["arch"] == v["name"]
            reports = nvrtc.report(z.read(f"kernels/{key}.cubin"))
            assert sorted(r.name for r in reports) == sorted(x[0] for x in k["launches"])
            assert all(r.stack == 0 for r in reports)
            assert k["entry"].replace(".", "_") in z.read(f"text/kernels/{key}.cu").decode()
    assert {r["kernel"] for g in groups(m["variants"][0]) for r in g["rules"]}.isdisjoint(
        r["kernel"] for g in groups(m["variants"][1]) for r in g["rules"]
    )


@needs_nvrtc
def test_loading_launches_the_kernels(tmp_path: Path) -> None:
    """With a driver that does nothing: every group is launched, for sizes that were given and for others."""
    path = tmp_path / "gpt.fwp"
    with devices.use("cpu", NullDriver()):
        fusewright.aot_save(CASES["gpt"].export()[1], path, architectures="sm_90", sizes=[{"tokens.shape[0]": 8}])
    driver = NullDriver()
    with devices.use("cpu", driver):
        program = fusewright.aot_load(path)
        before = counters()
        each = len(groups(manifest(path)["variants"][0]))
        for b, t in ((8, 9), (2, 9), (1, 2), (100, 60), (7, 33)):
            driver.launched = 0
            program(torch.zeros((b, t), dtype=torch.int64))
            assert driver.launched >= each
        assert counted(before)["sizes_without_kernel"] == 0


def test_a_gpu_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "p.fwp"
    with devices.use("cpu", NullDriver()):
        if not nvrtc.available():
            pytest.skip("needs NVRTC")
        fusewright.aot_save(CASES["mlp"].export()[1], path, architectures=["sm_80"], sizes=[])
    with pytest.raises(UserError, match="sm_80: there is no device cpu here"):
        fusewright.aot_load(path)
    for capability, fits in (((8, 0), True), ((8, 6), True), ((7, 5), False), ((9, 0), False)):
        driver = NullDriver()
        driver.capability = capability  # type: ignore[attr-defined]
        with devices.use("cpu", driver):
            if fits:
                fusewright.aot_load(path)
                continue
            with pytest.raises(
                UserError, match=rf"cpu is sm_{capability[0]}{capability[1]}, which does not run code for"
            ):
                fusewright.aot_load(path)


def test_architectures_that_are_not_there(tmp_path: Path) -> None:
    exported = CASES["mlp"].export()[1]
    with devices.use("cpu", NullDriver()):
        with pytest.raises(UserError, match="sm_42"):
            fusewright.aot_save(exported, tmp_path / "p", architectures=["sm_42"])


def test_gpus_that_are_not_known_are_taken_to_be_like_others() -> None:
    assert typical((9, 0)) == H200 and typical((8, 0)) == A100
    assert typical((8, 6)).shared == 99 << 10 and typical((8, 6)).threads == 1536
    assert typical((10, 0)).shared == 227 << 10 and typical((12, 0)).shared == 99 << 10


@needs_nvrtc
@pytest.mark.parametrize("rng", ["philox", "eager"])
def test_a_program_for_cuda_is_saved_without_cuda(rng: str, tmp_path: Path) -> None:
    """Exported from fake tensors: the plan is one for CUDA tensors, and its random numbers are drawn by kernels."""

    class M(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
            a = torch.softmax(x * 2 + y, -1)
            return a, (a * y).sum(0), torch.nn.functional.dropout(torch.nn.functional.gelu(y) * x, 0.2, True)

    d = {0: Dim("n", max=4096)}
    with FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True):
        x, y = torch.empty(8, 16, device="cuda"), torch.empty(8, 16, device="cuda")
        exported = export(M(), (x, y), dynamic_shapes={"x": d, "y": d})
    path = tmp_path / "cuda.fwp"
    with warnings.catch_warnings(), fusewright.options(rng=rng):
        warnings.simplefilter("error", FusewrightWarning)
        fusewright.aot_save(exported, path, architectures=["sm_90"], sizes=[{}])
    (v,) = manifest(path)["variants"]
    assert v["gpu"]["device"] == "cuda:0" and v["cpu"] is None and not v["several_gpus"]
    assert len(groups(v)) == 2 and all(g["device"] == "cuda:0" for g in groups(v))
    assert {"empty_on": ["cuda:0", True]} in v["scope"].values()
    assert ({"blocks_of": "cuda:0"} in v["scope"].values()) == (rng == "eager")
    main = v["source"].partition("def call(args):")[2]
    gelu = next(n for n, x in v["scope"].items() if x == {"operator": "aten::gelu.default"})
    assert gelu in v["source"] and gelu not in main  # not even for its size
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="sm_90: there is no device cuda:0 here"):
            fusewright.aot_load(path)
        with pytest.raises(UserError, match="there is no GPU here; name one"):
            fusewright.aot_save(exported, path)
    with pytest.raises(UserError, match="the program runs on a GPU, name one"):
        fusewright.aot_save(exported, path, architectures=["native"])


# --- what the kernels compute -----------------------------------------------------------------------------


class Rows(nn.Module):
    """Rows in registers, sums down columns, a transpose, elementwise."""

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a = torch.softmax(x * 2 + y, -1)
        return a, (a * y).sum(0), (x.t() + 1).contiguous(), torch.nn.functional.gelu(y) * x


SIZES = [(8, 16), (1, 1), (3, 5), (33, 40), (2, 1000), (70, 7)]


def test_emulated_kernels_give_eagers_results(emulated: Emulation, tmp_path: Path) -> None:
    module, d = Rows(), {0: Dim("n", max=4096), 1: Dim("m", max=4096)}
    exported = export(module, (torch.randn(8, 16), torch.randn(8, 16)), dynamic_shapes={"x": d, "y": d})
    with no_fallbacks():
        fusewright.aot_save(exported, tmp_path / "p.fwp", architectures=["sm_90"])
    program = fusewright.aot_load(tmp_path / "p.fwp")
    before = counters()
    for n, m in SIZES:
        x, y = torch.randn(n, m), torch.randn(n, m)
        torch.testing.assert_close(program(x, y), module(x, y))
    x, y = torch.randn(7 * 9 + 1)[1:].view(7, 9), torch.randn(7, 9)  # not aligned
    torch.testing.assert_close(program(x, y), module(x, y))
    torch.testing.assert_close(program(x[:0], y[:0]), module(x[:0], y[:0]))
    assert counted(before)["sizes_without_kernel"] == 0
    assert emulated.launched


def test_the_same_bits_as_in_this_process(emulated: Emulation, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = GPT(layers=1).eval()
    tokens = torch.randint(0, 40, (2, 9))
    with torch.no_grad():
        exported = export(model, (tokens,), dynamic_shapes={"tokens": {0: Dim("b", max=64), 1: Dim("t", max=64)}})
    program = fusewright.aot_compile(exported)
    fusewright.aot_save(program, tmp_path / "gpt.fwp", architectures=["sm_90"])
    loaded = fusewright.aot_load(tmp_path / "gpt.fwp")
    with torch.no_grad():
        assert torch.equal(loaded(tokens), program(tokens))
        torch.testing.assert_close(loaded(tokens), model(tokens))


def test_files_have_general_kernels(emulated: Emulation, tmp_path: Path) -> None:
    """Whatever the kernels of this process are made for."""
    module, d = Rows(), {0: Dim("n", max=4096), 1: Dim("m", max=4096)}
    exported = export(module, (torch.randn(8, 16), torch.randn(8, 16)), dynamic_shapes={"x": d, "y": d})
    before = counters()
    with fusewright.options(specialize="always"), no_fallbacks():
        program = fusewright.aot_compile(exported)
        program(torch.randn(8, 16), torch.randn(8, 16))
        made = counted(before)["kernels_adopted"]
        fusewright.aot_save(program, tmp_path / "p.fwp", architectures=["sm_90"])
    assert made and counted(before)["kernels_adopted"] == made
    assert all(k["sizes"] for k in manifest(tmp_path / "p.fwp")["kernels"].values())
    loaded = fusewright.aot_load(tmp_path / "p.fwp")
    for n, m in SIZES[:3]:
        x, y = torch.randn(n, m), torch.randn(n, m)
        torch.testing.assert_close(loaded(x, y), module(x, y))


def test_random_sizes_have_kernels(emulated: Emulation, tmp_path: Path) -> None:
    """Whatever rule is taken, the kernel that runs is legal for the sizes: the results are right."""
    module, d = Rows(), {0: Dim("n", max=300), 1: Dim("m", max=300)}
    exported = export(module, (torch.randn(8, 16), torch.randn(8, 16)), dynamic_shapes={"x": d, "y": d})
    fusewright.aot_save(
        exported, tmp_path / "p.fwp", architectures=["sm_90"], sizes=[{"x.shape[0]": 64, "x.shape[1]": 64}]
    )
    program = fusewright.aot_load(tmp_path / "p.fwp")
    rng = random.Random(0)
    before = counters()
    for _ in range(25):
        n, m = rng.randint(1, 300), rng.randint(1, 300)
        x, y = torch.randn(n, m), torch.randn(n, m)
        torch.testing.assert_close(program(x, y), module(x, y))
    assert counted(before)["sizes_without_kernel"] == 0


def test_sizes_without_a_rule_run_through_torch(emulated: Emulation, tmp_path: Path) -> None:
    module, d = Rows(), {0: Dim("n", max=300), 1: Dim("m", max=300)}
    exported = export(module, (torch.randn(8, 16), torch.randn(8, 16)), dynamic_shapes={"x": d, "y": d})
    fusewright.aot_save(exported, tmp_path / "p.fwp", architectures=["sm_90"], sizes=[{}])
    path = tmp_path / "p.fwp"
    m = manifest(path)
    for g in groups(m["variants"][0]):
        g["rules"] = [r for r in g["rules"] if r["wanted"]]
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "q.fwp", "w") as new:
        for i in old.infolist():
            new.writestr(i.filename, json.dumps(m) if i.filename == "manifest.json" else old.read(i))
    program = fusewright.aot_load(tmp_path / "q.fwp")
    before = counters()
    x, y = torch.randn(9, 299), torch.randn(9, 299)
    with pytest.warns(FusewrightWarning, match=r"has no kernel for .* PyTorch runs its operations.*sizes=\[...\]"):
        got = program(x, y)
    torch.testing.assert_close(got, module(x, y))
    assert counted(before)["sizes_without_kernel"] >= 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program(x, y)


def test_kernels_that_do_not_compile_are_left_out(
    emulated: Emulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one warning; sizes that they were for run on others, or through torch."""
    module, d = Rows(), {0: Dim("n", max=300), 1: Dim("m", max=300)}
    program = fusewright.aot_compile(module, (torch.randn(8, 16), torch.randn(8, 16)), dynamic_shapes={"x": d, "y": d})
    compile, made = saving_gpu.Emitter.compile, []

    def failing(self: saving_gpu.Emitter, func: Any) -> bytes:
        made.append(func.name)
        if len(made) > 2:
            raise CompilerError("planted", "build")
        return compile(self, func)

    monkeypatch.setattr(saving_gpu.Emitter, "compile", failing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fusewright.aot_save(program, tmp_path / "p.fwp", architectures=["sm_90"])
        loaded = fusewright.aot_load(tmp_path / "p.fwp")
        for n, m in ((8, 16), (1, 299), (256, 3)):
            x, y = torch.randn(n, m), torch.randn(n, m)
            torch.testing.assert_close(loaded(x, y), module(x, y))
    made.clear()
    with fusewright.options(fallback=False), pytest.raises(CompilerError, match="planted"):
        exported = export(module, (torch.randn(8, 16), torch.randn(8, 16)), dynamic_shapes={"x": d, "y": d})
        fusewright.aot_save(exported, tmp_path / "p.fwp", architectures=["sm_90"])


def test_written_arguments_and_buffers(emulated: Emulation, tmp_path: Path) -> None:
    for name in ("writing", "counting"):
        module, exported = CASES[name].export()
        fusewright.aot_save(exported, tmp_path / "p.fwp", architectures=["sm_90"])
        program = fusewright.aot_load(tmp_path / "p.fwp")
        for args, kwargs in CASES[name].calls()[:2]:
            theirs = torch.utils._pytree.tree_map(lambda x: x.clone(), args)
            torch.testing.assert_close(program(*args, **kwargs), module(*theirs, **kwargs))
            torch.testing.assert_close(args, theirs)
        for key, t in module.state_dict().items():
            torch.testing.assert_close(program.state_dict()[key], t)


# --- sizes= -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([{"z": 3}], r"there is no size named 'z', only .*x.shape\[0\]"),
        ([{"x.shape[0]": 2.5}], r"x.shape\[0\] must be an integer, not 2.5"),
        ([{"x.shape[0]": 5000}], r"= 5000 is outside of what the program was exported for"),
        ([((3, 4), (5, 6))], "2 example arguments for 1"),
    ],
)
def test_wrong_sizes(sizes: Any, message: str, emulated: Emulation, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        fusewright.aot_save(CASES["mlp"].export()[1], tmp_path / "p", architectures=["sm_90"], sizes=sizes)
    assert list(tmp_path.iterdir()) == []


def test_sizes_by_name_by_shape_and_by_example(emulated: Emulation, tmp_path: Path) -> None:
    program = fusewright.aot_compile(CASES["mlp"].export()[1])
    texts = []
    for sizes in ([{"x.shape[0]": 640}], [((640, 12),)], [(torch.empty(640, 12),)], [torch.empty(640, 12)]):
        fusewright.aot_save(program, tmp_path / "p.fwp", architectures=["sm_90"], sizes=sizes)
        texts.append([g["rules"] for g in groups(manifest(tmp_path / "p.fwp")["variants"][0])])
    assert texts[1:] == texts[:1] * 3 and texts[0]
