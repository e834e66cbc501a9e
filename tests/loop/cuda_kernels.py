"""CUDA kernels by hand, as text: the four shapes that lowering produces, each small enough to read."""

POINTWISE = """\
func pointwise cuda i32 (buf x: bf16, buf y: bf16 out, size n, size blocks, host s: f32) {
  grid b of blocks, t of 64 "x * s" {
    first: i32 = mul(b, 512)
    mine: i32 = mul(t, 8)
    at: i32 = add(first, mine)
    end: i32 = add(at, 8)
    whole: bool = le(end, n)
    if whole {
      v: f32x8 = load(x, at) {aligned stream}
      f: f32x8 = splat(s)
      w: f32x8 = mul(v, f)
      store y[at] = w {hint aligned}
    } else {
      left: i32 = sub(n, at)
      k: boolx8 = lanemask(left)
      v: f32x8 = load(x, at, k)
      f: f32x8 = splat(s)
      w: f32x8 = mul(v, f)
      store y[at] = w {mask k, hint stream}
    }
  }
}
"""

# A softmax of `rows` rows of n <= 1024 numbers, n a multiple of 4; 128 threads share a row, as long as rows last
ROWS = """\
func rows cuda i64 (buf x: f32, buf y: f32 out, size rows, size n, size blocks) {
  alloc keep: f32[8] register
  grid b of blocks, t of 128 {
    for r in b .. rows step blocks {
      base: i64 = mul(r, n)
      mine: i64 = mul(t, 4)
      var top: f32x4 = -inf:f32x4
      for k in 0 .. 8 step 4 unroll {
        skip: i64 = mul(k, 128)
        c: i64 = add(skip, mine)
        in: bool = lt(c, n)
        if in {
          at: i64 = add(base, c)
          v: f32x4 = load(x, at) {aligned}
          store keep[k] = v
          m: f32x4 = max(top, v)
          set top = m
        }
      }
      m1: f32 = hreduce(top) {max}
      m2: f32 = treduce(m1) {max, 128, 1}
      m4: f32x4 = splat(m2)
      var acc: f32x4 = 0.0:f32x4
      for k in 0 .. 8 step 4 unroll {
        skip: i64 = mul(k, 128)
        c: i64 = add(skip, mine)
        in: bool = lt(c, n)
        if in {
          v: f32x4 = load(keep, k)
          d: f32x4 = sub(v, m4)
          e: f32x4 = exp(d)
          store keep[k] = e
          a: f32x4 = add(acc, e)
          set acc = a
        }
      }
      s1: f32 = hreduce(acc) {sum}
      s2: f32 = treduce(s1) {sum, 128, 1}
      s4: f32x4 = splat(s2)
      for k in 0 .. 8 step 4 unroll {
        skip: i64 = mul(k, 128)
        c: i64 = add(skip, mine)
        in: bool = lt(c, n)
        if in {
          e: f32x4 = load(keep, k)
          q: f32x4 = div(e, s4)
          at: i64 = add(base, c)
          store y[at] = q {hint aligned}
        }
      }
    }
  }
}
"""

# Sums of the columns of [rows, n]: a block sums one of the chunks of rows of 32 columns, the second launch the parts
COLUMNS = """\
func columns cuda i32 (buf x: f32, buf y: f32 out, size rows, size n, size chunks, size total, size across, size m) {
  alloc part: f32[m] grid
  grid b of total, t of 256 "each chunk of rows" {
    chunk: i32 = udiv(b, across)
    before: i32 = mul(chunk, across)
    column: i32 = sub(b, before)
    lane: i32 = udiv(t, 32)
    skipped: i32 = mul(lane, 32)
    inside: i32 = sub(t, skipped)
    left: i32 = mul(column, 32)
    c: i32 = add(left, inside)
    var acc: f32 = 0.0:f32
    in: bool = lt(c, n)
    if in {
      start: i32 = mul(chunk, 8)
      from: i32 = add(start, lane)
      step: i32 = mul(chunks, 8)
      for r in from .. rows step step {
        base: i32 = mul(r, n)
        at: i32 = add(base, c)
        v: f32 = load(x, at)
        a: f32 = add(acc, v)
        set acc = a
      }
    }
    s: f32 = treduce(acc) {sum, 8, 32}
    top: bool = eq(lane, 0)
    mine: bool = and(top, in)
    if mine {
      row: i32 = mul(chunk, n)
      at: i32 = add(row, c)
      store part[at] = s
    }
  }
  grid b of across, t of 32 "all chunks" {
    left: i32 = mul(b, 32)
    c: i32 = add(left, t)
    in: bool = lt(c, n)
    if in {
      var acc: f32 = 0.0:f32
      for k in 0 .. chunks step 1 {
        row: i32 = mul(k, n)
        at: i32 = add(row, c)
        v: f32 = load(part, at)
        a: f32 = add(acc, v)
        set acc = a
      }
      store y[c] = acc
    }
  }
}
"""

# [rows, n] to [n, rows], in tiles of 32 x 32
TRANSPOSE = """\
func transpose cuda i32 (buf x: i16, buf y: i16 out, size rows, size n, size blocks, size across) {
  alloc tile: i16[1056] block
  grid b of blocks, t of 256 {
    down: i32 = udiv(b, across)
    before: i32 = mul(down, across)
    right: i32 = sub(b, before)
    r0: i32 = mul(down, 32)
    c0: i32 = mul(right, 32)
    i: i32 = udiv(t, 32)
    skipped: i32 = mul(i, 32)
    j: i32 = sub(t, skipped)
    for k in 0 .. 32 step 8 unroll {
      row: i32 = add(i, k)
      r: i32 = add(r0, row)
      c: i32 = add(c0, j)
      below: bool = lt(r, rows)
      beside: bool = lt(c, n)
      in: bool = and(below, beside)
      if in {
        base: i32 = mul(r, n)
        at: i32 = add(base, c)
        v: i16 = load(x, at)
        line: i32 = mul(row, 33)
        to: i32 = add(line, j)
        store tile[to] = v
      }
    }
    barrier "tile complete"
    for k in 0 .. 32 step 8 unroll {
      col: i32 = add(i, k)
      c: i32 = add(c0, col)
      r: i32 = add(r0, j)
      below: bool = lt(r, rows)
      beside: bool = lt(c, n)
      in: bool = and(below, beside)
      if in {
        line: i32 = mul(j, 33)
        from: i32 = add(line, col)
        v: i16 = load(tile, from)
        base: i32 = mul(c, rows)
        at: i32 = add(base, r)
        store y[at] = v
      }
    }
  }
}
"""

ALL = {"pointwise": POINTWISE, "rows": ROWS, "columns": COLUMNS, "transpose": TRANSPOSE}
