#!/usr/bin/env python3
"""w1, w2 and w4 in Halide, scheduled as a Halide user would: one fused pipeline, strips of rows in parallel, 8- and
16-bit arithmetic, the resize ratio known. Each becomes a shared object that needs no Halide to run:

    pip install halide && python3 benchmarks/cpu/halide_chains.py DIRECTORY [TARGET]

`exact` rounds where our definition rounds (resize in RGB, then gray); `grayfirst` takes the cheaper order gray, then
resize, which gives other bytes. Both weigh the Gaussians in 8 bits, so a few bytes differ from ours by one.
"""
import math
import pathlib
import subprocess
import sys

EXACT_STRIP, STRIP, VECTOR = 60, 36, 64


def gaussian(size, sigma):
    raw = [math.exp(-((i - size // 2) ** 2) / (2 * sigma * sigma)) for i in range(size)]
    return [w / sum(raw) for w in raw]


def build(name):
    import halide as hl

    x, y, c, yo, yi, xi, xo = (hl.Var(n) for n in ("x", "y", "c", "yo", "yi", "xi", "xo"))
    round_up = hl.TailStrategy.RoundUp
    u8, u16 = (lambda e: hl.cast(hl.UInt(8), e)), (lambda e: hl.cast(hl.UInt(16), e))
    i16, i32 = (lambda e: hl.cast(hl.Int(16), e)), (lambda e: hl.cast(hl.Int(32), e))
    f32 = lambda e: hl.cast(hl.Float(32), e)
    size = {"w1": (1920, 1080, 1280, 720), "w2": (3840, 2160, 1920, 1080), "w4": (1920, 1080, 1920, 1080)}
    width, height, w, h = size[name[:2]]
    source = hl.ImageParam(hl.UInt(8), 3, "source")
    source.dim(0).set_bounds(0, 3).set_stride(1)
    source.dim(1).set_bounds(0, width).set_stride(3)
    source.dim(2).set_bounds(0, height).set_stride(3 * width)
    read = lambda ch, column, row: source[ch, hl.clamp(hl.likely(column), 0, width - 1), row]
    gray = lambda r, g, b: u8((u16(r) * 77 + u16(g) * 150 + u16(b) * 29 + 128) >> 8)
    size_of = lambda e: hl.max(e, -e)  # abs() is unsigned
    mirror = lambda i, n: hl.clamp((n - 1) - size_of((n - 1) - size_of(i)), 0, n - 1)
    out = hl.Func("out")
    row = mirror(y, h)  # mirrored where rows are read, so that everything after it slides without borders

    def magnitude(at):
        gx = (at(1, -1) - at(-1, -1)) + (at(1, 0) - at(-1, 0)) * 2 + (at(1, 1) - at(-1, 1))
        gy = (at(-1, 1) - at(-1, -1)) + (at(0, 1) - at(0, -1)) * 2 + (at(1, 1) - at(1, -1))
        return i32(hl.min(hl.sqrt(f32(i32(gx) * i32(gx) + i32(gy) * i32(gy))) + 0.5, 255.0))

    def blur(of, size, sigma):
        """The vertical sum in 8.8 bits as a function of its own; the horizontal one as an expression."""
        r, weights = size // 2, gaussian(size, sigma)
        whole = [round(v * 256) for v in weights]
        whole[r] += 256 - sum(whole)
        down = hl.Func("down")
        pairs = [(u16(of[x, y - k]) + u16(of[x, y + k])) * whole[r - k] for k in range(r, 0, -1)]
        down[x, y] = sum(pairs[1:], pairs[0]) + u16(of[x, y]) * whole[r]
        part = lambda k: hl.mul_shift_right(down[x + k, y], hl.cast(hl.UInt(16), round(weights[r + k] * 65536)), 16)
        parts = [part(k) for k in range(-r, r + 1)]
        return down, (sum(parts[1:], parts[0]) + 128 + r) >> 8

    def reflect_columns(func, reach):
        k = hl.RDom([(0, reach)])
        func[-1 - k, y] = func[1 + k, y]
        func[w + k, y] = func[w - 2 - k, y]
        func.update(0).unscheduled()
        func.update(1).unscheduled()

    if name == "w4":
        g = hl.Func("g")
        g[x, y] = gray(*(read(ch, x, row) for ch in range(3)))
        reflect_columns(g, 4)
        down, soft = blur(g, 7, 1.5)
        edges = u16(magnitude(lambda dx, dy: i16(g[x + dx, y + dy])))
        out[x, y] = hl.select(((soft + edges + 1) >> 1) > 100, hl.cast(hl.UInt(8), 255), hl.cast(hl.UInt(8), 0))
        out.bound(x, 0, w).bound(y, 0, h).split(y, yo, yi, 60).parallel(yo).vectorize(x, VECTOR // 2)
        g.compute_at(out, yo).vectorize(x, VECTOR, round_up)
        down.compute_at(out, yi).vectorize(x, VECTOR // 2, round_up)
        return source, out

    three_to_two = width * 2 == w * 3

    def rows(of):
        if three_to_two:
            first, odd = (row / 2) * 3 + row % 2, row % 2
            return u16(of(first)) * u16(3 - 2 * odd) + u16(of(first + 1)) * u16(1 + 2 * odd)
        return u16(of(2 * row)) + u16(of(2 * row + 1))

    def columns(at):
        if three_to_two:
            first = (x / 2) * 3
            even, odd = at(first) * 3 + at(first + 1), at(first + 1) + at(first + 2) * 3
            return u8((hl.select(x % 2 == 0, even, odd) + 8) >> 4)
        return u8((at(2 * x) + at(2 * x + 1) + 2) >> 2)

    v, r, b = hl.Func("v"), hl.Func("r"), hl.Func("b")
    exact = name.endswith("exact")
    if exact:
        v[c, x, y] = rows(lambda q: read(c, x, q))
        r[x, y] = gray(*(columns(lambda column, ch=ch: v[ch, column, y]) for ch in range(3)))
    else:
        g = hl.Func("g")
        g[x, y] = gray(*(read(ch, x, y) for ch in range(3)))
        v[x, y] = rows(lambda q: g[x, q])
        r[x, y] = columns(lambda column: v[column, y])
    reflect_columns(r, 3)
    down, soft = blur(r, 5, 1.1)
    b[x, y] = u8(soft)
    out[x, y] = u8(magnitude(lambda dx, dy: i16(b[x + dx, y + dy])))
    out.bound(x, 0, w).bound(y, 0, h).split(y, yo, yi, EXACT_STRIP if exact else STRIP).parallel(yo)
    out.vectorize(x, VECTOR // 2)
    if exact:
        v.compute_at(r, y).bound(c, 0, 3).reorder_storage(c, x, y).reorder(c, x, y).unroll(c)
    else:
        g.compute_at(out, yo).vectorize(x, VECTOR, round_up)
        v.compute_at(r, y)
    v.vectorize(x, VECTOR // 2, round_up)
    if three_to_two:
        r.align_bounds(x, 2).split(x, xo, xi, 2, round_up).reorder(xi, xo, y)
        r.vectorize(xo, VECTOR // 2, round_up).unroll(xi)
    else:
        r.vectorize(x, VECTOR, round_up)
    if exact:
        r.store_at(out, yo).compute_at(out, yi)
        b.store_at(out, yo).compute_at(out, yi)
    else:
        r.compute_at(out, yo)
        b.compute_at(out, yo)
    b.vectorize(x, VECTOR // 2, round_up)
    down.compute_at(b, y).vectorize(x, VECTOR // 2, round_up)
    return source, out


NAMES = {"w1": ["w1_exact", "w1_grayfirst"], "w2": ["w2_exact", "w2_grayfirst"], "w4": ["w4"]}


def compile_all(directory, target="x86-64-linux-avx2-avx-f16c-fma-sse41"):
    import halide as hl

    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name in sum(NAMES.values(), []):
        source, out = build(name)
        path = str(directory / name)
        out.compile_to({hl.OutputFileType.object: path + ".o"}, [source], f"halide_{name}", hl.Target(target))
        linked = ["cc", "-shared", "-o", path + ".so", path + ".o", "-lpthread", "-ldl", "-lm"]
        subprocess.run(linked, check=True)
        pathlib.Path(path + ".o").unlink()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    compile_all(*sys.argv[1:])
