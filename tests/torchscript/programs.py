"""Random TorchScript programs: arithmetic among branches and loops on flags, sizes and values, lists and writes."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import torch

HEAD = """\
from typing import List, Optional
import torch
import torch.nn.functional as F


def fn(x, y, k: int, z: float, flag: bool, mode: str, xs: List[torch.Tensor], o: Optional[torch.Tensor]):
    a = x * 1.0
    b = y + 1
    n = 0
    s = 1.0
    outs = [x[:1] * 2]
    if o is not None:
        a = a + o
"""
TAIL = "    return a, b, n, s, outs[-1], len(outs)\n"

TENSORS = (
    *(
        "{a} + {b}",
        "{a} * {b}",
        "{a} - {b} * 0.5",
        "torch.relu({a})",
        "torch.tanh({a}) + {b}",
        "{a} * {f}",
        "{a} + {k}",
    ),
    *("torch.sigmoid({a}) * {b}", "torch.where({a} > {b}, {a}, {b})", "{a} - {a}.mean(-1, keepdim=True)"),
    *("torch.softmax({a}, -1)", "{a}.clamp(-2.0, 2.0)", "torch.maximum({a}, {b})", "({a} > 0) * {b}", "{a}.flip(0)"),
    *("{a} / (1 + {b}.abs())", "{a}.sum(0, keepdim=True) * 0.1 + {b}", "{a}.t().contiguous().t() * 2"),
    *("{a}.reshape(-1).view_as({a}) + 1", "torch.cat([{a}[:1], {a}[1:]]) * 1.5", "F.dropout({a}, 0.25, flag)"),
    *("{a}[{k} % {a}.size(0)] + {b}", "{a} / {f}", "torch.stack(xs)[0] * {a}"),
)
CONDITIONS = (
    *("flag", "not flag", "{k} > {i}", "{f} > 0.3", "{a}.size(0) > {i}", "bool({a}.sum() > 0)", "{a}.dim() == 2"),
    *("mode == 'a'", "{a}.dtype == torch.float32", "len(xs) > {i}", "o is not None"),
)
WRITES = ("add_(1)", "mul_(0.5)", "relu_()", "add_({b})", "copy_({b})")


class _Program:
    def __init__(self, seed: int):
        self.r = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def fill(self, text: str, ts: list[str], fs: list[str], ks: list[str]) -> str:
        r = self.r
        return text.format(a=r.choice(ts), b=r.choice(ts), f=r.choice(fs), k=r.choice(ks), i=r.randint(-1, 4))

    def block(self, ts: list[str], fs: list[str], ks: list[str], depth: int) -> None:
        ts, fs, ks, r = list(ts), list(fs), list(ks), self.r
        pad = "    " * (4 - depth)
        for _ in range(r.randint(2, 4)):
            what = r.random()
            if what < 0.5 or depth == 0:
                t = self.fresh("t") if r.random() < 0.6 else r.choice("ab")
                self.lines.append(f"{pad}{t} = {self.fill(r.choice(TENSORS), ts, fs, ks)}")
                ts += [t] * (t not in ts)
            elif what < 0.56:
                ks.append(self.fresh("k"))
                sign = r.choice(("+", "-", "*", "//", "%"))
                self.lines.append(f"{pad}{ks[-1]} = {r.choice(ks[:-1])} {sign} {r.randint(1, 7)}")
            elif what < 0.6:
                forms = ("{f} * 0.5", "float({k}) / 3", "1.0 / {a}.size(0)", "float({a}.mean())")
                made = self.fill(r.choice(forms), ts, fs, ks)
                fs.append(self.fresh("f"))
                self.lines.append(f"{pad}{fs[-1]} = {made}")
            elif what < 0.65:
                t = r.choice([t for t in ts if t not in ("x", "y")])
                self.lines += [f"{pad}{t} = {t} * 1.0", f"{pad}{t}.{self.fill(r.choice(WRITES), ts, fs, ks)}"]
            elif what < 0.68:
                self.lines.append(f"{pad}outs.append({r.choice(ts)} * 2)")
            elif what < 0.7:
                t = self.fresh("t")
                self.lines.append(f"{pad}{t} = outs[-1] + {r.choice(ts)}")
                ts.append(t)
            elif what < 0.87:
                self.lines.append(f"{pad}if {self.fill(r.choice(CONDITIONS), ts, fs, ks)}:")
                self.block(ts, fs, ks, depth - 1)
                if r.random() < 0.7:
                    self.lines.append(f"{pad}else:")
                    self.block(ts, fs, ks, depth - 1)
            else:
                i = self.fresh("i")
                self.lines.append(f"{pad}for {i} in range({r.choice(('2', '3', 'k', 'x.size(0)', 'len(xs)'))}):")
                self.block(ts, fs, [*ks, i], depth - 1)
        changed = r.choice("ab")
        self.lines.append(f"{pad}{changed} = {r.choice(ts)} + {changed} * 0.5")
        if depth < 3 and r.random() < 0.3:
            self.lines.append(pad + r.choice(("n = n + 1", "s = s * 0.5")))


def source(seed: int) -> str:
    p = _Program(seed)
    p.block(["x", "y", "a", "b"], ["z", "s", "0.7"], ["k", "n", "2"], 3)
    return HEAD + "\n".join(p.lines) + "\n" + TAIL


def load(text: str, folder: Path, name: str) -> Any:
    """The function of a program, from a file: TorchScript reads the source."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.fn


def arguments(seed: int) -> tuple[Any, ...]:
    r, g = random.Random(seed), torch.Generator().manual_seed(seed)
    shape = r.choice((1, 2, 3, 5)), r.choice((1, 4, 7))

    def tensor() -> torch.Tensor:
        return torch.randn(shape, generator=g, dtype=torch.float64)

    others = [tensor() for _ in range(r.randint(1, 3))]
    numbers = r.choice((-3, 0, 1, 2, 4)), r.choice((0.1, 0.5)), r.random() < 0.5, r.choice("ab")
    return (tensor(), tensor(), *numbers, others, tensor() if r.random() < 0.5 else None)
