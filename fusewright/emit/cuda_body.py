"""The statements of one CUDA kernel.

Lane-wise statements on registers of the same number of lanes are collected into one unrolled loop, in which what only
they use are scalars. Statements between them that concern scalars, and vector loads, go in front of the loop: they read
nothing that the loop computes. No loop stores and loads, since all lanes of a load come before all lanes of a store.
"""

from __future__ import annotations

from collections import Counter

from ..core.dtypes import DType, compute_type
from ..core.errors import CompilerError
from ..loop.ir import (
    Alloc,
    Arg,
    Barrier,
    Buf,
    Commit,
    Copy,
    Fail,
    For,
    Grid,
    If,
    Imm,
    Let,
    Prefetch,
    Reg,
    Set,
    Stmt,
    Store,
    Var,
    Wait,
    operands,
    walk,
)
from . import cuda_cluster, cuda_collective, cuda_lanes, cuda_memory, cuda_random, cuda_ranges, cuda_scan
from .cuda_index import divisors, index_registers, lanes_of
from .cuda_own import Own
from .cuda_prelude import Prelude
from .cuda_reduce import Scratch, over_lanes, together
from .cuda_rules import Op, expression
from .cuda_types import Names, literal, stored_type, value_type

# operations whose lanes depend on each other
_APART = ("hreduce", "hscan", "lane", "permute", "treduce", "creduce", "tscan", "last", "philoxquad", "curandrun")
_TOGETHER = ("hreduce", "treduce", "creduce", "tscan", "last")  # what stays where it is, whatever its operands


