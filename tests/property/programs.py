"""Random programs of torch operations, as Python source, with inputs of many dtypes, layouts and extents.

A program is built by running it: every drawn operation is tried in eager mode on the values so far and kept when
eager accepts it. Two things are tracked so that results can be compared:

- *exact* values must be bit-identical in any correct implementation (inputs, and arithmetic that rounds once).
  Operations that turn a rounding difference into a different answer (comparison, floor, conversion to an integer,
  argmax) are drawn only on exact values.
- values stay small: products of 16-bit values pass through `tanh`, since we compute these in float32 and would not
  overflow where eager does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from hypothesis import strategies as st

from tests.support import LAYOUTS, tensor_with_layout

FLOATS = (torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)
EXTENTS = (1, 2, 3, 5, 8, 17, 33, 0)
HALF = (torch.bfloat16, torch.float16)

UNARY_EXACT = ("-{0}", "{0}.abs()", "torch.relu({0})", "{0}.clone()", "{0} * 2", "{0}.clamp(-1, 2)")
UNARY_ROUNDED = (
    "torch.tanh({0})",
    "torch.sigmoid({0})",
    "torch.sin({0})",
    "torch.erf({0})",
    "torch.exp(-{0}.abs())",
    "torch.log1p({0}.abs())",
    "torch.sqrt({0}.abs() + 0.5)",
    "torch.rsqrt({0}.abs() + 1)",
    "F.gelu({0})",
    "F.silu({0})",
    "1 / ({0}.abs() + 1)",
)
DISCONTINUOUS = (
    "torch.floor({0})",
    "torch.round({0})",
    "torch.sign({0})",
    "({0} > 0)",
    "{0}.to(torch.int32)",
    "{0}.isnan()",
)
BINARY_EXACT = ("{0} + {1}", "{0} - {1}", "torch.maximum({0}, {1})", "torch.minimum({0}, {1})")
BINARY_DISCONTINUOUS = ("({0} < {1})", "({0} == {1})", "torch.where({0} > {1}, {0}, {1})")
INTEGER_BINARY = ("{0} & {1}", "{0} | {1}", "{0} ^ {1}")
VIEWS = (
    "{0}.unsqueeze({a})",
    "{0}.flip(({a},))",
    "{0}.transpose({a}, {b})",
    "{0}.transpose({a}, {b}).contiguous()",
    "{0}.reshape(-1)",
    "{0}.select({a}, 0)",
    "{0}.narrow({a}, 0, 1)",
    "{0}.roll(1, {a})",
    "torch.cat([{0}, {0}], {a})",
    "torch.stack([{0}, {0}], {a})",
    "F.pad({0}, (1, 2))",
    "{0}.tril()",
    "{0}[..., ::2]",
    "{0}.expand(2, *{0}.shape)",
    "{0}.squeeze()",
)
REDUCTIONS = (
    "{0}.sum({a})",
    "{0}.sum({a}, keepdim=True)",
    "{0}.mean({a})",
    "{0}.sum()",
    "torch.logsumexp({0}, {a})",
    "{0}.var({a}, correction=0)",
    "{0}.cumsum({a})",
    "torch.softmax({0}, {a})",
    "torch.log_softmax({0}, {a})",
    "F.layer_norm({0}, {0}.shape[-1:])",
)
REDUCTIONS_EXACT = ("{0}.amax({a})", "{0}.amin({a}, keepdim=True)", "{0}.any({a})", "{0}.all()")
INDEX_OF_EXTREME = ("{0}.argmax({a})", "{0}.argmin({a}, keepdim=True)")


@dataclass
class Program:
    """Source of a function of the inputs, and the inputs."""

    inputs: list[torch.Tensor]
    lines: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    exact: set[str] = field(default_factory=set)
    layouts: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        names = ", ".join(f"x{i}" for i in range(len(self.inputs)))
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def program({names}):\n{body}\n    return {', '.join(self.outputs)},\n"

    def function(self) -> Callable:
        scope: dict = {"torch": torch, "F": torch.nn.functional}
        exec(compile(self.source, "<random program>", "exec"), scope)
        return scope["program"]

    def __repr__(self) -> str:
        inputs = [
            f"x{i}: {t.dtype} {tuple(t.shape)} strides {t.stride()} {layout}"
            for i, (t, layout) in enumerate(zip(self.inputs, self.layouts, strict=True))
        ]
        return "\n".join(["", *inputs, self.source])


def _templates(program: Program, values: dict[str, torch.Tensor], name: str, gradients: bool) -> list[tuple[str, bool]]:
    """(template of one operand, whether its result is exact) for the value called `name`."""
    t, exact = values[name], name in program.exact
    known = exact or t.dtype is torch.bool or not t.dtype.is_floating_point
    # A 16-bit result of arithmetic is rounded once by us and once per operation by eager.
    keeps = known and t.dtype not in HALF
    found = [(op, keeps) for op in UNARY_EXACT] + [(op, known) for op in VIEWS + REDUCTIONS_EXACT]
    if t.dtype.is_floating_point:
        found += [(op, False) for op in UNARY_ROUNDED + REDUCTIONS]
        found += [(f"{{0}}.to({d})", known and d is torch.float64) for d in FLOATS]
    else:
        found += [("{0}.to(torch.float32)", True), ("{0}.sum({a})", True), ("~{0}", True)]
    if exact and not gradients:
        found += [(op, True) for op in DISCONTINUOUS + INDEX_OF_EXTREME]
    return found


def _operand(rng: random.Random, values: dict[str, torch.Tensor]) -> str:
    """A value, rather a recent one: programs grow deep as well as wide."""
    names = list(values)
    return names[-1] if rng.random() < 0.5 else rng.choice(names)


def _draw_inputs(rng: random.Random, program: Program, gradients: bool) -> None:
    """One to three inputs whose shapes broadcast with each other."""
    rank = rng.choices((0, 1, 2, 3), (1, 3, 6, 4))[0]
    shape = rng.choices(EXTENTS, (2, 2, 3, 3, 3, 3, 2, 1), k=rank)
    for i in range(rng.randint(1, 3)):
        own = [1 if rng.random() < 0.15 else extent for extent in shape]
        if rng.random() < 0.2:
            own = own[rng.randint(0, rank) :]
        layout = rng.choice(sorted(LAYOUTS))
        dtype = rng.choice((torch.float32, torch.float64) if gradients else DTYPES)
        program.inputs.append(tensor_with_layout(layout, tuple(own), dtype, seed=i + 1))
        program.layouts.append(layout)


def _draw_operation(
    rng: random.Random, program: Program, values: dict[str, torch.Tensor], gradients: bool
) -> tuple[str, bool]:
    """(expression, whether its value is exact)."""
    name = _operand(rng, values)
    t = values[name]
    if rng.random() < 0.35:
        other = _operand(rng, values)
        u = values[other]
        both = {name, other} <= program.exact
        mixed = t.dtype in HALF or u.dtype in HALF
        found = [(op, both and not mixed) for op in BINARY_EXACT]
        found.append(("torch.tanh({0} * {1})", False))
        if both and not gradients:
            found += [(op, True) for op in BINARY_DISCONTINUOUS]
        if not t.dtype.is_floating_point and not u.dtype.is_floating_point:
            found += [(op, True) for op in INTEGER_BINARY]
        template, exact = rng.choice(found)
        return template.format(name, other), exact
    template, exact = rng.choice(_templates(program, values, name, gradients))
    last = max(t.dim() - 1, 0)
    return template.format(name, a=rng.randint(0, last), b=rng.randint(0, last)), exact


def build(seed: int, length: int, gradients: bool = False) -> Program:
    """The program that `seed` stands for, `length` operations long; a shorter one is a prefix of it."""
    rng = random.Random(seed)
    program = Program([])
    _draw_inputs(rng, program, gradients)
    values = {f"x{i}": t.detach() for i, t in enumerate(program.inputs)}
    program.exact.update(values)
    scope = {"torch": torch, "F": torch.nn.functional}
    for _ in range(10 * length):
        if len(program.lines) == length:
            break
        expression, exact = _draw_operation(rng, program, values, gradients)
        try:
            result = eval(expression, scope, values)
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
            continue
        if result.numel() > 100_000 or result.dim() > 5:
            continue
        if result.dtype.is_floating_point and not bool((result.abs() < 1e4).all()):
            continue  # NaN, infinity or large: errors would be about the size of the values
        new = f"v{len(program.lines)}"
        program.lines.append(f"{new} = {expression}")
        values[new] = result
        if exact:
            program.exact.add(new)
    made = [n for n in values if n.startswith("v")]
    if gradients:
        made = [n for n in made if values[n].dtype.is_floating_point]
    made = made or ["x0 + 0"]
    program.outputs = made[-1:] if gradients else made[-(1 + seed % 3) :]
    return program


def programs(gradients: bool = False, most: int = 8) -> st.SearchStrategy[Program]:
    """Programs as a strategy. A failing one shrinks to a short prefix: drawing every operation through hypothesis
    would shrink further, but favours trivial programs."""
    lengths = st.sampled_from((3, *range(4, most + 1), 2, 1))
    return st.builds(build, st.integers(0, 2**32 - 1), lengths, st.just(gradients))
