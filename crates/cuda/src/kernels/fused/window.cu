// Sliding windows: what a vector needs of the rows above stays in registers.

// Symmetric separable filter of a vector: the horizontal sums of the last 2 RY + 1 rows.
template <int C, int N, int RX, int RY, bool ALPHA> struct Filter {
    static constexpr int M = N * C;
    float h[2 * RY + 1][M];

    // `row` holds the vector and RX pixels to each side.
    INLINE void push(const float* row, const float* wx) {
#pragma unroll
        for (int k = 0; k < 2 * RY; k++)
#pragma unroll
            for (int s = 0; s < M; s++) h[k][s] = h[k + 1][s];
#pragma unroll
        for (int s = 0; s < M; s++) {
            float sum = wx[0] * row[s + RX * C];
#pragma unroll
            for (int j = 1; j <= RX; j++) sum = __fmaf_rn(wx[j], row[s + (RX - j) * C] + row[s + (RX + j) * C], sum);
            h[2 * RY][s] = sum;
        }
    }
    INLINE void result(float* v, const float* wy) const {
#pragma unroll
        for (int s = 0; s < M; s++) {
            v[s] = wy[0] * h[RY][s];
#pragma unroll
            for (int j = 1; j <= RY; j++) v[s] = __fmaf_rn(wy[j], h[RY - j][s] + h[RY + j][s], v[s]);
        }
        if constexpr (ALPHA) divide_by_alpha<N, C>(v);
    }
    // The same rounded to bytes; `wy` holds the weights over 256, which is exact, so that the last sum saturates.
    INLINE void bytes(float* v, const float* wy) const {
#pragma unroll
        for (int s = 0; s < M; s++) {
            float sum = wy[0] * h[RY][s];
#pragma unroll
            for (int j = 1; j < RY; j++) sum = __fmaf_rn(wy[j], h[RY - j][s] + h[RY + j][s], sum);
            if constexpr (RY > 0) sum = __fmaf_rn(wy[RY], h[0][s] + h[2 * RY][s], sum);
            v[s] = fminf(__fmaf_rn(__saturatef(sum), 256.0f, MAGIC), MAGIC + 255.0f) - MAGIC;
        }
    }
};

// Gradient magnitude of one channel. BYTES: the samples are integers below 256; the squares of others need the
// exact root.
template <typename T, int N, bool BYTES> struct Gradient {
    float d[3][N], s[3][N];  // of the last rows, the newest last

    INLINE void push(const float* row) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            d[0][i] = d[1][i], d[1][i] = d[2][i], s[0][i] = s[1][i], s[1][i] = s[2][i];
            d[2][i] = row[i + 2] - row[i];
            s[2][i] = __fmaf_rn(2.0f, row[i + 1], row[i] + row[i + 2]);
        }
    }
    // ROUNDED: otherwise the result is rounded by who takes it; it lies between the lowest and the highest sample.
    template <bool ROUNDED> INLINE void result(float* v) const {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const float gx = __fmaf_rn(2.0f, d[1][i], d[0][i] + d[2][i]);
            const float gy = s[2][i] - s[0][i];
            const float square = __fmaf_rn(gx, gx, gy * gy);
            if constexpr (BYTES) {
                v[i] = fminf(sqrt_approx(square), 255.0f);
                if (ROUNDED) v[i] = (v[i] + MAGIC) - MAGIC;
            } else {
                v[i] = rounded<T>(__fsqrt_rn(square));
            }
        }
    }
};

// The pixels around one in a tile.
template <class P> struct Near {
    const u8* own;
    INLINE float of(int c, int dx, int dy) const {
        return Sample<typename P::T>::widen(((const typename P::T*)(own + dy * P::PITCH + dx * P::PIXEL))[c]);
    }
};
// An expression of the neighbourhood of each pixel of a vector that begins at `at` in a tile and in column x of row y of
// the image; F::of computes the channels of a pixel.
template <class F, typename T, int N, int C, class P>
INLINE void stencil(float* v, const u8* at, const float* u, const float* t, int x, int y) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        const Near<P> near = {at + i * P::PIXEL};
        F::of(v + i * C, near, u, t, x + i, y);
#pragma unroll
        for (int c = 0; c < C; c++) v[i * C + c] = rounded<T>(v[i * C + c]);
    }
}

