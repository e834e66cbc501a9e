"""Loop IR as text: `dump` and `parse` are inverses.

Grammar
    func  ::= "func" name "(" [param ("," param)*] ")" "{" alloc* stmt* "}"
    param ::= "buf" name ":" dtype ["out"] | "size" name | "host" name ":" dtype
    alloc ::= "alloc" name ":" dtype "[" arg "]" ("thread" | "shared")
    stmt  ::= name ":" type "=" op "(" [buffer ","] arg,* ")" ["{" attr "}"]
            | "var" name ":" type "=" arg
            | "set" name "=" arg
            | "for" name "in" arg ".." arg "step" arg "{" stmt* "}"
            | "if" arg "{" stmt* "}" ["else" "{" stmt* "}"]
            | "store" name "[" arg "]" "=" arg ["{" (["mask" arg], ["hint" word]) "}"]
            | "prefetch" name "[" arg "]"
            | "parallel" name "of" name "{" stmt* "}"
            | "fail"
    type  ::= dtype ["x" lanes]                      written as one word: f32, f32x16
    arg   ::= name | integer | "true" | "false"      bare integers are i64, bare truth values bool
            | number ":" type
    attr  ::= dtype | word | integer

A name means the register of the innermost enclosing block that defines it. The registers that `for` and `parallel`
define are i64 scalars.
"""

from __future__ import annotations

import re
from typing import Any

from ..core.dtypes import BY_NAME, DType, bool_, i64
from ..core.errors import CompilerError
from ..core.lexer import Cursor, Token, is_word, number_text
from .ir import Alloc, Arg, Buf, Fail, For, Func, If, Imm, Let, Parallel, Prefetch, Reg, Set, Stmt, Store, Var

_TYPE = re.compile(r"([a-z]+?\d*)(?:x(\d+))?")
_RESERVED = {"true", "false", "inf", "nan"}
_MEMORY_OPS = ("load", "gather")


# --- printing --------------------------------------------------------------------------------------


def _type(dtype: DType, lanes: int) -> str:
    return dtype.name if lanes == 1 else f"{dtype.name}x{lanes}"


def _def(r: Reg) -> str:
    return f"{r.name}: {_type(r.dtype, r.lanes)}"


def _arg(a: Arg) -> str:
    if isinstance(a, Reg):
        return a.name
    value = a.value
    if a.dtype.is_float:
        return f"{number_text(float(value))}:{_type(a.dtype, a.lanes)}"
    text = number_text(bool(value) if a.dtype.is_bool else int(value))
    if a.lanes == 1 and (a.dtype is i64 or a.dtype is bool_):
        return text
    return f"{text}:{_type(a.dtype, a.lanes)}"


def _let(s: Let) -> str:
    args = [_arg(a) for a in s.args]
    if s.buf is not None:
        args.insert(0, s.buf.name)
    attr = "" if s.attr is None else f" {{{s.attr}}}"
    return f"{_def(s.dst)} = {s.op}({', '.join(args)}){attr}"


def head(s: Stmt) -> str:
    """The statement on one line; of a block, what comes before its `{`."""
    match s:
        case Let():
            return _let(s)
        case Var():
            return f"var {_def(s.dst)} = {_arg(s.init)}"
        case Set():
            return f"set {s.dst.name} = {_arg(s.src)}"
        case Store():
            extra = [f"mask {_arg(s.mask)}"] if s.mask is not None else []
            if s.hint:
                extra.append(f"hint {s.hint}")
            tail = f" {{{', '.join(extra)}}}" if extra else ""
            return f"store {s.buf.name}[{_arg(s.index)}] = {_arg(s.value)}{tail}"
        case For():
            return f"for {s.var.name} in {_arg(s.lo)} .. {_arg(s.hi)} step {_arg(s.step)}"
        case If():
            return f"if {_arg(s.cond)}"
        case Parallel():
            return f"parallel {s.tid.name} of {s.nth.name}"
        case Alloc():
            return f"alloc {s.buf.name}: {s.buf.dtype}[{_arg(s.count)}] {s.scope}"
        case Prefetch():
            return f"prefetch {s.buf.name}[{_arg(s.index)}]"
        case Fail():
            return "fail"
    raise CompilerError(f"not a Loop IR statement: {s!r}")


def _block(body: list[Stmt], indent: str, out: list[str]) -> None:
    inner = indent + "  "
    for s in body:
        if isinstance(s, (For, Parallel)):
            out.append(f"{indent}{head(s)} {{")
            _block(s.body, inner, out)
            out.append(indent + "}")
        elif isinstance(s, If):
            out.append(f"{indent}{head(s)} {{")
            _block(s.then, inner, out)
            if s.orelse:
                out.append(indent + "} else {")
                _block(s.orelse, inner, out)
            out.append(indent + "}")
        else:
            out.append(indent + head(s))


def dump(func: Func) -> str:
    """The text of a kernel. `parse(dump(f))` equals `f`."""
    params = [f"buf {b.name}: {b.dtype}{' out' if b.output else ''}" for b in func.bufs]
    params += [f"size {r.name}" for r in func.sizes]
    params += [f"host {r.name}: {r.dtype}" for r in func.hosts]
    out = [f"func {func.name}({', '.join(params)}) {{"]
    out += ["  " + head(a) for a in func.allocs]
    _block(func.body, "  ", out)
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

    def define(self, name: str, dtype: DType = i64, lanes: int = 1) -> Reg:
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
        return Imm(value, bool_ if isinstance(value, bool) else i64)

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
        for _ in c.list("(", ")"):
            token = c.token
            if c.accept("buf"):
                at = c.token
                name = self.name("a buffer name")
                c.expect(":")
                dtype = self.dtype()
                f.bufs.append(self.declare(Buf(name, dtype, c.accept("out")), at))
            elif c.accept("size"):
                f.sizes.append(self.define(self.name("a size name")))
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
        if not (c.is_at("thread") or c.is_at("shared")):
            c.fail(f"expected 'thread' or 'shared', found {c.token}")
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
            tid = Reg(self.name("a register name"), i64)
            c.expect("of")
            nth = Reg(self.name("a register name"), i64)
            return Parallel(tid, nth, self.block(tid, nth))
        if c.accept("prefetch"):
            buf = self.buffer()
            c.expect("[")
            index = self.arg()
            c.expect("]")
            return Prefetch(buf, index)
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
        attr: Any = None
        if c.accept("{"):
            t = c.token
            attr = c.integer("an attribute") if t.kind == "number" else c.word("an attribute")
            attr = BY_NAME.get(attr, attr)
            c.expect("}")
        return Let(self.define(name, dtype, lanes), op, tuple(args), buf, attr)

    def store(self) -> Store:
        c = self.c
        buf = self.buffer()
        c.expect("[")
        index = self.arg()
        c.expect("]")
        c.expect("=")
        value = self.arg()
        mask, hint = None, ""
        if c.is_at("{"):
            for _ in c.list("{", "}"):
                if c.accept("mask"):
                    mask = self.arg()
                elif c.accept("hint"):
                    hint = c.word("a hint")
                else:
                    c.fail(f"expected 'mask' or 'hint', found {c.token}")
        return Store(buf, index, value, mask, hint)

    def loop(self) -> For:
        c = self.c
        var = Reg(self.name("a register name"), i64)
        c.expect("in")
        lo = self.arg()
        c.expect("..")
        hi = self.arg()
        c.expect("step")
        step = self.arg()
        return For(var, lo, hi, step, self.block(var))
