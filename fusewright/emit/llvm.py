"""Loop IR -> LLVM IR text. A pure function of the kernel and the target's facts.

A kernel becomes

    i32 @name(ptr bufs..., ptr sizes, hosts..., ptr scratch)     0, or 1 when an index was out of range

Each parallel region is outlined and run by the OpenMP runtime that torch has already loaded (`GOMP_parallel`),
so it uses torch's own threads. Mutable registers are stack slots that LLVM promotes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.dtypes import CACHE_LINE, DType
from ..core.errors import CompilerError
from ..loop.ir import Arg, Buf, Fail, For, Func, If, Imm, Let, Parallel, Prefetch, Reg, Set, Stmt, Store, Turn, Var
from . import llvm_strided, llvm_turn
from .llvm_ops import Ops
from .llvm_types import literal, scalar, splat, stored, vector


@dataclass(frozen=True, slots=True)
class Target:
    """What the emitter needs to know of a CPU.

    `bits`: vector register width; `openmp`: whether GOMP_parallel can be called; `sleef`: the SLEEF vector functions
    present ("Sleef_expf16_u10", ...); `inline_math`: whether our own functions replace SLEEF's where they are as
    accurate (they are faster, but do not give eager's very bits); `triple`, `cpu`, `features`: for LLVM.
    """

    bits: int
    openmp: bool
    sleef: frozenset[str]
    inline_math: bool = True
    triple: str = ""
    cpu: str = ""
    features: str = ""


def emit(func: Func, target: Target) -> str:
    """LLVM IR text of a verified kernel."""
    return _Module(func, target).run()


class _Module:
    def __init__(self, func: Func, target: Target):
        self.func = func
        self.target = target
        self.ops = Ops(target.bits, target.sleef, target.inline_math)
        self.regions: list[str] = []

    def run(self) -> str:
        f = self.func
        params = [f"ptr %{b.name}" for b in f.bufs] + ["ptr %sizes"]
        params += [f"{scalar(h.dtype)} %{h.name}" for h in f.hosts] + ["ptr %scratch"]
        slots = len(f.bufs) + 3 + len(f.hosts)
        entry = _Function(self, False)
        entry.line(f"%ctx = alloca [{slots} x i64], align 16")
        entry.line("%status = alloca i64, align 8")
        entry.line("store i64 0, ptr %status")
        values = [(f"ptr %{b.name}", k) for k, b in enumerate(f.bufs)]
        n = len(f.bufs)
        values += [("ptr %sizes", n), ("ptr %scratch", n + 1), ("ptr %status", n + 2)]
        values += [(f"{scalar(h.dtype)} %{h.name}", n + 3 + k) for k, h in enumerate(f.hosts)]
        for v, k in values:
            entry.line(f"%ctx.{k} = getelementptr i64, ptr %ctx, i64 {k}")
            entry.line(f"store {v}, ptr %ctx.{k}")
        entry.sizes()
        entry.allocs("0")
        for s in f.body:
            if isinstance(s, Parallel):
                self.region(entry, s)
            else:
                entry.stmt(s)
        entry.line("%failed = load i64, ptr %status")
        entry.line("%code = trunc i64 %failed to i32")
        entry.line("ret i32 %code")
        body = entry.text(f"define i32 @{f.name}({', '.join(params)})")
        head = []
        if self.target.openmp:
            head.append("declare void @GOMP_parallel(ptr, ptr, i32, i32)")
            head.append("declare i32 @omp_get_thread_num()")
            head.append("declare i32 @omp_get_num_threads()")
        return "\n".join([*head, *self.ops.declarations(), *self.regions, body, *self.ops.definitions(), *_TRAILER])

    def region(self, entry: _Function, p: Parallel) -> None:
        name = f"{self.func.name}.region{len(self.regions)}"
        fn = _Function(self, True)
        f = self.func
        slots = [("ptr", f"%{b.name}") for b in f.bufs] + [("ptr", "%sizes"), ("ptr", "%scratch"), ("ptr", "%status")]
        slots += [(scalar(h.dtype), f"%{h.name}") for h in f.hosts]
        for k, (ty, v) in enumerate(slots):
            fn.line(f"%ctx.{k} = getelementptr i64, ptr %ctx, i64 {k}")
            fn.line(f"{v} = load {ty}, ptr %ctx.{k}")
        fn.sizes()
        if self.target.openmp:
            fn.line("%omp.tid = call i32 @omp_get_thread_num()")
            fn.line("%omp.nth = call i32 @omp_get_num_threads()")
            fn.line(f"%{p.tid.name} = sext i32 %omp.tid to i64")
            fn.line(f"%{p.nth.name} = sext i32 %omp.nth to i64")
        else:
            fn.line(f"%{p.tid.name} = add i64 0, 0")
            fn.line(f"%{p.nth.name} = add i64 1, 0")
        fn.allocs(f"%{p.tid.name}")
        for s in p.body:
            fn.stmt(s)
        fn.line("ret void")
        self.regions.append(fn.text(f"define internal void @{name}(ptr %ctx)"))
        if not self.target.openmp:
            entry.line(f"call void @{name}(ptr %ctx)")
            return
        # one thread needs no team: outside a parallel region the runtime says thread 0 of 1
        alone, n, at = entry.fresh(), entry.fresh(), entry.fresh("team")[1:]
        entry.line(f"{alone} = icmp eq i64 %{entry.threads}, 1")
        entry.line(f"br i1 {alone}, label %{at}.alone, label %{at}.all")
        entry.label(f"{at}.alone")
        entry.line(f"call void @{name}(ptr %ctx)")
        entry.line(f"br label %{at}.end")
        entry.label(f"{at}.all")
        entry.line(f"{n} = trunc i64 %{entry.threads} to i32")
        entry.line(f"call void @GOMP_parallel(ptr @{name}, ptr %ctx, i32 {n}, i32 0)")
        entry.line(f"br label %{at}.end")
        entry.label(f"{at}.end")


_TRAILER = ['attributes #0 = { nounwind "no-trapping-math"="true" }', "!0 = !{}", "!1 = !{i32 1}"]


class _Function:
    """One LLVM function being written."""

    def __init__(self, module: _Module, region: bool):
        self.module = module
        self.ops = module.ops
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.vars: set[str] = set()
        self.steps: dict[str, tuple[str, str]] = {}  # indices at equal distances: the first, the distance
        self.block_memo: dict[Any, str] = {}
        self.parts: dict[str, str] = {}  # masks of the first lanes, by their numbers of lanes
        self.counter = 0
        self.threads = module.func.threads.name

    def text(self, head: str) -> str:
        return "\n".join([f"{head} #0 {{", "entry:", *(f"  {s}" for s in self.slots), *self.lines, "}"])

    def line(self, s: str) -> None:
        self.lines.append(f"  {s}")

    def label(self, name: str) -> None:
        self.block_memo.clear()
        self.lines.append(f"{name}:")

    def fresh(self, prefix: str = "t") -> str:
        self.counter += 1
        return f"%{prefix}.{self.counter}"

    def put(self, text: str) -> str:
        """A temporary holding `text`."""
        v = self.fresh()
        self.line(f"{v} = {text}")
        return v

    # --- prologue ---
    def sizes(self) -> None:
        for k, r in enumerate(self.module.func.sizes):
            self.line(f"%{r.name}.p = getelementptr i64, ptr %sizes, i64 {k}")
            self.line(f"%{r.name} = load i64, ptr %{r.name}.p, !invariant.load !0")

    def allocs(self, tid: str) -> None:
        """Addresses of scratch buffers; the layout is that of `scratch_bytes` in `run/launch.py`."""
        offset = "0"
        for a in self.module.func.allocs:
            size = self.fresh()
            self.line(f"{size} = mul i64 {self.value(a.count)}, {a.buf.dtype.itemsize}")
            up, block = self.fresh(), self.fresh()
            self.line(f"{up} = add i64 {size}, 63")
            self.line(f"{block} = and i64 {up}, -64")
            at, total = offset, block
            if a.scope == "thread":
                mine, at, total = self.fresh(), self.fresh(), self.fresh()
                self.line(f"{mine} = mul i64 {tid}, {block}")
                self.line(f"{at} = add i64 {offset}, {mine}")
                self.line(f"{total} = mul i64 {block}, %{self.threads}")
            self.line(f"%{a.buf.name} = getelementptr i8, ptr %scratch, i64 {at}")
            after = self.fresh()
            self.line(f"{after} = add i64 {offset}, {total}")
            offset = after

    # --- operands ---
    def value(self, a: Arg) -> str:
        """An operand's text; mutable registers are read here."""
        if isinstance(a, Imm):
            return splat(scalar(a.dtype), literal(a.value, a.dtype), a.lanes)
        if a.name in self.vars:
            t = self.fresh()
            self.line(f"{t} = load {self.type(a)}, ptr %{a.name}.slot")
            return t
        return f"%{a.name}"

    def type(self, a: Arg) -> str:
        return vector(scalar(a.dtype), a.lanes)

    # --- statements ---
    def stmt(self, s: Stmt) -> None:
        if isinstance(s, Let):
            self.let(s)
        elif isinstance(s, Var):
            self.vars.add(s.dst.name)
            self.slots.append(f"%{s.dst.name}.slot = alloca {self.type(s.dst)}")
            self.line(f"store {self.type(s.dst)} {self.value(s.init)}, ptr %{s.dst.name}.slot")
        elif isinstance(s, Set):
            self.line(f"store {self.type(s.dst)} {self.value(s.src)}, ptr %{s.dst.name}.slot")
        elif isinstance(s, Store):
            self.store(s)
        elif isinstance(s, For):
            self.loop(s)
        elif isinstance(s, If):
            self.branch(s)
        elif isinstance(s, Prefetch):
            p = self.fresh("p")
            elem = stored(s.buf.dtype)
            self.line(f"{p} = getelementptr {elem}, ptr %{s.buf.name}, i64 {self.value(s.index)}")
            self.ops.declare("declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)")
            self.line(f"call void @llvm.prefetch.p0(ptr {p}, i32 0, i32 2, i32 1)")
        elif isinstance(s, Turn):
            self.turn(s)
        elif isinstance(s, Fail):
            self.line("store atomic i64 1, ptr %status monotonic, align 8")
        else:
            raise CompilerError(f"cannot emit {type(s).__name__} here", "emit")

    def loop(self, s: For) -> None:
        n = self.fresh("loop")[1:]
        slot = f"%{s.var.name}.slot"
        self.slots.append(f"{slot} = alloca i64")
        lo, hi, step = self.value(s.lo), self.value(s.hi), self.value(s.step)
        self.line(f"store i64 {lo}, ptr {slot}")
        self.line(f"br label %{n}.head")
        self.label(f"{n}.head")
        self.line(f"%{s.var.name} = load i64, ptr {slot}")
        go = self.fresh()
        self.line(f"{go} = icmp slt i64 %{s.var.name}, {hi}")
        self.line(f"br i1 {go}, label %{n}.body, label %{n}.exit")
        self.label(f"{n}.body")
        for x in s.body:
            self.stmt(x)
        nxt = self.fresh()
        self.line(f"{nxt} = add nsw i64 %{s.var.name}, {step}")
        self.line(f"store i64 {nxt}, ptr {slot}")
        self.line(f"br label %{n}.head")
        self.label(f"{n}.exit")

    def branch(self, s: If) -> None:
        n = self.fresh("if")[1:]
        self.line(f"br i1 {self.value(s.cond)}, label %{n}.then, label %{n}.else")
        for name, body in (("then", s.then), ("else", s.orelse)):
            self.label(f"{n}.{name}")
            for x in body:
                self.stmt(x)
            self.line(f"br label %{n}.end")
        self.label(f"{n}.end")

    def where_aligned(self, ty: str, v: str, p: str, itemsize: int, size: int) -> None:
        """Store past the caches if `p` is a multiple of `size`, else as usual."""
        n = self.fresh("past")[1:]
        at, rest, whole = self.fresh(), self.fresh(), self.fresh()
        self.line(f"{at} = ptrtoint ptr {p} to i64")
        self.line(f"{rest} = and i64 {at}, {size - 1}")
        self.line(f"{whole} = icmp eq i64 {rest}, 0")
        self.line(f"br i1 {whole}, label %{n}.whole, label %{n}.any")
        for name, how in (("whole", f"{size}, !nontemporal !1"), ("any", f"{itemsize}")):
            self.label(f"{n}.{name}")
            self.line(f"store {ty} {v}, ptr {p}, align {how}")
            self.line(f"br label %{n}.end")
        self.label(f"{n}.end")

    def let(self, s: Let) -> None:
        if s.op in ("load", "gather", "strided"):
            self.load(s)
            return
        args = [self.value(a) for a in s.args]
        if s.op == "lanemask":
            self.parts[s.dst.name] = args[0]
        if s.op == "iota" and len(args) == 2:
            self.steps[s.dst.name] = (args[0], args[1])
        types = [(a.dtype, a.lanes) for a in s.args]
        self.ops.emit(self, s, f"%{s.dst.name}", args, types)

    # --- memory ---
    def address(self, buf: Buf, index: Arg) -> str:
        p = self.fresh("p")
        ty = vector("i64", index.lanes)
        self.line(f"{p} = getelementptr inbounds {stored(buf.dtype)}, ptr %{buf.name}, {ty} {self.value(index)}")
        return p

    def stepping(self, index: Arg) -> tuple[str, str] | None:
        return self.steps.get(index.name) if isinstance(index, Reg) else None

    def first(self, buf: Buf, index: str) -> str:
        p = self.fresh("p")
        self.line(f"{p} = getelementptr inbounds {stored(buf.dtype)}, ptr %{buf.name}, i64 {index}")
        return p

    def load(self, s: Let) -> None:
        assert s.buf is not None
        d, lanes = s.buf.dtype, s.dst.lanes
        elem = stored(d)
        ty = vector(elem, lanes)
        steps = self.stepping(s.args[0]) if s.op == "gather" else None
        p = self.first(s.buf, steps[0]) if steps is not None else self.address(s.buf, s.args[0])
        mask = self.value(s.args[1]) if len(s.args) > 1 else None
        raw = self.fresh() if d.is_reduced or d.is_bool else f"%{s.dst.name}"
        size = d.itemsize
        if steps is not None:
            llvm_strided.load(self, raw, elem, size, lanes, p, steps[1], mask)
        elif s.op == "gather":
            m = f"<{lanes} x i1> {mask or 'splat (i1 true)'}"
            fn = self.ops.gather(elem, lanes)
            self.line(f"{raw} = call {ty} @{fn}(<{lanes} x ptr> {p}, i32 {size}, {m}, {ty} zeroinitializer)")
        elif s.op == "strided":
            masked = None if mask is None else (self.ops.masked_load(elem, lanes), mask)
            llvm_strided.load_every(self, raw, p, elem, lanes, s.attr, size, masked)
        elif mask is None:
            self.line(f"{raw} = load {ty}, ptr {p}, align {d.itemsize}")
        elif lanes == 1:
            self._scalar_masked(raw, elem, p, mask, d)
        elif (n := self.part(s.args[1])) is not None and size * lanes in (8, 16):
            self.line(f"{raw} = call {ty} @{self.ops.part_load(elem, size, lanes)}(ptr {p}, i64 {n})")
        else:
            fn = self.ops.masked_load(elem, lanes)
            self.line(f"{raw} = call {ty} @{fn}(ptr {p}, i32 {size}, <{lanes} x i1> {mask}, {ty} zeroinitializer)")
        self.ops.widen(self, f"%{s.dst.name}", raw, d, lanes)

    def part(self, mask: Arg) -> str | None:
        """How many first lanes a mask has, if that is what it is, and accesses of parts beat masked ones here."""
        return self.parts.get(mask.name) if isinstance(mask, Reg) and self.module.target.bits < 512 else None

    def _scalar_masked(self, raw: str, elem: str, p: str, mask: str, d: DType) -> None:
        """Read through a harmless address when the mask is false, then discard."""
        dummy, ok, got = self.fresh(), self.fresh(), self.fresh()
        self.slots.append(f"{dummy} = alloca i64, align 8")
        self.line(f"store i64 0, ptr {dummy}")
        self.line(f"{ok} = select i1 {mask}, ptr {p}, ptr {dummy}")
        self.line(f"{got} = load {elem}, ptr {ok}, align {d.itemsize}")
        self.line(f"{raw} = select i1 {mask}, {elem} {got}, {elem} zeroinitializer")

    def turn(self, s: Turn) -> None:
        size, width = s.buf.dtype.itemsize, min(self.module.target.bits // 8, llvm_turn.WIDE)
        to, of = self.address(s.into, s.at), self.address(s.buf, s.index)
        wide, many = llvm_turn.lines_together(s, self.module.target.bits)
        if wide:
            together = f"fw_turn_{size}_to_{many}"
            together = self.ops.helper(together, lambda name: llvm_turn.together(name, size, wide, many))
            lines = f"i64 {self.value(s.stride)}, i64 {self.value(s.rows)}"
            self.line(f"call void @{together}(ptr {to}, ptr {of}, {lines})")
            return
        fn = self.ops.helper(f"fw_turn_{size}", lambda name: llvm_turn.define(name, size, width))
        n = [f"i64 {self.value(a)}" for a in (s.pitch, s.stride, s.rows, s.cols)]
        self.line(f"call void @{fn}(ptr {to}, {n[0]}, ptr {of}, {n[1]}, {n[2]}, {n[3]})")

    def store(self, s: Store) -> None:
        d, lanes = s.buf.dtype, s.value.lanes
        elem = stored(d)
        ty = vector(elem, lanes)
        v = self.ops.narrow(self, self.value(s.value), s.value.dtype, d, lanes)
        steps = self.stepping(s.index)
        if steps is not None:
            mask = None if s.mask is None else self.value(s.mask)
            llvm_strided.store(self, v, elem, d.itemsize, lanes, self.first(s.buf, steps[0]), steps[1], mask)
            return
        p = self.address(s.buf, s.index)
        if s.index.lanes > 1:
            m = self.value(s.mask) if s.mask is not None else "splat (i1 true)"
            fn = self.ops.scatter(elem, lanes)
            self.line(f"call void @{fn}({ty} {v}, <{lanes} x ptr> {p}, i32 {d.itemsize}, <{lanes} x i1> {m})")
        elif s.mask is not None and lanes > 1 and (n := self.part(s.mask)) is not None:
            self.line(f"call void @{self.ops.part_store(elem, d.itemsize, lanes)}(ptr {p}, {ty} {v}, i64 {n})")
        elif s.mask is not None and lanes > 1:
            fn = self.ops.masked_store(elem, lanes)
            self.line(f"call void @{fn}({ty} {v}, ptr {p}, i32 {d.itemsize}, <{lanes} x i1> {self.value(s.mask)})")
        elif s.hint == "stream":
            self.line(f"store {ty} {v}, ptr {p}, align {min(CACHE_LINE, d.itemsize * lanes)}, !nontemporal !1")
        elif s.hint == "unaligned stream":
            self.where_aligned(ty, v, p, d.itemsize, min(CACHE_LINE, d.itemsize * lanes))
        else:
            self.line(f"store {ty} {v}, ptr {p}, align {d.itemsize}")


__all__ = ["Target", "emit"]
