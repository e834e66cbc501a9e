"""Vectors of elements at equal distances in memory.

Of a few known steps whole vectors are read, and the elements shuffled out of them (`load_every`). Otherwise they go
element by element. A gather or scatter of LLVM computes a vector of addresses, which 64-bit products and extracted
lanes make dear, and then falls apart into single accesses anyway where that is faster, or where elements are narrower
than 32 bits. Here addresses are scalars: one that moves, and multiples of the distance that loops share.
"""

from __future__ import annotations

from typing import Protocol

from .llvm_shuffles import merged, order
from .llvm_types import vector


class Function(Protocol):
    """A function being written; `slots`: what is at its beginning."""

    slots: list[str]

    def line(self, s: str) -> None: ...
    def fresh(self, prefix: str = "t") -> str: ...


def _addresses(w: Function, first: str, stride: str, size: int, lanes: int, mask: str | None) -> list[str]:
    """The addresses of the lanes from that of the first; a harmless one where the mask is false."""

    def t(text: str, prefix: str = "t") -> str:
        x = w.fresh(prefix)
        w.line(f"{x} = {text}")
        return x

    step = t(f"mul i64 {stride}, {size}")
    multiples = ["0", step, t(f"shl i64 {step}, 1"), t(f"mul i64 {step}, 3")]
    four = t(f"shl i64 {step}, 2")
    out: list[str] = []
    group = first
    for k in range(lanes):
        if k and k % 4 == 0:
            group = t(f"getelementptr i8, ptr {group}, i64 {four}", "p")
        out.append(t(f"getelementptr i8, ptr {group}, i64 {multiples[k % 4]}", "p") if k % 4 else group)
    if mask is None:
        return out
    dummy = w.fresh()
    w.slots.append(f"{dummy} = alloca i64, align 8")
    w.line(f"store i64 0, ptr {dummy}")
    for k, p in enumerate(out):
        bit = t(f"extractelement <{lanes} x i1> {mask}, i64 {k}")
        out[k] = t(f"select i1 {bit}, ptr {p}, ptr {dummy}")
    return out


def load(
    w: Function, raw: str, elem: str, size: int, lanes: int, first: str, stride: str, mask: str | None = None
) -> None:
    """Define `raw`, the elements at address `first` and so many elements further each; 0 where the mask is false."""
    if elem == "half":  # lanes of that type are converted one by one
        bits = w.fresh()
        load(w, bits, "i16", size, lanes, first, stride, mask)
        w.line(f"{raw} = bitcast {vector('i16', lanes)} {bits} to {vector(elem, lanes)}")
        return
    ty = vector(elem, lanes)
    got = "poison"
    for k, p in enumerate(_addresses(w, first, stride, size, lanes, mask)):
        one, out = w.fresh(), raw if k == lanes - 1 else w.fresh()
        w.line(f"{one} = load {elem}, ptr {p}, align {size}")
        w.line(f"{out} = insertelement {ty} {got}, {elem} {one}, i64 {k}")
        got = out


def store(
    w: Function, value: str, elem: str, size: int, lanes: int, first: str, stride: str, mask: str | None = None
) -> None:
    """Write the lanes of `value` to address `first` and so many elements further each, where the mask is true."""
    if elem == "half":
        bits = w.fresh()
        w.line(f"{bits} = bitcast {vector(elem, lanes)} {value} to {vector('i16', lanes)}")
        elem, value = "i16", bits
    for k, p in enumerate(_addresses(w, first, stride, size, lanes, mask)):
        one = w.fresh()
        w.line(f"{one} = extractelement {vector(elem, lanes)} {value}, i64 {k}")
        w.line(f"store {elem} {one}, ptr {p}, align {size}")


def load_every(
    w: Function, dst: str, p: str, elem: str, lanes: int, step: int, size: int, masked: tuple[str, str] | None = None
) -> None:
    """Define `dst`: the vector of elements `step` apart from `p` on. What is read ends with the last of them. `masked`:
    the function that reads parts of vectors, and which lanes are wanted (0 elsewhere)."""
    ty = vector(elem, lanes)

    def load(first: int) -> str:
        at, x = w.fresh("p"), w.fresh()
        w.line(f"{at} = getelementptr {elem}, ptr {p}, i64 {first}")
        if masked is None:
            w.line(f"{x} = load {ty}, ptr {at}, align {size}")
            return x
        fn, mask = masked
        lane = [(first + k) // step if (first + k) % step == 0 else lanes for k in range(lanes)]  # `lanes`: none
        some, bits = w.fresh(), vector("i1", lanes)
        w.line(f"{some} = shufflevector {bits} {mask}, {bits} zeroinitializer, {order(lane)}")
        w.line(f"{x} = call {ty} @{fn}(ptr {at}, i32 {size}, {bits} {some}, {ty} zeroinitializer)")
        return x

    if step < 0:
        w.line(f"{dst} = shufflevector {ty} {load(1 - lanes)}, {ty} poison, {order(range(lanes - 1, -1, -1))}")
        return
    starts = [k * lanes for k in range(step - 1)] + [step * (lanes - 1) + 1 - lanes]
    inside = [min(step * k // lanes, step - 1) for k in range(lanes)]
    parts = [(load(v), {k: step * k - v for k in range(lanes) if inside[k] == n}) for n, v in enumerate(starts)]

    def line(text: str, last: bool) -> str:
        x = dst if last else w.fresh()
        w.line(f"{x} = {text}")
        return x

    merged(line, elem, lanes, parts)
