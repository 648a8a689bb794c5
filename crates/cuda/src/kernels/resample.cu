// Weighted sums over computed ranges, first along x, then along y. Starts and weights come from tables that
// belong to the task; the weights along x are stored tap by tap, so that neighbouring threads read neighbours.

// The TAPS pixels of C samples from byte `at` of a row in shared memory, widened (and premultiplied).
template <typename T, int C, int TAPS, bool ALPHA> struct Taps {
    static constexpr int N = C * TAPS, PIXEL = C * (int)sizeof(T), BYTES = N * (int)sizeof(T);
    static constexpr bool WORDS = PIXEL % 4 == 0;                // pixels begin on words
    static constexpr bool SHIFT = !WORDS && BYTES > 2 * (int)sizeof(T);
    float v[N];

    INLINE void load(const u8* row, int at) {
        if (WORDS) {
            u32 raw[(BYTES + 3) / 4];
            load_shared<round_up(BYTES, 4), piece_of(PIXEL & -PIXEL, round_up(BYTES, 4))>(raw, row + at);
#pragma unroll
            for (int i = 0; i < N; i++) v[i] = Sample<T>::widen(raw, i);
        } else if (SHIFT) {
            // Samples begin anywhere: whole words, shifted into place.
            constexpr int HAVE = (BYTES + 4 - (int)sizeof(T) + 3) / 4, NEED = (BYTES + 3) / 4;
            u32 raw[HAVE], in_place[NEED];
            load_shared<HAVE * 4, 4>(raw, row + (at & ~3));
            const int shift = (at & 3) * 8;
#pragma unroll
            for (int i = 0; i < NEED; i++)
                in_place[i] = __funnelshift_r(raw[i], i + 1 < HAVE ? raw[i + 1] : 0u, shift);
#pragma unroll
            for (int i = 0; i < N; i++) v[i] = Sample<T>::widen(in_place, i);
        } else {
#pragma unroll
            for (int i = 0; i < N; i++) v[i] = Sample<T>::widen(((const T*)(row + at))[i]);
        }
        if (ALPHA) {
#pragma unroll
            for (int i = 0; i < N; i++)
                if (i % C != C - 1) v[i] *= v[i / C * C + C - 1];
        }
    }
};

