"""Device functions that kernels call, as CUDA C++ text, each with the names of those it needs itself.

`PORTABLE` is plain C++. `DEVICE` uses instructions that only a GPU has: in the emitted source these stand between
`#ifndef FUSEWRIGHT_EMULATION` and `#endif`, so that another compiler can bring its own (`tests/emulate`). Nothing here
includes a header: NVRTC then needs no include path, and parses little.
"""

from __future__ import annotations

import re
from functools import cache

from . import cuda_copies, cuda_fast, cuda_float8, cuda_mbarrier
from .cuda_types import CudaTarget

_FN = "__device__ __forceinline__"

# name -> (names it needs, text); {fn} stands for the qualifiers of a device function
PORTABLE: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_inff": ((), "#define fw_inff __int_as_float(0x7f800000)"),
    "fw_nanf": ((), "#define fw_nanf __int_as_float(0x7fc00000)"),
    "fw_inf": ((), "#define fw_inf __longlong_as_double(0x7ff0000000000000ll)"),
    "fw_nan": ((), "#define fw_nan __longlong_as_double(0x7ff8000000000000ll)"),
    "fw_bf16_f32": (
        (),
        "{fn} float fw_bf16_f32(unsigned short x) { return __uint_as_float((unsigned)x << 16); }",
    ),
    "fw_fmod": (
        (),
        """\
{fn} float fw_fmod(float a, float b) { return ::fmodf(a, b); }
{fn} double fw_fmod(double a, double b) { return ::fmod(a, b); }""",
    ),
    "fw_remainder": (
        ("fw_fmod",),
        """\
// the remainder that has the sign of the divisor
template <class T> {fn} T fw_remainder(T a, T b) {
  const T m = fw_fmod(a, b);
  return m != (T)0 && (b < (T)0) != (m < (T)0) ? m + b : m;
}""",
    ),
    "fw_floordiv": (
        ("fw_fmod", "fw_fast_reciprocal"),
        """\
// Python's divmod: the quotient of a - fmod(a, b), moved to the nearest integer
template <class T> {fn} T fw_floordiv_any(T a, T b) {
  const T m = fw_fmod(a, b);
  T d = (a - m) / b;
  if (m != (T)0 && (b < (T)0) != (m < (T)0)) d = d - (T)1;
  T f = (T)::floor(d);
  if (d - f > (T)0.5) f = f + (T)1;
  if (d == (T)0) f = (T)::copysign((T)0, a / b);
  return b == (T)0 ? a / b : f;
}
{fn} double fw_floordiv(double a, double b) { return fw_floordiv_any(a, b); }
// small quotients without fmod: an estimate is one off at most, and what it leaves of a, which is exact, says if it is
{fn} float fw_floordiv(float a, float b) {
  const float q = a * fw_fast_reciprocal(b);
  if (!(::fabsf(q) < 0x1p20f && ::fabsf(b) < 0x1p126f)) return fw_floordiv_any(a, b);
  float t = ::truncf(q), m = ::fmaf(-t, b, a);
  const bool beyond = m != 0.0f && (m < 0.0f) != (a < 0.0f);
  if (beyond || ::fabsf(m) >= ::fabsf(b)) {
    t += beyond == (q < 0.0f) ? 1.0f : -1.0f;
    m = ::fmaf(-t, b, a);
  }
  return m != 0.0f && (m < 0.0f) != (b < 0.0f) ? t - 1.0f : t;
}""",
    ),
    "fw_logaddexp": (
        (),
        """\
// log(exp(a) + exp(b)); of two infinities of one sign that
{fn} float fw_logaddexp(float a, float b) {
  return (a > b ? a : b) + ::log1pf(::expf(a == b ? 0.0f : -::fabsf(a - b)));
}
{fn} double fw_logaddexp(double a, double b) {
  return (a > b ? a : b) + ::log1p(::exp(a == b ? 0.0 : -::fabs(a - b)));
}""",
    ),
    "fw_floordiv_int": (
        ("fw_div", "fw_rem"),
        """\
template <class T> {fn} T fw_floordiv_int(T a, T b) {
  const T q = fw_div<T>(a, b), m = fw_rem<T>(a, b);
  return m != 0 && (b < 0) != (a < 0) ? (T)(q - 1) : q;  // m has the sign of a, but where b is zero
}""",
    ),
    "fw_remainder_int": (
        ("fw_rem",),
        """\
// the remainder that has the sign of the divisor
template <class T> {fn} T fw_remainder_int(T a, T b) {
  const T m = fw_rem<T>(a, b);
  return m != 0 && (b < 0) != (m < 0) ? (T)(m + b) : m;
}""",
    ),
    "fw_udiv_by": (
        (),
        """\
// a / b of non-negative numbers; `inverse`: (2^32 - 1) / b, with which the quotient is at most 1 too small
{fn} int fw_udiv_by(int a, int b, unsigned inverse) {
  const unsigned q = __umulhi((unsigned)a, inverse);
  return (int)(q + ((unsigned)a - q * (unsigned)b >= (unsigned)b));
}""",
    ),
    "fw_last": (
        (),
        """\
// counts this block; true in all threads of the one that is the count-th, which then sees what the others stored
{fn} bool fw_last(int* counter, int count) {
  __shared__ bool last;
  __syncthreads();  // all threads have stored
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc((unsigned*)counter, count - 1) == count - 1;  // zero again after the last
    __threadfence();
  }
  __syncthreads();
  return last;
}""",
    ),
    "fw_philox": (
        (),
        """\
// the four words of a Philox4x32-10 block
{fn} void fw_philox(long long seed, unsigned c0, unsigned c1, unsigned c2, unsigned c3, unsigned (&word)[4]) {
  unsigned k0 = (unsigned)seed, k1 = (unsigned)((unsigned long long)seed >> 32);
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    const unsigned h0 = __umulhi(c0, 0xD2511F53u), l0 = c0 * 0xD2511F53u;
    const unsigned h1 = __umulhi(c2, 0xCD9E8D57u), l1 = c2 * 0xCD9E8D57u;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  word[0] = c0;
  word[1] = c1;
  word[2] = c2;
  word[3] = c3;
}""",
    ),
    "fw_philox_quad": (
        ("fw_philox",),
        """\
// columns 4 * quad .. 4 * quad + 3 of a row (prims/philox.py, the layout of CUDA kernels)
{fn} void fw_philox_quad(long long seed, long long row, unsigned quad, unsigned call, unsigned* out) {
  unsigned word[4];
  fw_philox(seed, quad, (unsigned)row, (unsigned)((unsigned long long)row >> 32), 2 + call, word);
#pragma unroll
  for (int k = 0; k < 4; ++k) out[k] = word[k];
}""",
    ),
    "fw_philox_word": (
        ("fw_philox",),
        """\
// one column of a row (prims/philox.py, the layout of CUDA kernels)
{fn} unsigned fw_philox_word(long long seed, long long row, long long column, unsigned call) {
  unsigned word[4];
  fw_philox(seed, (unsigned)((unsigned long long)column >> 2), (unsigned)row,
            (unsigned)((unsigned long long)row >> 32), 2 + call, word);
  const unsigned low = column & 1 ? word[1] : word[0], high = column & 1 ? word[3] : word[2];
  return column & 2 ? high : low;
}""",
    ),
    "fw_philox_strided": (
        ("fw_philox",),
        """\
// one column of a row (prims/philox.py, the layout of CPU kernels)
{fn} unsigned fw_philox_strided(long long seed, long long row, long long column, unsigned call) {
  const unsigned long long c = (unsigned long long)column;
  unsigned word[4];
  fw_philox(seed, (unsigned)(16 * (c / 64) + c % 16), (unsigned)row, (unsigned)((unsigned long long)row >> 32), call,
            word);
  const unsigned low = c & 16 ? word[1] : word[0], high = c & 16 ? word[3] : word[2];
  return c & 32 ? high : low;
}""",
    ),
}