// A pixel vector that begins R pixels further left, with the 2 R pixels that follow it, from the next lane; at the end of
// the warp they are not its own.
template <int N, int R> INLINE void with_next(float* row, const float* v) {
#pragma unroll
    for (int i = 0; i < N; i++) row[i] = v[i];
#pragma unroll
    for (int i = 0; i < 2 * R; i++) row[N + i] = __shfl_down_sync(0xFFFFFFFFu, v[i], 1);
}

// Sources of a vector's columns in a resampling, and their weights.
template <int N, int TX> struct Columns {
    int at[N];
    float w[TX][N];

    INLINE void set(const u32* starts, const float* weights, int x, int outputs) {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int column = min(max(x + i, 0), outputs - 1);
            at[i] = (int)__ldg(starts + column);
#pragma unroll
            for (int k = 0; k < TX; k++) w[k][i] = __ldg(weights + (i64)k * outputs + column);
        }
    }
};

// S samples from byte `at` of a row in shared memory that begins on a word.
template <typename T, int S> INLINE void load_near(float* v, const u8* row, int at) {
    constexpr int BYTES = S * (int)sizeof(T);
    if constexpr (sizeof(T) == 4 || BYTES <= 2 * (int)sizeof(T)) {
#pragma unroll
        for (int s = 0; s < S; s++) v[s] = Sample<T>::widen(((const T*)(row + at))[s]);
    } else {
        // Whole words, shifted into place.
        constexpr int HAVE = (BYTES + 4 - (int)sizeof(T) + 3) / 4, NEED = (BYTES + 3) / 4;
        u32 raw[HAVE], w[NEED];
        load_shared<HAVE * 4, 4>(raw, row + (at & ~3));
#pragma unroll
        for (int i = 0; i < NEED; i++) w[i] = __funnelshift_r(raw[i], i + 1 < HAVE ? raw[i + 1] : 0u, (at & 3) * 8);
#pragma unroll
        for (int s = 0; s < S; s++) v[s] = Sample<T>::widen(w, s);
    }
}
template <int N, int C> INLINE void premultiply(float* v) {
#pragma unroll
    for (int s = 0; s < N * C; s++)
        if (s % C != C - 1) v[s] *= v[s / C * C + C - 1];
}

// A source row in shared memory that begins on a word; `offset` is the byte of its column 0 from there.
template <typename T, int C, int TX> struct NearRow {
    const u8* row;
    int offset;
    INLINE void operator()(float* near, int column) const {
        load_near<T, TX * C>(near, row, offset + column * (C * (int)sizeof(T)));
    }
};

// Horizontal sums of the TY source rows used last; rows come in ascending order, so that each is summed once.
template <typename T, int C, int N, int TX, int TY, bool ALPHA> struct Resampled {
    static constexpr int M = N * C;
    float h[TY][M];
    int next = -1;

    // `row_of(j)` is source row j, which gives the TX pixels from a column on.
    template <class RowOf> INLINE void at(float* v, int start, const Columns<N, TX>& x, const float* wy, RowOf row_of) {
        if (next < start || next > start + TY) next = start;
        for (; next < start + TY; next++) {
            const auto row = row_of(next);
#pragma unroll
            for (int k = 0; k < TY - 1; k++)
#pragma unroll
                for (int s = 0; s < M; s++) h[k][s] = h[k + 1][s];
#pragma unroll
            for (int i = 0; i < N; i++) {
                float near[TX * C];
                row(near, x.at[i]);
                if constexpr (ALPHA) premultiply<TX, C>(near);
#pragma unroll
                for (int c = 0; c < C; c++) {
                    float sum = first_tap<T>(x.w[0][i], near[c]);
#pragma unroll
                    for (int k = 1; k < TX; k++) sum = next_tap<T>(x.w[k][i], near[k * C + c], sum);
                    h[TY - 1][i * C + c] = sum;
                }
            }
        }
#pragma unroll
        for (int k = 0; k < TY; k++) {
            const float w = __ldg(wy + k);
#pragma unroll
            for (int s = 0; s < M; s++) v[s] = k == 0 ? first_tap<T>(w, h[0][s]) : next_tap<T>(w, h[k][s], v[s]);
        }
        if constexpr (ALPHA) divide_by_alpha<N, C>(v);
    }
};