// Few taps: the source region of a block of outputs lies in shared memory; each warp slides down its output
// rows and keeps the horizontal sums of the TY source rows that it used last.
template <typename T, int C, bool PLANAR, bool ALPHA, class Out, int TX, int TY, int A_IN, int A_OUT, class P>
INLINE void resample_tile(const P& p) {
    extern __shared__ uint4 shared[];
    u8* tile = (u8*)shared;
    constexpr int V = Out::V, PIXEL = C * (int)sizeof(T), N = V * C;
    constexpr bool COPY = !(PLANAR && ALPHA);
    const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    const int x = (int)(blockIdx.x * 32 + threadIdx.x) * V, n = min(V, p.width - x);
    // The first source column of the block, moved back to a whole piece of a row.
    const i64 begin = (i64)__ldg(p.x_tiles + blockIdx.x) * PIXEL / 16 * 16;
    int at[V];
    float wx[TX][V];
#pragma unroll
    for (int i = 0; i < V; i++) {
        const int column = min(x + i, p.width - 1);
        at[i] = (int)((i64)__ldg(p.x_starts + column) * PIXEL - begin);
#pragma unroll
        for (int k = 0; k < TX; k++) wx[k][i] = __ldg(p.x_weights + (i64)k * p.width + column);
    }
    const i64 row_bytes = (i64)p.in_width * PIXEL;
    const int bytes = (int)min((i64)p.pitch, row_bytes - begin);
    const int block_rows = blockDim.y * p.rows;
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (u32 tile_y = blockIdx.y; tile_y < p.tiles; tile_y += gridDim.y) {
            const i64 y0 = (i64)tile_y * block_rows;
            const u32 source = __ldg(p.y_tiles + 2 * tile_y);     // first source row of the block
            const int source_rows = __ldg(p.y_tiles + 2 * tile_y + 1);
            __syncthreads();
            if (COPY) {
                // A warp copies whole rows, every one of blockDim.y; its lanes go along several rows at once.
                const int pieces = bytes / A_IN, rest = (bytes - pieces * A_IN) / (int)sizeof(T);
                const u8* first = in + (i64)source * p.in.row + begin;
                const int own = (source_rows - (int)threadIdx.y + (int)blockDim.y - 1) / (int)blockDim.y;
                for (int i = threadIdx.x; i < pieces; i += 32)
                    copy_pieces<A_IN>(0, 1, own, [&](int k, u8*& to, const u8*& from) {
                        const int r = threadIdx.y + k * blockDim.y;
                        to = tile + r * p.pitch + i * A_IN;
                        from = first + r * p.in.row + i * A_IN;
                        return true;
                    });
                for (int i = thread; i < rest * source_rows; i += threads) {
                    const int r = i / rest, s = i - r * rest;
                    ((T*)(tile + r * p.pitch + pieces * A_IN))[s] =
                        __ldg((const T*)(first + r * p.in.row + pieces * A_IN) + s);
                }
            } else {
                const int samples = bytes / (int)sizeof(T);
                const i64 first = begin / (int)sizeof(T);
                for (int i = thread; i < samples * source_rows; i += threads) {
                    const int r = i / samples, s = i - r * samples;
                    const i64 column = (first + s) / C, c = (first + s) % C;
                    ((T*)(tile + r * p.pitch))[s] =
                        __ldg((const T*)(in + c * p.in.plane + (i64)(source + r) * p.in.row) + column);
                }
            }
            wait_for_copies();
            __syncthreads();
            float h[TY][N];
            i64 next = (i64)1 << 40;                              // one past the source rows held in `h`
            for (int r = 0; r < p.rows; r++) {
                const i64 y = y0 + threadIdx.y * p.rows + r;
                if (y >= p.height) break;
                const i64 sy = __ldg(p.y_starts + y);
                if (sy > next || sy + TY < next) next = sy;
                for (; next < sy + TY; next++) {
                    const u8* row = tile + (int)(next - source) * p.pitch;
#pragma unroll
                    for (int k = 0; k + 1 < TY; k++)
#pragma unroll
                        for (int s = 0; s < N; s++) h[k][s] = h[k + 1][s];
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        Taps<T, C, TX, ALPHA> taps;
                        taps.load(row, at[i]);
#pragma unroll
                        for (int c = 0; c < C; c++) {
                            float sum = first_tap<T>(wx[0][i], taps.v[c]);
#pragma unroll
                            for (int k = 1; k < TX; k++) sum = next_tap<T>(wx[k][i], taps.v[k * C + c], sum);
                            h[TY - 1][i * C + c] = sum;
                        }
                    }
                }
                float v[N];
#pragma unroll
                for (int k = 0; k < TY; k++) {
                    const float wy = __ldg(p.y_weights + y * TY + k);
#pragma unroll
                    for (int s = 0; s < N; s++) v[s] = k == 0 ? first_tap<T>(wy, h[0][s]) : next_tap<T>(wy, h[k][s], v[s]);
                }
                if (ALPHA) divide_by_alpha<V, C>(v);
                u32 bits[N];
#pragma unroll
                for (int s = 0; s < N; s++) bits[s] = Sample<T>::narrow(v[s]);
                Out o;
                o.set(bits);
                if (n > 0) o.template store<A_OUT>(out + y * p.out.row, p.out.plane, x, n);
            }
        }
    }
}

