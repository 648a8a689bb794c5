// Source pixels whose column depends on the output's row, or the reverse.

// Transposed images: a block brings a square tile of the source to shared memory row by row, and writes it column by
// column, so that neighbouring threads read and write neighbouring pixels. Planar images are handled plane by plane
// (C is 1). X maps output rows to source columns, Y output columns to source rows.
template <typename T, int C, int X, int Y, int A_IN, int A_OUT, class P> INLINE void transpose_tiles(const P& p) {
    constexpr int SIDE = 32, PIXEL = C * (int)sizeof(T);
    // An odd number of words: a column of the tile lies in 32 different banks.
    constexpr int PITCH = SIDE * PIXEL + 4;
    // Words where pixels are made of them.
    constexpr int FROM = PIXEL % 4 == 0 && A_IN % 4 == 0 ? 4 : (int)sizeof(T);
    constexpr int TO = PIXEL % 4 == 0 && A_OUT % 4 == 0 ? 4 : (int)sizeof(T);
    typedef typename Piece<FROM>::Type From;
    typedef typename Piece<TO>::Type To;
    extern __shared__ uint4 shared[];
    u8* const tile = (u8*)shared;
    const i64 x0 = (i64)blockIdx.x * SIDE;
    const int columns = (int)min((i64)SIDE, p.width - x0);
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (i64 y0 = (i64)blockIdx.y * SIDE; y0 < p.height; y0 += (i64)gridDim.y * SIDE) {
            const int rows = (int)min((i64)SIDE, p.height - y0), lane = threadIdx.x;
            __syncthreads();
            // Tile row i is the source row of output column x0 + i; its pixels are the source columns of output rows.
            if (lane < rows) {
                const i64 column = axis<X>(p.x_origin, p.x_table, (u32)y0 + lane);
#pragma unroll 4
                for (int i = threadIdx.y; i < columns; i += blockDim.y) {
                    const i64 row = axis<Y>(p.y_origin, p.y_table, (u32)x0 + i);
                    const From* from = (const From*)(in + row * p.in.row + column * PIXEL);
                    From* to = (From*)(tile + i * PITCH + lane * PIXEL);
#pragma unroll
                    for (int k = 0; k < PIXEL / FROM; k++) to[k] = __ldg(from + k);
                }
            }
            __syncthreads();
            if (lane < columns) {
#pragma unroll 4
                for (int i = threadIdx.y; i < rows; i += blockDim.y) {
                    const To* from = (const To*)(tile + lane * PITCH + i * PIXEL);
                    To* to = (To*)(out + (y0 + i) * p.out.row + (x0 + lane) * PIXEL);
#pragma unroll
                    for (int k = 0; k < PIXEL / TO; k++) to[k] = from[k];
                }
            }
        }
    }
}

