"""The layout of the package: who may import whom, where torch and llvmlite appear, how long a file may be."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "fusewright"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Data-flow order: a folder imports from itself and from folders to its left.
FOLDERS = (
    *("core", "index", "prims", "graph", "fusion", "schedule", "loop", "interp"),
    *("emit", "build", "run", "trace", "debug"),
)
# Top-level modules come after all folders, in this order; `bench` may be a file or a folder.
TOP = (
    "fallback",
    "compile_gpu",
    "lone",
    "pipeline",
    "backend",
    "fused",
    "scripting",
    "fusing",
    "defining",
    "executors",
    "exporting",
    "saving_gpu",
    "saving_claims",
    "saving",
    "compiling",
    "explaining",
    "profiling",
    "bench",
    "demo",
    "aot",
    "cli",
    "__main__",
)

USES_TORCH = {"run", "trace", "debug", *TOP}
USES_LLVMLITE = {"build", "run"}
OPTIONAL = {"rich", "matplotlib", "llvmlite", "cuda", "triton", "transformers"}
LONGEST = 499  # lines

# Modules that another one imports when it first uses them (`core/lazy.py`): never what every program needs.
LAZY = {
    "backend.py": {
        "fusewright.trace.claims",  # registered executors
        "fusewright.trace.eager_random",  # option rng="eager"
    },
    "pipeline.py": {
        "fusewright.trace.claim_patterns",  # registered executors
        "fusewright.trace.claims",
        "fusewright.compile_gpu",  # groups on a GPU, and nearly all that is for GPUs
        "fusewright.debug.repro",  # failures
        "fusewright.debug.sources",  # option external_source
        "fusewright.debug.stages",  # option dump, the log
        "fusewright.debug.steer",  # option schedule, pins
        "fusewright.graph.text",  # option dump
    },
    "compiling.py": {"fusewright.exporting", "fusewright.scripting"},  # programs that are not plain PyTorch
    "build/machine_code.py": {"fusewright.build.llvm_jit", "fusewright.build.store"},  # what is not given
    "debug/fuel.py": {"fusewright.debug.program", "fusewright.debug.repro"},  # option fuel_report
    "debug/watch.py": {
        "fusewright.debug.check",  # option check
        "fusewright.debug.probe",  # explain
        "fusewright.debug.profile",  # option profile, `fusewright profile`
        "fusewright.debug.runs",  # option dump
    },
    "exporting.py": {
        "fusewright.run.eager_states",  # option rng="eager"
        "fusewright.trace.claim_patterns",  # registered executors
        "fusewright.trace.claims",
    },
    "fusing.py": {"fusewright.scripting"},  # TorchScript
    "graph/verify.py": {"fusewright.graph.text"},  # messages
    "trace/fx.py": {"fusewright.trace.claims"},  # registered executors
    "loop/verify.py": {"fusewright.loop.verify_cuda"},  # kernels for GPUs
    "run/devices.py": {"fusewright.run.cuda", "fusewright.run.cuda_launch"},  # tensors on a GPU
    "run/plan.py": {
        "fusewright.run.cuda_graphs",  # option cuda_graphs
        "fusewright.run.plan_gpu",  # kernels for GPUs
    },
    "run/plan_head.py": {"fusewright.run.handles"},  # kernels for GPUs; gradients that torch reads through views
    "run/views.py": {"fusewright.run.handles"},
    "run/saved.py": {
        "fusewright.build.cpus",  # kernels for CPUs
        "fusewright.build.objects",
        "fusewright.run.checked",  # checks
        "fusewright.run.claimed",  # calls of executors
        "fusewright.run.eager_states",  # random numbers
        "fusewright.run.cuda_graphs",  # option cuda_graphs
        "fusewright.run.random_ops",
        "fusewright.run.recordable",
        "fusewright.run.saved_gpu",  # kernels for GPUs
        "fusewright.run.saved_native",
    },
    "saving.py": {"fusewright.saving_claims", "fusewright.saving_gpu"},  # calls of executors; programs on GPUs
    "run/random_ops.py": {
        "fusewright.prims.curand",  # random operations that fall back
        "fusewright.prims.philox",
        "fusewright.run.seed_table",  # tensors on a GPU
    },
}


def layer(path: Path) -> str:
    """The folder of a module; of a top-level module, its name."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def rank(name: str) -> int:
    """The place of a layer in the order; `fusewright` itself (`__init__`) belongs with `core`."""
    if name == "__init__":
        return 0
    if name in FOLDERS:
        return FOLDERS.index(name)
    name = "bench" if name.startswith("bench") else name
    return len(FOLDERS) + TOP.index(name)


