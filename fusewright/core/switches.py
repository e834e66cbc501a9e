"""The small languages of two options: what `dump` prints where, and the names that `disable` takes.

    dump    ::= item ("," item)*
    item    ::= stage ("@" filter)* [":" directory]
    filter  ::= "forward0.g3" | "forward*.g3" | "forward0.g2-g5" | "g3"     a group (or graph) by name, `*`, or range
              | 6 to 12 hexadecimal digits                                  ... by the hash of its structure
              | anything else                                               ... by part of an operator's name
    disable ::= name ("," name)*
    name    ::= "prim:" primitive | "op:" operator | "family:" schedule family | "group:" name or structure hash
              | "executor:" name

A directory in `dump` also holds for the items before it that have none, so that `graph,loop:DIR` writes both there.

The names of primitives and families are written down here because options are checked before anything that defines
them is loaded; `tests/core/test_switches.py` compares them with those layers.
"""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from fusewright.core.errors import UserError

# What can be dumped, in the order of the pipeline. Those that happen at every run come last. A pass is shown as its IR
# before and after it, and has the name of the switch that turns it off, if one does.
STAGES: dict[str, str] = {
    "joint": "the ATen graph of forward and backward pass together, before it is cut in two",
    "random": "pass: random draws become pure functions of what is drawn once",
    "detach": "pass: what reads `detach(x)` reads x",
    "known_indices": "pass: gathers and scatters that repeat elements, or leave some out, evenly become views and sums",
    "complex_pairs": "pass: arithmetic on complex numbers between real ones is done with pairs of real numbers",
    "small_products": "pass: products of small matrices become elementwise operations and sums",
    "max_pooling": "pass: max pooling becomes comparisons of a window's elements",
    "padding": "pass, on a GPU: matrix products of odd extents are computed in wider ones",
    "convolutions": "pass, on a GPU: biases and layouts of convolutions' operands are left to our kernels",
    "torch": "the ATen graph as it arrives from AOTAutograd",
    "shared_gradients": "pass: a gradient that two inputs share is returned twice",
    "graph": "Graph IR: the primitives, with units and the user's lines",
    "grouping": "pass: producers join their consumers; Graph IR by groups",
    "siblings": "pass: groups join that read the same large tensor",
    "horizontal": "pass, on a GPU: small groups of the same shapes join",
    "rematerialize": "pass: large values are not stored that every reader computes again; on a CPU if only one does",
    "fusion": "the algorithm of each kernel, as it was built",
    "collapse": "pass: axes that every access walks as one become one",
    "schedule": "its schedule: family, directives, and what the heuristic went by",
    "relaxed": "pass, on a GPU: cheaper arithmetic, and with `fma` products that join sums unrounded",
    "online": "pass, on a GPU: the sums that are combined on the fly",
    "walks": "what each walk over a row computes, keeps for later ones (`keep`), and asks for ahead (`prefetch`)",
    "loop": "its Loop IR",
    "llvm": "its source for a CPU: LLVM IR",
    "cuda": "its source for a GPU: CUDA C++",
    "assembly": "its machine code: assembly on a CPU; PTX, and SASS if `nvdisasm` is there, on a GPU",
    "cache": "where each kernel came from (memory, disk, compiled), with its key",
    "groups": "which operations share a kernel, and what torch runs, with the reason",
    "refusals": "merges that were declined, with the reason",
    "plan": "the Python source that runs the graph",
    "timeline": "host time: each stage of compiling, and each launch",
    "launch": "at every run: threads or blocks, and scratch memory of each kernel",
    "arguments": "at every run: tensors, sizes and host scalars of each kernel",
    "bandwidth": "at every run: time of each kernel, its bytes, and their ratio (waits for a GPU)",
}
RUN_STAGES = frozenset(("timeline", "launch", "arguments", "bandwidth"))
PASSES: tuple[str, ...] = (
    *("random", "detach", "known_indices", "complex_pairs", "small_products", "max_pooling", "padding"),
    "convolutions",
    "shared_gradients",
    *("grouping", "siblings", "horizontal", "rematerialize", "collapse", "relaxed", "online"),
)
ALIASES: dict[str, tuple[str, ...]] = {
    "primitives": ("graph", "grouping", "siblings", "horizontal", "rematerialize"),
    "source": ("llvm", "cuda"),
    "ptx": ("assembly",),
    "sass": ("assembly",),
    "passes": PASSES,
    "all": tuple(STAGES),
}

