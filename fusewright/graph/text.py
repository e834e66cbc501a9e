"""Graph IR as text: `dump` and `parse` are inverses.

Grammar
    graph   ::= "graph" "{" input* (unit | eqn)* output "}"
    input   ::= "in" %id ":" type
    unit    ::= "unit" number kind name target where ["reads" "(" %id,* ")"] ["gives" "(" given,* ")"]
                ["because" reason]
    given   ::= %id [":" type]                     the type is written where no input or equation defines the value
    eqn     ::= %id ":" type "=" op [params] "(" %id,* ")" @unit
    output  ::= "out" "(" %id,* ")"
    type    ::= dtype "[" ix,* "]"
    params  ::= map prim | cast dtype ["round"] | const number | scalar (ix | string) | affine "[" affine,* "]"
              | pad "[" ix,* "]" | cat dim | gather "[" pick,* "]"
              | scatter how ["masked"] "[" pick,* "]" | reduce monoid "[" dim,* "]" | scan monoid dim
              | iota dim | random kind index | reshape
    affine  ::= offset ("+" $dim ["*" factor])*    $k is the k-th index of the result; an offset of 0 may be left out
    pick    ::= $dim | "at" operand "(" $dim,* ")"
    ix      ::= ["-"] term (("+" | "-") term)*
    term    ::= factor (("*" | "//") factor)*      `//` rounds towards minus infinity
    factor  ::= integer | size | "(" ix ")"

Units come before the first equation that belongs to them or to a later unit. `name`, `target`, `where` and `reason`
are strings. Not kept: what simplification knows of an expression beyond its form (`Ix.modulus`).
"""

from __future__ import annotations

from typing import Any

from ..core.dtypes import BY_NAME, DType
from ..core.errors import CompilerError
from ..core.lexer import Cursor, ParseError, Token, number_text, quote
from ..index.expr import ONE, ZERO, Ix, ix, sym
from ..prims.table import MONOIDS, PRIMS, RANDOM_KINDS
from .ir import KINDS, OPS, SCATTERS, Eqn, Graph, Shape, Unit, Value

# --- printing --------------------------------------------------------------------------------------


def _name(v: Value) -> str:
    return f"%{v.id}"


def _list(items: Any) -> str:
    return ", ".join(map(str, items))


def _def(v: Value) -> str:
    return f"%{v.id}: {v.dtype}[{_list(v.shape)}]"


def _affine(offset: Ix, coefficients: tuple[tuple[int, Ix], ...]) -> str:
    parts = [str(offset)] if offset is not ZERO or not coefficients else []
    for k, c in coefficients:
        n = c.as_int()
        factor = str(n) if n is not None and n >= 0 else f"({c})"
        parts.append(f"${k}" if c is ONE else f"${k} * {factor}")
    return " + ".join(parts)


def _pick(spec: tuple[Any, ...]) -> str:
    if spec[0] == "dim":
        return f"${spec[1]}"
    return f"at {spec[1]} ({_list(f'${k}' for k in spec[2])})"


def _params(e: Eqn) -> str:
    p = e.params
    match e.op:
        case "map":
            return f" {p[0]}"
        case "cast":
            return f" {p[0]}{' round' if p[1] else ''}"
        case "const":
            return f" {number_text(p[0])}"
        case "scalar":
            return f" {quote(p[0]) if isinstance(p[0], str) else p[0]}"
        case "affine":
            return f" [{_list(_affine(*dim) for dim in p[0])}]"
        case "reshape":
            return ""
        case "pad":
            return f" [{_list(p[0])}]"
        case "gather":
            return f" [{_list(map(_pick, p[0]))}]"
        case "scatter":
            return f" {p[0]}{' masked' if p[1] else ''} [{_list(map(_pick, p[2]))}]"
        case "reduce":
            return f" {p[0]} [{_list(p[1])}]"
        case "cat" | "iota" | "scan" | "random":
            return "".join(f" {x}" for x in p)
    raise CompilerError(f"no text for the equation of {e.out}: unknown operation '{e.op}'")


def equation(e: Eqn) -> str:
    """One equation on one line."""
    return f"{_def(e.out)} = {e.op}{_params(e)}({_list(map(_name, e.inputs))}) @{e.unit}"