def imports(tree: ast.AST, path: Path) -> list[tuple[str, ast.stmt]]:
    """Every imported module, by its full name, with its statement; `from a import b` counts as both `a` and `a.b`.

    `a.b` may be a name in `a` and no module: harmless, since only the first two parts are judged, and `fusewright`
    and its folders define no names that others import.
    """
    package = ("fusewright", *path.relative_to(PACKAGE).parent.parts)
    found: list[tuple[str, ast.stmt]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join((*above, *([node.module] if node.module else [])))
            found.append((module, node))
            found += [(f"{module}.{alias.name}", node) for alias in node.names]
    return found


def type_checking_only(tree: ast.Module) -> set[ast.stmt]:
    """Statements under `if TYPE_CHECKING:`, which never run."""
    return {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in ast.walk(node)
        if isinstance(inner, ast.stmt)
    }


def inside_functions(tree: ast.Module, path: Path) -> list[tuple[str, ast.stmt]]:
    functions = (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return [found for function in functions for found in imports(function, path)]


def lazy_imports(tree: ast.AST) -> list[tuple[str, ast.Call]]:
    """Every module imported through `lazy_import`, with the call; "" if its name is not written out."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("lazy_import")]
    return [(ast.literal_eval(c.args[0]) if isinstance(c.args[0], ast.Constant) else "", c) for c in calls]


def ids(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def test_every_folder_and_top_level_module_has_a_place():
    for path in MODULES:
        assert rank(layer(path)) >= 0


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_imports_point_up_the_list(path):
    tree = ast.parse(path.read_text())
    skip = type_checking_only(tree)
    mine = layer(path)
    for name, node in [*imports(tree, path), *lazy_imports(tree)]:
        parts = name.split(".")
        if parts[0] != "fusewright" or len(parts) == 1 or node in skip:
            continue
        target = parts[1]
        known = target in FOLDERS or target in TOP or target.startswith("bench")
        if not known:  # a name defined in fusewright/__init__.py
            continue
        allowed = rank(target) <= rank(mine) if mine != "__init__" else target == "core"
        assert allowed, f"{ids(path)}:{node.lineno}: {mine} may not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_torch_and_llvmlite_only_where_they_belong(path):
    mine = "bench" if layer(path).startswith("bench") else layer(path)
    for name, node in imports(ast.parse(path.read_text()), path):
        first = name.split(".")[0]
        if first == "torch":
            assert mine in USES_TORCH, f"{ids(path)}:{node.lineno}: torch in {mine}"
        if first == "llvmlite":
            assert mine in USES_LLVMLITE, f"{ids(path)}:{node.lineno}: llvmlite in {mine}"


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_no_imports_inside_functions(path):
    for name, node in inside_functions(ast.parse(path.read_text()), path):
        assert name.split(".")[0] in OPTIONAL, f"{ids(path)}:{node.lineno}: import of {name} inside a function"


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_lazy_imports_are_those_listed_here(path):
    tree = ast.parse(path.read_text())
    assert {name for name, _ in lazy_imports(tree)} == LAZY.get(ids(path), set())
    # Each is `name = lazy_import("….name")` in the `else` of `if TYPE_CHECKING:`, whose body imports the same.
    proper = []
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for_types = {name for s in node.body for name, _ in imports(s, path)}
            for s in node.orelse:
                (name, _), *more = lazy_imports(s)
                assert isinstance(s, ast.Assign) and ast.unparse(s.targets) == name.rpartition(".")[2] and not more
                assert name in for_types
                proper.append(name)
    assert len(proper) == len(lazy_imports(tree))


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_files_are_short(path):
    lines = len(path.read_text().splitlines())
    assert lines <= LONGEST, f"{ids(path)} has {lines} lines"


def test_only_core_options_reads_the_environment():
    readers = {
        ids(path)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv") and ast.unparse(node.value) == "os"
    }
    # A benchmark may set variables for the processes it starts; what a traced program reads is no setting of ours.
    assert {name for name in readers if not name.startswith("bench")} <= {"core/options.py", "trace/environment.py"}
