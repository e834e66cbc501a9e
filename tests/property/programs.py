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


@st.composite
def programs(draw: st.DrawFn, gradients: bool = False, most: int = 7) -> Program:
    """A program with its inputs. With `gradients`, the inputs are float32 or float64 and there is one float output."""
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.sampled_from(EXTENTS)) for _ in range(rank))
    program = Program([])
    for i in range(draw(st.integers(1, 3))):
        own = list(shape)
        for axis in range(rank):
            if draw(st.integers(0, 5)) == 0:
                own[axis] = 1  # broadcast against the others
        own = own[draw(st.integers(0, rank)) if draw(st.integers(0, 3)) == 0 else 0 :]
        layout = draw(st.sampled_from(sorted(LAYOUTS)))
        dtype = draw(st.sampled_from((torch.float32, torch.float64) if gradients else DTYPES))
        program.inputs.append(tensor_with_layout(layout, tuple(own), dtype, seed=i + 1))
        program.layouts.append(layout)
    values = {f"x{i}": t.detach() for i, t in enumerate(program.inputs)}
    program.exact.update(values)
    scope = {"torch": torch, "F": torch.nn.functional}
    for _ in range(draw(st.integers(1, most))):
        name = draw(st.sampled_from(sorted(values)))
        t = values[name]
        axes = {k: draw(st.integers(0, max(t.dim() - 1, 0))) for k in "ab"}
        if draw(st.integers(0, 2)) == 0:
            other = draw(st.sampled_from(sorted(values)))
            u = values[other]
            both = {name, other} <= program.exact
            mixed = t.dtype in HALF or u.dtype in HALF
            found = [(op, both and not mixed) for op in BINARY_EXACT]
            found.append(("torch.tanh({0} * {1})", False))
            if both and not gradients:
                found += [(op, True) for op in BINARY_DISCONTINUOUS]
            if not t.dtype.is_floating_point and not u.dtype.is_floating_point:
                found += [(op, True) for op in INTEGER_BINARY]
            template, exact = draw(st.sampled_from(found))
            expression = template.format(name, other)
        else:
            template, exact = draw(st.sampled_from(_templates(program, values, name, gradients)))
            expression = template.format(name, **axes)
        try:
            result = eval(expression, scope, values)
        except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
            continue
        if result.numel() > 100_000 or result.dim() > 5:
            continue
        if result.dtype.is_floating_point and not bool((result.abs() < 1e4).all()):
            continue  # NaN, infinity or large: errors would be about the size of the values
        new = f"v{len(values)}"
        program.lines.append(f"{new} = {expression}")
        values[new] = result
        if exact:
            program.exact.add(new)
    made = [n for n in values if n.startswith("v")]
    if gradients:
        made = [n for n in made if values[n].dtype.is_floating_point]
    made = made or ["x0 + 0"]
    count = 1 if gradients else draw(st.integers(1, min(3, len(made))))
    program.outputs = made[-count:]
    return program