def dump(graph: Graph) -> str:
    """The text of a graph. Parsing it gives the same graph (its values are new objects with the same ids)."""
    out = ["graph {"]
    out += [f"  in {_def(v)}" for v in graph.inputs]
    typed = {*graph.inputs, *(e.out for e in graph.eqns)}

    def given(v: Value) -> str:
        if v in typed:
            return _name(v)
        typed.add(v)
        return _def(v)

    def unit(u: Unit) -> str:
        text = f"  unit {u.index} {u.kind} {quote(u.name)} {quote(u.target)} {quote(u.where)}"
        if u.reads:
            text += f" reads ({_list(map(_name, u.reads))})"
        if u.results:
            text += f" gives ({_list(map(given, u.results))})"
        return text + (f" because {quote(u.reason)}" if u.reason else "")

    done = 0
    for e in graph.eqns:
        while done < len(graph.units) and graph.units[done].index <= e.unit:
            out.append(unit(graph.units[done]))
            done += 1
        out.append("  " + equation(e))
    out += map(unit, graph.units[done:])
    out.append(f"  out ({_list(map(_name, graph.outputs))})")
    out.append("}")
    return "\n".join(out) + "\n"


# --- parsing ---------------------------------------------------------------------------------------


def parse(text: str) -> Graph:
    """The graph that `text` stands for. Raises ParseError with the line and column of the first mistake."""
    return Parser(text).graph()


def parse_ix(text: str) -> Ix:
    """The index expression that `text` stands for."""
    p = Parser(text)
    out = p.ix()
    if p.c.token.kind != "end":
        p.c.fail(f"expected the end, found {p.c.token}")
    return out