// A frame of the source, read anywhere: PLANAR or interleaved, outside by the border, colours premultiplied with ALPHA.
template <class Px, int BORDER, bool ALPHA> struct WarpSource {
    typedef typename Px::T T;
    const u8* start;
    i64 row, plane, width, height;
    float constant;

    INLINE void pixel(i64 x, i64 y, float* v) const {
        const i64 column = inside<BORDER>(x, width), line = inside<BORDER>(y, height);
        const T* from = (const T*)(start + line * row) + column * Px::STEP;
        const bool outside = BORDER == CONSTANT && (column < 0 || line < 0);
#pragma unroll
        for (int c = 0; c < Px::C; c++) {
            const T* sample = Px::PLANAR ? (const T*)((const u8*)from + c * plane) : from + c;
            v[c] = outside ? constant : Sample<T>::widen(__ldg(sample));
        }
        if (ALPHA) {
#pragma unroll
            for (int c = 0; c < Px::C - 1; c++) v[c] *= v[Px::C - 1];
        }
    }

    // Whether `more` pixels and lines from there on lie inside, and places fit 32 bits.
    INLINE bool is_inside(float x, float y, int more) const {
        constexpr float NEAR = 16777216.0f;
        return x >= 0.0f && y >= 0.0f && x < NEAR && y < NEAR && (int)x + more < width && (int)y + more < height;
    }

    // A pixel inside.
    INLINE void inner_pixel(int x, int y, float* v) const {
        const T* from = (const T*)(start + y * row) + x * Px::STEP;
#pragma unroll
        for (int c = 0; c < Px::C; c++)
            v[c] = Sample<T>::widen(__ldg(Px::PLANAR ? (const T*)((const u8*)from + c * plane) : from + c));
        if (ALPHA) {
#pragma unroll
            for (int c = 0; c < Px::C - 1; c++) v[c] *= v[Px::C - 1];
        }
    }

    // Two neighbours inside. Those of three bytes each lie in two or three words, of which all have some of them; of the last line
    // there may be no whole word at the end.
    INLINE void inner_pixels(int x, int y, float* a, float* b) const {
        if (sizeof(T) == 1 && Px::C == 3 && !Px::PLANAR && (y + 1 < height || x + 2 < width)) {
            const u8* at = start + y * row + x * 3;
            const u32 skip = (u32)((unsigned long long)at % 4);
            const u32* words = (const u32*)(at - skip);
            const u32 first = __ldg(words), second = __ldg(words + 1), third = skip == 3 ? __ldg(words + 2) : 0;
            const u32 six[2] = {__funnelshift_r(first, second, skip * 8), __funnelshift_r(second, third, skip * 8)};
#pragma unroll
            for (int c = 0; c < Px::C; c++) a[c] = Sample<u8>::widen(six, c), b[c] = Sample<u8>::widen(six, (3 + c) % 8);
            return;
        }
        inner_pixel(x, y, a);
        inner_pixel(x + 1, y, b);
    }

    INLINE void nearest(float sx, float sy, float* v) const {
        const float x = rintf(sx), y = rintf(sy);
        if (is_inside(x, y, 0)) return inner_pixel((int)x, (int)y, v);
        pixel((i64)x, (i64)y, v);
    }

    INLINE void bilinear(float sx, float sy, float* v) const {
        const float x0 = floorf(sx), y0 = floorf(sy), fx = sx - x0, fy = sy - y0;
        const bool inner = is_inside(x0, y0, 1);
        float sums[2][Px::C];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            float a[Px::C], b[Px::C];
            if (inner) {
                inner_pixels((int)x0, (int)y0 + j, a, b);
            } else {
                pixel((i64)x0, (i64)y0 + j, a);
                pixel((i64)x0 + 1, (i64)y0 + j, b);
            }
#pragma unroll
            for (int c = 0; c < Px::C; c++) sums[j][c] = pair(fx, a[c], b[c]);
        }
#pragma unroll
        for (int c = 0; c < Px::C; c++) v[c] = pair(fy, sums[0][c], sums[1][c]);
        if (ALPHA) divide_by_alpha<1, Px::C>(v);
    }

    INLINE void bicubic(float sx, float sy, float* v) const {
        const float x0 = floorf(sx), y0 = floorf(sy);
        float wx[4], wy[4], h[Px::C], p[Px::C];
        cubic(sx - x0, wx), cubic(sy - y0, wy);
#pragma unroll
        for (int c = 0; c < Px::C; c++) v[c] = -0.0f;
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int c = 0; c < Px::C; c++) h[c] = -0.0f;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                pixel((i64)x0 - 1 + i, (i64)y0 - 1 + j, p);
#pragma unroll
                for (int c = 0; c < Px::C; c++) h[c] = wx[i] == 0.0f ? h[c] : __fmaf_rn(wx[i], p[c], h[c]);
            }
#pragma unroll
            for (int c = 0; c < Px::C; c++) v[c] = wy[j] == 0.0f ? v[c] : __fmaf_rn(wy[j], h[c], v[c]);
        }
    }

    // With alpha, which is the last channel: in binary64.
    INLINE void wide_bicubic(float sx, float sy, float* v) const {
        const float x0 = floorf(sx), y0 = floorf(sy);
        double wx[4], wy[4], sums[Px::C], h[Px::C];
        wide_cubic((double)(sx - x0), wx), wide_cubic((double)(sy - y0), wy);
#pragma unroll
        for (int c = 0; c < Px::C; c++) sums[c] = -0.0;
        // Not unrolled: registers for sixteen pixels of doubles are more than there are.
#pragma unroll 1
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int c = 0; c < Px::C; c++) h[c] = -0.0;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float p[Px::C];
                pixel((i64)x0 - 1 + i, (i64)y0 - 1 + j, p);
                const double alpha = (double)p[Px::C - 1];
#pragma unroll
                for (int c = 0; c < Px::C; c++) {
                    const double value = c < Px::C - 1 ? (double)p[c] * alpha : alpha;
                    h[c] = wx[i] == 0.0 ? h[c] : __fma_rn(wx[i], value, h[c]);
                }
            }
            const double w = j == 0 ? wy[0] : j == 1 ? wy[1] : j == 2 ? wy[2] : wy[3];