# what a GPU without the instruction does instead, in plain C++
BEFORE_SM80: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_f32_bf16": (
        (),
        """\
// to the nearest bf16, ties to even
{fn} unsigned short fw_f32_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}""",
    ),
    "fw_pack_bf16": (
        ("fw_f32_bf16",),
        """\
{fn} unsigned fw_pack_bf16(float low, float high) {
  return (unsigned)fw_f32_bf16(low) | (unsigned)fw_f32_bf16(high) << 16;
}""",
    ),
    "fw_pack_f16": (
        ("fw_f32_f16",),
        """\
{fn} unsigned fw_pack_f16(float low, float high) {
  return (unsigned)fw_f32_f16(low) | (unsigned)fw_f32_f16(high) << 16;
}""",
    ),
    "fw_round_bf16": (
        ("fw_bf16_f32", "fw_f32_bf16"),
        "{fn} float fw_round_bf16(float x) { return fw_bf16_f32(fw_f32_bf16(x)); }",
    ),
    "fw_maxf": ((), "{fn} float fw_max(float a, float b) { return a != a ? a : b != b ? b : ::fmaxf(a, b); }"),
    "fw_minf": ((), "{fn} float fw_min(float a, float b) { return a != a ? a : b != b ? b : ::fminf(a, b); }"),
}