class Parser:
    def __init__(self, text: str):
        self.c = Cursor(text)
        self.values: dict[int, Value] = {}
        # `reads` and `gives` may name values that equations further down define
        self.later: list[tuple[Unit, str, list[Token]]] = []

    # --- index expressions ---
    def ix(self) -> Ix:
        negative = self.c.accept("-")
        out = self.term()
        if negative:
            out = -out
        while self.c.is_at("+") or self.c.is_at("-"):
            if self.c.peek().kind == "id":
                break  # `+ $k`: the rest of an affine map
            out = out + self.term() if self.c.next().text == "+" else out - self.term()
        return out

    def term(self) -> Ix:
        out = self.factor()
        while self.c.is_at("*") or self.c.is_at("//"):
            token = self.c.next()
            f = self.factor()
            try:
                out = out * f if token.text == "*" else out // f
            except ValueError as error:
                self.c.fail(str(error), token)
        return out

    def factor(self) -> Ix:
        c = self.c
        if c.accept("("):
            out = self.ix()
            c.expect(")")
            return out
        if c.token.kind == "number":
            return ix(c.natural("an integer"))
        return sym(c.word("an index expression"))

    def ixs(self) -> tuple[Ix, ...]:
        return tuple(self.ix() for _ in self.c.list("[", "]"))

    # --- names and types ---
    def id(self, sigil: str, what: str) -> Token:
        if not self.c.token.text.startswith(sigil):
            self.c.fail(f"expected {what}, found {self.c.token}")
        return self.c.kind("id", what)

    def dim(self) -> int:
        return int(self.id("$", "a dimension like '$0'").text[1:])

    def dtype(self) -> DType:
        token = self.c.kind("word", "an element type")
        if token.text not in BY_NAME:
            self.c.fail(f"unknown element type {token}", token)
        return BY_NAME[token.text]

    def one_of(self, names: Any, what: str) -> str:
        token = self.c.kind("word", what)
        if token.text not in names:
            self.c.fail(f"expected {what}, found {token}", token)
        return token.text

    def type(self) -> tuple[DType, Shape]:
        return self.dtype(), self.ixs()

    def define(self, token: Token, dtype: DType, shape: Shape) -> Value:
        n = int(token.text[1:])
        if n in self.values:
            self.c.fail(f"value {token.text} is defined twice", token)
        self.values[n] = Value(n, dtype, shape)
        return self.values[n]

    def find(self, token: Token) -> Value:
        v = self.values.get(int(token.text[1:]))
        if v is None:
            self.c.fail(f"value {token.text} is not defined here", token)
        return v

    def ids(self) -> list[Token]:
        return [self.id("%", "a value like '%1'") for _ in self.c.list("(", ")")]

    # --- statements ---
    def graph(self) -> Graph:
        c, g = self.c, Graph()
        c.expect("graph")
        c.expect("{")
        while c.accept("in"):
            token = self.id("%", "a value like '%1'")
            c.expect(":")
            g.inputs.append(self.define(token, *self.type()))
        while not c.accept("out"):
            if c.accept("unit"):
                g.units.append(self.unit())
            elif c.token.kind == "id":
                g.eqns.append(self.eqn())
            else:
                c.fail(f"expected an equation, 'unit' or 'out', found {c.token}")
        g.outputs = [self.find(t) for t in self.ids()]
        c.expect("}")
        if c.token.kind != "end":
            c.fail(f"expected the end, found {c.token}")
        for u, field, tokens in self.later:
            setattr(u, field, tuple(self.find(t) for t in tokens))
        return g

    def unit(self) -> Unit:
        c = self.c
        u = Unit(c.natural("a unit's number"), "", "", "", self.one_of(KINDS, "a unit's kind"))
        u.name, u.target, u.where = c.string("a name"), c.string("a target"), c.string("a source line")
        if c.accept("reads"):
            self.later.append((u, "reads", self.ids()))
        if c.accept("gives"):
            given = []
            for _ in c.list("(", ")"):
                given.append(self.id("%", "a value like '%1'"))
                if c.accept(":"):
                    self.define(given[-1], *self.type())
            self.later.append((u, "results", given))
        if c.accept("because"):
            u.reason = c.string("a reason")
        return u

    def eqn(self) -> Eqn:
        c = self.c
        token = self.id("%", "a value like '%1'")
        c.expect(":")
        dtype, shape = self.type()
        c.expect("=")
        op = self.one_of(OPS, "an operation")
        params = self.params(op)
        inputs = tuple(self.find(t) for t in self.ids())
        unit = int(self.id("@", "a unit like '@0'").text[1:])
        return Eqn(op, inputs, params, self.define(token, dtype, shape), unit)

    def params(self, op: str) -> tuple[Any, ...]:
        c = self.c
        match op:
            case "map":
                return (self.one_of(PRIMS, "a primitive"),)
            case "cast":
                return (self.dtype(), c.accept("round"))
            case "const":
                return (c.number(),)
            case "scalar":
                return (c.string("a name") if c.token.kind == "string" else self.ix(),)
            case "affine":
                return (tuple(self.affine() for _ in c.list("[", "]")),)
            case "pad":
                return (self.ixs(),)
            case "cat" | "iota":
                return (c.natural("a dimension"),)
            case "gather":
                return (tuple(self.pick() for _ in c.list("[", "]")),)
            case "scatter":
                how = self.one_of(SCATTERS, "a way to scatter")
                return (how, c.accept("masked"), tuple(self.pick() for _ in c.list("[", "]")))
            case "reduce":
                monoid = self.one_of(MONOIDS, "a monoid")
                return (monoid, tuple(c.natural("a dimension") for _ in c.list("[", "]")))
            case "scan":
                return (self.one_of(MONOIDS, "a monoid"), c.natural("a dimension"))
            case "random":
                return (self.one_of(RANDOM_KINDS, "a kind of random number"), c.natural("a seed's index"))
        return ()

    def affine(self) -> tuple[Ix, tuple[tuple[int, Ix], ...]]:
        c = self.c
        offset, terms = ZERO, []
        if c.token.kind == "id":
            terms.append(self.scaled_dim())
        else:
            offset = self.ix()
        while c.accept("+"):
            terms.append(self.scaled_dim())
        return offset, tuple(terms)

    def scaled_dim(self) -> tuple[int, Ix]:
        k = self.dim()
        return (k, self.factor() if self.c.accept("*") else ONE)

    def pick(self) -> tuple[Any, ...]:
        if self.c.accept("at"):
            n = self.c.natural("an operand's number")
            return ("at", n, tuple(self.dim() for _ in self.c.list("(", ")")))
        return ("dim", self.dim())


__all__ = ["ParseError", "dump", "equation", "parse", "parse_ix"]