// Any number of taps, straight from global memory; the sums along an axis of many (LONG) and their weights are binary64.
// WIDE: everything is, up to the colours divided by alpha.
// Sums begin as -0, with which the first tap is a product.
template <typename T, int C, bool PLANAR, bool ALPHA, class Out, bool LONG_X, bool LONG_Y, bool WIDE, int A_OUT, class P>
INLINE void resample_direct(const P& p) {
    constexpr int V = Out::V, N = V * C;
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x) * V;
    if (x >= p.width) return;
    const int n = min(V, p.width - x);
    u32 start[V];
#pragma unroll
    for (int i = 0; i < V; i++) start[i] = __ldg(p.x_starts + min(x + i, p.width - 1));
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (u32 y = blockIdx.y * blockDim.y + threadIdx.y; y < p.height; y += gridDim.y * blockDim.y) {
            const u8* row = in + (i64)__ldg(p.y_starts + y) * p.in.row;
            typename Sum<LONG_Y>::Type sums[N];
#pragma unroll
            for (int s = 0; s < N; s++) sums[s] = -0.0f;
            for (int j = 0; j < p.y_taps; j++, row += p.in.row) {
                typename Sum<LONG_X>::Type h[N];
#pragma unroll
                for (int s = 0; s < N; s++) h[s] = -0.0f;
                for (int k = 0; k < p.x_taps; k++) {
#pragma unroll
                    for (int i = 0; i < V; i++) {
                        const auto w = __ldg(p.x_weights + (i64)k * p.width + min(x + i, p.width - 1));
                        const i64 column = (i64)start[i] + k;
                        float s[C];
#pragma unroll
                        for (int c = 0; c < C; c++)
                            s[c] = Sample<T>::widen(PLANAR ? __ldg((const T*)(row + c * p.in.plane) + column)
                                                           : __ldg((const T*)row + column * C + c));
#pragma unroll
                        for (int c = 0; c < C; c++) {
                            if constexpr (WIDE) {
                                const double m = c < C - 1 ? (double)s[c] * (double)s[C - 1] : (double)s[c];
                                h[i * C + c] = w == 0.0 ? h[i * C + c] : __fma_rn(w, m, h[i * C + c]);
                            } else {
                                const float m = ALPHA && c < C - 1 ? s[c] * s[C - 1] : s[c];
                                h[i * C + c] = next_tap<T>(w, m, h[i * C + c]);
                            }
                        }
                    }
                }
                const auto wy = __ldg(p.y_weights + (i64)y * p.y_taps + j);
#pragma unroll
                for (int s = 0; s < N; s++) {
                    if constexpr (WIDE)
                        sums[s] = wy == 0.0 ? sums[s] : __fma_rn(wy, h[s], sums[s]);
                    else
                        sums[s] = next_tap<T>(wy, (float)h[s], sums[s]);
                }
            }
            float v[N];
#pragma unroll
            for (int s = 0; s < N; s++) {
                const int alpha = s / C * C + C - 1;
                if constexpr (WIDE)
                    v[s] = s == alpha ? (float)sums[s] : sums[alpha] > (double)Sample<T>::FULL / 131072.0 ? (float)__ddiv_rn(sums[s], sums[alpha]) : 0.0f;
                else
                    v[s] = (float)sums[s];
            }
            if (ALPHA && !WIDE) divide_by_alpha<V, C>(v);
            u32 bits[N];
#pragma unroll
            for (int s = 0; s < N; s++) bits[s] = Sample<T>::narrow(v[s]);
            Out o;
            o.set(bits);
            o.template store<A_OUT>(out + (i64)y * p.out.row, p.out.plane, x, n);
        }
    }
}