_SINCE_SM80: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_f32_bf16": (
        (),
        """\
{fn} unsigned short fw_f32_bf16(float x) {
  unsigned r;  // two at once are one fast instruction, one alone is a slow one
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(0.0f), "f"(x));
  return (unsigned short)r;
}""",
    ),
    "fw_round_bf16": (
        (),
        """\
// the nearest bf16, as the float whose upper half it is
{fn} float fw_round_bf16(float x) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(0.0f));
  return __uint_as_float(r);
}""",
    ),
    "fw_pack_bf16": (
        (),
        """\
{fn} unsigned fw_pack_bf16(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}""",
    ),
    "fw_pack_f16": (
        (),
        """\
{fn} unsigned fw_pack_f16(float low, float high) {
  unsigned r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}""",
    ),
    "fw_maxf": (
        (),
        """\
{fn} float fw_max(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}""",
    ),
    "fw_minf": (
        (),
        """\
{fn} float fw_min(float a, float b) {
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}""",
    ),
}

PORTABLE |= cuda_fast.PORTABLE
PORTABLE |= cuda_float8.PORTABLE
PORTABLE["fw_maxd"] = (
    (),
    "{fn} double fw_max(double a, double b) { return a != a ? a : b != b ? b : ::fmax(a, b); }",
)
PORTABLE["fw_mind"] = (
    (),
    "{fn} double fw_min(double a, double b) { return a != a ? a : b != b ? b : ::fmin(a, b); }",
)

