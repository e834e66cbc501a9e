"""Device functions that draw what PyTorch's own CUDA kernels draw (prims/curand.py)."""

from __future__ import annotations

from .cuda_prelude import Prelude

_PLACE = """\
// counter and word of an element as PyTorch's kernels draw it: `threads` threads take 1 << shift elements at a time
template <class I>
{fn} void fw_curand_place(long long block, long long threads, unsigned shift, I element, unsigned (&at)[4]) {
  const unsigned n = threads ? (unsigned)threads : 1, lane = (unsigned)element & ((1u << shift) - 1);
  unsigned long long turn;
  if (sizeof(I) == 4) {
    const unsigned q = (unsigned)element >> shift;
    turn = q / n;
    at[2] = q - (unsigned)turn * n;
  } else {
    const unsigned long long q = (unsigned long long)element >> shift;
    turn = q / n;
    at[2] = (unsigned)(q - turn * n);
  }
  const unsigned long long call =
      (unsigned long long)block + (shift == 0 ? turn >> 2 : shift == 3 ? 2 * turn + (lane >> 2) : turn);
  at[0] = (unsigned)call;
  at[1] = (unsigned)(call >> 32);
  at[3] = shift == 0 ? (unsigned)turn & 3 : lane & 3;
}"""

_PICK = """\
{fn} unsigned fw_curand_pick(const unsigned (&word)[4], unsigned at) {
  const unsigned low = at & 1 ? word[1] : word[0], high = at & 1 ? word[3] : word[2];
  return at & 2 ? high : low;
}"""

_WORD = """\
// the word of one element
template <class I>
{fn} unsigned fw_curand_word(long long seed, long long block, long long threads, long long shift, I element) {
  unsigned at[4], word[4];
  fw_curand_place(block, threads, (unsigned)shift & 3, element, at);
  fw_philox(seed, at[0], at[1], at[2], 0, word);
  return fw_curand_pick(word, at[3]);
}"""

_RUN = """\
// the words of N neighbours: those of one block are drawn together
template <int N, class I>
{fn} void fw_curand_run(long long seed, long long block, long long threads, long long shift, I start, unsigned* out) {
  const unsigned wide = (unsigned)shift & 3, shared = wide == 0 ? 0 : wide == 1 ? 1 : 3;
  unsigned at[4], word[4] = {};
#pragma unroll
  for (int k = 0; k < N; ++k) {
    if (k == 0 || (((unsigned)start + k) & shared) == 0) {
      fw_curand_place(block, threads, wide, (I)(start + k), at);
      fw_philox(seed, at[0], at[1], at[2], 0, word);
    } else {
      ++at[3];
    }
    out[k] = fw_curand_pick(word, at[3]);
  }
}"""

_NORMAL = """\
// Box-Muller on the element's word and the one that it makes a pair with
template <class I>
{fn} float fw_curand_normal(long long seed, long long block, long long threads, long long shift, I element) {
  unsigned at[4], word[4];
  fw_curand_place(block, threads, (unsigned)shift & 3, element, at);
  fw_philox(seed, at[0], at[1], at[2], 0, word);
  const unsigned x = at[3] & 2 ? word[2] : word[0], y = at[3] & 2 ? word[3] : word[1];
  const float turn = 2.3283064e-10f * 6.2831855f;
  const float u = ::__fmaf_rn((float)x, 2.3283064e-10f, 2.3283064e-10f / 2);
  const float v = ::__fmaf_rn((float)y, turn, turn / 2);
  float sine, cosine;
  ::__sincosf(v, &sine, &cosine);
  return (at[3] & 1 ? cosine : sine) * ::sqrtf(-2.0f * ::logf(u)) + 0.0f;
}"""

_TEXTS = {
    "fw_curand_place": _PLACE,
    "fw_curand_pick": _PICK,
    "fw_curand_word": _WORD,
    "fw_curand_run": _RUN,
    "fw_curand_normal": _NORMAL,
}
_NEEDS = ("fw_curand_place", "fw_curand_pick")


def quads(prelude: Prelude, args: list[str], stream: int, name: str, lanes: int) -> list[str]:
    """Statements that fill the array `name` with Philox words; `args`: seed, row, start (`philoxquad`)."""
    seed, row, start = args
    fn, out = prelude.need("fw_philox_quad"), []
    for k in range(lanes // 4):
        at, into = (
            (f"(unsigned)({start} >> 2)", name) if k == 0 else (f"(unsigned)({start} >> 2) + {k}", f"{name} + {4 * k}")
        )
        out.append(f"{fn}({seed}, {row}, {at}, {stream}, {into});")
    return out


def need(prelude: Prelude, name: str) -> str:
    """`name`, a function that the source will have: `fw_curand_word`, `_run` or `_normal`."""
    prelude.need("fw_philox")
    for n in (*_NEEDS, name):
        prelude.define(n, _TEXTS[n])
    return name
