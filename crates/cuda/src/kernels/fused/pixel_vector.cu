// Pixel vectors: N neighbouring pixels of C channels of one row in registers, as exact numbers at
// [pixel * C + channel]. What a stage of a fused group makes is rounded to its dtype before the next
// stage sees it, exactly as if it had been written to memory and read again.

// A result in its dtype: rounded once to nearest even, saturated, NaN is 0.
template <typename T> INLINE float rounded(float v) { return Sample<T>::rounded(v); }

// BYTES bytes from anywhere in memory that rows lie in: whole words, shifted into place. A word is read only
// if one of its bytes is wanted, so that nothing outside the allocation's pages is touched.
template <int BYTES> INLINE void load_anywhere(u32* w, const u8* from) {
    const u32 skew = (u32)(unsigned long long)from & 3u;
    const u32* words = (const u32*)(from - skew);
    u32 raw[BYTES / 4 + 1];
#pragma unroll
    for (int i = 0; i < BYTES / 4; i++) raw[i] = __ldg(words + i);
    raw[BYTES / 4] = skew ? __ldg(words + BYTES / 4) : 0u;
#pragma unroll
    for (int i = 0; i < BYTES / 4; i++) w[i] = __funnelshift_r(raw[i], raw[i + 1], skew * 8);
}

// Pixels x .. x + N of row y; columns outside the image hold those of its edge. A is the alignment of the
// vector, 0 where it is not known.
template <typename T, int C, int N, bool PLANAR, int A>
INLINE void load_vector(float* v, const Image& image, u32 f, int x, int y, int width) {
    typedef Pixels<T, C, N, PLANAR> Px;
    const u8* row = image.start + f * image.frame + (u32)y * image.row;
    bool inside = x >= 0 && x + N <= width;
    if constexpr (A == 0) {
        // Words around a vector's ends may reach beside the row, where nothing may ever have been written: there pixel
        // by pixel.
        constexpr int PIXEL = Px::STEP * (int)sizeof(T), BESIDE = (3 + PIXEL - 1) / PIXEL;
        const u32 skew = ((u32)(unsigned long long)row | (PLANAR ? (u32)image.plane : 0u) | (u32)(x * PIXEL)) & 3u;
        inside = inside && (skew == 0 || (x >= BESIDE && x + N + BESIDE <= width));
    }
    if (inside) {
        Px px;
        if constexpr (A > 0) {
            px.template load<A>(row, image.plane, x, N);
        } else {
#pragma unroll
            for (int r = 0; r < Px::RUNS; r++)
                load_anywhere<Px::RUN_BYTES>(px.w + r * (Px::RUN_BYTES / 4),
                                             row + r * image.plane + (i64)x * (Px::STEP * (int)sizeof(T)));
        }
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int c = 0; c < C; c++) v[i * C + c] = px.get(i, c);
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const i64 column = min(max(x + i, 0), width - 1);
#pragma unroll
            for (int c = 0; c < C; c++)
                v[i * C + c] = Sample<T>::widen(PLANAR ? __ldg((const T*)(row + c * image.plane) + column)
                                                       : __ldg((const T*)row + column * C + c));
        }
    }
}

// The words of a vector that lies wholly inside or outside of its row, A being its alignment: outside, those of the
// nearest vector.
template <int A, class Px> INLINE void load_inside(Px& px, const Image& image, u32 f, int x, int y, int width) {
    px.template load<A>(image.start + f * image.frame + (u32)y * image.row, image.plane, min(max(x, 0), width - Px::V), Px::V);
}
template <class Px> INLINE void unpacked(float* v, const Px& px) {
#pragma unroll
    for (int i = 0; i < Px::V; i++)
#pragma unroll
        for (int c = 0; c < Px::C; c++) v[i * Px::C + c] = px.get(i, c);
}

// One pixel anywhere in an image.
template <typename T, int C, bool PLANAR>
INLINE void load_pixel(float* v, const Image& image, u32 f, u32 x, u32 y) {
    const u8* row = image.start + f * image.frame + y * image.row;
#pragma unroll
    for (int c = 0; c < C; c++)
        v[c] = Sample<T>::widen(PLANAR ? __ldg((const T*)(row + c * image.plane) + x) : __ldg((const T*)row + (i64)x * C + c));
}