# Scalar primitives (`prims/table.py`), and kinds of Graph equations that are no mere notation (`graph/ir.py`).
PRIMS: tuple[str, ...] = (
    *("abs", "acos", "acosh", "add", "and", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos"),
    *("cosh", "div", "eq", "erf", "erfc", "exp", "exp2", "expm1", "far_div", "far_reciprocal"),
    *(
        "fast_div",
        "fast_erfc",
        "fast_exp2",
        "fast_expm1",
        "fast_log",
        "fast_log1p",
        "fast_reciprocal",
        "fast_sqrt",
        "floor",
        "floordiv",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "ge",
    ),
    *("gt", "hypot", "isnan", "lastmax", "lastmin", "le", "lgamma", "log", "log10", "log1p", "log2", "logaddexp", "lt"),
    *("max", "min", "mul", "ne", "neg"),
    *("not", "or", "pow", "reciprocal", "remainder", "round", "rsqrt", "shl", "shr", "sign", "signbit", "sin", "sinh"),
    *("sqrt", "sub", "tan", "tanh", "trunc", "truncdiv", "where", "xor"),
)
EQUATIONS: tuple[str, ...] = ("cast", "pad", "cat", "gather", "scatter", "reduce", "scan", "iota", "random")

# Families of schedules (`schedule/cpu.py`, `schedule/gpu.py`); commas are left out.
FAMILIES: tuple[str, ...] = (
    *("pointwise", "transpose", "inner reduction", "inner persistent", "inner reduction split"),
    *("outer reduction", "outer persistent", "outer reduction split", "inner+outer reduction"),
    *("full reduction", "scan", "scatter"),
)
KINDS: dict[str, str] = {
    "prim": "operations that need this primitive are left to torch",
    "op": "this operator is left to torch (`op:aten.gelu`, or one overload: `op:aten.add.Tensor`)",
    "family": "schedules of this family are not used; words may be joined by `_`",
    "group": "this group runs through torch (`group:forward0.g3`, `group:forward0.*`, or a structure hash)",
    "executor": "this executor claims nothing (docs/executors.md; `executor:kernels` leaves everything to torch)",
}

# Options that turn passes over a fusion, or its loops, off (`fusion/ir.py`: `Fusion.without`).
FUSION_PASSES: tuple[str, ...] = ("collapse", "relaxed", "fma", "online", "keep")

MOST = 80  # names in a message

_HASH = re.compile(r"[0-9a-f]{6,12}\Z")
_GROUP = re.compile(r"[A-Za-z*?_]+[0-9*?]*\.(g[0-9*?]+|\*)\Z")
_OPERATOR = re.compile(r"\w+\.\w+(\.\w+)?\Z")
_RANGE = re.compile(r"(?:(?P<graph>[A-Za-z_]+\d+)\.)?g?(?P<first>\d+)-g?(?P<last>\d+)\Z")


def nearest(name: str, known: Iterable[str], cutoff: float = 0.62) -> str:
    """The one of `known` that `name` is likely to mean: it begins with it, or is spelled much like it. Else ""."""
    known = tuple(known)
    begins = [k for k in known if len(k) > 2 and name.startswith(k)] or [
        k for k in known if len(name) > 2 and k.startswith(name)
    ]
    if begins:
        return max(begins, key=lambda k: min(len(k), len(name)))
    return next(iter(difflib.get_close_matches(name, known, 1, cutoff)), "")


def suggest(name: str, known: Iterable[str]) -> str:
    """What to say about a name that is none of `known`."""
    known = tuple(known)
    near = nearest(name, known)
    if near:
        return f"did you mean '{near}'?"
    return f"known: {', '.join(known[:MOST])}{f', and {len(known) - MOST} more' if len(known) > MOST else ''}"


# --- disable -----------------------------------------------------------------------------------------


def family_name(family: str) -> str:
    """A family of schedules as `disable` spells it."""
    return " ".join(re.split(r"[\s,_-]+", family.strip().lower()))


def structured(text: str) -> str:
    """A name of `disable` in the form it is kept in. Raises UserError with the nearest known name."""
    kind, colon, rest = text.partition(":")
    kind, rest = kind.strip(), rest.strip()
    if not colon:
        raise UserError(f"'{text}' is not of the form kind:name, kind being one of {', '.join(KINDS)}")
    if kind not in KINDS:
        raise UserError(f"there is no '{kind}:' in '{text}': {suggest(kind, KINDS)}")
    if kind == "family":
        rest = family_name(rest)
        if rest not in FAMILIES:
            raise UserError(f"unknown schedule family '{rest}': {suggest(rest, FAMILIES)}")
    elif kind == "prim" and rest not in PRIMS and rest not in EQUATIONS:
        raise UserError(f"unknown primitive '{rest}': {suggest(rest, (*PRIMS, *EQUATIONS))}")
    elif kind == "executor" and not rest.isidentifier():
        raise UserError(f"'{rest}' is not the name of an executor")
    elif kind == "group" and not _GROUP.match(rest) and not _HASH.match(rest):
        raise UserError(f"'{rest}' is not a group: they are called like 'forward0.g3', or by 6 to 12 digits of a hash")
    elif kind == "op" and not _OPERATOR.match(rest):
        raise UserError(f"'{rest}' is not an operator: they are called like 'aten.gelu' or 'aten.add.Tensor'")
    return f"{kind}:{rest}"


def hint_for_switch(name: str, switches: Iterable[str]) -> str:
    """What to say about an unknown switch: also whether a primitive or a family has that name."""
    meant = [f"'prim:{name}'"] if name in PRIMS or name in EQUATIONS else []
    meant += [f"'family:{family_name(name)}'"] if family_name(name) in FAMILIES else []
    return f"did you mean {' or '.join(meant)}?" if meant else suggest(name, switches)


@cache
def names_of(disabled: tuple[str, ...], kind: str) -> frozenset[str]:
    """The names of one kind among those of the option `disable`."""
    return frozenset(d.partition(":")[2] for d in disabled if d.startswith(kind + ":"))


def disables_group(disabled: tuple[str, ...], name: str, digest: str) -> str:
    """The entry of `disable` that means the group `name` with structure hash `digest`, or ""."""
    for entry in names_of(disabled, "group"):
        if fnmatch.fnmatchcase(name, entry) or (_HASH.match(entry) and digest.startswith(entry)):
            return f"group:{entry}"
    return ""


def disables_operator(disabled: tuple[str, ...], target: str) -> str:
    """The entry of `disable` that means the operator `target` ("aten.add.Tensor"), or ""."""
    for entry in names_of(disabled, "op"):
        if target == entry or target.startswith(entry + "."):
            return f"op:{entry}"
    return ""


# --- dump --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dump:
    """One item of the option `dump`: a stage, of what (no filters: everything), and where to (None: stderr)."""

    stage: str
    filters: tuple[str, ...] = ()
    directory: str | None = None

    def __str__(self) -> str:
        return self.stage + "".join(f"@{f}" for f in self.filters) + (f":{self.directory}" if self.directory else "")

    def wants(self, graph: str, group: str, digest: str, operators: Iterable[str]) -> bool:
        """Whether it is meant for a group (or, if `group` is "", for a whole graph)."""
        return not self.filters or any(_matches(f, graph, group, digest, operators) for f in self.filters)


def _matches(text: str, graph: str, group: str, digest: str, operators: Iterable[str]) -> bool:
    here = group or graph
    if text in (graph, here) or fnmatch.fnmatchcase(here, text):
        return True
    if not group and fnmatch.fnmatchcase(graph, text.partition(".g")[0]):  # the graph of a group that is asked for
        return True
    last = group.rpartition(".")[2]
    if group and fnmatch.fnmatchcase(last, text):
        return True
    found = _RANGE.match(text)
    if found and found["graph"] in (None, graph):
        return not group or int(found["first"]) <= int(last.lstrip("g")) <= int(found["last"])
    if digest and _HASH.match(text) and digest.startswith(text):
        return True
    return any(text in o for o in operators)


@cache
def parse_dump(text: str) -> tuple[Dump, ...]:
    """The items of one `dump` text, in the order of the pipeline. Raises UserError."""
    found: list[Dump] = []
    pending: list[tuple[str, tuple[str, ...]]] = []
    for part in text.split(","):
        item, _, directory = part.strip().partition(":")
        if not item:
            if directory:
                raise UserError(f"dump '{part.strip()}' names no stage")
            continue
        stage, *filters = (s.strip() for s in item.split("@"))
        if stage not in STAGES and stage not in ALIASES:
            raise UserError(f"option 'dump' has no value '{stage}': {suggest(stage, (*STAGES, *ALIASES))}")
        if any(not f for f in filters):
            raise UserError(f"dump '{item}' has an empty filter after '@'")
        pending += [(name, tuple(filters)) for name in ALIASES.get(stage, (stage,))]
        if directory.strip():
            found += [Dump(name, wanted, directory.strip()) for name, wanted in pending]
            pending = []
    found += [Dump(name, wanted) for name, wanted in pending]
    order = list(STAGES)
    return tuple(sorted(dict.fromkeys(found), key=lambda d: order.index(d.stage)))


@cache
def dumps(items: tuple[str, ...]) -> dict[str, tuple[Dump, ...]]:
    """The items of the option `dump` by stage."""
    out: dict[str, tuple[Dump, ...]] = {}
    for item in items:
        for d in parse_dump(item):
            out[d.stage] = (*out.get(d.stage, ()), d)
    return out
