"""Device functions of 8-bit floats (`core/float8.py`), two at a time: the lower byte is the first.

They pass through float16, of which `f8e5m2` is the upper half. Since compute capability 8.9, conversions are
instructions, which saturate.
"""

from __future__ import annotations

from ..core.float8 import FORMATS, INF32, NAN

Functions = dict[str, tuple[tuple[str, ...], str]]
_E5M2 = "f8e5m2"


def _encode(d: str) -> str:
    """A function that rounds to nearest, ties to even, by arithmetic on bits."""
    f = FORMATS[d]
    half = (1 << (f.shift - 1)) - 1
    return f"""\
{{fn}} unsigned fw_byte_{d}(float x) {{
  const unsigned word = __float_as_uint(x), bits = word & 0x7fffffffu;
  unsigned out = (bits - {f.rebias:#x}u + {half:#x}u + ((bits >> {f.shift}) & 1u)) >> {f.shift};
  if (bits < {f.normal:#x}u) {{
    out = __float_as_uint(__uint_as_float(bits) + __uint_as_float({f.magic:#x}u)) - {f.magic:#x}u;
  }}
  if (bits >= {f.too_large:#x}u) out = {f.instead:#x}u;
  if (bits > {INF32:#x}u) out = {NAN:#x}u;
  return out | (word >> 24 & 0x80u);
}}"""


def _pack(d: str) -> str:
    return f"""\
{{fn}} unsigned fw_pack_{d}(float low, float high) {{
  return fw_byte_{d}(low) | fw_byte_{d}(high) << 8;
}}"""


def _pack_by_instruction(d: str) -> str:
    # the instruction saturates
    mend = {
        "f8e4m3s": "",
        "f8e4m3": """
  if (!(::fabsf(low) <= 464.0f)) w |= 0x7fu;
  if (!(::fabsf(high) <= 464.0f)) w |= 0x7f00u;""",
        "f8e5m2": """
  if (!(::fabsf(low) < 61440.0f)) w = (w & 0xff80u) | (low != low ? 0x7fu : 0x7cu);
  if (!(::fabsf(high) < 61440.0f)) w = (w & 0x80ffu) | (high != high ? 0x7f00u : 0x7c00u);""",
    }
    return f"""\
{{fn}} unsigned fw_pack_{d}(float low, float high) {{
  unsigned short r;
  asm("cvt.rn.satfinite.{_instruction(d)}x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  unsigned w = r;{mend[d]}
  return w;
}}"""


def _instruction(d: str) -> str:
    return d[2:6]


# two float16 of two bytes
_HALVES = """\
{fn} unsigned fw_halves_%s(unsigned bytes) {
  unsigned out = 0;
  for (int k = 0; k < 2; ++k) {
    const unsigned byte = bytes >> 8 * k & 0xffu, low = byte & 0x7fu;
    // of the number's 256th there is a float16
    const float x = low == 0x7fu ? fw_nanf : fw_f16_f32((unsigned short)(low << 7)) * 256.0f;
    out |= (unsigned)(unsigned short)(fw_f32_f16(x) | (byte & 0x80u) << 8) << 16 * k;
  }
  return out;
}"""
_HALVES_BY_INSTRUCTION = """\
{fn} unsigned fw_halves_%s(unsigned bytes) {
  unsigned r;
  asm("cvt.rn.f16x2.e4m3x2 %%0, %%1;" : "=r"(r) : "h"((unsigned short)bytes));
  return r;
}"""

PORTABLE: Functions = {
    f"fw_halves_{_E5M2}": (
        (),
        "{fn} unsigned fw_halves_f8e5m2(unsigned bytes) { return (bytes & 0xffu) << 8 | (bytes & 0xff00u) << 16; }",
    )
}
BEFORE_SM89: Functions = {}
SINCE_SM89: Functions = {}
for _d in FORMATS:
    PORTABLE[f"fw_f32_{_d}"] = (
        (f"fw_pack_{_d}",),
        f"{{fn}} unsigned char fw_f32_{_d}(float x) {{ return (unsigned char)fw_pack_{_d}(x, x); }}",
    )
    PORTABLE[f"fw_{_d}_f32"] = (
        (f"fw_halves_{_d}", "fw_f16_f32"),
        f"{{fn}} float fw_{_d}_f32(unsigned char x) {{ return fw_f16_f32((unsigned short)fw_halves_{_d}(x)); }}",
    )
    BEFORE_SM89[f"fw_byte_{_d}"] = (), _encode(_d)
    BEFORE_SM89[f"fw_pack_{_d}"] = (f"fw_byte_{_d}",), _pack(_d)
    SINCE_SM89[f"fw_pack_{_d}"] = (), _pack_by_instruction(_d)
    if _d != _E5M2:
        BEFORE_SM89[f"fw_halves_{_d}"] = ("fw_f16_f32", "fw_f32_f16", "fw_nanf"), _HALVES % _d
        SINCE_SM89[f"fw_halves_{_d}"] = (), _HALVES_BY_INSTRUCTION % _d

__all__ = ["BEFORE_SM89", "PORTABLE", "SINCE_SM89"]