// Writes the first `n` pixels of a vector.
template <typename T, int C, int N, bool PLANAR, int A>
INLINE void store_vector(const Image& image, u32 f, int x, int y, int n, const float* v) {
    if (n <= 0) return;
    u32 bits[N * C];
#pragma unroll
    for (int s = 0; s < N * C; s++) bits[s] = Sample<T>::narrow_inside(v[s]);
    Pixels<T, C, N, PLANAR> px;
    px.set(bits);
    px.template store<A>(image.start + f * image.frame + (u32)y * image.row, image.plane, x, min(n, N));
}

// A vector of pixels that lie one after the other from `at` in shared memory, aligned to the vector's size.
template <typename T, int C, int N> INLINE void tile_store(u8* at, const float* v) {
    constexpr int BYTES = N * C * (int)sizeof(T), A = piece_of(16, BYTES);
    typedef typename Piece<A>::Type P;
    u32 bits[N * C], w[BYTES / 4];
#pragma unroll
    for (int s = 0; s < N * C; s++) bits[s] = Sample<T>::narrow_inside(v[s]);
    Sample<T>::pack(w, bits, N * C);
#pragma unroll
    for (int b = 0; b < BYTES; b += A) {
        P piece;
        take(w, b, piece);
        *(P*)(at + b) = piece;
    }
}
template <typename T, int C, int N> INLINE void tile_load(float* v, const u8* at) {
    constexpr int BYTES = N * C * (int)sizeof(T);
    u32 w[BYTES / 4];
    load_shared<BYTES, piece_of(16, BYTES)>(w, at);
#pragma unroll
    for (int s = 0; s < N * C; s++) v[s] = Sample<T>::widen(w, s);
}
// Pixels that begin anywhere in shared memory.
template <typename T, int C, int N> INLINE void tile_load_anywhere(float* v, const u8* at) {
#pragma unroll
    for (int s = 0; s < N * C; s++) v[s] = Sample<T>::widen(((const T*)at)[s]);
}

// The arithmetic of pointwise kernels.

// 299 R + 587 G + 114 B, given as MAGIC_BITS + n, over 1000: n / 1024 is exact, see `Luma`.
INLINE float luma_of(u32 n) {
    const float m = __fmaf_rn(__uint_as_float(n), 1.0f / 1024, -MAGIC / 1024);
    return (__fmaf_rn(m, 0.024f, m) + MAGIC) - MAGIC;
}
// The same of bytes given as MAGIC + r, MAGIC + g, MAGIC + b: how far the luma is from g is exact up to the last
// multiplication, and what adds it to g rounds.
INLINE float gray_near(float r, float g, float b) {
    const float m = __fmaf_rn(0.2919921875f, r - g, 0.111328125f * (b - g));
    return (__fmaf_rn(m, 0.024f, m) + g) - MAGIC;
}
// The weight of byte K of a pixel's words where R, G and B stand, and the luma of those in half a word.
template <int R, int G, int B> INLINE constexpr u32 luma_weight(int k) { return k == R ? 299u : k == G ? 587u : k == B ? 114u : 0u; }
template <int HALF, int R, int G, int B> INLINE u32 luma_of_half(const u32* w, u32 sum) {
    constexpr u32 WEIGHTS = luma_weight<R, G, B>(2 * HALF) | luma_weight<R, G, B>(2 * HALF + 1) << 16;
    if constexpr (HALF % 2) return __dp2a_hi(WEIGHTS, w[HALF / 2], sum);
    else return __dp2a_lo(WEIGHTS, w[HALF / 2], sum);
}
// Luma of the pixels of a vector of interleaved bytes, straight from the words.
template <int C, int N, int R, int G, int B, int I = 0> INLINE void gray_of_words(float* o, const u32* w) {
    if constexpr (I < N) {
        constexpr int K = I * C, HALF = K / 2;
        const u32 sum = luma_of_half<HALF, K + R, K + G, K + B>(w, MAGIC_BITS);
        o[I] = luma_of(luma_of_half<HALF + 1, K + R, K + G, K + B>(w, sum));
        gray_of_words<C, N, R, G, B, I + 1>(o, w);
    }
}

