"""Graph text in, fusion text out: views become index arithmetic, anchors find their place in one domain."""

from __future__ import annotations

import pytest
from expecttest import assert_expected_inline

from fusewright.core.errors import Refusal
from fusewright.fusion.build import build
from fusewright.graph.text import parse
from fusewright.graph.verify import verify
from fusewright.index.layout import row_major


def fusion(body: str, eager: bool = False) -> str:
    """The text of the fusion of all equations of `body`, which reads %1, %2, ... and belongs to unit 0."""
    lines = [s.strip() for s in body.strip().splitlines()]
    inputs = [s for s in lines if s.startswith("in ")]
    rest = [s if s.startswith("out") else f"{s} @0" for s in lines if s not in inputs]
    unit = 'unit 0 fused "test" "test" "test.py:1"'
    g = parse("\n".join(["graph {", *inputs, unit, *rest, "}"]))
    verify(g)
    return build(g.eqns, g.outputs, g.producers(), set(), lambda v: row_major(v.shape), eager).fusion.text()


def test_pointwise() -> None:
    body = """
        in %1: f32[n, m]
        in %2: f32[m]
        %3: f32[n, m] = map add(%1, %2)
        %4: f32[n, m] = map exp(%3)
        out (%4)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<n, i1<m
  in in0: f32[n, m] strides (m, 1)
  in in1: f32[m] strides (1)
  out out2: f32[n, m] strides (m, 1)
  store out2[i0 * m + i1] over (i0, i1) = exp(add(in0[i0 * m + i1], in1[i1]))""",
    )


def test_tensors_without_elements_are_not_read() -> None:
    """Of one that is expanded all elements lie in one place, which a kernel would read ahead of its loop: there is none
    (a null pointer). On a GPU that ended the process."""
    body = """
        in %1: f32[0]
        %2: f32[1] = reduce sum [0](%1)
        %3: f32[1] = map abs(%2)
        out (%3)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<0
  out out0: f32[1] strides (1)
  reduce r0 over (): sum of (i0) = 0
  store out0[0] over () = abs(r0)""",
    )


def test_views_are_index_arithmetic() -> None:
    """A transposed, reversed slice of the operand costs nothing but an offset."""
    body = """
        in %1: f32[n, 8]
        %2: f32[n, 3] = affine [$0, 1 + $1 * 2](%1)
        %3: f32[3, n] = affine [$1, $0](%2)
        %4: f32[3, n] = affine [$0, n - 1 + $1 * (-1)](%3)
        %5: f32[3, n] = map neg(%4)
        out (%5)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<3, i1<n
  in in0: f32[n, 8] strides (8, 1)
  out out1: f32[3, n] strides (n, 1)
  store out1[i0 * n + i1] over (i0, i1) = neg(in0[2 * i0 - 8 * i1 + 8 * n - 7])""",
    )


def test_reshape_cancels() -> None:
    """What is flattened and unflattened alike has no division left."""
    body = """
        in %1: f32[n, m, 4]
        %2: f32[4 * n * m] = reshape(%1)
        %3: f32[4 * n * m] = map abs(%2)
        %4: f32[n, m, 4] = reshape(%3)
        out (%4)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<n, i1<m, i2<4
  in in0: f32[n, m, 4] strides (4 * m, 4, 1)
  out out1: f32[n, m, 4] strides (4 * m, 4, 1)
  store out1[4 * i0 * m + 4 * i1 + i2] over (i0, i1, i2) = abs(in0[4 * i0 * m + 4 * i1 + i2])""",
    )


def test_reversed_reshape() -> None:
    """The dividend stays positive."""
    body = """
        in %1: f32[n, 16]
        in %2: f32[16]
        %3: f32[n, 16] = map add(%1, %2)
        %4: f32[16 * n] = reshape(%3)
        %5: f32[16 * n] = affine [16 * n - 1 + $0 * (-1)](%4)
        out (%5)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<16 * n
  in in0: f32[n, 16] strides (16, 1)
  in in1: f32[16] strides (1)
  out out2: f32[16 * n] strides (1)
  store out2[i0] over (i0) = add(in0[-i0 + 16 * n - 1], in1[-i0 - 16 * ((-i0 + 16 * n - 1) // (16)) + 16 * n - 1])""",
    )


