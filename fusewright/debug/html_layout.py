"""A drawing of a compiled graph: layers of boxes, top to bottom.

A box is a kernel with the operations fused into it, or one operation that torch runs. Views, sizes and results of
several-result operations are not drawn: edges pass through them. Boxes are put in layers by their longest path, ordered
within a layer by where what they read lies; inside a box operations are arranged in the same way. Everything is linear
in the number of operations and edges, but for the sorting of layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

CELL_W, CELL_H = 132, 26  # of an operation, with its gap
GAP_X, GAP_Y = 22, 30  # between boxes
PAD, TITLE = 8, 18  # inside a box
WIDEST = 8  # operations side by side in a box

T = TypeVar("T")


@dataclass(slots=True)
class Item:
    """An operation: its number, the numbers of those whose results it reads (drawn ones), and its box."""

    key: int
    reads: list[int]
    box: int
    x: float = 0.0
    y: float = 0.0


@dataclass(slots=True)
class Box:
    """`items`: numbers of its operations, in order; `titled`: a kernel, with a title above them."""

    items: list[int] = field(default_factory=list)
    titled: bool = False
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


@dataclass(slots=True)
class Drawing:
    """Positions of everything, in pixels; `edges` between operations."""

    items: dict[int, Item]
    boxes: list[Box]
    edges: list[tuple[int, int]]
    width: float
    height: float


def arrange(items: Sequence[Item], boxes: Sequence[Box]) -> Drawing:
    """Place `items`, given in an order in which each comes after what it reads, and their `boxes`."""
    by_key = {i.key: i for i in items}
    boxes = list(boxes)
    for b in boxes:
        _inside(b, by_key)
    reads: list[dict[int, None]] = [{} for _ in boxes]
    for i in items:
        for r in i.reads:
            if by_key[r].box != i.box:
                reads[i.box][by_key[r].box] = None
    layers = _layers([list(r) for r in reads])
    y = float(PAD)
    widest = 0.0
    for layer in layers:
        layer.sort(key=lambda k: _middle([boxes[r].x + boxes[r].width / 2 for r in reads[k]], boxes[k].x))
        x = float(PAD)
        for k in layer:
            boxes[k].x, boxes[k].y = x, y
            x += boxes[k].width + GAP_X
        widest = max(widest, x)
        y += max(boxes[k].height for k in layer) + GAP_Y
    for layer in layers:  # centre each layer
        shift = (widest - GAP_X - boxes[layer[-1]].x - boxes[layer[-1]].width) / 2
        for k in layer:
            boxes[k].x += shift
    for i in items:
        i.x, i.y = i.x + boxes[i.box].x, i.y + boxes[i.box].y
    edges = [(r, i.key) for i in items for r in dict.fromkeys(i.reads)]
    return Drawing(by_key, boxes, edges, widest + PAD, y)


def _inside(b: Box, items: dict[int, Item]) -> None:
    """Positions within a box, and its size."""
    mine = set(b.items)
    place = {k: n for n, k in enumerate(b.items)}
    layers = _layers([[place[r] for r in items[k].reads if r in mine] for k in b.items])
    top = PAD + (TITLE if b.titled else 0)
    row = 0
    for layer in layers:
        for start in range(0, len(layer), WIDEST):
            for column, n in enumerate(layer[start : start + WIDEST]):
                items[b.items[n]].x = PAD + column * CELL_W
                items[b.items[n]].y = top + row * CELL_H
            row += 1
    columns = max((min(len(layer), WIDEST) for layer in layers), default=1)
    b.width, b.height = columns * CELL_W + PAD, top + row * CELL_H + PAD / 2


def _layers(reads: list[list[int]]) -> list[list[int]]:
    """Things 0, 1, … by the length of the longest path to them; `reads[k]`: what k reads.

    There may be cycles, because an operation that several kernels compute is drawn in one of them: what would close a
    cycle does not count.
    """
    depth: dict[int, int] = {}
    for start in range(len(reads)):
        stack = [start]
        open_: set[int] = set()
        while stack:
            k = stack[-1]
            waiting = [r for r in reads[k] if r not in depth and r not in open_] if k not in depth else []
            if waiting:
                open_.add(k)
                stack.append(waiting[0])
                continue
            stack.pop()
            open_.discard(k)
            if k not in depth:
                depth[k] = 1 + max((depth[r] for r in reads[k] if r in depth), default=-1)
    layers: list[list[int]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for k in range(len(reads)):
        layers[depth[k]].append(k)
    return layers


def _middle(xs: list[float], otherwise: float) -> float:
    return sum(xs) / len(xs) if xs else otherwise
