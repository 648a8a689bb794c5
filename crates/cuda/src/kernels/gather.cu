// One computed source pixel for each output pixel: crop, flip, nearest neighbour. Planar images are handled
// plane by plane (C is 1), so that a pixel is C neighbouring samples. Nothing is computed on samples: bits move.

// A source coordinate along one axis: `first + i`, `last - i`, or a table.
template <int KIND> INLINE u32 axis(u32 origin, const u32* table, u32 i);
#define OFFSET 0
#define FLIP 1
#define TABLE 2
template <> INLINE u32 axis<OFFSET>(u32 origin, const u32*, u32 i) { return origin + i; }
template <> INLINE u32 axis<FLIP>(u32 origin, const u32*, u32 i) { return origin - i; }
template <> INLINE u32 axis<TABLE>(u32, const u32* table, u32 i) { return __ldg(table + i); }

// V pixels that lie next to each other in the source, from byte `at` of a row of `row_bytes`. With rows aligned
// to 4 bytes: whole words, shifted into place; the shift is the same for all threads of a launch.
template <class Px, int A> INLINE void load_run(Px& px, const u8* row, i64 at, i64 row_bytes) {
    constexpr int BYTES = Px::RUN_BYTES;
    if (A >= 4) {
        const int shift = (int)(at & 3) * 8;
        const u8* from = row + (at & ~(i64)3);
        if (shift == 0) {
            load_global<BYTES, 4>(px.w, from);
            return;
        }
        if ((at & ~(i64)3) + BYTES + 4 <= row_bytes) {
            u32 raw[BYTES / 4 + 1];
            load_global<BYTES + 4, 4>(raw, from);
#pragma unroll
            for (int i = 0; i < BYTES / 4; i++) px.w[i] = __funnelshift_r(raw[i], raw[i + 1], shift);
            return;
        }
    }
    load_global<BYTES, (int)sizeof(typename Px::T)>(px.w, row + at);
}

template <class Px, bool MIRROR> INLINE void mirror(Px& px) {
    if constexpr (MIRROR) {
        Px turned;
#pragma unroll
        for (int j = 0; j < Px::WORDS; j++) {
            int from[4] = {0, 0, 0, 0};
#pragma unroll
            for (int k = 0; k < Px::PER_WORD; k++) {
                const int s = j * Px::PER_WORD + k;
                from[k] = (Px::V - 1 - s / Px::C) * Px::C + s % Px::C;
            }
            turned.w[j] = Sample<typename Px::T>::join(px.w, from[0], from[1], from[2], from[3]);
        }
        px = turned;
    }
}

template <class Px, int X, int Y, int ROWS, int A_IN, int A_OUT, class P> INLINE void gather_rows(const P& p) {
    typedef typename Px::T T;
    typedef typename Sample<T>::Raw Raw;
    constexpr int V = Px::V, C = Px::C, PIXEL = C * (int)sizeof(T);
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * V;
    if (x >= p.width) return;
    const int n = min(V, p.width - x);
    const i64 row_bytes = (i64)p.in_width * PIXEL;
    u32 columns[V];
    if (X == TABLE) {
#pragma unroll
        for (int i = 0; i < V; i++) columns[i] = axis<X>(p.x_origin, p.x_table, x + min(i, n - 1));
    }
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (u32 y = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS; y < p.height;
             y += gridDim.y * blockDim.y * ROWS) {
            Px px[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (y + r >= p.height) break;
                const u8* row = in + axis<Y>(p.y_origin, p.y_table, y + r) * p.in.row;
                if (X != TABLE && n == V) {
                    const u32 first = X == FLIP ? p.x_origin - x - (V - 1) : p.x_origin + x;
                    load_run<Px, A_IN>(px[r], row, (i64)first * PIXEL, row_bytes);
                    mirror<Px, X == FLIP>(px[r]);
                    continue;
                }
#pragma unroll
                for (int j = 0; j < Px::WORDS; j++) px[r].w[j] = 0;
#pragma unroll
                for (int i = 0; i < V; i++) {
                    if (i >= n) break;
                    const u32 column = X == TABLE ? columns[i] : axis<X>(p.x_origin, p.x_table, x + i);
                    const u8* from = row + (i64)column * PIXEL;
                    if (PIXEL % 4 == 0 && PIXEL <= 16 && A_IN % 4 == 0) {
                        load_global<PIXEL, piece_of(A_IN, PIXEL)>(px[r].w + i * (PIXEL / 4), from);
                    } else {
#pragma unroll
                        for (int c = 0; c < C; c++)
                            put(px[r].w, i * PIXEL + c * (int)sizeof(T), __ldg((const Raw*)from + c));
                    }
                }
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (y + r >= p.height) break;
                px[r].template store<A_OUT>(out + (y + r) * p.out.row, 0, x, n);
            }
        }
    }
}