def test_reshape_of_nothing() -> None:
    """There is no position in it, whatever the other extents."""
    body = """
        in %1: f32[n, 1]
        %2: f32[n, 1] = map neg(%1)
        %3: f32[n, 0] = affine [$0, $1](%2)
        %4: f32[0] = reshape(%3)
        out (%4)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<0
  in in0: f32[n, 1] strides (1, 1)
  out out1: f32[0] strides (1)
  store out1[i0] over (i0) = neg(in0[0])""",
    )


@pytest.mark.parametrize("view", ["affine [$1, $0]", "reshape"])
def test_more_views_than_python_has_frames(view: str) -> None:
    shapes = [("n", "8"), ("8", "n")]
    lines = ["in %1: f32[n, 8]"]
    for k in range(2, 2002):
        lines.append(f"%{k}: f32[{', '.join(shapes[(k - 1) % 2])}] = {view}(%{k - 1})")
    lines += ["%2002: f32[n, 8] = map neg(%2001)", "out (%2002)"]
    text = fusion("\n".join(lines))
    assert text.endswith("store out1[8 * i0 + i1] over (i0, i1) = neg(in0[8 * i0 + i1])")


def test_reduction_and_its_reader() -> None:
    """The reduction is a stage; what reads it within the row refers to the stage by name."""
    body = """
        in %1: f32[n, m]
        %2: f32[n, 1] = reduce max [1](%1)
        %3: f32[n, m] = map sub(%1, %2)
        out (%3)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<n, i1<m
  in in0: f32[n, m] strides (m, 1)
  out out1: f32[n, m] strides (m, 1)
  reduce r0 over (i0): max of (i1) = in0[i0 * m + i1]
  store out1[i0 * m + i1] over (i0, i1) = sub(in0[i0 * m + i1], r0)""",
    )


def test_reductions_over_axes_and_over_their_reshaped_form() -> None:
    """One walks rows and columns, the other the pixels that they make: they are the same points."""
    body = """
        in %1: f32[k, n, m]
        %2: f32[k, 1, 1] = reduce sum [1, 2](%1)
        %3: f32[k, n * m] = reshape(%1)
        %4: f32[k, 1] = reduce max [1](%3)
        out (%2, %4)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<k, i1<n, i2<m
  in in0: f32[k, n, m] strides (m * n, m, 1)
  out out1: f32[k, 1, 1] strides (1, 1, 1)
  out out2: f32[k, 1] strides (1, 1)
  reduce r0 over (i0): sum of (i1, i2) = in0[i0 * m * n + i1 * m + i2]
  store out1[i0] over (i0) = r0
  reduce r1 over (i0): max of (i1, i2) = in0[i0 * m * n + i1 * m + i2]
  store out2[i0] over (i0) = r1""",
    )


def test_what_only_a_one_hot_sum_walks_is_no_axis() -> None:
    """A row's one-hot sum needs no loop, and a reduction over the padded rows does not have its axis either."""
    body = """
        in %1: f32[n, m]
        in %2: i64[n, 1]
        in %11: f32[n, 1]
        %3: i64[1, m] = iota 1()
        %4: bool[n, m] = map eq(%2, %3)
        %5: f32[] = const 0.0()
        %6: f32[n, m] = map where(%4, %11, %5)
        %7: f32[n, 1] = reduce sum [1](%6)
        %8: f32[n, m] = map mul(%1, %7)
        %9: f32[n, m + 4] = pad [0, 0](%8, %5)
        %10: f32[1, m + 4] = reduce sum [0](%9)
        out (%9, %10)
    """
    assert fusion(body).startswith("fusion over i0<n, i1<m + 4\n")


def test_masks_of_pad_and_cat() -> None:
    """Only the conditions that can fail are tested; loads happen only where they hold."""
    body = """
        in %1: f32[n]
        in %2: f32[m]
        %3: f32[n + m] = cat 0(%1, %2)
        %4: f32[] = const 1.0()
        %5: f32[n + m + 2] = pad [2](%3, %4)
        out (%5)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<m + n + 2
  in in0: f32[n] strides (1)
  in in1: f32[m] strides (1)
  out out2: f32[m + n + 2] strides (1)
  store out2[i0] over (i0) = where(ge(index(i0 - 2), 0), where(lt(index(i0 - 2), index(n)), in0[i0 - 2 if and(ge(index(i0 - 2), 0), lt(index(i0 - 2), index(n)))], in1[i0 - n - 2 if and(ge(index(i0 - 2), 0), ge(index(i0 - n - 2), 0))]), 1.0)""",
    )


