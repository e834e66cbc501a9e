"""Which operations of a program become fused functions ("regions"), and why the others stay in Python.

A region is a run of operations of one block that a trace can follow: whatever happens in it must be decided by what a
trace is for (`trace/signature.py`), or by sizes in a way that one trace can serve. So each number has a phase:

    static   fixed for a trace: constants, ranks, element types, booleans, strings and floats among the arguments
    size     computed from extents and integer arguments: symbolic in a trace
    value    known when the program runs: read from a tensor, or carried around a loop

Branches on static conditions are part of a region, and so are checks that only raise or warn; branches on sizes would
need a trace for each side and are taken in Python. Loops are part of a region if the number of trips is static and
small, so that unrolling them is cheap; else their bodies have regions of their own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from .torchscript import Block, Const, Op, Program, Var
from .torchscript_rules import is_view

UNROLLED = 128  # operations on tensors that an unrolled loop may come to
UNKNOWN_TRIPS = 8  # for loops over ranks and the like
LEAST = 2  # operations on tensors, views left out, that are worth a region

STATIC, SIZE, VALUE = range(3)


@dataclass(eq=False, slots=True)
class Region:
    """Operations that become one fused function.

    `inputs`, `outputs`: values. `first`: operations on numbers, copied from before the region. `early`, `late`: numbers
    that Python computes as well, before or after the region runs.
    """

    ops: list[Op]
    inputs: list[Var] = field(default_factory=list)
    outputs: list[Var] = field(default_factory=list)
    first: list[Op] = field(default_factory=list)
    early: list[Op] = field(default_factory=list)
    late: list[Op] = field(default_factory=list)


Piece = Op | Region


@dataclass(slots=True)
class Split:
    """Blocks as pieces in order; `reasons`: why an operation is in no region (those that could be are not listed)."""

    pieces: dict[Block, list[Piece]]
    regions: list[Region]
    reasons: dict[Op, str]


def split(
    program: Program,
    demoted: dict[Op, str],
    least: int = LEAST,
    fixed: frozenset[str] | bool = frozenset(),
    loose: Collection[Var] = (),
) -> Split:
    """Find the regions of a program.

    `demoted`: operations that must not be in one, with the reason. `least`: operations that are worth a region.
    `fixed`: names of parameters (True: all) whose sizes and integers are static. `loose`: numbers that change so often
    that a trace must not depend on them.
    """
    demoted = dict(demoted)
    while True:
        s = _Splitter(program, demoted, least, fixed, loose)
        s.run()
        if not s.more:
            return s.out
        demoted.update(s.more)


def own_tensors(program: Program) -> set[Var]:
    """Parameters and buffers that a program reads: their sizes are static, as where a module is fused."""
    return {v for v in program.attributes.values() if v.type == "Tensor"}


class _Splitter:
    def __init__(
        self, program: Program, demoted: dict[Op, str], least: int, fixed: frozenset[str] | bool, loose: Collection[Var]
    ):
        self.program, self.demoted, self.least, self.fixed = program, demoted, least, fixed
        self.loose = frozenset(loose)
        self.phase: dict[Var, int] = {}
        self.why: dict[Op, str] = {}  # not traceable
        self.made_by: dict[Var, Op] = {}
        self.users: dict[Var, list[Op | Block]] = {}
        self.groups = _Aliases(program)
        self.out = Split({}, [], {})
        self.more: dict[Op, str] = {}  # to be demoted

    def run(self) -> None:
        body = self.program.body
        fixed_names = {self.program.names[n] for n in self.fixed} if not isinstance(self.fixed, bool) else set()
        self.sizes_fixed = {v for v in body.params if self.fixed is True or v.name in fixed_names}
        self.sizes_fixed |= own_tensors(self.program)
        for v in (*body.params, *self.program.attributes.values()):
            self.phase[v] = SIZE if v.kind == "int" and v not in self.sizes_fixed else STATIC
        self.link(body)
        self.block(body)
        self.cut(body)
        self.containers()

    def link(self, b: Block) -> None:
        """Note what makes and what uses each value."""
        for op in b.ops:
            for v in op.inputs:
                self.users.setdefault(v, []).append(op)
            for v in op.outputs:
                self.made_by[v] = op
            for inner in op.blocks:
                self.link(inner)
        for v in b.results:
            self.users.setdefault(v, []).append(b)

    # --- phases ---
    def of(self, v: Var) -> int:
        return VALUE if v in self.loose else STATIC if isinstance(v, Const) else self.phase.get(v, STATIC)

    def block(self, b: Block) -> bool:
        """Give every value of a block its phase; whether a trace can follow all of it."""
        return all([self.op(op) for op in b.ops])

    def op(self, op: Op) -> bool:
        kind = op.rule.kind
        if kind == "if":
            why = self.branches(op)
        elif kind == "loop":
            why = self.loop(op)
        elif kind == "with":
            inside = self.block(op.blocks[0])
            why = "" if inside and op.data == "_torch.no_grad()" else "holds what a trace cannot follow"
        else:
            why = self.plain(op)
        why = self.demoted.get(op, why)
        if why:
            self.why[op] = why
            if kind not in ("if", "loop", "with"):
                for v in op.outputs:
                    self.phase[v] = max(self.of(v), VALUE if v.kind != "tensor" else STATIC)
        return not why

    def plain(self, op: Op) -> str:
        kind = op.rule.kind
        if kind == "host":
            return op.rule.why
        late = [v for v in op.inputs if self.of(v) == VALUE and _keyed(v)]
        if kind == "tensor" and any(_foreign(v) for v in op.inputs):
            return "takes an object that only TorchScript knows"
        if kind == "static":
            phase = STATIC
        elif kind == "size":
            phase = STATIC if self.fixed is True or op.inputs[0] in self.sizes_fixed else SIZE
        elif kind == "tensor":
            phase = STATIC
        else:
            phase = max((self.of(v) for v in op.inputs), default=STATIC)
            if op.name in ("aten::__is__", "aten::__isnot__", "aten::len.t"):
                phase = STATIC
            if self.groups.changes(op.inputs):
                phase = VALUE
        for v in op.outputs:
            self.phase[v] = STATIC if v.kind == "tensor" else phase
        if late and kind != "raise":
            return f"needs {late[0].name}, which is known when it runs"
        return ""

    def branches(self, op: Op) -> str:
        inside = [self.block(b) for b in op.blocks]
        raises = [self.complains(b) for b in op.blocks]
        phase = self.of(op.inputs[0])
        fine = all(i or r for i, r in zip(inside, raises, strict=True))
        traced = fine and op not in self.demoted and (phase == STATIC or (phase == SIZE and any(raises)))
        taken = [b for b, r in zip(op.blocks, raises, strict=True) if not r] or op.blocks
        for k, v in enumerate(op.outputs):
            found = max(self.of(b.results[k]) for b in taken)
            if len(taken) > 1 and v.kind != "tensor":
                found = max(found, phase)
            self.phase[v] = self.after(v, found, traced)
        if traced:
            return ""
        if phase == STATIC or any(raises):
            return "holds what a trace cannot follow" if not fine else "depends on a value"
        return "depends on sizes" if phase == SIZE else "depends on a value"

    def complains(self, b: Block) -> bool:
        """Whether a branch only raises, or warns: a trace in which it is taken is given up."""
        warns = not b.results and any(op.name == "aten::warn" and op not in self.demoted for op in b.ops)
        return warns or any(op.rule.kind == "raise" for op in b.ops)

    def after(self, v: Var, phase: int, traced: bool) -> int:
        """The phase of a result of control flow. What Python has chosen among is no expression of sizes any more."""
        if v.kind == "tensor" or traced or phase == STATIC:
            return phase if v.kind != "tensor" else STATIC
        return SIZE if v.kind == "int" and phase == SIZE else VALUE if v.kind != "int" else phase

    def loop(self, op: Op) -> str:
        body, trips = op.blocks[0], op.inputs[0]
        carried = list(zip(body.params[1:], op.inputs[2:], body.results[1:], strict=True))
        counted = _true(op.inputs[1]) and _true(body.results[0])
        if counted and self.of(trips) == STATIC and op not in self.demoted:
            self.phase[body.params[0]] = STATIC
            for p, init, _ in carried:
                self.phase[p] = self.of(init)
            for _ in range(VALUE + 1):  # until no phase rises any more
                inside = self.block(body)
                before = [self.of(p) for p, _, _ in carried]
                for p, _, result in carried:
                    self.phase[p] = max(self.of(p), self.of(result)) if p.kind != "tensor" else STATIC
                if before == [self.of(p) for p, _, _ in carried]:
                    break
            many = trips.value if isinstance(trips, Const) else UNKNOWN_TRIPS
            small = many * max(1, weight(body.ops)) <= UNROLLED
            if inside and small:
                for v, (p, _, _) in zip(op.outputs, carried, strict=True):
                    self.phase[v] = self.of(p)
                return ""
        self.phase[body.params[0]] = SIZE
        for p, init, result in carried:
            same = result is p
            changing = SIZE if p.kind == "int" else VALUE
            self.phase[p] = STATIC if p.kind == "tensor" else self.of(init) if same else changing
        for inner in body.walk():
            self.why.pop(inner, None)
        self.block(body)
        for v, (p, _, _) in zip(op.outputs, carried, strict=True):
            self.phase[v] = self.of(p)
        known = counted and self.of(trips) == STATIC
        return "repeats too often to unroll" if known else "repeats a number of times that a trace does not know"

    # --- regions ---
    def cut(self, b: Block) -> None:
        """Divide a block into pieces."""
        pieces: list[Piece] = []
        run: list[Op] = []
        for op in (*b.ops, None):
            if op is not None and op not in self.why:
                run.append(op)
                continue
            pieces += self.pieces(run)
            run = []
            if op is not None:
                pieces.append(op)
                self.out.reasons[op] = self.why[op]
                for inner in op.blocks:
                    self.cut(inner)
        self.out.pieces[b] = pieces

    def pieces(self, run: list[Op]) -> list[Piece]:
        if weight(run) >= self.least:
            return [self.region(run)]
        for op in run:
            for inner in op.blocks:
                self.cut(inner)
        return list(run)

    def region(self, ops: list[Op]) -> Region:
        r = Region(ops)
        inside = _all(ops)
        members: set[Op | Block] = {*inside, *(b for op in inside for b in op.blocks)}
        defined = {v for op in inside for v in op.outputs} | {p for op in inside for b in op.blocks for p in b.params}
        for v in (v for op in ops for v in op.defined()):
            if any(u not in members for u in self.users.get(v, ())):
                self.give(r, v, defined)
        users = {op: {u for v in op.outputs for u in self.users.get(v, ())} for op in (*r.early, *r.late)}
        spare = {op for op in users if users[op].isdisjoint(members)}
        r.ops = [op for op in ops if op not in spare]
        for op in _all(r.ops):
            for v in (*op.inputs, *(x for b in op.blocks for x in b.results)):
                self.take(r, v, defined)
        self.out.regions.append(r)
        return r

    def take(self, r: Region, v: Var, defined: set[Var]) -> None:
        """Make a value from outside an input, or copy the expression of sizes that it is."""
        if v in defined or v in r.inputs or (isinstance(v, Const) and not holds_tensors(v)):
            return
        made = self.made_by.get(v)
        if self.of(v) == SIZE and _keyed(v) and made is not None and _light(made):
            for x in made.inputs:
                self.take(r, x, defined)
            r.first.append(made)
            defined.update(made.outputs)
            return
        r.inputs.append(v)

    def give(self, r: Region, v: Var, defined: set[Var]) -> None:
        """Make a value that is used outside an output, or leave it to Python if that can compute it as well."""
        made = self.made_by[v]
        if (early := self.light_from(made, defined, set(), r.ops)) is not None:
            r.early += [op for op in early if op not in r.early]
        elif v.kind == "tensor" or "Tensor" in v.type or not _light(made):
            r.outputs.append(v)
        elif (late := self.light_from(made, defined, set(r.outputs), r.ops)) is not None:
            r.late += [op for op in late if op not in r.late and op not in r.early]
        elif not _keyed(v) or self.of(v) == STATIC:
            r.outputs.append(v)
        else:
            self.more[made] = "is a number that is needed outside"

    def light_from(self, op: Op, defined: set[Var], ready: set[Var], top: list[Op]) -> list[Op] | None:
        """Operations on numbers that compute what `op` does, from values outside or `ready`; None: there are none.

        None make or read a list that the program changes: there is one of it, with what it holds at that point.
        """
        if not _light(op) or op not in top or self.groups.changes([*op.inputs, *op.outputs]):
            return None
        out: list[Op] = []
        for v in op.inputs:
            if v not in defined or v in ready:
                continue
            found = self.light_from(self.made_by[v], defined, ready, top) if v in self.made_by else None
            if found is None:
                return None
            out += [o for o in found if o not in out]
        return [*out, op]

    # --- lists and dictionaries ---
    def containers(self) -> None:
        """A list that the program changes lives in Python as a whole, or in one region as a whole."""
        place: dict[Op, Region | None] = {}
        for r in self.out.regions:
            place.update(dict.fromkeys(_all(r.ops), r))
        for touching, outside in self.groups.changed():
            places = {place.get(op) for op in touching}
            if len(places) > 1 or (outside and places != {None}):
                self.more.update({op: "works on a list or dictionary that changes" for op in touching if place.get(op)})


class _Aliases:
    """Lists and dictionaries that may be the same object, or one in another."""

    def __init__(self, program: Program):
        self.parent: dict[Var, Var] = {}
        self.touching: dict[Var, list[Op]] = {}
        self.program = program
        for op in program.body.walk():
            self.add(op)
        self.roots = {self.find(op.inputs[0]) for op in program.body.walk() if op.rule.kind == "change"}

    def add(self, op: Op) -> None:
        values = [v for v in (*op.inputs, *op.outputs) if v.kind in ("list", "dict", "tuple", "other", "none")]
        held = [v for v in values if "List" in v.type or "Dict" in v.type or v.kind == "other"]
        if op.rule.kind == "tensor" or (op.rule.kind == "host" and not op.outputs):
            pass  # operators of torch keep no list
        elif op.name in _COPIES and op.outputs[0].type.count("List") == 1 and "Dict" not in op.outputs[0].type:
            pass  # another list, of what is no list
        elif op.rule.kind in ("if", "loop"):
            for k, v in enumerate(op.outputs):
                first = op.rule.kind == "loop"
                for b in op.blocks:
                    self.join(v, b.results[k + first])
                if first:
                    self.join(v, op.inputs[k + 2])
                    self.join(v, op.blocks[0].params[k + 1])
        else:
            for v in held[1:]:
                self.join(held[0], v)
        for v in held:
            self.touching.setdefault(v, []).append(op)

    def find(self, v: Var) -> Var:
        while self.parent.get(v, v) is not v:
            v = self.parent[v]
        return v

    def join(self, a: Var, b: Var) -> None:
        if a.kind not in ("tensor", "int", "float", "bool", "str"):
            self.parent[self.find(a)] = self.find(b)

    def changed(self) -> list[tuple[list[Op], bool]]:
        """For each set of lists that is changed: what works on it, and whether it is known outside the program."""
        known = {self.find(v) for v in (*self.program.body.params, *self.program.attributes.values())}
        out = []
        for root in sorted(self.roots, key=lambda v: v.name):
            ops = [op for v, found in self.touching.items() if self.find(v) is root for op in found]
            out.append((list(dict.fromkeys(ops)), root in known))
        return out

    def changes(self, values: list[Var]) -> list[Var]:
        """Those of `values` that the program changes."""
        return [v for v in values if self.find(v) in self.roots]


def changed_inputs(program: Program) -> tuple[list[Var], list[Var]]:
    """Parameters, and attributes, that are lists or dictionaries the program changes."""
    aliases = _Aliases(program)
    return aliases.changes(program.body.params), aliases.changes(list(program.attributes.values()))


_COPIES = frozenset(("aten::copy.t", "aten::list.t", "aten::slice.t", "aten::add.t", "aten::mul.left_t"))


# --- properties of operations ------------------------------------------------------------------------


def _all(ops: list[Op]) -> list[Op]:
    return [inner for op in ops for inner in op.walk()]


def _true(v: Var) -> bool:
    return isinstance(v, Const) and v.value is True


def _keyed(v: Var) -> bool:
    """Whether a trace would be for one value of it alone: anything but tensors and integers."""
    if v.kind in ("tensor", "none") or v.type in _INTEGERS:
        return False
    return "Tensor" not in v.type or any(k in v.type for k in ("float", "bool", "str", "number", "int"))


_INTEGERS = frozenset(("int", "Optional[int]", "List[int]", "Optional[List[int]]"))


def _foreign(v: Var) -> bool:
    if isinstance(v, Const) and v.value is None:
        return False
    return v.kind == "other" and not v.type.startswith(("Device", "Optional[Device"))


def _light(op: Op) -> bool:
    """Whether it is arithmetic on numbers and what tensors are like: Python may do it twice."""
    return op.rule.kind in ("pure", "static", "size") and not op.blocks


def holds_tensors(c: Const) -> bool:
    return "Tensor" in c.type and c.value is not None


def weight(ops: list[Op]) -> int:
    """How many operations on tensors there are, views left out; of branches, those of the larger one."""
    out = 0
    for op in ops:
        if op.rule.kind == "tensor":
            out += op.data is None or not is_view(op.data)
        elif op.rule.kind == "if":
            out += max(weight(b.ops) for b in op.blocks)
        elif op.rule.kind == "loop":
            trips = op.inputs[0]
            times = min(trips.value, UNROLLED) if isinstance(trips, Const) else UNKNOWN_TRIPS
            out += weight(op.blocks[0].ops) * max(0, times)
        elif op.blocks:
            out += weight(op.blocks[0].ops)
    return out


__all__ = ["Piece", "Region", "Split", "changed_inputs", "holds_tensors", "split", "weight"]