// Many taps, where sums along y share sums along x: those of all source rows of a block lie in shared memory. A block makes
// COLUMNS columns of `rows` rows, a thread a pixel.
template <typename T, int C, bool PLANAR, bool ALPHA, int COLUMNS, bool LONG_X, bool LONG_Y, class P>
INLINE void resample_shared(const P& p) {
    constexpr int AT_ONCE = 4, STEP = 256 / COLUMNS;
    extern __shared__ uint4 shared[];
    float* const sums = (float*)shared;
    typedef typename Sample<T>::Raw Raw;
    const int column = threadIdx.x % COLUMNS, own = threadIdx.x / COLUMNS;
    const i64 x = blockIdx.x * (i64)COLUMNS + column, last = p.width - 1;
    const i64 start = __ldg(p.x_starts + min(x, last));
    for (u32 z = FIRST_FRAME; z < p.batch * p.planes; z += FRAME_STEP) {
        const u32 f = z / p.planes, plane = z - f * p.planes;
        const u8* const in = p.in.start + f * p.in.frame + plane * p.in.plane;
        u8* const out = p.out.start + f * p.out.frame + plane * p.out.plane;
        for (u32 tile = blockIdx.y; tile < p.tiles; tile += gridDim.y) {
            const i64 source = __ldg(p.y_tiles + 2 * tile);  // first source row of the block
            const int source_rows = (int)__ldg(p.y_tiles + 2 * tile + 1);
            __syncthreads();
            for (int j = own; j < source_rows; j += STEP * AT_ONCE) {
                typename Sum<LONG_X>::Type h[AT_ONCE][C];
                const u8* row[AT_ONCE];
#pragma unroll
                for (int r = 0; r < AT_ONCE; r++) {
                    row[r] = in + (source + min(j + r * STEP, source_rows - 1)) * p.in.row;
#pragma unroll
                    for (int c = 0; c < C; c++) h[r][c] = -0.0f;
                }
#pragma unroll 2
                for (int k = 0; k < p.x_taps; k++) {
                    const auto w = __ldg(p.x_weights + (i64)k * p.width + min(x, last));
#pragma unroll
                    for (int r = 0; r < AT_ONCE; r++) {
                        float s[C];
#pragma unroll
                        for (int c = 0; c < C; c++)
                            s[c] = Sample<T>::widen(PLANAR ? __ldg((const T*)(row[r] + c * p.in.plane) + start + k)
                                                           : __ldg((const T*)row[r] + (start + k) * C + c));
#pragma unroll
                        for (int c = 0; c < C; c++)
                            h[r][c] = next_tap<T>(w, ALPHA && c < C - 1 ? s[c] * s[C - 1] : s[c], h[r][c]);
                    }
                }
#pragma unroll
                for (int r = 0; r < AT_ONCE; r++)
                    if (j + r * STEP < source_rows)
#pragma unroll
                        for (int c = 0; c < C; c++) sums[((j + r * STEP) * C + c) * COLUMNS + column] = (float)h[r][c];
            }
            __syncthreads();
            for (int r = own; r < p.rows; r += STEP) {
                const i64 y = (i64)tile * p.rows + r;
                if (y >= p.height) break;
                const float* const h = sums + (int)(__ldg(p.y_starts + y) - source) * C * COLUMNS + column;
                typename Sum<LONG_Y>::Type v[C];
#pragma unroll
                for (int c = 0; c < C; c++) v[c] = -0.0f;
#pragma unroll 4
                for (int k = 0; k < p.y_taps; k++) {
                    const auto w = __ldg(p.y_weights + y * p.y_taps + k);
#pragma unroll
                    for (int c = 0; c < C; c++) v[c] = next_tap<T>(w, h[(k * C + c) * COLUMNS], v[c]);
                }
                float made[C];
#pragma unroll
                for (int c = 0; c < C; c++) made[c] = (float)v[c];
                if (ALPHA) divide_by_alpha<1, C>(made);
                if (x > last) continue;
#pragma unroll
                for (int c = 0; c < C; c++) {
                    Raw* const to = (Raw*)(out + y * p.out.row + (PLANAR ? c * p.out.plane : 0));
                    const u32 bits = Sample<T>::narrow(made[c]);
                    take(&bits, 0, to[PLANAR ? x : x * C + c]);
                }
            }
        }
    }
}