#pragma unroll
            for (int c = 0; c < Px::C; c++) sums[c] = w == 0.0 ? sums[c] : __fma_rn(w, h[c], sums[c]);
        }
        const double alpha = sums[Px::C - 1];
#pragma unroll
        for (int c = 0; c < Px::C - 1; c++) v[c] = alpha > 0.0 ? (float)__ddiv_rn(sums[c], alpha) : 0.0f;
        v[Px::C - 1] = (float)alpha;
    }

    static INLINE void cubic(float t, float* w) {
        const float u = 1.0f - t;
        w[0] = (-0.75f * t) * (u * u), w[1] = inner(t), w[2] = inner(u), w[3] = (-0.75f * u) * (t * t);
    }
    static INLINE float inner(float t) { return __fmaf_rn(t * t, __fmaf_rn(1.25f, t, -2.25f), 1.0f); }

    static INLINE void wide_cubic(double t, double* w) {
        const double u = 1.0 - t;
        w[0] = (-0.75 * t) * (u * u), w[1] = wide_inner(t), w[2] = wide_inner(u), w[3] = (-0.75 * u) * (t * t);
    }
    static INLINE double wide_inner(double t) { return __fma_rn(t * t, __fma_rn(1.25, t, -2.25), 1.0); }

    // Two taps; one of weight 0 is none.
    static INLINE float pair(float fraction, float first, float second) {
        const float w = 1.0f - fraction, sum = w == 0.0f ? -0.0f : w * first;
        return fraction == 0.0f ? sum : __fmaf_rn(fraction, second, sum);
    }
};

#define AFFINE 0
#define PROJECTIVE 1
#define BROWN 2
#define FISHEYE 3
#define MAP_ABSOLUTE 4
#define MAP_NORMALIZED 5
#define MAP_RELATIVE 6

// The angle of a tangent of at least 0: Coordinates::atan.
INLINE float arc_tangent(float r) {
    const bool inverted = r > 1.0f;
    const float c = inverted ? __fdiv_rn(1.0f, r) : r, z = c * c;
    float p = 0.0028662257f;
    p = __fmaf_rn(p, z, -0.016165737f);
    p = __fmaf_rn(p, z, 0.042909614f);
    p = __fmaf_rn(p, z, -0.07528964f);
    p = __fmaf_rn(p, z, 0.10656264f);
    p = __fmaf_rn(p, z, -0.14208899f);
    p = __fmaf_rn(p, z, 0.19993551f);
    p = __fmaf_rn(p, z, -0.33333145f);
    p = __fmaf_rn(p, z, 1.0f);
    const float t = c * p;
    return inverted ? 1.5707964f - t : t;
}

// 1 + a r + b r^2 + c r^3
INLINE float cubed(float r, float a, float b, float c) {
    return __fmaf_rn(__fmaf_rn(__fmaf_rn(c, r, b), r, a), r, 1.0f);
}

// Coordinates that are computed from the output pixel's; false where there are none.
template <int COORDINATES> INLINE bool computed(const float* m, float x, float y, float& sx, float& sy) {
    if constexpr (COORDINATES == BROWN || COORDINATES == FISHEYE) {
        const float u = __fmaf_rn(m[0], x, m[1]), v = __fmaf_rn(m[2], y, m[3]), d = __fmaf_rn(u, u, v * v);
        if constexpr (COORDINATES == BROWN) {
            const float t = 2.0f * (u * v);
            const float q = __fdiv_rn(cubed(d, m[8], m[9], m[12]), cubed(d, m[13], m[14], m[15]));
            const float prism_x = d * __fmaf_rn(m[17], d, m[16]), prism_y = d * __fmaf_rn(m[19], d, m[18]);
            const float a = __fmaf_rn(m[10], t, __fmaf_rn(m[11], __fmaf_rn(2.0f * u, u, d), prism_x));
            const float b = __fmaf_rn(m[11], t, __fmaf_rn(m[10], __fmaf_rn(2.0f * v, v, d), prism_y));
            sx = __fmaf_rn(m[4], __fmaf_rn(u, q, a), m[5]), sy = __fmaf_rn(m[6], __fmaf_rn(v, q, b), m[7]);
        } else {
            const float r = __fsqrt_rn(d), o = arc_tangent(r), z = o * o;
            const float g = __fmaf_rn(__fmaf_rn(__fmaf_rn(__fmaf_rn(m[11], z, m[10]), z, m[9]), z, m[8]), z, 1.0f);
            const float q = r > 0.0f ? __fdiv_rn(o * g, r) : 1.0f;
            sx = __fmaf_rn(m[4], u * q, m[5]), sy = __fmaf_rn(m[6], v * q, m[7]);
        }
    } else {
        sx = __fmaf_rn(m[0], x, __fmaf_rn(m[1], y, m[2]));
        sy = __fmaf_rn(m[3], x, __fmaf_rn(m[4], y, m[5]));
        if constexpr (COORDINATES == PROJECTIVE) {
            const float w = __fmaf_rn(m[6], x, __fmaf_rn(m[7], y, m[8]));
            if (!(w > 0.0f)) return false;
            sx = __fdiv_rn(sx, w), sy = __fdiv_rn(sy, w);
        }
    }
    return sx == sx && sy == sy;
}