DEVICE: dict[str, tuple[tuple[str, ...], str]] = {
    "fw_group_barrier": (
        (),
        """\
// waits for the others of N neighbouring threads
template <int N> {fn} void fw_group_barrier() {
  asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.x / N + 1), "n"(N) : "memory");
}""",
    ),
    "fw_f16_f32": (
        (),
        """\
{fn} float fw_f16_f32(unsigned short x) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
  return r;
}""",
    ),
    "fw_f32_f16": (
        (),
        """\
{fn} unsigned short fw_f32_f16(float x) {
  unsigned short r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
  return r;
}""",
    ),
    # What a division by zero gives is the compiler's choice, and differs between kernels: here it is as eager's are
    "fw_by_zero": (
        (),
        """\
// all ones, 32 of them where the upper half of a 64-bit number is zero: quotients and remainders alike
template <class T> {fn} T fw_by_zero(T a) {
  return sizeof(T) == 8 && (unsigned long long)a >> 32 == 0 ? (T)0xffffffffu : (T)-1;
}""",
    ),
    # Functions, so that a processor whose division traps can do as a GPU does
    "fw_div": (
        ("fw_by_zero",),
        "template <class T> {fn} T fw_div(T a, T b) { return b == 0 ? fw_by_zero(a) : (T)(a / b); }",
    ),
    "fw_rem": (
        ("fw_by_zero",),
        "template <class T> {fn} T fw_rem(T a, T b) { return b == 0 ? fw_by_zero(a) : (T)(a % b); }",
    ),
    "fw_udiv": (
        (),
        """\
// of non-negative numbers
{fn} int fw_udiv(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
{fn} long long fw_udiv(long long a, long long b) {
  return (long long)((unsigned long long)a / (unsigned long long)b);
}""",
    ),
    "fw_read": ((), "template <class T> {fn} T fw_read(const T* p) { return *p; }"),
    "fw_write": ((), "template <class T> {fn} void fw_write(T* p, T x) { *p = x; }"),
    "fw_prefetch": (
        (),
        '{fn} void fw_prefetch(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }',
    ),
    "fw_after_launch": (
        (),
        '{fn} void fw_after_launch() { asm volatile("griddepcontrol.wait;" ::: "memory"); }',
    ),
    "fw_next_launch": (
        (),
        '{fn} void fw_next_launch() { asm volatile("griddepcontrol.launch_dependents;"); }',
    ),
    "fw_fail": (
        (),
        """\
// an index out of range: the context reports an error, as for eager's device-side assertion
{fn} void fw_fail() { __trap(); }""",
    ),
}
DEVICE |= cuda_fast.DEVICE
PORTABLE |= cuda_mbarrier.PORTABLE
DEVICE |= cuda_mbarrier.DEVICE
DEVICE |= cuda_copies.DEVICE


@cache
def _functions(bf16: bool, float8: bool) -> tuple[cuda_float8.Functions, cuda_float8.Functions]:
    """What is an instruction on a GPU with conversions to these types, and what is plain C++."""
    device, portable = dict(DEVICE), dict(PORTABLE)
    for there, since, before in (
        (bf16, _SINCE_SM80, BEFORE_SM80),
        (float8, cuda_float8.SINCE_SM89, cuda_float8.BEFORE_SM89),
    ):
        (device if there else portable).update(since if there else before)
    return device, portable


class Prelude:
    """The device functions that a kernel's source needs, in an order in which each follows what it needs."""

    def __init__(self, target: CudaTarget):
        self._device, self._portable = _functions(target.has_bf16, target.has_float8)
        self._needed: dict[str, bool] = {}  # name -> whether only a GPU has it
        self._written: dict[str, str] = {}

    def need(self, name: str) -> str:
        """Ask for a function of this module; returns its name."""
        if name in self._needed:
            return name
        device = name in self._device
        needs, _ = self._device[name] if device else self._portable[name]
        for n in needs:
            self.need(n)
        self._needed[name] = device
        return name

    def define(self, name: str, text: str) -> str:
        """A function written for this kernel, once; what it calls has been asked for. Returns its name."""
        self._written.setdefault(name, text)
        return name

    def __contains__(self, name: str) -> bool:
        return name in self._written

    def text(self, kernels: list[str]) -> list[str]:
        """The functions, and the constants that they or the kernels mention."""
        mentioned = re.findall(r"\bfw_(?:inf|nan)f?\b", "\n".join([*kernels, *self._written.values()]))
        for name in sorted(set(mentioned)):
            self.need(name)
        device = [self._device[n][1] for n, d in self._needed.items() if d]
        portable = [self._portable[n][1] for n, d in self._needed.items() if not d]
        out = []
        if device:
            out += ["#ifndef FUSEWRIGHT_EMULATION", *device, "#endif"]
        return [t.replace("{fn}", _FN) for t in [*out, *portable, *self._written.values()]]
