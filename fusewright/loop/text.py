"""Loop IR as text: `dump` and `parse` are inverses.

Grammar
    func  ::= "func" name ["cuda" ("i32" | "i64")] "(" [param ("," param)*] ")" "{" alloc* stmt* "}"
    param ::= "buf" name ":" dtype ["out"] | "size" name | "host" name ":" dtype
    alloc ::= "alloc" name ":" dtype "[" arg "]" ("thread" | "shared" | "register" | "own" | "block" | "grid"
                | "counters")
    stmt  ::= name ":" type "=" op "(" [buffer ","] arg,* ")" ["{" attr "}"]
            | "var" name ":" type "=" arg
            | "set" name "=" arg
            | "for" name "in" arg ".." arg "step" arg ["unroll"] "{" stmt* "}"
            | "if" arg "{" stmt* "}" ["else" "{" stmt* "}"]
            | "store" name "[" arg "]" "=" arg ["{" (["mask" arg], ["hint" word+]) "}"]
            | "prefetch" name "[" arg "]"
            | "turn" name "[" arg "]" "by" arg "=" name "[" arg "]" "by" arg "of" arg "," arg
            | "copy" name "[" arg "]" "=" name "[" arg "]" "of" integer ["{" word+ "}"]
            | "commit" | "wait" integer
            | "parallel" name "of" name "{" stmt* "}"
            | "grid" name "of" arg "," name "of" integer ["cluster" integer] ["beside" integer] ["dependent"] [string]
                "{" stmt* "}"
            | "barrier" string
            | "fail"
    type  ::= dtype ["x" lanes]                      written as one word: f32, f32x16
    arg   ::= name | integer | "true" | "false"      bare integers are indices, bare truth values bool
            | number ":" type
    attr  ::= dtype | word+ | integer | word "," integer "," integer | integer "," integer ...

A name means the register of the innermost enclosing block that defines it. The registers that `for`, `parallel` and
`grid` define are index scalars: i64, or what the first line of a CUDA kernel says. `Func.notes` are not printed.
"""

from __future__ import annotations

import re
from typing import Any

from ..core.dtypes import BY_NAME, DType, bool_, i32, i64
from ..core.errors import CompilerError
from ..core.lexer import Cursor, Token, is_word, number_text, quote
from .ir import (
    Alloc,
    Arg,
    Barrier,
    Buf,
    Commit,
    Copy,
    Fail,
    For,
    Func,
    Grid,
    If,
    Imm,
    Let,
    Parallel,
    Prefetch,
    Reg,
    Set,
    Stmt,
    Store,
    Turn,
    Var,
    Wait,
)

_TYPE = re.compile(r"([a-z]+?\d*)(?:x(\d+))?")
_RESERVED = {"true", "false", "inf", "nan"}
_MEMORY_OPS = ("load", "gather", "strided", "last")
SCOPES = {"cpu": ("thread", "shared"), "cuda": ("register", "own", "block", "grid", "counters")}


# --- printing --------------------------------------------------------------------------------------


def _type(dtype: DType, lanes: int) -> str:
    return dtype.name if lanes == 1 else f"{dtype.name}x{lanes}"


def _def(r: Reg) -> str:
    return f"{r.name}: {_type(r.dtype, r.lanes)}"


def _arg(a: Arg, index: DType) -> str:
    if isinstance(a, Reg):
        return a.name
    value = a.value
    if a.dtype.is_float:
        return f"{number_text(float(value))}:{_type(a.dtype, a.lanes)}"
    text = number_text(bool(value) if a.dtype.is_bool else int(value))
    if a.lanes == 1 and (a.dtype is index or a.dtype is bool_):
        return text
    return f"{text}:{_type(a.dtype, a.lanes)}"


def _let(s: Let, index: DType) -> str:
    args = [_arg(a, index) for a in s.args]
    if s.buf is not None:
        args.insert(0, s.buf.name)
    attr = ""
    if s.attr is not None:
        attr = f" {{{', '.join(map(str, s.attr)) if isinstance(s.attr, tuple) else s.attr}}}"
    return f"{_def(s.dst)} = {s.op}({', '.join(args)}){attr}"