template <typename T> INLINE float gray(float r, float g, float b);
template <> INLINE float gray<u8>(float r, float g, float b) {
    const float m = __fmaf_rn(0.2919921875f, r, __fmaf_rn(0.5732421875f, g, 0.111328125f * b));
    return (__fmaf_rn(m, 0.024f, m) + MAGIC) - MAGIC;
}
template <> INLINE float gray<u16>(float r, float g, float b) {
    const u32 word = 0xFFFFu;
    return __uint_as_float(MAGIC_BITS | whole_luma(__float_as_uint(r + MAGIC) & word, __float_as_uint(g + MAGIC) & word,
                                                   __float_as_uint(b + MAGIC) & word)) - MAGIC;
}
template <> INLINE float gray<i16>(float r, float g, float b) { return luma(r, g, b); }
template <> INLINE float gray<float>(float r, float g, float b) {
    return __fmaf_rn(0.114f, b, __fmaf_rn(0.587f, g, 0.299f * r));
}
template <typename T, int C, int N, int R, int G, int B> INLINE void to_gray(float* o, const float* a) {
#pragma unroll
    for (int i = 0; i < N; i++) o[i] = gray<T>(a[i * C + R], a[i * C + G], a[i * C + B]);
}

// Output channel c is input channel SOURCE[c], or opaque where that is -1.
template <typename T, int C, int N, int... SOURCE> INLINE void permute(float* o, const float* a) {
    constexpr int source[] = {SOURCE...}, OUT = (int)sizeof...(SOURCE);
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int c = 0; c < OUT; c++) o[i * OUT + c] = source[c] < 0 ? Sample<T>::FULL : a[i * C + max(source[c], 0)];
}
// fma(v, u[2 k], u[2 k + 1]), where k is the channel's pair of uniforms.
template <typename T, int C, int N, int... PAIR> INLINE void affine(float* o, const float* v, const float* u) {
    constexpr int pair[] = {PAIR...};
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int c = 0; c < C; c++) o[i * C + c] = rounded<T>(__fmaf_rn(v[i * C + c], u[2 * pair[c]], u[2 * pair[c] + 1]));
}
// v > t ? m : 0 in the first COLOURS channels; the others are kept.
template <typename T, int C, int N, int COLOURS> INLINE void threshold(float* o, const float* v, const float* u) {
    const float above = rounded<T>(u[1]);
#pragma unroll
    for (int s = 0; s < N * C; s++) o[s] = s % C >= COLOURS ? v[s] : v[s] > u[0] ? above : 0.0f;
}
// fma(b, wb, a * wa).
template <typename T, int C, int N> INLINE void blend(float* o, const float* a, const float* b, const float* u) {
#pragma unroll
    for (int s = 0; s < N * C; s++) o[s] = rounded<T>(__fmaf_rn(b[s], u[0], a[s] * u[1]));
}
// An expression on vectors of up to four values, the first of them in column x of row y; F::of computes the channels of a
// pixel.
template <class F, typename T, int N, int OUT, int CA, int CB, int CC, int CD>
INLINE void point(float* o, const float* a, const float* b, const float* c, const float* d, const float* u,
                  const float* t, int x, int y) {
#pragma unroll
    for (int i = 0; i < N; i++) {
        float pixel[OUT];
        F::of(pixel, a + i * CA, b + i * CB, c + i * CC, d + i * CD, u, t, x + i, y);
#pragma unroll
        for (int k = 0; k < OUT; k++) o[i * OUT + k] = rounded<T>(pixel[k]);
    }
}
template <int C, int N> INLINE void mirror_vector(float* o, const float* a) {
#pragma unroll
    for (int s = 0; s < N * C; s++) o[s] = a[(N - 1 - s / C) * C + s % C];
}
// Of numbers known to round into the dtype.
template <int M> INLINE void round_inside(float* o, const float* a) {
#pragma unroll
    for (int s = 0; s < M; s++) o[s] = (a[s] + MAGIC) - MAGIC;
}
template <typename T, int M> INLINE void round_vector(float* o, const float* a) {
#pragma unroll
    for (int s = 0; s < M; s++) o[s] = rounded<T>(a[s]);
}