@pytest.mark.parametrize(
    ("width", "start", "pads", "masked"),
    [
        (16, "$1", (0, 3), False),  # a row's last columns, which are there
        (16, "3 + $1", (3, 0), False),
        (16, "2 + $1", (2, 1), False),
        (13, "$1", (0, 3), True),  # there is no more
        (16, "2 + $1", (3, 0), True),  # the first row would begin before the first element
        (64, "$1", (0, 40), True),  # much more would be read
        (16, "12 + $1 * (-1)", (0, 3), True),
    ],
)
def test_what_is_there_is_read_without_a_condition(width: int, start: str, pads: tuple[int, int], masked: bool) -> None:
    body = f"""
        in %1: f32[n, {width}]
        %2: f32[n, 13] = affine [$0, {start}](%1)
        %3: f32[] = const 1.0()
        %4: f32[n, {13 + sum(pads)}] = pad [0, {pads[0]}](%2, %3)
        out (%4)
    """
    store = fusion(body).partition("where(")[2]
    assert ("in0[" in store, " if " in store) == (True, masked)


def test_gather_checks_its_indices() -> None:
    body = """
        in %1: f32[m, 8]
        in %2: i64[n]
        %3: f32[n, 8] = gather [at 0 ($0), $1](%1, %2)
        out (%3)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<n, i1<8
  in in0: i64[n] strides (1)
  in in1: f32[m, 8] strides (8, 1)
  out out2: f32[n, 8] strides (8, 1)
  store out2[8 * i0 + i1] over (i0, i1) = in1[i1 + 8 * @(where(lt(in0[i0], 0), add(in0[i0], index(m)), in0[i0])) if and(ge(where(lt(in0[i0], 0), add(in0[i0], index(m)), in0[i0]), 0), lt(where(lt(in0[i0], 0), add(in0[i0], index(m)), in0[i0]), index(m)))]
  check over (i0) and(ge(where(lt(in0[i0], 0), add(in0[i0], index(m)), in0[i0]), 0), lt(where(lt(in0[i0], 0), add(in0[i0], index(m)), in0[i0]), index(m)))""",
    )


def test_rounding() -> None:
    """A 16-bit value is rounded where the program says so, by the store, or (precision=eager) after every operation."""
    body = """
        in %1: bf16[n]
        %2: bf16[n] = map add(%1, %1)
        %3: f32[n] = cast f32(%2)
        %4: bf16[n] = cast bf16 round(%3)
        %5: bf16[n] = map mul(%4, %4)
        out (%5)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<n
  in in0: bf16[n] strides (1)
  out out1: bf16[n] strides (1)
  store out1[i0] over (i0) = mul(round_bf16(add(in0[i0], in0[i0])), round_bf16(add(in0[i0], in0[i0])))""",
    )
    assert_expected_inline(
        fusion(body, eager=True),
        """\
fusion over i0<n
  in in0: bf16[n] strides (1)
  out out1: bf16[n] strides (1)
  store out1[i0] over (i0) = mul(round_bf16(add(in0[i0], in0[i0])), round_bf16(add(in0[i0], in0[i0])))""",
    )


def test_sizes_hosts_and_random() -> None:
    body = """
        in %1: i64[3]
        %2: f32[] = scalar "alpha"()
        %3: i64[] = scalar 2 * n + 1()
        %4: f32[] = cast f32(%3)
        %5: f32[n, m] = random uniform 2(%1)
        %6: f32[n, m] = map mul(%5, %2)
        %7: f32[n, m] = map div(%6, %4)
        out (%7)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<n, i1<m
  in in0: i64[1] strides (1)
  out out1: f32[n, m] strides (m, 1)
  store out1[i0 * m + i1] over (i0, i1) = div(mul(random_uniform(in0[0], i0, i1), alpha), f32(index(2 * n + 1)))""",
    )


