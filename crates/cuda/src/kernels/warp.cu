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

    INLINE void nearest(float sx, float sy, float* v) const { pixel((i64)rintf(sx), (i64)rintf(sy), v); }

    INLINE void bilinear(float sx, float sy, float* v) const {
        const float x0 = floorf(sx), y0 = floorf(sy), fx = sx - x0, fy = sy - y0;
        float sums[2][Px::C];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            float a[Px::C], b[Px::C];
            pixel((i64)x0, (i64)y0 + j, a);
            pixel((i64)x0 + 1, (i64)y0 + j, b);
#pragma unroll
            for (int c = 0; c < Px::C; c++) sums[j][c] = pair(fx, a[c], b[c]);
        }
#pragma unroll
        for (int c = 0; c < Px::C; c++) v[c] = pair(fy, sums[0][c], sums[1][c]);
        if (ALPHA) divide_by_alpha<1, Px::C>(v);
    }

    // Two taps; one of weight 0 is none.
    static INLINE float pair(float fraction, float first, float second) {
        const float w = 1.0f - fraction, sum = w == 0.0f ? -0.0f : w * first;
        return fraction == 0.0f ? sum : __fmaf_rn(fraction, second, sum);
    }
};

// WarpSource coordinates of an output pixel; false where it has none.
#define AFFINE 0
#define PROJECTIVE 1
template <int COORDINATES> INLINE bool source_of(const float* m, float x, float y, float& sx, float& sy) {
    sx = __fmaf_rn(m[0], x, __fmaf_rn(m[1], y, m[2]));
    sy = __fmaf_rn(m[3], x, __fmaf_rn(m[4], y, m[5]));
    if constexpr (COORDINATES == PROJECTIVE) {
        const float w = __fmaf_rn(m[6], x, __fmaf_rn(m[7], y, m[8]));
        if (!(w > 0.0f)) return false;
        sx = __fdiv_rn(sx, w), sy = __fdiv_rn(sy, w);
    }
    return sx == sx && sy == sy;
}

template <class Px, int COORDINATES, int BORDER, bool BILINEAR, bool ALPHA, int A_OUT, class P>
INLINE void warp_pixels(const P& p) {
    constexpr int V = Px::V, C = Px::C;
    constexpr float FARTHEST = 2147483648.0f;
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * V;
    if (x >= p.width) return;
    const int n = min(V, p.width - x);
    for (u32 f = FIRST_FRAME; f < p.batch; f += FRAME_STEP) {
        const WarpSource<Px, BORDER, BILINEAR && ALPHA> source{p.in.start + f * p.in.frame, p.in.row, p.in.plane,
                                                           p.in_width, p.in_height, p.constant};
        u8* out = p.out.start + f * p.out.frame;
        for (i64 y = blockIdx.y * blockDim.y + threadIdx.y; y < p.height; y += (i64)gridDim.y * blockDim.y) {
            u32 bits[V * C];
#pragma unroll
            for (int i = 0; i < V; i++) {
                float sx, sy, v[C];
                if (source_of<COORDINATES>(p.uniform, (float)(x + i), (float)(int)y, sx, sy)) {
                    sx = fminf(fmaxf(sx, -FARTHEST), FARTHEST), sy = fminf(fmaxf(sy, -FARTHEST), FARTHEST);
                    if (BILINEAR)
                        source.bilinear(sx, sy, v);
                    else
                        source.nearest(sx, sy, v);
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
