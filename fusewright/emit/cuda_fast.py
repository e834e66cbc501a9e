"""Approximate functions for float32, as `cuda_prelude.py` has its functions: name -> (names it needs, text).

`DEVICE`: what the special function unit gives in an instruction or a few. `PORTABLE`: what is made of that. The errors
are relative; those of the hardware are the PTX manual's, the others were measured (docs/numerics.md).
"""

from __future__ import annotations

# `.ftz`: operands and results below 2^-126 are 0, which spares the scaling of subnormal numbers
_UNARY = {
    "fw_fast_exp2": ("ex2.approx.ftz", "2^x, to 2^-22"),
    "fw_fast_reciprocal": ("rcp.approx.ftz", "1 / x, to 1 ulp; 0 from 2^126 on"),
    "fw_fast_sqrt": ("sqrt.approx", "the square root, to 2^-23"),
    "fw_log2": ("lg2.approx", "log2 x, to 2^-22, of the result if that is larger"),
}

DEVICE: dict[str, tuple[tuple[str, ...], str]] = {
    name: (
        (),
        f"""\
// {what}
{{fn}} float {name}(float x) {{
  float r;
  asm("{instruction}.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}}""",
    )
    for name, (instruction, what) in _UNARY.items()
}
DEVICE["fw_fast_div"] = (
    (),
    """\
// a / b, to 2 ulp
{fn} float fw_fast_div(float a, float b) {
  float r;
  asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}""",
)

# `fw_far_*`: the sequence that the compiler has for numbers of usual size, without its branch for others (Markstein,
# "Computation of elementary functions on the IBM RISC System/6000 processor", 1990). With branches the lanes of a
# vector wait for one another. What is zero, infinite or NaN has no correction; divisors above 2^64 are scaled, for
# 1 / b may be subnormal.
PORTABLE: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_far_reciprocal": (
        ("fw_fast_reciprocal",),
        """\
// 1 / b to nearest, for |b| >= 2^-100; subnormal results may be a unit off
{fn} float fw_far_reciprocal(float b) {
  const float s = ::fabsf(b) > 0x1p64f ? 0x1p-64f : 1.0f;
  const float d = b * s;
  const float r = fw_fast_reciprocal(d);
  const float q = ::fmaf(::fmaf(-d, r, 1.0f), r, r);
  return (::fabsf(q) > 0.0f ? q : r) * s;
}""",
    ),
    "fw_far_div": (
        ("fw_fast_reciprocal",),
        """\
// a / b to nearest, for |b| >= 2^-100; subnormal results, and those of |a| < 2^-100, may be a unit off
{fn} float fw_far_div(float a, float b) {
  const float s = ::fabsf(b) > 0x1p64f ? 0x1p-64f : 1.0f;
  const float d = b * s;
  const float r = fw_fast_reciprocal(d);
  const float t = ::fmaf(::fmaf(-d, r, 1.0f), r, r);
  const float q = a * t;
  const float c = ::fmaf(::fmaf(-d, q, a), t, q);
  return (::fabsf(c) > 0.0f ? c : a * r) * s;
}""",
    ),
    "fw_fast_erfc": (
        ("fw_fast_exp2",),
        """\
// erfc(x), to 2^-17.4 where |x| < 4.3, to 2e-9 of 1 beyond: 2^-t Q(t) for t = |x|, Q fitted to log2(erfc)
{fn} float fw_fast_erfc(float x) {
  const float t = ::fabsf(x);
  float q = 2.0313455e-5f;
  q = ::fmaf(q, t, -4.8604296e-4f);
  q = ::fmaf(q, t, 5.2234237e-3f);
  q = ::fmaf(q, t, -3.3909872e-2f);
  q = ::fmaf(q, t, 1.5242937e-1f);
  q = ::fmaf(q, t, 9.1708177e-1f);
  q = ::fmaf(q, t, 1.6280632f);
  const float e = fw_fast_exp2(-t * q);
  return x < 0.0f ? 2.0f - e : e;
}""",
    ),
    "fw_log_near": (
        ("fw_log2",),
        """\
// log(x) = log(1 + d), to 2^-18; `d`: x - 1
{fn} float fw_log_near(float x, float d) {
  float p = 0.2f;
  p = ::fmaf(p, d, -0.25f);
  p = ::fmaf(p, d, 0.33333334f);
  p = ::fmaf(p, d, -0.5f);
  p = ::fmaf(p, d, 1.0f);
  return ::fabsf(d) < 0.0625f ? d * p : 0.69314718f * fw_log2(x);
}""",
    ),
    "fw_fast_log": (
        ("fw_log_near",),
        "{fn} float fw_fast_log(float x) { return fw_log_near(x, x - 1.0f); }",
    ),
    "fw_fast_log1p": (
        ("fw_log_near",),
        "{fn} float fw_fast_log1p(float x) { return fw_log_near(x + 1.0f, x); }",
    ),
    "fw_fast_expm1": (
        ("fw_fast_exp2",),
        """\
// e^x - 1, to 2^-17.7
{fn} float fw_fast_expm1(float x) {
  float p = 0.041666668f;
  p = ::fmaf(p, x, 0.16666667f);
  p = ::fmaf(p, x, 0.5f);
  p = ::fmaf(p, x, 1.0f);
  return ::fabsf(x) < 0.0625f ? x * p : fw_fast_exp2(1.442695f * x) - 1.0f;
}""",
    ),
}