def head(s: Stmt, index: DType = i64) -> str:
    """The statement on one line; of a block, what comes before its `{`. `index`: the type of bare integers."""

    def arg(a: Arg) -> str:
        return _arg(a, index)

    match s:
        case Let():
            return _let(s, index)
        case Var():
            return f"var {_def(s.dst)} = {arg(s.init)}"
        case Set():
            return f"set {s.dst.name} = {arg(s.src)}"
        case Store():
            extra = [f"mask {arg(s.mask)}"] if s.mask is not None else []
            if s.hint:
                extra.append(f"hint {s.hint}")
            if s.meet:
                extra.append(f"meet {s.meet}")
            tail = f" {{{', '.join(extra)}}}" if extra else ""
            return f"store {s.buf.name}[{arg(s.index)}] = {arg(s.value)}{tail}"
        case For():
            unroll = " unroll" if s.unroll else ""
            return f"for {s.var.name} in {arg(s.lo)} .. {arg(s.hi)} step {arg(s.step)}{unroll}"
        case If():
            return f"if {arg(s.cond)}"
        case Parallel():
            return f"parallel {s.tid.name} of {s.nth.name}"
        case Grid():
            what = f" {quote(s.what)}" if s.what else ""
            cluster = f" cluster {s.cluster}" if s.cluster != 1 else ""
            beside = f" beside {s.beside}" if s.beside else ""
            how = f"{cluster}{beside}{' dependent' * s.dependent}"
            return f"grid {s.bid.name} of {arg(s.blocks)}, {s.tid.name} of {s.threads}{how}{what}"
        case Barrier():
            return f"barrier {quote(s.reason)}"
        case Alloc():
            return f"alloc {s.buf.name}: {s.buf.dtype}[{arg(s.count)}] {s.scope}"
        case Prefetch():
            return f"prefetch {s.buf.name}[{arg(s.index)}]"
        case Turn():
            of = f"{s.buf.name}[{arg(s.index)}] by {arg(s.stride)} of {arg(s.rows)}, {arg(s.cols)}"
            return f"turn {s.into.name}[{arg(s.at)}] by {arg(s.pitch)} = {of}"
        case Copy():
            tail = f" {{{s.hint}}}" if s.hint else ""
            return f"copy {s.into.name}[{arg(s.at)}] = {s.buf.name}[{arg(s.index)}] of {s.lanes}{tail}"
        case Commit():
            return "commit"
        case Wait():
            return f"wait {s.groups}"
        case Fail():
            return "fail"
    raise CompilerError(f"not a Loop IR statement: {s!r}")


def _block(body: list[Stmt], indent: str, index: DType, out: list[str]) -> None:
    inner = indent + "  "
    for s in body:
        if isinstance(s, (For, Parallel, Grid)):
            out.append(f"{indent}{head(s, index)} {{")
            _block(s.body, inner, index, out)
            out.append(indent + "}")
        elif isinstance(s, If):
            out.append(f"{indent}{head(s, index)} {{")
            _block(s.then, inner, index, out)
            if s.orelse:
                out.append(indent + "} else {")
                _block(s.orelse, inner, index, out)
            out.append(indent + "}")
        else:
            out.append(indent + head(s, index))


def dump(func: Func) -> str:
    """The text of a kernel. `parse(dump(f))` equals `f`, but for its notes."""
    params = [f"buf {b.name}: {b.dtype}{' out' if b.output else ''}" for b in func.bufs]
    params += [f"size {r.name}" for r in func.sizes]
    params += [f"host {r.name}: {r.dtype}" for r in func.hosts]
    target = "" if func.target == "cpu" else f" {func.target} {func.index} "
    out = [f"func {func.name}{target}({', '.join(params)}) {{"]
    out += ["  " + head(a, func.index) for a in func.allocs]
    _block(func.body, "  ", func.index, out)
    out.append("}")
    return "\n".join(out) + "\n"


def printable(name: str) -> bool:
    """Whether a register or buffer may have this name: it must read back as one."""
    return is_word(name) and name not in _RESERVED


# --- parsing ---------------------------------------------------------------------------------------


def parse(text: str) -> Func:
    """The kernel that `text` stands for. Raises ParseError with the line and column of the first mistake."""
    return _Parser(text).func()