// What the maps' numbers at a pixel stand for; false where there are none.
template <int COORDINATES> INLINE bool mapped(float mx, float my, float x, float y, int w, int h, float& sx, float& sy) {
    if constexpr (COORDINATES == MAP_ABSOLUTE) sx = mx, sy = my;
    if constexpr (COORDINATES == MAP_RELATIVE) sx = x + mx, sy = y + my;
    if constexpr (COORDINATES == MAP_NORMALIZED) {
        sx = __fmaf_rn(mx, (float)w * 0.5f, ((float)w - 1.0f) * 0.5f);
        sy = __fmaf_rn(my, (float)h * 0.5f, ((float)h - 1.0f) * 0.5f);
    }
    return sx == sx && sy == sy;
}

// Source coordinates of the pixel (x, y) of frame f; false where it has none.
template <int COORDINATES, class P>
INLINE bool source_of(const P& p, u32 f, int x, i64 y, float& sx, float& sy) {
    if constexpr (COORDINATES < MAP_ABSOLUTE) {
        return computed<COORDINATES>(p.uniform, (float)x, (float)(int)y, sx, sy);
    } else {
        // A vector of pixels may end behind the row.
        if (x >= p.width) return false;
        float map[2];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const Image& image = p.in[1 + k];
            map[k] = __ldg((const float*)(image.start + f * image.frame + y * image.row) + x);
        }
        return mapped<COORDINATES>(map[0], map[1], (float)x, (float)(int)y, p.in_width, p.in_height, sx, sy);
    }
}

#define NEAREST 0
#define BILINEAR 1
#define BICUBIC 2
template <class Px, int COORDINATES, int BORDER, int FILTER, bool ALPHA, int A_OUT, class P>
INLINE void warp_pixels(const P& p) {
    constexpr int V = Px::V, C = Px::C;
    constexpr float FARTHEST = 2147483648.0f;
    // A warp makes four rows of so many vectors: what it reads of a turned image lies near each other.
    constexpr int ACROSS = 8;
    const int x = (int)(blockIdx.x * ACROSS + threadIdx.x % ACROSS) * V;
    const int rows = blockDim.y * (blockDim.x / ACROSS), own = threadIdx.y * (blockDim.x / ACROSS) + threadIdx.x / ACROSS;
    if (x >= p.width) return;
    const int n = min(V, p.width - x);
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        const Image& in = p.in[0];
        const WarpSource<Px, BORDER, FILTER == BILINEAR && ALPHA> source{
            in.start + f * in.frame, in.row, in.plane, p.in_width, p.in_height, p.constant};
        u8* out = p.out.start + f * p.out.frame;
        for (i64 y = (i64)blockIdx.y * rows + own; y < p.height; y += (i64)gridDim.y * rows) {
            u32 bits[V * C];
#pragma unroll
            for (int i = 0; i < V; i++) {
                float sx, sy, v[C];
                if (source_of<COORDINATES>(p, f, x + i, y, sx, sy)) {
                    sx = fminf(fmaxf(sx, -FARTHEST), FARTHEST), sy = fminf(fmaxf(sy, -FARTHEST), FARTHEST);
                    if constexpr (FILTER == NEAREST) source.nearest(sx, sy, v);
                    if constexpr (FILTER == BILINEAR) source.bilinear(sx, sy, v);
                    if constexpr (FILTER == BICUBIC && ALPHA) source.wide_bicubic(sx, sy, v);
                    if constexpr (FILTER == BICUBIC && !ALPHA) source.bicubic(sx, sy, v);
                } else {
#pragma unroll
                    for (int c = 0; c < C; c++) v[c] = p.constant;
                }
#pragma unroll
                for (int c = 0; c < C; c++) bits[i * C + c] = Sample<typename Px::T>::narrow(v[c]);
            }
            Px px;
            px.set(bits);
            px.template store<A_OUT>(out + y * p.out.row, p.out.plane, x, n);
        }
    }
}