REFUSED = {
    "a reduction read at another place": """
        in %1: f32[n, n]
        %2: f32[n, 1] = reduce sum [1](%1)
        %3: f32[1, n] = affine [$1, $0](%2)
        %4: f32[n, n] = map mul(%1, %3)
        out (%4)
    """,
    "a reversed reduction": """
        in %1: f32[n, m]
        %2: f32[n, 1] = reduce sum [1](%1)
        %3: f32[n, 1] = affine [n - 1 + $0 * (-1), 0](%2)
        %4: f32[n, m] = map mul(%1, %3)
        out (%4)
    """,
    "a position along a flattened axis": """
        in %1: f32[n, m]
        %2: f32[1, m] = reduce sum [0](%1)
        %3: f32[n * m] = reshape(%1)
        %4: i64[1] = reduce argmax [0](%3)
        out (%2, %4)
    """,
    "a scan along a flattened axis": """
        in %1: f32[n, m]
        %2: f32[1, m] = reduce sum [0](%1)
        %3: f32[n * m] = reshape(%1)
        %4: f32[n * m] = scan sum 0(%3)
        out (%2, %4)
    """,
    "a reduction over part of a flattened axis": """
        in %1: f32[n, 4, m]
        %2: f32[n, 1, m] = reduce sum [1](%1)
        %3: f32[n * 2, 2 * m] = reshape(%1)
        %4: f32[n * 2, 1] = reduce sum [1](%3)
        out (%2, %4)
    """,
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """No place in one domain: a Refusal with a reason, never an error."""
    with pytest.raises(Refusal) as refused:
        print(fusion(REFUSED[name]))
    assert refused.value.code == "domain" and refused.value.detail


def halves(levels: int) -> str:
    """Vectors of 64, each of two pieces of the one before, which overlap: twice as many places at each level."""
    lines = ["in %1: f32[64]"]
    last, n = 1, 1
    for _ in range(levels):
        lines += [
            f"%{n + 1}: f32[63] = affine [1 + $0](%{last})",
            f"%{n + 2}: f32[1] = affine [7 + $0](%{last})",
            f"%{n + 3}: f32[64] = cat 0(%{n + 1}, %{n + 2})",
            f"%{n + 4}: f32[64] = map add(%{n + 3}, %{last})",
        ]
        n += 4
        last = n
    return "\n".join([*lines, f"out (%{last})"])


def test_places_double_with_each_level() -> None:
    """A program of 48 operations in a chain took minutes: their number is bounded, not the time."""
    assert fusion(halves(3))
    with pytest.raises(Refusal) as refused:
        fusion(halves(12))
    assert refused.value.code == "places" and "48 operations" in str(refused.value)


def test_pieces_that_are_not_asked_for_are_not_computed() -> None:
    """The second half of a cat, and what a pad has around it: their conditions are known where they are read."""
    body = """
        in %1: f32[n]
        in %2: f32[n]
        %3: f32[n] = map exp(%1)
        %4: f32[n] = map sin(%2)
        %5: f32[1, n] = reshape(%3)
        %6: f32[1, n] = reshape(%4)
        %7: f32[2, n] = cat 0(%5, %6)
        %8: f32[n] = affine [1, $0](%7)
        %9: f32[n] = map neg(%8)
        out (%9)
    """
    assert_expected_inline(
        fusion(body),
        """\
fusion over i0<n
  in in0: f32[n] strides (1)
  out out1: f32[n] strides (1)
  store out1[i0] over (i0) = neg(sin(in0[i0]))""",
    )


def test_equal_reductions_are_one() -> None:
    """The mean of a variance, and the mean that its gradient wants."""
    body = """
        in %1: bf16[n, m]
        %2: f32[n, m] = cast f32(%1)
        %3: f32[n, 1] = reduce sum [1](%2)
        %4: f32[n, m] = map sub(%2, %3)
        %5: f32[n, 1] = reduce sum [1](%4)
        %6: f32[n, m] = cast f32(%1)
        %7: f32[n, 1] = reduce sum [1](%6)
        %8: f32[n, 1] = reduce max [1](%6)
        out (%5, %7, %8)
    """
    text = fusion(body).replace(" * m", "")
    assert (
        text.count("reduce") == 3 and text.count(": sum of (i1) = in0") == 1 and "store out2[i0] over (i0) = r0" in text
    )