class _Parser:
    def __init__(self, text: str):
        self.c = Cursor(text)
        self.bufs: dict[str, Buf] = {}
        self.scopes: list[dict[str, Reg]] = [{}]
        self.target = "cpu"
        self.index = i64

    # --- names and types ---
    def name(self, what: str) -> str:
        if self.c.token.text in _RESERVED:
            self.c.fail(f"expected {what}, found {self.c.token}")
        return self.c.word(what)

    def dtype(self) -> DType:
        token = self.c.kind("word", "an element type")
        if token.text not in BY_NAME:
            self.c.fail(f"unknown element type {token}", token)
        return BY_NAME[token.text]

    def type(self) -> tuple[DType, int]:
        token = self.c.kind("word", "a type")
        m = _TYPE.fullmatch(token.text)
        if m is None or m[1] not in BY_NAME:
            self.c.fail(f"unknown type {token}", token)
        return BY_NAME[m[1]], int(m[2] or 1)

    def index_reg(self) -> Reg:
        return Reg(self.name("a register name"), self.index)

    def define(self, name: str, dtype: DType, lanes: int = 1) -> Reg:
        r = Reg(name, dtype, lanes)
        self.scopes[-1][name] = r
        return r

    def lookup(self, token: Token) -> Reg:
        for scope in reversed(self.scopes):
            if token.text in scope:
                return scope[token.text]
        self.c.fail(f"register '{token.text}' is not defined here", token)

    def buffer(self) -> Buf:
        token = self.c.kind("word", "a buffer")
        if token.text not in self.bufs:
            self.c.fail(f"buffer '{token.text}' is not declared", token)
        return self.bufs[token.text]

    def declare(self, buf: Buf, token: Token) -> Buf:
        if buf.name in self.bufs:
            self.c.fail(f"buffer '{buf.name}' is declared twice", token)
        self.bufs[buf.name] = buf
        return buf

    def arg(self) -> Arg:
        token = self.c.token
        if token.kind == "word" and token.text not in _RESERVED:
            return self.lookup(self.c.next())
        if not (token.kind in ("number", "word") or token.text == "-"):
            self.c.fail(f"expected a register or a number, found {token}")
        value = self.c.number()
        if self.c.accept(":"):
            at = self.c.token
            dtype, lanes = self.type()
            return Imm(self.fit(value, dtype, at), dtype, lanes)
        if isinstance(value, float):
            self.c.fail(f"'{value!r}' needs a type, as in '{value!r}:f32'", token)
        return Imm(value, bool_ if isinstance(value, bool) else self.index)

    def fit(self, value: Any, dtype: DType, token: Token) -> Any:
        if dtype.is_float and not isinstance(value, bool):
            return float(value)
        if isinstance(value, bool) is not dtype.is_bool or isinstance(value, float):
            self.c.fail(f"{number_text(value)} is not a {dtype}", token)
        return value

    # --- declarations ---
    def func(self) -> Func:
        c = self.c
        c.expect("func")
        f = Func(c.word("a function name"))
        if c.accept("cuda"):
            at = c.token
            f.target = self.target = "cuda"
            f.index = self.index = self.dtype()
            if f.index not in (i32, i64):
                c.fail(f"indices are i32 or i64, not {f.index}", at)
        for _ in c.list("(", ")"):
            token = c.token
            if c.accept("buf"):
                at = c.token
                name = self.name("a buffer name")
                c.expect(":")
                dtype = self.dtype()
                f.bufs.append(self.declare(Buf(name, dtype, c.accept("out")), at))
            elif c.accept("size"):
                f.sizes.append(self.define(self.name("a size name"), self.index))
            elif c.accept("host"):
                name = self.name("a scalar's name")
                c.expect(":")
                f.hosts.append(self.define(name, self.dtype()))
            else:
                c.fail(f"expected 'buf', 'size' or 'host', found {token}")
        c.expect("{")
        while c.is_at("alloc") and c.peek().kind == "word":
            f.allocs.append(self.alloc())
        f.body = self.stmts()
        if c.token.kind != "end":
            c.fail(f"expected the end, found {c.token}")
        return f

    def alloc(self) -> Alloc:
        c = self.c
        c.expect("alloc")
        at = c.token
        name = self.name("a buffer name")
        c.expect(":")
        dtype = self.dtype()
        c.expect("[")
        count = self.arg()
        c.expect("]")
        scopes = SCOPES[self.target]
        if not any(c.is_at(scope) for scope in scopes):
            c.fail(f"expected {' or '.join(map(repr, scopes))}, found {c.token}")
        return Alloc(self.declare(Buf(name, dtype), at), count, c.next().text)

    # --- statements ---
    def block(self, *regs: Reg) -> list[Stmt]:
        self.c.expect("{")
        self.scopes.append({r.name: r for r in regs})
        body = self.stmts()
        self.scopes.pop()
        return body

    def stmts(self) -> list[Stmt]:
        """Statements up to and including the closing brace."""
        out: list[Stmt] = []
        while not self.c.accept("}"):
            out.append(self.stmt())
        return out

    def stmt(self) -> Stmt:
        c = self.c
        if c.token.kind == "word" and c.peek().text == ":":
            return self.let()
        if c.accept("var"):
            name = self.name("a register name")
            c.expect(":")
            dtype, lanes = self.type()
            c.expect("=")
            init = self.arg()
            return Var(self.define(name, dtype, lanes), init)
        if c.accept("set"):
            dst = self.lookup(c.kind("word", "a register"))
            c.expect("=")
            return Set(dst, self.arg())
        if c.accept("store"):
            return self.store()
        if c.accept("for"):
            return self.loop()
        if c.accept("if"):
            cond = self.arg()
            then = self.block()
            return If(cond, then, self.block() if c.accept("else") else [])
        if c.accept("parallel"):
            tid = self.index_reg()
            c.expect("of")
            nth = self.index_reg()
            return Parallel(tid, nth, self.block(tid, nth))
        if c.accept("grid"):
            return self.grid()
        if c.accept("barrier"):
            return Barrier(c.string("a reason, as a string"))
        if c.accept("prefetch"):
            return Prefetch(*self.element())
        if c.accept("turn"):
            return self.turn()
        if c.accept("copy"):
            return self.copy()
        if c.accept("commit"):
            return Commit()
        if c.accept("wait"):
            return Wait(c.natural("a number of groups"))
        if c.accept("fail"):
            return Fail()
        c.fail(f"expected a statement, found {c.token}")

    def let(self) -> Let:
        c = self.c
        name = self.name("a register name")
        c.expect(":")
        dtype, lanes = self.type()
        c.expect("=")
        op = c.word("an operation")
        buf = None
        args: list[Arg] = []
        for _ in c.list("(", ")"):
            if op in _MEMORY_OPS and buf is None:
                buf = self.buffer()
            else:
                args.append(self.arg())
        attr = self.attribute() if c.accept("{") else None
        return Let(self.define(name, dtype, lanes), op, tuple(args), buf, attr)

    def attribute(self) -> Any:
        """What stands in braces behind an operation, up to and including the closing brace."""
        c = self.c
        attr: Any = self.words("an attribute") if c.token.kind == "word" else c.integer("an attribute")
        attr = BY_NAME.get(attr, attr)
        if c.is_at(","):
            group = [attr]
            while c.accept(","):
                group.append(c.integer("a number"))
            attr = tuple(group)
        c.expect("}")
        return attr

    def words(self, what: str) -> str:
        """One or more words, as one string."""
        words = [self.c.word(what)]
        while self.c.token.kind == "word":
            words.append(self.c.next().text)
        return " ".join(words)

    def element(self) -> tuple[Buf, Arg]:
        buf = self.buffer()
        self.c.expect("[")
        index = self.arg()
        self.c.expect("]")
        return buf, index

    def turn(self) -> Turn:
        c = self.c
        into, at = self.element()
        c.expect("by")
        pitch = self.arg()
        c.expect("=")
        buf, index = self.element()
        c.expect("by")
        stride = self.arg()
        c.expect("of")
        rows = self.arg()
        c.expect(",")
        return Turn(into, at, pitch, buf, index, stride, rows, self.arg())

    def copy(self) -> Copy:
        c = self.c
        into, at = self.element()
        c.expect("=")
        buf, index = self.element()
        c.expect("of")
        lanes = c.natural("a number of elements")
        hint = ""
        if c.accept("{"):
            hint = self.words("a hint")
            c.expect("}")
        return Copy(into, at, buf, index, lanes, hint)

    def store(self) -> Store:
        c = self.c
        buf, index = self.element()
        c.expect("=")
        value = self.arg()
        given: dict[str, Any] = {}
        if c.is_at("{"):
            for _ in c.list("{", "}"):
                key = next((k for k in ("mask", "hint", "meet") if c.accept(k)), None)
                if key is None:
                    c.fail(f"expected 'mask', 'hint' or 'meet', found {c.token}")
                given[key] = self.arg() if key == "mask" else self.words(f"a {key}")
        return Store(buf, index, value, **given)

    def loop(self) -> For:
        c = self.c
        var = self.index_reg()
        c.expect("in")
        lo = self.arg()
        c.expect("..")
        hi = self.arg()
        c.expect("step")
        step = self.arg()
        unroll = c.accept("unroll")
        return For(var, lo, hi, step, self.block(var), unroll)

    def grid(self) -> Grid:
        c = self.c
        bid = self.index_reg()
        c.expect("of")
        blocks = self.arg()
        c.expect(",")
        tid = self.index_reg()
        c.expect("of")
        threads = c.natural("a number of threads")
        cluster = c.natural("a number of blocks") if c.accept("cluster") else 1
        beside = c.natural("a number of blocks") if c.accept("beside") else 0
        dependent = c.accept("dependent")
        what = c.string("a purpose") if c.token.kind == "string" else ""
        return Grid(bid, blocks, tid, threads, self.block(bid, tid), what, cluster, beside, dependent)