class Body:
    """Writes the statements of one launch. `written`: buffers whose memory it may store to."""

    def __init__(
        self,
        prelude: Prelude,
        names: Names,
        grid: Grid,
        sizes: list[Reg],
        allocs: list[Alloc],
        written: set[str],
        scratch: Scratch,
        own: Own,
    ):
        self.prelude, self.names, self.grid = prelude, names, grid
        self.scope = {a.buf.name: a.scope for a in allocs}
        self.written = written
        self.scratch = scratch
        self.own = own
        self.packed = cuda_memory.packed_registers(allocs, grid.body)
        self.ranges = cuda_ranges.ranges(grid.body)
        self.inverses = divisors(grid.body, sizes)
        self.last = any(isinstance(s, Let) and s.op == "last" for s in walk(grid.body))
        self.linear = index_registers(grid.body, (*sizes, grid.bid, grid.tid))
        self.uses: Counter[str] = Counter(a.name for s in walk(grid.body) for a in operands(s) if isinstance(a, Reg))
        self.uses.update(s.dst.name for s in walk(grid.body) if isinstance(s, Set))
        self.uses.subtract(cuda_ranges.masks(grid.body, self.ranges))
        self.lines: list[str] = []
        self.indent = "  "
        self.constants = 0
        self.slots = 0  # the number of the next `creduce`
        self.vars = {s.dst.name for s in walk(grid.body) if isinstance(s, Var)}
        self.splats: dict[str, str] = {}  # vector registers that are one scalar in every lane -> that scalar
        self.inside: frozenset[str] = frozenset()  # registers that are scalars in the loop being written

    def run(self) -> list[str]:
        body = self.grid.body
        for n in self.inverses:
            name = self.names(n)
            self.line(f"const unsigned {name}_inverse = 0xffffffffu / (unsigned){name};")
        first = cuda_cluster.first(body)
        if first < len(body):
            self.line(cuda_cluster.begin(self.prelude, self.grid, "fw_mbarrier"))
        self.block(body[:first])
        if first < len(body):
            self.line(f"{cuda_cluster.wait(self.prelude)}  // all blocks have made their mbarriers")
        self.block(body[first:])
        return self.lines

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    # --- operands ---
    def arg(self, a: Arg) -> str:
        """An operand's text; inside a loop over lanes, its element of the lane."""
        if isinstance(a, Imm):
            return literal(a.value, a.dtype)
        if a.lanes > 1 and a.name in self.splats:
            return self.splats[a.name]
        if a.lanes > 1 and a.name not in self.inside:
            return f"{self.names(a.name)}[l]"
        return self.names(a.name)

    def pointer(self, b: Buf | None) -> str:
        assert b is not None
        return self.names(b.name, "buffer")

    def array(self, a: Arg) -> str:
        """The name of an array that holds a vector operand; what is the same in all lanes gets one."""
        if isinstance(a, Reg) and a.name not in self.splats:
            return self.names(a.name)
        self.constants += 1
        name = self.names(f"constant{self.constants}", "constant")
        values = ", ".join([self.arg(a)] * a.lanes)
        self.line(f"const {value_type(a.dtype)} {name}[{a.lanes}] = {{{values}}};")
        return name

    # --- blocks ---
    def block(self, body: list[Stmt]) -> None:
        k = 0
        while k < len(body):
            if self.splat(body[k]):
                k += 1
            elif k + 1 < len(body) and self.moves(body[k], body[k + 1]):
                k += 2
            elif lanes_of(body[k]) > 1 and self.lane_wise(body[k]):
                k = self.group(body, k)
            elif isinstance(s := body[k], Let) and s.op in ("treduce", "creduce", "tscan"):
                all_ = together(body, k)
                cuda_collective.write(self, *all_)
                k += len(all_)
            else:
                self.stmt(body[k])
                k += 1

    def moves(self, s: Stmt, into: Stmt) -> bool:
        """Writes two statements that move something from memory to registers as one, without unpacking it: its
        conversion would wait for it."""
        if not isinstance(s, Let) or not isinstance(into, Store) or s.op != "load" or s.buf is None:
            return False
        if into.value is not s.dst or self.uses[s.dst.name] > 1 or s.buf.dtype is not into.buf.dtype:
            return False
        if s.dst.lanes == 1:
            if not s.buf.dtype.is_reduced or self.scope.get(into.buf.name) != "register":
                return False
            if into.mask is not None or len(s.args) > 1:
                return False
            self.line(f"{self.pointer(into.buf)}[{self.arg(into.index)}] = {self.bits(s)};")
            return True
        if into.buf.name not in self.packed:
            return False
        there = self.words(into.buf, into.index)
        if s.buf.name in self.packed:
            fn = cuda_memory.move(self.prelude, s.buf.dtype, s.dst.lanes)
            self.line(f"{fn}({self.words(s.buf, s.args[0])}, {there});")
            return True
        if not self.vector_load(s):
            return False
        self.line(self.vector(s, "fetch", there))
        return True

    def splat(self, s: Stmt) -> bool:
        """Whether a statement gives all lanes a scalar that stays as it is: it needs no code, its readers take that."""
        if isinstance(s, (Let, Var, Set)):
            self.splats.pop(s.dst.name, None)
        if isinstance(s, Let) and s.op == "lanerange" and not self.uses[s.dst.name]:
            return True
        if not isinstance(s, Let) or s.op != "splat" or s.dst.lanes == 1:
            return False
        a = s.args[0]
        if isinstance(a, Reg) and a.name in self.vars:
            return False
        self.splats[s.dst.name] = self.arg(a)
        return True

    def nested(self, body: list[Stmt]) -> None:
        self.indent += "  "
        self.block(body)
        self.indent = self.indent[:-2]

    def stmt(self, s: Stmt) -> None:
        match s:
            case Let():
                self.let(s)
            case Var():
                self.line(f"{value_type(s.dst.dtype)} {self.names(s.dst.name)} = {self.arg(s.init)};")
            case Set():
                self.line(f"{self.names(s.dst.name)} = {self.arg(s.src)};")
            case Store():
                self.store(s)
            case For():
                self.loop(s)
            case If():
                if not s.then and s.orelse:
                    s = If(s.cond, s.orelse)
                    self.line(f"if (!{self.arg(s.cond)}) {{")
                else:
                    self.line(f"if ({self.arg(s.cond)}) {{")
                self.nested(s.then)
                if s.orelse:
                    self.line("} else {")
                    self.nested(s.orelse)
                self.line("}")
            case Barrier():
                reason = " ".join(s.reason.split()).rstrip("\\")
                self.line("__syncthreads();" + (f"  // {reason}" if reason else ""))
            case Prefetch():
                self.line(f"{self.prelude.need('fw_prefetch')}({self.pointer(s.buf)} + {self.arg(s.index)});")
            case Copy():
                at = (self.pointer(s.into), self.pointer(s.buf), self.arg(s.at), self.arg(s.index))
                self.own.copy(s, *at, "" if s.buf.name in self.written else "ldg", self.line)
            case Commit() | Wait():
                text = self.own.commit() if isinstance(s, Commit) else self.own.wait(s.groups)
                if text is not None:
                    self.line(text)
            case Fail():
                self.line(f"{self.prelude.need('fw_fail')}();")
            case _:
                raise CompilerError(f"cannot emit {type(s).__name__} here", "emit")

    def loop(self, s: For) -> None:
        t, v = value_type(s.var.dtype), self.names(s.var.name)
        hi, step = self.arg(s.hi), self.arg(s.step)
        mutable = {x.dst.name for x in walk(s.body) if isinstance(x, Set)}
        for a, what in ((s.hi, "end"), (s.step, "step")):
            if isinstance(a, Reg) and a.name in mutable:  # bounds are read once
                once = self.names(f"{s.var.name}_{what}", "bound")
                self.line(f"const {t} {once} = {self.arg(a)};")
                hi, step = (once, step) if what == "end" else (hi, once)
        if s.unroll:
            self.line("#pragma unroll")
        go = f"++{v}" if isinstance(s.step, Imm) and s.step.value == 1 else f"{v} += {step}"
        self.line(f"for ({t} {v} = {self.arg(s.lo)}; {v} < {hi}; {go}) {{")
        self.nested(s.body)
        self.line("}")

    # --- loops over lanes ---
    def lane_wise(self, s: Stmt) -> bool:
        """Whether a statement on vectors is written lane by lane."""
        match s:
            case Let():
                return s.op not in _APART and not (s.op == "load" and self.vector_load(s))
            case Store():
                return not self.vector_store(s)
            case Var() | Set():
                return True
        return False

    def in_front(self, s: Stmt) -> bool:
        """Whether a statement between lane-wise ones can go before them: it defines something, from scalars alone."""
        if not isinstance(s, Let) or s.op in _TOGETHER:
            return False
        if any(a.lanes > 1 for a in s.args) and cuda_ranges.range_of(s, self.ranges) is None:
            return False
        return s.dst.lanes == 1 or not self.lane_wise(s)

    def group(self, body: list[Stmt], start: int) -> int:
        """Write the loop that begins at `start`; returns the number of the first statement after it."""
        lanes = lanes_of(body[start])
        front: list[Stmt] = []
        found: list[Stmt] = []
        waiting: list[Stmt] = []  # what can go in front if more of the loop follows
        stored: set[str] = set()
        reads = False
        k = end = start
        while k < len(body):
            s = body[k]
            if self.splat(s):
                pass
            elif lanes_of(s) == lanes and self.lane_wise(s):
                if isinstance(s, Store):
                    if reads or s.buf.name in stored:
                        break
                    stored.add(s.buf.name)
                elif isinstance(s, Let) and s.buf is not None:
                    if stored:
                        break
                    reads = True
                found.append(s)
                front += waiting
                waiting = []
                end = k + 1
            elif self.in_front(s) and not (stored and isinstance(s, Let) and s.buf is not None):
                waiting.append(s)
            else:
                break
            k += 1
        for s in front:
            self.stmt(s)
        self.lanes_loop(found, lanes)
        return end

    def lanes_loop(self, found: list[Stmt], lanes: int) -> None:
        used = Counter(a.name for s in found for a in operands(s) if isinstance(a, Reg))
        defined = [s.dst for s in found if isinstance(s, (Let, Var))]
        used.update(s.dst.name for s in found if isinstance(s, Set))
        inside = {r.name for r in defined if used[r.name] == self.uses[r.name]}
        for r in defined:
            if r.name not in inside:
                self.line(f"{value_type(r.dtype)} {self.names(r.name)}[{lanes}];")
        self.line("#pragma unroll")
        self.line(f"for (int l = 0; l < {lanes}; ++l) {{")
        self.indent += "  "
        self.inside = frozenset(inside)
        for s in found:
            self.lane(s)
        self.inside = frozenset()
        self.indent = self.indent[:-2]
        self.line("}")

    def lane(self, s: Stmt) -> None:
        """One statement of a loop over lanes."""
        match s:
            case Let():
                value = self.element(s) if s.buf is not None else self.operation(s)
                self.assign(s.dst, value, True)
            case Var():
                self.assign(s.dst, self.arg(s.init), False)
            case Set():
                self.line(f"{self.arg(s.dst)} = {self.arg(s.src)};")
            case Store():
                self.put(s)

    def assign(self, r: Reg, value: str, constant: bool) -> None:
        if r.lanes > 1 and r.name not in self.inside:
            self.line(f"{self.names(r.name)}[l] = {value};")
        else:
            self.line(f"{'const ' if constant else ''}{value_type(r.dtype)} {self.names(r.name)} = {value};")

    # --- operations ---
    def operation(self, s: Let) -> str:
        types: list[DType] = [a.dtype for a in s.args]
        args = [self.arg(a) for a in s.args]
        lane = "l" if s.dst.lanes > 1 else "0"
        if s.op == "udiv" and s.dst.dtype.itemsize == 4 and args[1] in map(self.names, self.inverses):
            return f"{self.prelude.need('fw_udiv_by')}({args[0]}, {args[1]}, {args[1]}_inverse)"
        return expression(Op(self.prelude, args, types, s.dst.dtype, s.attr, s.dst.name in self.linear, lane), s.op)

    def let(self, s: Let) -> None:
        name, t, lanes = self.names(s.dst.name), value_type(s.dst.dtype), s.dst.lanes
        if s.op == "load" and lanes > 1:
            self.line(f"{t} {name}[{lanes}];")
            self.line(self.load_vector(s))
        elif s.op == "last":
            counter, count = f"{self.pointer(s.buf)} + {self.arg(s.args[0])}", self.arg(s.args[1])
            self.line(f"const bool {name} = {self.prelude.need('fw_last')}({counter}, (int){count});")
        elif s.buf is not None:
            self.line(f"const {t} {name} = {self.element(s)};")
        elif s.op == "lane":
            self.line(f"const {t} {name} = {self.array(s.args[0])}[{s.attr}];")
        elif s.op == "permute":
            self.line(f"const {t} {name}[{lanes}] = {{{', '.join(cuda_lanes.permuted(self, s))}}};")
        elif s.op == "hscan":
            a = s.args[0]
            self.line(f"{t} {name}[{lanes}];")
            self.line(f"{cuda_scan.over_lanes(self.prelude, s.attr, a.dtype, lanes)}({self.array(a)}, {name});")
        elif s.op == "hreduce":
            a = s.args[0]
            fn = over_lanes(self.prelude, s.attr, a.dtype, a.lanes)
            self.line(f"const {t} {name} = {fn}({self.array(a)});")
        elif s.op == "philoxquad":
            self.line(f"unsigned {name}[{lanes}];")
            for text in cuda_random.quads(self.prelude, [self.arg(a) for a in s.args], s.attr or 0, name, lanes):
                self.line(text)
        elif s.op == "curandrun":
            fn = cuda_random.need(self.prelude, "fw_curand_run")
            self.line(f"unsigned {name}[{lanes}];")
            self.line(f"{fn}<{lanes}>({', '.join(self.arg(a) for a in s.args)}, {name});")
        else:
            self.line(f"const {t} {name} = {self.operation(s)};")

    # --- memory ---
    def vector_load(self, s: Let) -> bool:
        """Whether a load is one access, not one for each lane."""
        assert s.buf is not None
        if s.buf.name in self.packed or cuda_ranges.range_of(s, self.ranges) is not None:
            return True
        if s.buf.name in self.own:
            return self.own.piecewise(s.buf)
        aligned = len(s.args) == 1 and ("aligned" in (s.attr or "") or cuda_ranges.lies_across(s))
        return aligned and self.scope.get(s.buf.name) != "register" and cuda_memory.in_words(s.buf.dtype, s.dst.lanes)

    def vector_store(self, s: Store) -> bool:
        if s.buf.name in self.packed or cuda_ranges.range_of(s, self.ranges) is not None:
            return True
        if s.buf.name in self.own:
            return self.own.piecewise(s.buf)
        aligned = "aligned" in s.hint and s.mask is None and s.index.lanes == 1 and s.meet in ("", "set")
        return aligned and self.scope.get(s.buf.name) != "register" and cuda_memory.in_words(s.buf.dtype, s.value.lanes)

    def read_policy(self, s: Let) -> str:
        b = s.buf
        assert b is not None
        if self.scope.get(b.name, "grid") != "grid":
            return ""
        if "stream" in (s.attr or "") and not self.grid.dependent:  # which the compiler might do before the wait
            return "ldcs"
        if b.name not in self.written:
            return "ldg"
        return "ldcg" if self.last and b.name in self.scope else ""  # what other blocks have just left: not in L1

    def words(self, b: Buf, index: Arg) -> str:
        """The address of the word that holds element `index` of packed register scratch."""
        per = 4 // b.dtype.itemsize
        at = str(int(index.value) // per) if isinstance(index, Imm) else f"{self.arg(index)} / {per}"
        return f"{self.pointer(b)} + {at}"

    def load_vector(self, s: Let) -> str:
        b, lanes, name = s.buf, s.dst.lanes, self.names(s.dst.name)
        assert b is not None
        if b.name in self.packed:
            return f"{cuda_memory.unpack(self.prelude, b.dtype, lanes)}({self.words(b, s.args[0])}, {name});"
        if b.name in self.own:
            return self.own.load(b, self.pointer(b), self.arg(s.args[0]), lanes, name)
        return self.vector(s, "load", name)

    def vector(self, s: Let, how: str, into: str) -> str:
        """The call that reads a vector: "load" its elements, or "fetch" them as words."""
        assert s.buf is not None
        fn, p = cuda_ranges.reader(self.prelude, s, how, self.read_policy(s)), self.pointer(s.buf)
        at = self.arg(s.args[0])
        given = [p] * (s.attr == "across" and len(s.args) > 1) + [f"{self.arg(a)} - {at}" for a in s.args[2:]]
        return f"{fn}({', '.join([*given, f'{p} + {at}'])}, {self.span(s)}{into});"

    def span(self, s: Let | Store) -> str:
        """The arguments that say which elements of an aligned vector exist, if not all do."""
        return "".join(f"{self.arg(a)}, " for a in cuda_ranges.range_of(s, self.ranges) or ())

    def bits(self, s: Let) -> str:
        """What one lane of a load or gather reads, as it is stored."""
        b = s.buf
        assert b is not None
        at = self.arg(s.args[0])
        if s.dst.lanes > 1 and s.op == "load":
            at += " + l"
        if b.name in self.own:
            at = self.own.at(at)
        policy = self.read_policy(s)
        return f"__{policy}({self.pointer(b)} + {at})" if policy else f"{self.pointer(b)}[{at}]"

    def element(self, s: Let) -> str:
        """The value that one lane of a load or gather reads."""
        b, raw = s.buf, self.bits(s)
        assert b is not None
        if b.dtype.is_reduced:
            raw = f"{self.prelude.need(f'fw_{b.dtype}_f32')}({raw})"
        elif b.dtype.is_bool:
            raw += " != 0"
        if len(s.args) < 2:
            return raw
        return f"{self.arg(s.args[1])} ? {raw} : {literal(False if b.dtype.is_bool else 0, compute_type(b.dtype))}"

    def store(self, s: Store) -> None:
        """A store of one element, or of an array at once."""
        b, lanes = s.buf, s.value.lanes
        if lanes == 1:
            self.put(s)
        elif b.name in self.packed:
            fn = cuda_memory.pack(self.prelude, b.dtype, lanes)
            self.line(f"{fn}({self.array(s.value)}, {self.words(b, s.index)});")
        elif b.name in self.own:
            self.line(self.own.store(b, self.pointer(b), self.arg(s.index), lanes, self.array(s.value)))
        else:
            store = cuda_memory.store if s.mask is None else cuda_ranges.store_range
            fn = store(self.prelude, b.dtype, lanes, "stcs" if self.streams(s) else "")
            self.line(f"{fn}({self.pointer(b)} + {self.arg(s.index)}, {self.span(s)}{self.array(s.value)});")

    def put(self, s: Store) -> None:
        """Write one lane's element."""
        b, value = s.buf, self.arg(s.value)
        at = self.arg(s.index)
        if s.value.lanes > 1 and s.index.lanes == 1:
            at += " + l"
        if b.name in self.own:
            at = self.own.at(at)
        if b.dtype.is_reduced:
            value = f"{self.prelude.need(f'fw_f32_{b.dtype}')}({value})"
        elif b.dtype.is_bool:
            value = f"({stored_type(b.dtype)}){value}"
        guard, p = f"if ({self.arg(s.mask)}) " if s.mask is not None else "", self.pointer(b)
        put = f"__stcs({p} + {at}, {value})" if self.streams(s) else f"{p}[{at}] = {value}"
        if s.meet not in ("", "set"):
            put = cuda_memory.meet(b.dtype, s.meet, f"{p} + {at}", value)
        self.line(f"{guard}{put};")

    def streams(self, s: Store) -> bool:
        return "stream" in s.hint and self.scope.get(s.buf.name, "grid") == "grid"


__all__ = ["Body"]
